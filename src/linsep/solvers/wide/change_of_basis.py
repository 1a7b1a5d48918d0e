"""Settle what floats could not, by using a better basis: for tiny margins and a few contradictions.

    F = rows that cancel each other: every weak separator is 0 on them
    T = a basis in which a sample W of the rows is round            (`round_basis.py`)
    repeat
        v = the shortest vector with B_W·v >= 1 that is 0 on F
        found:      w = T·v, whole and exactly 0 on F; check all rows, and add the worst to W; none: done
        none:       some rows S of W cancel each other, or nearly
            exactly, modulo F:    F grows by S. If F spans everything, the rows overlap
            nearly:               w is nearly orthogonal to S: stretch T there, and repeat

Why stretching helps. Let a_i be rows of length 1, u_i >= 0 with sum 1 and r = Σ u_i a_i. A w of length 1 with
a_i·w >= 0 has Σ u_i a_i·w = r·w <= |r|, hence Σ (u_i/|r|)² (a_i·w)² <= 1: the separators lie in an ellipsoid that is
thin along S, and in the basis that makes it round again they fill more of it. (Dunagan and Vempala, A simple
polynomial-time rescaling algorithm for solving linear programs, 2008.)

Everything found is exact: w and the combinations that cancel are integers, checked on all rows.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import numpy.typing as npt

from linsep.cores import one_thread
from linsep.exact import Digits, independent_columns, original_weights
from linsep.proofs import checks
from linsep.signs import Form, fine_scores, form_of
from linsep.solvers.clock import Clock
from linsep.solvers.exact.exact_outcomes import Settled
from linsep.solvers.min_norm import Shortest, nearest_to_zero, shortest
from linsep.solvers.scaling import Frame
from linsep.solvers.wide.contradictions import Pair, contradictions
from linsep.solvers.wide.equalities import Equalities, is_allowed
from linsep.solvers.wide.round_basis import RoundBasis, joined
from linsep.solvers.wide.short_weights import Blocked
from linsep.solvers.working_set import SUPPORT, Stuck
from linsep.sources.base import MOST_BITS, Block, Floats, Ints, Source

WIDTHS = range(24, 513)  # columns: for fewer the exact LP is as fast, for more a basis takes too long
SAMPLE = 4  # rows per column
ROUND = 30.0  # the condition up to which rows count as round
ROUNDS = 60  # changes of basis and additions of rows before the exact LP takes over
IN_SPAN = 1e-6  # rows with less than this left outside the span of F may lie in it: that is tested
CANCELS = 1e-9  # a remainder below this may be exactly 0
CONVINCING = 1e-3  # multipliers with a larger remainder are not evidence
OPPOSITE = 1e-4  # two rows of length 1 whose sum is shorter nearly cancel
ADDED, MANY = 2, 16  # rows per column: those that join W in one round; with more in W, distant ones are dropped
LONG = 1e5  # a v of more than this length is hard to find: the basis can be better
NEAR = 3.0  # rows up to this score stay
A_SOLVE, A_CHANGE = 5e-8, 3e-8  # seconds, times columns³, of steps that cannot be interrupted
STRONGEST = 2.0**40  # the most that a direction is stretched at once

Flags = npt.NDArray[np.bool_]


def settle_from(
    source: Source,
    columns: Ints,
    found: Blocked | Stuck,
    *,
    bias: bool,
    maximal: bool,
    clock: Clock,
    pairs: list[Pair] | None = None,
) -> Settled | None:
    """Decide all rows, starting from what floats have found; None if this method does not lead to an answer.

    `pairs` are rows that cancel each other, if they have been looked for.
    """
    if len(columns) not in WIDTHS or (source.facts.integer_bits or 0) > MOST_BITS:  # doubles do not hold such integers
        return None
    if source.n_rows <= len(columns) + bias + 1:  # so few rows are easy for the exact LP
        return None
    try:
        with one_thread():
            search = BasisSearch(source, columns, found.rows, bias=bias, maximal=maximal, clock=clock)
            if pairs is None:
                clock.reads += 1
                pairs = contradictions(source, SAMPLE * search.frame.width, bias=bias)
            search.take_pairs(pairs)
            if isinstance(found, Blocked) and found.dependences is None:
                search.make_zero(found.rows)
            return search.run()
    except (LostError, np.linalg.LinAlgError):
        return None


class LostError(ArithmeticError):
    """This method fails: numbers differ too much in size for digits, or the integers of the basis are too long."""


class BasisSearch:
    """The rows W in use, the basis in which they are seen, and the rows F that must be 0.

    `rows` are those of W in the free coordinates of the basis, of length 1; `inside` says which lie in the span of F.
    """

    def __init__(self, source: Source, columns: Ints, first: Block, *, bias: bool, maximal: bool, clock: Clock) -> None:
        self.source, self.maximal, self.clock = source, maximal, clock
        width = len(columns) + bias
        self.block = _distinct(first + source.sample(SAMPLE * width, seed=3))
        self.frame = Frame.around(self.block, columns, bias=bias)
        self.side = int(self.block.y[0])
        self.digits = self._digits(self.block)
        self.matters: Flags = np.zeros(len(self.block), bool)
        self.zero = Equalities(self.frame)
        self.independent = independent_columns(self.zero.integers(self.block)[0])
        if not self.independent:
            raise LostError
        self.basis = RoundBasis.start(width, self.independent)

    def _digits(self, block: Block) -> Digits:
        """Rows as digits in the frame, the first row of W in class +1: swapping the labels then has no effect."""
        digits, rest = Digits.of(self.side * self.frame.signed(block))
        if rest.any():
            raise LostError
        return digits

    # Rows that must be 0 --------------------------------------------------------------------------

    def take_pairs(self, pairs: list[tuple[int, int]]) -> None:
        """Add rows that occur with both labels to F."""
        if pairs:
            new = self.zero.add_pairs(self.source.take(np.array(pairs).ravel()))
            if new:
                self._grow(new)

    def make_zero(self, block: Block) -> bool:
        """Add these rows to F, if they cancel exactly modulo those in F."""
        self.clock.require(A_SOLVE * (len(block) + self.basis.n_zero) ** 3)
        new = self.zero.add(block)
        if new is None:
            return False
        self._grow(new)
        return True

    def _grow(self, numbers: list[int]) -> None:
        self.clock.met(self.zero.proofs[0])
        if numbers:
            digits = self._digits(self.source.take(numbers))
            self.basis = self.basis.with_zero(self.basis.rows(digits)[0], digits)

    # The loop -------------------------------------------------------------------------------------

    def run(self) -> Settled:
        """The answer."""
        self._whiten()
        for _ in range(ROUNDS):
            self.clock.check()
            if not self.basis.n_free:
                return self._overlapping()
            answer = self._solve()
            if not answer.is_solved:
                self._learn(answer.multipliers)
                continue
            weights, bias_weight = self._weights(answer.w)
            form = form_of(weights, bias_weight)
            if self._is_right(form):
                return self._settled(weights, bias_weight)
            u = answer.multipliers[self.matters]
            self._renew(answer.w, self.source.take(self._lowest(form)))
            if np.linalg.norm(answer.w) > LONG:  # the rows that matter nearly cancel
                self._stretch(u)
        raise LostError

    def _whiten(self) -> None:
        """Change the basis until W is round in it."""
        while self.basis.n_free:
            self.clock.check()
            self._look()
            self.clock.require(A_CHANGE * self.frame.width**3)
            whitened, condition = self.basis.whitened(self.rows[~self.inside])
            if not condition > ROUND:
                return
            self.basis = whitened

    def _look(self) -> None:
        """Compute the rows of W in the basis."""
        self.rows, self.inside = self._seen(self.block, self.digits)
        if self.basis.is_too_long or self.inside.all() or not self.rows[~self.inside].any(axis=1).all():
            raise LostError

    def _seen(self, block: Block, digits: Digits) -> tuple[Floats, Flags]:
        rows, kept = self.basis.rows(digits)
        inside = np.zeros(len(rows), bool)
        doubtful = np.flatnonzero(~(kept > IN_SPAN))
        inside[doubtful] = self.zero.contain(block.take(doubtful))
        return rows, inside

    def _solve(self) -> Shortest:
        is_free = ~self.inside
        rows = self.rows[is_free]
        answer = shortest(rows, self.matters[is_free], clock=self.clock)
        if not answer.is_solved and _remainder(rows, answer.multipliers) > CONVINCING:
            answer = nearest_to_zero(rows, self.clock)
        multipliers = np.zeros(len(self.rows))
        multipliers[is_free] = answer.multipliers
        self.matters = multipliers > SUPPORT * multipliers.max(initial=0.0)
        return Shortest(answer.w, multipliers, answer.is_solved, answer.is_infeasible)

    def _learn(self, multipliers: Floats) -> None:
        """Use rows that cancel, or nearly: F grows, or the basis is stretched."""
        support = np.flatnonzero(self.matters)
        if not support.size:
            raise LostError
        u = _polished(self.rows[support], multipliers[support])
        if _remainder(self.rows[support], u) < CANCELS and self.make_zero(self.block.take(support)):
            if self.basis.n_free:
                self._look()
        else:
            self._stretch(u)

    def _stretch(self, u: Floats) -> None:
        """Stretch the basis along the rows that matter, by their multipliers; for a pair, along all such pairs."""
        support = np.flatnonzero(self.matters)
        strengths = np.zeros(len(self.rows))
        strengths[support] = _strengths(u / u.sum(), _remainder(self.rows[support], u))
        if len(support) == 2:  # rarely the only such pair
            strengths = np.maximum(strengths, self._opposites())
        self.clock.require(A_CHANGE * self.frame.width**3)
        self.basis = self.basis.stretched(np.where(self.inside[:, None], 1.0, self.rows), strengths)
        self._look()

    def _opposites(self) -> Floats:
        """How strongly to stretch along the rows of W that another one nearly cancels."""
        rows = np.where(self.inside[:, None], 0.0, self.rows)
        cosines = rows @ rows.T
        partner = np.argmin(cosines, axis=1)
        sums = np.linalg.norm(rows + rows[partner], axis=1)
        near = (sums < OPPOSITE) & ~self.inside
        return np.where(near, _strengths(np.full(len(rows), 0.5), sums / 2), 0.0)

    # All rows -------------------------------------------------------------------------------------

    def _weights(self, v: Floats) -> tuple[tuple[int, ...], int]:
        """w = T·v, exactly 0 on F, as weights of the columns of the source."""
        w = original_weights(self.basis.weights(self.side * v, self.zero.rows), self.frame.exponents.tolist())
        return self.frame.spread_out(w)

    def _settled(self, weights: tuple[int, ...], bias_weight: int) -> Settled:
        if not self.zero.first:
            return Settled("separable", weights, bias_weight)
        return Settled("touching", weights, bias_weight, *self.zero.proofs)

    def _is_right(self, form: Form) -> bool:
        """Whether the form is right on all rows."""
        self.clock.reads += 1
        work = partial(is_allowed, form, bool(self.zero.first), self.zero if self.maximal else None)
        for is_right in self.source.each(work):
            self.clock.check()
            if not is_right:
                return False
        return True

    def _lowest(self, form: Form) -> Ints:
        """The rows outside W where the form is wrong, or nearest to it."""
        found, ratios = np.zeros(0, np.int64), np.zeros(0)
        most = ADDED * self.frame.width
        for rows, ratio in self.source.each(partial(_lowest_in, form, self.block.row_numbers, most)):
            self.clock.check()
            found, ratios = np.concatenate([found, rows]), np.concatenate([ratios, ratio])
            worst = np.argsort(ratios, kind="stable")[:most]
            found, ratios = found[worst], ratios[worst]
        return found

    def _renew(self, v: Floats, block: Block) -> None:
        """Add these rows to W; if there are many, keep those that matter or are near."""
        is_small = len(self.rows) < MANY * self.frame.width
        keep = np.flatnonzero(self.matters | (self.rows @ v < NEAR) | is_small)
        digits = self._digits(block)
        rows, inside = self._seen(block, digits)
        self.digits = joined(Digits(self.digits.places[:, keep]), digits)
        self.block = self.block.take(keep) + block
        self.rows, self.inside = np.vstack([self.rows[keep], rows]), np.append(self.inside[keep], inside)
        self.matters = np.append(self.matters[keep], np.zeros(len(block), bool))

    def _overlapping(self) -> Settled:
        first, spread = self.zero.proofs
        if len(self.independent) < self.frame.width:  # on W; elsewhere the columns may not depend on each other
            bias = self.frame.bias
            if len(checks.rows_outside_span(self.source, spread.rows, bias, most=1)):
                raise LostError
        return Settled("overlapping", obstruction=first, spread=spread)


def _lowest_in(form: Form, known: Ints, most: int, block: Block) -> tuple[Ints, Floats]:
    """The rows of a block, not in `known`, where the form is wrong or nearest to it, and how near."""
    with np.errstate(all="ignore"):
        score, error = fine_scores(form, block.values)
        ratio = score * block.y / error
    outside = np.flatnonzero(~np.isin(block.row_numbers, known))
    worst = outside[np.argsort(ratio[outside], kind="stable")[:most]]
    return block.row_numbers[worst], ratio[worst]


def _distinct(block: Block) -> Block:
    """Each row once, in the order of their numbers."""
    _, first = np.unique(block.row_numbers, return_index=True)
    return block.take(first)


def _remainder(rows: Floats, multipliers: Floats) -> float:
    """The length of Σ u·a relative to Σ u."""
    total = float(multipliers.sum())
    return float(np.linalg.norm(multipliers @ rows)) / total if total > 0 else np.inf


def _strengths(u: Floats, remainder: Floats | float) -> Floats:
    """How strongly to stretch along rows with multipliers u (of sum 1) and this remainder.

    u/|r| as above; and as a_i·w <= 1, also Σ (u_i/|r|) (a_i·w)² <= 1, which says more of small u.
    """
    ratio = u / np.maximum(remainder, 1 / STRONGEST)
    return np.asarray(np.minimum(np.maximum(ratio, np.sqrt(ratio)), STRONGEST))


def _polished(rows: Floats, u: Floats) -> Floats:
    """Better multipliers of rows that nearly cancel, if they stay positive."""
    if len(rows) > rows.shape[1] + 1:
        return u
    left, sizes, _ = np.linalg.svd(rows, full_matrices=True)
    found = left[:, len(sizes)] if len(rows) > rows.shape[1] else left[:, -1]
    found = found * np.sign(found.sum())
    return found if (found > 0).all() else u
