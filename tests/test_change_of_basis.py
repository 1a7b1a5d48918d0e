"""Tiny margins and contradictions: a basis computed exactly, rows that must be 0, and what comes of both."""

import time
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

import adversarial
import linsep
import wide_instances
from linsep import exact
from linsep.questions import decide as decide_module
from linsep.questions import wide as wide_module
from linsep.signs import form_of, signs
from linsep.solvers.clock import Clock
from linsep.solvers.exact import exact_lp
from linsep.solvers.scaling import Frame
from linsep.solvers.wide import change_of_basis, newton, weak_relaxation
from linsep.solvers.wide.contradictions import contradictions
from linsep.solvers.wide.round_view import RoundView, near_pairs, round_basis
from linsep.solvers.working_set import Separated, Stuck
from linsep.sources.inputs import as_source

pytestmark = pytest.mark.usefixtures("streamed")

FAMILIES = [
    (adversarial.integer_margin, (400, 30, 0)),
    (adversarial.integer_margin, (400, 30, 3)),
    (adversarial.equal_columns, (400, 30, 0)),
    (adversarial.equal_columns, (400, 30, 2)),
    (adversarial.near_duplicates, (300, 30, 25)),
    (adversarial.contradictory_text, (400, 60, 8, 2)),
    (adversarial.contradictory_text, (900, 310, 12, 2)),
]


@pytest.fixture
def without_exact_lp(monkeypatch):
    """Nothing here may be left to the exact LP."""

    def refuse(*_, **__):
        raise AssertionError("left to the exact LP")

    monkeypatch.setattr(exact_lp.ExactLP, "three_way", refuse)


@pytest.mark.parametrize(("family", "size"), FAMILIES)
@pytest.mark.parametrize("sign", [1, -1])
def test_tiny_margins_and_contradictions_need_no_exact_lp(family, size, sign, without_exact_lp):
    (one,) = family(*size)
    verdict = linsep.decide(one.X, sign * one.y)
    assert verdict.kind in one.answers
    if one.obstruction_rows:
        assert len(verdict.obstruction.rows) == one.obstruction_rows


@pytest.mark.parametrize(("family", "size"), FAMILIES)
def test_which_class_is_called_positive_makes_no_difference(family, size):
    (one,) = family(*size)
    one_way, other = linsep.decide(one.X, one.y), linsep.decide(one.X, -one.y)
    assert one_way.reads == other.reads and np.allclose(one_way.halfspace.w, -other.halfspace.w)


