"""A run of the Perceptron that can be watched and stopped, that keeps its best weights, and that can be resumed."""

import hashlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from linsep._version import __version__
from linsep.errors import CheckpointError, NotSeparableError
from linsep.halfspace import Halfspace
from linsep.learners.checkpoints import CheckpointFile, Identity
from linsep.learners.perceptron import Keep, Order, learner_on
from linsep.learners.perceptron_run import Step
from linsep.learners.perceptron_state import question, restore, state
from linsep.learners.vanishing import require_scores
from linsep.models import Model, Training
from linsep.questions.decide import decide
from linsep.questions.margin import Novikoff, novikoff
from linsep.report import Part, Report, Reported, Sentence, bounded, count, run_ended
from linsep.sources.base import Source
from linsep.sources.inputs import as_source
from linsep.sources.standardised import StandardisedSource, mistakes_of, standardised

LOOK_EVERY_S = 0.1
SHOWN_WEIGHTS = 8
BOUND_ENTRIES = 100_000  # for tables up to this size, the mistake bound is computed with a run
LEAST_SECONDS = 10.0  # to decide about the rows, after a run that has not separated them
IN_OWN_UNITS = "The run was on centred and scaled columns; these weights are in the units of your rows."
SCALED_ALONE = "The run was on scaled columns; these weights are in the units of your rows."


@dataclass(frozen=True, slots=True)
class Progress:
    """A run as a progress bar sees it."""

    passes: int
    updates: int
    rows_read: int
    seconds: float
    mistakes: int | None  # of the best weights so far; None before the first scan


@dataclass(frozen=True, slots=True)
class Proved:
    """What is proved about the rows, whatever a run did: `separable` is None if time ran out."""

    separable: bool | None = None
    theory: Novikoff | None = None


NOTHING_PROVED = Proved()


@dataclass(frozen=True, slots=True)
class Fitted(Reported):
    """The result of a run. `separated` is claimed only if no score lies within its own rounding error.

    Attributes
    ----------
    halfspace : Halfspace
        In the user's units, even after a run on standardised columns.
    converged : bool
        Whether a pass was without a mistake.
    doubtful : int
        Rows whose score may have the wrong sign through rounding, counted on the user's own rows.
    updates, passes, rows, rows_left_out : int
        Of the run and of the data.
    mistakes : int or None
        The mistakes of the best weights; None if the last weights were kept.
    stopped_by : int
        The signal, or 0.
    standardised : str
        A sentence about centring and scaling; empty without them.

    Examples
    --------
    >>> import linsep
    >>> trainer = linsep.on_files.Trainer(*linsep.datasets.tao(), bias=False)
    >>> trainer.run().separated
    True
    """

    halfspace: Halfspace
    converged: bool
    doubtful: int
    updates: int
    passes: int
    rows: int
    rows_left_out: int
    mistakes: int | None = None
    stopped_by: int = 0
    standardised: str = ""  # what was done to the columns, in words

    @property
    def separated(self) -> bool:
        """Whether the hyperplane separates the classes without any doubt."""
        return self.converged and not self.doubtful

    def report(
        self, names: Sequence[str] | None = None, bound: float | None = None, proved: Proved = NOTHING_PROVED
    ) -> Report:
        """How the run ended: the hyperplane, or the best so far, with Novikoff's bound and what is proved."""
        plane, parts = _equation(self.halfspace, names), list[Part]()
        if self.mistakes is not None and not self.separated:
            best = f"Best so far: {plane}, {count(self.mistakes, 'mistake')} in {self.rows:,} rows."
            parts.append(Sentence(best, "best"))
        parts += [Sentence(self.standardised, "units")] if self.standardised else []
        parts += [] if bound is None else [bounded(bound)]
        parts += [] if proved.theory is None else proved.theory.remarks()
        was = "interrupted" if self.stopped_by else ""
        title = run_ended(self.converged, self.updates, self.passes, plane, self.doubtful, was, proved.separable)
        return Report(title, tuple(parts), "yes" if self.separated else "unsure")

    def facts(self) -> dict[str, Any]:
        """The same as plain values."""
        kept = {} if self.mistakes is None else {"interrupted": self.stopped_by > 0, "mistakes": self.mistakes}
        return {
            "separated": self.separated,
            "converged": self.converged,
            **kept,
            "doubtful": self.doubtful,
            "rows": self.rows,
            "rows_left_out": self.rows_left_out,
            "updates": self.updates,
            "passes": self.passes,
            "w": self.halfspace.w.tolist(),
            "b": self.halfspace.b,
            "labels": list(self.halfspace.labels),
            "standardised": bool(self.standardised),
        }


