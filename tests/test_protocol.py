"""One set of questions to every kind of source: the same verdicts, and the same proofs to the byte."""

import json
from dataclasses import replace
from functools import cache

import dask
import dask.array as da
import numpy as np
import pandas as pd
import pytest

import linsep
from linsep.sources.calls import CallSource
from linsep.sources.inputs import as_source

pytestmark = pytest.mark.usefixtures("streamed")

X, Y = linsep.datasets.planted(2400, 3, margin=0.02, seed=5)
FLIPPED = np.where(np.arange(2400) % 797 == 5, -Y, Y)
PURE = np.column_stack([X, np.where(np.arange(2400) % 9 == 0, FLIPPED, 0) * (1 + X[:, 0] % 1)])
CASES = {"separable": (X, Y), "overlapping": (X, FLIPPED), "touching": (PURE, FLIPPED)}
WIDE = np.random.default_rng(0).standard_normal((400, 120))
CASES |= {"wide separable": (WIDE, np.where(WIDE[:, 0] > 0, 1, -1)), "wide": (WIDE, np.where(WIDE[::-1, 0] > 0, 1, -1))}


def in_files(X, y, folder):
    table = pd.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])]).assign(y=y)
    for k, start in enumerate(range(0, len(y), 700)):
        table[start : start + 700].to_parquet(folder / f"{k}.parquet", row_group_size=300, index=False)
    return linsep.open(folder, label="y")


def in_parts(X, y, folder):
    parts = [(X[k : k + 333], y[k : k + 333]) for k in range(0, len(y), 333)]
    return CallSource(lambda: parts)


def on_dask(X, y, folder):
    return as_source(da.from_array(X, chunks=(451, -1)), da.from_array(y, chunks=451))


def on_a_device(X, y, folder):
    return linsep.on_device(X, y, device="cpu")


SOURCES = {
    "files": in_files,
    "calls": in_parts,
    "dask": on_dask,
    "device": on_a_device,
}  # a new kind of source is a line here
QUESTIONS = {
    "decide": linsep.decide,
    "through the origin": lambda *data: linsep.decide(*data, bias=False),
    "margin": linsep.max_margin,
    "likelihood": lambda *data: linsep.mle_exists(*data).verdict,
}
FEW, FEW_LABELS = X[:30], np.where(np.arange(30) % 29 == 5, -Y[:30], Y[:30])
SMALL = {"separable": (FEW, Y[:30]), "overlapping": (FEW, FEW_LABELS)}
MORE = {  # what is compared of each answer
    "novikoff": lambda *data: (lambda found: (found.radius, found.bound))(linsep.novikoff(*data)),
    "fewest mistakes": lambda *data: told(linsep.fewest_mistakes(*data)),
    "classes": lambda *data: told(linsep.decide_classes(*data, by="rest")),
    "regions": lambda *data: [(cut.weights, cut.bias_weight) for cut in linsep.separate_regions(*data).cuts],
    "clean": lambda *data: (lambda found: (repr(found), found.suspects))(linsep.clean(*data)),
    "widest margin": lambda *data: told(linsep.MaxMarginClassifier().fit(*data).verdict_),
}


@pytest.fixture(params=["in NumPy", "compiled"])
def way(request, monkeypatch):
    monkeypatch.setattr("linsep.questions.decide.SMALL", 0)  # small tables of a device are decided there too
    if request.param == "compiled":
        monkeypatch.setattr("linsep.exact.FEW_CELLS", 0)


def proof(verdict, kind="files"):
    """What is proved: without what measures the work, and without what only files have."""
    told = json.loads(verdict.to_json())
    about = {key: value for key, value in told["data"].items() if key not in ("names", "label_column")}
    if kind == "device" and (margin := told.get("margin")):  # its lowest score may be rounded in another way
        margin["low"] = float(f"{margin['low']:.13g}")
    return {key: value for key, value in told.items() if key not in ("effort", "sha256")} | {"data": about}


@pytest.mark.slow
@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("kind", SOURCES)
def test_every_source_gives_the_verdict_and_the_proof_of_the_rows_in_memory(kind, case, question, way, tmp_path):
    with dask.config.set(scheduler="synchronous"):
        found = QUESTIONS[question](SOURCES[kind](*CASES[case], tmp_path))
    assert proof(found, kind) == proof(QUESTIONS[question](*CASES[case]), kind)


def told(found):
    """An answer as plain values, without what measures the work or only files have."""
    return without(json.loads(found.to_json()))


def without(value):
    if isinstance(value, dict):
        left_out = ("names", "label_column", "effort", "sha256")
        return {key: without(own) for key, own in value.items() if key not in left_out}
    if isinstance(value, list):
        return [without(own) for own in value]
    return float(f"{value:.12g}") if isinstance(value, float) else value  # a device may round in another way


@cache
def known(question, case):
    return MORE[question](*SMALL[case])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::linsep.NotSeparableWarning")
@pytest.mark.parametrize("question", MORE)
@pytest.mark.parametrize("case", SMALL)
@pytest.mark.parametrize("kind", SOURCES)
def test_every_source_gives_the_other_answers_of_the_rows_in_memory(kind, case, question, tmp_path, monkeypatch):
    monkeypatch.setattr("linsep.questions.decide.SMALL", 0)
    if (case, question) == ("overlapping", "novikoff"):
        pytest.skip("without a margin there is no bound")
    with dask.config.set(scheduler="synchronous"):
        found = MORE[question](SOURCES[kind](*SMALL[case], tmp_path))
    assert found == known(question, case)


@pytest.mark.slow
@pytest.mark.parametrize("kind", SOURCES)
@pytest.mark.parametrize("case", ["separable", "overlapping"])
def test_every_source_of_250_columns_has_the_verdict_of_the_rows_in_memory(kind, case, tmp_path, monkeypatch):
    """That many take the road of many columns, also on a device; its proofs may differ and are checked on the rows."""
    monkeypatch.setattr("linsep.questions.decide.SMALL", 0)
    rows = np.random.default_rng(1).standard_normal((800, 250))
    labels = np.where(rows[:: -1 if case == "overlapping" else 1, 0] > 0, 1, -1)
    with dask.config.set(scheduler="synchronous"):
        found = linsep.decide(SOURCES[kind](rows, labels, tmp_path))
    assert found.kind == linsep.decide(rows, labels).kind == case
    replace(found, names=None, label_column=None).verify(rows, labels)


@pytest.mark.parametrize("kind", SOURCES)
def test_every_source_gives_the_run_of_the_perceptron_in_memory(kind, tmp_path):
    with dask.config.set(scheduler="synchronous"):
        run = linsep.perceptron(SOURCES[kind](X, Y, tmp_path), max_updates=300)
    known = linsep.perceptron(X, Y, max_updates=300)
    assert (run.updates, run.passes, run.halfspace.w.tolist()) == (
        known.updates,
        known.passes,
        known.halfspace.w.tolist(),
    )
