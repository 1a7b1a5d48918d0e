"""Many classes: every verdict against Fractions, every proof read back and checked twice, every forgery refused."""

import json
import subprocess
import sys
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from matplotlib import pyplot

import linsep
import naive
from linsep import checker
from linsep.errors import ArgumentError, CertificateError, InputError
from linsep.sources.inputs import as_classes
from linsep.sources.kesler import KeslerSource
from linsep.sources.subset import class_marks, of_classes
from linsep.storage.checksum import seal
from tests.campaigns import class_campaign

pytestmark = pytest.mark.usefixtures("streamed")

TRIANGLE = np.array([[0, 0], [1, 0], [0, 1], [3, 0], [0, 3], [-3, -3]]), np.array(list("abcbca"))
TOUCHING = np.array([[0, 0], [1, 0], [2, 0], [1, 0]]), np.array(list("abcc"))
CROSSED = np.array([[0, 0], [1, 1], [0, 1], [1, 0], [5, 5]]), np.array(list("aabbc"))


def kinds(found):
    return [verdict.kind for verdict in found.verdicts]


def small(seed):
    """A table with all classes from 0 to K - 1, and whether there is a bias."""
    X, y, bias = class_campaign.instance(seed)
    return X, np.unique(y, return_inverse=True)[1], bias


# ---- verdicts ---------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.campaign
@pytest.mark.parametrize("start", range(0, 300, 20))
def test_every_verdict_is_that_of_fractions_and_every_proof_is_checked_twice(start, tmp_path):
    assert [fault for seed in range(start, start + 20) for fault in class_campaign.faults_of(seed, tmp_path)[0]] == []


@pytest.mark.parametrize("seed", range(20))
def test_two_classes_jointly_are_what_decide_says(seed):
    X, y, bias = small(seed)
    y = np.minimum(y, 1)
    assert kinds(linsep.decide_classes(X, y, bias=bias)) == [linsep.decide(X, y, bias=bias).kind]


@pytest.mark.parametrize("seed", range(20))
def test_a_pair_is_what_decide_says_of_its_rows_under_their_numbers(seed):
    X, y, bias = small(seed)
    for (a, b), verdict in linsep.decide_classes(X, y, by="pairs", bias=bias):
        chosen = np.flatnonzero((y == a) | (y == b))
        alone = linsep.decide(X[chosen], y[chosen], bias=bias)
        assert verdict.kind == alone.kind and verdict.n_rows == len(chosen)
        if isinstance(verdict, linsep.Overlapping):
            assert verdict.obstruction.rows == tuple(chosen[list(alone.obstruction.rows)])


@pytest.mark.parametrize("seed", range(20))
def test_a_class_against_the_rest_is_what_decide_says(seed):
    X, y, bias = small(seed)
    for (label,), verdict in linsep.decide_classes(X, y, by="rest", bias=bias):
        alone = linsep.decide(X, y == label, bias=bias)
        same = {"labels": verdict.labels, "seconds": verdict.seconds, "reads": verdict.reads}
        assert verdict == replace(alone, **same)


@pytest.mark.parametrize("seed", range(30))
def test_joint_separation_separates_every_pair_and_follows_from_each_against_the_rest(seed):
    X, y, bias = small(seed)
    joint, pairs, rest = (linsep.decide_classes(X, y, by=by, bias=bias).separable for by in ("joint", "pairs", "rest"))
    assert pairs or not joint
    assert joint or not rest


@pytest.mark.parametrize("seed", range(20))
def test_the_order_of_the_classes_changes_no_verdict(seed):
    X, y, bias = small(seed)
    names = np.random.default_rng(seed).permutation(y.max() + 1)
    first, second = linsep.decide_classes(X, y, bias=bias), linsep.decide_classes(X, names[y], bias=bias)
    assert kinds(first) == kinds(second)
    pairs, others = (linsep.decide_classes(X, labels, by="pairs", bias=bias) for labels in (y, names[y]))
    assert all(others[int(names[a]), int(names[b])].kind == verdict.kind for (a, b), verdict in pairs)


def test_the_scores_of_a_joint_verdict_are_largest_for_the_right_class():
    X, y = TRIANGLE
    weights = np.array(linsep.decide_classes(X, y).class_weights)
    scores = np.column_stack([X, np.ones(len(X), int)]) @ weights.T
    assert (np.sort(scores, axis=1)[:, -1] > np.sort(scores, axis=1)[:, -2]).all()
    assert (np.array(list("abc"))[scores.argmax(axis=1)] == y).all()


def test_an_obstruction_says_which_rows_should_win_against_which_class():
    found = linsep.decide_classes(*TOUCHING)
    assert found.contests() == ((1, "c"), (3, "b"))
    assert found.facts()["answers"][0]["contests"] == [[1, "c"], [3, "b"]]
    assert "rows 1 (b, not c), 3 (c, not b) cannot all be right" in found.explain()


