"""Nothing is lost where a number or a label changes its type, and docs/conversions.md names every such place."""

import ast
import re
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import linsep
from linsep import Halfspace, OnlinePerceptron, PerceptronClassifier
from linsep.errors import ArgumentError, InexactError, ModelError
from linsep.explorer import engine, own_table
from linsep.models import Model, Training, from_json
from linsep.plots.scene import Subject
from linsep.scores import linear_scores
from linsep.sources.inputs import as_source

LONG = 2**53 + 1
THIRD = Fraction(1, 3)
ROOT = Path(__file__).parents[1]
SOURCES = sorted((ROOT / "src/linsep").rglob("*.py"))
CONVERTERS = {
    "float", "int", "round", "Fraction", "Decimal", "array", "asarray", "ascontiguousarray", "fromiter", "frombuffer",
    "astype", "view", "to_numpy", "cast", "tolist", "item", "loads", "dumps", "as_integer_ratio", "int8", "int64",
    "uint8", "uint64", "float32", "float64",
}  # fmt: skip


def converters(path: Path) -> set[str]:
    """The converting functions that a module calls."""
    calls = [node.func for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Call)]
    names = {f.attr if isinstance(f, ast.Attribute) else getattr(f, "id", "") for f in calls}
    return names & CONVERTERS


def listed() -> set[str]:
    """The modules that the page names, one in the first cell of each line or heading of a group."""
    page = (ROOT / "docs/conversions.md").read_text("utf-8")
    return set(re.findall(r"`([a-z0-9_/]+\.py)(?:: [^`]*)?`", page))


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT / "src/linsep")))
def test_the_page_names_every_module_that_converts_and_no_other(path):
    name = path.relative_to(ROOT / "src/linsep").as_posix()
    assert (name in listed()) == bool(converters(path)), sorted(converters(path))


def test_the_page_names_only_modules_that_exist():
    assert listed() <= {path.relative_to(ROOT / "src/linsep").as_posix() for path in SOURCES}


# Scores -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("classes", [1, 3])
@pytest.mark.parametrize("kinds", [("f4", "f4", "f4"), ("f4", "f4", "f8"), ("i1", "f4", "f8"), ("f8", "i8", "f8")])
@pytest.mark.parametrize("layout", [np.array, sp.csr_array])
def test_scores_of_rows_near_a_tie_are_on_the_side_that_fractions_say(kinds, classes, layout):
    random = np.random.default_rng(0)
    X = (random.integers(-9, 10, (200, 4)) / (1 if kinds[0] == "i1" else 7)).astype(kinds[0])
    W = (random.integers(-9, 10, (classes, 4)) * (1 if kinds[1] == "i8" else 0.1)).astype(kinds[1])
    b = -np.array([float(x) for x in (X[0].astype("f8") @ W.T.astype("f8"))]).astype(kinds[2])  # row 0 nearly ties
    X[1:100] = X[0]
    exact = [[sum((Fraction(x) * Fraction(w) for x, w in zip(row, line, strict=True)), Fraction(c))
              for line, c in zip(W.tolist(), b.tolist(), strict=True)] for row in X.tolist()]  # fmt: skip
    scores = linear_scores(layout(X), W, b)
    if classes > 1:
        assert scores.argmax(axis=1).tolist() == [row.index(max(row)) for row in exact]
    else:
        assert np.sign(scores[:, 0]).tolist() == [(row[0] > 0) - (row[0] < 0) for row in exact]


# Halfspaces ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int16, np.int32, np.int64, np.uint64, np.float16, np.float32])
@pytest.mark.parametrize("rows", [np.int8, np.uint8, np.int16, np.float16, np.float32])
def test_weights_of_a_narrow_type_do_not_wrap_around(kind, rows):
    side = Halfspace(np.array([100, 100], kind))
    assert side.score(np.array([[100, 100]], rows)).tolist() == [20_000]
    assert side.predict(np.array([[100, 100]], rows)).tolist() == [1]


def test_weights_that_no_64_bit_number_is_are_refused():
    for wrong in (np.array([1 + np.longdouble(2) ** -60]), [THIRD], [2**63 + 1]):
        with pytest.raises(InexactError, match=r"w\[0\]"):
            Halfspace(wrong)


def test_the_homogeneous_form_is_not_rounded():
    side = Halfspace(np.array([LONG]), 0.5)
    assert side.homogeneous.tolist() == [LONG, 0.5]
    assert Halfspace.from_homogeneous(side.homogeneous) == side


def test_a_bias_longer_than_a_double_has_distances():
    assert Halfspace([1e200], 10**400).distance([[1.0]]).tolist() == [1e200]


# Files and exports ----------------------------------------------------------------------------------------------


def reread(side):
    return from_json(Model(side, True, None, None, Training(1, 0, 0, 1, True, "cyclic", 0, "0")).to_json()).halfspace


@pytest.mark.parametrize(
    "side", [Halfspace([1, 2], 0.5), Halfspace([1], 2**70), Halfspace([1], 0, (0.5, 2)), Halfspace(np.array([LONG]), 1)]
)
def test_a_saved_halfspace_is_read_back_the_same(side):
    assert reread(side) == side


@pytest.mark.parametrize("side", [Halfspace([0.5], LONG), Halfspace([1], 0, (0.5, LONG)), Halfspace([1], 0, (1, "1"))])
def test_a_halfspace_that_a_file_would_round_is_not_saved(side):
    with pytest.raises(ModelError):
        reread(side)


