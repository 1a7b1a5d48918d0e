"""Every family against its definition: all pairs written out, a slow simplex in Fractions, and LPs in floats.

python tests/test_likelihoods.py N SEED tries N random tables of each family.
"""

import sys
from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.optimize import linprog
from sklearn.datasets import load_iris

import linsep
import naive
from linsep import errors
from linsep.errors import ArgumentError, CertificateError
from test_mle import WORDS, independent, takes_sign
from textbooks import INFCOX, leukaemia, matched_pairs, wine

# ---------------------------------------------------------------------------------------------------
# The definitions: forms that must not be negative, each with the comparison that it is
# ---------------------------------------------------------------------------------------------------


def minus(a, b):
    return tuple(p - q for p, q in zip(a, b, strict=True))


def scores_of_class(x, k, n_classes):
    """The score of class k at x as a form in the coefficients of all classes but the first."""
    return tuple(v if c == k else Fraction(0) for c in range(1, n_classes) for v in x)


def forms(family, X, y, strata=None, time=None):
    """(form, what it compares): row and class, case and control, event and row at risk."""
    rows, n = [tuple(map(Fraction, row)) for row in X], len(y)
    with_one = [(Fraction(1), *row) for row in rows]
    if family == "binomial":  # successes and failures
        for i, row in enumerate(with_one):
            if y[i][0] > 0:
                yield row, (i, 1)
            if y[i][1] > 0:
                yield tuple(-v for v in row), (i, 0)
    elif family == "poisson":
        for i, row in enumerate(with_one):
            yield tuple(-v for v in row), (i, 0)
            if y[i] > 0:
                yield row, (i, 1)
    elif family == "multinomial":
        classes = sorted(set(y))
        for i, k in product(range(n), range(len(classes))):
            own = classes.index(y[i])
            if k != own:
                left, right = (scores_of_class(with_one[i], c, len(classes)) for c in (own, k))
                yield minus(left, right), (i, k)
    elif family == "ordinal":
        classes = sorted(set(y))
        for i, row in enumerate(rows):
            own, unit = classes.index(y[i]), np.eye(len(classes) - 1, dtype=int).tolist()
            if own < len(classes) - 1:
                yield (*map(Fraction, unit[own]), *(-v for v in row)), (i, 1)
            if own > 0:
                yield (*(Fraction(-v) for v in unit[own - 1]), *row), (i, 0)
    elif family == "conditional":
        for i, j in product(range(n), range(n)):
            if strata[i] == strata[j] and y[i] > y[j]:
                yield minus(rows[i], rows[j]), (i, j)
    else:
        for i, j in product(range(n), range(n)):
            if i != j and y[i] and time[j] >= time[i] and (strata is None or strata[i] == strata[j]):
                yield minus(rows[i], rows[j]), (i, j)


def separated(family, strict, compared, y):
    """The rows that are separated, by the definition of each family."""
    if family == "cox":
        return {j for k, (_, j) in enumerate(compared) if k in strict}
    if family != "conditional":
        return {i for k, (i, _) in enumerate(compared) if k in strict}
    touching = {row for k, pair in enumerate(compared) if k not in strict for row in pair}
    return {row for pair in compared for row in pair} - touching


def by_definition(family, X, y, **options):
    """The states and the separated rows, in Fractions."""
    Z, compared = zip(*forms(family, X, y, **options), strict=True)
    kept = independent(Z)
    reduced = [tuple(z[c] for c in kept) for z in Z]
    states = ["aliased"] * len(Z[0])
    for place, c in enumerate(kept):
        states[c] = WORDS[takes_sign(reduced, place, 1), takes_sign(reduced, place, -1)]
    if not kept:
        return states, set()
    found = naive.findings(reduced)
    strict = frozenset().union(*(each.rows for each in found if isinstance(each, naive.WeakSeparator)))
    return states, separated(family, strict, compared, y)


