"""A Perceptron on a source: the four orders, the caps, and a walk that can be stopped and resumed at any row."""

from collections.abc import Generator, Iterator
from itertools import dropwhile
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from linsep import arguments
from linsep.errors import CheckpointError
from linsep.halfspace import Halfspace
from linsep.learners.kept_weights import NO_LIMIT, Voters, joined
from linsep.learners.perceptron_run import Mistake, PerceptronRun, Step
from linsep.loops.judging import worst
from linsep.loops.scans import ALL_FINE
from linsep.loops.shuffling import shuffled
from linsep.report import SHOWN_ROWS, by_corrections
from linsep.scores import linear_scores
from linsep.sources.base import Array, Block, Ints, Source, refusal

if TYPE_CHECKING:
    from linsep.learners.perceptron import Perceptron

ROWS_A_CALL = 1 << 20  # how many rows a sweep walks before it returns to Python (for Ctrl-C, a progress bar)
ROWS_A_CHECK = 1 << 12  # how many rows near the hyperplane are checked exactly at a time
ROW_ORDER = None


class WalkPlace(NamedTuple):
    """Where a walk over the rows stands: enough to resume it."""

    updates_before: int  # how many updates were made before the walk began
    block: int  # the first row of the block
    length: int  # of the block; 0 where the walk has not begun
    position: int  # in the order in which the block is walked
    random: dict[str, Any]  # the state from which that order was drawn, if it was
    begun: dict[str, Any]  # the state from which the order of the blocks was drawn


