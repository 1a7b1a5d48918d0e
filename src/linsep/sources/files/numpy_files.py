"""Files of NumPy arrays: .npy, one array with the labels in a column of it, a memory map; and .npz, X and y.

An .npz file holds X as an array or as the parts of a CSR matrix; it is decompressed into memory while it is converted.
"""

import re
import zipfile
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import pairwise
from pathlib import Path
from typing import Any
from warnings import catch_warnings, simplefilter

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep.errors import InexactError, InputError, MissingColumnError
from linsep.sources.files.columns import FILE_WITHOUT_NAMES, choose_columns, require_width
from linsep.sources.files.faults import clipped, fault
from linsep.sources.files.options import Options, asked_for
from linsep.sources.files.paths import unreadable
from linsep.sources.files.reader import Batch, Reader, Store
from linsep.tables import is_long
from linsep.tables.exact_numbers import plain_numbers

Array = npt.NDArray[Any]

PARTS = ("data", "indices", "indptr", "shape")
ENTRY = 12  # bytes of an entry of a CSR matrix, as the loops have it
BITE = 1 << 22  # bytes that are decompressed at a time
SAVE_OTHERWISE = "Save X and y as one array in an .npy file, or as Parquet: those are read as they lie. Or allow for it"


class ArrayReader(Reader):
    """What files of arrays share: rows with NaN are bad by themselves, and rejected where that is asked for."""

    @abstractmethod
    def _pieces(self) -> Iterator[Batch]:
        """Every row once, in order, the bad ones too."""

    def batches(self) -> Iterator[Batch]:
        """Every row once, in order, without the rows that are rejected."""
        kept = self.left_out = 0
        for piece in self._pieces():
            bad = np.zeros(len(piece), np.bool_) if self.options.rejects is None else self._is_bad(piece)
            for row in np.flatnonzero(bad).tolist():
                self.reject(piece.first + row, self._fault(piece, row), content(piece.values, piece.labels, row))
            batch = self._good(piece, ~bad, kept)
            kept += len(batch)
            if len(batch):
                yield batch
        self.walked(kept)

    def _good(self, piece: Batch, is_good: npt.NDArray[np.bool_], first: int) -> Batch:
        """The good rows of a piece, which are counted from `first`, their numbers as doubles or as int64."""
        rows, values, labels = np.flatnonzero(is_good), piece.values, piece.labels
        if len(rows) < len(piece):
            values, labels = values[rows], None if labels is None else labels[rows]
        if isinstance(values, np.ndarray):
            return Batch(self._plain(values, piece.first + rows), labels, first)
        try:
            data = self._plain(values.data[:, None], range(values.nnz))[:, 0]
        except InexactError as error:
            entry = error.row or 0
            row = int(np.searchsorted(values.indptr, entry, side="right")) - 1
            raise self._rounded(piece.first + int(rows[row]), int(values.indices[entry]), error.value) from error
        return Batch(sp.csr_array((data, values.indices, values.indptr), shape=values.shape), labels, first)

    def _plain(self, values: Array, numbers: Sequence[int] | Array) -> Array:
        """The same numbers as doubles, or as int64 where doubles would round them; `numbers` are those of the rows."""
        exact = plain_numbers(np.asarray(values))
        if exact.dtype == object:
            row, column = first_rounded(values)
            raise self._rounded(int(numbers[row]), column, values[row, column])
        return np.ascontiguousarray(exact, np.int64 if exact.dtype.kind in "iu" and is_long(exact) else np.float64)

    def _rounded(self, row: int, column: int, value: Any) -> InputError:
        """A number that neither a double nor 64 bits hold."""
        return fault("inexact", self.path, row=row, column=column, value=str(value), shown=Bare(value))

    def _is_bad(self, piece: Batch) -> npt.NDArray[np.bool_]:
        """Which rows are bad by themselves."""
        values, labels = piece.values, piece.labels
        if isinstance(values, np.ndarray):
            bad = is_no_number(values).any(axis=1)
        else:
            rows = np.repeat(np.arange(len(piece)), np.diff(values.indptr))
            bad = np.bincount(rows[is_no_number(values.data)], minlength=len(piece)) > 0
        if labels is not None and labels.dtype.kind == "f" and self.options.needs is None:
            bad |= ~np.isfinite(labels)
        return np.asarray(bad)

    def _fault(self, piece: Batch, row: int) -> InputError:
        """What is wrong with a bad row: its first bad number, or its label."""
        values = piece.values[row] if isinstance(piece.values, np.ndarray) else piece.values[[row]].toarray()[0]
        columns, number = np.flatnonzero(is_no_number(values)), piece.first + row
        if not columns.size:
            return fault("no label", self.path, row=number)
        column, value = int(columns[0]), values[columns[0]]
        if values.dtype.kind == "f":
            return fault("not finite", self.path, row=number, column=column, value=float(value))
        return self._rounded(number, column, value)

    def _require_table(self, shape: tuple[int, ...], kind: np.dtype[Any], name: str) -> None:
        """Refuse what is not a table of numbers."""
        if kind.kind not in "biuf":
            raise fault("array type", self.path, name=name, seen=kind)
        if len(shape) != 2:
            raise fault("array shape", self.path, name=name, seen=shape)
        if not all(shape):
            raise fault("array columns" if shape[0] else "array rows", self.path, name=name)

    def _not_numpy(self, error: Exception) -> InputError:
        """Why this is not a NumPy file that linsep reads."""
        if "allow_pickle" in str(error) or "magic" in str(error):
            return fault("pickled", self.path)
        return fault("not numpy", self.path, seen=str(error).removesuffix(".") or type(error).__name__)


