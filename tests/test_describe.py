"""One page about a table says what its parts say, on any table, in the time it is given."""

import json
import signal
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import linsep
from linsep.cli import main
from linsep.overview import describe as describe_module
from linsep.overview.odd_columns import column_report
from linsep.report import Grid
from linsep.sources.inputs import as_source


def remark_of(X, y, column=0):
    grid = next(part for part in column_report(as_source(X, y)).parts if hasattr(part, "rows"))
    return {row[0]: row[-1] for row in grid.rows}[f"x{column + 1}"]


def test_a_separable_table_has_a_margin_a_bound_and_every_section():
    found = linsep.describe(*linsep.datasets.planted(80, 2, margin=0.2), time_limit=5)
    assert list(found.sections) == list(describe_module.TITLES) and found.verdict.margin[0] > 0.19
    assert "of the bound" in found.sections["perceptron"].text() and "No label need be wrong" in str(found)
    assert found.page().startswith(b"<!doctype html>") and b"data:image/png" in found.page()


def test_a_table_that_overlaps_has_no_bound():
    X, y = linsep.datasets.planted(60, 2, margin=0.2, flipped=3)
    found = linsep.describe(X, y, time_limit=5)
    assert "perceptron" not in found.sections and found.verdict.separable is False
    found.cleaning.mistakes.verify(X, y)


def test_rows_with_gaps_are_dropped_and_rows_keep_their_numbers():
    X, y = linsep.datasets.planted(60, 2, margin=0.2, flipped=3)
    frame = pd.DataFrame(X, columns=["a", "b"]).assign(site=["here", "there", "here"] * 20, y=y)
    frame.loc[[0, 5], "a"] = np.nan
    options = {"categories": "all", "missing": "drop"}
    found = linsep.describe(frame, "y", time_limit=5, **options)
    assert found.n_rows == 58 and found.sections["verdict"] == linsep.max_margin(frame, "y", **options).report()
    found.cleaning.mistakes.verify(frame, "y")
    assert found.cleaning.rows == linsep.clean(frame, "y", **options).rows
    assert str(found).count("2 rows left out") == 1 and "Not available" not in str(found)


def test_sections_say_what_the_functions_say():
    X, y = linsep.datasets.planted(60, 2, margin=0.2, flipped=3)
    found = linsep.describe(X, y, time_limit=5)
    assert found.sections["verdict"] == linsep.max_margin(X, y).report()
    assert found.sections["labels"] == found.cleaning.report()


@pytest.mark.parametrize(
    ("column", "said"),
    [
        ([5, 5, 5, 5], "constant"),
        ([0, 1, 2, 3], "separates the classes alone"),
        ([1e9, 1e9 + 2, 1e9 + 1, 1e9 + 1], "far from 0: subtract about 1e+09"),
        ([1, 4, 2, 2], ""),
    ],
)
def test_odd_columns_are_remarked_on(column, said):
    X = np.column_stack([column, [3, 1, 2, 7]])
    assert remark_of(X, [0, 0, 1, 1]).startswith(said) and (said or not remark_of(X, [0, 0, 1, 1]))


def test_a_copy_of_another_column_is_remarked_on():
    X = np.column_stack([[3.0, 1, 2, 7], [1, 4, 2, 2]])
    assert remark_of(np.column_stack([X, 5 - 2 * X[:, 0]]), [0, 0, 1, 1], 2).startswith("the same as x1")


def test_sparse_rows_have_the_same_columns():
    X, y = np.array([[0, 2.0, -1], [3, 0, 0], [0, 1, 5], [1, 1, 0]]), [0, 0, 1, 1]
    assert column_report(as_source(sp.csr_array(X), y)) == column_report(as_source(X, y))


def test_numbers_of_any_size_are_described():
    X, y = linsep.datasets.planted(30, 2, margin=0.3)
    found = linsep.describe(X * 1e200, y, time_limit=4)
    assert found.verdict.separable and "columns" in found.sections


def test_sparse_rows_that_overlap_are_drawn():
    X, y = sp.csr_array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [0.5, 3.0]]), [0, 1, 0, 1]
    assert linsep.describe(X, y, time_limit=3).picture


@pytest.mark.parametrize("X", [[[2**53], [2**53 + 1], [2**53 + 2], [2**53 + 3]], [[1e308], [-1e308], [1.7e308], [1.0]]])
def test_numbers_that_no_learner_takes_and_no_picture_shows_leave_the_rest(X):
    found = linsep.describe(X, [0, 1, 0, 1], time_limit=3)
    assert found.verdict.separable is not None and "THE COLUMNS" in str(found) and found.page()


