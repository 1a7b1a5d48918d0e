"""The theorems and the Python say the same: kinds, versions, constants and names of checks. Needs no Coq.

The tests at the end run where `make checker` has built the extracted checker, and compare it with the other two.
"""

import ast
import importlib.util
import io
import json
import math
import os
import re
import subprocess
from contextlib import redirect_stdout
from pathlib import Path

import pytest

from linsep import checker
from linsep.cli import main
from linsep.learners import perceptron
from linsep.proofs import eigenvalues, packings
from tests.campaigns import many_forgeries
from tests.campaigns.three_checkers import compare
from tests.extracted import PROGRAM, Extracted
from tests.test_checker import EXAMPLES, point_proof, proof_of

THEOREMS = Path(__file__).parents[1] / "theorems"
SHELL = "".join(path.read_text("utf-8") for path in (THEOREMS / "checker").glob("*.ml"))
SOURCES = {path.stem: path.read_text("utf-8") for path in THEOREMS.glob("*.v")}
STATED = (
    *("Separator", "Obstruction", "Spread", "PositiveDefinite", "Mistakes", "Margin"),
    *("Novikoff", "Homogeneous", "Doubles", "Classes"),
)


def build():
    """The script behind `make theorems`."""
    spec = importlib.util.spec_from_file_location("build_theorems", THEOREMS / "build.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def constant(name):
    """The number that one of the files defines by this name."""
    pattern = re.compile(rf"^Definition {name} : Z := (\d+)\.", re.MULTILINE)
    (found,) = [value for text in SOURCES.values() for value in pattern.findall(text)]
    return int(found)


@pytest.mark.parametrize("name", STATED)
def test_each_file_opens_with_its_statement_in_words(name):
    opening = SOURCES[name].split("*)")[0]
    assert opening.startswith("(** ") and len(opening.split()) > 25


def test_nothing_is_left_unproved():
    script = build()
    assert not any(script.LEFT_OPEN.search(script.without_comments(text)) for text in SOURCES.values())
    assert {*script.FILES, "Extraction", "Assumptions"} == set(SOURCES)


@pytest.mark.parametrize(
    "gap", ["Admitted.", "Axiom x : False.", "Parameter p : nat.", "admit.", "Conjecture c : 1 = 2."]
)
def test_a_gap_would_be_found(gap):
    script = build()
    assert script.LEFT_OPEN.search(script.without_comments(f"(* an (* Axiom *) note *) {gap}"))
    assert not script.LEFT_OPEN.search(script.without_comments(f"(* an (* Axiom *) note {gap} *) Qed."))


def test_the_assumptions_of_every_main_theorem_are_printed():
    named = re.findall(r"^Print Assumptions (\w+)\.", SOURCES["Assumptions"], re.MULTILINE)
    stated = {name for text in SOURCES.values() for name in re.findall(r"^Theorem (\w+)", text, re.MULTILINE)}
    assert set(named) <= stated and "check_sound" in named and len(named) > 20
    readme = (THEOREMS / "README.md").read_text("utf-8")
    assert set(re.findall(r"^\| `\w+\.v` \| `(\w+)`", readme, re.MULTILINE)) <= set(named)


def test_the_constants_are_the_same():
    assert constant("fine") == checker.FINE == eigenvalues.FINE
    assert constant("units_of_a_cost") == checker.UNITS == packings.UNITS
    assert str(2**61 - 1) in SOURCES["Spread"]  # any prime would do: a full rank modulo it is a full rank
    assert checker.TENS == 10**38 and "let tens = Z.pow (Z.of_int 10) 38" in SHELL
    assert (constant("fractions"), constant("exponents"), constant("sign_bit")) == (2**52, 2**11, 2**63)
    assert (
        "let fine = 56" in SHELL
        and "least / 100" in SOURCES["PositiveDefinite"]
        and "* Z.of_nat m) 49" in SOURCES["PositiveDefinite"]
    )


def test_the_shell_reads_every_kind_of_every_version():
    arms = set(re.findall(r'^  \| "?([\d_])"?, "([\w-]+)" ->', SHELL, re.MULTILINE))
    later = {(version, kind) for version, claims in checker.LATER.items() for kind in claims}
    assert {("_", kind) for kind in checker.CLAIMS} | later <= arms
    versions = "; ".join(f'"{version}"' for version in checker.FRAME["version"].split("|"))
    assert f"one_of [ {versions} ]" in SHELL


def test_every_field_of_a_proof_has_a_form_in_the_shell():
    forms = [checker.FRAME, checker.DATA, checker.EFFORT, checker.ROWS, checker.LEAF, checker.BOUND]
    forms += [*checker.CLAIMS.values(), *(form for claims in checker.LATER.values() for form in claims.values())]
    assert all(f'"{name}"' in SHELL for form in forms for name in form)


def complaints():
    """The words of checker.py for all that may be wrong, in pieces between what they insert."""
    for node in ast.walk(ast.parse(Path(checker.__file__).read_text("utf-8"))):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "need":
            parts = [part.value for part in ast.walk(node.args[1]) if isinstance(part, ast.Constant)]
            yield from (part.strip() for part in parts if isinstance(part, str) and len(part) > 8)


def test_the_shell_has_the_words_of_the_checker():
    found = list(complaints())
    assert len(found) > 50
    flat = " ".join(SHELL.split()).replace("%s", "").replace("%d", "")
    unsaid = [
        part
        for part in found
        if not all(word in flat for word in re.split(r"[():,'%]+ ?| {2,}", part) if len(word) > 6)
    ]
    assert not unsaid


def test_every_complaint_of_the_verified_part_has_words():
    body = SOURCES["Tables"].split("Inductive complaint :=")[1].split(".\n")[0]
    names = re.findall(r"\| (\w+)", body)
    assert len(names) > 25
    assert all(re.search(rf"^  \| {name}( i)? -> ", SHELL, re.MULTILINE) for name in names)


def test_missing_labels_are_the_same():
    listed = SHELL.split("let missing =")[1].split("]")[0]
    assert set(re.findall(r'"([^"]*)"', listed)) == checker.MISSING


def test_the_rule_is_the_one_of_the_perceptron():
    assert "While some row has y·(w·x + b) <= 0:  w += y·x,  b += y." in perceptron.__doc__
    step = "y * (dot w x + b) <= m -> run (S k) (add w (scale y x)) (b + y * bias)"
    assert step in SOURCES["Novikoff"] and "| start : run 0 (repeat 0 d) 0" in SOURCES["Novikoff"]


def test_verified_is_printed_by_the_verified_function_alone():
    assert SHELL.count("Verified.check Hints") == SHELL.count("Verified.check_classes Hints") == 1
    assert SHELL.count("facts proof layout)") == 1  # status 0 is returned there, and after `check` only


# The extracted checker, where it is built.


def test_a_theorem_that_changed_is_compiled_before_the_checker_is_extracted(monkeypatch, tmp_path):
    script = build()
    monkeypatch.setattr(script, "HERE", tmp_path)
    for age, ending in enumerate(("v", "vo"), start=1):
        for name in script.FILES:
            path = tmp_path / f"{name}.{ending}"
            path.touch()
            os.utime(path, (age, age))
    assert script.is_compiled()
    os.utime(tmp_path / f"{script.FILES[0]}.v", (3, 3))
    assert not script.is_compiled()
    (tmp_path / f"{script.FILES[0]}.vo").unlink()
    assert not script.is_compiled()


needs_program = pytest.mark.skipif(not PROGRAM.exists(), reason="`make checker` builds it, with Coq and OCaml")


@pytest.fixture
def both(tmp_path):
    """What the stand-alone checker and the extracted one print, and their exit status."""

    def run(proof, data, *options):
        paths = tmp_path / "proof.json", tmp_path / "data.csv"
        for path, content in zip(paths, (proof, data), strict=True):
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        said = io.StringIO()
        with redirect_stdout(said):
            status = checker.main([*map(str, paths), *options])
        done = subprocess.run([PROGRAM, *paths, *options], capture_output=True, text=True)
        return (status, said.getvalue()), (done.returncode, done.stdout)

    return run


@needs_program
@pytest.mark.parametrize("form", [(), ("--json",)])
@pytest.mark.parametrize(("kind", "data", "proof"), EXAMPLES)
def test_the_examples_of_the_document_get_the_same_answer(both, kind, data, proof, form):
    alone, extracted = both(proof, data, *form)
    assert alone == extracted


@needs_program
@pytest.mark.parametrize(("kind", "data", "proof"), EXAMPLES[:4])
def test_linsep_verify_says_the_same(kind, data, proof, tmp_path, capsys):
    names = ",".join([*(f"x{j}" for j in range(data.split("\n")[0].count(","))), "class"])
    data = data if data.startswith("x0") else f"{names}\n{data}"
    for name, content in (("proof.json", proof), ("data.csv", data)):
        (tmp_path / name).write_text(content)
    words = [str(tmp_path / "proof.json"), str(tmp_path / "data.csv"), "--json"]
    status = main(["verify", *words])
    done = subprocess.run([PROGRAM, *words], capture_output=True, text=True)
    said, told = json.loads(capsys.readouterr().out), json.loads(done.stdout)
    assert status == done.returncode == 0
    assert said | {"message": ""} == told | {"message": ""}


CELLS = [
    *(
        "1",
        "+1",
        "-0",
        "1.",
        ".5",
        "1e3",
        "1E-2",
        "007",
        "true",
        "FALSE",
        "0x1",
        "1_0",
        "nan",
        "inf",
        "1e400",
        "1e-400",
    ),
    *(
        "9007199254740993",
        "9007199254740992",
        "0e9999999999",
        "1e99999999999",
        "٣",
        "5e-324",
        "2.5e-324",
        "0.1",
        "-.5e1",
    ),
    *(
        "1.7976931348623157e308",
        "1e",
        "e1",
        ".",
        "+",
        "--1",
        " 2\t",
        "",
        " ",
        "1 2",
        '"1"',
        '"1""2"',
        '"1"2',
        "1" * 400,
        f"0.{'0' * 37}1",
        f"0.{'0' * 38}1",
    ),
]


@needs_program
@pytest.mark.parametrize("numbers", ["binary64", "exact-integers", "decimal"])
@pytest.mark.parametrize("cell", CELLS)
def test_a_cell_is_read_alike(both, cell, numbers):
    proof = point_proof(numbers=numbers)
    for data in (f"0,0\n{cell},1\n", f"x,y\n0,0\n{cell},1\n", f"0,0\n3,{cell}\n", f"{cell},0\n2,1\n"):
        alone, extracted = both(proof, data)
        assert alone[0] == extracted[0], (alone, extracted)
        assert alone[0] == 2 or alone == extracted


LINES = [
    *(b"0,0\r\n2,1\r\n", b"0,0\r2,1\r", b"\n\n0,0\n\n2,1\n\n", b"\xef\xbb\xbf0,0\n2,1\n", b"0,0\n2,1"),
    *(b'"0",0\n"2","1"\n', b'0,0\n"2\n",1\n', b'0,0\n"2,1\n', b"0,0\n2,1\xff\n", b"\xff", b"", b"\n", b"0\n"),
    *(b"0,0,0\n2,1,1\n", b"0,0\n2\n", b'0,0\n2,"1" \n', b"0,0\r\r\n2,1\n", b"0,0\n2,1\n3", b",0\n2,1\n", b"0,0\n2,\n"),
    *(b"0,0\n2,1\n2,1\n", b"0,0\n\x00,1\n", b"y,x\n0,0\n1,2\n"),
]


@needs_program
@pytest.mark.parametrize(
    "options", [(), ("--label", "0"), ("--header",), ("--label", "y"), ("--label=-1",), ("--label", "5")]
)
@pytest.mark.parametrize("data", LINES)
def test_lines_are_read_alike(both, data, options):
    alone, extracted = both(point_proof(), data, *options)
    assert alone[0] == extracted[0], (alone, extracted)
    assert alone[0] == 2 or alone == extracted


ONE = {"rows": ["0"], "weights": ["1"]}
MARGIN = {"low": 1.0, "high": 1.0, "nearest": {"rows": ["0", "2"], "weights": ["1", "1"]}}
UNFIT = [
    *(
        ("separable", {"margin": MARGIN | {"low": low}})
        for low in (-1.0, float("inf"), float("nan"), 1, "1", None, True)
    ),
    ("separable", {"margin": MARGIN, "numbers": "decimal"}),
    ("separable", {"margin": MARGIN | {"nearest": None}}),
    ("separable", {"margin": MARGIN | {"high": None}}),
    ("separable", {"margin": MARGIN | {"nearest": {"rows": [], "weights": []}}}),
    ("separable", {"margin": MARGIN | {"nearest": {"rows": ["0", "0"], "weights": ["1", "1"]}}}),
    ("separable", {"margin": MARGIN | {"nearest": {"rows": ["0", "2"], "weights": ["1"]}}}),
    ("separable", {"margin": MARGIN | {"nearest": {"rows": ["0", "2"], "weights": ["1", "0"]}}}),
    ("separable", {"margin": MARGIN, "separator": {"weights": ["0", "0"], "bias_weight": "1"}}),
    ("separable", {"separator": {"weights": ["1"], "bias_weight": "-1"}}),
    ("separable", {"bias": False}),
    ("separable", {"effort": {"reads": "1", "seconds": -1.0}}),
    ("separable", {"labels": ["number:-1e999", "text:yes"]}),
    ("separable", {"labels": ["text:no"]}),
    ("separable", {"names": ["x0"]}),
    ("touching", {"separated_rows": None}),
    ("touching", {"spread": None}),
    ("overlapping", {"obstruction": {"rows": [], "weights": []}}),
    ("overlapping", {"spread": {"rows": ["0"], "weights": ["-1"]}}),
    ("definite", {"numbers": "decimal"}),
    ("separable", {"labels": ["text:no", "text:yes", "text:maybe"]}),
    ("classes", {"labels": ["text:a"], "sizes": ["5"]}),
    ("classes", {"labels": ["text:a", "text:b", "text:a"]}),
    ("classes", {"labels": ["text:a", "text:b", "text:1", "integer:1"]}),
    ("classes", {"sizes": ["1", "4"]}),
    ("classes", {"answers": []}),
    ("classes", {"by": "joint"}),
    ("bound", {"definite_obstructions": []}),
    ("bound", {"numbers": "decimal"}),
    ("bound", {"version": "4"}),
    ("bound", {"copies": [["0", "0"]]}),
    ("bound", {"unit": "1/2"}),
    ("mistakes", {"unit": "3/3", "costs": ["1", "1", "1", "1"]}),
    ("mistakes", {"numbers": "decimal"}),
    ("mistakes", {"version": "5"}),
    ("mistakes", {"costs": ["1"]}),
    ("classes", {"by": "all"}),
    ("classes", {"answers": [{"kind": "mistakes"}] * 3}),
    (
        "classes",
        {"answers": [{"kind": "separable", "separator": {"weights": ["1"], "bias_weight": "0"}, "margin": None}] * 3},
    ),
]


@needs_program
@pytest.mark.parametrize(("kind", "changes"), UNFIT)
def test_parts_that_do_not_fit_together_are_refused_alike(both, kind, changes):
    data = next(data for name, data, _ in EXAMPLES if name == kind)
    alone, extracted = both(proof_of(kind, **changes), data)
    assert alone[0] == extracted[0] == 2
    assert alone == extracted or "malformed" in alone[1] or "cannot be read" in alone[1]


DISAGREE = [("--no-bias",), ("--bias",), ("--numbers", "decimal"), ("--positive", "no"), ("--numbers", "binary64")]


@needs_program
@pytest.mark.parametrize("options", DISAGREE)
def test_an_option_that_disagrees_is_refused_alike(both, options):
    for kind in ("separable", "classes"):
        data = next(data for name, data, _ in EXAMPLES if name == kind)
        alone, extracted = both(proof_of(kind), data, *options)
        assert alone == extracted


OPEN = [{"kind": "undecided", "reason": "time", "margin": {"low": 0.0, "high": None}}] * 3
TWO = json.loads(next(proof for kind, _, proof in EXAMPLES if kind == "classes"))["answers"][2]
XOR = "0,0,{0},false\n1,1,{1},false\n0,1,{2},true\n1,0,{3},true\n"
CLAIMED = [
    ("separable", {"margin": MARGIN | {"low": math.nextafter(1.0, 2.0)}}, None, 1),
    ("separable", {"margin": MARGIN | {"high": math.nextafter(1.0, 0.0)}}, None, 1),
    ("separable", {"margin": MARGIN | {"low": 0.5, "high": 1.5}}, None, 0),
    ("separable", {"margin": MARGIN | {"nearest": {"rows": ["0", "1"], "weights": ["1", "1"]}}}, None, 1),
    ("separable", {"margin": MARGIN | {"nearest": {"rows": ["0", "3"], "weights": ["1", "1"]}}}, None, 1),
    ("separable", {"margin": MARGIN | {"nearest": {"rows": ["0", "1", "2"], "weights": ["3", "1", "2"]}}}, None, 1),
    ("separable", {"margin": MARGIN | {"nearest": {"rows": ["0", "9"], "weights": ["1", "1"]}}}, None, 1),
    ("separable", {"rows_left_out": "1"}, None, 1),
    ("touching", {"separated_rows": ["0"]}, None, 1),
    ("touching", {"separated_rows": ["3", "0"]}, None, 0),
    ("overlapping", {"columns": "3", "rows": "4"}, XOR.format(0, 0, 0, 0), 0),
    ("overlapping", {"columns": "3", "rows": "5"}, XOR.format(0, 0, 0, 0) + "0,0,1,true\n", 1),
    ("overlapping", {"columns": "3", "rows": "5"}, XOR.format(0, 2, 1, 1) + "3,5,8,true\n", 0),
    ("overlapping", {"columns": "3", "rows": "5"}, XOR.format(0, 2, 1, 1) + "3,5,9,true\n", 1),
    ("overlapping", {"columns": "3", "rows": "5"}, XOR.format(1, 0, 0, 1) + "3,5,-2,true\n", 1),
    ("bound", {"least": "2"}, None, 1),
    ("bound", {"mistaken_rows": []}, None, 1),
    ("mistakes", {"least": "2"}, None, 1),
    ("classes", {"by": "rest"}, None, 1),
    ("classes", {"sizes": ["2", "1", "2"]}, None, 1),
    ("classes", {"answers": [*OPEN[:2], TWO]}, None, 0),  # two of three left open
    ("classes", {"answers": [*OPEN[:2], TWO | {"separator": {"weights": ["-1", "0"], "bias_weight": "1"}}]}, None, 1),
    ("classes", {"answers": OPEN}, None, 3),
]  # of exact margins, of spreads with fewer dimensions than columns, and of nearly these


@needs_program
def test_without_columns_and_bias_nothing_is_separable(both):
    nothing = point_proof(columns="0", bias=False, separator={"weights": [], "bias_weight": "0"})
    alone, extracted = both(nothing, "0\n1\n")
    assert alone == extracted == (1, "REFUTED: row 0 is not on its side of the hyperplane\n")


@needs_program
@pytest.mark.parametrize(("kind", "changes", "data", "status"), CLAIMED)
def test_claims_that_are_nearly_true_get_the_same_answer(both, kind, changes, data, status):
    data = data or next(data for name, data, _ in EXAMPLES if name == kind)
    alone, extracted = both(proof_of(kind, **changes), data)
    assert alone == extracted
    assert alone[0] == status


LABELS = [
    *(
        "text:0",
        "text:00",
        "text:1.0",
        "text: 1",
        "text:NA",
        "text:true",
        "text:é",
        "text:",
        "text:a:b",
        "integer:1",
        "integer:0x1",
    ),
    *("number:1.0", "number:0.1", "number:1e999", "number:-0", "integer:-1", "boolean:true", "boolean:false"),
]


@needs_program
@pytest.mark.parametrize("first", LABELS)
def test_labels_are_told_apart_alike(first, tmp_path):
    """All pairs of them, against cells that look alike."""
    rows = "".join(
        f"{k % 3},{cell}\n" for k, cell in enumerate(["0", "1", "1.0", "true", " 1", "é", "00", "0.1", "-1", "a:b"])
    )
    (tmp_path / "data.csv").write_text(rows)
    with Extracted() as extracted:
        for second in LABELS:
            (tmp_path / "proof.json").write_text(point_proof(labels=[first, second], rows="10"))
            words = [str(tmp_path / "proof.json"), str(tmp_path / "data.csv")]
            said = io.StringIO()
            with redirect_stdout(said):
                status = checker.main(words)
            other, text = extracted.ask(words)
            assert status == other and (status == 2 or said.getvalue() == text + "\n"), (second, said.getvalue(), text)


@needs_program
@pytest.mark.campaign
@pytest.mark.parametrize("seed", [0, 1])
def test_three_checkers_agree_on_proofs_and_forgeries_of_every_kind(seed, tmp_path):
    bench = compare(500, seed, tmp_path)
    assert not bench.faults
    assert {campaign for campaign, verdict in bench.asked if verdict == "verified"} == {
        "small tables", "other files", "positive definite", "mistakes", "many classes",
    }  # fmt: skip


@needs_program
def test_forgeries_by_the_hundred_get_three_times_the_same_answer(tmp_path):
    found = many_forgeries.flood(500, 3, 60, tmp_path)
    assert not found.faults
    assert {version for version, _ in found.seen} >= {"1", "2", "4", "6"}