class NpyReader(ArrayReader, Store):
    """An .npy file: a store as it lies, each group as many rows as a batch has."""

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
        self.remark = choice.remark if options.needs is not None and options.needs.names else None

    def _pieces(self) -> Iterator[Batch]:
        return (
            self._piece(slice(first, first + n), first) for first, n in zip(self._firsts, self.lengths, strict=True)
        )

    def _piece(self, rows: "slice | npt.NDArray[np.int64]", first: int) -> Batch:
        """Copies of these rows, which are counted from `first`."""
        self.stamp.require_same()
        table = np.memmap(self.file, self.kind, "r", self._offset, self.shape, "F" if self._is_fortran else "C")[rows]
        labels: Array | None = None
        if isinstance(self.label_name, int):
            labels = np.array(table[:, self.label_name], self.kind.newbyteorder("="))
        return Batch(np.array(table[:, self._chosen], order="C"), labels, first)

    def read(self, k: int, *, use_threads: bool = False) -> Iterator[Batch]:
        """Rows from the disk."""
        rows = slice(self._firsts[k], self._firsts[k] + self.lengths[k])
        yield self._good(self._piece(rows, rows.start), np.ones(self.lengths[k], np.bool_), rows.start)

    def take(self, k: int, positions: npt.NDArray[np.int64]) -> Iterator[Batch]:
        """These rows alone."""
        first = self._firsts[k]
        yield self._good(self._piece(first + positions, first), np.ones(len(positions), np.bool_), first)


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
                raise fault("large archive", path, value=self.size, fix=f"{SAVE_OTHERWISE}: {asked_for(self.size)}.")
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
            self.remark = FILE_WITHOUT_NAMES if options.needs.names is not None else None

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
        """A CSR matrix from its parts, its numbers as they are written."""
        (n_rows, width), found = self._shape_of_matrix(archive), {name: read_array(archive, name) for name in PARTS[:3]}
        data, indices, indptr = found.values()
        for name in ("indices", "indptr"):
            if found[name].dtype.kind not in "iu":
                raise self._no_matrix(f"{name} holds {found[name].dtype}, not integers.")
        if indptr.shape != (n_rows + 1,):
            raise self._no_matrix(f"indptr has shape {indptr.shape}; {n_rows:,} rows need one more.")
        if data.ndim != 1 or data.shape != indices.shape:
            raise self._no_matrix(f"data has shape {data.shape} and indices {indices.shape}.")
        self._require_table((n_rows, width), data.dtype, "the matrix")
        is_half = data.dtype.kind == "f" and data.dtype.itemsize == 2  # in either byte order
        data = data.astype(np.float32 if is_half else data.dtype.newbyteorder("="), copy=False)  # as SciPy has it
        try:
            matrix = sp.csr_array((data, indices, indptr), shape=(n_rows, width))
            matrix.check_format(full_check=True)  # an index out of range would be read as memory that is not ours
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
                raise fault("not csr", self.path, seen=clipped(named.item()))
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
    """An array of an archive; what its header says is not believed beyond the bytes that there are."""
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


def is_no_number(values: Array) -> npt.NDArray[np.bool_]:
    """Where values are NaN, infinite, or integers beyond 64 bits with their sign."""
    if values.dtype.kind == "f":
        return np.asarray(~np.isfinite(values))
    if values.dtype.kind == "u":
        return np.asarray(values > np.uint64(2**63 - 1))
    return np.zeros(values.shape, np.bool_)


def size_of(shape: tuple[int, ...], kind: np.dtype[Any]) -> int:
    """How many bytes an array takes; of a damaged header it may be any number."""
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


class Bare(str):
    """Text that messages show without quotes."""

    __repr__ = str.__str__


def first_rounded(values: Array) -> tuple[int, int]:
    """Row and column of the first value that no 64-bit type of ours holds."""
    with np.errstate(all="ignore"):
        if values.dtype.kind == "u":
            wrong = values > np.uint64(2**63 - 1)
        else:
            wrong = (values.astype(np.float64) != values) & (values == values)
    row, column = np.argwhere(wrong)[0]
    return int(row), int(column)
