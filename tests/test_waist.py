"""The waist: a source of four verbs and its facts is all that decide, the margin, the likelihood and learning need."""

import inspect
from dataclasses import replace

import numpy as np
import pytest

import linsep
from linsep.errors import CertificateError, NotFiniteError
from linsep.loops.dense import Dense
from linsep.sources.base import Block, Facts, Scan, Source

EPS = np.finfo(float).eps


class PlainSource(Source):
    """Rows of an array in NumPy alone, handed out a few at a time."""

    def __init__(self, X, y, **facts):
        self.X, self.y = np.array(X, float), np.array(y, np.int8)
        self.facts = replace(Facts(*self.X.shape), **facts)

    def scan(self, w, b, *, worst=0):
        scores = self.y * (self.X @ w + b)
        slack = 4 * (len(w) + 2) * EPS * (np.abs(self.X) @ np.abs(w) + abs(b))
        first = np.argsort(scores, kind="stable")[:worst]
        return Scan(
            rows=len(scores),
            mistakes=np.count_nonzero(scores <= 0),
            certain=np.count_nonzero(scores < -slack),
            lowest=(scores[self.y < 0].min(), scores[self.y > 0].min()),
            longest2=(self.X**2).sum(axis=1).max(),
            wanted=worst,
            worst=self.take(first),
            worst_scores=scores[first],
            doubtful=np.flatnonzero(np.abs(scores) <= slack),
        )

    def blocks(self, random=None):
        for start in range(0, len(self.y), 70):
            yield self.take(range(start, min(start + 70, len(self.y))))

    def take(self, rows):
        rows = np.asarray(rows, np.int64)
        return Block(Dense(self.X[rows]), self.y[rows], rows, self.n_columns)


X, Y = linsep.datasets.planted(300, 3, margin=0.02, seed=5)
FLIPPED = np.where(np.arange(300) % 97 == 5, -Y, Y)
PURE = np.column_stack([X, np.where(np.arange(300) % 9 == 0, FLIPPED, 0)])
CASES = {"separable": (X, Y), "overlapping": (X, FLIPPED), "touching": (PURE, FLIPPED)}


@pytest.fixture(params=["in memory", "a stream"])
def make(request):
    facts = {"at_hand": 40} if request.param == "a stream" else {}
    return lambda X=X, y=Y: PlainSource(X, y, **facts)


def test_a_source_has_four_verbs_and_its_facts_and_may_do_three_things_its_own_way():
    known = {name for name in (*vars(Source), *Source.__annotations__) if not name.startswith("_")}
    own_ways = {"each", "signs_of", "require_finite"}
    assert known == {"scan", "blocks", "take", "sample", "facts", "n_rows", "n_columns"} | own_ways
    assert not own_ways & set(vars(PlainSource))
    assert len(inspect.getsourcelines(PlainSource)[0]) < 50


@pytest.mark.parametrize("kind", CASES)
def test_it_is_decided_and_the_proof_holds_for_the_array_too(kind, make):
    verdict = linsep.decide(make(*CASES[kind]))
    assert verdict.kind == kind
    verdict.verify(make(*CASES[kind]))
    verdict.verify(*CASES[kind])
    with pytest.raises(CertificateError):
        verdict.verify(make(CASES[kind][0][::-1], CASES[kind][1]))


def test_its_margin_is_that_of_the_array(make):
    (low, high), known = linsep.max_margin(make()).margin, linsep.max_margin(X, Y).margin
    assert low <= known[1] and known[0] <= high and high - low < 1e-5 * high


def test_its_mistake_bound_is_that_of_the_array(make):
    assert linsep.novikoff(make()).bound == pytest.approx(linsep.novikoff(X, Y).bound, rel=1e-5)


@pytest.mark.parametrize("kind", CASES)
def test_its_coefficients_diverge_as_those_of_the_array(kind, make):
    assert linsep.mle_exists(make(*CASES[kind])).coefficients == linsep.mle_exists(*CASES[kind]).coefficients


@pytest.mark.parametrize("order", ["cyclic", "restart", "worst"])
def test_the_perceptron_makes_the_same_updates(order, make):
    run, known = (linsep.perceptron(*data, order=order, max_updates=200) for data in ((make(),), (X, Y)))
    assert (run.updates, run.passes, run.halfspace.w.tolist()) == (
        known.updates,
        known.passes,
        known.halfspace.w.tolist(),
    )


def test_the_perceptron_shuffles_it(make):
    run = linsep.perceptron(make(), order="shuffled", random_state=1)
    assert run.converged and linsep.perceptron(make(), order="shuffled", random_state=1).updates == run.updates


def test_a_value_that_is_not_finite_is_named(make):
    bad = X.copy()
    bad[250, 1] = np.nan
    for ask in (linsep.decide, linsep.max_margin, linsep.mle_exists):
        with pytest.raises(NotFiniteError, match="Row 250, column 1"):
            ask(make(bad))
