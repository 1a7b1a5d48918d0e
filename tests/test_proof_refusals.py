"""What proofs refuse to hold, state or check: the branches that true proofs never take."""

import json
from dataclasses import replace

import numpy as np
import pytest

import linsep
from linsep.errors import ArgumentError, CertificateError, LinsepError
from linsep.proofs import NotSeparable, Obstruction, Undecided
from linsep.proofs.class_rows import KeslerRows, rows_of_classes
from linsep.proofs.definite import ColumnDependence
from linsep.proofs.packings import Leaf, least_cost
from tests.forge import resealed

X = np.array([[0.0, 0], [2, 0], [0, 2], [2, 2], [2, 1]])
Y = np.array(["a", "b", "c", "b", "c"])


@pytest.fixture(scope="module")
def pairs():
    return linsep.decide_classes(X, Y, by="pairs")


@pytest.fixture(scope="module")
def joint():
    return linsep.decide_classes(X, Y, by="joint")


MALFORMED = {
    "by": ("all", "one of"),
    "sizes": ((5,), "3 labels and 1 sizes"),
    "labels": (("a", float("nan"), "c"), "finite"),
    "verdicts": ((), "0 verdicts for 3"),
    "names": (("x",), "1 names for 2"),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_verdicts_about_classes_fit_together(pairs, name):
    value, said = MALFORMED[name]
    with pytest.raises(CertificateError, match=said):
        replace(pairs, **{name: value})


@pytest.mark.parametrize(
    ("labels", "sizes", "said"), [("aba", (1, 2, 2), "same"), ("abc", (5, 0, 0), "a row at least")]
)
def test_classes_differ_and_have_rows(pairs, labels, sizes, said):
    with pytest.raises(CertificateError, match=said):
        replace(pairs, labels=tuple(labels), sizes=sizes)


def test_a_question_that_was_not_asked_has_no_verdict(pairs):
    for classes in ("z", "a", ("a", "b", "c")):
        with pytest.raises(ArgumentError):
            pairs[classes]
    with pytest.raises(ArgumentError, match="by pairs"):
        _ = pairs.verdict


@pytest.mark.parametrize(
    ("y", "said"),
    [(np.array(list("abcbd")), "label"), (np.array(list("aacbc")), "2 rows of class 'a'; the proof says 1")],
)
def test_other_labels_are_refused(pairs, y, said):
    with pytest.raises(CertificateError, match=said):
        pairs.verify(X, y)


def test_rows_without_labels_are_refused(pairs):
    with pytest.raises(ArgumentError, match="y is missing"):
        pairs.verify(X)


def test_a_verdict_about_other_rows_is_refused(pairs):
    other = tuple(replace(verdict, rows_left_out=1) for verdict in pairs.verdicts)
    with pytest.raises(CertificateError, match="other rows than its question"):
        replace(pairs, verdicts=other).verify(X, Y)


CHANGED = [
    {"sizes": ["1", "2", "3"]},
    {"sizes": ["1", "4"]},
    {"answers": []},
    {"answers": [1, 2, 3]},
    {"answers": [{"kind": "mistakes"}] * 3},
]


@pytest.mark.parametrize("changes", CHANGED)
def test_a_written_proof_about_classes_must_fit_together(pairs, changes):
    with pytest.raises(CertificateError):
        linsep.verdict_from_json(resealed(json.loads(pairs.to_json()) | changes))


def test_joint_weights_are_as_many_as_there_are_blocks(joint):
    document = json.loads(joint.to_json())
    document["answers"][0] |= {"kind": "separable", "separator": {"weights": ["1"], "bias_weight": "0"}, "margin": None}
    fields = {"kind", "separator", "margin"}
    document["answers"][0] = {name: document["answers"][0][name] for name in fields}
    with pytest.raises(LinsepError, match="1 weights for 3 classes"):
        linsep.verdict_from_json(resealed(document))


def test_no_row_is_compared_with_its_own_class():
    rows = rows_of_classes(X, Y, ("a", "b", "c"))
    with pytest.raises(CertificateError, match="Row 1 is compared with its own class"):
        KeslerRows(rows, 3, True).take([4])


def test_keslers_rows_of_long_integers_are_exact():
    large = np.array([[2**63 + 1, 0], [1, 2], [3, 4]], np.uint64)
    rows = rows_of_classes(large, np.array([0, 1, 2]), (0, 1, 2))
    _, values, _ = KeslerRows(rows, 3, False, all_blocks=True).take([1])
    assert [int(v) for v in values[0]] == [2**63 + 1, 0, -(2**63) - 1, 0, 0, 0]


def test_open_questions_and_rows_left_out_are_told(pairs, joint):
    common = {"n_columns": 2, "bias": True, "labels": ("a", "b"), "rows_left_out": 2}
    open_ = Undecided(n_rows=3, reason="time", **common)
    known = tuple(replace(verdict, rows_left_out=2) for verdict in pairs.verdicts[1:])
    text = replace(pairs, verdicts=(open_, *known), rows_left_out=2).explain()
    assert "time" in text and "2 rows left out" in text
    fields = {"n_rows": 15, "n_columns": 6, "bias": False, "labels": ("lost", "won")}
    half = NotSeparable(obstruction=Obstruction((1, 2), (1, 1)), reason="time", **fields)
    assert "Whether weakly is open" in replace(joint, verdicts=(half,)).explain()
    nothing = replace(joint, verdicts=(Undecided(reason="time", **fields),))
    assert "proves nothing" in nothing.explain()
    assert nothing.contests() == () and nothing.class_weights is None and nothing.separable is None


def test_facts_and_the_rest_are_told():
    found = linsep.decide_classes(X, Y, by="rest")
    assert [answer["classes"] for answer in found.facts()["answers"]] == [["a"], ["b"], ["c"]]
    assert "class" in found.explain(X, Y) and [classes for classes, _ in found] == [("a",), ("b",), ("c",)]


@pytest.mark.parametrize(
    ("columns", "weights"), [((0.5,), (1,)), ((), ()), ((0, 1), (1,)), ((0, 0), (1, 1)), ((-1,), (1,)), ((0,), (0,))]
)
def test_a_dependence_is_columns_with_weights(columns, weights):
    with pytest.raises(CertificateError):
        ColumnDependence(columns, weights)


PART = Obstruction((0, 1), (1, 1))
CASES = {
    "no tree": [Leaf(((0, True),)), Leaf(((1, False),))],
    "not all cases": [Leaf(((0, True),))],
    "an obstruction that is not there": [Leaf((), ((1, 1),))],
    "a mistaken row": [Leaf(((0, False),), ((0, 1),)), Leaf(((0, True),))],
    "more than the cost": [Leaf((), ((0, 2**21),))],
}


@pytest.mark.parametrize("name", CASES)
def test_a_bound_is_refused_with(name):
    with pytest.raises(CertificateError):
        least_cost(CASES[name], [PART], {0: 1, 1: 1})


def test_a_case_names_a_row_once_and_multipliers_are_not_negative():
    for path, multipliers in ((((0, True), (0, False)), ()), ((), ((0, -1),)), ((), ((0,),))):
        with pytest.raises(CertificateError):
            Leaf(path, multipliers)


def test_a_case_that_cannot_be_has_no_cost():
    leaves = [Leaf(((0, True), (1, True)), ((0, 1),)), Leaf(((0, True), (1, False))), Leaf(((0, False),))]
    assert least_cost(leaves, [PART], {0: 1, 1: 1}) == 1
    assert least_cost([Leaf((), ())], [PART], {0: 1, 1: 1}) == 0
