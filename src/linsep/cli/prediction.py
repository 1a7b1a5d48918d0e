"""Predictions as lines of CSV."""

import csv
import io
from typing import Any

import numpy as np

from linsep.halfspace import Halfspace
from linsep.sources.inputs import read_table


def label(halfspace: Halfspace, X: Any) -> tuple[Any, Any]:
    """The label of each row, and its score."""
    rows = X if not hasattr(X, "schema") else read_table(X)[0].values
    return halfspace.predict(rows), halfspace.score(rows)


def lines(predictions: Any, scores: Any | None, *, header: bool) -> str:
    """One line for each row: the label, and the score where it is asked for."""
    page = io.StringIO()
    writer = csv.writer(page, lineterminator="\n")
    if header:
        writer.writerow(["prediction"] if scores is None else ["prediction", "score"])
    if scores is None:
        writer.writerows([value] for value in predictions.tolist())
    else:
        writer.writerows(zip(predictions.tolist(), map(repr, np.asarray(scores).tolist()), strict=True))
    return page.getvalue()
