"""Settle what floats could not, by looking at the rows from a better basis: tiny margins, and a few contradictions.

    F = rows that cancel each other: every weak separator is 0 on them
    T = a basis in which a sample W of the rows is round            (`round_basis.py`)
    repeat
        v = the shortest vector with B_W·v >= 1 that is 0 on F
        found:      w = T·v, whole and exactly 0 on F; look at all rows, and add the worst to W; none: done
        none:       some rows S of W cancel each other, or nearly
            exactly, modulo F:    F grows by S. If F spans everything, the rows overlap
            nearly:               w is nearly orthogonal to S: stretch T there, and go on

Why stretching helps. Let a_i be rows of length 1, u_i >= 0 with sum 1 and r = Σ u_i a_i. A w of length 1 with
a_i·w >= 0 has Σ u_i a_i·w = r·w <= |r|, hence Σ (u_i/|r|)² (a_i·w)² <= 1: the separators lie in an ellipsoid that is
thin along S, and in the basis that makes it round again they fill more of it. (Dunagan and Vempala, A simple
polynomial-time rescaling algorithm for solving linear programs, 2008.)

Everything found is exact: w and the combinations that cancel are integers, held against all rows.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from flint import fmpz_mat, nmod_mat

from linsep.exact import (
    PRIME,
    coprime,
    independent_columns,
    independent_rows,
    null_combination,
    original_multipliers,
    original_weights,
)
from linsep.proofs import Obstruction
from linsep.signs import form_of
from linsep.solvers.clock import Clock
from linsep.solvers.digits import digits_of
from linsep.solvers.exact_outcomes import Settled
from linsep.solvers.exact_search import violated
from linsep.solvers.min_norm import Shortest, nearest_to_zero, shortest
from linsep.solvers.round_basis import RoundBasis
from linsep.solvers.scaling import Frame
from linsep.solvers.working_set import SUPPORT
from linsep.sources.base import MOST_BITS, Block, Floats, Ints, Source

SAMPLE = 4  # rows per column
ROUND = 30.0  # the condition up to which rows count as round
ROUNDS = 60  # changes of basis before the exact LP is asked
IN_SPAN = 1e-6  # rows of which less than this is left beside F may lie in its span: that is tested
CANCELS = 1e-9  # a remainder below this may be exactly 0
STRONGEST = 2.0**40  # the most that a direction is stretched at once

Flags = npt.NDArray[np.bool_]


@dataclass
class Equalities:
    """Rows that cancel each other: `spread` are positive weights of all of them, `basis` independent ones among them.

    The rows are integers, times powers of two of their own (`exponents`): weights are turned back at the end.
    """

    first: dict[int, int] = field(default_factory=dict)
    spread: dict[int, int] = field(default_factory=dict)
    exponents: dict[int, int] = field(default_factory=dict)
    basis: list[list[int]] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)

    def add(self, rows: dict[int, list[int]], weights: dict[int, int], exponents: dict[int, int]) -> list[int]:
        """Add a combination that cancels, positive on the new rows; returns the numbers of the independent ones."""
        copies = max((-n // self.spread[i] + 1 for i, n in weights.items() if n < 0), default=1 if self.spread else 0)
        total = {i: n * copies for i, n in self.spread.items()}
        for i, n in weights.items():
            total[i] = total.get(i, 0) + n
        self.spread = dict(zip(total, coprime(total.values()), strict=True))
        self.first = self.first or dict(self.spread)
        self.exponents |= exponents
        numbers = list(rows)
        kept = independent_rows([*self.basis, *rows.values()])
        new = [numbers[k - len(self.basis)] for k in kept if k >= len(self.basis)]
        self.basis += [rows[i] for i in new]
        self.numbers += new
        return new

    def obstruction(self, weights: dict[int, int]) -> Obstruction:
        """Weights of rows as they are in the source."""
        numbers = sorted(weights)
        values = [weights[i] for i in numbers]
        return Obstruction(tuple(numbers), original_multipliers(values, [self.exponents[i] for i in numbers]))


class BasisSearch:
    """The rows looked at, the basis they are looked at from, and the rows that must be 0."""

    def __init__(self, source: Source, columns: Ints, rows: Block, *, bias: bool, clock: Clock) -> None:
        self.source, self.clock = source, clock
        width = len(columns) + bias
        sample = source.sample(SAMPLE * width, seed=3)
        self.block = _distinct(rows + sample)
        self.frame = Frame.around(self.block, columns, bias=bias)
        self.digits = digits_of(self.frame.signed(self.block))
        self.matters: Flags = np.zeros(len(self.block), bool)
        self.equal = Equalities()
        self.basis = RoundBasis.start(width, independent_columns(self._integers(self.block)[0]))

    def _integers(self, block: Block) -> tuple[list[list[int]], list[int]]:
        """Rows as integers in the frame, and their exponents."""
        found = self.frame.integers(block, self.frame.exponents.astype(np.int64))
        return found.rows.tolist(), found.row_exponents.tolist()

    def make_zero(self, numbers: list[int], weights: tuple[int, ...] | None = None) -> bool:
        """Take these rows to F, if they cancel exactly modulo those in F; `weights` are those of the source's rows."""
        block = self.source.take(numbers)
        integers, exponents = self._integers(block)
        rows, powers = dict(zip(numbers, integers, strict=True)), dict(zip(numbers, exponents, strict=True))
        found = null_combination([*integers, *self.equal.basis])
        if found is None:
            return False
        sign = 1 if found[0] > 0 else -1
        of_new = [sign * n for n in found[: len(numbers)]]
        if min(of_new) <= 0:
            return False
        of_old = [sign * n for n in found[len(numbers) :]]
        combined = dict(zip(numbers, of_new, strict=True)) | {
            i: n for i, n in zip(self.equal.numbers, of_old, strict=True) if n
        }
        new = self.equal.add(rows, combined, powers)
        if new:
            digits = digits_of(self.frame.signed(self.source.take(new)))
            self.basis = self.basis.with_zero(self.basis.rows(digits)[0], digits)
        return True

    def run(self) -> Settled | None:
        """The answer, or None where this way does not lead to one."""
        self._whiten()
        for _ in range(ROUNDS):
            self.clock.check()
            if not self.basis.n_free:
                return self._overlapping()
            rows, inside = self._rows()
            if inside.all():
                return None  # TODO
            answer = self._solve(rows, ~inside)
            if answer.is_solved:
                found = self._hold_against_all(answer.w)
                if found is not None:
                    return found
            elif not self._learn(rows, answer.multipliers):
                return None
            if self.basis.is_too_long:
                return None
        return None

    def _whiten(self) -> None:
        while True:
            self.clock.check()
            if not self.basis.n_free:
                return
            rows, inside = self._rows()
            self.basis, condition = self.basis.whitened(rows[~inside])
            print("   cond", condition, self.basis.n_free, len(self.basis.digits))
            if condition <= ROUND or self.basis.is_too_long:
                return

    def _rows(self) -> tuple[Floats, Flags]:
        """The rows of W in the free coordinates, and which of them lie in the span of F."""
        rows, kept = self.basis.rows(self.digits)
        inside = np.zeros(len(rows), bool)
        if self.equal.basis:
            doubtful = np.flatnonzero(~(kept > IN_SPAN))
            inside[doubtful] = self._is_in_span(self.block.take(doubtful))
        return rows, inside

    def _is_in_span(self, block: Block) -> Flags:
        """Whether rows lie in the span of F, tested by a random form modulo a prime that is 0 on F."""
        if not len(block):
            return np.zeros(0, bool)
        forms, _ = nmod_mat(fmpz_mat(self.equal.basis), PRIME).nullspace()
        random = np.random.default_rng(0).integers(0, PRIME, (forms.ncols(), 1)).tolist()
        values = nmod_mat(fmpz_mat(self._integers(block)[0]), PRIME) * (forms * nmod_mat(fmpz_mat(random), PRIME))
        return np.array([int(n) == 0 for n in values.entries()], bool)

    def _solve(self, rows: Floats, is_free: Flags) -> Shortest:
        answer = shortest(rows[is_free], self.matters[is_free], clock=self.clock)
        print("   daqp", rows[is_free].shape, answer.is_solved, np.linalg.norm(answer.w), self.clock.seconds)
        if not answer.is_solved and _remainder(rows[is_free], answer.multipliers) > 1e-3:
            answer = nearest_to_zero(rows[is_free], self.clock)
            print("   nnls", answer.is_solved, self.clock.seconds)
        multipliers = np.zeros(len(rows))
        multipliers[is_free] = answer.multipliers
        self.matters = multipliers > SUPPORT * multipliers.max(initial=0.0)
        return Shortest(answer.w, multipliers, answer.is_solved, answer.is_infeasible)

    def _learn(self, rows: Floats, multipliers: Floats) -> bool:
        """From rows that cancel, or nearly: F grows, or the basis is stretched."""
        support = np.flatnonzero(self.matters)
        if not support.size:
            return False
        a, u = rows[support], multipliers[support]
        u = _polished(a, u)
        u = u / u.sum()
        remainder = float(np.linalg.norm(u @ a))
        print("   near", len(support), remainder, u.max(), self.clock.seconds)
        if remainder < CANCELS and self.make_zero(self.block.row_numbers[support].tolist()):
            print("   F", self.basis.n_zero, self.clock.seconds)
            return True
        ratio = u / max(remainder, 1 / STRONGEST)
        self.basis = self.basis.stretched(a, np.minimum(np.maximum(ratio, np.sqrt(ratio)), STRONGEST))
        return True

    def _hold_against_all(self, v: Floats) -> Settled | None:
        """The verdict if w = T·v is right on all rows; else the rows that it is wrong about join W."""
        w = original_weights(self.basis.weights(v, self.equal.basis), self.frame.exponents.tolist())
        weights, bias_weight = self.frame.spread_out(w)
        least = 0 if self.equal.basis else 1
        against = violated(self.source, form_of(weights, bias_weight), least, 2 * self.frame.width + 10)
        self.clock.reads += 1
        print("   against", len(against), self.clock.seconds)
        if not len(against):
            if not self.equal.basis:
                return Settled("separable", weights, bias_weight)
            return Settled("touching", weights, bias_weight, *self._proofs())
        new = self.source.take(against)
        self.block += new
        more = digits_of(self.frame.signed(new))
        places = max(len(more), len(self.digits))
        parts = [np.pad(part, ((0, places - len(part)), (0, 0), (0, 0))) for part in (self.digits, more)]
        self.digits = np.concatenate(parts, axis=1)
        self.matters = np.append(self.matters, np.zeros(len(new), bool))
        return None

    def _overlapping(self) -> Settled | None:
        first, spread = self._proofs()
        return Settled("overlapping", obstruction=first, spread=spread)

    def _proofs(self) -> tuple[Obstruction, Obstruction]:
        equal = self.equal
        return equal.obstruction(equal.first), equal.obstruction(equal.spread)


def _distinct(block: Block) -> Block:
    """Each row once, in the order of their numbers."""
    _, first = np.unique(block.row_numbers, return_index=True)
    return block.take(first)


def _remainder(rows: Floats, multipliers: Floats) -> float:
    """How long Σ u·a is beside Σ u."""
    total = float(multipliers.sum())
    return float(np.linalg.norm(multipliers @ rows)) / total if total > 0 else np.inf


def _polished(rows: Floats, u: Floats) -> Floats:
    """Better multipliers of rows that nearly cancel, if such are positive."""
    if len(rows) > rows.shape[1] + 1:
        return u
    left, sizes, _ = np.linalg.svd(rows, full_matrices=True)
    found = left[:, len(sizes)] if len(rows) > rows.shape[1] else left[:, -1]
    found = found * np.sign(found.sum())
    return found if (found > 0).all() else u