def test_rows_that_nearly_cancel_are_looked_at_from_a_round_basis_before_a_working_set(monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("left to the working set")

    monkeypatch.setattr(wide_module, "search", refuse)
    (one,) = wide_instances.near_duplicates(np.random.default_rng(18), 300)
    assert linsep.decide(one.X, one.y).kind == "separable"


@pytest.mark.slow
def test_where_newton_is_stuck_too_many_columns_are_seen_from_a_round_basis_before_a_working_set(monkeypatch):
    """8,000 x 1,000 with columns equal up to 2^-15: a quarter of an hour in a working set, 3 seconds from there."""
    monkeypatch.setattr(wide_module, "search", lambda *_, **__: pytest.fail("left to the working set"))
    (one,) = wide_instances.correlated(np.random.default_rng([1, sum(b"correlated")]), 2000)
    assert one.X.shape == (8000, 1000) and linsep.decide(one.X, one.y).kind == "separable"


def test_where_relaxation_is_stuck_many_columns_are_left_to_newton_before_a_working_set(monkeypatch):
    """One label of a text of 60,000 x 2,000 was turned over: half a minute in a working set, a second with Newton."""

    def refuse(*_, **__):
        raise AssertionError("left to the working set")

    X, y = linsep.datasets.planted(1500, 40, margin=0.1, seed=3)
    stuck = Stuck(as_source(X, y).sample(120, seed=0), np.arange(41))
    monkeypatch.setattr(wide_module, "relax", lambda *_, **__: stuck)
    monkeypatch.setattr(wide_module, "search", refuse)
    for few in ("MANY_COLUMNS", "NEWTON_FIRST"):
        monkeypatch.setattr(wide_module, few, 30)
    rows = wide_module.WideRows(*2 * [as_source(X, y)], np.arange(40), True, Clock(), False, True)
    assert isinstance(rows.settle([], lambda _: None), Separated)


@pytest.mark.parametrize("pairs", [1, 40])
def test_sparse_rows_with_both_labels_are_separated_weakly_from_the_others(pairs, without_exact_lp):
    (one,) = adversarial.contradictory_text(900, 310, 12, pairs)
    verdict = linsep.decide(sp.csr_array(one.X), one.y)
    assert verdict.kind == "touching" and len(verdict.obstruction.rows) == 2


def test_rows_of_both_labels_that_span_everything_overlap(without_exact_lp):
    X = np.vstack([np.eye(30), -np.eye(30), np.zeros((1, 30))])
    verdict = linsep.decide(np.vstack([X, X]), np.repeat([1, -1], len(X)))
    assert verdict.kind == "overlapping" and len(verdict.spread.rows) <= 62


@pytest.mark.slow
def test_many_rows_of_both_labels_leave_the_others_no_room(without_exact_lp):
    X, y = linsep.datasets.planted(4800, 800, margin=0.01, seed=1)  # 2 minutes were not enough for twice as much
    twice = np.random.default_rng(0).choice(len(X), 160, replace=False)
    verdict = linsep.decide(np.vstack([X, X[twice]]), np.r_[y, -y[twice]], time_limit=60)
    assert verdict.kind == "overlapping"


def test_newton_ends_where_rounding_hides_the_way_down(monkeypatch):
    X, y = linsep.datasets.planted(1600, 200, margin=0.01, flipped=1)
    steps = []
    monkeypatch.setattr(newton, "line_search", lambda *_: 0.0)
    monkeypatch.setattr(newton.Newton, "step", lambda self, step=newton.Newton.step: steps.append(0) or step(self))
    newton.search(as_source(X, y), np.arange(200), bias=True, clock=Clock())
    assert len(steps) == 1


def test_a_maximal_weak_separator_is_0_on_the_span_of_the_contradictions_alone():
    (one,) = adversarial.integer_margin(300, 30, 2)
    on = one.X[[i for pair in contradictions(as_source(one.X, one.y), 9) for i in pair[:1]]]
    X, y = np.vstack([one.X, 2 * on[:1] - on[1:]]), np.append(one.y, 1)  # a third row of their span
    report = linsep.mle_exists(X, y)
    assert not report.exists and len(report.verdict.separated_rows) == 300


def test_the_time_limit_holds_in_every_phase():
    (one,) = adversarial.equal_columns(3000, 120, 1)
    linsep.decide(one.X, one.y, time_limit=0.2)
    for limit in (0.1, 0.3, 0.6):
        start = time.perf_counter()
        linsep.decide(one.X, one.y, time_limit=limit)
        assert time.perf_counter() - start < limit + 1.5  # half a second on an idle machine


# Rows with both labels ------------------------------------------------------------------------------


def test_zeros_of_any_kind_are_equal():
    dense = np.array([[1.0, 0.0, 2.0], [5.0, 1.0, 0.0], [1.0, -0.0, 2.0]])
    assert contradictions(as_source(dense, [0, 1, 1]), 9) == [(0, 2)]
    stored = sp.csr_array(([1.0, 0.0, 2.0, 5.0, 1.0, 2.0], [0, 1, 2, 0, 0, 2], [0, 3, 4, 6]), shape=(3, 3))
    assert contradictions(as_source(stored, [0, 1, 1]), 9) == [(0, 2)]


@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.uint64, np.float32, np.float64])
def test_every_duplicate_with_both_labels_is_found(dtype):
    rng = np.random.default_rng(3)
    X = rng.integers(0, 4, (500, 4)).astype(dtype)
    y = rng.integers(0, 2, 500)
    labels = {tuple(row): set(y[(row == X).all(axis=1)].tolist()) for row in X}
    found = contradictions(as_source(X, y), 1000)
    assert len(found) == sum(len(seen) == 2 for seen in labels.values())
    assert all(a < b and (X[a] == X[b]).all() and y[a] != y[b] for a, b in found)


def test_integers_that_one_double_stands_for_are_not_taken_for_equal():
    X = np.array([[2**60, 1], [2**60 + 1, 1], [5, 5]])
    assert contradictions(as_source(X, [0, 1, 1]), 9) == []


