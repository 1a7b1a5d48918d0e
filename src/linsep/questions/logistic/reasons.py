"""What is modelled, and separation by a single column, in words that need no geometry.

"All 5 rows with site = Chur are 'died'." Most separation in practice is of this kind: a category that is too rare
to show every outcome, or a column that encodes the outcome. Separation by several columns is left to the proof.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from linsep.errors import shown
from linsep.questions.logistic.likelihoods import INTERCEPT_NAME, Likelihood
from linsep.sources.base import Array, Floats
from linsep.tables import is_sparse
from linsep.tables.categories import level_name
from linsep.tables.label_values import distinct

MOST_ENTRIES = 5_000_000  # entries of the diverging columns that are read again, at most
MOST_SENTENCES = 3
MOST_LEVELS = 8  # an order with at most so many levels is written out
LEVEL = re.compile(r"(?:C\((?P<coded>`[^`]+`|[\w.]+)[^\[]*\)|(?P<plain>[^\[\]:]+))\[T\.(?P<level>.+)\]")


def modelled(likelihood: Likelihood) -> str:
    """What is modelled: which label, against which."""
    seen, called = likelihood.observed, likelihood.outcome
    levels = [shown(level) for level in (likelihood.source.facts.labels if seen is None else seen.levels)]
    match likelihood.family:
        case "binomial" if seen is not None and levels == ["'failure'", "'success'"]:
            return "the probability of a success"
        case "binomial":
            return f"the probability that {called} is {levels[1]}, against {levels[0]}"
        case "conditional":
            return f"which rows of a stratum are cases, {called} being {levels[1]}, against {levels[0]}"
        case "multinomial":
            return f"the class, {called}, each compared with the first, {levels[0]}"
        case "ordinal":
            order = " < ".join(levels) if len(levels) <= MOST_LEVELS else f"{levels[0]} < ... < {levels[-1]}"
            return f"the class, {called}, in the order {order}; a positive coefficient stands for higher classes"
        case "cox":
            return f"the hazard of an event, {called} being 1"
    return f"the mean of {called}"


def reasons(
    likelihood: Likelihood, states: Sequence[tuple[str, str]], separated: Sequence[int] | None
) -> tuple[str, ...]:
    """Sentences about a few of the diverging categories and columns that separate rows on their own."""
    infinite = [name for name, state in states if state in ("+inf", "-inf", "undetermined")]
    is_of_classes = likelihood.family == "multinomial"
    diverging = {name.partition(":")[2] for name in infinite} if is_of_classes else set(infinite)
    names = likelihood.names if likelihood.observed is None else likelihood.observed.names
    most = MOST_ENTRIES // max(1, likelihood.n_rows)
    wanted = [j for j, name in enumerate(names) if name in diverging][:most]
    if not most or likelihood.source.facts.is_elsewhere:
        return ()
    looked = Looked(likelihood, wanted)
    found = list(looked.levels_of_factors(diverging, separated))
    for j in wanted:
        if len(found) >= MOST_SENTENCES:
            break
        if not looked.is_level(names[j]):
            found += looked.sentences(j)
    return tuple(found[:MOST_SENTENCES])


class Looked:
    """The user's rows that count, what was observed of each, and some of the columns."""

    def __init__(self, likelihood: Likelihood, wanted: Sequence[int]) -> None:
        seen, source = likelihood.observed, likelihood.source
        self.family, self.outcome, self.factors = likelihood.family, likelihood.outcome, likelihood.factors()
        self.made_names = {level_name(each.name, level) for each in self.factors for level in each.levels}
        if seen is None:
            self.names, scales = likelihood.names, source.facts.scales
            self.levels: tuple[Any, ...] = source.facts.pair
            self.rows, self.y, values = np.arange(source.n_rows), *_columns_of(source, wanted)
            self.strata = None
            self.counts = self.y.astype(float), (~self.y).astype(float)
        else:
            self.names, self.levels, scales = seen.names, seen.levels, seen.facts.scales
            self.rows = np.flatnonzero(seen.counted)
            self.y, strata = seen.y[self.rows], seen.options.strata
            values = _dense(seen.values, wanted)[self.rows]
            self.strata = None if strata is None else distinct(strata)[1][self.rows]
            none = np.zeros(0)
            known = seen.counts
            self.counts = (none, none) if known is None else (known[0][self.rows], known[1][self.rows])
        self.is_of_counts = seen is not None and self.levels == ("failure", "success")
        self.columns = {j: values[:, place] / (1 if scales is None else scales[j]) for place, j in enumerate(wanted)}

    def levels_of_factors(self, diverging: set[str], separated: Sequence[int] | None) -> Iterator[str]:
        """What the rows of one level have in common, for categories that diverge; the first level may be the cause."""
        if self.family == "conditional":
            return
        is_separated = np.isin(self.rows, () if separated is None else separated)
        for factor in self.factors:
            mentions = [name for name in diverging if factor.name in name or name == INTERCEPT_NAME]
            codes = factor.codes[self.rows]
            for k, level in enumerate(factor.levels if mentions else ()):
                rows = codes == k
                if rows.any() and (separated is None or is_separated[rows].all()):
                    yield from self._of_value(rows, f"{_rows(rows)} with {factor.name} = {level}")

    def is_level(self, name: str) -> bool:
        """Whether a column is a level of a category that `levels_of_factors` describes."""
        told = LEVEL.fullmatch(name)
        if name in self.made_names:
            return True
        return told is not None and (told["coded"] or told["plain"]) in {factor.name for factor in self.factors}

    def sentences(self, j: int) -> Iterator[str]:
        """What column j does on its own."""
        column, name = self.columns[j], self.names[j]
        if self.family == "conditional":
            yield from self._within_strata(column, name)
            return
        values = np.unique(column)
        if len(values) == 2:
            for value in reversed(values.tolist()):
                rows = column == value
                is_dummy = values.tolist() == [0, 1]
                yield from self._of_value(rows, f"{_rows(rows)} with {_told(name, value, is_dummy)}")
        elif self.family == "binomial" and len(values) > 2:
            yield from self._threshold(column, name)

    def _of_value(self, rows: Array, told: str) -> Iterator[str]:
        """What rows with the same value have in common."""
        one = told.startswith("1 row ")
        every, are, have = ("The", "is", "has") if one else ("All", "are", "have")
        if self.family == "binomial":
            successes, failures = (bool((count[rows] > 0).any()) for count in self.counts)
            if successes != failures and self.is_of_counts:
                yield f"{every} {told} {have} {'successes' if successes else 'failures'} only."
            elif successes != failures:
                yield f"{every} {told} {are} {shown(self.levels[int(successes)])}."
        elif self.family == "poisson" and not self.y[rows].any():
            yield f"{every} {told} {have} {self.outcome} = 0."
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
                called = "failures", "successes"
                upper, lower = (
                    f"with {called[k]}" if self.is_of_counts else f"that is {shown(self.levels[k])}"
                    for k in (high, low)
                )
                yield f"Every row {upper} has {name} = {ends[0]}, and every row {lower} has {name} = {ends[1]}."

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
                yield f"No case has {word} {name} than a control in its stratum."


