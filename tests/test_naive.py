"""The oracle is tested before it is believed: counts from the literature, hand instances, a second method."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings

from naive import (
    Obstruction,
    WeakSeparator,
    check,
    decide,
    dot,
    exact,
    findings,
    is_separable,
    max_margin_squared,
    minimal_obstructions,
    null_vectors,
    perceptron,
    scan,
    signed_rows,
    solve,
    weak_separated_rows,
)
from strategies import data_sets, random_small

BOTH_ORDERS = pytest.mark.parametrize("order", ["cyclic", "restart"])

HAND = [
    # kind, rows, labels, bias, the rows that a weak separator puts strictly on their side
    ("separable", [[0], [1]], [-1, 1], True, {0, 1}),
    ("separable", [[0, 0], [1, 0], [0, 1], [1, 1]], [-1, -1, -1, 1], True, {0, 1, 2, 3}),
    ("separable", [[1, 0], [0, -1], [0, 1], [-1, 0]], [1, -1, 1, -1], False, {0, 1, 2, 3}),
    ("touching", [[0], [0], [1]], [-1, 1, 1], True, {2}),
    ("touching", [[0, 0], [1, 0], [2, 0], [1, 5], [1, -5]], [1, -1, 1, 1, -1], True, {3, 4}),
    ("touching", [[0, 0], [1, 2]], [1, -1], False, {1}),
    ("overlapping", [[0], [1], [2]], [1, -1, 1], True, set()),
    ("overlapping", [[0, 0], [1, 0], [0, 1], [1, 1]], [-1, 1, 1, -1], True, set()),
    ("overlapping", [[3], [3]], [1, -1], True, set()),
    ("overlapping", [[1], [2]], [1, -1], False, set()),
    ("overlapping", [[0, 0], [0, 0]], [1, -1], False, set()),
]


def random_tiny(rng):
    """At most 6 rows in at most 3 columns, from so few values that ties and repetitions abound."""
    n, d, reach = rng.integers(2, 7), rng.integers(1, 4), rng.integers(1, 4)
    return rng.integers(-reach, reach + 1, (n, d)), rng.choice([-1, 1], n), bool(rng.integers(2))


def count_separable(X):
    return sum(is_separable(X, y) for y in product([-1, 1], repeat=len(X)))


@pytest.mark.parametrize("kind, X, y, bias, rows", HAND)
def test_hand_instances_are_judged_as_by_hand(kind, X, y, bias, rows):
    assert decide(X, y, bias) == kind
    assert is_separable(X, y, bias) is (kind == "separable")
    assert weak_separated_rows(X, y, bias) == rows


@pytest.mark.parametrize("bits, count", [(1, 4), (2, 14), (3, 104)])
def test_it_counts_the_threshold_functions(bits, count):
    assert count_separable(list(product([0, 1], repeat=bits))) == count


def test_it_counts_the_separable_labellings_of_the_3_by_3_grid():
    assert count_separable(list(product(range(3), repeat=2))) == 58


@pytest.mark.slow
def test_the_simplex_agrees_with_the_enumeration_of_all_obstructions():
    rng = np.random.default_rng(1)
    seen = set()
    for _ in range(1500):
        X, y, bias = random_tiny(rng)
        in_obstructions = frozenset().union(*(o.rows for o in minimal_obstructions(X, y, bias)))
        assert weak_separated_rows(X, y, bias) == set(range(len(X))) - in_obstructions
        kind = {0: "separable", len(X): "overlapping"}.get(len(in_obstructions), "touching")
        assert decide(X, y, bias) == kind
        seen.add((kind, bias))
    assert len(seen) == 6


@given(data_sets(max_rows=6))
@settings(max_examples=150, deadline=None)
def test_the_simplex_agrees_with_the_enumeration_on_degenerate_data(data):
    X, y, bias = data
    stuck = frozenset().union(*(o.rows for o in minimal_obstructions(X, y, bias)))
    assert weak_separated_rows(X, y, bias) == set(range(len(X))) - stuck
    assert is_separable(X, y, bias) is (not stuck)


@pytest.mark.slow
def test_random_small_data_are_of_all_kinds_and_repeat_with_their_seed():
    first, second = (np.random.default_rng(8) for _ in range(2))
    count = {"separable": 0, "touching": 0, "overlapping": 0}
    for _ in range(1000):
        (X, y, bias), again = random_small(first), random_small(second)
        assert np.array_equal(X, again[0]) and np.array_equal(y, again[1]) and bias == again[2]
        assert np.isfinite(X).all() and set(y) == {-1, 1}
        count[decide(X, y, bias)] += 1
    assert min(count.values()) >= 100


def test_the_margin_is_positive_exactly_where_the_simplex_separates():
    rng = np.random.default_rng(2)
    for _ in range(200):
        X, y, _ = random_tiny(rng)
        if len(set(y)) == 2:
            assert (max_margin_squared(X, y) > 0) == is_separable(X, y)


def test_minimal_obstructions_are_checked_and_small():
    rng = np.random.default_rng(4)
    for _ in range(200):
        X, y, bias = random_tiny(rng)
        Z = signed_rows(X, y, bias)
        for obstruction in minimal_obstructions(X, y, bias):
            check(Z, obstruction)
            assert len(obstruction.rows) <= len(Z[0]) + 1
            assert len(null_vectors([Z[i] for i in obstruction.rows])) == 1


def test_the_check_refuses_a_wrong_separator_and_a_wrong_obstruction():
    Z = signed_rows([[0], [1], [1]], [-1, 1, -1])
    one, zero = Fraction(1), Fraction(0)
    check(Z, Obstruction((zero, one, one), frozenset({1, 2})))
    check(Z, WeakSeparator((one, -one), frozenset({0})))
    for wrong in (
        Obstruction((one, one, one), frozenset({0, 1, 2})),
        Obstruction((zero, one, one), frozenset({1})),
        Obstruction((zero, zero, zero), frozenset()),
        Obstruction((zero, -one, -one), frozenset({1, 2})),
        WeakSeparator((one, zero), frozenset({0, 1})),
        WeakSeparator((one, -one), frozenset({0, 1})),
        WeakSeparator((zero, zero), frozenset()),
    ):
        with pytest.raises(AssertionError):
            check(Z, wrong)


def test_thirty_rows_in_eight_columns_are_decided_both_ways():
    rng = np.random.default_rng(5)
    X = rng.standard_normal((30, 8))
    assert decide(X, np.where(X @ rng.standard_normal(8) > 0.1, 1, -1)) == "separable"
    assert decide(X, np.tile([1, -1], 15)) == "overlapping"
    doubled, labels = np.vstack([X, X[:1]]), np.where(X[:, 0] > X[0, 0], 1, -1)
    assert decide(doubled, [*labels, 1]) == "touching"


def test_every_finding_names_a_row_that_was_open():
    Z = signed_rows([[0, 0], [1, 0], [2, 0], [1, 5], [1, -5]], [1, -1, 1, 1, -1])
    found = list(findings(Z))
    assert [type(f) for f in found] == [Obstruction, WeakSeparator]
    assert [set(f.rows) for f in found] == [{0, 1, 2}, {3, 4}]


def test_floats_are_taken_exactly():
    tiny = 5e-324
    assert decide([[tiny], [0.0]], [1, -1]) == "separable"
    assert decide([[0.0], [-0.0]], [1, -1]) == "overlapping"
    assert decide([[0.1 + 0.2], [0.3]], [1, -1]) == "separable"
    assert exact(np.float32(0.1)) == Fraction(13421773, 2**27)
    assert exact(np.int64(2**63 - 1)) + 1 == 2**63
    assert decide(np.array([[2**53], [2**53 + 1]]), [1, -1]) == "separable"


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_is_refused(value):
    with pytest.raises(ValueError, match="not a number"):
        decide([[value], [0.0]], [1, -1])


def test_other_labels_are_refused():
    with pytest.raises(ValueError, match="labels"):
        decide([[1.0], [0.0]], [1, 0])


@pytest.mark.parametrize(
    "X, y, squared",
    [
        ([[0], [1]], [-1, 1], Fraction(1, 4)),
        ([[0, 0], [3, 4]], [-1, 1], Fraction(25, 4)),
        ([[0, 1], [0, -1], [2, 5], [2, -7], [9, 0]], [-1, -1, 1, 1, 1], 1),
        ([[1, 0], [0, 1], [0, 0]], [1, 1, -1], Fraction(1, 8)),
        ([[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 0]], [1, 1, 1, -1], Fraction(1, 12)),
        ([[-1, 0, 0], [1, 0, 0], [0, -1, 3], [0, 1, 3]], [1, 1, -1, -1], Fraction(9, 4)),
        ([[0], [1], [2]], [1, -1, 1], 0),
        ([[0, 0], [0, 0]], [1, -1], 0),
    ],
)
def test_the_largest_margin_is_half_the_distance_of_the_hulls(X, y, squared):
    assert max_margin_squared(X, y) == squared


def test_the_margin_needs_both_classes():
    with pytest.raises(ValueError, match="both classes"):
        max_margin_squared([[0], [1]], [1, 1])


@BOTH_ORDERS
def test_cornwells_example(order):
    updates = perceptron([[-1, 3], [-1, -1], [3, -1], [0, 1.5]], [-1, -1, 1, 1], order)
    assert [row + 1 for row, _, _ in updates] == [1, 2, 4, 4, 1, 4, 4, 1, 4]
    assert [(*map(float, w), float(b)) for _, w, b in updates] == [
        (1, -3, -1),
        (2, -2, -2),
        (2, -0.5, -1),
        (2, 1, 0),
        (3, -2, -1),
        (3, -0.5, 0),
        (3, 1, 1),
        (4, -2, 0),
        (4, -0.5, 1),
    ]


@BOTH_ORDERS
def test_taos_example(order):
    updates = perceptron([[1, 0], [0, -1], [0, 1], [-1, 0]], [1, -1, 1, -1], order, bias=False)
    assert updates == [(0, (1, 0), 0), (1, (1, 1), 0)]


def test_wangs_example():
    X = [[-1, 2], [1, 0], [1, 1], [-1, 0], [-1, -2], [1, -1]]
    updates = perceptron(X, [-1, 1, 1, -1, -1, 1], bias=False)
    assert updates == [(0, (1, -2), 0), (2, (2, -1), 0), (4, (3, 1), 0)]


def test_the_two_orders_part_where_an_update_spoils_an_earlier_row():
    X, y = [[0], [1], [0.5]], [-1, 1, -1]
    assert [row for row, _, _ in perceptron(X, y, "cyclic")][:3] == [0, 1, 2]
    assert [row for row, _, _ in perceptron(X, y, "restart")][:3] == [0, 1, 0]


@BOTH_ORDERS
def test_the_perceptron_ends_without_mistakes_within_novikoffs_bound(order):
    rng = np.random.default_rng(6)
    for _ in range(100):
        X, y, _ = random_tiny(rng)
        if is_separable(X, y):
            updates = perceptron(X, y, order)
            _, w, b = updates[-1]
            seen = scan(X, y, w, b)
            least = min(s for s in (seen.least_positive, seen.least_negative) if s is not None)
            assert seen.mistakes == 0 < least
            # The theorem holds for every separator W, this one included: at most R²·|W|²/least² updates.
            assert len(updates) * least**2 <= seen.radius_squared * (dot(w, w) + b**2)


def test_updates_stay_below_radius_squared_over_gamma_squared():
    X, y = np.array([[1, 0], [0, -1], [0, 1], [-1, 0]]), [1, -1, 1, -1]
    updates = perceptron(X, y, bias=False)
    # (1, 1)/√2 separates by 1/√2 and the radius is 1: at most two updates, and two are made.
    assert len(updates) == 2 == scan(X, y, [1, 1], bias=False).radius_squared / Fraction(1, 2)


def test_max_updates_ends_a_run_that_would_not_end():
    assert len(perceptron([[0], [0]], [1, -1], max_updates=17)) == 17


def test_a_scan_counts_zero_as_a_mistake():
    seen = scan([[3, 4], [0, 0], [1, 1]], [1, -1, -1], [1, 1], -2)
    assert (seen.mistakes, seen.least_positive, seen.least_negative, seen.radius_squared) == (1, 5, 0, 26)
    assert scan([[3, 4]], [1], [1, 1], bias=False).radius_squared == 25
    assert scan([[3, 4]], [1], [1, 1]).least_negative is None


def test_solve_knows_singular_from_regular():
    one, two = Fraction(1), Fraction(2)
    assert solve([[one, two], [two, one]], [Fraction(5), Fraction(4)]) == (1, 2)
    assert solve([[one, two], [two, two * two]], [one, two]) is None
