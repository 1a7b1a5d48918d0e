"""--reject on every command: bad rows are set aside with their reason, counted, and leave their place empty."""

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
import scipy.sparse as sp

import linsep
from linsep import cli
from linsep.cli import main

SOURCES = str(Path(cli.__file__).parents[2])
NAN = float("nan")
CSV = "a,b,y\n1,2,no\n3,oops,yes\n4\n-5,6,no\n7,-8,yes\n9,nan,no\n"  # rows 1, 2 and 5 are bad
BAD = [1, 2, 5]
CODES = ["E-NOT-A-NUMBER", "E-CSV-RAGGED", "E-NOT-FINITE"]
TABLE = {"a": [1.0, 3.0, None, -5.0, 7.0, 9.0], "b": [2.0, NAN, 4.0, 6.0, -8.0, np.inf]}
ARRAY = np.array([[1, 2], [NAN, 2], [3, NAN], [-5, 6], [7, -8], [np.inf, 1]])


def written_csv(path):
    path.write_text(CSV)


def written_svm(path):
    path.write_text("-1 1:1 2:2\n1 2:x\n1 9:1\n-1 1:-5 2:6\n1 1:7 2:-8\n1 1:nan\n")


FORMATS = {
    "d.csv": written_csv,
    "d.parquet": lambda path: pa.parquet.write_table(pa.table(TABLE), path, row_group_size=2),
    "d.feather": lambda path: pa.feather.write_feather(pa.table(TABLE), path),
    "d.npy": lambda path: np.save(path, ARRAY),
    "d.npz": lambda path: np.savez(path, X=ARRAY),
    "s.npz": lambda path: sp.save_npz(path, sp.csr_array(ARRAY)),
    "d.svm": written_svm,
}


@pytest.fixture
def here(tmp_path, monkeypatch, capsys):
    """A working folder with a model `m.json` of the columns a and b: a row is "yes" where a > b."""
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text("a,b,y\n1,0,yes\n0,1,no\n")
    assert main(["fit", "t.csv", "--label", "y", "--no-bias", "-o", "m.json"]) == 0
    capsys.readouterr()
    return tmp_path


def rejected(path="bad.csv"):
    with Path(path).open(encoding="utf-8") as file:
        return [(row["file"], int(row["row"]), row["reason"].split(":")[0]) for row in csv.DictReader(file)]


def ran(capsys, *arguments):
    code = main([*map(str, arguments)])
    out, err = capsys.readouterr()
    return code, out.splitlines(), err


@pytest.mark.parametrize("memory", ["1MiB", "512MB"])
@pytest.mark.parametrize("name", FORMATS)
def test_a_bad_row_has_an_empty_prediction_in_its_place(name, memory, here, capsys):
    FORMATS[name](here / name)
    assert ran(capsys, "predict", "m.json", name)[0] == 2
    code, lines, err = ran(capsys, "predict", "m.json", name, "--reject", "bad.csv", "--memory", memory)
    assert (code, lines) == (0, ["no", '""', '""', "no", "yes", '""'])
    assert [(file, row) for file, row, _ in rejected()] == [(name, row) for row in BAD]
    assert "3 bad rows were rejected: see bad.csv. Their predictions are empty." in err


def test_predictions_can_be_joined_to_the_rows_that_they_are_of(here, capsys):
    written_csv(here / "d.csv")
    assert ran(capsys, "predict", "m.json", "d.csv", "--reject", "bad.csv", "-o", "out.csv", "--scores")[0] == 0
    assert Path("out.csv").read_text() == "prediction,score\nno,-1.0\n,\n,\nno,-11.0\nyes,15.0\n,\n"
    assert ran(capsys, "predict", "m.json", "d.csv", "--reject", "bad.csv", "-o", "out.csv")[0] == 0
    found = pandas.read_csv("out.csv")["prediction"]  # a blank line would be no row to it
    assert found.isna().tolist() == [row in BAD for row in range(6)]
    reasons = pandas.read_csv("bad.csv").set_index("row")["reason"]
    assert reasons.index.tolist() == np.flatnonzero(found.isna()).tolist()
    assert [reason.split(":")[0] for reason in reasons] == CODES


