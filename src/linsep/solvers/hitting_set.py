"""A bound on the mistakes of every hyperplane: the cheapest set of rows that meets every obstruction.

Every hyperplane makes a mistake in each obstruction, and a set of rows that meets all of them leaves separable rows
behind: the fewest mistakes are a hitting set. Its linear relaxation gives each row a share x of being mistaken, with
x(S) >= 1 for the obstructions S known so far; walks over obstructions find those that are violated. The dual solution
is a packing of obstructions, which is the proof (see `linsep.proofs.packings`). Where the relaxation is not enough,
cases are distinguished, the least one first: a row that is half mistaken is right, or it is mistaken.
"""

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog

from linsep import loops
from linsep.proofs import Obstruction
from linsep.proofs.packings import UNITS
from linsep.solvers.clock import Clock
from linsep.sources.base import Floats, Ints

NOISE = (0.02, 0.1, 0.3, 1.0)  # added to the prices of a walk, so that no two are alike
WALKS, CASE_WALKS = 20, 6
ENOUGH, TAKEN = 240, 60  # violated obstructions before the walks end, and the most violated ones that are added
ROUNDS, CASE_ROUNDS = 100, 8
STRETCH = 40  # times D + 1 rows: how many are looked at for obstructions that share no row
KEPT = 2000  # obstructions that one walk may bring home
MANY, SLACK = 1500, 1.3  # from so many obstructions on, those with x(S) above this are put aside

Exact = Callable[[tuple[int, ...]], Obstruction | None]
Settle = Callable[[Ints], tuple[int, ...] | None]


@dataclass(order=True)
class CaseNode:
    """A node of the tree: which rows are right or mistaken, and what every hyperplane costs there at least."""

    bound: float
    number: int
    path: tuple[tuple[int, bool], ...] = field(compare=False)
    shares: Floats | None = field(compare=False, default=None)
    multipliers: dict[int, int] = field(compare=False, default_factory=dict)


