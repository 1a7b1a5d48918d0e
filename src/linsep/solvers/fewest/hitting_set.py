"""A lower bound on the mistakes of every hyperplane: the cheapest set of rows that meets every obstruction.

Every hyperplane makes a mistake in each obstruction, and a set of rows that meets all of them leaves separable rows
behind: the fewest mistakes are a hitting set. Its linear relaxation gives each row a share x of being mistaken, with
x(S) >= 1 for the obstructions S known so far; walks over obstructions find those that are violated. The dual solution
is a packing of obstructions, which is the proof (see `linsep.proofs.packings`). If the relaxation is not enough, cases
are distinguished, the one with the lowest bound first: a row that is half mistaken is either right or mistaken.
"""

import heapq
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from linsep.proofs import Obstruction
from linsep.proofs.packings import UNITS
from linsep.solvers.clock import Clock
from linsep.solvers.fewest.disjoint import PATIENCE, DisjointObstructions
from linsep.solvers.fewest.obstruction_search import ObstructionSearch
from linsep.solvers.fewest.warm_lp import CoverProgram
from linsep.sources.base import Floats, Ints

ROUNDS, GAIN = 8, 0.1  # rounds at a time; a case is divided when they close less than this part of the gap
WALKS, MOST_WALKS = 15, 100  # for each round; three times as many if these find too little and there is one case
NARROW = 3.0  # how far from the best a bound may be if a few cases are expected to close the gap
FADING = 0.8  # the part of the mean of earlier shares that is kept from round to round
MANY, SLACK = 1500, 1.3  # from this many obstructions on, those with x(S) above this are left out of the program
TRIED, QUICK = 8, 0.1  # rows for which both cases are tried before one is chosen, if a program takes only this long
IN_VAIN = 3  # how many of them in succession may be worse than the best
MET = 1.0 - 1e-4  # shares that add up to less violate an obstruction
A_WHILE = 1.0  # seconds of dealing, on a large table, before other work gets its turn
SHARE_OF_PACKING = 0.85  # of the time may pass while the packing of a large table still grows

Exact = Callable[[tuple[int, ...]], Obstruction | None]
Settle = Callable[[Ints], tuple[tuple[int, ...], Obstruction] | None]


@dataclass(order=True)
class CaseNode:
    """A node of the tree: which rows are right or mistaken, and the least that any hyperplane costs there.

    The bound is a float, infinite if there is no such hyperplane; `units` is the same in whole units.
    """

    bound: float
    number: int
    path: tuple[tuple[int, bool], ...] = field(compare=False)
    shares: Floats | None = field(compare=False, default=None)
    multipliers: dict[int, int] = field(compare=False, default_factory=dict)
    mean: Floats | None = field(compare=False, default=None)
    is_solved: bool = field(compare=False, default=False)
    units: int = field(compare=False, default=0)


