"""What each theorem promises for one table: the numbers it needs, and the promises, the most useful first."""

import math
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from linsep import arguments
from linsep.errors import ArgumentError, LinsepError, NotSeparableError
from linsep.learners.perceptron import learner_on
from linsep.learners.perceptron_run import PerceptronRun
from linsep.learners.vanishing import require_scores
from linsep.proofs import Separable, Verdict
from linsep.proofs.fewest_mistakes import FewestMistakes
from linsep.proofs.verdict_base import check
from linsep.questions.decide import decide
from linsep.questions.margin import Novikoff, max_margin, novikoff
from linsep.questions.mistakes import fewest_mistakes
from linsep.report import Grid, Report, Reported, Sentence, count, one_line
from linsep.signs import scaled_floats
from linsep.solvers.clock import Clock
from linsep.sources.base import MOST_BITS, Floats, Source
from linsep.sources.inputs import asked
from linsep.sources.memory import MemorySource
from linsep.tables.categories import Categories
from linsep.tables.given_rows import Missing
from linsep.theory import theorems
from linsep.theory.promise import COIN, Kind, Promise, percent
from linsep.theory.theorems import DELTA, LAST, VOTE, WIDEST, smallest

KINDS: tuple[Kind, ...] = ("error", "probability", "updates", "bits")
MOST_PASSES, SECONDS_OF_MISTAKES = 100, 2.0  # limits of the run and of the search for the fewest mistakes
FEW_ENTRIES = 10**6  # only in smaller tables the fewest mistakes are looked for
CLOSE = 1e-6  # the relative difference between numbers of a result and the same numbers in floats


@dataclass(frozen=True, slots=True, repr=False)
class Promises(Reported):
    """What each theorem promises for one table: first those that say something about new rows, the best of them first.

    Each promise fails for at most a part delta of all tables. One or more of k promises fail for at most a part
    k·delta, and so does the best of them, if it is chosen afterwards.

    Attributes
    ----------
    n_rows, n_columns : int
        The size of the table.
    delta : float
        The part of all tables for which a promise may fail.
    promises : tuple of Promise
        The most useful first.
    not_here : tuple of str
        Why the other theorems promise nothing here.

    Examples
    --------
    >>> import linsep
    >>> len(linsep.theory.promises(*linsep.datasets.cornwell()).promises) > 3
    True
    """

    n_rows: int
    n_columns: int
    delta: float
    promises: tuple[Promise, ...]
    not_here: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[Promise]:
        return iter(self.promises)

    def __len__(self) -> int:
        return len(self.promises)

    @property
    def best(self) -> Promise | None:
        """The smallest error that is promised with probability 1 - delta; None if none says anything."""
        return next((p for p in self if p.kind == "error" and p.says_something and p.name != "leave one out"), None)

    def report(self) -> Report:
        """A line for each theorem."""
        size = f"{count(self.n_rows, 'row')} and {count(self.n_columns, 'column')}"
        rows = tuple((p.name, p.about, p.number, p.word, _rows_needed(p)) for p in self)
        notes = tuple(Sentence(text, "not here") for text in self.not_here)
        sure = f"each with probability {percent(1 - self.delta)}, leave one out on average"
        title = f"What theory promises for {size}, {sure}:"
        return Report(
            title, (Grid(("theorem", "about", "at most", f"with n = {self.n_rows:,}", "it needs"), rows), *notes)
        )

    def facts(self) -> dict[str, Any]:
        """The promises as plain values."""
        return {**asdict(self), "promises": [promise.facts() for promise in self]}

    def __repr__(self) -> str:
        saying = sum(promise.says_something for promise in self)
        return one_line(self, f"{saying} of {len(self)} say something", *([repr(self.best)] if self.best else []))


def promises(
    X: Any,
    y: Any = None,
    *,
    known: Iterable[Any] = (),
    bias: bool = True,
    categories: Categories = None,
    missing: Missing = None,
    error: float = COIN,
    delta: float = DELTA,
    time_limit: float | None = 10,
) -> Promises:
    """Compute what each theorem promises for these rows, the most useful first.

    Parameters
    ----------
    X, y, bias, categories, missing
        As `decide` takes them.
    known : results about the same rows that are already known
        A verdict, with or without its margin, a `Novikoff`, a `PerceptronRun` in cyclic order, a `FewestMistakes`. They
        are checked against the rows, and what is missing is computed.
    error : float
        A promise says something if it is below this.
    delta : float
        A promise fails for at most this part of all tables.
    time_limit : float or None
        About how many seconds computing what is missing may take.

    Returns
    -------
    Promises
        The promises, and why other theorems have none.

    Raises
    ------
    InputError
        The data cannot be used, or a result in `known` does not hold for these rows and labels.

    Examples
    --------
    >>> import linsep
    >>> linsep.theory.promises(*linsep.datasets.planted(500, 3, margin=0.5)).best
    <Promise: Occam's razor, 2.62 %, says something>
    """
    bias, limit = arguments.flag("bias", bias), arguments.seconds("time_limit", time_limit)
    level = {"error": arguments.part("error", error), "delta": arguments.part("delta", delta)}
    with asked(X, y, None, categories, missing) as (rows, source):
        require_scores(source)
    known = [*known]
    if known and rows.dropped:
        raise ArgumentError(
            "known is about rows in the user's order, and missing='drop' leaves some out.",
            fix="Drop the rows first, or leave known out.",
        )
    numbers = TableNumbers(source, bias, Clock(limit))
    for result in known:
        numbers.learn(result)
        numbers.require_true(result)
    numbers.complete()
    found = sorted(_about(numbers, level), key=_rank)
    return Promises(source.n_rows, source.n_columns, delta, tuple(found), tuple(numbers.missing()))


