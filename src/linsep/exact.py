"""Floats as integers: exact scaling and linear algebra.

Every finite double is an integer times a power of two. So a table of doubles becomes a table of integers
once each column and each row is multiplied by a power of two, which does not change whether a hyperplane separates:

    N_ij = y_i · x_ij · 2^(column_exponents_j + row_exponents_i)

Weights found on N belong to the original columns after `original_weights`, the weights of an obstruction to
the original rows after `original_multipliers`. Both mappings are exact.

Linear algebra is python-flint's: ranks modulo a prime of 60 bits (fast; a full rank modulo the prime proves
full rank, a smaller one is only a hint), and Dixon's p-adic lifting for the solutions themselves.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from flint import fmpz_mat, nmod_mat
from numpy.typing import NDArray

from linsep import deadline, lifting

PRIME = 1152921504606846883
"""The largest prime below 2^60."""

FEW_CELLS = 20_000
"""Rows times columns: up to this size NumPy is faster than loading compiled loops."""

SMALL = 1 << 10
"""Integers below this are taken as they are."""

NOWHERE = 1 << 60
"""The exponent of a zero: far above all others and their sums."""

UNIT_ROUNDOFF = 2.0**-53
SMALLEST = 2.0**-1074

Number: TypeAlias = int | float
Dyadic: TypeAlias = tuple[int, int]  # (m, e) stands for m·2^e
Integers: TypeAlias = NDArray[Any]
"""An array of whole numbers: dtype int64, or object (Python integers) where int64 is too narrow."""


class IntegerRows(NamedTuple):
    """Signed rows as integers, with the powers of two that were multiplied in."""

    rows: Integers
    row_exponents: NDArray[np.int64]
    column_exponents: NDArray[np.int64]


# Floats to integers -------------------------------------------------------------------------------


def integer_rows(
    values: NDArray[Any],
    labels: NDArray[Any] | None = None,
    *,
    bias: bool = False,
    column_exponents: NDArray[np.int64] | None = None,
) -> IntegerRows:
    """Turn rows x with labels y into the integer rows of y·(x, 1) (or y·x without `bias`).

    `values` is a finite float or an integer array; integers of 64 bits are taken exactly. Without
    `column_exponents` each column gets the smallest power of two that clears its fractions. With them, later rows
    can join the same table: each row's own power of two does the rest.

    >>> integer_rows(np.array([[0.5, 4.0], [1.5, 8.0]])).rows.tolist()
    [[1, 1], [3, 2]]
    """
    deadline.require(AN_ENTRY * values.size)
    if column_exponents is None and _are_small(values):
        rows = np.ones((len(values), values.shape[1] + bias), np.int64)
        rows[:, : values.shape[1]] = values
        return IntegerRows(_signed(rows, labels), *(np.zeros(size, np.int64) for size in rows.shape))
    odd, low = _odd_parts(values)
    if bias:
        odd = np.concatenate([odd, np.ones((len(odd), 1), odd.dtype)], axis=1)
        low = np.concatenate([low, np.zeros((len(low), 1), np.int64)], axis=1)
    nonzero = odd != 0
    low = np.where(nonzero, low, NOWHERE)
    if column_exponents is None:
        column_exponents = -_least(low, axis=0)
    low += column_exponents
    row_exponents = -_least(low, axis=1)
    shifts = np.where(nonzero, low + row_exponents[:, None], 0)
    return IntegerRows(_signed(_shift_left(odd, shifts), labels), row_exponents, column_exponents)


def _are_small(values: NDArray[Any]) -> bool:
    """Whether these are integers so short that looking for powers of two is not worth it."""
    if values.dtype.kind not in "iu" or not values.size:
        return False
    return bool(values.max() < SMALL and values.min() > -SMALL)


def _signed(rows: Integers, labels: NDArray[Any] | None) -> Integers:
    """The rows, each times the sign of its label."""
    if labels is None:
        return rows
    return np.asarray(rows * np.where(np.asarray(labels) > 0, 1, -1).astype(rows.dtype)[:, None])


def _odd_parts(values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Write each value as odd · 2^low; a zero has odd part 0 and a meaningless `low`."""
    if values.dtype == object:  # Python numbers, integers of any length among them
        parts = [_odd_part(value) for value in values.ravel().tolist()]
        odd, low = np.empty(values.shape, object), np.empty(values.shape, np.int64)
        odd.ravel()[:], low.ravel()[:] = [n for n, _ in parts], [e for _, e in parts]
        return odd, low
    if values.dtype.kind == "f":
        mantissas, exponents = np.frexp(values.astype(np.float64))
        whole, base = (mantissas * 2.0**53).astype(np.int64), exponents.astype(np.int64) - 53
    else:
        whole = values.astype(np.uint64 if values.dtype.kind == "u" else np.int64)
        base = np.zeros(values.shape, np.int64)
    lowest_bit = whole & (~whole + np.ones((), whole.dtype))  # for -2^63 the complement wraps, as it should
    zeros = np.where(whole == 0, 0, np.frexp(np.abs(lowest_bit.astype(np.float64)))[1] - 1)
    return whole >> zeros.astype(whole.dtype), base + zeros


