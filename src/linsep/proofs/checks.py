"""Does a claim hold for these rows? Exact checks from the data alone, however the claim was found.

With z = y·(x, 1), or z = y·x without bias:

* separator: z·w > 0 for every row (or >= 0 for every row and > 0 for one).
* combination: rows with positive integers u, `Σ u_i z_i = 0`. Then no w has z·w > 0 on all of them (Gordan),
  and a w with z·w >= 0 on them has z·w = 0 on them: positive multiples of these numbers add up to 0.
* span: every row of a set is a linear combination of a few. A form that is 0 on the few is then 0 on all.

Every check raises CertificateError and names the row.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from linsep import exact
from linsep.errors import CertificateError, NotFiniteError, OverflowedError
from linsep.exact import IntegerRows, Integers, integer_rows, nullspace, original_weights
from linsep.proofs.checked_rows import Block, MemoryRows, Rows, Scannable, Values, can_scan, each, end_of, names_of
from linsep.signs import Form, flat, form_of, is_exact, signs
from linsep.tables import is_sparse

LONG = 500  # columns: very many forms that are at least this long take too long
WORDY = 1 << 40  # with coefficients of this size, a score of 0 often needs integers longer than a word
AT_ONCE = 1 << 20  # entries of the rows that are solved for in one system


def check_shape(rows: Rows, n_rows: int, n_columns: int, stated: Sequence[str] | None = None) -> None:
    """The table has the size that the proof states."""
    if (rows.n_rows, rows.n_columns) != (n_rows, n_columns):
        extra = next((name for name in names_of(rows) or () if stated and name not in stated), None)
        name = f"{extra!r:.80}"
        advice = f" {name} is not a column of the proof: leave it out, or say ids={name} if it names the rows."
        raise CertificateError(
            f"The proof is about {n_rows} rows and {n_columns} columns; "
            f"the data has {rows.n_rows} rows and {rows.n_columns} columns." + (advice if extra is not None else "")
        )


def check_names(stated: Sequence[str] | None, found: Sequence[str] | None) -> None:
    """If the columns and the proof both have names, they are the same, in the same order."""
    if stated is None or found is None or tuple(stated) == tuple(found):
        return
    place = next((j for j, (a, b) in enumerate(zip(stated, found, strict=False)) if a != b), 0)
    seen, known = f"{found[place]!r:.80}", f"{stated[place]!r:.80}"
    raise CertificateError(f"Column {place} is called {seen}; in the proof it is {known}.")


def check_finite(rows: Rows) -> None:
    """No row holds NaN or infinity: for claims whose check does not read every row."""
    if rows.is_finite if isinstance(rows, MemoryRows) else can_scan(rows) and rows.facts.is_finite:
        return
    for _ in each(rows, _are_finite):
        pass


def _are_finite(block: Block) -> None:
    numbers, values, _ = block
    _require_finite(values, numbers)


def _require_finite(values: Values, numbers: NDArray[np.int64]) -> None:
    entries = values.data if is_sparse(values) else values
    if entries.dtype == object or not np.isfinite(entries).all():
        flat(values, numbers)  # raises, and names the row


def check_separator(rows: Rows, weights: Sequence[int], constant: int) -> None:
    """Every row lies strictly on its side."""
    form = form_of(weights, constant)
    if is_worth_a_scan(rows) and is_exact(form) and _scan_is_clean(rows, form):
        return
    for bad in each(rows, partial(_first_below, form, 1)):
        if bad is not None:
            where = "on the hyperplane" if bad[1] == 0 else "on the wrong side of the hyperplane"
            raise CertificateError(f"Row {bad[0]} lies {where}: it is not separated.")


def is_worth_a_scan(rows: Rows) -> TypeGuard[Scannable]:
    """Whether the rows can score themselves, and are so many that it pays; few are scored here, without a compiler."""
    return can_scan(rows) and rows.n_rows * rows.n_columns > exact.FEW_CELLS


def _scan_is_clean(rows: Scannable, form: Form) -> bool:
    """Whether a scan of the source, at its own speed, proves every sign positive."""
    w, b = form.floats[:-1], float(form.floats[-1])
    try:
        scan = rows.scan(w, b)
    except OverflowedError:
        return False
    if scan.certain or not scan.doubtful.size:
        return not scan.certain
    return bool((rows.take(scan.doubtful).exact_signs(w, b) > 0).all())


def check_weak_separator(rows: Rows, weights: Sequence[int], constant: int, *, named: bool = True) -> NDArray[np.int64]:
    """No row lies on the wrong side, and one lies strictly on its own; returns the numbers of all that do.

    Without `named`, only the first of them is kept, so that memory does not grow with the data.
    """
    strict: list[NDArray[np.int64]] = []
    for bad, own in each(rows, partial(_weak_sides, form_of(weights, constant), None if named else 1)):
        if bad is not None:
            raise CertificateError(f"Row {bad} lies on the wrong side of the weak separator.")
        if len(own) and (named or not strict):
            strict.append(own)
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


def _first_below(form: Form, least: int, block: Block) -> tuple[int, int] | None:
    """The first row of a block whose exact sign of z·w is below `least`, and that sign."""
    numbers, values, y = block
    side = row_signs(form, numbers, values) * y
    bad = np.flatnonzero(side < least)
    return (int(numbers[bad[0]]), int(side[bad[0]])) if len(bad) else None


def _weak_sides(form: Form, most: int | None, block: Block) -> tuple[int | None, NDArray[np.int64]]:
    """The first row of a block on the wrong side, and those strictly on their own: all of them, or the first."""
    numbers, values, y = block
    side = row_signs(form, numbers, values) * y
    bad = np.flatnonzero(side < 0)
    return (int(numbers[bad[0]]) if len(bad) else None), numbers[side > 0][:most]


def row_signs(form: Form, numbers: NDArray[np.int64], values: Values) -> NDArray[np.int8]:
    """The exact sign of the form on each row; NotFiniteError names the row."""
    try:
        return signs(form, values)
    except NotFiniteError as error:  # it names the place in the block, not the row
        raise error.at(row=int(numbers[error.row or 0])) from None


def check_combination(rows: Rows, numbers: Sequence[int], weights: Sequence[int], bias: bool, what: str) -> None:
    """Positive multiples of the signed rows add up to zero in every column."""
    check_numbers(rows, numbers, weights, what)
    _require_zero(rows, numbers, weighted_sum(weights, *integer_table(rows, numbers, bias)), what)


def check_spread(rows: Rows, numbers: Sequence[int], weights: Sequence[int], bias: bool, what: str) -> None:
    """The same, and every row is a linear combination of these."""
    check_numbers(rows, numbers, weights, what)
    table = integer_table(rows, numbers, bias)
    _require_zero(rows, numbers, weighted_sum(weights, *table), what)
    if len(numbers) < rows.n_rows:  # else every row is one of them
        _require_none(_outside_span(rows, bias, numbers, *table, most=1), what)


def _require_zero(rows: Rows, numbers: Sequence[int], totals: dict[int, tuple[int, int]], what: str) -> None:
    for column, (mantissa, _) in sorted(totals.items()):
        if mantissa:
            where = "the constant" if column == rows.n_columns else f"column {column}"
            raise CertificateError(
                f"The {what} (rows {few(numbers)}) does not hold: its rows do not cancel in {where}."
            )


def check_numbers(rows: Rows, numbers: Sequence[int], weights: Sequence[int], what: str) -> None:
    """The rows exist, no row is named twice, and every weight is positive."""
    if not numbers or len(numbers) != len(weights):
        raise CertificateError(f"The {what} has {len(numbers)} rows and {len(weights)} weights.")
    seen: set[int] = set()
    for number, weight in zip(numbers, weights, strict=True):
        if not 0 <= number < end_of(rows):
            raise CertificateError(f"The {what} names row {number}; the rows are 0 to {end_of(rows) - 1}.")
        if number in seen:
            raise CertificateError(f"The {what} names row {number} twice.")
        if weight <= 0:
            raise CertificateError(f"The {what} gives row {number} a weight that is not positive.")
        seen.add(number)


def weighted_sum(weights: Sequence[int], columns: list[int], table: IntegerRows) -> dict[int, tuple[int, int]]:
    """`Σ u z`, exactly, column by column (m·2^e); columns without entries are left out."""
    # No row's exponent is positive: each column's is the least that clears the fractions of exactly these rows.
    multiples = [u << -e for u, e in zip(weights, table.row_exponents.tolist(), strict=True)]
    exponents = (-table.column_exponents).tolist()
    return {c: (int(m), e) for c, m, e in zip(columns, _product(multiples, table.rows), exponents, strict=True)}


def _product(multiples: list[int], rows: Integers) -> list[Any]:
    """`Σ u z`, exactly: in 64 bits if they hold every sum, else in long integers."""
    if rows.dtype == np.int64 and rows.size:
        largest = max(int(rows.max()), -int(rows.min()), 1)
        if largest * sum(map(abs, multiples)) < 2**62:
            return list((np.array(multiples, np.int64) @ rows).tolist())
    from flint import fmpz_mat

    return list((fmpz_mat([multiples]) * fmpz_mat(rows.tolist())).entries())


def integer_table(rows: Rows, numbers: Sequence[int], bias: bool) -> tuple[list[int], IntegerRows]:
    """The columns where the named rows have entries (the constant last), and the signed rows there as integers."""
    _, values, y = taken(rows, numbers)
    used = list(range(rows.n_columns))
    if is_sparse(values):
        used = np.unique(values.indices).tolist()
        values = values[:, used].toarray()
    return [*used, *([rows.n_columns] if bias else [])], integer_rows(values, y, bias=bias)


def taken(rows: Rows, numbers: Sequence[int]) -> Block:
    """Exactly the rows named, which must be finite: (row numbers, values, signs)."""
    found, values, y = rows.take(numbers)
    if np.asarray(found).tolist() != list(numbers):
        raise CertificateError("The source did not return the rows that were requested.")
    _require_finite(values, found)
    return found, values, y


def check_span(
    rows: Rows, numbers: Sequence[int], bias: bool, what: str, exempt: NDArray[np.int64] | None = None
) -> None:
    """Every row, except those in `exempt`, is a linear combination of the rows named."""
    settled = numbers if exempt is None else np.concatenate([np.asarray(numbers, np.int64), exempt])
    _require_none(_outside_span(rows, bias, settled, *integer_table(rows, numbers, bias), most=1), what)


def _require_none(outside: NDArray[np.int64], what: str) -> None:
    if len(outside):
        raise CertificateError(f"Row {outside[0]} is not a linear combination of the rows of the {what}.")


def rows_outside_span(
    rows: Rows, numbers: Sequence[int], bias: bool, *, on: Form | None = None, most: int | None = None
) -> NDArray[np.int64]:
    """The rows that are not a linear combination of those named; only where `on` is 0, and the first `most` or more."""
    return _outside_span(rows, bias, numbers, *integer_table(rows, numbers, bias), on=on, most=most)


def _outside_span(
    rows: Rows,
    bias: bool,
    settled: Sequence[int] | NDArray[np.int64],
    columns: list[int],
    table: IntegerRows,
    *,
    on: Form | None = None,
    most: int | None = None,
) -> NDArray[np.int64]:
    """The rows outside the span of the table, except the `settled` ones.

    A row with an entry in a column where the table has none is outside. Only the others are tested by the forms that
    vanish on the table, which may be many and long.
    """
    columns, table = _used(columns, table)
    span: _Span | None = None
    if len(columns) == rows.n_columns + bias < LONG:  # no column is unused
        span = _Span(rows.n_columns, bias, columns, table)
        if span.is_everything:
            return np.zeros(0, np.int64)
    unused = np.ones(rows.n_columns, dtype=bool)
    unused[[c for c in columns if c < rows.n_columns]] = False
    while True:
        if span is not None and span.is_everything and not unused.any():
            return np.zeros(0, np.int64)
        found = _found_outside(rows, _Outside(np.asarray(settled, np.int64), unused, on, span), most)
        if found is not None:
            return found
        span = _Span(rows.n_columns, bias, columns, table)  # slow to compute, and often no row needs it


def _found_outside(rows: Rows, work: _Outside, most: int | None) -> NDArray[np.int64] | None:
    """The rows outside a span, the first `most` or more; None if some row needs the span and it is not known yet."""
    found = [np.zeros(0, np.int64)]
    for own in each(rows, work):
        if own is None:
            return None
        found.append(own)
        if most is not None and sum(map(len, found)) >= most:
            break
    return np.concatenate(found)


@dataclass(frozen=True, slots=True, eq=False)
class _Outside:
    """Finds the rows of a block outside a span; without the span, it knows only those with entries in other columns."""

    settled: NDArray[np.int64]
    unused: NDArray[np.bool_]
    on: Form | None
    span: _Span | None

    def __call__(self, block: Block) -> NDArray[np.int64] | None:
        """Their numbers; None if the span is needed but not known."""
        numbers, values, y = block
        asked = ~np.isin(numbers, self.settled)
        if self.on is not None:
            asked &= row_signs(self.on, numbers, values) == 0
        strange = has_entries(values, self.unused)
        doubtful = np.flatnonzero(asked & ~strange)
        if len(doubtful):
            if self.span is None:
                return None
            strange[doubtful] = self.span.lack(numbers, values, y, doubtful)
        return np.asarray(numbers[asked & strange])


class _Span:
    """The space that the rows of a table span, with a test whether other rows lie in it.

    The test is by forms that vanish on it. If these are long, and more than the rows of a basis, then instead each row
    is written as a combination of the basis, solved in columns where the basis is regular, and compared in the others.
    """

    def __init__(self, n_columns: int, bias: bool, columns: list[int], table: IntegerRows) -> None:
        self.n_columns, self.bias, self.columns, self.table = n_columns, bias, columns, table
        integers = table.rows.tolist()
        self.is_everything = not columns or exact.has_all_columns(integers)
        self.forms: list[Form] | None = []
        if self.is_everything:
            return
        self.basis = [integers[k] for k in exact.independent_rows(integers)]
        are_many = len(columns) - len(self.basis) > len(self.basis)
        forms = None if are_many and len(columns) >= LONG else _vanishing_forms(n_columns, columns, table)
        are_long = forms is None or (are_many and any(max(map(abs, form.coefficients)) >= WORDY for form in forms))
        self.forms = None if are_long else forms
        if are_long and self._lack(integers).any():  # the rank modulo the prime was too small
            self.forms = forms or _vanishing_forms(n_columns, columns, table)

    def lack(
        self, numbers: NDArray[np.int64], values: Values, y: NDArray[np.int8], places: NDArray[np.int64]
    ) -> NDArray[np.bool_]:
        """Which of the rows at these places of a block, all 0 in the other columns, are outside."""
        if self.forms is None:
            step = max(1, AT_ONCE // len(self.columns))
            parts = [self._solved(values[some], y[some]) for some in _slices(places, step)]
            return np.concatenate(parts)
        few = 2 * len(places) <= len(numbers)  # else copying them costs more than it saves
        outside = np.zeros(len(places) if few else len(numbers), bool)
        for form in self.forms:
            outside |= row_signs(form, numbers[places] if few else numbers, values[places] if few else values) != 0
        return outside if few else outside[places]

    def _solved(self, values: Values, y: NDArray[np.int8]) -> NDArray[np.bool_]:
        named = [c for c in self.columns if c < self.n_columns]
        some = values[:, named]
        dense = some.toarray() if is_sparse(some) else np.asarray(some)
        table = integer_rows(dense, y, bias=self.bias, column_exponents=self.table.column_exponents)
        return self._lack(table.rows.tolist())

    def _lack(self, rows: list[list[int]]) -> NDArray[np.bool_]:
        from flint import fmpz_mat

        if not self.basis:
            return np.array([any(row) for row in rows])
        regular = exact.independent_columns(self.basis)
        square = fmpz_mat([[row[j] for row in self.basis] for j in regular])
        numerators, denominator = exact.solve(square, fmpz_mat([[row[j] for row in rows] for j in regular]))
        away = numerators.transpose() * fmpz_mat(self.basis) - fmpz_mat(rows) * denominator
        return np.array([any(row) for row in away.tolist()])


def _slices(places: NDArray[np.int64], step: int) -> Iterator[NDArray[np.int64]]:
    for start in range(0, len(places), step):
        yield places[start : start + step]


def _used(columns: list[int], table: IntegerRows) -> tuple[list[int], IntegerRows]:
    """The columns and the table without the columns that are 0."""
    is_used = (table.rows != 0).any(axis=0)
    if is_used.all():
        return columns, table
    used = np.flatnonzero(is_used)
    return [columns[k] for k in used], table._replace(
        rows=table.rows[:, used], column_exponents=table.column_exponents[used]
    )


def _vanishing_forms(n_columns: int, columns: list[int], table: IntegerRows) -> list[Form]:
    """A basis of the forms on these columns that vanish on the rows of the table."""
    from flint import fmpz_mat

    basis, nullity = nullspace(fmpz_mat(table.rows.tolist()))
    scaled = [[int(basis[i, k]) for i in range(len(columns))] for k in range(nullity)]
    vectors = [original_weights(vector, table.column_exponents) for vector in scaled]
    return [_spread_form(n_columns, columns, vector) for vector in vectors]


def _spread_form(n_columns: int, columns: list[int], vector: Sequence[int]) -> Form:
    coefficients = [0] * (n_columns + 1)
    for column, value in zip(columns, vector, strict=True):
        coefficients[column] = value
    return form_of(coefficients[:-1], coefficients[-1])


def has_entries(values: Values, columns: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which rows have a nonzero entry in the marked columns."""
    if not columns.any():
        return np.zeros(values.shape[0], dtype=bool)
    if is_sparse(values):
        hits = columns[values.indices] & (values.data != 0)
        rows = np.repeat(np.arange(values.shape[0]), np.diff(values.indptr))
        return np.bincount(rows[hits], minlength=values.shape[0]) > 0
    return np.asarray((values[:, columns] != 0).any(axis=1), dtype=bool)


def few(numbers: Sequence[int]) -> str:
    """The first few row numbers, for a message."""
    shown = ", ".join(str(n) for n in numbers[:8])
    return shown if len(numbers) <= 8 else f"{shown} and {len(numbers) - 8} more"
