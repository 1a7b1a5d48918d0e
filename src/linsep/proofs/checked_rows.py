"""What a proof is checked against: rows of numbers with signs, wherever they are kept.

A check needs two verbs: read every row once (`blocks`), and fetch a few rows by number (`take`).
`rows_of` gives them to whatever `tables` reads: an array, a sparse matrix, a dataframe, nested lists.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, TypeGuard, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from linsep.errors import ArgumentError, CertificateError, shown
from linsep.report import RowNames
from linsep.tables import is_sparse, read_exact, read_labels, require_finite
from linsep.tables.categories import UNCODED, Stated
from linsep.tables.exact_numbers import EXACT, fit_doubles
from linsep.tables.given_rows import Given, given
from linsep.tables.label_values import distinct
from linsep.tables.row_frames import frame_of, labels_at, of_values
from linsep.tables.row_ids import RowIds, named_column, without_ids

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
        """How many columns a row has, the constant of the bias not counted."""

    def blocks(self) -> Iterator[Block]:
        """Every row once, in row order: (row numbers, values, signs)."""

    def take(self, rows: Sequence[int]) -> Block:
        """The rows of these numbers, in this order."""


@runtime_checkable
class Scannable(Rows, Protocol):
    """Rows that score themselves and know their labels: linsep's own sources do, on all cores."""

    facts: Any  # labels, names, numbers and scales among them

    def scan(self, w: NDArray[np.float64], b: float) -> Any:
        """What one read of all rows tells about a vector: how many are certainly wrong, which are in doubt."""

    def each(self, work: Callable[[Block], T]) -> Iterator[T]:
        """What a function makes of each block, in row order, wherever the rows lie."""


@runtime_checkable
class Cached(Protocol):
    """Rows that may lie in a cache."""

    def from_data(self) -> Any:
        """The same rows without any cache of them."""


_CAN_SCAN: dict[type, bool] = {}  # asked of each type once: asking a protocol takes 30 µs


def can_scan(rows: Any) -> TypeGuard[Scannable]:
    """Whether these are rows that score themselves."""
    kind = type(rows)
    if kind not in _CAN_SCAN:
        # Tables are asked for `blocks` first: a lazy frame that is asked for its `columns` warns.
        _CAN_SCAN[kind] = isinstance(rows, Rows) and isinstance(rows, Scannable)
    return _CAN_SCAN[kind]


def each(rows: Rows, work: Callable[[Block], T]) -> Iterator[T]:
    """What a function makes of each block, in row order; a source may send it to where its rows lie."""
    return rows.each(work) if can_scan(rows) else map(work, rows.blocks())


def from_data(X: Any) -> Any:
    """The data themselves, where a source keeps something in their place."""
    return X.from_data() if can_scan(X) and isinstance(X, Cached) else X


def scales_of(rows: Rows) -> tuple[int, ...] | None:
    """The whole numbers that the columns were multiplied by, where they were."""
    if isinstance(rows, MemoryRows):
        return rows.scales
    scales: tuple[int, ...] | None = rows.facts.scales if can_scan(rows) else None
    return scales


def is_decimal(rows: Rows) -> bool | None:
    """Whether numbers were read as exact decimals; None for integers in memory, which are read in one way only."""
    if isinstance(rows, MemoryRows):
        return None if rows.values.dtype.kind in "iuO" and not rows.is_decimal else rows.is_decimal
    return can_scan(rows) and bool(rows.facts.numbers == "decimal")


def needs_exact_integers(rows: Rows) -> bool:
    """Whether binary64 would round some integer; of a source, whether one is beyond 2^53."""
    if scales_of(rows) is not None:
        return True
    if can_scan(rows):
        return bool(rows.facts.numbers == "exact-integers")
    return not all(map(fit_doubles, _entries(rows)))


def allows_exact_integers(rows: Rows) -> bool:
    """Whether some integer is beyond 2^53, if only in a table of floats."""
    if can_scan(rows) or scales_of(rows) is not None:
        return needs_exact_integers(rows)
    return any(values.size and max(-int(values.min()), int(values.max())) > EXACT for values in _entries(rows))


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
    is_finite: bool = False  # whether that was looked at
    kept: NDArray[np.int64] | None = None  # the numbers of the rows, where others were dropped

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
    """The number after the last that a row has: where rows were dropped, there are more numbers than rows."""
    return int(rows.kept[-1]) + 1 if isinstance(rows, MemoryRows) and rows.kept is not None else rows.n_rows


