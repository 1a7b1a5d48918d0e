"""What the logistic regression can estimate: a line for each coefficient, and what the words mean."""

from typing import Any

from rich import box
from rich.table import Table as Grid

from linsep.cli import report, verdicts

SHOWN = 30  # up to here every coefficient is listed, beyond only those without a finite estimate
MEANINGS = {
    "finite": "has a finite estimate",
    "+inf": "grows without end while the likelihood rises",
    "-inf": "falls without end while the likelihood rises",
    "undetermined": "has no single limit: it depends on the other coefficients",
    "aliased": "cannot be told apart from the other columns: it is a combination of them",
}
ANSWERS = {
    True: ("The maximum-likelihood estimate exists.", "green"),
    False: ("The maximum-likelihood estimate does not exist.", "magenta"),
    None: ("Undecided: whether the maximum-likelihood estimate exists is not known.", "yellow"),
}


def show(found: Any) -> None:
    """The whole report."""
    report.say(*ANSWERS[found.exists])
    verdicts.field("data are", verdicts.TITLES[found.verdict.kind])
    if found.coefficients:
        _listed(found.coefficients)
    if found.separated_rows:
        rows = report.count(len(found.separated_rows), "row")
        verdicts.field("fitted", f"the probabilities of {rows} tend to 0 or 1")
    if found.exists is False:
        verdicts.field("advice", "software that reports numbers here has stopped early: use a penalised estimate")
        verdicts.field("", "(Firth's or ridge), or drop or merge the columns with an infinite coefficient")
    verdicts.data(found.verdict)


def _listed(coefficients: dict[str, str]) -> None:
    everything = len(coefficients) <= SHOWN
    shown = {name: word for name, word in coefficients.items() if everything or word != "finite"}
    grid = Grid(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for head in ("coefficient", "estimate", ""):
        grid.add_column(head)
    for name, word in list(shown.items())[:SHOWN]:
        grid.add_row(report.printable(name), word, MEANINGS[word])
    report.indented(grid, verdicts.INDENT)
    finite, hidden = len(coefficients) - len(shown), max(0, len(shown) - SHOWN)
    for number, what in ((hidden, "more, without a finite estimate"), (finite, "more, with a finite estimate")):
        if number:
            verdicts.field("", f"and {number:,} {what} (--json lists all)")


def as_json(found: Any) -> dict[str, Any]:
    """The report as one JSON object."""
    rows = found.separated_rows
    return {
        "exists": found.exists,
        "kind": found.verdict.kind,
        "coefficients": dict(found.coefficients),
        "separated_rows": None if rows is None else [int(row) for row in rows],
        "reads": found.verdict.reads,
        "seconds": found.verdict.seconds,
    }
