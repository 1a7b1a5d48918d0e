"""The verdicts as values: what they check, how exactly, and what they say."""

import io
import json
import math
import re
from dataclasses import FrozenInstanceError, replace
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import linsep
from linsep.errors import (
    ArgumentError,
    CertificateError,
    LengthError,
    MissingLabelError,
    NotFiniteError,
    NotNumericError,
    ShapeError,
)
from linsep.proofs import NotSeparable, Obstruction, Overlapping, Separable, Touching, Undecided
from linsep.proofs.checked_rows import MemoryRows, rows_of
from linsep.proofs.margin_checks import check_margin_high, check_margin_low, margin_bounds, root_above, root_below
from linsep.proofs.proof_json import verdict_from_json
from linsep.signs import form_of, scaled_floats, scores, signs
from linsep.sources.inputs import as_source
from linsep.storage.checksum import seal

pytestmark = pytest.mark.usefixtures("streamed")

E, M = 2.0**-1074, np.finfo(float).max
XOR = np.array([[0.0, 0], [1, 1], [0, 1], [1, 0]])
XOR_Y = [0, 0, 1, 1]
FOUR = Obstruction((0, 1, 2, 3), (1, 1, 1, 1))


def separable(weights, bias_weight=0, n_rows=2, **more):
    return Separable(n_rows=n_rows, n_columns=len(weights), weights=weights, bias_weight=bias_weight, **more)


def xor(**more):
    return Overlapping(**({"n_rows": 4, "n_columns": 2, "labels": (0, 1), "obstruction": FOUR, "spread": FOUR} | more))


def not_separable(**more):
    base = {"n_rows": 4, "n_columns": 2, "labels": (0, 1), "obstruction": FOUR, "reason": "time is up"}
    return NotSeparable(**(base | more))


def touching(**more):
    """The point 1 with both labels, 0 and 2 on their sides."""
    pair = Obstruction((1, 2), (1, 1))
    base = {"n_rows": 4, "n_columns": 1, "weights": (1,), "bias_weight": -1, "obstruction": pair}
    return Touching(**(base | more))


TOUCHING = np.array([[0.0], [1], [1], [2]]), [-1, -1, 1, 1]


# Exact signs.


def plain_signs(form, rows):
    sign = []
    for row in rows:
        score = sum((w * Fraction(*v.as_integer_ratio()) for w, v in zip(form.coefficients, [*row, 1], strict=True)))
        sign.append((score > 0) - (score < 0))
    return sign


numbers = st.one_of(
    st.sampled_from([0.0, -0.0, 1.0, -1.0, 0.1, -0.1, 0.3, E, -E, M, -M, 2.0**-1022, 2.0**53, 1e-300, 3.0, 0.5]),
    st.floats(allow_nan=False, allow_infinity=False),
)
weights = st.one_of(
    st.integers(-4, 4),
    st.sampled_from([2**53 + 1, -(2**62), 2**62 - 1, 2**1074, -(2**2098), 10**700, -(10**700) - 1, 3**40]),
)


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_signs_are_those_of_the_fractions(data):
    n_columns = data.draw(st.integers(1, 4))
    form = form_of(data.draw(st.lists(weights, min_size=n_columns, max_size=n_columns)), data.draw(weights))
    row = st.lists(numbers, min_size=n_columns, max_size=n_columns)
    rows = data.draw(st.lists(row, min_size=1, max_size=6))
    assert signs(form, np.array(rows)).tolist() == plain_signs(form, rows)
    assert signs(form, sparse.csr_array(np.array(rows))).tolist() == plain_signs(form, rows)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=2, max_size=2), min_size=1),
    weights,
    weights,
    weights,
)
def test_signs_of_large_integers_are_exact(rows, a, b, c):
    form = form_of([a, b], c)
    assert signs(form, np.array(rows, dtype=np.int64)).tolist() == plain_signs(form, rows)
    assert signs(form, np.array(rows, dtype=object)).tolist() == plain_signs(form, rows)


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_the_error_bound_holds_for_every_float_score(data):
    n_columns = data.draw(st.integers(1, 6))
    form = form_of(data.draw(st.lists(weights, min_size=n_columns, max_size=n_columns)), data.draw(weights))
    row = data.draw(st.lists(numbers, min_size=n_columns, max_size=n_columns))
    score, error = scores(form, np.array([row]))
    if np.isfinite(error[0]):
        true = (
            sum(w * Fraction(v) for w, v in zip(form.coefficients, [*row, 1], strict=True)) * Fraction(2) ** form.shift
        )
        assert abs(Fraction(float(score[0])) - true) <= Fraction(float(error[0]))


def test_cancellation_that_rounding_hides_is_seen():
    rows = np.array([[1e16, 1.0, -1e16], [0.1, 0.2, -0.3], [0.1, 0.2, -0.30000000000000004]])
    assert (rows @ [1.0, 1.0, 1.0]).tolist() != [1.0, 0.0, 0.0]
    assert signs(form_of([1, 1, 1], 0), rows).tolist() == plain_signs(form_of([1, 1, 1], 0), rows.tolist())


