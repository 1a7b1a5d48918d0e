"""What proofs refuse to hold, state or check: the branches that true proofs never take."""

import json
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from flint import fmpz_mat

import linsep
from linsep import checker, exact, lifting
from linsep.errors import ArgumentError, CertificateError, LinsepError, NotFiniteError
from linsep.proofs import NotSeparable, Obstruction, Undecided, checks, explain
from linsep.proofs.checked_rows import MemoryRows, rows_of
from linsep.proofs.class_rows import KeslerRows, TwoSides
from linsep.proofs.class_verdicts import rows_for
from linsep.proofs.definite import ColumnDependence
from linsep.proofs.fewest_mistakes import check_copies
from linsep.proofs.named_rows import in_kept_numbers
from linsep.proofs.packings import Leaf, least_cost
from linsep.proofs.region_proof import Cut
from linsep.sources.inputs import as_source
from tests.campaigns.forge import resealed

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
    ("labels", "sizes", "said"),
    [
        ("aba", (1, 2, 2), "same"),
        ("abc", (5, 0, 0), "at least one row"),
        (["a", "", "c"], (1, 2, 2), "label is missing"),
    ],
)
def test_classes_differ_and_have_rows(pairs, labels, sizes, said):
    with pytest.raises(CertificateError, match=said):
        replace(pairs, labels=tuple(labels), sizes=sizes)


def test_a_label_without_a_character_is_missing():
    X, y = [[0.0], [1.0]], ["a", "b"]
    verdict = linsep.decide(X, y)
    with pytest.raises(linsep.CertificateError, match="A label is missing"):
        replace(verdict, labels=("", "b"))
    written = resealed(json.loads(verdict.to_json().replace("text:a", "text:")))
    with pytest.raises(linsep.CertificateError, match="not a label"):
        linsep.verdict_from_json(written)


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


def test_data_with_other_columns_or_read_otherwise_are_refused(pairs):
    frame = pd.DataFrame(X, columns=["p", "q"])
    found = linsep.decide_classes(frame, Y, by="pairs")
    found.verify(frame, Y)
    for call in (found.verify, found.explain):
        with pytest.raises(CertificateError, match="Column 0 is called 'q'; in the proof it is 'p'"):
            call(frame.set_axis(["q", "p"], axis=1), Y)
    decimal = tuple(replace(verdict, numbers="decimal") for verdict in pairs.verdicts)
    with pytest.raises(CertificateError, match="reads numbers as decimal"):
        replace(pairs, numbers="decimal", verdicts=decimal).verify(X, Y)


def test_rows_that_no_proof_about_classes_names_are_finite_too():
    same = [NotSeparable(obstruction=Obstruction(two, (1, 1)), reason="time", n_rows=n, n_columns=1, labels=labels)
            for two, n, labels in (((0, 1), 2, "ab"), ((0, 2), 3, "ac"), ((1, 2), 3, "bc"))]  # fmt: skip
    found = linsep.ClassVerdicts(by="pairs", labels=("a", "b", "c"), sizes=(1, 1, 2), n_columns=1, verdicts=tuple(same))
    table = np.array([[0.0], [0], [0], [7]])
    found.verify(MemoryRows(table, np.array([0, 1, 2, 2])))
    table[3] = np.nan
    with pytest.raises(NotFiniteError):
        found.verify(MemoryRows(table, np.array([0, 1, 2, 2])))


@pytest.mark.parametrize(("by", "sides"), [("pairs", (-1, 1, 0)), ("rest", (1, -1, -1))])
def test_a_row_is_on_the_side_of_its_class_and_as_far_as_it_is(by, sides):
    found = linsep.decide_classes(X, Y, by=by)
    assert rows_for(found, found.questions[0], found.verdicts[0], rows_of(X, Y, ("a", "b", "c"))).sides == sides


def test_a_verdict_about_other_rows_is_refused(pairs):
    other = tuple(replace(verdict, rows_left_out=1) for verdict in pairs.verdicts)
    with pytest.raises(CertificateError, match="rows other than those of its question"):
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
    rows = rows_of(X, Y, ("a", "b", "c"))
    with pytest.raises(CertificateError, match="Row 1 is compared with its own class"):
        KeslerRows(rows, 3, True).take([1, 4])


def test_keslers_rows_of_long_integers_are_exact():
    large = np.array([[2**63 + 1, 0], [1, 2], [3, 4]], np.uint64)
    rows = rows_of(large, np.array([0, 1, 2]), (0, 1, 2))
    _, values, _ = KeslerRows(rows, 3, False, all_blocks=True).take([1])
    assert [int(v) for v in values[0]] == [2**63 + 1, 0, -(2**63) - 1, 0, 0, 0]


