"""The shortest vector that keeps all rows at distance 1: min |w|² with Z·w >= 1, for a few thousand rows.

Its length is one over the margin of the rows, and its multipliers name the rows that matter. If no such vector
exists, the rows that matter are (as far as floats can tell) those of an obstruction. DAQP does the work; its answers
are only hints: every one is checked elsewhere.

If no vector exists there are no multipliers. With one more column, a small constant, some vector always keeps the rows
at 1; its multipliers are, up to their sum, those u with Σu = 1 for which z'u is shortest: 0 if rows cancel.

Two ways to the same vector. `shortest` (DAQP, a dual active-set method) is fast, but when the vector is long it may
fail although one exists. `nearest_to_zero` (nnls) solves the dual, the point of the rows' cone nearest to a target;
it is slower but does not square the condition number, so it is tried next.

Arnström, Bemporad and Axehill, A dual active-set solver for embedded quadratic programming (2022).
Lawson and Hanson, Solving least squares problems (1974), chapter 23.
"""

import time
from dataclasses import dataclass, replace

import daqp
import numpy as np
import numpy.typing as npt

from linsep.solvers.clock import Clock
from linsep.sources.base import Floats

SOLVED, INFEASIBLE = 1, -1
ACTIVE = 1  # DAQP's mark for a constraint to start from
IDENTITY, NOTHING = None, None  # the cost |w|² as DAQP likes it best: no matrix of width² numbers
WIDE = 1 << 14  # columns: beyond, DAQP's own triangle of width² / 2 numbers (1 GB) is too much
PATIENCE = 20  # iterations for each row and column
A_FACTOR, A_START = 1.6e-9, 4e-10  # seconds for each column and pair of rows: of a QR, and of DAQP's rows to start from
SHARED = 1e-3  # the constant column that all rows get if no vector keeps them at 1, relative to their length
FIRST_TRY, FASTER = 256, 4  # iterations of nnls before the clock is checked; then this many times as many


@dataclass(frozen=True, slots=True)
class Shortest:
    """The answer on some rows: w (or the last w tried), the multipliers, and whether w solves the rows."""

    w: Floats
    multipliers: Floats
    is_solved: bool
    is_infeasible: bool


def shortest(
    z: Floats, start: npt.NDArray[np.bool_] | None = None, *, clock: Clock | None = None, patience: int = PATIENCE
) -> Shortest:
    """Minimise |w|² with z·w >= 1; `start` marks rows likely to matter. Raises OutOfTime at the clock's limit."""
    clock = clock or Clock()
    n_rows, width = z.shape
    is_zero = ~z.any(axis=1)
    if is_zero.any():  # DAQP would divide by its length, and return uninitialised memory
        first = np.arange(n_rows) == np.argmax(is_zero)
        return Shortest(np.zeros(width), first.astype(np.float64), is_solved=False, is_infeasible=True)
    if n_rows < width and width > WIDE:
        return _in_their_span(z, start, clock)
    w, multipliers, flag = _asked(z, start, clock, patience)
    if flag <= 0:
        shared = np.full((n_rows, 1), SHARED * np.sqrt(np.mean(np.square(z)) * width))
        _, multipliers, _ = _asked(np.hstack([z, shared]), start, clock, patience)
    if not (np.isfinite(w).all() and np.isfinite(multipliers).all()):
        return Shortest(np.zeros(width), np.zeros(n_rows), is_solved=False, is_infeasible=False)
    return Shortest(w, multipliers, flag == SOLVED, flag == INFEASIBLE)


def _asked(z: Floats, start: npt.NDArray[np.bool_] | None, clock: Clock, patience: int) -> tuple[Floats, Floats, int]:
    """DAQP's vector, its multipliers (0 if it has none: since 0.11 it leaves that memory unfilled), and its flag."""
    n_rows, width = z.shape
    sense = np.zeros(n_rows, np.int32)
    before = 0.0  # seconds until DAQP first looks at its clock, which does not count them
    if start is not None and np.count_nonzero(start) <= width:  # DAQP may take minutes over more, blind to its clock
        sense[start] = ACTIVE
        before = A_START * width * np.count_nonzero(start) ** 2
        clock.require(before)
    limit = {} if clock.left is None else {"time_limit": max(clock.left - before, 1e-3)}
    w, _, flag, info = daqp.solve(
        IDENTITY,
        NOTHING,
        -z,
        np.full(n_rows, -1.0),
        np.full(n_rows, -1e30),
        sense,
        iter_limit=patience * (width + n_rows) + 1000,
        fval_bound=1e30,
        **limit,
    )
    clock.check()
    multipliers = np.abs(np.asarray(info["lam"])) if flag > 0 else np.zeros(n_rows)
    return np.array(w), multipliers, flag


def _in_their_span(z: Floats, start: npt.NDArray[np.bool_] | None, clock: Clock) -> Shortest:
    """The same in coordinates of an orthonormal basis of the rows' span, which contains the shortest vector."""
    n_rows, width = z.shape
    from scipy.linalg import qr

    clock.require(A_FACTOR * width * n_rows**2)  # it cannot be interrupted
    basis, triangle = qr(z.T, mode="economic", check_finite=False)
    clock.check()
    found = shortest(np.ascontiguousarray(triangle.T), start, clock=clock)
    return replace(found, w=basis @ found.w)


def nearest_to_zero(z: Floats, clock: Clock | None = None) -> Shortest:
    """The same by the dual: min |z'u|² + (1 - Σu)², u >= 0. The residual is the vector, or 0 if there is none."""
    n_rows, width = z.shape
    target = np.append(np.zeros(width), 1.0)
    columns = np.vstack([z.T, np.ones(n_rows)])
    u = _nnls(columns, target, 10 * (n_rows + width), clock or Clock())
    if u is None:  # no hint from here
        return Shortest(np.zeros(width), np.zeros(n_rows), is_solved=False, is_infeasible=False)
    residual = target - columns @ u
    least = (z @ -residual[:-1]).min()
    w = -residual[:-1] / least if least > 0 else residual[:-1]
    is_solved = bool(least > 0 and np.isfinite(w).all())
    return Shortest(w, u, is_solved, not is_solved)


def _nnls(columns: Floats, target: Floats, most: int, clock: Clock) -> Floats | None:
    """The u >= 0 with the shortest target - columns·u; None after too many iterations.

    nnls cannot be interrupted. Under a time limit it therefore gets few iterations first, then more, as long as the
    clock allows for as many again.
    """
    from scipy.optimize import nnls  # a quarter of a second to import

    tried = most if clock.left is None else min(most, FIRST_TRY)
    while True:
        began = time.perf_counter()
        try:
            return np.asarray(nnls(columns, target, maxiter=tried)[0])
        except RuntimeError:
            if tried == most:
                return None
        tried = min(most, FASTER * tried)
        clock.require(FASTER * (time.perf_counter() - began))
