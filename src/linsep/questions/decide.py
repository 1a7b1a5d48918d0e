"""Can a hyperplane separate the two classes? The outline of the library on one screen.

    NaN, infinity                     refused, with row and column
    few short rows of small numbers   the exact LP on all of them, in integers
    a column of one sign              separates every row it touches: peel, and continue with the rest
    hundreds of columns               a separator by relaxation, which soon finds one or gives up;
                                      Newton's method: a separator, or short weights and a positive-definite matrix
                                      what neither settles, from a basis in which the rows are round
    columns of small rank             a few that span the others; what is found there is checked in all
    many rows                         a working set guided by floats, each answer proved exactly
    tiny margins, contradictions      the same in a basis in which the rows are round, computed exactly
    what floats cannot settle         the exact LP, started from where they stopped

Every verdict is checked against the data, and against nothing else, before it is returned.
"""

import math
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from contextvars import copy_context
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from linsep import arguments
from linsep.errors import OutOfMemoryError
from linsep.loops.layouts import Dense
from linsep.proofs import (
    NotSeparable,
    Obstruction,
    Overlapping,
    Separable,
    Touching,
    Undecided,
    Verdict,
    margin_checks,
)
from linsep.proofs.named_rows import in_all_columns, in_own_numbers
from linsep.proofs.verdict_base import check
from linsep.questions.stated import described, facts_of
from linsep.questions.wide import MOST_PAIRS, VERY_WIDE, WideRows
from linsep.signs import Form, as_integers, form_of, signs
from linsep.solvers.clock import Clock, OutOfTime
from linsep.solvers.exact.exact_outcomes import Settled
from linsep.solvers.exact.exact_search import ExactSearch, violated
from linsep.solvers.peel import Peeling, lift, peel
from linsep.solvers.scaling import free_memory, require_columns
from linsep.solvers.wide import device_newton
from linsep.solvers.wide.change_of_basis import WIDTHS, settle_from
from linsep.solvers.wide.contradictions import Pair, contradictions
from linsep.solvers.wide.short_weights import WIDE, Blocked
from linsep.solvers.working_set import FIRST_LOOK, Found, Separated, Stuck, at_once, search
from linsep.sources.base import Array, Block, Ints, Source
from linsep.sources.device.gpu import DeviceSource
from linsep.sources.inputs import asked
from linsep.sources.memory import MemorySource
from linsep.sources.row_set import Marks
from linsep.sources.subset import Remaining
from linsep.sources.used_columns import UsedColumns, in_used_columns
from linsep.tables.categories import Categories
from linsep.tables.given_rows import Missing

SMALL = 1 << 28  # bytes: a table on a device up to this size is copied to the host, unless it is very wide
FULL = 0.5  # part of the entries that are stored: with at least this, a sparse table is converted to a dense one
HELD = 1.0  # part of the rows that may be in memory at once: files with at most this many rows are decided in memory
FEW_ROWS, FEW_COLUMNS = 1000, 18  # up to here all rows are processed together, in NumPy
VERY_FEW = 5  # columns: up to here the exact LP is as fast as the search in floats, if numbers are small
WORTH_A_THREAD = 1_000_000  # entries: from here on NaN is looked for during the search, not before it
MOST_NAMED = 1 << 20  # separated rows of files: more are not listed in a proof
EARLY = 0.9  # part of the time limit: a search that ends before this says why

BYTES_A_WEIGHT = 120  # memory for a verdict and for the steps to it
BYTES_AN_EMPTY_COLUMN, EMPTY_COLUMN_S = 24, 3e-8  # memory and time for its weight, which is 0

A_MOMENT_S = 0.001  # lets another thread begin


