"""The long campaign against `decide`: everything whose answer is known, on every path and in every layout.

    make torture
    python -m tests.campaigns.torture [workers] [--wide 6] [--seed 0] [--columns 2000] [--only wide]

Each job is a handful of instances; its tally says how many verdicts were wrong, and tallies add up. Exit code 1
if a single verdict is wrong or missing. docs/torture.md says what is run and what the last run printed.
"""

import argparse
import multiprocessing
import os
import signal
import sys
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

import numpy as np
import scipy.sparse as sp

import linsep
from linsep import exact
from linsep.errors import InputError
from linsep.questions import decide as decide_module
from tests import adversarial, naive, strategies, wide_instances
from tests.adversarial import Instance

ONE_THREAD = ("LINSEP_THREADS", "NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
PATIENCE = 120.0  # seconds of the processor for one instance; where others use the machine too, clocks run on
VERY_WIDE, FOR_VERY_WIDE = 2000, 2.5  # columns from which on an instance has so many times as long
FROM_JSON = 20  # every so many verdicts are checked again, from their written form
RANDOM, RANDOM_BY_FLOATS, CHUNK = 100_000, 20_000, 1000
SLOW = 10.0  # seconds: verdicts on wide tables that take longer are named

# ---------------------------------------------------------------------------------------------------
# Tallies
# ---------------------------------------------------------------------------------------------------


@dataclass
class Tally:
    """What came of some instances of one family; tallies of parts add up."""

    family: str
    instances: int = 0
    seconds: float = 0.0
    kinds: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    slow: list[str] = field(default_factory=list)

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(
            self.family,
            self.instances + other.instances,
            self.seconds + other.seconds,
            self.kinds + other.kinds,
            self.faults + other.faults,
            self.slow + other.slow,
        )

    @property
    def is_good(self) -> bool:
        """Every instance was decided (or refused, where that is allowed), and rightly."""
        return not self.faults and not self.kinds["undecided"]

    def check(self, name: str, X: Any, y: Any, bias: bool, answers: Iterable[str], rows: int | None = None) -> None:
        """Decide one instance and count what came of it."""
        self.instances += 1
        start = time.process_time()
        try:
            with patience(FOR_VERY_WIDE if X.shape[1] >= VERY_WIDE else 1.0):
                kind = self._kind_of(X, y, bias, rows)
        except TimeoutError:
            kind = "undecided"
        except Exception:  # the campaign goes on: a crash is a fault like any other
            kind = "crashed"
            self.faults.append(f"{name}: {traceback.format_exc(limit=-2)}")
        taken = time.process_time() - start
        self.seconds += taken
        self.kinds[kind] += 1
        if taken > SLOW:
            self.slow.append(f"{taken:.0f} s: {name}")
        if kind not in (*answers, "crashed"):
            self.faults.append(f"{name}: {kind}, not {' or '.join(answers)}")

    def _kind_of(self, X: Any, y: Any, bias: bool, rows: int | None) -> str:
        try:
            verdict = linsep.decide(X, y, bias=bias)
        except InputError:
            return "refused"
        is_exact = isinstance(verdict, linsep.Touching | linsep.Overlapping) and not verdict.obstruction.is_definite
        if is_exact:
            count = len(verdict.obstruction.rows)
            assert count <= verdict.n_columns + bias + 1 and count == (rows or count), f"{count} rows obstruct"
        if is_exact and isinstance(verdict, linsep.Overlapping):
            assert len(verdict.spread.rows) <= 2 * (verdict.n_columns + bias), "a long spread"
        if self.instances % FROM_JSON == 0:
            linsep.verdict_from_json(verdict.to_json()).verify(X, y)
        return verdict.kind


@contextmanager
def patience(factor: float) -> Iterator[None]:
    """Raise TimeoutError in the block after so many times PATIENCE seconds: a hang is found, not waited for."""

    def give_up(*_: object) -> None:
        raise TimeoutError

    signal.signal(signal.SIGPROF, give_up)
    signal.setitimer(signal.ITIMER_PROF, factor * PATIENCE)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


@contextmanager
def guided(floats: bool) -> Iterator[None]:
    """With `floats`, instances of any size go the way of large ones: floats guide, exact arithmetic answers."""
    few = (decide_module.FEW_ROWS, decide_module.FEW_COLUMNS, exact.FEW_CELLS)
    if floats:
        decide_module.FEW_ROWS = decide_module.FEW_COLUMNS = exact.FEW_CELLS = 0
    try:
        yield
    finally:
        decide_module.FEW_ROWS, decide_module.FEW_COLUMNS, exact.FEW_CELLS = few


# ---------------------------------------------------------------------------------------------------
# Layouts and paddings
# ---------------------------------------------------------------------------------------------------


def layouts(X: Any) -> Iterator[tuple[str, Any]]:
    """The same numbers as a dense and a sparse table of every type that holds them."""
    yield "dense", X
    yield "CSR", sp.csr_array(X)
    if X.shape[1] > 64:  # seconds each: the two layouts will do
        return
    for dtype in (np.float32, np.int64, np.int8):
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            same = X.astype(dtype)
            survives = same.dtype != X.dtype and np.array_equal(same.astype(X.dtype), X)
        if survives and not (np.abs(X.astype(float)) >= 2.0**63).any():
            yield np.dtype(dtype).name, same
            yield f"CSR {np.dtype(dtype).name}", sp.csr_array(same)


def repeated(original: Instance, n: int) -> Instance:
    """Every row many times over, in a random order: n rows in all."""
    order = np.random.default_rng(n).permutation(np.arange(n) % len(original.y))
    return replace(original, name=f"{original.name}, {n} rows", X=original.X[order], y=original.y[order])


def padded(original: Instance, n: int) -> Instance | None:
    """With rows that change nothing, n in all, in a random order; None where sums of rows would be rounded.

    A signed row z_i + k·(z_p + z_m), with z_p and z_m of different classes, is a row again, of the class of i: its
    last entry is y_i. It lies in the cone of the rows, so the verdict stays, and as k grows it is ever easier.
    """
    X, y = original.X, original.y
    if X.dtype != np.float64 or (np.abs(X) > 2.0**40).any() or (X % 1).any():
        return None
    rng = np.random.default_rng(n)
    i, p, m = (rng.choice(rows, n) for rows in (np.arange(len(y)), np.flatnonzero(y > 0), np.flatnonzero(y < 0)))
    far = X[i] + (y[i] * rng.integers(0, 1000, n))[:, None] * (X[p] - X[m])
    order = rng.permutation(n + len(y))
    rows, labels = np.concatenate([X, far])[order], np.concatenate([y, y[i]])[order]
    return replace(original, name=f"{original.name}, padded", X=rows, y=labels, obstruction_rows=None)


# ---------------------------------------------------------------------------------------------------
# Jobs: each returns a tally
# ---------------------------------------------------------------------------------------------------

Job = tuple[Callable[..., Tally], tuple[Any, ...]]


def family(name: str, size: tuple[int, ...]) -> Tally:
    """One size of a family: as it is, and with redundant columns."""
    tally = Tally(spoken(name))
    for one in adversarial.with_redundant(getattr(adversarial, name)(*size)):
        for layout, X in layouts(one.X):
            tally.check(f"{one.name}, {layout}", X, one.y, one.bias, one.answers, one.obstruction_rows)
    return tally


def family_by_floats(name: str, size: tuple[int, ...]) -> Tally:
    """The same for the sizes that floats would not see otherwise, and under every change that changes nothing."""
    tally = Tally(f"{spoken(name)}, by floats")
    instances = list(filter(is_few, adversarial.with_redundant(getattr(adversarial, name)(*size))))
    with guided(floats=True):
        for one in instances:
            for changed in (one, *adversarial.invariances(one)):
                tally.check(changed.name, changed.X, changed.y, one.bias, one.answers)
            tally.check(f"{one.name}, CSR", sp.csr_array(one.X), one.y, one.bias, one.answers)
    return tally


def family_among_many(name: str, size: tuple[int, ...], n: int) -> Tally:
    """Small instances as a few rows of n: repeated, and among rows that change nothing."""
    tally = Tally(f"{spoken(name)}, among {n:,} rows")
    for one in getattr(adversarial, name)(*size):
        many = repeated(one, n)
        tally.check(many.name, many.X, many.y, one.bias, one.answers, one.obstruction_rows)
        tally.check(f"{many.name}, CSR", sp.csr_array(many.X), many.y, one.bias, one.answers, one.obstruction_rows)
        if (among := padded(one, n)) is not None:
            tally.check(among.name, among.X, among.y, one.bias, one.answers)
    return tally


def labellings(name: str, args: tuple[int, ...], start: int, stop: int, floats: bool) -> Tally:
    """Some labellings of a set of points: any kind of answer will do here, their number is checked at the end."""
    tally = Tally(counted(name, args, floats))
    with guided(floats):
        for X, y in islice(getattr(adversarial, name)(*args), start, stop):
            if abs(y.sum()) == len(y):
                tally.instances += 1
                tally.kinds["separable"] += 1
            else:
                tally.check(f"{name}{args} {y}", X, y, True, ("separable", "touching", "overlapping"))
    return tally


def near_collinear(start: int, stop: int, floats: bool) -> Tally:
    """A point and the segment that it is on, or an ulp away from."""
    tally = Tally("near collinear" + ", by floats" * floats)
    with guided(floats):
        for one in islice(adversarial.near_collinear(), start, stop):
            tally.check(one.name, one.X, one.y, one.bias, one.answers, one.obstruction_rows)
    return tally


def random_small(seed: int, count: int, floats: bool) -> Tally:
    """Small degenerate instances, against the slow and obvious answer; every third one sparse."""
    tally = Tally("random small" + ", by floats" * floats)
    rng = np.random.default_rng([seed, floats])
    with guided(floats):
        for k in range(count):
            X, y, bias = strategies.random_small(rng)
            name = f"{X.tolist()}, {y.tolist()}, bias={bias}"
            tally.check(name, X if k % 3 else sp.csr_array(X), y, bias, (naive.decide(X, y, bias),))
    return tally


def random_repeated(seed: int, count: int, n: int) -> Tally:
    """Small degenerate instances whose rows come again and again, in a random order, n in all."""
    tally = Tally(f"random small, among {n:,} rows")
    rng = np.random.default_rng([seed, n])
    for k in range(count):
        X, y, bias = strategies.random_small(rng)
        order = rng.permutation(np.arange(n) % len(y))
        name = f"{X.tolist()}, {y.tolist()}, bias={bias}, repeated"
        many = X[order] if k % 3 else sp.csr_array(X[order])
        tally.check(name, many, y[order], bias, (naive.decide(X, y, bias),))
    return tally


def random_medium(seed: int, count: int) -> Tally:
    """Hundreds of rows, too many for the slow answer: what the exact LP says of all rows, floats must come to."""
    tally = Tally("random medium, by floats")
    for k in range(count):
        X, y, bias = medium(np.random.default_rng([seed, k]))
        expected = linsep.decide(X, y, bias=bias).kind
        with guided(floats=True):
            tally.check(f"medium {seed}, {k}", X if k % 3 else sp.csr_array(X), y, bias, (expected,))
    return tally


def medium(rng: np.random.Generator) -> strategies.DataSet:
    """Integers: any, mostly zeros, of low rank, or far away; labels by a plane, with a few wrong, or at random."""
    n, d = int(rng.integers(20, 400)), int(rng.integers(1, decide_module.FEW_COLUMNS + 1))
    X = rng.integers(-9, 10, (n, d)).astype(np.float64)
    shape = rng.integers(5)
    if shape == 0:
        X *= rng.random((n, d)) < 0.15
    if shape == 1:
        rank = (d + 1) // 2
        X = rng.integers(-3, 4, (n, rank)).astype(np.float64) @ rng.integers(-3, 4, (rank, d))
    score = X @ rng.integers(-3, 4, d)
    y = np.where(score >= np.median(score), 1, -1)
    wrong = rng.random(n) < rng.choice([0.0, 1.0 / n, 0.5])
    y[wrong | (score == np.median(score)) & (rng.random(n) < rng.choice([0.0, 0.5]))] *= -1
    y[:2] = (1, -1) if abs(int(y.sum())) == n else y[:2]
    if shape == 2:
        X += 2.0**45
    if shape == 3:
        X = np.ldexp(X, rng.integers(-900, 900, d))
    return X, y, bool(rng.random() < 0.75)


def needle_in_a_haystack(seed: int) -> Tally:
    """Three rows that obstruct, among 100,000 rows: duplicated, shuffled, dense and sparse, floats and integers."""
    tally = Tally("needle among 100,000 rows")
    (one,) = adversarial.needle(50_000, 2 + seed)
    order = np.random.default_rng(seed).permutation(len(one.y))
    for change in (lambda X, y: (X[order], y[order]), adversarial.repeat_rows, adversarial.scale_columns):
        X, y = change(one.X, one.y)
        for layout, table in layouts(X):
            tally.check(f"{one.name}, {layout}", table, y, True, one.answers, one.obstruction_rows)
    return tally


def wide(name: str, seed: int, most: int) -> Tally:
    """One table of hundreds of columns, its answer planted; its seed is in its name."""
    tally = Tally(f"wide: {spoken(name)}")
    rng = np.random.default_rng([seed, sum(name.encode())])
    for one in getattr(wide_instances, name)(rng, most):
        one = wide_instances.changed(rng, one)
        tally.check(f"{one.name}, {type(one.X).__name__}, seed {seed}", one.X, one.y, one.bias, one.answers)
    return tally


def is_few(one: Instance) -> bool:
    """Whether `decide` would give all its rows to the exact LP at once."""
    return len(one.y) <= decide_module.FEW_ROWS and one.X.shape[1] <= decide_module.FEW_COLUMNS


def spoken(name: str) -> str:
    return name.replace("_", " ")


def counted(name: str, args: tuple[int, ...], floats: bool) -> str:
    return f"{spoken(name)} {', '.join(map(str, args))}" + ", by floats" * floats


# ---------------------------------------------------------------------------------------------------
# The campaign
# ---------------------------------------------------------------------------------------------------

COUNTS: dict[tuple[str, tuple[int, ...]], tuple[int, int]] = {
    # points: (labellings, those of them that are separable)
    **{("boolean_functions", (k,)): (2**2**k, v) for k, v in adversarial.SEPARABLE_BOOLEAN_FUNCTIONS.items()},
    **{("grid_labellings", (k,)): (2 ** (k * k), v) for k, v in adversarial.SEPARABLE_GRID_LABELLINGS.items()},
    **{
        ("cover_labellings", (n, d)): (2**n, adversarial.cover_count(n, d))
        for n, d in ((6, 2), (8, 3), (10, 4), (9, 2), (11, 6))
    },
}


def wide_campaign(count: int, seed: int, most: int) -> Iterator[Job]:
    """So many tables of each wide family, of at most so many columns."""
    for number in range(seed, seed + count):
        yield from ((wide, (family.__name__, number, most)) for family in wide_instances.FAMILIES)


def campaign() -> Iterator[Job]:
    """Every job but the wide ones, the long ones first so that no worker ends alone."""
    sizes = [(f.__name__, size) for f, size in adversarial.family_sizes(quick=False)]
    small = [(f.__name__, size) for f, size in adversarial.family_sizes(quick=True)]
    yield from ((family, job) for job in reversed(sizes))
    yield from ((needle_in_a_haystack, (seed,)) for seed in range(4))
    yield from ((family_among_many, (*job, 20_000)) for job in small)
    yield from ((family_by_floats, job) for job in sizes)
    yield from ((random_repeated, (seed, 100, 2000)) for seed in range(30))
    yield from ((random_medium, (seed, 50)) for seed in range(60))
    for floats, count in ((False, RANDOM), (True, RANDOM_BY_FLOATS)):
        yield from ((random_small, (seed, CHUNK, floats)) for seed in range(count // CHUNK))
        yield from ((near_collinear, (*part, floats)) for part in parts(16_384 if floats else 65_536))
        for (name, args), (total, _) in COUNTS.items():
            if not floats or total < 65_536:
                yield from ((labellings, (name, args, *part, floats)) for part in parts(total))


def parts(total: int) -> Iterator[tuple[int, int]]:
    return ((start, min(start + 4096, total)) for start in range(0, total, 4096))


def wait_at_most(seconds: float) -> None:
    """Set the limit of a worker."""
    global PATIENCE
    PATIENCE = seconds


def run(job: Job) -> Tally:
    """One job in a worker; a warning is a fault there, as in the tests."""
    warnings.simplefilter("error")
    work, arguments = job
    return work(*arguments)


def hold_counts_against_theory(tallies: dict[str, Tally]) -> None:
    """As many separable labellings as there must be, no more and no fewer."""
    for (name, args), (total, expected) in COUNTS.items():
        for tally in (tallies.get(counted(name, args, floats)) for floats in (False, True)):
            if tally and (tally.instances, tally.kinds["separable"]) != (total, expected):
                tally.faults.append(f"{tally.family}: {tally.kinds} of {tally.instances}, expected {expected}")


def table(tallies: Iterable[Tally]) -> str:
    """The summary: one line for each family."""
    heads = ("instances", "wrong", "undecided", "refused", "S", "T", "O", "seconds")
    lines = [f"{'family':<48}" + "".join(f"{head:>10}" for head in heads)]
    for tally in tallies:
        counts = [tally.instances, len(tally.faults)]
        counts += [tally.kinds[kind] for kind in ("undecided", "refused", "separable", "touching", "overlapping")]
        lines.append(f"{tally.family:<48}" + "".join(f"{n:>10,}" for n in counts) + f"{tally.seconds:>10.1f}")
    return "\n".join(lines)


def main() -> int:
    """Run the campaign and print what came of it."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("workers", type=int, nargs="?", default=2)
    parser.add_argument("--wide", type=int, default=6, help="tables of each wide family")
    parser.add_argument("--seed", type=int, default=0, help="of the first of them; the others follow")
    parser.add_argument("--columns", type=int, default=2000, help="they have at most so many")
    parser.add_argument("--patience", type=float, default=PATIENCE, help="seconds of the processor for one instance")
    parser.add_argument("--only", choices=["wide"], help="nothing but the wide families")
    asked = parser.parse_args()
    os.environ.update(dict.fromkeys(ONE_THREAD, "1"))  # read by the workers as they start
    start = time.perf_counter()
    tallies: dict[str, Tally] = {}
    jobs = [*wide_campaign(asked.wide, asked.seed, asked.columns), *([] if asked.only else campaign())]
    with multiprocessing.get_context("spawn").Pool(asked.workers, wait_at_most, (asked.patience,)) as pool:
        for done, tally in enumerate(pool.imap_unordered(run, jobs), 1):
            if done % max(1, len(jobs) // 10) == 0:
                print(f"{done} of {len(jobs)} jobs, {time.perf_counter() - start:.0f} s", file=sys.stderr, flush=True)
            for fault in (*tally.faults, *tally.slow):
                print(fault, file=sys.stderr, flush=True)
            tallies[tally.family] = tallies.get(tally.family, Tally(tally.family)) + tally
    hold_counts_against_theory(tallies)
    print(table([*tallies.values(), sum(tallies.values(), Tally("all"))]))
    print(f"{time.perf_counter() - start:.0f} seconds on {asked.workers} workers")
    return 0 if all(tally.is_good for tally in tallies.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
