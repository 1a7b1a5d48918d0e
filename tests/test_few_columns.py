"""Many columns of small rank are decided in a few of them; what is found there is held against all."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.random import default_rng

import linsep
from linsep.proofs import checks
from linsep.proofs.verdict_base import check
from linsep.questions import wide as wide_module
from linsep.solvers.clock import Clock
from linsep.solvers.wide.few_columns import spanning_columns
from linsep.sources.inputs import as_source

LAYOUTS = [np.asarray, sp.csr_array]


def one_column(n_columns):
    X = np.ones((40, n_columns))
    X[:, 7] = np.arange(40)
    return X


def low_rank(n_rows, n_columns, rank):
    rng = default_rng(0)
    return rng.integers(-3, 4, (n_rows, rank)) @ rng.integers(-3, 4, (rank, n_columns))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("bias", [True, False])
def test_columns_that_say_nothing_new_cost_nothing(layout, bias):
    X, y = layout(one_column(5000)), np.arange(40) % 3 > 0
    verdict = linsep.decide(X, y, bias=bias, time_limit=20)
    assert verdict.kind == "overlapping" and len(verdict.obstruction.rows) <= 4


def test_the_rank_is_that_of_all_columns_and_the_constant():
    source = as_source(low_rank(500, 300, 9), np.arange(500) % 2)
    assert len(spanning_columns(source, np.arange(300), bias=True, clock=Clock())) == 9
    assert (
        spanning_columns(as_source(np.eye(400), np.arange(400) % 2), np.arange(400), bias=True, clock=Clock()) is None
    )


def test_what_holds_in_few_columns_alone_is_not_told(monkeypatch):
    monkeypatch.setattr(wide_module, "spanning_columns", lambda *a, **k: np.arange(3))
    monkeypatch.setattr(wide_module, "VERY_WIDE", 200)
    monkeypatch.setattr(wide_module, "relax", lambda *a, **k: None)
    X, y = linsep.datasets.planted(2000, 210, margin=0.5)
    assert linsep.decide(X, y).kind == "separable"
    assert linsep.decide(X, y, time_limit=1e-9).kind == "undecided"


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("rank", [1, 4])
def test_both_ways_find_the_same_rows_outside_a_span(monkeypatch, layout, rank):
    X = low_rank(60, 20, rank).astype(float)
    X[[5, 50], 3] += 1
    source = as_source(layout(X), np.arange(60) % 2)
    ways = []
    for long in (0, 1000):
        monkeypatch.setattr(checks, "LONG", long)
        ways.append(checks.rows_outside_span(source, range(10, 40), False).tolist())
    assert ways[0] == ways[1] == [5, 50]


def test_the_proof_of_a_small_rank_is_checked_in_all_columns():
    X, y = low_rank(300, 2500, 3), default_rng(1).choice([-1, 1], 300)
    verdict = linsep.decide(X, y)
    assert verdict.kind == "overlapping"
    X[17, 1000] += 1
    with pytest.raises(linsep.CertificateError):
        check(verdict, as_source(X, y))
