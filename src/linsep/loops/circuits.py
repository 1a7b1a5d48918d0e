"""A walk from obstruction to obstruction: the primal simplex method on λ >= 0, Σ λ z = 0, Σ λ = 1.

Every basis of it is an obstruction, as floats see it: at most D + 1 rows. The walk minimises Σ prices·λ, and each basis
that it visits is kept if its rows are cheap, that is, if it is violated by the fractions that the rows have now.
"""

from typing import Any

import numpy as np

from linsep.loops.compiler import njit

ZERO = 1e-9
RENEWED = 50  # pivots after which the inverse is computed anew


@njit(cache=True, nogil=True)
def inverse_of(z: Any, basis: Any) -> Any:
    """The inverse of the basis: its columns are the rows z with a 1 appended."""
    size = basis.size
    square = np.ones((size, size))
    for k in range(size):
        square[: size - 1, k] = z[basis[k]]
    return np.linalg.inv(square)


@njit(cache=True, nogil=True)
def entering(z: Any, prices: Any, dual: Any, is_basic: Any) -> int:
    """The row of the most negative reduced price; -1 if there is none."""
    worst, found, width = -ZERO, -1, z.shape[1]
    reduced = prices - z @ dual[:width]
    for i in range(prices.size):
        if not is_basic[i] and reduced[i] - dual[width] < worst:
            worst, found = reduced[i] - dual[width], i
    return found


@njit(cache=True, nogil=True)
def leaving(weights: Any, direction: Any) -> int:
    """The place in the basis that becomes 0 first, of equal ones that with the largest pivot; -1 if none does."""
    least, found = np.inf, -1
    for k in range(weights.size):
        if direction[k] > ZERO:
            ratio = max(weights[k], 0.0) / direction[k]
            if ratio < least - 1e-12 or (ratio < least + 1e-12 and direction[k] > direction[found]):
                least, found = ratio, k
    return found


@njit(cache=True, nogil=True)
def walk(z: Any, prices: Any, shares: Any, basis: Any, steps: int, found: Any, sizes: Any) -> int:
    """Pivot up to `steps` times; writes each basis whose rows have shares that add up to less than 1.

    `found` takes as many as it has rows, `sizes` says how many entries of each are in use; returns their number. The
    basis is changed to the last one.
    """
    n, width = z.shape
    is_basic = np.zeros(n, np.bool_)
    is_basic[basis] = True
    inverse, count = inverse_of(z, basis), 0
    for step in range(1, steps + 1):
        dual = np.zeros(width + 1)
        for k in range(width + 1):
            dual += prices[basis[k]] * inverse[k]
        row = entering(z, prices, dual, is_basic)
        if row < 0:
            break
        column = np.ones(width + 1)
        column[:width] = z[row]
        direction = inverse @ column
        place = leaving(inverse[:, width], direction)
        if place < 0:
            break
        is_basic[basis[place]], is_basic[row] = False, True
        basis[place] = row
        if step % RENEWED:
            inverse[place] /= direction[place]
            for k in range(width + 1):
                if k != place:
                    inverse[k] -= direction[k] * inverse[place]
        else:
            inverse = inverse_of(z, basis)
        size, share = 0, 0.0
        for k in range(width + 1):
            if inverse[k, width] > ZERO:
                found[count, size] = basis[k]
                share += shares[basis[k]]
                size += 1
        if share < 1.0 - 1e-4:
            sizes[count] = size
            count += 1
            if count == sizes.size:
                break
    return count
