"""Rows that count more than once, rules beside Rosenblatt's, and the ways in which a fit begins, resumes and stops."""

import importlib
import itertools
import math
import sys

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.feature_selection import RFE, SelectFromModel
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import compute_class_weight

import linsep
from linsep import FewestMistakesClassifier, KernelPerceptronClassifier, OnlinePerceptron, PerceptronClassifier
from linsep.errors import ArgumentError, LinsepError
from linsep.estimators import TRUSTED_TYPES
from linsep.estimators.training_rows import HeldOut
from linsep.learners.perceptron import Perceptron
from linsep.sources.base import Block, marks
from linsep.sources.inputs import read_table
from plain_rules import visits, weighted_rule

KEEPS = ("last", "average", "vote", "best")


def rows(n_classes=3, n=60, d=4, seed=0):
    """Rows that no hyperplane separates, labels as positions, and weights from 0 to 4."""
    random = np.random.default_rng(seed)
    return random.normal(size=(n, d)), random.integers(n_classes, size=n), random.integers(0, 5, size=n)


def alike(one, other, X):
    """Whether two fitted classifiers have the same scores, bit for bit, after the same updates."""
    return np.array_equal(one.decision_function(X), other.decision_function(X)) and one.n_updates_ == other.n_updates_


# ---- weights ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("keep", "multiclass", "layout"),
    [*((keep, "joint", np.asarray) for keep in KEEPS), ("average", "ovr", np.asarray), ("average", "joint", csr_array)],
)
def test_a_whole_weight_is_that_many_copies_of_the_row_one_after_the_other(keep, multiclass, layout):
    X, y, weights = rows()
    model = PerceptronClassifier(keep, multiclass=multiclass, order="cyclic", max_passes=5)
    repeated = clone(model).fit(layout(np.repeat(X, weights, axis=0)), np.repeat(y, weights))
    weighted = model.fit(layout(X), y, weights)
    assert alike(weighted, repeated, X) and weighted.n_iter_ == repeated.n_iter_
    of_row = np.repeat(np.arange(len(y)), weights)
    assert np.array_equal(weighted.mistakes_per_row_, np.bincount(of_row, repeated.mistakes_per_row_, len(y)))


@pytest.mark.parametrize("rule", ["pa1", "pa2", "arow"])
def test_whole_weights_are_copies_under_every_rule(rule):
    X, y, weights = rows(2)
    model = PerceptronClassifier("last", rule=rule, order="cyclic", max_passes=3)
    repeated = clone(model).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    assert alike(model.fit(X, y, weights), repeated, X)


@pytest.mark.parametrize("order", ["cyclic", "shuffled"])
def test_a_row_of_weight_0_is_not_there(order):
    X, y, weights = rows(4)
    X[0], y[0], weights[0] = 1e200, 9, 0  # the only row of its class
    kept = weights > 0
    model = PerceptronClassifier("last", order=order, random_state=0, max_passes=4).fit(X, y, weights)
    alone = PerceptronClassifier("last", order=order, random_state=0, max_passes=4).fit(X[kept], y[kept], weights[kept])
    assert model.classes_.tolist() == [0, 1, 2, 3] and alike(model, alone, X)
    assert not model.mistakes_per_row_[~kept].any() and len(model.mistakes_per_row_) == len(y)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("rule", ["perceptron", "pa1", "pa2", "arow"])
def test_the_compiled_rules_are_the_plain_ones(rule, n_classes):
    X, y, _ = rows(n_classes)
    weights = np.random.default_rng(1).choice([0.5, 1.0, 2.0, 3.25], len(y))
    shares = [share for _ in range(2) for weight in weights for share in visits(weight)]
    steps = list(zip(shares, weighted_rule(X, y, n_classes, weights=weights, rule=rule, C=0.7), strict=False))
    mean = sum(share * W for share, (_, _, W, _) in steps) / sum(shares)
    learner = Perceptron(n_classes, X.shape[1], keep="average", rule=rule, C=0.7)
    block = Block(read_table(X)[0], marks(y, n_classes), range(len(y)), X.shape[1], weights)
    for _ in range(2):
        learner.learn(block, np.zeros(len(y), np.int64))
    assert learner.updates == sum(step[1] for _, step in steps) and learner.walked == sum(shares)
    np.testing.assert_allclose(learner.weights.W, steps[-1][1][2], atol=1e-12)
    np.testing.assert_allclose(learner.kept.W, mean, atol=1e-12)


