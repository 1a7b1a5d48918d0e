"""Wide tables whose answer is known by construction, up to any number of columns: for `make torture`.

Every table is one of integers times a power of two, and so are the weights of the hyperplane that is planted in it: all
scores are exact in 64-bit integers, and are looked at again before a table is given away.

    separable      the planted hyperplane has every row on its side
    touching       it has some rows on it, and these cancel: a row with both labels, or one in the middle of two
    overlapping    2d + 1 rows cancel and span all: x + t and x - t of one class, for independent t, and x of the other
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from tests.adversarial import Instance, O, S, T

Whole = NDArray[np.int64]
Random = np.random.Generator

FINE = 20  # bits of a normal value after the point
LADDER = 2 ** np.arange(18, -1, -3)  # weights with which every score can be reached
WIDTHS = 200, 300, 500, 1000, 2000


@dataclass(frozen=True)
class Planted:
    """Integer rows with their labels, and weights that have each on its side or at 0."""

    X: Whole
    y: Whole
    w: Whole
    offset: int = 0  # the weight of the constant

    def scores(self) -> Whole:
        """y·(w·x + offset), exact: 64-bit integers count modulo 2^64, and doubles say that no score comes near that."""
        nearly = np.abs(self.X.astype(np.float64) @ self.w.astype(np.float64)).max() + abs(self.offset)
        off = 2.0**-50 * self.X.shape[1] ** 2 * float(np.abs(self.X).max()) * float(np.abs(self.w).max())
        if nearly + off >= 2.0**62:
            raise ValueError("a score may not fit into 64 bits")
        found: Whole = self.y * (self.X @ self.w + self.offset)
        return found


# ---------------------------------------------------------------------------------------------------
# Rows beside a hyperplane
# ---------------------------------------------------------------------------------------------------


def weights(rng: Random, d: int) -> Whole:
    """Normal weights, and the ladder in the last columns."""
    w = np.rint(rng.standard_normal(d) * 2**16).astype(np.int64)
    w[-len(LADDER) :] = LADDER
    return w


def moved_to(X: Whole, w: Whole, scores: Whole) -> Whole:
    """Rows with these scores: moved along w, then up and down the ladder."""
    X = X.copy()
    square = float((w.astype(np.float64) ** 2).sum())
    X += np.rint((scores - X @ w)[:, None] / square * w).astype(np.int64)
    rest = scores - X @ w
    for step, weight in enumerate(LADDER.tolist()):
        times = np.rint(rest / weight).astype(np.int64)
        X[:, step - len(LADDER)] += times
        rest -= times * weight
    return X


def normal_rows(rng: Random, n: int, d: int) -> Whole:
    return np.rint(rng.standard_normal((n, d)) * 2**FINE).astype(np.int64)


def beside(rng: Random, X: Whole, w: Whole, margin: float, near: int = 0) -> Planted:
    """Labels by the side; rows nearer than the margin are moved to it, and so are the first few in any case."""
    least = max(1, round(margin * float(np.linalg.norm(w.astype(np.float64))) * 2**FINE))
    score = X @ w
    y = np.where(score > 0, 1, -1)
    short = np.flatnonzero((np.abs(score) < least) | (np.arange(len(X)) < near))
    X = X.copy()
    X[short] = moved_to(X[short], w, y[short] * least)
    return Planted(X, y, w)


def with_rows(planted: Planted, X: Whole, y: Whole) -> Planted:
    return replace(planted, X=np.concatenate([planted.X, X]), y=np.concatenate([planted.y, y]))


# ---------------------------------------------------------------------------------------------------
# What is planted
# ---------------------------------------------------------------------------------------------------


def paired(rng: Random, planted: Planted, count: int) -> Planted:
    """With rows on the hyperplane that stand there with both labels."""
    on = on_plane(rng, planted, count)
    plus = np.ones(count, np.int64)
    return with_rows(with_rows(planted, on, plus), on, -plus)


def tied(rng: Random, planted: Planted, count: int) -> Planted:
    """With rows on the hyperplane in the middle of two others of the other class: no row stands there twice."""
    a, b = on_plane(rng, planted, count), on_plane(rng, planted, count)
    two, ones = replace(planted, X=2 * planted.X), np.ones(count, np.int64)
    return with_rows(with_rows(with_rows(two, 2 * a, -ones), 2 * b, -ones), a + b, ones)


def knotted(rng: Random, planted: Planted, count: int) -> Planted:
    """With rows on the hyperplane labelled by another one: x + t and x - t of one class, x of the other."""
    x, t = on_plane(rng, planted, 1), on_plane(rng, planted, count)
    ones = np.ones(count, np.int64)
    return with_rows(with_rows(with_rows(planted, x + t, ones), x - t, ones), x, -ones[:1])


def on_plane(rng: Random, planted: Planted, count: int) -> Whole:
    return moved_to(normal_rows(rng, count, planted.X.shape[1]), planted.w, np.zeros(count, np.int64))


def overlapped(rng: Random, planted: Planted, shrunk: int) -> Planted:
    """With rows that overlap within a ball 2^-shrunk as large as the cloud, around a point of the hyperplane.

    The directions t are independent: some matrix times them is nearer to the unit matrix than 1/2.
    """
    d = planted.X.shape[1]
    t = normal_rows(rng, d, d) >> shrunk
    t[np.arange(d), np.arange(d)] += 1 << FINE - shrunk
    units = t.astype(np.float64)
    if np.linalg.norm(units @ np.linalg.inv(units) - np.eye(d)) >= 0.5:
        raise ValueError("the rows may not be independent")
    x, ones = on_plane(rng, planted, 1), np.ones(d, np.int64)
    found = with_rows(with_rows(planted, x + t, ones), x - t, ones)
    return with_rows(found, x, -ones[:1])


def flipped(rng: Random, planted: Planted, part: float) -> Planted:
    wrong = rng.random(len(planted.y)) < part
    return replace(planted, y=np.where(wrong, -planted.y, planted.y))


# ---------------------------------------------------------------------------------------------------
# Families
# ---------------------------------------------------------------------------------------------------


def width_of(rng: Random, most: int) -> int:
    return int(rng.choice([width for width in WIDTHS if width <= most]))


def tall(rng: Random, d: int) -> int:
    """How many rows: fewer than columns, as many, or some times as many."""
    return int(d * rng.choice([0.5, 1.0, 2.0, 4.0, 8.0] if d <= 1000 else [0.5, 1.0, 2.0, 4.0]))


def planted_margin(rng: Random, most: int) -> Iterator[Instance]:
    """Margins of 1e-2 to 1e-8 of the length of a coordinate, one row or a few at the margin."""
    d = width_of(rng, most)
    margin = 10.0 ** -float(rng.integers(2, 9))
    planted = beside(rng, normal_rows(rng, tall(rng, d), d), weights(rng, d), margin, int(rng.choice([1, d // 10])))
    yield given("planted margin", planted, S, f"margin {margin:g}")


def forced_margin(rng: Random, most: int) -> Iterator[Instance]:
    """The same with twice as many rows at the margin as there are columns: no other hyperplane does much better."""
    d = width_of(rng, min(most, 500))
    margin = 10.0 ** -float(rng.integers(2, 9))
    planted = beside(rng, normal_rows(rng, 3 * d, d), weights(rng, d), margin, 2 * d)
    yield given("forced margin", planted, S, f"margin {margin:g}")


def touching(rng: Random, most: int) -> Iterator[Instance]:
    """One or a few contradictions on the hyperplane: a row with both labels, a row between two, a knot of rows."""
    d = width_of(rng, most)
    margin = 10.0 ** -float(rng.integers(2, 9))
    planted = beside(rng, normal_rows(rng, tall(rng, d), d), weights(rng, d), margin)
    plant = (paired, tied, knotted)[int(rng.integers(3))]
    count = int(rng.choice([1, 3, d // 4]))
    yield given("touching", plant(rng, planted, count), T, f"margin {margin:g}, {plant.__name__} {count}")


def overlapping(rng: Random, most: int) -> Iterator[Instance]:
    """A tenth of the labels wrong, or a hundredth, or one; and rows that prove that nothing separates them."""
    d = width_of(rng, most)
    part = float(rng.choice([0.1, 0.01, 0.0]))
    planted = beside(rng, normal_rows(rng, tall(rng, d), d), weights(rng, d), 1e-3)
    yield given("overlapping", overlapped(rng, flipped(rng, planted, part), 0), O, f"{part:g} flipped")


def small_overlap(rng: Random, most: int) -> Iterator[Instance]:
    """Labels right, but for 2d + 1 rows within a small ball on the hyperplane."""
    d, shrunk = width_of(rng, most), int(rng.choice([3, 6, 10]))
    planted = beside(rng, normal_rows(rng, tall(rng, d), d), weights(rng, d), 1e-3)
    yield given("small overlap", overlapped(rng, planted, shrunk), O, f"a ball of 2^-{shrunk}")


def correlated(rng: Random, most: int) -> Iterator[Instance]:
    """Columns that are equal up to 2^-6 to 2^-16 of themselves, labels by what is left of them; one tie, or none."""
    d, bits, ties = width_of(rng, most), int(rng.integers(6, 17)), int(rng.integers(2))
    w = weights(rng, d)
    w[0] -= w.sum()  # what is common has no weight
    planted = beside(rng, normal_rows(rng, tall(rng, d), d), w, 1e-3)
    planted = tied(rng, planted, 1) if ties else planted
    common = rng.integers(-(2**9), 2**9, (len(planted.y), 1)) << (FINE + bits - 9)
    if ties:  # the last row stays in the middle of the two before it
        common[-1] = (common[-3] + common[-2]) // 2
    whole = replace(planted, X=planted.X + common)
    yield given("correlated columns", whole, T if ties else S, f"equal up to 2^-{bits}, {ties} ties")


def rank_deficient(rng: Random, most: int) -> Iterator[Instance]:
    """Half of the columns, or a few, are sums of others; separable, touching or overlapping before and after."""
    d = width_of(rng, most) // 2
    planted = beside(rng, normal_rows(rng, 2 * tall(rng, d), d), weights(rng, d), 1e-3)
    answer = int(rng.integers(3))
    planted = (planted, tied(rng, planted, 2), overlapped(rng, flipped(rng, planted, 0.05), 0))[answer]
    more = int(rng.choice([1, d // 2, d]))
    sources = rng.integers(0, d, (3, more))
    sums = (planted.X[:, sources] * rng.choice([-2, -1, 1], (3, more))).sum(axis=1)
    whole = replace(planted, X=np.column_stack([planted.X, sums]), w=np.append(planted.w, np.zeros(more, np.int64)))
    yield given("rank-deficient", whole, (S, T, O)[answer], f"{more} sums")


def proportional(rng: Random, most: int) -> Iterator[Instance]:
    """Columns that are multiples of others, by 3, -1, 5 or a power of two."""
    d = width_of(rng, most) // 2
    planted = beside(rng, normal_rows(rng, 2 * tall(rng, d), d), weights(rng, d), 1e-3)
    answer = int(rng.integers(3))
    planted = (planted, tied(rng, planted, 2), overlapped(rng, flipped(rng, planted, 0.05), 0))[answer]
    more = int(rng.choice([1, d // 2, d]))
    multiples = planted.X[:, rng.integers(0, d, more)] * rng.choice([3, -1, 5, 64], more)
    whole = replace(
        planted, X=np.column_stack([planted.X, multiples]), w=np.append(planted.w, np.zeros(more, np.int64))
    )
    yield given("proportional columns", whole, (S, T, O)[answer], f"{more} multiples")


def one_hot(rng: Random, most: int) -> Iterator[Instance]:
    """Groups of columns, one of each set in every row: d columns of rank d - groups + 1, the constant among them.

    Overlapping: the first levels of all groups, x; each other level alone, x + a; one of another group, x + b; and
    x + a + b. The first and the last of one class, the other two of the other: they cancel, and span all levels.
    """
    d = width_of(rng, most)
    size = int(rng.choice([2, 5, 20]))
    groups = d // size
    n = int(d * rng.choice([1, 4, 10]))
    w = rng.integers(-50, 51, d)
    X = levels(rng.integers(0, size, (n, groups)), size)
    score = X @ w
    offset = -int(np.median(score))
    kept = score + offset != 0
    planted = Planted(X[kept], np.sign(score + offset)[kept], w, offset)
    answer = int(rng.integers(3))
    if answer == 2:
        chosen = np.array([(g, level) for g in range(groups) for level in range(1, size)])
        partner = (chosen[:, 0] + rng.integers(1, groups, len(chosen))) % groups
        other = rng.integers(1, size, len(chosen))
        rows = np.zeros((4, len(chosen), groups), np.int64)
        for part in (1, 3):
            rows[part, np.arange(len(chosen)), chosen[:, 0]] = chosen[:, 1]
        for part in (2, 3):
            rows[part, np.arange(len(chosen)), partner] = other
        y = np.repeat([-1, 1, 1, -1], len(chosen))
        planted = with_rows(planted, levels(rows.reshape(-1, groups), size), y)
    if answer == 1:
        on = X[~kept][:3]
        if not len(on):
            return
        planted = with_rows(with_rows(planted, on, np.ones(len(on), np.int64)), on, -np.ones(len(on), np.int64))
    yield given("one-hot", planted, (S, T, O)[answer], f"{groups} groups of {size}", shift=0)


def levels(chosen: Whole, size: int) -> Whole:
    """One column for each level of each group."""
    found: Whole = np.eye(size, dtype=np.int64)[chosen].reshape(len(chosen), -1)
    return found


def near_duplicates(rng: Random, most: int) -> Iterator[Instance]:
    """Pairs of rows of different classes that differ in one column, by 2^-4 to 2^-20; among others."""
    d, bits = width_of(rng, most), int(rng.integers(4, FINE + 1))
    planted = beside(rng, normal_rows(rng, tall(rng, d), d), weights(rng, d), 1e-3)
    pairs = int(rng.choice([1, d // 4, d - 10]))
    on = on_plane(rng, planted, pairs)
    apart = np.zeros_like(on)
    column = rng.integers(0, d - len(LADDER), pairs)
    column = np.where(planted.w[column] == 0, d - 1, column)
    apart[np.arange(pairs), column] = np.sign(planted.w[column]) << (FINE - bits)
    ones = np.ones(pairs, np.int64)
    whole = with_rows(with_rows(planted, on + apart, ones), on - apart, -ones)
    yield given("near-duplicates", whole, S, f"{pairs} pairs, 2^-{bits} apart")


def text(rng: Random, most: int) -> Iterator[Instance]:
    """Counts of words, common and rare; documents that stand there twice, with one label or with both.

    Overlapping: the empty document and each word alone, with both labels.
    """
    d = width_of(rng, most)
    n, words = int(d * rng.choice([1, 3, 10])), 30
    popularity = np.cumsum(1.0 / np.arange(1, d + 1))
    columns = np.searchsorted(popularity, rng.random(n * words) * popularity[-1])
    X = np.zeros((n, d), np.int64)
    np.add.at(X, (np.repeat(np.arange(n), words), columns), 1)
    w = rng.integers(1, 4, d) * rng.choice([-1, 1], d)
    w[:2] = 1, -1
    score = X @ w
    planted = Planted(X[score != 0], np.sign(score)[score != 0], w)
    again = rng.integers(0, len(planted.y), n // 10)
    planted = with_rows(planted, planted.X[again], planted.y[again])
    answer, pairs = int(rng.integers(3)), int(rng.choice([1, 5, 50]))
    if answer == 1:
        on = X[rng.integers(0, n, pairs)]
        on[:, 0] += np.maximum(-(on @ w), 0)
        on[:, 1] += np.maximum(on @ w, 0)
        planted = with_rows(with_rows(planted, on, np.ones(pairs, np.int64)), on, -np.ones(pairs, np.int64))
    if answer == 2:
        alone = np.vstack([np.zeros((1, d), np.int64), np.eye(d, dtype=np.int64)])
        planted = with_rows(with_rows(planted, alone, np.ones(d + 1, np.int64)), alone, -np.ones(d + 1, np.int64))
    yield given("text", planted, (S, T, O)[answer], f"{pairs if answer == 1 else 0} pairs", shift=0, sparse=True)


FAMILIES: tuple[Callable[[Random, int], Iterator[Instance]], ...] = (
    planted_margin, forced_margin, touching, overlapping, small_overlap, correlated, rank_deficient, proportional,
    one_hot, near_duplicates, text,
)  # fmt: skip


# ---------------------------------------------------------------------------------------------------
# Giving away
# ---------------------------------------------------------------------------------------------------


def given(
    name: str, planted: Planted, answers: frozenset[str], told: str, shift: int = FINE, sparse: bool = False
) -> Instance:
    """The instance as doubles, after its scores have been looked at; the rows in a random order."""
    scores = planted.scores()
    if answers == S and scores.min() <= 0:
        raise ValueError("the planted hyperplane does not separate the rows")
    if answers == T and not (scores.min() == 0 < scores.max()):
        raise ValueError("the planted hyperplane does not touch the rows")
    if np.abs(planted.X).max() >= 2**53:
        raise ValueError("a value does not fit into a double")
    order = np.random.default_rng(len(planted.y)).permutation(len(planted.y))
    X: Any = np.ldexp(planted.X[order].astype(np.float64), -shift)
    n, d = X.shape
    return Instance(f"{name}, {n} x {d}, {told}", sp.csr_array(X) if sparse else X, planted.y[order], True, answers)


def changed(rng: Random, one: Instance) -> Instance:
    """Under some changes that change no answer: swapped labels, other units, other places of the columns."""
    X, y = one.X, one.y
    if rng.random() < 0.5:
        y = -y
    X = X[:, rng.permutation(X.shape[1])]
    if rng.random() < 0.3 and not sp.issparse(X):
        X = np.ldexp(X, rng.integers(-9, 10, X.shape[1]))
    if rng.random() < 0.2 and not sp.issparse(X):
        X = sp.csr_array(X)
    return replace(one, X=X, y=y)
