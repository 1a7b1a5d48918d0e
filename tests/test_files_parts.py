"""Rows too many to be named: solvers keep marks and samples of a source in parts, and give the same answers."""

import numpy as np
import pytest

import linsep
from linsep.questions import decide as decide_module
from linsep.solvers import peel
from linsep.sources import subset
from linsep.sources.base import distinct_rows
from linsep.sources.files.source import FileSource
from linsep.sources.inputs import as_source
from linsep.sources.memory import Stripes
from linsep.sources.row_set import Marks
from linsep.sources.subset import Remaining, samples
from test_files_formats import proof

pytestmark = pytest.mark.usefixtures("streamed")


def half_peeled(flipped):
    """Rows of which every third is separated by a column of its own, the last."""
    X, y = linsep.datasets.planted(6000, 3, margin=0.05, flipped=flipped, seed=4)
    return np.column_stack([X, (np.arange(6000) % 3 == 0) & (y > 0)]), y


@pytest.fixture
def few_at_hand(monkeypatch):
    monkeypatch.setattr(peel, "AT_HAND", 8)
    monkeypatch.setattr(decide_module, "MOST_NAMED", 8)


def opened(X, y, tmp_path):
    np.save(tmp_path / "a.npy", np.column_stack([X, y]))
    return linsep.open(tmp_path / "a.npy", label=-1, memory="1MiB")


@pytest.mark.parametrize(("flipped", "kind"), [(0, "separable"), (50, "touching")])
def test_what_peeling_leaves_is_searched_without_a_copy(flipped, kind, few_at_hand, tmp_path):
    X, y = half_peeled(flipped)
    source = opened(X, y, tmp_path)
    assert isinstance(peel.peel(source, bias=True).rest, Marks)
    verdict = linsep.decide(source)
    assert verdict.kind == kind
    verdict.verify(X, y)
    assert proof(verdict) == proof(linsep.decide(X, y))


def test_an_estimate_is_found_without_naming_the_rows(few_at_hand, tmp_path):
    X, y = half_peeled(50)
    report, known = linsep.mle_exists(opened(X, y, tmp_path)), linsep.mle_exists(X, y)
    assert report.coefficients == known.coefficients
    assert report.separated_rows is None
    assert len(known.separated_rows) > 8


def test_remaining_rows_are_scanned_and_sampled_like_a_copy_of_them(tmp_path):
    X, y = linsep.datasets.planted(3000, 3, seed=1)
    source = opened(X, y, tmp_path)
    marks = Marks(3000)
    marks.put(5, np.arange(2000) % 7 < 3)
    rows, rest, w = marks.rows(), Remaining(source, marks), np.array([1.0, -1.0, 0.5])
    copy = decide_module.part_of(source, rows)
    assert rest.n_rows == copy.n_rows == marks.count()
    assert (
        rest.scan(w, 0.1, worst=9).worst.row_numbers.tolist() == copy.scan(w, 0.1, worst=9).worst.row_numbers.tolist()
    )
    assert rest.sample(400, 1).row_numbers.tolist() == rows[distinct_rows(len(rows), 400, 1)].tolist()


def test_the_samples_of_a_stream_are_fetched_in_one_read(tmp_path, monkeypatch):
    X, y = linsep.datasets.planted(3000, 3, seed=1)
    whole, marks = opened(X, y, tmp_path), Marks(3000)
    marks.put(5, np.arange(2000) % 7 < 3)
    for source in (whole, Remaining(whole, marks)):
        known, read = [source.sample(size, seed).row_numbers.tolist() for seed, size in enumerate((5, 400))], []
        monkeypatch.setattr(whole, "take", lambda rows, read=read: read.append(1) or FileSource.take(whole, rows))
        drawn = [sample.take(sample.numbers).row_numbers.tolist() for sample in samples(source, (5, 400))]
        assert drawn == known and len(read) == 1


def test_a_large_sample_is_the_same_rows_of_every_source_and_scanned_where_they_lie(tmp_path, monkeypatch):
    monkeypatch.setattr(subset, "STRIPED", 300)
    X, y = linsep.datasets.planted(3000, 3, seed=1)
    rows, w = as_source(X, y), np.array([1.0, -1.0, 0.5])
    (there,), (here,) = samples(opened(X, y, tmp_path), (400,)), samples(rows, (400,))
    numbers = next(there.blocks()).row_numbers
    assert isinstance(here, Stripes) and next(here.blocks()).row_numbers.tolist() == numbers.tolist()
    assert here.n_rows == there.n_rows == len(numbers) and set(np.diff(numbers)) == {1, 367}
    copied, scanned = there.scan(w, 0.1, worst=9), here.scan(w, 0.1, worst=9)
    assert scanned.worst.row_numbers.tolist() == copied.worst.row_numbers.tolist()
    assert (scanned.rows, scanned.mistakes, scanned.lowest) == (copied.rows, copied.mistakes, copied.lowest)
    assert set(here.sample(20, 0).row_numbers) <= set(numbers) and len(here.take(numbers[:5])) == 5


@pytest.mark.parametrize("n", [1, 7, 8, 9, 1000, 70_001])
def test_marks_are_flags(n):
    flags = np.random.default_rng(n).random(n) < 0.3
    marks = Marks(n, marked=True)
    assert marks.count() == n
    for start in range(0, n, 13):
        marks.put(start, flags[start : start + 13])
    assert np.array_equal(marks.get(n // 3, n), flags[n // 3 :])
    assert np.array_equal(marks.rows(), np.flatnonzero(flags))
    ranks = np.arange(0, marks.count(), 5)
    assert np.array_equal(marks.at_ranks(ranks), np.flatnonzero(flags)[ranks])


@pytest.mark.parametrize(("n", "k"), [(10, 3), (10, 20), (10**9, 1000)])
def test_rows_are_drawn_once_and_in_order(n, k):
    rows = distinct_rows(n, k, seed=1)
    assert len(rows) == min(n, k)
    assert np.all(np.diff(rows) > 0) and rows[0] >= 0 and rows[-1] < n


def test_a_file_written_in_pieces_is_the_same_for_every_length(tmp_path):
    for name, rows in (("short.csv", 100), ("long.parquet", 350)):
        linsep.datasets.write_planted(str(tmp_path / name), rows, 4, margin=0.2, seed=5, rows_a_piece=100)
    short, long = (linsep.open(tmp_path / name, label="y") for name in ("short.csv", "long.parquet"))
    assert (short.n_rows, long.n_rows, long.facts.names) == (100, 350, ("x1", "x2", "x3", "x4"))
    assert np.array_equal(short.take(range(100)).values, long.take(range(100)).values)
    assert linsep.max_margin(long).margin[1] >= 0.2 * (1 - 1e-15)  # planted in doubles, found exactly


def test_flipped_labels_are_spread_over_a_written_file(tmp_path):
    for name, flipped in (("a.parquet", 0), ("b.parquet", 7)):
        linsep.datasets.write_planted(str(tmp_path / name), 1000, 3, flipped=flipped, rows_a_piece=64)
    a, b = (linsep.open(tmp_path / name, label="y").take(range(1000)).y for name in ("a.parquet", "b.parquet"))
    assert np.flatnonzero(a != b).tolist() == list(range(0, 7 * 142, 142))
