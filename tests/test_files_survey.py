"""The first read, made of stretches side by side: what is found is what one walk finds, and so is the first fault."""

import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import linsep
from linsep.errors import (
    ArgumentError,
    DamagedFileError,
    InexactError,
    ManyClassesError,
    MissingLabelError,
    NotFiniteError,
    NotNumericError,
    QuoteError,
)
from linsep.sources.files import parquet
from linsep.sources.files.first_read import surveyed as look_at
from linsep.sources.files.labels import Labels
from linsep.sources.files.options import Options

pytestmark = pytest.mark.usefixtures("streamed")


def written(path, *, group=10, **columns):
    pq.write_table(pa.table(columns), path, row_group_size=group)
    return str(path)


def surveyed(path, monkeypatch, threads):
    monkeypatch.setenv("LINSEP_THREADS", str(threads))
    reader = parquet.ParquetReader(path, Options(label="y"))
    found = look_at(reader, reader)
    labels = (found.labels.codes, found.labels.first)
    numbers = (found.whole, found.bits, found.long, found.entries, found.batches)
    return labels, numbers


HALVES = np.arange(100) / 2
LONG = np.arange(100) + 2**53


@pytest.mark.parametrize(
    "x", [np.arange(100), np.arange(100) * 1.0, HALVES, np.where(np.arange(100) < 70, 3.0, 0.5), LONG, -LONG]
)
@pytest.mark.parametrize("y", [np.arange(100) % 2, (np.arange(100) > 60) * 1.5, np.array(list("ab" * 50))])
def test_stretches_side_by_side_find_what_one_walk_finds(x, y, tmp_path, monkeypatch):
    path = written(tmp_path / "a.parquet", x=x, y=y)
    assert surveyed(path, monkeypatch, 3) == surveyed(path, monkeypatch, 1)


def test_labels_have_their_codes_in_the_order_of_the_rows(tmp_path, monkeypatch):
    y = np.array([5, 5, 3] * 10 + [9, 3, 1] * 20)
    path = written(tmp_path / "a.parquet", x=np.arange(90.0), y=y)
    (codes, first), _ = surveyed(path, monkeypatch, 3)
    assert codes == {5: 0, 3: 1, 9: 2, 1: 3}
    assert first == {5: 0, 3: 2, 9: 30, 1: 32}


@pytest.mark.parametrize(("late", "error", "row"), [(70, NotFiniteError, 33), (12, MissingLabelError, 12)])
def test_the_first_fault_of_a_file_is_the_one_that_is_raised(late, error, row, tmp_path, monkeypatch):
    monkeypatch.setenv("LINSEP_THREADS", "3")
    x, y = np.arange(100.0), (np.arange(100) % 2) * 1.0
    x[33], y[late] = np.inf, np.nan
    for _ in range(5):
        with pytest.raises(error) as caught:
            linsep.open(written(tmp_path / "a.parquet", x=x, y=y), label="y")
        assert caught.value.row == row


def test_a_value_that_is_not_finite_is_named_by_row_column_and_value(tmp_path):
    a, b = np.zeros(100), np.ones(100)
    a[57], b[55] = np.nan, -np.inf
    with pytest.raises(NotFiniteError, match="row 55, column 'b' holds -inf: not a finite number"):
        linsep.open(written(tmp_path / "a.parquet", a=a, b=b, y=np.arange(100) % 2), label="y")


def test_a_row_group_that_is_shorter_than_the_file_says_is_damage(tmp_path):
    reader = parquet.ParquetReader(written(tmp_path / "a.parquet", x=HALVES, y=HALVES), Options(label="y"))
    with pytest.raises(DamagedFileError, match="says that 11 rows follow, starting with row 20, but there are 10"):
        reader.lengths[2] = 11
        list(reader.read(2))


def test_columns_that_are_read_a_few_at_a_time_are_those_that_were_asked_for(tmp_path, monkeypatch):
    monkeypatch.setattr(parquet, "BITE", 1)
    columns = {"b": HALVES, "a": -HALVES, "a.b": 3 * HALVES, "y": np.arange(100) % 2}
    source = linsep.open(written(tmp_path / "a.parquet", **columns), label="y", columns=["a", "a.b", "b"])
    assert source._is_side_by_side
    assert next(source.blocks()).values[3].tolist() == [-1.5, 4.5, 1.5]
    assert source.scan(np.ones(3), 0.0).longest2 == float(11 * HALVES[-1] ** 2)


