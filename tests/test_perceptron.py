"""The lectures' runs, number for number, and what must hold of every run."""

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings

import linsep
import naive
from linsep.errors import ArgumentError, InexactError, OverflowedError
from linsep.learners.perceptron import learner_on
from linsep.sources.calls import CallSource
from linsep.sources.inputs import as_source
from linsep.sources.memory import MemorySource
from strategies import data_sets

CORNWELL = [
    (0, [1, -3], -1), (1, [2, -2], -2), (3, [2, -0.5], -1), (3, [2, 1], 0), (0, [3, -2], -1),
    (3, [3, -0.5], 0), (3, [3, 1], 1), (0, [4, -2], 0), (3, [4, -0.5], 1),
]  # fmt: skip


def transcript(X, y, **options):
    return [(step.row, step.w.tolist(), step.b) for step in linsep.perceptron_steps(X, y, **options)]


@pytest.mark.parametrize("order", ["cyclic", "restart"])
def test_cornwell_reaches_w10_in_nine_updates(order):
    X, y = linsep.datasets.cornwell()
    assert transcript(X, y, order=order) == CORNWELL
    run = linsep.perceptron(X, y, order=order)
    assert run.converged and run.updates == 9
    assert run.halfspace.equation() == "4·x1 - 0.5·x2 + 1 = 0"


def test_tao_stops_after_two_updates():
    X, y = linsep.datasets.tao()
    assert transcript(X, y, bias=False) == [(0, [1, 0], 0), (1, [1, 1], 0)]


def test_wang_makes_three_mistakes_and_the_second_pass_is_clean():
    X, y = linsep.datasets.wang()
    assert transcript(X, y, bias=False) == [(0, [1, -2], 0), (2, [2, -1], 0), (4, [3, 1], 0)]
    assert linsep.perceptron(X, y, bias=False).passes == 2


def test_xor_never_ends_and_the_result_says_so():
    run = linsep.perceptron(*linsep.datasets.xor(), max_passes=100)
    assert not run.converged and run.passes == 100 and run.updates == 400
    assert "proves nothing" in run.explain()


def test_the_dual_counts_rebuild_the_weights():
    X, y = linsep.datasets.planted(300, 7, margin=0.05)
    run = linsep.perceptron(X, y)
    assert run.mistakes_per_row.sum() == run.updates
    assert np.allclose((run.mistakes_per_row * y) @ X, run.halfspace.w)
    assert (run.mistakes_per_row * y).sum() == run.halfspace.b


@pytest.mark.parametrize("order", ["cyclic", "restart", "shuffled", "worst"])
@pytest.mark.parametrize("bias", [True, False])
def test_every_order_separates_within_the_bound(order, bias):
    X, y = linsep.datasets.planted(200, 5, margin=0.2, seed=3)
    run = linsep.perceptron(X, y, order=order, bias=bias, random_state=0)
    radius2 = (X**2).sum(axis=1).max() + bias
    assert run.converged and run.halfspace.mistakes(X, y) == 0
    assert run.updates <= radius2 / 0.2**2


@settings(max_examples=60, deadline=None)
@given(data_sets())
def test_cyclic_and_restart_agree_with_fractions(data):
    X, y, bias = data
    if np.abs(np.asarray(X, float)).max() > 1e6 or not np.array_equal(np.round(X), X):
        X = np.round(np.clip(np.nan_to_num(np.asarray(X, float)), -5, 5))
    for order in ("cyclic", "restart"):
        expected = naive.perceptron(X, y, order=order, bias=bias, max_updates=30)
        steps = islice(linsep.perceptron_steps(X, y, order=order, bias=bias, max_updates=30), 30)
        assert [(s.row, tuple(s.w), s.b) for s in steps] == [(r, tuple(w), b) for r, w, b in expected]


def test_worst_order_takes_the_most_violated_row():
    X, y = linsep.datasets.planted(50, 3, margin=0.1, seed=1)
    w, b = np.zeros(3), 0.0
    for step in linsep.perceptron_steps(X, y, order="worst"):
        assert step.row == np.argmin(y * (X @ w + b))
        w, b = step.w, step.b


def test_a_shuffled_run_is_repeated_by_its_seed():
    X, y = linsep.datasets.planted(500, 4, margin=0.01)
    runs = [transcript(X, y, order="shuffled", random_state=seed) for seed in (5, 5, 6)]
    assert runs[0] == runs[1] != runs[2]


def test_steps_and_run_are_the_same_run():
    X, y = linsep.datasets.planted(400, 30, margin=0.01)
    *_, last = linsep.perceptron_steps(X, y)
    run = linsep.perceptron(X, y)
    assert last.update == run.updates and np.array_equal(last.w, run.halfspace.w)


def test_caps_stop_the_run_where_they_say():
    X, y = linsep.datasets.xor()
    assert linsep.perceptron(X, y, max_updates=7).updates == 7
    assert linsep.perceptron(X, y, max_passes=3).passes == 3
    assert linsep.perceptron(X, y, max_passes=3, order="restart").passes == 3
    assert linsep.perceptron(X, y, max_passes=3, order="worst").passes == 3


def test_a_clean_pass_that_uses_up_the_cap_still_counts():
    X, y = linsep.datasets.wang()
    assert linsep.perceptron(X, y, bias=False, max_passes=2).converged


def test_a_run_can_be_left_and_taken_up():
    X, y = linsep.datasets.planted(400, 6, margin=0.001)
    learner = learner_on(as_source(X, y))
    for _ in islice(learner.walk(look_after=1), 5):
        pass
    assert learner.updates == 5
    for _ in learner.walk():
        pass
    assert learner.converged and learner.halfspace.mistakes(X, y) == 0


