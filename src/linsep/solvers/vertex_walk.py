"""A hyperplane with few mistakes: a walk over the vertices of the arrangement that cools down, from several starts.

What floats find is a set of rows to get right; whether some hyperplane does is for exact arithmetic to say.
"""

import numpy as np

from linsep import loops
from linsep.sources.base import Floats, Ints

HOT, COLD = 2.0, 0.2  # mean costs: how much worse a vertex may be that is often chosen
STEPS_INWARD = 10.0 ** -np.arange(1, 13)


class VertexWalk:
    """Walks over the rows z, unit vectors, whose mistakes have these costs; the best weights so far are kept."""

    def __init__(self, z: Floats, costs: Floats, seed: int = 0) -> None:
        self.z, self.costs = z, costs
        self.random = np.random.default_rng(seed)
        self.unit = float(np.median(costs)) if len(costs) else 1.0

    def start(self) -> Floats:
        """The weights of least squares: every row wants the score 1."""
        found = np.linalg.lstsq(self.z, np.ones(len(self.z)), rcond=None)[0]
        return np.asarray(found / max(np.linalg.norm(found), 1e-300))

    def walk(self, near: Floats, steps: int) -> tuple[float, Floats]:
        """The least cost met on a walk that begins near some weights, and weights that have it."""
        tight = self._tight_near(near)
        width = self.z.shape[1]
        if len(tight) < width - 1:
            return self.cost(near), near
        w = np.linalg.svd(self.z[tight])[2][-1] if width > 1 else np.ones(1)
        w = w if w @ near >= 0 else -w
        best, seed = np.zeros((2, width)), int(self.random.integers(2**31))
        if width > 1:
            hot, cold = HOT * self.unit, COLD * self.unit
            loops.vertices.anneal(self.z, self.costs, tight, np.ascontiguousarray(w), hot, cold, steps, seed, best)
        candidates = [near, w, -w, *self._inward(best)]
        return min(((self.cost(v), v) for v in candidates), key=lambda found: found[0])

    def cost(self, w: Floats) -> float:
        """What these weights cost, as floats see it: a score of 0, or none at all, is a mistake."""
        return float(self.costs[~(self.z @ w > 0)].sum())

    def right(self, w: Floats) -> Ints:
        """The rows that these weights get right."""
        return np.flatnonzero(self.z @ w > 0)

    def _inward(self, best: Floats) -> list[Floats]:
        """Weights a little way into the cell beside a vertex: how little depends on how narrow it is."""
        vertex, inward = best
        length = np.linalg.norm(inward)
        return [vertex + step * inward / length for step in STEPS_INWARD] if length > 0 else []

    def _tight_near(self, near: Floats) -> Ints:
        """D - 1 independent rows close to the hyperplane."""
        order = np.argsort(np.abs(self.z @ near) * (1.0 + 0.2 * self.random.random(len(self.z))))
        width = self.z.shape[1]
        directions, found = np.zeros((width, 0)), []
        for i in order.tolist():
            if len(found) == width - 1:
                break
            rest = self.z[i] - directions @ (directions.T @ self.z[i])
            size = np.linalg.norm(rest)
            if size > 1e-4:
                directions = np.column_stack([directions, rest / size])
                found.append(i)
        return np.array(found, np.int64)
