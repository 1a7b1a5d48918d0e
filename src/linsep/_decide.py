"""Can a hyperplane separate the two classes? The outline of the library on one screen.

    NaN, infinity                     refused, with row and column
    few rows                          the exact LP on all of them
    a column of one sign              separates every row it touches: peel, and go on with the rest
    many rows                         a working set guided by floats, each answer proved exactly
    what floats cannot settle         the exact LP, started from where they stopped

Every verdict is checked against the data before it is handed out, and against nothing else.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from linsep.certificates import Obstruction, Overlapping, Separable, Touching, Undecided, Verdict
from linsep.errors import ArgumentError
from linsep.exact import coprime
from linsep.proof_signs import dyadic
from linsep.solvers.clock import Clock, OutOfTime
from linsep.solvers.exact_search import Combination, ExactSearch, Settled
from linsep.solvers.working_set import Blocked, Separated, Stuck, search
from linsep.sources.base import Floats, Source
from linsep.sources.inputs import as_source

FEW_ROWS, FEW_COLUMNS = 400, 18  # up to here the exact LP takes all rows at once


def decide(X: Any, y: Any = None, *, bias: bool = True, time_limit: float | None = None) -> Verdict:
    """Decide whether a hyperplane separates the two classes, and prove it.

    Returns `Separable` (complete separation, with the hyperplane), `Touching` (quasi-complete separation: a
    hyperplane with no row on the wrong side, and the rows that allow no better), `Overlapping` (overlap, with the
    rows that forbid any) or, past `time_limit` seconds, `Undecided`, which proves nothing. Every proof has been
    checked against the data in exact arithmetic; `verify` does it again.

    >>> import linsep
    >>> linsep.decide([[0, 0], [1, 1], [0, 1]], [0, 1, 1]).kind
    'separable'
    >>> verdict = linsep.decide(*linsep.datasets.xor())
    >>> verdict.kind, verdict.obstruction.rows, verdict.obstruction.weights
    ('overlapping', (0, 1, 2, 3), (1, 1, 1, 1))
    """
    if time_limit is not None and not time_limit >= 0:
        raise ArgumentError(f"time_limit is {time_limit}: it must be a number of seconds, or None.")
    source, clock = as_source(X, y), Clock(time_limit)
    case = Case(source, bias, clock)
    try:
        verdict = case.decide()
    except OutOfTime:
        return case.undecided()
    verdict.verify(source)
    return verdict


@dataclass(frozen=True, slots=True)
class Case:
    """The rows to be decided, and the way from what the solvers find to a verdict."""

    source: Source
    bias: bool
    clock: Clock

    def decide(self) -> Verdict:
        """The verdict, not checked yet."""
        self.require_finite()
        columns = np.arange(self.source.n_columns)
        if self.source.n_rows <= FEW_ROWS and self.source.n_columns <= FEW_COLUMNS:
            everything = self.source.take(np.arange(self.source.n_rows))
            self.clock.reads += 1
            return self.settled(self.exact(columns).run(everything))
        found = search(self.source, columns, bias=self.bias, clock=self.clock)
        if isinstance(found, Separated):
            return self.separated(found)
        if isinstance(found, Blocked) and len(found.weights) == len(columns) + self.bias + 1:
            whole = Combination(tuple(np.asarray(found.rows.numbers).tolist()), found.weights)
            return self.settled(Settled("overlapping", obstruction=whole, spread=whole))
        hint = found.hint if isinstance(found, Stuck) else np.arange(len(found.rows))
        return self.settled(self.exact(columns).run(found.rows, hint.tolist()))

    def require_finite(self) -> None:
        """Refuse NaN and infinity by name. Few rows prove an overlap, so nothing later need meet the bad one."""
        self.source.scan(np.zeros(self.source.n_columns), 0.0)
        self.clock.reads += 1

    def exact(self, columns: Any) -> ExactSearch:
        """The exact LP on this case."""
        return ExactSearch(self.source, columns, bias=self.bias, clock=self.clock)

    def separated(self, found: Separated) -> Verdict:
        """The verdict of float weights, taken as the exact numbers they are."""
        weights, bias_weight = as_integers(found.w, found.b)
        return Separable(weights=weights, bias_weight=bias_weight, **self.facts())

    def settled(self, found: Settled) -> Verdict:
        """The verdict of an exact answer."""
        if found.obstruction is None:
            return Separable(weights=found.weights, bias_weight=found.bias_weight, **self.facts())
        first = Obstruction(found.obstruction.rows, found.obstruction.weights)
        if found.spread is None:
            return Touching(weights=found.weights, bias_weight=found.bias_weight, obstruction=first, **self.facts())
        spread = Obstruction(found.spread.rows, found.spread.weights)
        return Overlapping(obstruction=first, spread=spread, **self.facts())

    def undecided(self) -> Verdict:
        """What is left to say when the time is over."""
        reason = f"The time limit of {self.clock.limit:g} seconds was over before anything was proved."
        return Undecided(reason=reason, margin=(0.0, math.inf), **self.facts())

    def facts(self) -> dict[str, Any]:
        """What every verdict states about the data and the work."""
        return {
            "n_rows": self.source.n_rows,
            "n_columns": self.source.n_columns,
            "bias": self.bias,
            "labels": self.source.labels,
            "names": self.source.columns,
            "reads": self.clock.reads,
            "seconds": self.clock.seconds,
        }


def as_integers(w: Floats, b: float) -> tuple[tuple[int, ...], int]:
    """Double weights as coprime integers of the same proportions."""
    parts = [dyadic(value) for value in (*w.tolist(), b)]
    least = min((exponent for mantissa, exponent in parts if mantissa), default=0)
    whole = coprime(mantissa << (exponent - least) if mantissa else 0 for mantissa, exponent in parts)
    return whole[:-1], whole[-1]