def agree(family, X, y, **options):
    report = linsep.mle_exists(X, y, family=family, **options)
    states, rows = by_definition(family, X, y, **options)
    assert list(report.coefficients.values()) == states
    assert set(report.separated_rows) == rows
    assert report.exists == (not rows)
    report.verify(X, y, **options)
    return report


def random_table(rng, family):
    """A small table with ties, dependent columns and numbers whose differences no double is."""
    n, d = int(rng.integers(4, 9)), int(rng.integers(1, 4))
    X = rng.integers(-1, 2, (n, d)).astype(float)
    if rng.random() < 0.4:
        X *= rng.choice([0.1, 0.7, 1.0, 3.0], (n, d))
    strata = rng.integers(0, 3, n) if family == "conditional" or (family == "cox" and rng.random() < 0.3) else None
    n_values = {"poisson": 3, "multinomial": 3, "ordinal": 4}.get(family, 2)
    y = rng.integers(0, n_values, n) * (rng.random(n) < rng.choice([0.3, 1.0]))
    if family == "binomial":
        y = rng.integers(0, 3, (n, 2)) * (rng.random((n, 2)) < 0.5)
    options = {} if strata is None else {"strata": strata}
    if family == "cox":
        options["time"] = rng.integers(0, int(rng.choice([4, 20])), n)
    return X, y, options


def is_a_question(family, X, y, options):
    if family in ("conditional", "cox"):
        return len(set(y.tolist())) == 2 and any(True for _ in forms(family, X, y, **options))
    return y.any() if family == "binomial" else len(set(y.tolist())) > 1


def tables(family, wanted, seed):
    rng = np.random.default_rng(seed)
    while wanted:
        X, y, options = random_table(rng, family)
        if is_a_question(family, X, y, options):
            wanted -= 1
            yield X, y, options


FAMILIES = ("binomial", "poisson", "multinomial", "ordinal", "conditional", "cox")


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_random_tables_agree_with_the_definition(family):
    seen = [agree(family, X, y, **options) for X, y, options in tables(family, 150, 1)]
    states = [state for report in seen for state in report.coefficients.values()]
    assert min(states.count(s) for s in ("finite", "+inf", "-inf", "undetermined", "aliased")) > 2
    assert {report.exists for report in seen} == {True, False}


@pytest.mark.parametrize("family", FAMILIES)
def test_a_few_random_tables_agree_with_the_definition(family):
    for X, y, options in tables(family, 12, 2):
        agree(family, X, y, **options)


# ---------------------------------------------------------------------------------------------------
# Textbooks, each coefficient checked by a pair of linear programs in floats
# ---------------------------------------------------------------------------------------------------


def by_programs(Z):
    """The states of independent columns: can a direction in the box raise a coefficient, can one lower it?"""
    Z, states = np.array(Z, float), []
    for aim in np.eye(Z.shape[1]):
        found = [linprog(sign * aim, A_ub=-Z, b_ub=np.zeros(len(Z)), bounds=(-1, 1)).fun for sign in (-1, 1)]
        states.append(WORDS[found[0] < -1e-7, found[1] < -1e-7])
    return states


def confirmed(family, X, y, **options):
    report = linsep.mle_exists(X, y, family=family, **options)
    assert list(report.coefficients.values()) == by_programs([z for z, _ in forms(family, X, y, **options)])
    report.verify(X, y, **options)
    return report


def test_the_wine_ratings_have_an_estimate_and_lose_it_without_the_warm_bottles_of_low_rating():
    X, y = wine()
    report = confirmed("ordinal", X, y)
    assert report.exists and list(report.coefficients) == ["1|2", "2|3", "3|4", "4|5", "x1", "x2"]
    kept = (X[:, 0] == 0) | (y == 5)
    assert confirmed("ordinal", X[kept], y[kept]).coefficients["x1"] == "+inf"


def test_iris_has_no_multinomial_estimate_because_of_setosa():
    X, y = load_iris(return_X_y=True)
    report = confirmed("multinomial", X, y)
    assert report.exists is False and set(report.coefficients.values()) == {"undetermined"}
    assert confirmed("multinomial", X[y > 0], y[y > 0]).exists


