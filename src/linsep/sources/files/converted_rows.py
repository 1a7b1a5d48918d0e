"""The file to which a slow file is converted: rows as the compiled loops read them, in Arrow IPC.

    row      dense: a fixed-size list of float64 or int64; sparse: a list of (value, index)
    label    the code of the label, uint16
    facts    JSON in the metadata of a last record batch, which is empty: from which file the rows are, how it was read,
             what the first read found, where each record batch ends, and checksums of all

Other tools can open it like any Arrow file. Here it is a memory map, since the buffers of a record batch lie one after
the other before its end, and whatever is read from it is checked against its checksums.
"""

import json
import mmap
import os
import stat
import tempfile
import zlib
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep import loops
from linsep.sources.base import Ints
from linsep.sources.files import private
from linsep.sources.files.reader import Stamp

VERSION = 6
MARK = private.MARK + b"%d" % VERSION
FACTS = b"\x01linsep-facts\x01"  # no JSON has these bytes
DIGITS = 64  # of the digest of a stamp
LONGEST_FACTS = 1 << 30
CHUNK = 1 << 16  # bytes of dense rows with one checksum: small, so that a few rows are read with little else
Facts = dict[str, Any]
Codes: TypeAlias = npt.NDArray[np.uint16]
Rows: TypeAlias = tuple[Any, Codes]  # values, and the codes of their labels
Array: TypeAlias = npt.NDArray[Any]
Record: TypeAlias = Sequence[Any]  # of a record batch: its rows, its entries, where it ends, and its checksums


class BadCacheError(Exception):
    """A cache is missing, or does not hold what was written."""