def test_no_columns_that_differ_leave_only_biases_and_these_tie():
    assert kinds(linsep.decide_classes(np.zeros((3, 1)), [0, 1, 2])) == ["overlapping"]


def test_time_that_is_over_leaves_every_question_open():
    random = np.random.default_rng(0)
    found = linsep.decide_classes(random.standard_normal((3000, 40)), random.integers(0, 4, 3000), time_limit=0)
    assert found.separable is None and "claims nothing" not in found.explain() and "time limit" in found.explain()


# ---- what may be handed over -------------------------------------------------------------------------------------


@pytest.mark.parametrize("by", ["joint", "pairs", "rest"])
def test_files_frames_sparse_matrices_and_arrays_are_decided_alike(by, tmp_path):
    X, y = CROSSED
    frame = pd.DataFrame(X, columns=["p", "q"]).assign(kind=y)
    frame.to_csv(tmp_path / "rows.csv", index=False)
    known = linsep.decide_classes(X, y, by=by)
    for found in (
        linsep.decide_classes(linsep.open(tmp_path / "rows.csv", label="kind"), by=by),
        linsep.decide_classes(frame[["p", "q"]], frame["kind"], by=by),
        linsep.decide_classes(sp.csr_array(X), y, by=by),
        linsep.decide_classes(X.astype(np.uint8), y, by=by),
    ):
        assert kinds(found) == kinds(known)
        found.verify(X, y)


def test_exact_decimals_are_decided_as_they_are():
    X = [[Decimal("0.1")], [Decimal("0.2")], [Decimal("0.3")], [Decimal("0.1") + Decimal("0.2")]]
    assert kinds(linsep.decide_classes(X, ["a", "b", "c", "b"])) == ["touching"]
    assert kinds(linsep.decide_classes([[0.1], [0.2], [0.3], [0.1 + 0.2]], ["a", "b", "c", "b"])) == ["touching"]
    assert kinds(linsep.decide_classes(X, ["a", "b", "c", "b"], by="pairs"))[2] == "touching"


def test_long_integers_stay_exact():
    X = [[2**62 + 1], [2**62], [2**62 - 1], [2**62 + 1]]
    assert linsep.decide_classes(X, list("abcd"))["a", "b", "c", "d"].kind == "touching"
    assert linsep.decide_classes(X[:3], list("abc")).separable


def test_integers_that_cannot_be_negated_are_refused():
    with pytest.raises(ArgumentError, match="more than 63 bits"):
        linsep.decide_classes(np.array([[-(2**63)], [0], [1]]), [0, 1, 2])


def test_a_number_that_is_not_finite_is_named_by_its_row_in_the_table():
    with pytest.raises(InputError, match="Row 2"):
        linsep.decide_classes([[0.0], [1.0], [np.nan]], [0, 1, 2])


def test_one_class_and_an_unknown_question_are_refused():
    with pytest.raises(InputError, match=r"one|same"):
        linsep.decide_classes([[0.0], [1.0]], [1, 1])
    with pytest.raises(ArgumentError, match="joint, pairs, rest"):
        linsep.decide_classes(*TRIANGLE, by="all")


def test_three_labels_are_sent_to_decide_classes():
    with pytest.raises(InputError, match="decide_classes"):
        linsep.decide(*TRIANGLE)


# ---- Kesler's rows ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("n_classes", [2, 3, 6])
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
def test_the_rows_are_keslers(layout, n_classes, bias):
    random = np.random.default_rng(n_classes)
    X, y = random.integers(-3, 4, (40, 3)).astype(float), np.arange(40) % n_classes
    source = KeslerSource(as_classes(layout(X), y), bias=bias, all_blocks=True)
    (block,) = source.blocks()
    values = block.values.toarray() if block.is_sparse else block.values
    assert block.is_sparse or n_classes <= 4
    assert [tuple(map(Fraction, row)) for row in values.tolist()] == class_campaign.kesler_rows(X, y, bias)
    some = random.permutation(source.n_rows)[:17]
    taken = source.take(some).values
    assert ((taken.toarray() if sp.issparse(taken) else taken) == values[some]).all()


