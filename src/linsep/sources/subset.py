"""Some rows of a source too long to copy them: those that are marked, and samples of such rows."""

import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial, reduce

import numpy as np

from linsep.sources.base import Block, Floats, Ints, Scan, Source, T, distinct_rows
from linsep.sources.memory import scanned
from linsep.sources.row_set import Flags, Marks


class Remaining(Source):
    """The marked rows of a source, under the numbers they have there."""

    def __init__(self, source: Source, marks: Marks) -> None:
        self._source, self._marks, n_rows = source, marks, marks.count()
        self.facts = replace(source.facts, n_rows=n_rows, at_hand=min(n_rows, source.facts.at_hand or n_rows))

    def scan(self, w: Floats, b: float, *, worst: int = 0) -> Scan:
        """The sum of the scans of the blocks: an empty rest is never searched."""
        return reduce(operator.add, self.each(partial(scanned, self.facts, np.asarray(w, np.float64), float(b), worst)))

    def blocks(self, random: np.random.Generator | None = None) -> Iterator[Block]:
        """The marked rows of each block that has any."""
        for block in self._source.blocks(random):
            positions = self._marks.positions(block)
            if len(positions):
                yield block if len(positions) == len(block) else block.take(positions)

    def take(self, rows: Sequence[int] | Ints) -> Block:
        """These rows, by their numbers in the whole."""
        return self._source.take(rows)

    def each(self, work: Callable[..., T], marks: Marks | None = None) -> Iterator[T]:
        """What a function makes of the marked rows of each block."""
        assert marks is None  # nobody marks rows of a rest
        return self._source.each(partial(_on_marked, work), self._marks)

    def sample(self, k: int, seed: int) -> Block:
        """At most k distinct rows, uniform over the marked ones."""
        return self.take(self.sampled_rows(k, seed))

    def sampled_rows(self, k: int, seed: int) -> Ints:
        """The numbers of the rows of a sample."""
        return self._marks.at_ranks(distinct_rows(self.n_rows, k, seed))


def _on_marked(work: Callable[[Block], T], block: Block, flags: Flags) -> T:
    return work(block if flags.all() else block.take(np.flatnonzero(flags)))


def samples(source: Source, sizes: Sequence[int]) -> Iterator[Block]:
    """A sample of each size, with seeds 0, 1, ...: drawn when its turn comes; those of a stream all in one read."""
    if not source.facts.is_streamed:
        yield from (source.sample(size, seed) for seed, size in enumerate(sizes))
        return
    numbered = source.sampled_rows if isinstance(source, Remaining) else partial(distinct_rows, source.n_rows)
    if chosen := [numbered(size, seed) for seed, size in enumerate(sizes)]:
        union = np.sort(np.concatenate(chosen))
        union = union[np.diff(union, prepend=-1) > 0]  # np.unique hashes, which takes ten times as long
        held = source.take(union)
        yield from (held.take(np.searchsorted(union, rows)) for rows in chosen)
