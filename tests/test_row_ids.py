"""Rows keep their names: an index, ids=, a column of a file, in every result and in everything that says it."""

import json
from functools import partial
from html import escape

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest
import scipy.sparse as sp

import linsep
from linsep.cli import main
from linsep.errors import ArgumentError, CertificateError, LengthError, MissingColumnError
from linsep.explorer.own_table import OwnTable
from linsep.report import name_text, plain_name
from linsep.sources.base import Facts
from linsep.sources.inputs import as_source
from linsep.tables import row_frames
from linsep.tables.row_ids import ListedIds, PartIds

ROWS = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [0.0, 0.0]]
Y = ["no", "yes", "yes", "no", "yes"]
COLUMNS = {"u": [row[0] for row in ROWS], "v": [row[1] for row in ROWS]}
NAMES = ["ann", "bob, jr", "cy", "dan", "<eve>"]
DATES = pd.date_range("2024-03-01", periods=5)
PAIRS = pd.MultiIndex.from_product([["p"], range(1, 6)])


def csv_file(folder, bad=""):
    lines = [f'"{name}",{u},{v},{label}' for name, (u, v), label in zip(NAMES, ROWS, Y, strict=True)]
    (folder / "a.csv").write_text("\n".join(["name,u,v,kind", lines[0], *([bad] if bad else []), *lines[1:]]) + "\n")
    return folder / "a.csv"


def parquet_file(folder):
    pyarrow.parquet.write_table(pa.table({"name": NAMES, **COLUMNS, "kind": Y}), folder / "a.parquet", row_group_size=2)
    return folder / "a.parquet"


def rejecting(folder, **options):
    path = csv_file(folder, "bad,?,1,no")
    return linsep.open(path, label="kind", columns=["u", "v"], reject=folder / "bad.csv", **options), None, {}


KINDS = {
    "integers": lambda folder: (pd.DataFrame(COLUMNS, index=[50, 40, 30, 20, 10]), Y, {}),
    "strings": lambda folder: (pd.DataFrame(COLUMNS, index=NAMES), Y, {}),
    "pairs": lambda folder: (pd.DataFrame(COLUMNS, index=PAIRS), Y, {}),
    "dates": lambda folder: (pd.DataFrame(COLUMNS, index=DATES), pd.Series(Y, index=DATES), {}),
    "twice": lambda folder: (pd.DataFrame(COLUMNS, index=list("aabba")), Y, {}),
    "index of y": lambda folder: (sp.csr_array(ROWS), pd.Series(Y, index=NAMES), {}),
    "pandas column": lambda folder: (pd.DataFrame({"name": NAMES, **COLUMNS}), Y, {"ids": "name"}),
    "polars column": lambda folder: (pl.DataFrame({"name": NAMES, **COLUMNS}), Y, {"ids": "name"}),
    "arrow column": lambda folder: (pa.table({"name": NAMES, **COLUMNS}), Y, {"ids": "name"}),
    "polars series": lambda folder: (pl.DataFrame(COLUMNS), Y, {"ids": pl.Series(NAMES)}),
    "numpy": lambda folder: (np.array(ROWS), Y, {"ids": np.array(NAMES)}),
    "list": lambda folder: (ROWS, Y, {"ids": NAMES}),
    "sparse": lambda folder: (sp.csr_array(ROWS), Y, {"ids": pa.array(NAMES)}),
    "csv": lambda folder: (linsep.open(csv_file(folder), label="kind", id="name"), None, {}),
    "parquet": lambda folder: (linsep.open(parquet_file(folder), label="kind", id=0), None, {}),
    "rejects with ids": lambda folder: rejecting(folder, id="name"),
    "rejects": rejecting,
}
CALLED = {
    "integers": [50, 40, 30, 20, 10],
    "pairs": PAIRS.tolist(),
    "dates": DATES.tolist(),
    "twice": list("aabba"),
    "rejects": [0, 2, 3, 4, 5],
}


def pair_of(found):
    return found["no", "yes"]