def test_a_class_weight_is_that_of_its_rows_and_multiplies_their_own():
    X, y, weights = rows()
    model = PerceptronClassifier("last", class_weight={0: 2.0, 2: 0.25}, random_state=0, max_passes=4)
    of_rows = weights * np.array([2.0, 1.0, 0.25])[y]
    plain = PerceptronClassifier("last", random_state=0, max_passes=4).fit(X, y, of_rows)
    assert alike(model.fit(X, y, weights), plain, X)


def test_balanced_weights_are_those_of_scikit_learn():
    X, y, _ = rows()
    y[:30] = 0
    weights = compute_class_weight("balanced", classes=np.arange(3), y=y)
    named = PerceptronClassifier("last", class_weight=dict(enumerate(weights)), random_state=0, max_passes=4).fit(X, y)
    assert alike(
        PerceptronClassifier("last", class_weight="balanced", random_state=0, max_passes=4).fit(X, y), named, X
    )


@pytest.mark.parametrize("class_weight", ["balanced", {1: 3.0}])
def test_rows_of_files_have_the_weights_of_their_classes(class_weight, tmp_path):
    X, y, _ = rows(2)
    X = pd.DataFrame(X).add_prefix("x")
    X.assign(y=y).to_parquet(tmp_path / "rows.parquet")
    source = linsep.open(tmp_path / "rows.parquet", label="y")
    model = PerceptronClassifier("best", class_weight=class_weight, order="cyclic", max_passes=4)
    assert alike(clone(model).fit(source), model.fit(X, y), X)


def test_weights_that_are_all_1_change_nothing():
    X, y, _ = rows()
    model = PerceptronClassifier(random_state=0, max_passes=3)
    assert alike(clone(model).fit(X, y, np.ones(len(y))), model.fit(X, y), X)


def test_the_pocket_counts_mistakes_by_their_weight():
    X = np.array([[1.0], [1.0], [-1.0]])
    for weights, label in ([[5, 1, 1], 0], [[1, 5, 1], 1]):
        model = PerceptronClassifier("best", order="cyclic", max_passes=9).fit(X, [0, 1, 0], weights)
        assert model.predict([[1.0]]) == [label]


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        ([-1, 1, 1], "row 0 is -1"),
        ([1, math.nan, 1], "row 1 is nan"),
        ([1, 1, math.inf], "row 2 is inf"),
        ([0, 0, 0], "zero for every row"),
        ([1, 1], "3 rows"),
        ([[1], [1], [1]], "shape"),
        (["a", "b", "c"], "not numbers"),
        ([1, 1, 1e300], "1e9"),
        (np.ma.array([1, 1, 1], mask=[0, 1, 0]), "masked"),
    ],
)
def test_weights_that_mean_nothing_are_refused(weights, words):
    with pytest.raises(ArgumentError, match=words):
        PerceptronClassifier().fit([[1.0], [2.0], [3.0]], [0, 1, 1], weights)


def test_weights_of_other_rows_are_refused():
    X, weights = pd.DataFrame({"x": [1.0, 2.0]}, index=[3, 4]), pd.Series([1.0, 2.0], index=[4, 3])
    with pytest.raises(ArgumentError, match="index"):
        PerceptronClassifier().fit(X, [0, 1], weights)
    assert PerceptronClassifier().fit(X, [0, 1], weights.loc[X.index]).n_features_in_ == 1


@pytest.mark.parametrize("weight", [{7: 1}, "even", {0: 0}, {0: -1}, {0: math.nan}, {0: "2"}, [1, 2], {0: True}])
def test_class_weights_that_mean_nothing_are_refused(weight):
    with pytest.raises(ArgumentError, match="class_weight"):
        PerceptronClassifier(class_weight=weight).fit([[1.0], [2.0]], [0, 1])


def test_a_class_that_weights_leave_out_may_leave_one_class_alone():
    with pytest.raises(LinsepError, match="class"):
        PerceptronClassifier().fit([[1.0], [2.0]], [0, 1], [1, 0])


def test_a_bad_row_is_named_as_it_was_given():
    X = np.array([[1.0], [2.0], [1e300], [-1e300]])
    with pytest.raises(LinsepError) as refused:
        PerceptronClassifier("last", order="cyclic", margin=1e300).fit(X * 1e8, [0, 0, 1, 1], [1, 0, 1, 1])
    assert refused.value.row in (2, 3)


