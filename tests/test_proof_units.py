"""The mathematics of the proofs, function by function, where a small change would go unnoticed in a whole proof.

The mutants of the library (`campaigns/mutants.py`) are put before these.
"""

from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse

from linsep import exact
from linsep.errors import CertificateError, NotFiniteError, OverflowedError
from linsep.exact import integer_rows
from linsep.proofs import Obstruction, checks, definite
from linsep.proofs.checked_rows import MemoryRows, check_reading, is_decimal, needs_exact_integers, scales_of
from linsep.proofs.definite import ColumnDependence
from linsep.proofs.eigenvalues import Bounds
from linsep.proofs.obstructions import check_as_spread, check_obstruction, require_fit
from linsep.proofs.packings import UNITS, Leaf, cost_of_rows, least_cost, require_all_cases, require_apart
from linsep.report import RowNames
from linsep.signs import form_of

NAN = float("nan")


def rows(values, signs=None, **more):
    """Rows in memory, all of the class +1 unless said otherwise."""
    values = np.asarray(values) if isinstance(values, list) else values
    signs = np.ones(values.shape[0], np.int8) if signs is None else np.array(signs, np.int8)
    return MemoryRows(values, signs, **more)


class Source:
    """Rows that score themselves, and what they are made to say about a form."""

    def __init__(self, values, signs=None, *, certain=0, doubtful=(), exact_signs=(), is_finite=True):
        self.rows = rows(values, signs)
        self.facts = SimpleNamespace(is_finite=is_finite)
        self.said = SimpleNamespace(certain=certain, doubtful=np.array(doubtful, np.int64))
        self.exact_signs, self.scanned, self.n_read = np.array(exact_signs), [], 0
        self.n_rows, self.n_columns, self.blocks = self.rows.n_rows, self.rows.n_columns, self.rows.blocks

    def scan(self, w, b):
        self.scanned.append((w.tolist(), b))
        if self.said is None:
            raise OverflowedError("too large")
        return self.said

    def take(self, numbers):
        return SimpleNamespace(exact_signs=lambda w, b: self.exact_signs[: len(numbers)])

    def each(self, work):
        self.n_read += 1
        return map(work, self.blocks())


# How the rows were read -----------------------------------------------------------------------------------


class InBlocks:
    """Rows of one column, a block for each."""

    n_columns = 1

    def __init__(self, *values):
        self.values, self.n_rows = values, len(values)

    def blocks(self):
        for k, value in enumerate(self.values):
            yield np.array([k]), np.array([[value]]), np.array([1], np.int8)

    def take(self, numbers):
        raise NotImplementedError


def test_one_block_with_a_long_integer_makes_the_rows_integers():
    check_reading(InBlocks(1, 2**53 + 1), "exact-integers", 0)
    with pytest.raises(CertificateError, match="as binary64; these rows hold an integer beyond 2"):
        check_reading(InBlocks(1, 2**53 + 1), "binary64", 0)
    with pytest.raises(CertificateError, match="no integer of the rows is beyond 2"):
        check_reading(InBlocks(1, 2**53), "exact-integers", 0)


@pytest.mark.parametrize(
    ("numbers", "scales", "wrong"), [("decimal", (10,), "binary64"), ("exact-integers", None, "binary64"),
                                     ("binary64", None, "decimal"), ("binary64", None, "exact-integers")]
)  # fmt: skip
def test_a_source_says_how_its_rows_were_read(numbers, scales, wrong):
    source = Source([[1.0]])
    source.facts = SimpleNamespace(numbers=numbers, scales=scales, rows_left_out=0)
    assert (scales_of(source), is_decimal(source)) == (scales, numbers == "decimal")
    assert needs_exact_integers(source) == (numbers != "binary64")
    check_reading(source, numbers, 0)
    with pytest.raises(CertificateError, match=f"The proof reads numbers as {wrong}"):
        check_reading(source, wrong, 0)


def test_integers_in_memory_read_the_same_either_way_unless_they_were_decimals():
    assert [is_decimal(rows([[1]], is_decimal=was)) for was in (False, True)] == [None, True]
    assert is_decimal(rows([[1.0]])) is False
    with pytest.raises(CertificateError, match="these rows were read as exact decimals"):
        check_reading(rows([[1]], is_decimal=True), "binary64", 0)
    with pytest.raises(CertificateError, match="these rows were read as binary64"):
        check_reading(rows([[1.0]]), "decimal", 0)


