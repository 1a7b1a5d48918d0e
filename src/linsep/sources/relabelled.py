"""The rows of a source with other labels (one class against the rest, or its classes within a longer list), with
weights for learners, one for each class, or with numbers as doubles."""

import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial, reduce

import numpy as np

from linsep.sources.base import Array, Block, Facts, Floats, Ints, Label, Source, T, as_doubles, marks, positions
from linsep.sources.memory import Blockwise, MemorySource
from linsep.sources.row_set import Flags, Marks

Change = Callable[[Block], Block]


def relabelled(source: Source, codes: Sequence[int], labels: tuple[Label, ...]) -> Source:
    """The same rows, where class k of the source is class `codes[k]` of these labels."""
    facts, new = replace(source.facts, labels=labels), marks(np.asarray(codes), len(labels))
    change = partial(_renamed, new, len(source.facts.labels))
    if isinstance(source, MemorySource):  # once, not on each walk
        y = change(next(source.blocks())).y
        return MemorySource(source.table, y, facts, source.numbers, source.weights)
    return ChangedSource(source, change, facts)


def against_the_rest(source: Source, k: int) -> Source:
    """Class k of the source as +1, all others as -1."""
    labels = source.facts.labels
    return relabelled(source, [int(j == k) for j in range(len(labels))], (f"not {labels[k]}", labels[k]))


def weighted(source: Source, class_weights: Floats) -> Source:
    """The same rows, each with the weight of its class."""
    n_classes = len(class_weights)
    facts = replace(source.facts, weight=float(class_counts(source) @ class_weights))
    return ChangedSource(source, partial(_weighted, class_weights, n_classes), facts)


def in_doubles(source: Source) -> Source:
    """The same rows with whole numbers as doubles, for learners whose weights are doubles.

    The loops add the products of two doubles in another order than those of an integer and a double.
    """
    if source.facts.integer_bits is None:
        return source
    facts = replace(source.facts, integer_bits=None)
    if isinstance(source, MemorySource):  # once, not on each walk
        block = _in_doubles(next(source.blocks()))
        return MemorySource(block.table, block.y, facts, source.numbers, source.weights)
    return ChangedSource(source, _in_doubles, facts)


def class_counts(source: Source) -> Ints:
    """How many rows each class has: a read of the labels."""
    n_classes = len(source.facts.labels)
    return reduce(operator.add, source.each(partial(_counted, n_classes)))


class ChangedSource(Blockwise):
    """Any source, with new labels or weights for its blocks."""

    def __init__(self, source: Source, change: Change, facts: Facts) -> None:
        self._source, self._change, self.facts = source, change, facts

    def blocks(self, random: np.random.Generator | None = None) -> Iterator[Block]:
        """The blocks of the source."""
        return map(self._change, self._source.blocks(random))

    def take(self, rows: Sequence[int] | Ints) -> Block:
        """These rows of the source."""
        return self._change(self._source.take(rows))

    def each(self, work: Callable[..., T], marks: Marks | None = None) -> Iterator[T]:
        """The results of a function for each changed block."""
        return self._source.each(partial(_on_changed, work, self._change), marks)


def _on_changed(work: Callable[..., T], change: Change, block: Block, *flags: Flags) -> T:
    return work(change(block), *flags)


def _renamed(new: Array, n_classes: int, block: Block) -> Block:
    return replace(block, y=new[positions(block.y, n_classes)])


def _in_doubles(block: Block) -> Block:
    return replace(block, table=as_doubles(block.table))


def _weighted(class_weights: Floats, n_classes: int, block: Block) -> Block:
    return replace(block, weights=class_weights[positions(block.y, n_classes)])


def _counted(n_classes: int, block: Block) -> Ints:
    return np.bincount(positions(block.y, n_classes), minlength=n_classes)
