"""The sweep, which learns as it goes, and `tally`, which lets every vector of a run vote.

One row of weights for two classes, where y is -1 or +1; else one for each class, where y is a position among them.
A row's *gap* is how far its own class is ahead: y·score for two classes, the score of its class minus the best other
score for more. A mistake is a row whose gap is at most the margin asked for. `solvers/perceptron.py` says the same in
plain Python. Written once, on the verbs of `row_verbs.py`, for dense and sparse rows, in floats and in integers.

What a caller does not need it leaves out as None, and Numba leaves out the code: the plain rule is as fast as alone.
"""

from typing import Any, NamedTuple

import numpy as np

from linsep.loops import csr, dense  # noqa: F401  (they teach Numba the verbs of row_verbs.py)
from linsep.loops.compiler import njit
from linsep.loops.row_verbs import add, dot, fetch, follow, lead, lengths_ahead, norm2, right_ahead
from linsep.loops.scans import ALL_FINE, nearest_certain
from linsep.loops.simd import SHORT_ROW, prefetch_line

ROW, LABEL, RIVAL, BORN = range(4)  # what is logged of an update: who was mistaken, for what, after how many rows
PREDICTED, MISSED = range(2)  # what is foretold of a row: its class, and whether that was a mistake


class Vectors(NamedTuple):
    """Weights as the loops see them: a plain vector for two classes, else a row for each; b is an array always."""

    W: Any
    b: Any


class End(NamedTuple):
    """Where a sweep ended: the next position, the updates made, the rows since the last of them, the last mistake
    with its gap before the update, the row whose score is not finite (or ALL_FINE), the largest |x|² seen, and whether
    every row that was taken for right is, in spite of rounding."""

    position: int
    updates: int
    run: int
    row: int
    gap: Any
    bad: int
    longest2: float
    is_sure: bool


@njit(cache=True, nogil=True)
def sweep(
    table: Any,
    y: Any,
    order: Any,
    start: int,
    stop: int,
    limit: int,
    walked: int,
    run: int,
    longest: int,
    margin: float,
    bias: int,
    W: Any,
    b: Any,
    mistakes_per_row: Any,
    lag: Any,
    log: Any,
    foretold: Any,
    longest2: float,
    measured: int,
) -> tuple[int, int, int, int, Any, int, float, bool]:
    """Walk positions start..stop of the order (None: row order) and learn; stop early after `limit` updates.

    `walked` rows came before, the last `run` of them without a mistake. A sweep also stops before an update that
    would end a run longer than `longest`: the caller may want to hold these weights. Called again from there with a
    run of -1, it makes the update. `lag` sums up the updates, each times the rows walked before it, so that the average
    of the weights over t rows is W - lag/t. Updates are logged in `log`. Where `foretold` has a line for each row, the
    row is predicted before it is learned from. `longest2` is at least the |x|² of the rows before `measured`.

    Returns the fields of an `End`. (As a plain tuple: Numba crashes where Ctrl-C meets the making of a named one.)
    """
    one = b.dtype.type(1)
    updates, last, last_gap = 0, ALL_FINE, 0 * one
    position, ahead = start, lead(table)
    looks_ahead = is_sure = order is None and foretold is None and margin == 0 and W.size <= SHORT_ROW
    near = near_of(W, b, longest2)
    while position < stop:
        i = position
        if order is not None:
            i = order[position]
            if position + ahead < stop:
                fetch(table, order[position + ahead], order[min(position + 2 * ahead, stop - 1)])
                prefetch_line(mistakes_per_row, order[position + ahead])
        elif run >= 4 and looks_ahead and position + 4 <= stop:  # among mistakes it looks in vain
            if position + 4 > measured:
                length2 = lengths_of_four(table, y, position, W)
                if length2 > longest2:
                    longest2, near = length2, near_of(W, b, length2)
            right = right_of_four(table, y, position, W, b, near if near < np.inf else 0.0)
            is_sure = is_sure and near < np.inf
            if right < 0:
                looks_ahead, is_sure, right = False, False, 0
            run += right
            if right == 4:  # a branch that is guessed right, so that the next rows start before these end
                position += 4
                continue
            position += right
            i = position
        position += 1
        if order is None:
            follow(table, i)
        gap, rival = judge(table, i, y[i], W, b)
        if looks_ahead and i >= measured:
            length2 = norm2(table, i)
            if length2 > longest2:
                longest2, near = length2, near_of(W, b, length2)
        before = walked + position - 1 - start
        if foretold is not None and not foretell(table, i, y[i], gap, rival, before, W, b, lag, foretold):
            return position - 1, updates, run, last, last_gap, i, longest2, False
        if margin < gap < np.inf:
            run += 1
            is_sure = is_sure and gap > near
            continue
        if not np.isfinite(gap):
            return position - 1, updates, run, last, last_gap, i, longest2, False
        if run > longest:
            return position - 1, updates, run, last, last_gap, ALL_FINE, longest2, is_sure
        correct(table, i, y[i], rival, one, bias, W, b)
        if lag is not None:
            correct(table, i, y[i], rival, float(before), bias, lag.W, lag.b)
        if log is not None:
            log[updates, ROW], log[updates, LABEL], log[updates, RIVAL] = i, code_of(y[i], W), rival
            log[updates, BORN] = before
        mistakes_per_row[i] += 1
        if looks_ahead:
            near = near_of(W, b, longest2)
        run, updates, last, last_gap = 0, updates + 1, i, gap
        if updates == limit:
            break
    return position, updates, run, last, last_gap, ALL_FINE, longest2, is_sure


