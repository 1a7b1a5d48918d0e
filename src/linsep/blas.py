"""One thread for the linear algebra of solvers and proofs.

Their matrices are small, and beside other work (a scan of our own, another program) the threads of a BLAS wait for each
other: a Cholesky factor of 800 rows took 20 times as long with two threads as with one.
"""

from contextlib import AbstractContextManager
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController


def one_thread() -> AbstractContextManager[Any]:
    """While this is open, NumPy and SciPy compute in one thread."""
    return _controller().limit(limits=1, user_api="blas")  # type: ignore[no-any-return]


@cache
def _controller() -> ThreadpoolController:
    import scipy.linalg  # noqa: F401  (it has a BLAS of its own, which must be there to be found)

    return ThreadpoolController()
