"""One system of linear equations in integers, solved exactly: Dixon's lifting in machine words.

With C the inverse of A modulo a prime p, the digits y of the solution in base p come one after the other:

    y = C·r mod p,   r = (r - A·y)/p          from r = b

Machine words hold r and C·r modulo 2^64, where a division is a multiplication; floats hold their approximate size.
Together they determine r, which is whole and not much longer than the entries of A. Once there are enough digits,
Euclid's algorithm finds the fraction N/d that has them. A·N and d·b agree modulo p^k: if both are shorter, they agree.

Dixon, Exact solution of linear equations using p-adic expansions, Numerische Mathematik 40 (1982).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from flint import fmpz, fmpz_mat, nmod_mat
from numpy.typing import NDArray

BASE = (1 << 46) - 21
"""A prime. Quotients of C·r are known to within 2^16 for up to 4096 equations, and 2^16·p is shorter than a word."""

FEWEST, MOST = 300, 4096  # equations: for fewer of them, or shorter entries, FLINT is as fast
SHORTEST = 30  # bits of the longest entry
LONGEST = 110  # bits of the entries plus twice those of the size: floats then know r to within half of 2^64
LONGEST_RIGHT = 100  # bits of the right side, so that floats know it as closely too
WORD = (1 << 64) - 1
FIRST, SPARE = 16, 40  # digits of a first try; how many bits shorter than by chance a fraction must be to be believed
A_PRODUCT = 3e-9  # seconds, for an entry of the matrix and a digit
MOST_FACTORS = 8  # of the denominator, found one after the other

Words = NDArray[np.int64]


def is_for(size: int, longest: int) -> bool:
    """Whether `size` equations with entries of at most `longest` bits are solved here."""
    return FEWEST <= size <= MOST and longest >= SHORTEST and longest + 2 * size.bit_length() <= LONGEST


def seconds_to_lift(size: int, most_bits: int) -> float:
    """About how long that takes, if numerator and denominator have at most `most_bits` bits together."""
    return A_PRODUCT * size**2 * (size + most_bits / BASE.bit_length())


def lifted(matrix: fmpz_mat, right: fmpz_mat, most_bits: int) -> tuple[fmpz_mat, int] | None:
    """N and d > 0 with matrix·N = d·right, for one column; None where it is not found.

    `most_bits` bounds the bits of numerator and denominator together.

    >>> lifted(fmpz_mat([[2, 1], [1, 3]]), fmpz_mat([[1], [0]]), 8)
    ([ 3]
    [-1], 5)
    """
    try:
        lifting = _Lifting(matrix, right)
    except ZeroDivisionError:  # singular, modulo the prime or at all
        return None
    most = (most_bits + 2 * SPARE) // (BASE.bit_length() - 1) + 1
    wanted = FIRST
    while True:
        wanted = min(wanted, most)
        lifting.lift(wanted)
        found = lifting.fraction()
        if found is not None or wanted == most:
            return found
        wanted += wanted // 2


class _Lifting:
    """The digits so far, and what is left of the right side: modulo 2^64, and approximately."""

    def __init__(self, matrix: fmpz_mat, right: fmpz_mat) -> None:
        size = matrix.nrows()
        self.inverse = _balanced(_words(nmod_mat(matrix, BASE).inv().entries())).reshape(size, size)
        self.quotients = self.inverse / BASE
        entries = [int(n) for n in matrix.entries()]
        self.words, self.about = _words(entries).reshape(size, size), np.array(entries, np.float64).reshape(size, size)
        self.longest, self.longest_right = max(map(abs, entries)), max(abs(int(n)) for n in right.entries())
        self.digits: list[Words] = []
        while max(abs(int(n)) for n in right.entries()).bit_length() > LONGEST_RIGHT:
            right = (right - matrix * _column(self._digit(_words([int(n) % BASE for n in right.entries()])))) / BASE
        rest = [int(n) for n in right.entries()]
        self.rest, self.rest_about = _words(rest), np.array(rest, np.float64)

    def _digit(self, rest: Words) -> Words:
        """The next digit: C·rest modulo the prime, between -p/2 and p/2."""
        rest = _balanced(rest)
        quotient = np.rint(_times(self.quotients, rest.astype(np.float64))).astype(np.int64)
        y = _balanced((_times(self.inverse, rest) - quotient * BASE) % BASE)
        self.digits.append(y)
        return y

    def lift(self, wanted: int) -> None:
        """Find digits until there are `wanted`."""
        divide, wrapped = _words([pow(BASE, -1, 1 << 64)]), (1 << 64) % BASE  # of 23 bits
        while len(self.digits) < wanted:
            turns = np.rint((self.rest_about - self.rest) / 2.0**64).astype(np.int64)
            y = self._digit((self.rest % BASE + turns * wrapped) % BASE)
            self.rest = (self.rest - _times(self.words, y)) * divide
            self.rest_about = (self.rest_about - _times(self.about, y.astype(np.float64))) / BASE

    def fraction(self) -> tuple[fmpz_mat, int] | None:
        """The fraction with these digits, if it is the solution."""
        power = fmpz(BASE) ** len(self.digits)
        mixed = np.random.default_rng(len(self.digits)).integers(1, 1 << 6, len(self.rest))
        first = _joined([_column(np.array([digit @ mixed])) for digit in self.digits])[0, 0]
        numerator, denominator = _ratio(first % power, power)
        if numerator.bit_length() + denominator.bit_length() + SPARE > power.bit_length():
            return None
        digits = _joined([_column(digit) for digit in self.digits])
        for _ in range(MOST_FACTORS):
            numbers = [_least(n, power) for n in (digits * denominator).entries()]
            longest = max(numbers, key=abs)
            if self._is_short(longest, denominator, power):
                return fmpz_mat(len(numbers), 1, numbers), int(denominator)
            denominator *= _ratio(longest % power, power)[1]
        return None

    def _is_short(self, longest: fmpz, denominator: fmpz, power: fmpz) -> bool:
        """Whether A·N and d·b, which agree modulo this power, must be equal."""
        return bool(2 * max(len(self.words) * self.longest * abs(longest), denominator * self.longest_right) < power)


def _words(numbers: Any) -> Words:
    """Integers modulo 2^64."""
    return np.array([int(n) & WORD for n in numbers], np.uint64).view(np.int64)


def _times(matrix: NDArray[Any], vector: NDArray[Any]) -> NDArray[Any]:
    """The product with a vector, modulo 2^64 for words. Not by a BLAS: it has no integers, and its threads compete."""
    return np.asarray(np.einsum("ij,j->i", matrix, vector))


def _column(words: Words) -> fmpz_mat:
    return fmpz_mat(len(words), 1, words.tolist())


def _balanced(residues: Words) -> Words:
    return residues - np.where(residues > BASE // 2, BASE, 0)


def _least(number: fmpz, power: fmpz) -> fmpz:
    """The residue that is nearest to 0."""
    number %= power
    return number - power if 2 * number > power else number


def _joined(digits: list[fmpz_mat]) -> fmpz_mat:
    """Σ digit·p^k, joined in pairs."""
    power = fmpz(BASE)
    while len(digits) > 1:
        pairs = [low + high * power for low, high in zip(digits[::2], digits[1::2], strict=False)]
        digits, power = [*pairs, *digits[2 * len(pairs) :]], power * power
    return digits[0]


def _ratio(residue: fmpz, power: fmpz) -> tuple[fmpz, fmpz]:
    """The fraction n/d, d > 0, with this residue and n and d about as short as the root of the power (Wang 1981)."""
    above, below, before, now = power, residue, fmpz(0), fmpz(1)
    enough = (power // 2).isqrt()
    while below > enough:
        quotient = above // below
        above, below = below, above - quotient * below
        before, now = now, before - quotient * now
    return (below, now) if now > 0 else (-below, -now)
