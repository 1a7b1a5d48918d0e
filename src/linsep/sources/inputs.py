"""What people hand over (arrays, sparse matrices, dataframes, lists) as one table and signs -1, +1.

Nothing is copied that need not be, nothing is rounded, and what cannot be used is refused by name.
"""

from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep.errors import (
    ArgumentError,
    InexactError,
    LengthError,
    ManyClassesError,
    MissingLabelError,
    NoColumnsError,
    NoRowsError,
    NotFiniteError,
    NotNumericError,
    OneClassError,
    ShapeError,
)
from linsep.kernels.csr import Csr
from linsep.kernels.dense import Dense
from linsep.kernels.interleave import interleave
from linsep.sources.base import Label, Signs, Source, Table
from linsep.sources.memory import MemorySource

Columns = tuple[str, ...] | None


def as_source(X: Any, y: Any = None, *, decimals: bool = False) -> Source:
    """The rows of X with the labels y as a source; a source is passed through, exact decimals where asked for."""
    if isinstance(X, Source):
        if X.decimal_places is not None and not decimals:
            raise ArgumentError('Exact decimals are for decide and verify: open the files with numbers="binary64".')
        if y is not None:
            raise ArgumentError("A source brings its own labels: leave y out.")
        return X
    if y is None:
        raise ArgumentError("y is missing: each row of X needs a label.")
    table, n_columns, columns = read_table(X)
    n_rows = len(table.values) if isinstance(table, Dense) else len(table.indptr) - 1
    given = _as_array(y)
    if given.shape[:1] != (n_rows,):
        seen = given.shape[0] if given.ndim else "no"
        raise LengthError(f"X has {n_rows} rows and y has {seen} labels: they must be as many.")
    signs, labels = read_labels(given)
    return MemorySource(table, signs, n_columns, labels, columns)


def read_table(X: Any) -> tuple[Table, int, Columns]:
    """X as a table for the kernels, its number of columns, and their names if it has any."""
    if sp.issparse(X):
        matrix = _as_csr(X)
        _require_cells(*matrix.shape)
        return _read_sparse(matrix), matrix.shape[1], None
    if not isinstance(X, np.ndarray):
        frame = nw.from_native(X, eager_only=True, pass_through=True)
        if isinstance(frame, nw.DataFrame):
            _require_cells(*frame.shape)
            return Dense(_fixed(_read_frame(frame))), frame.shape[1], tuple(map(str, frame.columns))
    values = _as_array(X)
    if values.ndim != 2:
        raise ShapeError(
            f"X has shape {values.shape}: a table has two dimensions, rows and columns. "
            "For a single column use X.reshape(-1, 1)."
        )
    _require_cells(*values.shape)
    return Dense(_fixed(_plain_numbers(values))), values.shape[1], None


def read_floats(X: Any) -> tuple[Any, Columns]:
    """The rows of X as a float array or CSR matrix, finite and not rounded (float32 stays), and the column names."""
    table, n_columns, columns = read_table(X)
    if isinstance(table, Dense):
        values = _as_floats(table.values)
        bad = np.argwhere(~np.isfinite(values))
        if bad.size:
            row, column = (int(place) for place in bad[0])
            raise NotFiniteError(row, columns[column] if columns else column, float(values[row, column]))
        return values, columns
    data, indptr = _as_floats(table.data), table.indptr.astype(np.int64)
    wrong = np.flatnonzero(~np.isfinite(data))
    if wrong.size:
        row = int(np.searchsorted(indptr, int(wrong[0]), side="right")) - 1
        raise NotFiniteError(row, int(table.indices[wrong[0]]), float(data[wrong[0]]))
    return sp.csr_array((data, table.indices.astype(np.int64), indptr), shape=(len(indptr) - 1, n_columns)), None


