"""The verdicts about many classes: one for each question, and the table that all of them are about.

    joint   one question: is there a score for each class, w_k·x + b_k, with that of its own class strictly the
            largest on every row?
    pairs   each pair of classes: does a hyperplane separate the two?
    rest    each class: does a hyperplane separate it from all others?

If the joint answer is yes, so is that of every pair; if each class is separable from the rest, so are all jointly.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import chain, combinations
from typing import Any, ClassVar, final

from linsep.errors import ArgumentError, CertificateError, shown, told
from linsep.proofs import checks
from linsep.proofs.checked_rows import (
    Label,
    MemoryRows,
    Rows,
    can_scan,
    check_reading,
    from_data,
    is_same,
    names_of,
    rows_of,
    scales_of,
)
from linsep.proofs.class_rows import BY, By, Classes, KeslerRows, TwoSides, questions, rows_asked, sizes_of
from linsep.proofs.named_rows import labels_of_rows, shown_rows, table_and_ids
from linsep.proofs.obstructions import Obstruction, plain
from linsep.proofs.verdict_base import Numbers, Verdict
from linsep.proofs.verdicts import HalfspaceVerdict, Separable
from linsep.report import Report, Reported, RowNames, Where, count, label_text, one_line
from linsep.tables.row_ids import RowIds


@final
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ClassVerdicts(Reported):
    """The verdicts about many classes, in the order of `questions`: `found["cat", "dog"]` is that of a pair.

    Each is an ordinary verdict, and its rows have the numbers of the whole table. In a joint verdict the row that
    compares x with class k has the number K·i + k, where i is the number of x and k the position of the class among
    the K `labels`; `contests` translates these numbers.

    Attributes
    ----------
    by : "joint", "pairs" or "rest"
        What was asked.
    labels, sizes : tuples
        The classes, and how many rows each has.
    verdicts : tuple of verdicts
        One for each question.
    n_columns, bias, names, label_column, numbers, rows_left_out, reads, seconds, row_names, dropped
        As those of a verdict about two classes.

    Examples
    --------
    >>> import linsep
    >>> found = linsep.decide_classes([[0], [1], [2]], ["a", "b", "c"], by="rest")
    >>> [found[label].kind for label in found.labels]
    ['separable', 'overlapping', 'separable']
    """

    kind: ClassVar[str] = "classes"

    by: By
    labels: tuple[Label, ...]
    sizes: tuple[int, ...]
    n_columns: int
    verdicts: tuple[Verdict, ...]
    bias: bool = True
    names: tuple[str, ...] | None = None
    label_column: str | None = None
    numbers: Numbers = "binary64"
    rows_left_out: int = 0
    reads: int = 0
    seconds: float = field(default=0.0, compare=False)
    row_names: RowNames | None = field(default=None, compare=False)
    dropped: int = field(default=0, compare=False)  # as of a `Verdict`

    def __post_init__(self) -> None:
        object.__setattr__(self, "labels", tuple(map(plain, self.labels)))
        if self.by not in BY:
            raise CertificateError(f"A question must be one of {BY}, not {self.by!r}.")
        if len(self.labels) < 2 or len(self.sizes) != len(self.labels):
            raise CertificateError(f"{len(self.labels)} labels and {len(self.sizes)} sizes: give one for each class.")
        if "" in self.labels:
            raise CertificateError("A label is missing.")
        if any(isinstance(label, float) and not math.isfinite(label) for label in self.labels):
            raise CertificateError("A label is not a finite number.")
        twice = next((a for a, b in combinations(self.labels, 2) if a == b), None)
        if twice is not None:
            raise CertificateError(f"Two labels are the same: {shown(twice)}.")
        if min(self.sizes) < 1:
            raise CertificateError("Each class must have at least one row.")
        if len(self.verdicts) != len(self.questions):
            raise CertificateError(f"{len(self.verdicts)} verdicts for {len(self.questions)} questions.")
        if self.names is not None and len(self.names) != self.n_columns:
            raise CertificateError(f"{len(self.names)} names for {self.n_columns} columns.")

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return sum(self.sizes)

    @property
    def questions(self) -> tuple[Classes, ...]:
        """What each verdict is about: positions among the labels."""
        return questions(self.by, len(self.labels))

    @property
    def separable(self) -> bool | None:
        """True if every answer is yes, False if some answer is no; None if some are open and none is no."""
        found = [verdict.separable for verdict in self.verdicts]
        return False if False in found else None if None in found else True

    @property
    def verdict(self) -> Verdict:
        """The joint verdict."""
        if self.by != "joint":
            raise ArgumentError(f"These are the verdicts by {self.by}: take one by its classes, as found[{self._any}].")
        return self.verdicts[0]

    def __getitem__(self, classes: Any) -> Verdict:
        named = classes if isinstance(classes, tuple) else (classes,)
        wanted = tuple(sorted(self._place(label) for label in named))
        for question, verdict in zip(self.questions, self.verdicts, strict=True):
            if question == wanted:
                return verdict
        raise ArgumentError(f"There is no question about {told(classes)}: take one of them, as found[{self._any}].")

    def __iter__(self) -> Iterator[tuple[tuple[Label, ...], Verdict]]:
        """The classes of each question, and the verdict."""
        for question, verdict in zip(self.questions, self.verdicts, strict=True):
            yield tuple(self.labels[k] for k in question), verdict

    @property
    def _any(self) -> str:
        return ", ".join(told(self.labels[k]) for k in self.questions[0])

    def _place(self, label: Any) -> int:
        found = [k for k, known in enumerate(self.labels) if is_same(plain(label), known)]
        if not found:
            raise ArgumentError(f"There is no class {told(label)}: the classes are {told(self.labels)[:300]}.")
        return found[0]

    @property
    def class_weights(self) -> tuple[tuple[int, ...], ...] | None:
        """The integer weights of each class, the bias last if there is one: the joint scores, or None."""
        verdict, width = self.verdict, self.n_columns + self.bias
        if not isinstance(verdict, HalfspaceVerdict):
            return None
        missing = width * len(self.labels) - len(verdict.weights)
        weights = (*(0,) * missing, *verdict.weights)
        return tuple(weights[k : k + width] for k in range(0, len(weights), width))

    def contests(self, combination: Obstruction | None = None) -> tuple[tuple[int, Label], ...]:
        """The rows of a joint obstruction, or of another combination: row i, and the class it is compared with."""
        found = combination or getattr(self.verdict, "obstruction", None)
        if found is None:
            return ()
        return tuple((number // len(self.labels), self.labels[number % len(self.labels)]) for number in found.rows)

    def called(self, ids: RowIds | None) -> ClassVerdicts:
        """The same verdicts, with what the user calls the rows that they name."""
        if ids is None:
            return self
        times = len(self.labels) if self.by == "joint" else 1  # each comparison has its own number
        rows = [list(verdict.named_rows()) for verdict in self.verdicts]
        names = ids.names(row // times for row in chain(*rows))
        verdicts = [
            verdict.with_names(replace(names, known={row: names.known[row // times] for row in own}))
            for verdict, own in zip(self.verdicts, rows, strict=True)
        ]
        return replace(self, verdicts=tuple(verdicts), row_names=names)

    def verify(self, X: Any, y: Any = None, *, ids: Any = None) -> None:
        """Check every proof against the data in exact arithmetic, as `Verdict.verify` does."""
        self._verified(X, y, ids)

    def _verified(self, X: Any, y: Any, ids: Any = None) -> Rows:
        """The rows of the data, once the proofs have been checked against them."""
        table, _ = table_and_ids(X, y, ids, self.row_names, self.names, self.rows_left_out)
        rows = rows_of(from_data(table), y, self.labels, self.names, self.rows_left_out)
        check_classes(self, rows)
        checks.check_finite(rows)
        return rows

    def frame(self, X: Any, y: Any = None) -> Any:
        """The rows of the obstructions, or nearest to the margins, as a dataframe of the library of X.

        See `Verdict.frame`: proofs that were read from a file need y for the labels. For the joint question, `against`
        is the class that the row is compared with; else `question` names the classes that the question is about.
        """
        rows: list[int] = []
        told: dict[str, list[Any]] = {"label": [], "against" if self.by == "joint" else "question": [], "share": []}
        for classes, verdict in self:
            for found in verdict._combinations().values():
                contests = self.contests(found) if self.by == "joint" else ()
                rows += [row for row, _ in contests] if contests else found.rows
                total = sum(found.weights)
                shares = [weight / total for weight in found.weights] if contests else found.shares
                asked = [other for _, other in contests] or [", ".join(map(label_text, classes))] * len(found.rows)
                for values, new in zip(told.values(), (found.classes, asked, shares), strict=True):
                    values += new or [None] * len(found.rows)
        length = self._length_of(X, y)
        if None in told["label"] and (y is not None or can_scan(X)):
            told["label"] = labels_of_rows(X, y, rows, length)
        return shown_rows(X, rows, told, length, self.row_names)

    def _length_of(self, X: Any, y: Any) -> int:
        """How many rows the table has, with those that were left out if row numbers count them."""
        if self.rows_left_out > self.dropped and not can_scan(X) and y is not None:  # from a file: the data say it
            rows = self._verified(X, y)
            return self.n_rows + self.rows_left_out * (isinstance(rows, MemoryRows) and rows.kept is not None)
        return self.n_rows + self.dropped

    def to_json(self) -> str:
        """All proofs in one text: see docs/certificate-format.md."""
        from linsep.proofs.class_json import classes_to_json

        return classes_to_json(self)

    def facts(self) -> dict[str, Any]:
        """The verdicts as plain values."""
        proof = json.loads(self.to_json())
        answers = [
            {"classes": list(classes), "separable": verdict.separable, **answer}
            for (classes, verdict), answer in zip(self, proof["answers"], strict=True)
        ]
        if contests := self.contests() if self.by == "joint" else ():
            answers[0]["contests"] = [list(contest) for contest in contests]  # in the numbers of the table
        known = {"kind": self.kind, "separable": self.separable, "by": self.by, "data": proof["data"]}
        named = {} if self.row_names is None else self.row_names.facts()
        return {**known, "answers": answers, **named, "reads": self.reads, "seconds": self.seconds}

    def __repr__(self) -> str:
        from linsep.proofs import class_words

        counts = ", ".join(f"{number} {kind}" for kind, number in class_words.counts_of(self).items())
        return one_line(self, f"by {self.by}", count(self.n_rows, "row"), f"{len(self.labels)} classes", counts)

    @property
    def title(self) -> str:
        """The answer in a line."""
        from linsep.proofs import class_words

        return class_words.title_of(self)

    def explain(self, X: Any = None, y: Any = None, *, ids: Any = None) -> str:
        """The verdicts in plain words; given the data, they are checked first."""
        return self.report(X, y, ids=ids).text()

    def report(
        self, X: Any = None, y: Any = None, *, where: Where | None = None, verify: bool = True, ids: Any = None
    ) -> Report:
        """What `explain` says, as a value. With verify=False the data are not checked."""
        if X is not None and verify:
            self.verify(X, y, ids=ids)
        if X is not None and self.row_names is None:
            named = self.called(table_and_ids(X, y, ids, None, self.names, self.rows_left_out)[1])
            if named.row_names is not None:
                return named.report(where=where)
        from linsep.proofs import class_words

        return class_words.report_of_classes(self, where)


def rows_for(found: ClassVerdicts, question: Classes, verdict: Verdict, rows: Rows) -> Rows:
    """The rows that a verdict is about."""
    n_classes = len(found.labels)
    if found.by == "joint":
        width = found.n_columns + found.bias
        return KeslerRows(rows, n_classes, found.bias, all_blocks=verdict.n_columns == width * n_classes)
    if found.by == "rest":
        return TwoSides(rows, tuple(1 if k in question else -1 for k in range(n_classes)))
    return TwoSides(rows, tuple(-(k == question[0]) + (k == question[1]) for k in range(n_classes)))


def check_classes(found: ClassVerdicts, rows: Rows) -> None:
    """Check the proofs against rows as they are read, marked with the positions of their classes."""
    checks.check_shape(rows, found.n_rows, found.n_columns, found.names)
    checks.check_names(found.names, names_of(rows))
    sizes = sizes_of(rows, len(found.labels))
    if sizes != found.sizes:
        k = next(k for k, (a, b) in enumerate(zip(sizes, found.sizes, strict=True)) if a != b)
        has = f"{count(sizes[k], 'row')} of class {shown(found.labels[k])}"
        raise CertificateError(f"There are {has}; the proof says {found.sizes[k]:,}.")
    for question, verdict in zip(found.questions, found.verdicts, strict=True):
        _check_stated(found, question, verdict)
        check_reading(rows, verdict.numbers, verdict.rows_left_out)
        scales, asked = scales_of(rows), rows_for(found, question, verdict, rows)
        if scales is not None and found.by == "joint":
            scales = (*scales, *((1,) if found.bias else ())) * (asked.n_columns // (found.n_columns + found.bias))
        (verdict if scales is None else verdict._in_units_of(scales))._verify_claim(asked)


def _check_stated(found: ClassVerdicts, question: Classes, verdict: Verdict) -> None:
    """The rows that a verdict states are those of its question."""
    width = found.n_columns
    widths = (width,)
    if found.by == "joint":
        width += found.bias
        has_margin = isinstance(verdict, Separable) and verdict.margin is not None
        widths = (width * (len(found.labels) - (not has_margin)),)
    stated = verdict.n_rows, verdict.bias, verdict.numbers, verdict.rows_left_out
    known = rows_asked(found.by, question, found.n_rows, found.sizes), found.bias and found.by != "joint"
    if verdict.n_columns not in widths or stated != (*known, found.numbers, found.rows_left_out):
        raise CertificateError("A verdict is about rows other than those of its question.")
