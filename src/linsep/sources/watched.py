"""A source that counts the rows it hands out, part by part, so that a long read can be watched."""

import operator
from collections.abc import Iterator, Sequence
from functools import reduce

from linsep.errors import InputError
from linsep.sources.base import Block, Floats, Ints, Scan, Source


class WatchedSource(Source):
    """Any source; `rows_read` is how many rows its scans and blocks have gone over so far.

    >>> import linsep, numpy as np
    >>> from linsep.sources.inputs import as_source
    >>> source = WatchedSource(as_source(*linsep.datasets.cornwell()))
    >>> source.scan(np.ones(2), 0.0).mistakes, source.rows_read
    (1, 4)
    """

    def __init__(self, source: Source) -> None:
        self._source, self.rows_read = source, 0
        self.n_rows, self.n_columns = source.n_rows, source.n_columns
        self.labels, self.columns = source.labels, source.columns

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

    def _counted(self, blocks: Iterator[Block]) -> Iterator[Block]:
        for block in blocks:
            yield block
            self.rows_read += len(block)

    def take(self, rows: Sequence[int] | Ints) -> Block:
        """These rows, not counted."""
        return self._source.take(rows)

    def sample(self, k: int, seed: int) -> Block:
        """The sample of the source, not counted."""
        return self._source.sample(k, seed)

    def require_finite(self) -> None:
        """One read of all rows."""
        self._source.require_finite()
        self.rows_read += self.n_rows

    def has_long_integers(self) -> bool:
        """What the source says."""
        return self._source.has_long_integers()

    def fingerprint(self) -> str:
        """That of the source."""
        return self._source.fingerprint()

    def refusal(self, row: int) -> InputError:
        """Why the source cannot use this row."""
        return self._source.refusal(row)
