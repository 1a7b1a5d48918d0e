"""What a field of a document may hold: anything else is a FieldError that says where it is.

A reader takes a value and its place, such as `runs[0].weights`, and returns what the value means. `record`, `each` and
`optional` make readers out of readers, so that a kind of document is a table:

    COUNTS = record(rows=count, mistakes=count, names=optional(each(text)))

Integers that come from data (weights, labels, seeds) are strings of digits, because many JSON readers round integers
beyond 2^53; counts and positions are numbers below that; floats have the digits that give the same float back.
A missing or unknown field, or a value of the wrong type, is refused: nothing is guessed.
"""

import math
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from linsep.errors import shown

COUNT_LIMIT = 1 << 53
MOST_DECIMAL_DIGITS = 600  # Python converts up to 640 digits whatever its settings; longer integers are hexadecimal
MOST_HEX_DIGITS = 1 << 20  # four million bits
_INTEGER = re.compile(r"-?(0|[1-9][0-9]{0,18})", re.ASCII)
_LONG = re.compile(rf"0|-?[1-9][0-9]{{0,{MOST_DECIMAL_DIGITS - 1}}}", re.ASCII)
_HEX = re.compile(rf"-?0x[1-9a-f][0-9a-f]{{0,{MOST_HEX_DIGITS - 1}}}", re.ASCII)
_LONGEST_DECIMAL = 1990  # bits, which have 600 digits at most
_SURROGATE = re.compile("[\ud800-\udfff]")

Document: TypeAlias = dict[str, Any]
Reader: TypeAlias = Callable[[Any, str], Any]
Floats: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int64]


class FieldError(ValueError):
    """What is wrong with a document, and where; the format being read raises it as its own error."""


# Readers of readers --------------------------------------------------------------------------------------


def record(**readers: Reader) -> Reader:
    """An object with exactly these fields."""

    def read(value: Any, where: str) -> Document:
        found = fields(value, where, readers)
        return {name: read(found[name], below(where, name)) for name, read in readers.items()}

    return read


def each(read: Reader, length: int | None = None) -> Reader:
    """A list of such values, of this length if one is given; an error names the entry that is wrong."""

    def read_all(value: Any, where: str) -> tuple[Any, ...]:
        items = listed(value, where, length)
        try:
            return tuple([read(item, where) for item in items])
        except FieldError:
            return tuple(read(item, f"{where}[{k}]") for k, item in enumerate(items))

    return read_all


def spaced(read: Reader) -> Reader:
    """Several such values in one text, separated by single spaces."""
    read_all = each(read)
    return lambda value, where: read_all(string(value, where).split(" "), where)


def optional(read: Reader) -> Reader:
    """Such a value, or null."""
    return lambda value, where: None if value is None else read(value, where)


def such(is_right: Callable[[Any], bool], must: str) -> Reader:
    """A value that passes a test; the error for any other says what it must be."""

    def read(value: Any, where: str) -> Any:
        if not is_right(value):
            raise FieldError(f"{where} is {shown(value)}: it must be {must}.")
        return value

    return read


def word(*known: str) -> Reader:
    """One of these words."""
    return such(lambda value: isinstance(value, str) and value in known, f"one of {', '.join(known)}")


def whole(least: int, most: int) -> Reader:
    """A whole number of JSON between two bounds."""
    return such(lambda value: _is_whole(value, least, most), f"a whole number from {least:,} to {most:,}")


def digits(most: int) -> Reader:
    """A whole number, 0 or more, of at most `most` digits, written as a string."""
    form = re.compile(rf"0|[1-9][0-9]{{0,{most - 1}}}", re.ASCII)
    read = such(lambda value: _is_of(form, value), f"a string of digits, at most {most}")
    return lambda value, where: int(read(value, where))


def matching(pattern: str) -> Reader:
    """Text that matches a pattern."""
    form = re.compile(pattern, re.ASCII)

    def read(value: Any, where: str) -> str:
        if not _is_of(form, value):
            raise FieldError(f"{where} is {shown(value)}, which is not of the form {pattern}.")
        return str(value)

    return read


def _is_of(form: re.Pattern[str], value: Any) -> bool:
    return isinstance(value, str) and form.fullmatch(value) is not None