@pytest.mark.parametrize("kind", [np.array, scipy.sparse.csr_array])
@pytest.mark.parametrize("number", [np.uint64(2**63), np.int64(-(2**63)), np.int64(2**63 - 1)])
def test_keslers_rows_of_the_longest_words_have_both_signs(kind, number):
    rows = MemoryRows(kind(np.array([[number], [number], [number]])), np.array([0, 1, 2]))
    _, values, _ = KeslerRows(rows, 3, False, all_blocks=True).take([1])
    dense = values.toarray() if scipy.sparse.issparse(values) else values
    assert [int(v) for v in dense[0]] == [int(number), -int(number), 0]


IDS = pd.DataFrame(X, index=list("uvwxy"))
FRAMES = {
    "pairs": {"label": ["b", "b", "c"], "question": ["b, c"] * 3, "share": [0.5, 0.5, 1.0]},
    "joint": {"label": ["b", "b", "c"], "against": ["c", "c", "b"], "share": [0.25, 0.25, 0.5]},
}


@pytest.mark.parametrize("by", FRAMES)
def test_rows_of_classes_are_shown_and_called_as_the_user_does(by):
    found = linsep.decide_classes(X, Y, by=by)
    shown = found.frame(X)
    assert shown["row"].tolist() == [1, 3, 4]
    assert {name: shown[name].tolist() for name in FRAMES[by]} == FRAMES[by]
    named = linsep.decide_classes(IDS, Y, by=by)
    assert named.verdicts[-1].obstruction.ids == ("v", "x", "y") and named.frame(IDS).index.tolist() == ["v", "x", "y"]
    assert found.verdicts[-1].obstruction.ids != ("v", "x", "y")
    assert linsep.verdict_from_json(found.to_json()).frame(X)["label"].tolist() == [None] * 3  # it holds no labels


def test_data_of_classes_are_checked_before_they_are_told_about(joint, pairs):
    assert "with ids v (b, not c)" in joint.explain(IDS, Y) and "rows 1 (b, not c)" in joint.explain(X, Y)
    with pytest.raises(CertificateError):
        joint.explain(X[::-1], Y)
    assert pairs.separable is False and linsep.decide_classes(X[:3], Y[:3], by="pairs").separable is True
    assert replace(pairs, labels=tuple(np.array(list("abc")))).labels == ("a", "b", "c")
    assert type(replace(pairs, labels=tuple(np.array([1, 2, 3]))).labels[0]) is int


def test_open_questions_and_rows_left_out_are_told(pairs, joint):
    common = {"n_columns": 2, "bias": True, "labels": ("a", "b"), "rows_left_out": 2}
    open_ = Undecided(n_rows=3, reason="time", **common)
    known = tuple(replace(verdict, rows_left_out=2) for verdict in pairs.verdicts[1:])
    text = replace(pairs, verdicts=(open_, *known), rows_left_out=2).explain()
    assert "time" in text and "2 rows left out" in text
    fields = {"n_rows": 15, "n_columns": 6, "bias": False, "labels": ("lost", "won")}
    half = NotSeparable(obstruction=Obstruction((1, 2), (1, 1)), reason="time", **fields)
    assert "It is not known whether it can be" in replace(joint, verdicts=(half,)).explain()
    nothing = replace(joint, verdicts=(Undecided(reason="time", **fields),))
    assert "proves nothing" in nothing.explain()
    assert nothing.contests() == () and nothing.class_weights is None and nothing.separable is None


@pytest.mark.parametrize("by", ["joint", "pairs", "rest"])
def test_a_written_verdict_about_classes_knows_its_labels(by):
    found = linsep.decide_classes(X, Y, by=by)
    read = linsep.verdict_from_json(found.to_json())
    assert [verdict.labels for verdict in read.verdicts] == [verdict.labels for verdict in found.verdicts]


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


# Sources, and rows of their classes ----------------------------------------------------------------------

LINE, SIDES = [[0.0], [1.0], [2.0]], ["a", "a", "b"]


@pytest.fixture(scope="module")
def separable():
    return linsep.decide(LINE, SIDES)


def test_a_source_brings_its_labels_and_ids(separable):
    source = as_source(LINE, SIDES)
    separable.verify(source)
    with pytest.raises(ArgumentError, match="leave y out"):
        rows_of(source, SIDES, ("a", "b"))
    with pytest.raises(ArgumentError, match="leave ids out"):
        separable.verify(source, ids=[1, 2, 3])
    for other in (("a", "c"), ("b", "a"), ("a", "b", "c")):
        with pytest.raises(CertificateError, match="The rows are labelled 'a' and 'b'"):
            rows_of(source, None, other)
    shorter = linsep.decide(LINE[1:], SIDES[1:])
    with pytest.raises(ArgumentError, match="X has 3 rows, and the result is about 2"):
        shorter.frame(source)


def test_rows_of_other_classes_are_passed_over_and_not_handed_out():
    class Blocks(MemoryRows):
        def blocks(self):
            for k in range(self.n_rows):
                yield MemoryRows.take(self, [k])

    rows = Blocks(np.arange(4.0)[:, None], np.array([0, 2, 1, 2]))
    pair = TwoSides(rows, (-1, 0, 1))
    assert [(int(number), int(sign)) for (number,), _, (sign,) in pair.blocks()] == [(0, -1), (1, 1), (3, 1)]
    with pytest.raises(CertificateError, match="Row 2 is of neither class"):
        pair.take([0, 2, 3])


