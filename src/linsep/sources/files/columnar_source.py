"""A batch that lies column by column, as rows in memory: scanned as it lies, copied into rows only where asked."""

from dataclasses import replace

import numpy as np

from linsep import loops
from linsep.loops.layouts import Dense
from linsep.sources.base import Block, Facts, Floats, Ints, Scan, Signs
from linsep.sources.files.reader import ColumnValues
from linsep.sources.memory import UNKNOWN_LENGTH, MemorySource


class ColumnPart(MemorySource):
    """Columns of doubles with their labels; the rows it hands out are dense."""

    def __init__(self, values: ColumnValues, y: Signs, facts: Facts, numbers: range) -> None:
        self._values = values
        self._addresses = np.array([column.ctypes.data for column in values.columns], np.uint64)
        super().__init__(Dense(None), y, facts, numbers)

    @property
    def _block(self) -> Block:
        return Block(Dense(self._values.rows()), self.y, self.numbers, self.n_columns)

    def _rows_at(self, positions: Ints) -> Block:
        return Block(Dense(self._values[positions]), self.y[positions], self._numbered(positions), self.n_columns)

    def _parts(self) -> list[tuple[int, int]]:
        return [(0, self.n_rows)]

    def _scan_part(self, start: int, stop: int, w: Floats, b: float, wanted: int, ceiling: float = np.inf) -> Scan:
        """The scan of the rows that need a look, with the plain ones added, which need none."""
        if self._longest2 == UNKNOWN_LENGTH:
            self._longest2 = self._largest_norm2()
        if 0 < wanted < self.n_rows and ceiling == np.inf:
            ceiling = self._ceiling_of(wanted, w, b)
        others = np.empty(self.n_rows, np.int64)
        near = loops.column_scores.sure_beyond(w, float(b), self._longest2)
        wrong, minus, plus, left = loops.column_scores.count_plain(
            self._addresses, self.y, w, float(b), near, ceiling if wanted else -np.inf, others
        )
        found = self._looked_at(others[:left])._scan_part(0, left, w, b, wanted, ceiling)
        return replace(
            found,
            rows=self.n_rows,
            mistakes=found.mistakes + wrong,
            certain=found.certain + wrong,
            lowest=(min(found.lowest[0], minus), min(found.lowest[1], plus)),
        )

    def _ceiling_of(self, wanted: int, w: Floats, b: float) -> float:
        """What as many of the lowest scores as are wanted are below, and few others."""
        scores = np.empty(self.n_rows)
        loops.column_scores.write_scores(self._addresses, w, scores)
        return float(np.nextafter(np.partition(self.y * (scores + b), wanted - 1)[wanted - 1], np.inf))

    def as_rows(self) -> MemorySource:
        """All of them, copied into rows."""
        part = MemorySource(Dense(self._values.rows()), self.y, self.facts, self.numbers)
        part._longest2 = self._longest2
        return part

    def _looked_at(self, positions: Ints) -> MemorySource:
        """These rows, in row order, as rows."""
        rows, numbers = Dense(self._values[positions]), self._numbered(positions)
        part = MemorySource(rows, self.y[positions], self.facts.of_part(len(positions)), numbers)
        part._longest2 = self._longest2
        return part

    def _largest_norm2(self) -> float:
        """The largest |x|², summed as rows are: only rows whose sum in another order comes near it can have it."""
        lengths2 = np.empty(self.n_rows)
        loops.column_scores.write_lengths(self._addresses, lengths2)
        slack = (self.n_columns + 4) * 2.0**-50
        enough = np.fmax.reduce(lengths2) * (1.0 - slack) - 1e-300  # the last term for squares that underflow
        return float(loops.column_scores.largest_norm2(self._values[np.flatnonzero(lengths2 >= enough)]))
