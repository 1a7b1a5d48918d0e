"""A Perceptron for any number of classes, and which of its weights to keep.

    Start from W = 0.                                     (one row of weights for each class)
    While some row x of class k has W_k·x <= W_r·x for the best other class r:  W_k += x,  W_r -= x.

Theorem. If some U with |U| = 1 has (U_k - U_r)·x >= gamma > 0 for every row x of class k and every other class r,
and |x| <= R, then at most 2·(R/gamma)² updates are made. With a margin m asked for, (2·R² + 2·m)/gamma².

Proof. Write Z for the matrix with x in row k, -x in row r and 0 elsewhere (Kesler's construction). An update adds a
Z with Z·W <= m and |Z|² = 2·|x|², so the proof of Novikoff holds: t·gamma <= U·W <= |W| <= sqrt(t·(2·R² + 2·m)).

With two classes W_1 = -W_0, so one row of weights is kept: the Perceptron of `perceptron.py`.

Where no weights are right for every row the run never ends, and its last weights are whatever the last mistake left.
`keep` says what else to take: their *average* over all rows walked, the *vote* of all of them, each with as many
voices as rows it survived (Freund and Schapire 1999), or the *best* seen, the pocket (Gallant 1990).
"""

from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import scipy.sparse as sp

from linsep import arguments
from linsep.errors import ArgumentError, OverflowedError
from linsep.halfspace import linear_scores
from linsep.kernels.learning import BORN, ROW, State, count_mistakes, replay, sweep, tally
from linsep.kernels.shuffling import shuffled
from linsep.kernels.walks import ALL_FINE
from linsep.sources.base import Floats, Ints
from linsep.sources.inputs import read_table

Keep = Literal["last", "average", "vote", "best"]
WalkOrder = Literal["cyclic", "shuffled"]
Rows: TypeAlias = Any  # a float array, or a CSR matrix

ROWS_A_CALL = 1 << 16  # how many rows a sweep walks before Python may look up
MOST_VOTERS = 1 << 16  # a longer run keeps its latest vectors: the early ones know the least
PRODUCTS_A_CALL = 1 << 22  # numbers: how many products of rows a vote holds at a time (32 MiB)
ROW_ORDER = None
NOTHING_FORETOLD = np.empty((0, 2), np.int64)
NO_LIMIT = int(np.iinfo(np.int64).max)


@dataclass(frozen=True, slots=True)
class Weights:
    """A row of weights and a bias for each class; a single row for two classes."""

    W: Floats
    b: Floats

    def as_walked(self, is_pair: bool) -> Floats:
        """W as the kernels take it: a single row of weights is a plain vector there."""
        return self.W.reshape(-1) if is_pair else self.W

    def copy(self) -> "Weights":
        """Weights that nobody else changes."""
        return Weights(self.W.copy(), self.b.copy())

    def scores(self, X: Rows) -> Floats:
        """W·x + b, one column for each row of W, at any scale."""
        return linear_scores(X, self.W, self.b)

    def require_finite(self) -> None:
        """Refuse weights that left the range of doubles while they were learned."""
        if not (np.isfinite(self.W).all() and np.isfinite(self.b).all()):
            raise OverflowedError("The weights are beyond the largest double. Divide large columns by a power of two.")


@dataclass(frozen=True, slots=True)
class Pocket:
    """The best weights seen, how many rows they went without a mistake, and their mistakes on the rows at hand."""

    weights: Weights
    run: int
    mistakes: int


