"""The Perceptron against scikit-learn's, the same number of passes in the same run; the cost of weights; the memory.

python benchmarks/perceptron.py
"""

import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.linear_model import Perceptron

import linsep
from linsep import PerceptronClassifier
from timing import race, table

PASSES = 5


def peer(X, y, *, shuffle=False):
    """Scikit-learn's Perceptron, told to make exactly as many passes."""

    def fit():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            Perceptron(shuffle=shuffle, tol=None, max_iter=PASSES, random_state=0).fit(X, y)

    return fit


def ours(X, y, **options):
    """Linsep's, as many passes; it must not stop early, or the race would not be fair."""
    run = linsep.perceptron(X, y, max_passes=PASSES, **options)
    assert run.passes == PASSES, f"stopped after {run.passes} passes"
    return lambda: linsep.perceptron(X, y, max_passes=PASSES, **options)


def compare(name, X, y, **options):
    mine, theirs = race(ours(X, y, **options), peer(X, y, shuffle=options.get("order") == "shuffled"), rounds=5)
    return [name, options.get("order", "cyclic"), f"{mine * 1e3:.1f}", f"{theirs * 1e3:.1f}", f"{theirs / mine:.1f}"]


def sparse_rows():
    X, y = linsep.datasets.planted_sparse(200_000, 50_000, per_row=72, margin=0.001)
    name = f"200,000 x 50,000, {X.nnz / 200_000:.0f} nonzeros a row"
    yield compare(name, X, y)
    yield compare(name, X, y, order="shuffled", random_state=0)
    mine, theirs = race(ours(X, y), peer(X, y, shuffle=True), rounds=5)
    yield [name, "ours cyclic, theirs shuffled (the default)", f"{mine * 1e3:.1f}", f"{theirs * 1e3:.1f}",
           f"{theirs / mine:.1f}"]  # fmt: skip


def dense_rows():
    for n, d, dtype in [(1_000_000, 100, np.float64), (1_000_000, 100, np.float32), (100_000, 20, np.float64)]:
        X, y = linsep.datasets.planted(n, d, margin=0.1, dtype=dtype)
        y[n // 2] *= -1  # no pass is clean, whatever the order
        yield compare(f"{n:,} x {d} {np.dtype(dtype).name}", X, y)
        yield compare(f"{n:,} x {d} {np.dtype(dtype).name}", X, y, order="shuffled", random_state=0)


def weighted_rows():
    """The same fit without weights and with a weight from 0.5 to 1 for each row: a row has one visit either way."""
    dense = linsep.datasets.planted(200_000, 20, margin=0.1)
    sparse = linsep.datasets.planted_sparse(50_000, 20_000, per_row=72, margin=0.001)
    for name, (X, y) in (("200,000 x 20", dense), ("50,000 x 20,000 sparse", sparse)):
        y[len(y) // 2] *= -1  # no pass is clean, whatever the order
        weights = np.random.default_rng(0).uniform(0.5, 1, len(y))
        for order in ("cyclic", "shuffled"):
            for keep in ("last", "average"):
                model = PerceptronClassifier(keep, order=order, max_passes=PASSES, random_state=0)
                rounds = [[processor(model, X, y), processor(model, X, y, weights)] for _ in range(9)]
                absent, present = np.min(rounds, axis=0)
                times = f"{absent * 1e3:.1f}", f"{present * 1e3:.1f}", f"{present / absent:.2f}"
                yield [name, order, keep, *times]


def processor(model, *given):
    """The seconds of the processor that a fit takes: a ratio near 1 would not be seen beside the noise of a clock."""
    start = time.process_time()
    model.fit(*given)
    return time.process_time() - start


def peak_above(dtype):
    """How far the peak memory of a fit rises above the array itself, in a process of its own."""
    run = subprocess.run([sys.executable, __file__, "--peak", dtype], capture_output=True, text=True, check=True)
    return [f"1,000,000 x 100 {dtype}", f"{float(run.stdout):.1%}"]


def measure_peak(dtype):
    small = linsep.datasets.planted(1000, 100, dtype=dtype)
    linsep.perceptron(*small, max_passes=1)  # the code itself is loaded before
    X, y = linsep.datasets.planted(1_000_000, 100, margin=0.1, dtype=dtype)
    y = y.astype(np.int8)
    Path("/proc/self/clear_refs").write_text("5")  # the peak so far, that of making the rows, is forgotten
    before = kilobytes("VmRSS")
    linsep.perceptron(X, y, max_passes=PASSES)
    print((kilobytes("VmHWM") - before) * 1024 / X.nbytes)


def kilobytes(name):
    """A line of /proc/self/status: VmRSS is the memory held now, VmHWM its peak."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith(name)).split()[1])


if __name__ == "__main__":
    if sys.argv[1:2] == ["--peak"]:
        measure_peak(sys.argv[2])
        raise SystemExit
    print("## The Perceptron\n\n`python benchmarks/perceptron.py`\n")
    heads = [f"{PASSES} passes over", "order", "linsep, ms", "scikit-learn, ms", "times faster"]
    print(table(heads, [*dense_rows(), *sparse_rows()]), "\n")
    heads = [f"{PASSES} passes over", "order", "keep", "without weights, ms", "with weights, ms", "times the work"]
    print(table(heads, [*weighted_rows()]), "\n")
    print(table(["a fit of", "peak memory above the array"], [peak_above("float64"), peak_above("float32")]))
