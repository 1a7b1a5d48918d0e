"""Every family against its definition: all pairs written out, a slow simplex in Fractions, and LPs in floats."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

import linsep
import naive
from test_mle import WORDS, independent, takes_sign

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
    if family == "poisson":
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
    options = {} if strata is None else {"strata": strata}
    if family == "cox":
        options["time"] = rng.integers(0, int(rng.choice([4, 20])), n)
    return X, y, options


def is_a_question(family, X, y, options):
    if family in ("conditional", "cox"):
        return len(set(y.tolist())) == 2 and any(True for _ in forms(family, X, y, **options))
    return len(set(y.tolist())) > 1


def tables(family, wanted, seed):
    rng = np.random.default_rng(seed)
    while wanted:
        X, y, options = random_table(rng, family)
        if is_a_question(family, X, y, options):
            wanted -= 1
            yield X, y, options


FAMILIES = ("poisson", "multinomial", "ordinal", "conditional", "cox")


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_random_tables_agree_with_the_definition(family):
    seen = [agree(family, X, y, **options) for X, y, options in tables(family, 220, 1)]
    states = [state for report in seen for state in report.coefficients.values()]
    assert min(states.count(s) for s in ("finite", "+inf", "-inf", "undetermined", "aliased")) > 2
    assert {report.exists for report in seen} == {True, False}


@pytest.mark.parametrize("family", FAMILIES)
def test_a_few_random_tables_agree_with_the_definition(family):
    for X, y, options in tables(family, 12, 2):
        agree(family, X, y, **options)
