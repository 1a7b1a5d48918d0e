"""Dense rows: a C-ordered table of any real number type.

Entries are accessed one by one, never through a slice of the row: a slice counts references, and two threads that
count references to one table wait for each other at every row.
"""

from typing import Any

import numpy as np
from numba import float32, float64
from numba.extending import overload, register_jitable

from linsep.loops import row_verbs, simd
from linsep.loops.checksums import mixed
from linsep.loops.layouts import Dense
from linsep.loops.row_verbs import verb

INLINE = {"forceinline": True}
MOST_LINES = 64  # of a row are fetched: 4 KiB, from there on the hardware follows


@register_jitable(**row_verbs.FAST)
def _plain_dot(values: Any, i: Any, w: Any) -> Any:
    total = w.dtype.type(0)
    for j in range(w.size):
        total += values[i, j] * w[j]
    return total


@overload(row_verbs.dot, jit_options=INLINE)
def _dot(table: Any, i: Any, w: Any) -> Any:
    if not row_verbs.is_kind(table, Dense):
        return None

    def in_lanes(table: Any, i: Any, w: Any) -> Any:
        if w.size == 2:  # the same sum, to the last bit, without eight lanes
            return table.values[i, 0] * w[0] + table.values[i, 1] * w[1]
        return simd.row_dot(table.values, i, w)

    def plain(table: Any, i: Any, w: Any) -> Any:
        return _plain_dot(table.values, i, w)

    return in_lanes if _has_lanes(table, w) else plain


@verb(row_verbs.right_ahead, Dense, **INLINE)
def _right_ahead(table: Any, y: Any, i: Any, w: Any, b: Any, near: Any) -> Any:
    return simd.four_ahead(table.values, y, i, w, b, near)


@verb(row_verbs.add, Dense, **row_verbs.FAST)
def _add(table: Any, i: Any, factor: Any, w: Any) -> Any:
    for j in range(w.size):
        w[j] += factor * table.values[i, j]


@verb(row_verbs.norm2, Dense, **row_verbs.FAST)
def _norm2(table: Any, i: Any) -> Any:
    total = 0.0
    for j in range(table.values.shape[1]):
        total += float(table.values[i, j]) * float(table.values[i, j])
    return total


@verb(row_verbs.norm2_spread, Dense, **row_verbs.FAST)
def _norm2_spread(table: Any, i: Any, spread: Any) -> Any:
    total = 0.0
    for j in range(spread.size):
        total += spread[j] * float(table.values[i, j]) * float(table.values[i, j])
    return total


@verb(row_verbs.add_spread, Dense, **row_verbs.FAST)
def _add_spread(table: Any, i: Any, factor: Any, spread: Any, w: Any) -> Any:
    for j in range(w.size):
        w[j] += factor * spread[j] * float(table.values[i, j])


@verb(row_verbs.shrink, Dense, **row_verbs.FAST)
def _shrink(table: Any, i: Any, by: Any, spread: Any) -> Any:
    for j in range(spread.size):
        reached = spread[j] * float(table.values[i, j])
        spread[j] -= by * reached * reached


@verb(row_verbs.reach, Dense, **row_verbs.FAST)
def _reach(table: Any, i: Any, w: Any) -> Any:
    total = 0.0
    for j in range(w.size):
        total += abs(float(table.values[i, j]) * w[j])
    return total


@verb(row_verbs.stirred, Dense, **INLINE)
def _stirred(table: Any, i: Any, multipliers: Any, sign: Any) -> Any:
    total = np.uint64(0)
    for j in range(multipliers.size):
        total += mixed(sign * float(table.values[i, j])) * multipliers[j]
    return total


@verb(row_verbs.follow, Dense, **INLINE)
def _follow(table: Any, i: Any) -> Any:
    pass  # the hardware foresees it


@verb(row_verbs.fetch, Dense, **INLINE)
def _fetch(table: Any, i: Any, later: Any) -> Any:
    width, line = table.values.shape[1], np.int64(simd.in_a_line(table.values))
    for at in range(i * width, i * width + min(width, MOST_LINES * line), line):
        simd.prefetch_line(table.values, at)


@verb(row_verbs.lead, Dense, **INLINE)
def _lead(table: Any) -> Any:
    return simd.rows_under_way(table.values.shape[1] * table.values.itemsize)


def _has_lanes(table: Any, w: Any) -> bool:
    return w.dtype == float64 and table.types[0].dtype in (float64, float32)
