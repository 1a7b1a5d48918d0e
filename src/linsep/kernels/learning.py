"""Learning with any number of classes: `sweep` learns as it goes, `tally` lets every vector of a run vote.

One row of weights for two classes (label 1 is the positive side), else one for each class. A row's *gap* is how
far its own class is ahead: y·score for two classes, the score of its class minus the best other score for more.
A mistake is a row whose gap is at most the margin asked for. Written once on the verbs of `rows.py`.
"""

from typing import Any, NamedTuple

import numpy as np

from linsep.kernels import csr, dense  # noqa: F401  (they teach Numba the verbs of rows.py)
from linsep.kernels.compiler import njit
from linsep.kernels.lanes import prefetch_line
from linsep.kernels.rows import add, dot, fetch, follow, lead, norm2
from linsep.kernels.walks import ALL_FINE

ROW, LABEL, RIVAL, BORN = range(4)  # what is logged of an update: who was mistaken, for what, after how many rows
PREDICTED, MISSED = range(2)  # what is foretold of a row: its class, and whether that was a mistake


class State(NamedTuple):
    """What a sweep changes. `lag` sums up the updates, each times the rows walked before it, so that the average
    of the weights over t rows is W - lag/t; it has no rows where nobody asks for the average."""

    W: Any
    b: Any
    lag: Any
    lag_b: Any
    mistakes_per_row: Any


@njit(cache=True, nogil=True)
def sweep(
    table: Any,
    labels: Any,
    order: Any,
    start: int,
    stop: int,
    walked: int,
    run: int,
    longest: int,
    margin: float,
    bias: float,
    state: State,
    log: Any,
    foretold: Any,
) -> tuple[int, int, int, int]:
    """Walk positions start..stop of the order (None: row order) and learn.

    `walked` rows came before, the last `run` of them without a mistake.

    Stops before an update that would end a run longer than `longest`: the caller may want to keep these weights.
    Called again from there with a run of 0, it makes the update. Updates are logged where `log` has places, and where
    `foretold` has, each row is predicted before it is learned from.
    Returns the next position, the updates made, the run, and the row whose score is not finite (or ALL_FINE).
    """
    W, b, lag, lag_b, mistakes_per_row = state
    updates, ahead = 0, lead(table)
    for position in range(start, stop):
        i = position
        if order is not None:
            i = order[position]
            if position + ahead < stop:
                fetch(table, order[position + ahead], order[min(position + 2 * ahead, stop - 1)])
                prefetch_line(mistakes_per_row, order[position + ahead])
        else:
            follow(table, i)
        label = labels[i]
        gap, rival = judge(table, i, label, W, b)
        before = walked + position - start
        if foretold.shape[0] > 0 and not foretell(table, i, label, gap, rival, before, state, foretold):
            return position, updates, run, i
        if margin < gap < np.inf:
            run += 1
            continue
        if not np.isfinite(gap):
            return position, updates, run, i
        if run > longest:
            return position, updates, run, ALL_FINE
        correct(table, i, label, rival, 1.0, bias, W, b)
        if lag_b.size > 0:
            correct(table, i, label, rival, float(before), bias, lag, lag_b)
        if log.shape[0] > 0:
            log[updates, ROW], log[updates, LABEL], log[updates, RIVAL], log[updates, BORN] = i, label, rival, before
        mistakes_per_row[i] += 1
        run, updates = 0, updates + 1
    return stop, updates, run, ALL_FINE


@njit(cache=True, nogil=True, forceinline=True)
def judge(table: Any, i: Any, label: Any, W: Any, b: Any) -> tuple[float, int]:
    """The gap of row i, and the best of the other classes. NaN where a score is not finite."""
    if W.ndim == 1:
        return (2.0 * label - 1.0) * (dot(table, i, W) + b[0]), 0
    own, best, rival = 0.0, -np.inf, -1
    for k in range(W.shape[0]):
        score = dot(table, i, W[k]) + b[k]
        if not np.isfinite(score):
            return np.nan, k
        if k == label:
            own = score
        elif score > best:
            best, rival = score, k
    return own - best, rival


@njit(cache=True, nogil=True)
def foretell(table: Any, i: Any, label: Any, gap: float, rival: int, before: int, state: State, foretold: Any) -> bool:
    """Write down the class that the weights predict for row i, and whether that is a mistake (a tie is one).

    Says whether the score was a finite number.

    Where the average is kept it is the average so far, over `before` rows, that predicts. The label decides nothing:
    it only says from which side the gap was measured.
    """
    if state.lag_b.size > 0 and before > 0:
        gap, rival = judge_average(table, i, label, 1.0 / before, state.W, state.b, state.lag, state.lag_b)
    is_pair = state.b.size == 1
    winner = label
    if gap < 0:
        winner = 1 - label if is_pair else rival
    elif gap == 0:
        winner = 0 if is_pair else min(label, rival)
    foretold[i, PREDICTED], foretold[i, MISSED] = winner, not gap > 0
    return bool(np.isfinite(gap))


@njit(cache=True, nogil=True)
def judge_average(
    table: Any, i: Any, label: Any, share: float, W: Any, b: Any, lag: Any, lag_b: Any
) -> tuple[float, int]:
    """The gap of row i and its rival under the average W - share·lag."""
    if W.ndim == 1:
        return (2.0 * label - 1.0) * (dot(table, i, W) + b[0] - share * (dot(table, i, lag) + lag_b[0])), 0
    own, best, rival = 0.0, -np.inf, -1
    for k in range(W.shape[0]):
        score = dot(table, i, W[k]) + b[k] - share * (dot(table, i, lag[k]) + lag_b[k])
        if k == label:
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
def correct(table: Any, i: Any, label: Any, rival: Any, factor: float, bias: float, W: Any, b: Any) -> None:
    """The update, times a factor: towards the true class, away from its rival."""
    if W.ndim == 1:
        signed = factor * (2.0 * label - 1.0)
        add(table, i, signed, W)
        b[0] += signed * bias
        return
    add(table, i, factor, W[label])
    add(table, i, -factor, W[rival])
    b[label] += factor * bias
    b[rival] -= factor * bias


@njit(cache=True, nogil=True)
def count_mistakes(table: Any, labels: Any, W: Any, b: Any, enough: int) -> int:
    """How many rows have a gap of 0 or less; counting ends at `enough`."""
    mistakes = 0
    for i in range(labels.size):
        gap, _ = judge(table, i, labels[i], W, b)
        if not gap > 0:
            mistakes += 1
            if mistakes >= enough:
                break
    return mistakes


@njit(cache=True, nogil=True)
def replay(table: Any, log: Any, bias: float, W: Any, b: Any) -> None:
    """Make the logged updates again, in the same order and so with the same rounding."""
    for j in range(log.shape[0]):
        correct(table, log[j, ROW], log[j, LABEL], log[j, RIVAL], 1.0, bias, W, b)


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
