"""The margin as an exact number: the nearest points of the classes' hulls, in integers.

The widest hyperplane bisects the shortest segment between the hulls of the two classes; through the origin, it is
orthogonal to the point of the signed rows' hull nearest to 0. Both are one problem: among weights u >= 0 that add up
to 1 in each group of rows, find the shortest v = Σ u_i z_i. The groups are the classes, or all rows are one group.

    repeat
        u = the weights with the shortest v on the rows of the support, all signs allowed   (a linear system)
        a weight is not positive:           go there until the first one is 0, drop its row, and solve again
        a row has z·v below its group's:    add it to the support
        else                                v is the shortest of all

Each round makes v shorter, so no support occurs twice; in exact arithmetic nothing else can go wrong, at any scale.

Wolfe, Finding the nearest point in a polytope, Mathematical Programming 11 (1976).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from flint import fmpz_mat

from linsep.exact import coprime, independent_rows, integer_rows, solve
from linsep.solvers.clock import Clock
from linsep.sources.base import Block


@dataclass(frozen=True, slots=True)
class ExactWidest:
    """Integer weights and bias of the widest hyperplane, its support with integer multipliers, and gamma²."""

    weights: tuple[int, ...]
    bias_weight: int
    rows: tuple[int, ...]
    multipliers: tuple[int, ...]
    gamma_squared: Fraction


def exact_widest(
    block: Block, guess: dict[int, float], clock: Clock, *, homogeneous: bool = False, has_bias: bool = True
) -> ExactWidest | None:
    """The widest hyperplane of these rows, or None if there is none; `guess` weighs positions in the block."""
    power, table = _common_integers(block, constant=homogeneous and has_bias)
    groups = [0] * len(block) if homogeneous else [int(y > 0) for y in block.y.tolist()]
    found = _Nearest(table, groups, clock).run(guess)
    if found is None:
        return None
    support, multipliers, common = found
    v = _combined(multipliers, table, support)
    if homogeneous:
        weights, bias, double = v, v.pop() if has_bias else 0, 1
    else:
        minus, plus = (_scores(fmpz_mat([table[next(i for i in support if groups[i] == g)]]), v)[0] for g in (0, 1))
        # In units of the rows as given w·x is v·x·2^power; twice both, since the constant is half a difference.
        weights = [2 * n << max(0, power) for n in v]
        bias, double = (minus - plus) << max(0, -power), 2
    whole = coprime([*weights, bias])
    length2 = sum(n * n for n in v) + (bias * bias if homogeneous else 0)
    gamma_squared = Fraction(length2, (double * common) ** 2) / Fraction(4) ** power
    numbers = block.row_numbers[support]
    return ExactWidest(whole[:-1], whole[-1], tuple(numbers.tolist()), coprime(multipliers), gamma_squared)


class _Nearest:
    """The support so far, with weights that add up to 1 in each group."""

    def __init__(self, table: list[list[int]], groups: list[int], clock: Clock) -> None:
        self.table, self.groups, self.clock = table, groups, clock
        self.everything = fmpz_mat(table)

    def run(self, guess: dict[int, float]) -> tuple[list[int], list[int], int] | None:
        """The support of the shortest v, and its weights times a common denominator; None if v is 0."""
        self._begin(guess)
        while True:
            multipliers, common = self._settle()
            v = _combined(multipliers, self.table, self.support)
            if not any(v):
                return None
            scores = _scores(self.everything, v)
            level = {self.groups[i]: scores[i] for i in self.support}
            short = [score - level[group] for score, group in zip(scores, self.groups, strict=True)]
            worst = min(range(len(short)), key=short.__getitem__)
            if short[worst] >= 0:
                return self.support, multipliers, common
            self.support.append(worst)
            self.u.append(Fraction(0))

    def _begin(self, guess: dict[int, float]) -> None:
        """Begin with the guessed rows, as far as they are independent, but at least a row of each group."""
        likely = sorted((i for i in guess if guess[i] > 0), key=lambda i: -guess[i])
        likely += [self.groups.index(group) for group in set(self.groups) - {self.groups[i] for i in likely}]
        marked = [[*self.table[i], *(int(self.groups[i] == group) for group in (0, 1))] for i in likely]
        self.support = [likely[k] for k in independent_rows(marked)]
        weights = [Fraction(guess.get(i, 0.0)) or Fraction(1) for i in self.support]
        sums = {group: sum(u for i, u in self._with(weights) if self.groups[i] == group) for group in set(self.groups)}
        self.u = [u / sums[self.groups[i]] for i, u in self._with(weights)]

    def _with(self, weights: list[Fraction]) -> "zip[tuple[int, Fraction]]":
        return zip(self.support, weights, strict=True)

    def _settle(self) -> tuple[list[int], int]:
        """Drop rows until the weights that are best for the support are all positive."""
        while True:
            self.clock.check()
            numerators, common = self._best()
            if min(numerators) > 0:
                self.u = [Fraction(n, common) for n in numerators]
                return numerators, common
            target = [Fraction(n, common) for n in numerators]
            step = min(u / (u - t) for u, t in zip(self.u, target, strict=True) if t <= 0)
            moved = [u + step * (t - u) for u, t in zip(self.u, target, strict=True)]
            self.support = [i for i, u in self._with(moved) if u > 0]
            self.u = [u for u in moved if u > 0]

    def _best(self) -> tuple[list[int], int]:
        """The weights of any sign with the shortest v: all rows of a group then have the same z·v."""
        rows = fmpz_mat([self.table[i] for i in self.support])
        gram = (rows * rows.transpose()).tolist()
        groups = sorted(set(self.groups))
        marks = [[int(self.groups[i] == group) for group in groups] for i in self.support]
        zeros = [0] * len(groups)
        system = [[*line, *mark] for line, mark in zip(gram, marks, strict=True)]
        system += [[*column, *zeros] for column in zip(*marks, strict=True)]
        found, common = solve(fmpz_mat(system), fmpz_mat([[0]] * len(self.support) + [[1]] * len(groups)))
        return [int(n) for n in found.entries()[: len(self.support)]], common


def _combined(multipliers: Sequence[int], table: list[list[int]], support: Sequence[int]) -> list[int]:
    return [int(n) for n in (fmpz_mat([multipliers]) * fmpz_mat([table[i] for i in support])).entries()]


def _scores(rows: fmpz_mat, v: Sequence[int]) -> list[int]:
    return [int(n) for n in (rows * fmpz_mat([[n] for n in v])).entries()]


def _common_integers(block: Block, *, constant: bool) -> tuple[int, list[list[int]]]:
    """The signed rows (with a 1 appended) times one power of two, 2^power, as integers, which keeps the metric."""
    values: Any = block.values if isinstance(block.values, np.ndarray) else block.values.toarray()
    found = integer_rows(values, block.y, bias=constant)
    exponents = found.row_exponents[:, None] + found.column_exponents[None, :]
    power = int(exponents[found.rows != 0].max(initial=0)) if found.rows.any() else 0
    return power, [
        [int(n) << (power - e) if n else 0 for n, e in zip(row, line, strict=True)]
        for row, line in zip(found.rows.tolist(), exponents.tolist(), strict=True)
    ]
