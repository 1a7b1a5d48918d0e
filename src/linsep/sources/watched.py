"""A source that counts the rows it hands out, part by part, so that a long read can be watched."""

import operator
from collections.abc import Iterator
from functools import reduce

import numpy as np

from linsep.sources.base import Block, Floats, Scan, Source
from linsep.sources.wrapped import WrappedSource


class WatchedSource(WrappedSource):
    """Any source; `rows_read` is how many rows its scans and blocks have gone over so far.

    >>> import linsep, numpy as np
    >>> from linsep.sources.inputs import as_source
    >>> source = WatchedSource(as_source(*linsep.datasets.cornwell()))
    >>> source.scan(np.ones(2), 0.0).mistakes, source.rows_read
    (1, 4)
    """

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self.rows_read = 0

    def scan(self, w: Floats, b: float, *, worst: int = 0) -> Scan:
        """The sum of the parts."""
        return reduce(operator.add, self.scan_parts(w, b, worst=worst))

    def scan_parts(self, w: Floats, b: float, *, worst: int = 0, start: int = 0) -> Iterator[Scan]:
        """The parts of the source, each counted."""
        for part in self._source.scan_parts(w, b, worst=worst, start=start):
            self.rows_read += part.rows
            yield part

    def blocks(self) -> Iterator[Block]:
        """The blocks of the source, each counted."""
        return self._counted(self._source.blocks())

    def blocks_from(self, start: int) -> Iterator[Block]:
        """The blocks of the source from one on, each counted."""
        return self._counted(self._source.blocks_from(start))

    def shuffled_blocks(self, random: np.random.Generator, start: int | None = None) -> Iterator[Block]:
        """The blocks of the source in its order, each counted."""
        return self._counted(self._source.shuffled_blocks(random, start))

    def _counted(self, blocks: Iterator[Block]) -> Iterator[Block]:
        for block in blocks:
            yield block
            self.rows_read += len(block)

    def require_finite(self) -> None:
        """One read of all rows."""
        self._source.require_finite()
        self.rows_read += self.n_rows
