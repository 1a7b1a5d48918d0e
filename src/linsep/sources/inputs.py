"""Tables and labels in memory as a source, ready for the loops.

The numbers are read by `tables`, which rounds nothing. Here they get the layout that the loops need, and are copied
only if necessary.
"""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep import exact, loops
from linsep.cores import threads_asked_for
from linsep.errors import ArgumentError, shown
from linsep.faults import fault, few
from linsep.loops.layouts import Csr, Dense
from linsep.sources.base import MOST_BITS, Facts, Label, Numbers, Signs, Source, Table, integer_bits, marks
from linsep.sources.memory import MemorySource
from linsep.tables import (
    is_long,
    is_on_device,
    read_doubles,
    read_exact,
    read_labels,
    require_finite,
)
from linsep.tables.categories import UNCODED, Categories, require_categories, require_named
from linsep.tables.exact_numbers import Columns, ExactTable
from linsep.tables.given_rows import Given, Missing, given, require_missing
from linsep.tables.label_values import distinct, order_of
from linsep.tables.row_ids import ListedIds, without_ids


def as_source(
    X: Any, y: Any = None, *, decimals: bool = False, ids: Any = None, categories: Categories = UNCODED
) -> Source:
    """The rows of X with the labels y, two of them, as a source; a source is passed through.

    Columns times whole numbers are passed on only if the caller takes them (`decimals`). `ids` says what rows are
    called (see `tables.row_ids`), `categories` how text columns are coded.
    """
    if isinstance(X, Source) or is_on_device(X):
        require_named(require_categories(categories), None)
        source = as_given(X, y, decimals=decimals, ids=ids) if isinstance(X, Source) else _on_device(X, y, ids)
        _ = source.facts.pair  # more than two labels are refused
        return source
    if is_elsewhere(X):
        require_named(require_categories(categories), None)
        return as_source(_on_cluster(X, y, ids))
    return _in_memory(given(X, y, ids), decimals, categories, as_signs)


def as_classes(
    X: Any, y: Any = None, *, decimals: bool = False, ids: Any = None, categories: Categories = UNCODED
) -> Source:
    """The same with any number of classes, even one: labels are then positions among them (see `marks`)."""
    if is_elsewhere(X) or isinstance(X, Source) or is_on_device(X):
        require_named(require_categories(categories), None)
    if is_elsewhere(X):
        return _on_cluster(X, y, ids)
    if isinstance(X, Source):
        return as_given(X, y, decimals=decimals, ids=ids)
    if is_on_device(X):
        return _on_device(X, y, ids)
    return _in_memory(given(X, y, ids), decimals, categories, _as_marks)


@contextmanager
def asked(
    X: Any,
    y: Any,
    ids: Any,
    categories: Categories,
    missing: Missing,
    *,
    decimals: bool = False,
    many: bool = False,
    beside: Iterable[Any] = (),
) -> Iterator[tuple[Given, Source]]:
    """The rows of a question and their source, with two classes or `many`; missing="drop" leaves out incomplete rows.

    Values may also be missing in what is given `beside` the rows. Errors about a row name its number in the user's
    table.
    """
    rows = rows_given(X, y, ids, missing, beside)
    with rows.numbered():
        read = as_classes if many else as_source
        yield rows, left_out(read(rows.X, rows.y, decimals=decimals, ids=rows.ids, categories=categories), rows)


def rows_given(X: Any, y: Any, ids: Any = None, missing: Missing = None, beside: Iterable[Any] = ()) -> Given:
    """The rows that a question is about; with missing="drop", rows with missing values are left out.

    Values may also be missing in what is given `beside` the rows, one for each.
    """
    if missing is None:
        return Given(X, y, ids)
    require_missing(missing)
    if is_elsewhere(X):
        return Given(_on_cluster(X, y, ids, missing), None)
    if isinstance(X, Source):
        raise ArgumentError(
            "The rows of a source have been read already: leave missing out.",
            fix="linsep.open(..., missing='drop') leaves out rows with missing values.",
        )
    if is_on_device(X):
        raise ArgumentError("missing= is for tables in memory, and X is on a device.", fix="Drop the rows first.")
    return given(X, y, ids, missing, beside)


def left_out(source: Source, rows: Given) -> Source:
    """The source of these rows, with the number of dropped ones in its facts; the answer gets the names of rows."""
    if rows.dropped:
        source.facts = replace(source.facts, rows_left_out=rows.dropped, ids=None)
    return source


def _on_device(X: Any, y: Any, ids: Any) -> Source:
    from linsep.sources.device.gpu import on_device

    source = on_device(X, y)
    source.facts = replace(source.facts, ids=without_ids(X, ids)[1])
    return source


def is_elsewhere(X: Any) -> bool:
    """Whether X is a Dask collection, whose rows may be elsewhere. (If Dask is not imported, it cannot be one.)"""
    dask = sys.modules.get("dask")
    return dask is not None and not isinstance(X, Source) and bool(dask.is_dask_collection(X))


def _on_cluster(X: Any, y: Any, ids: Any, missing: Missing = None) -> Source:
    if ids is not None and not isinstance(ids, str):
        raise ArgumentError(
            "Rows on a cluster are named by one of their columns, or by their index.",
            fix="Say ids='NAME', or set the index.",
        )
    from linsep.sources.cluster.dask_source import source_of

    return source_of(X, y, ids=ids, missing=missing)


