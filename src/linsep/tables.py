"""The one reader of tables and labels in memory: arrays, sparse matrices, dataframes, nested lists, sequences.

Deciding, verifying, learning and scoring all read through here, so that they all see the same numbers.
No number is converted before it is known that nothing is lost by it. A table is held in the first of these that is
exact:

    64-bit integers, or doubles       the common type, if every number fits it
    columns times whole numbers       0.5 beside 2^53 + 1, a Fraction, a Decimal become integers: see `scales`
    Python integers                   what is longer than 64 bits: a proof can be checked, nothing else can use it

What is not a number, and what is missing, is refused by row and column.
"""

import math
import numbers
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from decimal import Decimal
from fractions import Fraction
from itertools import chain
from typing import Any, NamedTuple, Protocol, TypeAlias, runtime_checkable

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep.errors import (
    InexactError,
    InputError,
    LengthError,
    MissingLabelError,
    MissingValueError,
    NoColumnsError,
    NoRowsError,
    NotFiniteError,
    NotNumericError,
    ShapeError,
    place,
    shown,
)

Array: TypeAlias = npt.NDArray[Any]
Columns: TypeAlias = tuple[str, ...] | None
Number: TypeAlias = int | float | Fraction

WORD = 2**63  # 64-bit integers end here
EXACT = 2**53  # up to here every integer is a double
LONGEST_SCALE = 1200  # bits of the number that a column is multiplied by
MOST_PLACES = 400  # of a Decimal, on either side of its point
SCALE_IT = "Subtract a constant from the column or scale it."


class ExactTable(NamedTuple):
    """Numbers as they were handed over, none of them rounded.

    `values` is a two-dimensional array or a CSR matrix without repeated entries: 8 to 64-bit integers, float32 or
    float64, else Python integers. Column j is the user's times `scales[j]`, where there are scales. `is_decimal` says
    that some number was a fraction that no float is. `inexact` is why doubles cannot hold the table, if they cannot.
    """

    values: Any
    columns: Columns = None
    scales: tuple[int, ...] | None = None
    is_decimal: bool = False
    inexact: InexactError | None = None

    @property
    def fits_64_bits(self) -> bool:
        """Whether the values are 64-bit numbers, as solvers need them."""
        return bool(self.values.dtype != object)


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


def read_exact(X: Any) -> ExactTable:
    """The numbers of X, exactly, and the names of its columns if it has any.

    >>> read_exact([[2**53 + 1, 0.5], [2**53, 1.5]])[:3]
    (array([[9007199254740993,                1],
           [9007199254740992,                3]]), None, (1, 2))
    """
    if sp.issparse(X):
        return ExactTable(_sparse(X))
    if isinstance(X, (list, tuple)):
        return _rows(X)
    if isinstance(X, np.ndarray):
        return _array(X)
    frame = _native(X)
    if frame is not None:
        return _frame(frame)
    if isinstance(X, memoryview) or _is_tensor(X):
        return _array(_taken_over(X, "X"))
    if isinstance(X, Iterable) and not isinstance(X, (str, bytes, Mapping, Set, SupportsArray)):
        return _rows(list(X))
    raise ShapeError(
        f"X is of type {type(X).__name__}, which is not a table in memory: "
        "hand over an array, a sparse matrix, a dataframe or a list of rows."
    )


def read_doubles(X: Any) -> ExactTable:
    """The same for what works in doubles: a number that no double is, is refused by name; integers stay integers."""
    table = read_exact(X)
    if table.inexact is not None:
        raise table.inexact
    values = table.values if isinstance(table.values, np.ndarray) else table.values.data
    if values.dtype.kind in "iu" and is_long(values):
        wrong = np.flatnonzero(~are_doubles(values.ravel()))
        if wrong.size:
            row, column = place_of(table.values, int(wrong[0]))
            raise _inexact(int(values.ravel()[wrong[0]]), row, column, table.columns)
    return table


