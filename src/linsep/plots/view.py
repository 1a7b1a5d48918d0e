"""Any number of columns, seen from the side: how far each row is from the hyperplane, and where it lies along it."""

from typing import TYPE_CHECKING, Any

import numpy as np

from linsep.faults import fault
from linsep.halfspace import Halfspace
from linsep.plots import style
from linsep.plots.scene import Model, Subject, drawn_source, values_of
from linsep.proofs import Verdict
from linsep.sources.base import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LARGEST = 1e300  # beyond this, matplotlib cannot leave room around the rows
AROUND = 0.05  # room beside the rows, as a share of their extent
SMALL = 64  # up to this many rows or columns, all directions are computed at once


def separation(
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
    """Draw rows with any number of columns, seen along the hyperplane.

    Horizontal: the signed distance to the hyperplane, which is the vertical line at 0 with the band of its margin.
    Vertical: the direction within the hyperplane along which the rows spread most (their first principal direction once
    w is projected out). Rings mark the rows on the edge of the margin or, if the classes cannot be separated, those of
    the obstruction. If the verdict has no hyperplane, because the classes overlap, a soft margin is fitted to the rows
    drawn. Of more than 5,000 rows a sample is drawn.

    Parameters
    ----------
    X, y, bias, ids
        As `decide` takes them. The rows of an obstruction are labelled with their ids.
    verdict : a verdict or None
        The verdict on these rows, if it is known already. Otherwise it is computed, up to 2,000 columns with the
        largest margin.
    model : Halfspace, PerceptronRun, a fitted classifier, or None
        Its hyperplane is drawn instead of the verdict's.
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
        The data cannot be used.

    Examples
    --------
    >>> import linsep
    >>> ax = linsep.plots.separation(*linsep.datasets.planted(200, 30, margin=0.5))
    >>> ax.get_xlabel()
    'signed distance to the hyperplane'
    """
    subject = Subject.of(drawn_source(X, y, verdict, ids), verdict, model, bias, time_limit)
    halfspace = subject.halfspace or _soft(subject, bias if verdict is None else verdict.bias)
    look = Lookout(halfspace, subject)
    ax = style.canvas(ax, (6.0, 4.2))
    places = look.places(subject.values)
    left, right = min(places[:, 0].min(), -subject.margin), max(places[:, 0].max(), subject.margin)
    if not max(-left, right, np.abs(places).max()) < LARGEST:
        raise fault("overflow")
    room = AROUND * float(right - left or 1.0)
    ax.set_xlim(left - room, right + room)
    style.sides(ax, ax.get_xlim(), subject.margin)
    marks = style.points(ax, places, subject.block.y, subject.source.facts.pair)
    if len(subject.marked):
        picked = look.places(values_of(subject.source, subject.marked))
        impossible = subject.obstruction is not None
        marks.append(style.rings(ax, picked, "obstruction" if impossible else "support", heavy=impossible))
        if impossible:
            style.name_rows(ax, picked, subject.marked.tolist(), places, subject.names)
    style.tidy(ax, subject.headline(), marks)
    style.admit_sample(ax, len(subject.block), subject.source.n_rows)
    ax.set_xlabel("signed distance to the hyperplane")
    ax.set_ylabel("widest direction within it" if look.direction is not None else "")
    if look.direction is None:
        ax.set_yticks([])
    return ax


class Lookout:
    """The view of the rows: two directions, one across the hyperplane and one within it."""

    def __init__(self, halfspace: Halfspace, subject: Subject) -> None:
        line = halfspace.near_one()
        w = line.w.astype(np.float64)
        length = float(np.linalg.norm(w))
        self.unit, self.shift = w / length, float(line.b) / length
        values = subject.values
        self.direction = widest_direction(values, self.unit)
        self.middle = 0.0 if self.direction is None else float((values @ self.direction).mean())

    def places(self, values: Any) -> Floats:
        """The coordinates of rows in the view: the signed distance to the hyperplane, and how far along it."""
        across = np.asarray(values @ self.unit) + self.shift
        along = np.zeros(len(across)) if self.direction is None else np.asarray(values @ self.direction) - self.middle
        return np.column_stack([across, along])


def widest_direction(values: Any, unit: Floats) -> Floats | None:
    """The unit vector orthogonal to `unit` along which the rows spread most; None if nothing is orthogonal to it."""
    from scipy.sparse.linalg import LinearOperator, svds

    if len(unit) == 1:
        return None
    mean = np.asarray(values.mean(axis=0)).ravel()

    def flat(v: Floats) -> Floats:
        return np.asarray(v - unit * (unit @ v))

    if min(values.shape) <= SMALL:
        dense = values if isinstance(values, np.ndarray) else values.toarray()
        centred = dense - mean
        found = np.linalg.svd(centred - np.outer(centred @ unit, unit), full_matrices=False)[2][0]
    else:  # never a dense copy of sparse rows

        def spread(v: Floats) -> Floats:
            level = flat(np.ravel(v))
            return np.asarray(values @ level - mean @ level)

        def gather(u: Floats) -> Floats:
            return flat(np.asarray(values.T @ np.ravel(u)) - mean * np.sum(u))

        start = np.random.default_rng(0).standard_normal(min(values.shape))
        operator = LinearOperator(values.shape, matvec=spread, rmatvec=gather, dtype=np.float64)
        found = svds(operator, k=1, v0=start, tol=1e-6)[2][0]
    level = flat(found)
    if np.linalg.norm(level) < 0.5:  # the rows do not spread at all: any direction within will do
        level = flat(np.eye(1, len(unit), int(np.argmin(np.abs(unit))))[0])
    level /= np.linalg.norm(level)
    return np.asarray(level * np.sign(level[np.argmax(np.abs(level))]))


def _soft(subject: Subject, bias: bool) -> Halfspace:
    """A hyperplane for rows that no hyperplane separates."""
    from linsep.estimators.margin_classifier import soft_margin

    w, b = soft_margin(subject.values, subject.block.y, bias=bias)
    if not np.any(w):  # both classes have the same mean: any direction is as good as another
        w = np.eye(1, len(w))[0]
    return Halfspace(w, b)
