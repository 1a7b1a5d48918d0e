"""A separator by relaxation: walk over the rows, and at each that has not reached 1 move the weights beyond that.

    Start from w = 0.
    While some row has z·w < 1:  w += f·(1 - z·w)/|z|²·z,  0 < f < 2.

Theorem (Agmon; Motzkin and Schoenberg 1954). If some w* has z·w* >= 1 for every row, then no move takes w away from
w*, and the moves add up to  Σ f·(2 - f)·(1 - z·w)²/|z|² <= |w*|². So z·w reaches 1 - e for every row and every e > 0.

Proof. Write m = 1 - z·w > 0. Then (w - w*)·z <= -m, and |w - w*|² changes by 2·f·m/|z|²·(w - w*)·z + f²·m²/|z|²
<= -f·(2 - f)·m²/|z|².

On rows that are not separable it would never stop. The sign of that is that the number of mistakes stops falling; then
it gives up, without an answer. Two things make it fast. Rows are walked in a random order, each scaled by a power of
two to a length of about 1. And a row that is well on its side (z·w > 3) rests for the next passes, until all rows are
read again. A walk ends when a read of all rows finds no mistake, with every sign proved, long before z·w >= 1 for all.

If there are many rows, samples are settled first, as in `working_set.py`: with their weights most other rows rest at
once. Sparse rows are walked as they are: with scaled columns, rare words would count for too much. A dense table whose
columns are far from 0 or differ in size is centred, with units between the spread and the reach of each column.

Motzkin and Schoenberg, The relaxation method for linear inequalities, Canadian Journal of Mathematics 6 (1954).
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from linsep import loops
from linsep.errors import OutOfMemoryError
from linsep.loops.layouts import Dense
from linsep.solvers.clock import Clock
from linsep.solvers.scaling import require_bytes
from linsep.solvers.working_set import Separated, Stuck, is_separated, levels
from linsep.sources.base import MOST_BITS, Block, Floats, Ints, Scan, Source, in_one_block
from linsep.sources.memory import MemorySource

FACTORS = 1.8, 1.0  # the second is slower, but succeeds on some rows where the first goes round in circles
REST = 3.0  # rows beyond this rest until all rows are read again
PASSES = 10  # from one read of all rows to the next
FEWER = 0.9  # a read counts as progress when it finds at most this part of the mistakes
PATIENCE = 4  # reads without progress before it gives up; and one more for every four earlier reads
MOST_READS = 400
SOON, HOPELESS = 3, 0.25  # with more than this part of the rows mistaken after this many reads, it gives up at once
FAR_AWAY = 0.05  # with more than this part mistaken at best, the other factor is not tried
WORK = 8  # entries walked at most, in units of columns³: a fraction of what the working set takes if this fails
FEW_LEFT = 16  # mistakes: with this few, a working set of the rows next to the hyperplane is quickly solved
NEAREST = 3  # rows of that working set, for each column
JOIN = 8  # for a source in parts, a scan adds at most one row for this many held
ENTRIES_A_CALL = 1 << 23  # walked before the clock is checked: hundredths of a second
LOOKED_AT = 1000  # rows used to find the centre and spread of columns
FAR_OFF, UNEVEN = 1.0, 4.0  # a column this many units from 0, or with a unit this many times another's, needs centring


class GaveUpError(ArithmeticError):
    """The mistakes do not decrease, or a row is 0, or its square is not a double."""


def relax(source: Source, *, bias: bool, clock: Clock, in_use: int | None = None) -> Separated | Stuck | None:
    """A proved separator of all rows; None if there seems to be none, or if doubles cannot hold the rows.

    If a few mistakes remain that do not decrease, the answer is `Stuck` with the rows next to the hyperplane, for a
    method that works harder. `in_use` is how many columns have an entry other than 0 (None: all of them).

    >>> import linsep
    >>> from linsep.sources.inputs import as_source
    >>> source = as_source(*linsep.datasets.planted(300, 20, margin=0.5))
    >>> relax(source, bias=True, clock=Clock()).lowest > 0
    True
    >>> relax(as_source(*linsep.datasets.xor()), bias=True, clock=Clock()) is None
    True
    """
    if (source.facts.integer_bits or 0) > MOST_BITS:  # integers that are not doubles cannot be scored here
        return None
    width = (source.n_columns if in_use is None else in_use) + bias
    walk = Relaxation(viewpoint(source, bias), bias, clock, most_entries=WORK * width**3)
    found = walk.separated(source, width)
    return walk.nearest(source, width) if found is None and walk.fewest <= FEW_LEFT else found


def relax_from(place: "Place", source: Source, *, clock: Clock) -> Separated | None:
    """A separator of all rows, walked to in coordinates that include the bias as a weight; None if it gives up."""
    width = place.n_columns
    return Relaxation(place, False, clock, most_entries=WORK * width**3).separated(source, width)


class Place(Protocol):
    """Coordinates in which rows are walked."""

    @property
    def n_columns(self) -> int:
        """How many weights there are."""
        ...

    def seen(self, block: Block) -> Block:
        """The rows as they look from here."""
        ...

    def halfspace(self, w: Floats, b: float) -> tuple[Floats, float]:
        """Weights from here as weights of the columns, and the bias."""
        ...


@dataclass(frozen=True, slots=True)
class Viewpoint:
    """Where rows are walked from: as they are, or (x - point)/unit."""

    n_columns: int
    point: Floats | None = None
    unit: Floats | None = None

    def seen(self, block: Block) -> Block:
        """The rows as they look from here."""
        if self.point is None or self.unit is None or not isinstance(block.table, Dense):
            return block
        values = block.table.values.astype(np.float64)
        values -= self.point
        values /= self.unit
        return Block(Dense(values), block.y, block.numbers, block.n_columns)

    def halfspace(self, w: Floats, b: float) -> tuple[Floats, float]:
        """Weights from here as weights of the columns, and the bias."""
        if self.point is None or self.unit is None:
            return w, b
        own = w / self.unit
        return own, b - float(own @ self.point)


def viewpoint(source: Source, bias: bool) -> Viewpoint:
    """Rows as they are; or from the middle of dense columns, if they need it and there is memory for it."""
    as_they_are, sample = Viewpoint(source.n_columns), source.sample(LOOKED_AT, seed=2)
    if not isinstance(sample.table, Dense):
        return as_they_are
    with np.errstate(all="ignore"):
        values = sample.table.values.astype(np.float64)
        point = values.mean(axis=0) if bias else np.zeros(source.n_columns)
        values -= point
        unit = np.sqrt(values.std(axis=0) * np.abs(values).max(axis=0))
    if not (np.isfinite(point).all() and np.isfinite(unit).all()):
        return as_they_are
    unit[unit == 0] = 1.0
    if (np.abs(point) <= FAR_OFF * unit).all() and unit.max() <= UNEVEN * unit.min():
        return as_they_are
    try:
        require_bytes(2 * 8 * (source.facts.at_hand or source.n_rows) * source.n_columns, "A copy of the rows")
    except OutOfMemoryError:
        return as_they_are
    return Viewpoint(source.n_columns, point, unit)


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
            raise GaveUpError
        return cls(block, measures, np.arange(len(block)))

    @property
    def entries_a_row(self) -> int:
        """How many numbers a row has, at least one."""
        table = self.block.table
        entries = self.block.n_columns if isinstance(table, Dense) else table.data.size // max(1, len(self.block))
        return max(1, entries)


class Relaxation:
    """The weights of a walk, and the steps that continue it."""

    def __init__(self, place: Place, bias: bool, clock: Clock, most_entries: int) -> None:
        self.place, self.bias, self.clock, self.entries_left = place, float(bias), clock, most_entries
        self.w, self.b = np.zeros(place.n_columns), np.zeros(1)
        self.random = np.random.default_rng(0)
        self.fewest = float(np.inf)  # the fewest mistakes on all rows that a walk has had

    @property
    def halfspace(self) -> tuple[Floats, float]:
        """The weights of the columns, and the bias."""
        return self.place.halfspace(self.w, float(self.b[0]))

    def separated(self, source: Source, width: int) -> Separated | None:
        """A separator of all rows; None if the walk gives up."""
        try:
            scan = self.run(source, width)
        except GaveUpError:
            return None
        return Separated(*self.halfspace, min(scan.lowest), source.take(np.zeros(0, np.int64)), np.zeros(0))

    def run(self, source: Source, width: int) -> Scan:
        """Walk until a scan of all rows proves that every one is on its side."""
        scan: Scan | None = None
        held: Block | None = None
        for level in levels(source, width):
            block = in_one_block(level.source)
            if block is None:
                scan = self._settle_parts(level.source, held)
            else:
                scan, held = self._settle(level.source, block, is_whole=level.is_whole), block
        assert scan is not None  # the whole is a level
        return scan

    def _settle(self, source: Source, block: Block, *, is_whole: bool) -> Scan:
        """Walk until the rows of a source that is one block are separated."""
        walkers = Walkers.of(self.place.seen(block), self.bias)
        for factor in FACTORS:
            fewest, waited, read = float(source.n_rows), 0, 0
            while waited <= PATIENCE + read // 4 and read < MOST_READS and self.entries_left > 0:
                scan, is_right = self._ten_passes(source, walkers, factor, is_whole)
                self.clock.reads += 2 * is_whole
                self.entries_left -= source.n_rows * walkers.entries_a_row
                if is_right:
                    return scan
                read, waited = read + 1, waited + 1
                if scan.mistakes <= FEWER * fewest:
                    fewest, waited = scan.mistakes, 0
                if read == SOON and fewest > HOPELESS * source.n_rows:
                    raise GaveUpError
            if is_whole:
                self.fewest = fewest
            if fewest <= FEW_LEFT or fewest > FAR_AWAY * source.n_rows:
                break
        raise GaveUpError

    def nearest(self, source: Source, width: int) -> Stuck:
        """The rows that are worst for the weights as they are, the mistakes first."""
        w, b = self.halfspace
        scan = source.scan(w, b, worst=NEAREST * width)
        return Stuck(scan.worst, np.arange(min(width, len(scan.worst))))

    def _settle_parts(self, source: Source, held: Block | None) -> Scan:
        """Walk as many rows of a source in parts as may be held; others join when they turn out to be mistaken."""
        room = source.facts.at_hand or source.n_rows
        held = source.sample(room, seed=0) if held is None else held
        for _ in range(MOST_READS):
            self.clock.check()
            part = MemorySource.of(held, source.facts)
            self._settle(part, held, is_whole=False)
            w, b = self.halfspace
            scan = source.scan(w, b, worst=max(1, room // JOIN))
            self.clock.reads += 1
            if self.is_right(source, scan):
                return scan
            found = scan.worst.take(np.flatnonzero(scan.worst_scores <= 0))
            if not len(found):
                break
            if len(held) + len(found) > room:
                held = part.scan(w, b, worst=room - len(found)).worst
            held = held + found
        raise GaveUpError

    def is_right(self, source: Source, scan: Scan) -> bool:
        """Whether the weights are proved right on all rows of this source."""
        return is_separated(source, *self.halfspace, scan)

    def _ten_passes(self, source: Source, walkers: Walkers, factor: float, is_whole: bool) -> tuple[Scan, bool]:
        """One pass over all rows, and the others over those that it leaves awake; then all are read: are they right?

        They are read once before, after the first pass without a mistake: often that is enough.
        """
        walkers.order, early = np.arange(len(walkers.block)), True
        for _ in range(PASSES):
            moves, mistakes = self._pass(walkers, factor)
            if not moves:
                break
            if early and not mistakes:
                scan, early = source.scan(*self.halfspace), False
                if self.is_right(source, scan):
                    return scan, True
                self.clock.reads += is_whole
        scan = source.scan(*self.halfspace)
        return scan, self.is_right(source, scan)

    def _pass(self, walkers: Walkers, factor: float) -> tuple[int, int]:
        """Walk the rows that do not rest, in a new order; says how many moved the weights, how many were mistakes."""
        order = walkers.order[loops.shuffling.shuffled(self.random, len(walkers.order))]
        entries, kept, moves, mistakes = walkers.entries_a_row, 0, 0, 0
        most = max(1, ENTRIES_A_CALL // entries)
        for start in range(0, len(order), most):
            self.clock.check()
            stop = min(start + most, len(order))
            row_facts = walkers.block.table, order, start, stop, kept, walkers.measures
            kept, moved, met = loops.relaxation.relax(*row_facts, factor, REST, self.bias, self.w, self.b)
            moves, mistakes = moves + moved, mistakes + met
        self.entries_left -= entries * len(order)
        walkers.order = order[:kept]
        return moves, mistakes
