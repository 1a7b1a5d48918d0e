"""Questions about the values of a column: for few values NumPy answers, for many a compiled loop that stops early."""

import re
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep import exact, loops
from linsep.tables import exact_numbers

EXACT = float(exact_numbers.EXACT)  # as Arrow and the loops need it
NOT_WHOLE = -1.0
NOT_ZERO = "[^eE]*[1-9]"  # the beginning of a number that is not 0
INTEGER = re.compile(r"[ \t]*[+-]?[0-9]+[ \t]*")
NUMBER = re.compile(r"[ \t]*[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?[ \t]*")
NOT_FINITE = re.compile(r"[ \t]*[+-]?(nan|inf|infinity)[ \t]*", re.IGNORECASE)
SMALL, LARGE_E = re.compile(rb"e-[0-9]{3}"), re.compile(rb"E-[0-9]{3}")  # apart: a search by first letter
MANY_ZEROS = b"0" * 200  # even with an exponent of two digits, this is far from the smallest double

Array = npt.NDArray[Any]


def numbers_of(column: Any) -> Array:
    """The numbers of an Arrow column without nulls. (Arrow's own conversion imports pandas, taking half a second.)"""
    kind = np.dtype(column.type.to_pandas_dtype())
    chunks = getattr(column, "chunks", [column])
    parts = [np.frombuffer(c.buffers()[1], kind, len(c), c.offset * kind.itemsize) for c in chunks if len(c)]
    return parts[0] if len(parts) == 1 else np.concatenate([np.zeros(0, kind), *parts])


def vanishes(number: str) -> bool:
    """Whether a number is not 0 but its nearest double is."""
    return float(number) == 0.0 and re.match(NOT_ZERO, number) is not None


def may_vanish(text: bytes) -> bool:
    """Whether the text may hold a number that is not 0 but becomes 0 as a double: a hint from a quick search."""
    if b"e-" in text and SMALL.search(text):
        return True
    return (b"E-" in text and LARGE_E.search(text) is not None) or MANY_ZEROS in text


@cache
def no_text() -> Any:
    """The empty text as an Arrow scalar, made without converting from Python, which imports pandas."""
    import pyarrow as pa

    return pa.Array.from_buffers(pa.string(), 1, [None, pa.py_buffer(bytes(8)), pa.py_buffer(b"")])[0]


def first_long(values: Array) -> tuple[int, int] | None:
    """The row and column of the first integer that a double would round, if there is one."""
    found = np.argwhere((values > exact_numbers.EXACT) | (values < -exact_numbers.EXACT))
    return (int(found[0, 0]), int(found[0, 1])) if len(found) else None


def is_finite(values: Array) -> bool:
    """Whether no value is NaN or infinity."""
    if values.size > exact.FEW_CELLS:
        return bool(loops.numbers.is_finite(values))
    return bool(np.isfinite(values).all())


def is_below(values: Array, bound: float) -> bool:
    """Whether |value| < bound for all values, so that none is NaN."""
    if values.size > exact.FEW_CELLS:
        return bool(loops.numbers.is_below(values, bound))
    with np.errstate(all="ignore"):
        return bool((np.abs(values) < bound).all()) and not (values == np.iinfo(np.int64).min).any()


def largest_whole(values: Array) -> float:
    """The largest |value| of finite values if all are integers, else NOT_WHOLE."""
    if values.size > exact.FEW_CELLS:
        return float(loops.numbers.largest_whole(values))
    return float(np.abs(values).max(initial=0.0)) if (values == np.floor(values)).all() else NOT_WHOLE


def mark_first(values: Array, first: Any, second: Any, is_first: npt.NDArray[np.bool_]) -> bool:
    """Mark the values that equal the first of two numbers; return whether all others equal the second."""
    if values.size > exact.FEW_CELLS:
        return bool(loops.numbers.mark_first(values, first, second, is_first))
    np.equal(values, first, out=is_first)
    return bool((is_first | (values == second)).all())
