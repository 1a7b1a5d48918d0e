"""The command that draws: plot."""

from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from linsep.cli.options import (
    NOT_SEPARABLE,
    SEPARABLE,
    UNDECIDED,
    Bias,
    File,
    Json,
    Label,
    Learning,
    TimeLimit,
    rejects,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from linsep.sources.base import Source

Kind = Literal["separation", "regions", "mistakes", "bound"]

ENDINGS = (".png", ".svg", ".pdf")
SIZES: dict[Kind, tuple[float, float]] = {
    "separation": (6.0, 4.2),
    "regions": (5.2, 4.1),
    "mistakes": (6.0, 3.6),
    "bound": (6.0, 4.2),
}
DOTS_PER_INCH = 200
SAME_BYTES: dict[str, dict[str, Any]] = {  # the same picture is the same file: without the time of day
    ".png": {"Software": None},
    ".svg": {"Date": None},
    ".pdf": {"CreationDate": None},
}


def plot(
    *file: File,
    output: Annotated[str, Parameter(name=["--output", "-o"], help="Where to write the picture: .png, .svg or .pdf.")],
    label: Label = None,
    kind: Annotated[Kind, Parameter(help="What to draw.")] = "separation",
    bias: Bias = None,
    time_limit: TimeLimit = None,
    json: Json = False,
    reading: Learning | None = None,
) -> int:
    """Draw the classes and what is proved about them, or a run of the Perceptron.

    separation: distance to the hyperplane, for any number of columns. regions: two columns as they are.
    mistakes: the Perceptron's mistakes in each pass. bound: the two curves of Novikoff's proof.
    """
    from linsep.cli import report, tables
    from linsep.cli.proving import chosen_bias
    from linsep.errors import ArgumentError, NotSeparableError
    from linsep.plots.style import require_matplotlib

    ending = Path(output).suffix.lower()
    if ending not in ENDINGS:
        raise ArgumentError(f"{output}: the name of a picture ends in {', '.join(ENDINGS[:-1])} or {ENDINGS[-1]}.")
    tables.require_outputs(file, {"--output": output, "--reject": rejects(reading)})
    require_matplotlib()
    with tables.about(file):
        table = tables.read(file, label, reading)
        bias = chosen_bias(file, table, bias)
        source = table.source
        try:
            with report.waiting("Drawing"):
                title = _write(kind, source, output, bias=bias, time_limit=time_limit)
        except NotSeparableError as error:
            why = f"{error.verdict.kind}: without a margin there is no bound to draw"
            told = f"{tables.named(file)}: {why}. See linsep decide."
            report.complain(told, {**error.facts(), "message": told, "file": tables.named(file)} if json else None)
            return NOT_SEPARABLE if error.verdict.separable is False else UNDECIDED
    if json:
        report.say_json({"title": title, "kind": kind, "output": output})
    else:
        report.say(title)
    report.note(f"Picture written to {output}.")
    return SEPARABLE


def _write(kind: Kind, source: "Source", output: str, *, bias: bool, time_limit: float | None) -> str:
    """Draw on a figure of our own, off the screen, and put the file in place in one step; returns the title."""
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    from linsep.outputs import write_file

    figure = Figure(figsize=SIZES[kind], layout="constrained")
    FigureCanvasAgg(figure)
    ax = figure.add_subplot()
    _draw(kind, source, ax, bias=bias, time_limit=time_limit)
    ending = Path(output).suffix.lower()
    content = BytesIO()
    with mpl.rc_context({"svg.hashsalt": "linsep"}):
        figure.savefig(content, format=ending[1:], dpi=DOTS_PER_INCH, metadata=SAME_BYTES[ending])
    write_file(output, content.getvalue())
    return ax.get_title(loc="left").replace(r"\$", "$")


def _draw(kind: Kind, source: "Source", ax: "Axes", *, bias: bool, time_limit: float | None) -> None:
    from linsep import plots
    from linsep.plots.scene import judged

    if kind == "mistakes":
        plots.mistakes(source, bias=bias, ax=ax)
    elif kind == "bound":
        plots.bound(source, bias=bias, time_limit=time_limit, ax=ax)
    else:
        draw = plots.regions if kind == "regions" else plots.separation
        draw(source, verdict=judged(source, bias, time_limit), ax=ax)