def test_the_monotone_likelihood_in_the_tests_of_survival():
    report = confirmed("cox", *INFCOX, time=np.arange(1, 13))
    assert report.coefficients == {"x1": "-inf", "x2": "-inf"}
    assert report.reasons == ("All 6 rows with x1 = 1 have no event.", "All 6 rows with x2 = 1 have no event.")


def test_the_leukaemia_trial_has_an_estimate():
    X, relapse, week = leukaemia()
    assert confirmed("cox", X, relapse, time=week).exists


@pytest.mark.parametrize(("discordant", "state"), [((37, 16), "finite"), ((37, 0), "+inf"), ((0, 3), "-inf")])
def test_matched_pairs_diverge_where_all_discordant_pairs_are_alike(discordant, state):
    """Agresti's pairs of myocardial infarction and diabetes: the estimate is log(37/16)."""
    X, y, strata = matched_pairs(*discordant)
    report = confirmed("conditional", X, y, strata=strata)
    assert report.coefficients == {"x1": state}
    assert len(report.separated_rows) == (0 if state == "finite" else 2 * max(discordant))
    assert bool(report.reasons) == (state != "finite")


def polynomial(levels):
    """R's contr.poly: orthogonal polynomials of the places 1, 2, ..., as doubles."""
    q, r = np.linalg.qr(np.vander(np.arange(levels) - (levels - 1) / 2, increasing=True))
    return (q * np.sign(np.diag(r)))[:, 1:]


def crossed(cells, codings):
    """All main effects and interactions of the factors."""
    columns = np.ones((len(cells), 1))
    for k, coding in enumerate(codings):
        own = np.column_stack([np.ones(len(cells)), coding[cells[:, k]]])
        columns = (columns[:, :, None] * own[:, None, :]).reshape(len(cells), -1)
    return columns


@pytest.mark.slow
def test_polynomial_contrasts_are_no_harder_than_dummies():
    """The saturated table of R's esoph: 88 of the 6·4·4 cells, 135 rows."""
    rng = np.random.default_rng(0)
    cells = np.array(list(product(range(6), range(4), range(4))))[rng.permutation(96)[:88]]
    cells = np.concatenate([cells, cells[:47]])
    y = np.concatenate([np.ones(88), np.zeros(47)])
    shape = (6, 4, 4)
    dummies, contrasts = (crossed(cells, [of(n) for n in shape]) for of in (lambda n: np.eye(n)[:, 1:], polynomial))
    reports = [linsep.mle_exists(X, y, bias=False, time_limit=60) for X in (dummies, contrasts)]
    assert all("unknown" not in report.coefficients.values() for report in reports)
    assert reports[0].separated_rows == reports[1].separated_rows == tuple(range(47, 88))


# ---------------------------------------------------------------------------------------------------
# Counts, weights, offsets, columns by name, and every kind of table
# ---------------------------------------------------------------------------------------------------

GROUPS = [[1], [2], [3]], [[2, 3], [0, 4], [5, 0]]


def test_counts_are_the_same_as_rows_one_by_one():
    X, counts = GROUPS
    rows = [(x, k) for x, pair in zip(X, counts, strict=True) for k in (0, 1) for _ in range(pair[1 - k])]
    one_by_one = linsep.mle_exists([x for x, _ in rows], [k for _, k in rows])
    for grouped in (linsep.mle_exists(*GROUPS), linsep.mle_exists(X, [2, 0, 5], trials=[5, 4, 5])):
        assert grouped.coefficients == one_by_one.coefficients and grouped.verdict.kind == one_by_one.verdict.kind
    assert linsep.mle_exists([[0], [1]], [[3, 0], [2, 2]]).separated_rows == (0,)


