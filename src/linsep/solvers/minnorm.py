"""The shortest vector that keeps all rows at distance 1: min |w|² with Z·w >= 1, for a few thousand rows.

Its length is one over the margin of the rows, its multipliers name the rows that matter. If no such vector
exists, the rows that matter are (as far as floats can tell) those of an obstruction. DAQP does the work; what it
says is a hint here, and a hint only: every answer is checked by someone else.

Two ways to the same vector. `shortest` (DAQP, a dual active-set method) is fast; when the vector grows long it may
call rows impossible that are not. `nearest_to_zero` (nnls) solves the dual, the point of the rows' cone nearest to
a target; it is slower and does not square the condition number, so it is the one to ask next.

Arnström, Bemporad and Axehill, A dual active-set solver for embedded quadratic programming (2022).
Lawson and Hanson, Solving least squares problems (1974), chapter 23.
"""

from dataclasses import dataclass

import daqp
import numpy as np
import numpy.typing as npt
from scipy.optimize import nnls

from linsep.sources.base import Floats

SOLVED, INFEASIBLE = 1, -1
ACTIVE = 1  # DAQP's mark for a constraint to start from


@dataclass(frozen=True, slots=True)
class Shortest:
    """The answer on some rows: w (or the last w tried), the multipliers, and whether w solves the rows."""

    w: Floats
    multipliers: Floats
    is_solved: bool
    is_infeasible: bool


def shortest(z: Floats, start: npt.NDArray[np.bool_] | None = None) -> Shortest:
    """Minimise |w|² with z·w >= 1; `start` marks rows likely to matter."""
    n_rows, width = z.shape
    is_zero = ~z.any(axis=1)
    if is_zero.any():  # DAQP would divide by its length, and answer with whatever its memory holds
        first = np.arange(n_rows) == np.argmax(is_zero)
        return Shortest(np.zeros(width), first.astype(np.float64), is_solved=False, is_infeasible=True)
    sense = np.zeros(n_rows, np.int32)
    if start is not None:
        sense[start] = ACTIVE
    w, _, flag, info = daqp.solve(
        np.eye(width),
        np.zeros(width),
        -z,
        np.full(n_rows, -1.0),
        np.full(n_rows, -1e30),
        sense,
        iter_limit=20 * (width + n_rows) + 1000,
        fval_bound=1e30,
    )
    w, multipliers = np.array(w), np.abs(np.asarray(info["lam"]))
    if not (np.isfinite(w).all() and np.isfinite(multipliers).all()):
        return Shortest(np.zeros(width), np.zeros(n_rows), is_solved=False, is_infeasible=False)
    return Shortest(w, multipliers, flag == SOLVED, flag == INFEASIBLE)


def nearest_to_zero(z: Floats) -> Shortest:
    """The same by the dual: min |z'u|² + (1 - Σu)², u >= 0. The residual is the vector, or 0 if there is none."""
    n_rows, width = z.shape
    target = np.append(np.zeros(width), 1.0)
    columns = np.vstack([z.T, np.ones(n_rows)])
    try:
        u, _ = nnls(columns, target, maxiter=10 * (n_rows + width))
    except RuntimeError:  # too many iterations: no hint from here
        return Shortest(np.zeros(width), np.zeros(n_rows), is_solved=False, is_infeasible=False)
    residual = target - columns @ u
    least = (z @ -residual[:-1]).min()
    is_solved = bool(least > 0)
    w = -residual[:-1] / least if is_solved else residual[:-1]
    return Shortest(w, u, is_solved, not is_solved)
