"""Online learning, held against a slow and obvious version in exact arithmetic."""

import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_digits

import linsep
from linsep import OnlinePerceptron, PerceptronClassifier
from linsep.datasets import cornwell, planted
from linsep.errors import (
    ArgumentError,
    InexactError,
    LengthError,
    ManyClassesError,
    MissingLabelError,
    ModelError,
    NoRowsError,
    NotFiniteError,
    OneClassError,
    ShapeError,
)
from linsep.learners import online_document
from linsep.learners.online_perceptron import Counts
from linsep.models import MODEL
from linsep.saved_models.load import from_json
from linsep.scores import clear_sign

KEEPS = ("last", "average")


def naive(rows, labels, keep, bias):
    """Predictions, mistakes and updates of a stream whose classes nobody named, with one weight vector for each."""
    classes, W, total, seen, mistakes, updates = [], [], [], [], 0, 0
    for t, (row, label) in enumerate(zip(rows, labels, strict=True)):
        x = [*map(Fraction, row), Fraction(int(bias))]
        kept = W if keep == "last" or t == 0 else [[Fraction(s, t) for s in sums] for sums in total]
        scores = [sum(a * b for a, b in zip(w, x, strict=True)) for w in kept]
        seen.append(classes[scores.index(max(scores))] if classes else None)
        is_right = label in classes and all(
            scores[classes.index(label)] > score for k, score in enumerate(scores) if classes[k] != label
        )
        mistakes += not is_right
        if label not in classes:
            classes.append(label)
            W, total = [*W, [Fraction(0)] * len(x)], [*total, [Fraction(0)] * len(x)]
        own = classes.index(label)
        others = [k for k in range(len(classes)) if k != own]
        scores = [sum(a * b for a, b in zip(w, x, strict=True)) for w in W]
        if others:
            rival = max(others, key=lambda k: scores[k])
            if scores[own] <= scores[rival]:
                updates += 1
                W[own] = [a + b for a, b in zip(W[own], x, strict=True)]
                W[rival] = [a - b for a, b in zip(W[rival], x, strict=True)]
        total = [[a + b for a, b in zip(s, w, strict=True)] for s, w in zip(total, W, strict=True)]
    return seen, Counts(len(rows), mistakes, updates)


def streams(most_classes):
    row = st.lists(st.integers(-3, 3), min_size=2, max_size=2)
    return st.lists(st.tuples(row, st.integers(0, most_classes - 1)), min_size=1, max_size=40)


@settings(max_examples=150, deadline=None)
@given(streams(4), st.booleans())
def test_the_last_weights_predict_as_in_exact_arithmetic(stream, bias):
    rows, labels = zip(*stream, strict=True)
    model = OnlinePerceptron(keep="last", bias=bias)
    assert (model.predict_then_learn(list(rows), list(labels)), model.counts) == naive(rows, labels, "last", bias)


@settings(max_examples=100, deadline=None)
@given(streams(3), st.booleans())
def test_the_updates_do_not_depend_on_which_weights_predict(stream, bias):
    rows, labels = zip(*stream, strict=True)
    model = OnlinePerceptron(keep="average", bias=bias)
    model.predict_then_learn(list(rows), list(labels))
    assert model.counts.updates == naive(rows, labels, "average", bias)[1].updates


def test_the_average_predicts_as_in_exact_arithmetic():
    X, y = load_digits(n_class=4, return_X_y=True)
    rows, labels = X[:150, 20:28].astype(int).tolist(), y[:150].tolist()
    model = OnlinePerceptron(keep="average")
    assert (model.predict_then_learn(rows, labels), model.counts) == naive(rows, labels, "average", True)


@pytest.mark.parametrize("keep", KEEPS)
@pytest.mark.parametrize("n_class", [2, 10])
def test_a_batch_is_its_rows_one_by_one_dense_or_sparse(keep, n_class):
    X, y = load_digits(n_class=n_class, return_X_y=True)
    X, y = X[:300], y[:300]
    batch, single, sparse = (OnlinePerceptron(keep=keep) for _ in range(3))
    predicted = batch.predict_then_learn(X, y)
    assert [single.predict_then_learn(x, label) for x, label in zip(X, y, strict=True)] == predicted
    assert sparse.predict_then_learn(sp.csr_array(X), y) == predicted
    for other in (single, sparse):
        assert other.counts == batch.counts
        assert np.array_equal(other.learner.kept.W, batch.learner.kept.W)


