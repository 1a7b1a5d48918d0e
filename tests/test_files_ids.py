"""A column of ids names the rows, and nothing is learned from it."""

import gzip
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

import linsep
from linsep.cli import main
from linsep.errors import ArgumentError, MissingColumnError

TEXT = 'name,x,kind\nann,0,a\n"bob, jr",1,b\ncy,2,a\n\ndan,3,b\n'
NAMES = {0: "ann", 1: "bob, jr", 2: "cy", 3: "dan"}


def columnar(path, write, **options):
    table = pa.table({"name": list(NAMES.values()), "x": [0.0, 1.0, 2.0, 3.0], "kind": ["a", "b", "a", "b"]})
    write(table, path, **options)
    return path


def files(tmp_path):
    plain, packed = tmp_path / "a.csv", tmp_path / "a.csv.gz"
    plain.write_text(TEXT)
    packed.write_bytes(gzip.compress(TEXT.encode()))
    yield from (plain, packed)
    yield columnar(tmp_path / "a.parquet", pyarrow.parquet.write_table, row_group_size=3)
    yield columnar(tmp_path / "a.feather", pyarrow.feather.write_feather)


def test_every_format_of_tables_has_ids(tmp_path):
    for path in files(tmp_path):
        source = linsep.open(path, label="kind", id="name")
        assert source.facts.names == ("x",) and source.ids(range(4)) == NAMES and source.ids([3]) == {3: "dan"}


def test_several_files_each_name_their_own_rows(tmp_path):
    first, *_ = files(tmp_path)
    second = tmp_path / "b.csv"
    second.write_text("name,x,kind\neve,7,a\n")
    source = linsep.open([first, second], label="kind", id="name")
    assert source.ids([4, 1]) == {4: "eve", 1: "bob, jr"}


def test_rows_far_apart_are_found_in_many_pieces(tmp_path):
    path = tmp_path / "a.csv"
    lines = [f'"n,{k}",{k},{"ab"[k % 2]}\n' if k % 7 == 0 else f"n{k},{k},{'ab'[k % 2]}\n" for k in range(200_000)]
    path.write_text("name,x,kind\n" + "".join(lines))
    source = linsep.open(path, label="kind", id="name", memory="1MiB")
    assert source.ids([0, 99_999, 199_999]) == {0: "n,0", 99_999: "n99999", 199_999: "n199999"}


def test_rejected_rows_do_not_shift_the_ids(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("name,x,kind\nann,0,a\nbad,?,b\ncy,2,b\n")
    source = linsep.open(path, label="kind", id="name", reject=tmp_path / "bad.csv")
    assert source.ids([0, 1]) == {0: "ann", 1: "cy"}


def test_rejected_rows_of_parquet_do_not_shift_the_ids(tmp_path):
    path = tmp_path / "a.parquet"
    table = pa.table({"name": ["ann", "bad", "cy"], "x": [0.0, float("nan"), 2.0], "kind": ["a", "b", "b"]})
    pyarrow.parquet.write_table(table, path)
    source = linsep.open(path, label="kind", id="name", reject=tmp_path / "bad.csv")
    assert source.ids([0, 1]) == {0: "ann", 1: "cy"}


def test_a_cache_made_without_ids_does_not_serve_a_question_with_them(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("k,x,kind\n1,5,a\n2,6,b\n")
    wide, narrow = (linsep.open(path, label="kind", cache=tmp_path, **more) for more in ({}, {"id": "k"}))
    assert (wide.n_columns, narrow.n_columns) == (2, 1)


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"id": "kind"}, ArgumentError),
        ({"id": "nobody"}, MissingColumnError),
        ({"id": "name", "columns": ["name", "x"]}, ArgumentError),
        ({"id": True}, ArgumentError),
    ],
)
def test_an_id_that_cannot_be_one_is_refused(tmp_path, options, error):
    path, *_ = files(tmp_path)
    with pytest.raises(error):
        linsep.open(path, label="kind", **options)


def test_a_format_without_names_has_no_ids(tmp_path):
    path = tmp_path / "a.svm"
    path.write_text("1 1:2\n-1 1:3\n")
    with pytest.raises(ArgumentError, match="no column of ids"):
        linsep.open(path, id=0)


def test_the_command_line_names_the_rows_and_the_check_reads_the_same_columns(tmp_path, capsys):
    path, *_ = files(tmp_path)
    proof = tmp_path / "proof.json"
    asked = [str(path), "--label", "kind", "--id", "name"]
    assert main(["decide", *asked, "--proof", str(proof)]) == 1
    said = capsys.readouterr()
    assert "bob, jr" in said.out and "--id name" in said.err
    assert main(["verify", str(proof), *asked]) == 0
    assert json.loads(Path(proof).read_text())["data"]["columns"] == "1"


def test_convert_keeps_the_ids(tmp_path):
    for path in files(tmp_path):
        out = tmp_path / "out.parquet"
        assert main(["convert", str(path), str(out), "--label", "kind", "--id", "name"]) == 0
        assert pa.parquet.read_table(out).column_names == ["name", "x", "kind"]
        assert linsep.open(out, label="kind", id="name").ids(range(4)) == NAMES


def test_convert_leaves_the_ids_of_rejected_rows_out(tmp_path):
    data, out = tmp_path / "a.csv", tmp_path / "out.parquet"
    data.write_text(TEXT.replace("cy,2", "cy,two"))
    options = ["--label", "kind", "--id", "name", "--reject", str(tmp_path / "bad.csv")]
    assert main(["convert", str(data), str(out), *options]) == 0
    assert pa.parquet.read_table(out)["name"].to_pylist() == ["ann", "bob, jr", "dan"]
