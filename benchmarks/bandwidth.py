"""How near a pass and a scan come to the speed of the memory, and what the ways of reading are worth.

python benchmarks/bandwidth.py
"""

import numpy as np
import scipy.sparse as sp
from numba import njit

import linsep
from linsep.cores import thread_count
from linsep.learners.kept_weights import Weights
from linsep.learners.perceptron import Perceptron
from linsep.loops.row_verbs import FAST
from linsep.sources.inputs import as_source
from timing import race, read_once, shares, table


@njit(nogil=True, cache=True, **FAST)
def compiler_dots(X, w):
    """The loop as one would write it, left to the compiler."""
    total = 0.0
    for i in range(X.shape[0]):
        score = 0.0
        for j in range(w.size):
            score += X[i, j] * w[j]
        total = max(total, score)
    return total


@njit(nogil=True, cache=True, **FAST)
def gathered_dots(data, indices, indptr, w):
    """The sparse loop with regrouping allowed: the compiler uses gather instructions."""
    total = 0.0
    for i in range(indptr.size - 1):
        score = 0.0
        for k in range(indptr[i], indptr[i + 1]):
            score += data[k] * w[indices[k]]
        total = max(total, score)
    return total


def clean_pass(source, halfspace):
    """A pass without a mistake: the walk itself, nothing learned."""
    walker, (block,), counts = Perceptron(2, source.n_columns), source.blocks(), np.zeros(source.n_rows, np.int64)
    walker.weights = Weights(halfspace.w.astype(np.float64)[None], np.array([float(halfspace.b)]))
    return lambda: walker.learn(block, counts)


def dense(n, d, dtype):
    X, y = linsep.datasets.planted(n, d, margin=0.3, dtype=dtype)
    run = linsep.perceptron(X, y)
    assert run.converged
    source, w, b = as_source(X, y), run.halfspace.w.astype(np.float64), float(run.halfspace.b)
    threads = thread_count()
    read, read_all = read_once(X), read_once(X, threads)
    walk, plain = shares(read, clean_pass(source, run.halfspace), lambda: compiler_dots(X, w), rounds=15)
    (scan,) = shares(read_all, lambda: source.scan(w, b), rounds=15)
    best, best_all = race(read, read_all, rounds=5)
    gigabytes = X.nbytes / 1e9
    return [
        f"{n:,} x {d} {np.dtype(dtype).name}",
        f"{gigabytes / best:.1f} GB/s",
        f"{walk:.0%}",
        f"{plain:.0%}",
        f"{gigabytes / best_all:.1f} GB/s",
        f"{scan:.0%}",
    ]


def sparse(n, d):
    X, y = linsep.datasets.planted_sparse(n, d)
    run = linsep.perceptron(X, y)
    source, w = as_source(X, y), run.halfspace.w.astype(np.float64)
    walk, gathered = race(
        clean_pass(source, run.halfspace), lambda: gathered_dots(X.data, X.indices, X.indptr, w), rounds=9
    )
    nbytes = sp.csr_array(X).data.nbytes + X.indices.nbytes
    return [f"{n:,} x {d:,}", f"{X.nnz / n:.0f}", f"{nbytes / walk / 1e9:.1f} GB/s", f"{gathered / walk:.2f}"]


if __name__ == "__main__":
    print("## The speed of memory\n\n`python benchmarks/bandwidth.py`\n")
    shapes = [(1_000_000, 100, np.float64), (1_000_000, 100, np.float32), (200_000, 784, np.float64)]
    heads = ["dense rows", "read, 1 thread", "pass", "the compiler's own loop", "read, all threads", "scan"]
    print(table(heads, [dense(*shape) for shape in shapes]), "\n")
    print(table(["sparse rows", "nonzeros a row", "pass", "times faster than gathers"], [sparse(200_000, 50_000)]))