@dataclass(slots=True)
class TableNumbers:
    """The numbers of one table that the theorems need, from results that are known or found in time."""

    source: Source
    bias: bool
    clock: Clock
    is_separable: bool | None = None
    bound: Novikoff | None = None
    weight_bits: int | None = None
    mistakes: int | None = None  # of the best hyperplane known
    mistakes_in_walk: int = 0
    support: dict[str, int] = field(default_factory=dict)
    is_exact: bool = False  # whether the hyperplane with the largest margin is known exactly: no other row can matter

    def learn(self, *known: Any) -> None:
        """Take the numbers from results."""
        for result in known:
            match result:
                case Verdict():
                    self._learn_verdict(result)
                case Novikoff():
                    self._require_own(len(result.halfspace.w) == self._size[1] and result.bias == self.bias, result)
                    self.bound, self.is_separable = result, True
                case PerceptronRun():
                    self._learn_run(result)
                case _:
                    raise ArgumentError(f"known holds a {type(result).__name__}: no theorem asks for that.")

    def _learn_verdict(self, verdict: Verdict) -> None:
        self._require_own((verdict.n_rows, verdict.n_columns, verdict.bias) == (*self._size, self.bias), verdict)
        if isinstance(verdict, FewestMistakes):
            self.mistakes = len(verdict.mistaken_rows)
        self.is_separable = self.is_separable if verdict.separable is None else verdict.separable
        if isinstance(verdict, Separable):
            self._learn_bits(self._short_weights(np.array(scaled_floats((*verdict.weights, verdict.bias_weight))[0])))
            if verdict.nearest is not None and (verdict.gamma_squared or self._determine(verdict.nearest.rows)):
                self.support[WIDEST], self.is_exact = len(verdict.nearest.rows), verdict.gamma_squared is not None

    def _learn_run(self, run: PerceptronRun) -> None:
        rows = run.mistakes_per_row
        self._require_own(len(run.halfspace.w) == self._size[1] and (rows is None or len(rows) == self._size[0]), run)
        if run.converged:
            self.is_separable = True
            self.support[LAST] = min(run.updates, self._size[0]) if rows is None else int(np.count_nonzero(rows))
            self._learn_bits(run.bits)

    def require_true(self, result: Any) -> None:
        """Check a result against these rows: one about other rows or labels of the same shape must not pass.

        A verdict is proved again; of a bound and of a run, the hyperplane must be right about these labels.
        """
        if isinstance(result, Verdict):
            try:
                check(result, self.source)
            except LinsepError as error:
                raise ArgumentError(
                    f"known holds a result that is not true of these rows: {result!r}. {error}"
                ) from error
            return
        if isinstance(result, PerceptronRun) and not result.converged:
            return
        scan = self.source.scan(np.asarray(result.halfspace.w, np.float64), float(result.halfspace.b))
        is_true = not scan.certain
        if isinstance(result, Novikoff):
            low, high = result.radius
            is_true &= low * (1 - CLOSE) <= scan.radius(bias=self.bias) <= high * (1 + CLOSE)
            is_true &= not scan.is_clean or min(scan.lowest) >= result.gamma[0] * (1 - CLOSE)
        if not is_true:
            raise ArgumentError(f"known holds a result that is not true of these rows: {result!r}.")

    def _require_own(self, is_own: bool, result: Any) -> None:
        if not is_own:
            rows, columns = self._size
            here = f"{count(rows, 'row')}, {count(columns, 'column')} and bias={self.bias}"
            raise ArgumentError(f"known holds a result about other rows than these ({here}): {result!r}")

    def _learn_bits(self, found: int | None) -> None:
        if found is not None:
            self.weight_bits = max(1, found if self.weight_bits is None else min(found, self.weight_bits))

    @property
    def _size(self) -> tuple[int, int]:
        return self.source.n_rows, self.source.n_columns

    def _short_weights(self, W: Floats) -> int | None:
        """The fewest bits to which the weights can be rounded so that they still separate."""

        def separate(size: int) -> bool:
            rounded = np.rint(W / np.abs(W).max() * (2.0**size - 1))
            return not self.clock.is_over() and self.source.scan(rounded[:-1], float(rounded[-1])).is_clean

        return smallest(separate, MOST_BITS)

    def _determine(self, rows: tuple[int, ...]) -> bool:
        """Whether the hyperplane with the largest margin of these rows alone is right about all others."""
        block = self.source.take(rows)
        part = MemorySource.of(block, self.source.facts)
        plane = max_margin(part, time_limit=self.clock.left)
        if not isinstance(plane, Separable):
            return False
        return self.source.scan(plane.halfspace.w.astype(np.float64), float(plane.halfspace.b)).is_clean

    def complete(self) -> None:
        """Find what is missing."""
        if self.is_separable is not False and WIDEST not in self.support:
            limit = self.clock.left
            known = self.bias and max_margin(self.source, time_limit=limit)
            self.learn(known or decide(self.source, bias=self.bias, time_limit=limit))
        if self.is_separable:
            self.mistakes = 0
            with suppress(NotSeparableError):
                self.bound = self.bound or novikoff(self.source, bias=self.bias, time_limit=self.clock.left)
            if LAST not in self.support:
                learner = learner_on(self.source, bias=self.bias, max_passes=MOST_PASSES)
                any(self.clock.is_over() for _ in learner.walk())  # runs until the time limit
                self.learn(learner.result())
        elif self.mistakes is None and self.source.n_rows * self.source.n_columns <= FEW_ENTRIES:
            left = math.inf if self.clock.left is None else self.clock.left
            self.learn(fewest_mistakes(self.source, bias=self.bias, time_limit=min(left, SECONDS_OF_MISTAKES)))
        self.walk_once()

    def walk_once(self) -> None:
        """Count the mistakes of one pass in a random order, and those of its averages if no others are known."""
        walk: dict[str, Any] = {"order": "shuffled", "max_passes": 1, "random_state": 0}
        learner = learner_on(self.source, keep="average", bias=self.bias, **walk).run()
        self.mistakes_in_walk = learner.updates
        if not self.is_separable and self.mistakes is None:
            average = learner.perceptron.kept
            scan = self.source.scan(average.W[0], float(average.b[0]))
            self.mistakes = scan.mistakes + scan.doubtful.size

    def missing(self) -> Iterator[str]:
        """Why some theorems are not among the promises."""
        if not self.is_separable:
            yield "Novikoff, margin, Occam's razor and compression need a hyperplane without mistakes; none is known."
            return
        if self.bound is None or not math.isfinite(self.bound.bound[1]):
            yield "Novikoff and margin need a gamma above 0; none is known."
        if not self.support:
            yield "Compression needs rows that determine a hyperplane without mistakes; none are known."


