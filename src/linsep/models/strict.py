"""A document as JSON text and back, and what its fields may hold: anything else is refused with its name.

`write` and `read` are the one place where a document becomes text. Integers that data decide (weights, labels,
seeds) are strings of digits, because many JSON readers round what lies beyond 2^53; counts and positions are
numbers below that; floats are written with the digits that give the same float back. A repeated, unknown or missing
field, a NaN or a value of the wrong type is a ModelError: nothing is guessed.
"""

import json
import math
import re
from collections.abc import Collection, Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep import sealed
from linsep.errors import ModelError, shown

FORMAT, VERSION = "linsep-model", 1
COUNT_LIMIT = 1 << 53
_DIGITS = re.compile(r"-?(0|[1-9][0-9]{0,18})", re.ASCII)
_NATURAL = re.compile(r"0|[1-9][0-9]{0,99}", re.ASCII)

Document = dict[str, Any]
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def write(document: Document) -> str:
    """A document as text, one field a line, with the format and its version first and a checksum last."""
    whole = {"format": FORMAT, "version": VERSION, **document}
    try:  # each field by itself: the encoder in C knows no indentation
        lines = [
            f' "{name}": {json.dumps(value, allow_nan=False, ensure_ascii=False)}' for name, value in whole.items()
        ]
    except ValueError as error:
        raise ModelError(f"the model holds a number that is not finite, which no file keeps: {error}.") from error
    try:
        return sealed.seal("{\n" + ",\n".join(lines) + "\n}\n")
    except UnicodeEncodeError as error:
        raise ModelError("a name or a label holds half a surrogate pair, which is not text.") from error


def read(text: str) -> Document:
    """The document of a text, without the format and the version, which are those known here."""
    document = _object(_parse(text), "the model")
    if document.get("format") != FORMAT:
        raise ModelError(f"format is {shown(document.get('format'))}, not {FORMAT!r}: this is not a linsep model.")
    if document.get("version") != VERSION or isinstance(document["version"], (bool, float)):
        version = shown(document.get("version"))
        raise ModelError(f"version is {version}: this linsep reads version {VERSION}. Use a newer linsep.")
    if reason := sealed.fault(text):
        raise ModelError(f"the model is not whole: {reason}.")
    return {name: value for name, value in document.items() if name not in ("format", "version", sealed.FIELD)}


def _parse(text: str) -> Any:
    def no_repeats(pairs: list[tuple[str, Any]]) -> Document:
        found = dict(pairs)
        if len(found) < len(pairs):
            raise ModelError(f"the field {shown(repeated(name for name, _ in pairs))} is there twice.")
        return found

    def no_constants(name: str) -> Any:
        raise ModelError(f"it holds {name}, which is not a number of JSON.")

    try:
        return json.loads(text, object_pairs_hook=no_repeats, parse_constant=no_constants)
    except RecursionError as error:
        raise ModelError("not a linsep model: it is nested too deep.") from error
    except ModelError:
        raise
    except ValueError as error:
        raise ModelError(f"not a linsep model: {error}.") from error


def repeated(names: Iterable[str]) -> str | None:
    """The first name that was there before."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None


def fields(value: Any, where: str, names: Sequence[str]) -> Document:
    """An object with exactly these fields."""
    found = _object(value, where)
    for name in names:
        if name not in found:
            raise ModelError(f"the field {name!r} of {where} is missing.")
    for name in found:
        if name not in names:
            raise ModelError(f"the field {shown(name)} of {where} is unknown.")
    return found


def _object(value: Any, where: str) -> Document:
    if not isinstance(value, dict):
        raise ModelError(f"{where} is {shown(value)}, not a JSON object.")
    return value


def one_of(value: Any, where: str, known: Collection[str]) -> str:
    """One of the words known."""
    if not isinstance(value, str) or value not in known:
        raise ModelError(f"{where} is {shown(value)}: it must be one of {', '.join(known)}.")
    return value


def integer(value: Any, where: str) -> int:
    """An integer of 64 bits, written as a string of digits."""
    if not isinstance(value, str) or not _DIGITS.fullmatch(value):
        raise ModelError(f"{where} is {shown(value)}: it must be an integer, written as a string of digits.")
    if not -(2**63) <= int(value) < 2**63:
        raise ModelError(f"{where} is {value}: it does not fit 64 bits.")
    return int(value)


def natural(value: Any, where: str) -> int:
    """A whole number, 0 or more and of any length up to 100 digits, written as a string."""
    if not isinstance(value, str) or not _NATURAL.fullmatch(value):
        raise ModelError(f"{where} is {shown(value)}: it must be a string of digits.")
    return int(value)


def number(value: Any, where: str) -> float:
    """A float, or an integer that one holds."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ModelError(f"{where} is {shown(value)}: it must be a number.")
    if (isinstance(value, int) and abs(value) > COUNT_LIMIT) or not math.isfinite(value):
        raise ModelError(f"{where} is {shown(value)}: it does not fit a double without rounding.")
    return float(value)


def count(value: Any, where: str, most: int = COUNT_LIMIT) -> int:
    """A number of things."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= COUNT_LIMIT:
        raise ModelError(f"{where} is {shown(value)}: it must be a count.")
    if value > most:
        raise ModelError(f"{where} is {value}: it can be {most} at most.")
    return value


def flag(value: Any, where: str) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise ModelError(f"{where} is {shown(value)}: it must be true or false.")
    return value


def text(value: Any, where: str) -> str:
    """Text that can be encoded."""
    if not isinstance(value, str):
        raise ModelError(f"{where} is {shown(value)}: it must be text.")
    if any("\ud800" <= character <= "\udfff" for character in value):
        raise ModelError(f"{where} is {shown(value)}: half a surrogate pair is not text.")
    return value


def listed(value: Any, where: str, length: int | None = None) -> list[Any]:
    """A list, of a length where one is given."""
    if not isinstance(value, list):
        raise ModelError(f"{where} is {shown(value)}: it must be a list.")
    if length is not None and len(value) != length:
        raise ModelError(f"{where} has {len(value)} entries: {length} belong there.")
    return value


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


def counts(value: Any, where: str, most: int, length: int | None = None) -> Ints:
    """A list of counts or positions, none above `most`, as an array."""
    items = listed(value, where, length)
    if all(type(item) is int and 0 <= item <= min(most, COUNT_LIMIT) for item in items):
        return np.array(items, np.int64)
    return np.array([count(item, f"{where}[{j}]", most) for j, item in enumerate(items)], np.int64)


def names(value: Any, where: str) -> tuple[str, ...]:
    """A list of names, no two the same."""
    found = tuple(text(name, f"{where}[{j}]") for j, name in enumerate(listed(value, where)))
    if len(set(found)) < len(found):
        raise ModelError(f"the column {shown(repeated(found))} is there twice.")
    return found
