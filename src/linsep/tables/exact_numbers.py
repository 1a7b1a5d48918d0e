"""Numbers of any library, none of them rounded, and the narrowest table that holds them."""

import math
import numbers
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from linsep.errors import InputError, shown
from linsep.faults import NO_CODE, fault

Array: TypeAlias = npt.NDArray[Any]

Columns: TypeAlias = tuple[str, ...] | None

Number: TypeAlias = int | float | Fraction

WORD = 2**63  # 64-bit integers end here

EXACT = 2**53  # up to this every integer is a double

LONGEST_SCALE = 1200  # bits of the factor of a column

MOST_PLACES = 400  # of a Decimal, on either side of its point


class ExactTable(NamedTuple):
    """Numbers as they were given, none of them rounded.

    `values` is a two-dimensional array or a CSR matrix without repeated entries: 8 to 64-bit integers, float32 or
    float64, else Python integers. Column j is the user's times `scales[j]`, if there are scales. `is_decimal` says that
    some number was a fraction that is not a float. `inexact` says why doubles cannot hold the table, if they cannot.
    """

    values: Any
    columns: Columns = None
    scales: tuple[int, ...] | None = None
    is_decimal: bool = False
    inexact: InputError | None = None

    @property
    def fits_64_bits(self) -> bool:
        """Whether the values are 64-bit numbers, as solvers need them."""
        return bool(self.values.dtype != object)


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


def fit_doubles(values: Array) -> bool:
    """Whether every number of an array is a double."""
    if values.dtype == object:
        return all(as_double(value) is not None for value in values.ravel().tolist())
    return values.dtype.kind not in "iu" or not is_long(values) or bool(are_doubles(values).all())


def require_cells(n_rows: int, n_columns: int) -> None:
    """Refuse a table without rows or columns."""
    if n_rows == 0:
        raise fault("array rows", name="X")
    if n_columns == 0:
        raise fault("array columns", name="X")


def name_of(column: int, names: Columns) -> int | str:
    """The name of a column, or its number if it has none."""
    return names[column] if names else column


def told_name(column: Any) -> str:
    """The name of a column of a dataframe as text; the levels of a name that has several are joined by dots.

    >>> told_name("age"), told_name(3), told_name(("blood", "sugar")), told_name(("age", ""))
    ('age', '3', 'blood.sugar', 'age')
    """
    return ".".join(str(level) for level in column if level != "") if isinstance(column, tuple) else str(column)


def inexact_number(value: Any, row: int, column: int, names: Columns) -> InputError:
    """The error about a number that is not a double."""
    return fault("inexact", row=row, column=name_of(column, names), value=value)


def plain_numbers(values: Array) -> Array:
    """The same numbers in a type that the loops know, or else as objects."""
    kind, size = values.dtype.kind, values.dtype.itemsize
    if kind not in "biufO":
        example = f", such as {values.flat[0]!s}" if values.size else ""
        name = "complex numbers" if kind == "c" else f"values of type {values.dtype}"
        raise fault("array type", name="X", seen=f"{name}{example}")
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
    """Booleans as 0 and 1. (In memory of another program, or in a file, any other byte is true as well.)"""
    bytes_ = values.view(np.uint8)
    return bytes_ if not values.size or bytes_.max() <= 1 else (bytes_ != 0).view(np.uint8)


def of_cells(cells: list[Any], width: int, names: Columns) -> ExactTable:
    """Objects as the narrowest exact table."""
    exact = exact_cells(cells, lambda position: divmod(position, width), names)
    types = set(map(type, exact))
    if types == {int} and (words := as_words(exact)) is not None:
        return ExactTable(words.reshape(-1, width), names)
    doubles = [as_double(number) for number in exact]
    if None not in doubles:
        return ExactTable(np.array(doubles, np.float64).reshape(-1, width), names)
    first = doubles.index(None)
    inexact = inexact_number(cells[first], *divmod(first, width), names)
    if types == {int}:
        return ExactTable(_objects(exact, width), names, inexact=inexact)
    return _scaled(exact, width, names, inexact)


