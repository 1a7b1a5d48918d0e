"""A mark for each row of a long source: one bit per row, so that 100 million rows take 12.5 MB."""

import numpy as np
import numpy.typing as npt

from linsep.sources.base import Block, Ints

Flags = npt.NDArray[np.bool_]
STRIDE = 1 << 16  # bytes of marks processed together


class Marks:
    """Which of n rows are marked.

    >>> marks = Marks(10)
    >>> marks.put(3, np.array([True, False, True]))
    >>> marks.rows().tolist(), marks.count(), marks.at_ranks(np.array([1])).tolist()
    ([3, 5], 2, [5])
    """

    def __init__(self, n_rows: int, *, marked: bool = False) -> None:
        self.n_rows = n_rows
        self._bits = np.zeros((n_rows + 7) // 8, np.uint8)
        if marked:
            self._bits[:] = 255
            if n_rows % 8:
                self._bits[-1] = (255 << (8 - n_rows % 8)) & 255

    @classmethod
    def of(cls, n_rows: int, bits: npt.NDArray[np.uint8]) -> "Marks":
        """Marks made from the bits of other marks."""
        marks = cls(0)
        marks.n_rows, marks._bits = n_rows, bits
        return marks

    @classmethod
    def of_rows(cls, n_rows: int, rows: Ints) -> "Marks":
        """Marks on these rows, which are in increasing order."""
        marks = cls(n_rows)
        for start in range(0, n_rows, STRIDE):
            first, last = np.searchsorted(rows, [start, start + STRIDE])
            if first < last:
                flags = np.zeros(min(STRIDE, n_rows - start), np.bool_)
                flags[rows[first:last] - start] = True
                marks.put(start, flags)
        return marks

    def without(self, others: "Marks") -> "Marks":
        """Those of these marks that are not among the others."""
        return Marks.of(self.n_rows, self._bits & ~others._bits)

    def joined(self, others: "Marks") -> "Marks":
        """These marks and the others."""
        return Marks.of(self.n_rows, self._bits | others._bits)

    def get(self, start: int, stop: int) -> Flags:
        """The marks of rows start to stop."""
        first = start // 8
        bits = np.unpackbits(self._bits[first : (stop + 7) // 8])
        return bits[start - 8 * first : stop - 8 * first].view(np.bool_)

    def put(self, start: int, flags: Flags) -> None:
        """Set the marks of the rows from start on."""
        first, last = start // 8, (start + len(flags) + 7) // 8
        bits = np.unpackbits(self._bits[first:last])
        bits[start - 8 * first : start - 8 * first + len(flags)] = flags
        self._bits[first:last] = np.packbits(bits)

    def count(self) -> int:
        """How many rows are marked."""
        return int(np.bitwise_count(self._bits).sum(dtype=np.int64))

    def rows(self) -> Ints:
        """The marked rows, in increasing order. (Eight bytes each, so only for a few.)"""
        edges = range(0, len(self._bits), STRIDE)
        parts = [8 * edge + np.flatnonzero(np.unpackbits(self._bits[edge : edge + STRIDE])) for edge in edges]
        return np.concatenate(parts).astype(np.int64) if parts else np.zeros(0, np.int64)

    def at_ranks(self, ranks: Ints) -> Ints:
        """The marked rows with these ranks among all marked rows; the ranks are in increasing order."""
        edges = np.arange(0, len(self._bits), STRIDE)
        counts = [int(np.bitwise_count(self._bits[edge : edge + STRIDE]).sum(dtype=np.int64)) for edge in edges]
        before = np.concatenate([[0], np.cumsum(counts)])
        found = []
        for k, edge in enumerate(edges.tolist()):
            first, last = np.searchsorted(ranks, [before[k], before[k + 1]])
            if first < last:
                rows = 8 * edge + np.flatnonzero(np.unpackbits(self._bits[edge : edge + STRIDE]))
                found.append(rows[ranks[first:last] - before[k]])
        return np.concatenate(found).astype(np.int64) if found else np.zeros(0, np.int64)

    def positions(self, block: Block) -> Ints:
        """Where in a block the marked rows are; its rows are consecutive."""
        return np.flatnonzero(self.flags(block))

    def flags(self, block: Block) -> Flags:
        """The marks of the rows of a block, which are consecutive."""
        start = int(block.numbers[0])
        return self.get(start, start + len(block))
