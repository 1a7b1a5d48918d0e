"""How many labels must be wrong is proved, and the rows that were spoilt are found."""

import csv
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import linsep
from linsep.cli import main
from linsep.errors import ArgumentError
from linsep.questions import clean as clean_module

LINE = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], ["low", "low", "high", "low", "high", "high"]


def spoilt(n=120, d=2, flips=4, seed=1):
    """Two groups far apart, and the numbers of the rows whose labels were changed."""
    random = np.random.default_rng(seed)
    y = np.where(random.random(n) < 0.5, -1, 1)
    X = random.normal(size=(n, d)) + 4 * y[:, None]
    rows = random.choice(n, flips, replace=False)
    y[rows] *= -1
    return X, y, set(rows.tolist())


def written(path):
    X, y, rows = spoilt()
    lines = [
        f"R{1000 + k},{a!r},{b!r},{'ill' if sign > 0 else 'well'}\n"
        for k, ((a, b), sign) in enumerate(zip(X.tolist(), y, strict=True))
    ]
    path.write_text("id,a,b,state\n" + "".join(lines))
    return path, {f"R{1000 + row}" for row in rows}


def test_the_rows_that_were_spoilt_come_first():
    X, y, rows = spoilt()
    found = linsep.clean(X, y, time_limit=20)
    found.mistakes.verify(X, y)
    assert found.mistakes.lower == found.mistakes.best == 4 and set(found.rows[:4]) == rows
    assert all(s.is_mistaken == (s.row in found.mistakes.mistaken_rows) for s in found.suspects)
    assert found.verdict.kind == "separable" and found.verdict.n_rows == 116


def test_what_follows_if_a_suspect_is_right_is_at_least_the_bound():
    found = linsep.clean(*LINE, time_limit=20)
    first = found.suspects[0]
    assert first.row in (2, 3) and first.if_right == (1, 1)  # one of the two is wrong


def test_the_ends_are_at_least_and_at_most():
    other = linsep.fewest_mistakes(*LINE)
    assert clean_module._ends_of(replace(other, least=0), -1, 99, 0) == (0, other.best)
    assert clean_module._ends_of(other, other.mistaken_rows[0], 99, 0) == (other.lower, None)


def test_a_label_that_contradicts_many_others_cannot_be_right_alone():
    X, y = [[float(k)] for k in range(17)], [0] * 8 + [1] * 8 + [0]
    found = linsep.clean(X, y, time_limit=20)
    assert found.mistakes.mistaken_rows == (16,)
    assert {s.row: s.if_right for s in found.suspects}[16] == (8, 8)


def test_a_separable_table_has_no_wrong_labels():
    found = linsep.clean(*linsep.datasets.cornwell())
    assert found.mistakes.best == 0 and "No label need be wrong" in str(found)


def test_equal_rows_with_both_labels_cost_the_minority():
    found = linsep.clean([[0.0], [0.0], [0.0], [1.0]], [0, 0, 1, 1])
    assert found.mistakes.mistaken_rows == (2,) and found.rows[0] == 2 and found.suspects[0].instead == 0


def test_a_row_that_no_hyperplane_gets_right_is_examined_too():
    found = linsep.clean([[0.0], [1.0], [-1.0]], [0, 1, 0], bias=False)
    (suspect,) = [s for s in found.suspects if s.row == 0]
    assert suspect.if_right == (None, None) and "never" in str(found)


def test_costs_and_sparse_rows():
    X, y = LINE
    found = linsep.clean(sp.csr_array(X), y, cost={"low": 3, "high": 1}, time_limit=20)
    assert found.mistakes.mistaken_rows == (2,) and "cost at least 1" in str(found)


@pytest.mark.parametrize("scale", [1e300, 1e-310])
def test_numbers_of_any_size_are_ranked(scale):
    X, y, rows = spoilt(40, 1, 2)
    found = linsep.clean(X * scale, y, time_limit=20)
    assert set(found.rows[:2]) == rows and found.mistakes.best == 2


