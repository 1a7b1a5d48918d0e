"""What a FILE argument may be: files that `linsep.open` reads, or one of the lectures' examples.

No file that a command names is both read and written, and every error begins with the name of the file.
"""

import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import linsep
from linsep import on_files, outputs
from linsep.cli import progress, stdio, terminal
from linsep.cli.parameters import STDIN_WORD, Reading
from linsep.errors import ArgumentError, FileError, NoFileError

HEAD = 256  # bytes that show what a file holds
WRITTEN = {  # how what an option writes begins; whoever writes checkpoints and rejected rows looks for itself
    "--proof": re.compile(rb'\s*\{\s*"format": "linsep-'),
    "--output": re.compile(
        rb'\s*\{\s*"format": "linsep-|prediction(,score)?\r?\n|rank,row,|\x89PNG|%PDF-|GIF8|<\?xml |<svg|.{4}ftyp',
        re.DOTALL,
    ),
    "--html": re.compile(rb"<!doctype html>"),
    "--export": re.compile(rb"<!doctype html>"),
    "": re.compile(rb"PAR1"),
}
EXAMPLES = {"cornwell": True, "tao": False, "wang": False, "xor": True}  # with the bias that each lecture uses


@dataclass(frozen=True, slots=True)
class Table:
    """Rows and labels as every function of linsep takes them, and the names of the columns."""

    data: tuple[Any, Any]  # X and y of an example, or a source of files and None
    columns: tuple[str, ...] | None = None
    label: str | int | None = None
    bias: bool = True  # unless the user says otherwise

    @property
    def source(self) -> Any:
        """The source of the files; None for an example."""
        return self.data[0] if self.data[1] is None else None

    @property
    def text_label(self) -> str | None:
        """The name of the label column, if it has one."""
        return self.label if isinstance(self.label, str) else None

    @property
    def rows_left_out(self) -> int:
        """How many rows of the files were rejected."""
        return self.source.facts.rows_left_out if self.source else 0

    def chosen_bias(self, bias: bool | None, file: str) -> bool:
        """The bias that the user asked for, or else that of the lecture that the data are from."""
        if bias is None and not self.bias:
            terminal.note(f"{file}: through the origin, as in the lecture (no bias; --bias asks for one).")
        return self.bias if bias is None else bias

    def where(self, rows: Sequence[int]) -> Mapping[str, Sequence[str]]:
        """Where rows are found: the file, if there are several, and the line, if the format has lines."""
        if self.source is None:
            return {}
        files = {row: self.source.where(row)[0] for row in rows} if len(self.source.files) > 1 else {}
        known: dict[str, Mapping[int, object]] = {"file": files, "line": self.source.lines(rows)}
        return {name: [str(found.get(row, "-")) for row in rows] for name, found in known.items() if found}

    def places(self, rows: Sequence[int]) -> Mapping[str, Sequence[str]]:
        """The same for a written file: with the row's number in its file too, where that differs from its own."""
        found = self.where(rows)
        if self.source is None or not ("file" in found or self.rows_left_out):
            return found
        numbers = self.source.file_numbers(rows)
        known = {**found, "file number": [str(numbers[row]) for row in rows]}
        return {name: known[name] for name in ("file", "file number", "line") if name in known}


def read(
    files: Sequence[str],
    label: str | None,
    reading: Reading,
    *,
    any_labels: bool = False,
    formula: str | None = None,
    aside: Sequence[str] = (),
) -> Table:
    """The rows and labels of files, or of an example; with a formula or chosen columns, the columns `aside` as well."""
    if (found := example(files, label)) is not None:
        if formula is not None:
            raise ArgumentError("an example has no columns that a formula could name", file=files[0])
        return found
    if formula is not None:
        source = on_files.open_for_formula(files, formula, label=label, aside=aside, **reading.keywords())
        return of_files(source, any_labels=any_labels)
    options = reading.keywords()
    if "columns" in options:
        options["columns"] = [*options["columns"], *(name for name in aside if name not in options["columns"])]
    with _contacting(options.get("scheduler")):
        source = linsep.open(files, label=label, **options)
    return of_files(source, any_labels=any_labels)


def _contacting(scheduler: Any) -> AbstractContextManager[Any]:
    """While a scheduler is asked, a person sees which one: nothing may answer there for half a minute."""
    is_address = isinstance(scheduler, str) and ":" in scheduler
    return progress.waiting(f"Asking the scheduler at {scheduler}") if is_address else nullcontext()


def of_files(source: Any, *, any_labels: bool = False) -> Table:
    """The table of a source, after showing its remarks; it must have two labels, unless `any_labels` is true."""
    if not any_labels:
        _ = source.facts.pair
    for remark in source.remarks():
        terminal.note(remark)
    return Table((source, None), source.facts.names, source.label_column)


