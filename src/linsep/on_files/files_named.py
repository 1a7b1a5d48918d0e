"""Files by their names: which there are, what errors call them, and what becomes of them."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep.checkpoints import PREVIOUS
from linsep.errors import ArgumentError, CheckpointError, InputError, MissingPackageError
from linsep.sources.base import Source, joined
from linsep.sources.files import private
from linsep.sources.files.paths import expand as expand
from linsep.sources.files.paths import is_pipe as is_pipe
from linsep.sources.files.paths import reads as reads
from linsep.sources.inputs import as_classes
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
    """Errors about the rows name their file."""
    try:
        yield
    except CheckpointError:  # about another file
        raise
    except InputError as error:
        if error.file is None:
            error.at(file=files[0], more=len(files) - 1)
        raise


def previous(checkpoint: str) -> str:
    """Where the checkpoint before the newest is kept."""
    return f"{checkpoint}{PREVIOUS}"


def watched(X: Any, y: Any = None) -> Any:
    """A source of the same rows; its `rows_read` is how many were read so far."""
    from linsep.sources.watched import WatchedSource

    return WatchedSource(as_classes(X, y, decimals=True))


def local_cluster(workers: int, scheduler: str | None = None) -> Any:
    """A client of as many processes of this machine, which end with this one."""
    if scheduler is not None:
        raise ArgumentError("--scheduler and --workers are given: choose one of them.")
    try:
        from distributed import Client, LocalCluster
    except ImportError as error:
        raise MissingPackageError("distributed", "dask", "Clusters") from error
    options: Any = {"threads_per_worker": 1, "dashboard_address": None, "silence_logs": "ERROR"}
    return Client(LocalCluster(n_workers=workers, **options), set_as_default=False)


def in_memory(source: Source) -> tuple[Any, npt.NDArray[Any]]:
    """All rows as one array or CSR matrix, and their labels: for what draws them."""
    block = joined(list(source.blocks()))
    return block.values, read_labels(list(source.facts.labels))[(block.y > 0).astype(np.intp)]


def cached(*, clear: bool = False) -> CacheFolder:
    """The caches, or those that were deleted. Nothing is lost with them."""
    folder = private.cache_folder()
    if folder is None:
        return CacheFolder("", 0, 0, [])
    sizes = [found.st_size for _, found in private.caches(folder)]
    number, size = private.clear(folder) if clear else (len(sizes), sum(sizes))
    return CacheFolder(
        str(folder), number, size, sorted(str(file) for file, _ in private.caches(folder, are_ours=False))
    )
