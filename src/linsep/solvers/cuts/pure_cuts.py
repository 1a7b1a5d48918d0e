"""Hyperplanes that cut off rows of one class only, as many as can be found.

    runs      along a direction, the rows beyond the last row of another class: such a run can be cut off
    grown     a linear program moves a cut so that it takes more rows of its class; those of other classes are hard,
              and rows that are nearly taken cost most (costs 1/(slack + eps), made again from the last answer)
    widest    among all hyperplanes that take the same rows, one with a wide margin

All of this is in floats, on columns of mean 0 and variance 1. Exact arithmetic decides whether a cut is pure.
"""

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog

from linsep.solvers.clock import Clock
from linsep.sources.base import Array, Floats, Ints

RANDOM = 40  # directions drawn at random, and pairs of rows of each class
MOST_AXES = 300  # columns tried one by one: those in which the means of the classes differ most
CLUSTERS = 3  # of each class, whose means are compared
MOST_FITTED = 5_000  # rows from which directions are made; the cuts are then made on all rows
MOST_SCORES = 20_000_000  # of rows along directions, held at once
POOL = 80  # directions of earlier cuts that are tried again
TINY = 1e-9  # scores of rows closer than this are not distinguished (columns have variance 1)
NEAR = 300  # rows of the class that a linear program may take
ROUNDS, LAZY_ROUNDS, ADDED = 6, 12, 40  # rounds of new costs; of adding hard rows; how many are added at once
EPS = 0.05
HEAVY = 1000.0  # weight of a row that must not be taken, relative to one that may be
STARTS = 2  # directions of each class from which a cut is grown
LARGEST = 1e3  # weight
DENSE = 10_000  # entries of a linear program's slack: up to this many, sparse matrices are not worth it
READING = 7e-7  # seconds for each number of a dense linear program, before HiGHS first looks at its time limit


class Plane(NamedTuple):
    """A direction, and the score from which on rows are above."""

    v: Floats
    beyond: float


class PureCut(NamedTuple):
    """A hyperplane that has only rows of one class above it: how many, and of which class."""

    size: int
    code: int
    plane: Plane


