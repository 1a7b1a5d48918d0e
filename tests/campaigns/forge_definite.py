"""Forged positive-definite proofs by the million: `make forge`.

    python -m tests.campaigns.forge_definite [forgeries] [seed]

Proofs of small tables, found as those of wide ones are (`oracle.py`), are changed where a forger would: weights, rows,
columns, merged columns and other dependences, what is left of the sum, labels, the kind, and the data, pulled apart
little by little until a hyperplane fits between the classes. `verify` and the stand-alone checker look at each, in one
process and without files. What either accepts is held against Fractions, and must be true in every part:

    the verdict is what the oracle says of all rows, and of the rows of the proof alone it says "overlapping"
    every dependence holds on them and has a column of its own
    the theorem's own condition: the least eigenvalue of G exceeds |r|
"""

from __future__ import annotations

import itertools
import math
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

import linsep
from linsep import checker
from linsep.errors import LinsepError
from linsep.proofs import Obstruction, Overlapping, Touching
from linsep.proofs.definite import ColumnDependence
from tests import naive
from tests.campaigns import oracle

MANY = 1_000_000  # forgeries, unless another number is asked for
OF_A_PROOF = 1000  # forgeries of one proof
PLAIN = 0.8  # part of the proofs without dependences that are passed over
FINE = 200  # bits to which a length is known here

Random = np.random.Generator
Weights = dict[int, int]


@dataclass
class Claim:
    """A positive-definite proof and the table that it is about, both open to change."""

    X: NDArray[np.float64]
    y: NDArray[np.int64]
    bias: bool
    rows: list[int]
    weights: list[int]
    dependences: list[tuple[list[int], list[int]]]
    separator: list[int] | None  # of touching rows; the constant last
    separated: list[int] | None = None

    def copy(self) -> Claim:
        """The same, to be changed."""
        named = [(list(columns), list(weights)) for columns, weights in self.dependences]
        parts = [None if part is None else list(part) for part in (self.separator, self.separated)]
        return Claim(self.X.copy(), self.y.copy(), self.bias, list(self.rows), list(self.weights), named, *parts)

    @property
    def kind(self) -> str:
        return "overlapping" if self.separator is None else "touching"

    @property
    def width(self) -> int:
        return int(self.X.shape[1]) + self.bias


def claims(seed: int) -> Iterator[Claim]:
    """Endless small tables that are not separable, each with its positive-definite proof."""
    for number in itertools.count():
        rng = np.random.default_rng([seed, number])
        X, y, bias = oracle.FAMILIES[number % len(oracle.FAMILIES)](rng)
        with oracle.road("Newton first"):
            verdict = linsep.decide(X, y, bias=bias)
        if not isinstance(verdict, Touching | Overlapping) or not verdict.obstruction.is_definite:
            continue
        found = verdict.obstruction
        named = [(list(each.columns), list(each.weights)) for each in found.dependences or ()]
        if not named and rng.random() < PLAIN:
            continue
        separator = [*verdict.weights, verdict.bias_weight] if isinstance(verdict, Touching) else None
        yield Claim(np.array(X), np.array(y), bias, list(found.rows), list(found.weights), named, separator)


# ---------------------------------------------------------------------------------------------------
# The changes
# ---------------------------------------------------------------------------------------------------


def one_of(rng: Random, items: Any) -> Any:
    return items[int(rng.integers(len(items)))]


def one_weight(claim: Claim, rng: Random) -> None:
    k = int(rng.integers(len(claim.weights)))
    old = claim.weights[k]
    new = (
        old + 1,
        old - 1,
        -old,
        0,
        2 * old,
        old // 2,
        old << 60,
        old + (old >> int(rng.integers(1, 30))),
        1,
        1 << 3000,
    )
    claim.weights[k] = int(one_of(rng, new))


def all_weights(claim: Claim, rng: Random) -> None:
    count = len(claim.weights)
    draw = rng.integers(5)
    if draw == 0:
        claim.weights = [1] * count
    elif draw == 1:
        claim.weights = rng.integers(1, 1 << int(rng.integers(1, 40)), count).tolist()
    elif draw == 2:
        rng.shuffle(claim.weights)
    elif draw == 3:
        noise = rng.integers(-(1 << 20), 1 << 20, count).tolist()
        claim.weights = [(u << 40) + (e << int(rng.integers(1, 20))) for u, e in zip(claim.weights, noise, strict=True)]
    else:
        claim.weights = [u * one_of(rng, [3, 1 << 70, 10**20]) for u in claim.weights]


