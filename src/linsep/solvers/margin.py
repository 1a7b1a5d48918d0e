"""The largest margin: how far the nearest row can be kept from a hyperplane, between two certified bounds.

Every hyperplane that separates shows a margin (the distance of its nearest row): a lower bound. Every pair of points,
one in the hull of each class, shows that no margin is larger than half their distance: an upper bound. At the
optimum the two meet, and the rows whose weights make up the two points are the support of the hyperplane.

The search is that of `working_set.py`, in the true metric: min |w|² with y·(w·x + b) >= 1, b free. Rows are
centred on the hyperplane found last, where b is 0, so that counting b in |w|² changes nothing in the end.
"""

import math
from dataclasses import dataclass

import numpy as np

from linsep.solvers.clock import Clock
from linsep.solvers.minnorm import Shortest, nearest_to_zero, shortest
from linsep.solvers.working_set import Level, WorkingSet, levels, scan_safely
from linsep.sources.base import Block, Floats, Source

ON_SAMPLES = 0.1  # how exactly a sample is solved before the next is drawn
SUPPORT = 1e-12  # multipliers below this part of the largest count as 0
TRIES = 40  # rounds without a better bound before the interval is returned as it is


@dataclass(frozen=True, slots=True)
class Widest:
    """A hyperplane and the rows (with positive weights) that show how much better another could be, in floats."""

    w: Floats
    b: float
    support: Block
    multipliers: Floats
    low: float
    high: float

    def joined(self, other: "Widest") -> "Widest":
        """The better hyperplane of the two with the better bound of the two: each proves its own end."""
        above = self if self.low >= other.low else other
        below = self if self.high <= other.high else other
        return Widest(above.w, above.b, below.support, below.multipliers, above.low, below.high)


@dataclass(slots=True)
class Centre:
    """Rows as they look from a point: (x - point)·scale, and the bias in the same units."""

    point: Floats
    scale: float
    has_bias: bool

    def signed(self, block: Block) -> Floats:
        """The signed rows seen from here."""
        values = block.values
        z = np.empty((len(block), len(self.point) + 1))
        z[:, :-1] = values if isinstance(values, np.ndarray) else values.toarray()
        z[:, :-1] -= self.point
        z[:, :-1] *= self.scale
        z[:, -1] = 1.0 if self.has_bias else 0.0
        z *= block.y[:, None]
        return z

    def halfspace(self, v: Floats) -> tuple[Floats, float]:
        """Weights from here as weights of the original columns, and the bias."""
        w = v[:-1] * self.scale
        return w, float(v[-1] - w @ self.point) if self.has_bias else 0.0


class WidestSearch:
    """The working set of the margin, and the best bounds so far."""

    def __init__(self, source: Source, *, homogeneous: bool, gap: float, clock: Clock, has_bias: bool = True) -> None:
        self.source, self.homogeneous, self.gap, self.clock = source, homogeneous, gap, clock
        self.has_bias = has_bias

    def run(self) -> Widest | None:
        """The widest hyperplane; None if floats find none (perhaps there is none)."""
        with np.errstate(all="ignore"):  # floats only guide here: whatever leaves their range is not believed
            return self._run()

    def _run(self) -> Widest | None:
        best: Widest | None = None
        for level in levels(self.source, self.source.n_columns + 1):
            if best is None:
                self._begin(level)
            best = self._settle(level, self.gap if level.numbers is None else max(self.gap, ON_SAMPLES))
            if best is None:
                return None
        return best

    def _begin(self, level: Level) -> None:
        block = level.globally(level.source.sample(2 * self.source.n_columns + 12, seed=1))
        centre = Centre(np.zeros(self.source.n_columns), 1.0, self.has_bias)
        if not self.homogeneous:
            rows = centre.signed(block)[:, :-1] * block.y[:, None]
            point = rows.mean(axis=0)
            size = float(np.abs(rows - point).max()) or 1.0
            centre = Centre(point, float(np.ldexp(1.0, -np.frexp(size)[1])), has_bias=True)
        self.working = WorkingSet(centre, block)

    def _settle(self, level: Level, gap: float) -> Widest | None:
        """Go on until the rows of this level are at the margin within the gap, or no bound gets better."""
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
            self.clock.saw(0.0 if self.homogeneous or level.numbers is not None else best.low, self._known(best))
            if best.low >= best.high * (1 - gap):
                return best
            if not self.working.renew(answer.w, worst, slack=min(gap, 0.5) / 4):
                self._recentre(candidate)
                waited += TRIES // 4
            waited += 1
        return best

    def _known(self, best: Widest) -> float:
        return math.inf if self.homogeneous else best.high  # another margin, of other rows

    def _solve(self) -> Shortest:
        """The shortest vector for the working set; every row with a multiplier matters, however small that is."""
        answer = shortest(self.working.z)
        if not answer.is_solved:
            answer = nearest_to_zero(self.working.z)
        self.working.matters = answer.multipliers > 0
        return answer

    def _look(self, level: Level, answer: Shortest) -> tuple[Widest, Block]:
        """The bounds that this answer shows, and the rows worst for it."""
        w, b = self.working.frame.halfspace(answer.w)
        width = len(answer.w)
        w, b, scan = scan_safely(
            level.source, w, b, worst=min(max(4 * width, len(self.working.block) // 2), 20 * width)
        )
        self.clock.reads += level.numbers is None
        support = np.flatnonzero(answer.multipliers > SUPPORT * answer.multipliers.max())
        rows, weights = self.working.block.take(support), answer.multipliers[support]
        length = math.hypot(*w.tolist(), b if self.homogeneous else 0.0)  # no square that under- or overflows
        low = min(scan.lowest) / length
        return Widest(w, b, rows, weights, low, self._ceiling(rows, weights)), level.globally(scan.worst)

    def _ceiling(self, rows: Block, weights: Floats) -> float:
        """Half the distance of the classes' weighted means (homogeneous: the length of the mean of all)."""
        z = self.working.frame.signed(rows)
        plus = rows.y > 0
        if self.homogeneous:
            return float(np.linalg.norm(weights @ z) / weights.sum())
        if plus.all() or not plus.any():
            return float("inf")
        means = [np.average(z[side, :-1], axis=0, weights=weights[side]) for side in (plus, ~plus)]
        return float(np.linalg.norm(means[0] + means[1]) / 2 / self.working.frame.scale)

    def _recentre(self, seen: Widest) -> None:
        """Look from the point of the hyperplane nearest to the old centre."""
        if self.homogeneous:
            return
        centre, length = self.working.frame, math.hypot(*seen.w.tolist())
        distance = float(seen.w @ centre.point + seen.b) / length
        point = centre.point - seen.w / length * distance
        self.working.look_from(Centre(point, centre.scale, has_bias=True))
