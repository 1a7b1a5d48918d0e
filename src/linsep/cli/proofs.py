"""Written proofs as files: read, checked against the names of a table, and the command that checks them."""

import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from linsep.certificates import Verdict
from linsep.certificates.written import MAX_CHARACTERS, verdict_from_json
from linsep.cli.options import Reading
from linsep.cli.tables import Table, is_example, named
from linsep.errors import CertificateError, FileError, MissingColumnError
from linsep.sources.files.reading import unreadable
from linsep.sources.files.source import FileSource


def load(path: str) -> Verdict:
    """Read a proof file. What it says is not checked yet; errors begin with the name of the file."""
    try:
        with Path(path).open("rb") as file:
            content = file.read(MAX_CHARACTERS + 1)
        return verdict_from_json(content)
    except OSError as error:
        raise unreadable(path, error) from error
    except CertificateError as error:
        raise FileError(f"{path}: {error}", file=path) from error


def signed(verdict: Verdict, table: Table, seconds: float) -> Verdict:
    """The verdict with what only the file knows: the names of its columns, and of that of the labels."""
    label = table.label if isinstance(table.label, str) else None
    return replace(verdict, names=table.columns, label_column=label, seconds=seconds)


def label_column(verdict: Verdict, files: Sequence[str], label: str | None) -> str | None:
    """Where the labels of a file stand: as told, as the proof says, else in the last column, as the checker has it."""
    without = (".npz", ".svm", ".svmlight", ".libsvm", ".svm.gz", ".svm.bz2", ".svm.zst")
    if label is not None or is_example(files[0]) or files[0].lower().endswith(without):
        return label
    return verdict.label_column or "-1"


def require_names(verdict: Verdict, table: Table, proof: str, files: Sequence[str]) -> None:
    """Refuse a file whose columns are not those of the proof, in its order."""
    if None in (verdict.names, table.columns) or verdict.names == table.columns:
        return
    known, seen = (", ".join(map(repr, names[:20])) for names in (verdict.names or (), table.columns or ()))
    raise MissingColumnError(f"{named(files)}: the columns are {seen}, but {proof} is about {known}, in this order.")


def how_to_check(proof: str, files: Sequence[str], label: str | None, table: Table, reading: Reading) -> str:
    """The command that checks the proof; for a CSV file of numbers the one that needs the standard library alone."""
    words = reading.words(rows_left_out=table.source.rows_left_out)
    if isinstance(table.source, FileSource) and table.source.is_plain_csv and not words:
        return f"Check it with: python -m linsep.checker {shlex.join([proof, *files])}"
    place = [] if label is None else ["--label", label]
    return f"Check it with: linsep verify {shlex.join([proof, *files, *place, *words])}"
