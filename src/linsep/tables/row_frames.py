"""The rows that a result names, as a dataframe of the library they came from."""

from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from linsep.errors import ArgumentError, shown
from linsep.report import RowNames, column_names, is_nameless
from linsep.tables.handed_over import as_frame
from linsep.tables.label_values import read_labels
from linsep.tables.row_ids import ListedIds, RowIds, index_ids
from linsep.tables.sparse_tables import is_sparse

TAKEN = "linsep_"  # put before the name of a new column if the table has a column of that name
NEEDS_PANDAS = "Rows of an array become a pandas frame, and pandas is not installed."


def frame_of(
    X: Any, rows: Sequence[int], told: Mapping[str, Sequence[Any]], n_rows: int, names: RowNames | None
) -> Any:
    """These rows of X with their numbers and what is known about each, and with their ids if X does not hold them.

    Dataframes and Arrow tables keep their type, their index and all their columns. Rows of arrays and lists become a
    pandas frame whose index holds the ids.
    """
    is_array = isinstance(X, (np.ndarray, list, tuple)) or is_sparse(X)
    frame = None if is_array else as_frame(X)
    if frame is None and not is_array:
        raise ArgumentError(f"X is a {type(X).__name__}.", fix="Give a dataframe, an Arrow table or an array.")
    length = len(X) if isinstance(X, (list, tuple)) else (X if frame is None else frame).shape[0]
    if length != n_rows:
        raise ArgumentError(
            f"X has {length:,} rows, and the result is about {n_rows:,}.", fix="Give the table it is about."
        )
    if frame is None:
        if isinstance(X, (list, tuple)):
            return of_values([X[row] for row in rows], len(X[0]), None, rows, told, names)
        return of_values((X.tocsr() if is_sparse(X) else X)[[*rows]], X.shape[1], None, rows, told, names)
    own = _own_names(X, frame, names)
    known: dict[str, Sequence[Any]] = {"row": rows}
    if names is not None and own is None:
        known[names.word.replace(" ", "_")] = names.ids(rows)
    elif names is not None and own is not None:
        _require_same(rows, own.at(rows), names)
    return _with_columns(frame[[*rows]] if rows else frame.head(0), {**known, **told}).to_native()


def of_values(
    values: Any,
    n_columns: int,
    columns: Sequence[str] | None,
    rows: Sequence[int],
    told: Mapping[str, Sequence[Any]],
    names: RowNames | None,
) -> Any:
    """Rows of an array or a sparse matrix as a pandas frame; its index holds their ids, or else their numbers."""
    try:
        pd: Any = import_module("pandas")
    except ImportError as error:
        raise ArgumentError(NEEDS_PANDAS, fix="pip install pandas, or give X as a dataframe.") from error
    index = pd.Index([*rows] if names is None else list(names.ids(rows)), tupleize_cols=False)
    if is_sparse(values):
        table = pd.DataFrame.sparse.from_spmatrix(values, index=index)
    else:
        table = pd.DataFrame(values, index=index, columns=range(n_columns))
    table.columns = list(column_names(columns, n_columns))
    return table.assign(**{_free(name, table.columns): list(told) for name, told in {"row": rows, **told}.items()})


def labels_at(y: Any, rows: Sequence[int], n_rows: int) -> list[Any]:
    """The labels of these rows."""
    return list(read_labels(y, n_rows)[list(rows)].tolist())


def _own_names(X: Any, frame: Any, names: RowNames | None) -> RowIds | None:
    """The names a table gives its own rows: from the column that named them, or from its index."""
    if names is None or names.word != "id":
        return None
    column = next((name for name in frame.columns if str(name) == names.column), None)
    return index_ids(X) if column is None else ListedIds(frame.get_column(column))


def _require_same(rows: Sequence[int], own: Sequence[Any], names: RowNames) -> None:
    """Refuse a table that has other names for these rows: it is another one, or in another order."""
    for row, new, known in zip(rows, own, names.ids(rows), strict=True):
        if not (is_nameless(new) and is_nameless(known)) and (is_nameless(new) or new != known):
            raise ArgumentError(
                f"X calls row {row} {shown(new)}, and the result calls it {shown(known)}.",
                fix="Give the table that the result is about, in the same order.",
            )


def _free(name: str, taken: Iterable[Any]) -> str:
    return f"{TAKEN}{name}" if name in map(str, taken) else name


def _with_columns(frame: Any, told: Mapping[str, Sequence[Any]]) -> Any:
    import narwhals as nw

    named = {_free(name, frame.columns): list(values) for name, values in told.items()}
    backend = frame.implementation
    new = [nw.new_series(name, _alike(values), backend=backend) for name, values in named.items()]
    return frame.with_columns(*new) if len(frame) else frame.with_columns(*(series.head(0) for series in new))


def _alike(values: list[Any]) -> list[Any]:
    """Values of one type, as columns of polars and Arrow must have; tuples and mixtures become text."""
    kinds = {type(value) for value in values if value is not None}
    is_plain = len(kinds) <= 1 or kinds <= {int, float}
    return values if is_plain and not kinds & {tuple} else [None if value is None else str(value) for value in values]
