"""`linsep trace`: every update of a run of the Perceptron."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import isfinite
from typing import Any

import linsep
from linsep import on_files
from linsep.cli import file_arguments, terminal
from linsep.cli.parameters import LEARNED_CODES, SEPARABLE, UNDECIDED, File, Label, Learning, Run, app
from linsep.report import Grid, column_names

TRACED_UPDATES = 1000
BOUND_ENTRIES = 100_000  # tables up to this size have their mistake bound computed beside a trace
SHOWN_WEIGHTS = 8


@app.command(help_epilogue=f"Example: linsep trace data.csv --label species\n\n{LEARNED_CODES}")
def trace(*file: File, label: Label = None, run: Run = Run(), reading: Learning = Learning()) -> int:
    """Show every update of the Perceptron. Rows are counted from 0.

    Without --max-updates it stops after 1,000 of them.
    """
    run = replace(run, max_updates=run.max_updates or TRACED_UPDATES)
    file_arguments.require_outputs(file, ("--reject", reading.reject))
    with on_files.about(file):
        table = file_arguments.read(file, label, reading)
        bias = table.chosen_bias(run.bias, file[0])
        trainer = on_files.Trainer(*table.data, keep="last", **run.keywords(bias))
        if run.json:
            for step in trainer.steps():
                about = {"update": step.update, "row": step.row, "label": step.label, "score": step.score}
                terminal.say_json({**about, "w": step.w.tolist(), "b": step.b})
        else:
            _show(trainer.steps(), table.columns, trainer.source.n_columns, bias=bias)
        result = trainer.result()
    if run.json:
        terminal.say_json({"summary": True, **result.facts()})
    else:
        bound = _bound(trainer.source, bias) if result.separated else None
        terminal.show(result.report(table.columns, bound))
    return SEPARABLE if result.separated else UNDECIDED


def _show(run: Iterable[Any], columns: Sequence[str] | None, n_columns: int, *, bias: bool) -> None:
    """The updates as a table, from the zero weights on."""
    shown = min(n_columns, SHOWN_WEIGHTS)
    rows = [("0", "", "", "", *["0"] * (shown + bias))]
    for step in run:
        weights = [*step.w[:shown].tolist(), *([step.b] if bias else [])]
        rows.append((str(step.update), str(step.row), str(step.label), *map(_number, (step.score, *weights))))
    heads = [f"w({name})" for name in column_names(columns, n_columns)[:shown]]
    for line in Grid(("update", "row", "label", "score before", *heads, *(["b"] if bias else [])), tuple(rows)).ruled():
        terminal.say(line)
    if shown < n_columns:
        terminal.note(f"The first {shown} of {n_columns} weights are shown; --json gives all of them.")


def _number(value: float | int) -> str:
    """A number as the lectures write it."""
    return str(value) if isinstance(value, int) else f"{value:.6g}"


def _bound(source: Any, bias: bool) -> float | None:
    """Novikoff's bound on the updates, where it takes no time to know."""
    if source.n_rows * source.n_columns > BOUND_ENTRIES:
        return None
    try:
        most = linsep.novikoff(source, bias=bias).bound[1]
        return most if isfinite(most) else None
    except linsep.NotSeparableError:  # separable by too little for floats
        return None
