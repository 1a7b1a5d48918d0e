"""The transcribed answers held against the oracle, and the separable labellings of known sets counted."""

from fractions import Fraction
from itertools import permutations, product
from math import comb

import numpy as np
import pytest

import adversarial
from adversarial import (
    SEPARABLE_BOOLEAN_FUNCTIONS,
    SEPARABLE_GRID_LABELLINGS,
    boolean_functions,
    cover_count,
    cover_labellings,
    full,
    greater_than,
    grid_labellings,
    invariances,
    mixed_scale,
    moment_curve,
    moment_curve_weights,
    near_collinear,
    odd_max_bit_chain,
    odd_max_bit_cube,
    planted_threshold,
    redundant,
    small,
)
from naive import Obstruction, decide, findings, is_separable, minimal_obstructions, perceptron, scan, signed_rows

SMALL = list(small())


def every(instances):
    return pytest.mark.parametrize("case", instances, ids=str)


def subsets_to_try(case):
    n, D = len(case.y), case.X.shape[1] + case.bias
    return sum(comb(n, size) for size in range(1, D + 2))


@pytest.mark.slow
@every(SMALL)
def test_the_oracle_gives_the_transcribed_answer(case):
    assert decide(case.X, case.y, case.bias) in case.answers


@pytest.mark.slow
@every([case for case in SMALL if case.obstruction_rows])
def test_the_obstructions_found_have_the_transcribed_number_of_rows(case):
    found = [f for f in findings(signed_rows(case.X, case.y, case.bias)) if isinstance(f, Obstruction)]
    assert found and {len(f.rows) for f in found} == {case.obstruction_rows}


@every([case for case in SMALL if case.obstruction_rows and subsets_to_try(case) < 1000])
def test_all_minimal_obstructions_have_the_transcribed_number_of_rows(case):
    sizes = {len(o.rows) for o in minimal_obstructions(case.X, case.y, case.bias)}
    assert sizes == {case.obstruction_rows}


@every([case for case in SMALL if case.X.size <= 40])
def test_what_must_not_change_the_answer_does_not(case):
    for changed in invariances(case):
        assert decide(changed.X, changed.y, changed.bias) in case.answers, changed


def test_every_invariance_changes_the_data():
    case = next(adversarial.needle(6, 2))
    for changed in invariances(case):
        assert not (np.array_equal(changed.X, case.X) and np.array_equal(changed.y, case.y)), changed


def test_redundant_columns_are_added_only_where_they_are_exact_and_harmless():
    widths = {case.name: redundant(case).X.shape[1] - case.X.shape[1] for case in SMALL}
    assert widths["overflow"] == 2  # M + 1 would be rounded
    assert widths["crossing edges, g=0"] == 3
    assert widths["through the origin, x against x"] == 2  # a constant would be the bias that is left out


@pytest.mark.slow
def test_the_torture_run_holds_the_quick_suite_and_is_well_formed():
    names = set()
    for case in full():
        assert len(case.X) == len(case.y) and set(np.unique(case.y)) == {-1, 1}, case
        assert np.isfinite(case.X).all() and case.name not in names, case
        names.add(case.name)
    assert names >= {case.name for case in SMALL}


# The answers of sizes that the oracle cannot reach, from a separator known in advance.


@pytest.mark.slow
@pytest.mark.parametrize("D, seed", [(D, seed) for D in (16, 50, 150) for seed in range(3)])
def test_planted_thresholds_are_separated_by_the_weights_planted(D, seed):
    X, y, (*w, b) = planted_threshold(D, seed)
    assert X.shape == (4 * D, D - 1) and np.abs(X).max() <= 1000
    assert scan(X, y, w, b).mistakes == 0


@pytest.mark.parametrize("n", [3, 6, 9])
def test_the_odd_max_bit_cube_is_separated_by_powers_of_minus_two(n):
    case, twin = odd_max_bit_cube(n)
    w = [(-2) ** (j + 1) for j in range(n)]
    assert scan(case.X, case.y, w, -1).mistakes == 0
    assert scan(twin.X, twin.y, w, -1).mistakes == 2


@pytest.mark.parametrize("m", [1, 3, 5])
def test_greater_than_is_separated_by_powers_of_two(m):
    (case,) = greater_than(m)
    powers = [2 ** (m - 1 - j) for j in range(m)]
    assert scan(case.X, case.y, [*powers, *(-p for p in powers)], Fraction(1, 2)).mistakes == 0


