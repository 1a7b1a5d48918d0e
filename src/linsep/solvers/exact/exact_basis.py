"""A square basis of integer rows, and the three exact questions about it that the exact LP needs answered.

With B the D x D matrix of basis rows, nonsingular:
    weights       the w with b_k·w = 1 on the rows in force and 0 on all others        (B w = g)
    coordinates   the numbers that write other rows as combinations of the basis     (Bᵀ θ = z)
    duals         the vectors v_k with b_i·v_k = 1 for i = k and 0 otherwise               (B v = e_k)
All answers are integers over one positive denominator.

`Dixon` keeps only B and solves again each time: best for a warm start, which needs few exchanges.
`Residues` keeps d·B⁻¹ modulo many primes: it takes D exchanges to build, and then each exchange is 3 to 5 times
cheaper than two solves (D = 50 to 150). `RentThenBuy` begins with the first and switches to the second, as in the
problem of renting or buying skis.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from flint import fmpz_mat
from numpy.typing import NDArray

from linsep import deadline, loops
from linsep.exact import solve

Row: TypeAlias = Sequence[int]

_RENT_BELOW, _BUY_AT_ONCE = 14, 50  # rows: for fewer, always solve; up to the second, residues at once
_LARGEST_BYTES = 600_000_000


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
    def replace(self, place: int, row: Row, pivot: int) -> None:
        """Put a row into the basis, given the sign of its coordinate at `place`, which is not zero."""


class Dixon(Basis):
    """The basis itself; each question is one p-adic solve.

    Unit vectors among its rows, as many as the rank is short of D, are taken out first: a row e_c gives w_c, and what
    remains is a system of the other rows: R is these rows in the other columns, P in the columns of unit vectors.
    """

    def __init__(self, rows: Sequence[Row]) -> None:
        self._rows = list(rows)
        self._split()

    def weights(self, in_force: Sequence[bool]) -> list[int]:
        """Solve B w = g."""
        return [int(w) for w in self._solved([[int(here)] for here in in_force]).entries()]

    def coordinates(self, rows: Sequence[Row]) -> tuple[fmpz_mat, int]:
        """Solve Bᵀ θ = z: Rᵀ θ = z in the other columns, and what is missing in the columns of unit vectors."""
        if not self._places:
            return fmpz_mat([[row[c] for c in self._columns] for row in rows]), 1
        own = fmpz_mat([[row[c] for c in self._others] for row in rows]).transpose()
        numerators, denominator = solve(self._core.transpose(), own)
        numerators = numerators.transpose()
        if not self._units:
            return numerators, denominator
        missing = fmpz_mat([[row[c] for c in self._columns] for row in rows]) * denominator - numerators * self._beside
        both = [[*mine, *units] for mine, units in zip(numerators.tolist(), missing.tolist(), strict=True)]
        order = np.argsort([*self._places, *self._units]).tolist()
        return fmpz_mat([[line[k] for k in order] for line in both]), denominator

    def duals(self, places: Sequence[int]) -> fmpz_mat:
        """Solve B v = e_k for several k at once."""
        return self._solved([[int(k == place) for place in places] for k in range(len(self._rows))])

    def replace(self, place: int, row: Row, pivot: int) -> None:
        """Overwrite one row."""
        self._rows[place] = row
        self._split()

    def _split(self) -> None:
        """Find the unit vectors, and cut the other rows in two."""
        rows = [list(row) for row in self._rows]
        alone = [row.index(1) if 1 in row and row.count(0) == len(row) - 1 else -1 for row in rows]
        self._units, self._places = ([k for k, c in enumerate(alone) if (c >= 0) == is_one] for is_one in (True, False))
        self._columns = [alone[k] for k in self._units]
        taken = set(self._columns)
        self._others = [c for c in range(len(rows)) if c not in taken]
        if len(taken) < len(self._units):
            raise ZeroDivisionError("two rows of a basis are the same unit vector")
        self._core = fmpz_mat([[rows[k][c] for c in self._others] for k in self._places])
        self._beside = fmpz_mat([[rows[k][c] for c in self._columns] for k in self._places])

    def _solved(self, right: list[list[int]]) -> fmpz_mat:
        """B·X = right, up to a positive factor: R·X = right - P·X, with X known in the columns of unit vectors."""
        if not self._units:
            return solve(self._core, fmpz_mat(right))[0]
        known, denominator = fmpz_mat([right[k] for k in self._units]), 1
        found: list[Any] = []
        if self._places:
            rest = fmpz_mat([right[k] for k in self._places]) - self._beside * known
            numerators, denominator = solve(self._core, rest)
            found = numerators.tolist()
        lines = [*found, *(known * denominator).tolist()]
        order = np.argsort([*self._others, *self._columns]).tolist()
        return fmpz_mat([lines[k] for k in order])


class Residues(Basis):
    """The matrix d·B⁻¹ with d = |det B|, modulo as many primes as Hadamard's bound requires.

    A minor of the basis is at most the product of the lengths of its rows. The numbers asked for are minors
    of the basis with one row z exchanged, or sums of D minors; so they have at most Σ bits(b_k) + bits(z) +
    bits(D) bits, and primes whose product is longer than that by a bit for the sign determine them.
    """

    def __init__(self, rows: Sequence[Row]) -> None:
        self._rows = list(rows)
        self._row_bits = [_bits(row) for row in rows]
        self._struck: set[int] = set()
        self._build()

    def weights(self, in_force: Sequence[bool]) -> list[int]:
        """Add the dual vectors in force."""
        return self._rebuilt(loops.residues.weights(self._dual, np.array(in_force, np.bool_), self._primes))

    def coordinates(self, rows: Sequence[Row]) -> tuple[fmpz_mat, int]:
        """Multiply: d·z = Σ (z·v_k) b_k."""
        self._make_room(max(_bits(row) for row in rows))
        return fmpz_mat([self._rebuilt(self._coordinates(row)) for row in rows]), self._det

    def duals(self, places: Sequence[int]) -> fmpz_mat:
        """Rebuild the dual vectors themselves."""
        return fmpz_mat([self._rebuilt(self._dual[:, place]) for place in places]).transpose()

    def replace(self, place: int, row: Row, pivot: int) -> None:
        """Exchange modulo each prime; if a prime divides the new determinant, begin again without it."""
        self._make_room(_bits(row))
        entering = self._coordinates(row)
        self._rows[place], self._row_bits[place] = row, _bits(row)
        if not self._strike(entering[:, place]):
            loops.residues.replace(self._dual, self._dets, entering, place, 1.0 if pivot > 0 else -1.0, self._primes)
            self._det = self._rebuilt(self._dets[:, None])[0]
            return
        self._build()

    def _coordinates(self, row: Row) -> NDArray[np.float64]:
        found: NDArray[np.float64] = loops.residues.coordinates(self._dual, self._residues(row), self._primes)
        return found

    def _build(self, longest: int = 0) -> None:
        """Begin with the unit vectors and exchange them for the rows, one by one."""
        size = len(self._rows)
        self._choose_primes(_room(self._row_bits, longest))
        self._dual = np.repeat(np.eye(size)[None], len(self._primes), axis=0)
        self._dets = np.ones(len(self._primes))
        order: list[int] = []
        is_vacant = np.ones(size, np.bool_)
        for row in self._rows:
            deadline.require()
            entering = self._coordinates(row)
            place = int(np.argmax(np.count_nonzero(entering, axis=0) * is_vacant))
            if self._strike(entering[:, place]):
                self._build(longest)
                return
            loops.residues.replace(self._dual, self._dets, entering, place, 1.0, self._primes)
            is_vacant[place] = False
            order.append(place)
        self._dual = np.ascontiguousarray(self._dual[:, order])
        self._det = self._rebuilt(self._dets[:, None])[0]
        if self._det < 0:
            self._det, self._dual, self._dets = -self._det, -self._dual, -self._dets

    def _strike(self, pivots: NDArray[np.float64]) -> bool:
        """Note the primes that divide a pivot (no step can divide by it then); return whether there are any."""
        self._struck.update(self._primes[pivots == 0].astype(int).tolist())
        return not pivots.all()

    def _make_room(self, bits: int) -> None:
        """Begin again with more primes if numbers of the basis and one row more could outgrow them."""
        if sum(self._row_bits) + bits > self._room:
            self._build(bits)

    def _choose_primes(self, bits: int) -> None:
        """Take enough primes for minors of this many bits, and prepare the Chinese remainder theorem."""
        self._room = bits
        pairs = (bits + len(self._rows).bit_length() + 2) // (2 * loops.residues.PRIME_BITS) + 1
        known = loops.residues.primes()[: 2 * pairs + len(self._struck)].tolist()
        chosen = [prime for prime in known if prime not in self._struck][: 2 * pairs]
        if len(chosen) < 2 * pairs:
            raise ArithmeticError(f"numbers of {bits} bits are too long for the primes below 2^23")
        self._modulus = math.prod(chosen)
        inverses = [pow(self._modulus // prime, -1, prime) for prime in chosen]
        pair_cofactors = [[self._modulus // (p * q)] for p, q in zip(*_halves(chosen), strict=True)]
        self._inverses = np.array(inverses)[:, None]
        self._pair_cofactors = fmpz_mat(pair_cofactors)
        self._whole_primes = np.array(chosen)[:, None]
        self._primes = np.array(chosen, np.float64)

    def _residues(self, row: Row) -> NDArray[np.float64]:
        primes = self._whole_primes
        if max(map(abs, row)) < 1 << 62:
            remainders = np.array(row, np.int64) % primes
        else:
            remainders = np.array([[x % prime for x in row] for prime in primes[:, 0].tolist()])
        return np.asarray(remainders - primes * (2 * remainders > primes), np.float64)

    def _rebuilt(self, residues: NDArray[np.float64]) -> list[int]:
        """Rebuild integers of either sign from their residues, one column each.

        Σ_p c_p·(M/p) modulo M, with c_p = residue/(M/p) modulo p. Primes go in pairs p, q, for c_p·q + c_q·p
        still fits a machine word, and there are then half as many long numbers M/(pq).
        """
        c = residues.astype(np.int64) * self._inverses % self._whole_primes
        (c_p, c_q), (p, q) = _halves(c), _halves(self._whole_primes)
        sums = fmpz_mat((c_p * q + c_q * p).T.tolist()) * self._pair_cofactors
        values = (int(n) % self._modulus for n in sums.entries())
        return [n - self._modulus if 2 * n > self._modulus else n for n in values]


class RentThenBuy(Basis):
    """Residues from the start for 14 to 50 rows; for more, solves until (D/50)² exchanges; for fewer, always solves.

    That many exchanges by solves take about as long as building the residues (measured at D = 100, 150, 200).
    """

    def __init__(self, rows: Sequence[Row]) -> None:
        self._rows = list(rows)
        self._exchanges = 0
        self._kept: Basis = self._buy() if _RENT_BELOW <= len(rows) <= _BUY_AT_ONCE else Dixon(rows)

    def weights(self, in_force: Sequence[bool]) -> list[int]:
        """Ask the basis in use."""
        return self._kept.weights(in_force)

    def coordinates(self, rows: Sequence[Row]) -> tuple[fmpz_mat, int]:
        """Ask the basis in use."""
        return self._kept.coordinates(rows)

    def duals(self, places: Sequence[int]) -> fmpz_mat:
        """Ask the basis in use."""
        return self._kept.duals(places)

    def replace(self, place: int, row: Row, pivot: int) -> None:
        """Exchange, and switch to residues when the solves so far have cost as much."""
        self._exchanges += 1
        self._rows[place] = row
        self._kept.replace(place, row, pivot)
        n = len(self._rows)
        if isinstance(self._kept, Dixon) and n >= _RENT_BELOW and self._exchanges == (n // _BUY_AT_ONCE) ** 2:
            self._kept = self._buy()

    def _buy(self) -> Basis:
        n_primes = _room([_bits(row) for row in self._rows]) / loops.residues.PRIME_BITS
        fits = 8 * len(self._rows) ** 2 * n_primes <= _LARGEST_BYTES
        return Residues(self._rows) if fits else Dixon(self._rows)


def _room(row_bits: Sequence[int], longest: int = 0) -> int:
    """Provide for rows all as long as the longest, but for at most twice the bits needed now."""
    longest = max(longest, *row_bits)
    return min((len(row_bits) + 1) * longest, 2 * (sum(row_bits) + longest))


def _bits(row: Row) -> int:
    """Bound log2 of a row's Euclidean length from above."""
    return (sum(x * x for x in row).bit_length() + 1) // 2


def _halves(items: Any) -> tuple[Any, Any]:
    middle = len(items) // 2
    return items[:middle], items[middle:]
