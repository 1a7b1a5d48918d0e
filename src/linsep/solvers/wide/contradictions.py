"""Rows that occur with both labels: the most common fault in data, found by a hash before anything is solved.

Without a bias x and -x with the same label are the same fault: the signed rows z and -z cancel.

Each row gets a hash of its exact values: equal rows have equal hashes, whatever their zeros look like (-0.0, or
explicit zeros of a sparse row). Rows of different classes with the same hash are then compared.
"""

from functools import partial
from hashlib import blake2b

import numpy as np
import numpy.typing as npt

from linsep import exact, loops
from linsep.loops.layouts import Dense
from linsep.sources.base import Block, Ints, Source

Pair = tuple[int, int]
Hashes = npt.NDArray[np.uint64]

OTHER = np.uint64(0xD1B54A32D192ED03)  # makes the hashes of the two classes different


def contradictions(source: Source, most: int, *, bias: bool = True) -> list[Pair]:
    """At most `most` pairs of rows that cancel each other, in the order of their numbers; no row occurs twice.

    >>> from linsep.sources.inputs import as_source
    >>> contradictions(as_source([[1.0, 0.0], [2.0, 3.0], [1.0, -0.0]], [0, 1, 1]), 10)
    [(0, 2)]
    >>> contradictions(as_source([[1.0, 0.0], [2.0, 3.0], [-1.0, 0.0]], [0, 1, 0]), 10, bias=False)
    [(0, 2)]
    """
    multipliers = multipliers_of(source.n_columns)
    is_few = source.n_rows * source.n_columns <= exact.FEW_CELLS
    parts = list(source.each(partial(_hashed, multipliers, bias, is_few)))
    numbers, rows, opposites = (np.concatenate(part) for part in zip(*parts, strict=True))
    twice = np.sort(np.concatenate([rows, opposites]))
    twice = twice[1:][twice[1:] == twice[:-1]]  # few or none; those of one class among them
    some = np.flatnonzero(np.isin(rows, twice) | np.isin(opposites, twice))
    numbers, rows, opposites = numbers[some], rows[some], opposites[some]
    _, first, second = np.intersect1d(rows, opposites, return_indices=True)
    pairs = np.sort(np.column_stack([numbers[first], numbers[second]]), axis=1)
    pairs = np.unique(pairs[pairs[:, 0] < pairs[:, 1]], axis=0)[:most]  # a row of zeros is its own opposite
    return [(a, b) for a, b in pairs.tolist() if _do_cancel(source.take([a, b]), bias)]


def _hashed(multipliers: Hashes, bias: bool, is_few: bool, block: Block) -> tuple[Ints, Hashes, Hashes]:
    """The number of each row z = y·x, a hash of it, and one of -z: with a bias, x has one in each class."""
    plus, hashes = block.y > 0, row_hashes(block, multipliers, is_few=is_few)
    mirrored = hashes ^ OTHER if bias else row_hashes(block, multipliers, -1.0, is_few=is_few)
    return block.row_numbers, np.where(plus, hashes, mirrored), np.where(plus, mirrored, hashes)


def equal_rows(block: Block) -> Ints:
    """For each row, the first row that equals it, whatever their labels.

    Rows with the same hash are compared: integers beyond 2^53 that round to the same double are different.
    """
    hashes = row_hashes(block, multipliers_of(block.n_columns))
    leader, unsure = np.arange(len(block)), np.arange(len(block))
    while len(unsure):
        _, first, of_row = np.unique(hashes[unsure], return_index=True, return_inverse=True)
        leader[unsure] = unsure[first[of_row]]
        unsure = unsure[_differ(block, unsure, leader[unsure])]
    return leader


def _differ(block: Block, rows: Ints, others: Ints) -> npt.NDArray[np.bool_]:
    """Which of these rows are not equal to the other rows."""
    different = block.values[rows] != block.values[others]
    if block.is_sparse:
        return np.asarray(different.sum(axis=1)).ravel() > 0
    return np.asarray(different.any(axis=1))


def row_hashes(block: Block, multipliers: Hashes, sign: float = 1.0, *, is_few: bool | None = None) -> Hashes:
    """A hash of each row: the sum of its mixed entries times the multipliers of their columns, modulo 2^64.

    Few rows are hashed in Python; `is_few` says whether all blocks together are: one row must not have two hashes.
    """
    if is_few is None:
        is_few = len(block) * block.n_columns <= exact.FEW_CELLS
    if isinstance(block.table, Dense) and is_few:  # nothing is compiled for these
        rows = sign * block.table.values.astype(np.float64) + 0.0  # -0.0 + 0.0 is 0.0
        digests = [blake2b(row.tobytes(), digest_size=8).digest() for row in rows]
        return np.frombuffer(b"".join(digests), np.uint64)
    hashes = np.empty(len(block), np.uint64)
    loops.scans.hash_rows(block.table, multipliers, sign, hashes)
    return hashes


def multipliers_of(n_columns: int) -> Hashes:
    """Random odd numbers, one for each column."""
    return np.random.default_rng(0).integers(0, 2**64, n_columns, np.uint64) | np.uint64(1)


def _do_cancel(block: Block, bias: bool) -> bool:
    """Whether two rows hold the same values, with different labels; or opposite ones with the same, without a bias."""
    values = block.values if isinstance(block.values, np.ndarray) else block.values.toarray()
    if block.y[0] != block.y[1]:
        return bool((values[0] == values[1]).all())
    first, second = values.astype(object)  # no integer overflows
    return not bias and bool((first == -second).all())
