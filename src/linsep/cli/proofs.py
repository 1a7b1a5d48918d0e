"""Written proofs as files: read, checked against the names of a table, and the command that checks them."""

import json
import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from linsep import outputs
from linsep.certificates import Verdict
from linsep.certificates.written import PROOF, verdict_from_json
from linsep.cli.options import Reading, spelt
from linsep.cli.report import count, printable
from linsep.cli.tables import Table, is_example, named
from linsep.cli.verdicts import TITLES
from linsep.errors import ArgumentError, CertificateError, FileError, MissingColumnError
from linsep.sources.files.csv_faults import MISSING
from linsep.sources.files.labels import is_label, shown
from linsep.sources.files.paths import expand, is_pipe, kind_of
from linsep.sources.files.reader import unreadable
from linsep.sources.files.source import FileSource

MOST_NAMES = 20  # columns are named up to this many


def load(path: str) -> Verdict:
    """Read a proof file. What it says is not checked yet; errors begin with the name of the file."""
    try:
        return verdict_from_json(PROOF.content_of(path))
    except OSError as error:
        raise unreadable(path, error) from error
    except CertificateError as error:
        raise FileError(f"{path}: {error}", file=path) from error


def signed(verdict: Verdict, table: Table, seconds: float) -> Verdict:
    """The verdict with what only the file knows: the names of its columns, and of that of the labels."""
    label = table.label if isinstance(table.label, str) else None
    return replace(verdict, names=table.columns, label_column=label, seconds=seconds)


def label_column(verdict: Verdict, files: Sequence[str], label: str | None) -> str | int | None:
    """Where the labels of a file stand: as told, as the proof says, else in the last column, as the checker has it."""
    without = (".npz", ".svm", ".svmlight", ".libsvm", ".svm.gz", ".svm.bz2", ".svm.zst")
    if label is not None or is_example(files[0]) or files[0].lower().endswith(without):
        return label
    return -1 if verdict.label_column is None else verdict.label_column


def require_agreement(verdict: Verdict, proof: str, bias: bool | None, reading: Reading) -> None:
    """Refuse a proof that differs from what was asked for, before any row is read."""
    if bias is not None and bias != verdict.bias:
        has = "with bias" if verdict.bias else "through the origin (no bias)"
        raise ArgumentError(f"{proof}: the proof is {has}: {'--bias' if bias else '--no-bias'} disagrees.")
    if reading.numbers is not None and (reading.numbers == "decimal") != (verdict.numbers == "decimal"):
        told = f"--numbers {reading.numbers}"
        raise ArgumentError(f"{proof}: the proof reads numbers as {verdict.numbers}: {told} disagrees.")
    if reading.positive is not None and not is_label(reading.positive, verdict.labels[1]):
        told = f"--positive {reading.positive[:60]}"
        raise ArgumentError(f"{proof}: its positive class is {shown(verdict.labels[1])}: {told} disagrees.")


def require_same_table(verdict: Verdict, table: Table, proof: str, files: Sequence[str], reading: Reading) -> None:
    """Refuse a table whose columns, left-out rows or numbers are not those that the proof states."""
    if None not in (verdict.names, table.columns) and verdict.names != table.columns:
        known, seen = (", ".join(map(repr, names[:20])) for names in (verdict.names or (), table.columns or ()))
        raise MissingColumnError(
            f"{named(files)}: the columns are {seen}, but {proof} is about {known}, in this order."
        )
    left_out = table.source.facts.rows_left_out
    if reading.reject is not None and left_out != verdict.rows_left_out:
        told = f"--reject leaves out {count(left_out, 'row')}, but {proof} {verdict.rows_left_out:,}"
        raise ArgumentError(f"{named(files)}: {told}.")
    if verdict.numbers == "binary64" and table.source.facts.numbers == "exact-integers":
        told = f"there are integers that binary64 would round, but {proof} reads numbers as binary64"
        raise ArgumentError(f"{named(files)}: {told}.")


def advice(verdict: Verdict, reading: Reading) -> str:
    """What to try where a proof of one class against the rest is refuted for a label that it does not know."""
    negative, positive = verdict.labels
    word = positive if isinstance(positive, str) else shown(positive)
    if reading.positive is not None or negative != f"not {word}":
        return ""
    return f" If {word!r} stands against all other labels, say {shlex.join(spelt('--positive', word))}."


def has_header(table: Table, reading: Reading) -> bool | None:
    """Whether the columns are named by a first line; None where a format has no lines."""
    source = table.source
    is_lines = isinstance(source, FileSource) and kind_of(source.files[0], reading.format)[0] in ("csv", "tsv")
    return True if is_lines else None


def statement(verdict: Verdict, table: Table, files: Sequence[str], reading: Reading) -> tuple[str, dict[str, str]]:
    """What was verified: the claim in a line, and what it is about, field by field."""
    source = table.source
    names = table.columns if table.columns is not None else verdict.names
    label = "" if table.label is None else f", label column {table.label!r}"
    origin = "" if verdict.bias else " through the origin (no bias)"
    claim = f"{TITLES[verdict.kind]}{origin}: {count(source.n_rows, 'row')} of {named(files)}{label}"
    left_out = f"; {verdict.rows_left_out:,} others were left out, and nothing is known of them"
    listed = f": {', '.join(map(repr, names))[:300]}" if names is not None and len(names) <= MOST_NAMES else ""
    negative, positive = map(shown, verdict.labels)
    header = ", below a header line" if has_header(table, reading) else ""
    return claim, {
        "labels": f"{positive} is the positive class, {negative} the negative",
        "rows": f"{source.n_rows:,}{header}{left_out if verdict.rows_left_out else ''}",
        "columns": f"{source.n_columns:,}{listed}",
        "numbers": f"read as {verdict.numbers}",
    }


def facts(verdict: Verdict, table: Table, reading: Reading) -> dict[str, Any]:
    """The same for --json: the proof's own fields, with the names that the files have."""
    data = json.loads(verdict.to_json())["data"]
    if table.columns is not None:
        data["names"] = list(table.columns)
    if isinstance(table.label, str):
        data["label_column"] = table.label
    return {"kind": verdict.kind, "header": has_header(table, reading), "data": data}


def how_to_check(proof: str, files: Sequence[str], label: str | None, table: Table, reading: Reading) -> str:
    """The command that checks the proof, or why there is none.

    For a CSV file of numbers it is the one that needs the standard library alone.
    """
    if outputs.descriptor(proof) is not None or not Path(proof).is_file():
        return "Save it in a file to check it."
    found = [] if is_example(files[0]) else expand(files)
    if any(map(is_pipe, found)):
        return "Its rows came through a pipe, which cannot be read again: save them in a file to check the proof."
    words = reading.words(rows_left_out=table.source.facts.rows_left_out)
    place = spelt("--label", label)
    is_plain = isinstance(table.source, FileSource) and table.source.is_plain_csv
    if is_plain and words in ([], ["--header"]) and not MISSING.intersection(map(str, table.source.facts.labels)):
        command = ["python", "-m", "linsep.checker", *map(_path, [proof, *found]), *place, *words]
    else:
        memory = spelt("--memory", None if reading.memory == Reading.memory else reading.memory)
        command = ["linsep", "verify", *map(_path, [proof, *files]), *place, *words, *memory]
    if printable(shown := shlex.join(command)) != shown:
        return "A name in the command that checks it has characters that cannot be shown."
    return f"Check it with: {shown}"


def _path(name: str) -> str:
    """A path that cannot be taken for an option."""
    return f"./{name}" if name.startswith("-") else name
