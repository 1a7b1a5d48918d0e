"""The ends of a margin, function by function, against Fractions; the mutants of the library are put before these."""

import math
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse

from linsep import exact
from linsep.errors import CertificateError, OverflowedError
from linsep.proofs import margin_checks as margins
from linsep.proofs.checked_rows import MemoryRows
from linsep.signs import form_of
from tests.test_proof_units import Source, rows

KINDS = [np.asarray, scipy.sparse.csr_array]
TABLES = [
    ([[3.0, 1], [5, 0.5], [-1, -2], [0.125, -7]], [1, 1, -1, -1], [3, 1], 2),
    ([[2.0**60, 3], [2.0**60, 5], [-(2.0**50), 1]], [1, 1, -1], [1, 5], -3),
    ([[1.5, 0.1, 7], [1e-30, 0.3, 0.0], [-2.5, -4, -1]], [1, 1, -1], [2**70, 12, -1], 1),
    ([[4, 1], [9, 0]], [1, 1], [1, 1], 0),
]


def signed(table, y, bias=False):
    return [[s * Fraction(v) for v in [*row, *([1] if bias else [])]] for row, s in zip(table, y, strict=True)]


def scores_of(table, y, w, b):
    return [sum(v * c for v, c in zip(row, [*w, b], strict=True)) for row in signed(table, y, True)]


def scanned(table, y, **more):
    """Rows that a scan is asked about; what it says is made up."""
    source = Source(table, y)
    source.said = (
        SimpleNamespace(**{"lowest": (2.0, 1.0), "longest2": 16.0} | more) if more.get("longest2", 1) else None
    )
    return source


@pytest.fixture
def no_table_is_small(monkeypatch):
    monkeypatch.setattr(exact, "FEW_CELLS", 0)
    monkeypatch.setattr(margins, "FEW_CELLS", 0)


# From below ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("k", range(len(TABLES)))
def test_every_row_is_so_far_away_and_none_farther(kind, k):
    table, y, w, b = TABLES[k]
    given, square = rows(kind(np.array(table)), y), sum(v * v for v in w)
    least = min(scores_of(table, y, w, b))
    assert margins.least_score(given, form_of(w, b)) == least
    assert margins.squared_floor(given, form_of(w, b), square) == least * abs(least) / square
    low = margins.root_below(least**2 / square)
    margins.check_margin_low(given, w, b, low)
    margins.check_margin_low(given, w, b, low / 2)
    for more in (math.nextafter(low, math.inf), 1.001 * low, 2 * low):
        if Fraction(more) ** 2 * square > least**2:
            with pytest.raises(CertificateError, match="is nearer to the hyperplane than"):
                margins.check_margin_low(given, w, b, more)


class Blocks(MemoryRows):
    """Rows that come one by one."""

    def blocks(self):
        for k in range(self.n_rows):
            yield self.take([k])


@pytest.mark.parametrize("order", [[3, 5, 4], [5, 3, 4], [5, 4, 3]])
def test_the_least_and_the_longest_of_all_rows_are_found_wherever_they_are(order):
    table, y = np.array(order)[:, None], np.ones(3, np.int8)
    for given in (Blocks(table.astype(float), y), rows(table.astype(object))):  # of Python integers floats tell nothing
        assert margins.least_score(given, form_of([2], 1)) == 7
    low, high = margins.squared_reach(Blocks(table.astype(float), y), constant=False)
    assert low < 25 < high < 26
    low, high = margins.squared_reach(Blocks(2.0 ** (200 * table), y), constant=False)
    assert low < Fraction(4) ** 1000 < high


def test_a_row_on_the_wrong_side_has_no_margin_and_one_on_the_hyperplane_that_of_0():
    given = rows([[3.0], [-4.0]])
    for low in (0.0, 1.0):
        with pytest.raises(CertificateError, match="Row 1"):
            margins.check_margin_low(given, [1], 0, low)
    assert margins.squared_floor(given, form_of([1], 0), 2) == -8
    margins.check_margin_low(rows([[3.0], [0.0]]), [1], 0, 0.0)


