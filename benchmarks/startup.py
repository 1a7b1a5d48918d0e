"""How long it takes until linsep has an answer: a first call that compiles, and the later ones.

    python benchmarks/startup.py [--rounds 5]

Each line is a program of its own. "First" has an empty cache of compiled code; "later" is the median of the rounds
with what the first one compiled. Processor seconds add up all threads: on a busy machine they vary less.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from linsep import datasets
from timing import seconds, table

HEADS = ["program", "first, s", "first, processor s", "later, s", "later, processor s"]
SMALL, LARGE = "small.csv", "large.csv"
PLANTED = "datasets.planted(20_000, 20, margin=0.1)"


def programs() -> dict[str, list[str]]:
    """What is timed, by the words of the table."""
    python, linsep = [sys.executable, "-c"], [sys.executable, "-m", "linsep"]
    decide = "import linsep; from linsep import datasets; linsep.decide(*{})"
    return {
        "`import linsep`": [*python, "import linsep"],
        "`linsep --help`": [*linsep, "--help"],
        "Python: `decide` on 4 rows": [*python, decide.format("datasets.xor()")],
        "Python: `decide` on 20,000 rows of 20 columns": [*python, decide.format(PLANTED)],
        "command line: `decide` on a CSV of 4 rows": [*linsep, "decide", SMALL, "--label", "y"],
        "command line: `decide` on a CSV of 20,000 rows": [*linsep, "decide", LARGE, "--label", "y", "--cache", "none"],
    }


def write_files(folder: Path) -> None:
    """The two CSV files."""
    X, y = datasets.planted(20_000, 20, margin=0.1)
    heads = ",".join([*(f"x{k}" for k in range(20)), "y"])
    np.savetxt(folder / LARGE, np.column_stack([X, y]), delimiter=",", header=heads, comments="", fmt="%.17g")
    (folder / SMALL).write_text("a,b,y\n0,0,0\n0,1,1\n1,0,1\n1,1,0\n")


def spent(program: Sequence[str], folder: Path, cache: Path) -> tuple[float, float]:
    """Seconds on the clock, and of the processor."""
    own = os.environ | {"NUMBA_CACHE_DIR": str(cache), "LINSEP_QUIET": "1", "XDG_CACHE_HOME": str(folder)}

    def run() -> None:
        done = subprocess.run(program, cwd=folder, env=own, capture_output=True, text=True, check=False)
        if done.returncode > 1:  # 1: proved not separable
            raise SystemExit(done.stderr)

    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    clock = seconds(run)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return clock, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def line(name: str, program: Sequence[str], folder: Path, cache: Path, rounds: int) -> list[str]:
    """The first run and the median of the later ones."""
    first = spent(program, folder, cache)
    later = np.median([spent(program, folder, cache) for _ in range(rounds)], axis=0)
    return [name, *(f"{value:.2f}" for value in (*first, *later))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_files(folder)
        spent([sys.executable, "-m", "linsep", "--help"], folder, folder)  # writes Python's own compiled modules
        lines = [
            line(what, program, folder, folder / f"numba{k}", rounds)
            for k, (what, program) in enumerate(programs().items())
        ]
    print(table(HEADS, lines))


if __name__ == "__main__":
    main()
