"""Floats as integers: nothing is lost on the way there or back."""

from __future__ import annotations

import math
from fractions import Fraction
from random import Random

import numpy as np
import pytest
from flint import fmpz_mat
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from linsep.exact import (
    BITS,
    MOST_DIGITS,
    PRIME,
    SMALLEST,
    UNIT_ROUNDOFF,
    Digits,
    coprime,
    has_all_columns,
    independent_columns,
    independent_rows,
    integer_rows,
    null_combination,
    original_multipliers,
    original_weights,
    rounding_bound,
    rounding_factor,
    solve,
    to_doubles,
)
from linsep.lifting import FEWEST, is_for, lifted
from linsep.signs import exact_score, form_of, signs

TINY, HUGE = 2.0**-1074, 1.7976931348623157e308
NASTY = [
    0.0,
    -0.0,
    TINY,
    -TINY,
    HUGE,
    -HUGE,
    1.0,
    -3.0,
    2.0**-1022,
    1 + 2.0**-52,
    2.0**1000,
    5 * 2.0**-1000,
    0.1,
]

doubles = st.sampled_from(NASTY) | st.floats(allow_nan=False, allow_infinity=False)
float_tables = arrays.arrays(np.float64, st.tuples(st.integers(1, 4), st.integers(1, 4)), elements=doubles)


def power(exponent: int) -> Fraction:
    return Fraction(2) ** int(exponent)


def assert_exact(values, labels, bias, found) -> None:
    """N_ij = y_i·(x_i, 1)_j · 2^(c_j + r_i), in Fractions."""
    for i, row in enumerate(values.tolist()):
        signed = [(1 if labels[i] > 0 else -1) * Fraction(x) for x in row + [1] * bias]
        for j, x in enumerate(signed):
            assert int(found.rows[i, j]) == x * power(found.column_exponents[j] + found.row_exponents[i])


@pytest.mark.slow
@given(values=float_tables, bias=st.booleans(), data=st.data())
@settings(max_examples=300, deadline=None)
def test_scaled_rows_are_the_rows(values, bias, data):
    labels = data.draw(arrays.arrays(np.int64, len(values), elements=st.sampled_from([-1, 1])))
    assert_exact(values, labels, bias, integer_rows(values, labels, bias=bias))


@given(values=float_tables, later=float_tables)
@settings(max_examples=200, deadline=None)
def test_later_rows_join_with_a_power_of_two_of_their_own(values, later):
    width = min(values.shape[1], later.shape[1])
    first = integer_rows(values[:, :width])
    joined = integer_rows(later[:, :width], column_exponents=first.column_exponents)
    assert_exact(later[:, :width], np.ones(len(later)), False, joined)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.uint32, np.int64, np.uint64, np.float32])
def test_every_type_keeps_its_extremes(dtype):
    info = np.finfo(dtype) if dtype == np.float32 else np.iinfo(dtype)
    values = np.array([[info.min, info.max], [0, 1], [info.max, info.min], [info.max - 1, 3]], dtype)
    labels = np.array([-1, 1, -1, 1])
    assert_exact(values, labels, True, integer_rows(values, labels, bias=True))


def test_small_integers_stay_as_they_are_in_int64():
    values = np.array([[3, 0], [255, 7]], np.uint8)
    found = integer_rows(values, np.array([1, -1]))
    assert found.rows.dtype == np.int64
    assert found.rows.tolist() == [[3, 0], [-255, -7]]


def test_small_integers_join_a_table_with_its_powers_of_two():
    assert integer_rows(np.array([[2, 4]])).rows.tolist() == [[2, 4]]
    joined = integer_rows(np.array([[2, 3]]), column_exponents=np.array([-10, 0]))
    assert_exact(np.array([[2, 3]]), [1], False, joined)
    assert joined.column_exponents.tolist() == [-10, 0]
    assert integer_rows(np.zeros((0, 2), np.int64)).rows.shape == (0, 2)


def test_integers_longer_than_any_double_become_small_ones():
    assert integer_rows(np.array([[3**700, 5 << 3000], [1, 1 << 3000]], object)).rows.tolist() == [[3**700, 5], [1, 1]]


def test_columns_and_rows_of_any_scale_become_small_integers():
    columns = np.array([[3 * 2.0**1000, 5 * 2.0**-1000], [7 * 2.0**1000, 2.0**-1000]])
    assert integer_rows(columns).rows.tolist() == [[3, 5], [7, 1]]
    rows = np.array([[3 * 2.0**1000, 2.0**1000], [TINY, 5 * TINY]])
    assert integer_rows(rows).rows.tolist() == [[3, 1], [1, 5]]


@given(values=float_tables, data=st.data())
@settings(max_examples=200, deadline=None)
def test_weights_on_scaled_columns_have_the_same_signs_on_the_original_rows(values, data):
    found = integer_rows(values)
    w = data.draw(st.lists(st.integers(-9, 9), min_size=values.shape[1], max_size=values.shape[1]))
    original = original_weights(w, found.column_exponents)
    for side, scaled in zip(signs(form_of(original, 0), values), found.rows.tolist(), strict=True):
        assert side == np.sign(sum(a * b for a, b in zip(scaled, w, strict=True)))


