"""What the bound on mistakes is made of: linear programs that go on, packings, violated obstructions, dual bases."""

import subprocess
import sys

import numpy as np
import pytest

import linsep
from linsep.loops.dual_bases import dual_basis, exchange, met
from linsep.loops.vertices import DEEP, sort_by
from linsep.solvers.clock import Clock, OutOfTime
from linsep.solvers.fewest.disjoint import DisjointObstructions
from linsep.solvers.fewest.obstruction_search import ObstructionSearch
from linsep.solvers.fewest.warm_lp import CombinationProgram, CoverProgram


@pytest.fixture(scope="module")
def z():
    """Unit rows in four coordinates, with obstructions everywhere."""
    rows = np.random.default_rng(0).standard_normal((120, 4))
    return rows / np.linalg.norm(rows, axis=1)[:, None]


def is_obstruction(z, rows):
    """Whether some positive combination of exactly these rows is 0, as floats see it."""
    *_, vectors = np.linalg.svd(z[list(rows)].T)
    return len(rows) <= 5 and abs(vectors[-1]).min() > 0 and (np.sign(vectors[-1]) == np.sign(vectors[-1][0])).all()


def test_a_program_goes_on_when_sets_come_and_go():
    program = CoverProgram(np.ones(3), Clock())
    program.add([(0, 1), (1, 2), (0, 2)])
    shares, duals = program.solve()
    assert shares.sum() == pytest.approx(1.5) and duals.sum() == pytest.approx(1.5, abs=1e-3)
    program.drop(np.array([2]))
    shares, _ = program.solve()
    assert shares.round(6).tolist() == [0, 1, 0]


def test_a_program_knows_which_rows_are_right_or_mistaken():
    program = CoverProgram(np.ones(2), Clock())
    program.add([(0, 1)])
    program.fix([(0, True)])
    assert program.solve()[0].tolist() == [0, 1]
    program.fix([(0, True), (1, True)])
    assert program.solve() is None
    program.fix([(1, True)])
    assert program.solve()[0].tolist() == [1, 0]


def test_the_multipliers_never_exceed_the_costs(z):
    program, costs = CoverProgram(np.arange(1.0, 121.0), Clock()), np.arange(1.0, 121.0)
    sets = [tuple(range(k, k + 5)) for k in range(115)]
    program.add(sets)
    _, duals = program.solve()
    used = np.zeros(120)
    for rows, dual in zip(sets, duals.tolist(), strict=True):
        used[list(rows)] += dual
    assert (used <= costs + 1e-9).all()


def test_a_program_out_of_time_says_so(z):
    with pytest.raises(OutOfTime):
        next(iter(CombinationProgram(z, np.ones(len(z)), Clock(0.0))))


def test_a_program_counts_its_time_from_each_call(z):
    clock = Clock(1000.0)
    program = CombinationProgram(z, np.ones(len(z)), clock)
    found = iter(program)
    next(found)
    clock.limit = clock.seconds + 5
    assert len(next(found)) and program.lp.getOptionValue("time_limit")[1] < 5 + program.lp.getRunTime()


def test_programs_print_nothing(z, capfd):
    next(iter(CombinationProgram(z, np.ones(len(z)), Clock())))
    assert capfd.readouterr() == ("", "")


def test_a_packing_shares_no_row_and_never_loses(z):
    packing = DisjointObstructions(z, np.ones(len(z)), z[0], Clock())
    worth = len(list(packing.deal()))
    for _ in range(20):
        packing.improve()
        rows = [row for found in packing.found for row in found]
        assert len(set(rows)) == len(rows) and len(packing.found) >= worth
        assert all(is_obstruction(z, found) for found in packing.found)
        worth = len(packing.found)


def test_rows_that_are_left_are_dealt_again_in_larger_hands():
    rows = np.random.default_rng(3).standard_normal((900, 4))
    z, hands = rows / np.linalg.norm(rows, axis=1)[:, None], list[int]()
    packing = DisjointObstructions(z, np.ones(900), z[0], Clock())
    packing._in = lambda hand: iter(hands.append(len(hand)) or [])
    assert list(packing.deal()) == [] and hands == [50] * 18 + [150] * 6 + [450] * 2


def test_rows_without_obstructions_have_no_packing():
    z = np.eye(3)
    packing = DisjointObstructions(z, np.ones(3), np.ones(3), Clock())
    assert list(packing.deal()) == [] and not packing.improve()


@pytest.mark.parametrize(("first", "is_large"), [(0, False), (5, False), (0, True)])
def test_what_is_found_is_an_obstruction_and_violated(z, first, is_large):
    search, shares = ObstructionSearch(z, Clock()), np.random.default_rng(1).random(120) / 4
    search.first, search.is_large = first, is_large
    found = search.violated(shares, shares, [], 20)
    assert found and all(shares[list(rows)].sum() < 1 and is_obstruction(z, rows) for rows in found)


def test_satisfied_shares_are_violated_by_none(z):
    search = ObstructionSearch(z, Clock())
    search.first = 0
    assert search.violated(np.ones(len(z)), np.ones(len(z)), [], 5) == []


def test_a_dual_basis_meets_one_vector_each_before_and_after_an_exchange():
    vectors = np.random.default_rng(2).standard_normal((6, 6))
    duals, products = dual_basis(vectors), np.empty(6)
    assert duals @ vectors.T == pytest.approx(np.eye(6), abs=1e-9)
    vectors[2] = 1.0
    met(duals, vectors[2], products)
    exchange(duals, products, 2)
    assert duals @ vectors.T == pytest.approx(np.eye(6), abs=1e-9)


@pytest.mark.parametrize("n", [0, 1, 17, 1000])
def test_keys_are_sorted_whatever_they_are(n):
    random = np.random.default_rng(n)
    few = random.choice([-np.inf, 0.0, 1.0, np.inf], n)
    for keys in (random.random(n), few, np.sort(few), np.zeros(n), np.arange(n)[::-1] / 7):
        order = np.empty(n, np.int64)
        sort_by(keys, order, n, np.empty(DEEP, np.int64))
        assert (
            sorted(order.tolist()) == list(range(n))
            and (np.diff(np.searchsorted(np.sort(keys), keys[order])) >= 0).all()
        )


def test_keys_that_are_not_numbers_do_not_keep_the_sort_busy():
    order = np.empty(100, np.int64)
    sort_by(np.where(np.arange(100) % 3, np.nan, 1.0), order, 100, np.empty(DEEP, np.int64))
    assert sorted(order.tolist()) == list(range(100))


def test_dependent_vectors_have_no_dual_basis():
    assert np.isinf(dual_basis(np.zeros((2, 2)))).all()


def test_a_small_table_needs_nothing_compiled():
    program = (
        "import linsep, sys; found = linsep.fewest_mistakes(*linsep.datasets.xor());"
        "print(found.optimal, any(name.startswith('numba') for name in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "False"]


def test_a_table_that_took_a_tree_is_proved_by_one_packing():
    random = np.random.default_rng(3)
    X = random.integers(0, 12, (150, 3)).astype(float)
    y = np.where(X @ [1, 1, -1] + 4 * random.standard_normal(150) > 6, 1, -1)
    found = linsep.fewest_mistakes(X, y)
    assert found.optimal and len(found.leaves) <= 3
