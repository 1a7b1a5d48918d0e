"""The cache of a slow file: its rows as the kernels read them, so that only the first read parses text.

    rows       dense: float64 or int64, row after row; sparse: for each batch data, indices and indptr
    labels     one uint16 code a row
    footer     JSON: what the rows are, of which file, and where each batch lies; then its length, checksum and a mark

A cache belongs to one file as it was (size, time, content) and to one way of reading it. Any other is ignored and
written anew. It is written under another name and renamed when complete, so that half a cache never exists.
"""

import hashlib
import json
import os
import shutil
import struct
import tempfile
import weakref
import zlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep.errors import DamagedFileError
from linsep.sources.files.labels import Labels
from linsep.sources.files.reading import Batch, Buffers, Options, Place, Reader, Stamp
from linsep.sources.files.stream import TextReader
from linsep.sources.files.survey import Survey, first_read

MARK, VERSION = b"linsep-cache-2\n", 2
TAIL = struct.Struct("<QI15s")  # length of the footer, its checksum, the mark
ENDING = ".linsep-cache"
Footer = dict[str, Any]


@dataclass
class Caches:
    """Where caches are kept: beside the data, in a folder, in a temporary one, or nowhere.

    `hold` is how many bytes of small files may be held in memory instead.
    """

    folder: str | bool | None
    reuse: bool
    hold: int
    _temporary: str | None = None

    def temporary(self) -> str:
        """A folder that goes when the source does."""
        if self._temporary is None:
            self._temporary = tempfile.mkdtemp(prefix="linsep-")
            weakref.finalize(self, shutil.rmtree, self._temporary, ignore_errors=True)
        return self._temporary

    def path(self, reader: TextReader, options: Options) -> Path:
        """The name of the cache of a file read in this way."""
        asked = (VERSION, type(reader).__name__, options.label, options.columns, options.one_hot, options.numbers)
        how = (*asked, options.index_base, options.n_columns, reader.categories, reader.decimal_places)
        if not isinstance(self.folder, str) and self.reuse:
            name = hashlib.blake2b(repr(how).encode(), digest_size=6).hexdigest()
            beside = Path(reader.path).parent
            if os.access(beside, os.W_OK):
                return beside / f".{Path(reader.path).name}.{name}{ENDING}"
        where = (str(Path(reader.path).resolve()), *how)
        name = hashlib.blake2b(repr(where).encode(), digest_size=12).hexdigest()
        return Path(self.folder if isinstance(self.folder, str) else self.temporary()) / f"{name}{ENDING}"

    def survey(self, reader: Reader, options: Options) -> Survey:
        """The first read of a file: from its cache, or from the file, and then its cache is written."""
        if not isinstance(reader, TextReader) or self.folder is False:
            return first_read(reader)
        if self.folder is None and reader.stamp.size <= self.hold // 8:
            return self._held(reader)
        path = self.path(reader, options)
        known = self._known(path, reader, options) if self.reuse else None
        return known or self._written(path, reader, options)

    def _held(self, reader: TextReader) -> Survey:
        """A small file: its batches stay in memory."""
        found = Survey.begin(reader)
        batches = []
        for batch in reader.batches():
            codes = found.add_coded(batch)
            batches.append(Batch(batch.values, codes, batch.place))
            self.hold -= batch.values.nbytes if isinstance(batch.values, np.ndarray) else 12 * batch.values.nnz
        return replace(found, reader=HeldReader(reader, batches), left_out=reader.left_out)

    def _known(self, path: Path, reader: TextReader, options: Options) -> Survey | None:
        """The survey that a valid cache holds."""
        footer = read_footer(path)
        if footer is None or footer["size"] != reader.stamp.size:
            return None
        if footer["mtime_ns"] != reader.stamp.mtime_ns and footer["digest"] != digest_of(reader.path):
            return None
        return CacheReader(path, reader, footer, options).survey()

    def _written(self, path: Path, reader: TextReader, options: Options) -> Survey:
        """Read the file and write its cache; where that cannot be, go without."""
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            writer = CacheWriter(path)
        except OSError:
            return first_read(reader)
        try:
            found = Survey.begin(reader)
            for batch in reader.batches():
                writer.add(batch.values, found.add_coded(batch))
            footer = writer.finish(replace(found, left_out=reader.left_out), reader)
        except OSError:  # the disk is full, most likely
            writer.abandon()
            return first_read(reader)
        except BaseException:
            writer.abandon()
            raise
        return CacheReader(path, reader, footer, options).survey()


