"""The explorer's answers about rows of any width: a whole recorded run, its verdict, and the numbers of the proof.

For points of the plane the page's own engine (page/engine) computes the same, and the tests compare the two. Nothing
is kept between two questions, and only the public API of linsep is used here: the page shows what `perceptron_steps`,
`decide`, `max_margin` and `novikoff` return.
"""

import math
import time
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

import linsep
from linsep.explorer import requests
from linsep.explorer.presets import presets
from linsep.explorer.requests import RunRequest

if TYPE_CHECKING:
    from linsep.explorer.own_table import OwnTable

Answer = dict[str, Any]
Job = Callable[[Any], Any]
Floats = npt.NDArray[np.float64]

LONGEST_FRACTION = 24  # characters: a longer one is shown rounded, and marked so
MOST_WEIGHTS = 2000  # rows of an obstruction whose weights are sent
SAME = 1e-6  # rows whose margins differ by at most this part are equally near


def questions(table: "OwnTable | None" = None) -> dict[str, Job]:
    """What the page may ask, by name: each takes and returns a JSON value. Points of the plane need no answer."""
    return {} if table is None else table.questions()


def beginning(table: "OwnTable | None" = None) -> dict[str, Any]:
    """What the page needs before it asks: the presets, the limits, and the user's own table, if there is one."""
    return {
        "presets": presets(),
        "own": None if table is None else table.beginning(),
        "limits": {"points": requests.MOST_POINTS, "updates": requests.MOST_UPDATES},
    }


def record(X: Any, y: Any, run: RunRequest, *, seconds: float) -> Answer:
    """The run, update by update, the verdict with its proof, and the bound that the run obeys.

    `seconds` is the time allowed for each of the run, the verdict, the margin and the bound.
    """
    verdict = linsep.decide(X, y, bias=run.bias, time_limit=seconds)
    theory = _theory(X, y, run.bias, seconds) if verdict.separable else None
    steps = _steps(X, y, run, theory, seconds)
    return {
        "steps": steps,
        "radius": _radius(X, run.bias),
        "verdict": {"kind": verdict.kind, "text": verdict.explain()},
        "bound": None if theory is None else _bound(theory),
        "widest": None if theory is None else _widest(X, y, theory, seconds),
        "weak": _weak(verdict),
        "obstruction": _obstruction(X, y, verdict),
        "spread": _spread(verdict),
    }


def _steps(X: Any, y: Any, run: RunRequest, theory: linsep.Novikoff | None, seconds: float) -> Answer:
    """One entry per update in each list; `along` is W·u*, `norm` is |W|, `label` the sign of the row's class."""
    lists: dict[str, list[Any]] = {name: [] for name in ("row", "label", "score", "b", "norm", "along")}
    options = {"order": run.order, "bias": run.bias, "random_state": run.seed}
    positive, stop, ended = np.max(y), time.monotonic() + seconds, True
    for step in linsep.perceptron_steps(X, y, max_updates=run.updates + 1, **options):
        if len(lists["row"]) == run.updates or time.monotonic() > stop:
            ended = False
            break
        lists["row"].append(step.row)
        lists["label"].append(1 if step.label == positive else -1)
        lists["score"].append(step.score)
        lists["b"].append(step.b)
        w = step.w.astype(np.float64)
        lists["norm"].append(math.sqrt(float(w @ w) + step.b * step.b))
        if theory is not None:
            lists["along"].append(float(w @ theory.halfspace.w) + step.b * theory.halfspace.b)
    return {"converged": ended, **lists, "along": None if theory is None else lists["along"]}


def _theory(X: Any, y: Any, bias: bool, seconds: float) -> linsep.Novikoff | None:
    try:
        return linsep.novikoff(X, y, bias=bias, time_limit=seconds)
    except linsep.NotSeparableError:  # separable by too little for floats, or out of time
        return None


def _bound(theory: linsep.Novikoff) -> Answer:
    return {
        "radius": theory.radius[1],
        "gamma": theory.gamma[0],
        "bound": theory.bound[1] if math.isfinite(theory.bound[1]) else None,
        "direction": theory.halfspace.homogeneous.tolist(),
    }


