"""A verdict as the commands print it: a small report on one screen, or one JSON object.

The words name what a person can look up: the line of the file, the label as it is written there, the column.
"""

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
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

TITLES = {
    "separable": "separable (complete separation)",
    "touching": "touching (quasi-complete separation)",
    "overlapping": "overlapping (overlap)",
    "undecided": "undecided",
}
STYLES = {"separable": "green", "touching": "magenta", "overlapping": "magenta", "undecided": "yellow"}
NUMBERS = {
    "binary64": "read as binary64",
    "exact-integers": "read as integers, those beyond 2^53 kept exact",
    "decimal": "read as exact decimals",
}
SHOWN_ROWS = 10
SHOWN_DIGITS = 60  # of an exact margin
READABLE = 10**9  # weights from here on are shown as shares
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

    def label(self, row: int) -> str:
        """The label of a row."""
        source = self.table.source
        return str(source.labels[int(source.take([row]).y[0] > 0)])


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
    """A line of the report; without a name, the line before goes on."""
    report.say(f"{name:<{INDENT}}{text}")


def _separable(verdict: Separable, subject: Subject) -> None:
    negative, positive = verdict.labels
    field("hyperplane", _equation(verdict))
    field("", f"positive on every row labelled {positive!r}, negative on every row labelled {negative!r}")
    if verdict.margin is not None:
        _margin(verdict)
    if verdict.nearest is not None:
        field("nearest", f"{_rows(verdict.nearest)} that allow no larger margin:")
        _listed(verdict.nearest, subject, bias=verdict.bias)


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
    negative, positive = verdict.labels
    field("", "some hyperplane has no row on its wrong side, but none has every row strictly on its side")
    field("hyperplane", _equation(verdict))
    field("", f">= 0 on every row labelled {positive!r}, <= 0 on every row labelled {negative!r}, not 0 on all")
    _obstruction(verdict, verdict.obstruction, subject)


def _overlapping(verdict: Overlapping, subject: Subject) -> None:
    field("", "no hyperplane separates the classes, not even one that rows may lie on")
    _obstruction(verdict, verdict.obstruction, subject)
    if verdict.spread != verdict.obstruction:
        field("spread", f"{_rows(verdict.spread)} together rule out a hyperplane that rows may lie on")


def _undecided(verdict: Undecided) -> None:
    low, high = verdict.margin
    field("reason", verdict.reason)
    field("", "this proves nothing: the classes may be separable or not")
    if low > 0 or math.isfinite(high):
        field("margin", f"believed to lie between {low:.6g} and {high:.6g}, if there is one")


def _obstruction(verdict: Touching | Overlapping, obstruction: Obstruction, subject: Subject) -> None:
    sides = "its side" if len(obstruction.rows) == 1 else "their sides"
    field("obstruction", f"{_rows(obstruction)} that no hyperplane has strictly on {sides}:")
    _listed(obstruction, subject, bias=verdict.bias)
    if verdict.bias or is_readable(obstruction):  # a sum with weights of a hundred digits tells a reader nothing
        field("", words.why(verdict, obstruction, subject.table.source))


def _listed(combination: Obstruction, subject: Subject, *, bias: bool) -> None:
    """The first rows of a combination as a table."""
    shown = combination.rows[:SHOWN_ROWS]
    places: dict[str, Mapping[int, object]] = {"file": subject.files(shown), "line": subject.lines(shown)}
    head, weights = _weights(combination, subject, bias=bias)
    grid = Grid(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for name in ["row", *(name for name, known in places.items() if known), "label", head]:
        grid.add_column(name, justify="right")
    for row, weight in zip(shown, weights, strict=False):
        where = [report.printable(str(known.get(row, "-"))) for known in places.values() if known]
        grid.add_row(str(row), *where, report.printable(subject.label(row)), weight)
    report.indented(grid, INDENT)
    if hidden := len(combination.rows) - len(shown):
        field("", f"and {hidden:,} more {'row' if hidden == 1 else 'rows'} (--json lists all)")


def is_readable(combination: Obstruction) -> bool:
    """Are the weights short enough for a table?"""
    return max(combination.weights) < READABLE


def _weights(combination: Obstruction, subject: Subject, *, bias: bool) -> tuple[str, list[str]]:
    """The weights with their head; where they are too long to be read, their shares.

    With bias the two classes weigh the same, and the shares of a class are those of its mean.
    """
    if is_readable(combination):
        return "weight", [str(weight) for weight in combination.weights]
    groups = [subject.label(row) if bias else "" for row in combination.rows]
    total = Counter[str]()
    for group, weight in zip(groups, combination.weights, strict=True):
        total[group] += weight
    shares = (Fraction(u, total[group]) for group, u in zip(groups, combination.weights, strict=True))
    return "share of its class" if bias else "share of the weight", [f"{float(share):.6f}" for share in shares]


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
