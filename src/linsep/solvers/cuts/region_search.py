"""The search for few hyperplanes that put all rows into regions of one class.

Each step is a pure cut, which takes rows of one class, or divides the rows, where cheap lists (`rollout`) say that two
parts need fewer cuts than the whole. Pure cuts alone are not enough: where four fields of two colours meet, as on a
chessboard, every line has both colours on both sides, and pure cuts only take small corners.

Floats propose; which rows are above a hyperplane, and whether a cut is pure, is decided in exact arithmetic. When the
time is over, the remaining rows are divided column by column (`axis_tree`), which always works, and fast.
"""

import math
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from itertools import chain

import numpy as np

from linsep.exact import coprime
from linsep.signs import form_of, form_of_doubles, scaled_floats, signs
from linsep.solvers.clock import Clock, OutOfTime
from linsep.solvers.cuts.axis_trees import Form, axis_tree, expected_seconds
from linsep.solvers.cuts.pure_cuts import STARTS, CutFinder, Plane, PureCut, ordered, rollout, standardised, widest
from linsep.sources.base import Array, Floats, Ints

DIGITS, MOST_OF_IT = (1, 2, 3, 4, 6), 0.7  # of short weights; the share of the gap between rows that must remain
FORKS = 24  # directions in which a division is tried
PLACES = 8  # how many places are tried along each, at first and then around the best
FINER = 3  # times
AFFORDABLE = 400_000  # scores of rows along directions: up to this many, divisions are looked for
FEW_COLUMNS = 10  # up to this many, cheap lists predict good cuts; with more, large tables are not divided
WORTH_DIVIDING = 3  # cuts: as many as a division and a cut on either side of it
MOST_PRUNING, SIDE = 20_000_000, 5e-9  # sides of rows; seconds for each number of a row
HASTE = 5.0  # seconds for a tree of single columns after Ctrl-C, if there is no time limit
LISTED = 30  # cuts of one column that are read one after the other; more are divided in halves first
SMALL = 100_000  # entries of rows: up to this many, two cuts of each class are grown, and the search runs twice


@dataclass(slots=True)
class Draft:
    """Cuts in the order they are made: each a hyperplane, and where rows above and below it go (`region_proof.py`)."""

    forms: list[Form] = field(default_factory=list)
    children: list[list[int]] = field(default_factory=list)
    root: int = ~0

    def __len__(self) -> int:
        return len(self.forms)

    def put(self, where: tuple[int, int] | None, what: int) -> None:
        """Set a child of a cut, or the root."""
        if where is None:
            self.root = what
        else:
            self.children[where[0]][where[1]] = what

    def in_reading_order(self) -> "Draft":
        """The cuts numbered as they are read: what is above a cut before what is below it."""
        order, ahead = list[int](), [self.root]
        while ahead:
            k = ahead.pop()
            if k >= 0:
                order.append(k)
                ahead += self.children[k][::-1]
        place = {k: number for number, k in enumerate(order)}
        children = [[place.get(child, child) for child in self.children[k]] for k in order]
        return Draft([self.forms[k] for k in order], children, 0 if order else self.root)

    def replace(self, k: int, heir: int) -> None:
        """Replace a cut by what follows it on one side."""
        self.children = [[heir if child == k else child for child in both] for both in self.children]
        self.root = heir if self.root == k else self.root

    def add(self, where: tuple[int, int] | None, form: Form, above: int = 0, below: int = 0) -> int:
        """A new cut in this place."""
        self.forms.append(form)
        self.children.append([above, below])
        self.put(where, len(self.forms) - 1)
        return len(self.forms) - 1


Place = tuple[int, int] | None
Work = tuple[Ints, Place]


