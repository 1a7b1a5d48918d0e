"""The two numbers of a positive-definite proof, function by function: what each rounding is charged with.

The mutants of the library are put before these.
"""

import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse

from linsep import exact
from linsep.errors import CertificateError
from linsep.proofs import eigenvalues
from linsep.proofs.eigenvalues import LEAST, TWICE_ROUNDOFF, Bounds, _Entries, _Sum, bounds_of

KINDS = [np.array, scipy.sparse.csr_array]


def exact_length(table, weights):
    """|r| in Fractions, each column divided by the power of two above its largest u·z."""
    square = Fraction(0)
    for column in zip(*table, strict=True):
        products = [u * Fraction(v) for u, v in zip(weights, column, strict=True)]
        top = max(map(abs, products))
        scale = Fraction(2) ** (math.frexp(top)[1] if top < 2**900 else int(top).bit_length())
        square += (sum(products) / scale) ** 2
    return math.sqrt(square)


LONG = 2**53
SUMS = {
    "short": ([[3.0, 1], [-1, 2], [-2, -3.5]], [1, 2, 3]),
    "nearly cancelling": ([[1.0, 2.0**-60], [-1.0, 1], [2.0**-70, -1]], [1, 1, 1]),
    "long weights": ([[1.0], [-1]], [LONG + 1, LONG]),
    "one long weight": ([[1.0], [-1], [3]], [2**60 + 1, 2**60, 1]),
    "very long weights": ([[1.0], [-1], [1]], [3**700, 3**700 - 1, 3**650]),
    "long integers": (np.array([[2**60 + 1], [-(2**60)]]), [1, 1]),
    "long negative integers": (np.array([[-(2**60) - 1], [2**59], [2**59]]), [1, 1, 1]),
    "unsigned": (np.array([[2**63 + 1, 1]], np.uint64), [3]),
    "any integers": (np.array([[2**70 + 1, 2], [-(2**70), 3]], object), [1, 1]),
    "many rows": ([[1.0], [-0.999]] * 50, [1] * 100),
    "all on one side": ([[1.0]] * 60, [LONG + 1] * 60),
}


@pytest.mark.parametrize("name", SUMS)
@pytest.mark.parametrize("kind", KINDS)
def test_the_sum_of_the_rows_is_bounded_from_above_by_a_hair(name, kind):
    table, weights = SUMS[name]
    values = np.array(table)
    if kind is not np.array and values.dtype == object:
        pytest.skip("sparse rows hold no Python integers")
    found = bounds_of(kind(values), np.ones(len(values)), weights, bias=False).length
    length = exact_length(values.tolist(), weights)
    assert length <= found <= length * (1 + 2e-9) + 2 * LEAST + 1e-28


def test_a_bias_is_a_column_of_ones_and_signs_are_applied():
    table, y, weights = [[1.0, 4], [2, 3], [5, -1]], [1, -1, -1], [2, 1, 3]
    signed = [[s * v for v in [*row, 1]] for row, s in zip(table, y, strict=True)]
    for kind in KINDS:
        found = bounds_of(kind(table), np.array(y), weights, bias=True)
        assert found.length == pytest.approx(exact_length(signed, weights), rel=1e-8, abs=0)
        plain = bounds_of(kind(signed), np.ones(3), weights, bias=False)
        assert (found.least, found.length) == pytest.approx((plain.least, plain.length), rel=1e-12, abs=0)


@pytest.mark.parametrize(
    ("least", "room", "few", "again", "holds"),
    [(2.0, 1.0, 6, False, True), (0.5, 1.0, 6, True, True), (0.5, 1.0, 5, True, False), (0.5, 1.5, 6, True, False),
     (0.5, 1.0, 6, False, False), (1.0, 1.0, 6, False, False)],
)  # fmt: skip
def test_integers_are_asked_where_floats_cannot_decide_about_few_rows(monkeypatch, least, room, few, again, holds):
    monkeypatch.setattr(_Sum, "length", lambda self: 1.0)
    monkeypatch.setattr(eigenvalues, "least_eigenvalue", lambda *_: least)
    monkeypatch.setattr(eigenvalues, "exceeds", lambda *_: again)
    monkeypatch.setattr(eigenvalues, "FEW_ENTRIES", few)
    assert bounds_of(np.ones((3, 2)), np.ones(3), [1] * 3, bias=False, room=room).holds is holds
    assert Bounds(1.0, 1.0).holds is False


