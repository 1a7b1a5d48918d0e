"""The loops of peeling: which signs columns hold, which rows they touch, how much weight they need.

The sign of an entry is that of y·x_ij. It is read off comparisons, never off a product, so that -0.0 is a zero
and no integer wraps around. The column after the last is the bias, whose entries x are all 1.

Dense rows are read until every column has shown both signs, which is soon. Sparse rows are transposed once; then each
entry is removed at most once, however many rounds there are.
"""

from math import frexp, ldexp
from typing import Any

import numpy as np
from numba.extending import overload, register_jitable

from linsep.loops.compiler import njit
from linsep.loops.layouts import Csr, Dense
from linsep.loops.row_verbs import is_kind

POSITIVE, NEGATIVE, BOTH = 1, 2, 3  # the signs seen in a column, as bits; 0 where all entries are zero
PROBES = 64  # rows spread over a dense table that are looked at first: files are often sorted by label
UNIT = 2.0**-53  # the relative rounding error of one operation
LOWEST = -(1 << 62)  # an exponent below all exponents
UNSURE = -1


@register_jitable
def _sign_bit(x: Any, y: Any) -> int:
    if x == 0:
        return 0
    return POSITIVE if (x > 0) == (y > 0) else NEGATIVE


# One round: which signs occur, then which rows they touch -----------------------------------------


def see_signs(table: Dense | Csr, y: Any, alive: Any, seen: Any) -> None:
    """Add to `seen` the signs that occur in each column of the rows alive, the bias last.

    Dense rows are not read on once every column, the bias too, has shown both signs.
    """
    (_see_dense if isinstance(table, Dense) else _see_csr)(table, y, alive, seen)


def touched_rows(table: Dense | Csr, alive: Any, columns: Any) -> Any:
    """A flag for each row: alive, and with an entry other than zero in one of these columns (not the bias)."""
    return (_touched_dense if isinstance(table, Dense) else _touched_csr)(table, alive, columns)


