"""Many columns: a separator or the weights of a positive-definite proof, by Newton's method on few rows.

    W = a sample of the rows, a few for each column
    repeat
        minimise Σ max(0, 1 - z·w)² over W
        every z·w > 0 on W: scan all rows, add the worst to W         (no mistake: a separator)
        else u = max(0, 1 - z·w) cancels, Σ u z = 0, at the minimum   (the gradient): prove it

The sum is convex and piecewise quadratic: with the rows in force known, those with z·w < 1, its minimum is the
solution of one linear system. A step goes there as far as an exact line search lets it; the rows in force change, a few
at a time in the end, and the Gram matrix follows them. A little of |w|² is added, less and less, so that the system has
a solution from the start. Rows are never dropped from W, so the minimum rises with every scan.

Floats guide; what is found is proved by `proofs.definite`, and handed on only if that holds.
Mangasarian, A finite Newton method for classification (2002). Keerthi and DeCoste (2005).
"""

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep.cores import one_thread
from linsep.proofs.eigenvalues import gram_of
from linsep.solvers.clock import Clock
from linsep.solvers.scaling import Frame, free_memory
from linsep.solvers.short_weights import SPEED, Blocked, is_about_doubles, outside, prove, used_places
from linsep.solvers.working_set import Separated, is_separated, scan_safely
from linsep.sources.base import Block, Floats, Ints, Source
from linsep.sources.memory import MemorySource
from linsep.tables import is_sparse

FIRST_ROWS, MORE_ROWS = 4, 4  # for each column: at first, and after each scan
MOST_STEPS = 120  # of Newton's method without an answer
MOST_ROUNDS, LITTLE = 8, 1e-2  # of joining other rows to a proof, and how much weight these are given
MOST_RIDGES = 30  # each ten times the one before, until the system has a solution
DIRECT = 1500  # columns of sparse rows up to which a step is one Cholesky factor
MOST_ITERATIONS, NEARLY = 1000, 1e-10  # of conjugate gradients, and the part of the residual that is left
MOST_BYTES = 1 << 32  # of the rows looked at together and the Gram matrix
RIDGE, LESS, LAST = 1e-3, 1e-3, 1e-15  # of |w|², beside the mean of the Gram matrix's diagonal; its next part; its end


@np.errstate(all="ignore")
def search(source: Source, columns: Ints, *, bias: bool, clock: Clock) -> Separated | Blocked | None:
    """A separator of all rows, or a positive-definite proof that there is none; None where neither is found."""
    width = len(columns) + bias
    if not width or not is_about_doubles(source) or not _fits(0, width):
        return None
    first = source.sample(FIRST_ROWS * width, seed=1)
    if not _fits(_held(first), width):
        return None
    with one_thread():
        return _search(source, Newton(Frame.around(first, columns, bias=bias), first, clock), clock)


def widened(
    source: Source, columns: Ints, found: Blocked, *, bias: bool, clock: Clock
) -> tuple[Blocked | None, Separated | None]:
    """A proof with more rows that spans every row; or one, and a separator of the rows that it does not span.

    Weak separators are 0 on the rows of a proof. So only columns that are 0 on all of these can help the other rows,
    and these are decided by themselves, in such columns alone. What forbids a separator there joins the proof, with
    weights so small that those of the first rows can make up for what they add in the other columns.
    """
    for _ in range(MOST_ROUNDS):
        rows, unused = outside(source, found, bias=bias)
        if not len(rows):
            return found, None
        if source.facts.at_hand is not None and len(rows) > source.facts.at_hand:
            break
        block = source.take(rows)
        others = MemorySource(block.table, block.y, source.facts.of_part(len(rows)), rows)
        more = search(others, np.intersect1d(columns, unused), bias=False, clock=clock)
        if isinstance(more, Separated):
            return found, more
        joined = None if more is None else _joined(columns, found, more, bias=bias, clock=clock)
        if joined is None:
            break
        found = joined
    return None, None


