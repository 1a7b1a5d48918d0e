"""Labels: one unchanged value for each row, and the distinct values in increasing order.

Labels that are ordered categories keep that order; intervals and other unusual categories become text.
"""

import math
import numbers
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.errors import ArgumentError, InputError, LengthError, MissingLabelError, ShapeError, shown
from linsep.faults import fault
from linsep.tables.categories import ordered_levels
from linsep.tables.exact_numbers import Array, as_double, as_words, exact_number, is_missing
from linsep.tables.handed_over import SupportsArray, as_series, nulls_of, series_values, taken_over

FEW = 100  # labels: up to this many, Python finds the distinct ones faster than NumPy


def read_labels(y: Any, n_rows: int | None = None) -> Array:
    """Labels as a flat array of one kind: booleans, integers, floats or text; objects where NumPy would change them.

    >>> read_labels([2**53 + 1, 0.5])
    array([9007199254740993, 0.5], dtype=object)
    """
    labels = _flat_labels(y)
    if labels is None:
        raise LengthError(
            f"y is {shown(y)}, a {type(y).__name__}, which does not hold labels.",
            fix="Give an array, a series or a list of labels, one for each row of X.",
        )
    if n_rows is not None and len(labels) != n_rows:
        raise fault("length", rows=n_rows, labels=len(labels))
    return labels


def read_beside(values: Any, name: str, n_rows: int) -> Array:
    """Values that are given beside the rows, one for each; errors call them by this name.

    >>> read_beside([1, 2.5], "weights", 2)
    array([1. , 2.5])
    """
    try:
        found = read_labels(values)
    except InputError as error:
        raise _beside(error, values, name) from None
    if len(found) != n_rows:
        raise fault("beside length", rows=n_rows, name=name, values=len(found))
    return found


def _beside(error: InputError, values: Any, name: str) -> InputError:
    """An error about a label, reworded for the values of this name."""
    if error.row is None:
        return ArgumentError(f"{name} is {shown(values)}.", fix="Give numbers, booleans or text, one for each row.")
    if not isinstance(error, MissingLabelError):
        return fault("beside strange", row=error.row, name=name, value=error.value)
    if error.value is None:
        return fault("beside missing", row=error.row, name=name)
    kind = "beside NaN" if math.isnan(error.value) else "beside not finite"
    return fault(kind, row=error.row, name=name, value=error.value)


def order_of(y: Any) -> tuple[Any, ...] | None:
    """The levels of labels that are ordered categories, from low to high; None for other labels."""
    series = None if y is None or isinstance(y, (list, tuple, np.ndarray, str)) else as_series(y)
    levels = None if series is None else ordered_levels(series)
    return None if levels is None else tuple(map(_told, levels))


def _told(level: Any) -> Any:
    """An ordered category as a label."""
    return level if isinstance(level, (str, numbers.Number)) else str(level)


def require_one_index(X: Any, y: Any, name: str = "y", first: str = "X") -> None:
    """Refuse rows and labels of pandas whose indices differ: matched by position, labels would go to wrong rows."""
    if _has_index(X) and _has_index(y) and len(X) == len(y) and not X.index.equals(y.index):
        names = list(zip(X.index.tolist(), y.index.tolist(), strict=True))
        row = next((k for k, (named, other) in enumerate(names) if named != other), 0)
        named, other = map(shown, names[row])
        raise fault("other index", row=row, first=first, name=name, named=named, other=other)


def require_index_of(X: Any, y: Any, **beside: Any) -> None:
    """Refuse named values beside the rows whose index is not that of X, or of y if X has none."""
    rows, first = (X, "X") if _has_index(X) else (y, "y")
    for name, values in beside.items():
        require_one_index(rows, values, name, first)


def _has_index(values: Any) -> bool:
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(values, (pandas.Series, pandas.DataFrame))


def _flat_labels(y: Any) -> Array | None:
    """The labels, or None if y is not even a list."""
    if isinstance(y, (list, tuple)):
        return _label_cells(_unwrapped(y))
    if isinstance(y, np.ndarray):
        return _label_array(y) if y.ndim else None
    series = as_series(y)
    if series is not None:
        return _label_series(series)
    if isinstance(y, (SupportsArray, memoryview)):
        array = taken_over(y, "y")
        return _label_array(array) if array.ndim else None
    if isinstance(y, Iterable) and not isinstance(y, (str, bytes, Mapping, Set)):
        return _label_cells(_unwrapped(list(y)))
    return None


def _unwrapped(cells: Sequence[Any]) -> list[Any]:
    """Labels in a column, [[0], [1]], as a flat list."""
    if all(isinstance(cell, (list, tuple)) or (isinstance(cell, np.ndarray) and cell.ndim == 1) for cell in cells):
        return [cell[0] if len(cell) == 1 else cell for cell in cells]
    return list(cells)


def _label_series(series: Any) -> Array:
    missing = nulls_of(series)
    if missing.any():
        raise _missing_label(int(np.argmax(missing)), None)
    values = series_values(series)
    if (levels := ordered_levels(series)) is not None:
        told = {level: _told(level) for level in levels}
        return _label_cells([told[level] for level in values.tolist()])
    return _label_cells(values.tolist()) if values.dtype == object else _label_array(values)


