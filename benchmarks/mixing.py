"""Parameter mixing beside the Perceptron in one process: test error, passes and CPU seconds, on real data.

    python benchmarks/mixing.py FOLDER [PASSES]

FOLDER holds the sets of docs/data.md. Rows are drawn apart, four fifths to learn from, and cut into partitions.
"""

import sys
import time
from pathlib import Path

import dask
import dask.array as da
import numpy as np
import scipy.sparse as sp

from linsep import PerceptronClassifier

SETS, PARTS = ("mnist", "a9a", "w8a", "ijcnn1", "phishing", "spambase"), (1, 4, 16)


def main(folder, passes):
    dask.config.set(scheduler="synchronous")
    print(f"{'set':10} {'rows':>7} {'alone':>16} " + " ".join(f"{parts:>9} parts" for parts in PARTS))
    for name in SETS:
        train, test = split(*read(Path(folder, f"{name}.npz")))
        cells = [fitted(*train, *test, passes, None), *(fitted(*train, *test, passes, parts) for parts in PARTS)]
        told = " ".join(f"{100 * error:5.2f} % {rounds:3} {cpu:5.1f} s" for error, rounds, cpu in cells)
        print(f"{name:10} {len(train[1]):7} {told}", flush=True)


def read(path):
    with np.load(path) as stored:
        known = dict(stored)
    if "X" in known:
        return known["X"].astype(np.float64), known["y"]
    parts = known["data"].astype(np.float64), known["indices"], known["indptr"]
    return sp.csr_array(parts, shape=tuple(known["shape"])), known["y"]


def split(X, y):
    order = np.random.default_rng(0).permutation(len(y))
    cut = 4 * len(y) // 5
    return [(X[rows], y[rows]) for rows in (order[:cut], order[cut:])]


def fitted(X, y, X_test, y_test, passes, parts):
    """The test error, the passes, and the CPU seconds of a fit; in partitions, or alone."""
    data = (X, y) if parts is None else in_parts(X, y, parts)
    started = time.process_time()
    found = PerceptronClassifier(max_passes=passes, random_state=0).fit(*data)
    return 1 - found.score(X_test, y_test), found.n_passes_, time.process_time() - started


def in_parts(X, y, parts):
    edges = [len(y) * k // parts for k in range(parts + 1)]
    spans = [slice(*edges[k : k + 2]) for k in range(parts)]
    rows = [dask.delayed(X[span]) for span in spans]
    shapes = [(edges[k + 1] - edges[k], X.shape[1]) for k in range(parts)]
    whole = [da.from_delayed(part, shape, float) for part, shape in zip(rows, shapes, strict=True)]
    return da.concatenate(whole), da.from_array(y, chunks=(tuple(shape[0] for shape in shapes),))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 10)
