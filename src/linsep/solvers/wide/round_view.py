"""Rows in a basis in which they are round, where nearly equal columns and rows that nearly cancel do no harm.

With the triangle R of RᵀR = Σ z zᵀ over a sample, rows become z·R⁻¹ in the basis, and weights v of the basis are R⁻¹·v
in the frame. Weights are nearly 0 on two rows that nearly cancel; such directions are stretched, as in
`change_of_basis.py`, but in floats.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from linsep.loops.layouts import Dense
from linsep.solvers.scaling import Frame
from linsep.sources.base import Block, Floats, Ints, Source

IN_SPAN = 1e-9  # rows with less than this left outside the span of others count as combinations of them
FLATTEST = 1e-13  # of the squared lengths of all rows: directions in which they have less are not stretched further
SAME, OPPOSITE = 1e-14, 1e-3  # two rows of length 1 nearly cancel if the length of their sum is between
SLICE = 1 << 18  # entries of the rows multiplied together
LOOKS, NEIGHBOURS = 3, 4  # random directions along which rows are sorted, and how many neighbours of each are compared


class RoundView:
    """Rows of length 1 in a basis in which a sample is round, without their part along rows that must be 0."""

    def __init__(self, frame: Frame, triangle: Floats, zero: Block) -> None:
        self.frame, self.triangle = frame, triangle
        self.directions = np.linalg.qr(self._turned(zero).T)[0]

    def _turned(self, block: Block) -> Floats:
        from scipy.linalg import solve_triangular

        turned = solve_triangular(self.triangle, self.frame.signed(block).T, trans="T", check_finite=False).T
        return np.ascontiguousarray(turned)

    def scaled(self, block: Block) -> tuple[Floats, Floats, Floats]:
        """The rows, the factor that gave each length 1, and how much of each was left before that."""
        z = self._turned(block)
        before = np.linalg.norm(z, axis=1)
        for _ in range(2 if self.directions.size else 0):  # the second time removes what rounding left
            z -= (z @ self.directions) @ self.directions.T
        left = np.linalg.norm(z, axis=1)
        factors = 1.0 / np.where(left > 0, left, 1.0)
        return z * factors[:, None], factors, left / np.where(before > 0, before, 1.0)

    def signed(self, block: Block) -> Floats:
        """The rows in this basis."""
        return self.scaled(block)[0]

    def outside(self, block: Block) -> npt.NDArray[np.bool_]:
        """Which rows are not combinations of the zero rows, as far as floats can tell."""
        return self.scaled(block)[2] > IN_SPAN

    def halfspace(self, v: Floats, b: float = 0.0) -> tuple[Floats, float]:
        """Weights of this basis as weights of the original columns, and the bias, which is one of the columns here."""
        from scipy.linalg import solve_triangular

        return self.frame.halfspace(solve_triangular(self.triangle, v, check_finite=False))

    def beside(self, zero: Block) -> RoundView:
        """The same basis with these rows to be 0."""
        return RoundView(self.frame, self.triangle, zero)

    @property
    def n_columns(self) -> int:
        """How many coordinates there are."""
        return self.frame.width

    def seen(self, block: Block) -> Block:
        """The rows outside the span of the zero rows, with their signs in them: for `relax.py`."""
        z, _, left = self.scaled(block)
        kept = np.flatnonzero(left > IN_SPAN)
        return Block(Dense(z[kept]), np.ones(len(kept), block.y.dtype), block.row_numbers[kept], self.n_columns)


def round_basis(source: Source, frame: Frame, sample: Block) -> Floats:
    """R whose basis makes these rows round, and in which pairs that nearly cancel are less close to cancelling."""
    triangle = _triangle(_of_unit_length(frame.signed(sample)))
    view = RoundView(frame, triangle, source.take(np.zeros(0, np.int64)))
    first, second = near_pairs(source, view)
    if not len(first):
        return triangle
    z, other = view.signed(source.take(first)), view.signed(source.take(second))
    apart = np.maximum(np.linalg.norm(z + other, axis=1), SAME)
    stretch = (z - other) / (2**0.5 * apart)[:, None]
    if apart.min() > FLATTEST**0.5:
        return np.asarray(np.linalg.cholesky(np.eye(len(triangle)) + stretch.T @ stretch).T @ triangle)
    return np.asarray(np.linalg.qr(np.vstack([np.eye(len(triangle)), stretch]), mode="r") @ triangle)  # takes longer


@np.errstate(all="ignore")
def near_pairs(source: Source, place: Frame | RoundView) -> tuple[Ints, Ints]:
    """Pairs of rows that nearly cancel in this basis: neighbours along some random directions.

    Not those that cancel exactly: no basis makes them separable.
    """
    width = place.width if isinstance(place, Frame) else place.n_columns
    ways = [place.halfspace(way) for way in np.random.default_rng(0).standard_normal((LOOKS, width))]
    numbers, keys = _keys(source, ways)
    reach = 4 * OPPOSITE * np.linalg.norm(keys, axis=1)
    found = []
    for key in keys.T:
        order = np.argsort(np.abs(key), kind="stable")
        along, far = key[order], reach[order]
        for step in range(1, NEIGHBOURS + 1):
            near = np.flatnonzero(np.abs(along[:-step] + along[step:]) <= far[:-step])
            pairs = np.stack([order[near], order[near + step]])
            found.append(pairs[:, (np.abs(keys[pairs[0]] + keys[pairs[1]]) <= reach[pairs[0], None]).all(axis=1)])
    pairs = np.unique(np.sort(np.concatenate(found, axis=1), axis=0), axis=1)
    first, second = numbers[pairs]
    sums = [_of_unit_length(place.signed(source.take(rows))) for rows in (first, second)]
    apart = np.linalg.norm(sums[0] + sums[1], axis=1)
    near = (apart > SAME) & (apart < OPPOSITE)
    return first[near], second[near]


def _keys(source: Source, ways: list[tuple[Floats, float]]) -> tuple[Ints, Floats]:
    """The numbers of all rows, and their signed scores in each of these ways."""
    w, b = np.column_stack([w for w, _ in ways]), np.array([b for _, b in ways])
    numbers, keys = [], []
    for block in source.blocks():
        numbers.append(block.row_numbers)
        step = max(1, SLICE // max(1, block.n_columns))
        for start in range(0, len(block), step):  # few at a time: those of other types are made doubles of
            part = slice(start, start + step)
            keys.append(block.y[part, None] * (block.values[part].astype(np.float64, copy=False) @ w + b))
    return np.concatenate(numbers), np.concatenate(keys)


def _triangle(z: Floats) -> Floats:
    """R of a Gram matrix, with a little added to it: columns may depend on each other."""
    gram = z.T @ z
    gram.flat[:: len(gram) + 1] += FLATTEST * np.trace(gram)
    return np.asarray(np.linalg.cholesky(gram).T)


def _of_unit_length(z: Floats) -> Floats:
    lengths = np.linalg.norm(z, axis=1)
    return np.asarray(z / np.where(lengths > 0, lengths, 1.0)[:, None])