def exact_cells(cells: list[Any], place: Callable[[int], tuple[int, int]], names: Columns) -> list[Number]:
    """Objects as Python numbers, none rounded; what is not a number is refused by row and column."""
    exact: list[Number] = []
    for position, cell in enumerate(cells):
        try:
            number = exact_number(cell)
        except OverflowError:
            raise inexact_number(cell, *place(position), names) from None
        if number is None:
            raise not_a_number(cell, *place(position), names)
        exact.append(number)
    return exact


def exact_number(value: Any) -> Number | None:
    """A number of any library as a Python integer, a float, or else a Fraction; None if it is not a real number."""
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
        return reduced(Fraction(int(value.numerator), int(value.denominator)))
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
        return double if double == value or value != value else reduced(Fraction(*value.as_integer_ratio()))


def _decimal(value: Decimal) -> Number:
    if not value.is_finite():
        return math.nan if value.is_nan() else math.copysign(math.inf, value)
    if value and not -MOST_PLACES < value.adjusted() < MOST_PLACES:
        raise OverflowError(f"{shown(value)} is beyond every double")  # and its digits could fill the memory
    return reduced(Fraction(value))


def reduced(value: Fraction) -> int | Fraction:
    """A fraction, or an integer if it is one."""
    return value.numerator if value.denominator == 1 else value


def as_double(value: Number) -> float | None:
    """The number as a double, or None if it is not one."""
    try:
        double = float(value)
    except OverflowError:
        return None
    return double if double == value or double != double else None


def not_a_number(cell: Any, row: int, column: int, names: Columns) -> InputError:
    """The error about a cell that does not hold a real number."""
    kind = "not a cell" if isinstance(cell, (list, tuple, np.ndarray)) else "not a number"
    value = None if cell is np.ma.masked else cell
    fix = None if isinstance(cell, str) or kind == "not a cell" else NO_CODE
    kind, fix = ("missing", None) if is_missing(cell) else (kind, fix)
    return fault(kind, row=row, column=name_of(column, names), value=value, fix=fix)


def as_words(values: Sequence[Any]) -> Array | None:
    """Python integers as int64, or None if one of them is longer."""
    try:
        return np.array(values, np.int64)
    except OverflowError:
        return None


def _objects(values: Sequence[Any], width: int) -> Array:
    return np.fromiter(values, object, len(values)).reshape(-1, width)


def _scaled(exact: list[Number], width: int, names: Columns, inexact: InputError) -> ExactTable:
    """Integers: each column times the least whole number that clears its fractions."""
    for position, number in enumerate(exact):
        if isinstance(number, float) and not math.isfinite(number):
            row, column = divmod(position, width)
            raise fault("not finite", row=row, column=name_of(column, names), value=number)
    ratios = [number.as_integer_ratio() for number in exact]
    scales = [1] * width
    for position, (_, denominator) in enumerate(ratios):
        scales[position % width] = math.lcm(scales[position % width], denominator)
        if scales[position % width].bit_length() > LONGEST_SCALE:
            raise inexact
    whole = [top * (scales[k % width] // bottom) for k, (top, bottom) in enumerate(ratios)]
    words = as_words(whole)
    values = _objects(whole, width) if words is None else words.reshape(-1, width)
    is_decimal = any(bottom & (bottom - 1) for _, bottom in ratios)
    return ExactTable(values, names, tuple(scales), is_decimal, inexact)


def is_missing(value: Any) -> bool:
    """Whether a value is missing: None, NaN, NaT, NA, masked, or empty text."""
    if (
        value is None or value is np.ma.masked or type(value).__name__ in ("NAType", "NaTType")
    ):  # without importing pandas, which may not be installed
        return True
    if isinstance(value, (np.datetime64, np.timedelta64)):
        return bool(np.isnat(value))
    if isinstance(value, (float, np.floating)):
        return bool(value != value)
    return bool(value == "") if isinstance(value, str) else isinstance(value, Decimal) and value.is_nan()
