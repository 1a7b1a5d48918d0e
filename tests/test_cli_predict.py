"""`linsep predict`: models of every kind, rows of every format, batch by batch."""

import gzip
import io
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet
import pytest
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file

import linsep
from linsep import cli
from linsep.cli import main
from linsep.datasets import planted
from linsep.errors import MissingColumnError, ShapeError, SvmlightError
from linsep.models import Model
from linsep.on_files import Predictions

SOURCES = str(Path(cli.__file__).parents[2])
X, Y = planted(300, 3, margin=0.1, seed=2)
LABELS = np.where(Y > 0, "yes", "no")
NAMES = ("height", "weight", "age")


def table(label="kind"):
    return pa.table({**dict(zip(NAMES, X.T, strict=True)), **({label: LABELS} if label else {})})


def frame():
    return polars.DataFrame(dict(zip(NAMES, X.T, strict=True)))


def packed(rows, path):
    text = io.BytesIO()
    pyarrow.csv.write_csv(rows, text)
    path.write_bytes(gzip.compress(text.getvalue()))


FORMATS = {
    "a.csv": pyarrow.csv.write_csv,
    "a.tsv": lambda rows, path: pyarrow.csv.write_csv(rows, path, pyarrow.csv.WriteOptions(delimiter="\t")),
    "a.csv.gz": packed,
    "a.parquet": pyarrow.parquet.write_table,
    "a.feather": pyarrow.feather.write_feather,
}


def halfspace(path):
    pyarrow.csv.write_csv(table(), path / "train.csv")
    assert main(["fit", str(path / "train.csv"), "--label", "kind", "-o", str(path / "m.json")]) == 0


def online(path):
    pyarrow.csv.write_csv(table(), path / "train.csv")
    assert main(["learn", str(path / "train.csv"), "--label", "kind", "-o", str(path / "m.json")]) == 0


def classifier(path):
    linsep.PerceptronClassifier(random_state=0).fit(frame(), LABELS).save(path / "m.json")


MODELS = {"halfspace": halfspace, "online": online, "classifier": classifier}


@pytest.fixture(params=MODELS)
def model(request, tmp_path, capsys):
    """A folder with a model `m.json`."""
    MODELS[request.param](tmp_path)
    capsys.readouterr()
    return tmp_path


def expected(path):
    known = linsep.load(path / "m.json")
    judge = known.halfspace if isinstance(known, Model) else known
    rows = X if isinstance(judge, linsep.Halfspace | linsep.OnlinePerceptron) else frame()
    return [str(label) for label in judge.predict(rows)]


def predicted(capsys, *arguments):
    code = main(["predict", *map(str, arguments)])
    out, err = capsys.readouterr()
    return code, out.splitlines(), err


@pytest.mark.parametrize("memory", ["1MiB", "512MB"])
@pytest.mark.parametrize("name", FORMATS)
def test_every_model_labels_every_format_by_the_names_of_its_columns(model, name, memory, capsys):
    FORMATS[name](table(None).select(["age", "height", "weight"]), model / name)
    assert predicted(capsys, model / "m.json", model / name, "--memory", memory) == (0, expected(model), "")


@pytest.mark.parametrize("kind", ["svm", "npy", "npz", "sparse.npz"])
def test_formats_without_names_are_taken_in_order(model, kind, capsys):
    file = model / f"a.{kind}"
    if kind == "svm":
        dump_svmlight_file(X, Y, str(file), zero_based=False)
    elif kind == "npy":
        np.save(file, X)
    elif kind == "npz":
        np.savez(file, X=X)
    else:
        sp.save_npz(file, sp.csr_array(X))
    code, lines, err = predicted(capsys, model / "m.json", file)
    assert (code, lines) == (0, expected(model))
    assert "no column names: its columns must be in the order of the model's" in err