def test_keslers_sparse_rows_of_long_integers_are_exact():
    large = scipy.sparse.csr_array(np.array([[2**63 + 1, 0], [1, 2], [3, 4]], np.uint64))
    dense = rows_of(large.toarray(), np.array([0, 1, 2]), (0, 1, 2))
    sparse = MemoryRows(large, np.array([0, 1, 2]))
    for number in (1, 5, 6):
        one, other = (KeslerRows(rows, 3, False, all_blocks=True).take([number])[1] for rows in (dense, sparse))
        other = other.toarray() if scipy.sparse.issparse(other) else other
        assert [int(v) for v in other[0]] == [int(v) for v in one[0]]


def test_rows_that_vanish_modulo_the_prime_still_span(monkeypatch):
    monkeypatch.setattr(checks, "LONG", 1)
    table = MemoryRows(np.array([[exact.PRIME, 2 * exact.PRIME, 0], [1, 2, 0], [1, 3, 0]]), np.ones(3, np.int8))
    assert checks.rows_outside_span(table, [0], False).tolist() == [2]


def test_a_system_that_cannot_be_lifted_is_solved(monkeypatch):
    size = lifting.FEWEST
    matrix = fmpz_mat([[(3 * i * j + i + j) % 97 + (100 if i == j else 0) for j in range(size)] for i in range(size)])
    right = matrix * fmpz_mat([[j - 2] for j in range(size)])
    monkeypatch.setattr(lifting, "is_for", lambda *_: True)
    monkeypatch.setattr(lifting, "lifted", lambda *_: None)
    numerators, denominator = exact.solve(matrix, right)
    assert [Fraction(int(n), denominator) for n in numerators.entries()] == [j - 2 for j in range(size)]


# Words ---------------------------------------------------------------------------------------------------


def test_margins_of_classes_are_told():
    X, y = [[2.0, 0], [0, 2], [-1, -1]], ["a", "b", "c"]
    joint = linsep.max_margin_classes(X, y)
    assert "leads by" in joint.explain(X, y) and "one for each class" in joint.explain()
    assert "with this margin at least" in linsep.max_margin_classes(X, y, by="pairs").explain()
    named = linsep.decide_classes(X, y, by="pairs").explain(pd.DataFrame(X, index=["u", "v", "w"]), y)
    assert "separable" in named
    assert "strictly the largest on every row" in linsep.decide_classes([[0.0], [0], [1]], y).explain()


def test_a_joint_obstruction_may_be_a_positive_definite_one(joint):
    verdict = joint.verdict
    found = replace(verdict.obstruction, dependences=())
    changed = replace(joint, verdicts=(NotSeparable(obstruction=found, reason="time", **common(verdict)),))
    assert "a positive-definite matrix" in changed.explain()


def common(verdict):
    return {name: getattr(verdict, name) for name in ("n_rows", "n_columns", "bias", "labels")}


COUNTED = np.arange(1.0, 13.0)
MEANS = {
    "decimals": ([[Decimal("0.1")], [Decimal("0.5")], [Decimal("0.3")]], "Their common mean: x1 = 0.3."),
    "columns": (COUNTED * [[1.0], [3], [2]], "x7 = 14, x8 = 16 and 4 more columns."),
    "no more columns": (COUNTED[:8] * [[1.0], [3], [2]], "x7 = 14, x8 = 16."),
}


@pytest.mark.parametrize("name", MEANS)
def test_the_common_mean_of_an_obstruction_is_told(name):
    table, said = MEANS[name]
    assert said in linsep.decide(table, list("aab")).explain(table, list("aab"))


@pytest.mark.parametrize(
    ("margin", "said"),
    [((0.0, np.inf), None), ((0.0, 2.0), "between 0 and 2."), ((0.5, np.inf), "between 0.5 and inf.")],
)
def test_what_is_believed_of_a_margin_is_told_where_something_is(margin, said):
    text = Undecided(reason="time", n_rows=2, n_columns=1, margin=margin, rows_left_out=3).explain()
    assert (said or "proves nothing") in text and ("believed" in text) is (said is not None)
    assert "3 rows left out" in text


CUTS = (Cut((1,), -9, ~1, 1), Cut((1,), -5, 3, 2), Cut((1,), -1, ~0, ~1), Cut((1,), -7, ~0, 4), Cut((1,), -6, 5, ~0))
LINES = """1. Rows with x1 > 9 are b (1 row).
2. Rows with x1 > 5 continue with 4, the others with 3.
3. Rows with x1 > 1 are a (6 rows); the others are b (7 rows).
4. Rows with x1 > 7 are a (2 rows).
5. Rows with x1 <= 6 are a (5 rows).
6. Rows with x1 > 6.5 are a (3 rows); the others are b (4 rows).
Equal rows have different labels; the first of each pair is a mistake:
  row   equals row
    3            1
4 rows left out, not part of the proof."""


