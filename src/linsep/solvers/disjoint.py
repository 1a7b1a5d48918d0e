"""Obstructions that share no row: as many as are easily found, and then a few more.

The rows are dealt out, and obstructions taken from one hand after the other until it holds none. After that some
obstructions are given up, and their rows taken together with others that are in none: if these hold as many or more,
they replace them.
"""

import numpy as np

from linsep.solvers.clock import Clock
from linsep.solvers.warm_lp import CombinationProgram
from linsep.sources.base import Floats, Ints

HAND = 100  # times D + 1 rows
GIVEN_UP = 0.1  # of the rows of a hand belong to obstructions that are given up
PATIENCE = 20  # hands in vain
EVEN = 0.02  # what rows cost that are right, in mean distances of those that are wrong

Rows = tuple[int, ...]


class DisjointObstructions:
    """Obstructions in unit rows z that share none, each worth the least cost of its rows."""

    def __init__(self, z: Floats, costs: Floats, near: Floats, clock: Clock) -> None:
        self.z, self.costs, self.clock = z, costs, clock
        self.random = np.random.default_rng(0)
        scores = z @ near
        self.order = np.argsort(np.abs(scores))
        depths = np.maximum(-scores, 0.0)
        self.prices = EVEN + depths / (depths.sum() / max(1, np.count_nonzero(depths)) or 1.0)
        self.length = HAND * (z.shape[1] + 1)
        self.found: list[Rows] = []

    def deal(self) -> list[Rows]:
        """The first obstructions, from hands that are alike."""
        hands = max(1, round(len(self.z) / self.length))
        for k in range(hands):
            self.found = self.found + self._in(self.order[k::hands])
        return self.found

    def improve(self) -> bool:
        """Give some up for others; whether there are more now, or dearer ones."""
        if not self.found:
            return False
        size = self.z.shape[1] + 1
        count = min(len(self.found), max(1, int(GIVEN_UP * self.length / size)))
        given = set(self.random.choice(len(self.found), count, replace=False).tolist())
        kept = [rows for k, rows in enumerate(self.found) if k not in given]
        is_free = np.ones(len(self.z), bool)
        is_free[[row for rows in self.found for row in rows]] = False
        hand = self.random.permutation(np.flatnonzero(is_free))[: self.length - count * size]
        before = self.worth(self.found)
        new = kept + self._in(np.append(hand, [row for k in given for row in self.found[k]]))
        if self.worth(new) >= before:
            self.found = new
        return self.worth(new) > before

    def worth(self, found: list[Rows]) -> float:
        """The sum of the least costs."""
        return float(sum(self.costs[list(rows)].min() for rows in found))

    def _in(self, hand: Ints) -> list[Rows]:
        """Obstructions in a hand that share no row, until there is none."""
        prices = self.prices[hand] * (0.5 + self.random.random(len(hand)))
        program, found = CombinationProgram(self.z[hand], prices, self.clock), []
        while len(places := program.next()):
            self.clock.check()
            found.append(tuple(sorted(hand[places].tolist())))
        return found
