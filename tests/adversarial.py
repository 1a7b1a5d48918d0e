"""Data sets that break tools working in floats, with the answers known in advance.

`small()` gives every family at sizes for the quick suite, `full()` at the sizes of a torture run. After them
come the counting checks, where the number of separable labellings is known, and the changes to a data set
that must not change its verdict.

An answer is a set of allowed kinds: "not separable" allows touching and overlapping, and "refused" stands
for an InputError that says why. Values are exact: an instance holds the very numbers of its description.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, product
from math import comb, lcm, nextafter
from typing import Any

import numpy as np
from numpy.typing import NDArray

Table = NDArray[Any]
Labels = NDArray[np.int64]
Change = Callable[[Table, Labels], tuple[Table, Labels]]

E = 2.0**-1074  # the smallest positive double
M = float(np.finfo(np.float64).max)

S = frozenset({"separable"})
T = frozenset({"touching"})
O = frozenset({"overlapping"})  # noqa: E741  the letters S, T and O of the table of answers
NOT_S = T | O
S_OR_REFUSED = S | {"refused"}


@dataclass(frozen=True, eq=False)
class Instance:
    """A data set, what may be said about it, and how many rows each of its minimal obstructions has.

    `obstruction_rows` is None where there is no obstruction or where minimal ones differ in size.
    """

    name: str
    X: Table
    y: Labels
    bias: bool
    answers: frozenset[str]
    obstruction_rows: int | None = None

    def __repr__(self) -> str:
        return self.name


def instance(
    name: str,
    plus: Iterable[Sequence[float]],
    minus: Iterable[Sequence[float]],
    answers: frozenset[str],
    obstruction_rows: int | None = None,
    bias: bool = True,
) -> Instance:
    """An instance from the rows of each class, the positive ones first."""
    positive, negative = list(plus), list(minus)
    X = np.array(positive + negative, dtype=np.float64)
    return Instance(name, X, signs([1] * len(positive) + [-1] * len(negative)), bias, answers, obstruction_rows)


def signs(labels: Iterable[int]) -> Labels:
    return np.array(list(labels), dtype=np.int64)


def alternating(n: int) -> Labels:
    """+1, -1, +1, ..."""
    return signs((-1) ** i for i in range(n))


# ---------------------------------------------------------------------------------------------------
# The families, in the order of the table
# ---------------------------------------------------------------------------------------------------


def contradictory_duplicates(n: int, d: int) -> Iterator[Instance]:
    """Rows that a plane through the origin separates, and the origin once with each label.

    Through the origin, because a plane that leaves it out is no longer weak once the origin has both labels.
    """
    rng = np.random.default_rng([n, d])
    X = rng.integers(-9, 10, (n, d)).astype(np.float64)
    X[:, 0] += np.where(X.sum(axis=1) == 0, 1.0, 0.0)
    y = np.where(X.sum(axis=1) > 0, 1, -1)
    for sign, name in ((1.0, "+0.0 and +0.0"), (-1.0, "+0.0 and -0.0")):
        rows = np.vstack([np.zeros((1, d)), X, sign * np.zeros((1, d))])
        yield Instance(f"contradictory duplicates, {n} x {d}, {name}", rows, signs([1, *y, -1]), True, T, 2)


def one_ulp_apart() -> Iterator[Instance]:
    for a in (1.0, 2.0**52, 1e300, 0.1, 2.0**-1022):
        after = nextafter(a, np.inf)
        yield instance(f"one ulp apart, {a} below", [[after]], [[a]], S)
        yield instance(f"one ulp apart, {a} above", [[a]], [[after]], S)


def tiny_margin(k: int) -> Iterator[Instance]:
    """Four corners labelled as XOR and their centre: only a third coordinate of ±2^-k separates them.

    In the twin the centre, still +, sinks to the middle of the two corners that are -.
    """
    h = 2.0**-k
    plus, minus = [[2, 0, h], [0, 2, h], [1, 1, h]], [[0, 0, -h], [2, 2, -h]]
    yield instance(f"tiny margin, k={k}", plus, minus, S)
    yield instance(f"tiny margin, k={k}, twin", [*plus[:2], [1, 1, -h]], minus, T, 3)


def overflow() -> Iterator[Instance]:
    minus = [[M, 0], [-M, 0]]
    yield instance("overflow", [[M, 1], [-M, 1]], minus, S)
    yield instance("overflow, crossing", [[M, 1], [-M, -1]], minus, O, 4)


def mixed_scale(reach: int) -> Iterator[Instance]:
    grid = [(a, c) for a, c in product(range(-reach, reach + 1), repeat=2) if a + c]
    X = np.array([(a * 2.0**1000, c * 2.0**-1000) for a, c in grid])
    yield Instance(f"mixed scale, {reach}", X, signs(1 if a + c > 0 else -1 for a, c in grid), True, S)


def interleaved_on_a_line(k: int) -> Iterator[Instance]:
    """k >= 2: with one row of each class on the line there is nothing to interleave."""
    X = np.array([[i, 0] for i in range(2 * k)] + [[5, 1], [5, -1]], dtype=np.float64)
    yield Instance(f"interleaved on a line, k={k}", X, alternating(2 * k + 2), True, T, 3)


def simplex_and_a_point(d: int) -> Iterator[Instance]:
    """The centre of a simplex; then a point that one smallest double takes into, onto and out of a facet."""
    corners = np.vstack([np.zeros((1, d)), (d + 1) * np.eye(d)]).tolist()
    yield instance(f"simplex and a point, d={d}, centre", corners, [[1.0] * d], O, d + 2)
    for t, name, answers, rows in ((E, "E", O, d + 2), (0.0, "0", T, d + 1), (-E, "-E", S, None)):
        yield instance(f"simplex and a point, d={d}, t={name}", corners, [[t] + [1.0] * (d - 1)], answers, rows)


def moment_curve(d: int) -> Iterator[Instance]:
    """d <= 13: beyond, the powers no longer fit into a double."""
    for m, answers, rows in ((d + 2, O, d + 2), (d + 1, S, None)):
        yield Instance(f"moment curve, d={d}, m={m}", moments(m, d), alternating(m), True, answers, rows)


def moments(m: int, d: int) -> Table:
    """The points (t, t², .., t^d) for t = 0..m-1, no d + 1 of them on one hyperplane."""
    powers = [[t**k for k in range(1, d + 1)] for t in range(m)]
    X = np.array(powers, dtype=np.float64)
    if [[int(value) for value in row] for row in X] != powers:
        raise ValueError(f"{m - 1}^{d} does not fit into a double")
    return X


def moment_curve_weights(d: int) -> list[int]:
    """The weights of the one obstruction for m = d + 2: (1 - 1)^(d+1), term by term."""
    return [comb(d + 1, t) for t in range(d + 2)]


def integer_hilbert(n: int) -> Iterator[Instance]:
    """n independent rows in n columns, nearly dependent for n = 18; any labels, bias or no bias."""
    scale = lcm(*range(1, 2 * n))
    X = np.array([[scale // (i + j + 1) for j in range(n)] for i in range(n)], dtype=np.float64)
    rng = np.random.default_rng(n)
    choices = {
        "alternating": alternating(n),
        "halves": signs([1] * (n // 2) + [-1] * (n - n // 2)),
        "last alone": signs([1] * (n - 1) + [-1]),
        "random": signs([1, *rng.choice([-1, 1], n - 2), -1]),
    }
    for (name, y), bias in product(choices.items(), (True, False)):
        yield Instance(f"integer Hilbert, n={n}, {name}, bias={bias}", X, y, bias, S)


def odd_max_bit_chain(n: int) -> Iterator[Instance]:
    """The Perceptron needs at least F_(n+1) updates here."""
    X = np.array([[float(j == i or (j < i and (i - j) % 2 == 1)) for j in range(n)] for i in range(n)])
    y = signs((-1) ** (i + 1) for i in range(n))  # the rows of the table are counted from 1
    yield Instance(f"odd-max-bit chain, n={n}", np.vstack([X, -X]), np.concatenate([y, -y]), True, S)


def odd_max_bit_cube(n: int) -> Iterator[Instance]:
    """n >= 3. In the twin e_n + (e_n+e_1+e_2) = (e_n+e_1) + (e_n+e_2), two rows of each class."""
    cube = list(product([0, 1], repeat=n))
    label = {x: (-1) ** max((j + 1 for j in range(n) if x[j]), default=1) for x in cube}
    X = np.array(cube, dtype=np.float64)
    yield Instance(f"odd-max-bit cube, n={n}", X, signs(label.values()), True, S)
    for flipped in ((0,) * (n - 1) + (1,), (1, 1) + (0,) * (n - 3) + (1,)):
        label[flipped] *= -1
    yield Instance(f"odd-max-bit cube, n={n}, twin", X, signs(label.values()), True, NOT_S)


def greater_than(m: int) -> Iterator[Instance]:
    """The highest bit first, so that tuples compare as the numbers they write."""
    numbers = list(product([0, 1], repeat=m))
    pairs = list(product(numbers, repeat=2))
    X = np.array([a + b for a, b in pairs], dtype=np.float64)
    yield Instance(f"greater than, m={m}", X, signs(1 if a >= b else -1 for a, b in pairs), True, S)


def big_integers() -> Iterator[Instance]:
    """a and a + 1 are one and the same double, but not the same integer."""
    for name, a, dtype in (
        ("2^53", 2**53, np.int64),
        ("2^63-2", 2**63 - 2, np.int64),
        ("2^64-2", 2**64 - 2, np.uint64),
    ):
        X = np.array([[a], [a + 1]], dtype=dtype)
        yield Instance(f"big integers, {name}", X, signs([-1, 1]), True, S_OR_REFUSED)


def subnormals() -> Iterator[Instance]:
    yield instance("subnormals, E against 0", [[E]], [[0.0]], S)
    yield instance("subnormals, E against -E", [[E]], [[-E]], S)


def crossing_edges() -> Iterator[Instance]:
    plus = [[-1, 0, 0], [1, 0, 0], [0, 0, -1]]
    for g, name, answers, rows in (
        (0.0, "0", T, 4),
        (E, "E", S, None),
        (2.0**-60, "2^-60", S, None),
        (-E, "-E", NOT_S, None),
    ):
        yield instance(f"crossing edges, g={name}", plus, [[0, -1, g], [0, 1, g], [0, 0, 1]], answers, rows)


SIX_POINTS = (
    # name, + points, - points, answers, rows of each minimal obstruction
    ("wide", [(4, 0), (5, 2), (6, 5)], [(0, 0), (1, 3), (2, 1)], S, None),
    ("on neighbouring lines", [(5, 3), (13, 8), (-3, -2)], [(0, 0), (8, 5), (16, 10)], S, None),
    ("one between two", [(2, 0), (3, 5), (0, 2)], [(0, 0), (4, 0), (1, -3)], T, 3),
    ("one inside three", [(2, 1), (9, 9), (-5, 3)], [(0, 0), (4, 0), (2, 5)], O, None),
)


def far_translation() -> Iterator[Instance]:
    """Six points where they are, far away, and with the first column counted from 1970."""
    moves: dict[str, Callable[[int, int], list[int]]] = {
        "at home": lambda p, q: [p, q],
        "doubled, plus 2^51": lambda p, q: [2 * p + 2**51, 2 * q + 2**51],
        "a timestamp in seconds": lambda p, q: [1_700_000_000 + p, q],
        "a timestamp in microseconds": lambda p, q: [1_700_000_000_000_000 + p, q],
    }
    for (name, plus, minus, answers, rows), (move, f) in product(SIX_POINTS, moves.items()):
        positive, negative = ([f(*point) for point in points] for points in (plus, minus))
        yield instance(f"far translation, {name}, {move}", positive, negative, answers, rows)


def through_the_origin() -> Iterator[Instance]:
    """Each obstruction alone where that leaves both classes, and beside a row that it does not touch."""
    x, double, opposite, zero, beside = [1, 2], [2, 4], [-1, -2], [0, 0], [3, -1]
    cases: tuple[tuple[str, list[list[int]], list[list[int]], frozenset[str], int], ...] = (
        ("a zero row", [zero, x], [[-3, 1]], NOT_S, 1),
        ("two zero rows", [zero], [zero], NOT_S, 1),
        ("x against x", [x], [x], NOT_S, 2),
        ("x against x, and a row", [x, beside], [x], NOT_S, 2),
        ("x against 2x", [x], [double], NOT_S, 2),
        ("x against 2x, and a row", [x], [double, beside], NOT_S, 2),
        ("x and -x", [x, opposite], [beside], NOT_S, 2),
    )
    for name, plus, minus, answers, rows in cases:
        yield instance(f"through the origin, {name}", plus, minus, answers, rows, bias=False)


def hard_thresholds(D: int, seed: int) -> Iterator[Instance]:
    X, y, _ = planted_threshold(D, seed)
    yield Instance(f"hard thresholds, D={D}, seed={seed}", X, y, True, S)


def planted_threshold(D: int, seed: int) -> tuple[Table, Labels, list[int]]:
    """4·D rows, their labels, and the integers (w, b) that separate them; the bias is the last of D columns.

    Every weight is larger than all before it together: 1 (the bias), 3, 9, ... Half the rows are random, the
    other half put the most they can against their highest entry, so that no much shorter weights would do.
    Then the columns are mixed by a unimodular matrix, which hides the order of the weights.
    """
    rng = np.random.default_rng([D, seed])
    d = D - 1
    w = [3 ** (j + 1) for j in range(d)]
    rows: list[list[int]] = []
    labels: list[int] = []
    while len(rows) < 4 * D:
        top = int(rng.integers(d))
        sign = int(rng.choice([-1, 1]))
        below = rng.integers(-2, 3, top) if len(rows) % 2 else np.full(top, -2 * sign)
        row = [*below.tolist(), sign, *[0] * (d - top - 1)]
        score = sum(a * b for a, b in zip(row, w, strict=True)) + 1
        if score:
            rows.append(row)
            labels.append(1 if score > 0 else -1)
    mixed, weights = mix_columns(np.array(rows, dtype=np.int64), w, rng)
    return mixed.astype(np.float64), signs(labels), [*weights, 1]


def mix_columns(X: NDArray[np.int64], w: list[int], rng: np.random.Generator) -> tuple[NDArray[np.int64], list[int]]:
    """X·U and U⁻¹·w for a random unimodular U: each step adds ± one column to another and undoes it in w."""
    X, w = X.copy(), list(w)
    for _ in range(3 * len(w)):
        source, target = (int(j) for j in rng.choice(len(w), 2, replace=False))
        sign = int(rng.choice([-1, 1]))
        mixed = X[:, target] + sign * X[:, source]
        if np.abs(mixed).max() <= 1000:  # small integers stay small
            X[:, target] = mixed
            w[source] -= sign * w[target]
    return X, w


def integer_margin(n: int, d: int, pairs: int) -> Iterator[Instance]:
    """Small integers on both sides of an integer hyperplane, half of them one unit of score away from it.

    The weights grow from 1 to 2^20, so the margin is 1/|w|. Pairs are rows on the hyperplane, each with both labels.
    """
    rng = np.random.default_rng([n, d, pairs])
    w = rng.permutation(np.rint(2.0 ** (np.arange(d) * 20.0 / d)).astype(np.int64) * rng.choice([-1, 1], d))
    y = rng.choice([-1, 1], n)
    X = moved_to(rng.integers(-5, 6, (n, d)), w, np.where(rng.random(n) < 0.5, y, y * rng.integers(1, 50, n)))
    on = moved_to(rng.integers(-5, 6, (pairs, d)), w, np.zeros(pairs, np.int64))
    plus = np.ones(pairs, np.int64)
    X, y = shuffled_together((X, y), (on, plus), (on, -plus))
    yield Instance(f"integer margin, {n} x {d}, {pairs} pairs", X, y, True, T if pairs else S, 2 if pairs else None)


def moved_to(X: NDArray[np.int64], w: NDArray[np.int64], scores: NDArray[np.int64]) -> NDArray[np.int64]:
    """X with each row changed a little, in the heavy columns first, until it has the score given. Some weight is ±1."""
    for j in np.argsort(-np.abs(w), kind="stable"):
        X[:, j] += np.rint((scores - X @ w) / w[j]).astype(np.int64)
    if not np.array_equal(X @ w, scores):
        raise ValueError("no weight is 1 or -1")
    return X


def shuffled_together(*parts: tuple[Table, Labels]) -> tuple[Table, Labels]:
    """The rows of all parts in a random order."""
    X, y = (np.concatenate(side) for side in zip(*parts, strict=True))
    order = np.random.default_rng(len(y)).permutation(len(y))
    return X[order].astype(np.float64), y[order]


def equal_columns(n: int, d: int, ties: int) -> Iterator[Instance]:
    """Columns that are one and the same up to 2^-40, labels by what is left of them.

    A tie is three rows on the hyperplane: one of class +1 in the middle between two of class -1.
    """
    rng = np.random.default_rng([n, d, ties])
    w = rng.integers(-3, 4, d)
    w[0] = 1
    w[-1] -= w.sum()  # what is common has no weight
    rest, y = rng.integers(-(2**10), 2**10, (n, d)), rng.choice([-1, 1], n)
    short = y * (rest @ w) <= 0
    rest[short, 0] += (y - rest @ w)[short]
    on = rng.integers(-(2**10), 2**10, (2 * ties, d))
    on[:, 0] -= on @ w
    X, on = (rng.integers(-1000, 1001, (len(part), 1)) + part * 2.0**-40 for part in (rest, on))
    middle = on[::2] / 2 + on[1::2] / 2
    minus, plus = -np.ones(2 * ties, np.int64), np.ones(ties, np.int64)
    X, y = shuffled_together((X, y), (on, minus), (middle, plus))
    yield Instance(f"equal columns, {n} x {d}, {ties} ties", X, y, True, T if ties else S, 3 if ties else None)


def contradictory_text(n: int, d: int, words: int, pairs: int) -> Iterator[Instance]:
    """Counts of a few words a row, on both sides of a hyperplane; some rows on it stand there with both labels."""
    rng = np.random.default_rng([n, d, words, pairs])
    w = rng.integers(1, 4, d) * rng.choice([-1, 1], d)
    X = rng.integers(1, 4, (n, d)) * (rng.random((n, d)) < words / d)
    X = X[X @ w != 0]
    on = rng.integers(1, 4, (pairs, d)) * (rng.random((pairs, d)) < words / d)
    ends = {1: int(np.argmax(w == 1)), -1: int(np.argmax(w == -1))}
    for row in on:
        score = int(row @ w)
        row[ends[-1 if score > 0 else 1]] += abs(score)
    plus = np.ones(pairs, np.int64)
    X, y = shuffled_together((X, np.sign(X @ w)), (on, plus), (on, -plus))
    yield Instance(f"contradictory text, {n} x {d}, {pairs} pairs", X, y, True, T, 2)


def near_duplicates(n: int, d: int, pairs: int) -> Iterator[Instance]:
    """Pairs of rows 2^-36 apart, on both sides of a hyperplane, among others."""
    rng = np.random.default_rng([n, d, pairs])
    w = rng.integers(1, 10, d) * rng.choice([-1, 1], d)
    w[-1] = 1
    X = rng.integers(-9, 10, (n, d))
    X = X[X @ w != 0]
    on = rng.integers(-9, 10, (pairs, d)).astype(np.float64)
    on[:, -1] -= on @ w
    side = np.zeros((pairs, d))
    column = rng.integers(0, d, pairs)
    side[np.arange(pairs), column] = np.sign(w[column]) * 2.0**-37
    plus = np.ones(pairs, np.int64)
    X, y = shuffled_together((X, np.sign(X @ w)), (on + side, plus), (on - side, -plus))
    yield Instance(f"near duplicates, {n} x {d}, {pairs} pairs", X, y, True, S)


def needle(n: int, d: int) -> Iterator[Instance]:
    """Two far clouds of n rows; one + row lies between the first and the last - row of the file.

    Those two stick out of their cloud towards the other, so that no other rows obstruct.
    """
    rng = np.random.default_rng([n, d])
    cloud = rng.integers(-100, 101, (2 * n, d)).astype(np.float64)
    y = alternating(2 * n)
    cloud[:, 0] += 1000.0 * y
    tips, middle = np.zeros((2, d)), np.zeros((1, d))
    tips[:, 1] = 700, -300
    middle[0, 1] = 200
    X = np.vstack([tips[:1], cloud[:n], middle, cloud[n:], tips[1:]])
    labels = signs([-1, *y[:n], 1, *y[n:], -1])
    yield Instance(f"needle, {n} x {d}", X, labels, True, NOT_S, 3)


# ---------------------------------------------------------------------------------------------------
# Collections
# ---------------------------------------------------------------------------------------------------

Family = Callable[..., Iterator[Instance]]

WITHOUT_SIZE: tuple[Family, ...] = (
    one_ulp_apart,
    overflow,
    big_integers,
    subnormals,
    crossing_edges,
    far_translation,
    through_the_origin,
)

SIZES: dict[Family, tuple[Iterable[tuple[int, ...]], Iterable[tuple[int, ...]]]] = {
    # family: sizes for the quick suite, sizes for the torture run
    contradictory_duplicates: (
        [(4, 1), (8, 2), (12, 5)],
        [(4, 1), (8, 2), (12, 5), (100, 20), (1000, 3), (10_000, 50), (100_000, 10)],
    ),
    tiny_margin: (
        [(k,) for k in (40, 52, 53, 54, 60, 100, 537, 1022, 1023, 1074)],
        [(k,) for k in range(40, 1075)],
    ),
    mixed_scale: ([(1,), (3,)], [(1,), (3,), (10,), (50,)]),
    interleaved_on_a_line: ([(2,), (3,), (5,)], [(k,) for k in (*range(2, 31), 100, 1000, 10_000)]),
    simplex_and_a_point: (
        [(d,) for d in (1, 2, 3, 5, 8)],
        [(d,) for d in (*range(1, 21), 30, 40, 50, 75, 100, 150)],
    ),
    moment_curve: ([(d,) for d in (1, 2, 3, 5, 8, 13)], [(d,) for d in range(1, 14)]),
    integer_hilbert: ([(n,) for n in (2, 3, 6, 12, 18)], [(n,) for n in range(2, 19)]),
    odd_max_bit_chain: ([(n,) for n in (2, 3, 5, 8, 12)], [(n,) for n in (*range(2, 31), 40, 60, 80)]),
    odd_max_bit_cube: ([(3,), (4,), (5,)], [(n,) for n in range(3, 15)]),
    greater_than: ([(1,), (2,), (3,)], [(m,) for m in range(1, 8)]),
    hard_thresholds: (
        [(16, 0), (24, 0)],
        list(product((16, 20, 24, 28, 32, 40, 50, 64, 80, 100, 125, 150), range(3))),
    ),
    integer_margin: (
        [(24, 4, 0), (24, 4, 1)],
        [(n, d, pairs) for n, d in ((24, 4), (200, 24), (1000, 50), (3000, 100), (9000, 167)) for pairs in (0, 1, 3)],
    ),
    equal_columns: (
        [(24, 4, 0), (24, 4, 1)],
        [(n, d, ties) for n, d in ((24, 4), (200, 24), (1000, 50), (3000, 100), (8500, 177)) for ties in (0, 1)],
    ),
    contradictory_text: (
        [(30, 6, 3, 1)],
        [
            (30, 6, 3, 1),
            (300, 40, 6, 1),
            (900, 310, 12, 2),
            (5000, 400, 30, 1),
            (10_600, 800, 40, 1),
            (3900, 3460, 40, 3),
        ],
    ),
    near_duplicates: (
        [(20, 4, 3)],
        [(20, 4, 3), (200, 24, 20), (1000, 50, 45), (3000, 100, 90), (3000, 150, 140)],
    ),
    needle: (
        [(6, 2), (15, 3), (500, 4)],
        [(6, 2), (15, 3), (500, 4), (10_000, 2), (10_000, 30), (200_000, 10)],
    ),
}


def small() -> Iterator[Instance]:
    """Every family, each instance small enough for the quick suite, then with redundant columns."""
    yield from with_redundant(chain.from_iterable(family(*size) for family, size in family_sizes(quick=True)))


def full() -> Iterator[Instance]:
    """Every family over the whole range of its table, one instance in memory at a time."""
    yield from with_redundant(chain.from_iterable(family(*size) for family, size in family_sizes(quick=False)))


def family_sizes(quick: bool) -> Iterator[tuple[Family, tuple[int, ...]]]:
    for family in WITHOUT_SIZE:
        yield family, ()
    for family, (few, many) in SIZES.items():
        for size in few if quick else many:
            yield family, size


# ---------------------------------------------------------------------------------------------------
# Counting checks: all labellings of a set of points, of which a known number is separable
# ---------------------------------------------------------------------------------------------------

SEPARABLE_BOOLEAN_FUNCTIONS = {2: 14, 3: 104, 4: 1882}
SEPARABLE_GRID_LABELLINGS = {3: 58, 4: 174}


def labellings(X: Table) -> Iterator[tuple[Table, Labels]]:
    """X with each of its 2^n labellings, the two that know only one class among them."""
    for labels in product((-1, 1), repeat=len(X)):
        yield X, np.array(labels, dtype=np.int64)


def boolean_functions(bits: int) -> Iterator[tuple[Table, Labels]]:
    """All 2^(2^bits) Boolean functions of so many bits."""
    return labellings(np.array(list(product((0.0, 1.0), repeat=bits))))


def grid_labellings(side: int) -> Iterator[tuple[Table, Labels]]:
    """All labellings of the side x side integer grid."""
    return labellings(np.array(list(product(range(side), repeat=2)), dtype=np.float64))


def cover_labellings(n: int, d: int) -> Iterator[tuple[Table, Labels]]:
    """All labellings of n points in general position in d dimensions: `cover_count` of them are separable."""
    return labellings(moments(n, d))


def cover_count(n: int, d: int) -> int:
    """Cover 1965: separable labellings of n points in general position; half of all for n = 2(d + 1).

    >>> cover_count(6, 2), 2**6
    (32, 64)
    """
    return 2 * sum(comb(n - 1, k) for k in range(d + 1))


def near_collinear(steps: int = 256) -> Iterator[Instance]:
    """(24, 24) and (-24, -24) against a point within an ulp or so of their line: not separable iff on it."""
    ulp = 2.0**-53
    for i, j in product(range(steps), repeat=2):
        point = [0.5 + i * ulp, 0.5 + j * ulp]
        answers, rows = (O, 3) if i == j else (S, None)
        yield instance(f"near collinear, i={i}, j={j}", [[24, 24], [-24, -24]], [point], answers, rows)


# ---------------------------------------------------------------------------------------------------
# What must not change a verdict
# ---------------------------------------------------------------------------------------------------


def with_redundant(instances: Iterable[Instance]) -> Iterator[Instance]:
    """Each instance, then the same with redundant columns."""
    for original in instances:
        yield original
        yield redundant(original)


def redundant(original: Instance) -> Instance:
    """Append a constant, a copied and a summed column: no score gains anything from them.

    The constant is left out with bias=False, where it would bring in the bias; the sum where it would be
    rounded. Obstructions stay the same, row by row.
    """
    X = original.X
    extra = [X[:, :1]]
    if original.bias:
        extra.append(np.full((len(X), 1), 3, dtype=X.dtype))
    if (total := exact_sum(X[:, 0], X[:, -1])) is not None:
        extra.append(total[:, None])
    return replace(original, name=f"{original.name}, redundant columns", X=np.hstack([X, *extra]))


def exact_sum(a: Table, b: Table) -> Table | None:
    """a + b, or None where a sum is rounded (Knuth's TwoSum finds the rounding error itself) or too large."""
    if a.dtype != np.float64:
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        total = a + b
        part = total - a
        error = (a - (total - part)) + (b - part)
    return total if np.isfinite(total).all() and not error.any() else None


def reorder_rows(X: Table, y: Labels) -> tuple[Table, Labels]:
    order = np.random.default_rng(7).permutation(len(y))
    return X[order], y[order]


def repeat_rows(X: Table, y: Labels) -> tuple[Table, Labels]:
    """Row i stands there once, twice or three times."""
    times = np.arange(len(y)) % 3 + 1
    return np.repeat(X, times, axis=0), np.repeat(y, times)


def swap_labels(X: Table, y: Labels) -> tuple[Table, Labels]:
    return X, -y


def permute_columns(X: Table, y: Labels) -> tuple[Table, Labels]:
    return X[:, np.random.default_rng(8).permutation(X.shape[1])], y


def copy_column(X: Table, y: Labels) -> tuple[Table, Labels]:
    return np.hstack([X, X[:, -1:]]), y


def append_constant(X: Table, y: Labels) -> tuple[Table, Labels]:
    return np.hstack([X, np.full((len(y), 1), 2, dtype=X.dtype)]), y


def negate(X: Table, y: Labels) -> tuple[Table, Labels]:
    return -X, y


def scale_columns(X: Table, y: Labels) -> tuple[Table, Labels]:
    """Each column times a power of two of its own, the first of a few that rounds nothing."""
    return np.column_stack([scaled(column, (9, -7, 5)[j % 3]) for j, column in enumerate(X.T)]), y


def scaled(column: Table, exponent: int) -> Table:
    for e in (exponent, -exponent, 1, -1):
        with np.errstate(over="ignore", under="ignore"):
            result: Table = np.ldexp(column, e)
            if np.array_equal(np.ldexp(result, -e), column):
                return result
    raise ValueError("the column spans the whole range of doubles: no power of two leaves it exact")


def invariances(original: Instance) -> Iterator[Instance]:
    """The instance under every change that must leave its answer as it is and is exact on its values."""
    changes: list[Change] = [reorder_rows, repeat_rows, swap_labels, permute_columns, copy_column]
    if original.X.dtype == np.float64:  # unsigned integers cannot be negated, large ones not be scaled
        changes += [negate, scale_columns]
    if original.bias:
        changes += [append_constant]
    for change in changes:
        X, y = change(original.X, original.y)
        yield replace(original, name=f"{original.name}, {change.__name__}", X=X, y=y)