def test_regions_are_told_in_the_order_of_their_cuts():
    found = linsep.Regions(n_rows=28, n_columns=1, classes=("a", "b"), cuts=(*CUTS, Cut((2,), -13, ~0, ~1)),
                           sizes=(1, 2, 3, 4, 5, 6, 7), contradictions=((3, 1),), rows_left_out=4)  # fmt: skip
    assert found.explain().splitlines()[1:] == LINES.splitlines()
    assert (found.report().tone, replace(found, contradictions=()).report().tone) == ("unsure", "yes")
    assert replace(found, contradictions=(), in_time=False).report().tone == "unsure"
    many = replace(found, contradictions=tuple((k, k + 1) for k in range(15))).explain()
    assert "... and 5 more." in many


LATER = """1. Rows with x1 > 9 continue with 2, the others with 3.
2. Rows with x1 > 20 are a (1 row); the others continue with 4.
3. Rows with x1 > 1 are b (4 rows); the others are a (5 rows).
4. Rows with x1 > 10 are b (2 rows); the others are a (3 rows)."""


def test_a_cut_says_where_others_continue_unless_with_the_next():
    cuts = (Cut((1,), -9, 1, 2), Cut((1,), -20, ~0, 3), Cut((1,), -1, ~1, ~0), Cut((1,), -10, ~1, ~0))
    found = linsep.Regions(n_rows=15, n_columns=1, classes=("a", "b"), cuts=cuts, sizes=(1, 2, 3, 4, 5))
    assert found.explain().splitlines()[1:] == LATER.splitlines()
    longer = linsep.Regions(n_rows=32, n_columns=1, classes=("a", "b"), sizes=(1,) * 33,
                            cuts=[Cut((1,), -9, ~0, k + 1 if k < 31 else ~1) for k in range(32)])  # fmt: skip
    assert longer.explain().splitlines()[-1] == "... and 2 more cuts."


def test_the_condition_of_a_cut_is_that_of_its_rows():
    for cut, above, below in (
        (Cut((2, 0), -6, -1, -2), "x > 3", "x <= 3"),
        (Cut((-2, 0), 6, -1, -2), "x < 3", "x >= 3"),
        (Cut((1, -2), 4, -1, -2), "0.5·x - y > -2", "0.5·x - y <= -2"),
        (Cut((0, 5), 0, -1, -2), "y > 0", "y <= 0"),
        (Cut((0, -5), 0, -1, -2), "y < 0", "y >= 0"),
    ):
        assert (cut.condition("xy"), cut.condition("xy", is_above=False)) == (above, below)


def test_numbers_too_long_for_python_or_a_double_are_not_written():
    known = linsep.max_margin(LINE, SIDES)
    long = replace(known, gamma_squared=Fraction(10**5000 + 1, 4 * 10**5000), margin=(0.4, 0.6))
    assert explain.exact_margin(long) is None
    assert explain.exact_margin(known) == "1/4"
    assert explain._shown(Fraction(-(10**400))) == "-(beyond the largest double)"
    assert explain._shown(Fraction(10**400)) == "(beyond the largest double)"


def test_a_weak_separator_without_its_rows_is_told():
    touching = linsep.decide([[0.0], [1], [1], [2]], list("aabb"))
    assert "of the rows can be put strictly" not in replace(touching, separated_rows=None, spread=None).explain()
    more = replace(touching, separated_rows=(0, 3), spread=Obstruction((1, 2), (1, 1)))
    more.verify([[0.0], [1], [1], [2]], list("aabb"))
    assert "2 of the rows can be put strictly" in more.explain()
    with pytest.raises(CertificateError, match="need the spread"):
        replace(more, spread=None)


# Verdicts that do not fit together -----------------------------------------------------------------------

UNFIT = {
    "weights": ((1, 2), "2 weights for 1 columns"),
    "nearest": (Obstruction((1, 2), (1, 1)), "but no margin"),
    "gamma_squared": (Fraction(1, 4), "but no margin"),
}


@pytest.mark.parametrize("name", UNFIT)
def test_a_separator_without_a_margin_proves_none(separable, name):
    value, said = UNFIT[name]
    with pytest.raises(CertificateError, match=said):
        replace(separable, **{name: value})


def test_a_margin_comes_with_what_proves_it():
    known = linsep.max_margin(LINE, SIDES)
    for changes, said in (
        ({"nearest": None}, "An exact margin needs"),
        ({"nearest": None, "gamma_squared": None}, "An upper end of the margin needs"),
        ({"weights": (0,)}, "all zero"),
        ({"numbers": "decimal"}, "not for exact decimals"),
        ({"bias": False}, "the bias weight is 0"),
    ):
        with pytest.raises(CertificateError, match=said):
            replace(known, **changes)
    replace(known, gamma_squared=None).verify(LINE, SIDES)
    replace(known, gamma_squared=None, nearest=None, margin=(0.25, float("inf"))).verify(LINE, SIDES)
    with pytest.raises(CertificateError, match="nearer to the hyperplane"):
        replace(known, gamma_squared=None, nearest=None, margin=(0.51, float("inf"))).verify(LINE, SIDES)


