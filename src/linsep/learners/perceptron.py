"""The Perceptron.

    Start from w = 0, b = 0.
    While some row has y·(w·x + b) <= 0:  w += y·x,  b += y.

Theorem (Novikoff 1962). Write Z = y·(x, 1) and W = (w, b). If |Z| <= R for every row, and some unit vector U
has Z·U >= gamma > 0 for every row, then at most (R/gamma)² updates are made.

Proof. Each update adds a row Z with Z·W <= 0. So W·U grows by Z·U >= gamma, and |W|² grows by
2·Z·W + |Z|² <= R². After k updates  k·gamma <= W·U <= |W| <= sqrt(k)·R,  hence k <= (R/gamma)².

More than two classes have a row of weights each, and a row of class k is a mistake while W_k·x <= W_r·x for the best
other class r:  W_k += x,  W_r -= x. Write Z for the matrix with x in row k, -x in row r and 0 elsewhere (Kesler's
construction): |Z|² = 2·|x|², so the same proof gives 2·(R/gamma)², and (2·R² + 2·m)/gamma² where a margin m is
required. Two classes are the case W_1 = -W_0, where one row of weights is enough.

If no hyperplane separates the classes, the updates never end; but no length of waiting proves that they will not.
`keep` says which weights of such a run are used (see `kept_weights.py`).

`plain_rule` is the algorithm as a loop to read. What runs is the same loop compiled, `sweep` in loops/sweeps.py, and
tests compare the two; it also knows weights of rows and rules that choose how far to go (loops/updates.py). A
`Perceptron` uses it to learn from one block of rows, and a `Learner` (learner.py) to learn from all rows of a source,
pass after pass. Everything here that learns a hyperplane from rows is one of the two.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np

from linsep import arguments
from linsep.errors import ArgumentError
from linsep.faults import fault
from linsep.learners.kept_weights import NO_LIMIT, Ballot, Pocket, Voters, Weights
from linsep.learners.learner import ROW_ORDER, Learner
from linsep.learners.perceptron_run import PerceptronRun, Step
from linsep.learners.vanishing import require_scores
from linsep.loops.scans import ALL_FINE
from linsep.loops.shuffling import shuffled
from linsep.loops.sweeps import End, looks_ahead, sweep
from linsep.loops.update_log import LOGGED
from linsep.loops.updates import Hinge
from linsep.sources.base import Array, Block, Ints, Source
from linsep.sources.inputs import asked
from linsep.tables.categories import Categories
from linsep.tables.given_rows import Given, Missing

Order = Literal["cyclic", "restart", "shuffled", "worst"]
WalkOrder = Literal["cyclic", "shuffled"]
Keep = Literal["last", "average", "vote", "best"]
Rule = Literal["perceptron", "pa1", "pa2", "arow"]

NEARLY_1 = 1 - 2.0**-30  # what a gap of 1 may be rounded to
LOGGED_A_CALL = 1 << 16  # rows a sweep walks before it returns to Python, where every update may be logged


def plain_rule(
    X: Array,
    labels: Sequence[int],
    n_classes: int = 2,
    *,
    order: Order = "cyclic",
    bias: int = 1,
    margin: float = 0,
    random: np.random.Generator | None = None,
) -> Iterator[tuple[int, bool, Array, Array]]:
    """The rule, written as plainly as possible: after each row its number, whether it was a mistake, and the weights.

    `labels` are positions among the classes. There is one row of weights for two classes, else one for each.
    """
    vectors = 1 if n_classes == 2 else n_classes
    W, b = np.zeros((vectors, X.shape[1]), X.dtype), np.zeros(vectors, X.dtype)
    is_clean = False
    while not is_clean:
        is_clean = True
        for i in rows_of_a_pass(X, labels, W, b, order, random):
            scores = W @ X[i] + b
            y = direction(scores, labels[i])
            is_mistake = bool(y @ scores <= margin)
            if is_mistake:
                W += y[:, None] * X[i]  # w += y·x
                b += y * bias
                is_clean = False
            yield i, is_mistake, W.copy(), b.copy()
            if is_mistake and order in ("restart", "worst"):
                break


def direction(scores: Array, label: int) -> Array:
    """Where an update adds x (+1) and where it subtracts it (-1): [y] for two classes, else the class and its rival."""
    if len(scores) == 1:
        return np.array([2 * label - 1])
    y = np.zeros(len(scores), np.int64)
    rivals = [k for k in range(len(scores)) if k != label]
    y[label], y[max(rivals, key=lambda k: scores[k])] = 1, -1
    return y


def rows_of_a_pass(
    X: Array, labels: Sequence[int], W: Array, b: Array, order: Order, random: np.random.Generator | None
) -> Sequence[int]:
    """The rows that a pass walks, in order; of "worst" the one that is furthest on the wrong side."""
    if order == "shuffled":
        return [int(i) for i in shuffled(random or np.random.default_rng(), len(X))]
    if order == "worst":
        scores = X @ W.T + b
        return [int(np.argmin([direction(own, k) @ own for own, k in zip(scores, labels, strict=True)]))]
    return range(len(X))


class Perceptron:
    """The weights of a run, what is kept of it, and how far it got: `learn` moves it on along some rows.

    `rule` says how far an update goes; `C` is the longest step of "pa1", and shortens those of "pa2" and "arow".
    With `exact_updates` above 0 the weights are integers of 64 bits for that many updates, without any rounding.
    """

    def __init__(
        self,
        n_classes: int,
        n_columns: int,
        *,
        keep: Keep = "last",
        order: Order = "cyclic",
        bias: bool = True,
        margin: float = 0.0,
        rule: Rule = "perceptron",
        C: float = 1.0,
        seed: int | np.random.Generator | None = None,
        exact_updates: int = 0,
    ) -> None:
        arguments.one_of("keep", keep, get_args(Keep))
        arguments.one_of("order", order, get_args(Order))
        arguments.one_of("rule", rule, get_args(Rule))
        self.rule, self.C = rule, arguments.positive("C", C)
        self.keep, self.order, self.bias, self.margin = keep, order, int(bool(bias)), arguments.size("margin", margin)
        vectors, self._exact_updates = (1 if n_classes == 2 else n_classes), exact_updates
        self.weights = Weights.zeros(vectors, n_columns, np.int64 if exact_updates else np.float64)
        self.lag = Weights.zeros(vectors if keep == "average" else 0, n_columns)
        self.spread = Weights.ones(vectors, n_columns) if rule == "arow" else None
        if rule != "perceptron":
            _require_hinge(rule, keep, self.margin)
            self.margin = NEARLY_1
        self.pocket = Pocket(self.weights.copy())
        self.voters: Voters | None = None
        self.ballot: Ballot | None = None
        self.updates, self.run, self.passes, self.converged = 0, 0, 0, False
        self.walked: int | float = 0  # rows, or the sum of their weights
        self.left = 0.0  # what remains of the weight of the next row, if the walk stopped between two of its visits
        self.longest2, self.measured = 0.0, 0  # an upper bound on |x|² of the first rows, and how many they are
        self.is_sure = False  # in the walk so far, no row was taken for right only because of rounding
        self._seed = seed

    @cached_property
    def random(self) -> np.random.Generator:
        """The random numbers of shuffled orders; drawn from nowhere else, and not made where nothing is shuffled."""
        return np.random.default_rng(self._seed)

    def learn(
        self,
        block: Block,
        mistakes_per_row: Ints,
        order: Ints | None = ROW_ORDER,
        start: int = 0,
        stop: int = NO_LIMIT,
        limit: int = NO_LIMIT,
        foretold: Ints | None = None,
    ) -> End:
        """Walk positions start..stop of a block's order, or up to the update that is the last of the limit.

        `foretold` has places for the class predicted for each row before it is learned from, and if that was wrong.
        """
        stop, made = min(stop, len(block)), 0
        while True:
            most = limit - made
            if self.updates < self._exact_updates:
                most = min(most, self._exact_updates - self.updates)
            end = self._sweep(block, mistakes_per_row, order, start, stop, most, foretold)
            start, made = end.position, made + end.updates
            if self.keep == "best" and start < stop and end.updates < most:  # a long run is about to end
                self.pocket.hold(self.weights, end.run)
                self.run = -1  # shorter than any run: the update is made now
            if self.updates >= self._exact_updates and self.is_exact():
                self.weights = self.weights.as_floats()
            if start >= stop or made >= limit or end.bad != ALL_FINE:
                return end if end.updates == made else end._replace(updates=made)

    def _sweep(
        self,
        block: Block,
        mistakes_per_row: Ints,
        order: Ints | None,
        start: int,
        stop: int,
        limit: int,
        foretold: Ints | None,
    ) -> End:
        """The compiled loop on the next rows."""
        longest = self.pocket.threshold if self.keep == "best" else NO_LIMIT
        margin = int(self.margin) if self.is_exact() else self.margin  # a whole number above 0 exceeds 0.5
        first, log = int(block.numbers[0]), None
        if self.voters is not None:
            self.voters.begin(self.weights)
            stop = min(stop, start + LOGGED_A_CALL)
            log = np.empty((stop - start, LOGGED))
            limit = min(limit, len(log))  # a row of a weight above 1 may need several entries
        is_ahead = order is None and foretold is None and looks_ahead(block.table, self.weights.vectors.W, self.margin)
        end = End._make(
            sweep(
                block.table,
                block.y,
                block.weights,
                order,
                start,
                stop,
                limit,
                self.walked if block.weights is None else float(self.walked),
                self.left,
                self.run,
                longest,
                margin,
                self._hinge,
                None if self.spread is None else self.spread.vectors,
                self.bias,
                *self.weights.vectors,
                mistakes_per_row,
                self.lag.vectors if self.keep == "average" else None,
                log,
                foretold,
                self.longest2,
                self.measured - first if is_ahead else None,
                self.is_sure,
            )
        )
        if end.is_sure and start <= self.measured - first:
            self.measured = max(self.measured, first + end.position)
        self.walked = self.walked + end.position - start if block.weights is None else end.walked
        self.left = end.left
        self.longest2, self.is_sure = end.longest2, end.is_sure
        self.updates, self.run = self.updates + end.updates, end.run
        if self.voters is not None and log is not None:
            self.voters.add(block, log[: end.updates], self.walked)
        return end

    @property
    def _hinge(self) -> Hinge | None:
        """How far an update goes, as the loop takes it; None for Rosenblatt's rule."""
        if self.rule == "perceptron":
            return None
        if self.rule == "pa1":
            return Hinge(self.C, 0.0)
        return Hinge(np.inf, 0.5 / self.C)

    def add_class(self) -> None:
        """Make room for one more class, with weights 0."""
        self.weights, self.lag = self.weights.with_one_more(), self.lag.with_one_more()
        if self.spread is not None:
            self.spread = self.spread.spread_to_one_more()

    def add_columns(self, n_columns: int) -> None:
        """Make room for columns that no row had so far, with weights 0, up to `n_columns` in all."""
        self.weights, self.lag = self.weights.widened(n_columns), self.lag.widened(n_columns)
        if self.spread is not None:
            self.spread = self.spread.widened(n_columns, 1.0)

    @property
    def kept(self) -> Weights:
        """The weights that `keep` names; the last ones for a vote, which is not a single vector."""
        if self.keep == "average" and self.walked:
            t = self.walked
            return Weights(self.weights.W - self.lag.W / t, self.weights.b - self.lag.b / t)
        return self.pocket.weights if self.keep == "best" else self.weights

    def is_exact(self) -> bool:
        """Whether the run is still in integers, without any rounding."""
        return self.weights.W.dtype == np.int64

    def require_finite(self) -> None:
        """Refuse weights that left the range of doubles while they were learned."""
        self.weights.require_finite()
        if self.keep == "average":
            self.lag.require_finite()


