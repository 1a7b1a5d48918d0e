"""Joint, pair and rest verdicts on small tables of many classes, each held against Fractions.

    python -m tests.campaigns.class_campaign [instances] [--seed 0]

Rows lie on a small grid, so that ties, equal rows with different labels and rows that touch are common. Every other
table goes the road of large ones; every proof is written, read, and checked again by the library and by the checker
that stands alone. Exit code 1 if a single verdict is wrong. docs/classes.md says what the last run printed.
"""

import argparse
import io
import sys
import tempfile
import time
from collections import Counter
from contextlib import contextmanager, redirect_stdout
from pathlib import Path

import numpy as np
import scipy.sparse as sp

import linsep
from linsep import checker
from linsep.proofs.class_rows import questions
from linsep.questions import classes as classes_module
from linsep.questions import decide as decide_module
from tests import naive

LAYOUTS = ("floats", "integers", "sparse")


def instance(seed):
    """A few rows of two to five classes on a small grid, and whether there is a bias."""
    random = np.random.default_rng(seed)
    n_classes, d = int(random.integers(2, 6)), int(random.integers(1, 4))
    n = n_classes + int(random.integers(0, 7))
    reach = int(random.integers(1, 5))
    X = random.integers(-reach, reach + 1, (n, d))
    if seed % 3 == 0:  # what scores tell apart, but for some rows
        scores = X @ random.integers(-3, 4, (d, n_classes)) + random.integers(-3, 4, n_classes)
        y = scores.argmax(axis=1)
        y[random.random(n) < 0.05] = 0
    else:
        y = random.integers(0, n_classes, n)
    y[:2] = 0, 1  # two classes at least
    return X, y, bool(seed % 4)


def kesler_rows(X, y, bias):
    """Kesler's rows with a block for every class, one by one."""
    n_classes = max(y) + 1
    rows = []
    for x, own in zip(naive.exact_rows(X), y, strict=True):
        own_row = (*x, *((naive.ONE,) if bias else ()))
        zero = (naive.ZERO,) * len(own_row)
        for other in range(n_classes):
            if other != own:
                blocks = {own: own_row, other: tuple(-value for value in own_row)}
                rows.append(sum((blocks.get(k, zero) for k in range(n_classes)), ()))
    return rows


def kind_of(Z):
    """The kind of verdict on signed rows, by the simplex method in Fractions."""
    seen = {type(found) for found in naive.findings(Z)}
    return "touching" if len(seen) == 2 else "separable" if seen == {naive.WeakSeparator} else "overlapping"


def expected(X, y, bias, by):
    """The kinds of all verdicts; classes are 0 to K - 1, and all of them occur."""
    if by == "joint":
        return [kind_of(kesler_rows(X, y, bias))]
    kinds = []
    for question in questions(by, max(y) + 1):
        chosen = [i for i, own in enumerate(y) if by == "rest" or own in question]
        signs = [1 if y[i] == question[-1] else -1 for i in chosen]
        kinds.append(naive.decide([X[i] for i in chosen], signs, bias))
    return kinds


def laid_out(X, layout):
    """The same table as floats, as integers, or sparse."""
    return {"floats": X / 1.0, "integers": X.astype(np.int16), "sparse": sp.csr_array(X.astype(np.float32))}[layout]


@contextmanager
def long_road(seed):
    """Every other small table is decided as large ones are, and of every fifth the pairs are asked first."""
    few, much = decide_module.FEW_ROWS, classes_module.MUCH
    decide_module.FEW_ROWS = 0 if seed % 2 else few
    classes_module.MUCH = much if seed % 5 else 0
    try:
        yield
    finally:
        decide_module.FEW_ROWS, classes_module.MUCH = few, much


def stand_alone(text, X, y, folder):
    """What the stand-alone checker says about a written proof: its exit status, and its words."""
    proof, data = Path(folder) / "proof.json", Path(folder) / "data.csv"
    proof.write_text(text)
    data.write_text("\n".join(",".join(map(str, [*row, label])) for row, label in zip(X, y, strict=True)))
    said = io.StringIO()
    with redirect_stdout(said):
        status = checker.main([str(proof), str(data)])
    return status, said.getvalue()


def faults_of(seed, folder):
    """What is wrong with the verdicts on one instance; and their kinds."""
    X, y, bias = instance(seed)
    y = np.unique(y, return_inverse=True)[1]
    faults, kinds = [], {}
    table = laid_out(X, LAYOUTS[seed % 3])
    for by in ("joint", "pairs", "rest"):
        with long_road(seed):
            found = linsep.decide_classes(table, y, by=by, bias=bias)
        linsep.verdict_from_json(text := found.to_json()).verify(X, y)
        status, said = stand_alone(text, X.tolist(), y.tolist(), folder)
        if status:
            faults.append(f"seed {seed}, {by}: {said}")
        kinds[by] = [verdict.kind for verdict in found.verdicts]
        if kinds[by] != (known := expected(X.tolist(), y.tolist(), bias, by)):
            faults.append(f"seed {seed}, {by}: {kinds[by]}, not {known}")
    return faults, kinds


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("instances", nargs="?", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    started, tally, wrong = time.perf_counter(), Counter(), []
    folder = tempfile.TemporaryDirectory()
    for seed in range(options.seed, options.seed + options.instances):
        faults, kinds = faults_of(seed, folder.name)
        wrong += faults
        tally.update(f"{by} {kind}" for by, found in kinds.items() for kind in found)
        if seed % 1000 == 999:
            print(f"{seed + 1:,}: {len(wrong)} wrong", file=sys.stderr, flush=True)
    print("\n".join(wrong))
    print(f"{options.instances:,} tables, {sum(tally.values()):,} verdicts, {len(wrong)} wrong")
    print(", ".join(f"{number:,} {kind}" for kind, number in sorted(tally.items())))
    print(f"{time.perf_counter() - started:.0f} s")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
