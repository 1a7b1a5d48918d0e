"""Peeling against its definition, and lifted weights against every row in exact arithmetic."""

from fractions import Fraction
from itertools import pairwise
from time import perf_counter

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings

from linsep import datasets
from linsep.solvers import peel as module
from linsep.solvers.peel import lift, peel
from linsep.sources.base import Facts
from linsep.sources.calls import CallSource
from linsep.sources.inputs import read_table
from linsep.sources.memory import MemorySource
from linsep.sources.row_set import Marks
from strategies import EXTREMES, LARGEST, SMALLEST, data_sets

# The slow obvious version --------------------------------------------------------------------------


def signed_rows(X, y, bias):
    """Rows y·(x, 1), or y·x, of fractions."""
    table = X.toarray() if sp.issparse(X) else np.asarray(X)
    rows = zip(table.tolist(), np.asarray(y).tolist(), strict=True)
    return [[label * Fraction(x) for x in [*row, 1][: len(row) + bias]] for row, label in rows]


def naive_peel(Z):
    """[(columns, signs, rows)] of all rounds, the rows left and the columns they touch."""
    left, levels = list(range(len(Z))), []
    while True:
        pure = {}
        for j in range(len(Z[0])):
            signs = {1 if Z[i][j] > 0 else -1 for i in left if Z[i][j]}
            if len(signs) == 1:
                pure[j] = signs.pop()
        if not pure:
            return levels, left, [j for j in range(len(Z[0])) if any(Z[i][j] for i in left)]
        gone = [i for i in left if any(Z[i][j] for j in pure)]
        levels.append((list(pure), list(pure.values()), gone))
        left = [i for i in left if i not in gone]


# Sources in every shape ----------------------------------------------------------------------------


def dense(X, y):
    table, n_columns, _ = read_table(np.asarray(X))
    return MemorySource(table, np.asarray(y, np.int8), Facts(len(y), n_columns))


def sparse(X, y):
    table, n_columns, _ = read_table(sp.csr_array(X))
    return MemorySource(table, np.asarray(y, np.int8), Facts(len(y), n_columns))


class Parts(CallSource):
    """Rows in parts; peeling does not ask for two classes."""

    def _require_two_classes(self, seen):
        pass


def in_parts(X, y):
    X, cuts = np.asarray(X), [*range(0, len(y), 3), len(y)]
    return Parts(lambda: [(X[a:b], y[a:b]) for a, b in pairwise(cuts)])


def in_sparse_parts(X, y):
    X, cuts = sp.csr_array(X), [*range(0, len(y), 3), len(y)]
    return Parts(lambda: [(X[a:b], y[a:b]) for a, b in pairwise(cuts)])


LAYOUTS = [dense, sparse, in_parts, in_sparse_parts]


def listed(rows):
    return rows.rows().tolist() if isinstance(rows, Marks) else rows.tolist()


def as_lists(peeling, n_rows):
    levels = [(v.columns.tolist(), v.signs.tolist(), listed(v.rows)) for v in peeling.levels]
    return levels, list(range(n_rows)) if peeling.rest is None else listed(peeling.rest), peeling.columns.tolist()


def random_table(rng):
    """Small integers, mostly zeros, so that several rounds are common."""
    n, d = rng.integers(2, 14), rng.integers(1, 9)
    X = rng.integers(-3, 4, (n, d)) * (rng.random((n, d)) < rng.choice([0.15, 0.3, 0.6]))
    return X, rng.choice([-1, 1], n), bool(rng.random() < 0.5)


