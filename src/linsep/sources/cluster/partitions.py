"""The work on a partition, done where it lies: a first look, then questions; only small answers leave.

A partition is a dataframe, an Arrow table, an array or a sparse matrix: whatever `tables` reads, and `tables` reads it.
Its rows are scanned by the code that scans rows in memory.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeVar, runtime_checkable

import numpy as np

from linsep import exact
from linsep.errors import InputError
from linsep.faults import fault, few
from linsep.loops.layouts import Csr, Dense
from linsep.sources.base import Array, Block, Facts, Floats, Ints, Label, Scan, integer_bits, marks
from linsep.sources.files.labels import MOST_LABELS
from linsep.sources.files.reader import ColumnValues
from linsep.sources.files.source import ColumnPart
from linsep.sources.inputs import read_table
from linsep.sources.memory import UNKNOWN_LENGTH, HeldRows, MemorySource, scanned, scanned_part
from linsep.tables import is_long, read_labels
from linsep.tables.given_rows import Given, complete
from linsep.tables.handed_over import as_series
from linsep.tables.label_values import distinct, order_of, require_one_index
from linsep.tables.row_ids import ListedIds

T = TypeVar("T")


class Unread(ABC):
    """A partition that is read when it is needed: a row group of a file."""

    __slots__ = ()

    @property
    @abstractmethod
    def name(self) -> str:
        """What error messages call it."""

    @abstractmethod
    def load(self) -> Any:
        """The table."""

    @abstractmethod
    def head(self) -> Any:
        """The table without its rows."""

    @abstractmethod
    def column(self, name: str) -> Any:
        """One of its columns, which need not be among those of the table."""


@dataclass(frozen=True, slots=True)
class Columns:
    """Which column of a table holds the label (unless labels are separate), and which to learn from (unless all)."""

    label: str | None = None
    chosen: tuple[str, ...] | None = None
    id: str | None = None
    drops_gaps: bool = False  # instead of refusing a row with a missing value

    def __post_init__(self) -> None:
        if self.chosen is not None and self.label in self.chosen:
            raise fault("label as column", column=self.label)
        if self.chosen is not None and len(set(self.chosen)) < len(self.chosen):
            raise fault("column twice")

    def split(self, x: Any, y: Any) -> tuple[Any, Any, Array | None]:
        """The rows and the labels of a partition, and which of its rows they are; None if none were dropped."""
        x, y = self._split(x, y)
        return complete(x, y) if self.drops_gaps and y is not None else (x, y, None)

    def _split(self, x: Any, y: Any) -> tuple[Any, Any]:
        if isinstance(x, Unread):
            x = x.load()
        if self.label is None and self.id is None:
            return x if self.chosen is None else x[list(self.chosen)], y
        own = {str(name): name for name in _names(x)}
        names = [str(name) for name in _names(x)]
        if (twice := next((name for name in own if names.count(name) > 1), None)) is not None:
            raise fault("name twice", column=twice)
        for name in (self.label, self.id, *(self.chosen or ())):
            if name is not None and name not in own:
                raise fault("no column", column=name, advice=f"The columns are {few(names, 8)}.")
        aside = (self.label, self.id)
        chosen = [name for name in names if name not in aside] if self.chosen is None else list(self.chosen)
        if not chosen:
            raise fault("only the label")
        return _select(x, [own[name] for name in chosen]), y if self.label is None else _one(x, own[self.label])


@runtime_checkable
class Arrow(Protocol):
    """An Arrow table."""

    column_names: list[str]
    schema: Any

    def select(self, columns: list[str]) -> Any:
        """Some of its columns."""

    def column(self, name: str) -> Any:
        """One of them."""


def _names(x: Any) -> Sequence[Any]:
    return x.column_names if isinstance(x, Arrow) else list(x.columns)


def _select(x: Any, chosen: list[Any]) -> Any:
    return x.select(chosen) if isinstance(x, Arrow) else x[chosen]


def _one(x: Any, name: Any) -> Any:
    return x.column(name) if isinstance(x, Arrow) else x[name]


class Seen(NamedTuple):
    """What the first look at a partition finds."""

    rows: int
    dropped: int = 0  # rows, in addition, for missing values
    columns: int = 0
    names: tuple[str, ...] | None = None
    types: tuple[str, ...] = ()  # of the columns, as they were declared, and of the labels
    kind: str = ""  # of the numbers, as they were read
    is_sparse: bool = False
    labels: tuple[Label, ...] = ()
    order: tuple[Label, ...] | None = None  # of labels that are ordered categories
    entries: int = 0
    bits: int | None = None
    is_long: bool = False
    longest2: float = UNKNOWN_LENGTH  # that of doubles is left to the first scan, which also finds NaN


def looked(columns: Columns, name: str, x: Any, y: Any, *, reads: bool = False) -> Seen | InputError:
    """The same with an error as a value, so that of several bad partitions the first is reported, not the fastest."""
    try:
        return look(columns, name, x, y, reads=reads)
    except InputError as error:
        return error


def look(columns: Columns, name: str, x: Any, y: Any, *, reads: bool = False) -> Seen:
    """The first look at a partition: its kind of numbers and its labels; and, if it `reads`, that all is finite.

    Numbers other than doubles are read anyway, since what is exact depends on them.
    """
    with _named(name):
        require_one_index(x, y)
        part = None if reads else _without_rows(columns, x)
        x, y, kept = part or columns.split(x, y)
        n_rows = _length(x if part is None else y)
        dropped = 0 if kept is None else len(kept) - n_rows
        if y is None:
            raise fault("length", rows=n_rows, labels=0)
        if _length(y) != n_rows:
            raise fault("length", rows=n_rows, labels=_length(y))
        if columns.label is not None and str(kind := getattr(y, "type", "")).startswith("decimal"):
            raise fault("label column type", column=columns.label, seen=kind)
        if not n_rows:
            return Seen(0, dropped)
        with Given(x, y, kept=None if kept is None else np.flatnonzero(kept)).numbered():
            found, _ = distinct(read_labels(y, n_rows))
            seen = None if reads else _seen_doubles(x, n_rows)
            seen = seen or _seen_columns(x, n_rows) or _seen_rows(x, n_rows)  # these name what is not finite
        if len(found) > MOST_LABELS:
            raise fault("many labels", most=MOST_LABELS, seen=few(found))
        types = (*_types(x), str(getattr(y, "dtype", getattr(y, "type", ""))))
        return seen._replace(types=types, labels=tuple(found), order=order_of(y), dropped=dropped)


def _without_rows(columns: Columns, x: Any) -> tuple[Any, Any, None] | None:
    """The columns of a file without their rows, and its labels: all that is read of many doubles; else None."""
    if not isinstance(x, Unread) or columns.drops_gaps or columns.label is None:
        return None
    rows, _, _ = columns.split(head := x.head(), _one(head, columns.label) if columns.label in _names(head) else None)
    labels = x.column(columns.label)
    return (rows, labels, None) if _seen_doubles(rows, len(labels)) else None


def _seen_doubles(x: Any, n_rows: int) -> Seen | None:
    """What is known of many doubles without reading them; None if the numbers have to be read."""
    names: tuple[str, ...] | None = None
    if type(x) is np.ndarray:
        if x.ndim != 2 or str(x.dtype) != "float64":
            return None
        n_columns = x.shape[1]
    else:
        if not isinstance(x, Arrow) and getattr(x, "dtypes", None) is None:
            return None
        if not set(_types(x)) <= {"double", "float64"}:
            return None
        names = tuple(map(str, _names(x)))
        n_columns = len(set(names))
    entries = n_rows * n_columns
    if entries <= exact.FEW_CELLS or (names and len(names) > n_columns):
        return None
    return Seen(n_rows, 0, n_columns, names, kind="float64", entries=entries)


def _seen_columns(x: Any, n_rows: int) -> Seen | None:
    """What reading columns of doubles finds; None if they are not doubles."""
    columns = doubles_of(x)
    names = tuple(map(str, _names(x))) if columns else ()
    if columns is None or len(set(names)) < len(names) or n_rows * len(names) <= exact.FEW_CELLS:
        return None
    facts = Facts(n_rows, len(names), names=names)
    part = ColumnPart(ColumnValues(columns), np.ones(n_rows, np.int8), facts, range(n_rows))
    scan = part.scan_alone(np.zeros(len(names)), 1.0, 0, np.inf)
    entries = n_rows * len(names)
    return Seen(n_rows, 0, len(names), names, kind="float64", entries=entries, longest2=scan.longest2)


def _seen_rows(x: Any, n_rows: int) -> Seen:
    """What reading rows of any kind finds."""
    table, n_columns, names = read_table(x)
    values = table.values if isinstance(table, Dense) else table.data
    block = Block(table, np.ones(n_rows, np.int8), range(n_rows), n_columns)
    scan = scanned(Facts(n_rows, n_columns, names=names), np.zeros(n_columns), 1.0, 0, block)
    return Seen(
        n_rows,
        0,
        n_columns,
        names,
        kind=str(values.dtype),
        is_sparse=isinstance(table, Csr),
        entries=int(values.size),
        bits=integer_bits(table),
        is_long=values.dtype.kind in "iu" and is_long(values),
        longest2=scan.longest2,
    )


class _named:  # noqa: N801 - a context manager in two methods
    """While this is open, errors about data name this partition."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, InputError) and error.file is None:
            error.at(file=self.name)


