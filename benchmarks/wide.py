"""Many columns: verdicts and margins beside LIBLINEAR, scikit-learn's Perceptron and HiGHS; verification included.

    python benchmarks/wide.py [--limit 60] [--part 1.0] [--kinds dense sparse] [--alone]
                              [--tables separable overlapping touching peeled one-hot real margin]

A peer has 60 seconds, in a process of its own; what it then has is looked at: "no" is a peer that stopped without a
separator, "infeasible" is what HiGHS says, without a proof. One that did not finish is not asked about the tables of
the same kind that follow: they are larger or harder. `--part` makes all generated tables smaller. With the peers all
take three quarters of an hour; one table of one kind (`--tables touching --kinds sparse`) takes less than ten minutes:
at most one minute for each peer that is late, and what the others and linsep take. The sets of real data are those of
docs/data.md.
"""

import argparse
import multiprocessing
import os
import resource
import time
import warnings
from functools import partial

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog
from sklearn.linear_model import Perceptron
from sklearn.svm import SVC, LinearSVC

import linsep
from real_data import load
from timing import table

SPARSE = [(100_000, 20_000, 1e-2), (100_000, 20_000, 1e-3), (100_000, 20_000, 1e-4), (100_000, 50_000, 1e-3)]
DENSE = [(10_000, 784, 1e-3), (10_000, 2000, 1e-3), (20_000, 5000, 1e-3)]
TABLES = ["separable", "overlapping", "touching", "peeled", "one-hot", "real", "margin"]
KINDS = ["sparse", "dense"]
ONE_HOT = [(20_000, 20, 50), (50_000, 20, 100), (50_000, 10, 500)]  # rows, groups, levels of each
REAL = ["colon", "leukemia", "sms_spam", "reuters_lasvm", "news20"]  # the smallest first
MOST_BYTES = 12 << 30  # of memory for a peer
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
        if found.status == INFEASIBLE:
            return None
        return (np.zeros(X.shape[1]), 0.0) if found.x is None else (found.x[:-1], found.x[-1])

    return solve


INFEASIBLE = 2  # of SciPy's status
PEERS = {
    "LIBLINEAR": liblinear,
    "Perceptron": perceptron,
    "HiGHS simplex": highs("highs-ds"),
    "HiGHS IPM": highs("highs-ipm"),
}
NEVER = ("Perceptron",)  # never stops on rows that no hyperplane separates


def is_right(X, y, w, b):
    return bool((y * (X @ w + b) > 0).all())


def work(pipe, peer, X, y, told):
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
    warnings.simplefilter("ignore")  # of a peer that did not converge: what it has is looked at
    start = time.perf_counter()
    found = peer(X, y)
    seconds = time.perf_counter() - start
    pipe.send(f"{told(X, y, found)}{seconds:.1f} s")


def separates(X, y, found):
    return "infeasible, " if found is None else "" if is_right(X, y, *found) else "no, "


def peer_time(peer, X, y, limit, told=separates):
    """What a peer comes to and how long it takes, in words; it is ended at the limit."""
    here, there = multiprocessing.Pipe()
    child = multiprocessing.get_context("fork").Process(target=work, args=(there, peer, X, y, told))
    child.start()
    there.close()
    try:
        return here.recv() if here.poll(limit) else f"> {limit:g} s"
    except EOFError:  # out of memory, for one
        return "failed"
    finally:
        child.kill()
        child.join()


class Peers:
    """Peers that are asked about tables in the order of their size, until they are late."""

    def __init__(self, peers, limit):
        self.peers, self.limit, self.late = peers, limit, {}

    def times(self, kind, X, y, never=()):
        """A cell for each peer; `never` are those that would not stop by themselves."""
        for name, peer in self.peers.items():
            if name in never:
                yield "never stops"
            elif (kind, name) in self.late:
                yield self.late[kind, name]
            else:
                told = peer_time(peer, X, y, self.limit)
                if told.startswith((">", "failed")):
                    self.late[kind, name] = told
                yield told


def timed(ask):
    start = time.perf_counter()
    answer = ask()
    return answer, time.perf_counter() - start


def separable(limit, part, peers, kinds):
    asked = Peers(peers, limit)
    makers = {"sparse": sparse_rows, "dense": lambda n, d, margin: linsep.datasets.planted(n, d, margin=margin)}
    sizes = {"sparse": SPARSE, "dense": DENSE}
    sets = [(kind, makers[kind], size) for kind in kinds for size in sizes[kind]]
    for kind in (0, -1):  # what is timed below holds no compiling
        linsep.decide(*sets[kind][1](2000, 400, 0.01))
    for kind, make, (n, d, margin) in sets:
        X, y = make(int(n * part), d, margin)
        verdict, seconds = timed(lambda X=X, y=y: linsep.decide(X, y, time_limit=limit))
        size = f"{X.shape[0]:,} x {d:,}, {kind}{', 50 a row' * (kind == 'sparse')}"
        yield [size, f"{margin:g}", verdict.kind, f"{seconds:.2f} s", *asked.times(kind, X, y)]


