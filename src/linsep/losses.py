"""Losses, and descent along their slopes: what practice minimises, since the fewest mistakes are NP-hard to find.

A loss is a function of y·score: the side of a row, and its distance. The 0-1 loss counts mistakes and has no slope to
follow. The others have one; hinge and logistic are never below 0-1, so that making them small makes few mistakes.

    zero_one      1 for a mistake                 what should be small
    perceptron    max(0, -y·score)                Rosenblatt's; below 0-1 near 0
    hinge         max(0, 1 - y·score)             that of support vector machines
    logistic      log2(1 + exp(-y·score))         that of logistic regression, in bits

`descend` is the loop. With the perceptron loss, a step of 1 and one row at a time it is the Perceptron: the slope is -1
at a mistake and 0 elsewhere, so a step adds y·x to w and y to b there, and nothing elsewhere.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from linsep import arguments
from linsep.sources.base import Array, Floats
from linsep.sources.inputs import as_source

__all__ = ["Descended", "Loss", "descend", "hinge", "logistic", "perceptron", "zero_one"]


@dataclass(frozen=True, slots=True)
class Loss:
    """A function of y·score and its slope, both for arrays of any shape; at a kink, one of the slopes there.

    Attributes
    ----------
    name : str
        Its name.
    value, slope : callable
        Functions from arrays to arrays of the same shape. The loss itself can be called too, for its value.

    Examples
    --------
    >>> import numpy as np
    >>> from linsep import losses
    >>> losses.hinge.slope(np.array([-1.0, 2.0])).tolist()
    [-1.0, 0.0]
    """

    name: str
    value: Callable[[Any], Array]
    slope: Callable[[Any], Array]

    def __call__(self, score: Any) -> Array:
        """The loss of each row."""
        return self.value(np.asarray(score, np.float64))


class Descended(NamedTuple):
    """The weights after a step.

    Attributes
    ----------
    w, b
        The weights and the bias.

    Examples
    --------
    >>> from linsep import losses
    >>> losses.Descended([1.0], 0.0).b
    0.0
    """

    w: Floats
    b: float


zero_one = Loss("0-1", lambda m: np.where(m <= 0, 1.0, 0.0), np.zeros_like)
perceptron = Loss("perceptron", lambda m: np.maximum(0, -m), lambda m: np.where(m <= 0, -1.0, 0.0))
hinge = Loss("hinge", lambda m: np.maximum(0, 1 - m), lambda m: np.where(m < 1, -1.0, 0.0))
logistic = Loss(
    "logistic",
    lambda m: np.logaddexp(0, -m) / math.log(2),
    lambda m: -np.exp(-np.logaddexp(0, m)) / math.log(2),
)


def descend(
    X: Any, y: Any = None, *, loss: Loss, step: float = 1.0, rows: int | None = None, bias: bool = True
) -> Iterator[Descended]:
    """Descend along the slope of the mean loss from zero weights: yields the weights after each step, forever.

    Parameters
    ----------
    X, y : the rows and their labels
        As `decide` takes them.
    loss : Loss
        Such as `losses.logistic`.
    step : float
        The length of a step, as a multiple of the slope.
    rows : int or None
        How many rows a step uses: None for all (batch), 1 for one after the other (stochastic), again and again in
        the order of X.
    bias : bool
        False keeps the hyperplane through the origin.

    Yields
    ------
    Descended
        The weights after a step.

    Raises
    ------
    InputError
        The data cannot be used.

    Examples
    --------
    >>> from itertools import islice
    >>> import linsep
    >>> steps = linsep.losses.descend(*linsep.datasets.tao(), loss=linsep.losses.perceptron, rows=1, bias=False)
    >>> [step.w.tolist() for step in islice(steps, 4)]
    [[1.0, 0.0], [1.0, 1.0], [1.0, 1.0], [1.0, 1.0]]
    """
    source, step, bias = as_source(X, y), arguments.positive("step", step), arguments.flag("bias", bias)
    if not isinstance(loss, Loss):
        raise arguments.refused("loss", loss, "one of linsep.losses, such as linsep.losses.hinge")
    source.require_finite()
    block = source.take(np.arange(source.n_rows))
    return _descend(
        block.values, block.y.astype(np.float64), loss, step, min(len(block), arguments.cap("rows", rows)), bias
    )


def _descend(X: Any, y: Floats, loss: Loss, step: float, rows: int, bias: bool) -> Iterator[Descended]:
    w, b = np.zeros(X.shape[1]), 0.0
    while True:
        for start in range(0, len(y), rows):
            x, side = X[start : start + rows], y[start : start + rows]
            slope = side * loss.slope(side * (x @ w + b)) / len(side)
            w = w - step * (x.T @ slope)
            b = b - step * bias * float(slope.sum())
            yield Descended(w, b)