class RegionSearch:
    """Rows, of which no two of different classes are equal, and the cuts that separate their classes.

    When the clock runs out, or after Ctrl-C, the rows that remain are divided in about `haste` seconds.
    """

    def __init__(self, values: Array, codes: Ints, clock: Clock, haste: float = HASTE) -> None:
        self.values, self.codes, self.clock, self.haste = values, codes, clock, haste
        self.floats = values.astype(np.float64)
        self.exponents = np.frexp(np.abs(self.floats).max(axis=0, initial=0.0))[1]
        self.z, self.means, self.spread = standardised(np.ldexp(self.floats, -self.exponents))
        self.is_small = values.size <= SMALL

    def run(self) -> tuple[Draft, bool]:
        """The fewest cuts found, and whether the search ended before the time limit."""
        best, is_over = None, False
        for forks in (False, True) if self.is_small else (self.z.shape[1] <= FEW_COLUMNS,):
            draft, is_over = self.built(forks)
            best = draft if best is None or len(draft) < len(best) else best
            if is_over or len(best) <= self.least():
                break
        assert best is not None
        if not is_over and len(best) > self.least():
            tree, is_best = Draft(), expected_seconds(*self.z.shape) <= self.spare
            with suppress(KeyboardInterrupt):
                self.planted(tree, (np.arange(len(self.codes)), None))
                return (tree if len(tree) < len(best) else best), is_best
            return best, False
        return best, not is_over

    @property
    def spare(self) -> float:
        """Seconds until the cuts must be known."""
        return math.inf if self.clock.left is None else self.clock.left + self.haste

    def least(self) -> int:
        """No search finds fewer cuts than these, which give each class a region."""
        return len(np.unique(self.codes)) - 1

    def built(self, forks: bool) -> tuple[Draft, bool]:
        """Cuts made one after another, and whether the time was over before the last."""
        draft, finder = Draft(), CutFinder.of(self.z, self.codes, self.clock)
        work: list[Work] = [(np.arange(len(self.codes)), None)]
        try:
            while work:
                self.clock.check()
                rows, where = work[-1]
                work[-1:] = self.step(draft, finder, rows, where, forks)  # in one step: an interrupt loses no rows
        except (OutOfTime, KeyboardInterrupt):
            for left in reversed(work):
                self.planted(draft, left, in_haste=True)
            return draft, True
        return draft, False

    def step(self, draft: Draft, finder: CutFinder, rows: Ints, where: Place, forks: bool) -> list[Work]:
        """Make one cut of these rows; return what is left to do on both sides of it."""
        codes = self.codes[rows]
        if (codes == codes[0]).all():
            draft.put(where, ~int(codes[0]))
            return []
        for form, code in self.proposed(finder, rows, forks):
            above = self.above(form, rows)
            if not 0 < above.sum() < len(rows) or (code is not None and (codes[above] != code).any()):
                continue
            k = draft.add(where, form)
            return [(rows[~above], (k, 1)), (rows[above], (k, 0))]
        self.planted(draft, (rows, where))
        return []

    def separated(self, form: Form, below: int, above: int) -> Draft:
        """One cut by a hyperplane that separates the two classes."""
        floats, _ = scaled_floats((*form[0], 0))
        own, v = self.codes == above, np.ldexp(floats[:-1], self.exponents) * self.spread
        everything = np.arange(len(own))
        for one in chain(self.forms(Plane(v, 0.0), everything[own], everything[~own]), [form]):
            if np.array_equal(self.above(one, everything), own):
                return Draft([one], [[~above, ~below]], 0)
        raise AssertionError("a separating hyperplane separates")

    def above(self, form: Form, rows: Ints) -> Array:
        """Which of the rows are above a hyperplane, exactly."""
        return np.asarray(signs(form_of(*form), self.values[rows]) > 0)

    def proposed(self, finder: CutFinder, rows: Ints, forks: bool) -> Iterator[tuple[Form, int | None]]:
        """Hyperplanes to cut with, the best first; each with the class of all rows above it if it is to be pure."""
        directions = finder.directions(rows)
        runs = finder.runs(rows, directions, STARTS if self.is_small else 1)
        grown = ordered([finder.grown(rows, cut) for cut in runs])
        codes = self.codes[rows]
        inside = np.bincount(codes)
        is_last = np.count_nonzero(inside) == 2 and grown and grown[0].size == inside[grown[0].code]
        if forks and not is_last and len(rows) * len(directions) <= AFFORDABLE:
            ahead = LookAhead(finder, rows, directions, self.clock)
            best = ahead.best(grown[:4])
            if isinstance(best, Plane):
                above = self.z[rows] @ best.v > best.beyond
                yield from ((form, None) for form in self.forms(best, rows[above], rows[~above]))
            elif best is not None:
                grown.insert(0, best)
        for cut in chain(grown, runs):
            scores, own = self.z[rows] @ cut.plane.v, codes == cut.code
            high, low = rows[own & (scores > cut.plane.beyond)], rows[~own]
            yield from ((form, cut.code) for form in self.forms(cut.plane, high, low))

    def forms(self, plane: Plane, high: Ints, low: Ints) -> Iterator[Form]:
        """Hyperplanes between rows above a plane and rows below it, if possible far from both and in short numbers."""
        if not len(high) or not len(low):
            return
        first, last = float((self.z[high] @ plane.v).min()), float((self.z[low] @ plane.v).max())
        middle = Plane(plane.v, (first + last) / 2)
        wide = widest(self.z[high], self.z[low], middle, self.clock)
        with np.errstate(all="ignore"):
            weights = np.ldexp(wide.v / self.spread, -self.exponents)
            short = shortened(weights / np.abs(weights).max(), self.floats[high], self.floats[low])
        yield from ([] if short is None else [short])
        yield from (self.form(wide), self.form(middle), self.form(plane))

    def form(self, plane: Plane) -> Form:
        """A plane in the columns of the user, in integers."""
        w = plane.v / self.spread
        form = form_of_doubles(w, -plane.beyond - float(w @ self.means))
        top = max(0, int(self.exponents.max(initial=0)))
        shifts = [*(top - self.exponents).tolist(), top]
        whole = coprime(c << shift for c, shift in zip(form.coefficients, shifts, strict=True))
        return whole[:-1], whole[-1]

    def planted(self, draft: Draft, work: Work, *, in_haste: bool = False) -> None:
        """Divide the rest by a tree of single columns."""
        rows, where = work
        codes, first = self.codes[rows], len(draft)
        if (codes == codes[0]).all():
            draft.put(where, ~int(codes[0]))
            return
        seconds = self.haste * len(rows) / len(self.codes) if in_haste else self.spare
        for form, *children in axis_tree(self.values[rows], codes, seconds=seconds):
            draft.forms.append(form)
            draft.children.append([child + first if child >= 0 else child for child in children])
        draft.put(where, first)


