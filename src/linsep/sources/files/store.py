"""Slow files converted once to Arrow IPC: rows as the compiled loops read them, so that only the first read parses.

    row      dense: a fixed-size list of float64 or int64; sparse: a list of (value, index)
    label    the code of the label, uint16
    facts    JSON in the metadata of a last record batch, which is empty: of which file the rows are, read in which way,
             what the first read found, where each record batch ends, and checksums of all

Other tools open it as any Arrow file. Here a record batch is read straight into a table, since its buffers lie one
after the other before its end, and is checked by its checksums.

A cache is believed only if it is the user's own file, which nobody else may write to, and belongs to this path, this
way of reading and this content: the SHA-256 of the file is computed again unless its stamp shows that nobody touched
it. What does not fit is dropped and written anew. It is written under another name and renamed when complete, so that
half a cache never exists.
"""

import hashlib
import json
import os
import stat
import struct
import tempfile
import threading
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep import loops
from linsep.errors import InputError
from linsep.faults import fault
from linsep.sources.base import Ints
from linsep.sources.files import private
from linsep.sources.files.first_read import Survey, common_kind, surveyed
from linsep.sources.files.labels import CodedLabels
from linsep.sources.files.reader import Batch, Buffers, Reader, Stamp, Store

VERSION = 5
MARK = private.MARK + b"%d" % VERSION
FACTS = b"\x01linsep-facts\x01"  # no JSON has these bytes
STAMP = struct.Struct("<5q?")  # and whether it is settled
STAMPED = 2 * STAMP.size + 8  # its digits, and those of its checksum
LONGEST_FACTS = 1 << 30
CHUNK = 1 << 16  # bytes of dense rows that have a checksum of their own: a few rows are read with little else
Facts = dict[str, Any]
Codes: TypeAlias = npt.NDArray[np.uint16]
Rows: TypeAlias = tuple[Any, Codes]  # values, and the codes of their labels
Array: TypeAlias = npt.NDArray[Any]
Record: TypeAlias = Sequence[Any]  # of a record batch: its rows, its entries, where it ends, and its checksums


class NoCacheError(Exception):
    """A cache cannot be written: the disk is full, most likely."""


class BadCacheError(Exception):
    """A cache is not there any more, or does not hold what was written."""


