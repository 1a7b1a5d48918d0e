"""Regions: hyperplanes read from the first to the last, which between them put every row into a region of one class.

A cut sends the rows above it, w·x + b > 0, one way, and all others another: to a later cut, or into a region. Most cuts
take rows of one class only. One that does not divides the rows, and each part has cuts of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from linsep.errors import CertificateError, ShapeError, told
from linsep.report import SHOWN, Fact, Grid, Part, Report, Reported, Sentence, column_names, count, linear, one_line, row_grid
from linsep.signs import form_of, scaled_floats, signs
from linsep.tables import is_sparse, read_exact, read_labels, require_finite
from linsep.tables.label_values import distinct

Label: TypeAlias = str | int | float | bool
Ints: TypeAlias = NDArray[np.int64]


@final
@dataclass(frozen=True, slots=True)
class Cut:
    """A hyperplane with integer weights; `above` and `below` name a later cut, or ~k for a region of class k."""

    weights: tuple[int, ...]
    bias_weight: int
    above: int
    below: int
