"""The classifier with the fewest mistakes keeps scikit-learn's contract and its own proofs."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

import linsep
from linsep import FewestMistakesClassifier
from linsep.errors import ArgumentError, ModelError

LINE = [[0.0], [1.0], [2.0], [3.0], [4.0]], ["a", "a", "b", "a", "b"]

SEVERAL_ARE_AS_GOOD = {  # the least cost is the same: see test_a_row_of_some_weight_is_so_many_rows
    "check_sample_weight_equivalence_on_dense_data": "of several hyperplanes with the least cost one is found",
    "check_sample_weight_equivalence_on_sparse_data": "of several hyperplanes with the least cost one is found",
}


@pytest.mark.slow
@parametrize_with_checks(
    [FewestMistakesClassifier(time_limit=0.5)], expected_failed_checks=lambda _: SEVERAL_ARE_AS_GOOD
)
def test_the_contract_of_scikit_learn(estimator, check):
    if "check_supervised_y_2d" in str(check):  # two fits are compared: the clock must end neither
        estimator.set_params(time_limit=None)
    check(estimator)


def test_its_predictions_make_the_mistakes_of_its_proof():
    X, y = LINE
    fitted = FewestMistakesClassifier().fit(X, y)
    fitted.verdict_.verify(X, y)
    wrong = np.flatnonzero(fitted.predict(X) != y)
    assert tuple(wrong) == fitted.verdict_.mistaken_rows and fitted.best_.tolist() == fitted.lower_.tolist() == [1]


def test_on_its_own_rows_it_is_no_worse_than_logistic_regression():
    X, y = load_iris(return_X_y=True)
    X, y = X[50:], y[50:]
    fitted = FewestMistakesClassifier(time_limit=30).fit(X, y)
    assert fitted.optimal_ and fitted.score(X, y) == 0.99 >= LogisticRegression(C=100).fit(X, y).score(X, y)


def test_a_class_that_costs_more_is_spared():
    X, y = [[0.0], [1.0], [2.0]], ["ill", "well", "ill"]
    assert FewestMistakesClassifier(cost={"ill": 5, "well": 1}).fit(X, y).predict(X).tolist() == ["ill"] * 3
    assert FewestMistakesClassifier(cost={"ill": 1, "well": 5}).fit(X, y).best_.tolist() == [1]


@pytest.mark.parametrize("cost", [None, {"a": 2, "b": 0.3, "c": 1}])
@pytest.mark.parametrize("seed", range(6))
def test_a_row_of_some_weight_is_so_many_rows(seed, cost):
    random = np.random.default_rng(seed)
    X, y, times = random.integers(0, 4, (14, 2)), random.choice(["a", "b", "c"], 14), random.integers(0, 4, 14)
    weighted = FewestMistakesClassifier(cost=cost, time_limit=None).fit(X, y, sample_weight=times)
    repeated = FewestMistakesClassifier(cost=cost, time_limit=None).fit(
        np.repeat(X, times, axis=0), np.repeat(y, times)
    )
    assert weighted.optimal_ and weighted.best_.tolist() == repeated.best_.tolist()
    each = np.array([1 if cost is None else cost[label] for label in y]) * times
    for k, (label, verdict) in enumerate(zip(weighted.classes_, weighted.verdicts_, strict=True)):
        verdict.verify(X, y == label)
        assert sum(each[list(verdict.mistaken_rows)]) == pytest.approx(weighted.best_[k])


def test_a_class_of_weight_zero_is_no_class():
    X, y = [[0.0], [1.0], [2.0], [3.0]], ["a", "c", "b", "a"]
    fitted = FewestMistakesClassifier().fit(X, y, sample_weight=[0.1, 0, 0.2, 0.2])
    assert fitted.classes_.tolist() == ["a", "b"] and fitted.best_.tolist() == [0.1]


@pytest.mark.parametrize("cost", [{"a": 1}, {"a": 1, "c": 2}, [1, 2], {"a": 1, "b": -1}])
def test_costs_that_do_not_fit_are_refused(cost):
    with pytest.raises(ArgumentError, match="cost"):
        FewestMistakesClassifier(cost=cost).fit(*LINE)


def test_three_classes_are_three_problems_each_with_its_proof():
    X, y = load_iris(return_X_y=True)
    fitted = FewestMistakesClassifier(time_limit=1).fit(X, y)
    for label, verdict in enumerate(fitted.verdicts_):
        verdict.verify(X, y == label)
    assert fitted.coef_.shape == (3, 4) and fitted.best_[0] == 0 and fitted.score(X, y) > 0.9
    assert "class against the rest" in fitted.explain()
    with pytest.raises(AttributeError, match="3 problems"):
        _ = fitted.verdict_


def test_dense_and_sparse_rows_and_frames_make_the_same_mistakes():
    X, y = np.array(LINE[0]), LINE[1]
    plain = FewestMistakesClassifier().fit(X, y)
    frame = FewestMistakesClassifier().fit(pd.DataFrame(X, columns=["age"]), y)
    sparse = FewestMistakesClassifier().fit(sp.csr_array(X), y)
    assert frame.verdict_.names == ("age",)
    assert plain.verdict_.mistaken_rows == frame.verdict_.mistaken_rows == sparse.verdict_.mistaken_rows


def test_without_a_bias_the_hyperplane_goes_through_the_origin():
    fitted = FewestMistakesClassifier(bias=False).fit([[1.0], [2.0], [3.0]], [0, 1, 1])
    assert fitted.intercept_.tolist() == [0] and fitted.best_.tolist() == [1]


def test_rows_beyond_what_doubles_tell_apart_stay_on_their_side():
    X, y = [[2**53], [2**53 + 2], [2**53 + 4], [0]], [0, 1, 0, 0]
    fitted = FewestMistakesClassifier().fit(X, y)
    assert np.flatnonzero(fitted.predict(X) != y).tolist() == list(fitted.verdict_.mistaken_rows)


def test_a_file_brings_it_back_with_its_proof(tmp_path):
    before = FewestMistakesClassifier(cost={"a": 1.5, "b": 2}).fit(*LINE)
    before.save(tmp_path / "model.json")
    after = linsep.load(tmp_path / "model.json")
    assert after.get_params() == before.get_params() and after.coef_.tolist() == before.coef_.tolist()
    assert after.verdict_.to_json() == before.verdict_.to_json() and after.optimal_
    after.verdict_.verify(*LINE)


def test_a_file_with_the_proof_of_another_classifier_is_refused(tmp_path):
    X, y = [[0.0], [1.0]], [0, 1]
    for made, other in [
        (FewestMistakesClassifier(), linsep.MaxMarginClassifier()),
        (linsep.MaxMarginClassifier(), FewestMistakesClassifier()),
    ]:
        made.fit(X, y)
        made.verdicts_ = other.fit(X, y).verdicts_
        made.save(tmp_path / "model.json")
        with pytest.raises(ModelError, match="kind"):
            linsep.load(tmp_path / "model.json")


def test_a_clone_has_its_parameters():
    made = FewestMistakesClassifier(cost={0: 1, 1: 3}, bias=False, time_limit=3)
    assert clone(made).get_params() == made.get_params()


def test_it_is_exported_to_onnx():
    onnxruntime = pytest.importorskip("onnxruntime")
    fitted = FewestMistakesClassifier().fit(*LINE)
    session = onnxruntime.InferenceSession(linsep.to_onnx(fitted).SerializeToString())
    labels, scores = session.run(None, {"X": np.array(LINE[0])})
    assert labels.tolist() == fitted.predict(LINE[0]).tolist()
    assert scores.tolist() == fitted.decision_function(LINE[0]).tolist()