def table_and_ids(X: Any, y: Any, ids: Any, names: RowNames | None) -> tuple[Any, RowIds | None]:
    """The table that a result with these names is about, without the column of ids, and what its rows are called."""
    if can_scan(X):
        if ids is not None:
            raise ArgumentError("A source brings its own ids: leave ids out.")
        own: RowIds | None = X.facts.ids
        return X, own
    if isinstance(X, Rows) and not isinstance(X, np.ndarray):
        return X, None
    return without_ids(X, named_column(X, names) if ids is None else ids, y)


def shown_rows(
    X: Any, rows: Sequence[int], told: Mapping[str, Sequence[Any]], n_rows: int, names: RowNames | None
) -> Any:
    """Rows as a dataframe of the library of X, with what is told about each; of a source, as a pandas frame."""
    if not can_scan(X):
        return frame_of(X, rows, told, n_rows, names)
    if X.n_rows != n_rows:
        raise ArgumentError(f"X has {X.n_rows:,} rows, and the result is about {n_rows:,}.")
    _, values, _ = X.take(rows)
    scales = scales_of(X)
    own = values if scales is None else values / np.array(scales, np.float64)
    return of_values(own, X.n_columns, names_of(X), rows, told, names)


def labels_of_rows(X: Any, y: Any, rows: Sequence[int], n_rows: int) -> list[Any]:
    """The labels of these rows: as y has them, or as a source does."""
    if y is not None:
        return labels_at(given(X, y).y, rows, n_rows)
    if not can_scan(X):
        raise ArgumentError("The labels of the rows are not known.", fix="Give y too: frame(X, y).")
    labels = X.facts.labels
    codes = [int(code > 0) if len(labels) == 2 else int(code) for code in X.take(rows).y.tolist()]
    return [labels[code] for code in codes]


def names_of(rows: Rows) -> tuple[str, ...] | None:
    """What the columns are called; None where they have no names."""
    if isinstance(rows, MemoryRows):
        return rows.columns
    names: tuple[str, ...] | None = rows.facts.names if can_scan(rows) else None
    return names


def rows_of(
    X: Any, y: Any, labels: tuple[Label, Label], names: tuple[str, ...] | None = None, left_out: int = 0
) -> Rows:
    """The rows of X with the signs that `labels` (negative, positive) gives to y.

    `names` say how text was coded, and where rows were `left_out`, those with gaps are.
    """
    if not isinstance(X, np.ndarray) and (isinstance(X, MemoryRows) or can_scan(X) or isinstance(X, Rows)):
        if y is not None:
            raise ArgumentError("A source brings its own labels: leave y out.")
        if can_scan(X) and not (len(X.facts.labels) == 2 and all(map(is_same, X.facts.labels, labels))):
            seen, known = (" and ".join(map(shown, found[:5])) for found in (X.facts.labels, labels))
            raise CertificateError(f"The rows are labelled {seen}; the proof is about {known}.")
        return X
    if y is None:
        raise ArgumentError("y is missing: each row of X needs a label.")
    rows = given_as_stated(X, y, left_out)
    with rows.numbered():
        table = read_exact(rows.X, UNCODED if names is None else Stated(names))
        require_finite(table)
        signs = _signs(read_labels(rows.y, table.values.shape[0]), labels)
    return MemoryRows(table.values, signs, table.scales, table.is_decimal, table.columns, True, rows.kept)


def given_as_stated(X: Any, y: Any, left_out: int) -> Given:
    """The rows, without those with gaps where a proof says that so many were left out."""
    rows = given(X, y, missing="drop" if left_out else None)
    if rows.kept is not None and rows.dropped != left_out:
        raise CertificateError(f"{rows.dropped:,} rows have missing values; the proof left out {left_out:,}.")
    return rows


def _signs(given: NDArray[Any], labels: tuple[Label, Label]) -> NDArray[np.int8]:
    """-1 and +1 for the two labels, compared as Python compares them, so that no label is rounded."""
    found, codes = distinct(given)
    signs = np.zeros(len(found), np.int8)
    for code, label in enumerate(found):
        signs[code] = next((sign for sign, known in zip((-1, 1), labels, strict=True) if is_same(label, known)), 0)
        if not signs[code]:
            row = int(np.argmax(codes == code))
            known = " and ".join(map(shown, labels))
            raise CertificateError(f"Row {row} has the label {shown(label)}; the proof knows {known}.")
    return np.asarray(signs[codes])


def is_same(label: Any, known: Label) -> bool:
    """Are two labels equal, and both text, both boolean, or both numbers?"""
    kinds = (str, (bool, np.bool_))
    return bool(label == known) and all(isinstance(label, kind) == isinstance(known, kind) for kind in kinds)