def test_ids_are_those_given_or_those_of_a_frame():
    X, y = LINE
    names = list("pqrstu")
    frame = pd.DataFrame(X, columns=["age"], index=names)
    for found in (linsep.clean(X, y, ids=names), linsep.clean(frame, y)):
        assert all(suspect.id == names[suspect.row] for suspect in found.suspects)
    assert not linsep.clean(pd.DataFrame(X), y).suspects[0].id
    with pytest.raises(ArgumentError, match="ids has 2 names"):
        linsep.clean(X, y, ids=["a", "b"])


def test_a_source_of_files_brings_its_ids(tmp_path):
    path, spoilt_ids = written(tmp_path / "a.csv")
    found = linsep.clean(linsep.open(path, label="state", id="id"), time_limit=20)
    assert {suspect.id for suspect in found.suspects[:4]} == spoilt_ids


def test_the_command_writes_the_table_the_page_and_the_proof(tmp_path, capsys):
    path, spoilt_ids = written(tmp_path / "a.csv")
    table, page, proof = (str(tmp_path / name) for name in ("s.csv", "s.html", "p.json"))
    asked = [str(path), "--label", "state", "--id", "id"]
    assert main(["clean", *asked, "-o", table, "--html", page, "--proof", proof, "--time-limit", "20"]) == 0
    said = capsys.readouterr()
    assert "At least 4 labels are wrong" in said.out and all(name in said.out for name in spoilt_ids)
    rows = list(csv.DictReader(Path(table).read_text().splitlines()))
    assert {row["id"] for row in rows[:4]} == spoilt_ids and rows[0]["rank"] == "1" and rows[0]["mistaken"] == "1"
    assert "<script" not in (text := Path(page).read_text()) and all(name in text for name in spoilt_ids)
    assert main(["verify", proof, *asked]) == 0


def test_the_command_says_the_same_in_json(tmp_path, capsys):
    path, spoilt_ids = written(tmp_path / "a.csv")
    assert main(["clean", str(path), "--label", "state", "--id", "id", "--json", "--time-limit", "20"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert {suspect["id"] for suspect in facts["suspects"][:4]} == spoilt_ids and facts[
        "verdict_without"
    ] == "separable"


def test_outputs_over_the_input_are_refused(tmp_path):
    path, _ = written(tmp_path / "a.csv")
    before = path.read_bytes()
    assert main(["clean", str(path), "--label", "state", "--id", "id", "-o", str(path)]) == 2
    assert path.read_bytes() == before


def test_a_row_of_zeros_has_no_wrong_label():
    found = linsep.clean([[0.0], [1.0], [-1.0]], ["a", "a", "b"], bias=False)
    assert str(found).startswith("At least 1 mistake, whatever") and "leaving out 1 row is enough" in str(found)


def test_rows_of_which_one_class_is_left_have_no_verdict():
    found = linsep.clean([[0.0]] * 4, list("aabb"))
    assert found.verdict is None and "not of two classes" in str(found)
    assert [suspect.obstructions for suspect in found.suspects] == [1] * len(found.suspects)


def test_with_costs_it_is_costs_that_follow_if_a_label_is_right():
    assert "what wrong labels cost" in str(linsep.clean(*LINE, cost={"low": 10, "high": 10}))


def test_rejected_rows_are_not_overwritten(tmp_path):
    path, _ = written(tmp_path / "a.csv")
    path.write_text(path.read_text() + "R9,?,1,ill\n")
    same = str(tmp_path / "out.csv")
    asked = ["clean", str(path), "--label", "state", "--id", "id", "--reject", same]
    assert main([*asked, "-o", same]) == main([*asked, "--html", same]) == 2


def test_ids_that_are_no_list_are_refused():
    with pytest.raises(ArgumentError, match="ids is 5"):
        linsep.clean(*LINE, ids=5)


def test_nothing_from_the_data_is_markup():
    X, y = LINE
    found = linsep.clean(X, y, ids=[f"<b>{k}" for k in range(6)])
    assert "<b>" not in found.report().html() and "&lt;b&gt;" in found.report().page().decode()


def test_an_interrupt_ends_all_of_it_and_keeps_what_is_known():
    def stop(search):
        raise KeyboardInterrupt

    random = np.random.default_rng(0)
    X, y = random.standard_normal((200, 4)), random.integers(0, 2, 200)
    found = linsep.clean(X, y, watch=stop)
    assert found.suspects and all(suspect.if_right is None for suspect in found.suspects)
