"""The stand-alone checker: what it accepts, what it says, and that no input makes it stumble."""

import ast
import io
import json
import os
import random
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from linsep import checker
from linsep.cli import main
from linsep.proofs.proof_json import verdict_from_json
from tests.campaigns.forge import resealed

DOCUMENT = Path(__file__).parents[1] / "docs" / "certificate-format.md"
SOURCE = Path(checker.__file__)
EXAMPLES = re.findall(
    r"^### ([\w-]+)\n.*?```csv\n(.*?)```\n\n```json\n(.*?)```",
    DOCUMENT.read_text("utf-8"),
    re.DOTALL | re.MULTILINE,
)
STATUS = {
    "separable": 0,
    "touching": 0,
    "overlapping": 0,
    "not-separable": 0,
    "undecided": 3,
    "definite": 0,
    "listed": 0,
    "classes": 0,
    "mistakes": 0,
    "bound": 0,
}


@pytest.fixture
def check(tmp_path, capsys):
    """Run the checker on texts; returns its exit status and the line it prints."""

    def run(proof, data, *options):
        paths = tmp_path / "proof.json", tmp_path / "data.csv"
        for path, content in zip(paths, (proof, data), strict=True):
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        status = checker.main([*map(str, paths), *options])
        return status, capsys.readouterr().out

    return run


def proof_of(kind="separable", **changes):
    document = json.loads(next(text for name, _, text in EXAMPLES if name == kind))
    document["data"] |= {k: v for k, v in changes.items() if k in document["data"]}
    document |= {k: v for k, v in changes.items() if k in document}
    return resealed(document)


def point_proof(**changes):
    """One column, x > 1 is positive, two rows."""
    base = {
        "rows": "2",
        "columns": "1",
        "names": None,
        "label_column": None,
        "labels": ["integer:0", "integer:1"],
    }
    separator = {"weights": ["1"], "bias_weight": "-1"}
    return proof_of(**(base | {"separator": separator, "margin": None} | changes))


def test_the_document_has_an_example_of_each_kind():
    assert [name for name, _, _ in EXAMPLES] == list(STATUS)


@pytest.mark.parametrize(("kind", "data", "proof"), EXAMPLES)
def test_the_examples_of_the_document_are_checked(check, kind, data, proof):
    status, line = check(proof, data)
    assert status == STATUS[kind]
    said = {"definite": "overlapping", "listed": "overlapping", "bound": "mistakes"}.get(kind, kind)
    assert line.startswith("UNDECIDED: " if status else f"VERIFIED {said}")


@pytest.mark.parametrize(("kind", "data", "proof"), EXAMPLES)
def test_the_examples_of_the_document_are_what_the_library_writes(kind, data, proof):
    written = {name: text for name, _, text in EXAMPLES}
    assert verdict_from_json(proof).to_json() == (written["definite"] if kind == "listed" else proof)


def test_a_kind_that_a_version_does_not_have_is_refused_by_name(check):
    data, proof = next((data, json.loads(proof)) for kind, data, proof in EXAMPLES if kind == "separable")
    status, said = check(resealed(proof | {"version": "2"}), data)
    assert status == 2 and "a proof of its version cannot have the kind 'separable'" in said


def test_a_question_about_many_classes_may_be_left_open(check):
    data, proof = next((data, json.loads(proof)) for kind, data, proof in EXAMPLES if kind == "classes")
    proof["answers"][1] = {"kind": "undecided", "reason": "time", "margin": {"low": 0.0, "high": None}}
    status, said = check(resealed(proof), data)
    assert status == 0 and said.startswith("VERIFIED classes (pairs: 1 separable, 1 undecided, 1 touching)")


def test_many_classes_of_a_long_file_are_read_again_for_each_question(check, monkeypatch):
    monkeypatch.setattr(checker, "HELD", 0)
    data, proof = next((data, proof) for kind, data, proof in EXAMPLES if kind == "classes")
    assert check(proof, data)[0] == 0


