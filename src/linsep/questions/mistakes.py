"""Which hyperplane makes the fewest mistakes? One that makes few, and a proof of how few are possible.

    separable rows                    no mistakes
    equal rows of both classes        the cheaper label of each is a mistake, whatever the hyperplane
    few mistakes                      a walk over vertices that cools down; exact arithmetic confirms what it finds
    no fewer                          a packing of obstructions, and a tree of cases where that is not enough

A hyperplane and a lower bound are known at any time: whatever stops the search, these are the answer.
"""

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import count
from operator import itemgetter
from typing import Any

import numpy as np

from linsep import arguments
from linsep.exact import integer_rows, null_combination, original_multipliers
from linsep.proofs import HalfspaceVerdict, Obstruction, Separable, Verdict
from linsep.proofs.fewest_mistakes import FewestMistakes, mistaken, mistakes_in_own_numbers
from linsep.proofs.packings import UNITS, Leaf, cost_of_rows, least_cost
from linsep.proofs.verdict_base import check
from linsep.questions.decide import decide
from linsep.questions.stated import facts_of
from linsep.signs import as_integers
from linsep.solvers.clock import Clock, OutOfTime
from linsep.solvers.fewest.disjoint import DisjointObstructions
from linsep.solvers.fewest.hitting_set import NARROW, CaseNode, HittingSet
from linsep.solvers.fewest.merged_rows import Merged, merge
from linsep.solvers.fewest.mistake_costs import costs_of
from linsep.solvers.fewest.vertex_walk import STEEPNESS, VertexWalk
from linsep.sources.base import Block, Floats, Ints, Signs, Source
from linsep.sources.inputs import asked
from linsep.sources.memory import MemorySource
from linsep.tables import require_index_of
from linsep.tables.categories import Categories
from linsep.tables.given_rows import Missing

STEPS = 2000  # of the first walks over vertices; later ones are longer
BESIDE = (10, 20, 40, 80, 160, 10, 20, 40, 80, 160)  # powers of two: how close other hyperplanes are tried
SAMPLE = 20_000  # rows on which the search begins, if there are many more
MERGING, SHARE_OF_MERGING = 1.5, 0.5  # times the time for a sample, scaled up; how much of the time it may take
SHARE_OF_PACKING, SHARE_OF_DESCENT, LATER = 0.2, 0.4, STEEPNESS[1:]  # of the time that is left, after a sample
SHARE_OF_DEALING = 0.6  # of the time that is left, before walks begin on a large table
SPEED, WIDEST = 5e9, 400  # operations a second; columns beyond which walks lead nowhere
SHARE_OF_DECIDING = 0.3  # of the time, at most, to decide whether the rows are separable
SHARE_OF_FLAT = 0.6  # the same with no more rows than columns, which are separable unless they are special
SHARE_OF_WALKS, LARGE, CLOSE = 0.3, 0.5, 0.05  # of the time, for walks; on large tables; if the ends are close

Plane = tuple[Floats, float]


def fewest_mistakes(
    X: Any,
    y: Any = None,
    *,
    cost: Any = None,
    bias: bool = True,
    ids: Any = None,
    categories: Categories = None,
    missing: Missing = None,
    time_limit: float | None = 60,
    watch: Callable[["MistakeSearch"], None] | None = None,
) -> FewestMistakes:
    """Find a hyperplane with as few mistakes as possible, and prove how few are possible.

    A mistake is a row on the wrong side of the hyperplane or exactly on it.

    Parameters
    ----------
    X, y : the rows and their labels
        As `decide` takes them.
    cost : what a mistake costs
        A number for each row, or for each label ({"healthy": 1, "ill": 5}). Without it every mistake costs 1.
    bias : bool
        False asks for a hyperplane through the origin.
    ids : what the rows are called
        As `decide` takes them; `mistaken_ids` are those of the mistakes.
    categories, missing
        How text in a dataframe becomes numbers, and what happens to rows with gaps: as `decide` takes them.
    time_limit : float or None
        Seconds; None for no limit.
    watch : callable
        Called now and then with the search: its `best`, `lower` and `seconds`.

    Returns
    -------
    FewestMistakes
        The hyperplane, its `mistaken_rows`, what they cost (`best`), the least that any hyperplane costs (`lower`,
        proved) and whether the two are equal (`optimal`). After `time_limit`, or Ctrl-C, what is known by then.

    Raises
    ------
    InputError
        The data cannot be used, or a cost is not a number, 0 or more.

    Examples
    --------
    >>> import linsep
    >>> found = linsep.fewest_mistakes(*linsep.datasets.xor())
    >>> found.best, found.lower, found.optimal
    (1, 1, True)
    """
    bias, limit = arguments.flag("bias", bias), arguments.seconds("time_limit", time_limit)
    clock = Clock(limit)
    require_index_of(X, y, cost=cost)
    with asked(X, y, ids, categories, missing, beside=[] if isinstance(cost, Mapping) else [cost]) as (rows, source):
        found, _ = searched(source, rows.costs(cost), bias, clock, watch)
        return mistakes_in_own_numbers(found, rows)


