"""`linsep trace`: every update of a run of the Perceptron."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import isfinite
from typing import Any

from linsep import on_files
from linsep.cli import file_arguments, terminal
from linsep.cli.parameters import LEARNED_CODES, SEPARABLE, UNDECIDED, File, Label, Learning, Run, app
from linsep.report import Grid, RowNames, column_names, plain_name, row_columns

TRACED_UPDATES = 1000
SECONDS = 10.0  # to decide about rows that the run did not separate
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
        if run.standardise:
            _say_scaling(trainer, run.json)
        steps, names = _named(trainer)
        if run.json:
            for step in steps:
                about = {"update": step.update, "row": step.row, "label": step.label, "score": step.score}
                known = {} if names is None else {names.word.replace(" ", "_"): plain_name(names.known[step.row])}
                terminal.say_json({**about, **known, "w": step.w.tolist(), "b": step.b})
        else:
            _show(steps, table.columns, trainer.source.n_columns, names, bias=bias)
        result = trainer.result()
    if run.json:
        terminal.say_json({"summary": True, **result.facts()})
    else:
        theory = on_files.bound_of(trainer.source, bias) if result.separated else None
        bound = theory.bound[1] if theory is not None and isfinite(theory.bound[1]) else None
        proved = on_files.Proved(None, theory) if result.converged else trainer.proved(SECONDS)
        terminal.show(result.report(table.columns, bound, proved))
    return SEPARABLE if result.separated else UNDECIDED


def _named(trainer: Any) -> tuple[Iterable[Any], RowNames | None]:
    """The steps, and what their rows are called; with ids all steps are made first, to look them up in one read."""
    ids = trainer.source.facts.ids
    if ids is None:
        return trainer.steps(), None
    steps = list(trainer.steps())
    return steps, ids.names(step.row for step in steps)


def _show(
    run: Iterable[Any], columns: Sequence[str] | None, n_columns: int, names: RowNames | None, *, bias: bool
) -> None:
    """The updates as a table, starting with zero weights."""
    shown = min(n_columns, SHOWN_WEIGHTS)
    rows = [("0", "", *([] if names is None else [""]), "", "", *["0"] * (shown + bias))]
    for step in run:
        weights = [*step.w[:shown].tolist(), *([step.b] if bias else [])]
        row = [column[0] for column in row_columns([step.row], names, None).values()]
        rows.append((str(step.update), *row, str(step.label), *map(_number, (step.score, *weights))))
    heads = [f"w({name})" for name in column_names(columns, n_columns)[:shown]]
    called = () if names is None else (names.word,)
    head = ("update", "row", *called, "label", "score before", *heads, *(["b"] if bias else []))
    for line in Grid(head, tuple(rows)).ruled():
        terminal.say(line)
    if shown < n_columns:
        terminal.note(f"The first {shown} of {n_columns} weights are shown; --json gives all of them.")


def _number(value: float | int) -> str:
    """A number as the lectures write it."""
    return str(value) if isinstance(value, int) else f"{value:.6g}"


def _say_scaling(trainer: Any, in_json: bool) -> None:
    """What was done to the columns, before the weights of the run, which are those of the scaled columns."""
    scaling = trainer.source.scaling
    if in_json:
        terminal.say_json({"centres": scaling.centres.tolist(), "scales": scaling.scales.tolist()})
    else:
        terminal.note("Each update is shown on the centred and scaled columns; the last line is in your units.")
