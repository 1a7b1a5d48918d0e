"""On which side of a hyperplane is each row? Exact signs of `w·x + b`, nearly all at the speed of floats.

Used by proofs, solvers and sources. The weights are integers of any length or doubles, the values of any real type.
Each stage is for the rows that the one before leaves in doubt:

1. Floats with a rounding bound (Higham, Accuracy and Stability, §3.1). For D terms summed in any order,
   `|fl(s) - s| <= g·Σ|w_j x_j| + underflow` with g = D·u/(1 - D·u), u = 2^-53.
   A score larger than its bound has the right sign. The bound used here is twice that one, which also covers
   rounding the weights and the values to doubles.
2. Scores that are integers below 2^62 in units of the row's last bit: int64 arithmetic, no rounding at all.
3. Every product as the sum of two doubles (Dekker 1971), added up without rounding, if none leaves the range.
4. Dense rows and longer weights: both cut into digits of 20 bits, multiplied and added without rounding.
5. Python integers.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import matmul
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from linsep.exact import BITS, FEW_CELLS, MOST_TERMS, Digits, Dyadic, coprime, dyadic
from linsep.faults import fault
from linsep.scores import LEAST, MOST, WHOLE, rest_of_products
from linsep.tables import is_sparse

Floats: TypeAlias = NDArray[np.float64]
Values: TypeAlias = Any  # a 2-D ndarray or a CSR matrix

PIECE = 2**16  # entries per call, so that the temporaries of stage 1 stay in the cache
LONG, TOGETHER = 2000, 256  # for weights of this many bits, rows are multiplied digit by digit, this many at a time
FEW = 500  # entries: up to this many, Python integers are as fast as the earlier stages
FEW_WEIGHTS = 0.25  # if at most this share of the columns has a weight, the others are left out
SMALLEST_NORMAL = 2.0**-1022
MANTISSA, LAST_EXPONENT = 53, 1024  # of doubles: the bits, and the largest power of two
SAFE = 2.0**1000  # Σ|w_j x_j| below this: no partial sum overflowed
LONGEST = 2**20  # entries of a row whose sums keep enough bits
NONE = np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Form:
    """The function x -> w·x + b with integer coefficients, prepared for every stage.

    `floats` are the coefficients times a power of two, rounded; `sizes[j] >= |floats[j]|` is so large that
    `u·sizes[j]` covers what was rounded away. The constant b is the last coefficient of both.
    """

    coefficients: tuple[int, ...]
    floats: Floats
    sizes: Floats
    shift: int
    words: NDArray[np.int64] | None  # the coefficients themselves, where they fit


def form_of(weights: Sequence[int], constant: int) -> Form:
    """Prepare w·x + b for exact signs and scores."""
    coefficients = (*weights, constant)
    if min(coefficients) > -WHOLE and max(coefficients) < WHOLE:  # short: nothing is rounded
        words = np.array(coefficients, np.int64)
        shift = -max(map(int.bit_length, coefficients))
        floats = np.ldexp(words, shift)
        return Form(coefficients, floats, np.abs(floats), shift, words)
    floats, shift = scaled_floats(coefficients)
    sizes = np.abs(floats)
    # A weight below the normal range is dropped: all of it is then at most u·2^-969. Zero weights stay zero.
    lost = (sizes < SMALLEST_NORMAL) & np.array([c != 0 for c in coefficients], dtype=bool)
    floats[lost], sizes[lost] = 0.0, 2.0**-969
    fits = all(abs(c) < 2**62 for c in coefficients)
    return Form(coefficients, floats, sizes, shift, np.array(coefficients, dtype=np.int64) if fits else None)


def form_of_doubles(weights: Floats, constant: float) -> Form:
    """The same for weights that are doubles: multiplied by a power of two they are integers, with the same signs."""
    mantissas, exponents = np.frexp(np.append(weights, constant))
    least = int(exponents.min(where=mantissas != 0, initial=1024))
    parts = zip((mantissas * WHOLE).astype(np.int64).tolist(), exponents.tolist(), strict=True)
    coefficients = [m << (e - least) if m else 0 for m, e in parts]
    return form_of(coefficients[:-1], coefficients[-1])


def is_exact(form: Form) -> bool:
    """Whether the floats are the coefficients themselves times a power of two, nothing rounded.

    No float is subnormal, so this holds if each coefficient has at most 53 bits from its first to its last set bit.
    """
    return all(
        x != 0.0 and c.bit_length() - (c & -c).bit_length() < 53
        for c, x in zip(form.coefficients, form.floats.tolist(), strict=True)
        if c
    )


def scaled_floats(integers: Sequence[int]) -> tuple[Floats, int]:
    """The integers times one power of two, 2^shift, rounded to doubles; the largest is near 1.

    Only if the integers differ by a factor of more than 2^1000 is the largest larger, to keep the smallest in range.
    """
    lengths = [abs(n).bit_length() for n in integers if n]
    if not lengths:
        return np.zeros(len(integers)), 0
    shift = min(max(max(lengths) - min(lengths) - 1000, 0), 1000) - max(lengths)
    if shift >= 0:
        return np.array([float(n << shift) for n in integers]), shift
    unit = 1 << -shift
    return np.array([n / unit for n in integers]), shift  # int / int rounds once, also into the subnormals


def as_integers(w: Floats, b: float) -> tuple[tuple[int, ...], int]:
    """Double weights as coprime integers in the same proportions."""
    mantissas, exponents = np.frexp(np.append(w, b))
    least = int(exponents.min(where=mantissas != 0, initial=LAST_EXPONENT))
    parts = zip(np.ldexp(mantissas, MANTISSA).astype(np.int64).tolist(), exponents.tolist(), strict=True)
    whole = coprime(mantissa << (exponent - least) if mantissa else 0 for mantissa, exponent in parts)
    return whole[:-1], whole[-1]


def pieces(values: Values, least: int = 1) -> Iterator[tuple[slice, Values]]:
    """Consecutive rows of a block, few enough to stay in the cache, but at least `least` at a time."""
    n_rows, n_columns = values.shape
    entries = values.nnz if is_sparse(values) else n_rows * n_columns
    step = max(least, PIECE * max(n_rows, 1) // max(entries, n_rows, 1))
    for start in range(0, n_rows, step):
        part = slice(start, start + step)
        yield part, values[part]


def row_products(x: Values, w: Floats) -> Floats:
    """x·w for each row, the same to the last bit whatever the other rows are, which a BLAS does not promise."""
    if is_sparse(x):  # added up entry by entry
        return np.asarray(x @ w)
    return np.asarray(np.einsum("ij,j->i", np.ascontiguousarray(x, dtype=np.float64), w))


def scores(form: Form, values: Values, *, steady: bool = False) -> tuple[Floats, Floats]:
    """Float scores times 2^shift, and a bound on the error of each: infinite where floats give no bound.

    With `steady`, the score of a row does not depend on the other rows, not even in the last bit.
    """
    if values.dtype == object:  # integers of any length
        return np.zeros(values.shape[0]), np.full(values.shape[0], np.inf)
    w, a = form.floats, form.sizes
    with np.errstate(all="ignore"):
        x = values.astype(np.float64, copy=False)
        products = row_products if steady else matmul
        score = products(x, w[:-1]) + w[-1]
        size = products(abs(x), a[:-1]) + a[-1]
        # Twice the bound above. The absolute term covers underflow of every product and sum, even if some
        # library has switched the processor to flush subnormal numbers to zero.
        error = size * ((len(w) + 2) * 2.0**-52) + 2.0**-1020 * (len(w) + float(a.sum()))
        error[~(size < SAFE)] = np.inf
    return score, error


def signs(form: Form, values: Values) -> NDArray[np.int8]:
    """The exact sign, -1, 0 or +1, of the form on each row; NotFiniteError names the place in the block."""
    if form.words is not None and _fit_words(form, values):
        return np.sign(values.dot(form.words[:-1]) + form.words[-1]).astype(np.int8)  # type: ignore[no-any-return]
    form, values = _in_few_columns(form, values)
    out, left = np.zeros(values.shape[0], dtype=np.int8), []
    for part, piece in pieces(values):
        score, error = scores(form, piece)
        is_known = np.abs(score) > error
        if is_known.all():
            np.sign(score, out=out[part], casting="unsafe")
            continue
        doubtful = np.flatnonzero(~is_known)
        is_known[doubtful] = _are_unrounded(form, piece[doubtful], error[doubtful])
        np.sign(score, where=is_known, out=out[part], casting="unsafe")
        left.append(part.start + np.flatnonzero(~is_known))
    doubtful = np.concatenate(left) if left else NONE
    for part, rows in pieces(values[doubtful], TOGETHER if len(doubtful) and _is_long(form) else 1):
        out[doubtful[part]] = _exact_signs(form, rows, doubtful[part])
    return out


def _is_long(form: Form) -> bool:
    """Whether the weights have more digits than many rows together."""
    return max(abs(n).bit_length() for n in form.coefficients) > LONG


def _fit_words(form: Form, values: Values) -> bool:
    """Whether the scores of a few dense rows of integers can be computed in 64 bits."""
    if is_sparse(values) or not 0 < values.size <= FEW_CELLS:
        return False
    if values.dtype.kind not in "iub" or values.dtype == np.uint64:
        return False
    largest = max(int(values.max()), -int(values.min()), 1)
    return largest * sum(map(abs, form.coefficients)) < 2**62


def _in_few_columns(form: Form, values: Values) -> tuple[Form, Values]:
    """The same without most columns of weight 0; for dense integers only, since they cannot hold NaN."""
    if is_sparse(values) or values.dtype.kind not in "iub":
        return form, values
    used = np.flatnonzero([c != 0 for c in form.coefficients[:-1]])
    if not 0 < len(used) <= FEW_WEIGHTS * values.shape[1]:
        return form, values
    return form_of([form.coefficients[k] for k in used.tolist()], form.coefficients[-1]), values[:, used]


def _are_unrounded(form: Form, values: Values, error: Floats) -> NDArray[np.bool_]:
    """Which dense rows have an unrounded float score: few bits, and terms that are whole in units of the first row."""
    if is_sparse(values) or values.dtype == object or form.words is None or np.abs(form.words).max() >= WHOLE:
        return np.zeros(len(error), dtype=bool)
    with np.errstate(all="ignore"):  # NaN in the first row; a scaled value beyond the doubles (its weight is then 0)
        unit = min(int(_last_bit(values[0].astype(np.float64)).min()), 0)
        most = (len(form.floats) + 2) * 2.0**-52 * math.ldexp(WHOLE, form.shift + unit)  # as `scores` bounds the error
        found = error < most
        if values.dtype.kind not in "iub" and found.any():
            whole = np.ldexp(values, -unit) if unit else values
            found &= (whole == np.rint(whole)).all(axis=1)
    return np.asarray(found)


def exact_score(form: Form, data: Sequence[Any], columns: Sequence[int]) -> Dyadic:
    """The exact score m·2^e of one row, given by its entries and their columns."""
    terms = [(form.coefficients[-1], 0)]
    for value, column in zip(data, columns, strict=True):
        mantissa, exponent = dyadic(value)
        terms.append((mantissa * form.coefficients[column], exponent))
    return dyadic_sum(terms)


def dyadic_sum(terms: Sequence[Dyadic]) -> Dyadic:
    """The exact sum of numbers m·2^e."""
    least = min((exponent for _, exponent in terms), default=0)
    return sum(mantissa << (exponent - least) for mantissa, exponent in terms), least


@dataclass(frozen=True, slots=True, eq=False)
class Flat:
    """The entries of some rows one after another; `bounds[k]:bounds[k+1]` is row k."""

    data: NDArray[Any]
    columns: NDArray[np.int64]
    bounds: NDArray[np.int64]

    def reduce(self, operation: np.ufunc, entries: NDArray[Any], empty: Any) -> NDArray[Any]:
        """Reduce the entries of each row; rows without entries get `empty`."""
        out = np.full(len(self.bounds) - 1, empty, dtype=entries.dtype)
        filled = self.bounds[1:] > self.bounds[:-1]
        if filled.any():
            out[filled] = operation.reduceat(entries, self.bounds[:-1][filled])
        return out

    def row(self, k: int) -> tuple[list[Any], list[int]]:
        """The entries of row k and their columns."""
        span = slice(self.bounds[k], self.bounds[k + 1])
        return list(self.data[span].tolist()), list(self.columns[span].tolist())


def flat(values: Values, numbers: NDArray[np.int64]) -> Flat:
    """The rows entry by entry, after a check that all entries are finite."""
    if is_sparse(values):
        rows = Flat(values.data, values.indices.astype(np.int64), values.indptr.astype(np.int64))
    else:
        n_rows, n_columns = values.shape
        columns = np.tile(np.arange(n_columns), n_rows)
        rows = Flat(values.ravel(), columns, np.arange(n_rows + 1) * n_columns)
    _refuse_nonfinite(rows, numbers)
    return rows


def _refuse_nonfinite(rows: Flat, numbers: NDArray[np.int64]) -> None:
    if rows.data.dtype == object:
        finite = np.array([isinstance(v, int) or math.isfinite(v) for v in rows.data.tolist()], dtype=bool)
    else:
        finite = np.isfinite(rows.data)
    if not finite.all():
        k = int(np.argmin(finite))
        row = int(np.searchsorted(rows.bounds, k, side="right")) - 1
        raise fault("not finite", row=int(numbers[row]), column=int(rows.columns[k]), value=float(rows.data[k]))


def _exact_signs(form: Form, values: Values, numbers: NDArray[np.int64]) -> NDArray[np.int8]:
    rows = flat(values, numbers)
    out = np.zeros(values.shape[0], dtype=np.int8)
    done = np.zeros(values.shape[0], dtype=bool)
    if rows.data.size > FEW and _is_word(rows.data.dtype):
        if form.words is not None:
            total, done = _word_scores(form.words, rows)
            out[done] = np.sign(total[done])
        if not done.all() and is_exact(form):
            found, known = _pair_signs(form.floats, rows)
            out[~done], done = found[~done], done | known
        if not done.all() and not is_sparse(values) and len(form.floats) <= MOST_TERMS:
            left = np.flatnonzero(~done)
            mantissas, _, done[left] = _digit_scores(form, values[left])
            out[left] = np.sign(mantissas)
    for k in np.flatnonzero(~done).tolist():
        mantissa, _ = exact_score(form, *rows.row(k))
        out[k] = (mantissa > 0) - (mantissa < 0)
    return out


def _is_word(dtype: np.dtype[Any]) -> bool:
    return dtype.kind in "iu" or dtype in (np.float64, np.float32, np.float16)


def _word_scores(words: NDArray[np.int64], rows: Flat) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Scores in int64, and for which rows they are exact: those that fit, scaled by a power of two."""
    w = words[rows.columns]
    data = np.where(w == 0, 0, rows.data)
    unit = np.zeros(len(rows.bounds) - 1, dtype=np.int32)
    if data.dtype.kind == "f":
        data = data.astype(np.float64, copy=False)
        unit = np.minimum(rows.reduce(np.minimum, _last_bit(data), 0), 0).astype(np.int32)
    with np.errstate(all="ignore"):
        size = rows.reduce(np.add, np.abs(data.astype(np.float64)) * np.abs(w.astype(np.float64)), 0.0)
        fits = size + abs(float(words[-1])) < np.ldexp(1.0, unit + 61)
    scale = np.repeat(np.where(fits, unit, 0), np.diff(rows.bounds))
    entries = np.where(np.repeat(fits, np.diff(rows.bounds)), data, 0)
    if entries.dtype.kind == "f":
        entries = np.ldexp(entries, -scale)
    constant = words[-1] << np.where(fits, np.minimum(-unit, 62), 0).astype(np.int64)
    # b·2^-unit is below 2^61 where the row fits; with b = 0 the shift may be cut at 62 without harm.
    return rows.reduce(np.add, entries.astype(np.int64) * w, 0) + constant, fits