RESULTS = {
    "decide": (linsep.decide, lambda v: (v.obstruction.rows, v.obstruction.ids)),
    "margin": (linsep.max_margin, lambda v: (v.obstruction.rows, v.obstruction.ids)),
    "mistakes": (linsep.fewest_mistakes, lambda v: (v.mistaken_rows, v.mistaken_ids)),
    "clean": (partial(linsep.clean, time_limit=0.05), lambda c: (c.rows, c.ids)),
    "regions": (linsep.separate_regions, lambda r: (r.mistaken_rows, r.mistaken_ids)),
    "pairs": (
        lambda *data, **ids: linsep.decide_classes(*data, by="pairs", **ids),
        lambda f: (pair_of(f).obstruction.rows, pair_of(f).obstruction.ids),
    ),
    "joint": (
        linsep.decide_classes,
        lambda f: (tuple(row for row, _ in f.contests()), f.verdict.obstruction.ids),
    ),
}
SILENT = {"pairs"}  # their text is a matrix of verdicts


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("result", RESULTS)
def test_every_result_names_rows_as_the_user_does(tmp_path, kind, result):
    (X, y, options), (ask, named) = KINDS[kind](tmp_path), RESULTS[result]
    found, names = ask(X, y, **options), CALLED.get(kind, NAMES)
    rows, ids = named(found)
    assert rows and ids == tuple(names[row] for row in rows)
    told = json.loads(json.dumps(found.facts()))["file_numbers" if kind == "rejects" else "ids"]
    assert told.items() >= {str(row): plain_name(names[row]) for row in rows}.items()
    for row in rows if result not in SILENT else ():
        assert name_text(names[row]) in str(found) and escape(name_text(names[row])) in found._repr_html_()


IN_MEMORY = [kind for kind in KINDS if kind not in ("csv", "parquet", "rejects", "rejects with ids", "index of y")]


@pytest.mark.parametrize("kind", IN_MEMORY)
def test_a_regression_names_the_separated_rows(tmp_path, kind):
    X, _, options = KINDS[kind](tmp_path)
    found, names = linsep.mle_exists(X, np.array([1, 0, 1, 0, 1]), **options), CALLED.get(kind, NAMES)
    assert found.separated_rows and found.separated_ids == tuple(names[row] for row in found.separated_rows)
    assert list(found.facts()["ids"].values()) == list(map(plain_name, found.separated_ids))


def test_the_other_families_name_the_users_rows():
    X = pd.DataFrame({"site": [0, 0, 1, 1], "n": [1.0, 2.0, 1.0, 2.0]}, index=list("pqrs"))
    found = linsep.mle_exists(X, [2, 3, 0, 0], family="poisson")
    assert found.separated_ids == ("r", "s") and "2   r" in found.explain()
    assert found.frame(X).index.tolist() == ["r", "s"] and found.frame(X)["label"].tolist() == [0, 0]


LIBRARIES = {
    "pandas column": pd.DataFrame, "integers": pd.DataFrame, "strings": pd.DataFrame, "pairs": pd.DataFrame,
    "dates": pd.DataFrame, "twice": pd.DataFrame, "polars column": pl.DataFrame, "polars series": pl.DataFrame,
    "arrow column": pa.Table, "numpy": pd.DataFrame, "list": pd.DataFrame, "sparse": pd.DataFrame, "csv": pd.DataFrame,
    "rejects": pd.DataFrame,
}  # fmt: skip
FRAMED = {
    "decide": {"label", "share"}, "mistakes": {"label"},
    "pairs": {"label", "question", "share"}, "joint": {"label", "against", "share"},
}  # fmt: skip


@pytest.mark.parametrize("kind", LIBRARIES)
@pytest.mark.parametrize("result", FRAMED)
def test_a_frame_holds_the_rows_that_matter_in_the_users_library(tmp_path, kind, result):
    (X, y, options), (ask, named) = KINDS[kind](tmp_path), RESULTS[result]
    found = ask(X, y, **options)
    frame, (rows, _) = found.frame(X), named(found)
    assert type(frame) is LIBRARIES[kind] and frame.shape[0] == len(rows)
    columns = {
        name: list(frame[name].to_pylist() if isinstance(frame, pa.Table) else frame[name]) for name in ("row", "label")
    }
    assert columns["row"] == list(rows) and columns["label"] == [Y[row] for row in rows]
    assert FRAMED[result] <= set(frame.column_names if isinstance(frame, pa.Table) else frame.columns)
    if hasattr(X, "index") and hasattr(X, "iloc"):
        assert frame.index.tolist() == X.index[list(rows)].tolist()


@pytest.mark.parametrize("kind", ["strings", "arrow column", "numpy"])
def test_a_frame_of_suspects_says_what_they_are(tmp_path, kind):
    X, y, options = KINDS[kind](tmp_path)
    found = linsep.clean(X, y, time_limit=0.05, **options)
    frame = pl.DataFrame(found.frame(X))
    assert frame["row"].to_list() == list(found.rows) and frame["instead"][0] == found.suspects[0].instead


