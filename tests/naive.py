"""The slow, obvious answer to every question that linsep answers fast.

All arithmetic is in Fractions, a float standing for exactly the number it holds, and each method is
short enough to be checked by eye. Nothing here imports linsep: this is what linsep is measured against.

    z_i         the signed, homogenised row y_i·(x_i, 1), or y_i·x_i with bias=False
    s_i         the signed score z_i·w
    weak        a vector w with s_i >= 0 for every row and s_i > 0 for at least one
    obstruction weights u >= 0, not all zero, with Σ u_i z_i = 0

The fact behind `decide` (Gordan 1873, Tucker 1956): for each row there is either a weak separator with
s_i > 0 or an obstruction with u_i > 0, never both. They exclude each other because
0 = (Σ u_k z_k)·w = Σ u_k s_k, a sum of terms that are not negative.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import isfinite
from typing import Any, Literal

import numpy as np

Kind = Literal["separable", "touching", "overlapping"]
Vector = tuple[Fraction, ...]

ZERO, ONE = Fraction(0), Fraction(1)


def exact(value: Any) -> Fraction:
    """The number itself. NumPy scalars are unwrapped first: their integers would wrap around.

    >>> exact(0.1) == Fraction(1, 10)
    False
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not isfinite(value):
        raise ValueError(f"{value} is not a number that a row can hold")
    return Fraction(value)


def exact_rows(X: Any) -> list[Vector]:
    """The rows of a table (array or nested lists), exactly."""
    return [tuple(exact(value) for value in row) for row in X]


def exact_labels(y: Any) -> list[int]:
    """The labels as the integers -1 and +1; anything else is a mistake of the test."""
    labels = [int(label) for label in y]
    if not set(labels) <= {-1, 1}:
        raise ValueError(f"labels are -1 and +1, not {sorted(set(labels))}")
    return labels


def signed_rows(X: Any, y: Any, bias: bool = True) -> list[Vector]:
    """z_i = y_i·(x_i, 1), the bias column last; y_i·x_i without a bias.

    >>> [tuple(map(int, z)) for z in signed_rows([[2, 3], [4, 5]], [1, -1])]
    [(2, 3, 1), (-4, -5, -1)]
    """
    tail = (ONE,) if bias else ()
    return [
        tuple(label * value for value in (*row, *tail))
        for row, label in zip(exact_rows(X), exact_labels(y), strict=True)
    ]


def dot(a: Sequence[Fraction], b: Sequence[Fraction]) -> Fraction:
    return sum((p * q for p, q in zip(a, b, strict=True) if p and q), ZERO)


def combine(weights: Sequence[Fraction], rows: Sequence[Vector]) -> Vector:
    """Σ weights_i · rows_i."""
    return tuple(dot(weights, column) for column in zip(*rows, strict=True))


# ---------------------------------------------------------------------------------------------------
# Deciding: the simplex method on the cone of weak separators
# ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class WeakSeparator:
    """A vector with no negative score, and the rows whose score it makes positive."""

    w: Vector
    rows: frozenset[int]


@dataclass(frozen=True)
class Obstruction:
    """Weights >= 0, one for each row of the data, whose combination is zero; and the rows that have one."""

    weights: Vector
    rows: frozenset[int]


