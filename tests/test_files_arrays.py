"""Files of NumPy arrays: flat memory whatever their number and layout, and bad rows set aside."""

import csv
import tempfile
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp

import linsep
from linsep.errors import FileError, InexactError
from linsep.sources.files import reader_of
from linsep.sources.files.options import Options

pytestmark = pytest.mark.usefixtures("streamed")

NAN = float("nan")
X, Y = linsep.datasets.planted(30_000, 8, margin=0.05, seed=3)  # 1.9 MB: more than is held at a memory of 8MiB
SPARSE = np.where(np.abs(X) > 0.7, X, 0.0)
WAYS = {
    "dense": lambda path, X, y: np.savez_compressed(path, X=X, y=y),
    "fortran": lambda path, X, y: np.savez_compressed(path, X=np.asfortranarray(X), y=y),
    "sparse": lambda path, X, y: np.savez_compressed(path, y=y, **parts_of(sp.csr_array(X))),
}


def parts_of(matrix):
    return {
        "data": matrix.data,
        "indices": matrix.indices,
        "indptr": matrix.indptr,
        "shape": np.array(matrix.shape),
        "format": np.array(matrix.format.encode()),
    }


def rejected(path):
    with path.open(encoding="utf-8") as file:
        return [(int(row["row"]), row["reason"].split(":")[0], row["content"]) for row in csv.DictReader(file)]


@pytest.mark.parametrize("columns", [None, [5, 0, 2]])
@pytest.mark.parametrize("way", WAYS)
def test_an_archive_is_the_same_held_in_memory_and_read_as_a_stream(way, columns, tmp_path):
    rows = SPARSE if way == "sparse" else X
    WAYS[way](tmp_path / "a.npz", rows, Y)
    held, streamed = (linsep.open(tmp_path / "a.npz", columns=columns, memory=memory) for memory in ("512MB", "8MiB"))
    w = np.arange(1.0, held.n_columns + 1)
    one, two = held.scan(w, 0.5, worst=9), streamed.scan(w, 0.5, worst=9)
    assert (one.rows, one.mistakes) == (two.rows, two.mistakes)
    assert np.array_equal(one.worst.row_numbers, two.worst.row_numbers)
    wanted = [29_999, 4, 17_000]
    for source in (held, streamed):
        values = source.take(wanted).values
        chosen = rows[wanted] if columns is None else rows[wanted][:, columns]
        assert np.array_equal(values if isinstance(values, np.ndarray) else values.toarray(), chosen)


