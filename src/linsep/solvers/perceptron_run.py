"""What a run of the Perceptron hands out: each step, and its end."""

from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep.halfspace import Halfspace
from linsep.report import Report, Reported, RowNames, bounded, count, most_corrected, one_line, run_ended
from linsep.sources.base import Ints


class Mistake(NamedTuple):
    """A row with y·score <= 0, and that score."""

    row: int
    score: float | int


def _equal(one: Any, other: Any) -> bool:
    """Whether two values of one class have equal fields, arrays entry by entry."""
    return type(one) is type(other) and all(
        np.array_equal(getattr(one, f.name), getattr(other, f.name)) for f in fields(one) if f.compare
    )


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """One update: which row was a mistake, its score before, and the weights after.

    `update` counts from 1, `row` from 0; `label` is the row's as the user wrote it; `w` and `b` are the new weights.
    """

    update: int
    row: int
    label: Any
    score: float | int
    w: npt.NDArray[Any]
    b: float | int

    def __eq__(self, other: object) -> bool:
        return _equal(self, other)

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PerceptronRun(Reported):
    """What a run of the Perceptron did, and the halfspace it ended with.

    `converged` means that a whole pass found no mistake, in exact arithmetic where rounding left a doubt. `passes`
    counts reads of the data (rows read / rows, rounded up), the last clean one included. `mistakes_per_row` are the
    dual counts alpha:
    w = sum alpha_i·y_i·x_i and b = sum alpha_i·y_i; files, which may have more rows than memory holds, have None.
    `bits` is the length of the largest weight where the run was exact in integers, and None where it ran in floats.
    `row_names` is what the user calls the rows that were corrected most often.
    """

    halfspace: Halfspace
    converged: bool
    updates: int
    passes: int
    mistakes_per_row: Ints | None
    bits: int | None
    row_names: RowNames | None = field(default=None, compare=False)

    def __eq__(self, other: object) -> bool:
        return _equal(self, other)

    __hash__ = None  # type: ignore[assignment]

    def explain(self, bound: float | None = None) -> str:
        """What the run shows; beside Novikoff's bound on the updates, if it is given."""
        return self.report(bound).text()

    def __repr__(self) -> str:
        done = f"{count(self.updates, 'update')} in {count(self.passes, 'pass')}"
        return one_line(self, "separated" if self.converged else "not separated yet", done)

    def report(self, bound: float | None = None) -> Report:
        """What `explain` says, as a value."""
        is_separable = True if bound is not None else None  # there is no bound of other rows
        plane = self.halfspace.equation()
        title = run_ended(self.converged, self.updates, self.passes, plane, separable=is_separable)
        known = [] if bound is None else [bounded(bound)]
        return Report(
            title,
            (*known, *most_corrected(self.mistakes_per_row, self.row_names)),
            "yes" if self.converged else "unsure",
        )
