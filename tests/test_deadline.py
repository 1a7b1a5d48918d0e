"""Time limits hold in the phases that cannot be interrupted: they are not begun where they would take too long."""

import time

import numpy as np
import pytest
import scipy.sparse as sp
from flint import fmpz_mat
from numpy.random import default_rng

import linsep
from linsep import deadline, errors
from linsep.exact import independent_columns, nullspace, solve
from linsep.proofs.verdict_base import check
from linsep.solvers import scaling
from linsep.solvers.clock import Clock, OutOfTime
from linsep.solvers.exact.exact_lp import ExactLP
from linsep.solvers.peel import peel
from linsep.sources.inputs import as_source

TABLE = default_rng(0).integers(-99, 99, (60, 60)).tolist()
SPARE = 0.6  # seconds, on a machine that may be busy


def far_apart(n_rows, n_columns):
    """Rows whose sizes differ by hundreds of orders: as integers they are long."""
    rng = default_rng(1)
    X = rng.standard_normal((n_rows, n_columns)) * 10.0 ** rng.integers(-150, 150, (n_rows, 1))
    return X, rng.choice([-1, 1], n_rows)


def with_pairs(n_rows, n_columns, n_pairs):
    """Sparse rows, some of which occur with both labels."""
    rng = default_rng(2)
    X = sp.random_array((n_rows, n_columns), density=0.01, format="csr", rng=rng)
    y = rng.choice([-1, 1], n_rows)
    return sp.vstack([X, X[:n_pairs]]).tocsr(), np.append(y, -y[:n_pairs])


def seconds(ask):
    """What it took: a busy machine lengthens the one time, two threads the other."""
    start, own = time.perf_counter(), time.process_time()
    ask()
    return min(time.perf_counter() - start, time.process_time() - own)


def refused_above(most):
    def ask(needed):
        if needed > most:
            raise OutOfTime

    return deadline.limited(ask)


@pytest.mark.parametrize(
    "work",
    [
        lambda: solve(fmpz_mat(TABLE), fmpz_mat([[1]] * 60)),
        lambda: nullspace(fmpz_mat(TABLE[:50])),
        lambda: independent_columns(TABLE),
    ],
    ids=["solve", "nullspace", "independent_columns"],
)
def test_exact_algebra_is_not_begun_without_the_time_for_it(work):
    with refused_above(1e-6), pytest.raises(OutOfTime):
        work()
    with refused_above(60.0):
        work()


def test_a_small_rank_in_many_columns_needs_little_time():
    rng = default_rng(3)
    rows = (rng.integers(-(2**40), 2**40, (40, 7)) @ rng.integers(-9, 10, (7, 600))).tolist()
    lp = ExactLP(600)
    lp.add([*rows, *([-x for x in row] for row in rows)])
    with refused_above(1.0):
        assert lp.three_way().kind == "overlapping"


def test_an_outer_limit_is_in_force_again_after_an_inner_one():
    with refused_above(1.0):
        with refused_above(9.0):
            deadline.require(5.0)
        with pytest.raises(OutOfTime):
            deadline.require(5.0)
    assert not deadline.is_limited()


def test_nothing_is_left_of_a_clock_that_is_over():
    with Clock(0.0).limited(), pytest.raises(OutOfTime):
        deadline.require()


@pytest.mark.slow
@pytest.mark.parametrize("shape", [(900, 350), (900, 60), (300, 120)])
@pytest.mark.parametrize("ask", [linsep.decide, linsep.max_margin, linsep.mle_exists])
def test_long_integers_do_not_outlast_the_limit(shape, ask):
    X, y = far_apart(*shape)
    tries = (seconds(lambda: ask(X, y, time_limit=0.5)) for _ in range(3))  # the first may compile
    assert any(took < 0.5 + SPARE for took in tries)