LAYOUTS = {
    "fortran": np.asfortranarray,
    "read-only": lambda X: np.require(X.copy(), requirements=[]),
    "csr": sp.csr_array,
    "csc": sp.csc_array,
    "coo": sp.coo_matrix,
    "list": lambda X: X.tolist(),
    "strided": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "big-endian": lambda X: X.astype(X.dtype.newbyteorder(">")),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("order", ["cyclic", "restart", "shuffled", "worst"])
def test_the_layout_does_not_show_in_the_run(layout, order):
    rng = np.random.default_rng(0)
    X = rng.integers(-9, 10, (80, 5))
    y = np.where(X @ [3, -2, 1, 1, 5] > 0, 1, -1)
    expected = transcript(X, y, order=order, random_state=1, max_updates=200)
    assert transcript(LAYOUTS[layout](X), y, order=order, random_state=1, max_updates=200) == expected


def test_rows_in_parts_give_the_same_run():
    X, y = linsep.datasets.planted(90, 5, margin=0.05)
    source = CallSource(lambda: [(X[:20], y[:20]), (X[20:21], y[20:21]), (X[21:], y[21:])])
    for order in ("cyclic", "restart", "worst"):
        parts, whole = linsep.perceptron(source, order=order), linsep.perceptron(X, y, order=order)
        assert parts.halfspace == whole.halfspace and parts.passes == whole.passes
        assert np.array_equal(parts.mistakes_per_row, whole.mistakes_per_row)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.int32, np.uint32, np.int64, np.uint64, bool])
def test_integers_run_exactly_and_report_their_bits(dtype):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (60, 6)).astype(dtype)
    y = np.where(X.astype(int) @ [5, -3, 2, 2, -4, 1] > 0, 1, -1)
    run = linsep.perceptron(X, y)
    assert run.halfspace.w.dtype == np.int64
    assert run.bits == max(abs(int(v)) for v in [*run.halfspace.w, run.halfspace.b]).bit_length()
    assert run.bits <= 1 + np.log2(run.updates) + 1


def test_integers_leave_int64_before_it_can_overflow():
    X = np.array([[2**25, 1], [2**25, 0]])
    run = linsep.perceptron(X, [1, 0], max_updates=5000)
    assert run.bits is None and run.halfspace.w.dtype == np.float64
    assert linsep.perceptron(X, [1, 0], max_updates=100).bits is not None


def test_integers_beyond_2_to_53_are_refused():
    with pytest.raises(InexactError, match="63 bits"):
        linsep.perceptron(np.array([[2**62], [2**62 + 1]]), [0, 1])


def test_a_score_beyond_the_largest_double_is_refused():
    with pytest.raises(OverflowedError, match="Row 1"):
        linsep.perceptron([[1.7e308, 1.0], [1.7e308, -1.0]], [0, 1])


def test_float32_rows_run_as_the_doubles_they_are():
    X, y = linsep.datasets.planted(300, 90, margin=0.1, dtype=np.float32)
    narrow, wide = linsep.perceptron(X, y), linsep.perceptron(X.astype(np.float64), y)
    assert narrow.updates == wide.updates
    assert np.allclose(narrow.halfspace.w, wide.halfspace.w, rtol=1e-12)


def test_where_the_rows_lie_in_memory_does_not_show():
    X, y = linsep.datasets.planted(60, 100, margin=0.001)
    weights = set()
    for shift in range(8):
        raw = np.empty(X.size + 8)
        moved = raw[shift : shift + X.size].reshape(X.shape)
        moved[:] = X
        weights.add(linsep.perceptron(moved, y).halfspace.w.tobytes())
    assert len(weights) == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [({"order": "random"}, "order is 'random'"), ({"max_passes": 0}, "max_passes is 0"), ({"max_updates": -1}, "-1")],
)
def test_options_outside_their_range_are_refused(options, message):
    with pytest.raises(ArgumentError, match=message):
        linsep.perceptron(*linsep.datasets.xor(), **options)


def test_runs_and_steps_are_equal_if_all_their_numbers_are():
    X, y = linsep.datasets.cornwell()
    run, steps = linsep.perceptron(X, y), list(linsep.perceptron_steps(X, y))
    assert run == linsep.perceptron(X, y) and steps == list(linsep.perceptron_steps(X, y))
    assert run not in (linsep.perceptron(X, y, bias=False), None) and steps[0] != steps[1]
    assert replace(run, mistakes_per_row=None) != run


# The end of a run -------------------------------------------------------------------------------------------------


class CountedScans(MemorySource):
    """Rows in memory that count how often they are scanned."""

    scans = 0

    def scan(self, *args, **options):
        self.scans += 1
        return super().scan(*args, **options)


def counted(X, y):
    source = as_source(X, y)
    return CountedScans(source.table, source.y, source.facts)


def test_a_clean_pass_in_row_order_proves_itself_without_a_scan():
    source = counted(*linsep.datasets.planted(500, 6, margin=0.05))
    assert learner_on(source).run().converged
    assert source.scans == 0


def test_rows_whose_side_is_in_doubt_after_a_clean_pass_are_scanned():
    X = np.array([[1.0, 1.0], [1e20, -1e20]] + [[1.0, 2.0]] * 20)  # beside 1e20 no score of the others is certain
    source = counted(X, [1] + [0] + [1] * 20)
    learner_on(source, max_passes=9).run()
    assert source.scans > 0
