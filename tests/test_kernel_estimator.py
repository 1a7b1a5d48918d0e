"""The kernel Perceptron keeps scikit-learn's contract, and is the Perceptron."""

import pickle
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_digits, make_circles
from sklearn.metrics.pairwise import PAIRWISE_KERNEL_FUNCTIONS, polynomial_kernel
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import linsep
from linsep.errors import ArgumentError, NotFiniteError, OneClassError, OverflowedError
from linsep.estimators.kernel_classifier import KernelPerceptronClassifier
from linsep.learners import kernel_perceptron as module
from linsep.learners.kernel_perceptron import DualPerceptron, KernelRows
from linsep.sources.calls import CallSource

KEEPS = ["last", "average", "vote", "best"]
POLY = {"kernel": "poly", "degree": 2, "gamma": 1.0, "coef0": 1.0, "order": "cyclic"}  # exact on small integers


@pytest.fixture(params=[2048, 7], ids=["one block", "blocks of 7"])
def block_rows(request, monkeypatch):
    monkeypatch.setattr(module, "ONE_BLOCK", request.param)
    monkeypatch.setattr(module, "BLOCK_ROWS", request.param)
    monkeypatch.setattr(module, "ENTRIES_A_CALL", 5 * request.param)
    return request.param


def integers(n, d, seed, labels=(-1, 1)):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(-4, 5, (n, d)).astype(float), rng.choice(labels, n)
    y[: len(labels)] = labels
    return X, y


def naive_run(K, y, passes, budget=None):
    """Every hypothesis of the run, as {row: coefficient} in the order the rows came, and the rows it survived."""
    coef, hypotheses = {}, []
    for _ in range(passes):
        mistakes = 0
        for i, sign in enumerate(y.tolist()):
            if sign * sum(c * K[j, i] for j, c in coef.items()) > 0:
                hypotheses[-1][1] += 1
                continue
            coef, mistakes = dict(coef), mistakes + 1
            if i not in coef and len(coef) == budget:
                del coef[next(iter(coef))]
            coef[i] = coef.get(i, 0) + sign
            hypotheses.append([coef, 1])
        if not mistakes:
            break
    return hypotheses, not mistakes


def naive_scores(keep, hypotheses, converged, K):
    scores = np.array([sum(c * K[j] for j, c in coef.items()) for coef, _ in hypotheses])
    counts = np.array([count for _, count in hypotheses])
    if keep == "average":
        return counts @ scores / counts.sum()
    if keep == "vote":
        return counts @ np.sign(scores) / counts.sum()
    return scores[counts.argmax()] if keep == "best" and not converged else scores[-1]


@pytest.mark.slow
@parametrize_with_checks([KernelPerceptronClassifier(keep=keep) for keep in KEEPS])
def test_the_contract_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("seed", range(10))
def test_the_linear_kernel_makes_the_mistakes_of_the_perceptron(seed, block_rows):
    X, y = integers(40, 3, seed) if seed % 2 else linsep.datasets.planted(40, 3, margin=0.05, seed=seed)
    X = np.round(X * 64) if seed % 2 == 0 else X
    primal = linsep.perceptron(X, y, bias=False, max_passes=8)
    dual = KernelPerceptronClassifier("linear", keep="last", order="cyclic", max_passes=8).fit(X, y)
    assert dual.mistakes_per_row_.tolist() == primal.mistakes_per_row.tolist()
    assert (dual.converged_, dual.n_updates_, dual.n_passes_) == (primal.converged, primal.updates, primal.passes)
    assert (dual.dual_coef_[0] @ dual.support_vectors_).tolist() == primal.halfspace.w.tolist()


