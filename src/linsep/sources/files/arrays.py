"""NumPy's own files: .npy (one array, the labels a column of it) and .npz (X and y, or the parts of a CSR matrix)."""

import re
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from warnings import catch_warnings, simplefilter

import numpy as np
import numpy.typing as npt

from linsep.errors import (
    ArgumentError,
    DamagedFileError,
    FileError,
    FileKindError,
    InexactError,
    InputError,
    LengthError,
    MissingColumnError,
    NoColumnsError,
    NoRowsError,
    NotNumericError,
    ShapeError,
)
from linsep.sources.files.arrow import clipped, is_long
from linsep.sources.files.reading import (
    FILE_WITHOUT_NAMES,
    MOST_COLUMNS,
    Batch,
    Options,
    Place,
    Reader,
    Stamp,
    choose_columns,
    require_width,
    unreadable,
)

Array = npt.NDArray[Any]
PARTS = ("data", "indices", "indptr", "shape")
HELD = 1 << 26  # bytes of an .npz file that are held in memory
SPARSE_ROWS = 1 << 16  # of a CSR matrix read at a time
Header = tuple[tuple[int, ...], bool, np.dtype[Any], int]  # shape, Fortran order, type, byte of the first value


class NpyReader(Reader):
    """An .npy file: rows of one array, read from the disk piece by piece."""

    columns = None

    def __init__(self, path: str, options: Options) -> None:
        self.path, self.options = path, options
        self.stamp = Stamp.of(path)
        self.shape, self.fortran, self.kind, self.offset = self._header()
        require_table(path, self.shape, self.kind, "the array")
        names = [str(j) for j in range(self.shape[1])]
        if options.label is None and options.needs is None:
            raise ArgumentError(
                f"{path}: say which column holds the labels with --label, for instance --label -1.", file=path
            )
        try:
            choice = choose_columns(path, names, options, has_names=False)
        except MissingColumnError as error:
            width = self.shape[1]
            raise MissingColumnError(
                f"{path}: there is no column {error.column!r}. An .npy file has no names: give a position from 0 to "
                f"{width - 1}, or from the end, -1 to -{width}.",
                file=path,
                column=error.column,
            ) from None
        self.chosen, self.label_name = choice.columns, choice.label
        self.remark = choice.remark if options.needs is not None and options.needs.names else None
        self.n_columns = len(self.chosen)
        if not self.n_columns:
            raise NoColumnsError(f"{path}: the label is the only column.", file=path)
        self.step = max(1, options.batch_bytes // (8 * self.shape[1]))
        self._is_walked = False

    def _header(self) -> Header:
        try:
            with Path(self.path).open("rb") as file:
                shape, fortran, kind = read_header(file)
                header: Header = (shape, fortran, kind, file.tell())
        except OSError as error:
            raise unreadable(self.path, error) from error
        except Exception as error:  # NumPy parses the header as Python, which fails in many ways
            raise not_numpy(self.path, error) from error
        if kind.hasobject:
            raise not_numpy(self.path, ValueError("allow_pickle"))
        if self.stamp.size < header[3] + kind.itemsize * int(np.prod(shape, dtype=object)):
            raise DamagedFileError(
                f"{self.path}: cannot be read: the file ends before its {shape} values do.",
                file=self.path,
                byte=self.stamp.size,
                fix="Fetch or write the file again.",
            )
        return header

    def batches(self) -> Iterator[Batch]:
        """Every row once, in order."""
        if self.options.set_aside is not None:
            yield from self._good_batches()
            return
        for first in range(0, self.shape[0], self.step):
            yield self.read(Place(first, min(self.step, self.shape[0] - first)))

    def read(self, place: Place) -> Batch:
        """Rows from the disk."""
        self.stamp.require_same()
        if place.key is None:
            return self._split(self._rows(place.first, place.rows), place)
        rows = self._rows(*place.key)
        return self._split(rows[~self._is_bad(rows)], place)

    def _good_batches(self) -> Iterator[Batch]:
        """The rows without NaN, the others set aside; the first walk writes them down."""
        kept = self.left_out = 0
        for first in range(0, self.shape[0], self.step):
            self.stamp.require_same()
            key = (first, min(self.step, self.shape[0] - first))
            rows = self._rows(*key)
            bad = self._is_bad(rows)
            for row in np.flatnonzero(bad).tolist():
                self._set_aside(first + row, rows[row])
            if not bad.all():
                place = Place(kept, int((~bad).sum()), key)
                yield self._split(rows[~bad], place)
                kept += place.rows
        self._is_walked = True
        if not kept:
            raise NoRowsError(f"{self.path}: no row is left: all {self.shape[0]:,} were set aside.", file=self.path)

    def _is_bad(self, rows: Array) -> npt.NDArray[np.bool_]:
        used = rows[:, [*self.chosen, self._label]]
        bad: npt.NDArray[np.bool_] = np.zeros(used.shape, np.bool_)
        if used.dtype.kind == "f":
            bad = ~np.isfinite(used)
        elif used.dtype.kind == "u":
            bad[:, :-1] = used[:, :-1] > np.uint64(2**63 - 1)
        return np.asarray(bad.any(axis=1))

    def _set_aside(self, row: int, values: Array) -> None:
        assert self.options.set_aside is not None
        self.left_out += 1
        if self._is_walked:
            return
        code, why = (
            ("E-INEXACT", "an integer is beyond 64 bits")
            if values.dtype.kind == "u"
            else ("E-NOT-FINITE", "not finite")
        )
        told = f"{code}: {self.path}: row {row}: {why}."
        self.options.set_aside.add(self.path, row, told, ",".join(map(str, values.tolist())))

    @property
    def _label(self) -> int:
        assert isinstance(self.label_name, int)
        return self.label_name

    def take(self, place: Place, positions: npt.NDArray[np.int64]) -> Batch:
        """A few rows, each fetched on its own; many, with all that lies between."""
        if len(positions) * 16 > place.rows or place.key is not None:
            return self.read(place).take(positions)
        self.stamp.require_same()
        table = np.memmap(self.path, self.kind, "r", self.offset, self.shape, "F" if self.fortran else "C")
        return self._split(np.array(table[place.first + positions]), place)

    def _rows(self, first: int, rows: int) -> Array:
        if self.fortran:
            table = np.memmap(self.path, self.kind, "r", self.offset, self.shape, "F")
            return np.array(table[first : first + rows], order="C")
        width = self.shape[1]
        start = self.offset + first * width * self.kind.itemsize
        return np.fromfile(self.path, self.kind, rows * width, offset=start).reshape(rows, width)

    def _split(self, rows: Array, place: Place) -> Batch:
        labels: Array | None = None
        if isinstance(self.label_name, int):
            labels = np.ascontiguousarray(rows[:, self.label_name])
            labels = labels.astype(labels.dtype.newbyteorder("="))
        if self.chosen == list(range(self.n_columns)) and rows.dtype == np.float64:
            values: Array = np.ascontiguousarray(rows[:, : self.n_columns])
        else:
            values = rows[:, self.chosen]
        return Batch(plain(self.path, values, place.first), labels, place)


class NpzReader(Reader):
    """An .npz file: X and y, or the data, indices, indptr and shape of a CSR matrix, and y.

    A small one is held in memory. A large one is unpacked from its beginning in every walk, a few rows at a time.
    """

    columns = None

    def __init__(self, path: str, options: Options) -> None:
        self.path, self.options = path, options
        self.stamp = Stamp.of(path)
        if options.label not in (None, "y"):
            raise ArgumentError(
                f"{path}: an .npz file holds its labels in y: leave --label {options.label} out.", file=path
            )
        if options.set_aside is not None:
            fix = "Leave reject out, or write the rows as Parquet, CSV or .npy."
            raise ArgumentError(f"{path}: bad rows of .npz files cannot be set aside. {fix}", file=path, fix=fix)
        self._chosen: list[int] | None = None
        self._held: tuple[Any, Array | None] | None = None
        if self._unpacked_size() <= HELD or not self._is_streamable():
            self._held = self._load()
            shape, self.is_sparse = self._held[0].shape, not isinstance(self._held[0], np.ndarray)
        else:
            self.can_seek = False
            shape, self.is_sparse = self._look()
        if shape[1] > MOST_COLUMNS:
            raise ShapeError(
                f"{path}: {shape[1]:,} columns: linsep reads up to {MOST_COLUMNS:,}.", file=path, value=shape[1]
            )
        if options.columns is not None:
            self._chosen = [self._position(column, shape[1]) for column in options.columns]
            if len(set(self._chosen)) < len(self._chosen):
                raise ArgumentError(f"{path}: a column is chosen twice.", file=path)
            if self._held is not None:
                self._held = self._held[0][:, self._chosen], self._held[1]
        self._n_rows, self.n_columns = shape[0], shape[1] if self._chosen is None else len(self._chosen)
        if options.needs is not None:
            require_width(path, self.n_columns, options.needs)
            self.remark = FILE_WITHOUT_NAMES if options.needs.names is not None else None
        self.step = max(1, options.batch_bytes // (8 * self.n_columns)) if not self.is_sparse else SPARSE_ROWS

    def _position(self, column: str | int, width: int) -> int:
        """A column by its position, from 0 or from the end."""
        place = int(column) if re.fullmatch(r"-?[0-9]{1,12}", str(column)) else width
        if -width <= place < width:
            return place % width
        raise MissingColumnError(
            f"{self.path}: there is no column {column!r}. An .npz file has no names: give a position from 0 to "
            f"{width - 1}.",
            file=self.path,
            column=column,
        )

    def _unpacked_size(self) -> int:
        with self._archive() as archive:
            return sum(member.file_size for member in archive.infolist())

    def _is_streamable(self) -> bool:
        """Whether rows come one after another: X in C order, and every array of the shape that a table needs."""
        try:
            self._look()
        except NotStreamableError:
            return False
        return True

    def _look(self) -> tuple[tuple[int, ...], bool]:
        """The shape of the table and whether it is sparse, from the headers alone."""
        with self._archive() as archive:
            names = archive.namelist()
            labels = self._labels(archive)
            if "X.npy" in names:
                table = Member(archive, "X")
                require_table(self.path, table.shape, table.kind, "X")
                if (labels is not None and labels.shape != table.shape[:1]) or table.fortran:
                    raise NotStreamableError
                return table.shape, False
            shape = tuple(int(n) for n in Member(archive, "shape").read(2)) if "shape.npy" in names else ()
            fits = len(shape) == 2 and (labels is None or labels.shape == shape[:1])
            if not fits or "indptr.npy" not in names:
                raise NotStreamableError
            return shape, True

    def _labels(self, archive: zipfile.ZipFile) -> "Member | None":
        """The labels; None where there are none and none are needed."""
        if "y.npy" in archive.namelist():
            return Member(archive, "y")
        if self.options.needs is not None:
            return None
        raise FileError(f"{self.path}: holds no y, the labels.", file=self.path)

    @contextmanager
    def _archive(self) -> Iterator[zipfile.ZipFile]:
        try:
            with Path(self.path).open("rb") as file, zipfile.ZipFile(file) as archive:
                yield archive
        except (InputError, NotStreamableError):
            raise
        except FileNotFoundError as error:
            raise unreadable(self.path, error) from error
        except Exception as error:  # a zip member can fail in a dozen ways: zlib, CRC, struct, header
            if is_npy(self.path):
                raise FileKindError(
                    f"{self.path}: an .npy file with the ending .npz: rename it.", file=self.path
                ) from error
            raise not_numpy(self.path, error) from error

    def _load(self) -> tuple[Any, Array | None]:
        """The table and the labels, whole."""
        wanted = ("X", "y", *PARTS, "format")
        with self._archive() as archive, Path(self.path).open("rb") as stream:
            for name in archive.namelist():
                if name.removesuffix(".npy") in wanted:
                    Member(archive, name.removesuffix(".npy")).require_whole(archive.getinfo(name).file_size)
            with catch_warnings():
                simplefilter("ignore")
                content = np.load(stream, allow_pickle=False)
                arrays = {name: content[name] for name in wanted if name in content.files}
        X, y = self._table(arrays), arrays.get("y")
        if y is None and self.options.needs is None:
            raise FileError(f"{self.path}: holds no y, the labels.", file=self.path)
        if y is not None and y.shape != (X.shape[0],):
            raise LengthError(
                f"{self.path}: X has {X.shape[0]} rows and y has shape {y.shape}: one label for each row.",
                file=self.path,
            )
        return X, y

    def _table(self, arrays: dict[str, Array]) -> Any:
        if "X" in arrays:
            require_table(self.path, arrays["X"].shape, arrays["X"].dtype, "X")
            return arrays["X"]
        if arrays.keys() >= set(PARTS):
            return sparse_table(self.path, arrays)
        raise FileError(
            f"{self.path}: linsep looks for the arrays X and y, or {', '.join(PARTS)} and y; some are missing.",
            file=self.path,
        )

    def batches(self) -> Iterator[Batch]:
        """Every row once, in order."""
        places = [Place(k, min(self.step, self._n_rows - k)) for k in range(0, self._n_rows, self.step)]
        if self._held is not None:
            yield from map(self.read, places)
            return
        with self._archive() as archive:
            labels = self._labels(archive)
            rows = self._sparse_rows(archive, places) if self.is_sparse else self._dense_rows(archive, places)
            for place, values in zip(places, rows, strict=True):
                yield Batch(values, None if labels is None else labels.read(place.rows), place)
        self.stamp.require_same()

    def _dense_rows(self, archive: zipfile.ZipFile, places: list[Place]) -> Iterator[Array]:
        table = Member(archive, "X")
        for place in places:
            rows = table.read(place.rows * table.shape[1]).reshape(place.rows, -1)
            yield plain(self.path, rows if self._chosen is None else rows[:, self._chosen], place.first)

    def _sparse_rows(self, archive: zipfile.ZipFile, places: list[Place]) -> Iterator[Any]:
        """Pieces of a CSR matrix, each made and checked like a whole one."""
        parts = {name: Member(archive, name) for name in ("data", "indices", "indptr")}
        edge = parts["indptr"].read(1)
        (_, width), _ = self._look()
        for place in places:
            indptr = np.concatenate([edge, parts["indptr"].read(place.rows)]).astype(np.int64)
            edge = indptr[-1:]
            entries = max(0, int(indptr[-1] - indptr[0]))
            piece = {name: parts[name].read(entries) for name in ("data", "indices")}
            shape = np.array([place.rows, width])
            matrix = sparse_table(self.path, {**piece, "indptr": indptr - indptr[0], "shape": shape})
            yield matrix if self._chosen is None else matrix[:, self._chosen]

    def read(self, place: Place) -> Batch:
        """Rows of the arrays in memory."""
        assert self._held is not None  # the others cannot seek
        X, y = self._held
        part = slice(place.first, place.first + place.rows)
        values = plain(self.path, X[part], place.first) if isinstance(X, np.ndarray) else X[part]
        return Batch(values, None if y is None else y[part], place)


class NotStreamableError(Exception):
    """The arrays do not lie in the order of the rows, or do not fit each other: they are read whole."""


class Member:
    """An array of an .npz file, read from its beginning."""

    def __init__(self, archive: zipfile.ZipFile, name: str) -> None:
        self._stream = archive.open(f"{name}.npy")
        self.shape, self.fortran, self.kind = read_header(self._stream)
        if self.kind.hasobject:
            raise ValueError("allow_pickle")

    def require_whole(self, size: int) -> None:
        """Refuse an array that claims more values than the file has bytes."""
        if self.kind.itemsize * int(np.prod(self.shape, dtype=object)) > size:
            raise ValueError("the file ends before its values do.")

    def read(self, count: int) -> Array:
        """The next values."""
        data = self._stream.read(count * self.kind.itemsize)
        if len(data) < count * self.kind.itemsize:
            raise ValueError("the file ends before its values do.")
        return np.frombuffer(data, self.kind)


def read_header(file: Any) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Shape, Fortran order and type, from the beginning of an array."""
    version = np.lib.format.read_magic(file)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    with catch_warnings():
        simplefilter("ignore")  # about Python 2, which wrote some headers
        shape, fortran, kind = read(file)
    if any(length < 0 for length in shape):
        raise ValueError(f"shape is not valid: {shape}")
    return shape, fortran, kind


def is_npy(path: str) -> bool:
    """Whether a file begins as an .npy file does."""
    with suppress(OSError), Path(path).open("rb") as file:
        return file.read(6) == b"\x93NUMPY"
    return False


def require_table(path: str, shape: tuple[int, ...], kind: np.dtype[Any], name: str) -> None:
    """Refuse what is no table of numbers."""
    if kind.kind not in "biuf":
        raise NotNumericError(f"{path}: {name} holds values of type {kind}: rows are real numbers.", file=path)
    if len(shape) != 2:
        raise ShapeError(f"{path}: {name} has shape {shape}; a table has two dimensions, rows and columns.", file=path)
    if not shape[0]:
        raise NoRowsError(f"{path}: {name} has no rows.", file=path)
    if not shape[1]:
        raise NoColumnsError(f"{path}: {name} has no columns.", file=path)


def plain(path: str, values: Array, first: int) -> Array:
    """The same numbers as doubles, or as int64 where doubles would round them."""
    from linsep.sources.inputs import _plain_numbers

    try:
        exact = _plain_numbers(np.asarray(values))
    except InexactError as error:
        row, column = first_rounded(values)
        value = str(values[row, column])
        fix = "Subtract a constant from the column or divide it."
        raise InexactError(
            f"{path}: row {first + row}, column {column} holds {value}, which would be rounded, and linsep never "
            f"rounds in silence. {fix}",
            file=path,
            row=first + row,
            column=column,
            value=value,
            fix=fix,
        ) from error
    if exact.dtype.kind in "iu" and is_long(exact):
        return np.ascontiguousarray(exact, np.int64)
    return np.ascontiguousarray(exact, np.float64)


def first_rounded(values: Array) -> tuple[int, int]:
    """Row and column of the first value that no 64-bit type of ours holds."""
    with np.errstate(all="ignore"):
        if values.dtype.kind == "u":
            wrong = values > np.uint64(2**63 - 1)
        else:
            wrong = (values.astype(np.float64) != values) & (values == values)
    row, column = np.argwhere(wrong)[0]
    return int(row), int(column)


def sparse_table(path: str, arrays: dict[str, Array]) -> Any:
    """A CSR matrix from its parts."""
    import scipy.sparse as sp

    named = arrays["format"].tolist() if "format" in arrays else "csr"
    if named not in (b"csr", "csr"):
        raise FileError(f"{path}: a sparse matrix of format {clipped(named)}: save it as CSR.", file=path)
    if arrays["data"].dtype.kind not in "biuf":
        raise NotNumericError(
            f"{path}: data holds values of type {arrays['data'].dtype}: rows are real numbers.", file=path
        )
    for name in ("indices", "indptr", "shape"):
        if arrays[name].dtype.kind not in "iu":
            raise DamagedFileError(
                f"{path}: the parts do not form a CSR matrix: {name} holds {arrays[name].dtype}, not integers.",
                file=path,
            )
    try:
        n_rows, n_columns = (int(length) for length in arrays["shape"])
        matrix = sp.csr_array((arrays["data"], arrays["indices"], arrays["indptr"]), shape=(n_rows, n_columns))
        matrix.check_format(full_check=True)  # an index out of range would be read as memory that is not ours
    except (ValueError, TypeError, IndexError, OverflowError) as error:
        raise DamagedFileError(f"{path}: the parts do not form a CSR matrix: {error}", file=path) from error
    require_table(path, matrix.shape, matrix.dtype, "the matrix")
    matrix.data = plain(path, matrix.data[:, None], 0)[:, 0]
    matrix.sum_duplicates()
    return matrix


def not_numpy(path: str, error: Exception) -> FileError:
    """Why a file is no NumPy file that linsep reads."""
    if "allow_pickle" in str(error) or "magic" in str(error):
        return FileKindError(
            f"{path}: cannot be read. It is no NumPy file, or it holds pickled objects, which linsep never loads "
            "because loading them runs code. Save plain numbers.",
            file=path,
        )
    return DamagedFileError(f"{path}: cannot be read: {str(error) or type(error).__name__}", file=path)