class Writer:
    """An Arrow file being written; all record batches of dense rows, except the last, have the same length."""

    def __init__(self, path: Path, batch_bytes: int) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        private.remove_abandoned(path.parent, private.PARTS)  # left by killed processes
        handle, name = tempfile.mkstemp(prefix=path.name, suffix=private.PART, dir=path.parent)
        private.lock(handle)
        self.path, self._part = path, Path(name)
        self._file = os.fdopen(handle, "w+b", buffering=1 << 20)
        self._arrow: Any = None
        self._table, self._codes, self._filled = np.zeros((0, 0)), np.zeros(0, np.uint16), 0
        self.facts: Facts = {"batches": [], "kind": None, "is_sparse": False, "batch_bytes": batch_bytes}

    def fitting(self, kind: str) -> "Writer":
        """A writer for rows of this kind: if integers beyond 2^53 come late, earlier rows are rewritten as integers."""
        if self.facts["kind"] in (None, "i", kind):
            return self
        self._flush()
        self._file.flush()
        other = Writer(self.path, self.facts["batch_bytes"])
        for record in self.facts["batches"]:
            rows, codes = read_rows(self._file, record, self.facts)
            other.add(rows.astype(np.int64), codes)
        self.abandon()
        return other

    def add(self, values: Any, codes: Codes) -> None:
        """The next rows."""
        if self.facts["kind"] is None:
            self._begin(values)
        if self.facts["is_sparse"]:
            self._write(values.astype(f"{self.facts['kind']}8", copy=False), codes.astype(np.uint16, copy=False))
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
        kind, n_columns, is_sparse = values.dtype.kind, values.shape[1], not isinstance(values, np.ndarray)
        self.facts |= {"kind": kind, "is_sparse": is_sparse, "n_columns": n_columns}
        if not is_sparse:
            n_rows = max(1, self.facts["batch_bytes"] // (8 * n_columns))
            self._table, self._codes = np.empty((n_rows, n_columns), f"{kind}8"), np.empty(n_rows, np.uint16)

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
        first, *others = parts
        size = first.size if self.facts["is_sparse"] else chunk_rows(self.facts) * self.facts["n_columns"]
        sums = sums_of(first, size) + [total for part in others for total in sums_of(part, part.size)]
        self.facts["batches"].append([len(codes), first.size, self._file.tell(), sums])

    def finish(self, stamp: Stamp, **found: Any) -> Facts:
        """Write what was found, and give the cache its name."""
        self._flush()
        text = json.dumps({**self.facts, **found}).encode()
        told = FACTS + stamped(stamp) + b"%08x%08x" % (len(text), zlib.crc32(text)) + text
        self._arrow.write_batch(self._none, custom_metadata={b"linsep": told})
        self._arrow.close()
        self._file.flush()
        os.fsync(self._file.fileno())
        stamp.require_same()
        self._part.replace(self.path)
        return dict(json.loads(text))  # as it will be read back

    def abandon(self) -> None:
        """Close the file; remove it if it is not complete."""
        with suppress(OSError):
            self._part.unlink(missing_ok=True)
        with suppress(OSError):
            self._file.close()


def record_batch(values: Any, codes: Codes) -> tuple[Any, list[Array]]:
    """Rows as an Arrow record batch, and the arrays it consists of: values first, codes last."""
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
    """An array without a copy. (Arrow's own conversion imports pandas, which takes half a second.)"""
    import pyarrow as pa

    kind = pa.from_numpy_dtype(array.dtype)
    return pa.Array.from_buffers(kind, array.size, [None, pa.py_buffer(np.ascontiguousarray(array))])


def read_rows(file: IO[bytes], record: Record, facts: Facts, positions: Ints | None = None) -> Rows:
    """The rows of a record batch, or only those at some positions: then just the chunks that hold them are read."""
    rows, entries, end, sums = record
    width, kind = facts["n_columns"], f"{facts['kind']}8"
    if facts["is_sparse"]:
        sizes = [(rows + 1, "i8"), (entries, kind), (entries, "i4"), (rows, "u2")]
        indptr, data, indices, codes = arrays_before(file, end, sizes)
        require(sums, [sums_of(part, part.size)[0] for part in (data, indices, indptr, codes)])
        values: Any = sp.csr_array((data, indices, indptr), shape=(rows, width))
    else:
        flat, codes = arrays_before(file, end, [(rows * width, kind), (rows, "u2")])
        size = chunk_rows(facts) * width
        wanted = range(len(sums) - 1) if positions is None else np.unique(positions * width // size).tolist()
        found = sums_of(flat, size) if positions is None else _sums_at(flat, size, wanted)
        require([*(sums[k] for k in wanted), sums[-1]], [*found, *sums_of(codes, rows)])
        values = flat.reshape(rows, width)
    return (values, codes) if positions is None else (values[positions], codes[positions])


def arrays_before(file: IO[bytes], end: int, sizes: Sequence[tuple[int, str]]) -> list[Array]:
    """Arrays that lie one after the other before a place in a file, each padded to a multiple of 8 bytes."""
    found: list[Array] = []
    try:  # copy on write, since loops would be compiled again for read-only arrays
        content = mmap.mmap(file.fileno(), end, access=mmap.ACCESS_COPY)
        for size, kind in reversed(sizes):
            end -= -(-size * np.dtype(kind).itemsize // 8) * 8
            found.append(np.frombuffer(content, kind, size, end))
    except ValueError as error:  # the file is shorter than that
        raise BadCacheError from error
    return found[::-1]


def chunk_rows(facts: Facts) -> int:
    """How many dense rows have a checksum of their own."""
    return max(1, CHUNK // (8 * int(facts["n_columns"])))


def sums_of(array: Array, size: int) -> list[int]:
    """A checksum for every `size` values; the last chunk may be shorter."""
    words, size = array.view(f"u{array.dtype.itemsize}"), max(1, size)
    found = np.empty(max(1, -(-words.size // size)), np.uint64)
    loops.checksums.checksums(words, size, found)
    return found.tolist()


def _sums_at(array: Array, size: int, chunks: Iterable[int]) -> list[int]:
    return [sums_of(array[k * size : (k + 1) * size], size)[0] for k in chunks]


def require(written: list[int], found: list[int]) -> None:
    """Refuse data that are not as they were written."""
    if written != found:
        raise BadCacheError


def opened(path: Path) -> IO[bytes]:
    """A cache, if it is a file of our own that nobody else may write to."""
    flags = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)  # do not wait for a pipe in its place
    descriptor = os.open(path, os.O_RDONLY | flags)
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode) or not private.is_own(found):
        os.close(descriptor)
        raise BadCacheError
    return os.fdopen(descriptor, "rb", buffering=0)


def stamped(stamp: Stamp) -> bytes:
    """The digest of a stamp, if it can be trusted. It is overwritten in place; half a digest matches no stamp."""
    return stamp.digest.encode() if stamp.is_settled else b"?" * DIGITS


def read_facts(file: IO[bytes]) -> tuple[Facts, str, int]:
    """The facts of a cache, the digest of the stamp that its file had, and the position of that digest."""
    try:
        content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        at = content.rfind(FACTS, max(0, len(content) - LONGEST_FACTS))
        require([at >= 0], [True])
        at += len(FACTS)
        head = content[at : at + DIGITS + 16].decode()
        start, size, total = at + len(head), int(head[DIGITS:-8], 16), int(head[-8:], 16)
        text = content[start : start + size]
        require([total], [zlib.crc32(text)])
        return json.loads(text), head[:DIGITS], at
    except ValueError as error:
        raise BadCacheError from error
