"""Peeling: rows that a single column puts on their side are removed before any solver starts.

    While some column is pure, that is, its signed entries y·x_ij in the remaining rows all have one sign:
    remove every row that a pure column touches (has an entry other than zero in).

Theorem. If w separates the remaining rows, then some w' separates all rows. If w is zero on the remaining rows,
so is w', and every peeled row is strictly on its side of w'.

Proof. Let p_t hold the signs (-1 or +1) of the columns that are pure in round t, and zeros. A row z peeled in round
t has z·p_t > 0, and z·p_s = 0 for s < t: it would have been peeled in round s. The remaining rows have z·p_t = 0 for
all t. So w' = w + c_T·p_T + ... + c_1·p_1 leaves the scores of the remaining rows as they are; and if c_T, ..., c_1
are chosen in this order, each so large that the rows of its own round are positive, later choices change none.

The bias is a column like any other, with entries y: it is pure when only one class is left. Text and other sparse data
are often removed completely in a few rounds; in ordinary dense data, every column shows both signs in the first few
rows.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep import loops
from linsep.solvers.clock import Clock
from linsep.sources.base import Block, Ints, Signs, Source, in_one_block
from linsep.sources.row_set import Marks

AT_HAND = 1 << 16  # this many rows of a source in parts may be copied into memory

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Level:
    """One round: the pure columns in order (n_columns stands for the bias), their signs, the rows they touch."""

    columns: Ints
    signs: Signs
    rows: Ints | Marks

    @property
    def size(self) -> int:
        """How many rows were removed."""
        return self.rows.count() if isinstance(self.rows, Marks) else len(self.rows)


@dataclass(frozen=True, slots=True)
class Peeling:
    """The rows removed, round after round, and what is left.

    `rest` are the remaining rows, None for all rows; many rows of a source in parts are marks. `columns` are those
    that still have an entry other than zero in some remaining row; the bias is not among them.
    """

    levels: tuple[Level, ...]
    rest: Ints | Marks | None
    columns: Ints

    @property
    def is_empty(self) -> bool:
        """Whether nothing is left."""
        return isinstance(self.rest, np.ndarray) and not self.rest.size


def peel(source: Source, *, bias: bool, clock: Clock | None = None) -> Peeling:
    """Remove the rows that pure columns touch, in rounds, all pure columns at once. Values must be finite.

    Raises OutOfTime at the clock's limit.

    >>> from linsep.sources.inputs import as_source
    >>> peeling = peel(as_source([[1, 2, 0], [0, 1, 3], [0, -1, 2], [0, 0, 1]], [1, 1, 1, -1]), bias=False)
    >>> [(level.columns.tolist(), level.rows.tolist()) for level in peeling.levels]
    [([0], [0])]
    >>> peeling.rest.tolist(), peeling.columns.tolist()
    ([1, 2, 3], [1, 2])
    """
    clock = clock or Clock()
    whole = in_one_block(source)
    if whole is not None:
        return _peel_block(whole, bias, clock)
    peeling = _in_parts(source, bias, clock)
    if not isinstance(peeling.rest, np.ndarray) or not peeling.rest.size:
        return peeling
    tail = _peel_block(source.take(peeling.rest), bias, clock)
    return Peeling(peeling.levels + tail.levels, peeling.rest if tail.rest is None else tail.rest, tail.columns)


def lift(source: Source, peeling: Peeling, weights: Sequence[int], bias_weight: int) -> tuple[tuple[int, ...], int]:
    """From weights for the remaining rows to weights for all rows: w' of the theorem, in exact integers.

    `weights` has one integer for each column of the source; only those of `peeling.columns` are read. If they
    separate the remaining rows, the result separates all rows. If they are all zero (and the bias too), the result
    is zero on the remaining rows and strictly positive on every peeled row: a weak separator, and a separator when
    nothing remains.

    >>> from linsep.sources.inputs import as_source
    >>> source = as_source([[1, 2, 0], [0, 1, 3], [0, -1, 2], [0, 0, 1]], [1, 1, 1, -1])
    >>> lift(source, peel(source, bias=True), [0, 0, 0], 0)
    ((1, 0, 0), 0)
    """
    lifted = _Weights(peeling, weights, bias_weight)
    for level, asked in _last_first(source, peeling.levels):
        lifted.add(level, asked)
    return tuple(lifted.integers[:-1]), lifted.integers[-1]


# Rounds -------------------------------------------------------------------------------------------


def _peel_block(block: Block, bias: bool, clock: Clock) -> Peeling:
    """All rounds on rows in memory."""
    if block.is_sparse:
        return _cascade(block, bias)
    return _in_rounds(block, bias, clock)


def _in_parts(source: Source, bias: bool, clock: Clock) -> Peeling:
    """Two walks over a source in parts for each round, until no column is pure or the rows left can be copied."""
    alive, n_columns = Marks(source.n_rows, marked=True), source.n_columns
    levels: list[Level] = []
    while True:
        clock.check()
        seen = _none_seen(n_columns, bias)
        for own in source.each(_signs_in, alive):
            seen |= own
            if np.all(seen == loops.peeling.BOTH):
                break
        pure = np.flatnonzero((seen == loops.peeling.POSITIVE) | (seen == loops.peeling.NEGATIVE))
        if not pure.size or (levels and alive.count() <= AT_HAND):
            return Peeling(tuple(levels), _few_or_marks(alive) if levels else None, np.flatnonzero(seen[:-1]))
        touched = _touched_marks(source, alive, pure)
        alive = alive.without(touched)
        signs = np.where(seen[pure] == loops.peeling.POSITIVE, 1, -1).astype(np.int8)
        levels.append(Level(pure, signs, _few_or_marks(touched)))


def _signs_in(block: Block, alive: Flags) -> npt.NDArray[np.uint8]:
    """The signs that occur in each column of the rows alive of a block, as bits; the bias last."""
    seen = np.zeros(block.n_columns + 1, np.uint8)
    loops.peeling.see_signs(block.table, block.y, alive, seen)
    return seen


def _touched_marks(source: Source, alive: Marks, pure: Ints) -> Marks:
    """The marks of the rows alive that a pure column touches; the bias touches all."""
    if pure[-1] == source.n_columns:
        return alive
    touched = Marks(alive.n_rows)
    for first, n_rows, bits in source.each(partial(_touched_in, pure), alive):
        touched.put(first, np.unpackbits(bits, count=n_rows).view(np.bool_))
    return touched


def _touched_in(pure: Ints, block: Block, alive: Flags) -> tuple[int, int, npt.NDArray[np.uint8]]:
    """The number of the first row of a block, how many there are, and as bits which are touched."""
    return int(block.numbers[0]), len(block), np.packbits(loops.peeling.touched_rows(block.table, alive, pure))


def _few_or_marks(marks: Marks) -> Ints | Marks:
    """Row numbers if they are few, else the marks: whichever is smaller."""
    return marks.rows() if marks.count() <= max(AT_HAND, marks.n_rows // 64) else marks


def _in_rounds(block: Block, bias: bool, clock: Clock) -> Peeling:
    """Two walks over the rows for each round, until no column is pure."""
    numbers, n_columns = block.numbers, block.n_columns
    alive = np.ones(len(numbers), np.bool_)
    levels: list[Level] = []
    while True:
        clock.check()
        seen = _none_seen(n_columns, bias)
        loops.peeling.see_signs(block.table, block.y, alive, seen)
        pure = np.flatnonzero((seen == loops.peeling.POSITIVE) | (seen == loops.peeling.NEGATIVE))
        if not pure.size:
            return Peeling(tuple(levels), _chosen(numbers, alive) if levels else None, np.flatnonzero(seen[:-1]))
        is_all = pure[-1] == n_columns  # the bias touches all
        touched = alive.copy() if is_all else loops.peeling.touched_rows(block.table, alive, pure)
        alive &= ~touched
        levels.append(
            Level(
                pure, np.where(seen[pure] == loops.peeling.POSITIVE, 1, -1).astype(np.int8), _chosen(numbers, touched)
            )
        )


def _none_seen(n_columns: int, bias: bool) -> npt.NDArray[np.uint8]:
    """No signs seen yet in any column, the bias last; a bias that is not used counts as mixed."""
    seen = np.zeros(n_columns + 1, np.uint8)
    seen[-1] = 0 if bias else loops.peeling.BOTH
    return seen


def _cascade(block: Block, bias: bool) -> Peeling:
    """All rounds on sparse rows, for the work of one round."""
    counts = np.zeros((2, block.n_columns + 1), np.int64)
    loops.peeling.count_signs(block.table, block.y, counts)
    is_pure = (counts[0] == 0) != (counts[1] == 0)
    if not is_pure[: block.n_columns + bias].any():
        return Peeling((), None, np.flatnonzero(counts[:, :-1].any(axis=0)))
    starts = np.concatenate([[0], np.cumsum(counts[:, :-1].sum(axis=0))])
    row_of = np.empty(starts[-1], np.uint32 if len(block) < 1 << 32 else np.uint64)
    loops.peeling.rows_by_column(block.table, starts, row_of)
    columns, signs, column_ends, rows, row_ends, rest = loops.peeling.cascade(
        block.table, block.y, counts, starts, row_of, bias
    )
    rows, rest = _chosen(block.numbers, rows), _chosen(block.numbers, rest)
    edges = zip(pairwise(column_ends.tolist()), pairwise(row_ends.tolist()), strict=True)
    levels = tuple(Level(columns[c:d], signs[c:d], rows[r:s]) for (c, d), (r, s) in edges)
    return Peeling(levels, rest, np.flatnonzero(counts[:, :-1].any(axis=0)))


def _chosen(numbers: range | Ints, places: Ints | Flags) -> Ints:
    """The row numbers at these places."""
    if not isinstance(numbers, range):
        return numbers[places]
    return numbers.start + (np.flatnonzero(places) if places.dtype == np.bool_ else places)


# Weights ------------------------------------------------------------------------------------------


class _Weights:
    """Integer weights, the bias last, with the forms that the compiled loop reads: doubles, and mantissa·2^exponent.

    The doubles are infinite for weights beyond their range. All three are kept up to date.
    """

    def __init__(self, peeling: Peeling, weights: Sequence[int], bias_weight: int) -> None:
        places = len(weights) + 1
        self.integers = [0] * places
        self.mantissas, self.exponents, self.doubles = np.zeros(places), np.zeros(places, np.int64), np.zeros(places)
        self._is_pure = np.zeros(places, np.bool_)
        for j in peeling.columns.tolist():
            self._set(j, int(weights[j]))
        if not peeling.is_empty:
            self._set(-1, int(bias_weight))

    def add(self, level: Level, asked: Source | Block) -> None:
        """Add c·p for the pure columns of a level, c a power of two so large that all its rows are positive.

        `asked` is the source of all rows, or a block that holds those of the level.
        """
        self._is_pure[level.columns] = True
        weights = (self.doubles, self.mantissas, self.exponents)
        if isinstance(asked, Block):
            places = _places(asked, level.rows)
            exponent = int(loops.peeling.needed_exponent(asked.table, asked.y, places, weights, self._is_pure))
        else:
            marks = level.rows if isinstance(level.rows, Marks) else Marks.of_rows(asked.n_rows, level.rows)
            exponent = max(asked.each(partial(_needed_in, weights, self._is_pure), marks))
        self._is_pure[level.columns] = False
        for j, sign in zip(level.columns.tolist(), level.signs.tolist(), strict=True):
            self.integers[j] = sign << exponent
        self.mantissas[level.columns] = level.signs * 0.5
        self.exponents[level.columns] = exponent + 1
        self.doubles[level.columns] = level.signs * (2.0**exponent if exponent < 1024 else np.inf)

    def _set(self, j: int, weight: int) -> None:
        exponent = weight.bit_length()
        shift = max(0, exponent - 64)  # towards zero, at most one unit in 2^63
        mantissa = float(abs(weight) >> shift) * 2.0 ** (shift - exponent) * (1 if weight > 0 else -1)
        self.integers[j], self.mantissas[j], self.exponents[j] = weight, mantissa, exponent
        self.doubles[j] = math.ldexp(mantissa, exponent) if exponent <= 1023 else mantissa * np.inf


def _needed_in(weights: tuple[Any, ...], is_pure: Flags, block: Block, flags: Flags) -> int:
    """The exponent that the flagged rows of a block need."""
    return int(loops.peeling.needed_exponent(block.table, block.y, np.flatnonzero(flags), weights, is_pure))


def _last_first(source: Source, levels: Sequence[Level]) -> Iterator[tuple[Level, Source | Block]]:
    """The levels from the last to the first, each with the source or block to ask about its rows.

    A source in parts is walked once for each large level; the rows of small levels are fetched together.
    """
    whole = in_one_block(source)
    remaining = list(levels)
    while remaining:
        batch = [remaining.pop()]
        rows = batch[0].size
        while whole is None and remaining and rows + remaining[-1].size <= AT_HAND:
            batch.append(remaining.pop())
            rows += batch[-1].size
        asked: Source | Block = source if whole is None else whole
        if whole is None and rows <= AT_HAND:
            named = [level.rows for level in batch if isinstance(level.rows, np.ndarray)]
            asked = source.take(np.sort(np.concatenate(named)))
        yield from ((level, asked) for level in batch)


def _places(block: Block, rows: Ints | Marks) -> Ints:
    """The positions in the block of those of these rows that it holds. Both are in increasing order."""
    if isinstance(rows, Marks):
        return rows.positions(block)
    first, last = np.searchsorted(rows, [block.numbers[0], block.numbers[-1] + 1])
    inside = rows[first:last]
    if isinstance(block.numbers, range):
        return inside - block.numbers.start
    return np.searchsorted(block.numbers, inside)
