"""The commands that prove, beyond their transcripts: proofs go to a file, come back, and are checked by others.

The answers of `mle_exists` are written down here: what is tested is what the command makes of them.
"""

import csv
import json
import os
import re
import shlex
import subprocess
import sys
import threading
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import linsep
from linsep import cli
from linsep.cli import main
from linsep.errors import InputError, NotSeparableError
from linsep.proofs import NotSeparable, Obstruction, Undecided
from linsep.proofs.proof_json import verdict_from_json
from linsep.storage.checksum import seal

SOURCES = str(Path(cli.__file__).parents[2])
FILES = {
    "separable": "a,b,y\n0,0,no\n0,1,no\n2,0,yes\n2,1,yes\n",
    "touching": "a,b,y\n0,5,no\n\n1,3,no\n1,3,yes\n2,1,yes\n",
    "overlapping": 'a,"b, too",y\n0.1,0.7,no\n0.9,0.3,no\n0.2,0.1,yes\n0.8,0.9,yes\n',
}
CODES = {"separable": 0, "touching": 1, "overlapping": 1}


@pytest.fixture(autouse=True)
def _here(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    for name in ("FORCE_COLOR", "LINSEP_DEBUG"):
        monkeypatch.delenv(name, raising=False)
    for name, text in FILES.items():
        Path(f"{name}.csv").write_text(text, newline="")


def checker(*arguments):
    environment = {**os.environ, "PYTHONPATH": SOURCES}
    command = [sys.executable, "-m", "linsep.checker", *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize("label", ["y", "-1"])
@pytest.mark.parametrize("kind", FILES)
def test_a_proof_of_each_kind_is_written_and_checked_twice(kind, label, capsys):
    assert main(["decide", f"{kind}.csv", "--label", label, "--proof", "proof.json"]) == CODES[kind]
    out, err = capsys.readouterr()
    assert out.startswith(f"{kind} (")
    command = err.split("Check it with: ")[1].split()
    assert command == ["python", "-m", "linsep.checker", "proof.json", f"{kind}.csv", "--label", label]
    assert main(["verify", "proof.json", f"{kind}.csv"]) == 0
    assert capsys.readouterr().out.startswith(f"VERIFIED: {kind} (")
    seen = checker(*command[3:])
    assert (seen.returncode, seen.stdout.startswith(f"VERIFIED {kind} (")) == (0, True)
    assert f": 4 rows of '{kind}.csv', label column 'y'\n" in seen.stdout


@pytest.mark.parametrize("kind", FILES)
def test_a_proof_of_other_data_is_refuted_by_both(kind, capsys):
    main(["decide", f"{kind}.csv", "--label", "y", "--proof", "proof.json"])
    rows = FILES[kind].split("\n")
    rows[1] = f"900,800,{rows[1].split(',')[-1]}"  # the first row, moved far away
    Path("moved.csv").write_text("\n".join(rows))
    capsys.readouterr()
    assert main(["verify", "proof.json", "moved.csv"]) == 1
    assert capsys.readouterr().out.startswith("REFUTED: ")
    assert checker("proof.json", "moved.csv").returncode == 1


def test_integers_that_binary64_would_round_are_proved_as_they_are():
    Path("big.csv").write_text(f"a,y\n{2**53 + 1},0\n{2**53},1\n")
    assert main(["decide", "big.csv", "--label", "y", "--proof", "proof.json"]) == 0
    assert verdict_from_json(Path("proof.json").read_text()).numbers == "exact-integers"
    assert checker("proof.json", "big.csv").returncode == 0


def test_booleans_are_0_and_1_to_both_checkers():
    Path("booleans.csv").write_text("flag,y\ntrue,0\nfalse,1\n")
    main(["decide", "booleans.csv", "--label", "y", "--proof", "proof.json"])
    assert main(["verify", "proof.json", "booleans.csv"]) == 0
    assert checker("proof.json", "booleans.csv", "--label", "y").returncode == 0


XOR = "2,3,1\n3,2,1\n2,2,0\n3,3,0\n"


def test_a_first_row_of_numbers_is_not_taken_for_a_header(capsys):
    Path("xor.csv").write_text(XOR)
    assert main(["decide", "xor.csv", "--label", "-1"]) == 2
    assert "the first line holds values (2, 3, 1)" in capsys.readouterr().err
    with pytest.raises(linsep.LinsepError, match="header=True"):
        linsep.open("xor.csv", label=-1)
    assert linsep.open("xor.csv", label=-1, header=True).n_rows == 3


def test_a_proof_cannot_turn_the_first_row_into_a_header(capsys):
    Path("xor.csv").write_text(XOR)
    main(["decide", "xor.csv", "--label", "-1", "--header", "--proof", "proof.json"])
    command = capsys.readouterr().err.split("Check it with: ")[1].split()
    assert checker(*command[3:]).returncode == main(["verify", *command[3:]]) == 0
    assert main(["verify", "proof.json", "xor.csv"]) == checker("proof.json", "xor.csv").returncode == 2
    assert "say header=True (--header)" in capsys.readouterr().err


def test_the_last_column_holds_the_labels_even_if_another_is_called_minus_one():
    Path("odd.csv").write_text("-1,b,y\n0,5,0\n1,5,1\n")
    Path("proof.json").write_text(linsep.decide([[0, 5], [1, 5]], [0, 1]).to_json())
    assert main(["verify", "proof.json", "odd.csv"]) == checker("proof.json", "odd.csv").returncode == 0


def test_both_say_what_was_verified_in_the_same_words(capsys):
    main(["decide", "overlapping.csv", "--label", "y", "--no-bias", "--proof", "proof.json"])
    capsys.readouterr()
    main(["verify", "proof.json", "overlapping.csv"])
    said = capsys.readouterr().out
    assert " through the origin (no bias): 4 rows of " in said.splitlines()[0]
    told = checker("proof.json", "overlapping.csv").stdout
    assert said.replace(":", "", 1) == told.replace("'overlapping.csv'", "overlapping.csv")


def test_both_print_the_same_facts_as_json(capsys):
    main(["decide", "touching.csv", "--label", "y", "--proof", "proof.json"])
    capsys.readouterr()
    main(["verify", "proof.json", "touching.csv", "--json"])
    said, told = json.loads(capsys.readouterr().out), json.loads(checker("proof.json", "touching.csv", "--json").stdout)
    assert {**said, "message": ""} == {**told, "message": ""}
    assert said["data"] == json.loads(Path("proof.json").read_text())["data"]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ("--no-bias", "the proof is with bias: --no-bias disagrees."),
        ("--positive 0", "its positive class is 1: --positive 0 disagrees."),
        ("--numbers decimal", "reads numbers as binary64: --numbers decimal disagrees."),
        ("--label a", "the label column is 'a', but that of the proof is 'y'."),
        ("--label y --columns b,a", "the columns are 'b', 'a', but proof.json is about 'a', 'b', in this order."),
    ],
)
def test_an_option_that_disagrees_with_the_proof_is_bad_input(options, says, capsys):
    Path("numbers.csv").write_text("a,b,y\n0,0,0\n0,1,0\n2,0,1\n2,1,1\n")
    main(["decide", "numbers.csv", "--label", "y", "--proof", "proof.json"])
    capsys.readouterr()
    assert main(["verify", "proof.json", "numbers.csv", *options.split()]) == 2
    assert says in capsys.readouterr().err