def test_weights_and_offsets_do_not_matter_but_a_weight_of_zero_leaves_the_row_out():
    X, y = [[0], [0], [1], [1]], [0, 1, 1, 0]
    plain = linsep.mle_exists(X, y)
    for options in ({"weights": [1, 2, 0.5, 9]}, {"offset": [5, -5, 1e3, 0]}):
        assert linsep.mle_exists(X, y, **options).coefficients == plain.coefficients
    report = linsep.mle_exists(X, y, weights=[1, 1, 1, 0])
    assert report.coefficients["x1"] == "+inf" and report.separated_rows == (2,)


@pytest.mark.parametrize("wrap", [np.asarray, sp.csr_array, lambda X: pd.DataFrame(X, columns=list("abc"))])
@pytest.mark.parametrize("family", FAMILIES)
def test_every_kind_of_table_gives_the_same_answer(wrap, family):
    X, y, options = next(tables(family, 1, 9))
    X = np.column_stack([X, np.arange(len(X)) % 2, np.arange(len(X)) % 3])[:, -3:]
    expected = linsep.mle_exists(X, y, list("abc"), family=family, **options)
    assert linsep.mle_exists(wrap(X), y, list("abc"), family=family, **options).states == expected.states


def test_columns_of_the_table_may_hold_times_and_strata():
    X, y = INFCOX
    frame = pd.DataFrame(X, columns=["a", "b"]).assign(weeks=np.arange(1, 13), site=0)
    report = linsep.mle_exists(frame, y, family="cox", time="weeks", strata="site")
    assert report.coefficients == {"a": "-inf", "b": "-inf"}
    report.verify(frame, y, time="weeks", strata="site")


def test_strata_may_be_text_and_integers_may_be_long():
    X = np.array([[2**60], [2**60 + 1], [5], [4]])
    report = linsep.mle_exists(X, [0, 1, 1, 0], family="conditional", strata=["a", "a", "b", "b"])
    assert report.coefficients == {"x1": "+inf"} and report.separated_rows == (0, 1, 2, 3)


def test_a_difference_that_no_double_is_changes_nothing():
    """0.3 - 0.1 is rounded: what is lost has a column of its own, and 0.1 + 0.2 is still more than 0.3."""
    X, strata = [[0.3, 1.0], [0.1, 1.0], [0.1 + 0.2, 0.1], [0.3, 0.1]], [0, 0, 1, 1]
    report = agree("conditional", np.array(X), np.array([1, 0, 1, 0]), strata=np.array(strata))
    assert report.coefficients == {"x1": "+inf", "x2": "aliased"}
    assert "x2 = 0 + a constant of each stratum" in report.explain()


def test_numbers_at_the_ends_of_the_range_of_doubles():
    """Differences that overflow: every stratum has a threshold instead."""
    X = np.array([[1.5e308, 1.0], [-1.5e308, 1.0], [3.0, 5e-324], [3.0, 0.0]])
    report = agree("conditional", X, np.array([1, 0, 1, 0]), strata=np.array([0, 0, 1, 1]))
    assert report.coefficients == {"x1": "+inf", "x2": "+inf"}


def test_many_rows_of_decimals_make_no_column_for_each_event():
    rng = np.random.default_rng(0)
    X, event = np.column_stack([rng.normal(size=(2000, 3)).round(3), rng.random(2000) < 0.01]), rng.integers(0, 2, 2000)
    event[X[:, 3] > 0] = 0
    report = linsep.mle_exists(X, event, family="cox", time=rng.random(2000))
    assert list(report.coefficients.values()) == ["finite"] * 3 + ["-inf"] and report.verdict.n_columns <= 8


def test_ordered_categories_have_an_order_and_text_has_none():
    y = pd.Series(pd.Categorical(["low", "high", "mid", "low"], ["low", "mid", "high"], ordered=True))
    X = [[1], [2], [1], [2]]
    assert list(linsep.mle_exists(X, y, family="ordinal").coefficients) == ["low|mid", "mid|high", "x1"]
    with pytest.raises(ArgumentError, match="order is not known"):
        linsep.mle_exists(X, ["low", "high", "mid", "low"], family="ordinal")


