"""The Perceptron.

    Start from w = 0, b = 0.
    While some row has y·(w·x + b) <= 0:  w += y·x,  b += y.

Theorem (Novikoff 1962). Write Z = y·(x, 1) and W = (w, b). If |Z| <= R for every row, and some unit vector U
has Z·U >= gamma > 0 for every row, then at most (R/gamma)² updates are made.

Proof. Each update adds a row Z with Z·W <= 0. So W·U grows by Z·U >= gamma, and |W|² grows by
2·Z·W + |Z|² <= R². After k updates  k·gamma <= W·U <= |W| <= sqrt(k)·R,  hence k <= (R/gamma)².

More than two classes have a row of weights each, and a row of class k is a mistake while W_k·x <= W_r·x for the best
other class r:  W_k += x,  W_r -= x. Write Z for the matrix with x in row k, -x in row r and 0 elsewhere (Kesler's
construction): |Z|² = 2·|x|², so the same proof gives 2·(R/gamma)², and (2·R² + 2·m)/gamma² where a margin m is asked
for. Two classes are the case W_1 = -W_0, of which one row is kept.

If no hyperplane separates the classes, the updates never end, and however long one waits proves nothing. `keep` says
which weights of such a run are used (see `keeping.py`).

`plain_rule` is the algorithm as a loop to read. What runs is the same loop compiled, `sweep` in kernels/learning.py:
the tests hold one against the other.
"""

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import dropwhile
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from linsep import arguments
from linsep.errors import ArgumentError, CheckpointError, InexactError
from linsep.halfspace import Halfspace
from linsep.kernels.learning import End, sweep, worst
from linsep.kernels.shuffling import shuffled
from linsep.kernels.walks import ALL_FINE
from linsep.solvers.keeping import NO_LIMIT, Ballot, Pocket, Voters, Weights, joined
from linsep.solvers.vanishing import require_scores
from linsep.sources.base import Array, Block, Ints, Source, refusal
from linsep.sources.inputs import as_source

Order = Literal["cyclic", "restart", "shuffled", "worst"]
WalkOrder = Literal["cyclic", "shuffled"]
Keep = Literal["last", "average", "vote", "best"]

ROWS_A_CALL = 1 << 20  # how many rows a sweep walks before Python may look up (a Ctrl-C, a progress bar)
LOGGED_A_CALL = 1 << 16  # the same where every update may be logged
ROW_ORDER = None


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
    """The rule as plainly as it can be written: after each row its number, whether it was a mistake, and the weights.

    `labels` are positions among the classes. There is one row of weights for two classes, else one for each.
    """
    vectors = 1 if n_classes == 2 else n_classes
    W, b = np.zeros((vectors, X.shape[1]), X.dtype), np.zeros(vectors, X.dtype)
    is_clean = False
    while not is_clean:
        is_clean = True
        for i in _rows_of_a_pass(X, labels, W, b, order, random):
            x, y = X[i], direction(W @ X[i] + b, labels[i])
            if is_mistake := bool(y @ (W @ x + b) <= margin):
                W += y[:, None] * x  # w += y·x
                b += y * bias
                is_clean = False
            yield i, is_mistake, W.copy(), b.copy()
            if is_mistake and order in ("restart", "worst"):
                break


def direction(scores: Array, label: int) -> Array:
    """What an update adds x to (+1) and takes it from (-1): [y] for two classes, else the class and its best rival."""
    if len(scores) == 1:
        return np.array([2 * label - 1])
    y = np.zeros(len(scores), np.int64)
    rivals = [k for k in range(len(scores)) if k != label]
    y[label], y[max(rivals, key=lambda k: scores[k])] = 1, -1
    return y


def _rows_of_a_pass(
    X: Array, labels: Sequence[int], W: Array, b: Array, order: Order, random: np.random.Generator | None
) -> Sequence[int]:
    if order == "shuffled":
        return [int(i) for i in shuffled(random or np.random.default_rng(), len(X))]
    if order == "worst":
        scores = X @ W.T + b
        return [int(np.argmin([direction(own, k) @ own for own, k in zip(scores, labels, strict=True)]))]
    return range(len(X))


class Mistake(NamedTuple):
    """A row with y·score <= 0, and that score."""

    row: int
    score: float | int


