"""Losses and their slopes; descent on the perceptron loss, one row at a time, is the Perceptron."""

from itertools import islice, pairwise

import numpy as np
import pytest
import scipy.sparse as sp

import linsep
from linsep import losses
from linsep.datasets import cornwell, planted, tao, wang, xor
from linsep.errors import ArgumentError, NotFiniteError

SCORES = np.linspace(-5, 5, 201)
SURROGATES = (losses.perceptron, losses.hinge, losses.logistic)
each_surrogate = pytest.mark.parametrize("loss", SURROGATES, ids=lambda loss: loss.name)


def changes(X, y, bias, steps):
    """The weights after each step that changed them."""
    zero = losses.Descended(np.zeros(np.shape(X)[1]), 0.0)
    made = [zero, *islice(losses.descend(X, y, loss=losses.perceptron, rows=1, bias=bias), steps)]
    return [after for before, after in pairwise(made) if (after.w != before.w).any() or after.b != before.b]


def perceptron_is_descent(X, y, bias):
    run = linsep.perceptron(X, y, bias=bias)
    expected = list(linsep.perceptron_steps(X, y, bias=bias))
    found = changes(X, y, bias, run.passes * len(X))
    assert len(found) == len(expected) > 0
    assert all((f.w == e.w).all() and f.b == e.b for f, e in zip(found, expected, strict=True))


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("data", [cornwell, tao, wang], ids=lambda data: data.__name__)
def test_descent_on_the_perceptron_loss_is_the_perceptron_in_the_lectures(data, bias):
    if linsep.decide(*data(), bias=bias).separable:
        perceptron_is_descent(*data(), bias)


@pytest.mark.parametrize("seed", range(10))
def test_descent_on_the_perceptron_loss_is_the_perceptron_on_random_integers(seed):
    X = np.random.default_rng(seed).integers(-20, 21, (40, 3))
    perceptron_is_descent(X, np.where(X @ [2, -3, 1] + 5 > 0, 1, -1), True)


def test_on_xor_it_goes_round_for_ever_as_the_perceptron_does():
    expected = linsep.perceptron_steps(*xor(), max_updates=50)
    assert all((f.w == e.w).all() for f, e in zip(changes(*xor(), True, 60), expected, strict=False))


@each_surrogate
def test_a_slope_is_that_of_a_line_below_the_loss(loss):
    line = loss(SCORES)[:, None] + loss.slope(SCORES)[:, None] * (SCORES - SCORES[:, None])
    assert (line <= loss(SCORES) + 1e-12).all()
    assert np.abs(loss.slope(SCORES)).max() > 0.9


def test_hinge_and_logistic_are_never_below_0_1_and_the_perceptron_loss_is():
    assert (losses.hinge(SCORES) >= losses.zero_one(SCORES)).all()
    assert (losses.logistic(SCORES) >= losses.zero_one(SCORES)).all()
    assert (losses.perceptron(SCORES) < losses.zero_one(SCORES)).any()


def test_a_score_of_0_is_a_mistake_to_every_loss():
    assert [float(loss(0.0)) for loss in (losses.zero_one, *SURROGATES)] == [1, 0, 1, 1]
    assert [float(loss.slope(np.array(0.0))) < 0 for loss in SURROGATES] == [True] * 3


def test_the_logistic_loss_neither_overflows_nor_vanishes_too_soon():
    with np.errstate(over="raise"):
        far = np.array([-1e300, -1e4, 1e4])
        assert losses.logistic(far).tolist() == pytest.approx([1e300 / np.log(2), 1e4 / np.log(2), 0])
        assert losses.logistic.slope(far).tolist() == pytest.approx([-1 / np.log(2), -1 / np.log(2), 0])


@each_surrogate
@pytest.mark.parametrize("rows", [None, 7])
def test_a_step_goes_down_the_mean_slope_of_its_rows(loss, rows):
    X, y = planted(30, 3, flipped=5, seed=1)
    one, two = islice(losses.descend(X, y, loss=loss, step=0.1, rows=rows), 2)
    part = slice(0, 30) if rows is None else slice(7, 14)
    slope = loss.slope(y[part] * (X[part] @ one.w + one.b)) * y[part]
    assert two.w == pytest.approx(one.w - 0.1 * (slope[:, None] * X[part]).mean(axis=0))
    assert two.b == pytest.approx(one.b - 0.1 * slope.mean())


def test_short_steps_on_all_rows_lower_the_logistic_loss_every_time():
    X, y = planted(60, 3, flipped=6, seed=2)
    steps = islice(losses.descend(X, y, loss=losses.logistic, step=0.3), 100)
    means = [losses.logistic(y * (X @ step.w + step.b)).mean() for step in steps]
    assert all(after < before for before, after in pairwise(means))


def test_sparse_rows_and_any_two_labels_descend_alike():
    X, y = planted(20, 4, seed=3)
    dense = next(losses.descend(X, y, loss=losses.hinge))
    sparse = next(losses.descend(sp.csr_array(X), np.where(y > 0, "yes", "no"), loss=losses.hinge))
    assert dense.w == pytest.approx(sparse.w) and dense.b == sparse.b


def test_without_a_bias_there_is_none():
    assert [step.b for step in islice(losses.descend(*cornwell(), loss=losses.logistic, bias=False), 3)] == [0, 0, 0]


@pytest.mark.parametrize("options", [{"step": 0}, {"rows": 0}, {"bias": 1}])
def test_wrong_options_are_refused_before_the_first_step(options):
    with pytest.raises(ArgumentError):
        losses.descend(*cornwell(), loss=losses.hinge, **options)


def test_rows_that_are_not_finite_are_refused():
    with pytest.raises(NotFiniteError):
        losses.descend([[1.0], [np.nan]], [0, 1], loss=losses.hinge)
