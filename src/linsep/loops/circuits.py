"""A walk from obstruction to obstruction: the primal simplex method on λ >= 0, Σ λ z = 0, Σ λ = 1.

Every basis is an obstruction, in floats, of at most D + 1 rows. The walk minimises Σ prices·λ: it goes from a basis to
the cheapest neighbour as long as there is a cheaper one. On the way it examines all neighbours, in which one row is
exchanged, and for each row that would leave it keeps the cheapest one, if the current shares of its rows violate it:
if they add up to less than 1.
"""

from typing import Any

import numpy as np

from linsep.loops.compiler import njit
from linsep.loops.dual_bases import PLAIN, combination, dual_basis, exchange, invert, met

ZERO = 1e-9
VIOLATED = 1.0 - 1e-4
RENEWED = 50  # pivots after which the inverse is computed again


def inverse_of(z: Any, basis: Any) -> Any:
    """The inverse of the basis, whose columns are the rows z with a 1 appended; infinite if there is none."""
    return dual_basis(np.column_stack([z[basis], np.ones(len(basis))]))


@njit(**PLAIN)
def write_inverse(z: Any, basis: Any, square: Any, inverse: Any) -> None:
    """Write the same."""
    width = z.shape[1]
    for k in range(width + 1):
        square[width, k] = 1.0
        for j in range(width):
            square[j, k] = z[basis[k], j]
    invert(square, inverse)


@njit(**PLAIN)
def entering(columns: Any, prices: Any, basis: Any, inverse: Any, dual: Any, values: Any) -> int:
    """The row of the most negative reduced price; -1 if there is none."""
    width = columns.shape[0]
    constant = 0.0
    for j in range(width):
        dual[j] = 0.0
    for k in range(width + 1):
        constant += prices[basis[k]] * inverse[k, width]
        for j in range(width):
            dual[j] -= prices[basis[k]] * inverse[k, j]
    combination(columns, dual, prices, values)
    worst, found = constant - ZERO, -1
    for i in range(prices.size):
        if values[i] < worst:
            worst, found = values[i], i
    return found


@njit(**PLAIN)
def leaving(weights: Any, direction: Any) -> int:
    """The place in the basis that becomes 0 first, among ties the one with the largest pivot; -1 if none does."""
    least, found = np.inf, -1
    for k in range(weights.size):
        if direction[k] > ZERO:
            ratio = max(weights[k], 0.0) / direction[k]
            if ratio < least - 1e-12 or (ratio < least + 1e-12 and direction[k] > direction[found]):
                least, found = ratio, k
    return found


@njit(**PLAIN)
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


@njit(**PLAIN)
def look_around(
    z: Any, shares: Any, basis: Any, inverse: Any, weights: Any, cheapest: Any, rows: Any, turned: Any, directions: Any
) -> None:
    """For each place in the basis, the row that makes the cheapest obstruction there, and the sum of its shares.

    Writes the directions, too, in which the weights of the basis move as each row enters.
    """
    width = z.shape[1]
    for k in range(width + 1):
        cheapest[k], rows[k] = VIOLATED, -1
        for j in range(width):
            turned[j, k] = inverse[k, j]
    np.dot(z, turned, directions)
    for i in range(shares.size):
        for k in range(width + 1):
            directions[i, k] += weights[k]
        place = leaving(weights, directions[i]) if shares[i] < VIOLATED else -1
        if place >= 0 and basis[place] != i:
            share = share_of(shares, basis, weights, directions[i], place, i)
            if share < cheapest[place]:
                cheapest[place], rows[place] = share, i


@njit(**PLAIN)
def share_of(shares: Any, basis: Any, weights: Any, direction: Any, place: int, row: int) -> float:
    """The sum of the shares of the obstruction in which a row takes a place in the basis."""
    step = max(weights[place], 0.0) / direction[place]
    share = shares[row] if step > ZERO else 0.0
    for k in range(basis.size):
        if k != place and weights[k] - step * direction[k] > ZERO:
            share += shares[basis[k]]
    return share


def walk(z: Any, prices: Any, shares: Any, basis: Any, steps: int, every: int, found: Any, sizes: Any) -> int:
    """Pivot up to `steps` times, looking around at every so many; writes the violated obstructions that it sees.

    `found` takes as many as it has rows, `sizes` says how many entries of each are in use; returns their number. The
    basis is changed to the last one.
    """
    size, columns = z.shape[1] + 1, np.ascontiguousarray(z.T)
    vectors, squares = np.ones((5, size)), np.empty((3, size, size))
    rows, directions, values = np.empty(size, np.int64), np.empty((len(z), size)), np.empty(len(z))
    room = rows, vectors, squares, directions, values
    count: int = pivot(z, columns, prices, shares, basis, steps, every, found, sizes, *room)
    return count


@njit(**PLAIN)
def pivot(
    z: Any,
    columns: Any,
    prices: Any,
    shares: Any,
    basis: Any,
    steps: int,
    every: int,
    found: Any,
    sizes: Any,
    rows: Any,
    vectors: Any,
    squares: Any,
    directions: Any,
    values: Any,
) -> int:
    """The walk itself, with the memory it needs."""
    width = z.shape[1]
    square, inverse, turned = squares[0], squares[1], squares[2, :width]
    cheapest, column, products, dual, weights = vectors[0], vectors[1], vectors[2], vectors[3, :width], vectors[4]
    write_inverse(z, basis, square, inverse)
    count, last = 0, np.inf
    for step in range(1, steps + 1):
        if not inverse[0, 0] < np.inf:
            break
        row = entering(columns, prices, basis, inverse, dual, values) if last == np.inf else -1
        for k in range(width + 1):
            weights[k] = inverse[k, width]
        if row < 0 or step % every == 0:
            look_around(z, shares, basis, inverse, weights, cheapest, rows, turned, directions)
            for place in range(width + 1):
                if rows[place] >= 0 and count < sizes.size:
                    sizes[count] = exchanged(basis, weights, directions[rows[place]], place, rows[place], found[count])
                    count += 1
        is_end = row < 0
        if is_end:
            place = 0
            for k in range(width + 1):
                if cheapest[k] < cheapest[place]:
                    place = k
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
            write_inverse(z, basis, square, inverse)
    return count
