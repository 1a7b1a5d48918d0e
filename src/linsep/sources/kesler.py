"""Kesler's rows: the joint question about many classes as a question about signed rows that are never all stored.

    Are there w_1, ..., w_K (and biases) such that on every row the score of its own class is strictly the largest?
    A row x of class c gives a row for each other class k:  +x in the block of c, -x in that of k, 0 elsewhere.
    One vector, all blocks side by side, is positive on all of these exactly if the answer is yes.

Adding the same vector to every w_k changes no difference, so w of the first class is 0 and has no block; where lengths
matter, as for a margin, `all_blocks` keeps it. With a bias, x has a 1 at its end. Row i gives the derived rows
i·(K - 1) to i·(K - 1) + K - 2, one for each other class in order; all count as +1.

A scan multiplies the rows by all w_k at once and compares; blocks and derived rows are made on demand.
Nilsson, Learning Machines (1965), section 4.3: the construction is due to Carl Kesler.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from linsep import exact
from linsep.errors import ArgumentError
from linsep.loops.layouts import Csr, Dense
from linsep.sources.base import Array, Block, Floats, Ints, Label, Scan, Source, Table, positions, refusal

WON: tuple[Label, Label] = ("lost", "won")  # the labels of derived rows: all of them should be won
FEW_CLASSES = 4  # up to this many, dense rows stay dense: half of each derived row is not 0
ENTRIES = 1 << 22  # of derived rows or scores made at a time


class KeslerSource(Source):
    """The derived rows of any source of finite numbers, with any number of classes."""

    def __init__(self, source: Source, *, bias: bool, all_blocks: bool = False) -> None:
        facts, others = source.facts, len(source.facts.labels) - 1
        self._source, self._others, self._bias = source, others, bias
        self._width, self._first = facts.n_columns + bias, int(not all_blocks)
        n_blocks = others + all_blocks
        scales = None if facts.scales is None else (*facts.scales, *((1,) if bias else ())) * n_blocks
        bits = None if facts.integer_bits is None else max(facts.integer_bits, int(bias))
        self.facts = replace(
            facts,
            n_rows=facts.n_rows * others,
            n_columns=self._width * n_blocks,
            labels=WON,
            names=None,
            ids=None,
            scales=scales,
            integer_bits=bits,
            is_finite=True,
            at_hand=None if facts.at_hand is None else max(1, facts.at_hand // 2),
        )

    def scan(self, w: Floats, b: float, *, worst: int = 0) -> Scan:
        """Read every row once with all w_k, where the data are."""
        found = [self._scanned(scored, worst) for scored in self._scored(w, b)]
        scores = np.concatenate([part.lowest for part in found])
        numbers = np.concatenate([part.lowest_rows for part in found])
        first = np.lexsort((numbers, scores))[:worst]
        return Scan(
            rows=self.n_rows,
            mistakes=sum(part.mistakes for part in found),
            certain=sum(part.certain for part in found),
            lowest=(np.inf, min(part.least for part in found)),
            longest2=max(part.longest2 for part in found),
            wanted=worst,
            worst=self.take(numbers[first]),
            worst_scores=scores[first],
            doubtful=np.concatenate([part.doubtful for part in found]),
        )

    def blocks(self, random: np.random.Generator | None = None) -> Iterator[Block]:
        """The derived rows of some rows at a time, in order."""
        for block in self._parts(random, 2 * self._others):
            rows = np.repeat(np.arange(len(block)), self._others)
            numbers = self._numbers(block)
            known = range(int(numbers[0]), int(numbers[-1]) + 1) if isinstance(block.numbers, range) else numbers
            yield self._derived(block, rows, numbers % self._others, known)

    def take(self, rows: Sequence[int] | Ints) -> Block:
        """These derived rows, in this order."""
        numbers = np.asarray(rows, np.int64)
        own, places = np.unique(numbers // self._others, return_inverse=True)
        return self._derived(self._source.take(own), places, numbers % self._others, numbers)

    def _parts(self, random: np.random.Generator | None, times: int) -> Iterator[Block]:
        """The rows of the source, few enough at a time for `times` their entries to fit in memory."""
        for block in self._source.blocks(random):
            table = block.table
            entries = table.values.size if isinstance(table, Dense) else table.data.size
            step = max(1, ENTRIES * len(block) // max(1, times * (entries + len(block))))
            if step >= len(block):
                yield block
                continue
            for start in range(0, len(block), step):
                yield _sliced(block, start, min(len(block), start + step))

    def _numbers(self, block: Block) -> Ints:
        """The numbers of all derived rows of a block, in order."""
        return (block.row_numbers[:, None] * self._others + np.arange(self._others)).ravel()

    def _derived(self, block: Block, rows: Ints, others: Ints, numbers: range | Ints) -> Block:
        """For each of these rows of the block, the derived row against the other class of this rank."""
        own = positions(block.y, self._others + 1)[rows]
        other = others + (others >= own)
        build = _sparse
        if isinstance(block.table, Dense) and self._others < FEW_CLASSES:
            build = _dense
        table = build(block, self._bias, self.n_columns, rows, own - self._first, other - self._first)
        return Block(table, np.ones(len(rows), np.int8), numbers, self.n_columns)

    def _scored(self, w: Floats, b: float) -> Iterator["_Scored"]:
        """The scores of the derived rows, in floats, and how far each may be off."""
        weights = np.zeros((self._others + 1, self._width))
        weights[self._first :] = np.asarray(w, np.float64).reshape(-1, self._width)
        d = self._source.n_columns
        for block in self._parts(None, 1):
            values = _in_doubles(block.values)
            own = positions(block.y, self._others + 1)[:, None]
            rows = np.arange(len(block))[:, None]
            others = np.arange(self._others) + (np.arange(self._others) >= own)
            with np.errstate(all="ignore"):
                scores = np.asarray(values @ weights[:, :d].T)
                sizes = np.asarray(abs(values) @ abs(weights[:, :d]).T)
                squares = (values * values).sum(axis=1)  # entry by entry, for sparse arrays too
                if self._bias:
                    scores, sizes = scores + weights[:, d], sizes + abs(weights[:, d])
                lead = scores[rows, own] - scores[rows, others] + b
                size = sizes[rows, own] + sizes[rows, others] + abs(b)
            if not np.isfinite(lead).all():
                raise refusal(self._source, int(block.row_numbers[int(np.argmin(np.isfinite(lead).all(axis=1)))]))
            terms = self._width + 8  # a rounding for each product, sum and difference, and for long integers
            error = exact.rounding_factor(2 * terms + 2) * size + 2 * terms * exact.SMALLEST
            twice = 1 + ((own.ravel() >= self._first) & (self._others >= 1 + self._first))
            longest2 = float(((np.asarray(squares).ravel() + self._bias) * twice).max(initial=0.0))
            yield _Scored(self._numbers(block), lead.ravel(), error.ravel(), longest2)

    def _scanned(self, scored: "_Scored", worst: int) -> "_Part":
        scores, is_doubtful = scored.scores, np.abs(scored.scores) <= scored.errors
        places = np.arange(len(scores))
        if worst < len(scores):
            places = np.argpartition(scores, worst)[:worst] if worst else places[:0]
        return _Part(
            mistakes=int(np.count_nonzero(scores <= 0)),
            certain=int(np.count_nonzero((scores < 0) & ~is_doubtful)),
            least=float(scores.min(initial=np.inf)),
            longest2=scored.longest2,
            lowest=scores[places],
            lowest_rows=scored.numbers[places],
            doubtful=scored.numbers[is_doubtful],
        )


@dataclass(frozen=True, slots=True)
class _Scored:
    numbers: Ints
    scores: Floats
    errors: Floats
    longest2: float


@dataclass(frozen=True, slots=True)
class _Part:
    mistakes: int
    certain: int
    least: float
    longest2: float
    lowest: Floats
    lowest_rows: Ints
    doubtful: Ints


def _sliced(block: Block, start: int, stop: int) -> Block:
    """Rows of a block that follow each other; dense ones are not copied."""
    numbers = block.numbers[start:stop]
    if isinstance(block.table, Dense):
        return Block(Dense(block.table.values[start:stop]), block.y[start:stop], numbers, block.n_columns)
    table = block.table
    first, last = int(table.indptr[start]), int(table.indptr[stop])
    part = Csr(table.data[first:last], table.indices[first:last], table.indptr[start : stop + 1] - table.indptr[start])
    return Block(part, block.y[start:stop], numbers, block.n_columns)


def _in_doubles(values: Array) -> Array:
    return values if values.dtype == np.float64 else values.astype(np.float64)


def _signed(values: Array) -> Array:
    """Numbers that can be negated: floats as they are, integers in 64 bits."""
    if values.dtype.kind == "f":
        return values
    low, high = (int(values.min(initial=0)), int(values.max(initial=0))) if values.dtype.kind in "iu" else (0, 1)
    if low == -(2**63) or high >= 2**63:
        raise ArgumentError("An integer of X has more than 63 bits: the joint question takes integers up to 2^63 - 1.")
    return values.astype(np.int64)


def _dense(block: Block, bias: bool, n_columns: int, rows: Ints, own: Ints, other: Ints) -> Table:
    values = _signed(np.asarray(block.values))
    width = block.n_columns + bias
    table = np.zeros((len(rows), n_columns // width if width else 0, width), values.dtype)
    for blocks, sign in ((own, 1), (other, -1)):
        at = np.flatnonzero(blocks >= 0)
        table[at, blocks[at], : block.n_columns] = values[rows[at]] * values.dtype.type(sign)
        table[at, blocks[at], block.n_columns :] = sign
    return Dense(table.reshape(len(rows), n_columns))


def _sparse(block: Block, bias: bool, n_columns: int, rows: Ints, own: Ints, other: Ints) -> Table:
    """Each derived row consists of two copies of a row, the lower block first; a block numbered -1 is left out."""
    width = block.n_columns + bias
    whole = sp.csr_array(_signed_rows(block, bias))
    starts, lengths = whole.indptr[:-1].astype(np.int64)[rows], np.diff(whole.indptr).astype(np.int64)[rows]
    lower, higher = np.minimum(own, other), np.maximum(own, other)
    sign = np.where(own < other, 1, -1)
    sizes = np.stack([np.where(lower >= 0, lengths, 0), lengths], axis=1).ravel()
    shifts = np.stack([lower, higher], axis=1).ravel() * width
    ends = np.concatenate([[0], np.cumsum(sizes)])
    places = np.arange(ends[-1]) + np.repeat(np.repeat(starts, 2) - ends[:-1], sizes)
    data = whole.data[places] * np.repeat(np.stack([sign, -sign], axis=1).ravel(), sizes).astype(whole.data.dtype)
    indices = whole.indices[places] + np.repeat(shifts, sizes)
    kind = np.uint32 if n_columns < 1 << 31 else np.uint64
    return Csr(data, indices.astype(kind), ends[::2].astype(np.uint64))


def _signed_rows(block: Block, bias: bool) -> Any:
    values = block.values
    if not block.is_sparse:
        values = sp.csr_array(_signed(values))
    elif values.dtype.kind != "f":
        values = sp.csr_array((_signed(values.data), values.indices, values.indptr), shape=values.shape)
    if not bias:
        return values
    constant = sp.csr_array(np.ones((values.shape[0], 1), values.dtype))
    return sp.csr_array(sp.hstack([values, constant], format="csr", dtype=values.dtype))
