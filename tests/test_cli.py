"""The command line, held against transcripts: tests/golden/*.txt are what a person sees.

Each transcript is a list of commands ("$ linsep ...") with their stdout, their stderr (lines marked "! ") and
their exit code. `UPDATE_GOLDEN=1 pytest tests/test_cli.py` writes them anew; read the difference before keeping it.
"""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from fractions import Fraction
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
import scipy.sparse as sp

from linsep import __version__, cli
from linsep.cli import main, parameters
from linsep.datasets import planted
from linsep.learners import perceptron
from linsep.models import load
from linsep.storage.checksum import seal

GOLDEN = Path(__file__).parent / "golden"
DOCUMENTATION = Path(__file__).parents[1] / "docs" / "command-line.md"
SOURCES = str(Path(cli.__file__).parents[2])
TIMES = (r" [0-9]+\.[0-9]{3} s(?=   |$)", " TIME s")
SECONDS = (r"(whole data, |\"seconds\": )[0-9.e-]+", r"\1TIME")
SIZE = (r"has [0-9]+ bytes", "has N bytes")
PLANTED = (r"[0-9]+ rows, [0-9]+ of class -1 and [0-9]+ of", "N rows, N of class -1 and N of")


def moment_curve(d):
    names = ",".join(f"t{k}" for k in range(1, d + 1))
    return f"{names},y\n" + "".join(f"{','.join(str(t**k) for k in range(1, d + 1))},{t % 2}\n" for t in range(d + 2))


