"""Learning that can be watched and stopped: the Perceptron with the best weights seen so far in its pocket."""

import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from linsep.checkpoints import CheckpointFile, Key
from linsep.errors import CheckpointError
from linsep.halfspace import Halfspace
from linsep.solvers.learner import Learner
from linsep.solvers.resuming import restore, state

LOOK_EVERY_S = 0.1


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
    stopped_by: int  # the signal, or 0
    updates: int
    passes: int
    rows_read: int
    seconds: float


class Keeper:
    """Keeps a run in a checkpoint file."""

    def __init__(self, file: CheckpointFile, key: Key) -> None:
        self.file, self._key = file, key

    def restore(self, learner: Learner) -> bool:
        """Put the run where it was when the file was written; False if it does not know this run."""
        arrays = self.file.get(self._key)
        if arrays is None:
            return False
        try:
            restore(learner, arrays)
        except CheckpointError as error:
            self.file.note(f"{self.file.path}: {error}")
            return False
        return True

    def save(self, learner: Learner, *, now: bool = False) -> None:
        """Write the run down, if it is due or must be `now`."""
        if now or self.file.is_due():
            self.file.put(self._key, state(learner))
            self.file.save(now=now)


def fit(learner: Learner, show: Callable[[Look], None], keeper: Keeper | None = None) -> Fitted:
    """Run the learner to its end or to the first Ctrl-C (with a keeper also SIGTERM), from where it was kept."""
    started = shown = time.monotonic()
    if keeper is not None:
        keeper.restore(learner)
    pocket = learner.perceptron.pocket
    before = learner.rows_read
    with first_interrupt_noted((signal.SIGINT, signal.SIGTERM) if keeper else (signal.SIGINT,)) as stopped_by:
        for _ in learner.walk():
            if keeper is not None:
                keeper.save(learner)
            if stopped_by():
                break
            if (now := time.monotonic()) - shown > LOOK_EVERY_S:
                shown = now
                mistakes = pocket.mistakes if pocket.mistakes < learner.source.n_rows else None
                show(Look(learner.passes, learner.updates, learner.rows_read - before, now - started, mistakes))
        if keeper is not None and not learner.converged:
            keeper.save(learner, now=True)
        learner.finish()
    return _fitted(learner, stopped_by(), time.monotonic() - started)


def doubtful_rows(learner: Learner) -> int:
    """How many rows lie so near the current hyperplane that rounding may have put them on their side."""
    run = learner.result()
    if run.bits is not None:  # integers throughout: every sign is exact
        return 0
    return int(learner.source.scan(run.halfspace.w.astype(float), float(run.halfspace.b)).doubtful.size)


def _fitted(learner: Learner, stopped_by: int, seconds: float) -> Fitted:
    run, pocket = learner.result(), learner.perceptron.pocket
    doubtful = doubtful_rows(learner) if run.converged else 0
    return Fitted(
        halfspace=Halfspace(pocket.weights.W[0], pocket.weights.b[0].item(), learner.source.facts.pair),
        separated=run.converged and not doubtful,
        mistakes=pocket.mistakes,
        doubtful=doubtful,
        converged=run.converged,
        interrupted=stopped_by > 0 and not run.converged,
        stopped_by=0 if run.converged else stopped_by,
        updates=run.updates,
        passes=run.passes,
        rows_read=learner.rows_read,
        seconds=seconds,
    )


@contextmanager
def first_interrupt_noted(signals: Sequence[signal.Signals] = (signal.SIGINT,)) -> Iterator[Callable[[], int]]:
    """Turn the first Ctrl-C into a flag, so that it falls between two sweeps; a second one interrupts at once.

    The flag is the number of the signal, 0 before there was one.
    """
    noted: list[int] = []
    stopped_by: Callable[[], int] = lambda: noted[0] if noted else 0  # noqa: E731
    if threading.current_thread() is not threading.main_thread():  # only the main thread hears signals
        yield stopped_by
        return

    def note(number: int, frame: object) -> None:
        if noted:
            raise KeyboardInterrupt
        noted.append(number)

    before = {number: signal.signal(number, note) for number in signals}
    try:
        yield stopped_by
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