def _about(numbers: TableNumbers, level: dict[str, float]) -> Iterator[Promise]:
    """Every promise whose numbers are known."""
    n, d, bias = numbers.source.n_rows, numbers.source.n_columns, numbers.bias
    made = numbers.mistakes_in_walk
    if numbers.is_separable is not False:
        yield theorems.cover(n, d, bias=bias, limit=level["delta"])
    yield theorems.vc(n, d, mistakes=numbers.mistakes or 0, bias=bias, **level)
    yield theorems.online(n, made, **level)
    yield theorems.leave_one_out(n, min(n, 2 * made), about=VOTE, grows=True, error=level["error"])
    if numbers.bound is not None and math.isfinite(numbers.bound.bound[1]):
        yield theorems.novikoff(numbers.bound.radius[1], numbers.bound.gamma[0])
        yield theorems.margin(n, numbers.bound.bound[1], **level)
        if numbers.source.facts.integer_bits is not None:
            yield theorems.bits(max(1, numbers.source.facts.integer_bits), max(1, numbers.bound.most_updates))
    if numbers.weight_bits is not None:
        yield theorems.occam(n, d, numbers.weight_bits, bias=bias, **level)
    for about, support in numbers.support.items():
        yield theorems.compression(n, support, about=about, **level)
        if about == LAST or numbers.is_exact:
            yield theorems.leave_one_out(n, support, about=about, error=level["error"])


def _rows_needed(promise: Promise) -> str:
    if promise.says_something:
        return ""
    return f"n = {promise.needs:,}" if promise.needs else "fewer mistakes"


def _rank(promise: Promise) -> tuple[bool, int, float]:
    size = promise.value if promise.says_something else promise.needs or math.inf
    return not promise.says_something, KINDS.index(promise.kind), size
