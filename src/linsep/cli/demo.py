"""The worked examples of the lectures, solved in the terminal."""

import time

import numpy as np

from linsep import datasets
from linsep.cli import report
from linsep.cli.training import doubtful_rows
from linsep.halfspace import Halfspace
from linsep.solvers.perceptron import Learner
from linsep.sources.inputs import as_source

ROWS, COLUMNS, MARGIN = 100_000, 20, 0.1
XOR_PASSES = 100


def show(seed: int) -> None:
    """Every example, one after the other."""
    _worked_examples()
    _xor()
    _boundaries()
    _full_speed(seed)


def _worked_examples() -> None:
    _title("Cornwell: four points, with bias. Rows are counted from 0.")
    _steps(*datasets.cornwell(), bias=True)
    _title("Tao: four points, through the origin")
    _steps(*datasets.tao(), bias=False)
    _title("Wang: six points, through the origin")
    _steps(*datasets.wang(), bias=False)


def _xor() -> None:
    _title(f"XOR: opposite corners of a square alike; stopped after {XOR_PASSES} passes")
    learner = Learner(as_source(*datasets.xor()), max_passes=XOR_PASSES)
    for _ in learner.walk():
        pass
    report.traced(learner.result(), doubtful_rows(learner), ("x1", "x2"))


def _boundaries() -> None:
    _title("Boundaries")
    _boundary("w = (4, 2)", Halfspace(np.array([4, 2])))
    _boundary("(w0, w1, w2) = (-1, 4, 2)", Halfspace(np.array([4, 2]), -1))
    line = Halfspace(np.array([1, 1]), 1)
    report.say(f"w = (1, 1), b = 1: {line.equation(('x', 'y'))}")
    for point in ((0, 0), (-1, -1), (-1, 0)):
        score = int(line.score([point])[0])
        side = "positive side" if score > 0 else "negative side" if score < 0 else "on the line"
        report.say(f"  {point}: score {score}, {side}")


def _full_speed(seed: int) -> None:
    _title(f"{ROWS:,} rows with {COLUMNS} columns, a hidden hyperplane {MARGIN} away from the nearest")
    learner = Learner(as_source(*datasets.planted(ROWS, COLUMNS, margin=MARGIN, seed=seed)))
    started = time.perf_counter()
    for _ in learner.walk():
        pass
    seconds = time.perf_counter() - started
    report.traced(learner.result(), doubtful_rows(learner), None)
    report.say(f"Learning took {seconds:.3f} s, {learner.rows_read / seconds:,.0f} rows per second.")


def _title(text: str) -> None:
    report.say()
    report.say(text, "bold")


def _steps(X: object, y: object, *, bias: bool) -> None:
    learner = Learner(as_source(X, y), bias=bias)
    report.steps(learner.steps(), ("x1", "x2"), 2, bias=bias)
    report.traced(learner.result(), doubtful_rows(learner), ("x1", "x2"))


def _boundary(name: str, line: Halfspace) -> None:
    """A line in the plane, solved for x2 (its weight is not 0)."""
    w1, w2 = line.w.tolist()
    offset, slope = -line.b / w2, -w1 / w2
    start = f"{offset:g} " if offset else ""
    sign = ("- " if start else "-") if slope < 0 else ("+ " if start else "")
    report.say(f"{name}: {line.equation()}, that is x2 = {start}{sign}{abs(slope):g}·x1")
