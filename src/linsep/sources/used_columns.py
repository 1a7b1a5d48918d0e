"""Sparse rows of millions of columns, of which most are empty, in those columns alone that have entries."""

from dataclasses import dataclass, replace

import numpy as np

from linsep.errors import CertificateError
from linsep.loops.layouts import Csr
from linsep.sources.base import Ints, Source
from linsep.sources.memory import MemorySource

MANY = 1 << 20  # columns: with fewer, empty ones cost less than this
FEW = 0.25  # part of the columns that have entries: with more, renumbering them gains little


@dataclass(frozen=True, slots=True)
class UsedColumns:
    """The same rows in fewer columns; number k of the new ones is `columns[k]` of the old."""

    rows: MemorySource
    columns: Ints


def in_used_columns(source: Source) -> UsedColumns | None:
    """The rows without their empty columns; None unless there are millions of columns and most of them are empty.

    >>> import scipy.sparse as sp
    >>> from linsep.sources.inputs import as_source
    >>> X = sp.csr_array(([1.0, 2.0], ([0, 1], [7, 9_999_999])), shape=(2, 10**7))
    >>> used = in_used_columns(as_source(X, [0, 1]))
    >>> used.columns.tolist(), used.rows.n_columns
    ([7, 9999999], 2)
    """
    if not isinstance(source, MemorySource) or not isinstance(source.table, Csr) or source.n_columns < MANY:
        return None
    if source.facts.names is not None or source.facts.scales is not None:  # these are as many as the columns anyway
        return None
    data, indices, indptr = source.table
    has_entries = np.zeros(source.n_columns, bool)
    has_entries[indices] = True
    columns = np.flatnonzero(has_entries) if indices.size else np.zeros(1, np.int64)
    if len(columns) > FEW * source.n_columns:
        return None
    places = np.empty(source.n_columns, indices.dtype)
    places[columns] = np.arange(len(columns), dtype=indices.dtype)
    renumbered = places[indices]
    renumbered.flags.writeable = False
    if not np.array_equal(columns[renumbered], indices):  # then a proof about the new rows is not one about the old
        raise CertificateError("The columns that have entries were renumbered wrongly; this is a bug in linsep.")
    facts = replace(source.facts, n_columns=len(columns))
    return UsedColumns(MemorySource(Csr(data, renumbered, indptr), source.y, facts, source.numbers), columns)
