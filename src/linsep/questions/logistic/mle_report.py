"""The report on a regression: whether it has an estimate, what diverges and why, and what to do next."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Literal, NamedTuple, TypeAlias, final

import numpy as np

from linsep import arguments
from linsep.errors import ArgumentError
from linsep.proofs import NotSeparable, Overlapping, Separable, Undecided, Verdict
from linsep.proofs.named_rows import in_kept_numbers, in_own_numbers, labels_of_rows, shown_rows
from linsep.proofs.verdict_base import check
from linsep.proofs.verdicts import HalfspaceVerdict
from linsep.questions.logistic.fits import ELSEWHERE, OFFERED, Fit, firth_of, limits_of
from linsep.questions.logistic.likelihoods import INTERCEPT_NAME, Extras, Family, Likelihood, likelihood_of, pose
from linsep.report import (
    SHOWN,
    SHOWN_ROWS,
    TONES,
    Fact,
    Grid,
    Part,
    Report,
    Reported,
    RowNames,
    Sentence,
    Where,
    count,
    linear,
    listed,
    one_line,
    row_grid,
    rows_left_out,
)
from linsep.sources.base import Ints, Source
from linsep.tables.categories import Categories
from linsep.tables.given_rows import Given
from linsep.tables.row_ids import named_column

State: TypeAlias = Literal["finite", "+inf", "-inf", "undetermined", "aliased", "unknown"]

DIVERGING = ("+inf", "-inf", "undetermined")
SHOWN_COEFFICIENTS = 30  # up to here every coefficient is listed; of more, only those without a finite estimate
NOT_CONCAVE = ("cauchy",)  # links whose likelihood may have several maxima
ANSWERS = {True: "the estimate exists", False: "the estimate does not exist", None: "undecided"}
ADVICE = (
    "look at the separated rows first, for a column that encodes the outcome or a category too "
    "rare to have both outcomes (merge it with another, or leave the column out). If the separation is "
    "real, use an estimate that exists: Firth's penalised likelihood ({}), a Bayesian "
    "prior or a ridge penalty, with profile likelihood intervals instead of Wald's."
)


class Words(NamedTuple):
    """How the report says, for a family, why there is an estimate, why there is none, and which rows are the cause."""

    overlap: str
    separation: str
    rows: str
    kind: str = "separation"


WORDS: dict[Family, Words] = {
    "binomial": Words(
        "the classes overlap",
        "",
        "Rows that some hyperplane has strictly on the right side, with no row on the wrong side:",
    ),
    "poisson": Words(
        "no combination of the columns is 0 where y > 0 and negative where y = 0",
        "A combination of the columns is 0 wherever y > 0, never positive where y = 0, and negative on {}",
        "Rows with y = 0 whose fitted means tend to 0:",
    ),
    "multinomial": Words(
        "the classes overlap",
        "Along some direction no row's own class loses ground to another class, and on {} it gains on some class",
        "Rows where the fitted probability of some other class tends to 0:",
    ),
    "ordinal": Words(
        "the classes overlap",
        "Along some direction no row's score leaves the interval of its class, and on {} it moves "
        "away from an end of it",
        "Rows whose scores move away from a threshold forever:",
    ),
    "conditional": Words(
        "in no direction are all cases above the controls of their strata",
        "A combination of the columns is nowhere smaller for a case than for a control of the same "
        "stratum, and sets {} apart",
        "Rows whose outcome within their stratum becomes certain:",
    ),
    "cox": Words(
        "in no direction is every event above the rows at risk",
        "At every event, a combination of the columns is the largest of all rows at risk, and it is smaller on {}",
        "Rows whose share of a risk set tends to 0:",
        "monotone likelihood",
    ),
}


@final
@dataclass(frozen=True, slots=True)
class Dependence:
    """An aliased column: Σ factor·(earlier column) in every row, exactly; without terms it is zero."""

    name: str
    terms: tuple[tuple[str, Fraction], ...]
    within: str = ""  # for a model that compares rows: the equation holds up to a constant in each of these

    @property
    def is_constant(self) -> bool:
        """Whether the column is a multiple of the intercept."""
        return [name for name, _ in self.terms] == [INTERCEPT_NAME]

    def __str__(self) -> str:
        of_each = f" + a constant of each {self.within}" if self.within else ""
        return f"{self.name} = {linear(((factor, name) for name, factor in self.terms), SHOWN)}{of_each}"


@final
@dataclass(frozen=True, slots=True, repr=False)
class MleReport(Reported):
    """Does a regression have a maximum likelihood estimate, and which coefficients diverge?

    The proof is about rows made from the data as `linsep.questions.logistic.likelihoods` says; for a binomial model
    with two labels, they are the data themselves. `verify` makes them again and checks the proof.

    Attributes
    ----------
    verdict : a verdict
        The proof: of overlap (the estimate exists), of complete or quasi-complete separation (it does not).
    states : tuple
        The coefficients in order, the intercept first; `coefficients` is the same as a dictionary.
    dependences : mapping
        For each aliased column, which combination of earlier columns it is.
    family, modelled : str
        The family, and what is modelled: which label, against which.
    n_rows : int
        The rows of the data.
    separated_rows : tuple of int or None
        The largest set of rows that a direction along which the likelihood never falls puts strictly on their side;
        None if time ran out. They make coefficients diverge: some of their fitted probabilities (for counts, their
        means) tend to 0.
    reasons : tuple of str
        Sentences about categories and columns that separate rows on their own.
    likelihood, kept
        The model and its rows, for `limits` and `firth`.

    Examples
    --------
    >>> import linsep
    >>> report = linsep.mle_exists([[0], [1], [2], [3]], [0, 0, 1, 1], ["dose"])
    >>> report.exists, report.coefficients["dose"]
    (False, '+inf')
    """

    verdict: Verdict
    states: tuple[tuple[str, State], ...]
    dependences: tuple[Dependence, ...] = ()
    family: Family = "binomial"
    n_rows: int = 0
    separated_rows: tuple[int, ...] | None = None
    reasons: tuple[str, ...] = ()
    modelled: str = ""
    likelihood: Likelihood | None = field(default=None, compare=False, repr=False)
    kept: Ints | None = field(default=None, compare=False, repr=False)

    @property
    def exists(self) -> bool | None:
        """Whether the estimate exists (for the columns that are not aliased); None if that is not decided."""
        is_open = isinstance(self.verdict, NotSeparable | Undecided)
        return None if is_open else isinstance(self.verdict, Overlapping)

    @property
    def separated_ids(self) -> tuple[Any, ...] | None:
        """What the user calls the separated rows: their ids, or their numbers if they have none."""
        rows = self.separated_rows
        names = None if rows is None else self._names(rows)
        return rows if names is None or rows is None else names.ids(rows)

    def frame(self, X: Any, y: Any = None) -> Any:
        """The separated rows as a dataframe of the library of X, with `row` and `label`: see `Verdict.frame`.

        Without y the labels are those of the data that the report is about.
        """
        rows = self.separated_rows
        if rows is None:
            raise ArgumentError("Which rows are separated is not decided: allow more time.")
        n_rows = self._n_given
        known = y is None or self.kept is not None  # if rows were dropped, y has gaps too
        labels = self._data().labels_at(self._places(rows)) if known else labels_of_rows(X, y, rows, n_rows)
        return shown_rows(X, rows, {"label": labels}, n_rows, self._names(rows))

    def _places(self, rows: tuple[int, ...]) -> tuple[int, ...]:
        """The positions of rows among those that were not dropped."""
        return rows if self.kept is None else tuple(np.searchsorted(self.kept, rows).tolist())

    def _in_own_places(self, fit: Fit) -> Fit:
        """What is fitted, at the row numbers of the user's table."""
        return fit if self.kept is None else fit.spread(self.kept, self._n_given)

    @property
    def _n_given(self) -> int:
        """The number of rows of the user's table, from which some may have been dropped."""
        return self.n_rows + (0 if self.kept is None else self.verdict.rows_left_out)

    @property
    def _n_counted(self) -> int:
        """The number of rows that count: not of weight 0 and not without trials."""
        seen = None if self.likelihood is None else self.likelihood.observed
        return self.n_rows if seen is None else int(seen.counted.sum())

    def _names(self, rows: Sequence[int]) -> RowNames | None:
        """What the user calls these rows: looked up only when it is shown, since all rows may be separated."""
        ids = None if self.likelihood is None else self.likelihood.ids
        return None if ids is None else ids.names(rows)

    @property
    def rows_left_out(self) -> int:
        """How many rows were dropped or rejected, and so are not part of the answer."""
        return self.verdict.rows_left_out

    @property
    def coefficients(self) -> dict[str, State]:
        """Each coefficient: "finite", "+inf", "-inf", "undetermined", "aliased"; "unknown" when time ran out."""
        return dict(self.states)

    @property
    def direction(self) -> dict[str, int] | None:
        """Integers for the coefficients, along which the likelihood grows forever; None if there are none."""
        if not isinstance(self.verdict, HalfspaceVerdict):
            return None
        own = self.verdict.weights[self.verdict.n_columns - (len(self.states) - self.verdict.bias) :]
        weights = (*((self.verdict.bias_weight,) if self.verdict.bias else ()), *own)
        return {name: weight for (name, _), weight in zip(self.states, weights, strict=True)}

    def verify(
        self,
        X: Any,
        y: Any = None,
        *,
        trials: Any = None,
        weights: Any = None,
        offset: Any = None,
        strata: Any = None,
        time: Any = None,
        categories: Categories = "reference",
    ) -> None:
        """Make the rows of the proof again from the data, and check it against them in exact arithmetic.

        Parameters
        ----------
        X, y, trials, weights, offset, strata, time, categories
            As `mle_exists` took them. Rows with missing values are left out if they were.

        Raises
        ------
        CertificateError
            The proof does not hold.
        """
        has_intercept = any(name.rpartition(":")[2] == INTERCEPT_NAME for name, _ in self.states)
        bias = has_intercept if self.family == "multinomial" or isinstance(X, str) else self.verdict.bias
        table, missing = y if isinstance(X, str) else X, "drop" if self.kept is not None else None
        ids = None if isinstance(table, Source) else named_column(table, self._names(()))
        options = Extras(trials, weights, offset, strata, time)
        asked: dict[str, Any] = {"ids": ids, "categories": categories, "missing": missing}
        posed = pose(X, y, family=self.family, bias=bias, options=options, **asked)
        made = likelihood_of(posed)
        verdict = self.verdict if made.order is not None else in_kept_numbers(self.verdict, posed.rows.kept)
        check(replace(verdict, names=None), made.source)

    def in_own_numbers(self, rows: Given) -> "MleReport":
        """The same report with the row numbers of the user's table, of which some rows were dropped."""
        separated, kept = self.separated_rows, rows.kept
        if separated is not None and kept is not None:
            separated = tuple(kept[list(separated)].tolist())
        is_made = self.likelihood is None or self.likelihood.order is not None  # its rows have their own numbers
        verdict = self.verdict if is_made else in_own_numbers(self.verdict, rows)
        return replace(self, verdict=verdict, separated_rows=separated, kept=kept)

    def limits(self) -> Fit:
        """Find where the coefficients go as the likelihood tends to its supremum, and the fitted probabilities there.

        For the families "binomial" (with the logit link) and "poisson". If the estimate exists, the limit is the usual
        estimate.

        Returns
        -------
        Fit
            The limits, with the standard errors of the limiting conditional model.

        Raises
        ------
        InputError
            The family is another; the message says where to find its estimates.
        """
        likelihood = self._data()
        if self.separated_rows is None or "unknown" in self.coefficients.values():
            raise ArgumentError("What diverges is not decided: allow more time.")
        return self._in_own_places(limits_of(likelihood, self.states, self._places(self.separated_rows)))

    def firth(self, *, level: float = 0.95) -> Fit:
        """Fit Firth's penalised likelihood, whose estimates are finite whatever is separated.

        For the families "binomial" (with the logit link) and "poisson".

        Parameters
        ----------
        level : float
            Of the profile intervals.

        Returns
        -------
        Fit
            The estimates with their intervals, and the limits beside them.

        Raises
        ------
        InputError
            The family is another; the message says where to find its estimates.

        Examples
        --------
        >>> import linsep
        >>> fit = linsep.mle_exists([[0], [1], [2], [3]], [0, 0, 1, 1], ["dose"]).firth()
        >>> fit.facts()["level"]
        0.95
        """
        level, limits = arguments.part("level", level), self.limits()
        return self._in_own_places(firth_of(self._data(), self.states, level, limits))

    def table(self, *, level: float = 0.95) -> dict[str, list[Any]]:
        """Put both fits into one table: whether a coefficient diverges, its limit, Firth's estimate.

        Parameters
        ----------
        level : float
            Of the profile intervals.

        Returns
        -------
        dict of lists
            A list for each column, ready for a dataframe, as in `pandas.DataFrame(report.table())`. For families other
            than those of `firth` it has only the coefficients and whether they diverge. NaN stands where there is no
            number.
        """
        names, states = (list(column) for column in zip(*self.states, strict=True))
        if self.family not in OFFERED or self._data().link:
            return {"coefficient": names, "estimate": states}
        fit = self.firth(level=level)
        limits = () if fit.limits is None else fit.limits.estimates
        own = {"limit": [each.value for each in limits], "limit_error": [each.error for each in limits]}
        called = {"firth": "value", "firth_error": "error", "low": "low", "high": "high", "p_value": "p_value"}
        firths = {name: [getattr(each, key) for each in fit.estimates] for name, key in called.items()}
        return {"coefficient": names, "estimate": states, **own, **firths}

    def _data(self) -> Likelihood:
        if self.likelihood is None:
            raise ArgumentError("This report does not hold its data: call mle_exists again.")
        return self.likelihood

    def __repr__(self) -> str:
        finite = sum(state == "finite" for _, state in self.states)
        coefficients = f"{finite} of {count(len(self.states), 'coefficient')} finite"
        return one_line(self, ANSWERS[self.exists], self.verdict.kind, coefficients)

    def report(self, where: Where | None = None, firth: str = "report.firth()") -> Report:
        """The answer, what diverges, what to do next, the coefficients, and the rows behind it.

        `firth` says where Firth's estimates are found.
        """
        title, *geometry = self._existence()
        plain = [*self._of_what(), *map(Sentence, self.reasons), *map(Sentence, geometry)]
        sentences = [*plain, *self._divergence(), *self._aliasing(), *self._advice(firth)]
        parts = (*sentences, self._coefficients(), *self._separated(where), *rows_left_out(self.rows_left_out))
        return Report(title, parts, TONES[self.exists])

    def facts(self) -> dict[str, Any]:
        """The answer as plain values."""
        rows = self.separated_rows
        names = self._names(rows or ())
        return {
            "exists": self.exists,
            "family": self.family,
            "kind": self.verdict.kind,
            "coefficients": self.coefficients,
            "modelled": self.modelled,
            "reasons": list(self.reasons),
            "separated_rows": None if rows is None else list(rows),
            **({} if names is None else names.facts()),
            "rows": self.n_rows,
            "rows_left_out": self.verdict.rows_left_out,
            "reads": self.verdict.reads,
            "seconds": self.verdict.seconds,
        }

    def _existence(self) -> list[str]:
        """Whether the estimate exists, and why, in geometric terms."""
        if self.exists is None:
            reason = f"{self.verdict.reason} " if isinstance(self.verdict, NotSeparable | Undecided) else ""
            is_ruled_out = isinstance(self.verdict, NotSeparable) and self.family == "binomial"
            ruled_out = "Complete separation is ruled out (proved). " if is_ruled_out else ""
            return [f"Not decided. {reason}{ruled_out}It is not known whether the estimate exists: allow more time."]
        words = WORDS[self.family]
        if self.exists:
            link = "" if self.likelihood is None else self.likelihood.link
            is_unique = ", though with this link it may not be unique" if link in NOT_CONCAVE else " and is unique"
            return [
                f"The maximum likelihood estimate exists{is_unique}: {words.overlap}, "
                "and every coefficient that is not aliased is finite."
            ]
        number = None if self.separated_rows is None else len(self.separated_rows)
        of_them, n_rows = "some" if number is None else f"{number:,}", self._n_counted
        of_them = f"all {of_them} rows" if number == n_rows else f"{of_them} of the {count(n_rows, 'row')}"
        of_them += "" if n_rows == self.n_rows else " that count" if n_rows > 1 else " that counts"
        if self.family != "binomial":
            kind, way = words.kind, words.separation.format(of_them)
        elif isinstance(self.verdict, Separable):
            kind, way = "complete separation", f"A hyperplane has {of_them} strictly on the right side"
        else:
            kind = "quasi-complete separation"
            way = f"A hyperplane has {of_them} strictly on the right side, and the others lie on it"
        return [f"The maximum likelihood estimate does not exist: {kind}.", f"{way}, so the likelihood grows forever."]

    def _of_what(self) -> Iterable[Part]:
        if self.modelled:
            yield Fact("modelled", f"{self.modelled}.")
        if (n_rows := self.n_rows - self._n_counted) and self.likelihood and (seen := self.likelihood.observed):
            why = ["of weight 0"] if seen.options.weights is not None and not seen.options.weights.all() else []
            why += ["without trials"] if seen.counts is not None and not (seen.counts[0] + seen.counts[1]).all() else []
            do_not = "does not" if n_rows == 1 else "do not"
            yield Sentence(f"{count(n_rows, 'row')} {' or '.join(why)} {do_not} count.")

    def _divergence(self) -> Iterable[Part]:
        if self.exists is not False:
            return
        if up := self._named("+inf"):
            yield Sentence(f"Diverging to +infinity: {up}.", "+infinity")
        if down := self._named("-inf"):
            yield Sentence(f"Diverging to -infinity: {down}.", "-infinity")
        if either := self._named("undetermined"):
            yield Sentence(
                f"Undetermined: {either}. Among the directions along which the likelihood grows, some raise such a "
                "coefficient and some lower it; the value a program prints is where it happened to stop.",
                "undetermined",
            )
        if finite := self._named("finite"):
            yield Sentence(f"Finite nevertheless: {finite}.", "finite")
        if unknown := self._named("unknown"):
            yield Sentence(f"Not decided: {unknown}. More time or fewer columns would help.", "unknown")

    def _aliasing(self) -> Iterable[Part]:
        left_out = "It adds nothing to the columns before it and is left out, as R's glm does."
        for dependence in self.dependences[:SHOWN]:
            yield Sentence(f"Aliased: {dependence}. {left_out}", "aliased")
        if any(dependence.is_constant for dependence in self.dependences):
            yield Sentence("A column is constant: if it is meant to be the intercept, pass bias=False.")
        if len(self.dependences) > SHOWN:
            yield Sentence(f"{len(self.dependences) - SHOWN} more columns are aliased.")

    def _advice(self, firth: str) -> Iterable[Part]:
        if self.exists is False:
            yield Fact("what to do", ADVICE.format(ELSEWHERE.get(self.family, firth)))

    def _coefficients(self) -> Grid:
        """Every coefficient; if there are many, only those without a finite estimate."""
        few = len(self.states) <= SHOWN_COEFFICIENTS
        shown = [(name, state) for name, state in self.states if few or state != "finite"]
        hidden, finite = max(0, len(shown) - SHOWN_COEFFICIENTS), len(self.states) - len(shown)
        cut = [f"{hidden:,} more without a finite estimate"] if hidden else []
        cut += [f"{finite:,} more with a finite estimate"] if finite else []
        more = f"... and {' and '.join(cut)}." if cut else ""
        return Grid(("coefficient", "estimate"), tuple(shown[:SHOWN_COEFFICIENTS]), more)

    def _separated(self, where: Where | None) -> Iterable[Part]:
        """The rows that make coefficients diverge, unless all do."""
        if self.separated_rows and len(self.separated_rows) < self._n_counted:
            yield Sentence(WORDS[self.family].rows, "separated")
            yield row_grid(self.separated_rows, {}, where, self._names(self.separated_rows[:SHOWN_ROWS]))

    def _named(self, state: State) -> str:
        return listed(name for name, each in self.states if each == state)
