"""The rows of a source under other labels: one class against the rest, or its classes as some of a longer list."""

import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial, reduce
from typing import Any

import numpy as np

from linsep.sources.base import Array, Block, Floats, Ints, Label, Scan, Source, T, marks, positions
from linsep.sources.memory import MemorySource, scanned
from linsep.sources.row_set import Flags, Marks


def relabelled(source: Source, codes: Sequence[int], labels: tuple[Label, ...]) -> Source:
    """The same rows, where class k of the source is class `codes[k]` of these labels."""
    if isinstance(source, MemorySource):  # once, not at each walk
        facts = replace(source.facts, labels=labels)
        return MemorySource(source.table, _marked(source, codes, labels)(source.y), facts, source.numbers)
    return RelabelledSource(source, codes, labels)


def against_the_rest(source: Source, k: int) -> Source:
    """Class k of the source as +1, all others as -1."""
    labels = source.facts.labels
    return relabelled(source, [int(j == k) for j in range(len(labels))], (f"not {labels[k]}", labels[k]))


class RelabelledSource(Source):
    """Any source, with new labels for its blocks."""

    def __init__(self, source: Source, codes: Sequence[int], labels: tuple[Label, ...]) -> None:
        self._source, self._marked = source, _marked(source, codes, labels)
        self.facts = replace(source.facts, labels=labels)

    def scan(self, w: Floats, b: float, *, worst: int = 0) -> Scan:
        """The sum of the scans of the blocks."""
        return reduce(operator.add, self.each(partial(scanned, self.facts, np.asarray(w, np.float64), float(b), worst)))

    def blocks(self, random: np.random.Generator | None = None) -> Iterator[Block]:
        """The blocks of the source."""
        for block in self._source.blocks(random):
            yield replace(block, y=self._marked(block.y))

    def take(self, rows: Sequence[int] | Ints) -> Block:
        """These rows of the source."""
        block = self._source.take(rows)
        return replace(block, y=self._marked(block.y))

    def each(self, work: Callable[..., T], marks: Marks | None = None) -> Iterator[T]:
        """What a function makes of each block with its new labels."""
        return self._source.each(partial(_on_relabelled, work, self._marked), marks)


def _on_relabelled(work: Callable[..., T], marked: Any, block: Block, *flags: Flags) -> T:
    return work(replace(block, y=marked(block.y)), *flags)


def _marked(source: Source, codes: Sequence[int], labels: tuple[Label, ...]) -> Any:
    """What makes new labels of the old ones."""
    n_classes, new = len(source.facts.labels), marks(np.asarray(codes), len(labels))
    return partial(_renamed, new, n_classes)


def _renamed(new: Array, n_classes: int, y: Array) -> Array:
    return new[positions(y, n_classes)]