def test_a_rounding_is_charged_twice_what_it_can_be():
    assert TWICE_ROUNDOFF == 2 * exact.UNIT_ROUNDOFF == 2.0**-52


def test_the_eigenvalue_of_axes_is_found():
    table = np.array([[1.0, 0], [-1, 0], [0, 1], [0, -1]])
    for kind in KINDS:
        found = bounds_of(kind(table), np.ones(4), [1] * 4, bias=False)
        assert found.holds and 0 < found.least <= 1.0


# Entries -------------------------------------------------------------------------------------------------


def test_a_sparse_row_has_no_entry_twice_in_whatever_order():
    data, ends = np.array([1.0, 2.0]), np.array([0, 2])
    with pytest.raises(CertificateError, match="an entry twice"):
        _Entries.of(scipy.sparse.csr_array((data, np.array([1, 1]), ends), (1, 3)), np.ones(1), False)
    turned = scipy.sparse.csr_array((data, np.array([2, 0]), ends), (1, 3))
    assert _Entries.of(turned, np.ones(1), False).columns.tolist() in ([2, 0], [0, 2])


def test_numbers_beyond_the_largest_double_are_refused():
    with pytest.raises(CertificateError, match="below the largest double"):
        _Entries.of(np.array([[10**400]], object), np.ones(1), False)


@pytest.mark.parametrize(
    ("values", "kept"),
    [(np.array([[0.1]], np.float32), True), (np.array([[0.1]]), True), (np.array([[0.1]], np.longdouble), False),
     (np.array([[LONG]]), True), (np.array([[LONG + 1]]), False), (np.array([[-LONG - 1]]), False),
     (np.array([[-LONG]]), True), (np.array([[2**63]], np.uint64), False), (np.array([[3]], np.int8), True),
     (np.zeros((2, 0), np.int64), True), (np.array([[True]]), True), (np.array([[1]], object), False)],
)  # fmt: skip
def test_values_that_are_doubles_are_known(values, kept):
    assert bool(eigenvalues._is_kept(values)) is kept


def test_weights_are_split_into_a_number_below_1_and_a_power_of_two():
    weights = [1, 5, 2**60 + 1, 3**700, 2**1000, 2**999]
    u, exponents = eigenvalues._split(weights)
    assert ((u >= 0.5) & (u < 1)).all()
    for one, exponent, weight in zip(u.tolist(), exponents.tolist(), weights, strict=True):
        assert abs(Fraction(one) * Fraction(2) ** exponent - weight) <= Fraction(weight, 2**53)


def test_rows_are_put_back_where_they_were(monkeypatch):
    monkeypatch.setattr(eigenvalues, "PIECE", 3)
    table = np.zeros((40, 5))
    table[3, 2], table[7, 0], table[39, 4] = 5.0, -1.0, 2.0
    for values in (table, scipy.sparse.csr_array(table), table[:10], scipy.sparse.csr_array(table[:10, :3])):
        entries = _Entries.of(values, np.ones(values.shape[0]), False)
        found = entries.table(entries.data)
        dense = found.toarray() if scipy.sparse.issparse(found) else found
        assert (dense == (values.toarray() if scipy.sparse.issparse(values) else values)).all()
        assert sum(part.stop - part.start for part in entries.pieces()) >= len(entries.data)


# The sum -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n_rows", "room"), [(1, 2), (5, 3), (6, 4), (1000, 10)])
def test_sums_have_room_for_every_row(n_rows, room):
    assert _Sum(n_rows, 1).sigmas == [2.0 ** (room + k * (room - 53)) for k in range(4)]


