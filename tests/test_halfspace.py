"""The geometry of the lectures."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

import linsep
from linsep import Halfspace, homogenise
from linsep.errors import ArgumentError


@pytest.mark.parametrize(
    ("w", "b", "points"),
    [((4, 2), 0, [(1, -2), (-3, 6)]), ((4, 2), -1, [(0, 0.5), (1, -1.5)]), ((1, 1), 1, [(0, -1), (-4, 3)])],
)
def test_the_boundaries_of_the_lectures(w, b, points):
    """Wang: x2 = -2·x1 and x2 = 0.5 - 2·x1; Cornwell: x + y + 1 = 0."""
    assert Halfspace(w, b).score(points).tolist() == [0, 0]


def test_the_two_sides_of_cornwells_line():
    line = Halfspace([1, 1], 1)
    assert line.predict([[0, 0], [-1, -1]]).tolist() == [1, -1]


def test_a_score_of_zero_is_negative_unless_told_otherwise_and_a_mistake_always():
    line = Halfspace([1.0], 0.0)
    assert line.predict([[0.0]]).tolist() == [-1] and line.predict([[0.0]], at_zero=1).tolist() == [1]
    assert line.mistakes([[0.0], [0.0]], [1, -1]) == 2
    with pytest.raises(ArgumentError, match="at_zero is 0"):
        line.predict([[0.0]], at_zero=0)


def test_distance_through_the_origin_and_with_an_offset():
    assert Halfspace([3, 4]).distance([[1, 1]]).tolist() == [1.4]
    assert Halfspace([3, 4], -2).distance([[1, 1], [0, 0]]).tolist() == [1.0, 0.4]


def test_margin_of_a_row_and_of_a_set():
    line, X, y = Halfspace([0, 2], -2), [[0, 3], [5, 0], [1, 2]], [1, -1, 1]
    assert line.margins(X, y).tolist() == [2, 1, 1]
    assert line.margin(X, y) == 1 and line.margin(X, [-1, -1, 1]) == -2


def test_training_error_is_the_mean_of_the_01_loss():
    line = Halfspace([1], 0, labels=("no", "yes"))
    assert line.error([[1], [2], [-1], [3]], ["yes", "no", "no", "yes"]) == 0.25


def test_labels_come_back_as_the_user_wrote_them():
    X, y = [[0.0], [1.0]], np.array(["ham", "spam"])
    assert linsep.perceptron(X, y).halfspace.predict(X).tolist() == ["ham", "spam"]
    with pytest.raises(ArgumentError, match="Row 1: the label is 'eggs'"):
        linsep.perceptron(X, y).halfspace.signs(["ham", "eggs"])


def test_problem_1_in_d_is_problem_2_in_d_plus_1():
    X, y = linsep.datasets.cornwell()
    through_origin = linsep.perceptron(homogenise(X), y, bias=False).halfspace
    lifted = Halfspace.from_homogeneous(through_origin.w)
    assert lifted == linsep.perceptron(X, y).halfspace
    assert lifted.homogeneous.tolist() == [4, -0.5, 1]
    assert np.array_equal(homogenise(X) @ lifted.homogeneous, lifted.score(X))


@pytest.mark.parametrize(
    ("w", "b", "text"),
    [((4, -0.5), 1, "4·x1 - 0.5·x2 + 1 = 0"), ((-1, 0, 2), 0, "-x1 + 2·x3 = 0"), ((0, 0), 0, "0 = 0"),
     ((0, 0), -3, "-3 = 0"), ((0, -1), 0.25, "-x2 + 0.25 = 0")],
)  # fmt: skip
def test_equations_read_as_people_write_them(w, b, text):
    assert Halfspace(w, b).equation() == text


def test_an_equation_can_name_its_columns():
    assert Halfspace([1, 2], 0).equation(["age", "dose"]) == "age + 2·dose = 0"


def test_sparse_rows_score_like_dense_ones():
    X = np.array([[1.0, 0.0], [0.0, 2.0]])
    assert Halfspace([3, 4], 5).score(sp.csr_array(X)).tolist() == Halfspace([3, 4], 5).score(X).tolist() == [8, 13]


def test_a_halfspace_is_a_value():
    w = np.array([1.0, 2.0])
    line = Halfspace(w, 1)
    w[0] = 9
    assert line.w.tolist() == [1, 2] and line == Halfspace([1.0, 2.0], 1) and line != Halfspace([1.0, 2.0], 2)
    assert hash(line) == hash(Halfspace([1.0, 2.0], 1))
    with pytest.raises(ValueError, match="read-only"):
        line.w[0] = 3


def test_integer_scores_do_not_wrap_around():
    big = Halfspace(np.array([2**40, 1]), 0)
    assert big.score(np.array([[2**40, 1]])).tolist() == [2**80 + 1]
    assert big.predict(np.array([[2**40, 0], [-(2**40), 0]])).tolist() == [1, -1]
    assert big.predict(sp.csr_array(np.array([[2**40, 0], [-(2**40), 0]]))).tolist() == [1, -1]


@pytest.mark.parametrize(
    ("halfspace", "row", "side"),
    [
        (Halfspace([-(2.0**30), 2.0**-30], 2.0**30), [1.0, 2.0**-500], 1),
        (Halfspace([0.1, 0.1]), [-0.1, 0.1], -1),
        (Halfspace([0.1, 0.2, -0.3]), [1.0, 1.0, 1.0], 1),
        (Halfspace(np.array([2**53 + 1, -1]), 0), [1.0, 2.0**53], 1),
        (Halfspace([1.0], 2**53 + 1), [-(2.0**53)], 1),
    ],
)
def test_a_row_is_on_its_exact_side_whatever_cancels(halfspace, row, side):
    products = (Fraction(w) * Fraction(x) for w, x in zip(halfspace.w.tolist(), row, strict=True))
    exact = sum(products, Fraction(halfspace.b))
    assert side == (1 if exact > 0 else -1)
    for rows in ([row], [row] * 2, [row] * 9, sp.csr_array([row] * 3)):
        assert set(halfspace.predict(rows).tolist()) == {side}
        assert set(np.sign(halfspace.score(rows)).tolist()) == {(exact > 0) - (exact < 0)}


def test_distances_of_any_size_are_those_of_exact_arithmetic():
    assert Halfspace([2.0], 0).distance([[1.7e308]]).tolist() == [1.7e308]
    assert Halfspace([2.0], 0).distance([[5e-324], [0.0]]).tolist() == [5e-324, 0.0]
    assert Halfspace([0.5], 1.7e308).distance([[-1.7e308]]).tolist() == [1.7e308]
    assert Halfspace([2.0**1000, 2.0**-100]).margins([[0.0, 2.0**900]], [1]).tolist() == [2.0**-200]
    assert Halfspace([2**62], 0).distance([[2**62]]).tolist() == [2.0**62]
