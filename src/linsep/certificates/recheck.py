"""Does a claim hold for these rows? Exact checks from the data alone, whoever made the claim and however.

With z = y·(x, 1), or z = y·x without bias:

* separator: z·w > 0 for every row (or >= 0 for every row and > 0 for one).
* combination: rows with positive integers u, `Σ u_i z_i = 0`. Then no w has z·w > 0 on all of them (Gordan),
  and a w with z·w >= 0 on them has z·w = 0 on them: positive multiples of these numbers add up to 0.
* span: every row of a set is a linear combination of a few. A form that is 0 on the few is then 0 on all.

Every check raises CertificateError and names the row.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import TypeGuard

import numpy as np
from numpy.typing import NDArray

from linsep import exact
from linsep.certificates.rows import Rows, Scannable, Values, can_scan
from linsep.errors import CertificateError, NotFiniteError, OverflowedError
from linsep.exact import IntegerRows, integer_rows, original_weights, rounding_factor
from linsep.signs import Form, exact_score, flat, form_of, is_exact, pieces, scores, signs
from linsep.tables import is_sparse

PRIME = (1 << 61) - 1


def check_shape(rows: Rows, n_rows: int, n_columns: int) -> None:
    """The table has the size that the proof speaks of."""
    if (rows.n_rows, rows.n_columns) != (n_rows, n_columns):
        raise CertificateError(
            f"The proof is about {n_rows} rows and {n_columns} columns; "
            f"the data has {rows.n_rows} rows and {rows.n_columns} columns."
        )


def check_names(stated: Sequence[str] | None, found: Sequence[str] | None) -> None:
    """Columns with names are those of a proof with names, in its order."""
    if stated is None or found is None or tuple(stated) == tuple(found):
        return
    place = next((j for j, (a, b) in enumerate(zip(stated, found, strict=False)) if a != b), 0)
    seen, known = f"{found[place]!r:.80}", f"{stated[place]!r:.80}"
    raise CertificateError(f"Column {place} is called {seen}; in the proof it is {known}.")


def check_finite(rows: Rows) -> None:
    """No row holds NaN or infinity: for claims that are checked without a look at every row."""
    if can_scan(rows) and rows.facts.is_finite:
        return
    for numbers, values, _ in rows.blocks():
        _require_finite(values, numbers)


def _require_finite(values: Values, numbers: NDArray[np.int64]) -> None:
    entries = values.data if is_sparse(values) else values
    if entries.dtype == object or not np.isfinite(entries).all():
        flat(values, numbers)  # raises, and names the row


def check_separator(rows: Rows, weights: Sequence[int], constant: int) -> None:
    """Every row lies strictly on its side."""
    form = form_of(weights, constant)
    if _is_worth_a_scan(rows) and is_exact(form) and _scan_is_clean(rows, form):
        return
    for numbers, side in _sides(rows, form):
        bad = np.flatnonzero(side <= 0)
        if len(bad):
            where = "on the hyperplane" if side[bad[0]] == 0 else "on the wrong side of the hyperplane"
            raise CertificateError(f"Row {numbers[bad[0]]} lies {where}: it is not separated.")


def _is_worth_a_scan(rows: Rows) -> TypeGuard[Scannable]:
    """Whether the rows score themselves, and are so many that it pays: few are scored here, with nothing to compile."""
    return can_scan(rows) and rows.n_rows * rows.n_columns > exact.FEW_CELLS


def _scan_is_clean(rows: Scannable, form: Form) -> bool:
    """Whether a source, asked to score all rows at its own speed, proves every sign positive."""
    w, b = form.floats[:-1], float(form.floats[-1])
    try:
        scan = rows.scan(w, b)
    except OverflowedError:
        return False
    return not scan.certain and bool((rows.take(scan.doubtful).exact_signs(w, b) > 0).all())


def check_weak_separator(rows: Rows, weights: Sequence[int], constant: int, *, named: bool = True) -> NDArray[np.int64]:
    """No row lies on the wrong side, and one lies strictly on its own; returns the numbers of all that do.

    Without `named` one of them is enough: nothing of the length of the data is kept.
    """
    strict: list[NDArray[np.int64]] = []
    for numbers, side in _sides(rows, form_of(weights, constant)):
        bad = np.flatnonzero(side < 0)
        if len(bad):
            raise CertificateError(f"Row {numbers[bad[0]]} lies on the wrong side of the weak separator.")
        if named or not strict:
            own = numbers[side > 0]
            strict += [own if named else own[:1]] if len(own) else []
    found = np.concatenate(strict) if strict else np.zeros(0, dtype=np.int64)
    if not len(found):
        raise CertificateError("Every row lies on the weak separator's hyperplane: it separates nothing.")
    return found


def check_same_rows(claimed: Sequence[int], found: NDArray[np.int64]) -> None:
    """The separated rows are exactly those that the separator puts strictly on their side."""
    if sorted(claimed) != sorted(found.tolist()):
        different = set(claimed) ^ set(found.tolist()) or set(claimed)
        row = min(different)
        raise CertificateError(f"Row {row}: the separated rows are not those strictly on their side.")


def _sides(rows: Rows, form: Form) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int8]]]:
    """Row numbers and the exact signs of z·w, block by block."""
    for numbers, values, y in rows.blocks():
        yield numbers, _signs(form, numbers, values) * y


def _signs(form: Form, numbers: NDArray[np.int64], values: Values) -> NDArray[np.int8]:
    try:
        return signs(form, values)
    except NotFiniteError as error:  # knows the place in the block; say the row
        raise NotFiniteError(int(numbers[error.row]), error.column, error.value) from None


def check_combination(rows: Rows, numbers: Sequence[int], weights: Sequence[int], bias: bool, what: str) -> None:
    """Positive multiples of the signed rows add up to zero in every column."""
    check_numbers(rows, numbers, weights, what)
    _require_zero(rows, numbers, _weighted_sum(weights, *_integer_table(rows, numbers, bias)), what)


def check_spread(rows: Rows, numbers: Sequence[int], weights: Sequence[int], bias: bool, what: str) -> None:
    """The same, and every row is a linear combination of these."""
    check_numbers(rows, numbers, weights, what)
    table = _integer_table(rows, numbers, bias)
    _require_zero(rows, numbers, _weighted_sum(weights, *table), what)
    _require_none(_outside_span(rows, bias, *table, most=1), what)


def _require_zero(rows: Rows, numbers: Sequence[int], totals: dict[int, tuple[int, int]], what: str) -> None:
    for column, (mantissa, _) in sorted(totals.items()):
        if mantissa:
            where = "the constant" if column == rows.n_columns else f"column {column}"
            raise CertificateError(
                f"The {what} (rows {_few(numbers)}) does not hold: its rows do not cancel in {where}."
            )


def check_numbers(rows: Rows, numbers: Sequence[int], weights: Sequence[int], what: str) -> None:
    """The rows exist, no row is named twice, and every weight is positive."""
    if not numbers or len(numbers) != len(weights):
        raise CertificateError(f"The {what} has {len(numbers)} rows and {len(weights)} weights.")
    seen: set[int] = set()
    for number, weight in zip(numbers, weights, strict=True):
        if not 0 <= number < rows.n_rows:
            raise CertificateError(f"The {what} names row {number}; the rows are 0 to {rows.n_rows - 1}.")
        if number in seen:
            raise CertificateError(f"The {what} names row {number} twice.")
        if weight <= 0:
            raise CertificateError(f"The {what} gives row {number} a weight that is not positive.")
        seen.add(number)


def _signed_sum(rows: Rows, numbers: Sequence[int], weights: Sequence[int], bias: bool) -> dict[int, tuple[int, int]]:
    """`Σ u z`, exactly, column by column (m·2^e); columns without entries are left out."""
    return _weighted_sum(weights, *_integer_table(rows, numbers, bias))


def _weighted_sum(weights: Sequence[int], columns: list[int], table: IntegerRows) -> dict[int, tuple[int, int]]:
    from flint import fmpz_mat

    highest = int(table.row_exponents.max(initial=0))
    multiples = [u << (highest - int(e)) for u, e in zip(weights, table.row_exponents, strict=True)]
    total = fmpz_mat([multiples]) * fmpz_mat(table.rows.tolist())
    exponents = (-highest - table.column_exponents).tolist()
    return {c: (int(m), e) for c, m, e in zip(columns, total.entries(), exponents, strict=True)}


def _integer_table(rows: Rows, numbers: Sequence[int], bias: bool) -> tuple[list[int], IntegerRows]:
    """The columns where the named rows have entries (the constant last), and the signed rows there as integers."""
    taken, values, y = rows.take(numbers)
    if [int(n) for n in taken] != list(numbers):
        raise CertificateError("The source did not hand over the rows it was asked for.")
    used = list(range(rows.n_columns))
    if is_sparse(values):
        used = np.unique(values.indices).tolist()
        values = values[:, used].toarray()
    _require_finite(values, taken)
    return [*used, *([rows.n_columns] if bias else [])], integer_rows(values, y, bias=bias)


def check_span(
    rows: Rows, numbers: Sequence[int], bias: bool, what: str, exempt: NDArray[np.int64] | None = None
) -> None:
    """Every row, except those in `exempt`, is a linear combination of the rows named."""
    outside = rows_outside_span(rows, numbers, bias, most=1 if exempt is None else None)
    if exempt is not None:
        outside = outside[~np.isin(outside, exempt)]
    _require_none(outside, what)


def _require_none(outside: NDArray[np.int64], what: str) -> None:
    if len(outside):
        raise CertificateError(f"Row {outside[0]} is not a linear combination of the rows of the {what}.")


def rows_outside_span(
    rows: Rows, numbers: Sequence[int], bias: bool, *, on: Form | None = None, most: int | None = None
) -> NDArray[np.int64]:
    """The rows that are no linear combination of the rows named: those where `on` is 0, the first `most` or more."""
    return _outside_span(rows, bias, *_integer_table(rows, numbers, bias), on=on, most=most)


def _outside_span(
    rows: Rows,
    bias: bool,
    columns: list[int],
    table: IntegerRows,
    *,
    on: Form | None = None,
    most: int | None = None,
) -> NDArray[np.int64]:
    columns, forms = _vanishing_forms(rows.n_columns, columns, table)
    if len(columns) == rows.n_columns + bias and not forms:
        return np.zeros(0, dtype=np.int64)  # the named rows span everything
    unused = np.ones(rows.n_columns, dtype=bool)
    unused[[c for c in columns if c < rows.n_columns]] = False
    found = []
    for block_numbers, values, _ in rows.blocks():
        strange = _has_entries(values, unused)
        for form in forms:
            strange |= _signs(form, block_numbers, values) != 0
        if on is not None:
            strange &= _signs(on, block_numbers, values) == 0
        found.append(block_numbers[strange])
        if most is not None and sum(map(len, found)) >= most:
            break
    return np.concatenate(found)


def _vanishing_forms(n_columns: int, columns: list[int], table: IntegerRows) -> tuple[list[int], list[Form]]:
    """The columns where the rows of the table have entries, and a basis of the forms on these that vanish there."""
    from flint import fmpz_mat, nmod_mat

    used = np.flatnonzero((table.rows != 0).any(axis=0))
    columns = [columns[k] for k in used]
    if not columns:
        return [], []
    matrix = fmpz_mat(table.rows[:, used].tolist())
    if nmod_mat(matrix, PRIME).rank() == len(columns) or matrix.rank() == len(columns):
        return columns, []  # a full rank modulo a prime is a full rank
    basis, nullity = matrix.nullspace()
    scaled = [[int(basis[i, k]) for i in range(len(columns))] for k in range(nullity)]
    vectors = [list(original_weights(vector, table.column_exponents[used])) for vector in scaled]
    return columns, [_spread_form(n_columns, columns, vector) for vector in vectors]


def _spread_form(n_columns: int, columns: list[int], vector: list[int]) -> Form:
    common = math.gcd(*vector)
    coefficients = [0] * (n_columns + 1)
    for column, value in zip(columns, vector, strict=True):
        coefficients[column] = value // common
    return form_of(coefficients[:-1], coefficients[-1])


def _has_entries(values: Values, columns: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which rows have a nonzero entry in the marked columns."""
    if not columns.any():
        return np.zeros(values.shape[0], dtype=bool)
    if is_sparse(values):
        hits = columns[values.indices] & (values.data != 0)
        rows = np.repeat(np.arange(values.shape[0]), np.diff(values.indptr))
        return np.bincount(rows[hits], minlength=values.shape[0]) > 0
    return np.asarray((values[:, columns] != 0).any(axis=1), dtype=bool)


