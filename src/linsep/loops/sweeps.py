"""The sweep, which learns as it goes.

One row of weights for two classes, where y is -1 or +1; else one for each class, where y is a position among them.
A mistake is a row whose gap (`judging.py`) is at most the margin; `updates.py` has the update that it causes.
`learners/perceptron.py` says the same in plain Python. Written once, on the verbs of `row_verbs.py`, for dense and
sparse rows, in floats and in integers.

A row of weight k stands for k copies in succession: it is visited until it is right, at most k times, and the last
visit of a weight that is not whole counts for the fraction. So a weight of 3 is the row three times, bit for bit.

A caller passes None for what it does not need, and Numba leaves out the code: the plain rule is as fast as by itself.
"""

from typing import Any, NamedTuple

import numpy as np

from linsep.loops import csr, dense  # noqa: F401  (they teach Numba the verbs of row_verbs.py)
from linsep.loops.compiler import njit
from linsep.loops.judging import code_of, foretell, judge
from linsep.loops.layouts import Dense
from linsep.loops.row_verbs import fetch, follow, lead, norm2, right_ahead
from linsep.loops.scans import ALL_FINE, longest_row2, nearest_certain
from linsep.loops.simd import SHORT_ROW, prefetch_line
from linsep.loops.update_log import BORN, LABEL, RIVAL, ROW, STEP
from linsep.loops.updates import correct, correct_spread, step_of

MEASURED_AT_ONCE = 64  # rows


class Vectors(NamedTuple):
    """Weights as the loops see them: a plain vector for two classes, else a row for each; b is an array always."""

    W: Any
    b: Any


class End(NamedTuple):
    """Where a sweep ended: the next position, the updates made, the rows since the last of them, the last mistake
    with its gap before the update, the row whose score is not finite (or ALL_FINE), the largest |x|² seen, whether
    every row that was taken for right is, in spite of rounding; and where rows have weights, their sum so far and what
    is left of that of the next row."""

    position: int
    updates: int
    run: int
    row: int
    gap: Any
    bad: int
    longest2: float
    is_sure: bool
    walked: Any
    left: float