def test_rows_are_counted_in_each_file_and_the_error_over_the_good_ones(here, capsys):
    for name in ("1.csv", "2.csv"):
        written_csv(here / name)
    code, lines, err = ran(capsys, "predict", "m.json", "1.csv", "2.csv", "--reject", "bad.csv")
    assert (code, len(lines), lines[6:]) == (0, 12, lines[:6])
    assert rejected() == [(name, row, why) for name in ("1.csv", "2.csv") for row, why in zip(BAD, CODES, strict=True)]
    assert "Error: 0 (0 of 6 rows wrong)." in err


@pytest.mark.parametrize("block", [1, 10, 1 << 20])
def test_batches_of_any_size_leave_the_same_places_empty(block, here, monkeypatch, capsys):
    monkeypatch.setattr("linsep.sources.files.options.batch_bytes", lambda memory: block)
    rows = [f"{k},{3 * k % 7}" if k % 5 and k // 30 != 2 else f"{k},x" for k in range(200)]
    Path("d.csv").write_text("a,b\n" + "\n".join(rows))
    code, lines, _ = ran(capsys, "predict", "m.json", "d.csv", "--reject", "bad.csv")
    assert (code, len(lines)) == (0, 200)
    assert [k for k, line in enumerate(lines) if line == '""'] == [row for _, row, _ in rejected()]
    assert [row for _, row, _ in rejected()] == [k for k in range(200) if not k % 5 or k // 30 == 2]


def test_one_bad_row_is_told_of_in_the_singular(here, capsys):
    Path("d.csv").write_text("a,b\n1,2\nx,1\n3,1\n")
    err = ran(capsys, "predict", "m.json", "d.csv", "--reject", "bad.csv")[2]
    assert "1 bad row was rejected: see bad.csv. Its prediction is empty." in err


def test_a_missing_label_is_no_fault_of_a_row_to_be_labelled(here, capsys):
    table = pa.table({"a": [1.0, NAN, 3.0], "b": [2.0, 1.0, 1.0], "y": ["no", None, None]})
    pa.parquet.write_table(table, "d.parquet")
    Path("d.csv").write_text('a,b,y\n1,2,no\nnan,1,\n3,1,""\n')
    for name in ("d.parquet", "d.csv"):
        code, lines, err = ran(capsys, "predict", "m.json", name, "--reject", "bad.csv")
        assert (code, lines) == (0, ["no", '""', "yes"])
        assert f"No error is computed. {name}: row 2: the label is missing." in err


def test_a_strange_label_is_named_by_its_row_in_the_file(here, capsys):
    Path("d.csv").write_text("a,b,y\nx,1,no\n1,2,no\n3,1,maybe\n")
    assert "row 2: the label is 'maybe'" in ran(capsys, "predict", "m.json", "d.csv", "--reject", "bad.csv")[2]


@pytest.mark.parametrize("name", ["d.parquet", "d.csv"])
def test_a_category_that_the_model_does_not_know_is_set_aside(name, here, capsys):
    Path("t.csv").write_text("c,y\nu,0\nv,1\n")
    main(["fit", "t.csv", "--label", "y", "--categories", "all", "-o", "m.json"])
    pa.parquet.write_table(pa.table({"c": ["u", "w", None, "v"], "z": [0] * 4}), "d.parquet")
    Path("d.csv").write_text("c,z\nu,0\nw,0\n,0\nv,0\n")
    capsys.readouterr()
    code, lines, _ = ran(capsys, "predict", "m.json", name, "--reject", "bad.csv")
    assert (code, lines) == (0, ["0", '""', '""', "1"])
    assert [why for _, _, why in rejected()] == ["E-NOT-A-NUMBER", "E-VALUE-MISSING"]


def test_a_row_without_its_category_is_set_aside(here, capsys):
    Path("d.csv").write_text("c,x,y\nu,1,0\n,2,1\nv,3,1\n")
    assert ran(capsys, "decide", "d.csv", "--label", "y", "--categories", "all", "--reject", "bad.csv")[0] == 0
    assert rejected() == [("d.csv", 1, "E-VALUE-MISSING")]


def test_a_score_beyond_all_doubles_is_set_aside(here, capsys):
    Path("d.csv").write_text("a,b\n1,2\nx,1\n1e308,-1e308\n3,1\n")
    Path("t.csv").write_text("a,b,y\n1.5,0,yes\n0,1.5,no\n")
    main(["fit", "t.csv", "--label", "y", "-o", "m.json"])
    capsys.readouterr()
    Path("e.csv").write_text("a,b\n1,2\n1e308,-1e308\n")
    assert "row 1: the score is beyond the largest double" in ran(capsys, "predict", "m.json", "e.csv")[2]
    code, lines, _ = ran(capsys, "predict", "m.json", "d.csv", "--reject", "bad.csv")
    assert (code, lines) == (0, ["no", '""', '""', "yes"])
    assert rejected() == [("d.csv", 1, "E-NOT-A-NUMBER"), ("d.csv", 2, "E-OVERFLOW")]


def test_a_file_of_bad_rows_alone_is_labelled_with_nothing(here, capsys):
    Path("d.csv").write_text("a,b\nx,1\n")
    written_csv(here / "e.csv")
    code, lines, _ = ran(capsys, "predict", "m.json", "d.csv", "e.csv", "--reject", "bad.csv")
    assert (code, lines[:2], len(lines)) == (0, ['""', "no"], 7)
    Path("none.csv").write_text("a,b\n")
    assert ran(capsys, "predict", "m.json", "none.csv", "--reject", "bad.csv")[0] == 2


def test_whoever_waits_for_the_answer_to_a_bad_row_gets_it(here):
    command = [sys.executable, "-m", "linsep.cli", "predict", "m.json", "-", "--reject", "bad.csv"]
    pipe, environment = subprocess.PIPE, {**os.environ, "PYTHONPATH": SOURCES}
    with subprocess.Popen(command, env=environment, stdin=pipe, stdout=pipe, stderr=pipe, bufsize=0) as process:
        process.stdin.write(b"a,b\n")
        for row, answer in (("1,2", b"no"), ("oops,1", b'""'), ("4", b'""'), ("3,1", b"yes"), ("x,x", b'""')):
            process.stdin.write(f"{row}\n".encode())
            assert process.stdout.readline().strip() == answer  # before the pipe is closed
        out, _ = process.communicate(timeout=60)
    assert (out, process.returncode) == (b"", 0)
    assert [(file, row) for file, row, _ in rejected()] == [("stdin", 1), ("stdin", 2), ("stdin", 4)]


# JSON ---------------------------------------------------------------------------------------------------------------


def test_predictions_as_json_name_file_and_row(here, capsys):
    written_csv(here / "d.csv")
    code, lines, _ = ran(capsys, "predict", "m.json", "d.csv", "--json", "--scores", "--reject", "bad.csv")
    *rows, summary = map(json.loads, lines)
    assert code == 0
    assert rows[0] == {"file": "d.csv", "row": 0, "prediction": "no", "score": -1.0}
    assert rows[1] == {"file": "d.csv", "row": 1, "prediction": None, "score": None}
    assert [row["row"] for row in rows] == list(range(6))
    assert summary == {
        "summary": True, "rows": 3, "rows_left_out": 3, "compared": 3, "wrong": 0, "error": 0.0, "remark": None,
    }  # fmt: skip


def test_a_file_of_predictions_leaves_the_summary_to_stdout(here, capsys):
    written_csv(here / "d.csv")
    _, (line,), _ = ran(capsys, "predict", "m.json", "d.csv", "--json", "-o", "out.csv", "--reject", "bad.csv")
    assert json.loads(line)["rows"] == 3
    assert Path("out.csv").read_text().startswith("prediction\nno\n")


def test_labels_that_are_numbers_are_numbers_in_json(here, capsys):
    fitted = linsep.PerceptronClassifier(random_state=0).fit(np.array([[1.0, 0], [0, 1]]), [5, 7])
    fitted.save("m.json")
    np.save("d.npy", np.array([[1.0, 0], [0, 1]]))
    lines = ran(capsys, "predict", "m.json", "d.npy", "--json")[1]
    assert [json.loads(line)["prediction"] for line in lines[:2]] == [5, 7]


COMMANDS = {
    "decide": ["decide", "d.csv", "--label", "y"],
    "margin": ["margin", "d.csv", "--label", "y"],
    "mle": ["mle", "d.csv", "--label", "y"],
    "mistakes": ["mistakes", "d.csv", "--label", "y"],
    "clean": ["clean", "d.csv", "--label", "y"],
    "report": ["report", "d.csv", "--label", "y"],
    "fit": ["fit", "d.csv", "--label", "y"],
    "trace": ["trace", "d.csv", "--label", "y"],
    "verify": ["verify", "p.json", "d.csv"],
    "convert": ["convert", "d.csv", "all.parquet", "--label", "y"],
    "plot": ["plot", "d.csv", "--label", "y", "-o", "p.svg"],
    "animate": ["animate", "d.csv", "--label", "y", "-o", "film.svg"],
    "explore": ["explore", "d.csv", "--label", "y", "--export", "p.html"],
    "learn": ["learn", "d.csv", "--label", "y"],
    "predict": ["predict", "m.json", "d.csv"],
}


def test_every_command_that_reads_files_is_here():
    assert set(COMMANDS) == {name for name in cli.app if not name.startswith("-")} - {"cache", "demo"}


@pytest.fixture
def proof(here, capsys):
    """A proof `p.json` about the good rows of d.csv."""
    written_csv(here / "d.csv")
    main(["decide", "d.csv", "--label", "y", "--reject", "bad.csv", "--proof", "p.json"])
    Path("bad.csv").unlink()
    capsys.readouterr()


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.usefixtures("proof")
def test_every_command_tells_the_fault_as_json(name, capsys):
    code, out, err = ran(capsys, *COMMANDS[name], "--json")
    facts = json.loads(err)
    assert (code, out) == (2, [])
    assert [facts[key] for key in ("code", "file", "row", "column", "value")] == [
        "E-NOT-A-NUMBER", "d.csv", 1, "b", "oops",
    ]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.usefixtures("proof")
def test_every_command_sets_bad_rows_aside_and_says_how_many(name, capsys):
    code, _, err = ran(capsys, *COMMANDS[name], "--reject", "bad.csv")
    assert code == (1 if name == "mle" else 0)
    assert rejected() == [("d.csv", row, why) for row, why in zip(BAD, CODES, strict=True)]
    assert "3 bad rows were rejected" in err


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.usefixtures("proof")
def test_bad_rows_are_never_written_over_a_file_of_the_command(name, capsys):
    for own in {"d.csv", *(word for word in COMMANDS[name] if "." in word and word != "d.csv")}:
        code, _, err = ran(capsys, *COMMANDS[name], "--reject", own)
        assert code == 2
        assert f"--reject {own}: " in err and "Give another name." in err
    assert Path("d.csv").read_text() == CSV


@pytest.mark.usefixtures("proof")
def test_the_bad_rows_of_an_earlier_run_do_not_stay(capsys):
    ran(capsys, *COMMANDS["decide"], "--reject", "bad.csv")
    Path("d.csv").write_text("a,b,y\n1,2,no\n3,4,yes\n")
    for command in ("decide", "predict", "learn"):
        Path("bad.csv").write_text("file,row,reason,content\nold,1,old,old\n")
        assert ran(capsys, *COMMANDS[command], "--reject", "bad.csv")[0] == 0
        assert rejected() == []


def test_no_row_left_says_so(here, capsys):
    for name, text in (("d.csv", "a,y\nx,1\n1,\n"), ("d.svm", "x 1:1\n1 a:1\n")):
        Path(name).write_text(text)
        label = ["--label", "y"] if name == "d.csv" else []
        for command in ("decide", "learn"):
            said = ran(capsys, command, name, *label, "--reject", "bad.csv")[2]
            assert f"{name}: no row is left: all 2 were rejected" in said


def test_what_the_system_says_about_a_file_has_a_code_too(here, monkeypatch, capsys):
    def full(*_):
        raise OSError(28, "No space left on device", "m.json")

    monkeypatch.setattr("linsep.models.Model.save", full)
    code, _, err = ran(capsys, "fit", "t.csv", "--label", "y", "-o", "m2.json", "--json")
    facts = json.loads(err.splitlines()[-1])
    assert (code, facts["code"], facts["file"]) == (2, "E-FILE", "m.json")


def test_a_fault_of_linsep_is_json_too(here, monkeypatch, capsys):
    monkeypatch.setattr("linsep.cli.file_arguments.read", lambda *given: 1 / 0)
    code, _, err = ran(capsys, "fit", "t.csv", "--label", "y", "--json")
    assert (code, json.loads(err)["code"]) == (4, "E-FAULT")


@pytest.mark.parametrize("name", ["d.svm", "d.npy", "d.npz", "s.npz", "d.parquet", "d.feather"])
def test_every_format_is_converted_without_its_bad_rows(name, here, capsys):
    y = np.array([0, 1, 1, 0, 1, 1.0])
    matrix = sp.csr_array(ARRAY)
    if name == "d.svm":
        written_svm(here / name)
    elif name == "d.npy":
        np.save(name, np.column_stack([ARRAY, y]))
    elif name == "d.npz":
        np.savez(name, X=ARRAY, y=y)
    elif name == "s.npz":
        np.savez(name, data=matrix.data, indices=matrix.indices, indptr=matrix.indptr, shape=matrix.shape, y=y)
    else:
        write = pa.parquet.write_table if name == "d.parquet" else pa.feather.write_feather
        write(pa.table({**TABLE, "y": y}), name)
    label = {"d.npy": ["--label", "-1"], "d.parquet": ["--label", "y"], "d.feather": ["--label", "y"]}.get(name, [])
    assert ran(capsys, "convert", name, "out.parquet", *label, "--reject", "bad.csv")[0] == 0
    rows = pa.parquet.read_table("out.parquet").to_pandas().to_numpy()[:, :2].tolist()
    kept = [row for row in range(6) if row not in {bad for _, bad, _ in rejected()}]
    assert (rows[0], rows[-1], len(rows)) == ([1, 2], [7, -8], len(kept))


# learn --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["d.csv", "d.svm", "d.npy"])
def test_learning_goes_on_beside_bad_rows(name, here, capsys):
    FORMATS[name](here / name)
    if name == "d.npy":
        np.save("d.npy", np.column_stack([ARRAY, [0, 1, 1, 0, 1, 1]]))
    label = {"d.csv": ["--label", "y"], "d.npy": ["--label", "-1"], "d.svm": []}[name]
    assert ran(capsys, "learn", name, *label)[0] == 2
    code, lines, err = ran(capsys, "learn", name, *label, "--reject", "bad.csv", "--json", "-o", "one.json")
    found = json.loads(lines[-1])
    assert (code, found["rows_left_out"]) == (0, len(rejected()))
    assert f"{len(rejected())} bad rows were rejected: see bad.csv." in err
    assert found["rows"] == 6 - len(rejected())


def test_the_model_of_the_good_rows_is_that_of_the_clean_file(here, capsys):
    written_csv(here / "d.csv")
    Path("clean.csv").write_text("a,b,y\n1,2,no\n-5,6,no\n7,-8,yes\n")
    ran(capsys, "learn", "d.csv", "--label", "y", "--reject", "bad.csv", "-o", "one.json")
    ran(capsys, "learn", "clean.csv", "--label", "y", "-o", "two.json")
    assert Path("one.json").read_text() == Path("two.json").read_text()


TEXT = b"ham\tsee you\nspam win\n\n\xff\tlatin\nspam\twin a prize\nprize\nham\tlunch\n"  # rows 1, 2 and 4 are bad


@pytest.mark.parametrize("block", [1 << 20, 7, 30])
def test_lines_without_a_label_or_text_are_set_aside(block, here, monkeypatch, capsys):
    monkeypatch.setattr("linsep.on_files.text_lines.BLOCK", block)
    Path("d.tsv").write_bytes(TEXT)
    code, lines, _ = ran(capsys, "learn", "--text", "d.tsv", "--reject", "bad.csv", "-o", "m.json", "--json")
    assert (code, json.loads(lines[-1])["rows"], json.loads(lines[-1])["rows_left_out"]) == (0, 3, 3)
    assert rejected() == [
        ("d.tsv", 1, "E-LABEL-MISSING"),
        ("d.tsv", 2, "E-TEXT-ENCODING"),
        ("d.tsv", 4, "E-LABEL-MISSING"),
    ]
    with Path("bad.csv").open() as file:
        assert [row["content"] for row in csv.DictReader(file)] == ["spam win", "\\xff\tlatin", "prize"]
    code, lines, _ = ran(capsys, "predict", "m.json", "d.tsv", "--text", "--reject", "bad.csv")
    assert (code, len(lines), lines.index('""')) == (0, 6, 2)  # a line to be labelled needs no label
    assert rejected() == [("d.tsv", 2, "E-TEXT-ENCODING")]


def test_a_fault_of_a_line_of_text_is_json_with_its_row(here, capsys):
    Path("d.tsv").write_bytes(TEXT)
    facts = json.loads(ran(capsys, "learn", "--text", "d.tsv", "--json")[2])
    assert [facts[key] for key in ("code", "file", "row")] == ["E-LABEL-MISSING", "d.tsv", 1]
    facts = json.loads(ran(capsys, "learn", "--text", "none.tsv", "--json")[2])
    assert (facts["code"], facts["file"]) == ("E-FILE-NONE", "none.tsv")


def test_a_pattern_names_files_of_text_too(here, capsys):
    for k in (2, 1):
        Path(f"{k}.mail").write_text(f"ham\tlunch {k}\nspam\tprize\n")
    assert json.loads(ran(capsys, "learn", "--text", "*.mail", "--json")[1][-1])["rows"] == 4


def test_standard_input_is_learned_from_beside_its_bad_rows(here, monkeypatch, capsys):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(CSV.encode())))
    assert ran(capsys, "learn", "--label", "y", "--reject", "bad.csv")[0] == 0
    assert rejected() == [("stdin", row, why) for row, why in zip(BAD, CODES, strict=True)]