def test_an_exact_margin_is_that_of_the_rows(separable):
    known = linsep.max_margin(LINE, SIDES)
    known.verify(LINE, SIDES)
    assert known.facts()["gamma_squared"] == "1/4" and "gamma_squared" not in separable.facts()
    for wrong in (Fraction(1, 5), Fraction(6, 25)):
        with pytest.raises(CertificateError, match="is not gamma_squared"):
            replace(known, gamma_squared=wrong, margin=(0.4, 0.5)).verify(LINE, SIDES)
    with pytest.raises(CertificateError, match="is not that of gamma_squared"):
        replace(known, margin=(0.6, 0.7)).verify(LINE, SIDES)


def test_separated_rows_are_all_that_the_weak_separator_puts_on_their_side():
    X, y = [[0.0], [1], [1], [2]], list("aabb")
    found = replace(linsep.decide(X, y), separated_rows=np.array([0, 3]), spread=Obstruction((1, 2), (1, 1)))
    found.verify(X, y)
    assert [type(row) for row in found.separated_rows] == [int, int]
    for wrong in ((0,), (0, 1, 3)):
        with pytest.raises(CertificateError, match="the separated rows are not those"):
            replace(found, separated_rows=wrong).verify(X, y)


TOUCHING, OVERLAPPING = (linsep.decide([[0.0], [1], [1], [2]], list(y)) for y in ("aabb", "abba"))
OPEN = NotSeparable(obstruction=OVERLAPPING.obstruction, reason="time", n_rows=4, n_columns=1)


@pytest.mark.parametrize(("found", "own"), [(TOUCHING, ["obstruction"]), (OVERLAPPING, ["obstruction", "spread"]),
                                            (OPEN, ["obstruction"])])  # fmt: skip
def test_verdicts_have_two_labels_and_obstructions_that_fit(found, own):
    with pytest.raises(CertificateError, match="two labels are the same"):
        replace(found, labels=("a", "a"))
    definite = dict.fromkeys(own, replace(found.obstruction, dependences=()))
    replace(found, **definite)
    with pytest.raises(CertificateError, match="not for exact decimals"):
        replace(found, numbers="decimal", **definite)


def test_an_obstruction_is_looked_at_where_whether_weakly_is_open():
    X, y = [[0.0], [1], [1], [2]], list("abba")
    known = replace(OPEN, labels=("a", "b"))
    known.verify(X, y)
    with pytest.raises(CertificateError, match="do not cancel"):
        replace(known, obstruction=Obstruction((0, 1), (1, 1))).verify(X, y)
    with pytest.raises(CertificateError, match="two labels are the same"):
        Undecided(reason="time", n_rows=4, n_columns=1, labels=("a", "a"))


def test_weights_of_decimals_are_those_of_columns_that_were_multiplied(separable):
    found = replace(separable, n_columns=2, weights=(3, 5), bias_weight=7)._in_units_of((10, 4))
    assert (found.weights, found.bias_weight) == ((6, 25), 140)
    assert type(replace(separable, bias_weight=np.int64(1)).bias_weight) is int
    with pytest.raises(CertificateError, match="A margin is proved for doubles"):
        linsep.max_margin(LINE, SIDES)._in_units_of((10,))


def test_weights_of_64_bits_make_a_halfspace_of_integers(separable):
    long = replace(separable, weights=(2**61 + 1,), bias_weight=-(2**61) - 3)
    assert long.halfspace.w.tolist() == [2**61 + 1]
    assert long.facts()["halfspace"]["w"] == [2**61 + 1]
    assert replace(separable, weights=(2**80 + 1,), bias_weight=0).halfspace.w.dtype == np.float64
    assert replace(long, n_columns=2, weights=(2**61 + 1, 3)).halfspace.w.tolist() == [2**61 + 1, 3]


@pytest.mark.parametrize("margin", [(0.6, 0.4), (-0.1, 0.4), (float("inf"), float("inf")), (float("nan"), 1.0)])
def test_a_margin_is_an_interval(separable, margin):
    known = linsep.max_margin(LINE, SIDES)
    for refused in (
        lambda: replace(known, margin=margin),
        lambda: Undecided(n_rows=1, n_columns=1, reason="", margin=margin),
    ):
        with pytest.raises(CertificateError, match=r"is not an interval|or is infinite"):
            refused()


# Mistakes and regions ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def mistakes():
    return linsep.fewest_mistakes([[0.0], [1], [2], [3]], list("abab"))