# Digits ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bits", [1, 19, 20, 21, 60, 200])
def test_products_of_digits_are_those_of_fractions(bits):
    rng = np.random.default_rng(bits)
    left = rng.normal(size=(6, 5)) * 2.0 ** rng.integers(-60, -3, (6, 5))
    right = [(int(n) << 200) >> (262 - bits) for n in rng.integers(-(2**62), 2**62, 5)]
    digits, rest = exact.Digits.of(left)
    factor = exact.Digits.of_integers([[n] for n in right])
    found = [whole(column) for column in (digits @ factor)[:, :, 0].T]
    truth = [sum(Fraction(x) * n for x, n in zip(row, right, strict=True)) for row in left.tolist()]
    assert not rest.any() and found == [value / 2 ** (20 * len(factor.places)) for value in truth]


def whole(digits):
    """The number that these digits stand for."""
    return sum(Fraction(int(digit), 2 ** (20 * (k + 1))) for k, digit in enumerate(digits))


@pytest.mark.parametrize("spread", [0, 50, 400, 1500])
def test_signs_of_long_weights_are_exact(spread):
    rng = np.random.default_rng(spread)
    X = rng.integers(-3, 4, (300, 8)) * 2.0 ** rng.integers(-spread // 2, spread // 2 + 1, (300, 8))
    weights = [int(n) << 150 | 1 for n in rng.integers(-3, 4, 8)]
    truth = [sum(Fraction(x) * w for x, w in zip(row, weights, strict=True)) for row in X.tolist()]
    expected = [(value > 0) - (value < 0) for value in truth]
    assert signs(form_of(weights, 0), X).tolist() == expected


def test_numbers_too_far_apart_are_left_to_the_exact_lp():
    X = np.random.default_rng(0).normal(size=(60, 30))
    X[:, 0] *= 2.0 ** np.random.default_rng(1).integers(-400, 400, 60)
    source = as_source(X, np.repeat([0, 1], 30))
    with pytest.raises(change_of_basis.LostError):
        change_of_basis.BasisSearch(
            source, np.arange(30), source.take([]), bias=True, maximal=False, clock=change_of_basis.Clock()
        )


def test_rows_that_all_occur_with_both_labels_overlap():
    rows = np.random.default_rng(0).integers(-3, 4, (320, 310)).astype(float)
    X, y = np.concatenate([rows, rows]), np.repeat([0, 1], len(rows))
    verdict = linsep.decide(X, y)
    assert verdict.kind == "overlapping"
    verdict.verify(X, y)


@pytest.mark.parametrize("n_columns", [220, 320])
def test_a_row_with_both_labels_is_the_same_short_proof_in_memory_and_in_a_file(n_columns, tmp_path):
    rows = np.random.default_rng(0).integers(-3, 4, (40, n_columns))
    X, y = np.concatenate([rows, rows[:1]]), np.append(np.arange(40) % 2, 1)
    names = ",".join(f"c{j}" for j in range(n_columns + 1))
    np.savetxt(tmp_path / "rows.csv", np.column_stack([X, y]), "%d", ",", header=names, comments="")
    for verdict in (linsep.decide(X, y), linsep.decide(linsep.open(tmp_path / "rows.csv", label=-1))):
        first = verdict.obstruction
        assert (verdict.kind, first.rows, first.weights, first.is_definite) == ("touching", (0, 40), (1, 1), False)


def test_without_a_bias_opposite_rows_of_one_label_contradict_each_other():
    X = np.array([[1, 2], [3, 4], [-1, -2], [3, 4], [0, 0]])
    y = [1, 1, 1, -1, 1]
    assert contradictions(as_source(X, y), 9, bias=False) == [(0, 2), (1, 3)]
    assert contradictions(as_source(sp.csr_array(X), y), 9, bias=False) == [(0, 2), (1, 3)]
    assert contradictions(as_source(X, y), 9) == [(1, 3)]


def test_an_integer_whose_type_has_no_opposite_does_not_cancel_itself():
    X = np.array([[-(2**63), 1], [-(2**63), -1], [5, 5]], np.int64)
    assert contradictions(as_source(X, [1, 1, -1]), 9, bias=False) == []


def test_opposite_rows_without_a_bias_are_decided_like_rows_with_both_labels():
    rng = np.random.default_rng(4)
    X = rng.standard_normal((2000, 220))
    y = np.where(X @ rng.standard_normal(220) > 0, 1, -1)
    X, y = np.vstack([X, -X[:3]]), np.append(y, y[:3])
    verdict = linsep.decide(X, y, bias=False)
    assert verdict.kind == "touching" and len(verdict.obstruction.rows) == 2


def test_rows_are_hashed_once(monkeypatch):
    calls = []
    for module in (decide_module, change_of_basis):
        monkeypatch.setattr(module, "contradictions", lambda *a, **k: calls.append(a) or contradictions(*a, **k))
    monkeypatch.setattr(wide_module, "settle_pairs", lambda *a, **k: None)
    (one,) = adversarial.integer_margin(900, 210, 1)
    linsep.decide(one.X, one.y)
    assert len(calls) == 1


def test_more_pairs_than_are_affordable_are_rows_like_others(monkeypatch):
    monkeypatch.setattr(wide_module, "MOST_PAIRS", 2)
    monkeypatch.setattr(wide_module, "settle_pairs", lambda *a, **k: pytest.fail("too many pairs"))
    rng = np.random.default_rng(5)
    X, y = rng.standard_normal((900, 200)), rng.choice([-1, 1], 900)
    verdict = linsep.decide(np.vstack([X, X[:3]]), np.append(y, -y[:3]))
    assert verdict.kind == "overlapping"


# Beside rows that cancel, in columns too many for an exact basis


def beside_a_plane(n, d, seed=0):
    rng = np.random.default_rng(seed)
    planted = wide_instances.beside(rng, wide_instances.normal_rows(rng, n, d), wide_instances.weights(rng, d), 1e-3)
    return rng, planted


@pytest.mark.parametrize("plant", [wide_instances.tied, wide_instances.knotted, wide_instances.paired])
def test_a_few_rows_that_cancel_among_more_columns_than_a_basis_is_made_for(plant):
    rng, planted = beside_a_plane(700, 520)
    one = wide_instances.given("touching", plant(rng, planted, 3), adversarial.T, "")
    verdict = linsep.decide(one.X, one.y)
    assert verdict.kind == "touching" and len(verdict.obstruction.rows) <= 3


@pytest.mark.parametrize(
    ("plant", "n"), [(wide_instances.tied, 1680), (wide_instances.tied, 420), (wide_instances.knotted, 1680)]
)
def test_rows_that_cancel_are_found_all_at_once(monkeypatch, plant, n):
    """Fifty times three rows, and more exact systems than a few would mean one after the other."""
    rng, planted = beside_a_plane(n, 210)
    one = wide_instances.given("touching", plant(rng, planted, 50), adversarial.T, "")
    made, make = [], weak_relaxation.ZeroRows
    monkeypatch.setattr(weak_relaxation, "ZeroRows", lambda *rows: made.append(make(*rows)) or made[-1])
    assert linsep.decide(one.X, one.y).kind == "touching"
    assert len(made) <= 4 and len(made[-1].rows) >= 50


@pytest.mark.parametrize(("plant", "n", "zero"), [(wide_instances.tied, 300, []), (wide_instances.knotted, 20, [40])])
def test_only_rows_that_cancel_are_taken_for_such(plant, n, zero):
    """Also where the rank is below that of the columns, and coordinates of the round basis are nearly 0."""
    rng, planted = beside_a_plane(n, 40)
    planted = plant(rng, planted, 10)
    source = as_source(np.ldexp(planted.X.astype(np.float64), -wide_instances.FINE), planted.y)
    everything = next(source.blocks())
    frame = Frame.around(everything, np.arange(40), bias=True)
    view = RoundView(frame, round_basis(source, frame, everything), source.take(zero))
    rows = everything.take(np.flatnonzero(view.outside(everything)))
    assert sorted(newton.cancelling(view, rows, 36, Clock())) == list(range(n, len(planted.y) - len(zero)))
    assert not len(newton.cancelling(view, rows.take(np.arange(n)), 36, Clock()))
    assert not len(newton.cancelling(view, source.take([]), 36, Clock()))


@pytest.mark.parametrize(("family", "seed"), [("near_duplicates", 0), ("near_duplicates", 5), ("correlated", 9)])
def test_floats_in_a_round_basis_do_without_an_exact_one(monkeypatch, family, seed):
    monkeypatch.setattr(decide_module, "settle_from", lambda *a, **k: pytest.fail("an exact basis"))
    rng = np.random.default_rng([seed, sum(family.encode())])
    (one,) = getattr(wide_instances, family)(rng, 500)
    assert linsep.decide(one.X, one.y).kind in one.answers


def near_copies(n=400, d=40, apart=1e-6):
    """Rows of one class, the first ten of them almost the same in the other class too, among others far away."""
    X = np.random.default_rng(0).standard_normal((n, d))
    copies = X[:10].copy()
    copies[:, 0] += apart
    return as_source(np.vstack([X, copies]), np.repeat([1, -1], [n, 10]))


@pytest.mark.parametrize(("apart", "count"), [(0.0, 0), (1e-12, 10), (1e-6, 10), (1.0, 0)])
def test_rows_that_nearly_cancel_are_found_among_all(apart, count):
    source = near_copies(apart=apart)
    frame = Frame.around(source.take(range(20)), np.arange(40), bias=True)
    first, second = near_pairs(source, frame)
    assert first.tolist() == list(range(count)) and second.tolist() == list(range(400, 400 + count))


@pytest.mark.parametrize("apart", [1e-10, 1e-6])
def test_rows_that_nearly_cancel_are_far_apart_in_a_round_basis(apart):
    source = near_copies(apart=apart)
    everything = next(source.blocks())
    frame = Frame.around(everything, np.arange(40), bias=True)
    view = RoundView(frame, round_basis(source, frame, everything), source.take([]))
    z = view.signed(everything)
    assert np.linalg.norm(z[:10] + z[400:], axis=1).min() > 0.5
    w, b = view.halfspace(np.eye(41)[0])
    assert (np.sign(everything.y * (everything.values @ w + b)) == np.sign(z[:, 0])).all()


@pytest.mark.parametrize("bits", [20, 36])
def test_rows_that_nearly_cancel_are_separated_by_a_walk_in_a_round_basis(monkeypatch, bits):
    monkeypatch.setattr(newton, "Newton", lambda *a: pytest.fail("the walk is soon done"))
    rng = np.random.default_rng(bits)
    X, w = rng.standard_normal((400, 210)), rng.standard_normal(210)
    on, apart = X[:60] - np.outer(X[:60] @ w, w) / (w @ w), rng.standard_normal((60, 210))
    apart *= (np.sign(apart @ w) * 2.0**-bits)[:, None]
    rows, y = np.vstack([X, on + apart, on - apart]), np.concatenate([np.sign(X @ w), np.repeat([1.0, -1.0], 60)])
    assert linsep.decide(rows, y).kind == "separable"


def test_pairs_that_span_everything_overlap_at_once(monkeypatch):
    monkeypatch.setattr(wide_module.newton, "search", lambda *a, **k: pytest.fail("the pairs are proof enough"))
    X = np.vstack([np.zeros((1, 210)), np.eye(210)])
    verdict = linsep.decide(np.vstack([X, X, X + 5]), np.repeat([0, 1, 0], 211))
    assert verdict.kind == "overlapping" and len(verdict.spread.rows) == 422


def test_a_full_table_is_decided_alike_in_either_layout():
    rng, planted = beside_a_plane(500, 210)
    one = wide_instances.given("touching", wide_instances.tied(rng, planted, 2), adversarial.T, "")
    kinds = {type(X): linsep.decide(X, one.y) for X in (one.X, sp.csr_array(one.X))}
    weights = {verdict.weights for verdict in kinds.values()}
    assert len(weights) == 1


def test_weights_are_made_exactly_zero_on_rows_that_shall_be():
    source = as_source(np.array([[0.1, 0.7, 0.3], [0.2, 0.5, 0.9], [1.0, 0.0, 0.0]]), [0, 1, 1])
    zero = weak_relaxation.ZeroRows(source.take([0, 1]), bias=True)
    form = zero.solved(np.array([0.3, -0.1, 0.77]), 0.21)
    assert signs(form, source.take([0, 1]).values).tolist() == [0, 0] and any(form.coefficients)


def test_columns_that_floats_take_for_different_are_not_solved_for():
    """The third column is the first, the second too small for floats to see: it is one of the two to solve for."""
    tiny = 5e-324
    rows = as_source([[1.0, tiny, 1.0], [1.0, 2 * tiny, 1.0], [0.0, 0.0, 1.0]], [0, 1, 1]).take([0, 1])
    form = weak_relaxation.ZeroRows(rows, bias=False).solved(np.array([1.0, 2.0, 3.0]), 0.0)
    assert form.coefficients[:3] == (-1, 0, 1)
