"""Columns of doubles as Arrow holds them, scored without copying them into rows.

Scores are made a strip of rows at a time, column after column, eight rows in one instruction. Each is summed in the
order of `lanes.py`: lane k adds up the products k, k + 8, k + 16, ..., and the lanes are added by the same tree. So a
score is the same to the last bit, however its row was stored.

Most rows are plain: their score is far from 0 and not among the lowest. They are counted here, many at a time. The
others are named, and the scan of `walks.py` looks at those.
"""

from typing import Any

import numpy as np
from numba import carray, njit

from linsep.kernels.dense import plain_norm2
from linsep.kernels.interleave import as_pointer
from linsep.kernels.lanes import LANES
from linsep.kernels.walks import TINY, UNIT, norm2_of

HEIGHT = 256  # rows of a strip: its sums stay in the first cache
LARGEST = np.finfo(np.float64).max


@njit(cache=True, nogil=True)
def write_scores(addresses: Any, w: Any, scores: Any) -> None:
    """The products x_i·w of all rows."""
    sums = np.empty((LANES, HEIGHT))
    for start in range(0, scores.size, HEIGHT):
        score_strip(addresses, start, w, sums, scores[start : start + HEIGHT])


@njit(cache=True, nogil=True, fastmath={"contract"})
def score_strip(addresses: Any, start: int, w: Any, sums: Any, scores: Any) -> None:
    """The products x_i·w of the rows from `start` on, summed in the order of `lanes.row_dot`."""
    a, b, c, d, e, f, g, h = sums[0], sums[1], sums[2], sums[3], sums[4], sums[5], sums[6], sums[7]
    sums[:] = 0.0
    for j in range(addresses.size):
        column = carray(as_pointer(addresses[j] + np.uint64(8 * start)), scores.size, np.float64)
        lane, weight = sums[j % LANES], w[j]
        for k in range(scores.size):
            lane[k] += column[k] * weight
    for k in range(scores.size):
        scores[k] = ((a[k] + e[k]) + (b[k] + f[k])) + ((c[k] + g[k]) + (d[k] + h[k]))


@njit(cache=True, nogil=True, fastmath={"contract"})
def write_lengths(addresses: Any, lengths2: Any) -> None:
    """The squared length of each row, to within (columns + 1) roundings."""
    for start in range(0, lengths2.size, HEIGHT):
        count = min(HEIGHT, lengths2.size - start)
        strip = lengths2[start : start + count]
        strip[:] = 0.0
        for j in range(addresses.size):
            column = carray(as_pointer(addresses[j] + np.uint64(8 * start)), count, np.float64)
            for k in range(count):
                strip[k] += column[k] * column[k]


@njit(cache=True, nogil=True)
def largest_norm2(values: Any) -> float:
    """The largest |x|² of these rows, summed as a scan of rows does; 0 of none."""
    longest = 0.0
    for i in range(values.shape[0]):
        longest = max(longest, float(plain_norm2(values, i)))
    return longest


@njit(cache=True, nogil=True)
def sure_beyond(w: Any, b: float, longest2: float) -> float:
    """What |score| must exceed for its sign to be certain, in rows of at most this squared length.

    It is what `walks.scan` asks for, and a thousandth more.
    """
    terms = w.size + 4
    weights_norm = np.sqrt(norm2_of(w)) + abs(b)
    if not 1e-140 < weights_norm < 1e140:  # its square may have under- or overflowed
        return np.inf
    g = terms * UNIT / (1.0 - terms * UNIT)
    return float(1.001 * (2.0 * g * weights_norm * np.sqrt(longest2 + 1.0) + 2 * terms * TINY))


@njit(cache=True, nogil=True)
def count_plain(
    addresses: Any, y: Any, w: Any, b: float, near: float, ceiling: float, others: Any
) -> tuple[int, float, float, int]:
    """Count the rows with near < |s| < inf and s >= ceiling, where s is y·(w·x + b); the rest goes to `others`.

    Returns how many of them have a negative s, the smallest s of class -1 and of class +1, and how many others
    there are.
    """
    wrong, minus, plus, left = 0, np.inf, np.inf, 0
    strip, sums = np.empty(HEIGHT), np.empty((LANES, HEIGHT))
    for start in range(0, y.size, HEIGHT):
        stop = min(start + HEIGHT, y.size)
        signed, of = strip[: stop - start], y[start:stop]
        score_strip(addresses, start, w, sums, signed)
        odd, negative = sign_strip(of, b, near, ceiling, signed)
        if odd == 0:
            wrong += negative
            lows = lowest(signed, of)
            minus, plus = min(minus, lows[0]), min(plus, lows[1])
            continue
        for k in range(stop - start):
            s = signed[k]
            if not is_plain(s, near, ceiling):
                others[left] = start + k
                left += 1
                continue
            wrong += s < 0
            if of[k] < 0:
                minus = min(minus, s)
            else:
                plus = min(plus, s)
    return wrong, minus, plus, left


@njit(cache=True, nogil=True, inline="always")
def is_plain(s: float, near: float, ceiling: float) -> Any:
    """Whether the sign is certain and the score not wanted; NaN is not plain."""
    return (near < abs(s)) & (abs(s) <= LARGEST) & (s >= ceiling)


@njit(cache=True, nogil=True)
def sign_strip(y: Any, b: float, near: float, ceiling: float, scores: Any) -> tuple[int, int]:
    """Turn scores into y·(score + b); returns how many are not plain, and how many are negative."""
    plain, negative = 0, 0
    for k in range(scores.size):
        s = y[k] * (scores[k] + b)
        scores[k] = s
        plain += is_plain(s, near, ceiling)
        negative += s < 0
    return scores.size - plain, negative


@njit(cache=True, nogil=True, fastmath={"nnan", "nsz"})
def lowest(signed: Any, y: Any) -> tuple[float, float]:
    """The smallest of each class, all of them finite."""
    minus, plus = np.inf, np.inf
    for k in range(signed.size):
        of_minus = signed[k] if y[k] < 0 else np.inf
        of_plus = np.inf if y[k] < 0 else signed[k]
        minus = of_minus if of_minus < minus else minus
        plus = of_plus if of_plus < plus else plus
    return minus, plus
