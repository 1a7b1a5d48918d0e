"""Parquet files on a cluster: each row group is a partition, read by the worker that needs it.

Paths are those of fsspec: local ones, s3://, gs://, memory:// and whatever else is installed. Only the columns that are
needed are read, and workers read them: of each file only the metadata is read here.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from os import PathLike, fspath
from typing import Any

import numpy as np

from linsep.errors import ArgumentError, MissingPackageError
from linsep.faults import fault, few
from linsep.sources.cluster.dask_source import Cluster, DaskSource, Partition, PartitionIds
from linsep.sources.cluster.partitions import Columns, Unread
from linsep.sources.files.paths import Paths, unreadable
from linsep.tables.given_rows import Missing

ENDINGS = (".parquet", ".pq")
MARKS = ("mtime", "etag", "lastmodified", "updated", "generation", "versionid", "checksum", "md5hash", "crc32c")

Stamp = tuple[str, ...]  # what changes with a file


@dataclass(frozen=True, slots=True)
class RowGroup(Unread):
    """A row group of a file, by its number, with all of its columns or some; the file must be as it was first seen."""

    url: str
    group: int
    columns: tuple[str, ...] | None = None
    stamp: Stamp | None = None

    @property
    def name(self) -> str:
        """What error messages call it."""
        return f"{self.url}, row group {self.group}"

    def load(self) -> Any:
        """The table."""
        with _opened(self.url, self.stamp) as file:
            columns = None if self.columns is None else [name for name in self.columns if name in file.schema.names]
            return file.read_row_group(self.group, columns=columns, use_threads=False)

    def head(self) -> Any:
        """The table without its rows."""
        with _opened(self.url, self.stamp) as file:
            table = file.schema_arrow.empty_table()
            return table if self.columns is None else table.select([c for c in self.columns if c in table.column_names])

    def column(self, name: str) -> Any:
        """One of its columns, which need not be among those of the table."""
        with _opened(self.url, self.stamp) as file:
            return file.read_row_group(self.group, columns=[name], use_threads=False)[name]


class RowGroupSource(DaskSource):
    """The rows of Parquet files, as workers read them."""

    def __init__(
        self,
        files: Sequence[str],
        lengths: Sequence[Sequence[int]],
        stamps: Sequence[Stamp],
        columns: Columns,
        **options: Any,
    ) -> None:
        wanted = None if columns.chosen is None else (*columns.chosen, *([columns.label] if columns.label else []))
        parts = [
            Partition(RowGroup(url, k, wanted, stamp))
            for url, own, stamp in zip(files, lengths, stamps, strict=True)
            for k in range(len(own))
        ]
        super().__init__(parts, columns, files=tuple(files), **options)
        self._file_starts = np.cumsum([0, *(sum(own) for own in lengths)])  # counting rows that were dropped
        self._first_rows = self._starts[np.searchsorted(self._own_starts, self._file_starts)]

    @property
    def files(self) -> tuple[str, ...]:
        """The files, in order."""
        return self.facts.files

    @property
    def label_column(self) -> str | int | None:
        """The label column of the files."""
        return self.facts.label_column

    def where(self, row: int) -> tuple[str, int]:
        """The file that a row is from, and its number there, counting rows that were dropped."""
        return self.files[self._file_of([row])[0]], self.file_numbers([row])[row]

    def file_numbers(self, rows: Sequence[int]) -> dict[int, int]:
        """The number of each row in its file, counting rows that were dropped."""
        own, starts = (
            (super().own_numbers(rows), self._file_starts) if self.facts.rows_left_out else (rows, self._first_rows)
        )
        return {row: int(n - starts[k]) for row, n, k in zip(rows, own, self._file_of(rows), strict=True)}

    def _file_of(self, rows: Sequence[int]) -> list[int]:
        found: list[int] = (np.searchsorted(self._first_rows, rows, side="right") - 1).tolist()
        return found

    def own_numbers(self, rows: Sequence[int]) -> list[Any]:
        """The numbers of these rows in their files, with the name of the file if there are several."""
        found = super().own_numbers(rows)
        if len(self.files) == 1:
            return found
        held = np.searchsorted(self._file_starts, found, side="right") - 1
        return [f"{self.files[k]}:{row - self._file_starts[k]}" for k, row in zip(held, found, strict=True)]

    def remarks(self) -> list[str]:
        """What a reader of the result should know about how the files were read: nothing."""
        return []

    def lines(self, rows: Sequence[int]) -> dict[int, int]:
        """The line of each row: Parquet files have no lines."""
        return {}

    def ids(self, rows: Sequence[int]) -> dict[int, str]:
        """What each row is called, if there is a column of ids."""
        own = self.facts.ids
        return {} if own is None or own.word != "id" else dict(own.names(rows).known)


def open_on(
    scheduler: Any,
    path: Paths,
    label: str | int | None,
    *,
    columns: Sequence[str | int] | None = None,
    positive: Any = None,
    ids: str | int | None = None,
    missing: Missing = None,
) -> RowGroupSource:
    """Parquet files as a source whose rows are read and scanned by the workers of a scheduler."""
    for option, name in (("label", label), ("id", "" if ids is None else ids)):
        if not isinstance(name, str):
            raise ArgumentError(f"{option} is {name!r}: on a cluster it must be the name of the {option} column.")
    if columns is not None and not all(isinstance(name, str) for name in columns):
        raise ArgumentError("columns must be names: on a cluster columns have no positions.")
    chosen = None if columns is None else tuple(map(str, columns))
    files, cluster = [file for one in _listed(path) for file in _found(one)], Cluster(scheduler)
    cluster.require_linsep()
    lengths, names, stamps = zip(*cluster.compute([(_looked_at, url) for url in files]), strict=True)
    for url, own in zip(files, lengths, strict=True):
        if not sum(own):  # as without a cluster, so that the proof can be checked on the same files there
            raise fault("columns alone", url)
    if ids is not None:
        chosen = _without_ids(dict(zip(files, names, strict=True)), str(label), chosen, str(ids))
    known = Columns(str(label), chosen, drops_gaps=missing == "drop")
    source = RowGroupSource(files, lengths, stamps, known, positive=positive, scheduler=cluster.scheduler)
    if ids is not None:
        source.facts = replace(source.facts, ids=PartitionIds(source, str(ids)))
    return source


def _without_ids(
    names: Mapping[str, Sequence[str]], label: str, chosen: tuple[str, ...] | None, ids: str
) -> tuple[str, ...]:
    """The columns to learn from, so that ids are read only for a few rows."""
    if ids == label or ids in (chosen or ()):
        raise fault("label as column" if ids == label else "id as column", column=ids)
    first, known = next(iter(names.items()))
    for url, own in names.items():
        if ids not in own:
            raise fault("no column", url, column=ids, value="id", advice=f"The columns are {few(own, 8)}.")
        if chosen is None and own != known:
            raise fault("partition columns", url, seen=few(own, 8), known=few(known, 8), first=first)
    return tuple(name for name in known if name not in (label, ids)) if chosen is None else chosen


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


def _looked_at(url: str) -> tuple[list[int], list[str], Stamp]:
    """The number of rows of each row group of a file, the names of its columns, and its stamp."""
    with _explained(url):
        stamp = _stamp(*_system(url))
    with _opened(url, stamp) as file:
        rows = [file.metadata.row_group(k).num_rows for k in range(file.metadata.num_row_groups)]
        return rows, list(file.schema_arrow.names), stamp


def _stamp(system: Any, name: str) -> Stamp:
    """The size of a file, when it was written, and whatever else its filesystem knows that changes with it."""
    system.invalidate_cache(name)  # of listings: an object store would tell what it told before
    info = system.info(name)
    known = {key.replace("-", "").replace("_", "").lower(): value for key, value in info.items()}
    marks = [f"{key} {known[key]}" for key in MARKS if known.get(key) is not None]
    return (f"size {known.get('size')}", *(marks or [f"created {known.get('created')}"]))


@contextmanager
def _opened(url: str, stamp: Stamp | None) -> Iterator[Any]:
    """A Parquet file that is as its stamp says, when it was read as well."""
    system, name = _system(url)
    try:
        with _open(url, system, name) as file:
            yield file
    finally:  # first: a file that changes may look damaged
        with _explained(url):
            if stamp is not None and _stamp(system, name) != stamp:
                raise fault("changed", url)


@contextmanager
def _open(url: str, system: Any, name: str) -> Iterator[Any]:
    """A Parquet file; a local one is opened directly."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    is_local = "file" in ((system.protocol,) if isinstance(system.protocol, str) else system.protocol)
    with _explained(url):
        try:
            if is_local:
                with pq.ParquetFile(name) as file:
                    yield file
            else:
                with system.open(name, "rb") as stream, pq.ParquetFile(stream) as file:
                    yield file
        except (pa.ArrowException, OSError) as error:
            if isinstance(error, OSError) and (error.errno is not None or not is_local):
                raise
            raise fault("damaged", url, kind="Parquet", seen=" ".join(str(error).split()).rstrip(". ")) from error


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
    except (ImportError, ValueError) as error:  # an unknown protocol, or one whose package is missing
        raise ArgumentError(f"{url} cannot be opened: {error}", file=None) from error