@pytest.mark.parametrize("way", WAYS)
def test_an_archive_larger_than_the_memory_is_refused_with_what_to_do(way, tmp_path):
    WAYS[way](tmp_path / "a.npz", X, Y)
    with pytest.raises(FileError, match=r"do not fit in memory\. Save X and y .* \.npy .* memory='[2-4]MB'"):
        linsep.open(tmp_path / "a.npz", memory="1MiB")


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_many_archives_together_stay_within_the_memory(way, tmp_path):
    rows = SPARSE if way == "sparse" else X
    for k in range(6):  # 11 MB when unpacked
        WAYS[way](tmp_path / f"{k}.npz", rows, Y)
    linsep.open(tmp_path, memory="8MiB").scan(np.ones(8), 0.0)  # what is imported and compiled is not counted
    tracemalloc.start()
    linsep.open(tmp_path, memory="8MiB").scan(np.ones(8), 0.0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 << 20


@pytest.mark.parametrize("way", WAYS)
def test_rows_of_a_stream_are_those_that_kernels_are_compiled_for(way, tmp_path):
    WAYS[way](tmp_path / "a.npz", SPARSE if way == "sparse" else X, Y)
    reader = reader_of(str(tmp_path / "a.npz"), Options(memory="8MiB"))
    batch = next(reader.batches())
    arrays = [batch.values] if way != "sparse" else [batch.values.data, batch.values.indices, batch.values.indptr]
    assert all(array.flags.writeable and array.flags.c_contiguous for array in arrays)


def test_a_stream_of_sparse_rows_is_cut_by_its_entries(tmp_path):
    dense = np.ones((3000, 200))
    dense[::7] = 0
    np.savez_compressed(tmp_path / "a.npz", y=np.arange(3000) % 2, **parts_of(sp.csr_array(dense)))
    reader = reader_of(str(tmp_path / "a.npz"), Options(memory="8MiB"))
    batches = list(reader.batches())
    assert max(batch.values.nnz for batch in batches) <= (1 << 17) // 12
    assert np.array_equal(np.concatenate([batch.values.toarray() for batch in batches]), dense)


def test_an_array_that_lies_column_by_column_leaves_no_temporary_file(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    WAYS["fortran"](tmp_path / "a.npz", X, Y)
    source = linsep.open(tmp_path / "a.npz", memory="8MiB", cache=False)
    assert not list(tmp_path.glob("linsep-*/X.npy"))
    assert source.scan(np.ones(8), 0.0).rows == 30_000
    del source
    assert list(tmp_path.iterdir()) == [tmp_path / "a.npz"]


@pytest.mark.parametrize("memory", ["8MiB", "512MB"])
def test_a_matrix_by_columns_is_refused_whatever_its_size(memory, tmp_path):
    matrix = sp.random_array((1000, 1000), density=0.2, format="csc", rng=0)  # square: nothing else tells it from CSR
    np.savez(tmp_path / "a.npz", y=np.arange(1000) % 2, **parts_of(matrix))
    with pytest.raises(FileError, match=r"a sparse matrix of format b'csc'\. Save it as CSR"):
        linsep.open(tmp_path / "a.npz", memory=memory)


@pytest.mark.slow
@pytest.mark.parametrize("memory", ["8MiB", "512MB"])
@pytest.mark.parametrize("way", WAYS)
def test_bad_rows_of_an_archive_are_set_aside(way, memory, tmp_path):
    rows, y = (SPARSE if way == "sparse" else X).copy(), Y.astype(float)
    rows[7, 2], rows[29_000, 5], y[9] = NAN, -np.inf, NAN
    WAYS[way](tmp_path / "a.npz", rows, y)
    source = linsep.open(tmp_path / "a.npz", memory=memory, reject=tmp_path / "bad.csv")
    assert (source.n_rows, source.facts.rows_left_out) == (29_997, 3)
    found = [(row, code) for row, code, _ in rejected(tmp_path / "bad.csv")]
    assert found == [(7, "E-NOT-FINITE"), (9, "E-LABEL-MISSING"), (29_000, "E-NOT-FINITE")]
    good = np.delete(rows, [7, 9, 29_000], axis=0)
    values = source.take([6, 7, 8, 29_996]).values
    assert np.array_equal(values if isinstance(values, np.ndarray) else values.toarray(), good[[6, 7, 8, 29_996]])
    assert linsep.decide(source).rows_left_out == 3


@pytest.mark.parametrize("name", ["a.npy", "a.npz"])
def test_the_reason_names_the_cell_and_the_content_is_the_row(name, tmp_path):
    rows = np.array([[1, 2**64 - 1, 0], [3, 4, 1], [5, 6, 0]], np.uint64)
    np.save(tmp_path / name, rows) if name == "a.npy" else np.savez(tmp_path / name, X=rows[:, :2], y=rows[:, 2])
    label = -1 if name == "a.npy" else None
    assert linsep.open(tmp_path / name, label=label, reject=tmp_path / "bad.csv").n_rows == 2
    assert rejected(tmp_path / "bad.csv") == [(0, "E-INEXACT", "1,18446744073709551615,0")]


def test_an_entry_that_would_be_rounded_is_named_by_row_and_column(tmp_path):
    matrix = sp.csr_array(np.array([[0, 1, 0], [1, 0, 2**64 - 1]], np.uint64))
    np.savez(tmp_path / "a.npz", y=[0, 1], **parts_of(matrix))
    with pytest.raises(InexactError, match=r"row 1, column 2 .* holds 18446744073709551615"):
        linsep.open(tmp_path / "a.npz")


def test_a_content_of_sparse_rows_has_pairs(tmp_path):
    matrix = sp.csr_array(np.array([[0, 1.5, NAN], [1, 0, 2], [3, 0, 0]]))
    np.savez(tmp_path / "a.npz", y=[0, 1, 0], **parts_of(matrix))
    linsep.open(tmp_path / "a.npz", reject=tmp_path / "bad.csv")
    assert rejected(tmp_path / "bad.csv") == [(0, "E-NOT-FINITE", "0 1:1.5 2:nan")]