def test_only_rows_that_floats_leave_open_are_added_exactly():
    given = rows([[1.0], [2.0], [3.0]])
    near = margins._near_scores(given, form_of([4], 0), 1.5)  # floats are in eighths of the score
    assert dict(near) == {0: 4}
    assert dict(margins._scores_up_to(given, form_of([4], 0), math.inf)) == {0: 4, 1: 8, 2: 12}
    form = form_of([4], 0)
    assert 0.5 < margins._ceiling_of(form, next(given.blocks())) < 0.5 + 1e-12


def test_a_row_is_near_unless_its_score_less_its_error_is_above(monkeypatch):
    monkeypatch.setattr(
        margins, "scores", lambda *_: (np.array([1.0, 1, 1, 3]), np.array([0.5, 0.25, 0.125, math.nan]))
    )
    block = next(rows([[4.0], [5.0], [6.0], [7.0]]).blocks())
    assert dict(margins._block_up_to(form_of([1], 0), 0.75, block)) == {0: 4, 1: 5, 3: 7}


def test_what_is_near_is_so_by_a_hair_more_than_the_margin(monkeypatch):
    monkeypatch.setattr(margins, "_scores_up_to", lambda rows, form, ceiling: ceiling)
    assert margins._near_scores(None, form_of([3, 4], 0), 1.5) == 1.5 * 0.625 * (1 + 2.0**-40) ** 2


def test_a_scan_tells_the_lowest_score_less_its_error(no_table_is_small):
    form = form_of([3, 4], -2)  # in floats 3/8, 4/8, -2/8
    source = scanned([[1.0, 1]], [1])
    length = 0.625 * (1 + 2.0**-40)
    assert margins._length_above(form) == length
    reach = length * 4 + 0.25
    error = exact.rounding_factor(12) * reach * (1 + 2.0**-30)
    assert margins._scanned(source, form) == (1.0, error)
    assert source.scanned == [([0.375, 0.5], -0.25)]
    assert margins._scanned_floor(source, form) == 1.0 - error < 1.0
    low = (1.0 - error) / (math.hypot(0.375, 0.5, 0.25) * (1 + 2.0**-40)) * (1 - 2.0**-40)
    assert margins.scanned_squared_floor(source, form) == Fraction(low) ** 2
    margins.check_margin_low(source, [3, 4], -2, 1.59)  # the scan says so: the row itself is not looked at
    with pytest.raises(CertificateError):
        margins.check_margin_low(source, [3, 4], -2, 1.61)


def test_a_scan_is_charged_for_each_column(no_table_is_small):
    form = form_of([3, 4, 0, 0, 0], -2)
    reach = 0.625 * (1 + 2.0**-40) * 4 + 0.25
    assert margins._scanned(scanned([[1.0] * 5], [1]), form)[1] == exact.rounding_factor(18) * reach * (1 + 2.0**-30)


@pytest.mark.parametrize("longest2", [0, 1e-290, 1e285, math.inf])
def test_a_scan_that_cannot_tell_says_nothing(no_table_is_small, longest2):
    form = form_of([1], 0)
    assert margins._scanned(scanned([[1.0]], [1], longest2=longest2), form) == (-math.inf, 0.0)
    assert margins.scanned_squared_floor(scanned([[1.0]], [1], longest2=longest2), form) == 0


def test_scores_beyond_the_range_of_squares_are_not_told(no_table_is_small):
    tiny = form_of([1, 2**600], 0)  # in floats 2^-601 and 1/2
    assert margins._scanned(scanned([[1.0, 1]], [1]), tiny)[0] == 1.0
    assert margins._scanned(scanned([[1.0, 1]], [1], longest2=1e-281), form_of([1, 1], 1))[0] == -math.inf
    assert margins._scanned(scanned([[1.0, 1]], [1], longest2=1e-200), form_of([0, 0], 0))[0] == -math.inf
    assert margins._scanned(rows([[1.0]]), form_of([1], 0)) == (-math.inf, 0.0)
    assert margins._scanned(scanned([[1.0]], [1]), form_of([2**60 + 1], 0)) == (-math.inf, 0.0)