def _require_hinge(rule: str, keep: str, margin: float) -> None:
    if margin:
        raise ArgumentError(f"margin is {margin:g}: the rule {rule!r} has a margin of its own, 1. Leave margin out.")
    if keep == "vote" and rule == "arow":
        raise ArgumentError(
            "keep is 'vote' and rule is 'arow': a vote adds up multiples of rows, which its updates are not.",
            fix="Choose keep='last' or 'average', or rule='pa2'.",
        )


def learner_on(
    source: Source,
    *,
    order: Order = "cyclic",
    keep: Keep = "last",
    bias: bool = True,
    max_passes: int | None = None,
    max_updates: int | None = None,
    random_state: int | None = None,
) -> Learner:
    """A learner with a new Perceptron on a source, exact where the rows are integers."""
    perceptron = Perceptron(
        len(source.facts.labels),
        source.n_columns,
        keep=keep,
        order=order,
        bias=arguments.flag("bias", bias),
        seed=arguments.seed("random_state", random_state),
        exact_updates=exact_updates(source),
    )
    return Learner(source, perceptron, max_passes=max_passes, max_updates=max_updates)


def exact_updates(source: Source) -> int:
    """How many updates int64 can carry without rounding (0 for floats).

    Coordinates of s bits and t updates give weights of s + log2(t) bits (Tao). A score adds up D + 1 products of
    a weight and a coordinate, so it stays below 2^62 while (D + 1)·t·2^(2s) does.
    """
    bits = source.facts.integer_bits
    if bits is None:
        return 0
    if bits > 53:
        raise fault("long integers", bits=bits)
    return int(2 ** max(0, 62 - 2 * bits)) // (source.n_columns + 1)


