"""A column of ids names the rows, and nothing is learned from it."""

import gzip
import json
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

import linsep
from linsep.cli import main
from linsep.errors import ArgumentError, MissingColumnError, NoRowsError, NotFiniteError, NotNumericError

pytestmark = pytest.mark.usefixtures("streamed")

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


# Rows with gaps ------------------------------------------------------------------------------------------------------

GAPS = pd.DataFrame(
    {
        "name": [f"p{k}" for k in range(8)],
        "a": [np.nan, 0.0, 1.0, 1.0, np.nan, 0.0, 1.0, 2.0],
        "b": [1.0, 0.0, 1.0, 0.0, 1.0, 1.0, 2.0, 3.0],
        "y": ["u", "u", "u", "v", "v", "v", None, "u"],
    }
)


@pytest.mark.parametrize("kind", ["csv", "parquet", "feather"])
def test_rows_of_files_with_gaps_are_dropped_and_the_others_keep_their_numbers_and_names(tmp_path, kind):
    path = tmp_path / f"gaps.{kind}"
    getattr(GAPS, f"to_{kind}")(path, **({"index": False} if kind == "csv" else {}))
    known = linsep.decide(GAPS, "y", ids="name", missing="drop")
    source = linsep.open(path, label="y", id="name", missing="drop")
    found = linsep.decide(source)
    assert found.rows_left_out == known.rows_left_out == 3 and found.obstruction.ids == known.obstruction.ids
    assert source.remarks() == ["3 rows with missing values were dropped."]
    found.verify(source)
    numbered = linsep.decide(linsep.open(path, label="y", columns=["a", "b"], missing="drop"))
    assert numbered.obstruction.ids == known.obstruction.rows and numbered.row_names.word == "file number"


def test_only_gaps_are_dropped(tmp_path):
    path = tmp_path / "gaps.csv"
    for cell, error in (("inf", NotFiniteError), ("three", NotNumericError)):
        path.write_text(f"a,y\n1,u\n,v\n{cell},v\n2,v\n")
        with pytest.raises(error, match="row 2 "):
            linsep.open(path, label="y", missing="drop")
    path.write_text("a,y\n,u\nNA,v\n")
    with pytest.raises(NoRowsError, match="no row is left: each of the 2 rows has a missing value"):
        linsep.open(path, label="y", missing="drop")
    assert [file.name for file in tmp_path.iterdir()] == ["gaps.csv"]


def test_what_missing_may_be(tmp_path):
    path = tmp_path / "gaps.csv"
    path.write_text("a,y\n1,u\n,v\n2,v\n")
    with pytest.raises(ArgumentError, match="missing is 'fill': it must be None or 'drop'"):
        linsep.open(path, label="y", missing="fill")
    with pytest.raises(ArgumentError, match="reject also handles rows with missing values: leave missing out"):
        linsep.open(path, label="y", missing="drop", reject=tmp_path / "bad.csv")
    with pytest.raises(ArgumentError, match=r"leave missing out\. linsep\.open\(\.\.\., missing='drop'\)"):
        linsep.decide(linsep.open(path, label="y", missing="drop"), missing="drop")


def test_the_command_line_drops_rows_and_its_proof_is_verified_by_the_command_that_is_told(tmp_path, capsys):
    path, proof = tmp_path / "gaps.csv", tmp_path / "proof.json"
    GAPS.to_csv(path, index=False)
    how = ["--label", "y", "--id", "name", "--missing", "drop"]
    assert main(["decide", str(path), *how, "--proof", str(proof)]) == 1
    said = capsys.readouterr()
    assert "3 rows with missing values were dropped." in said.err and "3 rows left out" in said.out
    command = shlex.split(said.err[said.err.index("linsep verify") :])
    assert "--missing" in command and main(command[1:]) == 0
    assert main(["verify", str(proof), str(path), "--label", "y", "--id", "name"]) == 2
