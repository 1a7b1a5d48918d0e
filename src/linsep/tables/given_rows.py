"""Rows as users give them, made ready to be read: a named label column taken out, rows with missing values dropped."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from linsep.errors import ArgumentError, InputError, shown
from linsep.faults import fault, few
from linsep.tables.categories import is_categorical, kind_of
from linsep.tables.exact_numbers import Array, is_missing, told_name
from linsep.tables.handed_over import SupportsArray, as_frame, as_series, from_torch, is_query, named_in, nulls_of
from linsep.tables.label_values import require_one_index
from linsep.tables.row_ids import RowIds, without_ids
from linsep.tables.sparse_tables import is_sparse, of_sparse

Missing: TypeAlias = Literal["drop"] | None
Flags: TypeAlias = npt.NDArray[np.bool_]


class Given(NamedTuple):
    """A table, its labels and ids, and which of the user's rows they are: `kept` is None if none were dropped.

    Where rows were dropped, `names` names all of the user's rows, and `ids` is left out. A row that does not count is
    replaced by another one: `stand_ins` says for each row which one it really is.
    """

    X: Any
    y: Any
    ids: Any = None
    kept: npt.NDArray[np.int64] | None = None
    dropped: int = 0
    names: RowIds | None = None
    stand_ins: npt.NDArray[np.int64] | None = None

    def only(self, values: Any, name: str) -> Any:
        """From the values of all rows, given under this name, those of the rows that are kept."""
        if self.kept is None or not _is_column(values):
            return values
        held = _Held.of(values, is_column=True)
        is_kept = np.zeros(self.dropped + len(self.kept), np.bool_)
        is_kept[self.kept] = True
        if len(held.gaps) != len(is_kept):
            raise fault("beside length", rows=len(is_kept), name=name, values=len(held.gaps))
        return held.only(is_kept)

    def costs(self, cost: Any) -> Any:
        """What mistakes cost: for each label as given; for each row, the costs of the rows that are kept."""
        if isinstance(cost, Mapping):
            return cost
        found = self.only(cost, "cost")
        n_rows = 0 if self.kept is None else self.dropped + len(self.kept)
        if gaps_beside(cost, n_rows).any() and any(one == 0 for one in found):
            raise ArgumentError(
                "Some rows have no cost, and others a cost of 0, which is how a proof marks rows that are dropped.",
                fix="Drop the rows without a cost first, or those that cost 0.",
            )
        return found

    def own(self, rows: Sequence[int]) -> tuple[int, ...]:
        """The numbers of these rows in the user's table."""
        return tuple(rows if self.kept is None else self.kept[list(rows)].tolist())

    def spread(self, values: Array) -> Array:
        """Values of the rows that are kept, each at its row's number in the user's table; 0 for the others."""
        if self.kept is None:
            return values
        found = np.zeros(self.dropped + len(self.kept), values.dtype)
        found[self.kept] = values
        return found

    @contextmanager
    def numbered(self) -> Iterator[None]:
        """Let errors about a row name its number in the user's table."""
        try:
            yield
        except InputError as error:
            if error.row is None or (self.kept is None and self.stand_ins is None):
                raise
            row = error.row
            if self.stand_ins is not None and error.column is not None:  # labels keep their places
                row = int(self.stand_ins[row])
            raise error.at(row=row if self.kept is None else int(self.kept[row])) from None


def given(X: Any, y: Any, ids: Any = None, missing: Missing = None, beside: Iterable[Any] = ()) -> Given:
    """A table and its labels, which may be a named column; with "drop", rows with missing values are left out.

    Values may also be missing in what is given `beside` the rows, one for each.

    >>> found = given([[1.0], [None], [3.0]], ["a", "b", None], missing="drop")
    >>> found.X, found.y, found.kept
    ([[1.0]], ['a'], array([0]))
    """
    require_missing(missing)
    y, ids = named_in(X, y), named_in(X, ids)
    require_one_index(X, y)
    if isinstance(y, str) and isinstance(ids, str) and ids == y:
        raise ArgumentError(f"ids and y are both {y!r}: a label is not a name.", fix="Name another column, or no ids.")
    for name, value in (("y", y), ("ids", ids)):
        if isinstance(value, (int, np.integer)) and (frame := as_frame(X)) is not None and value in frame.columns:
            raise ArgumentError(
                f"{name} is {value}, a number: columns are named by text.", fix=f"Say {name}='{value}'."
            )
    _require_apart(X, y)
    if isinstance(y, str) and (frame := as_frame(X)) is not None:
        X, y = _label_out(frame, y)
    elif y is not None and (is_query(X) or is_query(y)):
        name, table = ("X", X) if is_query(X) else ("y", y)
        raise ArgumentError(
            f"{name} is a {type(table).__name__}, a query: its rows have no order, so labels may belong to other rows.",
            fix="Name its label column, such as y='kind', or fetch the rows first.",
        )
    return Given(X, y, ids) if missing is None or y is None else _without_gaps(X, y, ids, beside)