def test_labels_that_are_joined_are_those_that_one_would_have_seen():
    known = Labels("a", from_text=False)
    known.encode(np.array([2, 7]), 0)
    one, other = known.copy(), known.copy()
    one.encode(np.array([7, 7, 4]), 10)
    other.encode(np.array([4, 1]), 20)
    known.join(one)
    known.join(other)
    assert (known.codes, known.first) == ({2: 0, 7: 1, 4: 2, 1: 3}, {2: 0, 7: 1, 4: 12, 1: 21})


def test_too_many_labels_are_refused_when_they_are_joined(monkeypatch):
    monkeypatch.setattr("linsep.sources.files.labels.MOST_LABELS", 3)
    known = Labels("a", from_text=False)
    known.encode(np.arange(2), 0)
    more = known.copy()
    more.encode(np.array([2]), 2)
    known.join(more)
    with pytest.raises(ManyClassesError):
        more.encode(np.array([3]), 3)


# Text, in many pieces -------------------------------------------------------------------------------------------


def text(tmp_path, changes=(), rows=20_000, end="\n"):
    """A file of ten pieces or so at the smallest memory, some of its lines replaced."""
    lines = ["a,b,y", *(f"{k}.25,{-k},{k % 2}" for k in range(rows))]
    for line, content in changes:
        lines[line] = content
    path = tmp_path / "a.csv"
    path.write_bytes((end.join(lines) + end).encode())
    return path


@pytest.fixture(params=[1, 3])
def opened(request, monkeypatch):
    monkeypatch.setenv("LINSEP_THREADS", str(request.param))
    return lambda path, **options: linsep.open(path, label="y", memory="1MiB", cache=False, **options)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_pieces_of_text_are_all_rows_in_order(end, opened, tmp_path):
    source = opened(text(tmp_path, end=end))
    assert source._surveys[0].batches > 3
    values = np.concatenate([block.values for block in source.blocks()])
    assert np.array_equal(values, np.column_stack([np.arange(20_000) + 0.25, -np.arange(20_000)]))
    assert source.lines([19_999]) == {19_999: 20_001}


@pytest.mark.parametrize(
    ("content", "error", "said"),
    [
        ("1,x,0", NotNumericError, "column 'b' holds 'x'"),
        ("1,inf,0", NotFiniteError, "column 'b' holds inf"),
        ("1,90071992547409931234,0", InexactError, "column 'b' holds '90071992547409931234'"),
        ("1,2,", MissingLabelError, "column 'y' holds ''"),
    ],
)
def test_a_fault_in_a_later_piece_has_its_row_and_line(content, error, said, opened, tmp_path):
    blank = (40, ""), (41, "")  # lines, but no rows
    with pytest.raises(error) as caught:
        opened(text(tmp_path, [(15_002, content), *blank]))
    assert f"row 14999 (line 15003), {said}" in str(caught.value)
    assert caught.value.row == 14_999


def test_a_bad_row_comes_before_a_quotation_that_never_ends(opened, tmp_path):
    with pytest.raises(NotNumericError, match="row 17999"):
        opened(text(tmp_path, [(18_000, "1,x,0"), (19_000, '1,"2,0')]))
    with pytest.raises(QuoteError, match="never closed"):
        opened(text(tmp_path, [(19_000, '1,"2,0')]))


def test_bad_rows_of_many_pieces_are_set_aside_in_their_order(opened, tmp_path):
    bad = range(3, 20_000, 1999)
    path = text(tmp_path, [(k + 1, f"{k},x,0") for k in bad])
    source = opened(path, reject=tmp_path / "bad.csv")
    assert (source.n_rows, source.facts.rows_left_out) == (20_000 - len(bad), len(bad))
    told = (tmp_path / "bad.csv").read_text().splitlines()[1:]
    assert [int(line.split(",")[1]) for line in told] == list(bad)


def test_nothing_of_a_long_row_group_stays_in_memory(tmp_path):
    x = np.random.default_rng(0).normal(size=100_000)
    path = written(tmp_path / "a.parquet", group=len(x), x=x, y=np.arange(len(x)) % 2)
    before = pa.total_allocated_bytes()
    source = linsep.open(path, label="y", memory="1MiB")
    source.scan(np.ones(1), 0.0)
    source.take([99_999])
    for _ in range(100):  # what pyarrow's threads have read ahead goes a moment later
        if pa.total_allocated_bytes() - before < x.nbytes // 4:
            break
        time.sleep(0.05)
    assert pa.total_allocated_bytes() - before < x.nbytes // 4


def test_a_megabyte_is_the_least_memory(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n1,no\n2,yes\n")
    assert linsep.open(tmp_path / "a.csv", label="y", memory="1MB").n_rows == 2
    with pytest.raises(ArgumentError, match="memory is 999999: at least 1MB is needed"):
        linsep.open(tmp_path / "a.csv", label="y", memory=999_999)
