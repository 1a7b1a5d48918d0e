"""Many classes: can hyperplanes separate them, each pair, each from the rest, or all of them jointly?

    pairs   each pair of classes is a question of its own about their rows
    rest    so is each class against all others
    joint   one question, about Kesler's rows (see `sources.kesler`)

An obstruction of a pair is also one of the joint question: if there are many entries, pairs are decided first.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from linsep import arguments
from linsep.errors import OutOfMemoryError
from linsep.proofs import Obstruction, Separable, Verdict
from linsep.proofs.class_rows import BY, By, Classes, questions
from linsep.proofs.class_verdicts import ClassVerdicts, check_classes
from linsep.proofs.named_rows import classes_in_own_numbers, renumbered
from linsep.proofs.verdicts import Obstructed
from linsep.questions.decide import Case, best_held
from linsep.questions.margin import widest_through_origin, widest_verdict
from linsep.solvers import class_hints
from linsep.solvers.clock import Clock, OutOfTime
from linsep.solvers.exact.exact_outcomes import Settled
from linsep.sources.base import Ints, Source, positions
from linsep.sources.inputs import asked
from linsep.sources.kesler import KeslerSource
from linsep.sources.relabelled import against_the_rest
from linsep.sources.row_set import Marks
from linsep.sources.subset import class_marks, of_classes
from linsep.tables.categories import Categories
from linsep.tables.given_rows import Missing

MUCH = 20_000_000  # entries of Kesler's rows, zeros included: from here on pairs of classes are decided first


def decide_classes(
    X: Any,
    y: Any = None,
    *,
    by: By = "joint",
    bias: bool = True,
    ids: Any = None,
    categories: Categories = None,
    missing: Missing = None,
    time_limit: float | None = None,
    watch: Callable[[Clock], None] | None = None,
) -> ClassVerdicts:
    """Decide whether hyperplanes separate many classes, and prove it.

    by="joint" asks one question: is there a score for each class, w_k·x + b_k, such that on every row the score of its
    own class is strictly the largest? by="pairs" asks for each pair of classes whether a hyperplane separates them,
    by="rest" for each class whether one separates it from all others. Each answer is a verdict like that of `decide`,
    with its proof.

    Parameters
    ----------
    X, y : the rows and their labels
        As `decide` takes them; at least two different labels.
    by : "joint", "pairs" or "rest"
        The questions.
    bias : bool
        False asks for hyperplanes through the origin, and scores without b_k.
    ids, categories, missing, watch
        As `decide` takes them.
    time_limit : float or None
        Seconds for all questions together. Answers that are open then are `NotSeparable` or `Undecided`.

    Returns
    -------
    ClassVerdicts
        A verdict for each question, as from `decide`.

    Raises
    ------
    InputError
        The data cannot be used; the message names the row, the column and the value.

    Examples
    --------
    >>> import linsep
    >>> X, y = [[0, 0], [1, 0], [0, 1], [2, 2]], ["a", "b", "c", "b"]
    >>> linsep.decide_classes(X, y).verdict.kind
    'separable'
    >>> found = linsep.decide_classes(X, y, by="pairs")
    >>> found["a", "b"].kind, found.separable
    ('separable', True)
    """
    arguments.one_of("by", by, BY)
    bias, limit = arguments.flag("bias", bias), arguments.seconds("time_limit", time_limit)
    clock = Clock(limit, watch=watch)
    with asked(X, y, ids, categories, missing, decimals=True, many=True) as (rows, source):
        many = ManyClasses(_finite(source, clock), bias, clock)
        return classes_in_own_numbers(many.found(by, many.answered), rows)


def max_margin_classes(
    X: Any,
    y: Any = None,
    *,
    by: By = "joint",
    bias: bool = True,
    ids: Any = None,
    gap: float = 1e-6,
    categories: Categories = None,
    missing: Missing = None,
    time_limit: float | None = None,
    watch: Callable[[Clock], None] | None = None,
) -> ClassVerdicts:
    """Find the largest margins of many classes, or prove that no hyperplane separates them.

    by="pairs" and by="rest" ask `max_margin` about each pair of classes and about each class against the rest.
    by="joint" asks for the margin of Crammer and Singer (2001): the largest t such that some w_1, ..., w_K with
    |w_1|² + ... + |w_K|² = 1 have w_c·x - w_k·x >= t for every row x, where c is its class and k any other. With bias,
    x has a 1 appended, so that the biases are weights like the others, and count; bias=False leaves them out.

    Parameters
    ----------
    X, y, by, bias, ids, categories, missing, time_limit, watch
        As `decide_classes` takes them.
    gap : float
        As `max_margin` takes it.

    Returns
    -------
    ClassVerdicts
        For each question `Separable` with `margin` = (low, high), or another verdict.

    Raises
    ------
    InputError
        The data cannot be used; the message names the row, the column and the value.

    Examples
    --------
    >>> import linsep
    >>> found = linsep.max_margin_classes([[1, 0], [0, 1], [-1, -1]], ["a", "b", "c"], bias=False)
    >>> found.verdict.gamma_squared
    Fraction(3, 4)
    """
    arguments.one_of("by", by, BY)
    bias, gap = arguments.flag("bias", bias), arguments.part("gap", gap)
    clock = Clock(arguments.seconds("time_limit", time_limit), watch=watch)
    with asked(X, y, ids, categories, missing, many=True) as (rows, source):
        many = ManyClasses(_finite(source, clock), bias, clock, gap)
        return classes_in_own_numbers(many.found(by, many.answered), rows)


def _finite(source: Source, clock: Clock) -> Source:
    """The source, which must have at least two classes and no number that is NaN or infinite."""
    if len(source.facts.labels) < 2:
        _ = source.facts.pair  # one class is refused
    clock.reads += not source.facts.is_finite  # before: a cluster keeps that a read found none
    source.require_finite()
    return source


class ManyClasses:
    """A source of many classes, and the way from its rows to a verdict on each question."""

    def __init__(self, source: Source, bias: bool, clock: Clock, gap: float | None = None) -> None:
        self.given, self.bias, self.clock, self.gap = source, bias, clock, gap
        self.source = best_held(source)
        self.marks: Sequence[Marks] = class_marks(source)
        self.clock.reads += 1

    @property
    def labels(self) -> tuple[Any, ...]:
        """What the classes are called."""
        return self.source.facts.labels

    def found(self, by: By, answer: Callable[[By, Classes], Verdict]) -> ClassVerdicts:
        """The answers to all questions, checked against the data."""
        facts = self.source.facts
        verdicts = [answer(by, question) for question in questions(by, len(facts.labels))]
        found = ClassVerdicts(
            by=by,
            labels=facts.labels,
            sizes=tuple(marks.count() for marks in self.marks),
            n_columns=facts.n_columns,
            verdicts=tuple(verdicts),
            bias=self.bias,
            names=facts.names,
            numbers=facts.numbers,
            rows_left_out=facts.rows_left_out,
            label_column=facts.label_column if facts.files and isinstance(facts.label_column, str) else None,
            reads=self.clock.reads,
            seconds=self.clock.seconds,
        )
        check_classes(found, self.given)
        return found.called(facts.ids)

    def answered(self, by: By, question: Classes) -> Verdict:
        """The verdict on one question, its rows under the numbers that `ClassVerdicts` gives them."""
        if by == "joint":
            return self.jointly()
        return self.against_rest(*question) if by == "rest" else self.pair(*question)

    def against_rest(self, k: int) -> Verdict:
        """Class k against all others."""
        return self.asked(against_the_rest(self.source, k))

    def pair(self, negative: int, positive: int) -> Verdict:
        """Two classes, without the rows of the others."""
        rows = of_classes(self.source, self.marks, (negative, positive))
        verdict = self.asked(rows)
        chosen = self.marks[negative].joined(self.marks[positive])
        return renumbered(verdict, lambda numbers: _at(chosen, numbers))

    def jointly(self) -> Verdict:
        """All classes."""
        rows = KeslerSource(self.source, bias=self.bias)
        is_much = rows.n_rows * self.source.n_columns >= MUCH
        verdict = self.decided(rows, False, self.of_pairs) if is_much else self.decided(rows, False)
        if self.gap is not None and isinstance(verdict, Separable):
            verdict = self.widest_jointly(self.gap, verdict.weights)
        return self.as_contests(verdict)

    def widest_jointly(self, gap: float, weights: tuple[int, ...]) -> Verdict:
        """The scores with the largest margin, starting from separating weights of all classes but the first."""
        rows = KeslerSource(self.source, bias=self.bias, all_blocks=True)
        everywhere = (0,) * (rows.n_columns - len(weights)) + weights
        clock = self.clock.rest()
        found = widest_through_origin(rows, gap, clock, everywhere)
        self.clock.reads += clock.reads
        return found

    def asked(self, rows: Source) -> Verdict:
        """The verdict on rows of two classes, with the largest margin if that is the question."""
        if self.gap is None:
            return self.decided(rows, self.bias)
        clock = self.clock.rest()
        found = widest_verdict(rows, self.bias, self.gap, clock)
        self.clock.reads += clock.reads
        return found

    def of_pairs(self, clock: Clock) -> Settled | None:
        """The joint answer, if a pair of classes is not separable and one column is a weak separator.

        The clock keeps the obstruction, which is an answer too if the time limit is reached.
        """
        places = class_hints.Places(len(self.labels), self.source.n_columns, self.bias)
        for pair in class_hints.pairs_by_distance(self.source):
            clock.check()
            verdict = self.decided(of_classes(self.source, self.marks, pair), self.bias)
            if isinstance(verdict, Obstructed):
                chosen = self.marks[pair[0]].joined(self.marks[pair[1]])
                found = replace(verdict.obstruction, rows=tuple(_at(chosen, verdict.obstruction.rows)))
                clock.met(places.of_pair(found, self.classes_of(np.asarray(found.rows, np.int64)), pair))
                break
        pure = None if clock.obstruction is None else class_hints.pure_column(self.source)
        if pure is None:
            return None
        k, j, sign = pure
        weights = [0] * (places.width * len(self.labels))
        weights[k * places.width + j] = sign
        first = weights[: places.width] * (len(self.labels) - 1)  # subtracted: the first class has no block
        own = tuple(a - b for a, b in zip(weights[places.width :], first, strict=True))
        return Settled("touching", own, 0, obstruction=clock.obstruction)

    def decided(
        self, rows: Source, bias: bool, first: Callable[[Clock], Settled | None] = lambda clock: None
    ) -> Verdict:
        """The verdict on rows of two classes within the time that is left; `first` may know the answer."""
        clock = self.clock.rest()
        case = Case(rows, bias, clock)
        try:
            with clock.limited():
                return case.verdict(first(clock) or case.settle())
        except OutOfTime:
            return case.undecided()
        except OutOfMemoryError as error:
            return case.out_of_memory(error)
        finally:
            self.clock.reads += clock.reads

    def as_contests(self, verdict: Verdict) -> Verdict:
        """A verdict on Kesler's rows, each with the number that says which row is compared with which class."""
        n_classes = len(self.labels)

        def numbers(rows: Sequence[int]) -> list[int]:
            own, rank = np.divmod(np.asarray(rows, np.int64), n_classes - 1)
            classes = self.classes_of(own)
            return list(map(int, own * n_classes + rank + (rank >= classes)))

        named = renumbered(verdict, numbers, sample=None)
        parts = {name: self.described(getattr(named, name, None)) for name in ("obstruction", "spread", "nearest")}
        known: dict[str, Any] = {name: part for name, part in parts.items() if part is not None}
        return replace(named, **known)

    def described(self, found: Obstruction | None) -> Obstruction | None:
        """The same with the classes of its rows."""
        if found is None:
            return None
        classes = self.classes_of(np.asarray(found.rows, np.int64) // len(self.labels))
        return replace(found, classes=tuple(self.labels[k] for k in classes.tolist()), points=None)

    def classes_of(self, rows: Ints) -> Ints:
        """The classes of these rows, counted from 0."""
        return positions(self.source.signs_of(rows), len(self.labels))


def _at(marks: Marks, numbers: Sequence[int]) -> list[int]:
    """The numbers of the marked rows with these ranks."""
    ranks, places = np.unique(np.asarray(numbers, np.int64), return_inverse=True)
    return list(map(int, marks.at_ranks(ranks)[places]))