def test_a_positive_definite_proof_of_less_says_nothing_of_other_rows(check):
    data, proof = next((data, json.loads(proof)) for kind, data, proof in EXAMPLES if kind == "definite")
    proof["data"]["rows"] = "6"
    outside = data + "1,1,5,true\n"
    assert check(resealed(proof), outside) == (1, "REFUTED: row 5 is not in the span of the spread\n")
    assert check(resealed(proof | {"kind": "not-separable", "reason": "time"}), outside)[0] == 0


@pytest.mark.parametrize(("fault", "status"), [(OSError(28, "No space left on device"), 2), (BrokenPipeError(), 0)])
def test_an_answer_that_cannot_be_written_is_none_unless_its_reader_left(fault, status, tmp_path, monkeypatch):
    class Stuck(io.StringIO):
        def flush(self):
            raise fault

        def fileno(self):
            return descriptor

    (tmp_path / "proof.json").write_text(EXAMPLES[0][2])
    (tmp_path / "data.csv").write_text(EXAMPLES[0][1])
    descriptor = os.open(tmp_path / "out", os.O_WRONLY | os.O_CREAT)
    with monkeypatch.context() as patched:
        patched.setattr(sys, "stdout", Stuck())
        assert checker.main([str(tmp_path / "proof.json"), str(tmp_path / "data.csv")]) == status
    os.close(descriptor)


def test_an_answer_into_the_rows_is_refused_where_it_can_be_said(tmp_path, monkeypatch, capfd):
    data = tmp_path / "data.csv"
    data.write_text(EXAMPLES[0][1])
    state, real = data.stat(), os.fstat
    monkeypatch.setattr(checker.os, "fstat", lambda stream: state if stream == 1 else real(stream))
    assert checker.main([str(tmp_path / "proof.json"), str(data)]) == 2
    assert capfd.readouterr().err == "BAD INPUT: the output goes into a file that is read\n"


def test_the_checker_is_one_short_file_on_the_standard_library():
    text = SOURCE.read_text("utf-8")
    nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Import | ast.ImportFrom)]
    modules = {(n.module if isinstance(n, ast.ImportFrom) else n.names[0].name).split(".")[0] for n in nodes}
    assert modules <= sys.stdlib_module_names
    assert len(text.splitlines()) <= 750