@pytest.mark.parametrize("all_blocks", [True, False])
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
def test_a_scan_is_that_of_the_rows_written_out(layout, all_blocks, monkeypatch):
    monkeypatch.setattr("linsep.sources.kesler.ENTRIES", 200)  # many parts
    random = np.random.default_rng(1)
    X, y = random.integers(-3, 4, (60, 3)).astype(float), np.arange(60) % 5
    source = KeslerSource(as_classes(layout(X), y), bias=True, all_blocks=all_blocks)
    rows = np.vstack([block.values.toarray() for block in source.blocks()])
    w = random.integers(-2, 3, source.n_columns).astype(float)
    scan, scores = source.scan(w, 0.0, worst=7), rows @ w
    assert (scan.rows, scan.mistakes, scan.certain) == (len(rows), (scores <= 0).sum(), (scores < 0).sum())
    assert scan.doubtful.tolist() == np.flatnonzero(scores == 0).tolist()
    assert scan.worst_scores.tolist() == np.sort(scores)[:7].tolist()
    assert scan.longest2 == (rows * rows).sum(axis=1).max() and scan.lowest[1] == scores.min()


# ---- margins ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bias", [True, False])
def test_the_joint_margin_is_the_distance_of_keslers_rows_from_zero(bias):
    X, y = np.array([[2, 0], [0, 2], [-1, -1]]), [0, 1, 2]
    found = linsep.max_margin_classes(X, y, bias=bias)
    Z = class_campaign.kesler_rows(X, y, bias)
    origin = (naive.ZERO,) * len(Z[0])
    assert found.verdict.gamma_squared == 4 * naive.max_margin_squared([*Z, origin], [1] * len(Z) + [-1])
    linsep.verdict_from_json(found.to_json()).verify(X, y)


@pytest.mark.parametrize("seed", range(12))
def test_the_margin_through_the_origin_is_the_distance_of_the_signed_rows_from_zero(seed):
    random = np.random.default_rng(seed)
    X, w = random.integers(-4, 5, (6, 2)), random.integers(1, 4, 2)
    y = np.where(X @ w >= 0, 1, -1)
    X[X @ w == 0] = w
    y[:1], X[0] = -1, -w
    found = linsep.max_margin(X, y, bias=False)
    assert found.gamma_squared == naive.novikoff(X, y, bias=False)[1] and found.bias_weight == 0
    linsep.verdict_from_json(found.to_json()).verify(X, y)


def test_margins_of_pairs_are_those_of_max_margin():
    X, y = TRIANGLE
    for (a, b), verdict in linsep.max_margin_classes(X, y, by="pairs"):
        chosen = (y == a) | (y == b)
        assert verdict.margin == linsep.max_margin(X[chosen], y[chosen]).margin


def test_many_columns_have_a_joint_margin_between_close_bounds():
    random = np.random.default_rng(0)
    X, y = random.standard_normal((60, 150)), np.arange(60) % 4
    low, high = linsep.max_margin_classes(X, y).verdict.margin
    assert 0 < high * (1 - 1e-5) < low <= high


def test_without_joint_scores_there_is_no_margin():
    assert kinds(linsep.max_margin_classes(*TOUCHING)) == ["touching"]


# ---- written proofs ---------------------------------------------------------------------------------------------


def written(X, y, folder):
    lines = [",".join(map(str, [*row, label])) for row, label in zip(X.tolist(), y.tolist(), strict=True)]
    (folder / "rows.csv").write_text("\n".join(["p,q,kind", *lines]))
    return str(folder / "rows.csv")


def are_accepted(text, X, y, data, folder):
    """What the library says of a proof, and what the stand-alone checker says."""
    (folder / "proof.json").write_text(text)
    alone = checker.main([str(folder / "proof.json"), data, "--label", "kind"]) == 0
    try:
        linsep.verdict_from_json(text).verify(X, y)
    except CertificateError:
        return False, alone
    return True, alone


def changes(value):
    """Copies of a JSON value, each with one change of one number, list or word in it."""
    if isinstance(value, dict):
        yield from ({**value, name: other} for name in value for other in changes(value[name]))
    elif isinstance(value, list):
        yield from ([*value[:k], other, *value[k + 1 :]] for k in range(len(value)) for other in changes(value[k]))
        yield value[1:]
        yield value[::-1]
    elif isinstance(value, str) and value.lstrip("-").isdigit():
        yield from (str(int(value) + 1), str(int(value) - 1), str(-int(value)))
    elif isinstance(value, str):
        yield from ("separable", "touching", "overlapping", "joint", "pairs", "rest")
    elif isinstance(value, float):
        yield from (value * 2 + 0.1, value / 2)