@njit(cache=True, nogil=True)
def _see_dense(table: Any, y: Any, alive: Any, seen: Any) -> None:
    bias = seen.size - 1
    one_sided = np.flatnonzero(seen[:bias] != BOTH)
    left = one_sided.size
    for step in (max(1, y.size // PROBES), 1):
        for i in range(0, y.size, step):
            if left == 0 and seen[bias] == BOTH:
                return
            if not alive[i]:
                continue
            seen[bias] |= _sign_bit(1, y[i])
            k = 0
            while k < left:
                j = one_sided[k]
                seen[j] |= _sign_bit(table.values[i, j], y[i])
                if seen[j] == BOTH:
                    left -= 1
                    one_sided[k] = one_sided[left]
                else:
                    k += 1


@njit(cache=True, nogil=True)
def _see_csr(table: Any, y: Any, alive: Any, seen: Any) -> None:
    bias = seen.size - 1
    for i in range(y.size):
        if alive[i]:
            seen[bias] |= _sign_bit(1, y[i])
            for k in range(table.indptr[i], table.indptr[i + 1]):
                seen[table.indices[k]] |= _sign_bit(table.data[k], y[i])


@njit(cache=True, nogil=True)
def _touched_dense(table: Any, alive: Any, columns: Any) -> Any:
    touched = np.zeros(alive.size, np.bool_)
    for i in range(alive.size):
        if alive[i]:
            for j in columns:
                if table.values[i, j] != 0:
                    touched[i] = True
                    break
    return touched


@njit(cache=True, nogil=True)
def _touched_csr(table: Any, alive: Any, columns: Any) -> Any:
    touched = np.zeros(alive.size, np.bool_)
    is_chosen = np.zeros(columns.max() + 1, np.bool_)
    is_chosen[columns] = True
    for i in range(alive.size):
        if alive[i]:
            for k in range(table.indptr[i], table.indptr[i + 1]):
                j = table.indices[k]
                if j < is_chosen.size and is_chosen[j] and table.data[k] != 0:
                    touched[i] = True
                    break
    return touched


# All rounds at once, for sparse rows in memory ----------------------------------------------------


@njit(cache=True, nogil=True)
def count_signs(table: Any, y: Any, counts: Any) -> None:
    """Count the entries of each sign in each column, the bias last: counts[0] the positive, counts[1] the negative."""
    bias = counts.shape[1] - 1
    for i in range(y.size):
        counts[0 if y[i] > 0 else 1, bias] += 1
        for k in range(table.indptr[i], table.indptr[i + 1]):
            bit = _sign_bit(table.data[k], y[i])
            if bit:
                counts[bit - 1, table.indices[k]] += 1


@njit(cache=True, nogil=True)
def rows_by_column(table: Any, starts: Any, row_of: Any) -> None:
    """Write the rows that column j touches, in order, into row_of[starts[j]:starts[j + 1]]."""
    places = starts[:-1].copy()
    for i in range(table.indptr.size - 1):
        for k in range(table.indptr[i], table.indptr[i + 1]):
            if table.data[k] != 0:
                j = table.indices[k]
                row_of[places[j]] = i
                places[j] += 1


@njit(cache=True, nogil=True)
def cascade(table: Any, y: Any, counts: Any, starts: Any, row_of: Any, bias: bool) -> Any:
    """Peel until no column is pure. Returns, level after level, the columns and the rows, and where each level ends.

    `counts` is left with the counts of the rows that remain.
    """
    n_rows, width = y.size, starts.size - 1
    is_alive = np.ones(n_rows, np.bool_)
    rows, row_ends, n_peeled = np.empty(n_rows, np.int64), [0], 0
    columns, column_ends, n_pure = np.empty(width + 1, np.int64), [0], 0
    signs = np.empty(width + 1, np.int8)
    for j in range(width + bias):
        if (counts[0, j] == 0) != (counts[1, j] == 0):
            columns[n_pure] = j
            n_pure += 1
    while n_pure > column_ends[-1]:
        for m in range(column_ends[-1], n_pure):
            j = columns[m]
            signs[m] = 1 if counts[0, j] else -1
            is_bias = j == width  # it touches every row
            for k in range(0 if is_bias else starts[j], n_rows if is_bias else starts[j + 1]):
                i = k if is_bias else int(row_of[k])
                if is_alive[i]:
                    is_alive[i] = False
                    rows[n_peeled] = i
                    n_peeled += 1
        candidates = n_pure
        for m in range(row_ends[-1], n_peeled):
            i = rows[m]
            for k in range(table.indptr[i], table.indptr[i + 1]):
                bit = _sign_bit(table.data[k], y[i])
                if bit:
                    column = np.int64(table.indices[k])
                    counts[bit - 1, column] -= 1
                    if counts[bit - 1, column] == 0 and counts[2 - bit, column]:
                        columns[candidates] = column
                        candidates += 1
            side = 0 if y[i] > 0 else 1
            counts[side, width] -= 1
            if bias and counts[side, width] == 0 and counts[1 - side, width]:
                columns[candidates] = width
                candidates += 1
        column_ends.append(n_pure)
        row_ends.append(n_peeled)
        for m in range(column_ends[-1], candidates):  # a candidate may have lost its last rows since
            j = columns[m]
            if counts[0, j] or counts[1, j]:
                columns[n_pure] = j
                n_pure += 1
        columns[column_ends[-1] : n_pure].sort()
        rows[row_ends[-2] : n_peeled].sort()
    ends = np.array(column_ends), np.array(row_ends)
    return columns[:n_pure], signs[:n_pure], ends[0], rows[:n_peeled], ends[1], np.flatnonzero(is_alive)


# Weights ------------------------------------------------------------------------------------------


def span(table: Any, i: Any) -> tuple[int, int]:
    """The places (start, stop) of the entries of row i, in either layout."""
    raise NotImplementedError("compiled code only")


def entry(table: Any, i: Any, k: Any) -> tuple[int, float]:
    """The column and the value at place k of row i."""
    raise NotImplementedError("compiled code only")


@overload(span)
def _span(table: Any, i: Any) -> Any:
    def of_dense(table: Any, i: Any) -> Any:
        return np.int64(0), np.int64(table.values.shape[1])

    def of_csr(table: Any, i: Any) -> Any:
        return np.int64(table.indptr[i]), np.int64(table.indptr[i + 1])

    return of_dense if is_kind(table, Dense) else of_csr


@overload(entry)
def _entry(table: Any, i: Any, k: Any) -> Any:
    def of_dense(table: Any, i: Any, k: Any) -> Any:
        return k, np.float64(table.values[i, k])

    def of_csr(table: Any, i: Any, k: Any) -> Any:
        return np.int64(table.indices[k]), np.float64(table.data[k])

    return of_dense if is_kind(table, Dense) else of_csr


@njit(cache=True, nogil=True)
def needed_exponent(table: Any, y: Any, rows: Any, weights: Any, is_pure: Any) -> int:
    """An exponent q >= 0 with 2^q·Σ|x_j| > -y·(w·x + b), the sum over the pure columns, for all these rows.

    `weights` are (w, mantissas, exponents), the bias last: integers, zero on the pure columns, written as doubles
    and as mantissa·2^exponent, both within 1 ± 2·UNIT. Every row must have an entry in a pure column.
    """
    w, mantissas, exponents = weights
    needed = 0
    for i in rows:
        exponent = _in_floats(table, y[i], i, w, is_pure)
        if exponent == UNSURE:
            exponent = _in_exponents(table, y[i], i, mantissas, exponents, is_pure)
        needed = max(needed, exponent)
    return needed


@register_jitable
def _in_floats(table: Any, y: Any, i: Any, w: Any, is_pure: Any) -> int:
    """The exponent for one row, or UNSURE near the ends of the range of doubles.

    |fl(s) - s| <= g·Σ|w_j x_j| for any order of summation (Higham 2002, §3.1); the spare terms pay for the bias,
    for weights and integers that were rounded, and for the rounding of the bound itself.
    """
    start, stop = span(table, i)
    score, pure = 0.0, 0.0
    if is_pure[-1]:
        pure += 1.0
    else:
        score += w[-1]
    reach = abs(score)
    for k in range(start, stop):
        j, x = entry(table, i, k)
        if is_pure[j]:
            pure += abs(x)
        else:
            score += x * w[j]
            reach += abs(x * w[j])
    if reach == 0.0:  # and not by underflow: the weights are integers
        return 0
    if not (2.0**-900 < reach < 2.0**1000 and pure < 2.0**1000):
        return UNSURE
    error = (2.0 * (stop - start) + 16.0) * UNIT
    ratio = (error * reach - y * score) / pure * (1.0 + error)
    if ratio <= 0.0:
        return 0
    return max(0, frexp(ratio)[1]) if ratio < 2.0**1000 else UNSURE


@register_jitable
def _in_exponents(table: Any, y: Any, i: Any, mantissas: Any, exponents: Any, is_pure: Any) -> int:
    """The exponent for one row, whatever its values: terms are scaled so that the largest of each sum is near 1."""
    start, stop = span(table, i)
    highest, highest_pure = LOWEST, LOWEST
    for k in range(start, stop + 1):
        j, x = entry(table, i, k) if k < stop else (is_pure.size - 1, 1.0)
        if x != 0.0 and is_pure[j]:
            highest_pure = max(highest_pure, frexp(x)[1])
        elif x != 0.0 and mantissas[j] != 0.0:
            highest = max(highest, frexp(x)[1] + exponents[j])
    if highest == LOWEST:
        return 0
    score, pure, terms = 0.0, 0.0, 1.0 + stop - start
    for k in range(start, stop + 1):
        j, x = entry(table, i, k) if k < stop else (is_pure.size - 1, 1.0)
        mantissa, exponent = frexp(x)
        if is_pure[j]:
            pure += abs(_scaled(mantissa, exponent - highest_pure))
        else:
            score += _scaled(mantissa * mantissas[j], exponent + exponents[j] - highest)
    # no term is above 1, so the score is off by at most terms·(terms + 8)·UNIT; what `pure` lost only lowers it
    ratio = (2.0 * terms * (terms + 8.0) * UNIT - y * score) / pure * (1.0 + 2.0 * (terms + 8.0) * UNIT)
    return max(0, frexp(ratio)[1] + highest - highest_pure) if ratio > 0.0 else 0


@register_jitable
def _scaled(mantissa: float, exponent: int) -> float:
    """The number mantissa·2^exponent, exponent <= 0, or 0 where that is far below the rounding of a 1."""
    return ldexp(mantissa, exponent) if exponent > -200 else 0.0
