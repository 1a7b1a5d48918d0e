"""Data whose answer is known: the worked examples of the lectures, and generators with a planted margin."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from linsep.errors import FileKindError
from linsep.outputs import replaced

if TYPE_CHECKING:
    import scipy.sparse as sp

Table = npt.NDArray[Any]
Labels = npt.NDArray[np.int64]


def cornwell() -> tuple[Table, Labels]:
    """Four points in the plane, with bias: 9 updates lead to 4·x1 - 0.5·x2 + 1 = 0.

    Returns
    -------
    X, y : arrays
        The rows, and labels -1 and 1.

    Examples
    --------
    >>> import linsep
    >>> X, y = linsep.datasets.cornwell()
    >>> X.shape, y.tolist()
    ((4, 2), [-1, -1, 1, 1])
    """
    return np.array([[-1.0, 3.0], [-1.0, -1.0], [3.0, -1.0], [0.0, 1.5]]), np.array([-1, -1, 1, 1])


def tao() -> tuple[Table, Labels]:
    """Four points on a circle, through the origin: (1,0), then (1,1).

    Returns
    -------
    X, y : arrays
        The rows, and labels -1 and 1.

    Examples
    --------
    >>> import linsep
    >>> linsep.datasets.tao()[0].tolist()
    [[1, 0], [0, -1], [0, 1], [-1, 0]]
    """
    return np.array([[1, 0], [0, -1], [0, 1], [-1, 0]]), np.array([1, -1, 1, -1])


def wang() -> tuple[Table, Labels]:
    """Six points, through the origin: mistakes at rows 0, 2 and 4, then a clean pass.

    Returns
    -------
    X, y : arrays
        The rows, and labels -1 and 1.

    Examples
    --------
    >>> import linsep
    >>> [step.row for step in linsep.perceptron_steps(*linsep.datasets.wang(), bias=False)]
    [0, 2, 4]
    """
    X = np.array([[-1, 2], [1, 0], [1, 1], [-1, 0], [-1, -2], [1, -1]])
    return X, np.array([-1, 1, 1, -1, -1, 1])


def xor() -> tuple[Table, Labels]:
    """The four corners of a square, opposite corners of one class: no line separates them.

    Returns
    -------
    X, y : arrays
        The rows, and labels -1 and 1.

    Examples
    --------
    >>> import linsep
    >>> linsep.decide(*linsep.datasets.xor()).kind
    'overlapping'
    """
    return np.array([[0, 0], [0, 1], [1, 0], [1, 1]]), np.array([-1, 1, 1, -1])


def write_planted(
    path: str | Path,
    n_rows: int,
    n_columns: int,
    *,
    margin: float = 0.1,
    flipped: int = 0,
    seed: int = 0,
    rows_a_piece: int = 1 << 16,
) -> None:
    """Write rows like those of `planted` to a file, piece by piece, so that any number of rows is possible.

    The columns are x1, x2, ... and y. Each piece has its own seed, so that a longer file begins like a shorter one.

    Parameters
    ----------
    path : str or Path
        A .parquet or .csv file.
    n_rows, n_columns, margin, seed
        Those of `planted`.
    flipped : int
        This many labels, evenly spread over the file, are changed to the other class.
    rows_a_piece : int
        How many rows are made at a time.

    Raises
    ------
    InputError
        The file is neither Parquet nor CSV.

    Examples
    --------
    >>> import linsep, pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "large.parquet")
    >>> linsep.datasets.write_planted(path, 1000, 3)
    >>> linsep.decide(linsep.open(path, label="y")).kind
    'separable'
    """
    import pyarrow as pa

    names = [f"x{j + 1}" for j in range(n_columns)]
    schema = pa.schema([*((name, pa.float64()) for name in names), ("y", pa.int64())])
    normal = _unit_vector(np.random.default_rng(seed), n_columns)
    every = n_rows // flipped if flipped else 0
    with _table_writer(str(path), schema) as writer:
        for start in range(0, n_rows, rows_a_piece):
            rng = np.random.default_rng([seed, start])
            X, y = _planted_piece(rng, min(rows_a_piece, n_rows - start), normal, margin)
            if flipped:
                numbers = np.arange(start, start + len(y))
                y[(numbers % every == 0) & (numbers // every < flipped)] *= -1
            writer.write_table(pa.table([*(np.ascontiguousarray(column) for column in X.T), y], schema=schema))


@contextmanager
def _table_writer(path: str, schema: Any) -> Iterator[Any]:
    if path.endswith(".parquet"):
        from pyarrow.parquet import ParquetWriter as Writer
    elif path.endswith(".csv"):
        from pyarrow.csv import CSVWriter as Writer
    else:
        raise FileKindError("not the name of a .parquet or .csv file", file=path, fix="Give another name.")
    with replaced(path) as file, Writer(file, schema) as writer:
        yield writer


def _unit_vector(rng: np.random.Generator, n_columns: int) -> Table:
    normal = rng.standard_normal(n_columns)
    return np.asarray(normal / np.linalg.norm(normal))


def _planted_piece(rng: np.random.Generator, n_rows: int, normal: Table, margin: float) -> tuple[Table, Labels]:
    """Normally distributed rows, pushed away from the hyperplane to the margin if they are nearer, and their sides."""
    part = rng.standard_normal((n_rows, len(normal)))
    distance = part @ normal
    side = np.where(distance > 0, 1, -1)
    part += ((np.maximum(np.abs(distance), margin) - np.abs(distance)) * side)[:, None] * normal
    return part, side


def planted(
    n_rows: int,
    n_columns: int,
    *,
    margin: float = 0.1,
    flipped: int = 0,
    dtype: npt.DTypeLike = np.float64,
    seed: int = 0,
) -> tuple[Table, Labels]:
    """Make normally distributed rows that a hidden hyperplane through the origin separates with at least this margin.

    Parameters
    ----------
    n_rows, n_columns : int
        The size.
    margin : float
        Rows closer than this are pushed away from the hyperplane.
    flipped : int
        This many labels, chosen at random, are changed to the other class, so that (with many more rows than columns)
        no hyperplane separates the classes any more.
    dtype, seed
        The type of the numbers, and the seed of the random choices.

    Returns
    -------
    X, y : arrays
        The rows, and labels -1 and 1.

    Examples
    --------
    >>> import linsep
    >>> linsep.decide(*linsep.datasets.planted(100, 3)).kind
    'separable'
    """
    rng = np.random.default_rng(seed)
    normal = _unit_vector(rng, n_columns)
    X = np.empty((n_rows, n_columns), dtype)
    y = np.empty(n_rows, np.int64)
    for start in range(0, n_rows, 1 << 16):  # in blocks, so that no copy as large as X is needed
        part, side = _planted_piece(rng, min(n_rows - start, 1 << 16), normal, margin)
        X[start : start + len(part)], y[start : start + len(part)] = part, side
    _flip(y, flipped, rng)
    return X, y


def planted_sparse(
    n_rows: int,
    n_columns: int,
    *,
    per_row: int = 60,
    margin: float = 0.05,
    flipped: int = 0,
    dtype: npt.DTypeLike = np.float64,
    seed: int = 0,
) -> tuple["sp.csr_array", Labels]:
    """Make sparse rows with Zipf-distributed columns, as in text, that a hidden hyperplane separates.

    Parameters
    ----------
    n_rows, n_columns : int
        The size.
    per_row : int
        About this many nonzeros per row (fewer if a common column is drawn twice), of length about 1.
    margin : float
        Rows closer than this to the hyperplane are pushed away from it, within their own columns.
    flipped, dtype, seed
        Those of `planted`.

    Returns
    -------
    X, y : CSR matrix and array
        The rows, and labels -1 and 1.

    Examples
    --------
    >>> import linsep
    >>> X, y = linsep.datasets.planted_sparse(100, 5000)
    >>> X.shape, linsep.decide(X, y).kind
    ((100, 5000), 'separable')
    """
    import scipy.sparse as sp

    rng = np.random.default_rng(seed)
    popularity = 1.0 / np.arange(1, n_columns + 1)
    normal = rng.standard_normal(n_columns) * np.sqrt(popularity)
    normal /= np.linalg.norm(normal)
    edges = np.cumsum(popularity)
    columns = np.searchsorted(edges, rng.random((n_rows, per_row)) * edges[-1]).astype(np.int32)
    columns.sort(axis=1)
    first = np.ones(columns.shape, bool)
    first[:, 1:] = columns[:, 1:] != columns[:, :-1]

    values = np.where(first, rng.standard_normal(columns.shape), 0.0)
    values /= np.sqrt((values**2).sum(axis=1))[:, None]
    weights = np.where(first, normal[columns], 0.0)
    distance = (values * weights).sum(axis=1)
    y = np.where(distance > 0, 1, -1)
    missing = np.maximum(np.abs(distance), margin) - np.abs(distance)
    values += (y * missing / (weights**2).sum(axis=1))[:, None] * weights

    indptr = np.concatenate([[0], np.cumsum(first.sum(axis=1))]).astype(np.int32)
    _flip(y, flipped, rng)
    shape = (n_rows, n_columns)
    return sp.csr_array((values[first].astype(dtype), columns[first], indptr), shape=shape), y


def _flip(y: Labels, count: int, rng: np.random.Generator) -> None:
    chosen = rng.choice(len(y), size=count, replace=False)
    y[chosen] = -y[chosen]
