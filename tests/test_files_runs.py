"""Files whose parts are read side by side: the same answers as rows in memory, to the last bit."""

import threading
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import linsep
from linsep.errors import ChangedFileError, InexactError, NotFiniteError
from linsep.loops.layouts import Dense
from linsep.sources.base import Facts
from linsep.sources.files.reader import ColumnValues, row_major
from linsep.sources.files.source import ColumnPart
from linsep.sources.files.threads import map_in_order
from linsep.sources.inputs import as_source
from linsep.sources.memory import MemorySource

pytestmark = pytest.mark.usefixtures("streamed")


@pytest.fixture(autouse=True)
def two_threads(monkeypatch):
    monkeypatch.setenv("LINSEP_THREADS", "2")


@pytest.fixture
def rows():
    return linsep.datasets.planted(9000, 7, flipped=40, seed=3)


def written(path, rows, *, group=500, label=None):
    X, y = rows
    table = pa.table([*X.T.copy(), y if label is None else label], names=[*(f"x{j}" for j in range(X.shape[1])), "y"])
    pq.write_table(table, path, row_group_size=group)
    return str(path)


def facts(scan):
    block = scan.worst
    counts = (scan.rows, scan.mistakes, scan.certain, scan.lowest, scan.longest2)
    return (*counts, *map(np.ndarray.tolist, (block.row_numbers, block.values, block.y, scan.worst_scores)))


@pytest.fixture(autouse=True)
def compiled(monkeypatch):
    """Rows in memory are scanned by the compiled loop, however few: NumPy sums in another order."""
    monkeypatch.setattr("linsep.exact.FEW_CELLS", 0)


@pytest.mark.parametrize("n_columns", [1, 2, 3, 7, 8, 9, 15, 16, 17, 33])
def test_columns_are_scanned_as_their_rows_are_to_the_last_bit(n_columns):
    rng = np.random.default_rng(n_columns)
    columns = [rng.standard_normal(1100) * 10.0 ** rng.integers(-9, 9) for _ in range(n_columns)]
    y, w = rng.choice(np.array([-1, 1], np.int8), 1100), rng.standard_normal(n_columns)
    part, rows = column_part(columns, y), row_part(columns, y)
    assert np.array_equal(rows.table.values, np.stack(columns, axis=1))
    for b in (0.25, 0.0):  # the second time it is known how long the rows are
        assert facts(part.scan(w, b, worst=9)) == facts(rows.scan(w, b, worst=9))
    assert facts(part.scan(0 * w, 0.0, worst=9)) == facts(rows.scan(0 * w, 0.0, worst=9))


def column_part(columns, y):
    return ColumnPart(ColumnValues(columns), y, Facts(len(y), len(columns)), range(len(y)))


def row_part(columns, y):
    return MemorySource(Dense(row_major(columns, np.float64)), y, Facts(len(y), len(columns)))


@pytest.mark.parametrize("worst", [0, 5, 2000])
@pytest.mark.parametrize("n_columns", [3, 18])
def test_rows_that_need_a_look_are_those_of_the_rows(n_columns, worst):
    rng = np.random.default_rng(worst)
    columns = list(rng.integers(-2, 3, (n_columns, 1500)) * 0.1)  # many scores are nearly 0, and many the same
    columns[0][700] = 1e200
    y, w = rng.choice(np.array([-1, 1], np.int8), 1500), np.ones(n_columns)
    part, rows = column_part(columns, y), row_part(columns, y)
    ours, theirs = part.scan(w, 0.0, worst=worst), rows.scan(w, 0.0, worst=worst)
    assert theirs.doubtful.size > 20
    assert facts(ours) == facts(theirs) and np.array_equal(ours.doubtful, theirs.doubtful)
    below = part.scan_alone(w, 0.0, worst, -0.15)
    assert np.array_equal(below.worst_scores, rows.scan_alone(w, 0.0, worst, -0.15).worst_scores)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_bad_value_among_columns_is_named(value):
    columns = [np.ones(700), np.ones(700)]
    columns[1][650] = value
    part = column_part(columns, np.ones(700, np.int8))
    for refuse in (lambda: part.require_finite(), lambda: part.scan(np.ones(2), 0.0)):
        with pytest.raises(NotFiniteError, match="Row 650, column 1"):
            refuse()
    part = column_part([np.full(9, np.nan)], np.ones(9, np.int8))
    with pytest.raises(NotFiniteError, match="Row 0"):
        part.scan(np.ones(1), 0.0)


def test_blocks_come_in_row_order_or_in_one_that_random_numbers_choose(tmp_path, rows):
    source = linsep.open(written(tmp_path / "a.parquet", rows), label="y")
    blocks = list(source.blocks())
    assert np.array_equal(np.concatenate([block.values for block in blocks]), rows[0])
    assert np.array_equal(np.concatenate([block.y for block in blocks]), rows[1])
    shuffled = [block.numbers[0] for block in source.blocks(np.random.default_rng(1))]
    assert shuffled != sorted(shuffled) and sorted(shuffled) == list(range(0, 9000, 500))


@pytest.mark.parametrize("group", [500, 8999])
@pytest.mark.parametrize("worst", [0, 1, 300])
def test_a_scan_of_row_groups_is_that_of_the_rows(tmp_path, rows, group, worst):
    source = linsep.open(written(tmp_path / "a.parquet", rows, group=group), label="y")
    assert source._is_side_by_side == (group == 500)
    w = np.random.default_rng(0).standard_normal(7)
    assert facts(source.scan(w, 0.1, worst=worst)) == facts(as_source(*rows).scan(w, 0.1, worst=worst))


