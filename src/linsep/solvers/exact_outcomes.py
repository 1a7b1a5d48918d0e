"""What the exact LP can answer: plain values in integers, about the rows it was given.

Rows are named by the ids that `ExactLP.add` returned; weights belong to the integer rows as they were added.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


class Stopped(Exception):  # noqa: N818 - not an error: the caller's clock ran out, and the LP can go on
    """The LP was asked to stop. Its state is kept: call again to go on."""


@dataclass(frozen=True)
class Obstruction:
    """Rows with positive coprime weights whose weighted sum is zero."""

    ids: tuple[int, ...]
    weights: tuple[int, ...]


@dataclass(frozen=True)
class Separator:
    """Weights with z·w > 0 on every row outside the free span: on every row, while nothing was freed."""

    weights: tuple[int, ...]


@dataclass(frozen=True)
class Separable:
    """Weights with z·w > 0 on every row."""

    weights: tuple[int, ...]


@dataclass(frozen=True)
class Touching:
    """An obstruction, and weights zero on the free span and positive on every row outside it.

    The spread is a positive combination equal to zero whose rows span the free span: no weak separator is
    positive there, so the weights are positive wherever one can be.
    """

    weights: tuple[int, ...]
    obstruction: Obstruction
    spread: Obstruction


@dataclass(frozen=True)
class Overlapping:
    """An obstruction, and a positive combination equal to zero of at most 2·rank rows that span all rows."""

    obstruction: Obstruction
    spread: Obstruction


Outcome: TypeAlias = Separable | Touching | Overlapping