def test_multipliers_of_scaled_rows_cancel_the_original_rows():
    values = np.array([[HUGE, 1.0], [-TINY, 0.0], [0.0, -TINY]])
    found = integer_rows(values)
    u = original_multipliers(null_combination(found.rows.tolist()), found.row_exponents)
    assert min(u) > 0 and math.gcd(*u) == 1
    assert all(sum(n * Fraction(x) for n, x in zip(u, column, strict=True)) == 0 for column in values.T.tolist())


@given(st.lists(st.integers(-(10**400), 10**400) | st.integers(-9, 9), min_size=1, max_size=5))
def test_rounded_weights_keep_their_proportions(weights):
    doubles = to_doubles(weights)
    assert np.isfinite(doubles).all()
    top = max(range(len(weights)), key=lambda j: abs(weights[j]))
    for w, rounded in zip(weights, doubles.tolist(), strict=True):
        expected = Fraction(w) * Fraction(doubles[top]) / (weights[top] or 1)
        assert abs(Fraction(rounded) - expected) <= abs(expected) * power(-51) + power(-1074)


def test_weights_that_span_two_thousand_powers_of_two_survive():
    assert (to_doubles([1, 1 << 2000]) > 0).all()
    assert to_doubles([3, -4]).tolist() == [3.0, -4.0]
    assert to_doubles([1 << 60, -(3 << 59), 0]).tolist() == [1.0, -1.5, 0.0]
    assert to_doubles([1 << 2000, 1]).tolist() == [2.0**978, 2.0**-1022]


@given(st.lists(st.tuples(doubles, doubles | st.integers(-(10**40), 10**40)), max_size=6))
def test_dot_products_are_those_of_fractions(pairs):
    form = form_of([int(w) for _, w in pairs], 0)
    total, exponent = exact_score(form, [x for x, _ in pairs], range(len(pairs)))
    assert total * power(exponent) == sum((Fraction(x) * int(w) for x, w in pairs), Fraction(0))


moderate = st.floats(-1e6, 1e6) | st.sampled_from([TINY, -TINY, 2.0**-600, 3e-170])


@given(st.lists(st.tuples(moderate, moderate), min_size=1, max_size=9))
@settings(max_examples=300)
def test_the_rounding_bound_holds(pairs):
    x, w = np.array(pairs).T
    exact = sum((Fraction(a) * Fraction(b) for a, b in pairs), Fraction(0))
    bound = float(rounding_bound(len(x), np.abs(x) @ np.abs(w)))
    assert abs(Fraction(float(x @ w)) - exact) <= Fraction(bound)


def test_a_rounding_is_half_a_unit_of_a_double_or_of_the_smallest():
    assert (np.finfo(float).eps / 2, np.finfo(float).smallest_subnormal) == (UNIT_ROUNDOFF, SMALLEST)


def test_a_product_is_charged_for_each_of_its_terms():
    assert rounding_factor(1 << 50) == 0.125 / 0.875
    assert rounding_bound(1 << 49, 1.0) == rounding_factor((1 << 50) + 2)
    assert rounding_bound(3, 0.0) == 3 * SMALLEST


def test_independent_rows_and_columns_are_the_first_ones():
    rows = [[0, 0, 0], [1, 2, 3], [2, 4, 6], [0, 0, 1], [1, 2, 4]]
    assert independent_rows(rows) == [1, 3]
    assert independent_columns(rows) == [0, 2]
    assert independent_rows([]) == independent_columns([]) == []


@pytest.mark.parametrize(
    ("rows", "all_columns"),
    [
        ([[1, 0], [0, 1], [1, 1]], True),
        ([[1, 2], [3, 4]], True),
        ([[1, 2], [2, 4], [3, 6]], False),
        ([[1, 0]], False),
        ([[1], [0]], True),
        ([[PRIME, 0], [0, 1]], False),
    ],
)
def test_as_many_independent_rows_as_columns_span_everything(rows, all_columns):
    assert has_all_columns(rows) is all_columns


def test_solutions_are_integers_over_one_positive_denominator():
    numerators, denominator = solve(fmpz_mat([[2, 0], [0, -3]]), fmpz_mat([[1], [1]]))
    assert ([int(n) for n in numerators.entries()], denominator) == ([3, -2], 6)
    with pytest.raises(ZeroDivisionError):
        solve(fmpz_mat([[1, 1], [1, 1]]), fmpz_mat([[1], [2]]))


