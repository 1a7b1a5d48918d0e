"""Deciding and proving against HiGHS on the full LP, and against one scan of the data; verification included.

python benchmarks/decide.py
"""

import numpy as np
from scipy.optimize import linprog

import linsep
from linsep.sources.inputs import as_source
from timing import race, read_once, seconds, table


def highs(X, y):
    """HiGHS on the textbook LP: some w, b with y·(w·x + b) >= 1 for every row."""
    Z = np.column_stack([X, np.ones(len(X))]) * y[:, None]
    free = [(None, None)] * Z.shape[1]
    return linprog(np.zeros(Z.shape[1]), A_ub=-Z, b_ub=-np.ones(len(Z)), bounds=free, method="highs")


def against_highs():
    for flipped in (0, 1):
        X, y = linsep.datasets.planted(200_000, 20, margin=1e-2, flipped=flipped)
        verdict = linsep.decide(X, y)
        (mine,) = race(lambda X=X, y=y: linsep.decide(X, y), rounds=5)
        theirs = seconds(lambda X=X, y=y: highs(X, y))
        name = "200,000 x 20, margin 0.01" + (", one label flipped" if flipped else "")
        yield [name, verdict.kind, verdict.reads, f"{mine * 1e3:.0f} ms", f"{theirs:.1f} s", f"{theirs / mine:.0f}"]


def in_scans():
    cases = [("margin 1e-2", 1e-2, 0), ("margin 1e-4", 1e-4, 0), ("margin 1e-2, 1 % flipped", 1e-2, 10_000)]
    for name, margin, flipped in cases:
        X, y = linsep.datasets.planted(1_000_000, 100, margin=margin, flipped=flipped)
        source = as_source(X, y)
        works = [lambda s=source: s.scan(np.ones(100), 0.0), lambda X=X, y=y: linsep.decide(X, y)]
        if not flipped:
            works.append(lambda X=X, y=y: linsep.max_margin(X, y))
        for work in works:
            work()
        scan, *times = race(*works, rounds=3)
        read, _ = race(read_once(X, 2), lambda: None, rounds=5)
        verdicts = [linsep.decide(X, y)] + ([] if flipped else [linsep.max_margin(X, y)])
        for task, verdict, time in zip(("decide", "max_margin to 1e-6"), verdicts, times, strict=False):
            yield [
                f"1,000,000 x 100, {name}", task, verdict.kind, verdict.reads, f"{time * 1e3:.0f} ms",
                f"{time / scan:.1f}", f"{time / read:.1f}",
            ]  # fmt: skip


if __name__ == "__main__":
    print("## Deciding and proving\n\n`python benchmarks/decide.py`\n")
    print(table(["rows", "verdict", "reads", "linsep", "HiGHS", "times faster"], list(against_highs())), "\n")
    heads = ["rows", "task", "verdict", "reads", "time", "in scans", "in bare reads of the array"]
    print(table(heads, list(in_scans())))
