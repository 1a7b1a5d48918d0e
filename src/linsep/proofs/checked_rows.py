"""What a proof is checked against: rows of numbers with signs, wherever they are kept.

A check needs two methods: read every row once (`blocks`), and fetch a few rows by number (`take`).
`rows_of` provides them for everything that `tables` reads: an array, a sparse matrix, a dataframe, nested lists.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, TypeGuard, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from linsep.errors import ArgumentError, CertificateError, shown
from linsep.tables import is_sparse, read_exact, read_labels, require_finite
from linsep.tables.categories import UNCODED, Stated
from linsep.tables.exact_numbers import EXACT, ExactTable, fit_doubles
from linsep.tables.given_rows import Given, given
from linsep.tables.label_values import distinct

Label: TypeAlias = str | int | float | bool
Values: TypeAlias = Any  # a 2-D ndarray or a CSR matrix
Block: TypeAlias = Any  # unpacks to (row numbers, values, signs)
T = TypeVar("T")


@runtime_checkable
class Rows(Protocol):
    """A table of rows, each with the sign of its class."""

    @property
    def n_rows(self) -> int:
        """How many rows there are."""

    @property
    def n_columns(self) -> int:
        """How many columns a row has, without the constant of the bias."""

    def blocks(self) -> Iterator[Block]:
        """Every row once, in row order: (row numbers, values, signs)."""

    def take(self, rows: Sequence[int]) -> Block:
        """The rows of these numbers, in this order."""


@runtime_checkable
class Scannable(Rows, Protocol):
    """Rows that score themselves and know their labels, as linsep's own sources do, on all cores."""

    facts: Any  # labels, names, numbers and scales among them

    def scan(self, w: NDArray[np.float64], b: float) -> Any:
        """What one read of all rows says about a vector: how many are certainly wrong, which are in doubt."""

    def each(self, work: Callable[[Block], T]) -> Iterator[T]:
        """The result of a function for each block, in row order, computed where the rows are."""


@runtime_checkable
class Cached(Protocol):
    """Rows that may lie in a cache."""

    def from_data(self) -> Any:
        """The same rows, read without a cache."""


_CAN_SCAN: dict[type, bool] = {}  # one entry for each type: isinstance with a protocol takes 30 µs


def can_scan(rows: Any) -> TypeGuard[Scannable]:
    """Whether these are rows that score themselves."""
    kind = type(rows)
    if kind not in _CAN_SCAN:
        # `Rows` comes first, because looking up `columns` on a lazy frame warns.
        _CAN_SCAN[kind] = isinstance(rows, Rows) and isinstance(rows, Scannable)
    return _CAN_SCAN[kind]


def each(rows: Rows, work: Callable[[Block], T]) -> Iterator[T]:
    """The result of a function for each block, in row order; a source may send the function to where its rows are."""
    return rows.each(work) if can_scan(rows) else map(work, rows.blocks())


def from_data(X: Any) -> Any:
    """The data themselves, if a source keeps a cache of them."""
    return X.from_data() if can_scan(X) and isinstance(X, Cached) else X


def scales_of(rows: Rows) -> tuple[int, ...] | None:
    """The whole numbers that the columns were multiplied by; None if they were not."""
    if isinstance(rows, MemoryRows):
        return rows.scales
    scales: tuple[int, ...] | None = rows.facts.scales if can_scan(rows) else None
    return scales


def is_decimal(rows: Rows) -> bool | None:
    """Whether numbers were read as exact decimals; None for integers in memory, which read the same either way."""
    if isinstance(rows, MemoryRows):
        return None if rows.values.dtype.kind in "iuO" and not rows.is_decimal else rows.is_decimal
    return can_scan(rows) and bool(rows.facts.numbers == "decimal")


def needs_exact_integers(rows: Rows) -> bool:
    """Whether binary64 would round some integer; for a source, whether one is beyond 2^53."""
    if scales_of(rows) is not None:
        return True
    if can_scan(rows):
        return bool(rows.facts.numbers == "exact-integers")
    return not all(map(fit_doubles, _entries(rows)))


def allows_exact_integers(rows: Rows) -> bool:
    """Whether some integer is beyond 2^53, even in a table of floats."""
    if can_scan(rows) or scales_of(rows) is not None:
        return needs_exact_integers(rows)
    return any(values.size and max(-int(values.min()), int(values.max())) > EXACT for values in _entries(rows))


def check_reading(rows: Rows, numbers: str, rows_left_out: int) -> None:
    """Check what a proof says about how the rows were read: as which numbers, and how many were left out."""
    if is_decimal(rows) not in (None, numbers == "decimal"):
        how = "exact decimals" if is_decimal(rows) else "binary64"
        raise CertificateError(f"The proof reads numbers as {numbers}; these rows were read as {how}.")
    if numbers == "exact-integers" and not allows_exact_integers(rows):
        raise CertificateError("The proof reads numbers as exact-integers; no integer of the rows is beyond 2^53.")
    if numbers == "binary64" and needs_exact_integers(rows):
        held = "an integer beyond 2^53 or a number that is not a double"
        raise CertificateError(f"The proof reads numbers as binary64; these rows hold {held}.")
    if can_scan(rows) and rows.facts.rows_left_out != rows_left_out:
        left_out = f"{rows.facts.rows_left_out:,} rows of the source were left out"
        raise CertificateError(f"{left_out}; the proof says {rows_left_out:,}.")


