"""Dense rows: a C-ordered table of any real number type.

Entries are named one by one, never as a slice of the row: a slice counts its references, and two threads
that count on one table wait for each other at every row.
"""

from typing import Any, NamedTuple

from numba import float64
from numba.extending import overload

from linsep.kernels import lanes, rows


class Dense(NamedTuple):
    """A dense table as the kernels see it."""

    values: Any


@overload(rows.dot, jit_options=rows.FAST)
def _dot(table: Any, i: Any, w: Any) -> Any:
    if not rows.is_kind(table, Dense):
        return None

    def plain(table: Any, i: Any, w: Any) -> Any:
        total = w.dtype.type(0)
        for j in range(w.size):
            total += table.values[i, j] * w[j]
        return total

    def in_lanes(table: Any, i: Any, w: Any) -> Any:
        return lanes.row_dot(table.values, i, w)

    return in_lanes if table.types[0].dtype == w.dtype == float64 else plain


@overload(rows.right_ahead)
def _right_ahead(table: Any, y: Any, i: Any, w: Any, b: Any) -> Any:
    if not rows.is_kind(table, Dense):
        return None

    def in_lanes(table: Any, y: Any, i: Any, w: Any, b: Any) -> Any:
        return lanes.four_ahead(table.values, y, i, w, b) if w.size < lanes.LONG_ROW else 0

    def unknown(table: Any, y: Any, i: Any, w: Any, b: Any) -> Any:
        return 0

    return in_lanes if table.types[0].dtype == w.dtype == float64 else unknown


@overload(rows.add, jit_options=rows.FAST)
def _add(table: Any, i: Any, factor: Any, w: Any) -> Any:
    if not rows.is_kind(table, Dense):
        return None

    def add(table: Any, i: Any, factor: Any, w: Any) -> Any:
        for j in range(w.size):
            w[j] += factor * table.values[i, j]

    return add


@overload(rows.norm2, jit_options=rows.FAST)
def _norm2(table: Any, i: Any) -> Any:
    if not rows.is_kind(table, Dense):
        return None

    def norm2(table: Any, i: Any) -> Any:
        total = 0.0
        for j in range(table.values.shape[1]):
            total += float(table.values[i, j]) * float(table.values[i, j])
        return total

    return norm2


@overload(rows.reach, jit_options=rows.FAST)
def _reach(table: Any, i: Any, w: Any) -> Any:
    if not rows.is_kind(table, Dense):
        return None

    def reach(table: Any, i: Any, w: Any) -> Any:
        total = 0.0
        for j in range(w.size):
            total += abs(float(table.values[i, j]) * w[j])
        return total

    return reach


@overload(rows.fetch)
def _fetch(table: Any, i: Any) -> Any:
    if not rows.is_kind(table, Dense):
        return None

    def fetch(table: Any, i: Any) -> Any:
        width = table.values.shape[1]
        lanes.prefetch(table.values, i * width, width)

    return fetch