def require_finite(table: ExactTable) -> None:
    """Refuse NaN and infinity by row and column."""
    values = table.values if isinstance(table.values, np.ndarray) else table.values.data
    if values.dtype.kind != "f" or np.isfinite(values).all():
        return
    first = int(np.argmin(np.isfinite(values.ravel())))
    row, column = place_of(table.values, first)
    raise NotFiniteError(row, _name(column, table.columns), float(values.ravel()[first]))


def place_of(values: Any, position: int) -> tuple[int, int]:
    """Row and column of an entry, given by its position among the entries of an array or a CSR matrix."""
    if isinstance(values, np.ndarray):
        return divmod(position, int(values.shape[1]))
    return int(np.searchsorted(values.indptr, position, side="right")) - 1, int(values.indices[position])


def is_long(values: Array) -> bool:
    """Whether an array of integers has one beyond 2^53."""
    if not values.size or values.dtype.itemsize < 8:
        return False
    return max(-int(values.min()), int(values.max())) > EXACT


def are_doubles(integers: Array) -> npt.NDArray[np.bool_]:
    """Which 64-bit integers are doubles: those whose odd part has at most 53 bits."""
    size = np.abs(integers.astype(np.int64)).view(np.uint64)  # -2^63 is its own size, as it should be
    odd = size // np.maximum(size & (~size + np.uint64(1)), np.uint64(1))
    return np.asarray(odd <= EXACT)


def _require_cells(n_rows: int, n_columns: int) -> None:
    if n_rows == 0:
        raise NoRowsError("X has no rows.")
    if n_columns == 0:
        raise NoColumnsError("X has no columns.")


def _name(column: int, names: Columns) -> int | str:
    return names[column] if names else column


def _inexact(value: Any, row: int, column: int, names: Columns) -> InexactError:
    name = _name(column, names)
    beyond = ", beyond 2^53" if isinstance(value, int) and abs(value) > EXACT else ""
    return InexactError(
        f"X holds {shown(value)}{beyond} in {place(row, name)}: float64 would round it, "
        f"and linsep never rounds in silence. {SCALE_IT}",
        row=row,
        column=name,
        value=shown(value),
        fix=SCALE_IT,
    )


# Arrays ------------------------------------------------------------------------------------------------------


def _array(values: Array) -> ExactTable:
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        where = tuple(int(k) for k in np.argwhere(np.ma.getmaskarray(values))[0])
        raise MissingValueError(f"The array is masked at {where}: fill the value in or drop the row.")
    if values.ndim != 2:
        raise ShapeError(
            f"X has shape {values.shape}: a table has two dimensions, rows and columns. "
            "For a single column use X.reshape(-1, 1)."
        )
    _require_cells(*values.shape)
    plain = plain_numbers(values.view(np.ndarray))
    if plain.dtype == object:
        return _cells(plain.ravel().tolist(), values.shape[1], None)
    return ExactTable(plain)


def _is_tensor(values: Any) -> bool:
    """Whether NumPy may be asked for the values: where columns differ in type, it would round them to one."""
    return isinstance(values, SupportsArray) and isinstance(values, HasType)


def _taken_over(values: Any, name: str) -> Array:
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


def plain_numbers(values: Array) -> Array:
    """The same numbers in a type that loops know, or as the objects they are."""
    kind, size = values.dtype.kind, values.dtype.itemsize
    if kind not in "biufO":
        example = f", such as {values.flat[0]!s}" if values.size else ""
        name = "complex numbers" if kind == "c" else f"values of type {values.dtype}"
        raise NotNumericError(f"X holds {name}{example}: rows are real numbers.")
    values = values if values.dtype.isnative else values.astype(values.dtype.newbyteorder("="))
    if kind == "b":
        return _truths(values)
    if kind == "f" and size == 2:
        return values.astype(np.float32)
    if kind == "f" and size > 8:
        with np.errstate(all="ignore"):
            doubles = values.astype(np.float64)
        return doubles if bool(((doubles == values) | np.isnan(values)).all()) else values.astype(object)
    if kind == "u" and size == 8:
        return values.view(np.int64) if not values.size or values.max() < WORD else values.astype(object)
    return values


