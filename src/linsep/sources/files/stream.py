"""Text files, packed or not, as bytes: what is wrong with the packing is an error of ours, and a digest is kept."""

import gzip
import hashlib
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from linsep.errors import DamagedFileError
from linsep.sources.files.reading import Options, Reader, Stamp, unreadable

BOM = b"\xef\xbb\xbf"
LONGEST_RECORD = 1 << 26  # bytes: a line or a quotation that goes on for longer is a fault


class TextReader(Reader):
    """What the readers of text share. `digest` is that of the whole file, known after the first walk."""

    is_slow = True

    def __init__(self, path: str, options: Options, compression: str | None) -> None:
        self.path, self.options, self.compression = path, options, compression
        self.can_seek = compression is None
        self.stamp = Stamp.of(path)
        self.chunk = options.batch_bytes
        self.digest: str | None = None

    def new_digest(self) -> Any:
        """A digest to be filled by the first walk; None afterwards."""
        return None if self.digest is not None else hashlib.blake2b(digest_size=16)

    @contextmanager
    def _stream(self, digest: Any = None) -> Iterator[IO[bytes]]:
        """The text of the file, unpacked; what is wrong with the packing is an error of ours."""
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

    def _set_aside(self, *facts: Any) -> None:
        """Write a bad row down, in the first walk alone: later ones pass by the same rows."""
        if self.digest is None and self.options.set_aside is not None:
            self.options.set_aside.add(*facts)

    def _damaged(self, error: Exception) -> DamagedFileError:
        self.stamp.require_same()
        fix = "The file is cut short or broken: fetch it again."
        return DamagedFileError(f"{self.path}: cannot be unpacked: {error}. {fix}", file=self.path, fix=fix)


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
