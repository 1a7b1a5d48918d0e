"""A run of the Perceptron that goes on from any of its states ends as one that was never stopped."""

import numpy as np
import pytest

from linsep.datasets import planted
from linsep.errors import CheckpointError
from linsep.learners import learner as learning
from linsep.learners.perceptron import learner_on
from linsep.learners.perceptron_state import restore, state
from linsep.sources.calls import CallSource
from linsep.sources.inputs import as_source

X, Y = planted(60, 3, margin=0.02, seed=2)
INTEGERS = np.rint(X * 100).astype(np.int64)
SOURCES = {
    "dense": lambda: as_source(X, Y),
    "integers": lambda: as_source(INTEGERS, Y),
    "parts": lambda: CallSource(lambda: [(X[:25], Y[:25]), (X[25:26], Y[25:26]), (X[26:], Y[26:])]),
}


def learner(source="dense", order="cyclic", **options):
    return learner_on(SOURCES[source](), order=order, random_state=3, max_updates=400, **options)


def outcome(run):
    result = run.result()
    return (result.halfspace.w.tolist(), result.halfspace.b, result.converged, result.updates, result.passes,
            result.mistakes_per_row.tolist(), result.bits)  # fmt: skip


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("order", ["cyclic", "restart", "shuffled", "worst"])
def test_it_ends_as_if_it_was_never_stopped(source, order, monkeypatch):
    monkeypatch.setattr(learning, "ROWS_A_CALL", 7)
    whole = learner(source, order)
    states = [state(whole) for _ in whole.walk()]
    assert len(states) > 3
    for arrays in states[:: max(1, len(states) // 23)]:
        again = learner(source, order)
        restore(again, arrays)
        list(again.walk())
        assert outcome(again) == outcome(whole)


def test_doubtful_rows_of_the_worst_order_are_walked_on_from_the_same_row(monkeypatch):
    monkeypatch.setattr(learning, "ROWS_A_CALL", 1)
    rows = np.array([[1.0, 2.0**-60], [1.0, -(2.0**60) * (1 - 2.0**-50)], [-1.0, 0.0]])
    make = lambda: learner_on(as_source(rows, [1, 1, 0]), order="worst", bias=False, max_updates=50)  # noqa: E731
    whole = make()
    states = [state(whole) for _ in whole.walk()]
    assert any(arrays["place"].size for arrays in states)
    for arrays in states:
        again = make()
        restore(again, arrays)
        list(again.walk())
        assert outcome(again) == outcome(whole)


@pytest.mark.parametrize(
    "changes",
    [
        {"w": np.zeros(2)},
        {"w": np.zeros(3, np.float32)},
        {"w": np.array([1.0, np.nan, 0.0])},
        {"w": np.zeros(3, np.int64), "b": np.zeros(1, np.int64)},
        {"b": np.zeros(2)},
        {"counts": np.array([-1, 0])},
        {"rows": np.array([60]), "mistakes": np.array([1])},
        {"rows": np.array([0, 1]), "mistakes": np.array([1])},
        {"place": np.array([0, 0, 61, 0])},
        {"place": np.array([0, 0, 60, 61])},
        {"random": np.zeros(5, np.uint64)},
        {"b": np.array([np.inf])},
        {"held_runs": np.zeros((1, 1), np.int64)},
        {"pocket": np.array([-1, 0, 0, 0, 0])},
    ],
)
def test_a_state_that_does_not_fit_is_refused(changes):
    run = learner()
    next(run.walk())
    with pytest.raises(CheckpointError):
        restore(learner(), {**state(run), **changes})


def test_a_state_without_one_of_its_arrays_is_refused():
    run = learner()
    next(run.walk())
    for name in state(run):
        with pytest.raises(CheckpointError, match=name):
            restore(learner(), {key: array for key, array in state(run).items() if key != name})


def test_blocks_of_another_size_are_refused(monkeypatch):
    monkeypatch.setattr(learning, "ROWS_A_CALL", 7)
    walk, run = (first := learner("parts", "shuffled")).walk(), learner("dense", "shuffled")
    for _ in range(5):
        next(walk)
    restore(run, state(first))
    with pytest.raises(CheckpointError, match="start over"):
        list(run.walk())
