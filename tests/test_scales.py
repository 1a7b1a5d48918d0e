"""Margins, Novikoff's bound and scores at every scale that doubles have, against exact arithmetic."""

import math
import re
import time
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

import linsep
import naive
from linsep.errors import NotSeparableError
from linsep.halfspace import linear_scores

TINY, HUGE = 2.0**-1074, 1.7e308


def tables(count, seed, most_rows=5, most_columns=2):
    """Small tables whose rows, columns or whole are times a power of two, up to 2^1000 and down to 2^-1000."""
    rng = np.random.default_rng(seed)
    while count:
        n, d = int(rng.integers(2, most_rows + 1)), int(rng.integers(1, most_columns + 1))
        X = rng.integers(-6, 7, (n, d)) / 2
        y = np.where(X @ rng.standard_normal(d) + rng.standard_normal() > 0, 1, -1)
        if len(set(y.tolist())) == 2:
            count -= 1
            power = int(rng.choice([-1000, -700, -540, -300, 300, 511, 540, 700, 1000]))
            where = [np.s_[:, :], np.s_[:, rng.integers(d)], np.s_[rng.integers(n), :]][rng.integers(3)]
            X[where] = np.ldexp(X[where], power)
            yield X, y


def assert_interval_holds(X, y, verdict):
    exact = naive.max_margin_squared(X, y)
    assert verdict.separable == (exact > 0)
    if exact:
        low, high = verdict.margin
        assert Fraction(low) ** 2 <= exact and (math.isinf(high) or exact <= Fraction(high) ** 2)
        assert high <= low * (1 + 1e-6) + TINY
    verdict.verify(X, y)
    linsep.verdict_from_json(verdict.to_json()).verify(X, y)


def test_the_interval_holds_the_exact_margin_at_every_scale():
    for X, y in tables(60, seed=1):
        assert_interval_holds(X, y, linsep.max_margin(X, y))


