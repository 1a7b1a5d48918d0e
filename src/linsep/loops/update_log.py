"""The log of a run: from it the updates can be repeated, and every vector that the run had can vote."""

from typing import Any

from linsep.loops.compiler import njit
from linsep.loops.updates import correct

LOGGED = 5  # numbers of an update: the row, its label, its rival, after how many rows, and how far the update went
ROW, LABEL, RIVAL, BORN, STEP = range(LOGGED)


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

    The score of each later vector differs by one product of rows, x_i·x, which is known: `products` has a row for each
    logged x_i and, like `scores` and `votes`, a column for each x. A vector has one vote for every row it survived; if
    its score is 0, or two classes tie for the highest score, it does not vote.
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