def _length(x: Any) -> int:
    """How many rows a table, or how many labels a column has."""
    shape = getattr(x, "shape", None)
    return int(shape[0]) if shape else len(x)


def _types(x: Any) -> tuple[str, ...]:
    """The declared types of the columns of a dataframe or an Arrow table, the one type of an array."""
    if isinstance(x, Arrow):
        return tuple(str(field.type) for field in x.schema)
    each = getattr(x, "dtypes", None)
    if each is not None:
        return tuple(map(str, each))
    return (str(getattr(x, "dtype", "")),)


@dataclass(frozen=True, slots=True)
class Known:
    """What is known about all partitions, and what each task needs to make its rows."""

    columns: Columns
    facts: Facts
    values: tuple[Label, ...]  # of the labels, in increasing order
    codes: tuple[int, ...]  # the class of each
    kind: str  # of the numbers


@dataclass(frozen=True, slots=True)
class Span:
    """A partition and the rows it holds."""

    name: str
    start: int
    rows: int
    longest2: float


def block_of(known: Known, at: Span, x: Any, y: Any) -> Block:
    """The rows of a partition under their numbers in the whole; it must be as in the first read."""
    with _named(at.name):
        x, signs = _read(known, at, x, y)
        table, n_columns, _ = read_table(x)
        values = table.values if isinstance(table, Dense) else table.data
        if n_columns != known.facts.n_columns or str(values.dtype) != known.kind:
            raise fault("partition changed", said=f"{known.facts.n_columns} columns of {known.kind}", seen=values.dtype)
        return Block(table, signs, range(at.start, at.start + at.rows), n_columns)