@dataclass
class Caches:
    """Where converted rows are kept: in the user's private folder, in a folder asked for, or for this source alone.

    `folder` is such a folder; None for the private one, True for that of small files too, which else are held in
    memory, False for none that outlives the source. `hold` is how many bytes may be held in memory.
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

    def survey(self, reader: Reader) -> Survey:
        """The first read of a file: as it lies, from its cache, or from the file, which is converted then."""
        if isinstance(reader, Store) and reader.options.set_aside is None:
            return surveyed(reader, reader)
        key = key_of(reader)
        name = f"{hashlib.sha256(key.encode()).hexdigest()[:32]}{private.ENDING}"
        folder = self._kept_in(reader)
        if folder is not None and (facts := known(folder / name, reader, key)) is not None:
            return ConvertedRows(folder / name, reader, facts).survey()
        try:
            return self._first_read(reader, key, folder, name)
        except NoCacheError as error:
            raise fault("no room", reader.path, folder=self.temporary(), seen=error) from error

    def _first_read(self, reader: Reader, key: str, folder: Path | None, name: str) -> Survey:
        if not self.folder and reader.size <= self.hold:
            return self.converted(reader, key, None, name)
        with suppress(NoCacheError):
            if folder is not None:
                found = self.converted(reader, key, folder, name)
                if not isinstance(self.folder, str):
                    private.prune(folder)
                return found
        return self.converted(reader, key, Path(self.temporary()), name)

    def _kept_in(self, reader: Reader) -> Path | None:
        """Where the rows of this file outlive the run; None where they do not."""
        if not self.reuse or self.folder is False or (self.folder is None and reader.size <= self.hold):
            return None  # without the rows that were rejected they are of no use to another run
        if self._temporary is not None and Path(self._temporary) in Path(reader.path).parents:
            return None  # what came out of a pipe
        return Path(self.folder) if isinstance(self.folder, str) else private.own_cache_folder()

    def converted(self, reader: Reader, key: str, folder: Path | None, name: str) -> Survey:
        """The first read of the file itself; without a folder its rows are held in memory, while they fit."""
        found = Survey.begin(reader)
        sink: Held | Writer = Held(reader) if folder is None else begun(folder / name, reader.options.batch_bytes)
        try:
            for batch in reader.batches():
                codes = found.add(batch)
                if isinstance(sink, Held) and sink.size > self.hold:
                    sink = sink.moved(begun(Path(self.temporary(), name), reader.options.batch_bytes))
                sink = sink.fitting(batch.values, found)
                sink.add(batch.values, codes)
            found.labels = CodedLabels.of(found.labels)
            if isinstance(sink, Held):
                self.hold -= sink.size
                found.store = sink
            else:
                found.store = ConvertedRows(sink.path, reader, sink.finish(key, reader, found))
            found.batches = len(found.store.lengths)
            return found
        except OSError as error:
            raise NoCacheError(error.strerror or error) from error
        finally:
            sink.abandon()


def key_of(reader: Reader) -> str:
    """Which file a cache belongs to, and which way of reading it."""
    options = reader.options
    asked = (VERSION, type(reader).__name__, options.label, options.columns, options.one_hot, options.numbers)
    how = (*asked, options.index_base, options.n_columns, reader.categories, reader.decimal_places)
    return repr((os.fsencode(Path(reader.path).resolve()), *how))


def known(path: Path, reader: Reader, key: str) -> Facts | None:
    """The facts of a cache that is our own and true of the file as it is now; None where there is no such cache."""
    try:
        with opened(path) as file:
            facts, stamp, is_settled, place = read_facts(file)
    except (OSError, BadCacheError):
        return None
    if facts["key"] != key or stamp[2] != reader.stamp.size or facts["batch_bytes"] > reader.options.batch_bytes:
        return None
    if stamp != as_numbers(reader.stamp) or not is_settled:  # its times cannot tell: its content does
        digest = digest_of(reader.path)
        reader.stamp.require_same()
        if digest != facts["digest"]:
            return None
        with suppress(OSError), path.open("r+b") as file:
            file.seek(place)
            file.write(stamped(reader.stamp))
    with suppress(OSError):
        os.utime(path)  # the caches not used for longest are the first to go
    return facts


class Held(Store):
    """The rows of a small file, in memory."""

    def __init__(self, reader: Reader) -> None:
        self._stamp, self._batches, self.lengths, self.size = reader.stamp, list[Batch](), list[int](), 0

    def add(self, values: Any, codes: Codes) -> None:
        """The next rows."""
        self._batches.append(Batch(values, codes, sum(self.lengths)))
        self.lengths.append(len(codes))
        self.size += values.nbytes if isinstance(values, np.ndarray) else 12 * values.nnz + 8 * values.shape[0]

    def fitting(self, values: Any, found: Survey) -> "Held":
        """Rows of every kind fit."""
        return self

    def moved(self, writer: "Writer") -> "Writer":
        """The same rows on the disk: they are too many."""
        for batch in self._batches:
            writer.add(batch.values, batch.labels)
        return writer

    def read(self, k: int, *, use_threads: bool = False) -> Iterator[Batch]:
        """The rows that were added k-th."""
        self._stamp.require_same()
        yield self._batches[k]

    def abandon(self) -> None:
        """Nothing is left behind."""


class ConvertedRows(Store):
    """An Arrow file in place of the one that it was made from, whose reader can make it again."""

    def __init__(self, path: Path, reader: Reader, facts: Facts) -> None:
        self.path, self._reader, self._facts = path, reader, facts
        self.lengths = [rows for rows, *_ in facts["batches"]]
        self._firsts = np.concatenate([[0], np.cumsum(self.lengths)]).tolist()
        self._renewals, self._renewing = 0, threading.Lock()
        self.buffers = Buffers()

    def survey(self) -> Survey:
        """What the first read of the file had found."""
        facts, reader = self._facts, self._reader
        reader.n_columns = facts["n_columns"]
        labels = CodedLabels(reader.path, reader.is_text, facts["labels"])
        found = Survey(reader, labels, self, facts["whole"], facts["bits"])
        found.long = None if facts["long"] is None else (facts["long"][0], facts["long"][1])
        found.entries, found.batches = facts["entries"], len(self.lengths)
        return found

    def read(self, k: int, *, use_threads: bool = False) -> Iterator[Batch]:
        """A record batch."""
        yield self._checked(k, partial(read_rows, buffers=self.buffers))

    def take(self, k: int, positions: Ints) -> Iterator[Batch]:
        """A few rows, with the chunks that they lie in; many, with all that lies between."""
        chunk = chunk_rows(self._facts["n_columns"])
        if self._facts["is_sparse"] or len(np.unique(positions // chunk)) * 2 * chunk > self.lengths[k]:
            yield from super().take(k, positions)
        else:
            yield self._checked(k, partial(read_few, positions=positions))

    def _checked(self, k: int, read: Callable[[IO[bytes], Record, Facts], Rows]) -> Batch:
        """What a read of a record batch finds; where the cache is damaged or gone, it is written anew, once."""
        self._reader.stamp.require_same()
        seen = self._renewals
        try:
            return self._read(k, read)
        except (OSError, BadCacheError):
            self._renew(seen)
        try:
            return self._read(k, read)
        except (OSError, BadCacheError) as error:
            raise self._lost() from error

    def _read(self, k: int, read: Callable[[IO[bytes], Record, Facts], Rows]) -> Batch:
        with opened(self.path) as file:
            values, codes = read(file, self._facts["batches"][k], self._facts)
        return Batch(values, codes, self._firsts[k])

    def _renew(self, seen: int) -> None:
        """Write the cache anew, unless another thread did since; the file must be what it was."""
        with self._renewing:
            if self._renewals > seen:
                return
            caches = Caches(str(self.path.parent), reuse=True, hold=0)
            try:
                again = caches.converted(self._reader, self._facts["key"], self.path.parent, self.path.name).store
            except NoCacheError as error:
                raise self._lost() from error
            if not isinstance(again, ConvertedRows) or again._facts != self._facts:
                raise fault("changed", self._reader.path)
            self._renewals += 1

    def _lost(self) -> InputError:
        return fault("lost cache", self._reader.path, cache=self.path)


def begun(path: Path, batch_bytes: int) -> "Writer":
    """A cache that is being written; what killed processes left in its folder goes."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        private.remove_abandoned(path.parent, private.PARTS)
        return Writer(path, batch_bytes)
    except OSError as error:
        raise NoCacheError(error.strerror or error) from error