def test_rows_that_reject_leaves_out_are_as_many_as_the_proof_says(capsys):
    Path("odd.csv").write_text("a,y\n1,no\nx,no\n3,yes\n")
    main(["decide", "odd.csv", "--label", "y", "--reject", "bad.csv", "--proof", "proof.json"])
    Path("odd.csv").write_text("a,y\n1,no\nx,no\n3,yes\n?,yes\n")
    assert main(["verify", "proof.json", "odd.csv", "--reject", "bad.csv"]) == 2
    assert "--reject leaves out 2 rows, but proof.json leaves out 1." in capsys.readouterr().err


def test_a_proof_of_one_label_against_the_rest_says_which_option_is_missing(capsys):
    Path("three.csv").write_text("a,y\n1,u\n3,v\n0,w\n")
    main(["decide", "three.csv", "--label", "y", "--positive", "v", "--proof", "proof.json"])
    assert main(["verify", "proof.json", "three.csv"]) == 1
    assert "add --positive v." in capsys.readouterr().out


ODD = {
    "left out": ("odd.csv", "a,b,y\n1,2,no\nx,1,no\n3,1,yes\n", "--label y --reject bad.csv"),
    "nothing left out": ("odd.csv", "a,b,y\n1,2,no\n3,1,yes\n", "--label y --reject bad.csv"),
    "one against the rest": ("odd.csv", "a,b,y\n1,2,u\n3,1,v\n2,4,w\n", "--label y --positive v"),
    "columns": ("odd.csv", "a,b,y\n1,2,no\n3,1,yes\n", "--label y --columns b"),
    "categories": ("odd.csv", "a,b,y\nu,2,no\nv,1,yes\n", "--label y --categories all"),
    "decimals": ("odd.csv", "a,y\n0.1,no\n0.2,yes\n", "--label y --numbers decimal"),
    "from 0": ("odd.svm", "-1 0:1\n1 0:2 3:1\n", "--index-base 0"),
    "format": ("odd data.txt", "a,y\n0.1,no\n0.2,yes\n", "--label y --format csv"),
    "many zeros": ("odd.csv", f"a,y\n{'0' * 700}1,no\n2,yes\n", "--label y"),
    "many digits": ("odd.csv", f"a,y\n0.{'1' * 700},no\n2.{'0' * 5000},yes\n", "--label y"),
    "many zeros, exactly": ("odd.csv", f"a,y\n{'0' * 5000}1,no\n2,yes\n", "--label y --numbers decimal"),
    "a long label": ("odd.csv", f"a,y\n1,{'n' * 200_000}\n2,yes\n", "--label y"),
    "long exponents": ("odd.csv", "a,y\n1e-005,no\n1e005,yes\n", "--label y --numbers decimal"),
    "0 with an exponent": ("odd.csv", "a,y\n0e999999999,no\n2,yes\n", "--label y --numbers decimal"),
    "a label like an option": ("odd.csv", "a,--x\n1,no\n2,yes\n", "--label=--x"),
    "a label called -": ("odd.csv", "a,-\n1,no\n2,yes\n", "--label -"),
    "values like options": ("odd.csv", "-a,b,-y\n1,2,u\n3,1,--v\n2,4,w\n", "--label=-y --positive=--v --columns=-a"),
    "a folder": ("one/odd.csv", "a,y\n1,no\n2,yes\n", "one --label y"),
    "a pattern": ("-odd.csv", "a,y\n1,no\n2,yes\n", "*odd.csv --label y"),
    "memory": ("odd.svm", "-1 1:1\n1 100000:2\n", "--memory 900MB"),
}


