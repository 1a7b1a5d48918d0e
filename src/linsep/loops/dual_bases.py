"""The inverse of a basis as its dual vectors: u_j·a_j = 1, and u_j·a_k = 0 for all other k.

Written as loops on arrays that NumPy has made: Numba compiles these within a second, but takes several for its linear
algebra, its sort and arrays of its own.
"""

from typing import Any

import numpy as np

from linsep.loops.compiler import njit

PLAIN = {"cache": True, "nogil": True, "error_model": "numpy"}


def dual_basis(vectors: Any) -> Any:
    """The vectors u_j of the rows a_j of a square matrix; infinite ones if these are dependent."""
    right = np.empty(vectors.shape)
    invert(vectors.T.copy(), right)
    return right


@njit(**PLAIN)
def invert(left: Any, right: Any) -> None:
    """Write the inverse of a matrix, which is used up; it is infinite if there is none."""
    size = left.shape[0]
    for i in range(size):
        for j in range(size):
            right[i, j] = 1.0 if i == j else 0.0
    for k in range(size):
        best = k
        for i in range(k + 1, size):
            if abs(left[i, k]) > abs(left[best, k]):
                best = i
        if not abs(left[best, k]) > 0.0:
            for i in range(size):
                for j in range(size):
                    right[i, j] = np.inf
            return
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


@njit(**PLAIN, fastmath={"contract"})
def combination(vectors: Any, weights: Any, start: Any, result: Any) -> None:
    """Write start + Σ weight·vector, two vectors at a time: all entries of the result are added up side by side."""
    size, last = result.size, weights.size - 1
    for i in range(size):
        result[i] = start[i]
    for j in range(0, last, 2):
        a, b = weights[j], weights[j + 1]
        for i in range(size):
            result[i] += a * vectors[j, i] + b * vectors[j + 1, i]
    if last % 2 == 0:
        a = weights[last]
        for i in range(size):
            result[i] += a * vectors[last, i]


@njit(**PLAIN)
def met(duals: Any, vector: Any, products: Any) -> None:
    """Write the products of all u_j with a vector."""
    for k in range(duals.shape[0]):
        total = 0.0
        for j in range(vector.size):
            total += duals[k, j] * vector[j]
        products[k] = total


@njit(**PLAIN)
def exchange(duals: Any, products: Any, place: int) -> None:
    """Let a vector take the place of one of the basis; `products` are those of all u_j with it."""
    size = duals.shape[0]
    for j in range(size):
        duals[place, j] /= products[place]
    for k in range(size):
        if k != place and products[k] != 0.0:
            for j in range(size):
                duals[k, j] -= products[k] * duals[place, j]