def test_products_that_underflow_are_seen():
    assert signs(form_of([1, 1, -2], 0), np.array([[2 * E, 2 * E, 2 * E]])).tolist() == [0]


def test_values_beyond_a_machine_word_are_seen():
    assert signs(form_of([1, 1, 1], 0), np.array([[2.0**64, 2.0**63, -3 * 2.0**63]])).tolist() == [0]


def test_integers_are_scaled_into_floats_by_one_power_of_two():
    floats, shift = scaled_floats([3, -6, 0])
    assert (floats * 2.0**-shift).tolist() == [3, -6, 0] and 0.5 <= abs(floats).max() <= 1
    assert scaled_floats([1, 2**2000])[0].all()  # both stay in range
    assert scaled_floats([0, 0])[0].tolist() == [0, 0]


# Separable.


@pytest.mark.parametrize("a", [1.0, 2.0**52, 1e300, 0.1, 2.0**-1022])
def test_neighbouring_doubles_are_told_apart(a):
    b = math.nextafter(a, math.inf)
    middle = (Fraction(a) + Fraction(b)) / 2
    verdict = separable((middle.denominator,), -middle.numerator)
    verdict.verify([[a], [b]], [-1, 1])
    with pytest.raises(CertificateError, match="Row 1 lies on the wrong side"):
        verdict.verify([[a], [a]], [-1, 1])


def test_overflow_and_underflow_do_not_matter():
    separable((0, 2), -1, n_rows=4).verify([[M, 1], [-M, 1], [M, 0], [-M, 0]], [1, 1, -1, -1])
    separable((2**1074,), -1, labels=(0, 1)).verify([[0.0], [2 * E]], [0, 1])
    separable((1,), 0).verify([[-E], [E]], [-1, 1])


def test_a_row_on_the_hyperplane_is_a_mistake():
    with pytest.raises(CertificateError, match="Row 0 lies on the hyperplane"):
        separable((1,), -1).verify([[1.0], [2.0]], [-1, 1])


@pytest.mark.parametrize("low", [2**53, 2**63 - 2, 2**64 - 2])
def test_integers_beyond_binary64_are_exact(low):
    verdict = separable((2,), -2 * low - 1, numbers="exact-integers")
    for table in ([[low], [low + 1]], np.array([[low], [low + 1]], dtype=np.uint64)):
        verdict.verify(table, [-1, 1])
    with pytest.raises(CertificateError):
        verdict.verify([[float(low)], [float(low)]], [-1, 1])


X = np.array([[0, 0, 3], [0, 1, 3], [2, 0, 3], [2, 1, 3]])
Y = ["no", "no", "yes", "yes"]
PLANE = separable((1, 0, 0), -1, n_rows=4, labels=("no", "yes"))


@pytest.mark.parametrize(
    "table",
    [
        X, X.astype(float), X.astype(np.float32), X.astype(np.float16), X.astype(np.longdouble),
        X.astype(np.uint8), X.astype(object), np.asfortranarray(X), X.tolist(), sparse.csr_matrix(X),
        sparse.coo_array(X),
        sparse.csc_array(X.astype(float)), pd.DataFrame(X), pd.DataFrame(X).astype({0: float}),
        pl.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2] * 1.0}),
    ],
)  # fmt: skip
@pytest.mark.parametrize("y", [Y, np.array(Y), np.array(Y, dtype=object), pd.Series(Y), pl.Series(Y)])
def test_every_layout_is_verified(table, y):
    PLANE.verify(table, y)
    with pytest.raises(CertificateError, match="Row 0 "):
        separable((1, 0, 0), 0, n_rows=4, labels=("no", "yes")).verify(table, y)


def test_a_mixed_frame_does_not_round_its_integers():
    frame = pd.DataFrame({"big": [2**53, 2**53 + 1], "half": [0.5, 0.5]})
    separable((2, 0), -(2**54) - 1, numbers="exact-integers").verify(frame, [-1, 1])


def test_repeated_entries_of_a_sparse_matrix_are_summed():
    table = sparse.csr_matrix(([1.0, 1.0, 1.0], [0, 0, 0], [0, 2, 3]), shape=(2, 1))
    separable((2,), -3).verify(table, [1, -1])


def test_any_source_with_blocks_and_take_will_do():
    rows = MemoryRows(np.array([[0.0], [2.0]]), np.array([-1, 1], dtype=np.int8))
    separable((1,), -1).verify(rows)


def test_rows_in_many_blocks_keep_their_numbers():
    class Blocks(MemoryRows):
        def blocks(self):
            for k in range(0, self.n_rows, 2):
                yield np.arange(k, k + 2), self.values[k : k + 2], self.signs[k : k + 2]

    rows = Blocks(np.array([[0.0], [0], [0], [5]]), np.array([-1, -1, -1, -1], dtype=np.int8))
    with pytest.raises(CertificateError, match="Row 3 "):
        separable((1,), -1, n_rows=4).verify(rows)
    rows = Blocks(np.array([[0.0], [0], [0], [np.nan]]), np.array([-1, -1, -1, -1], dtype=np.int8))
    with pytest.raises(NotFiniteError, match="Row 3"):
        separable((1,), -1, n_rows=4).verify(rows)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("weight", [0, 1])