class Dictionary:
    """Every variable of s = Z·w, written in terms of a few independent ones (Chvátal's dictionary).

    Variable i < n is the score s_i, which must stay >= 0; variable n + j is the weight w_j, which is free.
    `value[v]` holds the coefficients of a dependent variable v over the independent ones in `columns`.
    There are no constants: w = 0 with all scores 0 is always feasible, and no exchange moves away from it.
    """

    def __init__(self, Z: Sequence[Vector]) -> None:
        self.n, self.D = len(Z), len(Z[0])
        self.value: dict[int, list[Fraction]] = {i: list(z) for i, z in enumerate(Z)}
        self.columns = [self.n + j for j in range(self.D)]
        # Gaussian elimination: trade each weight for a score that depends on it. A weight that no score
        # depends on any more stays behind as a column of zeros, and is left at 0.
        for j in range(self.D):
            dependent = [i for i in self.value if i < self.n and self.value[i][j]]
            if dependent:
                self.exchange(dependent[0], j)

    def exchange(self, leaving: int, c: int) -> None:
        """Solve the equation of `leaving` for the variable of column c, and put the result in everywhere."""
        equation = self.value.pop(leaving)
        entering, self.columns[c] = self.columns[c], leaving
        solved = [-a / equation[c] if a else ZERO for a in equation]
        solved[c] = 1 / equation[c]
        for row in self.value.values():
            factor, row[c] = row[c], ZERO
            if factor:
                for k, a in enumerate(solved):
                    if a:
                        row[k] += factor * a
        self.value[entering] = solved

    def raise_score(self, i: int) -> WeakSeparator | Obstruction:
        """Maximise s_i over all w with no negative score: it is unbounded, or it is stuck at 0.

        Both choices take the lowest index (Bland 1977), so no dictionary comes twice and the loop ends.
        """
        if i in self.columns:
            c = self.columns.index(i)
            if (leaving := self.first_to_fall(c)) is None:
                return self.ray(c)
            self.exchange(leaving, c)
        while True:
            objective = self.value[i]
            rising = [(v, c) for c, v in enumerate(self.columns) if objective[c] > 0]
            if not rising:
                return self.stuck(i)
            _, c = min(rising)
            if (leaving := self.first_to_fall(c)) is None:
                return self.ray(c)
            self.exchange(leaving, c)

    def first_to_fall(self, c: int) -> int | None:
        """The first dependent score that turns negative when the variable of column c grows."""
        return min((v for v, row in self.value.items() if v < self.n and row[c] < 0), default=None)

    def ray(self, c: int) -> WeakSeparator:
        """Nothing falls when column c grows: set it to 1, the other columns to 0, and read off w."""
        at = {v: row[c] for v, row in self.value.items()} | {self.columns[c]: ONE}
        w = tuple(at.get(self.n + j, ZERO) for j in range(self.D))
        return WeakSeparator(w, frozenset(v for v, score in at.items() if v < self.n and score > 0))

    def stuck(self, i: int) -> Obstruction:
        """s_i = Σ a_c s_c with every a_c <= 0 holds for all w, so z_i + Σ (-a_c) z_c = 0."""
        u = {v: -a for v, a in zip(self.columns, self.value[i], strict=True) if a} | {i: ONE}
        return Obstruction(tuple(u.get(k, ZERO) for k in range(self.n)), frozenset(u))


def findings(Z: Sequence[Vector]) -> Iterator[WeakSeparator | Obstruction]:
    """Weak separators and obstructions until every row is in one of them, each checked before it is given."""
    dictionary = Dictionary(Z)
    open_rows = set(range(len(Z)))
    while open_rows:
        found = dictionary.raise_score(min(open_rows))
        check(Z, found)
        open_rows -= found.rows
        yield found


def check(Z: Sequence[Vector], found: WeakSeparator | Obstruction) -> None:
    """Hold a finding against the rows, whatever led to it."""
    if isinstance(found, Obstruction):
        assert found.rows == {i for i, u in enumerate(found.weights) if u > 0}
        assert found.rows and min(found.weights) >= 0
        assert not any(combine(found.weights, Z))
    else:
        scores = [dot(z, found.w) for z in Z]
        assert found.rows == {i for i, score in enumerate(scores) if score > 0}
        assert found.rows and min(scores) >= 0


def decide(X: Any, y: Any, bias: bool = True) -> Kind:
    """Can a hyperplane separate the classes?

    >>> decide([[0], [1]], [-1, 1]), decide([[0], [0], [1]], [-1, 1, 1]), decide([[0], [1], [2]], [1, -1, 1])
    ('separable', 'touching', 'overlapping')
    """
    seen = set()
    for found in findings(signed_rows(X, y, bias)):
        seen.add(type(found))
        if len(seen) == 2:
            return "touching"
    return "separable" if seen == {WeakSeparator} else "overlapping"


def is_separable(X: Any, y: Any, bias: bool = True) -> bool:
    """Whether every row can be on its side at once: no row is in an obstruction."""
    return all(isinstance(found, WeakSeparator) for found in findings(signed_rows(X, y, bias)))


