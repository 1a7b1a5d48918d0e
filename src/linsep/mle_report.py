"""The answer of `mle_exists`: a frozen value, and what it means in plain words."""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, TypeAlias, final

from linsep.proofs import NotSeparable, Overlapping, Separable, Touching, Undecided, Verdict, explain
from linsep.report import (
    SHOWN,
    TONES,
    Fact,
    Grid,
    Part,
    Report,
    Reported,
    Sentence,
    Where,
    count,
    linear,
    listed,
    one_line,
    row_grid,
)

State: TypeAlias = Literal["finite", "+inf", "-inf", "undetermined", "aliased", "unknown"]

INTERCEPT_NAME = "(Intercept)"
SHOWN_COEFFICIENTS = 30  # up to here every coefficient is listed, beyond only those without a finite estimate
ANSWERS = {True: "the estimate exists", False: "the estimate does not exist", None: "undecided"}
ADVICE = (
    "look at the separated rows first, for a column that encodes the outcome or a category too "
    "rare to have both outcomes (merge it with another, or leave the column out). If the separation is "
    "real, use an estimate that exists: Firth's penalised likelihood (logistf or brglm2 in R), a Bayesian "
    "prior or a ridge penalty, with profile likelihood intervals instead of Wald's."
)


@final
@dataclass(frozen=True, slots=True)
class Dependence:
    """An aliased column: Σ factor·(earlier column) in every row, exactly; without terms it is zero."""

    name: str
    terms: tuple[tuple[str, Fraction], ...]

    @property
    def is_constant(self) -> bool:
        """Whether the column is a multiple of the intercept."""
        return [name for name, _ in self.terms] == [INTERCEPT_NAME]

    def __str__(self) -> str:
        return f"{self.name} = {linear(((factor, name) for name, factor in self.terms), SHOWN)}"


@final
@dataclass(frozen=True, slots=True, repr=False)
class MleReport(Reported):
    """Does the maximum likelihood estimate of a logistic regression exist, and which coefficients diverge?

    `verdict` is the proof: of overlap (the estimate exists), of complete or quasi-complete separation (it does not).
    `states` are the coefficients in order, the intercept first; `coefficients` is the same as a dictionary.
    `dependences` say for each aliased column which combination of earlier columns it is.
    """

    verdict: Verdict
    states: tuple[tuple[str, State], ...]
    dependences: tuple[Dependence, ...] = ()

    @property
    def exists(self) -> bool | None:
        """Whether the estimate exists (of the columns that are not aliased); None where that is not decided."""
        is_open = isinstance(self.verdict, NotSeparable | Undecided)
        return None if is_open else isinstance(self.verdict, Overlapping)

    @property
    def coefficients(self) -> dict[str, State]:
        """Each coefficient: "finite", "+inf", "-inf", "undetermined", "aliased"; "unknown" when time ran out."""
        return dict(self.states)

    @property
    def separated_rows(self) -> tuple[int, ...] | None:
        """The rows that some weak separator puts strictly on their side, as many as can be; None if time ran out.

        They are what makes coefficients diverge: the fitted probabilities of their labels tend to 1.
        """
        if isinstance(self.verdict, Touching):
            return self.verdict.separated_rows
        if isinstance(self.verdict, Separable):
            return tuple(range(self.verdict.n_rows))
        return () if self.exists else None

    def __repr__(self) -> str:
        finite = sum(state == "finite" for _, state in self.states)
        coefficients = f"{finite} of {count(len(self.states), 'coefficient')} finite"
        return one_line(self, ANSWERS[self.exists], self.verdict.kind, coefficients)

    def report(self, where: Where | None = None) -> Report:
        """The answer, what diverges, what to do next, the coefficients, and the rows behind it."""
        sentences = [*self._divergence(), *self._aliasing(), *self._advice()]
        parts = (*sentences, self._coefficients(), *self._separated(where), *explain.left_out(self.verdict))
        return Report(self._existence(), parts, TONES[self.exists])

    def facts(self) -> dict[str, Any]:
        """The answer as plain values."""
        rows = self.separated_rows
        return {
            "exists": self.exists,
            "kind": self.verdict.kind,
            "coefficients": self.coefficients,
            "separated_rows": None if rows is None else list(rows),
            "rows": self.verdict.n_rows,
            "rows_left_out": self.verdict.rows_left_out,
            "reads": self.verdict.reads,
            "seconds": self.verdict.seconds,
        }

    def _existence(self) -> str:
        n_rows = self.verdict.n_rows
        if self.exists is None:
            reason = f"{self.verdict.reason} " if isinstance(self.verdict, NotSeparable | Undecided) else ""
            return f"Not decided. {reason}This proves nothing about the estimate: allow more time."
        if self.exists:
            return (
                "The maximum likelihood estimate exists and is unique: the classes overlap, "
                "and every coefficient that is not aliased is finite."
            )
        if isinstance(self.verdict, Separable):
            return (
                "The maximum likelihood estimate does not exist: complete separation. "
                f"A hyperplane has all {n_rows} rows strictly on their side, so the likelihood grows for ever."
            )
        strict = "some" if self.separated_rows is None else len(self.separated_rows)
        return (
            "The maximum likelihood estimate does not exist: quasi-complete separation. "
            f"A hyperplane has {strict} of the {n_rows} rows strictly on their side "
            "and the others on itself, so the likelihood grows for ever."
        )

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
            yield Sentence(f"Finite in spite of that: {finite}.", "finite")
        if unknown := self._named("unknown"):
            yield Sentence(f"Not decided: {unknown}. More time or fewer columns would help.", "unknown")

    def _aliasing(self) -> Iterable[Part]:
        left_out = "It adds nothing to the columns before it and is left out, as R's glm does."
        for dependence in self.dependences[:SHOWN]:
            yield Sentence(f"Aliased: {dependence}. {left_out}", "aliased")
        if any(dependence.is_constant for dependence in self.dependences):
            yield Sentence("A column is constant: if it is meant to be the intercept, say bias=False.")
        if len(self.dependences) > SHOWN:
            yield Sentence(f"{len(self.dependences) - SHOWN} more columns are aliased.")

    def _advice(self) -> Iterable[Part]:
        if self.exists is False:
            yield Fact("what to do", ADVICE)

    def _coefficients(self) -> Grid:
        """Every coefficient; of many, those without a finite estimate."""
        few = len(self.states) <= SHOWN_COEFFICIENTS
        shown = [(name, state) for name, state in self.states if few or state != "finite"]
        hidden, finite = max(0, len(shown) - SHOWN_COEFFICIENTS), len(self.states) - len(shown)
        cut = [f"{hidden:,} more without a finite estimate"] if hidden else []
        cut += [f"{finite:,} more with a finite estimate"] if finite else []
        more = f"... and {' and '.join(cut)}." if cut else ""
        return Grid(("coefficient", "estimate"), tuple(shown[:SHOWN_COEFFICIENTS]), more)

    def _separated(self, where: Where | None) -> Iterable[Part]:
        """The rows that make coefficients diverge, where they are not all."""
        if isinstance(self.verdict, Touching) and self.verdict.separated_rows:
            yield Sentence(
                "Rows that some hyperplane has strictly on their side, and none on its wrong side:", "separated"
            )
            yield row_grid(self.verdict.separated_rows, {}, where)

    def _named(self, state: State) -> str:
        return listed(name for name, each in self.states if each == state)
