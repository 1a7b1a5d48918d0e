"""The interface of every source of rows: what it can be asked, and answers that add up.

A source answers questions about a vector, and a scan of a whole is the sum of the scans of its parts.
So one solver serves an array, a folder of files, a cluster and a GPU.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep import exact, loops, signs
from linsep.errors import InputError, shown
from linsep.faults import fault, few
from linsep.loops.layouts import Csr, Dense
from linsep.tables.row_ids import RowIds

if TYPE_CHECKING:
    from linsep.sources.row_set import Marks

T = TypeVar("T")
Table: TypeAlias = Dense | Csr
Floats: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int64]
Signs: TypeAlias = npt.NDArray[np.int8]
Array: TypeAlias = npt.NDArray[Any]
Label: TypeAlias = bool | int | float | str
Numbers: TypeAlias = Literal["binary64", "exact-integers", "decimal"]

MOST_BITS = 53  # every integer of at most this many bits is a double


@dataclass(frozen=True, slots=True)
class Block:
    """Some rows: their values, their labels and their numbers in the whole source.

    Labels are -1 and +1, or positions among the classes if there are more than two (see `marks`). `weights`, all above
    0, are for learners: no verdict depends on them.
    """

    table: Table
    y: Signs
    numbers: range | Ints
    n_columns: int
    weights: Floats | None = None

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
        return np.asarray(signs.signs(signs.form_of_doubles(w, b), self.values) * self.y)

    def take(self, positions: Ints) -> "Block":
        """The rows at these positions of the block, in this order."""
        numbers = self.numbers
        chosen = positions + numbers.start if isinstance(numbers, range) else numbers[positions]
        weights = None if self.weights is None else self.weights[positions]
        return Block(_take(self.table, positions), self.y[positions], chosen, self.n_columns, weights)

    def __add__(self, other: "Block") -> "Block":
        return joined([self, other])


@dataclass(frozen=True, slots=True)
class Scan:
    """What one read of the rows shows about a vector. Scans of parts add up to the scan of the whole.

    `doubtful` are the rows whose float score lies inside its own rounding error: their sign is not proved.
    """

    rows: int
    mistakes: int  # rows with y·score <= 0, computed in floats
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


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known about the rows without reading them again."""

    n_rows: int
    n_columns: int
    labels: tuple[Label, ...] = (-1, 1)  # what the user calls the classes; of two, the first is -1 and the second +1
    names: tuple[str, ...] | None = None  # of the columns, where they have any
    rows_left_out: int = 0  # bad rows of files that were rejected
    numbers: Numbers = "binary64"  # how numbers were read
    scales: tuple[int, ...] | None = None  # the whole numbers that the columns were multiplied by, if they were
    integer_bits: int | None = None  # if all values are integers, none has more bits than this; None for floats
    is_finite: bool = False  # whether it is known that no value is NaN or infinite
    at_hand: int | None = None  # for a stream, how many rows memory may hold at once; None for rows in memory
    is_elsewhere: bool = False  # whether the rows lie on other machines, so that fetching a block is expensive
    files: tuple[str, ...] = ()  # that the rows come from, in order
    label_column: str | int | None = None  # of these files: its name or its position
    ids: RowIds | None = None  # what the user calls the rows, where that is not their numbers
    weight: float | None = None  # the sum of the weights of all rows, if they have weights (for learners)

    @property
    def total_weight(self) -> int | float:
        """The weight of all rows together: their number, if they have no weights."""
        return self.n_rows if self.weight is None else self.weight

    @property
    def pair(self) -> tuple[Label, Label]:
        """The labels of the classes -1 and +1, for questions about two classes; any other number is refused."""
        if len(self.labels) == 1:
            raise _labels_refused(self, "one class", value=self.labels[0])
        if len(self.labels) > 2:
            last = self.labels[-1]
            example = f"positive={shown(last)} (--positive {str(last)[:60]})"
            raise _labels_refused(self, "many classes", seen=few(self.labels), example=example)
        return self.labels[0], self.labels[1]

    @property
    def is_streamed(self) -> bool:
        """Whether there may be too many rows to hold even one number for each in memory."""
        return self.at_hand is not None

    def column_name(self, j: int) -> str:
        """The name of column j, or x1, x2, ... as in the lectures."""
        return self.names[j] if self.names else f"x{j + 1}"

    def of_part(self, n_rows: int) -> "Facts":
        """The facts of some of the rows, held in memory."""
        return replace(self, n_rows=n_rows, at_hand=None, ids=None, weight=None)