def fewest_mistakes(X: Any, y: Any, costs: Sequence[int], bias: bool = True) -> int:
    """The least cost of rows without which a hyperplane separates the others: every set of rows is tried.

    >>> fewest_mistakes([[0], [1], [2]], [1, -1, 1], [1, 1, 1])
    1
    """
    Z, rows = signed_rows(X, y, bias), range(len(y))
    sets = (wrong for size in range(len(y) + 1) for wrong in combinations(rows, size))
    for wrong in sorted(sets, key=lambda wrong: sum(costs[i] for i in wrong)):
        if not any(isinstance(found, Obstruction) for found in findings([Z[i] for i in rows if i not in wrong])):
            return sum(costs[i] for i in wrong)
    raise AssertionError("without any rows, all are separated")


def weak_separated_rows(X: Any, y: Any, bias: bool = True) -> frozenset[int]:
    """The rows that some weak separator puts strictly on their side.

    One vector does it for all of them: the sum of the weak separators found.
    """
    return frozenset[int]().union(
        *(found.rows for found in findings(signed_rows(X, y, bias)) if isinstance(found, WeakSeparator))
    )


# ---------------------------------------------------------------------------------------------------
# The same answers by enumeration: for tiny data, and to catch a wrong simplex
# ---------------------------------------------------------------------------------------------------


def solve(A: Sequence[Sequence[Fraction]], b: Sequence[Fraction]) -> Vector | None:
    """The only solution of a square system; None where there is none, or more than one."""
    rows = [[*row, right] for row, right in zip(A, b, strict=True)]
    for j in range(len(rows)):
        pivot = next((i for i in range(j, len(rows)) if rows[i][j]), None)
        if pivot is None:
            return None
        rows[j], rows[pivot] = rows[pivot], rows[j]
        rows[j] = [a / rows[j][j] for a in rows[j]]
        for i, row in enumerate(rows):
            if i != j and row[j]:
                rows[i] = [a - row[j] * p for a, p in zip(row, rows[j], strict=True)]
    return tuple(row[-1] for row in rows)


def null_vectors(rows: Sequence[Vector]) -> list[Vector]:
    """A basis of the weights u with Σ u_i rows_i = 0: eliminate while remembering how each row was made."""
    count = len(rows)
    left = [[*row, *(ONE if k == i else ZERO for k in range(count))] for i, row in enumerate(rows)]
    D = len(rows[0])
    for j in range(D):
        pivot = next((row for row in left if row[j]), None)
        if pivot is not None:
            left = [
                [a - row[j] / pivot[j] * p for a, p in zip(row, pivot, strict=True)] if row[j] else row
                for row in left
                if row is not pivot
            ]
    return [tuple(row[D:]) for row in left]


def minimal_obstructions(X: Any, y: Any, bias: bool = True) -> list[Obstruction]:
    """Every obstruction none of whose rows can be left out, found by trying all sets of at most D + 1 rows.

    The rows of a minimal obstruction have exactly one combination that is zero, up to a factor: with two,
    their difference could cancel a row. Every obstruction is a sum of minimal ones, so together they hold
    exactly the rows that no weak separator puts strictly on their side.
    """
    Z = signed_rows(X, y, bias)
    found = []
    for size in range(1, min(len(Z), len(Z[0]) + 1) + 1):
        for rows in combinations(range(len(Z)), size):
            null = null_vectors([Z[i] for i in rows])
            if len(null) == 1 and (min(null[0]) > 0 or max(null[0]) < 0):
                u = dict(zip(rows, (abs(a) for a in null[0]), strict=True))
                found.append(Obstruction(tuple(u.get(i, ZERO) for i in range(len(Z))), frozenset(rows)))
    return found


def max_margin_squared(X: Any, y: Any) -> Fraction:
    """gamma², the square of the largest margin, bias free: a quarter of the squared distance of the hulls.

    Zero where the classes cannot be separated. Of the nearest pairs of points of the two hulls take one
    that uses the fewest rows. On those rows the weights solve the equations of "nearest" (`nearest_on`),
    and solve them alone: a second solution would allow to move until a weight vanishes, at the same
    distance. So the smallest distance over all sets of at most d + 2 rows is the distance of the hulls.
    """
    rows, labels = exact_rows(X), exact_labels(y)
    distances = [
        squared
        for size in range(2, len(rows[0]) + 3)
        for chosen in combinations(range(len(rows)), size)
        if len({labels[i] for i in chosen}) == 2
        if (squared := nearest_on([rows[i] for i in chosen], [labels[i] for i in chosen])) is not None
    ]
    if not distances:
        raise ValueError("a margin needs rows of both classes")
    return min(distances) / 4


