"""The maximum-margin classifier keeps scikit-learn's contract and its own proofs."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_iris, make_blobs
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

import linsep
from linsep.errors import ArgumentError, NotSeparableWarning, OneClassError
from linsep.estimators.margin_classifier import MaxMarginClassifier

ignore_not_separable = pytest.mark.filterwarnings("ignore::linsep.errors.NotSeparableWarning")


@ignore_not_separable
@parametrize_with_checks([MaxMarginClassifier()])
def test_the_contract_of_scikit_learn(estimator, check):
    check(estimator)


def test_scores_are_distances_and_the_support_lies_on_the_margin():
    X, y = linsep.datasets.planted(300, 4, margin=0.1, seed=0)
    fitted = MaxMarginClassifier().fit(X, y)
    low, high = fitted.margin_
    assert fitted.separable_ and 0.1 * (1 - 1e-15) <= high <= low * (1 + 1e-6)
    distances = y * fitted.decision_function(X)
    assert distances.min() == pytest.approx(low, rel=1e-9)
    np.testing.assert_allclose(distances[fitted.support_], low, rtol=1e-5)
    fitted.verdict_.verify(X, y)


def test_the_hyperplane_is_that_of_a_hard_margin_svm():
    X, y = make_blobs(100, centers=[[-3, 0], [3, 1]], random_state=1)
    ours, svm = MaxMarginClassifier().fit(X, y), SVC(kernel="linear", C=1e9, tol=1e-9).fit(X, y)
    np.testing.assert_allclose(ours.coef_, svm.coef_ / np.linalg.norm(svm.coef_), rtol=1e-4)
    assert ours.support_.tolist() == sorted(svm.support_.tolist())


def test_classes_that_overlap_are_named_and_get_a_soft_margin():
    X, y = linsep.datasets.xor()
    X, y = np.vstack([X, [[5, 5]] * 9, [[-5, -5]] * 9]), np.append(y, [1] * 9 + [-1] * 9)
    with pytest.warns(NotSeparableWarning, match="No hyperplane separates"):
        fitted = MaxMarginClassifier().fit(X, y)
    assert not fitted.separable_ and fitted.margin_ == (0, 0) and fitted.support_.size == 0
    assert fitted.verdict_.kind == "overlapping" and set(fitted.verdict_.obstruction.rows) <= set(range(len(X)))
    fitted.verdict_.verify(X, y)
    assert fitted.score(X, y) >= 20 / 22


def test_past_the_time_limit_nothing_is_claimed():
    X, y = linsep.datasets.planted(3000, 30, margin=0.001, seed=0)
    with pytest.warns(NotSeparableWarning, match="is known to separate"):
        fitted = MaxMarginClassifier(time_limit=0).fit(X, y)
    assert fitted.verdict_.kind == "undecided" and fitted.margin_ == (0, np.inf)
    assert fitted.score(X, y) > 0.9


def test_one_against_the_rest_says_which_problem_fails():
    X, y = load_iris(return_X_y=True)
    with pytest.warns(NotSeparableWarning, match=r"verdicts_\[1, 2\]"):
        fitted = MaxMarginClassifier().fit(X, y)
    assert [verdict.kind for verdict in fitted.verdicts_] == ["separable", "overlapping", "overlapping"]
    for label, verdict in enumerate(fitted.verdicts_):
        verdict.verify(X, y == label)
    assert fitted.margins_[0, 0] > 0 == fitted.margins_[1:].max()
    assert fitted.coef_.shape == (3, 4) and not hasattr(fitted, "verdict_") and not hasattr(fitted, "margin_")


def test_three_corners_are_told_apart_without_a_warning():
    X, y = make_blobs(150, centers=[[0, 9], [-9, -9], [9, -9]], random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted = MaxMarginClassifier().fit(X, y)
    assert fitted.separable_ and fitted.score(X, y) == 1


def test_the_verdict_knows_the_columns_of_a_dataframe():
    frame = pd.DataFrame({"petal": [0, 1, 4, 5], "sepal": [0, 3, 1, 2]})
    fitted = MaxMarginClassifier().fit(frame, ["a", "a", "b", "b"])
    assert "petal" in fitted.verdict_.explain()
    fitted.verdict_.verify(frame, ["a", "a", "b", "b"])


@ignore_not_separable
@pytest.mark.parametrize("flipped", [0, 5])
def test_sparse_rows_give_the_same_hyperplane(flipped):
    X, y = linsep.datasets.planted(100, 3, margin=0.05, seed=0, flipped=flipped)
    dense, sparse = MaxMarginClassifier().fit(X, y), MaxMarginClassifier().fit(sp.csr_array(X), y)
    np.testing.assert_allclose(sparse.coef_, dense.coef_, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(sparse.decision_function(sp.csr_array(X)), dense.decision_function(X), atol=1e-6)


@ignore_not_separable
@pytest.mark.parametrize("units", [[1.0, 2.0**20, 2.0**-20], [2.0**-660] * 3, [2.0**400] * 3, [2.0**400, 1.0, 1.0]])
def test_a_soft_margin_knows_no_unit_of_measurement(units):
    X, y = linsep.datasets.planted(100, 3, margin=0.05, seed=0, flipped=10)
    plain, scaled = MaxMarginClassifier().fit(X, y), MaxMarginClassifier().fit(X * units, y)
    assert scaled.predict(X * units).tolist() == plain.predict(X).tolist()


@ignore_not_separable
def test_it_takes_part_in_pipelines_searches_and_copies():
    X, y = load_iris(return_X_y=True)
    search = GridSearchCV(make_pipeline(StandardScaler(), MaxMarginClassifier()), {"maxmarginclassifier__gap": [1e-3]})
    assert search.fit(X[50:], y[50:]).best_score_ > 0.9
    assert clone(MaxMarginClassifier(gap=0.5, time_limit=3)).get_params() == {"gap": 0.5, "time_limit": 3}


def test_misuse_is_refused():
    with pytest.raises(OneClassError):
        MaxMarginClassifier().fit([[1.0], [2.0]], [3, 3])
    with pytest.raises(ArgumentError, match="gap"):
        MaxMarginClassifier(gap=2).fit([[1.0], [2.0]], [0, 1])


@pytest.mark.parametrize(
    ("X", "y"),
    [
        ([[1000.1], [1000.1000000000001], [3.0]], [0, 1, 0]),
        ([[5e-324], [0.0]], [-1, 1]),
        ([[1.0000000000000002], [1.0], [0.9999999999999998]], [-1, 1, 1]),
        ([[1000.1], [1000.1000000000001], [3.0]], ["a", "c", "a"]),
    ],
)
def test_rows_next_to_each_other_are_predicted_as_they_were_learned(X, y):
    fitted = MaxMarginClassifier().fit(X, y)
    assert fitted.separable_ and fitted.predict(X).tolist() == y
    assert linsep.decide(X, y).halfspace.predict(X).tolist() == y


def test_a_hyperplane_that_no_doubles_hold_is_warned_of(monkeypatch):
    monkeypatch.setattr("linsep.estimators.verdict_classifier.MULTIPLES", ())
    with pytest.warns(linsep.errors.RoundedWarning, match="do not fit into doubles"):
        MaxMarginClassifier().fit([[1000.1], [1000.1000000000001], [3.0]], [0, 1, 0])
