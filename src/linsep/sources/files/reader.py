"""The interface of file formats: a reader walks the rows of one file once, and a store reads them again.

A new format is one small file: `batches` yields every row once, in order. Formats that are slow to read are converted
once (`cache`), so that solvers read only stores: Parquet, Arrow and .npy files directly, and the converted rows of all
others.
"""

import hashlib
import time
from abc import ABC, abstractmethod
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from linsep import exact, loops
from linsep.errors import InputError
from linsep.faults import fault
from linsep.sources.base import Ints
from linsep.sources.files.options import Options
from linsep.sources.files.paths import unreadable

Values: TypeAlias = Any  # a 2-D array of float64 or int64, a CSR matrix of such, or ColumnValues

RACY_NS = 2 * 10**9  # the coarsest clock of the file systems in use


@dataclass(frozen=True, slots=True)
class ColumnValues:
    """Rows that lie column by column, each column contiguous doubles: a scan reads them without a copy."""

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
    """Consecutive rows of a file: values, labels (raw, or codes of a store; None for none), the first row's number."""

    values: Values
    labels: Any
    first: int

    def __len__(self) -> int:
        return len(self.values) if isinstance(self.values, ColumnValues) else int(self.values.shape[0])

    def as_rows(self) -> "Batch":
        """The same, row after row in memory."""
        is_columns = isinstance(self.values, ColumnValues)
        return Batch(self.values.rows(), self.labels, self.first) if is_columns else self

    def take(self, positions: Ints) -> "Batch":
        """The rows at these positions."""
        labels = self.labels.take(positions) if not isinstance(self.labels, np.ndarray) else self.labels[positions]
        return Batch(self.values[positions], labels, self.first)


class Reader(ABC):
    """One file. Columns are the chosen ones, without the label; rows are counted from 0 within the file.

    `path` is what the user calls it, `file` where it really is: input from a pipe is written to a temporary file.
    """

    columns: tuple[str, ...] | None = None
    n_columns: int
    size: int  # bytes of its rows in memory, approximately
    label_name: str | int | None = None
    label_order: tuple[Any, ...] | None = None  # of labels that are ordered categories
    is_text: bool = False  # whether labels are texts that may mean numbers
    is_sparse: bool = False
    has_features: bool = False  # whether columns are named features, known once the file has been walked
    has_header: bool = False  # whether its first line names the columns
    is_plain_csv: bool = False  # whether any other CSV reader would read the same table
    left_out: int = 0
    decimal_places: tuple[int, ...] | None = None  # the power of ten that makes each column integers, if any
    digest: str | None = None  # of the whole file, once a walk has found it
    is_walked: bool = False  # whether all rows were read once, so that rejected rows are written down
    why_empty: InputError | None = None  # after a walk that found no row, or left none: the fault, if no file has any

    def __init__(self, path: str, options: Options, file: str | None = None, *, is_pipe: bool = False) -> None:
        self.path, self.options, self.file = path, options, file or path
        self.stamp = Stamp(path) if is_pipe else Stamp.of(path, self.file)
        self.categories: dict[str, tuple[str, ...]] = {}  # of each text column, in order
        self.remarks: list[str] = []  # what the user should know about how the columns were chosen and counted
        self.bad_rows = array("q")  # rejected in the first walk, by their numbers in the file

    @abstractmethod
    def batches(self) -> Iterator[Batch]:
        """Every row once, in order."""

    def reject(self, row: int, fault: InputError, content: str) -> None:
        """Write a bad row down, but only in the first walk: later ones meet the same rows."""
        if self.options.rejects is None:
            raise fault
        self.left_out += 1
        if not self.is_walked:
            self.bad_rows.append(row)
            self.options.rejects.add(self.path, row, fault, content)

    def walked(self, kept: int, empty: str = "no rows") -> None:
        """After a walk: refuse a file that changed meanwhile, and say why there are no rows if that is so."""
        self.stamp.require_same()
        self.is_walked = True
        if not kept:
            if self.left_out and self.options.missing == "drop":
                self.why_empty = fault("all missing", self.path, rows=self.left_out, why="")
            else:
                empty = "none left" if self.left_out else empty
                self.why_empty = fault(empty, self.path, left_out=self.left_out)

    def lines(self, rows: Sequence[int]) -> dict[int, int]:
        """The line of the file on which each of these rows begins, if the format has lines."""
        return {}

    def ids(self, rows: Sequence[int]) -> dict[int, str]:
        """The id of each of these rows, if there is a column of ids."""
        wanted = set(rows)
        return {row: called for row, called in enumerate(self.all_ids()) if row in wanted}

    def file_numbers(self, rows: Sequence[int]) -> list[int]:
        """The numbers of these rows in the file, counting rejected rows."""
        before = np.sort(np.array(self.bad_rows)) - np.arange(len(self.bad_rows))
        wanted = np.asarray(rows, np.int64)
        return list(map(int, wanted + np.searchsorted(before, wanted, side="right")))

    def all_ids(self) -> Iterator[str]:
        """The id of each row, in order, if there is a column of ids."""
        return iter(())

    def find_decimal_places(self) -> bool:
        """Find `decimal_places`, unless they are known; return whether doubles would round some of the decimals."""
        return False

    def use_features(self, names: Sequence[str]) -> None:
        """Use these features as the columns, including those that only other files have."""
        self.columns = tuple(names)


