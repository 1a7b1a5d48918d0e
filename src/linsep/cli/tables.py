"""What a FILE argument may be: files that `linsep.open` reads, or one of the lectures' examples.

Rows to learn from become a `Table` with a source, rows to be labelled `Rows` in memory.
Nothing is unpickled, nothing is rounded, and every error begins with the name of the file.
"""

import operator
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt

from linsep import datasets
from linsep.cli import report
from linsep.cli.csvfile import CsvFile
from linsep.cli.options import Reading
from linsep.errors import (
    ArgumentError,
    CheckpointError,
    FileError,
    InputError,
    LengthError,
    MissingColumnError,
    MissingLabelError,
    NotFiniteError,
    NotNumericError,
    ShapeError,
)
from linsep.models import Model
from linsep.sources.inputs import as_source

if TYPE_CHECKING:
    from linsep.certificates import Verdict
    from linsep.sources.base import Source

Array = npt.NDArray[Any]
EXAMPLES = {"cornwell": True, "tao": False, "wang": False, "xor": True}  # with the bias each lecture uses
SPARSE = ("data", "indices", "indptr", "shape")  # the parts of a CSR matrix
KINDS = ".csv, .npy or .npz"


@dataclass(frozen=True, slots=True)
class Table:
    """Rows and labels to learn from, and what the columns are called."""

    source: "Source"
    columns: tuple[str, ...] | None = None
    label: str | int | None = None
    bias: bool = True  # what the data ask for unless the user says otherwise


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows to be labelled, and their labels if the file has them."""

    X: Any
    y: Array | None
    notes: tuple[str, ...] = ()


def read(file: str, label: str | None, reading: Reading | None = None, proof: "Verdict | None" = None) -> Table:
    """The rows and labels of files to learn from; those that a proof is about are read as it says."""
    if file.startswith("example:"):
        return _example(file, label)
    from linsep.sources.files import open_files

    how = reading or Reading()
    numbers = "decimal" if proof is not None and proof.numbers == "decimal" else "binary64"
    source = open_files(
        file,
        how.options(label, numbers),
        positive=how.positive,
        classes=None if proof is None else proof.labels,
        cache=how.where_cached(),
        format=how.format,
    )
    for remark in source.remarks():
        report.note(remark)
    return Table(source, source.columns, source.label_column)


def in_memory(source: "Source") -> tuple[Any, Array]:
    """All rows as one array or CSR matrix, and their labels: for what draws them."""
    block = reduce(operator.add, source.blocks())
    return block.values, np.array(source.labels)[(block.y > 0).astype(np.intp)]


def read_for(model: Model, file: str) -> Rows:
    """The rows of a file in the columns of the model, and its labels where it has them."""
    kind = _kind(file)
    if kind == ".csv":
        csv_file = CsvFile.open(file)
        return _by_name(model, csv_file) if model.columns else _by_position(model, csv_file)
    table = _read_npz(file) if kind == ".npz" else _split(_load_npy(file), model)
    _require_width(file, table.X.shape[1], model)
    if kind == ".npy":
        _require_finite(file, table.X)
    note = ("The file has no column names: its columns are taken in the order of the model's.",)
    return Rows(table.X, table.y, note if model.columns else ())


@contextmanager
def about(file: str) -> Iterator[None]:
    """Begin every complaint about the data with the name of their file."""
    try:
        yield
    except CheckpointError:  # about another file
        raise
    except InputError as error:
        if error.file is None:
            error.file = file
            if not str(error).startswith(file):
                error.args = (f"{file}: {error}",)
        raise


def require_folder(output: str) -> None:
    """Refuse a path that cannot be written to because its folder is not there, or because it is a folder."""
    if Path(output).is_dir():
        raise FileError(f"{output}: cannot be written: this is a folder.")
    if not Path(output).parent.is_dir():
        raise FileError(f"{output}: cannot be written: there is no folder {str(Path(output).parent)!r}.")


def _kind(file: str) -> str:
    kind = Path(file).suffix.lower()
    if kind not in (".csv", ".npy", ".npz"):
        seen = f"the ending {kind!r} is unknown" if kind else "the name has no ending"
        raise FileError(f"{file}: {seen}: linsep reads {KINDS}.")
    if not Path(file).exists():
        raise FileError(f"{file}: there is no such file.")
    if Path(file).is_dir():
        raise FileError(f"{file}: this is a folder, not a file.")
    return kind


def _example(file: str, label: str | None) -> Table:
    name = file.removeprefix("example:")
    if name not in EXAMPLES:
        known = ", ".join(f"example:{known}" for known in EXAMPLES)
        raise ArgumentError(f"{file}: there is no such example. There are {known}.")
    if label is not None:
        raise ArgumentError(f"{file}: an example brings its own labels: leave --label {label} out.")
    X, y = {"cornwell": datasets.cornwell, "tao": datasets.tao, "wang": datasets.wang, "xor": datasets.xor}[name]()
    return Table(as_source(X, y), columns=("x1", "x2"), bias=EXAMPLES[name])


def _by_name(model: Model, csv_file: CsvFile) -> Rows:
    wanted = model.columns or ()
    for name in wanted:
        if name not in csv_file.names:
            raise MissingColumnError(
                f"{csv_file.path}: the model needs the column {name!r}, which is not there. {csv_file.advice(name)}"
            )
    label = model.label if isinstance(model.label, str) and model.label in csv_file.names else None
    extra = [repr(name) for name in csv_file.names if name not in wanted and name != label]
    notes = (f"Ignored, because the model does not use them: {', '.join(extra)}.",) if extra else ()
    return _with_labels(csv_file, wanted, label, notes)


def _by_position(model: Model, csv_file: CsvFile) -> Rows:
    names, label = list(csv_file.names), None
    if len(names) == len(model.halfspace.w) + 1 and isinstance(model.label, int):
        label = names.pop(model.label)
    _require_width(csv_file.path, len(names), model)
    note = "The model has no column names: the columns are taken in the order of the file."
    return _with_labels(csv_file, tuple(names), label, (note,))


def _with_labels(csv_file: CsvFile, features: tuple[str, ...], label: str | None, notes: tuple[str, ...]) -> Rows:
    X, text = csv_file.read(features, label)
    try:
        y = None if label is None else csv_file.labels(text, label)
    except MissingLabelError as error:  # rows to be labelled need none yet
        y, notes = None, (*notes, f"No error is computed. {error}")
    return Rows(X, y, notes)


def _split(values: Array, model: Model) -> Rows:
    """Rows to be labelled, and their labels where the model knows in which column they stand."""
    if values.shape[1] == len(model.halfspace.w) + 1 and isinstance(model.label, int):
        return Rows(np.delete(values, model.label, axis=1), values[:, model.label])
    return Rows(values, None)


def _load_npy(file: str) -> Array:
    values = _load(file, ())
    if not isinstance(values, np.ndarray):
        raise FileError(f"{file}: an .npz file with the ending .npy: rename it.")
    _require_numbers(file, values, "the array")
    if values.ndim != 2:
        raise ShapeError(f"{file}: the array has shape {values.shape}; a table has two dimensions, rows and columns.")
    return values


def _read_npz(file: str) -> Rows:
    arrays = _load(file, ("X", "y", *SPARSE, "format"))
    if isinstance(arrays, np.ndarray):
        raise FileError(f"{file}: an .npy file with the ending .npz: rename it.")
    if "X" in arrays:
        X: Any = arrays["X"]
        if X.ndim != 2:
            raise ShapeError(f"{file}: X has shape {X.shape}; a table has two dimensions, rows and columns.")
        _require_numbers(file, X, "X")
        _require_finite(file, X)
    elif arrays.keys() >= set(SPARSE):
        X = _sparse(file, arrays)
    else:
        raise FileError(f"{file}: linsep looks for the arrays X and y, or {', '.join(SPARSE)} and y; some are missing.")
    y = arrays.get("y")
    if y is not None and y.shape != (X.shape[0],):
        raise LengthError(f"{file}: X has {X.shape[0]} rows and y has shape {y.shape}: one label for each row.")
    return Rows(X, y)


def _sparse(file: str, arrays: dict[str, Array]) -> Any:
    import scipy.sparse as sp

    if "format" in arrays and arrays["format"].item() not in (b"csr", "csr"):
        raise FileError(f"{file}: a sparse matrix of format {arrays['format'].item()!r}: save it as CSR.")
    _require_numbers(file, arrays["data"], "data")
    try:
        n_rows, n_columns = (int(length) for length in arrays["shape"])
        matrix = sp.csr_array((arrays["data"], arrays["indices"], arrays["indptr"]), shape=(n_rows, n_columns))
        matrix.check_format(full_check=True)  # an index out of range would be read as memory that is not ours
    except (ValueError, TypeError, IndexError, OverflowError) as error:
        raise FileError(f"{file}: the parts do not form a CSR matrix: {error}") from error
    bad = np.flatnonzero(~np.isfinite(matrix.data))
    if bad.size:
        row = int(np.searchsorted(matrix.indptr, bad[0], side="right")) - 1
        raise NotFiniteError(row, int(matrix.indices[bad[0]]), float(matrix.data[bad[0]]), name=f"{file}: data")
    return matrix


def _load(file: str, wanted: tuple[str, ...]) -> Array | dict[str, Array]:
    """The array of an .npy file, or the wanted arrays that an .npz file has; pickled objects never."""
    try:
        with Path(file).open("rb") as stream:
            content = np.load(stream, allow_pickle=False)
            if isinstance(content, np.ndarray):
                return content
            return {name: _member(file, content, name) for name in wanted if name in content.files}
    except FileError:
        raise
    except (ValueError, EOFError, OSError, BadZipFile, MemoryError, OverflowError) as error:
        raise _unreadable(file, error) from error


def _member(file: str, archive: Any, name: str) -> Array:
    try:
        values = archive[name]
    except Exception as error:  # a zip member can fail in a dozen ways: zlib, CRC, struct, header
        raise _unreadable(f"{file}: {name}", error) from error
    if not isinstance(values, np.ndarray):
        raise FileError(f"{file}: {name} is not an array.")
    return values


def _unreadable(where: str, error: Exception) -> FileError:
    if "allow_pickle" in str(error):
        return FileError(
            f"{where}: cannot be read. It is no NumPy file, or it holds pickled objects, which linsep never loads "
            "because loading them runs code. Save plain numbers."
        )
    return FileError(f"{where}: cannot be read: {str(error) or type(error).__name__}")


def _require_numbers(file: str, values: Array, name: str) -> None:
    if values.dtype.kind not in "biuf":
        raise NotNumericError(f"{file}: {name} holds values of type {values.dtype}: rows are real numbers.")


def _require_finite(file: str, X: Array) -> None:
    if X.dtype.kind == "f" and not np.isfinite(X).all():
        row, column = (int(place) for place in np.argwhere(~np.isfinite(X))[0])
        raise NotFiniteError(row, column, float(X[row, column]), name=f"{file}: X")


def _require_width(file: str, width: int, model: Model) -> None:
    if width != len(model.halfspace.w):
        raise ShapeError(f"{file}: {width} columns, but the model has {len(model.halfspace.w)} weights.")