# ---- rules ------------------------------------------------------------------------------------------------------


def test_a_passive_aggressive_step_brings_a_row_to_a_gap_of_1():
    X, y = np.array([[3.0, 4.0], [3.0, -4.0]]), [1, 0]
    model = PerceptronClassifier("last", rule="pa1", C=1e6, order="cyclic").fit(X, y)
    first, last = model.decision_function(X)
    assert model.converged_ and first > 1 and last == pytest.approx(-1)


@pytest.mark.parametrize("options", [{"rule": "pa1", "margin": 2}, {"rule": "arow", "keep": "vote"}, {"rule": "sgd"}])
def test_rules_refuse_what_they_cannot_do(options):
    with pytest.raises(ArgumentError, match="rule"):
        PerceptronClassifier(**options).fit([[1.0], [2.0]], [0, 1])


@pytest.mark.parametrize("C", [0, -1, math.nan, "1"])
def test_the_step_of_a_rule_is_a_positive_number(C):
    with pytest.raises(ArgumentError, match="C is"):
        PerceptronClassifier(rule="pa1", C=C).fit([[1.0], [2.0]], [0, 1])


@pytest.mark.parametrize("rule", ["pa2", "arow"])
def test_a_saved_run_resumes_with_its_rule_and_its_weights(rule, tmp_path):
    X, y, weights = rows()
    weights = weights + 0.5
    model = PerceptronClassifier(rule=rule, C=0.5, class_weight={0: 2.0}, order="cyclic", stop_after=None, held_out=0.2)
    model.partial_fit(X, y, [0, 1, 2], weights).save(tmp_path / "model.json")
    loaded = linsep.load(tmp_path / "model.json")
    assert loaded.get_params() == model.get_params() and loaded.n_iter_ == 1
    assert alike(loaded.partial_fit(X, y, sample_weight=weights), model.partial_fit(X, y, sample_weight=weights), X)


# ---- beginning, resuming, stopping ------------------------------------------------------------------------------


def test_a_warm_start_is_one_longer_run():
    X, y, _ = rows()
    model = PerceptronClassifier(warm_start=True, max_passes=1, random_state=0)
    for _ in range(3):
        model.fit(X, y)
    assert (model.n_iter_, model.n_passes_) == (1, 3)
    assert alike(model, PerceptronClassifier(max_passes=3, random_state=0).fit(X, y), X)


def test_a_warm_start_with_other_columns_or_classes_is_refused():
    X, y, _ = rows()
    model = PerceptronClassifier(warm_start=True).fit(X, y)
    with pytest.raises(ValueError, match="features"):
        model.fit(X[:, :2], y)
    with pytest.raises(LinsepError, match="label"):
        model.fit(X, y + 1)


@pytest.mark.parametrize(("n_classes", "multiclass"), [(2, "joint"), (3, "joint"), (3, "ovr")])
def test_a_run_may_begin_at_the_weights_of_another(n_classes, multiclass):
    X, y, _ = rows(n_classes)
    model = PerceptronClassifier("last", multiclass=multiclass, order="cyclic", max_passes=1).fit(X, y)
    again = clone(model).fit(X, y, coef_init=model.coef_, intercept_init=model.intercept_)
    assert np.array_equal(again.coef_, clone(model).set_params(max_passes=2).fit(X, y).coef_)


@pytest.mark.parametrize(
    "init",
    [{"coef_init": np.zeros(3)}, {"coef_init": [[math.nan, 0]]}, {"intercept_init": [1, 2]}, {"coef_init": "zero"}],
)
def test_weights_to_begin_with_must_fit(init):
    with pytest.raises(ArgumentError, match="_init"):
        PerceptronClassifier().fit([[1.0, 0.0], [2.0, 0.0]], [0, 1], **init)


def test_without_a_bias_no_run_begins_with_one():
    with pytest.raises(ArgumentError, match="intercept_init"):
        PerceptronClassifier(bias=False).fit([[1.0], [2.0]], [0, 1], intercept_init=1.0)


def test_a_run_stops_when_the_rows_held_out_are_served_no_better():
    X, y = load_iris(return_X_y=True)
    model = PerceptronClassifier("last", stop_after=2, held_out=0.3, max_passes=500, random_state=0).fit(X, y)
    assert model.n_iter_ < 500 and model.score(X, y) > 0.8
    assert (model.mistakes_per_row_ == 0).sum() >= 45 and len(model.mistakes_per_row_) == 150


