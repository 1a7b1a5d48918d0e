"""Rows so small that their scores vanish: every score rounds to 0.

A weight of the Perceptron is a sum of entries, so a score is about as large as the square of the longest row. Where
that square is below the smallest double every score is 0, every row stays a mistake, and the run never ends. A bias
does not help: its 1 cancels as often as it adds. Multiplied by a power of two, the same rows have scores that do not
vanish.
"""

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from linsep.errors import UnderflowedError
from linsep.sources.base import Block, Source

SMALLEST_SCORE = 2.0**-960  # below it, the products that a score is made of lose digits

A_FEW = 256  # rows, or entries of sparse rows


def require_scores(source: Source, *weights: Any) -> None:
    """Refuse a source whose rows are all so small that their scores vanish; one larger entry is enough to pass."""
    _require(source.each(_largest_in), weights)


def require_scores_of(parts: Iterable[Any], *weights: Any) -> None:
    """The same for the entries of some rows, learned from with these arrays of weights."""
    _require(map(_largest, parts), weights)


def _largest_in(block: Block) -> float:
    return _largest(block.table[0])


def _largest(entries: Any) -> float:
    """The size of the largest entry, or of the first that is large enough; infinite for integers, none too small."""
    largest = 0.0
    if entries.dtype.kind != "f":
        return math.inf
    if entries.size and not (first := abs(float(entries.flat[0]))) * first < SMALLEST_SCORE:
        return first
    for start in range(0, len(entries), A_FEW):  # the first entry is nearly always large enough, else one of the first
        some = entries[start : start + A_FEW]
        largest = max(largest, float(some.max(initial=0.0)), -float(some.min(initial=0.0)))
        if not largest * largest < SMALLEST_SCORE:  # NaN is refused later, by its row
            break
    return largest


def _require(sizes: Iterable[float], weights: Sequence[Any]) -> None:
    largest = 0.0
    for size in sizes:
        largest = max(largest, size)
        if not size * size < SMALLEST_SCORE:
            return
    heaviest = max((float(np.abs(part).max(initial=0.0)) for part in weights), default=0.0)
    if largest > 0 and largest * heaviest < SMALLEST_SCORE:
        raise UnderflowedError(
            f"The rows are too small to learn from: their scores vanish, the largest value is {largest:.3g}. "
            "Multiply X by a power of two: that changes no verdict."
        )