@njit(cache=True, nogil=True)
def sweep(
    table: Any,
    y: Any,
    weights: Any,
    order: Any,
    start: int,
    stop: int,
    limit: int,
    walked: Any,
    left: float,
    run: int,
    longest: int,
    margin: float,
    hinge: Any,
    spread: Any,
    bias: int,
    W: Any,
    b: Any,
    mistakes_per_row: Any,
    lag: Any,
    log: Any,
    foretold: Any,
    longest2: float,
    measured: Any,
    is_sure: bool,
) -> tuple[int, int, int, int, Any, int, float, bool, Any, float]:
    """Walk positions start..stop of the order (None: row order) and learn; stop early after `limit` updates.

    `walked` rows came before, the last `run` of them without a mistake; `left` of the weight of the first is to come
    (0: all of it). A sweep also stops before an update that would end a run longer than `longest`: the caller may want
    to hold these weights. Called again from there with a run of -1, it makes the update. `lag` sums up the updates,
    each times the rows walked before it, so that the average of the weights over t rows is W - lag/t. Updates are
    logged in `log`. If `foretold` has a line for each row, each row is predicted before it is learned from.
    Where `measured` is a number, rows are looked at four at a time (see `looks_ahead`), and `longest2` is at least the
    |x|² of that many first rows. As long as the pass `is_sure`, rows are right only if rounding cannot have made them
    so; the first update ends that, since only a pass without one is the last.

    Returns the fields of an `End`. (As a plain tuple: Numba crashes where Ctrl-C meets the making of a named one.)
    """
    one = b.dtype.type(1)
    updates, last, last_gap = 0, ALL_FINE, 0 * one
    position, ahead = start, lead(table)
    near, known = 0.0, 0
    if measured is None:
        is_sure = False
    else:
        known = measured
        if is_sure:
            near = nearest_certain(W, b[0], longest2)
    while position < stop:
        i = position
        if order is not None:
            i = order[position]
            if position + ahead < stop:
                fetch(table, order[position + ahead], order[min(position + 2 * ahead, stop - 1)])
                prefetch_line(mistakes_per_row, order[position + ahead])
                if weights is not None:
                    prefetch_line(weights, order[position + ahead])
        if measured is not None and position + 4 <= stop and left == 0:
            if is_sure and position + 4 > known:
                known = min(position + MEASURED_AT_ONCE, stop)
                length2 = longest_row2(table, position, known)
                if length2 > longest2:
                    longest2, near = length2, nearest_certain(W, b[0], length2)
                if near == np.inf:
                    is_sure, near = False, 0.0
            right = right_ahead(table, y, position, W, b[0], near)
            if not is_sure:  # the shortest loop that there is
                while right == 4 and position + 8 <= stop:
                    if weights is None:
                        run += 4
                    else:
                        walked += sum_of_first(weights, position, 4)
                        run += visits_of_first(weights, position, 4)
                    position += 4
                    right = right_ahead(table, y, position, W, b[0], near)
            if weights is None:
                run += right
            else:
                walked += sum_of_first(weights, position, right)
                run += visits_of_first(weights, position, right)
            position += right
            if right == 4:
                continue
            i = position
        if order is None:
            follow(table, i)
        gap, rival = judge(table, i, y[i], W, b)
        if measured is not None and is_sure and i >= known:
            length2 = norm2(table, i)
            if length2 > longest2:
                longest2, near = length2, nearest_certain(W, b[0], length2)
        before = walked
        if weights is None:
            before = walked + position - start
        if foretold is not None and not foretell(table, i, y[i], gap, rival, before, W, b, lag, foretold):
            return position, updates, run, last, last_gap, i, longest2, False, walked, left
        if margin < gap < np.inf:
            position += 1
            if measured is not None and is_sure and gap <= near:
                is_sure, near = False, 0.0
            if weights is None:
                run += 1
            else:
                left = left if left > 0 else weights[i]
                walked, run, left = walked + left, run + visits(left), 0.0
            continue
        if not np.isfinite(gap):
            return position, updates, run, last, last_gap, i, longest2, False, walked, left
        if run > longest:
            return position, updates, run, last, last_gap, ALL_FINE, longest2, is_sure, walked, left
        step = share = one
        if weights is not None:
            left = left if left > 0 else weights[i]
            step = share = min(left, 1.0)
        if hinge is not None:
            step = step_of(table, i, y[i], rival, 1.0 - gap, share, bias, W, hinge, spread)
        if spread is None:
            correct(table, i, y[i], rival, step, bias, W, b)
            if lag is not None:
                correct(table, i, y[i], rival, step * float(before), bias, lag.W, lag.b)
        else:
            soft = hinge.soft / share
            correct_spread(table, i, y[i], rival, step, soft, float(before), bias, W, b, spread, lag)
        if log is not None:
            log[updates, ROW], log[updates, LABEL], log[updates, RIVAL] = i, code_of(y[i], W), rival
            log[updates, BORN], log[updates, STEP] = before, step
        mistakes_per_row[i] += 1
        is_sure, near = False, 0.0
        run, updates, last, last_gap = 0, updates + 1, i, gap
        if weights is None:
            position += 1
        else:
            walked, left = walked + share, left - share
            if left == 0:
                position += 1
        if updates == limit:
            break
    return position, updates, run, last, last_gap, ALL_FINE, longest2, is_sure, walked, left


@njit(cache=True, nogil=True, forceinline=True)
def visits(weight: float) -> int:
    """How often a row of this weight is visited: a whole weight that often, any other once more for the rest."""
    return int(np.ceil(weight))


@njit(cache=True, nogil=True, forceinline=True)
def sum_of_first(weights: Any, j: int, n: int) -> float:
    """The weights of the first n of four rows together, without branches, since n cannot be predicted."""
    first = (weights[j] if n > 0 else 0.0) + (weights[j + 1] if n > 1 else 0.0)
    return first + ((weights[j + 2] if n > 2 else 0.0) + (weights[j + 3] if n > 3 else 0.0))


@njit(cache=True, nogil=True, forceinline=True)
def visits_of_first(weights: Any, j: int, n: int) -> int:
    """How often the first n of four rows are visited together."""
    first = (np.ceil(weights[j]) if n > 0 else 0.0) + (np.ceil(weights[j + 1]) if n > 1 else 0.0)
    return int(first + ((np.ceil(weights[j + 2]) if n > 2 else 0.0) + (np.ceil(weights[j + 3]) if n > 3 else 0.0)))


def looks_ahead(table: Any, W: Any, margin: float) -> bool:
    """Whether four rows are faster than one: few columns of floats, in row order, and only their sides matter."""
    is_short = isinstance(table, Dense) and W.ndim == 1 and W.size <= SHORT_ROW and margin == 0
    return is_short and table.values.dtype in (np.float64, np.float32) and W.dtype == np.float64