def _in_memory(
    rows: Given, decimals: bool, categories: Categories, mark: Callable[..., tuple[Any, tuple[Label, ...]]]
) -> Source:
    if rows.y is None:
        raise ArgumentError("y is missing: each row of X needs a label.")
    threads_asked_for()  # a wrong setting is reported at once, not only for large tables
    X, row_ids = without_ids(rows.X, rows.ids, rows.y)
    exact = _in_64_bits(read_exact(X, require_categories(categories)), decimals)
    n_rows, n_columns = exact.values.shape
    signs, labels = mark(read_labels(rows.y, n_rows), order_of(rows.y))
    if isinstance(row_ids, ListedIds):
        row_ids.require_length(n_rows)
    table = as_table(exact.values)
    bits = integer_bits(table)
    is_whole = exact.scales is not None or (bits is not None and bits > MOST_BITS and is_long(table[0]))
    numbers: Numbers = "decimal" if exact.is_decimal else "exact-integers" if is_whole else "binary64"
    known: dict[str, Any] = {"numbers": numbers, "scales": exact.scales, "integer_bits": bits, "ids": row_ids}
    return MemorySource(table, signs, Facts(n_rows, n_columns, labels, exact.columns, **known))


def as_given(source: Source, y: Any = None, *, decimals: bool = False, ids: Any = None) -> Source:
    """The source, if it can be used here; it may have any number of classes."""
    if source.facts.scales is not None and not decimals:
        raise fault("only verdicts")
    if y is not None:
        raise ArgumentError("A source brings its own labels: leave y out.")
    if ids is not None:
        raise ArgumentError("A source brings its own ids: leave ids out.", fix="linsep.open(..., id=...) chooses them.")
    return source


def read_table(X: Any) -> tuple[Table, int, Columns]:
    """X as a table for the loops, its number of columns, and their names if it has any."""
    exact = _in_64_bits(read_exact(X), scaled=False)
    return as_table(exact.values), exact.values.shape[1], exact.columns


def read_floats(X: Any) -> tuple[Any, Columns]:
    """The rows of X as a float array or CSR matrix, finite and not rounded (float32 stays), and the column names."""
    exact = read_doubles(X)
    require_finite(exact)
    values = exact.values
    if values.dtype.kind != "f":
        values = values.astype(np.float64)
    return (values if sp.issparse(values) else _fixed(values)), exact.columns


def as_signs(labels: npt.NDArray[Any], order: Sequence[Label] | None = None) -> tuple[Signs, tuple[Label, Label]]:
    """Labels of two values as -1 and +1 (the larger, or the later in this order, is +1), and the two values."""
    found, codes = distinct(labels, order)
    if len(found) == 1:
        raise fault("one class", value=found[0])
    if len(found) > 2:
        raise fault("many classes", seen=few(found), example=f"y == {shown(found[-1])}")
    signs = codes.astype(np.int8)
    signs *= 2
    signs -= 1
    return signs, (found[0], found[1])


def _as_marks(labels: npt.NDArray[Any], order: Sequence[Label] | None = None) -> tuple[Any, tuple[Label, ...]]:
    """Labels with any number of values, as blocks store them, and the values."""
    found, codes = distinct(labels, order)
    if not found:
        raise fault("no class")
    return marks(codes, len(found)), tuple(found)


def _in_64_bits(exact: ExactTable, scaled: bool) -> ExactTable:
    """The table, if it fits 64-bit numbers; columns times whole numbers only if the caller can undo the factors."""
    if exact.inexact is not None and not (scaled and exact.scales is not None and exact.fits_64_bits):
        raise exact.inexact
    return exact


def as_table(values: Any) -> Table:
    """Rows of numbers, a CSR matrix or an array, in the layout of the loops."""
    if isinstance(values, np.ndarray):
        return Dense(_fixed(values))
    return Csr(
        _fixed(values.data),
        _fixed(values.indices.view(f"u{values.indices.dtype.itemsize}")),
        _fixed(values.indptr.astype(np.uint64)),
    )


def _fixed(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """A C-ordered, read-only view: one type for the compiled loops, whatever the flags of the original."""
    rows = in_rows(values) if values.ndim == 2 else values
    if not (rows.flags.c_contiguous and rows.flags.aligned):
        rows = np.require(rows, requirements=["C", "A"])
    fixed = rows.view(np.ndarray)
    fixed.flags.writeable = False
    return fixed


def in_rows(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """A table of doubles, which may lie column by column as in dataframes, row by row. NumPy takes twice as long."""
    flags, (n_rows, n_columns) = values.flags, values.shape
    if values.dtype != np.float64 or flags.c_contiguous or not (flags.f_contiguous and flags.aligned):
        return values
    if values.size <= exact.FEW_CELLS:
        return np.ascontiguousarray(values)
    table = np.empty(values.shape)
    first = np.uint64(values.ctypes.data)
    loops.transpose.interleave(first + np.arange(n_columns, dtype=np.uint64) * np.uint64(8 * n_rows), n_rows, table)
    return table
