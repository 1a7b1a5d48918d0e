"""Every known answer, by both ways to it: the exact LP on all rows at once, and floats that guide it."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

import adversarial
import linsep
import naive
from linsep import errors
from linsep.questions import decide as decide_module
from linsep.solvers.clock import Clock, OutOfTime
from linsep.solvers.exact import exact_lp
from linsep.solvers.exact.exact_search import ExactSearch
from linsep.solvers.min_norm import shortest
from linsep.sources.calls import CallSource
from linsep.sources.files.source import FileSource
from linsep.sources.inputs import as_source
from linsep.sources.watched import WatchedSource
from strategies import random_small

SMALL = {one.name: one for one in adversarial.small()}
XOR = linsep.datasets.xor()
LINE = (np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 0, 1, 1]))
TOUCH = (np.array([[0.0], [1.0], [1.0], [2.0]]), np.array([0, 0, 1, 1]))


@pytest.fixture(params=["exact", "by floats"])
def way(request, monkeypatch):
    """Small instances go to the exact LP at once; by floats, they go the way of large ones."""
    if request.param == "by floats":
        monkeypatch.setattr(decide_module, "FEW_ROWS", 0)
        monkeypatch.setattr("linsep.exact.FEW_CELLS", 0)
    return request.param


def rank_of(Z):
    """The rank of the rows, counted by the slow elimination."""
    return len(Z) - len(naive.null_vectors(Z))


def cancels(Z, combination):
    """Whether positive multiples of the rows add up to zero, in Fractions."""
    assert min(combination.weights) > 0
    return not any(naive.combine(combination.weights, [Z[i] for i in combination.rows]))


# The adversarial instances ------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("name", SMALL)
def test_every_adversarial_instance_is_decided_rightly(name, layout, way):
    one = SMALL[name]
    try:
        verdict = linsep.decide(layout(one.X), one.y, bias=one.bias)
    except errors.InexactError:
        assert "refused" in one.answers
        return
    assert verdict.kind in one.answers
    assert verdict.separable is (verdict.kind == "separable")
    if one.obstruction_rows is not None:
        assert len(verdict.obstruction.rows) == one.obstruction_rows


def test_the_moment_curve_has_the_weights_of_the_binomial_theorem(way):
    X, y = adversarial.moments(7, 5), adversarial.alternating(7)
    verdict = linsep.decide(X, y)
    assert verdict.kind == "overlapping"
    assert list(verdict.obstruction.weights) == adversarial.moment_curve_weights(5)


@pytest.mark.parametrize("seed", range(40))
def test_small_random_instances_and_their_proofs_agree_with_fractions(seed, way):
    rng = np.random.default_rng(seed)
    for _ in range(5):
        X, y, bias = random_small(rng)
        verdict = linsep.decide(X, y, bias=bias)
        assert verdict.kind == naive.decide(X, y, bias)
        Z, rank = naive.signed_rows(X, y, bias), rank_of(naive.signed_rows(X, y, bias))
        if verdict.kind != "overlapping":
            scores = [naive.dot(z, (*verdict.weights, verdict.bias_weight)[: len(z)]) for z in Z]
            assert max(scores) > 0 and (min(scores) > 0 if verdict.kind == "separable" else min(scores) == 0)
        if verdict.kind != "separable":
            assert cancels(Z, verdict.obstruction) and len(verdict.obstruction.rows) <= rank + 1
        if verdict.kind == "overlapping":
            assert cancels(Z, verdict.spread) and len(verdict.spread.rows) <= max(1, 2 * rank)
            assert rank_of([Z[i] for i in verdict.spread.rows]) == rank


@pytest.mark.parametrize(
    ("points", "expected"),
    [(adversarial.boolean_functions(2), 14), (adversarial.boolean_functions(3), 104),
     (adversarial.grid_labellings(3), 58), (adversarial.cover_labellings(8, 3), adversarial.cover_count(8, 3))],
    ids=["2 bits", "3 bits", "3x3 grid", "Cover 8, 3"],
)  # fmt: skip
def test_as_many_labellings_are_separable_as_theory_says(points, expected, monkeypatch):
    for k, (X, y) in enumerate(points):
        few = k % 2  # in turns; both ways on all of them: make torture
        monkeypatch.setattr(decide_module, "FEW_ROWS", 400 * few)
        monkeypatch.setattr("linsep.exact.FEW_CELLS", 20_000 * few)
        expected -= abs(y.sum()) == len(y) or linsep.decide(X, y).separable
    assert expected == 0


@pytest.mark.parametrize("i", range(0, 256, 51))
def test_a_point_an_ulp_off_a_segment_is_seen(i, way):
    ulp = 2.0**-53
    for j in (i - 1, i, i + 1):
        X = [[24, 24], [-24, -24], [0.5 + i * ulp, 0.5 + j * ulp]]
        assert linsep.decide(X, [1, 1, -1]).kind == ("overlapping" if i == j else "separable")


# Instances that once went wrong -------------------------------------------------------------------


def test_weights_beyond_the_largest_double_do_not_hang_the_search(way):
    assert linsep.decide([[2.0**-1074], [0.0]], [1, 0]).kind == "separable"


def test_a_row_far_larger_than_the_sample_passes_through_no_infinity(way):
    X = np.full((2000, 1), 2.0**-1074)
    X[::2] = 0.0
    y = np.arange(2000) % 2
    X[1999] = adversarial.M
    assert linsep.decide(X, y).kind == "separable"


def test_a_row_of_zeros_among_others_obstructs_through_the_origin(way):
    X = np.array([[1, -1], [0, 1], [0, 0], [-1, -1], [-1, 1]], float)
    for zero in (X, np.tile(X, (200, 1))):
        y = np.tile([1, 0, 0, 0, 0], len(zero) // 5)
        verdict = linsep.decide(zero, y, bias=False)
        assert verdict.separable is False and len(verdict.obstruction.rows) == 1
    answer = shortest(np.array([[1.0, 0.0], [0.0, 0.0]]))
    assert answer.is_infeasible and answer.multipliers.tolist() == [0, 1]


def test_a_column_first_met_late_is_scaled_like_any_other():
    X, y = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 2.0**900], [2.0, 2.0**900]]), [1, 0, 1, 0]
    source = as_source(X, y)
    search = ExactSearch(source, np.arange(2), bias=True, clock=Clock())
    assert search.run(source.take([0, 1])).kind == "touching" == naive.decide(X, [1, -1, 1, -1])
    assert search.column_exponents.tolist() == [0, -900, 0]


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array, lambda X: X.astype(np.float32)])
@pytest.mark.parametrize("row", [0, 3, 4321])
def test_a_value_that_is_no_number_is_refused_however_many_other_rows_overlap(bad, layout, row):
    rng = np.random.default_rng(row)
    X = rng.integers(-9, 10, (5000, 3)).astype(float)
    X[row, 1] = bad
    with pytest.raises(errors.NotFiniteError, match=f"Row {row}, column 1 "):
        linsep.decide(layout(X), np.arange(5000) % 2)


@pytest.mark.parametrize("bad", [np.nan, -np.inf])
@pytest.mark.parametrize("flipped", [0, 1, 400])
@pytest.mark.parametrize("row", [0, 77, 4999])
@pytest.mark.parametrize("limit", [None, 0.0])
def test_nor_is_it_missed_where_rows_are_only_read_if_they_may_overlap(bad, flipped, row, limit, monkeypatch):
    monkeypatch.setattr(decide_module, "WORTH_A_THREAD", 0)
    X, y = linsep.datasets.planted(5000, 4, margin=0.01, flipped=flipped, seed=row)
    X[row, 2] = bad
    with pytest.raises(errors.NotFiniteError, match=f"Row {row}, column 2 "):
        linsep.decide(X, y, time_limit=limit)


# Many rows ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array, lambda X: X.astype(np.float32)])
def test_three_rows_among_fifty_thousand_are_found(layout):
    (one,) = adversarial.needle(25_000, 3)
    verdict = linsep.decide(layout(one.X), one.y)
    assert verdict.separable is False and verdict.obstruction.rows == (0, 25_001, 50_002)


@pytest.mark.parametrize("seed", range(3))
def test_many_rows_with_a_planted_separator_are_separable_until_one_label_is_wrong(seed):
    X, y = linsep.datasets.planted(20_000, 8, margin=1e-4, seed=seed)
    assert linsep.decide(X, y).kind == "separable"
    inside = int(np.argmin(np.abs(X - X[y > 0].mean(axis=0)).sum(axis=1)))
    y[inside] *= -1
    verdict = linsep.decide(X, y)
    assert verdict.kind == "overlapping" and inside in verdict.obstruction.rows


def test_more_columns_than_rows_are_separable():
    X = np.random.default_rng(0).standard_normal((30, 200))
    assert linsep.decide(X, np.arange(30) % 2).kind == "separable"
    assert linsep.decide(sp.random_array((40, 300), density=0.2, rng=1, format="csr"), np.arange(40) % 2).separable


# Undecided ----------------------------------------------------------------------------------------


def test_only_a_time_limit_leaves_anything_undecided():
    X, y, _ = adversarial.planted_threshold(40, 0)
    verdict = linsep.decide(X, y, time_limit=0)
    assert verdict.kind == "undecided" and verdict.separable is None
    assert "proves nothing" in verdict.explain() and "time limit of 0 seconds" in verdict.reason
    verdict.verify(X, y)
    assert linsep.verdict_from_json(verdict.to_json()) == verdict
    assert linsep.decide(X, y).kind == "separable"


@pytest.mark.parametrize("size", [(400, 30, 1), (900, 310, 1)])
def test_once_an_obstruction_is_known_the_rows_are_not_separable_whatever_the_time(size, monkeypatch):
    (one,) = adversarial.integer_margin(*size)
    monkeypatch.setattr(Clock, "is_over", lambda clock: clock.obstruction is not None)
    verdict = linsep.decide(one.X, one.y, time_limit=60)
    assert verdict.kind == "not-separable" and verdict.separable is False and len(verdict.obstruction.rows) == 2
    linsep.verdict_from_json(verdict.to_json()).verify(one.X, one.y)


def test_the_exact_lp_hands_on_the_obstruction_it_knows(monkeypatch):
    monkeypatch.setattr(exact_lp, "three_way_in_int64", lambda rows: None)
    source = as_source([[0, 0], [0, 0], [1, 5], [-3, 2]], [1, 0, 1, 0])
    search = ExactSearch(source, np.arange(2), bias=True, clock=Clock(9))
    monkeypatch.setattr(Clock, "is_over", lambda clock: search.lp.known is not None)
    with pytest.raises(OutOfTime):
        search.run(source.take([0, 1, 2, 3]))
    assert search.clock.obstruction.rows == (0, 1)


def test_a_generous_time_limit_changes_nothing(way):
    assert linsep.decide(*XOR, time_limit=60).kind == "overlapping"


@pytest.mark.parametrize("limit", [-1, float("nan")])
def test_a_time_limit_is_a_number_of_seconds(limit):
    with pytest.raises(errors.ArgumentError, match="time_limit"):
        linsep.decide(*XOR, time_limit=limit)


# Proofs -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("data", "kind"), [(LINE, "separable"), (TOUCH, "touching"), (XOR, "overlapping")])
def test_a_verdict_survives_being_written_down(data, kind, way):
    verdict = linsep.decide(*data)
    again = linsep.verdict_from_json(verdict.to_json())
    assert verdict.kind == kind and again == verdict
    again.verify(*data)


@pytest.mark.parametrize(("data", "row"), [(LINE, 3), (TOUCH, 0), (TOUCH, 1), (XOR, 2)])
def test_a_proof_does_not_hold_on_other_data_and_names_the_row(data, row, way):
    X, y = np.array(data[0], float), data[1]
    verdict = linsep.decide(X, y)
    moved = X.copy()
    moved[row, 0] = 50.0 if y[row] == min(y) else -50.0  # far on the side of the other class
    with pytest.raises(errors.CertificateError, match=rf"[Rr]ow {row} |\(rows [\d, ]*\b{row}\b"):
        verdict.verify(moved, y)


@pytest.mark.parametrize(
    ("data", "words"),
    [(LINE, ["complete separation", "4 rows", "positive"]), (TOUCH, ["quasi-complete separation", "the same point"]),
     (XOR, ["overlap", "not even one that rows may lie on", "common weighted mean", "0.500"])],
)  # fmt: skip
def test_a_verdict_explains_itself(data, words, way):
    text = linsep.decide(*data).explain(*data)
    assert all(word in text for word in words)


def test_a_weak_separator_is_weak_on_every_row(way):
    verdict = linsep.decide(*TOUCH)
    assert verdict.obstruction.rows == (1, 2)
    assert np.sign(verdict.halfspace.score([[0.0], [1.0], [2.0]])).tolist() == [-1, 0, 1]


# What may be handed over --------------------------------------------------------------------------


@pytest.mark.parametrize("labels", [(0, 1), (-1, 1), ("ham", "spam"), (False, True), (2.5, 7.0)])
def test_labels_are_any_two_values(labels, way):
    X, y = TOUCH
    verdict = linsep.decide(X, [labels[k] for k in y])
    assert verdict.kind == "touching" and verdict.labels == labels
    verdict.verify(X, [labels[k] for k in y])
    assert repr(labels[1]) in verdict.explain()


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_a_dataframe_brings_the_names_of_its_columns(frame, way):
    X = frame({"height": [0, 1, 2, 3], "weight": [0.5, 0.5, 0.5, 0.5]})
    verdict = linsep.decide(X, LINE[1])
    assert verdict.names == ("height", "weight") and "height" in verdict.explain()
    verdict.verify(X, LINE[1])


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_parts_of_a_source_are_decided_as_a_whole(size, way):
    X, y = XOR
    source = CallSource(lambda: [(X[k : k + size], y[k : k + size]) for k in range(0, 4, size)])
    verdict = linsep.decide(source)
    assert verdict.kind == "overlapping" and verdict.obstruction.rows == (0, 1, 2, 3)
    verdict.verify(source)


def test_integers_that_no_double_holds_are_decided_with_many_columns_too():
    rng = np.random.default_rng(0)
    X, y = rng.integers(-5, 6, (60, 1200)), rng.integers(0, 2, 60)
    X[0, 0] = 2**60 + 1
    verdict = linsep.decide(X, y)
    assert (verdict.kind, verdict.numbers) == ("separable", "exact-integers")


BAD = {
    "no rows": (np.zeros((0, 2)), []),
    "no columns": (np.zeros((2, 0)), [0, 1]),
    "one dimension": ([1.0, 2.0], [0, 1]),
    "lengths": ([[1.0], [2.0]], [0, 1, 1]),
    "text": ([["a"], ["b"]], [0, 1]),
    "nan": ([[1.0], [np.nan]], [0, 1]),
    "infinity": ([[1.0], [-np.inf]], [0, 1]),
    "sparse nan": (sp.csr_array([[1.0], [np.nan]]), [0, 1]),
    "one class": ([[1.0], [2.0]], [1, 1]),
    "three classes": ([[1.0], [2.0], [3.0]], [0, 1, 2]),
    "missing label": ([[1.0], [2.0]], [0.0, np.nan]),
    "no labels": ([[1.0], [2.0]], None),
    "wide integers": (np.array([[2**64 - 1], [0]], np.uint64), [0, 1]),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_refused_as_the_perceptron_refuses_it(name, way):
    with pytest.raises(errors.InputError) as expected:
        linsep.perceptron(*BAD[name])
    with pytest.raises(type(expected.value)) as error:
        linsep.decide(*BAD[name])
    assert str(error.value) == str(expected.value)


# bias=False ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("X", "y", "rows"),
    [([[0, 0], [1, 2]], [0, 1], (0,)), ([[1, 2], [1, 2]], [0, 1], (0, 1)), ([[1, 2], [2, 4]], [0, 1], (0, 1)),
     ([[1, 2], [3, -1], [-1, -2]], [1, 0, 1], (0, 2))],
    ids=["a zero row", "x against x", "x against 2x", "x and -x"],
)  # fmt: skip
def test_what_no_plane_through_the_origin_can_do(X, y, rows, way):
    verdict = linsep.decide(X, y, bias=False)
    assert verdict.separable is False and verdict.obstruction.rows == rows
    verdict.verify(X, y)


def test_a_plane_through_the_origin_has_no_bias(way):
    verdict = linsep.decide([[1.0], [-2.0]], [1, 0], bias=False)
    assert verdict.kind == "separable" and verdict.bias_weight == 0
    assert linsep.decide([[1.0], [2.0]], [1, 0], bias=False).kind == "overlapping"


@pytest.mark.parametrize("seed", range(3))
def test_a_narrow_margin_does_not_mean_many_reads_of_all_rows(seed):
    verdict = linsep.decide(*linsep.datasets.planted(40_000, 30, margin=1e-5, seed=seed))
    assert verdict.kind == "separable" and verdict.reads <= 5


def test_an_obstruction_is_told_where_the_memory_does_not_suffice_for_more(monkeypatch):
    X = np.random.default_rng(0).standard_normal((60, 400))
    X, y = np.concatenate([X, X[:1], -X]), np.r_[np.arange(60) % 2, 1, np.arange(60) % 2]

    def too_much(*_, **__):
        raise linsep.errors.OutOfMemoryError("too much")

    for name in ("newton.search", "search"):
        monkeypatch.setattr(f"linsep.questions.wide.{name}", too_much)
    verdict = linsep.decide(X, y)
    assert (verdict.kind, verdict.reason, verdict.obstruction.rows) == ("not-separable", "too much.", (0, 60))


@pytest.mark.parametrize("flipped", [0, 1])
def test_small_files_are_read_once_and_decided_in_memory(flipped, tmp_path, monkeypatch):
    X, y = linsep.datasets.planted(1500, 3, margin=0.02, flipped=flipped)
    np.savetxt(tmp_path / "rows.csv", np.c_[X, y], delimiter=",", header="a,b,c,y", comments="")
    monkeypatch.setattr(FileSource, "sample", None)  # a stream is asked for one
    verdict = linsep.decide(linsep.open(tmp_path / "rows.csv", label="y"))
    found, known = (json.loads(one.to_json()) for one in (verdict, linsep.decide(X, y)))
    not_proved = ("effort", "sha256", "data")
    assert [found[key] for key in known if key not in not_proved] == [
        known[key] for key in known if key not in not_proved
    ]


@pytest.mark.parametrize("flipped", [0, 1])
def test_rows_known_to_be_finite_are_not_read_for_nan_and_each_read_is_counted(flipped, tmp_path, monkeypatch):
    X, y = linsep.datasets.planted(300_000, 4, margin=0.02, seed=1, flipped=flipped)
    pd.DataFrame(X, columns=list("abcd")).assign(y=y).to_parquet(tmp_path / "rows.parquet")
    source = WatchedSource(linsep.open(tmp_path / "rows.parquet", label="y", memory="2MB"))
    monkeypatch.setattr(decide_module, "ThreadPoolExecutor", None)  # no thread waits for nothing
    verdict = linsep.decide(source)
    assert verdict.kind == ("overlapping" if flipped else "separable")
    checked = 1 - flipped  # a separator is checked on all rows; an obstruction on its own
    assert source.rows_read == (verdict.reads + checked) * 300_000
