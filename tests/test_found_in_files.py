"""Faults that independent testers found in files and caches, each by its smallest instance."""

import json
import os
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import linsep
from linsep.cli import main
from linsep.errors import EncodingError, InexactError, InputError, QuoteError, TooManyDigitsError
from linsep.solvers.scaling import free_memory, group_limit
from linsep.sources.files import private
from linsep.sources.files.decimals import scaled
from linsep.sources.files.parquet import ParquetReader

pytestmark = pytest.mark.usefixtures("streamed")


@pytest.fixture
def caches(tmp_path, monkeypatch):
    folder = tmp_path / "caches"
    monkeypatch.setenv("LINSEP_CACHE", str(folder))
    (tmp_path / "d.csv").write_text("a,y\n" + "".join(f"{k},{int(k > 300)}\n" for k in range(100_000)))
    linsep.open(tmp_path / "d.csv", label="y", memory="1MiB")
    (folder / "mine.linsep-cache").write_text("my own notes")
    return folder


def test_clearing_the_caches_leaves_what_linsep_did_not_write(caches, capsys):
    assert main(["cache", "--clear"]) == 0
    assert [file.name for file in caches.iterdir()] == ["mine.linsep-cache"]
    assert "1 cache deleted" in (said := capsys.readouterr().out) and "Left alone" in said


def test_the_caches_are_counted_without_the_files_of_others(caches, capsys):
    assert main(["cache", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["caches"] == 1 and facts["left_alone"] == [str(caches / "mine.linsep-cache")]


def test_the_size_limit_deletes_nothing_that_linsep_did_not_write(caches, monkeypatch):
    monkeypatch.setenv("LINSEP_CACHE_LIMIT", "1")
    os.utime(caches / "mine.linsep-cache", (0, 0))
    private.prune(caches)
    assert (caches / "mine.linsep-cache").exists()


def test_unfinished_caches_are_known_by_their_whole_name(caches, monkeypatch):
    monkeypatch.setattr(private, "SETTLED_S", -1.0)
    (caches / "mine.linsep-cache.part").write_text("my own notes")
    (caches / f"{'0' * 32}.linsep-cacheabcdefgh.part").write_text("half a cache")
    private.clear(caches)
    assert sorted(file.name for file in caches.iterdir()) == ["mine.linsep-cache", "mine.linsep-cache.part"]


@pytest.fixture
def long_group(tmp_path):
    rows = 400_000
    table = pa.table({"a": np.ones(rows), "y": np.arange(rows) % 2})
    pq.write_table(table, tmp_path / "long.parquet", row_group_size=rows)
    return linsep.open(tmp_path / "long.parquet", label="y", memory="1MiB")


def decoded(monkeypatch):
    """The list that fills with the tables that are decoded from now on."""
    found, original = [], ParquetReader._group

    def counted(*args, **kwargs):
        for each in original(*args, **kwargs):
            found.append(each)
            yield each

    monkeypatch.setattr(ParquetReader, "_group", counted)
    return found


def test_rows_all_over_a_long_row_group_take_one_walk_over_it(long_group, monkeypatch):
    found = decoded(monkeypatch)
    rows = np.arange(0, long_group.n_rows, 1000)
    assert np.array_equal(long_group.take(rows).numbers, rows)
    assert long_group._surveys[0].batches > 20 and len(found) <= long_group._surveys[0].batches


def test_a_shuffled_walk_decodes_a_long_row_group_once(long_group, monkeypatch):
    found = decoded(monkeypatch)
    assert sum(map(len, long_group.blocks(np.random.default_rng(0)))) == long_group.n_rows
    assert len(found) == long_group._surveys[0].batches


def test_one_row_at_the_beginning_of_a_long_row_group_takes_one_batch(long_group, monkeypatch):
    found = decoded(monkeypatch)
    assert long_group.take([3]).numbers.tolist() == [3]
    assert len(found) == 1


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("d.csv", b"a,y\n1,0\n2\0,1\n", r"row 1 \(line 3\), column 'a' holds b'\\x00': a NUL byte.*at byte 9"),
        ("d.csv", b"a\0,y\n1,0\n2,1\n", r"line 1 holds b'\\x00': a NUL byte"),
        ("d.csv", b"a,y\n1,0\n\xef\xbb\xbf2,1\n", r"row 1 \(line 3\), column 'a' holds .*: a byte order mark"),
        ("d.csv", b"a,y\n1,0\n2,\xff\n", r"row 1 \(line 3\), column 'y' holds b'\\xff': not UTF-8 text"),
        ("d.svm", b"1 1:1\n0 1:2\0\n", r"row 1 \(line 2\) holds b'\\x00': a NUL byte"),
    ],
)
def test_bytes_that_text_does_not_hold_are_called_what_they_are(tmp_path, name, content, told):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(EncodingError, match=told):
        linsep.open(tmp_path / name, label=None if name.endswith("svm") else "y")