@njit(cache=True, nogil=True, forceinline=True)
def right_of_four(table: Any, y: Any, i: Any, W: Any, b: Any, near: float) -> int:
    """How many of the four rows from i on come before the first mistake or doubt; -1 where the layout cannot tell."""
    if W.ndim == 1:
        return right_ahead(table, y, i, W, b[0], near)  # type: ignore[no-any-return]
    return -1


@njit(cache=True, nogil=True, forceinline=True)
def lengths_of_four(table: Any, y: Any, i: Any, W: Any) -> float:
    """What |x|² of the four rows from i on is at most."""
    if W.ndim == 1:
        return lengths_ahead(table, y, i, W)  # type: ignore[no-any-return]
    return np.inf


@njit(cache=True, nogil=True, forceinline=True)
def near_of(W: Any, b: Any, longest2: float) -> float:
    """How near to 0 the sign of a score is in doubt; infinite where there are several vectors."""
    if W.ndim == 1:
        return nearest_certain(W, b[0], longest2)  # type: ignore[no-any-return]
    return np.inf


@njit(cache=True, nogil=True, forceinline=True)
def judge(table: Any, i: Any, y: Any, W: Any, b: Any) -> tuple[Any, int]:
    """The gap of row i, and the best of the other classes. Not finite where a score is not."""
    if W.ndim == 1:
        return y * (dot(table, i, W) + b[0]), 0
    own = best = dot(table, i, W[y]) + b[y]
    rival = -1
    for k in range(W.shape[0]):
        if k != y:
            score = dot(table, i, W[k]) + b[k]
            if not np.isfinite(score):
                return own - score, k
            if rival < 0 or score > best:
                best, rival = score, k
    return own - best, rival


@njit(cache=True, nogil=True, forceinline=True)
def code_of(y: Any, W: Any) -> int:
    """The class of a row as a position: 0 and 1 for the signs -1 and +1."""
    if W.ndim == 1:
        return (y + 1) >> 1  # type: ignore[no-any-return]
    return y  # type: ignore[no-any-return]


@njit(cache=True, nogil=True)
def foretell(
    table: Any, i: Any, y: Any, gap: float, rival: int, before: int, W: Any, b: Any, lag: Any, foretold: Any
) -> bool:
    """Write down the class that the weights predict for row i, and whether that is a mistake (a tie is one).

    Says whether the score was a finite number.

    Where the average is kept it is the average so far, over `before` rows, that predicts. The label decides nothing:
    it only says from which side the gap was measured.
    """
    if lag is not None and before > 0:
        gap, rival = judge_average(table, i, y, 1.0 / before, W, b, lag.W, lag.b)
    is_pair = b.size == 1
    winner = code_of(y, W)
    if gap < 0:
        winner = 1 - winner if is_pair else rival
    elif gap == 0:
        winner = 0 if is_pair else min(winner, rival)
    foretold[i, PREDICTED], foretold[i, MISSED] = winner, not gap > 0
    return bool(np.isfinite(gap))


