"""Regions of hyperplanes: every row in a region of its class, whatever the rows are, and in exact arithmetic."""

import json
import math
import time
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from matplotlib import pyplot
from sklearn.base import clone
from sklearn.datasets import load_iris, make_moons
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

import linsep
from linsep.estimators.saving import document_of
from linsep.models import MODEL
from linsep.proofs.region_proof import Cut
from linsep.saved_models.load import from_json
from linsep.solvers.clock import Clock
from linsep.solvers.cuts import axis_trees, pure_cuts
from linsep.solvers.cuts.pure_cuts import Plane, least_lack, widest


def instance(seed):
    """Few rows of up to four classes: on a small grid, with ties and contradictions; anywhere; or far apart."""
    random = np.random.default_rng(seed)
    n, d, classes = int(random.integers(1, 20)), int(random.integers(1, 4)), int(random.integers(1, 5))
    odd = [1e-300, 1e300, 0.0, 1.0, 1e16, 1e16 + 2, -5e-324]
    kinds = [random.integers(-2, 3, (n, d)).astype(float), random.standard_normal((n, d)), random.choice(odd, (n, d))]
    return kinds[seed % 3], random.integers(0, classes, n)


def read_slowly(found, X):
    """The class of each row, in fractions."""
    for x in X.tolist():
        k = 0 if found.cuts else ~found.only
        while k >= 0:
            cut = found.cuts[k]
            score = sum(Fraction(a) * w for a, w in zip(x, cut.weights, strict=True)) + cut.bias_weight
            k = cut.above if score > 0 else cut.below
        yield found.classes[~k]


def unavoidable(X, y):
    """How many rows every function of the rows mistakes."""
    points = {}
    for row, label in zip(X.tolist(), y.tolist(), strict=True):
        points.setdefault(tuple(row), []).append(label)
    return sum(len(labels) - max(map(labels.count, labels)) for labels in points.values())


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100))
def test_every_row_is_in_a_region_of_its_class_but_for_contradictions(seed):
    X, y = instance(seed)
    found = linsep.separate_regions(X, y)
    found.verify(X, y)
    wrong = [row for row, label in enumerate(read_slowly(found, X)) if label != y[row]]
    assert wrong == sorted(found.mistaken_rows) and len(wrong) == unavoidable(X, y)


def test_a_grid_with_ties_is_told_apart():
    X = np.array([(a, b) for a in range(5) for b in range(5)])
    y = (X.sum(axis=1) % 3 == 0).astype(int)
    found = linsep.separate_regions(X, y)
    found.verify(X, y)
    assert (found.predict(X) == y).all() and found.region(X).max() == len(found.cuts)


LONG = 1234567890123456788


@pytest.mark.parametrize(
    ("values", "y", "mistakes"),
    [
        ([2**53, 2**53, 2**53 + 1, 2**53 + 1], [0, 1, 1, 0], 2),
        ([2**53 + 1, 2**53, 2**53], [0, 1, 0], 1),
        ([LONG + 1, LONG, LONG], [0, 1, 0], 1),
        ([LONG + 2, LONG, LONG + 1, LONG + 2, LONG + 2], [0, 1, 0, 2, 2], 1),
    ],
)
def test_integers_that_round_to_one_double_are_different(values, y, mistakes):
    for X in (np.array(values)[:, None], sp.csr_array(np.array(values)[:, None])):
        found = linsep.separate_regions(X, y)
        found.verify(X, y)
        assert len(found.mistaken_rows) == mistakes


