"""Scores W·x + b in floats, each with the right sign and with the right one the highest, in spite of rounding.

Three stages, each for the rows that the one before leaves in doubt:

1. Floats, and one bound for many rows: `|fl(s) - s| <= g·max|x_j|·|w|₁`, g = D·u/(1 - D·u) (Higham, Accuracy and
   Stability, §3.1). The length of all entries together bounds the largest: one more look at them, in the cache.
2. The same bound row by row, with `Σ|w_j x_j|`; whole numbers whose sums stay below 2^53 are not rounded at all.
3. Exact arithmetic: every product as the sum of two doubles (Dekker 1971), added up without rounding; fractions where a
   product leaves the range of doubles.
"""

import math
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from fractions import Fraction
from itertools import chain, pairwise
from operator import mul
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.cores import one_thread, pool, thread_count

Array = npt.NDArray[Any]

PIECE = 1 << 16  # entries per call
WORTH_A_THREAD = 8  # pieces
ONE_THREAD = 1 << 12  # entries: from this many on, a BLAS would use threads of its own
WHOLE = 2.0**53  # all whole numbers up to this are doubles
SPLIT = 2.0**27 + 1  # Dekker's constant: it halves the digits of a double
LEAST, MOST = 2.0**-900, 2.0**900  # between them a product is the sum of two doubles
ROUNDED = 0.01  # at most this share of a sum of squares
NOBODY = np.zeros(0, np.int64)


def linear_scores(X: Any, W: Array, b: Array) -> Array:
    """W·x + b for rows of numbers, one column for each row of W; NaN for a row that holds NaN or infinity.

    A single score has the sign of the exact one: it is 0 only where that is 0, and infinite beyond the largest double.
    Where a row has several scores, the first of the highest is the right one; where one of them leaves the range, all
    are multiplied by the same power of two.
    """
    kind = np.result_type(X.dtype, W.dtype, b.dtype)
    with np.errstate(all="ignore"):
        bound = _Bound(X, W, b, np.finfo(kind)) if kind.kind == "f" else None
        if bound is None or not (bound.is_finite or (np.isfinite(W).all() and np.isfinite(b).all())):
            return np.asarray(X @ W.T) + b
        with one_thread() if X.size > ONE_THREAD else nullcontext():
            scores, rows = _in_floats(X, W.astype(kind, copy=False), b.astype(kind, copy=False), bound)
        for row in _doubtful(X, W, b, scores, rows, bound).tolist() if rows.size else ():
            columns, values = _entries(X, row)
            if np.isfinite(values).all():
                scores[row] = _settled(values, W[:, columns], b, bound.limits)
    return scores


def clear_sign(x: Sequence[float], w: Sequence[float], b: float) -> int:
    """The sign of w·x + b for one row of finite doubles; 0 where floats cannot tell."""
    products = list(map(mul, x, w))
    score, size = sum(products, b), sum(map(abs, products), abs(b))
    error = 2 * (len(products) + 4) * (sys.float_info.epsilon * size + sys.float_info.min)
    if not (abs(score) > error and size < math.inf):
        return 0
    return 1 if score > 0 else -1


class _Bound:
    """How far rounding may move a score: at most `part` times the sum of sizes, plus `lost` below the normal range."""

    def __init__(self, X: Any, W: Array, b: Array, limits: Any) -> None:
        terms = X.shape[1] if isinstance(X, np.ndarray) else int(np.diff(X.indptr).max(initial=0))
        self.limits = limits
        self.part, self.lost = float(terms + 4) * float(limits.eps), float(terms + 4) * float(limits.tiny)
        self.sizes, self.constants = (abs(part.astype(np.float64, copy=False)) for part in (W, b))
        self._weight = float(self.sizes.sum(axis=1).max(initial=0.0))
        self._constant = float(self.constants.max(initial=0.0))
        self.is_finite = self._weight + self._constant < np.inf

    def of_entries(self, entries: Array) -> float:
        """Twice the bound for rows with these entries; infinite if one of them is not a finite number."""
        largest = 2 * (self.part * (_largest(entries) * self._weight + self._constant) + self.lost)
        return largest if largest < np.inf else np.inf


