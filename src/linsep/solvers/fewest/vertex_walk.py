"""A hyperplane with few mistakes: descent on a smooth loss, then simulated annealing over vertices.

The loss of a row is a sigmoid of its score: the steeper it is, the nearer to the step that counts mistakes. It is made
steeper from descent to descent. Floats find a set of rows to get right; exact arithmetic decides whether some
hyperplane does.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from linsep import loops
from linsep.solvers.clock import Clock
from linsep.sources.base import Floats, Ints

HOT, COLD = 1.0, 0.2  # in mean costs: how much worse a vertex may be and still be chosen often
STEPS_INWARD = 10.0 ** -np.arange(1, 13)
STEEPNESS = (10.0, 30.0, 100.0, 300.0, 1000.0, 3000.0)
DESCENT = 100  # steps downhill for each
SHAKEN = 300.0  # if less steep, all descents lead to the same place
SLICE = 2_000_000  # entries of steps between two checks of the clock: a tenth of a second
NEAR = 4_000  # rows: if there are more, the walk uses only those nearest to the hyperplane


class VertexWalk:
    """Walks over the rows z, unit vectors, whose mistakes have these costs; the best weights so far are kept."""

    def __init__(self, z: Floats, costs: Floats, clock: Clock) -> None:
        self.z, self.costs, self.clock = z, costs, clock
        self.random = np.random.default_rng(0)
        self.unit = float(np.median(costs)) if len(costs) else 1.0

    def start(self) -> Floats:
        """The weights of a logistic regression, which may end early."""
        width = self.z.shape[1]
        found = self._descended(self._logistic, np.zeros(width))
        return found if found.any() else np.eye(1, width)[0]

    def descend(
        self,
        near: Floats,
        steep: Sequence[float] = STEEPNESS,
        met: Callable[[float, Floats], object] | None = None,
    ) -> tuple[float, Floats]:
        """The least cost met in descents from some weights as the loss grows steeper, and weights that have it.

        `met` is called with the best so far before each descent: one may take seconds.
        """
        best = self.cost(near), near
        for steepness in steep:
            if met is not None:
                met(*best)
            if self.clock.is_over():
                break
            near = self._descended(self._sigmoid, near, steepness)
            best = min(best, (self.cost(near), near), key=lambda found: found[0])
        return best

    def shake(self, near: Floats) -> tuple[float, Floats]:
        """The same from perturbed weights: first a descent with the costs of the rows changed at random."""
        told, steep = self.costs, [steepness for steepness in STEEPNESS if steepness >= SHAKEN]
        self.costs = told * np.exp(self.random.standard_normal(len(told)))
        try:
            near = self._descended(self._sigmoid, near, SHAKEN)
        finally:
            self.costs = told
        return self.descend(near, steep)

    def _descended(self, loss: Any, w: Floats, *options: float) -> Floats:
        found = minimize(loss, w, options, "L-BFGS-B", jac=True, callback=self._look, options={"maxiter": DESCENT}).x
        length = np.linalg.norm(found)
        return np.asarray(found / length) if length > 0 else w

    def _look(self, intermediate_result: Any) -> None:
        """End a descent when the time is over."""
        if self.clock.is_over():
            raise StopIteration

    def _logistic(self, w: Floats) -> tuple[float, Floats]:
        """Σ cost·log(1 + exp(-score)), and its gradient."""
        scores = self.z @ w
        return float(self.costs @ np.logaddexp(0.0, -scores)), -(self.costs * expit(-scores)) @ self.z

    def _sigmoid(self, w: Floats, steepness: float) -> tuple[float, Floats]:
        """Σ cost·sigmoid(-steepness·score) of the unit vector of w, and its gradient."""
        length = np.linalg.norm(w)
        wrong = expit(-steepness * (self.z @ (w / length)))
        slope = -(self.costs * wrong * (1.0 - wrong) * steepness) @ self.z / length
        return float(self.costs @ wrong), np.asarray(slope - (slope @ w) * w / length**2)

    def walk(self, near: Floats, steps: int) -> tuple[float, Floats]:
        """The least cost met on a walk that begins near some weights, and weights that have it.

        With many rows the walk uses the nearest ones, as if the others did not change sides; the cost is that of all.
        """
        found = [near]
        for vertex, inward in self._vertices(near, steps):
            length = np.linalg.norm(inward)
            found += [vertex, -vertex]
            found += [vertex + step * inward / length for step in STEPS_INWARD] if length > 0 else []
        return min(((self.cost(v), v) for v in found), key=lambda one: one[0])

    def _vertices(self, near: Floats, steps: int) -> list[Floats]:
        """The best vertices of a walk, each with the direction into the cell beside it."""
        order = np.argsort(np.abs(self.z @ near))[:NEAR]
        z, costs, width = self.z[order], self.costs[order], self.z.shape[1]
        tight = self._tight_near(z, near)
        if width < 2 or len(tight) < width - 1:
            return [np.array([np.eye(1, width)[0], np.zeros(width)])]
        w = np.ascontiguousarray(np.linalg.svd(z[tight])[2][-1])
        w *= 1.0 if w @ near >= 0 else -1.0
        best, least = np.zeros((2, width)), np.inf
        heats = self.unit * HOT * (COLD / HOT) ** (np.arange(steps) / steps)
        for part in np.array_split(heats, -(-steps * z.size // SLICE)):
            draws = self.random.random((len(part), 2))
            least = loops.vertices.anneal(z, costs, tight, w, part, draws, least, best)
            if self.clock.is_over():
                break
        return [best]

    def cost(self, w: Floats) -> float:
        """What these weights cost, in floats: a score of 0 or NaN is a mistake."""
        return float(self.costs[~(self.z @ w > 0)].sum())

    def right(self, w: Floats) -> Ints:
        """The rows that these weights get right."""
        return np.flatnonzero(self.z @ w > 0)

    def _tight_near(self, z: Floats, near: Floats) -> Ints:
        """D - 1 independent rows close to the hyperplane."""
        order = np.argsort(np.abs(z @ near) * (1.0 + 0.2 * self.random.random(len(z))))
        width = z.shape[1]
        return independent(z, order, width - 1, 1e-4)


def independent(z: Floats, order: Ints, most: int, least: float) -> Ints:
    """The first rows in this order, at most so many, each of which has a part at least this long that is new."""
    directions, found = np.zeros((z.shape[1], 0)), list[int]()
    for i in order.tolist():
        if len(found) == most:
            break
        rest = z[i] - directions @ (directions.T @ z[i])
        size = np.linalg.norm(rest)
        if size > least:
            directions = np.column_stack([directions, rest / size])
            found.append(i)
    return np.array(found, np.int64)