# Names, numbers, sides -----------------------------------------------------------------------------------


def test_names_are_compared_one_by_one_where_both_are_known():
    for stated, found in ((None, ["a"]), (["a"], None), (["a", "b"], ("a", "b"))):
        checks.check_names(stated, found)
    with pytest.raises(CertificateError, match="Column 1 is called 'c'; in the proof it is 'b'"):
        checks.check_names(["a", "b"], ["a", "c"])
    with pytest.raises(CertificateError, match="Column 0 is called 'a'"):
        checks.check_names(["a", "b"], ["a"])


@pytest.mark.parametrize(
    "values", [[[1.0], [NAN]], np.array([[1], [NAN]], object), scipy.sparse.csr_array([[1.0], [NAN]])]
)
def test_a_number_that_is_not_finite_is_found_and_named(values):
    with pytest.raises(NotFiniteError) as found:
        checks.check_finite(rows(values))
    assert found.value.row == 1
    with pytest.raises(NotFiniteError):
        checks.taken(rows(values), [1])
    checks.taken(rows(values), [0])


def test_rows_that_are_known_to_be_finite_are_not_read_for_that():
    checks.check_finite(rows([[NAN]], is_finite=True))
    source = Source([[1.0]])
    checks.check_finite(source)
    assert source.n_read == 0
    with pytest.raises(NotFiniteError):
        checks.check_finite(Source([[NAN]], is_finite=False))


def test_only_sources_with_many_cells_are_scanned(monkeypatch):
    monkeypatch.setattr(exact, "FEW_CELLS", 7)
    table = [[1.0, 2.0]] * 4
    assert checks.is_worth_a_scan(Source(table)) and not checks.is_worth_a_scan(rows(table))
    assert not checks.is_worth_a_scan(Source(table[:3]))


@pytest.mark.parametrize(
    ("certain", "doubtful", "signs", "clean"),
    [
        (0, [], [], True),
        (2, [], [], False),
        (0, [1, 3], [1, 1], True),
        (0, [1, 3], [1, 0], False),
        (0, [1], [-1], False),
    ],
)
def test_a_scan_is_clean_if_every_row_is_strictly_on_its_side(certain, doubtful, signs, clean):
    source = Source([[1.0, 2.0]], certain=certain, doubtful=doubtful, exact_signs=signs)
    assert checks._scan_is_clean(source, form_of([4, -2], 1)) is clean
    assert source.scanned == [([0.5, -0.25], 0.125)]


def test_a_scan_with_a_certain_mistake_or_an_overflow_is_not_clean():
    source = Source([[1.0]], certain=1, doubtful=[0], exact_signs=[1])
    assert checks._scan_is_clean(source, form_of([1], 0)) is False
    source.said = None
    assert checks._scan_is_clean(source, form_of([1], 0)) is False


def test_a_separator_has_no_row_on_the_hyperplane_nor_behind_it():
    checks.check_separator(rows([[1.0], [3.0]]), [2], -1)
    for value, where in ((0.5, "on the hyperplane"), (0.0, "on the wrong side")):
        with pytest.raises(CertificateError, match=f"Row 1 lies {where}"):
            checks.check_separator(rows([[1.0], [value], [-3.0]]), [2], -1)
    with pytest.raises(NotFiniteError) as found:
        checks.check_separator(rows([[1.0], [NAN]], kept=np.array([4, 6])), [1], 0)
    assert found.value.row == 6


def test_a_weak_separator_puts_one_row_strictly_on_its_side():
    table = rows([[0.0], [1.0], [2.0], [0.0]])
    assert checks.check_weak_separator(table, [1], 0).tolist() == [1, 2]
    assert checks.check_weak_separator(table, [1], 0, named=False).tolist() == [1]
    with pytest.raises(CertificateError, match="Every row lies"):
        checks.check_weak_separator(rows([[0.0], [0.0]]), [1], 0)
    with pytest.raises(CertificateError, match="Row 2 lies on the wrong side"):
        checks.check_weak_separator(rows([[0.0], [1.0], [-1.0]]), [1], 0)


