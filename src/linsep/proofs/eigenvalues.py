"""How long a sum of rows is at most, and how large the least eigenvalue of their matrix is at least: the two numbers of
`definite.py`, proved.

λ_min is bounded in floats, and every rounding error is accounted for. c_i is a power of four, so that it adds no
rounding to A, the matrix with the rows √c_i·p_i. For any triangular matrix R, G - s·I = RᵀR + E defines E, hence
λ_min(G) >= s - |E|. R is the Cholesky factor, and E is computed in floats, plus a bound on the error of matrix products
(Rump, Verification of positive definiteness, 2006; Higham, Accuracy and Stability, §3.5: any order of summation).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from linsep.cores import one_thread
from linsep.errors import CertificateError
from linsep.exact import integer_rows
from linsep.proofs import checks
from linsep.proofs.checked_rows import Values
from linsep.scores import rest_of_products
from linsep.tables import is_sparse

Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]

TWICE_ROUNDOFF = 2.0**-52  # charged for each rounding: twice what it can be
LEAST = 1e-140  # smaller lengths count as 0; it also covers everything that underflows
LOWEST = -4000  # smaller exponents stand for 0
LOWEST_TOP = -(2**62)  # the exponent of a column of zeros
SPARSE = 0.1  # with a smaller part of nonzero entries, the Gram matrix is computed from a sparse array
WHOLE = 2.0**53  # integers up to here are doubles
MULTIPLIED = 2500  # RᵀR is computed for at most this many columns
MOST_PRODUCTS = 1 << 23  # entries of the Gram matrix of sparse rows computed together
FEW_ENTRIES = 10**6  # rows with at most this many entries are checked again in integers, if floats cannot decide
FINE = 56  # bits after the point in that check
PIECE = 2**15  # entries processed together
ROUNDS = 3  # how often the leading bits of the numbers are split off before they are added


@dataclass(frozen=True, slots=True)
class Bounds:
    """λ_min(G) is at least `least`, and |r| is at most `length`."""

    least: float
    length: float

    @property
    def holds(self) -> bool:
        """Whether this proves the theorem's condition."""
        return self.least > self.length


@np.errstate(all="ignore")
def bounds_of(values: Values, y: NDArray[Any], weights: Sequence[int], *, bias: bool, room: float = 1.0) -> Bounds:
    """What can be proved about rows (not empty) of finite numbers, their signs and positive weights.

    With `room` the eigenvalue must exceed that many times the length and the rounding errors: for a solver that looks
    for a proof which every checker accepts, in whatever order it adds.
    """
    z = _Entries.of(values, y, bias)
    u, exponents = _split(weights)
    top = _tops(z, u, exponents)
    total, p = _Sum(*z.shape), np.empty_like(z.data)
    for part in z.pieces():
        high, low = _products(z, part, u, exponents, top)
        total.add(z.columns[part], high, low)
        p[part] = high
    length = total.length()
    if not (_is_kept(values) and all(u >> (u & -u).bit_length() - 1 <= WHOLE for u in weights)):
        length = _exact_length(values, y, weights, bias, top)
    a = z.table(_leveled(z, p))
    bounds = Bounds(least_eigenvalue(a, length, room), length)
    if not bounds.holds and room == 1.0 and a.shape[0] * a.shape[1] <= FEW_ENTRIES and exceeds(a, length):
        return Bounds(math.nextafter(length, math.inf), length)
    return bounds


@dataclass(frozen=True, slots=True)
class _Entries:
    """The entries of signed rows as one array, with their places: all of dense rows, the stored ones of sparse rows."""

    data: Floats
    rows: NDArray[np.int64]
    columns: NDArray[np.int64]
    shape: tuple[int, int]
    inside: int | None  # of dense rows, how many columns come before the constant

    @classmethod
    def of(cls, values: Values, y: NDArray[Any], bias: bool) -> _Entries:
        """The entries of y·(x, 1); integers beyond 2^53 are rounded."""
        n_rows, width = values.shape
        signs_of_rows = np.sign(y).astype(np.float64)
        if is_sparse(values):
            values = _without_repeats(values)
            rows, columns = np.repeat(np.arange(n_rows), np.diff(values.indptr)), values.indices.astype(np.int64)
            entries = values.data
        else:
            rows, columns = np.repeat(np.arange(n_rows), width), np.tile(np.arange(width), n_rows)
            entries = np.asarray(values).ravel()
        try:
            data = entries.astype(np.float64)
        except OverflowError:
            raise CertificateError("A positive-definite proof is about numbers below the largest double.") from None
        data *= signs_of_rows[rows]
        if bias:
            data, rows = np.concatenate([data, signs_of_rows]), np.concatenate([rows, np.arange(n_rows)])
            columns = np.concatenate([columns, np.full(n_rows, width)])
        return cls(data, rows, columns, (n_rows, width + bias), None if is_sparse(values) else width)

    def pieces(self) -> Iterator[slice]:
        """Consecutive entries, few enough to stay in the cache."""
        for start in range(0, len(self.data), PIECE):
            yield slice(start, start + PIECE)

    def table(self, data: Floats) -> Any:
        """Other numbers in the same places, as an array, or as a sparse array if most are 0."""
        from scipy.sparse import coo_array

        if self.inside is not None:
            n_rows, end = self.shape[0], self.shape[0] * self.inside
            return np.hstack([data[:end].reshape(n_rows, -1), data[end:].reshape(n_rows, -1)])
        table = coo_array((data, (self.rows, self.columns)), self.shape)
        few = len(data) < SPARSE * self.shape[0] * self.shape[1]
        return table.tocsr() if few else table.toarray()


