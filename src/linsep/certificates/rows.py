"""What a proof is checked against: rows of numbers with signs, wherever they are kept.

A check needs two verbs: read every row once (`blocks`), and fetch a few rows by number (`take`).
`rows_of` gives them to an array, a sparse matrix, a dataframe or nested lists.
No number is rounded on the way: integers beyond 2^53 stay integers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, TypeGuard, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from linsep.errors import CertificateError, LengthError, NotNumericError, ShapeError

Label: TypeAlias = str | int | float | bool
Values: TypeAlias = Any  # a 2-D ndarray or a CSR matrix
Block: TypeAlias = Any  # unpacks to (row numbers, values, signs)

EXACT_IN_BINARY64 = 2**53


@runtime_checkable
class Rows(Protocol):
    """A table of rows, each with the sign of its class."""

    @property
    def n_rows(self) -> int:
        """How many rows there are."""

    @property
    def n_columns(self) -> int:
        """How many columns a row has, the constant of the bias not counted."""

    def blocks(self) -> Iterator[Block]:
        """Every row once, in row order: (row numbers, values, signs)."""

    def take(self, rows: Sequence[int]) -> Block:
        """The rows of these numbers, in this order."""


@runtime_checkable
class Scannable(Rows, Protocol):
    """Rows that score themselves and know their labels: linsep's own sources do, on all cores."""

    labels: tuple[Label, Label]
    decimal_places: tuple[int, ...] | None

    def scan(self, w: NDArray[np.float64], b: float) -> Any:
        """What one read of all rows tells about a vector: how many are certainly wrong, which are in doubt."""

    def from_data(self) -> Any:
        """The same rows without any cache of them."""


_CAN_SCAN: dict[type, bool] = {}  # asked of each type once: asking a protocol takes 30 µs


def can_scan(rows: Any) -> TypeGuard[Scannable]:
    """Whether these are rows that score themselves."""
    kind = type(rows)
    if kind not in _CAN_SCAN:
        _CAN_SCAN[kind] = isinstance(rows, Scannable)
    return _CAN_SCAN[kind]


def from_data(X: Any) -> Any:
    """The data themselves, where a source keeps something in their place."""
    return X.from_data() if can_scan(X) else X


def decimal_places(rows: Rows) -> tuple[int, ...] | None:
    """For rows of exact decimals: the power of ten that each column was multiplied by."""
    return rows.decimal_places if can_scan(rows) else None


@dataclass(frozen=True, slots=True)
class MemoryRows:
    """Rows held in memory: a 2-D array or a CSR matrix, and one sign per row."""

    values: Values
    signs: NDArray[np.int8]

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return int(self.values.shape[0])

    @property
    def n_columns(self) -> int:
        """How many columns a row has."""
        return int(self.values.shape[1])

    def blocks(self) -> Iterator[Block]:
        """All rows as one block: nothing is copied."""
        yield np.arange(self.n_rows), self.values, self.signs

    def take(self, rows: Sequence[int]) -> Block:
        """The rows of these numbers, in this order."""
        numbers = np.asarray(rows, dtype=np.int64)
        return numbers, self.values[numbers], self.signs[numbers]


def is_sparse(values: Any) -> bool:
    """Is this a SciPy sparse matrix or array?"""
    return bool(sparse.issparse(values))


def rows_of(X: Any, y: Any, labels: tuple[Label, Label]) -> Rows:
    """The rows of X with the signs that `labels` (negative, positive) gives to y."""
    if can_scan(X):
        if X.labels != labels:
            raise CertificateError(f"The rows are labelled {X.labels}; the proof is about {labels}.")
        return X
    if isinstance(X, Rows):
        return X
    values = _table(X)
    signs = _signs(y, labels)
    if len(signs) != values.shape[0]:
        raise LengthError(f"X has {values.shape[0]} rows and y has {len(signs)} labels.")
    return MemoryRows(values, signs)


