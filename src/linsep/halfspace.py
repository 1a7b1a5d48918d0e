"""A hyperplane and its two sides: w·x + b = 0.

The d+1 numbers of a halfspace: `w` is orthogonal to the hyperplane, `b` shifts it off the origin. Appending 1
to every row and b to w gives the homogeneous form W·X = w·x + b, so that finding a separating hyperplane in d
dimensions (Tao's Problem 1) is finding one through the origin in d + 1 (Problem 2), and back.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.errors import ArgumentError

Array = npt.NDArray[Any]


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
        w = np.array(self.w)  # a copy of our own, so that nobody changes it from outside
        w.flags.writeable = False
        object.__setattr__(self, "w", w)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Halfspace):
            return NotImplemented
        return np.array_equal(self.w, other.w) and self.b == other.b and self.labels == other.labels

    def __hash__(self) -> int:
        return hash((self.w.tobytes(), self.b, self.labels))

    def score(self, X: Any) -> Array:
        """w·x + b for each row."""
        rows = X if _is_sparse(X) else np.asarray(X)
        if rows.dtype.kind in "iu" and self.w.dtype.kind in "iu" and not self._fits_int64(rows):
            rows = rows.astype(np.float64 if _is_sparse(X) else object)  # NumPy would wrap around in silence
        scores: Array = np.asarray(rows @ self.w) + self.b
        return scores

    def _fits_int64(self, rows: Any) -> bool:
        if not all(rows.shape):
            return True
        largest = max(abs(int(rows.max())), abs(int(rows.min())))
        return bool(largest * sum(map(abs, self.w.tolist())) + abs(self.b) < 2**63)

    def predict(self, X: Any, *, at_zero: int = -1) -> Array:
        """The label of each row's side. A score of exactly 0 belongs to neither; `at_zero` says which to give."""
        if at_zero not in (-1, 1):
            raise ArgumentError(f"at_zero is {at_zero!r}: it must be -1 or 1.")
        scores = self.score(X)
        positive = scores >= 0 if at_zero == 1 else scores > 0
        return np.where(positive, np.asarray(self.labels[1]), np.asarray(self.labels[0]))

    def signs(self, y: Any) -> Array:
        """Labels as -1 and +1."""
        y = np.asarray(y)
        unknown = (y != self.labels[0]) & (y != self.labels[1])
        if unknown.any():
            row = int(np.argmax(unknown))
            raise ArgumentError(f"The label of row {row} is {y[row]!s}: this halfspace knows {self.labels}.")
        return np.where(y == self.labels[1], 1, -1)

    def distance(self, X: Any) -> Array:
        """How far each row lies from the hyperplane."""
        distances: Array = np.abs(self.score(X)) / np.linalg.norm(self.w)
        return distances

    def margins(self, X: Any, y: Any) -> Array:
        """Each row's distance, negative where the row is on the wrong side."""
        margins: Array = self.signs(y) * self.score(X) / np.linalg.norm(self.w)
        return margins

    def margin(self, X: Any, y: Any) -> float:
        """The margin of the set under this hyperplane: the smallest of the rows' margins."""
        return float(self.margins(X, y).min())

    def mistakes(self, X: Any, y: Any) -> int:
        """Rows with y·score <= 0: a row on the hyperplane is on nobody's side."""
        return int(np.count_nonzero(self.signs(y) * self.score(X) <= 0))

    def error(self, X: Any, y: Any, *, at_zero: int = -1) -> float:
        """The mean 0/1 loss of `predict`: the training error on training rows, the test error on others."""
        return float(np.mean(self.predict(X, at_zero=at_zero) != np.asarray(y)))

    @property
    def homogeneous(self) -> Array:
        """W = (w, b)."""
        return np.append(self.w, self.b)

    @classmethod
    def from_homogeneous(cls, W: Any, labels: tuple[Any, Any] = (-1, 1)) -> "Halfspace":
        """The halfspace of W = (w, b): a solution of Problem 2 in d + 1 dimensions solves Problem 1 in d."""
        W = np.asarray(W)
        return cls(W[:-1], W[-1].item(), labels)

    def equation(self, names: Any = None) -> str:
        """The hyperplane as people write it: 4·x1 - 0.5·x2 + 1 = 0.

        Columns are x1, x2, ... unless named; those with weight 0 are left out.
        """
        names = [f"x{j + 1}" for j in range(len(self.w))] if names is None else list(names)
        terms = [(value, name) for value, name in zip(self.w.tolist(), names, strict=True) if value]
        text = "".join(_term(value, name) for value, name in [*terms, (self.b, "")] if value)
        first, rest = text[:3], text[3:]
        return f"{'-' if first == ' - ' else ''}{rest or '0'} = 0"


def homogenise(X: Any) -> Array:
    """Each row with a 1 appended."""
    X = np.asarray(X)
    return np.column_stack([X, np.ones(len(X), dtype=X.dtype)])


def _term(value: float, name: str) -> str:
    sign, size = (" - ", -value) if value < 0 else (" + ", value)
    if not name:
        return f"{sign}{size:.6g}"
    return f"{sign}{name}" if size == 1 else f"{sign}{size:.6g}·{name}"


def _is_sparse(X: Any) -> bool:
    return type(X).__module__.startswith("scipy.sparse")
