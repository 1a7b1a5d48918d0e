"""Learning that can be watched and stopped: the Perceptron with the best weights seen so far in its pocket.

On data that no hyperplane separates the last weights are no better than any others, so after each pass with as
few updates as any before it, a scan counts the mistakes of the current weights, and the fewest are kept.
(Gallant, Perceptron-based learning algorithms, 1990, counts runs of correct rows instead.)
"""

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from linsep.halfspace import Halfspace
from linsep.solvers.perceptron import NO_LIMIT, Learner
from linsep.sources.base import Scan, Source

LOOK_EVERY_S = 0.1
TINY, TINY_LOOKS = 32, 1000  # rows, updates: a tiny table may end every pass at zero weights, as XOR does


@dataclass(frozen=True, slots=True)
class Look:
    """A run as a progress bar sees it."""

    passes: int
    updates: int
    rows_read: int
    seconds: float
    mistakes: int | None  # of the best weights so far; None before the first scan


@dataclass(frozen=True, slots=True)
class Fitted:
    """What a fit ended with. `separated` is claimed only where no score lies within its own rounding error."""

    halfspace: Halfspace
    separated: bool
    mistakes: int
    doubtful: int
    converged: bool
    interrupted: bool
    updates: int
    passes: int
    rows_read: int
    seconds: float


class Pocket:
    """The weights with the fewest mistakes of those looked at."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self.best: tuple[Halfspace, Scan] | None = None

    def weigh(self, halfspace: Halfspace) -> None:
        """Count the mistakes of these weights, and keep them if there are fewer."""
        scan = self._source.scan(halfspace.w.astype(float), float(halfspace.b))
        if self.best is None or scan.mistakes < self.best[1].mistakes:
            self.best = halfspace, scan


def fit(learner: Learner, show: Callable[[Look], None]) -> Fitted:
    """Run the learner to its end or to the first Ctrl-C."""
    started = shown = time.monotonic()
    pocket, passes, updates, fewest = Pocket(learner.source), 0, 0, learner.source.n_rows + 1
    is_tiny = learner.source.n_rows <= TINY
    with first_interrupt_noted() as interrupted:
        for _ in learner.walk(look_after=1 if is_tiny else NO_LIMIT):
            if is_tiny and learner.updates <= TINY_LOOKS:
                pocket.weigh(learner.halfspace)
            done = learner.rows_read // learner.source.n_rows
            if done > passes:
                made, passes, updates = learner.updates - updates, done, learner.updates
                if made <= fewest:
                    fewest = made
                    pocket.weigh(learner.halfspace)
            if interrupted():
                break
            if (now := time.monotonic()) - shown > LOOK_EVERY_S:
                shown = now
                mistakes = pocket.best[1].mistakes if pocket.best else None
                show(Look(learner.passes, learner.updates, learner.rows_read, now - started, mistakes))
        if learner.converged:
            pocket = Pocket(learner.source)  # the last weights, whatever the floats of a scan make of the others
        pocket.weigh(learner.halfspace)
    return _fitted(learner, pocket, interrupted(), time.monotonic() - started)


def doubtful_rows(learner: Learner) -> int:
    """How many rows lie so near the current hyperplane that rounding may have put them on their side."""
    run = learner.result()
    if run.bits is not None:  # integers throughout: every sign is exact
        return 0
    return int(learner.source.scan(run.halfspace.w.astype(float), float(run.halfspace.b)).doubtful.size)


def _fitted(learner: Learner, pocket: Pocket, interrupted: bool, seconds: float) -> Fitted:
    assert pocket.best is not None
    halfspace, scan = pocket.best
    run = learner.result()
    exact = run.bits is not None  # integers throughout: every sign of the last pass is proved
    return Fitted(
        halfspace=halfspace,
        separated=run.converged and (exact or scan.is_clean),
        mistakes=0 if run.converged and exact else scan.mistakes,
        doubtful=0 if exact else scan.doubtful.size,
        converged=run.converged,
        interrupted=interrupted and not run.converged,
        updates=run.updates,
        passes=run.passes,
        rows_read=learner.rows_read,
        seconds=seconds,
    )


@contextmanager
def first_interrupt_noted() -> Iterator[Callable[[], bool]]:
    """Turn the first Ctrl-C into a flag, so that it falls between two sweeps; a second one interrupts at once."""
    noted = threading.Event()
    if threading.current_thread() is not threading.main_thread():  # only the main thread hears signals
        yield noted.is_set
        return

    def note(number: int, frame: object) -> None:
        if noted.is_set():
            raise KeyboardInterrupt
        noted.set()

    before = signal.signal(signal.SIGINT, note)
    try:
        yield noted.is_set
    finally:
        signal.signal(signal.SIGINT, before)