def _truths(values: Array) -> Array:
    """Booleans as 0 and 1. (Any other byte is true as well: in memory of another program, in a file.)"""
    bytes_ = values.view(np.uint8)
    return bytes_ if not values.size or bytes_.max() <= 1 else (bytes_ != 0).view(np.uint8)


# Lists of rows -----------------------------------------------------------------------------------------------


def _rows(rows: Sequence[Any]) -> ExactTable:
    """Rows one by one. Plain Python numbers, which is nearly always all there is, are converted by NumPy in one go."""
    kinds = set(map(type, rows))
    if kinds == {np.ndarray} and len({(row.dtype, row.shape) for row in rows}) == 1 and rows[0].ndim == 1:
        return _array(np.array(rows))
    if not kinds <= {list, tuple}:
        rows = [_row(row, number) for number, row in enumerate(rows)]
    _require_cells(len(rows), len(rows[0]) if rows else 0)
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
    return _cells(list(chain.from_iterable(rows)), width, None)


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
            return list(values.tolist() if values.dtype.kind in "biufO" else _array(values[None, :]).values[0].tolist())
    elif isinstance(row, Iterable) and not isinstance(row, (str, bytes, Mapping, Set)):
        return list(row)
    raise ShapeError(
        f"Row {number} of X is {shown(row)}, not a row of numbers: a table has two dimensions, rows and columns. "
        "For a single column use X.reshape(-1, 1), or [[value], ...].",
        row=number,
    )


def _of_row(row: Any, number: int) -> Array:
    """One row of another library: a series knows its numbers better than NumPy does."""
    series = _series(row)
    if series is None:
        return _taken_over(row, f"Row {number} of X")
    missing = series.is_null()
    return np.fromiter(series.to_list(), object, len(series)) if missing.any() else _of_series(series)


# Single cells ------------------------------------------------------------------------------------------------


def _cells(cells: list[Any], width: int, names: Columns) -> ExactTable:
    """Objects as the narrowest exact table."""
    exact: list[Number] = []
    for position, cell in enumerate(cells):
        try:
            number = exact_number(cell)
        except OverflowError:
            raise _inexact(cell, *divmod(position, width), names) from None
        if number is None:
            raise _not_a_number(cell, *divmod(position, width), names)
        exact.append(number)
    types = set(map(type, exact))
    if types == {int} and (words := _words(exact)) is not None:
        return ExactTable(words.reshape(-1, width), names)
    doubles = [as_double(number) for number in exact]
    if None not in doubles:
        return ExactTable(np.array(doubles, np.float64).reshape(-1, width), names)
    first = doubles.index(None)
    inexact = _inexact(cells[first], *divmod(first, width), names)
    if types == {int}:
        return ExactTable(_objects(exact, width), names, inexact=inexact)
    return _scaled(exact, width, names, inexact)


def exact_number(value: Any) -> Number | None:
    """A number of any library as a Python integer, a float, or else a Fraction; None for what is not a real number."""
    kind = type(value)
    if kind is float or kind is int:
        return value  # type: ignore[no-any-return]
    if isinstance(value, (int, np.bool_)):  # a boolean is 0 or 1
        return int(value)
    if isinstance(value, float):
        return float(value)
    if isinstance(value, np.number):
        return _numpy_number(value)
    if isinstance(value, Decimal):
        return _decimal(value)
    if isinstance(value, numbers.Rational):
        return _reduced(Fraction(int(value.numerator), int(value.denominator)))
    if isinstance(value, np.ndarray) and value.ndim == 0 and value[()] is not np.ma.masked:
        return exact_number(value[()])
    return None


def _numpy_number(value: Any) -> Number | None:
    if value.dtype.kind in "iu":  # a timedelta64 is a np.integer, too
        return int(value)
    if value.dtype.kind != "f":
        return None
    with np.errstate(all="ignore"):
        double = float(value)
        return double if double == value or value != value else _reduced(Fraction(*value.as_integer_ratio()))


def _decimal(value: Decimal) -> Number:
    if not value.is_finite():
        return math.nan if value.is_nan() else math.copysign(math.inf, value)
    if value and not -MOST_PLACES < value.adjusted() < MOST_PLACES:
        raise OverflowError(f"{shown(value)} is beyond every double")  # and its digits may fill the memory
    return _reduced(Fraction(value))


