"""The margin in the space of the rows: the same intervals as in the space of the columns, and none of its size."""

import time
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

import linsep
import naive
from linsep.errors import NotSeparableError, OutOfMemoryError
from linsep.loops import pairs, supports
from linsep.proofs import margin_checks
from linsep.questions import margin as margin_module
from linsep.solvers import scaling
from linsep.sources.calls import CallSource
from linsep.sources.inputs import as_source
from strategies import random_small


@pytest.fixture
def by_rows(monkeypatch):
    """Few columns, too, go the way of many; nothing is solved exactly."""
    monkeypatch.setattr(margin_module, "VERY_WIDE", 0)
    monkeypatch.setattr(margin_module, "AFFORDABLE_ENTRIES", 0)
    monkeypatch.setattr(margin_checks, "FEW_CELLS", 0)


def holds(margin, squared, gap=1e-6):
    low, high = margin
    return Fraction(low) ** 2 <= squared <= Fraction(high) ** 2 and low >= high * (1 - gap)


def wide(seed=0, n=60, d=400):
    """Any labels separate fewer rows than columns."""
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)), np.where(rng.random(n) > 0.5, 1, -1)


@pytest.mark.parametrize("seed", range(10))
def test_the_interval_holds_the_exact_margin(seed, by_rows):
    rng = np.random.default_rng(seed)
    for layout in (np.asarray, sp.csr_array):
        d = int(rng.integers(1, 4))
        X = rng.integers(-6, 7, (6, d)) / 2
        y = np.where(np.arange(6) < 3, 1, -1)
        verdict = linsep.max_margin(layout(X), y)
        assert verdict.kind == naive.decide(X, y)
        assert verdict.kind != "separable" or holds(verdict.margin, naive.max_margin_squared(X, y))


@pytest.mark.parametrize("seed", range(10))
def test_degenerate_rows_get_their_verdict_and_no_false_bound(seed, by_rows):
    rng = np.random.default_rng(50 + seed)
    for _ in range(3):
        X, y, _ = random_small(rng)
        verdict = linsep.max_margin(X, y)
        assert verdict.kind == naive.decide(X, y)
        if verdict.kind == "separable" and verdict.margin is not None and len(X) <= 6:  # the oracle takes its time
            squared, (low, high) = naive.max_margin_squared(X, y), verdict.margin
            assert Fraction(low) ** 2 <= squared and (np.isinf(high) or squared <= Fraction(high) ** 2)


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array, lambda X: X.astype(np.float32)])
def test_rows_and_columns_give_the_same_margin(layout, monkeypatch):
    X, y = wide()
    rows = layout(X.astype(np.float32).astype(np.float64))
    found = linsep.max_margin(rows, y).margin
    monkeypatch.setattr(margin_module, "WIDE", 10**9)
    assert found == pytest.approx(linsep.max_margin(rows, y).margin, rel=1e-6)
    assert found[0] >= found[1] * (1 - 1e-6)


@pytest.mark.parametrize("bias", [True, False])
def test_novikoffs_gamma_is_the_same_in_both_spaces(bias, monkeypatch):
    X, y = wide(1)
    found = linsep.novikoff(X, y, bias=bias)
    monkeypatch.setattr(margin_module, "WIDE", 10**9)
    other = linsep.novikoff(X, y, bias=bias)
    assert found.gamma == pytest.approx(other.gamma, rel=1e-6)
    assert found.gamma[0] >= found.gamma[1] * (1 - 1e-6)


def test_more_rows_than_are_looked_at_first_are_added(monkeypatch):
    monkeypatch.setattr("linsep.solvers.wide.row_margin.FIRST", 20)
    X, y = linsep.datasets.planted(2000, 300, margin=0.05)
    low, high = linsep.max_margin(X, y).margin
    assert 0.05 <= low <= high <= low * (1 + 2e-6)


def test_of_too_many_rows_the_farthest_leave(monkeypatch):
    monkeypatch.setattr("linsep.solvers.wide.row_margin.FIRST", 50)
    monkeypatch.setattr("linsep.solvers.wide.row_margin.MOST", 400)
    X, y = linsep.datasets.planted(2000, 300, margin=0.05)
    low, high = linsep.max_margin(X, y).margin
    assert high <= low * (1 + 2e-6)