def fewer_rows(claim: Claim, rng: Random) -> None:
    for _ in range(int(rng.integers(1, 4))):
        k = int(rng.integers(len(claim.rows)))
        del claim.rows[k], claim.weights[k]


def other_rows(claim: Claim, rng: Random) -> None:
    k = int(rng.integers(len(claim.rows)))
    claim.rows[k] = int(rng.integers(-1, len(claim.y) + 1))


def more_rows(claim: Claim, rng: Random) -> None:
    claim.rows.append(int(rng.integers(len(claim.y))))
    claim.weights.append(int(one_of(rng, [1, one_of(rng, claim.weights), 1 << 50])))


def no_dependence(claim: Claim, rng: Random) -> None:
    claim.dependences.pop(int(rng.integers(len(claim.dependences))))


def other_dependence(claim: Claim, rng: Random) -> None:
    columns, weights = one_of(rng, claim.dependences)
    k = int(rng.integers(len(columns)))
    draw = rng.integers(5)
    if draw == 0:
        weights[k] += int(one_of(rng, [-1, 1, 1 << 60]))
    elif draw == 1:
        columns[k] = int(rng.integers(claim.width + 1))
    elif draw == 2:
        columns.reverse()
        weights.reverse()
    elif draw == 3:
        del columns[k], weights[k]
    else:
        weights[:] = [-3 * weight for weight in weights]


def made_up_dependence(claim: Claim, rng: Random) -> None:
    """Columns that are not merged, told to be: the first is left out of the matrix if nobody looks."""
    count = int(rng.integers(1, min(3, claim.width) + 1))
    columns = rng.choice(claim.width, count, replace=False).tolist()
    claim.dependences.insert(
        int(rng.integers(len(claim.dependences) + 1)), (columns, rng.choice([-2, -1, 1], count).tolist())
    )


def repeated_dependence(claim: Claim, rng: Random) -> None:
    claim.dependences.append(deepcopy(one_of(rng, claim.dependences)))


def combined_dependence(claim: Claim, rng: Random) -> None:
    """The sum of two is one as well: still true, if its own column is."""
    totals: Weights = {}
    for columns, weights in (one_of(rng, claim.dependences), one_of(rng, claim.dependences)):
        for column, weight in zip(columns, weights, strict=True):
            totals[column] = totals.get(column, 0) + weight
    spots = [column for column in totals if totals[column]]
    rng.shuffle(spots)
    claim.dependences[int(rng.integers(len(claim.dependences)))] = (spots, [totals[column] for column in spots])


def pulled_apart(claim: Claim, rng: Random) -> None:
    """All rows a step towards their own side, large or small: at some step a hyperplane fits between them."""
    towards = rng.integers(-2, 3, claim.X.shape[1]).astype(np.float64)
    claim.X = claim.X + claim.y[:, None] * towards * 2.0 ** float(rng.integers(-50, 4))


def one_value(claim: Claim, rng: Random) -> None:
    i = int(one_of(rng, claim.rows)) if rng.random() < 0.7 else int(rng.integers(len(claim.y)))
    j = int(rng.integers(claim.X.shape[1]))
    old = float(claim.X[i, j])
    step = 2.0 ** float(rng.integers(-60, 4))
    claim.X[i, j] = one_of(rng, [old + step, old - step, -old, 0.0, math.nextafter(old, 9.0), old * 1024, 1.0])


def one_column(claim: Claim, rng: Random) -> None:
    """Another scale, zeros, a copy of another, or a new column that is 0 on the rows of the proof."""
    j, k = rng.integers(claim.X.shape[1], size=2)
    draw = rng.integers(5)
    if draw == 0:
        claim.X[:, j] *= 2.0 ** float(rng.integers(-200, 200))
    elif draw == 1:
        claim.X[:, j] = 0.0
    elif draw == 2:
        claim.X[:, j] = claim.X[:, k]
    elif draw == 3:
        claim.X[:, j] += claim.X[:, k] * 2.0 ** float(rng.integers(-40, 2))
    else:
        new = np.where(np.isin(np.arange(len(claim.y)), claim.rows), 0.0, rng.integers(-1, 2, len(claim.y)))
        claim.X[:, j] = new