def test_costs_and_bounds_that_do_not_fit_are_refused(mistakes, monkeypatch):
    X, y = [[0.0], [1], [2], [3]], list("abab")
    mistakes.verify(X, y)
    assert mistakes.facts()["optimal"] is True and mistakes.facts()["best"] == 1
    with pytest.raises(CertificateError, match="must have a cost"):
        replace(mistakes, costs=(1, 1))
    with pytest.raises(CertificateError, match="must have a cost"):
        replace(mistakes, costs=(1, 1, 1, -1))
    with pytest.raises(CertificateError, match="costs for 4 rows"):
        replace(mistakes, costs=(1, 1, 1, 1, 1), rows_left_out=1)._verify_claim(rows_of(X, y, ("a", "b")))
    monkeypatch.setattr(linsep.FewestMistakes, "_verify_bound", lambda *_: None)
    with pytest.raises(CertificateError, match="The bound is 2, but a hyperplane with a cost of 1"):
        replace(mistakes, least=2).verify(X, y)


def test_a_bound_names_rows_that_are_there_and_each_once(mistakes):
    X, y = [[0.0], [1], [2], [3]], list("abab")
    cases = [((3, False),), ((3, True), (-1, False)), ((3, True), (-1, True))]  # the last row under two numbers
    for paths in (cases, [((4, False),), ((4, True),)]):
        with pytest.raises(CertificateError, match=r"The bound names row \d; the rows are 0 to 3"):
            replace(mistakes, leaves=tuple(map(Leaf, paths)), least=0).verify(X, y)


def test_fewest_mistakes_are_kept_in_integers(mistakes):
    numbers = np.array([1, 1, 1, 1])
    found = replace(mistakes, costs=numbers, copies=[numbers[:2]], mistaken_rows=numbers[2:3])
    assert all(type(n) is int for n in (*found.costs, *found.copies[0], *found.mistaken_rows))
    assert replace(found, costs=(0, 1, 1, 1)).costs[0] == 0
    with pytest.raises(CertificateError, match="their unit must be positive"):
        replace(found, unit=Fraction(0))


def test_classes_are_separable_if_no_mistake_is_made_and_not_if_one_must_be(mistakes):
    assert mistakes.separable is False and replace(mistakes, least=0).separable is None
    assert linsep.fewest_mistakes(LINE, SIDES).separable is True
    assert mistakes.report().tone == "yes" and replace(mistakes, least=0).report().tone == "unsure"
    assert "·dose" in mistakes.explain(names=["dose"]) and "·x1" in mistakes.explain()


@pytest.mark.parametrize(("bias_weight", "taken"), [(-1, "class 'a'"), (0, "neither class"), (1, "class 'b'")])
def test_where_no_weight_is_left_every_row_is_taken_for_one_class(mistakes, bias_weight, taken):
    found = replace(mistakes, weights=(0,), bias_weight=bias_weight)
    assert f"every row is taken for {taken}." in found.explain()


def test_no_mistake_has_no_row_to_show():
    assert "wrong about" not in linsep.fewest_mistakes(LINE, SIDES).explain()


def test_copies_are_equal_rows_of_one_class():
    for values in (np.array([[1.0], [1], [2], [1]]), scipy.sparse.csr_array([[1.0], [1], [2], [1]])):
        rows = MemoryRows(values, np.array([1, 1, 1, -1], np.int8))
        check_copies(rows, [0, 1])
        for group, said in (([0, 4], "Row 4 is named"), ([0, 2], "Row 2 is not a copy"), ([0, 1, 3], "Row 3 is not")):
            with pytest.raises(CertificateError, match=said):
                check_copies(rows, group)


def test_a_written_proof_shows_the_rows_and_labels_of_the_data_it_is_given():
    X, y = [[0.0], [2], [1]], list("aab")
    found = linsep.decide(X, y)
    read = linsep.verdict_from_json(found.to_json())
    for frame in (found.frame(X), read.frame(X, y)):
        assert (frame["label"].tolist(), frame["share"].tolist()) == (y, [0.5, 0.5, 1.0])
    assert len(linsep.decide(LINE, SIDES).frame(LINE)) == 0
    named = pd.DataFrame(X, index=list("uvw"))
    assert "with ids u, v" in read.explain(named, y) and "with ids" not in found.explain(X, y)
    assert "with ids u, v" in linsep.decide(named, y).explain(X, y)  # its own names stay
    assert {"format", "version", "sha256"}.isdisjoint(found.facts()) and found.facts()["obstruction"]["rows"]


def test_rows_left_out_of_a_file_count_where_the_data_have_them():
    found = linsep.decide(GAPS, CROSSED, missing="drop")
    read = linsep.verdict_from_json(found.to_json())
    assert found.frame(GAPS)["row"].tolist() == read.frame(GAPS, CROSSED)["row"].tolist() == [1, 2, 3, 4]


