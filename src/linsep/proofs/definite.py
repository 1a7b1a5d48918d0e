"""The positive-definite proof: rows that no hyperplane has on their sides, with short weights that need not cancel.

Let B be rows with signed vectors z_i, u_i positive integers, and p_i = u_i·z_i. The columns may first be multiplied by
any powers of two. With r = Σ p_i and G = Σ c_i p_i p_iᵀ, 0 <= c_i <= 1/|p_i|:

    If λ_min(G) > |r|, then w = 0 is the only w with z_i·w >= 0 on all of B.

For such a w let s_i = p_i·w >= 0. Then s_i <= |p_i||w|, hence s_i >= c_i s_i²/|w|, and the sum over B gives

    |r||w| >= r·w = Σ s_i >= wᵀGw/|w| >= λ_min(G)·|w|,

which only w = 0 allows. Powers of two in the columns map the vectors w one to one.

Which columns this is about. Let J be the columns (including the constant) that are not 0 on all of B. Some of them
may be linear combinations of others on B; these are the *dependences* of the proof, vectors v with z_i·v = 0 on B, each
with a column of its own that no later one has. Let K be J without these own columns: for every w there is a w' on K
alone with the same scores on B. The theorem is applied to K. So every w with z·w >= 0 on B has z·w = 0 on B: B is an
obstruction. The rows of B span every vector that is 0 outside J and 0 under every dependence: if all rows are such
vectors, B is a spread too.

The eigenvalue is bounded in `eigenvalues.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from operator import index
from typing import Any, Protocol, TypeAlias, final, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from linsep.errors import CertificateError
from linsep.proofs import checks
from linsep.proofs.checked_rows import Block, Rows, Values, each, scales_of
from linsep.proofs.device_bounds import bounds_on_device
from linsep.proofs.eigenvalues import Bounds, bounds_of
from linsep.signs import form_of, signs
from linsep.tables import is_sparse

Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]

MANY_ENTRIES = 1 << 20  # with this many entries in rows on a device, the proof is checked there


@runtime_checkable
class OnDevice(Rows, Protocol):
    """Rows that lie on a device."""

    facts: Any

    def there(self, rows: Sequence[int], columns: Any = None) -> tuple[Any, Any] | None:
        """Some rows and their signs as tensors on the device; None if they are sparse."""


@final
@dataclass(frozen=True, slots=True)
class ColumnDependence:
    """Columns with integer weights: `Σ weight·column = 0` on the rows of an obstruction. The first is its own.

    Column number `n_columns` is the constant of the bias.
    """

    columns: tuple[int, ...]
    weights: tuple[int, ...]

    def __post_init__(self) -> None:
        try:
            columns, weights = (tuple(int(index(n)) for n in numbers) for numbers in (self.columns, self.weights))
        except TypeError:
            raise CertificateError("The columns and weights of a dependence must be integers.") from None
        if not columns or len(columns) != len(weights):
            raise CertificateError(f"{len(columns)} columns and {len(weights)} weights do not make a dependence.")
        if min(columns) < 0 or len(set(columns)) != len(columns):
            raise CertificateError("The columns of a dependence must be distinct column numbers, counted from 0.")
        if not all(weights):
            raise CertificateError("The weights of a dependence must not be 0.")
        object.__setattr__(self, "columns", columns)
        object.__setattr__(self, "weights", weights)


def check_definite(
    rows: Rows, numbers: Sequence[int], weights: Sequence[int], dependences: Sequence[ColumnDependence], bias: bool
) -> NDArray[np.bool_]:
    """Check the theorem's condition for these rows; returns which columns, the constant last, are not 0 on them all."""
    if scales_of(rows) is not None:
        raise CertificateError(
            "A positive-definite obstruction is proved for doubles; these rows hold a number that is not a double."
        )
    checks.check_numbers(rows, numbers, weights, "obstruction")
    if not dependences and _holds_there(rows, numbers, weights, bias):
        return np.ones(rows.n_columns + bias, bool)
    taken, values, y = checks.taken(rows, numbers)
    width = rows.n_columns + bias
    for dependence in dependences:
        if max(dependence.columns) >= width:
            raise CertificateError(f"A dependence names column {max(dependence.columns)}; there are {width}.")
        require_zero(dependence, taken, values, rows.n_columns)
    used = np.append(used_columns(values), np.ones(int(bias), bool))
    kept = used.copy()
    kept[list(own_columns(dependences))] = False
    if not kept.any():
        raise CertificateError("The rows of the obstruction are 0 in every column.")
    columns = np.flatnonzero(kept[: rows.n_columns])
    bounds = bounds_of(some_columns(values, columns), y, weights, bias=bias and bool(kept[-1]))
    if not bounds.holds:
        raise CertificateError(
            f"The positive-definite obstruction (rows {checks.few(numbers)}) does not hold: the least eigenvalue is "
            f"at least {bounds.least:.3g}, the sum of the rows at most {bounds.length:.3g} long."
        )
    return used


