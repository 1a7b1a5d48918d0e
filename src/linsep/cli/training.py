"""Learning that can be watched and stopped: the Perceptron with the best weights seen so far in its pocket.

On data that no hyperplane separates the last weights are no better than any others, so after each pass with as
few updates as any before it, a scan counts the mistakes of the current weights, and the fewest are kept.
(Gallant, Perceptron-based learning algorithms, 1990, counts runs of correct rows instead.)
"""

import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from linsep.checkpoints import Arrays, CheckpointFile, Key
from linsep.errors import CheckpointError
from linsep.halfspace import Halfspace
from linsep.solvers.perceptron import NO_LIMIT, Learner
from linsep.solvers.resuming import restore, state
from linsep.sources.base import Array, Source

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
    stopped_by: int  # the signal, or 0
    updates: int
    passes: int
    rows_read: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Weighed:
    """Weights, and what a scan says of them."""

    halfspace: Halfspace
    mistakes: int
    doubtful: int

    @property
    def is_clean(self) -> bool:
        """No mistake, and every sign proved."""
        return self.mistakes == 0 and self.doubtful == 0


class Pocket:
    """The weights with the fewest mistakes of those looked at, and when the next ones are worth a look."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self.best: Weighed | None = None
        self.passes, self.updates, self.fewest = 0, 0, source.n_rows + 1

    def look(self, learner: Learner) -> None:
        """Weigh the weights after a pass that made as few updates as any before it."""
        if learner.source.n_rows <= TINY and learner.updates <= TINY_LOOKS:
            self.weigh(learner.halfspace)
        done = learner.rows_read // learner.source.n_rows
        if done > self.passes:
            made, self.passes, self.updates = learner.updates - self.updates, done, learner.updates
            if made <= self.fewest:
                self.fewest = made
                self.weigh(learner.halfspace)

    def weigh(self, halfspace: Halfspace) -> None:
        """Count the mistakes of these weights, and keep them if there are fewer."""
        scan = self._source.scan(halfspace.w.astype(float), float(halfspace.b))
        if self.best is None or scan.mistakes < self.best.mistakes:
            self.best = Weighed(halfspace, scan.mistakes, scan.doubtful.size)


class Keeper:
    """Keeps a run in a checkpoint file: the learner, and its pocket."""

    def __init__(self, file: CheckpointFile, key: Key) -> None:
        self.file, self._key = file, key

    def restore(self, learner: Learner, pocket: Pocket) -> bool:
        """Put both where they were when the file was written; False if it does not know this run."""
        arrays = self.file.get(self._key)
        if arrays is None:
            return False
        try:
            pace, best = _read_pocket(arrays, learner)
            restore(learner, arrays)
        except CheckpointError as error:
            self.file.note(f"{self.file.path}: {error}")
            return False
        pocket.best, (pocket.passes, pocket.updates, pocket.fewest) = best, pace
        return True

    def save(self, learner: Learner, pocket: Pocket, *, now: bool = False) -> None:
        """Write both down, if it is due or must be `now`."""
        if now or self.file.is_due():
            self.file.put(self._key, {**state(learner), **_pocket_arrays(pocket)})
            self.file.save(now=now)


def _pocket_arrays(pocket: Pocket) -> dict[str, Array]:
    pace = np.array([pocket.passes, pocket.updates, pocket.fewest], np.int64)
    if pocket.best is None:
        return {"pocket_pace": pace}
    halfspace = pocket.best.halfspace
    return {
        "pocket_pace": pace,
        "pocket_w": halfspace.w.copy(),
        "pocket_b": np.array([halfspace.b], halfspace.w.dtype),
        "pocket_mistakes": np.array([pocket.best.mistakes, pocket.best.doubtful], np.int64),
    }


def _read_pocket(arrays: Arrays, learner: Learner) -> tuple[list[int], Weighed | None]:
    nothing = np.zeros(0)
    pace, mistakes = arrays.get("pocket_pace", nothing), arrays.get("pocket_mistakes", np.zeros(2, np.int64))
    w, b = arrays.get("pocket_w", nothing), arrays.get("pocket_b", nothing)
    counted = pace.dtype == mistakes.dtype == np.int64 and pace.shape == (3,) and mistakes.shape == (2,)
    weighed = w.dtype == b.dtype and w.dtype in (np.int64, np.float64) and w.shape == learner.w.shape
    if not counted or ("pocket_w" in arrays and not (weighed and b.shape == (1,) and bool(np.isfinite(w).all()))):
        raise CheckpointError("The best weights of the run do not fit these rows. Starting over.")
    if "pocket_w" not in arrays:
        return pace.tolist(), None
    return pace.tolist(), Weighed(Halfspace(w, b[0].item(), learner.source.facts.labels), *mistakes.tolist())


def fit(learner: Learner, show: Callable[[Look], None], keeper: Keeper | None = None) -> Fitted:
    """Run the learner to its end or to the first Ctrl-C (with a keeper also SIGTERM), from where it was kept."""
    started = shown = time.monotonic()
    pocket = Pocket(learner.source)
    if keeper is not None:
        keeper.restore(learner, pocket)
    before = learner.rows_read
    with first_interrupt_noted((signal.SIGINT, signal.SIGTERM) if keeper else (signal.SIGINT,)) as stopped_by:
        for _ in learner.walk(look_after=1 if learner.source.n_rows <= TINY else NO_LIMIT):
            pocket.look(learner)
            if keeper is not None:
                keeper.save(learner, pocket)
            if stopped_by():
                break
            if (now := time.monotonic()) - shown > LOOK_EVERY_S:
                shown = now
                mistakes = pocket.best.mistakes if pocket.best else None
                show(Look(learner.passes, learner.updates, learner.rows_read - before, now - started, mistakes))
        if keeper is not None and not learner.converged:
            keeper.save(learner, pocket, now=True)
        if learner.converged:
            pocket = Pocket(learner.source)  # the last weights, whatever the floats of a scan make of the others
        pocket.weigh(learner.halfspace)
    return _fitted(learner, pocket, stopped_by(), time.monotonic() - started)


def doubtful_rows(learner: Learner) -> int:
    """How many rows lie so near the current hyperplane that rounding may have put them on their side."""
    run = learner.result()
    if run.bits is not None:  # integers throughout: every sign is exact
        return 0
    return int(learner.source.scan(run.halfspace.w.astype(float), float(run.halfspace.b)).doubtful.size)


def _fitted(learner: Learner, pocket: Pocket, stopped_by: int, seconds: float) -> Fitted:
    assert pocket.best is not None
    scan = pocket.best
    run = learner.result()
    exact = run.bits is not None  # integers throughout: every sign of the last pass is proved
    return Fitted(
        halfspace=scan.halfspace,
        separated=run.converged and (exact or scan.is_clean),
        mistakes=0 if run.converged and exact else scan.mistakes,
        doubtful=0 if exact else scan.doubtful,
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
