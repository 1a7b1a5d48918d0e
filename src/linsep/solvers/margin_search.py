"""The largest margin: how far the nearest row can be kept from a hyperplane, between two certified bounds.

Every hyperplane that separates shows a margin (the distance of its nearest row): a lower bound. Every pair of points,
one in the hull of each class, shows that no margin is larger than half their distance: an upper bound. At the
optimum the two bounds meet, and the rows with weight in the two points are the support of the hyperplane.

The search is that of `working_set.py`, in the true metric: min |w|² with y·(w·x + b) >= 1, b free. Rows are
centred on the hyperplane found last, where b is 0, so that counting b in |w|² changes nothing in the end.
Rows are multiplied by one power of two, which brings them to a size of about 1: that scales the margin, and nothing
else. Columns do not get powers of their own here, since those would change the metric.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from linsep.solvers.clock import Clock
from linsep.solvers.min_norm import Shortest, nearest_to_zero, shortest
from linsep.solvers.scaling import require_memory
from linsep.solvers.working_set import SampleLevel, WorkingSet, levels, scan_safely
from linsep.sources.base import Block, Floats, Source

ON_SAMPLES = 0.1  # relative gap to which a sample is solved before the next is drawn
SUPPORT = 1e-12  # multipliers below this part of the largest count as 0
TRIES = 40  # rounds without a better bound after which the interval is returned as it is
FAR = 2.0**200  # entries beyond this, in units of the first rows seen, count as this: no square overflows
FEW = 1 << 20  # entries: enough to estimate where the others lie
USUAL = 400  # exponents of two up to this leave room for squares


@dataclass(frozen=True, slots=True)
class Widest:
    """A hyperplane and the rows (with positive weights) that show how much better another could be, in floats.

    w and b are for the original rows, times some power of two; `low` and `high` are in units of the search.
    """

    w: Floats
    b: float
    support: Block
    multipliers: Floats
    low: float
    high: float

    def joined(self, other: "Widest") -> "Widest":
        """The better hyperplane of the two with the better upper bound of the two: each end has its own proof."""
        above = self if self.low >= other.low else other
        below = self if self.high <= other.high else other
        return Widest(above.w, above.b, below.support, below.multipliers, above.low, below.high)


@dataclass(slots=True)
class Centre:
    """Rows relative to a point: x·2^exponent - point, and the constant that multiplies the bias."""

    point: Floats
    exponent: int
    constant: float

    def signed(self, block: Block) -> Floats:
        """The signed rows relative to the point."""
        z = np.empty((len(block), len(self.point) + 1))
        z[:, :-1] = scaled(block, self.exponent)
        z[:, :-1] -= self.point
        z[:, -1] = self.constant
        z *= block.y[:, None]
        return z

    def halfspace(self, v: Floats) -> tuple[Floats, float]:
        """Weights of the centred rows as weights of the original columns, and the bias, times a power of two.

        If it is far from 1, half of the exponent is left to the scores: neither they nor the weights leave the range.
        """
        shift = 0 if abs(self.exponent) <= USUAL else -self.exponent // 2
        b = float(v[-1]) * self.constant - float(v[:-1] @ self.point)
        return np.ldexp(v[:-1], self.exponent + shift), float(np.ldexp(b, shift))

    def moved(self, v: Floats) -> "Centre":
        """The same, centred at the point of a hyperplane that is nearest to this one."""
        w = v[:-1] / np.abs(v[:-1]).max()
        away = float(v[-1]) / float(v[:-1] @ w)
        return Centre(self.point - w * away, self.exponent, self.constant)


def scaled(block: Block, exponent: int) -> Floats:
    """The values of a block as doubles times 2^exponent, densely; those far beyond 1 are cut off there."""
    values = scaled_values(block, exponent)
    return values if isinstance(values, np.ndarray) else np.asarray(values.toarray())


def scaled_values(block: Block, exponent: int) -> Any:
    """The same, sparse where the rows are."""
    values = block.values
    entries = values if isinstance(values, np.ndarray) else values.data
    if abs(exponent) <= USUAL:
        entries = entries.astype(np.float64) * 2.0**exponent
    else:  # ldexp is slower, but works for every power of two
        entries = np.ldexp(entries.astype(np.float64), exponent)
    np.clip(entries, -FAR, FAR, out=entries)
    if isinstance(values, np.ndarray):
        return entries
    return sp.csr_array((entries, values.indices, values.indptr), shape=values.shape)


def centre_of(source: Source, block: Block, *, homogeneous: bool, has_bias: bool, is_moved: bool = True) -> Centre:
    """Centre and unit for rows: the origin if hyperplanes pass through it or not `is_moved`, else their mean."""
    least = float(homogeneous and has_bias)
    values = block.values if isinstance(block.values, np.ndarray) else block.values.data
    largest = float(np.abs(values.astype(np.float64)).max(initial=least))
    if not math.isfinite(largest):
        source.require_finite()  # raises, and names the row
    exponent = -math.frexp(largest)[1]
    if homogeneous or not is_moved:
        return Centre(np.zeros(block.n_columns), exponent, math.ldexp(least, exponent) if homogeneous else 1.0)
    rows = scaled(block.take(np.arange(min(len(block), 2 + FEW // block.n_columns))), exponent)
    point = rows.mean(axis=0)
    closer = -math.frexp(float(np.abs(rows - point).max(initial=0.0)))[1]
    return Centre(np.ldexp(point, closer), exponent + closer, 1.0)


class WidestSearch:
    """The working set of the margin, and the best bounds so far; `best` are those on all rows."""

    def __init__(self, source: Source, *, homogeneous: bool, gap: float, clock: Clock, has_bias: bool = True) -> None:
        self.source, self.homogeneous, self.gap, self.clock = source, homogeneous, gap, clock
        self.has_bias = has_bias
        self.best: Widest | None = None

    def run(self) -> Widest | None:
        """The widest hyperplane; None if floats find none (perhaps there is none)."""
        with np.errstate(all="ignore"):  # floats only guide here: results that leave their range are not trusted
            return self._run()

    def _run(self) -> Widest | None:
        best: Widest | None = None
        for level in levels(self.source, self.source.n_columns + 1):
            self.clock.check()
            if best is None:
                self._begin(level)
                self.clock.check()
            best = self._settle(level, self.gap if level.is_whole else max(self.gap, ON_SAMPLES))
            if best is None:
                return None
        return best

    def _begin(self, level: SampleLevel) -> None:
        block = level.source.sample(2 * self.source.n_columns + 12, seed=1)
        require_memory(len(block), self.source.n_columns + 1)
        centre = centre_of(self.source, block, homogeneous=self.homogeneous, has_bias=self.has_bias)
        self.working = WorkingSet(centre, block)

    def _settle(self, level: SampleLevel, gap: float) -> Widest | None:
        """Continue until the margin of this level is known within the gap, or no bound improves."""
        best: Widest | None = None
        waited = 0
        while waited < TRIES:
            self.clock.check()
            answer = self._solve()
            if not answer.is_solved:
                return best
            candidate, worst = self._look(level, answer)
            better = candidate if best is None else best.joined(candidate)
            if best is None or better.low > best.low * (1 + gap / 8) or better.high < best.high * (1 - gap / 8):
                waited = 0
            best = better
            self._note(level, best)
            if best.low >= best.high * (1 - gap):
                return best
            if not self.working.renew(answer.w, worst, slack=min(gap, 0.5) / 4):
                if not self.homogeneous:
                    self.working.look_from(self.working.frame.moved(answer.w))
                waited += TRIES // 4
            waited += 1
        return best

    def _note(self, level: SampleLevel, best: Widest) -> None:
        """Keep bounds that hold for all rows, and report them; homogenised rows have another margin."""
        if level.is_whole:
            self.best = best
        if not self.homogeneous:
            low, high = np.ldexp([best.low if level.is_whole else 0.0, best.high], -self.working.frame.exponent)
            self.clock.saw(float(low), float(high))

    def _solve(self) -> Shortest:
        """The shortest vector for the working set; every row with a multiplier matters, however small that is."""
        answer = shortest(self.working.z, clock=self.clock)
        if not answer.is_solved:
            answer = nearest_to_zero(self.working.z, self.clock)
        self.working.matters = answer.multipliers > 0
        return answer

    def _look(self, level: SampleLevel, answer: Shortest) -> tuple[Widest, Block]:
        """The bounds that follow from this answer, and the rows that are worst for it."""
        w, b = self.working.frame.halfspace(answer.w)
        width = len(answer.w)
        w, b, scan = scan_safely(
            level.source, w, b, worst=min(max(4 * width, len(self.working.block) // 2), 20 * width)
        )
        self.clock.reads += level.is_whole
        support = np.flatnonzero(answer.multipliers > SUPPORT * answer.multipliers.max())
        rows, weights = self.working.block.take(support), answer.multipliers[support]
        length = math.hypot(*w.tolist(), b if self.homogeneous else 0.0)  # hypot: no square under- or overflows
        low = quotient(min(scan.lowest), length, self.working.frame.exponent)
        return Widest(w, b, rows, weights, low, self._ceiling(rows, weights)), scan.worst

    def _ceiling(self, rows: Block, weights: Floats) -> float:
        """Half the distance of the classes' weighted means (homogeneous: the length of the mean of all)."""
        z = self.working.frame.signed(rows)
        plus = rows.y > 0
        if self.homogeneous:
            return float(np.linalg.norm(weights @ z) / weights.sum())
        if plus.all() or not plus.any():
            return float("inf")
        shares = weights / np.where(plus, weights[plus].sum(), weights[~plus].sum())
        return float(np.linalg.norm(shares @ z[:, :-1]) / 2)


def quotient(a: float, b: float, exponent: int) -> float:
    """a/b·2^exponent, where only the result need be in the range of doubles."""
    (m, e), (n, f) = math.frexp(a), math.frexp(b)
    return float(np.ldexp(m / n, e - f + exponent)) if n else 0.0
