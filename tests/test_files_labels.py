"""Labels, columns, categories, rows set aside, sparse text and standard input."""

import datetime
import io
import json
import re
import types
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp
from pyarrow import csv, feather, parquet

import linsep
from linsep.errors import (
    ArgumentError,
    ColumnTypeError,
    ManyClassesError,
    MissingColumnError,
    NotNumericError,
    OneClassError,
    SvmlightError,
)
from linsep.sources import files
from linsep.sources.files.csv_records import MISSING
from test_files_formats import proof

pytestmark = pytest.mark.usefixtures("streamed")

FLOWERS = "width,height,colour,kind\n1,2,red,a\n2,1,blue,b\n3,5,red,c\n4,4,green,a\n"


@pytest.fixture
def flowers(tmp_path):
    path = tmp_path / "flowers.csv"
    path.write_text(FLOWERS)
    return path


def opened(tmp_path, text, **options):
    path = tmp_path / "a.csv"
    path.write_text(text)
    return linsep.open(path, **{"label": "y", **options})


@pytest.mark.parametrize(
    ("labels", "expected"),
    [("0 1", (0, 1)), ("-1 +1", (-1, 1)), ("1.0 2.0", (1, 2)), ("0.5 1", (0.5, 1.0)), ("no yes", ("no", "yes"))],
)
def test_labels_are_numbers_where_all_are(labels, expected, tmp_path):
    first, second = labels.split()
    source = opened(tmp_path, f"x,y\n1,{first}\n2,{second}\n3,{first}\n")
    assert source.facts.labels == expected
    assert next(source.blocks()).y.tolist() == [-1, 1, -1]


def test_one_value_is_pitted_against_the_rest(flowers):
    source = linsep.open(flowers, label="kind", columns=["width", "height"], positive="a")
    assert source.facts.labels == ("not a", "a")
    assert next(source.blocks()).y.tolist() == [1, -1, -1, 1]


def test_three_labels_are_refused_with_the_way_out(flowers):
    source = linsep.open(flowers, label="kind", columns=["width"])
    assert source.facts.labels == ("a", "b", "c")
    with pytest.raises(ManyClassesError, match="positive='c'"):
        linsep.decide(source)


def test_a_positive_value_that_no_row_has_is_refused(flowers):
    with pytest.raises(ArgumentError, match=r"no label is 'z'\. The labels are 'a', 'b', 'c'"):
        linsep.open(flowers, label="kind", columns=["width"], positive="z")


def test_one_label_is_refused_by_a_question_about_two_classes(tmp_path):
    source = opened(tmp_path, "x,y\n1,a\n2,a\n")
    for question in (linsep.decide, linsep.decide_classes, linsep.clean, linsep.perceptron, linsep.mle_exists):
        with pytest.raises(OneClassError, match=r"a\.csv: column 'y': there is only one class: every label is 'a'"):
            question(source)
    with pytest.raises(OneClassError):
        opened(tmp_path, "x,y\n1,a\n2,a\n", positive="a")


def test_one_label_is_enough_for_events_counts_and_regions_and_to_learn_from_or_to_score_as_one_of_several(tmp_path):
    source = opened(tmp_path, "x,t,y\n1,3,1\n2,1,1\n3,2,1\n")
    X, y = [[1, 3], [2, 1], [3, 2]], [1, 1, 1]
    for options in ({"family": "poisson"}, {"family": "cox", "time": "t"}):
        beside = {**options, "time": [3, 1, 2]} if "time" in options else options
        rows = [[x] for x, _ in X] if "time" in options else X
        report = linsep.mle_exists(source, **options)
        assert report.exists == linsep.mle_exists(rows, y, **beside).exists
        report.verify(source, time=options.get("time"))
    assert linsep.separate_regions(source).cuts == ()
    stream = linsep.PerceptronClassifier(order="cyclic").partial_fit(source, classes=[0, 1])
    same = linsep.PerceptronClassifier(order="cyclic").partial_fit(np.array(X, float), y, classes=[0, 1])
    assert (stream.coef_ == same.coef_).all() and stream.score(source) == same.score(X, y)
    with pytest.raises(OneClassError):
        linsep.PerceptronClassifier().fit(source)


def test_columns_come_in_the_order_asked_for_by_name_or_position(flowers):
    source = linsep.open(flowers, label=-1, columns=["height", 0], positive="a")
    assert source.facts.names == ("height", "width")
    assert source.take([0]).values.tolist() == [[2.0, 1.0]]


