"""The cache of a slow file: used where it is true, ignored where it is not."""

import gzip
import os

import numpy as np
import pytest

import linsep
from linsep.errors import ChangedFileError
from linsep.sources.files import text
from test_files_formats import SETS, proof, table_of, text_of

X, Y = SETS["overlapping"]
TEXT = text_of(table_of(X, Y))


@pytest.fixture
def parsed(monkeypatch):
    """How many pieces of text were parsed."""
    pieces = []
    real = text.CsvReader._read_csv
    monkeypatch.setattr(text.CsvReader, "_read_csv", lambda *args, **kw: pieces.append(1) or real(*args, **kw))
    return pieces


def write(path, content=TEXT):
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz"])
def test_a_second_opening_parses_nothing(name, tmp_path, parsed):
    path = write(tmp_path / name)
    first = linsep.decide(linsep.open(path, label="y", memory="1MiB", cache=tmp_path / "kept"))
    parsed.clear()
    second = linsep.decide(linsep.open(path, label="y", memory="1MiB", cache=tmp_path / "kept"))
    assert not parsed
    assert proof(first) == proof(second) == proof(linsep.decide(X, Y))


def test_a_large_file_has_its_cache_beside_it_and_no_half_one(tmp_path):
    path = write(tmp_path / "a.csv")
    linsep.open(path, label="y", memory="1MiB")
    assert [file.suffix for file in tmp_path.iterdir() if file != path] == [".linsep-cache"]
    assert linsep.open(tmp_path, label="y", memory="1MiB").files == (str(path),)


def test_a_cache_of_other_content_is_not_used(tmp_path):
    path, kept = write(tmp_path / "a.csv"), tmp_path / "kept"
    linsep.open(path, label="y", cache=kept)
    before = path.stat()
    write(path, TEXT[:200] + TEXT[200:-30].replace(b".1", b".2") + TEXT[-30:])
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns + 1))
    source = linsep.open(path, label="y", cache=kept)
    assert not np.array_equal(next(source.blocks()).values[:50], X[:50])


def test_a_cache_of_the_same_content_at_another_time_is_used(tmp_path, parsed):
    path, kept = write(tmp_path / "a.csv"), tmp_path / "kept"
    linsep.open(path, label="y", cache=kept)
    os.utime(path, ns=(1, 1))
    parsed.clear()
    linsep.open(path, label="y", cache=kept)
    assert not parsed


@pytest.mark.parametrize("damage", [lambda b: b[:-1], lambda b: b[:-200] + b"x" + b[-199:], lambda b: b""])
def test_a_damaged_cache_is_written_anew(damage, tmp_path):
    path, kept = write(tmp_path / "a.csv"), tmp_path / "kept"
    linsep.open(path, label="y", cache=kept)
    (cache,) = kept.iterdir()
    whole = cache.read_bytes()
    cache.write_bytes(damage(whole))
    assert linsep.open(path, label="y", cache=kept).n_rows == len(Y)
    assert cache.read_bytes() == whole


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz"])
def test_without_a_cache_the_text_is_read_again(name, tmp_path, parsed):
    path = write(tmp_path / name)
    source = linsep.open(path, label="y", memory="1MiB", cache=False)
    parsed.clear()
    assert proof(linsep.decide(source)) == proof(linsep.decide(X, Y))
    assert parsed
    assert [file.name for file in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("cache", [None, False])
def test_a_file_that_changes_is_an_error(cache, tmp_path):
    path = write(tmp_path / "a.csv")
    source = linsep.open(path, label="y", memory="1MiB", cache=cache)
    write(path, TEXT + b"1,2,3,4,5,1\n")
    with pytest.raises(ChangedFileError, match=r"a\.csv: the file changed"):
        source.scan(np.ones(5), 0.0)


def test_a_cache_is_for_one_choice_of_columns(tmp_path):
    path, kept = write(tmp_path / "a.csv"), tmp_path / "kept"
    linsep.open(path, label="y", cache=kept)
    source = linsep.open(path, label="y", columns=["c3", "c0"], cache=kept)
    assert np.array_equal(source.take([7]).values[0], X[7, [3, 0]])


def test_long_integers_stay_exact_in_a_cache(tmp_path):
    rows = "".join(f"{2**53 + 1 + k},{k % 5},{k % 2}\n" for k in range(9000))
    path = write(tmp_path / "a.csv", b"a,b,y\n" + rows.encode() + b"1,2,0\n" * 9000)
    source = linsep.open(path, label="y", memory="1MiB", cache=tmp_path / "kept")
    assert source.take([4, 17000]).values.tolist() == [[2**53 + 5, 4], [1, 2]]
    assert linsep.decide(source).numbers == "exact-integers"
