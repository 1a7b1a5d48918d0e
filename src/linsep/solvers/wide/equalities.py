"""Rows that cancel each other, as equalities: every weak separator is 0 on them, and on all of their span.

They are found one combination after the other. A new one cancels modulo the rows so far, whose weights in it may have
any sign; adding copies of the combination so far, which is positive on them, makes it positive.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from flint import fmpz_mat, nmod_mat

from linsep.exact import PRIME, coprime, independent_rows, null_combination, original_multipliers
from linsep.proofs import Obstruction
from linsep.signs import Form, signs
from linsep.solvers.scaling import Frame
from linsep.sources.base import Block

Row = list[int]
Weights = dict[int, int]  # of rows, by their numbers


@dataclass
class Equalities:
    """Rows of a frame that cancel each other; `numbers` and `rows` are independent ones that span them.

    Rows are integers here, times powers of two of their own (`exponents`); weights are converted back at the end.
    """

    frame: Frame
    first: Weights = field(default_factory=dict)
    spread: Weights = field(default_factory=dict)
    exponents: dict[int, int] = field(default_factory=dict)
    numbers: list[int] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)

    def integers(self, block: Block) -> tuple[list[Row], list[int]]:
        """Rows as integers in the frame, and their exponents."""
        found = self.frame.integers(block, self.frame.exponents.astype(np.int64))
        return found.rows.tolist(), found.row_exponents.tolist()

    def add_pairs(self, block: Block) -> list[int]:
        """Add pairs of opposite rows, one after the other; pairs that add nothing to the span are skipped.

        Returns the numbers of the rows by which the span has grown.
        """
        rows, exponents = self.integers(block)
        numbers = block.row_numbers.tolist()
        known = len(self.rows)
        new = [2 * (k - known) for k in independent_rows([*self.rows, *rows[::2]]) if k >= known]
        for k in new:
            weights = {numbers[k]: 1, numbers[k + 1]: 1}
            self.first = self.first or weights
            self.spread |= weights
            self.exponents |= {numbers[k]: exponents[k], numbers[k + 1]: exponents[k + 1]}
        self.numbers += [numbers[k] for k in new]
        self.rows += [rows[k] for k in new]
        return [numbers[k] for k in new]

    def add(self, block: Block) -> list[int] | None:
        """Add rows that cancel modulo those so far, with positive weights on all of them; None if they do not.

        Returns the numbers of the rows by which the span has grown.
        """
        rows, exponents = self.integers(block)
        found = null_combination([*rows, *self.rows])
        if found is None:
            return None
        if found[0] < 0:
            found = tuple(-n for n in found)
        if min(found[: len(rows)]) <= 0:
            return None
        numbers = block.row_numbers.tolist()
        self.exponents |= dict(zip(numbers, exponents, strict=True))
        if not any(map(any, rows)):  # a zero row is an obstruction by itself, and spans nothing
            self.first = self.first or {numbers[0]: 1}
            return []
        self._combine(dict(zip([*numbers, *self.numbers], found, strict=True)))
        known = len(self.rows)
        new = [k - known for k in independent_rows([*self.rows, *rows]) if k >= known]
        self.numbers += [numbers[k] for k in new]
        self.rows += [rows[k] for k in new]
        return [numbers[k] for k in new]

    def _combine(self, weights: Weights) -> None:
        copies = max((-n // self.spread[i] + 1 for i, n in weights.items() if i in self.spread), default=0)
        total = {i: n * max(copies, 1) for i, n in self.spread.items()}
        for i, n in weights.items():
            total[i] = total.get(i, 0) + n
        self.spread = dict(zip(total, coprime(total.values()), strict=True))
        self.first = self.first or dict(self.spread)

    def contain(self, block: Block) -> npt.NDArray[np.bool_]:
        """Which rows lie in the span, tested by a random form modulo a prime that is 0 on it."""
        if not len(block) or not self.first:
            return np.zeros(len(block), bool)
        values = nmod_mat(fmpz_mat(self.integers(block)[0]), PRIME) * self._vanishing_form()
        inside = np.array([int(n) == 0 for n in values.entries()], bool)
        others = np.setdiff1d(np.arange(block.n_columns), self.frame.columns)
        return inside & ~np.asarray((block.values[:, others] != 0).sum(axis=1) > 0).ravel() if others.size else inside

    def _vanishing_form(self) -> nmod_mat:
        """A random form, as a column, with its coefficients at the pivots solved for."""
        width = self.frame.width
        form = np.random.default_rng(0).integers(0, PRIME, width).tolist()
        reduced, rank = nmod_mat(fmpz_mat(self.rows or [[0] * width]), PRIME).rref()  # of zero rows the span is {0}
        pivots = [next(j for j in range(width) if int(reduced[i, j])) for i in range(rank)]
        for j in pivots:
            form[j] = 0
        values = (reduced * nmod_mat(fmpz_mat([[n] for n in form]), PRIME)).entries()
        for i, j in enumerate(pivots):
            form[j] = -int(values[i])
        return nmod_mat(fmpz_mat([[n] for n in form]), PRIME)

    @property
    def proofs(self) -> tuple[Obstruction, Obstruction]:
        """The first combination and that of all rows, with weights of the rows as they are in the source."""
        return self._obstruction(self.first), self._obstruction(self.spread or self.first)

    def _obstruction(self, weights: Weights) -> Obstruction:
        numbers = sorted(weights)
        values = [weights[i] for i in numbers]
        return Obstruction(tuple(numbers), original_multipliers(values, [self.exponents[i] for i in numbers]))


def is_allowed(form: Form, touches: bool, inside: Equalities | None, block: Block) -> bool:
    """Whether a form has the signs of a separator on the rows of a block; of a weak one, if they may touch.

    If `inside` is given, rows that touch must lie in its span.
    """
    signed = signs(form, block.values) * block.y
    if not touches:
        return bool((signed > 0).all())
    if (signed < 0).any():
        return False
    return inside is None or bool(inside.contain(block.take(np.flatnonzero(signed == 0))).all())