def test_the_error_is_counted_over_all_files_that_have_labels(model, capsys):
    rows = table()
    pyarrow.csv.write_csv(rows[:100], model / "1.csv")
    pyarrow.parquet.write_table(rows[100:250], model / "2.parquet")
    pyarrow.csv.write_csv(rows[250:].drop_columns(["kind"]), model / "3.csv")
    truth = LABELS[:250].tolist()
    files = [model / name for name in ("1.csv", "2.parquet", "3.csv")]
    code, lines, err = predicted(capsys, model / "m.json", *files)
    assert (code, lines) == (0, expected(model))
    if isinstance(linsep.load(model / "m.json"), linsep.PerceptronClassifier):  # it does not know its label column
        assert "Error" not in err
    else:
        wrong = sum(a != b for a, b in zip(lines[:250], truth, strict=True))
        assert f"({wrong:,} of 250 rows wrong)" in err


def test_a_classifier_is_told_its_label_column(tmp_path, capsys):
    classifier(tmp_path)
    pyarrow.csv.write_csv(table(), tmp_path / "a.csv")
    code, _, err = predicted(capsys, tmp_path / "m.json", tmp_path / "a.csv", "--label", "kind")
    assert code == 0
    assert "of 300 rows wrong" in err


@pytest.mark.parametrize("made", [linsep.KernelPerceptronClassifier(random_state=0), linsep.MaxMarginClassifier()])
def test_classifiers_of_arrays_label_files_without_names(made, tmp_path, capsys):
    fitted = made.fit(X, Y)
    fitted.save(tmp_path / "m.json")
    np.save(tmp_path / "a.npy", np.column_stack([X, Y]))
    code, lines, err = predicted(capsys, tmp_path / "m.json", tmp_path / "a.npy", "--label", -1)
    assert (code, lines) == (0, [str(label) for label in fitted.predict(X)])
    assert "Error: 0 (0 of 300 rows wrong)." in err


def test_three_classes_have_their_highest_score(tmp_path, capsys):
    classes = np.arange(300) % 3
    fitted = linsep.PerceptronClassifier(random_state=0, max_passes=5).fit(X, classes)
    fitted.save(tmp_path / "m.json")
    np.savez(tmp_path / "a.npz", X=X, y=classes)
    code, lines, err = predicted(capsys, tmp_path / "m.json", tmp_path / "a.npz", "--scores")
    scores = fitted.decision_function(X)
    assert (code, lines) == (0, [f"{row.argmax()},{float(row.max())!r}" for row in scores])
    assert f"({(fitted.predict(X) != classes).sum()} of 300 rows wrong)" in err


def test_a_model_of_categories_reads_the_text_that_they_came_from(tmp_path, capsys):
    (tmp_path / "f.csv").write_text("colour,h,y\nred,1,0\nblue,2,1\ngreen,3,1\nred,0,0\n")
    main(["fit", str(tmp_path / "f.csv"), "--label", "y", "--categories", "all", "-o", str(tmp_path / "m.json")])
    capsys.readouterr()
    code, lines, err = predicted(capsys, tmp_path / "m.json", tmp_path / "f.csv")
    assert (code, lines, err) == (0, ["0", "1", "1", "0"], "Error: 0 (0 of 4 rows wrong).\n")
    (tmp_path / "g.csv").write_text("h,colour\n1,red\n5,pink\n")
    assert predicted(capsys, tmp_path / "m.json", tmp_path / "g.csv")[2] == (
        f"linsep: {tmp_path / 'g.csv'}: row 1 (line 3), column 'colour' holds 'pink': "
        "an unknown category. The model knows 'blue', 'green', 'red'.\n"
    )


def test_one_label_against_the_rest_is_counted_so(tmp_path, capsys):
    (tmp_path / "f.csv").write_text("h,y\n1,a\n2,b\n3,c\n")
    main(["fit", str(tmp_path / "f.csv"), "--label", "y", "--positive", "c", "-o", str(tmp_path / "m.json")])
    capsys.readouterr()
    code, lines, err = predicted(capsys, tmp_path / "m.json", tmp_path / "f.csv")
    assert (code, lines) == (0, ["not c", "not c", "c"])
    assert "0 of 3 rows wrong" in err