def _equal(one: Any, other: Any) -> bool:
    """Whether two values of one class have equal fields, arrays entry by entry."""
    return type(one) is type(other) and all(
        np.array_equal(getattr(one, f.name), getattr(other, f.name)) for f in fields(one)
    )


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """One update: which row was a mistake, its score before, and the weights after.

    `update` counts from 1, `row` from 0; `label` is the row's as the user wrote it; `w` and `b` are the new weights.
    """

    update: int
    row: int
    label: Any
    score: float | int
    w: npt.NDArray[Any]
    b: float | int

    def __eq__(self, other: object) -> bool:
        return _equal(self, other)

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True, slots=True, eq=False)
class PerceptronRun:
    """What a run of the Perceptron did, and the halfspace it ended with.

    `converged` means that a whole pass found no mistake. `passes` counts reads of the data (rows read / rows,
    rounded up), the last clean one included. `mistakes_per_row` are the dual counts alpha:
    w = sum alpha_i·y_i·x_i and b = sum alpha_i·y_i; files, which may have more rows than memory holds, have None.
    `bits` is the length of the largest weight where the run was exact in integers, and None where it ran in floats.
    """

    halfspace: Halfspace
    converged: bool
    updates: int
    passes: int
    mistakes_per_row: Ints | None
    bits: int | None

    def __eq__(self, other: object) -> bool:
        return _equal(self, other)

    __hash__ = None  # type: ignore[assignment]

    def explain(self, bound: float | None = None) -> str:
        """What the run shows, in a sentence or two; beside Novikoff's bound on the updates, if it is given."""
        done = f"{_count(self.updates, 'update')} in {_count(self.passes, 'pass')}"
        if bound is not None:
            done += f" (at most {bound:,.0f} updates are possible)"
        if self.converged:
            return f"Separated after {done}: {self.halfspace.equation()}"
        return (
            f"Not separated yet after {done}, which proves nothing: the classes may need more updates, "
            "or no hyperplane may separate them."
        )


def perceptron(
    X: Any,
    y: Any = None,
    *,
    order: Order = "cyclic",
    bias: bool = True,
    max_passes: int | None = None,
    max_updates: int | None = None,
    random_state: int | None = None,
) -> PerceptronRun:
    """Run the Perceptron until a whole pass has no mistake, or a cap is reached.

    Without a cap it runs for ever on data that no hyperplane separates. `order` says which mistake is
    corrected next: "cyclic" walks the rows round and round, "restart" begins again at the first row after
    each update, "shuffled" draws a new permutation for each pass, "worst" takes the most violated row.
    `max_passes` and `max_updates` are the caps, `random_state` seeds "shuffled" (None: another order each time), and
    `bias=False` keeps the hyperplane at the origin. Rows and labels are those of `decide`.

    >>> import linsep
    >>> X, y = linsep.datasets.cornwell()
    >>> run = linsep.perceptron(X, y)
    >>> run.updates, run.passes, run.halfspace.equation()
    (9, 6, '4·x1 - 0.5·x2 + 1 = 0')
    >>> linsep.perceptron(X, y, max_updates=3).converged
    False

    Rosenblatt, The perceptron, Psychological Review 65 (1958); Novikoff, On convergence proofs for
    perceptrons (1962).
    """
    source = as_source(X, y)
    require_scores(source)
    learner = Learner(
        source,
        order=order,
        bias=bias,
        max_passes=max_passes,
        max_updates=max_updates,
        random_state=random_state,
    )
    return learner.run().result()


def perceptron_steps(X: Any, y: Any = None, **options: Any) -> Iterator[Step]:
    """The same run with the same options, as one `Step` for each update.

    >>> import linsep
    >>> [(step.row, step.w.tolist()) for step in linsep.perceptron_steps(*linsep.datasets.tao(), bias=False)]
    [(0, [1, 0]), (1, [1, 1])]
    """
    source = as_source(X, y)
    require_scores(source)
    return Learner(source, **options).steps()


class Place(NamedTuple):
    """Where a walk over the rows stands: enough to resume it."""

    updates_before: int  # the walk began after so many updates
    block: int  # the first row of the block
    length: int  # of the block; 0 where the walk has not begun
    position: int  # in the order in which the block is walked
    random: dict[str, Any]  # the state from which that order was drawn, if it was
    begun: dict[str, Any]  # the state from which the order of the blocks was drawn


