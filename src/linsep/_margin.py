"""How wide is the gap between the classes, and how many mistakes can the Perceptron make? Both certified."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from linsep._decide import as_integers, decide, facts_of, obstruction_of
from linsep.certificates import Obstruction, Separable, Verdict, recheck
from linsep.certificates.signs import form_of
from linsep.errors import ArgumentError, CertificateError, NotSeparableError
from linsep.halfspace import Halfspace
from linsep.solvers.clock import Clock, OutOfTime
from linsep.solvers.exact_margin import exact_widest
from linsep.solvers.margin import Widest, WidestSearch
from linsep.sources.base import Source
from linsep.sources.inputs import as_source

AFFORDABLE_ENTRIES, AFFORDABLE_SUPPORT = 20_000, 40  # up to here gamma² is solved for exactly
MULTIPLIER_BITS = 50  # of the largest integer weight in the proof of an upper bound


def max_margin(
    X: Any,
    y: Any = None,
    *,
    gap: float = 1e-6,
    time_limit: float | None = None,
    watch: Callable[[Clock], None] | None = None,
) -> Verdict:
    """The hyperplane with the largest margin: `Separable` with `margin` = (low, high), or the proof that none exists.

    The margin is geometric and the bias is free: the distance of the nearest row to the hyperplane. `low` is the
    margin of this hyperplane, `high` a bound that no hyperplane exceeds, proved by the rows of `nearest`; they
    differ by at most the part `gap`, unless doubles cannot tell them apart that well. `watch` is that of `decide`.

    >>> import linsep
    >>> verdict = linsep.max_margin([[0.0, 0.0], [0.0, 1.0], [2.0, 0.0], [2.0, 1.0]], [0, 0, 1, 1])
    >>> verdict.margin, verdict.gamma_squared
    ((1.0, 1.0), Fraction(1, 1))
    """
    if not 0 < gap < 1:
        raise ArgumentError(f"gap is {gap}: it must lie between 0 and 1.")
    source, clock = as_source(X, y), Clock(time_limit, watch=watch)
    try:
        widest = WidestSearch(source, homogeneous=False, gap=gap / 2, clock=clock).run()
    except OutOfTime:
        widest = None
    if widest is None or not widest.low > 0:
        left = None if time_limit is None else max(0.0, time_limit - clock.seconds)
        return decide(source, time_limit=left, watch=watch)
    verdict = _exactly(source, widest, clock) or _certified(source, widest, clock)
    verdict.verify(source.fresh())
    return verdict


def _certified(source: Source, widest: Widest, clock: Clock) -> Separable:
    """The interval that the float hyperplane and its support prove."""
    weights, bias_weight = as_integers(widest.w, widest.b)
    nearest = _weighed(source, widest)
    margin = recheck.margin_bounds(source, weights, bias_weight, nearest.rows, nearest.weights, True)
    proof = nearest if math.isfinite(margin[1]) else None  # a bound beyond the largest double is none
    return _separable(source, clock, weights, bias_weight, margin, proof)


def _exactly(source: Source, widest: Widest, clock: Clock) -> Separable | None:
    """The exact optimum on the same support, where that is affordable and the support is right."""
    if source.n_rows * source.n_columns > AFFORDABLE_ENTRIES or len(widest.support) > AFFORDABLE_SUPPORT:
        return None
    found = exact_widest(widest.support)
    if found is None:
        return None
    low, high = recheck.root_below(found.gamma_squared), recheck.root_above(found.gamma_squared)
    if not math.isfinite(high):
        return None
    nearest = obstruction_of(source, widest.support.row_numbers.tolist(), found.multipliers)
    verdict = _separable(source, clock, found.weights, found.bias_weight, (low, high), nearest)
    try:
        verdict.verify(source.fresh())
    except CertificateError:  # some other row is nearer: floats named the wrong support
        return None
    return replace(verdict, gamma_squared=found.gamma_squared)


def _separable(
    source: Source,
    clock: Clock,
    weights: tuple[int, ...],
    bias_weight: int,
    margin: tuple[float, float],
    nearest: Obstruction | None,
) -> Separable:
    return Separable(
        **facts_of(source),
        weights=weights,
        bias_weight=bias_weight,
        margin=margin,
        nearest=nearest,
        reads=clock.reads,
        seconds=clock.seconds,
    )


def _weighed(source: Source, widest: Widest) -> Obstruction:
    """The rows that prove the upper bound, with integers for their weights."""
    scaled = np.ldexp(widest.multipliers / widest.multipliers.max(), MULTIPLIER_BITS)
    pairs = [(int(n), round(u)) for n, u in zip(widest.support.numbers, scaled.tolist(), strict=True) if u >= 1]
    return obstruction_of(source, [n for n, _ in pairs], [u for _, u in pairs])


@dataclass(frozen=True, slots=True)
class Novikoff:
    """R, gamma and (R/gamma)² of the rows with a 1 appended (without bias: as they are), between certified bounds.

    The Perceptron makes at most `bound[1]` updates on these rows, in any order. `halfspace` is the u* of the
    theorem, the unit vector W = (w, b) whose margin on these rows is `gamma[0]` at least.
    """

    radius: tuple[float, float]
    gamma: tuple[float, float]
    bound: tuple[float, float]
    halfspace: Halfspace
    bias: bool = True

    def explain(self) -> str:
        """The theorem with these numbers."""
        rows = "the rows with a 1 appended" if self.bias else "the rows as they are"
        return (
            f"With R = {self.radius[1]:.6g} and gamma = {self.gamma[0]:.6g} (of {rows}), "
            f"the Perceptron makes at most (R/gamma)² = {self.bound[1]:.6g} updates, in any order (Novikoff 1962)."
        )


def novikoff(
    X: Any, y: Any = None, *, bias: bool = True, gap: float = 1e-6, time_limit: float | None = None
) -> Novikoff:
    """Novikoff's bound on the updates of the Perceptron: `bound` = (R/gamma)², between certified ends.

    `gap` is how far the ends of gamma may differ, as a part of it; `bias` and `time_limit` are those of `decide`.

    Raises
    ------
    NotSeparableError : there is no bound, because no hyperplane is known to separate the rows; `verdict` says why.

    >>> import linsep
    >>> theory = linsep.novikoff(*linsep.datasets.cornwell())
    >>> linsep.perceptron(*linsep.datasets.cornwell()).updates <= theory.bound[1]
    True
    """
    source, clock = as_source(X, y), Clock(time_limit)
    try:
        widest = WidestSearch(source, homogeneous=True, gap=gap / 2, clock=clock, has_bias=bias).run()
    except OutOfTime:
        widest = None
    if widest is None or not widest.low > 0:
        raise NotSeparableError(decide(source, bias=bias, time_limit=time_limit))
    return _theory(source, widest, bias)


def _theory(source: Source, widest: Widest, bias: bool) -> Novikoff:
    """Floats rounded outward, and the exact length of the rows' mean."""
    weights, bias_weight = as_integers(widest.w, widest.b)
    nearest = _weighed(source, widest)
    low = recheck.homogeneous_floor(source, form_of(weights, bias_weight))
    high = recheck.root_above(recheck.squared_ceiling(source, nearest.rows, nearest.weights, None if bias else False))
    longest2 = source.scan(widest.w, widest.b).longest2
    slack = (source.n_columns + 8) * 2.0**-52
    reach = math.sqrt(longest2 + bias)
    radius = (reach * (1 - slack), reach * (1 + slack))
    bound = (radius[0] / high, radius[1] / low if low > 0 else math.inf)
    bound = (bound[0] ** 2 * (1 - 1e-14), bound[1] ** 2 * (1 + 1e-14))
    return Novikoff(radius, (low, high), bound, _unit(widest, source), bias)


def _unit(widest: Widest, source: Source) -> Halfspace:
    W = np.append(widest.w, widest.b)
    W /= np.abs(W).max()  # so that no square leaves the range of doubles
    return Halfspace.from_homogeneous(W / np.linalg.norm(W), source.labels)
