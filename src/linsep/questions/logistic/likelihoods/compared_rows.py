"""Families that compare rows with each other: cases above the controls of a stratum, events above rows at risk."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep.errors import ArgumentError
from linsep.questions.logistic.likelihoods.asked import Likelihood
from linsep.questions.logistic.likelihoods.observed import HALF, Observed, entries_of
from linsep.questions.logistic.likelihoods.own_rows import beside, ones_at
from linsep.sources.base import Array, Floats, Ints
from linsep.tables import is_sparse
from linsep.tables.label_values import distinct


class Ranked(NamedTuple):
    """Rows `above`, whose scores must not be less than those of the rows `below`.

    If one of them is strictly above or below, it separates a range of the ordered rows: `up` and `down` say which.
    """

    above: Sequence[int]
    below: Sequence[int]
    up: Sequence[tuple[int, int]]
    down: Sequence[tuple[int, int]]

    @property
    def is_star(self) -> bool:
        """Whether one side has a single row, so that there are fewer pairs than rows."""
        return len(self.above) == 1 or len(self.below) == 1

    def pairs(self) -> Iterator[tuple[int, int, tuple[int, int]]]:
        """Each row above with each row below, and what their difference separates."""
        if len(self.above) == 1:
            yield from ((self.above[0], b, span) for b, span in zip(self.below, self.down, strict=True))
        else:
            yield from ((a, self.below[0], span) for a, span in zip(self.above, self.up, strict=True))


def conditional(seen: Observed) -> Likelihood:
    """In every stratum, cases above controls."""
    assert seen.counts is not None
    strata = distinct(seen.options.strata)[1]
    cases = seen.counts[0] > 0
    groups = []
    for rows in _parts(strata, np.flatnonzero(seen.counted)):
        above, below = rows[cases[rows]].tolist(), rows[~cases[rows]].tolist()
        if above and below:
            groups.append(Ranked(above, below, [(a, a + 1) for a in above], [(b, b + 1) for b in below]))
    if not groups:
        raise ArgumentError("No stratum has both a case and a control: there is nothing to estimate.")
    found = _ranked(seen, groups, np.arange(seen.n_rows))
    taking_part = np.zeros(seen.n_rows, np.bool_)
    taking_part[[row for group in groups for row in (*group.above, *group.below)]] = True
    return replace(found, sides=(np.where(taking_part, strata, seen.n_rows), cases.astype(np.int64)))


def cox(seen: Observed) -> Likelihood:
    """At every event, the row with the event above the rows at risk."""
    time, event = seen.options.time, seen.y > 0
    strata = np.zeros(seen.n_rows, np.int64) if seen.options.strata is None else distinct(seen.options.strata)[1]
    counted = np.flatnonzero(seen.counted)
    order = counted[np.lexsort((~event[counted], time[counted], strata[counted]))]
    place = np.zeros(seen.n_rows, np.int64)
    place[order] = np.arange(len(order))
    groups: list[Ranked] = []
    for rows in _parts(strata, order):
        groups += _risk_sets(rows, time[rows], event[rows], place)
    if not groups:
        raise ArgumentError("No event has another row at risk: there is nothing to estimate.")
    rest = np.setdiff1d(np.arange(seen.n_rows), order)
    return _ranked(seen, groups, np.concatenate([order, rest]))


def _parts(codes: Array, rows: Ints) -> Iterator[Ints]:
    """Rows by their codes, each part in the order of the rows."""
    if len(rows):
        order = rows[np.argsort(codes[rows], kind="stable")]
        yield from np.split(order, np.flatnonzero(np.diff(codes[order])) + 1)


def _risk_sets(rows: Ints, time: Floats, event: npt.NDArray[np.bool_], place: Ints) -> Iterator[Ranked]:
    """One stratum in the order of time: each event above the rows that leave before the next event, and above that."""
    times = np.unique(time[event])
    starts = np.searchsorted(time, times)  # rows that leave earlier are not at risk
    end = int(place[rows[-1]]) + 1
    for k, start in enumerate(starts.tolist()):
        stop = int(starts[k + 1]) if k + 1 < len(starts) else len(rows)
        tied = int(np.count_nonzero(event[start:stop]))  # events come before the other rows of the same time
        first, others = int(rows[start]), rows[start + 1 : start + tied].tolist()
        for other in others:
            yield Ranked([first], [other], [(0, 0)], [(0, 0)])
            yield Ranked([other], [first], [(0, 0)], [(0, 0)])
        below = rows[start + tied : stop].tolist()
        down = [(int(place[row]), int(place[row]) + 1) for row in below]
        last = int(place[rows[start + tied - 1]]) + 1
        if stop < len(rows):
            below.append(int(rows[stop]))
            down.append((int(place[rows[stop]]), end))
        if below:
            yield Ranked([first], below, [(last, end)], down)


def _ranked(seen: Observed, groups: list[Ranked], order: Ints) -> Likelihood:
    """The question about rows above others: their differences, or, if both sides have many, each against a threshold.

    A difference is a double plus the part lost in rounding, another double. The lost part has a column of its own, and
    two rows force its weight to equal that of the column it belongs to.
    """
    pairs = [(g, *pair) for g, group in enumerate(groups) if group.is_star for pair in group.pairs()]
    up, down = (np.array([pair[k] for pair in pairs], np.int64) for k in (1, 2))
    difference, lost, is_finite = _differences(seen.values, up, down)
    wide = [g for g, group in enumerate(groups) if not (group.is_star and is_finite)]
    kept = np.arange(len(pairs)) if is_finite else np.zeros(0, np.int64)
    members = [
        (row, column, sign, span)
        for column, g in enumerate(wide)
        for rows, spans, sign in ((groups[g].above, groups[g].up, 1), (groups[g].below, groups[g].down, -1))
        for row, span in zip(rows, spans, strict=True)
    ]
    rows = np.array([member[0] for member in members], np.int64)
    thresholds = np.array([member[1] for member in members], np.int64)
    rounded = np.unique(lost[kept].nonzero()[1])
    dtype, width, hidden = seen.values.dtype, len(seen.names), len(wide) + len(rounded)
    places = np.repeat(np.arange(len(rounded)), 2)
    tied = ones_at(rounded[places], width, dtype, 1)
    parts = [
        beside(beside(_nothing(len(kept), len(wide), dtype), lost[kept][:, rounded]), difference[kept]),
        beside(ones_at(thresholds, hidden, dtype, -1), seen.values[rows]),
        beside(ones_at(len(wide) + places, hidden, dtype, -1), tied if is_sparse(lost) else tied.toarray()),
    ]
    table = sp.csr_array(sp.vstack(parts)) if is_sparse(parts[0]) else np.vstack(parts)
    signs = [1] * len(kept) + [member[2] for member in members] + [1, -1] * len(rounded)
    spans = [pairs[k][3] for k in kept.tolist()] + [member[3] for member in members] + [(0, 0)] * len(places)
    first, last = np.array(spans, np.int64).reshape(-1, 2).T
    source = seen.source(table, np.array(signs, np.int8), seen.scales(hidden))
    return Likelihood(seen.family, source, seen.names, False, seen.n_rows, hidden, order, first, last, observed=seen)


def _nothing(n_rows: int, n_columns: int, dtype: Any) -> Any:
    return sp.csr_array((n_rows, n_columns), dtype=dtype)


def _differences(values: Any, up: Ints, down: Ints) -> tuple[Any, Any, bool]:
    """Rows minus other rows, rounded; what rounding lost (Knuth's two-sum); and whether the two are the exact value."""
    a, b = values[up], values[down]
    with np.errstate(over="ignore", invalid="ignore"):
        s = a - b
        rest = s - a
        lost = (a - (s - rest)) - (b + rest)
    if values.dtype.kind != "f":
        return s, lost, bool(np.abs(entries_of(values)).max(initial=0) < HALF)
    return s, lost, bool(np.isfinite(entries_of(s)).all())