def _without_repeats(values: Any) -> Any:
    """Sparse rows without repeated entries, so that the length of a row is that of its entries."""
    if values.has_canonical_format:
        return values
    found = values.copy()
    found.sum_duplicates()
    if found.nnz < values.nnz:
        raise CertificateError("A sparse row has an entry twice: add them up first.")
    return found


def _is_kept(values: Values) -> bool:
    """Whether no value was rounded to a double."""
    entries = values.data if is_sparse(values) else values
    if entries.dtype.kind == "f":
        return bool(entries.dtype.itemsize <= 8)
    return entries.dtype.kind in "iub" and (
        entries.dtype.itemsize < 8 or not entries.size or max(int(entries.max()), -int(entries.min())) <= WHOLE
    )


def _split(weights: Sequence[int]) -> tuple[Floats, Integers]:
    """Weights as u·2^exponent with u about 1; only those with more than 53 bits are rounded."""
    bits = [u.bit_length() for u in weights]
    u = [u / (1 << b) if b < 1000 else (u >> b - 64) / 2.0**64 for u, b in zip(weights, bits, strict=True)]
    return np.array(u), np.array(bits, np.int64)


def _tops(z: _Entries, u: Floats, exponents: Integers) -> Integers:
    """For each column the exponent of the largest u·z in it."""
    top = np.full(z.shape[1], LOWEST_TOP)
    for part in z.pieces():
        mantissas, own = np.frexp(z.data[part])
        rest, carried = np.frexp(mantissas * u[z.rows[part]])
        sizes = np.where(rest == 0, LOWEST_TOP, own + carried + exponents[z.rows[part]])
        np.maximum.at(top, z.columns[part], sizes)
    return top


def _products(z: _Entries, part: slice, u: Floats, exponents: Integers, top: Integers) -> tuple[Floats, Floats]:
    """p = u·z, each column times a power of two so that |p| < 1, as high + low: exact but below 2^-1000."""
    mantissas, own = np.frexp(z.data[part])
    own_u = u[z.rows[part]]
    exponent = own + exponents[z.rows[part]] - top[z.columns[part]]
    shifts = np.where(mantissas == 0, 0, np.maximum(exponent, LOWEST)).astype(np.int32)
    high = mantissas * own_u
    return np.ldexp(high, shifts), np.ldexp(rest_of_products(own_u, mantissas, high), shifts)


class _Sum:
    """The sum of `n_rows` rows of numbers below 1, each given in two parts, and a bound on its length.

    The leading bits of each number are split off in rounds: they add up without rounding (Rump, Ogita, Oishi 2008).
    """

    def __init__(self, n_rows: int, width: int) -> None:
        room = (n_rows + 2).bit_length()
        self.n_rows = n_rows
        self.sigmas = [2.0 ** (room + k * (room - 53)) for k in range(ROUNDS + 1)]
        self.sums = np.zeros((2, ROUNDS, width))

    def add(self, columns: Integers, *parts: Floats) -> None:
        """Add some of the numbers, which are in these columns: their high and their low parts."""
        for part, sums in zip(parts, self.sums, strict=True):
            rest = part
            for k, sigma in enumerate(self.sigmas[:-1]):
                leading = (sigma + rest) - sigma
                rest = rest - leading
                sums[k] += np.bincount(columns, leading, sums.shape[1])

    def length(self) -> float:
        """An upper bound on the length of the sum. The rest of each number is below the last sigma."""
        flat = self.sums.reshape(2 * ROUNDS, -1)
        error = 2 * len(flat) * TWICE_ROUNDOFF * np.abs(flat).sum(axis=0) + 2 * self.n_rows * self.sigmas[-1]
        return float(np.linalg.norm(np.abs(flat.sum(axis=0)) + error)) * (1 + 1e-9) + LEAST


def _exact_length(values: Values, y: NDArray[Any], weights: Sequence[int], bias: bool, top: Integers) -> float:
    """The same from exact sums, for numbers that are not doubles."""
    values = values.toarray() if is_sparse(values) else np.asarray(values)
    columns = list(range(values.shape[1] + bias))
    sums = checks.weighted_sum(weights, columns, integer_rows(values, y, bias=bias))
    square = sum(
        (Fraction(mantissa) * Fraction(2) ** (exponent - int(top[column]))) ** 2
        for column, (mantissa, exponent) in sums.items()
    )
    if square > 2**1000:
        return math.inf
    return math.sqrt(square) * (1 + 1e-9) + LEAST