def test_every_round_takes_bits_off_and_the_length_pays_for_the_rest():
    total = _Sum(6, 2)
    high, low = np.array([1.0, 2.0**-60, 2.0**-110]), np.array([2.0**-50, 0, 0])
    total.add(np.array([0, 0, 1]), high, low)
    assert [k.tolist() for k in total.sums[0]] == [[1.0, 0], [2.0**-60, 0], [0, 2.0**-110]]
    assert [k.tolist() for k in total.sums[1]] == [[0.0, 0], [2.0**-50, 0], [0, 0]]
    sizes = np.array([1 + 2.0**-60 + 2.0**-50, 2.0**-110])
    error = 12 * TWICE_ROUNDOFF * sizes + 12 * 2.0 ** (4 + 3 * (4 - 53))
    expected = float(np.linalg.norm(sizes + error)) * (1 + 1e-9) + LEAST
    assert total.length() == pytest.approx(expected, rel=1e-15, abs=0)
    total.add(np.array([0, 1]), np.array([-1.0, -(2.0**-110)]), np.array([-(2.0**-50), 0]))
    assert 2.0**-60 <= total.length() <= 2.0**-60 * (1 + 1e-8)


def test_what_cancels_pays_for_what_was_left():
    total = _Sum(6, 1)
    total.add(np.array([0, 0]), np.array([1.0, -1.0]), np.zeros(2))
    assert total.length() == pytest.approx(12 * 2.0 ** (4 + 3 * (4 - 53)), rel=1e-8, abs=0)
    assert LEAST < 1e-139 and total.length() > LEAST
    total.add(np.array([0]), np.array([2.0**-140]), np.zeros(1))
    assert total.length() == pytest.approx(2.5 * 2.0**-140, rel=1e-8, abs=0)
    total.add(np.array([0]), np.array([1.0]), np.array([2.0**-52 - 1]))  # in rounds apart: their sum is rounded
    assert total.length() == pytest.approx(25 * 2.0**-52, rel=1e-8, abs=0)


def test_an_exact_sum_is_rounded_up():
    values, y = np.array([[3.0, 4.0]]), np.ones(1)
    length = eigenvalues._exact_length(values, y, [1], False, np.array([0, 0]))
    assert length == 5 * (1 + 1e-9) + LEAST
    assert eigenvalues._exact_length(values, y, [1], True, np.array([0, 0, 0])) == math.sqrt(26) * (1 + 1e-9) + LEAST
    both = np.array([[1.0], [-1.0]])
    assert eigenvalues._exact_length(both, np.ones(2), [1, 1], False, np.array([0])) == LEAST
    assert eigenvalues._exact_length(values, y, [1], False, np.array([-600, 0])) == math.inf
    assert eigenvalues._exact_length(values, y, [1], False, np.array([-400, 0])) < math.inf


# The matrix ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("row", "halvings"),
    [
        ([1.0, 2.0**-27], 1),
        ([0.5, 0.5], 0),
        ([0.25, 2.0**-29], 0),
        ([0.24, 0], -1),
        ([2.0**-300, 0], -149),
        ([1e-135, 0], None),
    ],
)
def test_a_row_is_divided_by_the_least_power_of_two_that_its_length_asks_for(row, halvings):
    table = np.array([row, [0.75, 0.5]])
    z = _Entries.of(table, np.ones(2), False)
    a = eigenvalues._leveled(z, z.data)[:2].tolist()
    assert a == ([0.0, 0.0] if halvings is None else [v / 2.0**halvings for v in row])
    if halvings is not None:
        assert sum(Fraction(v) ** 2 for v in row) <= Fraction(16) ** halvings


