"""Some rows of a source too long to copy them: those that are marked."""

from collections.abc import Iterator, Sequence

from linsep.sources.base import Block, Floats, Ints, Scan, Source, distinct_rows, taken_together
from linsep.sources.marks import Marks
from linsep.sources.memory import MemorySource, settled


class Remaining(Source):
    """The marked rows of a source, under the numbers they have there."""

    is_in_parts = True

    def __init__(self, source: Source, marks: Marks) -> None:
        self._source, self._marks = source, marks
        self.n_rows, self.n_columns = marks.count(), source.n_columns
        self.labels, self.columns = source.labels, source.columns

    def scan(self, w: Floats, b: float, *, worst: int = 0) -> Scan:
        """The sum of the scans of the blocks."""
        total: Scan | None = None
        for block in self.blocks():
            part = MemorySource(block.table, block.y, block.n_columns, self.labels, self.columns, block.numbers)
            scan = settled(part, part.scan(w, b, worst=worst), w, b)
            total = scan if total is None else total + scan
        assert total is not None  # an empty rest is never searched
        return total

    def blocks(self) -> Iterator[Block]:
        """The marked rows of each block that has any."""
        for block in self._source.blocks():
            positions = self._marks.positions(block)
            if len(positions):
                yield block if len(positions) == len(block) else block.take(positions)

    def take(self, rows: Sequence[int] | Ints) -> Block:
        """These rows, by their numbers in the whole."""
        return self._source.take(rows)

    def sample(self, k: int, seed: int) -> Block:
        """At most k distinct rows, uniform over the marked ones."""
        return self.take(self._marks.at_ranks(distinct_rows(self.n_rows, k, seed)))

    def samples(self, sizes: Sequence[int]) -> Iterator[Block]:
        """The samples of these sizes, all fetched in one read."""
        ranks = (distinct_rows(self.n_rows, size, seed) for seed, size in enumerate(sizes))
        return taken_together(self, [self._marks.at_ranks(chosen) for chosen in ranks])

    @property
    def most_at_hand(self) -> int:
        """How many rows a solver may hold in memory at once."""
        return min(self.n_rows, self._source.most_at_hand)
