"""Two linear programs that HiGHS solves repeatedly by the simplex method, each time from the last solution.

CoverProgram          min c·x with x(S) >= 1 for some sets S of rows: sets come and go, and rows are fixed
CombinationProgram    an obstruction among some rows, then one among the remaining rows, and so on
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from highspy import Highs, HighsModelStatus, HighsStatus

from linsep.solvers.clock import Clock, OutOfTime
from linsep.sources.base import Floats, Ints

TILT = 1e-4  # equal costs are reduced by different parts, at most this: many optimal solutions would take long
LONG = 1e6  # if a cost is larger, the program's unit is the mean cost: for HiGHS 1e20 is infinite
DEVEX, WITHOUT_PRESOLVE = 1, {"presolve": "off", "solver": "simplex", "threads": 1, "output_flag": False}


def program() -> Highs:
    """An empty program that does not print anything."""
    made = Highs()
    for name, value in {**WITHOUT_PRESOLVE, "simplex_dual_edge_weight_strategy": DEVEX}.items():
        made.setOptionValue(name, value)
    return made


def solved(lp: Highs, clock: Clock) -> bool:
    """Solve a program within the time that is left; False if it has no solution."""
    left = clock.left
    lp.setOptionValue("time_limit", np.inf if left is None else lp.getRunTime() + left)  # it counts all its runs
    lp.run()
    status = lp.getModelStatus()
    if status in (HighsModelStatus.kTimeLimit, HighsModelStatus.kInterrupt):
        raise OutOfTime
    return bool(status == HighsModelStatus.kOptimal)


def numbers(values: Any) -> Ints:
    """Numbers of rows or columns as HiGHS takes them."""
    return np.asarray(values, np.int32)


class CoverProgram:
    """The cheapest shares x of the rows, 0 <= x <= 1, with x(S) >= 1 for each set S in use."""

    def __init__(self, costs: Floats, clock: Clock) -> None:
        n, self.unit = len(costs), float(costs.mean()) if costs.max(initial=0.0) > LONG else 1.0
        tilt = TILT if 2 * len(np.unique(costs)) <= n else 0.0
        tilted = costs / self.unit * (1.0 - tilt * np.random.default_rng(0).random(n))
        self.clock, self.lp = clock, program()
        self.lp.addVars(n, np.zeros(n), np.ones(n))
        self.lp.changeColsCost(n, numbers(np.arange(n)), tilted)
        self.fixed = np.full(n, -1)
        self.sums = np.zeros(0)  # x(S) of each set, in the last solution

    def add(self, sets: Sequence[tuple[int, ...]]) -> None:
        """Add sets, each of distinct rows: HiGHS refuses a row that is named twice."""
        sizes = [len(rows) for rows in sets]
        entries = numbers([i for rows in sets for i in rows])
        starts = numbers(np.cumsum([0, *sizes[:-1]]))
        ones = np.ones(len(sets))
        status = self.lp.addRows(len(sets), ones, ones * np.inf, len(entries), starts, entries, np.ones(len(entries)))
        assert status != HighsStatus.kError, "each set holds distinct rows"

    def drop(self, places: Ints) -> None:
        """Remove sets; the later ones move up."""
        self.lp.deleteRows(len(places), numbers(places))

    def fix(self, path: Sequence[tuple[int, bool]]) -> None:
        """Say which rows are right (their share is 0) or mistaken (it is 1); all others are free."""
        wanted = np.full(len(self.fixed), -1)
        for row, is_right in path:
            wanted[row] = 0 if is_right else 1
        changed = np.flatnonzero(wanted != self.fixed)
        low, high = np.where(wanted == 1, 1.0, 0.0), np.where(wanted == 0, 0.0, 1.0)
        self.lp.changeColsBounds(len(changed), numbers(changed), low[changed], high[changed])
        self.fixed = wanted

    def solve(self) -> tuple[Floats, Floats] | None:
        """The shares, and the multipliers of the sets; None if the fixed rows leave no solution."""
        if not solved(self.lp, self.clock):
            return None
        solution = self.lp.getSolution()
        self.sums = np.array(solution.row_value)
        return np.array(solution.col_value), self.unit * np.maximum(solution.row_dual, 0.0)


class CombinationProgram:
    """Iterates over obstructions among rows z, in floats, the cheapest first, so that no two of them share a row."""

    def __init__(self, z: Floats, prices: Floats, clock: Clock) -> None:
        n, width = z.shape
        self.clock, self.lp = clock, program()
        right = np.append(np.zeros(width), 1.0)
        none = numbers([])
        self.lp.addRows(width + 1, right, right, 0, numbers(np.zeros(width + 1)), none, np.zeros(0))
        entries = np.column_stack([z, np.ones(n)])
        starts, places = np.arange(n) * (width + 1), np.tile(np.arange(width + 1), n)
        self.lp.addCols(
            n, prices, np.zeros(n), np.full(n, np.inf), entries.size, numbers(starts), numbers(places), entries.ravel()
        )

    def __iter__(self) -> Iterator[Ints]:
        """The rows of the cheapest obstruction, which are then removed, and so on until there is none."""
        while solved(self.lp, self.clock):
            found = np.flatnonzero(np.array(self.lp.getSolution().col_value) > 1e-9)
            if not len(found):
                return
            none = np.zeros(len(found))
            self.lp.changeColsBounds(len(found), numbers(found), none, none)
            self.clock.check()
            yield found