class Source(ABC):
    """Rows that answer questions about a vector: a few verbs and the facts. A new source is one small file.

    `each` is for work that a scan does not do. If the rows lie elsewhere, the work is sent there, and small answers
    return.
    """

    facts: Facts

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return self.facts.n_rows

    @property
    def n_columns(self) -> int:
        """How many columns a row has, not counting the 1 of the bias."""
        return self.facts.n_columns

    @abstractmethod
    def scan(self, w: Floats, b: float, *, worst: int = 0) -> Scan:
        """Read every row once with fixed weights, in any order, where the data are."""

    @abstractmethod
    def blocks(self, random: np.random.Generator | None = None) -> Iterator[Block]:
        """All rows, in row order; given random numbers, a source may choose another order of its blocks with them."""

    @abstractmethod
    def take(self, rows: Sequence[int] | Ints) -> Block:
        """These rows, in this order."""

    def sample(self, k: int, seed: int) -> Block:
        """At most k distinct rows, uniform over all rows: the order of the file must not matter."""
        return self.take(distinct_rows(self.n_rows, k, seed))

    def signs_of(self, rows: Sequence[int] | Ints) -> Signs:
        """Only the labels of these rows."""
        return self.take(rows).y

    def each(self, work: Callable[..., T], marks: "Marks | None" = None) -> Iterator[T]:
        """The results of a function for each block, in row order, computed lazily where the data are.

        With marks, the function also gets the flags of the block's rows, and blocks without a marked row are skipped.
        """
        for block in self.blocks():
            if marks is None:
                yield work(block)
            elif (flags := marks.flags(block)).any():
                yield work(block, flags)

    def require_finite(self) -> None:
        """Read every row once, unless that has been done, and refuse NaN and infinity by row, column and value."""
        if self.facts.is_finite:
            return
        for bad in self.each(_first_not_finite):
            if bad is not None:
                raise refusal(self, bad)


def in_one_block(source: Source) -> Block | None:
    """All rows as one block, if they are held as one or few enough to fetch; None for a source in parts."""
    if source.facts.is_elsewhere:
        is_small = source.n_rows <= (source.facts.at_hand or source.n_rows)
        return source.take(np.arange(source.n_rows)) if is_small else None
    first = next(source.blocks())
    return first if len(first) == source.n_rows else None


def _first_not_finite(block: Block) -> int | None:
    """The number of the first row with NaN or infinity."""
    place = _place_not_finite(block)
    return None if place is None else int(block.numbers[place])


def _place_not_finite(block: Block) -> int | None:
    if (block.table.values if isinstance(block.table, Dense) else block.table.data).dtype.kind != "f":
        return None
    if isinstance(block.table, Dense) and len(block) * block.n_columns <= exact.FEW_CELLS:
        is_finite = np.isfinite(block.table.values)
        return None if is_finite.all() else int(np.argmin(is_finite.all(axis=1)))
    first = loops.scans.first_not_finite(block.table, np.zeros(block.n_columns), 0, len(block))
    return None if first == loops.scans.ALL_FINE else int(first)


def refusal(source: Source, row: int) -> InputError:
    """Why this row, whose score is not a finite number, cannot be used."""
    columns, values = entries(source.take([row]).table)
    for j, value in zip(columns, values, strict=True):
        if not np.isfinite(value):
            names = source.facts.names
            return fault("not finite", row=row, column=names[int(j)] if names else int(j), value=float(value))
    return fault("overflow", row=row)


def _labels_refused(facts: Facts, name: str, **known: Any) -> InputError:
    error = fault(name, facts.files[0] if facts.files else None, **known)
    return error.at(column=facts.label_column, more=max(0, len(facts.files) - 1))


def marks(codes: Array, n_classes: int) -> Any:
    """Positions among the classes as blocks store them: signs for two classes, else unchanged."""
    if n_classes == 2:
        return np.where(codes, np.int8(1), np.int8(-1))
    return codes.astype(np.uint8 if n_classes <= 256 else np.int64)  # when shuffled, one byte each stays in the cache