class CodedReader(Reader):
    """A reader in place of another, whose labels are codes already."""

    is_coded = True

    def __init__(self, original: Reader) -> None:
        self.original, self.path, self.columns = original, original.path, original.columns
        self.n_columns, self.label_name, self.is_sparse = original.n_columns, original.label_name, original.is_sparse
        self.left_out, self.is_plain_csv = original.left_out, original.is_plain_csv
        self.index_base = original.index_base

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
        self._stamp = original.stamp

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
        self.cache, self.footer = str(path), footer
        self.n_columns = footer["n_columns"]
        self.left_out = footer["left_out"]
        self._stamp, self._original_stamp = Stamp.of(self.cache), original.stamp
        self._step = max(1, options.batch_bytes // (8 * self.n_columns))
        self._kind = np.dtype(np.int64 if footer["kind"] == "i" else np.float64)
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
            for rows, entries, offset in self.footer["batches"]:
                yield Place(first, rows, (offset, entries))
                first += rows
            return
        total = self.footer["rows"]
        for first in range(0, total, self._step):
            yield Place(first, min(self._step, total - first))

    def batches(self) -> Iterator[Batch]:
        """Every row once, in order."""
        self._original_stamp.require_same()
        yield from map(self.read, self._places())

    def runs(self) -> list[Place]:
        """Its batches."""
        return list(self._places())

    def take_run(self, run: Place, positions: npt.NDArray[np.int64]) -> Iterator[Batch]:
        """Rows of one batch."""
        yield self.take(run, positions)

    def read(self, place: Place) -> Batch:
        """Rows from the disk."""
        self._stamp.require_same()
        with Path(self.cache).open("rb") as file:
            labels = self._labels(file, place.first, place.rows)
            values = self._sparse(file, place) if self.is_sparse else self._dense(file, place.first, place.rows)
        return Batch(values, labels, place)

    def take(self, place: Place, positions: npt.NDArray[np.int64]) -> Batch:
        """A few rows, each fetched on its own; many, with all that lies between."""
        if self.is_sparse or len(positions) * 16 > place.rows:
            return self.read(place).take(positions)
        self._stamp.require_same()
        with Path(self.cache).open("rb") as file:
            rows = np.empty((len(positions), self.n_columns), self._kind)
            for k, position in enumerate(positions.tolist()):
                rows[k] = self._dense(file, place.first + position, 1)[0]
            return Batch(rows, self._labels(file, place.first, place.rows)[positions], place)

    def _dense(self, file: Any, first: int, rows: int) -> npt.NDArray[Any]:
        file.seek(8 * self.n_columns * first)
        table = self.buffers.take(rows, self.n_columns) if rows > 1 else np.empty((rows, self.n_columns))
        got = file.readinto(table.data.cast("B"))  # lets other threads go on meanwhile, as NumPy's own reading does not
        if got < table.nbytes:
            self._stamp.require_same()
            raise DamagedFileError(f"{self.cache}: the cache is cut short. Remove it.", file=self.cache)
        return table.view(self._kind)

    def _labels(self, file: Any, first: int, rows: int) -> npt.NDArray[np.uint16]:
        file.seek(self.footer["labels_at"] + 2 * first)
        return np.fromfile(file, np.uint16, rows)

    def _sparse(self, file: Any, place: Place) -> Any:
        offset, entries = place.key
        file.seek(offset)
        data = np.fromfile(file, self._kind, entries)
        indices = np.fromfile(file, np.int32, entries)
        indptr = np.fromfile(file, np.int64, place.rows + 1)
        return sp.csr_array((data, indices, indptr), shape=(place.rows, self.n_columns))


class CacheWriter:
    """A cache on its way to the disk."""

    def __init__(self, path: Path) -> None:
        self._path = path
        handle, name = tempfile.mkstemp(prefix=path.name, suffix=".part", dir=path.parent)
        self._part = Path(name)
        self._rows = os.fdopen(handle, "w+b", buffering=1 << 20)
        self._labels = tempfile.TemporaryFile()  # noqa: SIM115 (closed when the cache is)
        self._batches: list[tuple[int, int, int]] = []
        self._kinds: list[str] = []
        self._count = 0

    def add(self, values: Any, codes: npt.NDArray[np.uint16]) -> None:
        """The next rows."""
        offset = self._rows.tell()
        if isinstance(values, np.ndarray):
            self._rows.write(np.ascontiguousarray(values).data)
            entries = values.size
        else:
            self._rows.write(np.ascontiguousarray(values.data, np.float64).data)
            self._rows.write(values.indices.astype(np.int32).data)
            self._rows.write(values.indptr.astype(np.int64).data)
            entries = values.nnz
        self._batches.append((len(codes), int(entries), offset))
        self._kinds.append(values.dtype.kind)
        self._labels.write(codes.data)
        self._count += len(codes)

    def finish(self, found: Survey, reader: TextReader) -> Footer:
        """Write the labels and the footer, and give the cache its name."""
        kind = self._one_kind(found)
        labels_at = self._rows.tell()
        self._labels.seek(0)
        shutil.copyfileobj(self._labels, self._rows, 1 << 20)
        is_sparse = reader.is_sparse
        footer: Footer = {
            "size": reader.stamp.size,
            "mtime_ns": reader.stamp.mtime_ns,
            "digest": reader.digest,
            "n_columns": reader.n_columns,
            "kind": kind,
            "rows": self._count,
            "labels_at": labels_at,
            "batches": self._batches if is_sparse else [],
            "labels": list(found.labels.codes),
            "from_text": found.labels.from_text,
            "whole": found.whole,
            "bits": found.bits,
            "long": found.long,
            "entries": found.entries,
            "left_out": found.left_out,
        }
        text = json.dumps(footer).encode()
        self._rows.write(text)
        self._rows.write(TAIL.pack(len(text), zlib.crc32(text), MARK))
        self._rows.flush()
        os.fsync(self._rows.fileno())
        self._rows.close()
        self._labels.close()
        self._part.replace(self._path)
        return footer

    def _one_kind(self, found: Survey) -> str:
        """Batches of doubles and of int64 in one cache: the former become integers too, or nothing will hold both."""
        kinds = set(self._kinds)
        if kinds == {"f", "i"} and found.whole:
            self._convert("i", np.int64)
            return "i"
        return "i" if kinds == {"i"} else "f"

    def _convert(self, kind: str, to: type) -> None:
        for (_, entries, offset), seen in zip(self._batches, self._kinds, strict=True):
            if seen != kind:
                self._rows.seek(offset)
                values: npt.NDArray[Any] = np.frombuffer(self._rows.read(8 * entries), np.float64).astype(to)
                self._rows.seek(offset)
                self._rows.write(values.data)
        self._rows.seek(0, os.SEEK_END)

    def abandon(self) -> None:
        """Leave nothing behind."""
        with suppress(OSError):
            self._rows.close()
            self._labels.close()
            self._part.unlink(missing_ok=True)


def read_footer(path: Path) -> Footer | None:
    """The footer of a cache; None if there is no cache, or it is not whole."""
    try:
        with path.open("rb") as file:
            file.seek(-TAIL.size, os.SEEK_END)
            length, checksum, mark = TAIL.unpack(file.read(TAIL.size))
            if mark != MARK or length > 1 << 30:
                return None
            file.seek(-TAIL.size - length, os.SEEK_END)
            text = file.read(length)
            if zlib.crc32(text) != checksum:
                return None
            footer: Footer = json.loads(text)
            return footer
    except (OSError, ValueError, struct.error):
        return None


def digest_of(path: str) -> str:
    """The digest of a file as it is now."""
    digest = hashlib.sha256()
    with Path(path).open("rb") as file:
        while data := file.read(1 << 22):
            digest.update(data)
    return digest.hexdigest()