def one_label(claim: Claim, rng: Random) -> None:
    claim.y[int(rng.integers(len(claim.y)))] *= -1


def other_bias(claim: Claim, rng: Random) -> None:
    claim.bias = not claim.bias


def other_kind(claim: Claim, rng: Random) -> None:
    if claim.separator is None:
        claim.separator = rng.integers(-1, 2, claim.X.shape[1] + 1).tolist()
    else:
        claim.separator = None


def other_separator(claim: Claim, rng: Random) -> None:
    if claim.separator is not None:
        claim.separator[int(rng.integers(len(claim.separator)))] += int(rng.integers(-2, 3))


def named_rows(claim: Claim, rng: Random) -> None:
    """Say which rows are separated: those that are, or nearly those. The proof must then span all others."""
    if claim.separator is None:
        return
    w = claim.separator[:-1]
    scores = [
        label * (naive.dot(row, w) + claim.separator[-1])
        for row, label in zip(exactly(claim.X), claim.y.tolist(), strict=True)
    ]
    claim.separated = [i for i, score in enumerate(scores) if score > 0]
    if rng.random() < 0.4:
        claim.separated = sorted({*claim.separated} ^ {int(rng.integers(len(scores)))})


Forgery = Callable[[Claim, Random], None]
FORGERIES: tuple[Forgery, ...] = (
    one_weight, one_weight, all_weights, fewer_rows, other_rows, more_rows, no_dependence, other_dependence,
    other_dependence, made_up_dependence, repeated_dependence, combined_dependence, pulled_apart, pulled_apart,
    one_value, one_column, one_label, other_bias, other_kind, other_separator, named_rows,
)  # fmt: skip


@np.errstate(all="ignore")  # a value beyond the largest double makes no table
def forged(true: Claim, rng: Random) -> tuple[Claim, str] | None:
    """A changed copy, and what was changed; None where there was nothing to change."""
    claim, names = true.copy(), []
    for _ in range(int(rng.choice([1, 1, 1, 2, 3]))):
        change = one_of(rng, FORGERIES)
        try:
            change(claim, rng)
        except (ValueError, IndexError, OverflowError):  # no dependence, no row, infinity: nothing that could be forged
            continue
        names.append(change.__name__)
    return (claim, names[0]) if names and np.isfinite(claim.X).all() and claim.y.min() < claim.y.max() else None


# ---------------------------------------------------------------------------------------------------
# The judges
# ---------------------------------------------------------------------------------------------------


def library_accepts(claim: Claim, is_sparse: bool) -> bool:
    facts: dict[str, Any] = {
        "n_rows": len(claim.y),
        "n_columns": claim.X.shape[1],
        "bias": claim.bias,
        "labels": (-1, 1),
    }
    try:
        named = tuple(ColumnDependence(tuple(columns), tuple(weights)) for columns, weights in claim.dependences)
        found = Obstruction(claim.rows, claim.weights, dependences=named)
        facts |= {"obstruction": found}
        if claim.separator is None:
            verdict: Any = Overlapping(spread=found, **facts)
        else:
            facts |= {"weights": claim.separator[:-1], "bias_weight": claim.separator[-1]}
            whole = {} if claim.separated is None else {"separated_rows": claim.separated, "spread": found}
            verdict = Touching(**facts, **whole)
        verdict.verify(sp.csr_array(claim.X) if is_sparse else claim.X, claim.y)
    except LinsepError:
        return False
    return True


def checker_accepts(claim: Claim, read: list[Any]) -> bool:
    """The checker's own judgement of the proof as it would be written; the rows come from memory, not from a file."""
    proof = written(claim)
    forms = {"data": {**checker.SIZES, "bias": bool}, "kind": str} | checker.LATER["2"][claim.kind]
    if not checker.has_form({name: proof[name] for name in forms}, forms | {"kind": claim.kind}):
        return False
    if claim.separator is not None and not claim.bias and claim.separator[-1]:
        return False
    read[:] = ((1, z, shift) for z, shift in signed(claim))  # signed already, so all of them of the positive class
    try:
        layout = checker.Layout(claim.X.shape[1] + 1, -1, None, None)
        checker.check(proof | {"classes": [0, 1], "question": None}, layout, "")
    except checker.CheckError:
        return False
    return True