def mixed(count, seed):
    """Small tables with columns times different powers of two, one of them beside a constant: 2^-600 with 1."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        n = int(rng.integers(2, 5))
        powers = rng.choice([-1060, -800, -600, -520, -300, 0, 400, 900], 3)
        X = np.ldexp(rng.integers(-2, 3, (n, 3)).astype(float), powers)
        X[:, rng.integers(3)] = 2.0 ** float(rng.choice([-600, 0, 900]))
        yield X, np.where(np.arange(n) % 2, 1, -1)


def test_a_small_column_beside_a_constant_has_its_margin():
    for power in (-300, -520, -600, -1070):
        verdict = linsep.max_margin([[2.0**power, 1.0], [0.0, 1.0]], [1, -1])
        assert verdict.margin == (2.0 ** (power - 1),) * 2


def test_columns_of_any_scale_beside_constants_have_their_exact_margin():
    for X, y in mixed(60, seed=7):
        assert_interval_holds(X, y, linsep.max_margin(X, y))


@pytest.mark.parametrize("bias", [True, False])
def test_columns_of_any_scale_beside_constants_have_novikoffs_bound(bias):
    for X, y in mixed(40, seed=8):
        radius2, gamma2 = naive.novikoff(X, y, bias)
        if gamma2:
            assert linsep.novikoff(X, y, bias=bias).most_updates + 1 >= radius2 / gamma2
        else:
            with pytest.raises(NotSeparableError):
                linsep.novikoff(X, y, bias=bias)


def test_sparse_rows_have_the_same_margin_at_every_scale():
    for X, y in tables(20, seed=2):
        assert linsep.max_margin(sp.csr_array(X), y).margin == pytest.approx(linsep.max_margin(X, y).margin, rel=1e-9)


@pytest.mark.parametrize("bias", [True, False])
def test_novikoffs_bound_holds_at_every_scale(bias):
    for X, y in tables(40, seed=3 + bias, most_rows=4):
        radius2, gamma2 = naive.novikoff(X, y, bias)
        if not gamma2:
            with pytest.raises(NotSeparableError):
                linsep.novikoff(X, y, bias=bias)
            continue
        theory = linsep.novikoff(X, y, bias=bias)
        exact = radius2 / gamma2
        assert exact <= theory.most_updates + 1 <= exact * (1 + Fraction(1, 10**6)) + 1
        assert theory.bound[0] <= exact <= theory.bound[1]
        assert Fraction(theory.gamma[0]) ** 2 <= gamma2
        assert math.isinf(theory.radius[1]) or radius2 <= Fraction(theory.radius[1]) ** 2


def test_where_exact_arithmetic_is_too_dear_the_bounds_still_hold(monkeypatch):
    monkeypatch.setattr("linsep.questions.margin.AFFORDABLE_ENTRIES", 0)
    for X, y in [*tables(60, seed=6), *mixed(30, seed=9)]:
        verdict, exact = linsep.max_margin(X, y), naive.max_margin_squared(X, y)
        assert verdict.separable == (exact > 0)
        if exact:
            low, high = verdict.margin
            assert Fraction(low) ** 2 <= exact and (math.isinf(high) or exact <= Fraction(high) ** 2)
            radius2, gamma2 = naive.novikoff(X, y)
            assert linsep.novikoff(X, y).most_updates + 1 >= radius2 / gamma2


@pytest.mark.parametrize("X", [[[TINY], [0.0]], [[HUGE], [-HUGE]], [[1e300], [1e-300]], [[TINY], [HUGE]]])
def test_the_smallest_and_the_largest_doubles_have_a_margin(X):
    began = time.perf_counter()
    assert_interval_holds(X, [1, -1], linsep.max_margin(X, [1, -1], time_limit=30))
    assert "updates, in any order" in linsep.novikoff(X, [1, -1]).explain()
    assert time.perf_counter() - began < 30


@pytest.mark.parametrize("dtype", [np.float32, np.int64])
def test_other_number_types_have_their_exact_margin(dtype):
    X = np.array([[0], [250]], dtype)
    assert linsep.max_margin(X, [0, 1]).margin == (125, 125)
    radius2, gamma2 = naive.novikoff(X, [-1, 1])
    assert linsep.novikoff(X, [0, 1]).most_updates == math.floor(radius2 / gamma2)


@pytest.mark.parametrize("scale", [2.0**-900, 2.0**900])
def test_a_larger_table_has_its_margin_at_every_scale(scale):
    X, y = linsep.datasets.planted(6000, 5, margin=0.1, seed=1)
    low, high = linsep.max_margin(X * scale, y).margin
    assert 0.1 * (1 - 1e-9) <= high / scale <= low / scale * (1 + 1e-6)
    assert linsep.perceptron(X, y).updates <= linsep.novikoff(X, y).most_updates


def test_a_bound_beyond_the_largest_double_is_an_exact_integer():
    theory = linsep.novikoff([[2e200], [1e200]], [1, -1])
    assert theory.bound[1] == math.inf and theory.most_updates > 10**400
    assert "e+401 updates" in theory.explain()


POWERS = [(1023, 1023), (-1070, -1070), (1023, -1070), (-600, -600), (600, 600), (600, 424)]


def exact_sides(X, w, b=0.0):
    scores = [naive.dot(row, naive.exact_rows([w])[0]) + Fraction(b) for row in naive.exact_rows(X)]
    return [(score > 0) - (score < 0) for score in scores]


@pytest.mark.parametrize(("of_weights", "of_rows"), POWERS)
def test_a_halfspace_has_every_row_on_its_exact_side(of_weights, of_rows):
    rng = np.random.default_rng(0)
    w, X = rng.choice([-1, 1], 3) * 2.0**of_weights, rng.choice([-1, 0, 1], (40, 3)) * 2.0**of_rows
    sides = exact_sides(X, w)
    halfspace = linsep.Halfspace(w, 0.0)
    for rows in (X, sp.csr_array(X)):
        assert np.sign(halfspace.score(rows)).tolist() == sides
        assert halfspace.predict(rows).tolist() == [1 if side > 0 else -1 for side in sides]
    far = np.array([0.5, 0.5, 1.0]) * 2.0**of_rows * np.sign(w)
    assert halfspace.margin([far], [1]) == pytest.approx(
        2 / 3**0.5 * 2.0**of_rows, rel=2.0**-4 if of_rows < -1022 else 1e-9
    )


def test_scores_within_the_range_are_those_of_numpy():
    X, y = linsep.datasets.planted(50, 4, seed=0)
    fitted = linsep.PerceptronClassifier(random_state=0).fit(X, y)
    assert (fitted.decision_function(X) == X @ fitted.coef_[0] + fitted.intercept_[0]).all()


@pytest.mark.parametrize("keep", ["last", "average", "best"])
def test_a_perceptron_has_rows_near_the_largest_double_on_their_side(keep):
    fitted = linsep.PerceptronClassifier(keep, random_state=0).fit([[1.0, 0.0], [0.0, 1.0]], [1, 0])
    X = np.array([[1e308, -1e308], [-1e308, 1e308], [1.7e308, 1.6e308], [1e308, 1.1e308]])
    sides = exact_sides(X, fitted.coef_[0], fitted.intercept_[0])
    assert fitted.predict(X).tolist() == [int(side > 0) for side in sides]
    assert np.sign(fitted.decision_function(X)).tolist() == sides


def test_of_many_classes_the_highest_score_stays_the_highest():
    fitted = linsep.PerceptronClassifier(order="cyclic").fit(np.eye(3) * 4, ["a", "b", "c"])
    assert fitted.predict(np.eye(3) * 1.7e308).tolist() == ["a", "b", "c"]
    assert np.isfinite(fitted.decision_function(np.eye(3) * 1.7e308)).all()


def test_the_votes_of_sums_that_overflow_are_refused():
    fitted = linsep.PerceptronClassifier("vote", random_state=0).fit([[10.0, 0.0], [0.0, 10.0]], [1, 0])
    with pytest.raises(linsep.LinsepError, match="beyond the largest double"):
        fitted.predict([[1.7e308, 1.7e308]])


@pytest.mark.parametrize("size", [1e-320, 1e-200, 1e200, 1.7e308])
def test_the_widest_margin_predicts_at_every_scale(size):
    X, y = np.array([[1.0, 0.0], [0.5, 0.5], [-1.0, 0.0]]) * size, [1, 1, 0]
    fitted = linsep.MaxMarginClassifier().fit(X, y)
    assert fitted.predict(X).tolist() == y and np.linalg.norm(fitted.coef_) == pytest.approx(1)


@pytest.mark.parametrize("options", [{"kernel": "poly"}, {"kernel": "linear"}, {"kernel": "rbf"}])
def test_kernel_values_that_overflow_are_refused(options):
    fitted = linsep.KernelPerceptronClassifier(**options, gamma=1.0).fit([[1.0], [-1.0]], [1, 0])
    if options["kernel"] == "rbf":
        assert np.isfinite(fitted.decision_function([[1e100]])).all()
        with pytest.raises(linsep.LinsepError, match="variance"):
            linsep.KernelPerceptronClassifier("rbf").fit([[1e308], [-1e308]], [1, 0])
    else:
        with pytest.raises(linsep.LinsepError, match="not finite"):
            linsep.KernelPerceptronClassifier(**options, gamma=1.0).fit([[1e308], [-1e308]], [1, 0])


def test_an_online_perceptron_predicts_near_the_largest_double():
    model = linsep.OnlinePerceptron([0, 1], keep="last")
    model.predict_then_learn([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]], [1, 0, 1])
    assert model.predict([[1.7e308, 1e308], [1e308, 1.7e308]]) == [1, 0]


@pytest.mark.parametrize("keep", ["last", "average"])
def test_weights_that_overflow_while_they_are_learned_are_an_error(keep):
    with pytest.raises(linsep.LinsepError, match="beyond the largest double"):
        linsep.OnlinePerceptron([0, 1], keep=keep).predict_then_learn([[1e308, 1.0], [1e308, 1.0]] * 4, [0, 1] * 4)
    with pytest.raises(linsep.LinsepError, match="beyond the largest"):
        linsep.PerceptronClassifier(keep, order="cyclic").fit([[1e308, 1.0], [1e308, 2.0], [1e308, 1.5]], [0, 1, 0])


LEARNERS = [
    linsep.perceptron,
    linsep.perceptron_steps,
    lambda X, y, bias: linsep.PerceptronClassifier(bias=bias).fit(X, y),
    lambda X, y, bias: linsep.PerceptronClassifier(bias=bias).partial_fit(X, y, classes=[1, -1]),
    lambda X, y, bias: linsep.OnlinePerceptron(bias=bias).predict_then_learn(X, y),
]


@pytest.mark.parametrize("learn", LEARNERS)
@pytest.mark.parametrize("size", [5e-324, 1e-300, 1e-200])
@pytest.mark.parametrize("bias", [True, False])
def test_rows_whose_scores_vanish_are_refused(learn, size, bias):
    for X in ([[size], [-size]], sp.csr_array([[0.0, size], [size, 0.0]])):
        with pytest.raises(linsep.errors.UnderflowedError, match=r"scores vanish.*power of two"):
            learn(X, [1, -1], bias=bias)


def test_short_rows_beside_a_long_one_are_learned_from():
    assert linsep.perceptron([[1e-300, 0.0], [0.0, 1.0]], [1, -1], max_updates=9).updates
    stream = linsep.OnlinePerceptron([0, 1], bias=False).predict_then_learn
    assert stream([[1.0], [1e-300]], [1, 1]) and stream([[0.0]], [1])


def test_the_shortest_rows_that_are_learned_from_need_no_more_updates_than_others():
    for size in (1e-144, 1.0, 1e150):
        assert linsep.perceptron([[size], [-size]], [1, -1], bias=False).updates == 1


def test_a_search_that_takes_long_ends_at_its_limit():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((900, 2500))
    y = np.where(X[:, 0] + 0.1 * rng.standard_normal(900) > 0, 1, -1)
    linsep.max_margin(X[:20], y[:20])
    began = time.perf_counter()
    verdict = linsep.max_margin(X, y, time_limit=0.3)
    assert verdict.kind in ("separable", "undecided") and time.perf_counter() - began < 5


def test_memory_that_is_not_there_is_refused_before_it_is_taken(monkeypatch):
    monkeypatch.setattr("linsep.solvers.scaling.free_memory", lambda: 10**4)
    monkeypatch.setattr("linsep.solvers.scaling.ALWAYS_THERE", 0)
    X, y = linsep.datasets.planted(2000, 30, margin=0.01)
    for question in (linsep.max_margin, linsep.novikoff):
        with pytest.raises(linsep.LinsepError, match=r"rows of 31 columns .* GB of memory") as refused:
            question(X, y)
        assert refused.value.code == "E-MEMORY"


def test_the_command_line_states_a_bound_beyond_doubles(tmp_path, capsys):
    from linsep.cli import main

    (tmp_path / "d.csv").write_text("x,y\n2e200,1\n1e200,0\n")
    assert main(["margin", str(tmp_path / "d.csv"), "--label", "y"]) == 0
    assert re.search(r"makes at most .* = 3\.6\d*e\+401 updates", capsys.readouterr().out)


def cancelling(rng, n, d, dtype):
    """Rows, weights and a bias whose products cancel nearly or altogether."""
    X = rng.standard_normal((n, d)).astype(dtype)
    w = rng.standard_normal(d).astype(dtype)
    X[:, -1] = -(X[:, :-1].astype(float) @ w[:-1].astype(float)) / w[-1]
    return X * dtype(2) ** rng.integers(-40, 40, (n, 1)).astype(dtype), w


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_scores_that_cancel_have_the_sign_of_the_exact_score(dtype):
    rng = np.random.default_rng(3)
    for d in (2, 3, 17):
        X, w = cancelling(rng, 60, d, dtype)
        sides = exact_sides(X.astype(float), w.astype(float))
        for rows, known in ((X, sides), (X[::-1], sides[::-1]), (X[7:8], sides[7:8]), (sp.csr_array(X), sides)):
            scores = linear_scores(rows, w[None], np.zeros(1, dtype))[:, 0]
            assert np.sign(scores).tolist() == known


def test_of_scores_that_only_rounding_makes_equal_the_highest_is_the_highest():
    rng = np.random.default_rng(4)
    X, w = cancelling(rng, 40, 5, np.float64)
    W = np.stack([np.zeros(5), w, -w])
    sides = exact_sides(X, w)
    highest = linear_scores(X, W, np.zeros(3)).argmax(axis=1)
    assert highest.tolist() == [{1: 1, -1: 2, 0: 0}[side] for side in sides]
