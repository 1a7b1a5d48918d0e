"""What a FILE argument may be: files that `linsep.open` reads, or one of the lectures' examples.

Every error begins with the name of the file.
"""

import operator
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from linsep import datasets
from linsep.cli import report
from linsep.cli.options import STDIN_WORD, Reading
from linsep.errors import ArgumentError, CheckpointError, FileError, InputError
from linsep.sources.inputs import as_source

if TYPE_CHECKING:
    from linsep.certificates import Verdict
    from linsep.sources.base import Source

Array = npt.NDArray[Any]
EXAMPLES = {"cornwell": True, "tao": False, "wang": False, "xor": True}  # with the bias each lecture uses


@dataclass(frozen=True, slots=True)
class Table:
    """Rows and labels to learn from, and what the columns are called."""

    source: "Source"
    columns: tuple[str, ...] | None = None
    label: str | int | None = None
    bias: bool = True  # what the data ask for unless the user says otherwise


def read(
    files: Sequence[str], label: str | None, reading: Reading | None = None, proof: "Verdict | None" = None
) -> Table:
    """The rows and labels of files to learn from; those that a proof is about are read as it says."""
    examples = [file for file in files if is_example(file)]
    if examples and len(files) > 1:
        raise ArgumentError(f"{examples[0]}: an example cannot be read together with other files.", file=examples[0])
    if examples:
        return _example(examples[0], label)
    from linsep.sources.files import open_files

    how = reading or Reading()
    numbers = "decimal" if proof is not None and proof.numbers == "decimal" else "binary64"
    source = open_files(
        files,
        how.options(label, numbers),
        positive=how.positive,
        classes=None if proof is None else proof.labels,
        cache=how.where_cached() if proof is None else False,  # a proof is checked against the data themselves
        format=how.format,
    )
    for remark in source.remarks():
        report.note(remark)
    return Table(source, source.columns, source.label_column)


def is_example(file: str) -> bool:
    """Whether this names an example of the lectures."""
    return file.startswith("example:")


def named(files: Sequence[str]) -> str:
    """Files as a report names them: the first, and how many more."""
    first = "stdin" if files[0] == "-" else files[0]
    return first if len(files) == 1 else f"{first} and {len(files) - 1:,} more"


def in_memory(source: "Source") -> tuple[Any, Array]:
    """All rows as one array or CSR matrix, and their labels: for what draws them."""
    block = reduce(operator.add, source.blocks())
    return block.values, np.array(source.labels)[(block.y > 0).astype(np.intp)]


@contextmanager
def about(files: Sequence[str]) -> Iterator[None]:
    """Begin every complaint about the data with the name of their file."""
    file = named(files)
    try:
        yield
    except CheckpointError:  # about another file
        raise
    except InputError as error:
        if error.file is None:
            error.file = file
            if not str(error).startswith(file):
                error.args = (f"{file}: {error}",)
        raise


def require_folder(output: str) -> None:
    """Refuse a path that cannot be written to because its folder is not there, or because it is a folder."""
    if output == STDIN_WORD:
        raise ArgumentError("- is no file to write to: give a name, or leave the option out.")
    if Path(output).is_dir():
        raise FileError(f"{output}: cannot be written: this is a folder.")
    if not Path(output).parent.is_dir():
        raise FileError(f"{output}: cannot be written: there is no folder {str(Path(output).parent)!r}.")


def require_own(option: str, path: str | None, *others: str | None) -> None:
    """Refuse a file to write that cannot be written, or that the command uses for something else too."""
    if path is None:
        return
    require_folder(path)
    for other in others:
        if other is not None and Path(other).resolve() == Path(path).resolve():
            raise ArgumentError(f"{option} {path}: the command uses this file for something else.", file=path)


def _example(file: str, label: str | None) -> Table:
    name = file.removeprefix("example:")
    if name not in EXAMPLES:
        known = ", ".join(f"example:{known}" for known in EXAMPLES)
        raise ArgumentError(f"{file}: there is no such example. There are {known}.")
    if label is not None:
        raise ArgumentError(f"{file}: an example brings its own labels: leave --label {label} out.")
    X, y = {"cornwell": datasets.cornwell, "tao": datasets.tao, "wang": datasets.wang, "xor": datasets.xor}[name]()
    return Table(as_source(X, y), columns=("x1", "x2"), bias=EXAMPLES[name])