@pytest.mark.parametrize("keep", KEEPS)
def test_named_classes_give_the_weights_of_partial_fit(keep):
    X, y = load_digits(return_X_y=True)
    online = OnlinePerceptron(range(10), keep=keep)
    online.predict_then_learn(X, y)
    batch = PerceptronClassifier(keep, order="cyclic").partial_fit(X, y, classes=range(10))
    assert np.array_equal(online.learner.kept.W, batch.coef_)
    assert online.predict(X) == batch.predict(X).tolist()


@pytest.mark.parametrize("keep", KEEPS)
def test_each_prediction_is_that_of_the_rows_before_it(keep):
    X, y = load_digits(n_class=5, return_X_y=True)
    online, checked = (OnlinePerceptron(range(5), keep=keep) for _ in range(2))
    predicted = online.predict_then_learn(X[:60], y[:60])
    for row in range(60):
        assert checked.predict(X[row]) == predicted[row] or row == 0
        checked.predict_then_learn(X[row], y[row])


def test_the_updates_of_a_separable_stream_stay_below_the_bound():
    X, y = planted(3000, 4, margin=0.1, seed=2)
    theory = linsep.novikoff(X, y)
    model = OnlinePerceptron([-1, 1], keep="last", gamma=theory.gamma[0])
    for _ in range(20):
        model.predict_then_learn(X, y)
        assert model.counts.updates <= model.bound
        assert model.gamma_ceiling >= theory.gamma[0]
    assert theory.radius[0] <= model.radius <= theory.radius[1]
    assert "allows at most" in model.explain()


def test_too_many_updates_refute_a_margin():
    X, y = linsep.datasets.xor()
    model = OnlinePerceptron(gamma=0.5)
    for _ in range(20):
        model.predict_then_learn(X, y)
    assert model.counts.updates > model.bound
    assert "no hyperplane has it" in model.explain()
    assert model.gamma_ceiling < 0.5


def test_the_bound_of_many_classes_is_twice_as_large():
    model = OnlinePerceptron(range(3), gamma=1.0, bias=False)
    model.predict_then_learn([[3, 4]], [0])
    assert (model.radius, model.bound) == (5, 50)
    assert model.gamma_ceiling == pytest.approx(5 * math.sqrt(2))


def test_counts_since_are_a_difference():
    X, y = cornwell()
    model = OnlinePerceptron()
    model.predict_then_learn(X, y)
    before = model.counts
    model.predict_then_learn(X, y)
    assert (model.counts - before).rows == 4
    assert before + (model.counts - before) == model.counts
    assert Counts().loss == 0


def test_nothing_is_learned_while_there_is_one_class():
    model = OnlinePerceptron(keep="last")
    assert model.predict_then_learn([[1.0], [2.0]], ["a", "a"]) == [None, "a"]
    assert model.counts == Counts(rows=2, mistakes=1, updates=0)
    assert model.predict_then_learn([5.0], "b") == "a"
    assert model.learner.weights.W.tolist() == [[5.0]]
    with pytest.raises(OneClassError, match="no scores yet"):
        OnlinePerceptron().decision_function([1.0])


def test_words_and_names_may_appear_at_any_time():
    model = OnlinePerceptron(bits=12, keep="last")
    model.predict_then_learn(["win a prize", "lunch at one", "prize"], ["spam", "ham", "spam"])
    model.predict_then_learn({"never seen": 3.0, "colour": "red"}, "new class")
    assert model.classes == ["spam", "ham", "new class"]
    assert model.predict(["prize prize", "lunch lunch"]) == ["spam", "ham"]
    assert model.predict({"never seen": 1.0}) == "new class"
    assert model.decision_function(["prize", "lunch"]).shape == (2, 3)


