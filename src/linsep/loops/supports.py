"""Nearest points of hulls, exactly for a support that changes by one row at a time (Wolfe 1976).

As in `pairs.py`: minimise u·K·u over u >= 0 that add up to 1 in each group. A Cholesky factor of the products of the
support is kept (with a constant added within each group, which does not change u); adding or removing a row takes the
time of reading the factor once.

Wolfe, Finding the nearest point in a polytope, Mathematical Programming 11 (1976).
"""

from typing import Any

import numpy as np

from linsep.loops.compiler import njit

DEPENDENT = 1e-13  # of a product: a row that is left with less is a combination of the support
NEARER = 1e-13  # of the constant: a row must be so much nearer to count


@njit(cache=True, nogil=True)
def settle(gram: Any, group: Any, constant: float, u: Any, support: Any, size: int, factor: Any, most: int) -> Any:
    """Continue from the support's first `size` rows; at most `most` rows join. Return whether it is done, and the size.

    `u` has the weights of all rows, 0 outside the support.
    """
    is_barred = np.zeros(u.size, np.bool_)
    for _ in range(most):
        size, level = equalise(group, u, support, size, factor)
        if size == 0:
            return False, 0
        g = np.zeros(u.size)
        for k in range(size):
            for i in range(u.size):
                g[i] += u[support[k]] * gram[support[k], i]
        for k in range(size):
            is_barred[support[k]] = True
        nearest, short = -1, -NEARER * constant
        for i in range(u.size):
            if not is_barred[i] and g[i] - (level[group[i]] - constant) < short:
                nearest, short = i, g[i] - (level[group[i]] - constant)
        for k in range(size):
            is_barred[support[k]] = False
        if nearest < 0:
            return True, size
        if size < support.size and append(gram, group, constant, support, size, factor, nearest):
            size += 1
        else:
            is_barred[nearest] = True
    return False, size


@njit(cache=True, nogil=True)
def begin(gram: Any, group: Any, constant: float, order: Any, u: Any, support: Any, factor: Any) -> int:
    """Let rows join in this order, those that are independent; the others lose their weight. Returns how many did."""
    size = 0
    for i in order:
        if size < support.size and append(gram, group, constant, support, size, factor, i):
            size += 1
        else:
            u[i] = 0.0
    sums = np.zeros(2)
    for k in range(size):
        sums[group[support[k]]] += u[support[k]]
    for k in range(size):
        u[support[k]] /= sums[group[support[k]]]
    return size


@njit(cache=True, nogil=True)
def equalise(group: Any, u: Any, support: Any, size: int, factor: Any) -> Any:
    """Give the support the weights that make all its rows equally near; those that would be negative leave.

    Returns the size that is left, 0 if the equations cannot be solved, and the level of each group.
    """
    level = np.zeros(2)
    while size > 0:
        target = target_weights(group, support, size, factor, level)
        step, first = 1.0, -1
        for k in range(size):
            own = u[support[k]]
            if not np.isfinite(target[k]):
                return 0, level
            if target[k] <= 0 and own <= step * (own - target[k]):
                step, first = own / (own - target[k]) if own > target[k] else 0.0, k
        for k in range(size):
            u[support[k]] += step * (target[k] - u[support[k]])
        if first < 0:
            return size, level
        u[support[first]] = 0.0
        remove(support, size, factor, first)
        size -= 1
    return 0, level


@njit(cache=True, nogil=True)
def target_weights(group: Any, support: Any, size: int, factor: Any, level: Any) -> Any:
    """The weights of any sign under which K·u is the same for all rows of a group; writes down these levels."""
    marked = np.zeros((2, size))
    for k in range(size):
        marked[group[support[k]], k] = 1.0
    a, b, c = 0.0, 0.0, 0.0
    for g in range(2):
        solve(factor, size, marked[g])
    for k in range(size):
        if group[support[k]] == 0:
            a += marked[0, k]
            b += marked[1, k]
        else:
            c += marked[1, k]
    if a == 0.0:
        level[0], level[1] = 0.0, 1.0 / c
    elif c == 0.0:
        level[0], level[1] = 1.0 / a, 0.0
    else:
        level[0], level[1] = (c - b) / (a * c - b * b), (a - b) / (a * c - b * b)
    return level[0] * marked[0] + level[1] * marked[1]


@njit(cache=True, nogil=True)
def solve(factor: Any, size: int, right: Any) -> None:
    """Solve with the factor and its transpose, in place."""
    for k in range(size):
        total = right[k]
        for j in range(k):
            total -= factor[k, j] * right[j]
        right[k] = total / factor[k, k]
    for k in range(size - 1, -1, -1):
        right[k] /= factor[k, k]
        for j in range(k):
            right[j] -= factor[k, j] * right[k]


@njit(cache=True, nogil=True)
def append(gram: Any, group: Any, constant: float, support: Any, size: int, factor: Any, i: int) -> bool:
    """Let row i join the support, unless it is a combination of its rows."""
    rest = gram[i, i] + constant
    for k in range(size):
        other = support[k]
        total = gram[i, other] + (constant if group[i] == group[other] else 0.0)
        for j in range(k):
            total -= factor[k, j] * factor[size, j]
        factor[size, k] = total / factor[k, k]
        rest -= factor[size, k] * factor[size, k]
    if not rest > DEPENDENT * (gram[i, i] + constant):
        return False
    factor[size, size] = np.sqrt(rest)
    support[size] = i
    return True


@njit(cache=True, nogil=True)
def remove(support: Any, size: int, factor: Any, place: int) -> None:
    """Take the row at this place out of the support: rotations make the factor triangular again."""
    for k in range(place, size - 1):
        support[k] = support[k + 1]
        for j in range(k + 2):
            factor[k, j] = factor[k + 1, j]
    for j in range(place, size - 1):
        a, b = factor[j, j], factor[j, j + 1]
        length = np.hypot(a, b)
        c, s = a / length, b / length
        for k in range(j, size - 1):
            p, q = factor[k, j], factor[k, j + 1]
            factor[k, j], factor[k, j + 1] = c * p + s * q, c * q - s * p