def test_values_that_are_not_finite_are_named(value, weight):
    with pytest.raises(NotFiniteError, match="Row 1, column 0"):
        separable((weight, 1), 0, n_rows=2).verify(np.array([[1.0, 1], [value, 1]]), [1, 1])


@pytest.mark.parametrize(
    ("table", "y", "error"),
    [
        ([[0.0], [2.0]], [-1, 1, 1], LengthError),
        ([0.0, 2.0], [-1, 1], ShapeError),
        ([["a"], ["b"]], [-1, 1], NotNumericError),
        (np.array([[1j], [2]]), [-1, 1], NotNumericError),
        ([[0.0], [2.0]], [-1, 2], CertificateError),
        ([[0.0], [2.0]], [None, 1], MissingLabelError),
        ([[0.0], [2.0]], ["-1", "1"], CertificateError),
        ([[0.0], [2.0], [3.0]], [-1, 1, 1], CertificateError),
        ([[0.0, 0.0], [2.0, 0.0]], [-1, 1], CertificateError),
    ],
)
def test_data_that_the_proof_is_not_about_is_refused(table, y, error):
    with pytest.raises(error):
        separable((1,), -1).verify(table, y)


# The margin.


def test_a_margin_is_proved_from_both_sides():
    nearest = Obstruction((0, 2), (1, 1))
    separable((1, 0, 0), -1, n_rows=4, labels=("no", "yes"), margin=(1.0, 1.0), nearest=nearest).verify(X, Y)


@pytest.mark.parametrize("margin", [(math.nextafter(1, 2), 2.0), (0.5, math.nextafter(1, 0))])
def test_a_margin_wrong_by_one_bit_is_refused(margin):
    nearest = Obstruction((0, 2), (1, 1))
    verdict = separable((1, 0, 0), -1, n_rows=4, labels=("no", "yes"), margin=margin, nearest=nearest)
    with pytest.raises(CertificateError):
        verdict.verify(X, Y)


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10**6), st.booleans())
def test_margin_bounds_are_accepted_and_tight(seed, bias):
    rng = np.random.default_rng(seed)
    w, b = rng.integers(-9, 10, 3), int(rng.integers(-3, 4)) * bias
    if not w.any():
        return
    table = rng.normal(size=(20, 3)) * 10.0 ** rng.integers(-200, 200)
    y = np.where(table @ w + b > 0, 1, -1).astype(np.int8)
    if len(set(y.tolist())) < 2:
        return
    rows, everyone = MemoryRows(table, y), range(20)
    low, high = margin_bounds(rows, w.tolist(), b, everyone, [1] * 20, bias)
    check_margin_low(rows, w.tolist(), b, low)
    check_margin_high(rows, everyone, [1] * 20, bias, high)
    assert low <= high
    with pytest.raises(CertificateError):
        check_margin_low(rows, w.tolist(), b, math.nextafter(low, math.inf))
    with pytest.raises(CertificateError):
        check_margin_high(rows, everyone, [1] * 20, bias, high * (1 - 1e-14))


@pytest.mark.parametrize(
    "margin",
    [
        {"margin": (1.0, 2.0)},
        {"nearest": FOUR},
        {"margin": (2.0, 1.0), "nearest": FOUR},
        {"margin": (-1.0, math.inf)},
    ],
)
def test_a_margin_without_its_proof_is_no_value(margin):
    with pytest.raises(CertificateError):
        separable((1,), -1, **margin)


@pytest.mark.parametrize("root", [5e-324, 1e-310, 1e-200, 0.1, 3.0, 2.0**1023, 1.5e308, M])
def test_roots_are_rounded_to_the_next_double(root):
    square = Fraction(root) ** 2
    assert root_below(square) == root_above(square) == root
    assert root_below(square * Fraction(2**60 - 1, 2**60)) == math.nextafter(root, 0)
    assert root_above(square * Fraction(2**60 + 1, 2**60)) == math.nextafter(root, math.inf)


def test_roots_beyond_the_range_of_doubles():
    assert (root_below(Fraction(16) ** 1024), root_above(Fraction(16) ** 1024)) == (M, math.inf)
    assert (root_below(Fraction(1, 16**1024)), root_above(Fraction(1, 16**1024))) == (0.0, 5e-324)
    assert (root_below(Fraction(0)), root_above(Fraction(0))) == (0.0, 0.0)


# Touching and Overlapping.


def test_touching_is_verified_with_and_without_the_separated_rows():
    touching().verify(*TOUCHING)
    touching(separated_rows=(0, 3), spread=Obstruction((1, 2), (1, 1))).verify(*TOUCHING)


@pytest.mark.parametrize(
    "change",
    [
        {"bias_weight": 0},
        {"weights": (-1,), "bias_weight": 1},
        {"weights": (0,), "bias_weight": 0},
        {"obstruction": Obstruction((1, 2), (1, 2))},
        {"obstruction": Obstruction((0, 2), (1, 1))},
        {"obstruction": Obstruction((1, 9), (1, 1))},
        {"separated_rows": (0,), "spread": Obstruction((1, 2), (1, 1))},
        {"separated_rows": (), "spread": Obstruction((1, 2), (1, 1))},
        {"separated_rows": (0, 3, 3), "spread": Obstruction((1, 2), (1, 1))},
        {"separated_rows": (0, 3), "spread": Obstruction((0, 2), (1, 1))},
    ],
)
def test_a_touching_proof_that_is_changed_fails(change):
    with pytest.raises(CertificateError):
        touching(**change).verify(*TOUCHING)


