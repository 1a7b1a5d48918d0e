"""The sweep, which learns as it goes, and `tally`, which lets every vector of a run vote.

One row of weights for two classes, where y is -1 or +1; else one for each class, where y is a position among them.
A row's *gap* is how far its own class is ahead: y·score for two classes, the score of its class minus the best other
score for more. A mistake is a row whose gap is at most the margin asked for. `learners/perceptron.py` says the same in
plain Python. Written once, on the verbs of `row_verbs.py`, for dense and sparse rows, in floats and in integers.

A row of weight k is k rows in a row: it is visited until it is right, k times at most, and the last visit of a weight
that is not whole counts for the rest of it. So a weight of 3 is the row three times over, bit for bit.

The step of an update is 1. With a `Hinge` it is what brings the gap to 1, at most `cap` for each visit and less
where `soft` is above 0 (Crammer and others 2006); with a `spread`, one for each weight, distances are measured by it
and it shrinks with each update (Crammer, Kulesza and Dredze 2009).

What a caller does not need it leaves out as None, and Numba leaves out the code: the plain rule is as fast as alone.
"""

from typing import Any, NamedTuple

import numpy as np

from linsep.loops import csr, dense  # noqa: F401  (they teach Numba the verbs of row_verbs.py)
from linsep.loops.compiler import njit
from linsep.loops.layouts import Dense
from linsep.loops.row_verbs import (
    add,
    add_spread,
    dot,
    fetch,
    follow,
    lead,
    norm2,
    norm2_spread,
    right_ahead,
    shrink,
)
from linsep.loops.scans import ALL_FINE, nearest_certain
from linsep.loops.simd import SHORT_ROW, prefetch_line

LOGGED = 5  # numbers of an update: who was mistaken, for what, after how many rows, and how far the update went
ROW, LABEL, RIVAL, BORN, STEP = range(LOGGED)
MEASURED_AT_ONCE = 64  # rows
PREDICTED, MISSED = range(2)  # what is foretold of a row: its class, and whether that was a mistake


class Vectors(NamedTuple):
    """Weights as the loops see them: a plain vector for two classes, else a row for each; b is an array always."""

    W: Any
    b: Any


class Hinge(NamedTuple):
    """How far an update goes: to a gap of 1, unless `cap` or `soft` says less."""

    cap: float
    soft: float


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
    logged in `log`. Where `foretold` has a line for each row, the row is predicted before it is learned from.
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
            near = near_of(W, b, longest2)
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
                    longest2, near = length2, near_of(W, b, length2)
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
                longest2, near = length2, near_of(W, b, length2)
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
    """The weights of the first n of four rows together. Nothing is jumped over: where n ends cannot be foreseen."""
    first = (weights[j] if n > 0 else 0.0) + (weights[j + 1] if n > 1 else 0.0)
    return first + ((weights[j + 2] if n > 2 else 0.0) + (weights[j + 3] if n > 3 else 0.0))


@njit(cache=True, nogil=True, forceinline=True)
def visits_of_first(weights: Any, j: int, n: int) -> int:
    """How often the first n of four rows are visited together."""
    first = (np.ceil(weights[j]) if n > 0 else 0.0) + (np.ceil(weights[j + 1]) if n > 1 else 0.0)
    return int(first + ((np.ceil(weights[j + 2]) if n > 2 else 0.0) + (np.ceil(weights[j + 3]) if n > 3 else 0.0)))


@njit(cache=True, nogil=True, forceinline=True)
def step_of(
    table: Any, i: Any, y: Any, rival: Any, loss: float, share: float, bias: int, W: Any, hinge: Any, spread: Any
) -> float:
    """How far an update goes for a row whose gap is `loss` short of 1: there, or as far as the hinge allows."""
    length2 = length2_of(table, i, y, rival, bias, W, spread) + hinge.soft / share
    most = hinge.cap * share
    if length2 * most > loss:  # a row of zeros would not survive the division
        return loss / length2  # type: ignore[no-any-return]
    return most  # type: ignore[no-any-return]


@njit(cache=True, nogil=True, forceinline=True)
def length2_of(table: Any, i: Any, y: Any, rival: Any, bias: int, W: Any, spread: Any) -> float:
    """|Z|² of row i: of x and its 1 for two classes, twice that for more; each entry times its spread, if any."""
    if spread is None:
        once = norm2(table, i) + bias
        return once if W.ndim == 1 else 2.0 * once  # type: ignore[no-any-return]
    if W.ndim == 1:
        return norm2_spread(table, i, spread.W) + bias * spread.b[0]  # type: ignore[no-any-return]
    both = norm2_spread(table, i, spread.W[y]) + norm2_spread(table, i, spread.W[rival])
    return both + bias * (spread.b[y] + spread.b[rival])  # type: ignore[no-any-return]


