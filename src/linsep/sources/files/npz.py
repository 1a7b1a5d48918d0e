"""Archives of NumPy arrays: .npz, X and y, or the parts of a CSR matrix and y.

It is unpacked from its beginning, a few rows at a time; where its values lie column by column, X is unpacked first, to
a temporary file.
"""

import re
import shutil
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

import numpy as np

from linsep.errors import InputError, shown
from linsep.faults import fault
from linsep.sources.files.columns import FILE_WITHOUT_NAMES, require_width
from linsep.sources.files.npy import Array, ArrayReader, not_numpy, read_header, require_table, size_of
from linsep.sources.files.options import Options
from linsep.sources.files.private import temporary
from linsep.sources.files.reader import Batch, Stamp, unreadable

PARTS = ("data", "indices", "indptr", "shape")
SPARSE_ROWS = 1 << 16  # of a CSR matrix looked at in one go; how many are read depends on their entries
ENTRY = 12  # bytes of an entry of a CSR matrix, as the loops have it


class NpzReader(ArrayReader):
    """An .npz file: X and y, or the data, indices, indptr and shape of a CSR matrix, and y."""

    def __init__(self, path: str, options: Options) -> None:
        self.path, self.options = path, options
        self.stamp = Stamp.of(path)
        if options.label not in (None, "y"):
            raise fault("label in y", path, label=options.label)
        self._chosen: list[int] | None = None
        with self._archive() as archive:
            shape, self.size = self._look(archive)
            if options.columns is not None:
                self._chosen = [self._position(column, shape[1]) for column in options.columns]
                if len(set(self._chosen)) < len(self._chosen):
                    raise fault("column twice", path)
        self._n_rows, self._width = shape
        self.n_columns = self._width if self._chosen is None else len(self._chosen)
        if options.needs is not None:
            require_width(path, self.n_columns, options.needs)
            self.remark = FILE_WITHOUT_NAMES if options.needs.names is not None else None

    def _position(self, column: str | int, width: int) -> int:
        """A column by its position, from 0 or from the end."""
        place = int(column) if re.fullmatch(r"-?[0-9]{1,12}", str(column)) else width
        if -width <= place < width:
            return place % width
        raise fault("no position", self.path, column=column, kind=".npz", last=width - 1, or_back="")

    # What the headers say ---------------------------------------------------------------------------------

    def _look(self, archive: zipfile.ZipFile) -> tuple[tuple[int, int], int]:
        """The shape of the table, checked as far as headers tell, and the bytes that it takes in memory."""
        names = {name.removesuffix(".npy") for name in archive.namelist()}
        found = {name: Member(archive, name) for name in ("X", "y", *PARTS) if name in names}
        for name, member in found.items():
            member.require_whole(archive.getinfo(f"{name}.npy").file_size)
        if "X" in found:
            table = found["X"]
            require_table(self.path, table.shape, table.kind, "X")
            shape, size = (table.shape[0], table.shape[1]), size_of(table.shape, table.kind)
        elif found.keys() >= set(PARTS):
            self.is_sparse = True
            shape = self._look_at_parts(archive, found)
            size = sum(size_of(found[name].shape, found[name].kind) for name in ("data", "indices", "indptr"))
        else:
            raise fault("no arrays", self.path, parts=", ".join(PARTS))
        self.options.require_room(self.path, shape[1])
        return shape, size + self._look_at_labels(found.get("y"), shape[0])

    def _look_at_parts(self, archive: zipfile.ZipFile, found: "dict[str, Member]") -> tuple[int, int]:
        """The shape of a CSR matrix whose parts fit each other."""
        if "format.npy" in archive.namelist():
            named = Member(archive, "format").read(1)[0]
            if named not in (b"csr", "csr"):
                raise fault("not csr", self.path, seen=shown(named.item()))
        data = found["data"]
        if data.kind.kind not in "biuf":
            raise fault("array type", self.path, name="data", seen=data.kind)
        for name in ("indices", "indptr", "shape"):
            if found[name].kind.kind not in "iu":
                raise self._no_matrix(f"{name} holds {found[name].kind}, not integers.")
        if found["shape"].shape != (2,):
            raise self._no_matrix(f"shape holds {found['shape'].shape} values, not two.")
        n_rows, width = (int(length) for length in found["shape"].read(2))
        if min(n_rows, width) < 0:
            raise self._no_matrix(f"its shape is {(n_rows, width)}.")
        if found["indptr"].shape != (n_rows + 1,):
            raise self._no_matrix(f"indptr has shape {found['indptr'].shape}; {n_rows:,} rows need one more.")
        if len(data.shape) != 1 or data.shape != found["indices"].shape:
            raise self._no_matrix(f"data has shape {data.shape} and indices {found['indices'].shape}.")
        require_table(self.path, (n_rows, width), data.kind, "the matrix")
        return n_rows, width

    def _look_at_labels(self, labels: "Member | None", n_rows: int) -> int:
        """The bytes of the labels; there must be one for each row, or none where none are needed."""
        if labels is None:
            if self.options.needs is not None:
                return 0
            raise fault("no y", self.path)
        if labels.shape != (n_rows,):
            raise fault("y length", self.path, rows=n_rows, seen=labels.shape)
        return size_of(labels.shape, labels.kind)

    def _no_matrix(self, why: str) -> InputError:
        return fault("bad matrix", self.path, seen=why.removesuffix("."))

    @contextmanager
    def _archive(self) -> Iterator[zipfile.ZipFile]:
        try:
            with Path(self.path).open("rb") as file, zipfile.ZipFile(file) as archive:
                yield archive
        except (InputError, GeneratorExit, MemoryError):
            raise
        except FileNotFoundError as error:
            raise unreadable(self.path, error) from error
        except Exception as error:  # a zip member can fail in a dozen ways: zlib, CRC, struct, header
            self.stamp.require_same()
            if is_npy(self.path):
                raise fault("npy as npz", self.path) from error
            raise not_numpy(self.path, error) from error

    # Rows -------------------------------------------------------------------------------------------------

    def _matrix(self, arrays: dict[str, Array], first: int = 0) -> Any:
        """A CSR matrix from its parts, its numbers as they are written; errors count its rows from `first`."""
        import scipy.sparse as sp

        data, (n_rows, width) = arrays["data"], arrays["shape"].tolist()
        is_half = data.dtype.kind == "f" and data.dtype.itemsize == 2  # in either byte order
        data = data.astype(np.float32 if is_half else data.dtype.newbyteorder("="))  # as SciPy has it
        try:
            matrix = sp.csr_array((data, arrays["indices"], arrays["indptr"]), shape=(n_rows, width))
            matrix.check_format(full_check=True)  # an index out of range would be read as memory that is not ours
        except (ValueError, TypeError, IndexError, OverflowError) as error:
            raise self._no_matrix(str(error)) from error
        matrix.sort_indices()
        again = np.flatnonzero(np.diff(matrix.indices) == 0) + 1  # SciPy would add them up in their own type
        again = again[~np.isin(again, matrix.indptr)]
        if again.size:
            row = first + int(np.searchsorted(matrix.indptr, again[0], side="right")) - 1
            raise self._no_matrix(f"row {row} has column {matrix.indices[again[0]]} twice. Sum duplicates first.")
        return matrix

    def _pieces(self) -> Iterator[Batch]:
        with self._archive() as archive:
            labels = Member(archive, "y") if "y.npy" in archive.namelist() else None
            for first, values in self._sparse_rows(archive) if self.is_sparse else self._dense_rows(archive):
                if self._chosen is not None:
                    values = values[:, self._chosen]
                yield Batch(values, None if labels is None else labels.read(values.shape[0]), first)

    def _dense_rows(self, archive: zipfile.ZipFile) -> Iterator[tuple[int, Array]]:
        table = Member(archive, "X")
        step = max(1, self.options.batch_bytes // (max(8, table.kind.itemsize) * self._width))
        with self._by_rows(archive) if table.fortran else nullcontext() as lying:
            for first in range(0, self._n_rows, step):
                rows = min(step, self._n_rows - first)
                if lying is not None:
                    yield first, np.array(lying[first : first + rows], order="C")
                else:
                    yield first, table.read(rows * self._width).reshape(rows, -1)

    @contextmanager
    def _by_rows(self, archive: zipfile.ZipFile) -> Iterator[Array]:
        """X on the disk, unpacked, where its rows can be found though they lie column by column."""
        with temporary() as folder:
            with archive.open("X.npy") as packed, Path(folder, "X.npy").open("wb") as out:
                shutil.copyfileobj(packed, out, min(1 << 20, self.options.batch_bytes))
            yield np.asarray(np.load(Path(folder, "X.npy"), mmap_mode="r", allow_pickle=False))

    def _sparse_rows(self, archive: zipfile.ZipFile) -> Iterator[tuple[int, Any]]:
        """Pieces of a CSR matrix, each made and checked like a whole one, and as large as a batch may be."""
        parts = {name: Member(archive, name) for name in ("data", "indices", "indptr")}
        most, edge = max(1, self.options.batch_bytes // ENTRY), parts["indptr"].read(1).astype(np.int64)
        if edge[0] != 0:
            raise self._no_matrix(f"indptr begins with {edge[0]}, not 0.")
        for first in range(0, self._n_rows, SPARSE_ROWS):
            rows = min(SPARSE_ROWS, self._n_rows - first)
            indptr = np.concatenate([edge, parts["indptr"].read(rows).astype(np.int64)])
            if (np.diff(indptr) < 0).any():
                raise self._no_matrix("indptr falls.")
            edge, start = indptr[-1:], 0
            while start < rows:
                stop = max(start + 1, int(np.searchsorted(indptr, indptr[start] + most, side="right")) - 1)
                entries = int(indptr[stop] - indptr[start])
                piece = {name: parts[name].read(entries) for name in ("data", "indices")}
                shape = np.array([stop - start, self._width])
                yield (
                    first + start,
                    self._matrix(
                        {**piece, "indptr": indptr[start : stop + 1] - indptr[start], "shape": shape}, first + start
                    ),
                )
                start = stop


class Member:
    """An array of an .npz file, read from its beginning."""

    def __init__(self, archive: zipfile.ZipFile, name: str) -> None:
        self._stream = archive.open(f"{name}.npy")
        self.shape, self.fortran, self.kind = read_header(self._stream)
        if self.kind.hasobject:
            raise ValueError("allow_pickle")

    def require_whole(self, size: int) -> None:
        """Refuse an array that claims more values than the file has bytes."""
        if size_of(self.shape, self.kind) > size:
            raise ValueError("the file ends before its values do.")

    def read(self, count: int) -> Array:
        """The next values."""
        data = self._stream.read(count * self.kind.itemsize)
        if len(data) < count * self.kind.itemsize:
            raise ValueError("the file ends before its values do.")
        return np.frombuffer(data, self.kind).copy()  # loops are compiled once more for arrays that cannot be written


def is_npy(path: str) -> bool:
    """Whether a file begins as an .npy file does."""
    with suppress(OSError), Path(path).open("rb") as file:
        return file.read(6) == b"\x93NUMPY"
    return False