class Perceptron:
    """The weights of a run, what is kept of it, and how far it got: `learn` moves it on along some rows.

    With `exact_updates` above 0 the weights are integers of 64 bits for so many updates, without any rounding.
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
        seed: int | np.random.Generator | None = None,
        exact_updates: int = 0,
    ) -> None:
        if keep not in get_args(Keep):
            raise ArgumentError(f"keep is {keep!r}: it must be one of {', '.join(get_args(Keep))}.")
        if order not in get_args(Order):
            raise ArgumentError(f"order is {order!r}: it must be one of {', '.join(get_args(Order))}.")
        if not 0 <= margin < np.inf:
            raise ArgumentError(f"margin is {margin}: it must be a finite number, 0 or more.")
        self.keep, self.order, self.bias, self.margin = keep, order, int(bool(bias)), float(margin)
        vectors, self._exact_updates = (1 if n_classes == 2 else n_classes), exact_updates
        self.weights = Weights.zeros(vectors, n_columns, np.int64 if exact_updates else np.float64)
        self.lag = Weights.zeros(vectors if keep == "average" else 0, n_columns)
        self.pocket = Pocket(self.weights.copy())
        self.voters: Voters | None = None
        self.ballot: Ballot | None = None
        self.walked, self.updates, self.run, self.passes, self.converged = 0, 0, 0, 0, False
        self.random = np.random.default_rng(seed)

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
        stop, made, end = min(stop, len(block)), 0, End(start, 0, self.run, ALL_FINE, 0, ALL_FINE)
        while end.position < stop and made < limit and end.bad == ALL_FINE:
            most = min(limit - made, self._exact_updates - self.updates) if self.is_exact() else limit - made
            end = self._sweep(block, mistakes_per_row, order, end.position, stop, most, foretold)
            made += end.updates
            if self.keep == "best" and end.position < stop and end.updates < most:  # a long run is about to end
                self.pocket.hold(self.weights, end.run)
                self.run = -1  # no run is shorter: the update is made now
            if self.is_exact() and self.updates >= self._exact_updates:
                self.weights = self.weights.as_floats()
        return end._replace(updates=made)

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
        margin = int(self.margin) if self.is_exact() else self.margin  # a whole gap above 0.5 is above 0
        log = None
        if self.voters is not None:
            self.voters.begin(self.weights)
            stop = min(stop, start + LOGGED_A_CALL)
            log = np.empty((stop - start, 4), np.int64)
        end = End(
            *sweep(
                block.table,
                block.y,
                order,
                start,
                stop,
                limit,
                self.walked,
                self.run,
                longest,
                margin,
                self.bias,
                self.weights.vectors,
                mistakes_per_row,
                self.lag.vectors if self.keep == "average" else None,
                log,
                foretold,
            )
        )
        self.walked += end.position - start
        self.updates, self.run = self.updates + end.updates, end.run
        if self.voters is not None and log is not None:
            self.voters.add(block, log[: end.updates], self.walked)
        return end

    def add_class(self) -> None:
        """Make room for one class more, with weights 0."""
        self.weights, self.lag = self.weights.with_one_more(), self.lag.with_one_more()

    def add_columns(self, n_columns: int) -> None:
        """Make room for columns that no row had so far, with weights 0: there are `n_columns` then."""
        self.weights, self.lag = self.weights.widened(n_columns), self.lag.widened(n_columns)

    @property
    def kept(self) -> Weights:
        """The weights that `keep` asks for; the last ones where it asks for a vote, which is no single vector."""
        if self.keep == "average" and self.walked:
            t = self.walked
            return Weights(self.weights.W - self.lag.W / t, self.weights.b - self.lag.b / t)
        return self.pocket.weights if self.keep == "best" else self.weights

    def is_exact(self) -> bool:
        """Whether the run is one of integers still, without any rounding."""
        return self.weights.W.dtype == np.int64

    def require_finite(self) -> None:
        """Refuse weights that left the range of doubles while they were learned."""
        self.weights.require_finite()
        self.lag.require_finite()


class Learner:
    """A Perceptron at work on a source: `walk` moves it on, and may be left and looked at between any two yields.

    Where there are more than two classes, the blocks of the source have positions among them as labels, not signs.
    """

    def __init__(
        self,
        source: Source,
        *,
        order: Order = "cyclic",
        keep: Keep = "last",
        bias: bool = True,
        max_passes: int | None = None,
        max_updates: int | None = None,
        random_state: int | None = None,
        perceptron: Perceptron | None = None,
    ) -> None:
        self.source = source
        self.perceptron = perceptron or Perceptron(
            len(source.facts.labels),
            source.n_columns,
            keep=keep,
            order=order,
            bias=arguments.flag("bias", bias),
            seed=arguments.seed("random_state", random_state),
            exact_updates=exact_updates(source),
        )
        self.order, self.bias = self.perceptron.order, bool(self.perceptron.bias)
        self.max_rows = arguments.cap("max_passes", max_passes) * source.n_rows
        self.max_updates = min(arguments.cap("max_updates", max_updates), NO_LIMIT)
        self.rows_read, self.converged = 0, False
        self.mistakes_per_row: Ints | None = None if source.facts.is_streamed else np.zeros(source.n_rows, np.int64)
        self._forgotten = np.zeros(0, np.int64)
        self.place: Place | None = None  # None between two walks
        self._before = self.perceptron.updates
        if self.perceptron.keep == "vote":
            self.perceptron.voters = Voters(self.perceptron.bias, self.perceptron.walked)
        if self.perceptron.keep == "best":
            self.perceptron.pocket.begin(source, self.perceptron.updates)

    def run(self) -> "Learner":
        """The whole walk, and its end."""
        for _ in self.walk():
            pass
        self.finish()
        return self

    def walk(self, look_after: int = NO_LIMIT) -> Iterator[Mistake | None]:
        """Learn until a whole pass is clean or a cap is reached.

        Yields after every `look_after` updates (the mistake just corrected) and now and then (None).
        """
        while not self.converged and not self._is_spent():
            one_pass = self._correct_worst if self.order == "worst" and self.place is None else self._walk_rows
            self.converged = yield from one_pass(1 if self.order == "restart" else look_after)
            if self.perceptron.keep == "best" and not self.converged and not self._is_spent():
                self._look_at_pocket()

    def _look_at_pocket(self) -> None:
        """After as many rows as a pass has."""
        perceptron, passes = self.perceptron, self.rows_read // self.source.n_rows
        if passes > perceptron.pocket.passes:
            perceptron.pocket.end_pass(self.source, perceptron.weights, perceptron.run, perceptron.updates, passes)

    def finish(self) -> None:
        """After the walk, whole or not: the last weights compete for the pocket, the votes are counted out."""
        perceptron = self.perceptron
        perceptron.passes, perceptron.converged = perceptron.passes + self.passes, self.converged
        if perceptron.keep == "best":
            perceptron.pocket.end(self.source, perceptron.weights, perceptron.run, is_clean=self.converged)
        if perceptron.voters is not None:
            perceptron.ballot = joined(perceptron.ballot, perceptron.voters.ballot(self.source))
            perceptron.voters = None

    def _walk_rows(self, look_after: int) -> Generator[Mistake | None, None, bool]:
        """One walk over the rows, or the rest of one. Returns whether it reached the last row without a mistake."""
        is_shuffled = self.order == "shuffled"
        begun = self.random_state if is_shuffled else {}
        place = self.place or Place(self.updates, 0, 0, 0, {}, begun)
        updates_before, first, length, position, drawn_from, begun = place
        for block in self._blocks(begun, first if length else None):
            if length and (block.numbers[0], len(block)) != (first, length):
                raise CheckpointError(f"The block of rows at {first} is not the {length} rows it was: start over.")
            if is_shuffled:
                if length:
                    self.random_state = drawn_from
                drawn_from = self.random_state
            length = 0
            order = shuffled(self.perceptron.random, len(block)) if is_shuffled else ROW_ORDER
            while position < len(block):
                if self._is_spent():
                    return False
                start, stop = position, position + min(self._rows_a_call, self.max_rows - self.rows_read)
                position, mistake = self._sweep(block, order, start, min(stop, len(block)), look_after)
                self.rows_read += position - start
                starts_again = mistake is not None and self.order == "restart"
                here = Place(updates_before, int(block.numbers[0]), len(block), position, drawn_from, begun)
                self.place = None if starts_again else here
                yield mistake
                if starts_again:
                    return False
            position = 0
        if length:
            raise CheckpointError(f"No block of rows begins at row {first} any more: start over.")
        self.place = None
        return self.updates == updates_before

    def _blocks(self, begun: dict[str, Any], start: int | None) -> Iterator[Block]:
        """The blocks of a walk; those before the one that begins at row `start` are passed by."""
        if self.order == "shuffled":
            self.random_state = begun
        blocks = self.source.blocks(self.perceptron.random if self.order == "shuffled" else None)
        return blocks if start is None else dropwhile(lambda block: block.numbers[0] != start, blocks)

    def _correct_worst(self, look_after: int) -> Generator[Mistake | None, None, bool]:
        """One update at the row with the smallest gap. Returns whether there was no mistake to correct."""
        found = self._worst_row()
        self.rows_read += self.source.n_rows
        if found is None:
            return True
        _, mistake = self._sweep(found, ROW_ORDER, 0, 1, 1)
        if mistake:
            yield mistake
            return False
        return (yield from self._walk_rows(look_after))  # the rule itself settles what rounding leaves in doubt

    def _worst_row(self) -> Block | None:
        """The row to correct next, or None if a scan proves that there is no mistake."""
        weights, margin = self.perceptron.weights, self.perceptron.margin
        if len(weights.b) == 1 and margin == 0:
            scan = self.source.scan(self.w.astype(np.float64), float(self.b[0]), worst=1)
            return None if scan.is_clean else scan.worst
        least: float | None = None
        for block in self.source.blocks():
            gap, row = worst(block.table, block.y, *weights.vectors)
            if least is None or gap < least or not np.isfinite(gap):
                least, found = gap, block.take(np.array([row]))
            if not np.isfinite(gap):  # the rule will refuse this row
                break
        return found

    def _sweep(
        self, block: Block, order: Ints | None, start: int, stop: int, look_after: int
    ) -> tuple[int, Mistake | None]:
        """The Perceptron on the next rows: the position reached, and the mistake at which it stopped to look."""
        first = int(block.numbers[0])
        limit = min(look_after, self.max_updates - self.updates)
        end = self.perceptron.learn(block, self._counts(first, len(block)), order, start, stop, limit)
        if end.bad != ALL_FINE:
            raise refusal(self.source, first + end.bad)
        if end.updates != look_after:
            return end.position, None
        sign = int(block.y[end.row]) if len(self.b) == 1 else 1
        return end.position, Mistake(first + end.row, sign * end.gap)

    def _counts(self, first: int, length: int) -> Ints:
        """Where the kernel counts the mistakes of a block; a place to forget them for a source in parts."""
        if self.mistakes_per_row is not None:
            return self.mistakes_per_row[first : first + length]
        if len(self._forgotten) < length:
            self._forgotten = np.zeros(length, np.int64)
        return self._forgotten[:length]

    def steps(self) -> Iterator[Step]:
        """One `Step` for each update of the walk."""
        for mistake in self.walk(look_after=1):
            if mistake:
                label = self.source.facts.pair[int(self.source.take([mistake.row]).y[0] > 0)]
                w, b = self.w.copy(), self.b[0].item()
                yield Step(self.updates, mistake.row, label, mistake.score, w, b)

    @property
    def w(self) -> Array:
        """The weights of two classes."""
        return np.asarray(self.perceptron.weights.vectors.W)

    @property
    def b(self) -> Array:
        """The bias, in an array."""
        return self.perceptron.weights.b

    @property
    def updates(self) -> int:
        """The updates made in this walk."""
        return self.perceptron.updates - self._before

    @property
    def passes(self) -> int:
        """Reads of the data so far, a begun one included."""
        return -(-self.rows_read // self.source.n_rows)

    @property
    def halfspace(self) -> Halfspace:
        """The current weights."""
        return Halfspace(self.w, self.b[0].item(), self.source.facts.pair)

    def result(self) -> PerceptronRun:
        """The run as far as it went."""
        self.perceptron.require_finite()
        is_exact = self.perceptron.is_exact()
        bits = max(abs(int(value)).bit_length() for value in (*self.w, self.b[0])) if is_exact else None
        return PerceptronRun(self.halfspace, self.converged, self.updates, self.passes, self.mistakes_per_row, bits)

    @property
    def random_state(self) -> dict[str, Any]:
        """The state of the random numbers."""
        return dict(self.perceptron.random.bit_generator.state)

    @random_state.setter
    def random_state(self, state: dict[str, Any]) -> None:
        self.perceptron.random.bit_generator.state = state

    @property
    def _rows_a_call(self) -> int:
        return max(1, ROWS_A_CALL // len(self.b))

    def _is_spent(self) -> bool:
        return self.rows_read >= self.max_rows or self.updates >= self.max_updates


def exact_updates(source: Source) -> int:
    """How many updates int64 can carry without rounding (0 for floats).

    Coordinates of s bits and t updates give weights of s + log2(t) bits (Tao). A score adds up D + 1 products of
    a weight and a coordinate, so it stays below 2^62 while (D + 1)·t·2^(2s) does.
    """
    bits = source.facts.integer_bits
    if bits is None:
        return 0
    if bits > 53:
        raise InexactError(
            f"The integers of X have up to {bits} bits, and a score of such integers fits neither 64 bits nor a "
            "double. Subtract a constant from the large columns, or divide them."
        )
    return int(2 ** max(0, 62 - 2 * bits)) // (source.n_columns + 1)


def _count(number: int, word: str) -> str:
    plural = word + ("es" if word.endswith("s") else "s")
    return f"{number:,} {word if number == 1 else plural}"