def test_long_row_groups_are_read_in_pieces_by_several_threads(tmp_path, rows):
    many = tuple(np.tile(part, (12, 1)) if part.ndim == 2 else np.tile(part, 12) for part in rows)
    source = linsep.open(written(tmp_path / "a.parquet", many, group=10_000), label="y", memory="2MiB")
    assert len(source._groups) == 11 and source._surveys[0].batches > 40
    assert facts(source.scan(np.ones(7), 0.0, worst=5)) == facts(as_source(*many).scan(np.ones(7), 0.0, worst=5))
    chosen = np.arange(0, len(many[1]), 7)[::-1]
    assert np.array_equal(source.take(chosen).values, many[0][chosen])


def test_ties_among_the_worst_rows_go_to_the_first(tmp_path):
    X, y = np.ones((4000, 2)), np.tile([1, -1], 2000)
    source = linsep.open(written(tmp_path / "a.parquet", (X, y), group=100), label="y")
    for _ in range(5):
        assert source.scan(np.ones(2), 0.0, worst=150).worst.row_numbers.tolist() == list(range(1, 300, 2))


@pytest.mark.slow
@pytest.mark.parametrize("kind", [np.int32, np.float32, np.float64])
@pytest.mark.parametrize("label", [np.int8, np.float64, str, bool])
def test_columns_and_labels_of_every_type_give_the_proof_of_the_rows(tmp_path, rows, kind, label):
    X, y = np.round(4 * rows[0]).astype(kind), rows[1]
    named = (y > 0) if label is bool else y.astype(label)
    source = linsep.open(written(tmp_path / "a.parquet", (X, y), label=named), label="y")
    ours, theirs = linsep.decide(source), linsep.decide(X.astype(np.int64) if kind is np.int32 else X, named)
    assert (ours.kind, ours.obstruction) == (theirs.kind, theirs.obstruction)


def test_a_cache_is_read_side_by_side_too(tmp_path, rows):
    many = tuple(np.concatenate([part] * 4) for part in rows)
    path = tmp_path / "a.csv"
    np.savetxt(path, np.column_stack(many), delimiter=",", header="a,b,c,d,e,f,g,y", comments="", fmt="%.17g")
    source = linsep.open(path, label="y", memory="2MiB", cache=tmp_path / "cache")
    assert source._is_side_by_side
    assert facts(source.scan(np.ones(7), 0.0, worst=5)) == facts(as_source(*many).scan(np.ones(7), 0.0, worst=5))
    assert np.array_equal(source.take([35_999, 3]).values, many[0][[35_999, 3]])


def test_a_file_that_changed_is_refused_by_every_thread(tmp_path, rows):
    path = written(tmp_path / "a.parquet", rows)
    source = linsep.open(path, label="y")
    written(tmp_path / "a.parquet", (rows[0][:8000], rows[1][:8000]))
    with pytest.raises(ChangedFileError):
        source.scan(np.ones(7), 0.0)


def test_a_long_integer_after_floats_is_refused_not_rounded(tmp_path):
    path = tmp_path / "a.parquet"
    first, second = [0.5, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0]
    table = pa.table({"a": [1, 2, 3, 4, 5, 6, 7, 2**53 + 1], "b": [*first, *second], "y": [0, 1] * 4})
    pq.write_table(table, path, row_group_size=4)
    with pytest.raises(InexactError, match="row 7, column 'a'"):
        linsep.open(path, label="y")


def test_work_abreast_keeps_the_order_and_raises_the_first_fault():
    assert list(map_in_order(lambda k: k * k, range(50), 3)) == [k * k for k in range(50)]

    def fail(k):
        if k >= 4:
            raise ValueError(k)
        return k

    seen = []
    with pytest.raises(ValueError, match=r"^4$"):
        seen.extend(map_in_order(fail, range(50), 3))


def test_a_fault_in_the_making_of_items_waits_for_the_work_before_it():
    def items():
        yield from range(6)
        raise KeyError("items")

    seen = []
    with pytest.raises(KeyError, match="items"):
        seen.extend(map_in_order(lambda k: k, items(), 2))
    results = map_in_order(lambda k: 1 // (3 - k), items(), 2)
    assert [next(results) for _ in range(3)] == [0, 0, 1]
    with pytest.raises(ZeroDivisionError):
        next(results)


def test_who_stops_listening_stops_the_work_map_in_order():
    made, before = [], threading.active_count()
    results = map_in_order(lambda k: (time.sleep(0.001), made.append(k)), range(1000), 2)
    next(results)
    results.close()
    done = len(made)
    time.sleep(0.02)
    assert len(made) == done < 20
    for _ in range(3):
        list(map_in_order(abs, range(10), 2))
    assert threading.active_count() <= before + 2  # the threads stay, and serve the next


def test_rows_that_were_set_aside_stay_out_of_every_scan(tmp_path):
    X, y = linsep.datasets.planted(4000, 3, margin=0.1)
    X[::100, 1] = np.nan
    table = pa.table({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "y": y})
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=200)
    source = linsep.open(tmp_path / "a.parquet", label="y", reject=tmp_path / "bad.csv")
    good = np.isfinite(X[:, 1])
    assert (source.n_rows, source.facts.rows_left_out) == (good.sum(), 40)
    assert source.scan(np.ones(3), 0.5).mistakes == as_source(X[good], y[good]).scan(np.ones(3), 0.5).mistakes
    assert linsep.decide(source).separable
