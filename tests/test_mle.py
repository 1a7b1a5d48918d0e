"""Logistic regressions whose estimate exists or not, against a slow oracle and against published answers."""

from fractions import Fraction

import naive
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from strategies import data_sets, random_small

import linsep
from linsep.errors import ArgumentError, NotFiniteError, OneClassError
from linsep.sources.calls import CallSource

# ---------------------------------------------------------------------------------------------------
# The oracle: Fractions, the simplex of naive.py, one question for each sign of each coefficient
# ---------------------------------------------------------------------------------------------------


def design(X, bias):
    """The model matrix in the order of the coefficients, the intercept first."""
    return [(*((Fraction(1),) if bias else ()), *row) for row in naive.exact_rows(X)]


def rank(rows):
    return len(rows) - len(naive.null_vectors([tuple(row) for row in rows])) if rows and rows[0] else 0


def independent(rows):
    """The columns that are no linear combination of the columns before them."""
    kept = []
    for j in range(len(rows[0])):
        if rank([[row[c] for c in [*kept, j]] for row in rows]) > len(kept):
            kept.append(j)
    return kept


def takes_sign(Z, j, sign):
    """Whether some w with Z·w >= 0 has sign·w_j > 0."""
    unit = tuple(Fraction(sign * (k == j)) for k in range(len(Z[0])))
    found = naive.Dictionary([*Z, unit]).raise_score(len(Z))
    naive.check([*Z, unit], found)
    return isinstance(found, naive.WeakSeparator)


WORDS = {(0, 0): "finite", (1, 0): "+inf", (0, 1): "-inf", (1, 1): "undetermined"}


def oracle(X, y, bias):
    rows = design(X, bias)
    kept = independent(rows)
    Z = [tuple(label * row[c] for c in kept) for row, label in zip(rows, naive.exact_labels(y), strict=True)]
    states = ["aliased"] * len(rows[0])
    for place, c in enumerate(kept):
        states[c] = WORDS[takes_sign(Z, place, 1), takes_sign(Z, place, -1)]
    return states


def agree(X, y, bias):
    report = linsep.mle_exists(X, y, bias=bias)
    kind = naive.decide(X, y, bias)
    assert report.verdict.kind == kind
    assert report.exists == (kind == "overlapping")
    assert list(report.coefficients.values()) == oracle(X, y, bias)
    assert set(report.separated_rows) == naive.weak_separated_rows(X, y, bias)
    report.verdict.verify(X, y)
    return report


@settings(deadline=None, max_examples=150)
@given(data_sets())
def test_every_coefficient_is_what_the_oracle_says(data):
    agree(*data)


def test_random_degenerate_data_agree_with_the_oracle_and_no_state_is_rare():
    rng = np.random.default_rng(5)
    seen = [state for _ in range(300) for state in agree(*random_small(rng)).coefficients.values()]
    assert min(seen.count(s) for s in ("finite", "+inf", "-inf", "undetermined", "aliased")) > 20


def test_the_way_of_many_rows_agrees_with_the_oracle(monkeypatch):
    """The working set, the contradictions and the samples, on data small enough for the oracle."""
    monkeypatch.setattr("linsep.solvers.mle.FEW_ROWS", 0)
    monkeypatch.setattr("linsep.solvers.recession.SAMPLE", 1)
    monkeypatch.setattr("linsep.solvers.aliasing.SAMPLE", 1)
    rng = np.random.default_rng(6)
    for _ in range(150):
        agree(*random_small(rng, max_rows=14))