def _is_whole(value: Any, least: int, most: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


# Readers of objects and lists ----------------------------------------------------------------------------


def below(where: str, name: str) -> str:
    """The place of a field of an object; the document itself has no name."""
    return f"{where}.{name}" if where else name


def fields(value: Any, where: str, names: Iterable[str]) -> Document:
    """An object with exactly these fields."""
    found = mapping(value, where)
    of = f" of {where}" if where else ""
    known = tuple(names)
    for name in known:
        if name not in found:
            raise FieldError(f"the field {name!r}{of} is missing.")
    for name in found:
        if name not in known:
            raise FieldError(f"the field {shown(name)}{of} is unknown.")
    return found


def mapping(value: Any, where: str) -> Document:
    """An object with any fields."""
    if not isinstance(value, dict):
        raise FieldError(f"{where or 'the document'} is {shown(value)}, not a JSON object.")
    return value


def listed(value: Any, where: str, length: int | None = None) -> list[Any]:
    """A list, of this length if one is given."""
    if not isinstance(value, list):
        raise FieldError(f"{where} is {shown(value)}: it must be a list.")
    if length is not None and len(value) != length:
        raise FieldError(f"{where} has {len(value)} entries: it must have {length}.")
    return value


def repeated(names: Iterable[str]) -> str | None:
    """The first name that appears a second time."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None


# Readers of values ---------------------------------------------------------------------------------------


natural = digits(100)
flag: Callable[[Any, str], bool] = such(lambda value: isinstance(value, bool), "true or false")
string: Callable[[Any, str], str] = such(lambda value: isinstance(value, str), "text")  # or half a surrogate pair
_integer = such(lambda value: _is_of(_INTEGER, value), "an integer, written as a string of digits")
_count = such(lambda value: _is_whole(value, 0, COUNT_LIMIT), "a count")


def integer(value: Any, where: str) -> int:
    """An integer of 64 bits, written as a string of digits."""
    found = int(_integer(value, where))
    if not -(2**63) <= found < 2**63:
        raise FieldError(f"{where} is {value}: it does not fit 64 bits.")
    return found


def long_integer(value: Any, where: str) -> int:
    """An integer of any length up to four million bits, written as a string: long ones are hexadecimal."""
    if _is_of(_LONG, value):
        return int(value)
    if _is_of(_HEX, value):
        return int(value, 16)
    raise FieldError(f"{where} is {shown(value)}: it must be an integer, written as a string.")


def written_integer(value: int) -> str:
    """An integer as `long_integer` reads it."""
    if value.bit_length() > 4 * MOST_HEX_DIGITS:
        raise FieldError(f"an integer of {value.bit_length():,} bits is too long for a file.")
    return str(value) if value.bit_length() < _LONGEST_DECIMAL else hex(value)


def number(value: Any, where: str) -> float:
    """A float, or an integer that a float holds exactly."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise FieldError(f"{where} is {shown(value)}: it must be a number.")
    if (isinstance(value, int) and abs(value) > COUNT_LIMIT) or not math.isfinite(value):
        raise FieldError(f"{where} is {shown(value)}: it does not fit a double without rounding.")
    return float(value)


def positive(value: Any, where: str) -> float:
    """A number above 0."""
    return float(such(lambda found: found > 0, "above 0")(number(value, where), where))


def not_negative(value: Any, where: str) -> float:
    """A number that is 0 or more."""
    return float(such(lambda found: found >= 0, "0 or more")(number(value, where), where))


def count(value: Any, where: str, most: int = COUNT_LIMIT) -> int:
    """A number of things."""
    if _count(value, where) > most:
        raise FieldError(f"{where} is {value}: it can be {most} at most.")
    return int(value)


def text(value: Any, where: str) -> str:
    """Text that can be encoded."""
    if _SURROGATE.search(string(value, where)):
        raise FieldError(f"{where} is {shown(value)}: half a surrogate pair is not text.")
    return str(value)


def names(value: Any, where: str) -> tuple[str, ...]:
    """A list of names, no two the same."""
    found: tuple[str, ...] = each(text)(value, where)
    if len(set(found)) < len(found):
        raise FieldError(f"the column {shown(repeated(found))} appears twice.")
    return found


# Readers of arrays ---------------------------------------------------------------------------------------


def floats(value: Any, where: str, length: int | None = None) -> Floats:
    """A list of numbers as an array."""
    items = listed(value, where, length)
    if all(type(item) is float for item in items):  # the usual case, at the speed of NumPy
        array = np.array(items, np.float64)
        if np.isfinite(array).all():
            return array
    return np.array([number(item, f"{where}[{j}]") for j, item in enumerate(items)], np.float64)


def matrix(value: Any, where: str, rows: int, columns: int) -> Floats:
    """A list of rows as an array of that shape."""
    lines = listed(value, where, rows)
    array = [floats(line, f"{where}[{i}]", columns) for i, line in enumerate(lines)]
    return np.stack(array) if array else np.empty((0, columns))


def counts(value: Any, where: str, most: int = COUNT_LIMIT, length: int | None = None) -> Ints:
    """A list of counts or positions, none above `most`, as an array."""
    items = listed(value, where, length)
    if all(type(item) is int and 0 <= item <= min(most, COUNT_LIMIT) for item in items):
        return np.array(items, np.int64)
    return np.array([count(item, f"{where}[{j}]", most) for j, item in enumerate(items)], np.int64)


# Labels --------------------------------------------------------------------------------------------------

LABELS: Mapping[str, tuple[type, Reader]] = {  # bool first: a bool is also an int
    "boolean": (bool, flag),
    "integer": (int, integer),
    "float": (float, number),
    "text": (str, text),
}
