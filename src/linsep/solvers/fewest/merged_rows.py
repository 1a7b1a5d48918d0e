"""The rows in the search for the fewest mistakes: each kind once, with its cost, in round coordinates.

Equal rows of one class are right or mistaken together. Of equal rows of different classes, one kind is always mistaken:
the cost of the cheaper one is counted at once, and the other keeps only the difference.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from linsep.solvers.scaling import Frame, require_memory
from linsep.solvers.wide.contradictions import equal_rows
from linsep.sources.base import Block, Floats, Ints, Source

Paid = tuple[tuple[int, ...], int]

RANK = 1e-11  # singular values below this part of the largest are 0


@dataclass(frozen=True, slots=True)
class RowKinds:
    """The distinct signed rows: the number of the first row of each, all its rows, and the sum of their costs."""

    first: Ints
    of_row: Ints
    costs: tuple[int, ...]

    def rows_of(self, kind: int) -> tuple[int, ...]:
        """The rows of a kind, the first one first."""
        return tuple(np.flatnonzero(self.of_row == kind).tolist())


def kinds_of(block: Block, costs: Sequence[int] | None) -> RowKinds:
    """All rows of a source, given as a block in their order, by kind."""
    _, first, of_row = np.unique(2 * equal_rows(block) + (block.y > 0), return_index=True, return_inverse=True)
    first, of_row = np.unique(first[of_row], return_inverse=True)
    own = np.ones(len(block), object) if costs is None else np.array(costs, object)
    sums = np.zeros(len(first), object)
    np.add.at(sums, of_row, own)
    return RowKinds(first, of_row, tuple(sums.tolist()))


@dataclass(frozen=True, slots=True)
class Merged:
    """The rows whose cost can still be avoided: unit rows z in round coordinates, one for each kind, and their costs.

    `kinds` holds all kinds, `left` those with a cost left, and `costs` these costs. `paid` holds kinds of which one is
    a mistake whatever the hyperplane, with its cost: two that are the same point, or one that is zero. `basis` turns
    weights of z into weights of the frame.
    """

    kinds: RowKinds
    left: Ints
    costs: tuple[int, ...]
    z: Floats
    paid: tuple[Paid, ...]
    frame: Frame
    basis: Floats

    @property
    def base(self) -> int:
        """What every hyperplane costs in any case."""
        return sum(cost for _, cost in self.paid)

    def halfspace(self, v: Floats) -> tuple[Floats, float]:
        """Weights of z as weights of the columns, and the bias."""
        return self.frame.halfspace(self.basis @ v)

    def near(self, weights: Floats, bias_weight: float) -> Floats:
        """The reverse, as nearly as possible."""
        v = np.linalg.lstsq(self.basis, self.frame.weights(weights, bias_weight))[0]
        return np.asarray(v / (np.linalg.norm(v) or 1.0))


def merge(source: Source, costs: Sequence[int] | None, *, bias: bool, is_round: bool = True) -> Merged:
    """Read all rows, and keep each kind once; with is_round=False the coordinates are not made round."""
    require_memory(source.n_rows, source.n_columns + bias)
    block = source.take(np.arange(source.n_rows))
    kinds = kinds_of(block, costs)
    paid, left_over = _paid(block.take(kinds.first), kinds.costs, bias)
    left = np.flatnonzero([cost > 0 for cost in left_over])
    rows = block.take(kinds.first[left])
    frame = Frame.around(rows, np.arange(source.n_columns), bias=bias)
    signed = frame.signed(rows)
    basis = _round_basis(signed) if is_round else np.eye(signed.shape[1])
    z = signed @ basis if is_round else signed
    lengths = np.linalg.norm(z, axis=1)
    z /= np.where(lengths > 0, lengths, 1.0)[:, None]
    return Merged(kinds, left, tuple(left_over[k] for k in left.tolist()), z, paid, frame, basis)


def _paid(block: Block, costs: Sequence[int], bias: bool) -> tuple[tuple[Paid, ...], list[int]]:
    """The kinds of which one is a mistake in any case, and the costs that are left of all kinds."""
    point, plus = equal_rows(block), block.y > 0
    _, a, b = np.intersect1d(point[plus], point[~plus], return_indices=True)
    pairs = np.column_stack([np.flatnonzero(plus)[a], np.flatnonzero(~plus)[b]])
    left, found = list(costs), []
    for kinds in [*_zero(block, bias), *map(tuple, pairs.tolist())]:
        cost = min(left[kind] for kind in kinds)
        if cost:
            found.append((kinds, cost))
            for kind in kinds:
                left[kind] -= cost
    return tuple(found), left


def _zero(block: Block, bias: bool) -> list[tuple[int, ...]]:
    """Rows of zeros, which lie on every hyperplane through the origin."""
    if bias:
        return []
    sums = abs(block.values).sum(axis=1)
    return [(int(kind),) for kind in np.flatnonzero(np.asarray(sums).ravel() == 0)]


def _round_basis(signed: Floats) -> Floats:
    """Coordinates, as many as the rank of the rows, in which the rows are about equally long in every direction."""
    lengths = np.linalg.norm(signed, axis=1)
    upper = np.linalg.qr(signed / np.where(lengths > 0, lengths, 1.0)[:, None], mode="r")
    _, sizes, rotation = np.linalg.svd(upper, full_matrices=False)
    kept = sizes > RANK * sizes.max(initial=0.0)
    return np.asarray(rotation[kept].T / sizes[kept])