def test_a_row_that_was_left_out_is_not_named(separable):
    overlapping = linsep.decide([[0.0], [2], [1]], list("aab"))
    kept = np.array([1, 3, 4])
    moved = replace(
        overlapping, obstruction=Obstruction((1, 3, 4), (1, 1, 2)), spread=Obstruction((1, 3, 4), (1, 1, 2))
    )
    assert in_kept_numbers(moved, kept).obstruction.rows == (0, 1, 2)
    assert in_kept_numbers(moved, None) is moved
    with pytest.raises(CertificateError, match="a row that was left out"):
        in_kept_numbers(overlapping, kept)


def test_a_written_case_has_lists_of_one_length(mistakes):
    document = json.loads(mistakes.to_json())
    leaf = next(part for part in found_leaves(document))
    leaf["units"] = [*leaf["units"], "1"]
    with pytest.raises(CertificateError, match="lists of different lengths"):
        linsep.verdict_from_json(resealed(document))


def found_leaves(value):
    """Every part of a document that is a case."""
    if isinstance(value, dict):
        if "units" in value:
            yield value
        value = list(value.values())
    for part in value if isinstance(value, list) else []:
        yield from found_leaves(part)


XOR = np.array([[0.0, 0], [1, 1], [0, 1], [1, 0], [0, 0]])
MARKS = np.array([0, 0, 1, 1, 1])


@pytest.fixture(scope="module")
def regions():
    return linsep.separate_regions(XOR, MARKS)


def test_regions_that_do_not_fit_are_refused(regions):
    with pytest.raises(CertificateError, match="one more region"):
        replace(regions, sizes=(*regions.sizes, 1))
    with pytest.raises(CertificateError, match="between two rows"):
        replace(regions, contradictions=((0, 1, 2),))
    with pytest.raises(CertificateError, match="lead only to later ones"):
        fields = {"n_rows": 1, "n_columns": 1, "classes": (0, 1), "sizes": (1, 1, 1, 1)}
        linsep.Regions(cuts=(Cut((1,), 0, 2, -1), Cut((1,), 0, -1, -2), Cut((1,), 0, 1, -1)), **fields)


def test_regions_are_asked_about_rows_as_they_are(regions):
    regions.verify(XOR, MARKS)
    regions.verify(as_source(XOR, MARKS))
    with pytest.raises(ArgumentError, match="leave y out"):
        regions.verify(as_source(XOR, MARKS), MARKS)
    with pytest.raises(ArgumentError, match="y is missing"):
        regions.verify(XOR)
    with pytest.raises(CertificateError, match="3 columns, not 2"):
        regions.verify(np.column_stack([XOR, MARKS]), MARKS)


TIES = [[0.0], [0.0], [1.0], [1.0], [2.0]]
TIED = linsep.Regions(n_rows=5, n_columns=1, classes=("a", "b"), cuts=(Cut((2,), -1, ~1, ~0),), sizes=(3, 2))


@pytest.mark.parametrize(
    ("labels", "pairs", "said"),
    [
        ("abbba", ((1, 0), (4, 2)), "Rows 4 and 2 do not contradict"),  # they are not equal
        ("abbba", ((1, 0), (4, 9)), "Rows 4 and 9 do not contradict"),  # there is no such row
        ("aaaab", ((2, 3), (3, 2)), "Rows 2 and 3 do not contradict"),  # both have one label
        ("aabbb", ((2, 3),), "Row 2 is named as a contradiction, but its region has its label"),
        ("abbba", ((1, 0),), "Row 4 is in a region of another class"),
    ],
)
def test_a_contradiction_is_of_equal_rows_with_different_labels(labels, pairs, said):
    replace(TIED, contradictions=((1, 0),)).verify(TIES, list("abbbb"))
    with pytest.raises(CertificateError, match=said):
        replace(TIED, contradictions=pairs).verify(TIES, list(labels))


def test_a_row_on_a_cut_is_not_above_it():
    found = replace(TIED, cuts=(Cut((2,), -2, ~1, ~0),), sizes=(1, 4))
    assert found.predict([[1.0], [1.5]]).tolist() == ["a", "b"]
    found.verify(TIES, list("aaaab"))
    with pytest.raises(CertificateError, match="Row 2"):
        found.verify(TIES, list("aabbb"))


def test_cuts_of_one_class_have_a_region_beside_them():
    assert Cut((1,), 0, ~1, 1).is_pure and Cut((1,), 0, 1, ~0).is_pure and not Cut((1,), 0, 1, 2).is_pure
    cut = Cut(np.array([3]), np.int64(1), True, -1)
    assert [type(number) for number in (*cut.weights, cut.bias_weight, cut.above)] == [int] * 3


def test_regions_are_kept_in_python_numbers():
    numbers = np.array([[3, 2]])
    found = replace(TIED, classes=numbers[0], sizes=numbers[0], contradictions=numbers)
    assert [type(n) for n in (*found.classes, *found.sizes, *found.contradictions[0])] == [int] * 6