def test_separated_rows_are_those_found_and_no_others():
    checks.check_same_rows([3, 1], np.array([1, 3]))
    for claimed, row in (([1], 3), ([1, 2, 3], 2), ([0, 1, 2, 3], 0), ([1, 3, 3], 1)):
        with pytest.raises(CertificateError, match=f"Row {row}:"):
            checks.check_same_rows(claimed, np.array([1, 3]))


# Combinations and spans ----------------------------------------------------------------------------------

CANCEL = rows([[1.0, 0], [-1, 0], [0, 3], [2, 0]])
REFUSED = {
    "no row": ([], []),
    "a weight too few": ([0, 1], [1]),
    "a row twice": ([0, 1, 1], [2, 1, 1]),
    "a weight of 0": ([0, 1, 2], [1, 1, 0]),
    "a negative weight": ([0, 3], [2, -1]),
    "a row that is not there": ([0, 4], [1, 1]),
    "a negative row": ([-3, 0], [1, 1]),
    "rows that do not cancel": ([0, 1, 2], [1, 1, 1]),
}


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.parametrize("check", [checks.check_combination, checks.check_spread])
def test_a_combination_is_refused_with(check, name):
    with pytest.raises(CertificateError):
        check(CANCEL, *REFUSED[name], False, "obstruction")


def test_a_combination_cancels_in_the_constant_too():
    checks.check_combination(rows([[2.0], [2.0]], [1, -1]), [0, 1], [1, 1], True, "obstruction")
    checks.check_combination(rows([[1.0], [2.0]], [1, -1]), [0, 1], [2, 1], False, "obstruction")
    with pytest.raises(CertificateError, match="in the constant"):
        checks.check_combination(rows([[1.0], [2.0]], [1, -1]), [0, 1], [2, 1], True, "obstruction")


def test_a_spread_spans_every_row_but_those_exempt():
    table = rows([[1.0, 0], [-1, 0], [2, 0]])
    checks.check_spread(table, [0, 1], [1, 1], False, "spread")
    with pytest.raises(CertificateError, match="Row 2 is not a linear combination"):
        checks.check_spread(CANCEL, [0, 1], [1, 1], False, "spread")
    with pytest.raises(CertificateError, match="Row 2 is not a linear combination"):
        checks.check_span(CANCEL, [0, 1], False, "spread")
    checks.check_span(CANCEL, [0, 1], False, "spread", np.array([2]))
    both = rows([[1.0, 0], [-1, 0], [0, 3], [0, 5]])
    with pytest.raises(CertificateError, match="Row 3"):
        checks.check_span(both, [0, 1], False, "spread", np.array([2]))


def test_sums_in_64_bits_do_not_wrap():
    assert checks._product([1] * 8, np.array([[-(2**61)]] * 8)) == [-(2**64)]
    assert checks._product([2**30, -(2**31)], np.array([[2**40], [2**40]])) == [-(2**70)]
    assert checks._product([1, 2], np.array([[3, -4], [5, 6]])) == [13, 8]


def test_a_weighted_sum_is_exact_at_every_scale():
    for values in ([[0.75, 2.0**80], [3.0, -0.5], [2.0**-70, 1]], [[1, 2], [3, -4], [5, 6]]):
        table = integer_rows(np.array(values), bias=True)
        sums = checks.weighted_sum([3, 5, 2**65], [0, 1, 2], table)
        columns = [*np.array(values).T.tolist(), [1, 1, 1]]
        for j, column in enumerate(columns):
            m, e = sums[j]
            assert m * Fraction(2) ** e == sum(u * Fraction(v) for u, v in zip((3, 5, 2**65), column, strict=True))


@pytest.mark.parametrize("bias", [False, True])
def test_a_row_with_an_entry_where_those_named_have_none_is_outside_their_span(bias):
    table = rows([[1.0, 0, 0], [2, 0, 0], [3, 1, 0], [3, 0, -1]])
    assert checks.rows_outside_span(table, [0, 1], bias).tolist() == [2, 3]


@pytest.fixture
def no_forms(monkeypatch):
    """Rows are solved for their combinations: forms would take too long."""
    monkeypatch.setattr(checks, "LONG", 1)
    monkeypatch.setattr(checks, "_vanishing_forms", None)


def test_rows_are_solved_for_where_forms_would_be_many_and_long(no_forms):
    table = rows([[1.0, 2, 3], [2, 4, 6], [2, 4, 7], [0, 0, 0]])
    assert checks.rows_outside_span(table, [0], False).tolist() == [2]