def _joined(columns: Ints, first: Blocked, more: Blocked, *, bias: bool, clock: Clock) -> Blocked | None:
    block = first.rows + more.rows
    frame = Frame.around(block, columns, bias=bias)
    sizes = [_in_frame(frame, each) for each in (first, more)]
    return prove(frame, block, np.concatenate([sizes[0], LITTLE * sizes[1]]), clock)


def _in_frame(frame: Frame, found: Blocked) -> Floats:
    """The weights of the rows as they look from the frame, the largest 1."""
    bits = max(weight.bit_length() for weight in found.weights)
    floats = np.array([weight / (1 << bits) for weight in found.weights])
    exponents = -frame.row_exponents(found.rows)
    return np.asarray(np.ldexp(floats, np.maximum(exponents - exponents.max(), -1000).astype(np.int32)))


def _fits(entries: int, width: int) -> bool:
    """Whether there is memory for so many entries of rows and for a few matrices of all columns by all columns."""
    return 8 * (2 * entries + 3 * width**2) <= min(MOST_BYTES, free_memory() or MOST_BYTES)


def _held(block: Block) -> int:
    """How many numbers the rows of a block are held as."""
    return 2 * block.values.nnz if block.is_sparse else len(block) * block.n_columns


def _search(source: Source, newton: "Newton", clock: Clock) -> Separated | Blocked | None:
    width = newton.frame.width
    if not math.isfinite(newton.ridge):  # some number is not finite: who reads the rows meanwhile says which
        return None
    for _ in range(MOST_STEPS):
        clock.require(0.0 if newton.gram is None else width**3 / SPEED)
        is_lowest = newton.step()
        if newton.scores.min() > 0:
            w, b, scan = scan_safely(source, *newton.frame.halfspace(newton.w), worst=MORE_ROWS * width)
            clock.reads += 1
            if is_separated(source, w, b, scan):
                nobody = np.zeros(0, np.int64)
                return Separated(w, b, min(scan.lowest), source.take(nobody), np.zeros(0))
            if not _fits(_held(newton.block) + _held(scan.worst), width) or not newton.add(scan.worst):
                return None
        elif is_lowest:
            in_force = np.flatnonzero(newton.in_force)
            z = newton.z[in_force]
            if len(in_force) > len(used_places(z)):
                short = 1.0 - newton.scores[in_force]
                found = prove(newton.frame, newton.block.take(in_force), short, clock, z)
                if found is not None:
                    return found
            if newton.ridge < newton.last_ridge:
                return None
            newton.ridge *= LESS
    return None


