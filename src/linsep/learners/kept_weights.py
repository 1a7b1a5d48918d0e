"""What a run of the Perceptron keeps besides its last weights: the best seen, or the votes of all of them.

Where no weights are right for every row the run never ends, and its last weights are whatever the last mistake left.
`keep` says what to use instead: the *average* of the weights over all rows walked, the *vote* of all of them, each
with one vote for every row it survived (Freund and Schapire 1999), or the *best* seen, the pocket (Gallant 1990).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp

from linsep.errors import OverflowedError
from linsep.faults import POWER, fault
from linsep.halfspace import linear_scores
from linsep.loops.judging import count_mistakes
from linsep.loops.sweeps import Vectors
from linsep.loops.update_log import BORN, LOGGED, ROW, STEP, replay, tally
from linsep.sources.base import Array, Block, Floats, Source
from linsep.sources.inputs import read_table

Rows: TypeAlias = Any  # a float array, or a CSR matrix

MOST_VOTERS = 1 << 16  # a longer run keeps its latest vectors: the early ones know the least
PRODUCTS_A_CALL = 1 << 22  # how many products of rows a vote holds at a time (32 MiB)
CANDIDATES = 4  # of the pocket: weights with the longest runs, held until one read of the rows weighs them all
NO_LIMIT = int(np.iinfo(np.int64).max)


@dataclass(frozen=True)
class Weights:
    """A row of weights and a bias for each class; a single row for two classes."""

    W: Array  # of floats; of int64 while a run is exact
    b: Array

    @classmethod
    def zeros(cls, vectors: int, n_columns: int, kind: Any = np.float64) -> "Weights":
        """Where every run starts."""
        return cls(np.zeros((vectors, n_columns), kind), np.zeros(vectors, kind))

    @classmethod
    def ones(cls, vectors: int, n_columns: int) -> "Weights":
        """The spread of weights about which nothing is known yet."""
        return cls(np.ones((vectors, n_columns)), np.ones(vectors))

    @cached_property
    def vectors(self) -> Vectors:
        """The same memory as the loops take it: a single row of weights is a plain vector there."""
        return Vectors(self.W.reshape(-1) if len(self.b) == 1 else self.W, self.b)

    def __getstate__(self) -> dict[str, Any]:
        """What is pickled or copied: not `vectors`, since the copies would not share memory with W and b."""
        return {"W": self.W, "b": self.b}

    def as_floats(self) -> "Weights":
        """The same weights as doubles."""
        return Weights(self.W.astype(np.float64), self.b.astype(np.float64))

    def widened(self, n_columns: int, value: float = 0.0) -> "Weights":
        """The same with weights 0, or another value, for the new columns."""
        wider = ((0, 0), (0, n_columns - self.W.shape[1]))
        return Weights(np.pad(self.W, wider, constant_values=value), self.b)

    def with_one_more(self) -> "Weights":
        """The same with weights 0 for one more class. Two classes that shared a row of weights get one each."""
        W, b = self.W, self.b
        if len(b) == 0:
            return self
        if len(b) == 1:  # W_1 = -W_0: the joint run of two classes, written out
            W, b = np.vstack([-W, W]), np.concatenate([-b, b])
        return Weights(np.vstack([W, np.zeros_like(W[:1])]), np.append(b, 0.0))

    def spread_to_one_more(self) -> "Weights":
        """The same for a spread: that of a new class is 1; two classes that shared theirs get a copy each."""
        W, b = (self.W, self.b) if len(self.b) > 1 else (np.vstack([self.W] * 2), np.repeat(self.b, 2))
        return Weights(np.vstack([W, np.ones_like(W[:1])]), np.append(b, 1.0))

    def copy(self) -> "Weights":
        """An independent copy."""
        return Weights(self.W.copy(), self.b.copy())

    def scores(self, X: Rows) -> Floats:
        """W·x + b, one column for each row of W, at any scale."""
        return linear_scores(X, self.W, self.b)

    def require_finite(self) -> None:
        """Refuse weights that left the range of doubles while they were learned."""
        if not (np.isfinite(self.W).all() and np.isfinite(self.b).all()):
            raise fault("weights overflow", kind="double")


@dataclass(frozen=True, slots=True)
class Candidate:
    """Weights, and how many rows in succession they had no mistake on."""

    weights: Weights
    run: int


@dataclass
class Pocket:
    """The weights with the fewest mistakes of those weighed, and the candidates for the next weighing.

    A mistake during a pass is a mistake on one row; only a read of all rows shows what weights are worth. So weights
    with a long run are held, and weighed together in one read, after a pass that made as few updates as any before it
    or had a longer run. Not after the first pass: the second may be clean, and then nothing needs weighing. (Gallant's
    ratchet weighs any weights with a longer run at once: each time another read of a file, for no fewer mistakes.)
    """

    weights: Weights
    run: int = 0
    mistakes: int | float = NO_LIMIT  # where rows have weights, the sum of those of the mistakes
    held: list[Candidate] = field(default_factory=list)
    passes: int = 0  # of this walk; the next three fields say what they showed
    updates: int = 0
    fewest: int = NO_LIMIT
    longest: int = -1

    @property
    def threshold(self) -> int:
        """A run must be longer than this to be held."""
        return self.held[-1].run if len(self.held) == CANDIDATES else -1

    def hold(self, weights: Weights, run: int) -> None:
        """Hold weights with a long run."""
        if run > self.threshold:
            self.held.append(Candidate(weights.copy(), run))
            self.held.sort(key=lambda candidate: -candidate.run)
            del self.held[CANDIDATES:]

    def begin(self, source: Source, updates: int) -> None:
        """Begin a walk over other rows: how good the weights were on earlier rows says nothing about these."""
        self.passes, self.updates, self.fewest, self.longest = 0, updates, NO_LIMIT, -1
        self.mistakes, self.held = source.facts.total_weight, []
        if self.weights.W.any() or self.weights.b.any():
            self.mistakes, self.held = NO_LIMIT, [Candidate(self.weights, self.run)]
            self.weigh(source)

    def end_pass(self, source: Source, weights: Weights, run: int, updates: int, passes: int) -> None:
        """Note the end of a pass that was not clean."""
        self.hold(weights, run)
        made, longest = updates - self.updates, self.held[0].run
        if self.passes > 0 and (made <= self.fewest or longest > self.longest):
            self.weigh(source)
        self.passes, self.updates = passes, updates
        self.fewest, self.longest = min(self.fewest, made), max(self.longest, longest)

    def end(self, source: Source, weights: Weights, run: int, *, is_clean: bool) -> None:
        """Note the end of the walk: after a clean pass no weights are better than these; else they are weighed too."""
        if is_clean:
            self.weights, self.run, self.mistakes, self.held = weights.copy(), run, 0, []
        else:
            self.held.append(Candidate(weights.copy(), run))
            self.weigh(source)

    def weigh(self, source: Source) -> None:
        """Count the mistakes of the candidates in one read of the rows, and keep the best weights."""
        weights = tuple(candidate.weights for candidate in self.held)
        counts: list[int | float] = [0] * len(self.held)
        for made in source.each(partial(_mistakes_in, weights, self.mistakes)):
            counts = [count + own for count, own in zip(counts, made, strict=True)]
        for candidate, count in zip(self.held, counts, strict=True):
            if count < self.mistakes:
                self.weights, self.run, self.mistakes = candidate.weights, candidate.run, count
        self.held = []


def _mistakes_in(weights: Sequence[Weights], enough: float, block: Block) -> list[int | float]:
    """How many mistakes each of several weights makes in a block; counting ends at `enough`."""
    kind = int if block.weights is None else float
    return [kind(count_mistakes(block.table, block.y, block.weights, *w.vectors, kind(enough))) for w in weights]


@dataclass(frozen=True, slots=True)
class Ballot:
    """The vectors of a run that vote: the first one, and the updates that made each next one out of it.

    A vector takes five numbers, not a row of weights, and of the data only the rows that were mistakes are held.
    """

    first: Weights
    born: int | float  # how many rows were walked before the first vector
    rows: Rows  # the rows that the log names
    log: Floats  # ROW, LABEL, RIVAL, BORN, STEP of each update
    walked: int | float  # how many rows were walked in all
    bias: int

    @property
    def survived(self) -> Floats:
        """How many rows each vector survived, including the row that made it."""
        moments = np.concatenate([[self.born], self.log[:, BORN], [self.walked]])
        return np.asarray(np.diff(moments), dtype=np.float64)

    def votes(self, X: Rows) -> Floats:
        """For each row of X each class's share of the votes; for two classes the share for minus the share against."""
        rows, survived = self.rows.astype(np.float64, copy=False), self.survived
        votes = np.zeros((len(self.first.b), X.shape[0]))
        step = max(1, PRODUCTS_A_CALL // max(1, rows.shape[0]))
        for start in range(0, X.shape[0], step):
            part = X[start : start + step].astype(np.float64, copy=False)
            with np.errstate(all="ignore"):
                scores, products = np.ascontiguousarray(self.first.scores(part).T), _products(rows, part)
                moved = self.log[:, STEP].sum() * np.abs(products).max(initial=0.0)
                largest = np.abs(scores).max(initial=0.0) + moved
            if not np.isfinite(largest):  # a running sum may overflow, and then every later vector's vote is wrong
                raise OverflowedError("The scores of the voting vectors are beyond the largest double.", fix=POWER)
            share = np.zeros_like(scores)
            tally(scores, products, self.log, survived, self.bias, share)
            votes[:, start : start + step] = share
        shares: Floats = votes.T / survived.sum()
        return shares

    def trimmed(self, most: int) -> "Ballot":
        """The same ballot with its latest `most` updates only."""
        surplus = len(self.log) - most
        if surplus <= 0:
            return self
        first = self.first.copy()
        table, _, _ = read_table(self.rows)
        replay(table, self.log[:surplus], self.bias, *first.vectors)
        return replace(self, first=first, born=_count(self.log[surplus - 1, BORN]), log=self.log[surplus:].copy())

    def compact(self) -> "Ballot":
        """The same ballot with a copy of the rows that it needs, and no others."""
        needed, places = np.unique(self.log[:, ROW].astype(np.int64), return_inverse=True)
        log = self.log.copy()
        log[:, ROW] = places
        return replace(self, rows=self.rows[needed], log=log)

    def __add__(self, later: "Ballot") -> "Ballot":
        """This ballot and one whose first vector was this one's last."""
        log = later.log.copy()
        log[:, ROW] += self.rows.shape[0]
        rows = _stack(self.rows, later.rows)
        return replace(self, rows=rows, log=np.concatenate([self.log, log]), walked=later.walked)


@dataclass(slots=True)
class Voters:
    """The vectors of a walk that vote, stored as row numbers: the rows themselves are only fetched at the end.

    Each stretch of the log is stored with the weights before its first update, so that old stretches can be dropped.
    """

    bias: int
    walked: int | float
    stretches: list[tuple[Weights, int | float, list[Floats]]] = field(
        default_factory=list
    )  # first weights, born, the log

    def begin(self, weights: Weights) -> None:
        """Before rows are walked: end a stretch that has become long, and drop the oldest if it is not needed."""
        if not self.stretches or _length(self.stretches[-1][2]) >= MOST_VOTERS:
            self.stretches.append((weights.copy(), self.walked, []))
        while sum(_length(log) for _, _, log in self.stretches[1:]) >= MOST_VOTERS:
            del self.stretches[0]

    def add(self, block: Block, log: Floats, walked: int | float) -> None:
        """Add the updates made in a block; `walked` is how many rows were walked in all after it."""
        if len(log):
            log = log.copy()
            log[:, ROW] = block.row_numbers[log[:, ROW].astype(np.int64)]
            self.stretches[-1][2].append(log)
        self.walked = walked

    def ballot(self, source: Source) -> "Ballot | None":
        """The ballot of the walk, with the rows that it needs."""
        if not self.stretches:
            return None
        first, born, _ = self.stretches[0]
        log = np.concatenate([np.empty((0, LOGGED)), *(part for _, _, parts in self.stretches for part in parts)])
        surplus = len(log) - MOST_VOTERS
        if surplus > 0:
            _, rows, early = _with_rows(source, log[:surplus])
            first, born, log = first.copy(), _count(log[surplus - 1, BORN]), log[surplus:]
            replay(rows.table, early, self.bias, *first.vectors)
        values, _, log = _with_rows(source, log)
        return Ballot(first.as_floats(), born, values, log, self.walked, self.bias)


def joined(earlier: Ballot | None, later: Ballot | None) -> Ballot | None:
    """The ballot of two walks, one after the other, with at most `MOST_VOTERS` of the latest vectors."""
    if earlier is None or later is None or len(later.log) == MOST_VOTERS:
        return later or earlier
    return (earlier + later).trimmed(MOST_VOTERS).compact()


def _with_rows(source: Source, log: Floats) -> tuple[Rows, Block, Floats]:
    """The rows that a log names, and the log with their places among these."""
    needed, places = np.unique(log[:, ROW].astype(np.int64), return_inverse=True)
    log = log.copy()
    log[:, ROW] = places
    block = source.take(needed)
    return block.values, block, log


def _length(log: list[Floats]) -> int:
    return sum(map(len, log))


def _count(rows: float) -> int | float:
    """A number of rows: an integer, unless weights make it a fraction."""
    return int(rows) if float(rows).is_integer() else float(rows)


def _products(rows: Rows, X: Rows) -> Floats:
    """x_i·x of each of the rows with each row of X."""
    products = rows @ X.T
    return np.ascontiguousarray(products if isinstance(products, np.ndarray) else products.toarray())


def _stack(a: Rows, b: Rows) -> Rows:
    """The rows of both; sparse if either is."""
    if sp.issparse(a) or sp.issparse(b):
        return sp.vstack([sp.csr_array(a), sp.csr_array(b)], format="csr")
    return np.concatenate([a, b])