def _as_floats(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    if values.dtype.kind == "f":
        return values
    if values.size and max(-int(values.min()), int(values.max())) > 2**53:
        raise InexactError("X holds an integer beyond 2^53, which a double would round. Divide its column first.")
    return values.astype(np.float64)


def read_labels(y: npt.NDArray[Any]) -> tuple[Signs, tuple[Label, Label]]:
    """Labels of any two values as -1 and +1 (the larger is +1), and the two values."""
    if y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    if y.ndim != 1:
        raise ShapeError(f"y has shape {y.shape}: labels are one value a row.")
    if y.dtype.kind == "c":
        raise NotNumericError("y holds complex numbers: labels are two values that can be ordered.")
    _require_labels(y)
    low, high = _two_values(y)
    signs = (y == high).astype(np.int8)
    signs *= 2
    signs -= 1
    return signs, (_plain(low), _plain(high))


def _as_array(X: Any) -> npt.NDArray[Any]:
    if type(X) is np.ndarray:
        return X
    series = nw.from_native(X, series_only=True, pass_through=True)
    if isinstance(series, nw.Series):
        return np.asarray(series.to_numpy())
    if isinstance(X, np.ma.MaskedArray) and np.ma.is_masked(X):
        where = tuple(int(k) for k in np.argwhere(np.ma.getmaskarray(X))[0])
        raise NotNumericError(f"The array is masked at {where}: fill the value in or drop the row.")
    try:
        return np.asarray(X)
    except ValueError as error:
        raise ShapeError(f"The rows do not form a table: {error}") from error


def _require_cells(n_rows: int, n_columns: int) -> None:
    if n_rows == 0:
        raise NoRowsError("X has no rows.")
    if n_columns == 0:
        raise NoColumnsError("X has no columns.")


def _fixed(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """A C-ordered, read-only view: one type for the kernels whatever the flags of the original."""
    rows = in_rows(values) if values.ndim == 2 else values
    fixed = np.require(rows, requirements=["C", "A"]).view(np.ndarray)
    fixed.flags.writeable = False
    return fixed


def in_rows(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """A table of doubles that lies column by column, as dataframes do, row by row. NumPy takes twice as long."""
    flags, (n_rows, n_columns) = values.flags, values.shape
    if values.dtype != np.float64 or flags.c_contiguous or not (flags.f_contiguous and flags.aligned):
        return values
    table = np.empty(values.shape)
    first = np.uint64(values.ctypes.data)
    interleave(first + np.arange(n_columns, dtype=np.uint64) * np.uint64(8 * n_rows), n_rows, table)
    return table


def _plain_numbers(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The same numbers in a type that the kernels know; rounded never."""
    values = values if values.dtype.isnative else values.astype(values.dtype.newbyteorder("="))
    kind, size = values.dtype.kind, values.dtype.itemsize
    if kind == "b":
        return values.view(np.uint8)
    if kind == "f" and size == 2:
        return values.astype(np.float32)
    if kind == "f" and size > 8:
        return _exactly(values, np.float64)
    if kind == "u" and size == 8:
        return _exactly(values, np.int64)
    if kind in "fiu":
        return values
    raise _not_numeric(values)


def _exactly(values: npt.NDArray[Any], kind: type) -> npt.NDArray[Any]:
    with np.errstate(all="ignore"):
        converted: npt.NDArray[Any] = values.astype(kind)
        wrong = np.argwhere((converted.astype(values.dtype) != values) & (values == values))
    if kind is np.int64:
        wrong = np.argwhere(converted < 0)
    if wrong.size:
        where = tuple(int(k) for k in wrong[0])
        raise InexactError(
            f"{values[where]!s} at position {where} does not fit {np.dtype(kind).name} without rounding, "
            "and linsep never rounds in silence. Subtract a constant from the column or scale it."
        )
    return converted


def _not_numeric(values: npt.NDArray[Any]) -> NotNumericError:
    if values.dtype.kind == "O":
        for where, value in np.ndenumerate(values):
            if not isinstance(value, (bool, int, float, np.number)):
                return NotNumericError(
                    f"X is an array of objects and holds {value!r} at position {where}: turn it into numbers first."
                )
        return NotNumericError(
            "X is an array of objects: use X.astype(float) if no value is lost by it, or X.astype(int)."
        )
    name = "complex numbers" if values.dtype.kind == "c" else f"values of type {values.dtype}"
    return NotNumericError(f"X holds {name}, such as {values.flat[0]!s}: rows are real numbers.")


def _as_csr(X: Any) -> Any:
    if X.ndim != 2:
        raise ShapeError(f"X has shape {X.shape}: a table has two dimensions, rows and columns.")
    return X if X.format == "csr" else sp.csr_array(X)


def _read_sparse(matrix: Any) -> Csr:
    _require_indices(matrix)
    if not matrix.has_canonical_format:  # repeated or unordered entries; the caller's matrix is left alone
        matrix = matrix.copy()
        matrix.sum_duplicates()
    return Csr(
        _fixed(_plain_numbers(matrix.data)),
        _fixed(matrix.indices.view(f"u{matrix.indices.dtype.itemsize}")),
        _fixed(matrix.indptr.astype(np.uint64)),
    )


def _require_indices(matrix: Any) -> None:
    """The kernels trust the indices, so a matrix that was put together wrongly stops here."""
    indices, indptr = matrix.indices, matrix.indptr
    in_range = indices.size == 0 or indices.view(f"u{indices.dtype.itemsize}").max() < matrix.shape[1]
    if not in_range or indptr[0] != 0 or indptr[-1] > len(indices) or np.any(indptr[1:] < indptr[:-1]):
        raise ShapeError("The sparse matrix is malformed: its indices do not fit its shape.")


def _read_frame(frame: "nw.DataFrame[Any]") -> npt.NDArray[Any]:
    columns = [_read_column(frame.get_column(name), str(name)) for name in frame.columns]
    kind = np.result_type(*columns)
    table = np.empty(frame.shape, dtype=kind)
    for j, (name, column) in enumerate(zip(frame.columns, columns, strict=True)):
        table[:, j] = column
        if column.dtype.kind in "iu" and kind.kind == "f":
            _require_exact(column, str(name))
    return table


def _read_column(series: "nw.Series[Any]", name: str) -> npt.NDArray[Any]:
    if not (series.dtype.is_numeric() or series.dtype == nw.Boolean):
        shown = series.drop_nulls().head(1).to_list()
        example = f", such as {shown[0]!r}" if shown else ""
        raise NotNumericError(f"Column {name!r} holds {series.dtype}{example}: turn it into numbers or leave it out.")
    missing = series.is_null()
    if missing.any():
        raise NotFiniteError(int(np.argmax(missing.to_numpy())), name, float("nan"))
    return _plain_numbers(np.asarray(series.to_numpy()))


def _require_exact(integers: npt.NDArray[Any], name: str) -> None:
    wrong = np.flatnonzero((integers > 2**53) | (integers < -(2**53))) if integers.dtype.itemsize == 8 else np.zeros(0)
    if wrong.size:
        row = int(wrong[0])
        raise InexactError(
            f"Column {name!r} holds the integer {integers[row]} in row {row}, beyond 2^53, beside columns of "
            "floats: it would be rounded. Subtract a constant from the column or scale it."
        )


def _require_labels(y: npt.NDArray[Any]) -> None:
    missing = np.flatnonzero(y != y) if y.dtype.kind in "fO" else np.zeros(0)
    if y.dtype.kind == "O" and not missing.size:
        missing = np.flatnonzero([value is None for value in y])
    if missing.size:
        row = int(missing[0])
        raise MissingLabelError(f"The label of row {row} is {y[row]}: every row needs a label.")


def _two_values(y: npt.NDArray[Any]) -> tuple[Any, Any]:
    """The smaller and the larger label; numbers without sorting them."""
    if y.dtype.kind in "biuf":
        low, high = y.min(), y.max()
        values = [low, high]
        if np.count_nonzero(y == low) + np.count_nonzero(y == high) < len(y):
            values = [low, y[(y != low) & (y != high)][0], high]
    else:
        try:
            values = list(np.unique(y))
        except TypeError as error:
            raise NotNumericError(f"The labels cannot be ordered: {error}.") from error
        low, high = values[0], values[-1]
    if low == high:
        raise OneClassError(
            f"All {len(y)} labels are {_plain(low)!r}: there is nothing to separate. Two labels are needed."
        )
    if len(values) > 2:
        shown = ", ".join(repr(_plain(value)) for value in values[:5])
        raise ManyClassesError(
            f"There are more than two labels ({shown}{', ...' if len(values) > 5 else ''}): "
            "pit one of them against the rest, for instance y == label."
        )
    return low, high


def _plain(value: Any) -> Label:
    plain: Label = value.item() if isinstance(value, np.generic) else value
    return plain
