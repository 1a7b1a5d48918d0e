"""Exact signs against Fractions, on values chosen to hurt."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy import sparse

from linsep import signs as module
from linsep.signs import form_of, form_of_doubles, signs

TINY, HUGE = 2.0**-1074, 1.7976931348623157e308
NASTY = [0.0, -0.0, TINY, -TINY, HUGE, -HUGE, 1.0, -1.0, 2.0**-1022, 1 + 2.0**-52, -(2.0**53) - 1, 1e300, 0.1]
DTYPES = [
    np.float64,
    np.float32,
    np.int8,
    np.int16,
    np.int32,
    np.int64,
    np.uint8,
    np.uint16,
    np.uint32,
    np.uint64,
]

doubles = st.sampled_from(NASTY) | st.floats(allow_nan=False, allow_infinity=False)


def exact_signs(X, w, b):
    """The signs of Python integers and of the stages before them, which must agree."""
    form, few = form_of_doubles(w, b), module.FEW
    found = signs(form, X)
    try:
        module.FEW = -1
        assert signs(form, X).tolist() == found.tolist()
    finally:
        module.FEW = few
    return found


def exact_signs_csr(data, indices, indptr, w, b):
    return exact_signs(sparse.csr_array((data, indices, indptr), shape=(len(indptr) - 1, len(w))), w, b)


def sign(row, w, b) -> int:
    terms = (Fraction(x) * Fraction(v) for x, v in zip(row.tolist(), w.tolist(), strict=True))
    score = sum(terms, Fraction(b))
    return (score > 0) - (score < 0)


@st.composite
def tables(draw, dtype):
    shape = draw(st.tuples(st.integers(1, 3), st.integers(1, 6)))
    if dtype == np.float64:
        elements = doubles
    elif dtype == np.float32:
        elements = st.floats(width=32, allow_nan=False, allow_infinity=False)
    else:
        info = np.iinfo(dtype)
        elements = st.sampled_from([info.min, info.max, info.max - 1, 0, 1]) | st.integers(info.min, info.max)
    return draw(arrays.arrays(dtype, shape, elements=elements))


@pytest.mark.slow
@pytest.mark.parametrize("dtype", DTYPES)
@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_signs_are_those_of_fractions_dense_and_sparse(dtype, data):
    X = data.draw(tables(dtype))
    w = data.draw(arrays.arrays(np.float64, X.shape[1], elements=doubles))
    b = data.draw(doubles)
    expected = [sign(row, w, b) for row in X]
    assert exact_signs(X, w, b).tolist() == expected
    indptr, indices = np.arange(len(X) + 1) * X.shape[1], np.tile(np.arange(X.shape[1]), len(X))
    assert exact_signs_csr(X.ravel(), indices, indptr, w, b).tolist() == expected


@settings(max_examples=300, deadline=None)
@given(x=st.lists(doubles, min_size=1, max_size=5), w=st.lists(doubles, min_size=5, max_size=5), last=doubles)
def test_sums_that_cancel_exactly_are_zero_and_one_smallest_double_more_is_not(x, w, last):
    weights = np.array([*w[: len(x)], *w[: len(x)], 1.0])
    row = np.array([[*x, *(-v for v in x), last]])
    assert exact_signs(row, weights, -last).tolist() == [0]
    row = np.array([[*x, *(-v for v in x), TINY]])
    assert exact_signs(row, weights, 0.0).tolist() == [1]
    assert exact_signs(row, np.append(weights[:-1], -TINY), 0.0).tolist() == [-1]


def test_each_row_is_summed_by_itself():
    X = np.array([[HUGE, TINY], [TINY, TINY], [-HUGE, TINY], [0.0, 0.0], [TINY, -TINY]])
    assert exact_signs(X, np.array([HUGE, TINY]), 0.0).tolist() == [1, 1, -1, 0, 1]


@pytest.mark.slow
def test_many_terms_carry_correctly():
    row = np.full((1, 100_000), HUGE)
    assert exact_signs(row, row[0], 0.0).tolist() == [1]
    assert exact_signs(row, -row[0], HUGE).tolist() == [-1]
    assert exact_signs(row, np.tile([HUGE, -HUGE], 50_000), -TINY).tolist() == [-1]


def test_sparse_rows_may_be_empty_and_repeat_a_column():
    data, indices, indptr = np.array([1.0, 1.0, -2.0]), np.array([0, 0, 0]), np.array([0, 0, 2, 3])
    assert exact_signs_csr(data, indices, indptr, np.array([1.0]), -2.0).tolist() == [-1, 0, -1]


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
def test_the_three_exact_stages_agree_on_rows_that_lie_on_the_hyperplane(dtype):
    random = np.random.default_rng(0)
    half = random.integers(1, 2**23, (200, 3)).astype(dtype)
    X, w = np.hstack([half, half]), random.normal(size=3)
    assert not exact_signs(X, np.hstack([w, -w]), 0.0).any()  # pairs of doubles
    assert not exact_signs(X, np.array([3.0, 5, 7, -3, -5, -7]), 0.0).any()  # words
    assert not exact_signs(X, np.hstack([w, -w]) * 2.0**-1000, 0.0).any()  # scaled back
    assert (exact_signs(X, np.hstack([w, -w]) * 2.0**-500, 2.0**-1000) == 1).all()  # Python integers


def test_an_integer_that_a_double_would_round_is_not_rounded():
    X = np.array([[2**53 + 1, 1], [2**53 - 1, 1]])
    assert exact_signs(X, np.array([1.0, np.pi]), -(2.0**53)).tolist() == [1, 1]
    assert exact_signs(X, np.array([np.pi, 0.0]), -np.pi * 2.0**53).tolist() == [1, -1]


def test_a_slice_of_a_wider_array_is_read_with_its_strides():
    X = np.arange(12.0).reshape(3, 4) - 6
    assert exact_signs(X[:, 1:3], np.array([1.0, -1.0]), 1.0).tolist() == [0, 0, 0]


@pytest.mark.parametrize("unit", [1.0, 0.125, 2.0**-1060])
def test_whole_numbers_are_told_apart_up_to_the_last_double_and_beyond(unit):
    rows = np.array([[2.0, 2.0**53 - 1], [2.0, 2.0**53], [2.0, 2.0**53 + 2], [1.0, 2.0**52]] * 200) * unit
    assert signs(form_of([2**52, -1], 0), rows).tolist() == [1, 0, -1, 0] * 200
    assert signs(form_of([2**52, -1], 0), rows[::-1]).tolist() == [0, -1, 0, 1] * 200


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.int64, bool])
@pytest.mark.parametrize("bits", [3, 40, 90])
def test_columns_of_integers_without_weight_change_no_sign(dtype, bits):
    rng = np.random.default_rng(bits)
    values = rng.integers(0, 2 if dtype is bool else 100, (200, 40)).astype(dtype)
    weights, constant = [0] * 40, int(rng.integers(-3, 4)) << bits
    for column in (3, 17, 30):
        weights[column] = int(rng.integers(-3, 4)) << bits
    exact = [sum(w * int(v) for w, v in zip(weights, row, strict=True)) + constant for row in values]
    assert signs(form_of(weights, constant), values).tolist() == [(s > 0) - (s < 0) for s in exact]


@given(st.integers(1, 5), st.integers(50, 62), st.integers(0, 2**32))
def test_scores_near_the_end_of_64_bits_have_the_right_sign(columns, bits, seed):
    random = np.random.default_rng(seed)
    X = random.integers(-(2**31), 2**31, (6, columns))
    weights = [int(w) for w in random.integers(-(2 ** (bits - 31)), 2 ** (bits - 31), columns)]
    constant = int(random.integers(-(2**62), 2**62))
    exact = [sum(w * int(x) for w, x in zip(weights, row, strict=True)) + constant for row in X]
    for values in (X, X.astype(np.int32), X.astype(np.float64)):
        assert signs(form_of(weights, constant), values).tolist() == [(s > 0) - (s < 0) for s in exact]


def test_the_largest_integers_do_not_wrap_round():
    values = np.array([[-(2**63)], [2**63 - 1]])
    assert signs(form_of([1], 0), values).tolist() == [-1, 1] == signs(form_of([2**40], -1), values).tolist()
    assert signs(form_of([1], -1), np.array([[2**64 - 1]], np.uint64)).tolist() == [1]


@given(st.lists(st.integers(-(2**54), 2**54), min_size=1, max_size=5))
def test_a_form_of_short_weights_is_like_one_of_long_ones(weights):
    short, (floats, shift) = form_of(weights, 1), module.scaled_floats([*weights, 1])
    assert (short.floats == floats).all() and short.shift == shift and (short.sizes == abs(floats)).all()


def test_weights_of_thousands_of_bits_have_exact_signs_on_many_rows():
    long = 1 << module.LONG
    rows = np.random.default_rng(0).integers(-9, 10, (2 * module.TOGETHER, 3)).astype(np.float64)
    rows[:, 2] = -rows[:, 0] - rows[:, 1]  # long·(a + b + c) = 0: the sign is that of a
    assert (signs(form_of([long + 1, long, long], 0), rows) == np.sign(rows[:, 0])).all()
