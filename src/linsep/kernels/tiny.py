"""The whole exact LP in int64: separable, touching or overlapping, for a few rows of small integers.

The algorithm is that of `solvers/exact_lp.py`, which also explains it; here it is compiled and every number
is an int64. Before each product the largest factors are multiplied in floating point; a result that could
pass 2^62 ends the run with OVERFLOW, never with a wrong answer, and the caller hands the rows to the engine
of unbounded integers. The costs that steer the pivots are doubles: they choose a path and prove nothing.

State, with D columns (the adjugate is kept by its columns, which are the rows of `dual`):
    basis[k]    the row at place k, or -1 for the unit vector that stood there at the start
    dual[k]     a vector with basis_i · dual_k = det if i = k, else 0
    is_free[k]  the row at place k is part of an obstruction: its score is held at 0 and it never leaves
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

SEPARABLE, TOUCHING, OVERLAPPING, OVERFLOW = 0, 1, 2, 3

_LIMIT = 2.0**62
_MOST_PIVOTS = 50


class TinyOutcome(NamedTuple):
    """What the kernel found.

    `kind` is SEPARABLE, TOUCHING, OVERLAPPING or OVERFLOW (nothing else is then meaningful). `weights` is
    positive on all rows (separable), or zero on the free span and positive on all other rows (touching).
    `first` and `spread` hold one multiplier per row, 0 for rows not in use: the first obstruction, and the
    sum of all.
    """

    kind: int
    weights: NDArray[np.int64]
    first: NDArray[np.int64]
    spread: NDArray[np.int64]


def decide_rows(rows: NDArray[np.int64]) -> TinyOutcome:
    """Decide signed integer rows z_i three-way: is there a w with z_i·w > 0 for all i?

    >>> outcome = decide_rows(np.array([[1, 1], [1, -1], [-2, 0]]))
    >>> outcome.kind == OVERLAPPING, outcome.first.tolist()
    (True, [1, 1, 1])
    """
    n, D = rows.shape
    start = np.full(D, -1), np.eye(D, dtype=np.int64), np.zeros(D, np.bool_), np.zeros(n, np.bool_), np.zeros(D)
    found = np.zeros(D, np.int64), np.zeros(n, np.int64), np.zeros(n, np.int64)
    kind = _decide(np.ascontiguousarray(rows, dtype=np.int64), *start, np.zeros(D, np.int64), *found)
    return TinyOutcome(kind, *found)


# The arrays are made by the caller and filled in loops: what NumPy does in one word takes seconds to compile.
@njit(cache=True, nogil=True, error_model="numpy")
def _decide(
    rows: Any,
    basis: Any,
    dual: Any,
    is_free: Any,
    is_aside: Any,
    costs: Any,
    coordinates: Any,
    weights: Any,
    first: Any,
    spread: Any,
) -> Any:
    n, D = rows.shape
    det = np.int64(1)
    seed = np.uint64(0x9E3779B97F4A7C15)
    obstructed = False
    reach = _reach(rows)

    for _ in range(_MOST_PIVOTS * (n + D + 1)):
        if not _weigh(dual, basis, is_free, reach, weights):
            return OVERFLOW
        row = _entering(rows, weights, dual, basis, is_free, is_aside, obstructed, coordinates)
        if row < 0:
            if not _any(spread):
                _copy(first, spread)
            return _kind(obstructed, weights)
        _express(rows[row], dual, coordinates)
        place = _artificial(coordinates, basis)
        if place >= 0:
            seed = seed * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
            costs[place] = 0.5 + np.float64(seed >> np.uint64(11)) * 2.0**-53
        else:
            place = _leaving(coordinates, basis, is_free, costs)
            if place < 0:
                is_aside[row] = True
                if not _any(coordinates):  # a zero row: it obstructs alone, and frees nothing
                    first[row] = 1
                    obstructed = True
                    continue
                if not _spread(spread, coordinates, basis, det, row):
                    return OVERFLOW
                if not obstructed:
                    _copy(spread, first)
                    obstructed = True
                for k in range(D):
                    is_free[k] |= basis[k] >= 0 and coordinates[k] != 0
                continue
            step = costs[place] / coordinates[place]
            for k in range(D):
                if basis[k] >= 0 and not is_free[k]:
                    costs[k] = max(costs[k] - step * coordinates[k], 0.0)
            costs[place] = step * det
        det = _replace(dual, coordinates, det, place)
        if det == 0:
            return OVERFLOW
        basis[place] = row
    return OVERFLOW


@njit(cache=True, nogil=True, error_model="numpy")
def _reach(rows: Any) -> Any:
    """Return the largest sum of absolute entries of a row, as a double: |z·v| <= reach · max|v|."""
    largest = 1.0
    for i in range(rows.shape[0]):
        total = 0.0
        for j in range(rows.shape[1]):
            total += abs(np.float64(rows[i, j]))
        largest = max(largest, total)
    return largest


@njit(cache=True, nogil=True, error_model="numpy")
def _weigh(dual: Any, basis: Any, is_free: Any, reach: Any, weights: Any) -> Any:
    """Set w with z·w = det on the rows in force and 0 on free rows; False: products could overflow."""
    D = len(weights)
    largest = 0.0
    for j in range(D):
        weights[j] = 0
    for k in range(D):
        in_force = basis[k] >= 0 and not is_free[k]
        for j in range(D):
            largest = max(largest, abs(np.float64(dual[k, j])))
            if in_force:
                weights[j] += dual[k, j]
    return largest * D * reach < _LIMIT


@njit(cache=True, nogil=True, error_model="numpy")
def _entering(
    rows: Any,
    weights: Any,
    dual: Any,
    basis: Any,
    is_free: Any,
    is_aside: Any,
    obstructed: Any,
    coordinates: Any,
) -> Any:
    """Return the most violated row, else a row of score 0 outside the free span, else -1.

    Rows of score 0 inside the free span are set aside.
    """
    worst, least = -1, np.int64(0)
    for i in range(rows.shape[0]):
        if not is_aside[i]:
            score = _dot(rows[i], weights)
            if score < least:
                worst, least = i, score
    if worst >= 0:
        return worst
    for i in range(rows.shape[0]):
        if not is_aside[i] and _dot(rows[i], weights) == 0:
            _express(rows[i], dual, coordinates)
            in_span = True
            for k in range(len(basis)):
                if coordinates[k] != 0 and not is_free[k]:
                    in_span = False
            if not in_span or not obstructed:
                return i  # before the first obstruction the free span is {0}: a zero row is an obstruction
            is_aside[i] = True
    return -1


@njit(cache=True, nogil=True, error_model="numpy")
def _dot(row: Any, weights: Any) -> Any:
    total = np.int64(0)
    for j in range(len(weights)):
        total += row[j] * weights[j]
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def _express(row: Any, dual: Any, coordinates: Any) -> Any:
    """Set the coordinates with det · row = Σ coordinates_k basis_k."""
    for k in range(len(coordinates)):
        coordinates[k] = _dot(row, dual[k])


@njit(cache=True, nogil=True, error_model="numpy")
def _artificial(coordinates: Any, basis: Any) -> Any:
    """Return the place of a unit vector that the row is independent of (the smallest pivot), or -1."""
    place = -1
    for k in range(len(basis)):
        if basis[k] < 0 and coordinates[k] != 0 and (place < 0 or abs(coordinates[k]) < abs(coordinates[place])):
            place = k
    return place


@njit(cache=True, nogil=True, error_model="numpy")
def _leaving(coordinates: Any, basis: Any, is_free: Any, costs: Any) -> Any:
    """Return the place of least cost/coordinate among positive coordinates of rows in force, or -1."""
    place, least = -1, np.inf
    for k in range(len(basis)):
        if coordinates[k] > 0 and basis[k] >= 0 and not is_free[k]:
            ratio = costs[k] / coordinates[k]
            if ratio < least:
                place, least = k, ratio
    return place


@njit(cache=True, nogil=True, error_model="numpy")
def _replace(dual: Any, coordinates: Any, det: Any, place: Any) -> Any:
    """Put the row with these coordinates at `place`; return the new det > 0, or 0: could overflow.

    Jordan's fraction-free step: the division by the old determinant leaves no remainder.
    """
    D = len(coordinates)
    pivot = coordinates[place]
    largest_dual, largest_coordinate = 0.0, 0.0
    for k in range(D):
        largest_coordinate = max(largest_coordinate, abs(np.float64(coordinates[k])))
        for j in range(D):
            largest_dual = max(largest_dual, abs(np.float64(dual[k, j])))
    if 2.0 * largest_dual * largest_coordinate >= _LIMIT:
        return np.int64(0)
    for k in range(D):
        if k != place:
            factor = coordinates[k]
            for j in range(D):
                value = pivot * dual[k, j] - factor * dual[place, j]
                dual[k, j] = value if det == 1 else value // det
    if pivot < 0:
        for k in range(D):
            for j in range(D):
                dual[k, j] = -dual[k, j]
    return abs(pivot)


@njit(cache=True, nogil=True, error_model="numpy")
def _spread(spread: Any, coordinates: Any, basis: Any, det: Any, row: Any) -> Any:
    """Add the obstruction det·row - Σ coordinates_k basis_k = 0 to the combination; False: could overflow.

    Free rows may have coordinates of the wrong sign; enough copies of the combination so far make them
    positive.
    """
    copies = np.int64(1)
    largest, largest_old = np.float64(det), 0.0
    for k in range(len(basis)):
        if basis[k] >= 0:
            old = spread[basis[k]]
            largest = max(largest, abs(np.float64(coordinates[k])))
            largest_old = max(largest_old, np.float64(old))
            if coordinates[k] > 0:
                copies = max(copies, coordinates[k] // old + 1)
    for i in range(len(spread)):
        largest_old = max(largest_old, np.float64(spread[i]))
    if largest_old * np.float64(copies) + largest >= _LIMIT:
        return False
    divisor = np.int64(0)
    for i in range(len(spread)):
        spread[i] *= copies
    spread[row] += det
    for k in range(len(basis)):
        if basis[k] >= 0:
            spread[basis[k]] -= coordinates[k]
    for i in range(len(spread)):
        divisor = _gcd(divisor, spread[i])
    for i in range(len(spread)):
        spread[i] //= divisor
    return True


@njit(cache=True, nogil=True, error_model="numpy")
def _gcd(a: Any, b: Any) -> Any:
    while b != 0:
        a, b = b, a % b
    return a


@njit(cache=True, nogil=True, error_model="numpy")
def _kind(obstructed: Any, weights: Any) -> Any:
    """Name the outcome; w = 0 only when every row of the basis is free, for the basis is nonsingular."""
    if not obstructed:
        return SEPARABLE
    return TOUCHING if _any(weights) else OVERLAPPING


@njit(cache=True, nogil=True, error_model="numpy")
def _any(numbers: Any) -> Any:
    found = False
    for i in range(len(numbers)):
        found |= numbers[i] != 0
    return found


@njit(cache=True, nogil=True, error_model="numpy")
def _copy(source: Any, target: Any) -> Any:
    for i in range(len(source)):
        target[i] = source[i]
