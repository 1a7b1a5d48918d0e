"""Decide exactly what floats could not: the exact LP on some rows, and a check of its answer on all the others.

Each answer of the exact LP on the rows so far is checked on every row of the source, in exact arithmetic. Rows that
contradict it are added, and the LP continues from where it is. No row is added twice, so this ends.
"""

from collections.abc import Iterable
from functools import cached_property, partial

import numpy as np
import numpy.typing as npt

from linsep.exact import original_multipliers, original_weights
from linsep.proofs import Obstruction, checks
from linsep.signs import Form, form_of, scores, signs
from linsep.solvers.clock import Clock, OutOfTime
from linsep.solvers.exact.exact_lp import FEW_ROWS, ExactLP, three_way_in_int64
from linsep.solvers.exact.exact_outcomes import Settled, Stopped
from linsep.solvers.scaling import Frame
from linsep.sources.base import Block, Floats, Ints, Source


class ExactSearch:
    """The exact LP over the rows of a source."""

    def __init__(self, source: Source, columns: Ints, *, bias: bool, clock: Clock) -> None:
        self.source, self.clock = source, clock
        self.frame = Frame(source.n_columns, columns, np.zeros(len(columns) + bias, np.int32), bias)
        self.numbers: list[int] = []
        self.row_exponents: list[int] = []
        self.column_exponents: Ints = np.zeros(self.frame.width, np.int64)
        self.is_empty: npt.NDArray[np.bool_] = np.ones(self.frame.width, bool)  # columns with only zeros so far

    def run(self, rows: Block, hint: Iterable[int] = (), *, maximal: bool = False) -> Settled:
        """Decide all rows of the source, starting from these; `hint` are positions of likely basis rows.

        With `maximal`, the weights are positive on every row on which some weak separator is positive.
        """
        self._add(rows)
        basis = list(hint)
        try:
            while True:
                settled = self._in_source(self.lp.three_way(basis))
                basis = []
                against = self._contradictions(settled, maximal)
                if not len(against):
                    return settled
                self._add(self.source.take(against))
        except (Stopped, OutOfTime):
            self.clock.met(self._rows_of(self.lp.known))
            raise OutOfTime from None

    def run_in_int64(self, rows: Block) -> Settled | None:
        """Decide these rows, all that there are, if 64 bits are enough; else None."""
        if len(rows) > FEW_ROWS:
            return None
        integers = self.frame.integers(rows)
        if integers.rows.dtype != np.int64:
            return None
        outcome = three_way_in_int64(integers.rows)
        if outcome is None:
            return None
        self.column_exponents = integers.column_exponents
        self.numbers, self.row_exponents = rows.row_numbers.tolist(), integers.row_exponents.tolist()
        return self._in_source(outcome)

    @cached_property
    def lp(self) -> ExactLP:
        """The exact LP, made when it is needed: small tables never need it."""
        return ExactLP(self.frame.width, should_stop=self.clock.is_over)

    def _add(self, rows: Block) -> None:
        if self.is_empty.any():
            self._scale_empty_columns(rows)
        integers = self.frame.integers(rows, self.column_exponents)
        self.lp.add(integers.rows)
        self.numbers += rows.row_numbers.tolist()
        self.row_exponents += integers.row_exponents.tolist()

    def _scale_empty_columns(self, rows: Block) -> None:
        """Give a column that was zero in all rows so far the power of two that these rows need.

        Without it, a first entry of 2^900 would be an integer of 900 bits in every step to come.
        """
        integers = self.frame.integers(rows)
        self.column_exponents = np.where(self.is_empty, integers.column_exponents, self.column_exponents)
        self.is_empty &= ~(integers.rows != 0).any(axis=0)

    def _in_source(self, found: Settled) -> Settled:
        """What the LP found, in terms of the original rows and columns."""
        weights, bias_weight = found.weights, 0
        if weights:
            weights, bias_weight = self.frame.spread_out(original_weights(weights, self.column_exponents))
        first = self._rows_of(found.obstruction)
        spread = first if found.spread is found.obstruction else self._rows_of(found.spread)
        return Settled(found.kind, weights, bias_weight, first, spread)

    def _rows_of(self, found: Obstruction | None) -> Obstruction | None:
        if found is None:
            return None
        exponents = [self.row_exponents[i] for i in found.rows]
        rows = tuple(self.numbers[i] for i in found.rows)
        return Obstruction(rows, original_multipliers(found.weights, exponents))

    def _contradictions(self, settled: Settled, maximal: bool) -> Ints:
        """A few rows of the source that contradict the outcome; none if it holds for all."""
        if len(self.numbers) == self.source.n_rows:
            return np.zeros(0, np.int64)
        self.clock.reads += 1
        if settled.kind == "overlapping":
            return self._outside(settled)[: self._at_most]
        least = 1 if settled.kind == "separable" else 0
        form = form_of(settled.weights, settled.bias_weight)
        against = violated(self.source, form, least, self._at_most)
        if maximal and settled.kind == "touching" and not len(against):
            assert settled.spread is not None
            inside = checks.rows_outside_span(
                self.source, settled.spread.rows, self.frame.bias, on=form, most=self._at_most
            )
            return inside[: self._at_most]  # more may be possible there
        return against

    def _outside(self, settled: Settled) -> Ints:
        """Rows that are no linear combination of the spread's rows."""
        assert settled.spread is not None  # only separable rows have none
        rows, bias, most = settled.spread.rows, self.frame.bias, self._at_most
        return checks.rows_outside_span(self.source, rows, bias, most=most)

    @property
    def _at_most(self) -> int:
        return 2 * self.frame.width + 10


def violated(source: Source, form: Form, least: int, most: int | None = None) -> Ints:
    """The rows whose exact sign under the form is below `least`, the most violated first, and at most `most`."""
    found, badness = np.zeros(0, np.int64), np.zeros(0)
    for numbers, bad in source.each(partial(_violated_in, form, least, most)):
        found, badness = np.concatenate([found, numbers]), np.concatenate([badness, bad])
        worst = np.argsort(badness, kind="stable")[:most]
        found, badness = found[worst], badness[worst]
    return found


def _violated_in(form: Form, least: int, most: int | None, block: Block) -> tuple[Ints, Floats]:
    """The same for one block: the rows, and how they are violated."""
    numbers, values, y = block
    bad = np.flatnonzero(signs(form, values) * y < least)
    badness = scores(form, values[bad], steady=True)[0] * y[bad]
    worst = np.argsort(badness, kind="stable")[:most]
    return numbers[bad][worst], badness[worst]
