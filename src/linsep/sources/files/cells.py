"""Arrow tables as rows of numbers: each column exactly what was written, or an error that names the cell.

float16, float32, float64     as they are
integers, booleans            exact; beyond 2^53 the whole table becomes int64, or is refused
decimals                      integers where they have no fraction, else the nearest double
text                          one column of 0 and 1 for each category, if one_hot asks for it; else refused
dates, lists, structs, nulls  refused
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.errors import InputError
from linsep.faults import fault
from linsep.sources.files.columns import choose_columns
from linsep.sources.files.options import TABLE_COLUMN, Options
from linsep.sources.files.reader import EXACT, Buffers, ColumnValues, Reader, row_major
from linsep.sources.files.values import no_text, numbers_of, vanishes

Array = npt.NDArray[Any]
MOST_CATEGORIES = 1 << 16


class Cells:
    """How the columns of one file become numbers. `categories` are those of its text columns, in order."""

    def __init__(self, path: str, names: Sequence[str], label: str | None, options: Options) -> None:
        self.path, self.names, self.label, self.options = path, tuple(names), label, options
        self.categories: dict[str, tuple[str, ...]] = {}
        self.buffers = Buffers()

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns of numbers."""
        return tuple(
            column
            for name in self.names
            for column in (
                [f"{name}={value}" for value in self.categories[name]] if name in self.categories else [name]
            )
        )

    def matrix(self, table: Any, first: int) -> Array:
        """The chosen columns of an Arrow table, whose first row has this number in the file, as a table of numbers."""
        return self._joined(self._arrays(table, first), first)

    def values(self, table: Any, first: int) -> Array | ColumnValues:
        """The same, left column by column where all of them are doubles."""
        arrays = self._arrays(table, first)
        if all(array.dtype == np.float64 and array.flags.c_contiguous for array in arrays):
            return ColumnValues(arrays)
        return self._joined(arrays, first)

    def _arrays(self, table: Any, first: int) -> list[Array]:
        arrays: list[Array] = []
        for name in self.names:
            if name in self.categories:
                arrays += self._one_hot(table[name], name, first)
            else:
                arrays.append(self.numbers(table[name], name, first))
        return arrays

    def _joined(self, arrays: list[Array], first: int) -> Array:
        if any(array.dtype == np.int64 and is_long(array) for array in arrays):
            return row_major(
                [self._whole(array, name, first) for array, name in zip(arrays, self.columns, strict=True)], np.int64
            )
        return row_major(arrays, np.float64, self.buffers)

    def numbers(self, column: Any, name: str, first: int) -> Array:
        """A column as float64 or int64, nothing rounded but decimals with a fraction."""
        import pyarrow as pa

        kind = column.type
        if pa.types.is_float64(kind) and not column.null_count:
            return numbers_of(column)
        if pa.types.is_dictionary(kind):
            column = decoded(column)
            kind = column.type
        self.require_numeric(kind, name)
        if column.null_count:
            row = first_true(column.is_null())
            raise self.missing(first + row, name)
        if pa.types.is_boolean(kind):
            return numbers_of(column.cast(pa.uint8()))
        if pa.types.is_decimal(kind):
            return self._decimals(column, name, first)
        values = numbers_of(column)
        if values.dtype == np.uint64 and values.size and values.max() > np.uint64(2**63 - 1):
            row = int(np.argmax(values))
            raise self.inexact(first + row, name, int(values[row]))
        if values.dtype.kind in "iu":
            return values.astype(np.int64, copy=False)
        return values.astype(np.float64, copy=False)

    def require_numeric(self, kind: Any, name: str) -> None:
        """Refuse a column that holds no numbers."""
        import pyarrow as pa

        types = pa.types
        if types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind) or types.is_decimal(kind):
            return
        if is_string(kind):
            raise fault("text column", self.path, column=name, example="")
        raise fault("column type", self.path, column=name, seen=kind)

    def faults(self, table: Any) -> Iterator[tuple[str, str, Any]]:
        """What makes rows bad by themselves: the column, what it is, and which rows have it."""
        import pyarrow as pa
        import pyarrow.compute as pc

        needs_label = self.label is not None and self.options.needs is None
        for name in (*self.names, *((self.label,) if needs_label else ())):
            column = decoded(table[name])
            yield name, "missing", column.is_null()
            if name in self.categories and self.options.needs is not None:
                yield name, "unknown", self._is_unknown(column, name)
            if pa.types.is_floating(column.type):
                doubles = column.cast(pa.float64())
                yield name, "not finite", pc.invert(pc.is_finite(doubles))
            elif column.type == pa.uint64() and name != self.label:
                yield name, "inexact", pc.greater(column, pa.scalar(2**63 - 1, pa.uint64()))
            elif name == self.label and is_string(column.type):
                yield name, "missing", pc.equal(pc.utf8_trim_whitespace(column.cast(pa.string())), no_text())

    def fault(self, row: int, name: str, what: str, value: Any) -> InputError:
        """The error of a row that is bad by itself."""
        if name == self.label:
            return self.no_label(row)
        if what == "missing":
            return self.missing(row, name)
        if what == "unknown":
            return self.unknown(row, name, value)
        return (
            self.inexact(row, name, value)
            if what == "inexact"
            else fault(what, self.path, row=row, column=name, value=value)
        )

    def _decimals(self, column: Any, name: str, first: int) -> Array:
        import pyarrow as pa

        if column.type.bit_width < 128:  # Arrow finds no integer in the bounds of a short decimal
            column = column.cast(pa.decimal128(38, column.type.scale))
        if column.type.scale <= 0:
            try:
                return numbers_of(column.cast(pa.int64()))
            except pa.ArrowInvalid:
                big = [abs(value) >= 2**63 for value in column.to_pylist()]
                raise self.inexact(first + big.index(True), name, column[big.index(True)].as_py()) from None
        return numbers_of(column.cast(pa.string()).cast(pa.float64()))  # text to double rounds once, and rightly

    def _one_hot(self, column: Any, name: str, first: int) -> Iterator[Array]:
        import pyarrow.compute as pc

        column = decoded(column)  # a null may stand in the dictionary, where it is not counted
        if column.null_count:
            raise self.missing(first + first_true(column.is_null()), name)
        if self.options.needs is not None:
            self._require_known(column, name, first)
        for category in self.categories[name]:
            yield numbers_of(pc.equal(column, category).cast("uint8"))

    def _is_unknown(self, column: Any, name: str) -> Any:
        """Where a column holds categories that the model never saw: all their columns would be 0, in silence."""
        import pyarrow as pa
        import pyarrow.compute as pc

        return pc.invert(pc.is_in(column.cast(pa.string()), pa.array(self.categories[name], pa.string())))

    def _require_known(self, column: Any, name: str, first: int) -> None:
        """Refuse a category that the model never saw."""
        import pyarrow.compute as pc

        strange = self._is_unknown(column, name)
        if pc.any(strange).as_py():
            row = first_true(strange)
            raise self.unknown(first + row, name, column[row].as_py())

    def unknown(self, row: int, name: str, value: str) -> InputError:
        """A category that the model never saw."""
        known = ", ".join(map(repr, self.categories[name][:10]))
        return fault("unknown category", self.path, row=row, column=name, value=value, known=known)

    def _whole(self, column: Array, name: str, first: int) -> Array:
        """A column beside one of long integers: all must be integers, since doubles would round those."""
        if column.dtype.kind in "iu":
            return column
        whole = (np.floor(column) == column) & (np.abs(column) <= EXACT)
        if not whole.all():
            row = int(np.argmin(whole))
            raise fault("float beside long", self.path, row=first + row, column=name, value=float(column[row]))
        return column.astype(np.int64)

    def labels(self, table: Any, first: int) -> Any:
        """The label column, without nulls unless rows are to be labelled; None where there is no such column."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if self.label is None:
            return None
        column = decoded(table[self.label])
        is_text = is_string(column.type)
        if not (is_text or pa.types.is_integer(column.type) or is_real(column.type)):
            raise fault("label column type", self.path, column=self.label, seen=column.type)
        if column.null_count and self.options.needs is None:
            raise self.no_label(first + first_true(column.is_null()))
        if is_text and self.options.needs is None:
            blank = pc.equal(pc.utf8_trim_whitespace(column.cast(pa.string())), no_text())
            if pc.any(blank).as_py():
                raise self.no_label(first + first_true(blank))
        if not isinstance(column, pa.ChunkedArray):
            return column
        return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()

    def require_few(self, name: str, count: int) -> None:
        """Refuse a text column that would become too many columns."""
        if count > MOST_CATEGORIES:
            raise fault("many categories", self.path, column=name, most=MOST_CATEGORIES)

    def missing(self, row: int, name: str) -> InputError:
        """A cell without a value."""
        return fault("missing", self.path, row=row, column=name)

    def no_label(self, row: int) -> InputError:
        """A row without a label."""
        return fault("no label", self.path, row=row, column=self.label)

    def inexact(self, row: int, name: str, value: Any) -> InputError:
        """A number that would be rounded: a long integer, or one that is not 0 and would become 0."""
        kind = "vanishes" if isinstance(value, str) and vanishes(value) else "inexact"
        return fault(kind, self.path, row=row, column=name, value=value)


class TableReader(Reader):
    """A reader of columns that have names: `cells` turns those chosen into numbers."""

    cells: Cells

    def _choose(self, names: Sequence[str], options: Options) -> None:
        """Settle which columns are read, and which of them holds the labels."""
        choice = choose_columns(self.path, names, options)
        options.require_room(self.path, len(choice.columns), TABLE_COLUMN)
        label = None if choice.label is None else names[choice.label]
        self.label_name, self.remark = label, choice.remark
        self.cells = Cells(self.path, [names[j] for j in choice.columns], label, options)
        self.cells.categories = choice.categories

    @property
    def categories(self) -> dict[str, tuple[str, ...]]:
        """The categories of each text column, in order."""
        return self.cells.categories

    def also_text(self, names: Sequence[str]) -> None:
        """Take these columns for text, because they are in other files."""
        raise fault("text elsewhere", self.path, column=names[0])

    def use_categories(self, known: dict[str, tuple[str, ...]]) -> None:
        """Take over categories, those that other files have too; the columns follow from them."""
        self.cells.categories = known
        self.columns = self.cells.columns
        self.n_columns = len(self.columns)
        if len(set(self.columns)) < self.n_columns:
            twice = next(name for name in self.columns if self.columns.count(name) > 1)
            raise fault("category twice", self.path, column=twice)


def decoded(column: Any) -> Any:
    """A column without its dictionary; views of text, which few of Arrow's functions know, as text."""
    import pyarrow as pa

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


def is_string(kind: Any) -> bool:
    """Whether an Arrow type is text."""
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def is_real(kind: Any) -> bool:
    """Whether an Arrow type is floats or truths."""
    import pyarrow as pa

    return bool(pa.types.is_floating(kind) or pa.types.is_boolean(kind))


def is_long(integers: Array) -> bool:
    """Whether some integer is beyond 2^53."""
    return bool(integers.size) and max(int(integers.max()), -int(integers.min())) > EXACT


def first_true(mask: Any) -> int:
    """The position of the first true value."""
    import pyarrow.compute as pc

    return int(pc.index(mask, True).as_py())
