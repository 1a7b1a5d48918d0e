"""Files by their names: which there are, what errors call them, and how they are opened."""

import logging
import signal
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep.errors import ArgumentError, CheckpointError, InputError, MissingPackageError
from linsep.learners.checkpoints import PREVIOUS
from linsep.sources.base import Source, joined
from linsep.sources.files import open as open_files
from linsep.sources.files import private
from linsep.sources.files.paths import expand as expand
from linsep.sources.files.paths import is_pipe as is_pipe
from linsep.sources.files.paths import reads as reads
from linsep.sources.inputs import as_classes, as_given
from linsep.tables import read_labels


class CacheFolder(NamedTuple):
    """The caches of slow files: where they are, how many, how large, and what else is in the folder."""

    folder: str
    number: int
    size: int
    left_alone: list[str]


def named(files: Sequence[str]) -> str:
    """Files as a report names them: the first, and how many more."""
    first = "stdin" if files[0] == "-" else files[0]
    return first if len(files) == 1 else f"{first} and {len(files) - 1:,} more"


@contextmanager
def about(files: Sequence[str]) -> Iterator[None]:
    """Put the name of the file into errors about its rows."""
    try:
        yield
    except CheckpointError:  # about another file
        raise
    except InputError as error:
        is_option = isinstance(error, ArgumentError) and error.row is None and error.column is None
        if error.file is None and not is_option:
            error.at(file=files[0], more=len(files) - 1)
        raise


def previous(checkpoint: str) -> str:
    """Where the checkpoint before the newest is kept."""
    return f"{checkpoint}{PREVIOUS}"


def watched(X: Any, y: Any = None) -> Any:
    """Make a source of the same rows that counts how many have been read: `rows_read`.

    Parameters
    ----------
    X, y : the rows and their labels
        As `decide` takes them.

    Returns
    -------
    Source
        Of the same rows.

    Raises
    ------
    InputError
        The data cannot be used.

    Examples
    --------
    >>> import linsep
    >>> source = linsep.on_files.watched(*linsep.datasets.xor())
    >>> linsep.decide(source).kind, source.rows_read > 0
    ('overlapping', True)
    """
    from linsep.sources.watched import WatchedSource

    return WatchedSource(as_classes(X, y, decimals=True))


def local_cluster(workers: int, scheduler: str | None = None) -> Any:
    """A client of this many processes on this machine, which end with the current one."""
    if scheduler is not None:
        raise ArgumentError("--scheduler and --workers are given: choose one of them.")
    try:
        from distributed import Client, LocalCluster
    except ImportError as error:
        raise MissingPackageError("distributed", "dask", "Clusters") from error
    options: Any = {"threads_per_worker": 1, "dashboard_address": None, "silence_logs": "CRITICAL"}
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)  # it tells of waits that Ctrl-C ended
    with _deaf_children(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Port .* is already in use")  # of a page that nobody asked for
        return Client(LocalCluster(n_workers=workers, **options), set_as_default=False)


@contextmanager
def _deaf_children() -> Iterator[None]:
    """Processes started by threads that are started here do not hear Ctrl-C: this process ends them, in silence.

    Meanwhile Ctrl-C waits.
    """
    if sys.platform == "win32":
        yield
        return
    from multiprocessing import resource_tracker

    options = list(sys.warnoptions)
    sys.warnoptions.append("ignore:resource_tracker")  # it removes what ended processes leave, and would say so
    try:
        resource_tracker.ensure_running()  # which would end the blocking of the thread that starts it
    finally:
        sys.warnoptions[:] = options
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def in_memory(source: Source) -> tuple[Any, npt.NDArray[Any]]:
    """Read all rows as one array or CSR matrix, with their labels, for drawing them.

    Parameters
    ----------
    source : Source
        Such as `linsep.open` returns.

    Returns
    -------
    X, y
        The rows and their labels.

    Examples
    --------
    >>> import linsep, pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "points.csv")
    >>> _ = path.write_text("a,y\\n1,no\\n2,yes\\n")
    >>> X, y = linsep.on_files.in_memory(linsep.open(path, label="y"))
    >>> X.tolist(), y.tolist()
    ([[1], [2]], ['no', 'yes'])
    """
    block = joined(list(as_given(source).blocks()))
    return block.values, read_labels(list(source.facts.labels))[(block.y > 0).astype(np.intp)]


def cached(*, clear: bool = False) -> CacheFolder:
    """List the caches, or delete them, which loses nothing.

    Parameters
    ----------
    clear : bool
        Delete them.

    Returns
    -------
    CacheFolder
        The caches, or those that were deleted: where, how many, how large, and what else is in the folder.

    Examples
    --------
    >>> import linsep
    >>> linsep.on_files.cached().number >= 0
    True
    """
    folder = private.cache_folder()
    if folder is None:
        return CacheFolder("", 0, 0, [])
    sizes = [found.st_size for _, found in private.caches(folder)]
    number, size = private.clear(folder) if clear else (len(sizes), sum(sizes))
    return CacheFolder(
        str(folder), number, size, sorted(str(file) for file, _ in private.caches(folder, are_ours=False))
    )


def open_for_formula(
    path: Any, formula: str, *, label: str | None = None, aside: Sequence[str] = (), **reading: Any
) -> Source:
    """Open the files that a formula is about: its outcome is the label, and the columns that it names are read.

    Text columns are categories; `aside` are more columns, which options name.
    """
    from linsep.questions.logistic.likelihoods.formula_words import named_in

    outcome, predictors = named_in(formula)
    if label not in (None, outcome[-1]):
        raise ArgumentError(f"The formula has the outcome {outcome[-1]!r}: leave --label {label} out.")
    for option in ("columns", "categories"):
        if option in reading:
            raise ArgumentError(f"The formula says what columns there are: leave --{option} out.")
    wanted = None if predictors is None else [*outcome[:-1], *predictors, *aside]
    columns = None if wanted is None else [name for name in dict.fromkeys(wanted) if name != outcome[-1]]
    return open_files(path, label=outcome[-1], columns=columns, categories="all", **reading)