@pytest.mark.parametrize("name", ODD)
def test_the_command_that_checks_a_proof_reads_the_same_rows(name, capsys):
    file, text, options = ODD[name]
    Path(file).parent.mkdir(exist_ok=True)
    Path(file).write_text(text)
    files = [] if name in ("a folder", "a pattern") else [file]
    assert main(["decide", *files, *options.split(), "--proof", "proof.json"]) == 0
    program, *words = shlex.split(capsys.readouterr().err.split("Check it with: ")[1])
    if program == "python":
        assert checker(*words[2:]).returncode == 0
    else:
        assert main(words) == 0
    assert ("bad.csv" in words) == (name == "left out")


@pytest.mark.parametrize("name", ["pipe", "-"])
def test_no_command_checks_a_proof_against_a_pipe_that_is_gone(name, capsys, monkeypatch):
    os.mkfifo("pipe")
    writer = threading.Thread(target=lambda: Path("pipe").write_text("a,y\n1,no\n2,yes\n"))
    writer.start()
    with Path("pipe").open() if name == "-" else nullcontext(sys.stdin) as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        assert main(["decide", name, "--format", "csv", "--label", "y", "--proof", "proof.json"]) == 0
    writer.join()
    said = capsys.readouterr().err
    assert "Check it with" not in said and "cannot be read again" in said


def test_a_command_that_a_terminal_would_garble_is_not_printed(capsys):
    Path("tab\t.csv").write_text("a,y\n1,no\n2,yes\n")
    assert main(["decide", "tab\t.csv", "--label", "y", "--proof", "proof.json"]) == 0
    assert "Check it with" not in capsys.readouterr().err


def test_an_undecided_proof_claims_nothing(capsys, monkeypatch):
    verdict = Undecided(n_rows=4, n_columns=2, labels=("no", "yes"), reason="time is up", margin=(0.0, 0.5))
    monkeypatch.setattr("linsep.decide", lambda *rows, **options: verdict)
    assert main(["decide", "separable.csv", "--label", "y", "--proof", "proof.json"]) == 3
    out, err = capsys.readouterr()
    assert "This proves nothing" in out
    assert "believed to lie between 0 and 0.5" in out
    assert "It claims nothing." in err
    assert main(["verify", "proof.json", "separable.csv"]) == 3
    assert checker("proof.json", "separable.csv").returncode == 3