def positions(y: Array, n_classes: int) -> Ints:
    """The labels of a block as positions among the classes."""
    return (y > 0).astype(np.int64) if n_classes == 2 else y.astype(np.int64)


MANY_ROWS = 1 << 22  # from this many on, numbers are drawn without a permutation of all of them


def distinct_rows(n_rows: int, k: int, seed: int) -> Ints:
    """At most k distinct row numbers, uniform over all, in increasing order."""
    if k >= n_rows:
        return np.arange(n_rows)
    random = np.random.default_rng(seed)
    if n_rows <= MANY_ROWS or k > n_rows // 2:
        return np.sort(random.choice(n_rows, size=min(k, n_rows), replace=False))
    found = np.zeros(0, np.int64)
    while len(found) < k:  # repeats are drawn again: every set of rows is as likely as any other
        found = np.sort(np.concatenate([found, random.integers(0, n_rows, k - len(found) + k // 8 + 8)]))
        found = found[np.diff(found, prepend=-1) > 0]  # np.unique hashes, which takes ten times as long
    return np.sort(random.choice(found, size=k, replace=False))


def integer_bits(table: Table) -> int | None:
    """The bits s of the largest |value| of an integer table; None for a table of floats."""
    values = table.values if isinstance(table, Dense) else table.data
    if values.dtype.kind not in "iu":
        return None
    if values.size == 0:
        return 0
    return max(int(values.max()).bit_length(), int(values.min()).bit_length())


def as_doubles(table: Table) -> Table:
    """The same table with integers, which must be exact as doubles, as doubles; floats stay."""
    values = table[0] if table[0].dtype.kind == "f" else table[0].astype(np.float64)
    return Dense(values) if isinstance(table, Dense) else table._replace(data=values)


def entries(table: Table) -> tuple[npt.NDArray[np.integer], npt.NDArray[np.generic]]:
    """The stored (columns, values) of a table of one row."""
    if isinstance(table, Dense):
        return np.arange(table.values.shape[1]), table.values[0]
    return table.indices, table.data


MANY_OF_THEM = 8  # if at least one row in this many is taken, sparse rows are copied one by one, not by entries


def _take(table: Table, rows: Ints) -> Table:
    if isinstance(table, Dense):
        return Dense(table.values[rows])
    indices = table.indices.view(f"i{table.indices.dtype.itemsize}")
    most = np.iinfo(indices.dtype).max
    if MANY_OF_THEM * len(rows) > len(table.indptr) and table.data.size <= most:
        parts = (table.data, indices, table.indptr.astype(indices.dtype))
        found = sp.csr_array(parts, shape=(len(table.indptr) - 1, most))[rows]
        return Csr(found.data, found.indices.view(table.indices.dtype), found.indptr.astype(np.uint64))
    starts = table.indptr[rows].astype(np.int64)
    lengths = table.indptr[rows + 1].astype(np.int64) - starts
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    places = np.arange(indptr[-1]) + np.repeat(starts - indptr[:-1], lengths)
    return Csr(table.data[places], table.indices[places], indptr.astype(np.uint64))


def joined(blocks: Sequence[Block]) -> Block:
    """Blocks one below the other, copied once."""
    if len(blocks) == 1:
        return blocks[0]
    y = np.concatenate([block.y for block in blocks])
    numbers = np.concatenate([block.row_numbers for block in blocks])
    return Block(_join([block.table for block in blocks]), y, numbers, blocks[0].n_columns)


def _join(tables: Sequence[Table]) -> Table:
    dense = [table.values for table in tables if isinstance(table, Dense)]
    sparse = [table for table in tables if isinstance(table, Csr)]
    if dense and sparse:
        raise TypeError("a dense and a sparse block do not join")
    if dense:
        return Dense(np.concatenate(dense))
    starts = np.cumsum([0, *(len(table.data) for table in sparse)], dtype=np.uint64)
    indptr = [table.indptr[:-1].astype(np.uint64) + start for table, start in zip(sparse, starts, strict=False)] + [
        starts[-1:]
    ]
    data, indices = (np.concatenate([getattr(table, part) for table in sparse]) for part in ("data", "indices"))
    return Csr(data, indices, np.concatenate(indptr))
