"""PerceptronClassifier against scikit-learn's contract, against a slow obvious version, and against the solver."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_digits, load_iris
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import linsep
from linsep import PerceptronClassifier
from linsep.learners import kept_weights, perceptron

KEEPS = ("last", "average", "vote", "best")
ORDER_MATTERS = {  # these compare fits of rows in two orders; scikit-learn's own Perceptron fails them too
    "check_sample_weight_equivalence_on_dense_data": "in the same order weights are copies of rows, bit for bit",
    "check_sample_weight_equivalence_on_sparse_data": "in the same order weights are copies of rows, bit for bit",
}
SHAPES = [(keep, multiclass) for keep in KEEPS for multiclass in ("joint", "ovr")]


@pytest.mark.slow
@parametrize_with_checks(
    [PerceptronClassifier(keep, multiclass=multiclass) for keep, multiclass in SHAPES]
    + [PerceptronClassifier("last", rule=rule) for rule in ("pa1", "arow")],
    expected_failed_checks=lambda _: ORDER_MATTERS,
)
def test_the_contract_of_scikit_learn_holds(estimator, check):
    check(estimator)


# ---- the slow, obvious version ---------------------------------------------------------------------------------


def gaps(W, Z, labels):
    """How far each row's class is ahead of its rival, and the rival; W has a row for each class."""
    scores = Z @ W.T
    own = scores[np.arange(len(Z)), labels].copy()
    scores[np.arange(len(Z)), labels] = -np.inf
    return own - scores.max(axis=1), scores.argmax(axis=1)


def naive_run(X, labels, n_classes, passes, margin=0.0):
    """Every weight matrix of a cyclic run, one for each row walked (the rows homogenised, the last column the bias)."""
    Z = np.column_stack([X, np.ones(len(X))])
    W, walked = np.zeros((n_classes, Z.shape[1])), []
    for _ in range(passes):
        updates = 0
        for z, label in zip(Z, labels, strict=True):
            gap, rival = gaps(W, z[None], [label])
            if gap[0] <= margin:
                W = W.copy()
                W[label] += z
                W[rival[0]] -= z
                updates += 1
            walked.append(W)
        if not updates:
            break
    return Z, walked


def naive_pocket(Z, walked, labels):
    """The pocket over a run that is already known: the four longest runs, weighed after passes that may be better."""
    fewest, longest, best, least = np.inf, -1, np.zeros_like(walked[0]), len(Z)
    W, run, updates, held = best, 0, 0, []
    for t, after in enumerate(walked, 1):
        is_same = after is W
        if not is_same:
            held = sorted([*held, (run, W)], key=lambda pair: -pair[0])[:4]
            W, run, updates = after, -1, updates + 1
        run += 1
        if t % len(Z):
            continue
        if t == len(walked) and not updates:
            return W
        held = [*held, (run, W)] if t == len(walked) else sorted([*held, (run, W)], key=lambda pair: -pair[0])[:4]
        if t == len(walked) or (t > len(Z) and (updates <= fewest or held[0][0] > longest)):
            for _, candidate in held:
                mistakes = np.count_nonzero(gaps(candidate, Z, labels)[0] <= 0)
                best, least = (candidate, mistakes) if mistakes < least else (best, least)
            longest, held = max(longest, held[0][0]), []
        else:
            longest = max(longest, held[0][0])
        fewest, updates = min(fewest, updates), 0
    return best


def weights_of(model):
    """The weights that runs kept; of a vote, which has no coef_, the last."""
    return np.vstack([learner.kept.W for learner in model._learners])


