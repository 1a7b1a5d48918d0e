"""Does the maximum likelihood estimate of a logistic regression exist, and if not, which coefficients diverge?

Theorem (Albert and Anderson 1984). With columns that are linearly independent, the estimate exists, and is then
unique, if and only if the classes overlap: no w other than 0 has z_i·w >= 0 for every signed row z_i.

Otherwise such w form a cone C: along each of them the likelihood never falls, and it has no maximum. Let F be the
rows that are 0 under every w in C. They overlap, and have an estimate of their own, unique up to span(C). So along
every sequence of coefficients whose likelihoods tend to the supremum, the scores of the rows in F converge, and z_i·w
grows beyond every bound for all other rows. What this says about coefficient j depends on C alone:

    w_j = 0 on all of C             "finite": e_j is a linear combination of rows of F, and converges as they do
    w_j >= 0 on C, and not always 0 "+inf": by Farkas e_j is, up to rows of F, a combination of the other rows with
                                     weights u_i >= 0, not all 0, and grows as they do, along every such sequence
    w_j <= 0 on C, and not always 0 "-inf"
    both signs occur in C           "undetermined": for each of +inf, -inf and any number, along some such sequence
                                     w_j tends to it. Separation alone does not decide; an algorithm may prefer one.

Deciding has found one weak separator in the relative interior of C. If its w_j is 0, both signs occur, or neither;
if not, one question is left: does some w in C have the other sign? Each question is an exact LP.

A. Albert and J. Anderson, On the existence of maximum likelihood estimates in logistic regression models (1984).
C. Geyer, Likelihood inference in exponential families and directions of recession (2009).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from linsep import arguments
from linsep.errors import OutOfMemoryError
from linsep.proofs import Overlapping, Separable, Touching, Verdict
from linsep.proofs.verdict_base import check
from linsep.questions.decide import Case, part_of
from linsep.questions.logistic.likelihoods import INTERCEPT_NAME, Extras, Family, Likelihood, likelihood_of, pose
from linsep.questions.logistic.mle_report import DIVERGING, Dependence, MleReport, State
from linsep.questions.logistic.reasons import modelled, reasons
from linsep.solvers.clock import Clock, OutOfTime
from linsep.solvers.exact.aliasing import INTERCEPT, Alias, TooLarge, find_aliases
from linsep.solvers.exact.exact_outcomes import Settled
from linsep.solvers.exact.recession import Cone
from linsep.solvers.scaling import Frame
from linsep.sources.base import Ints, Source
from linsep.tables.categories import Categories
from linsep.tables.given_rows import Missing

LEVELS = {"conditional": "stratum", "cox": "stratum"}  # the groups within which rows are compared


def mle_exists(
    X: Any,
    y: Any = None,
    names: Sequence[str] | None = None,
    *,
    family: Family = "binomial",
    trials: Any = None,
    weights: Any = None,
    offset: Any = None,
    strata: Any = None,
    time: Any = None,
    bias: bool = True,
    ids: Any = None,
    categories: Categories = "reference",
    missing: Missing = None,
    time_limit: float | None = None,
    watch: Callable[[Clock], None] | None = None,
) -> MleReport:
    """Decide whether a regression has a maximum likelihood estimate, and which coefficients diverge.

    Everything is decided in exact arithmetic.

    Parameters
    ----------
    X, y : the rows and the outcome
        As `decide` takes them. Or a formula and a table, as in `mle_exists("died ~ age + C(site)", frame)`; or only X,
        a model of statsmodels or its result.
    names : sequence of str or None
        The names of the columns; a dataframe has its own. The intercept is called "(Intercept)".
    family : what y is
        "binomial": two labels, or counts, with any link (logit, probit, complementary log-log). "poisson": counts or
        amounts with a log link, also negative binomial. "multinomial": classes, each compared with the first.
        "ordinal": ordered classes, in a cumulative model. "conditional": two labels within strata. "cox": y says
        whether there was an event (1) or the row was censored (0).
    trials : the number of trials of each row, of which y counts the successes
        Instead, y may have two columns, successes and failures.
    weights : frequencies or other weights of the rows
        A row of weight 0 does not count. Other weights change estimates, but not whether they exist.
    offset : known parts of the scores
        They do not affect whether estimates exist.
    strata : the stratum of each row ("conditional", "cox")
        As `time`.
    time : when the event or the censoring of each row was ("cox")
        Each of the last five is a value for each row, or the name of a column of X, which is then not a predictor.
    bias : bool
        False leaves the intercept out.
    ids, missing, watch
        As `decide` takes them.
    categories : "reference", "all", a dictionary, or None
        As `decide` takes it, but the default encodes categories.
    time_limit : float or None
        Seconds; what is not proved in this time is "unknown".

    Returns
    -------
    MleReport
        Its `coefficients` map each name to "finite", "+inf", "-inf", "undetermined" (the estimate diverges, but
        separation alone does not say how), "aliased" (a combination of earlier columns) or "unknown".

    Raises
    ------
    InputError
        The data cannot be used, or do not suit the family.

    Examples
    --------
    >>> import linsep
    >>> report = linsep.mle_exists([[0, 3], [0, 5], [0, 6], [1, 2], [1, 6]], [0, 1, 0, 1, 1], ["treated", "age"])
    >>> report.exists, report.coefficients
    (False, {'(Intercept)': 'finite', 'treated': '+inf', 'age': 'finite'})
    >>> report.separated_rows
    (3, 4)
    >>> linsep.mle_exists([[0], [0], [1], [1]], [2, 3, 0, 0], ["site"], family="poisson").coefficients
    {'(Intercept)': 'finite', 'site': '-inf'}
    """
    bias, limit = arguments.flag("bias", bias), arguments.seconds("time_limit", time_limit)
    options, asked = Extras(trials, weights, offset, strata, time), {"ids": ids, "missing": missing}
    posed = pose(X, y, names, family=family, bias=bias, options=options, categories=categories, **asked)
    with posed.rows.numbered():
        found = Regression(likelihood_of(posed), Clock(limit, watch=watch)).report()
    return found if posed.rows.kept is None else found.in_own_numbers(posed.rows)


@dataclass(frozen=True, slots=True)
class Regression:
    """A likelihood, and the way from its rows to a report."""

    likelihood: Likelihood
    clock: Clock

    @property
    def source(self) -> Source:
        """The rows of the question."""
        return self.likelihood.source

    @property
    def bias(self) -> bool:
        """Whether the rows have a bias, which is then the intercept."""
        return self.likelihood.bias

    def report(self) -> MleReport:
        """The whole answer, every part of it proved or "unknown"."""
        hidden = range(self.likelihood.hidden)
        columns = [*hidden, *([INTERCEPT] if self.bias else []), *range(len(hidden), self.source.n_columns)]
        states: dict[int, State] = dict.fromkeys(columns, "unknown")
        aliases: tuple[Alias, ...] = ()
        case = Case(self.source, self.bias, self.clock)
        verdict: Verdict | None = None
        try:
            with self.clock.limited():
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
        except OutOfMemoryError as error:
            verdict = verdict or self._checked(case.out_of_memory(error))
        named = tuple((self._name(c), state) for c, state in states.items() if c not in hidden)
        separated = self._separated(verdict)
        return MleReport(
            verdict=verdict,
            states=named,
            dependences=tuple(self._dependence(alias) for alias in aliases),
            family=self.likelihood.family,
            n_rows=self.likelihood.n_rows,
            separated_rows=separated,
            modelled=modelled(self.likelihood),
            reasons=reasons(self.likelihood, named, separated) if any(s in DIVERGING for _, s in named) else (),
            likelihood=self.likelihood,
        )

    def _separated(self, verdict: Verdict) -> tuple[int, ...] | None:
        """The user's rows that are separated, as many as can be; None if that is not known."""
        match verdict:
            case Touching():
                rows = verdict.separated_rows
                return None if rows is None else self.likelihood.separated(np.array(rows, np.int64))
            case Separable():
                return self.likelihood.separated(np.arange(self.source.n_rows))
            case Overlapping():
                return ()
            case _:
                return None

    def _checked(self, verdict: Verdict) -> Verdict:
        check(verdict, self.source)
        return self._named(verdict.called(self.source.facts.ids))

    def _named(self, verdict: Verdict) -> Verdict:
        hidden = (f"threshold {k + 1}" for k in range(self.likelihood.hidden))
        return replace(verdict, names=(*hidden, *self.likelihood.names))

    def _states(self, case: Case, settled: Settled, kept: list[int], aliases: tuple[Alias, ...]) -> Sequence[State]:
        """The states of the columns that are not aliased."""
        if settled.kind == "overlapping":
            return ["finite"] * len(kept)
        bias_last = sorted(kept, key=lambda column: column % (self.source.n_columns + 1))
        inside = _without((*settled.weights, settled.bias_weight), aliases)
        columns = np.array([column for column in bias_last if column != INTERCEPT], np.int64)
        asked = [place for place, column in enumerate(bias_last) if not 0 <= column < self.likelihood.hidden]
        found = self._cone(case, settled, columns).signs(tuple(inside[column] for column in bias_last), asked)
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
        hidden = self.likelihood.hidden
        if column == INTERCEPT:
            return INTERCEPT_NAME
        return self.likelihood.names[column - hidden] if column >= hidden else ""

    def _dependence(self, alias: Alias) -> Dependence:
        own = self._scale(alias.column)  # the source has multiplied the columns by whole numbers; show the user's
        terms = [(self._name(c), factor * self._scale(c) / own) for c, factor in alias.terms]
        within = LEVELS.get(self.likelihood.family, "")
        return Dependence(self._name(alias.column), tuple(term for term in terms if term[0]), within)

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