@pytest.mark.parametrize(("bits", "right_bits"), [(31, 8), (53, 60), (80, 130)])
def test_many_equations_are_solved_in_words_as_flint_solves_them(bits, right_bits):
    random = Random(bits)
    matrix = fmpz_mat([[random.getrandbits(bits) - (1 << bits - 1) for _ in range(FEWEST)] for _ in range(FEWEST)])
    right = fmpz_mat([[random.getrandbits(right_bits) - (1 << right_bits - 1)] for _ in range(FEWEST)])
    assert is_for(FEWEST, bits)
    numerators, denominator = solve(matrix, right)
    assert (numerators, denominator) == matrix.solve(right).numer_denom()


def test_a_solution_with_short_numbers_needs_few_digits():
    random = Random(0)
    matrix = fmpz_mat([[random.getrandbits(53) for _ in range(20)] for _ in range(20)])
    found = fmpz_mat([[random.getrandbits(9) - 256] for _ in range(20)])
    assert lifted(matrix, matrix * found, 10**6) == (found, 1)


@pytest.mark.parametrize("bits", [1, 19, 20, 21, 39, 40, 41, 200])
def test_digits_of_integers_are_those_integers(bits):
    numbers = [(1 << bits) - 1, -(1 << bits) + 1, 1 << bits - 1, 0, -1]
    digits = Digits.of_integers([numbers]).places[::-1, 0].astype(int).T.tolist()
    assert [sum(d << BITS * k for k, d in enumerate(number)) for number in digits] == numbers


def value(digits):
    """The numbers that digits stand for: places x rows x columns."""
    units = [power(-BITS * (k + 1)) for k in range(len(digits))]
    return (digits.astype(np.int64).astype(object) * np.array(units)[:, None, None]).sum(axis=0).tolist()


def test_digits_of_floats_are_those_floats_but_for_what_is_left():
    numbers = np.array([[0.1, -1.0], [2.0**-40, 1 / 3]])
    digits, rest = Digits.of(numbers)
    assert not rest.any() and value(digits.places) == [[Fraction(v) for v in row] for row in numbers.tolist()]
    assert Digits.of(np.array([[2.0**-20]]))[0].places.tolist() == [[[1.0]]]
    assert Digits.of(np.zeros((1, 2)))[0].places.tolist() == [[[0.0, 0.0]]]
    digits, rest = Digits.of(np.array([[2.0**-320, 2.0**-321]]))
    assert len(digits.places) == MOST_DIGITS and rest.tolist() == [[0.0, 2.0**-321]]


def test_products_of_digits_are_exact():
    random = Random(0)
    left = np.array([[random.uniform(-1, 1) * 2.0 ** -random.randrange(60) for _ in range(3)] for _ in range(4)])
    right = [[random.getrandbits(70) - (1 << 69) for _ in range(2)] for _ in range(3)]
    product = Digits.of(left)[0] @ Digits.of_integers(right)
    unit = BITS * len(Digits.of_integers(right).places)
    for row, found in zip(left.tolist(), value(product), strict=True):
        sums = [sum(Fraction(x) * w for x, w in zip(row, column, strict=True)) for column in zip(*right, strict=True)]
        assert [v * power(unit) for v in found] == sums
    assert product[1:].max() < 1 << BITS - 1 and product[1:].min() >= -1 << BITS - 1


def test_a_singular_system_is_left_to_others():
    assert lifted(fmpz_mat([[1, 2], [2, 4]]), fmpz_mat([[1], [2]]), 100) is None


@pytest.mark.parametrize(
    ("rows", "combination"),
    [
        ([[1, 0], [0, 1], [-2, -3]], (2, 3, 1)),
        ([[0, 0]], (1,)),
        ([[1, 2]], None),
        ([[1, 0], [-1, 0], [2, 0]], None),
        ([[1, 0, 5], [0, 1, 5], [1, 1, 10], [0, 0, 1]], (1, 1, -1, 0)),
    ],
)
def test_the_null_combination_is_found_where_it_is_one_line(rows, combination):
    assert null_combination(rows) == combination


def test_a_rank_that_only_the_prime_lowers_is_not_believed():
    assert null_combination([[1, 0], [1, PRIME]]) is None
    assert null_combination([[PRIME, 0]]) is None


def test_coprime_leaves_zeros_alone():
    assert coprime([0, 0]) == (0, 0)
    assert coprime([]) == ()


def test_python_numbers_of_any_length_become_integers():
    from linsep.exact import integer_rows

    values = np.array([[0.5, 2**70], [3, -1.5]], dtype=object)
    found = integer_rows(values)
    back = [
        [int(n) * Fraction(2) ** int(-c - r) for n, c in zip(row, found.column_exponents, strict=True)]
        for row, r in zip(found.rows, found.row_exponents, strict=True)
    ]
    assert back == [[Fraction(1, 2), 2**70], [3, Fraction(-3, 2)]]


@given(st.integers(1, 6), st.integers(0, 2**32))
def test_few_rows_are_combined_by_elimination_as_many_are_by_solving(columns, seed):
    random = np.random.default_rng(seed)
    rows = random.integers(-3, 4, (random.integers(1, columns + 3), columns)).tolist()
    quick = null_combination(rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("linsep.exact.FEW_ROWS", 0)
        assert null_combination(rows) == quick
