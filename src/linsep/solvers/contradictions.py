"""Rows that occur with both labels: the commonest fault of data, found by a hash before anything is solved.

A hash of each row, made of the exact values: equal rows have equal hashes whatever their zeros look like (-0.0, or
explicit zeros of a sparse row). Rows of different classes with the same hash are then compared.
"""

import numpy as np
import numpy.typing as npt

from linsep.loops.layouts import Csr, Dense
from linsep.sources.base import Array, Block, Ints, Source

Pair = tuple[int, int]
Hashes = npt.NDArray[np.uint64]

PIECE = 1 << 16  # entries hashed together: they stay in the cache
MIX = np.uint64(0x9E3779B97F4A7C15), np.uint64(32), np.uint64(29)


def contradictions(source: Source, most: int) -> list[Pair]:
    """Pairs of equal rows of different classes, in the order of their numbers; no row twice, and at most so many.

    >>> from linsep.sources.inputs import as_source
    >>> contradictions(as_source([[1.0, 0.0], [2.0, 3.0], [1.0, -0.0]], [0, 1, 1]), 10)
    [(0, 2)]
    """
    multipliers = _multipliers(source.n_columns)
    found: list[tuple[Ints, Hashes]] = []
    is_plus = []
    for block in source.blocks():
        found.append((block.row_numbers, row_hashes(block, multipliers)))
        is_plus.append(block.y > 0)
    numbers, hashes, plus = (np.concatenate(part) for part in (*zip(*found, strict=True), is_plus))
    _, first, second = np.intersect1d(hashes[plus], hashes[~plus], return_indices=True)
    pairs = np.sort(np.column_stack([numbers[plus][first], numbers[~plus][second]]), axis=1)
    pairs = pairs[np.lexsort(pairs.T[::-1])][:most]
    return [(a, b) for a, b in pairs.tolist() if _are_equal(source.take([a, b]))]


def row_hashes(block: Block, multipliers: Hashes) -> Hashes:
    """A hash of each row: the sum of its mixed entries times the multipliers of their columns, modulo 2^64."""
    table = block.table
    if isinstance(table, Dense):
        step = max(1, PIECE // max(1, block.n_columns))
        parts = [_mixed(table.values[k : k + step]) @ multipliers for k in range(0, len(block), step)]
        return np.concatenate(parts) if parts else np.zeros(0, np.uint64)
    return _sparse_hashes(table, multipliers)


def _sparse_hashes(table: Csr, multipliers: Hashes) -> Hashes:
    start = int(table.indptr[0])
    terms = _mixed(table.data[start : int(table.indptr[-1])])
    terms *= multipliers[table.indices[start : start + len(terms)]]
    sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(terms, dtype=np.uint64)])
    edges = (table.indptr - table.indptr[0]).astype(np.int64)
    return np.asarray(sums[edges[1:]] - sums[edges[:-1]])


def _mixed(values: Array) -> Hashes:
    """The bits of the values, stirred so that every bit counts; 0 for every zero."""
    words = (values.astype(np.float64) + 0.0).view(np.uint64)  # -0.0 + 0.0 is 0.0
    factor, half, less = MIX
    words ^= words >> half
    words *= factor
    words ^= words >> less
    words *= factor
    words ^= words >> half
    return np.asarray(words)


def _multipliers(n_columns: int) -> Hashes:
    """Random odd numbers, one for each column."""
    return np.random.default_rng(0).integers(0, 2**64, n_columns, np.uint64) | np.uint64(1)


def _are_equal(block: Block) -> bool:
    """Whether two rows hold the same values."""
    values = block.values if isinstance(block.values, np.ndarray) else block.values.toarray()
    return bool((values[0] == values[1]).all())
