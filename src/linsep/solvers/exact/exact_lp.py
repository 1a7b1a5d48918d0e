"""The exact LP: some w with z_i·w > 0 for all rows, or an obstruction that rules it out. Integers throughout.

Theorem (Gordan 1873). Either some w has z_i·w > 0 for every i, or some u >= 0, u != 0 has Σ u_i z_i = 0.

Take any independent rows as basis B and any positive combination c of them, and solve the linear program
min c·w, z_i·w >= g_i, with g = 1, by the dual simplex method. As c lies in the cone of B, B is dual feasible:
every basis is a valid start and there is no phase 1.

    w = B⁻¹g; all z_i·w > 0                     -> a separator
    else a row j with z_j·w <= 0 enters; write z_j = Σ θ_k b_k
      no θ_k > 0                                -> z_j + Σ |θ_k| b_k = 0: an obstruction, <= rank + 1 rows
      else the row of least cost_k/θ_k leaves   -> the objective grows, so no basis comes back

The costs are random, so that ties do not happen; if one does, longer costs are drawn.

Fewer rows than columns, redundant columns, zero rows: the basis starts as the D unit vectors e_c with g = 0.
A unit vector leaves only for a row that is independent of the rows so far; while it stays, w_c = 0.

Three-way. After an obstruction its basis rows become *free* (g = 0, never leave) and the entering row is ignored from
then on; the method continues with the same basis, modulo the span of the free rows. In the end w is zero on the free
span and positive on all rows outside it. If w = 0, all rows lie in the span of rows that cancel each other.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from flint import fmpz_mat
from numpy.typing import NDArray

from linsep.exact import coprime, independent_columns, independent_rows
from linsep.proofs import Obstruction
from linsep.solvers.exact import int64_lp
from linsep.solvers.exact.exact_basis import Basis, RentThenBuy
from linsep.solvers.exact.exact_outcomes import Settled, Stopped
from linsep.solvers.exact.pricing import RowStore

_UNIT = -1
_FEW_COLUMNS, FEW_ROWS = 20, 500


class _Blocked(NamedTuple):
    """A row for which no row in force can leave: d·row = Σ N_k basis_k with N_k <= 0 wherever k is in force."""

    row: int
    coordinates: list[int]
    denominator: int


class ExactLP:
    """The exact LP over rows that may be added at any time.

    >>> lp = ExactLP(2)
    >>> lp.add([[1, 1], [1, -1]])
    range(0, 2)
    >>> lp.three_way().weights
    (1, 0)
    >>> lp.add([[-2, 0]])
    range(2, 3)
    >>> lp.solve()
    <Obstruction: rows 0, 1, 2>
    """

    def __init__(self, n_columns: int, *, seed: int = 0, should_stop: Callable[[], bool] = lambda: False) -> None:
        self.pivots = 0
        self._store = RowStore(n_columns)
        self._random = random.Random(seed)
        self._cost_bits = 64
        self._should_stop = should_stop
        self._size = n_columns
        self._looked_at = 0
        self._hinted: list[int] = []
        self._aside: set[int] = set()
        self._first: Obstruction | None = None
        self._spread: dict[int, int] = {}
        self._blocked: _Blocked | None = None
        self._is_free = [False] * n_columns
        self._costs: list[int] = []
        self._weights: list[int] = []
        self._set_basis([_UNIT] * n_columns, list(range(n_columns)))

    # What the caller sees -------------------------------------------------------------------------

    def add(self, rows: Iterable[Sequence[Any]] | NDArray[Any]) -> range:
        """Add integer rows (Python integers, an integer array or flint's integers); return their ids."""
        return self._store.add(rows)

    def solve(self, basis_hint: Sequence[int] = ()) -> tuple[int, ...] | Obstruction:
        """Continue to weights, or to the next obstruction; after that, `free` steps over it.

        The weights have z·w > 0 on every row outside the free span: on every row, as long as nothing was freed.
        """
        self._take_hint(basis_hint)
        if self._advance():
            return self._as_obstruction(self._combined())
        return coprime(self._weights)

    def free(self) -> None:
        """Free the rows of the obstruction that `solve` returned, so that the next call continues beyond it."""
        blocked = self._blocked
        if blocked is None:
            raise ValueError("free() steps over an obstruction: call solve() until it returns one")
        combination = self._combined()
        if self._first is None:
            self._first = self._as_obstruction(combination)
        self._blocked = None
        self._aside.add(blocked.row)
        if any(blocked.coordinates):  # else it is a zero row: an obstruction by itself, no use to the spread
            self._spread = combination
            for place, coordinate in enumerate(blocked.coordinates):
                self._is_free[place] |= coordinate != 0
            self._weigh()

    @property
    def known(self) -> Obstruction | None:
        """The first obstruction that was freed, if any."""
        return self._first

    def three_way(self, basis_hint: Sequence[int] = ()) -> Settled:
        """Decide all rows added: separable, touching or overlapping."""
        quick = None if self.pivots or self._first else three_way_in_int64(self._store.as_int64())
        if quick is not None:
            return quick
        self._take_hint(basis_hint)
        while self._advance():  # past all obstructions
            self.free()
        if self._first is None:
            return Settled("separable", coprime(self._weights))
        spread = self._as_obstruction(self._spread) if self._spread else self._first
        if any(self._weights):
            return Settled("touching", coprime(self._weights), 0, self._first, spread)
        return Settled("overlapping", obstruction=self._first, spread=spread)

    # The loop -------------------------------------------------------------------------------------

    def _advance(self) -> bool:
        """Pivot until a row is blocked (True) or every row outside the free span is positive (False)."""
        self._widen()
        while self._blocked is None:
            if self._should_stop():
                raise Stopped
            row = self._entering()
            if row is None:
                return False
            self._enter(row)
        return True

    def _entering(self) -> int | None:
        """Choose the most violated row, else one of score 0 outside the free span; ignore those inside from now on."""
        row, zeros = self._store.price(self._weights, self._aside, self._hinted)
        if row is not None or not zeros:
            return row
        if self._first is None:
            return zeros[0]  # the free span is {0}: a zero row is blocked at once, any other moves the basis
        for zero, inside in zip(zeros, self._in_free_span([self._store[i] for i in zeros]), strict=True):
            if not inside:
                return zero
            self._aside.add(zero)
        return None

    def _enter(self, row: int) -> None:
        """Bring a row into the basis, or find that it is blocked."""
        table, denominator = self._basis.coordinates([self._store[row]])
        coordinates = [int(n) for n in table.entries()]
        place = self._vacant_place(coordinates)
        if place is not None:
            self._costs[place] = (self._draw() * max(self._costs) >> self._cost_bits) + 1
        else:
            place = self._leaving_place(coordinates)
            if place is None:
                self._blocked = _Blocked(row, coordinates, denominator)
                return
            self._charge(place, coordinates, denominator)
        self._basis.replace(place, self._store[row], coordinates[place])
        self._ids[place] = row
        self.pivots += 1
        self._weigh()

    def _vacant_place(self, coordinates: Sequence[int]) -> int | None:
        """Return the place of a unit vector that the row can replace, since it is independent: the rank grows by 1."""
        places = (k for k, row in enumerate(self._ids) if row == _UNIT and coordinates[k])
        return min(places, key=lambda k: abs(coordinates[k]), default=None)

    def _leaving_place(self, coordinates: Sequence[int]) -> int | None:
        """Return the place in force of least cost/coordinate among the positive coordinates."""
        best: int | None = None
        for k, coordinate in enumerate(coordinates):
            if (
                coordinate > 0
                and self._in_force(k)
                and (best is None or self._costs[k] * coordinates[best] < self._costs[best] * coordinate)
            ):
                best = k
        return best

    def _charge(self, place: int, coordinates: Sequence[int], denominator: int) -> None:
        """Write the cost vector in the new basis, up to a positive factor."""
        leaving, pivot = self._costs[place], coordinates[place]
        costs = [
            cost * pivot - leaving * coordinate if self._in_force(k) else 0
            for k, (cost, coordinate) in enumerate(zip(self._costs, coordinates, strict=True))
        ]
        costs[place] = leaving * denominator
        self._costs = list(coprime(costs))
        if any(not cost and self._in_force(k) for k, cost in enumerate(costs)):
            self._cost_bits *= 2
            self._draw_costs()

    def _in_force(self, place: int) -> bool:
        return self._ids[place] != _UNIT and not self._is_free[place]

    def _weigh(self) -> None:
        self._weights = self._basis.weights([self._in_force(k) for k in range(self._size)])

    def _draw(self) -> int:
        return self._random.randrange(1, 1 << self._cost_bits)

    def _draw_costs(self) -> None:
        self._costs = [self._draw() for _ in range(self._size)]

    # Obstructions ---------------------------------------------------------------------------------

    def _combined(self) -> dict[int, int]:
        """Return the blocked row's combination made positive with copies of the combination so far.

        d·z_j - Σ N_k b_k = 0, where only free rows can have N_k > 0; these have positive weights in the
        spread.
        """
        assert self._blocked is not None
        row, coordinates, denominator = self._blocked
        terms = {self._ids[k]: -n for k, n in enumerate(coordinates) if n} | {row: denominator}
        copies = max((-n // self._spread[i] + 1 for i, n in terms.items() if n < 0), default=1)
        total = {i: n * copies for i, n in self._spread.items()} if any(coordinates) else {}
        for i, n in terms.items():
            total[i] = total.get(i, 0) + n
        return total

    def _as_obstruction(self, combination: dict[int, int]) -> Obstruction:
        ids = tuple(sorted(combination))
        weights = coprime(combination[i] for i in ids)
        total = fmpz_mat([weights]) * fmpz_mat([self._store[i] for i in ids])
        if any(total.entries()) or min(weights) <= 0:
            raise ArithmeticError("an obstruction does not cancel: a defect of the exact LP, please report")
        return Obstruction(ids, weights)

    def _in_free_span(self, rows: Sequence[Sequence[int]]) -> list[bool]:
        """Test whether coordinates vanish outside the free places, by whichever needs fewer solves."""
        others = [k for k in range(self._size) if not self._is_free[k]]
        if len(rows) <= len(others):
            table = self._basis.coordinates(rows)[0].tolist()
            return [not any(line[k] for k in others) for line in table]
        products = (fmpz_mat(rows) * self._basis.duals(others)).tolist() if others else [[]] * len(rows)
        return [not any(line) for line in products]

    # Choosing a basis -----------------------------------------------------------------------------

    def _take_hint(self, hint: Sequence[int]) -> None:
        """Start from the hinted rows (after the free ones, before the present ones), as far as they are independent.

        A hint of rank + 1 rows that obstruct leaves one row outside the basis; it enters before all others.
        """
        self._hinted = list(hint)
        if hint and self._blocked is None:
            self._rebase(list(hint))

    def _widen(self) -> None:
        """Give the places of unit vectors to rows added since the last look, all at once."""
        news = range(self._looked_at, len(self._store))
        if news and _UNIT in self._ids and self._blocked is None:
            self._rebase([])

    def _rebase(self, hint: list[int]) -> None:
        """Choose independent rows: first the free, then the hinted, the present and the new ones.

        The present rows span all rows used before, so only new ones can add to the rank.
        """
        free = [row for row, is_free in zip(self._ids, self._is_free, strict=True) if is_free]
        present = [row for row in self._ids if row != _UNIT]
        chosen: list[int] = []
        for batch in self._batches(list(dict.fromkeys([*free, *hint, *present]))):
            tried = [*chosen, *batch]
            chosen = [tried[k] for k in independent_rows([self._store[i] for i in tried])]
            if len(chosen) == self._size:
                break
        if chosen[: len(free)] != free or set(chosen) == set(present):
            return
        columns = independent_columns([self._store[i] for i in chosen])
        units = sorted(set(range(self._size)) - set(columns))
        self._is_free = [k < len(free) for k in range(self._size)]
        self._set_basis([*chosen, *(_UNIT for _ in units)], units)

    def _batches(self, preferred: list[int]) -> Iterable[list[int]]:
        """Yield the preferred rows, then the rows not used before, a few at a time."""
        yield preferred
        step = 2 * self._size + 8
        while self._looked_at < len(self._store):
            start, self._looked_at = self._looked_at, min(self._looked_at + step, len(self._store))
            yield [row for row in range(start, self._looked_at) if row not in preferred]

    def _set_basis(self, ids: list[int], units: list[int]) -> None:
        """Build the basis of these rows and, at its last places, these unit vectors."""
        rows = [self._store[i] for i in ids if i != _UNIT]
        rows += [[int(j == unit) for j in range(self._size)] for unit in units]
        self._ids = ids
        self._basis: Basis = RentThenBuy(rows)
        self._draw_costs()
        self._weigh()


def three_way_in_int64(rows: NDArray[np.int64] | None) -> Settled | None:
    """Let 64 bits decide, if the rows are few and small enough; else None."""
    if rows is None or rows.shape[1] > _FEW_COLUMNS or len(rows) > FEW_ROWS:
        return None
    return int64_lp.three_way(rows)
