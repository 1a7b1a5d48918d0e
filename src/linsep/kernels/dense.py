"""Dense rows: a C-ordered table of any real number type.

Entries are named one by one, never as a slice of the row: a slice counts its references, and two threads
that count on one table wait for each other at every row.
"""

from typing import Any

import numpy as np
from numba import float32, float64
from numba.extending import overload, register_jitable

from linsep.kernels import lanes, rows
from linsep.kernels.layouts import Dense
from linsep.kernels.rows import verb

INLINE = {"forceinline": True}
MOST_LINES = 64  # of a row are fetched: 4 KiB, from there on the hardware follows

# The loops stand in functions of their own: only there does Numba let their sums be regrouped.


@register_jitable(**rows.FAST)
def _plain_dot(values: Any, i: Any, w: Any) -> Any:
    total = w.dtype.type(0)
    for j in range(w.size):
        total += values[i, j] * w[j]
    return total


@register_jitable(**rows.FAST)
def _plain_add(values: Any, i: Any, factor: Any, w: Any) -> Any:
    for j in range(w.size):
        w[j] += factor * values[i, j]


@register_jitable(**rows.FAST)
def plain_norm2(values: Any, i: Any) -> Any:
    """The squared length of row i."""
    total = 0.0
    for j in range(values.shape[1]):
        total += float(values[i, j]) * float(values[i, j])
    return total


@register_jitable(**rows.FAST)
def _plain_reach(values: Any, i: Any, w: Any) -> Any:
    total = 0.0
    for j in range(w.size):
        total += abs(float(values[i, j]) * w[j])
    return total


@overload(rows.dot, jit_options=INLINE)
def _dot(table: Any, i: Any, w: Any) -> Any:
    if not rows.is_kind(table, Dense):
        return None

    def in_lanes(table: Any, i: Any, w: Any) -> Any:
        return lanes.row_dot(table.values, i, w)

    def plain(table: Any, i: Any, w: Any) -> Any:
        return _plain_dot(table.values, i, w)

    return in_lanes if _has_lanes(table, w) else plain


@overload(rows.right_ahead, jit_options=INLINE)
def _right_ahead(table: Any, y: Any, i: Any, w: Any, b: Any) -> Any:
    if not rows.is_kind(table, Dense):
        return None

    def in_lanes(table: Any, y: Any, i: Any, w: Any, b: Any) -> Any:
        return lanes.four_ahead(table.values, y, i, w, b) if w.size <= lanes.SHORT_ROW else 0

    def unknown(table: Any, y: Any, i: Any, w: Any, b: Any) -> Any:
        return 0

    return in_lanes if _has_lanes(table, w) else unknown


@verb(rows.add, Dense, **INLINE)
def _add(table: Any, i: Any, factor: Any, w: Any) -> Any:
    _plain_add(table.values, i, factor, w)


@verb(rows.norm2, Dense, **INLINE)
def _norm2(table: Any, i: Any) -> Any:
    return plain_norm2(table.values, i)


@verb(rows.reach, Dense, **INLINE)
def _reach(table: Any, i: Any, w: Any) -> Any:
    return _plain_reach(table.values, i, w)


@verb(rows.follow, Dense, **INLINE)
def _follow(table: Any, i: Any) -> Any:
    pass  # the hardware foresees it


@verb(rows.fetch, Dense, **INLINE)
def _fetch(table: Any, i: Any, later: Any) -> Any:
    width, line = table.values.shape[1], np.int64(lanes.in_a_line(table.values))
    for at in range(i * width, i * width + min(width, MOST_LINES * line), line):
        lanes.prefetch_line(table.values, at)


@verb(rows.lead, Dense, **INLINE)
def _lead(table: Any) -> Any:
    return lanes.rows_under_way(table.values.shape[1] * table.values.itemsize)


def _has_lanes(table: Any, w: Any) -> bool:
    return w.dtype == float64 and table.types[0].dtype in (float64, float32)