def _reduced(value: Fraction) -> int | Fraction:
    return value.numerator if value.denominator == 1 else value


def as_double(value: Number) -> float | None:
    """The number as a double, or None if it is not one."""
    try:
        double = float(value)
    except OverflowError:
        return None
    return double if double == value or double != double else None


def _not_a_number(cell: Any, row: int, column: int, names: Columns) -> InputError:
    name = _name(column, names)
    holds = f"X holds {shown(cell)} in {place(row, name)}"
    where = {"row": row, "column": name, "value": shown(cell)}
    if is_missing(cell):
        return MissingValueError(f"{holds}: the value is missing. Drop the row or fill the value in.", **where)
    if isinstance(cell, (list, tuple, np.ndarray)):
        return ShapeError(f"{holds}: a table has two dimensions, rows and columns.", **where)
    kind = type(cell).__name__
    return NotNumericError(f"{holds}, of type {kind}: convert it to a number or leave the column out.", **where)


def _words(values: Sequence[Any]) -> Array | None:
    """Python integers as int64, or None if one of them is longer."""
    try:
        return np.array(values, np.int64)
    except OverflowError:
        return None


def _objects(values: Sequence[Any], width: int) -> Array:
    return np.fromiter(values, object, len(values)).reshape(-1, width)


def _scaled(exact: list[Number], width: int, names: Columns, inexact: InexactError) -> ExactTable:
    """Integers: each column times the least whole number that clears its fractions."""
    for position, number in enumerate(exact):
        if isinstance(number, float) and not math.isfinite(number):
            row, column = divmod(position, width)
            raise NotFiniteError(row, _name(column, names), number)
    ratios = [number.as_integer_ratio() for number in exact]
    scales = [1] * width
    for position, (_, denominator) in enumerate(ratios):
        scales[position % width] = math.lcm(scales[position % width], denominator)
        if scales[position % width].bit_length() > LONGEST_SCALE:
            raise inexact
    whole = [top * (scales[k % width] // bottom) for k, (top, bottom) in enumerate(ratios)]
    words = _words(whole)
    values = _objects(whole, width) if words is None else words.reshape(-1, width)
    is_decimal = any(bottom & (bottom - 1) for _, bottom in ratios)
    return ExactTable(values, names, tuple(scales), is_decimal, inexact)


# Dataframes --------------------------------------------------------------------------------------------------


def _native(X: Any) -> Any:
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


def _series(values: Any) -> Any:
    """The values as a narwhals series, if they are one or the only column of a table; else None."""
    import narwhals as nw

    series = nw.from_native(values, series_only=True, pass_through=True)
    if isinstance(series, nw.Series):
        return series
    frame = _native(values)
    if frame is not None and frame.shape[1] != 1:
        raise ShapeError(f"A table of shape {frame.shape} stands where one column or one row of values belongs.")
    return None if frame is None else frame.get_column(frame.columns[0])


def _frame(frame: Any) -> ExactTable:
    names = tuple(map(str, frame.columns))
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ShapeError(f"Several columns are called {twice!r}: give each a name of its own.")
    _require_cells(*frame.shape)
    columns = [_column(frame.get_column(own), name) for own, name in zip(frame.columns, names, strict=True)]
    kind = np.result_type(*columns)
    if kind.kind == "O" or (kind.kind == "f" and any(c.dtype.kind in "iu" and is_long(c) for c in columns)):
        cells = list(chain.from_iterable(zip(*(column.tolist() for column in columns), strict=True)))
        return _cells(cells, len(names), names)
    table = np.empty(frame.shape, dtype=kind)
    for j, column in enumerate(columns):
        table[:, j] = column
    return ExactTable(table, names)


def _column(series: Any, name: str) -> Array:
    import narwhals as nw

    kind = _kind(series)
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
    return plain_numbers(_of_series(series))


def _of_series(series: Any) -> Array:
    """A series without nulls as an array: numbers of at most 64 bits in their own type, everything else as objects."""
    import narwhals as nw

    kind = _kind(series)
    if kind.is_numeric() and kind not in (nw.Decimal, nw.Int128, nw.UInt128):
        return np.asarray(series.to_numpy())
    values = series.to_list()
    return np.array(values, np.bool_) if kind == nw.Boolean else np.fromiter(values, object, len(values))


def _kind(series: Any) -> Any:
    """The type of a series; narwhals has none for Arrow's decimals of thousands (a negative scale)."""
    import narwhals as nw

    try:
        return series.dtype
    except ValueError:
        return nw.Unknown()


# Sparse matrices ---------------------------------------------------------------------------------------------

MALFORMED = "The sparse matrix is malformed: its indices do not fit its shape."


def _sparse(X: Any) -> Any:
    """A CSR matrix with its entries in order and none repeated; the caller's matrix is left alone."""
    if X.ndim != 2:
        raise ShapeError(f"X has shape {X.shape}: a table has two dimensions, rows and columns.")
    _require_cells(*X.shape)
    if X.format in ("csr", "csc"):
        lines = X.shape[0 if X.format == "csr" else 1]
        _require_pointers(X.data, X.indices, X.indptr, lines, X.shape[1 if X.format == "csr" else 0])
        is_plain = X.data.dtype != object  # SciPy moves no objects
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
    """The loops trust the indices, so a matrix that was put together wrongly stops here."""
    fits = len(indptr) == lines + 1 and indptr[0] == 0 and not np.any(indptr[1:] < indptr[:-1])
    if not fits or indptr[-1] > min(len(indices), len(data)) or not _inside(indices[: indptr[-1]], length):
        raise ShapeError(MALFORMED)


def _is_canonical(indices: Array, indptr: Array) -> bool:
    """Whether each line's indices rise. (What a matrix remembers about itself may be out of date.)"""
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
    """Objects of a sparse matrix as Python numbers, none rounded; what is not a number is refused by its place."""
    exact: list[Number] = []
    for cell, row, column in zip(data.tolist(), rows.tolist(), columns.tolist(), strict=True):
        try:
            number = exact_number(cell)
        except OverflowError:
            raise _inexact(cell, row, column, None) from None
        if number is None:
            raise _not_a_number(cell, row, column, None)
        exact.append(number)
    return np.fromiter(exact, object, len(exact))


def _in_one_type(numbers: Array, rows: Array, columns: Array) -> Array:
    """Python numbers as int64 or float64; the first that the common type would round is refused by its place."""
    exact = numbers.tolist()
    if all(isinstance(number, int) for number in exact) and (words := _words(exact)) is not None:
        return words
    doubles = [as_double(number) for number in exact]
    if None in doubles:
        first = doubles.index(None)
        raise _inexact(exact[first], int(rows[first]), int(columns[first]), None)
    return np.array(doubles, np.float64)


def _summed(matrix: Any, rows: Array, columns: Array, data: Array) -> Any:
    """CSR of entries in any order; those of the same place are added up exactly."""
    order = np.lexsort((columns, rows))
    rows, columns, data = rows[order], columns[order], data[order]
    first = np.ones(len(rows), np.bool_)
    first[1:] = (rows[1:] != rows[:-1]) | (columns[1:] != columns[:-1])
    starts = np.flatnonzero(first)
    if len(starts) < len(rows):
        if matrix.dtype.kind == "b":
            twice = int(np.argmin(first))
            raise InexactError(
                f"The sparse matrix of booleans has row {rows[twice]}, column {columns[twice]} more than once. "
                "Use matrix.astype(int) if they are to be added up."
            )
        data = _group_sums(_entries(data, rows, columns) if data.dtype == object else data, starts)
    rows, columns = rows[starts], columns[starts]
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=matrix.shape[0]))])
    return _with_data(matrix, data, columns, indptr)


