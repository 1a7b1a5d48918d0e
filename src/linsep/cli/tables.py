"""What a FILE argument may be: files that `linsep.open` reads, or one of the lectures' examples.

Every error begins with the name of the file.
"""

import operator
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from linsep import datasets, outputs
from linsep.checkpoints import PREVIOUS
from linsep.cli import report, stdio
from linsep.cli.options import STDIN_WORD, Reading
from linsep.errors import ArgumentError, CheckpointError, FileError, InputError, NoFileError
from linsep.sources.inputs import as_source
from linsep.tables import read_labels

if TYPE_CHECKING:
    from linsep.certificates import Verdict
    from linsep.sources.base import Source

Array = npt.NDArray[Any]
EXAMPLES = {"cornwell": True, "tao": False, "wang": False, "xor": True}  # with the bias each lecture uses
_SPOOLED = re.compile(r".*\.linsep-rows/([0-9]+)/stdin\.\w+")  # what came out of a pipe, by its number among the files


@dataclass(frozen=True, slots=True)
class Table:
    """Rows and labels to learn from, and what the columns are called."""

    source: "Source"
    columns: tuple[str, ...] | None = None
    label: str | int | None = None
    bias: bool = True  # what the data ask for unless the user says otherwise


def read(
    files: Sequence[str],
    label: str | int | None,
    reading: Reading | None = None,
    proof: "Verdict | None" = None,
    *,
    says_label: bool = True,
) -> Table:
    """The rows and labels of files to learn from; those that a proof is about are read as it says.

    `says_label` is false where the label column is the proof's word, which does not make a first line a header.
    """
    examples = [file for file in files if is_example(file)]
    if examples and len(files) > 1:
        raise ArgumentError(f"{examples[0]}: an example cannot be read together with other files.", file=examples[0])
    if examples:
        return _example(examples[0], label)
    from linsep.sources.files import open_files

    how = reading or Reading()
    numbers = "decimal" if proof is not None and proof.numbers == "decimal" else "binary64"
    stated = None if proof is None else proof.label_column
    negative = "not " if proof is None else proof.labels[0]
    against_rest = isinstance(negative, str) and negative.startswith("not ")  # else the proof knows both labels
    source = open_files(
        files,
        replace(how.options(label, numbers), says_label=says_label, stated_label=stated),
        positive=how.positive if against_rest else None,
        classes=None if proof is None else proof.labels,
        cache=how.where_cached() if proof is None else False,  # a proof is checked against the data themselves
        format=how.format,
    )
    for remark in source.remarks():
        report.note(remark)
    return Table(source, source.facts.names, source.label_column)


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
    return block.values, read_labels(list(source.facts.labels))[(block.y > 0).astype(np.intp)]


@contextmanager
def about(files: Sequence[str]) -> Iterator[None]:
    """Begin every complaint about the data with the name of their file."""
    from linsep.sources.files.paths import expand

    file = named(files)
    try:
        yield
    except CheckpointError:  # about another file
        raise
    except InputError as error:
        if found := _SPOOLED.fullmatch(error.file or ""):
            name = expand(files)[int(found[1])]
            error.args = (str(error).replace(found[0], "standard input" if name == "-" else name),)
            error.file = name
        elif error.file is None:
            error.file = file
            if not str(error).startswith(file):
                error.args = (f"{file}: {error}",)
        raise


def require_outputs(inputs: Sequence[str], options: Mapping[str, str | None]) -> None:
    """Refuse, before anything is read, what cannot be written, is read, or is written to twice.

    Files are compared by their place on the disk, whatever they are called; what standard output and standard error
    go into are two of them.
    """
    from linsep.sources.files.paths import reads

    read = [file for file in inputs if not is_example(file)]
    if "" in read:
        raise ArgumentError("The name of a file to read is empty.")
    if read.count("-") > 1:
        raise ArgumentError("- stands twice among the files: standard input can be read only once.")
    streams = {"standard error": stdio.file_of(sys.stderr), "standard output": stdio.file_of(sys.stdout)}
    shown = {known: name for name, known in streams.items() if known is not None}
    taken = dict(shown)
    if shown and (spoilt := [known for known in map(outputs.identity, _listed(read)) if known in shown]):
        stdio.spare([known for known in spoilt if known is not None])
        told = shown[spoilt[0]].capitalize()
        raise ArgumentError(f"{told} goes into a file that is read. Redirect it to another one.")
    for option, path in _named(options):
        about = f"{option} {path}".strip()
        if not path:
            raise ArgumentError(f"{option or 'The file to write'} is empty: give the name of a file.")
        if path.removesuffix(PREVIOUS) == STDIN_WORD:
            raise ArgumentError("- is not a file to write to: give a name, or leave the option out.")
        _require_folder(path)
        if (found := reads(read, path)) is not None:
            seen = "the command reads this file" if found == path else f"the command reads this file ({found})"
            raise ArgumentError(f"{about}: {seen}. Give another name.", file=path)
        known = outputs.identity(path)
        if known in taken and not (known in shown and outputs.descriptor(path) is not None):
            raise ArgumentError(f"{about}: {taken[known]} goes into the same file. Give another name.", file=path)
        if known is not None:
            taken[known] = option or "the result"


def _named(options: Mapping[str, str | None]) -> Iterator[tuple[str, str]]:
    """The options that were given, and every file they write: a checkpoint keeps the one before it."""
    for name, path in options.items():
        if path is not None:
            yield name, path
            if name == "--checkpoint":
                yield name, f"{path}{PREVIOUS}"


def _listed(files: Sequence[str]) -> Iterator[str]:
    from linsep.sources.files.paths import expand

    for file in files:
        with suppress(NoFileError):  # told of when it is read
            yield from ["/dev/stdin"] if file == "-" else expand(file)


def _require_folder(output: str) -> None:
    """Refuse a path that cannot be written to because its folder is not there, or because it is a folder."""
    seen, place = None, Path(output)
    if place.is_dir():
        seen = "this is a folder"
    elif place.is_symlink() and not place.exists():
        target = Path(os.path.realpath(place))  # of a link to itself, a link
        seen = None if target.parent.is_dir() and not target.is_symlink() else "it is a link that leads nowhere"
    elif not place.parent.is_dir():
        seen = f"there is no folder {str(place.parent)!r}"
    if seen is not None:
        raise FileError(f"{output}: cannot be written: {seen}.", file=output)


def require_name(path: str, what: str) -> None:
    """Refuse standard input in the place of a file that is not one of rows."""
    if path in ("", "-"):
        raise ArgumentError(f"{path!r} is not {what}: give the name of its file.")


def _example(file: str, label: str | int | None) -> Table:
    name = file.removeprefix("example:")
    if name not in EXAMPLES:
        known = ", ".join(f"example:{known}" for known in EXAMPLES)
        raise ArgumentError(f"{file}: there is no such example. There are {known}.")
    if label is not None:
        raise ArgumentError(f"{file}: an example brings its own labels: leave --label {label} out.")
    X, y = {"cornwell": datasets.cornwell, "tao": datasets.tao, "wang": datasets.wang, "xor": datasets.xor}[name]()
    return Table(as_source(X, y), columns=("x1", "x2"), bias=EXAMPLES[name])