def _label_array(y: Array) -> Array:
    if y.ndim != 1 and not (y.ndim == 2 and y.shape[1] == 1):
        raise ShapeError(f"y has shape {y.shape}.", fix="Give one label for each row.")
    if isinstance(y, np.ma.MaskedArray) and np.ma.is_masked(y):
        raise _missing_label(int(np.argmax(np.ma.getmaskarray(y))), None)
    y = y.view(np.ndarray).reshape(len(y))  # a matrix is never flat
    kind = y.dtype.kind if y.size else "b"
    if kind in "mM":
        _refuse_first(y, np.isnat(y))
    elif kind == "U":
        _refuse_first(y, y == "")
    elif kind == "f" and y.dtype.itemsize <= 8:
        _refuse_first(y, ~np.isfinite(y))
    elif kind in "OTf":
        return _label_cells(y.tolist())
    if kind not in "biufU":
        raise _strange_label(y[0], 0, "complex numbers" if kind == "c" else str(y.dtype))
    y = y if y.size else np.zeros(0)
    return y if y.dtype.isnative else y.astype(y.dtype.newbyteorder("="))


def _refuse_first(y: Array, wrong: npt.NDArray[np.bool_]) -> None:
    if wrong.any():
        row = int(np.argmax(wrong))
        raise _missing_label(row, y[row])


def _missing_label(row: int, value: Any) -> InputError:
    if isinstance(value, (float, np.floating)):
        return fault("label not finite", row=row, value=float(value))
    return fault("no label", row=row)


def _strange_label(value: Any, row: int, kind: str) -> InputError:
    return fault("strange label", row=row, value=value, kind=kind)


def _label_cells(cells: list[Any]) -> Array:
    """Labels one by one, each unchanged."""
    types = set(map(type, cells))
    if types == {bool}:
        return np.array(cells, np.bool_)
    if types == {str} and "" not in cells:
        return np.array(cells, object)
    if types != {int}:
        missing = next((row for row, cell in enumerate(cells) if is_missing(cell)), None)
        if missing is not None:
            raise _missing_label(missing, cells[missing])
        cells = [_label(cell, row) for row, cell in enumerate(cells)]
        types = set(map(type, cells))
    if str in types and len(types) > 1:
        text = next(row for row, cell in enumerate(cells) if isinstance(cell, str))
        other = next(row for row, cell in enumerate(cells) if not isinstance(cell, str))
        raise fault("mixed labels", seen=f"{shown(cells[other])} in row {other} and {shown(cells[text])} in row {text}")
    if types == {bool}:
        return np.array(cells, np.bool_)
    if types <= {int, bool} and (words := as_words(cells)) is not None:
        return words
    if float in types and not types - {float, int, bool} and None not in (doubles := [as_double(c) for c in cells]):
        return np.array(doubles, np.float64)
    return np.fromiter(cells, object, len(cells))


def _label(cell: Any, row: int) -> Any:
    if isinstance(cell, str):
        return str.__str__(cell)  # the value of a member of a text Enum, not its name
    if isinstance(cell, (bool, np.bool_)):
        return bool(cell)
    try:
        number = exact_number(cell)
    except OverflowError:
        raise _rounded_label(cell, row) from None
    if number is None:
        raise _strange_label(cell, row, type(cell).__name__)
    if isinstance(number, float) and not math.isfinite(number):
        raise _missing_label(row, number)
    if isinstance(number, Fraction):
        double = as_double(number)
        if double is None:
            raise _rounded_label(cell, row)
        return double
    return number


def _rounded_label(cell: Any, row: int) -> InputError:
    return fault("label rounded", row=row, value=cell)


def distinct(labels: Array, order: Sequence[Any] | None = None) -> tuple[list[Any], npt.NDArray[Any]]:
    """The distinct labels as Python values, in increasing order or in `order`, and for each row which one it has."""
    found, codes = _distinct(labels)
    if order is None:
        return found, codes
    place = {label: k for k, label in enumerate(order)}
    ranks = np.argsort([place[label] for label in found])
    return [found[k] for k in ranks.tolist()], np.argsort(ranks)[codes]


def _distinct(labels: Array) -> tuple[list[Any], npt.NDArray[Any]]:
    if labels.dtype.kind not in "biuf":
        cells = labels.tolist()
        found = sorted(set(cells))
        code: Callable[[Any], int] = {label: k for k, label in enumerate(found)}.__getitem__
        return found, np.fromiter(map(code, cells), np.intp, len(cells))
    if labels.size <= FEW:
        found = sorted(set(labels.tolist()))
        if len(found) == 2:
            return found, (labels == found[1]).view(np.int8)
    if not labels.size:
        return [], np.zeros(0, np.intp)
    low, high = labels.min(), labels.max()
    is_high = labels == high
    if low != high and np.count_nonzero(is_high) + np.count_nonzero(labels == low) < len(labels):
        values, codes = np.unique(labels, return_inverse=True)
        return values.tolist(), codes
    return ([low.item()] if low == high else [low.item(), high.item()]), is_high.view(np.int8) * (low != high)
