"""The two layouts of rows that the loops know. Nothing here needs a compiler."""

from typing import Any, NamedTuple


class Dense(NamedTuple):
    """A dense table: C-ordered, of any real number type."""

    values: Any


class Csr(NamedTuple):
    """A sparse table: row i holds data[indptr[i]:indptr[i+1]] in columns indices[indptr[i]:indptr[i+1]]."""

    data: Any
    indices: Any
    indptr: Any