def extreme_table(rng):
    X, y, bias = random_table(rng)
    return np.array(EXTREMES)[X + len(EXTREMES) // 2], y, bias


def dot(z, w):
    return sum((a * b for a, b in zip(z, w, strict=True)), Fraction(0))


def scores(Z, lifted, bias):
    weights, bias_weight = lifted
    assert all(type(w) is int for w in (*weights, bias_weight))
    return [dot(z, [*weights, bias_weight][: len(weights) + bias]) for z in Z]


def check_weak_separator(X, y, bias, source):
    """Zero weights lift to a vector that is zero on the rest and positive on every peeled row."""
    peeling = peel(source, bias=bias)
    found = scores(signed_rows(X, y, bias), lift(source, peeling, [0] * source.n_columns, 0), bias)
    rest = set(range(len(y)) if peeling.rest is None else listed(peeling.rest))
    assert all(score == 0 if i in rest else score > 0 for i, score in enumerate(found))
    return peeling


# ---------------------------------------------------------------------------------------------------


@pytest.fixture(params=[0, 4, 1 << 16])
def rows_at_hand(request, monkeypatch):
    """Parts that are walked anew for every round, gathered near the end, or gathered at once."""
    monkeypatch.setattr(module, "AT_HAND", request.param)


@pytest.mark.slow
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.usefixtures("rows_at_hand")
def test_peeling_is_what_its_definition_says(layout):
    rng, most = np.random.default_rng(1), 0
    for _ in range(300):
        X, y, bias = random_table(rng)
        levels, rest, columns = naive_peel(signed_rows(X, y, bias))
        peeling = peel(layout(X, y), bias=bias)
        assert as_lists(peeling, len(y)) == (levels, rest, [j for j in columns if j < X.shape[1]])
        assert (peeling.rest is None) == (not levels)
        most = max(most, len(levels))
    assert most >= 4


@pytest.mark.slow
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("table", [random_table, extreme_table])
@pytest.mark.usefixtures("rows_at_hand")
def test_lifted_zeros_separate_every_peeled_row_and_vanish_on_the_rest(layout, table):
    rng, rounds = np.random.default_rng(2), set()
    for _ in range(200):
        X, y, bias = table(rng)
        rounds.add(len(check_weak_separator(X, y, bias, layout(X, y)).levels))
    assert {0, 1, 2, 3} <= rounds


@given(data_sets(max_rows=7, max_columns=5))
@settings(max_examples=200, deadline=None)
def test_lifted_zeros_separate_on_degenerate_data(data):
    X, y, bias = data
    for layout in (dense, sparse):
        check_weak_separator(X, y, bias, layout(X, y))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("size", [1, 10**6, 10**40, 10**400])
def test_weights_of_the_rest_lift_to_weights_of_all_rows(layout, size):
    # the rest, (a, b) with a + b > 0 or < 0, is separated by (1, 1); the other rows want the opposite
    rest = [([5, -3], 1), ([-3, 5], 1), ([3, -5], -1), ([-5, 3], -1)]
    peeled = [([-LARGEST, -1], SMALLEST), ([-7, -7], 2.0**-1022), ([-1, -1], LARGEST), ([1e-300, 1], 3)]
    X = np.array([[0, *x] for x, _ in rest] + [[purity, *x] for x, purity in peeled])
    y = np.array([label for _, label in rest] + [1] * len(peeled))
    source = layout(X, y)
    peeling = peel(source, bias=False)
    assert peeling.rest.tolist() == [0, 1, 2, 3]
    lifted = lift(source, peeling, [99, size, size], 0)
    assert lifted[0][1:] == (size, size)
    assert all(score > 0 for score in scores(signed_rows(X, y, False), lifted, False))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_mixed_columns_peel_nothing(layout):
    X, y = np.random.default_rng(3).normal(size=(40, 5)), np.tile([-1, 1], 20)
    peeling = peel(layout(X, y), bias=True)
    assert peeling.levels == () and peeling.rest is None and peeling.columns.tolist() == [0, 1, 2, 3, 4]
    assert lift(layout(X, y), peeling, [1, 2, 3, 4, 5], 6) == ((1, 2, 3, 4, 5), 6)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_bias_peels_the_class_that_is_left_alone(layout):
    X, y = np.array([[1, 0, 0], [1, 2, 0], [0, 3, 0], [0, -3, 0], [0, 0, 0]]), [1, 1, -1, -1, -1]
    with_bias, without = peel(layout(X, y), bias=True), peel(layout(X, y), bias=False)
    assert as_lists(with_bias, 5) == ([([0], [1], [0, 1]), ([3], [-1], [2, 3, 4])], [], [])
    assert as_lists(without, 5) == ([([0], [1], [0, 1])], [2, 3, 4], [1])
    assert scores(signed_rows(X, y, True), lift(layout(X, y), with_bias, [0] * 3, 0), True) == [1, 1, 1, 1, 1]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_minus_zero_and_stored_zeros_are_zeros(layout):
    X, y = np.array([[-0.0, 1.0], [0.0, -1.0], [2.0, 1.0]]), [1, 1, 1]
    assert as_lists(peel(layout(X, y), bias=False), 3) == ([([0], [1], [2])], [0, 1], [1])
    stored = sp.csr_array((X.ravel(), np.tile([0, 1], 3), [0, 2, 4, 6]), shape=(3, 2))
    assert as_lists(peel(sparse(stored, y), bias=False), 3)[0] == [([0], [1], [2])]


@pytest.mark.parametrize("layout", [dense, sparse])
def test_the_smallest_integer_has_a_sign(layout):
    X, y = np.array([[-(2**63), 1], [2**63 - 1, -1], [0, 1]]), [-1, 1, 1]
    assert check_weak_separator(X, y, False, layout(X, y)).levels[0].columns.tolist() == [0]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_chain_peels_one_row_a_round_and_its_weights_leave_the_doubles(layout):
    # row i is e_i - 2^20·e_(i+1): the weights must grow by 2^20 from each round to the one before it
    n = 70
    X = np.eye(n, n + 1) - 2.0**20 * np.eye(n, n + 1, k=1)
    X = np.vstack([X, -2 * X[1:]])[:, :n]
    y = np.array([1] * n + [-1] * (n - 1))
    peeling = check_weak_separator(X, y, False, layout(X, y))
    assert len(peeling.levels) >= n and peeling.rest.size == 0
    lifted, _ = lift(layout(X, y), peeling, [0] * n, 0)
    assert max(abs(w) for w in lifted) > 2**1024


def test_hundreds_of_rounds_on_many_rows_are_fast():
    n, rounds = 100_000, 500
    level = np.arange(n) * rounds // n
    X = sp.csr_array((np.ones(n), (np.arange(n), level)), (n, rounds + 1))
    X = X - sp.csr_array((np.ones(n), (np.arange(n), level + 1)), (n, rounds + 1))
    source = sparse(X, np.ones(n))
    lift(source, peel(source, bias=False), [0] * (rounds + 1), 0)  # compiled
    start = perf_counter()
    peeling = peel(source, bias=False)
    lifted, _ = lift(source, peeling, [0] * (rounds + 1), 0)
    assert perf_counter() - start < 2
    assert peeling.rest.size == 0 and np.all(np.diff([lifted[j] for j in range(rounds + 1)]) < 0)


@pytest.mark.parametrize("is_sorted", [False, True])
def test_dense_rows_are_left_as_soon_as_all_columns_are_mixed(is_sorted):
    # positive values: a column shows both signs only once both classes have been met
    X, y = np.abs(np.random.default_rng(4).normal(size=(300_000, 20))), np.tile([-1, 1], 150_000)
    source = dense(X, np.sort(y) if is_sorted else y)
    peel(source, bias=True)  # compiled
    start = perf_counter()
    assert peel(source, bias=True).rest is None
    assert perf_counter() - start < 0.005


def test_text_like_data_separate_exactly():
    X, y = datasets.planted_sparse(300, 600)
    source = sparse(X, y)
    peeling = check_weak_separator(X, y, True, source)
    assert as_lists(peeling, 300) == as_lists(peel(in_sparse_parts(X, y), bias=True), 300)
