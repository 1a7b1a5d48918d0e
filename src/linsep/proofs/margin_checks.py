"""Is a margin what a proof says? The distance of the nearest row to the hyperplane, min z·w / |w|, from both sides.

The constant is not part of |w|. From below: every row's score, in floats minus their error, and exactly where floats
cannot tell. From above: rows with positive weights, whose combination is the nearer to zero the smaller the margin.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linsep.errors import CertificateError, OverflowedError
from linsep.exact import FEW_CELLS, rounding_factor
from linsep.proofs.checked_rows import Block, Rows, Values, each
from linsep.proofs.checks import check_numbers, few, integer_table, is_worth_a_scan, taken, weighted_sum
from linsep.signs import Form, dyadic_sum, exact_score, flat, form_of, is_exact, pieces, scores
from linsep.tables import is_sparse

VISIBLE, EXACT_CELLS = 2.0**-24, 1_000_000  # relative rounding error that matters; most entries that are added exactly


def check_margin_low(rows: Rows, weights: Sequence[int], constant: int, low: float) -> None:
    """Every row is at least `low` away from the hyperplane, on its side."""
    form = form_of(weights, constant)
    if _scanned_floor(rows, form) >= low * _length_above(form):
        return
    square, bound = sum(w * w for w in weights), Fraction(low)
    for number, score in _near_scores(rows, form, low):
        if score < 0 or score * score < bound * bound * square:
            raise CertificateError(f"Row {number} is nearer to the hyperplane than the proof's margin {low!r}.")


def _scanned_floor(rows: Rows, form: Form) -> float:
    """A lower bound on every z·w, in the units of the form's floats: a source's lowest float score minus its error."""
    lowest, error = _scanned(rows, form)
    return lowest - error


def _scanned(rows: Rows, form: Form) -> tuple[float, float]:
    """The lowest float score of a source, and how far it may be off; minus infinity if a scan cannot tell."""
    if not (is_worth_a_scan(rows) and is_exact(form)):
        return -math.inf, 0.0
    w, b = form.floats[:-1], float(form.floats[-1])
    try:
        scan = rows.scan(w, b)
    except OverflowedError:
        return -math.inf, 0.0
    reach = _length_above(form) * math.sqrt(scan.longest2) + abs(b)
    if not 1e-140 < reach < 1e140 or not 1e-280 < scan.longest2 < 1e280:
        return -math.inf, 0.0  # squares that may have left the range of doubles
    return float(min(scan.lowest)), rounding_factor(2 * len(w) + 8) * reach * (1 + 2.0**-30)


def _length_above(form: Form) -> float:
    """|w| in the units of the form's floats, rounded up."""
    return math.hypot(*form.sizes[:-1].tolist()) * (1 + 2.0**-40)


def _near_scores(rows: Rows, form: Form, low: float) -> Iterator[tuple[int, Fraction]]:
    """The exact z·w of every row that floats cannot show to be at least `low·|w|`."""
    # |w| from above, in the units of the float scores; the factor covers the rounding of `sizes` and the root.
    return _scores_up_to(rows, form, low * _length_above(form) * (1 + 2.0**-40))


def _scores_up_to(rows: Rows, form: Form, ceiling: float) -> Iterator[tuple[int, Fraction]]:
    """The exact z·w of every row that floats cannot show to be above the ceiling, in the units of float scores."""
    return chain.from_iterable(each(rows, partial(_block_up_to, form, ceiling)))


def _block_up_to(form: Form, ceiling: float, block: Block) -> list[tuple[int, Fraction]]:
    found: list[tuple[int, Fraction]] = []
    for numbers, y, piece, score, error in _float_scores(form, block):
        with np.errstate(all="ignore"):
            near = np.flatnonzero(~(score - error > ceiling))
        found += _exact_scores(form, piece[near], numbers[near], y[near])
    return found


def _float_scores(form: Form, block: Block) -> Iterator[tuple[Any, ...]]:
    """Piece by piece: row numbers, signs, values, the float scores z·w and a bound on the error of each."""
    numbers, values, y = block
    for part, piece in pieces(values):
        score, error = scores(form, piece)
        yield numbers[part], y[part], piece, score * y[part], error


def _ceiling_of(form: Form, block: Block) -> float:
    """An upper bound on the lowest z·w of a block."""
    ceiling = math.inf
    for _, _, _, score, error in _float_scores(form, block):
        with np.errstate(all="ignore"):
            ceiling = min(ceiling, float(np.nanmin(score + error, initial=math.inf)))
    return ceiling


def _exact_scores(
    form: Form, values: Values, numbers: NDArray[np.int64], y: NDArray[np.int8]
) -> Iterator[tuple[int, Fraction]]:
    table = flat(values, numbers)
    for k, number in enumerate(numbers.tolist()):
        mantissa, exponent = exact_score(form, *table.row(k))
        yield number, int(y[k]) * Fraction(mantissa) * Fraction(2) ** exponent