def test_shares_add_up_to_one_in_each_class():
    frame = linsep.decide(pd.DataFrame(COLUMNS), Y).frame(pd.DataFrame(COLUMNS))
    assert frame.groupby("label")["share"].sum().tolist() == [1.0, 1.0]


def test_a_frame_of_what_is_separable_is_empty_or_holds_the_nearest_rows():
    X, y = pd.DataFrame({"x": [0, 1, 2, 3]}, index=list("pqrs")), [0, 0, 1, 1]
    assert linsep.decide(X, y).frame(X).shape == (0, 4)
    assert linsep.max_margin(X, y).frame(X).index.tolist() == ["q", "r"]


def test_a_frame_may_have_more_columns_and_keeps_those_that_are_called_alike():
    X = pd.DataFrame({**COLUMNS, "label": Y, "note": list("vwxyz")}, index=NAMES)
    frame = linsep.decide(X[["u", "v"]], Y).frame(X)
    assert {"note", "label", "linsep_label"} <= set(frame.columns)


def test_a_frame_of_another_table_is_refused():
    X = pd.DataFrame(COLUMNS, index=NAMES)
    verdict = linsep.decide(X, Y)
    with pytest.raises(ArgumentError, match="X has 4 rows, and the result is about 5"):
        verdict.frame(X[:4])
    with pytest.raises(ArgumentError, match="X calls row 0 '<eve>', and the result calls it 'ann'"):
        verdict.frame(X[::-1])
    with pytest.raises(ArgumentError, match="X is a dict"):
        verdict.frame(COLUMNS)


def test_a_written_proof_asks_for_labels_and_takes_the_names_of_the_table():
    X = pl.DataFrame({"name": NAMES, **COLUMNS})
    verdict = linsep.verdict_from_json(linsep.decide(X, Y, ids="name").to_json())
    assert verdict.row_names is None and verdict.obstruction.ids == verdict.obstruction.rows
    with pytest.raises(ArgumentError, match=r"frame\(X, y\)"):
        verdict.frame(X)
    assert verdict.frame(X, Y)["label"].to_list() == [Y[row] for row in verdict.obstruction.rows]
    verdict.verify(X, Y, ids="name")
    verdict.verify(X, Y)
    assert "with ids ann" in verdict.explain(X, Y, ids="name") == verdict.explain(X, Y)


def test_a_written_proof_of_any_question_knows_a_text_column_that_is_none_of_its_columns():
    X = pd.DataFrame({"name": NAMES, **COLUMNS, "kind": Y})
    for ask in (linsep.decide, linsep.decide_classes, linsep.fewest_mistakes):
        linsep.verdict_from_json(ask(X, "kind", ids="name").to_json()).verify(X, "kind")


def test_a_column_of_numbers_that_is_not_in_the_proof_is_named():
    X = pd.DataFrame({"number": [7, 8, 9, 10, 11], **COLUMNS})
    proof = linsep.verdict_from_json(linsep.decide(X, Y, ids="number").to_json())
    with pytest.raises(CertificateError, match="'number' is not a column of the proof: leave it out, or say ids="):
        proof.verify(X, Y)
    proof.verify(X, Y, ids="number")


def test_arrays_need_pandas_for_a_frame_and_say_so(monkeypatch):
    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr(row_frames, "import_module", missing)
    with pytest.raises(ArgumentError, match="pip install pandas"):
        linsep.decide(np.array(ROWS), Y).frame(np.array(ROWS))


# What says nothing new -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("index", [None, range(5), [0, 1, 2, 3, 4], pd.RangeIndex(5)])
def test_an_index_that_counts_the_rows_changes_nothing(index):
    plain = linsep.decide(pd.DataFrame(COLUMNS).to_numpy(), Y, time_limit=9)
    found = linsep.decide(pd.DataFrame(COLUMNS, index=index), Y)
    assert found.row_names is None and str(found) == str(plain) and "ids" not in found.facts()


@pytest.mark.parametrize("index", [range(1, 6), range(0, 10, 2), [0, 2, 1, 3, 4], [0, 1, 1, 3, 4], [0.0, 1, 2, 3, 4]])
def test_every_other_index_is_told(index):
    assert linsep.decide(pd.DataFrame(COLUMNS, index=index), Y).obstruction.ids is not None
    assert linsep.decide(pd.DataFrame(COLUMNS, index=index), Y).row_names is not None


def test_a_long_range_is_kept_as_it_is():
    index = pd.RangeIndex(7, 7 + 10**8)
    facts = Facts(10**8, 1, ids=ListedIds(index))
    assert facts.ids.values is index and facts.ids.at([0, 10**8 - 1]) == [7, 10**8 + 6]
    assert facts.of_part(3).ids is None  # other rows have other numbers


