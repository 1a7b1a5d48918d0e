"""Answers to the joint question about many classes that can be found before Kesler's rows are made.

* An obstruction of a pair of classes is an obstruction of the joint question: its rows, each against the other class.
* A column that is nowhere negative in a class and nowhere positive in the others, or the other way round, is a weak
  separator: it is the score of that class, and the scores of the others are 0.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep.proofs import Obstruction
from linsep.proofs.definite import ColumnDependence
from linsep.sources.base import Block, Floats, Ints, Source, positions

MOST_MEANS = 1 << 25  # entries of the means of all classes
ENTRIES = 1 << 22  # of dense rows processed together


@dataclass(frozen=True, slots=True)
class Places:
    """Where Kesler's rows and columns are: the numbers of a `KeslerSource`."""

    n_classes: int
    n_columns: int
    bias: bool

    @property
    def width(self) -> int:
        """The columns of a block."""
        return self.n_columns + self.bias

    def column(self, k: int, j: int) -> int:
        """Column j in the block of class k, which is not the first."""
        return (k - 1) * self.width + j

    def of_pair(self, found: Obstruction, classes: Ints, pair: tuple[int, int]) -> Obstruction:
        """An obstruction of two classes as one of the joint question; `classes` are those of its rows."""
        low, high = pair
        others = low + high - classes
        rows = np.asarray(found.rows, np.int64) * (self.n_classes - 1) + others - (others > classes)
        dependences = found.dependences
        if dependences is not None:
            dependences = tuple(
                ColumnDependence(tuple(self.column(high, j) for j in one.columns), one.weights) for one in dependences
            )
            if low:  # the block of the lower class is minus that of the higher one
                blocks = ((self.column(low, j), self.column(high, j)) for j in range(self.width))
                dependences = (*(ColumnDependence(columns, (1, 1)) for columns in blocks), *dependences)
        return Obstruction(tuple(rows.tolist()), found.weights, dependences=dependences)


def pairs_by_distance(source: Source) -> list[tuple[int, int]]:
    """All pairs of classes, those with the nearest means, which are the least likely to be separable, first."""
    n_classes = len(source.facts.labels)
    pairs = list(combinations(range(n_classes), 2))
    if n_classes * source.n_columns > MOST_MEANS:
        return pairs
    sums, sizes = np.zeros((n_classes, source.n_columns)), np.zeros(n_classes)
    with np.errstate(all="ignore"):
        for codes, values in _parts(source):
            sums += _by_class(codes, n_classes) @ values.astype(np.float64)
            sizes += np.bincount(codes, minlength=n_classes)
        means: Floats = sums / sizes[:, None]
        distance = {(a, b): float(np.square(means[a] - means[b]).sum()) for a, b in pairs}
    return sorted(pairs, key=lambda pair: (np.nan_to_num(distance[pair], nan=np.inf), pair))


def pure_column(source: Source) -> tuple[int, int, int] | None:
    """A class, a column and a sign: this score of the class, and 0 of the others, are a weak separator."""
    n_classes = len(source.facts.labels)
    if n_classes * source.n_columns > MOST_MEANS:
        return None
    above, below = (np.zeros((n_classes, source.n_columns), np.int64) for _ in range(2))
    for codes, values in _parts(source):
        by_class = _by_class(codes, n_classes)
        above += by_class @ (values > 0).astype(np.int64)
        below += by_class @ (values < 0).astype(np.int64)
    for sign, own, others in ((1, above, below), (-1, below, above)):
        against, elsewhere = others, own.sum(axis=0) - own  # in the class itself, and in the others
        helps = own + (others.sum(axis=0) - others)
        found = np.argwhere((against == 0) & (elsewhere == 0) & (helps > 0))
        if len(found):
            k, j = max(found.tolist(), key=lambda place: int(helps[place[0], place[1]]))
            return int(k), int(j), sign
    return None


def _by_class(codes: Ints, n_classes: int) -> Any:
    """A matrix that adds up rows class by class."""
    ones: npt.NDArray[np.int64] = np.ones(len(codes), np.int64)
    return sp.csr_array((ones, (codes, np.arange(len(codes)))), shape=(n_classes, len(codes)))


def _parts(source: Source) -> Iterator[tuple[Ints, Any]]:
    """Classes and values, some rows at a time."""
    n_classes = len(source.facts.labels)

    def slices(block: Block) -> Iterator[slice]:
        step = len(block) if block.is_sparse else max(1, ENTRIES // max(1, block.n_columns))
        return (slice(start, start + step) for start in range(0, len(block), step))

    for block in source.blocks():
        codes, values = positions(block.y, n_classes), block.values
        yield from ((codes[part], values[part]) for part in slices(block))