class HittingSet:
    """The relaxation over unit rows z with these costs, and the tree of cases below it.

    `exact` makes an exact obstruction of rows that are one in floats, or None if they are not. `settle` decides whether
    some hyperplane gets these rows right: it notes it (`best`, the least cost known), or returns the rows of an
    obstruction and the obstruction itself. Floats may miss obstructions; `settle` does not, so that the tree of a small
    table ends with the truth.
    """

    def __init__(self, z: Floats, costs: Sequence[int], exact: Exact, settle: Settle, clock: Clock) -> None:
        self.z, self.whole_costs, self.costs = z, costs, np.array(costs, np.float64)
        self.exact, self.settle, self.clock = exact, settle, clock
        self.search, self.program = ObstructionSearch(z, clock), CoverProgram(self.costs, clock)
        self.found: list[tuple[int, ...]] = []
        self.numbers: dict[tuple[int, ...], int] = {}
        self.proved: dict[int, Obstruction | None] = {}
        self.active: list[int] = []
        self.best = sum(costs)
        self.count = 0
        self.open: list[CaseNode] = []
        self.closed: list[CaseNode] = []
        self.packing: DisjointObstructions | None = None
        self.dealt: Iterator[tuple[int, ...]] = iter(())
        self.is_dealing = False
        self.in_vain, self.walks = 0, WALKS

    # The packing ----------------------------------------------------------------------------------------

    def pack(self, near: Floats) -> None:
        """Make the root case, in which no row is decided yet, with obstructions that share no row.

        The hyperplane with the weights `near` makes few mistakes. On a large table, later steps continue this.
        """
        root = CaseNode(0.0, 0, ())
        self.packing = packing = DisjointObstructions(self.z, self.costs, near, self.clock)
        self.search.tilt = packing.prices
        self.dealt = packing.deal()
        self.open, self.is_dealing = [root], True
        self._deal(root, packing, A_WHILE if self.search.is_large else np.inf)
        if not self.search.is_large:
            self._replace(root)

    def _deal(self, root: CaseNode, packing: DisjointObstructions, seconds: float) -> None:
        """Take obstructions as they are dealt and prove them, for a while."""
        start = self.clock.seconds
        try:
            for rows in self.dealt:
                before = self.clock.seconds
                self.proof(self._number(rows))
                self.clock.keep(self.clock.seconds - before)  # reserved for checking the answer
                if before - start > seconds:
                    return
            self.is_dealing = False
        finally:
            self._note_packing(root, packing)

    def _improve_packing(self, packing: DisjointObstructions) -> None:
        """Look for a better packing; when that no longer helps, begin the relaxation."""
        root = self.open[0]
        if self.is_dealing:
            self._deal(root, packing, A_WHILE)
        elif packing.improve():
            self.in_vain = 0
            for rows in packing.found:
                self.proof(self._number(rows))
            self._note_packing(root, packing)
        else:
            self.in_vain += 1
        limit = self.clock.limit
        is_late = not self.is_dealing and limit is not None and self.clock.seconds > SHARE_OF_PACKING * limit
        if self.in_vain >= PATIENCE or is_late or self.is_done(root):
            self.packing = None
            self._replace(root)

    def _note_packing(self, root: CaseNode, packing: DisjointObstructions) -> None:
        """Record the packing, as far as it is proved."""
        numbers = [self._number(rows) for rows in packing.found]
        proved = [number for number in numbers if self.proved.get(number) is not None]
        self._note(root, proved, np.array([self.costs[list(self.found[k])].min() for k in proved]))
        self._use(proved)

    # The relaxation -------------------------------------------------------------------------------------

    def _number(self, rows: tuple[int, ...]) -> int:
        """The number of an obstruction; a new one gets a new number."""
        if rows not in self.numbers:
            self.numbers[rows] = len(self.found)
            self.found.append(rows)
        return self.numbers[rows]

    def _use(self, numbers: Sequence[int]) -> bool:
        """Add obstructions that are new to the relaxation and not refuted; return whether there are any."""
        known = {*self.active, *(number for number, proof in self.proved.items() if proof is None)}
        new = [number for number in dict.fromkeys(numbers) if number not in known]
        if new:
            self.program.add([self.found[number] for number in new])
            self.active += new
        return bool(new)

    def _drop(self, places: Ints) -> None:
        """Take obstructions out of the relaxation."""
        if len(places):
            self.program.drop(places)
            self.active = np.delete(self.active, places).tolist()

    def _solve(self, case: CaseNode) -> None:
        """Raise the bound of a case by obstructions that its shares violate, for some rounds."""
        before = case.bound
        self.program.fix(case.path)
        for _ in range(ROUNDS):
            self.clock.check()
            solution = self.program.solve()
            if solution is None:
                case.is_solved = not self._rule_out(case)
                return
            shares, duals = solution
            if self._drop_unproved(duals):
                continue
            self._note(case, self.active, duals)
            case.shares = shares
            case.mean = shares if case.mean is None else FADING * case.mean + (1.0 - FADING) * shares
            if self.is_done(case):
                return
            if not self._add_violated(case, shares, duals):
                case.is_solved = not self._tries_harder(case)
                return
        hardly = case.shares is not None and case.bound - before < GAIN * (self.best - before)
        case.is_solved = hardly and not self._tries_harder(case)

    def _tries_harder(self, case: CaseNode) -> bool:
        """If there is one case, far from the best, make more walks from now on; return whether that is so."""
        if case.path or self.walks >= MOST_WALKS or self.best - case.bound < NARROW:
            return False
        self.walks *= 3
        return True

    def _add_violated(self, case: CaseNode, shares: Floats, duals: Floats) -> bool:
        """Add violated obstructions to the relaxation, and take others out; return whether there were any."""
        sums = self.program.sums
        tight = [self.found[self.active[k]] for k in np.flatnonzero(sums < 1.0 + 1e-4).tolist()]
        if len(self.active) > MANY:
            self._drop(np.flatnonzero((duals <= 1e-9) & (sums > SLACK)))
        mean = shares if case.mean is None else case.mean
        found = self.search.violated(shares, mean, tight, WALKS if case.path else self.walks)
        return self._use([self._number(rows) for rows in found])

    def _rule_out(self, case: CaseNode) -> bool:
        """Note an obstruction whose rows are all right in this case: then there is no such hyperplane."""
        right = {row for row, is_right in case.path if is_right}
        for place, number in enumerate(self.active):
            if right.issuperset(self.found[number]):
                if self.proof(number) is not None:
                    case.bound, case.multipliers = np.inf, {number: 0}
                    return True
                self._drop(np.array([place]))
                return True
        return False

    def _drop_unproved(self, duals: Floats) -> bool:
        """Take out obstructions on which the bound rests but which exact arithmetic does not confirm."""
        bad = [k for k in np.flatnonzero(duals > 1e-9).tolist() if self.proof(self.active[k]) is None]
        self._drop(np.array(bad, np.int64))
        return bool(bad)

    def proof(self, number: int) -> Obstruction | None:
        """An obstruction with its exact weights; None if it turns out not to be one."""
        if number not in self.proved:
            self.proved[number] = self.exact(self.found[number])
        return self.proved[number]

    def _note(self, case: CaseNode, numbers: Sequence[int], duals: Floats) -> None:
        """Record the dual solution as whole units that do not exceed the cost of any row, and the bound they prove."""
        case_of = dict(case.path)
        used = zip(numbers, duals.tolist(), strict=True)
        wanted = {k: int(dual * UNITS) for k, dual in used if dual * UNITS >= 1 and self._counts(k, case_of)}
        free = {k: [i for i in self.found[k] if i not in case_of] for k in wanted}
        left = {i: self.whole_costs[i] * UNITS for rows in free.values() for i in rows}
        multipliers = dict.fromkeys(wanted, 0)
        for most in (wanted, None):  # first the units of the dual solution, then whatever the rows still have left
            for k, rows in free.items():
                taken = min(left[i] for i in rows) if rows else 0
                taken = taken if most is None else min(most[k], taken)
                multipliers[k] += taken
                for i in rows:
                    left[i] -= taken
        mistaken = sum(self.whole_costs[row] for row, is_right in case.path if not is_right)
        units = mistaken * UNITS + sum(multipliers.values())
        if units >= case.units or not case.multipliers:
            case.bound, case.units = units / UNITS, units
            case.multipliers = {k: m for k, m in multipliers.items() if m}

    def _counts(self, number: int, case_of: dict[int, bool]) -> bool:
        """Whether an obstruction counts in a case: none of its rows is mistaken there."""
        return all(case_of.get(row) is not False for row in self.found[number])

    # The tree -------------------------------------------------------------------------------------------

    def is_done(self, case: CaseNode) -> bool:
        """Whether this case cannot hold anything cheaper than the best, given that costs are whole numbers."""
        return case.bound == np.inf or case.units > (self.best - 1) * UNITS + UNITS // 10_000

    def _file(self, case: CaseNode) -> None:
        if self.is_done(case):
            self.closed.append(case)
        else:
            heapq.heappush(self.open, case)

    @property
    def bound(self) -> float:
        """The least that any hyperplane can cost, by the cases so far."""
        return min((case.bound for case in (*self.open[:1], *self.closed)), default=0.0)

    def step(self) -> None:
        """Work on the case with the lowest bound: raise it, divide the case, or close it. It is then replaced."""
        case = self.open[0]
        if self.packing is not None and not case.path and self.search.is_large:
            self._improve_packing(self.packing)
        elif self.is_done(case):
            self._close(case)
        elif not case.is_solved:
            try:
                self._solve(case)
            finally:
                self._replace(case)
        elif (row := self._divided(case)) is None:
            self._close(case)
        else:
            self._replace(*(self._child(case, row, is_right) for is_right in (True, False)))

    def _child(self, case: CaseNode, row: int, is_right: bool) -> CaseNode:
        """A case in which one more row is right or mistaken, with the bound that the packing gives there."""
        self.count += 1
        child = CaseNode(case.bound, self.count, (*case.path, (row, is_right)), mean=case.mean)
        numbers = list(case.multipliers)
        self._note(child, numbers, np.array([case.multipliers[k] / UNITS for k in numbers]))
        return child

    def _replace(self, *cases: CaseNode) -> None:
        """Replace the case with the lowest bound by these."""
        heapq.heappop(self.open)
        for case in cases:
            self._file(case)

    def _close(self, case: CaseNode) -> None:
        """Settle a case that cannot be divided: its mistaken rows are enough, or there is another obstruction."""
        if not self.is_done(case) and case.shares is not None:
            named = self.settle(np.flatnonzero(case.shares < 0.5))
            if named is not None:
                rows, obstruction = named
                self.proved[self._number(rows)] = obstruction  # even if floats had found the rows, and no proof
                self._use([self._number(rows)])
            if any(case.shares[list(self.found[k])].sum() < MET for k in self.active):  # added since it was solved
                case.is_solved = False
                return
        heapq.heappop(self.open)
        self.closed.append(case)

    def _divided(self, case: CaseNode) -> int | None:
        """The row to divide by: as undecided as possible, with bounds in both cases as high as possible."""
        if case.shares is None:
            return None
        undecided = np.minimum(case.shares, 1.0 - case.shares) * self.costs
        rows = [row for row in np.argsort(-undecided)[:TRIED].tolist() if undecided[row] > 1e-6]
        start = self.clock.seconds
        best: tuple[float, int] | None = None
        for k, row in enumerate(rows):
            if best is not None and (k - rows.index(best[1]) > IN_VAIN or self.clock.seconds - start > QUICK * TRIED):
                break
            gains = [self._gain(case, row, is_right) for is_right in (True, False)]
            best = max(best or (-1.0, row), (min(gains) * max(gains), row))
        return None if best is None else best[1]

    def _gain(self, case: CaseNode, row: int, is_right: bool) -> float:
        """How much the bound of a case rises if one more row is right or mistaken, before any search."""
        self.program.fix((*case.path, (row, is_right)))
        solution = self.program.solve()
        cost = self.best if solution is None else min(float(self.best), float(self.costs @ solution[0]))
        return max(cost - case.bound, 1e-3)