@njit(cache=True, nogil=True)
def judge_average(table: Any, i: Any, y: Any, share: float, W: Any, b: Any, lag: Any, lag_b: Any) -> tuple[float, int]:
    """The gap of row i and its rival under the average W - share·lag."""
    if W.ndim == 1:
        return y * (dot(table, i, W) + b[0] - share * (dot(table, i, lag) + lag_b[0])), 0
    own, best, rival = 0.0, -np.inf, -1
    for k in range(W.shape[0]):
        score = dot(table, i, W[k]) + b[k] - share * (dot(table, i, lag[k]) + lag_b[k])
        if k == y:
            own = score
        elif score > best:
            best, rival = score, k
    return own - best, rival


@njit(cache=True, nogil=True)
def longest(table: Any, rows: int) -> float:
    """The largest |x|² of the rows."""
    most = 0.0
    for i in range(rows):
        most = max(most, norm2(table, i))
    return most


@njit(cache=True, nogil=True, forceinline=True)
def correct(table: Any, i: Any, y: Any, rival: Any, factor: Any, bias: int, W: Any, b: Any) -> None:
    """The update, times a factor: w += y·x for two classes, else towards the true class and away from its rival."""
    if W.ndim == 1:
        add(table, i, factor * y, W)
        b[0] += factor * y * bias
        return
    add(table, i, factor, W[y])
    add(table, i, -factor, W[rival])
    b[y] += factor * bias
    b[rival] -= factor * bias


@njit(cache=True, nogil=True)
def count_mistakes(table: Any, y: Any, W: Any, b: Any, enough: int) -> int:
    """How many rows have a gap of 0 or less; counting ends at `enough`."""
    mistakes = 0
    for i in range(y.size):
        gap, _ = judge(table, i, y[i], W, b)
        if not gap > 0:
            mistakes += 1
            if mistakes >= enough:
                break
    return mistakes


@njit(cache=True, nogil=True)
def worst(table: Any, y: Any, W: Any, b: Any) -> tuple[Any, int]:
    """The smallest gap of the rows, and the first row that has it; one that is not finite comes before all others."""
    least, _ = judge(table, 0, y[0], W, b)
    row = 0
    for i in range(y.size):
        gap, _ = judge(table, i, y[i], W, b)
        if not np.isfinite(gap):
            return gap, i
        if gap < least:
            least, row = gap, i
    return least, row


@njit(cache=True, nogil=True)
def replay(table: Any, log: Any, bias: int, W: Any, b: Any) -> None:
    """Make the logged updates again, in the same order and so with the same rounding."""
    one = b.dtype.type(1)
    for j in range(log.shape[0]):
        y = 2 * log[j, LABEL] - 1 if b.size == 1 else log[j, LABEL]
        correct(table, log[j, ROW], y, log[j, RIVAL], one, bias, W, b)


@njit(cache=True, nogil=True)
def tally(scores: Any, products: Any, log: Any, survived: Any, bias: float, votes: Any) -> None:
    """Add up the votes of a run's vectors. `scores` are those of the first vector, and are used up.

    The score of each later vector differs by one product of rows, x_i·x, and those are at hand: `products` has a
    row for each logged x_i and, as `scores` and `votes`, a column for each x. A vector votes with as many voices as
    rows it survived; where its score is 0, or its highest score is that of two classes, it has no opinion.
    """
    vote(scores, survived[0], votes)
    for j in range(log.shape[0]):
        row, label, rival = log[j, ROW], log[j, LABEL], log[j, RIVAL]
        if scores.shape[0] == 1:
            shift(scores, 0, products, row, bias, 2 * label - 1)
        else:
            shift(scores, label, products, row, bias, 1)
            shift(scores, rival, products, row, bias, -1)
        vote(scores, survived[j + 1], votes)


@njit(cache=True, nogil=True)
def shift(scores: Any, k: int, products: Any, row: int, bias: float, sign: int) -> None:
    """What one update does to the scores of class k."""
    for i in range(scores.shape[1]):
        scores[k, i] += sign * (products[row, i] + bias)


@njit(cache=True, nogil=True)
def vote(scores: Any, voices: float, votes: Any) -> None:
    """The votes of one vector."""
    if scores.shape[0] == 1:
        for i in range(scores.shape[1]):
            votes[0, i] += voices if scores[0, i] > 0 else (-voices if scores[0, i] < 0 else 0.0)
        return
    for i in range(scores.shape[1]):
        winner, highest, is_shared = 0, scores[0, i], False
        for k in range(1, scores.shape[0]):
            score = scores[k, i]
            if score >= highest:
                winner, highest, is_shared = k, score, score == highest
        if not is_shared:
            votes[winner, i] += voices