@pytest.mark.parametrize(
    ("X", "y", "error", "said"),
    [
        ([[1.0, math.nan]], [0], NotFiniteError, "Row 0, column 1"),
        (sp.csr_array([[0, 1.0], [math.inf, 0]]), [0, 1], NotFiniteError, "Row 1, column 0"),
        ([[1.0, 2.0]], [0, 1], LengthError, "1 rows, but y has 2"),
        ([[1.0, 2.0]], [None], MissingLabelError, "Row 0"),
        ([[1.0, 2.0, 3.0]], [0], ShapeError, "3 columns, but the model has 2 weights"),
        ([[2**53 + 1, 0]], [0], InexactError, "stored exactly"),
        (["text"], [0], ArgumentError, "bits=18"),
        ([], [], (NoRowsError, ShapeError), "rows"),
    ],
)
def test_bad_rows_are_refused_and_change_nothing(X, y, error, said):
    model = OnlinePerceptron([0, 1])
    model.predict_then_learn([[1.0, 2.0]], [1])
    before, weights = model.counts, model.learner.weights.copy()
    with pytest.raises(error, match=said):
        model.predict_then_learn(X, y)
    assert model.counts == before
    assert np.array_equal(model.learner.weights.W, weights.W)


def test_a_source_of_files_is_refused_with_what_takes_one(tmp_path):
    (tmp_path / "rows.csv").write_text("a,y\n1,no\n2,yes\n")
    source = linsep.open(tmp_path / "rows.csv", label="y")
    for refuses in (OnlinePerceptron().predict_then_learn, OnlinePerceptron().predict):
        with pytest.raises(ShapeError, match="X is a source") as refused:
            refuses(source)
        assert "partial_fit" in refused.value.fix


def test_columns_of_another_order_are_refused():
    polars = pytest.importorskip("polars")
    model = OnlinePerceptron([0, 1])
    model.predict_then_learn(polars.DataFrame({"a": [1.0], "b": [2.0]}), [1])
    with pytest.raises(ShapeError, match="'b' where earlier rows had 'a'"):
        model.predict_then_learn(polars.DataFrame({"b": [1.0], "a": [2.0]}), [1])


@pytest.mark.parametrize("options", [{"keep": "vote"}, {"gamma": 0}, {"gamma": math.nan}, {"bits": 0}])
def test_bad_options_are_refused(options):
    with pytest.raises(ArgumentError, match=next(iter(options))):
        OnlinePerceptron(**options)


def test_labels_that_are_no_classes_do_not_fill_the_memory(monkeypatch):
    monkeypatch.setattr("linsep.learners.online_perceptron.MOST_WEIGHTS", 1 << 10)
    model = OnlinePerceptron(bits=9)
    with pytest.raises(ManyClassesError, match="3 classes"):
        model.predict_then_learn(["one", "two", "three"], ["a", "b", "c"])


@pytest.mark.parametrize("keep", KEEPS)
@pytest.mark.parametrize("classes", [[False, True], [3, 4, 5], ["a", "b", "ç"], [0.5, 1.5]])
def test_a_saved_stream_goes_on_as_if_never_interrupted(keep, classes, tmp_path):
    X, y = load_digits(n_class=len(classes), return_X_y=True)
    labels = [classes[k] for k in y[:200]]
    straight, halted = OnlinePerceptron(keep=keep, gamma=0.5), OnlinePerceptron(keep=keep, gamma=0.5)
    straight.predict_then_learn(X[:200], labels)
    halted.predict_then_learn(X[:100], labels[:100])
    halted.save(tmp_path / "m.json")
    resumed = linsep.load(tmp_path / "m.json")
    resumed.predict_then_learn(X[100:200], labels[100:])
    assert online_document.document_of(resumed) == online_document.document_of(straight)


