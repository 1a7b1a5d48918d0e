"""The generators keep what they promise."""

import numpy as np
import pytest

from linsep import datasets, perceptron


@pytest.mark.parametrize("margin", [0.5, 0.01])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_planted_rows_have_the_margin(margin, dtype):
    X, y = datasets.planted(2000, 8, margin=margin, dtype=dtype, seed=4)
    assert X.dtype == dtype and set(y) == {-1, 1}
    normal = np.random.default_rng(4).standard_normal(8)
    assert (y * (X @ (normal / np.linalg.norm(normal)))).min() >= margin * (1 - 1e-5)


def test_planted_sparse_rows_are_separable_and_zipf():
    X, y = datasets.planted_sparse(3000, 1000, per_row=30, margin=0.05)
    per_column = np.bincount(X.indices, minlength=1000)
    assert perceptron(X, y).converged and set(y) == {-1, 1}
    assert per_column[:10].min() > per_column[500:].max() and 15 < X.nnz / 3000 <= 30
    assert X.has_canonical_format


def test_flipped_labels_are_as_many_as_asked_for():
    assert (datasets.planted(500, 4)[1] != datasets.planted(500, 4, flipped=7)[1]).sum() == 7
    assert (datasets.planted_sparse(500, 40)[1] != datasets.planted_sparse(500, 40, flipped=7)[1]).sum() == 7


def test_a_seed_repeats_its_rows():
    assert np.array_equal(datasets.planted(100, 3, seed=9)[0], datasets.planted(100, 3, seed=9)[0])
    assert not np.array_equal(datasets.planted(100, 3, seed=9)[0], datasets.planted(100, 3, seed=8)[0])
