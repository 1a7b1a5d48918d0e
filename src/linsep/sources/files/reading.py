"""The narrow waist of files: a reader turns one file into batches of rows, and finds a batch again.

A new format is one small file with one class: `batches` walks all rows in order, `read` goes back to a place. All
else (labels, several files, the cache, threads, the answers to the solvers) is written once, for every format.
"""

import re
import time
import weakref
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from difflib import get_close_matches
from io import TextIOWrapper
from pathlib import Path
from typing import Any, Literal, TextIO, TypeAlias

import numpy as np
import numpy.typing as npt

from linsep import exact, loops
from linsep.errors import (
    ArgumentError,
    ChangedFileError,
    DifferentFilesError,
    FileError,
    MissingColumnError,
    NoColumnsError,
    NoFileError,
    ShapeError,
    UnreadableFileError,
    WideFileError,
)
from linsep.outputs import begun
from linsep.sources.base import Ints
from linsep.sources.files.paths import Paths, reads

Numbers: TypeAlias = Literal["binary64", "decimal"]
Values: TypeAlias = Any  # a 2-D array of float64 or int64, or a CSR matrix of such; of a walk also ColumnValues

KEPT = 4  # tables to be filled again
HELD_BATCHES = 8  # small files as large as so many batches may be held in memory, all of them together
FILE_WITHOUT_NAMES = "The file has no column names: its columns are taken in the order of the model's."
MODEL_WITHOUT_NAMES = "The model has no column names: the columns are taken in the order of the file."
UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "KI": 2**10, "MI": 2**20, "GI": 2**30, "TI": 2**40}
EXACT = 2.0**53  # every integer up to here is a double
RACY_NS = 2 * 10**9  # the coarsest clock of a file system in use
SPARSE_COLUMN = 256  # bytes that a column costs in vectors of weights and in what is known of each column
TABLE_COLUMN = 5_000  # and in a table, with its name and its type, while that is read
MOST_COLUMNS = 2**31 - 1  # indices of 32 bits


@dataclass(frozen=True, slots=True)
class Needs:
    """What a model needs of the rows that it is to label: these columns. A label column is used where there is one."""

    names: tuple[str, ...] | None
    width: int
    label: str | int | None = None


@dataclass(slots=True)
class Allowance:
    """Bytes of small files that may be held in memory, all of them together."""

    left: int

    def take(self, size: int, holder: object) -> bool:
        """Take so many bytes for as long as the holder lives; False if there are not so many left."""
        if size > self.left:
            return False
        self.left -= size
        weakref.finalize(holder, self._give_back, size)
        return True

    def _give_back(self, size: int) -> None:
        self.left += size