def _odd_part(value: Number) -> tuple[int, int]:
    numerator, exponent = dyadic(value)
    zeros = (numerator & -numerator).bit_length() - 1 if numerator else 0
    return numerator >> zeros, exponent + zeros


def _least(exponents: NDArray[np.int64], axis: int) -> NDArray[np.int64]:
    """Take the minimum along an axis, 0 where there are only zeros."""
    least = exponents.min(axis=axis, initial=NOWHERE)
    return np.where(least > NOWHERE // 2, 0, least)


def _shift_left(odd: NDArray[Any], shifts: NDArray[np.int64]) -> Integers:
    """Compute odd · 2^shifts in int64 if that is wide enough, else in Python integers."""
    if odd.dtype != object:
        bits = np.frexp(np.abs(odd.astype(np.float64)))[1] + shifts
        if not odd.size or bits.max() <= 62:
            return odd.astype(np.int64) << shifts
    return np.asarray(odd.astype(object) << shifts.astype(object))


# Integers back to the original columns, rows and floats -------------------------------------------


def original_weights(weights: Sequence[int], column_exponents: Iterable[int]) -> tuple[int, ...]:
    """Turn weights on scaled columns into coprime integer weights on the original columns.

    N·w = Σ x_j 2^(c_j) w_j, so column j has the weight w_j 2^(c_j), up to a common positive factor.
    """
    return coprime(_common_scale(weights, column_exponents))


def original_multipliers(multipliers: Sequence[int], row_exponents: Iterable[int]) -> tuple[int, ...]:
    """Turn an obstruction's multipliers on scaled rows into coprime integers on the original rows."""
    return coprime(_common_scale(multipliers, row_exponents))


def _common_scale(numbers: Sequence[int], exponents: Iterable[int]) -> list[int]:
    powers = [int(e) for e in exponents]
    least = min((e for n, e in zip(numbers, powers, strict=True) if n), default=0)
    return [int(n) << (e - least) if n else 0 for n, e in zip(numbers, powers, strict=True)]


def coprime(numbers: Iterable[int]) -> tuple[int, ...]:
    """Divide integers by their greatest common divisor.

    >>> coprime([6, -4, 0])
    (3, -2, 0)
    """
    whole = tuple(int(n) for n in numbers)
    divisor = math.gcd(*whole)
    return whole if divisor <= 1 else tuple(n // divisor for n in whole)


def to_doubles(weights: Sequence[int]) -> NDArray[np.float64]:
    """Scale integers by one power of two and round them to doubles.

    Integers below 2^53 stay as they are. Larger ones are scaled to a largest entry in [1, 2), or higher, as far as
    the range allows, if small entries would otherwise be lost below the normal range.
    """
    lengths = [abs(w).bit_length() for w in weights if w]
    longest, shortest = max(lengths, default=0), min(lengths, default=0)
    if longest <= 53:
        return np.array([float(w) for w in weights])
    shift = -(longest - 1)
    shift += min(max(0, -1022 - (shortest - 1 + shift)), 1022)
    up, down = max(shift, 0), max(-shift, 0)
    return np.array([(w << up) / (1 << down) for w in weights])  # int / int rounds once, correctly


# Rounding ---------------------------------------------------------------------------------------


def rounding_factor(terms: int) -> float:
    """Return g = D·u/(1 - D·u): a float dot product of D terms is off by at most g·Σ|w_j x_j|.

    N. Higham, Accuracy and Stability of Numerical Algorithms, section 3.1; the order of summation is free.
    """
    return terms * UNIT_ROUNDOFF / (1.0 - terms * UNIT_ROUNDOFF)


def rounding_bound(terms: int, absolute: Any) -> Any:
    """Bound the error of float dot products, given `absolute`, the float dot products of absolute values.

    `absolute` is itself rounded, which two additional terms account for; each product may also underflow.
    """
    return rounding_factor(2 * terms + 2) * absolute + terms * SMALLEST


def dyadic(value: Any) -> Dyadic:
    """A finite number as m·2^e, exactly. Raises ValueError or OverflowError for NaN and infinity."""
    numerator, denominator = value.as_integer_ratio()
    return int(numerator), 1 - int(denominator).bit_length()


# Products without rounding -----------------------------------------------------------------------

BITS, MOST_DIGITS = 20, 16
MOST_TERMS = 1 << 12


class Digits(NamedTuple):
    """Numbers of at most 1, cut into whole digits of 20 bits, so that floats multiply and add them without rounding.

    A number is Σ d_k·2^(-20·(k+1)). The product of two digits is below 2^40, and `MOST_TERMS` such products add up in a
    double without rounding. The sums of one place are carried to the next as on paper, so nothing is lost, however
    much cancels.

    Ozaki, Ogita, Oishi and Rump, Error-free transformations of matrix multiplication, Numerical Algorithms 59 (2012).
    """

    places: NDArray[np.float64]
    """The highest first: places x rows x columns."""

    @classmethod
    def of(cls, values: NDArray[np.float64]) -> tuple[Digits, NDArray[np.float64]]:
        """Cut numbers of at most 1; also return what the digits leave out, 0 where they are exact."""
        rest, unit = values, 1.0
        places: list[NDArray[np.float64]] = []
        while len(places) < MOST_DIGITS and (not places or rest.any()):
            unit *= 2.0**-BITS
            digit = np.rint(rest / unit)
            rest = rest - digit * unit  # exact: the lower bits of what was there
            places.append(digit)
        return cls(np.stack(places)), rest

    @classmethod
    def of_integers(cls, integers: Sequence[Sequence[int]]) -> Digits:
        """Cut integers of any length, divided by a power of two that makes all of them less than 1."""
        longest = max((abs(n).bit_length() for row in integers for n in row), default=0)
        n_places = longest // BITS + 1
        n_pairs = -(-n_places // 2)  # of digits, five bytes each
        sign = 1 << (BITS * n_places - 1)
        raw = b"".join((n + sign).to_bytes(5 * n_pairs, "little") for row in integers for n in row)
        fives = np.frombuffer(raw, np.uint8).reshape(-1, n_pairs, 5)
        low, high = fives[:, :, :3] @ (1 << np.arange(0, 24, 8)), fives[:, :, 2:] @ (1 << np.arange(0, 24, 8))
        digits = np.stack([low & (1 << BITS) - 1, high >> 4], axis=2).reshape(len(fives), -1)[:, :n_places]
        digits[:, -1] -= 1 << (BITS - 1)
        places = digits.T[::-1].reshape(n_places, len(integers), -1)
        return cls(_carried(places).astype(np.float64))

    def __matmul__(self, other: Digits) -> NDArray[np.int64]:
        """The digits of the product: places x rows x columns, each but the first between -2^19 and 2^19."""
        (n_left, n_rows, inner), (n_right, _, n_columns) = self.places.shape, other.places.shape
        pairs = self.places.reshape(-1, inner) @ other.places.transpose(1, 0, 2).reshape(inner, -1)
        pairs = pairs.reshape(n_left, n_rows, n_right, n_columns)
        sums = np.zeros((n_left + n_right, n_rows, n_columns), np.int64)
        for place in range(n_left):
            sums[place + 1 : place + 1 + n_right] += pairs[place].transpose(1, 0, 2).astype(np.int64)
        return _carried(sums)


def _carried(places: NDArray[np.int64]) -> NDArray[np.int64]:
    """The same numbers with every digit but the first between -2^19 and 2^19."""
    for k in range(len(places) - 1, 0, -1):
        carry = (places[k] + (1 << (BITS - 1))) >> BITS
        places[k] -= carry << BITS
        places[k - 1] += carry
    return places


# Linear algebra -----------------------------------------------------------------------------------


A_PRODUCT, A_LIFT, AN_ENTRY = 3e-9, 1.5e-8, 3e-7  # seconds: modulo a prime; of a step towards long numbers; to copy one
WORD = 60  # bits
FEW_ROWS = 32  # up to this many, elimination in integers is faster than Dixon's lifting


def independent_rows(rows: Sequence[Sequence[int]]) -> list[int]:
    """Return the first rows independent modulo a prime, greedily from the top: independent over Q too.

    >>> independent_rows([[0, 0], [1, 2], [2, 4], [0, 1]])
    [1, 3]
    """
    return _pivots(rows, by_rows=True) if rows else []


def has_all_columns(rows: Sequence[Sequence[int]]) -> bool:
    """Return whether the columns are independent modulo a prime: independent over Q too."""
    if len(rows) < len(rows[0]):
        return False
    deadline.require(len(rows) * len(rows[0]) * (AN_ENTRY + A_PRODUCT * len(rows[0])))
    return bool(nmod_mat(fmpz_mat(rows), PRIME).rank() == len(rows[0]))


def independent_columns(rows: Sequence[Sequence[int]]) -> list[int]:
    """Return the first columns independent modulo a prime, greedily from the left: independent over Q too."""
    return _pivots(rows, by_rows=False) if rows else []


def _pivots(rows: Sequence[Sequence[int]], *, by_rows: bool) -> list[int]:
    n_rows, n_columns = len(rows), len(rows[0])
    deadline.require(n_rows * n_columns * (AN_ENTRY + A_PRODUCT * min(n_rows, n_columns)))
    matrix = fmpz_mat(rows)
    reduced, rank = nmod_mat(matrix.transpose() if by_rows else matrix, PRIME).rref()
    found: list[int] = []
    column = 0
    for row in range(rank):
        while not int(reduced[row, column]):
            column += 1
        found.append(column)
    return found


def solve(matrix: fmpz_mat, right: fmpz_mat) -> tuple[fmpz_mat, int]:
    """Solve matrix·X = right: return integers N and d > 0 with X = N/d.

    Raises ZeroDivisionError if the matrix is singular.
    """
    is_one = right.ncols() == 1 and matrix.nrows() >= lifting.FEWEST
    if is_one or deadline.is_limited():
        longest, minors = lengths(matrix)
        deadline.require(seconds_to_solve(matrix.nrows(), longest, minors, right.ncols()))
        if is_one and lifting.is_for(matrix.nrows(), longest):
            most_bits = 2 * minors + lengths(right)[0] + matrix.nrows().bit_length()  # expanded along the right side
            found = lifting.lifted(matrix, right, most_bits)
            if found is not None:
                return found
    numerators, denominator = matrix.solve(right).numer_denom()
    return numerators, int(denominator)


def seconds_to_solve(size: int, longest: int, minors: int, columns: int = 1) -> float:
    """About how long `solve` takes for `columns` right sides: Dixon's lifting has a step for each word of the solution.

    `longest` and `minors` are the bits of the longest entry and of the largest minor.
    """
    if columns == 1 and lifting.is_for(size, longest):
        return lifting.seconds_to_lift(size, 2 * minors)
    return A_LIFT * size**2 * (2 * minors / WORD) * (1 + longest / WORD) * columns


def nullspace(matrix: fmpz_mat) -> tuple[fmpz_mat, int]:
    """Return integer vectors, as columns, whose product with every row is 0, and how many of them are a basis."""
    require_elimination(matrix)
    basis, nullity = matrix.nullspace()
    return basis, int(nullity)


def require_elimination(matrix: fmpz_mat) -> None:
    """Raise if there is not enough time to eliminate in integers."""
    if deadline.is_limited():
        n_rows, n_columns = matrix.nrows(), matrix.ncols()
        deadline.require(A_LIFT * n_rows * n_columns * min(n_rows, n_columns) * (1 + lengths(matrix)[1] / WORD))


def lengths(matrix: fmpz_mat) -> tuple[int, int]:
    """Return the bits of the longest entry, and a bound on those of the largest minor: the product of row lengths."""
    rows = [[int(n) for n in row] for row in matrix.tolist()]
    longest = max((max(map(abs, row), default=0).bit_length() for row in rows), default=0)
    squares = sorted(sum(n * n for n in row).bit_length() for row in rows)
    return longest, -(-sum(squares[-matrix.ncols() :]) // 2)


def null_combination(rows: Sequence[Sequence[int]]) -> tuple[int, ...] | None:
    """Return the coprime integers u with Σ u_i row_i = 0, if they are unique up to sign, else None.

    The sign is chosen so that the first nonzero number is positive. An obstruction that uses all of these rows exists
    if and only if every number is then positive. The result is checked on every column.

    >>> null_combination([[1, 0, 1], [0, 1, 1], [-2, -3, -5]])
    (2, 3, 1)
    """
    table = [[int(x) for x in row] for row in rows]
    combination = _eliminated(table) if 0 < len(table) <= FEW_ROWS and table[0] else _solved(table)
    if combination is None or any((fmpz_mat([combination]) * fmpz_mat(table)).entries()):
        return None  # there are more, or none: the rank modulo the prime was too small
    sign = next(1 if u > 0 else -1 for u in combination if u)
    return coprime(sign * u for u in combination)


def _eliminated(table: list[list[int]]) -> list[int] | None:
    """The combination by elimination in integers: for few rows."""
    basis, nullity = nullspace(fmpz_mat(table).transpose())
    return [int(basis[i, 0]) for i in range(len(table))] if nullity == 1 else None


def _solved(rows: list[list[int]]) -> list[int] | None:
    """The combination by solving for one row: for many."""
    kept = independent_rows(rows)
    if len(kept) != len(rows) - 1:
        return None
    left_out = (set(range(len(rows))) - set(kept)).pop()
    combination = [0] * len(rows)
    combination[left_out] = 1
    if kept:
        columns = independent_columns([rows[i] for i in kept])
        square = fmpz_mat([[rows[i][j] for i in kept] for j in columns])
        numerators, denominator = solve(square, fmpz_mat([[-rows[left_out][j]] for j in columns]))
        combination[left_out] = denominator
        for place, i in enumerate(kept):
            combination[i] = int(numerators[place, 0])
    return combination
