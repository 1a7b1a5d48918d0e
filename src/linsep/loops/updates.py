"""How a mistake changes the weights: the plain update, and those of the rules that choose how far to go.

A row of weight k is visited k times in succession, so a whole weight is that many copies of the row, one after the
other; a weight that is not whole has a last visit whose update counts for the rest of it. Steps of s <= 1 change
nothing in Novikoff's proof (learners/perceptron.py): W·U grows by s·gamma at least and |W|² by s²·R² <= s·R² at
most, so the steps add up to (R/gamma)² at most.

The rules other than Rosenblatt's call a row a mistake while its gap is below 1 (but for rounding), and go only as far
as needed. With loss = 1 - gap the step is  min(C, loss/|Z|²)  for "pa1", a `Hinge` with a cap, and
loss/(|Z|² + 1/(2·C))  for "pa2", a soft one (Crammer, Dekel, Keshet, Shalev-Shwartz and Singer 2006). "arow" is "pa2"
with a spread s_j for each weight, 1 at first: |Z|² is Σ s_j·Z_j², the step moves w_j by s_j·Z_j, and each update at a
row lowers s_j by (s_j·Z_j)²/(|Z|² + 1/(2·C)), so that weights of rare columns stay quick when those of common ones
have settled (Crammer, Kulesza and Dredze 2009, with r = 1/(2·C)).
"""

from typing import Any, NamedTuple

from linsep.loops import csr, dense  # noqa: F401  (they teach Numba the verbs of row_verbs.py)
from linsep.loops.compiler import njit
from linsep.loops.row_verbs import add, add_spread, norm2, norm2_spread, shrink


class Hinge(NamedTuple):
    """How far an update goes: to a gap of 1, unless `cap` or `soft` says less."""

    cap: float
    soft: float


@njit(cache=True, nogil=True, forceinline=True)
def correct(table: Any, i: Any, y: Any, rival: Any, factor: Any, bias: int, W: Any, b: Any) -> None:
    """The update, times a factor: w += y·x for two classes, else towards the true class and away from its rival."""
    if W.ndim == 1:
        add(table, i, factor * y, W)
        b[0] += factor * y * bias
        return
    add(table, i, factor, W[y])
    add(table, i, -factor, W[rival])
    b[y] += factor * bias
    b[rival] -= factor * bias


@njit(cache=True, nogil=True, forceinline=True)
def step_of(
    table: Any, i: Any, y: Any, rival: Any, loss: float, share: float, bias: int, W: Any, hinge: Any, spread: Any
) -> float:
    """How far an update goes for a row whose gap is `loss` short of 1: there, or as far as the hinge allows."""
    length2 = length2_of(table, i, y, rival, bias, W, spread) + hinge.soft / share
    most = hinge.cap * share
    if length2 * most > loss:  # a row of zeros would not survive the division
        return loss / length2  # type: ignore[no-any-return]
    return most  # type: ignore[no-any-return]


@njit(cache=True, nogil=True, forceinline=True)
def length2_of(table: Any, i: Any, y: Any, rival: Any, bias: int, W: Any, spread: Any) -> float:
    """|Z|² of row i: of x and its 1 for two classes, twice that for more; each entry times its spread, if any."""
    if spread is None:
        once = norm2(table, i) + bias
        return once if W.ndim == 1 else 2.0 * once  # type: ignore[no-any-return]
    if W.ndim == 1:
        return norm2_spread(table, i, spread.W) + bias * spread.b[0]  # type: ignore[no-any-return]
    both = norm2_spread(table, i, spread.W[y]) + norm2_spread(table, i, spread.W[rival])
    return both + bias * (spread.b[y] + spread.b[rival])  # type: ignore[no-any-return]


@njit(cache=True, nogil=True)
def correct_spread(
    table: Any,
    i: Any,
    y: Any,
    rival: Any,
    step: float,
    soft: float,
    walked: float,
    bias: int,
    W: Any,
    b: Any,
    spread: Any,
    lag: Any,
) -> None:
    """The update with each entry times its spread, which shrinks."""
    add_with_spread(table, i, y, rival, step, bias, spread, W, b)
    if lag is not None:
        add_with_spread(table, i, y, rival, step * walked, bias, spread, lag.W, lag.b)
    length2 = length2_of(table, i, y, rival, bias, W, spread) + soft
    shrink_spread(table, i, y, rival, 1.0 / length2, bias, spread.W, spread.b)


@njit(cache=True, nogil=True, forceinline=True)
def add_with_spread(
    table: Any, i: Any, y: Any, rival: Any, factor: float, bias: int, spread: Any, W: Any, b: Any
) -> None:
    """As `correct`, each entry times its spread."""
    if W.ndim == 1:
        add_spread(table, i, factor * y, spread.W, W)
        b[0] += factor * y * bias * spread.b[0]
        return
    add_spread(table, i, factor, spread.W[y], W[y])
    add_spread(table, i, -factor, spread.W[rival], W[rival])
    b[y] += factor * bias * spread.b[y]
    b[rival] -= factor * bias * spread.b[rival]


@njit(cache=True, nogil=True, forceinline=True)
def shrink_spread(table: Any, i: Any, y: Any, rival: Any, by: float, bias: int, S: Any, s: Any) -> None:
    """What is known of the weights after an update: the spread of each falls by `by`·(spread·x)²."""
    if S.ndim == 1:
        shrink(table, i, by, S)
        s[0] -= by * bias * s[0] * s[0]
        return
    shrink(table, i, by, S[y])
    shrink(table, i, by, S[rival])
    s[y] -= by * bias * s[y] * s[y]
    s[rival] -= by * bias * s[rival] * s[rival]
