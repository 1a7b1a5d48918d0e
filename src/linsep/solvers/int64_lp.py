"""The exact LP in 64-bit integers: separable, touching or overlapping, for a few rows of small integers.

The algorithm is that of `exact_lp.py`, which also explains it. Here every number is an int64, and NumPy does the
arithmetic: nothing has to be compiled for the first answer. Before each product the largest factors are multiplied in
floating point; where a result could pass 2^62 there is no answer, never a wrong one, and the caller hands the rows to
the engine of unbounded integers. The costs that steer the pivots are doubles: they choose a path and prove nothing.

    basis[k]    the row at place k, or -1 for the unit vector that stood there at the start
    dual[k]     a vector with basis_i · dual_k = det if i = k, else 0 (the rows of `dual` are columns of the adjugate)
    is_free[k]  the row at place k is part of an obstruction: its score is held at 0 and it never leaves
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from linsep.proofs import Obstruction
from linsep.solvers.exact_outcomes import Settled

LIMIT = 2.0**62
MOST_PIVOTS = 50  # for each row and column: far more than are ever needed
UNIT = -1
FAR = np.iinfo(np.int64).max

Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]


class TooLargeError(ArithmeticError):
    """A number could pass 2^62."""


def three_way(rows: Integers) -> Settled | None:
    """Decide signed integer rows z_i: is there a w with z_i·w > 0 for all i? None where 64 bits are not enough.

    >>> three_way(np.array([[1, 1], [1, -1], [-2, 0]])).obstruction
    <Obstruction: rows 0, 1, 2>
    """
    try:
        return Tableau(rows).run()
    except TooLargeError:
        return None


class Tableau:
    """The rows, the basis among them, and what was found so far."""

    def __init__(self, rows: Integers) -> None:
        n, width = rows.shape
        self.rows = rows
        self.basis = np.full(width, UNIT)
        self.dual = np.eye(width, dtype=np.int64)
        self.det = 1
        self.size = 1.0  # of the largest number in `dual`
        self.is_free = np.zeros(width, np.bool_)
        self.in_force = np.zeros(width, np.bool_)  # the places of rows that are held at a positive score
        self.is_aside = np.zeros(n, np.bool_)
        self.costs = np.zeros(width)
        self.first: Integers | None = None
        self.spread = np.zeros(n, np.int64)
        self.reach = float(np.abs(rows.astype(np.float64)).sum(axis=1).max(initial=1.0))
        self.seed = 0x9E3779B97F4A7C15

    def run(self) -> Settled | None:
        """Pivot until no row is violated."""
        for _ in range(MOST_PIVOTS * sum(self.rows.shape) + MOST_PIVOTS):
            weights = self.weights()
            row = self.entering(weights)
            if row is None:
                return self.outcome(weights)
            self.enter(row)
        return None

    def weights(self) -> Integers:
        """The w with z·w = det on the rows in force and 0 on the free rows."""
        require_small(self.size * len(self.basis) * self.reach)
        found: Integers = self.in_force @ self.dual
        return found

    def entering(self, weights: Integers) -> int | None:
        """The most violated row, else a row of score 0 outside the free span; those inside are set aside."""
        if not len(self.rows):
            return None
        scores = self.rows @ weights
        scores[self.is_aside] = FAR
        worst = int(scores.argmin())
        if scores[worst] != 0:
            return worst if scores[worst] < 0 else None
        zeros = np.flatnonzero(scores == 0)
        if self.first is None:  # the free span is {0}: a zero row is an obstruction, any other moves the basis
            return int(zeros[0])
        coordinates = self.rows[zeros] @ self.dual.T
        outside = coordinates[:, ~self.is_free].any(axis=1)
        first = int(np.argmax(outside))
        self.is_aside[zeros[:first] if outside.any() else zeros] = True
        return int(zeros[first]) if outside.any() else None

    def enter(self, row: int) -> None:
        """Bring a row into the basis, or find that no row makes place for it: an obstruction."""
        coordinates = self.dual @ self.rows[row]  # det·row = Σ coordinates_k basis_k
        numbers, held = coordinates.tolist(), self.in_force.tolist()
        vacant = [(abs(number), k) for k, number in enumerate(numbers) if number and self.basis[k] == UNIT]
        if vacant:
            _, place = min(vacant)
            self.costs[place] = self.drawn_cost()
        else:
            leaving = [(self.costs[k] / number, k) for k, number in enumerate(numbers) if number > 0 and held[k]]
            if not leaving:
                self.obstruct(row, coordinates)
                return
            _, place = min(leaving)
            self.charge(place, coordinates)
        self.replace(place, row, coordinates)

    def drawn_cost(self) -> float:
        """The next of a fixed sequence of random costs, so that ties do not happen."""
        self.seed = (self.seed * 6364136223846793005 + 1442695040888963407) % 2**64
        return 0.5 + (self.seed >> 11) * 2.0**-53

    def charge(self, place: int, coordinates: Integers) -> None:
        """Write the costs in the basis to come."""
        step = self.costs[place] / coordinates[place]
        self.costs = np.where(self.in_force, np.maximum(self.costs - step * coordinates, 0.0), self.costs)
        self.costs[place] = step * self.det

    def replace(self, place: int, row: int, coordinates: Integers) -> None:
        """Put a row at this place: Jordan's fraction-free step, whose division leaves no remainder."""
        require_small(2.0 * self.size * largest(coordinates))
        pivot, own = int(coordinates[place]), self.dual[place].copy()
        self.dual = (pivot * self.dual - coordinates[:, None] * own) // self.det
        self.dual[place] = own
        if pivot < 0:
            self.dual = -self.dual
        self.det, self.basis[place], self.in_force[place] = abs(pivot), row, True
        self.size = largest(self.dual)

    def obstruct(self, row: int, coordinates: Integers) -> None:
        """Take up det·row - Σ coordinates_k basis_k = 0, and free its rows.

        Free rows may have coordinates of the wrong sign; enough copies of the spread so far make them positive.
        """
        self.is_aside[row] = True
        if not coordinates.any():  # a zero row: it obstructs alone, and frees nothing
            self.first = self._alone(row) if self.first is None else self.first
            return
        held = np.flatnonzero(self.basis != UNIT)
        names, numbers = self.basis[held], coordinates[held]
        wrong = numbers > 0
        copies = int((numbers[wrong] // self.spread[names[wrong]]).max(initial=0)) + 1
        require_small(largest(self.spread) * copies + max(largest(coordinates), float(self.det)))
        self.spread *= copies
        self.spread[row] += self.det
        self.spread[names] -= numbers
        self.spread //= np.gcd.reduce(self.spread)
        self.first = self.spread.copy() if self.first is None else self.first
        self.is_free |= (self.basis != UNIT) & (coordinates != 0)
        self.in_force &= ~self.is_free

    def _alone(self, row: int) -> Integers:
        alone = np.zeros(len(self.rows), np.int64)
        alone[row] = 1
        return alone

    def outcome(self, weights: Integers) -> Settled:
        """What it comes to; w = 0 only when every row of the basis is free, for the basis is nonsingular."""
        if self.first is None:
            return Settled("separable", divided(weights))
        first = obstruction(self.first)
        spread = obstruction(self.spread) if self.spread.any() else first
        if weights.any():
            return Settled("touching", divided(weights), 0, first, spread)
        return Settled("overlapping", obstruction=first, spread=spread)


def require_small(bound: float) -> None:
    """Stop where a product could pass 2^62."""
    if not bound < LIMIT:
        raise TooLargeError


def largest(numbers: Integers) -> float:
    """The largest |number|, as a double."""
    return float(max(int(numbers.max(initial=0)), -int(numbers.min(initial=0))))  # |-2^63| is not an int64


def divided(numbers: Integers) -> tuple[int, ...]:
    """Coprime integers of the same proportions."""
    return tuple((numbers // max(int(np.gcd.reduce(numbers)), 1)).tolist())


def obstruction(multipliers: Integers) -> Obstruction:
    """The rows in use, and their multipliers."""
    rows = np.flatnonzero(multipliers)
    return Obstruction(tuple(rows.tolist()), tuple(multipliers[rows].tolist()))
