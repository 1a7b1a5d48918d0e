"""Arrays, tensors and lists of rows."""

from collections.abc import Iterable, Mapping, Sequence, Set
from itertools import chain
from typing import Any, Protocol, runtime_checkable

import numpy as np

from linsep.errors import (
    InexactError,
    MissingValueError,
    ShapeError,
    shown,
)
from linsep.tables.exact_numbers import EXACT, Array, ExactTable, of_cells, plain_numbers, require_cells
from linsep.tables.frames import as_series, series_values


@runtime_checkable
class SupportsArray(Protocol):
    """What NumPy can take over: tensors and series in their own type, tables in one type for all their columns."""

    def __array__(self) -> Array:
        """The values."""


@runtime_checkable
class HasType(Protocol):
    """What has one type for all its values: a tensor, a series."""

    @property
    def dtype(self) -> Any:
        """That type, in the words of its library."""


def of_array(values: Array) -> ExactTable:
    """The numbers of an array of two dimensions."""
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        where = tuple(int(k) for k in np.argwhere(np.ma.getmaskarray(values))[0])
        raise MissingValueError(f"The array is masked at {where}: fill the value in or drop the row.")
    if values.ndim != 2:
        raise ShapeError(
            f"X has shape {values.shape}: a table has two dimensions, rows and columns. "
            "For a single column use X.reshape(-1, 1)."
        )
    require_cells(*values.shape)
    plain = plain_numbers(values.view(np.ndarray))
    if plain.dtype == object:
        return of_cells(plain.ravel().tolist(), values.shape[1], None)
    return ExactTable(plain)


def is_tensor(values: Any) -> bool:
    """Whether NumPy may be asked for the values: where columns differ in type, it would round them to one."""
    return isinstance(values, SupportsArray) and isinstance(values, HasType)


def taken_over(values: Any, name: str) -> Array:
    """A tensor, a series or a buffer of another library as an array of the same numbers."""
    try:
        array = np.asarray(values)
    except Exception as error:
        raise ShapeError(
            f"{name} is of type {type(values).__name__}, which NumPy cannot read: {shown(str(error))}. "
            "Turn it into an array of numbers first."
        ) from error
    if array.dtype.kind == "f" and isinstance(values, HasType) and array.dtype.name not in str(values.dtype).lower():
        raise InexactError(
            f"{name} is of type {type(values).__name__} and holds {values.dtype}, which NumPy would turn into "
            f"{array.dtype}, and linsep never rounds in silence. Hand over an array or a dataframe."
        )
    return array


def of_rows(rows: Sequence[Any]) -> ExactTable:
    """Rows one by one. Plain Python numbers, which is nearly always all there is, are converted by NumPy in one go."""
    kinds = set(map(type, rows))
    if kinds == {np.ndarray} and len({(row.dtype, row.shape) for row in rows}) == 1 and rows[0].ndim == 1:
        return of_array(np.array(rows))
    if not kinds <= {list, tuple}:
        rows = [_row(row, number) for number, row in enumerate(rows)]
    require_cells(len(rows), len(rows[0]) if rows else 0)
    width = len(rows[0])
    if set(map(len, rows)) != {width}:
        odd = next(number for number, row in enumerate(rows) if len(row) != width)
        raise ShapeError(
            f"The rows do not form a table: row {odd} has {len(rows[odd])} values, and row 0 has {width}.", row=odd
        )
    types = set(map(type, chain.from_iterable(rows)))
    if types <= {float, int, bool}:
        quick = _in_one_go(rows, types)
        if quick is not None:
            return ExactTable(quick)
    return of_cells(list(chain.from_iterable(rows)), width, None)


def _in_one_go(rows: Sequence[Any], types: set[type]) -> Array | None:
    """Rows of Python numbers as int64 or float64, if nothing is lost."""
    try:
        if float not in types:
            return np.array(rows, np.int64)
        values = np.array(rows, np.float64)
    except OverflowError:
        return None
    # An integer that was rounded is 2^53 or more, before and after.
    return values if types == {float} or not (np.abs(values) >= EXACT).any() else None


def _row(row: Any, number: int) -> Sequence[Any]:
    """One row as a list of its values."""
    if isinstance(row, (list, tuple)):
        return row
    if isinstance(row, (SupportsArray, memoryview)) and not isinstance(row, np.generic):
        values = row if isinstance(row, np.ndarray) else _of_row(row, number)
        if values.ndim == 1:
            return list(
                values.tolist() if values.dtype.kind in "biufO" else of_array(values[None, :]).values[0].tolist()
            )
    elif isinstance(row, Iterable) and not isinstance(row, (str, bytes, Mapping, Set)):
        return list(row)
    raise ShapeError(
        f"Row {number} of X is {shown(row)}, not a row of numbers: a table has two dimensions, rows and columns. "
        "For a single column use X.reshape(-1, 1), or [[value], ...].",
        row=number,
    )


def _of_row(row: Any, number: int) -> Array:
    """One row of another library: a series knows its numbers better than NumPy does."""
    series = as_series(row)
    if series is None:
        return taken_over(row, f"Row {number} of X")
    missing = series.is_null()
    return np.fromiter(series.to_list(), object, len(series)) if missing.any() else series_values(series)
