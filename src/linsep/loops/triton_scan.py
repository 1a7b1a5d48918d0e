"""The scan of rows on a GPU: one read, and a few numbers for each tile of rows. Imported only if Triton is installed.

Products and sums are in doubles, whatever the type of the rows: such a read is limited by memory, not by arithmetic.
"""

from typing import Any, NamedTuple

import triton
import triton.language as tl

STAGES = 3  # of the rows on their way


class Plan(NamedTuple):
    """How a program walks through its tile: so many rows and columns at once."""

    rows: int
    columns: int
    warps: int
    is_unrolled: bool


def plan_of(n_columns: int, bytes_each: int) -> Plan:
    """What was fastest on an H200: columns at once that are a power of two, few of them beyond the last."""
    if n_columns > 128:
        return Plan(2, 512, 2, False)
    if n_columns > 64 and bytes_each == 8:
        return Plan(8, 128, 1, True)
    if n_columns & (n_columns - 1) or n_columns < 4:
        return Plan(32, 32, 4, True)
    return Plan(4096 // n_columns, n_columns, 4, True)


@triton.jit
def _part(table, weights, rows, is_row, first, N_COLUMNS: tl.constexpr, COLUMNS: tl.constexpr, LENGTHS: tl.constexpr):
    """The parts of x·w and |x|² that some columns are."""
    columns = first + tl.arange(0, COLUMNS)
    is_column = columns < N_COLUMNS
    w = tl.load(weights + columns, mask=is_column, other=0.0)
    places = rows[:, None] * N_COLUMNS + columns[None, :]
    x = tl.load(table + places, mask=is_row[:, None] & is_column[None, :], other=0.0).to(tl.float64)
    score = tl.sum(x * w[None, :], axis=1)
    length2 = tl.sum(x * x, axis=1) if LENGTHS else score
    return score, length2


@triton.jit
def _scan(
    table, signs, weights, n_rows, minus, plus, mistakes, certain, doubtful, strange, longest, scores,
    N_COLUMNS: tl.constexpr, TILE: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr, STAGES: tl.constexpr,
    UNROLLED: tl.constexpr, LENGTHS: tl.constexpr, STORE: tl.constexpr,
):  # fmt: skip
    tile = tl.program_id(0).to(tl.int64)
    bias = tl.load(weights + N_COLUMNS)  # a number handed over as such would be rounded to a float32
    near = tl.load(weights + N_COLUMNS + 1)
    infinity = float("inf")
    lowest_minus = tl.full([ROWS], infinity, tl.float64)
    lowest_plus = tl.full([ROWS], infinity, tl.float64)
    length = tl.zeros([ROWS], tl.float64)
    wrong = tl.zeros([ROWS], tl.int32)
    sure = tl.zeros([ROWS], tl.int32)
    close = tl.zeros([ROWS], tl.int32)
    odd = tl.zeros([ROWS], tl.int32)
    for step in tl.range(0, TILE, ROWS, num_stages=STAGES):
        rows = tile * TILE + step + tl.arange(0, ROWS)
        is_row = rows < n_rows
        y = tl.load(signs + rows, mask=is_row, other=1).to(tl.float64)
        score = tl.zeros([ROWS], tl.float64)
        length2 = tl.zeros([ROWS], tl.float64)
        if UNROLLED:
            for first in tl.static_range(0, N_COLUMNS, COLUMNS):
                more, more2 = _part(table, weights, rows, is_row, first, N_COLUMNS, COLUMNS, LENGTHS)
                score += more
                length2 += more2
        else:
            for first in range(0, N_COLUMNS, COLUMNS):
                more, more2 = _part(table, weights, rows, is_row, first, N_COLUMNS, COLUMNS, LENGTHS)
                score += more
                length2 += more2
        score = y * (score + bias)
        is_finite = tl.abs(score) < infinity
        odd += (is_row & (is_finite == 0)).to(tl.int32)
        if STORE:
            tl.store(scores + rows, score, mask=is_row)
        counted = is_row & is_finite
        wrong += (counted & (score <= 0)).to(tl.int32)
        sure += (counted & (score < -near)).to(tl.int32)
        close += (counted & (tl.abs(score) <= near)).to(tl.int32)
        lowest_minus = tl.minimum(lowest_minus, tl.where(counted & (y < 0), score, infinity))
        lowest_plus = tl.minimum(lowest_plus, tl.where(counted & (y > 0), score, infinity))
        if LENGTHS:
            length = tl.maximum(length, tl.where(is_row, length2, 0.0))
    tl.store(minus + tile, tl.min(lowest_minus, axis=0))
    tl.store(plus + tile, tl.min(lowest_plus, axis=0))
    tl.store(mistakes + tile, tl.sum(wrong, axis=0))
    tl.store(certain + tile, tl.sum(sure, axis=0))
    tl.store(doubtful + tile, tl.sum(close, axis=0))
    tl.store(strange + tile, tl.sum(odd, axis=0))
    if LENGTHS:
        tl.store(longest + tile, tl.max(length, axis=0))


def scan(table: Any, signs: Any, weights: Any, out: Any, *, tile: int, lengths: bool) -> None:
    """Fill in what `out` has a tensor for, tile by tile; its `scores`, one for each row, only if it has any.

    `weights` are those of the columns, the bias, and how near to 0 a score is in doubt: all of them doubles.
    """
    n_rows, n_columns = table.shape
    plan = plan_of(n_columns, table.element_size())
    stored = out.minus if out.scores is None else out.scores
    _scan[(out.minus.numel(),)](
        table, signs, weights, n_rows,
        out.minus, out.plus, out.mistakes, out.certain, out.doubtful, out.strange, out.longest, stored,
        N_COLUMNS=n_columns, TILE=tile, ROWS=min(tile, plan.rows), COLUMNS=plan.columns, STAGES=STAGES,
        UNROLLED=plan.is_unrolled, LENGTHS=lengths, STORE=out.scores is not None, num_warps=plan.warps,
    )  # fmt: skip
