"""Tables of other libraries: arrays, tensors, lists of rows, and dataframes column by column, each in its own type."""

import re
import sys
from collections.abc import Iterable, Mapping, Sequence, Set
from decimal import Decimal, InvalidOperation
from itertools import chain
from typing import Any, Protocol, runtime_checkable

import numpy as np
import scipy.sparse as sp

from linsep.errors import InexactError, NotNumericError, ShapeError, shown
from linsep.faults import ALL_TEXT, fault, type_words
from linsep.tables.categories import (
    UNCODED,
    Categories,
    Levels,
    Stated,
    coding_of,
    is_categorical,
    joined,
    kind_of,
    levels_of,
    require_categories_in,
    require_named,
    text_fix,
)
from linsep.tables.exact_numbers import (
    EXACT,
    Array,
    ExactTable,
    is_long,
    is_missing,
    of_cells,
    plain_numbers,
    require_cells,
    told_name,
)
from linsep.tables.sparse_tables import is_sparse, of_sparse

CPU = 1  # the device type in the DLPack protocol


@runtime_checkable
class SupportsArray(Protocol):
    """What NumPy can convert: tensors and series in their own type, tables in one type for all their columns."""

    def __array__(self) -> Array:
        """The values."""


@runtime_checkable
class HasType(Protocol):
    """A tensor or a series: one type for all values."""

    @property
    def dtype(self) -> Any:
        """That type, as its library has it."""


def of_array(values: Array) -> ExactTable:
    """The numbers of an array of two dimensions."""
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        place = np.argwhere(np.ma.getmaskarray(values))[0].tolist()
        raise fault("missing", row=place[0], column=place[-1])
    if values.ndim != 2:
        raise fault("array shape", name="X", seen=values.shape)
    require_cells(*values.shape)
    plain = plain_numbers(values.view(np.ndarray))
    if plain.dtype == object:
        return of_cells(plain.ravel().tolist(), values.shape[1], None)
    return ExactTable(plain)


def is_on_device(X: Any) -> bool:
    """Whether X is an array on a GPU: PyTorch's, CuPy's, JAX's, or any other that supports DLPack.

    >>> is_on_device(np.zeros((2, 2))), is_on_device([[1, 2]])
    (False, False)
    """
    if isinstance(X, (np.ndarray, list, tuple)):
        return False
    module = type(X).__module__.partition(".")[0]
    if module == "torch":
        return bool(X.device.type != "cpu")
    if module == "cupyx":
        return True
    ask = getattr(X, "__dlpack_device__", None)
    return callable(ask) and not isinstance(X, type) and int(ask()[0]) != CPU


def is_tensor(values: Any) -> bool:
    """Whether NumPy may convert the values: if columns differ in type, it would round them to one."""
    return isinstance(values, SupportsArray) and isinstance(values, HasType)


def from_torch(values: Any, name: str) -> Any:
    """A PyTorch tensor as an array or a CSR matrix of the same numbers; everything else as it is."""
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(values, torch.Tensor):
        return values
    if values.layout not in (torch.strided, torch.sparse_csr):
        raise ShapeError(
            f"{name} is laid out as {values.layout}.", fix="Convert it with to_sparse_csr() or to_dense()."
        )
    if values.layout == torch.sparse_csr and values.ndim != 2:
        raise fault("array shape", name=name, seen=tuple(values.shape))
    try:
        return _on_host(values.detach(), is_csr=values.layout == torch.sparse_csr)
    except Exception as error:
        raise _unreadable(values, name, error) from error


def _on_host(tensor: Any, *, is_csr: bool) -> Any:
    if is_csr:
        parts = (tensor.values(), tensor.col_indices(), tensor.crow_indices())
        return sp.csr_array(tuple(_on_host(part, is_csr=False) for part in parts), shape=tuple(tensor.shape))
    is_bfloat = str(tensor.dtype) == "torch.bfloat16"  # NumPy does not have it; float32 holds its numbers
    return (tensor.float() if is_bfloat else tensor).numpy(force=True)


def _unreadable(values: Any, name: str, error: Exception) -> ShapeError:
    return ShapeError(
        f"{name} is a {type(values).__name__}, which NumPy cannot read: {shown(str(error))}.",
        fix="Convert it to an array of numbers first.",
    )