def test_text_columns_become_one_column_for_each_category(flowers):
    source = linsep.open(flowers, label="kind", categories="all", positive="a")
    assert source.facts.names == ("width", "height", "colour[blue]", "colour[green]", "colour[red]")
    assert source.take([1]).values.tolist() == [[2, 1, 1, 0, 0]]
    assert source.categories == {"colour": ("blue", "green", "red")}


def test_categories_of_all_files_are_columns_of_all(tmp_path):
    (tmp_path / "a.csv").write_text("x,c,y\n1,red,0\n")
    (tmp_path / "b.csv").write_text("x,c,y\n2,blue,1\n")
    source = linsep.open(tmp_path, label="y", categories="all")
    assert source.facts.names == ("x", "c[blue]", "c[red]")
    assert source.take([0, 1]).values.tolist() == [[1, 0, 1], [2, 1, 0]]


def written(table, folder):
    """The same table as CSV and as Parquet."""
    csv.write_csv(table, folder / "a.csv")
    parquet.write_table(table, folder / "a.parquet")
    return folder / "a.csv", folder / "a.parquet"


def test_the_first_category_is_the_reference_in_every_format(tmp_path):
    table = pa.table({"x": [1, 2, 3], "c": ["red", "blue", "red"], "ok": [True, False, True], "y": [0, 1, 0]})
    parquet.write_table(table.set_column(1, "c", table["c"].dictionary_encode()), tmp_path / "b.parquet")
    for path in (*written(table, tmp_path), tmp_path / "b.parquet"):
        source = linsep.open(path, label="y", categories="reference")
        assert source.facts.names == ("x", "c[red]", "ok")
        assert source.take([0, 1]).values.tolist() == [[1, 1, 1], [2, 0, 0]]
        assert source.remarks() == ["c: one column for each of 'red', compared with 'blue'."]


def test_a_column_of_one_category_is_told_to_become_no_column(tmp_path):
    (tmp_path / "one.csv").write_text("x,c,y\n1,red,0\n2,red,1\n")
    source = linsep.open(tmp_path / "one.csv", label="y", categories="reference")
    assert source.remarks() == ["c: no column, since 'red' is its only category."]


def test_named_columns_alone_are_categories_also_those_of_numbers(tmp_path):
    for path in written(pa.table({"plz": [900, 8001, 900], "x": [1, 2, 3], "y": [0, 1, 0]}), tmp_path):
        source = linsep.open(path, label="y", categories={"plz": "all"})
        assert (source.facts.names, source.take([1]).values.tolist()) == (("plz[900]", "plz[8001]", "x"), [[0, 1, 2]])
        with pytest.raises(MissingColumnError, match="no column 'zip'"):
            linsep.open(path, label="y", categories={"zip": "all"})


def test_an_id_of_files_is_not_a_category_unless_it_is_named(tmp_path):
    table = pa.table({"who": [f"p{k}" for k in range(20)], "x": range(20), "y": [0, 1] * 10})
    for path in written(table, tmp_path):
        with pytest.raises(ColumnTypeError, match="'who' has 20 different values in 20 rows, as an id has"):
            linsep.open(path, label="y", categories="all")
        assert linsep.open(path, label="y", categories={"who": "all"}).n_columns == 21


def test_text_among_numbers_is_a_bad_cell_and_not_a_category(tmp_path):
    (tmp_path / "a.csv").write_text("x,c,y\n1,u,0\n?,v,1\n3,u,0\n4,v,1\n")
    with pytest.raises(NotNumericError, match=r"row 1 \(line 3\), column 'x' holds '\?'.*--categories x=reference"):
        linsep.open(tmp_path / "a.csv", label="y", categories="reference")
    source = linsep.open(tmp_path / "a.csv", label="y", categories="reference", reject=tmp_path / "bad.csv")
    assert (source.facts.names, source.n_rows) == (("x", "c[v]"), 3)


def test_many_categories_of_files_are_sparse_rows(tmp_path):
    site = [f"s{k % 400:03d}" for k in range(1200)]
    table = pa.table({"x": [k % 7 + 0.5 for k in range(1200)], "c": site, "y": [k % 2 for k in range(1200)]})
    for path in written(table, tmp_path):
        source = linsep.open(path, label="y", categories="reference")
        block = source.take([401])
        assert block.is_sparse and source.n_columns == 400
        assert block.values.nonzero()[1].tolist() == [0, 1] and block.values.toarray()[0, 0] == 401 % 7 + 0.5
        assert linsep.decide(source).kind == "separable"


