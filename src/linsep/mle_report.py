"""The answer of `mle_exists`: a frozen value, and what it means in plain words."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Literal, TypeAlias, final

from linsep.certificates import Overlapping, Separable, Touching, Undecided, Verdict

if TYPE_CHECKING:
    from rich.console import RenderableType

State: TypeAlias = Literal["finite", "+inf", "-inf", "undetermined", "aliased", "unknown"]

INTERCEPT_NAME = "(Intercept)"
SHOWN = 8  # items of a list before it is cut with a count


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
        shown = [(" - " if factor < 0 else " + ") + _times(abs(factor)) + name for name, factor in self.terms[:SHOWN]]
        text = "".join(shown) or " + 0"
        text = "-" + text[3:] if text.startswith(" - ") else text[3:]
        more = f" + ... ({len(self.terms) - SHOWN} more terms)" if len(self.terms) > SHOWN else ""
        return f"{self.name} = {text}{more}"


@final
@dataclass(frozen=True, slots=True)
class MleReport:
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
        return None if self.verdict.separable is None else isinstance(self.verdict, Overlapping)

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

    def explain(self) -> str:
        """The answer in plain words, and what to do next."""
        return "\n".join([*self._existence(), *self._divergence(), *self._aliasing(), *self._advice()])

    def _existence(self) -> Iterable[str]:
        n_rows = self.verdict.n_rows
        if self.exists is None:
            reason = f"{self.verdict.reason} " if isinstance(self.verdict, Undecided) else ""
            yield f"Not decided. {reason}This proves nothing: allow more time."
        elif self.exists:
            yield (
                "The maximum likelihood estimate exists and is unique: the classes overlap, "
                "and every coefficient that is not aliased is finite."
            )
        elif isinstance(self.verdict, Separable):
            yield (
                "The maximum likelihood estimate does not exist: complete separation. "
                f"A hyperplane has all {n_rows} rows strictly on their side, so the likelihood grows for ever."
            )
        else:
            strict = "some" if self.separated_rows is None else len(self.separated_rows)
            yield (
                "The maximum likelihood estimate does not exist: quasi-complete separation. "
                f"A hyperplane has {strict} of the {n_rows} rows strictly on their side "
                "and the others on itself, so the likelihood grows for ever."
            )

    def _divergence(self) -> Iterable[str]:
        if self.exists is not False:
            return
        if up := self._named("+inf"):
            yield f"Diverging to +infinity: {up}."
        if down := self._named("-inf"):
            yield f"Diverging to -infinity: {down}."
        if either := self._named("undetermined"):
            yield (
                f"Undetermined: {either}. Among the directions along which the likelihood grows, some raise such a "
                "coefficient and some lower it; the value a program prints is where it happened to stop."
            )
        if finite := self._named("finite"):
            yield f"Finite in spite of that: {finite}."
        if unknown := self._named("unknown"):
            yield f"Not decided: {unknown}. More time or fewer columns would help."

    def _aliasing(self) -> Iterable[str]:
        for dependence in self.dependences[:SHOWN]:
            yield f"Aliased: {dependence}. It adds nothing to the columns before it and is left out, as R's glm does."
        if any(dependence.is_constant for dependence in self.dependences):
            yield "A column is constant: if it is meant to be the intercept, say bias=False."
        if len(self.dependences) > SHOWN:
            yield f"{len(self.dependences) - SHOWN} more columns are aliased."

    def _advice(self) -> Iterable[str]:
        if self.exists is not False:
            return
        yield (
            "What to do: look at the separated rows first, for a column that encodes the outcome or a category too "
            "rare to have both outcomes (merge it with another, or leave the column out). If the separation is "
            "real, use an estimate that exists: Firth's penalised likelihood (logistf or brglm2 in R), a Bayesian "
            "prior or a ridge penalty, with profile likelihood intervals instead of Wald's."
        )

    def _named(self, state: State) -> str:
        return _listed([name for name, each in self.states if each == state])

    def __rich__(self) -> "RenderableType":
        from rich.console import Group
        from rich.panel import Panel
        from rich.table import Table
        from rich.text import Text

        table = Table("coefficient", "estimate", box=None)
        for name, state in self.states:
            table.add_row(Text(name), Text(state))
        return Panel(Group(Text(self.explain()), Text(), table), title=self._title(), title_align="left")

    def _repr_html_(self) -> str:
        from html import escape

        paragraphs = "".join(f"<p>{escape(line)}</p>" for line in self.explain().splitlines())
        rows = "".join(f"<tr><th>{escape(name)}</th><td>{state}</td></tr>" for name, state in self.states)
        return f'<div class="linsep-mle"><strong>{self._title()}</strong>{paragraphs}<table>{rows}</table></div>'

    def _title(self) -> str:
        answers = {True: "the estimate exists", False: "the estimate does not exist", None: "undecided"}
        return answers[self.exists]


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more


def _times(factor: Fraction) -> str:
    """The factor before a name: none if it is 1, exact while it is short."""
    if factor == 1:
        return ""
    if max(factor.numerator, factor.denominator) < 10**9:
        return f"{factor}·"
    try:
        return f"{float(factor):.6g}·"
    except OverflowError:
        return f"2^{factor.numerator.bit_length() - factor.denominator.bit_length()}·"
