"""The cache of a slow file: its rows as the kernels read them, so that only the first read parses text.

    rows       dense: float64 or int64, row after row; sparse: for each batch data, indices and indptr
    labels     one uint16 code a row
    footer     JSON: what the rows are, of which file read in which way, where each batch lies, and checksums of all
    tail       the stamp of the file, the length and checksum of the footer, a checksum of its own and a mark

A cache is believed only if it is the user's own file, which nobody else may write to, and belongs to this path, this
way of reading and this content: the SHA-256 of the file is computed again unless its stamp shows that nobody touched
it. Whatever is read from it is checked by checksum; what does not fit is dropped and written anew. It is written under
another name and renamed when complete, so that half a cache never exists.
"""

import hashlib
import json
import os
import shutil
import stat
import struct
import tempfile
import threading
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import IO, Any, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep import loops
from linsep.errors import ChangedFileError, DamagedFileError
from linsep.sources.files import private
from linsep.sources.files.labels import Labels
from linsep.sources.files.reading import Batch, Buffers, Options, Place, Reader, Stamp
from linsep.sources.files.stream import TextReader
from linsep.sources.files.survey import Survey, first_read

MARK, VERSION = private.MARK + b"3\n", 3
TAIL = struct.Struct("<5q?QI15s")  # the stamp, whether it is settled, length and checksum of the footer, the mark
CHECK = struct.Struct("<I")  # the checksum of the tail, which ends the file
LONGEST_FOOTER = 1 << 30
CHUNK = 1 << 16  # bytes of dense rows that have a checksum of their own
Footer = dict[str, Any]
Rows: TypeAlias = tuple[Any, npt.NDArray[np.uint16]]  # values, and the codes of their labels


@dataclass
class Caches:
    """Where caches are kept: in the user's private folder, in a folder asked for, in a temporary one, or nowhere.

    `folder` is such a folder; None for the private one, and for none at all where a file is small; True for the private
    one always; False for none. `hold` is how many bytes of small files may be held in memory instead.
    """

    folder: str | bool | None
    reuse: bool
    hold: int
    _temporary: str | None = None

    def temporary(self) -> str:
        """A folder that goes when the source does."""
        if self._temporary is None:
            self._temporary = private.temporary_folder(self)
        return self._temporary

    def _kept_in(self, reader: TextReader) -> Path | None:
        """Where the cache of this file outlives the run; None where none does."""
        if not self.reuse or (self._temporary is not None and Path(self._temporary) in Path(reader.path).parents):
            return None  # what was left out, or came out of a pipe, is of no use to another run
        return Path(self.folder) if isinstance(self.folder, str) else private.own_cache_folder()

    def survey(self, reader: Reader, options: Options) -> Survey:
        """The first read of a file: from its cache, or from the file, and then its cache is written."""
        if not isinstance(reader, TextReader) or self.folder is False:
            return first_read(reader)
        if self.folder is None and reader.stamp.size <= self.hold // 8:
            return self._held(reader)
        folder, key = self._kept_in(reader), key_of(reader, options)
        path = (folder or Path(self.temporary())) / f"{hashlib.sha256(key.encode()).hexdigest()[:32]}{private.ENDING}"
        found = None if folder is None else known(path, reader, key)
        if found is None:
            try:
                found = written(path, reader, key)
            except NoCacheError:
                return first_read(reader)
            if folder is not None and not isinstance(self.folder, str):
                private.prune(folder)
        return CacheReader(path, reader, found, options).survey()

    def _held(self, reader: TextReader) -> Survey:
        """A small file: its batches stay in memory."""
        found = Survey.begin(reader)
        batches = []
        for batch in reader.batches():
            codes = found.add_coded(batch)
            batches.append(Batch(batch.values, codes, batch.place))
            self.hold -= batch.values.nbytes if isinstance(batch.values, np.ndarray) else 12 * batch.values.nnz
        return replace(found, reader=HeldReader(reader, batches), left_out=reader.left_out)


class NoCacheError(Exception):
    """A cache cannot be written: the disk is full, most likely."""


class BadCacheError(Exception):
    """A cache is not there any more, or does not hold what was written."""


def key_of(reader: TextReader, options: Options) -> str:
    """Which file a cache belongs to, and which way of reading it."""
    asked = (VERSION, type(reader).__name__, options.label, options.columns, options.one_hot, options.numbers)
    how = (*asked, options.index_base, options.n_columns, reader.categories, reader.decimal_places)
    cut = options.batch_bytes if reader.is_sparse else 0  # dense rows are cut anew in each run
    return repr((os.fsencode(Path(reader.path).resolve()), *how, cut))


