"""The few ratios that the README claims, each with its spread, in less than ten minutes on two cores.

    python benchmarks/quick.py [--part 0.1] [--rounds 5] [--against benchmarks/results/README.json]

Both sides of a ratio take turns, and a ratio is of two times of one round. The spread is that of the rounds. With
`--against`, the exit code is 1 if a spread does not meet the recorded one. `--part` makes the tables smaller.
"""

import argparse
import json
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.svm import SVC

import decide
import linsep
import perceptron
import wide
from linsep.cores import thread_count
from linsep.sources.inputs import as_source
from timing import read_once, table, turns

Work = Callable[[], Any]
HEADS = ["task", "beside", "times faster", "lowest", "highest"]


@dataclass(frozen=True)
class Contest:
    """Two ways to do one thing, and how often both are done."""

    task: str
    beside: str
    ours: Work
    theirs: Work
    rounds: int = 5

    def line(self, most_rounds: int) -> list[str]:
        """How many times faster ours is: the median, the lowest and the highest of the rounds."""
        self.ours(), self.theirs()  # compiles, and warms the caches
        ours, theirs = turns(self.ours, self.theirs, rounds=min(self.rounds, most_rounds)).T
        ratios = theirs / ours
        return [self.task, self.beside, *(f"{value:.3g}" for value in (np.median(ratios), ratios.min(), ratios.max()))]


def contests(part: float) -> Iterator[Contest]:
    """The claims, one after the other."""
    yield from tall(int(1_000_000 * part))
    yield from narrow(int(20_000 * part), int(5000 * part))
    n, d = int(20_000 * part), max(400, int(4000 * part))
    Z, z = wide.sparse_rows(n, d, 1e-2)
    task = f"deciding {n:,} x {d:,} sparse rows, with the proof"
    yield Contest(task, "LIBLINEAR, without one", lambda: linsep.decide(Z, z), lambda: wide.liblinear(Z, z), 3)


def tall(rows: int) -> Iterator[Contest]:
    """A million rows of 100 columns: 800 MB."""
    X, y = linsep.datasets.planted(rows, 100, margin=0.1)
    source, halfspace = as_source(X, y), linsep.decide(X, y).halfspace  # as in bandwidth.py: weights that separate
    w, b = halfspace.w.astype(np.float64), float(halfspace.b)
    task, peer = f"a scan of {rows:,} x 100 that proves every sign", "a bare read of the array"
    yield Contest(task, peer, lambda: source.scan(w, b), read_once(X, thread_count()))
    y[rows // 2] *= -1  # no pass is clean
    task, peer = f"{perceptron.PASSES} passes of the Perceptron over {rows:,} x 100", "scikit-learn's Perceptron"
    yield Contest(task, peer, perceptron.ours(X, y), perceptron.peer(X, y))


def narrow(n: int, few: int) -> Iterator[Contest]:
    """Tables of 20 columns and a margin of 0.01; peers that would take minutes get the few rows."""
    X, y = linsep.datasets.planted(n, 20, margin=1e-2)
    task = f"deciding {n:,} x 20, with the proof"
    yield Contest(task, "HiGHS, without one", lambda: linsep.decide(X, y), lambda: decide.highs(X, y))
    Z, z = linsep.datasets.planted(few, 20, margin=1e-2)
    task = f"deciding {few:,} x 20, with the proof"
    yield Contest(task, "LIBLINEAR, without one", lambda: linsep.decide(Z, z), lambda: wide.liblinear(Z, z), 3)
    task = f"the largest margin of {few:,} x 20 to one part in a million, proved"
    peer = SVC(kernel="linear", C=1e6, cache_size=1000)
    yield Contest(task, "LIBSVM with C = 1e6", lambda: linsep.max_margin(Z, z), lambda: peer.fit(Z, z), 3)


def misses(lines: list[list[str]], recorded: list[dict[str, str]]) -> list[str]:
    """The ratios whose spread does not meet the recorded one, in words."""
    known = {(row["task"], row["beside"]): row for row in recorded}
    found = []
    for task, beside, _, low, high in lines:
        then = known.get((task, beside))
        if then is None:
            found.append(f"{task}, beside {beside}: not recorded")
        elif float(low) > float(then["highest"]) or float(high) < float(then["lowest"]):
            found.append(f"{task}, beside {beside}: {low} to {high}, recorded {then['lowest']} to {then['highest']}")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--part", type=float, default=1.0)
    parser.add_argument("--rounds", type=int, default=5, help="at most; the slow ones have three")
    parser.add_argument("--against", type=Path)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")  # of peers that did not converge
    lines = []
    for contest in contests(asked.part):
        lines.append(contest.line(asked.rounds))
        print(contest.task, file=sys.stderr)
    print(table(HEADS, lines))
    if not asked.against:
        return 0
    (recorded,) = json.loads(asked.against.read_text(encoding="utf-8"))["tables"]
    missed = misses(lines, recorded)
    print("\n" + ("\n".join(missed) or f"All {len(lines)} spreads meet the recorded ones."))
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
