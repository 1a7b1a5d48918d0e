"""Find a separator, or the rows that rule one out, by solving for few rows and scanning all the others.

    W = a sample of the rows
    repeat
        w = the shortest vector with Z_W·w >= 1         (none: the rows that matter are an obstruction, proved exactly)
        scan all rows under w                           (no mistake, every sign proved: a separator)
        W = the rows that matter in W + the worst rows of the scan

The optimum over W only gets longer, so no W occurs twice. A random sample of r of n rows leaves about D·n/r rows
violated (Clarkson 1995), so samples of samples are settled first: each is a fraction of the next, and by the time the
whole is read, almost everything is known. If two scans of many rows were not enough, the next scans are of only those
rows that a scan found nearest to the hyperplane, and then of all again.

Floats guide, exact arithmetic answers: cases that floats cannot settle are returned as `Stuck`.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from linsep.errors import OverflowedError
from linsep.exact import SMALLEST, null_combination, original_multipliers, rounding_factor
from linsep.solvers.clock import Clock
from linsep.solvers.min_norm import PATIENCE, Shortest, nearest_to_zero, shortest
from linsep.solvers.scaling import Frame
from linsep.solvers.wide.short_weights import WIDE, Blocked, is_about_doubles, prove
from linsep.sources.base import Block, Floats, Ints, Scan, Source
from linsep.sources.memory import MemorySource
from linsep.sources.subset import samples

SHRINK = 8  # each sample is this many times smaller than the next
MANY = 300  # rows per column: from this many on, a sample, or the whole, is large
NEAREST = 20  # rows per column that are scanned by themselves after a scan of many
FEW_SCANS = 2  # of a large sample, or of the one before; after more, the nearest rows are scanned in between
SMALL = 3  # rows per column: a sample with fewer is not sampled again
FIRST_LOOK = 64  # rows used first, at least; smaller tables are used as a whole
SUPPORT = 1e-9  # multipliers below this part of the largest count as 0
NEAR = 1.5  # rows of W up to this score stay
SMALLER = 8  # times 2^-300: after that finite weights are 0
FEW_ROWS = 64  # of an obstruction: exact weights of so few are short and quickly found with any number of columns
# Parts of Σ u·|z|: rows whose weighted sum is shorter cancel, as far as floats can tell. That only says which of two
# ways is tried first. With 1e-8, 1e-5 and 1e-2 the tables named in `newton.py` took 4.5, 4.0, 4.4 (forced margins) and
# 13, 12, 14 CPU seconds (touching).
CANCELS = 1e-5
LITTLE_PATIENCE = 2  # iterations for each row and column, if another method can take over
SLACK = 1e-6  # a row that falls short of 1 by less than this is not added


@dataclass(frozen=True, slots=True)
class Separated:
    """Weights that put every row strictly on its side: each sign proved, `lowest` the smallest float score."""

    w: Floats
    b: float
    lowest: float
    support: Block
    multipliers: Floats


@dataclass(frozen=True, slots=True)
class Stuck:
    """Floats could not settle it: the rows used, which of them seemed to matter, and whether those cancel."""

    rows: Block
    hint: Ints
    cancels: bool = False


Found = Separated | Blocked | Stuck


@dataclass(frozen=True, slots=True)
class SampleLevel:
    """A sample of the rows as a source of its own, or all of them; rows have the numbers of the whole."""

    source: Source
    is_whole: bool


class View(Protocol):
    """Coordinates in which rows are seen: a frame or another basis."""

    def signed(self, block: Block) -> Floats:
        """The signed rows of a block in these coordinates."""
        ...


V = TypeVar("V", bound=View)


class WorkingSet(Generic[V]):
    """The rows W that are solved for: as a block, as signed rows in a frame, and which of them matter."""

    def __init__(self, frame: V, block: Block) -> None:
        self.block = block
        self.matters: npt.NDArray[np.bool_] = np.zeros(len(block), bool)
        self.scans = 0  # made of the last large sample
        self.look_from(frame)

    def look_from(self, frame: V) -> None:
        """Use another frame for the same rows."""
        self.frame = frame
        self.z = frame.signed(self.block)

    def solve(self, clock: Clock, patience: int = PATIENCE) -> Shortest:
        """The shortest vector for the rows, started from those that mattered last time."""
        return self._note(shortest(self.z, self.matters, clock=clock, patience=patience))

    def solve_again(self, clock: Clock) -> Shortest:
        """The same by the slower and more careful way."""
        return self._note(nearest_to_zero(self.z, clock))

    def _note(self, answer: Shortest) -> Shortest:
        self.matters = answer.multipliers > SUPPORT * answer.multipliers.max(initial=0.0)
        return answer

    def renew(self, w: Floats, found: Block, slack: float = SLACK) -> bool:
        """Keep the rows that matter or are near, add those found that fall short; return whether there were any."""
        z = self.frame.signed(found)
        known = set(self.block.row_numbers.tolist())
        numbers = found.row_numbers.tolist()
        is_new = np.array([number not in known for number in numbers], bool) & (z @ w < 1.0 - slack)
        if not is_new.any():
            return False
        keep = self.matters | (self.z @ w < NEAR)
        self.block = self.block.take(np.flatnonzero(keep)) + found.take(np.flatnonzero(is_new))
        self.z = np.concatenate([self.z[keep], z[is_new]])
        self.matters = np.concatenate([self.matters[keep], np.zeros(np.count_nonzero(is_new), bool)])
        return True


def search(
    source: Source, columns: Ints, *, bias: bool, clock: Clock, careful: bool = True, start: Stuck | None = None
) -> Found:
    """Look for a separator of all rows of the source; unless `careful`, give up at once when DAQP cannot settle it.

    `start` are rows that matter, where some are known.
    """
    width = len(columns) + bias
    if start is not None:
        known = WorkingSet(Frame.around(start.rows, columns, bias=bias), start.rows)
        known.matters[start.hint] = True
        return _settle(SampleLevel(source, is_whole=True), known, clock, careful)
    working: WorkingSet[Frame] | None = None
    found: Found | None = None
    for level in levels(source, width):
        if working is None:
            first = level.source.sample(max(2 * width + 10, FIRST_LOOK), seed=1)
            working = WorkingSet(Frame.around(first, columns, bias=bias), first)
        found = _settle(level, working, clock, careful)
        if not isinstance(found, Separated):
            return found
    assert found is not None  # the whole is a level
    return found


def at_once(rows: Block, columns: Ints, *, bias: bool, clock: Clock) -> Separated | Blocked | None:
    """The answer for few dense rows, all of which are solved for at once; None if that does not prove it."""
    values, y = rows.values, rows.y
    working = WorkingSet(Frame.around(rows, columns, bias=bias), rows)
    answer = working.solve(clock)
    if not answer.is_solved:
        return _prove_blocked(working, answer.multipliers, None, clock, careful=True)
    w, b = working.frame.halfspace(answer.w)
    with np.errstate(all="ignore"):
        x = values.astype(np.float64, copy=False)
        scores, sizes = y * (x @ w + b), np.abs(x) @ np.abs(w) + abs(b)
        terms = len(w) + 4
        is_proved = scores > rounding_factor(terms) * 1.001 * sizes + 2 * terms * SMALLEST
    if not is_proved.all():  # or a score is not finite
        return None
    return Separated(w, b, float(scores.min()), rows, answer.multipliers)


def levels(source: Source, width: int) -> Iterator[SampleLevel]:
    """Samples of the rows, each larger than the one before and drawn when its turn comes; finally the whole."""
    sizes = [source.n_rows]
    while sizes[-1] > SMALL * width * SHRINK:
        sizes.append(sizes[-1] // SHRINK)
    at_hand = source.facts.at_hand or source.n_rows
    smaller = [size for size in reversed(sizes[1:]) if size <= at_hand]
    if len(smaller) < len(sizes) - 1:
        smaller.append(at_hand)
    yield from (SampleLevel(sample, is_whole=False) for sample in samples(source, smaller))
    yield SampleLevel(source, is_whole=True)


def _settle(level: SampleLevel, working: WorkingSet[Frame], clock: Clock, careful: bool) -> Found:
    """Continue until the rows of this level are separated, or cannot be."""
    width = working.frame.width
    scans = 0
    while True:
        clock.check()
        answer = working.solve(clock, PATIENCE if careful else LITTLE_PATIENCE)
        if not answer.is_solved:
            clock.doubt()
            if blocked := _prove_blocked(working, answer.multipliers, level.source, clock, careful):
                return blocked
            if not careful:
                return _stuck(working, answer.multipliers)
            answer = working.solve_again(clock)
        if not answer.is_solved:
            return _prove_blocked(working, answer.multipliers, level.source, clock, careful) or _stuck(working)
        matters = np.flatnonzero(working.matters)
        numbers, weights = working.block.row_numbers[matters], answer.multipliers[matters]
        clock.support = tuple(zip(numbers.tolist(), weights.tolist(), strict=True))
        if clock.watch is not None:
            clock.saw(high=_ceiling(working.block.take(matters), weights, working.frame.bias))
        w, b = working.frame.halfspace(answer.w)
        more = min(max(4 * width, len(working.block) // 2), NEAREST * width)
        is_large = level.source.n_rows > MANY * width
        looks_near = is_large and max(scans, working.scans - 1) >= FEW_SCANS
        w, b, scan = scan_safely(level.source, w, b, worst=NEAREST * width if looks_near else more)
        scans, clock.reads = scans + 1, clock.reads + level.is_whole
        if is_separated(level.source, w, b, scan):
            support, working.scans = np.flatnonzero(working.matters), scans if is_large else 0
            return Separated(w, b, min(scan.lowest), working.block.take(support), answer.multipliers[support])
        if not working.renew(answer.w, scan.worst.take(np.arange(min(more, len(scan.worst))))):
            return _stuck(working)
        if looks_near:
            inner = _settle(_nearest(level, scan), working, clock, careful)
            if not isinstance(inner, Separated):
                return inner


def _nearest(level: SampleLevel, scan: Scan) -> SampleLevel:
    """The rows with the lowest scores of a scan, as a level of their own."""
    rows = scan.worst.take(np.argsort(scan.worst.row_numbers))
    source = MemorySource.of(rows, level.source.facts, rows.row_numbers)
    return SampleLevel(source, is_whole=False)


def scan_safely(source: Source, w: Floats, b: float, *, worst: int) -> tuple[Floats, float, Scan]:
    """Scan; if a score is beyond the largest double, with smaller weights that give the same signs."""
    for _ in range(SMALLER):
        try:
            return w, b, source.scan(w, b, worst=worst)
        except OverflowedError:
            w, b = w * 2.0**-300, b * 2.0**-300
    return w, b, source.scan(w, b, worst=worst)  # weights of 0, or not finite: the scan then raises the error


def is_separated(source: Source, w: Floats, b: float, scan: Scan) -> bool:
    """Whether every row is strictly on its side: floats for most, exact signs where they are in doubt."""
    if scan.certain:
        return False
    return not scan.doubtful.size or bool((source.take(scan.doubtful).exact_signs(w, b) > 0).all())


def _prove_blocked(
    working: WorkingSet[Frame], multipliers: Floats, source: Source | None, clock: Clock, careful: bool
) -> Blocked | None:
    """The rows that matter in a working set without a solution should cancel: find their weights, short or exact.

    Exact weights of many rows are long. Unless `careful`, they are left to methods that may find short ones.
    """
    support = np.flatnonzero(working.matters)
    rows = working.block.take(support)
    if working.frame.width >= WIDE and source is not None and is_about_doubles(source):
        short = prove(working.frame, rows, multipliers[support].copy(), clock)
        if short is not None or not (careful or len(rows) <= FEW_ROWS):
            return short
    if 0 < len(rows) <= working.frame.width + 1:
        integers = working.frame.integers(rows)
        weights = null_combination(integers.rows.tolist())
        if weights is not None and min(weights) > 0:
            return Blocked(rows, original_multipliers(weights, integers.row_exponents))
    return None


def _ceiling(rows: Block, weights: Floats, bias: bool) -> float:
    """An upper bound on the margin from the rows that matter, in floats: half the distance of the classes' means."""
    values = rows.values if isinstance(rows.values, np.ndarray) else rows.values.toarray()
    plus = rows.y > 0
    with np.errstate(all="ignore"):
        if not bias:
            return float(np.linalg.norm((weights * rows.y) @ values) / weights.sum())
        if plus.all() or not plus.any():
            return math.inf
        means = [np.average(values[side], axis=0, weights=weights[side]) for side in (plus, ~plus)]
        return float(np.linalg.norm(means[0] - means[1]) / 2)


def _stuck(working: WorkingSet[Frame], multipliers: Floats | None = None) -> Stuck:
    hint, cancels = np.flatnonzero(working.matters), False
    if multipliers is not None and len(hint):
        u, z = multipliers[hint], working.z[hint]
        cancels = bool(np.linalg.norm(u @ z) < CANCELS * float(u @ np.linalg.norm(z, axis=1)))
    return Stuck(working.block, hint, cancels)