def decide(
    X: Any,
    y: Any = None,
    *,
    bias: bool = True,
    ids: Any = None,
    categories: Categories = None,
    missing: Missing = None,
    time_limit: float | None = None,
    watch: Callable[[Clock], None] | None = None,
) -> Verdict:
    """Decide whether a hyperplane separates the two classes, and prove it.

    Every proof has been checked against the data in exact arithmetic; `verify` does it again.

    Parameters
    ----------
    X : the rows
        An array, a sparse matrix, a dataframe, an Arrow table, a query, or a source such as `linsep.open` returns.
    y : their labels
        Two different values, of which the larger (the later of ordered categories) counts as positive; or the name
        of the column of X that holds them. A source has its own.
    bias : bool
        False asks for a hyperplane through the origin.
    ids : what the rows are called
        A name for each row, or the name of the column of X that holds them, which is then not a feature. The default
        is the index of a pandas frame, or the `id` of files. Results use these names: `obstruction.ids`.
    categories : "reference", "all", a dictionary, or None
        How text and categories in a dataframe become numbers; None refuses them. "reference" makes a column of 0 and 1
        for each level but the first, called site[Chur]; "all" one for each level; {"site": "all"} names the columns.
    missing : "drop" or None
        "drop" leaves out the rows of a table in memory that have a missing value; None refuses them. The row numbers
        in the answer are still those of the table.
    time_limit : float or None
        Seconds after which the answer is `NotSeparable` or `Undecided`.
    watch : callable or None
        Called now and then with the state of the search: its `seconds`, its `reads` of the whole data, and the `bounds`
        on the margin so far.

    Returns
    -------
    Separable
        Complete separation, with the hyperplane.
    Touching
        Quasi-complete separation: a hyperplane with no row on the wrong side, and the rows that allow no strict one.
    Overlapping
        Overlap, with the rows that rule out every hyperplane.
    NotSeparable
        Touching or overlapping, proved; `time_limit` was reached before it was known which.
    Undecided
        Nothing was proved within `time_limit`.

    Raises
    ------
    InputError
        The data cannot be used; the message names the row, the column and the value.

    Examples
    --------
    >>> import linsep
    >>> linsep.decide([[0, 0], [1, 1], [0, 1]], [0, 1, 1]).kind
    'separable'
    >>> verdict = linsep.decide(*linsep.datasets.xor())
    >>> verdict.kind, verdict.obstruction.rows, verdict.obstruction.weights
    ('overlapping', (0, 1, 2, 3), (1, 1, 1, 1))
    """
    bias, limit = arguments.flag("bias", bias), arguments.seconds("time_limit", time_limit)
    clock = Clock(limit, watch=watch)
    with asked(X, y, ids, categories, missing, decimals=True) as (rows, source):
        return in_own_numbers(decided(source, bias, clock), rows)


def decided(source: Source, bias: bool, clock: Clock) -> Verdict:
    """The verdict about a source, checked against it."""
    require_columns(source.n_columns, BYTES_AN_EMPTY_COLUMN)
    used = in_used_columns(source)
    if used is not None:
        return decided_without_empty_columns(source, used, bias, clock)
    held = best_held(source)
    clock.reads += is_brought(source, held)
    case = Case(held, bias, clock)
    try:
        with clock.limited():
            verdict = case.verdict(case.settle_while_reading())
            with last_steps(source, clock):
                return checked(verdict, source)
    except OutOfTime:
        return case.stopped()
    except OutOfMemoryError as error:
        return checked(case.out_of_memory(error), source)


def decided_without_empty_columns(source: Source, used: UsedColumns, bias: bool, clock: Clock) -> Verdict:
    """The verdict about a source that was found, and checked, in the columns that have entries.

    The other columns get weight 0, which changes no score. Millions of weights take a while: if there is no time for
    them, what is known without them is the answer.
    """
    source.require_finite()  # the message names the column of the source
    found = decided(used.rows, bias, clock)
    try:
        if isinstance(found, Separable | Touching):
            clock.require(source.n_columns * EMPTY_COLUMN_S)
    except OutOfTime:
        clock.obstruction = found.obstruction if isinstance(found, Touching) else None  # the one that is checked
        found = Case(used.rows, bias, clock).undecided()
    return in_all_columns(found, used.columns, **Case(source, bias, clock).facts()).called(source.facts.ids)


def last_steps(source: Source, clock: Clock) -> AbstractContextManager[None]:
    """While this is open, a cluster has time to prove what was found, though the limit has passed."""
    return clock.late() if source.facts.is_elsewhere else nullcontext()


def checked(verdict: Verdict, source: Source) -> Verdict:
    """The same verdict, checked against the data, with what the user calls the rows that it names."""
    check(verdict, source)
    return verdict.called(source.facts.ids)


