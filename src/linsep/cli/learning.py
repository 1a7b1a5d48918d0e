"""`linsep learn`: one pass over rows as they come, with the mistakes made on the way."""

import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

from cyclopts import Parameter
from cyclopts.validators import Number

from linsep.cli import stdio
from linsep.cli.options import INTERRUPTED, READABLE, SEPARABLE, Columns, Json, Label, Walking, path

HEADS = ("average", "since", "rows", "label", "predicted", "features")
LABEL_WIDTH = 12  # of a longer label the beginning is shown

if TYPE_CHECKING:
    from linsep.cli.streams import Batch, CtrlC
    from linsep.online import Counts, OnlinePerceptron


class Look(NamedTuple):
    """The stream at one moment: what was counted so far, and the latest row."""

    counts: "Counts"
    label: str
    predicted: str | None
    features: int


def learn(
    *file: Annotated[str, Parameter(help=f"{READABLE} Without any, standard input is read.", converter=path)],
    text: Annotated[
        bool, Parameter(help="Lines are a label, a tab, and text.", negative="", show_default=False)
    ] = False,
    label: Label = None,
    columns: Columns = None,
    bits: Annotated[int, Parameter(help="Words are hashed into 2^bits columns.", validator=Number(gte=1, lte=28))] = 18,
    keep: Annotated[Literal["average", "last"], Parameter(help="Which weights predict.")] = "average",
    bias: Annotated[
        bool, Parameter(help="Whether the hyperplane may miss the origin. [default: yes]", show_default=False)
    ] = True,
    gamma: Annotated[
        float | None, Parameter(help="A margin known to exist: the mistake bound is shown.", validator=Number(gt=0))
    ] = None,
    output: Annotated[str | None, Parameter(name=["--output", "-o"], help="Where to write the model (JSON).")] = None,
    json: Json = False,
    walking: Walking | None = None,
) -> int:
    """Predict each row, then learn from it, in one pass; a line of mistakes each time the rows have doubled.

    Rows are tables of any format with --label, or text with --text. Ctrl-C ends the stream and keeps what was learned.
    """
    from linsep.cli import report, streams, tables
    from linsep.errors import LinsepError, NoRowsError, OneClassError
    from linsep.online import OnlinePerceptron

    how = walking or Walking()
    tables.require_outputs(file or [streams.STDIN], {"--output": output, "--reject": how.reject})
    ctrl_c, model = streams.CtrlC(), OnlinePerceptron(keep=keep, bias=bias, bits=bits if text else None, gamma=gamma)
    options = how.options(label, columns)
    if text:
        batches = streams.text_batches(file, bits, ctrl_c, rejects=options.set_aside)
    else:
        batches = streams.table_batches(file, options, how.format, ctrl_c)
    shown = _Shown(_show_json if json else _Page().show, stops=output is None)
    try:
        with _heard(ctrl_c):
            was_interrupted = _walk(model, batches, ctrl_c, shown)
    except LinsepError as error:
        if output and len(model.classes) > 1:
            model.save(output)
            error.args = (
                f"{error} The model of the {report.count(model.counts.rows, 'row')} before it is in {output}.",
            )
        raise
    if options.set_aside is not None:
        options.set_aside.begin()  # after Ctrl-C too, a file without rows says that none was bad
    left_out = 0 if options.set_aside is None else options.set_aside.count
    if not model.counts.rows:
        seen = f"no row is left: all {left_out:,} were rejected" if left_out else "no row was read"
        raise NoRowsError(f"{seen}: there is nothing to learn from.")
    if len(model.classes) < 2:
        raise OneClassError(
            f"All {model.counts.rows:,} labels are {model.classes[0]!r}: there is nothing to tell apart."
        )
    if output:
        model.save(output)
    shown.require_reader()
    if json:
        report.say_json(summary_json(model, was_interrupted, left_out))
    else:
        summarise(model, was_interrupted)
    if options.set_aside is not None and left_out:
        report.note(report.set_aside(options.set_aside))
    if output:
        report.note(f"Model written to {output}.")
    return INTERRUPTED if was_interrupted else SEPARABLE


def _walk(model: "OnlinePerceptron", batches: "Iterable[Batch]", ctrl_c: "CtrlC", show: Any) -> bool:
    """Learn from every batch; returns whether Ctrl-C ended it."""
    from linsep.cli.tables import about

    try:
        for batch in batches:
            model.columns = batch.columns
            model.label = batch.label if isinstance(batch.label, str) else None
            with about([batch.file]):
                for look in _learn(model, batch):
                    show(look)
            if ctrl_c.noted:
                return True
    except KeyboardInterrupt:
        return True
    return False