@pytest.mark.parametrize("side", [Halfspace(np.array([LONG])), Halfspace([1.0], LONG), Halfspace([1], 0, (0.5, LONG))])
def test_a_halfspace_that_onnx_would_round_is_not_exported(side):
    pytest.importorskip("onnx")
    with pytest.raises((InexactError, ArgumentError)):
        linsep.to_onnx(side)


# Labels and options ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("classes", [[0.0, 2.0**53], [0.0, 2.0**53, 2.0**54]])
def test_a_label_that_only_rounding_makes_a_class_is_refused(classes):
    with pytest.raises(InexactError):
        PerceptronClassifier().partial_fit(np.eye(2), np.array([0, LONG]), classes=np.array(classes))


def test_integer_labels_beside_classes_of_floats_are_those_classes():
    model = PerceptronClassifier(random_state=0).partial_fit(np.eye(2), np.array([0, 1]), classes=np.array([0.0, 1.0]))
    assert model.predict(np.eye(2)).tolist() == [0, 1]


@pytest.mark.parametrize("gap", [Fraction(1, 10**400), 1 - Fraction(1, 10**400)])
def test_a_gap_that_only_rounding_makes_an_end_is_refused(gap):
    with pytest.raises(ArgumentError, match="between 0 and 1"):
        linsep.max_margin([[0.0], [1.0]], [0, 1], gap=gap)


@pytest.mark.parametrize("gamma", [np.float32(0.5), Fraction(1, 2), np.longdouble(0.5)])
def test_a_margin_of_any_number_type_is_saved_and_read(tmp_path, gamma):
    model = OnlinePerceptron([0, 1], gamma=gamma)
    model.predict_then_learn([[1.0], [2.0]], [0, 1])
    model.save(tmp_path / "model.json")
    assert linsep.load(tmp_path / "model.json").gamma == 0.5


@pytest.mark.parametrize("gamma", [True, Decimal("0.5"), Fraction(1, 10**400), 10**400, np.nan, 0])
def test_a_margin_that_no_double_is_near_is_refused(gamma):
    with pytest.raises(ArgumentError, match="gamma"):
        OnlinePerceptron([0, 1], gamma=gamma)


# The estimate's existence ----------------------------------------------------------------------------------------


def test_the_existence_of_an_estimate_is_decided_for_fractions():
    report = linsep.mle_exists([[THIRD], [2 * THIRD], [THIRD], [1]], [0, 1, 1, 1])
    assert (report.exists, report.separated_rows) == (False, (1, 3))
    assert report.coefficients == {"(Intercept)": "-inf", "x1": "+inf"}


def test_a_dependence_of_fractions_is_told_in_the_users_units():
    rows = [[Decimal("0.1") * k, THIRD * k] for k in (1, 2, 3, 4)]
    report = linsep.mle_exists(rows, [0, 1, 0, 1])
    assert report.dependences[0].terms == (("x1", Fraction(10, 3)),)
    assert report.coefficients["x2"] == "aliased"


@pytest.mark.parametrize("seed", range(40))
def test_estimates_of_fractions_agree_with_those_of_the_same_rows_in_integers(seed):
    random = np.random.default_rng(seed)
    whole = random.integers(-3, 4, (7, 3))
    y = np.append([0, 1], random.integers(0, 2, 5))
    parts = [[Fraction(int(n), k) for n, k in zip(row, (3, 7, 10), strict=True)] for row in whole]
    ours, theirs = linsep.mle_exists(parts, y), linsep.mle_exists(whole, y)
    assert (ours.states, ours.separated_rows) == (theirs.states, theirs.separated_rows)


# Pictures ------------------------------------------------------------------------------------------------------


def pictured(X, y, model=None, verdict=None):
    return Subject.of(as_source(X, y), verdict, model, True)


@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
def test_a_picture_states_the_margin_at_any_scale_of_the_weights(scale):
    found = pictured([[-1.0], [1.0]], [0, 1], Halfspace([scale]))
    assert (found.mistakes, found.margin) == (0, 1.0)


def test_a_picture_counts_mistakes_by_the_labels_of_the_halfspace():
    assert pictured([[-1.0], [1.0]], ["a", "b"], Halfspace([-1.0], 0, ("b", "a"))).mistakes == 0


def test_a_picture_counts_mistakes_exactly():
    side = Halfspace(np.array([LONG, -(2**53)]))  # a score of 1, which doubles make 0
    assert pictured([[1, 1], [-1, -1]], [1, 0], side).mistakes == 0


@pytest.mark.parametrize(
    "X", [[[2**60 + 1], [2**60]], [[2**60 + 1, 1], [2**60, 3]], [[1e300], [np.nextafter(1e300, 2e300)]]]
)
def test_a_picture_of_a_proved_verdict_never_calls_it_undecided(X):
    found = pictured(X, [0, 1])
    assert found.headline().startswith("Separable: largest margin")
    assert found.mistakes == 0


def test_a_picture_tells_a_bad_hyperplane_from_a_verdict():
    found = pictured([[-1.0], [1.0]], [0, 1], Halfspace([-1.0]), linsep.decide([[-1.0], [1.0]], [0, 1]))
    assert found.headline() == "Separable, but this hyperplane makes 2 mistakes in 2 rows"


# The explorer --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [np.array([[100]], np.int8), np.array([[1e30]], np.float32)])
@pytest.mark.parametrize("layout", [np.array, sp.csr_array])
def test_the_radius_of_narrow_types_does_not_overflow(rows, layout):
    assert engine._radius(layout(rows), False) == pytest.approx(float(rows[0, 0]))


def test_the_smallest_integer_is_not_a_point_of_the_page():
    assert not own_table.OwnTable(np.array([[-(2**63), 0], [1, 1]]), [0, 1]).is_flat
