"""A scan tells the truth, on every source and layout, and scans of parts add up."""

import numpy as np
import pytest
import scipy.sparse as sp

import linsep
import naive
import strategies
from linsep.errors import NoRowsError, NotFiniteError, OverflowedError, ShapeError
from linsep.sources import memory
from linsep.sources.calls import CallSource
from linsep.sources.inputs import as_source
from linsep.sources.watched import WatchedSource

RNG = np.random.default_rng(7)
X = RNG.integers(-8, 9, (97, 6)) / 4
Y = np.where(RNG.random(97) < 0.5, -1, 1)
W, B = RNG.integers(-8, 9, 6) / 2, 0.25

SOURCES = {
    "dense": lambda X, y: as_source(X, y),
    "float32": lambda X, y: as_source(X.astype(np.float32), y),
    "csr": lambda X, y: as_source(sp.csr_array(X), y),
    "parts": lambda X, y: CallSource(lambda: [(X[:10], y[:10]), (X[10:11], y[10:11]), (X[11:], y[11:])]),
    "sparse parts": lambda X, y: CallSource(lambda: [(sp.csr_array(X[:50]), y[:50]), (sp.csr_array(X[50:]), y[50:])]),
    "watched parts": lambda X, y: WatchedSource(SOURCES["parts"](X, y)),
}


@pytest.fixture(params=SOURCES)
def source(request):
    return SOURCES[request.param](X, Y)


@pytest.fixture(params=["in NumPy", "compiled"], autouse=True)
def way(request, monkeypatch):
    """Few rows are scanned in NumPy, many by a compiled loop: the tests hold for both."""
    if request.param == "compiled":
        monkeypatch.setattr("linsep.exact.FEW_CELLS", 0)


def test_a_scan_agrees_with_fractions(source):
    scan, expected = source.scan(W, B, worst=5), naive.scan(X, Y, W, B)
    assert (scan.rows, scan.mistakes) == (97, expected.mistakes)
    assert scan.lowest == (expected.least_negative, expected.least_positive)
    assert scan.radius(bias=True) ** 2 == pytest.approx(float(expected.radius_squared))


def test_the_worst_rows_come_with_their_values_most_violated_first(source):
    scan = source.scan(W, B, worst=12)
    scores = Y * (X @ W + B)
    expected = np.lexsort((np.arange(97), scores))[:12]
    assert scan.worst.numbers.tolist() == expected.tolist()
    assert scan.worst_scores.tolist() == scores[expected].tolist()
    again = as_source_like(scan.worst)
    assert np.array_equal(again, X[expected])


def as_source_like(block):
    table = block.table
    if hasattr(table, "values"):
        return np.asarray(table.values, float)
    shape = (len(block), X.shape[1])
    return sp.csr_array((table.data, table.indices.astype(int), table.indptr.astype(int)), shape=shape).toarray()


def test_more_worst_rows_than_rows_are_all_rows(source):
    assert sorted(source.scan(W, B, worst=1000).worst.numbers) == list(range(97))


def test_rows_are_taken_in_the_order_asked_for(source):
    block = source.take([50, 3, 96, 3])
    assert np.asarray(block.numbers).tolist() == [50, 3, 96, 3]
    assert np.array_equal(as_source_like(block), X[[50, 3, 96, 3]]) and block.y.tolist() == Y[[50, 3, 96, 3]].tolist()


def test_blocks_are_all_rows_in_order(source):
    assert [n for block in source.blocks() for n in block.numbers] == list(range(97))


def test_a_sample_is_distinct_rows_and_repeats_by_its_seed(source):
    first, second = source.sample(30, seed=1), source.sample(30, seed=1)
    assert len(set(first.numbers)) == 30 and list(first.numbers) == list(second.numbers)
    assert len(source.sample(1000, seed=0)) == 97


def test_a_sample_is_uniform():
    source = as_source(np.arange(10.0)[:, None], [0, 1] * 5)
    counts = np.bincount(np.concatenate([source.sample(3, seed).numbers for seed in range(2000)]), minlength=10)
    assert counts.min() > 500 and counts.max() < 700