def asked(monkeypatch, a, length, room=1.0, residual=0.0):
    """What `least_eigenvalue` says where the matrix has so small a residual, and what it asks for."""
    said = []
    monkeypatch.setattr(eigenvalues, "_residual", lambda _, *given: said.append(given) or residual)
    return eigenvalues.least_eigenvalue(a, length, room), said


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("room", [1.0, 3.0])
def test_the_least_eigenvalue_is_a_shift_less_all_that_was_rounded(monkeypatch, kind, room):
    a = kind([[30.0, 0], [0, 40.0], [1, 1]])
    trace = 2502 * (1 + 1e-9) + LEAST
    off, rounded = 21 * TWICE_ROUNDOFF * trace, 11 * TWICE_ROUNDOFF * trace
    least, said = asked(monkeypatch, a, 7.0, room)
    shift = room * (1.01 * 7 + 64 * off)
    assert said == [
        (pytest.approx(shift, rel=1e-15, abs=0), pytest.approx(shift * (1 - 1e-9) - rounded - 7, rel=1e-14, abs=0))
    ]
    assert least == pytest.approx(shift * (1 - 1e-9) - rounded, rel=1e-15, abs=0)
    tiny, said = asked(monkeypatch, a, 0.0, room)  # nothing but the roundings
    assert tiny == pytest.approx(room * 64 * off * (1 - 1e-9) - rounded, rel=1e-14, abs=0)
    nothing, said = asked(monkeypatch, a, 0.0, room, residual=room * 8 * off)
    assert nothing == pytest.approx(room * 56 * off * (1 - 1e-9) - rounded, rel=1e-6, abs=0)
    nothing, said = asked(monkeypatch, a, 0.0, room, residual=1.0)
    assert nothing == -math.inf and said[1][0] == pytest.approx(room * 8 * off, rel=1e-14, abs=0)


def test_floats_prove_nothing_about_what_is_not_finite_or_too_long():
    assert eigenvalues.least_eigenvalue(np.eye(2), math.inf) == -math.inf
    assert eigenvalues.least_eigenvalue(np.eye(2), 2.0) == -math.inf
    assert 0.5 < eigenvalues.least_eigenvalue(np.eye(2), 0.5) < 1.0


def test_floats_prove_nothing_about_so_many_rows_that_their_roundings_show():
    table = scipy.sparse.csc_array(([1.0], [0], [0, 1]), shape=(4503599627370, 1))
    assert eigenvalues.least_eigenvalue(table) == -math.inf


@pytest.mark.parametrize("a", [[[3.0], [4.0]], [[1.0, 1], [1, -1], [2, 0]], [[40.0, 0], [0, 40]], [[0.5]]])
@pytest.mark.parametrize("kind", KINDS)
def test_integers_prove_what_exceeds_the_length_and_all_that_is_lost(monkeypatch, a, kind):
    monkeypatch.setattr(eigenvalues, "FINE", 6)  # so that each unit shows
    table = np.array(a)
    lost = math.isqrt(table.size) + 1 + math.ceil(24 * float(np.linalg.norm(table)) * (1 + 1e-9))
    eigenvalue = min(np.linalg.eigvalsh(table.T @ table)) * 4**6
    for root in range(1, math.isqrt(int(eigenvalue)) + 3):
        least = (root + 1 + lost) ** 2
        holds = eigenvalues.exceeds(kind(table), root**2 / 4.0**6)
        assert not (holds and least > eigenvalue)
        if least + least // 100 > eigenvalue + 1:
            assert not holds


