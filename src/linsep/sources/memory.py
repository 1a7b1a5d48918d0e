"""Rows in memory: one table, dense or sparse, scanned by all cores without copying it."""

import operator
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property, partial, reduce
from itertools import pairwise

import numpy as np

from linsep import exact, loops
from linsep.cores import pool, thread_count
from linsep.loops.layouts import Dense
from linsep.sources.base import Block, Facts, Floats, Ints, Scan, Signs, Source, Table, distinct_rows, refusal

UNKNOWN_LENGTH = -1.0  # of the longest row
NARROW = 8  # columns: up to this many, NumPy adds one after the other, as the compiled loop does
WORTH_A_THREAD = 1 << 18  # bytes: below this, passing the work to a thread costs more than doing it


class HeldRows(Source, ABC):
    """Rows in memory that one thread can scan alone; `numbers` are their row numbers in a larger whole, ascending."""

    y: Signs
    numbers: range | Ints
    _longest2: float  # the length of the longest row, squared, once a scan has found it

    @abstractmethod
    def scan_alone(self, w: Floats, b: float, worst: int, ceiling: float) -> Scan:
        """The scan made by this thread alone; the worst rows are only those with a score below the ceiling."""


class MemorySource(HeldRows):
    """A table in memory with its labels."""

    def __init__(
        self, table: Table, y: Signs, facts: Facts, numbers: range | Ints | None = None, weights: Floats | None = None
    ) -> None:
        self.table, self.y, self.facts, self.weights = table, y, facts, weights
        self.numbers = range(len(y)) if numbers is None else numbers
        self._longest2 = UNKNOWN_LENGTH
        self._run = self._period = max(1, len(y))  # which rows of a table are walked: the first few of each period
        self.is_worth_compiling = len(y) * facts.n_columns > exact.FEW_CELLS  # or is a part of a source that is

    @classmethod
    def of(cls, block: Block, facts: Facts, numbers: range | Ints | None = None) -> "MemorySource":
        """The rows of a block, taken from the source with these facts."""
        return cls(block.table, block.y, facts.of_part(len(block)), numbers)

    def scan(self, w: Floats, b: float, *, worst: int = 0) -> Scan:
        """Each core scans its share of the rows; the scan of the whole is the sum."""
        w = np.ascontiguousarray(w, dtype=np.float64)
        if isinstance(self.table, Dense) and not self.is_worth_compiling:
            return self._scan_few(w, float(b), worst)

        def scan_part(edges: tuple[int, int]) -> Scan:
            return self._scan_part(*edges, w, float(b), worst)

        parts = self._parts()
        scans = map(scan_part, parts) if len(parts) == 1 else pool().map(scan_part, parts)
        total = reduce(operator.add, scans)
        self._longest2 = total.longest2
        return total

    def blocks(self, random: np.random.Generator | None = None) -> Iterator[Block]:
        """The whole table as one block: nothing is copied."""
        yield self._block

    def take(self, rows: Sequence[int] | Ints) -> Block:
        """These rows, copied out."""
        wanted = np.asarray(rows, dtype=np.int64)
        if isinstance(self.numbers, range):
            return self._rows_at(wanted - self.numbers.start)
        return self._rows_at(np.searchsorted(self.numbers, wanted))

    def sample(self, k: int, seed: int) -> Block:
        """At most k distinct rows, uniform over all rows."""
        return self._rows_at(distinct_rows(self.n_rows, k, seed))

    def _rows_at(self, positions: Ints) -> Block:
        return self._block.take(positions)

    @cached_property
    def _block(self) -> Block:
        return Block(self.table, self.y, self.numbers, self.n_columns, self.weights)

    def _parts(self) -> list[tuple[int, int]]:
        workers = min(thread_count(), max(1, _nbytes(self.table) // WORTH_A_THREAD))
        edges = [self.n_rows * k // workers for k in range(workers + 1)]
        return list(pairwise(edges))

    def numbered(self, positions: Ints) -> Ints:
        """The numbers of the rows at these places of the table."""
        numbers = self.numbers
        return positions + numbers.start if isinstance(numbers, range) else numbers[positions]

    def scan_alone(self, w: Floats, b: float, worst: int, ceiling: float) -> Scan:
        """The scan made by this thread alone; the worst rows are only those with a score below the ceiling."""
        return self._scan_part(0, self.n_rows, w, b, worst, ceiling)

    def _scan_part(self, start: int, stop: int, w: Floats, b: float, wanted: int, ceiling: float = np.inf) -> Scan:
        places = min(wanted, stop - start)
        found = loops.scans.Found(np.empty(places, np.int64), np.empty(places), np.zeros(stop - start, np.uint8))
        mistakes, certain, minus, plus, longest2, written, bad = loops.scans.scan(
            self.table, self.y, start, stop, self._run, self._period, w, b, self._longest2, places, ceiling, found
        )
        if bad != loops.scans.ALL_FINE:
            raise refusal(self, int(self.numbers[bad]))
        order = np.lexsort((found.worst[:written], found.worst_scores[:written]))
        return Scan(
            rows=walked(stop - start, self._run, self._period),
            mistakes=mistakes,
            certain=certain,
            lowest=(minus, plus),
            longest2=longest2,
            wanted=wanted,
            worst=self._rows_at(found.worst[order]),
            worst_scores=found.worst_scores[order],
            doubtful=self.numbered(start + np.flatnonzero(found.doubtful)),
        )

    @cached_property
    def _few_floats(self) -> tuple[Floats, Floats]:
        """A few rows as doubles, and the size of each."""
        x = self.table[0].astype(np.float64, copy=False)
        return x, np.abs(x)

    def _scan_few(self, w: Floats, b: float, wanted: int) -> Scan:
        """The scan of a few rows in NumPy: the same as `loops.scans.scan`, without compiling or loading it."""
        (x, size), y = self._few_floats, self.y
        with np.errstate(all="ignore"):
            scores = y * ((np.einsum("ij,j->i", x, w) if len(w) > NARROW else (x * w).sum(axis=1)) + b)
            sizes = np.einsum("ij,j->i", size, np.abs(w)) + abs(b)
            error = exact.rounding_factor(self.n_columns + 4) * 1.001 * sizes
            if self._longest2 == UNKNOWN_LENGTH:
                self._longest2 = float(np.einsum("ij,ij->i", x, x).max(initial=0.0))
        if not np.isfinite(scores).all():
            raise refusal(self, int(self.numbers[int(np.argmin(np.isfinite(scores)))]))
        is_doubtful = np.abs(scores) <= error + 2 * (self.n_columns + 4) * exact.SMALLEST
        worst = smallest(scores, wanted)
        return Scan(
            rows=len(y),
            mistakes=int(np.count_nonzero(scores <= 0)),
            certain=int(np.count_nonzero((scores < 0) & ~is_doubtful)),
            lowest=(float(scores[y < 0].min(initial=np.inf)), float(scores[y > 0].min(initial=np.inf))),
            longest2=self._longest2,
            wanted=wanted,
            worst=self._rows_at(worst),
            worst_scores=scores[worst],
            doubtful=self.numbered(np.flatnonzero(is_doubtful)),
        )


def walked(n_rows: int, run: int, period: int) -> int:
    """How many of `n_rows` rows are walked."""
    periods, rest = divmod(n_rows, period)
    return periods * run + min(rest, run)


class Stripes(MemorySource):
    """Runs of consecutive rows, evenly spread over a table, with the numbers they have there.

    They are scanned in place, at the speed of memory: copying them would take as long as ten scans.
    """

    def __init__(self, whole: MemorySource, run: int, period: int) -> None:
        n_rows = walked(whole.n_rows, run, period)
        super().__init__(whole.table, whole.y, whole.facts.of_part(n_rows), whole.numbers)
        self._run, self._period, self.is_worth_compiling = run, period, True

    def blocks(self, random: np.random.Generator | None = None) -> Iterator[Block]:
        """The rows, copied out."""
        yield self._rows_at(striped(len(self.y), self._run, self._period))

    def sample(self, k: int, seed: int) -> Block:
        """At most k distinct rows among these."""
        rows = striped(len(self.y), self._run, self._period)
        return self._rows_at(rows[distinct_rows(self.n_rows, k, seed)])

    def _parts(self) -> list[tuple[int, int]]:
        periods, workers = -(-len(self.y) // self._period), thread_count()
        edges = [min(len(self.y), periods * k // workers * self._period) for k in range(workers + 1)]
        return [(start, stop) for start, stop in pairwise(edges) if start < stop]


def striped(n_rows: int, run: int, period: int) -> Ints:
    """The places of the rows that are walked."""
    starts = np.arange(0, n_rows, period)
    places = (starts[:, None] + np.arange(run)).reshape(-1)
    return places[places < n_rows]


def smallest(scores: Floats, wanted: int) -> Ints:
    """The places of the smallest scores, smallest first; among equal ones the first."""
    if not wanted:
        return np.zeros(0, np.int64)
    places = np.arange(len(scores))
    if 4 * wanted < len(scores):  # else sorting them all is faster
        places = np.flatnonzero(scores <= np.partition(scores, wanted)[wanted])
    return places[np.argsort(scores[places], kind="stable")[:wanted]]


class Blockwise(Source, ABC):
    """A source whose blocks are made of those of another: its scan is the sum of theirs."""

    def scan(self, w: Floats, b: float, *, worst: int = 0) -> Scan:
        """The sum of the scans of the blocks."""
        return reduce(operator.add, self.each(partial(scanned, self.facts, np.asarray(w, np.float64), float(b), worst)))


def scanned(facts: Facts, w: Floats, b: float, worst: int, block: Block) -> Scan:
    """The scan of one block of a source of these facts, with no row left in doubt, by this thread alone.

    The size of the source, not that of the block, decides whether NumPy scores the rows, so that the sum of the scans
    is the same, to the last bit, however the rows are divided into blocks.
    """
    part = MemorySource.of(block, facts, block.numbers)
    return scanned_part(part, facts, w, b, worst, UNKNOWN_LENGTH)


def scanned_part(part: HeldRows, facts: Facts, w: Floats, b: float, worst: int, longest2: float) -> Scan:
    """The same for a block that is a source itself."""
    part._longest2 = longest2
    is_few = facts.n_rows * facts.n_columns <= exact.FEW_CELLS
    found = part.scan(w, b, worst=worst) if is_few else part.scan_alone(w, b, worst, np.inf)
    return settled(part, found, w, b)


def settled(part: Source, scan: Scan, w: Floats, b: float) -> Scan:
    """The scan with no row left in doubt: exact signs, while the rows are in memory."""
    if not scan.doubtful.size:
        return scan
    wrong = scan.rows
    if w.any() or b:
        wrong = int(np.count_nonzero(part.take(scan.doubtful).exact_signs(w, b) <= 0))
    return replace(scan, certain=scan.certain + wrong, doubtful=np.zeros(0, np.int64))


def _nbytes(table: Table) -> int:
    if isinstance(table, Dense):
        return int(table.values.nbytes)
    return int(table.data.nbytes + table.indices.nbytes)
