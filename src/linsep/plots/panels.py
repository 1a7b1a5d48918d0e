"""Pictures of many classes: their weights as images, and the verdict on every pair of them."""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from linsep.errors import ArgumentError
from linsep.halfspace import Halfspace
from linsep.plots import style
from linsep.proofs import Separable, Verdict
from linsep.proofs.class_verdicts import ClassVerdicts

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap

IN_A_ROW = 5  # panels
ROOM_FOR_A_KEY = 5  # classes: from this many on, the empty half of the matrix has room for a note
TOUCHING = "#f3d37a"


def weights(
    model: Any,
    *,
    shape: tuple[int, int] | None = None,
    names: Any = None,
    ax: "Axes | npt.NDArray[Any] | None" = None,
) -> "npt.NDArray[Any]":
    """Draw the weights of each class as an image, all on one scale, with 0 in the background colour.

    Parameters
    ----------
    model : a fitted classifier with `coef_`, a Halfspace, or an array
        An array has one row of weights for each panel.
    shape : (height, width) or None
        May be left out if the number of columns is a square.
    names : sequence or None
        The titles of the panels; the names of the classes by default.
    ax : Axes, an array of them, or None
        Where to draw; a new figure by default.

    Returns
    -------
    array of Axes
        One for each panel.

    Raises
    ------
    InputError
        There are no weights, or they do not have this shape.

    Examples
    --------
    >>> import linsep
    >>> linsep.plots.weights(linsep.Halfspace([1, -1, 0, 2])).shape
    (1,)
    """
    rows, known = _weights(model)
    names = known if names is None else list(names)
    if len(names) != len(rows):
        raise ArgumentError(f"{len(names)} names for {len(rows)} images: give one for each.")
    height, width = _image_shape(rows.shape[1], shape)
    panels = _panels(ax, len(rows))
    reach = float(np.abs(rows).max()) or 1.0
    for panel, values, name in zip(panels, rows, names, strict=True):
        image = panel.imshow(
            values.reshape(height, width), cmap=_blue_to_orange(panel), vmin=-reach, vmax=reach, interpolation="nearest"
        )
        panel.set(xticks=[], yticks=[])
        panel.spines[:].set_color(style.tint(style.ink(), panel, 0.25))
        panel.set_title(style.literal(name), fontsize="medium")
    bar = panels[0].figure.colorbar(image, ax=panels.tolist(), shrink=0.6, aspect=24, ticks=[-reach, 0, reach])
    bar.outline.set_visible(False)
    bar.ax.set_yticklabels([f"−{reach:.3g}", "0", f"{reach:.3g}"])
    bar.ax.tick_params(length=0)
    return panels


def verdicts(
    pairs: Mapping[tuple[Any, Any], Verdict] | ClassVerdicts, *, title: str | None = None, ax: "Axes | None" = None
) -> "Axes":
    """Draw the verdict on every pair of classes: the margin where a hyperplane separates them, else what prevents it.

    The deeper the blue, the wider the margin. Pairs that are missing stay empty.

    Parameters
    ----------
    pairs : ClassVerdicts or mapping
        What decide_classes(X, y, by="pairs") returns, or a mapping from (a, b) to the verdict on the rows of class a
        against those of class b; the order within a pair does not matter.
    title : str or None
        Above the drawing.
    ax : Axes or None
        Where to draw; a new figure by default.

    Returns
    -------
    Axes
        With the drawing.

    Examples
    --------
    >>> import linsep
    >>> ax = linsep.plots.verdicts({("or", "and"): linsep.decide(*linsep.datasets.xor())})
    >>> [text.get_text() for text in ax.texts]
    ['overlap']
    """
    pairs = _by_pair(pairs) if isinstance(pairs, ClassVerdicts) else pairs
    if not pairs:
        raise ArgumentError("There are no pairs to draw.")
    names = _in_order({name for pair in pairs for name in pair})
    place = {name: k for k, name in enumerate(names)}
    ax = style.canvas(ax, (0.52 * len(names) + 1.0, 0.42 * len(names) + 1.2))
    widest = max((_margin(verdict) for verdict in pairs.values()), default=0.0)
    muted = style.tint(style.ink(), ax, 0.6)
    size = "small" if len(names) <= 6 else "x-small"
    for (a, b), verdict in pairs.items():
        row, column = max(place[a], place[b]), min(place[a], place[b])
        ground = _ground(verdict, widest, ax)
        ax.fill(*_cell(row, column), color=ground, lw=0, gid=f"{verdict.kind} {names[row]} {names[column]}")
        ax.text(column, row, _words(verdict), ha="center", va="center", fontsize=size, color=_readable(ground))
    if len(names) >= ROOM_FOR_A_KEY and widest:
        ax.text(
            1, 1, "a number is\nthe margin", transform=ax.transAxes, ha="right", va="top", fontsize="small", color=muted
        )
    ticks, texts = range(len(names)), [style.literal(str(name)) for name in names]
    ax.set_yticks(ticks[1:], texts[1:])
    ax.set_xticks(ticks[:-1], texts[:-1])
    ax.set(xlim=(-0.5, len(names) - 1.5), ylim=(len(names) - 0.5, 0.5))
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    ax.set_title(style.literal(title or _headline(pairs)), loc="left", fontsize="medium", fontweight="bold")
    return ax


