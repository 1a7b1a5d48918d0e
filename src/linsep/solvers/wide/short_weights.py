"""From weights in floats that nearly cancel to a positive-definite proof with short integers.

Weights u of rows z with Σ u z about 0 come from Newton's method, or from a working set without a solution. Here

    rows that only a weight of 0 would cancel, for a column of one sign, are left out
    columns that depend on others are named, each with its exact dependence
    u is moved, in proportion to its size, to where Σ u z is 0 as far as floats can tell; rows whose weight turns
      negative are left out, and the rest moved again
    u is rounded to integers of few bits, and `proofs.definite` says whether that is a proof
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep import deadline
from linsep.cores import one_thread
from linsep.errors import LinsepError
from linsep.exact import coprime, original_multipliers
from linsep.proofs import definite, eigenvalues
from linsep.proofs.definite import ColumnDependence
from linsep.solvers.clock import Clock
from linsep.solvers.scaling import Frame, require_bytes
from linsep.sources.base import MOST_BITS, Block, Floats, Ints, Source
from linsep.tables import is_sparse

Signed: TypeAlias = Any  # signed rows: an array, or a CSR matrix of sparse ones

WIDE = 200  # columns: from this many on, obstructions are positive-definite; with fewer, exact ones are short
ROUNDS, MORE_ROUNDS = 3, 30  # of bringing Σ u z nearer to 0; more if each halves the rest, unless they take long
SHORT_BITS, LONG_BITS, MORE_BITS = 6, 48, 1  # of a weight: at first, at most, and what is added between
SPEED = 1e10  # operations a second
A_PIVOT = 1e-9  # seconds, times rows and columns², of a QR with pivots
MATRICES = 3  # of columns by columns, that are held at once
ROOM = 4.0  # a factor by which proofs hold, so that every checker's bounds confirm them
TRIES, MOST_LOST = 30, 0.1  # attempts to make all weights positive; the part of the rows that may be lost at once
VANISHED = 1e-6  # of the largest weight before: if the largest is below it, no weights cancel
TINY = 1e-9  # weights below this part of the largest are left out
NOTHING = 1e-11  # added to the square of each column, which is 1, so that a system has a solution
RANK = 1e-9  # of a column, as a part of the largest, below which it depends on others
ROWS_A_COLUMN, RARE = 1.7, 20  # of a short proof; and the rows of a rare column
LEAST_KEPT, LESS = 0.6, 0.9  # of the rows, when others are left out; if more would stay, none are
DIRECT = 1500  # columns of sparse rows: up to this many, systems are solved by one Cholesky factor
MOST_ITERATIONS, ROUGHLY = 1000, 1e-6  # of conjugate gradients, and the part of the residual that is left
LANCZOS = 100  # steps; a fifth of them with the inverse, whose largest eigenvalue stands apart
MOST_ENTRIES = 1 << 24  # of rows in which dependences are searched
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
def prove(
    frame: Frame, block: Block, weights: Floats, clock: Clock, z: Signed | None = None, *, any_will_do: bool = False
) -> Blocked | None:
    """The positive-definite proof on these rows with about these weights; None if there is none.

    `z` holds the rows in the frame, if they are known already. A proof on few of the rows is tried first; it may lack
    columns of the others only if `any_will_do`.
    """
    with one_thread():
        return _proved(frame, block, weights, clock, frame.signed_alike(block) if z is None else z, any_will_do)


def _proved(frame: Frame, block: Block, weights: Floats, clock: Clock, z: Signed, any_will_do: bool) -> Blocked | None:
    whole = _cancelled(z, np.arange(len(block)), weights, clock)
    if whole is None:
        return None
    n_used = len(used_places(_some(z, whole[0])))
    clock.require(n_used**3 / (3 * SPEED))  # Cholesky's; time first: where it is too short, memory is no matter
    matrices = 1 if is_large(z) else MATRICES
    require_bytes(matrices * 8 * n_used**2, f"A positive-definite proof of {n_used:,} columns")
    few = _thinned(z, *whole, clock)
    if few is not None and not any_will_do and len(used_places(z[few[0]])) < n_used:
        few = None
    for rows, u in filter(None, (few, whole)):
        found = _written(frame, block.take(rows), z[rows], u, clock)
        if found is not None:
            return found
    return None


def _cancelled(z: Signed, rows: Ints, u: Floats, clock: Clock) -> tuple[Ints, Floats] | None:
    """Weights near u that cancel, and their rows: rows whose weight would turn negative are left out."""
    for attempt in range(TRIES):
        clock.require(0.0 if is_large(z) else (len(rows) + z.shape[1]) * z.shape[1] ** 2 / SPEED)  # as one step takes
        mixed = np.flatnonzero(u > TINY * u.max(initial=0.0))
        mixed = mixed[_mixed(_some(z, rows[mixed]))]
        rows, u = rows[mixed], u[mixed]
        found = _projected(_some(z, rows), u, clock) if len(rows) else None
        if found is None or not found.max() > VANISHED * u.max():
            return None
        lost = np.count_nonzero(found <= TINY * found.max())
        if not lost:
            return rows, found
        if attempt and lost > MOST_LOST * len(rows):
            return None
        u = found
    return None


def _some(z: Signed, rows: Ints) -> Signed:
    """Some rows, in their order; all of them are not copied."""
    return z if len(rows) == z.shape[0] else z[rows]


def _projected(z: Signed, u: Floats, clock: Clock) -> Floats | None:
    """Nearby weights, changed in proportion to their size, that cancel as far as floats can tell; maybe negative."""
    used = used_places(z)
    z = z if len(used) == z.shape[1] else z[:, used]
    scaled, unit = _scaled(z, u)
    solve = _iterative(scaled, unit, clock) if is_large(z) else _direct(scaled, unit)
    if solve is None:
        return None
    found, rest = u, unit * (u @ z)
    for number in range(ROUNDS if is_large(z) else MORE_ROUNDS):
        nearer = found - u * (scaled @ (unit * solve(rest)))
        left = unit * (nearer @ z)
        if number >= ROUNDS and not np.linalg.norm(left) < np.linalg.norm(rest) / 2:
            break
        found, rest = nearer, left
    return found if np.isfinite(found).all() else None


def _scaled(z: Signed, u: Floats) -> tuple[Signed, Floats]:
    """The rows times their weights, and for each column what makes its length 1."""
    scaled = sp.diags_array(u) @ z if is_sparse(z) else z * u[:, None]
    lengths2 = scaled.power(2).sum(axis=0) if is_sparse(z) else np.einsum("ij,ij->j", scaled, scaled)
    return scaled, 1.0 / np.sqrt(lengths2)


def _gram(scaled: Signed, unit: Floats) -> Floats:
    gram = eigenvalues.gram_of(scaled)
    gram *= unit[:, None]
    gram *= unit
    return gram


def _direct(scaled: Signed, unit: Floats) -> Callable[[Floats], Floats] | None:
    """A function that solves the equations of the columns, each of length 1; dependent columns do no harm."""
    from scipy.linalg import cho_factor, cho_solve

    gram = _gram(scaled, unit)
    gram.flat[:: len(gram) + 1] += NOTHING
    try:
        factor = cho_factor(gram, overwrite_a=True, check_finite=False)
    except np.linalg.LinAlgError:
        return None
    return lambda right: np.asarray(cho_solve(factor, right, check_finite=False))


def _iterative(scaled: Signed, unit: Floats, clock: Clock) -> Callable[[Floats], Floats]:
    """The same by conjugate gradients: without a matrix of all columns by all columns."""
    turned = sp.csr_array(scaled.T)

    def multiply(step: Floats) -> Floats:
        return np.asarray(unit * (turned @ (scaled @ (unit * step))))

    return lambda right: conjugate_gradients(multiply, right, ROUGHLY, clock)


def conjugate_gradients(multiply: Callable[[Floats], Floats], right: Floats, nearly: float, clock: Clock) -> Floats:
    """Solve a positive-definite system up to this part of its right side (Hestenes and Stiefel 1952)."""
    found, rest = np.zeros(len(right)), right.copy()
    step, size = rest.copy(), float(rest @ rest)
    enough = nearly**2 * size
    for _ in range(MOST_ITERATIONS):
        if size <= enough:
            break
        clock.check()
        moved = multiply(step)
        curvature = float(step @ moved)
        if not curvature > 0.0:  # rounded away, or not a number
            break
        length = size / curvature
        found += length * step
        rest -= length * moved
        size, old = float(rest @ rest), size
        step = rest + size / old * step
    return found


def _thinned(z: Signed, rows: Ints, u: Floats, clock: Clock) -> tuple[Ints, Floats] | None:
    """The same with only the rows of the largest weights and those of rare columns; None if these are not fewer."""
    found: tuple[Ints, Floats] | None = None
    while True:
        is_there = _some(z, rows) != 0
        counts = np.asarray(is_there.sum(axis=0)).ravel()
        most = int(max(ROWS_A_COLUMN * np.count_nonzero(counts), LEAST_KEPT * len(rows)))
        if most > LESS * len(rows):
            return found
        is_rare = is_there @ (counts < RARE).astype(np.float64) > 0
        kept = np.sort(np.lexsort((-u, ~is_rare))[:most])
        fewer = _cancelled(z, rows[kept], u[kept], clock)
        if fewer is None:
            return found
        found = rows, u = fewer


def _written(frame: Frame, block: Block, z: Signed, u: Floats, clock: Clock) -> Blocked | None:
    """The proof on these rows with weights that cancel, as integers; columns that depend on others are named."""
    dependences = _proportional(frame, block, z)
    places = _places(frame, z, dependences)
    if not places:
        return None
    kept = z if len(places) == z.shape[1] else z[:, places]
    matrix = _Matrix.of(kept, u / u.max())
    if not matrix.is_clear and (is_large(z) or not _are_independent(kept, u)):
        dependences = [*dependences, *_dependent(frame, block, z, places)]
        places = _places(frame, z, dependences)
        kept = z[:, places]
        matrix = _Matrix.of(kept, u / u.max())
    return _rounded(frame, block, kept, dependences, u, matrix, clock)


def _places(frame: Frame, z: Signed, dependences: Sequence[ColumnDependence]) -> list[int]:
    """The columns that are not 0, without those that are named as dependent."""
    own = definite.own_columns(dependences)
    return [k for k in used_places(z).tolist() if _name(frame, k) not in own]


def _are_independent(z: Signed, u: Floats) -> bool:
    """Whether no column depends on others, as far as floats can tell."""
    gram = _gram(*_scaled(z, u))
    gram.flat[:: len(gram) + 1] -= RANK
    try:
        np.linalg.cholesky(gram)
    except np.linalg.LinAlgError:
        return False
    return True


def is_large(z: Signed) -> bool:
    """Whether systems are solved without a matrix of all columns by all columns."""
    return is_sparse(z) and z.shape[1] > DIRECT


def used_places(z: Signed) -> Ints:
    """The columns that are not 0 on all rows."""
    return np.flatnonzero((z != 0).sum(axis=0) if is_sparse(z) else z.any(axis=0))


def _are_positive(z: Signed) -> npt.NDArray[np.bool_]:
    """Which columns have an entry above 0."""
    return np.asarray((z > 0).sum(axis=0) > 0 if is_sparse(z) else z.max(axis=0, initial=0.0) > 0)


def _mixed(z: Signed) -> Ints:
    """The rows left when those in a column of one sign, which only weights of 0 cancel, are removed repeatedly."""
    kept = np.arange(z.shape[0])
    while True:
        some = _some(z, kept)
        strange = _are_positive(some) != _are_positive(-some)
        if not strange.any():
            return kept
        touched = abs(some) @ strange.astype(np.float64) > 0
        kept = kept[~touched]


def _rounded(
    frame: Frame,
    block: Block,
    z: Signed,
    dependences: Sequence[ColumnDependence],
    u: Floats,
    matrix: "_Matrix",
    clock: Clock,
) -> Blocked | None:
    """Round the weights to as few bits as the proof allows."""
    exponents = frame.row_exponents(block).tolist()
    for bits in range(SHORT_BITS, LONG_BITS + 1, MORE_BITS):
        whole = np.maximum(np.rint(np.ldexp(u / u.max(), bits)), 1.0)
        length = float(np.linalg.norm((whole @ z) / matrix.tops)) / 2.0**bits
        if bits < LONG_BITS and ROOM * 1.2 * length > matrix.least:
            continue
        clock.check()
        weights = original_multipliers(whole.astype(np.int64).tolist(), exponents)
        found = Blocked(block, weights, tuple(dependences))
        if _holds(found, frame):
            return found
    return None


@dataclass(frozen=True, slots=True)
class _Matrix:
    """The least eigenvalue of the proof's matrix, roughly; the units of its columns, and the largest unit squared."""

    least: float
    tops: Floats
    largest: float

    @classmethod
    def of(cls, z: Signed, u: Floats) -> "_Matrix":
        """That of rows with these weights."""
        a: Any = sp.csr_array(sp.diags_array(u) @ z) if is_sparse(z) else z * u[:, None]
        largest = abs(a).max(axis=0)
        tops = np.exp2(np.frexp(largest.toarray().ravel() if is_sparse(z) else largest)[1])
        a = a @ sp.diags_array(1.0 / tops) if is_sparse(z) else a / tops
        lengths = np.sqrt(a.power(2).sum(axis=1) if is_sparse(z) else np.einsum("ij,ij->i", a, a))
        levels = np.ldexp(1.0, np.frexp(lengths)[1] // -2)
        a = sp.csr_array(sp.diags_array(levels) @ a) if is_sparse(z) else a * levels[:, None]
        squares = a.power(2).sum(axis=0) if is_sparse(z) else np.einsum("ij,ij->j", a, a)
        turned = a.T.tocsr() if is_sparse(z) else a.T
        solve = None if is_large(z) else _direct(a, np.ones(len(tops)))
        if solve is None:
            least = _ends(lambda v: turned @ (a @ v), len(tops), LANCZOS)[0]
        else:
            least = 1.0 / _ends(solve, len(tops), LANCZOS // 5)[1]
        return cls(least, tops, float(squares.max(initial=0.0)))

    @property
    def is_clear(self) -> bool:
        """Whether no column depends on others: that would show with columns of any size."""
        return self.least > RANK * self.largest


def _ends(multiply: Callable[[Floats], Floats], width: int, steps: int) -> tuple[float, float]:
    """The approximate least and largest eigenvalues of a symmetric matrix, by Lanczos's method (1950)."""
    from scipy.linalg import eigvalsh_tridiagonal

    start = np.random.default_rng(0).standard_normal(width)
    v, before, middle, beside = start / np.linalg.norm(start), np.zeros(width), list[float](), [0.0]
    for _ in range(min(steps, width)):
        w = multiply(v) - beside[-1] * before
        middle.append(float(v @ w))
        w -= middle[-1] * v
        beside.append(float(np.linalg.norm(w)))
        if beside[-1] < 1e-9 * abs(middle[0]):
            break
        before, v = v, w / beside[-1]
    values = eigvalsh_tridiagonal(np.array(middle), np.array(beside[1 : len(middle)]))
    return float(values[0]), float(values[-1])


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
        for a, b in reversed(pairs)  # so that no later dependence contains the column of its own
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
    entries = [Fraction(1 if column == frame.n_columns else block.values[row, column].item()) for column in pair]
    return _checked(frame, block, [pair[1], pair[0]], [entries[0], -entries[1]])


def _dependent(frame: Frame, block: Block, z: Signed, places: list[int]) -> list[ColumnDependence]:
    """Short linear dependences of these columns, each with a column of its own; none if one is not short."""
    from scipy.linalg import solve_triangular

    if not 0 < z.shape[0] * len(places) <= MOST_ENTRIES and not is_large(z):
        return []
    triangle, order = _triangle(z[:, places])
    sizes = np.abs(np.diag(triangle))
    rank = int((sizes > RANK * sizes.max(initial=0.0)).sum())
    kept, own = order[:rank], order[rank:]
    coefficients = solve_triangular(triangle[:rank, :rank], triangle[:rank, rank:], check_finite=False)
    found = []
    for k, place in enumerate(own.tolist()):
        near = [_short_fraction(c) for c in coefficients[:, k].tolist()]
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


def _triangle(z: Signed) -> tuple[Floats, Ints]:
    """The triangle R of these columns in the order of what each adds to those before it, and that order.

    Of large sparse rows it comes from zᵀz, which loses half of the digits and takes a small part of the time.
    """
    from scipy.linalg import qr
    from scipy.linalg.lapack import dpstrf

    n_columns = z.shape[1]
    if not is_large(z):
        deadline.require(A_PIVOT * z.shape[0] * n_columns**2)
        return tuple(qr(z.toarray() if is_sparse(z) else z, mode="r", pivoting=True, check_finite=False))
    deadline.require(n_columns**3 / (3 * SPEED))
    require_bytes(16 * n_columns**2, f"The dependences of {n_columns:,} columns")
    triangle, order, rank, _ = dpstrf((z.T @ z).toarray())
    triangle[rank:, rank:] = 0.0
    return np.triu(triangle), order.astype(np.int64) - 1


def _short_fraction(c: float) -> Fraction:
    """The nearest fraction of a small denominator."""
    whole = round(c)
    return Fraction(whole) if abs(c - whole) < NEAR else Fraction(c).limit_denominator(MOST_DENOMINATOR)


def _checked(frame: Frame, block: Block, columns: list[int], weights: list[Fraction]) -> ColumnDependence | None:
    """The dependence with these weights as integers, if it holds exactly."""
    common = math.lcm(*(weight.denominator for weight in weights))
    try:
        found = ColumnDependence(tuple(columns), coprime(int(weight * common) for weight in weights))
        definite.require_zero(found, block.row_numbers, block.values, frame.n_columns)
    except LinsepError:
        return None
    return found