def _pair_signs(floats: Floats, rows: Flat) -> tuple[NDArray[np.int8], NDArray[np.bool_]]:
    """Signs from products written as sums of two doubles, and which rows have only such products."""
    x, w = rows.data.astype(np.float64), floats[rows.columns]
    with np.errstate(all="ignore"):
        high = w * x
        size = np.abs(high)
        fits = ((x == 0) | (w == 0) | (size > LEAST)) & (size < MOST) & (np.abs(x) < MOST) & (np.abs(w) < MOST)
        if rows.data.dtype.kind != "f":
            fits &= np.abs(x) < WHOLE  # 2^53 may have been 2^53 + 1
        low = rest_of_products(w, x, high)
    lengths = np.diff(rows.bounds)
    known = rows.reduce(np.logical_and, fits, True) & (lengths < LONGEST) & (abs(floats[-1]) < MOST)
    is_known = np.repeat(known, lengths)
    parts = np.where(is_known, high, 0.0), np.where(is_known, low, 0.0)
    return _signs_of_sums(rows, parts, np.where(known, floats[-1], 0.0)), known


def fine_scores(form: Form, values: Values) -> tuple[Floats, Floats]:
    """Steady scores right to a few digits, even where most of a score cancels (dense rows), and their error bounds."""
    out, error = scores(form, values, steady=True)
    doubtful = np.flatnonzero(~(np.abs(out) > error))
    if not is_sparse(values) and _is_word(values.dtype) and len(form.floats) <= MOST_TERMS:
        for part, rows in pieces(values[doubtful]):
            mantissas, exponents, _ = _digit_scores(form, rows)
            with np.errstate(all="ignore"):
                out[doubtful[part]] = np.ldexp(mantissas, exponents + form.shift)
    return out, error