def test_an_integer_that_cannot_be_negated_is_refused():
    with pytest.raises(ArgumentError, match="smaller units"):
        linsep.mle_exists(np.array([[-(2**63)], [0], [1]]), [0, 1, 2], family="multinomial")


def test_a_column_called_intercept_is_a_column_of_its_own():
    X, y = pd.DataFrame({"(Intercept)": [1, 1, 1, 1], "x": [0, 0, 1, 1]}), [2, 3, 0, 0]
    report = linsep.mle_exists(X, y, family="poisson", bias=False)
    assert report.coefficients == {"(Intercept)": "finite", "x": "-inf"}
    report.verify(X, y)


def test_counts_that_are_all_zero_have_no_estimate():
    report = linsep.mle_exists([[0], [1]], [0, 0], family="poisson")
    assert report.coefficients["(Intercept)"] == "-inf" and report.separated_rows == (0, 1)


# ---------------------------------------------------------------------------------------------------
# Words, proofs, misuse
# ---------------------------------------------------------------------------------------------------

SAID = {
    "binomial": ([[1], [1], [0], [0]], ["died", "died", "died", "lived"], {}, "All 2 rows with site = 1 are 'died'."),
    "poisson": ([[1], [0], [0], [0]], [0, 2, 3, 0], {}, "The 1 row with site = 1 has y = 0."),
    "multinomial": ([[1], [1], [0], [0], [0]], list("abcab"), {}, "Of the 2 rows with site = 1, none is 'c'."),
    "ordinal": (
        [[1], [1], [0], [0], [0]],
        [3, 3, 1, 2, 3],
        {},
        "All 2 rows with site = 1 are of the highest class, 3.",
    ),
    "conditional": (
        [[1], [0], [1], [1]],
        [1, 0, 0, 1],
        {"strata": [1, 1, 2, 2]},
        "No case has less site than a control in its stratum.",
    ),
    "cox": ([[0], [1], [0], [1]], [1, 0, 1, 0], {"time": [1, 2, 3, 4]}, "All 2 rows with site = 1 have no event."),
}


@pytest.mark.parametrize("family", SAID)
def test_separation_by_one_column_is_said_in_plain_words(family):
    X, y, options, sentence = SAID[family]
    report = linsep.mle_exists(X, y, ["site"], family=family, **options)
    assert report.exists is False and sentence in report.explain()
    assert report.facts()["reasons"] == list(report.reasons) and report.facts()["family"] == family


MODELLED = {
    "binomial": "the probability that y is 'lived', against 'died'",
    "poisson": "the mean of y",
    "multinomial": "the class, y, each compared with the first, 'a'",
    "ordinal": "the class, y, in the order 1 < 2 < 3; a positive coefficient stands for higher classes",
    "conditional": "which rows of a stratum are cases, y being 1, against 0",
    "cox": "the hazard of an event, y being 1",
}


@pytest.mark.parametrize("family", SAID)
def test_what_is_modelled_is_said_before_the_geometry(family):
    X, y, options, _ = SAID[family]
    report = linsep.mle_exists(X, y, ["site"], family=family, **options)
    assert report.modelled == report.facts()["modelled"] == MODELLED[family]
    assert report.explain().splitlines()[1] == f"modelled: {MODELLED[family]}."


def test_the_label_that_is_modelled_has_the_name_of_its_column(tmp_path):
    (tmp_path / "d.csv").write_text("x,w,outcome\n1,1,a\n2,1,a\n3,1,b\n4,1,b\n")
    for options in ({}, {"weights": "w"}):
        source = linsep.open(tmp_path / "d.csv", label="outcome", positive="a")
        report = linsep.mle_exists(source, **options)
        assert report.modelled == "the probability that outcome is 'a', against 'b'"
        assert report.coefficients["x"] == "-inf"  # with weights the chosen label was once forgotten
    named = linsep.mle_exists([[1], [2]], pd.Series([3, 5], name="died"))
    assert named.modelled == "the probability that died is 5, against 3"