class Store(ABC):
    """Rows that can be read again: groups of them, each read by one thread, in batches that fit in memory."""

    lengths: list[int]  # the rows of each group

    @abstractmethod
    def read(self, k: int, *, use_threads: bool = False) -> Iterator[Batch]:
        """The rows of a group, read by this thread alone or with the help of others."""

    def take(self, k: int, positions: Ints) -> Iterator[Batch]:
        """The rows at these increasing positions of a group, in pieces."""
        start = 0
        for batch in self.read(k):
            edges = np.searchsorted(positions, [start, start + len(batch)])
            if edges[0] < edges[1]:
                yield batch.take(positions[edges[0] : edges[1]] - start)
            if edges[1] == len(positions):
                return
            start += len(batch)


@dataclass(frozen=True, slots=True)
class Stamp:
    """How an unchanged file is recognised: its place, its size, and the times its content and its entry were changed.

    A program can set the time of a file's content back, but not that of its entry. A pipe has no file, and what came
    out of it cannot change.
    """

    path: str
    file: str | None = None
    numbers: tuple[int, int, int, int, int] = (0, 0, 0, 0, 0)  # device, inode, size, time of content, time of entry
    taken_ns: int = field(default=0, compare=False)

    @classmethod
    def of(cls, path: str, file: str) -> "Stamp":
        """The stamp of a file as it is now."""
        try:
            found = Path(file).stat()
        except OSError as error:
            raise unreadable(path, error) from error
        numbers = found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns
        return cls(path, file, numbers, time.time_ns())

    @property
    def size(self) -> int:
        """The bytes of the file."""
        return self.numbers[2]

    @property
    def digest(self) -> str:
        """The same in a few characters."""
        return hashlib.sha256(repr(self.numbers).encode()).hexdigest()

    @property
    def is_settled(self) -> bool:
        """Whether the file is old enough: writes within one tick of the clock would leave the same stamp."""
        return max(self.numbers[3:]) + RACY_NS < self.taken_ns

    def require_same(self) -> None:
        """Refuse a file that has changed."""
        if self.file is not None and Stamp.of(self.path, self.file) != self:
            raise fault("changed", self.path)


def row_major(columns: Sequence[npt.NDArray[Any]], kind: type) -> npt.NDArray[Any]:
    """Columns joined into a table, row after row in memory; copied in strips that fit the cache."""
    n_rows = len(columns[0]) if columns else 0
    if n_rows * len(columns) <= exact.FEW_CELLS:
        return np.array(columns, kind).T.copy() if columns else np.zeros((0, 0), kind)
    import pyarrow as pa

    memory = pa.allocate_buffer(8 * n_rows * len(columns))  # Arrow reuses memory: fresh memory would cost page faults
    table: npt.NDArray[Any] = np.frombuffer(memory, kind).reshape(n_rows, len(columns))
    if kind is np.float64 and all(column.dtype == np.float64 and column.flags.c_contiguous for column in columns):
        loops.transpose.interleave(np.array([column.ctypes.data for column in columns], np.uint64), n_rows, table)
        return table
    step = max(256, (1 << 15) // max(1, len(columns)))
    for start in range(0, n_rows, step):
        strip = table[start : start + step]
        for j, column in enumerate(columns):
            strip[:, j] = column[start : start + step]
    return table
