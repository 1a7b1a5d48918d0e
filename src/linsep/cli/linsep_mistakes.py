"""`linsep mistakes`: a hyperplane with few mistakes, and a proof of how few are possible."""

from fractions import Fraction
from typing import Annotated, Any

from cyclopts import Parameter

import linsep
from linsep.cli.answers import Question, timed
from linsep.cli.parameters import OF_A_FAULT, SEPARABLE, UNDECIDED, Bias, File, Label, Learning, Proof, Search, app
from linsep.errors import ArgumentError

SECONDS = 60.0
CODES = f"Exit codes: 0 no hyperplane does better, 2 bad input, 3 one may, {OF_A_FAULT}"


@app.command(help_epilogue=f"Example: linsep mistakes data.csv --label ill --cost yes=5 --cost no=1\n\n{CODES}")
def mistakes(
    *file: File,
    label: Label = None,
    bias: Bias = None,
    cost: Annotated[
        list[str] | None,
        Parameter(help="What a mistake about a class costs, as LABEL=NUMBER, once for each. [default: 1]", negative=""),
    ] = None,
    proof: Proof = None,
    search: Search = Search(),
    reading: Learning = Learning(),
) -> int:
    """Which hyperplane makes the fewest mistakes? One that makes few, and a proof of how few are possible.

    It stops after 60 seconds, or --time-limit; then, and after Ctrl-C, it says what is known.
    """
    question = Question(file, label, reading, search, proof)
    with question.asked("Searching", told=_ends, first="reading", ends="keeps both") as (table, data, watch):
        options: dict[str, Any] = {"cost": _costs(cost), "bias": table.chosen_bias(bias, file[0])}
        options["time_limit"] = SECONDS if search.time_limit is None else search.time_limit
        found = timed(table, linsep.fewest_mistakes, *data, watch=watch, **options)
    question.answer(found, table)
    return SEPARABLE if found.optimal else UNDECIDED


def _ends(search: Any) -> str:
    return f"best {search.best:g}, at least {search.lower:g}"


def _costs(given: list[str] | None) -> dict[str, Fraction] | None:
    """The costs of the classes, by what their labels are called."""
    if given is None:
        return None
    pairs = [one.rpartition("=") for one in given]
    try:
        found = {label: Fraction(number) for label, _, number in pairs}
    except (ValueError, ZeroDivisionError):
        found = {}
    if len(found) < len(given):
        raise ArgumentError(f"--cost {' '.join(given)}: write LABEL=NUMBER, once for each class.")
    return found