def test_bad_rows_are_set_aside_and_counted(tmp_path):
    bad = "x,z,y\n1,2,0\n1,,0\nred,2,1\n3,4\n5,nan,1\n7,8,1\n9,9,\n2,2,1\n"
    source = opened(tmp_path, bad, reject=tmp_path / "bad.csv", cache=False)
    assert (source.n_rows, source.facts.rows_left_out) == (3, 5)
    assert source.take([0, 1, 2]).values.tolist() == [[1, 2], [7, 8], [2, 2]]
    lines = (tmp_path / "bad.csv").read_text().splitlines()
    assert [line.split(",")[1] for line in lines[1:]] == ["1", "2", "3", "4", "6"]
    assert "E-CSV-RAGGED" in lines[3]
    verdict = linsep.decide(source)
    assert verdict.rows_left_out == 5
    assert len((tmp_path / "bad.csv").read_text().splitlines()) == 6


def test_the_remark_about_a_single_bad_row_is_in_the_singular(tmp_path):
    source = opened(tmp_path, "x,z,y\n1,2,0\n1,,0\n2,2,1\n", reject=tmp_path / "bad.csv", cache=False)
    assert source.remarks() == ["1 bad row was rejected."]


def test_svmlight_gives_the_proof_of_the_sparse_matrix(tmp_path):
    X, y = linsep.datasets.planted_sparse(3000, 40, per_row=6, flipped=20, seed=3)
    lines = (" ".join(f"{j + 1}:{v!r}" for j, v in zip(r.indices, r.data.tolist(), strict=True)) for r in X)
    (tmp_path / "a.svm").write_text("".join(f"{label} {line}\n" for label, line in zip(y, lines, strict=True)))
    for memory in ("1MiB", "512MB"):
        source = linsep.open(tmp_path / "a.svm", memory=memory)
        assert proof(linsep.decide(source)) == proof(linsep.decide(X, y))


def test_csr_in_npz_gives_the_proof_of_the_matrix(tmp_path):
    X, y = linsep.datasets.planted_sparse(500, 40, per_row=6, seed=3)
    np.savez(tmp_path / "a.npz", data=X.data, indices=X.indices, indptr=X.indptr, shape=X.shape, y=y)
    assert proof(linsep.decide(linsep.open(tmp_path / "a.npz"))) == proof(linsep.decide(sp.csr_array(X), y))


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_a_large_npz_is_converted_piece_by_piece(save, tmp_path, monkeypatch):
    monkeypatch.setattr(files, "HELD_BATCHES", 0)
    X, y = linsep.datasets.planted(3000, 5, flipped=20, seed=3)
    save(tmp_path / "a.npz", X=X, y=y)
    Z, z = linsep.datasets.planted_sparse(3000, 40, per_row=6, seed=3)
    save(tmp_path / "b.npz", data=Z.data, indices=Z.indices, indptr=Z.indptr, shape=Z.shape, y=z)
    for name, rows, labels in (("a.npz", X, y), ("b.npz", Z, z)):
        source = linsep.open(tmp_path / name, memory="1MiB")
        assert len(list(source.blocks())) > 1
        assert proof(linsep.decide(source)) == proof(linsep.decide(rows, labels))


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("1 0:5", "below 1. If the file counts from 0, say index_base=0"),
        ("1 -2:5", "the index is below 1"),
        ("1 3:1 2:1", "the index is smaller than the one before"),
        ("1 2:1 2:1", "the index is repeated"),
        ("1 2:1_000", "not index:value"),
        ("one 2:1", "not a label"),
        ("1 2:x", "not index:value"),
        ("1 2", "not index:value"),
    ],
)
def test_a_bad_svmlight_line_is_named(line, said, tmp_path):
    (tmp_path / "a.svm").write_text(f"-1 1:1\n# nothing\n{line}\n")
    with pytest.raises(SvmlightError, match=r"row 1 \(line 3\).*" + said) as caught:
        linsep.open(tmp_path / "a.svm")
    assert (caught.value.row, caught.value.code) == (1, "E-SVMLIGHT")


