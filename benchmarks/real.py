"""Verdicts on real data, each proved, and checked again by the stand-alone checker wherever a CSV is not too large.

python benchmarks/real.py
"""

import csv
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import linsep
from real_data import load, logistic_sets, two_class_sets
from timing import table

MOST_CELLS = 40_000_000  # of a CSV file for the checker: about 2 minutes


def write_csv(path, X, y):
    """The table with exact decimals, header x1, x2, ..., label."""
    with path.open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow([*(f"x{j + 1}" for j in range(X.shape[1])), "label"])
        for start in range(0, X.shape[0], 1000):
            part = X[start : start + 1000]
            part = part if isinstance(part, np.ndarray) else part.toarray()
            part = part.astype(np.float64) if part.dtype.kind == "f" else part
            labels = y[start : start + 1000].tolist()
            out.writerows([*row, label] for row, label in zip(part.tolist(), labels, strict=True))


def checked(verdict, X, y):
    """What the stand-alone checker says, and how long it took."""
    if X.shape[0] * X.shape[1] > MOST_CELLS:
        return "CSV too large"
    with tempfile.TemporaryDirectory() as folder:
        data, proof = Path(folder) / "data.csv", Path(folder) / "proof.json"
        write_csv(data, X, y)
        proof.write_text(verdict.to_json())
        command = [sys.executable, "-m", "linsep.checker", str(proof), str(data), "--label", "label"]
        start = time.perf_counter()
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        words = run.stdout.split()
        said = words[0].lower() if words else f"exit {run.returncode}: {run.stderr.strip()[:80]}"
        return f"{said}, {time.perf_counter() - start:.1f} s"


def line(name, X, y, expected):
    start = time.perf_counter()
    verdict = linsep.decide(X, y, time_limit=600)
    seconds = time.perf_counter() - start
    assert verdict.kind == expected or expected == "", f"{name}: {verdict.kind}, expected {expected}"
    size = len(verdict.obstruction.rows) if verdict.separable is False else ""
    shape = f"{X.shape[0]:,} x {X.shape[1]:,}"
    cells = [name, shape, verdict.kind, size, f"{seconds:.2f} s", checked(verdict, X, y)]
    print(*cells, sep=" | ", file=sys.stderr, flush=True)
    return cells


def warm_up():
    """Sets that lead down every path, decided once: what is timed later holds no compiling."""
    for name in ("breast_cancer_wisconsin", "australian", "colon", "sms_spam", "a9a", "spambase", "covtype"):
        linsep.decide(*load(name))


def lines():
    for known, X, y in two_class_sets():
        yield line(known.name, X, y, known.verdict)
    for known, X, y in logistic_sets():
        yield line(known.name, X, y, known.verdict)
    X, y = load("news20")
    for label in np.unique(y):
        yield line(f"news20, group {label} or not", X, np.where(y == label, 1, -1), "")


if __name__ == "__main__":
    warm_up()
    heads = ["set", "rows x columns", "verdict", "rows of the obstruction", "decided in", "stand-alone checker"]
    print(table(heads, list(lines())))