def test_not_separable_is_an_answer_with_a_proof(capsys, monkeypatch):
    Path("xor.csv").write_text("a,b,y\n0,0,no\n1,1,no\n0,1,yes\n1,0,yes\n")
    four = Obstruction((0, 1, 2, 3), (1, 1, 1, 1))
    about = {"n_rows": 4, "n_columns": 2, "labels": ("no", "yes"), "names": ("a", "b"), "label_column": "y"}
    verdict = NotSeparable(obstruction=four, reason="time is up", **about)
    monkeypatch.setattr("linsep.decide", lambda *rows, **options: verdict)
    assert main(["decide", "xor.csv", "--label", "y", "--proof", "proof.json"]) == 1
    assert "not separable; touching or overlapping not known, 4 rows" in capsys.readouterr().out
    assert main(["verify", "proof.json", "xor.csv"]) == 0
    assert checker("proof.json", "xor.csv").returncode == 0


def test_json_holds_the_facts_of_the_proof(capsys):
    main(["decide", "touching.csv", "--label", "y", "--json", "--proof", "proof.json"])
    printed, written = json.loads(capsys.readouterr().out), json.loads(Path("proof.json").read_text())
    assert {name: printed[name] for name in written.keys() & printed.keys()} == {
        name: value for name, value in written.items() if name not in ("format", "version", "effort", "sha256")
    }
    assert (printed["kind"], printed["separable"], printed["reads"]) == ("touching", False, 1)
    assert printed["seconds"] == written["effort"]["seconds"] > 0
    w, b = printed["halfspace"]["w"], printed["halfspace"]["b"]
    sides = [w[0] * a + w[1] * x + b for a, x in ((0, 5), (1, 3), (1, 3), (2, 1))]
    assert sides[0] <= 0 <= sides[3]
    assert sides[1] == sides[2] == 0


@pytest.mark.parametrize("memory", ["1MiB", "512MB"])
@pytest.mark.parametrize("quoted", [False, True])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_rows_are_found_on_the_lines_where_an_editor_shows_them(quoted, end, memory, tmp_path):
    rng = np.random.default_rng(0)
    rows = [f"{i},{'no' if i % 2 else 'yes'}" for i in range(200)]
    if quoted:
        rows[57] = '57,"n\no"'
    text = "a,y" + end + "".join(row + end * int(rng.integers(1, 4)) for row in rows)
    path = tmp_path / "lines.csv"
    path.write_text(text, newline="")
    found = linsep.open(path, label="y", positive="yes", memory=memory).lines(range(200))
    pages = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    assert {row: pages[line - 1].split(",")[0] for row, line in found.items()} == {i: str(i) for i in range(200)}


@pytest.mark.parametrize("kind", ["touching", "overlapping"])
def test_the_terminal_says_what_explain_says(kind, capsys):
    main(["decide", f"{kind}.csv", "--label", "y"])
    out, source = capsys.readouterr().out, linsep.open(f"{kind}.csv", label="y")
    said = linsep.decide(source).explain(source).splitlines()
    sentences = [line.rstrip(".") for line in said[1:] if not line.startswith("  ") and ">= 0" not in line]
    assert len(sentences) == 3 and all(sentence in out for sentence in sentences)
    shares = [line.split()[-2:] for line in said if line.startswith("  ")]
    assert shares == [line.split()[-2:] for line in out.splitlines() if re.search(r"[01]\.\d{3}$|share$", line)]


def test_hostile_names_and_labels_do_not_command_the_terminal(capsys):
    with Path("hostile.csv").open("w", newline="") as file:
        csv.writer(file).writerows(
            [["a\x1b[31m", "[red]b", "y"], [0, 1, "\x1b[2J"], [0, 1, "[bold]"], [3, 1, "[bold]"]]
        )
    assert main(["decide", "hostile.csv", "--label", "y"]) == 1
    seen = "".join(capsys.readouterr())
    assert "\x1b" not in seen
    assert "[red]b" in seen
    assert "[bold]" in seen


