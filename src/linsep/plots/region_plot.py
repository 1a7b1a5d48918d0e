"""Two columns: the sides of a line and its margin, or what makes a line impossible."""

from collections.abc import Iterator
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from linsep.errors import ShapeError
from linsep.halfspace import Halfspace
from linsep.plots import multiclass, style
from linsep.plots.scene import Model, Subject, values_of
from linsep.proofs import Verdict
from linsep.sources.base import Floats, Source
from linsep.sources.inputs import as_source

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

Box = tuple[tuple[float, float], tuple[float, float]]

AROUND = 0.08  # room around the rows, as a part of their extent
SAME_SCALE = 4  # columns whose extents differ by less than this get one scale, so that distances are true
FLATTEST = 0.62  # height to width (or width to height) of such a view


def regions(
    X: Any,
    y: Any = None,
    *,
    verdict: Verdict | None = None,
    model: Model = None,
    bias: bool = True,
    time_limit: float | None = None,
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw rows with two columns, and what is proved about them.

    Separable rows: the line with the largest margin, the margin's band and the rows on its edge. Impossible rows:
    the hulls of both classes, the rows of the obstruction, and the point which both hulls have in common.
    `verdict` saves finding one, which takes at most `time_limit` seconds. `model` (a Halfspace, a PerceptronRun or a
    fitted classifier) is drawn instead of the verdict's line; a classifier without weights, such as one with a kernel,
    is asked point by point.
    A classifier of three classes or more is drawn with the region of each, and needs X and y in memory.
    Of more than 5,000 rows a sample is drawn; the line, the margin and the hulls are those of all rows.

    >>> import linsep
    >>> ax = linsep.plots.regions(*linsep.datasets.xor())
    >>> ax.get_title(loc="left")
    'Overlapping: 4 rows forbid any line'
    """
    if len(multiclass.classes_of(model)) > 2:
        return multiclass.draw(style.canvas(ax, (5.2, 4.1)), X, y, model)
    source = as_source(X, y)
    if source.n_columns != 2:
        raise ShapeError(f"X has {source.n_columns} columns: regions draws two. Choose two, or draw `separation`.")
    subject = Subject.of(source, verdict, model, bias, time_limit)
    ax = style.canvas(ax, (5.2, 4.1))
    box = _framed(ax, subject)
    if subject.halfspace is not None:
        _line(ax, subject.halfspace, subject.margin, box)
    elif model is not None:
        _asked(ax, model, multiclass.asker(X, model), box)
    marks = style.points(ax, subject.values, subject.block.y, source.facts.pair)
    if subject.obstruction is not None:
        _hulls(ax, source)
        marks += _obstruction(ax, subject)
    elif len(subject.marked):
        marks.append(style.rings(ax, values_of(source, subject.marked), "support"))
    style.tidy(ax, subject.headline().replace("hyperplane", "line"), marks)
    style.admit_sample(ax, len(subject.block), source.n_rows)
    ax.set_xlabel(style.literal(source.facts.column_name(0)))
    ax.set_ylabel(style.literal(source.facts.column_name(1)))
    return ax


def _framed(ax: "Axes", subject: Subject) -> Box:
    """Fix the view: all rows with some room around them, both columns to one scale if that is no distortion."""
    low, high = extent(subject.source)
    span = np.where(high > low, high - low, max(float((high - low).max()), 1.0))
    if span.max() < SAME_SCALE * span.min():
        span = np.maximum(span, FLATTEST * span.max())
        ax.set_aspect("equal", adjustable="box")
    middle, reach = (low + high) / 2, (0.5 + AROUND) * span
    (left, bottom), (right, top) = (middle - reach).tolist(), (middle + reach).tolist()
    ax.set(xlim=(left, right), ylim=(bottom, top))
    return (left, right), (bottom, top)


def extent(source: Source) -> tuple[Floats, Floats]:
    """The least and the largest value of each column."""
    ends = [(rows.min(axis=0), rows.max(axis=0)) for rows in (_dense(block.values) for block in source.blocks())]
    return np.min([low for low, _ in ends], axis=0), np.max([high for _, high in ends], axis=0)


def _line(ax: "Axes", halfspace: Halfspace, margin: float, box: Box) -> None:
    """The two sides, the band of the margin, and the line."""
    w, b = np.asarray(halfspace.w, np.float64), float(halfspace.b)
    reach = margin * float(np.linalg.norm(w))
    (left, right), (bottom, top) = box
    view = np.array([[left, bottom], [right, bottom], [right, top], [left, top]])
    for sign, color, _ in style.CLASSES:
        side = clip(view, sign * w, sign * b)
        ax.fill(*side.T, color=style.tint(color, ax, style.PALE), zorder=0, lw=0)
        if reach:
            band = clip(side, -sign * w, reach - sign * b)
            ax.fill(*band.T, color=style.tint(color, ax, style.PALE * style.BAND), zorder=0.5, lw=0, gid="margin")
            _segment(ax, view, w, b - sign * reach, color=style.tint(style.ink(), ax, 0.6), gid="edge", **style.EDGE)
    _segment(ax, view, w, b, lw=1.6, color=style.ink(), zorder=2, gid="line")


def _segment(ax: "Axes", view: Floats, w: Floats, b: float, **looks: Any) -> None:
    """The part of the line w·x + b = 0 that is in view."""
    side = clip(view, w, b)
    distance = np.abs(side @ w + b)
    ends = side[distance <= 1e-9 * max(float(distance.max(initial=0.0)), 1e-300)]
    if len(ends) >= 2:
        ax.plot(*ends[:2].T, **looks)


def clip(polygon: Floats, w: Floats, b: float) -> Floats:
    """The part of a convex polygon with w·x + b >= 0 (Sutherland and Hodgman 1974)."""

    def corners() -> Iterator[Floats]:
        scores = polygon @ w + b
        for k in range(len(polygon)):
            s, t = float(scores[k - 1]), float(scores[k])
            if min(s, t) < 0 < max(s, t):
                yield polygon[k - 1] + (polygon[k] - polygon[k - 1]) * (s / (s - t))
            if t >= 0:
                yield polygon[k]

    return np.array(list(corners())).reshape(-1, 2)


def _asked(ax: "Axes", model: Any, ask: multiclass.Ask, box: Box) -> None:
    """The regions of a classifier without weights."""
    across, up = np.meshgrid(np.linspace(*box[0], multiclass.FINE), np.linspace(*box[1], multiclass.FINE))
    answers = ask(np.column_stack([across.ravel(), up.ravel()])) == model.classes_[1]
    side = answers.reshape(across.shape).astype(float)
    grounds = [style.tint(color, ax, style.PALE) for _, color, _ in style.CLASSES]
    ax.contourf(across, up, side, levels=[-0.5, 0.5, 1.5], colors=grounds, zorder=0)
    if side.any() and not side.all():
        ax.contour(across, up, side, levels=[0.5], colors=[style.ink()], linewidths=1.6, zorder=2)


def _hulls(ax: "Axes", source: Source) -> None:
    for sign, color, _ in style.CLASSES:
        ax.fill(*hull(source, sign).T, fc=style.tint(color, ax, 0.5), alpha=0.3, ec=color, lw=1.0, zorder=1)


def hull(source: Source, sign: int) -> Floats:
    """The corners of a class's convex hull, in order; the two ends where all its rows are on one line."""
    corners = [_corners(_dense(block.values)[block.y == sign]) for block in source.blocks()]
    return _corners(np.concatenate(corners))


def _corners(rows: Floats) -> Floats:
    from scipy.spatial import ConvexHull, QhullError

    if len(rows) < 3:
        return rows
    try:
        return np.asarray(rows[ConvexHull(rows).vertices])
    except QhullError:  # all on one line: its ends are the hull
        order = np.lexsort(rows.T)
        return rows[order[[0, -1]]]


def _obstruction(ax: "Axes", subject: Subject) -> "list[Artist]":
    """Its rows, ringed and numbered, those of each class joined, and the point they have in common."""
    block = subject.source.take(subject.marked)
    places = _dense(block.values)
    marks = [style.rings(ax, places, "obstruction", heavy=True)]
    joins = [_between(places[block.y == sign]) for sign in (-1, 1)]
    style.number_rows(ax, places, subject.marked, np.concatenate([_dense(subject.values), *joins]))
    point = subject.common_point()
    if point is None:
        return marks
    for sign, color, _ in style.CLASSES:
        own = _corners(places[block.y == sign])
        ax.fill(*own.T, fc="none", ec=color, lw=2.2, zorder=2.5, joinstyle="round")
    common = ax.scatter(
        point[:1], point[1:], s=130, marker="*", c=[style.ink()], label="common point", zorder=6, gid="common point"
    )
    return [*marks, common]


def _between(rows: Floats) -> Floats:
    """Points on the segments between a few rows, which a number must not hide either."""
    pairs = np.array(list(combinations(rows[: style.FEW_ROWS], 2))).reshape(-1, 2, 1, 2)
    along = np.linspace(0, 1, 60)[:, None]
    return np.asarray((pairs[:, 0] * (1 - along) + pairs[:, 1] * along).reshape(-1, 2))


def _dense(values: Any) -> Floats:
    return np.asarray(values if isinstance(values, np.ndarray) else values.toarray(), np.float64)