def test_a_column_of_a_file_is_said_in_plain_words_too(tmp_path):
    (tmp_path / "d.csv").write_text("site,age,y\n1,5,a\n1,2,a\n0,3,b\n0,4,a\n")
    report = linsep.mle_exists(linsep.open(tmp_path / "d.csv", label="y"))
    assert report.reasons[0] == "All 2 rows with site = 1 are 'a'."


def test_columns_that_a_formula_made_are_said_as_categories():
    X, y = [[1, 0], [1, 0], [0, 1], [0, 0], [0, 0]], ["lived", "lived", "died", "lived", "died"]
    report = linsep.mle_exists(X, y, ["C(site)[T.Chur]", "site[T.Bern]:ward[T.2]"])
    assert report.reasons == (
        "All 2 rows with site = Chur are 'lived'.",
        "The 1 row with site = Bern and ward = 2 is 'died'.",
    )


def test_a_threshold_is_said_in_plain_words():
    report = linsep.mle_exists([[1], [2], [3], [3], [4]], [0, 0, 0, 1, 1], ["dose"])
    assert report.reasons == (
        "Every row that is 1 has dose = 3 or more, and every row that is 0 has dose = 3 or less.",
    )


def test_the_direction_raises_the_likelihood():
    X, y = np.array([[0, 1], [0, 2], [1, 3], [1, 0]]), np.array([2, 3, 0, 0])
    report = linsep.mle_exists(X, y, family="poisson")
    w = np.array(list(report.direction.values()))
    scores = np.column_stack([np.ones(4), X]) @ w
    assert not scores[y > 0].any() and (scores[list(report.separated_rows)] < 0).all()
    assert linsep.mle_exists([[1], [2], [3]], [1, 2, 1], family="poisson").direction is None


@pytest.mark.parametrize("family", SAID)
def test_a_proof_does_not_hold_for_other_data(family):
    X, y, options, _ = SAID[family]
    report = linsep.mle_exists(X, y, family=family, **options)
    with pytest.raises(CertificateError):
        report.verify([[1 - x[0]] for x in X], y, **options)


@pytest.mark.parametrize(
    ("y", "options", "message"),
    [
        ([0, 1, 0], {"family": "gamma"}, "choose one of binomial"),
        ([0, 1, 0], {"family": "cox"}, "needs time="),
        ([0, 1, 0], {"family": "conditional"}, "needs strata="),
        ([0, 1, 0], {"strata": [1, 2, 3]}, "has no meaning for family='binomial'"),
        ([0, -1, 0], {"family": "poisson"}, "Row 1: y is -1"),
        ([0, 5, 0], {"trials": [1, 4, 1]}, "Row 1: 5 successes in 4 trials"),
        ([0, 1, 0], {"weights": [1, -1, 1]}, "Row 1: weights is -1"),
        ([0, 1, 0], {"weights": [0, 0, 0]}, "No row counts"),
        ([0, 1, 0], {"offset": "x9"}, "X has no column of that name"),
        (
            pd.Series([0, 1, 0], name="dose"),
            {"weights": "dose"},
            r"weights='dose': that is the label\. Name another column",
        ),
        ([0, 1, 0], {"offset": "x1"}, "No column of X is left"),
        ([1, 1, 1], {"family": "multinomial"}, "one class"),
        ([0, 1, 0], {"family": "conditional", "strata": [1, 2, 3]}, "No stratum has both"),
        ([0, 0, 0], {"family": "cox", "time": [1, 2, 3]}, "No event"),
        ([1, 2, 1], {"family": "cox", "time": [1, 2, 3]}, "Row 1: y is 2: for a Cox model it is 1 for an event"),
        ([[1, 2]] * 3, {"family": "poisson"}, "two columns"),
        (["a", "b", "a"], {"family": "poisson"}, "y is .a.: give a number"),
        (None, {"family": "poisson"}, "y is missing"),
    ],
)
def test_misuse_is_refused_with_a_reason(y, options, message):
    with pytest.raises(ArgumentError, match=message):
        linsep.mle_exists([[1], [2], [3]], y, **options)


