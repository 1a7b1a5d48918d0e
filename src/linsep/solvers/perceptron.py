"""The Perceptron.

    Start from w = 0, b = 0.
    While some row has y·(w·x + b) <= 0:  w += y·x,  b += y.

Theorem (Novikoff 1962). Write Z = y·(x, 1) and W = (w, b). If |Z| <= R for every row, and some unit vector U
has Z·U >= gamma > 0 for every row, then at most (R/gamma)² updates are made.

Proof. Each update adds a row Z with Z·W <= 0. So W·U grows by Z·U >= gamma, and |W|² grows by
2·Z·W + |Z|² <= R². After k updates  k·gamma <= W·U <= |W| <= sqrt(k)·R,  hence k <= (R/gamma)².

If no hyperplane separates the classes, the updates never end, and however long one waits proves nothing.
"""

from collections.abc import Generator, Iterator
from dataclasses import dataclass, fields
from itertools import dropwhile
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from linsep import arguments
from linsep.errors import ArgumentError, CheckpointError, InexactError, OverflowedError
from linsep.halfspace import Halfspace
from linsep.kernels.shuffling import shuffled
from linsep.kernels.walks import ALL_FINE, End, Weights, sweep
from linsep.scores import linear_scores
from linsep.solvers.vanishing import require_scores
from linsep.sources.base import Block, Ints, Source, refusal
from linsep.sources.inputs import as_source

Order = Literal["cyclic", "restart", "shuffled", "worst"]

ROWS_A_CALL = 1 << 20  # how many rows a sweep walks before Python may look up (a Ctrl-C, a progress bar)
ROWS_A_CHECK = 1 << 12  # rows near the hyperplane whose sides are looked at exactly, at a time
NO_LIMIT = int(np.iinfo(np.int64).max)
ROW_ORDER = None


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

    `converged` means that a whole pass found no mistake, in exact arithmetic where rounding left a doubt. `passes`
    counts reads of the data (rows read / rows, rounded up), the last clean one included. `mistakes_per_row` are the
    dual counts alpha:
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
    for _ in learner.walk():
        pass
    return learner.result()


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
    """Where a walk over the rows stands: enough to go on from there."""

    updates_before: int  # the walk began after so many updates
    block: int  # the first row of the block
    length: int  # of the block; 0 where the walk has not begun
    position: int  # in the order in which the block is walked
    random: dict[str, Any]  # the state from which that order was drawn, if it was
    begun: dict[str, Any]  # the state from which the order of the blocks was drawn


