"""A walk from vertex to vertex of the arrangement: weights at which as many rows as possible are exactly 0.

At a vertex D - 1 independent rows are tight, z·w = 0. Releasing one of them leaves a circle of weights; along it every
other row changes sides twice, and one sort tells the cost at every crossing, which are the next vertices. A vertex can
be left so that all its tight rows are right, so these cost nothing.
"""

import math
from typing import Any

import numpy as np

from linsep.loops.compiler import njit
from linsep.loops.dual_bases import dual_basis, exchange, met

ZERO = 1e-9  # |z·w| of unit rows and weights up to which a row counts as 0
FLAT = 1e-7  # and up to which, all around a circle, it does not cross
RENEWED, STEEP = 50, 0.01  # steps after which the ways are computed anew, and a cosine too small to go on from


@njit(cache=True, nogil=True)
def ways_of(z: Any, tight: Any, w: Any) -> Any:
    """For each tight row the way that moves it alone, at a right angle to w; the last one is w itself."""
    width = w.size
    vectors = np.empty((width, width))
    for j in range(width):
        vectors[width - 1, j] = w[j]
        for k in range(width - 1):
            vectors[k, j] = z[tight[k], j]
    return dual_basis(vectors)


@njit(cache=True, nogil=True)
def combine(a: float, x: Any, b: float, y: Any, result: Any) -> None:
    """Write the unit vector of a·x + b·y."""
    total = 0.0
    for j in range(x.size):
        result[j] = a * x[j] + b * y[j]
        total += result[j] ** 2
    length = math.sqrt(total)
    for j in range(x.size):
        result[j] /= length


@njit(cache=True, nogil=True)
def cost_beside(z: Any, costs: Any, scores: Any, is_tight: Any, inward: Any) -> float:
    """The cost of the weights a little inward from a vertex, where all tight rows are right."""
    cost = 0.0
    for i in range(costs.size):
        if is_tight[i] or scores[i] > ZERO:
            continue
        if scores[i] < -ZERO or not np.dot(z[i], inward) > ZERO:  # NaN is wrong
            cost += costs[i]
    return cost


@njit(cache=True, nogil=True)
def crossings(costs: Any, a: Any, b: Any, is_tight: Any, rows: Any, keys: Any) -> tuple[int, float]:
    """The rows that cross 0 on the circle w·cos + v·sin, and the cost just before w.

    Their scores at w and v are a and b. A key rises with the angle of the crossing, from 0 to 180 degrees: the other
    crossing is opposite.
    """
    found, cost = 0, 0.0
    for i in range(costs.size):
        if is_tight[i]:
            continue
        if abs(a[i]) <= FLAT and abs(b[i]) <= FLAT:  # 0 all around
            cost += costs[i]
            continue
        at_start = abs(a[i]) <= ZERO
        keys[found] = -np.inf if at_start else b[i] / a[i]
        if not (b[i] < 0.0 if at_start else a[i] > 0.0):
            cost += costs[i]
        rows[found] = i
        found += 1
    return found, cost


@njit(cache=True, nogil=True)
def are_together(first: float, second: float) -> bool:
    """Whether two keys, the cotangents of their angles, are those of one angle."""
    return first == second or (np.isfinite(first) and second - first <= ZERO * (1.0 + first * first))


@njit(cache=True, nogil=True)
def costs_along(costs: Any, a: Any, b: Any, rows: Any, keys: Any, order: Any, cost: float, values: Any) -> float:
    """Write the cost at each crossing of the circle, those of the first half before the others; returns the least.

    Of rows that cross together one becomes tight; each of the others counts half.
    """
    n, least = order.size, np.inf
    for half in range(2):
        k = 0
        while k < n:
            end, entering, leaving = k, 0.0, 0.0
            while end < n and (end == k or are_together(keys[order[k]], keys[order[end]])):
                i = rows[order[end]]
                was_right = a[i] > ZERO if abs(a[i]) > ZERO else b[i] < 0.0
                if was_right == (half == 0):
                    leaving += costs[i]
                else:
                    entering += costs[i]
                end += 1
            for q in range(k, end):
                others = entering + leaving - costs[rows[order[q]]]
                values[half * n + q] = cost - entering + 0.5 * others
                least = min(least, values[half * n + q])
            cost += leaving - entering
            k = end
    return least


@njit(cache=True, nogil=True)
def drawn(values: Any, least: float, heat: float) -> int:
    """One of the values, each with a chance of exp(-value/heat)."""
    total = 0.0
    for value in values:
        total += math.exp((least - value) / heat)
    left = np.random.random() * total
    for k in range(values.size):
        left -= math.exp((least - values[k]) / heat)
        if left <= 0.0:
            return k
    return int(np.argmin(values))


@njit(cache=True, nogil=True)
def turned_to(score: float, across: float, is_opposite: bool) -> tuple[float, float]:
    """Cosine and sine of the angle at which a row crosses 0, in the first half of the circle or opposite."""
    length = math.hypot(score, across)
    cosine, sine = -across / length, score / length
    if abs(score) <= ZERO:
        cosine, sine = 1.0, 0.0
    elif sine < 0.0:
        cosine, sine = -cosine, -sine
    return (-cosine, -sine) if is_opposite else (cosine, sine)


@njit(cache=True, nogil=True)
def anneal(z: Any, costs: Any, tight: Any, w: Any, heats: Any, least: float, best: Any) -> float:
    """Walk a vertex for each of the heats; returns the least cost met, and writes weights that have it.

    `z` are unit rows, `tight` D - 1 independent ones of them that are 0 at the unit vector `w`; both are where the walk
    ends, so that another can go on from there. Only a cost below `least` is written down.
    """
    n, width = z.shape
    is_tight = np.zeros(n, np.bool_)
    is_tight[tight] = True
    rows, keys, values = np.empty(n, np.int64), np.empty(n), np.empty(2 * n)
    v, inward, products = np.empty(width), np.empty(width), np.empty(width)
    ways, scores = ways_of(z, tight, w), z @ w
    for step in range(heats.size):
        released = np.random.randint(width - 1)
        combine(1.0, ways[released], 0.0, w, v)
        is_tight[tight[released]] = False
        across = z @ v
        scores[tight[released]] = 0.0
        found, cost = crossings(costs, scores, across, is_tight, rows, keys)
        order = np.argsort(keys[:found])
        lowest = costs_along(costs, scores, across, rows, keys, order, cost, values[: 2 * found])
        picked = drawn(values[: 2 * found], lowest, heats[step])
        row = rows[order[picked % found]]
        cosine, sine = turned_to(scores[row], across[row], picked >= found)
        combine(cosine, w, sine, v, w)
        tight[released] = row
        is_tight[row] = True
        if step % RENEWED and abs(cosine) > STEEP:
            met(ways, z[row], products)
            exchange(ways, products, released)
            met(ways, w, products)
            exchange(ways, products, width - 1)
        else:  # at a right angle to the old w there is no way from one to the other
            ways = ways_of(z, tight, w)
        if not abs(ways[0, 0]) < np.inf:
            break
        scores = z @ w
        for j in range(width):
            inward[j] = 0.0
            for k in range(width - 1):
                inward[j] += ways[k, j]
        cost = cost_beside(z, costs, scores, is_tight, inward)
        if cost < least:
            least = cost
            for j in range(width):
                best[0, j], best[1, j] = w[j], inward[j]
    return least


@njit(cache=True)
def seed(number: int) -> None:
    """Begin the random numbers of the walks anew."""
    np.random.seed(number)
