"""How many threads: several for our own walks over the rows, one for the linear algebra of solvers and proofs.

The matrices of that algebra are small, and when other work runs at the same time (a scan of ours, another program) the
threads of a BLAS wait for each other: a Cholesky factor of 800 rows took 20 times as long with two threads as with one.
"""

import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController

from linsep.errors import ArgumentError, shown

MOST_THREADS = 4096


def thread_count() -> int:
    """How many cores a walk over the rows may use: LINSEP_THREADS, or those this process may run on."""
    asked = threads_asked_for()
    if asked is not None:
        return asked
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not every system can tell
        return os.cpu_count() or 1


def threads_asked_for() -> int | None:
    """What LINSEP_THREADS says; None where it is not set."""
    asked = os.environ.get("LINSEP_THREADS")
    if not asked:
        return None
    if not asked.strip().isdecimal() or not 1 <= int(asked) <= MOST_THREADS:
        raise ArgumentError(
            f"The environment variable LINSEP_THREADS is {shown(asked)}: it must be a whole number from 1 to "
            f"{MOST_THREADS}, or unset."
        )
    return int(asked)


@cache
def pool() -> ThreadPoolExecutor:
    """The threads that walk over the rows of tables in memory."""
    return ThreadPoolExecutor(max_workers=thread_count(), thread_name_prefix="linsep")


if hasattr(os, "register_at_fork"):  # threads do not survive a fork: the child starts its own
    os.register_at_fork(after_in_child=pool.cache_clear)


def one_thread() -> AbstractContextManager[Any]:
    """While this is open, NumPy and SciPy compute in one thread."""
    return _controller().limit(limits=1, user_api="blas")  # type: ignore[no-any-return]


@cache
def _controller() -> ThreadpoolController:
    import scipy.linalg  # noqa: F401  (its own BLAS must be loaded to be found)

    return ThreadpoolController()
