"""Threads that read the next batches, or work on several at once, while the calling thread proceeds in order."""

import os
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import cache
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")

POOL = "linsep-pool"


def map_in_order(work: Callable[[T], R], items: Iterable[T], workers: int) -> Iterator[R]:
    """The results of `work` for each item, in order, computed by several threads at a time.

    At most one more result than there are threads is waiting. A caller that stops iterating stops the work. An error,
    in the work or in the making of the items, is raised when its turn comes, so that the caller sees the first one.
    """
    if workers < 2 or threading.current_thread().name.startswith(POOL):  # a pool must not wait for itself
        yield from map(work, items)
        return
    pending: deque[Future[R]] = deque()
    fault: Exception | None = None
    given = iter(items)
    try:
        while True:
            try:
                item = next(given)
            except StopIteration:
                break
            except Exception as error:
                fault = error
                break
            pending.append(_pool(workers).submit(work, item))
            if len(pending) > workers + 1:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()
        if fault is not None:
            raise fault
    finally:
        wait([future for future in pending if not future.cancel()])


@cache
def _pool(workers: int) -> ThreadPoolExecutor:
    """Threads that are kept: the memory that one has freed serves its next read."""
    return ThreadPoolExecutor(workers, thread_name_prefix=POOL)


if hasattr(os, "register_at_fork"):  # threads do not survive a fork: the child starts its own
    os.register_at_fork(after_in_child=_pool.cache_clear)


def prefetch(items: Iterable[T]) -> Iterator[T]:
    """The same items, up to two of them made in advance by another thread.

    A caller that stops iterating stops the thread too; errors in the thread are raised here.
    """
    given, end = iter(items), object()
    pool = ThreadPoolExecutor(1, thread_name_prefix="linsep-reading")
    try:
        pending = deque(pool.submit(next, given, end) for _ in range(2))
        while (item := pending.popleft().result()) is not end:
            pending.append(pool.submit(next, given, end))
            yield item  # type: ignore[misc]
    finally:
        pool.shutdown(cancel_futures=True)
        if isinstance(given, Generator):
            given.close()  # generators close their files
