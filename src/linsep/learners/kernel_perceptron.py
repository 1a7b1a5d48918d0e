"""The kernel Perceptron: the Perceptron where rows are used only through a kernel K(x, x').

The weights are w = Σ alpha_i·y_i·phi(x_i), alpha_i the mistakes made on row i (the dual form), so the score of a row is
f(x) = Σ alpha_i·y_i·K(x_i, x), and neither w nor phi is ever written down.

    Start from alpha = 0.
    While some row has y·f(x) <= 0:  alpha_i += 1 at that row.

Novikoff's theorem holds as it stands, with R² = max K(x, x) and gamma the margin in the kernel's space.

The n × n kernel matrix is never formed for large n. Rows are walked in blocks, and a block is brought up to date when
its turn comes: the rows whose alpha changed since its last turn need one matrix product for all classes at once.

Freund and Schapire, Large margin classification using the perceptron algorithm, Machine Learning 37 (1999);
Gallant, Perceptron-based learning algorithms, IEEE Transactions on Neural Networks 1 (1990).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from linsep.errors import OverflowedError
from linsep.learners.perceptron import Keep, WalkOrder
from linsep.loops import gram
from linsep.sources.base import Floats, Ints, Signs

ONE_BLOCK = 2048  # rows: for up to this many the kernel matrix (32 MiB) is made once and kept
BLOCK_ROWS = 1024  # in each block of a longer table
ENTRIES_A_CALL = 1 << 22  # kernel values held at a time: 32 MiB


class History(NamedTuple):
    """The changes of one problem's run in order, and how many rows each hypothesis survived."""

    rows: Ints
    deltas: Floats
    counts: Ints
    converged: bool

    def kept(self, keep: Keep, n_rows: int) -> Floats:
        """The dual coefficients of the hypothesis that stands for the run."""
        if keep == "average":  # the change k is part of every hypothesis from k on
            part = self.counts[::-1].cumsum()[::-1] / self.counts.sum()
            return _summed(self.rows, self.deltas * part, n_rows)
        end = len(self.rows)
        if keep == "best" and not self.converged:  # no hypothesis is better than one that survived a whole pass
            end = int(self.counts.argmax()) + 1
        return _summed(self.rows[:end], self.deltas[:end], n_rows)


@dataclass(frozen=True, slots=True)
class KernelRows:
    """The training rows, used only through their kernel values."""

    X: Any
    kernel_values: Callable[[Any, Any], Floats]

    def __len__(self) -> int:
        return int(self.X.shape[0])

    def between(self, a: Ints, b: Ints) -> Floats:
        """K of each row in a with each row in b."""
        return self.kernel_values(self.X[a], self.X[b])


class Changes(NamedTuple):
    """What one walk over one block changed in one problem."""

    problem: int
    rows: Ints
    deltas: Floats
    survived: Ints


@dataclass(slots=True)
class KernelStretch:
    """Rows walked together: their scores (one line per problem), and how much of the log the scores include."""

    rows: Ints
    scores: Floats
    known: int = 0
    own: Floats | None = None  # their kernel values with each other, kept if there is only one block


