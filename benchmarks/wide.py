"""Many columns: separators and margins beside LIBLINEAR, scikit-learn's Perceptron and HiGHS; verification included.

    python benchmarks/wide.py [--limit 60] [--rows 1.0] [--sets 0 4] [--alone]

A peer has 60 seconds, in a process of its own; what it then has is looked at: "no" is a peer that stopped without a
separator. `--rows` takes a part of the generated rows. The sets of real data are those of docs/data.md.
"""

import argparse
import multiprocessing
import os
import time

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog
from sklearn.linear_model import Perceptron
from sklearn.svm import LinearSVC

import linsep
from real_data import load
from timing import table

SPARSE = [(100_000, 20_000, 1e-2), (100_000, 20_000, 1e-3), (100_000, 20_000, 1e-4), (100_000, 50_000, 1e-3)]
DENSE = [(10_000, 784, 1e-3), (10_000, 2000, 1e-3), (20_000, 5000, 1e-3)]
MARGINS = ["leukemia", "colon", "rcv1_vw_small", "sms_spam", "pcmac", "news20"]


def sparse_rows(n, d, margin, per_row=50, seed=0):
    """Rows with entries in columns drawn evenly, so that none peels; pushed away from a plane within their columns."""
    rng = np.random.default_rng(seed)
    normal = rng.standard_normal(d)
    normal /= np.linalg.norm(normal)
    columns = np.sort(rng.integers(0, d, (n, per_row)), axis=1)
    values = rng.standard_normal((n, per_row))
    values[:, 1:][columns[:, 1:] == columns[:, :-1]] = 0
    weights = normal[columns] * (values != 0)
    distance = (values * weights).sum(axis=1)
    y = np.where(distance > 0, 1, -1)
    missing = np.maximum(np.abs(distance), margin) - np.abs(distance)
    values += (y * missing / (weights**2).sum(axis=1))[:, None] * weights
    X = sp.csr_array(
        (values.ravel(), columns.ravel().astype(np.int32), np.arange(n + 1, dtype=np.int32) * per_row), shape=(n, d)
    )
    X.eliminate_zeros()
    return X, y


def liblinear(X, y):
    fitted = LinearSVC(C=1e6, loss="hinge", max_iter=10_000_000, random_state=0).fit(X, y)
    return fitted.coef_[0], fitted.intercept_[0]


def perceptron(X, y):
    """Ten passes at a time, until it separates."""
    learner = Perceptron(max_iter=10, tol=None, warm_start=True, random_state=0)
    while True:
        learner.fit(X, y)
        if is_right(X, y, learner.coef_[0], learner.intercept_[0]):
            return learner.coef_[0], learner.intercept_[0]


def highs(method):
    """The textbook LP: some w, b with y·(w·x + b) >= 1 for every row."""

    def solve(X, y):
        one = sp.csr_array(np.ones((X.shape[0], 1)))
        Z = sp.diags_array(-y.astype(float)) @ sp.hstack([sp.csr_array(X), one])
        free = [(None, None)] * Z.shape[1]
        found = linprog(np.zeros(Z.shape[1]), A_ub=Z, b_ub=-np.ones(len(y)), bounds=free, method=method)
        return (np.zeros(X.shape[1]), 0.0) if found.x is None else (found.x[:-1], found.x[-1])

    return solve


PEERS = {
    "LIBLINEAR": liblinear,
    "Perceptron": perceptron,
    "HiGHS simplex": highs("highs-ds"),
    "HiGHS IPM": highs("highs-ipm"),
}


def is_right(X, y, w, b):
    return bool((y * (X @ w + b) > 0).all())


def work(pipe, peer, X, y):
    start = time.perf_counter()
    w, b = peer(X, y)
    pipe.send((time.perf_counter() - start, is_right(X, y, w, b)))


def peer_time(peer, X, y, limit):
    """How long a peer takes to separate, in words; it is ended at the limit."""
    here, there = multiprocessing.Pipe()
    child = multiprocessing.get_context("fork").Process(target=work, args=(there, peer, X, y))
    child.start()
    there.close()
    try:
        seconds, right = here.recv() if here.poll(limit) else (None, None)
    except EOFError:
        return "failed"
    finally:
        child.kill()
        child.join()
    if seconds is None:
        return f"> {limit:g} s"
    return f"{seconds:.1f} s" if right else f"no ({seconds:.1f} s)"


def timed(ask):
    start = time.perf_counter()
    answer = ask()
    return answer, time.perf_counter() - start