def test_ctrl_c_ends_plainly_and_leaves_no_proof(monkeypatch, capsys):
    def interrupted(*rows, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("linsep.decide", interrupted)
    assert main(["decide", "separable.csv", "--label", "y", "--proof", "proof.json"]) == 130
    assert capsys.readouterr().err == "linsep: interrupted.\n"
    assert not list(Path().glob("*proof.json*"))


def test_a_proof_of_half_a_gigabyte_is_refused_unread(monkeypatch, capsys):
    monkeypatch.setattr("linsep.storage.documents.MOST_BYTES", 10)
    Path("proof.json").write_text("[" * 100)
    assert main(["verify", "proof.json", "separable.csv"]) == 2
    assert "at most 10 bytes are read" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
@pytest.mark.parametrize("colour", [{}, {"NO_COLOR": "1"}])
def test_a_terminal_sees_the_progress_and_stdout_does_not(colour):
    import pty

    leader, follower = pty.openpty()
    environment = {**os.environ, "PYTHONPATH": SOURCES, "TERM": "xterm-256color", **colour}
    command = [sys.executable, "-m", "linsep.cli", "decide", "touching.csv", "--label", "y"]
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=follower, text=True)
    out, _ = process.communicate(timeout=60)
    os.close(follower)
    seen = os.read(leader, 1 << 16).decode()
    os.close(leader)
    assert process.returncode == 1
    assert re.search(r"Deciding: [0-9]+ reads?, [0-9,]+ rows/s \(Ctrl-C ends\)", seen)
    assert ("\x1b[32m" in seen) == (not colour)
    assert "\x1b" not in out
    assert "Deciding" not in out


EXACT = "no hyperplane keeps all rows farther away (exactly the square root of 1)"
MARGIN = f"""\
separable (complete separation), 4 rows.
             A hyperplane has every row strictly on the side of its class.
hyperplane   a - 1 is positive on every row of class 'yes', negative on every row of class 'no'.
margin       Every row is at least 1 away from it; {EXACT}.
nearest      2 rows allow no larger margin:
             row   line   class   share
             ──────────────────────────
"""


def test_the_margin_comes_with_the_rows_that_limit_it_and_the_bound(capsys):
    assert main(["margin", "separable.csv", "--label", "y", "--gap", "1e-3", "--proof", "proof.json"]) == 0
    out = capsys.readouterr().out
    assert out.startswith(MARGIN)
    most = int(re.search(r"the Perceptron makes at most .* = ([0-9]+) updates", out)[1])
    run = linsep.perceptron([[0, 0], [0, 1], [2, 0], [2, 1]], [0, 0, 1, 1])
    assert run.updates <= most
    assert main(["verify", "proof.json", "separable.csv"]) == 0
    assert checker("proof.json", "separable.csv").returncode == 0


