"""What cannot be used is refused by name, with an error of our own, whatever it is and wherever it is handed over."""

from enum import Enum

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import linsep
from linsep import errors
from linsep.sources.calls import CallSource
from linsep.tables import read_exact, read_labels

HUGE = 10**5000
X, Y = [[0.0], [1.0]], [0, 1]


class Word(str, Enum):  # noqa: UP042 - the kind whose str() is its name
    AP = "ap"
    BE = "be"


# Rows ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [[[np.ma.masked]], np.array([[np.ma.masked]], object)])
def test_a_masked_cell_is_a_missing_value(rows):
    with pytest.raises(errors.MissingValueError, match="Row 0, column 0"):
        read_exact(rows)


@pytest.mark.parametrize(
    "table", [pa.table({"x1": [1, None]}), pl.DataFrame({"x1": [0.5, None]}), pl.DataFrame({"x1": [True, None]})]
)
def test_a_null_is_missing_and_not_nan(table):
    with pytest.raises(errors.MissingValueError, match="Row 1, column 'x1': the value is missing"):
        read_exact(table)


def test_a_column_with_a_name_is_not_said_to_be_counted_from_0():
    with pytest.raises(errors.NotFiniteError, match="Row 1, column 'x1' holds NaN: "):
        linsep.decide(pl.DataFrame({"x1": [0.0, np.nan]}), Y)


CLASSIFIERS = ("Perceptron", "KernelPerceptron", "MaxMargin", "FewestMistakes", "Regions")
MASKED = np.ma.masked_array([[0.0, 7.0], [1.0, 7.0]], [[0, 0], [0, 1]])


@pytest.mark.parametrize("name", CLASSIFIERS)
@pytest.mark.parametrize("rows", [MASKED, [*MASKED], MASKED.astype(int)], ids=["array", "list of arrays", "integers"])
def test_no_classifier_takes_the_mask_from_a_value(name, rows):
    made = getattr(linsep, f"{name}Classifier")
    with pytest.raises(errors.MissingValueError, match="Row 1, column 1"):
        made().fit(rows, Y)
    with pytest.raises(errors.MissingValueError, match="Row 1, column 1"):
        made().fit(MASKED.data, Y).predict(rows)


def test_no_score_takes_the_mask_from_a_label_or_a_weight():
    fitted, masked = linsep.PerceptronClassifier().fit(X, Y), np.ma.masked_array(Y, [0, 1])
    with pytest.raises(errors.MissingLabelError, match="Row 1"):
        fitted.score(X, masked)
    with pytest.raises(errors.ArgumentError, match="sample_weight has values that are masked"):
        fitted.score(X, Y, sample_weight=masked)


# Labels -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["S1", "c16", "M8[s]", "U1", "O", "f8"])
def test_no_labels_of_any_type_are_too_few(kind):
    with pytest.raises(errors.LengthError, match="y has 0 labels"):
        read_labels(np.array([], kind), 2)


def test_a_masked_label_is_missing():
    with pytest.raises(errors.MissingLabelError, match="Row 1: the label is missing"):
        read_labels([0, np.ma.masked])


@pytest.mark.parametrize("y", [[[[1], [1, 2]], [1]], [[1], [1, 2]], [[[1]], [[2]]]])
def test_lists_that_are_no_labels_are_refused(y):
    with pytest.raises(errors.InputError, match=r"Row \d: the label is"):
        read_labels(y)


@pytest.mark.parametrize("y", [{0, 1}, "01", {"a": 0}, 3, b"01"])
def test_what_is_no_list_of_labels_is_said_to_be_what_it_is(y):
    with pytest.raises(errors.LengthError, match=type(y).__name__):
        read_labels(y, 2)


def test_labels_may_come_as_a_matrix_of_one_column_or_a_batch():
    for y in (np.array([[0], [1]]).view(np.matrix), pa.record_batch({"y": Y}), memoryview(np.array(Y))):
        assert read_labels(y, 2).tolist() == Y


def test_a_label_that_is_text_and_a_member_of_an_enum_is_its_text():
    assert linsep.decide(X, [Word.AP, Word.BE]).labels == ("ap", "be")


@pytest.mark.parametrize("rows", [[[0], [1], [2]], [[0], [1], [0]], [[0], [0], [1]]])
def test_a_label_too_long_to_be_written_can_be_talked_about(rows):
    verdict = linsep.decide(rows, [0, HUGE, HUGE])
    for text in (repr(verdict), verdict.explain(rows, [0, HUGE, HUGE]), verdict._repr_html_()):
        assert "a very large number" in text


def test_labels_too_long_to_be_written_are_refused_in_words():
    with pytest.raises(errors.OneClassError, match="a very large number"):
        linsep.decide(X, [HUGE, HUGE])
    with pytest.raises(errors.ManyClassesError, match="a very large number"):
        linsep.decide([[0], [1], [2]], [0, 1, HUGE])
    with pytest.raises(errors.ArgumentError, match="a very large number"):
        linsep.Halfspace([1], 0, (0, HUGE)).signs([HUGE + 1])


# Arguments ----------------------------------------------------------------------------------------------------

ASKS = {
    "decide": linsep.decide,
    "novikoff": linsep.novikoff,
    "promises": linsep.theory.promises,
    "mle_exists": linsep.mle_exists,
    "perceptron": linsep.perceptron,
    "perceptron_steps": linsep.perceptron_steps,
}
FACES = {"max_margin": linsep.max_margin, "novikoff": linsep.novikoff}
TIMED = FACES | {"decide": linsep.decide, "promises": linsep.theory.promises, "mle_exists": linsep.mle_exists}


