"""`linsep learn`: one pass over rows as they come, with the mistakes made on the way."""

from collections.abc import Callable, Sequence
from signal import SIGINT
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter
from cyclopts.validators import Number

import linsep
from linsep import on_files
from linsep.cli import file_arguments, stdio, terminal
from linsep.cli.parameters import (
    INTERRUPTED,
    OF_A_FAULT,
    READABLE,
    SEPARABLE,
    Columns,
    Files,
    Json,
    Label,
    ModelFile,
    app,
    listed,
    path,
    switch,
)
from linsep.errors import LinsepError

if TYPE_CHECKING:
    from linsep.on_files import Look, OnePass

HEADS = ("average", "since", "rows", "label", "predicted", "features")
LABEL_WIDTH = 12  # a longer label is cut


@app.command(
    help_epilogue="Example: linsep learn --text messages.tsv -o model.json\n\n"
    f"Exit codes: 0 done, 2 bad input, 130 interrupted (the model is kept), {OF_A_FAULT}",
)
def learn(
    *file: Annotated[str, Parameter(help=f"{READABLE} Without any, standard input is read.", converter=path)],
    text: Annotated[bool, switch("Lines are a label, a tab, and text.")] = False,
    label: Label = None,
    columns: Columns = None,
    bits: Annotated[int, Parameter(help="Words are hashed into 2^bits columns.", validator=Number(gte=1, lte=28))] = 18,
    keep: Annotated[Literal["average", "last"], Parameter(help="Which weights predict.")] = "average",
    rule: Annotated[
        Literal["perceptron", "pa1", "pa2", "arow"],
        Parameter(help="How far an update goes: passive-aggressive, or second order (with --keep last)."),
    ] = "perceptron",
    bias: Annotated[bool, Parameter(help="Fit a bias (intercept) term. [default: yes]", show_default=False)] = True,
    gamma: Annotated[
        float | None, Parameter(help="A margin known to exist: the mistake bound is shown.", validator=Number(gt=0))
    ] = None,
    output: ModelFile = None,
    json: Json = False,
    walking: Files = Files(),
) -> int:
    """Predict each row, then learn from it, in one pass; show a line each time the number of rows has doubled.

    Rows are tables of any format with --label, or text with --text. Ctrl-C ends the stream and keeps what was learned.
    """
    file_arguments.require_outputs(file or ["-"], ("--output", output), ("--reject", walking.reject))
    ctrl_c = stdio.FirstSignal(SIGINT)
    model = linsep.OnlinePerceptron(keep=keep, rule=rule, bias=bias, bits=bits if text else None, gamma=gamma)
    options = {"label": label, "columns": listed(columns), **walking.keywords()}
    stream = on_files.OnePass(model, file, waiting=ctrl_c.waiting, note=terminal.note, **options)
    unshown = _walk(stream, ctrl_c, _show_json if json else _table(), output)
    stream.finish()
    if output:
        model.save(output)
    if unshown:
        raise unshown
    if json:
        terminal.say_json({"summary": True, **stream.facts()})
    else:
        terminal.show(stream.report())
    terminal.note_rejected(stream.rows_left_out, walking.reject)
    if output:
        terminal.note(f"Model written to {output}.")
    return INTERRUPTED if stream.was_stopped else SEPARABLE


def _walk(
    stream: "OnePass", ctrl_c: stdio.FirstSignal, show: "Callable[[Look], None]", output: str | None
) -> stdio.UnshownError | None:
    """Learn from every row. What was learned before Ctrl-C is kept; what was learned before a bad row is saved.

    If the lines can no longer be shown, learning stops; with --output it continues, and the error is returned.
    """
    unshown = None
    try:
        with ctrl_c:
            for look in stream.looks(lambda: ctrl_c.noted):
                try:
                    if unshown is None:
                        show(look)
                except stdio.UnshownError as error:
                    unshown = error
                    if output is None:
                        raise
    except KeyboardInterrupt:
        stream.was_stopped = True
    except LinsepError as error:
        if output and len(stream.model.classes) > 1:
            stream.model.save(output)
            rows = terminal.count(stream.model.counts.rows, "row")
            error.at(fix=f"{error.fault.fix} The model of the {rows} before it is in {output}.".lstrip())
        raise
    return unshown


def _table() -> "Callable[[Look], None]":
    """A function that shows each line as it comes: the heads before the first, and the loss since the line before."""
    last: list[Any] = []

    def show(look: "Look") -> None:
        if not last:
            terminal.say(_line(HEADS))
        since = look.counts - last.pop() if last else look.counts
        last.append(look.counts)
        shown = [_short(look.label), "-" if look.predicted is None else _short(look.predicted)]
        losses = (f"{look.counts.loss:.6f}", f"{since.loss:.6f}")
        terminal.say(_line((*losses, str(look.counts.rows), *shown, str(look.features))))
        stdio.flush()

    return show


def _line(cells: Sequence[str]) -> str:
    widths = (8, 8, 11, LABEL_WIDTH, LABEL_WIDTH, 8)
    return " ".join(cell.rjust(width) for cell, width in zip(cells, widths, strict=True))


def _short(label: str) -> str:
    text = terminal.printable(label)
    return text if len(text) <= LABEL_WIDTH else text[: LABEL_WIDTH - 1] + "…"


def _show_json(look: "Look") -> None:
    counts = look.counts
    numbers = {"rows": counts.rows, "mistakes": counts.mistakes, "updates": counts.updates}
    terminal.say_json({**numbers, "label": look.label, "predicted": look.predicted, "features": look.features})
    stdio.flush()
