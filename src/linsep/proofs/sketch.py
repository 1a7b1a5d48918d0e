"""The picture of a verdict: the rows that it keeps, in their two columns or projected onto a plane.

Under a linear projection a common weighted mean stays common, and with the normal of a hyperplane as one axis every
row stays on its side: the picture shows what the proof says.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from linsep.picture import Picture, Point
from linsep.proofs.verdict_base import Floats, Verdict
from linsep.proofs.verdicts import HalfspaceVerdict, Obstructed, Overlapping, Separable
from linsep.report import label_text

MODERATE = 1e100  # squares of larger values may overflow


def picture_of(verdict: Verdict) -> Picture | None:
    """The picture; None if the verdict keeps too few rows."""
    found = verdict.obstruction if isinstance(verdict, Obstructed) else None
    found = verdict.nearest if isinstance(verdict, Separable) else found
    nothing = np.zeros((0, verdict.n_columns))
    points, signs = verdict.sample or (nothing, np.zeros(0, np.int8))
    strong = nothing if found is None or found.points is None or found.classes is None else found.points
    rows = np.vstack([points, strong])
    if len(rows) < 2 or not (np.abs(rows) < MODERATE).all():
        return None
    axes, line, caption = _plane(verdict, strong if isinstance(verdict, Overlapping) and len(strong) > 2 else rows)
    negative, positive = (_points(points[signs == sign] @ axes) for sign in (-1, 1))
    hulls: list[tuple[Point, ...]] = [(), ()]
    common = None
    if found is not None and len(strong):
        classes = [[k for k, label in enumerate(found.classes or ()) if label == own] for own in verdict.labels]
        hulls = [_points(strong[members] @ axes) for members in classes]
        if verdict.separable is False and verdict.bias:
            shares = np.array(found.shares)[classes[1]]
            (common,) = _points([shares @ strong[classes[1]] @ axes])
    names = (f"class {label_text(verdict.labels[0])}", f"class {label_text(verdict.labels[1])}")
    return Picture((negative, positive), names, f"{verdict.kind}: {caption}", line, (hulls[0], hulls[1]), common)


def _plane(verdict: Verdict, rows: Floats) -> tuple[Floats, tuple[float, float, float] | None, str]:
    """Two axes, the hyperplane as a line in their plane, and a caption."""
    w, b = np.zeros(verdict.n_columns), 0.0
    if isinstance(verdict, HalfspaceVerdict):
        halfspace = verdict.halfspace.near_one()
        w, b = halfspace.w.astype(np.float64), float(halfspace.b)
    if verdict.n_columns <= 2:
        axes = np.eye(verdict.n_columns, 2)
        across, along = (w @ axes).tolist()
        return axes, (across, along, b) if w.any() else None, "rows in their own columns"
    if not w.any():
        return _widest(rows, 2), None, "rows in the plane in which they differ most"
    length = float(np.linalg.norm(w))
    normal = w / length
    along_it = _widest(rows - np.outer(rows @ normal, normal), 1)
    return np.column_stack([normal, along_it]), (1.0, 0.0, b / length), "rows across the hyperplane and along it"


def _widest(rows: Floats, k: int) -> Floats:
    """The k directions in which the rows differ most, as columns."""
    found = np.linalg.svd(rows - rows.mean(axis=0), full_matrices=False)[2][:k].T
    return np.pad(found, [(0, 0), (0, k - found.shape[1])])


def _points(rows: Iterable[Any]) -> tuple[Point, ...]:
    return tuple((float(x), float(y)) for x, y in rows)
