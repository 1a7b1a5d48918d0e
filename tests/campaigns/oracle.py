"""The road of wide tables, on tables small enough for the oracle: `make oracle`.

    python -m tests.campaigns.oracle [tables] [seed]

`decide` takes this road from 200 columns on, where no slow and obvious method gets to an answer. Here its
thresholds are lowered, so that tables of a few rows and columns go the same way: relaxation, Newton's method, the
positive-definite proof and the change of basis, each first in its turn. Every verdict must be what Fractions say
(`naive.py`), and its proof must hold again after it was written down and read.
"""

import sys
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

import linsep
from linsep.proofs import eigenvalues
from linsep.questions import decide as decide_module
from linsep.questions import wide
from linsep.solvers import working_set
from linsep.solvers.clock import Clock
from linsep.solvers.wide import change_of_basis, newton, short_weights
from linsep.sources.inputs import as_source
from tests import naive, strategies
from tests.strategies import DataSet

NEVER = 1 << 30  # columns
MANY = 100_000  # tables, unless another number is asked for
LIMIT = 60.0  # seconds for one table
CHECKED = 4  # every so many tables the rows that a weak separator can have on their sides are asked for as well

Random = np.random.Generator


# ---------------------------------------------------------------------------------------------------
# The roads
# ---------------------------------------------------------------------------------------------------

Thresholds = dict[tuple[Any, str], Any]

NARROW: Thresholds = {(module, "WIDE"): NEVER for module in (decide_module, wide, working_set)}
ROADS: dict[str, Thresholds] = {
    # what each module's threshold is set to, on top of `SMALL`
    "everything": {},
    "Newton first": {(wide, "MANY_COLUMNS"): NEVER},
    "conjugate gradients": {(wide, "MANY_COLUMNS"): NEVER, (short_weights, "DIRECT"): 0},
    "Cholesky's own error": {(wide, "MANY_COLUMNS"): NEVER, (eigenvalues, "MULTIPLIED"): 0},
    "few rows at a time": {
        (wide, "MANY_COLUMNS"): NEVER, (newton, "FIRST_ROWS"): 1, (newton, "MORE_ROWS"): 1,
    },
    "working sets": {
        (wide, "MANY_COLUMNS"): NEVER, (newton, "MOST_STEPS"): 0, (wide, "settle_round"): lambda *a, **k: None,
    },
    "a round basis": {(wide, "MANY_COLUMNS"): NEVER, (newton, "MOST_STEPS"): 0, (newton, "MORE_STEPS"): 0},
    "change of basis": {**NARROW, (wide, "MANY_COLUMNS"): NEVER},
    "relaxation, then a basis": NARROW,
}  # fmt: skip

SMALL: Thresholds = {
    (decide_module, "FEW_ROWS"): 0,
    (wide, "MANY_COLUMNS"): 1,
    **{(module, "WIDE"): 1 for module in (decide_module, wide, working_set)},
    **{(module, "WIDTHS"): range(1, 513) for module in (decide_module, wide, change_of_basis)},
}


@contextmanager
def road(name: str) -> Iterator[None]:
    """Small tables go the way of wide ones."""
    wanted = SMALL | ROADS[name]
    before = {(module, threshold): getattr(module, threshold) for module, threshold in wanted}
    for (module, threshold), value in wanted.items():
        setattr(module, threshold, value)
    try:
        yield
    finally:
        for (module, threshold), value in before.items():
            setattr(module, threshold, value)


# ---------------------------------------------------------------------------------------------------
# The tables
# ---------------------------------------------------------------------------------------------------


def degenerate(rng: Random) -> DataSet:
    """Ties, repeated rows, points on a line, the ends of the range of doubles."""
    return strategies.random_small(rng)


def dependent_columns(rng: Random) -> DataSet:
    """Columns that are multiples, sums and differences of others."""
    X, y, bias = strategies.random_small(rng, max_columns=3)
    if (np.abs(X) > 2.0**40).any() or (X % 1).any():
        X = np.sign(X)
    mixed = X @ rng.integers(-2, 3, (X.shape[1], int(rng.integers(1, 4))))
    return np.column_stack([X, mixed])[:, rng.permutation(X.shape[1] + mixed.shape[1])], y, bias


def one_hot(rng: Random) -> DataSet:
    """Two or three groups of columns, one of each group set in every row."""
    n, sizes = int(rng.integers(3, 12)), rng.integers(2, 4, int(rng.integers(2, 4)))
    X = np.column_stack([np.eye(size)[rng.integers(0, size, n)] for size in sizes])
    return X, strategies.random_labels(rng, X.astype(np.int64)), bool(rng.random() < 0.75)


def near_duplicates(rng: Random) -> DataSet:
    """Rows that stand there twice, with different labels and a little apart, or not apart at all."""
    d, half = int(rng.integers(1, 5)), int(rng.integers(1, 5))
    X = rng.integers(-4, 5, (half, d)).astype(np.float64)
    gap = np.where(rng.random(X.shape) < 0.5, 2.0 ** -float(rng.integers(0, 48)), 0.0) * rng.choice([-1, 0, 1], X.shape)
    others, y, bias = strategies.random_small(rng, max_rows=4, max_columns=1)
    others = np.column_stack([np.sign(others)] * d) + rng.integers(-2, 3, (len(y), d))
    return (
        np.vstack([X + gap, X - gap, others]),
        np.concatenate([np.ones(half, np.int64), -np.ones(half, np.int64), y]),
        bias,
    )


