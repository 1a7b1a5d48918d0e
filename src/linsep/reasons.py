"""Separation by a single column, in words that need no geometry: "All 5 rows with site = 1 are 'died'."

Most separation that people meet is of this kind: a category that is too rare to show every outcome, or a column that
encodes the outcome. What takes several columns together is left to the proof.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from linsep.errors import shown
from linsep.likelihoods import Likelihood
from linsep.sources.base import Array, Floats
from linsep.tables import is_sparse
from linsep.tables.label_values import distinct

MOST_ENTRIES = 5_000_000  # of the table: larger ones are not looked at once more
MOST_SENTENCES = 3


def reasons(likelihood: Likelihood, states: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """Sentences about columns that separate rows on their own, a few of those whose coefficients diverge."""
    if likelihood.n_rows * len(likelihood.names) > MOST_ENTRIES or likelihood.source.facts.is_streamed:
        return ()
    looked = Looked(likelihood)
    infinite = [name for name, state in states if state in ("+inf", "-inf", "undetermined")]
    is_of_classes = likelihood.family == "multinomial"
    diverging = {name.partition(":")[2] for name in infinite} if is_of_classes else set(infinite)
    found: list[str] = []
    for j, name in enumerate(looked.names):
        if name in diverging:
            found += looked.sentences(j)
        if len(found) >= MOST_SENTENCES:
            break
    return tuple(found[:MOST_SENTENCES])


class Looked:
    """The user's rows that count, and what was observed of each."""

    def __init__(self, likelihood: Likelihood) -> None:
        seen, source = likelihood.observed, likelihood.source
        self.family = likelihood.family
        if seen is None:
            block = source.take(np.arange(source.n_rows))
            values, scales, self.names = block.values, source.facts.scales, likelihood.names
            self.levels: tuple[Any, ...] = source.facts.pair
            self.y, self.strata = block.y > 0, None
            self.counts = self.y.astype(float), (~self.y).astype(float)
            rows = np.arange(source.n_rows)
        else:
            values, scales, self.names, self.levels = seen.values, seen.facts.scales, seen.names, seen.levels
            rows = np.flatnonzero(seen.counted)
            self.y, strata = seen.y[rows], seen.options.strata
            self.strata = None if strata is None else distinct(strata)[1][rows]
            none = np.zeros(0)
            self.counts = (none, none) if seen.counts is None else (seen.counts[0][rows], seen.counts[1][rows])
        self.table = values.tocsc()[rows] if is_sparse(values) else values[rows]
        self.scales = scales

    def column(self, j: int) -> Floats:
        """Column j, in the user's units."""
        column = self.table[:, [j]].toarray().ravel() if is_sparse(self.table) else self.table[:, j]
        return np.asarray(column, np.float64) / (1 if self.scales is None else self.scales[j])

    def sentences(self, j: int) -> Iterator[str]:
        """What column j does on its own."""
        column, name = self.column(j), self.names[j]
        if self.family == "conditional":
            yield from self._within_strata(column, name)
            return
        values = np.unique(column)
        if len(values) == 2:
            for value in reversed(values.tolist()):
                rows = column == value
                told = f"{int(rows.sum()):,} row{'s' * (int(rows.sum()) != 1)} with {name} = {value:g}"
                yield from self._of_value(rows, told)
        elif self.family == "binomial":
            yield from self._threshold(column, name)

    def _of_value(self, rows: Array, told: str) -> Iterator[str]:
        """What rows with one value of a column of two have in common."""
        one = told.startswith("1 row ")
        every, are, have = ("The", "is", "has") if one else ("All", "are", "have")
        if self.family == "binomial":
            successes, failures = (bool((count[rows] > 0).any()) for count in self.counts)
            if successes != failures:
                yield f"{every} {told} {are} {shown(self.levels[int(successes)])}."
        elif self.family == "poisson" and not self.y[rows].any():
            yield f"{every} {told} {have} y = 0."
        elif self.family == "cox" and not self.y[rows].any():
            yield f"{every} {told} {have} no event."
        elif self.family == "ordinal" and len(np.unique(self.y[rows])) == 1:
            place = int(self.y[rows][0])
            if place in (0, len(self.levels) - 1):
                end = "highest" if place else "lowest"
                yield f"{every} {told} {are} of the {end} class, {shown(self.levels[place])}."
        elif self.family == "multinomial":
            missing = [level for k, level in enumerate(self.levels) if not (self.y[rows] == k).any()]
            if missing:
                yield f"Of the {told}, none is {' or '.join(map(shown, missing))}."

    def _threshold(self, column: Floats, name: str) -> Iterator[str]:
        """Whether the classes lie on two sides of a value."""
        above, below = (column[count > 0] for count in self.counts)
        for sides, (high, low) in ((above, below), (1, 0)), ((below, above), (0, 1)):
            if sides[0].size and sides[1].size and sides[0].min() >= sides[1].max():
                ends = f"{sides[0].min():g} or more", f"{sides[1].max():g} or less"
                yield (
                    f"Every row that is {shown(self.levels[high])} has {name} = {ends[0]}, "
                    f"and every row that is {shown(self.levels[low])} has {name} = {ends[1]}."
                )

    def _within_strata(self, column: Floats, name: str) -> Iterator[str]:
        """Whether the cases of every stratum have the largest values, or the smallest."""
        assert self.strata is not None
        cases = self.counts[0] > 0
        for sign, word in ((1, "less"), (-1, "more")):
            lowest = np.full(int(self.strata.max()) + 1, np.inf)
            highest = np.full(len(lowest), -np.inf)
            np.minimum.at(lowest, self.strata[cases], sign * column[cases])
            np.maximum.at(highest, self.strata[~cases], sign * column[~cases])
            both = np.isfinite(lowest) & np.isfinite(highest)
            if (lowest[both] >= highest[both]).all() and (lowest[both] > highest[both]).any():
                yield f"No case has {word} {name} than a control of its stratum."
