"""The dual Perceptron on a block of kernel values: learn along a walk, and count the votes of a whole run.

A hypothesis is f(x) = Σ coef_j·K(x_j, x). A run is a log of changes to it, `coef[row] += delta`; each change ends
the hypothesis before it, so the log with the rows that each one survived is the whole history of the run.
"""

from typing import Any, NamedTuple

from linsep.loops.compiler import njit


class Dual(NamedTuple):
    """What a walk changes: the signed dual counts, the mistakes on each row, and what it must remember."""

    coef: Any  # coef[i] = alpha_i·y_i; 0 where row i is not in the support
    mistakes_per_row: Any
    queue: Any  # the support rows in the order they came, as a ring; empty where there is no budget
    memory: Any  # [rows the current hypothesis survived, head of the queue, rows in the queue]


class Log(NamedTuple):
    """The changes of one walk: row, delta, and how many rows the hypothesis before the change survived."""

    rows: Any
    deltas: Any
    survived: Any


SURVIVED, HEAD, SIZE = 0, 1, 2


@njit(cache=True, nogil=True)
def walk(gram: Any, place: Any, rows: Any, order: Any, y: Any, scores: Any, dual: Dual, log: Log) -> int:
    """Visit the rows in the given order of positions: at a mistake, y·score <= 0, coef += y. Returns the changes made.

    `gram[place[j]]` holds K(x_j, ·) on these rows, for every row j that may enter or leave the support meanwhile.
    `scores` are those of these rows, and stay right: after the walk they know every change in the log.
    """
    written = 0
    budget, memory = dual.queue.size, dual.memory
    for position in order:
        row = rows[position]
        if y[row] * scores[position] > 0:
            memory[SURVIVED] += 1
            continue
        if budget > 0 and dual.coef[row] == 0:
            if memory[SIZE] == budget:
                oldest = dual.queue[memory[HEAD]]
                memory[HEAD] = (memory[HEAD] + 1) % budget
                memory[SIZE] -= 1
                written = change(oldest, -dual.coef[oldest], gram[place[oldest]], scores, dual, log, written)
            dual.queue[(memory[HEAD] + memory[SIZE]) % budget] = row
            memory[SIZE] += 1
        written = change(row, y[row], gram[place[row]], scores, dual, log, written)
        dual.mistakes_per_row[row] += 1
        memory[SURVIVED] = 1  # a hypothesis is credited with the row that made it (Freund and Schapire)
    return written


@njit(cache=True, nogil=True)
def change(row: int, delta: float, column: Any, scores: Any, dual: Dual, log: Log, written: int) -> int:
    """coef[row] += delta, in the scores and in the log."""
    dual.coef[row] += delta
    for q in range(scores.size):
        scores[q] += delta * column[q]
    log.rows[written], log.deltas[written], log.survived[written] = row, delta, dual.memory[SURVIVED]
    dual.memory[SURVIVED] = 0
    return written + 1


@njit(cache=True, nogil=True)
def vote(gram: Any, places: Any, deltas: Any, counts: Any, votes: Any) -> None:
    """votes[r] = Σ_k counts[k]·sign(f_k(x_r)), f_k the hypothesis after change k.

    Since f_k = f_(k-1) + delta_k·K(x_k, ·), one running sum meets every hypothesis: O(changes) for each row.
    """
    for r in range(votes.size):
        score, total = 0.0, 0
        for k in range(places.size):
            score += deltas[k] * gram[r, places[k]]
            if score > 0:
                total += counts[k]
            elif score < 0:
                total -= counts[k]
        votes[r] = total
