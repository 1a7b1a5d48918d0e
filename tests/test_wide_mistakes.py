"""The fewest mistakes of rows with many columns: bounds by positive-definite obstructions, and by small rank."""

import json
from dataclasses import replace

import numpy as np
import pytest

import linsep
from linsep import checker
from linsep.proofs import Obstruction
from linsep.proofs.packings import UNITS, Leaf
from linsep.questions import mistakes as mistakes_module
from tests.campaigns import forge

X, Y = linsep.datasets.xor()
WEIGHTS = (1000, 1001, 999, 1000)


def definite(rows=(0, 1, 2, 3), weights=WEIGHTS):
    return Obstruction(rows, weights, dependences=())


@pytest.fixture(scope="module")
def found():
    """A bound that rests on rows whose weights nearly cancel."""
    one = Leaf((), ((0, UNITS),))
    return replace(linsep.fewest_mistakes(X, Y), obstructions=(definite(),), leaves=(one,), copies=())


@pytest.fixture
def checked(tmp_path):
    """What the checker that stands alone says of a written proof."""
    data, proof = tmp_path / "rows.csv", tmp_path / "proof.json"
    data.write_text("a,b,y\n" + "\n".join(f"{a!r},{b!r},{label}" for (a, b), label in zip(X.tolist(), Y, strict=True)))

    def ask(written):
        proof.write_text(written)
        return checker.main([str(proof), str(data)])

    return ask


def test_a_definite_obstruction_proves_a_mistake_to_both_checkers(found, checked):
    found.verify(X, Y)
    assert found.lower == 1 and checked(found.to_json()) == 0


def test_a_bound_with_a_definite_obstruction_is_of_version_5_and_read_back(found):
    written = json.loads(found.to_json())
    assert written["version"] == "5" and not written["obstructions"] and len(written["definite_obstructions"]) == 1
    assert linsep.verdict_from_json(found.to_json()) == found


def test_a_bound_without_one_is_still_of_version_4():
    assert json.loads(linsep.fewest_mistakes(X, Y).to_json())["version"] == "4"


FORGERIES = {
    "weights that do not nearly cancel": {"weights": "1000 1 1000 1"},
    "a row too few": {"steps": "0 1 1", "weights": "1000 1001 999"},
    "a row that is not there": {"steps": "0 1 1 2"},
    "a weight of 0": {"weights": "1000 1001 999 0"},
    "a dependence that does not hold": {"dependences": [{"columns": ["0", "1"], "weights": ["1", "1"]}]},
}


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forged_definite_obstruction_is_refused_by_both(found, checked, name):
    document = json.loads(found.to_json())
    document["definite_obstructions"][0] |= FORGERIES[name]
    forged = forge.resealed(document)
    assert checked(forged) in (1, 2)
    with pytest.raises(linsep.CertificateError):
        linsep.verdict_from_json(forged).verify(X, Y)


@pytest.mark.parametrize("fields", [{"version": "4"}, {"definite_obstructions": []}])
def test_the_version_says_whether_there_are_definite_obstructions(found, checked, fields):
    forged = forge.resealed(json.loads(found.to_json()) | fields)
    assert checked(forged) == 2
    with pytest.raises(linsep.CertificateError):
        linsep.verdict_from_json(forged)


def test_definite_obstructions_come_last(found):
    exact = Obstruction((0, 1, 2, 3), (1, 1, 1, 1))
    with pytest.raises(linsep.CertificateError, match="after the others"):
        replace(found, obstructions=(definite(), exact))


def test_definite_obstructions_are_not_about_decimals(found):
    with pytest.raises(linsep.CertificateError, match="decimals"):
        replace(found, numbers="decimal")


def test_wide_rows_that_overlap_have_a_bound(monkeypatch):
    random = np.random.default_rng(0)
    wide, y = random.standard_normal((1000, 60)), random.choice([-1, 1], 1000)
    monkeypatch.setattr(mistakes_module, "WIDEST", 20)
    found = linsep.fewest_mistakes(wide, y, time_limit=10)
    rows = [row for obstruction in found.obstructions for row in obstruction.rows]
    assert found.lower == len(found.obstructions) >= 2 and len(set(rows)) == len(rows)
    found.verify(wide, y)
    assert linsep.verdict_from_json(found.to_json()) == found


def test_many_columns_of_small_rank_are_as_easy_as_few():
    random = np.random.default_rng(1)
    few = random.integers(-4, 5, (40, 3))
    wide, y = few @ random.integers(-4, 5, (3, 900)), random.choice([-1, 1], 40)
    found, asked = linsep.fewest_mistakes(wide, y), linsep.fewest_mistakes(few, y)
    assert found.optimal and found.best == asked.best > 1
    found.verify(wide, y)


def test_costs_count_in_the_obstructions_of_wide_rows(monkeypatch):
    random = np.random.default_rng(2)
    wide, y = random.standard_normal((300, 20)), random.choice([-1, 1], 300)
    monkeypatch.setattr(mistakes_module, "WIDEST", 2)
    found = linsep.fewest_mistakes(wide, y, cost={-1: 2, 1: 3}, time_limit=10)
    assert found.lower == sum(min(found.costs[row] for row in one.rows) for one in found.obstructions) >= 4
    found.verify(wide, y)