def test_a_separator_that_could_do_better_does_not_prove_the_largest_set():
    X = np.array([[1.0, 0], [1, 0], [0, 1], [0, 2]])
    pair = Obstruction((0, 1), (1, 1))
    common = {"n_rows": 4, "n_columns": 2, "bias": False, "obstruction": pair, "spread": pair}
    Touching(**common, weights=(0, 1), separated_rows=(2, 3)).verify(X, [1, -1, 1, 1])
    Touching(**(common | {"spread": None}), weights=(0, 1)).verify(X, [1, -1, 1, 1])
    lazy = np.array([[1.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    with pytest.raises(CertificateError, match="Row 3 is not a linear combination"):
        Touching(**(common | {"n_columns": 3}), weights=(0, 1, 0), separated_rows=(2,)).verify(lazy, [1, -1, 1, 1])


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array, np.ndarray.tolist])
def test_exclusive_or_overlaps(layout):
    xor().verify(layout(XOR), XOR_Y)
    redundant = np.column_stack([XOR, XOR[:, 0], XOR.sum(axis=1), np.full(4, 0.1), np.zeros(4)])
    xor(n_columns=6).verify(layout(redundant), XOR_Y)


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("row", [[0, 0, 1.0], [0.1, 0, 0], [0, E, 0]])
def test_a_row_outside_the_span_of_the_spread_is_named(layout, row):
    table = np.array([[1.0, 1, 0], [1, 1, 0], [2, 2, 0], row])
    pair = Obstruction((0, 1), (1, 1))
    verdict = Overlapping(n_rows=4, n_columns=3, bias=False, obstruction=pair, spread=pair)
    verdict.verify(layout(np.where(np.arange(4)[:, None] == 3, 0.0, table)), [1, -1, 1, 1])
    with pytest.raises(CertificateError, match="Row 3 is not a linear combination"):
        verdict.verify(layout(table), [1, -1, 1, 1])


def test_without_bias_a_zero_row_is_an_obstruction():
    one = Obstruction((0,), (1,))
    verdict = Overlapping(n_rows=1, n_columns=2, bias=False, obstruction=one, spread=one)
    verdict.verify([[0.0, -0.0]], [1])
    with pytest.raises(CertificateError):
        verdict.verify([[0.0, E]], [1])


def test_the_moment_curve_overlaps_with_binomial_weights():
    d = 6
    table = [[t**k for k in range(1, d + 1)] for t in range(d + 2)]
    y = [t % 2 for t in range(d + 2)]
    everything = Obstruction(range(d + 2), [math.comb(d + 1, t) for t in range(d + 2)])
    verdict = Overlapping(n_rows=d + 2, n_columns=d, labels=(0, 1), obstruction=everything, spread=everything)
    verdict.verify(table, y)
    with pytest.raises(CertificateError, match="does not hold"):
        verdict.verify([[*row[:-1], row[-1] + (row[0] == 3)] for row in table], y)


# Values.


def test_verdicts_are_frozen_and_equal_by_value():
    assert xor() == xor() and hash(xor()) == hash(xor())
    with pytest.raises(FrozenInstanceError):
        xor().n_rows = 3


@pytest.mark.parametrize(
    ("verdict", "kind", "answer"),
    [
        (separable((1,)), "separable", True),
        (touching(), "touching", False),
        (xor(), "overlapping", False),
        (not_separable(), "not-separable", False),
        (Undecided(n_rows=1, n_columns=1, reason="tired"), "undecided", None),
    ],
)
def test_kind_and_answer(verdict, kind, answer):
    assert (verdict.kind, verdict.separable) == (kind, answer)


def test_not_separable_is_proved_by_its_obstruction_alone():
    not_separable().verify(XOR, XOR_Y)
    assert "It is not known whether one has no row on its wrong side" in not_separable().explain(XOR, XOR_Y)
    with pytest.raises(CertificateError, match="do not cancel"):
        not_separable(obstruction=Obstruction((0, 1, 2), (1, 1, 2))).verify(XOR, XOR_Y)


def test_obstructions_are_put_in_order_and_divided_by_their_common_factor():
    assert Obstruction(np.array([3, 1]), np.array([4, 6])) == Obstruction((1, 3), (3, 2))


@pytest.mark.parametrize(
    ("rows", "u"), [((), ()), ((0,), (1, 2)), ((0, 0), (1, 1)), ((-1,), (1,)), ((0,), (0,)), ((0,), (1.5,))]
)
def test_what_is_no_obstruction_is_refused(rows, u):
    with pytest.raises(CertificateError):
        Obstruction(rows, u)


@pytest.mark.parametrize(
    "change",
    [
        {"labels": (1, True)},
        {"labels": (math.nan, 1)},
        {"names": ("a",)},
        {"n_rows": -1},
        {"numbers": "float32"},
    ],
)
def test_contradictory_values_are_refused(change):
    with pytest.raises(CertificateError):
        xor(**change)


def test_without_bias_there_is_no_bias_weight():
    with pytest.raises(CertificateError):
        separable((1,), 1, bias=False)


def test_the_halfspace_is_the_weights_scaled_and_rounded():
    halfspace = separable((3 * 10**400, -6 * 10**400), 10**400, labels=("a", "b")).halfspace
    assert halfspace.w[1] == -2 * halfspace.w[0] and halfspace.b == pytest.approx(halfspace.w[0] / 3, rel=1e-15)
    assert halfspace.labels == ("a", "b")


# Json.

TEXTS = [" ", "é", "a,b", "<b>", '"', "\ud800", "x" * 10_000]
SAMPLES = [
    separable((2**4000, -1, 0), 7, labels=("no", "yes"), names=("a", "<b>", ""), seconds=0.25, reads=3),
    separable(
        (1,),
        0,
        bias=False,
        labels=(False, True),
        margin=(0.1, 1e300),
        nearest=Obstruction((0, 1), (2**5000, 1)),
    ),
    separable((1,), 0, labels=(-0.5, 1e300), margin=(0.1, math.inf), numbers="exact-integers", rows_left_out=4),
    touching(),
    touching(separated_rows=(0, 3), spread=Obstruction((1, 2), (1, 1)), label_column="y"),
    xor(labels=(-(10**30), 10**30)),
    not_separable(),
    Undecided(n_rows=1, n_columns=1, reason="too large", margin=(0.0, math.inf)),
    *(xor(labels=(text, text + "!")) for text in TEXTS[:-1]),
]


@pytest.mark.parametrize("verdict", SAMPLES)
def test_json_is_read_as_it_was_written(verdict):
    text = verdict.to_json()
    again = verdict_from_json(text)
    assert again == verdict and again.to_json() == text and verdict_from_json(text.encode()) == verdict
    assert [type(label) for label in again.labels] == [type(label) for label in verdict.labels]


def test_long_integers_do_not_depend_on_the_digit_limit_of_python():
    assert verdict_from_json(separable((2**100_000,)).to_json()).weights == (2**100_000,)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"version": "1"', '"version": "2"'),
        ('"format"', '"Format"'),
        ('"kind": "overlapping"', '"kind": "separable"'),
        ('"kind": "overlapping"', '"kind": ["overlapping"]'),
        ('"bias": true', '"bias": 1'),
        ('"bias": true', '"bias": "true"'),
        ('"rows": "4"', '"rows": 4'),
        ('"rows": "4"', '"rows": "04"'),
        ('"rows": "4"', '"rows": "-4"'),
        ('"rows": "4"', '"rows": "٤"'),
        ('"names": null', '"names": 1'),
        ('"names": null', '"names": "ab"'),
        ('"reads": "0"', '"reads": "0", "reads": "0"'),
        ('"seconds": 0.0', '"seconds": NaN'),
        ('"seconds": 0.0', '"seconds": Infinity'),
        ('"seconds": 0.0', '"seconds": 1e999'),
        ('"seconds": 0.0', '"seconds": -1.0'),
        ('"seconds": 0.0', '"seconds": 0'),
        ('"weights": ["1"', '"weights": ["0"'),
        ('"weights": ["1"', '"weights": ["1.0"'),
        ('"weights": ["1"', '"weights": [1'),
        ('"integer:0"', '"integer:1"'),
        ('"integer:0"', '"integer:0.0"'),
        ('"integer:0"', '"zero"'),
        ('"integer:0"', '"number:1e999"'),
        ('"effort"', '"note": "", "effort"'),
        ("{", "[{"),
        ("}", ""),
    ],
)
def test_json_that_is_not_to_the_letter_is_refused(old, new):
    text = xor().to_json()
    assert old in text
    with pytest.raises(CertificateError):
        verdict_from_json(seal(text.replace(old, new, 1).partition(',\n "sha256"')[0] + "}"))