@pytest.mark.parametrize("seed", range(6))
def test_one_column_gets_a_cut_wherever_the_class_changes(seed):
    random = np.random.default_rng(seed)
    n = (5000, 60, 200)[seed % 3]
    kinds = (
        random.standard_normal(n),
        random.integers(-(2**63), 2**63, n),
        random.choice([1e308, -1e308, 5e-324, 0.0], n),
    )
    values, y = kinds[seed // 2], random.integers(0, 3, n)
    found = linsep.separate_regions(values[:, None], y, time_limit=5)
    found.verify(values[:, None], y)
    kept = np.setdiff1d(np.arange(n), found.mistaken_rows)
    in_order = y[kept][np.argsort(values[kept], kind="stable")]
    assert found.in_time and len(found.cuts) == np.count_nonzero(np.diff(in_order))


def test_contradictions_are_named_and_the_commoner_label_is_kept():
    X, y = [[0.0], [0.0], [-0.0], [1.0]], ["a", "b", "b", "a"]
    found = linsep.separate_regions(X, y)
    assert found.contradictions == ((0, 1),) and found.predict(X).tolist() == ["b", "b", "b", "a"]
    assert "1 mistake in 4 rows" in found.explain() and "Equal rows have different labels" in found.explain()


def test_one_class_needs_no_hyperplane():
    found = linsep.separate_regions([[1.0], [2.0]], ["a", "a"])
    found.verify([[1.0], [2.0]], ["a", "a"])
    assert found.cuts == () and found.sizes == (2,) and "All rows are a." in found.explain()


def test_one_row_needs_none_either():
    assert linsep.separate_regions([[3.0, 4.0]], [7]).predict([[0, 0]]).tolist() == [7]


def test_all_rows_equal_are_one_region():
    found = linsep.separate_regions([[1.0]] * 3, [0, 1, 1])
    assert found.cuts == () and found.mistaken_rows == (0,)


def test_cuts_that_touch_rows_of_the_next_class_are_still_pure():
    X, y = np.array([[0, 0], [1, 0], [2, 0], [1, 1], [1, 2]]), [0, 1, 0, 0, 1]
    found = linsep.separate_regions(X, y)
    found.verify(X, y)
    assert len(found.cuts) <= 3


def test_integers_beyond_doubles_are_told_apart():
    X, y = np.array([[2**60], [2**60 + 1], [2**60 + 2]]), [0, 1, 0]
    found = linsep.separate_regions(X, y)
    found.verify(X, y)
    assert found.predict(X).tolist() == y


def test_two_separable_classes_need_one_hyperplane():
    X, y = linsep.datasets.planted(200, 6, margin=0.01, seed=0)
    assert len(linsep.separate_regions(X, y).cuts) == 1


@pytest.mark.parametrize("seed", range(3))
def test_fields_of_two_colours_need_no_more_cuts_than_a_tree(seed):
    X = np.random.default_rng(seed).uniform(-1, 1, (200, 2))
    y = X[:, 0] * X[:, 1] > 0
    leaves = DecisionTreeClassifier(random_state=0).fit(X, y).get_n_leaves()
    assert len(linsep.separate_regions(X, y).cuts) < leaves


def test_moons_need_few():
    assert len(linsep.separate_regions(*make_moons(300, noise=0.1, random_state=1)).cuts) <= 5


def test_the_same_rows_give_the_same_cuts():
    X, y = make_moons(120, noise=0.3, random_state=0)
    assert linsep.separate_regions(X, y).cuts == linsep.separate_regions(X, y).cuts


def test_sparse_rows_frames_and_sources_are_read_alike(tmp_path):
    X, y = load_iris(return_X_y=True)
    frame = pd.DataFrame(X, columns=list("abcd"))
    frame.assign(y=y).to_csv(tmp_path / "iris.csv", index=False)
    found = linsep.separate_regions(X, y)
    for rows in ((sp.csr_array(X), y), (frame, y), (linsep.open(tmp_path / "iris.csv", label="y"),)):
        other = linsep.separate_regions(*rows)
        other.verify(*rows)
        assert other.cuts == found.cuts
    assert " with " in other.explain() and "x1" not in other.explain()


@pytest.mark.parametrize("kept", [[], [5], [2, 7], range(9)])
def test_columns_without_a_weight_need_not_be_read(kept):
    random = np.random.default_rng(0)
    X, rows = random.integers(-3, 4, (50, 9)), np.arange(0, 50, 3)
    weights = [int(random.integers(1, 5)) if j in kept else 0 for j in range(9)]
    found = Cut(weights, -1, ~0, ~1).is_above(X, rows)
    assert found.tolist() == (X[rows] @ weights > 1).tolist()


@pytest.mark.parametrize("seed", range(300))
def test_a_cut_of_one_column_has_doubles_on_their_exact_sides(seed):
    random = np.random.default_rng(seed)
    odd = [0.0, -0.0, 5e-324, -5e-324, 1e308, -1e308, 1.0, 1 + 2**-52, 1 - 2**-53, 2.0**53, 0.1, *random.normal(size=3)]
    X = np.column_stack([odd, odd[::-1]])
    low, high = map(Fraction, random.choice(odd, 2).tolist())
    place = random.choice([low, high, (low + high) / 2, low / 3, high + Fraction(1, 10**400), -high])
    side = int(random.choice([-1, 1]))
    cut = Cut((0, side * place.denominator), -side * place.numerator, ~0, ~1)
    assert cut.is_above(X, np.arange(len(X))).tolist() == [side * (Fraction(x) - place) > 0 for x in X[:, 1].tolist()]


def test_a_cut_of_one_column_beyond_all_doubles_has_all_rows_on_one_side():
    X, rows = np.array([[-1e308], [1e308]]), np.arange(2)
    assert (
        Cut((1,), 10**400, ~0, ~1).is_above(X, rows).all() and not Cut((1,), -(10**400), ~0, ~1).is_above(X, rows).any()
    )


@pytest.mark.parametrize("limit", [0, 0.2])
def test_past_the_time_limit_every_row_is_still_in_a_region_of_its_class(limit):
    random = np.random.default_rng(0)
    X, y = random.standard_normal((400, 5)), random.integers(3, size=400)
    found = linsep.separate_regions(X, y, time_limit=limit)
    found.verify(X, y)
    assert not found.in_time and "The time limit was reached" in found.explain() and found.seconds < limit + 3


@pytest.mark.parametrize(
    "place",
    [
        "linsep.solvers.cuts.pure_cuts.CutFinder.grown",
        "linsep.questions.regions.decide",
        "linsep.questions.regions.pruned",
        "linsep.solvers.cuts.region_search.LookAhead.best",
    ],
)
def test_an_interrupt_leaves_cuts_that_hold(place, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    X, y = make_moons(120, noise=0.3, random_state=0)
    monkeypatch.setattr(place, interrupted)
    found = linsep.separate_regions(X, y)
    found.verify(X, y)
    assert not found.in_time


@pytest.fixture(scope="module")
def moons():
    X, y = make_moons(100, noise=0.2, random_state=0)
    return X, y, linsep.separate_regions(X, y)


FORGERIES = {
    "another side": lambda found: replace(found, cuts=(turned(found.cuts[0]), *found.cuts[1:])),
    "another hyperplane": lambda found: replace(found, cuts=(moved(found.cuts[0]), *found.cuts[1:])),
    "other sizes": lambda found: replace(found, sizes=found.sizes[::-1]),
    "a contradiction that is none": lambda found: replace(found, contradictions=((0, 1),)),
    "other classes": lambda found: replace(found, classes=(1, 0)),
    "labels of another type": lambda found: replace(found, classes=("0", "1")),
}


def turned(cut):
    return replace(cut, weights=tuple(-w for w in cut.weights), bias_weight=-cut.bias_weight)


def moved(cut):
    return replace(cut, bias_weight=cut.bias_weight + 10 * sum(map(abs, cut.weights)))


@pytest.mark.parametrize("forgery", FORGERIES)
def test_what_does_not_hold_is_refused(forgery, moons):
    X, y, found = moons
    with pytest.raises(linsep.CertificateError):
        FORGERIES[forgery](found).verify(X, y)


@pytest.mark.parametrize(
    "cuts",
    [
        [Cut((1,), 0, 0, -1)],
        [Cut((1,), 0, 1, 1), Cut((1,), 0, -1, -2)],
        [Cut((1, 2), 0, -1, -2)],
        [Cut((1,), 0, -1, -3)],
    ],
)
def test_cuts_that_lead_nowhere_are_refused(cuts):
    with pytest.raises(linsep.CertificateError):
        linsep.Regions(n_rows=1, n_columns=1, classes=(0, 1), cuts=tuple(cuts), sizes=(1,) * (len(cuts) + 1))


def test_bad_values_and_missing_labels_are_refused(moons):
    found = moons[2]
    with pytest.raises(linsep.InputError):
        linsep.separate_regions([[1.0], [np.nan]], [0, 1])
    with pytest.raises(linsep.InputError):
        found.predict([[1.0, np.inf]])
    with pytest.raises(linsep.LinsepError):
        found.predict([[1.0]])
    with pytest.raises(linsep.LinsepError):
        linsep.separate_regions([[1.0]])


def test_the_words_are_those_of_the_columns(moons):
    text = linsep.separate_regions([[1.0, 5.0], [2.0, 5.0], [3.0, 5.0]], ["a", "b", "a"]).explain(["age", "dose"])
    assert "Rows with age > 2.5 are a (1 row)" in text and "dose" not in text
    assert "<table" in moons[2]._repr_html_() and "hyperplane" in repr(moons[2])
    assert json.loads(json.dumps(moons[2].facts()))["rows"] == 100


def test_the_picture_has_a_cell_for_each_region_and_a_number_for_each_cut(moons):
    X, y, found = moons
    ax = linsep.plots.regions(X, y, model=found)
    assert [len([part for part in ax.patches if part.get_gid() == "region"]), len(ax.texts)] == [
        len(found.sizes),
        len(found.cuts),
    ]
    assert ax.get_title(loc="left") == f"{len(found.cuts)} lines, 0 mistakes in 100 rows"
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("x1", "x2")
    pyplot.close(ax.figure)


def test_more_rows_than_directions_are_made_of_are_cut_alike():
    random = np.random.default_rng(0)
    X = random.uniform(-1, 1, (12_000, 2))
    y = np.abs(X).max(axis=1) > 0.5
    found = linsep.separate_regions(X, y)
    found.verify(X, y)
    assert len(found.cuts) == 4


# ---- the classifier ---------------------------------------------------------------------------------------------


@pytest.mark.slow
@parametrize_with_checks([linsep.RegionsClassifier()])
def test_the_contract_of_scikit_learn(estimator, check):
    if "sparse" in str(check) or "classifiers_train" in str(check):  # long, and no two fits of theirs are compared
        estimator = clone(estimator).set_params(time_limit=0.3)
    check(estimator)


@pytest.fixture(scope="module")
def fitted():
    return linsep.RegionsClassifier().fit(*load_iris(return_X_y=True))


def test_the_classifier_makes_no_mistake_on_its_rows(fitted):
    X, y = load_iris(return_X_y=True)
    assert fitted.score(X, y) == 1 and fitted.n_cuts_ == len(fitted.regions_.cuts) < 9
    assert fitted.decision_function(X).argmax(axis=1).tolist() == y.tolist()
    assert "hyperplanes, no mistake in 150 rows" in fitted.explain() and "hyperplanes" in fitted._repr_html_()


def test_a_saved_classifier_predicts_the_same(fitted, tmp_path):
    fitted.save(tmp_path / "model.json")
    loaded = linsep.load(tmp_path / "model.json")
    assert loaded.regions_ == fitted.regions_ and loaded.get_params() == fitted.get_params()


@pytest.mark.parametrize("field", ["cuts", "sizes", "only", "contradictions"])
def test_a_damaged_file_is_refused(field, fitted):
    document = document_of(fitted)
    damaged = {"cuts": document["cuts"][1:], "sizes": [-1], "only": 9, "contradictions": [[1]]}
    with pytest.raises(linsep.errors.ModelError):
        from_json(MODEL.write({**document, field: damaged[field]}))


def test_one_column_is_done_once_there_is_a_cut_wherever_the_class_changes():
    random = np.random.default_rng(0)
    x, y = random.permutation(60), random.integers(0, 4, 60)
    found = linsep.separate_regions(x[:, None], y, time_limit=None)
    assert len(found.cuts) == np.count_nonzero(np.diff(y[np.argsort(x)]))


def test_no_linear_program_is_begun_that_cannot_be_read_in_time(monkeypatch):
    monkeypatch.setattr(pure_cuts, "linprog", None)
    rows, plane = np.zeros((100, 1000)), Plane(np.eye(1, 1000)[0], 0.0)
    assert widest(rows, rows, plane, Clock(0.01)) is plane
    assert least_lack(rows, rows, np.ones(100), Clock(0.01)) is None


@pytest.mark.parametrize("sorting", [0.0, 5e-7, math.inf])
def test_a_tree_in_haste_tells_all_rows_apart_however_little_time_it_has(sorting, monkeypatch):
    monkeypatch.setattr(axis_trees, "SORTING", sorting)
    X, y = np.random.default_rng(0).normal(size=(200, 30)), np.arange(200) % 3
    found = linsep.separate_regions(X, y, time_limit=0.1)
    assert not found.in_time and (found.predict(X) == y).all()


def test_a_tree_of_cuts_that_take_one_row_each_is_not_grown_in_haste(monkeypatch):
    monkeypatch.setattr(axis_trees, "DEPTH", 2)
    values, codes = np.arange(3000.0)[:, None], np.arange(3000) % 2
    nodes = axis_trees.axis_tree(values, codes, seconds=1.0)
    children = np.array([(node.above, node.below) for node in nodes])
    ahead, levels = [0], 0
    while ahead:
        ahead, levels = [child for k in ahead for child in children[k] if child >= 0], levels + 1
    assert len(nodes) == 2999 and levels < 100


@pytest.mark.slow
@pytest.mark.parametrize("limit", [1, 2])
def test_a_large_table_of_random_labels_keeps_to_the_time_limit(limit):
    random = np.random.default_rng(0)
    X, y = random.standard_normal((20_000, 50)), random.choice([-1, 1], 20_000)
    linsep.separate_regions(X[:2000], y[:2000], time_limit=0.5)  # compiles
    clocks = (time.perf_counter, time.process_time)  # two threads, or a busy machine
    starts = [clock() for clock in clocks]
    found = linsep.separate_regions(X, y, time_limit=limit)
    took = min(clock() - start for clock, start in zip(clocks, starts, strict=True))
    assert took < limit + 0.5 and not found.in_time
