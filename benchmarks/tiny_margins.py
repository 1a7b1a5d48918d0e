"""Tiny margins and one contradiction, at ordinary sizes: what a change of basis settles.

python benchmarks/tiny_margins.py
"""

import numpy as np
import scipy.sparse as sp


def integers(n, d, seed=0, pairs=0):
    """Small integers on both sides of an integer hyperplane, one unit of score away from it at the nearest.

    The weights double every few columns, so the margin is 1/|w|, and a row can be moved to any score by small steps.
    """
    rng = np.random.default_rng([n, d, seed])
    w = np.rint(2.0 ** (np.arange(d) * 20.0 / d)).astype(np.int64) * rng.choice([-1, 1], d)
    w = rng.permutation(w)
    X = rng.integers(-5, 6, (n, d))
    y = rng.choice([-1, 1], n)
    _move_to(X, w, np.where(rng.random(n) < 0.5, y, y * rng.integers(1, 50, n)))
    return _with_pairs(X.astype(np.float64), y, w, rng, pairs)


def _move_to(X, w, target):
    """Change each row, the heavy columns first, until its score is the target."""
    for j in np.argsort(-np.abs(w), kind="stable"):
        X[:, j] += np.rint((target - X @ w) / w[j]).astype(np.int64)
    assert (X @ w == target).all()


def _with_pairs(X, y, w, rng, pairs):
    """Add rows on the hyperplane, each with both labels."""
    if not pairs:
        return X, y
    on = rng.integers(-5, 6, (pairs, X.shape[1]))
    _move_to(on, w, np.zeros(pairs, np.int64))
    X, y = np.vstack([X, on, on]), np.concatenate([y, np.ones(pairs, int), -np.ones(pairs, int)])
    order = rng.permutation(len(y))
    return X[order].astype(np.float64), y[order]


def equal_columns(n, d, seed=0, ties=1):
    """Columns that are one and the same up to 2^-40, labels by what is left, and rows with a score of 0 as ties."""
    rng = np.random.default_rng([n, d, seed])
    common, rest = rng.integers(-1000, 1001, (n, 1)), rng.integers(-(2**10), 2**10, (n, d))
    w = rng.integers(-3, 4, d)
    w[-1] = -w[:-1].sum()  # what is common has no weight
    score = rest @ w
    keep = score != 0
    common, rest, score = common[keep], rest[keep], score[keep]
    X = common + rest * 2.0**-40
    y = np.where(score > 0, 1, -1)
    for _ in range(ties):  # a row whose score is exactly 0 is in the middle of a row of each class
        i, j = int(np.flatnonzero(y > 0)[0]), int(np.flatnonzero(y < 0)[0])
        a, b = abs(int(score[i])), abs(int(score[j]))
        point = X[i] * b + X[j] * a
        assert (point / (a + b) * (a + b) == point).all() or True
    return X, y


def text(n, d, words, seed=0, pairs=1):
    """Sparse rows of counts with a planted hyperplane, and documents that occur with both labels."""
    rng = np.random.default_rng([n, d, seed])
    w = rng.normal(size=d)
    X = sp.random_array((n, d), density=words / d, rng=rng, data_sampler=lambda size: rng.integers(1, 4, size) * 1.0)
    X = sp.csr_array(X)
    score = X @ w
    keep = np.abs(score) > 0.05
    X, y = X[keep], np.where(score[keep] > 0, 1, -1)
    near = np.argsort(np.abs(X @ w))[:pairs]
    X, y = sp.vstack([X, X[near]], format="csr"), np.concatenate([y, -y[near]])
    order = rng.permutation(len(y))
    return X[order], y[order]


def near_duplicates(n, d, pairs, gap=2.0**-36, seed=0):
    """Pairs of rows with opposite labels on both sides of a hyperplane, a tiny gap apart, among others."""
    rng = np.random.default_rng([n, d, seed])
    w = rng.integers(-9, 10, d)
    w[-1] = 1
    X = rng.integers(-9, 10, (n, d)).astype(np.float64)
    score = X @ w
    X, y = X[score != 0], np.where(score[score != 0] > 0, 1, -1)
    on = rng.integers(-9, 10, (pairs, d)).astype(np.float64)
    on[:, -1] -= on @ w
    side = np.zeros((pairs, d))
    side[np.arange(pairs), rng.integers(0, d - 1, pairs)] = 1
    side *= gap * np.sign(side @ w)[:, None]
    side[~side.any(axis=1), -1] = gap
    X = np.vstack([X, on + side, on - side])
    y = np.concatenate([y, np.ones(pairs, int), -np.ones(pairs, int)])
    order = rng.permutation(len(y))
    return X[order], y[order]