@dataclass(frozen=True, slots=True)
class Ballot:
    """The vectors of a run that vote: the first one, and the updates that made each next one out of it.

    A vector costs four integers, not a row of weights, and of the data only the rows that were mistakes are held.
    """

    first: Weights
    born: int  # how many rows were walked before the first vector
    rows: Rows  # the rows that the log names
    log: Ints  # ROW, LABEL, RIVAL, BORN of each update
    walked: int  # how many rows were walked in all
    bias: float

    @property
    def survived(self) -> Floats:
        """How many rows each vector survived, the row that made it included."""
        moments = np.concatenate([[self.born], self.log[:, BORN], [self.walked]])
        return np.asarray(np.diff(moments), dtype=np.float64)

    def votes(self, X: Rows) -> Floats:
        """For each row of X the share of the voices for each class; for two classes those for minus those against."""
        rows, survived = self.rows.astype(np.float64, copy=False), self.survived
        votes = np.zeros((len(self.first.b), X.shape[0]))
        step = max(1, PRODUCTS_A_CALL // max(1, rows.shape[0]))
        for start in range(0, X.shape[0], step):
            part = X[start : start + step].astype(np.float64, copy=False)
            with np.errstate(all="ignore"):
                scores, products = np.ascontiguousarray(self.first.scores(part).T), _products(rows, part)
                largest = np.abs(scores).max(initial=0.0) + len(self.log) * np.abs(products).max(initial=0.0)
            if not np.isfinite(largest):  # a running sum may overflow, and then every later vector's vote is wrong
                raise OverflowedError(
                    "The scores of the vectors that vote are beyond the largest double. "
                    "Divide large columns by a power of two."
                )
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
        replay(table, self.log[:surplus], self.bias, first.as_walked(len(first.b) == 1), first.b)
        return replace(self, first=first, born=int(self.log[surplus - 1, BORN]), log=self.log[surplus:].copy())

    def compact(self) -> "Ballot":
        """The same ballot with a copy of the rows that it needs, and no others."""
        needed, places = np.unique(self.log[:, ROW], return_inverse=True)
        log = self.log.copy()
        log[:, ROW] = places
        return replace(self, rows=self.rows[needed], log=log)

    def __add__(self, later: "Ballot") -> "Ballot":
        """This ballot and one whose first vector was this one's last."""
        log = later.log.copy()
        log[:, ROW] += self.rows.shape[0]
        rows = _stack(self.rows, later.rows)
        return replace(self, rows=rows, log=np.concatenate([self.log, log]), walked=later.walked)


class KeepingLearner:
    """A run in progress over one table or a stream of them: `walk` moves it on."""

    def __init__(
        self,
        n_classes: int,
        n_columns: int,
        *,
        keep: Keep,
        order: WalkOrder,
        bias: bool,
        margin: float,
        seed: int | np.random.Generator,
    ) -> None:
        if keep not in get_args(Keep):
            raise ArgumentError(f"keep is {keep!r}: it must be one of {', '.join(get_args(Keep))}.")
        if order not in get_args(WalkOrder):
            raise ArgumentError(f"order is {order!r}: it must be one of {', '.join(get_args(WalkOrder))}.")
        self.keep, self.order, self.bias, self.margin = keep, order, float(bias), arguments.size("margin", margin)
        vectors = 1 if n_classes == 2 else n_classes
        self.weights = Weights(np.zeros((vectors, n_columns)), np.zeros(vectors))
        lags = vectors if keep == "average" else 0
        self.lag = Weights(np.zeros((lags, n_columns)), np.zeros(lags))
        self.pocket = Pocket(self.weights.copy(), 0, NO_LIMIT)
        self.ballot: Ballot | None = None
        self.walked, self.updates, self.passes, self.converged = 0, 0, 0, False
        self.run = 0
        self.random = np.random.default_rng(seed)

    def walk(self, X: Rows, labels: Ints, max_passes: int) -> Ints:
        """Learn from the rows until a whole pass is clean or the passes are spent; the mistakes made at each row."""
        walk = _Walk(self, X, labels)
        self.converged = False
        while not self.converged and max_passes > 0:
            order = shuffled(self.random, len(labels)) if self.order == "shuffled" else ROW_ORDER
            self.converged = walk.one_pass(order) == 0
            self.passes, max_passes = self.passes + 1, max_passes - 1
        walk.finish()
        self.weights.require_finite()
        self.lag.require_finite()
        return walk.mistakes_per_row

    def predict_then_learn(self, X: Rows, labels: Ints) -> Ints:
        """One pass in row order, each row predicted before it is learned from: its class, and if that was a mistake."""
        foretold = np.empty((len(labels), 2), np.int64)
        walk = _Walk(self, X, labels, foretold)
        self.converged = walk.one_pass(ROW_ORDER) == 0
        self.passes += 1
        walk.finish()
        return foretold

    def add_class(self) -> None:
        """Make room for one class more, with weights 0. Two classes that shared a row of weights get one each."""
        self.weights, self.lag = _with_one_more(self.weights), _with_one_more(self.lag)

    def add_columns(self, n_columns: int) -> None:
        """Make room for columns that no row had so far, with weights 0: there are `n_columns` then."""
        self.weights, self.lag = _widened(self.weights, n_columns), _widened(self.lag, n_columns)
        self.pocket = replace(self.pocket, weights=_widened(self.pocket.weights, n_columns))

    @property
    def kept(self) -> Weights:
        """The weights that `keep` asks for; the last ones where it asks for a vote, which is no single vector."""
        if self.keep == "average" and self.walked:
            t = self.walked
            return Weights(self.weights.W - self.lag.W / t, self.weights.b - self.lag.b / t)
        return self.pocket.weights if self.keep == "best" else self.weights


class _Walk:
    """A learner at work on one table."""

    def __init__(self, learner: KeepingLearner, X: Rows, labels: Ints, foretold: Ints = NOTHING_FORETOLD) -> None:
        self.learner, self.foretold = learner, foretold
        few = len(learner.weights.b) <= 256  # in a shuffled order labels of one byte stay in the cache
        self.labels = labels.astype(np.uint8 if few else np.int64)
        self.table, _, _ = read_table(X)
        self.mistakes_per_row = np.zeros(len(labels), np.int64)
        weights, lag = learner.weights, learner.lag
        is_pair = len(weights.b) == 1
        vectors, lags = weights.as_walked(is_pair), lag.as_walked(is_pair)
        self.state = State(vectors, weights.b, lags, lag.b, self.mistakes_per_row)
        self.ballot: Ballot | None = None
        if learner.keep == "vote":
            nothing = np.empty((0, 4), np.int64)
            self.ballot = Ballot(weights.copy(), learner.walked, X, nothing, learner.walked, learner.bias)
        if learner.keep == "best":  # what the pocket was worth on rows of the past says nothing about these
            learner.pocket = replace(learner.pocket, mistakes=self._mistakes(learner.pocket.weights))

    def one_pass(self, order: Ints | None) -> int:
        """Walk all rows once. Returns the updates made."""
        updates_before, position, n_rows = self.learner.updates, 0, len(self.labels)
        while position < n_rows:
            stop = min(position + ROWS_A_CALL, n_rows)
            position = self._sweep(order, position, stop)
        return self.learner.updates - updates_before

    def finish(self) -> None:
        """Let the last weights compete for the pocket, and hand the ballot in."""
        learner = self.learner
        if learner.keep == "best":
            self._offer_pocket()
        if self.ballot:
            latest = self.ballot.trimmed(MOST_VOTERS).compact()
            is_full = len(latest.log) == MOST_VOTERS
            earlier = None if is_full else learner.ballot
            learner.ballot = (earlier + latest).trimmed(MOST_VOTERS).compact() if earlier else latest

    def _sweep(self, order: Ints | None, start: int, stop: int) -> int:
        """Sweep on from a position; returns the next one."""
        learner = self.learner
        longest = learner.pocket.run if learner.keep == "best" else NO_LIMIT
        log = np.empty((stop - start if self.ballot else 0, 4), np.int64)
        position, updates, learner.run, bad = sweep(
            self.table,
            self.labels,
            order,
            start,
            stop,
            learner.walked,
            learner.run,
            longest,
            learner.margin,
            learner.bias,
            self.state,
            log,
            self.foretold,
        )
        if bad != ALL_FINE:
            raise OverflowedError(
                f"The score of row {bad} is beyond the largest double. Divide large columns by a power of two."
            )
        learner.walked += position - start
        learner.updates += updates
        if self.ballot:
            log = np.concatenate([self.ballot.log, log[:updates]])
            self.ballot = replace(self.ballot, log=log, walked=learner.walked)
            if len(log) > 2 * MOST_VOTERS:
                self.ballot = self.ballot.trimmed(MOST_VOTERS)
        if position < stop:  # a long run is about to end
            self._offer_pocket()
            learner.run = 0
        return int(position)

    def _offer_pocket(self) -> None:
        """The ratchet: a longer run takes the pocket only if it is also right on more of the rows."""
        learner, pocket = self.learner, self.learner.pocket
        mistakes = self._mistakes(learner.weights, pocket.mistakes)
        if mistakes < pocket.mistakes:
            learner.pocket = Pocket(learner.weights.copy(), learner.run, mistakes)

    def _mistakes(self, weights: Weights, enough: int = NO_LIMIT) -> int:
        return int(count_mistakes(self.table, self.labels, weights.as_walked(len(weights.b) == 1), weights.b, enough))


def _widened(weights: Weights, n_columns: int) -> Weights:
    return Weights(np.pad(weights.W, ((0, 0), (0, n_columns - weights.W.shape[1]))), weights.b)


def _with_one_more(weights: Weights) -> Weights:
    W, b = weights.W, weights.b
    if len(b) == 0:
        return weights
    if len(b) == 1:  # W_1 = -W_0: the joint run of two classes, written out
        W, b = np.vstack([-W, W]), np.concatenate([-b, b])
    return Weights(np.vstack([W, np.zeros_like(W[:1])]), np.append(b, 0.0))


def _products(rows: Rows, X: Rows) -> Floats:
    """x_i·x of each of the rows with each row of X."""
    products = rows @ X.T
    return np.ascontiguousarray(products if isinstance(products, np.ndarray) else products.toarray())


def _stack(a: Rows, b: Rows) -> Rows:
    """The rows of both; sparse if either is."""
    if sp.issparse(a) or sp.issparse(b):
        return sp.vstack([sp.csr_array(a), sp.csr_array(b)], format="csr")
    return np.concatenate([a, b])
