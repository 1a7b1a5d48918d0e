"""Two columns: the sides of a line and its margin, or the rows that rule out a line; the regions of many classes."""

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any, TypeAlias

import narwhals as nw
import numpy as np
import numpy.typing as npt

from linsep.errors import ArgumentError, ShapeError
from linsep.faults import fault, few
from linsep.halfspace import Halfspace
from linsep.plots import style
from linsep.plots.scene import Model, Subject, drawn_source, values_of
from linsep.proofs import Verdict
from linsep.proofs.region_proof import Regions
from linsep.report import column_names, count
from linsep.signs import scaled_floats
from linsep.sources.base import Floats, Source
from linsep.tables import read_doubles, read_labels, require_finite, require_one_index
from linsep.tables.row_ids import without_ids

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

Box: TypeAlias = tuple[tuple[float, float], tuple[float, float]]
Ask: TypeAlias = Callable[[Floats], npt.NDArray[Any]]

COLORS = (style.NEGATIVE, style.POSITIVE, "#2f9b74", "#b0529b", "#8a7a2c", "#5c6bc0", "#c2455b", "#6d7680")
MARKERS = "os^DvPX*"
FINE = 320  # points on each side of the grid of rows that a classifier predicts
AROUND = 0.08  # room around the rows, as a share of their extent
SAME_SCALE = 4  # columns whose extents differ by a smaller factor get one scale, so that distances are true
NO_NAMES = ["column 0", "column 1"]
FEW_CUTS = 30  # up to this many are numbered
FLATTEST = 0.62  # height to width (or width to height) of such a view


