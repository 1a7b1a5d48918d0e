"""Standard streams that may be closed, on a full disk or without a reader, and the signals that end a command."""

import errno
import os
import signal
import stat
import sys
import threading
from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager, suppress
from io import TextIOBase
from pathlib import Path
from types import TracebackType
from typing import NoReturn, TextIO

from linsep import outputs


class Closed(TextIOBase):
    """Standard output that was closed before the command began: writing to it raises an error."""

    def __init__(self) -> None:
        self.is_missed = False

    def write(self, text: str) -> NoReturn:
        """Always raise OSError."""
        self.is_missed = True
        raise OSError(errno.EBADF, "it is closed")

    def flush(self) -> None:
        """Raise again if a write has failed: the text is lost."""
        if self.is_missed:
            self.write("")


@contextmanager
def opened() -> Iterator[None]:
    """Make sure that all three streams are open, so that no file opened later gets the number of one of them."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest number that is free is this one
    before = sys.stdin, sys.stdout, sys.stderr
    with ExitStack() as stack:
        if sys.stdout is None:
            sys.stdout = Closed()
        if sys.stderr is None:
            sys.stderr = stack.enter_context(Path(os.devnull).open("w"))
        try:
            yield
        finally:
            sys.stdin, sys.stdout, sys.stderr = before


class UnshownError(OSError):
    """A result could not be shown: its reader has left, its disk is full, or standard output is closed."""


@contextmanager
def shown() -> Iterator[None]:
    """Raise UnshownError for any OSError: it is about showing results, not about the data or a file."""
    try:
        yield
    except OSError as error:
        raise UnshownError(error.errno, error.strerror or str(error)) from error


def flush() -> None:
    """Flush the result before anything is done that relies on it having been shown."""
    with shown():
        sys.stdout.flush()


@contextmanager
def unheard() -> Iterator[None]:
    """Ignore errors of stderr, whose reader may have left or whose disk may be full: nobody would see a message."""
    try:
        yield
    except OSError:
        silence(sys.stderr)


def silence(stream: TextIO) -> None:
    """Discard what is still buffered and what is written from now on."""
    if isinstance(stream, Closed):
        stream.is_missed = False
    with suppress(OSError, ValueError):  # a stream without a file has no buffer to discard
        target, nowhere = stream.fileno(), os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, target)
        os.close(nowhere)


def file_of(stream: TextIO) -> outputs.Identity | None:
    """The file that a stream is redirected to; None for a pipe, a terminal or a device."""
    try:
        number = stream.fileno()
        return outputs.identity(number) if stat.S_ISREG(os.fstat(number).st_mode) else None
    except (AttributeError, OSError, ValueError):
        return None


def spare(files: Collection[outputs.Identity]) -> bool:
    """Whether stderr goes into one of these files; if so, complaints go to stdout from now on, or nowhere."""
    if (known := file_of(sys.stderr)) is None or known not in files:
        return False
    if isinstance(sys.stdout, Closed) or file_of(sys.stdout) in files:
        silence(sys.stderr)
    else:
        os.dup2(sys.stdout.fileno(), sys.stderr.fileno())
    return True


class Terminated(BaseException):
    """SIGTERM or SIGHUP, as an exception with its number: like Ctrl-C it ends the command where it stands."""


def is_main_thread() -> bool:
    """Whether this is the main thread, the only one that can handle signals."""
    return threading.current_thread() is threading.main_thread()


interrupts: list[int] = []
"""The signals that `interrupt` has raised."""


def interrupt(number: int, frame: object) -> None:
    """Raise KeyboardInterrupt, and note it: libraries may swallow the exception or replace it by another."""
    interrupts.append(number)
    raise KeyboardInterrupt


def require_uninterrupted() -> None:
    """Raise KeyboardInterrupt again if a library has swallowed it, as imports of compiled modules may."""
    if interrupts:
        raise KeyboardInterrupt


class FirstSignal:
    """The first signal is noted, so that no work is cut in half; a second one, or one during a wait, interrupts.

    `noted` is the number of the signal, 0 before there was one.
    """

    def __init__(self, *signals: signal.Signals) -> None:
        self.noted, self._waits = 0, False
        self._signals = signals if is_main_thread() else ()

    def __enter__(self) -> "FirstSignal":
        self._before = {number: signal.signal(number, self._hear) for number in self._signals}
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _hear(self, number: int, frame: object) -> None:
        if self._waits or self.noted:
            raise KeyboardInterrupt
        self.noted = number

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """While input is waited for."""
        self._waits = True
        try:
            if self.noted:
                raise KeyboardInterrupt
            yield
        finally:
            self._waits = False


@contextmanager
def termination_raised() -> Iterator[None]:
    """SIGTERM and SIGHUP end a command as Ctrl-C does: by an exception, so that no half-written file is left."""
    if not is_main_thread():
        yield
        return

    def stop(number: int, frame: object) -> NoReturn:
        raise Terminated(number)

    heard = [number for number in signal.Signals if number.name in ("SIGTERM", "SIGHUP")]
    before = {number: signal.signal(number, stop) for number in heard if signal.getsignal(number) == signal.SIG_DFL}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
