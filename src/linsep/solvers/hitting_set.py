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
ENOUGH = 200  # violated obstructions before the relaxation is solved again
ROUNDS, CASE_ROUNDS = 60, 8
KEPT = 2000  # obstructions that one walk may bring home
TIGHT = 1.1  # of x(S): what is above this is not carried on

Exact = Callable[[tuple[int, ...]], Obstruction | None]
Settle = Callable[[Ints], tuple[int, ...] | None]


@dataclass(order=True)
class Case:
    """A node of the tree: which rows are right or mistaken, and what every hyperplane costs there at least."""

    bound: float
    number: int
    path: tuple[tuple[int, bool], ...] = field(compare=False)
    active: Ints = field(compare=False)
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
        self.basis: Ints | None = None
        self.best = sum(costs)
        self.count = 0
        self.open: list[Case] = []
        self.closed: list[Case] = []

    # The relaxation -------------------------------------------------------------------------------------

    def begin(self) -> None:
        """The case in which nothing is taken for granted."""
        root = Case(0.0, 0, (), np.zeros(0, np.int64))
        self.basis = self._first_basis()
        if self.basis is not None:
            try:
                root.active = self._violated(np.zeros(len(self.z)), WALKS)
                self._solve(root, ROUNDS, WALKS)
            finally:
                self._file(root)

    def _first_basis(self) -> Ints | None:
        """D + 1 rows that hold an obstruction and span everything; None if floats see none."""
        n, width = self.z.shape
        equalities, right = np.vstack([self.z.T, np.ones(n)]), np.append(np.zeros(width), 1.0)
        found = linprog(self.random.random(n), A_eq=equalities, b_eq=right, method="highs-ds")
        if found.status != 0:
            return None
        directions, basis = np.zeros((width + 1, 0)), []
        for i in np.argsort(-found.x).tolist():
            column = equalities[:, i]
            rest = column - directions @ (directions.T @ column)
            if np.linalg.norm(rest) > 1e-7:
                directions = np.column_stack([directions, rest / np.linalg.norm(rest)])
                basis.append(i)
            if len(basis) == width + 1:
                return np.array(basis)
        return None

    def _violated(self, shares: Floats, walks: int) -> Ints:
        """The numbers of new obstructions S with x(S) < 1."""
        n, width = self.z.shape
        found, sizes = np.zeros((KEPT, width + 1), np.int64), np.zeros(KEPT, np.int64)
        new: list[int] = []
        for _ in range(walks):
            self.clock.check()
            noise = self.random.choice(NOISE) * self.random.choice([1.0, 5 * (shares.mean() + 1e-3)])
            new += self._walked(shares + noise * self.random.random(n), shares, found, sizes)
            if len(new) >= ENOUGH:
                break
        if not new:  # the cheapest one of all
            new = self._walked(shares + 1e-7 * self.random.random(n), shares, found, sizes)
        return np.array(new, np.int64)

    def _walked(self, prices: Floats, shares: Floats, found: Ints, sizes: Ints) -> list[int]:
        assert self.basis is not None
        basis = self.basis.copy()
        count = loops.circuits.walk(self.z, prices, shares, basis, 30 * basis.size, found, sizes)
        if self._is_sound(basis):
            self.basis = basis
        new: list[int] = []
        for k in range(count):
            rows = tuple(sorted(found[k, : sizes[k]].tolist()))
            if rows not in self.numbers:
                self.numbers[rows] = len(self.found)
                self.found.append(rows)
                new.append(self.numbers[rows])
        return new

    def _is_sound(self, basis: Ints) -> bool:
        """Whether a basis is one to go on from: neither singular nor, as floats see it, infeasible."""
        try:
            inverse = loops.circuits.inverse_of(self.z, basis)
        except np.linalg.LinAlgError:
            return False
        return bool(np.abs(inverse).max() < 1e9 and inverse[:, -1].min() > -1e-9)

    def _rows(self, active: Ints) -> sp.csr_array:
        """The matrix of obstructions and rows, for some obstructions."""
        late = self.found[self.matrix.shape[0] :]
        if late:
            places = np.repeat(np.arange(len(late)), [len(rows) for rows in late])
            columns = np.fromiter((i for rows in late for i in rows), np.int64)
            more = sp.csr_array((np.ones(len(places)), (places, columns)), (len(late), len(self.z)))
            self.matrix = sp.csr_array(sp.vstack([self.matrix, more]))
        return self.matrix[active]

    def _solve(self, case: Case, rounds: int, walks: int) -> None:
        """Raise the bound of a case by the obstructions that its shares violate, until it is closed or none is found."""
        bounds = np.column_stack([np.zeros(len(self.z)), np.ones(len(self.z))])
        for row, is_right in case.path:
            bounds[row] = (0.0, 0.0) if is_right else (1.0, 1.0)
        for _ in range(rounds):
            self.clock.check()
            if self._is_impossible(case):
                return
            rows = self._rows(case.active)
            solved = linprog(self.costs, -rows, -np.ones(rows.shape[0]), bounds=bounds, method="highs-ds")
            if solved.status != 0:
                return
            duals = np.maximum(-solved.ineqlin.marginals, 0.0)
            if self._drop_unproved(case, duals):
                continue
            self._note(case, duals)
            case.shares = solved.x
            if self.is_done(case):
                return
            new = self._violated(solved.x, walks)
            if not len(new):
                return
            carried = case.active[(duals > 1e-9) | (rows @ solved.x < TIGHT)]
            case.active = np.concatenate([carried, new])

    def _is_impossible(self, case: Case) -> bool:
        """Whether all rows of an obstruction are right: then there is no such hyperplane."""
        right = np.zeros(len(self.z))
        right[[row for row, is_right in case.path if is_right]] = 1.0
        rows = self._rows(case.active)
        for place in np.flatnonzero(rows @ right == rows.sum(axis=1)).tolist():
            number = int(case.active[place])
            if self.proof(number) is not None:
                case.bound, case.multipliers = np.inf, {number: 0}
                return True
            case.active = np.delete(case.active, place)
            return self._is_impossible(case)
        return False

    def _drop_unproved(self, case: Case, duals: Floats) -> bool:
        """Take obstructions out that the bound rests on and that exact arithmetic does not confirm."""
        bad = [k for k in np.flatnonzero(duals > 1e-9).tolist() if self.proof(int(case.active[k])) is None]
        case.active = np.delete(case.active, bad)
        return bool(bad)

    def proof(self, number: int) -> Obstruction | None:
        """An obstruction with its exact weights; None if it is none."""
        if number not in self.proved:
            self.proved[number] = self.exact(self.found[number])
        return self.proved[number]

    def _note(self, case: Case, duals: Floats) -> None:
        """Write the dual solution down as whole units that no row exceeds, and the bound that they prove."""
        case_of = dict(case.path)
        used = zip(case.active.tolist(), duals.tolist(), strict=True)
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

    def is_done(self, case: Case) -> bool:
        """Whether nothing cheaper than the best can be in this case: costs are whole numbers."""
        return case.bound > self.best - 1 + 1e-4

    def _file(self, case: Case) -> None:
        if self.is_done(case):
            self.closed.append(case)
        else:
            heapq.heappush(self.open, case)

    @property
    def bound(self) -> float:
        """What every hyperplane costs at least, as far as the cases go."""
        return min((case.bound for case in (*self.open[:1], *self.closed)), default=0.0)

    def step(self) -> bool:
        """Look at the least case: divide it, or close it; returns whether any is left."""
        if not self.open:
            return False
        case = heapq.heappop(self.open)
        row = None if self.is_done(case) else self._divided(case)
        if row is None:
            self._close(case)
            return True
        children = [Case(case.bound, self._next(), (*case.path, (row, right)), case.active) for right in (True, False)]
        for child in children:
            child.multipliers = self._inherited(case, child)
        try:
            for child in children:
                self._solve(child, CASE_ROUNDS, CASE_WALKS)
        finally:  # whatever happens, both cases are there
            for child in children:
                self._file(child)
        return True

    def _next(self) -> int:
        self.count += 1
        return self.count

    def _close(self, case: Case) -> None:
        """A case that cannot be divided: its mistaken rows are enough, or another obstruction is named."""
        named = None
        if not self.is_done(case) and case.shares is not None:
            named = self.settle(np.flatnonzero(case.shares < 0.5))
        if named is None:
            self.closed.append(case)
            return
        if named not in self.numbers:
            self.numbers[named] = len(self.found)
            self.found.append(named)
        try:
            case.active = np.append(case.active, self.numbers[named])
            self._solve(case, CASE_ROUNDS, CASE_WALKS)
        finally:
            self._file(case)

    def _inherited(self, case: Case, child: Case) -> dict[int, int]:
        """What is left of a packing when a row is mistaken: obstructions with it say nothing any more."""
        row, is_right = child.path[-1]
        kept = case.multipliers if is_right else {k: m for k, m in case.multipliers.items() if row not in self.found[k]}
        return dict(kept)

    def _divided(self, case: Case) -> int | None:
        """The row of which to distinguish the cases: as costly and as undecided as possible."""
        if case.shares is None:
            return None
        undecided = np.minimum(case.shares, 1.0 - case.shares) * self.costs
        row = int(undecided.argmax())
        return row if undecided[row] > 1e-6 else None