def novikoff(X: Any, y: Any, bias: bool = True) -> tuple[Fraction, Fraction]:
    """R² and gamma² of the homogenised rows; gamma is the distance of 0 from the hull of the signed rows.

    >>> novikoff([[1], [-1]], [1, -1], bias=False)
    (Fraction(1, 1), Fraction(1, 1))
    """
    Z = signed_rows(X, y, bias)
    origin = (ZERO,) * len(Z[0])
    return max(dot(z, z) for z in Z), 4 * max_margin_squared([*Z, origin], [1] * len(Z) + [-1])


def nearest_on(rows: Sequence[Vector], labels: Sequence[int]) -> Fraction | None:
    """|Σ u_i y_i x_i|² at its stationary point over weights that sum to 1 in each class.

    None where that point is not unique or a weight is not positive: fewer rows will do then.
    """
    n = len(rows)
    signed = [tuple(label * a for a in row) for row, label in zip(rows, labels, strict=True)]
    positive = [Fraction(label > 0) for label in labels]
    negative = [ONE - p for p in positive]
    # Lagrange: Σ_k (v_i·v_k) u_k = the multiplier of the class of i; the weights of each class sum to 1.
    A = [[*(dot(v, t) for t in signed), -p, -q] for v, p, q in zip(signed, positive, negative, strict=True)]
    A += [[*positive, ZERO, ZERO], [*negative, ZERO, ZERO]]
    solution = solve(A, [ZERO] * n + [ONE, ONE])
    if solution is None or min(solution[:n]) <= 0:
        return None
    gap = combine(solution[:n], signed)
    return dot(gap, gap)


# ---------------------------------------------------------------------------------------------------
# The Perceptron and the scan
# ---------------------------------------------------------------------------------------------------

Update = tuple[int, Vector, Fraction]


def perceptron(
    X: Any,
    y: Any,
    order: Literal["cyclic", "restart"] = "cyclic",
    bias: bool = True,
    max_updates: int = 10_000,
) -> list[Update]:
    """The updates as (row, w, b) with the weights after each, until no row is a mistake.

    Start from zero; at a row with y·(w·x + b) <= 0 add y·x to w and y to b. Then go on with the next row,
    round and round ("cyclic"), or begin again at the first ("restart"). On rows that cannot be separated
    it never stops by itself: `max_updates` ends it.
    """
    rows, labels = exact_rows(X), exact_labels(y)
    w: Vector = (ZERO,) * len(rows[0])
    b = ZERO
    updates: list[Update] = []
    position = clean = 0
    while clean < len(rows) and len(updates) < max_updates:
        i = position
        x, label = rows[i], labels[i]
        position, clean = (i + 1) % len(rows), clean + 1
        if label * (dot(w, x) + b) <= 0:
            w = tuple(a + label * value for a, value in zip(w, x, strict=True))
            b += label if bias else 0
            updates.append((i, w, b))
            clean = 0
            if order == "restart":
                position = 0
    return updates


@dataclass(frozen=True)
class Scan:
    """What one look at every row tells about (w, b)."""

    mistakes: int
    least_positive: Fraction | None  # the smallest signed score y·(w·x + b) of the class; None without rows
    least_negative: Fraction | None
    radius_squared: Fraction  # max |z|², with the 1 of the bias where there is one


def scan(X: Any, y: Any, w: Any, b: Any = 0, bias: bool = True) -> Scan:
    """Mistakes (a score of 0 is one), the smallest signed score of each class, and the radius squared."""
    labels = exact_labels(y)
    Z = signed_rows(X, y, bias)
    weights = (*(exact(a) for a in w), *((exact(b),) if bias else ()))
    scores = [dot(z, weights) for z in Z]
    return Scan(
        mistakes=sum(score <= 0 for score in scores),
        least_positive=min((s for s, label in zip(scores, labels, strict=True) if label > 0), default=None),
        least_negative=min((s for s, label in zip(scores, labels, strict=True) if label < 0), default=None),
        radius_squared=max(dot(z, z) for z in Z),
    )
