"""A square basis of integer rows, and the three exact questions the exact LP asks of it.

With B the D x D matrix of basis rows, nonsingular:
    weights       the w with b_k·w = 1 on the rows in force and 0 on all others        (B w = g)
    coordinates   the numbers that write other rows as combinations of the basis     (Bᵀ θ = z)
    duals         the vectors v_k with b_i·v_k = 1 for i = k and 0 otherwise               (B v = e_k)
All answers are integers over one positive denominator.

`Dixon` keeps nothing and solves anew each time; `Adjugate` keeps d·B⁻¹ and updates it without fractions. A solve is
much cheaper than the adjugate, an update is cheaper than two solves: rent first, buy after about D/4 exchanges.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from flint import fmpz_mat

from linsep.exact import solve

Row = Sequence[int]


class Basis(ABC):
    """D independent integer rows, one of which can be exchanged at a time."""

    @abstractmethod
    def weights(self, in_force: Sequence[bool]) -> list[int]:
        """Return w, up to a positive factor, with b_k·w equal for all k in force and 0 for the others."""

    @abstractmethod
    def coordinates(self, rows: Sequence[Row]) -> tuple[fmpz_mat, int]:
        """Return N and d > 0 with d·row_i = Σ_k N_ik b_k."""

    @abstractmethod
    def duals(self, places: Sequence[int]) -> fmpz_mat:
        """Return as columns, up to a positive factor, the vectors orthogonal to all basis rows but one."""

    @abstractmethod
    def replace(self, place: int, row: Row, coordinates: Sequence[int]) -> None:
        """Put a row with the given coordinates (nonzero at `place`) into the basis."""


class Dixon(Basis):
    """The basis itself; each question is one p-adic solve."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self._rows = fmpz_mat(rows)
        self._size = len(rows)

    def weights(self, in_force: Sequence[bool]) -> list[int]:
        """Solve B w = g."""
        numerators, _ = solve(self._rows, fmpz_mat([[int(here)] for here in in_force]))
        return [int(w) for w in numerators.entries()]

    def coordinates(self, rows: Sequence[Row]) -> tuple[fmpz_mat, int]:
        """Solve Bᵀ θ = z."""
        numerators, denominator = solve(self._rows.transpose(), fmpz_mat(rows).transpose())
        return numerators.transpose(), denominator

    def duals(self, places: Sequence[int]) -> fmpz_mat:
        """Solve B v = e_k for several k at once."""
        units = fmpz_mat([[int(k == place) for place in places] for k in range(self._size)])
        return solve(self._rows, units)[0]

    def replace(self, place: int, row: Row, coordinates: Sequence[int]) -> None:
        """Overwrite one row."""
        for j, entry in enumerate(row):
            self._rows[place, j] = entry


class Adjugate(Basis):
    """The matrix A = d·B⁻¹ with d = |det B|, so that every question is a product."""

    def __init__(self, rows: Sequence[Row]) -> None:
        """Begin with the unit vectors and exchange them for the rows: cheaper than an inverse, as numbers grow late."""
        size = len(rows)
        self._adjugate = fmpz_mat(size, size, [int(i == j) for i in range(size) for j in range(size)])
        self._det = 1
        order: list[int] = []
        vacant = list(range(size))
        for row in rows:
            coordinates = [int(x) for x in self.coordinates([row])[0].entries()]
            place = min((k for k in vacant if coordinates[k]), key=lambda k: abs(coordinates[k]))
            self.replace(place, row, coordinates)
            vacant.remove(place)
            order.append(place)
        table = self._adjugate.tolist()
        self._adjugate = fmpz_mat([[line[place] for place in order] for line in table])

    def weights(self, in_force: Sequence[bool]) -> list[int]:
        """Add the columns in force."""
        return [int(w) for w in (self._adjugate * fmpz_mat([[int(here)] for here in in_force])).entries()]

    def coordinates(self, rows: Sequence[Row]) -> tuple[fmpz_mat, int]:
        """Multiply: z = (z·A/d)·B."""
        return fmpz_mat(rows) * self._adjugate, self._det

    def duals(self, places: Sequence[int]) -> fmpz_mat:
        """Take columns."""
        return fmpz_mat([[line[place] for place in places] for line in self._adjugate.tolist()])

    def replace(self, place: int, row: Row, coordinates: Sequence[int]) -> None:
        """Exchange by Jordan's fraction-free step.

        With N the coordinates, p = N_place and a the column A_place, the new columns are (p·A_k - N_k·a)/d for
        k != place, and a itself, which the same formula gives once N_place is lessened by d. The new determinant
        is p. The division leaves no remainder (flint would raise).
        """
        pivot = int(coordinates[place])
        factors = [int(n) for n in coordinates]
        factors[place] -= self._det
        column = fmpz_mat([[line[place]] for line in self._adjugate.tolist()])
        updated = (self._adjugate * pivot - column * fmpz_mat([factors])) / self._det
        self._adjugate = updated if pivot > 0 else -updated
        self._det = abs(pivot)
