"""`linsep predict`: a label for each row of files, as lines of CSV or of JSON, and how many are wrong."""

import csv
import io
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from json import dumps
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

import linsep
from linsep import on_files
from linsep.cli import file_arguments, stdio, terminal
from linsep.cli.parameters import DONE_CODES, SEPARABLE, Files, Json, NewRows, app, path, switch
from linsep.outputs import replaced

if TYPE_CHECKING:
    from linsep.on_files import Predicted


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
    output: Annotated[
        str | None, Parameter(name=["--output", "-o"], help="Write a CSV file instead of stdout.")
    ] = None,
    scores: Annotated[bool, switch("Add the score w·x + b to each prediction.")] = False,
    text: Annotated[bool, switch("Lines of text, or of a label, a tab and text.")] = False,
    json: Json = False,
    walking: Files = Files(),
) -> int:
    """Label each row of files, one label per line. A score of exactly 0 gets the negative label.

    Columns are matched by name. If the files have the label column, the error goes to stderr.

    A row that --reject writes out gets an empty prediction.
    """
    file_arguments.require_name(model, "a model")
    file_arguments.require_outputs([model, *file], ("--output", output), ("--reject", walking.reject))
    options = {"label": label, **walking.keywords()}
    found = on_files.Predictions(linsep.load(model), file, name=model, text=text, note=terminal.note, **options)
    lines = partial(_json if json and output is None else _csv, names=[*found.classes, None], with_scores=scores)
    with _page(output, with_scores=scores) as write:

        def add(part: "Predicted") -> None:
            write("".join(lines(part.file, *_in_order(part))))

        for part in found.labelled(late=add):
            add(part)
    if json:
        terminal.say_json({"summary": True, **found.facts()})
    elif (error := found.error()) is not None:
        terminal.note(error)
    empty = "Its prediction is empty." if found.rows_left_out == 1 else "Their predictions are empty."
    terminal.note_rejected(found.rows_left_out, walking.reject, f" {empty}")
    return SEPARABLE


def _in_order(part: "Predicted") -> tuple[Any, Any, Any]:
    """The rows, the positions of their classes, and their scores; bad rows are in their places, with -1 and NaN."""
    if not part.bad:
        return part.rows, part.codes, part.scores
    import numpy as np

    rows = np.concatenate([part.rows, np.array(part.bad, np.int64)])
    order, nothing = np.argsort(rows), len(part.bad)
    codes = np.concatenate([part.codes, np.full(nothing, -1)])  # the last name is that of no class
    return rows[order], codes[order], np.concatenate([part.scores, np.full(nothing, np.nan)])[order]


def _csv(file: str, rows: Any, codes: Any, scores: Any, *, names: list[Any], with_scores: bool) -> Iterator[str]:
    """A label, quoted where it must be, and a score.

    An empty cell is quoted where it stands alone: most readers of CSV skip a blank line.
    """
    cells = [_quoted(name) if name is not None or not with_scores else "" for name in names]
    if not with_scores:
        return (f"{cells[code]}\n" for code in codes.tolist())
    pairs = zip(codes.tolist(), scores.tolist(), strict=True)
    return (f"{cells[code]},{'' if code < 0 else repr(score)}\n" for code, score in pairs)


def _json(file: str, rows: Any, codes: Any, scores: Any, *, names: list[Any], with_scores: bool) -> Iterator[str]:
    """The file and the number of a row, its label, and its score."""
    values = [dumps(name, ensure_ascii=False) for name in names]
    start = f'{{"file": {dumps(file, ensure_ascii=False)}, "row": '
    for row, code, score in zip(rows.tolist(), codes.tolist(), scores.tolist(), strict=True):
        shown = f', "score": {"null" if code < 0 else repr(score)}' if with_scores else ""
        yield f'{start}{row}, "prediction": {values[code]}{shown}}}\n'


@contextmanager
def _page(output: str | None, *, with_scores: bool) -> Iterator[Callable[[str], Any]]:
    """Where predictions go: to stdout, or into a CSV file that is put in place when all are written."""
    if output is None:
        yield _say
        return
    with replaced(output) as file:
        file.write(b"prediction,score\n" if with_scores else b"prediction\n")
        yield lambda text: file.write(text.encode())


def _say(text: str) -> None:
    with stdio.shown():
        sys.stdout.write(text)
    stdio.flush()  # so that a reader of the pipe gets each batch immediately


def _quoted(value: Any) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow([value])
    return line.getvalue()
