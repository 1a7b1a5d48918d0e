"""The narrow waist of files: a reader turns one file into batches of rows, and finds a batch again.

A new format is one small file with one class: `batches` walks all rows in order, `read` goes back to a place. All
else (labels, several files, the cache, threads, the answers to the solvers) is written once, for every format.
"""

import re
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from linsep.errors import (
    ArgumentError,
    ChangedFileError,
    MissingColumnError,
    NoColumnsError,
    NoFileError,
    UnreadableFileError,
)
from linsep.sources.base import Ints

Numbers: TypeAlias = Literal["binary64", "decimal"]
Values: TypeAlias = Any  # a 2-D array of float64 or int64, or a CSR matrix of such; in a run also ColumnValues

KEPT = 4  # tables to be filled again
EXACT = 2.0**53  # every integer up to here is a double


@dataclass(frozen=True, slots=True)
class Options:
    """What `open` was asked for, as every reader needs it."""

    label: str | int | None = None
    columns: tuple[str | int, ...] | None = None
    one_hot: bool = False
    numbers: Numbers = "binary64"
    index_base: int = 1
    n_columns: int | None = None
    batch_bytes: int = 1 << 24
    set_aside: "Rejects | None" = None


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

    def rows(self) -> npt.NDArray[np.float64]:
        """All of them, row after row in memory."""
        return row_major(self.columns, np.float64)


@dataclass(frozen=True, slots=True)
class Batch:
    """Some consecutive rows of a file: values, raw labels (an Arrow array or a NumPy array) and their place."""

    values: Values
    labels: Any
    place: Place

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

    @abstractmethod
    def batches(self) -> Iterator[Batch]:
        """Every row once, in order."""

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

    def lines(self, rows: Sequence[int]) -> dict[int, int]:
        """The line of the file on which each of these rows begins, where files have lines."""
        return {}


@dataclass(frozen=True, slots=True)
class Stamp:
    """How a file is known to be unchanged: its size, its time and its number on the disk."""

    path: str
    size: int
    mtime_ns: int
    inode: int

    @classmethod
    def of(cls, path: str) -> "Stamp":
        """The stamp of a file as it is now."""
        try:
            found = Path(path).stat()
        except OSError as error:
            raise unreadable(path, error) from error
        return cls(path, found.st_size, found.st_mtime_ns, found.st_ino)

    def require_same(self) -> None:
        """Refuse a file that is no longer what it was."""
        if Stamp.of(self.path) != self:
            fix = "Wait until the file is complete, then start again."
            raise ChangedFileError(f"{self.path}: the file changed while it was read. {fix}", file=self.path, fix=fix)


def unreadable(path: str, error: OSError) -> NoFileError | UnreadableFileError:
    """What the system said about the file, as an error of ours."""
    if isinstance(error, FileNotFoundError):
        return NoFileError(f"{path}: there is no such file.", file=path, fix="Check the path.")
    return UnreadableFileError(f"{path}: cannot be read: {error.strerror or error}.", file=path)


@dataclass(slots=True)
class Rejects:
    """Bad rows set aside in a file of their own, each with its reason; `limit` shown reasons are kept for reports."""

    path: str
    count: int = 0
    _begun: bool = field(default=False)

    def add(self, file: str, row: int, reason: str, text: str) -> None:
        """Write one row down: the file it is from, its number there, why, and what it held."""
        import csv

        with Path(self.path).open("a" if self._begun else "w", encoding="utf-8", newline="") as out:
            writer = csv.writer(out)
            if not self._begun:
                writer.writerow(["file", "row", "reason", "content"])
            writer.writerow([file, row, reason, text])
        self._begun = True
        self.count += 1


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
    if len(names) == 1 and re.search(r"[;\t|]", names[0]):
        return f"The header is the single column {names[0]!r}: separate the columns by commas."
    near = get_close_matches(name, names, n=1)
    shown = ", ".join(repr(name) for name in names[:20]) + (", ..." if len(names) > 20 else "")
    return f"The columns are {shown}." + (f" Did you mean {near[0]!r}?" if near else "")


def choose_columns(path: str, names: Sequence[str], options: Options) -> tuple[list[int], int]:
    """The positions of the columns to use, in the order asked for, and that of the label."""
    if options.label is None:
        raise ArgumentError(
            f"{path}: say which column holds the labels with --label. {advice(names, 'label')}",
            file=path,
            fix="Give label=NAME, or --label NAME on the command line.",
        )
    label = find_column(path, names, options.label, "label")
    if options.columns is None:
        others = [j for j in range(len(names)) if j != label]
        if not others:
            raise NoColumnsError(f"{path}: the label is the only column: there is nothing to separate by.", file=path)
        return others, label
    chosen = [find_column(path, names, name, "columns") for name in options.columns]
    if label in chosen:
        raise ArgumentError(f"{path}: column {names[label]!r} is the label and cannot be a column too.", file=path)
    if len(set(chosen)) < len(chosen):
        raise ArgumentError(f"{path}: a column is chosen twice.", file=path)
    return chosen, label


def row_major(columns: Sequence[npt.NDArray[Any]], kind: type, buffers: Buffers | None = None) -> npt.NDArray[Any]:
    """Columns beside each other, row after row in memory: in strips that fit the cache."""
    n_rows = len(columns[0]) if columns else 0
    if kind is np.float64 and all(column.dtype == np.float64 and column.flags.c_contiguous for column in columns):
        from linsep.kernels.interleave import interleave

        doubles = (buffers or Buffers()).take(n_rows, len(columns))
        interleave(np.array([column.ctypes.data for column in columns], np.uint64), n_rows, doubles)
        return doubles
    table: npt.NDArray[Any] = np.empty((n_rows, len(columns)), kind)
    step = max(256, (1 << 15) // max(1, len(columns)))
    for start in range(0, n_rows, step):
        strip = table[start : start + step]
        for j, column in enumerate(columns):
            strip[:, j] = column[start : start + step]
    return table
