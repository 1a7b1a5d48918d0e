"""A weak separator when some rows are known to cancel each other: it is 0 on those and positive on the others.

F is a set of rows on which the weights must be 0. In the space of such weights the other rows are decided as elsewhere:

    relaxation       each pass of the walk of `relax.py` is followed by a projection of w onto that space
                     it gives up: F grows by the rows next to the hyperplane that cancel modulo it; walk again
    a working set    the shortest vector there for few rows, a scan of all, the worst are added
                     there is none: the rows that matter cancel modulo F, as far as floats can tell, and F grows by them

Rows that cancel are rarely alone: each time F grows, all rows that Newton's method finds to cancel are added
(`newton.py`).

In the end the weights are made exactly 0 on F: the equations of k independent rows are solved for k of the columns, in
integers. If the result is nowhere negative it is a weak separator, however F was found. Only if it must also be known
that no other one is positive on more rows (`maximal`) must F cancel exactly, and so it does not grow in that case.
"""

from __future__ import annotations

from functools import cached_property, partial

import numpy as np
from flint import fmpz_mat

from linsep.cores import one_thread
from linsep.exact import (
    coprime,
    independent_columns,
    independent_rows,
    null_combination,
    original_multipliers,
    seconds_to_solve,
    solve,
)
from linsep.proofs import Obstruction
from linsep.proofs.definite import used_columns
from linsep.signs import Form, form_of, form_of_doubles, pieces, signs
from linsep.solvers.clock import Clock
from linsep.solvers.exact.exact_outcomes import Settled
from linsep.solvers.min_norm import Shortest
from linsep.solvers.scaling import Frame
from linsep.solvers.wide.contradictions import Pair
from linsep.solvers.wide.equalities import Equalities, is_allowed
from linsep.solvers.wide.newton import CANCELS, cancelling
from linsep.solvers.wide.relax import WORK, GaveUpError, Relaxation, Viewpoint, Walkers
from linsep.solvers.wide.round_view import RoundView, round_basis
from linsep.solvers.wide.short_weights import SPEED
from linsep.solvers.working_set import FEW_ROWS, WorkingSet, scan_safely
from linsep.sources.base import MOST_BITS, Block, Floats, Ints, Scan, Source

TOO_LONG = 120.0  # seconds for the exact weights: beyond that, other methods are better
LOOKED_AT = 20  # rows
ROUNDING = 1e-9  # relative to |x|·|w|: rows with scores nearer to 0 may be rows on which the weights will be 0
ROUNDS = 60  # of additions to the working set; additions to F end by themselves, when it spans everything
MOST_PRODUCTS = 1e11  # of the entries of dense rows with columns, when all are converted to another basis
FIRST_ROWS, MORE_ROWS = 3, 4  # for each column: at first, and after each scan
WALKS = 4  # each with more rows in F than the one before
INDEPENDENT = 0.9  # rows for each free column: if there are more, they may cancel among themselves for another reason


def settle_pairs(
    source: Source,
    columns: Ints,
    pairs: list[Pair],
    *,
    bias: bool,
    maximal: bool,
    clock: Clock,
    is_patient: bool = True,
) -> Settled | None:
    """Decide rows some of which occur with both labels; None if that fails. Unless patient, walk once and give up."""
    if (source.facts.integer_bits or 0) > MOST_BITS:
        return None
    block = source.take(np.array(pairs).ravel())
    first = spread = Obstruction(pairs[0], (1, 1))
    known: Equalities | None = None
    if maximal or 2 * len(pairs) == source.n_rows or len(pairs) >= len(columns) + bias:
        known = _equalities(block, bias)
        if not known.add_pairs(block):  # rows of zeros, without a bias
            return None
        first, spread = known.proofs
        if len(known.rows) == len(columns) + bias or 2 * len(pairs) == source.n_rows:
            return Settled("overlapping", obstruction=first, spread=spread)
    zero = ZeroRows(block.take(np.arange(0, len(block), 2)), bias)
    return _Beside(source, columns, zero, known if maximal else None, clock).settled(first, spread, is_patient)


