"""A weak separator by relaxation, where some rows occur with both labels: it is 0 on those and positive on the others.

Each pass of the walk of `relax.py` is followed by a projection of w onto the space where it is 0 on those rows, F. So
it is the walk of the other rows in that space, and the theorem holds there. In the end the projection is made exactly:

    w - Fᵀ·(F·Fᵀ)⁻¹·F·w       in integers, times the denominator
"""

import numpy as np
from flint import fmpz_mat

from linsep.cores import one_thread
from linsep.exact import coprime, seconds_to_solve, solve
from linsep.proofs.definite import used_columns
from linsep.signs import Form, form_of, form_of_doubles, signs
from linsep.solvers.clock import Clock
from linsep.solvers.contradictions import Pair
from linsep.solvers.equalities import Equalities
from linsep.solvers.exact_outcomes import Settled
from linsep.solvers.relax import WORK, GaveUpError, Relaxation, Viewpoint, Walkers
from linsep.solvers.scaling import Frame
from linsep.sources.base import MOST_BITS, Block, Floats, Scan, Source

TOO_LONG = 5.0  # seconds for the exact projection: then other ways are better
LOOKED_AT = 20  # rows
ROUNDING = 1e-9  # parts of |x|·|w|: scores nearer to 0 may belong to rows where the weights will be 0


def relax_beside(
    source: Source, pairs: list[Pair], *, bias: bool, maximal: bool, clock: Clock, in_use: int
) -> Settled | None:
    """Weights that are 0 on these pairs and positive on the rows outside their span; None where there seem to be none.

    Without `maximal` they may also be 0 elsewhere.
    """
    if (source.facts.integer_bits or 0) > MOST_BITS:
        return None
    block = source.take(np.array(pairs).ravel())
    used = np.flatnonzero(used_columns(block.values))
    zero = Equalities(Frame(source.n_columns, used, np.zeros(len(used) + bias, np.int32), bias))
    is_everything = len(np.unique(pairs)) == source.n_rows
    if not is_everything and _seconds_to_project(zero, block) > TOO_LONG:
        return None
    if not zero.add_pairs(block):  # rows of zeros, without a bias
        return None
    if is_everything:
        obstruction, spread = zero.proofs
        return Settled("overlapping", obstruction=obstruction, spread=spread)
    try:
        with one_thread():
            walk = WeakRelaxation(source.n_columns, zero, maximal, clock, WORK * (in_use + bias) ** 3)
            walk.run(source, in_use + bias)
    except GaveUpError:
        return None
    if not any(signs(walk.form, block.values).any() for block in source.blocks()):
        return None  # every row is a combination of the pairs: they overlap, and others prove it
    *weights, constant = walk.form.coefficients
    return Settled("touching", tuple(weights), constant, *zero.proofs)


class WeakRelaxation(Relaxation):
    """A walk whose weights are 0 on some rows after each pass."""

    def __init__(self, n_columns: int, zero: Equalities, maximal: bool, clock: Clock, most_entries: int) -> None:
        super().__init__(Viewpoint(n_columns), zero.frame.bias, clock, most_entries)
        self.zero, self.maximal = zero, maximal
        self.form: Form = form_of((0,) * n_columns, 0)
        rows = np.array([_of_length_1(row) for row in zero.rows]).reshape(-1, zero.frame.width)
        self.directions = np.linalg.qr(rows.T)[0]

    def _pass(self, walkers: Walkers, factor: float) -> tuple[int, int]:
        counts = super()._pass(walkers, factor)
        used = self.zero.frame.columns
        weights = np.append(self.w[used], self.b) if self.bias else self.w[used]
        weights = weights - self.directions @ (self.directions.T @ weights)
        self.w[used] = weights[: len(used)]
        if self.bias:
            self.b[0] = weights[-1]
        return counts

    def is_right(self, source: Source, scan: Scan) -> bool:
        """Whether the weights, made exactly 0 on the rows, are positive on those outside their span.

        Of the rows of F one is always a mistake, by a rounding: the scan says how far the mistakes are from that.
        """
        if min(scan.lowest) < -ROUNDING * np.sqrt(scan.longest2 + 1) * np.hypot(np.linalg.norm(self.w), self.b[0]):
            return False
        self.form = self._projected()
        return all(self._allows(block) for block in source.blocks())

    def _allows(self, block: Block) -> bool:
        signed = signs(self.form, block.values) * block.y
        if (signed < 0).any():
            return False
        return not self.maximal or bool(self.zero.contain(block.take(np.flatnonzero(signed == 0))).all())

    def _projected(self) -> Form:
        """The weights as integers, less their exact projection onto the rows."""
        whole = list(form_of_doubles(self.w, float(self.b[0])).coefficients)
        places = [*self.zero.frame.columns.tolist(), *([-1] if self.bias else [])]
        rows = fmpz_mat(self.zero.rows)
        column = fmpz_mat([[whole[j]] for j in places])
        multiples, denominator = solve(rows * rows.transpose(), rows * column)
        part = rows.transpose() * multiples
        whole = [n * denominator for n in whole]
        for j, n in zip(places, part.entries(), strict=True):
            whole[j] -= int(n)
        whole = list(coprime(whole))
        return form_of(whole[:-1], whole[-1])


def _seconds_to_project(zero: Equalities, block: Block) -> float:
    """About how long the exact projection onto these pairs takes, by the bits of F·Fᵀ, which a few of them show."""
    size, (few, _) = len(block) // 2, zero.integers(block.take(np.arange(min(len(block), LOOKED_AT))))
    longest = max(abs(n).bit_length() for row in few for n in row)
    bits = 2 * longest + zero.frame.width.bit_length()
    return seconds_to_solve(size, bits, size * bits)


def _of_length_1(row: list[int]) -> Floats:
    longest = max(map(abs, row))
    floats = np.array([n / longest for n in row])
    return np.asarray(floats / np.linalg.norm(floats))
