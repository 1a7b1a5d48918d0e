"""A verdict as the commands print it: a small report on one screen, or one JSON object.

The words name what a person can look up: the line of the file, the label as it is written there, the column.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from rich import box
from rich.table import Table as Grid

from linsep.certificates import (
    HalfspaceVerdict,
    Obstruction,
    Overlapping,
    Separable,
    Touching,
    Undecided,
    Verdict,
    words,
)
from linsep.cli import report
from linsep.cli.tables import Table
from linsep.sources.files.source import FileSource

if TYPE_CHECKING:
    from linsep._margin import Novikoff

TITLES = words.TITLES
STYLES = {"separable": "green", "touching": "magenta", "overlapping": "magenta", "undecided": "yellow"}
NUMBERS = {
    "binary64": "read as binary64",
    "exact-integers": "read as integers, those beyond 2^53 kept exact",
    "decimal": "read as exact decimals",
}
SHOWN_DIGITS = 60  # of an exact margin
ENDLESS = 1e15  # updates from here on are not counted to the last
MAX_FRACTION_BITS = 10_000  # Python refuses to write more than 4,300 digits
INDENT = 13  # where the text of a field begins


@dataclass(frozen=True, slots=True)
class Subject:
    """What a verdict is about: rows, and the files that they are from."""

    table: Table

    def lines(self, rows: Sequence[int]) -> dict[int, int]:
        """The line of its file for each of these rows, where files have lines."""
        source = self.table.source
        return source.lines(rows) if isinstance(source, FileSource) else {}

    def files(self, rows: Sequence[int]) -> dict[int, str]:
        """The file that each of these rows is from, where there are several."""
        source = self.table.source
        if not isinstance(source, FileSource) or len(source.files) == 1:
            return {}
        return {row: source.where(row)[0] for row in rows}


def show(verdict: Verdict, subject: Subject, bound: "Novikoff | None" = None) -> None:
    """The whole report."""
    title(verdict)
    match verdict:
        case Separable():
            _separable(verdict, subject)
            if bound is not None:
                _bound(bound)
        case Touching():
            _touching(verdict, subject)
        case Overlapping():
            _overlapping(verdict, subject)
        case Undecided():
            _undecided(verdict)
    data(verdict)


def title(verdict: Verdict) -> None:
    """The verdict in both words, the library's and the statisticians'."""
    report.say(TITLES[verdict.kind], STYLES[verdict.kind])


def data(verdict: Verdict) -> None:
    """What was read, how, and at what cost."""
    size = f"{report.count(verdict.n_rows, 'row')}, {report.count(verdict.n_columns, 'column')}"
    left_out = f", {report.count(verdict.rows_left_out, 'row')} left out" if verdict.rows_left_out else ""
    bias = "" if verdict.bias else ", through the origin (no bias)"
    field("data", f"{size}{left_out}; numbers {NUMBERS[verdict.numbers]}{bias}")
    field("work", f"{report.count(verdict.reads, 'read')} of the whole data, {verdict.seconds:.3f} s")


def field(name: str, text: str) -> None:
    """A line of the report; without a name, the line before continues. On a terminal it is folded between words."""
    report.say(report.folded(f"{name:<{INDENT}}{text}", INDENT))


def _separable(verdict: Separable, subject: Subject) -> None:
    field("hyperplane", _equation(verdict))
    field("", words.sides(verdict))
    if verdict.margin is not None:
        _margin(verdict)
    if verdict.nearest is not None:
        field("nearest", f"{_rows(verdict.nearest)} that allow no larger margin:")
        _listed(verdict.nearest, subject)


def _margin(verdict: Separable) -> None:
    assert verdict.margin is not None
    low, high = verdict.margin
    field("margin", f"at least {low:.9g}" if math.isinf(high) else f"{low:.9g} to {high:.9g}")
    if (exact := _exact_margin(verdict)) and len(exact) <= SHOWN_DIGITS:
        field("", f"exactly the square root of {exact}")


def _exact_margin(verdict: Separable) -> str | None:
    """The square of the margin as a fraction, where it is known and its digits are not thousands."""
    square = verdict.gamma_squared
    if square is None or square.denominator.bit_length() + square.numerator.bit_length() > MAX_FRACTION_BITS:
        return None
    return str(square)


def _bound(bound: "Novikoff") -> None:
    most = bound.most_updates
    updates = f"at most {most:,} updates" if most < ENDLESS else f"at most about {Decimal(most):.3g} updates"
    field("bound", f"the Perceptron makes {updates}, in any order of the rows (Novikoff)")
    gamma = " to ".join(f"{end:.6g}" for end in bound.gamma)
    field("", f"(R/gamma)² with R = {bound.radius[1]:.6g} and gamma = {gamma}, both of the homogenised rows")


def _touching(verdict: Touching, subject: Subject) -> None:
    field("", words.meaning(verdict))
    field("hyperplane", _equation(verdict))
    field("", words.weak_sides(verdict))
    _obstruction(verdict, subject)


def _overlapping(verdict: Overlapping, subject: Subject) -> None:
    field("", words.meaning(verdict))
    _obstruction(verdict, subject)
    if verdict.spread != verdict.obstruction:
        field("spread", words.spread(verdict))


def _undecided(verdict: Undecided) -> None:
    low, high = verdict.margin
    field("reason", verdict.reason)
    field("", words.meaning(verdict))
    if low > 0 or math.isfinite(high):
        field("margin", f"believed to lie between {low:.6g} and {high:.6g}, if there is one")


def _obstruction(verdict: Touching | Overlapping, subject: Subject) -> None:
    field("obstruction", f"{words.statement(verdict, verdict.obstruction)}:")
    _listed(verdict.obstruction, subject)
    if mean := words.common_mean(verdict, verdict.obstruction, subject.table.source):
        field("", mean)


def _listed(combination: Obstruction, subject: Subject) -> None:
    """The first rows of a combination as a table, each with its share of its class."""
    assert combination.classes is not None and combination.shares is not None  # as in every verdict of `decide`
    shown = combination.rows[: words.SHOWN_ROWS]
    places: dict[str, Mapping[int, object]] = {"file": subject.files(shown), "line": subject.lines(shown)}
    grid = Grid(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for name in ["row", *(name for name, known in places.items() if known), "class", "share"]:
        grid.add_column(name, justify="right")
    for row, label, share in zip(shown, combination.classes, combination.shares, strict=False):
        where = [report.printable(str(known.get(row, "-"))) for known in places.values() if known]
        grid.add_row(str(row), *where, report.printable(str(label)), words.share_text(share))
    report.indented(grid, INDENT)
    if hidden := len(combination.rows) - len(shown):
        field("", f"and {hidden:,} more {'row' if hidden == 1 else 'rows'} (--json lists all)")


def _rows(combination: Obstruction) -> str:
    return report.count(len(combination.rows), "row")


def _equation(verdict: HalfspaceVerdict) -> str:
    rounded = " (rounded; the proof holds exact integers)" if words.is_rounded(verdict) else ""
    return f"{words.equation(verdict, words.column_names(verdict))} = 0{rounded}"


def as_json(verdict: Verdict, bound: "Novikoff | None" = None) -> dict[str, Any]:
    """The facts of the written proof (docs/certificate-format.md), and what scripts ask for first."""
    proof = json.loads(verdict.to_json())
    facts = {name: proof[name] for name in proof if name not in ("format", "version", "kind", "effort", "sha256")}
    summary = {"kind": verdict.kind, "separable": verdict.separable, **facts}
    if isinstance(verdict, HalfspaceVerdict):
        halfspace = verdict.halfspace
        summary["halfspace"] = {"w": halfspace.w.tolist(), "b": halfspace.b}
    if bound is not None:
        ends = {"radius": bound.radius, "gamma": bound.gamma, "bound": bound.bound}
        summary["novikoff"] = {name: [low, high if math.isfinite(high) else None] for name, (low, high) in ends.items()}
    if isinstance(verdict, Separable) and (exact := _exact_margin(verdict)):
        summary["gamma_squared"] = exact
    return {**summary, "reads": verdict.reads, "seconds": verdict.seconds}
