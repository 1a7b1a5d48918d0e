"""The largest margin when rows have more columns than there are rows that matter: only products of rows are used.

The widest hyperplane bisects the shortest segment between the hulls of the two classes (`margin.py` says why). Among
weights u >= 0 that add up to 1 in each class, this is the shortest v = Σ u_i z_i; |v|² = u·K·u with K the products of
the rows.

    w = a separator, by relaxation;  W = the rows of each class that are nearest to it
    repeat
        u = the weights of the shortest v on W      (weight moves between pairs of rows; then the support's equations)
        scan all rows under v                       (none is nearer than those of W: the widest)
        W += the rows that are nearer

Both ends of the interval hold for all rows: the upper end is the length of v, the lower one comes from the nearest row
of the scan. Nothing here has the size of columns².
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, qr, solve_triangular

from linsep import loops
from linsep.cores import one_thread
from linsep.solvers.clock import Clock
from linsep.solvers.margin_search import Widest, centre_of, quotient, scaled_values
from linsep.solvers.scaling import require_bytes, require_memory
from linsep.solvers.wide.relax import relax
from linsep.solvers.working_set import Separated, scan_safely
from linsep.sources.base import Block, Floats, Ints, Scan, Source, joined

FIRST, MORE = 500, 200  # rows of each class to begin with; and that are added at least, where there are as many
MOST = 4000  # rows in use at once: beyond that, the farthest rows without weight are dropped
ROUGHLY, FINER = 1e-2, 0.1  # how exactly weight is moved before the equations are tried; and before the next try
MOVES_A_CALL, MOST_MOVES = 2000, 100_000  # before the clock is checked; and in all
EXCHANGES, WORSE = 60, 4  # of rows of the support; and how often the number to exchange may rise
RIDGE = 2.0**-52  # of the largest product, on the diagonal
JOIN_A_CALL = 20  # rows, before the clock is checked
REFINED = 3  # times
MOST_ENTRIES = 1 << 24  # of a support whose rows themselves are used, not their products
TRIES = 8  # rounds without a better bound after which the interval is returned as it is
PROOF_SCANS, PROOF_COLUMN = 8, 4e-6  # what it takes to prove an interval: this many scans, and seconds for each column
FLOPS = 5e9  # per second, assumed for work that cannot be interrupted


@dataclass(slots=True)
class NearRows:
    """The rows in use: signed and scaled (z), their products, their groups and their weights."""

    block: Block
    z: Any
    gram: Floats
    group: Ints
    u: Floats

    def of(self, places: Ints) -> "NearRows":
        """Those at these places."""
        gram = self.gram[np.ix_(places, places)]
        return NearRows(self.block.take(places), self.z[places], gram, self.group[places], self.u[places])


class RowSearch:
    """The questions of `WidestSearch`, answered in the space of the rows; `best` are the bounds so far."""

    def __init__(self, source: Source, *, homogeneous: bool, gap: float, clock: Clock, has_bias: bool = True) -> None:
        self.source, self.homogeneous, self.gap, self.clock = source, homogeneous, gap, clock
        self.has_bias = has_bias
        self.best: Widest | None = None
        self.reserve = 0.0  # seconds
        self.start: tuple[Floats, float] | None = None  # a hyperplane: the search begins with the rows nearest to it

    def find_start(self) -> bool:
        """Look for a separator by relaxation; return whether one was found."""
        found = relax(self.source, bias=self.has_bias, clock=self.clock)
        if isinstance(found, Separated):
            self.start = found.w, found.b
        return isinstance(found, Separated)

    def run(self) -> Widest | None:
        """The widest hyperplane of rows that are known to have one; None if floats find none."""
        with one_thread(), np.errstate(all="ignore"):  # floats only guide: results outside their range are not trusted
            return self._run()

    def _run(self) -> Widest | None:
        if self.start is None:
            return None
        near = self._begin(*self.start)
        if near is None:
            return None
        waited, exactly, is_sharp = 0, self.gap / 4, False
        while waited < TRIES:
            sharp = self._sharpened(near) if is_sharp else None
            if sharp is None:
                self._solve(near, exactly)
            v, constant = sharp or self._combined(near)
            found, scan = self._bounds(near, v, constant)
            better = found if self.best is None else self.best.joined(found)
            waited += self.best is not None and (better.low, better.high) == (self.best.low, self.best.high)
            self.best = better
            if not self.homogeneous:
                self.clock.saw(*np.ldexp([better.low, better.high], -self.centre.exponent).tolist())
            if better.low >= better.high * (1 - self.gap):
                break
            short = self._shorter(near, scan.worst, v, constant)
            if not len(short):
                exactly, waited, is_sharp = exactly * FINER, waited + TRIES // 4, True
            near = self._with(near, short, v, constant)
        return self.best

    def _require_time(self, seconds: float = 0.0) -> None:
        """Raise OutOfTime unless this many seconds are left besides those that the proof of the result needs."""
        self.clock.check()
        self.clock.require(seconds + self.reserve)

    # The rows looked at --------------------------------------------------------------------------

    def _begin(self, w: Floats, b: float) -> NearRows | None:
        """The rows of each class that are nearest to a hyperplane, with all weight on the nearest.

        Where the constant of a hyperplane outweighs every score, the rows of one class come first; None where floats
        cannot tell.
        """
        began = self.clock.seconds
        w, b, scan = scan_safely(self.source, w, b, worst=0)
        self.reserve = PROOF_SCANS * (self.clock.seconds - began) + PROOF_COLUMN * self.source.n_columns
        beyond = 2 * (self._reach(w, scan) + abs(b))  # no score is so far from 0
        shifts = (-beyond, beyond) if math.isfinite(max(scan.lowest)) else (0.0,)  # Kesler's rows are all of one class
        sides = [self.source.scan(w, b + shift, worst=FIRST).worst for shift in shifts]
        self.clock.reads += 1 + len(sides)
        if len(sides) == 2 and (sides[0].y[0] != 1 or sides[1].y[0] != -1):
            return None
        both = joined(sides)
        block = both.take(np.unique(both.row_numbers, return_index=True)[1])
        self.centre = centre_of(
            self.source, block, homogeneous=self.homogeneous, has_bias=self.has_bias, is_moved=not block.is_sparse
        )
        near = self._looked_at(block)
        for side in sides[: len(set(near.group.tolist()))]:
            near.u[block.row_numbers == side.row_numbers[0]] = 1.0
        self.best = self._interval(near, w, b, scan, *self._combined(near))
        return near

    def _reach(self, w: Floats, scan: Scan) -> float:
        """No |w·x| is larger: by the longest row, or by two scans where its square may have left the range."""
        if 1e-280 < scan.longest2 < 1e280:
            return float(np.linalg.norm(w)) * math.sqrt(scan.longest2)
        return max(abs(score) for sign in (1.0, -1.0) for score in self.source.scan(sign * w, 0.0).lowest)

    def _looked_at(self, block: Block) -> NearRows:
        """Rows relative to the centre, without weight."""
        if not block.is_sparse:
            require_memory(len(block), block.n_columns)
        z = scaled_values(block, self.centre.exponent)
        if block.is_sparse:
            z.data *= np.repeat(block.y, np.diff(z.indptr))
        else:
            z -= self.centre.point
            z *= block.y[:, None]
        group = np.zeros(len(block), np.int64) if self.homogeneous else (block.y > 0).astype(np.int64)
        return NearRows(block, z, self._products(z, block, z, block), group, np.zeros(len(block)))

    def _products(self, z: Any, block: Block, other_z: Any, other: Block) -> Floats:
        """The products of the rows of one set with those of another."""
        work = len(block) * (2.0 * len(other) * block.n_columns if not block.is_sparse else 10.0 * other_z.nnz)
        self._require_time(work / FLOPS)
        product = z @ other_z.T
        gram: Floats = product if isinstance(product, np.ndarray) else product.toarray()
        if self.homogeneous:
            gram += self.centre.constant**2 * np.multiply.outer(block.y, other.y)
        return gram

    def _with(self, near: NearRows, found: Block, v: Floats, constant: float) -> NearRows:
        """The rows in use and others; if there are too many, those with weight or near stay."""
        if len(near.block) + len(found) > MOST:
            score = np.where(near.u > 0, -np.inf, self._scores(near, v, constant))
            near = near.of(np.sort(np.argsort(score, kind="stable")[: max(MOST // 2, np.count_nonzero(near.u))]))
        if not len(found):
            return near
        rows = len(near.block) + len(found)
        require_bytes(3 * 8 * rows * rows, f"The products of {rows:,} rows must be held at once")
        new = self._looked_at(found)
        beside = self._products(near.z, near.block, new.z, new.block)
        z = np.concatenate([near.z, new.z]) if isinstance(near.z, np.ndarray) else vstack(near.z, new.z)
        return NearRows(
            near.block + new.block,
            z,
            np.block([[near.gram, beside], [beside.T, new.gram]]),
            np.concatenate([near.group, new.group]),
            np.concatenate([near.u, new.u]),
        )

    # The shortest v ------------------------------------------------------------------------------

    def _solve(self, near: NearRows, exactly: float) -> None:
        """The weights of the shortest v: first roughly, and then by the equations of a support that is nearly known."""
        tolerance = max(ROUGHLY, exactly)
        while True:
            self._move(near, tolerance)
            if self._is_settled(near) or self._is_settled_slowly(near) or tolerance <= exactly:
                return
            tolerance = max(tolerance * FINER, exactly)

    def _move(self, near: NearRows, tolerance: float) -> None:
        g = near.gram @ near.u
        for _ in range(0, MOST_MOVES, MOVES_A_CALL):
            self._require_time()
            is_done, _ = loops.pairs.move_weight(near.gram, near.group, near.u, g, tolerance, MOVES_A_CALL)
            if is_done:
                break

    def _is_settled(self, near: NearRows) -> bool:
        """Exchange rows of the support until its equations have positive weights, and no other row is nearer.

        All that are wrong are exchanged at once, while they get fewer (Júdice and Pires, A block principal pivoting
        algorithm, 1994). If they do not, or the equations cannot be solved, the weights stay as they are.
        """
        inside, fewest, left = near.u > 0, len(near.u) + 1, WORSE
        for _ in range(EXCHANGES):
            support = np.flatnonzero(inside)
            self._require_time(len(support) ** 3 / FLOPS)
            equations = Equations.of(near, support)
            if equations is None:
                return False
            u, level = equations.weights()
            short = near.gram[:, support] @ u - level[near.group]
            wrong = ~inside & (short < -1e-12 * np.abs(level).max())
            wrong[support] = u <= 0
            count = int(np.count_nonzero(wrong))
            if not count:
                near.u[:] = 0.0
                near.u[support] = self._refined(near, equations, u)
                return True
            left = WORSE if count < fewest else left - 1
            fewest = min(fewest, count)
            if not left:
                return False
            inside ^= wrong
            if len(set(near.group[inside].tolist())) < len(set(near.group.tolist())):
                return False
        return False

    def _is_settled_slowly(self, near: NearRows) -> bool:
        """The same, one row at a time: it gets there where rows are combinations of others, or nearly."""
        most = min(len(near.u), near.block.n_columns + 2)
        require_bytes(8 * most * most, f"The equations of {most:,} rows must be held at once")
        u, support, factor = near.u.copy(), np.zeros(most, np.int64), np.zeros((most, most))
        order = np.flatnonzero(u)[np.argsort(-u[u > 0], kind="stable")]
        facts = near.gram, near.group, float(near.gram.diagonal().max(initial=0.0))
        size, is_done = loops.supports.begin(*facts, order, u, support, factor), False
        for _ in range(0, len(u), JOIN_A_CALL):
            self._require_time()
            is_done, size = loops.supports.settle(*facts, u, support, size, factor, JOIN_A_CALL)
            if is_done or not size:
                break
        if size:
            near.u[:] = u
        return is_done and bool(size)

    def _refined(self, near: NearRows, equations: "Equations", u: Floats) -> Floats:
        """The weights, corrected for the rounding of the products by using the rows themselves."""
        z, y = near.z[equations.support], near.block.y[equations.support]
        for _ in range(REFINED):
            levels = z @ (u @ z)
            if self.homogeneous:
                levels += self.centre.constant**2 * y * (u @ y)
            better = u + equations.correction(levels)
            if not (better > 0).all():
                break
            u = better
        return u

    def _sharpened(self, near: NearRows) -> tuple[Floats, float] | None:
        """v and its constant from the rows of the support themselves, where their products have lost too many digits.

        Rows of opposite classes that nearly coincide differ in the last digits of their products. None where that does
        not lead to weights that are positive, and to no nearer row.
        """
        inside = near.u > 0
        for _ in range(EXCHANGES):
            support = np.flatnonzero(inside)
            self._require_time(2.0 * near.block.n_columns * len(support) ** 2 / FLOPS)
            found = self._shortest_at(near, support)
            if found is None:
                return None
            w, b, multipliers = found
            wrong = ~inside & (self._scores(near, w, b) < 1 - self.gap / 4)
            wrong[support] = multipliers <= 0
            if not wrong.any():
                near.u[:] = 0.0
                near.u[support] = multipliers
                near.u /= np.bincount(near.group, near.u)[near.group]
                size = (1.0 if self.homogeneous else 2.0) / (float(w @ w) + (b**2 if self.homogeneous else 0.0))
                return size * w, size * b
            inside ^= wrong
        return None

    def _shortest_at(self, near: NearRows, support: Ints) -> tuple[Floats, float, Floats] | None:
        """The shortest w with a score of 1 on these rows, its constant, and the multipliers; by an orthogonal basis.

        With zᵀ = QR and w = Qg: Rᵀg = 1 - b·y, and the multipliers R⁻¹g of both classes sum up to the same.
        """
        z, y = near.z[support], near.block.y[support].astype(np.float64)
        used = np.flatnonzero(abs(z).sum(axis=0))
        if not 0 < len(support) <= len(used) or len(support) * len(used) > MOST_ENTRIES:
            return None
        z = z[:, used] if isinstance(z, np.ndarray) else z[:, used].toarray()
        if self.homogeneous:
            z = np.column_stack([z, self.centre.constant * y])
        basis, triangle = qr(z.T, mode="economic", check_finite=False)
        if not np.abs(np.diag(triangle)).min() > 0:
            return None

        def back(right: Floats) -> Floats:
            return np.asarray(solve_triangular(triangle, right, trans=1, check_finite=False))

        against = np.zeros(len(y)) if self.homogeneous else back(y)
        precise, g, b = z.astype(np.longdouble), np.zeros(len(y)), 0.0
        for _ in range(REFINED):
            left = 1 - (precise @ (basis @ g) + (0.0 if self.homogeneous else b) * y)
            g += back(left.astype(np.float64))
            if not self.homogeneous:
                more = float(against @ g) / float(against @ against)
                g, b = g - more * against, b + more
        w, multipliers = np.zeros(near.block.n_columns), solve_triangular(triangle, g, check_finite=False)
        if not self.homogeneous:  # what rounding left between the sums of both classes
            apart = float(y @ multipliers) / float(against @ against)
            multipliers -= apart * solve_triangular(triangle, against, check_finite=False)
        found = basis @ g
        w[used] = found[: len(used)]
        b = float(found[-1]) if self.homogeneous else b
        return (w, b, multipliers) if np.isfinite(multipliers).all() and np.isfinite(b) else None

    # Bounds --------------------------------------------------------------------------------------

    def _combined(self, near: NearRows) -> tuple[Floats, float]:
        """v, and what the constant is multiplied with: of two groups, so that both are equally far."""
        support = np.flatnonzero(near.u)
        z, u = near.z[support], near.u[support]
        v: Floats = u @ z
        if self.homogeneous:
            return v, self.centre.constant * float(u @ near.block.y[support])
        score = near.z @ v
        return v, float(score[near.group == 0].min() - score[near.group == 1].min()) / 2

    def _scores(self, near: NearRows, v: Floats, constant: float) -> Floats:
        return np.asarray(near.z @ v + near.block.y * (constant * self.centre.constant))

    def _bounds(self, near: NearRows, v: Floats, constant: float) -> tuple[Widest, Scan]:
        """The bounds that v and its weights show, and the scan of all rows."""
        w, b = self.centre.halfspace(np.append(v, constant))
        w, b, scan = scan_safely(self.source, w, b, worst=max(MORE, len(near.block) // 2))
        self.clock.reads += 1
        return self._interval(near, w, b, scan, v, constant), scan

    def _interval(self, near: NearRows, w: Floats, b: float, scan: Scan, v: Floats, constant: float) -> Widest:
        """From below by the nearest row to a hyperplane, from above by the weights of v."""
        if self.homogeneous:
            least, high = min(scan.lowest), math.hypot(float(np.linalg.norm(v)), constant)
        else:  # the bias is free: as far from one class as from the other
            b += (scan.lowest[0] - scan.lowest[1]) / 2
            least, high = sum(scan.lowest) / 2, float(np.linalg.norm(v)) / 2
        length = math.hypot(*w.tolist(), b if self.homogeneous else 0.0)  # no square that under- or overflows
        low = quotient(least, length, self.centre.exponent)
        support = np.flatnonzero(near.u)
        return Widest(w, b, near.block.take(support), near.u[support], low, high)

    def _shorter(self, near: NearRows, found: Block, v: Floats, constant: float) -> Block:
        """The rows found that are not in use, and are nearer than those that are."""
        new = found.take(np.flatnonzero(~np.isin(found.row_numbers, near.block.row_numbers)))
        if not len(new):
            return new
        z = scaled_values(new, self.centre.exponent)
        score = new.y * (z @ v - self.centre.point @ v + constant * self.centre.constant)
        level = float(v @ v) / 2 if not self.homogeneous else float(v @ v) + constant**2
        return new.take(np.flatnonzero(score < level * (1 - min(self.gap, 0.5) / 4)))


@dataclass(frozen=True, slots=True)
class Equations:
    """What u must solve on a support: K·u is the same for all rows of a group, and u sums up to 1 in each.

    A constant added to all products within a group adds it to their level, and changes no u. It makes K definite
    unless the support has too many rows.
    """

    support: Ints
    marks: Floats  # which of the groups a row is of
    constant: float
    solve: Callable[[Floats], Floats]
    level_weights: Floats  # the weights that make K·u the mark of a group

    @classmethod
    def of(cls, near: NearRows, support: Ints) -> "Equations | None":
        """The equations of some rows; None where they cannot be solved."""
        gram = near.gram[np.ix_(support, support)]
        marks = (near.group[support, None] == np.unique(near.group)[None, :]).astype(np.float64)
        constant = float(gram.diagonal().max(initial=0.0))
        gram += constant * (marks @ marks.T)
        gram.flat[:: len(support) + 1] += RIDGE * len(support) * constant
        try:
            factor = cho_factor(gram, lower=True, overwrite_a=True, check_finite=False)
        except LinAlgError:
            return None

        def solve(right: Floats) -> Floats:
            return np.asarray(cho_solve(factor, right, check_finite=False))

        level_weights = solve(marks)
        sums = marks.T @ level_weights
        is_solved = np.isfinite(sums).all() and float(np.linalg.det(sums)) > 0
        return cls(support, marks, constant, solve, level_weights) if is_solved else None

    def weights(self) -> tuple[Floats, Floats]:
        """The weights, and the level of each group."""
        level = self._level(np.ones(self.marks.shape[1]))
        return self.level_weights @ level, level - self.constant

    def correction(self, levels: Floats) -> Floats:
        """What to add to weights under which the rows have these levels."""
        away = self.solve(levels)
        return np.asarray(self.level_weights @ self._level(self.marks.T @ away) - away)

    def _level(self, sums: Floats) -> Floats:
        return np.asarray(np.linalg.solve(self.marks.T @ self.level_weights, sums))


def vstack(a: Any, b: Any) -> Any:
    """Two sets of sparse rows, one below the other."""
    import scipy.sparse as sp

    return sp.vstack([a, b], format="csr")
