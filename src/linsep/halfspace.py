"""A hyperplane and its two sides: w·x + b = 0.

The d+1 numbers of a halfspace: `w` is orthogonal to the hyperplane, `b` shifts it off the origin. Appending 1
to every row and b to w gives the homogeneous form W·X = w·x + b, so that finding a separating hyperplane in d
dimensions (Tao's Problem 1) is the same as finding one through the origin in d + 1 (Problem 2).
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep.errors import ArgumentError, InexactError, ShapeError, shown, told
from linsep.faults import fault, few
from linsep.report import SHOWN, SHOWN_ROWS, Fact, Grid, Report, Reported, column_names, count, linear, one_line
from linsep.scores import exact_score, nearest
from linsep.scores import linear_scores as linear_scores
from linsep.tables import as_double, read_exact, read_labels, require_finite, require_one_index
from linsep.tables.exact_numbers import EXACT, exact_number
from linsep.tables.label_values import distinct

Array = npt.NDArray[Any]

LARGEST = float(np.finfo(np.float64).max)
MODERATE = 400  # up to this exponent of two, squares do not overflow


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Halfspace(Reported):
    """The hyperplane w·x + b = 0, with what the user calls its negative and its positive side.

    Attributes
    ----------
    w : array
        The weights, one for each column.
    b : number
        The bias.
    labels : (negative, positive)
        What the sides are called.

    Examples
    --------
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
        w = _weights(self.w)  # a copy, so that nobody changes it from outside
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
        return one_line(self, self._cut(), f"labels {told(self.labels)}")

    def report(self) -> Report:
        """The hyperplane, its sides and its largest weights."""
        order = np.argsort(-np.abs(self.w.astype(np.float64)), kind="stable")[:SHOWN_ROWS].tolist()
        rows = tuple((f"x{j + 1}", f"{self.w[j]:.6g}") for j in order)
        hidden = len(self.w) - len(order)
        more = f"... and {count(hidden, 'column')} with smaller weights." if hidden else ""
        sides = zip(("above 0", "below 0"), self.labels[::-1], strict=True)
        facts = (Fact(name, f"class {told(label)}") for name, label in sides)
        return Report(self._cut(), (*facts, Grid(("column", "weight"), rows, more)))

    def _cut(self) -> str:
        return f"{linear(self._terms(None), SHOWN)} = 0"

    def score(self, X: Any) -> Array:
        """w·x + b for each row: in integers if all numbers are, else as rounded doubles; NaN is refused by its row.

        Its sign is that of the exact score: it is 0 only if that is 0, and infinite beyond the largest double.
        """
        table = read_exact(X)
        if table.inexact is not None:
            raise table.inexact
        require_finite(table)
        rows = table.values
        if rows.shape[1] != len(self.w):
            raise ShapeError(f"X has {rows.shape[1]} columns, but the halfspace has {len(self.w)} weights.")
        if not self._is_safe(rows):  # NumPy would silently wrap around, or round
            return self._exact_scores(rows)
        return linear_scores(rows, self.w[None], np.array([self.b]))[:, 0]

    def _is_safe(self, rows: Any) -> bool:
        """Whether sums of products of integers fit into 64 bits; with floats, whether doubles hold the integers."""
        if self.w.dtype.kind == "f" or rows.dtype.kind == "f" or not isinstance(self.b, int):
            return max(_largest(rows), abs(self.b) if isinstance(self.b, int) else 0) <= EXACT
        return bool(_largest(rows) * sum(map(abs, self.w.tolist())) + abs(self.b) < 2**63)

    def _exact_scores(self, rows: Any) -> Array:
        """The scores in fractions, row by row: integers if all numbers are, else the nearest doubles."""
        scores = self._fractions(rows)
        if self.w.dtype.kind in "iu" and rows.dtype.kind in "iu" and isinstance(self.b, int):
            return np.fromiter((int(score) for score in scores), object, len(scores))
        return np.array([nearest(score, np.finfo(np.float64)) for score in scores])

    def _fractions(self, rows: Any) -> list[Fraction]:
        """The exact scores."""
        lines = (rows[k] if isinstance(rows, np.ndarray) else rows[[k]].toarray()[0] for k in range(rows.shape[0]))
        return [exact_score(line, self.w, self.b) for line in lines]

    def predict(self, X: Any, *, at_zero: int = -1) -> Array:
        """Give each row the label of its side.

        Parameters
        ----------
        X : the rows
            In memory.
        at_zero : -1 or 1
            The side to give a row with a score of exactly 0, which is on neither.

        Returns
        -------
        numpy.ndarray
            The labels.

        Raises
        ------
        InputError
            X is not a table of this many columns.
        """
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
                raise fault("unknown label", row=row, value=label, known=few(self.labels))
        signs: Array = np.array([sign[label] for label in found])[codes]
        return signs

    def distance(self, X: Any) -> Array:
        """How far each row lies from the hyperplane."""
        return np.abs(self._signed_distances(X))

    def margins(self, X: Any, y: Any) -> Array:
        """Each row's distance, negative where the row is on the wrong side."""
        require_one_index(X, y)
        margins: Array = self.signs(y) * self._signed_distances(X)
        return margins

    def _signed_distances(self, X: Any) -> Array:
        """Scores divided by the length of w; exactly, if doubles would overflow or underflow on the way."""
        near, scores = self.near_one(), self.score(X)
        length, limits = float(np.linalg.norm(near.w.astype(np.float64))), np.finfo(np.float64)
        if not length:
            return scores / length
        distances = np.zeros(len(scores))
        is_usual = np.zeros(len(scores), bool)
        if scores.dtype != object:
            power = _exponent(near.w) - _exponent(self.w)
            with np.errstate(all="ignore"):
                distances = np.ldexp(scores.astype(np.float64) / length, power)
            is_usual = (np.abs(distances) >= limits.tiny) & np.isfinite(distances) & (np.abs(scores) >= limits.tiny)
            is_usual |= scores == 0
        odd = np.flatnonzero(~is_usual)
        if odd.size:
            unit = Fraction(length) * Fraction(2) ** (_exponent(self.w) - _exponent(near.w))
            rows = read_exact(X).values[odd]
            distances[odd] = [nearest(score / unit, limits) for score in self._fractions(rows)]
        return distances

    def near_one(self) -> "Halfspace":
        """The same hyperplane times a power of two that brings the largest weight near 1: no square overflows."""
        power = -_exponent(self.w)
        if abs(power) < MODERATE:
            return self
        b = nearest(Fraction(self.b) * Fraction(2) ** power, np.finfo(np.float64))
        w = np.ldexp(self.w.astype(np.float64), power)
        return Halfspace(w, max(-LARGEST, min(b, LARGEST)), self.labels)

    def margin(self, X: Any, y: Any) -> float:
        """The margin of this hyperplane on these rows: the smallest of the rows' margins."""
        return float(self.margins(X, y).min())

    def mistakes(self, X: Any, y: Any) -> int:
        """How many rows have y·score <= 0: a row on the hyperplane is on neither side."""
        require_one_index(X, y)
        return int(np.count_nonzero(self.signs(y) * self.score(X) <= 0))

    def error(self, X: Any, y: Any, *, at_zero: int = -1) -> float:
        """The mean 0/1 loss of `predict`: the training error on training rows, the test error on others."""
        require_one_index(X, y)
        positive = self.predict(X, at_zero=at_zero) == self.labels[1]
        return float(np.mean(positive != (self.signs(y) > 0)))

    @property
    def homogeneous(self) -> Array:
        """W = (w, b), as Python's integers if no 64-bit type holds them all."""
        whole = [*self.w.tolist(), self.b]
        together = np.append(self.w, self.b)
        return together if together.tolist() == whole else np.fromiter(whole, object, len(whole))

    @classmethod
    def from_homogeneous(cls, W: Any, labels: tuple[Any, Any] = (-1, 1)) -> "Halfspace":
        """The halfspace of W = (w, b): a solution of Problem 2 in d + 1 dimensions solves Problem 1 in d."""
        W = W if isinstance(W, np.ndarray) else list(W)
        return cls(W[:-1], W[-1], labels)

    def equation(self, names: Any = None) -> str:
        """The hyperplane as people write it: 4·x1 - 0.5·x2 + 1 = 0.

        Columns are x1, x2, ... unless named; those with weight 0 are left out.
        """
        return f"{linear(self._terms(names))} = 0"

    def _terms(self, names: Any) -> list[tuple[Any, str]]:
        return [*zip(self.w.tolist(), column_names(names, len(self.w)), strict=True), (self.b, "")]