def test_a_lowest_score_below_zero_proves_nothing(no_table_is_small):
    for lowest in (0.0, -3.0):
        assert margins.scanned_squared_floor(scanned([[1.0]], [1], lowest=(5.0, lowest)), form_of([1], 0)) == 0


# From above ----------------------------------------------------------------------------------------------

PAIR = ([[3.0, 1], [5, 0.5], [-1, -2], [0.125, -7]], [1, 1, -1, -1])
MULTIPLES = [3, 1, 2, 5]


def above(table, y, u, bias):
    """The square of what no margin exceeds, as its theorem has it."""
    z = signed(table, y, bias is None)
    if bias:
        sums = {s: sum(k for k, t in zip(u, y, strict=True) if t == s) for s in (1, -1)}
        u, total = [Fraction(k, sums[s]) for k, s in zip(u, y, strict=True)], 2
    else:
        total = sum(u)
    return sum(sum(k * v for k, v in zip(u, column, strict=True)) ** 2 for column in zip(*z, strict=True)) / total**2


@pytest.mark.parametrize("bias", [True, False, None])
@pytest.mark.parametrize("kind", KINDS)
def test_rows_with_weights_bound_every_margin(kind, bias):
    given = rows(kind(np.array(PAIR[0])), PAIR[1])
    square = above(*PAIR, MULTIPLES, bias)
    assert margins.squared_ceiling(given, range(4), MULTIPLES, bias) == square
    assert margins.float_ceiling(given, range(4), MULTIPLES, bias) == math.inf  # few
    assert margins.ceiling_above(given, range(4), MULTIPLES, bias) == square
    high = margins.root_above(square)
    margins.check_margin_high(given, range(4), MULTIPLES, bias, high)
    with pytest.raises(CertificateError, match="do not show that the margin is at most"):
        margins.check_margin_high(given, range(4), MULTIPLES, bias, math.nextafter(high, 0.0))
    for numbers, weights in (([0, 0], [1, 1]), ([0, 2], [1, -1]), ([0, 9], [1, 1]), ([], [])):
        with pytest.raises(CertificateError):
            margins.check_margin_high(given, numbers, weights, bias, 1e9)


@pytest.mark.parametrize("numbers", [[0, 1], [2, 3]])
def test_with_a_bias_both_classes_have_a_nearest_row(no_table_is_small, numbers):
    with pytest.raises(CertificateError, match="needs rows of both classes"):
        margins.check_margin_high(rows(*PAIR), numbers, [1, 2], True, 1e9)


@pytest.mark.parametrize("bias", [True, False, None])
@pytest.mark.parametrize("kind", KINDS)
def test_floats_bound_it_with_their_roundings_paid_for(no_table_is_small, kind, bias):
    given = rows(kind(np.array(PAIR[0])), PAIR[1])
    bound = margins.float_ceiling(given, range(4), MULTIPLES, bias)
    root = math.sqrt(above(*PAIR, MULTIPLES, bias))
    u = np.array(MULTIPLES) / (np.where(np.array(PAIR[1]) > 0, 4, 7) * 2 if bias else 11)
    size = math.hypot(*(u @ abs(np.array(PAIR[0]))), *([1.0] if bias is None else []))
    assert bound == pytest.approx((root + exact.rounding_factor(20) * size) * (1 + 2.0**-40), rel=1e-15, abs=0)
    assert margins.ceiling_above(given, range(4), MULTIPLES, bias) == Fraction(bound) ** 2
    margins.check_margin_high(given, range(4), MULTIPLES, bias, bound)
    if Fraction(math.nextafter(bound, 0.0)) > Fraction(root) * (1 + Fraction(1, 2**50)):
        margins.check_margin_high(given, range(4), MULTIPLES, bias, math.nextafter(bound, 0.0))


