"""`linsep verify`: a written proof checked against the data, and what was verified."""

import json as json_text
import shlex
from collections.abc import Sequence
from typing import Annotated, Any

from cyclopts import Parameter

from linsep import on_files
from linsep.cli import file_arguments, progress, terminal
from linsep.cli.parameters import (
    NOT_SEPARABLE,
    OF_A_FAULT,
    SEPARABLE,
    UNDECIDED,
    Checking,
    File,
    Json,
    Label,
    app,
    path,
    spelt,
)
from linsep.errors import ArgumentError, CertificateError, MissingColumnError, told
from linsep.report import count

MOST_NAMES = 20  # columns are named up to this many


@app.command(
    help_epilogue="Example: linsep verify proof.json data.csv\n\n"
    f"Exit codes: 0 verified, 1 refuted, 2 bad input, 3 the proof claims nothing, {OF_A_FAULT}",
)
def verify(
    proof: Annotated[str, Parameter(help="A proof that --proof wrote.", converter=path)],
    /,
    *file: File,
    label: Label = None,
    bias: Annotated[bool | None, Parameter(help="Refuse a proof without, or with, bias.")] = None,
    json: Json = False,
    reading: Checking = Checking(),
) -> int:
    """Check a written proof against the data, in exact arithmetic and without the solver.

    Without --label the label column is the one named in the proof, else the last. It says what was verified: which
    rows, columns and labels, with or without bias. An option that disagrees with the proof is an error.
    """
    file_arguments.require_name(proof, "a proof")
    file_arguments.require_outputs([proof, *file], ("--reject", reading.reject))
    verdict = on_files.load_proof(proof)
    _require_agreement(verdict, proof, bias, reading)
    with on_files.about(file):
        try:
            table = _read(verdict, file, label, reading)
            _require_same_table(verdict, table, proof, file, reading)
            with progress.waiting("Checking"):
                verdict.verify(*table.data)
        except CertificateError as error:
            return _checked(NOT_SEPARABLE, "refuted", f"{error}{_advice(verdict, reading)}", "red", json)
    found = getattr(verdict, "verdicts", [verdict])  # of many classes, one for each question
    if all(one.kind == "undecided" for one in found):
        why = f"{proof} claims nothing. Its reason: {found[0].reason}"
        return _checked(UNDECIDED, "undecided", why, "yellow", json)
    claim, about = _statement(verdict, table, file)
    code = _checked(SEPARABLE, "verified", claim, "green", json, _facts(verdict, table))
    for name, text in about.items() if not json else ():
        terminal.say(f"{name:<9}{text}")
    return code


def _read(verdict: Any, files: Sequence[str], label: str | None, how: Checking) -> file_arguments.Table:
    """The rows that a proof is about, read as it says."""
    if (found := file_arguments.example(files, label)) is not None:
        return found
    source = on_files.open_for_proof(verdict, files, label=label, **how.keywords())
    return file_arguments.of_files(source, any_labels=verdict.kind == "classes")


def _checked(code: int, answer: str, text: str, style: str, json: bool, facts: dict[str, Any] | None = None) -> int:
    if json:
        terminal.say_json({"answer": answer, "message": text, **(facts or {})})
    else:
        terminal.say(f"{answer.upper()}: {text}", style)
    return code


def _require_agreement(verdict: Any, proof: str, bias: bool | None, reading: Checking) -> None:
    """Refuse a proof that differs from what was asked for, before any row is read."""
    if bias is not None and bias != verdict.bias:
        has = "with bias" if verdict.bias else "through the origin (no bias)"
        raise ArgumentError(f"the proof is {has}: {'--bias' if bias else '--no-bias'} disagrees", file=proof)
    if reading.numbers is not None and (reading.numbers == "decimal") != (verdict.numbers == "decimal"):
        asked = f"--numbers {reading.numbers}"
        raise ArgumentError(f"the proof reads numbers as {verdict.numbers}: {asked} disagrees", file=proof)
    if reading.positive is not None and verdict.kind == "classes":
        raise ArgumentError("the proof is about many classes, none of them positive: omit --positive", file=proof)
    if reading.positive is not None and not on_files.is_label(reading.positive, verdict.labels[1]):
        asked = f"--positive {reading.positive[:60]}"
        raise ArgumentError(f"its positive class is {told(verdict.labels[1])}: {asked} disagrees", file=proof)