def _table(X: Any) -> Values:
    if is_sparse(X):
        return _canonical(X)
    if not isinstance(X, np.ndarray):
        columns = _frame_columns(X)
        X = np.array(X, dtype=object) if columns is None else _beside(columns)
    if X.ndim != 2:
        raise ShapeError(f"X has {X.ndim} dimension(s); a table of rows and columns has 2.")
    return _narrowed(X) if X.dtype == object else _numeric(X)


def _canonical(X: Any) -> Values:
    """CSR without repeated entries, which SciPy would read as their rounded sum."""
    if X.ndim != 2:
        raise ShapeError(f"X has {X.ndim} dimension(s); a table of rows and columns has 2.")
    matrix = X.tocsr()
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    _numeric(matrix)
    return matrix


def _numeric(X: Values) -> Values:
    if X.dtype.kind == "b":
        return X.astype(np.int8)
    if X.dtype.kind not in "iuf":
        raise NotNumericError(f"X holds {X.dtype}; a proof is checked against real numbers.")
    return X


def _frame_columns(X: Any) -> list[NDArray[Any]] | None:
    """The columns of a dataframe one by one, so that no common type rounds them; None for anything else."""
    import narwhals as nw

    table = nw.from_native(X, eager_only=True, pass_through=True)
    if not isinstance(table, nw.DataFrame):
        return None
    return [table.get_column(name).to_numpy() for name in table.columns]


def _beside(columns: list[NDArray[Any]]) -> NDArray[Any]:
    if len({column.dtype for column in columns}) == 1 or all(map(_fits_binary64, columns)):
        return np.column_stack(columns)
    return np.column_stack([column.astype(object) for column in columns])


def _fits_binary64(column: NDArray[Any]) -> bool:
    """Does every number of the column survive as a double?"""
    if column.dtype.kind in "iu" and len(column):
        return max(-int(column.min()), int(column.max())) <= EXACT_IN_BINARY64
    return column.dtype.kind in "biu" or column.dtype in (np.float64, np.float32, np.float16)


def _narrowed(X: NDArray[Any]) -> NDArray[Any]:
    """Objects as the fastest type that holds every one of them exactly; else the objects themselves."""
    items = X.ravel().tolist()
    kinds = {type(item) for item in items}
    if not all(issubclass(kind, int | float | np.number | np.bool_) for kind in kinds):
        strange = next(kind for kind in kinds if not issubclass(kind, int | float | np.number | np.bool_))
        raise NotNumericError(f"X holds a value of type {strange.__name__} where a number belongs.")
    exact = [int(item) if isinstance(item, int | np.integer | np.bool_) else item for item in items]
    whole = [item for item in exact if isinstance(item, int)]
    if len(whole) == len(exact) and all(-(2**63) <= item < 2**63 for item in whole):
        return np.array(exact, dtype=np.int64).reshape(X.shape)
    doubles = all(isinstance(item, int | float) for item in exact)
    if doubles and all(abs(item) <= EXACT_IN_BINARY64 for item in whole):
        return np.array(exact, dtype=np.float64).reshape(X.shape)
    narrowed = np.empty(len(exact), dtype=object)
    narrowed[:] = exact
    return narrowed.reshape(X.shape)


def _signs(y: Any, labels: tuple[Label, Label]) -> NDArray[np.int8]:
    """-1 and +1 for the two labels, compared as Python compares them, so that no label is rounded."""
    array = np.asarray(y)
    if array.ndim != 1:
        raise ShapeError(f"y has {array.ndim} dimension(s); labels are a plain list.")
    if array.dtype == object:
        return np.fromiter((_sign(item, labels, row) for row, item in enumerate(array.tolist())), np.int8)
    distinct, first, place = np.unique(array, return_index=True, return_inverse=True)
    table = [_sign(item, labels, int(row)) for item, row in zip(distinct.tolist(), first, strict=True)]
    return np.array(table, dtype=np.int8)[place]


def _sign(label: Any, labels: tuple[Label, Label], row: int) -> int:
    negative, positive = labels
    if label == positive:
        return 1
    if label == negative:
        return -1
    raise CertificateError(f"Row {row} has the label {label!r}; the proof knows {negative!r} and {positive!r}.")
