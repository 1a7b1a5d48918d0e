"""Halfspace: one side of a hyperplane, in floating point, with the two labels it tells apart."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Halfspace:
    """The rows x with `w·x + b > 0`."""

    w: NDArray[np.float64]
    b: float
    labels: tuple[Any, Any] = (-1, 1)
