"""A promise: what a theorem says about a table, as a number with its statement, formula, conditions and source."""

import math
from dataclasses import asdict, dataclass
from decimal import Decimal
from typing import Any, Literal, TypeAlias

from linsep.report import Fact, Report, Reported, Sentence, count, one_line

Kind: TypeAlias = Literal["error", "probability", "updates", "bits"]
COIN = 0.5  # the error of tossing a coin, which needs no theorem


@dataclass(frozen=True, slots=True, repr=False)
class Promise(Reported):
    """What a theorem says about a table. It says something there if `value` is below `limit`.

    Attributes
    ----------
    name, about : str
        The theorem, and the hyperplane in question.
    kind : "error", "probability", "updates" or "bits"
        What the value is: an error is at most this part of new rows that are mistakes.
    value : float
        The number.
    statement, formula, conditions, source : str
        What it says, how the number is computed, when it holds, and where it is published.
    n : int or None
        The number of rows it is about.
    limit : float
        The promise says something if the value is below it.
    needs : int or None
        A number of rows that would be enough, while one less would not, if all else stayed the same (the rate of
        mistakes, the rows that matter, R/gamma); None if no number of rows is enough.

    Examples
    --------
    >>> from linsep import theory
    >>> theory.cover(40, 2)
    <Promise: Cover, 1.42e-09, says something>
    """

    name: str
    about: str
    kind: Kind
    value: float
    statement: str
    formula: str
    conditions: str
    source: str
    n: int | None = None
    limit: float = math.inf
    needs: int | None = None

    @property
    def says_something(self) -> bool:
        """Whether the number is better than what is true without a theorem."""
        return self.value < self.limit

    @property
    def word(self) -> str:
        """Whether it says something, in a word or three."""
        if self.says_something:
            return "says something"
        return f"not below {percent(self.limit)}" if self.kind == "error" and self.value < COIN else "vacuous"

    @property
    def here(self) -> str:
        """Whether it says something for this number of rows; if not, how many it needs."""
        if self.says_something:
            return self.word
        if self.needs is None:
            return f"{self.word} for any number of rows at this rate of mistakes"
        return f"{self.word} here: n is {self.n:,}, it needs {self.needs:,}"

    @property
    def number(self) -> str:
        """The value as people write it."""
        return shown_as(self.kind, self.value)

    def report(self) -> Report:
        """The theorem with these numbers."""
        here = () if self.says_something else (Sentence(f"This is {self.here}.", "here"),)
        facts = {"formula": self.formula, "if": self.conditions, "source": self.source}
        return Report(self.statement, (*here, *(Fact(*fact) for fact in facts.items())))

    def facts(self) -> dict[str, Any]:
        """The promise as plain values; None if there is no limit."""
        limit = self.limit if math.isfinite(self.limit) else None
        return {**asdict(self), "limit": limit, "says_something": self.says_something, "here": self.here}

    def __repr__(self) -> str:
        return one_line(self, self.name, self.number, self.here)


def percent(part: float) -> str:
    """A fraction as a percentage."""
    return f"{100 * part:.3g} %"


def shown_as(kind: Kind, value: float) -> str:
    """A value as people write it, by its kind."""
    match kind:
        case "error":
            return percent(value)
        case "probability":
            return f"{value:.3g}" if value else "1e-300"
        case _:
            return count(int(value), kind.removesuffix("s")) if value < 10**15 else f"{Decimal(value):.6g} {kind}"
