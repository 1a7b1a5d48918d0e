"""`linsep fit`: learn a hyperplane, and write it as a model."""

from contextlib import suppress
from signal import SIGINT, SIGTERM
from time import monotonic
from typing import Annotated

from cyclopts import Parameter

from linsep import on_files
from linsep.cli import file_arguments, stdio, terminal
from linsep.cli.parameters import (
    INTERRUPTED,
    LEARNED_CODES,
    SEPARABLE,
    TERMINATED,
    UNDECIDED,
    File,
    Label,
    Learning,
    ModelFile,
    Progress,
    Run,
    app,
)
from linsep.cli.progress import learning, waiting

SECONDS = 10.0  # or as long as the run took, if that is longer: to decide about rows that it did not separate


@app.command(help_epilogue=f"Example: linsep fit data.csv --label species -o model.json\n\n{LEARNED_CODES}")
def fit(
    *file: File,
    label: Label = None,
    output: ModelFile = None,
    checkpoint: Annotated[
        str | None, Parameter(help="Save progress in this file; the same command resumes from it.")
    ] = None,
    progress: Progress = False,
    run: Run = Run(),
    reading: Learning = Learning(),
) -> int:
    """Learn a hyperplane with the Perceptron; Ctrl-C stops and keeps the best weights so far."""
    reading.require_all_categories()
    before = on_files.previous(checkpoint) if checkpoint else None
    kept = (("--checkpoint", checkpoint), ("--checkpoint", before))
    file_arguments.require_outputs(file, ("--output", output), *kept, ("--reject", reading.reject))
    started = monotonic()
    with on_files.about(file):
        table = file_arguments.read(file, label, reading)
        trainer = on_files.Trainer(*table.data, **run.keywords(table.chosen_bias(run.bias, file[0])))
        if not run.max_passes:
            terminal.note("No cap on passes: it ends when the classes are separated, or with Ctrl-C.")
        saved = on_files.Checkpoint(trainer, checkpoint, terminal.note) if checkpoint else None
        heard = (SIGINT, SIGTERM) if saved else (SIGINT,)
        with learning(run.max_passes or None, wanted=progress) as show, stdio.FirstSignal(*heard) as signal:
            result = trainer.run(show, lambda: signal.noted, saved)
        if output:
            trainer.save(output, result, table.columns, table.label)
        is_open = not result.separated and not result.converged and not result.stopped_by
        spent = monotonic() - started
        proved = _proved(trainer, max(SECONDS, spent)) if is_open else on_files.Proved()
    if run.json:
        terminal.say_json({**result.facts(), "separable": True if result.separated else proved.separable})
    else:
        terminal.show(result.report(table.columns, proved=proved))
        if proved.theory is not None and proved.theory.standardised is not None and not run.standardise:
            terminal.note("--standardise runs the Perceptron on standardised columns.")
    stdio.flush()
    if output:
        terminal.note(f"Model written to {output}.")
    if saved:
        saved.close(result)
        if result.stopped_by:
            return TERMINATED if result.stopped_by == SIGTERM else INTERRUPTED
    return SEPARABLE if result.separated else UNDECIDED


def _proved(trainer: "on_files.Trainer", seconds: float) -> "on_files.Proved":
    """What is proved about rows that the run did not separate; Ctrl-C leaves that open, and the run is still shown."""
    with suppress(KeyboardInterrupt), waiting("Deciding"):
        return trainer.proved(seconds)
    return on_files.Proved()
