"""The int64 LP against Fourier and Motzkin, on many thousand small instances, most of them degenerate."""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from linsep.solvers.exact.int64_lp import Tableau, TooLargeError, three_way

Rows = list[list[int]]


def obstructed_rows(rows: Rows) -> set[int]:
    """Find all rows with a positive weight in some Σ u_i z_i = 0, u >= 0: eliminate column by column.

    Each derived row remembers the rows it came from; rows derived in two ways remember both.
    """
    system: dict[tuple[int, ...], int] = {}
    for i, row in enumerate(rows):
        _note(system, row, 1 << i)
    for column in range(len(rows[0])):
        positive = [(row, mask) for row, mask in system.items() if row[column] > 0]
        negative = [(row, mask) for row, mask in system.items() if row[column] < 0]
        system = {row: mask for row, mask in system.items() if row[column] == 0}
        for p, p_mask in positive:
            for q, q_mask in negative:
                sums = [-q[column] * a + p[column] * b for a, b in zip(p, q, strict=True)]
                _note(system, sums, p_mask | q_mask)
    mask = next(iter(system.values()), 0)
    return {i for i in range(len(rows)) if mask >> i & 1}


def _note(system: dict[tuple[int, ...], int], row: list[int], mask: int) -> None:
    divisor = math.gcd(*row) or 1
    key = tuple(x // divisor for x in row)
    system[key] = system.get(key, 0) | mask


def rank(rows: Rows) -> int:
    """Gauss in Fractions."""
    left = [[Fraction(x) for x in row] for row in rows]
    found = 0
    for column in range(len(rows[0]) if rows else 0):
        pivot = next((row for row in left if row[column]), None)
        if pivot is None:
            continue
        left.remove(pivot)
        found += 1
        left = [[a - b * row[column] / pivot[column] for a, b in zip(row, pivot, strict=True)] for row in left]
    return found


def degenerate_rows(rng: random.Random) -> Rows:
    """Small integers, often with repeated, opposite, zero and collinear rows, and dependent columns."""
    n, columns, reach = rng.randint(1, 9), rng.randint(1, 4), rng.choice([1, 2, 2, 4])
    rows = [[rng.randint(-reach, reach) for _ in range(columns)] for _ in range(n)]
    lean = rng.choice([0, 0, 1, 1, 2])  # mostly on one side: separable and touching sets would be rare otherwise
    for row in rows:
        row[0] = abs(row[0]) + (lean == 2) if lean else row[0]
    if rng.random() < 0.3:
        rows[rng.randrange(n)] = [rng.choice([-2, -1, 0, 1, 2]) * x for x in rng.choice(rows)]
    if rng.random() < 0.05:
        rows[rng.randrange(n)] = [0] * columns
    if rng.random() < 0.2:
        for row in rows:
            row[-1] = row[0]
    return rows


def check(rows: Rows, outcome) -> None:
    """Check every claim of an outcome in Python's integers."""
    full = rank(rows)
    if outcome.kind != "separable":
        for found, limit in ((outcome.obstruction, full + 1), (outcome.spread, max(2 * full, 1))):
            assert min(found.weights) > 0 and 0 < len(found.rows) <= limit and math.gcd(*found.weights) == 1
            sums = [
                sum(u * rows[i][j] for i, u in zip(found.rows, found.weights, strict=True)) for j in range(len(rows[0]))
            ]
            assert not any(sums)
    if outcome.kind == "overlapping":
        assert rank([rows[i] for i in outcome.spread.rows]) == full
        return
    scores = [sum(a * b for a, b in zip(row, outcome.weights, strict=True)) for row in rows]
    if outcome.kind == "separable":
        assert min(scores) > 0
    else:
        assert {i for i, score in enumerate(scores) if score == 0} == obstructed_rows(rows)
        assert min(scores) == 0 < max(scores)


def expected_kind(rows: Rows) -> str:
    obstructed = obstructed_rows(rows)
    return "separable" if not obstructed else "overlapping" if len(obstructed) == len(rows) else "touching"


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_agrees_with_fourier_motzkin_on_degenerate_rows(seed):
    rng, kinds = random.Random(seed), Counter()
    for _ in range(5_000):
        rows = degenerate_rows(rng)
        outcome = three_way(np.array(rows))
        check(rows, outcome)
        assert outcome.kind == expected_kind(rows), rows
        kinds[outcome.kind] += 1
    assert min(kinds[kind] for kind in ("separable", "touching", "overlapping")) > 700


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sides", "separable"),
    [((2, 2), 14), ((2, 2, 2), 104), ((2, 2, 2, 2), 1882), ((3, 3), 58)],  # 4 x 4: `make torture`,
)
def test_counts_the_separable_labellings_of_cubes_and_grids(sides, separable):
    points = np.array([[*point, 1] for point in itertools.product(*map(range, sides))])
    labellings = ((1, *rest) for rest in itertools.product([-1, 1], repeat=len(points) - 1))  # the others are opposite
    kinds = Counter(three_way(points * np.array(y)[:, None]).kind for y in labellings)
    assert 2 * kinds["separable"] == separable


def test_a_zero_row_obstructs_alone_and_has_no_place_in_the_spread():
    outcome = three_way(np.array([[0, 0], [1, 0], [-1, 0]]))
    assert outcome.kind == "overlapping"
    assert outcome.obstruction.rows == (0,) and outcome.spread.rows == (1, 2)


def test_nothing_but_zero_rows_overlaps():
    outcome = three_way(np.zeros((2, 3), np.int64))
    assert outcome.kind == "overlapping" and outcome.spread.rows == (0,)


def test_no_rows_are_separable():
    assert three_way(np.zeros((0, 3), np.int64)).kind == "separable"


@pytest.mark.slow
def test_fifteen_columns_of_plus_and_minus_one_do_not_overflow():
    rng = np.random.default_rng(0)
    for _ in range(50):
        rows = rng.choice([-1, 1], (60, 15))
        outcome = three_way(rows)
        assert outcome is not None
        check(rows.tolist(), outcome)


@pytest.mark.parametrize("size", [2**8, 2**14, 2**20, 2**31, 2**40, 2**62, 2**63 - 1])
def test_large_entries_give_the_right_answer_or_overflow(size):
    rng, decided = random.Random(size), 0
    for _ in range(300):
        entries = [-size, -size + 1, -1, 0, 0, 0, 1, size - 1, size, rng.randint(-size, size)]
        rows = [[rng.choice(entries) for _ in range(4)] for _ in range(7)]
        outcome = three_way(np.array(rows, np.int64))
        if outcome is not None:
            decided += 1
            check(rows, outcome)
            assert outcome.kind == expected_kind(rows)
    assert decided > 0 or size >= 2**31


def test_a_spread_may_be_longer_than_64_bits():
    tableau = Tableau(np.array([[1, 0], [0, 1], [-1, 0]]))
    tableau.basis, tableau.is_free, tableau.spread = [0, 1], [True, True], {0: 1, 1: 2**50}
    tableau.obstruct(2, [2**40, 0])
    assert tableau.spread == {0: 1, 1: (2**40 + 1) * 2**50, 2: 1}


def test_numbers_beyond_62_bits_are_left_to_the_other_engine():
    tableau = Tableau(np.array([[2**40, 1], [1, 2**40]]))
    tableau.dual = [[2**40, 0], [0, 1]]
    with pytest.raises(TooLargeError):
        tableau.enter(0)


def test_the_smallest_int64_is_not_a_trap():
    outcome = three_way(np.array([[-(2**63), 1], [1, 1]], np.int64))
    assert outcome is None or outcome.kind == "separable"
