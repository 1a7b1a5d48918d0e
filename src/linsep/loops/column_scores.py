"""Columns of doubles as Arrow holds them, scored without copying them into rows.

Scores are computed a strip of rows at a time, eight rows in one instruction. Each is summed in the order of `simd.py`:
lane k adds up the products k, k + 8, k + 16, ..., and the lanes are added by the same tree. So a score is the same to
the last bit, however its row is stored.

Most rows are plain: their score is far from 0 and not among the lowest. They are counted here, many at a time. The
others are listed, and the scan of `scans.py` examines them.
"""

from typing import Any

import numpy as np
from numba import carray, types
from numba.extending import intrinsic

from linsep.loops.compiler import njit
from linsep.loops.layouts import Dense
from linsep.loops.scans import longest_row2, nearest_certain
from linsep.loops.simd import LANES
from linsep.loops.transpose import as_pointer

HEIGHT = 256  # rows of a strip: its sums stay in the first cache
FEW = 2 * LANES  # columns that fit the registers
LARGEST = np.finfo(np.float64).max


@intrinsic
def add_product(typing_context: Any, total: Any, x: Any, w: Any) -> Any:
    """total + x·w, rounded once where the processor can: as `simd.row_dot` adds."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        product = builder.fmul(args[1], args[2], flags=("contract",))
        return builder.fadd(args[0], product, flags=("contract",))

    return types.float64(types.float64, types.float64, types.float64), emit


@njit(cache=True, nogil=True)
def write_scores(addresses: Any, w: Any, scores: Any) -> None:
    """The products x_i·w of all rows."""
    columns, weights, sums = room_for(addresses, w)
    for start in range(0, scores.size, HEIGHT):
        score_strip(columns, start, weights, sums, scores[start : start + HEIGHT])


@njit(cache=True, nogil=True)
def room_for(addresses: Any, w: Any) -> tuple[Any, Any, Any]:
    """What `score_strip` needs: FEW columns at least, the others with a weight of 0, and room for the sums of more."""
    missing = max(0, FEW - addresses.size)
    columns = np.concatenate((addresses, np.full(missing, addresses[0])))
    weights = np.concatenate((w, np.zeros(missing)))
    return columns, weights, np.empty((LANES if missing == 0 else 0, HEIGHT))


@njit(cache=True, nogil=True)
def score_strip(addresses: Any, start: int, w: Any, sums: Any, scores: Any) -> None:
    """The products x_i·w of the rows from `start` on, summed in the order of `simd.row_dot`."""
    if addresses.size <= FEW:
        score_few(addresses, start, w, scores)
    else:
        score_many(addresses, start, w, sums, scores)


@njit(cache=True, nogil=True)
def score_few(addresses: Any, start: int, w: Any, scores: Any) -> None:
    """Sixteen columns at a time: their sums never leave the processor, and the memory sees steady streams."""
    size = scores.size
    a = piece(addresses, start, 0, size)
    b = piece(addresses, start, 1, size)
    c = piece(addresses, start, 2, size)
    d = piece(addresses, start, 3, size)
    e = piece(addresses, start, 4, size)
    f = piece(addresses, start, 5, size)
    g = piece(addresses, start, 6, size)
    h = piece(addresses, start, 7, size)
    i = piece(addresses, start, 8, size)
    j = piece(addresses, start, 9, size)
    k = piece(addresses, start, 10, size)
    q = piece(addresses, start, 11, size)
    m = piece(addresses, start, 12, size)
    n = piece(addresses, start, 13, size)
    o = piece(addresses, start, 14, size)
    p = piece(addresses, start, 15, size)
    for row in range(size):
        s0 = add_product(add_product(0.0, a[row], w[0]), i[row], w[8])
        s1 = add_product(add_product(0.0, b[row], w[1]), j[row], w[9])
        s2 = add_product(add_product(0.0, c[row], w[2]), k[row], w[10])
        s3 = add_product(add_product(0.0, d[row], w[3]), q[row], w[11])
        s4 = add_product(add_product(0.0, e[row], w[4]), m[row], w[12])
        s5 = add_product(add_product(0.0, f[row], w[5]), n[row], w[13])
        s6 = add_product(add_product(0.0, g[row], w[6]), o[row], w[14])
        s7 = add_product(add_product(0.0, h[row], w[7]), p[row], w[15])
        scores[row] = ((s0 + s4) + (s1 + s5)) + ((s2 + s6) + (s3 + s7))


@njit(cache=True, nogil=True)
def score_many(addresses: Any, start: int, w: Any, sums: Any, scores: Any) -> None:
    """Column after column, the sums of a strip in the first cache."""
    a, b, c, d, e, f, g, h = sums[0], sums[1], sums[2], sums[3], sums[4], sums[5], sums[6], sums[7]
    sums[:] = 0.0
    for j in range(addresses.size):
        column, lane, weight = piece(addresses, start, j, scores.size), sums[j % LANES], w[j]
        for k in range(scores.size):
            lane[k] = add_product(lane[k], column[k], weight)
    for k in range(scores.size):
        scores[k] = ((a[k] + e[k]) + (b[k] + f[k])) + ((c[k] + g[k]) + (d[k] + h[k]))


@njit(cache=True, nogil=True, inline="always")
def piece(addresses: Any, start: int, j: int, size: int) -> Any:
    """So many doubles of column j, from row `start` on."""
    return carray(as_pointer(addresses[j] + np.uint64(8 * start)), size, np.float64)


@njit(cache=True, nogil=True, fastmath={"contract"})
def write_lengths(addresses: Any, lengths2: Any) -> None:
    """The squared length of each row, to within (columns + 1) roundings."""
    for start in range(0, lengths2.size, HEIGHT):
        count = min(HEIGHT, lengths2.size - start)
        strip = lengths2[start : start + count]
        strip[:] = 0.0
        whole = addresses.size - addresses.size % 4
        for j in range(0, whole, 4):
            a, b = piece(addresses, start, j, count), piece(addresses, start, j + 1, count)
            c, d = piece(addresses, start, j + 2, count), piece(addresses, start, j + 3, count)
            for k in range(count):
                strip[k] += (a[k] * a[k] + b[k] * b[k]) + (c[k] * c[k] + d[k] * d[k])
        for j in range(whole, addresses.size):
            a = piece(addresses, start, j, count)
            for k in range(count):
                strip[k] += a[k] * a[k]


@njit(cache=True, nogil=True)
def largest_norm2(values: Any) -> float:
    """The largest |x|² of these rows, summed as a scan of rows does; 0 of none."""
    return float(longest_row2(Dense(values), 0, values.shape[0]))


@njit(cache=True, nogil=True)
def sure_beyond(w: Any, b: float, longest2: float) -> float:
    """The |score| above which a sign is certain, in rows of at most this squared length.

    It is the bound of `scans.scan` plus a thousandth.
    """
    near: float = 1.001 * nearest_certain(w, b, longest2)
    return near


@njit(cache=True, nogil=True)
def count_plain(
    addresses: Any, y: Any, w: Any, b: float, near: float, ceiling: float, others: Any
) -> tuple[int, float, float, int]:
    """Count the rows with near < |s| < inf and s >= ceiling, where s is y·(w·x + b); the rest goes to `others`.

    Returns how many of them have a negative s, the smallest s of class -1 and of class +1, and how many others
    there are.
    """
    wrong, minus, plus, left = 0, np.inf, np.inf, 0
    strip = np.empty(HEIGHT)
    columns, weights, sums = room_for(addresses, w)
    for start in range(0, y.size, HEIGHT):
        stop = min(start + HEIGHT, y.size)
        signed, of = strip[: stop - start], y[start:stop]
        score_strip(columns, start, weights, sums, signed)
        odd, negative, low = sign_strip(of, b, near, ceiling, max(minus, plus), signed)
        if odd == low == 0:
            wrong += negative
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
def sign_strip(y: Any, b: float, near: float, ceiling: float, bar: float, scores: Any) -> tuple[int, int, int]:
    """Turn scores into y·(score + b); returns how many are not plain, are negative, and are below the bar."""
    plain, negative, low = 0, 0, 0
    for k in range(scores.size):
        s = y[k] * (scores[k] + b)
        scores[k] = s
        plain += is_plain(s, near, ceiling)
        negative += s < 0
        low += s < bar
    return scores.size - plain, negative, low
