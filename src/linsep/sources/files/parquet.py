"""Parquet, Arrow and Feather files: stores as they lie, a group for each row group or record batch."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import accumulate, chain
from typing import Any

import numpy as np

from linsep.errors import InputError
from linsep.faults import fault
from linsep.sources.files.cells import TableReader, decoded, first_true, is_string
from linsep.sources.files.options import Options
from linsep.sources.files.reader import Batch, Stamp, Store, unreadable

BITE = 1 << 20  # bytes of columns that a thread decodes at a time


class ColumnarReader(TableReader, Store):
    """What the two formats share: the schema says what the columns are, and cells are checked by `Cells`."""

    kind = "a table"

    def __init__(self, path: str, options: Options) -> None:
        self.path, self.options = path, options
        self.stamp = Stamp.of(path)
        with self._guarded():
            schema, rows = self._look()
            names = schema.names
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise fault("name twice", path, column=twice)
        if not rows:
            raise fault("columns alone", path)
        if rows != sum(self.lengths):
            raise fault("row count", path, said=rows, seen=sum(self.lengths))
        self._firsts = list(accumulate(self.lengths, initial=0))
        self._choose(names, options)
        self.buffers = self.cells.buffers
        self.batch_rows = max(1, options.batch_bytes // (8 * len(self.cells.names) + 16))
        if options.one_hot:
            with self._guarded():
                self._find_categories(schema)
        for name in self.cells.names:
            if name not in self.cells.categories:
                self.cells.require_numeric(_plain(schema.field(name).type), name)
        self.use_categories(self.cells.categories)
        self._not_fixed = [name for name in self._wanted if not _is_fixed(schema.field(name).type)]
        self.batch_rows = max(1, options.batch_bytes // (8 * self.n_columns + 16))  # now that the categories are known
        self.size = rows * (8 * self.n_columns + 2)

    def _look(self) -> tuple[Any, int]:
        """The schema and the number of rows; `lengths` become known."""
        raise NotImplementedError

    def _group(self, k: int, columns: list[str], *, use_threads: bool) -> Iterator[Any]:
        """The tables of one row group or record batch; several threads may ask at a time."""
        raise NotImplementedError

    def batches(self) -> Iterator[Batch]:
        """Every row once, in order, without the rows that are rejected."""
        first = seen = self.left_out = 0
        with self._guarded():
            for table in chain.from_iterable(self._tables(k, use_threads=True) for k in range(len(self.lengths))):
                good = self._without_bad_rows(table, seen)
                seen += table.num_rows
                batch = self._batch(good, first).as_rows()
                del table, good  # their memory serves the next one
                first += len(batch)
                if len(batch):
                    yield batch
        self.is_walked = True
        self.require_rows(first)

    def read(self, k: int, *, use_threads: bool = False) -> Iterator[Batch]:
        """The rows of a row group or record batch, columns of doubles as they are."""
        first = self._firsts[k]
        with self._guarded():
            for table in self._tables(k, use_threads=use_threads):
                batch = self._batch(table, first)
                del table  # its memory serves the next one
                first += len(batch)
                yield batch

    def _tables(self, k: int, *, use_threads: bool) -> Iterator[Any]:
        """The same as Arrow tables that can be trusted: the file is what it was, and nothing in it leads anywhere."""
        seen = 0
        self.stamp.require_same()
        for table in self._group(k, self._wanted, use_threads=use_threads):
            table.validate()  # a buffer of a damaged file may be shorter than its rows
            for name in self._not_fixed:
                table[name].validate(full=True)
            seen += table.num_rows
            yield table
            del table
        self.stamp.require_same()
        if seen != self.lengths[k]:
            raise fault("group count", self.path, said=self.lengths[k], first=self._firsts[k], seen=seen)

    def _without_bad_rows(self, table: Any, first: int) -> Any:
        """The rows without nulls and NaN, where those are rejected."""
        import pyarrow.compute as pc

        if self.options.set_aside is None:
            return table
        bad: dict[int, tuple[str, str]] = {}
        for name, what, rows in self.cells.faults(table):
            if pc.any(rows).as_py():
                for row in np.flatnonzero(np.asarray(rows.fill_null(True))).tolist():
                    bad.setdefault(row, (name, what))
        for row, (name, what) in sorted(bad.items()):
            fault = self.cells.fault(first + row, name, what, table[name][row].as_py())
            self.reject(first + row, fault, ",".join(str(table[column][row].as_py()) for column in self._wanted))
        return table.filter(np.isin(np.arange(table.num_rows), list(bad), invert=True)) if bad else table

    @property
    def _wanted(self) -> list[str]:
        return [*self.cells.names, *([] if self.cells.label is None else [self.cells.label])]

    def _batch(self, table: Any, first: int) -> Batch:
        return Batch(self.cells.values(table, first), self.cells.labels(table, first), first)

    def _find_categories(self, schema: Any) -> None:
        import pyarrow as pa
        import pyarrow.compute as pc

        text = [name for name in self.cells.names if is_string(_plain(schema.field(name).type))]
        found: dict[str, set[str]] = {name: set() for name in text}
        first = 0
        for k in range(len(self.lengths) if text else 0):
            for table in self._group(k, text, use_threads=True):
                for name in text:
                    table[name].validate(full=True)
                    column = decoded(table[name])
                    if column.null_count and self.options.set_aside is None:
                        raise self.cells.missing(first + first_true(column.is_null()), name)
                    found[name].update(pc.unique(column.cast(pa.string()).drop_null()).to_pylist())
                    self.cells.require_few(name, len(found[name]))
                first += table.num_rows
        self.cells.categories = {name: tuple(sorted(values)) for name, values in found.items()}

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        import pyarrow as pa

        try:
            yield
        except (InputError, GeneratorExit):
            raise
        except (pa.ArrowException, OSError, UnicodeDecodeError, MemoryError, OverflowError) as error:
            self.stamp.require_same()
            if isinstance(error, OSError) and error.errno is not None:
                raise unreadable(self.path, error) from error
            said = (str(error).splitlines() or [type(error).__name__])[0].removesuffix(".")
            raise fault("damaged", self.path, kind=self.kind, seen=said) from error


class ParquetReader(ColumnarReader):
    """A Parquet file."""

    kind = "Parquet"

    def _look(self) -> tuple[Any, int]:
        import pyarrow.parquet as pq

        self._mine = threading.local()  # pyarrow's files serve one thread at a time: each has its own
        with pq.ParquetFile(self.path) as file:
            self._metadata = file.metadata
            self.lengths = [file.metadata.row_group(k).num_rows for k in range(file.metadata.num_row_groups)]
            return file.schema_arrow, file.metadata.num_rows

    def _open(self, buffer: int = 0) -> Any:
        """The file, its metadata known already: of many row groups they take longer to read than a row group."""
        import pyarrow.parquet as pq

        return pq.ParquetFile(self.path, metadata=self._metadata, buffer_size=buffer)

    def _is_short(self, rows: int) -> bool:
        """Whether a row group is a batch. Longer ones are read piece by piece, from the disk too."""
        return rows <= 2 * self.batch_rows

    def _group(self, k: int, columns: list[str], *, use_threads: bool) -> Iterator[Any]:
        if not self._is_short(self.lengths[k]):  # what was decoded of a long one is kept until its file is closed
            with self._open(max(1 << 16, self.batch_rows)) as file:
                yield from file.iter_batches(self.batch_rows, row_groups=[k], columns=columns, use_threads=use_threads)
        elif self.lengths[k]:
            if getattr(self._mine, "file", None) is None:
                self._mine.file = self._open()
            file = self._mine.file
            yield file.read_row_group(k, columns=columns) if use_threads else _in_bites(file, k, columns)


def _in_bites(file: Any, group: int, columns: list[str]) -> Any:
    """A row group, a few columns at a time: what decoding needs besides them then stays small, and in a near cache."""
    import pyarrow as pa

    step = max(1, BITE // (8 * file.metadata.row_group(group).num_rows))
    found: dict[str, Any] = {}
    for start in range(0, len(columns), step):
        bite = columns[start : start + step]
        table = file.read_row_group(group, columns=bite, use_threads=False)
        found |= {name: table[name] for name in bite}  # "a" may have brought "a.b" with it
    return pa.table(found)


class ArrowReader(ColumnarReader):
    """An Arrow IPC or Feather (version 2) file."""

    kind = "Arrow"

    def _look(self) -> tuple[Any, int]:
        import pyarrow as pa

        with pa.OSFile(self.path) as file:
            reader = pa.ipc.open_file(file)
            self.lengths = [reader.get_batch(k).num_rows for k in range(reader.num_record_batches)]
            return reader.schema, sum(self.lengths)

    def _group(self, k: int, columns: list[str], *, use_threads: bool) -> Iterator[Any]:
        import pyarrow as pa

        with pa.OSFile(self.path) as file:
            batch = pa.ipc.open_file(file).get_batch(k).select(columns)
        for start in range(0, batch.num_rows, self.batch_rows):
            yield batch.slice(start, self.batch_rows)


def _is_fixed(kind: Any) -> bool:
    """Whether values of this type all have the same length, so that nothing points anywhere."""
    import pyarrow as pa

    return bool(pa.types.is_primitive(kind) or pa.types.is_decimal(kind))


def _plain(kind: Any) -> Any:
    import pyarrow as pa

    return kind.value_type if pa.types.is_dictionary(kind) else kind