def written(claim: Claim) -> dict[str, Any]:
    """The parts of the written proof that the checker looks at."""
    sizes = {"rows": str(len(claim.y)), "columns": str(claim.X.shape[1]), "rows_left_out": "0", "numbers": "binary64"}
    named = [{"columns": [*map(str, c)], "weights": [*map(integer, w)]} for c, w in claim.dependences]
    rows = {"rows": [*map(str, claim.rows)], "weights": [*map(integer, claim.weights)], "dependences": named}
    proof = {"kind": claim.kind, "data": {**sizes, "bias": claim.bias}, "definite": rows}
    if claim.separator is None:
        return proof
    *weights, constant = map(integer, claim.separator)
    separated = None if claim.separated is None else [*map(str, claim.separated)]
    return proof | {"separator": {"weights": weights, "bias_weight": constant}, "separated_rows": separated}


def integer(value: int) -> str:
    """An integer as proofs have it."""
    return str(value) if value.bit_length() < 1990 else hex(value)


def signed(claim: Claim) -> list[tuple[list[int], int]]:
    """The rows as the checker reads them from a file: z·2^shift in integers, and the shift."""
    found = []
    for row, sign in zip(claim.X.tolist(), claim.y.tolist(), strict=True):
        ratios = [value.as_integer_ratio() for value in row] + [(1, 1)] * claim.bias
        shift = max((q for _, q in ratios), default=1).bit_length() - 1
        found.append(([(sign * p) << (shift + 1 - q.bit_length()) for p, q in ratios], shift))
    return found


def exactly(X: NDArray[np.float64]) -> list[tuple[Fraction, ...]]:
    return [tuple(map(Fraction, row)) for row in X.tolist()]


def untruth(claim: Claim) -> str | None:
    """What of an accepted proof is not true; None if all of it is."""
    if (kind := kind_of(claim, range(len(claim.y)))) != claim.kind:
        return f"the rows are {kind}, not {claim.kind}"
    if (kind := kind_of(claim, claim.rows)) != "overlapping":
        return f"the rows of the proof are {kind}"
    Z = naive.signed_rows(claim.X[claim.rows], claim.y[claim.rows], claim.bias)
    own: set[int] = set()
    for columns, weights in claim.dependences:
        if not own.isdisjoint(columns) or len(set(columns)) != len(columns) or not all(weights):
            return "a dependence has no column of its own"
        if any(sum(weight * z[column] for column, weight in zip(columns, weights, strict=True)) for z in Z):
            return "a dependence does not hold"
        own.add(columns[0])
    named = None if claim.separator is None else claim.separated  # of overlapping rows none are written
    if named is not None and {*named} != naive.weak_separated_rows(claim.X, claim.y, claim.bias):
        return "other rows are separated"
    kept = [j for j in range(len(Z[0])) if j not in own and any(z[j] for z in Z)]
    if not any(is_condition_met(Z, weights, kept) for weights in (claim.weights, coprime(claim.weights))):
        return "the least eigenvalue is not larger than the sum is long"
    return None


def kind_of(claim: Claim, rows: Any) -> str:
    """The verdict on some rows."""
    chosen = list(rows)
    return _kind_of(claim.X[chosen].tobytes(), claim.y[chosen].tobytes(), claim.X.shape[1], claim.bias)


@lru_cache(maxsize=4096)
def _kind_of(values: bytes, labels: bytes, columns: int, bias: bool) -> str:
    X = np.frombuffer(values).reshape(-1, columns)
    return str(naive.decide(X, np.frombuffer(labels, np.int64), bias))


