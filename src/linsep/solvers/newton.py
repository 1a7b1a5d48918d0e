"""Many columns: a separator or the weights of a positive-definite proof, by Newton's method on few rows.

    W = a sample of the rows, a few for each column
    repeat
        minimise Σ max(0, 1 - z·w)² over W
        every z·w > 0 on W: scan all rows, add the worst to W         (no mistake: a separator)
        else u = max(0, 1 - z·w) cancels, Σ u z = 0, at the minimum   (the gradient): prove it

The sum is convex and piecewise quadratic: with the rows in force, those with z·w < 1, known, its minimum is the solution
of one linear system. A step goes there as far as an exact line search lets it; the rows in force change, a few at a time
in the end, and the Gram matrix follows them. Rows are never dropped from W, so the minimum rises with every scan.

Floats guide; what is found is proved by `proofs.definite`, and handed on only if that holds.
Mangasarian, A finite Newton method for classification (2002). Keerthi and DeCoste (2005).
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from linsep.errors import LinsepError
from linsep.exact import coprime, dyadic, original_multipliers
from linsep.proofs import definite
from linsep.proofs.definite import Dependence
from linsep.solvers.clock import Clock
from linsep.solvers.scaling import Frame, free_memory
from linsep.solvers.working_set import Blocked, Separated, is_separated, scan_safely
from linsep.sources.base import MOST_BITS, Block, Floats, Ints, Source

FIRST_ROWS, MORE_ROWS = 4, 4  # for each column: at first, and after each scan
MOST_STEPS = 40  # of Newton's method without an answer
MOST_BYTES = 1 << 31  # of the rows looked at together and the Gram matrix
ROUNDS = 3  # of bringing Σ u z nearer to 0
SHORT_BITS, MOST_BITS_OF_WEIGHTS = 12, 48
RIDGE, LESS = 1e-3, 1e-3  # of |w|², beside the mean of the Gram matrix's diagonal, and its next part
TRIES = 8  # at weights that are all positive
TINY = 1e-9  # weights below this part of the largest are left out
RANK = 1e-9  # of a column, as a part of the largest, below which it depends on others
MOST_DENOMINATOR, NEAR = 64, 1e-7  # of the coefficients of a dependence


def search(source: Source, columns: Ints, *, bias: bool, clock: Clock) -> Separated | Blocked | None:
    """A separator of all rows, or a positive-definite proof that there is none; None where neither is found."""
    width = len(columns) + bias
    if not is_about_doubles(source) or not _fits(min(source.n_rows, FIRST_ROWS * width), width):
        return None
    first = source.sample(FIRST_ROWS * width, seed=1)
    with threadpool_limits(1, "blas"):  # two threads of BLAS beside other work are slower than one, by far
        return _search(source, Newton(Frame.around(first, columns, bias=bias), first), clock)


def is_about_doubles(source: Source) -> bool:
    """Whether a positive-definite proof can be about these rows."""
    facts = source.facts
    return facts.scales is None and facts.numbers != "decimal" and (facts.integer_bits or 0) <= MOST_BITS


def _fits(n_rows: int, width: int) -> bool:
    return 8 * width * (2 * n_rows + 3 * width) <= min(MOST_BYTES, free_memory() or MOST_BYTES)


def _search(source: Source, newton: "Newton", clock: Clock) -> Separated | Blocked | None:
    width = newton.frame.width
    for _ in range(MOST_STEPS):
        clock.check()
        is_lowest = newton.step()
        if newton.scores.min() > 0:
            w, b, scan = scan_safely(source, *newton.frame.halfspace(newton.w), worst=MORE_ROWS * width)
            clock.reads += 1
            if is_separated(source, w, b, scan):
                nobody = np.zeros(0, np.int64)
                return Separated(w, b, min(scan.lowest), source.take(nobody), np.zeros(0))
            if not _fits(len(newton.block) + len(scan.worst), width) or not newton.add(scan.worst):
                return None
        elif is_lowest:
            in_force = np.flatnonzero(newton.in_force)
            if len(in_force) > np.count_nonzero(newton.z[in_force].any(axis=0)):
                found = prove(newton.frame, newton.block.take(in_force), 1.0 - newton.scores[in_force], clock)
                if found is not None:
                    return found
            newton.ridge *= LESS
    return None


class Newton:
    """Σ max(0, 1 - z·w)² over some rows, and the way down from w = 0."""

    def __init__(self, frame: Frame, block: Block) -> None:
        self.frame, self.block = frame, block
        self.z = frame.signed(block)
        self.w = np.zeros(frame.width)
        self._look()
        self.ridge = RIDGE * float(np.trace(self.gram)) / frame.width

    def _look(self) -> None:
        self.scores = self.z @ self.w
        self.in_force: npt.NDArray[np.bool_] = self.scores < 1.0
        rows = self.z[self.in_force]
        self.gram = rows.T @ rows

    def add(self, found: Block) -> bool:
        """Look at these rows as well; says whether there are new ones among them."""
        is_new = ~np.isin(found.row_numbers, self.block.row_numbers)
        if not is_new.any():
            return False
        block = found.take(np.flatnonzero(is_new))
        self.block, self.z = self.block + block, np.concatenate([self.z, self.frame.signed(block)])
        self._look()
        return True

    def step(self) -> bool:
        """One step down; says whether it ended at the minimum."""
        rows, short = self.z[self.in_force], 1.0 - self.scores[self.in_force]
        direction = self._solve(short @ rows - self.ridge * self.w)
        slopes = self.z @ direction
        start, bend = self.ridge * float(self.w @ direction), self.ridge * float(direction @ direction)
        size = line_search(self.scores, slopes, start, bend)
        self.w += size * direction
        self.scores += size * slopes
        in_force = self.scores < 1.0
        entered, left = in_force & ~self.in_force, self.in_force & ~in_force
        for changed, sign in ((entered, 1.0), (left, -1.0)):
            if changed.any():
                rows = self.z[changed]
                self.gram += sign * (rows.T @ rows)
        self.in_force = in_force
        return not entered.any() and not left.any() and abs(size - 1.0) < 1e-6

    def _solve(self, right: Floats) -> Floats:
        from scipy.linalg import cho_factor, cho_solve

        while True:
            with_ridge = self.gram.copy()
            with_ridge.flat[:: len(with_ridge) + 1] += self.ridge
            try:
                return np.asarray(cho_solve(cho_factor(with_ridge, overwrite_a=True, check_finite=False), right))
            except np.linalg.LinAlgError:
                self.ridge *= 10


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


# From floats to a proof -------------------------------------------------------------------------------


def prove(frame: Frame, block: Block, weights: Floats, clock: Clock) -> Blocked | None:
    """The positive-definite proof on these rows with about these weights; None where they do not make one."""
    z, kept = frame.signed(block), np.arange(len(block))
    for _ in range(TRIES):
        clock.check()
        kept = kept[weights[kept] > TINY * weights.max(initial=0.0)]
        kept = kept[_mixed(z[kept])]
        if not len(kept):
            return None
        found = _Columns.of(frame, block.take(kept), z[kept])
        u = found.polish(weights[kept]) if found is not None and len(kept) > len(found.places) else None
        if found is None or u is None:
            return None
        if u.min() > TINY * u.max():
            return _rounded(frame, block.take(kept), found, u)
        weights[kept] = u
    return None


@dataclass(frozen=True, slots=True)
class _Columns:
    """Independent columns of some rows, and how the others depend on them."""

    z: Floats
    places: list[int]
    dependences: tuple[Dependence, ...]

    @classmethod
    def of(cls, frame: Frame, block: Block, z: Floats) -> "_Columns | None":
        """The columns of these rows; None where some depend on others in no simple way."""
        dependences = _proportional(frame, block, z)
        own = definite.own_columns(dependences)
        places = [k for k in np.flatnonzero(z.any(axis=0)).tolist() if _name(frame, k) not in own]
        more = _dependent(frame, block, z, places)
        if more is None:
            return None
        own = definite.own_columns(dependences + more)
        places = [k for k in places if _name(frame, k) not in own]
        return cls(z[:, places], places, (*dependences, *more))

    def polish(self, u: Floats) -> Floats | None:
        """Weights nearby, in proportion to their size, that cancel as well as floats can tell; some may be negative."""
        from scipy.linalg import cho_factor, cho_solve

        scaled = self.z * u[:, None]
        try:
            factor = cho_factor(scaled.T @ scaled, overwrite_a=True, check_finite=False)
        except np.linalg.LinAlgError:
            return None
        found = u
        for _ in range(ROUNDS):
            found = found - u * (scaled @ cho_solve(factor, found @ self.z))
        return found if np.isfinite(found).all() else None


def _mixed(z: Floats) -> Ints:
    """The rows without a column of one sign, which only weights of 0 would cancel; and so again without the others."""
    kept = np.arange(len(z))
    while True:
        some = z[kept]
        strange = ((some > 0).any(axis=0) != (some < 0).any(axis=0)).astype(np.float64)
        touched = np.abs(some) @ strange > 0
        if not touched.any():
            return kept
        kept = kept[~touched]


def _rounded(frame: Frame, block: Block, columns: _Columns, u: Floats) -> Blocked | None:
    """Round the weights to as few bits as the proof allows."""
    z = columns.z
    exponents = frame.row_exponents(block)
    for bits in range(SHORT_BITS, MOST_BITS_OF_WEIGHTS + 1, 12):
        whole = np.rint(np.ldexp(u / u.max(), bits)).astype(np.int64)
        if whole.min() <= 0:
            if bits < MOST_BITS_OF_WEIGHTS:
                continue
            whole = np.maximum(whole, 1)
        left = np.abs(whole @ z).max() / whole.max()
        if bits < MOST_BITS_OF_WEIGHTS and left > 1e-3 * float(np.square(z).sum()) / z.shape[1] ** 2:
            continue
        weights = original_multipliers(whole.tolist(), exponents.tolist())
        found = Blocked(block, weights, columns.dependences)
        if _holds(found, frame):
            return found
    return None


def _holds(found: Blocked, frame: Frame) -> bool:
    own = definite.own_columns(found.dependences or ())
    values = found.rows.values
    kept = [c for c in frame.columns.tolist() if c not in own]
    table = definite.dense_columns(values, np.array(kept, np.int64))
    table = table[:, (table != 0).any(axis=0)]
    bias = frame.bias and frame.n_columns not in own
    return bool(definite.bounds_of(table, found.rows.y, found.weights, bias=bias).holds)


def is_spread(source: Source, found: Blocked, *, bias: bool) -> bool:
    """Whether every row is a linear combination of those of the proof."""
    used = np.append(definite.used_columns(found.rows.values), np.ones(int(bias), bool))
    return not any(len(rows) for rows in definite.outside(source, used, found.dependences or ()))


def _name(frame: Frame, place: int) -> int:
    """The column of the table at this place of the frame; the constant comes after the last."""
    return int(frame.columns[place]) if place < len(frame.columns) else frame.n_columns


def _proportional(frame: Frame, block: Block, z: Floats) -> list[Dependence]:
    """The columns that are multiples of an earlier one on these rows, compared exactly."""
    used = np.flatnonzero(z.any(axis=0))
    first = np.argmax(z[:, used] != 0, axis=0)
    lead = z[first, used]
    keys = np.random.default_rng(0).standard_normal((2, len(z))) @ (z[:, used] / lead)
    order = np.lexsort(np.round(keys, 6))
    pairs = list(zip(order[:-1].tolist(), order[1:].tolist(), strict=True))
    return [
        found
        for a, b in reversed(pairs)  # so that no later one has the column that is its own
        if np.allclose(keys[:, a], keys[:, b], rtol=1e-9, atol=1e-12)
        and (found := _multiple(frame, block, int(first[a]), int(used[a]), int(used[b]))) is not None
    ]


def _multiple(frame: Frame, block: Block, row: int, a: int, b: int) -> Dependence | None:
    """Column b as a multiple of column a, by their entries in this row; None if it is not one on all rows."""
    pair = [_name(frame, a), _name(frame, b)]
    entries = [1 if column == frame.n_columns else _entry(block, row, column) for column in pair]
    return _checked(frame, block, [pair[1], pair[0]], [Fraction(*_ratio(entries[0])), -Fraction(*_ratio(entries[1]))])


def _entry(block: Block, row: int, column: int) -> int | float:
    value: int | float = block.values[row, column].item()
    return value


def _ratio(value: int | float) -> tuple[int, int]:
    mantissa, exponent = dyadic(value)
    return (mantissa << max(exponent, 0), 1 << max(-exponent, 0))


def _dependent(frame: Frame, block: Block, z: Floats, places: list[int]) -> list[Dependence] | None:
    """Short linear dependences of these columns, each with a column of its own; None where one is not short."""
    from scipy.linalg import qr, solve_triangular

    if len(z) >= len(places) and _are_independent(z[:, places]):
        return []
    triangle, order = qr(z[:, places], mode="r", pivoting=True, check_finite=False)
    sizes = np.abs(np.diag(triangle))
    rank = int((sizes > RANK * sizes.max(initial=0.0)).sum())
    kept, own = order[:rank], order[rank:]
    coefficients = solve_triangular(triangle[:rank, :rank], triangle[:rank, rank:], check_finite=False)
    found = []
    for k, place in enumerate(own.tolist()):
        near = [Fraction(c).limit_denominator(MOST_DENOMINATOR) for c in coefficients[:, k].tolist()]
        if any(abs(float(n) - c) > NEAR for n, c in zip(near, coefficients[:, k].tolist(), strict=True)):
            return None
        chosen = [(places[j], n) for j, n in zip(kept.tolist(), near, strict=True) if n]
        spots = [places[place], *(j for j, _ in chosen)]
        shifts = [Fraction(2) ** int(frame.exponents[j]) for j in spots]
        weights = [weight * shift for weight, shift in zip([Fraction(-1), *(n for _, n in chosen)], shifts, strict=True)]
        dependence = _checked(frame, block, [_name(frame, j) for j in spots], weights)
        if dependence is None:
            return None
        found.append(dependence)
    return found


def _are_independent(z: Floats) -> bool:
    """Whether floats are sure, by the Gram matrix of the columns."""
    gram = z.T @ z
    gram.flat[:: len(gram) + 1] *= 1 - RANK
    try:
        np.linalg.cholesky(gram)
    except np.linalg.LinAlgError:
        return False
    return True


def _checked(frame: Frame, block: Block, columns: list[int], weights: list[Fraction]) -> Dependence | None:
    """The dependence with these weights as integers, if it holds exactly."""
    common = np.lcm.reduce([weight.denominator for weight in weights], dtype=object)
    found = Dependence(tuple(columns), coprime(int(weight * common) for weight in weights))
    try:
        definite.require_zero(found, block.row_numbers, block.values, frame.n_columns)
    except LinsepError:
        return None
    return found
