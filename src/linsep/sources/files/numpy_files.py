"""Files of NumPy arrays: .npy, one array with the labels in a column of it, a memory map; and .npz, X and y.

An .npz file holds X as an array or as the parts of a CSR matrix; it is decompressed into memory while it is converted.
"""

import re
import zipfile
from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import pairwise
from pathlib import Path
from typing import Any
from warnings import catch_warnings, simplefilter

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep.errors import InputError, MissingColumnError, shown
from linsep.faults import fault
from linsep.sources.files.columns import FILE_WITHOUT_NAMES, choose_columns, require_width
from linsep.sources.files.options import Options, asked_for
from linsep.sources.files.paths import unreadable
from linsep.sources.files.reader import Batch, Reader, Store
from linsep.tables import is_long
from linsep.tables.exact_numbers import plain_numbers

Array = npt.NDArray[Any]

PARTS = ("data", "indices", "indptr", "shape")
ENTRY = 12  # bytes of an entry of a CSR matrix in the loops
BITE = 1 << 22  # bytes that are decompressed at a time
SAVE_OTHERWISE = "Save X and y as one array in an .npy file, or as Parquet: those are read directly. Or allow for it"


class ArrayReader(Reader):
    """What files of arrays share: a row with NaN is bad, and is rejected if rows are to be rejected."""

    @abstractmethod
    def _pieces(self) -> Iterator[Batch]:
        """Every row once, in order, including the bad ones."""

    def batches(self) -> Iterator[Batch]:
        """Every row once, in order, without the rows that are rejected."""
        kept = self.left_out = 0
        for piece in self._pieces():
            batch = self._good(piece, piece.first + np.arange(len(piece)), kept)
            kept += len(batch)
            if len(batch):
                yield batch
        self.walked(kept)

    def _good(self, piece: Batch, numbers: npt.NDArray[np.int64], first: int) -> Batch:
        """The good rows of a piece as doubles, or as int64 if doubles would round them, counted from `first`.

        The bad ones are rejected; `numbers` are the numbers of the rows in the file.
        """
        values, labels = piece.values, piece.labels
        is_bad = self._is_bad(values, labels)
        for row in np.flatnonzero(is_bad).tolist():
            label = None if labels is None else labels[row]
            self.reject(
                int(numbers[row]), self._fault(values, row, int(numbers[row]), label), content(values, labels, row)
            )
        if is_bad.any():
            values, labels = values[~is_bad], None if labels is None else labels[~is_bad]
        if isinstance(values, np.ndarray):
            return Batch(_plain(values), labels, first)
        return Batch(sp.csr_array((_plain(values.data), values.indices, values.indptr), values.shape), labels, first)

    def _is_bad(self, values: Any, labels: Array | None) -> npt.NDArray[np.bool_]:
        """Which rows are bad; NaN and infinity count only if rows are rejected, else the first read refuses them."""
        n_rows, finds_nan = values.shape[0], self.options.rejects is not None
        if isinstance(values, np.ndarray):
            bad = np.asarray(_is_odd(values, finds_nan)).any(axis=-1) & np.ones(n_rows, np.bool_)
        else:
            rows = np.repeat(np.arange(n_rows), np.diff(values.indptr))
            bad = np.bincount(rows[_is_odd(values.data, finds_nan)], minlength=n_rows) > 0
        if finds_nan and labels is not None and labels.dtype.kind == "f" and self.options.needs is None:
            bad |= ~np.isfinite(labels)
        return np.asarray(bad)

    def _fault(self, values: Any, row: int, number: int, label: Any) -> InputError:
        """What is wrong with a bad row: its first bad number, or its label; if gaps are dropped, a gap comes first."""
        cells = values[row] if isinstance(values, np.ndarray) else values[[row]].toarray()[0]
        is_odd, gaps = _is_odd(cells, True), cells != cells
        if self.options.missing == "drop" and (gaps.any() or label != label):  # NaN takes precedence over other faults
            is_odd = gaps
        columns = np.flatnonzero(is_odd)
        if not columns.size:
            return fault("no label", self.path, row=number)
        column, value = int(columns[0]), cells[columns[0]]
        if np.isfinite(value):  # it fits neither a double nor 64 bits
            plain = int(value) if value.dtype.kind in "iu" else str(value)
            return fault("inexact", self.path, row=number, column=column, value=plain)
        return fault("not finite", self.path, row=number, column=column, value=float(value))

    def _require_table(self, shape: tuple[int, ...], kind: np.dtype[Any], name: str) -> None:
        """Refuse an array that is not a table of numbers."""
        if kind.kind not in "biuf":
            raise fault("array type", self.path, name=name, seen=kind)
        if len(shape) != 2:
            raise fault("array shape", self.path, name=name, seen=shape)
        if not shape[1]:
            raise fault("array columns", self.path, name=name)
        if not shape[0]:
            self.why_empty = fault("array rows", self.path, name=name)

    def _not_numpy(self, error: Exception) -> InputError:
        """Why this is not a NumPy file that linsep reads."""
        if "allow_pickle" in str(error) or "magic" in str(error):
            return fault("pickled", self.path)
        return fault("not numpy", self.path, seen=str(error).removesuffix(".") or type(error).__name__)


