"""Relaxation: the separators it finds are proved, and where there are none it gives up soon."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

import linsep
import naive
from linsep.loops import relaxation
from linsep.loops.layouts import Csr, Dense
from linsep.questions import decide as decide_module
from linsep.questions import wide as wide_module
from linsep.solvers.clock import Clock, OutOfTime
from linsep.solvers.wide.relax import Walkers, relax, viewpoint
from linsep.solvers.working_set import Separated, Stuck
from linsep.sources.calls import CallSource
from linsep.sources.inputs import as_source
from linsep.sources.row_set import Marks
from linsep.sources.subset import Remaining
from strategies import random_small


def relaxed(X, y, *, bias=True):
    """The separator it finds, or None."""
    found = relax(as_source(X, y), bias=bias, clock=Clock())
    return found if isinstance(found, Separated) else None


def is_right(X, y, found):
    """Whether every row is on its side, in Fractions."""
    W = [*map(naive.exact, found.w.tolist()), naive.exact(found.b)]
    return all(naive.dot(z, W) > 0 for z in naive.signed_rows(X, y))


def one_pass(Z, w, factor):
    """The rule as plainly as it can be written."""
    for z in Z:
        length = 2.0 ** -np.round(np.log2(z @ z) / 2)
        if length * (z @ w) < 1:
            w = w + factor * (1 - length * (z @ w)) / (length * (z @ z)) * z
    return w


@pytest.mark.parametrize("layout", [Dense, lambda X: Csr(*csr_parts(X))])
def test_the_compiled_walk_is_the_plain_one(layout):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((30, 5)) * 3, np.where(rng.random(30) > 0.5, 1, -1).astype(np.int8)
    measures, w, b, order = np.empty((30, 2)), np.zeros(5), np.zeros(1), np.arange(30)
    assert relaxation.measure(layout(X), y, 1.0, measures)
    relaxation.relax(layout(X), order, 0, 30, 0, measures, 1.8, 3.0, 1.0, w, b)
    plain = one_pass(np.column_stack([X, np.ones(30)]) * y[:, None], np.zeros(6), 1.8)
    assert np.allclose([*w, *b], plain, rtol=1e-12)


def csr_parts(X):
    table = sp.csr_array(X)
    return table.data, table.indices.astype(np.uint32), table.indptr.astype(np.uint64)


def test_rows_well_on_their_side_rest():
    measures, w, order = np.empty((3, 2)), np.array([2.0]), np.arange(3)
    table, y = Dense(np.array([[1.0], [0.5], [2.0]])), np.ones(3, np.int8)
    relaxation.measure(table, y, 0.0, measures)
    measures[:, relaxation.SCALE] = 1.0  # so that the scores are 2, 1 and 4
    kept, moves, _ = relaxation.relax(table, order, 0, 3, 0, measures, 1.0, 3.0, 0.0, w, np.zeros(1))
    assert (kept, moves) == (2, 0) and order[:2].tolist() == [0, 1]


def test_it_separates_and_admits_defeat():
    X, y = linsep.datasets.planted(300, 20, margin=0.5)
    assert is_right(X, y, relaxed(X, y))
    assert relaxed(*linsep.datasets.xor()) is None


@pytest.mark.parametrize("seed", range(20))
def test_what_it_finds_on_small_instances_is_right(seed):
    rng = np.random.default_rng(seed)
    for k in range(5):
        X, y, _ = random_small(rng)
        found = relaxed(sp.csr_array(X) if k % 2 else X, y)
        assert found is None or is_right(X, y, found)


@pytest.mark.parametrize("seed", range(20))
def test_verdicts_that_begin_with_it_agree_with_fractions(seed, monkeypatch):
    monkeypatch.setattr(decide_module, "FEW_ROWS", 0)
    monkeypatch.setattr(wide_module, "MANY_COLUMNS", 0)
    rng = np.random.default_rng(100 + seed)
    for k in range(5):
        X, y, bias = random_small(rng)
        rows = sp.csr_array(X) if k % 2 else X
        assert linsep.decide(rows, y, bias=bias).kind == naive.decide(X, y, bias)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int8, np.uint8, np.int64])
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
def test_every_kind_of_number_and_layout_is_walked(dtype, layout):
    X = (linsep.datasets.planted(60, 30, margin=0.3)[0] * 20 + 100).astype(dtype)
    y = np.where(np.random.default_rng(0).random(60) > 0.5, 1, -1)  # 60 rows in 31 dimensions: any labels will do
    found = relaxed(layout(X[:25]), y[:25])
    assert is_right(X[:25], y[:25], found)


def test_rows_without_entries_are_rows():
    X, y = np.zeros((40, 50)), np.ones(40, int)
    X[:20, :20], y[:20] = np.eye(20), -1
    assert is_right(X, y, relaxed(sp.csr_array(X), y))
    assert relaxed(sp.csr_array(X), y, bias=False) is None


def test_repeated_rows_do_no_harm_and_a_contradiction_is_not_separated():
    X, y = linsep.datasets.planted(50, 20, margin=0.2)
    X, y = np.repeat(X, 9, axis=0), np.repeat(y, 9)
    assert is_right(X, y, relaxed(X, y))
    assert relaxed(np.vstack([X, X[:1]]), np.append(y, -y[0])) is None


def test_the_rows_next_to_a_hyperplane_that_errs_on_a_few_are_handed_on():
    X, y = linsep.datasets.planted(400, 20, margin=0.2)
    found = relax(as_source(np.vstack([X, X[:1]]), np.append(y, -y[0])), bias=True, clock=Clock())
    assert isinstance(found, Stuck) and {0, 400} & set(found.rows.row_numbers.tolist())


@pytest.mark.parametrize("power", [-300, -60, 60, 300])
def test_rows_of_any_size_are_separated_or_left_alone(power):
    X, y = linsep.datasets.planted(100, 20, margin=0.3)
    X[::2] = np.ldexp(X[::2], power)
    found = relaxed(X, y, bias=False)
    assert found is None or is_right(X, y, found)
    assert linsep.decide(X, y, bias=False).kind == "separable"


def test_one_row_of_each_class_is_enough():
    assert relaxed([[1.0] * 400, [1.0] * 399 + [2.0]], [0, 1]) is not None


def test_columns_far_from_zero_and_of_all_sizes_are_separated():
    X, y = linsep.datasets.planted(2000, 300, margin=1e-3)
    X = (X + 1000) * 10.0 ** np.random.default_rng(0).uniform(-3, 3, 300)
    assert viewpoint(as_source(X, y), bias=True).point is not None
    found = relaxed(X, y)
    assert (y * (X @ found.w + found.b) > 0).all()


def test_sparse_columns_are_left_as_they_are():
    X, y = linsep.datasets.planted_sparse(500, 400)
    assert viewpoint(as_source(X * 100, y), bias=True).point is None


def test_it_gives_up_soon_on_flipped_labels():
    source, clock = as_source(*linsep.datasets.planted(2000, 300, margin=0.1, flipped=200)), Clock()
    assert relax(source, bias=True, clock=clock) is None
    assert clock.reads < 12


def test_whoever_is_called_positive_the_answer_is_of_the_same_kind():
    X, y = linsep.datasets.planted_sparse(2000, 500, margin=0.001)
    assert relaxed(X, y) is not None and relaxed(X, -y) is not None
    y[:200] *= -1
    assert (relaxed(X, y) is None) == (relaxed(X, -y) is None)


def test_the_same_rows_give_the_same_weights():
    X, y = linsep.datasets.planted(500, 100, margin=0.01)
    one, other = relaxed(X, y), relaxed(X, y)
    assert np.array_equal(one.w, other.w) and one.b == other.b


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
def test_rows_in_parts_are_walked_part_by_part(layout):
    X, y = linsep.datasets.planted(900, 40, margin=0.1)
    source = CallSource(lambda: ((layout(X[k : k + 300]), y[k : k + 300]) for k in (0, 300, 600)))
    found = relax(source, bias=True, clock=Clock())
    assert (y * (X @ found.w + found.b) > 0).all()


def test_a_stream_holds_no_more_rows_than_it_may(monkeypatch):
    X, y = linsep.datasets.planted(600, 60, margin=0.1)
    parts = CallSource(lambda: ((X[k : k + 100], y[k : k + 100]) for k in range(0, 600, 100)))
    stream, held, of = Remaining(parts, Marks(600, marked=True)), [], Walkers.of
    stream.facts = replace(stream.facts, at_hand=150)
    monkeypatch.setattr(Walkers, "of", lambda block, bias: held.append(len(block)) or of(block, bias))
    found = relax(stream, bias=True, clock=Clock())
    assert (y * (X @ found.w + found.b) > 0).all() and max(held) == 150 and len(held) > 1


def test_integers_that_no_double_holds_are_left_to_others():
    assert relaxed(np.array([[2**60, 1], [2**60 + 1, 1]]), [0, 1]) is None


def test_the_clock_stops_it():
    with pytest.raises(OutOfTime):
        relax(as_source(*linsep.datasets.planted(300, 20)), bias=True, clock=Clock(limit=0.0))


def test_a_small_margin_in_many_columns_is_decided_and_proved():
    X, y = linsep.datasets.planted(4000, 400, margin=1e-3)
    verdict = linsep.decide(X, y, time_limit=60)
    assert verdict.kind == "separable"
    verdict.verify(X, y)