def _group_sums(data: Array, starts: npt.NDArray[np.intp]) -> Array:
    """The exact sum of each group of consecutive entries: in words or doubles where no sum can leave them."""
    most = int(np.diff(np.append(starts, len(data))).max())
    if data.dtype.kind in "iu" and most * max(-int(data.min()), int(data.max())) < WORD:
        return np.asarray(np.add.reduceat(data.astype(np.int64), starts))
    if data.dtype.kind == "f":
        with np.errstate(all="ignore"):
            is_whole = bool(((data == np.rint(data)) & (np.abs(data) <= EXACT / most)).all())
        if is_whole or not np.isfinite(data).all():  # NaN and infinity are refused by name later
            return np.asarray(np.add.reduceat(data.astype(np.float64), starts))
    stops = np.append(starts[1:], len(data))
    exact = data.tolist()  # Python's numbers: entries of NumPy's types are words and doubles here
    sums = [_total(exact[start:stop]) for start, stop in zip(starts.tolist(), stops.tolist(), strict=True)]
    return np.fromiter(sums, object, len(sums))


def _total(values: list[Number]) -> Number:
    return values[0] if len(values) == 1 else _reduced(sum((Fraction(value) for value in values), Fraction(0)))


# Labels ------------------------------------------------------------------------------------------------------


