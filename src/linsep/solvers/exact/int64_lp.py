"""The exact LP for a few rows of small integers: separable, touching or overlapping.

The algorithm is that of `exact_lp.py`, which also explains it. Here the basis is a few lists of Python's integers, and
NumPy scores all rows in 64 bits: nothing has to be compiled for the first answer. If a number that matters could
exceed 2^62 there is no answer, never a wrong one, and the caller passes the rows to the LP for long numbers. The
costs that choose the pivots are doubles: they only choose a path and prove nothing.

    basis[k]    the row at place k, or -1 for the unit vector that was there at the start
    dual[k]     a vector with basis_i · dual_k = det if i = k, else 0 (the rows of `dual` are columns of the adjugate)
    is_free[k]  the row at place k is part of an obstruction: its score is held at 0 and it never leaves
"""

from __future__ import annotations

import math
from operator import mul, neg
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from linsep.exact import coprime
from linsep.proofs import Obstruction
from linsep.solvers.exact.exact_outcomes import Settled

LIMIT = 2.0**62
MOST_PIVOTS = 50  # for each row and column: far more than are ever needed
UNIT = -1
FAR = np.iinfo(np.int64).max

Integers: TypeAlias = NDArray[np.int64]
Multipliers: TypeAlias = dict[int, int]  # of rows, all positive


