"""Does the maximum likelihood estimate of a logistic regression exist, and if not, which coefficients diverge?

Theorem (Albert and Anderson 1984). With columns that are linearly independent, the estimate exists, and is then
unique, if and only if the classes overlap: no w other than 0 has z_i·w >= 0 for every signed row z_i.

Otherwise such w form a cone C: along each of them the likelihood never falls, and it has no maximum. Let F be the
rows that are 0 under every w in C. They overlap, and have an estimate of their own, unique up to span(C). So along
every sequence of coefficients whose likelihoods tend to the supremum, scores of rows in F converge, and z_i·w of all
other rows grows beyond every bound. What this says about coefficient j can be read from C alone:

    w_j = 0 on all of C             "finite": e_j is a linear combination of rows of F, and converges as they do
    w_j >= 0 on C, and not always 0 "+inf": by Farkas e_j is, up to rows of F, a combination of the other rows with
                                     weights u_i >= 0, not all 0, and grows as they do, along every such sequence
    w_j <= 0 on C, and not always 0 "-inf"
    both signs occur in C           "undetermined": for each of +inf, -inf and any number, some such sequence has w_j
                                     tend to it. Separation alone does not say; an algorithm may still prefer one.

One weak separator in the relative interior of C is known from deciding. If its w_j is 0, both signs occur, or none
does; if not, one question is left: has some w in C the other sign? Each question is an exact LP.

A. Albert and J. Anderson, On the existence of maximum likelihood estimates in logistic regression models (1984).
C. Geyer, Likelihood inference in exponential families and directions of recession (2009).
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from linsep.certificates import Obstruction, Overlapping, Separable, Touching, Undecided, Verdict
from linsep.certificates.signs import form_of
from linsep.errors import ArgumentError
from linsep.solvers.aliasing import INTERCEPT, Alias, TooLarge, find_aliases
from linsep.solvers.clock import Clock, OutOfTime
from linsep.solvers.exact_search import Combination, ExactSearch, Settled, violated
from linsep.solvers.frame import Frame
from linsep.solvers.mle_report import INTERCEPT_NAME, Dependence, MleReport, State
from linsep.solvers.peel import lift, peel
from linsep.solvers.recession import Cone, whole
from linsep.solvers.working_set import Blocked, Found, Separated, Stuck, search, walk
from linsep.sources.base import Block, Ints, Source
from linsep.sources.inputs import as_source
from linsep.sources.memory import MemorySource

FEW_ROWS, FEW_COLUMNS = 400, 18  # up to here the exact LP takes all rows at once
MANY_COLUMNS = 1000  # from here on the Perceptron is asked first: with so many columns it often gets there


def mle_exists(
    X: Any,
    y: Any = None,
    names: Sequence[str] | None = None,
    *,
    bias: bool = True,
    time_limit: float | None = None,
) -> MleReport:
    """Say whether the maximum likelihood estimate of a logistic regression exists, and which coefficients diverge.

    `names` are the names of the columns; a dataframe brings its own. The intercept, added unless `bias=False`, is
    called "(Intercept)". The report's `coefficients` map each name to "finite", "+inf", "-inf", "undetermined" (the
    estimate diverges, but separation alone does not say how) or "aliased" (a combination of earlier columns). All of
    it is decided in exact arithmetic; past `time_limit` seconds what is not proved is "unknown".

    >>> import linsep
    >>> report = linsep.mle_exists([[0, 3], [0, 5], [0, 6], [1, 2], [1, 6]], [0, 1, 0, 1, 1], ["treated", "age"])
    >>> report.exists, report.coefficients
    (False, {'(Intercept)': 'finite', 'treated': '+inf', 'age': 'finite'})
    >>> report.separated_rows
    (3, 4)
    """
    if time_limit is not None and not time_limit >= 0:
        raise ArgumentError(f"time_limit is {time_limit}: it must be a number of seconds, or None.")
    source = as_source(X, y)
    regression = Regression(source, _names(source, names, bias), bias, Clock(time_limit))
    return regression.report()


def _names(source: Source, names: Sequence[str] | None, bias: bool) -> tuple[str, ...]:
    """The names of the columns of the source, which must tell them apart."""
    chosen = [source.column_name(j) for j in range(source.n_columns)] if names is None else list(map(str, names))
    if len(chosen) != source.n_columns:
        raise ArgumentError(f"{len(chosen)} names for {source.n_columns} columns: give one for each.")
    if bias and INTERCEPT_NAME in chosen:
        raise ArgumentError(f"A column is called {INTERCEPT_NAME!r}: say bias=False, or give it another name.")
    name, times = Counter(chosen).most_common(1)[0]
    if times > 1:
        raise ArgumentError(f"{times} columns are called {name!r}: each needs a name of its own.")
    return tuple(chosen)


@dataclass(frozen=True, slots=True)
class Regression:
    """The rows of a logistic regression, and the way from them to a report."""

    source: Source
    names: tuple[str, ...]
    bias: bool
    clock: Clock

    def report(self) -> MleReport:
        """The whole answer, every part of it proved or called unknown."""
        columns = [*([INTERCEPT] if self.bias else []), *range(self.source.n_columns)]
        states: dict[int, State] = dict.fromkeys(columns, "unknown")
        aliases: tuple[Alias, ...] = ()
        verdict: Verdict | None = None
        try:
            self._require_finite()
            settled = self._settle()
            verdict = self._verdict(settled)
            aliases = find_aliases(self.source, bias=self.bias, clock=self.clock)
            states |= {alias.column: "aliased" for alias in aliases}
            kept = [column for column in columns if states[column] != "aliased"]
            states |= zip(kept, self._states(settled, kept, aliases), strict=True)
        except (OutOfTime, TooLarge):
            verdict = verdict or self._undecided()
        return MleReport(
            verdict=verdict,
            states=tuple((self._name(c), state) for c, state in states.items()),
            dependences=tuple(self._dependence(alias) for alias in aliases),
        )

    def _require_finite(self) -> None:
        """One read of the rows that refuses NaN and infinity by name."""
        self.clock.reads += 1
        self.source.scan(np.zeros(self.source.n_columns), 0.0)

    def _settle(self) -> Settled:
        """Separable, touching or overlapping; touching with the largest set of separated rows.

        Peeling takes nothing from that set: every peeled row is in it, and the weak separators of the rest are those
        of all rows, as far as the rest is concerned.
        """
        source, nothing = self.source, (0,) * self.source.n_columns
        if source.n_rows <= FEW_ROWS and source.n_columns <= FEW_COLUMNS:
            return self._exact(source, np.arange(source.n_columns)).run(self._everything(), maximal=True)
        peeling = peel(source, bias=self.bias)
        if peeling.rest is None:
            return self._settle_rows(source, peeling.columns, self._search(source, peeling.columns))
        if not peeling.rest.size:
            return Settled("separable", *lift(source, peeling, nothing, 0))
        rest = self._rows(peeling.rest)
        guess = self._search(rest, peeling.columns)
        try:
            found = self._settle_rows(rest, peeling.columns, guess)
        except OutOfTime:
            if not isinstance(guess, Blocked):
                raise
            obstruction = Combination(tuple(guess.rows.row_numbers.tolist()), guess.weights)
            return Settled("touching", *lift(source, peeling, nothing, 0), obstruction)  # true, if not all there is
        lifted = lift(source, peeling, found.weights or nothing, found.bias_weight)
        if found.obstruction is None:
            return Settled("separable", *lifted)
        return Settled("touching", *lifted, found.obstruction, found.spread)

    def _search(self, rows: Source, columns: Ints) -> Found | None:
        """What floats find out about rows that no single column helps with; None if there are no columns."""
        if not len(columns) + self.bias:
            return None
        found: Found | None = None
        if len(columns) >= MANY_COLUMNS:
            found = walk(rows, bias=self.bias, clock=self.clock)
        return found or search(rows, columns, bias=self.bias, clock=self.clock)

    def _settle_rows(self, rows: Source, columns: Ints, found: Found | None) -> Settled:
        """Decide the rows, beginning with what floats found."""
        if found is None:  # rows of zeros alone: each is an obstruction, and all lie in its span
            zero = Combination((int(next(rows.blocks()).numbers[0]),), (1,))
            return Settled("overlapping", obstruction=zero, spread=zero)
        if isinstance(found, Separated):
            *weights, bias_weight = whole(np.append(found.w, found.b))
            return Settled("separable", tuple(weights), bias_weight)
        hint = found.hint if isinstance(found, Stuck) else np.arange(len(found.rows))
        return self._exact(rows, columns).run(found.rows, hint.tolist(), maximal=True)

    def _exact(self, rows: Source, columns: Ints) -> ExactSearch:
        return ExactSearch(rows, columns, bias=self.bias, clock=self.clock)

    def _everything(self) -> Block:
        return self.source.take(np.arange(self.source.n_rows))

    def _rows(self, numbers: Ints) -> Source:
        """Some of the rows, under the numbers they have."""
        block = self.source.take(numbers)
        return MemorySource(block.table, block.y, block.n_columns, numbers=numbers)

    def _verdict(self, settled: Settled) -> Verdict:
        """The verdict, checked against the data."""
        verdict = self._unchecked(settled)
        verdict.verify(self.source)
        return verdict

    def _unchecked(self, settled: Settled) -> Verdict:
        facts, weights, bias_weight = self._facts(), settled.weights, settled.bias_weight
        if settled.obstruction is None:
            return Separable(weights=weights, bias_weight=bias_weight, **facts)
        first = Obstruction(settled.obstruction.rows, settled.obstruction.weights)
        if settled.spread is None:
            return Touching(weights=weights, bias_weight=bias_weight, obstruction=first, **facts)
        spread = Obstruction(settled.spread.rows, settled.spread.weights)
        if settled.kind == "overlapping":
            return Overlapping(obstruction=first, spread=spread, **facts)
        strict = tuple(self._separated(settled).tolist())
        return Touching(
            weights=weights,
            bias_weight=bias_weight,
            obstruction=first,
            separated_rows=strict,
            spread=spread,
            **facts,
        )

    def _separated(self, settled: Settled) -> Ints:
        """The rows strictly on their side of the weak separator."""
        on_it = violated(self.source, form_of(settled.weights, settled.bias_weight), 1)
        return np.setdiff1d(np.arange(self.source.n_rows), on_it)

    def _undecided(self) -> Verdict:
        reason = f"The time limit of {self.clock.limit:g} seconds was over before anything was proved."
        return Undecided(reason=reason, **self._facts())

    def _facts(self) -> dict[str, Any]:
        """What every verdict states about the data and the work."""
        return {
            "n_rows": self.source.n_rows,
            "n_columns": self.source.n_columns,
            "bias": self.bias,
            "labels": self.source.labels,
            "names": self.names,
            "reads": self.clock.reads,
            "seconds": self.clock.seconds,
        }

    def _states(self, settled: Settled, kept: list[int], aliases: tuple[Alias, ...]) -> Sequence[State]:
        """The states of the columns that are not aliased."""
        if settled.kind == "overlapping":
            return ["finite"] * len(kept)
        if settled.kind == "touching" and settled.spread is None:
            raise OutOfTime  # what lies in the cone is not known
        bias_last = sorted(kept, key=lambda column: column % (self.source.n_columns + 1))
        inside = _without((*settled.weights, settled.bias_weight), aliases)
        columns = np.array([column for column in bias_last if column != INTERCEPT], np.int64)
        found = self._cone(settled, columns).signs(tuple(inside[column] for column in bias_last))
        of = dict(zip(bias_last, found, strict=True))
        return [of[column] for column in kept]

    def _cone(self, settled: Settled, columns: Ints) -> Cone:
        """The weak separators, given by the rows that are 0 under all of them and those that are not."""
        frame = Frame(self.source.n_columns, columns, np.zeros(len(columns) + self.bias, np.int32), self.bias)
        if settled.spread is None:
            return Cone(self.source, frame, self.source.take([]), self.clock)
        return Cone(self._rows(self._separated(settled)), frame, self.source.take(settled.spread.rows), self.clock)

    def _name(self, column: int) -> str:
        return INTERCEPT_NAME if column == INTERCEPT else self.names[column]

    def _dependence(self, alias: Alias) -> Dependence:
        return Dependence(self._name(alias.column), tuple((self._name(c), factor) for c, factor in alias.terms))


def _without(weights: Sequence[int], aliases: tuple[Alias, ...]) -> list[int]:
    """The same linear function of the rows, up to a positive factor, with weight 0 on aliased columns.

    The bias comes last, where INTERCEPT points.
    """
    total = [Fraction(weight) for weight in weights]
    for alias in aliases:
        weight, total[alias.column] = total[alias.column], Fraction(0)
        for column, factor in alias.terms:
            total[column] += weight * factor
    common = math.lcm(*(value.denominator for value in total))
    return [int(value * common) for value in total]