def is_missing(value: Any) -> bool:
    """Whether a value stands for none: None, NaN, NaT, NA, a masked one, empty text."""
    if (
        value is None or value is np.ma.masked or type(value).__name__ in ("NAType", "NaTType")
    ):  # pandas is not asked, it may not be installed
        return True
    if isinstance(value, (np.datetime64, np.timedelta64)):
        return bool(np.isnat(value))
    if isinstance(value, (float, np.floating)):
        return bool(value != value)
    return bool(value == "") if isinstance(value, str) else isinstance(value, Decimal) and value.is_nan()


def read_labels(y: Any, n_rows: int | None = None) -> Array:
    """Labels as a flat array of one kind: booleans, integers, floats or text; objects where NumPy would change them.

    >>> read_labels([2**53 + 1, 0.5])
    array([9007199254740993, 0.5], dtype=object)
    """
    labels = _flat_labels(y)
    if labels is None:
        raise LengthError(
            f"y has no labels: it is {shown(y)}, of type {type(y).__name__}. Hand over an array, a series or a list of "
            "labels, one for each row of X."
        )
    if n_rows is not None and len(labels) != n_rows:
        raise LengthError(f"X has {n_rows} rows and y has {len(labels)} labels: they must be as many.")
    return labels


def _flat_labels(y: Any) -> Array | None:
    """The labels, or None if there is not even a list of them."""
    if isinstance(y, (list, tuple)):
        return _label_cells(_unwrapped(y))
    if not isinstance(y, np.ndarray):
        series = _series(y)
        if series is not None:
            return _label_series(series)
    if isinstance(y, (SupportsArray, memoryview)):
        array = y if isinstance(y, np.ndarray) else _taken_over(y, "y")
        return _label_array(array) if array.ndim else None
    if isinstance(y, Iterable) and not isinstance(y, (str, bytes, Mapping, Set)):
        return _label_cells(_unwrapped(list(y)))
    return None


def _unwrapped(cells: Sequence[Any]) -> list[Any]:
    """Labels in a column, [[0], [1]], as a flat list."""
    if all(isinstance(cell, (list, tuple)) or (isinstance(cell, np.ndarray) and cell.ndim == 1) for cell in cells):
        return [cell[0] if len(cell) == 1 else cell for cell in cells]
    return list(cells)


def _label_series(series: Any) -> Array:
    missing = series.is_null()
    if missing.any():
        raise _missing_label(int(np.argmax(missing.to_numpy())), None)
    values = _of_series(series)
    return _label_cells(values.tolist()) if values.dtype == object else _label_array(values)


def _label_array(y: Array) -> Array:
    if y.ndim != 1 and not (y.ndim == 2 and y.shape[1] == 1):
        raise ShapeError(f"y has shape {y.shape}: labels are one value a row.")
    if isinstance(y, np.ma.MaskedArray) and np.ma.is_masked(y):
        raise _missing_label(int(np.argmax(np.ma.getmaskarray(y))), None)
    y = y.view(np.ndarray).reshape(len(y))  # a matrix is never flat
    kind = y.dtype.kind if y.size else "b"
    if kind in "mM":
        _refuse_first(y, np.isnat(y))
    elif kind == "U":
        _refuse_first(y, y == "")
    elif kind == "f" and y.dtype.itemsize <= 8:
        _refuse_first(y, ~np.isfinite(y))
    elif kind in "OTf":
        return _label_cells(y.tolist())
    if kind not in "biufU":
        raise _strange_label(y[0], 0, "complex numbers" if kind == "c" else str(y.dtype))
    y = y if y.size else np.zeros(0)
    return y if y.dtype.isnative else y.astype(y.dtype.newbyteorder("="))