def _entries(rows: Rows) -> Iterator[NDArray[Any]]:
    for _, values, _ in rows.blocks():
        yield values.data if is_sparse(values) else values


@dataclass(frozen=True, slots=True)
class MemoryRows:
    """Rows held in memory: a 2-D array or a CSR matrix, and one sign per row."""

    values: Values
    signs: NDArray[np.int8]
    scales: tuple[int, ...] | None = None
    is_decimal: bool = False
    columns: tuple[str, ...] | None = None
    is_finite: bool = False  # whether that was checked
    kept: NDArray[np.int64] | None = None  # the numbers of the rows, if others were dropped

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return int(self.values.shape[0])

    @property
    def n_columns(self) -> int:
        """How many columns a row has."""
        return int(self.values.shape[1])

    def blocks(self) -> Iterator[Block]:
        """All rows as one block: nothing is copied."""
        yield np.arange(self.n_rows) if self.kept is None else self.kept, self.values, self.signs

    def take(self, rows: Sequence[int]) -> Block:
        """The rows of these numbers, in this order."""
        numbers = places = np.asarray(rows, dtype=np.int64)
        if self.kept is not None:
            places = np.searchsorted(self.kept, numbers)
            wrong = self.kept[np.minimum(places, len(self.kept) - 1)] != numbers
            if wrong.any():
                row = int(numbers[int(np.argmax(wrong))])
                raise CertificateError(f"The proof names row {row}, which was left out.")
        return numbers, self.values[places], self.signs[places]


def end_of(rows: Rows) -> int:
    """One more than the last row number: if rows were dropped, there are more numbers than rows."""
    return int(rows.kept[-1]) + 1 if isinstance(rows, MemoryRows) and rows.kept is not None else rows.n_rows


def names_of(rows: Rows) -> tuple[str, ...] | None:
    """What the columns are called; None if they have no names."""
    if isinstance(rows, MemoryRows):
        return rows.columns
    names: tuple[str, ...] | None = rows.facts.names if can_scan(rows) else None
    return names


def rows_of(
    X: Any,
    y: Any,
    labels: Sequence[Label],
    names: tuple[str, ...] | None = None,
    left_out: int = 0,
    beside: Iterable[Any] = (),
) -> Rows:
    """The rows of X, marked by `labels` according to y: -1 and +1 for two classes, positions if there are more.

    `names` say how text was encoded. If rows were `left_out`, those with gaps are, in X or in the values `beside` them.
    """
    if not isinstance(X, np.ndarray) and (can_scan(X) or isinstance(X, Rows)):
        if y is not None:
            raise ArgumentError("A source brings its own labels: leave y out.")
        if can_scan(X) and not (len(X.facts.labels) == len(labels) and all(map(is_same, X.facts.labels, labels))):
            raise CertificateError(f"The rows are labelled {_all(X.facts.labels)}; the proof is about {_all(labels)}.")
        return X
    rows, table = read_as_stated(X, y, names, left_out, beside)
    with rows.numbered():
        codes = _codes(read_labels(rows.y, table.values.shape[0]), labels)
    marks: Any = (2 * codes - 1).astype(np.int8) if len(labels) == 2 else codes
    return MemoryRows(table.values, marks, table.scales, table.is_decimal, table.columns, True, rows.kept)


def read_as_stated(
    X: Any, y: Any, names: tuple[str, ...] | None, left_out: int, beside: Iterable[Any] = ()
) -> tuple[Given, ExactTable]:
    """The rows as a proof says they were read: text encoded by these names, rows with gaps left out if any were."""
    if y is None:
        raise ArgumentError("y is missing: each row of X needs a label.")
    rows = given(X, y, missing="drop" if left_out else None, beside=beside)
    if rows.kept is not None and rows.dropped != left_out:
        raise CertificateError(f"{rows.dropped:,} rows have missing values; the proof left out {left_out:,}.")
    with rows.numbered():
        table = read_exact(rows.X, UNCODED if names is None else Stated(names))
        require_finite(table)
    return rows, table


def _codes(given: NDArray[Any], labels: Sequence[Label]) -> NDArray[np.int64]:
    """The position of each label among the known ones, compared as Python values, so that none is rounded."""
    found, codes = distinct(given)
    places = np.zeros(len(found), np.int64)
    for code, label in enumerate(found):
        place = next((k for k, known in enumerate(labels) if is_same(label, known)), None)
        if place is None:
            row = int(np.argmax(codes == code))
            raise CertificateError(f"Row {row} has the label {shown(label)}; the proof knows {_all(labels)}.")
        places[code] = place
    return np.asarray(places[codes])


def _all(labels: Sequence[Label]) -> str:
    """The first few labels, for a sentence."""
    return (" and " if len(labels) == 2 else ", ").join(map(shown, labels[:5]))


def is_same(label: Any, known: Label) -> bool:
    """Whether two labels are equal, and both text, both boolean, or both numbers."""
    kinds = (str, (bool, np.bool_))
    return bool(label == known) and all(isinstance(label, kind) == isinstance(known, kind) for kind in kinds)