def _by_pair(found: ClassVerdicts) -> dict[tuple[Any, Any], Verdict]:
    if found.by != "pairs":
        raise ArgumentError(f"These are the verdicts by {found.by}: draw those of decide_classes(X, y, by='pairs').")
    return {(classes[0], classes[1]): verdict for classes, verdict in found}


def _weights(model: Any) -> tuple[npt.NDArray[np.float64], list[str]]:
    from sklearn.base import BaseEstimator
    from sklearn.utils.validation import check_is_fitted

    if isinstance(model, Halfspace):
        return _table(model.w), [f"{model.labels[0]} against {model.labels[1]}"]
    if not isinstance(model, BaseEstimator):
        rows = _table(model)
        return rows, [str(k) for k in range(len(rows))]
    check_is_fitted(model)
    coef = getattr(model, "coef_", None)
    if coef is None:
        raise ArgumentError(f"A {type(model).__name__} has no weights to draw.")
    rows, classes = _table(coef), [str(label) for label in model.classes_]
    return rows, classes if len(rows) == len(classes) else [f"{classes[0]} against {classes[1]}"]


def _table(values: Any) -> npt.NDArray[np.float64]:
    rows = np.atleast_2d(np.asarray(values, np.float64))
    if rows.ndim != 2 or not rows.size:
        raise ArgumentError(f"The weights have shape {rows.shape}: one row for each image is needed.")
    return rows


def _image_shape(columns: int, shape: tuple[int, int] | None) -> tuple[int, int]:
    if shape is None:
        side = math.isqrt(columns)
        shape = (side, side)
        if side * side != columns:
            raise ArgumentError(f"{columns} weights do not make a square image: give shape=(height, width).")
    if shape[0] * shape[1] != columns:
        raise ArgumentError(f"shape is {shape}, but there are {columns} weights.")
    return shape


def _panels(ax: Any, count: int) -> npt.NDArray[Any]:
    if ax is not None:
        given = np.ravel(np.asarray(ax, dtype=object))
        if len(given) != count:
            raise ArgumentError(f"ax holds {len(given)} Axes, but there are {count} images.")
        return given
    style.require_matplotlib()
    from matplotlib import pyplot

    columns = min(count, IN_A_ROW)
    lines = -(-count // columns)
    size = (1.35 * columns + 0.9, 1.6 * lines)
    made = pyplot.subplots(lines, columns, figsize=size, layout="constrained", squeeze=False)[1].ravel()
    for spare in made[count:]:
        spare.remove()
    return made[:count]


def _blue_to_orange(ax: "Axes") -> "Colormap":
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("weights", [style.NEGATIVE, ax.get_facecolor(), style.POSITIVE])


def _in_order(names: set[Any]) -> list[Any]:
    try:
        return sorted(names)
    except TypeError:  # names of several types
        return sorted(names, key=str)


def _margin(verdict: Verdict) -> float:
    return verdict.margin[0] if isinstance(verdict, Separable) and verdict.margin else 0.0


def _ground(verdict: Verdict, widest: float, ax: "Axes") -> style.Color:
    if verdict.separable:
        return style.tint(style.NEGATIVE, ax, 0.2 + 0.8 * (_margin(verdict) / widest if widest else 0.0))
    if verdict.separable is None:
        return style.tint(style.ink(), ax, 0.12)
    return style.tint(TOUCHING if verdict.kind == "touching" else style.POSITIVE, ax, 1.0)


def _words(verdict: Verdict) -> str:
    if isinstance(verdict, Separable):
        return f"{_margin(verdict):.3g}" if verdict.margin else "yes"
    return {"touching": "touch", "overlapping": "overlap", "not-separable": "no", "undecided": "?"}[verdict.kind]


def _cell(row: int, column: int) -> tuple[list[float], list[float]]:
    """A square with a gap to its neighbours."""
    left, right, top, bottom = column - 0.48, column + 0.48, row - 0.48, row + 0.48
    return [left, right, right, left], [top, top, bottom, bottom]


def _readable(ground: style.Color) -> str:
    """Black or white, whichever stands out from the background (relative luminance, as in WCAG)."""
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in ground]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return "black" if luminance > 0.18 else "white"


def _headline(pairs: Mapping[tuple[Any, Any], Verdict]) -> str:
    kinds = [verdict.kind for verdict in pairs.values()]
    words = ("separable", "touching", "overlapping", "not-separable", "undecided")
    told = [f"{kinds.count(kind)} {kind.replace('-', ' ')}" for kind in words if kind in kinds]
    return f"{len(kinds)} pairs: {', '.join(told)}"
