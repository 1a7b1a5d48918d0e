"""The cache of a slow file: used where it is true, ignored where it is not."""

import gzip
import io
import json
import os
import subprocess
import sys
import tempfile

import numpy as np
import pyarrow as pa
import pytest

import linsep
from linsep.cli import main
from linsep.errors import ChangedFileError, FileError, InexactError, NotNumericError
from linsep.sources.files import caches, converted_rows, csv_reader, private, reader
from linsep.sources.files.convert import convert
from test_files_formats import SETS, proof, table_of, text_of
from tests.campaigns.forge_cache import forge_cache

pytestmark = pytest.mark.usefixtures("streamed")

X, Y = SETS["overlapping"]
TEXT = text_of(table_of(X, Y))


@pytest.fixture
def parsed(monkeypatch):
    """How many pieces of text were parsed."""
    pieces = []
    real = csv_reader.CsvReader._read_csv
    monkeypatch.setattr(csv_reader.CsvReader, "_read_csv", lambda *args, **kw: pieces.append(1) or real(*args, **kw))
    return pieces


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A private folder of its own."""
    monkeypatch.setenv("LINSEP_CACHE", str(tmp_path / "private"))
    return tmp_path / "private"


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


def test_a_large_file_has_its_cache_in_the_private_folder_and_nothing_beside_it(tmp_path, folder):
    path = write(tmp_path / "a.csv")
    linsep.open(path, label="y", memory="1MiB")
    assert [file.suffix for file in folder.iterdir()] == [".linsep-cache"]
    assert folder.stat().st_mode & 0o777 == 0o700
    assert list(tmp_path.glob("*a.csv*")) == [path]


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


def in_the_facts(content):
    spot = content.index(converted_rows.FACTS) + 300
    return content[:spot] + bytes([content[spot] ^ 1]) + content[spot + 1 :]


@pytest.mark.parametrize("damage", [lambda b: b[: len(b) // 2], in_the_facts, lambda b: b""])
def test_a_damaged_cache_is_written_anew(damage, tmp_path):
    path, kept = write(tmp_path / "a.csv"), tmp_path / "kept"
    linsep.open(path, label="y", cache=kept)
    (cache,) = kept.iterdir()
    whole = cache.read_bytes()
    cache.write_bytes(damage(whole))
    assert linsep.open(path, label="y", cache=kept).n_rows == len(Y)
    assert cache.read_bytes() == whole


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz"])
def test_without_a_cache_each_source_parses_the_text_once_and_leaves_nothing(
    name, tmp_path, parsed, folder, monkeypatch
):
    path = write(tmp_path / name)
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    for _ in range(2):
        source = linsep.open(path, label="y", memory="1MiB", cache=False)
        assert parsed
        parsed.clear()
        assert proof(linsep.decide(source)) == proof(linsep.decide(X, Y))
        assert not parsed or name.endswith("gz")  # decide has checked its proof against the data
        del source
    assert not folder.exists() and not list((tmp_path / "tmp").iterdir())


def test_a_compressed_file_that_is_larger_than_it_looks_is_not_held_in_memory(tmp_path):
    path = write(tmp_path / "a.csv.gz", b"a,y\n" + b"1,0\n2,1\n" * 100_000)
    source = linsep.open(path, label="y", memory="1MiB")
    assert path.stat().st_size < 4000 and isinstance(source._surveys[0].store, caches.ConvertedRows)
    assert source.take([0, 199_999]).values.tolist() == [[1], [2]] and source.scan(np.ones(1), 0.0).rows == 200_000


@pytest.fixture
def many(tmp_path):
    """A source of converted rows in several record batches."""
    path = write(tmp_path / "a.csv", text_of(table_of(np.tile(X, (5, 1)), np.tile(Y, 5))))
    return linsep.open(path, label="y", memory="16MiB", cache=tmp_path / "kept")


def test_all_record_batches_but_the_last_have_one_length(many):
    *whole, last = many._surveys[0].store.lengths
    assert len(whole) > 1 and len(set(whole)) == 1 and 0 < last <= whole[0]


def test_a_few_rows_are_read_without_the_rest_of_their_record_batch(many, monkeypatch):
    read, real = [], converted_rows.sums_of
    monkeypatch.setattr(converted_rows, "sums_of", lambda part, size: read.append(part.nbytes) or real(part, size))
    rows = [3, 2, 6100, many.n_rows - 1]
    assert np.array_equal(many.take(rows).values, X[np.array(rows) % len(X)])
    whole = sum(many._surveys[0].store.lengths[:1]) * 8 * X.shape[1]
    assert 0 < sum(read) < whole


@pytest.mark.parametrize("at", ["row", "label"])
def test_damage_is_seen_where_a_few_rows_are_read(at, many, parsed):
    converted = many._surveys[0].store
    rows, entries, end, _ = converted._facts["batches"][0]
    place = end - 8 if at == "label" else end - -(-2 * rows // 8) * 8 - 8 * entries
    content = bytearray(converted.path.read_bytes())
    content[place] ^= 1
    converted.path.write_bytes(content)
    assert np.array_equal(many.take([0]).values[0], X[0]) and parsed


def test_a_cache_is_an_arrow_file_that_other_tools_open(tmp_path):
    linsep.open(write(tmp_path / "a.csv"), label="y", memory="1MiB", cache=tmp_path / "kept")
    (kept,) = (tmp_path / "kept").iterdir()
    table = pa.ipc.open_file(str(kept)).read_all()
    assert np.array_equal(np.array(table["row"].to_pylist()), X)
    assert table.schema.field("row").type == pa.list_(pa.float64(), X.shape[1])


def test_a_cache_serves_a_smaller_memory_only_if_its_batches_fit(tmp_path, parsed):
    path, kept = write(tmp_path / "a.csv"), tmp_path / "kept"
    for memory, is_parsed in (("64MiB", True), ("1MiB", True), ("64MiB", False), ("1MiB", False)):
        linsep.open(path, label="y", memory=memory, cache=kept)
        assert bool(parsed) == is_parsed
        parsed.clear()


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


# Trust ----------------------------------------------------------------------------------------------------------------

FALSE = text_of(table_of(X, np.where(np.arange(len(Y)) < 2, -Y, Y)))  # two labels are wrong, the size is the same


def changed_behind_the_clock(path, content):
    """Write other content and set the time back, as a tool that keeps times does."""
    before = path.stat()
    path.write_bytes(content)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def first_signs(path, **options):
    return next(linsep.open(path, label="y", cache=True, **options).blocks()).y[:2].tolist()


def test_changed_content_of_the_same_size_and_time_is_noticed(tmp_path, folder):
    path = write(tmp_path / "a.csv")
    assert first_signs(path) == Y[:2].tolist()
    changed_behind_the_clock(path, FALSE)
    assert first_signs(path) == (-Y[:2]).tolist()


def test_a_stamp_as_young_as_the_read_is_not_trusted(tmp_path, folder, monkeypatch):
    path = write(tmp_path / "a.csv")
    hashed = []
    real = caches.digest_of
    monkeypatch.setattr(caches, "digest_of", lambda path: hashed.append(path) or real(path))
    first_signs(path)  # the file is younger than two seconds
    first_signs(path)
    assert len(hashed) == 1
    monkeypatch.setattr(reader, "RACY_NS", -(10**9))
    first_signs(path)  # from here on its stamp is old enough
    first_signs(path)
    assert len(hashed) == 2


def test_verify_reads_the_data_and_not_the_cache(tmp_path, folder):
    path = write(tmp_path / "a.csv")
    source = linsep.open(path, label="y", cache=True)
    verdict = linsep.decide(source)
    verdict.verify(source)
    (kept,) = folder.iterdir()
    kept.unlink()
    verdict.verify(source)
    assert not list(folder.iterdir())


@pytest.mark.parametrize("size", ["small", "large"])
def test_verify_refuses_a_source_whose_file_has_changed(size, tmp_path, folder):
    path = write(tmp_path / "a.csv")
    source = linsep.open(path, label="y", memory="512MB" if size == "small" else "1MiB")
    verdict = linsep.decide(source)
    changed_behind_the_clock(path, FALSE)
    with pytest.raises(ChangedFileError):
        verdict.verify(source)


def test_linsep_verify_refutes_a_proof_of_what_the_file_held_before(tmp_path, folder, capsys):
    path = write(tmp_path / "a.csv", text_of(table_of(*SETS["separable"])))
    proof_file = str(tmp_path / "proof.json")
    assert main(["decide", str(path), "--label", "y", "--memory", "1MiB", "--proof", proof_file]) == 0
    changed_behind_the_clock(path, path.read_bytes().replace(b",1\n", b",-1\n", 2).replace(b",-1\n", b",1\n", 1))
    assert main(["verify", proof_file, str(path), "--memory", "1MiB"]) == 1
    assert "REFUTED" in capsys.readouterr().out


@pytest.mark.parametrize("what", ["rows", "labels", "facts"])
def test_a_flipped_bit_gives_a_new_cache_and_the_same_rows(what, tmp_path, folder):
    path = write(tmp_path / "a.csv")
    source = linsep.open(path, label="y", cache=True)
    (kept,) = folder.iterdir()
    whole = bytearray(kept.read_bytes())
    facts = whole.index(converted_rows.FACTS)
    spot = {"rows": 1000, "labels": whole.rindex(b"\1\0" * 9, 0, facts), "facts": facts + 300}[what]
    kept.write_bytes(bytes([*whole[:spot], whole[spot] ^ 1, *whole[spot + 1 :]]))
    for again in (source, linsep.open(path, label="y", cache=True)):
        block = again.take(range(len(Y)))
        assert np.array_equal(block.values, X) and np.array_equal(block.y, Y)
    assert len(list(folder.iterdir())) == 1


def test_a_cache_removed_while_it_is_used_is_written_again(tmp_path, folder):
    source = linsep.open(write(tmp_path / "a.csv"), label="y", cache=True)
    assert private.clear(folder)[0] == 1
    assert source.scan(np.ones(5), 0.0).rows == len(Y)


def test_a_cache_shipped_beside_the_data_is_not_looked_at(tmp_path, folder, parsed):
    path, other = write(tmp_path / "a.csv"), tmp_path / "shipped"
    linsep.open(path, label="y", cache=other)
    (forged,) = other.iterdir()
    for name in (forged.name, ".a.csv.linsep-cache", "a.csv.linsep-cache"):
        (tmp_path / name).write_bytes(forged.read_bytes())
    parsed.clear()
    linsep.open(path, label="y", cache=True)
    assert parsed


def test_a_cache_that_others_may_write_is_not_used(tmp_path, folder, parsed):
    path = write(tmp_path / "a.csv")
    linsep.open(path, label="y", cache=True)
    (kept,) = folder.iterdir()
    kept.chmod(0o666)
    parsed.clear()
    linsep.open(path, label="y", cache=True)
    assert parsed and next(folder.iterdir()).stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("mode", [0o777, 0o770])
def test_a_private_folder_that_others_may_write_is_not_used(mode, tmp_path, folder):
    folder.mkdir()
    folder.chmod(mode)
    assert linsep.open(write(tmp_path / "a.csv"), label="y", cache=True).n_rows == len(Y)
    assert not list(folder.iterdir())


def test_a_private_folder_that_cannot_be_made_is_done_without(tmp_path, monkeypatch):
    write(tmp_path / "file")
    monkeypatch.setenv("LINSEP_CACHE", str(tmp_path / "file" / "below"))
    assert linsep.open(write(tmp_path / "a.csv"), label="y", cache=True).n_rows == len(Y)


def test_swapped_caches_are_noticed(tmp_path, folder):
    a, b = write(tmp_path / "a.csv"), write(tmp_path / "b.csv", FALSE)
    first_signs(a)
    (of_a,) = folder.iterdir()
    first_signs(b)
    (of_b,) = set(folder.iterdir()) - {of_a}
    of_b.write_bytes(of_a.read_bytes())
    assert first_signs(b) == (-Y[:2]).tolist()


def test_a_cache_with_rows_left_out_serves_nobody_else(tmp_path, folder):
    path, kept = write(tmp_path / "a.csv", TEXT + b"x,0,0,0,0,1\n"), tmp_path / "kept"
    linsep.open(path, label="y", cache=kept, reject=tmp_path / "bad.csv")
    with pytest.raises(NotNumericError):
        linsep.open(path, label="y", cache=kept)


def test_what_comes_out_of_a_pipe_leaves_no_cache(tmp_path, folder, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(TEXT)))
    assert linsep.open("-", label="y", memory="1MiB").n_rows == len(Y)
    assert not folder.exists() or not list(folder.iterdir())


# How many, and how to be rid of them ------------------------------------------------------------------------------


def test_the_caches_not_used_for_longest_go_first(tmp_path, folder, monkeypatch):
    files = [write(tmp_path / f"{name}.csv") for name in "abc"]
    for age, path in zip((300, 200), files, strict=False):
        linsep.open(path, label="y", cache=True)
        newest = max(folder.iterdir(), key=lambda file: file.stat().st_mtime_ns)
        os.utime(newest, ns=(0, newest.stat().st_mtime_ns - age * 10**9))
    linsep.open(files[0], label="y", cache=True)  # used again
    size = newest.stat().st_size
    monkeypatch.setenv("LINSEP_CACHE_LIMIT", str(2 * size + 1000))
    linsep.open(files[2], label="y", cache=True)
    assert len(list(folder.iterdir())) == 2 and not newest.exists()


def test_linsep_cache_tells_what_there_is_and_clears_it(tmp_path, folder, capsys):
    assert main(["cache"]) == 0
    assert "no caches" in capsys.readouterr().out
    linsep.open(write(tmp_path / "a.csv"), label="y", cache=True)
    assert main(["cache", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["caches"] == 1 and told["folder"] == str(folder) and told["bytes"] > X.nbytes
    assert main(["cache", "--clear"]) == 0
    assert not list(folder.iterdir())


def test_a_full_disk_leaves_nothing_and_is_told(tmp_path, folder, monkeypatch):
    monkeypatch.setattr(converted_rows.Writer, "add", raises_no_space)
    with pytest.raises(FileError, match=r"no room for its rows in .*: No space left on device\. Make room"):
        linsep.open(write(tmp_path / "a.csv"), label="y", cache=True)
    assert not list(folder.iterdir())


def test_where_the_private_folder_is_full_rows_go_to_a_temporary_one(tmp_path, folder, monkeypatch):
    real = converted_rows.Writer.add

    def add(self, *args):
        return raises_no_space() if self.path.parent == folder else real(self, *args)

    monkeypatch.setattr(converted_rows.Writer, "add", add)
    assert linsep.open(write(tmp_path / "a.csv"), label="y", cache=True).scan(np.ones(5), 0.0).rows == len(Y)
    assert not list(folder.iterdir())


def raises_no_space(*_):
    raise OSError(28, "No space left on device")


def test_what_a_killed_process_left_is_removed_by_the_next(tmp_path, folder, monkeypatch):
    code = "converted_rows.Writer.finish = lambda *_, **__: os.kill(os.getpid(), 9)"
    names = "import linsep, os, sys; from linsep.sources.files import converted_rows"
    run = f"{names}; {code}; linsep.open(sys.argv[1], label='y', cache=True)"
    path = write(tmp_path / "a.csv")
    subprocess.run([sys.executable, "-c", run, str(path)], check=False)
    assert [file.suffix for file in folder.iterdir()] == [".part"]
    monkeypatch.setattr(private, "SETTLED_S", -1.0)
    linsep.open(path, label="y", cache=True)
    assert [file.suffix for file in folder.iterdir()] == [".linsep-cache"]


def test_a_cache_that_another_process_is_writing_is_left_alone(tmp_path, folder, monkeypatch):
    monkeypatch.setattr(private, "SETTLED_S", -1.0)
    path = write(tmp_path / "a.csv")
    folder.mkdir(mode=0o700)
    other = converted_rows.Writer(folder / "other.linsep-cache", 1 << 20)
    linsep.open(path, label="y", cache=True)
    assert sorted(file.suffix for file in folder.iterdir()) == [".linsep-cache", ".part"]
    other.abandon()


def test_temporary_folders_of_killed_processes_go_and_those_in_use_stay(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(private, "SETTLED_S", -1.0)
    (tmp_path / "linsep-dead.linsep-rows").mkdir(mode=0o700)
    (tmp_path / "linsep-results").mkdir()
    one, two = private.TemporaryFolder(), private.TemporaryFolder()
    assert set(map(str, tmp_path.iterdir())) == {one.path, two.path, str(tmp_path / "linsep-results")}


def test_a_column_of_long_integers_beside_floats_further_down_is_refused_by_convert_too(tmp_path):
    rows = f"{2**53 + 1},0\n" * 9000 + "0.5,1\n" * 9000
    path = write(tmp_path / "a.csv", b"a,y\n" + rows.encode())
    for kept in (tmp_path / "kept", False):
        with pytest.raises(InexactError):
            convert(path, str(tmp_path / "a.parquet"), label="y", memory="1MiB", cache=kept)


@pytest.mark.campaign
def test_forged_caches_change_no_answer(tmp_path):
    """The long run is `python -m tests.campaigns.forge_cache 20000`."""
    counts = forge_cache(300, seed=3, folder=tmp_path)
    assert sum(counts.values()) == 300 and min(counts.values()) > 10


def test_a_wrong_limit_is_told_of_by_files_that_need_no_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("LINSEP_CACHE_LIMIT", "banana")
    (tmp_path / "a.csv").write_text("x,y\n1,a\n2,b\n")
    with pytest.raises(linsep.LinsepError, match=r"LINSEP_CACHE_LIMIT: 'banana' is not a size"):
        linsep.open(tmp_path / "a.csv", label="y")


def test_a_cache_folder_beyond_a_file_creates_no_folder_on_the_way(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("LINSEP_CACHE", str(tmp_path / "new" / ".." / "file"))
    assert private.own_cache_folder() is None
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
