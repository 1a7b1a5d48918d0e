"""The walk of relaxation: each row that has not reached 1 moves the weights until it does, or a little beyond.

Written once, on the verbs of `row_verbs.py`, for dense and sparse rows of any real number type.
"""

from typing import Any

import numpy as np

from linsep.loops import csr, dense  # noqa: F401  (they teach Numba the verbs of row_verbs.py)
from linsep.loops.compiler import njit
from linsep.loops.row_verbs import add, dot, fetch, follow, lead, norm2
from linsep.loops.simd import prefetch_line

SCALE, STEP = range(2)  # what is known of a row: y·2^e, which makes its length about 1, and y·2^e / (its length)²


@njit(cache=True, nogil=True)
def measure(table: Any, y: Any, bias: float, measures: Any) -> bool:
    """Write down scale and step of every row; says whether the square of each length is a double with room to spare."""
    for i in range(y.size):
        follow(table, i)
        length2 = norm2(table, i) + bias
        if not 1e-200 < length2 < 1e200:
            return False
        scale = 2.0 ** -np.round(0.5 * np.log2(length2))
        measures[i, SCALE] = y[i] * scale
        measures[i, STEP] = y[i] / (scale * length2)
    return True


@njit(cache=True, nogil=True)
def relax(
    table: Any,
    order: Any,
    start: int,
    stop: int,
    kept: int,
    measures: Any,
    factor: float,
    rest: float,
    bias: float,
    w: Any,
    b: Any,
) -> tuple[int, int, int]:
    """Walk order[start:stop], and move w and b at each row with z·w < 1. Returns how many rows are kept, how
    many moved them, and how many of these were mistakes.

    The rows with z·w up to `rest` are kept: they are written to order[kept:], in the order of the walk.
    """
    moves, mistakes, ahead = 0, 0, lead(table)
    for position in range(start, stop):
        i = order[position]
        if position + ahead < stop:
            fetch(table, order[position + ahead], order[min(position + 2 * ahead, stop - 1)])
            prefetch_line(measures, 2 * order[position + ahead])
        score = measures[i, SCALE] * (dot(table, i, w) + bias * b[0])
        if score < 1.0:
            change = factor * (1.0 - score) * measures[i, STEP]
            add(table, i, change, w)
            b[0] += bias * change
            moves += 1
            mistakes += not score > 0.0
        if not score > rest:
            order[kept] = i
            kept += 1
    return kept, moves, mistakes
