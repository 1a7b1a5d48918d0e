"""Parquet, Arrow and Feather files, which are stores themselves: each row group or record batch is a group."""

import threading
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import accumulate
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from linsep.errors import InputError
from linsep.faults import BINARY64, NO_CODE, fault, type_words
from linsep.sources.files.cells import TableReader, decoded, first_true, in_order, is_string, require_columns, texts
from linsep.sources.files.decimals import are_all_doubles, in_words, places_in
from linsep.sources.files.options import Options
from linsep.sources.files.paths import unreadable
from linsep.sources.files.reader import Batch, Store
from linsep.sources.files.values import EXACT
from linsep.tables.categories import is_mixed, is_number
from linsep.tables.label_values import order_of

BITE = 1 << 20  # bytes of columns that a thread decodes at a time


class ColumnarReader(TableReader, Store):
    """What the two formats share: the schema describes the columns, and each group can be read alone."""

    kind = "a table"

    def __init__(self, path: str, options: Options, file: str | None = None) -> None:
        super().__init__(path, options, file)
        with self._guarded():
            schema, rows = self._look()
            names = schema.names
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise fault("name twice", path, column=twice)
        if not rows:
            self.why_empty = fault("columns alone", path)
        if rows != sum(self.lengths):
            raise fault("row count", path, said=rows, seen=sum(self.lengths))
        self._firsts = list(accumulate(self.lengths, initial=0))
        self._choose(names)
        self.batch_rows = max(1, options.batch_bytes // (8 * len(self.names) + 16))
        kinds = {name: _plain(schema.field(name).type) for name in self.wanted}
        listed = {name for name in self.names if pa.types.is_dictionary(schema.field(name).type)}
        self.number_levels = {name for name in listed if _is_number(kinds[name])}
        self.free_text = {name for name in self.names if name not in listed and is_string(kinds[name])}
        if options.categories is not None:
            require_columns(path, self.names, options)
            with self._guarded():
                self._find_categories(self._categorical(kinds))
        for name in self.names:
            if name not in self.categories and (name in listed or not _is_number(kinds[name])):
                what = "text column" if is_string(kinds[name]) else "column type"
                what, fix = ("category column" if name in listed else what), NO_CODE if self.options.needs else None
                raise fault(what, path, column=name, seen=type_words(kinds[name]), example="", fix=fix)
        self._kinds = {name: kinds[name] for name in self.names if name not in self.categories}
        label = kinds.get(str(self.label_name))
        if label is not None and (not (_is_number(label) or is_string(label)) or pa.types.is_decimal(label)):
            raise fault("label column type", path, column=self.label_name, seen=type_words(label))
        if label is not None and getattr(schema.field(str(self.label_name)).type, "ordered", False):
            self.label_order = self._order_of(str(self.label_name))
        self.use_categories(self.categories)
        self._not_fixed = [name for name in self.wanted if not _is_fixed(schema.field(name).type)]
        self.batch_rows = max(1, options.batch_bytes // (8 * self.n_columns + 16))  # the categories are known now
        self.size = rows * (8 * self.n_columns + 2)

    @abstractmethod
    def _look(self) -> tuple[Any, int]:
        """The schema and the number of rows; `lengths` become known."""

    @abstractmethod
    def _group(self, k: int, columns: list[str], *, use_threads: bool) -> Iterator[Any]:
        """The tables of one row group or record batch; several threads may read at the same time."""

    def batches(self) -> Iterator[Batch]:
        """Every row once, in order, without the rows that are rejected."""
        kept = self.left_out = 0
        for k in range(len(self.lengths)):
            for batch in self.read(k, use_threads=True):
                rows = Batch(batch.values, batch.labels, kept).as_rows()
                kept += len(batch)
                del batch  # its memory serves the next one
                if len(rows):
                    yield rows
        self.walked(kept, "columns alone")

    def read(self, k: int, *, use_threads: bool = False) -> Iterator[Batch]:
        """The rows of a row group or record batch; columns of doubles are not converted."""
        first = self._firsts[k]
        with self._guarded():
            self.stamp.require_same()
            for table in self._group(k, self.wanted, use_threads=use_threads):
                table.validate()  # a buffer of a damaged file may be shorter than its rows
                for name in self._not_fixed:
                    table[name].validate(full=True)  # no offset in it points outside
                batch = self._batch(self._good_rows(table, first), first)
                first += table.num_rows
                del table  # its memory serves the next one
                yield batch
            self.stamp.require_same()
        if (seen := first - self._firsts[k]) != self.lengths[k]:
            raise fault("group count", self.path, said=self.lengths[k], first=self._firsts[k], seen=seen)

    def find_decimal_places(self) -> bool:
        """Find `decimal_places` where there are decimals or only integers; None if there are only other numbers."""
        tenths = {name for name, kind in self._kinds.items() if pa.types.is_decimal(kind)}
        if not tenths and any(map(pa.types.is_floating, self._kinds.values())):
            return False
        places, are_doubles = dict.fromkeys(self._kinds, 0), True
        wanted = [name for name in self.names if name in tenths and self._kinds[name].scale > 0]
        with self._guarded():
            for k in range(len(self.lengths) if wanted else 0):
                for table in self._group(k, wanted, use_threads=True):
                    for name in wanted:
                        column = decoded(table[name]).drop_null()
                        places[name] = places_in(column, places[name])
                        are_doubles = are_doubles and are_all_doubles(column, places[name])
        self.decimal_places = tuple(places.get(name, 0) for name in self.columns or ())
        return not are_doubles

    def _numbers(self, column: Any, name: str, first: int) -> Any:
        """A column as float64 or int64, or times its power of ten as int64."""
        if self.decimal_places is None:
            return super()._numbers(column, name, first)
        places = self.decimal_places[(self.columns or ()).index(name)]
        if not pa.types.is_decimal(column.type):
            values = super()._numbers(column, name, first)
            is_whole = (values.dtype.kind == "i") | (values == np.floor(values)) & (np.abs(values) <= EXACT)
            if not is_whole.all():
                row = int(np.argmin(is_whole))
                raise fault("float beside decimals", self.path, row=first + row, column=name, value=float(values[row]))
            column = pa.array(values.astype(np.int64))
        integers = in_words(column, places)
        if integers is None:
            row = next(row for row in range(len(column)) if in_words(column.slice(row, 1), places) is None)
            raise self.inexact(first + row, name, column[row].as_py()).at(fix=BINARY64)
        return integers

    def all_ids(self) -> Iterator[str]:
        """What each row is called, in order."""
        if self.id_name is not None:
            with self._guarded():
                for k in range(len(self.lengths)):
                    yield from self._called(k, self.id_name)

    def _called(self, k: int, name: str) -> Iterator[str]:
        """The ids of the good rows of a group."""
        is_all_good = self.options.rejects is None
        for table in self._group(k, [name] if is_all_good else [*self.wanted, name], use_threads=True):
            table[name].validate(full=True)
            columns = {} if is_all_good else {wanted: decoded(table[wanted]) for wanted in self.wanted}
            values, is_bad = decoded(table[name]).to_pylist(), self._is_bad(columns, table.num_rows)
            yield from ("" if values[row] is None else str(values[row]) for row in np.flatnonzero(~is_bad).tolist())

    def _categorical(self, kinds: dict[str, Any]) -> list[str]:
        """The columns that are coded: those named, or all text columns and all dictionaries, even of numbers."""
        named = self.options.categories
        if not isinstance(named, Mapping):
            return [name for name in self.names if is_string(kinds[name]) or name in self.number_levels]
        for name in named:
            if not (is_string(kinds[name]) or _is_counted(kinds[name]) or name in self.number_levels):
                raise fault("not categories", self.path, column=name, seen=kinds[name])
        return [name for name in self.names if name in named]

    def _find_categories(self, text: list[str]) -> None:
        found: dict[str, set[str]] = {name: set() for name in text}
        free = self.free_text if isinstance(self.options.categories, str) else frozenset()
        odd: dict[str, tuple[int, str]] = {}  # the first text that is not a number, and its row
        first = self.text_rows = 0
        for k in range(len(self.lengths) if text else 0):
            for table in self._group(k, text if self.options.rejects is None else self.wanted, use_threads=True):
                columns, kept = self._kept(table)
                self.text_rows += len(kept)
                for name in text:
                    column = columns[name]
                    gaps = column.is_null(nan_is_null=True)
                    if self.options.rejects is None and pc.any(gaps).as_py():
                        raise fault("missing", self.path, row=first + first_true(gaps), column=name)
                    levels = texts(pc.unique(column.drop_null())).to_pylist()  # in the order of their first rows
                    if name in free and name not in odd and (strange := [v for v in levels if not is_number(v)]):
                        odd[name] = first + int(kept[pc.index(column, strange[0]).as_py()]), strange[0]
                    found[name].update(levels)
                    self._require_few(name, len(found[name]))
                first += table.num_rows
        for name, (row, value) in odd.items():
            if is_mixed(found[name]):
                raise fault("text among numbers", self.path, row=row, column=name, value=value)
        self.categories = {name: in_order(levels, name in self.number_levels) for name, levels in found.items()}

    def _order_of(self, label: str) -> tuple[Any, ...] | None:
        """The order of labels that are ordered categories, if it is the same in all groups."""
        orders = set[tuple[Any, ...] | None]()
        with self._guarded():
            for k in range(len(self.lengths)):
                for table in self._group(k, [label], use_threads=True):
                    table[label].validate(full=True)
                    orders.add(order_of(table[label]))
        return orders.pop() if len(orders) == 1 else None

    def _kept(self, table: Any) -> tuple[dict[str, Any], Any]:
        """The columns of a table without the rows that will be rejected, and which rows remain.

        A value that occurs only in rejected rows is not a category.
        """
        for name in table.schema.names:
            table[name].validate(full=True)
        columns = {name: decoded(table[name]) for name in table.schema.names}
        every = np.arange(table.num_rows)
        if self.options.rejects is None:
            return columns, every
        is_bad = self._is_bad(columns, table.num_rows)
        kept = {name: column.filter(~is_bad) for name, column in columns.items()} if is_bad.any() else columns
        return kept, every[~is_bad]

    @contextmanager
    def _guarded(self) -> Iterator[None]:
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
    _metadata: Any = None

    def _look(self) -> tuple[Any, int]:
        self._mine = threading.local()  # a pyarrow file can serve only one thread at a time: each thread has its own
        with self._open() as file:
            self._metadata = file.metadata
            self.lengths = [file.metadata.row_group(k).num_rows for k in range(file.metadata.num_row_groups)]
            return file.schema_arrow, file.metadata.num_rows

    def _open(self, buffer: int = 0) -> Any:
        """The file; its metadata is read once, since with many row groups it takes longer to read than a row group."""
        import pyarrow.parquet as pq

        return pq.ParquetFile(self.file, metadata=self._metadata, buffer_size=buffer)

    def _group(self, k: int, columns: list[str], *, use_threads: bool) -> Iterator[Any]:
        if self.lengths[k] > 2 * self.batch_rows:  # read in pieces; decoded pieces are kept until the file is closed
            with self._open(max(1 << 16, self.batch_rows)) as file:
                yield from file.iter_batches(self.batch_rows, row_groups=[k], columns=columns, use_threads=use_threads)
        elif self.lengths[k]:
            if getattr(self._mine, "file", None) is None:
                self._mine.file = self._open()
            file = self._mine.file
            yield file.read_row_group(k, columns=columns) if use_threads else _in_bites(file, k, columns)


def _in_bites(file: Any, group: int, columns: list[str]) -> Any:
    """A row group, a few columns at a time, so that the memory for decoding stays small and in the cache."""
    step = max(1, BITE // (8 * file.metadata.row_group(group).num_rows))
    found: dict[str, Any] = {}
    for start in range(0, len(columns), step):
        bite = columns[start : start + step]
        table = file.read_row_group(group, columns=bite, use_threads=False)
        found |= {name: table[name] for name in bite}  # reading "a" may have read "a.b" too
    return pa.table(found)


class ArrowReader(ColumnarReader):
    """An Arrow IPC or Feather (version 2) file."""

    kind = "Arrow"

    def _look(self) -> tuple[Any, int]:
        with pa.OSFile(self.file) as file:
            reader = pa.ipc.open_file(file)
            self.lengths = [reader.get_batch(k).num_rows for k in range(reader.num_record_batches)]
            return reader.schema, sum(self.lengths)

    def _group(self, k: int, columns: list[str], *, use_threads: bool) -> Iterator[Any]:
        with pa.OSFile(self.file) as file:
            batch = pa.ipc.open_file(file).get_batch(k).select(columns)
        for start in range(0, batch.num_rows, self.batch_rows):
            yield batch.slice(start, self.batch_rows)


def _is_number(kind: Any) -> bool:
    types = pa.types
    known = types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind) or types.is_decimal(kind)
    return bool(known)


def _is_counted(kind: Any) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_boolean(kind))


def _is_fixed(kind: Any) -> bool:
    """Whether values of this type all have the same length, so that nothing points anywhere."""
    return bool(pa.types.is_primitive(kind) or pa.types.is_decimal(kind))


def _plain(kind: Any) -> Any:
    return kind.value_type if pa.types.is_dictionary(kind) else kind
