"""Tiny margins and one contradiction, at ordinary sizes: what a change of basis settles, and relaxation beside pairs.

python benchmarks/tiny_margins.py
"""

import sys
from pathlib import Path

import scipy.sparse as sp

import linsep
from timing import race, table

sys.path.append(str(Path(__file__).parents[1] / "tests"))
import adversarial

CASES = [
    ("integers, margin 1 over the length of w", adversarial.integer_margin, (8982, 167, 0), False, 2.0),
    ("the same, one contradictory pair", adversarial.integer_margin, (9200, 163, 1), False, 2.0),
    ("columns equal up to 2^-40, one tie", adversarial.equal_columns, (8471, 177, 1), False, 2.0),
    ("text, one contradictory pair", adversarial.contradictory_text, (10_606, 800, 40, 1), True, 0.5),
    ("text, one contradictory pair", adversarial.contradictory_text, (3922, 3460, 40, 1), True, 0.5),
    ("140 near-duplicate pairs, 2^-36 apart", adversarial.near_duplicates, (3000, 150, 140), False, 10.0),
]


def lines():
    for one in (*adversarial.integer_margin(2000, 40, 1), *adversarial.contradictory_text(900, 310, 12, 2)):
        for X in (one.X, sp.csr_array(one.X)):  # compiles what the others need
            linsep.decide(X, one.y)
    for name, family, size, is_sparse, asked in CASES:
        (one,) = family(*size)
        X = sp.csr_array(one.X) if is_sparse else one.X
        verdict, swapped = linsep.decide(X, one.y), linsep.decide(X, -one.y)
        times = race(lambda X=X, y=one.y: linsep.decide(X, y), lambda X=X, y=one.y: linsep.decide(X, -y), rounds=2)
        kinds = {verdict.kind, swapped.kind}
        rows, columns = X.shape
        yield [
            name, f"{rows:,} x {columns:,}", " or ".join(kinds), verdict.reads, *(f"{t:.2f} s" for t in times),
            f"{asked:g} s",
        ]  # fmt: skip


if __name__ == "__main__":
    print("### Tiny margins and one contradiction\n")
    print(table(["rows", "size", "verdict", "reads", "decide", "labels swapped", "asked"], list(lines())))
