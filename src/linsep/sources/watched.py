"""A source that counts the rows that are read, so that a long search can be watched."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np

from linsep.sources.base import Block, Floats, Ints, Scan, Source, T
from linsep.sources.row_set import Flags, Marks


class WatchedSource(Source):
    """Any source; `rows_read` is how many rows its scans and blocks have read so far.

    >>> import linsep, numpy as np
    >>> from linsep.sources.inputs import as_source
    >>> source = WatchedSource(as_source(*linsep.datasets.cornwell()))
    >>> source.scan(np.ones(2), 0.0).mistakes, source.rows_read
    (1, 4)
    """

    def __init__(self, source: Source) -> None:
        self._source, self.facts, self.rows_read = source, source.facts, 0

    def scan(self, w: Floats, b: float, *, worst: int = 0) -> Scan:
        """The scan of the source, counted."""
        scan = self._source.scan(w, b, worst=worst)
        self.rows_read += scan.rows
        return scan

    def blocks(self, random: np.random.Generator | None = None) -> Iterator[Block]:
        """The blocks of the source, each counted."""
        for block in self._source.blocks(random):
            yield block
            self.rows_read += len(block)

    def take(self, rows: Sequence[int] | Ints) -> Block:
        """These rows of the source."""
        return self._source.take(rows)

    def sample(self, k: int, seed: int) -> Block:
        """The sample of the source."""
        return self._source.sample(k, seed)

    def each(self, work: Callable[..., T], marks: Marks | None = None) -> Iterator[T]:
        """The results of the source for each block, counted."""
        for rows, made in self._source.each(partial(_counted, work), marks):
            yield made
            self.rows_read += rows


def _counted(work: Callable[..., T], block: Block, *flags: Flags) -> tuple[int, T]:
    return len(block), work(block, *flags)