class Learner:
    """A run in progress: `walk` moves it on, and may be left and looked at between any two of its yields."""

    def __init__(
        self,
        source: Source,
        *,
        order: Order = "cyclic",
        bias: bool = True,
        max_passes: int | None = None,
        max_updates: int | None = None,
        random_state: int | None = None,
    ) -> None:
        if order not in get_args(Order):
            raise ArgumentError(f"order is {order!r}: it must be one of {', '.join(get_args(Order))}.")
        self.source, self.order, self.bias = source, order, arguments.flag("bias", bias)
        self.max_rows = arguments.cap("max_passes", max_passes) * source.n_rows
        self.max_updates = min(arguments.cap("max_updates", max_updates), NO_LIMIT)
        self.rows_read, self.updates, self.converged = 0, 0, False
        self.mistakes_per_row: Ints | None = None if source.facts.is_streamed else np.zeros(source.n_rows, np.int64)
        self._forgotten = np.zeros(0, np.int64)
        self.place: Place | None = None  # None between two walks
        self._random = np.random.default_rng(arguments.seed("random_state", random_state))
        self._exact_updates = exact_updates(source)
        kind = np.int64 if self._exact_updates else np.float64
        self.w, self.b = np.zeros(source.n_columns, kind), np.zeros(1, kind)

    def walk(self, look_after: int = NO_LIMIT) -> Iterator[Mistake | None]:
        """Learn until a whole pass is clean or a cap is reached.

        Yields after every `look_after` updates (the mistake just corrected) and now and then (None).
        """
        while not self.converged and not self._is_spent():
            one_pass = self._correct_worst if self.order == "worst" and self.place is None else self._walk_rows
            is_clean = yield from one_pass(1 if self.order == "restart" else look_after)
            mistake = self._rounded_away() if is_clean and not self.is_exact() else None
            self.converged = is_clean and mistake is None
            if mistake is not None and not self._is_spent():
                self._correct(mistake)
                yield mistake if look_after == 1 else None

    def _rounded_away(self) -> Mistake | None:
        """The first mistake that only rounding calls none, after a pass in floats that found none."""
        w, b = self.w.astype(np.float64), float(self.b[0])
        doubtful = self.source.scan(w, b).doubtful
        for start in range(0, len(doubtful), ROWS_A_CHECK):
            block = self.source.take(np.sort(doubtful[start : start + ROWS_A_CHECK]))
            scores = linear_scores(block.values, w[None, :], np.array([b]))[:, 0]
            wrong = np.flatnonzero(block.y * scores <= 0)
            if wrong.size:
                return Mistake(int(block.row_numbers[wrong[0]]), float(scores[wrong[0]]))
        return None

    def _correct(self, mistake: Mistake) -> None:
        """The update at one row, which the kernel would not make."""
        block = self.source.take([mistake.row])
        row = block.values.toarray()[0] if block.is_sparse else block.values[0]
        self.w += block.y[0] * row.astype(np.float64)
        self.b += block.y[0] * self.bias
        self.updates += 1
        if self.mistakes_per_row is not None:
            self.mistakes_per_row[mistake.row] += 1

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
            order = shuffled(self._random, len(block)) if is_shuffled else ROW_ORDER
            while position < len(block):
                if self._is_spent():
                    return False
                start, stop = position, position + min(ROWS_A_CALL, self.max_rows - self.rows_read)
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
        blocks = self.source.blocks(self._random if self.order == "shuffled" else None)
        return blocks if start is None else dropwhile(lambda block: block.numbers[0] != start, blocks)

    def _correct_worst(self, look_after: int) -> Generator[Mistake | None, None, bool]:
        """One update at the row with the smallest y·score. Returns whether there was no mistake to correct."""
        scan = self.source.scan(self.w.astype(np.float64), float(self.b[0]), worst=1)
        self.rows_read += scan.rows
        if scan.is_clean:
            return True
        _, mistake = self._sweep(scan.worst, ROW_ORDER, 0, 1, 1)
        if mistake:
            yield mistake
            return False
        return (yield from self._walk_rows(look_after))  # the rule itself settles what rounding leaves in doubt

    def _sweep(
        self, block: Block, order: Ints | None, start: int, stop: int, look_after: int
    ) -> tuple[int, Mistake | None]:
        """The kernel on the next rows: the position reached, and the mistake at which it stopped to look."""
        first = int(block.numbers[0])
        limit = min(look_after, self.max_updates - self.updates)
        if self.is_exact():
            limit = min(limit, self._exact_updates - self.updates)
        state = Weights(self.w, self.b, self._counts(first, len(block)))
        end = End(*sweep(block.table, block.y, order, start, stop, limit, int(self.bias), state))
        if end.bad != ALL_FINE:
            raise refusal(self.source, first + end.bad)
        self.updates += end.updates
        if self.updates >= self._exact_updates and self.is_exact():
            self.w, self.b = self.w.astype(np.float64), self.b.astype(np.float64)
        mistake = Mistake(first + end.row, end.score) if end.updates == look_after else None
        return end.position, mistake

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
                label = self.source.facts.labels[int(self.source.take([mistake.row]).y[0] > 0)]
                w, b = self.w.copy(), self.b[0].item()
                yield Step(self.updates, mistake.row, label, mistake.score, w, b)

    @property
    def passes(self) -> int:
        """Reads of the data so far, a begun one included."""
        return -(-self.rows_read // self.source.n_rows)

    @property
    def halfspace(self) -> Halfspace:
        """The current weights."""
        return Halfspace(self.w, self.b[0].item(), self.source.facts.labels)

    def result(self) -> PerceptronRun:
        """The run as far as it went."""
        if not (np.isfinite(self.w).all() and np.isfinite(self.b).all()):
            raise OverflowedError("The weights are beyond the largest double. Divide large columns by a power of two.")
        bits = max(abs(int(value)).bit_length() for value in (*self.w, self.b[0])) if self.is_exact() else None
        return PerceptronRun(self.halfspace, self.converged, self.updates, self.passes, self.mistakes_per_row, bits)

    def is_exact(self) -> bool:
        """Whether the run is one of integers still, without any rounding."""
        return self.w.dtype == np.int64

    @property
    def random_state(self) -> dict[str, Any]:
        """The state of the random numbers."""
        return dict(self._random.bit_generator.state)

    @random_state.setter
    def random_state(self, state: dict[str, Any]) -> None:
        self._random.bit_generator.state = state

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
