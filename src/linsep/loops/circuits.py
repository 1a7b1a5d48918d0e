"""A walk from obstruction to obstruction: the primal simplex method on λ >= 0, Σ λ z = 0, Σ λ = 1.

Every basis of it is an obstruction, as floats see it: at most D + 1 rows. The walk minimises Σ prices·λ, and then goes
from the basis to the cheapest beside it as long as there is a cheaper one. On the way it looks at all bases beside its
own, in which one row is exchanged, and keeps the cheapest for each row that would leave, if it is violated by the
shares that the rows have now: if these add up to less than 1.
"""

from typing import Any

import numpy as np

from linsep.loops.compiler import njit
from linsep.loops.dual_bases import dual_basis, exchange, met

ZERO = 1e-9
VIOLATED = 1.0 - 1e-4
RENEWED = 50  # pivots after which the inverse is computed anew


@njit(cache=True, nogil=True)
def inverse_of(z: Any, basis: Any) -> Any:
    """The inverse of the basis, whose columns are the rows z with a 1 appended; infinite if there is none."""
    width = z.shape[1]
    vectors = np.ones((basis.size, width + 1))
    for k in range(basis.size):
        for j in range(width):
            vectors[k, j] = z[basis[k], j]
    return dual_basis(vectors)


@njit(cache=True, nogil=True)
def entering(z: Any, prices: Any, basis: Any, inverse: Any) -> int:
    """The row of the most negative reduced price; -1 if there is none."""
    width = z.shape[1]
    dual = np.zeros(width)
    constant = 0.0
    for k in range(width + 1):
        constant += prices[basis[k]] * inverse[k, width]
        for j in range(width):
            dual[j] += prices[basis[k]] * inverse[k, j]
    values = z @ dual
    worst, found = -ZERO, -1
    for i in range(prices.size):
        if prices[i] - values[i] - constant < worst:
            worst, found = prices[i] - values[i] - constant, i
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
def exchanged(basis: Any, weights: Any, direction: Any, place: int, row: int, found: Any) -> int:
    """Write down the rows of the obstruction in which a row takes a place in the basis; returns how many there are."""
    step, size = max(weights[place], 0.0) / direction[place], 0
    for k in range(basis.size):
        if k != place and weights[k] - step * direction[k] > ZERO:
            found[size] = basis[k]
            size += 1
    if step > ZERO:
        found[size] = row
        size += 1
    return size


@njit(cache=True, nogil=True)
def look_around(z: Any, shares: Any, basis: Any, inverse: Any, cheapest: Any, rows: Any) -> Any:
    """For each place in the basis, the row that makes the cheapest obstruction there, and what its shares are.

    Returns the directions in which the weights of the basis move as each row enters.
    """
    width, weights = z.shape[1], inverse[:, z.shape[1]]
    turned = np.empty((width, width + 1))
    for k in range(width + 1):
        cheapest[k], rows[k] = VIOLATED, -1
        for j in range(width):
            turned[j, k] = inverse[k, j]
    directions = z @ turned
    for i in range(shares.size):
        for k in range(width + 1):
            directions[i, k] += weights[k]
    kept = np.empty(width + 1, np.int64)
    for i in range(shares.size):
        place = leaving(weights, directions[i]) if shares[i] < VIOLATED else -1
        if place >= 0 and basis[place] != i:
            share = 0.0
            for k in range(exchanged(basis, weights, directions[i], place, i, kept)):
                share += shares[kept[k]]
            if share < cheapest[place]:
                cheapest[place], rows[place] = share, i
    return directions


@njit(cache=True, nogil=True)
def walk(z: Any, prices: Any, shares: Any, basis: Any, steps: int, every: int, found: Any, sizes: Any) -> int:
    """Pivot up to `steps` times, looking around at every so many; writes the violated obstructions that it sees.

    `found` takes as many as it has rows, `sizes` says how many entries of each are in use; returns their number. The
    basis is changed to the last one.
    """
    width = z.shape[1]
    cheapest, rows = np.empty(width + 1), np.empty(width + 1, np.int64)
    column, products, inverse = np.ones(width + 1), np.empty(width + 1), inverse_of(z, basis)
    count, last = 0, np.inf
    for step in range(1, steps + 1):
        if not inverse[0, 0] < np.inf:
            break
        row = entering(z, prices, basis, inverse) if last == np.inf else -1
        weights = inverse[:, width]
        if row < 0 or step % every == 0:
            directions = look_around(z, shares, basis, inverse, cheapest, rows)
            for place in range(width + 1):
                if rows[place] >= 0 and count < sizes.size:
                    sizes[count] = exchanged(basis, weights, directions[rows[place]], place, rows[place], found[count])
                    count += 1
        is_end = row < 0
        if is_end:
            place = int(np.argmin(cheapest))
            row = rows[place]
            if row < 0 or cheapest[place] > last - 1e-6:
                break
            last = cheapest[place]
        for j in range(width):
            column[j] = z[row, j]
        met(inverse, column, products)
        if not is_end:
            place = leaving(weights, products)
        if place < 0 or count == sizes.size:
            break
        basis[place] = row
        if step % RENEWED:
            exchange(inverse, products, place)
        else:
            inverse = inverse_of(z, basis)
    return count