FILES = {
    "cornwell.csv": "x1,x2,y\n-1,3,-1\n-1,-1,-1\n3,-1,+1\n0,1.5,+1\n",
    "new.csv": "id,x2,x1\na,-1,3\nb,3,-1\nc,2,0\nd,10,1\n",
    "labelled.csv": "x1,x2,y\n3,-1,1\n3,-1,-1\n",
    "unlabelled.csv": "x1,x2,y\n3,-1,1\n3,-1,\n",
    "other_labels.csv": "x1,x2,y\n3,-1,yes\n3,-1,no\n",
    "short.csv": "x1,y\n1,1\n",
    "mail.csv": 'subject,caps,length,kind\n"win, now",9,1,spam\n"re:\nhello",0,7,ham\n',
    "text.csv": "a,b,y\n1,2,0\n\n3,oops,1\n",
    "people.csv": "height,weight,y\n171,72,a\n176,74,b\n181,81,a\n168,66,b\n165,66,a\n186,84,b\n",
    "dates.csv": "a,b,y\n1,2020-01-01,0\n3,2020-01-02,1\n",
    "quoted.csv": 'a,note,b,y\n1,"two\nlines",2,0\n3,x,"4,5",1\n',
    "gap.csv": "a,b,y\n1,2,0\n3,,1\n",
    "na.csv": "a,b,y\n1,2,0\n3,NA,1\n",
    "nan.csv": "a,b,y\n1,2.5,0\n3,nan,1\n",
    "inf.csv": "a,b,y\n1,2.5,0\n3,-inf,1\n",
    "huge.csv": "a,b,y\n1,2.5,0\n3,1e400,1\n",
    "nolabel.csv": "a,b,y\n1,2,0\n3,4,\n",
    "int64.csv": "a,y\n9223372036854775808,0\n3,1\n",
    "int54.csv": "a,b,y\n1,9007199254740993,0\n3,0.5,1\n",
    "mixed54.csv": "a,b,y\n0.5,9007199254740993,0\n0.25,9007199254740992,1\n",
    "big.csv": "a,y\n9007199254740993,0\n9007199254740992,1\n",
    "ragged.csv": "a,b,y\n1,2,0\n3,1\n",
    "empty.csv": "",
    "header.csv": "a,b,y\n",
    "twice.csv": "a,a,y\n1,2,0\n",
    "semicolons.csv": "a;b;y\n1;2;0\n",
    "one_class.csv": "a,y\n1,0\n2,0\n",
    "three_classes.csv": "a,y\n1,0\n2,1\n3,2\n",
    "only_label.csv": "y\n0\n1\n",
    # After one update w = (1, 2^-60), and the second row scores 2^-50: right, but within its own rounding error.
    "doubtful.csv": f"a,b,y\n1,{2.0**-60!r},1\n1,{-(2.0**60) * (1 - 2.0**-50)!r},1\n-1,0.0,0\n",
    "touching.csv": 'dose,age,note,y\n0,5,1,no\n\n1,3,"2",no\n1,3,2,yes\n2,1,0,yes\n',
    "overlap.csv": "a,b,y\n0,0,no\n1,1,no\n0,1,yes\n1,0,yes\n7,9,yes\n",
    "ahead.csv": "a,b,y\n0,0,no\n0,1,no\n2,0,yes\n2,1,yes\n",
    "moved.csv": "a,b,y\n0,0,no\n0,1,no\n2,0,yes\n-2,1,yes\n",
    "renamed.csv": "b,a,y\n0,0,no\n0,1,no\n2,0,yes\n2,1,yes\n",
    "relabelled.csv": "a,b,y\n0,0,no\n0,1,no\n2,0,yes\n2,1,maybe\n",
    "longer.csv": "a,b,y\n0,0,no\n0,1,no\n2,0,yes\n2,1,yes\n3,3,yes\n",
    "tenths.csv": "a,b,y\n0.1,0.7,0\n0.9,0.3,0\n0.2,0.1,1\n0.8,0.9,1\n",
    # Points of the moment curve with alternating labels: 14 rows whose weights are binomial coefficients.
    "curve.csv": moment_curve(12),
    "flowers.csv": "width,height,colour,kind\n1,2,red,a\n2,1,blue,b\n3,5,red,c\n4,4,green,a\n",
    "dirty.csv": "a,b,y\n1,2,0\n3,oops,1\n4,5,1\n6,7\n",
    "clean.csv": "a,b,y\n1,2,0\n4,5,1\n0,2,0\n",
    "points.svm": "-1 1:1 3:0.5\n+1 2:2\n+1 1:0.25 2:3\n",
    "zero.svm": "-1 0:1\n+1 2:2\n",
    "tenth_lines.csv": "a,b,y\n0.1,1,1\n0.2,2,0\n0.3,3,1\n",
    "truths.csv": "flag,y\ntrue,0\nfalse,1\n",
    "claims_nothing.json": seal(
        '{"format": "linsep-proof", "version": "1", "kind": "undecided", "data": {"rows": "4", "columns": "2", '
        '"bias": true, "labels": ["text:no", "text:yes"], "names": ["a", "b"], "label_column": "y", '
        '"numbers": "binary64", "rows_left_out": "0"}, "reason": "time is up", '
        '"margin": {"low": 0.0, "high": null}, "effort": {"reads": "1", "seconds": 0.5}}'
    ),
    "mail.tsv": (
        "ham\tSee you at lunch\nspam\tWIN a prize, now!\nham\tlunch at one?\nspam\ta prize for you: £100\n"
        "\nham\tthe prize lunch was fine\nspam\twin win win\n"
    ),
    "more_mail.tsv": "other\tan unknown kind\nspam\tprize\n",
    "unknown_mail.tsv": "free prize\n\tlunch with you\n",
    "torn.tsv": "ham\tsee you\nspam win\n",
    "one_kind.tsv": "ham\tsee you\nham\tlunch\n",
    "notes.txt": "hello\n",
    "noending": "hello\n",
    "broken.npz": "PK\x03\x04 and no more",
    "text.npy": "hello\n",
    "empty.npy": "",
    "model_v2.json": '{"format": "linsep-model", "version": 2}',
    "not_json.json": "hello",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Every input of the transcripts, good and bad."""
    path = tmp_path_factory.mktemp("data")
    for name, text in FILES.items():
        (path / name).write_text(text, newline="")
    X, y = np.array([[-1, 3], [-1, -1], [3, -1], [0, 1.5]]), np.array([-1, -1, 1, 1])
    (path / "latin1.csv").write_bytes("a,größe,y\n1,2,0\n".encode("latin-1"))
    (path / "latin1.tsv").write_bytes("ham\tok\nspam\tgrößer\n".encode("latin-1"))
    np.save(path / "cornwell.npy", np.column_stack([X, y]))
    np.save(path / "nan.npy", [[1, np.nan, 0], [2, 3, 1]])
    np.save(path / "line.npy", [1.0, 2.0])
    np.save(path / "words.npy", np.array([["a", "b"]]))
    np.save(path / "objects.npy", np.array([[1, None]], dtype=object), allow_pickle=True)
    (path / "truncated.npy").write_bytes((path / "cornwell.npy").read_bytes()[:-8])
    np.savez(path / "cornwell.npz", X=X, y=y)
    (path / "parts").mkdir()
    (path / "parts" / "1.csv").write_text("a,b,y\n0,0,no\n0,1,no\n")
    (path / "parts" / "2.tsv").write_text("a\tb\ty\n2\t0\tyes\n2\t1\tyes\n")
    (path / "nothing").mkdir()
    many, sides = planted(1000, 3, seed=1)
    np.savez(path / "many.npz", X=many, y=sides)
    np.savez(path / "no_y.npz", X=X)
    np.savez(path / "long_y.npz", X=X, y=[1, 0])
    np.savez(path / "strange.npz", A=X)
    np.savez(path / "objects.npz", X=np.array([[1, None]], dtype=object), y=y)
    sparse = sp.csr_array(X)
    parts = {"data": sparse.data, "indices": sparse.indices, "indptr": sparse.indptr, "shape": sparse.shape}
    np.savez(path / "sparse.npz", y=y, **parts)
    np.savez(path / "wild.npz", y=y, **{**parts, "indices": sparse.indices + 1000})
    np.savez(path / "sparse_nan.npz", y=y, **{**parts, "data": np.where(sparse.data == 1.5, np.nan, sparse.data)})
    return path


@pytest.fixture(autouse=True)
def _plain(monkeypatch, folder):
    monkeypatch.chdir(folder)
    for name in ("FORCE_COLOR", "LINSEP_DEBUG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "80")


def transcript(command, capsys):
    code = main(shlex.split(command)[1:])
    out, err = capsys.readouterr()
    for pattern, mask in (TIMES, SECONDS, SIZE, PLANTED):
        out = re.sub(pattern, mask, out, flags=re.MULTILINE)
    lines = [*out.splitlines(), *(f"! {line}" for line in err.splitlines()), f"[exit {code}]"]
    return "\n".join([f"$ {command}", *(line.rstrip() for line in lines)])


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(path.stem for path in GOLDEN.glob("*.txt")))
def test_the_transcript_still_holds(name, capsys):
    path = GOLDEN / f"{name}.txt"
    expected = path.read_text(encoding="utf-8")
    commands = [line[2:] for line in expected.splitlines() if line.startswith("$ ")]
    seen = "\n\n".join(transcript(command, capsys) for command in commands) + "\n"
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(seen, encoding="utf-8")
    assert seen == expected


def test_the_transcripts_of_the_documentation_still_hold(capsys):
    blocks = DOCUMENTATION.read_text(encoding="utf-8").split("```")[1::2]
    told = [block.strip() for block in blocks if block.startswith("\n$ ")]
    assert len(told) >= 4
    for block in told:
        *seen, _ = transcript(block.splitlines()[0].removeprefix("$ "), capsys).splitlines()
        assert "\n".join(line.removeprefix("! ") for line in seen) == re.sub(*SECONDS, block)


def lines_of_json(capsys):
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


@pytest.mark.parametrize("order", ["cyclic", "restart"])
def test_cornwell_number_for_number(order, capsys):
    assert main(["trace", "example:cornwell", "--json", "--order", order]) == 0
    *steps, summary = lines_of_json(capsys)
    assert [step["row"] + 1 for step in steps] == [1, 2, 4, 4, 1, 4, 4, 1, 4]
    assert [(*step["w"], step["b"]) for step in steps] == [
        (1, -3, -1), (2, -2, -2), (2, -0.5, -1), (2, 1, 0), (3, -2, -1),
        (3, -0.5, 0), (3, 1, 1), (4, -2, 0), (4, -0.5, 1),
    ]  # fmt: skip
    assert (summary["converged"], summary["updates"], summary["w"], summary["b"]) == (True, 9, [4, -0.5], 1)


@pytest.mark.parametrize(
    ("name", "rows", "weights"),
    [("tao", [1, 2], [[1, 0], [1, 1]]), ("wang", [1, 3, 5], [[1, -2], [2, -1], [3, 1]])],
)
def test_tao_and_wang_number_for_number(name, rows, weights, capsys):
    assert main(["trace", f"example:{name}", "--json"]) == 0
    *steps, summary = lines_of_json(capsys)
    assert [step["row"] + 1 for step in steps] == rows
    assert [step["w"] for step in steps] == weights
    assert {step["b"] for step in steps} == {0}
    assert summary["converged"]


def test_a_bias_can_be_asked_for_where_the_lecture_has_none(capsys):
    main(["trace", "example:tao", "--json", "--bias"])
    assert lines_of_json(capsys)[0]["b"] == 1


def test_the_trace_is_the_run_of_the_fit(capsys):
    for order in get_args(parameters.Order):
        main(["trace", "cornwell.csv", "--label", "y", "--order", order, "--json", "--seed", "3"])
        trace = lines_of_json(capsys)[-1]
        main(["fit", "cornwell.csv", "--label", "y", "--order", order, "--json", "--seed", "3"])
        (fit,) = lines_of_json(capsys)
        assert all(fit[name] == trace[name] for name in ("w", "b", "updates", "passes", "converged"))


@pytest.mark.parametrize(
    "data",
    ["cornwell.csv --label y", "cornwell.csv --label -1", "cornwell.npy --label 2", "cornwell.npz", "sparse.npz"],
)
def test_every_format_gives_the_same_run(data, capsys):
    assert main(["fit", *data.split(), "--json"]) == 0
    (fit,) = lines_of_json(capsys)
    assert (fit["w"], fit["b"], fit["labels"], fit["mistakes"]) == ([4, -0.5], 1, [-1, 1], 0)


# These models know the label column by name or not at all, and the file has no name for its third column.
NO_WAY_TO_TELL = {("l y", "npy"), ("npz", "npy"), ("npz", "csv")}


@pytest.mark.parametrize("trained", ["cornwell.csv --label y", "cornwell.npy --label -1", "cornwell.npz", "sparse.npz"])
@pytest.mark.parametrize("file", ["cornwell.csv", "cornwell.npy", "cornwell.npz", "sparse.npz"])
def test_a_model_labels_every_format(trained, file, tmp_path, capsys):
    model = str(tmp_path / "model.json")
    main(["fit", *trained.split(), "-o", model])
    capsys.readouterr()
    code = main(["predict", model, file])
    out, err = capsys.readouterr()
    if (trained[-3:], file[-3:]) in NO_WAY_TO_TELL:
        assert (code, out) == (2, "")
        assert "3 columns, but the model has 2 weights" in err
    else:
        assert (code, out.split()) == (0, ["-1", "-1", "1", "1"])
        assert "Error: 0 (0 of 4 rows wrong)." in err


def test_predictions_go_to_a_file_with_a_header(tmp_path, capsys):
    model, out = str(tmp_path / "model.json"), tmp_path / "out.csv"
    main(["fit", "example:cornwell", "-o", model])
    assert main(["predict", model, "new.csv", "-o", str(out), "--scores"]) == 0
    assert out.read_text() == "prediction,score\n1,13.5\n-1,-4.5\n-1,0.0\n-1,0.0\n"


def test_integer_scores_are_not_wrapped_around(tmp_path, capsys):
    rows = [(2**40, 1, 1), (-(2**40), 1, 0)]
    (tmp_path / "big.csv").write_text("a,b,y\n" + "".join(f"{a},{b},{y}\n" for a, b, y in rows))
    model = str(tmp_path / "model.json")
    main(["fit", str(tmp_path / "big.csv"), "--label", "y", "-o", model])
    w = [Fraction(value) for value in load(model).halfspace.w.tolist()]
    capsys.readouterr()
    (tmp_path / "new.csv").write_text(f"a,b\n{2**62},1\n{-(2**62)},1\n")
    assert main(["predict", model, str(tmp_path / "new.csv"), "--scores"]) == 0
    scores = [float(line.split(",")[1]) for line in capsys.readouterr().out.splitlines()]
    assert scores == pytest.approx([float(w[0] * 2**62), float(-w[0] * 2**62)])


def test_integers_of_a_whole_integer_table_stay_integers(tmp_path, capsys):
    (tmp_path / "t.csv").write_text(f"a,y\n{2**52 + 1},0\n{2**52 + 3},1\n")
    main(["trace", str(tmp_path / "t.csv"), "--label", "y", "--json", "--max-updates", "1"])
    assert lines_of_json(capsys)[0]["w"] == [-(2**52 + 1)]


def test_plus_one_is_larger_than_minus_one(capsys):
    main(["fit", "cornwell.csv", "--label", "y", "--json"])
    assert lines_of_json(capsys)[0]["labels"] == [-1, 1]


def test_xor_keeps_weights_that_are_better_than_none(tmp_path, capsys):
    model = tmp_path / "model.json"
    assert main(["fit", "example:xor", "-o", str(model), "--max-passes", "20"]) == 3
    training = load(model).training
    assert (training.converged, training.passes, training.mistakes) == (False, 20, 2)


def test_the_best_of_noisy_data_is_kept(tmp_path, capsys):
    X, y = planted(2000, 5, flipped=40, seed=1)
    np.savez(tmp_path / "noisy.npz", X=X, y=y)
    assert main(["fit", str(tmp_path / "noisy.npz"), "--max-passes", "30", "-o", str(tmp_path / "m.json")]) == 3
    model = load(tmp_path / "m.json")
    last = perceptron.perceptron(X, y, max_passes=30).halfspace
    assert model.halfspace.mistakes(X, y) == model.training.mistakes <= last.mistakes(X, y)


def test_hostile_names_do_not_command_the_terminal(tmp_path, capsys):
    (tmp_path / "t.csv").write_text("a\x1b[31m,[red]b,y\n1,2,0\n-1,2,1\n")
    main(["trace", str(tmp_path / "t.csv"), "--label", "y"])
    main(["trace", str(tmp_path / "t.csv"), "--label", "z\x1b[0m"])
    seen = "".join(capsys.readouterr())
    assert "\x1b" not in seen
    assert "[red]b" in seen


def test_a_fault_is_one_line_and_code_4(monkeypatch, capsys):
    monkeypatch.setattr("linsep.cli.file_arguments.read", lambda *given: 1 / 0)
    assert main(["fit", "example:xor"]) == 4
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert "ZeroDivisionError" in err
    assert "--debug" in err
    with pytest.raises(ZeroDivisionError):
        main(["fit", "example:xor", "--debug"])
    monkeypatch.setenv("LINSEP_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        main(["fit", "example:xor"])


def test_version_is_the_packages(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"{__version__}\n"


def test_an_output_that_cannot_be_written_is_bad_input(capsys):
    assert main(["fit", "example:tao", "-o", "no/such/folder/model.json"]) == 2
    assert "no/such/folder" in capsys.readouterr().err


def test_the_orders_of_the_help_are_those_of_the_library():
    assert get_args(parameters.Order) == get_args(perceptron.Order)


def linsep(*arguments, **options):
    environment = {**os.environ, "PYTHONPATH": SOURCES, **options.pop("env", {})}
    command = [sys.executable, "-m", "linsep.cli", *arguments]
    return subprocess.Popen(
        command, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options
    )


def test_help_is_quick_and_loads_nothing_heavy():
    code = (
        "import sys, linsep.cli; linsep.cli.main(['--help']);"
        "print('loaded:', sorted({'numba', 'pyarrow', 'scipy', 'sklearn', 'numpy'} & set(sys.modules)))"
    )
    environment = {**os.environ, "PYTHONPATH": SOURCES}

    def once():
        """Seconds of processor time, so that a busy machine does not count."""
        before = os.times()
        seen = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True)
        assert seen.stdout.endswith("loaded: []\n")
        after = os.times()
        return after.children_user + after.children_system - before.children_user - before.children_system

    assert min(once() for _ in range(5)) < 0.4  # 0.25 on an idle machine


@pytest.mark.slow
def test_ctrl_c_keeps_the_best_so_far(tmp_path):
    with linsep("fit", "example:xor", "--max-passes", "0", "-o", str(tmp_path / "m.json")) as process:
        assert "No cap" in process.stderr.readline()
        time.sleep(1.0)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 3
    assert "interrupted" in out
    assert "proves nothing" in out
    assert "Traceback" not in err
    assert not load(tmp_path / "m.json").training.converged


@pytest.mark.slow
def test_ctrl_c_elsewhere_is_a_plain_end():
    with linsep("trace", "example:xor", "--json", "--max-passes", "0", "--max-updates", "1000000000") as process:
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (130, "linsep: interrupted.\n")


def test_a_reader_who_has_seen_enough_is_no_error():
    with linsep("trace", "example:xor", "--json", "--max-updates", "20000", "--max-passes", "0") as process:
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == ""
        assert process.wait(timeout=60) == 141


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
@pytest.mark.parametrize(("setting", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_colours_on_a_terminal_unless_no_color(setting, coloured):
    import pty

    leader, follower = pty.openpty()
    environment = {**os.environ, "PYTHONPATH": SOURCES, "TERM": "xterm-256color", **setting}
    command = [sys.executable, "-m", "linsep.cli", "trace", "example:tao"]
    process = subprocess.Popen(command, env=environment, stdout=follower, stderr=subprocess.DEVNULL)
    process.wait(timeout=60)
    os.close(follower)
    seen = os.read(leader, 1 << 16).decode()
    os.close(leader)
    assert "Separated" in seen
    assert ("\x1b[32m" in seen) is coloured