def test_rows_that_all_vanish_modulo_the_prime_do_not_span_everything(monkeypatch):
    monkeypatch.setattr(checks, "LONG", 1)
    table = rows(np.array([[exact.PRIME, 0, exact.PRIME], [0, exact.PRIME, exact.PRIME], [1, 0, 0], [1, 1, 2]]))
    assert checks.rows_outside_span(table, [0, 1], False).tolist() == [2]


def test_rows_that_were_not_asked_for_are_refused():
    class Wrong(MemoryRows):
        def take(self, numbers):
            return MemoryRows.take(self, [0] * len(numbers))

    with pytest.raises(CertificateError, match="did not return the rows"):
        checks.taken(Wrong(np.ones((2, 1)), np.ones(2, np.int8)), [0, 1])


def spanned(table, numbers, bias, row):
    """Whether a row is in the span of others, by ranks of floats: for small integers."""
    full = np.column_stack([table, np.ones(len(table))]) if bias else table
    rank = np.linalg.matrix_rank
    return rank(full[[*numbers, row]]) == rank(full[numbers])


@pytest.mark.parametrize("long", [1, 2, 3, 4, 5, 500])
@pytest.mark.parametrize("kind", [np.asarray, scipy.sparse.csr_array])
@pytest.mark.parametrize("bias", [False, True])
def test_the_rows_outside_a_span_are_found_in_every_way(monkeypatch, long, kind, bias):
    monkeypatch.setattr(checks, "LONG", long)
    monkeypatch.setattr(checks, "AT_ONCE", long)
    rng = np.random.default_rng(long)
    for _ in range(40):
        table = rng.integers(-2, 3, (8, 3)) * rng.integers(0, 2, 3) + rng.integers(0, 2) * rng.integers(-1, 2, (8, 3))
        table = table.astype(float)
        y = rng.choice([-1, 1], 8)
        numbers = sorted(rng.choice(8, rng.integers(1, 4), replace=False).tolist())
        outside = [k for k in range(8) if not spanned(table, numbers, bias, k)]
        given = rows(kind(table), y)
        assert checks.rows_outside_span(given, numbers, bias).tolist() == outside
        assert checks.rows_outside_span(given, numbers, bias, most=1).tolist() == outside  # one block
        form = form_of([1, -1, 0], 0)
        on = [k for k in outside if table[k, 0] == table[k, 1]]
        assert checks.rows_outside_span(given, numbers, bias, on=form).tolist() == on


def test_entries_that_are_stored_as_zero_are_none():
    stored = scipy.sparse.csr_array((np.array([0.0, 2.0]), np.array([0, 1]), np.array([0, 1, 2])), (2, 2))
    assert checks.has_entries(stored, np.array([True, False])).tolist() == [False, False]
    assert checks.has_entries(stored, np.array([True, True])).tolist() == [False, True]


def test_long_lists_of_rows_are_cut():
    assert checks.few(range(8)) == "0, 1, 2, 3, 4, 5, 6, 7"
    assert checks.few(range(9)) == "0, 1, 2, 3, 4, 5, 6, 7 and 1 more"


# Obstructions --------------------------------------------------------------------------------------------


def test_an_obstruction_is_put_in_order_and_compared_by_what_it_proves():
    points = np.array([[3.0], [1.0]])
    found = Obstruction([3, np.int64(1)], [4, 6], classes=(np.int64(7), "b"), points=points)
    assert (found.rows, found.weights, found.classes, found.points.tolist()) == ((1, 3), (3, 2), ("b", 7), [[1], [3]])
    assert type(found.classes[1]) is int and type(found.rows[0]) is int
    assert found == Obstruction((1, 3), (3, 2)) != Obstruction((1, 3), (2, 3))
    assert repr(found) == "<Obstruction: rows 1, 3>" and repr(Obstruction((4,), (1,))) == "<Obstruction: row 4>"
    assert Obstruction((1,), (1,), dependences=[]).dependences == ()


