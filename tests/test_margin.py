"""The margin between certified bounds, and Novikoff's theorem with numbers."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

import linsep
import naive
from linsep.errors import ArgumentError, NotSeparableError
from linsep.sources.calls import CallSource


def separable_sets(count, seed=0, most_rows=7):
    rng = np.random.default_rng(seed)
    while count:
        d = int(rng.integers(1, 4))
        X = rng.integers(-6, 7, (int(rng.integers(2, most_rows + 1)), d)) / 2
        y = np.where(X @ rng.standard_normal(d) + rng.standard_normal() > 0, 1, -1)
        if len(set(y)) == 2:
            count -= 1
            yield X, y


@pytest.mark.slow
def test_the_interval_holds_the_exact_margin():
    for X, y in separable_sets(120):
        low, high = linsep.max_margin(X, y).margin
        exact = naive.max_margin_squared(X, y)
        assert Fraction(low) ** 2 <= exact <= Fraction(high) ** 2
        assert low >= high * (1 - 1e-6)


def test_gamma_squared_is_exact_where_it_is_given():
    given = 0
    for X, y in separable_sets(80, seed=2):
        verdict = linsep.max_margin(X, y)
        if verdict.gamma_squared is not None:
            given += 1
            assert verdict.gamma_squared == naive.max_margin_squared(X, y)
    assert given > 60


def test_the_hyperplane_shows_the_margin_it_claims():
    for X, y in separable_sets(20, seed=1):
        verdict = linsep.max_margin(X, y)
        assert verdict.halfspace.margin(X, y) == pytest.approx(verdict.margin[0], rel=1e-9)


def test_a_planted_margin_is_found():
    X, y = linsep.datasets.planted(20_000, 10, margin=0.01)
    low, high = linsep.max_margin(X, y, gap=1e-8).margin
    assert 0.01 * (1 - 1e-8) <= low <= high and high - low <= 1e-8 * high


@pytest.mark.parametrize("shift", [0.0, 1e3, 1e6])
def test_a_far_cloud_has_the_same_margin(shift):
    X, y = linsep.datasets.planted(3000, 4, margin=0.25, seed=2)
    X = np.round(X * 2**20) / 2**20
    near, far = linsep.max_margin(X, y).margin, linsep.max_margin(X + shift, y).margin
    assert far[0] == pytest.approx(near[0], rel=2e-6) and far[1] == pytest.approx(near[1], rel=2e-6)


def test_scaling_the_rows_scales_the_margin():
    X, y = linsep.datasets.planted(500, 3, margin=0.1, seed=5)
    one, many = linsep.max_margin(X, y).margin, linsep.max_margin(X * 2.0**40, y).margin
    assert many[0] == pytest.approx(one[0] * 2.0**40, rel=1e-6)


@pytest.mark.parametrize("power", [-1000, -530, 530, 1000])
def test_no_scale_is_too_large_or_too_small(power):
    X, y = linsep.datasets.planted(60, 3, margin=0.3)
    low, high = linsep.max_margin(X * 2.0**power, y).margin
    assert low * 2.0**-power == pytest.approx(0.3, rel=1e-6) == high * 2.0**-power


def test_a_margin_beyond_the_largest_double_has_no_upper_bound():
    verdict = linsep.max_margin([[1.7e308, 1.7e308], [-1.7e308, -1.7e308]], [1, 0])
    assert verdict.separable and (verdict.margin is None or verdict.margin[1] == np.inf)


@pytest.mark.parametrize("kind", ["sparse", "float32", "parts"])
def test_every_layout_gives_the_same_interval(kind):
    X, y = linsep.datasets.planted(900, 6, margin=0.1, seed=3, dtype=np.float32)
    expected = linsep.max_margin(X.astype(np.float64), y).margin
    if kind == "parts":
        found = linsep.max_margin(CallSource(lambda: [(X[:100], y[:100]), (X[100:], y[100:])])).margin
    else:
        found = linsep.max_margin(sp.csr_array(X) if kind == "sparse" else X, y).margin
    assert found == pytest.approx(expected, rel=1e-6)


def test_the_written_proof_of_a_margin_can_be_checked():
    X, y = linsep.datasets.planted(2000, 5, margin=0.05, seed=7)
    verdict = linsep.verdict_from_json(linsep.max_margin(X, y).to_json())
    verdict.verify(X, y)
    nearer = X.copy()
    nearer[verdict.nearest.rows[0]] *= 0.5
    with pytest.raises(linsep.CertificateError):
        verdict.verify(nearer, y)


def test_rows_without_a_margin_get_their_verdict():
    assert linsep.max_margin(*linsep.datasets.xor()).kind == "overlapping"
    assert linsep.max_margin([[0.0], [1], [1], [2]], [0, 0, 1, 1]).kind == "touching"
    with pytest.raises(NotSeparableError, match="overlapping") as refused:
        linsep.novikoff(*linsep.datasets.xor())
    assert refused.value.verdict.kind == "overlapping"


def test_a_margin_too_narrow_for_floats_is_still_separable():
    X = np.array([[0.0, 1.0], [0.0, 1.0 + 2.0**-52]])
    verdict = linsep.max_margin(X, [0, 1])
    assert verdict.separable
    assert verdict.margin is None or verdict.margin[0] <= 2.0**-53 <= verdict.margin[1]


@pytest.mark.parametrize("gap", [0, 1, -1e-3, float("nan")])
def test_a_gap_outside_its_range_is_refused(gap):
    with pytest.raises(ArgumentError, match="gap"):
        linsep.max_margin(*linsep.datasets.cornwell(), gap=gap)


@pytest.mark.parametrize("order", ["cyclic", "restart", "shuffled", "worst"])
def test_the_perceptron_keeps_to_the_bound(order):
    for X, y in separable_sets(25, seed=4):
        theory = linsep.novikoff(X, y)
        run = linsep.perceptron(X, y, order=order, random_state=0)
        assert run.converged and run.updates <= theory.bound[1]


def test_the_bound_through_the_origin_is_that_of_the_rows_as_they_are():
    theory = linsep.novikoff(*linsep.datasets.tao(), bias=False)
    assert theory.radius == pytest.approx((1, 1)) and theory.gamma == pytest.approx((0.5**0.5,) * 2)
    assert linsep.perceptron(*linsep.datasets.tao(), bias=False).updates == 2 == round(theory.bound[1])
    assert "at most 2 updates, in any order" in linsep.perceptron(*linsep.datasets.tao(), bias=False).explain(
        theory.bound[1]
    )


@pytest.mark.slow
def test_novikoffs_numbers_are_those_of_the_homogenised_rows():
    for X, y in separable_sets(30, seed=6, most_rows=4):
        theory = linsep.novikoff(X, y)
        Z = np.column_stack([X, np.ones(len(X))])
        assert theory.radius[0] <= np.sqrt((Z**2).sum(axis=1).max()) <= theory.radius[1]
        doubled = np.concatenate([Z * y[:, None], -Z * y[:, None]])  # through the origin: reflect, bias is useless
        exact = naive.max_margin_squared(doubled, np.repeat([1, -1], len(Z)))
        assert Fraction(theory.gamma[0]) ** 2 <= exact * (1 + Fraction(1, 10**12))
        assert exact * (1 - Fraction(1, 10**12)) <= Fraction(theory.gamma[1]) ** 2
        assert theory.gamma[0] >= theory.gamma[1] * (1 - 1e-6)