@dataclass(slots=True)
class CutFinder:
    """Looks for cuts of rows z with the classes `codes`; remembers directions that were good before."""

    z: Floats
    codes: Ints
    clock: Clock
    random: np.random.Generator
    pool: list[Floats]
    grown_before: dict[tuple[int, bytes], int]

    @classmethod
    def of(cls, z: Floats, codes: Ints, clock: Clock, seed: int = 0) -> "CutFinder":
        """A finder that does not remember any directions yet."""
        return cls(z, codes, clock, np.random.default_rng(seed), [], {})

    def directions(self, rows: Ints) -> Floats:
        """Directions in which a class may lie beyond the others, each with its opposite."""
        if len(rows) > MOST_FITTED:
            rows = np.union1d(self.random.choice(rows, MOST_FITTED, replace=False), self._one_of_each(rows))
        z, codes = self.z[rows], self.codes[rows]
        found = np.concatenate([*self._plain(z), *self._between_classes(z, codes), *self.pool[-POOL:]])
        lengths = np.linalg.norm(found, axis=1)
        found = found[lengths > TINY] / lengths[lengths > TINY, None]
        return np.concatenate([found, -found])

    def _one_of_each(self, rows: Ints) -> Ints:
        """A row of each class."""
        return rows[np.unique(self.codes[rows], return_index=True)[1]]

    def _plain(self, z: Floats) -> Iterator[Floats]:
        """The columns, the principal axes, and directions drawn at random."""
        width = z.shape[1]
        spread = z.std(axis=0)
        yield np.eye(width)[np.argsort(-spread, kind="stable")[:MOST_AXES]]
        if width <= MOST_AXES:
            yield np.linalg.eigh(z.T @ z)[1].T
        yield self.random.standard_normal((RANDOM, width))

    def _between_classes(self, z: Floats, codes: Ints) -> Iterator[Floats]:
        """From the other classes to each: means, means of clusters, single rows, and Fisher's discriminant."""
        means = {code: self._cluster_means(z[codes == code]) for code in np.unique(codes).tolist()}
        covariance = (
            np.cov(z.T).reshape(z.shape[1], -1) + 0.001 * np.eye(z.shape[1]) if z.shape[1] <= MOST_AXES else None
        )
        for code, own in means.items():
            self.clock.check()
            inside, outside = z[codes == code], z[codes != code]
            shift = inside.mean(axis=0) - outside.mean(axis=0)
            yield shift[None]
            if covariance is not None:
                yield np.linalg.solve(covariance, shift)[None]
            yield _hard_margin(z, codes == code)
            others = np.concatenate([mean for other, mean in means.items() if other != code])
            yield (own[:, None] - others).reshape(-1, z.shape[1])
            yield self._drawn(inside) - outside.mean(axis=0)
            yield self._drawn(inside) - self._drawn(outside)

    def _drawn(self, z: Floats) -> Floats:
        return z[self.random.integers(len(z), size=RANDOM // 2)]

    def _cluster_means(self, z: Floats) -> Floats:
        """The means of a few clusters of rows (a few rounds of Lloyd's)."""
        means = z[self.random.choice(len(z), size=min(CLUSTERS, len(z)), replace=False)]
        for _ in range(5):
            nearest = ((z**2).sum(axis=1)[:, None] - 2 * z @ means.T + (means**2).sum(axis=1)).argmin(axis=1)
            means = np.stack(
                [z[nearest == k].mean(axis=0) if (nearest == k).any() else means[k] for k in range(len(means))]
            )
        return means

    def runs(self, rows: Ints, directions: Floats, each: int = STARTS) -> list[PureCut]:
        """The longest pure runs of each class along these directions."""
        z, codes, found = self.z[rows], self.codes[rows], dict[int, list[PureCut]]()
        for some in np.array_split(directions, -(-len(rows) * len(directions) // MOST_SCORES)):
            self.clock.check()
            for code, counts, beyond in run_lengths(*by_class(z @ some.T, codes)):
                best = np.argsort(-counts, kind="stable")[:each].tolist()
                cuts = [PureCut(int(counts[k]), code, Plane(some[k], float(beyond[k]))) for k in best if counts[k]]
                found[code] = ordered([*found.get(code, []), *cuts])[:each]
        return ordered([cut for cuts in found.values() for cut in cuts])

    def grown(self, rows: Ints, cut: PureCut) -> PureCut:
        """A cut of the same class that takes at least as many rows."""
        if self.z.shape[1] == 1:  # there are only two directions, and both were tried
            return cut
        if self.grown_before.get((cut.code, cut.plane.v.tobytes())) == cut.size:
            return cut
        own = self.codes[rows] == cut.code
        found = Growth(self.z[rows[own]], self.z[rows[~own]], self.clock).grown(cut)
        unit = found.plane.v / np.linalg.norm(found.plane.v)
        self.pool.append(unit[None])
        self.grown_before[cut.code, unit.tobytes()] = found.size
        return found


def _hard_margin(z: Floats, own: Array) -> Floats:
    """The direction of a support vector machine for which rows of other classes weigh heavily, as far as it gets."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.svm import LinearSVC

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        fitted = LinearSVC(C=1.0, class_weight={False: HEAVY}, dual=False, max_iter=100).fit(z, own)
    return np.asarray(fitted.coef_, np.float64)


def run_lengths(parts: dict[int, Floats], tops: dict[int, Floats]) -> Iterator[tuple[int, Ints, Floats]]:
    """For each class, how many of its rows lie beyond all others along each direction, and where the others end.

    `parts` are the scores of the rows of each class, `tops` the highest of them.
    """
    for code, scores in parts.items():
        beyond = np.max([top for other, top in tops.items() if other != code], axis=0)
        yield code, np.count_nonzero(scores > beyond + TINY, axis=0), beyond


def by_class(scores: Floats, codes: Ints) -> tuple[dict[int, Floats], dict[int, Floats]]:
    """The scores of the rows of each class, and the highest of them along each direction."""
    parts = {code: scores[codes == code] for code in np.unique(codes).tolist()}
    return parts, {code: own.max(axis=0) for code, own in parts.items()}


@dataclass(slots=True)
class Growth:
    """One cut of the rows `inside` of its class; no row `outside` may be above it. `hard` are those that nearly are."""

    inside: Floats
    outside: Floats
    clock: Clock
    hard: Ints = field(default_factory=lambda: np.zeros(0, np.int64))

    def grown(self, cut: PureCut) -> PureCut:
        """The best cut found while the costs are updated."""
        best, plane = cut, cut.plane
        for turn in range(ROUNDS):
            slack = self.slack(plane, is_first=turn == 0)
            if slack is None or best.size == len(self.inside):
                break
            found = self.moved(plane, slack)
            if found is None:
                break
            plane = found
            size = int((self.inside @ plane.v > plane.beyond + TINY).sum())
            if size > best.size:
                best = PureCut(size, cut.code, plane)
            elif turn > 1:
                break
        return best

    def slack(self, plane: Plane, *, is_first: bool) -> Floats | None:
        """How far each row inside is from being above by 1, in units of the median height of the rows taken."""
        scores = self.inside @ plane.v - plane.beyond
        taken = scores[scores > TINY]
        if not len(taken):
            return None
        unit = float(np.median(taken)) if is_first else 1.0
        return np.maximum(0.0, 1.0 - scores / unit)

    def moved(self, plane: Plane, slack: Floats) -> Plane | None:
        """The hyperplane with the least cost of these slacks; rows outside become hard when they are in the way."""
        near = np.argsort(slack, kind="stable")[:NEAR]
        costs = 1.0 / (slack[near] + EPS)
        if not len(self.hard):
            first = 2 * self.inside.shape[1] + ADDED
            self.hard = np.argsort(-(self.outside @ plane.v), kind="stable")[:first]
        for _ in range(LAZY_ROUNDS):
            self.clock.check()
            found = least_lack(self.inside[near], self.outside[self.hard], costs, self.clock)
            if found is None:
                return None
            v, beyond = found[:-1], -float(found[-1])
            above = self.outside @ v - beyond
            above[self.hard] = 0.0
            wrong = np.flatnonzero(above > 1e-7)
            if not len(wrong):
                break
            added = wrong[np.argsort(-above[wrong], kind="stable")[:ADDED]]
            self.hard = np.concatenate([self.hard, added])
        return Plane(v, float((self.outside @ v).max()))


def least_lack(inside: Floats, outside: Floats, costs: Floats, clock: Clock) -> Floats | None:
    """min costs·s with s >= 0, w·p + b >= 1 - s for p inside, w·q + b <= 0 for q outside: the weights (w, b)."""
    (n, width), m = inside.shape, len(outside)
    if not _is_time_to_read((n + m) * (width + 1), clock):
        return None
    left = np.block([[-inside, -np.ones((n, 1))], [outside, np.ones((m, 1))]])
    if n * (n + m) <= DENSE:
        rows: Any = np.hstack([left, -np.eye(n + m, n)])
    else:
        rows = sp.hstack([sp.csc_array(left), -sp.eye_array(n + m, n, format="csc")], format="csc")
    right = np.concatenate([-np.ones(n), np.zeros(m)])
    bounds = np.array([[-LARGEST, LARGEST]] * (width + 1) + [[0.0, np.inf]] * n)
    return _solved(np.concatenate([np.zeros(width + 1), costs]), rows, right, bounds, width + 1, clock)


def widest(above: Floats, below: Floats, plane: Plane, clock: Clock) -> Plane:
    """Of the planes between two sets of rows one with a wide margin: max t, w·a + b >= t, w·q + b <= -t, Σ|w_j| <= 1.

    Most weights of such a plane are 0. Rows are added to the program when they are in the way.
    """
    some = 2 * above.shape[1] + 10
    up, down = np.argsort(above @ plane.v)[:some], np.argsort(-(below @ plane.v))[:some]
    for _ in range(LAZY_ROUNDS):
        clock.check()
        found = _widest_of(above[up], below[down], clock)
        if found is None:
            return plane
        v, b, t = found
        high, low = above @ v + b, below @ v + b
        more_up, more_down = np.flatnonzero(high < t - 1e-7), np.flatnonzero(low > 1e-7 - t)
        if not len(more_up) and not len(more_down):
            break
        up = np.union1d(up, more_up[np.argsort(high[more_up], kind="stable")[:ADDED]])
        down = np.union1d(down, more_down[np.argsort(-low[more_down], kind="stable")[:ADDED]])
    first, last = float((above @ v).min()), float((below @ v).max())
    return Plane(v, (first + last) / 2) if first - last > TINY else plane


def _widest_of(above: Floats, below: Floats, clock: Clock) -> tuple[Floats, float, float] | None:
    """The weights w = p - q, p and q not negative, the bias and the margin."""
    width, n = above.shape[1], len(above) + len(below)
    if not _is_time_to_read((n + 1) * (2 * width + 2), clock):
        return None
    rows, sides = np.vstack([-above, below]), np.repeat([-1.0, 1.0], [len(above), len(below)])
    left = np.block([[rows, -rows, sides[:, None], np.ones((n, 1))], [np.ones((1, 2 * width)), np.zeros((1, 2))]])
    cost, right = -np.eye(1, 2 * width + 2, 2 * width + 1)[0], np.eye(1, n + 1, n)[0]
    bounds = np.array([[0.0, np.inf]] * 2 * width + [[-np.inf, np.inf], [0.0, np.inf]])
    found = _solved(cost, left, right, bounds, 2 * width + 2, clock)
    if found is None or not found[-1] > TINY:
        return None
    return found[:width] - found[width : 2 * width], float(found[-2]), float(found[-1])


def _is_time_to_read(numbers: int, clock: Clock) -> bool:
    """Whether HiGHS can read a linear program with this many numbers before the time is over."""
    return clock.left is None or READING * numbers < clock.left


def _solved(cost: Floats, rows: Any, right: Floats, bounds: Any, wanted: int, clock: Clock) -> Floats | None:
    """The first `wanted` variables of the solution of a linear program; None if HiGHS finds none in time."""
    options: Any = {} if clock.left is None else {"time_limit": clock.left}
    found = linprog(cost, rows, right, bounds=bounds, method="highs", options=options)
    return None if found.x is None or not np.isfinite(found.x).all() else np.asarray(found.x[:wanted])


def rollout(scores: Floats, codes: Ints, most: int) -> int:
    """How many cuts it takes to remove the longest run again and again, along fixed directions; at most `most`."""
    made, (parts, tops) = 0, by_class(scores, codes)
    while made < most and len(parts) > 1:
        code, counts, beyond = max(run_lengths(parts, tops), key=lambda run: run[1].max())
        k = int(np.argmax(counts))
        if not counts[k]:
            return most
        made += 1
        parts[code] = parts[code][parts[code][:, k] <= beyond[k] + TINY]
        if len(parts[code]):
            tops[code] = parts[code].max(axis=0)
        else:
            del parts[code], tops[code]
    return made


def standardised(values: Floats) -> tuple[Floats, Floats, Floats]:
    """Columns of mean 0 and variance 1, the means, and what the columns were divided by."""
    means, spread = values.mean(axis=0), values.std(axis=0)
    spread[~(spread > 0)] = 1.0
    return (values - means) / spread, means, spread


def ordered(cuts: Sequence[PureCut]) -> list[PureCut]:
    """Cuts of more rows first."""
    return sorted(cuts, key=lambda cut: -cut.size)
