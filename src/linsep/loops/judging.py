"""How far the class of a row is ahead (its *gap*), and what is counted and predicted with it.

The gap is y·score for two classes, where y is -1 or +1; for more it is the score of the row's class minus the best
other score, and y is the position of the class. A gap of 0 or less is a mistake.
"""

from typing import Any

import numpy as np

from linsep.loops import csr, dense  # noqa: F401  (they teach Numba the verbs of row_verbs.py)
from linsep.loops.compiler import njit
from linsep.loops.row_verbs import dot

PREDICTED, MISSED = range(2)  # what is predicted for a row: its class, and whether that was a mistake


@njit(cache=True, nogil=True, forceinline=True)
def judge(table: Any, i: Any, y: Any, W: Any, b: Any) -> tuple[Any, int]:
    """The gap of row i, and the best of the other classes. The gap is not finite if a score is not."""
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

    Returns whether the score was a finite number.

    If the average is kept, the average so far, over `before` rows, predicts. The label does not influence the
    prediction: it only gives the side from which the gap was measured.
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
def count_mistakes(table: Any, y: Any, weights: Any, W: Any, b: Any, enough: Any) -> Any:
    """How many rows have a gap of 0 or less, or the sum of their weights; counting ends at `enough`."""
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
