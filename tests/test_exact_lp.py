"""The exact LP: each engine against the compiled one, and the families with known answers."""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter

import numpy as np
import pytest
from flint import fmpz, fmpz_mat

from linsep.exact import PRIME, integer_rows
from linsep.loops import residues
from linsep.proofs import Obstruction
from linsep.solvers.exact import exact_lp, int64_lp
from linsep.solvers.exact.exact_basis import Dixon, RentThenBuy, Residues
from linsep.solvers.exact.exact_lp import ExactLP
from linsep.solvers.exact.exact_outcomes import Stopped
from linsep.solvers.exact.pricing import RowStore

KINDS = ("separable", "touching", "overlapping")
E = 2.0**-1074


@pytest.fixture(params=[RentThenBuy, Residues, Dixon])
def engine(request, monkeypatch):
    """Run the test with each engine of long integers, and never in int64."""
    monkeypatch.setattr(exact_lp, "RentThenBuy", request.param)
    monkeypatch.setattr(exact_lp, "_FEW_COLUMNS", 0)


def scores(rows, weights):
    return [sum(int(a) * b for a, b in zip(row, weights, strict=True)) for row in rows]


def rank(rows) -> int:
    return fmpz_mat([[int(x) for x in row] for row in rows]).rank() if len(rows) else 0


def check_obstruction(rows, obstruction, limit) -> None:
    assert len(set(obstruction.rows)) == len(obstruction.rows) <= limit
    assert min(obstruction.weights) > 0 and math.gcd(*obstruction.weights) == 1
    chosen = [rows[i] for i in obstruction.rows]
    assert not any(scores(zip(*chosen, strict=True), obstruction.weights))


def check(rows, outcome) -> None:
    """Check every claim of an outcome."""
    if outcome.kind == "separable":
        assert min(scores(rows, outcome.weights), default=1) > 0
        return
    full = rank(rows)
    check_obstruction(rows, outcome.obstruction, full + 1)
    if outcome.kind == "overlapping":
        check_obstruction(rows, outcome.spread, max(2 * full, 1))
        assert rank([rows[i] for i in outcome.spread.rows]) == full
    else:
        found = scores(rows, outcome.weights)
        assert min(found) == 0 < max(found)
        assert all(found[i] == 0 for i in outcome.obstruction.rows)


def decide(rows, hint=()):
    lp = ExactLP(len(rows[0]))
    lp.add(rows)
    outcome = lp.three_way(hint)
    check(rows, outcome)
    return outcome


def decide_points(X, y, bias=True):
    return decide(integer_rows(np.asarray(X), np.asarray(y), bias=bias).rows.tolist())


def degenerate_rows(rng: random.Random) -> list[list[int]]:
    n, columns, reach = rng.randint(1, 14), rng.randint(1, 6), rng.choice([1, 2, 2, 4])
    rows = [[rng.randint(-reach, reach) for _ in range(columns)] for _ in range(n)]
    lean = rng.random() < 0.5
    for row in rows:
        row[0] = abs(row[0]) if lean else row[0]
        row[-1] = row[0] if n % 3 == 0 else row[-1]
    return rows


# Small instances: every engine, rows added in two parts, any hint ---------------------------------


@pytest.mark.slow
def test_all_engines_agree_with_64_bits(engine):
    rng, kinds = random.Random(1), Counter()
    for _ in range(600):
        rows = degenerate_rows(rng)
        lp, half = ExactLP(len(rows[0])), len(rows) // 2
        lp.add(rows[:half])
        check(rows[:half], lp.three_way(rng.sample(range(half), rng.randint(0, half))))
        lp.add(rows[half:])
        outcome = lp.three_way(rng.sample(range(len(rows)), rng.randint(0, len(rows))))
        check(rows, outcome)
        quick = int64_lp.three_way(np.array(rows))
        assert outcome.kind == quick.kind
        if outcome.kind == "touching":
            zeros = np.array(scores(rows, outcome.weights)) == 0
            assert zeros.tolist() == (np.array(rows) @ quick.weights == 0).tolist()
        kinds[quick.kind] += 1
    assert min(kinds[kind] for kind in KINDS) > 50


