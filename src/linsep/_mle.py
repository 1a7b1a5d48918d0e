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
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from linsep import arguments
from linsep._decide import Case, part_of
from linsep.errors import ArgumentError
from linsep.mle_report import INTERCEPT_NAME, Dependence, MleReport, State
from linsep.proofs import Verdict
from linsep.proofs.verdicts import check
from linsep.solvers.aliasing import INTERCEPT, Alias, TooLarge, find_aliases
from linsep.solvers.clock import Clock, OutOfTime
from linsep.solvers.exact_outcomes import Settled
from linsep.solvers.recession import Cone
from linsep.solvers.scaling import Frame
from linsep.sources.base import Ints, Source
from linsep.sources.inputs import as_source


def mle_exists(
    X: Any,
    y: Any = None,
    names: Sequence[str] | None = None,
    *,
    bias: bool = True,
    time_limit: float | None = None,
    watch: Callable[[Clock], None] | None = None,
) -> MleReport:
    """Say whether the maximum likelihood estimate of a logistic regression exists, and which coefficients diverge.

    `names` are the names of the columns; a dataframe brings its own. The intercept, added unless `bias=False`, is
    called "(Intercept)". The report's `coefficients` map each name to "finite", "+inf", "-inf", "undetermined" (the
    estimate diverges, but separation alone does not say how) or "aliased" (a combination of earlier columns). All of
    it is decided in exact arithmetic; past `time_limit` seconds what is not proved is "unknown". `watch` is that of
    `decide`.

    >>> import linsep
    >>> report = linsep.mle_exists([[0, 3], [0, 5], [0, 6], [1, 2], [1, 6]], [0, 1, 0, 1, 1], ["treated", "age"])
    >>> report.exists, report.coefficients
    (False, {'(Intercept)': 'finite', 'treated': '+inf', 'age': 'finite'})
    >>> report.separated_rows
    (3, 4)
    """
    bias, limit = arguments.flag("bias", bias), arguments.seconds("time_limit", time_limit)
    source = as_source(X, y, decimals=True)
    regression = Regression(source, _names(source, names, bias), bias, Clock(limit, watch=watch))
    return regression.report()


def _names(source: Source, names: Sequence[str] | None, bias: bool) -> tuple[str, ...]:
    """The names of the columns of the source, which must tell them apart."""
    chosen = [source.facts.column_name(j) for j in range(source.n_columns)] if names is None else list(map(str, names))
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
        case = Case(self.source, self.bias, self.clock)
        verdict: Verdict | None = None
        try:
            settled = case.settle_while_reading()
            verdict = self._checked(case.verdict(settled))
            if settled.kind == "touching":
                case = replace(case, maximal=True)
                settled = case.settle()
                verdict = self._checked(case.verdict(settled))
            aliases = find_aliases(self.source, bias=self.bias, clock=self.clock)
            states |= {alias.column: "aliased" for alias in aliases}
            kept = [column for column in columns if states[column] != "aliased"]
            states |= zip(kept, self._states(case, settled, kept, aliases), strict=True)
        except (OutOfTime, TooLarge):
            verdict = verdict or self._checked(case.undecided())
        return MleReport(
            verdict=verdict,
            states=tuple((self._name(c), state) for c, state in states.items()),
            dependences=tuple(self._dependence(alias) for alias in aliases),
        )

    def _checked(self, verdict: Verdict) -> Verdict:
        check(verdict, self.source)
        return self._named(verdict)

    def _named(self, verdict: Verdict) -> Verdict:
        return replace(verdict, names=self.names)

    def _states(self, case: Case, settled: Settled, kept: list[int], aliases: tuple[Alias, ...]) -> Sequence[State]:
        """The states of the columns that are not aliased."""
        if settled.kind == "overlapping":
            return ["finite"] * len(kept)
        bias_last = sorted(kept, key=lambda column: column % (self.source.n_columns + 1))
        inside = _without((*settled.weights, settled.bias_weight), aliases)
        columns = np.array([column for column in bias_last if column != INTERCEPT], np.int64)
        found = self._cone(case, settled, columns).signs(tuple(inside[column] for column in bias_last))
        of = dict(zip(bias_last, found, strict=True))
        return [of[column] for column in kept]

    def _cone(self, case: Case, settled: Settled, columns: Ints) -> Cone:
        """The weak separators, given by the rows that are 0 under all of them and those that are not."""
        frame = Frame(self.source.n_columns, columns, np.zeros(len(columns) + self.bias, np.int32), self.bias)
        if settled.spread is None:
            return Cone(self.source, frame, self.source.take([]), self.clock)
        separated = part_of(self.source, case.separated(settled))
        return Cone(separated, frame, self.source.take(settled.spread.rows), self.clock)

    def _name(self, column: int) -> str:
        return INTERCEPT_NAME if column == INTERCEPT else self.names[column]

    def _dependence(self, alias: Alias) -> Dependence:
        own = self._scale(alias.column)  # the source holds columns times whole numbers: the user's are told of
        terms = ((self._name(c), factor * self._scale(c) / own) for c, factor in alias.terms)
        return Dependence(self._name(alias.column), tuple(terms))

    def _scale(self, column: int) -> int:
        scales = self.source.facts.scales
        return 1 if scales is None or column == INTERCEPT else scales[column]


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
