"""Parquet files on a cluster: each row group is a partition, read by the worker that is asked about it.

Paths are those of fsspec: local ones, s3://, gs://, memory:// and whatever else is installed. Nothing but the columns
that are asked for is read, and no file is read here.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike, fspath
from typing import Any

import numpy as np

from linsep.errors import ArgumentError, MissingPackageError
from linsep.faults import fault
from linsep.sources.dask_source import Cluster, DaskSource, Partition
from linsep.sources.files.paths import Paths, unreadable
from linsep.sources.partitions import Columns, Unread

ENDINGS = (".parquet", ".pq")


@dataclass(frozen=True, slots=True)
class RowGroup(Unread):
    """A row group of a file, by its number; of all its columns, or of some."""

    url: str
    group: int
    columns: tuple[str, ...] | None = None

    @property
    def name(self) -> str:
        """What errors call it."""
        return f"{self.url}, row group {self.group}"

    def load(self) -> Any:
        """The table."""
        with _opened(self.url) as file:
            columns = None if self.columns is None else [name for name in self.columns if name in file.schema.names]
            return file.read_row_group(self.group, columns=columns, use_threads=False)


class RowGroupSource(DaskSource):
    """The rows of Parquet files, as workers read them."""

    def __init__(
        self, files: Sequence[str], lengths: Sequence[Sequence[int]], columns: Columns, **options: Any
    ) -> None:
        wanted = None if columns.chosen is None else (*columns.chosen, *([columns.label] if columns.label else []))
        parts = [
            Partition(RowGroup(url, k, wanted))
            for url, own in zip(files, lengths, strict=True)
            for k in range(len(own))
        ]
        super().__init__(parts, columns, files=tuple(files), **options)
        self._first_rows = np.cumsum([0, *(sum(own) for own in lengths)])

    @property
    def files(self) -> tuple[str, ...]:
        """The files, in order."""
        return self.facts.files

    @property
    def label_column(self) -> str | int | None:
        """The label column of the files."""
        return self.facts.label_column

    def where(self, row: int) -> tuple[str, int]:
        """The file that a row is from, and its number there."""
        k = int(np.searchsorted(self._first_rows, row, side="right")) - 1
        return self.files[k], row - int(self._first_rows[k])

    def remarks(self) -> list[str]:
        """What a reader of the result should know about how the files were read: nothing."""
        return []

    def lines(self, rows: Sequence[int]) -> dict[int, int]:
        """The line of each row: Parquet has none."""
        return {}

    def ids(self, rows: Sequence[int]) -> dict[int, str]:
        """What each row is called: nobody asked."""
        return {}


def open_on(
    scheduler: Any, path: Paths, label: str | int | None, columns: Sequence[str | int] | None, positive: Any
) -> RowGroupSource:
    """Parquet files as a source whose rows are read and scanned by the workers of a scheduler."""
    if not isinstance(label, str):
        raise ArgumentError(f"label is {label!r}: on a cluster it must be the name of the label column.")
    if columns is not None and not all(isinstance(name, str) for name in columns):
        raise ArgumentError("columns must be names: on a cluster columns have no positions.")
    chosen = Columns(label, None if columns is None else tuple(map(str, columns)))
    files, cluster = [file for one in _listed(path) for file in _found(one)], Cluster(scheduler)
    cluster.require_linsep()
    lengths = cluster.compute([(_lengths_of, url) for url in files])
    for url, own in zip(files, lengths, strict=True):
        if not sum(own):  # as without a cluster: the proof must be checked on the same files
            raise fault("columns alone", url)
    return RowGroupSource(files, lengths, chosen, positive=positive, scheduler=cluster.scheduler)


def _listed(path: Paths) -> list[str]:
    return [fspath(path)] if isinstance(path, str | PathLike) else [fspath(one) for one in path]


def _found(path: str) -> list[str]:
    """The Parquet files of a path, a pattern or a folder, in the order of their names."""
    system, name = _system(path)
    with _explained(path):
        if system.isdir(name):
            found = sorted(file for file in system.find(name) if file.endswith(ENDINGS))
            if not found:
                raise fault("no data", path, kinds=" or ".join(ENDINGS))
        elif any(sign in name for sign in "*?["):
            found = sorted(system.glob(name))
            if not found:
                raise fault("no pattern", path)
        else:
            found = [name]
    for file in found:
        if not file.endswith(ENDINGS):
            raise fault("file kind", file, seen="only Parquet files are read by workers", kinds=" or ".join(ENDINGS))
    return [system.unstrip_protocol(file) if "://" in path else file for file in found]


def _lengths_of(url: str) -> list[int]:
    """How many rows each row group of a file has."""
    with _opened(url) as file:
        return [file.metadata.row_group(k).num_rows for k in range(file.metadata.num_row_groups)]


@contextmanager
def _opened(url: str) -> Iterator[Any]:
    """A Parquet file, local ones without a detour."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    system, name = _system(url)
    is_local = "file" in ((system.protocol,) if isinstance(system.protocol, str) else system.protocol)
    with _explained(url):
        try:
            if is_local:
                with pq.ParquetFile(name) as file:
                    yield file
            else:
                with system.open(name, "rb") as stream, pq.ParquetFile(stream) as file:
                    yield file
        except pa.ArrowException as error:
            raise fault("damaged", url, kind="Parquet", seen=" ".join(str(error).split())) from error


@contextmanager
def _explained(url: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise unreadable(url, error) from error


def _system(url: str) -> tuple[Any, str]:
    """The filesystem of a path, and the path there."""
    try:
        from fsspec.core import url_to_fs
    except ImportError as error:
        raise MissingPackageError("fsspec", "dask", "Clusters") from error
    open_at: Callable[[str], tuple[Any, str]] = url_to_fs
    try:
        return open_at(url)
    except (ImportError, ValueError) as error:  # a protocol that is unknown, or whose package is missing
        raise ArgumentError(f"{url} cannot be opened: {error}", file=None) from error
