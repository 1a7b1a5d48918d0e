"""A basis in which rows that are hard to separate lie evenly around the origin: an exact change of basis.

Margins are tiny for two reasons. Columns differ in size or are nearly dependent: then the rows fill a flat ellipsoid,
and w lies in a direction in which it is thin. Or a few rows nearly cancel: then every w with z·w >= 0 is nearly
orthogonal to them. Another basis of the columns, w = T·v, in which the rows are z·T, helps in both cases:

    T = round(2^e · R⁻¹)       with R from the rows (whitening) or from those that nearly cancel (`stretched`)
    B = Z·T                    computed exactly, then rounded once

T is whole, so nothing is lost: w = T·v for whole v is exact, however floats found T and v. If one round is not enough
for doubles, because the condition is too bad, the next begins from B, which is as precise as Z was.

The equations of the rows that must be 0 (`k` of them, independent) are solved for the last k coordinates of v; the
others are free. Everything said here about rows and conditions concerns the free coordinates.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from flint import fmpz_mat

from linsep.exact import BITS, Digits, solve
from linsep.sources.base import Floats, Ints

GUARD, MOST_SHIFT = 8, 110  # bits: of the shortest row in the new basis, and after the point at most
FLATTEST = 2.0**-45  # relative to the largest singular value: thinner directions are left to the next round
AT_ONCE = 1 << 22  # products of digits held at a time
MOST_BITS = 2400  # of an entry of T: beyond that the exact LP is faster


@dataclass(frozen=True, eq=False)
class RoundBasis:
    """Whole columns T; the rows that must be 0 (as digits) determine the last coordinates."""

    matrix: fmpz_mat
    zero_rows: Digits

    @classmethod
    def start(cls, width: int, columns: list[int]) -> RoundBasis:
        """The unit vectors of some independent columns."""
        unit = [[int(i == j) for j in columns] for i in range(width)]
        return cls(fmpz_mat(unit), Digits(np.zeros((1, 0, width))))

    @property
    def n_zero(self) -> int:
        """How many rows must be 0."""
        return int(self.zero_rows.places.shape[1])

    @property
    def n_free(self) -> int:
        """How many coordinates are free."""
        return int(self.matrix.ncols()) - self.n_zero

    @cached_property
    def digits(self) -> Digits:
        """The digits of T."""
        return Digits.of_integers([[int(n) for n in row] for row in self.matrix.tolist()])

    @property
    def is_too_long(self) -> bool:
        """Whether the integers have become too long to be worth continuing."""
        return len(self.digits.places) * BITS > MOST_BITS

    @cached_property
    def solved(self) -> Floats:
        """The last coordinates of v as a function of the free ones: v_last = -solved·v_free."""
        if not self.n_zero:
            return np.zeros((0, self.n_free))
        zero = product(self.zero_rows, self.digits)
        return np.asarray(np.linalg.solve(zero[:, self.n_free :], zero[:, : self.n_free]), np.float64)

    def rows(self, digits: Digits) -> tuple[Floats, Floats]:
        """The rows in the free coordinates, each of length 1, and their lengths relative to what cancelled in them."""
        all_coordinates = product(digits, self.digits)
        free, last = all_coordinates[:, : self.n_free], all_coordinates[:, self.n_free :]
        rows = free - last @ self.solved
        lengths = np.linalg.norm(rows, axis=1)
        before = np.linalg.norm(all_coordinates, axis=1)
        return rows / np.where(lengths > 0, lengths, 1.0)[:, None], lengths / np.where(before > 0, before, 1.0)

    def whitened(self, rows: Floats) -> tuple[RoundBasis, float]:
        """The basis in which these rows (of length 1) are round, and their condition before."""
        _, sizes, directions = np.linalg.svd(np.linalg.qr(rows, mode="r"))
        flattest = sizes[-1] / sizes[0]
        sizes = np.maximum(sizes, sizes[0] * FLATTEST)
        return self.times((directions / sizes[:, None]).T, rows), 1 / max(flattest, 1e-300)

    def stretched(self, rows: Floats, strengths: Floats) -> RoundBasis:
        """The basis in which these rows are shorter, each by its strength, which gives w more room there."""
        from scipy.linalg import solve_triangular  # slow to import

        strong = np.flatnonzero(strengths)
        stack = np.vstack([np.eye(self.n_free), strengths[strong, None] * rows[strong]])
        triangle = np.linalg.qr(stack, mode="r")
        return self.times(solve_triangular(triangle, np.eye(self.n_free)), rows)

    def with_zero(self, rows: Floats, digits: Digits) -> RoundBasis:
        """The basis with more rows that must be 0: `rows` are independent, here and as digits."""
        turned, _ = np.linalg.qr(rows.T, mode="complete")
        turn = np.roll(turned, -len(rows), axis=1)  # their own directions last
        basis = self.times(turn, np.eye(self.n_free))
        # T·turn has the free columns first, then those of the new rows, then those of the old rows.
        return RoundBasis(basis.matrix, joined(digits, self.zero_rows))

    def times(self, change: Floats, rows: Floats) -> RoundBasis:
        """The basis T·round(2^e·change) of the free coordinates, with the others solved for.

        e is so large that the rounding hardly moves any of these rows, however short it is in the new basis.
        """
        whole = np.vstack([change, -self.solved @ change])
        shortest = np.linalg.norm(rows @ change, axis=1).min(initial=1.0)
        shift = min(GUARD - math.frexp(shortest)[1], MOST_SHIFT)
        free = self.matrix * fmpz_mat(_rounded(whole, shift))
        entries = [[*new, *old[self.n_free :]] for new, old in zip(free.tolist(), self.matrix.tolist(), strict=True)]
        return RoundBasis(fmpz_mat(entries), self.zero_rows)

    def weights(self, v: Floats, zero_integers: list[list[int]]) -> list[int]:
        """w = T·v with v rounded to 60 bits, and exactly 0 on the rows that must be 0 (given as integers too)."""
        largest = math.frexp(float(np.abs(v).max(initial=0.0)))[1]
        everything = np.concatenate([v, -self.solved @ v])
        column = fmpz_mat([[n] for (n,) in _rounded(everything[:, None], 60 - largest)])
        if zero_integers:
            zero = fmpz_mat(zero_integers) * self.matrix
            last = fmpz_mat([row[self.n_free :] for row in zero.tolist()])
            change, denominator = solve(last, zero * column)
            steps = [0] * self.n_free + [int(n) for n in change.entries()]
            column = fmpz_mat([[int(n) * denominator - s] for n, s in zip(column.entries(), steps, strict=True)])
        return [int(n) for n in (self.matrix * column).entries()]


def joined(first: Digits, second: Digits) -> Digits:
    """The rows of both."""
    most = max(len(first.places), len(second.places))
    parts = [np.pad(part.places, ((0, most - len(part.places)), (0, 0), (0, 0))) for part in (first, second)]
    return Digits(np.concatenate(parts, axis=1))


def product(left: Digits, right: Digits) -> Floats:
    """The rows of left·right, each times a power of two that brings its largest entry to about 1, rounded once."""
    (n_left, n_rows, _), (n_right, _, n_columns) = left.places.shape, right.places.shape
    step = max(1, AT_ONCE // (n_left * n_right * n_columns))
    parts = [_rounded_once(Digits(left.places[:, k : k + step]) @ right) for k in range(0, n_rows, step)]
    return np.concatenate(parts) if parts else np.zeros((0, n_columns))


def _rounded_once(places: Ints) -> Floats:
    total = np.zeros(places.shape[1:])
    top = np.argmax((places != 0).any(axis=2), axis=0)  # of each row
    for place, digit in enumerate(places):
        total += np.ldexp(digit.astype(np.float64), -BITS * (place - top)[:, None])
    largest = np.frexp(np.abs(total).max(axis=1, initial=0.0))[1]
    return np.asarray(np.ldexp(total, -largest[:, None]))


def _rounded(values: Floats, shift: int) -> list[list[int]]:
    """round(2^shift·values), as integers of any length."""
    mantissas, exponents = np.frexp(values)
    whole: Any = (mantissas * 2.0**53).astype(np.int64).tolist()
    return [
        [_shifted(m, e - 53 + shift) for m, e in zip(*row, strict=True)]
        for row in zip(whole, exponents.tolist(), strict=True)
    ]


def _shifted(mantissa: int, by: int) -> int:
    return mantissa << by if by >= 0 else (mantissa + (1 << (-by - 1))) >> -by
