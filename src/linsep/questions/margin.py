"""How wide is the gap between the classes, and how many updates can the Perceptron make? Both certified."""

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any, TypeGuard

import numpy as np

from linsep import arguments
from linsep.errors import ArgumentError, LinsepError, NotSeparableError, OutOfMemoryError, OverflowedError
from linsep.exact import to_doubles
from linsep.halfspace import Halfspace
from linsep.proofs import Obstruction, Separable, Verdict, margin_checks
from linsep.proofs.named_rows import in_own_numbers
from linsep.proofs.verdict_base import check
from linsep.questions.decide import Case, decided, last_steps
from linsep.questions.stated import facts_of, obstruction_of
from linsep.report import Grid, Part, Report, Reported, Sentence, one_line, rows_left_out
from linsep.signs import Form, as_integers, form_of
from linsep.signs import scores as float_scores
from linsep.solvers.clock import Clock, OutOfTime
from linsep.solvers.exact.exact_margin import ExactWidest, exact_widest
from linsep.solvers.margin_search import Widest, WidestSearch
from linsep.solvers.wide.row_margin import RowSearch
from linsep.sources.base import Block, Source
from linsep.sources.inputs import asked
from linsep.sources.standardised import standardised
from linsep.tables.categories import Categories
from linsep.tables.given_rows import Missing

AFFORDABLE_ENTRIES, AFFORDABLE_SUPPORT = 20_000, 40  # up to here gamma² is solved for exactly
WIDE, TALL, VERY_WIDE = 300, 50, 2000  # columns; rows per column; columns from which on the rows do not matter
NEARLY_ONE = 1 - Fraction(1, 2**20)
SLOW, WORTH_IT = 10_000, 10  # for larger bounds, standardising is tried; the factor by which it must help
MANY = 10**9  # larger ratios are shown with three digits
ENDLESS = 10**15  # a larger number of updates is shown rounded
MULTIPLIER_BITS = 50  # of the largest integer weight in the proof of an upper bound


def max_margin(
    X: Any,
    y: Any = None,
    *,
    bias: bool = True,
    gap: float = 1e-6,
    ids: Any = None,
    categories: Categories = None,
    missing: Missing = None,
    time_limit: float | None = None,
    watch: Callable[[Clock], None] | None = None,
) -> Verdict:
    """Find the hyperplane with the largest margin, or prove that none separates the classes.

    The margin is geometric and the bias is free: the distance of the nearest row to the hyperplane.

    Parameters
    ----------
    X, y : the rows and their labels
        As `decide` takes them.
    bias : bool
        False asks for a hyperplane through the origin.
    gap : float
        How far the two ends of the margin may differ, as a part of it. They differ by more if doubles are not precise
        enough or time runs out.
    ids, categories, missing, time_limit, watch
        As `decide` takes them.

    Returns
    -------
    Separable
        With `margin` = (low, high): `low` is the margin of this hyperplane, `high` a bound that no margin exceeds,
        proved by the rows of `nearest`. `low` is 0 for a margin below the smallest double, `high` infinite for one
        beyond the largest.
    Touching, Overlapping, NotSeparable or Undecided
        As from `decide`, if there is no margin.

    Raises
    ------
    InputError
        The data cannot be used; the message names the row, the column and the value.
    OutOfMemoryError
        The search would need more memory than is free.

    Examples
    --------
    >>> import linsep
    >>> verdict = linsep.max_margin([[0.0, 0.0], [0.0, 1.0], [2.0, 0.0], [2.0, 1.0]], [0, 0, 1, 1])
    >>> verdict.margin, verdict.gamma_squared
    ((1.0, 1.0), Fraction(1, 1))
    """
    bias, gap = arguments.flag("bias", bias), arguments.part("gap", gap)
    clock = Clock(arguments.seconds("time_limit", time_limit), watch=watch)
    with asked(X, y, ids, categories, missing) as (rows, source):
        try:
            with last_steps(source, clock):
                verdict = widest_verdict(source, bias, gap, clock)
                if _is_plane(verdict):
                    check(verdict, source)
                return in_own_numbers(verdict.called(source.facts.ids), rows)
        except OutOfTime:
            return Case(source, bias, clock).unanswered()