def check_margin_high(rows: Rows, numbers: Sequence[int], weights: Sequence[int], bias: bool, high: float) -> None:
    """No hyperplane has a margin above `high`: the named rows are near enough to an obstruction to prove it."""
    check_numbers(rows, numbers, weights, "nearest pair")
    if float_ceiling(rows, numbers, weights, bias) <= high:
        return
    if squared_ceiling(rows, numbers, weights, bias) > Fraction(high) ** 2:
        raise CertificateError(f"The rows {few(numbers)} do not show that the margin is at most {high!r}.")


def check_exact_margin(
    rows: Rows,
    weights: Sequence[int],
    constant: int,
    numbers: Sequence[int],
    multiples: Sequence[int],
    bias: bool,
    square: Fraction,
    margin: tuple[float, float],
) -> None:
    """The hyperplane's squared margin is `square`, which lies in `margin`, and the named rows allow none larger."""
    check_numbers(rows, numbers, multiples, "nearest pair")
    if not Fraction(margin[0]) ** 2 <= square <= Fraction(margin[1]) ** 2:
        raise CertificateError(f"The margin {margin[0]!r} to {margin[1]!r} is not that of gamma_squared.")
    floor = squared_floor(rows, form_of(weights, constant), sum(w * w for w in weights))
    if not floor == square == squared_ceiling(rows, numbers, multiples, bias):
        raise CertificateError("The squared margin of the hyperplane or of the nearest rows is not gamma_squared.")


def squared_ceiling(rows: Rows, numbers: Sequence[int], weights: Sequence[int], bias: bool | None) -> Fraction:
    """The square of an upper bound on every margin, from rows with positive weights.

    Without bias: a unit w with z·w >= m on the rows has `m·Σu <= Σ u z·w <= |Σ u z|`; `bias=None` asks for this
    bound on the homogenised rows. With bias: the same for p - q, the difference of the classes' weighted means,
    where the constant cancels; each mean is at least m from the hyperplane, so `2m <= |p - q|`.
    """
    if not bias:
        return _squared_length(_signed_sum(rows, numbers, weights, bias is None)) / Fraction(sum(weights)) ** 2
    _, _, y = rows.take(numbers)
    plus = sum(u for u, sign in zip(weights, y, strict=True) if sign > 0)
    minus = sum(weights) - plus
    if not plus or not minus:
        raise CertificateError(f"The nearest pair (rows {few(numbers)}) needs rows of both classes.")
    balanced = [u * (minus if sign > 0 else plus) for u, sign in zip(weights, y, strict=True)]
    return _squared_length(_signed_sum(rows, numbers, balanced, False)) / Fraction(2 * plus * minus) ** 2


def float_ceiling(rows: Rows, numbers: Sequence[int], weights: Sequence[int], bias: bool | None) -> float:
    """An upper bound on the root of `squared_ceiling`, in floats that account for their rounding: for many entries.

    Infinite if there are few entries, if a square may leave the range of doubles, or if rounding would matter and the
    rows can be added exactly instead. Each column is a sum of n products with quotients, off by at most g·Σ|u x|
    (Higham, §3.1); the vector of all columns' errors is no longer than that of these bounds.
    """
    _, values, y = taken(rows, numbers)
    if len(numbers) * rows.n_columns <= FEW_CELLS or values.dtype == object or max(weights) >= 2**1000:
        return math.inf
    sides = [1, -1] if bias else [0]
    sums = {side: sum(u for u, sign in zip(weights, y, strict=True) if not side or sign == side) for side in sides}
    if not all(sums.values()):
        return math.inf  # a class has no rows: `squared_ceiling` raises
    part = np.array([u / sums[int(sign) if bias else 0] for u, sign in zip(weights, y, strict=True)]) / len(sides)
    with np.errstate(all="ignore"):
        x = values.astype(np.float64)
        total, size = (part * y) @ x, part @ abs(x)
    constant = [float(part @ y)] if bias is None else []
    length, reach = math.hypot(*total.tolist(), *constant), math.hypot(*size.tolist(), *(1.0 for _ in constant))
    if not 1e-140 < reach < 1e140:
        return math.inf
    error = rounding_factor(len(weights) + 16) * reach
    if error > VISIBLE * length and x.size <= EXACT_CELLS:
        return math.inf
    return (length + error) * (1 + 2.0**-40)


def ceiling_above(rows: Rows, numbers: Sequence[int], weights: Sequence[int], bias: bool | None) -> Fraction:
    """`squared_ceiling`, or slightly more if that is faster."""
    bound = float_ceiling(rows, numbers, weights, bias)
    return Fraction(bound) ** 2 if math.isfinite(bound) else squared_ceiling(rows, numbers, weights, bias)


def squared_floor(rows: Rows, form: Form, square: int) -> Fraction:
    """(z·w)² / square for the row with the least z·w; 0 or less if a row is not strictly on its side.

    `square` is the squared length of the integer coefficients by which distances are divided.
    """
    least = least_score(rows, form)
    return least * abs(least) / square