def integers(seed, n_classes, n=60, d=5):
    """Small integers (so that nothing is rounded) with labels that a linear rule gives, a tenth of them wrong."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-4, 5, size=(n, d)).astype(float)
    y = (X @ rng.standard_normal((d, n_classes))).argmax(axis=1)
    return X, np.where(rng.random(n) < 0.1, rng.integers(n_classes, size=n), y)


@pytest.mark.parametrize("margin", [0.0, 3.0])
@pytest.mark.parametrize("seed", range(4))
def test_joint_weights_are_those_of_the_obvious_run(seed, margin):
    X, y = integers(seed, 4)
    Z, walked = naive_run(X, y, 4, passes=7, margin=margin)
    expected = {"last": walked[-1], "average": np.mean(walked, axis=0), "best": naive_pocket(Z, walked, y)}
    for keep, W in expected.items():
        model = PerceptronClassifier(keep, order="cyclic", max_passes=7, margin=margin).fit(X, y)
        np.testing.assert_allclose(np.column_stack([model.coef_, model.intercept_]), W, rtol=0, atol=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_binary_weights_are_half_the_difference_of_two_joint_rows(seed):
    X, y = integers(seed, 2)
    Z, walked = naive_run(X, y, 2, passes=7)
    expected = {"last": walked[-1], "average": np.mean(walked, axis=0), "best": naive_pocket(Z, walked, y)}
    for keep, W in expected.items():
        model = PerceptronClassifier(keep, order="cyclic", max_passes=7).fit(X, y)
        np.testing.assert_allclose([*model.coef_[0], *model.intercept_], W[1], rtol=0, atol=1e-12)


@pytest.mark.parametrize(("seed", "n_classes"), [(0, 2), (1, 2), (0, 3), (1, 4)])
def test_each_vector_votes_once_for_every_row_it_survived(seed, n_classes):
    X, y = integers(seed, n_classes)
    Z, walked = naive_run(X, y, n_classes, passes=5)
    votes = np.zeros((len(Z), n_classes))
    for W in walked:
        scores = Z @ W.T
        is_clear = np.count_nonzero(scores == scores.max(axis=1, keepdims=True), axis=1) == 1
        votes[np.flatnonzero(is_clear), scores.argmax(axis=1)[is_clear]] += 1
    shares = votes / len(walked)
    model = PerceptronClassifier("vote", order="cyclic", max_passes=5).fit(X, y)
    expected = shares[:, 1] - shares[:, 0] if n_classes == 2 else shares
    np.testing.assert_allclose(model.decision_function(X), expected, atol=1e-12)


def test_ovr_is_one_binary_run_of_each_class_against_the_rest():
    X, y = integers(3, 4)
    for keep in KEEPS:
        model = PerceptronClassifier(keep, multiclass="ovr", max_passes=5, random_state=1).fit(X, y)
        alone = [PerceptronClassifier(keep, max_passes=5, random_state=1).fit(X, y == k) for k in range(4)]
        assert np.array_equal(weights_of(model), np.vstack([weights_of(one) for one in alone]))
        scores = np.column_stack([one.decision_function(X) for one in alone])
        np.testing.assert_allclose(model.decision_function(X), scores, rtol=1e-12, atol=1e-12)
        assert model.n_updates_ == sum(one.n_updates_ for one in alone)
        assert np.array_equal(model.mistakes_per_row_, sum(one.mistakes_per_row_ for one in alone))


@pytest.mark.parametrize("order", ["cyclic", "shuffled"])
@pytest.mark.parametrize("bias", [True, False])
def test_the_last_weights_are_those_of_the_solver_update_for_update(order, bias):
    X, y = integers(5, 2, n=200)
    model = PerceptronClassifier("last", order=order, bias=bias, max_passes=20, random_state=7).fit(X, y)
    run = linsep.perceptron(X, y, order=order, bias=bias, max_passes=20, random_state=7)
    assert np.array_equal(model.coef_[0], run.halfspace.w)
    assert model.intercept_[0] == run.halfspace.b
    assert np.array_equal(model.mistakes_per_row_, run.mistakes_per_row)
    assert (model.n_updates_, model.n_passes_, model.converged_) == (run.updates, run.passes, run.converged)


def test_a_clean_pass_ends_the_run():
    model = PerceptronClassifier("last", order="cyclic").fit(*linsep.datasets.cornwell())
    assert model.converged_
    assert (model.n_updates_, model.n_passes_) == (9, 6)
    assert model.score(*linsep.datasets.cornwell()) == 1


def test_a_margin_asked_for_is_reached_on_every_row():
    X, y = linsep.datasets.cornwell()
    model = PerceptronClassifier("last", margin=5.0, max_passes=1000, random_state=0).fit(X, y)
    assert model.converged_
    assert np.all(np.where(y == model.classes_[1], 1, -1) * model.decision_function(X) > 5)


# ---- layouts and number types ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("keep", "multiclass"), SHAPES)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_sparse_rows_give_the_same_run(keep, multiclass, n_classes):
    X, y = integers(2, n_classes)
    dense, sparse = (
        PerceptronClassifier(keep, multiclass=multiclass, max_passes=6, random_state=3).fit(rows, y)
        for rows in (X, sp.csr_matrix(X))
    )
    if keep == "vote":
        assert np.array_equal(dense.decision_function(X), sparse.decision_function(X))
    else:
        assert np.array_equal(dense.coef_, sparse.coef_) and np.array_equal(dense.intercept_, sparse.intercept_)
    assert np.array_equal(dense.mistakes_per_row_, sparse.mistakes_per_row_)
    scores = dense.decision_function(sp.csc_array(X)), sparse.decision_function(X)
    np.testing.assert_allclose(*scores, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("order", ["cyclic", "shuffled"])
def test_short_and_long_sparse_rows_give_the_same_run_as_dense_ones(order):
    rng = np.random.default_rng(0)
    filled = np.arange(200) < rng.choice([0, 1, 7, 8, 31, 32, 33, 39, 40, 41, 127, 200], size=300)[:, None]
    X = rng.permuted(filled * rng.integers(-3, 4, size=(300, 200)), axis=1).astype(float)
    y = rng.integers(0, 2, 300)
    dense, sparse = (
        PerceptronClassifier(order=order, max_passes=9, random_state=1).fit(Z, y) for Z in (X, sp.csr_array(X))
    )
    assert dense.n_updates_ > 300
    assert np.array_equal(dense.coef_, sparse.coef_)
    assert np.array_equal(dense.mistakes_per_row_, sparse.mistakes_per_row_)


@pytest.mark.parametrize("keep", sorted(set(KEEPS) - {"vote"}))
def test_float32_stays_float32_and_is_computed_in_float64(keep):
    X, y = load_iris(return_X_y=True)
    narrow = PerceptronClassifier(keep, random_state=0).fit(X.astype(np.float32), y)
    wide = PerceptronClassifier(keep, random_state=0).fit(X.astype(np.float32).astype(float), y)
    assert narrow.coef_.dtype == narrow.intercept_.dtype == np.float32
    assert wide.coef_.dtype == np.float64
    np.testing.assert_array_equal(narrow.coef_, wide.coef_.astype(np.float32))


def test_weights_that_float32_cannot_hold_are_refused():
    X = np.full((2, 1), 3e38, dtype=np.float32)
    stream = PerceptronClassifier("last", margin=1e100)  # every row is a mistake, so the weights are 6e38
    with pytest.raises(linsep.errors.OverflowedError, match="float32"):
        stream.partial_fit(X, [1, 1], classes=[0, 1])


def test_scores_beyond_the_largest_double_are_refused_with_their_row():
    with pytest.raises(linsep.InputError, match="Row 1"):
        PerceptronClassifier(order="cyclic").fit([[1e200], [1e200]], [0, 1])


# ---- streams -----------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("keep", ["last", "average", "vote"])
def test_a_stream_of_batches_is_one_pass_over_the_whole(keep, n_classes):
    X, y = integers(4, n_classes)
    whole = PerceptronClassifier(keep, order="cyclic", max_passes=1).fit(X, y)
    stream = PerceptronClassifier(keep, order="cyclic")
    for k, rows in enumerate(np.split(np.arange(60), [7, 8, 30])):
        batch = sp.csr_array(X[rows]) if k % 2 else X[rows]
        stream.partial_fit(batch, y[rows], classes=range(n_classes))
    assert np.array_equal(weights_of(stream), weights_of(whole))
    assert stream.n_updates_ == whole.n_updates_
    np.testing.assert_allclose(stream.decision_function(X), whole.decision_function(X), rtol=1e-12)


def test_partial_fit_goes_on_after_fit():
    X, y = integers(4, 3)
    once = PerceptronClassifier(order="cyclic", max_passes=2).fit(X, y)
    twice = PerceptronClassifier(order="cyclic", max_passes=1).fit(X, y).partial_fit(X, y)
    assert np.array_equal(once.coef_, twice.coef_)
    assert twice.n_passes_ == 2


def test_the_pocket_of_a_stream_is_never_worse_on_the_batch_than_the_last_weights():
    X, y = integers(6, 3, n=300)
    best, last = (PerceptronClassifier(keep, order="cyclic") for keep in ("best", "last"))
    for rows in np.split(np.arange(300), 5):
        best.partial_fit(X[rows], y[rows], classes=range(3))
        last.partial_fit(X[rows], y[rows], classes=range(3))
        assert best.score(X[rows], y[rows]) >= last.score(X[rows], y[rows])


@pytest.mark.parametrize(
    ("classes", "labels", "words"),
    [(None, [0, 1], "classes is missing"), ([0, 1], [0, 2], "Row 1: the label is 2"), ([0], [0, 0], "one class")],
)
def test_a_stream_that_cannot_be_learned_is_refused(classes, labels, words):
    with pytest.raises(linsep.InputError, match=words):
        PerceptronClassifier().partial_fit([[0.0], [1.0]], labels, classes=classes)


def test_classes_may_not_change_in_a_stream():
    model = PerceptronClassifier().partial_fit([[0.0]], [0], classes=[0, 1])
    with pytest.raises(linsep.InputError, match="earlier calls"):
        model.partial_fit([[0.0]], [0], classes=[0, 1, 2])


# ---- the vote's memory -------------------------------------------------------------------------------------------


def test_a_long_run_keeps_its_latest_voters(monkeypatch):
    X, y = integers(7, 3, n=300)
    _, walked = naive_run(X, y, 3, passes=6)
    vectors, starts = np.unique([id(W) for W in walked], return_index=True)
    monkeypatch.setattr(kept_weights, "MOST_VOTERS", 10)
    monkeypatch.setattr(perceptron, "LOGGED_A_CALL", 64)
    model = PerceptronClassifier("vote", order="cyclic", max_passes=6).fit(X, y)
    ballot = model._learners[0].ballot
    assert len(vectors) > 11
    assert len(ballot.log) == 10
    assert ballot.rows.shape[0] <= 10
    first = np.sort(starts)[-11]
    assert np.array_equal(np.column_stack([ballot.first.W, ballot.first.b]), walked[first])
    assert ballot.survived.sum() == len(walked) - first


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_vote_may_be_counted_in_parts(monkeypatch, n_classes):
    X, y = integers(9, n_classes)
    model = PerceptronClassifier("vote", random_state=0, max_passes=4).fit(X, y)
    whole = model.decision_function(X)
    monkeypatch.setattr(kept_weights, "PRODUCTS_A_CALL", 7 * model._learners[0].ballot.rows.shape[0])
    np.testing.assert_allclose(model.decision_function(X), whole, rtol=1e-12, atol=1e-12)


def test_the_mean_of_the_voters_is_the_average():
    X, y = integers(8, 3)
    voted, average = (
        PerceptronClassifier(keep, random_state=0, max_passes=4).fit(X, y) for keep in ("vote", "average")
    )
    ballot, total = voted._learners[0].ballot, 0
    for j, count in enumerate(ballot.survived):
        W = kept_weights.Ballot(ballot.first, 0, ballot.rows, ballot.log[:j], 0, 1).trimmed(0).first.W
        total = total + count * W
    np.testing.assert_allclose(total / ballot.survived.sum(), average.coef_, atol=1e-12)


# ---- beside the rest of scikit-learn -----------------------------------------------------------------------------


@pytest.mark.parametrize(("keep", "multiclass"), SHAPES)
def test_digits_are_told_apart(keep, multiclass):
    X, y = load_digits(return_X_y=True)
    model = PerceptronClassifier(keep, multiclass=multiclass, random_state=0).fit(X[:1200], y[:1200])
    assert model.score(X[1200:], y[1200:]) > (0.90 if keep in ("average", "vote") else 0.87)


@pytest.mark.parametrize("keep", KEEPS)
def test_the_same_random_state_gives_the_same_model(keep):
    X, y = load_iris(return_X_y=True)
    a, b = (PerceptronClassifier(keep, random_state=11).fit(X, y) for _ in range(2))
    c = PerceptronClassifier(keep, random_state=12).fit(X, y)
    assert np.array_equal(a.decision_function(X), b.decision_function(X))
    assert not np.array_equal(a.decision_function(X), c.decision_function(X))
    assert np.array_equal(pickle.loads(pickle.dumps(a)).predict(X), a.predict(X))


def test_search_cross_validation_and_pipelines_work():
    X, y = load_iris(return_X_y=True)
    pipeline = make_pipeline(StandardScaler(), PerceptronClassifier(random_state=0))
    assert cross_val_score(pipeline, X, y, cv=3).mean() > 0.9
    search = GridSearchCV(
        pipeline, {"perceptronclassifier__keep": KEEPS, "perceptronclassifier__margin": [0, 1.0]}, cv=3
    )
    assert search.fit(X, y).best_score_ > 0.93


def test_probabilities_come_from_calibration():
    X, y = load_iris(return_X_y=True)
    for keep in ("average", "vote"):
        chances = CalibratedClassifierCV(PerceptronClassifier(keep, random_state=0), cv=3).fit(X, y).predict_proba(X)
        np.testing.assert_allclose(chances.sum(axis=1), 1)
        assert (chances.argmax(axis=1) == y).mean() > 0.9


def test_clone_takes_the_parameters_and_nothing_else():
    model = PerceptronClassifier("vote", margin=2.0, max_passes=3).fit([[0.0], [1.0]], [0, 1])
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    assert getattr(copy, "coef_", None) is None


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_dataframes_bring_their_names(frame):
    X, y = load_iris(return_X_y=True)
    table = frame(X, columns=["a", "b", "c", "d"]) if frame is pd.DataFrame else frame(X, schema=["a", "b", "c", "d"])
    names = np.array(["iris", "rose", "tulip"])[y]
    model = PerceptronClassifier(random_state=0).fit(table, names)
    assert model.feature_names_in_.tolist() == ["a", "b", "c", "d"]
    assert set(model.predict(table)) == {"iris", "rose", "tulip"}
    assert np.array_equal(model.coef_, PerceptronClassifier(random_state=0).fit(X, y).coef_)


@pytest.mark.parametrize("output", ["pandas", "polars"])
def test_a_transformer_may_hand_over_frames(output):
    X, y = load_iris(return_X_y=True)
    columns = {"pandas": pd.DataFrame(X, columns=list("abcd")), "polars": pl.DataFrame(X, schema=list("abcd"))}
    scaler = StandardScaler().set_output(transform=output)
    pipeline = make_pipeline(scaler, PerceptronClassifier(random_state=0)).fit(columns[output], y)
    assert pipeline[-1].feature_names_in_.tolist() == list("abcd")
    assert pipeline.score(columns[output], y) > 0.9


@pytest.mark.parametrize(
    "wrong",
    [
        {"keep": "all"},
        {"order": "worst"},
        {"multiclass": "ovo"},
        {"margin": -1.0},
        {"margin": np.nan},
        {"max_passes": 0},
    ],
)
def test_an_option_outside_its_range_is_refused_by_name(wrong):
    with pytest.raises(linsep.InputError, match=next(iter(wrong))):
        PerceptronClassifier(**wrong).fit([[0.0], [1.0]], [0, 1])


def test_one_class_is_refused():
    with pytest.raises(linsep.errors.OneClassError, match="one class"):
        PerceptronClassifier().fit([[0.0], [1.0]], ["a", "a"])


def test_a_stream_without_classes_is_refused():
    with pytest.raises(linsep.errors.OneClassError, match="no class"):
        PerceptronClassifier().partial_fit([[0.0], [1.0]], [0, 1], classes=[])


@pytest.mark.parametrize(
    "labels", [[2, 7, 2, 7], [True, False, True, True], ["b", "a", "b", "b"], [0.0, -1.0, 0.0, 0.0]]
)
def test_two_classes_are_found_in_order_whatever_their_type(labels):
    found = PerceptronClassifier().fit(np.eye(4), labels).classes_
    assert found.tolist() == sorted(set(labels))
    assert found.dtype == np.asarray(labels).dtype


# Many rows --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def many_rows():
    X = np.random.default_rng(0).standard_normal((300_000, 4))
    y = (X[:, 0] > 0).astype(int)
    model = PerceptronClassifier("last", max_passes=1, random_state=0).fit(X[:100], y[:100])
    model.coef_[:, 3] = 0.0
    return model, X


def test_nan_among_many_rows_is_refused_by_its_row_though_its_weight_is_0(many_rows):
    model, X = many_rows
    bad = X.copy()
    bad[234_567, 3] = np.nan
    with pytest.raises(linsep.InputError, match="234567"):
        model.predict(bad)


@pytest.mark.parametrize("threads", ["1", "2", "5"])
def test_scores_do_not_depend_on_the_number_of_threads(many_rows, threads, monkeypatch):
    model, X = many_rows
    expected = model.decision_function(X)
    monkeypatch.setenv("LINSEP_THREADS", threads)
    assert model.decision_function(X).tobytes() == expected.tobytes()


def test_one_row_is_predicted_as_among_many(many_rows):
    model, X = many_rows
    assert model.predict(X[:50]).tolist() == [model.predict(row[None])[0] for row in X[:50]]


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_matrix, sp.csr_array], ids=["dense", "csr_matrix", "csr_array"])
def test_what_scikit_learn_would_leave_alone_is_learned_from_as_if_it_had_looked(layout, monkeypatch):
    X, y = linsep.datasets.planted(60, 4, margin=0.05)
    model = PerceptronClassifier(random_state=0).fit(pd.DataFrame(X, columns=list("abcd")), y)
    quick = model.fit(layout(X), y).coef_
    assert model.n_features_in_ == 4 and not hasattr(model, "feature_names_in_")
    monkeypatch.setattr(PerceptronClassifier, "_is_plain", lambda self, X, *, reset=False: False)
    assert (clone(model).fit(layout(X), y).coef_ == quick).all()
    assert (model.predict(layout(X)) == y).mean() > 0.9
