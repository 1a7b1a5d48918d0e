"""What the pictures have in common: colours, marks, and where matplotlib comes from.

Blue and orange can be told apart with every kind of colour vision, on white and on black; the classes differ in shape
as well. Everything else has the text and background colours of the current rcParams, or a mixture of the two.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from linsep.errors import MissingPackageError
from linsep.report import RowNames, row_texts

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

Color: TypeAlias = tuple[float, float, float]
Box: TypeAlias = tuple[float, float, float, float]

NEGATIVE, POSITIVE = "#3a7ebf", "#e07b28"
CLASSES = ((-1, NEGATIVE, "o"), (1, POSITIVE, "s"))
PALE = 0.12  # how strongly the background of a class has its colour
BAND = 0.3  # how much of that remains within the margin
EDGE: dict[str, Any] = {"ls": (0, (4, 3)), "lw": 0.9, "zorder": 2}
FEW_ROWS = 8  # up to this many rows of an obstruction are numbered
LEVEL = 0.6  # the cost of placing a number at the height of its row, where a line may cross it out
CLOSE = 15  # points: a number farther away than this is joined to its row by a line
AROUND = [(dx, dy) for dy in (9, -9, 0, 26, -26, 44, -44, 62, -62) for dx in (8, -8, 20, -20, 40, -40)]
MANY_RINGS = 40
MANY_POINTS = 1000  # from this many on, points are stored as pixels, even in a vector file


def require_matplotlib() -> None:
    """Raise an error that names the extra if matplotlib is not installed."""
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError as error:
        raise MissingPackageError("matplotlib", "plots", "Pictures") from error


def canvas(ax: "Axes | None", size: tuple[float, float]) -> "Axes":
    """The Axes to draw on: those given, or those of a new pyplot figure."""
    if ax is not None:
        return ax
    require_matplotlib()
    from matplotlib import pyplot

    return pyplot.subplots(figsize=size, layout="constrained")[1]


def ink() -> Color:
    """The colour of text."""
    from matplotlib import rcParams
    from matplotlib.colors import to_rgb

    return to_rgb(rcParams["text.color"])


def tint(color: Any, ax: "Axes", share: float) -> Color:
    """A colour mixed with the background: `share` of it is the colour."""
    from matplotlib.colors import to_rgb

    mixed = share * np.array(to_rgb(color)) + (1 - share) * np.array(to_rgb(ax.get_facecolor()))
    red, green, blue = mixed.tolist()
    return red, green, blue


def tidy(ax: "Axes", title: str, marks: "Sequence[Artist]" = ()) -> None:
    """Remove the box, put the title at the left, and under it, in one line, the meaning of the marks."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.set_title(literal(title), loc="left", fontsize="medium", fontweight="bold", pad=22 if marks else 8)
    if marks:
        _key(ax, marks)


def _key(ax: "Axes", marks: "Sequence[Artist]") -> None:
    labels = [literal(str(mark.get_label())) for mark in marks]
    from matplotlib.collections import PathCollection

    legend = ax.legend(
        marks, labels, loc="lower left", bbox_to_anchor=(0, 1), ncols=len(marks), frameon=False,
        borderaxespad=0.2, borderpad=0, handletextpad=0.4, columnspacing=1.2, fontsize="small",
    )  # fmt: skip
    for mark in legend.legend_handles:
        if isinstance(mark, PathCollection):  # with thousands of rows, dots are too small to see in the key
            mark.set_sizes(np.maximum(mark.get_sizes(), 22))


def admit_sample(ax: "Axes", drawn: int, rows: int) -> None:
    """Add a note if not every row is drawn."""
    if drawn < rows:
        note = f"{drawn:,} of {rows:,} rows drawn"
        place: dict[str, Any] = {"transform": ax.transAxes, "ha": "right", "va": "bottom", "zorder": 8}
        ax.text(0.99, 0.01, note, fontsize="small", color=tint(ink(), ax, 0.7), **place)


def literal(text: str) -> str:
    """Text from the data, shown as it is: a dollar sign in it does not begin a formula."""
    return text.replace("$", r"\$")


def sides(ax: "Axes", across: tuple[float, float], margin: float) -> None:
    """The two sides of a vertical hyperplane at 0, with the band of its margin between them."""
    for (sign, color, _), end in zip(CLASSES, across, strict=True):
        ax.axvspan(sign * margin, end, color=tint(color, ax, PALE), lw=0, zorder=0)
    if margin:
        for sign, color, _ in CLASSES:
            ax.axvspan(0, sign * margin, color=tint(color, ax, PALE * BAND), lw=0, zorder=0, gid="margin")
            ax.axvline(sign * margin, **EDGE, color=tint(ink(), ax, 0.6))
    ax.axvline(0, color=ink(), lw=1.6, zorder=2, gid="hyperplane")