def known(path: Path, reader: TextReader, key: str) -> Footer | None:
    """The footer of a cache that is our own and true of the file as it is now; None where there is no such cache."""
    try:
        with opened(path) as file:
            footer, stamp, is_settled = read_footer(file)
    except (OSError, BadCacheError):
        return None
    if footer["key"] != key or stamp[2] != reader.stamp.size:
        return None
    now = as_numbers(reader.stamp)
    if stamp != now or not is_settled:  # its times cannot tell: its content does
        digest = digest_of(reader.path)
        reader.stamp.require_same()
        if digest != footer["digest"]:
            return None
        with suppress(OSError), path.open("r+b") as file:
            write_tail(file, reader.stamp, footer)
    with suppress(OSError):
        os.utime(path)  # the caches not used for longest are the first to go
    return footer


def written(path: Path, reader: TextReader, key: str) -> Footer:
    """Read the file and write its cache; its footer."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        private.remove_abandoned(path.parent, private.PARTS)
        writer = CacheWriter(path, reader, key)
    except OSError as error:
        raise NoCacheError from error
    try:
        found = Survey.begin(reader)
        for batch in reader.batches():
            writer.add(batch.values, found.add_coded(batch))
        return writer.finish(replace(found, left_out=reader.left_out))
    except OSError as error:
        writer.abandon()
        raise NoCacheError from error
    except BaseException:
        writer.abandon()
        raise


class CodedReader(Reader):
    """A reader in place of another, whose labels are codes already."""

    is_coded = True

    def __init__(self, original: Reader) -> None:
        self._original, self.path, self.columns = original, original.path, original.columns
        self.n_columns, self.label_name, self.is_sparse = original.n_columns, original.label_name, original.is_sparse
        self.left_out, self.is_plain_csv = original.left_out, original.is_plain_csv
        self.index_base = original.index_base

    @property
    def original(self) -> Reader:
        """The reader of the file itself."""
        return self._original

    @property
    def decimal_places(self) -> tuple[int, ...] | None:
        """The power of ten that makes each column integers, where decimals are read exactly."""
        return self.original.decimal_places

    @decimal_places.setter
    def decimal_places(self, known: tuple[int, ...]) -> None:
        """They are settled before a file is read."""
        self.original.decimal_places = known

    @property
    def categories(self) -> dict[str, tuple[str, ...]]:
        """The categories of each text column, in order."""
        return self.original.categories

    @categories.setter
    def categories(self, known: dict[str, tuple[str, ...]]) -> None:
        """They are settled before a file is read."""
        self.original.categories = known

    def lines(self, rows: Sequence[int]) -> dict[int, int]:
        """The lines of the original file on which these rows begin."""
        return self.original.lines(rows)


class HeldReader(CodedReader):
    """The batches of a small file, in memory."""

    def __init__(self, original: TextReader, batches: list[Batch]) -> None:
        super().__init__(original)
        self._batches = batches

    def batches(self) -> Iterator[Batch]:
        """All of them."""
        yield from self._batches

    def read(self, place: Place) -> Batch:
        """The batch of a place."""
        return next(batch for batch in self._batches if batch.place == place)


class CacheReader(CodedReader):
    """A cache in place of its file. Dense rows are cut into batches anew, so that each has a good size."""

    def __init__(self, path: Path, original: TextReader, footer: Footer, options: Options) -> None:
        super().__init__(original)
        self.cache, self.footer, self._text = path, footer, original
        self.n_columns = footer["n_columns"]
        self.left_out = footer["left_out"]
        self._chunk = chunk_rows(self.n_columns)
        self._step = max(1, options.batch_bytes // (8 * self.n_columns * self._chunk)) * self._chunk
        self._kind = np.dtype(np.int64 if footer["kind"] == "i" else np.float64)
        self._sums = np.array(footer["sums"], np.uint64).reshape(-1, 2).T
        self._renewals, self._renewing = 0, threading.Lock()
        self.buffers: Buffers = Buffers()

    def survey(self) -> Survey:
        """What the first read of the file had found."""
        footer = self.footer
        labels = Labels(self.path, footer["from_text"], footer["labels"])
        found = Survey(self, list(self._places()), labels, footer["whole"], footer["bits"])
        found.long = None if footer["long"] is None else (footer["long"][0], footer["long"][1])
        found.entries, found.left_out = footer["entries"], footer["left_out"]
        return found

    def _places(self) -> Iterator[Place]:
        if self.is_sparse:
            first = 0
            for rows, entries, offset, checksum in self.footer["batches"]:
                yield Place(first, rows, (offset, entries, checksum))
                first += rows
            return
        total = self.footer["rows"]
        for first in range(0, total, self._step):
            yield Place(first, min(self._step, total - first))

    def batches(self) -> Iterator[Batch]:
        """Every row once, in order."""
        self._text.stamp.require_same()
        yield from map(self.read, self._places())

    def runs(self) -> list[Place]:
        """Its batches."""
        return list(self._places())

    def take_run(self, run: Place, positions: npt.NDArray[np.int64]) -> Iterator[Batch]:
        """Rows of one batch."""
        yield self.take(run, positions)

    def read(self, place: Place) -> Batch:
        """Rows from the disk."""
        rows = self._sparse if self.is_sparse else self._dense
        values, labels = self._checked(partial(rows, place=place))
        return Batch(values, labels, place)

    def take(self, place: Place, positions: npt.NDArray[np.int64]) -> Batch:
        """A few rows, with the chunks that they lie in; many, with all that lies between."""
        chunks = np.unique(positions // self._chunk)
        if self.is_sparse or len(chunks) * 2 * self._chunk > place.rows:
            return self.read(place).take(positions)
        rows = np.empty((len(positions), self.n_columns), self._kind)
        labels = np.empty(len(positions), np.uint16)
        for first in (chunks * self._chunk).tolist():
            part = Place(place.first + first, min(self._chunk, place.rows - first))
            values, codes = self._checked(partial(self._dense, place=part))
            mine = (positions >= first) & (positions < first + part.rows)
            rows[mine], labels[mine] = values[positions[mine] - first], codes[positions[mine] - first]
        return Batch(rows, labels, place)

    def _checked(self, read: Callable[[IO[bytes]], Rows]) -> Rows:
        """What a read finds; where the cache is damaged or gone, it is written anew, once."""
        seen = self._renewals
        try:
            with opened(self.cache) as file:
                return read(file)
        except (OSError, BadCacheError):
            self._renew(seen)
        try:
            with opened(self.cache) as file:
                return read(file)
        except (OSError, BadCacheError) as error:
            raise self._lost() from error

    def _renew(self, seen: int) -> None:
        """Write the cache anew, unless another thread did since; the file must be what it was."""
        with self._renewing:
            if self._renewals > seen:
                return
            self._text.stamp.require_same()
            try:
                footer = written(self.cache, self._text, self.footer["key"])
            except NoCacheError as error:
                raise self._lost() from error
            if footer != self.footer:
                raise ChangedFileError(f"{self.path}: the file changed while it was read.", file=self.path)
            self._renewals += 1

    def _lost(self) -> DamagedFileError:
        fix = "Make room on the disk, or go without: cache=False (--cache none)."
        return DamagedFileError(
            f"{self.path}: its cache {self.cache} was damaged and cannot be written again. {fix}",
            file=self.path,
            fix=fix,
        )

    def _dense(self, file: IO[bytes], place: Place) -> Rows:
        """Rows that begin with a chunk, and their labels."""
        table = self.buffers.take(place.rows, self.n_columns)
        file.seek(8 * self.n_columns * place.first)
        fill(file, table.data.cast("B"))
        labels = np.empty(place.rows, np.uint16)
        file.seek(self.footer["labels_at"] + 2 * place.first)
        fill(file, labels.data.cast("B"))
        first, found = place.first // self._chunk, (sums_of(table, self._chunk), sums_of(labels, self._chunk))
        for written, read in zip(self._sums, found, strict=True):
            if not np.array_equal(written[first : first + len(read)], read):
                raise BadCacheError
        return table.view(self._kind), labels

    def _sparse(self, file: IO[bytes], place: Place) -> Rows:
        offset, entries, checksum = place.key
        parts: list[npt.NDArray[Any]] = [
            np.empty(entries, self._kind),
            np.empty(entries, np.int32),
            np.empty(place.rows + 1, np.int64),
            np.empty(place.rows, np.uint16),
        ]
        file.seek(offset)
        for part in parts[:3]:
            fill(file, part.data.cast("B"))
        file.seek(self.footer["labels_at"] + 2 * place.first)
        fill(file, parts[3].data.cast("B"))
        if checksum_of(parts) != checksum:
            raise BadCacheError
        data, indices, indptr, labels = parts
        return sp.csr_array((data, indices, indptr), shape=(place.rows, self.n_columns)), labels


class CacheWriter:
    """A cache on its way to the disk."""

    def __init__(self, path: Path, reader: TextReader, key: str) -> None:
        self._path, self._reader, self._key = path, reader, key
        handle, name = tempfile.mkstemp(prefix=path.name, suffix=private.PART, dir=path.parent)
        private.lock(handle)
        self._part = Path(name)
        self._rows = os.fdopen(handle, "w+b", buffering=1 << 20)
        self._labels = tempfile.TemporaryFile()  # noqa: SIM115 (closed when the cache is)
        self._batches: list[tuple[int, int, int, int]] = []
        self._kinds: list[str] = []
        self._sums: tuple[Checksums, Checksums] | None = None
        self._count = 0

    def add(self, values: Any, codes: npt.NDArray[np.uint16]) -> None:
        """The next rows."""
        offset, checksum = self._rows.tell(), 0
        if isinstance(values, np.ndarray):
            parts: list[npt.NDArray[Any]] = [np.ascontiguousarray(values)]
            if self._sums is None:
                rows = chunk_rows(values.shape[1])
                self._sums = Checksums(rows), Checksums(rows)
            for sums, array in zip(self._sums, (parts[0], codes), strict=True):
                sums.add(array)
        else:
            data = np.ascontiguousarray(values.data, np.float64)
            parts = [data, values.indices.astype(np.int32), values.indptr.astype(np.int64)]
            checksum = checksum_of([*parts, codes])
        for part in parts:
            self._rows.write(part.data)
        self._batches.append((len(codes), int(parts[0].size), offset, checksum))
        self._kinds.append(values.dtype.kind)
        self._labels.write(codes.data)
        self._count += len(codes)

    def finish(self, found: Survey) -> Footer:
        """Write the labels and the footer, and give the cache its name."""
        reader, kind = self._reader, self._one_kind(found)
        labels_at = self._rows.tell()
        self._labels.seek(0)
        shutil.copyfileobj(self._labels, self._rows, 1 << 20)
        sums = [] if self._sums is None else zip(*(each.finish() for each in self._sums), strict=True)
        footer: Footer = {
            "key": self._key,
            "digest": reader.digest,
            "n_columns": reader.n_columns,
            "kind": kind,
            "rows": self._count,
            "labels_at": labels_at,
            "batches": self._batches if reader.is_sparse else [],
            "sums": list(sums),
            "labels": list(found.labels.codes),
            "from_text": found.labels.from_text,
            "whole": found.whole,
            "bits": found.bits,
            "long": found.long,
            "entries": found.entries,
            "left_out": found.left_out,
        }
        footer = json.loads(json.dumps(footer))  # as it will be read
        self._rows.write(as_bytes(footer))
        self._rows.write(bytes(TAIL.size + CHECK.size))
        self._rows.flush()
        write_tail(self._rows, reader.stamp, footer)
        os.fsync(self._rows.fileno())
        self._part.replace(self._path)
        self._rows.close()
        self._labels.close()
        return footer

    def _one_kind(self, found: Survey) -> str:
        """Batches of doubles and of int64 in one cache: the former become integers too, or nothing will hold both."""
        kinds = set(self._kinds)
        if kinds == {"f", "i"}:
            if not found.whole:
                raise NoCacheError
            self._convert()
        return "i" if "i" in kinds else "f"

    def _convert(self) -> None:
        """Doubles that are integers as such, and the checksums of what then stands there."""
        rows = Checksums(chunk_rows(self._reader.n_columns))
        for (_, entries, offset, _), seen in zip(self._batches, self._kinds, strict=True):
            self._rows.seek(offset)
            kind = np.float64 if seen == "f" else np.int64
            values: npt.NDArray[Any] = np.frombuffer(self._rows.read(8 * entries), kind).astype(np.int64)
            self._rows.seek(offset)
            self._rows.write(values.data)
            rows.add(values.reshape(-1, self._reader.n_columns))
        self._sums = (rows, self._sums[1]) if self._sums else None
        self._rows.seek(0, os.SEEK_END)

    def abandon(self) -> None:
        """Leave nothing behind."""
        with suppress(OSError):
            self._part.unlink(missing_ok=True)
        for file in (self._rows, self._labels):
            with suppress(OSError):
                file.close()


class Checksums:
    """The checksum of each so many rows of what is written in pieces of any length."""

    def __init__(self, rows: int) -> None:
        self._rows, self._rest = rows, np.zeros((0, 0))
        self._done: list[int] = []

    def add(self, array: npt.NDArray[Any]) -> None:
        """The rows that are written next."""
        pieces = [self._rest, array] if len(self._rest) else [array]
        rows = np.concatenate(pieces)
        whole = len(rows) // self._rows * self._rows
        self._done += sums_of(rows[:whole], self._rows).tolist()
        self._rest = rows[whole:].copy()

    def finish(self) -> list[int]:
        """All of them, the last of what is left."""
        return [*self._done, *sums_of(self._rest, self._rows).tolist()]


def sums_of(rows: npt.NDArray[Any], each: int) -> npt.NDArray[np.uint64]:
    """The checksum of each so many rows; the last ones may be fewer."""
    found = np.empty(-(-len(rows) // each), np.uint64)
    words = np.ascontiguousarray(rows).reshape(-1).view(f"u{rows.dtype.itemsize}")
    loops.checksums.checksums(words, each * (rows.size // max(1, len(rows))), found)
    return found


def checksum_of(parts: Sequence[npt.NDArray[Any]]) -> int:
    """One checksum of several arrays."""
    return zlib.crc32(np.array([sums_of(part, max(1, len(part))).sum() for part in parts]).data)


def chunk_rows(n_columns: int) -> int:
    """How many dense rows have a checksum of their own."""
    return max(1, CHUNK // (8 * n_columns))


def fill(file: IO[bytes], buffer: memoryview) -> None:
    """Read as many bytes as the buffer has."""
    if file.readinto(buffer) < len(buffer):  # type: ignore[attr-defined]  # other threads go on meanwhile
        raise BadCacheError


def opened(path: Path) -> IO[bytes]:
    """A cache, if it is a file of our own that nobody else may write to."""
    flags = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)  # a pipe in its place is not waited for
    descriptor = os.open(path, os.O_RDONLY | flags)
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode) or not private.is_own(found):
        os.close(descriptor)
        raise BadCacheError
    return os.fdopen(descriptor, "rb", buffering=0)


def as_bytes(footer: Footer) -> bytes:
    """A footer as it is written."""
    return json.dumps(footer).encode()


def as_numbers(stamp: Stamp) -> tuple[int, ...]:
    """A stamp as it is written: 64 bits each."""
    parts = (stamp.device, stamp.inode, stamp.size, stamp.mtime_ns, stamp.ctime_ns)
    return tuple((part + 2**63) % 2**64 - 2**63 for part in parts)


def write_tail(file: IO[bytes], stamp: Stamp, footer: Footer) -> None:
    """Write the end of a cache, in one go; whoever reads half of it drops the cache."""
    text = as_bytes(footer)
    tail = TAIL.pack(*as_numbers(stamp), stamp.is_settled, len(text), zlib.crc32(text), MARK)
    file.seek(-TAIL.size - CHECK.size, os.SEEK_END)
    file.write(tail + CHECK.pack(zlib.crc32(tail)))
    file.flush()


def read_footer(file: IO[bytes]) -> tuple[Footer, tuple[int, ...], bool]:
    """The footer of a cache, the stamp that its file had, and whether that is settled."""
    try:
        file.seek(-TAIL.size - CHECK.size, os.SEEK_END)
        end = file.read(TAIL.size + CHECK.size)
        *stamp, is_settled, length, checksum, mark = TAIL.unpack(end[: TAIL.size])
        if mark != MARK or length > LONGEST_FOOTER or CHECK.unpack(end[TAIL.size :]) != (zlib.crc32(end[: TAIL.size]),):
            raise BadCacheError
        file.seek(-TAIL.size - CHECK.size - length, os.SEEK_END)
        text = file.read(length)
        if zlib.crc32(text) != checksum:
            raise BadCacheError
        return json.loads(text), tuple(stamp), is_settled
    except (ValueError, struct.error) as error:
        raise BadCacheError from error


def digest_of(path: str) -> str:
    """The digest of a file as it is now."""
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