def _holds_there(rows: Rows, numbers: Sequence[int], weights: Sequence[int], bias: bool) -> bool:
    """Whether rows on a device, with no column that is 0 on all, prove it there, which is fast for large matrices."""
    if not isinstance(rows, OnDevice) or len(numbers) * rows.n_columns < MANY_ENTRIES or not rows.facts.is_finite:
        return False
    bounds = bounds_there(rows, numbers, weights, None, bias=bias)
    return bounds is not None and bounds.holds


def bounds_there(
    rows: OnDevice, numbers: Sequence[int], weights: Sequence[int], columns: Any, *, bias: bool, room: float = 1.0
) -> Bounds | None:
    """What the device can prove about some rows, in some columns or in all; None if that is left to the host."""
    found = rows.there(numbers, columns)
    return None if found is None else bounds_on_device(*found, weights, bias=bias, room=room)


def own_columns(dependences: Sequence[ColumnDependence]) -> set[int]:
    """The columns that the dependences express by others: the first of each, which no later dependence may have."""
    own: set[int] = set()
    for dependence in dependences:
        if not own.isdisjoint(dependence.columns):
            raise CertificateError("A dependence has a column that is the own column of an earlier one.")
        own.add(dependence.columns[0])
    return own


def check_definite_span(
    rows: Rows,
    used: NDArray[np.bool_],
    dependences: Sequence[ColumnDependence],
    exempt: NDArray[np.int64] | None = None,
) -> None:
    """Every row, except those in `exempt`, is a linear combination of the rows of a proof that holds."""
    for numbers in outside(rows, used, dependences):
        strange = numbers if exempt is None else numbers[~np.isin(numbers, exempt)]
        if len(strange):
            raise CertificateError(f"Row {strange[0]} is not a linear combination of the rows of the obstruction.")


def outside(rows: Rows, used: NDArray[np.bool_], dependences: Sequence[ColumnDependence]) -> Any:
    """Block by block, the numbers of the rows outside the span of the proof's rows."""
    unused = ~used[: rows.n_columns]
    if not unused.any() and not dependences:
        return
    yield from each(rows, partial(_outside_in, unused, tuple(dependences), rows.n_columns))


def _outside_in(
    unused: NDArray[np.bool_], dependences: Sequence[ColumnDependence], n_columns: int, block: Block
) -> NDArray[np.int64]:
    numbers, values, _ = block
    strange = checks.has_entries(values, unused)
    for dependence in dependences:
        strange |= _scores(dependence, values, n_columns) != 0
    return np.asarray(numbers[strange])


def require_zero(dependence: ColumnDependence, numbers: Any, values: Values, n_columns: int) -> None:
    """The dependence holds on these rows."""
    bad = np.flatnonzero(_scores(dependence, values, n_columns))
    if len(bad):
        shown = checks.few(dependence.columns)
        raise CertificateError(f"Row {numbers[bad[0]]}: the dependence of the columns {shown} does not hold.")


def _scores(dependence: ColumnDependence, values: Values, n_columns: int) -> NDArray[np.int8]:
    """The exact signs of the dependence on some rows, computed from its columns alone."""
    pairs = list(zip(dependence.columns, dependence.weights, strict=True))
    constant = sum(weight for column, weight in pairs if column == n_columns)
    named = [(column, weight) for column, weight in pairs if column < n_columns]
    columns = np.array([column for column, _ in named], np.int64)
    return signs(form_of([weight for _, weight in named], constant), values[:, columns])


def used_columns(values: Values) -> NDArray[np.bool_]:
    """Which columns are not 0 on all of these rows."""
    if is_sparse(values):
        found = np.zeros(values.shape[1], bool)
        found[values.indices[values.data != 0]] = True
        return found
    return np.asarray((values != 0).any(axis=0), bool)


def some_columns(values: Values, columns: Integers) -> Values:
    """Some columns of some rows."""
    return values if len(columns) == values.shape[1] else values[:, columns]