def test_nothing_has_the_size_of_columns_squared():
    X = sp.random_array((150, 300_000), density=1e-4, rng=np.random.default_rng(0), format="csr")
    verdict = linsep.max_margin(X, np.arange(150) % 2)
    assert verdict.margin[0] >= verdict.margin[1] * (1 - 1e-6)
    verdict.verify(X, np.arange(150) % 2)


@pytest.mark.parametrize("shift", [1e3, 1e6])
def test_a_far_cloud_has_the_same_margin(shift):
    X, y = wide(2)
    X = np.round(X * 2**20) / 2**20
    here, there = linsep.max_margin(X, y).margin, linsep.max_margin(X + shift, y).margin
    assert there == pytest.approx(here, rel=1e-6)


@pytest.mark.parametrize("power", [-600, -100, 100, 600])
def test_no_scale_is_too_large_or_too_small(power):
    X, y = wide(3)
    low, high = linsep.max_margin(X, y).margin
    assert linsep.max_margin(np.ldexp(X, power), y).margin == pytest.approx(np.ldexp([low, high], power), rel=1e-6)


def test_repeated_rows_change_nothing():
    X, y = wide(4)
    once, thrice = linsep.max_margin(X, y), linsep.max_margin(np.repeat(X, 3, axis=0), np.repeat(y, 3))
    assert thrice.margin == pytest.approx(once.margin, rel=1e-6)


def test_integers_and_empty_rows_have_a_margin():
    X = np.zeros((30, 400), np.int8)
    X[:20, :20] = np.eye(20)
    y = np.arange(30) < 20
    dense, sparse = linsep.max_margin(X, y).margin, linsep.max_margin(sp.csr_array(X), y).margin
    assert dense == pytest.approx(sparse) and dense[0] == pytest.approx(20**-0.5 / 2)


def test_one_row_of_each_class_is_half_a_distance():
    X = np.zeros((2, 500))
    X[0, 0], X[1, 1] = 3, 4
    assert linsep.max_margin(X, [0, 1]).margin == (2.5, 2.5)


def test_rows_without_a_margin_get_their_verdict():
    X, y = wide(5)
    X, y = np.vstack([X, X[:1]]), np.append(y, -y[0])
    verdict = linsep.max_margin(X, y)
    assert verdict.separable is False
    with pytest.raises(NotSeparableError):
        linsep.novikoff(X, y)


def test_the_classes_may_change_their_names():
    X, y = wide(6)
    assert linsep.max_margin(X, y).margin == pytest.approx(linsep.max_margin(X, -y).margin, rel=1e-9)


def test_the_same_rows_give_the_same_proof():
    X, y = linsep.datasets.planted(500, 300, margin=0.01)
    one, other = linsep.max_margin(X, y), linsep.max_margin(X, y)
    assert one.weights == other.weights and one.nearest == other.nearest


def test_rows_in_parts_have_the_margin_of_the_whole():
    X, y = wide(7)
    source = CallSource(lambda: ((X[k : k + 20], y[k : k + 20]) for k in (0, 20, 40)))
    assert linsep.max_margin(source).margin == pytest.approx(linsep.max_margin(X, y).margin, rel=1e-6)


def test_when_the_time_ends_what_is_known_is_an_interval_or_nothing():
    X, y = linsep.datasets.planted(6000, 1500, margin=1e-3)
    linsep.max_margin(X[:100], y[:100])  # compiled
    for limit in (0.0, 0.2, 1.0):
        began = time.perf_counter()
        verdict = linsep.max_margin(X, y, time_limit=limit)
        assert verdict.kind in ("separable", "undecided")
        assert time.perf_counter() - began < limit + 2.0  # on a busy machine


def test_an_interval_that_the_time_cut_short_is_proved(monkeypatch):
    X, y = wide(8)
    monkeypatch.setattr("linsep.solvers.wide.row_margin.RowSearch._solve", _out_of_time)
    verdict = linsep.max_margin(X, y)
    low, high = verdict.margin
    assert 0 < low < high < np.inf
    verdict.verify(X, y)


def test_a_separator_is_kept_when_the_time_ends_before_the_search_begins(monkeypatch):
    X, y = wide(8)
    monkeypatch.setattr("linsep.solvers.wide.row_margin.RowSearch._looked_at", _out_of_time)
    monkeypatch.setattr(margin_module, "decided", None)
    verdict = linsep.max_margin(X, y)
    low, high = verdict.margin
    assert 0 < low < high < np.inf
    verdict.verify(X, y)
    assert linsep.novikoff(X, y).most_updates > 0


def _out_of_time(*_):
    raise margin_module.OutOfTime


