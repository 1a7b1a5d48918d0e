"""Reading ahead: one thread reads the next batches while this one works on the last."""

import threading
from collections.abc import Iterable, Iterator
from contextlib import suppress
from queue import Empty, Full, Queue
from typing import TypeVar

T = TypeVar("T")

_END = object()


def ahead(items: Iterable[T], depth: int = 2) -> Iterator[T]:
    """The same items, with at most `depth` of them made in advance by another thread.

    Whoever stops listening stops the thread too, and what goes wrong there is raised here.
    """
    queue: Queue[tuple[object, BaseException | None]] = Queue(maxsize=depth)
    stopped = threading.Event()

    def put(item: object, error: BaseException | None = None) -> None:
        while not stopped.is_set():
            with suppress(Full):
                queue.put((item, error), timeout=0.05)
                return

    def work() -> None:
        try:
            for item in items:
                put(item)
                if stopped.is_set():
                    return
            put(_END)
        except BaseException as error:
            put(_END, error)
        finally:
            if isinstance(items, Iterator):
                close = getattr(items, "close", None)  # generators close their files
                if close is not None:
                    close()

    thread = threading.Thread(target=work, name="linsep-reading", daemon=True)
    thread.start()
    try:
        while True:
            item, error = queue.get()
            if error is not None:
                raise error
            if item is _END:
                return
            yield item  # type: ignore[misc]
    finally:
        stopped.set()
        with suppress(Empty):
            while True:
                queue.get_nowait()
        thread.join()
