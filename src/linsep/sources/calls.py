"""A source made of functions: the mock of the tests, and the escape hatch for data linsep cannot read.

>>> import numpy as np
>>> from linsep.sources.calls import CallSource
>>> parts = [([[3.0, -1.0], [0.0, 1.5]], [1, 1]), ([[-1.0, 3.0], [-1.0, -1.0]], [-1, -1])]
>>> source = CallSource(lambda: parts)
>>> source.n_rows, source.scan(np.array([4.0, -0.5]), 1.0).mistakes
(4, 0)
"""

import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import reduce
from typing import Any

import numpy as np

from linsep.errors import NoRowsError, ShapeError
from linsep.sources.base import Block, Floats, Ints, Label, Scan, Source
from linsep.sources.inputs import read_table
from linsep.sources.memory import MemorySource


class CallSource(Source):
    """Rows that a function hands out: each call gives (X, y) parts anew, y in {-1, +1}, in row order.

    Every verb is made of that one call, so any data that can be walked twice can be a source.
    """

    def __init__(
        self,
        parts: Callable[[], Iterable[tuple[Any, Any]]],
        *,
        labels: tuple[Label, Label] = (-1, 1),
        columns: Sequence[str] | None = None,
    ) -> None:
        self._parts = parts
        self.labels, self.columns = labels, tuple(columns) if columns else None
        self.n_rows, widths = 0, set()
        for part in self._sources():
            self.n_rows += part.n_rows
            widths.add(part.n_columns)
        if not widths:
            raise NoRowsError("The function handed out no rows.")
        if len(widths) > 1:
            raise ShapeError(f"The parts differ in their number of columns: {sorted(widths)}.")
        self.n_columns = widths.pop()

    def scan(self, w: Floats, b: float, *, worst: int = 0) -> Scan:
        """The sum of the scans of the parts."""
        return reduce(operator.add, self.scan_parts(w, b, worst=worst))

    def scan_parts(self, w: Floats, b: float, *, worst: int = 0, start: int = 0) -> Iterator[Scan]:
        """The scan of each part from the one that begins at row `start` on."""
        for part in self._sources():
            if int(part.numbers[0]) >= start:
                yield part.scan(w, b, worst=worst)

    def blocks(self) -> Iterator[Block]:
        """One block for each part."""
        for part in self._sources():
            yield from part.blocks()

    def take(self, rows: Sequence[int] | Ints) -> Block:
        """One walk over the parts; each hands over the rows that fall in it."""
        wanted = np.asarray(rows, dtype=np.int64)
        found = reduce(operator.add, (_inside(block, wanted) for block in self.blocks()))
        ranks = np.argsort(np.argsort(wanted, kind="stable"), kind="stable")
        return found.take(np.argsort(found.numbers, kind="stable")[ranks])

    def _sources(self) -> Iterator[MemorySource]:
        first = 0
        for X, y in self._parts():
            table, n_columns, _ = read_table(X)
            signs = np.asarray(y, dtype=np.int8)
            numbers = range(first, first + len(signs))
            yield MemorySource(table, signs, n_columns, self.labels, self.columns, numbers)
            first += len(signs)


def _inside(block: Block, wanted: Ints) -> Block:
    first, last = block.numbers[0], block.numbers[-1]
    return block.take(wanted[(wanted >= first) & (wanted <= last)] - first)