def settle_beside(
    source: Source, columns: Ints, rows: Block, obstruction: Obstruction, *, bias: bool, maximal: bool, clock: Clock
) -> Settled | None:
    """Decide rows among which those of this obstruction cancel each other; None if this method cannot."""
    known = _equalities(rows, bias) if maximal else None
    if known is not None and known.add(rows) is None:
        return None
    return _Beside(source, columns, ZeroRows(rows, bias), known, clock).settled(obstruction, obstruction)


def settle_round(source: Source, columns: Ints, *, bias: bool, clock: Clock) -> Settled | None:
    """Decide rows none of which are known to cancel, by a working set in a basis in which they are round."""
    nothing = ZeroRows(source.take(np.zeros(0, np.int64)), bias)
    return _Beside(source, columns, nothing, None, clock).settled(None, None)


def _has_signs(form: Form, block: Block) -> bool:
    """Whether the form is not 0 on all rows of a block: floats know that of most."""
    return any(signs(form, values).any() for _, values in pieces(block.values))


def _equalities(block: Block, bias: bool) -> Equalities:
    return Equalities(_frame_of(block, bias))


def _frame_of(block: Block, bias: bool) -> Frame:
    """The columns that are not 0 on all of these rows, as they are."""
    used = np.flatnonzero(used_columns(block.values))
    return Frame(block.n_columns, used, np.zeros(len(used) + bias, np.int32), bias)


class ZeroRows:
    """Rows on which weights must be 0: independent ones that span them, as integers and as directions."""

    def __init__(self, block: Block, bias: bool) -> None:
        self.frame = _frame_of(block, bias)
        integers = self.frame.integers(block, np.zeros(self.frame.width, np.int64)).rows.tolist()
        kept = independent_rows(integers) if integers else []
        self.block, self.rows = block.take(np.array(kept, np.int64)), [integers[k] for k in kept]
        self._floats = np.array([_of_length_1(row) for row in self.rows]).reshape(len(kept), self.frame.width)
        with one_thread():
            self.directions: Floats = np.linalg.qr(self._floats.T)[0]

    @property
    def seconds_to_solve(self) -> float:
        """About how long it takes to make weights exactly 0 here, by the bits of a few rows."""
        longest = max((abs(n).bit_length() for row in self.rows[:LOOKED_AT] for n in row), default=0)
        return seconds_to_solve(len(self.rows), longest, len(self.rows) * (longest + len(self.rows).bit_length()))

    @cached_property
    def _chosen(self) -> list[int]:
        """The columns to solve for, chosen in floats so that they change least, with an exact inverse in integers."""
        from scipy.linalg import qr

        order = qr(self._floats, mode="r", pivoting=True)[1].tolist()
        return [order[k] for k in independent_columns([[row[k] for k in order] for row in self.rows])]

    def projected(self, w: Floats, b: float) -> tuple[Floats, float]:
        """Weights nearby that are 0 on the rows, as far as floats can tell."""
        used, bias = self.frame.columns, self.frame.bias
        own = np.append(w[used], b) if bias else w[used]
        own = own - self.directions @ (self.directions.T @ own)
        w = w.copy()
        w[used] = own[: len(used)]
        return w, float(own[-1]) if bias else b

    def solved(self, w: Floats, b: float) -> Form:
        """The weights as integers, exactly 0 on the rows: as many columns are solved for."""
        form = form_of_doubles(w, b)
        if not self.rows:
            return form
        whole = list(form.coefficients)
        places = [*self.frame.columns.tolist(), *([-1] if self.frame.bias else [])]
        rest = fmpz_mat(self.rows) * fmpz_mat([[whole[j]] for j in places])
        steps, denominator = solve(fmpz_mat([[row[k] for k in self._chosen] for row in self.rows]), rest)
        whole = [n * denominator for n in whole]
        for k, step in zip(self._chosen, steps.entries(), strict=True):
            whole[places[k]] -= int(step)
        whole = list(coprime(whole))
        return form_of(whole[:-1], whole[-1])