ENTRIES = 50  # of a sparse row
FLIPPED = [("dense", 500), ("dense", 1000), ("dense", 2000), ("sparse", 2000), ("sparse", 5000), ("sparse", 10_000)]


def flipped_rows(kind, width):
    """Ten rows for each column; labels by a random hyperplane, a tenth of them wrong."""
    rng = np.random.default_rng(0)
    n = 10 * width
    if kind == "dense":
        X = rng.standard_normal((n, width))
    else:
        places, columns = np.arange(0, n * ENTRIES + 1, ENTRIES), rng.integers(0, width, n * ENTRIES)
        X = sp.csr_array(
            (rng.standard_normal(n * ENTRIES), columns.astype(np.int32), places.astype(np.int32)), (n, width)
        )
        X.sum_duplicates()
    y = np.where(X @ rng.standard_normal(width) > 0, 1, -1)
    return X, np.where(rng.random(n) < 0.1, -y, y)


def touching_rows(kind, width):
    """The flipped rows, their first two columns made equal; and beside them one row for each column, of the class that
    the difference of the two says: a weak separator, which no column alone is.
    """
    X, y = flipped_rows(kind, width)
    sides = np.resize([1, 1, -1], width)
    first, rest = X[:, [0]] if kind == "dense" else X[:, [0]].toarray(), X[:, 2:]
    beside = first[:width] + sides[:, None] * np.resize([1.0, 2.0], width)[:, None]
    return mixed(kind, [[first, first, rest], [beside, first[:width], rest[:width]]], [y, sides])


def peeled_rows(kind, width):
    """The flipped rows, 0 in one more column; and beside them one row for each column that has its class there."""
    X, y = flipped_rows(kind, width)
    sides = np.resize([1, 1, -1], width)
    return mixed(kind, [[X, np.zeros((len(y), 1))], [X[:width], sides[:, None]]], [y, sides])


def mixed(kind, blocks, labels):
    """The rows of a table of tables, in a random order."""
    whole = np.block(blocks) if kind == "dense" else sp.block_array([[sp.csr_array(b) for b in row] for row in blocks])
    order = np.random.default_rng(1).permutation(whole.shape[0])
    return (whole if kind == "dense" else sp.csr_array(whole))[order], np.concatenate(labels)[order]


def not_separable(limit, part, asked, make, kinds):
    """Verdicts on rows that no hyperplane separates, with their proofs."""
    late = set()
    for kind in kinds:
        linsep.decide(*make(kind, 220))  # compiles
    for kind, width in [size for size in FLIPPED if size[0] in kinds]:
        X, y = make(kind, max(220, int(part * width)))
        cells = ["", f"> {limit:g} s", "", ""] if kind in late else decided(X, y, limit)
        late |= {kind} if cells[0] in ("not-separable", "undecided") else set()
        yield [rows_of(X), *cells, *asked.times(kind, X, y, never=NEVER)]


def decided(X, y, limit):
    """The verdict, its time, the rows of its proof, and the size of it when written."""
    verdict, seconds = timed(lambda: linsep.decide(X, y, time_limit=limit))
    known, proof = getattr(verdict, "obstruction", None), len(verdict.to_json()) / 1000
    return [verdict.kind, f"{seconds:.2f} s", f"{len(known.rows):,}" if known else "", f"{proof:,.0f} kB"]


def rows_of(X):
    return f"{X.shape[0]:,} x {X.shape[1]:,}, {'sparse' if sp.issparse(X) else 'dense'}"


def one_hot_rows(n, groups, levels, flips, seed=0):
    """One level of each group in each row; labels by a weight for each level, some of them flipped."""
    rng = np.random.default_rng(seed)
    columns = rng.integers(0, levels, (n, groups)) + levels * np.arange(groups)
    weights = rng.integers(-1000, 1001, groups * levels)
    y = np.where(weights[columns].sum(axis=1) * 2 + 1 > 0, 1, -1)
    places = np.arange(0, n * groups + 1, groups)
    X = sp.csr_array((np.ones(n * groups), columns.ravel().astype(np.int32), places.astype(np.int32)))
    return X, np.where(rng.random(n) < flips, -y, y)


