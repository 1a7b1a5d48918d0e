"""A batch that lies column by column, as rows in memory: scanned as it lies, copied into rows only where asked."""

import numpy as np

from linsep.kernels.columnar import Columnar, write_lengths, write_scores
from linsep.kernels.dense import Dense
from linsep.kernels.walks import UNKNOWN
from linsep.sources.base import Block, Floats, Ints, Label, Scan, Signs
from linsep.sources.files.reading import ColumnValues
from linsep.sources.memory import MemorySource


class ColumnPart(MemorySource):
    """Columns of doubles with their labels; the rows it hands out are dense."""

    def __init__(
        self,
        values: ColumnValues,
        y: Signs,
        labels: tuple[Label, Label],
        columns: tuple[str, ...] | None,
        numbers: range,
    ) -> None:
        self._values = values
        super().__init__(Dense(None), y, len(values.columns), labels, columns, numbers)

    @property
    def _block(self) -> Block:
        return Block(Dense(self._values.rows()), self.y, self.numbers, self.n_columns)

    def _rows_at(self, positions: Ints) -> Block:
        return Block(Dense(self._values[positions]), self.y[positions], self._numbered(positions), self.n_columns)

    def _parts(self) -> list[tuple[int, int]]:
        return [(0, self.n_rows)]

    def _scan_part(self, start: int, stop: int, w: Floats, b: float, wanted: int, ceiling: float = np.inf) -> Scan:
        scores = np.empty(self.n_rows)
        lengths2 = np.empty(self.n_rows if self._longest2 == UNKNOWN else 0)
        addresses = np.array([column.ctypes.data for column in self._values.columns], np.uint64)
        write_scores(addresses, w, scores)
        write_lengths(addresses, lengths2)
        self.table = Columnar(addresses, scores, lengths2)  # type: ignore[assignment]  # the walks know what it is
        return super()._scan_part(start, stop, w, b, wanted, ceiling)

    def require_finite(self) -> None:
        """Refuse NaN and infinity by name: under zero weights no other row has a score that is not finite."""
        self._scan_part(0, self.n_rows, np.zeros(self.n_columns), 0.0, 0)
