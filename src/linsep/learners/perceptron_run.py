"""What a run of the Perceptron returns: each step, and the result."""

from dataclasses import dataclass, field, fields, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep.halfspace import Halfspace
from linsep.report import (
    SHOWN_ROWS,
    Report,
    Reported,
    RowNames,
    bounded,
    by_corrections,
    count,
    most_corrected,
    one_line,
    rows_left_out,
    run_ended,
)
from linsep.sources.base import Ints
from linsep.tables.given_rows import Given


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

    Attributes
    ----------
    update, row : int
        `update` counts from 1, `row` from 0.
    label : the row's, as the user wrote it
        One of two.
    score : number
        Of the row, before the update.
    w, b : the new weights
        After it.

    Examples
    --------
    >>> import linsep
    >>> step = next(linsep.perceptron_steps(*linsep.datasets.tao(), bias=False))
    >>> step.update, step.row, step.w.tolist()
    (1, 0, [1, 0])
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

    Attributes
    ----------
    halfspace : Halfspace
        The last weights.
    converged : bool
        Whether a whole pass found no mistake, checked in exact arithmetic where rounding left a doubt.
    updates, passes : int
        `passes` counts reads of the data (rows read / rows, rounded up), including the last, clean one.
    mistakes_per_row : array or None
        The dual counts alpha: w = sum alpha_i·y_i·x_i and b = sum alpha_i·y_i. None for files, which may have more
        rows than memory can hold.
    bits : int or None
        The length in bits of the largest weight where the run was exact, in integers; None where it ran in floats.
    row_names : mapping
        What the user calls the rows that were corrected most often.
    rows_left_out : int
        Rows with missing values that were dropped: their counts are 0.

    Examples
    --------
    >>> import linsep
    >>> linsep.perceptron(*linsep.datasets.tao(), bias=False).mistakes_per_row.tolist()
    [1, 1, 0, 0]
    """

    halfspace: Halfspace
    converged: bool
    updates: int
    passes: int
    mistakes_per_row: Ints | None
    bits: int | None
    row_names: RowNames | None = field(default=None, compare=False)
    rows_left_out: int = 0

    def in_own_numbers(self, rows: Given) -> "PerceptronRun":
        """The same run with the row numbers and names of the user's table, from which some rows were dropped."""
        if rows.kept is None or self.mistakes_per_row is None:
            return self
        counts = rows.spread(self.mistakes_per_row)
        names = None if rows.names is None else rows.names.names(by_corrections(counts)[:SHOWN_ROWS].tolist())
        return replace(self, mistakes_per_row=counts, row_names=names, rows_left_out=rows.dropped)

    def __eq__(self, other: object) -> bool:
        return _equal(self, other)

    __hash__ = None  # type: ignore[assignment]

    def explain(self, bound: float | None = None) -> str:
        """What the run shows, compared with Novikoff's bound on the updates, if it is given."""
        return self.report(bound).text()

    def __repr__(self) -> str:
        done = f"{count(self.updates, 'update')} in {count(self.passes, 'pass')}"
        return one_line(self, "separated" if self.converged else "not separated yet", done)

    def report(self, bound: float | None = None) -> Report:
        """What `explain` says, as a value."""
        is_separable = True if bound is not None else None  # only separable rows have a bound
        plane = self.halfspace.equation()
        title = run_ended(self.converged, self.updates, self.passes, plane, separable=is_separable)
        left_out = rows_left_out(self.rows_left_out, "not learned from")
        known = [] if bound is None else [bounded(bound)]
        return Report(
            title,
            (*known, *most_corrected(self.mistakes_per_row, self.row_names), *left_out),
            "yes" if self.converged else "unsure",
        )