def test_it_runs_as_a_lone_file_without_the_package(tmp_path):
    _, data, proof = EXAMPLES[0]
    (tmp_path / "proof.json").write_text(proof)
    (tmp_path / "data.csv").write_text(data)
    command = [sys.executable, "-I", str(SOURCE), "proof.json", "data.csv"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("VERIFIED separable")


def test_a_closed_pipe_does_not_change_the_answer(tmp_path):
    _, data, proof = EXAMPLES[0]
    (tmp_path / "proof.json").write_text(proof)
    (tmp_path / "data.csv").write_text(data)
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-I", str(SOURCE), "proof.json", "data.csv"]
    done = subprocess.run(command, cwd=tmp_path, stdout=write, stderr=subprocess.PIPE, check=False)
    os.close(write)
    assert (done.returncode, done.stderr) == (0, b"")


def test_usage_errors_exit_with_2():
    with pytest.raises(SystemExit) as stopped:
        checker.main([])
    assert stopped.value.code == 2


def test_a_refutation_names_the_row(check):
    status, line = check(point_proof(), "2,1\n1,0\n")
    assert (status, line) == (1, "REFUTED: row 1 is not on its side of the hyperplane\n")


def test_a_missing_file_is_bad_input(tmp_path, capsys):
    assert checker.main([str(tmp_path / "none"), str(tmp_path / "none.csv")]) == 2
    assert capsys.readouterr().out.startswith("BAD INPUT: ")


@pytest.mark.parametrize(
    ("data", "options", "status"),
    [
        ("2,1\n0,0\n", (), 0),
        ("x,y\n2,1\n0,0\n", (), 0),
        ("7,y\n2,1\n0,0\n", ("--header",), 0),
        ("7,y\n2,1\n0,0\n", ("--label", "y"), 0),
        ("y,7\n1,2\n0,0\n", ("--label", "y"), 0),
        ("1,2\n0,0\n", ("--label", "0"), 0),
        ("7,y\n2,1\n0,0\n", (), 1),  # the header reads as a row of an unknown label
        ("2,1\n0,0\n", ("--label", "9"), 2),
        ("2,1\n0,0\n", ("--label", "y"), 2),
        ("\ufeff2,1\r\n\r\n0.,0\r\n", (), 0),
        ('"2","1"\n" -1e-3 ","0.0"\n', (), 0),
        ("2,1\n0,0\n0,0\n", (), 1),
        ("2,1\n", (), 1),
        ("2,3,1\n0,3,0\n", (), 1),
        ("2,1\n0\n", (), 2),
        ("2,1\nnan,0\n", (), 2),
        ("2,1\ninf,0\n", (), 2),
        ("2,1\n1e999,0\n", (), 2),
        ("2,1\n1_0,0\n", (), 2),
        ("2,1\n0x1,0\n", (), 2),
        ("2,1\n٠,0\n", (), 2),
        ("2,1\n,0\n", (), 2),
        ("2,1\n0,2\n", (), 1),
        ("2,1\n" + "1" * 700 + ",0\n", (), 2),
        ("", (), 1),
        (b"\xff\xfe\x00", (), 2),
        ('2,1\n"0,0\n', (), 2),
        ("2,1\n\0,0\n", (), 2),
    ],
)
def test_csv_files_are_read_as_documented(check, data, options, status):
    assert check(point_proof(), data, *options)[0] == status


XOR = "2,3,1\n3,2,1\n2,2,0\n3,3,0\n"


def three_of_four(**changes):
    """A true proof of the last three rows of XOR, which names the first as their header."""
    base = {"rows": "3", "names": ["2", "3"], "label_column": "1", "labels": ["integer:0", "integer:1"]}
    separator = {"weights": ["2", "-2"], "bias_weight": "-1"}
    return proof_of(**(base | {"separator": separator, "margin": None} | changes))


def test_a_proof_cannot_turn_the_first_row_into_a_header(check):
    status, line = check(three_of_four(), XOR)
    assert status == 2 and line.endswith("is read as a row: if it is a header, say --header\n")
    assert check(three_of_four(names=None), XOR)[0] == 2
    assert check(three_of_four(names=None, label_column=None), XOR)[0] == 1
    assert check(three_of_four(), XOR, "--header")[1].startswith("VERIFIED separable (complete separation): 3 rows of")


@pytest.mark.parametrize(
    ("first", "options", "has_header"),
    [
        ("x,7", (), True),
        ("7,y", (), False),
        ("7,y", ("--label", "y"), True),
        ("7,y", ("--label", "1"), False),
        ("7,y", ("--label", "-1", "--header"), True),
        ("7,8", ("--label", "8"), None),
        ("7,8", ("--label", "8", "--header"), True),
        ("7,1", ("--label", "1"), False),
        ("8.5,y", (), False),
        ("nan,1", (), False),
        ("NA,1", (), False),
        (",1", (), False),
        ("TRUE,1", (), False),
        ("x,x", (), None),
    ],
)
def test_a_header_is_said_by_the_caller_or_by_the_file(check, first, options, has_header):
    _, line = check(point_proof(), f"{first}\n2,1\n0,0\n", *options)
    assert line.startswith("VERIFIED") == (has_header is True)
    if has_header is not None:
        with_it = point_proof(names=[first.split(",")[0]])
        assert check(with_it, f"{first}\n2,1\n0,0\n", *options)[0] == (0 if has_header else 2)


def test_it_says_what_was_verified(check):
    proof = point_proof(bias=False, separator={"weights": ["1"], "bias_weight": "0"})
    _, text = check(proof, "x,y\n2,1\n-1,0\n")
    first, *rest = text.splitlines()
    assert first.startswith("VERIFIED separable (complete separation) through the origin (no bias): 2 rows of")
    assert first.endswith("label column 'y'")
    assert rest == [
        "labels   1 is the positive class, 0 the negative",
        "rows     2, below a header line",
        "columns  1: 'x'",
        "numbers  read as binary64",
    ]


def test_rows_that_are_said_to_be_left_out_are_not(check):
    assert check(point_proof(rows_left_out="3"), "x,y\n2,1\n0,0\n")[0] == 1


@pytest.mark.parametrize(("value", "code"), [("2", 1), (str(2**53), 1), (str(2**53 + 1), 0), (str(2**53 + 2), 0)])
def test_exact_integers_are_for_integers_beyond_two_to_the_53(check, value, code):
    assert check(point_proof(numbers="exact-integers"), f"x,y\n{value},1\n0,0\n")[0] == code


def test_a_value_that_is_not_finite_is_named_by_its_row_and_column(check):
    assert "row 1, column 0: 'nan' is not a finite number" in check(point_proof(), "x,y\n2,1\nnan,0\n")[1]


def test_the_page_shows_what_it_says(check):
    _, data, proof = EXAMPLES[0]
    told = DOCUMENT.read_text("utf-8").split("--label class\n")[2].split("```")[0]
    assert re.sub(r"'[^']*/data.csv'", "'data.csv'", check(proof, data, "--label", "class")[1]) == told


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--no-bias",), "the proof is with bias: --no-bias disagrees"),
        (("--positive", "no"), "the positive class of the proof is 'yes': --positive 'no' disagrees"),
        (("--numbers", "decimal"), "the proof reads numbers as binary64: --numbers decimal disagrees"),
        (("--label", "x0"), "the label column is 'x0', but in the proof 'class'"),
        (("--label", "0"), "the label column is 'x0', but in the proof 'class'"),
    ],
)
def test_an_option_that_disagrees_with_the_proof_is_bad_input(check, options, says):
    _, data, proof = EXAMPLES[0]
    assert check(proof, data, *options) == (2, f"BAD INPUT: {says}\n")