@pytest.mark.slow
@pytest.mark.parametrize("budget", [None, 1, 5, 12])
@pytest.mark.parametrize("keep", KEEPS)
@pytest.mark.parametrize("seed", range(4))
def test_every_keep_is_what_its_definition_says(keep, budget, seed, block_rows):
    X, y = integers(30, 2 + seed, seed)
    K = polynomial_kernel(X, degree=2, gamma=1, coef0=1)
    hypotheses, converged = naive_run(K, y, 6, budget)
    fitted = KernelPerceptronClassifier(**POLY, keep=keep, max_passes=6, budget=budget).fit(X, y)
    assert fitted.converged_ == converged
    assert fitted.n_updates_ == len(hypotheses)
    expected = naive_scores(keep, hypotheses, converged, K)
    np.testing.assert_allclose(fitted.decision_function(X), expected, rtol=1e-12, atol=1e-12 * abs(K).max())


@pytest.mark.slow
@pytest.mark.parametrize("budget", [None, 4])
@pytest.mark.parametrize("keep", KEEPS)
def test_classes_share_kernel_values_and_nothing_else(keep, budget, block_rows):
    X, y = integers(60, 3, 1, labels=["a", "b", "c"])
    options = {**POLY, "keep": keep, "budget": budget}
    joint = KernelPerceptronClassifier(**options).fit(X, y)
    for k, label in enumerate(joint.classes_):
        alone = KernelPerceptronClassifier(**options).fit(X, y == label)
        assert joint.mistakes_per_row_[k].tolist() == alone.mistakes_per_row_.tolist()
        np.testing.assert_allclose(joint.decision_function(X)[:, k], alone.decision_function(X), rtol=1e-12)


def test_a_budget_bounds_the_support_of_a_hypothesis(block_rows):
    X, y = integers(60, 3, 1, labels=[0, 1, 2])
    fitted = KernelPerceptronClassifier(keep="last", budget=6, random_state=0).fit(X, y)
    assert (fitted.dual_coef_ != 0).sum(axis=1).max() == 6
    assert fitted.mistakes_per_row_.sum() == fitted.n_updates_ > 18


@pytest.mark.parametrize("order", ["cyclic", "shuffled"])
def test_each_pass_visits_each_row_once(order, block_rows):
    X, y = integers(50, 2, 3)
    run = DualPerceptron(
        KernelRows(X, lambda A, B: A @ B.T), y.astype(np.int8)[None], None, order, np.random.RandomState(0)
    )
    run.learn(4)
    assert run.active and run.history(0).counts.sum() == 4 * 50


def test_no_call_of_the_kernel_is_larger_than_a_block(monkeypatch):
    monkeypatch.setattr(module, "ONE_BLOCK", 16)
    monkeypatch.setattr(module, "BLOCK_ROWS", 16)
    monkeypatch.setattr(module, "ENTRIES_A_CALL", 256)
    asked = []

    def watched(A, B):
        asked.append(len(A) * len(B))
        return np.exp(-((A[:, None] - B) ** 2).sum(axis=2))

    X, y = integers(300, 2, 0)
    fitted = KernelPerceptronClassifier(watched, max_passes=3, random_state=0).fit(X, y)
    assert max(asked) == 256
    asked.clear()
    fitted.predict(X)
    assert max(asked) <= max(256, len(fitted.support_))  # a row and the support at the least


def test_digits_by_the_vote_of_a_quartic_kernel():
    X, y = load_digits(return_X_y=True)
    X, X_test, y, y_test = train_test_split(X, y, test_size=1 / 3, random_state=0, stratify=y)
    model = KernelPerceptronClassifier("poly", degree=4, keep="vote", random_state=0).fit(X, y)
    assert model.score(X, y) > 0.999
    assert model.score(X_test, y_test) > 0.98


def test_circles_converge_with_a_kernel_and_not_without():
    X, y = make_circles(200, noise=0.05, factor=0.4, random_state=0)
    with_kernel = KernelPerceptronClassifier("rbf", keep="last", max_passes=50, random_state=0).fit(X, y)
    assert with_kernel.converged_ and with_kernel.score(X, y) == 1
    assert not KernelPerceptronClassifier("linear", max_passes=50, random_state=0).fit(X, y).converged_


