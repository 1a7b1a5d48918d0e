"""Small data sets on which geometry degenerates: for Hypothesis, and by the hundred thousand from a seed.

Ties, repeated rows, points on a line, exact halves and quarters, and the ends of the range of doubles are
where a separability test goes wrong; generic points hide its faults. Both classes are always present.
"""

from math import nextafter

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

DataSet = tuple[NDArray[np.float64], NDArray[np.int64], bool]

SMALLEST, LARGEST = 2.0**-1074, float(np.finfo(np.float64).max)

# In rising order, so that labels given by position are labels given by value.
EXTREMES = (
    -LARGEST,
    -1.0,
    -(2.0**-1022),
    -SMALLEST,
    0.0,
    SMALLEST,
    2.0**-1022,
    1.0,
    nextafter(1.0, 2.0),
    2.0**53,
    LARGEST,
)

# ---------------------------------------------------------------------------------------------------
# Hypothesis
# ---------------------------------------------------------------------------------------------------

small_integers = st.integers(-3, 3).map(float)
dyadic_fractions = st.builds(lambda k, e: k * 2.0**e, st.integers(-5, 5), st.integers(-4, 2))
extremes = st.sampled_from((*EXTREMES, -0.0))
values = st.sampled_from([small_integers, dyadic_fractions, extremes])


@st.composite
def free_rows(draw: st.DrawFn, n: int, d: int) -> list[list[float]]:
    """Rows of one sort of values."""
    sort = draw(values)
    return draw(st.lists(st.lists(sort, min_size=d, max_size=d), min_size=n, max_size=n))


@st.composite
def repeated_rows(draw: st.DrawFn, n: int, d: int) -> list[list[float]]:
    """n rows, of which at most three differ."""
    distinct = draw(free_rows(min(n, 3), d))
    return draw(st.lists(st.sampled_from(distinct), min_size=n, max_size=n))


@st.composite
def collinear_rows(draw: st.DrawFn, n: int, d: int) -> list[list[float]]:
    """n points p + t·q, with small integers p, t and q, exact on one line."""
    p, q = draw(free_integers(d)), draw(free_integers(d))
    return [[a + t * b for a, b in zip(p, q, strict=True)] for t in draw(free_integers(n))]


def free_integers(n: int) -> st.SearchStrategy[list[float]]:
    return st.lists(small_integers, min_size=n, max_size=n)


def labels(n: int) -> st.SearchStrategy[list[int]]:
    """n labels, both classes present: every pattern of bits but the first and the last."""
    patterns = st.integers(1, 2**n - 2)
    return patterns.map(lambda pattern: [1 if pattern >> i & 1 else -1 for i in range(n)])


@st.composite
def data_sets(draw: st.DrawFn, max_rows: int = 7, max_columns: int = 3) -> DataSet:
    """(X, y, bias) with at least two rows and one column."""
    n, d = draw(st.integers(2, max_rows)), draw(st.integers(1, max_columns))
    X = draw(st.one_of(free_rows(n, d), repeated_rows(n, d), collinear_rows(n, d)))
    return np.array(X, dtype=np.float64), np.array(draw(labels(n)), dtype=np.int64), draw(st.booleans())


# ---------------------------------------------------------------------------------------------------
# By the hundred thousand
# ---------------------------------------------------------------------------------------------------


def random_small(rng: np.random.Generator, max_rows: int = 10, max_columns: int = 4) -> DataSet:
    """(X, y, bias) of all three kinds, none of them rare; the same rng gives the same sequence.

    Integers first, a label by the side of a small-integer plane or at random, and then perhaps another
    value in place of each integer.
    """
    n, d = int(rng.integers(2, max_rows + 1)), int(rng.integers(1, max_columns + 1))
    codes = random_integers(rng, n, d)
    y = random_labels(rng, codes)
    return random_values(rng, codes), y, bool(rng.random() < 0.75)


def random_integers(rng: np.random.Generator, n: int, d: int) -> NDArray[np.int64]:
    """Integers in -5..5: small ones, few distinct rows, or points on a line."""
    reach = int(rng.integers(1, 6))
    shape = rng.integers(4)
    if shape == 0:
        few = rng.integers(-reach, reach + 1, (int(rng.integers(2, 5)), d))
        return np.take(few, rng.integers(len(few), size=n), axis=0)
    if shape == 1:
        p, q = rng.integers(-1, 2, (2, d))
        line: NDArray[np.int64] = p + np.outer(rng.integers(-2, 3, n), q)
        return line
    return rng.integers(-reach, reach + 1, (n, d))


def random_labels(rng: np.random.Generator, codes: NDArray[np.int64]) -> NDArray[np.int64]:
    """By the side of a plane, with rows on the plane and a few others at random; or all at random."""
    n, d = codes.shape
    y: NDArray[np.int64] = rng.choice(np.array([-1, 1]), n)
    if rng.random() < 0.75:
        side = np.sign(codes @ rng.integers(-2, 3, d) + rng.integers(-1, 2))
        y = np.where((side == 0) | (rng.random(n) < 0.03), y, side)
    if abs(int(y.sum())) == n:
        y[rng.integers(n)] *= -1
    return y


def random_values(rng: np.random.Generator, codes: NDArray[np.int64]) -> NDArray[np.float64]:
    """The integers themselves, each column times a power of two, or the extremes in their order."""
    sort = rng.integers(4)
    if sort == 0:
        return np.ldexp(codes.astype(np.float64), rng.integers(-60, 60, codes.shape[1]))
    if sort == 1:
        return np.array(EXTREMES)[codes + len(EXTREMES) // 2]
    return codes.astype(np.float64)
