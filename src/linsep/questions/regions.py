"""Which regions do the classes lie in? A short list of hyperplanes, and every row in a region of its class.

    equal rows with different labels   only one label can be right; rows with the others are named
    one column                         a cut wherever the class changes
    two separable classes              one hyperplane
    everything else                    pure cuts, the largest first, and divisions where they save cuts

Whatever stops the search, the answer puts every row into a region of its class: a tree of single columns always does.
"""

import math
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from linsep import arguments
from linsep.proofs import Separable
from linsep.proofs.region_proof import Cut, Regions
from linsep.questions.decide import decide
from linsep.solvers.clock import Clock
from linsep.solvers.cuts.axis_trees import expected_seconds, few
from linsep.solvers.cuts.region_search import HASTE, Draft, RegionSearch, line_cuts, pruned
from linsep.solvers.scaling import require_memory
from linsep.solvers.wide.contradictions import equal_rows
from linsep.sources.base import Block, Ints, Source, positions
from linsep.sources.inputs import asked
from linsep.sources.memory import MemorySource
from linsep.tables.categories import Categories
from linsep.tables.given_rows import Missing

SHARE_OF_DECIDING = 0.1  # of the time, at most, to decide whether one hyperplane is enough
LEAST_FOR_THE_END, MOST_FOR_THE_END = 0.1, 0.9  # of the time, for the tree and the check
CHECKING = 5e-6  # seconds for each row, to check where a tree puts it


def separate_regions(
    X: Any,
    y: Any = None,
    *,
    ids: Any = None,
    categories: Categories = None,
    missing: Missing = None,
    time_limit: float | None = 60,
) -> Regions:
    """Find a short list of hyperplanes that puts every row into a region of its class.

    The hyperplanes are read from the first to the last. Most cut off rows of one class only; where that saves
    hyperplanes, one divides the rows instead, and each part has a list of its own. No row is in a region of another
    class, checked in exact arithmetic, unless an equal row has another label: such rows are named (`contradictions`).

    After `time_limit` seconds, or Ctrl-C, the rows that remain are divided column by column (`in_time` is then False).

    Parameters
    ----------
    X, y : the rows and their labels
        As `decide` takes them; any number of classes.
    ids : what the rows are called
        As `decide` takes them; `mistaken_ids` are those of the contradictions.
    categories, missing
        How text in a dataframe becomes numbers, and what happens to rows with gaps: as `decide` takes them.
    time_limit : float or None
        Seconds; None for no limit.

    Returns
    -------
    Regions
        The hyperplanes, checked against the rows.

    Raises
    ------
    InputError
        The data cannot be used.

    Examples
    --------
    >>> import linsep
    >>> found = linsep.separate_regions([[0], [1], [2], [3]], ["low", "mid", "mid", "high"])
    >>> print(found.explain(["size"]))
    2 hyperplanes, no mistake in 4 rows.
    1. Rows with size > 2.5 are high (1 row).
    2. Rows with size > 0.5 are mid (2 rows); the others are low (1 row).
    """
    limit = arguments.seconds("time_limit", time_limit)
    with asked(X, y, ids, categories, missing, many=True) as (rows, source):
        return _found(source, limit).in_own_numbers(rows)


def _found(source: Source, limit: float | None) -> Regions:
    """The regions of a source, checked against it."""
    end = LastSeconds.of(source, limit)
    clock = Clock(None if limit is None else limit - end.all)
    source.require_finite()
    block = source.take(np.arange(source.n_rows))
    codes = positions(block.y, len(source.facts.labels))
    groups = EqualRows.of(block, codes)
    draft, in_time = _searched(source, block, codes, groups.kept, clock, end.tree)
    found = _answer(source, block, draft, groups.pairs, in_time, clock)
    found.check(source)
    labels = tuple(source.facts.labels[code] for code in codes[list(found.mistaken_rows)].tolist())
    return replace(found, mistaken_labels=labels).called(source.facts.ids)


