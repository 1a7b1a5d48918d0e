"""What cannot be used is refused by name, with an error of our own, whatever it is and wherever it is handed over."""

from enum import Enum

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import linsep
from linsep import errors
from linsep.tables import read_exact, read_labels

HUGE = 10**5000
X, Y = [[0.0], [1.0]], [0, 1]


class Word(str, Enum):  # noqa: UP042 - the kind whose str() is its name
    AP = "ap"
    BE = "be"


# Rows ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [[[np.ma.masked]], np.array([[np.ma.masked]], object)])
def test_a_masked_cell_is_a_missing_value(rows):
    with pytest.raises(errors.MissingValueError, match="row 0, column 0"):
        read_exact(rows)


@pytest.mark.parametrize(
    "table", [pa.table({"x1": [1, None]}), pl.DataFrame({"x1": [0.5, None]}), pl.DataFrame({"x1": [True, None]})]
)
def test_a_null_is_missing_and_not_nan(table):
    with pytest.raises(errors.MissingValueError, match="row 1, column 'x1' is missing"):
        read_exact(table)


def test_a_column_with_a_name_is_not_said_to_be_counted_from_0():
    with pytest.raises(errors.NotFiniteError, match=r"in row 1, column 'x1'\. "):
        linsep.decide([[0.0], [np.nan]], Y)


# Labels -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["S1", "c16", "M8[s]", "U1", "O", "f8"])
def test_no_labels_of_any_type_are_too_few(kind):
    with pytest.raises(errors.LengthError, match="y has 0 labels"):
        read_labels(np.array([], kind), 2)


def test_a_masked_label_is_missing():
    with pytest.raises(errors.MissingLabelError, match="row 1 is missing"):
        read_labels([0, np.ma.masked])


@pytest.mark.parametrize("y", [[[[1], [1, 2]], [1]], [[1], [1, 2]], [[[1]], [[2]]]])
def test_lists_that_are_no_labels_are_refused(y):
    with pytest.raises(errors.InputError, match="label of row"):
        read_labels(y)


@pytest.mark.parametrize("y", [{0, 1}, "01", pl.LazyFrame({"y": Y}), {"a": 0}, 3, b"01"])
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
