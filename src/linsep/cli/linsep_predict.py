"""`linsep predict`: a label for each row of files, as lines of CSV or of JSON, and how many are wrong."""

import csv
import io
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from json import dumps
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

import linsep
from linsep import on_files
from linsep.cli import file_arguments, stdio, terminal
from linsep.cli.parameters import DONE_CODES, SEPARABLE, Files, Json, NewRows, app, path
from linsep.outputs import replaced

if TYPE_CHECKING:
    from linsep.on_files import Predicted

Array = Any  # NumPy's, which --help does not load


@app.command(help_epilogue=f"Example: linsep predict model.json new.csv\n\n{DONE_CODES}")
def predict(
    model: Annotated[
        str,
        Parameter(help="A model written by linsep fit, by linsep learn, or by a classifier's save.", converter=path),
    ],
    /,
    *file: NewRows,
    label: Annotated[
        str | None,
        Parameter(help="The label column, if the model does not know it.", allow_leading_hyphen=True, converter=path),
    ] = None,
    output: Annotated[str | None, Parameter(name=["--output", "-o"], help="Write a CSV file instead.")] = None,
    scores: Annotated[
        bool, Parameter(help="Add the score w·x + b to each prediction.", negative="", show_default=False)
    ] = False,
    text: Annotated[
        bool,
        Parameter(help="Lines of text, or of a label, a tab and text.", negative="", show_default=False),
    ] = False,
    json: Json = False,
    walking: Files | None = None,
) -> int:
    """Label each row of files, one label per line. A score of exactly 0 gets the negative label.

    Columns are matched by name. If the files have the label column, the error goes to stderr.

    A row that --reject writes out has an empty prediction in its place.
    """
    how = walking or Files()
    file_arguments.require_name(model, "a model")
    file_arguments.require_outputs([model, *file], ("--output", output), ("--reject", how.reject))
    options = {"label": label, **how.keywords()}
    found = on_files.Predictions(linsep.load(model), file, name=model, text=text, note=terminal.note, **options)
    with _page(output, found.classes, with_scores=scores, json=json) as page:
        for part in found.labelled(late=page.add):
            page.add(part)
    if json:
        terminal.say_json({"summary": True, **found.facts()})
    elif (error := found.error()) is not None:
        terminal.note(error)
    empty = "Its prediction is empty." if found.rows_left_out == 1 else "Their predictions are empty."
    terminal.note_rejected(found.rows_left_out, how.reject, f" {empty}")
    return SEPARABLE


class _Lines(ABC):
    """Predictions on their way out."""

    def __init__(self, write: Callable[[str], Any], classes: list[Any], *, with_scores: bool) -> None:
        self._write, self._with_scores = write, with_scores
        self._names = [*map(self._name, classes), self._name(None)]

    def add(self, part: "Predicted") -> None:
        """One line for each row, in their order: the label, and the score where it is asked for; of a bad row, none."""
        rows, codes, scores = part.rows, part.codes, part.scores
        if not part.bad:
            self._write("".join(self._lines(part.file, rows, codes, scores)))
            return
        import numpy as np

        rows = np.concatenate([rows, np.array(part.bad, np.int64)])
        order, nothing = np.argsort(rows), len(part.bad)
        codes = np.concatenate([codes, np.full(nothing, -1)])[order]  # the last name is that of no class
        scores = np.concatenate([scores, np.full(nothing, np.nan)])[order]
        self._write("".join(self._lines(part.file, rows[order], codes, scores)))

    @abstractmethod
    def _name(self, value: Any) -> str:
        """A class as it is written; None is that of a bad row."""

    @abstractmethod
    def _lines(self, file: str, rows: Array, codes: Array, scores: Array) -> Iterable[str]:
        """The lines of some rows; a score of a bad row is NaN."""


class _CsvLines(_Lines):
    """Lines of CSV: a label, quoted where it must be, and a score."""

    def _name(self, value: Any) -> str:
        """An empty cell is quoted where it stands alone: to most readers of CSV, a blank line is no row."""
        return _quoted(value) if value is not None or not self._with_scores else ""

    def _lines(self, file: str, rows: Array, codes: Array, scores: Array) -> Iterable[str]:
        names = [self._names[code] for code in codes.tolist()]
        if not self._with_scores:
            return (f"{name}\n" for name in names)
        shown = ("" if code < 0 else repr(score) for code, score in zip(codes.tolist(), scores.tolist(), strict=True))
        return (f"{name},{score}\n" for name, score in zip(names, shown, strict=True))


class _JsonLines(_Lines):
    """Lines of JSON: the file and the number of a row, its label, and its score."""

    def _name(self, value: Any) -> str:
        return dumps(value, ensure_ascii=False)

    def _lines(self, file: str, rows: Array, codes: Array, scores: Array) -> Iterable[str]:
        start = f'{{"file": {dumps(file, ensure_ascii=False)}, "row": '
        for row, code, score in zip(rows.tolist(), codes.tolist(), scores.tolist(), strict=True):
            shown = f', "score": {"null" if code < 0 else repr(score)}' if self._with_scores else ""
            yield f'{start}{row}, "prediction": {self._names[code]}{shown}}}\n'


@contextmanager
def _page(output: str | None, classes: list[Any], *, with_scores: bool, json: bool) -> Iterator[_Lines]:
    """Where predictions go: to stdout, or into a CSV file that is put in place when all are written."""
    if output is None:
        kind = _JsonLines if json else _CsvLines
        yield kind(_say, classes, with_scores=with_scores)
        return
    with replaced(output) as file:
        file.write(b"prediction,score\n" if with_scores else b"prediction\n")
        yield _CsvLines(lambda text: file.write(text.encode()), classes, with_scores=with_scores)


def _say(text: str) -> None:
    with stdio.shown():
        sys.stdout.write(text)
    stdio.flush()  # whoever waits at the other end of a pipe gets every batch at once


def _quoted(value: Any) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow([value])
    return line.getvalue()
