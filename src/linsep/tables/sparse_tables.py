"""Sparse matrices as CSR, with entries in order and repeated entries added up exactly."""

from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep.errors import ShapeError
from linsep.faults import fault
from linsep.tables.exact_numbers import (
    EXACT,
    WORD,
    Array,
    Number,
    as_double,
    as_words,
    exact_cells,
    inexact_number,
    plain_numbers,
    reduced,
    require_cells,
)

MALFORMED = "The sparse matrix is malformed: its indices do not fit its shape."


def is_sparse(values: Any) -> bool:
    """Is this a SciPy sparse matrix or array?"""
    return bool(sp.issparse(values))


def place_of(values: Any, position: int) -> tuple[int, int]:
    """Row and column of an entry, given by its position among the entries of an array or a CSR matrix."""
    if isinstance(values, np.ndarray):
        return divmod(position, int(values.shape[1]))
    return int(np.searchsorted(values.indptr, position, side="right")) - 1, int(values.indices[position])


def of_sparse(X: Any) -> Any:
    """A CSR matrix with its entries in order and none repeated; the caller's matrix is not changed."""
    if X.ndim != 2:
        raise fault("array shape", name="X", seen=X.shape)
    require_cells(*X.shape)
    if X.format in ("csr", "csc"):
        lines = X.shape[0 if X.format == "csr" else 1]
        _require_pointers(X.data, X.indices, X.indptr, lines, X.shape[1 if X.format == "csr" else 0])
        is_plain = X.data.dtype != object  # SciPy does not convert objects
        if (is_plain or X.format == "csr") and _is_canonical(X.indices, X.indptr):
            matrix = X if X.format == "csr" else X.tocsr()
            return _with_data(matrix, plain_numbers(matrix.data), matrix.indices, matrix.indptr)
        if not is_plain:
            n = int(X.indptr[-1])
            along, across = np.repeat(np.arange(lines), np.diff(X.indptr)), X.indices[:n]
            rows, columns = (along, across) if X.format == "csr" else (across, along)
            return _summed(X, rows, columns, X.data[:n])
    try:
        coo = X.tocoo()
    except Exception as error:
        raise ShapeError(MALFORMED) from error
    rows, columns = coo.coords
    if not len(rows) == len(columns) == len(coo.data) or not (
        _inside(rows, X.shape[0]) and _inside(columns, X.shape[1])
    ):
        raise ShapeError(MALFORMED)
    return _summed(coo, rows, columns, plain_numbers(coo.data))


def _require_pointers(data: Array, indices: Array, indptr: Array, lines: int, length: int) -> None:
    """Refuse a malformed matrix, since the loops do not check indices."""
    fits = len(indptr) == lines + 1 and indptr[0] == 0 and not np.any(indptr[1:] < indptr[:-1])
    if not fits or indptr[-1] > min(len(indices), len(data)) or not _inside(indices[: indptr[-1]], length):
        raise ShapeError(MALFORMED)


def _is_canonical(indices: Array, indptr: Array) -> bool:
    """Whether the indices of each line increase. (The flag that the matrix itself keeps may be out of date.)"""
    rising = indices[1 : indptr[-1]] > indices[: max(indptr[-1] - 1, 0)]
    first = indptr[1:-1]
    rising[first[(first > 0) & (first < indptr[-1])] - 1] = True
    return bool(rising.all())


def _inside(indices: Array, length: int) -> bool:
    return not indices.size or bool(indices.view(f"u{indices.dtype.itemsize}").max() < length)


def _with_data(matrix: Any, data: Array, indices: Array, indptr: Array) -> Any:
    n = int(indptr[-1])
    if data.dtype == object:
        rows, columns = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr)), indices[:n]
        data = _in_one_type(_entries(data[:n], rows, columns), rows, columns)
    if matrix.format == "csr" and data is matrix.data and len(data) == len(indices) == n:
        return matrix
    return sp.csr_array((data[:n], indices[:n], indptr), shape=matrix.shape)


def _entries(data: Array, rows: Array, columns: Array) -> Array:
    """Objects of a sparse matrix as Python numbers."""
    exact = exact_cells(data.tolist(), lambda k: (int(rows[k]), int(columns[k])), None)
    return np.fromiter(exact, object, len(exact))


def _in_one_type(numbers: Array, rows: Array, columns: Array) -> Array:
    """Python numbers as int64 or float64; the first that the common type would round is refused by row and column."""
    exact = numbers.tolist()
    if all(isinstance(number, int) for number in exact) and (words := as_words(exact)) is not None:
        return words
    doubles = [as_double(number) for number in exact]
    if None in doubles:
        first = doubles.index(None)
        raise inexact_number(exact[first], int(rows[first]), int(columns[first]), None)
    return np.array(doubles, np.float64)


def _summed(matrix: Any, rows: Array, columns: Array, data: Array) -> Any:
    """CSR of entries in any order; repeated entries are added up exactly."""
    order = np.lexsort((columns, rows))
    rows, columns, data = rows[order], columns[order], data[order]
    first = np.ones(len(rows), np.bool_)
    first[1:] = (rows[1:] != rows[:-1]) | (columns[1:] != columns[:-1])
    starts = np.flatnonzero(first)
    if len(starts) < len(rows):
        if matrix.dtype.kind == "b":
            twice = int(np.argmin(first))
            raise fault("boolean twice", row=int(rows[twice]), column=int(columns[twice]))
        data = _group_sums(_entries(data, rows, columns) if data.dtype == object else data, starts)
    rows, columns = rows[starts], columns[starts]
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=matrix.shape[0]))])
    return _with_data(matrix, data, columns, indptr)


def _group_sums(data: Array, starts: npt.NDArray[np.intp]) -> Array:
    """The exact sum of each group of consecutive entries: in int64 or doubles where every sum fits them."""
    most = int(np.diff(np.append(starts, len(data))).max())
    if data.dtype.kind in "iu" and most * max(-int(data.min()), int(data.max())) < WORD:
        return np.asarray(np.add.reduceat(data.astype(np.int64), starts))
    if data.dtype.kind == "f":
        with np.errstate(all="ignore"):
            is_whole = bool(((data == np.rint(data)) & (np.abs(data) <= EXACT / most)).all())
        if is_whole or not np.isfinite(data).all():  # NaN and infinity are refused by name later
            return np.asarray(np.add.reduceat(data.astype(np.float64), starts))
    stops = np.append(starts[1:], len(data))
    exact = data.tolist()  # Python's numbers; those of NumPy are int64 or doubles here
    sums = [_total(exact[start:stop]) for start, stop in zip(starts.tolist(), stops.tolist(), strict=True)]
    return np.fromiter(sums, object, len(sums))


def _total(values: list[Number]) -> Number:
    return values[0] if len(values) == 1 else reduced(sum((Fraction(value) for value in values), Fraction(0)))
