"""Centred and scaled columns: the run is theirs, what is said about it is true of the user's own rows."""

import json
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

import linsep
from linsep.cli import main
from linsep.errors import ArgumentError
from linsep.explorer.own_table import OwnTable
from linsep.on_files import Trainer
from linsep.sources.inputs import as_source
from linsep.sources.standardised import Scaling, mistakes_of, standardised

PEOPLE = np.array([[171, 72], [176, 74], [181, 81], [168, 66], [165, 66], [186, 84]])
KINDS = np.array(["a", "b", "a", "b", "a", "b"])


@pytest.fixture
def people(tmp_path):
    lines = [f"{h},{w},{kind}" for (h, w), kind in zip(PEOPLE.tolist(), KINDS, strict=True)]
    path = tmp_path / "people.csv"
    path.write_text("height,weight,y\n" + "\n".join(lines) + "\n")
    return str(path)


def rows_of(source):
    return np.vstack([block.values for block in source.blocks()])


@pytest.mark.parametrize("seed", range(4))
def test_columns_have_mean_0_and_deviation_1(seed):
    X = np.random.default_rng(seed).normal([1e6, -3, 1e-9], [2, 5e4, 1e-12], (50, 3))
    rows = rows_of(standardised(as_source(X, np.arange(50) % 2)))
    assert np.allclose(rows.mean(axis=0), 0, atol=1e-9)
    assert np.allclose(rows.std(axis=0), 1)


def test_without_bias_the_origin_stays():
    rows = rows_of(standardised(as_source([[3, 1], [4, -1]], [0, 1]), centre=False))
    assert np.allclose((rows**2).mean(axis=0), 1)
    assert np.allclose(rows[:, 0], np.array([3, 4]) / np.sqrt(12.5))


def test_a_column_of_one_value_becomes_0():
    rows = rows_of(standardised(as_source([[0.1, 1], [0.1, 2], [0.1, 4]], [0, 1, 1])))
    assert rows[:, 0].tolist() == [0, 0, 0]


def test_files_are_standardised_as_rows_in_memory(people):
    source = linsep.open(people, label="y")
    assert np.array_equal(rows_of(standardised(source)), rows_of(standardised(as_source(PEOPLE, KINDS))))


def test_parts_of_a_stream_see_the_same_scaling(tmp_path):
    X, y = linsep.datasets.planted(3000, 3, seed=2)
    np.savez(tmp_path / "many.npz", X=X + 50, y=y)
    source = linsep.open(str(tmp_path / "many.npz"))
    rows = standardised(source)
    assert np.allclose(rows_of(rows).mean(axis=0), 0, atol=1e-9)
    assert np.array_equal(rows.take([7, 3]).values, rows_of(rows)[[7, 3]])


@pytest.mark.parametrize("seed", range(5))
def test_the_hyperplane_in_own_units_is_the_same_hyperplane(seed):
    random = np.random.default_rng(seed)
    scaling = Scaling(random.normal(0, 1e3, 3), np.exp(random.normal(0, 3, 3)))
    plane = linsep.Halfspace(random.normal(size=3), 0.5)
    X = scaling.centres + scaling.scales * random.normal(size=(40, 3))
    own = scaling.in_own_units(plane)
    assert np.allclose(own.score(X), plane.score((X - scaling.centres) / scaling.scales))


def test_the_bias_makes_up_for_rounded_weights_at_the_centre():
    scaling = Scaling(np.array([1e15 + 1, 3.0]), np.array([3.0, 0.7]))
    own = scaling.in_own_units(linsep.Halfspace([1.0, 1.0], 0.25))
    at_centre = sum(Fraction(w) * Fraction(c) for w, c in zip(own.w.tolist(), scaling.centres.tolist(), strict=True))
    assert abs(at_centre + Fraction(own.b) - Fraction(1, 4)) <= Fraction(np.spacing(abs(own.b)))


def test_scales_at_the_ends_of_the_doubles_leave_weights_finite():
    own = Scaling(np.array([0.0, 0.0]), np.array([1e-310, 1e300])).in_own_units(linsep.Halfspace([1.0, 1.0], 1.0))
    assert np.isfinite(own.w).all()
    assert own.w[0] > 0 and own.w[1] > 0


def test_mistakes_are_counted_exactly_on_the_rows():
    tenth = linsep.Halfspace([1.0, 1.0], -0.3)  # 0.1 + 0.2 is above 0.3 in doubles, and exactly too
    assert mistakes_of(as_source([[0.1, 0.2], [0.0, 0.0]], [1, 0]), tenth) == 0
    assert mistakes_of(as_source([[0.1, 0.2], [0.0, 0.0]], [0, 1]), tenth) == 2
    assert mistakes_of(as_source([[1, 2], [3, 4]], [0, 1]), linsep.Halfspace([0.0, 0.0], 0)) == 2


def test_a_run_that_rounding_alone_separates_is_not_called_separated():
    X = np.array([[1e16, 1], [1e16 + 2, 1], [1e16, 1], [0, 0]])
    run = Trainer(X, [0, 1, 1, 0], standardise=True, max_passes=50).run()
    assert not run.separated  # rows 0 and 2 are the same point


