"""Obstructions that share no row: as many as are easily found, and then more.

The rows are dealt, like cards, into hands: random lots of a few rows. Obstructions are taken from one hand after the
other until it holds none; the remaining rows are dealt again, in larger hands. (An obstruction is found faster in a
small hand, and some occur only in large ones.) After that, again and again, two obstructions are given up, and their
rows are searched together with free rows: obstructions found there that are worth as much or more replace the two.

A packing ends when the mistaken rows of a good hyperplane run out, since every obstruction holds one of them. So an
obstruction should hold few of them, and those that are hard to use: rows near the hyperplane fit into many obstructions
and get a high price; rows far from it fit into few and get a low one.
"""

from collections.abc import Iterator

import numpy as np

from linsep.solvers.clock import Clock
from linsep.solvers.fewest.warm_lp import CombinationProgram
from linsep.sources.base import Array, Floats, Ints

HANDS = (10, 30, 100)  # times D + 1 rows are in a hand, the first time and later
GIVEN_UP, FREE = 2, 30  # obstructions given up for others, and times D + 1 free rows that are searched with theirs
PATIENCE = 100  # attempts without success
RIGHT, NEAREST = 0.05, 0.1  # price of a right row as far as a mistaken one; a distance below which all cost alike

Rows = tuple[int, ...]


class DisjointObstructions:
    """Obstructions in unit rows z that share no row, each worth the least cost of its rows.

    The weights `near` are those of a hyperplane that makes few mistakes.
    """

    def __init__(self, z: Floats, costs: Floats, near: Floats, clock: Clock) -> None:
        self.z, self.costs, self.clock = z, costs, clock
        self.random = np.random.default_rng(0)
        scores = z @ near
        self.is_right, self.distances = scores > 0, np.abs(scores)
        mean = float(self.distances[~self.is_right].mean()) if not self.is_right.all() else 0.0
        prices = np.where(self.is_right, RIGHT, 1.0) / (self.distances / (mean or 1.0) + NEAREST) ** 2
        self.prices = prices / prices.mean()
        self.size = z.shape[1] + 1
        self.found: list[Rows] = []

    def deal(self) -> Iterator[Rows]:
        """The first obstructions, one after the other, from similar hands: small ones, then larger ones."""
        for length in HANDS:
            rows = np.flatnonzero(self._is_free())
            hands, order = max(1, round(len(rows) / (length * self.size))), rows[np.argsort(self.distances[rows])]
            for k in range(hands):
                for found in self._in(order[k::hands]):
                    self.found.append(found)
                    yield found
            if hands == 1:
                return

    def improve(self) -> bool:
        """Give some up for others; return whether there are more now, or more valuable ones."""
        if not self.found:
            return False
        count = min(len(self.found), GIVEN_UP)
        given = set(self.random.choice(len(self.found), count, replace=False).tolist())
        kept = [rows for k, rows in enumerate(self.found) if k not in given]
        before = self.worth(self.found)
        new = kept + list(self._in(np.append(self._free(), [row for k in given for row in self.found[k]])))
        if self.worth(new) >= before:
            self.found = new
        return self.worth(new) > before

    def worth(self, found: list[Rows]) -> float:
        """The sum of the least costs."""
        return float(sum(self.costs[list(rows)].min() for rows in found))

    def _free(self) -> Ints:
        """Rows that are in no obstruction: at most half of them mistaken, and right ones, most of them near."""
        is_free, most = self._is_free(), FREE * self.size
        mistaken = self.random.permutation(np.flatnonzero(is_free & ~self.is_right))[: most // 2]
        right = np.flatnonzero(is_free & self.is_right)
        order = np.argsort(self.distances[right] * self.random.random(len(right)))
        return np.append(mistaken, right[order[: most - len(mistaken)]])

    def _is_free(self) -> Array:
        """Which rows are in no obstruction."""
        is_free = np.ones(len(self.z), bool)
        is_free[[row for rows in self.found for row in rows]] = False
        return is_free

    def _in(self, hand: Ints) -> Iterator[Rows]:
        """Obstructions in a hand that share no row, until there are no more."""
        prices = self.prices[hand] * (0.5 + self.random.random(len(hand)))
        for places in CombinationProgram(self.z[hand], prices, self.clock):
            yield tuple(sorted(hand[places].tolist()))
