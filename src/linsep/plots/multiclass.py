"""Two columns and more than two classes: the regions of a classifier, asked point by point."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

import narwhals as nw
import numpy as np
import numpy.typing as npt

from linsep.errors import ArgumentError, ShapeError
from linsep.faults import fault, few
from linsep.plots import style
from linsep.tables import read_doubles, read_labels, require_finite

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats: TypeAlias = npt.NDArray[np.float64]
Ask: TypeAlias = Callable[[Floats], npt.NDArray[Any]]

COLORS = (style.NEGATIVE, style.POSITIVE, "#2f9b74", "#b0529b", "#8a7a2c", "#5c6bc0", "#c2455b", "#6d7680")
MARKERS = "os^DvPX*"
FINE = 320  # points on each side of the grid on which a classifier is asked
AROUND = 0.08  # room around the rows, as a part of their extent


def classes_of(model: Any) -> npt.NDArray[Any]:
    """The classes that a fitted classifier tells apart; none for what is no classifier."""
    from sklearn.base import BaseEstimator
    from sklearn.utils.validation import check_is_fitted

    if not isinstance(model, BaseEstimator):
        return np.array([])
    check_is_fitted(model)
    return np.asarray(getattr(model, "classes_", ()))


def draw(ax: "Axes", X: Any, y: Any, model: Any) -> "Axes":
    """The regions of a classifier of three classes or more, and the rows in the colour and shape of their class."""
    rows, names = _table(X)
    classes = classes_of(model)
    places = _places(y, classes, len(rows))
    low, high = rows.min(axis=0), rows.max(axis=0)
    reach = AROUND * np.where(high > low, high - low, 1.0)
    (left, bottom), (right, top) = (low - reach).tolist(), (high + reach).tolist()
    across, up = np.meshgrid(np.linspace(left, right, FINE), np.linspace(bottom, top, FINE))
    ask = asker(X, model)
    answers = np.searchsorted(classes, ask(np.column_stack([across.ravel(), up.ravel()]))).reshape(across.shape)
    for k in np.unique(answers).tolist():
        own = (answers == k).astype(float)
        ground = style.tint(COLORS[k % len(COLORS)], ax, 1.6 * style.PALE)
        ax.contourf(across, up, own, levels=[0.5, 1.5], colors=[ground], zorder=0)
        if not own.all():
            ax.contour(across, up, own, levels=[0.5], colors=[style.ink()], linewidths=1.1, zorder=2)
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
    style.tidy(ax, f"{wrong:,} mistake{'s' * (wrong != 1)} in {len(rows):,} rows", marks)
    ax.set(xlim=(left, right), ylim=(bottom, top), xlabel=style.literal(names[0]), ylabel=style.literal(names[1]))
    return ax


def asker(X: Any, model: Any) -> Ask:
    """Asks the classifier in the kind of table it knows: with the columns' names, where X has them."""
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
    return values.astype(np.float64), list(table.columns or ("column 0", "column 1"))


def _places(y: Any, classes: npt.NDArray[Any], n_rows: int) -> npt.NDArray[np.intp]:
    """The place of each row's label among the classifier's classes."""
    if y is None:
        raise ArgumentError("The regions of more than two classes need X and y, in memory.")
    labels = read_labels(y, n_rows)
    strange = ~np.isin(labels, classes)
    if strange.any():
        row = int(np.argmax(strange))
        raise fault("unknown label", row=row, value=labels[row].item(), known=few(classes.tolist(), 10))
    return np.searchsorted(classes, labels)
