"""What the user calls the rows: the index of a frame, a column of ids or a list of ids, kept unchanged.

`RowIds` stands for the ids of all rows of a source, which are read only when they are needed. The names of the few rows
of a result are a `RowNames`, a plain value.
"""

import sys
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any, final

import numpy as np

from linsep.arguments import refused
from linsep.errors import ArgumentError
from linsep.faults import fault, few
from linsep.report import RowNames
from linsep.tables.exact_numbers import Array
from linsep.tables.handed_over import SupportsArray, as_frame, as_series, named_in, taken_over, without_column
from linsep.tables.label_values import require_one_index
from linsep.tables.sparse_tables import is_sparse

MUST_BE = "a name for each row, or the name of a column of X"


class RowIds(ABC):
    """What all rows of a source are called; `column` is the column of the table that says it, if there is one."""

    word: str = "id"
    column: str | None = None

    @abstractmethod
    def at(self, rows: Sequence[int]) -> Sequence[Any]:
        """What these rows are called."""

    def names(self, rows: Iterable[int]) -> RowNames:
        """What these rows are called, as a value that needs no table."""
        wanted = sorted(set(rows))
        return RowNames(dict(zip(wanted, self.at(wanted), strict=True)), self.word, self.column)


@final
class ListedIds(RowIds):
    """Ids that are held in memory: an index or a series, an array, a list."""

    def __init__(self, values: Any, column: str | None = None) -> None:
        self.values, self.column = values, column

    def require_length(self, n_rows: int) -> None:
        """Refuse more names than rows, or fewer."""
        if len(self.values) != n_rows:
            raise ArgumentError(f"ids has {len(self.values):,} names; there are {n_rows:,} rows.")

    def at(self, rows: Sequence[int]) -> Sequence[Any]:
        """The ids of these rows, unchanged."""
        values, wanted = self.values, list(rows)
        if isinstance(values, Sequence):
            return [values[row] for row in wanted]
        if isinstance(values, np.ndarray):
            return list(values[wanted]) if values.dtype.kind in "mM" else list(values[wanted].tolist())
        return list(values.take(wanted).tolist()) if _is_index(values) else list(values[wanted].to_list())


@final
class PartIds(RowIds):
    """What some renumbered rows of a table are called: their ids in the table, or their numbers there."""

    def __init__(self, ids: RowIds | None, rows: Sequence[int] | Array) -> None:
        self.ids, self.rows = ids, rows
        self.word = "table number" if ids is None else ids.word
        self.column = None if ids is None else ids.column

    def at(self, rows: Sequence[int]) -> Sequence[Any]:
        """What these rows are called in the table."""
        numbers = [int(self.rows[row]) for row in rows]
        return numbers if self.ids is None else self.ids.at(numbers)


def without_ids(X: Any, ids: Any, y: Any = None) -> tuple[Any, RowIds | None]:
    """The table without its column of ids, and what its rows are called; None if they are only numbered from 0.

    `ids` is a name for each row, or the name of a column. Without it the index of pandas is used, that of X or, if X
    has none, that of y, unless it only numbers the rows from 0.
    """
    if ids is None:
        return X, index_ids(X, y)
    ids = named_in(X, ids)
    if isinstance(ids, str):
        return _column_out(X, ids)
    require_one_index(X, ids, "ids")
    own, n_rows = ListedIds(_listed(ids)), _length(X)
    if n_rows is not None:
        own.require_length(n_rows)
    return X, own


def named_column(X: Any, names: RowNames | None) -> str | None:
    """The column of a table that these names of rows came from, if the table has it."""
    if names is None or names.column is None or isinstance(X, (np.ndarray, list, tuple)) or is_sparse(X):
        return None
    frame = as_frame(X)
    return names.column if frame is not None and names.column in map(str, frame.columns) else None


def index_ids(X: Any, y: Any = None) -> RowIds | None:
    """What the index of pandas calls the rows; None where there is none, or where it counts them from 0."""
    pandas = sys.modules.get("pandas")
    kinds = () if pandas is None else (pandas.DataFrame, pandas.Series)
    for table in (X, y):
        if isinstance(table, kinds):
            return None if _counts(table.index) else ListedIds(table.index)
    return None


def _counts(index: Any) -> bool:
    """Whether an index is 0, 1, 2, ...; a range is not read for that."""
    last = len(index) - 1
    if last < 0 or index.dtype.kind not in "iu" or index.hasnans or (index[0], index[last]) != (0, last):
        return last < 0
    return type(index).__name__ == "RangeIndex" or bool(index.is_monotonic_increasing and index.is_unique)


def _is_index(values: Any) -> bool:
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(values, pandas.Index)


def _column_out(X: Any, name: str) -> tuple[Any, RowIds]:
    frame = None if isinstance(X, (np.ndarray, list, tuple)) else as_frame(X)
    if frame is None:
        raise ArgumentError(
            f"ids is {name!r}, and X is a {type(X).__name__} without names of columns.", fix="Give a name for each row."
        )
    own = next((column for column in frame.columns if str(column) == name), None)
    if own is None:
        raise fault("no column", column=name, advice=f"The columns are {few(frame.columns, 8)}.")
    return without_column(X, frame, own), ListedIds(frame.get_column(own), name)


def _listed(ids: Any) -> Any:
    """Ids as a sequence that has a length."""
    if (isinstance(ids, Sequence) and not isinstance(ids, (bytes, memoryview))) or _is_index(ids):
        return ids
    values: Array | None = ids if isinstance(ids, np.ndarray) else None
    if values is None:
        series = None if isinstance(ids, (Mapping, Set, bytes)) else as_series(ids)
        if series is not None:
            return series
        values = taken_over(ids, "ids") if isinstance(ids, SupportsArray) else None
    if values is None or values.ndim != 1:
        raise refused("ids", ids, MUST_BE)
    return values


def _length(X: Any) -> int | None:
    shape = getattr(X, "shape", None)
    return int(shape[0]) if shape else len(X) if hasattr(X, "__len__") else None
