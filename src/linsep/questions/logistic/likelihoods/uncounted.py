"""Rows of weight 0 or without trials: they keep their numbers, but add neither classes nor levels.

Each becomes a copy of the last row that counts, so that the classes, levels and columns are those without them.
"""

from typing import Any

import numpy as np

from linsep.errors import LinsepError
from linsep.questions.logistic.likelihoods.observed import Extras, is_pair, stand_ins
from linsep.sources.base import Array, Ints
from linsep.tables import is_sparse, read_exact, read_labels
from linsep.tables.given_rows import Given
from linsep.tables.handed_over import as_frame


def without_uncounted(rows: Given, options: Extras) -> Given:
    """The same rows, where a dataframe has no values that only uncounted rows have; options must be values."""
    X = rows.X
    frame = None if isinstance(X, (np.ndarray, list, tuple)) or is_sparse(X) else as_frame(X)
    if frame is None:
        return rows
    own = rows._replace(X=frame.to_native())  # X may be a reader that yields its rows only once
    if any(isinstance(value, str) for value in options):
        return own  # names of columns that the table does not have
    copied = copied_rows(frame, options, rows.y)
    return own if copied is None else rows._replace(X=taken(frame, copied), stand_ins=copied)


def copied_rows(frame: Any, options: Extras, y: Any = None) -> Ints | None:
    """For each row of a table its own number, or that of the row that stands in for it; None if all count.

    Faults in weights or trials are reported where these are read.
    """
    is_counted = _above_0(options.weights, len(frame)) & _above_0(options.trials, len(frame))
    if is_pair(y):
        try:
            is_counted &= np.asarray(read_exact(y).values, np.float64).sum(axis=1) != 0
        except (LinsepError, TypeError, ValueError):
            return None
    return stand_ins(is_counted)


def _above_0(values: Any, n_rows: int) -> Array:
    """Which rows have a number other than 0; all of them if there are no numbers, or if something is wrong."""
    if values is not None and hasattr(values, "__len__"):  # an iterator is read later, since it can be read only once
        try:
            return np.asarray(read_labels(values, n_rows).astype(np.float64) != 0)
        except (LinsepError, TypeError, ValueError):
            pass
    return np.ones(n_rows, np.bool_)


def taken(frame: Any, rows: Ints) -> Any:
    """These rows of a narwhals dataframe, by the names that the rows in their places have."""
    own, native = frame.to_native(), frame[rows.tolist()].to_native()
    return native.set_axis(own.index, axis=0) if hasattr(own, "set_axis") and hasattr(own, "index") else native