def require_missing(missing: Any) -> None:
    """Refuse a value that the option does not have."""
    if missing not in (None, "drop"):
        raise ArgumentError(f"missing is {shown(missing)}: it must be None or 'drop'.")


def _require_apart(X: Any, y: Any) -> None:
    """Refuse labels that are still a column of the table: with the answer among them, the columns always separate."""
    name = getattr(y, "name", None)
    if not isinstance(name, (str, tuple)) or (frame := as_frame(X)) is None or told_name(name) not in frame.columns:
        return
    if frame.get_column(told_name(name)).to_list() == as_series(y).to_list():
        raise ArgumentError(
            f"The column {name!r} of X holds the labels.",
            fix=f"Say y={name!r}, which takes the column out of X, or drop it from X.",
        )


def _label_out(frame: Any, name: str) -> tuple[Any, Any]:
    """The other columns of a table, and this one."""
    own = next((column for column in frame.columns if str(column) == name), None)
    if own is None:
        raise fault("no column", column=name, advice=f"The columns are {few(map(str, frame.columns), 20)}.")
    if len(frame.columns) == 1:
        raise fault("only the label")
    return frame.drop(own).to_native(), frame.get_column(own).to_native()


def _without_gaps(X: Any, y: Any, ids: Any, beside: Iterable[Any]) -> Given:
    own, names = without_ids(X, ids, y)
    rows, labels, kept = complete(own, y, beside)
    if kept is None:
        return Given(X, y, ids)
    if not kept.any():
        raise fault("all missing", rows=len(kept), why=_empty_column(own))
    dropped = len(kept) - int(np.count_nonzero(kept))
    return Given(rows, labels, None, np.flatnonzero(kept), dropped, names)


def _empty_column(X: Any) -> str:
    """A column of a dataframe that has no value at all, in words; "" if there is none."""
    frame = None if isinstance(X, (np.ndarray, list, tuple)) or is_sparse(X) else as_frame(X)
    columns = [] if frame is None else [frame.get_column(name) for name in frame.columns]
    empty = [str(column.name) for column in columns if gaps_of_series(column).all()]
    return f", and column {empty[0]!r} has no value at all" if empty else ""


def complete(X: Any, y: Any, beside: Iterable[Any] = ()) -> tuple[Any, Any, Flags | None]:
    """The rows without missing values, their labels, and a flag for each row: is it kept? None if all are.

    >>> complete([[1.0], [None]], ["a", "b"])
    ([[1.0]], ['a'], array([ True, False]))
    """
    table, labels = _Held.of(X), _Held.of(y, is_column=True)
    if len(table.gaps) != len(labels.gaps):
        raise fault("length", rows=len(table.gaps), labels=len(labels.gaps))
    kept = ~(table.gaps | labels.gaps)
    for values in beside:
        kept &= ~gaps_beside(values, len(kept))
    return (X, y, None) if kept.all() else (table.only(kept), labels.only(kept), kept)


def gaps_beside(values: Any, n_rows: int) -> Flags:
    """Which values beside the rows are missing; none if they can be read only once, or have another length."""
    held = _Held.of(values, is_column=True) if _is_column(values) and hasattr(values, "__len__") else None
    return np.zeros(n_rows, np.bool_) if held is None or len(held.gaps) != n_rows else held.gaps