@pytest.mark.parametrize("seed", range(20))
def test_separated_means_separated_on_the_own_rows(seed):
    random = np.random.default_rng(seed)
    X = np.round(random.normal([1e3, 1e-3], [1, 1e-5], (12, 2)), 5)
    y = random.integers(0, 2, 12)
    if len(set(y)) < 2:
        return
    result = Trainer(X, y, standardise=True, max_passes=300).run()
    assert result.mistakes == result.halfspace.mistakes(X, y)
    if result.separated:
        assert result.mistakes == 0 and linsep.decide(X, y).separable


def test_fit_says_what_is_proved_and_what_would_help(people, capsys):
    assert main(["fit", people, "--label", "y", "--max-passes", "200"]) == 3
    said, notes = capsys.readouterr()
    assert "the classes are separable (proved), and the run needs more updates" in said
    assert "R/gamma is 20,615 because the columns are far from 0; centred and scaled the bound is 570." in said
    assert "--standardise" in notes and "may separate" not in said


def test_fit_of_impossible_rows_says_that_the_updates_never_end(capsys):
    assert main(["fit", "example:xor", "--max-passes", "10"]) == 3
    assert "no hyperplane separates the classes (proved)" in capsys.readouterr().out


def test_a_standardised_model_predicts_in_the_users_units(people, tmp_path, capsys):
    model = str(tmp_path / "model.json")
    assert main(["fit", people, "--label", "y", "--standardise", "-o", model]) == 0
    plane = linsep.load(model).halfspace
    assert plane.predict(PEOPLE).tolist() == KINDS.tolist()
    capsys.readouterr()
    assert main(["predict", model, people]) == 0
    assert capsys.readouterr().out.split() == KINDS.tolist()


def test_a_standardised_trace_gives_its_scaling_and_its_end_in_own_units(people, capsys):
    assert main(["trace", people, "--label", "y", "--standardise", "--json"]) == 0
    first, *steps, summary = map(json.loads, capsys.readouterr().out.splitlines())
    scaling = Scaling(np.array(first["centres"]), np.array(first["scales"]))
    last = scaling.in_own_units(linsep.Halfspace(steps[-1]["w"], steps[-1]["b"]))
    assert (last.w.tolist(), last.b) == (summary["w"], summary["b"])
    assert linsep.Halfspace(summary["w"], summary["b"], ("a", "b")).mistakes(PEOPLE, KINDS) == 0


def test_a_checkpoint_of_the_other_kind_is_not_resumed(people, tmp_path, capsys):
    saved = str(tmp_path / "state")
    assert main(["fit", people, "--label", "y", "--max-updates", "5", "--checkpoint", saved]) == 3
    assert main(["fit", people, "--label", "y", "--standardise", "--checkpoint", saved]) == 0
    assert "58 updates" in capsys.readouterr().out


def test_novikoff_explains_a_large_bound_and_leaves_a_small_one_alone():
    theory = linsep.novikoff(PEOPLE, KINDS)
    assert theory.standardised < 600
    assert theory.explain().endswith("far from 0; centred and scaled the bound is 570.")
    assert linsep.novikoff(*linsep.datasets.cornwell()).standardised is None


def test_a_narrow_gap_alone_is_not_blamed_on_the_columns():
    theory = linsep.novikoff([[1, 1.001], [-1, -0.999], [1, 0.999], [-1, -1.001]], [1, 1, 0, 0])
    assert theory.bound[1] > 10_000 and theory.standardised is None


def test_scales_are_named_as_the_cause():
    X = np.array([[1e-4, 1000.0], [2e-4, -1000], [-1e-4, 900], [-2e-4, -1100]])
    assert "very different scales" in linsep.novikoff(X, [1, 1, 0, 0]).explain()


@pytest.mark.parametrize("X", [sp.csr_array([[1.0, 0], [0, 1]]), [[1.7e308, 0], [-1.7e308, 1]]])
def test_what_cannot_be_standardised_is_refused(X):
    with pytest.raises(ArgumentError, match="standardised"):
        standardised(as_source(X, [0, 1]))


def test_the_explorer_shows_standardised_columns():
    table = OwnTable(PEOPLE, KINDS, standardise=True, title="people")
    assert np.allclose(table.X.std(axis=0), 1) and "centred and scaled" in table.title
    assert table.verdict.kind == "separable"


def test_the_explorer_refuses_rows_whose_verdict_scaling_would_change():
    collinear = [[7, 22], [2, 7], [0, 1], [2, 7]]  # rows 1 and 3 lie between the others, until they are rounded
    assert OwnTable(collinear, [0, 1, 0, 1]).verdict.kind == "overlapping"
    with pytest.raises(ArgumentError, match="overlapping, but separable once"):
        OwnTable(collinear, [0, 1, 0, 1], standardise=True)


def test_a_run_on_rows_that_rounding_takes_apart_claims_nothing():
    collinear = [[7, 22], [2, 7], [0, 1], [2, 7]]
    result = Trainer(collinear, [0, 1, 0, 1], standardise=True, max_passes=2000).run()
    assert not result.separated and result.mistakes >= 1


def test_the_explorer_refuses_to_standardise_nothing(capsys):
    assert main(["explore", "--standardise"]) == 2
    assert "rows of your own" in capsys.readouterr().err
