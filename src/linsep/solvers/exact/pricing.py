"""Rows of integers that find the row most violated by given weights: floats first, exact where in doubt.

Each row is kept twice: as Python integers, and rounded to doubles after a division by a power of two that
leaves its largest entry in [1/2, 1]. The weights are rounded in the same way. A float score is then off by
at most g·|w|₁ (cheap), or g·Σ|w_j z_j| (sharper), with g the rounding factor of a dot product. Only rows
whose score lies within the sharper bound are scored in integers.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from flint import fmpz_mat
from numpy.typing import NDArray

from linsep.exact import rounding_bound

_EXACT_BATCH = 256
_INT64 = 1 << 62


class RowStore:
    """Integer rows, numbered from 0 in the order they were added."""

    def __init__(self, n_columns: int) -> None:
        self._rows: list[list[int]] = []
        self._floats = np.zeros((0, n_columns))
        self._norms = np.zeros(0)
        self._n_columns = n_columns

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, row: int) -> list[int]:
        return self._rows[row]

    def __iter__(self) -> Iterator[list[int]]:
        return iter(self._rows)

    def add(self, rows: Iterable[Sequence[Any]] | NDArray[Any]) -> range:
        """Add rows, return their numbers."""
        start = len(self._rows)
        new = _as_lists(rows)
        for row in new:
            if len(row) != self._n_columns:
                raise ValueError(f"a row of {len(row)} entries does not fit {self._n_columns} columns")
        self._rows += new
        self._grow(len(self._rows))
        floats = _rounded_rows(new, self._n_columns)
        self._floats[start : len(self._rows)] = floats
        self._norms[start : len(self._rows)] = np.linalg.norm(floats, axis=1)
        return range(start, len(self._rows))

    def _grow(self, needed: int) -> None:
        if needed > len(self._floats):
            capacity = max(needed, 2 * len(self._floats))
            floats, norms = np.zeros((capacity, self._n_columns)), np.ones(capacity)
            floats[: len(self._floats)], norms[: len(self._norms)] = self._floats, self._norms
            self._floats, self._norms = floats, norms

    def as_int64(self) -> NDArray[np.int64] | None:
        """Return all rows as one int64 array, or None if an entry is too long."""
        if any(not -_INT64 < x < _INT64 for row in self._rows for x in row):
            return None
        return np.array(self._rows, np.int64).reshape(len(self._rows), self._n_columns)

    def price(
        self, weights: Sequence[int], skip: Collection[int] = (), prefer: Sequence[int] = ()
    ) -> tuple[int | None, list[int]]:
        """Return a row outside `skip` with a negative score or, if there is none, the rows of score zero.

        The row is the one with the most negative score relative to its length, in floats, among the preferred rows if
        one of those is certainly negative. Rows that only integers can distinguish from zero come last, the lowest
        score first.
        """
        n = len(self._rows)
        if not any(weights):
            return None, [i for i in range(n) if i not in skip]
        rounded = _rounded(weights)
        scores = self._floats[:n] @ rounded
        scores[list(skip)] = np.inf
        terms = 2 * self._n_columns + 4  # rows and weights are rounded too, and may underflow
        doubtful = np.flatnonzero(scores <= rounding_bound(terms, np.abs(rounded).sum()))
        bounds = rounding_bound(terms, np.abs(self._floats[doubtful]) @ np.abs(rounded))
        negative = doubtful[scores[doubtful] < -bounds]
        if len(negative):
            preferred = negative[np.isin(negative, prefer)] if len(prefer) else negative
            candidates = preferred if len(preferred) else negative
            return int(candidates[np.argmin(scores[candidates] / self._norms[candidates])]), []
        doubtful = doubtful[np.abs(scores[doubtful]) <= bounds]
        return self._price_exactly(doubtful[np.argsort(scores[doubtful])], weights)

    def _price_exactly(self, rows: NDArray[np.intp], weights: Sequence[int]) -> tuple[int | None, list[int]]:
        column = fmpz_mat([[w] for w in weights])
        zeros: list[int] = []
        for start in range(0, len(rows), _EXACT_BATCH):
            batch = rows[start : start + _EXACT_BATCH].tolist()
            scores = (fmpz_mat([self._rows[i] for i in batch]) * column).entries()
            least = min(range(len(batch)), key=lambda k: scores[k])
            if scores[least] < 0:
                return batch[least], []
            zeros += [i for i, score in zip(batch, scores, strict=True) if score == 0]
        return None, sorted(zeros)


def _as_lists(rows: Iterable[Sequence[Any]] | NDArray[Any]) -> list[list[int]]:
    if isinstance(rows, np.ndarray) and rows.dtype.kind in "iu":
        return [list(row) for row in rows.tolist()]
    return [[int(x) for x in row] for row in rows]


def _rounded_rows(rows: Sequence[Sequence[int]], n_columns: int) -> NDArray[np.float64]:
    """Round many rows, all at once if doubles can hold them."""
    try:
        floats = np.array(rows, np.float64).reshape(len(rows), n_columns)
    except OverflowError:
        return np.array([_rounded(row) for row in rows])
    lengths = np.frexp(np.abs(floats).max(axis=1, initial=0.0))[1]
    return np.asarray(np.ldexp(floats, -lengths[:, None]))


def _rounded(numbers: Sequence[int]) -> NDArray[np.float64]:
    """Divide integers by the power of two that brings the largest into [1/2, 1], and round each correctly."""
    length = max((abs(n).bit_length() for n in numbers), default=0)
    if length <= 1000:
        return np.asarray(np.ldexp(np.array([float(n) for n in numbers]), -length))
    divisor = 1 << length
    return np.array([n / divisor for n in numbers])
