"""A separator by relaxation: walk over the rows, and at each that is not yet at 1 move the weights past that.

    Start from w = 0.
    While some row has z·w < 1:  w += f·(1 - z·w)/|z|²·z,  0 < f < 2.

Theorem (Agmon; Motzkin and Schoenberg 1954). If some w* has z·w* >= 1 for every row, then no move takes w away from
w*, and the moves sum up:  Σ f·(2 - f)·(1 - z·w)²/|z|² <= |w*|². So z·w comes up to 1 - e for every row and every e > 0.

Proof. Write m = 1 - z·w > 0. Then (w - w*)·z <= -m, and |w - w*|² changes by 2·f·m/|z|²·(w - w*)·z + f²·m²/|z|²
<= -f·(2 - f)·m²/|z|².

It never stops on rows that nothing separates. They show in the number of mistakes, which stops falling; then it gives
up, and says nothing. Two things make it fast. Rows are walked in a random order, each scaled by a power of two to a
length of about 1. And a row that is well on its side (z·w > 3) rests for the next passes, until all rows are read
again. A walk is over when a read of all rows finds no mistake, each sign proved: that is far from z·w >= 1 for all.

Few of many rows are settled first, as in `working_set.py`: with their weights most of the others are at rest at once.

Motzkin and Schoenberg, The relaxation method for linear inequalities, Canadian Journal of Mathematics 6 (1954).
"""

from dataclasses import dataclass, field

import numpy as np

from linsep import loops
from linsep.loops.layouts import Dense
from linsep.solvers.clock import Clock
from linsep.solvers.working_set import Separated, is_separated, levels
from linsep.sources.base import MOST_BITS, Block, Floats, Ints, Scan, Source

FACTORS = 1.8, 1.0  # the second is slower, and gets there on some rows where the first goes round in circles
REST = 3.0  # rows beyond this rest until all rows are read again
PASSES = 10  # from one read of all rows to the next
FEWER = 0.9  # a read counts as progress when it finds at most this part of the mistakes
PATIENCE = 4  # reads without progress before it gives up; and one more for every fourth that went before
MOST_READS = 400
ENTRIES_A_CALL = 1 << 23  # walked before the clock is looked at: hundredths of a second


def relax(source: Source, *, bias: bool, clock: Clock) -> Separated | None:
    """A separator of all rows, proved; None where there seems to be none, or where doubles have no room for the rows.

    >>> import linsep
    >>> from linsep.sources.inputs import as_source
    >>> source = as_source(*linsep.datasets.planted(300, 20, margin=0.5))
    >>> relax(source, bias=True, clock=Clock()).lowest > 0
    True
    >>> relax(as_source(*linsep.datasets.xor()), bias=True, clock=Clock()) is None
    True
    """
    if (source.facts.integer_bits or 0) > MOST_BITS:  # of integers that no double holds no score is to be had
        return None
    walk, found = Relaxation(source.n_columns, bias, clock), None
    for level in levels(source, source.n_columns + bias):
        found = walk.settle(level.source, is_whole=level.numbers is None)
        if found is None:
            return None
    assert found is not None  # the whole is a level
    nobody = source.take(np.zeros(0, np.int64))
    return Separated(walk.w, float(walk.b[0]), min(found.lowest), nobody, np.zeros(0))


class NoRoomError(ArithmeticError):
    """A row is 0, or too long or too short for its square to be a double."""


@dataclass(slots=True)
class Walkers:
    """Some rows in memory: their scales and steps, and the order in which those that do not rest are walked."""

    block: Block
    measures: Floats
    order: Ints

    @classmethod
    def of(cls, block: Block, bias: float) -> "Walkers":
        """All rows of a block."""
        measures = np.empty((len(block), 2))
        if not loops.relaxation.measure(block.table, block.y, bias, measures):
            raise NoRoomError
        return cls(block, measures, np.arange(len(block)))

    def awake(self) -> "Walkers":
        """A copy of the rows that do not rest."""
        return Walkers(self.block.take(self.order), self.measures[self.order], np.arange(len(self.order)))


@dataclass(slots=True)
class Relaxation:
    """The weights of a walk, and how it goes on from them."""

    n_columns: int
    bias: float
    clock: Clock
    w: Floats = field(init=False)
    b: Floats = field(init=False)
    random: np.random.Generator = field(init=False)

    def __post_init__(self) -> None:
        self.bias, self.w, self.b = float(self.bias), np.zeros(self.n_columns), np.zeros(1)
        self.random = np.random.default_rng(0)

    def settle(self, source: Source, *, is_whole: bool) -> Scan | None:
        """Walk until a scan proves that every row is on its side; None when that does not come nearer any more."""
        try:
            for factor in FACTORS:
                found = self._walk(source, factor, is_whole)
                if found is not None:
                    return found
        except NoRoomError:
            pass
        return None

    def _walk(self, source: Source, factor: float, is_whole: bool) -> Scan | None:
        fewest, waited = float(source.n_rows), 0
        for read in range(MOST_READS):
            self._ten_passes(source, factor)
            scan = source.scan(self.w, float(self.b[0]))
            self.clock.reads += 2 * is_whole
            if is_separated(source, self.w, float(self.b[0]), scan):
                return scan
            waited += 1
            if scan.mistakes <= FEWER * fewest:
                fewest, waited = scan.mistakes, 0
            if waited > PATIENCE + read // 4:
                break
        return None

    def _ten_passes(self, source: Source, factor: float) -> None:
        """One pass over all rows, and the others over those that it leaves awake, as many of them as may be held."""
        awake: list[Walkers] = []
        room = source.facts.at_hand or source.n_rows
        for block in source.blocks(self.random):
            walkers = Walkers.of(block, self.bias)
            self._pass(walkers, factor)
            if len(block) < source.n_rows:
                walkers.order = np.sort(walkers.order[:room])
                walkers = walkers.awake()
            room -= len(walkers.order)
            awake.append(walkers)
        for _ in range(PASSES - 1):
            if not sum(self._pass(awake[k], factor) for k in self.random.permutation(len(awake))):
                break

    def _pass(self, walkers: Walkers, factor: float) -> int:
        """Walk the rows that do not rest, in a new order; says how many of them moved the weights."""
        order = walkers.order[loops.shuffling.shuffled(self.random, len(walkers.order))]
        kept = moves = 0
        for start, stop in self._calls(walkers.block, len(order)):
            self.clock.check()
            kept, moved = loops.relaxation.relax(
                walkers.block.table,
                order,
                start,
                stop,
                kept,
                walkers.measures,
                factor,
                REST,
                self.bias,
                self.w,
                self.b,
            )
            moves += moved
        walkers.order = order[:kept]
        return moves

    def _calls(self, block: Block, rows: int) -> list[tuple[int, int]]:
        """The stretches of an order that are walked between two looks at the clock."""
        table = block.table
        entries = block.n_columns if isinstance(table, Dense) else table.data.size // max(1, len(block))
        most = max(1, ENTRIES_A_CALL // max(1, entries))
        return [(start, min(start + most, rows)) for start in range(0, rows, most)]
