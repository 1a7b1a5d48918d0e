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

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linsep.certificates import Obstruction, Overlapping, Separable, Touching, Undecided, Verdict
from linsep.errors import ArgumentError
from linsep.proof_signs import form_of
from linsep.solvers.aliasing import INTERCEPT, Alias, find_aliases
from linsep.solvers.clock import Clock, OutOfTime
from linsep.solvers.exact_search import ExactSearch, Settled, violated
from linsep.solvers.frame import Frame
from linsep.solvers.mle_report import INTERCEPT_NAME, Dependence, MleReport, State
from linsep.solvers.recession import Cone, whole
from linsep.solvers.working_set import Separated, Stuck, search
from linsep.sources.base import Ints, Source
from linsep.sources.inputs import as_source
from linsep.sources.memory import MemorySource

FEW_ROWS, FEW_COLUMNS = 400, 18  # up to here the exact LP takes all rows at once


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
    repeated = [name for k, name in enumerate(chosen) if name in chosen[:k]]
    if repeated:
        raise ArgumentError(f"Two columns are called {repeated[0]!r}: each needs a name of its own.")
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
            aliases = find_aliases(self.source, bias=self.bias, clock=self.clock)
            states |= {alias.column: "aliased" for alias in aliases}
            kept = np.array([c for c in columns if c >= 0 and states[c] != "aliased"], np.int64)
            settled = self._settle(kept)
            verdict = self._verdict(settled)
            for column, state in self._states(settled, kept):
                states[column] = state
        except OutOfTime:
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

    def _settle(self, kept: Ints) -> Settled:
        """Separable, touching or overlapping; touching with the largest set of separated rows."""
        columns = kept if len(kept) + self.bias else np.arange(self.source.n_columns)  # all zero: nothing to drop
        exact = ExactSearch(self.source, columns, bias=self.bias, clock=self.clock)
        if self.source.n_rows <= FEW_ROWS and len(columns) <= FEW_COLUMNS:
            return exact.run(self.source.take(np.arange(self.source.n_rows)), maximal=True)
        found = search(self.source, columns, bias=self.bias, clock=self.clock)
        if isinstance(found, Separated):
            *weights, bias_weight = whole(np.append(found.w, found.b))
            return Settled("separable", tuple(weights), bias_weight)
        hint = found.hint if isinstance(found, Stuck) else np.arange(len(found.rows))
        return exact.run(found.rows, hint.tolist(), maximal=True)

    def _verdict(self, settled: Settled) -> Verdict:
        """The verdict, checked against the data."""
        verdict = self._unchecked(settled)
        verdict.verify(self.source)
        return verdict

    def _unchecked(self, settled: Settled) -> Verdict:
        facts = self._facts()
        if settled.obstruction is None or settled.spread is None:
            return Separable(weights=settled.weights, bias_weight=settled.bias_weight, **facts)
        obstruction = Obstruction(settled.obstruction.rows, settled.obstruction.weights)
        spread = Obstruction(settled.spread.rows, settled.spread.weights)
        if settled.kind == "overlapping":
            return Overlapping(obstruction=obstruction, spread=spread, **facts)
        return Touching(
            weights=settled.weights,
            bias_weight=settled.bias_weight,
            obstruction=obstruction,
            separated_rows=tuple(self._separated(settled).tolist()),
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

    def _states(self, settled: Settled, kept: Ints) -> list[tuple[int, State]]:
        """The states of the columns that are not aliased."""
        places = [*kept.tolist(), *([INTERCEPT] if self.bias else [])]
        if settled.kind == "overlapping":
            return [(column, "finite") for column in places]
        everywhere = (*settled.weights, settled.bias_weight)  # the bias last, where INTERCEPT points
        inside = tuple(everywhere[column] for column in places)
        return list(zip(places, self._cone(settled, kept).signs(inside), strict=True))

    def _cone(self, settled: Settled, kept: Ints) -> Cone:
        """The weak separators, given by the rows that are 0 under all of them and those that are not."""
        frame = Frame(self.source.n_columns, kept, np.zeros(len(kept) + self.bias, np.int32), self.bias)
        if settled.spread is None:
            return Cone(self.source, frame, self.source.take([]), self.clock)
        rows = self.source.take(self._separated(settled))
        strict = MemorySource(rows.table, rows.y, self.source.n_columns)
        return Cone(strict, frame, self.source.take(settled.spread.rows), self.clock)

    def _name(self, column: int) -> str:
        return INTERCEPT_NAME if column == INTERCEPT else self.names[column]

    def _dependence(self, alias: Alias) -> Dependence:
        return Dependence(self._name(alias.column), tuple((self._name(c), factor) for c, factor in alias.terms))
