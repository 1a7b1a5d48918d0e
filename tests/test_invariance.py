"""What must not change a verdict: how rows are written, cut up and read, and rows that say nothing new."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import adversarial
import linsep
import naive
from adversarial import Instance
from linsep.questions import decide as decide_module
from linsep.sources import memory
from linsep.sources.calls import CallSource
from strategies import data_sets, free_rows, labels

pytestmark = pytest.mark.usefixtures("streamed")

ANY = frozenset({"separable", "touching", "overlapping"})


@pytest.fixture(params=["exact", "by floats"], autouse=True, scope="module")
def way(request):
    """Both ways through `decide`; by floats, small instances go the way of large ones."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "by floats":
            patch.setattr(decide_module, "FEW_ROWS", 0)
            patch.setattr("linsep.exact.FEW_CELLS", 0)
        yield


several = partial(settings, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def kind(X, y, bias=True):
    return linsep.decide(X, y, bias=bias).kind


@several(max_examples=60)
@given(data_sets())
def test_the_verdict_is_that_of_fractions(data):
    X, y, bias = data
    assert kind(X, y, bias) == naive.decide(X, y, bias)


@several(max_examples=40)
@given(data_sets())
def test_no_change_of_the_description_changes_the_verdict(data):
    X, y, bias = data
    expected = kind(X, y, bias)
    for changed in possible_changes(Instance("drawn", X, y, bias, ANY)):
        assert kind(changed.X, changed.y, bias) == expected, changed.name


def possible_changes(original):
    """Columns that span the whole range of doubles cannot be scaled: then all changes but that one."""
    changes = adversarial.invariances(original)
    while True:
        try:
            changed = next(changes, None)
        except ValueError:
            return
        if changed is None:
            return
        yield changed


@pytest.mark.campaign
@several(max_examples=40)
@given(data_sets(), st.integers(1, 7))
def test_no_layout_changes_the_verdict(data, size):
    X, y, bias = data
    expected = kind(X, y, bias)
    for name, table in layouts(X).items():
        assert kind(table, y, bias) == expected, name
    parts = [(X[k : k + size], y[k : k + size]) for k in range(0, len(y), size)]
    assert linsep.decide(CallSource(lambda: parts), bias=bias).kind == expected
    sparse = [(sp.csr_array(rows), signs) for rows, signs in parts]
    assert linsep.decide(CallSource(lambda: sparse), bias=bias).kind == expected


def layouts(X):
    """The same numbers in other tables and, where they survive it, in other types."""
    tables = {
        "CSR": sp.csr_array(X),
        "CSC": sp.csc_array(X),
        "column order": np.asfortranarray(X),
        "every other row": np.repeat(X, 2, axis=0)[::2],
        "lists": X.tolist(),
        "big endian": X.astype(">f8"),
        "dataframe": pd.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])]),
    }
    if (np.abs(X) <= 2.0**53).all() and not (X % 1).any():
        tables["int64"], tables["CSR int64"] = X.astype(np.int64), sp.csr_array(X.astype(np.int64))
    if (np.abs(X) <= 100).all() and not (X % 1).any():
        tables["int8"] = X.astype(np.int8)
    with np.errstate(over="ignore"):
        single = X.astype(np.float32)
    if np.array_equal(single.astype(np.float64), X):
        tables["float32"], tables["CSR float32"] = single, sp.csr_array(single)
    return tables


@several(max_examples=60)
@given(st.data(), data_sets())
def test_more_rows_never_make_the_impossible_possible(draw, data):
    X, y, bias = data
    n = draw.draw(st.integers(1, 5))
    more, signs = draw.draw(free_rows(n, X.shape[1])), draw.draw(labels(n + 1))[:n]
    before, after = kind(X, y, bias), kind(np.vstack([X, more]), [*y, *signs], bias)
    assert before == "separable" or after != "separable"


@several(max_examples=40)
@given(data_sets(), st.lists(st.integers(0, 6), min_size=1, max_size=7))
def test_fewer_rows_never_make_the_possible_impossible(data, chosen):
    X, y, bias = data
    rows = sorted({k % len(y) for k in chosen})
    if abs(y[rows].sum()) < len(rows) and kind(X, y, bias) == "separable":
        assert kind(X[rows], y[rows], bias) == "separable"


@several(max_examples=15)
@given(data_sets(), st.integers(0, 2**32 - 1))
def test_a_thousand_copies_in_any_order_say_no_more_than_one(data, seed):
    X, y, bias = data
    order = np.random.default_rng(seed).permutation(np.arange(1000 * len(y)) % len(y))
    verdict = linsep.decide(X[order], y[order], bias=bias)
    assert verdict.kind == kind(X, y, bias)
    if verdict.kind != "separable":
        assert len(verdict.obstruction.rows) <= X.shape[1] + bias + 1


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_the_number_of_threads_does_not_change_a_proof(threads, monkeypatch):
    monkeypatch.setattr(memory, "WORTH_A_THREAD", 1)
    instances = [next(adversarial.needle(2000, 3)), next(adversarial.contradictory_duplicates(3000, 4))]
    planted = linsep.datasets.planted(5000, 6, margin=1e-3, seed=1)
    for X, y in [planted, *((one.X, one.y) for one in instances)]:
        proofs = []
        for count in (1, threads):
            monkeypatch.setenv("LINSEP_THREADS", str(count))
            proofs.append(linsep.decide(X, y))
        assert same_proof(*proofs)


@pytest.mark.parametrize("size", [7, 100, 1024, 6000])
def test_how_the_rows_are_cut_up_does_not_change_a_proof(size):
    (one,) = adversarial.needle(3000, 3)
    parts = [(one.X[k : k + size], one.y[k : k + size]) for k in range(0, len(one.y), size)]
    assert same_proof(linsep.decide(CallSource(lambda: parts)), linsep.decide(one.X, one.y))


def same_proof(a, b):
    """Whether the written proofs are the same but for the time they took."""
    kept = ("obstruction", "spread", "weights", "bias_weight", "kind")
    return all(getattr(a, name, None) == getattr(b, name, None) for name in kept)
