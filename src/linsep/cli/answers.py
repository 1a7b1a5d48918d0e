"""What decide, margin and mle have in common: the rows in question, and an answer with its proof."""

import shlex
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from linsep import on_files, outputs
from linsep.cli import file_arguments, progress, stdio, terminal
from linsep.cli.file_arguments import Table
from linsep.cli.parameters import CODES, Asking, Reading, Search, spelt
from linsep.errors import ArgumentError
from linsep.report import Fact, Grid, Report, Sentence, count

SECONDS = 60.0  # for the fewest mistakes, unless --time-limit says otherwise
NUMBERS = {
    "binary64": "read as binary64",
    "exact-integers": "read as integers, those beyond 2^53 kept exact",
    "decimal": "read as exact decimals",
}


@dataclass(frozen=True, slots=True)
class Question:
    """The files of a question, how they are read, and where the proof of the answer goes."""

    files: Sequence[str]
    label: str | None
    reading: Reading
    search: Search
    proof: str | None = None
    any_labels: bool = False  # rather than two
    formula: str | None = None  # that says which columns are read
    aside: Sequence[str] = ()  # columns that other options name

    @contextmanager
    def asked(self, doing: str, **told: Any) -> "Iterator[tuple[Table, tuple[Any, Any], Callable[[Any], None] | None]]":
        """The table, the rows to search and the callback for progress, while the question is worked on."""
        written = (("--proof", self.proof), ("--reject", self.reading.reject))
        file_arguments.require_outputs(self.files, *written)
        with on_files.about(self.files):
            any_labels, formula = self.any_labels, self.formula
            asked = self.files, self.label, self.reading
            table = file_arguments.read(*asked, any_labels=any_labels, formula=formula, aside=self.aside)
            stdio.require_uninterrupted()
            with progress.searching(doing, table.data, wanted=self.search.progress, **told) as (data, watch):
                yield table, data, watch
            if "ends" not in told:  # else Ctrl-C keeps what has been found
                stdio.require_uninterrupted()

    def answer(self, verdict: Any, table: Table, bound: Any = None) -> int:
        """Write the proof if --proof is given, show the verdict, say how to check it, and return the exit code."""
        if self.proof is not None:
            outputs.write_file(self.proof, verdict.to_json().encode())
        if self.search.json:
            theory = {} if bound is None else {"novikoff": bound.facts()}
            terminal.say_json({**verdict.facts(), **theory})
        else:
            theory_parts = [] if bound is None else [Sentence(bound.report().title, "bound"), *bound.remarks()]
            show(verdict.report(*table.data, where=table.where, verify=False) + theory_parts, verdict)
        stdio.flush()
        if self.proof is not None:
            claims = "It claims nothing." if verdict.kind == "undecided" else self.how_to_check(self.proof, table)
            terminal.note(f"Proof written to {self.proof}. {claims}")
        return CODES[verdict.separable]

    def how_to_check(self, proof: str, table: Table) -> str:
        """The command that checks the proof, or why there is none.

        For a CSV file of numbers it is the stand-alone checker, which needs only the standard library.
        """
        if outputs.descriptor(proof) is not None or not Path(proof).is_file():
            return "Save it in a file to check it."
        by_workers = isinstance(self.reading, Asking) and self.reading.is_elsewhere
        if by_workers and any("://" in file for file in self.files):
            return "Check it where the rows are: verdict_from_json(...).verify(linsep.open(..., scheduler=...))."
        found = on_files.expand(self.files) if table.source else []
        if any(map(on_files.is_pipe, found)):
            return "Its rows came through a pipe, which cannot be read again: save them in a file to check the proof."
        words = self.reading.words(rows_left_out=table.rows_left_out)
        place = spelt("--label", self.label)
        if table.source and not by_workers and words in ([], ["--header"]) and on_files.checker_reads(table.source):
            command = [terminal.beside("python"), "-m", "linsep.checker", *map(_path, [proof, *found]), *place, *words]
        else:
            memory = spelt("--memory", None if self.reading.memory == Reading.memory else self.reading.memory)
            command = [*terminal.program(), "verify", *map(_path, [proof, *self.files]), *place, *words, *memory]
        if terminal.printable(shown := shlex.join(command)) != shown:
            return "A name in the command that checks it has characters that cannot be shown."
        return f"Check it with: {shown}"


def timed(table: Table, work: Callable[..., Any], *data: Any, **options: Any) -> Any:
    """The verdict, with the column names of the file, and with the time of its check in `seconds`."""
    started = time.perf_counter()  # what `work` imports has been imported
    verdict = work(*data, **options)
    return replace(verdict, names=table.columns, label_column=table.text_label, seconds=time.perf_counter() - started)


def show(said: Report, verdict: Any, size: str = "") -> None:
    """A report, the size of the data and the work done; `size` describes data from which other rows were made."""
    bias = "" if verdict.bias or size else ", through the origin (no bias)"
    size = size or f"{count(verdict.n_rows, 'row')}, {count(verdict.n_columns, 'column')}"
    facts = (
        Fact("data", f"{size}; numbers {NUMBERS[verdict.numbers]}{bias}"),
        Fact("work", f"{count(verdict.reads, 'read')} of the whole data, {verdict.seconds:.3f} s"),
    )
    terminal.show(said + facts)
    if any(isinstance(part, Grid) and part.more for part in said.parts):
        terminal.note("--json lists them all.")


def _path(name: str) -> str:
    """A path that cannot be mistaken for an option."""
    return f"./{name}" if name.startswith("-") else name


def seconds(search: Search) -> float:
    """How long to search for the fewest mistakes."""
    return SECONDS if search.time_limit is None else search.time_limit


def ends(search: Any) -> str:
    """The best cost found and the lower bound of a search, as its progress shows them."""
    return f"best {search.best:g}, at least {search.lower:g}"


def costs(given: list[str] | None) -> dict[str, Fraction] | None:
    """The costs of the classes, by their labels as text."""
    if given is None:
        return None
    pairs = [one.rpartition("=") for one in given]
    try:
        found = {label: Fraction(number) for label, _, number in pairs}
    except (ValueError, ZeroDivisionError):
        found = {}
    if len(found) < len(given):
        raise ArgumentError(f"--cost {' '.join(given)}: write LABEL=NUMBER, once for each class.")
    return found
