"""Nearest points of hulls, given all products of the points: weight moves from one row to another of its group.

Minimise u·K·u over u >= 0 that sum up to 1 in each group. With g = K·u, the row with the smallest g of its group gains
weight, and the one to lose it is chosen for the largest step down (Fan, Chen and Lin, Working set selection using
second order information, JMLR 6, 2005).
"""

from typing import Any

import numpy as np

from linsep.loops.compiler import njit


@njit(cache=True, nogil=True)
def move_weight(gram: Any, group: Any, u: Any, g: Any, tolerance: float, most: int) -> tuple[bool, int]:
    """Move weight until the rows' level is u·K·u within a relative tolerance; at most `most` times.

    Returns whether it got there, and how often it moved. `u` and `g` = K·u are changed in place.
    """
    n = u.size
    lowest, highest = np.empty(2, np.int64), np.empty(2, np.int64)
    for moved in range(most):
        lowest[:], highest[:] = -1, -1
        length2 = 0.0
        for i in range(n):
            k = group[i]
            if lowest[k] < 0 or g[i] < g[lowest[k]]:
                lowest[k] = i
            if u[i] > 0:
                length2 += u[i] * g[i]
                if highest[k] < 0 or g[i] > g[highest[k]]:
                    highest[k] = i
        level, widest, k = 0.0, -1.0, 0
        for other in range(2):
            if lowest[other] >= 0:
                level += g[lowest[other]]
                if g[highest[other]] - g[lowest[other]] > widest:
                    k, widest = other, g[highest[other]] - g[lowest[other]]
        if level >= (1.0 - tolerance) * length2 or widest <= 0:
            return True, moved
        gains = lowest[k]
        loses, best, step = -1, -1.0, 0.0
        for j in range(n):
            if group[j] == k and u[j] > 0 and g[j] > g[gains]:
                fall = g[j] - g[gains]
                bend = max(gram[gains, gains] + gram[j, j] - 2.0 * gram[gains, j], 1e-15 * gram[gains, gains])
                if fall * fall > best * bend:
                    loses, best, step = j, fall * fall / bend, fall / bend
        step = min(step, u[loses])
        u[gains] += step
        u[loses] = u[loses] - step if step < u[loses] else 0.0
        for i in range(n):
            g[i] += step * (gram[gains, i] - gram[loses, i])
    return False, most