def _exponent(w: Array) -> int:
    """The exponent of the power of two next above the largest weight."""
    return math.frexp(float(np.abs(w.astype(np.float64)).max(initial=0.0)))[1]


def _largest(rows: Any) -> int:
    """The largest absolute value of the rows if they are integers; 0 for floats."""
    data = rows if isinstance(rows, np.ndarray) else rows.data
    return max(-int(data.min()), int(data.max())) if data.size and data.dtype.kind in "iu" else 0


def homogenise(X: Any) -> Array:
    """Append a 1 to each row: a hyperplane with a bias becomes one through the origin.

    Parameters
    ----------
    X : array of rows
        In memory.

    Returns
    -------
    numpy.ndarray
        The rows, one column wider.

    Raises
    ------
    InputError
        X is not a table of numbers.

    Examples
    --------
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
    """A copy of the weights as an array of 64-bit numbers that hold them exactly."""
    if not isinstance(w, np.ndarray):
        w = list(w) if isinstance(w, Iterable) else np.asarray(w)
    if isinstance(w, np.ndarray) and w.ndim != 1:
        raise ShapeError(f"The weights have shape {w.shape}: give one for each column.")
    if type(w) is np.ndarray and w.dtype in (np.float64, np.int64) and w.size and np.isfinite(w).all():
        return w.copy()
    table = read_exact([w])
    if table.inexact is not None:
        place = table.inexact.column
        raise InexactError(f"w[{place}] is {shown(table.inexact.value)}, which cannot be stored exactly.")
    weights = table.values[0]
    if weights.dtype.kind == "f" and not np.isfinite(weights).all():
        first = int(np.argmin(np.isfinite(weights)))
        raise ArgumentError(f"w[{first}] is {weights[first]}: weights must be finite numbers.")
    return np.array(weights, np.float64 if weights.dtype.kind == "f" else np.int64)


def _bias(b: Any) -> float | int:
    """The bias as a finite Python number that was not rounded."""
    number = exact_number(b)
    if isinstance(number, Fraction):
        number = as_double(number)
    if number is None or not -math.inf < number < math.inf:
        raise ArgumentError(f"b is {shown(b)}: the bias must be a finite number that is a double.")
    return number