class Trainer:
    """A run of the Perceptron on rows or on a source, not started yet.

    Parameters
    ----------
    X, y : the rows and their labels
        As `decide` takes them.
    order, bias, max_passes, max_updates
        Those of `perceptron`.
    keep : "best" or "last"
        The pocket, or the last weights.
    seed : int
        Of "shuffled".
    standardise : bool
        Run on the columns centred and scaled (without bias only scaled: the origin stays). Its steps have the weights
        of those columns; the result is converted back to the user's units, and checked on the user's rows.

    Examples
    --------
    >>> import linsep
    >>> [step.row for step in linsep.on_files.Trainer(*linsep.datasets.tao(), bias=False).steps()]
    [0, 1]
    """

    def __init__(
        self,
        X: Any,
        y: Any = None,
        *,
        order: Order = "cyclic",
        keep: Keep = "best",
        bias: bool = True,
        max_passes: int | None = None,
        max_updates: int | None = None,
        seed: int = 0,
        standardise: bool = False,
    ) -> None:
        self.own = as_source(X, y)
        self.source = standardised(self.own, centre=bias) if standardise else self.own
        require_scores(self.source)
        self.keep, self.seed = keep, seed
        self.learner = learner_on(
            self.source,
            order=order,
            keep=keep,
            bias=bias,
            max_passes=max_passes,
            max_updates=max_updates,
            random_state=seed,
        )

    def steps(self) -> Iterator[Step]:
        """Each update of the run."""
        return self.learner.steps()

    def run(
        self,
        show: Callable[[Progress], None] = lambda progress: None,
        stopped_by: Callable[[], int] = lambda: 0,
        checkpoint: "Checkpoint | None" = None,
    ) -> Fitted:
        """Run to the end, or until `stopped_by` returns the number of a signal; resume from a checkpoint if given."""
        started = shown = time.monotonic()
        if checkpoint is not None:
            checkpoint.restore()
        learner, pocket, before = self.learner, self.learner.perceptron.pocket, self.learner.rows_read
        for _ in learner.walk():
            if checkpoint is not None:
                checkpoint.save()
            if stopped_by():
                break
            if (now := time.monotonic()) - shown > LOOK_EVERY_S:
                shown = now
                mistakes = int(pocket.mistakes) if pocket.mistakes < self.source.n_rows else None
                show(Progress(learner.passes, learner.updates, learner.rows_read - before, now - started, mistakes))
        if checkpoint is not None and not learner.converged:
            checkpoint.save(now=True)
        learner.finish()
        return self.result(stopped_by())

    def result(self, stopped_by: int = 0) -> Fitted:
        """The result of the run so far, with the weights that it keeps."""
        run, facts, pocket = self.learner.result(), self.source.facts, self.learner.perceptron.pocket
        is_best = self.keep == "best"
        best = Halfspace(pocket.weights.W[0], pocket.weights.b[0].item(), facts.pair) if is_best else run.halfspace
        ended = Fitted(
            halfspace=best,
            converged=run.converged,
            doubtful=self._doubtful_rows() if run.converged or not is_best else 0,
            updates=run.updates,
            passes=run.passes,
            rows=self.source.n_rows,
            rows_left_out=facts.rows_left_out,
            mistakes=int(pocket.mistakes) if is_best else None,
            stopped_by=0 if run.converged else stopped_by,
        )
        return self._in_own_units(ended) if isinstance(self.source, StandardisedSource) else ended

    def _in_own_units(self, ended: Fitted) -> Fitted:
        """The result for the user's rows: rows that are not on their side of the rounded weights are counted there."""
        assert isinstance(self.source, StandardisedSource)
        plane = self.source.scaling.in_own_units(ended.halfspace)
        wrong = mistakes_of(self.own, plane)
        return replace(
            ended,
            halfspace=plane,
            doubtful=wrong if ended.converged else 0,
            mistakes=None if ended.mistakes is None else wrong,
            standardised=IN_OWN_UNITS if self.learner.bias else SCALED_ALONE,
        )

    def proved(self, seconds: float | None = None) -> Proved:
        """What can be proved about the user's rows within this many seconds, after a run that did not separate them."""
        bias = self.learner.bias
        verdict = decide(self.own, bias=bias, time_limit=seconds)
        if not verdict.separable or self.own.n_rows * self.own.n_columns > BOUND_ENTRIES:
            return Proved(verdict.separable)
        return Proved(True, bound_of(self.own, bias, seconds))

    def _doubtful_rows(self) -> int:
        """How many rows are so near to the current hyperplane that they may be on their side only by rounding."""
        run = self.learner.result()
        if run.bits is not None:  # integers throughout: every sign is exact
            return 0
        return int(self.source.scan(run.halfspace.w.astype(float), float(run.halfspace.b)).doubtful.size)

    def save(self, path: str, result: Fitted, columns: tuple[str, ...] | None, label: str | int | None) -> None:
        """Write the weights as a model, which knows its columns and how it was trained."""
        training = Training(
            rows=result.rows,
            mistakes=result.mistakes or 0,
            updates=result.updates,
            passes=result.passes,
            converged=result.converged and not result.mistakes,
            order=self.learner.order,
            seed=self.seed,
            linsep=__version__,
        )
        Model(result.halfspace, self.learner.bias, columns, label, training).save(path)


