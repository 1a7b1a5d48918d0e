"""A hyperplane and its two sides: w·x + b = 0.

The d+1 numbers of a halfspace: `w` is orthogonal to the hyperplane, `b` shifts it off the origin. Appending 1
to every row and b to w gives the homogeneous form W·X = w·x + b, so that finding a separating hyperplane in d
dimensions (Tao's Problem 1) is finding one through the origin in d + 1 (Problem 2), and back.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep import arguments
from linsep.errors import ArgumentError, ShapeError, shown, told
from linsep.tables import (
    EXACT,
    as_double,
    distinct,
    exact_number,
    read_doubles,
    read_exact,
    read_labels,
    require_finite,
)

Array = npt.NDArray[Any]

MODERATE = 400  # exponents of two up to here leave room for squares


@dataclass(frozen=True, slots=True, eq=False)
class Halfspace:
    """The hyperplane w·x + b = 0, with what the user calls its negative and its positive side.

    `w` are the weights, one for each column, `b` is the bias, `labels` are (negative, positive).

    >>> import linsep
    >>> line = linsep.Halfspace([1, 1], 1)
    >>> line.equation()
    'x1 + x2 + 1 = 0'
    >>> line.predict([[2, 0], [-3, 1]])
    array([ 1, -1])
    >>> line.distance([[2, 2]])
    array([3.53553391])
    """

    w: Array
    b: float | int = 0
    labels: tuple[Any, Any] = (-1, 1)

    def __post_init__(self) -> None:
        w = _weights(self.w)  # a copy of our own, so that nobody changes it from outside
        w.flags.writeable = False
        object.__setattr__(self, "w", w)
        object.__setattr__(self, "b", _bias(self.b))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Halfspace):
            return NotImplemented
        return np.array_equal(self.w, other.w) and self.b == other.b and self.labels == other.labels

    def __hash__(self) -> int:
        return hash((self.w.tobytes(), self.b, self.labels))

    def __repr__(self) -> str:
        return f"Halfspace(w={self.w!r}, b={told(self.b)}, labels={told(self.labels)})"

    def score(self, X: Any) -> Array:
        """w·x + b for each row: in integers where all numbers are, else in doubles, rounded; NaN is refused by row.

        A score beyond the largest double is infinite, and none is 0 unless it is 0.
        """
        table = read_exact(X)
        if table.inexact is not None:
            raise table.inexact
        require_finite(table)
        rows = table.values
        if rows.shape[1] != len(self.w):
            raise ShapeError(f"X has {rows.shape[1]} columns, and the halfspace has {len(self.w)} weights.")
        if rows.dtype.kind in "iu" and not self._is_safe(rows):  # NumPy would wrap around, or round, in silence
            return self._exact_scores(rows)
        return linear_scores(rows, self.w[None], np.array([self.b]))[:, 0]

    def _is_safe(self, rows: Any) -> bool:
        """Whether integer rows times the weights stay in 64 bits or, for float weights, are not rounded first."""
        data = rows if isinstance(rows, np.ndarray) else rows.data
        largest = max(-int(data.min()), int(data.max())) if data.size else 0
        if self.w.dtype.kind == "f":
            return largest <= EXACT
        return bool(largest * sum(map(abs, self.w.tolist())) + abs(self.b) < 2**63)

    def _exact_scores(self, rows: Any) -> Array:
        """The same in fractions, row by row: integers where all numbers are, else the nearest doubles."""
        w, b = [Fraction(value) for value in self.w.tolist()], Fraction(self.b)
        lines = (rows[k] if isinstance(rows, np.ndarray) else rows[[k]].toarray()[0] for k in range(rows.shape[0]))
        scores = [sum((v * Fraction(x) for v, x in zip(w, row.tolist(), strict=True) if x), b) for row in lines]
        if self.w.dtype.kind in "iu" and rows.dtype.kind in "iu" and isinstance(self.b, int):
            return np.fromiter((int(score) for score in scores), object, len(scores))
        return np.array([_nearest(score, np.finfo(np.float64)) for score in scores])

    def predict(self, X: Any, *, at_zero: int = -1) -> Array:
        """The label of each row's side. A score of exactly 0 belongs to neither; `at_zero` says which to give."""
        if at_zero not in (-1, 1):
            raise ArgumentError(f"at_zero is {at_zero!r}: it must be -1 or 1.")
        scores = self.score(X)
        positive = scores >= 0 if at_zero == 1 else scores > 0
        known = np.array(self.labels)
        if known.tolist() != list(self.labels):  # NumPy has no common type for them
            known = np.fromiter(self.labels, object, 2)
        labels: Array = known[positive.astype(np.intp)]
        return labels

    def signs(self, y: Any) -> Array:
        """Labels as -1 and +1."""
        found, codes = distinct(read_labels(y))
        sign = {self.labels[0]: -1, self.labels[1]: 1}
        for code, label in enumerate(found):
            if label not in sign:
                row = int(np.argmax(codes == code))
                name = label if isinstance(label, str) else shown(label)
                raise ArgumentError(f"The label of row {row} is {name}: this halfspace knows {told(self.labels)}.")
        signs: Array = np.array([sign[label] for label in found])[codes]
        return signs

    def distance(self, X: Any) -> Array:
        """How far each row lies from the hyperplane."""
        return np.abs(self._signed_distances(X))

    def margins(self, X: Any, y: Any) -> Array:
        """Each row's distance, negative where the row is on the wrong side."""
        margins: Array = self.signs(y) * self._signed_distances(X)
        return margins

    def _signed_distances(self, X: Any) -> Array:
        near = self.near_one()
        distances: Array = near.score(X) / np.linalg.norm(near.w)
        return distances

    def near_one(self) -> "Halfspace":
        """The same hyperplane times a power of two that brings the largest weight near 1: no square overflows."""
        power = -math.frexp(float(np.abs(self.w.astype(np.float64)).max(initial=0.0)))[1]
        if abs(power) < MODERATE:
            return self
        return Halfspace(np.ldexp(self.w.astype(np.float64), power), float(np.ldexp(self.b, power)), self.labels)

    def margin(self, X: Any, y: Any) -> float:
        """The margin of the set under this hyperplane: the smallest of the rows' margins."""
        return float(self.margins(X, y).min())

    def mistakes(self, X: Any, y: Any) -> int:
        """Rows with y·score <= 0: a row on the hyperplane is on nobody's side."""
        return int(np.count_nonzero(self.signs(y) * self.score(X) <= 0))

    def error(self, X: Any, y: Any, *, at_zero: int = -1) -> float:
        """The mean 0/1 loss of `predict`: the training error on training rows, the test error on others."""
        positive = self.predict(X, at_zero=at_zero) == self.labels[1]
        return float(np.mean(positive != (self.signs(y) > 0)))

    @property
    def homogeneous(self) -> Array:
        """W = (w, b)."""
        return np.append(self.w, self.b)

    @classmethod
    def from_homogeneous(cls, W: Any, labels: tuple[Any, Any] = (-1, 1)) -> "Halfspace":
        """The halfspace of W = (w, b): a solution of Problem 2 in d + 1 dimensions solves Problem 1 in d."""
        W = _weights(W)
        return cls(W[:-1], W[-1].item(), labels)

    def equation(self, names: Any = None) -> str:
        """The hyperplane as people write it: 4·x1 - 0.5·x2 + 1 = 0.

        Columns are x1, x2, ... unless named; those with weight 0 are left out.
        """
        names = [f"x{j + 1}" for j in range(len(self.w))] if names is None else arguments.names(names, len(self.w))
        terms = [(value, name) for value, name in zip(self.w.tolist(), names, strict=True) if value]
        text = "".join(_term(value, name) for value, name in [*terms, (self.b, "")] if value)
        first, rest = text[:3], text[3:]
        return f"{'-' if first == ' - ' else ''}{rest or '0'} = 0"