@pytest.mark.parametrize("end", ['"', ""])
def test_a_value_too_long_to_be_read_is_not_said_to_be_unclosed(tmp_path, end):
    (tmp_path / "d.csv").write_text(f'a,y\n1,0\n2,"{"x" * 1_000_000}{end}\n')
    with pytest.raises(QuoteError, match=r"line 3: .*at byte 10 .* is not closed within 262,144 bytes"):
        linsep.open(tmp_path / "d.csv", label="y", memory="1MiB")


def test_a_quotation_that_is_never_closed_is_shown_with_its_line(tmp_path):
    (tmp_path / "d.csv").write_text('a,y\n1,0\n2,"one\n3,1\n')
    with pytest.raises(QuoteError, match=r"line 3: .*at byte 10 .* is never closed"):
        linsep.open(tmp_path / "d.csv", label="y")


@pytest.mark.parametrize(
    "value", ["1." + 50 * "0", 50 * "0" + "1", "-0." + 90 * "0", "." + 50 * "0", "+1.5" + 300 * "0"]
)
def test_zeros_that_say_nothing_are_no_digits(tmp_path, value):
    (tmp_path / "d.csv").write_text(f"a,y\n{value},0\n2.25,1\n")
    assert linsep.decide(linsep.open(tmp_path / "d.csv", label="y", numbers="decimal")).kind == "separable"
    source = linsep.open(tmp_path / "d.csv", label="y", numbers="decimal", reject=tmp_path / "bad.csv")
    assert source.facts.rows_left_out == 0


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("0." + 50 * "0" + "1", r"row 0 \(line 2\), column 'a' holds .*: more than 18 digits after the decimal point"),
        (18 * "9", r"row 0 \(line 2\), column 'a' holds .*: too long to be stored exactly: times 10\^2"),
    ],
)
def test_a_decimal_with_too_many_digits_is_told_plainly(tmp_path, value, told):
    (tmp_path / "d.csv").write_text(f"a,y\n{value},0\n2.25,1\n")
    with pytest.raises(TooManyDigitsError, match=told):
        linsep.open(tmp_path / "d.csv", label="y", numbers="decimal")


def test_one_error_tells_of_rounded_and_of_vanishing_numbers(tmp_path):
    for value, told in ((20 * "9", "stored exactly"), ("1e-400", "would become 0")):
        (tmp_path / "d.csv").write_text(f"a,y\n{value},0\n2.5,1\n")
        with pytest.raises(InexactError, match=told):
            linsep.open(tmp_path / "d.csv", label="y")


def put(root, files):
    for name, content in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(content)


V2 = {"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max": "max\n", "sys/fs/cgroup/a/memory.max": "1000\n"}
V1 = {
    "proc/self/cgroup": "4:memory:/docker/x\n2:cpu,cpuacct:/\n",
    "sys/fs/cgroup/memory/memory.limit_in_bytes": "1000\n",
}


@pytest.mark.parametrize(
    ("files", "free"), [(V2, 1000), (V1, 1000), ({"proc/self/cgroup": "0::/\n"}, 2048), ({}, 2048)]
)
def test_the_memory_of_a_container_is_what_its_groups_allow(tmp_path, files, free):
    put(tmp_path, {"proc/meminfo": "MemTotal: 9 kB\nMemAvailable: 2 kB\n", **files})
    assert free_memory(tmp_path) == free
    assert group_limit(tmp_path) == (1000 if free == 1000 else None)