def spare_column(
    X: Any, y: Any, stated: Sequence[str] | None, left_out: int = 0, beside: Iterable[Any] = ()
) -> str | None:
    """The column that must hold the ids of the rows, if a proof about these columns does not say which; else None.

    It is a text column that the proof does not name. Any other such column was coded and has one level in the rows
    that were kept: a second level would be a column of the proof. Gaps leave a row out, except those in its id.
    """
    frame = None if stated is None or isinstance(X, (np.ndarray, list, tuple)) or is_sparse(X) else as_frame(X)
    if stated is None or frame is None:
        return None
    y, stems = named_in(X, y), {*stated, *(name[:k] for name in stated for k, sign in enumerate(name) if sign == "[")}
    known = {*stems, y} if isinstance(y, str) else stems
    columns = {str(name): frame.get_column(name) for name in frame.columns}
    spare = {name: column for name, column in columns.items() if name not in known and is_categorical(column)}
    if not spare:
        return None
    gaps = {name: gaps_of_series(column) for name, column in columns.items()}
    n_gaps = sum([*gaps.values(), *(gaps_beside(values, len(frame)) for values in (y, *beside))], np.int64(0))
    for ids in (None, *spare):
        kept = n_gaps == (0 if ids is None else gaps[ids])
        others = (column for name, column in spare.items() if name != ids)
        if np.count_nonzero(~kept) == left_out and all(_is_constant(column, kept) for column in others):
            return ids
    return next(iter(spare)) if len(spare) == 1 else None


def _is_constant(column: Any, kept: Flags) -> bool:
    return len(set(column.filter(kept.tolist()).to_list())) < 2


def _is_column(values: Any) -> bool:
    """Whether a value for each row is given, not the name of a column."""
    return not isinstance(values, str) and isinstance(values, (Iterable, SupportsArray))


class _Held(NamedTuple):
    """A table or a column that can be filtered, and which of its rows have missing values."""

    values: Any
    gaps: Flags

    @classmethod
    def of(cls, values: Any, *, is_column: bool = False) -> "_Held":
        values = from_torch(values, "A column" if is_column else "X")
        if is_sparse(values):
            rows = of_sparse(values)  # which adds up repeated entries exactly
            return cls(rows, _gaps_of_entries(rows))
        if not isinstance(values, (list, tuple, np.ndarray)):
            frame = as_frame(values)
            series = as_series(values) if frame is None and is_column else None
            columns = [series] if frame is None else [frame.get_column(name) for name in frame.columns]
            if columns[0] is not None:
                gaps = np.array([gaps_of_series(column) for column in columns])
                return cls(series if frame is None else frame, np.asarray(gaps.any(axis=0)))
            values = np.asarray(values) if isinstance(values, SupportsArray) else list(values)
        if isinstance(values, np.ndarray):
            gaps = _gaps_of_array(values)
            return cls(values, np.asarray(gaps.reshape(len(gaps), -1).any(axis=1)))
        return cls(values, np.fromiter(map(_has_gap, values), np.bool_, len(values)))

    def only(self, is_kept: Flags) -> Any:
        """The rows that are kept, in the same kind of table."""
        if isinstance(self.values, np.ndarray) or is_sparse(self.values):
            return self.values[is_kept]
        if isinstance(self.values, Sequence):
            return [row for row, kept in zip(self.values, is_kept.tolist(), strict=True) if kept]
        return self.values.filter(is_kept.tolist()).to_native()


def gaps_of_series(series: Any) -> Flags:
    """Which values of a narwhals series are missing."""
    import narwhals as nw

    kind = kind_of(series)
    gaps = nulls_of(series).copy()
    if kind.is_float() and (values := series.to_numpy()).dtype.kind == "f":
        gaps |= np.isnan(values)
    elif kind.is_float() or kind in (nw.String, nw.Object, nw.Unknown):
        gaps |= np.fromiter(map(is_missing, series.to_list()), np.bool_, len(gaps))
    return gaps


def _gaps_of_array(values: Array) -> Flags:
    if isinstance(values, np.ma.MaskedArray):
        return np.asarray(np.ma.getmaskarray(values) | _gaps_of_array(values.filled()))
    if values.dtype.kind == "f":
        return np.isnan(values)
    if values.dtype.kind in "OU":
        flat = np.fromiter(map(is_missing, values.ravel().tolist()), np.bool_, values.size)
        return flat.reshape(values.shape)
    return np.zeros(values.shape, np.bool_)


def _gaps_of_entries(rows: Any) -> Flags:
    gaps = np.zeros(rows.shape[0], np.bool_)
    entries = np.flatnonzero(_gaps_of_array(rows.data))
    gaps[np.searchsorted(rows.indptr, entries, side="right") - 1] = True
    return gaps


def _has_gap(row: Any) -> bool:
    if isinstance(row, np.ndarray):
        return bool(_gaps_of_array(row).any())
    return any(map(is_missing, row)) if isinstance(row, (list, tuple)) else is_missing(row)