def test_solve_and_free_walk_through_the_obstructions_one_by_one(engine):
    rows = [[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -2, 0], [0, 0, 1]]
    lp = ExactLP(3)
    assert lp.add(rows) == range(5)
    first = lp.solve()
    assert isinstance(first, Obstruction) and len(first.rows) == 2
    assert lp.solve() == first
    lp.free()
    second = lp.solve()
    assert isinstance(second, Obstruction) and second.rows == (0, 1, 2, 3)
    lp.free()
    assert lp.solve() == (0, 0, 1)
    assert lp._in_free_span([[5, 7, 0], [0, 0, 1], [0, 0, 0]]) == [True, False, True]
    with pytest.raises(ValueError, match="solve"):
        lp.free()


def test_the_span_test_is_exact_both_ways(engine):
    lp = ExactLP(3)
    lp.add([[2**80, 1, 0], [-(2**80), -1, 0], [0, 0, 1]])
    assert lp.three_way().kind == "touching"
    rows = [[2**81, 2, 0], [2**81, 2, 1], [2**80, 2, 0]]
    assert lp._in_free_span(rows) == [True, False, False]
    assert lp._in_free_span(rows[:1]) == [True]


def test_rows_can_be_added_after_a_verdict_in_int64():
    lp = ExactLP(2)
    lp.add([[1, 0], [-2, 0], [0, 1]])
    assert lp.three_way().kind == "touching"
    lp.add([[0, -1]])
    assert lp.three_way().kind == "overlapping"


def test_a_row_a_hair_outside_the_free_span_is_separated(engine):
    rows = [[2**70, 1, 0], [-(2**70), -1, 0], [2**70, 1, 1], [2**70, 2, 1]]
    outcome = decide(rows)
    assert outcome.kind == "touching"
    assert [score > 0 for score in scores(rows, outcome.weights)] == [False, False, True, True]


def test_rows_of_any_integer_type_are_taken(engine):
    lp = ExactLP(2)
    lp.add(np.array([[1, 200]], np.uint8))
    lp.add([[fmpz(1), fmpz(-3)]])
    lp.add(np.array([[2**70, 1]], object))
    assert isinstance(lp.solve(), tuple)
    with pytest.raises(ValueError, match="columns"):
        lp.add([[1, 2, 3]])


def test_without_rows_everything_is_separable(engine):
    assert ExactLP(3).three_way().weights == (0, 0, 0)


def test_a_hint_may_hold_dependent_and_zero_rows(engine):
    rows = [[0, 0, 0], [1, 1, 0], [2, 2, 0], [1, 1, 0], [0, 1, 1]]
    assert decide(rows, hint=[0, 1, 2, 3]).kind == "touching"
    assert decide(rows[1:], hint=[0, 1, 2]).kind == "separable"


def test_rank_that_only_the_prime_hides_is_found_on_the_way(engine):
    assert decide([[1, 0], [1, PRIME], [-1, PRIME]]).kind == "separable"
    assert decide([[1, 0], [-1, PRIME], [-1, -PRIME]]).kind == "overlapping"


def test_free_rows_stay_free_even_if_the_prime_makes_them_dependent(engine):
    rows = [[1, 0, 0, 0], [-1, 0, 0, 0], [1, PRIME, 0, 0], [-1, -PRIME, 0, 0], [0, 0, 1, 0]]
    lp = ExactLP(4)
    lp.add(rows)
    assert lp.three_way().kind == "touching"
    later = [[0, 0, 1, 1], [0, 0, -1, 1]]
    lp.add(later)
    outcome = lp.three_way([5, 6])
    check(rows + later, outcome)
    assert [score > 0 for score in scores(rows + later, outcome.weights)] == [False] * 4 + [True] * 3


def test_stopping_keeps_the_state(engine):
    rng = np.random.default_rng(3)
    rows = rng.integers(-50, 50, (120, 12))
    rows *= np.sign(rows @ rng.normal(size=12) + 1e-9).astype(int)[:, None]
    calls = itertools.count()
    lp = ExactLP(12, should_stop=lambda: next(calls) % 5 == 4)
    lp.add(rows)
    stops = 0
    while True:
        try:
            outcome = lp.three_way()
            break
        except Stopped:
            stops += 1
    assert stops > 0
    assert outcome == decide(rows.tolist())