@pytest.mark.parametrize(
    ("numbers", "weights", "more"),
    [
        ((-1, 2), (1, 1), {}), ((1, 1), (1, 1), {}), ((1, 2), (1,), {}), ((), (), {}), ((1, 2), (1, 0), {}),
        ((1, 2), (1, -1), {}), ((0.5,), (1,), {}), ((1, 2), (1, 1), {"classes": ("a",)}),
        ((1,), (1,), {"dependences": [ColumnDependence((0,), (1,)), ColumnDependence((1, 0), (1, 1))]}),
    ],
)  # fmt: skip
def test_what_is_not_an_obstruction_is_refused(numbers, weights, more):
    with pytest.raises(CertificateError):
        Obstruction(numbers, weights, **more)


def test_rows_have_the_ids_that_users_gave_them():
    found = Obstruction((1, 3), (1, 1))
    assert found.ids == (1, 3)
    assert Obstruction((1, 3), (1, 1), row_names=RowNames({1: "one", 3: "three"})).ids == ("one", "three")


def test_an_obstruction_cancels_and_a_spread_spans_what_is_not_exempt():
    found, wrong = Obstruction((0, 1), (1, 1)), Obstruction((0, 2), (1, 1))
    table = rows([[1.0, 0], [-1, 0], [2, 0], [0, 3]])
    check_obstruction(found, table, False)
    check_as_spread(found, rows([[1.0, 0], [-1, 0], [2, 0]]), False)
    check_as_spread(found, table, False, np.array([3]))
    for refused in (
        lambda: check_obstruction(wrong, table, False),
        lambda: check_as_spread(wrong, rows([[1.0], [1], [2]]), False),
        lambda: check_as_spread(wrong, table, False, np.array([3])),
        lambda: check_as_spread(found, table, False),
        lambda: check_as_spread(found, table, False, np.array([2])),
    ):
        with pytest.raises(CertificateError):
            refused()


def test_shares_are_parts_of_the_weight_of_a_class():
    found = Obstruction((0, 1, 2), (1, 3, 4), classes=("a", "a", "b"))
    assert (found.shares, Obstruction((0, 1), (1, 1)).shares) == ((0.25, 0.75, 1.0), None)


def test_a_positive_definite_obstruction_is_its_own_spread_and_of_doubles():
    plain, own = Obstruction((0, 1), (1, 1)), Obstruction((0, 1), (1, 1), dependences=())
    require_fit(plain, plain, "decimal")
    require_fit(plain, Obstruction((0, 2), (1, 1)), "binary64")
    require_fit(own, own, "binary64")
    require_fit(own, None, "binary64")
    for one, other in ((plain, own), (own, plain)):
        with pytest.raises(CertificateError, match="its own spread"):
            require_fit(one, other, "binary64")
    with pytest.raises(CertificateError, match="not for exact decimals"):
        require_fit(own, None, "decimal")


AXES = [[1.0, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0]]
PAIRS = Obstruction((0, 1, 2, 3), (1, 1, 1, 1), dependences=())
ALIKE = ColumnDependence((2, 0), (1, -1))  # the last column is the first


@pytest.mark.parametrize("kind", [np.array, scipy.sparse.csr_array])
def test_the_rows_of_a_positive_definite_proof_span_what_is_0_in_its_unused_columns(kind):
    check_obstruction(PAIRS, rows(kind([*AXES, [0, 0, 1.0]])), False)
    check_as_spread(PAIRS, rows(kind([*AXES, [5, 7.0, 0]])), False)
    other = rows(kind([*AXES, [5.0, 7, 0], [0, 0, 1.0], [0, 0, 2.0]]))
    with pytest.raises(CertificateError, match="Row 5 is not a linear combination"):
        check_as_spread(PAIRS, other, False)
    with pytest.raises(CertificateError, match="Row 6 is not a linear combination"):
        check_as_spread(PAIRS, other, False, np.array([5]))
    check_as_spread(PAIRS, other, False, np.array([5, 6]))


@pytest.mark.parametrize("kind", [np.array, scipy.sparse.csr_array])
def test_dependent_columns_are_left_out_and_hold_for_all_that_is_spanned(kind):
    table = [[x, y, x] for x, y, _ in AXES]
    found = Obstruction(PAIRS.rows, PAIRS.weights, dependences=(ALIKE,))
    with pytest.raises(CertificateError, match="does not hold: the least eigenvalue"):
        check_obstruction(PAIRS, rows(kind(table)), False)
    check_obstruction(found, rows(kind([*table, [1, 0, 0]])), False)
    check_as_spread(found, rows(kind([*table, [1, 5, 1]])), False)
    with pytest.raises(CertificateError, match="Row 4 is not a linear combination"):
        check_as_spread(found, rows(kind([*table, [1, 0, 0]])), False)
    with pytest.raises(CertificateError, match="Row 2: the dependence of the columns 2, 0 does not hold"):
        check_obstruction(found, rows(kind([*table[:2], [0, 1.0, 1], table[3]])), False)