def separable(limit, part, peers, chosen=None):
    sets = [("sparse, 50 a row", sparse_rows, size) for size in SPARSE]
    sets += [("dense", lambda n, d, margin: linsep.datasets.planted(n, d, margin=margin), size) for size in DENSE]
    for kind in (0, -1):  # what is timed below holds no compiling
        linsep.decide(*sets[kind][1](2000, 400, 0.01))
    for kind, make, (n, d, margin) in sets if chosen is None else [sets[k] for k in chosen]:
        X, y = make(int(n * part), d, margin)
        verdict, seconds = timed(lambda X=X, y=y: linsep.decide(X, y, time_limit=limit))
        times = [peer_time(peer, X, y, limit) for peer in peers.values()]
        yield [f"{X.shape[0]:,} x {d:,}, {kind}", f"{margin:g}", verdict.kind, f"{seconds:.2f} s", *times]


ENTRIES = 50  # of a sparse row
FLIPPED = [("dense", 500), ("dense", 1000), ("dense", 2000), ("sparse", 2000), ("sparse", 5000), ("sparse", 10_000)]


def flipped_rows(kind, width):
    """Ten rows for each column; labels by a random hyperplane, a tenth of them wrong."""
    rng = np.random.default_rng(0)
    n = 10 * width
    if kind == "dense":
        X = rng.standard_normal((n, width))
    else:
        places = np.arange(0, n * ENTRIES + 1, ENTRIES)
        X = sp.csr_array((rng.standard_normal(n * ENTRIES), rng.integers(0, width, n * ENTRIES), places), (n, width))
        X.sum_duplicates()
    y = np.where(X @ rng.standard_normal(width) > 0, 1, -1)
    return X, np.where(rng.random(n) < 0.1, -y, y)


def overlapping():
    linsep.decide(*flipped_rows("dense", 300)), linsep.decide(*flipped_rows("sparse", 300))  # compiles
    for kind, width in FLIPPED:
        X, y = flipped_rows(kind, width)
        verdict, seconds = timed(lambda X=X, y=y: linsep.decide(X, y))
        size, proof = f"{len(y):,} x {width:,}, {kind}", len(verdict.to_json())
        yield [size, verdict.kind, f"{seconds:.2f} s", f"{len(verdict.obstruction.rows):,}", f"{proof / 1000:.0f} kB"]


def margins(limit):
    X, y = linsep.datasets.planted_sparse(3000, 20_000)
    for rows in (X[:80], X[:80].toarray()):  # what is timed below holds no compiling
        linsep.max_margin(rows, y[:80])
    yield margin_line("planted", X, y, limit)
    for name in MARGINS:
        X, y = load(name)
        is_many = len(np.unique(y)) > 2
        yield margin_line(name + ", the first group" * is_many, X, y == 0 if is_many else y, limit)


def margin_line(name, X, y, limit):
    verdict, seconds = timed(lambda: linsep.max_margin(X, y, time_limit=limit))
    size, kind = f"{X.shape[0]:,} x {X.shape[1]:,}", "sparse" if sp.issparse(X) else "dense"
    low, high = verdict.margin
    return [
        name,
        f"{size}, {kind}",
        f"{low:.9g}",
        f"{1 - low / high:.0e}",
        len(verdict.nearest.rows),
        f"{seconds:.2f} s",
    ]


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--limit", type=float, default=60.0)
    parser.add_argument("--rows", type=float, default=1.0)
    parser.add_argument("--alone", action="store_true", help="without the peers")
    parser.add_argument(
        "--sets", type=int, nargs="*", help="of the generated sets only these, counted from 0; no margins"
    )
    asked = parser.parse_args()
    print(f"Load average at the start: {os.getloadavg()[0]:.1f}, on {os.cpu_count()} cores.\n")
    print("### Separable\n")
    peers = {} if asked.alone else PEERS
    heads = ["rows", "margin", "verdict", "linsep, with the proof", *peers]
    print(table(heads, list(separable(asked.limit, asked.rows, peers, asked.sets))), "\n")
    if asked.sets is None:
        print("### Overlapping: a tenth of the labels flipped\n")
        heads = ["rows", "verdict", "decide, with the proof", "rows of the proof", "written proof"]
        print(table(heads, list(overlapping())), "\n")
        print("### Margin\n")
        heads = ["set", "rows", "margin", "gap", "nearest rows", "max_margin, with the proof"]
        print(table(heads, list(margins(asked.limit))))