@pytest.mark.parametrize("text", ["", "[]", "null", "[" * 10**5, "{}", b"\xff\xff", '{"format": "linsep-proof"}'])
def test_what_is_no_proof_is_refused(text):
    with pytest.raises(CertificateError):
        verdict_from_json(text)


def test_a_label_that_cannot_be_written_is_refused_when_writing():
    with pytest.raises(CertificateError, match="cannot be written"):
        xor(labels=((1, 2), 3)).to_json()


# Words.


def test_words_for_separable():
    words = separable((2, -1), -3, labels=("no", "yes"), names=("age", "dose"), margin=(0.5, math.inf)).explain()
    assert "complete separation" in words
    assert "2·age - dose - 3 is positive on every row of class 'yes'" in words
    assert "at least 0.5 away" in words


def test_words_for_touching_say_both_terms():
    words = touching().explain(*TOUCHING)
    assert words.startswith("touching (quasi-complete separation)")
    assert "The rows 1 of class -1 and 2 of class 1 are the same point" in words


XOR_SAID = """\
overlapping (overlap), 4 rows.
No hyperplane separates the classes, not even one that rows may lie on.
The rows 0, 1 of class 0 and 2, 3 of class 1 have a common weighted mean, and no hyperplane has one point on both sides.
  row   class   share
    0       0   0.500
    1       0   0.500
    2       1   0.500
    3       1   0.500
Their common mean: a = 0.5, b = 0.5."""


