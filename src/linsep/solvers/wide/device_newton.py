"""Many columns on a device: Newton's method of `newton.py` with its rows, Gram matrix and proof on the device.

The matrices stay on the device; scores, the line search and the weights are vectors and come here. Rows with linearly
dependent columns, or that need more memory than the device has, are left to `newton.py`.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.exact import original_multipliers
from linsep.proofs import Obstruction
from linsep.proofs.definite import bounds_there
from linsep.solvers.clock import Clock
from linsep.solvers.exact.exact_outcomes import Settled
from linsep.solvers.wide.newton import EVEN, FIRST_ROWS, LAST, LESS, MORE_ROWS, RIDGE, line_search
from linsep.solvers.wide.short_weights import (
    LEAST_KEPT,
    LONG_BITS,
    ROOM,
    ROWS_A_COLUMN,
    SHORT_BITS,
    TINY,
    Blocked,
    is_about_doubles,
)
from linsep.solvers.wide.short_weights import LESS as FEWER
from linsep.solvers.working_set import Separated, is_separated, scan_safely
from linsep.sources.base import Floats, Ints, Source, distinct_rows
from linsep.sources.device.device_tables import DenseTable
from linsep.sources.device.gpu import DeviceSource

FEWEST_COLUMNS = 200
MOST_STEPS = 60
COPIES = 4.0  # of the rows in use, as doubles, that must fit into the free memory of the device
TRIES = 30  # attempts to make all weights positive
FAR = 300  # exponents: columns beyond this are not handled here


def search(source: Source, columns: Ints, *, bias: bool, clock: Clock) -> Separated | Settled | Blocked | None:
    """A separator of all rows or a positive-definite proof that there is none; None if neither is found."""
    if not isinstance(source, DeviceSource) or not isinstance(source.table, DenseTable):
        return None
    width = len(columns) + bias
    if width < FEWEST_COLUMNS or not is_about_doubles(source):
        return None
    n_rows = source.n_rows if source.n_rows <= 2 * FIRST_ROWS * width else FIRST_ROWS * width
    if not source.table.has_room(COPIES * 8 * (n_rows + 2 * width) * width):
        return None
    rows = DeviceRows(source, source.table, columns, bias, distinct_rows(source.n_rows, n_rows, 1))
    return DeviceNewton(rows).run(clock) if rows.are_alike else None


class DeviceRows:
    """Signed rows as doubles on the device; a power of two for each column makes its largest entry about 1."""

    def __init__(self, source: DeviceSource, table: DenseTable, columns: Ints, bias: bool, numbers: Ints) -> None:
        self.source, self.table, self.columns, self.bias = source, table, columns, bias
        self.torch, self.place, self.width = source.torch, table.place, len(columns) + bias
        self.scale = np.ones(self.width)
        self.look_at(numbers)
        exponents = np.frexp(self.here(self.z.abs().amax(dim=0)))[1]
        self.are_alike = bool(np.abs(exponents).max() <= FAR)
        self.scale = np.ldexp(1.0, -exponents)
        self.z *= self.there(self.scale)

    def look_at(self, numbers: Ints) -> None:
        """Use these rows."""
        found = self.source.there(numbers, self.columns)
        assert found is not None  # the rows are dense
        values, signs = found
        self.numbers = numbers
        self.z = self.torch.empty((len(numbers), self.width), dtype=self.torch.float64, device=self.place)
        self.z[:, : len(self.columns)] = values
        self.z[:, len(self.columns) :] = 1.0
        self.z *= self.there(self.scale)
        self.z *= signs[:, None]

    def look_at_more(self, numbers: Ints) -> bool:
        """Use these rows as well; return whether some are new and there is room for them."""
        more = np.union1d(self.numbers, numbers)
        if len(more) == len(self.numbers) or not self.table.has_room(
            COPIES * 8 * (len(more) + self.width) * self.width
        ):
            return False
        self.look_at(more)
        return True

    def some(self, rows: Ints) -> Any:
        """Some of the rows."""
        return self.z if len(rows) == len(self.z) else self.z[self.torch.from_numpy(rows).to(self.place)]

    def there(self, vector: Floats) -> Any:
        """A vector, on the device."""
        return self.torch.from_numpy(np.ascontiguousarray(vector, dtype=np.float64)).to(self.place)

    def here(self, vector: Any) -> Floats:
        """A vector from the device, on this machine."""
        return np.asarray(vector.cpu().numpy())

    def halfspace(self, w: Floats) -> tuple[Floats, float]:
        """Weights of these columns as weights of all, and the bias."""
        own, weights = w * self.scale, np.zeros(self.source.n_columns)
        weights[self.columns] = own[: len(self.columns)]
        return weights, float(own[-1]) if self.bias else 0.0


class DeviceNewton:
    """Σ max(0, 1 - z·w)² over some rows of a device, and the way down."""

    def __init__(self, rows: DeviceRows) -> None:
        self.rows, self.torch = rows, rows.torch
        mean = rows.z.mean(dim=0)
        self.w = rows.here(mean) * line_search(np.zeros(len(rows.z)), rows.here(rows.z @ mean))
        self.look()
        mean_square = max(float(self.gram.diagonal().sum()) / rows.width, 1.0)
        self.metric = self.gram / mean_square
        self.metric.diagonal().add_(EVEN)
        self.ridge: float = RIDGE * mean_square
        self.last_ridge: float = LAST * self.ridge

    def look(self) -> None:
        """The scores of the rows, and the Gram matrix of those in force."""
        self.scores = self.rows.here(self.rows.z @ self.rows.there(self.w))
        self.in_force = self.scores < 1.0
        self.gram: Any = self._gram(self.in_force)

    def _gram(self, which: npt.NDArray[np.bool_]) -> Any:
        rows = self.rows.some(np.flatnonzero(which))
        return rows.T @ rows

    def run(self, clock: Clock) -> Separated | Settled | Blocked | None:
        """Steps down, until the rows are separated or proved not to be."""
        for _ in range(MOST_STEPS):
            clock.check()
            is_lowest = self.step()
            if self.scores.min() > 0:
                w, b, scan = scan_safely(self.rows.source, *self.rows.halfspace(self.w), worst=MORE_ROWS * len(self.w))
                clock.reads += 1
                if is_separated(self.rows.source, w, b, scan):
                    nobody = self.rows.source.take(np.zeros(0, np.int64))
                    return Separated(w, b, min(scan.lowest), nobody, np.zeros(0))
                if not self.rows.look_at_more(scan.worst.row_numbers):
                    return None
                self.look()
            elif is_lowest:
                found = self.proved(clock)
                if found is not None or self.ridge < self.last_ridge:
                    return found
                self.ridge *= LESS
        return None

    def step(self) -> bool:
        """One step down; return whether it ended at the minimum."""
        torch = self.torch
        w, short = self.rows.there(self.w), np.maximum(1.0 - self.scores, 0.0)
        right = self.rows.there(short) @ self.rows.z - self.ridge * (self.metric @ w)
        factor, failed = torch.linalg.cholesky_ex(self.gram + self.ridge * self.metric)
        while int(failed):
            self.ridge *= 10
            factor, failed = torch.linalg.cholesky_ex(self.gram + self.ridge * self.metric)
        direction = torch.cholesky_solve(right[:, None], factor)[:, 0]
        pull = self.ridge * (self.metric @ direction)
        slopes, start, bend = self.rows.here(self.rows.z @ direction), float(w @ pull), float(direction @ pull)
        size = line_search(self.scores, slopes, start, bend)
        self.w = self.w + size * self.rows.here(direction)
        self.scores = self.scores + size * slopes
        in_force = self.scores < 1.0
        entered, left = in_force & ~self.in_force, self.in_force & ~in_force
        if 2 * (np.count_nonzero(entered) + np.count_nonzero(left)) > np.count_nonzero(in_force):
            self.gram = self._gram(in_force)
        else:
            for changed, sign in ((entered, 1.0), (left, -1.0)):
                if changed.any():
                    self.gram.add_(self._gram(changed), alpha=sign)
        self.in_force = in_force
        return not entered.any() and not left.any() and abs(size - 1.0) < 1e-6

    def proved(self, clock: Clock) -> Settled | Blocked | None:
        """The proof that no weights separate the rows in force, with few of them if that is enough."""
        rows = np.flatnonzero(self.in_force)
        whole = self._cancelled(rows, (1.0 - self.scores)[rows], clock)
        if whole is None:
            return None
        few = self._thinned(*whole, clock)
        return (few and self._rounded(*few, clock)) or self._rounded(*whole, clock)

    def _thinned(self, rows: Ints, u: Floats, clock: Clock) -> tuple[Ints, Floats] | None:
        """The same with only the rows of the largest weights; None if those are not fewer."""
        found: tuple[Ints, Floats] | None = None
        while True:
            most = int(max(ROWS_A_COLUMN * len(self.w), LEAST_KEPT * len(rows)))
            if most > FEWER * len(rows):
                return found
            kept = np.sort(np.argsort(-u, kind="stable")[:most])
            fewer = self._cancelled(rows[kept], u[kept], clock)
            if fewer is None:
                return found
            found = rows, u = fewer

    def _cancelled(self, rows: Ints, u: Floats, clock: Clock) -> tuple[Ints, Floats] | None:
        """Weights near u, in proportion to their size, with Σ u z = 0 as far as floats can tell; rows may drop out."""
        torch = self.torch
        for _ in range(TRIES):
            clock.check()
            kept = u > TINY * u.max(initial=0.0)
            rows, u = rows[kept], u[kept]
            if len(rows) <= len(self.w):
                return None
            z, weights = self.rows.some(rows), self.rows.there(u)
            scaled = z * weights[:, None]
            factor, failed = torch.linalg.cholesky_ex(scaled.T @ scaled)
            if int(failed):
                return None
            found = weights
            for _ in range(3):
                found = found - weights * (scaled @ torch.cholesky_solve((found @ z)[:, None], factor)[:, 0])
            moved = self.rows.here(found)
            if not np.isfinite(moved).all():
                return None
            if moved.min() > TINY * moved.max():
                return rows, moved
            u = np.maximum(moved, 0.0)
        return None

    def _rounded(self, rows: Ints, u: Floats, clock: Clock) -> Settled | Blocked | None:
        """The weights as integers of as few bits as seem enough, if that is a proof."""
        clock.check()
        z = self.rows.some(rows)
        least = self._least(z, u / u.max())
        for bits in range(SHORT_BITS, LONG_BITS + 1):
            whole = np.maximum(np.rint(np.ldexp(u / u.max(), bits)), 1.0)
            length = float(np.linalg.norm(self.rows.here(self.rows.there(whole) @ z))) / 2.0**bits
            if bits < LONG_BITS and 1.2 * ROOM * length > least:
                continue
            weights = original_multipliers(whole.astype(np.int64).tolist(), [0] * len(rows))
            return self._held(self.rows.numbers[rows].tolist(), weights)
        return None

    def _held(self, numbers: list[int], weights: tuple[int, ...]) -> Settled | Blocked | None:
        """What these rows and weights prove; if all columns are in it, they span every row."""
        rows = self.rows
        bounds = bounds_there(rows.source, numbers, weights, rows.columns, bias=rows.bias, room=ROOM)
        if bounds is None or not bounds.holds:
            return None
        if len(rows.columns) < rows.source.n_columns:
            return Blocked(rows.source.take(numbers), weights, ())
        found = Obstruction(tuple(numbers), weights, dependences=())
        return Settled("overlapping", obstruction=found, spread=found)

    def _least(self, z: Any, u: Floats) -> float:
        """The approximate least eigenvalue of the proof's matrix, by the power method on its inverse."""
        torch, weights = self.torch, self.rows.there(u)
        p = z * weights[:, None]
        lengths = self.rows.here(p.square().sum(dim=1).sqrt())
        p *= self.rows.there(np.ldexp(1.0, np.frexp(lengths)[1] // -2))[:, None]
        factor, failed = torch.linalg.cholesky_ex(p.T @ p)
        if int(failed):
            return 0.0
        v = self.rows.there(np.random.default_rng(0).standard_normal(len(self.w)))
        size = 1.0
        for _ in range(12):
            v = v / v.norm()
            v = torch.cholesky_solve(v[:, None], factor)[:, 0]
            size = float(v.norm())
        return 1.0 / size