@dataclass(frozen=True, slots=True)
class Options:
    """What `open` was asked for, as every reader needs it. With `needs`, rows are to be labelled, not learned from."""

    label: str | int | None = None
    columns: tuple[str | int, ...] | None = None
    one_hot: bool = False
    numbers: Numbers = "binary64"
    index_base: int = 1
    n_columns: int | None = None
    header: bool = False  # the first line of text names the columns, even if it holds values alone
    says_label: bool = True  # the user gave the label column; else a proof did, which has no say on headers
    stated_label: str | None = None  # what the label column is called in a proof
    memory: int = 1 << 29
    batch_bytes: int = 1 << 24
    set_aside: "Rejects | None" = None
    needs: Needs | None = None
    held: Allowance = field(default_factory=lambda: Allowance(HELD_BATCHES << 24))

    @property
    def most_columns(self) -> int:
        """How many columns of a sparse file the memory has room for."""
        return min(MOST_COLUMNS, self.memory // SPARSE_COLUMN)

    def require_room(self, path: str, n_columns: int, each: int = SPARSE_COLUMN) -> None:
        """Refuse more columns than the memory has room for."""
        if n_columns > min(MOST_COLUMNS, self.memory // each):
            fix = room_for(n_columns, each)
            told = f"{path}: {n_columns:,} columns are more than the memory has room for. {fix}"
            raise WideFileError(told, file=path, value=n_columns, fix=fix)


def room_for(n_columns: int, each: int = SPARSE_COLUMN) -> str:
    """How to ask for the memory that so many columns need."""
    if n_columns > MOST_COLUMNS:
        return f"At most {MOST_COLUMNS:,} can be read: renumber them."
    size = f"{-(-n_columns * each // 10**6):,}MB".replace(",", "")
    return f"If that is right, allow for it: memory={size!r} (--memory {size})."


@dataclass(frozen=True, slots=True)
class Place:
    """Where a batch is: its first row in the file, how many rows, and whatever the reader needs to find it again."""

    first: int
    rows: int
    key: Any = None


@dataclass(frozen=True, slots=True)
class ColumnValues:
    """Rows that lie column by column, each contiguous doubles: a scan takes them as they are."""

    columns: Sequence[npt.NDArray[np.float64]]

    def __len__(self) -> int:
        return len(self.columns[0])

    def __getitem__(self, positions: Ints) -> npt.NDArray[np.float64]:
        """The rows at these positions, row after row in memory."""
        return row_major([column[positions] for column in self.columns], np.float64)

    def rows(self, buffers: "Buffers | None" = None) -> npt.NDArray[np.float64]:
        """All of them, row after row in memory."""
        return row_major(self.columns, np.float64, buffers)


@dataclass(frozen=True, slots=True)
class Batch:
    """Some consecutive rows of a file: values, raw labels (an Arrow or NumPy array, None for none) and their place."""

    values: Values
    labels: Any
    place: Place

    @property
    def is_columnar(self) -> bool:
        """Whether the rows lie column by column."""
        return isinstance(self.values, ColumnValues)

    def at(self, place: Place) -> "Batch":
        """The same rows, their place now known."""
        return Batch(self.values, self.labels, place)

    def take(self, positions: Ints) -> "Batch":
        """The rows at these positions."""
        labels = self.labels.take(positions) if not isinstance(self.labels, np.ndarray) else self.labels[positions]
        return Batch(self.values[positions], labels, self.place)


class Buffers:
    """Tables that nobody looks at any more, to be filled again: fresh memory costs as much as filling it."""

    def __init__(self) -> None:
        self._free: deque[npt.NDArray[np.float64]] = deque(maxlen=KEPT)

    def take(self, n_rows: int, n_columns: int) -> npt.NDArray[np.float64]:
        """A table of this size, its content unknown."""
        try:
            free = self._free.popleft()
        except IndexError:
            return np.empty((n_rows, n_columns))
        return free[:n_rows] if free.shape[1] == n_columns and len(free) >= n_rows else np.empty((n_rows, n_columns))

    def give_back(self, table: npt.NDArray[np.float64]) -> None:
        """Nothing refers to this table any more."""
        whole = table if table.base is None else table.base
        if isinstance(whole, np.ndarray) and whole.ndim == 2 and whole.dtype == np.float64:
            self._free.append(whole)


class Reader(ABC):
    """One file. Columns are those chosen, without the label; rows are counted from 0 within the file."""

    path: str
    columns: tuple[str, ...] | None
    n_columns: int
    label_name: str | int | None = None
    can_seek: bool = True  # whether `read` finds a place without walking there
    is_slow: bool = False  # whether a cache is worth its writing
    is_text: bool = False  # whether labels are texts that may mean numbers
    is_sparse: bool = False
    buffers: Buffers | None = None  # where a reader takes the memory of its batches from, if it can use it again
    is_coded: bool = False  # whether the labels of a batch are codes already
    left_out: int = 0
    index_base: int | None = None  # of formats that number their columns
    is_plain_csv: bool = False  # whether another program that knows CSV reads the same table
    remark: str | None = None  # on how the columns were chosen

    @property
    def original(self) -> "Reader":
        """The reader of the file itself, where this one reads something in its place."""
        return self

    @abstractmethod
    def batches(self) -> Iterator[Batch]:
        """Every row once, in order."""

    def walk(self) -> Iterator[Batch]:
        """The same, rows column by column where the file has them so."""
        return self.batches()

    @abstractmethod
    def read(self, place: Place) -> Batch:
        """The batch of a place that `batches` gave before."""

    def take(self, place: Place, positions: Ints) -> Batch:
        """The rows at these positions of a place."""
        return self.read(place).take(positions)

    def runs(self) -> list[Place] | None:
        """Stretches that several threads can read at a time, in order; None where only a walk will do."""
        return None

    def read_run(self, run: Place) -> Iterator[Batch]:
        """The batches of a run, in order."""
        yield self.read(run)

    def take_run(self, run: Place, positions: Ints) -> Iterator[Batch]:
        """The rows at these positions of a run, which rise, in pieces."""
        for batch in self.read_run(run):
            start = batch.place.first - run.first
            edges = np.searchsorted(positions, [start, start + batch.place.rows])
            if edges[0] < edges[1]:
                yield batch.take(positions[edges[0] : edges[1]] - start)
            if edges[1] == len(positions):
                return

    @property
    def decimal_places(self) -> tuple[int, ...] | None:
        """Where decimals are read exactly: the power of ten that makes each column integers."""
        return None

    @decimal_places.setter
    def decimal_places(self, known: tuple[int, ...]) -> None:
        """Take over powers that serve other files too."""
        raise ArgumentError(f"{self.path}: decimals are read exactly from CSV and TSV files alone.", file=self.path)

    @property
    def categories(self) -> dict[str, tuple[str, ...]]:
        """The categories of each text column, in order."""
        return {}

    @categories.setter
    def categories(self, known: dict[str, tuple[str, ...]]) -> None:
        """Take over categories that other files have too; a format without text has none."""
        assert not known

    def also_text(self, names: Sequence[str]) -> None:
        """Take these columns for text, because they are in other files."""
        raise DifferentFilesError(
            f"{self.path}: column {names[0]!r} holds numbers here and text in another file.",
            file=self.path,
            column=names[0],
            fix="Write the column in the same way in all files.",
        )

    def lines(self, rows: Sequence[int]) -> dict[int, int]:
        """The line of the file on which each of these rows begins, where files have lines."""
        return {}

    def remarks(self) -> Iterator[str]:
        """What the user should know about how the columns were chosen and counted."""
        if self.remark is not None:
            yield self.remark
        if self.index_base is not None:
            other = 1 - self.index_base
            yield f"Columns are counted from {self.index_base} (--index-base {other} counts from {other})."


@dataclass(frozen=True, slots=True)
class Stamp:
    """How a file is known to be unchanged: where it lies, its size, and when its content and its entry were changed.

    A program can set the time of a file's content back, but not that of its entry.
    """

    path: str
    device: int
    inode: int
    size: int
    mtime_ns: int
    ctime_ns: int
    taken_ns: int = field(compare=False)

    @classmethod
    def of(cls, path: str) -> "Stamp":
        """The stamp of a file as it is now."""
        try:
            found = Path(path).stat()
        except OSError as error:
            raise unreadable(path, error) from error
        return cls(
            path, found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns, time.time_ns()
        )

    @property
    def is_settled(self) -> bool:
        """Whether the file was left alone for long enough: what is written at the same time leaves the same stamp."""
        return max(self.mtime_ns, self.ctime_ns) + RACY_NS < self.taken_ns

    def require_same(self) -> None:
        """Refuse a file that is no longer what it was."""
        if Stamp.of(self.path) != self:
            fix = "Wait until the file is complete, then start again."
            raise ChangedFileError(f"{self.path}: the file changed while it was read. {fix}", file=self.path, fix=fix)


class Unstamped(Stamp):
    """The stamp of a pipe: what came out of it cannot change."""

    def require_same(self) -> None:
        """It is."""


def unreadable(path: str, error: OSError) -> NoFileError | UnreadableFileError:
    """What the system said about the file, as an error of ours."""
    fix = "Check the rights on the file."
    if isinstance(error, FileNotFoundError):
        return NoFileError(f"{path}: there is no such file.", file=path, fix="Check the path.")
    return UnreadableFileError(f"{path}: cannot be read: {error.strerror or error}.", file=path, fix=fix)


@dataclass(slots=True, weakref_slot=True)
class Rejects:
    """Bad rows set aside in a file of their own, each with its reason.

    `recent` are the file and number of each that was added since somebody looked, where somebody does.
    """

    path: str
    count: int = 0
    recent: list[tuple[str, int]] | None = None
    _out: TextIO | None = field(default=None, repr=False)

    def begin(self) -> None:
        """Begin the file anew, so that the bad rows of an earlier run are not taken for those of this one.

        That is done at the first bad row, or when all are read: a run that ends before leaves the file as it was.
        """
        if self._out is None:
            with self._told():
                self._out = TextIOWrapper(begun(self.path), "utf-8", "backslashreplace", newline="")
                weakref.finalize(self, _close, self._out)
            self._write(["file", "row", "reason", "content"])

    def add(self, file: str, row: int, reason: str, text: str) -> None:
        """Write one row down: the file it is from, its number there, why, and what it held."""
        self.begin()
        self._write([file, row, reason, text])
        self.count += 1
        if self.recent is not None:
            self.recent.append((file, row))

    def _write(self, cells: list[Any]) -> None:
        import csv

        assert self._out is not None
        with self._told():
            csv.writer(self._out).writerow(cells)
            self._out.flush()  # whatever comes next, this row is written down

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except FileError as error:
            told = str(error).replace(": cannot be written", ": bad rows cannot be written there", 1)
            raise FileError(told, file=self.path, fix="Give reject= another path.") from error

    def drain(self) -> list[tuple[str, int]]:
        """The bad rows since this was last asked."""
        found, self.recent = self.recent or [], []
        return found

    def require_apart(self, path: Paths) -> None:
        """Refuse to write over one of the files that are read, or where the next run would read it."""
        if (found := reads(path, self.path)) is not None:
            fix = "Give reject another name."
            told = f"{self.path}: bad rows would be written over the data, or among them ({found}). {fix}"
            raise ArgumentError(told, file=self.path, fix=fix)


def _close(file: TextIO) -> None:
    with suppress(Exception):  # each row was flushed, and told of if it could not be
        file.close()


def find_column(path: str, names: Sequence[str], wanted: str | int, option: str) -> int:
    """The position of a column given by its name, or by a position such as -1."""
    if isinstance(wanted, str) and wanted in names:
        return list(names).index(wanted)
    place = wanted if isinstance(wanted, int) else int(wanted) if re.fullmatch(r"-?[0-9]{1,9}", wanted) else None
    if place is not None and -len(names) <= place < len(names):
        return place % len(names)
    raise MissingColumnError(
        f"{path}: there is no column {wanted!r}. {advice(names, str(wanted))}", file=path, column=wanted, value=option
    )


def advice(names: Sequence[str], name: str) -> str:
    """Which columns there are, and which of them was perhaps meant."""
    if len(names) == 1 and "," in names[0]:
        return f"The header is the single column {names[0]!r}: a file with commas ends in .csv."
    if len(names) == 1 and re.search(r"[;\t|]", names[0]):
        return f"The header is the single column {names[0]!r}: separate the columns by commas."
    near = get_close_matches(name, names, n=1)
    shown = ", ".join(repr(name) for name in names[:20]) + (", ..." if len(names) > 20 else "")
    return f"The columns are {shown}." + (f" Did you mean {near[0]!r}?" if near else "")


@dataclass(frozen=True, slots=True)
class Choice:
    """The positions of the columns to use, in order, and that of the label; and what the user should know about it."""

    columns: list[int]
    label: int | None
    remark: str | None = None
    categories: dict[str, tuple[str, ...]] = field(default_factory=dict)  # of text columns that a model has as 0 and 1


def choose_columns(path: str, names: Sequence[str], options: Options, *, has_names: bool = True) -> Choice:
    """The columns that were asked for, or that a model needs."""
    if options.needs is not None:
        by_name = has_names and options.needs.names is not None
        choose = _choose_by_name if by_name else _choose_by_position
        return choose(path, names, options, options.needs)
    if options.label is None:
        raise ArgumentError(
            f"{path}: say which column holds the labels with --label. {advice(names, 'label')}",
            file=path,
            fix="Give label=NAME, or --label NAME on the command line.",
        )
    label = find_column(path, names, options.label, "label")
    if has_names and options.stated_label not in (None, names[label]):
        told = f"the label column is {names[label]!r}, but that of the proof is {options.stated_label!r}"
        raise MissingColumnError(f"{path}: {told}.", file=path, column=names[label])
    if options.columns is None:
        others = [j for j in range(len(names)) if j != label]
        if not others:
            raise NoColumnsError(f"{path}: the label is the only column: there is nothing to separate by.", file=path)
        return Choice(others, label)
    chosen = [find_column(path, names, name, "columns") for name in options.columns]
    if label in chosen:
        raise ArgumentError(f"{path}: column {names[label]!r} is the label and cannot be a column too.", file=path)
    if len(set(chosen)) < len(chosen):
        raise ArgumentError(f"{path}: a column is chosen twice.", file=path)
    return Choice(chosen, label)


def _choose_by_name(path: str, names: Sequence[str], options: Options, needs: Needs) -> Choice:
    """The columns that are called as the model's; what else is there is left alone."""
    places = {name: place for place, name in enumerate(names)}
    known = needs.label if isinstance(needs.label, str) else None
    label = places.get(known or "") if options.label is None else find_column(path, names, options.label, "label")
    chosen: dict[int, list[str]] = {}
    for name in needs.names or ():
        if name in places:
            chosen[places[name]] = []
            continue
        stem = next((name[:k] for k, mark in enumerate(name) if mark == "=" and name[:k] in places), None)
        if stem is None:
            raise MissingColumnError(
                f"{path}: the model needs the column {name!r}, which is not there. {advice(names, name)}",
                file=path,
                column=name,
            )
        chosen.setdefault(places[stem], []).append(name[len(stem) + 1 :])  # a category that --one-hot made a column of
    extra = [repr(name) for j, name in enumerate(names) if j not in chosen and j != label]
    shown = ", ".join(extra[:20]) + (", ..." if len(extra) > 20 else "")
    remark = f"Ignored, because the model does not use them: {shown}." if extra else None
    categories = {names[j]: tuple(values) for j, values in chosen.items() if values}
    made = [column for j, values in chosen.items() for column in _made(names[j], values)]
    if tuple(made) != needs.names:
        odd = next(name for name, column in zip(needs.names or (), [*made, None], strict=False) if name != column)
        raise MissingColumnError(f"{path}: the model needs a column {odd!r} of its own.", file=path, column=odd)
    return Choice(list(chosen), label, remark, categories)


def _made(name: str, categories: Sequence[str]) -> Iterator[str]:
    """What a column becomes: itself, or one column for each category."""
    if categories:
        yield from (f"{name}={value}" for value in categories)
    else:
        yield name


def _choose_by_position(path: str, names: Sequence[str], options: Options, needs: Needs) -> Choice:
    """The columns in their order: the model or the file has no names."""
    label = None
    if options.label is not None:
        label = find_column(path, names, options.label, "label")
    elif len(names) == needs.width + 1 and isinstance(needs.label, int) and -len(names) <= needs.label < len(names):
        label = needs.label % len(names)
    others = [j for j in range(len(names)) if j != label]
    require_width(path, len(others), needs)
    return Choice(others, label, MODEL_WITHOUT_NAMES if needs.names is None else FILE_WITHOUT_NAMES)


def require_width(path: str, width: int, needs: Needs) -> None:
    """Refuse rows that are longer or shorter than the model's."""
    if width != needs.width:
        raise ShapeError(f"{path}: {width} columns, but the model has {needs.width} weights.", file=path)


def row_major(columns: Sequence[npt.NDArray[Any]], kind: type, buffers: Buffers | None = None) -> npt.NDArray[Any]:
    """Columns beside each other, row after row in memory: in strips that fit the cache."""
    n_rows = len(columns[0]) if columns else 0
    if n_rows * len(columns) <= exact.FEW_CELLS:
        return np.array(columns, kind).T.copy() if columns else np.zeros((0, 0), kind)
    if kind is np.float64 and all(column.dtype == np.float64 and column.flags.c_contiguous for column in columns):
        doubles = (buffers or Buffers()).take(n_rows, len(columns))
        loops.transpose.interleave(np.array([column.ctypes.data for column in columns], np.uint64), n_rows, doubles)
        return doubles
    table: npt.NDArray[Any] = np.empty((n_rows, len(columns)), kind)
    step = max(256, (1 << 15) // max(1, len(columns)))
    for start in range(0, n_rows, step):
        strip = table[start : start + step]
        for j, column in enumerate(columns):
            strip[:, j] = column[start : start + step]
    return table


def parse_size(text: str) -> int:
    """A size such as "512MB", "2GiB" or "1000000", in bytes."""
    match = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([KMGT]?I?)B?\s*", text.upper())
    if not match or match[2] == "I":
        raise ArgumentError(f"{text!r} is not a size: write for instance 512MB or 2GiB.")
    return int(float(match[1]) * UNITS[match[2]])