def _digit_scores(form: Form, values: Values) -> tuple[Floats, NDArray[np.int64], NDArray[np.bool_]]:
    """Scores m·2^e from sums of digits, with exact signs and m rounded, and for which rows this holds.

    They are the rows whose numbers do not differ too much in size.
    """
    x = np.column_stack([values.astype(np.float64), np.ones(len(values))])
    known = np.ones(len(x), bool) if values.dtype.kind == "f" else (np.abs(x) < WHOLE).all(axis=1)
    top = np.frexp(np.abs(x).max(axis=1))[1]
    scaled = np.ldexp(x, -top[:, None])
    digits, rest = Digits.of(scaled)
    known &= (np.ldexp(scaled, top[:, None]) == x).all(axis=1) & ~rest.any(axis=1)
    weights = _digits_of(form.coefficients)
    sums = (digits @ weights)[:, :, 0]
    highest = np.argmax(sums != 0, axis=0)  # all lower digits together are less than one unit of it
    mantissas = np.zeros(len(x))
    for k in range(4):
        place = np.minimum(highest + k, len(sums) - 1)
        digit = np.where(highest + k < len(sums), np.take_along_axis(sums, place[None], axis=0)[0], 0)
        mantissas += digit * 2.0 ** (-BITS * k)
    return mantissas, top + BITS * (len(weights.places) - 1 - highest), known