def coprime(weights: list[int]) -> list[int]:
    return [weight // math.gcd(*weights) for weight in weights]


def is_condition_met(Z: Any, weights: list[int], kept: list[int]) -> bool:
    """λ_min(Σ p pᵀ/|p|) > |r|, up to one part in 2^100; columns times powers of two, their largest entry below 1."""
    p = [[u * z[j] for j in kept] for u, z in zip(weights, Z, strict=True)]
    scales = [power_above(max(abs(row[k]) for row in p)) for k in range(len(kept))]
    p = [[value / scale for value, scale in zip(row, scales, strict=True)] for row in p]
    r = [sum(column) for column in zip(*p, strict=True)]
    least = root(sum(value * value for value in r)) * (1 - Fraction(1, 2**100))
    gram = [[Fraction(-least * (j == k)) for k in range(len(kept))] for j in range(len(kept))]
    for row in p:
        if length := root(sum(value * value for value in row)):
            for j, k in itertools.product(range(len(kept)), repeat=2):
                gram[j][k] += row[j] * row[k] / length
    return is_positive(gram)


def power_above(value: Fraction) -> Fraction:
    """The power of two that is just above a positive number."""
    power = Fraction(2) ** (value.numerator.bit_length() - value.denominator.bit_length())
    return power if value < power else 2 * power


def root(value: Fraction) -> Fraction:
    """The square root, rounded down at its 2^-FINE."""
    return Fraction(math.isqrt((value.numerator << 2 * FINE) // value.denominator), 1 << FINE)


def is_positive(matrix: list[list[Fraction]]) -> bool:
    """Whether every pivot of the elimination is positive; fractions are cut at 2^-FINE to stay short."""
    for k, lead in enumerate(matrix):
        if lead[k] <= 0:
            return False
        for row in matrix[k + 1 :]:
            factor = row[k] / lead[k]
            row[:] = [cut(a - factor * b) for a, b in zip(row, lead, strict=True)]
    return True


def cut(value: Fraction) -> Fraction:
    return Fraction((value.numerator << FINE) // value.denominator, 1 << FINE)


# ---------------------------------------------------------------------------------------------------
# The campaign
# ---------------------------------------------------------------------------------------------------


@dataclass
class Court:
    """What came of the forgeries so far."""

    tried: Counter[str] = field(default_factory=Counter)
    accepted: Counter[str] = field(default_factory=Counter)
    disagreed: list[str] = field(default_factory=list)
    false: list[str] = field(default_factory=list)
    rows: list[Any] = field(default_factory=list)  # what the checker reads

    def hear(self, claim: Claim, name: str, is_sparse: bool) -> None:
        """Let both look at a forgery, and look at what they accept."""
        library, alone = library_accepts(claim, is_sparse), checker_accepts(claim, self.rows)
        self.tried[name] += 1
        self.accepted[name] += library
        if library != alone:
            self.disagreed.append(f"verify {library}, the checker {alone}: {claim}")
        if (library or alone) and (what := untruth(claim)) is not None:
            self.false.append(f"{what} (verify {library}, the checker {alone}): {claim}")

    def told(self) -> str:
        """One line."""
        return (
            f"{self.tried.total():,} forgeries, {self.accepted.total():,} accepted because they are true, "
            f"{len(self.false)} false ones; {len(self.disagreed)} on which verify and the checker disagree"
        )


def forge(total: int, seed: int = 0, watch: bool = False) -> Court:
    """So many forgeries, a thousand of each proof."""
    court, rng, start = Court(), np.random.default_rng(seed), time.perf_counter()
    read_rows = checker.read_rows
    checker.read_rows = lambda *_: iter(court.rows)
    try:
        for true in claims(seed):
            court.hear(true, "nothing changed", False)
            for _ in range(OF_A_PROOF):
                if (found := forged(true, rng)) is not None:
                    court.hear(*found, bool(rng.random() < 0.3))
                if watch and court.tried.total() % 10_000 == 0:
                    print(f"{time.perf_counter() - start:.0f} s, {court.told()}", file=sys.stderr, flush=True)
            if court.tried.total() >= total:
                return court
    except KeyboardInterrupt:  # what was tried counts
        return court
    finally:
        checker.read_rows = read_rows
    raise AssertionError("unreachable")


def main(total: int = MANY, seed: int = 0) -> int:
    """Run the campaign and say what came of it."""
    warnings.simplefilter("error")
    court = forge(total, seed, watch=True)
    for case in (*court.false, *court.disagreed[:20]):
        print(case, file=sys.stderr)
    for name, count in sorted(court.tried.items()):
        print(f"{name:<24}{count:>10,} tried{court.accepted[name]:>10,} accepted")
    print(court.told())
    return 1 if court.false else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