def tiny_margins(rng: Random) -> DataSet:
    """Integers one or two units of score away from a hyperplane with long weights, some on it."""
    d, n = int(rng.integers(2, 5)), int(rng.integers(4, 12))
    w = np.append(1, rng.integers(1, 2 ** int(rng.integers(2, 24)), d - 1)) * rng.choice([-1, 1], d)
    X = rng.integers(-9, 10, (n, d))
    score = rng.choice([-2, -1, 1, 2, 0], n, p=[0.24, 0.24, 0.24, 0.24, 0.04])
    X[:, 0] += w[0] * (score - X @ w)
    y = np.where(score == 0, rng.choice([-1, 1], n), np.sign(score))
    y[rng.random(n) < 0.02] *= -1
    if abs(int(y.sum())) == n:
        y[0] *= -1
    return X.astype(np.float64), y, bool(rng.random() < 0.75)


def equal_columns(rng: Random) -> DataSet:
    """Columns that are the same but for their last bits, far from 0."""
    X, y, bias = strategies.random_small(rng, max_columns=3)
    X = np.sign(X) * rng.integers(0, 4, X.shape)
    return rng.integers(-9, 10, (len(X), 1)) + X * 2.0 ** -float(rng.integers(1, 46)), y, bias


def counts(rng: Random) -> DataSet:
    """Mostly zeros: columns that are 0 on all rows but one or two, and rows of zeros."""
    X, y, bias = strategies.random_small(rng, max_columns=4)
    X = np.column_stack([np.sign(X) * rng.integers(0, 3, X.shape), rng.integers(0, 2, (len(X), 2))])
    return X * (rng.random(X.shape) < 0.4), y, bias


def flipped(rng: Random) -> DataSet:
    """Normal rows, labels by a hyperplane, a few of them wrong."""
    d = int(rng.integers(1, 4))
    n = int(rng.integers(d + 2, 4 * d + 4))
    X = rng.standard_normal((n, d)).round(int(rng.integers(0, 4)))
    y = np.where(X @ rng.standard_normal(d) > 0, 1, -1)
    y[rng.random(n) < rng.choice([0.05, 0.3])] *= -1
    if abs(int(y.sum())) == n:
        y[0] *= -1
    return X, y, bool(rng.random() < 0.75)


FAMILIES: tuple[Callable[[Random], DataSet], ...] = (
    degenerate, dependent_columns, one_hot, near_duplicates, tiny_margins, equal_columns, counts, flipped,
)  # fmt: skip


# ---------------------------------------------------------------------------------------------------
# The campaign
# ---------------------------------------------------------------------------------------------------


@dataclass
class Counts:
    """What came of the tables so far."""

    kinds: Counter[str] = field(default_factory=Counter)
    definite: int = 0
    undecided: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    slowest: tuple[float, str] = (0.0, "")

    def hear(self, number: int, seed: int) -> None:
        """Decide one table, by one road."""
        rng = np.random.default_rng([seed, number])
        family = FAMILIES[number % len(FAMILIES)]
        way = list(ROADS)[number // len(FAMILIES) % len(ROADS)]
        X, y, bias = family(rng)
        case = f"seed {seed}, table {number} ({family.__name__}, {way}): {X.tolist()}, {y.tolist()}, bias={bias}"
        expected = naive.decide(X, y, bias)
        start = time.perf_counter()
        try:
            with road(way):
                self.compare(sp.csr_array(X) if rng.random() < 0.4 else X, y, bias, expected, case, number)
        except Exception:  # a crash is a wrong answer like any other
            self.wrong.append(f"{case}\n{traceback.format_exc(limit=-3)}")
        self.slowest = max(self.slowest, (time.perf_counter() - start, case))

    def compare(self, X: Any, y: NDArray[np.int64], bias: bool, expected: str, case: str, number: int) -> None:
        verdict = linsep.decide(X, y, bias=bias, time_limit=LIMIT)
        self.kinds[verdict.kind] += 1
        if verdict.kind in ("undecided", "not-separable"):
            self.undecided.append(case)
        elif verdict.kind != expected:
            self.wrong.append(f"{case}\n{verdict.kind}, not {expected}")
        if isinstance(verdict, linsep.Touching | linsep.Overlapping):
            self.definite += verdict.obstruction.is_definite
        linsep.verdict_from_json(verdict.to_json()).verify(X, y)
        if number % CHECKED == 0 and expected == "touching":
            case_ = decide_module.Case(as_source(X, y), bias, Clock(LIMIT), maximal=True)
            touching = case_.verdict(case_.settle())
            touching.verify(X, y)
            rows = naive.weak_separated_rows(X.toarray() if sp.issparse(X) else X, y, bias)
            if set(touching.separated_rows) != rows:
                self.wrong.append(f"{case}\nseparated rows {touching.separated_rows}, not {sorted(rows)}")

    def told(self) -> str:
        """One line."""
        parts = ", ".join(f"{count:,} {kind}" for kind, count in sorted(self.kinds.items()))
        return (
            f"{self.kinds.total():,} tables: {parts}; {self.definite:,} positive-definite proofs; "
            f"{len(self.wrong)} wrong, {len(self.undecided)} undecided; the slowest took {self.slowest[0]:.2f} s"
        )


def campaign(total: int, seed: int) -> Counts:
    """So many tables, each family by each road in its turn."""
    found, start = Counts(), time.perf_counter()
    for number in range(total):
        wrong = len(found.wrong) + len(found.undecided)
        found.hear(number, seed)
        if len(found.wrong) + len(found.undecided) > wrong:
            print((found.wrong + found.undecided)[-1], file=sys.stderr, flush=True)
        if number % 10_000 == 9999:
            print(f"{time.perf_counter() - start:.0f} s, {found.told()}", file=sys.stderr, flush=True)
    return found


def main(total: int = MANY, seed: int = 0) -> int:
    """Run the campaign, a warning being a fault, and say what came of it."""
    warnings.simplefilter("error")
    found = campaign(total, seed)
    print(found.told())
    return 1 if found.wrong or found.undecided else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