# explore ------------------------------------------------------------------------------------------------------------


def test_the_explorer_shows_several_files_as_one(here, capsys):
    for k, row in enumerate(["1,2,no", "3,1,yes"]):
        Path(f"part{k}.csv").write_text(f"a,b,y\n{row}\n")
    code, lines, _ = ran(capsys, "explore", "part*.csv", "--label", "y", "--export", "one.html", "--json")
    assert (code, json.loads(lines[0])) == (0, {"output": "one.html"})
    assert ran(capsys, "explore", "part0.csv", "part1.csv", "--label", "y", "--export", "two.html")[0] == 0
    page = Path("two.html").read_text(encoding="utf-8")
    assert "part0.csv and 1 more" in page


def test_only_rejected_rows_make_way_for_rejected_rows(here, capsys):
    (here / "data.csv").write_text("x,y\n1,a\nq,a\n2,b\n")
    (here / "mine.txt").write_text("a letter\n")
    command = ["decide", "data.csv", "--label", "y", "--reject"]
    assert main([*command, "mine.txt"]) == 2 and "something other than rejected rows" in capsys.readouterr().err
    assert (here / "mine.txt").read_text() == "a letter\n"
    (here / "bad.csv").touch()
    for _ in range(2):  # an empty file, and what the first run wrote
        assert main([*command, "bad.csv"]) == 0
    assert (here / "bad.csv").read_text().startswith("file,row,reason,content")
