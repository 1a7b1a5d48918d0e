"""What is odd about the columns of a table: constants, copies, values far from 0, and columns that reveal the label."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from linsep.report import Grid, Report, Sentence, count
from linsep.sources.base import Array, Floats, Source

FAR = 1000  # a column is far from 0 if its mean is more than this many times its spread
SHOWN_COLUMNS = 20
COMPARED, COMPARED_ROWS = 300, 2000  # the most columns that are compared with each other, and on how many rows
EQUAL = 1e-12


@dataclass(slots=True)
class ColumnFacts:
    """Sums and ends of each column, the ends for each class; rows can be added block by block."""

    low: Array  # of class -1 and of class +1
    high: Array
    shift: Floats  # near the values, so that no digits cancel
    sums: Floats
    squares: Floats
    rows: int = 0

    @classmethod
    def of(cls, source: Source) -> "ColumnFacts":
        """The facts from one read of the rows."""
        width = source.n_columns
        shift = _dense(source.take([0]).values)[0].astype(np.float64)
        ends = np.full((2, width), np.inf), np.full((2, width), -np.inf)
        found = cls(*ends, shift, np.zeros(width), np.zeros(width))
        for _, values, y in source.blocks():
            found.add(values, y)
        return found

    def add(self, values: Any, y: Array) -> None:
        """Add some more rows."""
        for side in (0, 1):
            own = values[y == 2 * side - 1]
            if own.shape[0]:
                self.low[side] = np.minimum(self.low[side], _ends(own.min(axis=0)))
                self.high[side] = np.maximum(self.high[side], _ends(own.max(axis=0)))
        with np.errstate(over="ignore", invalid="ignore"):
            moved = _dense(values).astype(np.float64) - self.shift
            self.sums += moved.sum(axis=0)
            self.squares += (moved * moved).sum(axis=0)
        self.rows += len(y)

    @property
    def mean(self) -> Floats:
        """The mean of each column."""
        return np.asarray(self.shift + self.sums / self.rows)

    @property
    def spread(self) -> Floats:
        """The standard deviation of each column."""
        with np.errstate(over="ignore", invalid="ignore"):
            return np.asarray(np.sqrt(np.maximum(0, self.squares / self.rows - (self.sums / self.rows) ** 2)))


def column_report(source: Source) -> Report:
    """A line for each column, those with a remark first."""
    facts = ColumnFacts.of(source)
    remarks = remarks_on(source, facts)
    order = sorted(range(source.n_columns), key=lambda j: (not remarks[j], j))[:SHOWN_COLUMNS]
    low, high = facts.low.min(axis=0), facts.high.max(axis=0)
    rows = tuple(
        (
            source.facts.column_name(j),
            *(f"{value:.6g}" for value in (low[j], facts.mean[j], high[j], facts.spread[j])),
            remarks[j],
        )
        for j in order
    )
    hidden = source.n_columns - len(order)
    odd = sum(map(bool, remarks))
    title = f"{count(odd, 'column')} to look at." if odd else "Nothing odd about the columns."
    grid = Grid(
        ("column", "least", "mean", "most", "spread", ""),
        rows,
        f"... and {count(hidden, 'more column')}." if hidden else "",
    )
    return Report(title, (Sentence("Those with a remark come first:", "columns"), grid) if odd else (grid,))


def remarks_on(source: Source, facts: ColumnFacts) -> list[str]:
    """A remark on each column, empty for most."""
    copies = _copies(source)
    return [_remark(source, facts, j, copies.get(j)) for j in range(source.n_columns)]


def _remark(source: Source, facts: ColumnFacts, j: int, copy: int | None) -> str:
    low, high = facts.low[:, j], facts.high[:, j]
    if low.min() == high.max():
        return "constant"
    if high[0] < low[1] or high[1] < low[0]:
        return "separates the classes alone: a copy of the label?"
    if copy is not None:
        return f"the same as {source.facts.column_name(copy)}, except for scale and shift"
    if abs(facts.mean[j]) > FAR * facts.spread[j]:
        return f"far from 0: subtract about {facts.mean[j]:.4g}"
    return ""


def _copies(source: Source) -> dict[int, int]:
    """Columns that are an earlier one times a number plus a number, as far as a sample tells."""
    if source.n_columns > COMPARED:
        return {}
    with np.errstate(all="ignore"):
        values = _dense(source.sample(COMPARED_ROWS, 0).values).astype(np.float64)
        values = values / np.maximum(np.abs(values).max(axis=0), np.finfo(float).tiny)
        values = values - values.mean(axis=0)
        values = values / np.sqrt((values * values).sum(axis=0))
        alike = np.abs(values.T @ values) > 1 - EQUAL
    pairs = np.argwhere(np.triu(alike, 1))
    return {int(later): int(first) for first, later in pairs[::-1]} if len(values) > 2 else {}


def _dense(values: Any) -> Array:
    return values if isinstance(values, np.ndarray) else values.toarray()


def _ends(ends: Any) -> Array:
    return np.asarray(ends.todense() if hasattr(ends, "todense") else ends, np.float64).ravel()