class Writer:
    """An Arrow file on its way to the disk; all record batches of dense rows but the last are of one length."""

    def __init__(self, path: Path, batch_bytes: int) -> None:
        handle, name = tempfile.mkstemp(prefix=path.name, suffix=private.PART, dir=path.parent)
        private.lock(handle)
        self.path, self._part = path, Path(name)
        self._file = os.fdopen(handle, "w+b", buffering=1 << 20)
        self._arrow: Any = None
        self._table, self._codes, self._filled = np.zeros((0, 0)), np.zeros(0, np.uint16), 0
        self._facts: Facts = {"batches": [], "kind": None, "is_sparse": False, "batch_bytes": batch_bytes}

    def fitting(self, values: Any, found: Survey) -> "Writer":
        """A writer for rows of this kind: where integers beyond 2^53 come late, all that went before are integers."""
        if self._facts["kind"] in (None, values.dtype.kind):
            return self
        common_kind([found])  # or nothing will hold both
        if self._facts["kind"] == "i":
            return self
        self._flush()
        other = Writer(self.path, self._facts["batch_bytes"])
        for record in self._facts["batches"]:
            rows, codes = read_rows(self._file, record, self._facts)
            other.add(rows.astype(np.int64), codes)
        self.abandon()
        return other

    def add(self, values: Any, codes: Codes) -> None:
        """The next rows."""
        if self._facts["kind"] is None:
            self._begin(values)
        if self._facts["is_sparse"]:
            self._write(values.astype(f"{self._facts['kind']}8", copy=False), codes.astype(np.uint16, copy=False))
            return
        done = 0
        while done < len(codes):
            start, n = self._filled, min(len(self._codes) - self._filled, len(codes) - done)
            self._table[start : start + n] = values[done : done + n]
            self._codes[start : start + n] = codes[done : done + n]
            self._filled, done = start + n, done + n
            if self._filled == len(self._codes):
                self._flush()

    def _begin(self, values: Any) -> None:
        """Rows are of this kind and width."""
        n_columns, is_sparse = values.shape[1], not isinstance(values, np.ndarray)
        self._facts |= {"kind": values.dtype.kind, "is_sparse": is_sparse, "n_columns": n_columns}
        if not is_sparse:
            n_rows = max(1, self._facts["batch_bytes"] // (8 * n_columns))
            self._table, self._codes = (
                np.empty((n_rows, n_columns), f"{values.dtype.kind}8"),
                np.empty(n_rows, np.uint16),
            )

    def _flush(self) -> None:
        """Write the rows gathered so far as one record batch."""
        if self._filled:
            self._write(self._table[: self._filled], self._codes[: self._filled])
            self._filled = 0

    def _write(self, values: Any, codes: Codes) -> None:
        import pyarrow as pa

        batch, parts = record_batch(values, codes)
        if self._arrow is None:
            schema = batch.schema.with_metadata({b"linsep": MARK})
            self._arrow, self._none = pa.ipc.new_file(self._file, schema), batch.slice(0, 0)
        self._arrow.write_batch(batch)
        self._facts["batches"].append([len(codes), parts[0].size, self._file.tell(), checksums_of(parts, self._facts)])

    def finish(self, key: str, reader: Reader, found: Survey) -> Facts:
        """Write what was found, and give the cache its name."""
        self._flush()
        facts = {
            **self._facts,
            "key": key,
            "digest": reader.digest or digest_of(reader.path),
            "n_columns": reader.n_columns,
            "labels": list(found.labels.codes),
            "whole": found.whole,
            "bits": found.bits,
            "long": found.long,
            "entries": found.entries,
        }
        text = json.dumps(facts).encode()
        told = FACTS + stamped(reader.stamp) + b"%08x%08x" % (len(text), zlib.crc32(text)) + text
        self._arrow.write_batch(self._none, custom_metadata={b"linsep": told})
        self._arrow.close()
        self._file.flush()
        os.fsync(self._file.fileno())
        reader.stamp.require_same()
        self._part.replace(self.path)
        return dict(json.loads(text))  # as it will be read

    def abandon(self) -> None:
        """Close what is done; leave nothing behind of what is not."""
        with suppress(OSError):
            self._part.unlink(missing_ok=True)
        with suppress(OSError):
            self._file.close()


def record_batch(values: Any, codes: Codes) -> tuple[Any, list[Array]]:
    """Rows as Arrow has them, and the arrays that they are made of, in the order in which they are written."""
    import pyarrow as pa

    if isinstance(values, np.ndarray):
        parts = [np.ascontiguousarray(values).reshape(-1), codes]
        rows = pa.FixedSizeListArray.from_arrays(_column(parts[0]), values.shape[1])
    else:
        parts = [values.data, values.indices.astype(np.int32, copy=False), values.indptr.astype(np.int64), codes]
        pairs = pa.StructArray.from_arrays([_column(parts[0]), _column(parts[1])], ["value", "index"])
        rows = pa.LargeListArray.from_arrays(_column(parts[2]), pairs)
    return pa.record_batch([rows, _column(codes)], ["row", "label"]), parts


def _column(array: Array) -> Any:
    """An array as it lies. (Arrow's own conversion imports pandas: half a second.)"""
    import pyarrow as pa

    kind = pa.from_numpy_dtype(array.dtype)
    return pa.Array.from_buffers(kind, array.size, [None, pa.py_buffer(np.ascontiguousarray(array))])


def read_rows(file: IO[bytes], record: Record, facts: Facts, buffers: Buffers | None = None) -> Rows:
    """The rows of a record batch: its buffers lie one after the other, each as long as a multiple of 8 bytes."""
    rows, entries, end, sums = record
    codes = np.empty(rows, np.uint16)
    kind = np.dtype(f"{facts['kind']}8")
    if facts["is_sparse"]:
        indptr, data, indices = np.empty(rows + 1, np.int64), np.empty(entries, kind), np.empty(entries, np.int32)
        fill(file, end, [indptr, data, indices, codes])
        require(sums, checksums_of([data, indices, indptr, codes], facts))
        return sp.csr_array((data, indices, indptr), shape=(rows, facts["n_columns"])), codes
    table = (buffers or Buffers()).take(rows, facts["n_columns"])
    fill(file, end, [table, codes])
    require(sums, checksums_of([table.reshape(-1), codes], facts))
    return table.view(kind), codes


def read_few(file: IO[bytes], record: Record, facts: Facts, positions: Ints) -> Rows:
    """The dense rows at these positions of a record batch, read with the chunks that they lie in."""
    rows, _, end, sums = record
    width, codes = facts["n_columns"], np.empty(rows, np.uint16)
    chunk, kind = chunk_rows(width), np.dtype(f"{facts['kind']}8")
    fill(file, end, [codes])
    require(sums[-1:], sums_of(codes, rows))
    start = end - padded(codes) - 8 * width * rows
    values = np.empty((len(positions), width), kind)
    for k in np.unique(positions // chunk).tolist():
        first = k * chunk
        part = np.empty((min(chunk, rows - first), width), kind)
        fill(file, start + 8 * width * (first + len(part)), [part])
        require(sums[k : k + 1], sums_of(part.reshape(-1), part.size))
        mine = positions // chunk == k
        values[mine] = part[positions[mine] - first]
    return values, codes[positions]


def fill(file: IO[bytes], end: int, arrays: Sequence[Array]) -> None:
    """Read arrays that lie one after the other before a place."""
    for array in reversed(arrays):
        end -= padded(array)
        file.seek(end)
        if file.readinto(array.data.cast("B")) < array.nbytes:  # type: ignore[attr-defined]  # others go on meanwhile
            raise BadCacheError


def padded(array: Array) -> int:
    """How many bytes of the file an array takes."""
    return -(-array.nbytes // 8) * 8


def chunk_rows(n_columns: int) -> int:
    """How many dense rows have a checksum of their own."""
    return max(1, CHUNK // (8 * n_columns))


def checksums_of(parts: Sequence[Array], facts: Facts) -> list[int]:
    """The checksums of the arrays of a record batch: of dense rows one for each chunk, of other arrays one."""
    first, *others = parts
    size = first.size if facts["is_sparse"] else chunk_rows(facts["n_columns"]) * facts["n_columns"]
    return sums_of(first, size) + [total for part in others for total in sums_of(part, part.size)]


def sums_of(array: Array, size: int) -> list[int]:
    """The checksum of each so many values; the last ones may be fewer."""
    words, size = array.view(f"u{array.dtype.itemsize}"), max(1, size)
    found = np.empty(max(1, -(-words.size // size)), np.uint64)
    loops.checksums.checksums(words, size, found)
    return found.tolist()


def require(written: list[int], found: list[int]) -> None:
    """Refuse what is not as it was written."""
    if written != found:
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


def as_numbers(stamp: Stamp) -> tuple[int, ...]:
    """A stamp as it is written: 64 bits each."""
    parts = (stamp.device, stamp.inode, stamp.size, stamp.mtime_ns, stamp.ctime_ns)
    return tuple((part + 2**63) % 2**64 - 2**63 for part in parts)


def stamped(stamp: Stamp) -> bytes:
    """A stamp as digits, with a checksum: it is written over, and whoever reads half of it drops the cache."""
    digits = STAMP.pack(*as_numbers(stamp), stamp.is_settled).hex().encode()
    return digits + b"%08x" % zlib.crc32(digits)


def read_facts(file: IO[bytes]) -> tuple[Facts, tuple[int, ...], bool, int]:
    """The facts of a cache, the stamp that its file had, whether that is settled, and where it stands."""
    size, length = file.seek(0, os.SEEK_END), 1 << 14
    while True:
        file.seek(max(0, size - length))
        tail = file.read(length)
        if (at := tail.rfind(FACTS)) >= 0:
            break
        if length >= min(size, LONGEST_FACTS):
            raise BadCacheError
        length *= 8
    at += len(FACTS)
    head, text = tail[at : at + STAMPED + 16], tail[at + STAMPED + 16 :]
    try:
        digits, checks = head[: 2 * STAMP.size], [int(head[k : k + 8], 16) for k in range(2 * STAMP.size, len(head), 8)]
        stamp_sum, text_length, text_sum = checks
        text = text[:text_length]
        if zlib.crc32(digits) != stamp_sum or zlib.crc32(text) != text_sum:
            raise BadCacheError
        *stamp, is_settled = STAMP.unpack(bytes.fromhex(digits.decode()))
        return json.loads(text), tuple(stamp), is_settled, max(0, size - length) + at
    except (ValueError, struct.error) as error:
        raise BadCacheError from error


def digest_of(path: str) -> str:
    """The digest of a file as it is now."""
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