def test_words_for_overlapping_give_shares_and_the_common_mean():
    assert xor().explain(XOR, XOR_Y, names=["a", "b"]) == XOR_SAID


def test_a_verdict_of_decide_knows_the_classes_without_the_data():
    assert linsep.decide(XOR, XOR_Y).explain() == XOR_SAID.rpartition("\n")[0]


def test_a_proof_from_a_file_has_shares_but_no_classes():
    words = xor().explain()
    assert "The rows 0, 1, 2, 3 have a common weighted mean" in words and "    3   0.500\n" in words
    assert "class   " not in words and "explain(X, y) says which row is of which class" in words


# Without bias: x = 3 and 2 of one class against 4 of the other, all on one ray; x and -x of one class; a zero row.
RAYS = [
    (((0, 1, 2), (2, 1, 2)), [[3.0], [2.0], [4.0]], [1, 1, -1], "that of class 1 is 0.666667 times that of class -1"),
    (((0, 1), (1, 2)), [[2.0], [-1.0], [4.0]], [1, 1, -1], "The rows 0, 1 of class 1 have a weighted mean of zero"),
    (((1,), (1,)), [[3.0], [0.0], [4.0]], [1, 1, -1], "The row 1 of class 1 is zero in every column"),
]


@pytest.mark.parametrize(("combination", "X", "y", "said"), RAYS)
def test_without_bias_the_means_lie_on_one_ray_from_the_origin(combination, X, y, said):
    found = Obstruction(*combination)
    spread = Obstruction((0, 2), (int(X[2][0]), int(X[0][0])))
    verdict = Overlapping(n_rows=3, n_columns=1, bias=False, obstruction=found, spread=spread)
    assert said in verdict.explain(X, y)
    assert "No hyperplane through the origin separates the classes" in verdict.explain()
    assert "Their common mean" not in verdict.explain(X, y) and "share" not in verdict.explain()


def test_shares_add_up_to_one_in_each_class():
    found = Obstruction((7, 2, 5), (2**700, 3 * 2**700, 2**702), ("a", "a", "b"))
    assert (found.rows, found.classes, found.shares) == ((2, 5, 7), ("a", "b", "a"), (0.75, 1.0, 0.25))
    assert Obstruction((0, 1), (1, 1)).shares is None
    with pytest.raises(CertificateError, match="1 classes for 2 rows"):
        Obstruction((0, 1), (1, 1), ("a",))


def test_classes_are_no_part_of_the_proof():
    found = Obstruction((0, 1), (1, 2), (0, 1))
    assert found == Obstruction((0, 1), (1, 2)) and hash(found) == hash(Obstruction((0, 1), (1, 2)))


def test_weights_of_a_thousand_digits_are_told_by_their_shares():
    many = Obstruction(tuple(range(100)), (2**4000, 2**4000 + 1) * 50, (0, 1) * 50)
    words = Overlapping(n_rows=100, n_columns=1, labels=(0, 1), obstruction=many, spread=many).explain()
    assert "100 rows, 50 of class 0 and 50 of class 1, have a common weighted mean" in words
    assert "... and 90 more rows." in words and "0.020" in words and len(words) < 800
    assert "(92 more terms)" in separable((1,) * 100).explain()


def test_shares_too_small_for_three_places_are_not_shown_as_zero():
    found = Obstruction((0, 1, 2), (1, 10**9 - 1, 10**9), (0, 0, 1))
    assert "1e-09" in Overlapping(n_rows=3, n_columns=1, labels=(0, 1), obstruction=found, spread=found).explain()


def test_the_notebook_shows_the_words_and_a_table():
    html = linsep.decide(XOR, XOR_Y)._repr_html_()
    cells = re.sub(r"<[^>]+>", " ", html).split()
    assert "<td>The rows 0, 1 of class" in html and cells[-3:] == ["3", "1", "0.500"]


def test_undecided_says_that_it_proves_nothing():
    assert "proves nothing" in Undecided(n_rows=1, n_columns=1, reason="time is up").explain()


def test_html_escapes_names_and_labels():
    html = separable((1,), 0, names=("<script>",), labels=("<a>", "&"))._repr_html_()
    assert "<script>" not in html and "&lt;script&gt;" in html and "<a>" not in html


def test_rich_shows_the_words_and_takes_no_markup():
    from rich.console import Console

    said = io.StringIO()
    Console(width=200, file=said).print(separable((1,), 0, names=("[red]x",)))
    assert "[red]x" in said.getvalue()


def test_the_text_of_a_verdict_differs_between_runs_in_the_seconds_alone():
    first, second = (replace(linsep.decide(XOR, XOR_Y), seconds=0.5) for _ in range(2))
    assert first == second and first.to_json() == second.to_json()