class _Beside:
    """The search for weights that are 0 on some rows and nowhere negative; on all others that `known` does not span,
    if it is given, positive.
    """

    def __init__(self, source: Source, columns: Ints, zero: ZeroRows, known: Equalities | None, clock: Clock) -> None:
        self.source, self.columns, self.zero, self.known, self.clock = source, columns, zero, known, clock
        self.bias = zero.frame.bias
        self.width = len(columns) + self.bias
        self.form: Form | None = None
        self.obstruction: Obstruction | None = None
        self.view: RoundView | None = None

    @np.errstate(all="ignore")
    def _view(self) -> RoundView | None:
        """A round basis for dense rows; None if they are too many, or too wide, to be converted."""
        sample = self.source.sample(FIRST_ROWS * self.width, seed=1)
        if sample.is_sparse or self.source.facts.is_streamed or self.source.n_rows * self.width**2 > MOST_PRODUCTS:
            return None
        self.clock.require(self.source.n_rows * self.width**2 / SPEED)
        frame = Frame.around(sample, self.columns, bias=self.bias)
        try:
            return RoundView(frame, round_basis(self.source, frame, sample), self.zero.block)
        except np.linalg.LinAlgError:
            return None

    @np.errstate(all="ignore")
    def settled(
        self, obstruction: Obstruction | None, spread: Obstruction | None, is_patient: bool = True
    ) -> Settled | None:
        """The answer with weights, for touching or separable rows; None if none are found."""
        self.obstruction = obstruction
        if not self._is_affordable(self.zero):
            return None
        try:
            with one_thread():
                self.view = self._view() if self.known is None else None
                is_found = self._walk(WALKS if is_patient else 1) or (is_patient and self._work())
        except np.linalg.LinAlgError:
            return None
        if not is_found or self.form is None:
            return None
        if not any(self.source.each(partial(_has_signs, self.form))):
            return None  # every row is a combination of those: they overlap, which other code proves
        *weights, constant = self.form.coefficients
        if self.obstruction is None:
            return Settled("separable", tuple(weights), constant)
        return Settled("touching", tuple(weights), constant, self.obstruction, None if self.known is None else spread)

    def _is_affordable(self, zero: ZeroRows) -> bool:
        return len(zero.rows) < self.width and zero.seconds_to_solve <= TOO_LONG

    def is_right(self, source: Source, w: Floats, b: float) -> bool:
        """Whether the weights, made exactly 0 on F, are what is looked for on the rows of this source."""
        if not (np.isfinite(w).all() and np.isfinite(b)):
            return False
        self.form = form = self.zero.solved(w, b)
        return all(source.each(partial(is_allowed, form, self.obstruction is not None, self.known)))

    def _walk(self, most: int) -> bool:
        """Walk, repeatedly while rows that cancel are found near the hyperplane; return whether there is an answer."""
        if self.view is None and self.obstruction is None:  # the plain walk has been tried before
            return False
        for left in reversed(range(most)):
            walk = _WeakRelaxation(self)
            try:
                walk.run(self.source, self.width)
            except GaveUpError:
                if not left or not self._widen(walk):
                    return False
            else:
                return True
        return False

    def _widen(self, walk: _WeakRelaxation) -> bool:
        """Add to F the rows next to the hyperplane that cancel modulo it; return whether there are such rows."""
        if self.view is None or self.obstruction is None or not np.isfinite(walk.w).all():
            return False
        _, _, scan = scan_safely(self.source, *walk.halfspace, worst=MORE_ROWS * self.width)
        self.clock.reads += 1
        near = self._outside(self.view, scan.worst)
        if not self._take(near.take(self._cancelling(self.view, near))):
            return False
        self.view = self.view.beside(self.zero.block)
        return True

    def _work(self) -> bool:
        """Solve for few rows; F grows by those that cancel modulo it. Return whether that led to an answer."""
        if self.view is None:
            return False
        working = self._looked_at(self.view, self.source.sample(FIRST_ROWS * self.width, seed=1))
        scans = 0
        while scans < ROUNDS:
            self.clock.check()
            answer = working.solve(self.clock)
            if not answer.is_solved:
                if not self._grow(working, answer):
                    return False
                working = self._looked_at(working.frame.beside(self.zero.block), working.block)
                continue
            w, b, scan = scan_safely(self.source, *working.frame.halfspace(answer.w), worst=MORE_ROWS * self.width)
            scans, self.clock.reads = scans + 1, self.clock.reads + 1
            others = np.flatnonzero(working.frame.outside(scan.worst))
            if (scan.worst_scores[others] > 0).all() and self.is_right(self.source, w, b):
                return True
            if not working.renew(answer.w, scan.worst.take(others)):
                return False
        return False

    def _looked_at(self, view: RoundView, block: Block) -> WorkingSet[RoundView]:
        return WorkingSet(view, self._outside(view, block))

    def _outside(self, view: RoundView, block: Block) -> Block:
        return block.take(np.flatnonzero(view.outside(block)))

    def _grow(self, working: WorkingSet[RoundView], answer: Shortest) -> bool:
        """Add to F the rows that cancel modulo it; return whether that helps."""
        u = np.where(working.matters, answer.multipliers, 0.0)
        if not np.linalg.norm(u @ working.z) < CANCELS * u.sum():
            return False
        if self.obstruction is None:
            self.obstruction = self._combination(working.block.take(np.flatnonzero(working.matters)))
            self.clock.met(self.obstruction)
        if self.obstruction is None:
            return False
        rows = np.union1d(np.flatnonzero(working.matters), self._cancelling(working.frame, working.block))
        return self._take(working.block.take(rows))

    def _cancelling(self, view: RoundView, block: Block) -> Ints:
        return cancelling(view, block, int(INDEPENDENT * (self.width - len(self.zero.rows))), self.clock)

    def _take(self, rows: Block) -> bool:
        """Add these rows to F, if that helps; return whether it does."""
        wider = ZeroRows(self.zero.block + rows, self.bias)
        if len(wider.rows) == len(self.zero.rows) or not self._is_affordable(wider):
            return False  # floats may take rows of its span for others
        self.zero = wider
        return True

    def _combination(self, rows: Block) -> Obstruction | None:
        """The positive integers with which few rows cancel exactly, if they do."""
        if len(rows) > FEW_ROWS:
            return None
        integers = Frame(rows.n_columns, self.columns, np.zeros(self.width, np.int32), self.bias).integers(rows)
        weights = null_combination(integers.rows.tolist())
        if weights is None or min(weights) <= 0:
            return None
        own = original_multipliers(weights, integers.row_exponents.tolist())
        return Obstruction(tuple(rows.row_numbers.tolist()), own)