@lru_cache(maxsize=2)
def _digits_of(coefficients: tuple[int, ...]) -> Digits:
    return Digits.of_integers([[c] for c in coefficients])


def _signs_of_sums(rows: Flat, parts: tuple[Floats, Floats], constant: Floats) -> NDArray[np.int8]:
    """The sign of the sum of both parts of each row and its constant, exactly (Rump, Ogita and Oishi 2008).

    From each term the part above the last bits of sigma is split off. These parts add up without rounding, and the rest
    of each term is below u·sigma: if the sum exceeds all the rests, it has the sign. If not, repeat with the rests.
    """
    lengths = np.diff(rows.bounds)
    factor = np.ldexp(1.0, np.frexp(2.0 * lengths + 4)[1])
    total, is_open = np.zeros(len(constant)), np.ones(len(constant), dtype=bool)
    out = np.zeros(len(constant), dtype=np.int8)
    while True:
        top = np.maximum(np.abs(total), np.abs(constant))
        for part in parts:
            top = np.maximum(top, rows.reduce(np.maximum, np.abs(part), 0.0))
        is_open &= top > 0  # else every term is 0, and so is the sum
        if not is_open.any():
            return out
        sigma = factor * np.ldexp(1.0, np.frexp(top)[1])
        for part in parts:
            each = np.repeat(sigma, lengths)
            split = (each + part) - each
            part -= split
            total += rows.reduce(np.add, split, 0.0)
        split = (sigma + constant) - sigma
        constant, total = constant - split, total + split
        is_clear = is_open & (np.abs(total) > factor * 2.0**-52 * sigma)
        out[is_clear] = np.sign(total[is_clear])
        is_open &= ~is_clear


def _last_bit(data: Floats) -> NDArray[np.int32]:
    """The exponent of the last bit that is set in each number; a large one for zero."""
    fraction, exponent = np.frexp(data)
    mantissa = (fraction * 2.0**53).astype(np.int64)
    _, trailing = np.frexp((mantissa & -mantissa).astype(np.float64))
    return np.where(data == 0, 2**20, exponent - 53 + trailing - 1).astype(np.int32)
