"""The narrow waist: what a source of rows can be asked, and the answers, which add up.

A source answers questions about a vector, and a scan of a whole is the sum of the scans of its parts.
So one solver serves an array, a folder of files, a cluster and a GPU.
"""

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep import exact, kernels
from linsep.errors import CheckpointError, InputError, NotFiniteError, OverflowedError
from linsep.kernels.layouts import Csr, Dense
from linsep.tables import is_long

Table: TypeAlias = Dense | Csr
Floats: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int64]
Signs: TypeAlias = npt.NDArray[np.int8]
Array: TypeAlias = npt.NDArray[Any]
Label: TypeAlias = bool | int | float | str


@dataclass(frozen=True, slots=True)
class Block:
    """Some rows: their values, their labels (-1 or +1) and their numbers in the whole source."""

    table: Table
    y: Signs
    numbers: range | Ints
    n_columns: int

    def __len__(self) -> int:
        return len(self.y)

    def __iter__(self) -> Iterator[Any]:
        """The block as a proof sees it: row numbers, values (an array or a CSR matrix), signs."""
        yield self.row_numbers
        yield self.values
        yield self.y

    @property
    def is_sparse(self) -> bool:
        """Whether the rows are those of a CSR matrix."""
        return isinstance(self.table, Csr)

    @property
    def row_numbers(self) -> Ints:
        """The row numbers as an array. (NumPy makes one of a range fifty times slower than this.)"""
        numbers = self.numbers
        return np.arange(numbers.start, numbers.stop) if isinstance(numbers, range) else numbers

    @property
    def values(self) -> Any:
        """The rows as an array or as a CSR matrix."""
        if isinstance(self.table, Dense):
            return self.table.values
        indices = self.table.indices.view(f"i{self.table.indices.dtype.itemsize}")
        parts = (self.table.data, indices, self.table.indptr.astype(np.int64))
        return sp.csr_array(parts, shape=(len(self), self.n_columns))

    def exact_signs(self, w: Floats, b: float) -> Signs:
        """The signs (-1, 0, +1) of y·(w·x + b), without rounding."""
        if isinstance(self.table, Csr):
            signs = kernels.signs.exact_signs_csr(self.table.data, self.table.indices, self.table.indptr, w, b)
        elif len(self) * self.n_columns <= exact.FEW_CELLS:
            weights = [*w.tolist(), float(b)]
            signs = np.array([exact.exact_sign([*row, 1], weights) for row in self.table.values.tolist()], np.int8)
        else:
            signs = kernels.signs.exact_signs(self.table.values, w, b)
        return np.asarray(signs * self.y)

    def take(self, positions: Ints) -> "Block":
        """The rows at these positions of the block, in this order."""
        numbers = self.numbers
        chosen = positions + numbers.start if isinstance(numbers, range) else numbers[positions]
        return Block(_take(self.table, positions), self.y[positions], chosen, self.n_columns)

    def __add__(self, other: "Block") -> "Block":
        return Block(
            _join(self.table, other.table),
            np.concatenate([self.y, other.y]),
            np.concatenate([self.row_numbers, other.row_numbers]),
            self.n_columns,
        )


@dataclass(frozen=True, slots=True)
class Scan:
    """What one read of the rows tells about a vector. Scans of parts add up to the scan of the whole.

    `doubtful` are the rows whose float score lies inside its own rounding error: their sign is not proved.
    """

    rows: int
    mistakes: int  # rows with y·score <= 0 as floats see it
    certain: int  # rows that are proved not to be strictly on their side
    lowest: tuple[float, float]  # the smallest y·score of class -1 and of class +1
    longest2: float  # the largest |x|², without the 1 of the bias
    wanted: int  # how many worst rows were asked for
    worst: Block  # the rows with the smallest y·score, smallest first
    worst_scores: Floats
    doubtful: Ints

    @property
    def is_clean(self) -> bool:
        """No mistake, and every sign proved."""
        return self.mistakes == self.certain == self.doubtful.size == 0

    def radius(self, *, bias: bool) -> float:
        """R = max |Z|, the length of the longest homogenised row."""
        return float(np.sqrt(self.longest2 + bias))

    def __add__(self, other: "Scan") -> "Scan":
        worst, scores = self.worst, self.worst_scores
        if other.worst_scores.size:
            worst, scores = worst + other.worst, np.concatenate([scores, other.worst_scores])
            first = np.lexsort((worst.row_numbers, scores))[: self.wanted]
            worst, scores = worst.take(first), scores[first]
        return Scan(
            rows=self.rows + other.rows,
            mistakes=self.mistakes + other.mistakes,
            certain=self.certain + other.certain,
            lowest=(min(self.lowest[0], other.lowest[0]), min(self.lowest[1], other.lowest[1])),
            longest2=max(self.longest2, other.longest2),
            wanted=self.wanted,
            worst=worst,
            worst_scores=scores,
            doubtful=np.concatenate([self.doubtful, other.doubtful]),
        )


