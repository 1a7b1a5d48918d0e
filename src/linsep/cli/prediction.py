"""Predictions as lines of CSV."""

import csv
import io
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.errors import OverflowedError
from linsep.halfspace import Halfspace
from linsep.kernels.dense import Dense
from linsep.sources.inputs import read_table

Array = npt.NDArray[Any]


def label(halfspace: Halfspace, X: Any) -> tuple[Array, Array]:
    """The label of each row, and its score."""
    table, _, _ = read_table(X)
    values = table.values if isinstance(table, Dense) else table.data
    rows = table.values if isinstance(table, Dense) else X
    if not _fits(values, halfspace):
        rows = rows.astype(object if isinstance(table, Dense) else np.float64)
    with np.errstate(all="ignore"):  # what is not finite is refused below, by its row
        scores = halfspace.score(rows)
    bad = np.flatnonzero(~np.isfinite(scores.astype(np.float64)))
    if bad.size:
        raise OverflowedError(f"The score of row {bad[0]} is beyond the largest double.")
    negative, positive = halfspace.labels
    return np.where(scores > 0, np.asarray(positive), np.asarray(negative)), scores


def lines(predictions: Array, scores: Array | None, *, header: bool) -> str:
    """One line for each row: the label, and the score where it is asked for."""
    page = io.StringIO()
    writer = csv.writer(page, lineterminator="\n")
    if header:
        writer.writerow(["prediction"] if scores is None else ["prediction", "score"])
    if scores is None:
        writer.writerows([value] for value in predictions.tolist())
    else:
        writer.writerows(zip(predictions.tolist(), map(repr, scores.tolist()), strict=True))
    return page.getvalue()


def _fits(values: Array, halfspace: Halfspace) -> bool:
    """Whether integer scores stay within 64 bits: NumPy would wrap them around in silence."""
    if values.dtype.kind not in "iu" or halfspace.w.dtype.kind not in "iu" or not values.size:
        return True
    largest = max(abs(int(values.max())), abs(int(values.min())))
    weights = sum(abs(weight) for weight in halfspace.w.tolist())
    return bool(largest * weights + abs(halfspace.b) < 2**63)