def points(ax: "Axes", places: npt.NDArray[Any], y: npt.NDArray[Any], labels: tuple[Any, Any]) -> "list[Artist]":
    """The rows, in the colour and the shape of their class."""
    size = float(np.clip(34 * (60 / len(y)) ** 0.4, 5, 34))
    drawn: list[Artist] = []
    for (sign, color, marker), label in zip(CLASSES, labels, strict=True):
        own = places[y == sign]
        drawn.append(
            ax.scatter(
                own[:, 0], own[:, 1], s=size, c=color, marker=marker, linewidths=0.4 if size > 12 else 0.0,
                edgecolors=tint(color, ax, 0.0), label=str(label), zorder=3, rasterized=len(y) > MANY_POINTS,
                gid=f"rows {sign:+d}",
            )
        )  # fmt: skip
    return drawn


def rings(ax: "Axes", places: npt.NDArray[Any], what: str, *, heavy: bool = False) -> "Artist":
    """Rows marked by a ring."""
    size, width = (100, 1.6) if heavy else (52, 0.9)
    if len(places) > MANY_RINGS:
        size, width = 24, 0.8
    return ax.scatter(
        places[:, 0], places[:, 1], s=size, facecolors="none", edgecolors=[ink()], linewidths=width, label=what,
        zorder=5, gid="marked rows",
    )  # fmt: skip


def name_rows(
    ax: "Axes", places: npt.NDArray[Any], rows: Sequence[int], others: npt.NDArray[Any], names: RowNames | None = None
) -> None:
    """Write the names of a few rows beside them, each where it hides the fewest points and no other name."""
    told: dict[tuple[float, float], list[str]] = {}
    for (x, y), text in zip(places.tolist(), row_texts(rows, names), strict=True):
        told.setdefault((x, y), []).append(literal(text))
    if len(told) > FEW_ROWS:
        return
    word = "row" if names is None else names.word
    is_text = names is not None and all(isinstance(name, str) for name in names.ids(rows))
    points_a_pixel = 72 / ax.get_figure(root=True).dpi  # type: ignore[union-attr]
    pixels = ax.transData.transform(others) * points_a_pixel
    frame = ax.bbox.get_points() * points_a_pixel
    marked = ax.transData.transform(list(told)) * points_a_pixel
    taken: list[Box] = []
    for (place, own), (x, y) in zip(told.items(), marked.tolist(), strict=True):
        text = ", ".join(own) if is_text else f"{word} {own[0]}" if len(own) == 1 else f"{word}s {', '.join(own)}"

        def cost(offset: tuple[float, float], x: float = x, y: float = y, text: str = text) -> float:
            box = _spot(x, y, *offset, text)
            near = np.hypot(*(marked - ((box[0] + box[2]) / 2, (box[1] + box[3]) / 2)).T)
            is_astray = near.min() < np.hypot((box[0] + box[2]) / 2 - x, (box[1] + box[3]) / 2 - y) - 1e-9
            far = 0.05 * float(np.hypot(*offset)) + (0 if offset[1] else LEVEL)
            return _hidden(box, pixels, taken, frame) + far + 2 * bool(is_astray)

        dx, dy = min(AROUND, key=cost)
        taken.append(_spot(x, y, dx, dy, text))
        line = {"arrowstyle": "-", "lw": 0.7, "color": ink(), "shrinkA": 0, "shrinkB": 5}
        ax.annotate(
            text, place, xytext=(dx, dy), textcoords="offset points", fontsize="small", zorder=7, va="center",
            ha="left" if dx > 0 else "right", arrowprops=line if np.hypot(dx, dy) > CLOSE else None,
        )  # fmt: skip


def _spot(x: float, y: float, dx: float, dy: float, text: str) -> Box:
    """The box that a text takes, in points: left, bottom, right, top."""
    width = 5.2 * len(text) + 4
    left = x + dx if dx > 0 else x + dx - width
    return left, y + dy - 6, left + width, y + dy + 6


def _hidden(box: Box, pixels: npt.NDArray[Any], taken: list[Box], frame: npt.NDArray[Any]) -> float:
    """What a text at this place would cover: points, other texts, and the area outside the picture."""
    left, bottom, right, top = box
    inside = (pixels > (left - 3, bottom - 3)) & (pixels < (right + 3, top + 3))
    crossed = sum(left < other[2] and other[0] < right and bottom < other[3] and other[1] < top for other in taken)
    outside = left < frame[0, 0] or right > frame[1, 0] or bottom < frame[0, 1] or top > frame[1, 1]
    return float(inside.all(axis=1).sum() + 20 * crossed + 50 * outside)