def _refuse_first(y: Array, wrong: npt.NDArray[np.bool_]) -> None:
    if wrong.any():
        row = int(np.argmax(wrong))
        raise _missing_label(row, y[row])


def _missing_label(row: int, value: Any) -> MissingLabelError:
    said = "missing" if value is None or value is np.ma.masked or isinstance(value, str) else f"{value}"
    fix = "Every row needs a label, a finite number or text that is not empty."
    return MissingLabelError(f"The label of row {row} is {said}. {fix}", row=row, fix=fix)


def _strange_label(value: Any, row: int, kind: str) -> NotNumericError:
    return NotNumericError(
        f"The label of row {row} is {shown(value)}, of type {kind}: labels are numbers, booleans or text.", row=row
    )


def _label_cells(cells: list[Any]) -> Array:
    """Labels one by one, each what it was."""
    types = set(map(type, cells))
    if types == {bool}:
        return np.array(cells, np.bool_)
    if types == {str} and "" not in cells:
        return np.array(cells, object)
    if types != {int}:
        missing = next((row for row, cell in enumerate(cells) if is_missing(cell)), None)
        if missing is not None:
            raise _missing_label(missing, cells[missing])
        cells = [_label(cell, row) for row, cell in enumerate(cells)]
        types = set(map(type, cells))
    if str in types and len(types) > 1:
        text = next(row for row, cell in enumerate(cells) if isinstance(cell, str))
        other = next(row for row, cell in enumerate(cells) if not isinstance(cell, str))
        raise NotNumericError(
            f"The labels cannot be ordered: that of row {text} is the text {shown(cells[text])}, that of row {other} "
            f"is {shown(cells[other])}. Make all of them text, or all numbers."
        )
    if types == {bool}:
        return np.array(cells, np.bool_)
    if types <= {int, bool} and (words := _words(cells)) is not None:
        return words
    if float in types and not types - {float, int, bool} and None not in (doubles := [as_double(c) for c in cells]):
        return np.array(doubles, np.float64)
    return np.fromiter(cells, object, len(cells))


def _label(cell: Any, row: int) -> Any:
    if isinstance(cell, str):
        return str.__str__(cell)  # the text that a member of an Enum is, not its name
    if isinstance(cell, (bool, np.bool_)):
        return bool(cell)
    number = exact_number(cell)
    if number is None:
        raise _strange_label(cell, row, type(cell).__name__)
    if isinstance(number, float) and not math.isfinite(number):
        raise _missing_label(row, number)
    if isinstance(number, Fraction):
        double = as_double(number)
        if double is None:
            raise InexactError(
                f"The label of row {row} is {shown(cell)}, which no double is. Round the labels.", row=row
            )
        return double
    return number


def distinct(labels: Array) -> tuple[list[Any], npt.NDArray[Any]]:
    """The different labels as Python values in rising order, and for each row which of them it has."""
    if labels.dtype.kind not in "biuf":
        cells = labels.tolist()
        found = sorted(set(cells))
        code: Callable[[Any], int] = {label: k for k, label in enumerate(found)}.__getitem__
        return found, np.fromiter(map(code, cells), np.intp, len(cells))
    if not labels.size:
        return [], np.zeros(0, np.intp)
    low, high = labels.min(), labels.max()
    is_high = labels == high
    if low != high and np.count_nonzero(is_high) + np.count_nonzero(labels == low) < len(labels):
        values, codes = np.unique(labels, return_inverse=True)
        return values.tolist(), codes
    return ([low.item()] if low == high else [low.item(), high.item()]), is_high.view(np.int8) * (low != high)