def example(files: Sequence[str], label: str | int | None) -> Table | None:
    """The example that is named instead of a file, if one is."""
    file = next(filter(is_example, files), None)
    if file is None:
        return None
    if len(files) > 1:
        raise ArgumentError("an example cannot be read together with other files", file=file)
    name = file.removeprefix("example:")
    if name not in EXAMPLES:
        known = ", ".join(f"example:{known}" for known in EXAMPLES)
        raise ArgumentError(f"there is no such example. The examples are {known}", file=file)
    if label is not None:
        raise ArgumentError(f"an example has its own labels: omit --label {label}", file=file)
    X, y = getattr(linsep.datasets, name)()
    return Table((X, y), columns=("x1", "x2"), bias=EXAMPLES[name])


def is_example(file: str) -> bool:
    """Whether this names an example of the lectures."""
    return file.startswith("example:")


def _place(file: str) -> str | None:
    """The path of a file on this machine, also of one that is given as a URL; None for others."""
    protocol, sign, path = file.partition("://")
    if not sign:
        return file
    return path if protocol in ("file", "local") else None


def require_outputs(inputs: Sequence[str], *options: tuple[str, str | None]) -> None:
    """Refuse, before anything is read, an output that cannot be written, is also read, or is written twice.

    Files are compared by their place on the disk, whatever they are called; the files that standard output and
    standard error are redirected to count as outputs.
    """
    places = [_place(file) for file in inputs if not is_example(file)]
    read = [place for place in places if place is not None]
    if "" in read:
        raise ArgumentError("The name of a file to read is empty.")
    if read.count("-") > 1:
        raise ArgumentError("- is given twice: standard input can be read only once.")
    streams = {"standard error": stdio.file_of(sys.stderr), "standard output": stdio.file_of(sys.stdout)}
    shown = {known: name for name, known in streams.items() if known is not None}
    taken = dict(shown)
    if shown and (spoilt := [known for known in map(outputs.identity, _listed(read)) if known in shown]):
        stdio.spare([known for known in spoilt if known is not None])
        told = shown[spoilt[0]].capitalize()
        raise ArgumentError(f"{told} goes into a file that is read. Redirect it to another one.")
    for option, path in ((option, path) for option, path in options if path is not None):
        about = f"{option} {path}".strip()
        if not path:
            raise ArgumentError(f"{option or 'The file to write'} is empty: give the name of a file.")
        if path == STDIN_WORD:
            raise ArgumentError("- is not a file to write to: give a name, or leave the option out.")
        _require_folder(path)
        if (found := on_files.reads(read, path)) is not None:
            seen = "the command reads this file" if found == path else f"the command reads this file ({found})"
            raise ArgumentError(seen, file=about, fix="Give another name.")
        _require_own(about, option, path)
        known = outputs.identity(path)
        if known in taken and not (known in shown and outputs.descriptor(path) is not None):
            raise ArgumentError(f"{taken[known]} goes into the same file", file=about, fix="Give another name.")
        if known is not None:
            taken[known] = option or "the result"


def _require_own(about: str, option: str, path: str) -> None:
    """Refuse to replace a file that holds anything else than what the option writes: it may be somebody's data."""
    if option not in WRITTEN or outputs.descriptor(path) is not None or not Path(path).is_file():
        return
    with suppress(OSError), Path(path).open("rb") as file:  # one that cannot be read is reported when it is written
        head = file.read(HEAD)
        if head and not WRITTEN[option].match(head):
            seen = "the file exists, and holds something other than what is written to it"
            raise ArgumentError(seen, file=about, fix="Give another name, or delete the file.")


def _listed(files: Sequence[str]) -> Iterator[str]:
    for file in files:
        with suppress(NoFileError):  # reported when it is read
            yield from ["/dev/stdin"] if file == "-" else on_files.expand(file)


def _require_folder(output: str) -> None:
    """Refuse a path that cannot be written to because its folder does not exist, or because it is a folder."""
    seen, place = None, Path(output)
    if place.is_dir():
        seen = "this is a folder"
    elif place.is_symlink() and not place.exists():
        target = Path(os.path.realpath(place))  # of a link to itself, a link
        seen = None if target.parent.is_dir() and not target.is_symlink() else "it is a link that leads nowhere"
    elif not place.parent.is_dir():
        seen = f"there is no folder {str(place.parent)!r}"
    if seen is not None:
        raise FileError(f"cannot be written: {seen}", file=output)


def require_name(path: str, what: str) -> None:
    """Refuse standard input, or an empty name, for a file that does not hold rows."""
    if path in ("", "-"):
        raise ArgumentError(f"{path!r} is not {what}: give the name of its file.")
