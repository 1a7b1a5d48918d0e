"""What a logistic regression can estimate: the library's own words, a line for each coefficient, and the rows."""

from typing import Any

from rich import box
from rich.table import Table as Grid

from linsep.certificates import words
from linsep.cli import report, verdicts

SHOWN = 30  # up to here every coefficient is listed, beyond only those without a finite estimate
STYLES = {True: "green", False: "magenta", None: "yellow"}


def show(found: Any, subject: verdicts.Subject) -> None:
    """The whole report on what `mle_exists` found."""
    answer, *words = found.explain().splitlines()
    report.say(answer, STYLES[found.exists])
    for line in words:
        report.say(line)
    _listed(found.coefficients)
    if found.verdict.kind == "touching":
        verdicts.field("separated", _places(found.separated_rows, subject))
    verdicts.data(found.verdict)


def _listed(coefficients: dict[str, str]) -> None:
    everything = len(coefficients) <= SHOWN
    shown = {name: word for name, word in coefficients.items() if everything or word != "finite"}
    grid = Grid(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for head in ("coefficient", "estimate"):
        grid.add_column(head)
    for name, word in list(shown.items())[:SHOWN]:
        grid.add_row(report.printable(name), word)
    report.indented(grid, verdicts.INDENT)
    finite, hidden = len(coefficients) - len(shown), max(0, len(shown) - SHOWN)
    for number, what in ((hidden, "without a finite estimate"), (finite, "with a finite estimate")):
        if number:
            verdicts.field("", f"and {number:,} more, {what} (--json lists all)")


def _places(rows: tuple[int, ...], subject: verdicts.Subject) -> str:
    """The rows that make coefficients diverge, with their lines."""
    shown = rows[: words.SHOWN_ROWS]
    files, lines = subject.files(shown), subject.lines(shown)
    places = ", ".join(_place(row, files.get(row), lines.get(row)) for row in shown)
    more = f" and {len(rows) - len(shown):,} more" if len(rows) > len(shown) else ""
    return f"{'row' if len(rows) == 1 else 'rows'} {places}{more}"


def _place(row: int, file: str | None, line: int | None) -> str:
    """A row as people find it."""
    known = [*([report.printable(file)] if file else []), *([f"line {line}"] if line else [])]
    return f"{row} ({' '.join(known)})" if known else str(row)


def as_json(found: Any) -> dict[str, Any]:
    """The report as one JSON object."""
    rows = found.separated_rows
    return {
        "exists": found.exists,
        "kind": found.verdict.kind,
        "coefficients": dict(found.coefficients),
        "separated_rows": None if rows is None else [int(row) for row in rows],
        "rows": found.verdict.n_rows,
        "rows_left_out": found.verdict.rows_left_out,
        "reads": found.verdict.reads,
        "seconds": found.verdict.seconds,
    }