def test_the_constant_is_a_column_after_the_last():
    table = rows([[1.0], [1.0]], [1, -1])  # column 0 is the constant
    holds = ColumnDependence((1, 0), (1, -1))
    check_as_spread(Obstruction((0, 1), (1, 1), dependences=(holds,)), table, True)
    with pytest.raises(CertificateError, match="names column 1; there are 1"):
        check_obstruction(Obstruction((0, 1), (1, 1), dependences=(holds,)), table, False)
    with pytest.raises(CertificateError, match="names column 2; there are 2"):
        check_obstruction(Obstruction((0, 1), (1, 1), dependences=(ColumnDependence((2, 0), (1, 1)),)), table, True)
    with pytest.raises(CertificateError, match="0 in every column"):
        check_obstruction(Obstruction((0,), (1,), dependences=()), rows([[0.0]]), False)


def test_a_positive_definite_proof_is_about_doubles_and_rows_that_are_there():
    with pytest.raises(CertificateError, match="proved for doubles"):
        check_obstruction(PAIRS, rows(AXES, scales=(1, 1, 1)), False)
    with pytest.raises(CertificateError, match="names row 3; the rows are 0 to 2"):
        check_obstruction(PAIRS, rows(AXES[:3]), False)
    with pytest.raises(CertificateError, match="names row 0 twice"):
        definite.check_definite(rows(AXES), [0, 0, 1, 2, 3], [1] * 5, (), False)


def test_a_dependence_is_kept_in_integers():
    found = ColumnDependence([np.int64(2), True], [np.int64(3), -1])
    assert (found.columns, found.weights) == ((2, 1), (3, -1)) and type(found.columns[1]) is int
    with pytest.raises(CertificateError, match="distinct"):
        ColumnDependence((-1, 2), (1, 1))
    with pytest.raises(CertificateError, match="own column of an earlier one"):
        definite.own_columns([ALIKE, ColumnDependence((1, 2), (1, 1))])
    assert definite.own_columns([ColumnDependence((1, 2), (1, 1)), ALIKE]) == {1, 2}


class Device(MemoryRows):
    """Rows that say they lie on a device."""

    facts = SimpleNamespace(is_finite=True, scales=None)
    found = ("values", "signs")

    def there(self, numbers, columns=None):
        return self.found


@pytest.mark.parametrize(
    ("entries", "found", "bounds", "is_finite", "holds"),
    [
        (12, True, Bounds(2, 1), True, True), (13, True, Bounds(2, 1), True, False),
        (12, False, Bounds(2, 1), True, False), (12, True, Bounds(1, 1), True, False),
        (12, True, Bounds(2, 1), False, False), (12, True, None, True, False),
    ],
)  # fmt: skip
def test_a_device_is_asked_about_many_finite_entries(monkeypatch, entries, found, bounds, is_finite, holds):
    monkeypatch.setattr(definite, "MANY_ENTRIES", entries)
    monkeypatch.setattr(definite, "bounds_on_device", lambda *_, **__: bounds)
    monkeypatch.setattr(Device, "facts", SimpleNamespace(is_finite=is_finite, scales=None))
    monkeypatch.setattr(Device, "found", ("values", "signs") if found else None)
    there = Device(np.array(AXES), np.ones(4, np.int8))
    assert definite._holds_there(there, [0, 1, 2, 3], [1] * 4, False) is holds
    assert definite._holds_there(rows(AXES), [0, 1, 2, 3], [1] * 4, False) is False
    used = definite.check_definite(there, [0, 1, 2, 3], [1] * 4, (), True) if holds else np.ones(4, bool)
    assert used.tolist() == [True] * 4


# Mistakes ------------------------------------------------------------------------------------------------

RIGHT, WRONG = True, False


@pytest.mark.parametrize(
    "paths",
    [
        [()],
        [((0, RIGHT),), ((0, WRONG),)],
        [((0, RIGHT), (1, RIGHT)), ((0, RIGHT), (1, WRONG)), ((0, WRONG), (2, WRONG)), ((0, WRONG), (2, RIGHT))],
    ],
)
def test_the_cases_of_a_tree_are_all_there(paths):
    require_all_cases([Leaf(path) for path in paths])


