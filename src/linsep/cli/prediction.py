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
    rows = table.values if isinstance(table, Dense) else X
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