def _rows(rows: Array) -> str:
    number = int(rows.sum())
    return f"{number:,} row{'s' * (number != 1)}"


def _told(name: str, value: float, is_dummy: bool) -> str:
    """What a value of a column means; for a column that a formula made from a category, the category.

    >>> _told("C(site)[T.Chur]", 1, True), _told("site[T.Chur]:ward[T.2]", 1, True), _told("site[T.Chur]", 0, True)
    ('site = Chur', 'site = Chur and ward = 2', 'site other than Chur')
    """
    parts = [LEVEL.fullmatch(part) for part in name.split(":")]
    found = [(part["coded"] or part["plain"], part["level"]) for part in parts if part is not None]
    if not is_dummy or len(found) < len(parts) or (value == 0 and len(parts) > 1):
        return f"{name} = {value:g}"
    if value == 0:
        return f"{found[0][0]} other than {found[0][1]}"
    return " and ".join(f"{category} = {level}" for category, level in found)


def _dense(values: Any, wanted: Sequence[int]) -> Floats:
    """Some columns of a table as doubles."""
    chosen = values.tocsc()[:, list(wanted)].toarray() if is_sparse(values) else values[:, list(wanted)]
    return np.asarray(chosen, np.float64)


def _columns_of(source: Any, wanted: Sequence[int]) -> tuple[Array, Floats]:
    """Whether each row of a source is positive, and some of its columns: one walk over the rows."""
    parts = [(block.y > 0, _dense(block.values, wanted)) for block in source.blocks()]
    return np.concatenate([part[0] for part in parts]), np.vstack([part[1] for part in parts])