# The margin: the distance of the nearest row to the hyperplane, min z·w / |w|, the constant not part of |w|.


def check_margin_low(rows: Rows, weights: Sequence[int], constant: int, low: float) -> None:
    """Every row is at least `low` away from the hyperplane, on its side."""
    form = form_of(weights, constant)
    if _is_worth_a_scan(rows) and is_exact(form) and _scanned_floor(rows, form) >= low * _length_above(form):
        return
    square, bound = sum(w * w for w in weights), Fraction(low)
    for number, score in _near_scores(rows, form, low):
        if score < 0 or score * score < bound * bound * square:
            raise CertificateError(f"Row {number} is nearer to the hyperplane than the proof's margin {low!r}.")


def _scanned_floor(rows: Scannable, form: Form) -> float:
    """A number that no z·w is below, in the units of the form's floats: a source's float scores less their error."""
    w, b = form.floats[:-1], float(form.floats[-1])
    try:
        scan = rows.scan(w, b)
    except OverflowedError:
        return -math.inf
    reach = _length_above(form) * math.sqrt(scan.longest2) + abs(b)
    if not 1e-140 < reach < 1e140 or not 1e-280 < scan.longest2 < 1e280:
        return -math.inf  # squares that may have left the range of doubles
    return float(min(scan.lowest)) - rounding_factor(2 * len(w) + 8) * reach * (1 + 2.0**-30)


