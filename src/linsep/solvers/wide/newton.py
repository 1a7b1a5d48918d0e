"""Many columns: a separator or the weights of a positive-definite proof, by Newton's method on few rows.

    W = a sample of the rows, a few for each column
    repeat
        minimise Σ max(0, 1 - z·w)² over W
        every z·w > 0 on W: scan all rows, add the worst to W         (no mistake: a separator)
        else u = max(0, 1 - z·w) cancels, Σ u z = 0, at the minimum   (the gradient): prove it

The sum is convex and piecewise quadratic: once the rows in force (those with z·w < 1) are known, its minimum is the
solution of one linear system. A step goes towards it as far as an exact line search allows; the rows in force change, a
few at a time near the end, and the Gram matrix is updated. A multiple of |w|², smaller and smaller, is added, so that
the system has a solution from the start; |w|² is measured by the first rows, as Σ (z·w)², so nearly equal columns do no
harm. Rows are never dropped from W, so the minimum rises with every scan.

If a single row rules out a separator, its weight equals that of thousands of others. The sum of squares handles that
badly: few of the others are in force, hardly more than there are columns, and it takes hundreds of steps to find which.
But a row may be scaled up, and then needs less weight. So rows that are far on the wrong side are scaled by as much as
they are short of 1, until weights are even.

If rows nearly cancel others, a basis is used in which the rows are round (`round_view.py`). There, the walk of
`relax.py` is tried first: it takes a small part of the time, or soon gives up.

Floats guide; what is found is checked by `proofs.definite`, and returned only if it is a proof.
Mangasarian, A finite Newton method for classification (2002). Keerthi and DeCoste (2005).
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep.cores import one_thread
from linsep.exact import coprime
from linsep.loops.layouts import Csr, Dense
from linsep.proofs.definite import ColumnDependence
from linsep.proofs.eigenvalues import gram_of
from linsep.signs import form_of, form_of_doubles, signs
from linsep.solvers import working_set
from linsep.solvers.clock import Clock
from linsep.solvers.scaling import Frame, free_memory
from linsep.solvers.wide.relax import relax_from
from linsep.solvers.wide.round_view import RoundView, near_pairs, round_basis
from linsep.solvers.wide.short_weights import (
    DIRECT,
    MATRICES,
    NOTHING,
    ROUNDS,
    SPEED,
    TINY,
    Blocked,
    conjugate_gradients,
    is_about_doubles,
    is_large,
    outside,
    prove,
    used_places,
)
from linsep.solvers.working_set import Separated, Stuck, is_separated, scan_safely
from linsep.sources.base import Block, Floats, Ints, Source
from linsep.sources.memory import MemorySource
from linsep.tables import is_sparse

Weights = tuple[tuple[int, ...], int]

LONGEST = 2**53  # weights of a dependence that is evaluated in floats
FIRST_ROWS, MORE_ROWS = 4, 4  # for each column: at first, and after each scan
MOST_STEPS, MORE_STEPS = 150, 400  # of Newton's method without an answer; and in the second attempt
# With at most this many rows in force per column for this many steps, rows can probably be separated. That only says
# what is tried first. With 1.0, 1.1, 1.3 and never, six tables each of up to 500 columns took these CPU seconds:
# forced margins 3.9, 4.0, 4.1, 4.6; touching 12, 12, 15, 15; planted margins 0.1 and overlapping 0.7 with any of them.
FEW_STEPS, HARDLY = 20, 1.1
CANCELS = 1e-8  # relative to Σ u: rows of length 1 whose weighted sum is shorter cancel, as far as floats can tell
FIRST_STEPS = 10  # after which rows that cancel are short of 1, and few others
EVEN_STEPS = 5  # steps before rows on the wrong side are scaled up, if weights are uneven
STARTED = 2.0  # rows up to this score are where the search for a separator starts then
MOST_ROUNDS, LITTLE = 8, 1e-2  # of adding other rows to a proof, and how much weight these get
MOST_NEAR = 1  # rows that nearly cancel others, relative to the first rows: if there are more, they are nothing special
A_LOOK = 4e-8  # seconds for each entry of dense rows
MOST_RIDGES = 30  # each ten times the last, until the system has a solution
NEARLY = 1e-10  # the part of the residual that conjugate gradients may leave
SLICE = 1 << 21  # entries of the rows multiplied at a time, before the clock is checked
PART = 0.5  # of the free memory, for the rows in use and the Gram matrix
EVEN = 1e-6  # of |w|² itself, beside what the first rows say of w: columns may depend on each other
RIDGE, LESS, LAST = 1e-3, 1e-3, 1e-15  # of |w|², beside the mean of the Gram matrix's diagonal; its next part; its end


@np.errstate(all="ignore")
def search(
    source: Source,
    columns: Ints,
    *,
    bias: bool,
    clock: Clock,
    any_will_do: bool = False,
    start: Stuck | None = None,
    known: Block | None = None,
) -> Separated | Blocked | Stuck | None:
    """A separator of all rows, or a positive-definite proof that there is none; None if neither is found.

    `Stuck` is the answer for rows that seem to have a separator, which other methods find faster; not if some rows
    nearly cancel, since a round basis is then fast. Rows that other methods could not separate either are the `start`
    of another, more patient search. `known` are rows that are known to cancel each other: a sample would have few
    of them. If any obstruction will do, the proof may be about few of the columns.
    """
    width = len(columns) + bias
    if not width or not is_about_doubles(source):
        return None
    first = source.sample(FIRST_ROWS * width, seed=1)
    for more in (known, None if start is None else start.rows):
        if more is not None:
            first = first + more.take(np.flatnonzero(~np.isin(more.row_numbers, first.row_numbers)))
    if not first.is_sparse:  # to look at the rows and multiply them for the first time
        clock.require(len(first) * width * (A_LOOK + width / SPEED))
    if not _fits(first, width):
        return None
    with one_thread():
        frame = Frame.around(first, columns, bias=bias)
        first, view = _view(source, frame, first, clock)
        walked = None if view is None or start is not None else relax_from(view, source, clock=clock)
        if walked is not None:
            return walked
        newton = Newton(frame, first, clock, view)
        steps, few = (MOST_STEPS, FEW_STEPS) if start is None else (MORE_STEPS, MORE_STEPS)
        return _search(source, newton, clock, any_will_do, steps, few)


def widened(
    source: Source, columns: Ints, found: Blocked, *, bias: bool, clock: Clock
) -> tuple[Blocked | None, Weights | None]:
    """A proof with more rows that spans every row; or a proof, and weights that separate the rows it does not span.

    Weak separators are 0 on the rows of a proof. So only columns that are 0 on all of these rows can help the other
    rows, and dependences of columns where they do not hold. The other rows are decided by themselves, in such columns
    only. An obstruction found there joins the proof, with weights so small that those of the first rows can compensate
    for what it adds in the other columns.
    """
    for _ in range(MOST_ROUNDS):
        rows, unused = outside(source, found, bias=bias)
        if not len(rows):
            return found, None
        if source.facts.at_hand is not None and len(rows) > source.facts.at_hand:
            break
        free, block = np.intersect1d(columns, unused), source.take(rows)
        short = tuple(one for one in found.dependences or () if max(map(abs, one.weights)) <= LONGEST)
        if not len(free) + len(short):
            break
        others = _in_free_columns(source, block, free, short)
        more: Separated | Blocked | Stuck | None = search(others, np.arange(others.n_columns), bias=False, clock=clock)
        if more is None or isinstance(more, Stuck):
            more = working_set.search(others, np.arange(others.n_columns), bias=False, clock=clock)
        if isinstance(more, Separated):
            weights = _everywhere(source.n_columns, more.w, free, short)
            return (found, weights) if (signs(form_of(*weights), block.values) * block.y > 0).all() else (None, None)
        if not isinstance(more, Blocked):
            break
        again = Blocked(source.take(more.rows.row_numbers), more.weights)
        joined = _joined(columns, found, again, bias=bias, clock=clock)
        if joined is None:
            break
        found = joined
    return None, None


def _in_free_columns(source: Source, block: Block, free: Ints, dependences: Sequence[ColumnDependence]) -> MemorySource:
    """Rows in these columns, and in one more for each dependence: its value on them, which is 0 where it holds."""
    facts = replace(source.facts.of_part(len(block)), n_columns=len(free) + len(dependences), names=None)
    turn = np.zeros((block.n_columns + 1, len(dependences)))
    for k, dependence in enumerate(dependences):
        turn[list(dependence.columns), k] = dependence.weights
    more = block.values @ turn[:-1] + turn[-1]
    table: Any = [block.values[:, free], more]
    table = sp.hstack([table[0], sp.csr_array(more)]) if block.is_sparse else np.hstack(table)
    if not block.is_sparse:
        return MemorySource(Dense(np.ascontiguousarray(table)), block.y, facts, block.row_numbers)
    rows = sp.csr_array(table)
    parts = (rows.data, rows.indices.astype(np.uint32), rows.indptr.astype(np.uint64))
    return MemorySource(Csr(*parts), block.y, facts, block.row_numbers)


def _everywhere(n_columns: int, w: Floats, free: Ints, dependences: Sequence[ColumnDependence]) -> Weights:
    """Weights of free columns and of dependences as whole weights of all columns, and of the bias: 0 on the proof."""
    *whole, _ = form_of_doubles(w, 0.0).coefficients
    weights = [0] * (n_columns + 1)
    for column, weight in zip(free.tolist(), whole, strict=False):
        weights[column] += weight
    for dependence, weight in zip(dependences, whole[len(free) :], strict=True):
        for column, own in zip(dependence.columns, dependence.weights, strict=True):
            weights[column] += weight * own
    common = coprime(weights)
    return common[:-1], common[-1]


def _joined(columns: Ints, first: Blocked, more: Blocked, *, bias: bool, clock: Clock) -> Blocked | None:
    block = first.rows + more.rows
    frame = Frame.around(block, columns, bias=bias)
    sizes = [_in_frame(frame, each) for each in (first, more)]
    return prove(frame, block, np.concatenate([sizes[0], LITTLE * sizes[1]]), clock)


def _in_frame(frame: Frame, found: Blocked) -> Floats:
    """The weights of the rows in the frame, the largest 1."""
    bits = max(weight.bit_length() for weight in found.weights)
    floats = np.array([weight / (1 << bits) for weight in found.weights])
    exponents = -frame.row_exponents(found.rows)
    return np.asarray(np.ldexp(floats, np.maximum(exponents - exponents.max(), -1000).astype(np.int32)))


def _view(source: Source, frame: Frame, first: Block, clock: Clock) -> tuple[Block, RoundView | None]:
    """A round basis for dense rows of which some nearly cancel; and the first rows, with all of those added."""
    if first.is_sparse or source.facts.is_streamed:
        return first, None
    near = np.unique(near_pairs(source, frame))
    if not len(near) or len(near) > MOST_NEAR * len(first):
        return first, None
    clock.require(2 * (len(first) + len(near)) * frame.width**2 / SPEED)
    try:
        triangle = round_basis(source, frame, first)
    except np.linalg.LinAlgError:
        return first, None
    both = first + source.take(np.setdiff1d(near, first.row_numbers))
    return both, RoundView(frame, triangle, source.take(np.zeros(0, np.int64)))


def _fits(block: Block, width: int, more: Block | None = None) -> bool:
    """Whether there is memory for these rows and, if steps need them, for a few matrices of columns by columns.

    A proof checks for its own memory.
    """
    matrices = 0 if block.is_sparse and width > DIRECT else MATRICES * width**2
    entries = _held(block) + (0 if more is None else _held(more))
    free = free_memory()
    return free is None or 8 * (2 * entries + matrices) <= free * PART


def _held(block: Block) -> int:
    """How many numbers the rows of a block are held as."""
    return 2 * block.values.nnz if block.is_sparse else len(block) * block.n_columns


def _search(
    source: Source, newton: "Newton", clock: Clock, any_will_do: bool, most_steps: int, few_steps: int
) -> Separated | Blocked | Stuck | None:
    width = newton.frame.width
    if not math.isfinite(newton.ridge):  # some number is not finite: a later read of the rows names it
        return None
    few = 0
    for number in range(1, most_steps + 1):
        clock.require(0.0 if newton.gram is None else width**3 / SPEED)
        is_lowest = newton.step()
        if newton.scores.min() > 0:
            w, b, scan = scan_safely(source, *newton.halfspace, worst=MORE_ROWS * width)
            clock.reads += 1
            if is_separated(source, w, b, scan):
                nobody = np.zeros(0, np.int64)
                return Separated(w, b, min(scan.lowest), source.take(nobody), np.zeros(0))
            if not _fits(newton.block, width, scan.worst) or not newton.add(scan.worst):
                return None
        elif is_lowest:
            found = newton.proved(any_will_do)
            if found is not None:
                return found
            if newton.ridge < newton.last_ridge:
                return None
            newton.ridge *= LESS
        few = few + 1 if newton.is_short_of_rows() else 0
        if few == few_steps or newton.is_still:
            return newton.stuck() if newton.view is None else None
        if number % EVEN_STEPS == 0 and newton.is_uneven():
            newton.even_out()
    return None


@np.errstate(all="ignore")
def cancelling(view: RoundView, block: Block, most: int, clock: Clock) -> Ints:
    """The places of rows that cancel each other in this basis: all that are found at once, or none.

    Rows that cancel never all reach 1. So after a few steps, at most `most` of those farthest from it are tested: fewer
    than there are columns, since more would be linearly dependent anyway.
    """
    nobody = np.zeros(0, np.int64)
    if not len(block):
        return nobody
    width = view.n_columns
    clock.require(len(block) * width**2 / SPEED)
    newton = Newton(view.frame, block, clock, view)
    for _ in range(FIRST_STEPS):
        clock.require(width**3 / SPEED)
        if newton.step():
            newton.ridge *= LESS
    short = np.maximum(1.0 - newton.scores, 0.0)
    furthest = np.argsort(-short, kind="stable")[:most]
    z = newton.z[furthest]
    try:
        rows, u = _cancelled(z, short[furthest], clock)
    except np.linalg.LinAlgError:
        return nobody
    return furthest[rows] if np.linalg.norm(u @ z[rows]) < CANCELS * u.sum() else nobody


def _cancelled(z: Floats, u: Floats, clock: Clock) -> tuple[Ints, Floats]:
    """Some of these rows, by their places, and weights near u with which they cancel; all weights are above 0."""
    rows = np.arange(len(z))
    while len(rows):
        clock.check()
        nearest = _beside_columns(z[rows], u)
        kept = np.flatnonzero(nearest > TINY * u.max())
        if len(kept) == len(rows):
            return rows, nearest
        rows, u = rows[kept], nearest[kept]
    return rows, u


def _beside_columns(z: Floats, u: Floats) -> Floats:
    """The part of u that is orthogonal to the columns; each round removes most of the rest, unless they are tiny."""
    from scipy.linalg import cho_factor, cho_solve

    gram = z @ z.T
    gram.flat[:: len(gram) + 1] += NOTHING
    factor = cho_factor(gram, overwrite_a=True, check_finite=False)
    for _ in range(ROUNDS):
        u = NOTHING * cho_solve(factor, u, check_finite=False)
    return u


class Newton:
    """Σ max(0, 1 - z·w)² over some rows, and the way down from the direction of their mean."""

    def __init__(self, frame: Frame, block: Block, clock: Clock, view: RoundView | None = None) -> None:
        self.frame, self.block, self.clock, self.view = frame, block, clock, view
        self.z, self.scales = self._seen(block)
        mean = np.asarray(self.z.mean(axis=0)).ravel()
        self.w = line_search(np.zeros(len(block)), self.z @ mean) * mean
        self._look()
        mean_square = max(float((self.z[self.in_force] ** 2).sum()) / frame.width, 1.0)
        self.metric = None if self.gram is None else self.gram / mean_square
        if self.metric is not None:
            self.metric.flat[:: frame.width + 1] += EVEN
        self.ridge = RIDGE * mean_square
        self.last_ridge = LAST * self.ridge
        self.is_still = False  # the last step led nowhere: rounding hides the way down

    def _seen(self, block: Block) -> tuple[Any, Floats]:
        """The rows in this basis, and the factor of each, relative to its length in the frame."""
        if self.view is None:
            return self.frame.signed_alike(block), np.ones(len(block))
        return self.view.scaled(block)[:2]

    @property
    def halfspace(self) -> tuple[Floats, float]:
        """The weights of the columns, and the bias."""
        return (self.view or self.frame).halfspace(self.w)

    def _look(self) -> None:
        self.scores = self.z @ self.w
        self.in_force: npt.NDArray[np.bool_] = self.scores < 1.0
        self.gram = None if is_large(self.z) else self._gram(self.in_force)

    def add(self, found: Block) -> bool:
        """Use these rows as well; return whether there are new ones among them."""
        is_new = ~np.isin(found.row_numbers, self.block.row_numbers)
        if not is_new.any():
            return False
        block = found.take(np.flatnonzero(is_new))
        z, scales = self._seen(block)
        self.block, self.z, self.scales = self.block + block, _stacked(self.z, z), np.append(self.scales, scales)
        self._look()
        return True

    def is_short_of_rows(self) -> bool:
        """Whether there are too few rows in force, or hardly enough, for an obstruction that spans their columns."""
        count = np.count_nonzero(self.in_force) / HARDLY
        return bool(count <= self.frame.width and count <= len(used_places(self.z[self.in_force])))

    def is_uneven(self) -> bool:
        """Whether so few rows have most of the weight that their effective number is less than that of the columns."""
        u = np.maximum(1.0 - self.scores, 0.0)
        return bool(u.sum() ** 2 < self.frame.width * (u @ u))

    def even_out(self) -> None:
        """Scale up the rows on the wrong side, so that each needs a weight of about 1."""
        factors = np.exp2(np.rint(np.log2(np.maximum(1.0 - self.scores, 1.0))))
        changed = factors > 1.0  # all in force, before and after
        if self.gram is not None:
            self.gram -= self._gram(changed)
        self.z = _times(self.z, factors)
        self.scores *= factors
        self.scales *= factors
        if self.gram is not None:
            self.gram += self._gram(changed)

    def proved(self, any_will_do: bool) -> Blocked | None:
        """The proof on the rows in force, with what they are short of 1 as weights; None if that is not a proof."""
        in_force = np.flatnonzero(self.in_force)
        z, scales = self.z[in_force], self.scales[in_force]
        if len(in_force) <= len(used_places(z)):
            return None
        rows, u = self.block.take(in_force), (1.0 - self.scores[in_force]) * scales
        known = None if self.view is not None else _times(z, 1.0 / scales)
        return prove(self.frame, rows, u, self.clock, known, any_will_do=any_will_do)

    def stuck(self) -> Stuck:
        """The rows that matter, for other methods to continue with."""
        near = np.flatnonzero(self.scores < STARTED)
        return Stuck(self.block.take(near), np.flatnonzero(self.in_force[near]))

    def step(self) -> bool:
        """One step down; return whether it ended at the minimum."""
        rows, short = self.z[self.in_force], 1.0 - self.scores[self.in_force]
        right = short @ rows - self.ridge * self._measured(self.w)
        direction = self._iterated(rows, right) if self.gram is None else self._solved(self.gram, right)
        slopes = self.z @ direction
        pull = self.ridge * self._measured(direction)
        start, bend = float(self.w @ pull), float(direction @ pull)
        size = line_search(self.scores, slopes, start, bend)
        self.is_still = size == 0.0
        self.w += size * direction
        self.scores += size * slopes
        in_force = self.scores < 1.0
        entered, left = in_force & ~self.in_force, self.in_force & ~in_force
        for changed, sign in ((entered, 1.0), (left, -1.0)):
            if self.gram is not None and changed.any():
                self.gram += sign * self._gram(changed)
        self.in_force = in_force
        return not entered.any() and not left.any() and abs(size - 1.0) < 1e-6

    def _measured(self, w: Floats) -> Floats:
        """M·w, where a multiple of wᵀMw is added to the sum."""
        return w if self.metric is None else np.asarray(self.metric @ w)

    def _gram(self, which: npt.NDArray[np.bool_]) -> Floats:
        """The Gram matrix of some rows, added up from slices of them, with checks of the clock in between."""
        width, chosen = self.frame.width, np.flatnonzero(which)
        gram = np.zeros((width, width))
        step = max(width, SLICE // (1 if is_sparse(self.z) else width))
        for start in range(0, len(chosen), step):
            self.clock.check()
            gram += gram_of(self.z[chosen[start : start + step]])
        return gram

    def _iterated(self, rows: Any, right: Floats) -> Floats:
        """Solve by conjugate gradients, each column divided by its length first."""
        scale = 1.0 / np.sqrt((rows**2).sum(axis=0) + self.ridge)
        turned = sp.csr_array(rows.T)

        def multiply(step: Floats) -> Floats:
            return np.asarray(scale * (turned @ (rows @ (scale * step)) + self.ridge * scale * step))

        return np.asarray(scale * conjugate_gradients(multiply, scale * right, NEARLY, self.clock))

    def _solved(self, gram: Floats, right: Floats) -> Floats:
        from scipy.linalg import cho_factor, cho_solve

        for _ in range(MOST_RIDGES):
            with_ridge = gram + self.ridge * (np.eye(len(gram)) if self.metric is None else self.metric)
            try:
                factor = cho_factor(with_ridge, overwrite_a=True, check_finite=False)
                return np.asarray(cho_solve(factor, right, check_finite=False))
            except np.linalg.LinAlgError:
                self.ridge *= 10
        return right


def _stacked(above: Any, below: Any) -> Any:
    return sp.vstack([above, below], format="csr") if is_sparse(above) else np.concatenate([above, below])


def _times(z: Any, factors: Floats) -> Any:
    if (factors == 1.0).all():
        return z
    return sp.csr_array(sp.diags_array(factors) @ z) if is_sparse(z) else z * factors[:, None]


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