@pytest.mark.parametrize("options", [("--bias",), ("--positive", "yes"), ("--numbers", "binary64"), ("--label", "-1")])
def test_an_option_that_agrees_with_the_proof_changes_nothing(check, options):
    _, data, proof = EXAMPLES[0]
    assert check(proof, data, *options) == check(proof, data)


def test_json_holds_the_facts(check):
    _, data, proof = EXAMPLES[0]
    said = json.loads(check(proof, data, "--json")[1])
    assert (said["answer"], said["kind"], said["header"]) == ("verified", "separable", True)
    assert said["data"] == json.loads(proof)["data"]
    assert json.loads(check(proof, data + "9,9,no\n", "--json")[1]) == {
        "answer": "refuted",
        "message": "row 4 is not on its side of the hyperplane",
    }


def test_labels_are_compared_with_their_types(check):
    assert check(point_proof(labels=["text:0", "text:1"]), "2,1\n0,0\n")[0] == 0
    assert check(point_proof(labels=["boolean:false", "boolean:true"]), "2,True\n0,FALSE\n")[0] == 0
    assert check(point_proof(labels=["boolean:false", "boolean:true"]), "2,1\n0,0\n")[0] == 1
    assert check(point_proof(), "2,true\n0,false\n")[0] == 1


@pytest.mark.parametrize("word", ["", " ", "NA", "nan", "null"])
def test_a_missing_label_is_no_class(check, word):
    status, line = check(point_proof(labels=["integer:0", f"text:{word}"]), f"x,y\n2,{word}\n0,0\n")
    assert (status, line) == (2, "BAD INPUT: a missing label is not a class\n")
    assert check(point_proof(), f"x,y\n2,{word}\n0,0\n")[0] == 1