class LastSeconds(NamedTuple):
    """What is kept of the time: for a tree of single columns, and for all that comes after the search."""

    tree: float
    all: float

    @classmethod
    def of(cls, source: Source, limit: float | None) -> "LastSeconds":
        """Enough for a tree that considers few columns, and for the check, if that leaves time for the search."""
        if limit is None:
            return cls(HASTE, math.inf)
        checking = CHECKING * source.n_rows
        tree = expected_seconds(source.n_rows, few(source.n_columns))
        everything = min(MOST_FOR_THE_END * limit, max(LEAST_FOR_THE_END * limit, tree + checking))
        return cls(max(everything - checking, 0.0), everything)


def _searched(source: Source, block: Block, codes: Ints, kept: Ints, clock: Clock, haste: float) -> tuple[Draft, bool]:
    """The cuts for rows that do not contradict each other."""
    own = codes[kept]
    present = np.unique(own)
    if len(present) == 1:
        return Draft(root=~int(present[0])), True
    require_memory(len(kept), source.n_columns)
    rows = block.take(kept)
    values = rows.values.toarray() if rows.is_sparse else rows.values
    if source.n_columns == 1:
        return line_cuts(values[:, 0], own), True
    search = RegionSearch(values, own, clock, haste)
    if len(present) == 2:
        two = np.where(own == present[1], np.int8(1), np.int8(-1))
        labels = tuple(source.facts.labels[code] for code in present.tolist())
        part = MemorySource(rows.table, two, replace(source.facts.of_part(len(rows)), labels=labels))
        left = None if clock.left is None else SHARE_OF_DECIDING * clock.left
        try:
            verdict = decide(part, time_limit=left)
            if isinstance(verdict, Separable):
                return search.separated((verdict.weights, verdict.bias_weight), *present.tolist()), True
        except KeyboardInterrupt:
            clock.limit = 0.0  # the search below ends at once
    draft, in_time = search.run()
    with suppress(KeyboardInterrupt):
        return pruned(draft, search), in_time
    return draft, False


def _answer(source: Source, block: Block, draft: Draft, pairs: Ints, in_time: bool, clock: Clock) -> Regions:
    """The cuts as a value, in the order in which they are read, with the number of rows in each region."""
    draft = draft.in_reading_order()
    cuts = tuple(Cut(*form, *children) for form, children in zip(draft.forms, draft.children, strict=True))
    facts: dict[str, Any] = {
        "n_rows": source.n_rows,
        "n_columns": source.n_columns,
        "classes": source.facts.labels,
        "cuts": cuts,
    }
    facts |= {"only": ~draft.root if draft.root < 0 else 0, "names": source.facts.names, "in_time": in_time}
    facts["rows_left_out"] = source.facts.rows_left_out
    facts |= {"contradictions": tuple(map(tuple, pairs.tolist())), "seconds": clock.seconds}
    empty = Regions(**facts, sizes=(0,) * (len(cuts) + 1))
    sizes = np.bincount(empty.regions_of(block.values), minlength=len(cuts) + 1)
    return Regions(**facts, sizes=tuple(sizes.tolist()))


@dataclass(frozen=True, slots=True)
class EqualRows:
    """The rows to tell apart (`kept`), and pairs of equal rows with different labels, of which one is not kept."""

    kept: Ints
    pairs: Ints  # a row that cannot be right, and an equal one that is

    @classmethod
    def of(cls, block: Block, codes: Ints) -> "EqualRows":
        """Among equal rows the most frequent label is kept; among equally frequent labels, the first."""
        leader = equal_rows(block)
        order = np.lexsort((codes, leader))
        starts = np.flatnonzero(np.diff(np.stack([leader[order], codes[order]]), axis=1, prepend=-1).any(axis=0))
        sizes = np.diff(starts, append=len(order))
        firsts = order[starts]  # of each label of each point
        best = np.lexsort((firsts, -sizes, leader[firsts]))
        chosen = np.full(len(codes), -1)
        chosen[leader[firsts[best[::-1]]]] = firsts[best[::-1]]  # the best is written last
        partner = chosen[leader]
        wrong = np.flatnonzero(codes != codes[partner])
        return cls(np.flatnonzero(codes == codes[partner]), np.column_stack([wrong, partner[wrong]]))