def test_rows_numbered_anew_keep_their_names():
    kept = PartIds(ListedIds(NAMES), np.array([1, 3]))
    assert kept.names([0, 1]).known == {0: "bob, jr", 1: "dan"}
    assert PartIds(None, [4, 7]).names([1]).known == {1: 7}


# What rows are called, in words --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "text", "plain"),
    [
        ("ann", "ann", "ann"), (7, "7", 7), (1.5, "1.5", 1.5), (float("nan"), "-", None), (None, "-", None),
        (pd.NaT, "-", None), (pd.Timestamp("2024-03-01"), "2024-03-01", "2024-03-01 00:00:00"),
        (("a", 1), "(a, 1)", ["a", 1]), ("x" * 99, "x" * 57 + "...", "x" * 99), (float("inf"), "inf", "inf"),
    ],
)  # fmt: skip
def test_a_name_has_one_text_and_one_value_of_json(name, text, plain):
    assert name_text(name) == text and plain_name(name) == plain


def test_equal_names_are_told_apart_by_row_numbers():
    said = linsep.decide(pd.DataFrame(COLUMNS, index=list("aabba")), Y).explain()
    assert "a (row 0)" in said and "a (row 1)" in said


def test_a_name_of_several_words_is_quoted_in_a_sentence():
    X = pd.DataFrame({"u": [0, 2, 1]}, index=["a", "bob, jr", "c"])
    assert "The rows with ids a, 'bob, jr' of class 0 and c of class 1" in linsep.decide(X, [0, 0, 1]).explain()


# Refusals ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("X", "ids", "error", "words"),
    [
        (ROWS, 5, ArgumentError, "ids is 5: it must be a name for each row"),
        (ROWS, {"a": 1}, ArgumentError, "it must be a name for each row"),
        (ROWS, np.zeros((5, 2)), ArgumentError, "it must be a name for each row"),
        (ROWS, NAMES[:2], ArgumentError, "ids has 2 names; there are 5 rows"),
        (ROWS, "name", ArgumentError, "without names of columns"),
        (pl.DataFrame(COLUMNS), "name", MissingColumnError, "no column 'name'. The columns are 'u', 'v'"),
        (pd.DataFrame(COLUMNS, index=NAMES), pd.Series(NAMES), LengthError, "ids calls it 0: their indices differ"),
    ],
)
def test_ids_that_cannot_be_names_of_the_rows_are_refused(X, ids, error, words):
    with pytest.raises(error, match=words):
        linsep.decide(X, Y, ids=ids)


@pytest.mark.parametrize("ask", [linsep.decide, linsep.decide_classes, linsep.mle_exists, linsep.separate_regions])
def test_a_source_has_ids_of_its_own(ask):
    with pytest.raises(ArgumentError, match=r"brings its own ids.*linsep\.open"):
        ask(as_source(ROWS, Y), ids=NAMES)


def test_rows_and_labels_of_different_indices_are_refused():
    with pytest.raises(LengthError, match="y calls it 1: their indices differ"):
        linsep.decide(pd.DataFrame(COLUMNS), pd.Series(Y, index=range(1, 6)))


# The data again, pictures and the command line -----------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["pandas column", "polars column", "arrow column", "strings"])
def test_the_table_is_checked_without_its_column_of_ids(tmp_path, kind):
    X, y, options = KINDS[kind](tmp_path)
    linsep.decide(X, y, **options).verify(X, y)
    linsep.fewest_mistakes(X, y, **options).verify(X, y)
    linsep.decide_classes(X, y, **options).verify(X, y)
    linsep.mle_exists(X, y, **options).verify(X, y)
    assert "Their common mean" in linsep.decide(X, y, **options).explain(X, y)


@pytest.mark.parametrize("draw", ["separation", "regions"])
@pytest.mark.parametrize("kind", ["polars column", "rejects"])
def test_pictures_name_the_rows_of_an_obstruction(tmp_path, draw, kind):
    pytest.importorskip("matplotlib").use("agg")
    X, y, options = KINDS[kind](tmp_path)
    verdict = linsep.decide(X, y, **options)
    told = "file number 2" if kind == "rejects" else "'bob, jr'"
    for more in ({}, {"verdict": verdict}):
        ax = getattr(linsep.plots, draw)(X, y, **options, **more)
        assert told in [text.get_text() for text in ax.texts]


