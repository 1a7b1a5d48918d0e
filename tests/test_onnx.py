"""The exported graph: onnxruntime says what the classifier says."""

import sys
import warnings

import numpy as np
import onnxruntime
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits, load_iris
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Perceptron

import linsep
from linsep import KernelPerceptronClassifier, MaxMarginClassifier, PerceptronClassifier
from linsep.errors import ArgumentError, MissingPackageError, NotSeparableWarning

KEEPS = ("last", "average", "vote", "best")
SHAPES = [*((keep, "joint") for keep in KEEPS), *((keep, "ovr") for keep in KEEPS)]
LABELS = {
    "text": np.array(["blau", "grün", "rot"]),
    "object": np.array(["blau", "grün", "rot"], dtype=object),
    "integer": np.array([-(2**62), 7, 2**62]),
    "small integer": np.array([1, 2, 3], np.uint8),
    "large integer": np.array([1, 2, 2**64 - 1], np.uint64),
    "float": np.array([0.0, 1.0, 2.0]),
    "boolean": np.array([False, True]),
}


def rows(n_classes, n=60, d=4, seed=0):
    draw = np.random.default_rng(seed)
    return draw.normal(size=(n, d)), draw.integers(n_classes, size=n)


def run(estimator, X):
    session = onnxruntime.InferenceSession(linsep.to_onnx(estimator).SerializeToString())
    return session.run(["label", "scores"], {"X": np.asarray(X, np.float64)})


def assert_same(estimator, X, **tolerance):
    label, scores = run(estimator, X)
    assert label.tolist() == estimator.predict(X).tolist()
    expected = estimator.decision_function(X)
    assert scores.dtype == np.float64 and scores.shape == expected.shape
    np.testing.assert_allclose(scores, expected, **{"rtol": 1e-10, "atol": 1e-10, **tolerance})


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(("keep", "multiclass"), SHAPES)
def test_a_perceptron_runs_as_it_predicts(keep, multiclass, n_classes):
    X, y = rows(n_classes)
    assert_same(PerceptronClassifier(keep, multiclass=multiclass, random_state=0).fit(X, y), rows(n_classes, seed=1)[0])


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("bias", [True, False])
def test_votes_on_integers_are_equal_to_the_last_bit_ties_and_zeros_included(n_classes, bias):
    draw = np.random.default_rng(0)
    X, y = draw.integers(-2, 3, size=(80, 3)).astype(float), draw.integers(n_classes, size=80)
    assert_same(PerceptronClassifier("vote", bias=bias, random_state=0).fit(X, y), X, rtol=0, atol=0)


def test_a_vote_learned_from_sparse_rows_is_exported_too():
    X, y = rows(3)
    assert_same(PerceptronClassifier("vote", random_state=0).fit(sp.csr_array(X), y), X)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("keep", KEEPS)
@pytest.mark.parametrize("kernel", ["linear", "poly", "polynomial", "rbf", "sigmoid", "cosine"])
def test_a_kernel_perceptron_runs_as_it_predicts(kernel, keep, n_classes):
    X, y = rows(n_classes)
    fitted = KernelPerceptronClassifier(kernel, keep=keep, degree=4, coef0=0.5, random_state=0).fit(X, y)
    assert_same(fitted, rows(n_classes, seed=1)[0])


def test_a_row_of_zeros_has_a_cosine():
    X, y = rows(2)
    assert_same(KernelPerceptronClassifier("cosine", random_state=0).fit(X, y), np.zeros((1, 4)))


def test_a_kernel_learned_from_sparse_rows_is_exported_too():
    X, y = rows(3)
    assert_same(KernelPerceptronClassifier(random_state=0).fit(sp.csr_matrix(X), y), X)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_widest_margin_runs_as_it_predicts(n_classes):
    X, y = load_iris(return_X_y=True)
    with warnings.catch_warnings(action="ignore", category=NotSeparableWarning):
        fitted = MaxMarginClassifier().fit(X[y < n_classes], y[y < n_classes])
    assert_same(fitted, X)