# ---------------------------------------------------------------------------------------------------
# Rows of weight 0 supply neither classes nor levels
# ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("family", ["ordinal", "multinomial"])
def test_a_class_of_rows_of_weight_0_alone_is_no_class(family):
    X, y = [[0], [1], [0], [1]], [1, 1, 2, 2]
    without = linsep.mle_exists(X, y, family=family)
    for at in (0, 4):
        rows, classes, weights = [*X], [*y], [1, 1, 1, 1]
        for values, value in ((rows, [1]), (classes, 0), (weights, 0)):
            values.insert(at, value)
        report = linsep.mle_exists(rows, classes, family=family, weights=weights)
        assert report.exists and report.states == without.states and report.n_rows == 5
        report.verify(rows, classes, weights=weights)


def test_labels_of_rows_of_weight_0_alone_are_no_labels():
    X = [[0], [1], [0], [1], [1]]
    with pytest.raises(errors.OneClassError):
        linsep.mle_exists(X, [0, 0, 0, 0, 1], weights=[1, 1, 1, 1, 0])
    assert linsep.mle_exists(X, [0, 0, 1, 1, 2], weights=[1, 1, 1, 1, 0]).exists


LEVELS_AT_0 = pd.DataFrame(
    {"s": list("abcbcb"), "w": [0, 1, 1, 1, 1, 1], "y": [0, 0, 1, 1, 1, 0]}, index=list("ABCDEF")
)


def test_a_level_of_rows_of_weight_0_alone_is_no_level():
    frame, rest = LEVELS_AT_0, LEVELS_AT_0.iloc[1:]
    without = linsep.mle_exists(rest[["s"]], rest["y"])
    assert without.coefficients == {"(Intercept)": "finite", "s[c]": "+inf"}
    asked = [
        (frame[["s"]], frame["y"], {"weights": frame["w"]}),
        (frame[["s", "w"]], frame["y"], {"weights": "w"}),
        (frame[["s", "w"]], frame["y"] * frame["w"], {"trials": "w"}),
        (frame[["s"]], np.column_stack([frame["y"], 1 - frame["y"]]) * frame[["w"]].to_numpy(), {}),
    ]
    for X, y, options in asked:
        report = linsep.mle_exists(X, y, **options)
        assert report.states == without.states and report.reasons[0].startswith("All 2 rows with s = c ")
        assert report.separated_rows == (2, 4) and report.separated_ids == ("C", "E")
        assert np.isnan(report.limits().fitted[0]) and len(report.limits().fitted) == 6
        report.verify(X, y, **options)
    missing = linsep.mle_exists(
        frame.assign(x=[1, None, 1, 2, 3, 1])[["s", "x"]], frame["y"], weights=frame["w"], missing="drop"
    )
    assert list(missing.coefficients) == ["(Intercept)", "s[c]", "x"]


def test_a_level_of_rows_of_weight_0_alone_is_no_level_of_a_formula():
    frame = LEVELS_AT_0
    without = linsep.mle_exists("y ~ s", frame.iloc[1:])
    for weights in ("w", frame["w"].tolist()):
        report = linsep.mle_exists("y ~ s", frame, weights=weights)
        assert report.states == without.states and report.separated_ids == ("C", "E")
        report.verify("y ~ s", frame, weights=weights)


def test_a_fault_is_told_of_the_row_that_has_it_and_not_of_one_it_stands_in_for():
    frame = pd.DataFrame({"s": list("abcb"), "x": [1.0, 2.0, 3.0, float("nan")]})
    with pytest.raises(linsep.InputError, match="Row 3"):
        linsep.mle_exists(frame, [0, 1, 0, 1], weights=[0, 1, 1, 1])


if __name__ == "__main__":
    for each in FAMILIES:
        for some, outcomes, given in tables(each, int(sys.argv[1]), int(sys.argv[2])):
            agree(each, some, outcomes, **given)
        print(f"{each}: {sys.argv[1]} tables agree.", flush=True)
