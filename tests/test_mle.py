"""Logistic regressions whose estimate exists or not, against a slow oracle and against published answers."""

import io
import pickle
import time
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from rich.console import Console

import linsep
import naive
from linsep.errors import ArgumentError, NotFiniteError, OneClassError
from linsep.exact import PRIME
from linsep.questions import decide as decide_module
from linsep.questions.logistic.mle_report import Dependence
from linsep.solvers.clock import OutOfTime
from linsep.solvers.exact.recession import Cone
from linsep.solvers.min_norm import Shortest
from linsep.sources.calls import CallSource
from strategies import data_sets, random_small

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


@pytest.mark.slow
def test_random_degenerate_data_agree_with_the_oracle_and_no_state_is_rare():
    rng = np.random.default_rng(5)
    seen = [state for _ in range(200) for state in agree(*random_small(rng)).coefficients.values()]
    assert min(seen.count(s) for s in ("finite", "+inf", "-inf", "undetermined", "aliased")) > 20


@pytest.mark.slow
def test_the_way_of_many_rows_agrees_with_the_oracle(monkeypatch):
    """The working set, the contradictions and the samples, on data small enough for the oracle."""
    monkeypatch.setattr("linsep.questions.decide.FEW_ROWS", 0)
    monkeypatch.setattr("linsep.exact.FEW_CELLS", 0)
    monkeypatch.setattr("linsep.solvers.exact.recession.SAMPLE", 1)
    monkeypatch.setattr("linsep.solvers.exact.aliasing.SAMPLE", 1)
    rng = np.random.default_rng(6)
    for _ in range(100):
        agree(*random_small(rng, max_rows=14))


@pytest.mark.parametrize("is_solved", [True, False])
def test_floats_that_lie_change_nothing(monkeypatch, is_solved):
    """The questions about the cone are answered by integers, whatever the guess."""
    rng = np.random.default_rng(7)

    def lie(z, *_, **__):
        return Shortest(rng.normal(size=z.shape[1]), rng.random(len(z)), is_solved, not is_solved)

    monkeypatch.setattr("linsep.solvers.exact.recession.shortest", lie)
    monkeypatch.setattr("linsep.solvers.exact.recession.nearest_to_zero", lie)
    for _ in range(60):
        agree(*random_small(rng))


# ---------------------------------------------------------------------------------------------------
# Published answers
# ---------------------------------------------------------------------------------------------------

# What are complete and quasi-complete separation? UCLA Statistical Consulting; Agresti, Categorical Data Analysis.
UCLA_COMPLETE = [[1, 3], [2, 2], [3, -1], [3, -1], [5, 2], [6, 4], [10, 1], [11, 0]], [0, 0, 0, 0, 1, 1, 1, 1]
UCLA_QUASI = (
    [[1, 3], [2, 0], [3, -1], [3, 4], [3, 1], [4, 0], [5, 2], [6, 7], [10, 3], [11, 4]],
    [0, 0, 0, 0, 1, 1, 1, 1, 1, 1],
)
AGRESTI_COMPLETE = [[10], [20], [30], [40], [60], [70], [80], [90]], [0, 0, 0, 0, 1, 1, 1, 1]
AGRESTI_QUASI = [*AGRESTI_COMPLETE[0], [50], [50]], [*AGRESTI_COMPLETE[1], 0, 1]


def states(*data, **options):
    return tuple(linsep.mle_exists(*data, **options).coefficients.values())


def test_published_complete_separation():
    assert states(*AGRESTI_COMPLETE) == ("-inf", "+inf")
    assert states(*UCLA_COMPLETE) == ("-inf", "+inf", "undetermined")


def test_published_quasi_complete_separation():
    assert states(*AGRESTI_QUASI) == ("-inf", "+inf")
    assert linsep.mle_exists(*AGRESTI_QUASI).separated_rows == tuple(range(8))
    assert states(*UCLA_QUASI) == ("-inf", "+inf", "finite")


def test_published_overlap():
    report = linsep.mle_exists([[1], [2], [3], [4]], [0, 1, 0, 1])
    assert report.exists is True
    assert report.coefficients == {"(Intercept)": "finite", "x1": "finite"}
    assert report.separated_rows == ()


def ridge_estimate(X, y, penalty):
    """Newton's method on the log-likelihood less penalty·|w|²/2."""
    A = np.column_stack([np.ones(len(X)), X])
    w = np.zeros(A.shape[1])
    for _ in range(200):
        p = 1 / (1 + np.exp(-A @ w))
        w += np.linalg.solve((A.T * (p * (1 - p))) @ A + penalty * np.eye(len(w)), A.T @ (y - p) - penalty * w)
    return w


