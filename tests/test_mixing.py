"""Parameter mixing: the one Perceptron on parts that lie apart, and the bound that the theorem promises."""

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

import linsep
from linsep import PerceptronClassifier
from linsep.errors import ArgumentError
from linsep.learners.mixing import Mixing
from linsep.learners.perceptron import Perceptron
from linsep.sources.inputs import as_source

X, Y = linsep.datasets.planted(600, 4, margin=0.05, seed=3)
KINDS = (np.argmax(X[:, :3], axis=1)).astype(np.int64)


@pytest.fixture(autouse=True)
def in_this_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


def cut(X, y, parts):
    return da.from_array(X, chunks=(-(-len(y) // parts), -1)), da.from_array(y, chunks=-(-len(y) // parts))


@pytest.mark.parametrize("keep", ["last", "average", "best"])
@pytest.mark.parametrize("labels", [Y, KINDS], ids=["two classes", "three classes"])
def test_one_partition_in_row_order_is_the_run_in_memory(keep, labels):
    options = {"keep": keep, "order": "cyclic", "max_passes": 7}
    mixed = PerceptronClassifier(**options).fit(*cut(X, labels, 1))
    known = PerceptronClassifier(**options).fit(X, labels)
    assert mixed.n_updates_ == known.n_updates_ and mixed.converged_ == known.converged_
    if keep != "best":  # the pocket looks at the ends of passes alone
        assert np.allclose(mixed.coef_, known.coef_, rtol=1e-9) and np.allclose(mixed.intercept_, known.intercept_)


@pytest.mark.parametrize("parts", [2, 5, 30])
def test_mistakes_and_rounds_keep_the_bound_of_the_theorem(parts):
    bound = linsep.novikoff(X, Y).bound[1]
    learner = Perceptron(2, 4, seed=0)
    mixing = Mixing(as_source(*cut(X, Y, parts)), learner, max_passes=int(bound) + 1)
    mixing.run()
    assert learner.converged and learner.passes - 1 <= bound
    halfspace = linsep.Halfspace(learner.weights.W[0], learner.weights.b[0])
    assert (Y * (X @ halfspace.w + halfspace.b) > 0).all()


def test_a_round_mixes_the_weights_of_the_parts_by_their_mistakes():
    learner = Perceptron(2, 4, order="cyclic")
    Mixing(as_source(*cut(X, Y, 3)), learner, max_passes=1).run()
    alone = [Perceptron(2, 4) for _ in range(3)]
    for part, own in zip(np.split(np.arange(600), 3), alone, strict=True):
        own.learn(as_source(X[part], Y[part]).sample(200, 0), np.zeros(200, int))
    mean = np.average([own.weights.W[0] for own in alone], axis=0, weights=[own.updates for own in alone])
    assert np.allclose(learner.weights.W[0], mean, rtol=1e-12)
    assert learner.updates == sum(own.updates for own in alone)


@pytest.mark.parametrize("multiclass", ["joint", "ovr"])
def test_three_classes_are_learned_side_by_side(multiclass):
    fitted = PerceptronClassifier(multiclass=multiclass, random_state=0).fit(*cut(X, KINDS, 4))
    assert fitted.score(*cut(X, KINDS, 3)) > 0.95
    assert np.array_equal(fitted.predict(cut(X, KINDS, 3)[0]).compute(), fitted.predict(X))


def test_the_same_seed_gives_the_same_weights_and_another_number_of_parts_others():
    fits = [PerceptronClassifier(random_state=1, max_passes=2).fit(*cut(X, Y, parts)).coef_ for parts in (4, 4, 5)]
    assert np.array_equal(fits[0], fits[1]) and not np.array_equal(fits[0], fits[2])


def test_a_dataframe_is_learned_from_by_the_names_of_its_columns():
    frame = dd.from_pandas(pd.DataFrame(X, columns=list("abcd")).assign(kind=np.where(Y > 0, "p", "n")), npartitions=3)
    fitted = PerceptronClassifier(random_state=0).fit(frame[list("abcd")], frame["kind"])
    assert fitted.feature_names_in_.tolist() == list("abcd") and fitted.classes_.tolist() == ["n", "p"]
    assert fitted.predict(frame[list("abcd")]).compute()[:3].tolist() == np.where(Y[:3] > 0, "p", "n").tolist()
    assert PerceptronClassifier(random_state=0).fit(frame, "kind").coef_.tolist() == fitted.coef_.tolist()


def test_another_pass_goes_on_from_the_weights():
    rows, labels = cut(X, Y, 3)
    stream = PerceptronClassifier(order="cyclic")
    stream.partial_fit(rows, labels).partial_fit(rows, labels)
    known = PerceptronClassifier(order="cyclic", max_passes=2).fit(rows, labels)
    assert np.allclose(stream.coef_, known.coef_) and stream.n_updates_ == known.n_updates_


def test_votes_need_an_order():
    with pytest.raises(ArgumentError, match="keep is 'vote'"):
        PerceptronClassifier("vote").fit(*cut(X, Y, 2))


def test_rows_that_no_hyperplane_separates_end_with_the_passes():
    flipped = np.where(np.arange(600) % 50 == 0, -Y, Y)
    fitted = PerceptronClassifier(random_state=0, max_passes=5).fit(*cut(X, flipped, 4))
    assert (fitted.n_passes_, fitted.converged_) == (5, False) and fitted.score(X, flipped) > 0.9
