"""`linsep learn` as a process: pipes, Ctrl-C, and memory that stays flat."""

import gzip
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet
import pytest
from sklearn.datasets import dump_svmlight_file

import linsep
from linsep import cli
from linsep.cli import main
from linsep.datasets import planted

SOURCES = str(Path(cli.__file__).parents[2])
MAIL = "ham\tsee you at lunch\nspam\twin a prize now\nham\tlunch at one\n"


def learn(*arguments):
    command = [sys.executable, "-m", "linsep.cli", "learn", *arguments]
    environment = {**os.environ, "PYTHONPATH": SOURCES}
    pipe = subprocess.PIPE
    return subprocess.Popen(command, env=environment, stdin=pipe, stdout=pipe, stderr=pipe, bufsize=0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "given"), [(["--text"], MAIL), (["--label", "y"], "x,y\n1,a\n2,b\n3,b\n")], ids=["text", "csv"]
)
def test_stdin_is_a_file_too(arguments, given):
    with learn(*arguments) as process:
        out, err = process.communicate(given.encode(), timeout=60)
    assert (process.returncode, err) == (0, b"")
    assert b"Finished: 3 rows, " in out


@pytest.mark.slow
def test_a_slow_pipe_is_learned_from_at_once_and_ctrl_c_keeps_the_model(tmp_path):
    with learn("--text", "-o", str(tmp_path / "m.json")) as process:
        process.stdin.write(MAIL.encode())
        seen = [process.stdout.readline() for _ in range(3)]  # before the pipe is closed
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert seen[-1].split()[2] == b"2"
    assert process.returncode == 130
    assert b"Interrupted after 3 rows" in out
    assert b"Traceback" not in err
    model = linsep.load(tmp_path / "m.json")
    assert model.counts.rows == 3


def test_blocks_that_cut_lines_anywhere_give_the_same_model(tmp_path, monkeypatch, capsys):
    text = "".join(f"{'ham' if k % 3 else 'spam'}\tword{k % 17} é{k} prize{k % 5}\n" for k in range(300))
    (tmp_path / "mail.tsv").write_text(text.removesuffix("\n"), encoding="utf-8")
    models = []
    for block in (1 << 20, 7, 100):
        monkeypatch.setattr("linsep.on_files.text_lines.BLOCK", block)
        assert main(["learn", "--text", str(tmp_path / "mail.tsv"), "-o", str(tmp_path / "m.json")]) == 0
        models.append((tmp_path / "m.json").read_text())
    assert models[0] == models[1] == models[2]


def test_a_bad_line_is_counted_across_blocks(tmp_path, monkeypatch, capsys):
    (tmp_path / "mail.tsv").write_text("ham\tone two\n\nspam\ttwo\n" * 50 + "torn\n")
    monkeypatch.setattr("linsep.on_files.text_lines.BLOCK", 64)
    assert main(["learn", "--text", str(tmp_path / "mail.tsv")]) == 2
    assert "mail.tsv: row 100 (line 151): the label is missing" in capsys.readouterr().err


def test_a_line_without_end_is_refused(tmp_path, monkeypatch, capsys):
    (tmp_path / "mail.tsv").write_text("ham\tx\n" + "y" * 5000)
    monkeypatch.setattr("linsep.on_files.text_lines.BLOCK", 64)
    monkeypatch.setattr("linsep.on_files.text_lines.LONGEST_LINE", 1000)
    assert main(["learn", "--text", str(tmp_path / "mail.tsv")]) == 2
    assert "line 2: the line is longer than" in capsys.readouterr().err


def test_csv_blocks_give_the_same_model_and_name_the_right_row(tmp_path, monkeypatch, capsys):
    rows = "".join(f"{k % 7},{k % 5 - 2},{'yes' if k % 3 else 'no'}\n" for k in range(200))
    (tmp_path / "t.csv").write_text("a,b,y\n" + rows)
    models = []
    for block in (1 << 20, 64):
        monkeypatch.setattr("linsep.sources.files.options.batch_bytes", lambda memory, block=block: block)
        assert main(["learn", str(tmp_path / "t.csv"), "--label", "y", "-o", str(tmp_path / "m.json")]) == 0
        models.append((tmp_path / "m.json").read_text())
    assert models[0] == models[1]
    (tmp_path / "t.csv").write_text("a,b,y\n" + rows + "1,x,no\n")
    assert main(["learn", str(tmp_path / "t.csv"), "--label", "y"]) == 2
    assert "row 200 (line 202), column 'b' holds 'x'" in capsys.readouterr().err


def test_columns_of_a_second_file_are_matched_by_name(tmp_path, capsys):
    (tmp_path / "a.csv").write_text("a,b,y\n1,2,no\n3,4,yes\n")
    (tmp_path / "b.csv").write_text("y,b,a\nno,2,1\nyes,4,3\n")
    ends = []
    for second in ("a.csv", "b.csv"):
        assert main(["learn", str(tmp_path / "a.csv"), str(tmp_path / second), "--label", "y", "--json"]) == 0
        ends.append(capsys.readouterr().out)
    assert ends[0] == ends[1]


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads /proc")
def test_memory_does_not_grow_with_the_rows(tmp_path):
    block = "".join(
        f"{'ham' if k % 3 else 'spam'}\tword{k % 997} prize{k % 5} more words follow here\n" for k in range(20000)
    )
    peaks = []
    for times in (2, 20):
        with (tmp_path / "big.tsv").open("w") as file:
            file.writelines([block] * times)
        code = (
            f"import linsep.cli; linsep.cli.main(['learn', '--text', {str(tmp_path / 'big.tsv')!r}]);"
            "print(next(line for line in open('/proc/self/status') if line.startswith('VmHWM')))"
        )
        environment = {**os.environ, "PYTHONPATH": SOURCES}
        run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True)
        peaks.append(int(run.stdout.strip().splitlines()[-1].split()[1]))
    assert peaks[1] < peaks[0] * 1.25