class NpyReader(ArrayReader, Store):
    """An .npy file, which is a store itself; each group has as many rows as a batch."""

    def __init__(self, path: str, options: Options, file: str | None = None) -> None:
        super().__init__(path, options, file)
        try:
            with Path(self.file).open("rb") as content:
                self.shape, self._is_fortran, self.kind = read_header(content)
                self._offset = content.tell()
        except OSError as error:
            raise unreadable(path, error) from error
        except Exception as error:  # NumPy parses the header as Python, which fails in many ways
            raise self._not_numpy(error) from error
        if self.stamp.size < self._offset + size_of(self.shape, self.kind):
            raise fault("array ends", path, byte=self.stamp.size, seen=self.shape)
        self._require_table(self.shape, self.kind, "the array")
        self._choose(self.shape[1])
        n_rows, step = self.shape[0], max(1, options.batch_bytes // (max(8, self.kind.itemsize) * self.shape[1]))
        self._firsts = range(0, n_rows, step)
        self.lengths = [min(step, n_rows - first) for first in self._firsts]
        self.size = n_rows * (8 * self.n_columns + 2)

    def _choose(self, width: int) -> None:
        """Settle which columns are read, and which of them holds the labels."""
        options, path = self.options, self.path
        if options.label is None and options.needs is None:
            raise fault("say the label", path, advice=", for instance --label -1")
        try:
            choice = choose_columns(path, [str(j) for j in range(width)], options, has_names=False)
        except MissingColumnError as error:
            words: dict[str, Any] = {"kind": ".npy", "last": width - 1, "or_back": f", or from the end, -1 to -{width}"}
            raise fault("no position", path, column=error.column, **words) from None
        if not choice.columns:
            raise fault("only the label", path)
        first, self.n_columns = choice.columns[0], len(choice.columns)
        is_run = choice.columns == list(range(first, first + self.n_columns))
        self._chosen = slice(first, first + self.n_columns) if is_run else choice.columns
        self.label_name = choice.label
        if choice.remark is not None and options.needs is not None and options.needs.names:
            self.remarks.append(choice.remark)

    def _pieces(self) -> Iterator[Batch]:
        return (
            self._piece(slice(first, first + n), first) for first, n in zip(self._firsts, self.lengths, strict=True)
        )

    def _piece(self, rows: "slice | npt.NDArray[np.int64]", first: int) -> Batch:
        """Copies of these rows, numbered from `first`."""
        self.stamp.require_same()
        table = np.memmap(self.file, self.kind, "r", self._offset, self.shape, "F" if self._is_fortran else "C")[rows]
        labels: Array | None = None
        if isinstance(self.label_name, int):
            labels = np.array(table[:, self.label_name], self.kind.newbyteorder("="))
        return Batch(np.array(table[:, self._chosen], order="C"), labels, first)

    def read(self, k: int, *, use_threads: bool = False) -> Iterator[Batch]:
        """Rows from the disk."""
        rows = slice(self._firsts[k], self._firsts[k] + self.lengths[k])
        yield self._good(self._piece(rows, rows.start), np.arange(rows.start, rows.stop), rows.start)

    def take(self, k: int, positions: npt.NDArray[np.int64]) -> Iterator[Batch]:
        """Only these rows."""
        first = self._firsts[k]
        yield self._good(self._piece(first + positions, first), first + positions, first)


class NpzReader(ArrayReader):
    """An .npz file: X and y, or the data, indices, indptr and shape of a CSR matrix, and y."""

    def __init__(self, path: str, options: Options, file: str | None = None) -> None:
        super().__init__(path, options, file)
        if options.label not in (None, "y"):
            raise fault("label in y", path, label=options.label)
        with self._archive() as archive:
            sizes = {info.filename.removesuffix(".npy"): info.file_size for info in archive.infolist()}
            self.is_sparse = "X" not in sizes
            if self.is_sparse and not sizes.keys() >= set(PARTS):
                raise fault("no arrays", path, parts=", ".join(PARTS))
            self.size = sum(sizes.get(name, 0) for name in ("y", *(PARTS if self.is_sparse else ("X",))))
            if self.size > options.size:
                fix = f"{SAVE_OTHERWISE}: {asked_for(self.size)}."
                raise fault("large archive", path, value=self.size, size=self.size, fix=fix)
            if self.is_sparse:
                width = self._shape_of_matrix(archive)[1]
            else:
                with archive.open("X.npy") as member:
                    shape, _, kind = read_header(member)
                self._require_table(shape, kind, "X")
                width = shape[1]
        options.require_room(path, width)
        self._chosen = None if options.columns is None else [self._position(name, width) for name in options.columns]
        if self._chosen is not None and len(set(self._chosen)) < len(self._chosen):
            raise fault("column twice", path)
        self.n_columns = width if self._chosen is None else len(self._chosen)
        if options.needs is not None:
            require_width(path, self.n_columns, options.needs)
            self.remarks += [] if options.needs.names is None else [FILE_WITHOUT_NAMES]

    def _position(self, column: str | int, width: int) -> int:
        """A column by its position, from 0 or from the end."""
        place = int(column) if re.fullmatch(r"-?[0-9]{1,12}", str(column)) else width
        if -width <= place < width:
            return place % width
        raise fault("no position", self.path, column=column, kind=".npz", last=width - 1, or_back="")

    def _pieces(self) -> Iterator[Batch]:
        with self._archive() as archive:
            labels = read_array(archive, "y") if "y.npy" in archive.namelist() else None
            X = self._matrix(archive) if self.is_sparse else read_array(archive, "X")
        if labels is None and self.options.needs is None:
            raise fault("no y", self.path)
        if labels is not None and labels.shape != X.shape[:1]:
            raise fault("y length", self.path, rows=X.shape[0], seen=labels.shape)
        for first, stop in pairwise(self._edges(X)):
            values = X[first:stop] if self._chosen is None else X[first:stop][:, self._chosen]
            yield Batch(values, None if labels is None else labels[first:stop], first)

    def _edges(self, X: Any) -> list[int]:
        """Where to cut rows into pieces as large as a batch may be."""
        n_rows = X.shape[0]
        if not self.is_sparse:
            step = max(1, self.options.batch_bytes // (max(8, X.itemsize) * X.shape[1]))
            return [*range(0, n_rows, step), n_rows]
        edges, most = [0], max(1, self.options.batch_bytes // ENTRY)
        while edges[-1] < n_rows:
            beyond = int(np.searchsorted(X.indptr, int(X.indptr[edges[-1]]) + most, side="right"))
            edges.append(max(edges[-1] + 1, beyond - 1))
        return edges

    def _matrix(self, archive: zipfile.ZipFile) -> Any:
        """A CSR matrix from its parts, with its numbers as they were written."""
        (n_rows, width), found = self._shape_of_matrix(archive), {name: read_array(archive, name) for name in PARTS[:3]}
        data, indices, indptr = found.values()
        for name in ("indices", "indptr"):
            if found[name].dtype.kind not in "iu":
                raise self._no_matrix(f"{name} holds {found[name].dtype}, not integers.")
        self._require_table((n_rows, width), data.dtype, "the matrix")
        is_half = data.dtype.kind == "f" and data.dtype.itemsize == 2  # in either byte order
        data = data.astype(np.float32 if is_half else data.dtype.newbyteorder("="), copy=False)  # a type that SciPy has
        try:
            matrix = sp.csr_array((data, indices, indptr), shape=(n_rows, width))
            matrix.check_format(full_check=True)  # an index out of range would read foreign memory
        except (ValueError, TypeError, IndexError, OverflowError) as error:
            raise self._no_matrix(str(error)) from error
        matrix.sort_indices()
        again = np.flatnonzero(np.diff(matrix.indices) == 0) + 1  # SciPy would add them up in their own type
        again = again[~np.isin(again, matrix.indptr)]
        if again.size:
            row = int(np.searchsorted(matrix.indptr, again[0], side="right")) - 1
            raise self._no_matrix(f"row {row} has column {matrix.indices[again[0]]} twice. Sum duplicates first.")
        return matrix

    def _shape_of_matrix(self, archive: zipfile.ZipFile) -> tuple[int, int]:
        if "format.npy" in archive.namelist():
            named = read_array(archive, "format")
            if named.item() not in (b"csr", "csr"):
                raise fault("not csr", self.path, seen=shown(named.item()))
        shape = read_array(archive, "shape")
        if shape.dtype.kind not in "iu":
            raise self._no_matrix(f"shape holds {shape.dtype}, not integers.")
        if shape.shape != (2,):
            raise self._no_matrix(f"shape holds {shape.shape} values, not two.")
        if min(shape) < 0:
            raise self._no_matrix(f"its shape is {tuple(shape.tolist())}.")
        return int(shape[0]), int(shape[1])

    def _no_matrix(self, why: str) -> InputError:
        return fault("bad matrix", self.path, seen=why.removesuffix("."))

    @contextmanager
    def _archive(self) -> Iterator[zipfile.ZipFile]:
        try:
            with Path(self.file).open("rb") as file, zipfile.ZipFile(file) as archive:
                yield archive
        except (InputError, MemoryError):
            raise
        except FileNotFoundError as error:
            raise unreadable(self.path, error) from error
        except Exception as error:  # a zip member can fail in a dozen ways: zlib, CRC, struct, header
            self.stamp.require_same()
            with suppress(OSError), Path(self.file).open("rb") as file:
                if file.read(6) == b"\x93NUMPY":
                    raise fault("npy as npz", self.path) from error
            raise self._not_numpy(error) from error


def read_array(archive: zipfile.ZipFile, name: str) -> Array:
    """An array of an archive; its header is not trusted to claim more bytes than there are."""
    with archive.open(f"{name}.npy") as member:
        shape, is_fortran, kind = read_header(member)
        if size_of(shape, kind) > archive.getinfo(f"{name}.npy").file_size:
            raise ValueError("the file ends before its values do.")
        values = np.empty(shape, kind, "F" if is_fortran else "C")
        content = values.reshape(-1, order="A").view(np.uint8)
        for start in range(0, len(content), BITE):
            bite = content[start : start + BITE]
            if member.readinto(bite.data) < len(bite):  # type: ignore[attr-defined]
                raise ValueError("the file ends before its values do.")
        return values


def content(X: Any, labels: Array | None, row: int) -> str:
    """A row as text: its label last, as in a CSV file, or first with index:value pairs, as in an svmlight file."""
    label = [] if labels is None else [str(labels[row])]
    if isinstance(X, np.ndarray):
        return ",".join([*map(str, X[row].tolist()), *label])
    part = slice(X.indptr[row], X.indptr[row + 1])
    indices, values = X.indices[part].tolist(), X.data[part].tolist()
    return " ".join([*label, *(f"{index}:{value}" for index, value in zip(indices, values, strict=True))])


def _is_odd(values: Array, finds_nan: bool) -> Any:
    """Which values fit neither doubles nor signed 64-bit integers or, with `finds_nan`, are NaN or infinite."""
    kind, size = values.dtype.kind, values.dtype.itemsize
    if kind == "u" and size == 8:
        return values > np.uint64(2**63 - 1)
    if kind == "f" and size > 8:
        with np.errstate(all="ignore"):
            odd = (values.astype(np.float64) != values) & (values == values)
        return odd | ~np.isfinite(values) if finds_nan else odd
    return ~np.isfinite(values) if kind == "f" and finds_nan else np.zeros(values.shape[-1:], np.bool_)


def _plain(values: Array) -> Array:
    """The same numbers as doubles, or as int64 if doubles would round them."""
    exact = plain_numbers(np.asarray(values))
    return np.ascontiguousarray(exact, np.int64 if exact.dtype.kind in "iu" and is_long(exact) else np.float64)


def size_of(shape: tuple[int, ...], kind: np.dtype[Any]) -> int:
    """How many bytes an array takes; with a damaged header this may be any number."""
    return kind.itemsize * int(np.prod(shape, dtype=object))


def read_header(file: Any) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Shape, Fortran order and type, from the beginning of an array."""
    version = np.lib.format.read_magic(file)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    with catch_warnings():
        simplefilter("ignore")  # about Python 2, which wrote some headers
        shape, fortran, kind = read(file)
    if any(length < 0 for length in shape):
        raise ValueError(f"shape is not valid: {shape}")
    if kind.hasobject:
        raise ValueError("allow_pickle")
    return shape, fortran, kind