def widest_verdict(source: Source, bias: bool, gap: float, clock: Clock) -> Verdict:
    """The hyperplane with the largest margin found in time, not checked yet; if there is none, the verdict on that."""
    search = _search(source, homogeneous=not bias, has_bias=bias, gap=gap / 2, clock=clock)
    known = _start(search)
    if known is not None and not _is_plane(known):
        return known
    found = _widest(search) or known or _begun(search)
    verdict = found or decided(source, bias, clock.rest())
    if not _is_plane(verdict) or verdict.margin is not None:
        return verdict
    plane = verdict.weights, verdict.bias_weight
    return _certified(source, clock, plane, _nearest_pair(source, *plane), bias)


def widest_through_origin(source: Source, gap: float, clock: Clock, weights: tuple[int, ...]) -> Separable:
    """The hyperplane through the origin with the largest margin found, starting from one that separates."""
    search = _search(source, homogeneous=True, has_bias=False, gap=gap / 2, clock=clock)
    if isinstance(search, RowSearch) and not _started(search):
        search.start = to_doubles(weights), 0.0
    plane = weights, 0
    return _widest(search) or _certified(source, clock, plane, _nearest_pair(source, *plane), False)


def _widest(search: WidestSearch | RowSearch) -> Separable | None:
    """What the search in floats finds, with the proved interval; None if it finds nothing, or is wrong about a row."""
    widest = _searched(search)
    exact = _exactly(search, widest)
    if exact is not None:
        return _stated(search.source, search.clock, exact, search.has_bias)
    if widest is None or not widest.low > 0:
        return None
    plane, nearest = as_integers(widest.w, widest.b), _weighed(widest)
    found = _certified(search.source, search.clock, plane, nearest, search.has_bias)
    return found if found.margin is not None and found.margin[0] > 0 else None


def _search(source: Source, **options: Any) -> WidestSearch | RowSearch:
    """The search in the smaller space: of the columns, or of the rows that matter, at most one more than columns."""
    is_wide = source.n_columns >= WIDE and source.n_rows <= TALL * source.n_columns
    return (RowSearch if is_wide or source.n_columns >= VERY_WIDE else WidestSearch)(source, **options)


def _start(search: WidestSearch | RowSearch) -> Verdict | None:
    """Give a search in the space of the rows a separator to start from; if relaxation finds none, decide first."""
    if isinstance(search, WidestSearch):
        return None
    if _started(search):
        return None
    verdict = decided(search.source, search.has_bias, search.clock.rest())
    if _is_plane(verdict):
        W = to_doubles((*verdict.weights, verdict.bias_weight))
        search.start = W[:-1], float(W[-1])
    return verdict


def _started(search: RowSearch) -> bool:
    """Whether relaxation finds a start within the time limit."""
    with suppress(OutOfTime), search.clock.limited():
        return search.find_start()
    return False


def _begun(search: WidestSearch | RowSearch) -> Separable | None:
    """The separator that relaxation found, its signs proved by a scan, if the search got no further."""
    if isinstance(search, WidestSearch) or search.start is None:
        return None
    plane = as_integers(*search.start)
    return _separable(search.source, search.clock, *plane, None, None, search.has_bias) if any(plane[0]) else None


def _is_plane(verdict: Verdict) -> TypeGuard[Separable]:
    """Whether rows are separated, and by more than a constant."""
    return isinstance(verdict, Separable) and any(verdict.weights)


def _searched(search: WidestSearch | RowSearch) -> Widest | None:
    """What the search in floats finds within the time limit."""
    try:
        with search.clock.limited():
            return search.run()
    except (OutOfTime, OverflowedError):  # weights or scores beyond the largest double: floats cannot tell
        return search.best
    except LinsepError:
        raise
    except MemoryError as error:
        size = f"{search.source.n_rows:,} rows and {search.source.n_columns:,} columns"
        raise OutOfMemoryError(
            f"There is not enough memory for the margin of {size}: {error}. Use fewer columns, or more memory."
        ) from error