class TooLargeError(ArithmeticError):
    """A number could exceed 2^62."""


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
        width = rows.shape[1]
        self.rows = rows
        self.basis = [UNIT] * width
        self.dual = [[int(j == k) for j in range(width)] for k in range(width)]
        self.det = 1
        self.is_free = [False] * width
        self.in_force: list[int] = []  # the places of the rows that are held at a positive score
        self.aside: list[int] = []  # rows that are ignored from now on
        self.costs = [0.0] * width
        self.first: Multipliers | None = None
        self.spread: Multipliers = {}
        self.reach = width * max(int(rows.max(initial=1)), -int(rows.min(initial=0)))  # Σ|z_j| of no row is larger
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

    def weights(self) -> list[int]:
        """The w with z·w = det on the rows in force and 0 on the free rows."""
        if not self.in_force:
            return [0] * len(self.basis)
        return list(map(sum, zip(*[self.dual[k] for k in self.in_force], strict=True)))

    def entering(self, weights: list[int]) -> int | None:
        """The most violated row, else a row of score 0 outside the free span; those inside are ignored from now on."""
        if not len(self.rows):
            return None
        self.require_small(weights)
        scores = self.rows.dot(np.array(weights, np.int64))
        if self.aside:
            scores[self.aside] = FAR
        worst = int(scores.argmin())
        least = scores.item(worst)
        if least != 0:
            return worst if least < 0 else None
        if self.first is None:  # the free span is {0}: a zero row is an obstruction, any other moves the basis
            return worst
        zeros = (scores == 0).nonzero()[0]
        others = [dual for dual, is_free in zip(self.dual, self.is_free, strict=True) if not is_free]
        self.require_small([number for dual in others for number in dual])
        outside = (self.rows[zeros] @ np.array(others, np.int64).reshape(-1, len(weights)).T).any(axis=1)
        first = int(outside.argmax()) if outside.any() else len(zeros)
        self.aside += zeros[:first].tolist()
        return int(zeros[first]) if first < len(zeros) else None

    def enter(self, row: int) -> None:
        """Bring a row into the basis, or find that no row can leave for it: an obstruction."""
        line = self.rows[row].tolist()
        coordinates = [sum(map(mul, dual, line)) for dual in self.dual]  # det·row = Σ coordinates_k basis_k
        require_below(max(max(coordinates), -min(coordinates)))
        vacant = []
        if UNIT in self.basis:
            vacant = [(abs(number), k) for k, number in enumerate(coordinates) if number and self.basis[k] == UNIT]
        if vacant:
            _, place = min(vacant)
            self.costs[place] = self.drawn_cost()
        else:
            leaving = [(self.costs[k] / coordinates[k], k) for k in self.in_force if coordinates[k] > 0]
            if not leaving:
                self.obstruct(row, coordinates)
                return
            step, place = min(leaving)
            self.charge(step, place, coordinates)
        self.replace(place, row, coordinates)

    def drawn_cost(self) -> float:
        """The next of a fixed sequence of random costs, so that ties do not happen."""
        self.seed = (self.seed * 6364136223846793005 + 1442695040888963407) % 2**64
        return 0.5 + (self.seed >> 11) * 2.0**-53

    def charge(self, step: float, place: int, coordinates: list[int]) -> None:
        """Write the costs in the new basis."""
        for k in self.in_force:
            self.costs[k] = max(self.costs[k] - step * coordinates[k], 0.0)
        self.costs[place] = step * self.det

    def replace(self, place: int, row: int, coordinates: list[int]) -> None:
        """Put a row at this place: Jordan's fraction-free step, whose division leaves no remainder."""
        pivot, own, det = coordinates[place], self.dual[place], self.det
        sign = 1 if pivot > 0 else -1  # the determinant stays positive
        pivot *= sign
        self.dual = [
            [(pivot * a - number * b) // det for a, b in zip(dual, own)]  # noqa: B905 - strict is slower by a third
            for dual, number in zip(self.dual, coordinates if sign > 0 else map(neg, coordinates), strict=True)
        ]
        self.dual[place] = own if sign > 0 else list(map(neg, own))
        if self.basis[place] == UNIT:
            self.in_force.append(place)
        self.det, self.basis[place] = pivot, row

    def obstruct(self, row: int, coordinates: list[int]) -> None:
        """Record the obstruction det·row - Σ coordinates_k basis_k = 0, and free its rows.

        Free rows may have coordinates of the wrong sign; enough copies of the spread so far make them positive.
        """
        self.aside.append(row)
        if not any(coordinates):  # a zero row: it is an obstruction by itself, and frees nothing
            self.first = {row: 1} if self.first is None else self.first
            return
        used = [k for k, number in enumerate(coordinates) if number and self.basis[k] != UNIT]
        wrong = [(self.basis[k], coordinates[k]) for k in used if coordinates[k] > 0]
        copies = 1 + max((number // self.spread[name] for name, number in wrong), default=0)
        spread = {name: copies * multiplier for name, multiplier in self.spread.items()}
        spread[row] = self.det
        for k in used:
            spread[self.basis[k]] = spread.get(self.basis[k], 0) - coordinates[k]
            self.is_free[k] = True
        self.in_force = [k for k in self.in_force if not self.is_free[k]]
        common = math.gcd(*spread.values())
        self.spread = {name: multiplier // common for name, multiplier in spread.items()}
        self.first = self.spread if self.first is None else self.first

    def outcome(self, weights: list[int]) -> Settled:
        """The answer; w = 0 only if every row of the basis is free, since the basis is nonsingular."""
        if self.first is None:
            return Settled("separable", coprime(weights))
        first = obstruction(self.first)
        spread = obstruction(self.spread) if self.spread and self.spread is not self.first else first
        if any(weights):
            return Settled("touching", coprime(weights), 0, first, spread)
        return Settled("overlapping", obstruction=first, spread=spread)

    def require_small(self, numbers: list[int]) -> None:
        """Raise if the score of a row, a product with a vector of these numbers, could exceed 2^62."""
        require_below(self.reach * max(max(numbers, default=0), -min(numbers, default=0)))


def require_below(bound: float) -> None:
    """Raise if numbers may be beyond 2^62."""
    if not bound < LIMIT:
        raise TooLargeError


def obstruction(multipliers: Multipliers) -> Obstruction:
    """The obstruction with these rows and multipliers."""
    return Obstruction(tuple(multipliers), tuple(multipliers.values()))
