"""Some rows of a source, without copying it: the marked rows, samples, and the rows of two classes."""

import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial, reduce

import numpy as np

from linsep.exact import FEW_CELLS
from linsep.sources.base import Block, Floats, Ints, Label, Scan, Signs, Source, T, distinct_rows, positions
from linsep.sources.memory import Blockwise, MemorySource, Stripes, settled, striped
from linsep.sources.row_set import Flags, Marks

STRIPED = 1 << 15  # rows: a sample of at least this many consists of runs of consecutive rows
RUN = 61  # rows: a period that no table is likely to have


class Remaining(Blockwise):
    """The marked rows of a source, of which there is at least one, with the numbers they have there."""

    def __init__(self, source: Source, marks: Marks) -> None:
        self._source, self._marks, n_rows = source, marks, marks.count()
        self.facts = replace(source.facts, n_rows=n_rows, at_hand=min(n_rows, source.facts.at_hand or n_rows))

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
        """The results of a function for the marked rows of each block."""
        assert marks is None  # no caller marks rows of such a source
        return self._source.each(partial(_on_marked, work), self._marks)

    def sample(self, k: int, seed: int) -> Block:
        """At most k distinct rows, uniform over the marked ones."""
        return self.take(self.numbered(distinct_rows(self.n_rows, k, seed)))

    def numbered(self, ranks: Ints) -> Ints:
        """The numbers of the rows at these places among the marked ones."""
        return self._marks.at_ranks(ranks)


def _on_marked(work: Callable[[Block], T], block: Block, flags: Flags) -> T:
    return work(block if flags.all() else block.take(np.flatnonzero(flags)))


def samples(source: Source, sizes: Sequence[int]) -> Iterator[MemorySource]:
    """A sample of each size, its rows with their numbers in the whole: the same rows for every kind of source.

    Each is drawn when its turn comes; those of a stream all in one read.
    """
    facts = source.facts
    if not facts.is_streamed:
        for seed, size in enumerate(sizes):
            if isinstance(source, MemorySource) and size >= STRIPED:
                yield Stripes(source, *_stripe(source.n_rows, size))
            else:
                yield _held(source.take(_numbers_of(source, size, seed)), source)
        return
    if chosen := [_numbers_of(source, size, seed) for seed, size in enumerate(sizes)]:
        union = np.sort(np.concatenate(chosen))
        union = union[np.diff(union, prepend=-1) > 0]  # np.unique hashes, which takes ten times as long
        held = source.take(union)
        yield from (_held(held.take(np.searchsorted(union, rows)), source) for rows in chosen)


def _numbers_of(source: Source, size: int, seed: int) -> Ints:
    """The numbers of the rows of a sample: drawn at random if few, else runs of rows, which are quick to read."""
    n_rows = source.n_rows
    ranks = distinct_rows(n_rows, size, seed) if size < STRIPED else striped(n_rows, *_stripe(n_rows, size))
    if isinstance(source, Remaining):
        return source.numbered(ranks)
    return source.numbered(ranks) if isinstance(source, MemorySource) else ranks


def _stripe(n_rows: int, size: int) -> tuple[int, int]:
    return RUN, RUN * max(1, n_rows // size)


def _held(block: Block, whole: Source) -> MemorySource:
    return _as_large(MemorySource.of(block, whole.facts, block.row_numbers), whole)


def _as_large(part: MemorySource, whole: Source) -> MemorySource:
    """The same part, scanned as the whole would be, so that no sum depends on its size."""
    part.is_worth_compiling |= whole.n_rows * whole.n_columns > FEW_CELLS
    return part


def class_marks(source: Source) -> list[Marks]:
    """Which rows belong to which class, found in one read."""
    n_classes = len(source.facts.labels)
    found = [Marks(source.n_rows) for _ in range(n_classes)]
    for block in source.blocks():
        codes = positions(block.y, n_classes)
        for k in np.unique(codes).tolist():
            found[k].put(int(block.numbers[0]), codes == k)
    return found


def of_classes(source: Source, marks: Sequence[Marks], pair: tuple[int, int]) -> "ChosenSource | MemorySource":
    """The rows of two classes, the first as -1 and the second as +1; those of a table in memory are copied."""
    labels = source.facts.labels
    chosen = ChosenSource(source, marks[pair[0]].joined(marks[pair[1]]), pair[1], (labels[pair[0]], labels[pair[1]]))
    if source.facts.is_streamed:
        return chosen
    block = chosen.take(np.arange(chosen.n_rows))
    return MemorySource.of(block, chosen.facts)


class ChosenSource(Source):
    """The marked rows of a source; those of one of its classes are +1, the others -1."""

    def __init__(self, source: Source, marks: Marks, positive: int, labels: tuple[Label, Label]) -> None:
        self._source, self._marks, self._positive = source, marks, positive
        self._n_classes, n_rows = len(source.facts.labels), marks.count()
        at_hand = None if source.facts.at_hand is None else min(n_rows, source.facts.at_hand)
        self.facts = replace(source.facts, n_rows=n_rows, labels=labels, at_hand=at_hand, ids=None)

    def scan(self, w: Floats, b: float, *, worst: int = 0) -> Scan:
        """The sum of the scans of the blocks."""

        def scanned(block: Block) -> Scan:
            part = _as_large(MemorySource.of(block, self.facts, block.numbers), self)
            return settled(part, part.scan(w, b, worst=worst), w, b)

        return reduce(operator.add, map(scanned, self.blocks()))

    def blocks(self, random: np.random.Generator | None = None) -> Iterator[Block]:
        """The marked rows of each block that has any, in order."""
        start = 0
        for block in self._source.blocks():
            places = self._marks.positions(block)
            if len(places):
                own = block if len(places) == len(block) else block.take(places)
                yield replace(own, y=self._signs(own), numbers=range(start, start + len(places)))
                start += len(places)

    def take(self, rows: Sequence[int] | Ints) -> Block:
        """These rows, by their new numbers."""
        numbers = np.asarray(rows, np.int64)
        block = self._source.take(self.own_numbers(numbers))
        return replace(block, y=self._signs(block), numbers=numbers)

    def own_numbers(self, numbers: Sequence[int] | Ints) -> Ints:
        """The numbers of rows in the source."""
        ranks, places = np.unique(np.asarray(numbers, np.int64), return_inverse=True)
        return self._marks.at_ranks(ranks)[places]

    def _signs(self, block: Block) -> Signs:
        return np.where(positions(block.y, self._n_classes) == self._positive, np.int8(1), np.int8(-1))