class DualPerceptron:
    """A run on several one-against-rest problems that share their kernel values."""

    def __init__(
        self, rows: KernelRows, signs: Signs, budget: int | None, order: WalkOrder, random: np.random.RandomState
    ) -> None:
        self.rows, self.signs, self.order = rows, signs, order
        self.coef = np.zeros(signs.shape)
        self.mistakes_per_row = np.zeros(signs.shape, np.int64)
        self.active = list(range(len(signs)))
        self.passes = 0
        self.log: list[Changes] = []
        self._random = random
        self._queues = np.zeros((len(signs), budget or 0), np.int64)
        self._memory = np.zeros((len(signs), 3), np.int64)
        self._place = np.full(len(rows), -1)
        self._blocks = list(self._cut())

    def _cut(self) -> Iterator[KernelStretch]:
        n_rows = len(self.rows)
        drawn = self._random.permutation(n_rows) if self.order == "shuffled" else np.arange(n_rows)
        step = n_rows if n_rows <= ONE_BLOCK else BLOCK_ROWS
        for start in range(0, n_rows, step):
            rows = drawn[start : start + step]
            yield KernelStretch(rows, np.zeros((len(self.signs), len(rows))))

    def learn(self, max_passes: int) -> None:
        """Pass over the rows until each problem has had a pass without a mistake, or the passes are used up."""
        while self.active and self.passes < max_passes:
            self.passes += 1
            begun = len(self.log)
            for k in self._sequence(len(self._blocks)):
                self._visit(self._blocks[k])
            if not all(np.isfinite(block.scores).all() for block in self._blocks):
                raise OverflowedError(
                    "Some scores are beyond the largest double.", fix="Scale the columns, or lower the degree."
                )
            mistaken = {changes.problem for changes in self.log[begun:]}
            self.active = [problem for problem in self.active if problem in mistaken]

    def history(self, problem: int) -> History:
        """Everything that happened in one problem."""
        chunks = [changes for changes in self.log if changes.problem == problem]
        survived = np.concatenate([changes.survived for changes in chunks])
        return History(
            np.concatenate([changes.rows for changes in chunks]),
            np.concatenate([changes.deltas for changes in chunks]),
            np.append(survived[1:], self._memory[problem, gram.SURVIVED]),  # each is known when the next one begins
            problem not in self.active,
        )

    def _sequence(self, count: int) -> Ints:
        sequence: Ints = self._random.permutation(count) if self.order == "shuffled" else np.arange(count)
        return sequence

    def _visit(self, block: KernelStretch) -> None:
        self._catch_up(block)
        order = self._sequence(len(block.rows))
        lowest = (self.signs[:, block.rows] * block.scores).min(axis=1)
        at_work = [problem for problem in self.active if not lowest[problem] > 0]
        for problem in set(self.active).difference(at_work):
            self._memory[problem, gram.SURVIVED] += len(block.rows)
        if not at_work:
            return  # and no kernel value of this block was needed
        own = self._own_values(block)
        for problem in at_work:
            self._walk(problem, block, order, self._with_leaving(problem, block, own))
        block.known = len(self.log)

    def _walk(self, problem: int, block: KernelStretch, order: Ints, values: Floats) -> None:
        size = 2 * len(order)  # a mistake may add one row and remove one
        log = gram.Log(np.empty(size, np.int64), np.empty(size), np.empty(size, np.int64))
        dual = gram.Dual(
            self.coef[problem], self.mistakes_per_row[problem], self._queues[problem], self._memory[problem]
        )
        scores = block.scores[problem]
        written = gram.walk(values, self._place, block.rows, order, self.signs[problem], scores, dual, log)
        if written:
            self.log.append(Changes(problem, *(column[:written].copy() for column in log)))

    def _catch_up(self, block: KernelStretch) -> None:
        """Bring the scores up to date with every change since the block's last turn."""
        news = self.log[block.known :]
        block.known = len(self.log)
        if not news:
            return
        rows, at = np.unique(np.concatenate([changes.rows for changes in news]), return_inverse=True)
        problems = np.repeat([changes.problem for changes in news], [len(changes.rows) for changes in news])
        deltas = np.zeros((len(self.signs), len(rows)))
        np.add.at(deltas, (problems, at), np.concatenate([changes.deltas for changes in news]))
        step = max(1, ENTRIES_A_CALL // len(block.rows))
        for start in range(0, len(rows), step):
            part = slice(start, start + step)
            block.scores += deltas[:, part] @ self.rows.between(rows[part], block.rows)

    def _own_values(self, block: KernelStretch) -> Floats:
        """Kernel values of the block's rows with each other; sets their places in `_place`."""
        self._place[block.rows] = np.arange(len(block.rows))
        if block.own is not None:
            return block.own
        own = self.rows.between(block.rows, block.rows)
        if len(self._blocks) == 1:
            block.own = own
        return own

    def _with_leaving(self, problem: int, block: KernelStretch, own: Floats) -> Floats:
        """The same, and below them those of the rows that the budget may remove during a walk; sets their places.

        At most as many leave as exceed the budget, the oldest first; after these, rows of the block itself.
        """
        queue, (_, head, size) = self._queues[problem], self._memory[problem]
        excess = max(0, size + len(block.rows) - len(queue))
        leaving = np.setdiff1d(np.roll(queue, -head)[: min(excess, size)], block.rows)
        if not leaving.size:
            return own
        self._place[leaving] = len(own) + np.arange(len(leaving))
        return np.concatenate([own, self.rows.between(leaving, block.rows)])


def _summed(rows: Ints, deltas: Floats, n_rows: int) -> Floats:
    return np.bincount(rows, deltas, n_rows).astype(np.float64)
