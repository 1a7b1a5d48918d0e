"""Many columns of small rank: a few columns span all of them.

Random combinations of the columns, on a sample of the rows, show the rank in floats, and a QR with pivots names columns
that span the others. This is a guess: the caller checks what is found in these columns against all of them.
"""

import numpy as np

from linsep.cores import one_thread
from linsep.solvers.clock import Clock
from linsep.solvers.scaling import Frame, require_bytes
from linsep.solvers.wide.short_weights import SPEED, WIDE, is_about_doubles, used_places
from linsep.sources.base import Ints, Source

SAMPLE = 2 * WIDE  # rows
SPARE = 10  # additional combinations beyond the rank
FIRST = 1e3  # the constant gets this weight, so that it is chosen before other columns


@np.errstate(all="ignore")
def spanning_columns(source: Source, columns: Ints, *, bias: bool, clock: Clock) -> Ints | None:
    """Columns that, with the constant, seem to span all of these; None if about `WIDE` of them are needed.

    >>> from linsep.sources.inputs import as_source
    >>> source = as_source([[1, 2, 5], [2, 4, 5], [3, 6, 5]], [0, 1, 0])
    >>> len(spanning_columns(source, np.arange(3), bias=True, clock=Clock()))
    1
    """
    from scipy.linalg import qr

    if not is_about_doubles(source):
        return None
    block = source.sample(SAMPLE, seed=5)
    z = Frame.around(block, columns, bias=bias).signed_alike(block)
    places = used_places(z)
    clock.require(4 * len(block) * len(places) * WIDE / SPEED)
    require_bytes(8 * len(places) * (WIDE + len(block)), f"The columns of {len(block)} rows")
    rng, some = np.random.default_rng(0), z[:, places]
    with one_thread():
        rank = int(np.linalg.matrix_rank(some @ rng.standard_normal((len(places), WIDE + SPARE))))
        if rank >= WIDE:
            return None
        mixed = rng.standard_normal((rank + SPARE, len(block))) @ some
        mixed[:, places == len(columns)] *= FIRST
        order = qr(mixed, mode="r", pivoting=True, check_finite=False)[1]
    chosen = np.sort(places[order[:rank]])
    return np.asarray(columns[chosen[chosen < len(columns)]])
