"""Which columns are linear combinations of the columns before them? Exactly, for all rows.

Such a column adds nothing to a linear model, and its coefficient is not determined by any data: statisticians call it
aliased. As in R, the intercept comes first and the earlier of two columns stays.

A few rows show which columns are independent on them, hence on all rows. For each other column they give the only
combination of the earlier ones that it can be, which is then checked on every row of the source. A row where it fails
increases the rank, so after at most as many rounds as there are columns every combination holds.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np
from flint import fmpz_mat

from linsep.exact import independent_columns, integer_rows, require_elimination
from linsep.signs import Form, form_of, signs
from linsep.solvers.clock import Clock
from linsep.sources.base import Block, Source
from linsep.tables import is_sparse

INTERCEPT = -1  # the number of the column of ones, which comes before all others
SAMPLE = 3  # rows per column to begin with
MOST_ENTRIES, MOST_BITS = 4_000_000, 3_000_000_000  # of the rows used; of the combinations, roughly


class TooLarge(Exception):  # noqa: N818 - not an error: the answer is then unknown
    """The combinations would have too many numbers, or too long ones, to be useful."""


@dataclass(frozen=True, slots=True)
class Alias:
    """A column that is Σ factor·(earlier column) in every row; without terms it is zero."""

    column: int
    terms: tuple[tuple[int, Fraction], ...]

    def form(self, n_columns: int) -> Form:
        """The combination minus the column, with integer coefficients: 0 in every row."""
        common = math.lcm(*(factor.denominator for _, factor in self.terms))
        coefficients = [0] * (n_columns + 1)  # the constant last, where INTERCEPT points
        coefficients[self.column] = -common
        for column, factor in self.terms:
            coefficients[column] = int(factor * common)
        return form_of(coefficients[:-1], coefficients[-1])


def find_aliases(source: Source, *, bias: bool, clock: Clock) -> tuple[Alias, ...]:
    """The aliased columns of the source, in order."""
    rows = source.sample(SAMPLE * (source.n_columns + bias), seed=0)
    while True:
        clock.check()
        aliases = _aliases_in(rows, bias)
        against = [] if len(rows) >= source.n_rows else _objections(source, aliases, clock)
        if not against:
            return aliases
        rows = rows + source.take(against)


def _aliases_in(rows: Block, bias: bool) -> tuple[Alias, ...]:
    """The aliased columns of a few rows."""
    if len(rows) * rows.n_columns > MOST_ENTRIES:
        raise TooLarge
    values = rows.values.toarray() if is_sparse(rows.values) else rows.values
    table = integer_rows(values, bias=bias)
    columns = [INTERCEPT, *range(rows.n_columns)] if bias else list(range(rows.n_columns))
    exponents = [int(table.column_exponents[c]) for c in columns]
    integers = table.rows[:, columns].tolist()
    rank = len(independent_columns(integers))
    if rank == len(columns):
        return ()  # independent modulo a prime is independent
    longest = max(int(n).bit_length() for n in (table.rows.max(initial=0), table.rows.min(initial=0)))
    if rank * rank * longest * (len(columns) - rank) > MOST_BITS:
        raise TooLarge
    matrix = fmpz_mat(integers)
    require_elimination(matrix)
    echelon, denominator, rank = matrix.rref()
    pivots: list[int] = []
    aliases = []
    for k, column in enumerate(columns):
        if len(pivots) < rank and echelon[len(pivots), k]:
            pivots.append(k)
            continue
        terms = [
            (columns[p], Fraction(int(echelon[i, k]), int(denominator)) * Fraction(2) ** (exponents[p] - exponents[k]))
            for i, p in enumerate(pivots)
        ]
        aliases.append(Alias(column, tuple((c, factor) for c, factor in terms if factor)))
    return tuple(aliases)


def _objections(source: Source, aliases: tuple[Alias, ...], clock: Clock) -> list[int]:
    """For each alias that does not hold in all rows, the first row where it fails."""
    found = set()
    for alias in aliases:
        clock.check()
        clock.reads += 1
        form = alias.form(source.n_columns)
        first = next((row for row in source.each(partial(_first_off, form)) if row is not None), None)
        if first is not None:
            found.add(first)
    return sorted(found)


def _first_off(form: Form, block: Block) -> int | None:
    """The first row of a block where the form is not 0."""
    off = np.flatnonzero(signs(form, block.values))
    return int(block.numbers[int(off[0])]) if len(off) else None
