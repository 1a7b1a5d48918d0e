"""Obstructions: a few rows with weights that rule out every hyperplane, and the checks that prove it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from operator import index
from typing import Any, TypeAlias, final

import numpy as np
import numpy.typing as npt

from linsep.errors import CertificateError
from linsep.proofs import checks, definite
from linsep.proofs.checked_rows import Label, Rows
from linsep.proofs.definite import ColumnDependence
from linsep.report import RowNames, listed, one_line

Floats: TypeAlias = npt.NDArray[np.float64]


def integers(values: Iterable[Any], what: str) -> tuple[int, ...]:
    """Integers of any type as Python's; anything else is refused."""
    if isinstance(values, tuple) and set(map(type, values)) == {int}:  # millions of weights are read, not made anew
        return values
    try:
        return tuple(map(int, map(index, values)))
    except TypeError:
        raise CertificateError(f"The {what} must be integers.") from None


def plain(label: Any) -> Label:
    """A label as a Python value instead of a NumPy scalar."""
    found: Label = label.item() if isinstance(label, np.generic) else label
    return found


@final
@dataclass(frozen=True, slots=True)
class Obstruction:
    """Rows with positive integer weights: `Σ weight·z = 0`, z the signed rows.

    With bias this says that the weighted mean of the + rows is the weighted mean of the - rows. With many columns,
    short weights that nearly cancel are a proof as well, the positive-definite one (see `linsep.proofs.definite`). The
    rows are sorted and the weights divided by their common factor, which does not change what is proved.

    Attributes
    ----------
    rows, weights : tuples of int
        The numbers of the rows, and their weights.
    classes : tuple or None
        The labels of the rows; not part of the proof, and None if it was read from a file.
    points : array or None
        The values of the rows, for pictures; None if there are many.
    dependences : tuple or None
        For a positive-definite proof, the linear dependences between columns on these rows; else None.
    row_names : mapping
        What the user calls the rows: see `ids`.

    Examples
    --------
    >>> import linsep
    >>> found = linsep.decide([[0], [2], [1]], [0, 0, 1]).obstruction
    >>> found.rows, found.weights, found.classes, found.shares
    ((0, 1, 2), (1, 1, 2), (0, 0, 1), (0.5, 0.5, 1.0))
    """

    rows: tuple[int, ...]
    weights: tuple[int, ...]
    classes: tuple[Label, ...] | None = field(default=None, compare=False)
    points: Floats | None = field(default=None, compare=False)
    dependences: tuple[ColumnDependence, ...] | None = None
    row_names: RowNames | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        rows, weights = integers(self.rows, "row numbers"), integers(self.weights, "weights")
        if not rows or len(rows) != len(weights):
            raise CertificateError(f"{len(rows)} rows and {len(weights)} weights do not make an obstruction.")
        if min(rows) < 0 or len(set(rows)) != len(rows):
            raise CertificateError("The rows of an obstruction must be distinct row numbers, counted from 0.")
        if min(weights) <= 0:
            raise CertificateError("The weights of an obstruction must be positive.")
        if self.classes is not None and len(self.classes) != len(rows):
            raise CertificateError(f"{len(self.classes)} classes for {len(rows)} rows.")
        if self.dependences is not None:
            object.__setattr__(self, "dependences", tuple(self.dependences))
            definite.own_columns(self.dependences)
        common = math.gcd(*weights)
        if common > 1:
            weights = tuple(weight // common for weight in weights)
        order = sorted(range(len(rows)), key=rows.__getitem__)
        object.__setattr__(self, "rows", tuple(sorted(rows)))
        object.__setattr__(self, "weights", tuple(map(weights.__getitem__, order)))
        if self.classes is not None:
            object.__setattr__(self, "classes", tuple(plain(self.classes[k]) for k in order))
        if self.points is not None:
            object.__setattr__(self, "points", self.points[order])

    def __repr__(self) -> str:
        return one_line(self, f"{'row' if len(self.rows) == 1 else 'rows'} {listed(self.rows)}")

    @property
    def ids(self) -> tuple[Any, ...]:
        """What the user calls the rows: their ids, or their numbers if they have none."""
        return self.rows if self.row_names is None else self.row_names.ids(self.rows)

    @property
    def is_definite(self) -> bool:
        """Whether the weights only nearly cancel, completed by a positive-definite matrix, or cancel exactly."""
        return self.dependences is not None

    @property
    def shares(self) -> tuple[float, ...] | None:
        """The weight of each row divided by the sum over its class; None if the classes are not known."""
        if self.classes is None:
            return None
        sums = Counter[Label]()
        for u, label in zip(self.weights, self.classes, strict=True):
            sums[label] += u
        return tuple(u / sums[label] for u, label in zip(self.weights, self.classes, strict=True))


def require_fit(obstruction: Obstruction, spread: Obstruction | None, numbers: str) -> None:
    """A positive-definite obstruction must be its own spread, and its numbers must be binary."""
    if spread is not None and spread != obstruction and (obstruction.is_definite or spread.is_definite):
        raise CertificateError("A positive-definite obstruction must be its own spread.")
    if obstruction.is_definite and numbers == "decimal":
        raise CertificateError("A positive-definite obstruction is proved for binary64, not for exact decimals.")


def check_obstruction(found: Obstruction, rows: Rows, bias: bool) -> None:
    """Raise CertificateError unless a w with z·w >= 0 on these rows is 0 on them."""
    if found.dependences is None:
        checks.check_combination(rows, found.rows, found.weights, bias, "obstruction")
    else:
        definite.check_definite(rows, found.rows, found.weights, found.dependences, bias)


def check_as_spread(found: Obstruction, rows: Rows, bias: bool, exempt: npt.NDArray[np.int64] | None = None) -> None:
    """The same, and every row except those in `exempt` must be a linear combination of these rows."""
    if found.dependences is not None:
        used = definite.check_definite(rows, found.rows, found.weights, found.dependences, bias)
        definite.check_definite_span(rows, used, found.dependences, exempt)
    elif exempt is None:
        checks.check_spread(rows, found.rows, found.weights, bias, "spread")
    else:
        checks.check_combination(rows, found.rows, found.weights, bias, "spread")
        checks.check_span(rows, found.rows, bias, "spread", exempt=exempt)