def _length_above(form: Form) -> float:
    """|w| in the units of the form's floats, rounded up."""
    return math.hypot(*form.sizes[:-1].tolist()) * (1 + 2.0**-40)


def _near_scores(rows: Rows, form: Form, low: float) -> Iterator[tuple[int, Fraction]]:
    """The exact z·w of every row that floats cannot show to be at least `low·|w|`."""
    # |w| from above, in the units of the float scores; the factor pays for rounding `sizes` and the root.
    return _scores_up_to(rows, form, low * _length_above(form) * (1 + 2.0**-40))


def _scores_up_to(rows: Rows, form: Form, ceiling: float) -> Iterator[tuple[int, Fraction]]:
    """The exact z·w of every row that floats cannot show to be above the ceiling, in the units of float scores."""
    for numbers, values, y in rows.blocks():
        for part, piece in pieces(values):
            score, error = scores(form, piece)
            with np.errstate(all="ignore"):
                far = score * y[part] - error > ceiling
            near = np.flatnonzero(~far)
            yield from _exact_scores(form, piece[near], numbers[part][near], y[part][near])


def _exact_scores(
    form: Form, values: Values, numbers: NDArray[np.int64], y: NDArray[np.int8]
) -> Iterator[tuple[int, Fraction]]:
    table = flat(values, numbers)
    for k, number in enumerate(numbers.tolist()):
        mantissa, exponent = exact_score(form, *table.row(k))
        yield number, int(y[k]) * Fraction(mantissa) * Fraction(2) ** exponent