def test_what_does_not_fit_into_memory_says_how_much_it_would_take(monkeypatch):
    X, y = wide(9, 300, 10_000)
    monkeypatch.setattr(scaling, "free_memory", lambda: 50_000_000)
    with pytest.raises(OutOfMemoryError, match=r"0\.1 GB of memory, and 0\.1 GB are free"):
        linsep.max_margin(X, y)


def test_a_bound_in_floats_is_never_below_the_exact_one(monkeypatch):
    monkeypatch.setattr(margin_checks, "FEW_CELLS", 0)
    monkeypatch.setattr(margin_checks, "EXACT_CELLS", 0)
    rng = np.random.default_rng(0)
    for _ in range(60):
        X = rng.standard_normal((9, 5)) * 10.0 ** rng.integers(-8, 9, (9, 1)) + 10.0 ** rng.integers(0, 9)
        source, weights = as_source(X, np.arange(9) % 2), [int(2**e) for e in rng.integers(0, 50, 9)]
        for bias in (True, False, None):
            bound = margin_checks.float_ceiling(source, range(9), weights, bias)
            assert Fraction(bound) ** 2 >= margin_checks.squared_ceiling(source, range(9), weights, bias)


def test_the_estimator_fits_more_columns_than_memory_has_squares_of():
    X = sp.random_array((60, 100_000), density=1e-3, rng=np.random.default_rng(1), format="csr")
    y = np.arange(60) % 2
    assert linsep.MaxMarginClassifier().fit(X, y).score(X, y) == 1.0


def equalised(Z, group):
    """The weights of the nearest points, one row at a time from the first row of each group."""
    gram, u = Z @ Z.T, np.zeros(len(Z))
    u[[int(np.argmax(group == k)) for k in set(group)]] = 1.0
    most = min(len(Z), Z.shape[1] + 2)
    support, factor, constant = np.zeros(most, np.int64), np.zeros((most, most)), float(gram.diagonal().max())
    size = supports.begin(gram, group, constant, np.flatnonzero(u), u, support, factor)
    is_done, _ = supports.settle(gram, group, constant, u, support, size, factor, 1000)
    assert is_done
    return u


@pytest.mark.parametrize("groups", [1, 2])
def test_one_row_at_a_time_finds_the_nearest_points_of_any_rows(groups):
    rng = np.random.default_rng(groups)
    for trial in range(60):
        n, d = int(rng.integers(4, 30)), int(rng.integers(1, 12))
        Z = 3 + (rng.standard_normal((n, d)) if trial % 2 else rng.integers(-2, 3, (n, d)))  # many depend on others
        group = np.arange(n) % groups
        u = equalised(Z, group)
        g = Z @ (Z.T @ u)
        assert u.min() >= 0 and np.allclose(np.bincount(group, u), 1)
        assert sum(g[group == k].min() for k in range(groups)) == pytest.approx(u @ g, abs=1e-9)


def test_pairs_come_as_near_as_they_are_asked_to():
    rng = np.random.default_rng(0)
    Z, group = rng.standard_normal((40, 200)), np.arange(40) % 2
    gram, u = Z @ Z.T, np.zeros(40)
    u[:2] = 1.0
    g = gram @ u
    is_done, moves = pairs.move_weight(gram, group, u, g, 1e-6, 100_000)
    best = equalised(Z, group)
    assert is_done and moves > 0 and u @ gram @ u == pytest.approx(best @ gram @ best, rel=1e-5)


@pytest.mark.parametrize("gap", [1e-3, 1e-6, 1e-9])
@pytest.mark.parametrize("is_random", [False, True])
def test_rows_of_both_classes_that_nearly_coincide_have_a_tight_margin(gap, is_random):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 300))
    rows = np.vstack([X, X + gap * (rng.standard_normal(X.shape) if is_random else 1.0)])
    y = np.repeat([0, 1], 40)
    ends = [linsep.max_margin(rows, labels).margin for labels in (y, 1 - y)]
    assert all(0 < low <= high <= low * (1 + 1e-6) for low, high in ends)
    assert ends[0] == pytest.approx(ends[1], rel=1e-6)


def test_the_homogeneous_margin_of_such_rows_is_tight_too():
    X = np.random.default_rng(0).standard_normal((40, 300))
    low, high = linsep.novikoff(np.vstack([X, X + 1e-6]), np.repeat([0, 1], 40)).gamma
    assert 0 < low <= high <= low * (1 + 1e-5)
