"""Families whose rows are each made from one of the user's: binomial, poisson, multinomial, ordinal."""

from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep.errors import ArgumentError
from linsep.questions.logistic.likelihoods.asked import Likelihood
from linsep.questions.logistic.likelihoods.observed import INTERCEPT_NAME, SIDES, Observed
from linsep.sources.base import Ints, Source
from linsep.tables import is_sparse


def _both_sides(seen: Observed, above: npt.NDArray[np.bool_], below: npt.NDArray[np.bool_], labels: Any) -> Likelihood:
    """Rows whose score must not be negative (`above`) and rows whose score must not be positive; a row may be both."""
    up, down = np.flatnonzero(above & seen.counted), np.flatnonzero(below & seen.counted)
    rows = np.concatenate([up, down])
    if not len(rows):
        raise ArgumentError("No row counts: all weights, or all trials, are 0.")
    signs = np.concatenate([np.ones(len(up), np.int8), -np.ones(len(down), np.int8)])
    order = np.lexsort((-signs, rows))
    rows, signs = rows[order], signs[order]
    source = seen.source(seen.values[rows], signs, seen.facts.scales, labels)
    return _of_rows(seen, source, seen.names, rows, bias=seen.bias)


def binomial(seen: Observed) -> Likelihood:
    """Scores not below 0 where there are successes, not above 0 where there are failures."""
    assert seen.counts is not None
    successes, failures = seen.counts
    return _both_sides(seen, successes > 0, failures > 0, seen.levels)


def poisson(seen: Observed) -> Likelihood:
    """Scores not above 0, and where y > 0 also not below."""
    return _both_sides(seen, seen.y > 0, seen.y >= 0, SIDES)


def multinomial(seen: Observed) -> Likelihood:
    """Kesler's rows: for each row and each other class, the row in the block of its class, minus it in the other block.

    The first class is the one that others are compared with: it has no coefficients.
    """
    predictors, own = _with_intercept(seen)
    n_classes = len(seen.levels)
    counted = np.flatnonzero(seen.counted)
    parts, rows = [], []
    for c in range(n_classes):
        chosen = counted[seen.y[counted] == c]
        of_class = predictors[chosen]
        for k in (k for k in range(n_classes) if k != c and len(chosen)):
            places = [of_class if p == c else -of_class if p == k else None for p in range(1, n_classes)]
            nothing = sp.csr_array((len(chosen), predictors.shape[1]), dtype=predictors.dtype)
            parts.append(sp.hstack([nothing if part is None else part for part in places], format="csr"))
            rows.append(chosen)
    origin = np.concatenate(rows)
    order = np.argsort(origin, kind="stable")
    origin, table = origin[order], sp.csr_array(sp.vstack(parts, format="csr"))[order]
    names = tuple(f"{level}:{name}" for level in seen.levels[1:] for name in own)
    source = seen.source(table, np.ones(len(origin), np.int8), seen.scales(0, n_classes - 1, int(seen.bias)))
    return _of_rows(seen, source, names, origin)


def ordinal(seen: Observed) -> Likelihood:
    """For each row the thresholds above and below its class: score minus threshold must be on the right side of 0."""
    n_thresholds = len(seen.levels) - 1
    counted = np.flatnonzero(seen.counted)
    classes = seen.y[counted]
    below, above = counted[classes < n_thresholds], counted[classes > 0]
    rows = np.concatenate([below, above])
    threshold = np.concatenate([seen.y[below], seen.y[above] - 1])
    signs = np.concatenate([-np.ones(len(below), np.int8), np.ones(len(above), np.int8)])
    order = np.lexsort((signs, rows))
    rows, threshold, signs = rows[order], threshold[order], signs[order]
    table = beside(ones_at(threshold, n_thresholds, seen.values.dtype, -1), seen.values[rows])
    levels = [str(level) for level in seen.levels]
    names = (*(f"{low}|{high}" for low, high in pairwise(levels)), *seen.names)
    return _of_rows(seen, seen.source(table, signs, seen.scales(n_thresholds)), names, rows)


def _with_intercept(seen: Observed) -> tuple[Any, tuple[str, ...]]:
    """The predictors as a CSR matrix, after a column of ones if the model has an intercept."""
    rows = sp.csr_array(seen.values)
    if not seen.bias:
        return rows, seen.names
    ones = sp.csr_array(np.ones((seen.n_rows, 1), rows.dtype))
    return sp.csr_array(sp.hstack([ones, rows], format="csr")), (INTERCEPT_NAME, *seen.names)


def ones_at(places: Ints, n_columns: int, dtype: Any, value: int) -> Any:
    """Rows with one entry each."""
    entries = np.full(len(places), value, dtype)
    return sp.csr_array((entries, places, np.arange(len(places) + 1)), shape=(len(places), n_columns))


def beside(left: Any, right: Any) -> Any:
    """Two tables side by side, sparse if the second is."""
    if is_sparse(right):
        return sp.csr_array(sp.hstack([left, right], format="csr"))
    return np.hstack([left.toarray() if is_sparse(left) else left, right])


def _of_rows(seen: Observed, source: Source, names: tuple[str, ...], origin: Ints, *, bias: bool = False) -> Likelihood:
    """The question about rows that are each made from one of the user's."""
    everyone = np.arange(seen.n_rows)
    return Likelihood(seen.family, source, names, bias, seen.n_rows, 0, everyone, origin, origin + 1, observed=seen)
