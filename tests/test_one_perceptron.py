"""One Perceptron: the rule as it is read against the rule as it runs, and the same fit from memory and from files."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import dump_svmlight_file, load_digits

import linsep
from linsep import PerceptronClassifier
from linsep.learners.kept_weights import Candidate, Pocket
from linsep.learners.learner import Learner
from linsep.learners.perceptron import Perceptron, plain_rule
from linsep.sources.base import Facts, marks
from linsep.sources.calls import CallSource
from linsep.sources.inputs import read_table
from linsep.sources.memory import MemorySource

ORDERS = ["cyclic", "restart", "shuffled", "worst"]
KEEPS = ["last", "average", "vote", "best"]
KINDS = [np.int64, np.float64]
UPDATES = 25


def rows(kind, n_classes, n=40, d=4):
    """Rows that no hyperplane separates, with labels as positions: small integers, or floats of 20 bits."""
    random = np.random.default_rng(n_classes)
    X = random.integers(-5, 6, size=(n, d)).astype(kind)
    X = X if kind is np.int64 else X + random.integers(0, 1 << 10, size=(n, d)) / 1024
    return X, random.integers(n_classes, size=n)


def memory(X, labels, n_classes):
    return MemorySource(read_table(X)[0], marks(labels, n_classes), Facts(*X.shape))


def run(X, labels, n_classes, order, keep="last", margin=0.0, source=None):
    """The compiled run of so many updates."""
    source = source or memory(X, labels, n_classes)
    exact = 1 << 20 if X.dtype == np.int64 else 0
    options = {"order": order, "keep": keep, "margin": margin, "seed": 5, "exact_updates": exact}
    return Learner(source, Perceptron(n_classes, X.shape[1], **options), max_updates=UPDATES).run()


def walked(X, labels, n_classes, order, margin=0.0):
    """The plain run of so many updates: what it yields after each row."""
    steps, updates = [], 0
    random = np.random.default_rng(5)
    for step in plain_rule(X, labels, n_classes, order=order, margin=margin, random=random):
        steps.append(step)
        updates += step[1]
        if updates == UPDATES:
            break
    return steps


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("order", ORDERS)
def test_the_compiled_rule_makes_the_updates_of_the_plain_one(order, n_classes, kind):
    X, labels = rows(kind, n_classes)
    steps, compiled = walked(X, labels, n_classes, order), run(X, labels, n_classes, order)
    _, _, W, b = steps[-1]
    assert compiled.perceptron.weights.W.dtype == kind
    assert np.array_equal(compiled.perceptron.weights.W, W)
    assert np.array_equal(compiled.perceptron.weights.b, b)
    mistakes = np.bincount([row for row, is_mistake, _, _ in steps if is_mistake], minlength=len(X))
    assert np.array_equal(compiled.mistakes_per_row, mistakes)


@pytest.mark.parametrize("order", ["cyclic", "worst"])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_a_margin_asked_for_means_the_same_to_both(order, n_classes):
    X, labels = rows(np.int64, n_classes)
    steps = walked(X, labels, n_classes, order, margin=2.5)
    assert np.array_equal(run(X, labels, n_classes, order, margin=2.5).perceptron.weights.W, steps[-1][2])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("order", ORDERS)
def test_the_average_is_that_over_the_rows_walked(order, n_classes, kind):
    X, labels = rows(kind, n_classes)
    W = np.mean([W for _, _, W, _ in walked(X, labels, n_classes, order)], axis=0)
    np.testing.assert_allclose(run(X, labels, n_classes, order, "average").perceptron.kept.W, W, atol=1e-9)


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("order", ORDERS)
def test_every_vector_votes_for_as_many_rows_as_it_survived(order, n_classes):
    X, labels = rows(np.int64, n_classes)
    votes = np.zeros((len(X), 1 if n_classes == 2 else n_classes))
    steps = walked(X, labels, n_classes, order)
    for _, _, W, b in steps:
        scores = X @ W.T + b
        clear = np.sum(scores == scores.max(axis=1, keepdims=True), axis=1) == 1
        votes += np.sign(scores) if n_classes == 2 else clear[:, None] * (scores == scores.max(axis=1, keepdims=True))
    ballot = run(X, labels, n_classes, order, "vote").perceptron.ballot
    np.testing.assert_allclose(ballot.votes(X), votes / len(steps), atol=1e-12)


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("order", ORDERS)
def test_the_pocket_holds_weights_of_the_run_with_as_few_mistakes_as_it_says(order, n_classes):
    X, labels = rows(np.int64, n_classes)
    steps = walked(X, labels, n_classes, order)
    pocket = run(X, labels, n_classes, order, "best").perceptron.pocket
    mistakes = {W.tobytes() + b.tobytes(): _mistakes(X, labels, W, b) for _, _, W, b in steps}
    assert mistakes[pocket.weights.W.tobytes() + pocket.weights.b.tobytes()] == pocket.mistakes
    assert pocket.mistakes <= _mistakes(X, labels, *steps[-1][2:])


def _mistakes(X, labels, W, b):
    scores = X @ W.T + b
    if len(b) == 1:
        return int(np.sum((2 * labels - 1) * scores[:, 0] <= 0))
    own = scores[np.arange(len(X)), labels].copy()
    scores[np.arange(len(X)), labels] = np.iinfo(np.int64).min
    return int(np.sum(own <= scores.max(axis=1)))


def test_the_pocket_weighs_all_candidates_in_one_read(monkeypatch):
    X, labels = rows(np.int64, 2)
    source = memory(X, labels, 2)
    learner = run(X, labels, 2, "cyclic", "best", source=source)
    pocket = Pocket(learner.perceptron.weights, mistakes=len(X))
    pocket.held = [Candidate(learner.perceptron.weights, run) for run in range(4)]
    blocks, reads = source.blocks, itertools.count()
    monkeypatch.setattr(source, "blocks", lambda: (next(reads), blocks())[1])
    pocket.weigh(source)
    assert next(reads) == 1
    assert pocket.held == []


# ---- files ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def frame():
    random = np.random.default_rng(3)
    table = pd.DataFrame(random.normal(size=(3000, 5)), columns=list("abcde"))
    noise = random.normal(size=3000)
    return table.assign(label=np.where(table["a"] - table["b"] + 0.1 * noise > 0.2, "up", "down"))


def opened(frame, folder, name, **options):
    path = folder / name
    if name.endswith("parquet"):
        frame.to_parquet(path, row_group_size=700, index=False)
    else:
        frame.to_csv(path, index=False)
    return linsep.open(path, label="label", **options)


def in_parts(frame):
    X, y = frame.drop(columns="label").to_numpy(), np.where(frame["label"] == "up", 1, -1)
    edges = [0, 1, 700, 2999, 3000]
    return CallSource(lambda: ((X[a:b], y[a:b]) for a, b in itertools.pairwise(edges)), labels=("down", "up"))


SOURCES = {
    "parquet": lambda frame, folder: opened(frame, folder, "rows.parquet"),
    "csv": lambda frame, folder: opened(frame, folder, "rows.csv"),
    "calls": lambda frame, folder: in_parts(frame),
}


def same_weights(one, other):
    """Whether two runs kept the same weights (a vote has no coef_: the last ones)."""
    kept = [[learner.kept for learner in model._learners] for model in (one, other)]
    return all(np.array_equal(a.W, b.W) and np.array_equal(a.b, b.b) for a, b in zip(*kept, strict=True))


@pytest.mark.parametrize("keep", KEEPS)
@pytest.mark.parametrize("source", SOURCES)
def test_a_fit_on_files_is_that_on_the_same_rows_in_memory(source, keep, frame, tmp_path):
    X, y = frame.drop(columns="label"), frame["label"]
    options = {"keep": keep, "order": "cyclic", "max_passes": 7}
    held = PerceptronClassifier(**options).fit(X, y)
    source = SOURCES[source](frame, tmp_path)
    read = PerceptronClassifier(**options).fit(source)
    assert same_weights(read, held)
    assert (read.n_updates_, read.n_passes_, read.converged_) == (held.n_updates_, held.n_passes_, held.converged_)
    np.testing.assert_allclose(read.decision_function(source), held.decision_function(X), rtol=1e-9)
    assert read.predict(source).tolist() == held.predict(X).tolist()
    assert read.score(source) == held.score(X, y) > 0.9


@pytest.mark.parametrize("keep", KEEPS)
def test_blocks_of_files_make_a_stream(keep, frame, tmp_path):
    X, y = frame.drop(columns="label"), frame["label"]
    held, read = (PerceptronClassifier(keep, order="cyclic") for _ in range(2))
    for k in range(3):
        part = frame[1000 * k : 1000 * (k + 1)]
        held.partial_fit(X.loc[part.index], y[part.index], classes=["down", "up"])
        read.partial_fit(opened(part, tmp_path, f"part{k}.parquet"))
    assert same_weights(read, held)
    assert np.array_equal(read.decision_function(X), held.decision_function(X))


def test_a_shuffled_fit_on_files_learns_and_names_its_columns(frame, tmp_path):
    model = PerceptronClassifier(random_state=0).fit(opened(frame, tmp_path, "rows.parquet"))
    assert model.score(frame.drop(columns="label"), frame["label"]) > 0.95
    assert model.feature_names_in_.tolist() == list("abcde")
    assert model.mistakes_per_row_ is None


def test_a_classifier_fitted_on_files_is_saved_and_loaded(frame, tmp_path):
    model = PerceptronClassifier("vote", random_state=0).fit(opened(frame, tmp_path, "rows.parquet"))
    model.save(tmp_path / "model.json")
    X = frame.drop(columns="label")
    assert np.array_equal(linsep.load(tmp_path / "model.json").decision_function(X), model.decision_function(X))


def test_one_label_against_the_rest_is_a_fit_of_two_classes(frame, tmp_path):
    labels = np.where(frame["a"] > 1, 3, frame["label"] == "up")
    model = PerceptronClassifier(order="cyclic").fit(opened(frame.assign(label=labels), tmp_path, "a.csv", positive=3))
    assert model.classes_[1] == 3
    X = frame.drop(columns="label")
    held = PerceptronClassifier(order="cyclic").fit(X, labels == 3)
    assert np.array_equal(model.coef_, held.coef_)


def test_integers_in_files_give_the_weights_of_the_same_floats(tmp_path):
    X, labels = rows(np.int64, 2)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(label=labels)
    read = PerceptronClassifier("last", order="cyclic").fit(opened(frame, tmp_path, "rows.parquet"))
    assert np.array_equal(read.coef_, PerceptronClassifier("last", order="cyclic").fit(X, labels).coef_)


WEIGHTED = {"class_weight": {"down": 0.1, "up": 0.7}}


@pytest.mark.parametrize("options", [WEIGHTED, {"rule": "pa1", "C": 0.3}, {"rule": "pa2"}, {"rule": "arow"}])
@pytest.mark.parametrize("source", SOURCES)
def test_whole_numbers_of_any_source_give_the_weights_of_the_same_floats(source, options, tmp_path):
    X = np.random.default_rng(3).integers(-9, 9, (3000, 3))
    frame = pd.DataFrame(X, columns=list("abc")).assign(label=np.where(X @ [3, 1, -2] > 0, "up", "down"))
    options = {"order": "cyclic", "max_passes": 3} | options
    held = PerceptronClassifier("last", **options).fit(X.astype(float), frame["label"])
    assert same_weights(PerceptronClassifier("last", **options).fit(SOURCES[source](frame, tmp_path)), held)


def test_whole_numbers_in_one_part_and_floats_in_another_are_learned_from_as_floats(tmp_path):
    X = np.array([[3, -3, 3], [3, -1, -3], [1, -3, 3]])
    source = CallSource(lambda: [(X, [-1, 1, -1]), (X + 0.5, [-1, 1, -1])])
    options = {"order": "cyclic", "max_passes": 3, "class_weight": {-1: 0.1, 1: 0.7}}
    held = PerceptronClassifier("last", **options).fit(np.vstack([X, X + 0.5]), [-1, 1, -1, -1, 1, -1])
    assert same_weights(PerceptronClassifier("last", **options).fit(source), held)


def test_other_columns_than_those_learned_from_are_named(frame, tmp_path):
    model = PerceptronClassifier().fit(opened(frame, tmp_path, "rows.parquet"))
    with pytest.raises(linsep.InputError, match="'z' where the classifier was fitted on 'b'"):
        model.predict(opened(frame.rename(columns={"b": "z"}), tmp_path, "other.parquet"))
    with pytest.raises(linsep.InputError, match="4 columns"):
        model.partial_fit(opened(frame.drop(columns="e"), tmp_path, "fewer.parquet"))


def test_other_labels_than_those_learned_from_are_named(frame, tmp_path):
    model = PerceptronClassifier().fit(opened(frame, tmp_path, "rows.parquet"))
    with pytest.raises(linsep.InputError, match="down"):
        model.partial_fit(opened(frame.assign(label=frame["label"] == "up"), tmp_path, "other.parquet"))


def test_a_source_brings_its_own_labels(frame, tmp_path):
    source = opened(frame, tmp_path, "rows.parquet")
    with pytest.raises(linsep.InputError, match="leave y out"):
        PerceptronClassifier().fit(source, frame["label"])
    with pytest.raises(linsep.InputError, match="leave y out"):
        PerceptronClassifier().fit(source).score(source, frame["label"])


OTHERS = {
    "kernel": lambda: linsep.KernelPerceptronClassifier(order="cyclic"),
    "margin": linsep.MaxMarginClassifier,
    "mistakes": lambda: linsep.FewestMistakesClassifier(time_limit=None),
    "regions": lambda: linsep.RegionsClassifier(time_limit=None),
}


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("kind", ["parquet", "csv"])
@pytest.mark.parametrize("classifier", OTHERS)
@pytest.mark.filterwarnings("ignore::linsep.errors.NotSeparableWarning")
def test_every_classifier_takes_files_as_rows_in_memory(classifier, kind, n_classes, tmp_path):
    X = np.random.default_rng(5).integers(-9, 9, (12, 2))
    frame = pd.DataFrame(X, columns=["a", "b"])
    frame["label"] = np.array(["down", "up", "up"] if n_classes == 2 else ["down", "side", "up"])[
        np.argsort(X[:, 0]) % 3
    ]
    held = OTHERS[classifier]().fit(frame[["a", "b"]], frame["label"])
    source = opened(frame, tmp_path, f"rows.{kind}")
    read = OTHERS[classifier]().fit(source)
    assert read.feature_names_in_.tolist() == ["a", "b"] and read.classes_.tolist() == held.classes_.tolist()
    assert np.array_equal(read.predict(frame[["a", "b"]]), held.predict(frame[["a", "b"]]))
    assert np.array_equal(read.predict(source), held.predict(frame[["a", "b"]]))


# ---- many classes from files ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def digits():
    bunch = load_digits(as_frame=True)
    return bunch.frame.drop(columns="target").assign(label=bunch.target)


def halves(frame):
    return frame.drop(columns="label"), frame["label"]


OPTIONS = [{"keep": keep} for keep in KEEPS] + [{"multiclass": "ovr"}, {"margin": 2.0}]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["digits.parquet", "digits.csv"])
@pytest.mark.parametrize(
    "options", [{"keep": keep} for keep in KEEPS] + [{"multiclass": "ovr"}, {"margin": 2.0}], ids=str
)
def test_ten_classes_from_a_file_are_learned_as_from_memory(options, name, digits, tmp_path):
    options = {"order": "cyclic", "max_passes": 4} | options
    held, source = PerceptronClassifier(**options).fit(*halves(digits)), opened(digits, tmp_path, name)
    read = PerceptronClassifier(**options).fit(source)
    assert read.classes_.tolist() == list(range(10)) and same_weights(read, held)
    assert read.score(source) == held.score(*halves(digits)) > 0.9


def test_classes_of_several_files_are_those_of_all_of_them(digits, tmp_path):
    low = digits["label"] < 2
    opened(digits[low], tmp_path, "a.parquet")
    opened(digits[~low], tmp_path, "b.parquet")
    read = PerceptronClassifier(order="cyclic").fit(linsep.open(tmp_path, label="label"))
    held = PerceptronClassifier(order="cyclic").fit(*halves(pd.concat([digits[low], digits[~low]])))
    assert np.array_equal(read.coef_, held.coef_)


@pytest.mark.parametrize("multiclass", ["joint", "ovr"])
def test_a_later_file_may_lack_some_of_the_classes(multiclass, digits, tmp_path):
    held, read = (PerceptronClassifier(order="cyclic", multiclass=multiclass) for _ in range(2))
    for k, few in enumerate([[3, 7], [0, 5, 9], range(10)]):
        part = digits[digits["label"].isin(few)]
        held.partial_fit(*halves(part), classes=range(10))
        read.partial_fit(opened(part, tmp_path, f"part{k}.parquet"), classes=range(10))
    assert np.array_equal(read.coef_, held.coef_)
    assert read.classes_.tolist() == held.classes_.tolist()


def test_ten_classes_come_from_sparse_rows_too(digits, tmp_path):
    X, y = halves(digits)
    dump_svmlight_file(X, y, str(tmp_path / "digits.svm"), zero_based=False)
    read = PerceptronClassifier(order="cyclic").fit(linsep.open(tmp_path / "digits.svm", n_columns=64))
    assert np.array_equal(read.coef_, PerceptronClassifier(order="cyclic").fit(csr_array(X), y).coef_)


def test_more_than_256_classes_come_from_a_file(tmp_path):
    frame = pd.DataFrame({"a": np.arange(300.0), "label": np.arange(300)})
    read = PerceptronClassifier("last", order="cyclic", max_passes=2).fit(opened(frame, tmp_path, "a.parquet"))
    held = PerceptronClassifier("last", order="cyclic", max_passes=2).fit(*halves(frame))
    assert np.array_equal(read.coef_, held.coef_)


QUESTIONS = [linsep.decide, linsep.max_margin, linsep.novikoff, linsep.mle_exists, linsep.perceptron]


@pytest.mark.parametrize("ask", QUESTIONS)
def test_a_question_of_two_classes_refuses_ten_and_names_the_file(ask, digits, tmp_path):
    with pytest.raises(
        linsep.InputError, match=r"digits.parquet: column 'label': there are more than two labels .*positive=9"
    ) as caught:
        ask(opened(digits, tmp_path, "digits.parquet"))
    assert caught.value.code == "E-MANY-CLASSES"
    assert caught.value.file.endswith("digits.parquet")


def test_a_source_of_ten_classes_is_not_scanned(digits, tmp_path):
    with pytest.raises(linsep.InputError, match="more than two labels"):
        opened(digits, tmp_path, "digits.parquet").scan(np.zeros(64), 0.0)


def test_a_proof_about_two_classes_does_not_hold_for_ten(digits, tmp_path):
    two = digits[digits["label"] < 2]
    verdict = linsep.decide(opened(two, tmp_path, "two.parquet"))
    with pytest.raises(linsep.CertificateError, match="the proof is about 0 and 1"):
        verdict.verify(opened(digits, tmp_path, "digits.parquet"))
