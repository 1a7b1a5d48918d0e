"""The loops that say what numbers are like, against NumPy."""

import numpy as np
import pytest

from linsep.loops.numbers import NOT_WHOLE, is_below, is_finite, largest_whole, mark_first

HUGE = np.finfo(float).max
SIZES = [0, 1, 7, 1024, 1025, 5000]


@pytest.mark.parametrize("size", SIZES)
def test_values_are_finite_however_large_their_sum(size):
    assert is_finite(np.full(size, HUGE)) and is_finite(np.full(size, -5e-324))


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("place", [0, 1023, 1024, 4999])
def test_one_value_that_is_not_finite_is_noticed(bad, place):
    values = np.full(5000, HUGE)
    values[place] = bad
    assert not is_finite(values)
    assert not is_below(values, np.inf)


@pytest.mark.parametrize("size", SIZES[1:])
def test_the_largest_of_integers_is_found_and_a_fraction_anywhere(size):
    values = np.arange(size) - 7.0
    assert largest_whole(values) == np.abs(values).max()
    values[-1] += 0.5
    assert largest_whole(values) == NOT_WHOLE


@pytest.mark.parametrize(("value", "expected"), [(2.0**53, False), (-(2.0**53), False), (2.0**53 - 1, True)])
def test_a_bound_is_not_below_itself(value, expected):
    values = np.zeros(3000)
    values[2900] = value
    assert is_below(values, 2.0**53) == expected


@pytest.mark.parametrize("kind", [np.int32, np.int64, np.float64])
def test_two_values_are_told_apart_and_a_third_is_noticed(kind):
    values = np.array([3, -1, 3, 3, -1] * 700, kind)
    marks = np.empty(len(values), np.bool_)
    assert mark_first(values, kind(3), kind(-1), marks)
    assert np.array_equal(marks, values == 3)
    values[-2] = 4
    assert not mark_first(values, kind(3), kind(-1), marks)
