"""Sparse rows: the three arrays of a CSR matrix, with unsigned indices.

Unsigned throughout: Numba then leaves out the test for negative indices. (The sum of an unsigned and a signed integer
would be a float, hence ONE to EIGHT.)
"""

from typing import Any

import numpy as np

from linsep.loops import row_verbs, simd
from linsep.loops.checksums import mixed
from linsep.loops.layouts import Csr
from linsep.loops.row_verbs import verb

# No regrouping here. The compiler would turn regrouped sums into gather instructions, which lose to plain chains
# of scalar loads: four for a long row, one for a short one, whose end the processor can then foresee
# (`python benchmarks/bandwidth.py` shows by how much).
ONE, TWO, THREE, FOUR, EIGHT = (np.uint64(k) for k in (1, 2, 3, 4, 8))
LONG_ROW = np.uint64(16)  # entries
AHEAD = np.uint64(192)  # entries: in row order both streams are prefetched this far ahead (a sixth faster)
MOST_FETCHED = 512  # entries of a row: from there on the hardware follows
STRICT = {"fastmath": {"contract"}, "forceinline": True}


@verb(row_verbs.dot, Csr, **STRICT)
def _dot(table: Any, i: Any, w: Any) -> Any:
    start, stop = table.indptr[i], table.indptr[i + 1]
    t0 = w.dtype.type(0)
    if stop - start >= LONG_ROW:
        t1, t2, t3 = t0, t0, t0
        whole = stop - (stop - start) % EIGHT
        for k in range(start, whole, EIGHT):
            t0 += table.data[k] * w[table.indices[k]]
            t1 += table.data[k + ONE] * w[table.indices[k + ONE]]
            t2 += table.data[k + TWO] * w[table.indices[k + TWO]]
            t3 += table.data[k + THREE] * w[table.indices[k + THREE]]
            k4 = k + FOUR
            t0 += table.data[k4] * w[table.indices[k4]]
            t1 += table.data[k4 + ONE] * w[table.indices[k4 + ONE]]
            t2 += table.data[k4 + TWO] * w[table.indices[k4 + TWO]]
            t3 += table.data[k4 + THREE] * w[table.indices[k4 + THREE]]
        t0 = (t0 + t1) + (t2 + t3)
        start = whole
    for k in range(start, stop):
        t0 += table.data[k] * w[table.indices[k]]
    return t0


@verb(row_verbs.add, Csr, **STRICT)
def _add(table: Any, i: Any, factor: Any, w: Any) -> Any:
    for k in range(table.indptr[i], table.indptr[i + 1]):
        w[table.indices[k]] += factor * table.data[k]


@verb(row_verbs.norm2, Csr, **row_verbs.FAST)
def _norm2(table: Any, i: Any) -> Any:
    total = 0.0
    for k in range(table.indptr[i], table.indptr[i + 1]):
        total += float(table.data[k]) * float(table.data[k])
    return total


@verb(row_verbs.norm2_spread, Csr, **STRICT)
def _norm2_spread(table: Any, i: Any, spread: Any) -> Any:
    total = 0.0
    for k in range(table.indptr[i], table.indptr[i + 1]):
        total += spread[table.indices[k]] * float(table.data[k]) * float(table.data[k])
    return total


@verb(row_verbs.add_spread, Csr, **STRICT)
def _add_spread(table: Any, i: Any, factor: Any, spread: Any, w: Any) -> Any:
    for k in range(table.indptr[i], table.indptr[i + 1]):
        w[table.indices[k]] += factor * spread[table.indices[k]] * float(table.data[k])


@verb(row_verbs.shrink, Csr, **STRICT)
def _shrink(table: Any, i: Any, by: Any, spread: Any) -> Any:
    for k in range(table.indptr[i], table.indptr[i + 1]):
        reached = spread[table.indices[k]] * float(table.data[k])
        spread[table.indices[k]] -= by * reached * reached


@verb(row_verbs.reach, Csr, **STRICT)
def _reach(table: Any, i: Any, w: Any) -> Any:
    total = 0.0
    for k in range(table.indptr[i], table.indptr[i + 1]):
        total += abs(float(table.data[k]) * w[table.indices[k]])
    return total


@verb(row_verbs.stirred, Csr, **STRICT)
def _stirred(table: Any, i: Any, multipliers: Any, sign: Any) -> Any:
    total = np.uint64(0)
    for k in range(table.indptr[i], table.indptr[i + 1]):
        total += mixed(sign * float(table.data[k])) * multipliers[table.indices[k]]
    return total


@verb(row_verbs.follow, Csr, **STRICT)
def _follow(table: Any, i: Any) -> Any:
    if table.data.size > simd.IN_CACHE:
        start, stop = table.indptr[i], table.indptr[i + 1]
        for k in range(start + AHEAD, stop + AHEAD, simd.in_a_line(table.data)):
            simd.prefetch_near(table.data, k)
            simd.prefetch_near(table.indices, k)


@verb(row_verbs.fetch, Csr, **STRICT)
def _fetch(table: Any, i: Any, later: Any) -> Any:
    simd.prefetch_line(table.indptr, later)
    start = table.indptr[i]
    mean = table.data.size // max(1, table.indptr.size - 1)  # the same for all rows: loops of a length foreseen
    stop = start + np.uint64(min(mean, MOST_FETCHED)) + EIGHT
    for k in range(start, stop, simd.in_a_line(table.data)):
        simd.prefetch_line(table.data, k)
    for k in range(start, stop, simd.in_a_line(table.indices)):
        simd.prefetch_line(table.indices, k)


@verb(row_verbs.lead, Csr, **STRICT)
def _lead(table: Any) -> Any:
    per_row = table.data.size // max(1, table.indptr.size - 1)
    return simd.rows_under_way(per_row * (table.data.itemsize + table.indices.itemsize))
