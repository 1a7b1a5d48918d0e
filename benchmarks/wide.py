"""Many columns: how long is an obstruction looked for, and how long is its proof?

A tenth of the labels of random rows is flipped, ten rows for each column, dense and sparse; the classes overlap.

    python benchmarks/wide.py [500 1000 2000]
"""

import sys
import time

import numpy as np
import scipy.sparse as sp

import linsep
from timing import table

ENTRIES = 50  # of a sparse row


def flipped(rows, rng):
    """Labels by a random hyperplane, a tenth of them wrong."""
    y = np.where(rows @ rng.standard_normal(rows.shape[1]) > 0, 1, -1)
    return np.where(rng.random(len(y)) < 0.1, -y, y)


def dense(width, rng):
    return rng.standard_normal((10 * width, width))


def sparse(width, rng):
    n = 10 * width
    places = np.arange(0, n * ENTRIES + 1, ENTRIES)
    rows = sp.csr_array((rng.standard_normal(n * ENTRIES), rng.integers(0, width, n * ENTRIES), places), (n, width))
    rows.sum_duplicates()
    return rows


def measured(kind, width):
    """Seconds to decide and to verify, and what the proof is."""
    rng = np.random.default_rng(0)
    X = kind(width, rng)
    y = flipped(X, rng)
    start = time.perf_counter()
    verdict = linsep.decide(X, y)
    decided = time.perf_counter()
    verdict.verify(X, y)
    verified = time.perf_counter()
    rows, text = len(verdict.obstruction.rows), verdict.to_json()
    seconds = f"{decided - start:.2f}", f"{verified - decided:.2f}"
    return [kind.__name__, f"{width:,}", verdict.kind, *seconds, f"{rows:,}", f"{len(text) / 1000:.0f} kB"]


def main(widths):
    linsep.decide(np.eye(300), np.arange(300) % 2)  # compiles
    lines = [measured(kind, width) for kind in (dense, sparse) for width in widths]
    print(table(["rows", "columns", "verdict", "decide, s", "verify, s", "rows of the proof", "proof"], lines))


if __name__ == "__main__":
    main([int(word) for word in sys.argv[1:]] or [500, 1000, 2000])
