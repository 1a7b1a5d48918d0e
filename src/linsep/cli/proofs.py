"""Written proofs as files: read, checked against the names of a table, and the command that checks them."""

import shlex
from dataclasses import replace
from pathlib import Path

from linsep.certificates import Verdict
from linsep.certificates.written import MAX_CHARACTERS, verdict_from_json
from linsep.cli.tables import Table
from linsep.errors import CertificateError, FileError, MissingColumnError
from linsep.sources.base import Source, integer_bits

EXACT_BITS = 53  # an integer of more bits may be one that binary64 rounds


def load(path: str) -> Verdict:
    """Read a proof file. What it says is not checked yet; errors begin with the name of the file."""
    try:
        with Path(path).open("rb") as file:
            content = file.read(MAX_CHARACTERS + 1)
        return verdict_from_json(content)
    except OSError as error:
        raise FileError(f"{path}: cannot be read: {error.strerror}.") from error
    except CertificateError as error:
        raise FileError(f"{path}: {error}") from error


def signed(verdict: Verdict, table: Table, source: Source, seconds: float) -> Verdict:
    """The verdict with what only the file knows: the names of its columns, and how its numbers were read."""
    exact = any((integer_bits(block.table) or 0) > EXACT_BITS for block in source.blocks())
    return replace(
        verdict,
        names=table.columns,
        label_column=table.label if isinstance(table.label, str) else None,
        numbers="exact-integers" if exact else "binary64",
        seconds=seconds,
    )


def label_column(verdict: Verdict, file: str, label: str | None) -> str | None:
    """Where the labels of a file stand: as told, as the proof says, else in the last column, as the checker has it."""
    is_table = file.lower().endswith((".csv", ".npy"))
    return label if label is not None or not is_table else verdict.label_column or "-1"


def require_names(verdict: Verdict, table: Table, proof: str, file: str) -> None:
    """Refuse a file whose columns are not those of the proof, in its order."""
    if None in (verdict.names, table.columns) or verdict.names == table.columns:
        return
    known, seen = (", ".join(map(repr, names[:20])) for names in (verdict.names or (), table.columns or ()))
    raise MissingColumnError(f"{file}: the columns are {seen}, but {proof} is about {known}, in this order.")


def how_to_check(proof: str, file: str, label: str | None, table: Table) -> str:
    """The command that checks the proof; for a CSV file of numbers the one that needs the standard library alone."""
    paths = f"{shlex.quote(proof)} {shlex.quote(file)}"
    if file.lower().endswith(".csv") and not _has_truths(table):
        return f"Check it with: python -m linsep.checker {paths}"
    place = "" if label is None else f" --label {shlex.quote(label)}"
    return f"Check it with: linsep verify {paths}{place}"


def _has_truths(table: Table) -> bool:
    """Has the table a column of `true` and `false`, which the checker does not take for numbers?"""
    import pyarrow as pa

    return any(map(pa.types.is_boolean, table.X.schema.types))