def _radius(X: Any, bias: bool) -> float:
    """R, even if no bound follows from it."""
    rows = X.astype(np.float64)  # squares of small integers would wrap around
    squares = rows.multiply(rows).sum(axis=1) if is_sparse(X) else np.einsum("ij,ij->i", rows, rows)
    return float(np.sqrt(np.max(squares) + bias))


def _widest(X: Any, y: Any, theory: linsep.Novikoff, seconds: float) -> Answer | None:
    """The separator with the largest margin, scaled to |w| = 1, its margin, and the rows on the edge of its band."""
    if not theory.bias:
        w = theory.halfspace.w
        near = theory.halfspace.margins(X, y)
        rows = np.flatnonzero(near <= theory.gamma[1] * (1 + SAME)).tolist()
        return {"w": w.tolist(), "b": 0.0, "margin": theory.gamma[0], "rows": rows}
    verdict = linsep.max_margin(X, y, time_limit=seconds)
    if not isinstance(verdict, linsep.Separable) or verdict.margin is None:
        return None
    w, b = unit(verdict.halfspace.w, verdict.halfspace.b)
    rows = list(verdict.nearest.rows) if verdict.nearest else []
    return {"w": w.tolist(), "b": b, "margin": verdict.margin[0], "rows": rows}


def _weak(verdict: Any) -> Answer | None:
    """The hyperplane of touching classes: no row on its wrong side, some rows on it."""
    if not isinstance(verdict, linsep.Touching) or not verdict.halfspace.w.any():
        return None
    w, b = unit(verdict.halfspace.w, verdict.halfspace.b)
    return {"w": w.tolist(), "b": b}


def unit(w: Any, b: Any) -> tuple[Floats, float]:
    """The same hyperplane with |w| = 1; w = 0 stays as it is."""
    weights: Floats = np.asarray(w, dtype=np.float64)
    length = float(np.linalg.norm(weights)) or 1.0
    return weights / length, float(b) / length


def _obstruction(X: Any, y: Any, verdict: Any) -> Answer | None:
    """The few rows that rule out every separator, with exact weights: each class's weights sum to 1.

    With bias, the weighted means of the two classes are the same point. Without, the weighted sum of the signed rows
    is the origin, and the weights sum to 1 over both classes.
    """
    if verdict.separable is not False:
        return None
    rows, weights = verdict.obstruction.rows[:MOST_WEIGHTS], verdict.obstruction.weights[:MOST_WEIGHTS]
    positive = [bool(y[row] == verdict.labels[1]) for row in rows]
    total = sum(u for u, plus in zip(weights, positive, strict=True) if plus) if verdict.bias else sum(weights)
    if total == 0:  # the list was cut before the first row of that class
        return None
    shares = [Fraction(u, total) for u in weights]
    return {
        "rows": list(rows),
        "weights": [_exact(share) for share in shares],
        "point": _common_point(X, rows, shares, positive) if verdict.bias else None,
        "count": len(verdict.obstruction.rows),
        "definite": verdict.obstruction.is_definite,
    }


def _spread(verdict: Any) -> Answer | None:
    """The rows that rule out weak separators too."""
    if not isinstance(verdict, linsep.Overlapping) or len(verdict.spread.rows) > MOST_WEIGHTS:
        return None
    return {"rows": list(verdict.spread.rows)}


def _common_point(X: Any, rows: Any, shares: list[Fraction], positive: list[bool]) -> list[Answer] | None:
    if X.shape[1] > 20 or len(rows) > 100:
        return None
    taken = np.asarray(X[list(rows)].toarray() if is_sparse(X) else X[list(rows)])
    point = [
        sum((s * Fraction(value) for s, value, plus in zip(shares, column, positive, strict=True) if plus), Fraction())
        for column in taken.T.tolist()
    ]
    return [_exact(value) for value in point]


def _exact(value: Fraction) -> Answer:
    """A fraction as text for people, and as a double for drawing; `exact` says whether the text is not rounded."""
    text = str(value)
    if len(text) <= LONGEST_FRACTION:
        return {"text": text, "value": float(value), "exact": True}
    return {"text": f"{float(value):.6g}", "value": float(value), "exact": False}


def is_sparse(X: Any) -> bool:
    """Whether X is a SciPy sparse matrix, without loading SciPy."""
    return type(X).__module__.startswith("scipy.sparse")