def test_a_label_that_regions_do_not_know_is_refused():
    for labels in (["a", "a", "z", "z", "z"], ["z", "a", "b", "b", "b"]):
        with pytest.raises(CertificateError, match="rows labelled 'z'; the regions know 'a', 'b'"):
            replace(TIED, contradictions=((1, 0),)).verify(TIES, labels)


def test_regions_are_of_numbers_that_doubles_hold_and_of_their_own_columns():
    for call in (TIED.predict, lambda X: TIED.verify(X, list("aabbb"))):
        with pytest.raises(LinsepError, match="never rounds silently"):
            call([[Decimal("0.1")], [0], [1], [1], [2]])
    unused = replace(TIED, n_columns=5, cuts=(Cut((2, 0, 0, 0, 0), -1, ~1, ~0),))
    with pytest.raises(NotFiniteError):
        unused.predict([[1.0, 0, 0, 0, np.nan]])
    frame = pd.DataFrame(TIES, columns=["v"])
    for data in ((frame, list("aabbb")), (as_source(frame, list("aabbb")),)):
        replace(TIED, names=("v",)).verify(*data)
        with pytest.raises(CertificateError, match="Column 0 is called 'v'; in the proof it is 'u'"):
            replace(TIED, names=("u",)).verify(*data)


def test_labels_of_no_common_type_are_predicted_as_they_are():
    cuts = (Cut((2,), -1, ~1, ~0),)
    found = linsep.Regions(n_rows=2, n_columns=1, classes=("a", 1), cuts=cuts, sizes=(1, 1))
    assert found.predict([[0.0], [1.0]]).tolist() == ["a", 1]


# The stand-alone checker ---------------------------------------------------------------------------------


@pytest.mark.parametrize("by", ["joint", "pairs", "rest"])
def test_the_checker_reads_proofs_about_classes(tmp_path, by):
    (tmp_path / "rows.csv").write_text("".join(f"{a},{b},{c}\n" for (a, b), c in zip(X.tolist(), Y, strict=True)))
    (tmp_path / "proof.json").write_text(linsep.decide_classes(X, Y, by=by).to_json())
    assert checker.main([str(tmp_path / "proof.json"), str(tmp_path / "rows.csv")]) == 0


# ---------------------------------------------------------------------------------------------------
# Rows that were dropped
# ---------------------------------------------------------------------------------------------------

GAPS = pd.DataFrame({"u": [np.nan, 0, 1, 0, 1], "v": [9.0, 0, 0, 1, 1]}, index=list("zabcd"))
CROSSED = [0, 0, 1, 1, 0]


def test_a_proof_about_rows_without_gaps_is_about_no_others():
    verdict = linsep.verdict_from_json(linsep.decide(GAPS, CROSSED, missing="drop").to_json())
    verdict.verify(GAPS, CROSSED)
    with pytest.raises(CertificateError, match="2 rows have missing values; the proof left out 1"):
        verdict.verify(GAPS.assign(v=[9.0, np.nan, 0, 1, 1]), CROSSED)


def test_a_row_that_was_left_out_proves_nothing():
    rows = MemoryRows(np.zeros((2, 1)), np.array([1, -1], np.int8), kept=np.array([0, 2]))
    assert rows.take([2, 0])[0].tolist() == [2, 0]
    with pytest.raises(CertificateError, match="names row 1, which was left out"):
        rows.take([0, 1])


@pytest.mark.parametrize("by", ["joint", "pairs"])
def test_many_classes_are_named_by_rows_of_the_whole_table(by):
    labels = ["a", *"aabc"]
    found = linsep.decide_classes(GAPS, labels, by=by, missing="drop")
    found.verify(GAPS, labels)
    assert "z" not in found.frame(GAPS).index and found.dropped == 1


def test_regions_and_mistakes_count_rows_that_were_dropped():
    twice = pd.concat([GAPS, GAPS[1:2].rename({"a": "e"})])
    labels = [*CROSSED, 1]
    regions = linsep.separate_regions(twice, labels, missing="drop")
    assert regions.mistaken_ids in (("a",), ("e",)) and regions.frame(twice)["row"].tolist() in ([1], [5])
    found = linsep.fewest_mistakes(twice, labels, cost=[1, 2, 2, 2, 2, 3], missing="drop")
    found.verify(twice, labels)
    assert "z" not in found.mistaken_ids and found.frame(twice).index.tolist() == list(found.mistaken_ids)


def test_regions_ask_for_rows_of_their_own_width_and_for_labels():
    regions = linsep.separate_regions(X, Y)
    with pytest.raises(LinsepError, match="3 columns"):
        regions.region(np.zeros((1, 3)))
    with pytest.raises(CertificateError, match="3 columns"):
        regions.verify(np.zeros((5, 3)), Y)
    with pytest.raises(ArgumentError, match="y is missing"):
        regions.verify(X)
    with pytest.raises(LinsepError):
        regions.region(np.full((1, 2), np.nan))