def _largest(entries: Array) -> float:
    """A size that no entry exceeds: the length of them all, or the largest entry if squares leave the range.

    NaN if an entry is NaN.
    """
    if entries.dtype in (np.float64, np.float32):
        flat = entries.reshape(-1)
        square, limits = float(np.dot(flat, flat)), np.finfo(entries.dtype)
        if 2 * flat.size * limits.tiny < square < limits.max and flat.size * limits.eps < ROUNDED:
            return (1 + ROUNDED) * math.sqrt(square)
    return max(float(entries.max(initial=0)), -float(entries.min(initial=0)))


def _in_floats(X: Any, W: Array, b: Array, bound: _Bound) -> tuple[Array, npt.NDArray[np.int64]]:
    """The rounded scores, and the rows whose sign or highest score the bound for many rows leaves in doubt.

    The pieces are the same whatever the number of threads.
    """
    if not isinstance(X, np.ndarray):
        scores = np.asarray(X @ W.T)
        scores += b
        return scores, _in_doubt(scores, bound.of_entries(X.data))
    scores = np.empty((len(X), len(W)), W.dtype)
    step = max(1, PIECE // max(1, X.shape[1]))
    if len(X) <= step:
        return scores, _score(X, W, b, bound, scores)

    def score(starts: range) -> list[Array]:
        with np.errstate(all="ignore"):
            pieces = ((start, slice(start, start + step)) for start in starts)
            return [start + _score(X[piece], W, b, bound, scores[piece]) for start, piece in pieces]

    starts = range(0, len(X), step)
    if len(starts) < 2 * WORTH_A_THREAD:
        return scores, np.concatenate(score(starts))
    workers = min(thread_count(), len(starts) // WORTH_A_THREAD)
    edges = [len(starts) * k // workers for k in range(workers + 1)]
    found = pool().map(score, [starts[first:last] for first, last in pairwise(edges)])
    return scores, np.concatenate([*chain.from_iterable(found)])


def _score(rows: Array, W: Array, b: Array, bound: _Bound, scores: Array) -> npt.NDArray[np.int64]:
    """Score some rows and return those in doubt."""
    np.matmul(rows, W.T, out=scores)
    scores += b
    error = bound.of_entries(rows)
    if error == np.inf:  # a product of NaN and 0 need not be NaN in every library
        scores[~np.isfinite(rows).all(axis=1)] = np.nan
    return _in_doubt(scores, error)


def _doubtful(X: Any, W: Array, b: Array, scores: Array, rows: Array, bound: _Bound) -> npt.NDArray[np.int64]:
    """Which of these rows are still in doubt with a bound of their own."""
    some = X[rows].astype(np.float64)
    size = np.asarray(abs(some) @ bound.sizes.T) + bound.constants
    in_doubt = ~_leads(scores[rows], 2 * (bound.part * size.max(axis=1) + bound.lost))
    return np.asarray(rows[in_doubt & ~_is_unrounded(some, W, b, size)])


def _in_doubt(scores: Array, error: float) -> npt.NDArray[np.int64]:
    """The rows whose sign or highest score is not certain, for an error of this size."""
    return NOBODY if _all_lead(scores, error) else np.flatnonzero(~_leads(scores, error))


def _all_lead(scores: Array, error: float) -> bool:
    """Whether `_leads` is true of every row, with fewer reads of the scores; in close cases this may say no."""
    if scores.shape[1] == 1:
        sizes = np.abs(scores)
        return bool(sizes.min(initial=np.inf) > error and sizes.max(initial=0.0) < np.inf)
    columns = np.ascontiguousarray(scores.T)
    near = columns >= columns.max(axis=0) - columns.dtype.type(2 * error)
    return np.count_nonzero(near) == len(scores) and bool(np.isfinite(columns).all())


def _leads(scores: Array, error: Any) -> npt.NDArray[np.bool_]:
    """Whether a score is farther from 0 than the error (or the highest from the second highest); all must be finite."""
    columns = np.ascontiguousarray(scores.T, np.float64)
    if len(columns) == 1:
        lead = np.abs(columns[0])
        return np.asarray((lead > error) & (lead < np.inf))
    highest, second, lowest = np.maximum(*columns[:2]), np.minimum(*columns[:2]), np.minimum(*columns[:2])
    for column in columns[2:]:
        second, highest = np.maximum(second, np.minimum(highest, column)), np.maximum(highest, column)
        lowest = np.minimum(lowest, column)
    return np.asarray((highest - second > error) & (highest < np.inf) & (lowest > -np.inf))


def _is_unrounded(rows: Any, W: Array, b: Array, size: Array) -> npt.NDArray[np.bool_]:
    """Which rows have scores that are sums of whole numbers below 2^53, or only products that are 0."""
    is_weighed = np.asarray((rows != 0) @ (W != 0).any(axis=0), bool)
    parts = rows != (np.rint(rows) if isinstance(rows, np.ndarray) else rows.rint())
    is_whole = np.asarray(parts.sum(axis=1)).ravel() == 0
    are_whole = all(bool((part == np.rint(part)).all()) for part in (W, b))
    found: npt.NDArray[np.bool_] = (~is_weighed | (is_whole & are_whole)) & (size < WHOLE).all(axis=1)
    return found


def _entries(X: Any, row: int) -> tuple[Array, Array]:
    """The columns and values of a row that are not 0."""
    if isinstance(X, np.ndarray):
        columns = np.flatnonzero(X[row])
        return columns, X[row][columns]
    line = X[[row]].tocoo()
    columns = line.coords[-1]
    return columns[line.data != 0], line.data[line.data != 0]


def _settled(values: Array, W: Array, b: Array, limits: Any) -> list[float]:
    """The exact scores of a row, rounded."""
    x = values.astype(np.float64)
    sums = [_sum(x, w, c) for w, c in zip(W, b, strict=True)]
    known = [Fraction(total) for total in sums if total is not None]
    if len(known) < len(W) or known.count(max(known)) > 1 < len(W):
        known = [exact_score(values, w, c) for w, c in zip(W, b.tolist(), strict=True)]
    return _rounded(known, limits)


def _sum(x: Array, weights: Array, constant: Any) -> float | None:
    """The double nearest to a score, where all products are in range."""
    w, b = weights.astype(np.float64), float(constant)
    products = w * x
    sizes = np.abs(products)
    is_in_range = (np.abs(x) < MOST) & ((w == 0) | ((sizes > LEAST) & (sizes < MOST) & (np.abs(w) < MOST)))
    if not is_in_range.all() or w.tolist() != weights.tolist() or b != constant.item():
        return None
    return math.fsum([*products.tolist(), *rest_of_products(w, x, products).tolist(), b])


def rest_of_products(w: Array, x: Array, products: Array) -> Array:
    """w·x - fl(w·x), exactly, where the products are well inside the range of doubles."""
    (w_high, w_low), (x_high, x_low) = _halves(w), _halves(x)
    lost: Array = w_low * x_low - (((products - w_high * x_high) - w_low * x_high) - w_high * x_low)
    return lost


def _halves(value: Array) -> tuple[Array, Array]:
    scaled = SPLIT * value
    high = scaled - (scaled - value)
    return high, value - high


def exact_score(values: Array, w: Array, b: Any) -> Fraction:
    """w·x + b for one row, given by its entries and their weights."""
    pairs = zip(values.tolist(), w.tolist(), strict=True)
    return sum((Fraction(x) * Fraction(weight) for x, weight in pairs if weight), Fraction(b))


def _rounded(scores: Sequence[Fraction], limits: Any) -> list[float]:
    """Exact scores as floats of a type with these limits; several are scaled into range together, in the same order."""
    largest = max(map(abs, scores))
    if len(scores) > 1 and largest and not limits.tiny <= largest <= Fraction(float(limits.max)):
        power = largest.denominator.bit_length() - largest.numerator.bit_length()
        scores = [score * Fraction(2) ** power for score in scores]
    rounded = [float(limits.dtype.type(nearest(score, limits))) for score in scores]
    first = scores.index(max(scores))
    if rounded.index(max(rounded)) != first:  # rounding made two of them equal
        rounded[first] = float(np.nextafter(np.array(rounded[first], limits.dtype), np.inf))
    return rounded


def nearest(score: Fraction, limits: Any) -> float:
    """The nearest double, 0 only if the score is 0; infinite beyond the largest."""
    size = max(abs(score), Fraction(float(limits.smallest_subnormal))) if score else score
    rounded = float(size) if size <= Fraction(float(limits.max)) else math.inf
    return -rounded if score < 0 else rounded