def regions(
    X: Any,
    y: Any = None,
    *,
    verdict: Verdict | None = None,
    model: Model = None,
    bias: bool = True,
    ids: Any = None,
    time_limit: float | None = None,
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw rows with two columns, and what is proved about them.

    If the rows are separable: the line with the largest margin, the margin's band and the rows on its edge. If not:
    the hulls of both classes, the rows of the obstruction, and the point that both hulls have in common. Of more than
    5,000 rows a sample is drawn; the line, the margin and the hulls are those of all rows.

    Parameters
    ----------
    X, y : the rows and their labels
        As `decide` takes them; two columns. A classifier of three classes or more needs them in memory.
    verdict : a verdict or None
        The verdict on these rows, if it is known already.
    model : Halfspace, PerceptronRun, Regions, a fitted classifier, or None
        Drawn instead of the verdict's line. A classifier without weights, such as one with a kernel, predicts a grid
        of points; of one with three classes or more, the region of each class is drawn; the cuts of `Regions` are
        numbered in the order in which they are read.
    bias, ids
        As `decide` takes them. The rows of an obstruction are labelled with their ids.
    time_limit : float or None
        Seconds for finding the verdict.
    ax : Axes or None
        Where to draw; a new figure by default.

    Returns
    -------
    Axes
        With the drawing.

    Raises
    ------
    InputError
        The data cannot be used, or do not have two columns.

    Examples
    --------
    >>> import linsep
    >>> ax = linsep.plots.regions(*linsep.datasets.xor())
    >>> ax.get_title(loc="left")
    'Overlapping: 4 rows forbid any line'
    """
    model = getattr(model, "regions_", model)
    if len(_classes_of(model)) > 2 or isinstance(model, Regions):
        return _many_regions(style.canvas(ax, (5.2, 4.1)), without_ids(X, ids)[0], y, model)
    source = drawn_source(X, y, verdict, ids)
    if source.n_columns != 2:
        raise ShapeError(f"X has {source.n_columns} columns: regions draws two. Choose two, or draw `separation`.")
    subject = Subject.of(source, verdict, model, bias, time_limit)
    ax = style.canvas(ax, (5.2, 4.1))
    box = _framed(ax, subject)
    if subject.halfspace is not None:
        _line(ax, subject.halfspace, subject.margin, box)
    elif model is not None:
        grounds = [style.tint(color, ax, style.PALE) for _, color, _ in style.CLASSES]
        _asked(ax, model.classes_, asker(without_ids(X, ids)[0], model), box, grounds)
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
    """Fix the view: all rows with some room around them, both columns on one scale if their extents allow it."""
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


def _segment(ax: "Axes", view: Floats, w: Floats, b: float, **looks: Any) -> Floats | None:
    """The part of the line w·x + b = 0 that is in view; returns its ends."""
    side = clip(view, w, b)
    distance = np.abs(side @ w + b)
    ends = side[distance <= 1e-9 * max(float(distance.max(initial=0.0)), 1e-300)]
    if len(ends) < 2:
        return None
    ax.plot(*ends[:2].T, **looks)
    return np.asarray(ends[:2])


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


def _asked(ax: "Axes", classes: npt.NDArray[Any], ask: Ask, box: Box, grounds: Sequence[style.Color]) -> None:
    """The regions of a classifier without weights or of many classes, from its predictions on a grid."""
    across, up = np.meshgrid(np.linspace(*box[0], FINE), np.linspace(*box[1], FINE))
    answers = np.searchsorted(classes, ask(np.column_stack([across.ravel(), up.ravel()]))).reshape(across.shape)
    for k in np.unique(answers).tolist():
        own = (answers == k).astype(float)
        ax.contourf(across, up, own, levels=[0.5, 1.5], colors=[grounds[k]], zorder=0)
        if not own.all():
            ax.contour(across, up, own, levels=[0.5], colors=[style.ink()], linewidths=1.1, zorder=2)


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
    """The rows of the obstruction, ringed and numbered, those of each class joined, and their common point."""
    block = subject.source.take(subject.marked)
    places = _dense(block.values)
    marks = [style.rings(ax, places, "obstruction", heavy=True)]
    joins = [_between(places[block.y == sign]) for sign in (-1, 1)]
    others = np.concatenate([_dense(subject.values), *joins])
    style.name_rows(ax, places, subject.marked.tolist(), others, subject.names)
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
    """Points on the segments between a few rows: numbers must not hide the segments either."""
    pairs = np.array(list(combinations(rows[: style.FEW_ROWS], 2))).reshape(-1, 2, 1, 2)
    along = np.linspace(0, 1, 60)[:, None]
    return np.asarray((pairs[:, 0] * (1 - along) + pairs[:, 1] * along).reshape(-1, 2))


def _dense(values: Any) -> Floats:
    return np.asarray(values if isinstance(values, np.ndarray) else values.toarray(), np.float64)


def _classes_of(model: Any) -> npt.NDArray[Any]:
    """The classes of a fitted classifier; none for a model of another kind."""
    if isinstance(model, Regions):
        return np.array(model.classes)
    from sklearn.base import BaseEstimator
    from sklearn.utils.validation import check_is_fitted

    if not isinstance(model, BaseEstimator):
        return np.array([])
    check_is_fitted(model)
    return np.asarray(getattr(model, "classes_", ()))


def _many_regions(ax: "Axes", X: Any, y: Any, model: Any) -> "Axes":
    """The regions of a classifier of three classes or more, and the rows in the colour and shape of their class."""
    require_one_index(X, y)
    rows, names = _table(X)
    if isinstance(model, Regions) and names == NO_NAMES:
        names = list(column_names(model.names, 2))
    classes, ask = _classes_of(model), asker(X, model)
    places = _places(y, classes, len(rows))
    low, high = rows.min(axis=0), rows.max(axis=0)
    reach = AROUND * np.where(high > low, high - low, 1.0)
    (left, bottom), (right, top) = (low - reach).tolist(), (high + reach).tolist()
    grounds = [style.tint(COLORS[k % len(COLORS)], ax, 1.6 * style.PALE) for k in range(len(classes))]
    if isinstance(model, Regions):
        _cells(ax, model, ((left, right), (bottom, top)), grounds)
    else:
        _asked(ax, classes, ask, ((left, right), (bottom, top)), grounds)
    size = float(np.clip(34 * (60 / len(rows)) ** 0.4, 5, 34))
    marks = [
        ax.scatter(
            rows[places == k, 0], rows[places == k, 1], s=size, c=COLORS[k % len(COLORS)], label=str(name), zorder=3,
            marker=MARKERS[k % len(MARKERS)], linewidths=0.4, edgecolors=[style.tint(style.ink(), ax, 0.0)],
            rasterized=len(rows) > style.MANY_POINTS, gid=f"class {name}",
        )
        for k, name in enumerate(classes.tolist())
    ]  # fmt: skip
    wrong = int(np.count_nonzero(np.searchsorted(classes, ask(rows)) != places))
    made = f"{count(len(model.cuts), 'line')}, " if isinstance(model, Regions) else ""
    style.tidy(ax, f"{made}{count(wrong, 'mistake')} in {count(len(rows), 'row')}", marks)
    ax.set(xlim=(left, right), ylim=(bottom, top), xlabel=style.literal(names[0]), ylabel=style.literal(names[1]))
    return ax


def _cells(ax: "Axes", found: Regions, box: Box, grounds: Sequence[style.Color]) -> None:
    """Each region, and the part of each line that rows are compared with, with its number."""
    (left, right), (bottom, top) = box
    view = np.array([[left, bottom], [right, bottom], [right, top], [left, top]])
    work = [(0 if found.cuts else ~found.only, view)]
    while work:
        k, cell = work.pop()
        if len(cell) < 3:
            continue
        if k < 0:
            ax.fill(*cell.T, color=grounds[~k], zorder=0, lw=0, gid="region")
            continue
        cut = found.cuts[k]
        floats, _ = scaled_floats((*cut.weights, cut.bias_weight))
        w, b = floats[:-1], float(floats[-1])
        ends = _segment(ax, cell, w, b, lw=1.3, color=style.ink(), zorder=2, gid="line")
        if ends is not None and len(found.cuts) <= FEW_CUTS:
            place: dict[str, Any] = {"ha": "center", "va": "center", "zorder": 4, "gid": "cut"}
            around = {"boxstyle": "circle,pad=0.25", "fc": ax.get_facecolor(), "ec": style.ink(), "lw": 0.8}
            ax.annotate(str(k + 1), tuple(ends.mean(axis=0)), fontsize=8, bbox=around, **place)
        work += [(cut.above, clip(cell, w, b)), (cut.below, clip(cell, -w, -b))]


def asker(X: Any, model: Any) -> Ask:
    """A function that predicts points with a table like X: with the names of the columns, if X has them."""
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        return lambda cells: np.asarray(model.predict(cells))
    names, kind = frame.columns, frame.implementation
    return lambda cells: np.asarray(
        model.predict(nw.from_dict(dict(zip(names, cells.T, strict=True)), backend=kind).to_native())
    )


def _table(X: Any) -> tuple[Floats, list[str]]:
    table = read_doubles(X)
    require_finite(table)
    values = table.values if isinstance(table.values, np.ndarray) else table.values.toarray()
    if values.shape[1] != 2:
        raise ShapeError(f"X has the shape {values.shape}: regions draws two columns. Choose two.")
    return values.astype(np.float64), list(table.columns or NO_NAMES)


def _places(y: Any, classes: npt.NDArray[Any], n_rows: int) -> npt.NDArray[np.intp]:
    """The position of each row's label among the classifier's classes."""
    if y is None:
        raise ArgumentError("The regions of more than two classes need X and y, in memory.")
    labels = read_labels(y, n_rows)
    strange = ~np.isin(labels, classes)
    if strange.any():
        row = int(np.argmax(strange))
        raise fault("unknown label", row=row, value=labels[row].item(), known=few(classes.tolist(), 10))
    return np.searchsorted(classes, labels)