def linear_scores(X: Any, W: Array, b: Array) -> Array:
    """W·x + b for rows of finite numbers, one column for each row of W, at any scale.

    Scores that overflow, or may have vanished below the smallest double, are computed again in exact arithmetic and
    rounded so that the sign stays: a single score beyond the largest double is infinite, one that is not 0 is never
    rounded to 0. Where a row has several scores, and one leaves the range, all of them are multiplied by the same
    power of two: which is the highest stays true.
    """
    with np.errstate(all="ignore"):
        scores: Array = np.asarray(X @ W.T) + b
    if scores.dtype.kind != "f" or not (np.isfinite(W).all() and np.isfinite(b).all()):
        return scores
    limits = np.finfo(scores.dtype)
    is_odd, is_small = ~np.isfinite(scores), np.abs(scores) < limits.tiny
    if is_small.any():
        entries = X if isinstance(X, np.ndarray) else X.data
        is_odd |= is_small & _may_vanish(W, entries[entries != 0], limits)
    for row in np.flatnonzero(is_odd.any(axis=1)).tolist():
        columns, values = _entries(X, row)
        if np.isfinite(values).all() and (
            not np.isfinite(scores[row]).all() or _may_vanish(W[:, columns], values, limits)
        ):
            scores[row] = _rounded([_exact_score(values, w[columns], c) for w, c in zip(W, b, strict=True)], limits)
    return scores