def taken_over(values: Any, name: str) -> Array:
    """A tensor, a series or a buffer of another library as an array of the same numbers."""
    values = from_torch(values, name)
    try:
        array = np.asarray(values)
    except Exception as error:
        raise _unreadable(values, name, error) from error
    if array.dtype.kind == "f" and isinstance(values, HasType) and array.dtype.name not in str(values.dtype).lower():
        raise InexactError(
            f"{name} is a {type(values).__name__} of {values.dtype}, which NumPy would convert to {array.dtype}, and "
            "linsep never rounds silently.",
            fix="Give an array or a dataframe.",
        )
    return array


def of_tensor(X: Any) -> ExactTable:
    """The numbers of a tensor or a buffer; a series, which is one column, is refused in the words of its library."""
    X = from_torch(X, "X")
    if is_sparse(X):
        return ExactTable(of_sparse(X))
    values = taken_over(X, "X")
    series = as_series(X) if values.ndim == 1 else None
    if series is not None and not series.implementation.is_pyarrow():
        raise fault("array shape", name="X", seen=values.shape, fix="A single column is X.to_frame().")
    return of_array(values)


def of_rows(rows: Sequence[Any]) -> ExactTable:
    """Rows one by one. If all are plain Python numbers, as nearly always, NumPy converts them in one go."""
    kinds = set(map(type, rows))
    if kinds == {np.ndarray} and len({(row.dtype, row.shape) for row in rows}) == 1 and rows[0].ndim == 1:
        return of_array(np.array(rows))
    if not kinds <= {list, tuple}:
        rows = [_row(row, number) for number, row in enumerate(rows)]
    require_cells(len(rows), len(rows[0]) if rows else 0)
    width = len(rows[0])
    if set(map(len, rows)) != {width}:
        odd = next(number for number, row in enumerate(rows) if len(row) != width)
        raise fault("uneven", row=odd, seen=len(rows[odd]), first=width)
    types = set(map(type, chain.from_iterable(rows)))
    if types <= {float, int, bool}:
        quick = _in_one_go(rows, types)
        if quick is not None:
            return ExactTable(quick)
    return of_cells(list(chain.from_iterable(rows)), width, None)


def _in_one_go(rows: Sequence[Any], types: set[type]) -> Array | None:
    """Rows of Python numbers as int64 or float64, if nothing is lost."""
    try:
        if float not in types:
            return np.array(rows, np.int64)
        values = np.array(rows, np.float64)
    except OverflowError:
        return None
    # An integer that was rounded is 2^53 or more, before and after rounding.
    return values if types == {float} or not (np.abs(values) >= EXACT).any() else None


def _row(row: Any, number: int) -> Sequence[Any]:
    """One row as a list of its values."""
    if isinstance(row, (list, tuple)):
        return row
    if isinstance(row, (SupportsArray, memoryview)) and not isinstance(row, np.generic):
        values = row if isinstance(row, np.ndarray) else _of_row(row, number)
        if values.ndim == 1:
            return list(
                values.tolist() if values.dtype.kind in "biufO" else of_array(values[None, :]).values[0].tolist()
            )
    elif isinstance(row, Iterable) and not isinstance(row, (str, bytes, Mapping, Set)):
        return list(row)
    raise fault("not a row", row=number, value=row)


def _of_row(row: Any, number: int) -> Array:
    """One row of another library; a series keeps types that NumPy would lose."""
    series = as_series(row)
    if series is None:
        return taken_over(row, f"Row {number} of X")
    is_whole = not nulls_of(series).any()
    return series_values(series) if is_whole else np.fromiter(series.to_list(), object, len(series))


