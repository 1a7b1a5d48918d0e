"""Many classes, decided jointly, by pairs and each against the rest: verdicts, times, and every proof checked.

    python benchmarks/classes.py [--sets iris wine digits vowel-like news20 mnist]

Each proof is written, read back and verified against the rows; those of small sets are also checked by the stand-alone
checker, from a CSV file. Times are seconds of the processor. Large sets are asked jointly alone.
"""

import argparse
import io
import tempfile
import time
from collections import Counter
from contextlib import redirect_stdout
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits, load_iris, load_wine, make_classification

import linsep
from linsep import checker
from real_data import load
from timing import table


def vowel_like(*, return_X_y):
    """As many rows, columns and classes as the vowels of Deterding (1989): 11 clusters that overlap a little."""
    assert return_X_y
    options = {"n_samples": 990, "n_features": 10, "n_informative": 10, "n_redundant": 0, "n_classes": 11}
    X, y = make_classification(**options, n_clusters_per_class=1, class_sep=2.0, random_state=0)
    return X.round(3), y


SMALL = {"iris": load_iris, "wine": load_wine, "digits": load_digits, "vowel-like": vowel_like}
SETS = (*SMALL, "news20", "mnist")


def clocked(work):
    """What some work gives, and the seconds of the processor that it took."""
    start = time.process_time()
    found = work()
    return found, time.process_time() - start


def checked_alone(text, X, y):
    """The seconds that the stand-alone checker takes for a proof about rows in a CSV file."""
    with tempfile.TemporaryDirectory() as folder:
        proof, data = Path(folder) / "proof.json", Path(folder) / "rows.csv"
        proof.write_text(text)
        rows = zip(X.tolist(), y.tolist(), strict=True)
        data.write_text("\n".join(",".join(map(repr, [*row, label])) for row, label in rows))
        with redirect_stdout(io.StringIO()):
            status, took = clocked(lambda: checker.main([str(proof), str(data)]))
    assert status == 0
    return took


def measured(name):
    X, y = SMALL[name](return_X_y=True) if name in SMALL else load(name)
    lines = []
    for by in ("joint", "pairs", "rest") if name in SMALL else ("joint",):
        found, took = clocked(lambda by=by: linsep.decide_classes(X, y, by=by))
        text = found.to_json()
        _, verified = clocked(lambda text=text: linsep.verdict_from_json(text).verify(X, y))
        alone = f"{checked_alone(text, X, y):.2f} s" if name in SMALL else ""
        kinds = Counter(verdict.kind for verdict in found.verdicts)
        answer = (
            ", ".join(f"{number} {kind}" for kind, number in kinds.items()) if by != "joint" else found.verdict.kind
        )
        size = f"{X.shape[0]:,} x {X.shape[1]:,}, {len(np.unique(y))}"
        lines.append(
            [name, size, by, answer, f"{took:.2f} s", f"{len(text) / 1e3:,.0f} kB", f"{verified:.2f} s", alone]
        )
    return lines


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--sets", nargs="*", default=SETS)
    linsep.decide_classes(*load_digits(return_X_y=True))  # what is compiled once
    heads = ["set", "rows x columns, classes", "by", "answer", "decided in", "proof", "verified in", "checked alone in"]
    print(table(heads, [line for name in parser.parse_args().sets for line in measured(name)]))