def test_json_of_the_document_is_plain_json():
    assert json.loads(xor().to_json())["kind"] == "overlapping"


def test_labels_are_compared_as_python_compares_them():
    assert rows_of([[1.0]] * 2, [True, 0], (0, 1)).signs.tolist() == [1, -1]


@pytest.mark.parametrize("square", [Fraction(99), Fraction(1, 2), Fraction(1) + Fraction(1, 10**40)])
def test_an_exact_margin_is_that_of_the_hyperplane_and_of_the_nearest_rows(square):
    data = [[0.0, 0], [0, 1], [2, 0], [2, 1]], XOR_Y
    found = linsep.max_margin(*data)
    assert found.gamma_squared == 1
    with pytest.raises(CertificateError, match="gamma_squared"):
        replace(found, gamma_squared=square, margin=(0.0, 1e9)).verify(*data)


@pytest.mark.parametrize("margin", [(1.0000001, 2.0), (0.5, 0.9999999)])
def test_an_interval_that_misses_the_exact_margin_is_refused(margin):
    data = [[0.0, 0], [0, 1], [2, 0], [2, 1]], XOR_Y
    with pytest.raises(CertificateError, match="gamma_squared"):
        replace(linsep.max_margin(*data), margin=margin).verify(*data)


def test_an_exact_margin_without_the_rows_that_prove_it_is_no_verdict():
    for margin in (None, (1.0, math.inf)):
        with pytest.raises(CertificateError):
            separable((1,), margin=margin, gamma_squared=Fraction(1))


LONG = 2**53 + 1


@pytest.mark.parametrize("door", [lambda X, y: (X, y), lambda X, y: (as_source(X, y),)])
@pytest.mark.parametrize(
    ("values", "fits"),
    [
        ([0, 5], {"binary64"}),
        ([0.0, 0.5], {"binary64"}),
        ([0, 2**53], {"binary64"}),
        ([0, LONG], {"exact-integers"}),
        ([-LONG, 0], {"exact-integers"}),
    ],
)
def test_numbers_are_read_as_the_rows_need_it(door, values, fits):
    X, y = np.array(values)[:, None], [0, 1]
    found = linsep.decide(X, y)
    assert {found.numbers} == fits
    for numbers in ("binary64", "exact-integers"):
        forged = replace(found, numbers=numbers)
        if numbers in fits:
            forged.verify(*door(X, y))
        else:
            with pytest.raises(CertificateError, match="reads numbers as"):
                forged.verify(*door(X, y))


def test_equal_numbers_of_another_type_are_the_same_rows():
    whole = np.array([[0], [2**60]])
    linsep.decide(whole, [0, 1]).verify(whole.astype(float), [0, 1])
    linsep.decide(whole.astype(float), [0, 1]).verify(whole, [0, 1])


