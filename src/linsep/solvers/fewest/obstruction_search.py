"""Obstructions that the shares of the rows violate: x(S) < 1. The more violated and the more different, the better.

Walks over obstructions find them (`linsep.loops.circuits`): half of the walks begin where the last one ended, half at
an obstruction that is just satisfied. If there are too many rows for walks, obstructions are found one after the other
in a hand (a random lot of rows), so that no two share a row. Small tables are searched like this first, without
compiled code.
"""

from collections.abc import Sequence

import numpy as np

from linsep import loops
from linsep.solvers.clock import Clock
from linsep.solvers.fewest.vertex_walk import independent
from linsep.solvers.fewest.warm_lp import CombinationProgram
from linsep.sources.base import Floats, Ints

NOISE = (0.02, 0.1, 0.3, 1.0)  # added to the prices of a walk, so that no two are alike
ENOUGH, TAKEN = 1200, 60  # violated obstructions after which the walks end, and how many of them are used
OFTEN = 3  # how many obstructions used at once may share a row
KEPT = 2000  # obstructions that one walk may return
WORK = 3e8  # operations of a walk
LARGE = 3e6  # n·D²: from this on, hands replace walks
HAND, HANDS = 100, 4  # times D + 1 rows, and how many
SMALL, FIRST = 2000, 30  # entries of a small table, and how often hands are tried there before walks

Rows = tuple[int, ...]


class ObstructionSearch:
    """Looks for violated obstructions in unit rows z."""

    def __init__(self, z: Floats, clock: Clock) -> None:
        self.z, self.clock = np.ascontiguousarray(z), clock
        self.random = np.random.default_rng(0)
        self.basis: Ints | None = None
        self.tilt = np.ones(len(z))
        self.is_large = z.shape[0] * z.shape[1] ** 2 > LARGE
        self.first = FIRST if z.size <= SMALL else 0
        size = z.shape[1] + 1
        self.every = max(1, z.shape[1] // 8)
        self.steps = int(np.clip(WORK / (z.size * (1 + z.shape[1] / self.every)), 10, 30 * size))
        self.found, self.sizes = np.zeros((KEPT, size), np.int64), np.zeros(KEPT, np.int64)

    def violated(self, shares: Floats, mean: Floats, tight: Sequence[Rows], walks: int) -> list[Rows]:
        """Obstructions S with x(S) < 1 that are also cheap in the mean of earlier shares."""
        found: set[Rows] = set()
        if self.is_large or self.first:
            found = set(self._dealt(shares))
            self.first = max(0, self.first - 1) if found else 0
        if not found and not self.is_large:
            found = self._walked(shares, mean, tight, walks)
        both = (0.5 * (shares + mean)).tolist()
        order = sorted(found, key=lambda rows: (sum(map(both.__getitem__, rows)), rows))
        return order if self.is_large else self._different(order)

    def _different(self, order: Sequence[Rows]) -> list[Rows]:
        """The first ones, of which only a few share any row; or some of the first, whatever they share."""
        times, taken = [0] * len(self.z), list[Rows]()
        for rows in order:
            if max(map(times.__getitem__, rows)) < OFTEN:
                taken.append(rows)
                for row in rows:
                    times[row] += 1
            if len(taken) == TAKEN:
                return taken
        rest = [rows for rows in order[:TAKEN] if rows not in set(taken)]
        return taken + rest[: max(0, TAKEN // 2 - len(taken))]

    # Walks ----------------------------------------------------------------------------------------------

    def _walked(self, shares: Floats, mean: Floats, tight: Sequence[Rows], walks: int) -> set[Rows]:
        """The obstructions found by walks with prices near the shares or near their mean."""
        n, size = self.z.shape[0], self.z.shape[1] + 1
        whole = [rows for rows in tight if len(rows) == size]
        found: set[Rows] = set()
        for _ in range(walks):
            self.clock.check()
            noise = self.random.choice(NOISE) * self.random.choice([1.0, 5 * (shares.mean() + 1e-3)])
            centre = shares if self.random.random() < 0.5 else 0.3 * shares + 0.7 * mean
            found |= self._walk(centre + noise * self.random.random(n), shares, self._start(whole))
            if len(found) >= ENOUGH:
                break
        return found or self._walk(shares + 1e-7 * self.random.random(n), shares, self._start([]))

    def _start(self, tight: Sequence[Rows]) -> Ints | None:
        """A basis to begin with."""
        if tight and self.random.random() < 0.5:
            basis = np.array(tight[int(self.random.integers(len(tight)))])
            if self._is_sound(basis):
                return basis
        if self.basis is None:
            self.basis = self._first_basis()
        return None if self.basis is None else self.basis.copy()

    def _walk(self, prices: Floats, shares: Floats, basis: Ints | None) -> set[Rows]:
        """The violated obstructions found by a walk."""
        if basis is None:
            return set()
        count = loops.circuits.walk(self.z, prices, shares, basis, self.steps, self.every, self.found, self.sizes)
        if self._is_sound(basis):
            self.basis = basis
        sizes = self.sizes[:count].tolist()
        rows = zip(self.found[:count].tolist(), sizes, strict=True)
        return {tuple(sorted(set(one[:size]))) for one, size in rows}  # a nearly singular basis may name a row twice

    def _is_sound(self, basis: Ints) -> bool:
        """Whether a walk can start from a basis: neither singular nor, in floats, infeasible."""
        inverse = loops.circuits.inverse_of(self.z, basis)
        return bool(np.abs(inverse).max() < 1e9 and inverse[:, -1].min() > -1e-9)

    def _first_basis(self) -> Ints | None:
        """D + 1 rows that hold an obstruction and span everything; None if floats find none."""
        n, width = self.z.shape
        found = next(iter(CombinationProgram(self.z, np.asarray(self.random.random(n)), self.clock)), None)
        if found is None:
            return None
        basis = independent(np.column_stack([self.z, np.ones(n)]), np.append(found, np.arange(n)), width + 1, 1e-7)
        return basis if len(basis) == width + 1 else None

    # Hands ----------------------------------------------------------------------------------------------

    def _dealt(self, shares: Floats) -> list[Rows]:
        """The cheapest obstructions of a few hands of rows, as long as they are violated."""
        n, length = len(self.z), HAND * (self.z.shape[1] + 1)
        found: list[Rows] = []
        for _ in range(min(HANDS, -(-n // length))):
            hand = self.random.permutation(n)[:length]
            noise = 0.1 * self.tilt[hand] * (0.5 + self.random.random(len(hand)))
            for places in CombinationProgram(self.z[hand], shares[hand] + noise, self.clock):
                rows = tuple(sorted(hand[places].tolist()))
                if shares[list(rows)].sum() > 1.0 - 1e-3:
                    break
                found.append(rows)
        return found