class Newton:
    """Σ max(0, 1 - z·w)² over some rows, and the way down from the direction of their mean."""

    def __init__(self, frame: Frame, block: Block, clock: Clock) -> None:
        self.frame, self.block, self.clock = frame, block, clock
        self.z = frame.signed_alike(block)
        mean = np.asarray(self.z.mean(axis=0)).ravel()
        self.w = line_search(np.zeros(len(block)), self.z @ mean) * mean
        self._look()
        self.ridge = RIDGE * max(float((self.z[self.in_force] ** 2).sum()) / frame.width, 1.0)
        self.last_ridge = LAST * self.ridge

    def _look(self) -> None:
        self.scores = self.z @ self.w
        self.in_force: npt.NDArray[np.bool_] = self.scores < 1.0
        self.gram = None if self._is_large else gram_of(self.z[self.in_force])

    def add(self, found: Block) -> bool:
        """Look at these rows as well; says whether there are new ones among them."""
        is_new = ~np.isin(found.row_numbers, self.block.row_numbers)
        if not is_new.any():
            return False
        block = found.take(np.flatnonzero(is_new))
        self.block, self.z = self.block + block, _stacked(self.z, self.frame.signed_alike(block))
        self._look()
        return True

    def step(self) -> bool:
        """One step down; says whether it ended at the minimum."""
        rows, short = self.z[self.in_force], 1.0 - self.scores[self.in_force]
        right = short @ rows - self.ridge * self.w
        direction = self._iterated(rows, right) if self.gram is None else self._solved(self.gram, right)
        slopes = self.z @ direction
        start, bend = self.ridge * float(self.w @ direction), self.ridge * float(direction @ direction)
        size = line_search(self.scores, slopes, start, bend)
        self.w += size * direction
        self.scores += size * slopes
        in_force = self.scores < 1.0
        entered, left = in_force & ~self.in_force, self.in_force & ~in_force
        for changed, sign in ((entered, 1.0), (left, -1.0)):
            if self.gram is not None and changed.any():
                self.gram += sign * gram_of(self.z[changed])
        self.in_force = in_force
        return not entered.any() and not left.any() and abs(size - 1.0) < 1e-6

    @property
    def _is_large(self) -> bool:
        """Whether the system is solved without its matrix."""
        return is_sparse(self.z) and self.frame.width > DIRECT

    def _iterated(self, rows: Any, right: Floats) -> Floats:
        """Solve by conjugate gradients (Hestenes and Stiefel 1952), each column divided by its length first."""
        scale = 1.0 / np.sqrt((rows**2).sum(axis=0) + self.ridge)
        found, rest = np.zeros(len(right)), scale * right
        step, size = rest.copy(), float(rest @ rest)
        enough = NEARLY**2 * size
        for _ in range(MOST_ITERATIONS):
            if size <= enough:
                break
            self.clock.check()
            moved = scale * (rows.T @ (rows @ (scale * step)) + self.ridge * scale * step)
            length = size / float(step @ moved)
            found += length * step
            rest -= length * moved
            size, old = float(rest @ rest), size
            step = rest + size / old * step
        return np.asarray(scale * found)

    def _solved(self, gram: Floats, right: Floats) -> Floats:
        from scipy.linalg import cho_factor, cho_solve

        for _ in range(MOST_RIDGES):
            with_ridge = gram.copy()
            with_ridge.flat[:: len(with_ridge) + 1] += self.ridge
            try:
                return np.asarray(cho_solve(cho_factor(with_ridge, overwrite_a=True, check_finite=False), right))
            except np.linalg.LinAlgError:
                self.ridge *= 10
        return right


def _stacked(above: Any, below: Any) -> Any:
    return sp.vstack([above, below], format="csr") if is_sparse(above) else np.concatenate([above, below])


def line_search(scores: Floats, slopes: Floats, start: float = 0.0, bend: float = 0.0) -> float:
    """The t >= 0 at which Σ max(0, 1 - scores - t·slopes)² / 2 + start·t + bend·t² / 2 is least.

    Its derivative is followed from breakpoint to breakpoint, where rows come into force or cease to be.
    """
    gaps = 1.0 - scores
    in_force = gaps > 0
    with np.errstate(all="ignore"):
        breaks = gaps / slopes
    ahead = np.flatnonzero((breaks > 0) & np.isfinite(breaks))
    ahead = ahead[np.argsort(breaks[ahead])]
    leaves = np.where(in_force[ahead], -1.0, 1.0)
    bends = np.concatenate([[bend + np.square(slopes[in_force]).sum()], leaves * np.square(slopes[ahead])]).cumsum()
    starts = np.concatenate([[start - (slopes * gaps)[in_force].sum()], -leaves * (slopes * gaps)[ahead]]).cumsum()
    ends = breaks[ahead]
    reached = np.flatnonzero(starts[:-1] + bends[:-1] * ends >= 0)
    piece = int(reached[0]) if len(reached) else len(ends)
    if bends[piece] > 0:
        return float(max(-starts[piece] / bends[piece], 0.0))
    return float(ends[piece]) if piece < len(ends) else 1.0