@pytest.mark.parametrize("keep", KEEPS)
def test_sparse_rows_give_the_same_run(keep):
    X, y = integers(40, 3, 5)
    model = KernelPerceptronClassifier(**POLY, keep=keep)
    dense, sparse = clone(model).fit(X, y), clone(model).fit(sp.csr_array(X), y)
    assert sparse.mistakes_per_row_.tolist() == dense.mistakes_per_row_.tolist()
    assert sparse.decision_function(sp.csr_array(X)).tolist() == dense.decision_function(X).tolist()
    scale = KernelPerceptronClassifier()
    assert scale.fit(X, y).gamma_ == pytest.approx(scale.fit(sp.csr_array(X), y).gamma_, rel=1e-12)


@pytest.mark.parametrize("keep", KEEPS)
def test_a_fitted_model_survives_pickling_and_the_same_seed_repeats_it(keep):
    X, y = integers(40, 3, 5, labels=[0, 1, 2])
    model = KernelPerceptronClassifier(keep=keep, random_state=7).fit(X, y)
    scores = model.decision_function(X).tolist()
    assert pickle.loads(pickle.dumps(model)).decision_function(X).tolist() == scores
    assert clone(model).fit(X, y).decision_function(X).tolist() == scores


def test_it_takes_part_in_pipelines_and_searches():
    X, y = load_digits(n_class=4, return_X_y=True)
    pipeline = make_pipeline(StandardScaler(), KernelPerceptronClassifier("poly", max_passes=3, random_state=0))
    grid = {"kernelperceptronclassifier__degree": [1, 3], "kernelperceptronclassifier__keep": ["last", "vote"]}
    search = GridSearchCV(pipeline, grid, cv=3).fit(X, y)
    assert search.best_score_ > 0.98


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("laplacian", {"gamma": 0.5}),
        ("sigmoid", {"gamma": 0.1, "coef0": 0.5}),
        ("chi2", {"gamma": 0.5}),
        ("cosine", {}),
    ],
)
def test_a_kernel_by_name_is_the_kernel_by_function(name, options):
    X, y = integers(30, 3, 2)
    function = partial(PAIRWISE_KERNEL_FUNCTIONS[name], **options)
    named = KernelPerceptronClassifier(name, **options, random_state=0).fit(X + 4, y)
    given = KernelPerceptronClassifier(function, random_state=0).fit(X + 4, y)
    assert named.mistakes_per_row_.tolist() == given.mistakes_per_row_.tolist()
    np.testing.assert_allclose(named.decision_function(X + 4), given.decision_function(X + 4))


@pytest.mark.parametrize(
    "options",
    [{"keep": "worst"}, {"order": "restart"}, {"kernel": "precomputed"}, {"max_passes": 0}, {"budget": 0},
     {"max_passes": 1.5}, {"gamma": "big"}, {"gamma": 0.0}, {"gamma": np.nan}],
)  # fmt: skip
def test_an_option_out_of_range_is_refused_by_name(options):
    X, y = integers(10, 2, 0)
    with pytest.raises(ArgumentError, match=f"{next(iter(options))} is "):
        KernelPerceptronClassifier(**options).fit(X, y)


def test_kernel_values_beyond_the_largest_double_are_refused():
    X, y = integers(10, 2, 0)
    with np.errstate(over="ignore"), pytest.raises(OverflowedError, match="kernel values"):
        KernelPerceptronClassifier("poly", degree=9, gamma=1.0).fit(X * 1e40, y)


def test_one_class_is_refused():
    with pytest.raises(OneClassError):
        KernelPerceptronClassifier().fit([[1.0], [2.0]], [3, 3])


@pytest.mark.parametrize("options", [{}, {"kernel": "poly", "gamma": 1.0}])
def test_a_row_of_a_source_that_is_not_finite_is_named(options):
    source = CallSource(lambda: [([[1.0], [2.0]], [1, -1]), ([[np.nan], [4.0]], [1, -1])])
    with pytest.raises(NotFiniteError, match=r"Row 2, column 0 .* holds NaN"):
        KernelPerceptronClassifier(**options).fit(source)