def test_the_units_that_are_lost_are_charged(monkeypatch):
    monkeypatch.setattr(eigenvalues, "FINE", 12)
    shifts = []
    monkeypatch.setattr(np.linalg, "cholesky", lambda m: shifts.append(m.copy()) or np.zeros_like(m))
    table = np.array([[3.0], [4.0]])
    assert eigenvalues.exceeds(table, 100 / 4.0**12) is False
    least = (10 + 1 + (1 + 1 + 121)) ** 2
    assert shifts[0][0, 0] == (25 * 4**12 - least - least // 100) / 4.0**12


def test_integers_prove_nothing_of_a_factor_that_is_not_one(monkeypatch):
    table = np.array([[2.0, 0], [0, 2.0]])
    assert eigenvalues.exceeds(table, 1.0)
    true = np.linalg.cholesky
    one_row, turned = np.diag([0.0, 1.0]), np.eye(2)[::-1]
    for wrong in (lambda m: true(m) + 1, np.zeros_like, lambda m: true(m) + turned, lambda m: 2 * true(m),
                  lambda m: true(m) + one_row):  # fmt: skip
        with monkeypatch.context() as patch:
            patch.setattr(np.linalg, "cholesky", wrong)
            assert not eigenvalues.exceeds(table, 3.9)
    for table, length in ((np.array([[65.0]]), 1.0), (np.array([[2.0]]), math.inf), (np.array([[2.0]]), 4.5)):
        assert eigenvalues.exceeds(table, length) is False
    assert eigenvalues.exceeds(np.array([[64.0]]), 1.0)


@pytest.mark.parametrize("most", [1, 4, 1000])
def test_a_sparse_gram_matrix_is_the_dense_one(monkeypatch, most):
    monkeypatch.setattr(eigenvalues, "MOST_PRODUCTS", most)
    table = np.arange(21.0).reshape(7, 3) * [1, 0, -1] - [0, 0, 5]
    assert (eigenvalues.gram_of(scipy.sparse.csr_array(table)) == table.T @ table).all()
    assert (eigenvalues.gram_of(table) == table.T @ table).all()


@pytest.mark.parametrize("width", [1, 3])
def test_a_residual_is_charged_by_the_method_or_computed(width):
    gram, shift = np.diag([4.0] * width) + 0.125 * (np.ones((width, width)) - np.eye(width)), 1.0
    factor = np.linalg.cholesky(gram - shift * np.eye(width))
    trace = 4.0 * width
    size = (float((factor**2).sum()) + trace) * (1 + 1e-9)
    by_method = (2 * width + 64) * TWICE_ROUNDOFF * (size + trace + shift) + LEAST
    assert eigenvalues._residual(gram.copy(), shift, 1.0) == pytest.approx(by_method, rel=1e-12, abs=0)
    computed = eigenvalues._residual(gram.copy(), shift, 0.0)
    charged = (width + 8) * TWICE_ROUNDOFF * (size + shift) + LEAST
    assert charged <= computed <= charged + 8 * TWICE_ROUNDOFF * trace
    assert eigenvalues._residual(gram.copy(), 5.0, 1.0) == math.inf
    with np.errstate(all="ignore"):
        assert eigenvalues._residual(np.diag([math.inf] * width), shift, 0.0) == math.inf


def test_a_residual_is_the_largest_sum_of_what_differs(monkeypatch):
    from scipy.linalg import lapack

    gram = np.array([[4.0, 1.0], [1.0, 3.0]])
    off = np.array([[0.0, 0.0], [0.25, -0.5]])
    true = lapack.dpotrf

    def wrong(a, **options):
        triangle, failed = true(a, **options)
        return triangle + off, failed

    monkeypatch.setattr(lapack, "dpotrf", wrong)
    triangle = np.linalg.cholesky(gram - np.eye(2)) + off
    error = np.abs(gram - np.eye(2) - triangle @ triangle.T)
    found = eigenvalues._residual(gram.copy(), 1.0, 0.0)
    assert found == pytest.approx(max(error.sum(axis=0).max(), error.sum(axis=1).max()), rel=1e-9, abs=0)


def test_what_is_computed_of_a_residual_pays_for_its_own_roundings(monkeypatch):
    from scipy.linalg import lapack

    triangle = 2 * np.eye(3)
    triangle[1, 0] = 0.25
    monkeypatch.setattr(lapack, "dpotrf", lambda *_, **__: (triangle, 0))
    size = (12 + 0.0625 + 15) * (1 + 1e-9)
    expected = 0.5625 * (1 + 6 * TWICE_ROUNDOFF) + 11 * TWICE_ROUNDOFF * (size + 1) + LEAST
    assert eigenvalues._residual(5 * np.eye(3), 1.0, 0.0) == pytest.approx(expected, rel=2.0**-53, abs=0)
