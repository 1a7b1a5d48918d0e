"""Which handwritten digits can a hyperplane tell apart? 165 verdicts with proofs.

45 pairs of digits and 10 digits against the rest, each on the training set, on the test set and on both together.
Every verdict is proved and checked in exact arithmetic before it is written down, and its proof is read back from
JSON and checked once more.

    python benchmarks/mnist.py
"""

import sys
import time
from itertools import combinations

import numpy as np

import linsep
from real_data import data_folder
from timing import table


def problems(images, digits):
    """(name, rows, labels) of the 55 questions."""
    for a, b in combinations(range(10), 2):
        chosen = (digits == a) | (digits == b)
        yield f"{a} or {b}", images[chosen], digits[chosen]
    for a in range(10):
        yield f"{a} or not", images, digits == a


def describe(verdict):
    if verdict.separable:
        return "separable"
    if verdict.kind == "undecided":
        return "undecided"
    return f"{verdict.kind}, {len(verdict.obstruction.rows)} rows"


def judge(X, y):
    """The verdict, its time, the time of a second check of the written proof, and its size in bytes."""
    start = time.perf_counter()
    verdict = linsep.decide(X, y, time_limit=300)
    decided = time.perf_counter()
    written = verdict.to_json()
    linsep.verdict_from_json(written).verify(X, y)
    return verdict, decided - start, time.perf_counter() - decided, len(written)


def run(sets):
    rows, kinds, measured = [], {}, []
    questions = [list(problems(*part)) for part in sets.values()]
    for kind in (0, 17):  # a separable pair and a touching one: what is timed below holds no compiling
        judge(*questions[0][kind][1:])
    for triple in zip(*questions, strict=True):
        cells = [triple[0][0]]
        for name, (_, X, y) in zip(sets, triple, strict=True):
            verdict, seconds, *others = judge(X, y)
            measured.append((seconds, *others))
            kinds[name, verdict.kind] = kinds.get((name, verdict.kind), 0) + 1
            cells.append(f"{describe(verdict)} ({seconds:.1f} s)")
        rows.append(cells)
        print(*cells, sep=" | ", file=sys.stderr, flush=True)
    return rows, kinds, measured


if __name__ == "__main__":
    data = np.load(data_folder() / "mnist.npz")
    train, test = (data["X"], data["y"]), (data["X_test"], data["y_test"])
    both = tuple(np.concatenate(pair) for pair in zip(train, test, strict=True))
    sets = {"training": train, "test": test, "both": both}
    sets = {name: (X.reshape(len(X), -1), y.astype(int)) for name, (X, y) in sets.items()}
    rows, kinds, measured = run(sets)
    decided, again, sizes = zip(*measured, strict=True)
    summary = ", ".join(f"{name} {kind} {count}" for (name, kind), count in sorted(kinds.items()))
    text = (
        f"{summary}.\n\nDeciding took {sum(decided):.0f} s, the longest {max(decided):.1f} s; checking the written "
        f"proofs again {sum(again):.0f} s. The largest of these has {max(sizes) / 1000:.0f} kB.\n\n"
        f"{table(['digits', *sets], rows)}\n"
    )
    print(text)