def test_floats_leave_it_to_integers_where_they_cannot_tell(no_table_is_small, monkeypatch):
    near = rows([[1e17 + 16], [1e17]], [1, -1])  # what is left is small beside the roundings
    assert margins.float_ceiling(near, [0, 1], [1, 1], True) == math.inf
    monkeypatch.setattr(margins, "EXACT_CELLS", 1)
    assert margins.float_ceiling(near, [0, 1], [1, 1], True) < math.inf
    for table in ([[2**1000], [1]], np.array([[2**70], [1]], object), [[2.0**500], [1.0]], [[2.0**-500], [0.0]]):
        given = rows(np.array(table, object) if isinstance(table, list) and table[0][0] == 2**1000 else table, [1, -1])
        assert margins.float_ceiling(given, [0, 1], [1, 1], True) == math.inf
    assert margins.float_ceiling(rows([[5.0], [1]], [1, -1]), [0, 1], [2**1000, 1], True) == math.inf
    assert margins.float_ceiling(rows([[5.0], [1]], [1, -1]), [0, 1], [1, 2**999], True) < math.inf


def test_an_exact_margin_is_that_of_the_hyperplane_and_of_its_nearest_rows():
    given = rows([[3.0, 4], [0, 0], [9, 9]], [1, -1, 1])
    right = ([6, 8], -25, [0, 1], [1, 1], True, Fraction(25, 4), (2.5, 2.5))
    margins.check_exact_margin(given, *right)
    margins.check_exact_margin(given, *right[:6], (2.0, 3.0))
    wrong = {
        0: [8, 6], 1: -24, 2: [2, 1], 3: [1, 0], 5: Fraction(6), 6: (2.6, 2.7),
    }  # fmt: skip
    for place, value in wrong.items():
        with pytest.raises(CertificateError):
            margins.check_exact_margin(given, *right[:place], value, *right[place + 1 :])
    for margin in ((2.4, 2.4), (2.51, 3.0), (2.6, 2.4), (1.0, 2.49)):
        with pytest.raises(CertificateError, match=f"The margin {margin[0]} to {margin[1]} is not that"):
            margins.check_exact_margin(given, *right[:6], margin)
    for square in (Fraction(25, 4) + Fraction(1, 1000), Fraction(25, 4) - Fraction(1, 1000)):
        with pytest.raises(CertificateError, match="is not gamma_squared"):
            margins.check_exact_margin(given, *right[:5], square, (2.0, 3.0))
    with pytest.raises(CertificateError, match="is not gamma_squared"):  # right about the rows, not the hyperplane
        margins.check_exact_margin(given, [6, 8], -24, *right[2:])
    with pytest.raises(CertificateError, match="is not gamma_squared"):  # right about the hyperplane, not the rows
        margins.check_exact_margin(given, [6, 8], -25, [2, 1], *right[3:])


def test_the_nearest_rows_of_an_exact_margin_have_positive_weights():
    given = rows([[3.0, 0], [2, 1]])  # x + y = 3 is nearer to the origin than either row, beyond them
    claim = ([-1, 3], False, Fraction(9, 2), (2.0, 2.25))
    assert margins.squared_ceiling(given, [0, 1], *claim[:2]) == Fraction(9, 2) < 5  # (2, 1) has a margin of √5
    with pytest.raises(CertificateError, match="row 0 a weight that is not positive"):
        margins.check_exact_margin(given, [1, 1], 0, [0, 1], *claim)


