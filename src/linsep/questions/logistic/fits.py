"""Estimates where the usual ones may be infinite: the limits of maximum likelihood, and Firth's penalised likelihood.

*Limits* (Geyer 2009). If the estimate does not exist, the likelihood still has a supremum. Along every sequence that
tends to it the separated rows fit perfectly, and the scores of all other rows tend to those of an ordinary fit to these
other rows alone, the limiting conditional model. It has an estimate, and the coefficients that stay finite are the same
whichever of its linearly dependent columns are left out.

*Firth* (1993). Jeffreys' prior as a penalty: maximise l(w) + ½ log det I(w), where I is Fisher's information. The
maximum is finite for every table of full rank. Its intervals come from the profile of the penalised likelihood, as
Heinze and Schemper (2002) recommend: Wald's are symmetric, and the likelihood under separation is far from it.

With a row's mean m(η), its variance V(η) and its leverage h, the modified score is Σ (y - m + h·V'/(2V))·x: for the
logit link V'/V = 1 - 2p, for the log link it is 1. Both fits are Newton's method on that score with the expected
information, each step halved until the likelihood rises. Far from the estimate, where the ends of intervals are, the
penalty is curved as much as the likelihood: such steps are then too long, or jump from one side of the maximum to the
other. So after a few of them the curvature of both is used.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, NamedTuple, final

import numpy as np
from scipy.linalg import qr, solve_triangular
from scipy.optimize import brentq
from scipy.special import expit
from scipy.stats import chi2

from linsep.cores import one_thread
from linsep.errors import ArgumentError
from linsep.questions.logistic.likelihoods import Likelihood
from linsep.report import Grid, Report, Reported, Sentence, one_line
from linsep.solvers.clock import Clock
from linsep.solvers.exact.aliasing import INTERCEPT, find_aliases
from linsep.sources.base import Array, Floats, Ints
from linsep.tables import is_sparse

MOST_STEPS, MOST_HALVINGS = 500, 60
CLOSE, ENOUGH = 1e-14, 1e-22  # parts of the likelihood: what rounding may lose; a rise not worth another step
RISE = 1e-4  # the least part of the rise predicted for a step that the likelihood must gain
FEW_STEPS = 4  # steps with the expected information, before the curvature of the penalty is used as well
FLATTEST = 1e-2  # part of the information: a smaller curvature, or one of the wrong sign, is replaced by this
MOST_ENTRIES = 50_000_000  # of the predictors, which are held in memory as floats
OFFERED = ("binomial", "poisson")
OFFER = "binomial (with the logit link) and poisson (with the log link)"
ELSEWHERE = {  # where to find Firth's estimates for the families that linsep does not fit
    "multinomial": "brglm2 in R",
    "ordinal": "brglm2 in R",
    "conditional": "coxphf in R",
    "cox": "coxphf in R",
}
WIDEST = 60  # steps towards the end of an interval, each half as long again as the one before
OTHERS, STEPS_OF_OTHERS = 8, 10  # starting points in the search for other maxima of a profile, and steps from each
ENTRIES_OF_OTHERS = 100_000  # entries of the table times starting points: a large table has fewer
LOWER = 1e-6  # another maximum counts as higher if twice the likelihood is higher by this


@dataclass(frozen=True, slots=True)
class Sample:
    """Rows to fit: predictors in floats, what was observed, the trials and weights of each row, and its offset."""

    predictors: Floats
    y: Floats
    trials: Floats
    offset: Floats
    is_binomial: bool

    def take(self, rows: Ints, columns: Sequence[int]) -> "Sample":
        """Some rows and columns."""
        picked = self.predictors[np.ix_(rows, np.asarray(columns, np.int64))]
        return replace(self, predictors=picked, y=self.y[rows], trials=self.trials[rows], offset=self.offset[rows])

    @property
    def counted(self) -> Array:
        """The rows that count: those with a trial and a weight above 0."""
        return np.asarray(self.trials > 0)

    def means(self, scores: Floats) -> Floats:
        """The mean of a single trial: a probability, or the expected count."""
        return np.asarray(expit(scores) if self.is_binomial else np.exp(scores))


def sample_of(likelihood: Likelihood) -> Sample:
    """The rows of a binomial or Poisson model in floats, the intercept first."""
    seen, source = likelihood.observed, likelihood.source
    if likelihood.family not in OFFERED:
        raise ArgumentError(
            f"limits() and firth() are for the families {OFFER}, not for {likelihood.family!r}.",
            fix=f"Firth's estimates for this family: {ELSEWHERE[likelihood.family]}.",
        )
    if likelihood.link:
        raise ArgumentError(
            f"limits() and firth() are for the families {OFFER}; this model has {likelihood.link}.",
            fix="Fit it elsewhere to the rows that are not in separated_rows: that fit is the limit.",
        )
    if likelihood.n_rows * (len(likelihood.names) + 1) > MOST_ENTRIES:
        raise ArgumentError("The table is too large for a fit in memory.", fix="Fit it elsewhere, or take fewer rows.")
    if seen is None:
        block = source.take(np.arange(source.n_rows))
        values, scales = block.values, source.facts.scales
        y, trials, offset = (block.y > 0).astype(float), np.ones(source.n_rows), None
    else:
        values, scales, offset = seen.values, seen.facts.scales, seen.options.offset
        weights = 1.0 if seen.options.weights is None else seen.options.weights
        y, trials = (
            (seen.y, np.ones(seen.n_rows)) if seen.counts is None else (seen.counts[0], seen.counts[0] + seen.counts[1])
        )
        y, trials = y * weights, trials * weights
    dense = np.asarray(values.toarray() if is_sparse(values) else values, np.float64)
    predictors = dense if scales is None else dense / np.array([float(scale) for scale in scales])
    ones = np.ones((len(dense), int(likelihood.bias)))
    known = np.zeros(len(dense)) if offset is None else offset
    return Sample(np.hstack([ones, predictors]), y, trials, known, likelihood.family == "binomial")


class Point(NamedTuple):
    """The likelihood and its derivatives at some coefficients."""

    value: float  # the (penalised) log-likelihood, up to a constant
    score: Floats
    root: Floats  # of the information: the triangle R of sqrt(V)·X = QR


def _at(sample: Sample, w: Floats, penalty: float) -> Point:
    scores = sample.predictors @ w + sample.offset
    p = sample.means(scores)
    if sample.is_binomial:
        value = float(np.sum(sample.y * scores - sample.trials * np.logaddexp(0, scores)))
        variance, slope = sample.trials * p * expit(-scores), 1 - 2 * p
    else:
        value = float(np.sum(sample.y * scores - sample.trials * p))
        variance, slope = sample.trials * p, np.ones_like(p)
    q, root = qr(np.sqrt(variance)[:, None] * sample.predictors, mode="economic", check_finite=False)
    with np.errstate(divide="ignore"):
        value += penalty * float(np.log(np.abs(np.diag(root))).sum())
    adjusted = sample.y - sample.trials * p + penalty * 0.5 * np.einsum("ij,ij->i", q, q) * slope
    return Point(value, sample.predictors.T @ adjusted, np.asarray(root, np.float64))


def _bending(sample: Sample, w: Floats, root: Floats) -> Floats:
    """The second derivatives of ½ log det I. In the scores they are ½ (h·V''/V, on the diagonal, - (V'/V·QQᵀ)²)."""
    X, scores = sample.predictors, sample.predictors @ w + sample.offset
    p, ones = sample.means(scores), np.ones(len(scores))
    both = p * expit(-scores)
    variance, slope, bend = (both, 1 - 2 * p, 1 - 6 * both) if sample.is_binomial else (p, ones, ones)
    weighted = np.sqrt(sample.trials * variance)[:, None] * X
    q = solve_triangular(root, weighted.T, trans="T", check_finite=False).T
    leverages = np.einsum("ij,ij->i", q, q)
    pairs = np.stack([(q.T @ ((slope * column)[:, None] * q)).ravel() for column in X.T])
    return np.asarray(0.5 * (X.T @ ((leverages * bend)[:, None] * X) - pairs @ pairs.T))


def _step(point: Point, free: Ints, bending: Floats | None) -> Floats:
    """Newton's step in the free coordinates, the others held: always uphill, whatever the curvature of the penalty."""
    root = point.root if len(free) == point.root.shape[1] else qr(point.root[:, free], mode="r")[0][: len(free)]
    half = solve_triangular(root, point.score[free], trans="T", check_finite=False)
    if bending is not None:
        once = solve_triangular(root, bending[np.ix_(free, free)], trans="T", check_finite=False)
        curved = np.eye(len(free)) - solve_triangular(root, once.T, trans="T", check_finite=False)
        if not np.isfinite(curved).all():  # so far from every maximum that it overflows: there is no next step
            return np.full(point.score.size, math.nan)
        bent, axes = np.linalg.eigh(curved)
        half = axes @ ((axes.T @ half) / np.maximum(np.abs(bent), FLATTEST))
    step = np.zeros(point.score.size)
    step[free] = solve_triangular(root, half, check_finite=False)
    return step


def _maximum(sample: Sample, start: Floats, penalty: float, held: int | None = None) -> tuple[Floats, Point]:
    """The coefficients with the largest (penalised) likelihood, one of them perhaps held where it is."""
    w, point, is_there = _climbed(sample, start, penalty, held)
    if is_there:
        return w, point
    raise ArgumentError(
        f"No maximum was reached in {MOST_STEPS} steps of Newton's method: columns may nearly depend on each other."
    )


def _climbed(
    sample: Sample, start: Floats, penalty: float, held: int | None = None, most: int = MOST_STEPS
) -> tuple[Floats, Point, bool]:
    """Where at most `most` steps lead, and whether that is a maximum."""
    free = np.array([j for j in range(start.size) if j != held], np.int64)
    w, point, gain = start, _at(sample, start, penalty), math.inf
    for steps in range(most if math.isfinite(point.value) else 0):
        if not free.size:
            return w, point, True
        is_bent = penalty > 0 and steps >= FEW_STEPS and start.size**3 <= MOST_ENTRIES
        with np.errstate(over="ignore", invalid="ignore"):
            step, last = _step(point, free, _bending(sample, w, point.root) if is_bent else None), gain
        if not np.isfinite(step).all():
            return w, point, False
        gain = float(step @ point.score)
        if gain <= ENOUGH * (1 + abs(point.value)):
            return w, point, True
        if is_bent and last <= gain <= CLOSE * (1 + abs(point.value)):  # only rounding is left
            return w, point, True
        for halvings in range(MOST_HALVINGS):
            part = 0.5**halvings
            tried = w + step * part
            with np.errstate(over="ignore", invalid="ignore"):
                ahead = _at(sample, tried, penalty)
            if ahead.value >= point.value + RISE * part * gain - CLOSE * abs(point.value):
                break
        else:
            return w, point, True
        w, point = tried, ahead
    return w, point, gain <= CLOSE * (1 + abs(point.value))


def _scaled(sample: Sample) -> tuple[Sample, Floats]:
    """Columns of size 1, and what they were divided by."""
    sizes = np.abs(sample.predictors).max(axis=0, initial=0.0)
    sizes[sizes == 0] = 1.0
    return replace(sample, predictors=sample.predictors / sizes), sizes


class Estimates(NamedTuple):
    """Coefficients and their standard errors."""

    w: Floats
    errors: Floats


def likeliest(sample: Sample) -> Estimates:
    """The maximum likelihood estimate for rows that have one and linearly independent columns."""
    scaled, sizes = _scaled(sample)
    w, point = _maximum(scaled, np.zeros(len(sizes)), 0.0)
    return Estimates(w / sizes, _errors(point) / sizes)


def _errors(point: Point) -> Floats:
    inverse = solve_triangular(point.root, np.eye(point.root.shape[1]), check_finite=False)
    return np.asarray(np.sqrt((inverse**2).sum(axis=1)))


class Penalised(NamedTuple):
    """Firth's estimates, with the errors, intervals and p-value of each."""

    w: Floats
    errors: Floats
    lows: Floats
    highs: Floats
    p_values: Floats


def firth(sample: Sample, level: float) -> Penalised:
    """Firth's penalised estimate, standard errors, profile intervals and tests of each coefficient against 0."""
    scaled, sizes = _scaled(sample)
    w, best = _maximum(scaled, np.zeros(len(sizes)), 1.0)
    errors = _errors(best)
    ends, p_values = np.empty((len(sizes), 2)), np.empty(len(sizes))
    for j in range(len(sizes)):
        profile = Profile(scaled, w, best, j)
        p_values[j] = chi2.sf(np.maximum(0.0, _or_nan(profile.least, -w[j])), 1)
        ends[j] = [w[j] + _or_nan(_end, profile, side * errors[j], float(chi2.ppf(level, 1))) for side in (-1, 1)]
    return Penalised(w / sizes, errors / sizes, ends[:, 0] / sizes, ends[:, 1] / sizes, p_values)


def _or_nan(work: Callable[..., float], *given: Any) -> float:
    """A number about the profile; NaN if no maximum is reached on the way, so that the estimate is not lost."""
    try:
        return work(*given)
    except ArgumentError:
        return math.nan


class Profile:
    """By how much twice the penalised likelihood falls when coefficient j is moved and the others are fitted again.

    Far from the estimate there may be several maxima in the others: the penalty favours scores near 0, and several sets
    of rows can have them. `drop` follows the nearest maximum; `least` looks for others.
    """

    def __init__(self, sample: Sample, w: Floats, best: Point, j: int) -> None:
        self.sample, self.w, self.best, self.j = sample, w, best, j
        self.near: dict[float, Floats] = {0.0: w}

    def drop(self, moved: float) -> float:
        """The fall at the maximum that is reached from the nearest one known."""
        start = self.near[min(self.near, key=lambda known: abs(known - moved))].copy()
        start[self.j] = self.w[self.j] + moved
        self.near[moved], point = _maximum(self.sample, start, 1.0, held=self.j)
        return 2 * (self.best.value - point.value)

    def least(self, moved: float) -> float:
        """The least fall, starting at the nearest maximum and where as many rows as possible have the score 0."""
        least = self.drop(moved)
        for start in self._starts(self.w[self.j] + moved):
            w, point, _ = _climbed(self.sample, start, 1.0, self.j, STEPS_OF_OTHERS)  # it need not reach the maximum
            if 2 * (self.best.value - point.value) < least:
                least, self.near[moved] = 2 * (self.best.value - point.value), w
        return least

    def forget(self, end: float) -> None:
        """Forget the maxima found farther out than this."""
        self.near = {moved: w for moved, w in self.near.items() if abs(moved) <= abs(end) or moved * end < 0}

    def _starts(self, held: float) -> Iterator[Floats]:
        X, (n_rows, n_columns) = self.sample.predictors, self.sample.predictors.shape
        others, size = np.delete(np.arange(n_columns), self.j), min(n_rows, n_columns - 1)
        random = np.random.default_rng(0)
        most = min(OTHERS, 1 + ENTRIES_OF_OTHERS // X.size)
        drawn: Iterable[Any] = (random.choice(n_rows, size, replace=False) for _ in range(most))
        if math.comb(n_rows, size) <= most:
            drawn = combinations(range(n_rows), size)
        for rows in drawn if size else ():
            chosen, start = X[list(rows)], np.full(n_columns, held)
            start[others] = np.linalg.lstsq(chosen[:, others], -held * chosen[:, self.j])[0]
            yield start


def _end(profile: Profile, first: float, allowed: float) -> float:
    """How far a coefficient can be moved until the likelihood has fallen by `allowed`; infinity if it never does."""
    inner, outer = 0.0, first
    for _ in range(WIDEST):
        if profile.drop(outer) > allowed:
            end = float(brentq(lambda moved: profile.drop(moved) - allowed, inner, outer, xtol=1e-12, rtol=1e-10))
            if profile.least(end) > allowed - LOWER:
                return end
            profile.forget(end)  # another maximum is higher there: continue from it
            outer = end
        inner, outer = outer, 1.5 * outer
    return math.copysign(math.inf, first)


# ---------------------------------------------------------------------------------------------------
# The results
# ---------------------------------------------------------------------------------------------------


class Estimate(NamedTuple):
    """One coefficient: NaN for what is not estimated, infinite if it diverges."""

    name: str
    value: float
    error: float
    low: float = math.nan
    high: float = math.nan
    p_value: float = math.nan


@final
@dataclass(frozen=True, slots=True, repr=False)
class Fit(Reported):
    """Estimates of a regression: the limits of maximum likelihood, or Firth's, with the limits beside them.

    `estimates` are the coefficients in order, each with `name`, `value` (infinite if it diverges, NaN if it is
    undetermined or aliased) and `error`, its standard error; Firth's also with `low` and `high`, a profile interval of
    `level`, and `p_value`, NaN if the profile could not be followed. `fitted` are the probabilities of the positive
    label, or the means of counts, row by row; NaN in a row of weight 0 and in one that was dropped.
    """

    method: str
    estimates: tuple[Estimate, ...]
    fitted: tuple[float, ...]
    level: float = 0.95
    limits: "Fit | None" = None

    @property
    def coefficients(self) -> dict[str, float]:
        """The value of each coefficient."""
        return {each.name: each.value for each in self.estimates}

    def spread(self, rows: Ints, n_rows: int) -> "Fit":
        """The same fit to these rows of a table of n_rows, with NaN for each of the others."""
        fitted = np.full(n_rows, math.nan)
        fitted[rows] = self.fitted
        return replace(self, fitted=tuple(fitted.tolist()))

    def __repr__(self) -> str:
        return one_line(self, self.method, ", ".join(f"{e.name} {_number(e.value)}" for e in self.estimates))

    def report(self) -> Report:
        """A table of the coefficients."""
        if self.limits is None:
            plain = Grid(("coefficient", "limit", "standard error"), tuple(map(_plain, self.estimates)))
            return Report(TITLES["limits"], (plain, Sentence(NOTES["limits"])))
        interval = f"{100 * self.level:.10g}"
        head = ("coefficient", "limit of ML", "(se)", "Firth", "(se)", f"low {interval}", f"high {interval}", "p")
        both = zip(self.limits.estimates, self.estimates, strict=True)
        lines = tuple((*_plain(limit), *_plain(own)[1:], *map(_number, own[3:])) for limit, own in both)
        is_missing = any(math.isfinite(own.value) and any(map(math.isnan, own[3:])) for own in self.estimates)
        notes = [NOTES["firth"], *([NOTES["missing"]] if is_missing else [])]
        return Report(TITLES["firth"], (Grid(head, lines), Sentence(" ".join(notes))))

    def facts(self) -> dict[str, Any]:
        """The estimates as plain values; infinity is text, NaN is None."""
        said = [{key: _fact(value) for key, value in each._asdict().items()} for each in self.estimates]
        own = {"method": self.method, "estimates": said, "fitted": [_fact(value) for value in self.fitted]}
        return own if self.limits is None else {**own, "level": self.level, "limits": self.limits.facts()}


def limits_of(likelihood: Likelihood, states: Sequence[tuple[str, str]], separated: Sequence[int]) -> Fit:
    """The limits of maximum likelihood, given the state of each coefficient and which rows are separated."""
    sample = sample_of(likelihood)
    rest = np.setdiff1d(np.flatnonzero(sample.counted), np.asarray(separated, np.int64))
    fitted = np.where(sample.counted, np.where(sample.y > 0, 1.0, 0.0), math.nan)
    values = {"+inf": math.inf, "-inf": -math.inf}
    found = [Estimate(name, values.get(state, math.nan), math.nan) for name, state in states]
    if len(rest):
        part, bias = likelihood.part(rest), likelihood.bias
        aliases = {alias.column for alias in find_aliases(part, bias=bias, clock=Clock(None))}
        columns = [*([INTERCEPT] if bias else []), *range(part.n_columns)]
        kept = [place for place, column in enumerate(columns) if column not in aliases]
        chosen = sample.take(rest, kept)
        with one_thread():
            estimate = likeliest(chosen)
        fitted[rest] = sample.means(chosen.predictors @ estimate.w + chosen.offset)
        for place, value, error in zip(kept, estimate.w.tolist(), estimate.errors.tolist(), strict=True):
            if states[place][1] == "finite":
                found[place] = Estimate(states[place][0], value, error)
    return Fit("maximum likelihood in the limit", tuple(found), tuple(fitted.tolist()))


def firth_of(likelihood: Likelihood, states: Sequence[tuple[str, str]], level: float, limits: Fit) -> Fit:
    """Firth's estimates of the coefficients that are not aliased."""
    sample = sample_of(likelihood)
    kept = [place for place, (_, state) in enumerate(states) if state != "aliased"]
    chosen = sample.take(np.flatnonzero(sample.counted), kept)
    found = [Estimate(name, math.nan, math.nan) for name, _ in states]
    with one_thread():  # thousands of products of small matrices
        penalised = firth(chosen, level)
    for place, *numbers in zip(kept, *(column.tolist() for column in penalised), strict=True):
        found[place] = Estimate(states[place][0], *numbers)
    fitted = np.full(len(sample.y), math.nan)
    fitted[sample.counted] = sample.means(chosen.predictors @ penalised.w + chosen.offset)
    return Fit("Firth", tuple(found), tuple(fitted.tolist()), level, limits)


TITLES = {
    "limits": "Maximum likelihood in the limit: where the coefficients go as the likelihood tends to its supremum.",
    "firth": "Firth's penalised likelihood, beside the limits of maximum likelihood.",
}
NOTES = {
    "limits": "A coefficient without a number is undetermined or aliased. Standard errors are those of the limiting "
    "conditional model: the rows that are not separated.",
    "firth": "Intervals and p are from the profile of the penalised likelihood. Under separation, report these; "
    "standard errors alone mislead.",
    "missing": "A missing end or p was not found: the profile could not be followed that far.",
}


def _plain(each: Estimate) -> tuple[str, str, str]:
    return each.name, _number(each.value), _number(each.error)


def _number(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:+.0f}" if math.isinf(value) else f"{value:.5g}"


def _fact(value: float | str) -> float | str | None:
    if isinstance(value, str):
        return value
    return value if math.isfinite(value) else None if math.isnan(value) else _number(value)
