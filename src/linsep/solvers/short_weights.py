"""From weights in floats that nearly cancel to a positive-definite proof with short integers.

Weights u of rows z with Σ u z about 0 come from Newton's method, or from a working set that has no solution. Here

    rows that only a weight of 0 would cancel, for a column of one sign, are left out
    columns that depend on others are named, each with its exact dependence
    u is moved, in proportion to its size, to where Σ u z is 0 as far as floats can tell; rows whose weight turns
      negative are left out, and the rest moved again
    u is rounded to integers of few bits, and `proofs.definite` says whether that is a proof
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp

from linsep import deadline
from linsep.errors import LinsepError
from linsep.exact import coprime, dyadic, original_multipliers
from linsep.proofs import definite, eigenvalues
from linsep.proofs.definite import ColumnDependence
from linsep.solvers.clock import Clock
from linsep.solvers.scaling import Frame, require_bytes
from linsep.sources.base import MOST_BITS, Block, Floats, Ints, Source
from linsep.tables import is_sparse

Signed: TypeAlias = Any  # signed rows: an array, or a CSR matrix of sparse ones

WIDE = 200  # columns: from here on obstructions are positive-definite, below exact ones are short and quickly found
ROUNDS = 3  # of bringing Σ u z nearer to 0
SHORT_BITS, LONG_BITS, MORE_BITS = 12, 48, 12  # of a weight: at first, at most, and what is added between
SPEED = 1e10  # operations a second
A_PIVOT = 1e-9  # seconds, times rows and columns², of a QR with pivots
MATRICES = 3  # of columns by columns, that are held at once
ROOM = 4.0  # what is found holds so clearly that every checker sees it
TRIES = 8  # at weights that are all positive
TINY = 1e-9  # weights below this part of the largest are left out
RANK = 1e-9  # of a column, as a part of the largest, below which it depends on others
MOST_ENTRIES = 1 << 24  # of rows whose dependences are looked for
MOST_DENOMINATOR, NEAR = 64, 1e-7  # of the coefficients of a dependence


@dataclass(frozen=True, slots=True)
class Blocked:
    """Rows and positive integers: an obstruction, proved. With dependences of columns it is a positive-definite one."""

    rows: Block
    weights: tuple[int, ...]
    dependences: tuple[ColumnDependence, ...] | None = None


def is_about_doubles(source: Source) -> bool:
    """Whether a positive-definite proof can be about these rows."""
    facts = source.facts
    return facts.scales is None and facts.numbers != "decimal" and (facts.integer_bits or 0) <= MOST_BITS


@np.errstate(all="ignore")
def prove(frame: Frame, block: Block, weights: Floats, clock: Clock, z: Signed | None = None) -> Blocked | None:
    """The positive-definite proof on these rows with about these weights; None where they do not make one.

    `z` are the rows as they look from the frame, where they are known already; the weights are written to.
    """
    kept, z = np.arange(len(block)), frame.signed_alike(block) if z is None else z
    clock.require(frame.width**3 / SPEED)  # time first: where it is too short, memory is no matter
    n_used = len(used_places(z))
    require_bytes(MATRICES * 8 * n_used**2, f"A positive-definite proof of {n_used:,} columns")
    for _ in range(TRIES):
        rows = 0 if block.is_sparse else len(kept)
        clock.require((rows + frame.width) * frame.width**2 / SPEED)  # a factorisation cannot be interrupted
        kept = kept[weights[kept] > TINY * weights.max(initial=0.0)]
        kept = kept[_mixed(z[kept])]
        if not len(kept):
            return None
        found, u = _polished(frame, block.take(kept), z[kept], weights[kept])
        if u is None:
            return None
        if u.min() > TINY * u.max():
            return _rounded(frame, block.take(kept), found, u, clock)
        weights[kept] = u
    return None


def _polished(frame: Frame, block: Block, z: Signed, u: Floats) -> "tuple[_Columns, Floats | None]":
    """Independent columns, and weights nearby that cancel in them; without weights where there are none to be had."""
    columns = _Columns.of(z, frame, _proportional(frame, block, z))
    found = columns.polish(u)
    if found is None:
        more = _dependent(frame, block, z, columns.places)
        columns = _Columns.of(z, frame, (*columns.dependences, *more))
        found = columns.polish(u) if more else None
    return columns, found


@dataclass(frozen=True, slots=True)
class _Columns:
    """Independent columns of some rows, and how the others depend on them."""

    z: Signed
    places: list[int]
    dependences: tuple[ColumnDependence, ...]

    @classmethod
    def of(cls, z: Signed, frame: Frame, dependences: Sequence[ColumnDependence]) -> "_Columns":
        """The columns that are not 0, without those that are named as dependent."""
        own = definite.own_columns(dependences)
        places = [k for k in used_places(z).tolist() if _name(frame, k) not in own]
        return cls(z[:, places], places, tuple(dependences))

    def polish(self, u: Floats) -> Floats | None:
        """Weights nearby, in proportion to their size, that cancel as well as floats can tell; some may be negative.

        None where the columns are not independent, as far as floats can tell.
        """
        from scipy.linalg import cho_factor, cho_solve

        if not 0 < len(self.places) < self.z.shape[0]:
            return None
        scaled = sp.diags_array(u) @ self.z if is_sparse(self.z) else self.z * u[:, None]
        gram = eigenvalues.gram_of(scaled)
        gram.flat[:: len(gram) + 1] *= 1 - RANK
        try:
            factor = cho_factor(gram, overwrite_a=True, check_finite=False)
        except np.linalg.LinAlgError:
            return None
        found = u
        for _ in range(ROUNDS):
            found = found - u * (scaled @ cho_solve(factor, found @ self.z))
        return found if np.isfinite(found).all() else None


def used_places(z: Signed) -> Ints:
    """The columns that are not 0 on all rows."""
    return np.flatnonzero((z != 0).sum(axis=0))


def _mixed(z: Signed) -> Ints:
    """The rows without a column of one sign, which only weights of 0 would cancel; and so again without the others."""
    kept = np.arange(z.shape[0])
    while True:
        some = z[kept]
        strange = ((some > 0).sum(axis=0) > 0) != ((some < 0).sum(axis=0) > 0)
        touched = abs(some) @ strange.astype(np.float64) > 0
        if not touched.any():
            return kept
        kept = kept[~touched]


def _rounded(frame: Frame, block: Block, columns: _Columns, u: Floats, clock: Clock) -> Blocked | None:
    """Round the weights to as few bits as the proof allows."""
    z = columns.z
    exponents = frame.row_exponents(block)
    for bits in range(SHORT_BITS, LONG_BITS + 1, MORE_BITS):
        whole = np.rint(np.ldexp(u / u.max(), bits)).astype(np.int64)
        if whole.min() <= 0:
            if bits < LONG_BITS:
                continue
            whole = np.maximum(whole, 1)
        left = np.abs(whole @ z).max() / whole.max()
        if bits < LONG_BITS and left > 1e-3 * float((z**2).sum()) / z.shape[1] ** 2:
            continue
        clock.check()
        weights = original_multipliers(whole.tolist(), exponents.tolist())
        found = Blocked(block, weights, columns.dependences)
        if _holds(found, frame):
            return found
    return None


def _holds(found: Blocked, frame: Frame) -> bool:
    own = definite.own_columns(found.dependences or ())
    values = found.rows.values
    kept = np.array([c for c in frame.columns.tolist() if c not in own], np.int64)
    kept = np.intersect1d(kept, np.flatnonzero(definite.used_columns(values))).astype(np.int64)
    table = definite.some_columns(values, kept)
    bias = frame.bias and frame.n_columns not in own
    return bool(eigenvalues.bounds_of(table, found.rows.y, found.weights, bias=bias, room=ROOM).holds)


def outside(source: Source, found: Blocked, *, bias: bool) -> tuple[Ints, Ints]:
    """The rows that are not linear combinations of those of the proof, and the columns in which these are 0."""
    used = np.append(definite.used_columns(found.rows.values), np.ones(int(bias), bool))
    rows = [*definite.outside(source, used, found.dependences or ()), np.zeros(0, np.int64)]
    return np.concatenate(rows), np.flatnonzero(~used[: source.n_columns])


def _name(frame: Frame, place: int) -> int:
    """The column of the table at this place of the frame; the constant comes after the last."""
    return int(frame.columns[place]) if place < len(frame.columns) else frame.n_columns


def _proportional(frame: Frame, block: Block, z: Signed) -> list[ColumnDependence]:
    """The columns that are multiples of an earlier one on these rows, compared exactly."""
    used, first, lead = _leads(z)
    keys = (np.random.default_rng(0).standard_normal((2, z.shape[0])) @ z)[:, used] / lead
    order = np.lexsort(np.round(keys, 6))
    pairs = list(zip(order[:-1].tolist(), order[1:].tolist(), strict=True))
    return [
        found
        for a, b in reversed(pairs)  # so that no later one has the column that is its own
        if np.allclose(keys[:, a], keys[:, b], rtol=1e-9, atol=1e-12)
        and (found := _multiple(frame, block, int(first[a]), int(used[a]), int(used[b]))) is not None
    ]


def _leads(z: Signed) -> tuple[Ints, Ints, Floats]:
    """The columns that are not 0, and of each the first row that is not 0 in it, and its entry there."""
    if not is_sparse(z):
        is_there = z != 0
        used = np.flatnonzero(is_there.any(axis=0))
        first = is_there.argmax(axis=0)[used]
        return used, first, z[first, used]
    entries = sp.csc_array(z)
    entries.eliminate_zeros()
    entries.sort_indices()
    used = np.flatnonzero(np.diff(entries.indptr))
    starts = entries.indptr[used]
    return used, entries.indices[starts].astype(np.int64), entries.data[starts]


def _multiple(frame: Frame, block: Block, row: int, a: int, b: int) -> ColumnDependence | None:
    """Column b as a multiple of column a, by their entries in this row; None if it is not one on all rows."""
    pair = [_name(frame, a), _name(frame, b)]
    entries = [1 if column == frame.n_columns else _entry(block, row, column) for column in pair]
    return _checked(frame, block, [pair[1], pair[0]], [Fraction(*_ratio(entries[0])), -Fraction(*_ratio(entries[1]))])


def _entry(block: Block, row: int, column: int) -> int | float:
    value: int | float = block.values[row, column].item()
    return value


def _ratio(value: int | float) -> tuple[int, int]:
    mantissa, exponent = dyadic(value)
    return (mantissa << max(exponent, 0), 1 << max(-exponent, 0))


def _dependent(frame: Frame, block: Block, z: Signed, places: list[int]) -> list[ColumnDependence]:
    """Short linear dependences of these columns, each with a column of its own; none where one is not short."""
    from scipy.linalg import qr, solve_triangular

    if not 0 < z.shape[0] * len(places) <= MOST_ENTRIES:
        return []
    deadline.require(A_PIVOT * z.shape[0] * len(places) ** 2)
    z = z.toarray() if is_sparse(z) else z
    triangle, order = qr(z[:, places], mode="r", pivoting=True, check_finite=False)
    sizes = np.abs(np.diag(triangle))
    rank = int((sizes > RANK * sizes.max(initial=0.0)).sum())
    kept, own = order[:rank], order[rank:]
    coefficients = solve_triangular(triangle[:rank, :rank], triangle[:rank, rank:], check_finite=False)
    found = []
    for k, place in enumerate(own.tolist()):
        near = [Fraction(c).limit_denominator(MOST_DENOMINATOR) for c in coefficients[:, k].tolist()]
        if any(abs(float(n) - c) > NEAR for n, c in zip(near, coefficients[:, k].tolist(), strict=True)):
            return []
        chosen = [(places[j], n) for j, n in zip(kept.tolist(), near, strict=True) if n]
        spots = [places[place], *(j for j, _ in chosen)]
        shifts = [Fraction(2) ** int(frame.exponents[j]) for j in spots]
        weights = [
            weight * shift for weight, shift in zip([Fraction(-1), *(n for _, n in chosen)], shifts, strict=True)
        ]
        dependence = _checked(frame, block, [_name(frame, j) for j in spots], weights)
        if dependence is None:
            return []
        found.append(dependence)
    return found


def _checked(frame: Frame, block: Block, columns: list[int], weights: list[Fraction]) -> ColumnDependence | None:
    """The dependence with these weights as integers, if it holds exactly."""
    common = math.lcm(*(weight.denominator for weight in weights))
    try:
        found = ColumnDependence(tuple(columns), coprime(int(weight * common) for weight in weights))
        definite.require_zero(found, block.row_numbers, block.values, frame.n_columns)
    except LinsepError:
        return None
    return found