@njit(cache=True, nogil=True)
def correct_spread(
    table: Any,
    i: Any,
    y: Any,
    rival: Any,
    step: float,
    soft: float,
    walked: float,
    bias: int,
    W: Any,
    b: Any,
    spread: Any,
    lag: Any,
) -> None:
    """The update with each entry times its spread, which shrinks."""
    add_with_spread(table, i, y, rival, step, bias, spread, W, b)
    if lag is not None:
        add_with_spread(table, i, y, rival, step * walked, bias, spread, lag.W, lag.b)
    length2 = length2_of(table, i, y, rival, bias, W, spread) + soft
    shrink_spread(table, i, y, rival, 1.0 / length2, bias, spread.W, spread.b)


@njit(cache=True, nogil=True, forceinline=True)
def add_with_spread(
    table: Any, i: Any, y: Any, rival: Any, factor: float, bias: int, spread: Any, W: Any, b: Any
) -> None:
    """As `correct`, each entry times its spread."""
    if W.ndim == 1:
        add_spread(table, i, factor * y, spread.W, W)
        b[0] += factor * y * bias * spread.b[0]
        return
    add_spread(table, i, factor, spread.W[y], W[y])
    add_spread(table, i, -factor, spread.W[rival], W[rival])
    b[y] += factor * bias * spread.b[y]
    b[rival] -= factor * bias * spread.b[rival]


@njit(cache=True, nogil=True, forceinline=True)
def shrink_spread(table: Any, i: Any, y: Any, rival: Any, by: float, bias: int, S: Any, s: Any) -> None:
    """What is known of the weights after an update: the spread of each falls by `by`·(spread·x)²."""
    if S.ndim == 1:
        shrink(table, i, by, S)
        s[0] -= by * bias * s[0] * s[0]
        return
    shrink(table, i, by, S[y])
    shrink(table, i, by, S[rival])
    s[y] -= by * bias * s[y] * s[y]
    s[rival] -= by * bias * s[rival] * s[rival]


@njit(cache=True, nogil=True)
def near_of(W: Any, b: Any, longest2: float) -> float:
    """How near to 0 the sign of a score is in doubt."""
    return nearest_certain(W, b[0], longest2)  # type: ignore[no-any-return]


def looks_ahead(table: Any, W: Any, margin: float) -> bool:
    """Whether four rows are faster than one: few columns of floats, in row order, and only their sides matter."""
    is_short = isinstance(table, Dense) and W.ndim == 1 and W.size <= SHORT_ROW and margin == 0
    return is_short and table.values.dtype in (np.float64, np.float32) and W.dtype == np.float64


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
    table: Any, i: Any, y: Any, gap: float, rival: int, before: Any, W: Any, b: Any, lag: Any, foretold: Any
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
def longest_row2(table: Any, start: int, stop: int) -> float:
    """The largest |x|² of rows start..stop."""
    most = 0.0
    for i in range(start, stop):
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
def count_mistakes(table: Any, y: Any, weights: Any, W: Any, b: Any, enough: Any) -> Any:
    """How many rows have a gap of 0 or less, or what they weigh; counting ends at `enough`."""
    mistakes = 0
    for i in range(y.size):
        gap, _ = judge(table, i, y[i], W, b)
        if not gap > 0:
            mistakes += 1 if weights is None else weights[i]
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
    for j in range(log.shape[0]):
        row, label, rival = int(log[j, ROW]), int(log[j, LABEL]), int(log[j, RIVAL])
        y = 2 * label - 1 if b.size == 1 else label
        correct(table, row, y, rival, b.dtype.type(log[j, STEP]), bias, W, b)


@njit(cache=True, nogil=True)
def tally(scores: Any, products: Any, log: Any, survived: Any, bias: float, votes: Any) -> None:
    """Add up the votes of a run's vectors. `scores` are those of the first vector, and are used up.

    The score of each later vector differs by one product of rows, x_i·x, and those are at hand: `products` has a
    row for each logged x_i and, as `scores` and `votes`, a column for each x. A vector votes with as many voices as
    rows it survived; where its score is 0, or its highest score is that of two classes, it has no opinion.
    """
    vote(scores, survived[0], votes)
    for j in range(log.shape[0]):
        row, label, rival, step = int(log[j, ROW]), int(log[j, LABEL]), int(log[j, RIVAL]), log[j, STEP]
        if scores.shape[0] == 1:
            shift(scores, 0, products, row, bias, (2 * label - 1) * step)
        else:
            shift(scores, label, products, row, bias, step)
            shift(scores, rival, products, row, bias, -step)
        vote(scores, survived[j + 1], votes)


@njit(cache=True, nogil=True)
def shift(scores: Any, k: int, products: Any, row: int, bias: float, step: float) -> None:
    """What one update does to the scores of class k."""
    for i in range(scores.shape[1]):
        scores[k, i] += step * (products[row, i] + bias)


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