def test_an_interrupt_of_a_search_ends_the_page(monkeypatch):
    def stop(*args, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("linsep.questions.mistakes.MistakeSearch.close", stop)
    X, y = linsep.datasets.planted(60, 2, margin=0.2, flipped=3)
    assert list(linsep.describe(X, y, time_limit=60).sections) == ["verdict", "labels"]


@pytest.mark.slow
def test_a_large_table_is_sampled_and_says_so(monkeypatch):
    monkeypatch.setattr(describe_module, "ENTRIES", 2000)
    X, y = linsep.datasets.planted(3000, 2, margin=0.1, flipped=4)
    found = linsep.describe(X, y, time_limit=5)
    assert found.verdict.n_rows == 3000 and "On a sample of 1,000 of the 3,000 rows" in found.sections["labels"].text()


@pytest.mark.slow
def test_the_time_limit_holds():
    X, y = linsep.datasets.planted(4000, 30, margin=0.001, flipped=40)
    linsep.describe(X[:200], y[:200], time_limit=5)  # compiles
    started = time.perf_counter()
    linsep.describe(X, y, time_limit=4)
    assert time.perf_counter() - started < 12


def test_an_interrupt_keeps_what_is_known():
    def stop(title):
        if title == describe_module.TITLES["columns"]:
            raise KeyboardInterrupt

    found = linsep.describe(*linsep.datasets.xor(), watch=stop)
    assert list(found.sections) == ["verdict", "labels"]
    said = "Interrupted: later sections are missing"
    assert said in str(found) and said in found.page().decode() and found.facts()["interrupted"] is True


def test_an_interrupt_before_the_first_section_keeps_an_earlier_page(tmp_path, monkeypatch, capsys):
    def stop(*args, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(describe_module, "max_margin", stop)
    (tmp_path / "a.csv").write_text("a,kind\n0,x\n1,y\n")
    (tmp_path / "a.html").write_text("<!doctype html>an earlier page")
    asked = ["report", str(tmp_path / "a.csv"), "--label", "kind", "--html", str(tmp_path / "a.html")]
    assert main(asked) == 130 and capsys.readouterr().err == "linsep: interrupted.\n"
    assert (tmp_path / "a.html").read_text() == "<!doctype html>an earlier page"


def test_classifiers_that_are_left_out_for_time_are_named(monkeypatch):
    monkeypatch.setitem(describe_module.SHARES, "learners", 0.0)
    monkeypatch.setattr(describe_module, "_wrong", lambda *given: time.sleep(0.6) or 0)
    told = linsep.describe(*linsep.datasets.xor()).sections["learners"].text()
    assert "There was no time left for KernelPerceptronClassifier, MaxMarginClassifier" in told


def test_a_sample_has_one_number_of_mistakes(monkeypatch):
    monkeypatch.setattr(describe_module, "ENTRIES", 400)
    X, y = linsep.datasets.planted(1500, 2, flipped=300)
    found = linsep.describe(X, y, time_limit=10)
    mistakes = found.cleaning.mistakes.best
    assert found.cleaning.mistakes.n_rows == 1000
    assert f"any hyperplane with {mistakes} mistakes" in found.sections["theory"].text()


def test_the_command_shows_names_and_writes_the_page(tmp_path, capsys):
    table, page = tmp_path / "a.csv", tmp_path / "a.html"
    table.write_text("who,a,kind\nann,0,x\nbob,1,y\ncy,2,x\n<i>,3,y\n")
    asked = ["report", str(table), "--label", "kind", "--id", "who", "--time-limit", "4"]
    assert main([*asked, "--html", str(page)]) == 0
    said = capsys.readouterr().out
    assert "overlapping" in said and "bob" in said and "<i>" not in Path(page).read_text()
    assert main([*asked, "--json"]) == 0
    assert list(json.loads(capsys.readouterr().out)["sections"]) == [
        "verdict",
        "labels",
        "columns",
        "learners",
        "theory",
    ]


def test_the_page_is_not_written_over_the_table(tmp_path):
    table = tmp_path / "a.csv"
    table.write_text("a,kind\n0,x\n1,y\n")
    assert main(["report", str(table), "--label", "kind", "--html", str(table)]) == 2
    assert table.read_text().startswith("a,kind")


def test_an_interrupt_of_one_learner_ends_them_all(monkeypatch):
    def fit(self, X, y):  # as a search does that keeps what it knows
        with suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        return self

    monkeypatch.setattr(linsep.FewestMistakesClassifier, "fit", fit)
    page = linsep.describe(*linsep.datasets.cornwell())
    learners = [row[0] for part in page.sections["learners"].parts if isinstance(part, Grid) for row in part.rows]
    assert learners == ["PerceptronClassifier", "KernelPerceptronClassifier", "MaxMarginClassifier"]
    assert "theory" not in page.sections and "no time left" not in str(page) and page.was_interrupted
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