def _exactly(search: WidestSearch | RowSearch, widest: Widest | None) -> ExactWidest | None:
    """The exact optimum, if it is affordable: from the support that floats found, or from nothing."""
    source = search.source
    width = len(widest.support) if widest is not None and widest.low > 0 else source.n_columns
    if source.n_rows * source.n_columns > AFFORDABLE_ENTRIES or width > AFFORDABLE_SUPPORT:
        return None
    guess = {}
    if widest is not None:
        guess = dict(zip(widest.support.row_numbers.tolist(), widest.multipliers.tolist(), strict=True))
    try:
        with search.clock.limited():
            source.require_finite()
            rows = source.take(np.arange(source.n_rows))
            return exact_widest(rows, guess, search.clock, homogeneous=search.homogeneous, has_bias=search.has_bias)
    except OutOfTime:
        return None


def _stated(source: Source, clock: Clock, exact: ExactWidest, bias: bool) -> Separable:
    """The exact optimum as a verdict; a margin beyond the largest double has no upper end."""
    low, high = margin_checks.root_below(exact.gamma_squared), margin_checks.root_above(exact.gamma_squared)
    nearest = obstruction_of(source, exact.rows, exact.multipliers) if math.isfinite(high) else None
    verdict = _separable(source, clock, exact.weights, exact.bias_weight, (low, high), nearest, bias)
    return verdict if nearest is None else replace(verdict, gamma_squared=exact.gamma_squared)


def _certified(
    source: Source, clock: Clock, plane: tuple[tuple[int, ...], int], nearest: Obstruction, bias: bool
) -> Separable:
    """The interval that a hyperplane and some rows with weights prove."""
    margin = margin_checks.margin_bounds(source, *plane, nearest.rows, nearest.weights, bias)
    is_bounded = math.isfinite(margin[1])  # a bound beyond the largest double is dropped
    proof = obstruction_of(source, nearest.rows, nearest.weights) if is_bounded else None
    return _separable(source, clock, *plane, margin, proof, bias)


def _nearest_pair(source: Source, weights: tuple[int, ...], bias_weight: int) -> Obstruction:
    """The row of each class that is nearest to a hyperplane: half their distance bounds every margin."""
    form = form_of(weights, bias_weight)
    nearest: dict[int, tuple[float, int]] = {}
    for own in source.each(partial(_nearest_in, form)):
        nearest = {sign: min(pair[sign] for pair in (nearest, own) if sign in pair) for sign in {**nearest, **own}}
    return Obstruction(tuple(number for _, number in nearest.values()), (1,) * len(nearest))


def _nearest_in(form: Form, block: Block) -> dict[int, tuple[float, int]]:
    """The row of each class of a block that is nearest to a hyperplane: the size of its score, and its number."""
    numbers, values, y = block
    scores, _ = float_scores(form, values, steady=True)
    found = {}
    for sign in (-1, 1):
        places = np.flatnonzero(y == sign)
        if places.size:
            best = places[np.argmin(np.abs(np.nan_to_num(scores[places])))]
            found[sign] = float(abs(scores[best])), int(numbers[best])
    return found


def _separable(
    source: Source,
    clock: Clock,
    weights: tuple[int, ...],
    bias_weight: int,
    margin: tuple[float, float] | None,
    nearest: Obstruction | None,
    bias: bool,
) -> Separable:
    return Separable(
        **facts_of(source),
        bias=bias,
        weights=weights,
        bias_weight=bias_weight,
        margin=margin,
        nearest=nearest,
        reads=clock.reads,
        seconds=clock.seconds,
    )


def _weighed(widest: Widest) -> Obstruction:
    """The rows that prove the upper bound, with integers for their weights."""
    scaled = np.ldexp(widest.multipliers / widest.multipliers.max(), MULTIPLIER_BITS)
    pairs = [(int(n), round(u)) for n, u in zip(widest.support.numbers, scaled.tolist(), strict=True) if u >= 1]
    return Obstruction(tuple(n for n, _ in pairs), tuple(u for _, u in pairs))


