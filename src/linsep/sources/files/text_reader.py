"""Text files, compressed or not, as bytes; faults of the compression become errors of ours."""

import gzip
import hashlib
import lzma
import os
import selectors
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import IO, Any

from linsep.errors import InputError
from linsep.faults import fault
from linsep.sources.files.options import Options
from linsep.sources.files.paths import PACKINGS, unreadable
from linsep.sources.files.reader import Reader

PATIENCE_S = 0.02  # how long a pipe may pause before what it gave is passed on
Waiting = Callable[[], AbstractContextManager[None]]  # entered while waiting for input

XZ_MEMORY = 1 << 28  # bytes that decompressing may take: four times what xz -9 needs
BOM = b"\xef\xbb\xbf"
LONGEST_RECORD = 1 << 26  # bytes: a longer line or quotation is a fault, however much memory there is


class TextReader(Reader):
    """What the readers of text share: a stream of bytes from a file or a pipe, and bounds for a record."""

    def __init__(self, path: str, options: Options, file: "str | Pipe | None" = None) -> None:
        self.pipe = file if isinstance(file, Pipe) else None
        super().__init__(path, options, None if isinstance(file, Pipe) else file, is_pipe=self.pipe is not None)
        self.compression = PACKINGS.get(Path(self.file).suffix.lower()) if self.pipe is None else None
        self.size, self.chunk = 8 * self.stamp.size, options.batch_bytes
        self.longest_record = min(LONGEST_RECORD, options.size // 4)  # so that four copies of it fit in the memory

    @property
    def longest_record_told(self) -> str:
        """How many bytes a line or a quotation may have, in words."""
        longest = self.longest_record
        if longest == LONGEST_RECORD:
            return f"{longest >> 20} MiB, the most that is read"
        return f"{longest:,} bytes, a quarter of the memory allowed (memory=, --memory)"

    def next_data(self, stream: IO[bytes], rest: bytes) -> bytes:
        """More text after the rest of a record: as much again, within bounds, so that long records are soon whole."""
        self.stamp.require_same()  # a growing file is not followed
        return stream.read(min(max(self.chunk, len(rest)), max(1, self.longest_record + 1 - len(rest))))

    @contextmanager
    def stream(self, *, is_walk: bool = False) -> Iterator[IO[bytes]]:
        """The text of the file, decompressed; a complete walk also finds its digest, if that is not known yet.

        The beginning of a pipe can be read again until the pipe is walked.
        """
        if self.pipe is not None:
            yield self.pipe.opened(is_last=is_walk)  # type: ignore[misc]
            return
        try:
            with Path(self.file).open("rb", buffering=1 << 20) as raw:
                read: Any = Hashed(raw) if is_walk and self.digest is None else raw
                if self.compression == "gz":
                    yield gzip.GzipFile(fileobj=read)  # type: ignore[misc]
                elif self.compression == "xz":
                    yield Unpacked(read)  # type: ignore[misc]
                elif self.compression is not None:
                    import pyarrow as pa

                    # Python's own bz2 silently ignores damage after the first stream
                    named = {"zst": "zstd", "bz2": "bz2"}[self.compression]
                    yield pa.CompressedInputStream(pa.PythonFile(read, mode="r"), named)
                else:
                    yield read
                if isinstance(read, Hashed):
                    while read.read(1 << 20):
                        pass
                    self.stamp.require_same()
                    self.digest = read.digest.hexdigest()
        except (gzip.BadGzipFile, EOFError, zlib.error, lzma.LZMAError) as error:
            raise self._damaged(error) from error
        except OSError as error:
            if error.errno is not None:
                raise unreadable(self.path, error) from error
            raise self._damaged(error) from error

    def _damaged(self, error: Exception) -> InputError:
        self.stamp.require_same()
        return fault("unpack", self.path, seen=error)


class Unpacked:
    """The bytes of an .xz file. (Python's own reader silently ignores damage after the first stream.)"""

    def __init__(self, raw: IO[bytes]) -> None:
        self._raw, self._stream, self._rest = raw, _xz_stream(), b""

    def read(self, size: int) -> bytes:
        """At most `size` bytes; none at the end."""
        while True:
            if self._stream.eof:
                self._rest = (self._stream.unused_data or self._raw.read(1 << 16)).lstrip(b"\0")  # padding
                if not self._rest:
                    return b""
                self._stream = _xz_stream()
            if self._stream.needs_input and not self._rest:
                self._rest = self._raw.read(1 << 16)
                if not self._rest:
                    raise EOFError("the file ends before its compressed stream does")
            data, self._rest = self._stream.decompress(self._rest, size), b""
            if data:
                return data


def _xz_stream() -> lzma.LZMADecompressor:
    return lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=XZ_MEMORY)


class Pipe:
    """Text that comes only once, such as standard input; its beginning is kept, so that the header can be read."""

    def __init__(self, raw: IO[bytes], waiting: Waiting = nullcontext) -> None:
        self._raw, self._waiting, self._kept, self._at, self._is_last = raw, waiting, b"", 0, False

    def opened(self, *, is_last: bool) -> "Pipe":
        """The text from its beginning; in the last walk nothing is kept."""
        self._at, self._is_last = 0, is_last
        return self

    def read(self, size: int) -> bytes:
        """At most `size` bytes: those available after a short wait for more; none at the end."""
        data = self._kept[self._at : self._at + size]
        if not data:
            with self._waiting():
                data = next_bytes(self._raw, size)
            self._kept = b"" if self._is_last else self._kept + data
        self._at += len(data)
        return data


def next_bytes(raw: IO[bytes], size: int) -> bytes:
    """The next bytes of a file or a pipe: `size`, or fewer if a pipe has no more at the moment; none at the end."""
    if raw.seekable():
        return raw.read(size)
    descriptor, pieces, length = raw.fileno(), [os.read(raw.fileno(), size)], 0
    with selectors.DefaultSelector() as ready:  # select itself does not accept descriptors beyond 1023
        ready.register(descriptor, selectors.EVENT_READ)
        while pieces[-1] and (length := length + len(pieces[-1])) < size:
            if not ready.select(PATIENCE_S):
                break
            pieces.append(os.read(descriptor, size - length))
    return b"".join(pieces)


class Hashed:
    """A file whose bytes are added to a digest as they are read."""

    closed = False  # pyarrow reads this

    def __init__(self, raw: IO[bytes]) -> None:
        self._raw, self.digest = raw, hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        """The next bytes."""
        data = self._raw.read(size)
        self.digest.update(data)
        return data

    def close(self) -> None:
        """Nothing: the code that opened the file closes it."""
