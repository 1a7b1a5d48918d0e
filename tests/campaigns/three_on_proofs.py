"""The three checkers on proofs of the torture campaign, of files of real data, and of MNIST.

    python -m tests.campaigns.three_on_proofs torture [every] [jobs]
    python -m tests.campaigns.three_on_proofs FOLDER [most cells]
    PYTHONPATH=benchmarks python -m tests.campaigns.three_on_proofs mnist

Of the torture campaign every so many verdicts of some jobs, drawn at random, are written, each with its table as a CSV
file. A folder holds arrays as .npz, `X` or the parts of a CSR matrix, and labels `y`; of many classes the pairs are
asked for. Of MNIST it is the 165 questions of `benchmarks/mnist.py`. All three must accept: these proofs are true. It
ends with 1 if one did not.
"""

import contextlib
import io
import random
import sys
import tempfile
import time
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import linsep
from linsep import checker
from tests.campaigns import torture
from tests.extracted import Extracted

SIZE = 400_000  # cells of a table of the torture campaign, at most


class Three:
    """All three before one proof and its table."""

    def __init__(self, folder: Path, extracted: Extracted) -> None:
        self.paths = folder / "proof.json", folder / "data.csv"
        self.extracted = extracted
        self.kinds: Counter[str] = Counter()
        self.seconds = [0.0, 0.0, 0.0]
        self.faults: list[str] = []

    def hear(self, name: str, verdict: Any, X: Any, y: Any) -> None:
        """The proof as it is written, before `verify` and both checkers."""
        text = verdict.to_json()
        self.paths[0].write_text(text, "utf-8")
        write(self.paths[1], X, y)
        words, said = [*map(str, self.paths)], io.StringIO()
        clocks = [time.perf_counter()]
        linsep.verdict_from_json(text).verify(X, y)
        clocks.append(time.perf_counter())
        with contextlib.redirect_stdout(said):
            status = checker.main(words)
        clocks.append(time.perf_counter())
        other, told = self.extracted.ask(words)
        clocks.append(time.perf_counter())
        self.seconds = [s + b - a for s, a, b in zip(self.seconds, clocks, clocks[1:], strict=False)]
        expected = 3 if verdict.kind == "undecided" else 0
        if (status, other) != (expected, expected) or said.getvalue() != told + "\n":
            self.faults.append(f"{name}: stand-alone {said.getvalue()!r}, extracted {told!r}")
        self.kinds[verdict.kind] += 1

    def told(self) -> str:
        """Counts, and how long each checker took."""
        kinds = ", ".join(f"{count:,} {kind}" for kind, count in sorted(self.kinds.items()))
        times = "verify {:.1f} s, stand-alone {:.1f} s, extracted {:.1f} s".format(*self.seconds)
        return f"{self.kinds.total():,} proofs ({kinds}), {len(self.faults)} differences; {times}"


def write(path: Path, X: Any, y: Any) -> None:
    """The rows as a CSV file, without a header; the labels last."""
    rows = (X.toarray() if sp.issparse(X) else np.asarray(X)).tolist()
    labels = np.asarray(y).tolist()
    lines = (",".join([*map(repr, row), repr(label)]) for row, label in zip(rows, labels, strict=True))
    path.write_text("\n".join(lines) + "\n", "utf-8")


def of_torture(three: Three, every: int, jobs: int) -> None:
    """A sample of the campaign's verdicts; wide tables too, of up to 200 columns."""
    decide, seen = linsep.decide, Counter[str]()

    def decided(X: Any, y: Any, **options: Any) -> Any:
        verdict = decide(X, y, **options)
        seen["verdicts"] += 1
        if seen["verdicts"] % every == 0:
            if X.shape[0] * X.shape[1] <= SIZE:
                three.hear(f"verdict {seen['verdicts']}", verdict, X, y)
            else:
                seen["too large"] += 1
        return verdict

    chosen = [*torture.campaign(), *torture.wide_campaign(1, 0, 200)]
    linsep.decide = decided
    try:
        for job in random.Random(0).sample(chosen, min(jobs, len(chosen))):
            three.faults += torture.run(job).faults
            print(f"{seen['verdicts']:,} verdicts: {three.told()}", file=sys.stderr, flush=True)
    finally:
        linsep.decide = decide
    print(f"of {seen['verdicts']:,} verdicts; {seen['too large']} tables were too large to be written")


def of_folder(three: Three, folder: Path, most: int) -> None:
    """Every set that is not too large."""
    for path in sorted(folder.glob("*.npz")):
        with np.load(path, allow_pickle=False) as parts:
            if "y" not in parts:
                continue
            sparse = "indptr" in parts
            X = (
                sp.csr_array(tuple(parts[n] for n in ("data", "indices", "indptr")), tuple(parts["shape"]))
                if sparse
                else parts["X"]
            )
            y = parts["y"]
        if X.shape[0] * X.shape[1] > most:
            continue
        before = list(three.seconds)
        two = len(np.unique(y)) == 2
        verdict = linsep.decide(X, y, time_limit=60) if two else linsep.decide_classes(X, y, by="pairs", time_limit=60)
        three.hear(path.stem, verdict, X, y)
        took = " ".join(f"{after - then:.2f}" for after, then in zip(three.seconds, before, strict=True))
        print(f"{path.stem:<28}{X.shape[0]:>8} x {X.shape[1]:<6}{verdict.kind:<14}{took}", flush=True)


def of_mnist(three: Three) -> None:
    """Pairs of digits, and digits against the rest: on the test set, on the training set and on both."""
    import mnist
    from real_data import data_folder

    with np.load(data_folder() / "mnist.npz") as data:
        train, test = (data["X"], data["y"]), (data["X_test"], data["y_test"])
    both = tuple(np.concatenate(pair) for pair in zip(train, test, strict=True))
    for part, (images, digits) in (("test", test), ("training", train), ("both", both)):
        for name, X, y in mnist.problems(images.reshape(len(images), -1), digits.astype(int)):
            three.hear(f"{name}, {part}", linsep.decide(X, y), X, y)
            print(f"{name}, {part}: {three.told()}", flush=True)


def main(what: str, *numbers: int) -> int:
    """Run one of the three and say what came of it."""
    warnings.simplefilter("error")
    with tempfile.TemporaryDirectory() as folder, Extracted() as extracted:
        three = Three(Path(folder), extracted)
        if what == "torture":
            of_torture(three, *(numbers or (50, 40)))
        elif what == "mnist":
            of_mnist(three)
        else:
            of_folder(three, Path(what), *(numbers or (1_500_000,)))
    for fault in three.faults[:10]:
        print(fault[:3000])
    print(three.told())
    return int(bool(three.faults))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], *map(int, sys.argv[2:])))
