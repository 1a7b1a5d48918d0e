"""The shortest vector that keeps all rows at distance 1: min |w|² with Z·w >= 1, for a few thousand rows.

Its length is one over the margin of the rows, its multipliers name the rows that matter. If no such vector
exists, the rows that matter are (as far as floats can tell) those of an obstruction. DAQP does the work; what it
says is a hint here, and a hint only: every answer is checked by someone else.

Arnström, Bemporad and Axehill, A dual active-set solver for embedded quadratic programming (2022).
"""

from dataclasses import dataclass

import daqp
import numpy as np
import numpy.typing as npt

from linsep.sources.base import Floats

BIAS_SCALE = 2.0**10  # the bias is not part of the margin: its share in |w|² is divided by the square of this
SOLVED, INFEASIBLE = 1, -1
ACTIVE = 1  # DAQP's mark for a constraint to start from


@dataclass(frozen=True, slots=True)
class Shortest:
    """The answer on some rows: w (or the last w tried), the multipliers, and whether w solves the rows."""

    w: Floats
    multipliers: Floats
    is_solved: bool
    is_infeasible: bool


def shortest(z: Floats, *, bias: bool, start: npt.NDArray[np.bool_] | None = None) -> Shortest:
    """Minimise |w|² with z·w >= 1, the last column being that of the bias; `start` marks rows likely to matter."""
    n_rows, width = z.shape
    constraints = -z
    if bias:
        constraints[:, -1] *= BIAS_SCALE
    sense = np.zeros(n_rows, np.int32)
    if start is not None:
        sense[start] = ACTIVE
    x, _, flag, info = daqp.solve(
        np.eye(width),
        np.zeros(width),
        constraints,
        np.full(n_rows, -1.0),
        np.full(n_rows, -1e30),
        sense,
        iter_limit=20 * (width + n_rows) + 1000,
        fval_bound=1e30,
    )
    w = np.array(x)
    if bias:
        w[-1] *= BIAS_SCALE
    return Shortest(w, np.abs(np.asarray(info["lam"])), flag == SOLVED, flag == INFEASIBLE)