def _read(known: Known, at: Span, x: Any, y: Any) -> tuple[Any, Any]:
    """The rows of a partition as they are, and their labels as blocks store them."""
    x, y, _ = known.columns.split(x, y)
    if _length(x) != at.rows:
        raise fault("partition changed", said=f"{at.rows:,} rows", seen=f"{_length(x):,}")
    return x, _classes(known, read_labels(y, at.rows))


def part_of(known: Known, at: Span, x: Any, y: Any) -> HeldRows:
    """The rows of a partition without copying; doubles that lie column by column stay so."""
    if known.kind != "float64" or known.facts.n_rows * known.facts.n_columns <= exact.FEW_CELLS:
        block = block_of(known, at, x, y)
        return MemorySource(block.table, block.y, known.facts.of_part(at.rows), block.numbers)
    if isinstance(x, Unread):
        x = x.load()
    with _named(at.name):
        rows, signs = _read(known, at, x, y)
        columns = doubles_of(rows)
    if columns is None or len(columns) != known.facts.n_columns:
        block = block_of(known, at, x, y)
        return MemorySource(block.table, block.y, known.facts.of_part(at.rows), block.numbers)
    return ColumnPart(ColumnValues(columns), signs, known.facts.of_part(at.rows), range(at.start, at.start + at.rows))