def test_tied_costs_are_drawn_again(engine):
    rows = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, -5]]
    lp = ExactLP(3)
    lp._cost_bits = 1  # every cost is 1, and the last row has equal coordinates at two places: a tie
    lp.add(rows)
    outcome = lp.three_way([0, 1, 2])
    assert lp._cost_bits > 1
    assert outcome.kind == "separable"
    check(rows, outcome)


# Larger instances with known answers --------------------------------------------------------------


def planted_rows(columns: int, n: int, seed: int) -> list[list[int]]:
    """Rows on the positive side of weights that more than double, columns mixed by a unimodular matrix."""
    rng = random.Random(seed)
    weights: list[int] = []
    for _ in range(columns):
        weights.append(sum(weights) + rng.randint(1, 2))
    rows = []
    while len(rows) < n:
        row = [rng.randint(-2, 2) for _ in range(columns)]
        score = sum(a * b for a, b in zip(row, weights, strict=True))
        if score:
            rows.append(row if score > 0 else [-a for a in row])
    for _ in range(2 * columns):
        (i, j), sign = rng.sample(range(columns), 2), rng.choice([-1, 1])
        for row in rows:
            row[i] += sign * row[j]
    return rows


@pytest.mark.parametrize("columns", [16, 24, 40, 60])
def test_planted_thresholds_are_separable(columns):
    rows = planted_rows(columns, 6 * columns, seed=columns)
    assert decide(rows).kind == "separable"
    combination = [-sum(column) for column in zip(*rows[:3], strict=True)]
    assert decide([*rows, combination]).kind != "separable"


@pytest.mark.parametrize("d", [1, 2, 5, 12, 20])
def test_the_moment_curve_alternates_once_too_often(d):
    curve = [[t**k for k in range(1, d + 1)] + [1] for t in range(d + 2)]
    rows = [[(-1) ** t * x for x in row] for t, row in enumerate(curve)]
    outcome = decide(rows)
    assert outcome.kind == "overlapping"
    assert outcome.obstruction.weights == tuple(math.comb(d + 1, t) for t in range(d + 2))
    assert decide(rows[:-1]).kind == "separable"