def shortened(weights: Floats, high: Floats, low: Floats) -> Form | None:
    """Weights of few digits, the largest of which is 1, whose gap between these rows is about as wide."""
    if not np.isfinite(weights).all() or not weights.any():
        return None
    gap = _gap(weights, high, low)
    for digits in DIGITS:
        decimals = [Decimal(f"{weight:.{digits}g}") for weight in weights.tolist()]
        last, first = _gap(np.array(decimals, np.float64), high, low)
        if math.inf > first - last > MOST_OF_IT * (gap[1] - gap[0]) > 0:
            part = (first - last) / 4
            parts = [*map(Fraction, decimals), -short_between(Fraction(last + part), Fraction(first - part))]
            common = math.lcm(*(part.denominator for part in parts))
            whole = coprime(int(part * common) for part in parts)
            return whole[:-1], whole[-1]
    return None


def _gap(weights: Floats, high: Floats, low: Floats) -> tuple[float, float]:
    return float((low @ weights).max()), float((high @ weights).min())


def short_between(low: Fraction, high: Fraction) -> Fraction:
    """A number of few digits between two.

    >>> short_between(Fraction(1, 3), Fraction(2, 5))
    Fraction(37, 100)
    """
    middle, step = (low + high) / 2, Fraction(10) ** math.ceil(math.log10(max(abs(low), abs(high), high - low)))
    while not low < step * round(middle / step) < high:
        step /= 10
    return step * round(middle / step)


