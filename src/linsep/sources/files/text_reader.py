"""Text files, packed or not, as bytes: what is wrong with the packing is an error of ours, and a digest is kept."""

import gzip
import hashlib
import io
import os
import select
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import IO, Any

from linsep.errors import InputError
from linsep.faults import fault
from linsep.sources.files.options import Options
from linsep.sources.files.reader import Reader, Stamp, Unstamped, unreadable

PATIENCE_S = 0.02  # how long a pipe may pause before what it gave is handed on
Waiting = Callable[[], AbstractContextManager[None]]  # entered while input is waited for

BOM = b"\xef\xbb\xbf"
LONGEST_RECORD = 1 << 26  # bytes: a line or a quotation that goes on for longer is a fault, whatever the memory


class TextReader(Reader):
    """What the readers of text share. `digest` is that of the whole file, known after the first walk."""

    def __init__(self, path: str, options: Options, compression: str | None, pipe: "Pipe | None" = None) -> None:
        self.path, self.options, self.compression, self.pipe = path, options, compression, pipe
        self.stamp = Stamp.of(path) if pipe is None else Unstamped(path, 0, 0, 0, 0, 0, 0)
        self.size = 8 * self.stamp.size
        self.chunk = options.batch_bytes

    @property
    def longest_record(self) -> int:
        """How many bytes a line or a quotation may have: four copies of it fit the memory."""
        return min(LONGEST_RECORD, self.options.memory // 4)

    @property
    def longest_record_told(self) -> str:
        """The same in words."""
        longest = self.longest_record
        if longest == LONGEST_RECORD:
            return f"{longest >> 20} MiB, the most that is read"
        return f"{longest:,} bytes, a quarter of the memory allowed (memory=, --memory)"

    def next_data(self, stream: IO[bytes], rest: bytes) -> bytes:
        """More text after what is left of a record: as much again, so that long records are soon whole, in bounds."""
        return stream.read(min(max(self.chunk, len(rest)), max(1, self.longest_record + 1 - len(rest))))

    def new_digest(self) -> Any:
        """A digest to be filled by the first walk; None afterwards."""
        return None if self.digest is not None else hashlib.sha256()

    @contextmanager
    def _stream(self, digest: Any = None, *, is_last: bool = False) -> Iterator[IO[bytes]]:
        """The text of the file, unpacked; what is wrong with the packing is an error of ours.

        The beginning of a pipe can be read again, until the `is_last` walk.
        """
        if self.pipe is not None:
            yield self.pipe.opened(is_last=is_last)
            return
        try:
            with Path(self.path).open("rb", buffering=1 << 20) as raw:
                counted: Any = Hashed(raw, digest) if digest is not None else raw
                if self.compression == "gz":
                    yield gzip.GzipFile(fileobj=counted)  # type: ignore[misc]
                elif self.compression is not None:
                    import pyarrow as pa

                    # Python's own bz2 takes what follows the first stream for nothing if it is damaged
                    named = {"zst": "zstd", "bz2": "bz2"}[self.compression]
                    yield pa.CompressedInputStream(pa.PythonFile(counted, mode="r"), named)
                else:
                    yield counted
                if digest is not None:
                    while counted.read(1 << 20):
                        pass
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise self._damaged(error) from error
        except OSError as error:
            if error.errno is not None:
                raise unreadable(self.path, error) from error
            raise self._damaged(error) from error

    def _finish(self, digest: Any) -> None:
        """After a walk: refuse a file that changed meanwhile, and keep its digest if this was the first."""
        self.stamp.require_same()
        if digest is not None:
            self.digest = digest.hexdigest()
        self.is_walked = True

    def _damaged(self, error: Exception) -> InputError:
        self.stamp.require_same()
        return fault("unpack", self.path, seen=error)


class Pipe:
    """Text that comes once, such as standard input: its beginning is kept, so that a header can be looked at first."""

    def __init__(self, raw: IO[bytes], waiting: Waiting = nullcontext) -> None:
        self._raw, self._waiting, self._kept = raw, waiting, b""

    def opened(self, *, is_last: bool) -> Any:
        """The text from its beginning on; of the last walk nothing is kept."""
        return Replay(self, is_last=is_last)

    def next(self, size: int, *, is_kept: bool) -> bytes:
        """The next bytes as they come."""
        with self._waiting():
            data = next_bytes(self._raw, size)
        self._kept = self._kept + data if is_kept else b""
        return data

    @property
    def kept(self) -> bytes:
        """The beginning, as far as it was read."""
        return self._kept


class Replay:
    """One walk over a pipe."""

    def __init__(self, pipe: Pipe, *, is_last: bool) -> None:
        self._pipe, self._is_last, self._at = pipe, is_last, 0

    def read(self, size: int) -> bytes:
        """At most `size` bytes: what is there, after a short wait for more. None at the end."""
        piece = self._pipe.kept[self._at : self._at + size] or self._pipe.next(size, is_kept=not self._is_last)
        self._at += len(piece)
        return piece


def next_bytes(raw: IO[bytes], size: int) -> bytes:
    """The next bytes of a file or a pipe: so many, or fewer where a pipe has no more at the moment; none at the end."""
    if raw.seekable():
        return raw.read(size)
    descriptor, pieces, length = raw.fileno(), [os.read(raw.fileno(), size)], 0
    while pieces[-1] and (length := length + len(pieces[-1])) < size:
        if not select.select([descriptor], [], [], PATIENCE_S)[0]:
            break
        pieces.append(os.read(descriptor, size - length))
    return b"".join(pieces)


class Hashed(io.RawIOBase):
    """A file whose bytes are added to a digest as they are read."""

    def __init__(self, raw: IO[bytes], digest: Any) -> None:
        self._raw, self._digest = raw, digest

    def readable(self) -> bool:
        """It is."""
        return True

    def read(self, size: int = -1) -> bytes:
        """The next bytes."""
        data = self._raw.read(size)
        self._digest.update(data)
        return data

    def readinto(self, buffer: Any) -> int:
        """The next bytes, into a buffer."""
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)