@pytest.mark.parametrize("n", [3, 10, 18])
def test_hilbert_rows_are_separable_with_any_labels(n):
    common = math.lcm(*range(1, 2 * n))
    rng = random.Random(n)
    rows = [[common // (i + j + 1) for j in range(n)] for i in range(n)]
    for _ in range(3):
        labels = [rng.choice([-1, 1]) for _ in rows]
        signed = [[y * x for x in row] for y, row in zip(labels, rows, strict=True)]
        assert decide(signed).kind == "separable"


@pytest.mark.parametrize("n", [5, 20, 60])
def test_the_odd_max_bit_chain_is_separable(n):
    rows = [[int(i == j or (j < i and (i - j) % 2 == 1)) for j in range(1, n + 1)] for i in range(1, n + 1)]
    signed = [[(-1) ** i * x for x in row] for i, row in enumerate(rows, 1)]
    assert decide(signed).kind == "separable"


def test_the_odd_max_bit_cube_is_separable_and_its_twin_is_not():
    n = 8
    cube = np.array(list(itertools.product([0, 1], repeat=n)))
    y = np.array([(-1) ** (max(np.flatnonzero(x), default=0) + 1) for x in cube])
    assert decide_points(cube, y).kind == "separable"
    twin = y.copy()
    for flipped in ([0] * (n - 1) + [1], [1, 1] + [0] * (n - 3) + [1]):
        twin[(cube == flipped).all(axis=1)] *= -1
    assert decide_points(cube, twin).kind != "separable"


@pytest.mark.parametrize("d", [1, 2, 7, 30])
def test_a_point_in_a_simplex_needs_every_corner(d):
    corners = np.vstack([np.zeros(d), (d + 1.0) * np.eye(d)])
    y = np.append(np.ones(d + 1), -1)
    outcome = decide_points(np.vstack([corners, np.ones(d)]), y)
    assert outcome.kind == "overlapping"
    assert len(outcome.obstruction.rows) == d + 2
    for t, kind in ((E, "overlapping"), (0.0, "touching"), (-E, "separable")):
        point = np.ones(d)
        point[0] = t
        assert decide_points(np.vstack([corners, point]), y).kind == kind


@pytest.mark.parametrize(("g", "kind"), [(0.0, "touching"), (E, "separable"), (2.0**-60, "separable")])
def test_crossing_edges_meet_only_when_the_gap_is_zero(g, kind):
    y = [1, 1, 1, -1, -1, -1]
    assert decide_points(crossing_edges(g), y).kind == kind
    assert decide_points(crossing_edges(-g), y).kind != "separable"


def crossing_edges(g: float) -> list[list[float]]:
    return [[-1, 0, 0], [1, 0, 0], [0, 0, -1], [0, -1, g], [0, 1, g], [0, 0, 1]]


@pytest.mark.parametrize("a", [1.0, 2.0**52, 1e300, 0.1, 2.0**-1022])
def test_one_ulp_apart_is_apart(a):
    assert decide_points([[a], [math.nextafter(a, math.inf)]], [1, -1]).kind == "separable"


def test_scales_that_no_double_holds_together():
    grid = [(a, c) for a in range(-9, 10) for c in range(-9, 10) if a + c]
    X = np.array([[a * 2.0**1000, c * 2.0**-1000] for a, c in grid])
    assert decide_points(X, [a + c for a, c in grid]).kind == "separable"


def test_redundant_columns_change_nothing(engine):
    rng = random.Random(9)
    for _ in range(60):
        rows = degenerate_rows(rng)
        wider = [[*row, 0, row[0], sum(row)] for row in rows]
        assert decide(rows).kind == decide(wider, hint=range(len(rows))).kind


@pytest.mark.parametrize("columns", [60, 110])
def test_a_good_hint_needs_no_pivot(columns):
    rng = np.random.default_rng(columns)
    rows = rng.integers(0, 256, (columns + 1, columns))
    u = np.linalg.solve(rows[:-1].T.astype(float), -rows[-1].astype(float))
    rows *= np.append(np.sign(u), 1).astype(int)[:, None]
    others = rng.integers(-255, 256, (300, columns))
    lp = ExactLP(columns)
    lp.add(np.vstack([others, rows]))
    outcome = lp.solve(range(300, 301 + columns))
    assert isinstance(outcome, Obstruction)
    assert outcome.rows == tuple(range(300, 301 + columns))
    assert lp.pivots == 0


# The parts ----------------------------------------------------------------------------------------


def random_rows(rng: random.Random, n: int, columns: int, size: int) -> list[list[int]]:
    return [[rng.randint(-size, size) for _ in range(columns)] for _ in range(n)]


@pytest.mark.parametrize(("columns", "size"), [(1, 5), (4, 1), (9, 300), (6, 2**90)])
def test_residues_and_solves_give_the_same_answers(columns, size):
    rng = random.Random(columns)
    rows = random_rows(rng, columns, columns, size)
    while rank(rows) < columns:
        rows = random_rows(rng, columns, columns, size)
    kept, solved = Residues(rows), Dixon(rows)
    for step in range(12):
        [row] = random_rows(rng, 1, columns, size << step)
        (n, d), (m, e) = kept.coordinates([row]), solved.coordinates([row])
        assert d > 0 and e > 0 and n * e == m * d
        in_force = [rng.random() < 0.7 for _ in rows]
        w, v = kept.weights(in_force), solved.weights(in_force)
        assert exact_lp.coprime(w) == exact_lp.coprime(v)
        place = rng.randrange(columns)
        if n[0, place] != 0:
            kept.replace(place, row, int(n[0, place]))
            solved.replace(place, row, int(m[0, place]))


@pytest.mark.parametrize("units", [1, 3, 5, 6])
def test_unit_vectors_of_a_basis_are_taken_out_and_put_back(units):
    rng = random.Random(units)
    places, columns = rng.sample(range(6), units), rng.sample(range(6), units)
    rows = random_rows(rng, 6, 6, 9)
    for place, column in zip(places, columns, strict=True):
        rows[place] = [int(j == column) for j in range(6)]
    assert rank(rows) == 6
    kept, solved = Residues(rows), Dixon(rows)
    for _ in range(8):
        more = random_rows(rng, 2, 6, 99)
        (n, d), (m, e) = kept.coordinates(more), solved.coordinates(more)
        assert d > 0 and e > 0 and n * e == m * d
        in_force = [rng.random() < 0.7 for _ in rows]
        assert exact_lp.coprime(kept.weights(in_force)) == exact_lp.coprime(solved.weights(in_force))
        assert exact_lp.coprime(kept.duals([4, 1]).entries()) == exact_lp.coprime(solved.duals([4, 1]).entries())
        place = rng.randrange(6)
        if n[0, place] != 0:
            kept.replace(place, more[0], int(n[0, place]))
            solved.replace(place, more[0], int(m[0, place]))


def test_primes_that_divide_a_determinant_are_struck_out():
    p, q, r = (int(prime) for prime in residues.primes()[:3])
    basis = Residues([[p, 0], [0, q]])
    assert basis.weights([True, False]) == [q, 0]
    numerators, denominator = basis.coordinates([[1, r]])
    basis.replace(1, [1, r], int(numerators[0, 1]))
    numerators, denominator = basis.coordinates([[p + 1, r]])
    assert [n / denominator for n in numerators.entries()] == [1, 1]


def test_numbers_too_long_for_all_primes_are_refused():
    with pytest.raises(ArithmeticError, match="too long"):
        Residues([[1 << 6_000_000]])


def test_the_primes_are_primes():
    primes = residues.primes()
    assert len(primes) == 268_216
    assert primes.min() > 1 << 22 and primes.max() < 1 << 23
    assert all(fmpz(int(prime)).is_prime() for prime in primes[::1000])


def test_sums_of_many_products_of_residues_are_exact():
    size, prime = 1000, int(residues.primes()[0])
    rng = np.random.default_rng(0)
    row, dual = (rng.integers(prime // 2 - 99, prime // 2, shape) for shape in (size, (size, size)))
    found = residues.coordinates(dual[None] * 1.0, row[None] * 1.0, np.array([prime * 1.0]))[0]
    assert not ((dual @ row - found.astype(int)) % prime).any()


def test_a_row_longer_than_the_residues_can_hold_makes_them_longer():
    basis = Residues([[1, 1], [0, 1]])
    numerators, denominator = basis.coordinates([[3 << 500, 1]])
    assert [int(n) for n in numerators.entries()] == [3 << 500, 1 - (3 << 500)]
    assert denominator == 1


@pytest.mark.parametrize("score", [-1, 0, 1])
def test_scores_that_floats_get_wrong_are_priced_exactly(score):
    rng = random.Random(score)
    for _ in range(200):
        weights = [rng.randint(-(2**70), 2**70) for _ in range(40)] + [1]
        row = [rng.randint(-(2**70), 2**70) for _ in range(40)]
        row.append(score - sum(a * b for a, b in zip(row, weights[:-1], strict=True)))
        store = RowStore(41)
        store.add([row])
        assert store.price(weights) == (0 if score < 0 else None, [0] if score == 0 else [])


def test_costs_stay_positive_so_that_the_objective_grows(engine):
    lp = ExactLP(10)
    lp.add(planted_rows(10, 60, seed=1))
    assert lp.three_way().kind == "separable"
    assert lp.pivots > 3
    assert min(lp._costs) > 0


def test_the_store_finds_violated_and_zero_rows_exactly():
    store = RowStore(2)
    store.add([[2**200, -(2**200) + 1], [-(2**200), 2**200], [1, 0]])
    assert store.price([1, 1]) == (None, [1])
    assert store.price([2**100, 2**100 + 1]) == (0, [])
    assert store.price([-1, 0], skip=[2]) == (0, [])
    assert store.price([-1, 0], prefer=[2]) == (2, [])
    assert store.price([0, 0], skip=[1]) == (None, [0, 2])


def test_the_store_holds_rows_no_double_can():
    store = RowStore(2)
    store.add([[2**5000, -1], [-(2**5000), 2**5000 + 1]])
    assert store.price([1, 2**5000]) == (None, [0])
    assert store.price([1, 1]) == (None, [])
    assert store.price([1, 2**5001]) == (0, [])