def test_estimates_with_a_fading_ridge_go_where_the_report_says():
    """An estimate that exists for every penalty, as the penalty fades, maximises the likelihood in the limit."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.random(60) < 0.1, rng.random(60) < 0.1, rng.normal(size=(60, 2))]).astype(float)
    y = np.where(X[:, 0] > 0, 1, np.where(X[:, 1] > 0, 0, rng.integers(0, 2, 60)))
    assert states(X, y) == ("finite", "+inf", "-inf", "finite", "finite")
    early, late = ridge_estimate(X, y, 1e-4), ridge_estimate(X, y, 1e-8)
    assert late[1] > early[1] + 5 > 5 and late[2] < early[2] - 5 < -5
    assert np.abs(late - early)[[0, 3, 4]].max() < 0.01


def test_a_coefficient_at_zero_in_the_box_lp_of_konis_still_diverges():
    """z = (1, 0) and (-2, 1): maximising the sum of scores over the box gives w = (0, 1), but w_1 = z_1·w grows."""
    assert states([[1, 0], [2, -1]], [1, 0], bias=False) == ("+inf", "+inf")


# ---------------------------------------------------------------------------------------------------
# Aliased columns
# ---------------------------------------------------------------------------------------------------


def test_aliased_columns_are_named_with_their_combination():
    X = np.array([[1, 2, 3, 7], [4, 5, 9, 7], [2, 8, 10, 7], [0, 1, 1, 7], [3, 3, 6, 7], [5, 1, 6, 7]])
    report = linsep.mle_exists(X, [0, 1, 0, 1, 0, 1], ["a", "b", "sum", "seven"])
    assert list(report.coefficients.values())[3:] == ["aliased", "aliased"]
    assert [str(each) for each in report.dependences] == ["sum = a + b", "seven = 7·(Intercept)"]
    assert "bias=False" in report.explain()


def test_the_words_of_a_dependence():
    assert str(Dependence("z", ())) == "z = 0"
    assert str(Dependence("z", (("a", Fraction(-1)), ("b", Fraction(-1, 2))))) == "z = -a - 1/2·b"
    assert (
        str(Dependence("z", (("a", Fraction(2) ** 3000), ("b", Fraction(1, 3**30))))) == "z = 2^3000·a + 4.85694e-15·b"
    )
    assert str(Dependence("z", tuple((f"x{k}", Fraction(1)) for k in range(10)))).endswith("+ ... (2 more terms)")


def test_an_intercept_inside_the_table_is_the_same_model():
    X, y = UCLA_QUASI
    assert states(np.column_stack([np.ones(10), X]), y, bias=False) == states(X, y)


def test_columns_that_vanish_modulo_the_prime_are_not_aliased():
    X = np.array([[0, 1], [PRIME, 0], [0, 2], [PRIME, 3], [0, 0]])
    report = linsep.mle_exists(X, [0, 1, 1, 0, 0])
    assert "aliased" not in report.coefficients.values()


def test_a_dependence_that_only_a_few_of_many_rows_break_is_none():
    X = np.zeros((5000, 3))
    X[:, 0], X[:, 1] = np.arange(5000), 2 * np.arange(5000)
    X[4321, 1] += 1
    report = linsep.mle_exists(X, np.arange(5000) % 2)
    assert [str(each) for each in report.dependences] == ["x3 = 0"]


def test_without_any_column_left_nothing_diverges():
    report = linsep.mle_exists(np.zeros((4, 2)), [0, 1, 0, 1], bias=False)
    assert report.exists and set(report.coefficients.values()) == {"aliased"}


def test_more_columns_than_rows():
    rng = np.random.default_rng(2)
    seen = states(rng.normal(size=(12, 40)), np.arange(12) % 2)
    assert seen[:12] == ("undetermined",) * 12 and seen[12:] == ("aliased",) * 29


# ---------------------------------------------------------------------------------------------------
# Many rows, and every kind of table
# ---------------------------------------------------------------------------------------------------


def many_rows(rng, n=20_000):
    """Numbers, a rare category with one outcome only, and its copy."""
    X = rng.normal(size=(n, 6))
    X[:, 2] = rng.random(n) < 0.002
    y = (rng.random(n) < 1 / (1 + np.exp(-X[:, 0]))).astype(int)
    y[X[:, 2] > 0] = 0
    return np.column_stack([X, 2 * X[:, 2]]), y


def test_a_rare_category_among_many_rows():
    X, y = many_rows(np.random.default_rng(3))
    report = linsep.mle_exists(X, y)
    assert tuple(report.coefficients.values()) == (*["finite"] * 3, "-inf", *["finite"] * 3, "aliased")
    assert report.separated_rows == tuple(np.flatnonzero(X[:, 2]).tolist())
    report.verdict.verify(X, y)


def test_many_separable_rows_leave_no_choice():
    rng = np.random.default_rng(4)
    X, w = rng.normal(size=(20_000, 5)), np.array([3.0, -2.0, 1.0, -1.0, 2.0])
    assert states(X, X @ w > 0.5) == ("-inf", "+inf", "-inf", "+inf", "-inf", "+inf")


@pytest.mark.parametrize(
    "wrap",
    [
        np.asfortranarray,
        sp.csr_array,
        sp.coo_matrix,
        lambda X: pd.DataFrame(X, columns=list("abcdefg")),
        lambda X: pl.DataFrame(X, orient="row"),
    ],
)
def test_every_kind_of_table_gives_the_same_answer(wrap):
    X, y = many_rows(np.random.default_rng(3), 2000)
    assert states(wrap(X), y) == states(X, y)


def test_a_source_of_several_parts_gives_the_same_answer():
    X, y = many_rows(np.random.default_rng(3), 2000)
    cuts = [0, 1, 700, 2000]
    parts = [(X[a:b], 2 * y[a:b] - 1) for a, b in pairwise(cuts)]
    assert states(CallSource(lambda: parts)) == states(X, y)


def test_swapped_labels_swap_the_signs_and_powers_of_two_change_nothing():
    X, y = np.array(UCLA_COMPLETE[0], dtype=float), np.array(UCLA_COMPLETE[1])
    assert states(X, 1 - y) == ("+inf", "-inf", "undetermined")
    assert states(X * [2.0**-1060, 2.0**900], y) == states(X, y)


# ---------------------------------------------------------------------------------------------------
# Names, misuse, time, and the report as a value
# ---------------------------------------------------------------------------------------------------


def test_names_come_from_the_dataframe_or_the_caller():
    X, y = UCLA_QUASI
    frame = pd.DataFrame(X, columns=["dose", "age"])
    assert list(linsep.mle_exists(frame, y).coefficients) == ["(Intercept)", "dose", "age"]
    assert list(linsep.mle_exists(frame, y, ["a", "b"]).coefficients) == ["(Intercept)", "a", "b"]
    assert "dose" in linsep.mle_exists(frame, y).verdict.explain()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"names": ["a"]}, "1 names for 2 columns"),
        ({"names": ["a", "a"]}, "2 columns are called 'a'"),
        ({"names": ["a", "(Intercept)"]}, "bias=False"),
        ({"time_limit": -1}, "time_limit"),
    ],
)
def test_misuse_is_refused_with_a_reason(options, message):
    with pytest.raises(ArgumentError, match=message.replace("(", r"\(").replace(")", r"\)")):
        linsep.mle_exists(*UCLA_QUASI, **options)


def test_a_column_called_intercept_is_fine_without_bias():
    X, y = UCLA_QUASI
    names = ["(Intercept)", "X1", "X2"]
    assert list(linsep.mle_exists(np.column_stack([np.ones(10), X]), y, names, bias=False).coefficients) == names


def test_bad_data_are_refused_by_name():
    with pytest.raises(NotFiniteError, match="Row 1"):
        linsep.mle_exists([[1.0], [np.inf], [2.0]], [0, 1, 1])
    with pytest.raises(OneClassError):
        linsep.mle_exists([[1.0], [2.0]], [1, 1])


def test_out_of_time_nothing_is_claimed():
    rng = np.random.default_rng(0)
    report = linsep.mle_exists(rng.normal(size=(3000, 30)), rng.integers(0, 2, 3000), time_limit=0)
    assert report.exists is None and report.separated_rows is None
    assert set(report.coefficients.values()) == {"unknown"}
    assert report.explain().startswith("Not decided.") and "It is not known" in report.explain()


def test_out_of_time_after_peeling_it_is_still_known_that_there_is_no_estimate(monkeypatch):
    """The rest has an obstruction; the search for all separated rows runs out of time."""
    settle = decide_module.Case.settle

    def late(case):
        if case.maximal:
            raise OutOfTime
        return settle(case)

    monkeypatch.setattr(decide_module.Case, "settle", late)
    X, y = many_rows(np.random.default_rng(3), 2000)
    report = linsep.mle_exists(X, y)
    assert report.exists is False and report.verdict.kind == "touching" and report.separated_rows is None
    assert set(report.coefficients.values()) == {"unknown"}
    assert "some of the 2,000 rows" in report.explain()


def test_out_of_time_the_coefficients_found_so_far_are_kept(monkeypatch):
    """The second question about the cone comes too late: what the first one settled is told."""
    member, asked = Cone.member, []

    def late(cone, form):
        asked.append(form)
        if len(asked) > 1:
            raise OutOfTime
        return member(cone, form)

    rows, y = [[-1, 3, -2], [-2, 1, 1], [-3, -3, -1], [2, -1, 2], [-1, -2, 2], [3, -3, -3]], [0, 0, 0, 1, 1, 0]
    whole = linsep.mle_exists(rows, y).coefficients
    monkeypatch.setattr(Cone, "member", late)
    part = linsep.mle_exists(rows, y).coefficients
    assert len(asked) == 2 and "unknown" in part.values() and set(part.values()) != {"unknown"}
    assert all(state in ("unknown", whole[name]) for name, state in part.items())


def test_columns_past_counting_leave_the_coefficients_unknown(monkeypatch):
    monkeypatch.setattr("linsep.solvers.exact.aliasing.MOST_BITS", 0)
    report = linsep.mle_exists([[1, 1, 2], [2, 2, 1], [3, 3, 2], [4, 4, 1]], [0, 1, 0, 1])
    assert report.verdict.kind == "separable" and set(report.coefficients.values()) == {"unknown"}
    assert "fewer columns" in report.explain()


def test_the_report_says_what_happened_and_what_to_do():
    quasi = linsep.mle_exists(*UCLA_QUASI, ["dose", "age"]).explain()
    assert "quasi-complete separation" in quasi and "7 of the 10 rows" in quasi
    assert "+infinity: dose." in quasi and "Finite nevertheless: age." in quasi and "Firth" in quasi
    complete = linsep.mle_exists(*UCLA_COMPLETE).explain()
    assert "complete separation" in complete and "quasi" not in complete and "Undetermined: x2." in complete
    assert "exists and is unique" in linsep.mle_exists([[1], [2], [3], [4]], [0, 1, 0, 1]).explain()


def test_rows_with_counts_have_successes_or_failures_only():
    assert linsep.mle_exists([[0], [3], [3]], [[1, 1], [3, 0], [1, 0]], ["x"]).reasons == (
        "All 2 rows with x = 3 have successes only.",
    )
    assert linsep.mle_exists([[0], [1], [3]], [0, 0, 2], ["x"], trials=[2, 1, 2]).reasons == (
        "Every row with successes has x = 3 or more, and every row with failures has x = 1 or less.",
    )


@pytest.mark.parametrize("family", ["poisson", "cox"])
def test_text_in_the_place_of_numbers_is_named_with_its_column_and_row(family):
    died, time = pd.Series(["0", "1", "yes"], name="died"), {"time": [1, 2, 3]} if family == "cox" else {}
    with pytest.raises(ArgumentError, match=r"^Row 2: died is 'yes': give a number for each row"):
        linsep.mle_exists([[0], [1], [2]], died, family=family, **time)


def test_the_report_is_a_value():
    report = linsep.mle_exists(*UCLA_QUASI)
    assert pickle.loads(pickle.dumps(report)) == report
    assert isinstance(hash(report), int)
    with pytest.raises(AttributeError):
        report.verdict = None


def test_names_are_escaped_in_html_and_shown_as_they_are_by_rich():
    report = linsep.mle_exists(*UCLA_QUASI, ["<script>", "[red]"])
    assert "&lt;script&gt;" in report._repr_html_() and "<script>" not in report._repr_html_()
    console = Console(width=200, record=True, file=io.StringIO())
    console.print(report)
    assert "[red]" in console.export_text()


def test_a_report_says_how_many_rows_were_left_out():
    assert linsep.mle_exists([[0.0], [None], [1.0], [0.5]], [0, 1, 1, 0], missing="drop").rows_left_out == 1


@pytest.mark.slow
def test_many_columns_beside_a_few_rows_of_both_labels_keep_to_the_time():
    random = np.random.default_rng(1)
    w = random.integers(1, 4, 200)
    X, on = random.integers(-20, 21, (400, 200)), random.integers(-20, 21, (5, 200))
    w[-1], X[:, -1] = 1, np.abs(X[:, -1]) + 1
    on[:, -1] = -(on[:, :-1] @ w[:-1])  # these lie on the hyperplane, once with each label
    y = np.where(X @ w >= 0, 1, -1)
    rows, labels = np.vstack([X[X @ w != 0], on, on]), np.r_[y[X @ w != 0], np.ones(5), -np.ones(5)]
    started = time.process_time()
    report = linsep.mle_exists(rows, labels, bias=False, time_limit=10)
    assert report.verdict.kind == "touching" and time.process_time() - started < 10.5
    assert {state for _, state in report.states} <= {"undetermined", "+inf", "-inf", "finite"}


def test_a_column_that_is_constant_where_rows_count_is_no_reason():
    X, y = [[1, 1], [1, 2], [2, 3], [1, 4]], [0, 1, 0, 1]
    report = linsep.mle_exists(X, y, ["const", "x"], bias=False, weights=[1, 1, 0, 1])
    assert report.coefficients == {"const": "-inf", "x": "+inf"}
    assert report.reasons == ("Every row that is 1 has x = 2 or more, and every row that is 0 has x = 1 or less.",)
