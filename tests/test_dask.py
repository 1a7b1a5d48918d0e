"""Rows of a Dask collection: the verdicts, proofs and refusals of the same rows in memory, however they are cut up."""

import json

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import linsep
from linsep import _decide
from linsep.errors import ArgumentError, DifferentFilesError, InputError, NoRowsError, NotFiniteError, OneClassError
from linsep.sources.base import Source
from linsep.sources.inputs import as_classes, as_source

X, Y = linsep.datasets.planted(2500, 4, margin=0.01, seed=5)
FLIPPED = np.where(np.arange(2500) % 997 == 5, -Y, Y)
PURE = np.column_stack([X, np.where(np.arange(2500) % 9 == 0, FLIPPED, 0)])
CASES = {"separable": (X, Y), "overlapping": (X, FLIPPED), "touching": (PURE, FLIPPED)}
CUTS = {"one": (2500,), "even": (500,) * 5, "odd": (1, 1700, 0, 3, 700, 96), "small": (50,) * 50}


@pytest.fixture(autouse=True)
def in_this_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


def arrays(X, y, cut=(900, 1600)):
    rows = [dask.delayed(part) for part in np.split(X, np.cumsum(cut)[:-1])]
    labels = [dask.delayed(part) for part in np.split(np.asarray(y), np.cumsum(cut)[:-1])]
    join = [da.from_delayed(part, (size, X.shape[1]), X.dtype) for part, size in zip(rows, cut, strict=True)]
    own = [da.from_delayed(part, (size,), np.asarray(y).dtype) for part, size in zip(labels, cut, strict=True)]
    return da.concatenate(join), da.concatenate(own)


def frames(*parts):
    return dd.from_delayed([dask.delayed(part) for part in parts], meta=parts[0].iloc[:0], verify_meta=False)


def proof(verdict):
    """The proof as text, without what measures the work."""
    told = json.loads(verdict.to_json())
    return json.dumps({key: value for key, value in told.items() if key not in ("effort", "sha256")})


@pytest.mark.parametrize("kind", CASES)
@pytest.mark.parametrize("few_rows", [0, _decide.FEW_ROWS])
def test_neither_verdict_nor_proof_depends_on_the_partitions(kind, few_rows, monkeypatch):
    monkeypatch.setattr(_decide, "FEW_ROWS", few_rows)
    verdicts = [linsep.decide(*arrays(*CASES[kind], cut)) for cut in CUTS.values()]
    assert {verdict.kind for verdict in verdicts} == {kind}
    assert len({proof(verdict) for verdict in [*verdicts, linsep.decide(*CASES[kind])]}) == 1