@runtime_checkable
class ArrowStream(Protocol):
    """A table, or a stream of tables, that Arrow can read column by column."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """The columns."""


@runtime_checkable
class ArrowArray(Protocol):
    """A batch of rows that Arrow can read column by column."""

    def __arrow_c_array__(self, requested_schema: Any = None) -> Any:
        """The columns."""


@runtime_checkable
class Interchange(Protocol):
    """A dataframe of the interchange protocol."""

    def __dataframe__(self) -> Any:
        """The columns."""


def as_frame(X: Any) -> Any:
    """X as a narwhals dataframe; None if it is not a table.

    What narwhals does not know, Arrow may: a batch of rows, a reader of batches, the result of a query. Arrow is tried
    before NumPy, which would round the columns of a table to one type.
    """
    import narwhals as nw

    if type(X).__module__.startswith("dask.dataframe"):
        raise ShapeError(  # X or y: whichever is read first
            f"A {type(X).__name__} of Dask was given, whose rows are on a cluster, and this works on rows in memory.",
            fix="Fetch it with compute(), or give linsep.open(X, label=...), with labels of Dask or their column.",
        )
    try:
        frame = _fetched(nw.from_native(_with_text_names(X), allow_series=True, pass_through=True), X)
        if not isinstance(frame, (nw.DataFrame, nw.Series)):
            frame = nw.from_native(_arrow_table(X), eager_only=True, pass_through=True)
    except nw.exceptions.DuplicateError as error:
        name = re.search(r"- (.+) \d+ times", str(error))
        told = "have the same name" if name is None else f"are called {name[1]}"
        raise ShapeError(f"Two columns {told}.", fix="Rename one of them.") from None
    return frame if isinstance(frame, nw.DataFrame) else None


def _with_text_names(X: Any) -> Any:
    """A pandas frame whose column names have several levels, with names that are text; others as they are."""
    if not _has_levels(X):
        return X
    frame = X.copy(deep=False)
    frame.columns = [told_name(column) for column in X.columns]
    return frame


def _has_levels(X: Any) -> bool:
    pandas = sys.modules.get("pandas")
    is_frame = pandas is not None and isinstance(X, pandas.DataFrame)
    return is_frame and any(isinstance(column, tuple) for column in X.columns)


def without_column(X: Any, frame: Any, name: str) -> Any:
    """X, read as this frame, without a column; names of several levels stay so, since y may be named by one."""
    if _has_levels(X):
        return X.loc[:, [told_name(column) != name for column in X.columns]]
    return frame.drop(name).to_native()


def named_in(X: Any, name: Any) -> Any:
    """A tuple that names a column of pandas as the text by which it is known here; everything else as it is.

    A tuple of as many values as X has rows is a name only if a column has it.
    """
    if not isinstance(name, tuple) or not _has_levels(X):
        return name
    try:
        is_name = name in set(X.columns)
    except TypeError:  # a tuple of lists or arrays
        return name
    return told_name(name) if is_name or len(name) == X.columns.nlevels != len(X) else name


def _fetched(frame: Any, X: Any) -> Any:
    """The rows of a lazy frame or a query; everything else as it is."""
    import narwhals as nw

    if not isinstance(frame, nw.LazyFrame):
        return frame
    try:
        return frame.collect()
    except Exception as error:
        said = shown(" ".join(str(error).split()))
        raise ShapeError(f"X is a {type(X).__name__}, and fetching its rows failed: {said}.") from error


def collected(X: Any) -> Any:
    """The rows of a lazy frame of polars as a dataframe; everything else as it is."""
    polars = sys.modules.get("polars")
    return as_frame(X).to_native() if polars is not None and isinstance(X, polars.LazyFrame) else X


def is_query(X: Any) -> bool:
    """Whether X is a table of a database, whose rows may come in another order at every read."""
    if isinstance(X, (np.ndarray, list, tuple)):
        return False
    import narwhals as nw

    try:
        frame = nw.from_native(X, allow_series=True, pass_through=True)
    except nw.exceptions.DuplicateError:  # the reader reports it
        return False
    return isinstance(frame, nw.LazyFrame) and not (frame.implementation.is_polars() or frame.implementation.is_dask())


def _arrow_table(X: Any) -> Any:
    """X as an Arrow table; None if Arrow cannot read it, or finds a single column without a name."""
    if not isinstance(X, (ArrowStream, ArrowArray, Interchange)):
        return None
    import pyarrow as pa
    from pyarrow.interchange import from_dataframe

    try:
        return pa.table(X) if isinstance(X, (ArrowStream, ArrowArray)) else from_dataframe(X)
    except (pa.ArrowException, TypeError, ValueError, NotImplementedError):
        return None


def as_series(values: Any) -> Any:
    """The values as a narwhals series, if they are one or the only column of a table; else None."""
    series = column_of(values)
    if series is not None:
        return series
    frame = as_frame(values)
    if frame is not None and frame.shape[1] != 1:
        raise ShapeError(f"A table of shape {frame.shape} was given where one column or one row is expected.")
    return None if frame is None else frame.get_column(frame.columns[0])


def column_of(values: Any) -> Any:
    """The values as a narwhals series, if they are a column; else None."""
    import narwhals as nw

    series = nw.from_native(_as_column(values), series_only=True, pass_through=True)
    return series if isinstance(series, nw.Series) else None


def _as_column(values: Any) -> Any:
    """Arrays of Arrow or of pandas' own types as a series, which has nulls beside integers; others as they are."""
    pandas, arrow = sys.modules.get("pandas"), sys.modules.get("pyarrow")
    if pandas is not None:
        own = pandas.api.extensions.ExtensionDtype
        if isinstance(values, (pandas.api.extensions.ExtensionArray, pandas.Index)) and isinstance(values.dtype, own):
            return pandas.Series(values)
    if arrow is not None and isinstance(values, arrow.Array):
        return arrow.chunked_array([values])
    return values


