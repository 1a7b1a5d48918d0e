"""Values as other libraries and programs write them: each is read as the number or label it is, or refused by place.

What is true is said by Fractions of the values themselves; nothing of linsep takes part in it.
"""

import datetime
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
import scipy.sparse as sp

import linsep
import naive
from linsep import checker, errors
from linsep.cli import main
from linsep.on_files import in_memory
from linsep.plots.scene import Subject
from linsep.sources.inputs import as_source
from linsep.tables import read_exact

LONG = 2**53
NUMBERS = [1, 2, 3, 0]
LABELS = [0, 1, 0, 1]


def numbers(X):
    """What linsep reads, as Fractions."""
    table = read_exact(X)
    values = table.values.toarray() if sp.issparse(table.values) else table.values
    scales = table.scales or [1] * values.shape[1]
    return [[Fraction(cell) / scale for cell, scale in zip(row, scales, strict=True)] for row in values.tolist()]


def fractions(rows):
    return [[Fraction(value) for value in row] for row in rows]


def kind_of(rows, labels):
    return naive.decide(fractions(rows), [1 if label == max(labels) else -1 for label in labels])


def thousands(bits):
    """A column of decimals that are written in hundreds."""
    kind = {32: pa.decimal32, 64: pa.decimal64, 128: pa.decimal128, 256: pa.decimal256}[bits](6, -2)
    return pa.array([Decimal(number * 1000) for number in NUMBERS], kind)


# Tables in memory -----------------------------------------------------------------------------------------------------

ROWS = [[1, 0], [2, 5], [3, 1], [0, 4]]
FORMATS = ("csc", "coo", "bsr", "dia", "lil", "dok")
AS_THEY_ARE = {
    "big-endian": lambda: np.array(ROWS, ">f4"),
    "long doubles": lambda: np.array(ROWS, "g"),
    "half floats": lambda: np.array(ROWS, "f2"),
    "a matrix": lambda: np.matrix(ROWS),
    "nothing masked": lambda: np.ma.array(ROWS),
    "turned strides": lambda: np.array(ROWS)[::-1, ::-1].copy()[::-1, ::-1],
    "Fortran order": lambda: np.asfortranarray(np.array(ROWS, float)),
    "not aligned": lambda: np.ndarray((4, 2), np.int64, b"x" + np.array(ROWS).tobytes(), 1),
    "objects of NumPy": lambda: np.array([[np.int8(a), np.float32(b)] for a, b in ROWS], object),
    "zero-dimensional cells": lambda: [[np.array(a), np.array(float(b))] for a, b in ROWS],
    "rows of series": lambda: [pd.Series(row) for row in ROWS],
    "nullable": lambda: pd.DataFrame(ROWS).astype("UInt64"),
    "Arrow in pandas": lambda: pd.DataFrame(ROWS).astype("halffloat[pyarrow]"),
    "sparse columns": lambda: pd.DataFrame({"a": pd.arrays.SparseArray([1, 2, 3, 0], fill_value=3), "b": [0, 5, 1, 4]}),
    "names of two levels": lambda: pd.DataFrame(ROWS, columns=pd.MultiIndex.from_tuples([("a", 1), ("a", 2)])),
    "128 bits": lambda: pl.DataFrame(ROWS, orient="row", schema=["a", "b"]).cast(pl.Int128),
    "a slice of Arrow": lambda: pa.table({"a": [9, 1, 2, 3, 0], "b": [9, 0, 5, 1, 4]}).slice(1),
    "sparse objects by columns": lambda: of_objects(sp.csc_array(np.array(ROWS)), [1, 2.0, 3, 5, Decimal(1), 4]),
    "sparse objects": lambda: of_objects(sp.csr_array(np.array(ROWS)), [1, 2.0, 5, np.int8(3), True, Fraction(4)]),
    "a lying flag": lambda: unsorted(),
    **{form: lambda form=form: getattr(sp, f"{form}_array")(np.array(ROWS, np.uint8)) for form in FORMATS},
}  # fmt: skip


def of_objects(matrix, entries):
    matrix.data = np.fromiter(entries, object, len(entries))
    return matrix


def unsorted():
    matrix = sp.csr_array((np.array([1, 5, 2, 3, 1, 4]), [0, 1, 0, 0, 1, 1], [0, 1, 3, 5, 6]), shape=(4, 2))
    matrix.has_canonical_format = True
    return matrix


