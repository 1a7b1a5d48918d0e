"""Parquet, Arrow and Feather files, row group by row group."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import accumulate
from typing import Any

import numpy as np

from linsep.errors import DamagedFileError, HeaderError, InputError, NoRowsError
from linsep.sources.files.arrow import TableReader, decoded, first_true, is_string
from linsep.sources.files.reading import Batch, Options, Place, Stamp, unreadable

BITE = 1 << 20  # bytes of columns that a thread decodes at a time


class ColumnarReader(TableReader):
    """What the two formats share: the schema says what the columns are, and cells are checked by `Cells`."""

    def __init__(self, path: str, options: Options) -> None:
        self.path, self.options = path, options
        self.stamp = Stamp.of(path)
        with self._guarded():
            schema, rows = self._look()
            names = schema.names
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise HeaderError(f"{path}: two columns are called {twice!r}. Rename one of them.", file=path, column=twice)
        if not rows:
            raise NoRowsError(f"{path}: there are columns but no rows.", file=path)
        self._choose(names, options)
        self._n_rows, self._is_walked = rows, False
        self.batch_rows = max(1, options.batch_bytes // (8 * len(self.cells.names) + 16))
        if options.one_hot:
            with self._guarded():
                self._find_categories(schema)
        for name in self.cells.names:
            if name not in self.cells.categories:
                self.cells.require_numeric(_plain(schema.field(name).type), name)
        self.categories = self.cells.categories
        self._not_fixed = [name for name in self._wanted if not _is_fixed(schema.field(name).type)]
        self.batch_rows = max(1, options.batch_bytes // (8 * self.n_columns + 16))  # now that the categories are known

    def _look(self) -> tuple[Any, int]:
        raise NotImplementedError

    def _tables(self, columns: list[str]) -> Iterator[tuple[Any, Any]]:
        """All rows as Arrow record batches of these columns, each with the key that finds it again."""
        raise NotImplementedError

    def _table(self, key: Any, columns: list[str]) -> Any:
        raise NotImplementedError

    def batches(self) -> Iterator[Batch]:
        """Every row once, in order."""
        for batch in self.walk():
            yield replace(batch, values=batch.values.rows(self.buffers)) if batch.is_columnar else batch

    def walk(self) -> Iterator[Batch]:
        """The same, columns of doubles as they are."""
        first = seen = self.left_out = 0
        with self._guarded():
            for table, key in self._tables(self._wanted):
                self._require_valid(table)
                good = self._without_bad_rows(table, seen)
                seen += table.num_rows
                batch = self._batch(good, Place(first, good.num_rows, key))
                del table, good  # their memory serves the next one
                first += batch.place.rows
                if batch.place.rows:
                    yield batch
        self.stamp.require_same()
        if seen != self._n_rows:
            raise DamagedFileError(
                f"{self.path}: the file says that it has {self._n_rows:,} rows, and has {seen:,}.", file=self.path
            )
        self._is_walked = True
        if not first:
            raise NoRowsError(f"{self.path}: no row is left: all {seen:,} were rejected.", file=self.path)

    def read(self, place: Place) -> Batch:
        """The batch of a place."""
        with self._guarded():
            self.stamp.require_same()
            table = self._table(place.key, self._wanted)
            self._require_valid(table)
            batch = self._batch(self._without_bad_rows(table), place)
            return replace(batch, values=batch.values.rows(self.buffers)) if batch.is_columnar else batch

    def _require_valid(self, table: Any) -> None:
        """Refuse columns of a damaged file whose offsets or text would lead anywhere."""
        for name in self._not_fixed:
            table[name].validate(full=True)

    def _without_bad_rows(self, table: Any, first: int | None = None) -> Any:
        """The rows without nulls and NaN, where those are set aside; the first walk writes them down."""
        import pyarrow.compute as pc

        if self.options.set_aside is None:
            return table
        bad: dict[int, tuple[str, str]] = {}
        for name, what, rows in self.cells.faults(table):
            if pc.any(rows).as_py():
                for row in np.flatnonzero(np.asarray(rows.fill_null(True))).tolist():
                    bad.setdefault(row, (name, what))
        for row in sorted(bad) if first is not None else ():
            name, what = bad[row]
            fault = self.cells.fault(first + row, name, what, table[name][row].as_py())  # type: ignore[operator]
            if not self._is_walked:
                content = ",".join(str(table[column][row].as_py()) for column in self._wanted)
                self.options.set_aside.add(self.path, fault.row or 0, f"{fault.code}: {fault}", content)
            self.left_out += 1
        return table.filter(np.isin(np.arange(table.num_rows), list(bad), invert=True)) if bad else table

    @property
    def _wanted(self) -> list[str]:
        return [*self.cells.names, *([] if self.cells.label is None else [self.cells.label])]

    def runs(self) -> list[Place] | None:
        """Row groups, or record batches: each is read by one thread. None where rows of them are set aside."""
        if self.options.set_aside is not None:
            return None
        lengths = self._lengths()
        starts = accumulate(lengths, initial=0)
        return [Place(first, rows, k) for k, (first, rows) in enumerate(zip(starts, lengths, strict=False)) if rows]

    def read_run(self, run: Place) -> Iterator[Batch]:
        """The batches of a row group or record batch, columns of doubles as they are."""
        first = run.first
        with self._guarded():
            self.stamp.require_same()
            for table, key in self._run(run.key, self._wanted):
                self._require_valid(table)
                batch = self._batch(table, Place(first, table.num_rows, key))
                del table  # its memory serves the next one
                first += batch.place.rows
                yield batch
        self.stamp.require_same()
        if first != run.first + run.rows:
            raise DamagedFileError(
                f"{self.path}: the file says that {run.rows:,} rows come from row {run.first:,} on, and has "
                f"{first - run.first:,} there.",
                file=self.path,
            )

    def _lengths(self) -> list[int]:
        """The rows of each row group or record batch."""
        raise NotImplementedError

    def _run(self, k: int, columns: list[str]) -> Iterator[tuple[Any, Any]]:
        """The tables of one row group or record batch, each with its key; several threads may ask at a time."""
        raise NotImplementedError

    def _batch(self, table: Any, place: Place) -> Batch:
        values = self.cells.values(table, place.first)
        return Batch(values, self.cells.labels(table, place.first), place)

    def _find_categories(self, schema: Any) -> None:
        import pyarrow as pa
        import pyarrow.compute as pc

        text = [name for name in self.cells.names if is_string(_plain(schema.field(name).type))]
        found: dict[str, set[str]] = {name: set() for name in text}
        first = 0
        for table, _ in self._tables(text) if text else ():
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
            said = (str(error).splitlines() or [type(error).__name__])[0]
            fix = "Fetch or write the file again."
            raise DamagedFileError(
                f"{self.path}: cannot be read as {self.kind}: {said}. {fix}".replace("..", "."), file=self.path, fix=fix
            ) from error

    kind = "a table"


class ParquetReader(ColumnarReader):
    """A Parquet file. A place is a row group and the rows of it."""

    kind = "Parquet"

    def _look(self) -> tuple[Any, int]:
        import pyarrow.parquet as pq

        self._mine = threading.local()  # pyarrow's files serve one thread at a time: each has its own
        with pq.ParquetFile(self.path) as file:
            self._metadata = file.metadata
            return file.schema_arrow, file.metadata.num_rows

    def _open(self) -> Any:
        """The file, its metadata known already: of many row groups they take longer to read than a row group."""
        import pyarrow.parquet as pq

        buffer = 0 if self.can_seek else max(1 << 16, self.batch_rows)
        return pq.ParquetFile(self.path, metadata=self._metadata, buffer_size=buffer)

    @property
    def can_seek(self) -> bool:  # type: ignore[override]
        """Whether every row group is a batch; the middle of a longer one is found by decoding what comes before."""
        return self._is_short(max(self._lengths()))

    def _is_short(self, rows: int) -> bool:
        """Whether a row group is a batch. Longer ones are read piece by piece, from the disk too."""
        return rows <= 2 * self.batch_rows

    def _lengths(self) -> list[int]:
        return [self._metadata.row_group(k).num_rows for k in range(self._metadata.num_row_groups)]

    def _run(self, k: int, columns: list[str]) -> Iterator[tuple[Any, Any]]:
        if getattr(self._mine, "file", None) is None:
            self._mine.file = self._open()
        return self._group(self._mine.file, k, columns, use_threads=False)

    def _tables(self, columns: list[str]) -> Iterator[tuple[Any, Any]]:
        with self._open() as file:
            for group in range(file.num_row_groups):
                yield from self._group(file, group, columns)

    def _group(
        self, file: Any, group: int, columns: list[str], *, use_threads: bool = True
    ) -> Iterator[tuple[Any, Any]]:
        rows = self._metadata.row_group(group).num_rows
        if self._is_short(rows):
            if rows:
                whole = file.read_row_group(group, columns=columns) if use_threads else _in_bites(file, group, columns)
                yield whole, (group, 0)
            return
        start = 0
        pieces = file.iter_batches(self.batch_rows, row_groups=[group], columns=columns, use_threads=use_threads)
        for batch in pieces:
            yield batch, (group, start)
            start += batch.num_rows

    def _table(self, key: Any, columns: list[str]) -> Any:
        group, wanted = key
        with self._open() as file:
            for table, (_, start) in self._group(file, group, columns):
                if start == wanted:
                    return table
        raise DamagedFileError(f"{self.path}: row group {group} ends before row {wanted}.", file=self.path)


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
    """An Arrow IPC or Feather (version 2) file. A place is a record batch and the rows of it."""

    kind = "Arrow"

    def _look(self) -> tuple[Any, int]:
        import pyarrow as pa

        with pa.OSFile(self.path) as file:
            reader = pa.ipc.open_file(file)
            self._rows = [reader.get_batch(k).num_rows for k in range(reader.num_record_batches)]
            return reader.schema, sum(self._rows)

    def _lengths(self) -> list[int]:
        return self._rows

    def _run(self, k: int, columns: list[str]) -> Iterator[tuple[Any, Any]]:
        import pyarrow as pa

        with pa.OSFile(self.path) as file:
            yield from self._pieces(pa.ipc.open_file(file).get_batch(k).select(columns), k)

    def _pieces(self, batch: Any, k: int) -> Iterator[tuple[Any, Any]]:
        for start in range(0, batch.num_rows, self.batch_rows):
            yield batch.slice(start, self.batch_rows), (k, start)

    def _tables(self, columns: list[str]) -> Iterator[tuple[Any, Any]]:
        import pyarrow as pa

        with pa.OSFile(self.path) as file:
            reader = pa.ipc.open_file(file)
            for k in range(reader.num_record_batches):
                yield from self._pieces(reader.get_batch(k).select(columns), k)

    def _table(self, key: Any, columns: list[str]) -> Any:
        import pyarrow as pa

        k, start = key
        with pa.OSFile(self.path) as file:
            return pa.ipc.open_file(file).get_batch(k).select(columns).slice(start, self.batch_rows)


def _is_fixed(kind: Any) -> bool:
    """Whether values of this type all have the same length, so that nothing points anywhere."""
    import pyarrow as pa

    return bool(pa.types.is_primitive(kind) or pa.types.is_decimal(kind))


def _plain(kind: Any) -> Any:
    import pyarrow as pa

    return kind.value_type if pa.types.is_dictionary(kind) else kind
