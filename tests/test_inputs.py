"""What may be handed over, and how everything else is refused."""

import decimal
import fractions

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

import linsep
from linsep import errors
from linsep.loops.layouts import Csr
from linsep.solvers import scaling
from linsep.sources.inputs import as_source, read_table

Y = [0, 1, 1]
X = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]


def numbers(table):
    if isinstance(table, Csr):
        return sp.csr_array((table.data, table.indices.astype(int), table.indptr.astype(int))).toarray()
    return table.values


@pytest.mark.parametrize(
    ("given", "labels"),
    [
        ([0, 1, 1], (0, 1)), ([-1, 1, 1], (-1, 1)), (["ham", "spam", "spam"], ("ham", "spam")),
        ([False, True, True], (False, True)), ([2.5, 7.0, 7.0], (2.5, 7.0)), (np.array([[1], [2], [2]]), (1, 2)),
        (pd.Series(["a", "b", "b"]), ("a", "b")), (pl.Series([3, 4, 4]), (3, 4)), (pa.array([3, 4, 4]), (3, 4)),
        (pd.Series(["a", "b", "b"], dtype="category"), ("a", "b")), (np.array(["a", "b", "b"], object), ("a", "b")),
    ],
)  # fmt: skip
def test_labels_are_any_two_values_and_the_larger_is_plus(given, labels):
    source = as_source(X, given)
    assert source.facts.labels == labels and source.y.tolist() == [-1, 1, 1]


@pytest.mark.parametrize(
    "frame",
    [pd.DataFrame({"a": [1, 3, 5], "b": [2.0, 4.0, 6.0]}), pl.DataFrame({"a": [1, 3, 5], "b": [2.0, 4.0, 6.0]}),
     pa.table({"a": [1, 3, 5], "b": [2.0, 4.0, 6.0]}), pd.DataFrame(X, columns=["a", "b"]).convert_dtypes()],
)  # fmt: skip
def test_dataframes_bring_their_column_names(frame):
    source = as_source(frame, Y)
    assert source.facts.names == ("a", "b") and numbers(source.table).tolist() == X


def test_a_frame_without_names_counts_its_columns():
    source = as_source(pd.DataFrame(np.array(X)), Y)
    assert source.facts.names == ("0", "1") and numbers(source.table).tolist() == X


def test_a_frame_of_integers_stays_integer():
    assert read_table(pd.DataFrame({"a": [1, 2], "b": [3, 4]}))[0].values.dtype == np.int64


def test_an_array_in_row_order_is_not_copied():
    for dtype in (np.float64, np.float32, np.uint8, np.int64, bool):
        array = np.ones((4, 3), dtype)
        assert np.shares_memory(read_table(array)[0].values, array)


def test_the_callers_array_stays_writable_and_unchanged():
    array = np.array(X)
    linsep.perceptron(array, Y)
    assert array.flags.writeable and array.tolist() == X


def test_a_memory_mapped_array_is_read_in_place(tmp_path):
    np.save(tmp_path / "x.npy", np.array(X))
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    assert np.shares_memory(read_table(mapped)[0].values, mapped)


def test_repeated_sparse_entries_are_added_up_and_the_original_left_alone():
    repeated = sp.csr_array((np.array([1.0, 2.0, 5.0]), np.array([1, 1, 0]), np.array([0, 2, 3])), shape=(2, 2))
    assert numbers(read_table(repeated)[0]).tolist() == [[0, 3], [5, 0]]
    assert repeated.nnz == 3


@pytest.mark.parametrize("kind", [sp.csr_array, sp.csr_matrix, sp.csc_array, sp.coo_array, sp.lil_matrix, sp.dok_array])
def test_every_sparse_kind_reads_alike(kind):
    assert numbers(read_table(kind(np.array([[0, 2], [3, 0]])))[0]).tolist() == [[0, 2], [3, 0]]