def written():
    model = OnlinePerceptron(["a", "b"], bits=4, keep="average")
    model.predict_then_learn(["one two", "three"], ["a", "b"])
    return online_document.document_of(model)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"kind": "online"}, "kind is 'online'"),
        ({"extra": 1}, "unknown"),
        ({"keep": "vote"}, "keep is"),
        ({"bias": 1}, "bias is 1"),
        ({"bits": 60}, "bits is 60"),
        ({"bits": None, "width": 1 << 40}, "width is"),
        ({"width": 17}, "4 bits make 16"),
        ({"gamma": -1.0}, "gamma is"),
        ({"longest": -1.0}, "longest is"),
        ({"labels": {"type": "text", "values": ["a", "a"]}}, "twice"),
        ({"labels": {"type": "text", "values": ["a", "b", "c"]}}, "need 3"),
        ({"labels": {"type": "text", "values": []}}, "empty"),
        ({"labels": {"type": "pickle", "values": []}}, "labels.type"),
        ({"labels": {"type": "integer", "values": [1, 2]}}, "string of digits"),
        ({"counts": {"rows": 1, "mistakes": 2, "updates": 0}}, "more than the 1 rows"),
        ({"counts": {"rows": 1, "mistakes": 0, "updates": 2}}, "more than the 1 rows"),
        ({"weights": [{"b": 0.0, "places": [16], "values": [1.0]}]}, "at most"),
        ({"weights": [{"b": 0.0, "places": [2, 1], "values": [1.0, 1.0]}]}, "places must increase"),
        ({"weights": [{"b": 0.0, "places": [1], "values": []}]}, "1 places but 0 values"),
        ({"weights": [{"b": "x", "places": [], "values": []}]}, "must be a number"),
        ({"lag": []}, "lag has 0 rows"),
        ({"columns": ["a"]}, "columns has 1 entries"),
        ({"linsep": 1}, "linsep is 1"),
    ],
)
def test_a_model_file_is_read_strictly(change, said):
    with pytest.raises(ModelError, match=said):
        from_json(MODEL.write(written() | change))


@pytest.mark.parametrize("name", online_document.FIELDS)
def test_every_field_of_a_model_file_is_needed(name):
    document = written()
    del document[name]
    with pytest.raises(ModelError, match=name):
        from_json(MODEL.write(document))


def test_a_damaged_model_file_is_refused_or_still_a_model(tmp_path):
    model = OnlinePerceptron(["a", "b"], bits=2)
    model.predict_then_learn(["one two", "three"], ["a", "b"])
    model.save(tmp_path / "m.json")
    text = (tmp_path / "m.json").read_bytes()
    for place in range(len(text)):
        for damaged in (text[:place], text[:place] + bytes([text[place] ^ 4]) + text[place + 1 :]):
            (tmp_path / "m.json").write_bytes(damaged)
            try:
                linsep.load(tmp_path / "m.json")
            except ModelError as error:
                assert str(error).startswith(str(tmp_path))


def test_what_cannot_be_written_is_refused():
    with pytest.raises(ModelError, match="nothing to write"):
        OnlinePerceptron().save("m.json")
    model = OnlinePerceptron()
    model.predict_then_learn([[1.0]], [1])
    model.add_classes(["one"])
    with pytest.raises(ModelError, match="int, str"):
        model.save("m.json")


@given(st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=4), st.integers(0, 2**32))
def test_a_clear_sign_is_the_exact_one(x, seed):
    w = np.random.default_rng(seed).standard_normal(len(x)).tolist()
    products = [Fraction(a) * Fraction(b) for a, b in zip(x, w, strict=True)]
    for b in (0.0, 1.0, -float(sum(products))):
        exact = sum(products, Fraction(b))
        assert clear_sign(x, w, b) in (0, (exact > 0) - (exact < 0))
    assert clear_sign([1e308, 1e308], [10.0, -10.0], 0.0) == 0 == clear_sign([5e-324], [0.5], 0.0)
    assert clear_sign(x, w, 1e9) == 1


def test_a_row_that_only_rounding_puts_on_the_hyperplane_is_on_its_side():
    model = OnlinePerceptron([0, 1], keep="last", bias=False)
    model.predict_then_learn([[1.0, 1e20]], [1])
    assert model.predict([1e20, -1.0 + 2**-53]) == model.predict([[1e20, -1.0 + 2**-53]])[0] == 1