def _learn(model: "OnlinePerceptron", batch: "Batch") -> "Iterator[Look]":
    """Learn from the rows of a batch, and look up each time their number in all is a power of two."""
    import numpy as np

    model.add_classes(batch.labels)
    places = {label: code for code, label in enumerate(model.classes)}
    codes = np.array([places[label] for label in batch.labels], np.int64)[batch.codes]
    start, n_rows, X = 0, len(codes), _fitted(model, batch.X)
    while start < n_rows:
        doubled = 1 << model.counts.rows.bit_length() if model.counts.rows else 1
        stop = min(n_rows, start + doubled - model.counts.rows)
        whole = start == 0 and stop == n_rows
        rows = X if whole else X[start:stop]
        foretold = model.learn_codes(rows, codes[start:stop])
        if model.counts.rows == doubled:
            predicted = int(foretold[-1, 0])
            named = None if predicted < 0 else model.classes[predicted]
            yield Look(model.counts, model.classes[codes[stop - 1]], named, _features(rows))
        start = stop


def _fitted(model: "OnlinePerceptron", X: Any) -> Any:
    """Rows as long as the weights: sparse rows may bring columns that were never seen, or be shorter."""
    import scipy.sparse as sp

    if isinstance(X, sp.csr_array) and model.width is not None and model.width != X.shape[1]:
        model.widen(X.shape[1])
        return sp.csr_array((X.data, X.indices, X.indptr), shape=(X.shape[0], model.width))
    return X


def _features(rows: Any) -> int:
    """How many features of the last row are not 0."""
    import numpy as np

    last = rows[-1:]
    return int(np.count_nonzero(last if isinstance(last, np.ndarray) else last.data))


@contextmanager
def _heard(ctrl_c: "CtrlC") -> Iterator[None]:
    """Let Ctrl-C do what the stream wants; only the main thread hears signals."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, ctrl_c)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


class _Shown:
    """Lines for whoever reads them: when nobody does any more, learning stops, or goes on for the model's file."""

    def __init__(self, show: Callable[[Look], None], *, stops: bool) -> None:
        self._show, self._stops = show, stops
        self._error: stdio.UnshownError | None = None

    def __call__(self, look: Look) -> None:
        """Show a line, while they can be shown."""
        if self._error is None:
            try:
                self._show(look)
            except stdio.UnshownError as error:
                self._error = error
                if self._stops:
                    raise

    def require_reader(self) -> None:
        """Say so at last if lines were not shown."""
        if self._error is not None:
            raise self._error


class _Page:
    """The table, line by line as it comes."""

    def __init__(self) -> None:
        self.last: Counts | None = None

    def show(self, look: Look) -> None:
        """One line, and the heads before the first."""
        from linsep.cli.report import say

        if self.last is None:
            say(_line(HEADS))
        since = look.counts if self.last is None else look.counts - self.last
        self.last = look.counts
        shown = [_short(look.label), "-" if look.predicted is None else _short(look.predicted)]
        say(_line((f"{look.counts.loss:.6f}", f"{since.loss:.6f}", str(look.counts.rows), *shown, str(look.features))))
        stdio.flush()


def _line(cells: Sequence[str]) -> str:
    widths = (8, 8, 11, LABEL_WIDTH, LABEL_WIDTH, 8)
    return " ".join(cell.rjust(width) for cell, width in zip(cells, widths, strict=True))


def _short(label: str) -> str:
    from linsep.cli.report import printable

    text = printable(label)
    return text if len(text) <= LABEL_WIDTH else text[: LABEL_WIDTH - 1] + "…"


def _show_json(look: Look) -> None:
    from linsep.cli.report import say_json

    counts = look.counts
    numbers = {"rows": counts.rows, "mistakes": counts.mistakes, "updates": counts.updates}
    say_json({**numbers, "label": look.label, "predicted": look.predicted, "features": look.features})
    stdio.flush()


def summarise(model: "OnlinePerceptron", was_interrupted: bool) -> None:
    """How the stream ended."""
    from linsep.cli import report

    said = model._report()
    report.show(replace(said, title=f"{'Interrupted after' if was_interrupted else 'Finished:'} {said.title}"))


def summary_json(model: "OnlinePerceptron", was_interrupted: bool, left_out: int = 0) -> dict[str, Any]:
    """The last line of --json."""
    counts = model.counts
    ceiling = model.gamma_ceiling if counts.updates else None
    return {
        "summary": True,
        "interrupted": was_interrupted,
        "rows": counts.rows,
        "rows_left_out": left_out,
        "mistakes": counts.mistakes,
        "updates": counts.updates,
        "loss": counts.loss,
        "classes": model.classes,
        "radius": model.radius,
        "gamma": model.gamma,
        "bound": model.bound,
        "gamma_ceiling": ceiling,
    }