@dataclass(frozen=True, slots=True)
class Case:
    """The rows to be decided, and the way from what the solvers find to a verdict.

    `maximal` asks for more if the rows touch: which of them can be strictly on their side at all, and the proof.
    """

    source: Source
    bias: bool
    clock: Clock
    maximal: bool = False

    def settle_while_reading(self) -> Settled:
        """The answer, once it is known that no number is NaN or infinite.

        If a separator is found, its check reads every row. If not, few rows may be proof enough: a thread reads all of
        them beside the search, as soon as the search first doubts that there is a separator.
        """
        require_columns(self.source.n_columns, BYTES_A_WEIGHT)
        if self.source.facts.is_finite or self.source.n_rows * self.source.n_columns < WORTH_A_THREAD:
            self.require_finite()
            return self.settle()
        with ThreadPoolExecutor(1) as beside:
            reading: list[Future[None]] = []

            def read() -> None:
                reading.append(beside.submit(copy_context().run, self.require_finite))  # the time limit holds there too
                time.sleep(A_MOMENT_S)  # lets the thread begin before exact arithmetic, which keeps Python's lock

            self.clock.in_doubt = read
            try:
                settled = self.settle()
            except Exception:
                self.clock.doubt()
                reading[0].result()  # a bad number is the better reason: it may have caused the other error
                raise
            if settled.obstruction is not None:
                self.clock.doubt()
            if reading:
                reading[0].result()
        return settled

    def require_finite(self) -> None:
        """Refuse NaN and infinity by row, column and value: with a read, unless it is known that there are none."""
        self.clock.reads += not self.source.facts.is_finite  # before: a cluster keeps that a read found none
        self.source.require_finite()

    def settle(self) -> Settled:
        """The answer for finite rows."""
        if self.source.n_rows <= FEW_ROWS and self.source.n_columns <= FEW_COLUMNS:
            few = in_memory(self.source)
            self.clock.reads += is_brought(self.source, few)
            return self.settle_few(few)
        peeling = peel(self.source, bias=self.bias, clock=self.clock)
        if peeling.rest is None:
            return self.settle_rows(self.source, peeling.columns, three_way=True)
        return self.lifted(peeling, peeling.rest)

    def settle_few(self, rows: MemorySource) -> Settled:
        """The answer for few rows, all of them in memory, without compiling anything."""
        everything = next(rows.blocks())
        if rows.n_columns == 1 or (rows.n_columns <= VERY_FEW and _are_short(everything.values[0])):
            found = self.exact(rows, np.arange(rows.n_columns)).run_in_int64(everything)
            if found is not None:
                return found
        columns = np.flatnonzero(everything.values.any(axis=0))
        seen: Found | None = None
        is_few = rows.n_rows <= FIRST_LOOK and len(columns) and everything.values.dtype != object
        if is_few:
            seen = at_once(everything, columns, bias=self.bias, clock=self.clock)
            self.clock.reads += 1
        return self.settle_rows(rows, columns, three_way=True, found=seen)

    def lifted(self, peeling: Peeling, rows: Ints | Marks) -> Settled:
        """Decide what is left after peeling, and take the peeled rows back in.

        On the rest, the weak separators of the rest and those of all rows are the same. So a maximal answer for the
        rest is one for all; and if none is asked for, any obstruction in the rest will do.
        """
        nothing = (0,) * self.source.n_columns
        if peeling.is_empty:
            return Settled("separable", *lift(self.source, peeling, nothing, 0))
        rest = part_of(self.source, rows)
        found = self.settle_rows(rest, peeling.columns, three_way=self.maximal)
        lifted = lift(self.source, peeling, found.weights or nothing, found.bias_weight)
        if found.obstruction is None:
            return Settled("separable", *lifted)
        return Settled("touching", *lifted, found.obstruction, found.spread if self.maximal else None)

    def settle_rows(
        self, rows: Source, columns: Ints, *, three_way: bool, found: Settled | Found | None = None
    ) -> Settled:
        """Decide rows that no single column can peel; without `three_way` any obstruction will do."""
        if not len(columns) + self.bias:  # only rows of zeros: each is an obstruction, and all lie in its span
            zero = Obstruction((int(rows.sample(1, 0).numbers[0]),), (1,))
            return Settled("overlapping", obstruction=zero, spread=zero)
        wide = WideRows(self.source, rows, columns, self.bias, self.clock, self.maximal, three_way)
        pairs: list[Pair] | None = None
        if len(columns) >= WIDE:
            found = device_newton.search(rows, columns, bias=self.bias, clock=self.clock)
        if len(columns) >= WIDE and found is None:
            self.clock.reads += 1
            pairs = contradictions(rows, max(MOST_PAIRS + 1, 2 * len(columns)), bias=self.bias)
            found = wide.settle(pairs, lambda few: self.settle_rows(rows, few, three_way=three_way))
        if found is None:
            careful = len(columns) not in WIDTHS
            found = search(rows, columns, bias=self.bias, clock=self.clock, careful=careful)
        if isinstance(found, Blocked):
            found = wide.settle_blocked(found) or found
        if isinstance(found, Settled):
            return found
        if isinstance(found, Separated):
            return Settled("separable", *as_integers(found.w, found.b))
        options: Any = {"bias": self.bias, "maximal": self.maximal, "clock": self.clock, "pairs": pairs}
        settled = settle_from(rows, columns, found, **options)
        if settled is not None:
            return settled
        hint = found.hint if isinstance(found, Stuck) else np.arange(len(found.rows))
        return self.exact(rows, columns).run(found.rows, hint.tolist(), maximal=self.maximal)

    def exact(self, rows: Source, columns: Ints) -> ExactSearch:
        """The exact LP on some rows."""
        return ExactSearch(rows, columns, bias=self.bias, clock=self.clock)

    def verdict(self, found: Settled) -> Verdict:
        """The verdict of an exact answer, not checked yet."""
        facts = self.facts()
        scales = self.source.facts.scales or (1,) * len(found.weights)
        own = tuple(w * k for w, k in zip(found.weights, scales, strict=bool(found.weights)))
        weights: dict[str, Any] = {"weights": own, "bias_weight": found.bias_weight}
        if found.obstruction is None:
            return Separable(**weights, **facts)
        first = described(self.source, found.obstruction)
        spread = first if found.spread == found.obstruction else None
        if found.spread is not None and spread is None:
            spread = described(self.source, found.spread)
        if found.kind == "overlapping" and spread is not None:
            return Overlapping(obstruction=first, spread=spread, **facts)
        if not self.maximal or spread is None:
            return Touching(**weights, obstruction=first, **facts)
        strict = self.separated(found)
        if isinstance(strict, Marks):  # too many to be listed in a proof
            return Touching(**weights, obstruction=first, **facts)
        separated = tuple(strict.tolist())
        return Touching(**weights, obstruction=first, separated_rows=separated, spread=spread, **facts)

    def separated(self, found: Settled) -> Ints | Marks:
        """The rows strictly on their side of the weak separator; if a streamed source has many, as marks."""
        form = form_of(found.weights, found.bias_weight)
        if not self.source.facts.is_streamed:
            return np.setdiff1d(np.arange(self.source.n_rows), violated(self.source, form, 1))
        marks = Marks(self.source.n_rows)
        for first, n_rows, bits in self.source.each(partial(_strict_in, form)):
            marks.put(first, np.unpackbits(bits, count=n_rows).view(np.bool_))
        return marks.rows() if marks.count() <= MOST_NAMED else marks

    def stopped(self) -> Verdict:
        """The verdict when the time limit is reached, checked; from a cluster that is mute, that nothing is proved."""
        try:
            with last_steps(self.source, self.clock):
                return checked(self.undecided(), self.source)
        except OutOfTime:
            return self.unanswered()

    def unanswered(self) -> Undecided:
        """The verdict if even the last steps take too long."""
        told = f"The time limit of {self.clock.stated:g} seconds was too short to prove anything."
        return Undecided(reason=told, margin=(0.0, math.inf), **self.facts())

    def undecided(self) -> Verdict:
        """The verdict when the time limit is reached: an obstruction, or a bound on the margin."""
        clock, why = self.clock, ""
        assert clock.limit is not None and clock.stated is not None  # without a limit there is no OutOfTime
        if clock.seconds < EARLY * clock.limit and clock.refused:
            why = (
                f": after {clock.seconds:.1f} seconds, the next step would have taken about {_told(clock.refused)} more"
            )
        told = f"The time limit of {clock.stated:g} seconds was too short to"
        if clock.obstruction is not None:
            return self.not_separable(clock.obstruction, f"{told} find out more{why}.")
        return Undecided(reason=f"{told} prove anything{why}.", margin=(0.0, self.ceiling()), **self.facts())

    def out_of_memory(self, error: OutOfMemoryError) -> Verdict:
        """The verdict if memory runs out: an obstruction, if one is known; else the error is raised."""
        if self.clock.obstruction is None:
            raise error
        return self.not_separable(self.clock.obstruction, str(error))

    def not_separable(self, known: Obstruction, reason: str) -> Verdict:
        """The verdict with this obstruction, and the reason why no more is known."""
        return NotSeparable(obstruction=described(self.source, known), reason=reason, **self.facts())

    def ceiling(self) -> float:
        """An upper bound on the margin, from the rows that mattered last; infinity if there were none."""
        largest = max((weight for _, weight in self.clock.support), default=1.0)
        known = [(row, round(math.ldexp(weight / largest, 50))) for row, weight in self.clock.support]
        rows, weights = [row for row, weight in known if weight], [weight for _, weight in known if weight]
        if self.source.facts.scales is not None:  # columns that were multiplied have another margin
            return math.inf
        if not rows or (self.bias and len(set(self.source.take(rows).y.tolist())) < 2):
            return math.inf
        return margin_checks.root_above(margin_checks.squared_ceiling(self.source, rows, weights, self.bias))

    def facts(self) -> dict[str, Any]:
        """What every verdict states about the data and the work."""
        return {**facts_of(self.source), "bias": self.bias, "reads": self.clock.reads, "seconds": self.clock.seconds}