def test_the_span_of_many_pairs_is_proved_in_no_time():
    X, y = with_pairs(600, 8003, 40)
    linsep.mle_exists(X, y, time_limit=0.5)  # compiles
    reports = []
    assert seconds(lambda: reports.append(linsep.mle_exists(X, y, time_limit=3))) < 3 + SPARE
    check(reports[0].verdict, as_source(X, y))
    assert reports[0].exists is False and reports[0].separated_rows is not None


def test_peeling_row_after_row_looks_at_the_clock():
    X = np.triu(default_rng(0).choice([-1.0, 1.0], (300, 300)))
    with pytest.raises(OutOfTime):
        peel(as_source(X, np.where(np.diag(X) > 0, 1, -1)), bias=False, clock=Clock(0.0))


# Memory -------------------------------------------------------------------------------------------


def flipped(n_rows, n_columns):
    rng = default_rng(8)
    X = sp.random_array((n_rows, n_columns), density=20 / n_columns, format="csr", rng=rng)
    X.data -= 0.5
    y = np.where(X @ rng.standard_normal(n_columns) > 0, 1, -1)
    return X, np.where(rng.random(n_rows) < 0.1, -y, y)


def test_a_proof_that_does_not_fit_says_how_much_memory_it_needs(monkeypatch):
    monkeypatch.setattr(scaling, "free_memory", lambda: 10**7)
    monkeypatch.setattr(scaling, "ALWAYS_THERE", 10**6)
    with pytest.raises(errors.OutOfMemoryError, match=r"proof of 1,6\d\d columns: that takes about 0\.0 GB"):
        linsep.decide(*flipped(8000, 1600))


@pytest.mark.parametrize("ask", [linsep.decide, lambda X, y: linsep.mle_exists(X, y).verdict])
def test_without_memory_an_obstruction_that_is_known_is_still_told(monkeypatch, ask):
    X, y = flipped(8000, 1600)
    monkeypatch.setattr(scaling, "free_memory", lambda: 10**7)
    monkeypatch.setattr(scaling, "ALWAYS_THERE", 10**6)
    verdict = ask(sp.vstack([X, X[:1]]).tocsr(), np.append(y, -y[0]))
    assert verdict.kind == "not-separable" and "GB" in verdict.reason


@pytest.mark.parametrize("limit", [0.02, 5.0])
def test_the_limit_that_is_told_is_the_one_that_was_given(monkeypatch, limit):
    """The part of it that was left when the margin was given up was told: 0 seconds."""

    def too_long(case, *_, **__):
        raise OutOfTime

    monkeypatch.setattr("linsep.questions.decide.Case.settle_while_reading", too_long)
    monkeypatch.setattr("linsep.questions.margin._widest", lambda search: None)
    verdict = linsep.max_margin([[0.0], [1.0]], [-1, 1], time_limit=limit)
    assert verdict.reason == f"The time limit of {limit:g} seconds was too short to prove anything."


def test_a_search_that_ends_long_before_its_limit_says_which_step_it_had_no_time_for(monkeypatch):
    def too_long(case, *_, **__):
        case.clock.require(1000.0)

    monkeypatch.setattr("linsep.questions.decide.Case.settle_while_reading", too_long)
    verdict = linsep.decide([[0.0], [1.0]], [-1, 1], time_limit=60)
    assert verdict.kind == "undecided"
    assert verdict.reason.startswith("The time limit of 60 seconds was too short to prove anything: after 0.")
    assert verdict.reason.endswith("seconds, the next step would have taken about 1000 more.")


@pytest.mark.parametrize(("seconds", "told"), [(0.02, "0.1"), (0.34, "0.3"), (9.44, "9.4"), (40.4, "40")])
def test_a_step_that_was_skipped_is_never_said_to_take_no_time(monkeypatch, seconds, told):
    def too_long(case, *_, **__):
        case.clock.refused = seconds
        raise OutOfTime

    monkeypatch.setattr("linsep.questions.decide.Case.settle_while_reading", too_long)
    verdict = linsep.decide([[0.0], [1.0]], [-1, 1], time_limit=60)
    assert verdict.reason.endswith(f"the next step would have taken about {told} more.")