def searched(
    source: Source, cost: Any, bias: bool, clock: Clock, watch: Callable[["MistakeSearch"], None] | None = None
) -> tuple[FewestMistakes, bool]:
    """The answer, and whether Ctrl-C ended the search."""
    costs, unit = costs_of(cost, source)
    search, was_interrupted = MistakeSearch(source, bias, costs, unit, clock, watch), False
    try:
        search.run()
    except OutOfTime:
        search.reason = "time ran out"
    except KeyboardInterrupt:
        search.reason, was_interrupted = "it was interrupted", True
    found = search.answer()
    check(found, source)
    return found.called(source.facts.ids), was_interrupted


def _as_double(cost: Fraction) -> float:
    """A cost as a double; infinity beyond the largest one."""
    return float(cost) if cost <= sys.float_info.max else math.inf


def _balance_of(block: Block) -> int:
    """How many more rows of a block are positive than negative."""
    return int(block.y.sum(dtype=np.int64))


def _signs_of(block: Block) -> tuple[Ints, Signs]:
    return block.row_numbers, block.y


@dataclass(slots=True)
class MistakeSearch:
    """What is known so far: a hyperplane, as exact weights, its mistakes, and the cases of the bound."""

    source: Source
    bias: bool
    costs: tuple[int, ...] | None
    unit: Fraction
    clock: Clock
    watch: Callable[["MistakeSearch"], None] | None = None
    plane: tuple[tuple[int, ...], int] = ((), 0)
    wrong: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    spent: int = -1
    merged: Merged | None = None
    cover: HittingSet | None = None
    known: list[Obstruction] = field(default_factory=list)
    kept: float = 0.0  # seconds
    reason: str = ""  # why the search ended, if the ends have not met

    @property
    def seconds(self) -> float:
        """Seconds since the search began."""
        return self.clock.seconds

    @property
    def best(self) -> float:
        """The least cost of a hyperplane so far, in floats."""
        return _as_double(self.spent * self.unit)

    @property
    def lower(self) -> float:
        """The least that any hyperplane costs, as far as is known, in floats."""
        bound = (self.merged.base if self.merged else 0) + (self.cover.bound if self.cover else 0.0)
        return bound if bound == math.inf else _as_double(Fraction(bound) * self.unit)

    def run(self) -> None:
        """Search until both ends meet, or until the time limit."""
        self.note(*self.constant())
        left, is_flat = self.clock.left, self.source.n_rows <= self.source.n_columns + self.bias
        share = SHARE_OF_FLAT if is_flat else SHARE_OF_DECIDING
        verdict = decide(self.source, bias=self.bias, time_limit=None if left is None else share * left)
        self.clock.reads += verdict.reads
        if isinstance(verdict, HalfspaceVerdict):
            self.note_beside(verdict.weights, verdict.bias_weight, 0 if isinstance(verdict, Separable) else 1)
        if isinstance(verdict, Separable):
            return
        self.know(verdict)
        self.clock.check()
        near = self.start_with_samples() if self.source.n_rows > 2 * SAMPLE else None
        if self.source.facts.is_elsewhere and self.source.n_rows > (self.source.facts.at_hand or 0):
            self.reason = "the rest of it needs all rows in memory"
            return
        is_round = self.has_time_for_round_rows()
        self.merged = merged = merge(self.source, self.costs, bias=self.bias, is_round=is_round)
        self.clock.reads += 1
        if not len(merged.left):  # one label of each point is a mistake, and there need not be any other
            self.note_beside((0,) * self.source.n_columns, 0, merged.base)
            return
        walks = VertexWalk(merged.z, np.array(merged.costs, np.float64), self.clock)
        found = self.improved(*self.descended(walks, None if near is None else merged.near(*near)), walks)
        if is_round:
            self.close(walks, found)
        else:
            self.reason = "with this many columns it only looks for obstructions that share no row"
            self.decide_the_rest()

    def descended(self, walks: VertexWalk, near: Floats | None) -> tuple[float, Floats]:
        """The first descent; if there was a sample, it starts from the result there and has a part of the time."""
        if near is None:
            return walks.descend(walks.start(), met=self.met)
        walks.clock = self.clock.part(SHARE_OF_DESCENT)
        try:
            return walks.descend(near, LATER, met=self.met)
        finally:
            walks.clock = self.clock

    def know(self, verdict: Verdict, rows: Ints | None = None) -> None:
        """Keep the obstruction of a verdict, if it has one; `rows` are the numbers of the rows that it is about."""
        found = getattr(verdict, "obstruction", None)
        if found is not None:
            own = found.rows if rows is None else tuple(rows[list(found.rows)].tolist())
            self.known.append(Obstruction(own, found.weights, dependences=found.dependences))

    def decide_the_rest(self) -> None:
        """Look for obstructions that share no row with those that are known, one after the other."""
        is_left = np.ones(self.source.n_rows, bool)
        for found in self.known:
            is_left[list(found.rows)] = False
        while self.known:
            rows = np.flatnonzero(is_left)
            block = self.source.take(rows)
            if len(set(block.y.tolist())) < 2:
                return
            part = MemorySource.of(block, self.source.facts)
            before = len(self.known)
            self.know(decide(part, bias=self.bias, time_limit=self.clock.left), rows)
            if len(self.known) == before:
                return
            is_left[list(self.known[-1].rows)] = False

    def start_with_samples(self) -> Plane | None:
        """Descend on samples of the rows until there is time to merge all; returns the best weights."""
        plane: Plane | None = None
        for seed in count():
            self.clock.check()
            start = self.clock.seconds
            block, merged = self.merged_sample(seed)
            needed = MERGING * (self.clock.seconds - start) * self.source.n_rows / SAMPLE
            has_time = self.clock.left is None or needed < SHARE_OF_MERGING * self.clock.left
            if len(merged.left):
                plane = self.descended_sample(block, merged, plane, SHARE_OF_PACKING if has_time else 0.5)
            if has_time:
                break
        return plane

    def merged_sample(self, seed: int) -> tuple[Block, Merged]:
        """A sample of the rows that are in no obstruction yet."""
        block = self.source.sample(SAMPLE, seed)
        used = [row for found in self.known for row in found.rows]
        block = block.take(np.flatnonzero(~np.isin(block.row_numbers, used)))
        part = MemorySource.of(block, self.source.facts)
        costs = None if self.costs is None else tuple(self.costs[row] for row in block.row_numbers.tolist())
        return block, merge(part, costs, bias=self.bias, is_round=self.source.n_columns <= WIDEST)

    def descended_sample(self, block: Block, merged: Merged, plane: Plane | None, share: float) -> Plane:
        """Descend on these rows, and pack obstructions among them for a share of the time; returns the weights."""
        walks = VertexWalk(merged.z, np.array(merged.costs, np.float64), self.clock)
        near = walks.start() if plane is None else merged.near(*plane)
        if plane is None and not self.source.facts.is_streamed:  # Ctrl-C may come during the descent
            self.note(*as_integers(*merged.halfspace(near)))
        near = walks.descend(near, met=lambda *_: self.show())[1]
        found = merged.halfspace(near)
        self.note(*as_integers(*found))
        if self.source.n_columns <= WIDEST:
            packing = DisjointObstructions(merged.z, walks.costs, near, self.clock.part(share))
            self.know_packing(packing, block.row_numbers[merged.kinds.first[merged.left]])
        return found

    def know_packing(self, packing: DisjointObstructions, rows: Ints) -> None:
        """Keep the obstructions that the packing finds and that are proved; `rows` are the numbers of its rows."""
        with suppress(OutOfTime):
            for found in packing.deal():
                before = packing.clock.seconds
                proved = self.proved_rows(rows[list(found)])
                self.known += [] if proved is None else [proved]
                self.clock.keep(packing.clock.seconds - before)  # for the check of the answer

    def has_time_for_round_rows(self) -> bool:
        """Whether rows of this length can be put into round coordinates, and walks over them succeed, in time."""
        width = self.source.n_columns + self.bias
        rank = min(width, self.source.n_rows)
        seconds = 4 * self.source.n_rows * width * rank / SPEED
        return rank <= WIDEST and (self.clock.left is None or seconds < SHARE_OF_DECIDING * self.clock.left)

    def close(self, walks: VertexWalk, near: Floats) -> None:
        """Bring both ends together: walks from above, cases from below."""
        assert self.merged is not None
        self.reason = "its linear programs, in floats, are not exact enough for the rest"  # unless they were
        self.cover = cover = HittingSet(self.merged.z, self.merged.costs, self.proved, self.settled, self.clock)
        self.tell_best()
        cover.pack(near)
        while cover.open and cover.search.first:  # a small table need not wait until anything is compiled
            cover.step()
        dealing = self.clock.part(SHARE_OF_DEALING)
        while cover.open and cover.is_dealing and not dealing.is_over():
            self.show()
            cover.step()
        if not cover.open:
            return
        near = self.wander(walks, near, STEPS)
        steps, spent = STEPS, 0.0
        started = self.clock.seconds
        while cover.open:
            self.clock.check()
            self.show()
            before = self.clock.seconds
            if spent < self.share_of_walks(cover) * (before - started):
                near = self.wander(walks, near, steps)
                steps = min(2 * steps, 10 * STEPS)
                spent += self.clock.seconds - before
            else:
                cover.step()

    def share_of_walks(self, cover: HittingSet) -> float:
        """The part of the time for walks; little if a few cases are expected to close the gap."""
        if cover.best - cover.bound < NARROW:
            return CLOSE
        return LARGE if cover.search.is_large else SHARE_OF_WALKS

    def wander(self, walks: VertexWalk, near: Floats, steps: int) -> Floats:
        """A walk, and shakes for as long; returns the best weights."""
        start = self.clock.seconds
        near = self.improved(*walks.walk(near, steps), walks, near)
        middle = self.clock.seconds
        while self.clock.seconds - middle <= middle - start:
            near = self.improved(*walks.shake(near), walks, near)
        return near

    def constant(self) -> tuple[tuple[int, ...], int]:
        """The hyperplane at infinity: all rows get the class that costs more; without bias, all weights are 0."""
        if not self.bias:
            return (0,) * self.source.n_columns, 0
        if self.costs is None:
            balance = sum(self.source.each(_balance_of))
        else:
            costs = np.array(self.costs, object)
            balance = sum(sum(costs[numbers] * y.astype(object)) for numbers, y in self.source.each(_signs_of))
        return (0,) * self.source.n_columns, 1 if balance >= 0 else -1

    def note(self, weights: Sequence[int], bias_weight: int) -> None:
        """Count the mistakes of a hyperplane exactly, and keep it if it is the best.

        The check of the answer counts them again: as many seconds are kept for it.
        """
        start = self.clock.seconds
        wrong = np.concatenate(list(mistaken(self.source, weights, bias_weight)))
        spent = len(wrong) if self.costs is None else sum(self.costs[row] for row in wrong.tolist())
        if self.spent < 0 or spent < self.spent:
            self.plane, self.wrong, self.spent = (tuple(weights), bias_weight), wrong, spent
            self.tell_best()
        longer = self.clock.seconds - start - self.kept
        if longer > 0:
            self.kept += longer
            self.clock.keep(longer)

    def met(self, cost: float, w: Floats) -> None:
        """Note weights of this cost if they are the best: Ctrl-C may come before the search has better ones."""
        assert self.merged is not None
        if cost < self.spent - self.merged.base:
            self.note(*as_integers(*self.merged.halfspace(w)))
        self.show()

    def show(self) -> None:
        """Show the search to whoever watches it."""
        if self.watch is not None:
            self.watch(self)

    def tell_best(self) -> None:
        """Tell the search for the bound the best cost so far."""
        if self.cover is not None and self.merged is not None:
            self.cover.best = self.spent - self.merged.base

    def improved(self, cost: float, w: Floats, walks: VertexWalk, near: Floats | None = None) -> Floats:
        """Note weights of this cost if they are the best, exactly; returns the better of them and `near`."""
        assert self.merged is not None
        if cost < self.spent - self.merged.base:
            self.note(*as_integers(*self.merged.halfspace(w)))
            self.clock.check()
            if cost < self.spent - self.merged.base:
                self.settled(walks.right(w))
        self.clock.check()
        return near if near is not None and walks.cost(near) < cost else w

    def note_beside(self, weights: Sequence[int], bias_weight: int, cost: int) -> None:
        """Note a hyperplane; if it costs more than `cost`, because points lie on it, try others beside it too."""
        self.note(weights, bias_weight)
        random = np.random.default_rng(0)
        for bits in BESIDE:
            if self.spent <= cost:
                return
            moves = random.integers(-1000, 1001, len(weights) + 1).tolist()
            moved = [(w << bits) + move for w, move in zip((*weights, bias_weight), moves, strict=True)]
            self.note(moved[:-1], moved[-1] if self.bias else 0)

    def settled(self, right: Ints) -> tuple[tuple[int, ...], Obstruction] | None:
        """Find a hyperplane that gets these kinds of rows right, and note it; else return an obstruction of some."""
        assert self.merged is not None
        kinds = self.merged.left[right]
        rows = np.sort(self.merged.kinds.first[kinds])
        block = self.source.take(rows)
        part = MemorySource.of(block, self.source.facts)
        verdict = decide(part, bias=self.bias, time_limit=self.clock.left)
        if isinstance(verdict, Separable):
            cost = self.merged.base + sum(self.merged.costs) - sum(self.merged.costs[k] for k in right.tolist())
            self.note_beside(verdict.weights, verdict.bias_weight, cost)
            return None
        place = {int(row): k for k, row in enumerate(self.merged.kinds.first[self.merged.left])}
        obstruction = getattr(verdict, "obstruction", None)
        if obstruction is None or obstruction.is_definite:
            return None
        named = rows[list(obstruction.rows)].tolist()
        return tuple(sorted(place[row] for row in named)), Obstruction(tuple(named), obstruction.weights)

    def proved(self, kinds: tuple[int, ...]) -> Obstruction | None:
        """The obstruction on these kinds of rows, in exact integers; None if there is none that uses all of them."""
        assert self.merged is not None
        return self.proved_rows(self.merged.kinds.first[self.merged.left[list(kinds)]])

    def proved_rows(self, rows: Ints) -> Obstruction | None:
        """The same, of rows of the source."""
        block = self.source.take(rows)
        values = block.values if isinstance(block.values, np.ndarray) else block.values.toarray()
        table = integer_rows(values, block.y, bias=self.bias)
        weights = null_combination(table.rows.tolist())
        if weights is None or min(weights) <= 0:
            return None
        return Obstruction(tuple(rows.tolist()), original_multipliers(weights, table.row_exponents.tolist()))

    # The answer ------------------------------------------------------------------------------------------

    def answer(self) -> FewestMistakes:
        """What is known by now, with its proof."""
        if self.spent < 0:  # interrupted before the first hyperplane
            self.note(*self.constant())
        weights, bias_weight = self.plane
        facts = {**facts_of(self.source), "bias": self.bias}
        facts |= {"weights": weights, "bias_weight": bias_weight, "mistaken_rows": tuple(self.wrong.tolist())}
        if not self.source.facts.is_streamed and len(self.wrong):
            labels, signs = self.source.facts.pair, self.source.signs_of(self.wrong).tolist()
            facts |= {"mistaken_labels": tuple(labels[int(sign > 0)] for sign in signs)}
        facts |= {"costs": self.costs, "unit": self.unit, "reads": self.clock.reads, "seconds": self.clock.seconds}
        proofs = [self.known_obstructions()]
        if self.merged is not None:
            proofs.append(BoundProof(self.merged, self.cover).parts(self.spent, self.costs))
        found = FewestMistakes(**facts, **max(proofs, key=itemgetter("least")))
        return found if found.optimal else replace(found, reason=self.reason)

    def known_obstructions(self) -> dict[str, Any]:
        """The bound from obstructions that share no row: the cheapest row of each."""
        found = sorted(self.known, key=lambda one: one.is_definite)
        leaf = Leaf((), tuple((k, self.least_of(one) * UNITS) for k, one in enumerate(found)))
        return {"least": sum(map(self.least_of, found)), "obstructions": tuple(found), "leaves": (leaf,)}

    def least_of(self, found: Obstruction) -> int:
        """What the cheapest row of an obstruction costs."""
        return 1 if self.costs is None else min(self.costs[row] for row in found.rows)