def _told(seconds: float) -> str:
    """An estimate in seconds, for people: 0.3, 2.5, 40."""
    return f"{max(seconds, 0.1):.1f}" if seconds < 10 else f"{seconds:.0f}"


def _strict_in(form: Form, block: Block) -> tuple[int, int, Array]:
    """The number of the first row of a block, how many there are, and as bits which are strictly on their side."""
    return int(block.numbers[0]), len(block), np.packbits(signs(form, block.values) * block.y > 0)


def _are_short(values: Any) -> bool:
    """Whether numbers have few enough digits for their products to fit into 64 bits."""
    with np.errstate(over="ignore"):
        return values.dtype.kind != "f" or bool((values.astype(np.float32) == values).all())


def in_memory(source: Source) -> MemorySource:
    """All rows of a small source as one dense table, so that files, sparse rows and arrays are decided alike."""
    if isinstance(source, MemorySource) and isinstance(source.table, Dense):
        return source
    rows = source.take(np.arange(source.n_rows))
    values = rows.values if isinstance(rows.values, np.ndarray) else rows.values.toarray()
    return MemorySource(Dense(values), rows.y, source.facts.of_part(len(rows)))


def best_held(source: Source) -> Source:
    """The same rows where they are decided fastest.

    Small tables on a device and small files, whose every scan would start a reading thread, are copied to memory;
    sparse rows with few zeros become dense.
    """
    if isinstance(source, DeviceSource):
        return _brought(source) if source.nbytes <= SMALL and source.n_columns < VERY_WIDE else source
    if not source.facts.is_elsewhere and source.n_rows <= HELD * (source.facts.at_hand or 0):
        return _brought(source)
    return _dense_if_full(source)


