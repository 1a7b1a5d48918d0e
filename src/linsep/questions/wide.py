"""Rows of many columns: one method after the other, from the fastest to the one that gets furthest.

    rows with both labels             the other rows, decided where the weights are 0 on these
    hundreds of columns               a separator by relaxation, which soon finds one or gives up
    columns of small rank             a few that span the others; what is found there is checked in all
    rows whose classes overlap        Newton's method: short weights and a positive-definite matrix
    rows that are far from round      the same rows from a basis in which they are round
    what is left                      a working set, and again Newton's method or the round basis from where it is stuck

A method that gets nowhere says so and leaves the rows to the next; what is found is proved.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from linsep.deadline import unlimited
from linsep.errors import CertificateError
from linsep.proofs import Obstruction, checks
from linsep.signs import form_of
from linsep.solvers.clock import Clock
from linsep.solvers.exact.exact_outcomes import Settled
from linsep.solvers.wide import newton
from linsep.solvers.wide.change_of_basis import WIDTHS
from linsep.solvers.wide.contradictions import Pair
from linsep.solvers.wide.few_columns import spanning_columns
from linsep.solvers.wide.relax import relax
from linsep.solvers.wide.short_weights import WIDE, Blocked
from linsep.solvers.wide.weak_relaxation import settle_beside, settle_pairs, settle_round
from linsep.solvers.working_set import Found, Separated, Stuck, search
from linsep.sources.base import Ints, Source

MANY_PAIRS = 64  # so many leave the other rows little room: if a walk does not settle them, all probably overlap
MOST_PAIRS = 1000  # of rows that occur with both labels: if there are more, they are treated like other rows
VERY_WIDE = 2000  # columns: from here on Newton's method is so slow that a small rank is looked for first
MANY_COLUMNS = 300  # from here on relaxation comes first
NEWTON_FIRST = 600  # columns: from here on Newton's method is faster than a working set if relaxation is stuck

InColumns = Callable[[Ints], Settled]


@dataclass(frozen=True, slots=True)
class WideRows:
    """Rows of a source that no single column can peel; without `three_way` any obstruction will do."""

    source: Source
    rows: Source
    columns: Ints
    bias: bool
    clock: Clock
    maximal: bool
    three_way: bool

    def settle(self, pairs: list[Pair], settle_in: InColumns) -> Settled | Found | None:
        """What one method after the other finds; None if none finds anything.

        `settle_in` decides the same rows in some of the columns.
        """
        found: Settled | Found | None = None
        if pairs:
            found = self.settle_pairs(pairs)
        elif len(self.columns) >= MANY_COLUMNS:
            found = relax(self.rows, bias=self.bias, clock=self.clock, in_use=len(self.columns))
        if (found is None or isinstance(found, Stuck)) and len(self.columns) >= VERY_WIDE:
            found = self.settle_in_few_columns(settle_in) or found
        if found is None:
            found = self.settle_by_newton(None, pairs)
        elif isinstance(found, Stuck) and len(self.columns) >= NEWTON_FIRST:
            found = self.settle_by_newton(found, pairs) or found
        if (found is None or isinstance(found, Stuck)) and len(self.columns) < VERY_WIDE:
            found = self.settle_in_few_columns(settle_in) or found
        if found is None or (isinstance(found, Stuck) and len(self.columns) >= NEWTON_FIRST):
            found = self.settle_round() or found  # Newton's method got nowhere: the rows are far from round
        if found is None or isinstance(found, Stuck):
            found = self.search(found, careful=False)
        return self.settle_stuck(found) if isinstance(found, Stuck) else found

    def settle_stuck(self, found: Stuck) -> Settled | Found:
        """Continue with rows that the working set could not settle."""
        again: Settled | Found | None
        if found.cancels:  # then they are more likely to overlap
            again = self.settle_by_newton(found) or self.settle_round()
        else:
            again = self.settle_round() or self.settle_by_newton(found)
        if again is not None or len(self.columns) in WIDTHS:
            return again or found
        return self.search(found, careful=True)

    def settle_by_newton(
        self, start: Stuck | None, pairs: list[Pair] | None = None
    ) -> Settled | Separated | Stuck | None:
        """What Newton's method finds, from the beginning or from where others are stuck; the `pairs` cancel."""
        known = self.rows.take(np.array(pairs).ravel()) if pairs else None
        options: Any = {"bias": self.bias, "clock": self.clock, "any_will_do": not self.three_way}
        options |= {"start": start, "known": known}
        found = newton.search(self.rows, self.columns, **options)
        if isinstance(found, Blocked):
            return self.settle_blocked(found)
        return None if start is not None and isinstance(found, Stuck) else found

    def settle_round(self) -> Settled | None:
        """What is found in a basis in which the rows are round; None if a maximal answer is asked for."""
        return None if self.maximal else settle_round(self.rows, self.columns, bias=self.bias, clock=self.clock)

    def search(self, start: Stuck | None, *, careful: bool) -> Found:
        """What the working set finds."""
        return search(self.rows, self.columns, bias=self.bias, clock=self.clock, careful=careful, start=start)

    def settle_blocked(self, found: Blocked) -> Settled | None:
        """What an obstruction settles; None if more must be known about the rows that it does not span."""
        others: newton.Weights | None = None
        whole = _obstruction_of(found)
        self.clock.met(whole)
        if self.three_way and found.dependences is None and len(found.weights) < len(self.columns) + self.bias + 1:
            if len(self.columns) < WIDE:
                return None
            options: Any = {"bias": self.bias, "maximal": self.maximal, "clock": self.clock}
            return settle_beside(self.rows, self.columns, found.rows, whole, **options)
        if self.three_way and found.dependences is not None:
            wider, others = newton.widened(self.rows, self.columns, found, bias=self.bias, clock=self.clock)
            if wider is None:
                return None
            whole = _obstruction_of(wider)
        if others is not None:
            return Settled("touching", *others, obstruction=whole, spread=whole)
        return Settled("overlapping", obstruction=whole, spread=whole)

    def settle_pairs(self, pairs: list[Pair]) -> Settled | None:
        """Decide rows of which some occur with both labels; None if this method does not apply.

        With very many of them the exact algebra takes longer than the methods for rows without any; with even more,
        they may span everything, which is soon known.
        """
        found: Settled | Separated | Stuck | None
        pair = Obstruction(pairs[0], (1, 1))
        if not self.three_way:
            return Settled("overlapping", obstruction=pair, spread=pair)
        self.clock.met(pair)
        if MOST_PAIRS < len(pairs) < len(self.columns) + self.bias:
            return None
        options: Any = {"bias": self.bias, "maximal": self.maximal, "clock": self.clock}
        if len(pairs) < MANY_PAIRS:
            return settle_pairs(self.rows, self.columns, pairs, **options)
        found = settle_pairs(self.rows, self.columns, pairs, **options, is_patient=False)
        found = found or self.settle_by_newton(None, pairs)
        return found if isinstance(found, Settled) else settle_pairs(self.rows, self.columns, pairs, **options)

    def settle_in_few_columns(self, settle_in: InColumns) -> Settled | None:
        """Decide rows of small rank in columns that span the others; None if there are none, or nothing is found."""
        few = spanning_columns(self.rows, self.columns, bias=self.bias, clock=self.clock)
        if few is None or len(few) >= len(self.columns) or not len(few) + self.bias:
            return None
        before = self.clock.obstruction
        try:
            settled = settle_in(few)
            return _as_combinations(settled) if self.holds(settled) else None
        finally:
            met, self.clock.obstruction = self.clock.obstruction, before  # in the other columns it may not hold
            if met is not None and self.cancels(met):
                self.clock.met(met)

    def cancels(self, known: Obstruction) -> bool:
        """Whether a combination is zero in all columns: fast enough to check even after the time limit."""
        try:
            with unlimited():
                checks.check_combination(self.source, known.rows, known.weights, self.bias, "obstruction")
        except CertificateError:
            return False
        return True

    def holds(self, settled: Settled) -> bool:
        """Whether what was found in some columns is true in all of them. A separator is: it has no other columns."""
        if settled.obstruction is None or settled.spread is None:
            return settled.obstruction is None
        if not (self.cancels(settled.obstruction) and self.cancels(settled.spread)):
            return False
        form = None if settled.kind == "overlapping" else form_of(settled.weights, settled.bias_weight)
        if form is not None and not self.maximal:
            return True
        return not len(checks.rows_outside_span(self.rows, settled.spread.rows, self.bias, on=form, most=1))


def _obstruction_of(found: Blocked) -> Obstruction:
    return Obstruction(tuple(found.rows.row_numbers.tolist()), found.weights, dependences=found.dependences)


def _as_combinations(settled: Settled) -> Settled:
    """The same with plain obstructions, which are known to cancel: dependences of a few columns do not hold for all."""
    plain = [None if o is None else replace(o, dependences=None) for o in (settled.obstruction, settled.spread)]
    return replace(settled, obstruction=plain[0], spread=plain[1])