def doubles_of(x: Any) -> list[Floats] | None:
    """The columns of a dataframe or an Arrow table, if all are contiguous doubles without missing values; else None."""
    if isinstance(x, Arrow):
        chunked = [x.column(name) for name in x.column_names]
        if not all(str(column.type) == "double" and not column.null_count for column in chunked):
            return None
        columns = [column.combine_chunks() if column.num_chunks != 1 else column.chunk(0) for column in chunked]
        return [column.to_numpy(zero_copy_only=True) for column in columns]
    types = getattr(x, "dtypes", None)
    if types is None or not all(str(kind) == "float64" for kind in types):
        return None
    found = [x.iloc[:, j].to_numpy() for j in range(x.shape[1])]
    return found if all(column.flags.c_contiguous and column.flags.aligned for column in found) else None


def _classes(known: Known, labels: Array) -> Any:
    """The labels as blocks store them."""
    if len(known.values) == 2 and labels.dtype.kind in "biuf":
        low, high = known.values
        is_high = labels == high
        if np.count_nonzero(is_high) + np.count_nonzero(labels == low) == len(labels):
            signs = is_high.view(np.int8)
            signs *= 2 if known.codes[1] else -2
            signs -= 1 if known.codes[1] else -1
            return signs
    n_classes = len(known.facts.labels)
    found, places = distinct(labels)
    own = dict(zip(known.values, known.codes, strict=True))
    if not all(value in own for value in found):
        raise fault("partition changed", said=few(known.values), seen=few(found))
    return marks(np.array([own[value] for value in found], np.int64)[places], n_classes)


def scan_partition(known: Known, at: Span, w: Floats, b: float, worst: int, x: Any, y: Any) -> Scan:
    """The scan of a partition, with no row left in doubt; rows are numbered as in the whole."""
    return scanned_part(part_of(known, at, x, y), known.facts, w, b, worst, at.longest2)


def take_from(known: Known, at: Span, rows: Ints, x: Any, y: Any) -> Block:
    """Some rows of a partition, by their numbers in the whole."""
    if isinstance(x, Unread):
        x = x.load()
    with _named(at.name):
        own, labels, _ = known.columns.split(x, y)
        places, columns = rows - at.start, doubles_of(own) if known.kind == "float64" else None
        if columns is None or len(columns) != known.facts.n_columns or _length(own) != at.rows:
            return block_of(known, at, x, y).take(places)
        signs = _classes(known, read_labels(labels, at.rows)[places])
        return Block(Dense(ColumnValues(columns)[places]), signs, rows, known.facts.n_columns)


def places_in(columns: Columns, places: Ints, x: Any, y: Any) -> Ints:
    """The places of rows in their partition, counting those that were dropped."""
    kept = columns.split(x, y)[2] if columns.drops_gaps else None
    return places if kept is None else np.flatnonzero(kept)[places]


def ids_from(columns: Columns, places: Ints, x: Any, y: Any, *, column: str | None) -> Sequence[Any]:
    """What some rows of a partition are called: by a column, or by the index."""
    wanted = places_in(columns, places, x, y).tolist()
    if isinstance(x, Unread):  # of a file: as text, as without a cluster
        assert column is not None
        return ["" if name is None else str(name) for name in ListedIds(as_series(x.column(column))).at(wanted)]
    if column is None:
        return ListedIds(x.index).at(wanted)
    own = next(name for name in _names(x) if str(name) == column)
    return ListedIds(as_series(_one(x, own))).at(wanted)


def work_on(work: Callable[..., T], known: Known, at: Span, bits: Any, x: Any, y: Any) -> T:
    """The result of a function for a partition; `bits` are the marks of its rows, if any: True if all are marked."""
    block = block_of(known, at, x, y)
    if bits is None:
        return work(block)
    flags = np.ones(at.rows, np.bool_) if bits is True else np.unpackbits(bits, count=at.rows).view(np.bool_)
    return work(block, flags)