def test_the_weights_of_the_best_pass_are_kept(monkeypatch):
    X, y, _ = rows(2)
    scores = iter([0.1, 0.9, 0.2, 0.9, 0.3, 0.4])
    monkeypatch.setattr(HeldOut, "score", lambda *_: next(scores))
    model = PerceptronClassifier("last", stop_after=3, random_state=1).fit(X, y)
    assert model.n_iter_ == 5
    scores = iter([0.1, 0.2])
    again = PerceptronClassifier("last", stop_after=3, max_passes=2, random_state=1).fit(X, y)
    assert np.array_equal(again.coef_, model.coef_)


def test_weights_of_an_earlier_pass_do_not_pass_for_those_that_converged(monkeypatch):
    X, y = np.array([[1.0], [2.0], [3.0], [4.0], [5.0], [6.0]]), [0, 0, 0, 1, 1, 1]
    falling = itertools.count(1, -0.001)
    monkeypatch.setattr(HeldOut, "score", lambda *_: next(falling))
    model = PerceptronClassifier("last", stop_after=900, max_passes=900, held_out=0.34, random_state=0).fit(X, y)
    assert not model.converged_ and model.score(X, y) < 1


@pytest.mark.parametrize(
    ("options", "fit"),
    [
        ({"keep": "vote"}, "fit"),
        ({"keep": "best"}, "fit"),
        ({"held_out": 1.5}, "fit"),
        ({"stop_after": 0}, "fit"),
        ({}, "partial_fit"),
        ({"held_out": 0.01}, "fit"),
    ],
)
def test_a_run_that_cannot_be_stopped_so_says_why(options, fit):
    model = PerceptronClassifier(**{"stop_after": 2, **options})
    with pytest.raises(ArgumentError, match=r"stop_after|held_out"):
        getattr(model, fit)(np.arange(12.0).reshape(6, 2), [0, 1, 0, 1, 0, 1])


def test_rows_too_few_to_hold_some_out_are_refused_without_words_about_codes():
    with pytest.raises(
        ArgumentError, match=r"3 rows cannot be split that way\. Each class needs two rows or more"
    ) as told:
        PerceptronClassifier(stop_after=3).fit([[0.0], [1.0], [2.0]], ["no", "yes", "yes"])
    assert "False" not in str(told.value)


def test_files_have_no_weights_of_their_own_and_no_part_held_out(tmp_path):
    pd.DataFrame({"x": [1.0, 2.0, 3.0, 4.0], "y": [0, 0, 1, 1]}).to_parquet(tmp_path / "rows.parquet")
    source = linsep.open(tmp_path / "rows.parquet", label="y")
    for model in (PerceptronClassifier(), FewestMistakesClassifier()):
        with pytest.raises(ArgumentError, match="sample_weight is for rows in memory"):
            model.fit(source, sample_weight=[1, 1, 1, 1])
    with pytest.raises(ArgumentError, match="stop_after"):
        PerceptronClassifier(stop_after=2).fit(source)


def test_a_stream_does_not_know_how_to_be_balanced():
    with pytest.raises(ArgumentError, match="balanced"):
        PerceptronClassifier(class_weight="balanced").partial_fit([[1.0]], [0], [0, 1])


# ---- what other libraries ask -----------------------------------------------------------------------------------


def test_a_vote_has_no_weights_that_could_explain_it():
    X, y, _ = rows(2)
    model = PerceptronClassifier("last").fit(X, y).set_params(keep="vote").fit(X, y)
    assert not hasattr(model, "coef_") and not hasattr(model, "intercept_")
    with pytest.raises(AttributeError, match="vote"):
        _ = model.coef_
    for chooser in (RFE(PerceptronClassifier("vote")), SelectFromModel(PerceptronClassifier("vote"))):
        with pytest.raises((AttributeError, ValueError)):
            chooser.fit(X, y).transform(X)


def test_a_linear_kernel_has_the_weights_of_its_columns_and_no_other_kernel_has():
    X, y, _ = rows(2)
    model = KernelPerceptronClassifier("linear", max_passes=3, random_state=0).fit(X, y)
    np.testing.assert_allclose(X @ model.coef_[0] + model.intercept_[0], model.decision_function(X), atol=1e-9)
    for other in (KernelPerceptronClassifier("rbf"), KernelPerceptronClassifier("linear", keep="vote")):
        assert not hasattr(other.fit(X, y), "coef_")