@dataclass(frozen=True, slots=True, repr=False)
class Novikoff(Reported):
    """R, gamma and (R/gamma)² of the rows with a 1 appended (without bias: as they are), within certified bounds.

    Attributes
    ----------
    radius, gamma, bound : (low, high)
        The certified ends. `bound[1]` may be infinite.
    most_updates : int
        The Perceptron makes at most this many updates on these rows, in any order: an exact integer.
    halfspace : Halfspace
        The u* of the theorem, the unit vector W = (w, b) whose margin on these rows is at least `gamma[0]`.
    bias : bool
        Whether a 1 was appended.
    standardised : float or None
        The bound for the centred and scaled rows, if it is much lower; else None.
    cause : str
        Why the bound is then so large: the place or the scales of the columns; else empty.
    rows_left_out : int
        Rows with gaps that were dropped.

    Examples
    --------
    >>> import linsep
    >>> found = linsep.novikoff(*linsep.datasets.cornwell())
    >>> found.most_updates, round(found.gamma[0], 3)
    (55, 0.447)
    """

    radius: tuple[float, float]
    gamma: tuple[float, float]
    bound: tuple[float, float]
    most_updates: int
    halfspace: Halfspace
    bias: bool = True
    standardised: float | None = None
    cause: str = ""
    rows_left_out: int = 0

    def __repr__(self) -> str:
        most = f"{self.most_updates:,}" if self.most_updates < ENDLESS else f"{Decimal(self.most_updates):.6g}"
        return one_line(self, f"at most {most} updates", f"R = {self.radius[1]:.6g}", f"gamma = {self.gamma[0]:.6g}")

    def report(self) -> Report:
        """The theorem with these numbers, and their certified ends."""
        ends = {"R": self.radius, "gamma": self.gamma, "(R/gamma)²": self.bound}
        rows = tuple((name, f"{low:.6g}", f"{high:.6g}") for name, (low, high) in ends.items())
        left_out = rows_left_out(self.rows_left_out, "not part of the bound")
        return Report(self._sentence(), (Grid(("", "at least", "at most"), rows), *left_out, *self.remarks()))

    def remarks(self) -> list[Part]:
        """Why the bound is large, and what it is for the centred and scaled rows, if that helps."""
        if self.standardised is None:
            return []
        ratio, done = math.sqrt(self.bound[1]), "centred and scaled" if self.bias else "scaled"
        shown = f"{ratio:,.0f}" if ratio < MANY else f"{ratio:.3g}"
        told = f"R/gamma is {shown} because {self.cause}; {done} the bound is {self.standardised:,.0f}."
        return [Sentence(f"Separable (proved); {told}", "scale")]

    def facts(self) -> dict[str, Any]:
        """The ends as plain values; None for infinity."""
        ends = {"radius": self.radius, "gamma": self.gamma, "bound": self.bound}
        known = {name: [low, high if math.isfinite(high) else None] for name, (low, high) in ends.items()}
        return {**known, "standardised": self.standardised}

    def _sentence(self) -> str:
        """The theorem with these numbers."""
        rows = "the rows with a 1 appended" if self.bias else "the rows as they are"
        radius = f"= {self.radius[1]:.6g}" if math.isfinite(self.radius[1]) else f"above {self.radius[0]:.6g}"
        gamma = f"= {self.gamma[0]:.6g}" if self.gamma[0] else f"below {self.gamma[1]:.6g}"
        most = self.bound[1] if math.isfinite(self.bound[1]) else Decimal(self.most_updates)
        return (
            f"With R {radius} and gamma {gamma} (of {rows}), the Perceptron makes at most "
            f"(R/gamma)² = {most:.6g} updates, in any order (Novikoff 1962)."
        )


def novikoff(
    X: Any,
    y: Any = None,
    *,
    bias: bool = True,
    gap: float = 1e-6,
    ids: Any = None,
    categories: Categories = None,
    missing: Missing = None,
    time_limit: float | None = None,
) -> Novikoff:
    """Bound the updates of the Perceptron on these rows (Novikoff 1962): at most (R/gamma)², between certified ends.

    If neither doubles nor exact arithmetic on small tables find the largest gamma, that of a proved separator is used:
    the bound is still certain, but larger than necessary.

    Parameters
    ----------
    X, y, bias, ids, categories, missing, time_limit
        As `decide` takes them.
    gap : float
        How far the ends of gamma may differ, as a part of it.

    Returns
    -------
    Novikoff
        R, gamma, the bound, and the hyperplane of the theorem.

    Raises
    ------
    NotSeparableError
        There is no bound, because no hyperplane is known to separate the rows; its `verdict` says why.
    InputError
        The data cannot be used.

    Examples
    --------
    >>> import linsep
    >>> theory = linsep.novikoff(*linsep.datasets.cornwell())
    >>> linsep.perceptron(*linsep.datasets.cornwell()).updates <= theory.bound[1]
    True
    """
    bias, gap = arguments.flag("bias", bias), arguments.part("gap", gap)
    clock = Clock(arguments.seconds("time_limit", time_limit))
    with asked(X, y, ids, categories, missing) as (rows, source):
        try:
            theory = replace(_novikoff(source, bias, gap, clock), rows_left_out=rows.dropped)
        except NotSeparableError as error:
            raise NotSeparableError(in_own_numbers(error.verdict, rows)) from None
        return theory if theory.bound[1] < SLOW else _eased(theory, source, gap, clock)