def _require_same_table(
    verdict: Any, table: file_arguments.Table, proof: str, files: Sequence[str], reading: Checking
) -> None:
    """Refuse a table whose columns, number of rows left out or numbers differ from those in the proof."""
    if None not in (verdict.names, table.columns) and verdict.names != table.columns:
        known, seen = (", ".join(map(repr, names[:20])) for names in (verdict.names or (), table.columns or ()))
        seen = f"the columns are {seen}, but {proof} is about {known}, in this order"
        raise MissingColumnError(seen, file=on_files.named(files))
    left_out = table.rows_left_out
    if (reading.reject or reading.missing) is not None and left_out != verdict.rows_left_out:
        option = "--reject" if reading.missing is None else "--missing drop"
        why = f"{option} leaves out {count(left_out, 'row')}, but {proof} leaves out {verdict.rows_left_out:,}"
        raise ArgumentError(why, file=on_files.named(files))
    if table.source and verdict.numbers == "binary64" and table.source.facts.numbers == "exact-integers":
        why = f"there are integers that binary64 would round, but {proof} reads numbers as binary64"
        raise ArgumentError(why, file=on_files.named(files))


def _advice(verdict: Any, reading: Checking) -> str:
    """What to try where a proof of one class against the rest is refuted for a label that it does not know."""
    negative, positive = verdict.labels[:2]
    word = positive if isinstance(positive, str) else told(positive)
    if verdict.kind == "classes" or reading.positive is not None or negative != f"not {word}":
        return ""
    return f" If {word!r} is the class against all other labels, add {shlex.join(spelt('--positive', word))}."


def _has_header(table: file_arguments.Table) -> bool | None:
    """Whether the columns are named by a first line; None where a format has no lines."""
    return True if table.source and table.source.has_header else None


def _statement(verdict: Any, table: file_arguments.Table, files: Sequence[str]) -> tuple[str, dict[str, str]]:
    """What was verified: the claim in a line, and what it is about, field by field."""
    names = table.columns if table.columns is not None else verdict.names
    label = "" if table.label is None else f", label column {table.label!r}"
    origin = "" if verdict.bias else " through the origin (no bias)"
    claim = f"{verdict.title}{origin}: {count(verdict.n_rows, 'row')} of {on_files.named(files)}{label}"
    left_out = f"; {verdict.rows_left_out:,} others were left out, and nothing is known of them"
    listed = f": {', '.join(map(repr, names))[:300]}" if names is not None and len(names) <= MOST_NAMES else ""
    labels = "{1} is the positive class, {0} the negative".format(*map(told, verdict.labels))
    if verdict.kind == "classes":
        labels = ", ".join(map(told, verdict.labels))
    header = ", below a header line" if _has_header(table) else ""
    return claim, {
        "labels": labels,
        "rows": f"{verdict.n_rows:,}{header}{left_out if verdict.rows_left_out else ''}",
        "columns": f"{verdict.n_columns:,}{listed}",
        "numbers": f"read as {verdict.numbers}",
    }


def _facts(verdict: Any, table: file_arguments.Table) -> dict[str, Any]:
    """The same for --json: the proof's own fields, with the names that the files have."""
    data = json_text.loads(verdict.to_json())["data"]
    if table.columns is not None:
        data["names"] = list(table.columns)
    if isinstance(table.label, str):
        data["label_column"] = table.label
    return {"kind": verdict.kind, "header": _has_header(table), "data": data}
