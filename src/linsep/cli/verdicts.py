"""What was found, as the commands print it: the library's own report with the lines of the files, or JSON."""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from linsep.certificates import HalfspaceVerdict, Separable, Verdict, words
from linsep.certificates.rows import rows_of
from linsep.cli import report
from linsep.cli.tables import Table
from linsep.report import Fact, Grid, Part, Report, Sentence, Where, count
from linsep.sources.files.source import FileSource

if TYPE_CHECKING:
    from linsep._margin import Novikoff
    from linsep.mle_report import MleReport

TITLES = words.TITLES
NUMBERS = {
    "binary64": "read as binary64",
    "exact-integers": "read as integers, those beyond 2^53 kept exact",
    "decimal": "read as exact decimals",
}


def show(verdict: Verdict, table: Table, bound: "Novikoff | None" = None) -> None:
    """The verdict, the bound on the Perceptron's updates where it is known, and what the answer took."""
    said = verdict._report(rows_of(table.source, None, verdict.labels), where=_where(table))
    theory = [] if bound is None else [Sentence(bound._report().title, "bound")]
    _show(said + theory, verdict)


def show_estimates(found: "MleReport", table: Table) -> None:
    """What a logistic regression can estimate."""
    _show(found._report(_where(table)), found.verdict)


def _show(said: Report, verdict: Verdict) -> None:
    report.show(said + _work(verdict))
    if any(isinstance(part, Grid) and part.more for part in said.parts):
        report.note("--json lists them all.")


def _work(verdict: Verdict) -> Iterable[Part]:
    """What was read, how, and at what cost."""
    size = f"{count(verdict.n_rows, 'row')}, {count(verdict.n_columns, 'column')}"
    bias = "" if verdict.bias else ", through the origin (no bias)"
    yield Fact("data", f"{size}; numbers {NUMBERS[verdict.numbers]}{bias}")
    yield Fact("work", f"{count(verdict.reads, 'read')} of the whole data, {verdict.seconds:.3f} s")


def _where(table: Table) -> Where:
    """Where rows are found: the file, where there are several, and the line, where files have lines."""
    source = table.source

    def places(rows: Sequence[int]) -> Mapping[str, Sequence[str]]:
        if not isinstance(source, FileSource):
            return {}
        files = {row: source.where(row)[0] for row in rows} if len(source.files) > 1 else {}
        known: dict[str, Mapping[int, object]] = {"file": files, "line": source.lines(rows)}
        return {name: [str(found.get(row, "-")) for row in rows] for name, found in known.items() if found}

    return places


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
    if isinstance(verdict, Separable) and (exact := words.exact_margin(verdict)):
        summary["gamma_squared"] = exact
    return {**summary, "reads": verdict.reads, "seconds": verdict.seconds}


def estimates_as_json(found: "MleReport") -> dict[str, Any]:
    """What a logistic regression can estimate, as one JSON object."""
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
