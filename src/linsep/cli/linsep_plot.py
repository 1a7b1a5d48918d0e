"""`linsep plot`: the classes and what is proved about them, as a picture."""

from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from linsep import on_files
from linsep.cli import file_arguments, progress, terminal
from linsep.cli.parameters import CODES, OF_A_FAULT, SEPARABLE, Bias, File, Json, Label, Learning, TimeLimit, app
from linsep.errors import ArgumentError, NotSeparableError
from linsep.outputs import write_file

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Kind = Literal["separation", "regions", "mistakes", "bound"]

EXTENSIONS = (".png", ".svg", ".pdf")
SIZES: dict[Kind, tuple[float, float]] = {
    "separation": (6.0, 4.2),
    "regions": (5.2, 4.1),
    "mistakes": (6.0, 3.6),
    "bound": (6.0, 4.2),
}
DOTS_PER_INCH = 200
SAME_BYTES: dict[str, dict[str, Any]] = {  # no date, so that the same picture gives the same file
    ".png": {"Software": None},
    ".svg": {"Date": None},
    ".pdf": {"CreationDate": None},
}


@app.command(
    help_epilogue="Example: linsep plot data.csv --label species -o picture.png\n\n"
    f"Exit codes: 0 drawn, 1 there is no bound, 2 bad input, 3 none is known, {OF_A_FAULT}",
)
def plot(
    *file: File,
    output: Annotated[str, Parameter(name=["--output", "-o"], help="Where to write the picture: .png, .svg or .pdf.")],
    label: Label = None,
    kind: Annotated[Kind, Parameter(help="What to draw.")] = "separation",
    bias: Bias = None,
    time_limit: TimeLimit = None,
    json: Json = False,
    reading: Learning = Learning(),
) -> int:
    """Draw the classes and what is proved about them, or a run of the Perceptron.

    separation: distance to the hyperplane, for any number of columns. regions: two columns as they are.
    mistakes: the Perceptron's mistakes in each pass. bound: the two curves of Novikoff's proof.
    """
    from linsep.plots.style import require_matplotlib

    extension = Path(output).suffix.lower()
    if extension not in EXTENSIONS:
        allowed = f"{', '.join(EXTENSIONS[:-1])} or {EXTENSIONS[-1]}"
        raise ArgumentError(f"a picture has the extension {allowed}", file=output)
    file_arguments.require_outputs(file, ("--output", output), ("--reject", reading.reject))
    require_matplotlib()
    with on_files.about(file):
        table = file_arguments.read(file, label, reading)
        bias = table.chosen_bias(bias, file[0])
        try:
            with progress.waiting("Drawing"):
                limit = {} if kind == "mistakes" else {"time_limit": time_limit}
                title = _write(kind, table.data, output, bias=bias, **limit)
        except NotSeparableError as error:
            name = on_files.named(file)
            told = f"{name}: {error.verdict.kind}: without a margin there is no bound to draw. See linsep decide."
            terminal.complain(told, {**error.facts(), "message": told, "file": name} if json else None)
            return CODES[error.verdict.separable]
    if json:
        terminal.say_json({"title": title, "kind": kind, "output": output})
    else:
        terminal.say(title)
    terminal.note(f"Picture written to {output}.")
    return SEPARABLE


def _write(kind: Kind, data: tuple[Any, Any], output: str, **options: Any) -> str:
    """Draw on a figure of our own, off the screen, and put the file in place in one step; returns the title."""
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    from linsep import plots

    figure = Figure(figsize=SIZES[kind], layout="constrained")
    FigureCanvasAgg(figure)
    draw: Callable[..., Axes] = getattr(plots, kind)
    ax = draw(*data, ax=figure.add_subplot(), **options)
    extension = Path(output).suffix.lower()
    content = BytesIO()
    with mpl.rc_context({"svg.hashsalt": "linsep"}):
        figure.savefig(content, format=extension[1:], dpi=DOTS_PER_INCH, metadata=SAME_BYTES[extension])
    write_file(output, content.getvalue())
    return ax.get_title(loc="left").replace(r"\$", "$")