def test_mixed_scales_are_separated_by_the_inverse_scales():
    (case,) = mixed_scale(50)
    assert len(case.y) == 101**2 - 101
    assert scan(case.X, case.y, [2.0**-1000, 2.0**1000]).mistakes == 0


# What the table says beyond the verdict.


@pytest.mark.parametrize("d", range(1, 14))
def test_the_weights_on_the_moment_curve_are_binomial(d):
    case, _ = moment_curve(d)
    (found,) = findings(signed_rows(case.X, case.y))
    assert isinstance(found, Obstruction)
    assert [u / min(found.weights) for u in found.weights] == moment_curve_weights(d)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("order", ["cyclic", "restart"])
def test_the_chain_costs_the_perceptron_a_fibonacci_number_of_updates(order, bias):
    before, fibonacci = 1, 1  # F_1 and F_2
    for n in range(2, 8):
        before, fibonacci = fibonacci, before + fibonacci  # F_n and F_(n+1)
        (case,) = odd_max_bit_chain(n)
        assert len(perceptron(case.X, case.y, order, bias)) >= fibonacci


def test_a_point_near_a_line_is_not_separable_exactly_on_it():
    cases = list(near_collinear(16))
    assert [decide(case.X, case.y) in case.answers for case in cases] == [True] * 256
    assert sum(case.obstruction_rows is not None for case in cases) == 16
    assert len({case.X.tobytes() for case in near_collinear()}) == 65_536


# Counting


def count_separable(all_labellings):
    return sum(is_separable(X, y) for X, y in all_labellings)


@pytest.mark.parametrize("bits", [2, 3])
def test_boolean_functions_are_counted(bits):
    assert count_separable(boolean_functions(bits)) == SEPARABLE_BOOLEAN_FUNCTIONS[bits]


def test_grid_labellings_are_counted():
    assert count_separable(grid_labellings(3)) == SEPARABLE_GRID_LABELLINGS[3]


@pytest.mark.parametrize("n, d", [(4, 1), (6, 1), (6, 2), (7, 2), (8, 3)])
def test_separable_labellings_of_points_in_general_position_are_counted(n, d):
    assert count_separable(cover_labellings(n, d)) == cover_count(n, d)
    assert n != 2 * (d + 1) or 2 * cover_count(n, d) == 2**n


def test_the_65536_boolean_functions_of_4_bits_are_counted_by_symmetry():
    X, _ = next(boolean_functions(4))
    moves = [
        lambda x, p=p, flip=flip: tuple(x[j] if not f else 1 - x[j] for j, f in zip(p, flip, strict=True))
        for p in permutations(range(4))
        for flip in product([0, 1], repeat=4)
    ]
    assert count_by_symmetry(X, moves) == SEPARABLE_BOOLEAN_FUNCTIONS[4]


@pytest.mark.slow
def test_the_65536_labellings_of_the_4_by_4_grid_are_counted_by_symmetry():
    X, _ = next(grid_labellings(4))
    moves = [
        lambda x, p=p, flip=flip: tuple(3 - x[j] if f else x[j] for j, f in zip(p, flip, strict=True))
        for p in permutations(range(2))
        for flip in product([0, 1], repeat=2)
    ]
    assert count_by_symmetry(X, moves) == SEPARABLE_GRID_LABELLINGS[4]


def count_by_symmetry(X, moves):
    """Separable labellings of points that a group of affine moves permutes, one decided for each orbit.

    A labelling is a number, bit i the label of point i. Moves and the swap of the classes keep
    separability, so the least number of its orbit speaks for every labelling.
    """
    n = len(X)
    place = {tuple(x): i for i, x in enumerate(X.tolist())}
    codes = np.arange(2**n)
    least = codes.copy()
    for move in moves:
        image = sum((codes >> place[move(tuple(x))] & 1) << i for i, x in enumerate(X.tolist()))
        least = np.minimum(least, np.minimum(image, 2**n - 1 - image))
    leaders, sizes = np.unique(least, return_counts=True)
    decided = [is_separable(X, [1 if code >> i & 1 else -1 for i in range(n)]) for code in leaders.tolist()]
    return int(sizes[decided].sum())