def _leveled(z: _Entries, p: Floats) -> Floats:
    """The rows 2^-k·p with the least k such that 4^-k <= 1/|p|, without rounding. Rows too short to matter are 0."""
    lengths = np.sqrt(np.bincount(z.rows, np.square(p), z.shape[0]))
    lengths = lengths * (1 + (z.shape[1] + 8) * TWICE_ROUNDOFF) + LEAST
    halves = -(-np.frexp(lengths)[1] // 2)  # lengths < 2^e <= 4^k
    a: Floats = np.ldexp(p, -halves[z.rows])
    a[(lengths < 1e6 * LEAST)[z.rows]] = 0.0
    return a


def least_eigenvalue(a: Any, length: float = 0.0, room: float = 1.0) -> float:
    """A lower bound on the least eigenvalue of aᵀa, even if each entry of `a` is off by a rounding.

    It is above `length` if floats can prove that, and minus infinity if they cannot.
    """
    n_rows, width = a.shape
    trace = float(np.square(a.data if is_sparse(a) else a).sum()) * (1 + 1e-9) + LEAST
    off = (n_rows + width + 16) * TWICE_ROUNDOFF * trace
    if (n_rows + width) * TWICE_ROUNDOFF >= 1e-3:
        return -math.inf
    rounded = (n_rows + 8) * TWICE_ROUNDOFF * trace
    with one_thread():
        for shift in (room * (1.01 * length + 64 * off), room * (1.01 * length + 8 * off)):
            if shift < trace:
                least = shift * (1 - 1e-9) - rounded
                least -= _residual(gram_of(a), shift, least - length)
                if least > length:
                    return float(least)
    return -math.inf


def exceeds(a: Any, length: float) -> bool:
    """Whether integers prove what floats cannot: E is computed exactly, as the stand-alone checker does.

    In units of 2^-56, each entry of `a` is off by less than 1 plus 24 times itself, and the singular values by less
    than the length of the vector of all these errors.
    """
    from flint import fmpz_mat

    a = a.toarray() if is_sparse(a) else a
    lost = math.isqrt(a.size) + 1 + math.ceil(24 * float(np.linalg.norm(a)) * (1 + 1e-9))
    if not math.isfinite(length) or float(np.abs(a).max()) > 64:
        return False
    least = (math.isqrt(math.ceil(Fraction(length) * 4**FINE)) + 1 + lost) ** 2
    table = fmpz_mat(np.floor(np.ldexp(a, FINE)).astype(np.int64).tolist())
    gram = table.transpose() * table
    size = gram.nrows()
    shift = least + least // 100 + (sum(int(gram[j, j]) for j in range(size)) * size >> 49)
    floats = np.array([math.ldexp(int(v), -2 * FINE) for v in gram.entries()]).reshape(size, size)
    floats.flat[:: size + 1] -= math.ldexp(shift, -2 * FINE)
    try:
        lower = np.linalg.cholesky(floats)
    except np.linalg.LinAlgError:
        return False
    triangle = fmpz_mat([[int(v) for v in row] for row in np.rint(np.ldexp(lower, FINE)).tolist()])
    error = gram - triangle * triangle.transpose()
    for j in range(size):
        error[j, j] = error[j, j] - shift
    worst = max(sum(abs(int(v)) for v in row) for row in error.tolist())
    return bool(shift - worst > least)


def gram_of(a: Any) -> Floats:
    """aᵀa, dense; for sparse rows without multiplying zeros, a few columns at a time."""
    if not is_sparse(a):
        found: Floats = a.T @ a
        return found
    width = a.shape[1]
    gram, turned, step = np.empty((width, width)), a.T.tocsr(), max(1, MOST_PRODUCTS // max(1, width))
    for start in range(0, width, step):
        (turned[start : start + step] @ a).toarray(out=gram[start : start + step])
    return gram


def _residual(gram: Floats, shift: float, enough: float) -> float:
    """An upper bound on the norm of E, where gram - shift·I = RᵀR + E; infinite if Cholesky fails. Overwrites gram.

    E is first bounded by the largest error of the method, in whatever order it adds (Rump 2006, Demmel 1989):
    (width + 2)·u·trace, and here four times that. If this is not below `enough`, and there are not very many columns,
    E is computed: its float value, plus the error of RᵀR, plus the rounding of the differences.
    """
    from scipy.linalg.lapack import dpotrf

    width = len(gram)
    trace = float(np.abs(np.diag(gram)).sum())
    gram.flat[:: width + 1] -= shift
    rest = gram.copy() if width <= MULTIPLIED else None
    triangle, failed = dpotrf(gram.T, lower=1, clean=1, overwrite_a=1)
    if failed:
        return math.inf
    entries = triangle.T.ravel()
    size = (float(entries @ entries) + trace) * (1 + 1e-9)
    found = (2 * width + 64) * TWICE_ROUNDOFF * (size + trace + shift) + LEAST
    if rest is not None and not found < enough:
        rest -= triangle @ triangle.T
        np.abs(rest, out=rest)
        norm = float(max(rest.sum(axis=axis).max() for axis in (0, 1))) * (1 + 2 * width * TWICE_ROUNDOFF)
        found = norm + (width + 8) * TWICE_ROUNDOFF * (size + shift) + LEAST
    return found if math.isfinite(found) else math.inf
