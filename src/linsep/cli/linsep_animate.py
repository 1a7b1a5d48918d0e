"""`linsep animate`: a run of the Perceptron as a film."""

from typing import Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from linsep import on_files
from linsep.cli import file_arguments, progress, terminal
from linsep.cli.parameters import DONE_CODES, SEPARABLE, Bias, File, Json, Label, Learning, Order, Seed, app


@app.command(help_epilogue=f"Example: linsep animate example:cornwell -o run.gif\n\n{DONE_CODES}")
def animate(
    *file: File,
    output: Annotated[str, Parameter(name=["--output", "-o"], help="Where to write the film: .gif, .svg or .mp4.")],
    label: Label = None,
    order: Annotated[Order, Parameter(help="Which mistake is corrected next.")] = "cyclic",
    bias: Bias = None,
    max_updates: Annotated[
        int, Parameter(help="Show at most this many updates.", validator=Number(gte=1, lte=500))
    ] = 100,
    seconds: Annotated[
        float, Parameter(help="How long each update is shown: 0.02 to 60.", validator=Number(gte=0.02, lte=60))
    ] = 0.8,
    seed: Seed = 0,
    json: Json = False,
    reading: Learning = Learning(),
) -> int:
    """Show a run of the Perceptron on two columns as a film: the line, the row corrected, and the bound's proof.

    --columns chooses the two columns. MP4 needs the program ffmpeg; SVG plays in any browser. For a run on standardised
    columns open `linsep explore --standardise`, which saves its run as a film too.
    """
    from linsep import plots
    from linsep.plots.animation import writer

    file_arguments.require_outputs(file, ("--output", output), ("--reject", reading.reject))
    writer(output)
    with on_files.about(file), progress.waiting("Drawing"):
        table = file_arguments.read(file, label, reading)
        title = plots.animate(
            *table.data,
            path=output,
            bias=table.chosen_bias(bias, file[0]),
            order=order,
            max_updates=max_updates,
            seconds=seconds,
            random_state=seed,
        )
    if json:
        terminal.say_json({"title": title, "output": output})
    else:
        terminal.say(title)
    terminal.note(f"Film written to {output}.")
    return SEPARABLE