def end_of(capsys, *arguments):
    assert main(["learn", *map(str, arguments), "--json"]) == 0
    return json.loads(capsys.readouterr().out.splitlines()[-1])


def test_every_format_is_learned_from_alike(tmp_path, capsys):
    X, y = planted(500, 3, margin=0.1, seed=4)
    table = pa.table({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "y": y})
    pyarrow.csv.write_csv(table, tmp_path / "t.csv")
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress((tmp_path / "t.csv").read_bytes()))
    pyarrow.parquet.write_table(table, tmp_path / "t.parquet")
    pyarrow.feather.write_feather(table, tmp_path / "t.feather")
    np.save(tmp_path / "t.npy", np.column_stack([X, y]))
    np.savez(tmp_path / "t.npz", X=X, y=y)
    dump_svmlight_file(X, y, str(tmp_path / "t.svm"), zero_based=False)
    ends = {name: end_of(capsys, tmp_path / name, "--label", "-1") for name in ("t.csv", "t.csv.gz", "t.parquet")}
    ends |= {name: end_of(capsys, tmp_path / name, "--label", 3) for name in ("t.feather", "t.npy")}
    ends |= {name: end_of(capsys, tmp_path / name) for name in ("t.npz", "t.svm")}
    assert ends["t.csv"]["classes"] == [str(y[0]), str(-y[0])]
    assert all(end == ends["t.csv"] for end in ends.values())


def test_the_label_of_a_position_is_kept_by_its_name(tmp_path, capsys):
    (tmp_path / "t.csv").write_text("y,a\nno,1\nyes,2\n")
    end_of(capsys, tmp_path / "t.csv", "--label", 0, "-o", tmp_path / "m.json")
    assert linsep.load(tmp_path / "m.json").label == "y"


def test_sparse_rows_may_bring_columns_that_nobody_saw(tmp_path, capsys):
    (tmp_path / "a.svm").write_text("-1 1:1\n+1 2:2\n")
    (tmp_path / "b.svm").write_text("-1 1:1 7:3\n+1 2:2 9:1\n")
    (tmp_path / "padded.svm").write_text("-1 1:1 9:0\n+1 2:2\n-1 1:1 7:3\n+1 2:2 9:1\n-1 1:1\n+1 2:2\n")
    files = [tmp_path / name for name in ("a.svm", "b.svm", "a.svm")]
    grown = end_of(capsys, *files, "-o", tmp_path / "grown.json")
    assert grown == end_of(capsys, tmp_path / "padded.svm", "-o", tmp_path / "padded.json")
    assert (tmp_path / "grown.json").read_text() == (tmp_path / "padded.json").read_text()
    assert linsep.load(tmp_path / "grown.json").width == 9


@pytest.mark.slow
def test_a_slow_pipe_of_csv_is_learned_from_at_once(tmp_path):
    with learn("-", "--label", "y") as process:
        process.stdin.write(b"x,y\n")
        process.stdin.write(b"1,a\n")
        seen = [process.stdout.readline() for _ in range(2)]  # before the pipe is closed
        process.stdin.write(b"2,b\n3,b\n")
        out, err = process.communicate(timeout=60)
    assert seen[-1].split()[2] == b"1"
    assert (process.returncode, err) == (0, b"")
    assert b"Finished: 3 rows, " in out and b"classes      a, b" in out


def test_a_bad_cell_of_a_pipe_is_named_with_its_value(tmp_path):
    with learn("--label", "y") as process:
        _, err = process.communicate(b"x,y\n1,a\n2,b\noops,b\n", timeout=60)
    assert process.returncode == 2
    assert b"stdin: row 2 (line 4), column 'x' holds 'oops': not a number" in err


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs named pipes")
def test_a_named_pipe_is_a_stream_too(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with learn(str(tmp_path / "pipe"), "--label", "y", "--format", "tsv") as process:
        (tmp_path / "pipe").write_text("x\ty\n1\ta\n2\tb\n")
        out, _ = process.communicate(timeout=60)
    assert b"Finished: 2 rows, " in out and b"classes      a, b" in out


def test_an_integer_that_a_double_would_round_is_refused(tmp_path, capsys):
    (tmp_path / "t.csv").write_text(f"a,b,y\n1,{2**53},no\n2,{2**53 + 1},yes\n")
    assert main(["learn", str(tmp_path / "t.csv"), "--label", "y"]) == 2
    assert f"row 1, column 'b' holds {2**53 + 1}" in capsys.readouterr().err


def test_a_second_file_of_another_width_is_refused(tmp_path, capsys):
    np.savez(tmp_path / "a.npz", X=[[1.0, 2.0], [3.0, 4.0]], y=[0, 1])
    np.savez(tmp_path / "b.npz", X=[[1.0], [3.0]], y=[0, 1])
    assert main(["learn", str(tmp_path / "a.npz"), str(tmp_path / "b.npz")]) == 2
    assert "b.npz: 1 column where the first file has 2" in capsys.readouterr().err


def test_files_of_which_no_row_is_left_are_named(tmp_path, capsys):
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text("x,y\nq,a\n")
    paths = [str(tmp_path / name) for name in ("a.csv", "b.csv")]
    assert main(["learn", *paths, "--label", "y", "--reject", str(tmp_path / "bad.csv")]) == 2
    assert f"{paths[0]} and 1 more: no row is left: all 2 were rejected" in capsys.readouterr().err