def test_weights_are_routed_to_fit_and_score():
    from sklearn import config_context

    X, y, weights = rows(2)
    with config_context(enable_metadata_routing=True):
        model = (
            PerceptronClassifier(random_state=0)
            .set_fit_request(sample_weight=True)
            .set_score_request(sample_weight=True)
        )
        assert len(cross_val_score(model, X, y, params={"sample_weight": weights + 1.0}, cv=3)) == 3


def test_the_types_that_skops_may_trust_are_those_of_the_classifiers():
    for name in TRUSTED_TYPES:
        module, _, kind = name.rpartition(".")
        assert isinstance(getattr(importlib.import_module(module), kind), type)
    skops = pytest.importorskip("skops.io")
    X, y, _ = rows(2)
    model = PerceptronClassifier("vote", max_passes=2).fit(X, y)
    assert alike(skops.loads(skops.dumps(model), trusted=TRUSTED_TYPES), model, X)


def test_a_pipeline_is_converted_by_skl2onnx():
    skl2onnx, onnxruntime = pytest.importorskip("skl2onnx"), pytest.importorskip("onnxruntime")
    X, y, _ = rows(3)
    pipeline = make_pipeline(StandardScaler(), PerceptronClassifier(max_passes=2, random_state=0)).fit(X, y)
    linsep.register_skl2onnx()
    session = onnxruntime.InferenceSession(skl2onnx.to_onnx(pipeline, X[:1]).SerializeToString())
    label, scores = session.run(["label", "scores"], {"X": X})
    assert label.tolist() == pipeline.predict(X).tolist()
    np.testing.assert_allclose(scores, pipeline.decision_function(X), atol=1e-12)


def test_without_skl2onnx_its_name_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "skl2onnx", None)
    with pytest.raises(LinsepError, match="skl2onnx"):
        linsep.register_skl2onnx()


# ---- streams ----------------------------------------------------------------------------------------------------


def test_one_row_at_a_time_is_the_stream():
    texts, labels = ["win a prize now", "see you at lunch", "a prize for you"] * 3, ["spam", "ham", "spam"] * 3
    one, all_ = OnlinePerceptron(bits=10), OnlinePerceptron(bits=10)
    predicted = []
    for text, label in zip(texts, labels, strict=True):
        predicted.append(one.predict_one(text))
        one.learn_one(text, label)
    assert predicted == all_.predict_then_learn(texts, labels) and one.counts == all_.counts


def progressive(model, stream):
    """What river's evaluate.progressive_val_score does: ask, then tell."""
    right = 0
    for x, label in stream:
        right += model.predict_one(x) == label
        assert model.learn_one(x, label) is None
    return right


STREAM = [({"length": float(k), "colour": "red" if k % 3 else "blue"}, k > 4) for k in (1, 9, 2, 8, 3, 7, 4, 6) * 20]


def test_rows_that_are_dicts_are_learned_as_river_does():
    model = OnlinePerceptron(bits=12)
    assert progressive(model, STREAM) > 120 and model._supervised


def test_river_scores_it_as_one_of_its_own():
    river = pytest.importorskip("river")
    from river import evaluate, metrics

    model = OnlinePerceptron(bits=12)
    assert isinstance(model, river.base.Classifier)
    metric = evaluate.progressive_val_score(STREAM, model, metrics.Accuracy())
    assert metric.get() > 0.75 and model.counts.rows == len(STREAM)


@pytest.mark.parametrize("rule", ["pa1", "arow"])
def test_a_stream_with_a_rule_is_the_plain_rule_and_resumes(rule, tmp_path):
    X, y, _ = rows(2)
    model = OnlinePerceptron([0, 1], keep="last", rule=rule, C=0.5)
    model.predict_then_learn(X[:30], y[:30])
    model.save(tmp_path / "model.json")
    model = linsep.load(tmp_path / "model.json")
    model.predict_then_learn(X[30:], y[30:])
    steps = list(itertools.islice(weighted_rule(X, y, rule=rule, C=0.5), len(y)))
    np.testing.assert_allclose(model.learner.weights.W, steps[-1][2], atol=1e-12)
    assert model.gamma_ceiling == math.inf and "margin" not in model.report().text()


def test_the_bound_is_the_perceptrons_alone():
    with pytest.raises(ArgumentError, match="gamma"):
        OnlinePerceptron(rule="pa1", gamma=1.0)