@pytest.mark.slow
@pytest.mark.parametrize("by", ["joint", "pairs", "rest"])
@pytest.mark.parametrize("table", [TRIANGLE, TOUCHING, CROSSED], ids=["triangle", "touching", "crossed"])
def test_library_and_checker_agree_on_every_change_of_a_proof_and_believe_no_false_one(table, by, tmp_path, capsys):
    X, y = table
    data, known = written(X, y, tmp_path), linsep.decide_classes(X, y, by=by)
    for found in (known, linsep.max_margin_classes(X, y, by=by)):
        proof = json.loads(found.to_json())
        del proof["sha256"]
        assert are_accepted(seal(json.dumps(proof, indent=1)), X, y, data, tmp_path) == (True, True)
        for name in ("answers", "sizes", "by", "data"):
            for change in changes(proof[name]):
                if change == proof[name] or (name == "data" and change["label_column"] != "kind"):
                    continue
                forged = seal(json.dumps({**proof, name: change}, indent=1))
                ours, alone = are_accepted(forged, X, y, data, tmp_path)
                assert ours == alone, change
                if ours:  # another proof of the same answers
                    assert kinds(linsep.verdict_from_json(forged)) == kinds(known), change
    capsys.readouterr()


def test_a_proof_of_two_classes_cannot_pass_for_one_of_many():
    X, y = TRIANGLE
    with pytest.raises(CertificateError):
        linsep.decide(X, y == "a").verify(X, y)
    with pytest.raises(CertificateError, match=r"knows|label"):
        linsep.decide_classes(X, y).verify(X, np.where(y == "a", "z", y))


def test_rows_of_a_class_that_lost_some_are_refused():
    X, y = TRIANGLE
    with pytest.raises(CertificateError, match="rows"):
        linsep.decide_classes(X, y, by="pairs").verify(X[:-1], y[:-1])


def test_a_positive_definite_obstruction_of_a_pair_proves_the_joint_answer(monkeypatch):
    monkeypatch.setattr("linsep.questions.classes.MUCH", 0)
    random = np.random.default_rng(3)
    X, y = random.standard_normal((3600, 230)), np.repeat([0, 1, 2], 1200)
    X[y == 0, 0] += 100
    X[:, 1] = np.where(y == 0, 1.0, 0.0)  # a weak separator
    found = linsep.decide_classes(X, y)
    assert found.verdict.kind == "touching" and found.verdict.obstruction.is_definite
    assert {row // 1200 for row, _ in found.contests()} == {1, 2}
    linsep.verdict_from_json(found.to_json()).verify(X, y)


# ---- faces ------------------------------------------------------------------------------------------------------


def test_the_matrix_of_pairs_is_in_text_html_and_plots():
    found = linsep.decide_classes(*CROSSED, by="pairs")
    assert "1 of 3" not in repr(found) and "overlapping" in repr(found)
    assert "  a         no    yes" in found.explain()
    assert "<table>" in found._repr_html_() and "no: overlapping" in found._repr_html_()
    ax = linsep.plots.verdicts(found)
    assert sorted(text.get_text() for text in ax.texts) == ["overlap", "yes", "yes"]
    pyplot.close(ax.figure)


def test_only_pairs_make_a_matrix():
    with pytest.raises(ArgumentError, match="pairs"):
        linsep.plots.verdicts(linsep.decide_classes(*CROSSED))


def test_verdicts_are_found_by_their_classes():
    found = linsep.decide_classes(*CROSSED, by="pairs")
    assert found["b", "a"] is found["a", "b"] and found["a", "b"].kind == "overlapping"
    with pytest.raises(ArgumentError, match="no class 'z'"):
        found["a", "z"]
    with pytest.raises(ArgumentError, match="no question"):
        found["a"]


@pytest.mark.slow
@pytest.mark.parametrize(("by", "code"), [("joint", 1), ("pairs", 1), ("rest", 1)])
def test_the_command_line_decides_writes_and_verifies(by, code, tmp_path):
    data, proof = written(*CROSSED, tmp_path), str(tmp_path / "proof.json")

    def run(*words):
        return subprocess.run([sys.executable, "-m", "linsep", *words], capture_output=True, text=True, timeout=120)

    answer = run("decide", data, "--label", "kind", "--classes", by, "--proof", proof)
    assert answer.returncode == code and "linsep.checker" in answer.stderr
    assert run("verify", proof, data).stdout.startswith("VERIFIED")
    facts = json.loads(run("decide", data, "--label", "kind", "--classes", by, "--json").stdout)
    assert facts["by"] == by and len(facts["answers"]) == len(linsep.decide_classes(*CROSSED, by=by).verdicts)


def test_the_scan_of_two_classes_does_not_depend_on_how_their_rows_are_divided(tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.standard_normal((6000, 20))).rename(columns=str).assign(y=rng.integers(0, 3, 6000))
    w, found = rng.standard_normal(20), []
    for size in (30, 3000):
        table.to_parquet(tmp_path / f"{size}.parquet", row_group_size=size)
        source = linsep.open(tmp_path / f"{size}.parquet", label="y")
        scan = of_classes(source, class_marks(source), (0, 2)).scan(w, 0.5, worst=500)
        found.append((scan.mistakes, scan.lowest, scan.worst_scores.tolist()))
    assert found[0] == found[1]