@dataclass(slots=True)
class LookAhead:
    """Chooses the next cut by how many more cuts cheap lists then need for the rest."""

    finder: CutFinder
    rows: Ints
    directions: Floats
    clock: Clock

    def best(self, cuts: list[PureCut]) -> PureCut | Plane | None:
        """One of the cuts, or a plane that divides the rows, if that promises fewer cuts."""
        z, codes = self.finder.z[self.rows], self.finder.codes[self.rows]
        scores = z @ self.directions.T
        least, found = len(codes), None
        for cut in cuts:
            stays = (codes != cut.code) | (z @ cut.plane.v <= cut.plane.beyond)
            needed = 1 + rollout(scores[stays], codes[stays], least)
            if needed < least:
                least, found = needed, cut
        if least <= WORTH_DIVIDING:
            return found
        divided = self.divided(scores, codes, least)
        return found if divided is None else divided

    def divided(self, scores: Floats, codes: Ints, most: int) -> Plane | None:
        """The division that leaves the fewest cuts, if there are fewer than `most`: searched coarsely, then finely."""
        half = self.directions.shape[0] // 2
        chosen = np.unique(np.linspace(0, half - 1, FORKS).astype(int)).tolist()
        tried = [(k, q) for k in chosen for q in _inner(0, 1)]
        found, reach = None, 1 / (PLACES + 1)
        for _ in range(FINER):
            for k, q in tried:
                needed, beyond = self.needed(scores, codes, k, q, most)
                if needed < most:
                    most, found = needed, (k, q, beyond)
            if found is None:
                return None
            k, q, _ = found
            tried = [(k, p) for p in _inner(q - reach, q + reach) if 0 < p < 1]
            reach /= PLACES + 1
        return None if found is None else Plane(self.directions[found[0]], found[2])

    def needed(self, scores: Floats, codes: Ints, k: int, q: float, most: int) -> tuple[int, float]:
        """How many cuts there are if the rows are divided along direction k, this part of them below; and where."""
        self.clock.check()
        beyond = float(np.quantile(scores[:, k], q))
        above = scores[:, k] > beyond
        needed = 1 + rollout(scores[above], codes[above], most)
        if needed < most:
            needed += rollout(scores[~above], codes[~above], most - needed)
        return needed, beyond


def _inner(low: float, high: float) -> list[float]:
    """Places between two ends."""
    return list(np.linspace(low, high, PLACES + 2)[1:-1])


def line_cuts(values: Array, codes: Ints) -> Draft:
    """The fewest cuts of one column: one wherever the class changes. No two rows of different classes are equal.

    >>> line_cuts(np.array([3.0, 1.0, 2.0]), np.array([1, 0, 0])).forms
    [((2,), -5)]
    """
    order = np.argsort(values, kind="stable")
    ordered_values, ordered_codes = values[order], codes[order]
    last = np.flatnonzero(np.diff(ordered_codes))  # the last row below each cut
    classes: list[int] = ordered_codes[np.append(last, -1)].tolist()
    draft = Draft()
    for pair in zip(ordered_values[last].tolist(), ordered_values[last + 1].tolist(), strict=True):
        low, high = map(Fraction, pair)
        part = (high - low) / 4
        place = short_between(low + part, high - part)
        draft.add(None, ((place.denominator,), -place.numerator))

    def divided(first: int, end: int) -> int:
        """Arrange the cuts from `first` to before `end`; returns the one that is read first, or a class."""
        if first == end:
            return ~classes[first]
        k = end - 1 if end - first <= LISTED else (first + end) // 2
        draft.children[k] = [divided(k + 1, end), divided(first, k)]
        return k

    draft.root = divided(0, len(last))
    return draft


def pruned(draft: Draft, search: RegionSearch) -> Draft:
    """The cuts without superfluous ones: without them rows still end in regions of their class."""
    draft, everything = draft.in_reading_order(), np.arange(len(search.codes))
    sides = len(draft) * len(everything)
    if sides > MOST_PRUNING or SIDE * sides * search.z.shape[1] > search.spare:
        return draft
    above = [search.above(form, everything) for form in draft.forms]
    coming = dict(_followed(draft, draft.root, everything, above))
    for k in reversed(range(len(draft))):
        for heir in draft.children[k]:
            if all(
                child >= 0 or (search.codes[rows] == ~child).all()
                for child, rows in _followed(draft, heir, coming[k], above)
            ):
                draft.replace(k, heir)
                break
    return draft.in_reading_order()


def _followed(draft: Draft, start: int, rows: Ints, above: list[Array]) -> Iterator[tuple[int, Ints]]:
    """Where rows that start at a cut arrive: at each later cut, and in each region, in no particular order."""
    work = [(start, rows)]
    while work:
        k, rows = work.pop()
        yield k, rows
        if k >= 0:
            is_above = above[k][rows]
            work += zip(draft.children[k], (rows[is_above], rows[~is_above]), strict=True)
