"""The question about a model: rows that decide whether its likelihood has a maximum, and which user's rows they are."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linsep.questions.logistic.likelihoods.observed import Factors, Family, Observed
from linsep.sources.base import Ints, Source
from linsep.sources.memory import MemorySource
from linsep.tables.row_ids import RowIds


@dataclass(frozen=True, slots=True)
class Likelihood:
    """The rows that decide whether a likelihood has a maximum, and what they are made from.

    `names` are the coefficients without the intercept of `bias`; `hidden` columns come before theirs. If row i of the
    source is strictly on its side, it separates the user's rows order[first[i]:last[i]].
    """

    family: Family
    source: Source
    names: tuple[str, ...]
    bias: bool
    n_rows: int
    hidden: int = 0
    order: Ints | None = None
    first: Ints | None = None
    last: Ints | None = None
    sides: tuple[Ints, Ints] | None = None  # for a conditional model: the stratum of each row, and whether it is a case
    observed: Observed | None = None
    outcome: str = "y"  # what the outcome is called
    link: str = ""  # if it is not the logarithm or the logit
    factors: Factors = tuple  # columns of categories from which some of the names are made
    ids: RowIds | None = None  # what the user calls the rows

    def separated(self, strict: Ints) -> tuple[int, ...]:
        """The user's rows that these rows of the source separate."""
        if self.order is None or self.first is None or self.last is None:
            return tuple(strict.tolist())
        steps = np.zeros(self.n_rows + 1, np.int64)
        np.add.at(steps, self.first[strict], 1)
        np.add.at(steps, self.last[strict], -1)
        found = self.order[np.flatnonzero(np.cumsum(steps[:-1]) > 0)]
        return tuple(np.unique(self._whole_strata(found)).tolist())

    def labels_at(self, rows: Sequence[int]) -> list[Any]:
        """The outcomes of these rows of the user."""
        seen = self.observed
        if seen is None:
            return [self.source.facts.pair[int(sign > 0)] for sign in self.source.signs_of(rows).tolist()]
        values = seen.y[[*rows]].tolist()
        is_place = seen.family in ("multinomial", "ordinal")  # whose outcomes are positions among the levels
        return [seen.levels[int(value)] for value in values] if is_place else list(values)

    def part(self, rows: Ints) -> Source:
        """Some of the user's rows, for a model with their columns; the labels mean nothing."""
        if self.observed is not None:
            signs = np.ones(len(rows), np.int8)
            return self.observed.source(self.observed.values[rows], signs, self.observed.facts.scales)
        block = self.source.take(rows)
        return MemorySource.of(block, self.source.facts)

    def _whole_strata(self, found: Ints) -> Ints:
        """If all cases of a stratum are separated, so are its controls, and conversely."""
        if self.sides is None:
            return found
        strata, cases = self.sides  # the last stratum holds the rows that are not part of the likelihood
        open_rows = np.setdiff1d(np.arange(self.n_rows), found)
        left = np.zeros((self.n_rows + 1, 2), np.int64)
        np.add.at(left, (strata[open_rows], cases[open_rows]), 1)
        whole = (left == 0).any(axis=1)
        whole[-1] = False
        return np.union1d(found, np.flatnonzero(whole[strata]))