def test_the_index_base_is_stated(tmp_path):
    (tmp_path / "a.svm").write_text("-1 0:1\n1 3:1\n")
    assert linsep.open(tmp_path / "a.svm", index_base=0).n_columns == 4


def test_standard_input_is_read_once(monkeypatch):
    monkeypatch.setattr("sys.stdin", types.SimpleNamespace(buffer=io.BytesIO(b"x,y\n1,0\n2,1\n")))
    verdict = linsep.decide(linsep.open("-", label="y"))
    assert verdict.kind == "separable"


def test_the_perceptron_takes_files_without_counting_rows(tmp_path):
    X, y = linsep.datasets.planted(2000, 3, margin=0.2, seed=0)
    np.save(tmp_path / "a.npy", np.column_stack([X, y]))
    source = linsep.open(tmp_path / "a.npy", label=-1, memory="1MiB")
    run, known = linsep.perceptron(source), linsep.perceptron(X, y)
    assert run.mistakes_per_row is None
    assert (run.updates, run.halfspace.w.tolist()) == (known.updates, known.halfspace.w.tolist())
    assert linsep.perceptron(source, order="shuffled", random_state=0).converged
    assert linsep.novikoff(source) == linsep.novikoff(X, y)
    assert proof(linsep.max_margin(source)) == proof(linsep.max_margin(X, y))
    assert linsep.mle_exists(source).coefficients == linsep.mle_exists(X, y).coefficients


def test_the_documentation_lists_every_word_for_a_missing_label():
    page = (Path(__file__).parents[1] / "docs" / "files.md").read_text(encoding="utf-8")
    listed = re.findall(r"`([^`]+)`", page.partition("blanks, or is one of ")[2].partition(" Any other")[0])
    assert {"", *listed} == MISSING


@pytest.mark.parametrize("label", [" yes", "Yes", "None", "Na", "?", '"NA"'])
def test_any_other_word_is_a_label_as_it_is_written(label, tmp_path):
    path = tmp_path / "words.csv"
    path.write_text(f"a,y\n1,yes\n2,{label}\n")
    assert set(linsep.open(path, label="y").facts.labels) == {"yes", label.strip('"')}


def test_a_label_with_an_endless_exponent_is_text_as_the_checker_takes_it(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("x,y\n1,0e99999999999\n2,1\n")
    assert linsep.open(path, label="y").facts.labels == ("0e99999999999", "1")


@pytest.mark.parametrize(
    "column",
    [
        pa.array([datetime.datetime(2026, 1, 1)] * 2),
        pa.array([datetime.date(2026, 1, 1)] * 2),
        pa.array([datetime.timedelta(1)] * 2),
        pa.array(["a", "b"]).dictionary_encode(),
        pa.array([[1], [2]]),
    ],
)
def test_a_column_of_another_type_is_refused_in_the_same_words_from_memory_and_from_files(column, tmp_path):
    table = pa.table({"a": column, "y": [0, 1]})
    feather.write_feather(table, str(tmp_path / "t.feather"))
    with pytest.raises(ColumnTypeError) as held:
        linsep.decide(table, "y")
    with pytest.raises(ColumnTypeError) as read:
        linsep.open(tmp_path / "t.feather", label="y")
    words = str(held.value).partition(", such as")[0].rstrip(".")
    assert words.lower().split(".")[0] in str(read.value).lower()


def test_a_date_as_a_label_is_the_same_fault_from_memory_and_from_files(tmp_path):
    table = pa.table({"a": [1, 2], "y": pa.array([datetime.date(2026, 1, 1), datetime.date(2026, 1, 2)])})
    feather.write_feather(table, str(tmp_path / "t.feather"))
    for ask in (lambda: linsep.decide(table, "y"), lambda: linsep.open(tmp_path / "t.feather", label="y")):
        with pytest.raises(ColumnTypeError, match="Labels are numbers, booleans or text"):
            ask()


def test_a_proof_about_a_file_names_its_label_column(tmp_path):
    (tmp_path / "a.csv").write_text("y,a,b\n0,1,2\n1,3,3\n0,0,1\n")
    source = linsep.open(tmp_path / "a.csv", label="y")
    for verdict in (linsep.decide(source), linsep.decide_classes(source), linsep.fewest_mistakes(source)):
        assert json.loads(verdict.to_json())["data"]["label_column"] == "y"
