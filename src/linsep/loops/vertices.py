"""A walk from vertex to vertex of the arrangement: weights at which as many rows as possible are exactly 0.

At a vertex D - 1 independent rows are tight, z·w = 0. Releasing one of them leaves a circle of weights; along it every
other row changes sides twice, and one sort gives the cost at every crossing: these are the next vertices. A vertex can
be left in a direction in which all its tight rows are right, so these cost nothing.
"""

import math
from typing import Any

import numpy as np

from linsep.loops.compiler import njit
from linsep.loops.dual_bases import PLAIN, combination, exchange, invert, met

ZERO = 1e-9  # |z·w| of unit rows and weights up to which a row counts as 0
FLAT = 1e-7  # and up to which, all around a circle, it does not cross
SHORT, DEEP = 16, 128  # parts of an order that are sorted one by one, and how many may wait; 2^64 rows need 64
RENEWED, STEEP = 50, 0.01  # steps after which the ways are computed anew, and a cosine too small to go on from


@njit(**PLAIN)
def find_ways(z: Any, tight: Any, w: Any, square: Any, ways: Any) -> None:
    """Write for each tight row the way that moves it alone, at a right angle to w; the last one is w itself."""
    width = w.size
    for j in range(width):
        square[j, width - 1] = w[j]
        for k in range(width - 1):
            square[j, k] = z[tight[k], j]
    invert(square, ways)


@njit(**PLAIN)
def combine(a: float, x: Any, b: float, y: Any, result: Any) -> None:
    """Write the unit vector of a·x + b·y."""
    total = 0.0
    for j in range(x.size):
        result[j] = a * x[j] + b * y[j]
        total += result[j] ** 2
    length = math.sqrt(total)
    for j in range(x.size):
        result[j] /= length


@njit(**PLAIN)
def cost_beside(z: Any, costs: Any, scores: Any, is_tight: Any, inward: Any) -> float:
    """The cost of the weights a little inward from a vertex, where all tight rows are right."""
    cost = 0.0
    for i in range(costs.size):
        if is_tight[i] or scores[i] > ZERO:
            continue
        ahead = 0.0
        for j in range(inward.size):
            ahead += z[i, j] * inward[j]
        if scores[i] < -ZERO or not ahead > ZERO:  # NaN is wrong
            cost += costs[i]
    return cost


@njit(**PLAIN)
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


