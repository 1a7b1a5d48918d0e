"""Written proofs as files, and the rows that they are about, read as the proof says."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from linsep.errors import CertificateError, FileError
from linsep.proofs.proof_json import PROOF, verdict_from_json
from linsep.sources.files import survey_files
from linsep.sources.files.csv_records import MISSING
from linsep.sources.files.labels import is_label as is_label
from linsep.sources.files.options import Numbers, Options
from linsep.sources.files.paths import is_pipe, kind_of, unreadable
from linsep.sources.files.source import FileSource

if TYPE_CHECKING:
    from linsep.proofs import Verdict

WITHOUT_NAMES = ("npz", "svmlight", "vw")  # formats with a fixed place for the labels


def load_proof(path: str) -> "Verdict":
    """Read a proof file. What it says is not checked yet.

    Parameters
    ----------
    path : str
        The file.

    Returns
    -------
    Verdict
        The verdict as written.

    Raises
    ------
    FileError
        It is not a complete, well-formed proof; the message begins with the name of the file.

    Examples
    --------
    >>> import linsep, pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "proof.json")
    >>> _ = path.write_text(linsep.decide(*linsep.datasets.xor()).to_json())
    >>> linsep.on_files.load_proof(str(path)).kind
    'overlapping'
    """
    try:
        return verdict_from_json(PROOF.content_of(path))
    except OSError as error:
        raise unreadable(path, error) from error
    except CertificateError as error:
        raise FileError(replace(error.fault, code=FileError.code)).at(file=path) from error


def label_column(verdict: "Verdict", file: str, format: str | None = None) -> str | int | None:  # noqa: A002
    """Where the labels of a file are: as the proof says, else in the last column, as for the stand-alone checker."""
    kind = format or "csv" if is_pipe(file) else kind_of(file, format)
    if kind in WITHOUT_NAMES:
        return None
    return -1 if verdict.label_column is None else verdict.label_column


def open_for_proof(
    verdict: "Verdict",
    files: Sequence[str],
    *,
    label: str | int | None = None,
    positive: Any = None,
    numbers: Numbers | None = None,
    **options: Any,
) -> FileSource:
    """Open files as `linsep.open` does, but as a proof needs them: without a cache, and with its own labels.

    Parameters
    ----------
    verdict : Verdict
        The proof.
    files : sequence of str
        The data.
    label : str, int or None
        The label column; by default that of the proof, which does not make the first line a header.
    positive, numbers
        What the proof must agree with; by default its own values.
    **options
        Those of `linsep.open`.

    Returns
    -------
    Source
        Of the files.

    Raises
    ------
    InputError
        The files cannot be read, or an option disagrees with the proof.

    Examples
    --------
    >>> import linsep, pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "points.csv")
    >>> _ = path.write_text("a,y\\n1,no\\n2,yes\\n")
    >>> proof = linsep.decide(linsep.open(path, label="y"))
    >>> proof.verify(linsep.on_files.open_for_proof(proof, [str(path)]))
    """
    negative = verdict.labels[0]
    against_rest = (
        len(verdict.labels) == 2 and isinstance(negative, str) and negative.startswith("not ")
    )  # else the proof knows both labels
    chosen = Options(
        label=label_column(verdict, files[0], options.get("format")) if label is None else label,
        positive=positive if against_rest else None,
        numbers=numbers or ("decimal" if verdict.numbers == "decimal" else "binary64"),
        cache=False,  # a proof is checked against the data themselves
        classes=verdict.labels,
        stated_label=verdict.label_column,
        says_label=label is not None,
        **options,
    )
    return FileSource(*survey_files(files, chosen))


def checker_reads(source: Any) -> bool:
    """Whether the stand-alone checker reads these rows as linsep does: one CSV file of numbers, and plain labels."""
    is_plain = bool(source.facts.files) and source.is_plain_csv
    return is_plain and not MISSING.intersection(map(str, source.facts.labels))
