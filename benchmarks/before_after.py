"""Two checkouts of linsep on the same rows, taking turns: what became slower, and what quicker.

    python benchmarks/before_after.py OTHER/src [--only WORD] [--rounds 11]

Each checkout has a process of its own. The best of the rounds counts, by the clock and of the processor.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from timing import table

HERE = Path(__file__).resolve().parents[1] / "src"
AT_LEAST_S = 0.02  # of one round: quick calls are repeated
Work = Callable[[], Any]


def works(folder: Path, only: str) -> Iterator[tuple[str, Work]]:
    """What is timed, by name: calls of the public surface alone."""
    import numpy as np
    import scipy.sparse as sp

    import linsep
    import small  # scikit-learn is its peer, not ours

    planted = linsep.datasets.planted
    tables = {**small.TABLES, "20 x 4 floats": planted(20, 4, margin=0.05)}
    tables["30,000 x 300 floats"] = planted(30_000, 300, margin=1e-2)
    tables["1,000,000 x 20, separable"] = planted(1_000_000, 20, margin=1e-2)
    tables["1,000,000 x 20, one label flipped"] = planted(1_000_000, 20, margin=1e-2, flipped=1)
    X, y = planted(100_000, 20, margin=1e-2, flipped=1)
    sparse = sp.random(20_000, 5_000, density=0.01, format="csr", random_state=0)
    labels = np.where(sparse @ np.random.default_rng(0).standard_normal(5_000) > 0, 1, -1)
    for name, (Z, z) in tables.items():
        if only in f"decide {name}":
            yield f"decide {name}", lambda Z=Z, z=z: linsep.decide(Z, z)
    Z, z = tables["1,000,000 x 20, separable"]
    verdict = linsep.decide(Z, z)
    yield "verify 1,000,000 x 20", lambda: verdict.verify(Z, z)
    few, signs = planted(20_000, 10, margin=1e-2)
    yield "max_margin 20,000 x 10", lambda: linsep.max_margin(few, signs)
    yield "novikoff 20,000 x 10", lambda: linsep.novikoff(few, signs)
    yield "perceptron 4 x 2", lambda: linsep.perceptron(*linsep.datasets.cornwell())
    yield "perceptron 100,000 x 20, 5 passes", lambda: linsep.perceptron(X, y, max_passes=5)
    for order in ("cyclic", "shuffled"):
        for keep in ("last", "average", "vote"):
            options = {"max_passes": 5, "order": order, "keep": keep, "random_state": 0}
            for name, rows, sides in (("dense", X, y), ("sparse", sparse, labels)):
                yield (
                    f"fit {name}, {order}, {keep}",
                    lambda o=options, r=rows, s=sides: linsep.PerceptronClassifier(**o).fit(r, s),
                )
    model = linsep.PerceptronClassifier(max_passes=5, random_state=0).fit(X, y)
    many = linsep.PerceptronClassifier(max_passes=2, random_state=0).fit(X, np.arange(len(X)) % 10)
    yield "predict 1,000,000 x 20", lambda: model.predict(Z)
    yield "predict 1,000,000 x 20, ten classes", lambda: many.predict(Z)
    linsep.datasets.write_planted(str(folder / "rows.parquet"), 1_000_000, 10)
    np.savetxt(folder / "rows.csv", np.c_[X[:200], y[:200]], delimiter=",", header=",".join("abcdefghijklmnopqrsty"))
    for name, label in (("rows.parquet", "y"), ("rows.csv", -1)):
        path = str(folder / name)
        yield f"open and decide {name}", lambda p=path, k=label: linsep.decide(linsep.open(p, label=k))


def serve(only: str) -> None:
    """Time the works that standard input names, one a line; the first line of the answer lists them."""
    with tempfile.TemporaryDirectory() as folder:
        known = {name: work for name, work in works(Path(folder), only) if only in name}
        print("\t".join(known), flush=True)
        repeats: dict[str, int] = {}
        for line in sys.stdin:
            work = known[line.rstrip("\n")]
            if line not in repeats:
                work()  # compiles
                start = time.perf_counter()
                work()
                repeats[line] = max(1, round(AT_LEAST_S / (time.perf_counter() - start)))
            begun = time.perf_counter(), time.process_time()
            for _ in range(repeats[line]):
                work()
            ended = time.perf_counter(), time.process_time()
            print(*((b - a) / repeats[line] for a, b in zip(begun, ended, strict=True)), flush=True)


def started(source: Path, only: str) -> subprocess.Popen[str]:
    """A process with the linsep of one checkout."""
    environment = {**os.environ, "PYTHONPATH": str(source), "NUMBA_CACHE_DIR": str(source.parent / ".numba")}
    arguments = [sys.executable, __file__, str(source), "--serve", "--only", only]
    return subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)


def best(process: subprocess.Popen[str], name: str, so_far: list[float]) -> list[float]:
    """The shorter of each time so far and that of one more round."""
    print(name, file=process.stdin, flush=True)
    return [min(pair) for pair in zip(so_far, map(float, process.stdout.readline().split()), strict=True)]


def compare(other: Path, only: str, rounds: int) -> None:
    """Every work in turns, a round here and a round there, and the table."""
    then, now = started(other, only), started(HERE, only)
    names = then.stdout.readline().rstrip("\n").split("\t")
    now.stdout.readline()
    lines = []
    for name in names:
        a, b = [float("inf")] * 2, [float("inf")] * 2
        for _ in range(rounds):
            a, b = best(then, name, a), best(now, name, b)
        change = [f"{100 * (new / old - 1):+.0f} %" for old, new in zip(a, b, strict=True)]
        lines.append([name, f"{1000 * a[0]:.3g}", f"{1000 * b[0]:.3g}", *change])
        print(*lines[-1], sep="\t", file=sys.stderr)
    print(table(["work", "other, ms", "this, ms", "by the clock", "of the processor"], lines))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("other", type=Path, help="the folder src of another checkout")
    parser.add_argument("--only", default="", help="works whose name has this in it")
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.serve:
        serve(asked.only)
    else:
        compare(asked.other.resolve(), asked.only, asked.rounds)


if __name__ == "__main__":
    main()