def is_brought(source: Source, held: Source) -> bool:
    """Whether a read has copied the rows to memory."""
    return held is not source and not isinstance(source, MemorySource)


def _brought(source: Source) -> Source:
    rows = source.take(np.arange(source.n_rows))
    return _dense_if_full(MemorySource(rows.table, rows.y, replace(source.facts, at_hand=None)))


def _dense_if_full(source: Source) -> Source:
    """The same rows as a dense table, which is faster, if a sparse one has few zeros and there is enough memory."""
    if not isinstance(source, MemorySource) or isinstance(source.table, Dense):
        return source
    size, free = source.n_rows * source.n_columns, free_memory()
    if source.table.data.size < FULL * size or (free is not None and 16 * size > free):
        return source
    return MemorySource(Dense(next(source.blocks()).values.toarray()), source.y, source.facts, source.numbers)


def part_of(source: Source, rows: Ints | Marks) -> Source:
    """Some rows of a source: copied, or, if they are too many for that, picked out in each walk."""
    if isinstance(rows, Marks):
        return Remaining(source, rows)
    if source.facts.at_hand is not None and len(rows) > source.facts.at_hand:
        return Remaining(source, Marks.of_rows(source.n_rows, rows))
    block = source.take(rows)
    return MemorySource.of(block, source.facts, rows)