class Source(ABC):
    """Rows that answer questions about a vector. A new source is one small file and no change elsewhere."""

    n_rows: int
    n_columns: int
    labels: tuple[Label, Label]  # what the user calls the classes -1 and +1
    columns: tuple[str, ...] | None  # the names of the columns, where they have any
    rows_left_out: int = 0
    decimal_places: tuple[int, ...] | None = None  # for columns of exact decimals, times which power of ten they are
    scales: tuple[int, ...] | None = None  # the whole numbers that the columns were multiplied by, where they were
    is_decimal: bool = False  # whether numbers were read as decimals or fractions that no float is
    is_in_parts: bool = False  # whether the rows are too many to hold anything of their number in memory

    @abstractmethod
    def scan(self, w: Floats, b: float, *, worst: int = 0) -> Scan:
        """Read every row once under fixed weights, in any order, next to the data."""

    @abstractmethod
    def blocks(self) -> Iterator[Block]:
        """All rows, in row order."""

    @abstractmethod
    def take(self, rows: Sequence[int] | Ints) -> Block:
        """These rows, in this order."""

    def sample(self, k: int, seed: int) -> Block:
        """At most k distinct rows, uniform over all rows: the order of the file must not matter."""
        return self.take(distinct_rows(self.n_rows, k, seed))

    def samples(self, sizes: Sequence[int]) -> Iterator[Block]:
        """A sample of each size, seeds 0, 1, ..., drawn when its turn comes."""
        for seed, size in enumerate(sizes):
            yield self.sample(size, seed)

    @property
    def most_at_hand(self) -> int:
        """How many rows a solver may hold in memory at once."""
        return self.n_rows

    def shuffled_blocks(self, random: np.random.Generator, start: int | None = None) -> Iterator[Block]:
        """All rows, the blocks in any order, which `random` may choose; from the one that begins at row `start` on."""
        return self.blocks() if start is None else self.blocks_from(start)

    def scan_parts(self, w: Floats, b: float, *, worst: int = 0, start: int = 0) -> Iterator[Scan]:
        """The scans of consecutive parts of the rows from row `start` on, where a part began or the last one ended.

        They add up to the scan of the whole, so a long read can be watched, and continued after a stop. A source
        that reads its rows in parts hands out the scan of each.
        """
        if start == 0:
            yield self.scan(w, b, worst=worst)
        elif start != self.n_rows:
            raise CheckpointError(f"No part of the rows begins at row {start}: start over.")

    def blocks_from(self, start: int) -> Iterator[Block]:
        """The blocks from the one that begins at row `start` on; a source that can jump there reads no others."""
        for block in self.blocks():
            if block.numbers[0] >= start:
                yield block

    def fingerprint(self) -> str:
        """A digest of the rows, their labels and their names, to tell whether they are the same as last time.

        This one reads all rows. Files have cheaper ones: size, time and a digest of the content.
        """
        digest = hashlib.sha256(repr((self.n_columns, self.labels, self.columns)).encode("utf-8", "backslashreplace"))
        for block in self.blocks():
            for array in (*block.table, block.y):
                digest.update(f"{array.dtype.str}{array.shape}".encode())
                digest.update(np.ascontiguousarray(array).data.cast("B") if array.size else b"")
        return digest.hexdigest()

    def fresh(self) -> "Source":
        """The same rows, read anew whenever they are asked: what a verdict is checked against."""
        return self

    def from_data(self) -> "Source":
        """The same rows without any cache of them: what a proof is checked against that somebody doubts."""
        return self

    def recall(self, question: str, work: Callable[[], Array], fits: Callable[[Array], bool]) -> Array:
        """What the work finds out about the rows; a source that remembers answers does not ask the same twice.

        `question` must say all that the answer depends on, except the rows; `fits` whether an answer has its form.
        """
        return work()

    def are_rows(self, numbers: Array) -> bool:
        """Whether these are numbers of rows, as far as their form tells."""
        inside = numbers.ndim == 1 and numbers.dtype == np.int64
        return inside and bool(((numbers >= 0) & (numbers < self.n_rows)).all())

    def column_name(self, j: int) -> str:
        """The name of column j, or x1, x2, ... as in the lectures."""
        return self.columns[j] if self.columns else f"x{j + 1}"

    def require_finite(self) -> None:
        """Read every row once, and refuse NaN and infinity by name."""
        self.scan(np.zeros(self.n_columns), 0.0)

    def has_long_integers(self) -> bool:
        """Whether some integer of the rows is beyond 2^53, so that a double could not hold it."""
        tables = (block.table for block in self.blocks())
        entries = (table.values if isinstance(table, Dense) else table.data for table in tables)
        return any(values.dtype.kind in "iu" and is_long(values) for values in entries)

    def integer_bits(self) -> int | None:
        """The bits s of the largest |value| where all rows are integers; None where they are floats."""
        longest = 0
        for block in self.blocks():
            bits = integer_bits(block.table)
            if bits is None:
                return None
            longest = max(longest, bits)
        return longest

    def refusal(self, row: int) -> InputError:
        """Why this row, whose score is not a finite number, cannot be used."""
        columns, values = entries(self.take([row]).table)
        for j, value in zip(columns, values, strict=True):
            if not np.isfinite(value):
                return NotFiniteError(row, self.column_name(int(j)), float(value))
        return OverflowedError(
            f"The score of row {row} is beyond the largest double (its longest value is "
            f"{np.abs(values).max():.3g}). Divide large columns by a power of two: that changes no verdict."
        )