class Learner:
    """A Perceptron on a source: `walk` moves it on, and may be inspected or abandoned between any two yields.

    Where there are more than two classes, the blocks of the source have positions among the classes as labels, not
    signs.
    """

    def __init__(
        self,
        source: Source,
        perceptron: "Perceptron",
        *,
        max_passes: int | None = None,
        max_updates: int | None = None,
    ) -> None:
        self.source, self.perceptron = source, perceptron
        self.order, self.bias = self.perceptron.order, bool(self.perceptron.bias)
        self.max_rows = arguments.cap("max_passes", max_passes) * source.n_rows
        self.max_updates = min(arguments.cap("max_updates", max_updates), NO_LIMIT)
        self._rows_a_call = max(1, ROWS_A_CALL // len(perceptron.weights.b))
        self.rows_read, self.converged = 0, False
        self.mistakes_per_row: Ints | None = None if source.facts.is_streamed else np.zeros(source.n_rows, np.int64)
        self._forgotten = np.zeros(0, np.int64)
        self._label = 0  # of the last mistake that was looked at
        self.place: WalkPlace | None = None  # None between two walks
        self._before = self.perceptron.updates
        self.perceptron.longest2, self.perceptron.measured = 0.0, 0
        if self.perceptron.keep == "vote":
            self.perceptron.voters = Voters(self.perceptron.bias, self.perceptron.walked)
        if self.perceptron.keep == "best":
            self.perceptron.pocket.begin(source, self.perceptron.updates)

    def run(self) -> "Learner":
        """Do the whole walk and finish it."""
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
            is_clean = yield from one_pass(1 if self.order == "restart" else look_after)
            mistake = self._rounded_away() if is_clean else None
            self.converged = is_clean and mistake is None
            if mistake is not None and not self._is_spent():
                self._correct(mistake.row)
                yield mistake if look_after == 1 else None
            if self.perceptron.keep == "best" and not self.converged and not self._is_spent():
                self._look_at_pocket()

    def _rounded_away(self) -> Mistake | None:
        """The first mistake hidden by rounding, after a pass that found none; only for two classes, in floats."""
        perceptron = self.perceptron
        if perceptron.is_sure or perceptron.is_exact() or perceptron.margin or len(self.b) > 1:
            return None
        w, b = self.w.astype(np.float64), float(self.b[0])
        doubtful = self.source.scan(w, b).doubtful
        for start in range(0, len(doubtful), ROWS_A_CHECK):
            block = self.source.take(np.sort(doubtful[start : start + ROWS_A_CHECK]))
            scores = linear_scores(block.values, w[None, :], np.array([b]))[:, 0]
            wrong = np.flatnonzero(block.y * scores <= 0)
            if wrong.size:
                return Mistake(int(block.row_numbers[wrong[0]]), float(scores[wrong[0]]))
        return None

    def _correct(self, row: int) -> None:
        """Make the update at one row whose rounded score the compiled loop takes for right."""
        perceptron, asked = self.perceptron, self.perceptron.margin
        perceptron.margin = np.inf  # no score is enough
        block = self.source.take([row])
        self._label = int(block.y[0])
        perceptron.learn(block, self._counts(row, 1), limit=1)
        perceptron.margin, perceptron.left = asked, 0.0

    def _look_at_pocket(self) -> None:
        """Tell the pocket that a pass has ended, once as many rows as a pass has were read."""
        perceptron, passes = self.perceptron, self.rows_read // self.source.n_rows
        if passes > perceptron.pocket.passes:
            perceptron.pocket.end_pass(self.source, perceptron.weights, perceptron.run, perceptron.updates, passes)

    def finish(self) -> None:
        """After the walk, whole or not: the last weights compete for the pocket, and the ballot is made."""
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
        updates_before, first, length, position, drawn_from, begun = self.place or (self.updates, 0, 0, 0, {}, begun)
        self.perceptron.is_sure = not length  # in the rest of a walk, nothing is known about the rows before
        for block in self._blocks(begun, first if length else None):
            n_rows = len(block)
            if length and (block.numbers[0], n_rows) != (first, length):
                raise CheckpointError(f"The block of rows at {first} is not the {length} rows it was: start over.")
            if is_shuffled:
                if length:
                    self.random_state = drawn_from
                drawn_from = self.random_state
            length = 0
            order = shuffled(self.perceptron.random, n_rows) if is_shuffled else ROW_ORDER
            while position < n_rows:
                if self._is_spent():
                    return False
                start, stop = position, position + min(self._rows_a_call, self.max_rows - self.rows_read)
                position, mistake = self._sweep(block, order, start, min(stop, n_rows), look_after)
                self.rows_read += position - start
                if mistake is not None and self.order == "restart":
                    self.place = None
                    yield mistake
                    return False
                self.place = WalkPlace(updates_before, int(block.numbers[0]), n_rows, position, drawn_from, begun)
                yield mistake
            position = 0
        if length:
            raise CheckpointError(f"No block of rows begins at row {first} any more: start over.")
        self.place = None
        return self.updates == updates_before

    def _blocks(self, begun: dict[str, Any], start: int | None) -> Iterator[Block]:
        """The blocks of a walk; those before the one that begins at row `start` are skipped."""
        if self.order == "shuffled" and self.place is not None:
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
            if not np.isfinite(gap):  # the rule refuses this row
                break
        return found

    def _sweep(
        self, block: Block, order: Ints | None, start: int, stop: int, look_after: int
    ) -> tuple[int, Mistake | None]:
        """Run the Perceptron on the next rows; return the position reached, and the mistake at which it stopped."""
        first = int(block.numbers[0])
        limit = min(look_after, self.max_updates - self.perceptron.updates + self._before)
        end = self.perceptron.learn(block, self._counts(first, len(block)), order, start, stop, limit)
        if end.bad != ALL_FINE:
            raise refusal(self.source, first + end.bad)
        if end.updates != look_after:
            return end.position, None
        self._label = int(block.y[end.row])
        sign = self._label if len(self.b) == 1 else 1
        return end.position, Mistake(first + end.row, sign * end.gap)

    def _counts(self, first: int, length: int) -> Ints:
        """The array in which the compiled loop counts the mistakes of a block; unused for a source in parts."""
        if self.mistakes_per_row is not None:
            return self.mistakes_per_row[first : first + length]
        if len(self._forgotten) < length:
            self._forgotten = np.zeros(length, np.int64)
        return self._forgotten[:length]

    def steps(self) -> Iterator[Step]:
        """One `Step` for each update of the walk."""
        for mistake in self.walk(look_after=1):
            if mistake:
                label = self.source.facts.pair[int(self._label > 0)]
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
        """Reads of the data so far, including one that has begun."""
        return -(-self.rows_read // self.source.n_rows)

    @property
    def halfspace(self) -> Halfspace:
        """The current weights."""
        return Halfspace(self.w, self.b[0].item(), self.source.facts.pair)

    def result(self) -> PerceptronRun:
        """The run so far."""
        self.perceptron.require_finite()
        is_exact = self.perceptron.is_exact()
        bits = max(abs(int(value)).bit_length() for value in (*self.w, self.b[0])) if is_exact else None
        per_row, ids, names = self.mistakes_per_row, self.source.facts.ids, None
        if ids is not None and per_row is not None:
            names = ids.names(by_corrections(per_row)[:SHOWN_ROWS].tolist())
        return PerceptronRun(self.halfspace, self.converged, self.updates, self.passes, per_row, bits, names)

    @property
    def random_state(self) -> dict[str, Any]:
        """The state of the random numbers."""
        return dict(self.perceptron.random.bit_generator.state)

    @random_state.setter
    def random_state(self, state: dict[str, Any]) -> None:
        self.perceptron.random.bit_generator.state = state

    def _is_spent(self) -> bool:
        return self.rows_read >= self.max_rows or self.perceptron.updates - self._before >= self.max_updates