@njit(**PLAIN)
def sort_by(keys: Any, order: Any, count: int, waiting: Any) -> None:
    """Write the order of the first keys, the lowest first: Hoare's, with short parts sorted one by one at the end."""
    for k in range(count):
        order[k] = k
    waiting[0], waiting[1], left = 0, count - 1, 2
    while left:
        left -= 2
        low, high = waiting[left], waiting[left + 1]
        while high - low >= SHORT:
            pivot, i, j = keys[order[(low + high) // 2]], low, high
            while i <= j:
                while keys[order[i]] < pivot:
                    i += 1
                while keys[order[j]] > pivot:
                    j -= 1
                if i <= j:
                    order[i], order[j] = order[j], order[i]
                    i, j = i + 1, j - 1
            if j - low < high - i:  # the longer part waits
                waiting[left], waiting[left + 1], high = i, high, j
            else:
                waiting[left], waiting[left + 1], low = low, j, i
            left += 2
    for k in range(1, count):
        row, place = order[k], k
        while place > 0 and keys[order[place - 1]] > keys[row]:
            order[place] = order[place - 1]
            place -= 1
        order[place] = row


@njit(**PLAIN)
def are_together(first: float, second: float) -> bool:
    """Whether two keys, the cotangents of their angles, are those of one angle."""
    return first == second or (abs(first) < np.inf and second - first <= ZERO * (1.0 + first * first))


@njit(**PLAIN)
def costs_along(
    costs: Any, a: Any, b: Any, rows: Any, keys: Any, order: Any, n: int, cost: float, values: Any
) -> float:
    """Write the cost at each of n crossings, those of the first half of the circle first; returns the least.

    Of rows that cross together one becomes tight; each of the others counts half.
    """
    least = np.inf
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


@njit(**PLAIN)
def drawn(values: Any, count: int, least: float, heat: float, draw: float) -> int:
    """One of the first values, each with a chance of exp(-value/heat); `draw` is a number from 0 to 1."""
    total, best = 0.0, 0
    for k in range(count):
        total += math.exp((least - values[k]) / heat)
        if values[k] < values[best]:
            best = k
    left = draw * total
    for k in range(count):
        left -= math.exp((least - values[k]) / heat)
        if left <= 0.0:
            return k
    return best


@njit(**PLAIN)
def turned_to(score: float, across: float, is_opposite: bool) -> tuple[float, float]:
    """Cosine and sine of the angle at which a row crosses 0, in the first half of the circle or opposite."""
    length = math.hypot(score, across)
    cosine, sine = -across / length, score / length
    if abs(score) <= ZERO:
        cosine, sine = 1.0, 0.0
    elif sine < 0.0:
        cosine, sine = -cosine, -sine
    return (-cosine, -sine) if is_opposite else (cosine, sine)


def anneal(z: Any, costs: Any, tight: Any, w: Any, heats: Any, draws: Any, least: float, best: Any) -> float:
    """Walk a vertex for each of the heats; returns the least cost met, and writes weights that have it.

    `z` are unit rows, `tight` D - 1 independent ones of them that are 0 at the unit vector `w`; both are where the walk
    ends, so that another can go on from there. `draws` are two random numbers for each heat, from 0 to 1. Only a cost
    below `least` is written down.
    """
    (n, width), is_tight = z.shape, np.zeros(len(z), np.bool_)
    is_tight[tight] = True
    places = np.empty((2, n), np.int64)
    along, values = np.zeros((4, n)), np.empty(2 * n)
    vectors, squares = np.empty((3, width)), np.empty((2, width, width))
    columns, waiting = np.ascontiguousarray(z.T), np.empty(DEEP, np.int64)
    found: float = wander(
        z,
        columns,
        costs,
        tight,
        w,
        heats,
        draws,
        least,
        best,
        is_tight,
        places,
        along,
        values,
        vectors,
        squares,
        waiting,
    )
    return found


@njit(**PLAIN)
def wander(
    z: Any,
    columns: Any,
    costs: Any,
    tight: Any,
    w: Any,
    heats: Any,
    draws: Any,
    least: float,
    best: Any,
    is_tight: Any,
    places: Any,
    along: Any,
    values: Any,
    vectors: Any,
    squares: Any,
    waiting: Any,
) -> float:
    """The walk itself, with the memory it needs."""
    width = z.shape[1]
    rows, order = places[0], places[1]
    keys, scores, across, zeros = along[0], along[1], along[2], along[3]
    v, inward, products = vectors[0], vectors[1], vectors[2]
    square, ways = squares[0], squares[1]
    find_ways(z, tight, w, square, ways)
    combination(columns, w, zeros, scores)
    for step in range(heats.size):
        released = int(draws[step, 0] * (width - 1))
        combine(1.0, ways[released], 0.0, w, v)
        is_tight[tight[released]] = False
        combination(columns, v, zeros, across)
        scores[tight[released]] = 0.0
        found, cost = crossings(costs, scores, across, is_tight, rows, keys)
        sort_by(keys, order, found, waiting)
        lowest = costs_along(costs, scores, across, rows, keys, order, found, cost, values)
        picked = drawn(values, 2 * found, lowest, heats[step], draws[step, 1])
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
        else:  # no update where the new w is nearly orthogonal to the old one
            find_ways(z, tight, w, square, ways)
        if not abs(ways[0, 0]) < np.inf:
            break
        combination(columns, w, zeros, scores)
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