@pytest.mark.parametrize(
    ("name", "content", "error", "says"),
    [
        ("a.csv", "height,weight\n1,2\n", MissingColumnError, "the model needs the column 'age', which is missing"),
        ("a.svm", "1 1:1 7:2\n", SvmlightError, "column 7, beyond the 3 of the model"),
        ("a.npz", {"X": [[1, 2]]}, ShapeError, "2 columns, but the model has 3 weights"),
    ],
)
def test_rows_that_do_not_fit_the_model_are_errors_with_a_code(model, name, content, error, says, capsys):
    file = model / name
    if isinstance(content, str):
        file.write_text(content)
    else:
        np.savez(file, **content)
    known = linsep.load(model / "m.json")
    with pytest.raises(error, match=says) as caught:
        list(Predictions(known, [str(file)]).labelled())
    assert caught.value.file == str(file)
    assert predicted(capsys, model / "m.json", file)[:2] == (2, [])


def test_a_bad_row_late_in_the_file_leaves_no_output_file(model, capsys):
    pyarrow.csv.write_csv(table(), model / "a.csv")
    with (model / "a.csv").open("a") as file:
        file.write("1,oops,3,no\n")
    out = model / "out.csv"
    code, _, err = predicted(capsys, model / "m.json", model / "a.csv", "-o", out)
    assert code == 2
    assert "row 300 (line 302), column 'weight' holds 'oops'" in err
    assert not out.exists()
    assert not list(model.glob(".out*"))


def test_a_number_that_is_not_finite_is_refused_in_parquet_too(model, capsys):
    pyarrow.parquet.write_table(pa.table({name: [1.0, float("nan")] for name in NAMES}), model / "a.parquet")
    code, lines, err = predicted(capsys, model / "m.json", model / "a.parquet")
    assert (code, lines) == (2, [])
    assert "row 1, column 'height'" in err.replace("X row", "row")


def test_integers_are_scored_without_rounding(tmp_path, capsys):
    (tmp_path / "t.csv").write_text("a,b,y\n3,-3,1\n-3,3,0\n")
    main(["fit", str(tmp_path / "t.csv"), "--label", "y", "--no-bias", "-o", str(tmp_path / "m.json")])
    capsys.readouterr()
    big = 2**53  # 3·(2^53) - 3·(2^53 - 1) is 3; doubles make 4 or 0 of it
    (tmp_path / "new.csv").write_text(f"a,b\n{big},{big - 1}\n{big - 1},{big}\n")
    assert predicted(capsys, tmp_path / "m.json", tmp_path / "new.csv", "--scores")[1] == ["1,3.0", "0,-3.0"]


def test_a_pipe_is_labelled_as_it_is_written(tmp_path, capsys):
    halfspace(tmp_path)
    environment = {**os.environ, "PYTHONPATH": SOURCES}
    command = [sys.executable, "-m", "linsep.cli", "predict", str(tmp_path / "m.json"), "-"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, env=environment, stdin=pipe, stdout=pipe, stderr=pipe, bufsize=0) as process:
        process.stdin.write(b"age,weight,height\n")
        for (height, weight, age), label in zip(X[:3].tolist(), LABELS, strict=False):
            process.stdin.write(f"{age},{weight},{height}\n".encode())
            assert process.stdout.readline().decode().strip() == label  # before the pipe is closed
        out, err = process.communicate(timeout=60)
    assert (out, err, process.returncode) == (b"", b"", 0)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads /proc")
def test_memory_does_not_grow_with_the_rows(tmp_path, capsys):
    halfspace(tmp_path)
    rows = table(None)
    peaks = []
    for times in (200, 2000):
        pyarrow.parquet.write_table(pa.concat_tables([rows] * times), tmp_path / "a.parquet", row_group_size=20_000)
        code = (
            f"import sys, linsep.cli; linsep.cli.main(['predict', {str(tmp_path / 'm.json')!r}, "
            f"{str(tmp_path / 'a.parquet')!r}, '-o', {str(tmp_path / 'out.csv')!r}, '--memory', '64MB']);"
            "print(next(line for line in open('/proc/self/status') if line.startswith('VmHWM')))"
        )
        environment = {**os.environ, "PYTHONPATH": SOURCES}
        run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True)
        peaks.append(int(run.stdout.strip().splitlines()[-1].split()[1]))
    assert (tmp_path / "out.csv").read_text().count("\n") == 600_001
    assert peaks[1] < peaks[0] * 1.2
