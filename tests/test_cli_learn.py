"""`linsep learn` as a process: pipes, Ctrl-C, and memory that stays flat."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import linsep
from linsep import cli
from linsep.cli import main

SOURCES = str(Path(cli.__file__).parents[2])
MAIL = "ham\tsee you at lunch\nspam\twin a prize now\nham\tlunch at one\n"


def learn(*arguments):
    command = [sys.executable, "-m", "linsep.cli", "learn", *arguments]
    environment = {**os.environ, "PYTHONPATH": SOURCES}
    pipe = subprocess.PIPE
    return subprocess.Popen(command, env=environment, stdin=pipe, stdout=pipe, stderr=pipe, bufsize=0)


@pytest.mark.parametrize(
    ("arguments", "given"), [(["--text"], MAIL), (["--label", "y"], "x,y\n1,a\n2,b\n3,b\n")], ids=["text", "csv"]
)
def test_stdin_is_a_file_too(arguments, given):
    with learn(*arguments) as process:
        out, err = process.communicate(given.encode(), timeout=60)
    assert (process.returncode, err) == (0, b"")
    assert b"Finished: 3 rows, 2 classes" in out


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
        monkeypatch.setattr("linsep.cli.streams.BLOCK", block)
        assert main(["learn", "--text", str(tmp_path / "mail.tsv"), "-o", str(tmp_path / "m.json")]) == 0
        models.append((tmp_path / "m.json").read_text())
    assert models[0] == models[1] == models[2]


def test_a_bad_line_is_counted_across_blocks(tmp_path, monkeypatch, capsys):
    (tmp_path / "mail.tsv").write_text("ham\tone two\n\nspam\ttwo\n" * 50 + "torn\n")
    monkeypatch.setattr("linsep.cli.streams.BLOCK", 64)
    assert main(["learn", "--text", str(tmp_path / "mail.tsv")]) == 2
    assert "mail.tsv: line 151 has no label" in capsys.readouterr().err


def test_a_line_without_end_is_refused(tmp_path, monkeypatch, capsys):
    (tmp_path / "mail.tsv").write_text("ham\tx\n" + "y" * 5000)
    monkeypatch.setattr("linsep.cli.streams.BLOCK", 64)
    monkeypatch.setattr("linsep.cli.streams.LONGEST_LINE", 1000)
    assert main(["learn", "--text", str(tmp_path / "mail.tsv")]) == 2
    assert "line 2 has more than" in capsys.readouterr().err


def test_csv_blocks_give_the_same_model_and_name_the_right_row(tmp_path, monkeypatch, capsys):
    rows = "".join(f"{k % 7},{k % 5 - 2},{'yes' if k % 3 else 'no'}\n" for k in range(200))
    (tmp_path / "t.csv").write_text("a,b,y\n" + rows)
    models = []
    for block in (1 << 20, 64):
        monkeypatch.setattr("linsep.cli.streams.BLOCK", block)
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