class Checkpoint:
    """A file that keeps the state of a run, so that the same run resumes from it.

    Parameters
    ----------
    trainer : Trainer
        The run.
    path : str
        The file.
    note : callable or None
        Called with a remark on whether the run resumes or starts over, and why.

    Examples
    --------
    >>> import linsep, pathlib, tempfile
    >>> trainer = linsep.on_files.Trainer(*linsep.datasets.tao(), bias=False)
    >>> path = pathlib.Path(tempfile.mkdtemp(), "run.checkpoint")
    >>> linsep.on_files.Checkpoint(trainer, str(path)).save(now=True)
    >>> path.exists()
    True
    """

    def __init__(self, trainer: Trainer, path: str, note: Callable[[str], None] | None = None) -> None:
        source = trainer.source
        self._learner, self._key = trainer.learner, question(trainer.learner, trainer.seed)
        self._note = note or (lambda text: None)
        self._file = CheckpointFile(path, Identity(source.n_rows, source.n_columns, fingerprint(source)), self._note)
        if self._file.found:
            self._note(f"Resuming from {self._file.path}.")

    def restore(self) -> None:
        """Restore the state that the run had when the file was written, if the file holds this run."""
        arrays = self._file.get(self._key)
        if arrays is not None:
            try:
                restore(self._learner, arrays)
            except CheckpointError as error:
                self._note(f"{self._file.path}: {error}")

    def save(self, *, now: bool = False) -> None:
        """Write the state of the run, if that is due or `now` is true."""
        if now or self._file.is_due():
            self._file.put(self._key, state(self._learner))
            self._file.save(now=now)

    def close(self, result: Fitted) -> None:
        """Remove the file if the run has ended, or say how to resume."""
        path = self._file.path
        if result.separated:
            self._file.remove()
            return
        if not result.stopped_by:
            self._file.save(now=True)
        if path.exists() and result.stopped_by:
            self._note(f"Stopped. The state of the run is in {path}: the same command resumes from it.")
        elif path.exists():
            self._note(f"{path} is kept: the same command with a higher limit resumes from it.")


def scaled_rows(X: Any, y: Any, *, bias: bool = True) -> Any:
    """Rows in memory with their columns centred and scaled, as in a run with `standardise`, to be shown."""
    return next(standardised(as_source(X, y), centre=bias).blocks()).values


def bound_of(source: Source, bias: bool, seconds: float | None = None) -> Novikoff | None:
    """Novikoff's bound on the updates, if the table is small enough to compute it quickly."""
    if source.n_rows * source.n_columns > BOUND_ENTRIES:
        return None
    try:
        return novikoff(source, bias=bias, time_limit=seconds)
    except NotSeparableError:  # the margin is too small for floats
        return None


def fingerprint(source: Source) -> str:
    """A digest that tells whether the rows are the same as last time.

    For files it covers their names, sizes and times, how they were read, and the first block; for anything else,
    every row.
    """
    files = [(file, *_size_and_time(file)) for file in source.facts.files] or None
    digest = hashlib.sha256(repr((files, source.facts)).encode("utf-8", "backslashreplace"))
    for block in islice(source.blocks(), None if files is None else 1):
        for array in (*block.table, block.y):
            digest.update(f"{array.dtype.str}{array.shape}".encode())
            digest.update(np.ascontiguousarray(array).data.cast("B") if array.size else b"")
    return digest.hexdigest()


def _size_and_time(path: str) -> tuple[int, int]:
    """The size and modification time of a file; zeros for standard input."""
    try:
        found = Path(path).stat()
    except OSError:
        return 0, 0
    return found.st_size, found.st_mtime_ns


def _equation(halfspace: Halfspace, columns: Sequence[str] | None) -> str:
    """The hyperplane in a line, or its size if it does not fit into a line."""
    if not halfspace.w.any():
        return "no hyperplane yet (all weights are 0)"
    if len(halfspace.w) > SHOWN_WEIGHTS:
        return f"a hyperplane with {len(halfspace.w):,} weights"
    return halfspace.equation(columns)