def test_rows_left_out_are_counted_by_a_source(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("x,y\n0,0\n1,1\n")
    source = linsep.open(path, label="y")
    forged = replace(linsep.decide(source), rows_left_out=3)
    with pytest.raises(CertificateError, match="0 rows of the source were left out; the proof says 3"):
        forged.verify(source)
    forged.verify([[0], [1]], [0, 1])  # what became an array says nothing of other rows


def test_words_about_other_data_are_refused():
    with pytest.raises(CertificateError):
        xor().explain(XOR, [0, 1, 1, 1])
    with pytest.raises(CertificateError, match="Row 4 is not a linear combination"):
        flat = np.column_stack([XOR, np.zeros(4)])
        xor(n_rows=5, n_columns=3).explain(np.vstack([flat, [0, 0, 7]]), [*XOR_Y, 1])
    with pytest.raises(CertificateError, match="Row 0 lies on the wrong side"):
        touching().explain([[2.0], [1], [1], [0]], TOUCHING[1])
    with pytest.raises(CertificateError, match="reads numbers as decimal"):
        xor(numbers="decimal").explain(XOR, XOR_Y)
    with pytest.raises(CertificateError, match="Column 0 is called"):
        xor(names=("a", "b")).explain(pd.DataFrame(XOR, columns=["c", "b"]), XOR_Y)
    with pytest.raises(CertificateError, match="Row 0 lies on the wrong side"):
        separable((1,), 1).explain([[0.0], [1]], [-1, 1])
    with pytest.raises(CertificateError):
        xor().explain(XOR[:3], XOR_Y[:3])
    with pytest.raises(ArgumentError):
        xor().explain(names=["a"])


def test_integers_beyond_every_double_are_exact():
    huge = 10**400
    verdict = separable((2,), -2 * huge - 1, numbers="exact-integers")
    verdict.verify([[huge], [huge + 1]], [-1, 1])
    with pytest.raises(CertificateError, match="Row 1"):
        verdict.verify([[huge], [huge]], [-1, 1])


def test_numpy_labels_become_plain_ones():
    verdict = xor(labels=(np.int64(0), np.float64(1)))
    assert [type(label) for label in verdict.labels] == [int, float]


def test_a_value_that_is_not_finite_outside_the_spread_is_named():
    table = np.vstack([np.column_stack([XOR, XOR[:, 0]]), [[np.nan, 0, 0]]])
    with pytest.raises(NotFiniteError, match="Row 4, column 0"):
        xor(n_rows=5, n_columns=3).verify(table, [*XOR_Y, 1])


SPREAD = Obstruction((0, 1, 2), (2, 1, 3))
LINE, LINE_Y = [[0.0, 1.0], [3.0, 1.0], [1.0, 1.0], [2.0, 1.0]], [0, 0, 1, 1]
ABOUT_FOUR_ROWS = {
    "separable": separable((2, 0), -1, n_rows=4, labels=(0, 1)),
    "touching": touching(n_columns=2, weights=(0, 1), bias_weight=-1, labels=(0, 1)),
    "overlapping": Overlapping(n_rows=4, n_columns=2, labels=(0, 1), obstruction=SPREAD, spread=SPREAD),
    "not-separable": not_separable(obstruction=SPREAD),
    "undecided": Undecided(n_rows=4, n_columns=2, labels=(0, 1), reason="time is up"),
}
DOORS = {
    "lists": lambda X, y: (X.tolist(), y),
    "array": lambda X, y: (X, y),
    "float32": lambda X, y: (X.astype(np.float32), y),
    "sparse": lambda X, y: (sparse.csr_array(X), y),
    "frame": lambda X, y: (pd.DataFrame(X, columns=list("ab")[: X.shape[1]]), y),
    "source": lambda X, y: (as_source(X, y),),
    "sparse source": lambda X, y: (as_source(sparse.csr_array(X), y),),
    "rows": lambda X, y: (MemoryRows(X, np.where(y, 1, -1).astype(np.int8)),),
}


@pytest.mark.parametrize("kind", ABOUT_FOUR_ROWS)
@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize(("value", "column"), [(np.nan, 0), (np.inf, 1), (-np.inf, 0)])
def test_no_verdict_holds_for_rows_that_are_not_finite(kind, door, value, column):
    X = np.array(LINE)
    X[3, column] = value
    with pytest.raises(NotFiniteError, match="Row 3") as refused:
        ABOUT_FOUR_ROWS[kind].verify(*DOORS[door](X, np.array(LINE_Y)))
    assert refused.value.column in (column, f"x{column + 1}", "ab"[column])


@pytest.mark.parametrize("door", DOORS)
def test_rows_beside_a_spread_that_spans_everything_are_finite_too(door):
    verdict, y = linsep.decide([[0.0], [3.0], [1.0], [2.0]], LINE_Y), np.array(LINE_Y)
    verdict.verify(*DOORS[door](np.array([[0.0], [3.0], [1.0], [7.0]]), y))
    with pytest.raises(NotFiniteError, match="Row 3"):
        verdict.verify(*DOORS[door](np.array([[0.0], [3.0], [1.0], [np.nan]]), y))


def test_many_rows_are_looked_at_one_by_one_for_a_value_that_is_not_finite():
    X, y = np.tile(XOR, (20_000, 1)), np.tile(XOR_Y, 20_000)
    verdict = linsep.decide(X, y)
    X[-1, 1] = np.inf
    for data in ((X, y), (as_source(X, y),)):
        with pytest.raises(NotFiniteError, match="Row 79999"):
            verdict.verify(*data)


def test_labels_are_compared_with_their_types():
    verdict = Separable(n_rows=2, n_columns=1, labels=(0, 1), weights=(2,), bias_weight=-1)
    verdict.verify([[0], [1]], [0.0, 1.0])
    for y in (["0", "1"], [False, True], np.array([False, True]), np.array([False, True], dtype=object), [1, 0]):
        with pytest.raises(CertificateError):
            verdict.verify([[0], [1]], y)


def test_names_are_compared_where_both_have_some():
    X = pd.DataFrame({"a": [0.0, 1.0], "b": [0.0, 0.0]})
    verdict = linsep.decide(X, [0, 1])
    verdict.verify(X, [0, 1])
    verdict.verify(X.to_numpy(), [0, 1])
    with pytest.raises(CertificateError, match="Column 1 is called 'c'; in the proof it is 'b'"):
        verdict.verify(X.rename(columns={"b": "c"}), [0, 1])


@pytest.mark.parametrize("label", ["x" * 10_001, 2**4000, -(10**5000)], ids=["text", "long", "longer"])
def test_whatever_is_written_is_read_back(label):
    verdict = Separable(n_rows=1, n_columns=1, labels=("y" if isinstance(label, str) else 7, label), weights=(1,))
    assert verdict_from_json(verdict.to_json()) == verdict
    with pytest.raises(CertificateError, match="Row 0 has the label"):
        verdict.verify(np.zeros((1, 1)), [3])


def test_what_could_not_be_read_back_is_not_written(monkeypatch):
    verdict = Separable(n_rows=1, n_columns=1, weights=(2 ** (2**22),))
    with pytest.raises(CertificateError, match="too long for a file"):
        verdict.to_json()
    monkeypatch.setattr("linsep.storage.documents.MOST_BYTES", 10)
    with pytest.raises(CertificateError, match="at most 10 are read"):
        replace(verdict, weights=(1,)).to_json()