def scanned_squared_floor(rows: Rows, form: Form) -> Fraction:
    """A lower bound on the same for homogenised rows (|W|² with the constant), by a scan; 0 if floats cannot tell."""
    low = _scanned_floor(rows, form) / (math.hypot(*form.sizes.tolist()) * (1 + 2.0**-40)) * (1 - 2.0**-40)
    return Fraction(low) ** 2 if low > 0 else Fraction(0)


def least_score(rows: Rows, form: Form) -> Fraction:
    """The smallest z·w of all rows, exactly; floats find the rows that may have it."""
    ceiling = min(each(rows, partial(_ceiling_of, form)))
    return min(score for _, score in _scores_up_to(rows, form, ceiling))


def squared_reach(rows: Rows, *, constant: bool) -> tuple[Fraction, Fraction]:
    """Bounds below and above the squared length of the longest row, with a 1 appended if `constant`, at any scale."""
    largest = max(each(rows, _largest_entry))
    exponent = 0 if 2.0**-400 < largest < 2.0**400 else -math.frexp(largest)[1]  # squares stay in the range of doubles
    longest = max(each(rows, partial(_longest_square, exponent)))
    slack = Fraction(rows.n_columns + 8, 2**52)
    square = Fraction(longest) / Fraction(4) ** exponent
    return square * (1 - slack) + constant, square * (1 + slack) + constant


def _largest_entry(block: Block) -> float:
    _, values, _ = block
    entries = values.data if is_sparse(values) else values
    return max(float(entries.max(initial=0)), -float(entries.min(initial=0)))


def _longest_square(exponent: int, block: Block) -> float:
    """The largest |x|² of a block, times a power of four."""
    _, values, _ = block
    longest = 0.0
    for _, piece in pieces(values):
        lengths = piece.astype(np.float64, copy=exponent != 0 or is_sparse(piece))
        entries = lengths.data if is_sparse(piece) else lengths
        if exponent:
            entries[...] = np.ldexp(entries, exponent)
        if is_sparse(piece):
            entries *= entries
        squares = lengths.sum(axis=1) if is_sparse(piece) else np.einsum("ij,ij->i", lengths, lengths)
        longest = max(longest, float(squares.max(initial=0.0)))
    return longest


def _squared_length(vector: dict[int, tuple[int, int]]) -> Fraction:
    mantissa, exponent = dyadic_sum([(m * m, 2 * e) for m, e in vector.values()])
    return Fraction(mantissa) * Fraction(2) ** exponent


def margin_bounds(
    rows: Rows,
    weights: Sequence[int],
    constant: int,
    numbers: Sequence[int],
    multiples: Sequence[int],
    bias: bool,
) -> tuple[float, float]:
    """(low, high) that `check_margin_low` and `check_margin_high` accept, as tight as doubles allow."""
    form = form_of(weights, constant)
    square = sum(w * w for w in weights)
    if not square:
        raise CertificateError("The weights are all zero: a margin needs a hyperplane.")
    high = root_above(ceiling_above(rows, numbers, multiples, bias))
    lowest, error = _scanned(rows, form)
    low = (lowest - error) / _length_above(form) * (1 - 2.0**-40)
    if low > high * (1 - 2.0**-20) or 0 < error < lowest * 2.0**-20:  # else the exact computation is worth its time
        return low, high
    return root_below(squared_floor(rows, form, square)), high


def _signed_sum(rows: Rows, numbers: Sequence[int], weights: Sequence[int], bias: bool) -> dict[int, tuple[int, int]]:
    """`Σ u z`, exactly, column by column (m·2^e); columns without entries are left out."""
    return weighted_sum(weights, *integer_table(rows, numbers, bias))


def root_below(square: Fraction) -> float:
    """The largest double whose square is at most `square`; negative input has no margin and gives 0."""
    if square <= 0:
        return 0.0
    root = _root(square)
    while Fraction(root) ** 2 > square:
        root = math.nextafter(root, 0.0)
    return root


def float_below(number: Fraction) -> float:
    """A double at most slightly below a positive number, and never above it."""
    nearest = _nearest(number)
    return math.nextafter(nearest, 0.0) if nearest == math.inf or Fraction(nearest) > number else nearest


def float_above(number: Fraction) -> float:
    """A double, or infinity, at most slightly above a positive number, and never below it."""
    nearest = _nearest(number)
    return math.nextafter(nearest, math.inf) if nearest < math.inf and Fraction(nearest) < number else nearest


def _nearest(number: Fraction) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.inf


def root_above(square: Fraction) -> float:
    """A double, or infinity, at most slightly above the root of `square` and never below it."""
    root = _root(square)
    while root < math.inf and Fraction(root) ** 2 < square:
        root = math.nextafter(root, math.inf)
    return root


def _root(square: Fraction) -> float:
    """√square within an ulp or two, for squares beyond the range of doubles as well."""
    half = (square.numerator.bit_length() - square.denominator.bit_length()) // 2
    reduced = square / Fraction(4) ** half
    try:
        return math.ldexp(math.sqrt(float(reduced)), half)
    except OverflowError:  # the root is beyond the largest double, or within an ulp of it
        return sys.float_info.max
