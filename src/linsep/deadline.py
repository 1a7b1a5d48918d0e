"""Exact arithmetic cannot be interrupted, so code that begins a long piece of it first says how long that will take.

A caller with a time limit opens `limited` around the work, with a function that raises if the limit would be passed.
Without one, `require` costs nothing and there is no limit.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar

Ask = Callable[[float], None]

_ask: ContextVar[Ask | None] = ContextVar("ask", default=None)


@contextmanager
def limited(ask: Ask) -> Iterator[None]:
    """While this is open, `require` calls this function."""
    before = _ask.set(ask)
    try:
        yield
    finally:
        _ask.reset(before)


def unlimited() -> AbstractContextManager[None]:
    """While this is open, there is no limit: for the last short steps after a limit has passed."""
    return limited(lambda seconds: None)


def is_limited() -> bool:
    """Whether there is a time limit."""
    return _ask.get() is not None


def require(seconds: float = 0.0) -> None:
    """Raise unless about this many seconds are left.

    >>> def ask(seconds):
    ...     if seconds > 1:
    ...         raise TimeoutError
    >>> require(5)
    >>> with limited(ask):
    ...     require(5)
    Traceback (most recent call last):
    TimeoutError
    """
    ask = _ask.get()
    if ask is not None:
        ask(seconds)
