"""The walk that does not learn: `scan` scores every row with fixed weights. (The walk that learns is in `sweeps.py`.)

It is written once, with the verbs of `row_verbs.py`, and so runs on dense and on sparse rows alike.
It finds bad numbers at no cost: a row that holds NaN or infinity has no finite score with any weights
(0·inf is NaN), so only a row whose score is not finite must be read again.
"""

from typing import Any, NamedTuple

import numpy as np

from linsep.loops import csr, dense  # noqa: F401  (they teach Numba the verbs of row_verbs.py)
from linsep.loops.compiler import njit
from linsep.loops.row_verbs import dot, follow, norm2, reach, stirred

UNIT = 2.0**-53  # the relative rounding error of one operation
TINY = 2.0**-1074  # the smallest double: the absolute error of a product that underflows
ALL_FINE = -1
UNKNOWN = -1.0


class Found(NamedTuple):
    """What a scan records besides its counts: the worst rows so far, and a mark on each doubtful row."""

    worst: Any  # row positions, as many places as rows wanted: a heap, the largest (score, position) first
    worst_scores: Any
    doubtful: Any  # one byte per row


@njit(cache=True, nogil=True)
def scan(
    table: Any,
    y: Any,
    start: int,
    stop: int,
    run: int,
    period: int,
    w: Any,
    b: float,
    longest2: float,
    wanted: int,
    ceiling: float,
    found: Found,
) -> tuple[int, int, float, float, float, int, int]:
    """Score rows start..stop under fixed weights, of each `period` the first `run`.

    `longest2` is the largest |x|² if it is known, else UNKNOWN. Of the worst rows only those below the `ceiling` are
    wanted: infinity, or what is known from other rows.

    Returns mistakes, those of them that are certain in spite of rounding, the smallest y·score of class -1 and of
    class +1, the largest |x|², how many worst rows were written, and the first row whose score is not finite (or
    ALL_FINE).
    """
    # |fl(s) - s| <= g·Σ|w_j x_j| + underflow for any order of summation (Higham 2002, §3.1). The spare terms
    # pay for the bias and for integers, in the rows or the weights, that had to be rounded to doubles.
    terms = w.size + 4
    g = terms * UNIT / (1.0 - terms * UNIT)
    underflow = 2 * terms * TINY
    weights_norm = length_of(w, b)
    mistakes, certain, longest = 0, 0, longest2
    lowest = np.full(2, np.inf)  # by class: places to write to, since a branch on labels is often guessed wrong
    near = 2.0 * g * weights_norm * np.sqrt(longest2 + 1.0) + underflow
    written, threshold, bad = 0, ceiling, ALL_FINE
    for first in range(start, stop, period):
        for i in range(first, min(first + run, stop)):
            follow(table, i)
            score = y[i] * (dot(table, i, w) + b)
            if not np.isfinite(score):
                if bad == ALL_FINE:
                    bad = i
                found.doubtful[i - start] = 1
                continue
            if longest2 == UNKNOWN:
                length2 = norm2(table, i)
                longest = max(longest, length2)
                near = 2.0 * g * weights_norm * np.sqrt(length2 + 1.0) + underflow
            # Cauchy-Schwarz first (the lengths are at hand), the true sum only for rows near the plane.
            if abs(score) <= near and abs(score) <= 1.001 * g * (reach(table, i, w) + abs(b)) + underflow:
                found.doubtful[i - start] = 1
            elif score < 0:
                certain += 1
            if score <= 0:
                mistakes += 1
            side = (y[i] + 1) >> 1
            lowest[side] = min(lowest[side], score)
            if score < threshold and wanted > 0:
                if written < wanted:
                    rise(found, written, score, i)
                    written += 1
                else:
                    sink(found, written, score, i)
                if written == wanted:
                    threshold = found.worst_scores[0]
    return mistakes, certain, lowest[0], lowest[1], longest, written, bad


@njit(cache=True, nogil=True)
def first_not_finite(table: Any, zeros: Any, start: int, stop: int) -> int:
    """The first row that holds NaN or infinity, or ALL_FINE: 0·x is 0 for every other number."""
    for i in range(start, stop):
        follow(table, i)
        if not np.isfinite(dot(table, i, zeros)):
            return i
    return ALL_FINE


@njit(cache=True, nogil=True)
def rise(found: Found, place: int, score: float, row: int) -> None:
    """Put a row into the next place of the heap and let it rise; of equal scores the later row is the larger."""
    while place > 0 and found.worst_scores[(place - 1) >> 1] <= score:
        above = (place - 1) >> 1
        found.worst[place], found.worst_scores[place] = found.worst[above], found.worst_scores[above]
        place = above
    found.worst[place], found.worst_scores[place] = row, score


@njit(cache=True, nogil=True)
def hash_rows(table: Any, multipliers: Any, sign: float, hashes: Any) -> None:
    """A hash of each row times a sign: rows of the same values have the same, whatever their zeros look like."""
    for i in range(hashes.size):
        follow(table, i)
        hashes[i] = stirred(table, i, multipliers, sign)


@njit(cache=True, nogil=True)
def sink(found: Found, size: int, score: float, row: int) -> None:
    """Put a row into the place of the largest, and let it sink."""
    place, below = 0, 1
    while below < size:
        if below + 1 < size and is_larger(found, below + 1, below):
            below += 1
        if found.worst_scores[below] <= score:
            break
        found.worst[place], found.worst_scores[place] = found.worst[below], found.worst_scores[below]
        place, below = below, 2 * below + 1
    found.worst[place], found.worst_scores[place] = row, score


@njit(cache=True, nogil=True)
def is_larger(found: Found, a: int, b: int) -> Any:
    """Whether the row at place a leaves before the one at place b."""
    p, q = found.worst_scores[a], found.worst_scores[b]
    return p > q or (p == q and found.worst[a] > found.worst[b])


@njit(cache=True, nogil=True)
def length_of(w: Any, b: float) -> float:
    """An upper bound on the length of weights and bias; infinite if squares leave the range of doubles."""
    total = 0.0
    for j in range(w.size):
        total += w[j] * w[j]
    length: float = np.sqrt(total) + abs(b)
    return length if 1e-140 < length < 1e140 else np.inf


@njit(cache=True, nogil=True)
def nearest_certain(w: Any, b: float, longest2: float) -> float:
    """The size beyond which a score has a certain sign, if |x|² <= longest2 (Cauchy and Schwarz)."""
    terms = w.size + 4
    g = terms * UNIT / (1.0 - terms * UNIT)
    near: float = 2.001 * g * length_of(w, b) * np.sqrt(longest2 + 1.0) + 2 * terms * TINY
    return near


@njit(cache=True, nogil=True)
def longest_row2(table: Any, start: int, stop: int) -> float:
    """The largest |x|² of rows start..stop."""
    most = 0.0
    for i in range(start, stop):
        most = max(most, norm2(table, i))
    return most
