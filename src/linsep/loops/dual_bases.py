"""The inverse of a basis, as vectors that meet one of its own each: u_j·a_j = 1, and u_j·a_k = 0 for all others.

Written out in loops, because Numba compiles these within a second, and its linear algebra in several.
"""

from typing import Any

import numpy as np

from linsep.loops.compiler import njit


@njit(cache=True, nogil=True)
def dual_basis(vectors: Any) -> Any:
    """The vectors u_j of the rows a_j of a square matrix; infinite ones if these are dependent."""
    size = vectors.shape[0]
    left, right = np.empty((size, size)), np.zeros((size, size))
    for i in range(size):
        right[i, i] = 1.0
        for j in range(size):
            left[i, j] = vectors[j, i]
    for k in range(size):
        best = k
        for i in range(k + 1, size):
            if abs(left[i, k]) > abs(left[best, k]):
                best = i
        if not abs(left[best, k]) > 0.0:
            right[:] = np.inf
            return right
        for j in range(size):
            left[k, j], left[best, j] = left[best, j], left[k, j]
            right[k, j], right[best, j] = right[best, j], right[k, j]
        scale = 1.0 / left[k, k]
        for j in range(size):
            left[k, j] *= scale
            right[k, j] *= scale
        for i in range(size):
            factor = left[i, k]
            if i != k and factor != 0.0:
                for j in range(size):
                    left[i, j] -= factor * left[k, j]
                    right[i, j] -= factor * right[k, j]
    return right


@njit(cache=True, nogil=True)
def met(duals: Any, vector: Any, products: Any) -> None:
    """Write the products of all u_j with a vector."""
    for k in range(duals.shape[0]):
        total = 0.0
        for j in range(vector.size):
            total += duals[k, j] * vector[j]
        products[k] = total


@njit(cache=True, nogil=True)
def exchange(duals: Any, products: Any, place: int) -> None:
    """Let a vector take the place of one of the basis; `products` are those of all u_j with it."""
    size = duals.shape[0]
    for j in range(size):
        duals[place, j] /= products[place]
    for k in range(size):
        if k != place and products[k] != 0.0:
            for j in range(size):
                duals[k, j] -= products[k] * duals[place, j]