def check_margin_high(rows: Rows, numbers: Sequence[int], weights: Sequence[int], bias: bool, high: float) -> None:
    """No hyperplane has a margin above `high`: the named rows come as near to an obstruction as that."""
    check_numbers(rows, numbers, weights, "nearest pair")
    if squared_ceiling(rows, numbers, weights, bias) > Fraction(high) ** 2:
        raise CertificateError(f"The rows {_few(numbers)} do not show that the margin is at most {high!r}.")


def check_exact_margin(
    rows: Rows,
    weights: Sequence[int],
    constant: int,
    numbers: Sequence[int],
    multiples: Sequence[int],
    bias: bool,
    square: Fraction,
) -> None:
    """The squared margin of the hyperplane is `square`, and the named rows show that none is larger."""
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
        raise CertificateError(f"The nearest pair (rows {_few(numbers)}) needs rows of both classes.")
    balanced = [u * (minus if sign > 0 else plus) for u, sign in zip(weights, y, strict=True)]
    return _squared_length(_signed_sum(rows, numbers, balanced, False)) / Fraction(2 * plus * minus) ** 2


def squared_floor(rows: Rows, form: Form, square: int) -> Fraction:
    """(z·w)² / square for the row with the least z·w, from below; 0 or less where a row is on the wrong side.

    `square` is that length of the integer coefficients which distances are divided by.
    """
    least = least_score(rows, form)
    return least * abs(least) / square


