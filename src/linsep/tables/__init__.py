"""The one reader of tables and labels in memory: arrays, sparse matrices, dataframes, nested lists, sequences.

Deciding, verifying, learning and scoring all read tables here, so that they all see the same numbers.
No number is converted before it is known that the conversion is exact. A table is held in the first of these that is
exact:

    64-bit integers, or doubles       the common type, if every number fits it
    columns times whole numbers       0.5 beside 2^53 + 1, Fractions and Decimals become integers: see `scales`
    Python integers                   longer than 64 bits: a proof can be checked on them, but nothing else works

A value that is missing or not a number is refused by row and column.

    exact_numbers   single numbers, and the narrowest table that holds them
    categories      text and categories as columns of 0 and 1
    handed_over, sparse_tables   tables as other libraries have them
    label_values    labels
"""

from collections.abc import Iterable, Mapping, Set
from typing import Any

import numpy as np
import scipy.sparse as sp

from linsep.errors import ShapeError
from linsep.faults import fault
from linsep.tables.categories import UNCODED, Categories, Stated, require_named
from linsep.tables.exact_numbers import ExactTable, are_doubles, as_double, inexact_number, is_long, name_of
from linsep.tables.handed_over import (
    SupportsArray,
    as_frame,
    is_on_device,
    is_tensor,
    of_array,
    of_frame,
    of_rows,
    of_tensor,
)
from linsep.tables.label_values import read_beside, read_labels, require_index_of, require_one_index
from linsep.tables.sparse_tables import is_sparse, of_sparse, place_of

__all__ = [
    "as_double",
    "is_long",
    "is_on_device",
    "is_sparse",
    "read_beside",
    "read_doubles",
    "read_exact",
    "read_labels",
    "require_finite",
    "require_index_of",
    "require_one_index",
]


def read_exact(X: Any, categories: Categories | Stated = UNCODED) -> ExactTable:
    """The numbers of X, exactly, and the names of its columns if it has any; text is coded as `categories` says.

    >>> read_exact([[2**53 + 1, 0.5], [2**53, 1.5]])[:3]
    (array([[9007199254740993,                1],
           [9007199254740992,                3]]), None, (1, 2))
    """
    frame = None if isinstance(X, (list, tuple, np.ndarray)) or sp.issparse(X) else as_frame(X)
    if frame is not None:
        return of_frame(frame, categories)
    require_named(categories, None)
    if sp.issparse(X):
        return ExactTable(of_sparse(X))
    if isinstance(X, (list, tuple)):
        return of_rows(X)
    if isinstance(X, np.ndarray):
        return of_array(X)
    if isinstance(X, memoryview) or is_tensor(X):
        return of_tensor(X)
    if isinstance(X, Iterable) and not isinstance(X, (str, bytes, Mapping, Set, SupportsArray)):
        return of_rows(list(X))
    raise ShapeError(
        f"X is a {type(X).__name__}, which is not a table in memory.",
        fix="Give an array, a sparse matrix, a dataframe or a list of rows.",
    )


def read_doubles(X: Any) -> ExactTable:
    """The same for code that works in doubles: a number that is not a double is refused; integers stay integers."""
    table = read_exact(X)
    if table.inexact is not None:
        raise table.inexact
    values = table.values if isinstance(table.values, np.ndarray) else table.values.data
    if values.dtype.kind in "iu" and is_long(values):
        wrong = np.flatnonzero(~are_doubles(values.ravel()))
        if wrong.size:
            row, column = place_of(table.values, int(wrong[0]))
            raise inexact_number(int(values.ravel()[wrong[0]]), row, column, table.columns)
    return table


def require_finite(table: ExactTable) -> None:
    """Refuse NaN and infinity by row and column."""
    values = table.values if isinstance(table.values, np.ndarray) else table.values.data
    if values.dtype.kind != "f" or np.isfinite(values).all():
        return
    first = int(np.argmin(np.isfinite(values.ravel())))
    row, column = place_of(table.values, first)
    value = float(values.ravel()[first])
    raise fault("not finite", row=row, column=name_of(column, table.columns), value=value)