class HittingSet:
    """The relaxation over unit rows z with these costs, and the tree of cases below it.

    `exact` makes an obstruction of rows that floats take for one, or None if they are none. `settle` is asked whether
    some hyperplane gets these rows right: it notes it (`best`, the least cost known), or names an obstruction in them.
    """

    def __init__(self, z: Floats, costs: Sequence[int], exact: Exact, settle: Settle, clock: Clock) -> None:
        self.z, self.whole_costs, self.costs = z, costs, np.array(costs, np.float64)
        self.exact, self.settle, self.clock = exact, settle, clock
        self.random = np.random.default_rng(0)
        self.found: list[tuple[int, ...]] = []
        self.numbers: dict[tuple[int, ...], int] = {}
        self.proved: dict[int, Obstruction | None] = {}
        self.matrix = sp.csr_array((0, len(z)))
        self.active = np.zeros(0, np.int64)
        self.basis: Ints | None = None
        self.best = sum(costs)
        self.count = 0
        self.open: list[CaseNode] = []
        self.closed: list[CaseNode] = []

    # The relaxation -------------------------------------------------------------------------------------

    def pack(self, near: Floats) -> None:
        """The case in which nothing is taken for granted, with obstructions that share no row.

        The rows nearest to a hyperplane that makes few mistakes, whose weights are `near`, are looked at first.
        """
        root = CaseNode(0.0, 0, ())
        try:
            self._pack(root, np.argsort(np.abs(self.z @ near)))
        finally:
            self._file(root)

    def begin(self) -> None:
        """Solve the relaxation of that case."""
        if not self.open:
            return
        root = self.open[0]
        try:
            self.basis = self._basis_of(np.arange(len(self.z)))
            if self.basis is not None and not len(self.active):
                self.active = self._violated(np.zeros(len(self.z)), WALKS)
            if len(self.active):
                self._solve(root, ROUNDS, WALKS)
        finally:
            self._replace(root)

    def _pack(self, root: CaseNode, order: Ints) -> None:
        """Obstructions that share no row, from one stretch of rows after another, the nearest first."""
        length = STRETCH * (self.z.shape[1] + 1)
        try:
            for start in range(0, len(order), length):
                rows = order[start : start + length]
                while len(found := self._obstruction_in(rows)):
                    self.clock.check()
                    number = self._number(tuple(sorted(found.tolist())))
                    if self.proof(number) is not None:
                        self.active = np.append(self.active, number)
                    rows = rows[~np.isin(rows, found)]
        finally:
            self._note(root, np.array([min(self.costs[list(self.found[k])]) for k in self.active.tolist()]))

    def _obstruction_in(self, rows: Ints) -> Ints:
        """The rows of an obstruction among these, as floats see it; none if they see none."""
        if not len(rows):
            return rows
        z, width = self.z[rows], self.z.shape[1]
        equalities, right = np.vstack([z.T, np.ones(len(rows))]), np.append(np.zeros(width), 1.0)
        solved = linprog(self.random.random(len(rows)), A_eq=equalities, b_eq=right, method="highs-ds")
        return rows[:0] if solved.x is None else rows[solved.x > 1e-9]

    def _basis_of(self, rows: Ints) -> Ints | None:
        """D + 1 rows that hold an obstruction and span everything; None if floats see none."""
        found = self._obstruction_in(rows)
        columns = np.column_stack([self.z, np.ones(len(self.z))])
        directions, basis = np.zeros((columns.shape[1], 0)), list[int]()
        for i in [*found.tolist(), *rows.tolist()] if len(found) else []:
            rest = columns[i] - directions @ (directions.T @ columns[i])
            if np.linalg.norm(rest) > 1e-7:
                directions = np.column_stack([directions, rest / np.linalg.norm(rest)])
                basis.append(i)
            if len(basis) == columns.shape[1]:
                return np.array(basis)
        return None

    def _violated(self, shares: Floats, walks: int) -> Ints:
        """The numbers of obstructions S with x(S) < 1 that are not in use, the most violated ones."""
        n, width = self.z.shape
        found, sizes = np.zeros((KEPT, width + 1), np.int64), np.zeros(KEPT, np.int64)
        known, new = set(self.active.tolist()), set[int]()
        for _ in range(walks):
            self.clock.check()
            noise = self.random.choice(NOISE) * self.random.choice([1.0, 5 * (shares.mean() + 1e-3)])
            new |= self._walked(shares + noise * self.random.random(n), shares, found, sizes) - known
            if len(new) >= ENOUGH:
                break
        if not new:  # the cheapest one of all
            new = self._walked(shares + 1e-7 * self.random.random(n), shares, found, sizes) - known
        order = sorted(new, key=lambda k: (float(shares[list(self.found[k])].sum()), k))
        return np.array(order[:TAKEN], np.int64)

    def _walked(self, prices: Floats, shares: Floats, found: Ints, sizes: Ints) -> set[int]:
        """The numbers of the violated obstructions that a walk comes by."""
        if self.basis is None:
            return set()
        basis = self.basis.copy()
        count = loops.circuits.walk(self.z, prices, shares, basis, 30 * basis.size, found, sizes)
        if self._is_sound(basis):
            self.basis = basis
        return {self._number(tuple(sorted(found[k, : sizes[k]].tolist()))) for k in range(count)}

    def _number(self, rows: tuple[int, ...]) -> int:
        """The number of an obstruction, a new one if it was not known."""
        if rows not in self.numbers:
            self.numbers[rows] = len(self.found)
            self.found.append(rows)
        return self.numbers[rows]

    def _is_sound(self, basis: Ints) -> bool:
        """Whether a basis is one to go on from: neither singular nor, as floats see it, infeasible."""
        try:
            inverse = loops.circuits.inverse_of(self.z, basis)
        except np.linalg.LinAlgError:
            return False
        return bool(np.abs(inverse).max() < 1e9 and inverse[:, -1].min() > -1e-9)

    def _rows(self) -> sp.csr_array:
        """The matrix of obstructions in use and rows."""
        late = self.found[self.matrix.shape[0] :]
        if late:
            places = np.repeat(np.arange(len(late)), [len(rows) for rows in late])
            columns = np.fromiter((i for rows in late for i in rows), np.int64)
            more = sp.csr_array((np.ones(len(places)), (places, columns)), (len(late), len(self.z)))
            self.matrix = sp.csr_array(sp.vstack([self.matrix, more]))
        return self.matrix[self.active]

    def _solve(self, case: CaseNode, rounds: int, walks: int) -> None:
        """Raise the bound of a case by obstructions that its shares violate, until it is closed or none is found."""
        bounds = np.column_stack([np.zeros(len(self.z)), np.ones(len(self.z))])
        for row, is_right in case.path:
            bounds[row] = (0.0, 0.0) if is_right else (1.0, 1.0)
        for _ in range(rounds):
            self.clock.check()
            if self._is_impossible(case):
                return
            rows = self._rows()
            right: Any = -np.ones(rows.shape[0])
            solved = linprog(self.costs, cast(Any, -rows), right, bounds=cast(Any, bounds), method="highs-ds")
            if solved.x is None:
                return
            duals = np.maximum(-solved.ineqlin.marginals, 0.0)
            if self._drop_unproved(duals):
                continue
            self._note(case, duals)
            case.shares = solved.x
            if self.is_done(case):
                return
            if len(self.active) > MANY:
                self.active = self.active[(duals > 1e-9) | (rows @ solved.x < SLACK)]
            new = self._violated(solved.x, walks)
            if not len(new):
                return
            self.active = np.concatenate([self.active, new])

    def _is_impossible(self, case: CaseNode) -> bool:
        """Whether all rows of an obstruction are right: then there is no such hyperplane."""
        right = np.zeros(len(self.z))
        right[[row for row, is_right in case.path if is_right]] = 1.0
        rows = self._rows()
        for number in self.active[rows @ right == rows.sum(axis=1)].tolist():
            if self.proof(number) is not None:
                case.bound, case.multipliers = np.inf, {number: 0}
                return True
            self.active = self.active[self.active != number]
        return False

    def _drop_unproved(self, duals: Floats) -> bool:
        """Take obstructions out that the bound rests on and that exact arithmetic does not confirm."""
        bad = [k for k in np.flatnonzero(duals > 1e-9).tolist() if self.proof(int(self.active[k])) is None]
        self.active = np.delete(self.active, bad)
        return bool(bad)

    def proof(self, number: int) -> Obstruction | None:
        """An obstruction with its exact weights; None if it is none."""
        if number not in self.proved:
            self.proved[number] = self.exact(self.found[number])
        return self.proved[number]

    def _note(self, case: CaseNode, duals: Floats) -> None:
        """Write the dual solution down as whole units that no row exceeds, and the bound that they prove."""
        case_of = dict(case.path)
        used = zip(self.active.tolist(), duals.tolist(), strict=True)
        multipliers = {k: int(dual * UNITS) for k, dual in used if dual * UNITS >= 1 and self._counts(k, case_of)}
        spent: dict[int, list[int]] = {}
        for number in multipliers:
            for i in self.found[number]:
                if i not in case_of:
                    spent.setdefault(i, []).append(number)
        for i, numbers in spent.items():
            excess = sum(multipliers[k] for k in numbers) - self.whole_costs[i] * UNITS
            for k in numbers:
                if excess <= 0:
                    break
                taken = min(excess, multipliers[k])
                multipliers[k] -= taken
                excess -= taken
        mistaken = sum(self.whole_costs[row] for row, is_right in case.path if not is_right)
        bound = mistaken + sum(multipliers.values()) / UNITS
        if bound >= case.bound or not case.multipliers:
            case.bound, case.multipliers = bound, {k: m for k, m in multipliers.items() if m}

    def _counts(self, number: int, case_of: dict[int, bool]) -> bool:
        """Whether an obstruction says anything in a case: none of its rows is mistaken there."""
        return all(case_of.get(row) is not False for row in self.found[number])

    # The tree -------------------------------------------------------------------------------------------

    def is_done(self, case: CaseNode) -> bool:
        """Whether nothing cheaper than the best can be in this case: costs are whole numbers."""
        return case.bound > self.best - 1 + 1e-4

    def _file(self, case: CaseNode) -> None:
        if self.is_done(case):
            self.closed.append(case)
        else:
            heapq.heappush(self.open, case)

    @property
    def bound(self) -> float:
        """What every hyperplane costs at least, as far as the cases go."""
        return min((case.bound for case in (*self.open[:1], *self.closed)), default=0.0)

    def step(self) -> None:
        """Look at the least case: divide it, or close it. It stays open until others are in its place."""
        case = self.open[0]
        row = None if self.is_done(case) else self._divided(case)
        if row is None:
            self._close(case)
            return
        children = [CaseNode(case.bound, self._next(), (*case.path, (row, right))) for right in (True, False)]
        for child in children:
            child.multipliers = self._inherited(case, child)
        try:
            for child in children:
                self._solve(child, CASE_ROUNDS, CASE_WALKS)
        finally:  # whatever happens, both cases are there
            self._replace(*children)

    def _replace(self, *cases: CaseNode) -> None:
        """Put cases in the place of the least one."""
        heapq.heappop(self.open)
        for case in cases:
            self._file(case)

    def _next(self) -> int:
        self.count += 1
        return self.count

    def _close(self, case: CaseNode) -> None:
        """A case that cannot be divided: its mistaken rows are enough, or another obstruction is named."""
        named = None
        if not self.is_done(case) and case.shares is not None:
            named = self.settle(np.flatnonzero(case.shares < 0.5))
        if named is None:
            heapq.heappop(self.open)
            self.closed.append(case)
            return
        try:
            self.active = np.append(self.active, self._number(named))
            self._solve(case, CASE_ROUNDS, CASE_WALKS)
        finally:
            self._replace(case)

    def _inherited(self, case: CaseNode, child: CaseNode) -> dict[int, int]:
        """What is left of a packing when a row is mistaken: obstructions with it say nothing any more."""
        row, is_right = child.path[-1]
        kept = case.multipliers if is_right else {k: m for k, m in case.multipliers.items() if row not in self.found[k]}
        return dict(kept)

    def _divided(self, case: CaseNode) -> int | None:
        """The row of which to distinguish the cases: as costly and as undecided as possible."""
        if case.shares is None:
            return None
        undecided = np.minimum(case.shares, 1.0 - case.shares) * self.costs
        row = int(undecided.argmax())
        return row if undecided[row] > 1e-6 else None