CELLS = st.sampled_from(
    ["0", "1", "-2", "0.5", "1e3", "1e300", str(2**53), str(2**53 + 1), str(-(2**53) - 1), str(2**63 - 1), "+7", " 3",
     "9007199254740993.0", "1.000", "0.1", "1e-3", "9007199254740993e0", "1" + "0" * 25, "0.30000000000000004", "-0"]
)  # fmt: skip
TABLES = st.lists(st.tuples(CELLS, CELLS, st.sampled_from("01")), min_size=2, max_size=6)


@pytest.mark.slow
@pytest.mark.parametrize("numbers", ["binary64", "decimal"])
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(table=TABLES)
def test_what_decide_proves_of_a_file_verify_accepts(tmp_path, capsys, numbers, table):
    data, proof = tmp_path / "d.csv", tmp_path / "p.json"
    proof.unlink(missing_ok=True)
    data.write_text("a,b,y\n" + "".join(f"{','.join(row)}\n" for row in table))
    options = [str(data), "--label", "y", "--numbers", numbers]
    if main(["decide", *options, "--proof", str(proof)]) in (0, 1):
        assert main(["verify", str(proof), *options]) == 0, capsys.readouterr().out
    capsys.readouterr()


@pytest.mark.parametrize("memory", ["1MiB", "512MB"])
def test_whole_floats_beside_long_integers_are_read_the_same_in_one_batch_and_in_many(tmp_path, memory):
    rows = f"{2**53 + 1},0\n{2**53},1\n" + "1.0,1\n" * 20_000
    (tmp_path / "d.csv").write_text("a,y\n" + rows)
    source = linsep.open(tmp_path / "d.csv", label="y", memory=memory)
    assert source.take([0, 1, 2]).values.tolist() == [[2**53 + 1], [2**53], [1]]
    verdict = linsep.decide(source)
    verdict.verify(source)
    assert verdict.kind == "separable"


def test_a_fraction_beside_a_long_integer_is_still_refused(tmp_path):
    (tmp_path / "d.csv").write_text(f"a,y\n{2**53 + 1},0\n0.5,1\n")
    with pytest.raises(InexactError, match=r"row 0 \(line 2\), column 'a' holds '9007199254740993'"):
        linsep.open(tmp_path / "d.csv", label="y")


@pytest.mark.parametrize("zeros", [37, 38, 39, 40, 500])
def test_zeros_at_the_end_of_a_decimal_never_change_it(zeros):
    """Arrow takes "2." and 39 zeros for a decimal, and wraps it around to 0."""
    assert scaled(pa.array(["2." + "0" * zeros, "-0" + "0" * zeros + "3.5"]), 1).tolist() == [20, -35]


@given(text=st.from_regex(r"[+-]?[019]{0,45}[0-9](\.[019]{0,20}0{0,60})?", fullmatch=True), places=st.integers(0, 18))
def test_a_decimal_is_read_exactly_or_not_at_all(text, places):
    truth = Fraction(text) * 10**places
    found = scaled(pa.array([text]), places)
    fits = truth.denominator == 1 and -(2**63) <= truth < 2**63
    assert (found.tolist() if found is not None else None) == ([int(truth)] if fits else None)


def test_an_arrow_file_whose_column_is_too_short_is_refused(tmp_path):
    table = pa.table({"a": [1.0, 2.0, 3.0], "b": [1, 2, 3], "y": [0, 1, 1]})
    with pa.OSFile(str(tmp_path / "d.arrow"), "wb") as out, pa.ipc.new_file(out, table.schema) as writer:
        writer.write_table(table)
    content = (tmp_path / "d.arrow").read_bytes()
    sizes = (24).to_bytes(8, "little")
    places = [k for k in range(len(content) - 8) if content[k : k + 8] == sizes]
    refused = 0
    for place in places:  # one of them is the length of a column's buffer
        (tmp_path / "d.arrow").write_bytes(content[:place] + (8).to_bytes(8, "little") + content[place + 8 :])
        try:
            linsep.open(tmp_path / "d.arrow", label="y")
        except InputError:
            refused += 1
    assert refused
