"""The rows of two classes of a source, renumbered as a table of their own, whatever the other classes are."""

import operator
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import reduce

import numpy as np

from linsep.sources.base import Block, Floats, Ints, Label, Scan, Signs, Source, positions
from linsep.sources.memory import MemorySource, settled
from linsep.sources.row_set import Marks


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
            part = MemorySource.of(block, self.facts, block.numbers)
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