@pytest.mark.parametrize("classes", LABELS.values(), ids=LABELS)
def test_labels_keep_their_type(classes):
    X, y = rows(len(classes))
    label, _ = run(PerceptronClassifier(random_state=0).fit(X, classes[y]), X)
    assert {type(value) for value in label.tolist()} == {type(value) for value in classes.tolist()}
    assert_same(PerceptronClassifier(random_state=0).fit(X, classes[y]), X)


def test_rows_that_differ_only_beyond_float32_are_told_apart():
    X = 2.0**30 + np.array([[0.0], [1.0], [2.0], [3.0]])
    fitted = MaxMarginClassifier().fit(X, ["low", "low", "high", "high"])
    assert (X.astype(np.float32) == X[0]).all()
    assert run(fitted, X)[0].tolist() == ["low", "low", "high", "high"]


@pytest.mark.parametrize("keep", KEEPS)
def test_digits_are_told_apart_alike(keep):
    X, y = load_digits(return_X_y=True)
    assert_same(PerceptronClassifier(keep, max_passes=2, random_state=0).fit(X[:500], y[:500]), X[500:700], rtol=1e-9)
    kernel = KernelPerceptronClassifier("poly", degree=4, keep=keep, max_passes=2, random_state=0)
    assert_same(kernel.fit(X[:500], y[:500]), X[500:700], rtol=1e-9)


def test_what_was_loaded_is_exported_like_what_was_saved(tmp_path):
    X, y = rows(3)
    fitted = PerceptronClassifier("vote", random_state=0).fit(X, y)
    fitted.save(tmp_path / "m.json")
    assert linsep.to_onnx(linsep.load(tmp_path / "m.json")) == linsep.to_onnx(fitted)


@pytest.mark.parametrize("kernel", ["laplacian", "chi2", lambda A, B: A @ B.T])
def test_a_kernel_without_an_operator_is_refused(kernel):
    X, y = rows(2)
    with pytest.raises(ArgumentError, match="ONNX export does not support"):
        linsep.to_onnx(KernelPerceptronClassifier(kernel).fit(abs(X), y))


def test_rows_beyond_the_size_of_an_onnx_model_are_refused(monkeypatch):
    X, y = rows(2)
    monkeypatch.setattr("linsep.saved_models.onnx_export.MOST_BYTES", 1000)
    for fitted in (KernelPerceptronClassifier().fit(sp.csr_array(X), y), PerceptronClassifier("vote").fit(X, y)):
        with pytest.raises(ArgumentError, match="2 GiB"):
            linsep.to_onnx(fitted)


def test_only_fitted_classifiers_of_linsep_are_exported():
    X, y = rows(2)
    with pytest.raises(NotFittedError):
        linsep.to_onnx(PerceptronClassifier())
    with pytest.raises(ArgumentError, match="A Perceptron cannot be exported"):
        linsep.to_onnx(Perceptron().fit(X, y))


def test_without_onnx_the_extra_is_named(monkeypatch):
    X, y = rows(2)
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(MissingPackageError, match=r"pip install 'linsep\[onnx\]'"):
        linsep.to_onnx(PerceptronClassifier().fit(X, y))


def test_a_halfspace_is_a_linear_model():
    halfspace = linsep.Halfspace([1, -2], 3, ("no", "yes"))
    X = np.array([[0.0, 0.0], [1.0, 2.0], [-5.0, 1.0]])
    label, scores = run(halfspace, X)
    assert label.tolist() == halfspace.predict(X).tolist() and scores.tolist() == halfspace.score(X).tolist()


def test_an_online_perceptron_of_numbers_is_exported():
    X, y = rows(3)
    model = linsep.OnlinePerceptron()
    model.predict_then_learn(X, y)
    label, scores = run(model, X)
    assert label.tolist() == model.predict(X)
    np.testing.assert_allclose(scores, model.decision_function(X), rtol=1e-12)


def test_a_model_of_text_and_one_without_classes_are_refused_by_name():
    with pytest.raises(ArgumentError, match="hashes text"):
        linsep.to_onnx(linsep.OnlinePerceptron(bits=4))
    with pytest.raises(ArgumentError, match="two classes"):
        linsep.to_onnx(linsep.OnlinePerceptron())
    with pytest.raises(ArgumentError, match="dict cannot be exported"):
        linsep.to_onnx({})