def perceptron(
    X: Any,
    y: Any = None,
    *,
    order: Order = "cyclic",
    bias: bool = True,
    ids: Any = None,
    categories: Categories = None,
    missing: Missing = None,
    max_passes: int | None = None,
    max_updates: int | None = None,
    random_state: int | None = None,
) -> PerceptronRun:
    """Run the Perceptron until a whole pass has no mistake, or a cap is reached.

    Without a cap it never stops on data that no hyperplane separates. Rosenblatt, The perceptron, Psychological Review
    65 (1958); Novikoff, On convergence proofs for perceptrons (1962).

    Parameters
    ----------
    X, y : the rows and their labels
        As `decide` takes them.
    order : "cyclic", "restart", "shuffled" or "worst"
        Which mistake is corrected next: "cyclic" walks the rows round and round, "restart" begins again at the first
        row after each update, "shuffled" draws a new permutation for each pass, "worst" takes the most violated row.
    bias : bool
        False keeps the hyperplane through the origin.
    max_passes, max_updates : int or None
        The caps.
    random_state : int or None
        Seeds "shuffled"; None is different each time.
    ids, categories, missing
        As `decide` takes them.

    Returns
    -------
    PerceptronRun
        The halfspace, and what happened in the run.

    Raises
    ------
    InputError
        The data cannot be used.

    Examples
    --------
    >>> import linsep
    >>> X, y = linsep.datasets.cornwell()
    >>> run = linsep.perceptron(X, y)
    >>> run.updates, run.passes, run.halfspace.equation()
    (9, 6, '4·x1 - 0.5·x2 + 1 = 0')
    >>> linsep.perceptron(X, y, max_updates=3).converged
    False
    """
    options: Any = {"max_passes": max_passes, "max_updates": max_updates, "random_state": random_state}
    with asked(X, y, ids, categories, missing) as (rows, source):
        require_scores(source)
        return learner_on(source, order=order, bias=bias, **options).run().result().in_own_numbers(rows)


def perceptron_steps(X: Any, y: Any = None, **options: Any) -> Iterator[Step]:
    """Run the Perceptron update by update.

    Parameters
    ----------
    X, y : the rows and their labels
        As `decide` takes them.
    **options
        Those of `perceptron`.

    Yields
    ------
    Step
        One for each update.

    Raises
    ------
    InputError
        The data cannot be used.

    Examples
    --------
    >>> import linsep
    >>> [(step.row, step.w.tolist()) for step in linsep.perceptron_steps(*linsep.datasets.tao(), bias=False)]
    [(0, [1, 0]), (1, [1, 1])]
    """
    about = (options.pop(name, None) for name in ("ids", "categories", "missing"))
    with asked(X, y, *about) as (rows, source):
        require_scores(source)
        return _in_own_numbers(learner_on(source, **options).steps(), rows)


def _in_own_numbers(steps: Iterator[Step], rows: Given) -> Iterator[Step]:
    with rows.numbered():
        for step in steps:
            yield step if rows.kept is None else replace(step, row=rows.own([step.row])[0])