def test_bounds_are_those_that_the_checks_accept(no_table_is_small):
    given = rows([[3.0, 4], [0, 0], [9, 9]], [1, -1, 1])
    low, high = margins.margin_bounds(given, [6, 8], -25, [0, 1], [1, 1], True)
    assert low == 2.5 and 2.5 <= high < 2.5 + 1e-9
    with pytest.raises(CertificateError, match="all zero"):
        margins.margin_bounds(given, [0, 0], 1, [0, 1], [1, 1], True)
    source = scanned([[3.0, 4], [0, 0]], [1, -1], lowest=(0.7812, 0.7813), longest2=25.0)
    source.take = source.rows.take
    form = form_of([6, 8], -25)
    lowest, error = margins._scanned(source, form)
    expected = (lowest - error) / margins._length_above(form) * (1 - 2.0**-40)
    assert margins.margin_bounds(source, [6, 8], -25, [0, 1], [1, 1], True)[0] == expected


# Lengths and roots ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scale", [1.0, 2.0**-500, 2.0**500, 3 * 2.0**-480])
@pytest.mark.parametrize("constant", [True, False])
def test_the_longest_row_is_between_two_bounds_at_any_scale(kind, scale, constant):
    table = scale * np.array([[3.0, -7, 1], [5, 5.5, 0], [-6, 0, 0]])
    before = table.copy()
    low, high = margins.squared_reach(rows(kind(table)), constant=constant)
    longest = max(sum(Fraction(v) ** 2 for v in row) for row in table.tolist())
    slack = Fraction(11, 2**52)
    assert low <= longest + constant <= high and (table == before).all()
    assert abs(high - constant - longest * (1 + slack)) <= longest / 2**50
    assert abs(low - constant - longest * (1 - slack)) <= longest / 2**50
    assert low < longest + constant < high


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("value", [2.0**-600, -(2.0**-600), 2.0**600, -(2.0**600)])
def test_rows_of_one_sign_have_lengths_at_any_scale(kind, value):
    low, high = margins.squared_reach(rows(kind([[value], [value / 2]])), constant=False)
    assert low < Fraction(value) ** 2 < high < Fraction(value) ** 2 * (1 + Fraction(1, 2**40))


def test_integers_and_empty_rows_have_lengths():
    assert margins.squared_reach(rows(np.array([[3, -4]])), constant=False)[0] < 25
    low, high = margins.squared_reach(rows(scipy.sparse.csr_array((2, 3))), constant=True)
    assert (low, high) == (1, 1)


NUMBERS = [Fraction(2), Fraction(1, 3), Fraction(10) ** 700, Fraction(1, 10**500), Fraction(9), 1 + Fraction(1, 2**60)]
NUMBERS += [Fraction(4) ** 1023, Fraction(2) ** 2047, Fraction(2**1024 - 2**970) ** 2]


@pytest.mark.parametrize("square", NUMBERS)
def test_roots_are_rounded_to_the_side_that_they_are_for(square):
    low, high = margins.root_below(square), margins.root_above(square)
    assert Fraction(low) ** 2 <= square and (math.isinf(high) or Fraction(high) ** 2 >= square)
    after = math.nextafter(low, math.inf)
    assert math.isinf(after) or Fraction(after) ** 2 > square
    assert high == low if Fraction(low) ** 2 == square else high == after
    assert margins.root_below(-square) == 0.0 and margins.root_below(Fraction(0)) == 0.0


@pytest.mark.parametrize("number", NUMBERS)
def test_doubles_are_beside_a_number_on_the_side_asked_for(number):
    low, high = margins.float_below(number), margins.float_above(number)
    assert Fraction(low) <= number and (math.isinf(high) or Fraction(high) >= number)
    assert high == low if Fraction(low) == number else high == math.nextafter(low, math.inf)


def test_a_scan_that_overflows_says_nothing(no_table_is_small):
    source = scanned([[1.0]], [1])

    def scan(w, b):
        raise OverflowedError("too large")

    source.scan = scan
    assert margins._scanned(source, form_of([1], 0)) == (-math.inf, 0.0)
