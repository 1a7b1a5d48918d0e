"""Relaxation: the separators it finds are proved, and where there are none it gives up soon."""

import pytest

import linsep
from linsep.solvers.clock import Clock, OutOfTime
from linsep.solvers.relax import relax
from linsep.sources.inputs import as_source


def relaxed(X, y, *, bias=True):
    return relax(as_source(X, y), bias=bias, clock=Clock())


def test_it_separates_and_admits_defeat():
    X, y = linsep.datasets.planted(300, 20, margin=0.5)
    found = relaxed(X, y)
    assert (y * (X @ found.w + found.b) > 0).all()
    assert relaxed(*linsep.datasets.xor()) is None


def test_the_clock_stops_it():
    with pytest.raises(OutOfTime):
        relax(as_source(*linsep.datasets.planted(300, 20)), bias=True, clock=Clock(limit=0.0))