def of_frame(frame: Any, categories: Categories | Stated = UNCODED) -> ExactTable:
    """The numbers of a narwhals dataframe, with text and categories coded as `categories` says."""
    names = tuple(map(str, frame.columns))
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ShapeError(f"Two columns are called {twice!r}.", fix="Rename one of them.")
    require_cells(*frame.shape)
    require_named(categories, names)
    series = dict(zip(names, map(frame.get_column, frame.columns), strict=True))
    coded = _coded(series, categories) if categories else {}
    own = tuple(name for name in names if name not in coded)
    columns = [_column(series[name], name, text_fix(categories)) for name in own]
    try:
        numbers = _numbers(columns, own) if own else None
    except NotNumericError as error:
        if isinstance(categories, str) and isinstance(error.value, str):  # objects, some of them text
            raise error.at(fix=ALL_TEXT) from None
        raise
    return numbers if not coded and numbers is not None else joined(names, numbers, coded, len(frame))


def _coded(series: Mapping[str, Any], categories: Categories | Stated) -> dict[str, Levels]:
    """The columns that are coded."""
    coded: dict[str, Levels] = {}
    for name, column in series.items():
        if (coding := coding_of(column, name, categories)) is not None:
            _require_present(column, name)
            coded[name] = levels_of(column, name, coding)
            if isinstance(categories, str):
                require_categories_in(column, coded[name])
    return coded


def _numbers(columns: list[Array], names: tuple[str, ...]) -> ExactTable:
    """Columns of numbers side by side, in the narrowest type that holds them all."""
    kind = np.result_type(*columns)
    if kind.kind == "O" or (kind.kind == "f" and any(c.dtype.kind in "iu" and is_long(c) for c in columns)):
        cells = list(chain.from_iterable(zip(*(column.tolist() for column in columns), strict=True)))
        return of_cells(cells, len(names), names)
    order: Any = "F" if kind == np.float64 else "C"  # the loops want doubles by columns
    table = np.empty((len(columns[0]), len(names)), dtype=kind, order=order)
    for j, column in enumerate(columns):
        table[:, j] = column
    return ExactTable(table, names)


def _column(series: Any, name: str, fix: str | None) -> Array:
    import narwhals as nw

    kind = kind_of(series)
    if not (kind.is_numeric() or kind in (nw.Boolean, nw.Object, nw.Unknown)):  # Arrow's long decimals are unknown
        given = series.drop_nulls().head(1).to_list()
        example = f", such as {given[0]!r}" if given else ""
        what = "text column" if kind == nw.String else "category column" if is_categorical(series) else "column type"
        fix = fix if is_categorical(series) else None
        raise fault(what, column=name, seen=f"{type_words(kind)}{example}", example=example, fix=fix)
    _require_present(series, name)
    return plain_numbers(series_values(series))


def _require_present(series: Any, name: str) -> None:
    """Refuse a null by its row."""
    missing = nulls_of(series)
    if missing.any():
        row = int(np.argmax(missing))
        if not is_categorical(series) and isinstance(cell := series.to_list()[row], float):
            raise fault("not finite", row=row, column=name, value=cell)
        raise fault("missing", row=row, column=name)


def nulls_of(series: Any) -> Array:
    """Which values of a narwhals series are null; a signalling NaN, which pandas cannot compare, is not."""
    try:
        return np.asarray(series.is_null().to_numpy(), np.bool_)
    except InvalidOperation:
        return np.array([is_missing(cell) and not isinstance(cell, Decimal) for cell in series.to_list()])


def series_values(series: Any) -> Array:
    """A series without nulls as an array: numbers of at most 64 bits in their own type, everything else as objects."""
    import narwhals as nw

    kind = kind_of(series)
    if kind.is_numeric() and kind not in (nw.Decimal, nw.Int128, nw.UInt128):
        return np.asarray(series.to_numpy())
    values = series.to_list()
    return np.array(values, np.bool_) if kind == nw.Boolean else np.fromiter(values, object, len(values))
