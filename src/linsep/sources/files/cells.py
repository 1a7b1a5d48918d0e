"""Arrow tables as rows of numbers: each value exactly as it was written, or an error that names the cell.

float16, float32, float64     as they are
integers, booleans            exact; beyond 2^53 the whole table becomes int64, or is refused
decimals                      doubles where they are, else integers times a power of ten, or refused
text, dictionaries            a column of 0 and 1 for each category, or each but the first, if asked for; else refused
dates, lists, structs, nulls  refused
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from linsep.errors import InputError
from linsep.faults import BINARY64, fault
from linsep.sources.files.columns import advice, choose_columns, made_of
from linsep.sources.files.decimals import are_all_doubles, places_in
from linsep.sources.files.options import TABLE_COLUMN, Options
from linsep.sources.files.reader import Batch, ColumnValues, Reader, row_major
from linsep.sources.files.rejects import first_of
from linsep.sources.files.values import EXACT, INTEGER, NUMBER, no_text, numbers_of, vanishes
from linsep.tables import is_long
from linsep.tables.categories import Levels, is_mixed, is_number, looks_like_ids, side_by_side

Array = npt.NDArray[Any]
Columns = dict[str, Any]  # Arrow arrays by their names, without dictionaries
MOST_CATEGORIES = 1 << 16
SPARSE_FROM = 100  # columns: from this many on, if most are of categories, rows are sparse


class TableReader(Reader):
    """A reader of named columns. Those that are chosen become numbers; text columns have `categories`."""

    names: tuple[str, ...]  # of the chosen columns of the file
    id_name: str | None  # of the column that names the rows
    text_rows: int = 0  # how many rows were searched for categories
    number_levels: Set[str] = frozenset()  # the columns whose categories are numbers
    free_text: Set[str] = frozenset()  # the columns of text that are not declared as categories

    def _choose(self, header: Sequence[str]) -> None:
        """Settle which columns are read, and which of them holds the labels."""
        choice = choose_columns(self.path, header, self.options)
        self.options.require_room(self.path, len(choice.columns), TABLE_COLUMN)
        self.names = tuple(header[j] for j in choice.columns)
        self.label_name = None if choice.label is None else header[choice.label]
        self.id_name = None if choice.id is None else header[choice.id]
        self.remarks += [] if choice.remark is None else [choice.remark]
        self.categories = choice.categories
        self.wanted = [*self.names, *([] if choice.label is None else [header[choice.label]])]

    def also_text(self, names: Sequence[str]) -> None:
        """Treat these columns as text, because they are text in other files."""
        raise fault("text elsewhere", self.path, column=names[0])

    def use_categories(self, known: dict[str, tuple[str, ...]]) -> None:
        """Use these categories, which include those of other files; they determine the columns."""
        self.categories = known
        coding = self.options.coding_of
        self.columns = tuple(c for name in self.names for c in made_of(name, known.get(name), coding(name)))
        self.n_columns = len(self.columns)
        self.is_sparse = bool(known) and self.n_columns > max(SPARSE_FROM, 4 * len(self.names))
        if not self.columns and self.text_rows:
            raise fault("one level", self.path, column=self.names[0])
        if len(set(self.columns)) < self.n_columns:
            twice = next(name for name in self.columns if self.columns.count(name) > 1)
            raise fault("category twice", self.path, column=twice)

    def _require_few(self, name: str, count: int) -> None:
        """Refuse a text column that would become too many columns."""
        if count > MOST_CATEGORIES:
            raise fault("many categories", self.path, column=name, most=MOST_CATEGORIES)

    # Rows that are bad by themselves --------------------------------------------------------------------

    def _good_rows(self, table: Any, first: int) -> Columns:
        """The rows that are good by themselves; the bad ones are rejected, or the first of them is raised."""
        columns = {name: decoded(table[name]) for name in self.wanted}
        bad: dict[int, list[tuple[str, str]]] = {}
        for name, what, rows in self._faults(columns):
            for row in np.flatnonzero(np.asarray(rows.fill_null(False))).tolist():
                bad.setdefault(row, []).append((name, what))
        for row, told in sorted(bad.items()):
            content = ",".join(str(column[row].as_py()) for column in columns.values())
            faults = (self._fault(first + row, name, what, columns[name][row].as_py()) for name, what in told)
            found = first_of(faults, drops_gaps=self.options.missing == "drop")
            assert found is not None
            self.reject(first + row, found, content)
        if not bad:
            return columns
        is_good = np.isin(np.arange(table.num_rows), list(bad), invert=True)
        return {name: column.filter(is_good) for name, column in columns.items()}

    def _is_bad(self, columns: Columns, n_rows: int) -> npt.NDArray[np.bool_]:
        """Which rows are bad, each on its own."""
        is_bad = np.zeros(n_rows, np.bool_)
        for _, _, rows in self._faults(columns):
            is_bad |= np.asarray(rows.fill_null(False))
        return is_bad

    def _faults(self, columns: Columns) -> Iterator[tuple[str, str, Any]]:
        """What makes rows bad by themselves: the column, what it is, and which rows have it.

        NaN and infinity are looked for only if rows are rejected; otherwise the first read refuses them.
        """
        for name, column in columns.items():
            is_label = name == self.label_name
            if is_label and self.options.needs is not None:
                continue
            if column.null_count:
                yield name, "missing", column.is_null()
            if name in self.categories and self.options.needs is not None:  # all its columns would silently be 0
                known = pa.array(self.categories[name], pa.string())
                what, rows = "unknown", pc.invert(pc.is_in(texts(column), known))
            elif is_label and is_string(column.type):
                what, rows = "missing", pc.equal(pc.utf8_trim_whitespace(column.cast(pa.string())), no_text())
            elif pa.types.is_floating(column.type) and self.options.rejects is not None and not self.is_text:
                what, rows = "not finite", pc.invert(pc.is_finite(column.cast(pa.float64())))
            elif column.type == pa.uint64() and not is_label:
                what, rows = "inexact", pc.greater(column, pa.scalar(2**63 - 1, pa.uint64()))
            else:
                continue
            if pc.any(rows).as_py():
                yield name, what, rows

    def _fault(self, row: int, name: str, what: str, value: Any) -> InputError:
        """The error of a row that is bad by itself."""
        if name == self.label_name:
            return fault("no label", self.path, row=row, column=name)
        if what == "unknown":
            return self.unknown(row, name, value)
        if what == "inexact":
            return self.inexact(row, name, value)
        return fault(what, self.path, row=row, column=name, value=value)

    def unknown(self, row: int, name: str, value: str) -> InputError:
        """A category that the model never saw."""
        known = ", ".join(map(repr, self.categories[name][:10]))
        return fault("unknown category", self.path, row=row, column=name, value=value, known=known)

    def inexact(self, row: int, name: str, value: Any) -> InputError:
        """A number that would be rounded: a long integer, or one that is not 0 and would become 0."""
        kind = "vanishes" if isinstance(value, str) and vanishes(value) else "inexact"
        return fault(kind, self.path, row=row, column=name, value=value)

    # Good rows as numbers -------------------------------------------------------------------------------

    def _batch(self, columns: Columns, first: int) -> Batch:
        """Good rows, the first of which has this number; column by column if all values are doubles."""
        if self.is_sparse:
            return Batch(self._sparse_rows(columns, first), self._labels(columns), first)
        arrays = self._arrays(columns, first)
        if all(array.dtype == np.float64 and array.flags.c_contiguous for array in arrays):
            return Batch(ColumnValues(arrays), self._labels(columns), first)
        return Batch(self._joined(arrays, first), self._labels(columns), first)

    def _arrays(self, columns: Columns, first: int) -> list[Array]:
        """The columns of numbers, as float64 or int64."""
        arrays: list[Array] = []
        for name in self.names:
            if name in self.categories:
                found = self._levels(columns[name], name)
                arrays += [(found.codes == k).view(np.uint8) for k in range(found.first, len(found.levels))]
            else:
                arrays.append(self._numbers(columns[name], name, first))
        return arrays

    def _levels(self, column: Any, name: str) -> Levels:
        """A text column as positions among its categories."""
        known = self.categories[name]
        codes = pc.index_in(texts(column), pa.array(known, pa.string()))
        return Levels(name, known, numbers_of(codes).astype(np.int64), self.options.coding_of(name))

    def _sparse_rows(self, columns: Columns, first: int) -> Any:
        """Numbers and categories as a CSR matrix."""
        arrays = [self._numbers(columns[name], name, first) for name in self.names if name not in self.categories]
        numbers = self._joined(arrays, first) if arrays else None
        coded = {name: self._levels(columns[name], name) for name in self.categories}
        n_rows = len(next(iter(columns.values())))
        return side_by_side(self.names, numbers, coded, (n_rows, self.n_columns), is_sparse=True)

    def _numbers(self, column: Any, name: str, first: int) -> Array:
        """A column as float64 or int64; only numbers="binary64" rounds decimals."""
        if pa.types.is_decimal(column.type):
            return self._decimals(column, name, first)
        values = numbers_of(column.cast(pa.uint8()) if pa.types.is_boolean(column.type) else column)
        return values.astype(np.int64 if values.dtype.kind in "iu" else np.float64, copy=False)

    def _decimals(self, column: Any, name: str, first: int) -> Array:
        if column.type.bit_width < 128:  # Arrow finds no integer in the bounds of a short decimal
            column = column.cast(pa.decimal128(38, column.type.scale))
        if column.type.scale <= 0:
            try:
                return numbers_of(column.cast(pa.int64()))
            except pa.ArrowInvalid:
                big = [abs(value) >= 2**63 for value in column.to_pylist()]
                raise self.inexact(first + big.index(True), name, column[big.index(True)].as_py()) from None
        doubles = numbers_of(column.cast(pa.string()).cast(pa.float64()))  # text to double rounds once, correctly
        if self.options.numbers != "binary64" and not are_all_doubles(column, places_in(column, 0)):
            for row, (value, double) in enumerate(zip(column.to_pylist(), doubles.tolist(), strict=True)):
                if value != double:  # Python compares them exactly
                    raise self.inexact(first + row, name, value).at(fix=BINARY64)
        return doubles

    def _joined(self, arrays: list[Array], first: int) -> Array:
        """Columns as a table of doubles, or of int64 if doubles would round them: then all must be integers."""
        if not any(array.dtype == np.int64 and is_long(array) for array in arrays):
            return row_major(arrays, np.float64)
        for name, array in zip(self._numbered_names(arrays), arrays, strict=True):
            if array.dtype.kind == "f" and not (whole := (np.floor(array) == array) & (np.abs(array) <= EXACT)).all():
                row = int(np.argmin(whole))
                raise fault("float beside long", self.path, row=first + row, column=name, value=float(array[row]))
        return row_major(arrays, np.int64)

    def _numbered_names(self, arrays: list[Array]) -> Sequence[str]:
        """The names of the arrays: of all columns or, if rows are sparse, of those that held numbers."""
        own = self.columns or ()
        return own if len(own) == len(arrays) else [name for name in self.names if name not in self.categories]

    def _labels(self, columns: Columns) -> Any:
        """The label column; None if there is none."""
        if self.label_name is None:
            return None
        column = columns[str(self.label_name)]
        if not isinstance(column, pa.ChunkedArray):
            return column
        return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def share_categories(files: Sequence[Reader]) -> None:
    """Make each category of one file a column of all of them."""
    readers = [reader for reader in files if isinstance(reader, TableReader)]
    names = dict.fromkeys(name for reader in readers for name in reader.categories)
    for reader in readers:
        late = [name for name in names if name not in reader.categories and name in (reader.columns or ())]
        if late:
            reader.also_text(late)
    every = {name: {c for reader in readers for c in reader.categories.get(name, ())} for name in names}
    n_rows = sum(reader.text_rows for reader in readers)
    for name in names if readers and isinstance(readers[0].options.categories, str) else ():
        if is_mixed(every[name]) and all(name in reader.free_text for reader in readers):
            odd = next(level for level in sorted(every[name]) if not is_number(level))
            path = next(reader.path for reader in readers if odd in reader.categories.get(name, ()))
            raise fault("text among numbers", path, column=name, value=odd)
        if looks_like_ids(len(every[name]), n_rows):
            raise fault("ids as categories", readers[0].path, column=name, levels=len(every[name]), rows=n_rows)
    numbered = {name for reader in readers for name in reader.number_levels}
    for reader in readers:
        reader.use_categories({name: in_order(every[name], name in numbered) for name in names})


def require_columns(path: str, names: Sequence[str], options: Options) -> None:
    """Refuse columns that are to be coded but are not among those that are read."""
    for name in options.categories if isinstance(options.categories, Mapping) else ():
        if name not in names:
            raise fault("no column", path, column=name, value="categories", advice=advice(names, name))


def in_order(levels: Iterable[str], are_numbers: bool = False) -> tuple[str, ...]:
    """Categories in the order of their columns: whole and other numbers by size, text by its characters.

    >>> in_order({"10", "9"}), in_order({"b", "a", "10"}), in_order({"-1.5", "-2.5"}, are_numbers=True)
    (('9', '10'), ('10', 'a', 'b'), ('-2.5', '-1.5'))
    """
    known = list(levels)
    if are_numbers and all(map(NUMBER.fullmatch, known)):
        return tuple(sorted(known, key=Fraction))
    are_whole = all(INTEGER.fullmatch(level) for level in known)
    return tuple(sorted(known, key=lambda level: (int(level), level)) if are_whole else sorted(known))


def decoded(column: Any) -> Any:
    """A column without its dictionary; text views, which few Arrow functions support, become text."""
    kind = column.type
    if not pa.types.is_dictionary(kind):
        return column.cast(pa.string()) if pa.types.is_string_view(kind) else column
    if not pa.types.is_string_view(kind.value_type):
        return column.cast(kind.value_type)
    chunks = getattr(column, "chunks", [column])
    texts = [
        pa.DictionaryArray.from_arrays(c.indices, c.dictionary.cast(pa.string())).dictionary_decode() for c in chunks
    ]
    return pa.chunked_array(texts, pa.string())


def texts(column: Any) -> Any:
    """Categories as text; numbers and booleans as Python writes them, as for tables in memory."""
    kind = column.type
    if not (pa.types.is_floating(kind) or pa.types.is_decimal(kind) or pa.types.is_boolean(kind)):
        return column.cast(pa.string())
    whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    coded = whole.dictionary_encode()
    return pa.array(map(str, coded.dictionary.to_pylist()), pa.string()).take(coded.indices)


def is_string(kind: Any) -> bool:
    """Whether an Arrow type is text."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def first_true(mask: Any) -> int:
    """The position of the first true value."""
    return int(pc.index(mask, True).as_py())
