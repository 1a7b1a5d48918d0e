"""Dataframes of any library, through narwhals and Arrow: each column in its own type."""

from itertools import chain
from typing import Any, Protocol, runtime_checkable

import numpy as np

from linsep.errors import (
    MissingValueError,
    NotFiniteError,
    NotNumericError,
    ShapeError,
    place,
)
from linsep.tables.exact_numbers import Array, ExactTable, is_long, of_cells, plain_numbers, require_cells


@runtime_checkable
class ArrowStream(Protocol):
    """A table, or a stream of them, that Arrow can take over column by column."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """The columns."""


@runtime_checkable
class ArrowArray(Protocol):
    """A batch of rows that Arrow can take over column by column."""

    def __arrow_c_array__(self, requested_schema: Any = None) -> Any:
        """The columns."""


@runtime_checkable
class Interchange(Protocol):
    """A dataframe of the interchange protocol."""

    def __dataframe__(self) -> Any:
        """The columns."""


def as_frame(X: Any) -> Any:
    """X as a narwhals dataframe; None where it is none.

    What narwhals does not know, Arrow may: a batch of rows, a reader of them, the result of a query. It is asked
    before NumPy, which would round the columns of a table to one type.
    """
    import narwhals as nw

    try:
        frame = nw.from_native(X, eager_only=True, allow_series=True, pass_through=True)
        if not isinstance(frame, (nw.DataFrame, nw.Series)):
            frame = nw.from_native(_arrow_table(X), eager_only=True, pass_through=True)
    except nw.exceptions.DuplicateError as error:
        raise ShapeError(
            f"The names of the columns do not tell them apart: {' '.join(str(error).split())}. Rename them."
        ) from None
    return frame if isinstance(frame, nw.DataFrame) else None


def _arrow_table(X: Any) -> Any:
    """X as an Arrow table; None where Arrow cannot read it, or finds one column without a name."""
    if not isinstance(X, (ArrowStream, ArrowArray, Interchange)):
        return None
    import pyarrow as pa
    from pyarrow.interchange import from_dataframe

    try:
        return pa.table(X) if isinstance(X, (ArrowStream, ArrowArray)) else from_dataframe(X)
    except (pa.ArrowException, TypeError, ValueError, NotImplementedError):
        return None


def as_series(values: Any) -> Any:
    """The values as a narwhals series, if they are one or the only column of a table; else None."""
    import narwhals as nw

    series = nw.from_native(values, series_only=True, pass_through=True)
    if isinstance(series, nw.Series):
        return series
    frame = as_frame(values)
    if frame is not None and frame.shape[1] != 1:
        raise ShapeError(f"A table of shape {frame.shape} stands where one column or one row of values belongs.")
    return None if frame is None else frame.get_column(frame.columns[0])


def of_frame(frame: Any) -> ExactTable:
    """The numbers of a narwhals dataframe."""
    names = tuple(map(str, frame.columns))
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ShapeError(f"Several columns are called {twice!r}: give each a name of its own.")
    require_cells(*frame.shape)
    columns = [_column(frame.get_column(own), name) for own, name in zip(frame.columns, names, strict=True)]
    kind = np.result_type(*columns)
    if kind.kind == "O" or (kind.kind == "f" and any(c.dtype.kind in "iu" and is_long(c) for c in columns)):
        cells = list(chain.from_iterable(zip(*(column.tolist() for column in columns), strict=True)))
        return of_cells(cells, len(names), names)
    table = np.empty(frame.shape, dtype=kind)
    for j, column in enumerate(columns):
        table[:, j] = column
    return ExactTable(table, names)


def _column(series: Any, name: str) -> Array:
    import narwhals as nw

    kind = series.dtype
    if not (kind.is_numeric() or kind in (nw.Boolean, nw.Object, nw.Unknown)):  # Arrow's long decimals are unknown
        given = series.drop_nulls().head(1).to_list()
        example = f", such as {given[0]!r}" if given else ""
        raise NotNumericError(f"Column {name!r} holds {kind}{example}: convert it to numbers or leave it out.")
    missing = series.is_null()
    if missing.any():
        row = int(np.argmax(missing.to_numpy()))
        if isinstance(cell := series.to_list()[row], float):
            raise NotFiniteError(row, name, cell)
        fix = "Drop the row or fill the value in."
        raise MissingValueError(f"X: {place(row, name)} is missing. {fix}", row=row, column=name, fix=fix)
    return plain_numbers(series_values(series))


def series_values(series: Any) -> Array:
    """A series without nulls as an array: numbers of at most 64 bits in their own type, everything else as objects."""
    import narwhals as nw

    if series.dtype.is_numeric() and series.dtype not in (nw.Decimal, nw.Int128, nw.UInt128):
        return np.asarray(series.to_numpy())
    values = series.to_list()
    return np.array(values, np.bool_) if series.dtype == nw.Boolean else np.fromiter(values, object, len(values))