@dataclass(slots=True)
class BoundProof:
    """The cases of a bound, in terms of the rows of the user."""

    merged: Merged
    cover: HittingSet | None
    obstructions: list[Obstruction] = field(default_factory=list)
    numbers: dict[int | tuple[int, ...], int] = field(default_factory=dict)

    def parts(self, spent: int, costs: Sequence[int] | None) -> dict[str, Any]:
        """The fields of the proof; the bound is what they prove in whole numbers, not what floats suggest."""
        cases = [*self.cover.open, *self.cover.closed] if self.cover else []
        leaves = [self.leaf(case) for case in cases or [CaseNode(0.0, 0, ())]]
        named = {row for found in self.obstructions for row in found.rows}
        named |= {row for leaf in leaves for row, _ in leaf.path}
        copies = self.copies(named)
        proved = least_cost(leaves, self.obstructions, cost_of_rows(named, copies, costs))
        return {
            "least": spent if proved is None else proved,  # the check refuses a bound above `spent`
            "copies": copies,
            "obstructions": tuple(self.obstructions),
            "leaves": tuple(leaves),
        }

    def leaf(self, case: CaseNode) -> Leaf:
        """A case as a leaf of the proof."""
        first, left = self.merged.kinds.first, self.merged.left
        path = tuple((int(first[left[kind]]), is_right) for kind, is_right in case.path)
        mistaken = {int(left[kind]) for kind, is_right in case.path if not is_right}
        multipliers = [(self.number(k), units) for k, units in case.multipliers.items()]
        if not np.isinf(case.bound):
            paid = [(kinds, cost) for kinds, cost in self.merged.paid if mistaken.isdisjoint(kinds)]
            multipliers += [(self.number(kinds), cost * UNITS) for kinds, cost in paid]
        return Leaf(path, tuple(multipliers))

    def number(self, which: int | tuple[int, ...]) -> int:
        """The number in the proof of an obstruction that the search found, or of a pair of contradicting kinds."""
        if which not in self.numbers:
            self.numbers[which] = len(self.obstructions)
            self.obstructions.append(self.obstruction(which))
        return self.numbers[which]

    def obstruction(self, which: int | tuple[int, ...]) -> Obstruction:
        """The obstruction itself."""
        if isinstance(which, tuple):
            rows = self.merged.kinds.first[list(which)]
            return Obstruction(tuple(rows.tolist()), (1,) * len(rows))
        found = self.cover.proof(which) if self.cover else None
        assert found is not None
        return found

    def copies(self, named: set[int]) -> tuple[tuple[int, ...], ...]:
        """The rows of each kind that the proof names, if there are several."""
        kinds = self.merged.kinds
        sizes = np.bincount(kinds.of_row, minlength=len(kinds.first))
        several = [kind for kind, row in enumerate(kinds.first.tolist()) if row in named and sizes[kind] > 1]
        return tuple(kinds.rows_of(kind) for kind in several)