@pytest.mark.filterwarnings("ignore:the matrix subclass")
@pytest.mark.parametrize("name", AS_THEY_ARE)
def test_a_table_of_any_library_is_read_as_it_is(name):
    assert numbers(AS_THEY_ARE[name]()) == fractions(ROWS)
    assert linsep.decide(AS_THEY_ARE[name](), LABELS).kind == kind_of(ROWS, LABELS)


def test_a_boolean_is_0_or_1_whatever_its_byte():
    strange = np.array([[2, 0], [1, 1], [0, 3]], np.uint8).view(bool)
    assert numbers(strange) == numbers(sp.csr_array(strange)) == [[1, 0], [1, 1], [0, 1]]


@pytest.mark.parametrize("frame", [pa.table, pd.DataFrame])
def test_decimals_of_thousands_are_read_exactly(frame):
    column = thousands(128)
    table = frame({"a": column if frame is pa.table else pd.array(column, pd.ArrowDtype(column.type))})
    assert numbers(table) == [[1000 * number] for number in NUMBERS]


def test_entries_of_64_bits_without_a_sign_are_read_where_doubles_hold_them():
    assert numbers(sp.csr_array(np.array([[2**63], [1]], np.uint64))) == [[2**63], [1]]
    with pytest.raises(errors.InexactError, match="Row 0, column 0"):
        linsep.decide(sp.csr_array(np.array([[2**63 + 1], [1]], np.uint64)), [0, 1])


@pytest.mark.parametrize("again", [0, 1], ids=["once", "twice"])
@pytest.mark.parametrize("wrong", ["2", None, Fraction(1, 3), Decimal("1e999999"), 1j])
def test_an_object_in_a_sparse_matrix_that_is_no_double_is_refused_by_its_place(wrong, again):
    matrix = sp.csr_array(([1.0, 2.0, 3.0], [0, again, 1], [0, 1, 3, 3]), shape=(3, 2))
    with pytest.raises(errors.InputError, match="Row 1, column 1"):
        linsep.decide(of_objects(matrix, [1, 3, wrong]), [0, 1, 0])


