"""Checks of options: each function returns the value as Python's own type, or refuses it by the name of the option."""

import math
import numbers
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from linsep.errors import ArgumentError, shown

MOST = 2**63 - 1


def flag(name: str, value: Any) -> bool:
    """A boolean, NumPy's included."""
    if not isinstance(value, (bool, np.bool_)):
        raise refused(name, value, "True or False")
    return bool(value)


def seconds(name: str, value: Any) -> float | None:
    """A number of seconds, or None for no limit."""
    if value is not None and not (_is_real(value) and value >= 0):
        raise refused(name, value, "a number of seconds, or None")
    return value  # type: ignore[no-any-return]


def positive(name: str, value: Any) -> float:
    """A finite number above 0, not rounded to 0 or infinity."""
    if not (_is_real(value) and 0 < _double(value) < math.inf):
        raise refused(name, value, "a finite number above 0")
    return float(value)


def number(name: str, value: Any) -> float:
    """A finite number, not rounded to infinity."""
    if not (_is_real(value) and math.isfinite(_double(value))):
        raise refused(name, value, "a finite number")
    return float(value)


def size(name: str, value: Any) -> float:
    """A finite number, 0 or above, not rounded to 0 or infinity."""
    if not (_is_real(value) and value >= 0 and _double(value) < math.inf and (_double(value) > 0) == (value > 0)):
        raise refused(name, value, "a finite number, 0 or more")
    return float(value)


def part(name: str, value: Any) -> float:
    """A number between 0 and 1."""
    if not (_is_real(value) and 0 < _double(value) < 1):
        raise refused(name, value, "between 0 and 1")
    return float(value)


def cap(name: str, value: Any) -> int:
    """A whole number, at least 1; for None the largest 64-bit integer."""
    if value is None:
        return MOST
    if not (_is_whole(value) and value >= 1):
        raise refused(name, value, "a whole number of at least 1, or None for no cap")
    return int(value)


def whole(name: str, value: Any, least: int) -> int:
    """A whole number, at least `least`."""
    if not (_is_whole(value) and value >= least):
        raise refused(name, value, f"a whole number of at least {least}")
    return int(value)


def seed(name: str, value: Any) -> Any:
    """A whole number, at least 0, a generator of random numbers, or None for different numbers each time."""
    is_ready = isinstance(value, (np.random.Generator, np.random.BitGenerator, np.random.SeedSequence))
    if value is None or is_ready or (_is_whole(value) and value >= 0):
        return value
    raise refused(name, value, "a whole number of at least 0, or None")


def names(value: Any, n_columns: int) -> tuple[str, ...]:
    """One name for each column, all of them text."""
    if isinstance(value, str) or not isinstance(value, (Sequence, np.ndarray)):
        raise ArgumentError(f"The names are {shown(value)}: they must be a list of text, one for each column.")
    wrong = next((name for name in value if not isinstance(name, str)), None)
    if wrong is not None:
        raise ArgumentError(f"A column is called {shown(wrong)}, which is not text: column names must be text.")
    if len(value) != n_columns:
        raise ArgumentError(f"{len(value)} names for {n_columns} columns: give one for each.")
    return tuple(map(str, value))


def one_of(name: str, value: Any, known: Collection[str]) -> None:
    """Refuse an option that is not one of the words known."""
    if not isinstance(value, str) or value not in known:
        raise refused(name, value, f"one of {', '.join(known)}")


def refused(name: str, value: Any, must_be: str) -> ArgumentError:
    """The error of an option whose value is not allowed."""
    return ArgumentError(f"{name} is {shown(value)}: it must be {must_be}.")


def _is_real(value: Any) -> bool:
    """Whether a value is a real number, and not NaN."""
    is_number = isinstance(value, numbers.Real) and not isinstance(value, bool)
    return is_number and not (isinstance(value, (float, np.floating)) and math.isnan(value))


def _double(value: Any) -> float:
    """The nearest double; infinity for a number beyond the largest."""
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _is_whole(value: Any) -> bool:
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)
