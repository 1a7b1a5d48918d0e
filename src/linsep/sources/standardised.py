"""The rows of a source centred and scaled, column by column, and the way back to their own units.

Standardising rounds, so it may be used for a run but never for a verdict: the weights of a run on these rows are
converted back to the user's units, and whatever is said about them concerns the user's own rows.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial, reduce
from typing import Any

import numpy as np

from linsep.errors import ArgumentError
from linsep.halfspace import LARGEST, MODERATE, Halfspace
from linsep.loops.layouts import Dense
from linsep.scores import nearest
from linsep.sources.base import Block, Floats, Ints, Source, T
from linsep.sources.memory import Blockwise, MemorySource
from linsep.sources.row_set import Flags, Marks

FAR, UNLIKE = 10.0, 10.0  # a mean of this many deviations is far from 0; scales of this ratio are unlike


@dataclass(frozen=True, slots=True)
class Scaling:
    """What is subtracted from each column, and what it is then divided by; no divisor is 0 or infinite."""

    centres: Floats
    scales: Floats

    def applied(self, block: Block) -> Block:
        """The rows of a block, centred and scaled."""
        values = (block.values.astype(np.float64) - self.centres) / self.scales
        return replace(block, table=Dense(np.ascontiguousarray(values)))

    def in_own_units(self, halfspace: Halfspace) -> Halfspace:
        """The same hyperplane for the original rows: w/s, and the b that gives the centre the same score.

        The quotients are exact until each is rounded once, and b is computed for the rounded weights, so that it
        compensates for their rounding at the centre of the rows.
        """
        exact = [Fraction(v) / Fraction(s) for v, s in zip(halfspace.w.tolist(), self.scales.tolist(), strict=True)]
        centres = list(map(Fraction, self.centres.tolist()))
        unit = _power_of_two([*exact, Fraction(halfspace.b) - _dot(exact, centres)])
        w = [nearest(value * unit, np.finfo(np.float64)) for value in exact]
        b = nearest(Fraction(halfspace.b) * unit - _dot(map(Fraction, w), centres), np.finfo(np.float64))
        return Halfspace(np.array(w), max(-LARGEST, min(b, LARGEST)), halfspace.labels)

    def cause(self) -> str:
        """Why rows like these are hard for the Perceptron, in words; empty if neither centre nor scale explains it."""
        is_far = bool((np.abs(self.centres) > FAR * self.scales).any())
        is_unlike = bool(self.scales.max(initial=1.0) > UNLIKE * self.scales.min(initial=1.0))
        reasons = ["are far from 0"] * is_far + ["have very different scales"] * is_unlike
        return f"the columns {' and '.join(reasons)}" if reasons else ""


def standardised(source: Source, *, centre: bool = True) -> "StandardisedSource":
    """The rows with columns of mean 0 and standard deviation 1 or, not centred, of mean square 1.

    A constant column becomes 0 and is not scaled. For hyperplanes through the origin (no bias), rows must not be
    centred: that would move the origin.
    """
    if any(source.each(_is_sparse)):
        raise ArgumentError(
            "Sparse rows cannot be standardised: centring would fill in their zeros. Scale their columns beforehand."
        )
    source.require_finite()
    lows, highs = reduce(_wider, source.each(_extremes))
    middles = lows / 2 + highs / 2 if centre else np.zeros(source.n_columns)
    reach = highs / 2 - lows / 2 if centre else np.maximum(np.abs(lows), np.abs(highs))
    if not (reach < LARGEST / 4).all():
        column = source.facts.column_name(int(np.argmax(reach)))
        raise ArgumentError(f"The column {column!r} spans nearly all doubles: it cannot be standardised.")
    reach[reach == 0] = 1.0
    first, second = reduce(_added, source.each(partial(_moments, middles, reach)))
    mean = first / source.n_rows if centre else np.zeros(source.n_columns)
    deviations = reach * np.sqrt(np.maximum(second / source.n_rows - mean**2, 0.0))
    centres = np.where(lows == highs, lows, middles + reach * mean) if centre else middles
    return StandardisedSource(source, Scaling(centres, np.where(deviations > 0, deviations, 1.0)))


class StandardisedSource(Blockwise):
    """Any source of dense rows, with its columns centred and scaled as its blocks are read."""

    def __init__(self, source: Source, scaling: Scaling) -> None:
        self.own, self.scaling = source, scaling
        self.facts = replace(source.facts, integer_bits=None, numbers="binary64", is_finite=True)
        is_here = isinstance(source, MemorySource)
        self._held = scaling.applied(next(source.blocks())) if is_here else None  # once, not on each walk

    def blocks(self, random: np.random.Generator | None = None) -> Iterator[Block]:
        """The blocks of the source, standardised."""
        yield from [self._held] if self._held is not None else map(self.scaling.applied, self.own.blocks(random))

    def take(self, rows: Sequence[int] | Ints) -> Block:
        """These rows of the source, standardised."""
        return self.scaling.applied(self.own.take(rows))

    def each(self, work: Callable[..., T], marks: Marks | None = None) -> Iterator[T]:
        """The results of a function for each standardised block."""
        if self._held is not None:
            return super().each(work, marks)
        return self.own.each(partial(_on_standardised, work, self.scaling), marks)


def mistakes_of(source: Source, halfspace: Halfspace) -> int:
    """How many rows are not strictly on their side, in exact arithmetic where floats cannot tell."""
    w, b = halfspace.w.astype(np.float64), float(halfspace.b)
    if not (w.any() or b):
        return source.n_rows
    found = source.scan(w, b)
    if not found.doubtful.size:
        return found.certain
    return found.certain + int(np.count_nonzero(source.take(found.doubtful).exact_signs(w, b) <= 0))


def _on_standardised(work: Callable[..., T], scaling: Scaling, block: Block, *flags: Flags) -> T:
    return work(scaling.applied(block), *flags)


def _is_sparse(block: Block) -> bool:
    return block.is_sparse


def _extremes(block: Block) -> tuple[Floats, Floats]:
    values = block.values
    return values.min(axis=0).astype(np.float64), values.max(axis=0).astype(np.float64)


def _wider(one: tuple[Floats, Floats], other: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
    return np.minimum(one[0], other[0]), np.maximum(one[1], other[1])


def _moments(middles: Floats, reach: Floats, block: Block) -> tuple[Floats, Floats]:
    """The sums of the values and of their squares, shifted and scaled into [-1, 1], where no square overflows."""
    moved = (block.values.astype(np.float64) - middles) / reach
    return moved.sum(axis=0), np.square(moved).sum(axis=0)  # row after row: the explorer's page rounds the same way


def _added(one: tuple[Floats, Floats], other: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
    return one[0] + other[0], one[1] + other[1]


def _dot(left: Any, right: Any) -> Fraction:
    return sum((one * other for one, other in zip(left, right, strict=True)), Fraction(0))


def _power_of_two(values: Sequence[Fraction]) -> Fraction:
    """1, or the power that brings the largest value near 1 if it is near the limits of the doubles."""
    largest = max(map(abs, values), default=Fraction(0))
    if not largest:
        return Fraction(1)
    power = math.floor(math.log2(largest.numerator) - math.log2(largest.denominator))
    return Fraction(1) if abs(power) < MODERATE else Fraction(2) ** -power