@pytest.mark.parametrize("value", [None, "no", 1.5, 2, 1, []])
@pytest.mark.parametrize("ask", ASKS.values(), ids=list(ASKS))
def test_bias_is_a_boolean(ask, value):
    with pytest.raises(errors.ArgumentError, match="bias is"):
        ask(X, Y, bias=value)


def test_a_boolean_of_numpy_is_one():
    assert linsep.decide([[0], [1]], Y, bias=np.False_).bias is False


@pytest.mark.parametrize("value", [-1, float("nan"), "1", True, pytest.param(-HUGE, id="huge")])
@pytest.mark.parametrize("ask", TIMED.values(), ids=list(TIMED))
def test_a_time_limit_is_a_number_of_seconds(ask, value):
    with pytest.raises(errors.ArgumentError, match="time_limit is"):
        ask(X, Y, time_limit=value)


@pytest.mark.parametrize("value", [-1, 0, 1, float("nan"), None, "0.5"])
@pytest.mark.parametrize("ask", FACES.values(), ids=list(FACES))
def test_a_gap_lies_between_0_and_1(ask, value):
    with pytest.raises(errors.ArgumentError, match="gap is"):
        ask(X, Y, gap=value)


@pytest.mark.parametrize("option", ["max_updates", "max_passes"])
@pytest.mark.parametrize("value", [0, -1, 1.5, "3", True, float("nan")])
def test_a_cap_is_a_whole_number(option, value):
    with pytest.raises(errors.ArgumentError, match=f"{option} is"):
        linsep.perceptron(X, Y, **{option: value})


def test_a_cap_beyond_every_run_is_none():
    assert linsep.perceptron(X, Y, max_updates=2**70, max_passes=2**70).converged


@pytest.mark.parametrize("value", [-1, 0.5, "a"])
def test_a_seed_is_a_whole_number(value):
    with pytest.raises(errors.ArgumentError, match="random_state is"):
        linsep.perceptron(X, Y, random_state=value)


def test_what_is_not_a_file_or_a_text_is_refused():
    with pytest.raises(errors.CertificateError, match="None"):
        linsep.verdict_from_json(None)
    with pytest.raises(errors.ArgumentError, match="None"):
        linsep.load(None)


@pytest.mark.parametrize("w", [[float("nan")], [1.0, float("inf")], np.array([-np.inf])])
def test_a_weight_that_is_not_finite_is_refused(w):
    with pytest.raises(errors.InputError, match=r"w\[\d\] is"):
        linsep.Halfspace(w)


@pytest.mark.parametrize("b", [float("inf"), float("nan"), "1", None])
def test_a_bias_that_is_not_finite_is_refused(b):
    with pytest.raises(errors.ArgumentError, match="b is"):
        linsep.Halfspace([1], b)


@pytest.mark.parametrize("names", [["a"], "ab", ["a", 1], 3])
def test_an_equation_needs_a_name_for_each_column(names):
    with pytest.raises(errors.ArgumentError):
        linsep.Halfspace([1, 2]).equation(names)


def test_onnx_has_no_label_beyond_64_bits():
    pytest.importorskip("onnx")
    with pytest.raises(errors.ArgumentError, match=str(2**70)):
        linsep.to_onnx(linsep.Halfspace([1], 0, (0, 2**70)))


@pytest.mark.parametrize("value", [2**53 + 1, 10**400])
def test_a_named_value_that_no_double_is_is_refused(value):
    with pytest.raises(errors.InexactError, match="column 'a' holds"):
        linsep.OnlinePerceptron(bits=10).predict_then_learn({"a": value}, "x")


# Sources made of functions ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parts", "options", "error"),
    [
        (None, {}, errors.ArgumentError),
        (lambda: [(X, [1, 1])], {}, errors.OneClassError),
        (lambda: [(X, [-1, 1])], {"columns": [1]}, errors.ArgumentError),
        (lambda: [(X, [-1, 1])], {"columns": []}, errors.ArgumentError),
        (lambda: [(X, [-1, 1])], {"columns": "a"}, errors.ArgumentError),
    ],
)
def test_a_function_that_makes_no_source_is_refused(parts, options, error):
    with pytest.raises(error):
        CallSource(parts, **options)


@pytest.mark.parametrize("ask", [linsep.decide, linsep.max_margin, linsep.mle_exists, linsep.fewest_mistakes])
def test_rows_and_labels_of_pandas_with_other_indices_are_not_joined_by_place(ask):
    X = pd.DataFrame({"x": [0.0, 1.0, 2.0, 3.0]}, index=[5, 6, 7, 8])
    y = pd.Series([0, 0, 1, 1], index=[5, 6, 7, 8])
    assert ask(X, y) is not None and ask(X, y.to_frame()) is not None and ask(X, y.tolist()) is not None
    with pytest.raises(errors.InputError, match="Row 0: X calls the row 5, and y calls it 8: their indices differ"):
        ask(X, y[::-1])
    with pytest.raises(errors.InputError, match="Row 2: X calls the row 7, and y calls it 9"):
        ask(X, y.rename({7: 9}))


def test_rows_called_nan_by_both_are_one_row():
    X = pd.DataFrame({"x": [0.0, 1.0]}, index=[1.0, np.nan])
    assert linsep.decide(X, pd.Series([0, 1], index=[1.0, np.nan])).kind == "separable"