BAD = {
    "NaN": ([[1.0, 2.0], [3.0, np.nan], [5.0, 6.0]], Y, errors.NotFiniteError, "Row 1, column 1 .* holds NaN"),
    "infinity": ([[1.0, 2.0], [3.0, 4.0], [-np.inf, 6.0]], Y, errors.NotFiniteError, "Row 2, column 0 .* holds -inf"),
    "one class": (X, [1, 1, 1], errors.OneClassError, "every label is 1"),
    "three classes": (X, [1, 2, 3], errors.ManyClassesError, "1, 2, 3"),
    "three words": (X, ["a", "b", "c"], errors.ManyClassesError, "'a', 'b', 'c'"),
    "no rows": (np.empty((0, 2)), [], errors.NoRowsError, "no rows"),
    "no columns": (np.empty((3, 0)), Y, errors.NoColumnsError, "no columns"),
    "no sparse columns": (sp.csr_array((3, 0)), Y, errors.NoColumnsError, "no columns"),
    "one dimension": ([1.0, 2.0, 3.0], Y, errors.ShapeError, r"reshape\(-1, 1\)"),
    "ragged": ([[1, 2], [3]], [0, 1], errors.ShapeError, "Row 1 has 1 values"),
    "lengths": (X, [0, 1], errors.LengthError, "3 rows, but y has 2 labels"),
    "scalar y": (X, 1, errors.LengthError, "does not hold labels"),
    "complex": (np.array(X) * 1j, Y, errors.NotNumericError, "complex numbers"),
    "complex labels": (X, [1j, 1, 1], errors.NotNumericError, "complex"),
    "text": ([["1", "2"], ["3", "4"], ["5", "six"]], Y, errors.NotNumericError, "Row 0, column 0 .* holds '1'"),
    "objects": (np.array([[1, None], [2, 3], [4, 5]], object), Y, errors.MissingValueError, "Row 0, column 1"),
    "decimals": ([[decimal.Decimal("0.1")], [decimal.Decimal(2)]], [0, 1], errors.InexactError, "Row 0.*Decimal"),
    "dates": (np.array([["2020-01-01"], ["2020-01-02"]], "M8[D]"), [0, 1], errors.NotNumericError, "datetime64"),
    "text column": (pd.DataFrame({"a": [1, 2], "b": ["x", "y"]}), [0, 1], errors.NotNumericError, "'b'.*'x'"),
    "null in a column": (pl.DataFrame({"a": [1, None]}), [0, 1], errors.MissingValueError, "Row 1, column 'a'"),
    "null in nullable ints": (pd.DataFrame({"a": [1, None]}, dtype="Int64"), [0, 1], errors.MissingValueError, "Row 1"),
    "NaN label": (X, [0.0, np.nan, 1.0], errors.MissingLabelError, "Row 1"),
    "None label": (X, ["a", None, "b"], errors.MissingLabelError, "Row 1"),
    "mixed labels": (X, np.array(["a", 1, 2], object), errors.NotNumericError, "some are text"),
    "masked": (np.ma.masked_equal(np.array(X), 4.0), Y, errors.NotNumericError, "Row 1, column 1"),
    "uint64": (np.array([[2**64 - 1], [1]], np.uint64), [0, 1], errors.InexactError, "18446744073709551615"),
    "long double": (np.array([[np.longdouble(1) / 3], [1]]), [0, 1], errors.InexactError, "stored exactly"),
    "big integer beside floats": (
        pd.DataFrame({"a": [2**53 + 1, 1], "b": [0.5, 1.5]}), [0, 1], errors.InexactError, "9007199254740993"),
    "malformed sparse": (
        sp.csr_array((np.ones(2), np.array([0, 9]), np.array([0, 1, 2])), shape=(2, 3)), [0, 1], errors.ShapeError,
        "malformed"),
    "no y": (X, None, errors.ArgumentError, "y is missing"),
    "fractions": ([[fractions.Fraction(1, 3)], [1]], [0, 1], errors.InexactError, "Row 0, column 0.*holds 1/3"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_refused_with_a_reason(case):
    given, labels, error, message = BAD[case]
    with pytest.raises(error, match=message):
        linsep.perceptron(given, labels, max_passes=100)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("order", ["cyclic", "restart", "shuffled", "worst"])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("columns", [3, 100])
def test_a_bad_number_is_found_wherever_it_stands(sparse, order, bad, columns):
    rows, y = linsep.datasets.planted(40, columns, margin=0.1)
    rows[33, 2] = bad
    given = sp.csr_array(rows) if sparse else rows
    with pytest.raises(errors.NotFiniteError) as refused:
        linsep.perceptron(given, y, order=order, max_passes=100)
    assert (refused.value.row, refused.value.column) == (33, 2)


def test_a_source_brings_its_own_labels():
    source = as_source(X, Y)
    assert as_source(source) is source
    with pytest.raises(errors.ArgumentError, match="its own labels"):
        as_source(source, Y)


@pytest.mark.parametrize("columns", [1, 3, 4, 5, 9])
@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int64])
def test_a_table_that_lies_column_by_column_is_the_same_table(columns, kind):
    rows = np.random.default_rng(0).normal(scale=1000, size=(1000, columns)).astype(kind)
    for X in (np.asfortranarray(rows), np.asfortranarray(rows)[::2], np.asfortranarray(rows)[5:]):
        table, _, _ = read_table(X)
        assert table.values.flags.c_contiguous
        assert np.array_equal(table.values, X)


@pytest.mark.parametrize("depth", [2, 100, 3000])
def test_lists_within_lists_are_refused_however_deep(depth):
    deep = [0]
    for _ in range(depth):
        deep = [deep]
    online = linsep.OnlinePerceptron().predict_then_learn
    for X, y in ((deep, [0]), ([[0], [1]], deep), ([[0], [1]], [deep, 1])):
        with pytest.raises(errors.InputError, match=r"holds|label is"):
            linsep.decide(X, y)
    with pytest.raises(errors.ShapeError):
        online(deep, 0)


def test_columns_whose_weights_do_not_fit_in_memory_are_refused_with_their_size(monkeypatch):
    monkeypatch.setattr(scaling, "free_memory", lambda: 10**9)
    X = sp.csr_array((np.ones(2), [0, 5], [0, 1, 2]), shape=(2, 10**8))
    for ask in (linsep.decide, linsep.mle_exists, linsep.PerceptronClassifier().fit):
        with pytest.raises(errors.OutOfMemoryError, match=r"100,000,000 columns .* GB of memory, and 1.0 GB are free"):
            ask(X, np.array([0, 1]))
