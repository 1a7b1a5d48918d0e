"""Sparse rows of millions of columns, most of them empty, are decided in the others."""

import time

import numpy as np
import pytest
import scipy.sparse as sp

import linsep
import naive
from linsep.sources import used_columns

WIDE = 10**7


def spread(X, n_columns=WIDE, seed=0):
    """The columns of a table at random places among empty ones, in order."""
    places = np.sort(np.random.default_rng(seed).choice(n_columns, X.shape[1], replace=False))
    table = sp.coo_array(X)
    return sp.csr_array((table.data, (table.row, places[table.col])), shape=(len(X), n_columns)), places


@pytest.mark.parametrize("kind", ["separable", "touching"])
def test_four_rows_of_ten_million_columns_are_decided_within_half_a_second_and_a_half_more(kind):
    columns = [5, 7, WIDE - 1, 9] if kind == "separable" else [WIDE - 1, WIDE - 1, WIDE - 1, 9]
    X, y = sp.csr_array((np.ones(4), (range(4), columns)), shape=(4, WIDE)), [0, 1, 0, 1]
    linsep.decide(X[:, -(2**20) :], y)  # compiled
    before = time.process_time()
    verdict = linsep.decide(X, y, time_limit=0.5)
    assert time.process_time() - before < 1.0
    assert verdict.kind == kind and len(verdict.weights) == WIDE
    verdict.verify(X, y)


def test_if_there_is_no_time_for_the_weights_what_is_known_without_them_is_the_answer(monkeypatch):
    monkeypatch.setattr("linsep.questions.decide.EMPTY_COLUMN_S", 1.0)
    X, y = sp.csr_array(([1.0, 1.0], ([0, 2], [3, WIDE - 1])), shape=(3, WIDE)), [0, 1, 0]
    assert linsep.decide(X, y, time_limit=60).kind == "undecided"
    verdict = linsep.decide(X[[0, 0, 1]], y, time_limit=60)
    assert (verdict.kind, verdict.obstruction.rows, verdict.n_columns) == ("not-separable", (0, 1), WIDE)
    verdict.verify(X[[0, 0, 1]], y)


@pytest.mark.parametrize("bias", [True, False])
def test_small_tables_among_empty_columns_are_decided_as_alone(monkeypatch, bias):
    monkeypatch.setattr(used_columns, "MANY", 8)
    rng, kinds = np.random.default_rng(3), set()
    for k in range(60):
        X = rng.integers(-2, 3, (rng.integers(2, 8), rng.integers(1, 4))).astype(float)
        y = np.arange(len(X)) % 2
        wide = spread(X, 40, k)[0]
        verdict = linsep.decide(wide, y, bias=bias)
        assert verdict.kind == naive.decide(X, np.where(y, 1, -1), bias) and verdict.n_columns == 40
        verdict.verify(wide, y)
        kinds.add(verdict.kind)
    assert kinds == {"separable", "touching", "overlapping"}


def with_dependences():
    """Rows that overlap, with a definite proof of two dependences."""
    rng = np.random.default_rng(0)
    groups = [np.eye(4)[rng.integers(0, 4, 900)], np.eye(3)[rng.integers(0, 3, 900)]]
    return np.column_stack([*groups, rng.standard_normal((900, 250))]), rng.choice([-1, 1], 900)


def test_the_dependences_of_a_definite_proof_name_the_columns_of_the_table():
    rows, y = with_dependences()
    X, places = spread(rows)
    verdict = linsep.decide(X, y)
    assert verdict.kind == "overlapping" and len(verdict.obstruction.dependences) == 2
    named = {column for known in verdict.obstruction.dependences for column in known.columns}
    assert named == {*places[:7].tolist(), WIDE}  # the constant comes after the last column
    verdict.verify(X, y)


def test_they_do_so_too_if_there_is_no_time_for_the_weights(monkeypatch):
    monkeypatch.setattr("linsep.questions.decide.EMPTY_COLUMN_S", 1.0)
    rows, y = with_dependences()
    X, y = spread(sp.block_diag([rows, [[1.0]]]).toarray())[0], np.append(y, 1)  # the last row touches
    verdict = linsep.decide(X, y, time_limit=60)
    assert verdict.kind == "not-separable" and len(verdict.obstruction.dependences) == 2
    verdict.verify(X, y)


@pytest.mark.parametrize("n_columns", [10**11, 10**14])
def test_more_columns_than_fit_in_memory_are_refused_with_their_size(monkeypatch, n_columns):
    monkeypatch.setattr("linsep.solvers.scaling.free_memory", lambda: 10**9)
    X = sp.csr_array((np.ones(2), ([0, 1], np.array([5, n_columns - 1]))), shape=(2, n_columns))
    with pytest.raises(linsep.errors.OutOfMemoryError, match=f"{n_columns:,} columns"):
        linsep.decide(X, [0, 1])


def test_a_number_that_is_not_finite_is_refused_by_its_own_column():
    X = sp.csr_array(([1.0, np.nan], ([0, 1], [3, WIDE - 1])), shape=(2, WIDE))
    with pytest.raises(linsep.errors.NotFiniteError, match=f"column {WIDE - 1}"):
        linsep.decide(X, [0, 1])


def test_rows_without_any_entry_are_decided_too():
    X = sp.csr_array((2, WIDE))
    verdict = linsep.decide(X, [0, 1])
    assert (verdict.kind, verdict.obstruction.rows, verdict.n_columns) == ("overlapping", (0, 1), WIDE)
    verdict.verify(X, [0, 1])