def _eased(theory: Novikoff, source: Source, gap: float, clock: Clock) -> Novikoff:
    """The same with the bound for the standardised rows, if there are few, it is known and it is much lower."""
    if source.n_rows * source.n_columns > AFFORDABLE_ENTRIES or next(source.blocks()).is_sparse:
        return theory
    quietly = suppress(NotSeparableError, ArgumentError, OutOfTime)  # rounding may have moved rows beyond each other
    with np.errstate(all="ignore"), quietly:
        rows = standardised(source, centre=theory.bias)
        most, cause = _novikoff(rows, theory.bias, gap, clock).bound[1], rows.scaling.cause()
        if cause and most * WORTH_IT <= theory.bound[1]:
            return replace(theory, standardised=most, cause=cause)
    return theory


def _novikoff(source: Source, bias: bool, gap: float, clock: Clock) -> Novikoff:
    search = _search(source, homogeneous=True, gap=gap / 2, clock=clock, has_bias=bias)
    known = _start(search)
    widest = None if known is not None and not isinstance(known, Separable) else _searched(search)
    exact = _exactly(search, widest)
    if exact is not None:
        plane, rows = (exact.weights, exact.bias_weight), Obstruction(exact.rows, exact.multipliers)
        return _theory(source, plane, rows, bias, exact.gamma_squared)
    if widest is not None and widest.low > 0:
        return _theory(source, as_integers(widest.w, widest.b), _weighed(widest), bias)
    verdict = known or _begun(search) or decided(source, bias, clock.rest())
    if not isinstance(verdict, Separable):
        raise NotSeparableError(verdict)
    plane = verdict.weights, verdict.bias_weight
    return _theory(source, plane, _nearest_pair(source, *plane), bias)


def _theory(
    source: Source,
    plane: tuple[tuple[int, ...], int],
    nearest: Obstruction,
    bias: bool,
    exact: Fraction | None = None,
) -> Novikoff:
    """The numbers of the theorem, rounded outward: those of a separator W, and of rows that allow no larger gamma."""
    form, square = form_of(*plane), sum(w * w for w in plane[0]) + plane[1] ** 2
    high2 = exact or margin_checks.ceiling_above(source, nearest.rows, nearest.weights, None if bias else False)
    low2 = exact or margin_checks.scanned_squared_floor(source, form)
    if low2 < high2 * NEARLY_ONE:  # then the exact value is worth its time
        low2 = margin_checks.squared_floor(source, form, square)
    shortest2, longest2 = margin_checks.squared_reach(source, constant=bias)
    return Novikoff(
        radius=(margin_checks.root_below(shortest2), margin_checks.root_above(longest2)),
        gamma=(margin_checks.root_below(low2), margin_checks.root_above(high2)),
        bound=(margin_checks.float_below(shortest2 / high2), margin_checks.float_above(longest2 / low2)),
        most_updates=math.floor(longest2 / low2),
        halfspace=_unit(plane, source),
        bias=bias,
    )


def _unit(plane: tuple[tuple[int, ...], int], source: Source) -> Halfspace:
    W = to_doubles((*plane[0], plane[1]))
    with np.errstate(under="ignore"):  # small weights may vanish beside the largest
        W /= np.abs(W).max()  # so that no square leaves the range of doubles
        return Halfspace.from_homogeneous(W / np.linalg.norm(W), source.facts.pair)