@pytest.mark.parametrize("command", ["decide", "margin", "mistakes", "clean"])
@pytest.mark.parametrize("options", [["--id", "name"], []])
def test_commands_name_the_rows(tmp_path, capsys, command, options):
    path, bad = csv_file(tmp_path, "bad,?,1,no"), str(tmp_path / "bad.csv")
    columns = [] if options else ["--columns", "u,v"]
    main([command, str(path), "--label", "kind", "--reject", bad, *options, *columns])
    said = capsys.readouterr().out
    assert any(name in said for name in NAMES) == bool(options) and ("file number" in said) == (not options)


def test_json_on_the_command_line_has_the_ids(tmp_path, capsys):
    main(["decide", str(csv_file(tmp_path)), "--label", "kind", "--id", "name", "--json"])
    assert json.loads(capsys.readouterr().out)["ids"] == {"0": "ann", "1": "bob, jr", "2": "cy", "3": "dan"}


def test_a_run_and_its_trace_name_the_rows(tmp_path, capsys):
    X = pd.DataFrame({"x": [0.0, 3.0]}, index=["ann", "bob"])
    assert "0   ann" in str(linsep.perceptron(X, [0, 1]))
    (tmp_path / "b.csv").write_text("name,x,kind\nann,0,a\nbob,3,b\n")
    main(["trace", str(tmp_path / "b.csv"), "--label", "kind", "--id", "name", "--json"])
    assert [json.loads(line).get("id") for line in capsys.readouterr().out.splitlines()][:2] == ["ann", "bob"]


def test_the_explorer_names_the_rows_of_a_wide_table():
    asked = OwnTable(pd.DataFrame({**COLUMNS, "w": [0.0] * 5}, index=NAMES), Y).questions()
    named = asked["run"]({})["named"]
    assert named["ids"] == [NAMES[row] for row in named["rows"]] and asked["row"]({"row": 2})["id"] == "cy"


@pytest.mark.parametrize("index", [["z", *NAMES], range(6)])
def test_rows_that_are_dropped_shift_no_name(index):
    X = pd.DataFrame({"u": [np.nan, *COLUMNS["u"]], "v": [9.0, *COLUMNS["v"]]}, index=index)
    verdict = linsep.decide(X, ["no", *Y], missing="drop")
    assert (
        verdict.obstruction.ids == tuple(index[row] for row in verdict.obstruction.rows)
        and 0 not in verdict.obstruction.rows
    )
    frame = verdict.frame(X)
    assert frame.index.tolist() == list(verdict.obstruction.ids) and frame["u"].tolist() == [0, 1, 0, 1]
    with pytest.raises(ArgumentError, match="about 6"):
        verdict.frame(X[1:])


def test_a_table_with_the_rejected_rows_is_not_that_of_the_verdict(tmp_path):
    source, _, _ = rejecting(tmp_path)
    whole = pd.read_csv(tmp_path / "a.csv")
    with pytest.raises(ArgumentError, match="X has 6 rows, and the result is about 5"):
        linsep.decide(source).frame(whole)


def test_a_label_column_may_be_named_beside_the_ids():
    X = pl.DataFrame({"name": NAMES, **COLUMNS, "kind": Y})
    verdict = linsep.decide(X, "kind", ids="name")
    assert verdict.obstruction.ids == tuple(NAMES[:4]) and verdict.frame(X)["label"].to_list() == Y[:4]


@pytest.mark.parametrize("options", [{"ids": "name"}, {"ids": "name", "family": "conditional", "strata": "town"}])
def test_columns_that_are_not_predictors_are_no_reasons(options):
    X = pd.DataFrame({"name": list("pqrst"), "town": list("uvuvu"), "age": [1.0, 2, 3, 4, 2.5], "ill": [0, 0, 1, 1, 1]})
    told = linsep.mle_exists(X if "strata" in options else X.drop(columns="town"), "ill", **options).explain()
    assert "name = " not in told and "town = " not in told and "+inf" in told


def test_the_command_of_regressions_names_the_separated_rows(tmp_path, capsys):
    (tmp_path / "c.csv").write_text("name,site,age,ill\nann,0,3,0\nbob,0,5,1\ncy,0,6,0\ndan,1,2,1\neve,1,6,1\n")
    asked = ["mle", str(tmp_path / "c.csv"), "--label", "ill", "--id", "name"]
    assert main(asked) == 1 and "4   eve" in capsys.readouterr().out
    main([*asked, "--json"])
    assert json.loads(capsys.readouterr().out)["ids"] == {"3": "dan", "4": "eve"}