class _WeakRelaxation(Relaxation):
    """A walk whose weights are 0 on some rows: those of a view that leaves them out, or after each pass."""

    def __init__(self, search: _Beside) -> None:
        place, bias = (Viewpoint(search.source.n_columns), search.bias) if search.view is None else (search.view, False)
        super().__init__(place, bias, search.clock, WORK * search.width**3)
        self.search = search

    def _pass(self, walkers: Walkers, factor: float) -> tuple[int, int]:
        counts = super()._pass(walkers, factor)
        if self.search.view is None:
            self.w[:], self.b[0] = self.search.zero.projected(self.w, float(self.b[0]))
        return counts

    def is_right(self, source: Source, scan: Scan) -> bool:
        """Whether the weights, made exactly 0 on the rows, are positive on those outside their span.

        Of the rows of F one is always a mistake, by a rounding: the scan says how far the mistakes are from that.
        """
        w, b = self.halfspace
        least = 0.0 if self.search.obstruction is None else ROUNDING * np.sqrt(scan.longest2 + 1)
        return not min(scan.lowest) < -least * np.hypot(np.linalg.norm(w), b) and self.search.is_right(source, w, b)


def _of_length_1(row: list[int]) -> Floats:
    longest = max(map(abs, row))
    floats = np.array([n / longest for n in row])
    return np.asarray(floats / np.linalg.norm(floats))
