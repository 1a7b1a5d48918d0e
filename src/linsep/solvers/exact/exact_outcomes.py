"""What an exact answer is, on its way from the LP to a verdict: plain integers about signed rows z."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from linsep.proofs import Obstruction


class Stopped(Exception):  # noqa: N818 - not an error: the caller's time ran out, and the LP can be resumed
    """The LP was asked to stop. Its state is kept: call again to resume."""


@dataclass(frozen=True, slots=True)
class Settled:
    """Exact weights (all columns, and the bias) if there is a weak separator, and the proof that no more is possible.

        separable      z·w > 0 on every row
        touching       z·w >= 0 on every row; an obstruction rules out z·w > 0 on all
        overlapping    no weights: the rows of the spread span all rows

    The spread of touching rows is a combination equal to zero whose rows span the rows that are 0 under the weights:
    no weak separator is positive there, so the weights are positive wherever one can be.
    """

    kind: Literal["separable", "touching", "overlapping"]
    weights: tuple[int, ...] = ()
    bias_weight: int = 0
    obstruction: Obstruction | None = None
    spread: Obstruction | None = None