def _entries(X: Any, row: int) -> tuple[Array, Array]:
    """The columns and values of a row that are not 0."""
    if isinstance(X, np.ndarray):
        columns = np.flatnonzero(X[row])
        return columns, X[row][columns]
    line = X[[row]].tocoo()
    return line.col[line.data != 0], line.data[line.data != 0]


def _may_vanish(W: Array, values: Array, limits: Any) -> bool:
    """Whether some product of a weight and a value may be below the normal range."""
    weights = np.abs(W[W != 0])
    if not weights.size or not values.size:
        return False
    least = (float(np.abs(part).min()) for part in (weights, values))
    return bool(sum(math.frexp(value)[1] for value in least) < limits.minexp + 2)


def _exact_score(values: Array, w: Array, b: Any) -> Fraction:
    pairs = zip(values.tolist(), w.tolist(), strict=True)
    return sum((Fraction(x) * Fraction(weight) for x, weight in pairs if weight), Fraction(b.item()))


def _rounded(scores: Sequence[Fraction], limits: Any) -> list[float]:
    """Exact scores as floats of a type with these limits; several are brought into range together."""
    largest = max(map(abs, scores))
    if len(scores) > 1 and largest and not limits.tiny <= largest <= Fraction(float(limits.max)):
        power = largest.denominator.bit_length() - largest.numerator.bit_length()
        scores = [score * Fraction(2) ** power for score in scores]
    return [_nearest(score, limits) for score in scores]


def _nearest(score: Fraction, limits: Any) -> float:
    size = max(abs(score), Fraction(float(limits.smallest_subnormal))) if score else score
    rounded = float(size) if size <= Fraction(float(limits.max)) else math.inf
    return -rounded if score < 0 else rounded


def homogenise(X: Any) -> Array:
    """Each row with a 1 appended: a hyperplane with a bias becomes one through the origin.

    >>> import linsep
    >>> linsep.homogenise([[2, 3], [4, 5]]).tolist()
    [[2, 3, 1], [4, 5, 1]]
    """
    rows = read_exact(X)
    if rows.inexact is not None:
        raise rows.inexact
    values: Any = rows.values
    ones = np.ones((values.shape[0], 1), values.dtype)
    if isinstance(values, np.ndarray):
        return np.hstack([values, ones])
    joined: Any = sp.hstack([values, sp.csr_array(ones)], format="csr")
    return joined  # type: ignore[no-any-return]


def _weights(w: Any) -> Array:
    """Weights as an array of their own: 64-bit numbers that hold them exactly."""
    if not isinstance(w, np.ndarray) or w.dtype.kind not in "iuf":
        w = read_doubles([list(w)]).values[0] if isinstance(w, Iterable) else np.asarray(w)
    if w.ndim != 1:
        raise ShapeError(f"The weights have shape {w.shape}: there is one for each column.")
    if w.dtype.kind == "f" and not np.isfinite(w).all():
        first = int(np.argmin(np.isfinite(w)))
        raise ArgumentError(f"w[{first}] is {w[first]}: weights are finite numbers.")
    return np.array(w)


def _bias(b: Any) -> float | int:
    """The bias as a finite Python number that was not rounded."""
    number = exact_number(b)
    if isinstance(number, Fraction):
        number = as_double(number)
    if number is None or not -math.inf < number < math.inf:
        raise ArgumentError(f"b is {shown(b)}: the bias is a finite number that a double holds.")
    return number


def _term(value: float, name: str) -> str:
    sign, size = (" - ", -value) if value < 0 else (" + ", value)
    if not name:
        return f"{sign}{size:.6g}"
    return f"{sign}{name}" if size == 1 else f"{sign}{size:.6g}·{name}"