def one_hot(limit, part, asked, kinds):
    """Verdicts on one-hot tables, whose columns depend on each other and on the bias."""
    for flips in (0.0, 0.1):
        for kind in kinds:
            for n, groups, levels in ONE_HOT if kind == "sparse" else ONE_HOT[:1]:
                X, y = one_hot_rows(int(part * n), groups, max(5, int(part * levels)), flips)
                X = X.toarray() if kind == "dense" else X
                linsep.decide(X, y, time_limit=limit)  # compiles
                never = NEVER if flips else ()
                name = f"{groups} groups of {X.shape[1] // groups}, {flips:.0%} flipped"
                yield [name, rows_of(X), *decided(X, y, limit), *asked.times((kind, flips), X, y, never)]


def real(limit, asked):
    """Verdicts on text and genes; news20 is its first group against the others."""
    for name in REAL:
        X, y, title = two_classes(name)
        linsep.decide(X, y, time_limit=limit)  # compiles
        cells = decided(X, y, limit)
        never = () if cells[0] == "separable" else NEVER
        yield [title, rows_of(X), *cells, *asked.times("real", X, y, never)]


def two_classes(name):
    """A set of real data: of more than two classes, the first against the others."""
    X, y = load(name)
    is_many = len(np.unique(y)) > 2
    return X, np.where(y == 0, 1, -1) if is_many else np.where(y > 0, 1, -1), name + ", the first group" * is_many


def margins(limit, peers):
    X, y = linsep.datasets.planted_sparse(3000, 20_000)
    for rows in (X[:80], X[:80].toarray()):  # what is timed below holds no compiling
        linsep.max_margin(rows, y[:80])
    yield margin_line("planted", X, y, limit, peers)
    for name in MARGINS:
        X, y, title = two_classes(name)
        yield margin_line(title, X, y, limit, peers)


def margin_line(name, X, y, limit, peers):
    verdict, seconds = timed(lambda: linsep.max_margin(X, y, time_limit=limit))
    low, high = verdict.margin
    found = [f"{low:.9g}", f"{1 - low / high:.0e}", len(verdict.nearest.rows), f"{seconds:.2f} s"]
    told = partial(gap_of, high)
    return [name, rows_of(X), *found, *(peer_time(peer, X, y, limit, told) for peer in peers.values())]


def libsvm(X, y):
    fitted = SVC(kernel="linear", C=1e6, cache_size=1000).fit(X, y)
    w = fitted.coef_
    return (w.toarray() if sp.issparse(w) else w)[0], fitted.intercept_[0]


def gap_of(high, X, y, found):
    """How far below the largest margin the one of a peer's hyperplane is, as a part of it."""
    w, b = found
    return f"{1 - (y * (X @ w + b)).min() / np.linalg.norm(w) / high:.0e}, "


def page(asked):
    """The tables, one after the other."""
    peers = {} if asked.alone else PEERS
    heads = ["rows", "margin", "verdict", "linsep, with the proof", *peers]
    if "separable" in asked.tables:
        yield "### Separable", table(heads, list(separable(asked.limit, asked.part, peers, asked.kinds)))
    heads = ["rows", "verdict", "decide, with the proof", "rows of the proof", "written proof", *peers]
    named = ["set", *heads]
    beside = Peers(peers, asked.limit)
    made = [
        ("overlapping", "Overlapping: a tenth of the labels flipped", flipped_rows),
        ("touching", "Touching: the same, beside rows that two columns separate", touching_rows),
        ("peeled", "Touching: the same, beside rows that one column separates", peeled_rows),
    ]
    for name, title, make in made:
        if name in asked.tables:
            lines = not_separable(asked.limit, asked.part, beside, make, asked.kinds)
            yield f"### {title}", table(heads, list(lines))
    if "one-hot" in asked.tables:
        yield "### One-hot", table(named, list(one_hot(asked.limit, asked.part, beside, asked.kinds)))
    if "real" in asked.tables:
        yield "### Text and genes", table(named, list(real(asked.limit, beside)))
    if "margin" in asked.tables:
        heads = ["set", "rows", "margin", "gap", "nearest rows", "max_margin, with the proof"]
        peers = {} if asked.alone else {"LIBSVM: gap, time": libsvm}
        yield "### Margin", table([*heads, *peers], list(margins(asked.limit, peers)))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--limit", type=float, default=60.0)
    parser.add_argument("--part", type=float, default=1.0, help="of the rows (separable), or of the columns")
    parser.add_argument("--alone", action="store_true", help="without the peers")
    parser.add_argument("--tables", nargs="*", choices=TABLES, default=TABLES)
    parser.add_argument("--kinds", nargs="*", choices=KINDS, default=KINDS, help="of rows; not of those of the margins")
    asked = parser.parse_args()
    print(f"Load average at the start: {os.getloadavg()[0]:.1f}, on {os.cpu_count()} cores.\n", flush=True)
    for title, lines in page(asked):
        print(f"{title}\n\n{lines}\n", flush=True)
