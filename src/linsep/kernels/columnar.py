"""Columns of doubles as Arrow holds them, scanned without copying them into rows.

Scores are made before the walk, a strip of rows at a time, column after column, eight rows in one instruction. Each is
summed in the order of `lanes.py`: lane k adds up the products k, k + 8, k + 16, ..., and the lanes are added by the
same tree. So a score is the same to the last bit, however its row was stored. Lengths are needed once only, and are
those of `dense.py` on a strip that is copied into rows.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import carray, njit
from numba.extending import overload

from linsep.kernels import rows
from linsep.kernels.dense import plain_norm2
from linsep.kernels.interleave import as_pointer, copy_rows
from linsep.kernels.lanes import LANES

HEIGHT = 256  # rows of a strip: its sums stay in the first cache


class Columnar(NamedTuple):
    """A table of columns under one vector, as a scan sees it."""

    addresses: Any  # of the first double of each column
    scores: Any  # x_i·w of each row
    lengths2: Any  # |x_i|² of each row, or nothing where it is known how long the rows are


@njit(cache=True, nogil=True, fastmath={"contract"})
def write_scores(addresses: Any, w: Any, scores: Any) -> None:
    """The products x_i·w of all rows, summed in the order of `lanes.row_dot`."""
    sums = np.zeros((LANES, HEIGHT))
    a, b, c, d, e, f, g, h = sums[0], sums[1], sums[2], sums[3], sums[4], sums[5], sums[6], sums[7]
    for start in range(0, scores.size, HEIGHT):
        count = min(HEIGHT, scores.size - start)
        sums[:] = 0.0
        for j in range(addresses.size):
            column = carray(as_pointer(addresses[j] + np.uint64(8 * start)), count, np.float64)
            lane, weight = sums[j % LANES], w[j]
            for k in range(count):
                lane[k] += column[k] * weight
        strip = scores[start : start + count]
        for k in range(count):
            strip[k] = ((a[k] + e[k]) + (b[k] + f[k])) + ((c[k] + g[k]) + (d[k] + h[k]))


@njit(cache=True, nogil=True)
def write_lengths(addresses: Any, lengths2: Any) -> None:
    """The squared length of each row."""
    strip = np.empty((HEIGHT, addresses.size))
    for start in range(0, lengths2.size, HEIGHT):
        stop = min(lengths2.size, start + HEIGHT)
        copy_rows(addresses, start, stop, strip)
        for i in range(start, stop):
            lengths2[i] = plain_norm2(strip, i - start)


@overload(rows.follow)
def _follow(table: Any, i: Any) -> Any:
    if not rows.is_kind(table, Columnar):
        return None

    def follow(table: Any, i: Any) -> Any:
        pass  # the hardware foresees it

    return follow


@overload(rows.dot)
def _dot(table: Any, i: Any, w: Any) -> Any:
    if not rows.is_kind(table, Columnar):
        return None

    def dot(table: Any, i: Any, w: Any) -> Any:
        return table.scores[i]

    return dot


@overload(rows.norm2)
def _norm2(table: Any, i: Any) -> Any:
    if not rows.is_kind(table, Columnar):
        return None

    def norm2(table: Any, i: Any) -> Any:
        return table.lengths2[i]

    return norm2


@overload(rows.reach)
def _reach(table: Any, i: Any, w: Any) -> Any:
    if not rows.is_kind(table, Columnar):
        return None

    def reach(table: Any, i: Any, w: Any) -> Any:
        total = 0.0
        for j in range(w.size):
            total += abs(carray(as_pointer(table.addresses[j]), table.scores.size, np.float64)[i] * w[j])
        return total

    return reach