def scanned_squared_floor(rows: Rows, form: Form) -> Fraction:
    """The same for homogenised rows, |W|² with the constant, at the speed of a scan; 0 where floats cannot tell."""
    if not (_is_worth_a_scan(rows) and is_exact(form)):
        return Fraction(0)
    low = _scanned_floor(rows, form) / (math.hypot(*form.sizes.tolist()) * (1 + 2.0**-40)) * (1 - 2.0**-40)
    return Fraction(low) ** 2 if low > 0 else Fraction(0)


def least_score(rows: Rows, form: Form) -> Fraction:
    """The smallest z·w of all rows, exactly; floats tell which rows it may be."""
    ceiling = math.inf
    for _, values, y in rows.blocks():
        for part, piece in pieces(values):
            score, error = scores(form, piece)
            with np.errstate(all="ignore"):
                ceiling = min(ceiling, float(np.nanmin(score * y[part] + error, initial=math.inf)))
    return min(score for _, score in _scores_up_to(rows, form, ceiling))


def squared_reach(rows: Rows, *, constant: bool) -> tuple[Fraction, Fraction]:
    """The squared length of the longest row, with a 1 appended if asked for: between two bounds, at any scale."""
    largest = longest = 0.0
    for _, values, _ in rows.blocks():
        entries = values.data if is_sparse(values) else values
        largest = max(largest, float(np.abs(entries.astype(np.float64)).max(initial=0.0)))
    exponent = -math.frexp(largest)[1]
    for _, values, _ in rows.blocks():
        for _, piece in pieces(values):
            squares = piece.astype(np.float64)
            entries = squares.data if is_sparse(piece) else squares
            entries[...] = np.ldexp(entries, exponent) ** 2
            longest = max(longest, float(squares.sum(axis=1).max(initial=0.0)))
    slack = Fraction(rows.n_columns + 8, 2**52)
    square = Fraction(longest) / Fraction(4) ** exponent
    return square * (1 - slack) + constant, square * (1 + slack) + constant


def _squared_length(vector: dict[int, tuple[int, int]]) -> Fraction:
    return sum((Fraction(m) ** 2 * Fraction(4) ** e for m, e in vector.values()), Fraction(0))


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
    high = root_above(squared_ceiling(rows, numbers, multiples, bias))
    if _is_worth_a_scan(rows) and is_exact(form):
        floor = _scanned_floor(rows, form)
        low = floor / _length_above(form) * (1 - 2.0**-40)
        if low > high * (1 - 2.0**-20):  # else it is worth finding out exactly
            return low, high
    return root_below(squared_floor(rows, form, square)), high


def root_below(square: Fraction) -> float:
    """The largest double whose square is at most `square`; negative input has no margin and gives 0."""
    if square <= 0:
        return 0.0
    root = _root(square)
    while Fraction(root) ** 2 > square:
        root = math.nextafter(root, 0.0)
    return root


def float_below(number: Fraction) -> float:
    """A double hardly below a positive number, and never above it."""
    nearest = _nearest(number)
    return math.nextafter(nearest, 0.0) if nearest == math.inf or Fraction(nearest) > number else nearest


def float_above(number: Fraction) -> float:
    """A double, infinity included, hardly above a positive number, and never below it."""
    nearest = _nearest(number)
    return math.nextafter(nearest, math.inf) if nearest < math.inf and Fraction(nearest) < number else nearest


def _nearest(number: Fraction) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.inf


def root_above(square: Fraction) -> float:
    """A double, infinity included, hardly above the root of `square` and never below it."""
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


def _few(numbers: Sequence[int]) -> str:
    shown = ", ".join(str(n) for n in numbers[:8])
    return shown if len(numbers) <= 8 else f"{shown} and {len(numbers) - 8} more"