def test_booleans_are_numbers_and_vanishing_numbers_are_not(check):
    assert check(point_proof(separator={"weights": ["2"], "bias_weight": "-1"}), "TRUE,1\nfalse,0\n")[0] == 0
    assert check(point_proof(), "2,1\n0e-999,0\n")[0] == 0
    assert check(point_proof(), "2,1\n1e-400,0\n")[0] == 2


HOSTILE = {
    "a long label": point_proof(labels=["integer:0", "integer:0x" + "f" * 2**20]),
    "two long labels": point_proof(labels=["integer:0x" + "e" * 2**20, "integer:0x" + "f" * 2**20]),
    "a long weight": point_proof(separator={"weights": ["0x" + "f" * 2**20], "bias_weight": "-0x" + "f" * 2**20}),
    "a longer weight": point_proof(separator={"weights": ["0x" + "f" * (2**20 + 1)], "bias_weight": "0"}),
    "many digits": point_proof(separator={"weights": ["9" * 10**6], "bias_weight": "0"}),
    "a label beyond all doubles": point_proof(labels=["integer:0", "number:1e9999"]),
    "a long exponent": point_proof(labels=["integer:0", "number:1e999999999999"]),
    "a margin beyond all doubles": point_proof().replace('"margin": null', '"margin": {"low": 1e999999999}'),
    "deep lists": '{"kind": "separable", "data": ' + "[" * 10**6,
    "deep objects": '{"kind": "separable", "data": ' + '{"a":' * 10**6,
    "a long number": '{"kind": "separable", "data": ' + "9" * 10**7 + "}",
    "a long text": point_proof(labels=["integer:0", "text:" + "x" * 10**7]),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_proof_is_refused_at_once_by_both(check, tmp_path, capsys, name):
    started = time.perf_counter()
    status, _ = check(HOSTILE[name], "x,y\n2,1\n2,0\n")
    other = main(["verify", str(tmp_path / "proof.json"), str(tmp_path / "data.csv")])
    assert status in (1, 2) and other in (1, 2)
    assert time.perf_counter() - started < 20
    assert max(map(len, "".join(capsys.readouterr()).splitlines()), default=0) < 1000


@pytest.mark.parametrize("number", ["1e999999999", "1e-999999999", "9" * 10**5, "9" * 601])
def test_a_hostile_number_is_bad_input_to_the_checker(check, number):
    for numbers in ("binary64", "exact-integers", "decimal"):
        assert check(point_proof(numbers=numbers), f"2,1\n{number},0\n")[0] == 2


@pytest.mark.parametrize("label", ["0e99999999999999999999", "0E-99999999999999999999"])
def test_a_label_with_an_exponent_beyond_all_bounds_is_no_label_of_the_proof(check, label):
    assert check(point_proof(), f"2,1\n1,{label}\n")[0] == 1


@pytest.mark.parametrize(("numbers", "status"), [("binary64", 0), ("decimal", 2)])
def test_a_number_may_have_any_length_but_not_more_decimals_than_are_exact(check, numbers, status):
    assert check(point_proof(numbers=numbers), f"2,1\n0.{'1' * 10**5},0\n")[0] == status


def test_names_in_the_proof_must_be_the_names_in_the_header(check):
    proof = point_proof(names=["x"])
    assert check(proof, "x,y\n2,1\n0,0\n")[0] == 0
    assert check(proof, "z,y\n2,1\n0,0\n")[0] == 2


def test_an_integer_that_binary64_would_round_is_refused_unless_kept_exact(check):
    data = f"{2**53 + 1},1\n{2**53},0\n"
    separator = {"weights": ["2"], "bias_weight": str(-(2**54) - 1)}
    assert check(point_proof(separator=separator), data)[0] == 2
    assert check(point_proof(separator=separator, numbers="exact-integers"), data)[0] == 0
    assert check(point_proof(separator=separator, numbers="exact-integers"), data.replace("3,1", "2,1"))[0] == 1


def test_subnormal_numbers_and_the_largest_double_are_exact(check):
    separator = {"weights": ["1"], "bias_weight": "0"}
    assert check(point_proof(separator=separator), "5e-324,1\n-5e-324,0\n")[0] == 0
    assert check(point_proof(separator=separator), "5e-324,1\n0.0,0\n")[0] == 1
    assert check(point_proof(separator=separator), "1.7976931348623157e308,1\n-1.7976931348623157e308,0\n")[0] == 0


def test_a_decimal_stands_for_its_nearest_double(check):
    tenth = (0.1).as_integer_ratio()
    at_tenth = {"weights": [str(tenth[1])], "bias_weight": str(-tenth[0])}
    assert check(point_proof(separator=at_tenth), "0.1,1\n0,0\n")[0] == 1
    assert check(point_proof(separator=at_tenth), "0.10000000000000002,1\n0,0\n")[0] == 0


def test_the_span_is_checked_when_the_spread_has_smaller_rank(check):
    two = {"rows": ["0", "1"], "weights": ["1", "1"]}
    proof = proof_of("overlapping", rows="3", columns="1", obstruction=two, spread=two)
    status, line = check(proof, "1,true\n1,false\n2,true\n")
    assert (status, line) == (1, "REFUTED: row 2 is not in the span of the spread\n")
    assert check(proof, "1,true\n1,false\n1,true\n")[0] == 0


def test_a_weak_separator_must_separate_something(check):
    nothing = {"weights": ["0"], "bias_weight": "0"}
    proof = proof_of("touching", separator=nothing, separated_rows=None, spread=None)
    assert check(proof, EXAMPLES[1][1]) == (1, "REFUTED: every row lies on the hyperplane\n")


def test_a_count_beyond_all_memory_is_refuted_and_not_allocated(check):
    proof = proof_of("overlapping", columns=str(10**17))
    assert check(proof, EXAMPLES[2][1])[0] == 1


def test_elimination_finds_every_null_vector():
    rng = random.Random(1)
    for _ in range(200):
        height, width = rng.randint(1, 5), rng.randint(1, 5)
        matrix = [[rng.choice([0, 0, 1, -1, 2, 10**20]) for _ in range(width)] for _ in range(height)]
        basis = checker.null_vectors([list(row) for row in matrix])
        assert all(checker.dot(row, v) == 0 for row in matrix for v in basis)
        assert len(basis) == width - fraction_rank(matrix) and fraction_rank(basis) == len(basis)


def fraction_rank(matrix):
    from fractions import Fraction

    from tests.campaigns.forge import rank

    return rank([[Fraction(v) for v in row] for row in matrix])


def test_no_bytes_make_it_stumble(check):
    rng = random.Random(2)
    _, data, proof = EXAMPLES[1]
    for _ in range(300):
        files = [bytearray(proof.encode()), bytearray(data.encode())]
        for file in files:
            for _ in range(rng.choice([0, 1, 3])):
                spot = rng.randrange(len(file))
                file[spot : spot + rng.choice([0, 1, 5])] = rng.randbytes(rng.choice([0, 1, 2]))
        status, line = check(bytes(files[0]), bytes(files[1]))
        assert status in (0, 1, 2, 3) and line.count("\n") == (1 if status else 5)


@pytest.mark.parametrize(
    "proof",
    [
        b"",
        b"[]",
        b"null",
        b"{}",
        b"[" * 10**5,
        b'{"kind": []}',
        b'{"kind": "separable"}',
        b"1",
        b"\xff",
        b"NaN",
    ],
)
def test_what_is_no_proof_is_bad_input(check, proof):
    assert check(proof, "1,1\n")[0] == 2