@pytest.mark.parametrize(
    "table",
    [
        np.ma.array(ROWS, mask=np.array(ROWS) == 5),
        list(np.ma.array(ROWS, mask=np.array(ROWS) == 5)),
        np.array(ROWS, "M8[D]"),
        np.array(ROWS, complex),
        np.array([tuple(row) for row in ROWS], [("a", int), ("b", int)]),
        pd.DataFrame(ROWS).astype("Int64").mask(lambda frame: frame == 5),
        pd.DataFrame({"a": pd.Categorical(NUMBERS)}),
        pd.DataFrame({"a": pd.date_range("2020", periods=4, tz="UTC")}),
        pl.DataFrame({"a": [datetime.timedelta(number) for number in NUMBERS]}),
        pa.table({"a": pa.DictionaryArray.from_arrays(pa.array([0, 1, 0, 1]), pa.array([1, None]))}),
        pa.table({"a": pa.array([b"1"] * 4, pa.binary_view())}),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_is_not_a_table_of_numbers_is_refused(table):
    with pytest.raises(errors.InputError):
        linsep.decide(table, LABELS)


# Labels in memory -----------------------------------------------------------------------------------------------------

LONG_LABELS = [LONG, LONG + 1, LONG, 5]


@pytest.mark.parametrize("kind", ["Int64", "int64[pyarrow]", "UInt64", "int64", object])
def test_a_classifier_keeps_long_labels_of_any_library_apart(kind):
    model = linsep.PerceptronClassifier(random_state=0).fit(np.eye(4), pd.Series(LONG_LABELS, dtype=kind))
    assert model.classes_.tolist() == [5, LONG, LONG + 1]
    assert set(model.predict(np.eye(4)).tolist()) <= set(LONG_LABELS)


@pytest.mark.parametrize(
    "labels",
    [
        np.array(list("abab"), np.dtypes.StringDType()),
        [Decimal(1), Decimal(2), 1, np.float32(2)],
        pa.array(list("abab"), pa.string_view()),
        pl.Series(list("abab"), dtype=pl.Enum(["b", "a"])),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_classifier_takes_the_labels_that_a_verdict_takes(labels):
    X = np.array([[0.0], [1.0], [0.0], [1.0]])
    model = linsep.PerceptronClassifier("last", random_state=0).fit(X, labels)
    found, classes = linsep.decide(X, labels).labels, model.classes_.tolist()
    assert found == (("b", "a") if isinstance(labels, pl.Series) else tuple(classes))  # an Enum has an order of its own
    assert sorted(found) == classes and model.converged_  # which scikit-learn does not keep


def test_texts_that_end_in_nul_are_classes_of_their_own():
    assert linsep.PerceptronClassifier().fit(np.eye(2), ["a", "a\0"]).classes_.tolist() == ["a", "a\0"]


def test_labels_that_numpy_would_round_stay_apart_in_memory():
    _, labels = in_memory(as_source([[0.0], [1.0]], [0.5, LONG + 1]))
    assert labels.tolist() == [0.5, LONG + 1]


# Columns of Arrow files -----------------------------------------------------------------------------------------------


def arrow_file(folder, **columns):
    pa.feather.write_feather(pa.table(columns), str(folder / "a.feather"), compression="uncompressed")
    return folder / "a.feather"


@pytest.mark.parametrize("bits", [32, 64, 128, 256])
def test_decimals_of_every_width_and_scale_are_integers_where_they_are(bits, tmp_path):
    whole = thousands(bits).cast(pa.decimal128(6, 0))
    short = pa.decimal32(6, 0) if bits == 32 else whole.type
    path = arrow_file(tmp_path, a=thousands(bits), b=pa.array(whole.to_pylist(), short), y=LABELS)
    values = linsep.open(path, label="y").take(range(4)).values
    assert values.tolist() == [[1000 * number, 1000 * number] for number in NUMBERS]


@pytest.mark.parametrize("kind", [pa.decimal128(30, -4), pa.decimal256(50, 0), pa.decimal256(50, -2)])
def test_a_decimal_beyond_64_bits_is_never_wrapped_around(kind, tmp_path):
    column = pa.array([Decimal(2**64 * 10**4), Decimal(0)], kind)
    with pytest.raises(errors.InexactError, match="row 0, column 'a'"):
        linsep.open(arrow_file(tmp_path, a=column, y=[0, 1]), label="y")


WITH_NULL = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2]), pa.array(["a", None, "b"]))


def test_a_null_inside_a_dictionary_is_missing(tmp_path):
    path = arrow_file(tmp_path, a=WITH_NULL, b=[1, 2, 3], y=[0, 1, 0])
    with pytest.raises(errors.MissingValueError, match="row 1, column 'a'"):
        linsep.open(path, label="y", categories="all")
    with pytest.raises(errors.MissingLabelError, match="row 1, column 'a'"):
        linsep.open(path, label="a", columns=["b"])


def test_a_row_with_a_null_inside_its_dictionary_is_rejected(tmp_path):
    path = arrow_file(tmp_path, a=WITH_NULL, y=[0, 1, 1])
    source = linsep.open(path, label="y", categories="all", reject=str(tmp_path / "rejects.csv"))
    assert source.take([0, 1]).values.tolist() == [[1, 0], [0, 1]]


TEXTS = {
    "large_string": pa.array(["a", "b", "a"], pa.large_string()),
    "string_view": pa.array(["a", "b", "a"], pa.string_view()),
    "dictionary": pa.array(["a", "b", "a"]).dictionary_encode(),
    "repeating dictionary": pa.DictionaryArray.from_arrays(pa.array([0, 1, 2]), pa.array(["a", "b", "a"])),
    "dictionary of views": pa.DictionaryArray.from_arrays(pa.array([0, 1, 0]), pa.array(["a", "b"], pa.string_view())),
}


@pytest.mark.parametrize("column", TEXTS.values(), ids=TEXTS)
def test_text_of_every_arrow_type_is_a_label_and_a_category(column, tmp_path):
    path = arrow_file(tmp_path, a=column, y=column)
    block = linsep.open(path, label="y", categories="all").take(range(3))
    assert block.values.tolist() == [[1, 0], [0, 1], [1, 0]] and block.y.tolist() == [-1, 1, -1]


# Files of arrays and of text ------------------------------------------------------------------------------------------


def test_booleans_of_a_numpy_file_are_0_or_1_whatever_their_bytes(tmp_path):
    np.save(tmp_path / "a.npy", np.array([[2, 0, 1], [1, 1, 0], [0, 3, 3]], np.uint8).view(bool))
    block = linsep.open(tmp_path / "a.npy", label=-1).take(range(3))
    assert block.values.tolist() == [[1, 0], [1, 1], [0, 1]] and block.y.tolist() == [1, -1, 1]


@pytest.mark.parametrize("kind", ["<f2", ">f2", ">f4", ">i8", "?", "g"])
def test_entries_of_a_sparse_archive_are_read_in_every_type(kind, tmp_path):
    matrix = sp.csr_array(np.array([[1, 0], [0, 1], [1, 1]]))
    parts = {"data": matrix.data.astype(kind), "indices": matrix.indices, "indptr": matrix.indptr, "shape": (3, 2)}
    np.savez(tmp_path / "a.npz", **parts, y=[0, 1, 0])
    assert linsep.open(tmp_path / "a.npz").take(range(3)).values.toarray().tolist() == matrix.toarray().tolist()


ODD = ["+-1", "1e0x1", "1e0x10", "0x10", "1_000", "１", "١", "1d5", "0x1p3", "1e+", "1/2", "−1", "1e５", "+-.5", "1.5."]


@pytest.mark.parametrize("numbers", ["binary64", "decimal"])
@pytest.mark.parametrize("cell", ODD)
def test_a_cell_that_another_library_takes_for_a_number_is_refused(cell, numbers, tmp_path):
    (tmp_path / "a.csv").write_text(f"x,y\n1,0\n{cell},1\n", "utf-8")
    with pytest.raises(errors.NotNumericError, match=r"row 1 \(line 3\), column 'x'"):
        linsep.open(tmp_path / "a.csv", label="y", numbers=numbers)


PLAIN = {"+1": 1, "1.": 1, ".5": 0.5, "1e5": 100_000, "-0": 0, "+.5e1": 5, "007": 7, " 1\t": 1, "1E+2": 100}


@pytest.mark.parametrize("numbers", ["binary64", "decimal"])
@pytest.mark.parametrize("cell", PLAIN)
def test_a_number_may_be_written_in_every_plain_way(cell, numbers, tmp_path):
    (tmp_path / "a.csv").write_text(f"x,y\n3,0\n{cell},1\n")
    source = linsep.open(tmp_path / "a.csv", label="y", numbers=numbers)
    assert Fraction(source.take([1]).values[0, 0]) / (source.facts.scales or (1,))[0] == Fraction(PLAIN[cell])


@pytest.mark.parametrize("label", ["1.00000000000000000001", "0.99999999999999999999", "0.10000000000000000001"])
def test_a_label_of_svmlight_with_more_digits_than_a_double_has_is_refused(label, tmp_path):
    (tmp_path / "a.svm").write_text(f"1 1:1\n{label} 1:2\n0.1 1:3\n")
    with pytest.raises(errors.InexactError, match=r"row 1 \(line 2\): the label"):
        linsep.open(tmp_path / "a.svm")


def test_long_labels_of_svmlight_that_doubles_tell_apart_are_read(tmp_path):
    (tmp_path / "a.svm").write_text("0.30000000000000004 1:1\n0.3 1:2\n")
    assert linsep.open(tmp_path / "a.svm").facts.labels == (0.3, 0.30000000000000004)


@pytest.mark.parametrize("margin", [10**400, Fraction(1, 10**400), Fraction(-1, 10**400), np.nan, "1", None, True, 1j])
def test_a_margin_that_no_double_is_near_is_refused(margin):
    with pytest.raises(errors.ArgumentError, match="margin is"):
        linsep.PerceptronClassifier(margin=margin).fit(np.eye(2), [0, 1])


@pytest.mark.parametrize("name", ["gamma", "degree", "coef0"])
@pytest.mark.parametrize("value", [10**400, np.inf, "x", None, 1j, True])
def test_an_option_of_a_kernel_that_is_not_a_double_is_refused(name, value):
    with pytest.raises(errors.ArgumentError, match=f"{name} is"):
        linsep.KernelPerceptronClassifier("poly", **{name: value}).fit(np.eye(2), [0, 1])


# "Separated" ----------------------------------------------------------------------------------------------------------

NEAR = [2.0**53 + 2, -(2.0**53) - 2, -0.5, -1.0, 1.5]  # the sum is 0; floats in the order of the loop say more


def mistakes(X, labels, w, b):
    """The rows that are not strictly on their sides, by Fractions."""
    scores = [sum((Fraction(x) * Fraction(c) for x, c in zip(row, w, strict=True)), Fraction(b)) for row in X.tolist()]
    return [row for row, (score, label) in enumerate(zip(scores, labels, strict=True)) if (2 * label - 1) * score <= 0]


@pytest.mark.parametrize("layout", [np.array, sp.csr_array])
@pytest.mark.parametrize("order", ["cyclic", "restart", "shuffled", "worst"])
def test_a_run_that_says_separated_has_every_row_on_its_side_exactly(order, layout):
    X = np.array([[1.0] * 5, NEAR, [-1.0] * 5])
    run = linsep.perceptron(layout(X), [1, 1, 0], bias=False, order=order, random_state=0, max_updates=50)
    assert run.converged and mistakes(X, [1, 1, 0], run.halfspace.w.tolist(), run.halfspace.b) == []
    assert run.mistakes_per_row.sum() == run.updates


def test_the_steps_of_a_run_name_a_mistake_that_rounding_hides():
    steps = list(
        linsep.perceptron_steps(np.array([[1.0] * 5, NEAR, [-1.0] * 5]), [1, 1, 0], bias=False, max_updates=50)
    )
    assert (steps[1].row, steps[1].score) == (1, 0.0)
    assert [step.update for step in steps] == list(range(1, len(steps) + 1))


@pytest.mark.parametrize("seed", range(20))
def test_runs_in_floats_that_say_separated_are_right_by_fractions(seed):
    random = np.random.default_rng(seed)
    for _ in range(20):
        X = random.choice([NEAR[0], NEAR[1], 1.0, -1.0, 0.5, -1.5, 0.1, 1 / 3], (3, 5))
        run = linsep.perceptron(X, [0, 1, 1], bias=bool(seed % 2), max_updates=50)
        assert not run.converged or not mistakes(X, [0, 1, 1], run.halfspace.w.tolist(), run.halfspace.b)


def test_a_classifier_whose_rounded_weights_err_has_not_converged():
    tiny = 2.0**-30
    X, y = np.array([[-1, 1], [-tiny, -tiny]], np.float32), [0, 1]
    model = linsep.PerceptronClassifier("last", order="cyclic", bias=False).fit(X, y)
    assert not model.converged_ and model.predict(X).tolist() != y
    assert linsep.PerceptronClassifier("last", order="cyclic", bias=False).fit(X.astype(float), y).converged_


@pytest.mark.parametrize("keep", ["last", "best"])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_a_classifier_that_has_converged_makes_no_mistake_on_its_rows(keep, kind):
    random = np.random.default_rng(0)
    for _ in range(200):
        X = random.choice([0, 1, -1, 2.0**-30, -(2.0**-30)], (3, 2)).astype(kind)
        model = linsep.PerceptronClassifier(keep, order="cyclic", bias=False).fit(X, [0, 1, 1])
        assert not model.converged_ or model.predict(X).tolist() == [0, 1, 1]


def test_a_picture_of_a_vote_counts_the_mistakes_of_the_ballot():
    X, y = linsep.datasets.xor()
    model = linsep.PerceptronClassifier("vote", order="cyclic", max_passes=3).fit(X, y)
    found = Subject.of(as_source(X, y), None, model, True)
    assert found.halfspace is None and found.mistakes == np.count_nonzero(model.predict(X) != y)


def test_a_label_with_more_digits_than_its_double_is_another_label(tmp_path):
    near = "0.10000000000000000001"
    (tmp_path / "d.csv").write_text("a,y\n1,0.1\n2,0.2\n3,0.1\n")
    verdict = linsep.decide(linsep.open(tmp_path / "d.csv", label="y"))
    (tmp_path / "p.json").write_text(verdict.to_json())
    (tmp_path / "d.csv").write_text(f"a,y\n1,0.1\n2,0.2\n3,{near}\n")
    assert main(["verify", str(tmp_path / "p.json"), str(tmp_path / "d.csv")]) == 1
    assert checker.main([str(tmp_path / "p.json"), str(tmp_path / "d.csv")]) == 1
    (tmp_path / "d.csv").write_text(f"a,y\n1,{near}\n2,0.2\n")
    source = linsep.open(tmp_path / "d.csv", label="y")
    assert source.facts.labels == (near, "0.2")
    linsep.decide(source).verify(source)
