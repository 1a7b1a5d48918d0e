"""What eight entries at a time (loops/simd.py) are worth beside the compiler's own loop, pass and scan, by width.

python benchmarks/lanes.py

Two processes take turns: one with the loops as they are, one whose dense rows are left to the compiler.
"""

import os
import subprocess
import sys
import tempfile
import time

import numpy as np

from timing import table

WIDTHS = (2, 4, 8, 20, 32, 100, 784)
SMALL, LARGE = 1 << 17, 1 << 24  # numbers: in the second cache, and beyond the last
ROUNDS = 7


def worker() -> None:
    """Answers lines "columns numbers dtype" with the CPU seconds of a clean pass and of a scan."""
    from linsep.loops import dense, sweeps

    if sys.argv[2] == "compiler":
        dense._has_lanes = lambda table, w: False
        sweeps.SHORT_ROW = 0  # four rows together are lanes too
    from bandwidth import clean_pass
    from linsep.halfspace import Halfspace
    from linsep.sources.inputs import as_source

    made = {}
    for line in sys.stdin:
        if line not in made:
            d, numbers, dtype = line.split()
            random = np.random.default_rng(0)
            X = random.standard_normal((int(numbers) // int(d), int(d))).astype(dtype)
            X[:, 0] = np.abs(X[:, 0]) + 1
            X[::2, 0] *= -1
            y = np.where(X[:, 0] > 0, 1, -1)
            w = np.zeros(int(d))
            w[0] = 1.0
            source = as_source(X, y)
            made.clear()
            made[line] = clean_pass(source, Halfspace(w, 0.0)), lambda s=source, w=w: s.scan(w, 0.0)
            for work in made[line]:
                work()
        repeats = max(1, LARGE // 4 // int(line.split()[1]))
        print(*(_seconds(work, repeats) for work in made[line]), flush=True)


def _seconds(work, repeats: int) -> float:
    started = time.process_time()
    for _ in range(repeats):
        work()
    return (time.process_time() - started) / repeats


class Worker:
    """One of the two processes."""

    def __init__(self, kind: str, folder: str) -> None:
        settings = {"NUMBA_CACHE_DIR": f"{folder}/{kind}", "LINSEP_QUIET": "1", "LINSEP_THREADS": "1"}
        self._process = subprocess.Popen(
            [sys.executable, __file__, "worker", kind],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, **settings},
        )

    def ask(self, question: str) -> list[float]:
        """The seconds of a pass and of a scan."""
        self._process.stdin.write(question + "\n")
        self._process.stdin.flush()
        return [float(seconds) for seconds in self._process.stdout.readline().split()]

    def end(self) -> None:
        """Let it finish."""
        self._process.stdin.close()
        self._process.wait()


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        ours, compiler = Worker("lanes", folder), Worker("compiler", folder)
        rows = []
        for dtype in ("float64", "float32"):
            for numbers, place in ((SMALL, "cache"), (LARGE, "memory")):
                for d in WIDTHS:
                    asked = f"{d} {numbers} {dtype}"
                    times = np.array([[ours.ask(asked), compiler.ask(asked)] for _ in range(ROUNDS)])
                    ratios = np.median(times[:, 1] / times[:, 0], axis=0)
                    rows.append((dtype, place, d, *(f"{ratio:.2f}" for ratio in ratios)))
                    print(*rows[-1], file=sys.stderr)
        ours.end()
        compiler.end()
    print("Time of the compiler's loop divided by that of lanes, one thread (above 1: lanes are faster).\n")
    print(table(("numbers", "in", "columns", "pass", "scan"), rows))


if __name__ == "__main__":
    worker() if sys.argv[1:2] == ["worker"] else main()
