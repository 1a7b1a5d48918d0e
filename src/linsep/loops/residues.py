"""A matrix of long integers modulo many primes: the exchange of a basis row without long arithmetic.

A long integer is kept as its residues modulo enough primes to rebuild it; sums, products and exact
divisions act on each residue alone. Residues are whole doubles in [-p/2, p/2] with p < 2^23. A product is
then at most 2^44, sums of 256 products are exact in any order, and t - round(t/p)·p is a residue again even
if the rounded quotient is off by one. That leaves loops without branches, which the compiler turns into
vector instructions: 0.3 ns an entry.

    dual[p, k]  the residues of the vector with basis_i · dual_k = det if i = k, else 0
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linsep.loops.compiler import njit

PRIME_BITS = 22
"""Every prime of `primes` is above 2^22: it adds at least this much to the length of what can be rebuilt."""

_EXACT_TERMS = 256


@cache
def primes() -> NDArray[np.int64]:
    """Return the 268,216 primes between 2^22 and 2^23, the largest first."""
    is_prime = np.ones(1 << 23, np.bool_)
    for divisor in range(2, 2897):  # 2896² < 2^23 < 2897²
        if is_prime[divisor]:
            is_prime[divisor * divisor :: divisor] = False
    return (np.flatnonzero(is_prime[1 << 22 :]) + (1 << 22))[::-1]


@njit(cache=True, nogil=True, error_model="numpy")
def coordinates(dual: Any, row: Any, moduli: Any) -> Any:
    """Return for each prime the products of a row (given by its residues) with all dual vectors."""
    P, D, _ = dual.shape
    found = np.empty((P, D))
    for p in range(P):
        for k in range(D):
            total = 0.0
            for start in range(0, D, _EXACT_TERMS):
                stop = min(start + _EXACT_TERMS, D)
                part = _dot(dual[p, k, start:stop], row[p, start:stop])
                total = _reduced(total + _reduced(part, moduli[p]), moduli[p])
            found[p, k] = total
    return found


@njit(cache=True, nogil=True, error_model="numpy")
def weights(dual: Any, in_force: Any, moduli: Any) -> Any:
    """Return for each prime the sum of the dual vectors in force."""
    P, D, _ = dual.shape
    found = np.zeros((P, D))
    for p in range(P):
        for k in range(D):
            if in_force[k]:
                for j in range(D):
                    found[p, j] += dual[p, k, j]
        for j in range(D):
            found[p, j] = _reduced(found[p, j], moduli[p])
    return found


@njit(cache=True, nogil=True, error_model="numpy")
def replace(dual: Any, det: Any, entering: Any, place: Any, sign: Any, moduli: Any) -> None:
    """Exchange the row at a place for one with the given coordinates, nonzero there, in place.

    Jordan's step modulo each prime, times `sign`: with N the coordinates and a the dual vector at the
    place, the others become (N_place·v_k - N_k·a)/det, a stays, and N_place is the new det.
    """
    P, D, _ = dual.shape
    for p in range(P):
        modulus = moduli[p]
        divide = sign * _inverse(det[p], modulus)
        scale = _reduced(divide * entering[p, place], modulus)
        kept = dual[p, place].copy()
        for k in range(D):
            if k != place:
                factor = _reduced(divide * entering[p, k], modulus)
                _combine(dual[p, k], scale, kept, factor, modulus)
        for j in range(D):
            dual[p, place, j] = sign * kept[j]
        det[p] = sign * entering[p, place]


@njit(cache=True, nogil=True, error_model="numpy")
def _combine(vector: Any, scale: Any, kept: Any, factor: Any, modulus: Any) -> None:
    """Set vector to scale·vector - factor·kept: the loop where the time goes."""
    reciprocal = 1.0 / modulus
    for j in range(len(vector)):
        t = scale * vector[j] - factor * kept[j]
        vector[j] = t - np.floor(t * reciprocal + 0.5) * modulus


# reassociation is harmless here: every partial sum is a whole number below 2^53
@njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "nsz"})
def _dot(a: Any, b: Any) -> Any:
    total = 0.0
    for j in range(len(a)):
        total += a[j] * b[j]
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def _reduced(t: Any, modulus: Any) -> Any:
    return t - np.floor(t * (1.0 / modulus) + 0.5) * modulus


@njit(cache=True, nogil=True, error_model="numpy")
def _inverse(number: Any, modulus: Any) -> Any:
    """Return the residue of 1/number, by Euclid."""
    a, b = np.int64(number), np.int64(modulus)
    x, y = np.int64(1), np.int64(0)
    while b != 0:
        quotient = a // b
        a, b = b, a - quotient * b
        x, y = y, x - quotient * y
    return _reduced(np.float64(x * a), modulus)  # a is 1 or -1 here