def test_threads_do_not_change_a_scan(monkeypatch):
    rows, y = linsep.datasets.planted(5000, 20, margin=0.01)
    results = []
    for workers in (1, 2, 7):
        monkeypatch.setattr(memory, "WORTH_A_THREAD", 1)
        monkeypatch.setattr(memory, "thread_count", lambda workers=workers: workers)
        scan = as_source(rows, y).scan(np.ones(20), 0.5, worst=40)
        results.append((scan.mistakes, scan.lowest, scan.longest2, scan.worst.numbers.tolist()))
    assert results[0] == results[1] == results[2]


@pytest.mark.parametrize("columns", [5, 80])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_a_row_whose_sign_is_not_proved_is_doubtful(columns, kind):
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((200, columns))
    w = rng.standard_normal(columns)
    on_plane = [3, 77, 199]
    for i in on_plane:  # push the row onto the plane as well as doubles can
        rows[i] -= (rows[i] @ w) / (w @ w) * w
    scan = as_source(kind(rows), rng.integers(0, 2, 200)).scan(w, 0.0)
    assert set(on_plane) <= set(scan.doubtful) and scan.doubtful.size < 8
    assert not scan.is_clean


@pytest.mark.parametrize("exponent", [-1000, -160, 0, 160, 1000])
def test_no_wrong_sign_hides_at_any_scale(exponent):
    """1 + 2^-60 - 1, which rounds to 0, with weights and rows of opposite extremes."""
    big, small = 2.0**exponent, 2.0**-exponent
    rows = np.array([[big, big * 2.0**-60, -big], [big, 0.0, big]])
    scan = as_source(rows, [1, 0]).scan(np.array([small, small, small]), 0.0)
    assert 0 in scan.doubtful


def test_values_near_the_limits_are_scanned_or_refused():
    rows = np.array([[1e-320, 1.0], [1e300, -1.0]])
    assert as_source(rows, [1, 0]).scan(np.array([0.0, 1.0]), 0.0).mistakes == 0
    with pytest.raises(NotFiniteError, match="Row 1, column 0"):
        as_source(np.array([[1.0], [np.nan]]), [0, 1]).scan(np.zeros(1), 0.0)


def test_a_bad_number_in_a_later_part_is_named_by_its_row_in_the_whole():
    bad = X.copy()
    bad[60, 1] = np.inf
    with pytest.raises(NotFiniteError, match="Row 60, column 1"):
        CallSource(lambda: [(bad[:40], Y[:40]), (bad[40:], Y[40:])]).scan(W, B)


def test_parts_must_have_rows_and_one_width():
    with pytest.raises(NoRowsError):
        CallSource(list)
    with pytest.raises(ShapeError, match=r"\[2, 3\]"):
        CallSource(lambda: [([[1, 2]], [1]), ([[1, 2, 3]], [1])])


def test_few_rows_are_scanned_as_the_compiled_loop_scans_them(monkeypatch):
    rng = np.random.default_rng(0)
    for _ in range(300):
        rows, y, _ = strategies.random_small(rng)
        w, b = rng.integers(-3, 4, rows.shape[1]).astype(float), float(rng.integers(-2, 3))
        seen = []
        for cells in (10**6, 0):
            monkeypatch.setattr("linsep.exact.FEW_CELLS", cells)
            seen.append(said(as_source(rows, y), w, b))
        assert seen[0] == seen[1]


def said(source, w, b):
    """What a scan tells, or why it cannot; sums of extremes may be rounded in another order."""
    try:
        scan = source.scan(w, b, worst=3)
    except OverflowedError as error:
        return str(error)
    return scan.certain, scan.lowest, scan.longest2, scan.doubtful.tolist(), scan.worst.row_numbers.tolist()


def test_every_question_names_a_bad_number_of_a_later_part_by_its_row_in_the_whole():
    X, y = linsep.datasets.planted(900, 3, margin=0.02, seed=5)
    X[700, 1] = np.nan
    parts = [(X[k : k + 300], y[k : k + 300]) for k in range(0, 900, 300)]
    for ask in (linsep.fewest_mistakes, linsep.clean, linsep.decide):
        with pytest.raises(NotFiniteError, match=r"^Row 700, column 1 "):
            ask(CallSource(lambda: parts))
