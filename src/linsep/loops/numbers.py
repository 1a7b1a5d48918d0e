"""Properties of numbers, found in one read: whether all are finite, all are integers, or have only two values."""

from typing import Any

import numpy as np

from linsep.loops.compiler import njit

STRETCH = 1024  # doubles between two looks at what was found: long enough for vectors, short enough to stop early
NOT_WHOLE = -1.0


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def is_finite(values: Any) -> bool:
    """Whether no value is NaN or infinity: 0·x is 0 for every other number."""
    total = 0.0
    for k in range(values.size):
        total += 0.0 * values[k]
    return bool(total == 0.0)


@njit(cache=True, nogil=True)
def is_below(values: Any, bound: float) -> bool:
    """Whether |value| < bound for all of them, and so none is NaN."""
    for start in range(0, values.size, STRETCH):
        stretch = values[start : start + STRETCH]
        below = 0
        for k in range(stretch.size):
            below += abs(stretch[k]) < bound
        if below < stretch.size:
            return False
    return True


@njit(cache=True, nogil=True)
def mark_first(values: Any, first: Any, second: Any, is_first: Any) -> bool:
    """Mark the values that are the first of two numbers; returns whether all others are the second."""
    known = 0
    for k in range(values.size):
        is_first[k] = values[k] == first
        known += (values[k] == first) | (values[k] == second)
    return bool(known == values.size)


@njit(cache=True, nogil=True)
def largest_whole(values: Any) -> float:
    """The largest |value| where all of them, which are finite, are integers; else NOT_WHOLE."""
    largest = 0.0
    for start in range(0, values.size, STRETCH):
        odd = 0
        for k in range(start, min(start + STRETCH, values.size)):
            odd |= values[k] != np.floor(values[k])
            largest = max(largest, abs(values[k]))
        if odd:
            return NOT_WHOLE
    return largest