@pytest.mark.parametrize(
    "paths",
    [
        [((0, RIGHT),)],
        [((0, WRONG),)],
        [(), ()],
        [(), ((0, RIGHT),)],
        [((0, RIGHT),), (), ((0, WRONG),)],
        [((0, RIGHT),), ((0, RIGHT),), ((0, WRONG),)],
        [((0, RIGHT),), ((1, WRONG),)],
        [((0, RIGHT), (1, RIGHT)), ((0, WRONG),)],
        [((0, RIGHT), (1, RIGHT)), ((0, RIGHT), (2, WRONG)), ((0, WRONG),)],
    ],
)
def test_cases_that_are_not_those_of_a_tree_are_refused(paths):
    with pytest.raises(CertificateError):
        require_all_cases([Leaf(path) for path in paths])


def test_a_case_is_kept_in_integers():
    leaf = Leaf([(np.int64(3), 1)], [(np.int64(0), np.int64(5))])
    assert leaf == Leaf(((3, True),), ((0, 5),)) and leaf.path[0][1] is True and type(leaf.multipliers[0][1]) is int
    assert leaf.renumbered(lambda numbers: [n + 1 for n in numbers]) == Leaf(((4, True),), ((0, 5),))
    for path, multipliers in ((((1, True), (1, False)), ()), ((), ((0, -1),)), ((), ((-1, 2),)), ((), ((0, 1, 2),))):
        with pytest.raises(CertificateError):
            Leaf(path, multipliers)


def test_multipliers_use_up_the_costs_of_rows_and_no_more():
    parts = [Obstruction((0, 1), (1, 1)), Obstruction((1, 2), (1, 1)), Obstruction((0, 2), (1, 1))]
    half = UNITS // 2
    cost = {0: 1, 1: 1, 2: 1}
    assert least_cost([Leaf((), ((0, half), (1, half), (2, half)))], parts, cost) == 2  # 3/2, rounded up
    assert least_cost([Leaf((), ((0, half), (1, half)))], parts, cost) == 1
    with pytest.raises(CertificateError, match="row 1 add up to more"):
        least_cost([Leaf((), ((0, half), (1, half + 1)))], parts, cost)
    assert least_cost([Leaf((), ((0, half), (1, half + 1)))], parts, cost | {1: 2}) == 2
    with pytest.raises(CertificateError, match="names obstruction 3; there are 3"):
        least_cost([Leaf((), ((3, 1),))], parts, cost)
    with pytest.raises(CertificateError, match="holds a row that is mistaken"):
        least_cost([Leaf(((0, WRONG),), ((0, 1),)), Leaf(((0, RIGHT),))], parts, cost)


def test_the_cheapest_case_counts_and_those_that_cannot_be_do_not():
    parts = [Obstruction((0, 1), (1, 1))]
    mistaken, right = Leaf(((0, WRONG),)), Leaf(((0, RIGHT),), ((0, 7 * UNITS),))
    assert least_cost([mistaken, right], parts, {0: 3, 1: 7}) == 3
    assert least_cost([mistaken, right], parts, {0: 9, 1: 7}) == 7
    both = [Leaf(((0, RIGHT), (1, RIGHT)), ((0, 1),)), Leaf(((0, RIGHT), (1, WRONG))), Leaf(((0, WRONG),))]
    assert least_cost(both, parts, {0: 3, 1: 2}) == 2
    assert least_cost([Leaf()], parts, {0: 3, 1: 2}) == 0


def test_a_row_that_stands_for_its_copies_has_their_costs():
    assert cost_of_rows([0, 1, 5], [(1, 2, 4)], None) == {0: 1, 1: 3, 5: 1}
    assert cost_of_rows([0, 1], [(1, 2)], [5, 6, 7]) == {0: 5, 1: 13}


def test_copies_have_one_representative_who_alone_is_named():
    require_apart([(0, 1), (2, 3, 4)], [0, 2, 5])
    for copies, named in (([(0,)], []), ([(0, 1), (1, 2)], []), ([(0, 0)], []), ([(0, 1)], [0, 1])):
        with pytest.raises(CertificateError):
            require_apart(copies, named)
