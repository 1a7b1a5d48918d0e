"""Files of NumPy arrays: .npy, one array with the labels in a column of it; and what .npz files share with that."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from warnings import catch_warnings, simplefilter

import numpy as np
import numpy.typing as npt

from linsep.errors import InexactError, InputError, MissingColumnError
from linsep.faults import fault
from linsep.sources.files.cells import is_long
from linsep.sources.files.columns import choose_columns
from linsep.sources.files.options import Options
from linsep.sources.files.reader import Batch, Buffers, Reader, Stamp, Store, unreadable
from linsep.tables.exact_numbers import plain_numbers

Array = npt.NDArray[Any]
Header = tuple[tuple[int, ...], bool, np.dtype[Any], int]  # shape, Fortran order, type, byte of the first value


class ArrayReader(Reader):
    """What files of arrays share: rows with NaN are bad by themselves, and rejected where that is asked for."""

    columns = None

    @abstractmethod
    def _pieces(self) -> Iterator[Batch]:
        """Every row once, in order, the bad ones too."""

    def batches(self) -> Iterator[Batch]:
        """Every row once, in order, without the rows that are rejected."""
        kept = self.left_out = 0
        for piece in self._pieces():
            bad = self._is_bad(piece)
            for row in np.flatnonzero(bad).tolist() if bad is not None else ():
                told = content(piece.values, piece.labels, row)
                self.reject(piece.first + row, self._fault(piece, row), told)
            batch = self._good(piece, bad, kept)
            kept += len(batch)
            if len(batch):
                yield batch
        self.stamp.require_same()
        self.is_walked = True
        self.require_rows(kept)

    def _good(self, piece: Batch, bad: npt.NDArray[np.bool_] | None, first: int) -> Batch:
        """The good rows of a piece, which are counted from `first`."""
        n_rows = piece.values.shape[0]
        values, labels = piece.values, piece.labels
        numbers: Sequence[int] = range(piece.first, piece.first + n_rows)
        if bad is not None and bad.any():
            kept = np.flatnonzero(~bad)
            values, numbers = values[kept], [numbers[row] for row in kept.tolist()]
            labels = None if labels is None else labels[kept]
        values = plain(self.path, values, numbers) if isinstance(values, np.ndarray) else self._entries(values, numbers)
        return Batch(values, labels, first)

    def _entries(self, matrix: Any, numbers: Sequence[int]) -> Any:
        """A CSR matrix of the same numbers as doubles, or as int64; errors name row and column of an entry."""
        import scipy.sparse as sp

        try:
            data = plain(self.path, matrix.data[:, None], range(matrix.nnz))[:, 0]
        except InexactError as error:
            entry = error.row or 0
            row = int(np.searchsorted(matrix.indptr, entry, side="right")) - 1
            raise error.at(row=numbers[row], column=int(matrix.indices[entry])) from None
        return sp.csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape)

    def _is_bad(self, piece: Batch) -> npt.NDArray[np.bool_] | None:
        """Which rows are bad; None where nobody asked for bad rows to be rejected, so that the first is an error."""
        if self.options.set_aside is None:
            return None
        values, labels = piece.values, piece.labels
        if isinstance(values, np.ndarray):
            bad = is_no_number(values).any(axis=1)
        else:
            rows = np.repeat(np.arange(values.shape[0]), np.diff(values.indptr))
            bad = np.bincount(rows[is_no_number(values.data)], minlength=values.shape[0]) > 0
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
        return rounded(self.path, number, column, value)


class NpyReader(ArrayReader, Store):
    """An .npy file: a store as it lies, each group as many rows as a batch has."""

    buffers: Buffers

    def __init__(self, path: str, options: Options) -> None:
        self.path, self.options = path, options
        self.stamp = Stamp.of(path)
        self.shape, self.fortran, self.kind, self.offset = self._header()
        require_table(path, self.shape, self.kind, "the array")
        names = [str(j) for j in range(self.shape[1])]
        if options.label is None and options.needs is None:
            raise fault("say the label", path, advice=", for instance --label -1")
        try:
            choice = choose_columns(path, names, options, has_names=False)
        except MissingColumnError as error:
            width = self.shape[1]
            words: dict[str, Any] = {"kind": ".npy", "last": width - 1, "or_back": f", or from the end, -1 to -{width}"}
            raise fault("no position", path, column=error.column, **words) from None
        self.chosen, self.label_name = choice.columns, choice.label
        self.remark = choice.remark if options.needs is not None and options.needs.names else None
        self.n_columns = len(self.chosen)
        if not self.n_columns:
            raise fault("only the label", path)
        self.step = max(1, options.batch_bytes // (max(8, self.kind.itemsize) * self.shape[1]))
        self.buffers, self._raw = Buffers(), Buffers()
        self.lengths = [min(self.step, self.shape[0] - first) for first in range(0, self.shape[0], self.step)]
        self.size = self.shape[0] * (8 * self.n_columns + 2)

    def _header(self) -> Header:
        try:
            with Path(self.path).open("rb") as file:
                shape, fortran, kind = read_header(file)
                header: Header = (shape, fortran, kind, file.tell())
        except OSError as error:
            raise unreadable(self.path, error) from error
        except Exception as error:  # NumPy parses the header as Python, which fails in many ways
            raise not_numpy(self.path, error) from error
        if kind.hasobject:
            raise not_numpy(self.path, ValueError("allow_pickle"))
        if self.stamp.size < header[3] + size_of(shape, kind):
            raise fault("array ends", self.path, byte=self.stamp.size, seen=shape)
        return header

    def _pieces(self) -> Iterator[Batch]:
        return map(self._piece, range(len(self.lengths)))

    def _piece(self, k: int) -> Batch:
        self.stamp.require_same()
        return self._split(self._rows(k * self.step, self.lengths[k]), k * self.step)

    def read(self, k: int, *, use_threads: bool = False) -> Iterator[Batch]:
        """Rows from the disk."""
        yield self._good(self._piece(k), None, k * self.step)

    def take(self, k: int, positions: npt.NDArray[np.int64]) -> Iterator[Batch]:
        """A few rows, each fetched on its own; many, with all that lies between."""
        if len(positions) * 16 > self.lengths[k]:
            yield from super().take(k, positions)
            return
        self.stamp.require_same()
        first = k * self.step
        table = np.memmap(self.path, self.kind, "r", self.offset, self.shape, "F" if self.fortran else "C")
        yield self._good(self._split(np.array(table[first + positions]), first), None, first)

    def _rows(self, first: int, rows: int) -> Array:
        if self.fortran:
            table = np.memmap(self.path, self.kind, "r", self.offset, self.shape, "F")
            return np.array(table[first : first + rows], order="C")
        width = self.shape[1]
        found = self._raw.take(rows, width) if self.kind == np.float64 else np.empty((rows, width), self.kind)
        with Path(self.path).open("rb", buffering=0) as file:
            file.seek(self.offset + first * width * self.kind.itemsize)
            if file.readinto(found.data.cast("B")) < found.nbytes:
                raise fault("changed", self.path)
        return found

    def _split(self, rows: Array, first: int) -> Batch:
        labels: Array | None = None
        if isinstance(self.label_name, int):
            labels = np.ascontiguousarray(rows[:, self.label_name])
            labels = labels.astype(labels.dtype.newbyteorder("="))
        if self.chosen == list(range(self.n_columns)) and rows.dtype == np.float64 and rows.dtype.isnative:
            values = self.buffers.take(len(rows), self.n_columns)
            values[:] = rows[:, : self.n_columns]
            self._raw.give_back(rows)
            return Batch(values, labels, first)
        return Batch(rows[:, self.chosen], labels, first)


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
    return shape, fortran, kind


def require_table(path: str, shape: tuple[int, ...], kind: np.dtype[Any], name: str) -> None:
    """Refuse what is not a table of numbers."""
    if kind.kind not in "biuf":
        raise fault("array type", path, name=name, seen=kind)
    if len(shape) != 2:
        raise fault("array shape", path, name=name, seen=shape)
    if not all(shape):
        raise fault("array columns" if shape[0] else "array rows", path, name=name)


def plain(path: str, values: Array, numbers: Sequence[int]) -> Array:
    """The same numbers as doubles, or as int64 where doubles would round them; `numbers` are those of the rows."""
    exact = plain_numbers(np.asarray(values))
    if exact.dtype == object:
        row, column = first_rounded(values)
        raise rounded(path, numbers[row], column, values[row, column])
    if exact.dtype.kind in "iu" and is_long(exact):
        return np.ascontiguousarray(exact, np.int64)
    return np.ascontiguousarray(exact, np.float64)


def rounded(path: str, row: int, column: int, value: Any) -> InputError:
    """A number that neither a double nor 64 bits hold."""
    return fault("inexact", path, row=row, column=column, value=int(value) if value.dtype.kind in "iu" else str(value))


def first_rounded(values: Array) -> tuple[int, int]:
    """Row and column of the first value that no 64-bit type of ours holds."""
    with np.errstate(all="ignore"):
        if values.dtype.kind == "u":
            wrong = values > np.uint64(2**63 - 1)
        else:
            wrong = (values.astype(np.float64) != values) & (values == values)
    row, column = np.argwhere(wrong)[0]
    return int(row), int(column)


def not_numpy(path: str, error: Exception) -> InputError:
    """Why a file is not a NumPy file that linsep reads."""
    if "allow_pickle" in str(error) or "magic" in str(error):
        return fault("pickled", path)
    return fault("not numpy", path, seen=str(error).removesuffix(".") or type(error).__name__)
