"""The float-guided search: what it returns is proved, and what it cannot prove it hands on."""

import numpy as np
import pytest

import linsep
from linsep.solvers.clock import Clock, OutOfTime
from linsep.solvers.min_norm import nearest_to_zero, shortest
from linsep.solvers.working_set import Blocked, Separated, levels, scan_safely, search
from linsep.sources.inputs import as_source

pytestmark = pytest.mark.usefixtures("streamed")


def looked(X, y, **options):
    source = as_source(X, y)
    clock = Clock()
    return search(source, np.arange(source.n_columns), bias=True, clock=clock, **options), clock


def test_separable_rows_are_separated_in_few_reads():
    X, y = linsep.datasets.planted(50_000, 10, margin=0.01)
    found, clock = looked(X, y)
    assert isinstance(found, Separated) and clock.reads <= 4
    assert (y * (X @ found.w + found.b) > 0).all()


def test_a_small_margin_takes_two_reads_of_the_whole():
    X, y = linsep.datasets.planted(100_000, 10, margin=1e-5)
    found, clock = looked(X, y)
    assert isinstance(found, Separated) and clock.reads == 2
    assert (y * (X @ found.w + found.b) > 0).all()


def test_a_flipped_label_gives_an_obstruction_that_cancels():
    X, y = linsep.datasets.planted(20_000, 6, margin=0.01, flipped=1)
    found, _ = looked(X, y)
    assert isinstance(found, Blocked) and len(found.weights) <= 8
    rows = np.asarray(found.rows.numbers)
    Z = np.column_stack([X, np.ones(len(X))])[rows] * y[rows, None]
    weights = np.array([float(u) for u in found.weights])
    assert np.allclose(weights @ Z / weights.sum(), 0, atol=1e-12)


def test_samples_grow_to_the_whole():
    source = as_source(*linsep.datasets.planted(100_000, 4))
    sizes = [level.source.n_rows for level in levels(source, 5)]
    assert sizes[-1] == 100_000 and sizes == sorted(sizes) and len(sizes) > 2


def test_both_ways_find_the_same_shortest_vector():
    X, y = linsep.datasets.planted(60, 5, margin=0.3)
    z = np.column_stack([X, np.ones(60)]) * y[:, None]
    quick, careful = shortest(z), nearest_to_zero(z)
    assert quick.is_solved and careful.is_solved
    assert np.allclose(quick.w / np.linalg.norm(quick.w), careful.w / np.linalg.norm(careful.w), atol=1e-7)


def test_both_ways_say_when_there_is_none():
    z = np.array([[1.0, 0.0], [-1.0, 1.0], [0.0, -1.0]])
    assert shortest(z).is_infeasible and nearest_to_zero(z).is_infeasible


def test_what_daqp_does_before_it_looks_at_a_clock_is_counted(monkeypatch):
    monkeypatch.setattr("daqp.solve", lambda *_, **limits: pytest.fail(f"asked with {limits}"))
    z = np.random.default_rng(0).standard_normal((3000, 1500))
    with pytest.raises(OutOfTime):
        shortest(z, np.arange(3000) < 1500, clock=Clock(0.5))


def test_more_rows_than_columns_to_start_from_are_no_start_and_the_time_limit_holds():
    """DAQP took minutes over 3,515 of them in 1,001 columns, and did not look at its clock."""
    rng = np.random.default_rng(0)
    z = rng.standard_normal((1200, 1)) + rng.standard_normal((1200, 300)) / 2**12
    z *= rng.choice([-1, 1], 1200)[:, None]
    starts = (np.ones(1200, bool), None)
    many, none = (shortest(z, start, clock=Clock(5.0)) for start in starts)
    assert np.array_equal(many.multipliers, none.multipliers) and many.is_solved == none.is_solved


@pytest.mark.parametrize("seed", range(5))
def test_impossible_rows_come_with_the_multipliers_that_cancel_them(seed):
    z = np.random.default_rng(seed).standard_normal((60, 7))
    answer = shortest(z)  # DAQP 0.11 leaves the memory of such multipliers as it is
    u = answer.multipliers
    assert answer.is_infeasible and np.count_nonzero(u > 1e-9 * u.max()) <= 8
    assert np.linalg.norm(u @ z) < 1e-9 * u.sum() and (u == shortest(z).multipliers).all()


def test_scores_beyond_the_largest_double_are_scanned_with_smaller_weights():
    source = as_source([[1.7e308, 1.0], [-1.7e308, 1.0]], [1, 0])
    w, _, scan = scan_safely(source, np.array([1e10, 0.0]), 0.0, worst=0)
    assert scan.mistakes == 0 and 0 < w[0] < 1


def test_the_clock_stops_the_search():
    X, y = linsep.datasets.planted(5000, 10, margin=0.01)
    with pytest.raises(OutOfTime):
        search(as_source(X, y), np.arange(10), bias=True, clock=Clock(limit=0.0))


def test_undecided_knows_what_the_rows_looked_at_allow(monkeypatch):
    X, y = linsep.datasets.planted(5000, 10, margin=0.01)
    looks = iter([False, False, False, True])
    monkeypatch.setattr(Clock, "is_over", lambda clock: next(looks, True))
    verdict = linsep.decide(X, y, time_limit=5.0)
    assert verdict.kind == "undecided" and verdict.margin[0] == 0.0
    assert 0.01 <= verdict.margin[1] < 2.0


def test_every_row_is_read_even_when_a_few_are_proof_enough():
    X, y = linsep.datasets.planted(20_000, 4, margin=0.01, flipped=2000)
    X[19_999, 1] = np.nan
    with pytest.raises(linsep.errors.NotFiniteError, match="Row 19999"):
        linsep.decide(X, y)


def test_where_a_sample_is_proof_enough_the_one_read_looks_for_nan_which_files_did_when_opened(tmp_path):
    path = str(tmp_path / "noise.parquet")
    linsep.datasets.write_planted(path, 20_000, 3, flipped=8000)
    X, y = linsep.datasets.planted(20_000, 3, flipped=8000)
    assert (linsep.decide(X, y).reads, linsep.decide(linsep.open(path, label="y")).reads) == (1, 0)