def test_the_margin_as_json(capsys):
    assert main(["margin", "separable.csv", "--label", "y", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["margin"]["low"] == printed["margin"]["high"] == 1.0
    assert printed["gamma_squared"] == "1"
    theory = printed["novikoff"]
    assert theory["bound"][1] >= (theory["radius"][0] / theory["gamma"][1]) ** 2


def test_rows_of_floats_limit_the_margin_by_shares(capsys):
    X, y = linsep.datasets.planted(1000, 3, seed=1)
    np.savez("many.npz", X=X, y=y)
    assert main(["margin", "many.npz"]) == 0
    out = capsys.readouterr().out
    assert "margin       Every row is at least 0.1 away from it; no hyperplane keeps all rows farther away" in out
    shares = [float(line.split()[2]) for line in out.split("share\n")[1].splitlines()[1:5]]
    assert sum(shares) == pytest.approx(2.0, abs=2e-3)


def test_a_forged_margin_is_refuted_by_both(capsys):
    main(["margin", "separable.csv", "--label", "y", "--proof", "proof.json"])
    forged = Path("proof.json").read_text().replace('"low": 1.0, "high": 1.0', '"low": 1.5, "high": 1.5')
    Path("proof.json").write_text(seal(forged.partition(',\n "sha256"')[0] + "}"))
    assert main(["verify", "proof.json", "separable.csv"]) == 1
    assert "nearer to the hyperplane" in capsys.readouterr().out
    assert checker("proof.json", "separable.csv").returncode == 1


def test_no_margin_without_separation(monkeypatch, capsys):
    monkeypatch.setattr("linsep.novikoff", None)  # not to be called
    assert main(["margin", "example:xor"]) == 1
    assert capsys.readouterr().out.startswith("overlapping (overlap), 4 rows.\n")


def test_a_bound_that_is_not_certain_in_time_is_left_out(monkeypatch, capsys):
    def late(*rows, **options):
        raise NotSeparableError(Undecided(n_rows=4, n_columns=2, reason="time is up"))

    monkeypatch.setattr("linsep.novikoff", late)
    assert main(["margin", "separable.csv", "--label", "y"]) == 0
    out = capsys.readouterr().out
    assert "margin       Every row is at least 1 away from it" in out
    assert "bound" not in out


@pytest.mark.parametrize("gap", ["0", "-1", "1", "wide"])
def test_a_gap_is_a_number_between_0_and_1(gap, capsys):
    assert main(["margin", "example:xor", "--gap", gap]) == 2
    assert "--gap" in capsys.readouterr().err


def estimates(monkeypatch, coefficients):
    def mle_exists(X, y=None, names=None, *, bias=True, time_limit=None, watch=None):
        assert (tuple(names), bias, time_limit) == (("a", "b"), True, None)
        return replace(found(X, y, names=names), states=tuple(coefficients.items()))

    found = linsep.mle_exists
    monkeypatch.setattr(linsep, "mle_exists", mle_exists)


DIVERGING = """\
             coefficient   estimate
             ──────────────────────────
             (Intercept)   -inf
             a             +inf
             b             undetermined
separated    Rows that some hyperplane has strictly on the right side, with no row on the wrong side:
             row   line
             ──────────
               0      2
               3      6
data         4 rows, 2 columns; numbers read as binary64
"""


def test_coefficients_that_diverge_are_named(monkeypatch, capsys):
    words = {"(Intercept)": "-inf", "a": "+inf", "b": "undetermined"}
    estimates(monkeypatch, words)
    assert main(["mle", "touching.csv", "--label", "y"]) == 1
    assert DIVERGING in capsys.readouterr().out
    assert main(["mle", "touching.csv", "--label", "y", "--json"]) == 1
    printed = json.loads(capsys.readouterr().out)
    assert printed["exists"] is False
    assert printed["coefficients"] == words
    assert printed["separated_rows"] == [0, 3]


def test_an_estimate_that_exists_may_have_aliased_columns(capsys):
    Path("flat.csv").write_text("a,b,y\n0,0,0\n1,2,0\n0,0,1\n1,2,1\n")
    assert main(["mle", "flat.csv", "--label", "y"]) == 0
    assert "aliased      Aliased: b = 2·a." in capsys.readouterr().out


def test_an_estimate_may_be_undecided(capsys):
    X, y = linsep.datasets.planted(2000, 3, seed=1)
    np.savez("many.npz", X=X, y=y)
    assert main(["mle", "many.npz", "--time-limit", "0"]) == 3
    assert capsys.readouterr().out.startswith("Not decided.")


def test_many_coefficients_are_cut_to_those_that_matter(monkeypatch, capsys):
    words = {f"c{j}": "+inf" if j % 2 else "finite" for j in range(100)}
    estimates(monkeypatch, words)
    main(["mle", "separable.csv", "--label", "y"])
    out, err = capsys.readouterr()
    assert out.count(" +inf\n") == 30
    assert "... and 20 more without a finite estimate and 50 more with a finite estimate." in out
    assert "--json lists them all." in err


TRIAL = "weeks,treated,age,event,n\n1,0,5,1,2\n2,1,3,0,3\n3,0,8,1,4\n4,1,2,0,1\n5,0,1,0,2\n6,0,9,1,3\n"
FAMILIES = {
    "cox": ["--label", "event", "--family", "cox", "--time", "weeks", "--offset", "n"],
    "poisson": ["--label", "event", "--family", "poisson", "--columns", "treated,age"],
    "binomial": ["--label", "event", "--trials", "n", "--columns", "treated,age,n"],
}


@pytest.mark.parametrize("family", FAMILIES)
def test_a_family_and_its_columns_are_options(family, capsys):
    Path("trial.csv").write_text(TRIAL)
    assert main(["mle", "trial.csv", *FAMILIES[family], "--json"]) == 1
    printed = json.loads(capsys.readouterr().out)
    assert printed["family"] == family and printed["rows"] == 6 and printed["coefficients"]["treated"] == "-inf"
    assert main(["mle", "trial.csv", *FAMILIES[family]]) == 1
    assert "6 rows, " in capsys.readouterr().out


@pytest.mark.parametrize("coding", ["reference", "all"])
def test_a_category_in_a_file_is_told_as_in_memory(coding, capsys):
    Path("sites.csv").write_text(
        "age,site,died\n1,Bern,no\n2,Bern,yes\n3,Bern,no\n4,Chur,yes\n5,Basel,no\n1,Basel,yes\n"
    )
    assert main(["mle", "sites.csv", "--label", "died", "--categories", coding]) == 1
    assert "The 1 row with site = Chur is 'yes'." in capsys.readouterr().out
    assert main(["mle", "sites.csv", "--label", "died", "--family", "cox", "--time", "age"]) == 2
    assert "sites.csv: row 0: died is 'no': give a number for each row." in capsys.readouterr().err


def test_classes_and_strata_are_options(capsys):
    Path("classes.csv").write_text("x,s,y\n1,1,a\n1,1,b\n0,2,c\n0,2,a\n0,1,b\n")
    assert main(["mle", "classes.csv", "--label", "y", "--family", "multinomial"]) == 1
    assert "Of the 2 rows with x = 1, none is 'c'." in capsys.readouterr().out
    Path("pairs.csv").write_text("x,s,y\n1,1,1\n0,1,0\n0,2,1\n1,2,0\n")
    assert main(["mle", "pairs.csv", "--label", "y", "--family", "conditional", "--strata", "s"]) == 0


def test_firths_estimates_are_shown_beside_the_limits(capsys):
    Path("trial.csv").write_text(TRIAL)
    assert main(["mle", "trial.csv", *FAMILIES["poisson"]]) == 1
    assert "Firth's penalised likelihood (--firth)" in capsys.readouterr().out
    assert main(["mle", "trial.csv", *FAMILIES["poisson"], "--firth"]) == 1
    assert "limit of ML" in capsys.readouterr().out
    main(["mle", "trial.csv", *FAMILIES["poisson"], "--firth", "--json"])
    assert json.loads(capsys.readouterr().out)["firth"]["estimates"][0]["name"] == "(Intercept)"


def test_what_is_known_is_shown_before_why_there_is_no_fit(capsys):
    Path("trial.csv").write_text(TRIAL)
    assert main(["mle", "trial.csv", *FAMILIES["cox"], "--firth"]) == 2
    out, err = capsys.readouterr()
    assert "6 rows, " in out and "-inf" in out
    assert err.startswith("linsep: limits()") and "not for 'cox'" in err  # the option is at fault, not the file
    assert main(["mle", "trial.csv", *FAMILIES["cox"], "--firth", "--json"]) == 2
    out, err = capsys.readouterr()
    assert json.loads(out)["coefficients"]["treated"] == "-inf" and json.loads(err)["code"] == "E-ARGUMENT"


def test_a_family_that_lacks_a_column_is_refused(capsys):
    Path("trial.csv").write_text(TRIAL)
    assert main(["mle", "trial.csv", "--label", "event", "--family", "cox"]) == 2
    assert "needs time=" in capsys.readouterr().err


def test_errors_of_the_library_name_the_file(monkeypatch, capsys):
    def refuse(*rows, **options):
        raise InputError("column 'a' is too wide.")

    monkeypatch.setattr(linsep, "mle_exists", refuse, raising=False)
    assert main(["mle", "separable.csv", "--label", "y"]) == 2
    assert capsys.readouterr().err == "linsep: separable.csv: column 'a' is too wide.\n"


@pytest.mark.parametrize("words", ["-", "- --format csv", "/dev/stdin", "pipe"])
def test_a_proof_is_verified_against_a_pipe(words):
    if words == "pipe":
        os.mkfifo("pipe")
        threading.Thread(
            target=Path("pipe").write_bytes, args=(Path("touching.csv").read_bytes(),), daemon=True
        ).start()
    main(["decide", "touching.csv", "--label", "y", "--proof", "proof.json"])
    command = [sys.executable, "-m", "linsep", "verify", "proof.json", *words.split()]
    environment, text = {**os.environ, "PYTHONPATH": SOURCES}, Path("touching.csv").read_bytes()
    done = subprocess.run(command, env=environment, input=text, capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.startswith(b"VERIFIED: touching (quasi-complete separation): 4 rows of")
    assert b"4, below a header line" in done.stdout