MANY_ROWS = 1 << 22  # from here on numbers are drawn without a permutation of all of them


def distinct_rows(n_rows: int, k: int, seed: int) -> Ints:
    """At most k distinct row numbers, uniform over all, in rising order."""
    random = np.random.default_rng(seed)
    if n_rows <= MANY_ROWS or k > n_rows // 2:
        return np.sort(random.choice(n_rows, size=min(k, n_rows), replace=False))
    found = np.zeros(0, np.int64)
    while len(found) < k:  # repeats are drawn again: every set of rows is as likely as any other
        found = np.unique(np.concatenate([found, random.integers(0, n_rows, k - len(found) + k // 8 + 8)]))
    return np.sort(random.choice(found, size=k, replace=False))


def taken_together(source: Source, chosen: Sequence[Ints]) -> Iterator[Block]:
    """Several sets of rows, each in rising order, all fetched in one read."""
    if chosen:
        union = np.unique(np.concatenate(chosen))
        held = source.take(union)
        yield from (held.take(np.searchsorted(union, rows)) for rows in chosen)


def integer_bits(table: Table) -> int | None:
    """The bits s of the largest |value| of an integer table; None for a table of floats."""
    values = table.values if isinstance(table, Dense) else table.data
    if values.dtype.kind not in "iu":
        return None
    if values.size == 0:
        return 0
    return max(int(values.max()).bit_length(), int(values.min()).bit_length())


def entries(table: Table) -> tuple[npt.NDArray[np.integer], npt.NDArray[np.generic]]:
    """The stored (columns, values) of a table of one row."""
    if isinstance(table, Dense):
        return np.arange(table.values.shape[1]), table.values[0]
    return table.indices, table.data


def _take(table: Table, rows: Ints) -> Table:
    if isinstance(table, Dense):
        return Dense(table.values[rows])
    starts = table.indptr[rows].astype(np.int64)
    lengths = table.indptr[rows + 1].astype(np.int64) - starts
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    places = np.arange(indptr[-1]) + np.repeat(starts - indptr[:-1], lengths)
    return Csr(table.data[places], table.indices[places], indptr.astype(np.uint64))


def _join(a: Table, b: Table) -> Table:
    if isinstance(a, Dense) and isinstance(b, Dense):
        return Dense(np.concatenate([a.values, b.values]))
    if isinstance(a, Csr) and isinstance(b, Csr):
        indptr = np.concatenate([a.indptr, b.indptr[1:] + a.indptr[-1]])
        return Csr(np.concatenate([a.data, b.data]), np.concatenate([a.indices, b.indices]), indptr)
    raise TypeError("a dense and a sparse block do not join")
