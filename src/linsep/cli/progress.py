"""What a person sees while a command works: a line on stderr, if that is a terminal or with --progress."""

import math
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from rich.text import Text

from linsep import on_files
from linsep.cli import stdio
from linsep.cli.terminal import Page, colours, count, note, printable

PLAIN_EVERY_S = 2.0


@contextmanager
def learning(max_passes: int | None, *, wanted: bool = False) -> Iterator[Callable[[Any], None]]:
    """The progress of a fit."""
    looks: list[Any] = [None]

    def described() -> str:
        if (look := looks[-1]) is None:
            return "Learning"
        parts = [count(look.passes, "pass") + (f" of at most {max_passes:,}" if max_passes else "")]
        parts.append(count(look.updates, "update"))
        if look.mistakes is not None:
            parts.append(f"best so far: {count(look.mistakes, 'mistake')}")
        parts.append(f"{look.rows_read / look.seconds:,.0f} rows/s")
        return ", ".join(parts) + " (Ctrl-C keeps the best)"

    with shown(described, wanted=wanted):
        yield lambda look: looks.__setitem__(-1, look)


def reads_and_bounds(clock: Any) -> str:
    """What a search for a hyperplane shows: its reads, and the bounds on the margin so far."""
    low, high = clock.bounds
    return count(clock.reads, "read") + (f", gamma {low:.6g} to {high:.6g}" if math.isfinite(high) else "")


@contextmanager
def searching(
    doing: str,
    data: tuple[Any, Any],
    *,
    wanted: bool = False,
    told: Callable[[Any], str] = reads_and_bounds,
    first: str = "0 reads",
    ends: str = "ends",
) -> Iterator[tuple[tuple[Any, Any], Callable[[Any], None] | None]]:
    """The rows to search, and what the search calls at each step: to show progress, and to notice a lost Ctrl-C.

    A person sees what is `told` of the search, the rows per second, and what Ctrl-C does.
    """
    if not (wanted or sys.stderr.isatty()):
        yield data, (lambda search: stdio.require_uninterrupted()) if ends == "ends" else None
        return
    source, started, known = on_files.watched(*data), time.monotonic(), [first]

    def described() -> str:
        speed = source.rows_read / max(1e-9, time.monotonic() - started)
        return f"{doing}: {known[-1]}, {speed:,.0f} rows/s (Ctrl-C {ends})"

    def watch(search: Any) -> None:
        if ends == "ends":  # else what has been found is kept
            stdio.require_uninterrupted()
        known[-1] = told(search)

    with shown(described, wanted=wanted):
        yield (source, None), watch


@contextmanager
def shown(described: Callable[[], str], *, wanted: bool = False) -> Iterator[None]:
    """A line that is kept up to date on a terminal; elsewhere, if it is wanted, a new line every other second."""
    if sys.stderr.isatty():
        with _live(described):
            yield
        return
    ended = threading.Event()

    def now_and_then() -> None:
        while not ended.wait(PLAIN_EVERY_S):
            note(described())

    thread = threading.Thread(target=now_and_then, daemon=True)
    if wanted:
        thread.start()
    try:
        yield
    finally:
        ended.set()
        if wanted:
            thread.join()
            note(described())


@contextmanager
def _live(described: Callable[[], str]) -> Iterator[None]:
    from rich.progress import Progress, ProgressColumn, SpinnerColumn, Task, TimeElapsedColumn

    class Described(ProgressColumn):
        """The description as it is now, not as it was at the last update."""

        def render(self, task: Task) -> Text:
            return Text(printable(described()))

    page = Page(file=sys.stderr, markup=False, emoji=False, highlight=False, **colours(sys.stderr))
    with Progress(SpinnerColumn(), TimeElapsedColumn(), Described(), console=page, transient=True) as bar:
        bar.add_task("", total=None)
        yield


def waiting(doing: str) -> AbstractContextManager[None]:
    """A spinner with the seconds on stderr while something runs; nothing where stderr is not a terminal."""
    return shown(lambda: f"{doing} (Ctrl-C ends)")
