"""Online learning: each row is predicted first and learned from afterwards, so every mistake is one on a new row.

    For each row x of class k as it comes:  predict the class of x;  if that is a mistake, update the weights.

Theorem (Novikoff 1962). If some hyperplane has every row, past and future, at a distance of gamma or more on its side,
and no row is longer than R, then the updates of the whole stream are at most (R/gamma)². Rows are homogenised; with
more than two classes the bound is 2·(R/gamma)² (see `learners/perceptron.py`).

In the middle of a stream gamma is not known. But the theorem can be turned around: after t updates no hyperplane has a
margin above R/sqrt(t) on the rows seen so far.

Counting mistakes this way is *progressive validation* (Blum, Kalai and Langford 1999): as honest as a test set, without
holding out any row.
"""

import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from linsep import arguments
from linsep.errors import ArgumentError, ManyClassesError, OneClassError, ShapeError
from linsep.faults import fault
from linsep.learners.kept_weights import Weights
from linsep.learners.perceptron import Perceptron, Rule
from linsep.learners.vanishing import require_scores_of
from linsep.loops.judging import MISSED, PREDICTED
from linsep.loops.scans import ALL_FINE, longest_row2
from linsep.models import MODEL, write_model
from linsep.report import Fact, Part, Report, Reported, Sentence, count, label_text, listed, one_line
from linsep.scores import clear_sign
from linsep.sources.base import Block, Floats, Ints, Source, marks
from linsep.sources.hashing import hash_dicts, hash_texts, require_bits
from linsep.sources.inputs import as_table, read_floats, read_table
from linsep.tables import read_labels, require_one_index
from linsep.tables.handed_over import column_of

OnlineKeep = Literal["last", "average"]

MOST_WEIGHTS = 1 << 28  # 2 GiB, and the same again for an average
SAFE = 1e300  # below this, no sum of updates, each times the number of rows before it, leaves the range of doubles
SHORT = 100  # columns: up to this many, Python scores one row faster than NumPy
NOTHING_YET = -1  # the prediction before any class is known


@dataclass(frozen=True, slots=True)
class Counts:
    """Rows seen, mistakes of the predictions, updates of the weights. Subtract earlier counts to see what is new."""

    rows: int = 0
    mistakes: int = 0
    updates: int = 0

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(self.rows + other.rows, self.mistakes + other.mistakes, self.updates + other.updates)

    def __sub__(self, earlier: "Counts") -> "Counts":
        return Counts(self.rows - earlier.rows, self.mistakes - earlier.mistakes, self.updates - earlier.updates)

    @property
    def loss(self) -> float:
        """Mistakes for each row; 0 before the first."""
        return self.mistakes / self.rows if self.rows else 0.0


class OnlinePerceptron(Reported):
    """A Perceptron on a stream of rows: predict, then learn.

    A tie between classes is a mistake, even though the first of them is predicted. `mistakes` counts those of the
    predictions, `updates` those of the last weights, which the theorem is about; with keep="last" the two are equal,
    except for the first row of an unnamed class. `learn_one` and `predict_one` do the same one row at a time, under
    the names that river uses.

    Parameters
    ----------
    classes : the labels to come, or None
        A class that is not named here is added when its first row comes, with weights 0; that row is a mistake. While
        only one class is known there is nothing to tell apart, and nothing is learned.
    keep : "average" or "last"
        Which weights predict: their average over the rows so far, or the last. The updates are the same.
    rule, C : "perceptron", "pa1", "pa2" or "arow"; float
        How far an update goes, as in `PerceptronClassifier`. The bound and its gamma exist for "perceptron" only. The
        steps of "arow" become smaller as it learns: let its last weights predict, keep="last".
    bias : bool
        Fit a bias (intercept) term.
    bits : int or None
        Rows are dicts {name: value} or texts, hashed into 2^bits columns: names may appear at any time. None: rows are
        numbers, and the first ones say how many.
    gamma : float or None
        A margin that some hyperplane is known to have on the homogenised rows. `bound` is then Novikoff's bound.

    Attributes
    ----------
    classes : list
        Those named, sorted, then the others as they came.
    counts : Counts
        Rows, mistakes, updates.
    radius, bound, gamma_ceiling : float
        The length of the longest homogenised row so far; Novikoff's bound, if `gamma` was given; and a number that,
        after the updates so far, no margin exceeds.

    Examples
    --------
    >>> from linsep import OnlinePerceptron
    >>> model = OnlinePerceptron(["ham", "spam"], bits=18, keep="last")
    >>> model.predict_then_learn(["win a prize now", "see you at lunch", "a prize for you"], ["spam", "ham", "spam"])
    ['ham', 'spam', 'ham']
    >>> model.predict_then_learn({"lunch": 2.0}, "ham")  # one row, and a feature that was a word before
    'ham'
    >>> model.counts
    Counts(rows=4, mistakes=3, updates=3)
    """

    _supervised = True  # river reads this before it calls learn_one

    def __init__(
        self,
        classes: Iterable[Any] | None = None,
        *,
        keep: OnlineKeep = "average",
        rule: Rule = "perceptron",
        C: float = 1.0,
        bias: bool = True,
        bits: int | None = None,
        gamma: float | None = None,
    ) -> None:
        arguments.one_of("keep", keep, get_args(OnlineKeep))
        arguments.one_of("rule", rule, get_args(Rule))
        if gamma is not None and rule != "perceptron":
            raise ArgumentError(
                f"gamma is for the bound of the Perceptron, and rule is {rule!r}: leave one of them out."
            )
        self.keep, self.bias, self.rule, self.C = keep, bool(bias), rule, arguments.positive("C", C)
        self.gamma = None if gamma is None else arguments.positive("gamma", gamma)
        self.bits = None if bits is None else require_bits(bits)
        self.columns: tuple[str, ...] | None = None
        self.label: str | None = None  # the name of the column that labels come from, where there is one
        self.counts = Counts()
        self.classes: list[Any] = [] if classes is None else _announced(classes)
        self._codes = {label: code for code, label in enumerate(self.classes)}
        self._known = len(self.classes)  # later classes are in the list, but none of their rows has been reached yet
        self.longest = 0.0  # |x|² of the longest row, not homogenised
        self.learner: Perceptron | None = None
        if "river.base" in sys.modules:  # river's metrics expect one of its own classifiers
            sys.modules["river.base"].Classifier.register(OnlinePerceptron)

    def predict_then_learn(self, X: Any, y: Any = None) -> Any:
        """Predict each row, then learn from it, in row order; a batch is the same as its rows one by one.

        Parameters
        ----------
        X : rows, or one row
            Numbers, or with `bits` texts and dicts.
        y : labels, or one label
            Of these rows.

        Returns
        -------
        list, or one label
            The predictions made before learning; None before any class is known.

        Raises
        ------
        InputError
            A row cannot be used.
        """
        require_one_index(X, y)
        rows, is_one = self._read(X)
        if is_one:
            y = y.reshape(1) if isinstance(y, np.generic) else [y]
        labels = read_labels(y).tolist()
        if len(labels) != rows.shape[0]:
            raise fault("length", rows=rows.shape[0], labels=len(labels))
        foretold = self.learn_codes(rows, self._encode(labels))
        predicted = [None if code == NOTHING_YET else self.classes[code] for code in foretold[:, PREDICTED].tolist()]
        return predicted[0] if is_one else predicted

    def learn_one(self, x: Any, y: Any) -> None:
        """Predict one row, then learn from it: a dict {name: value}, a text or numbers (the protocol of river)."""
        self.predict_then_learn(x, y)

    def predict_one(self, x: Any) -> Any:
        """The class of one row, without learning; None before any class is known (the protocol of river)."""
        return self.predict(x)

    def learn_codes(self, rows: Any, codes: Ints) -> Ints:
        """The same for float rows whose labels are positions in `classes`; returns the positions predicted."""
        learner = self._started(rows.shape[1])
        if codes.max(initial=-1) < self._known:
            return self._learn(learner, rows, codes) if len(codes) else np.empty((0, 2), np.int64)
        foretold = np.empty((len(codes), 2), np.int64)
        start = 0
        while start < len(codes):
            ahead = np.flatnonzero(codes[start:] >= self._known)
            stop = start + int(ahead[0]) if ahead.size else len(codes)
            if start < stop:
                foretold[start:stop] = self._learn(learner, rows[start:stop], codes[start:stop])
            if stop < len(codes):
                foretold[stop] = self._meet(learner, rows[stop : stop + 1], codes[stop : stop + 1])
                stop += 1
            start = stop
        return foretold

    def add_classes(self, labels: Iterable[Any]) -> None:
        """Append labels whose first rows are about to come."""
        for label in labels:
            if self._codes.setdefault(label, len(self.classes)) == len(self.classes):
                self.classes.append(label)

    @property
    def width(self) -> int | None:
        """How many columns the weights have; None before the first row."""
        return None if self.learner is None else self.learner.weights.W.shape[1]

    def widen(self, n_columns: int) -> None:
        """Take rows of this many columns from now on: columns that no row had so far begin with weights 0."""
        if self.learner is not None and self.bits is None and n_columns > self.learner.weights.W.shape[1]:
            _require_room(max(2, self._known), n_columns)
            self.learner.add_columns(n_columns)

    def decision_function(self, X: Any) -> Floats:
        """The scores of the kept weights: one for each row, or for each row and class where there are more than two."""
        if self.learner is None or self._known < 2:
            raise OneClassError(f"There are no scores yet: {self._known} of the two classes needed were seen.")
        rows, is_one = self._read(X)
        scores = self.learner.kept.scores(rows)
        scores = scores[:, 0] if scores.shape[1] == 1 else scores
        return np.asarray(scores[0] if is_one else scores)

    def predict(self, X: Any) -> Any:
        """The class of each row, without learning; a list, or one label for one row."""
        rows, is_one = self._read(X)
        labels = [None if code == NOTHING_YET else self.classes[code] for code in self._predict(rows).tolist()]
        return labels[0] if is_one else labels

    def save(self, path: str | Path) -> None:
        """Write the whole state as JSON; `linsep.load` gives a model that resumes as if never interrupted."""
        from linsep.learners.online_document import document_of

        write_model(path, MODEL.write(document_of(self)))

    def restore(
        self,
        classes: list[Any],
        counts: Counts,
        longest: float,
        weights: Weights,
        lag: Weights,
        spread: Weights | None = None,
    ) -> None:
        """Resume where another stream ended."""
        self.classes, self._codes, self._known = [], {}, len(classes)
        self.add_classes(classes)
        learner = self._started(weights.W.shape[1])
        learner.weights, learner.lag, learner.walked, learner.updates = weights, lag, counts.rows, counts.updates
        learner.spread = spread
        self.counts, self.longest = counts, longest

    @property
    def radius(self) -> float:
        """R: the length of the longest homogenised row so far."""
        return math.sqrt(self.longest + self.bias) if self.counts.rows else 0.0

    @property
    def bound(self) -> float | None:
        """Novikoff's bound on the updates, for the gamma given and the rows so far."""
        if self.gamma is None:
            return None
        ratio = self.radius / self.gamma
        return self._factor * ratio * ratio

    @property
    def gamma_ceiling(self) -> float:
        """No hyperplane has a margin above this on the rows so far: the theorem would not allow so many updates."""
        is_known = self.counts.updates and self.rule == "perceptron"
        return self.radius * math.sqrt(self._factor / self.counts.updates) if is_known else math.inf

    def __repr__(self) -> str:
        return one_line(self, *self._said(), f"classes {listed(map(label_text, self.classes)) or 'none yet'}")

    def report(self) -> Report:
        """The counts beside the bound."""
        parts: list[Part] = [Fact("classes", listed(map(label_text, self.classes)) or "none yet")]
        parts += [Fact("loss", f"{self.counts.loss:.6f}")] if self.counts.rows else []
        parts += [Sentence(text, "bound") for text in [self._bound_text()] if text]
        return Report(f"{', '.join(self._said())}.", tuple(parts))

    def _said(self) -> list[str]:
        counts = self.counts
        return [count(counts.rows, "row"), count(counts.mistakes, "mistake"), count(counts.updates, "update")]

    def _bound_text(self) -> str:
        """The updates beside Novikoff's bound, in plain words; empty before the first update."""
        what = "hyperplane has" if self._factor == 1 else "weights have"
        if self.bound is not None:
            limit = f"A margin of {self.gamma:.6g} allows at most {self.bound:,.6g} updates (R = {self.radius:.6g})"
            return limit + (f": there were more, so no {what} it." if self.counts.updates > self.bound else ".")
        if not self.counts.updates or self.rule != "perceptron":
            return ""
        return f"No {what} a margin above R/sqrt(updates) = {self.gamma_ceiling:.6g} on these rows."

    @property
    def _factor(self) -> int:
        return 1 if self._known <= 2 else 2

    def _started(self, n_columns: int) -> Perceptron:
        if self.learner is None:
            n_classes = max(2, self._known)
            _require_room(n_classes, n_columns)
            self.learner = Perceptron(
                n_classes, n_columns, keep=self.keep, rule=self.rule, C=self.C, bias=self.bias, seed=0
            )
        return self.learner

    def _learn(self, learner: Perceptron, rows: Any, codes: Ints) -> Ints:
        """Rows of known classes."""
        table = as_table(rows) if isinstance(rows, np.ndarray) else read_table(rows)[0]
        require_scores_of([table[0]], learner.weights.W)
        if self._known == 1:  # nothing to tell apart: the weights stay 0, and the average counts the rows
            learner.walked += len(codes)
            foretold, updates = np.zeros((len(codes), 2), np.int64), 0
        else:
            before = learner.updates
            y = marks(codes, max(2, len(learner.weights.b)))
            foretold = np.empty((len(codes), 2), np.int64)
            block = Block(table, y, range(len(codes)), rows.shape[1])
            end = learner.learn(block, np.zeros(len(codes), np.int64), foretold=foretold)
            if end.bad != ALL_FINE:
                raise fault("overflow", row=int(end.bad))
            updates = learner.updates - before
        self.longest = max(self.longest, float(longest_row2(table, 0, len(codes))))
        if not self.radius * (learner.updates + 1.0) * (learner.walked + 1.0) < SAFE:
            learner.require_finite()
        self.counts += Counts(len(codes), int(foretold[:, MISSED].sum()), updates)
        return foretold

    def _meet(self, learner: Perceptron, row: Any, code: Ints) -> Ints:
        """Learn from the first row of a class: whatever was predicted is a mistake."""
        (predicted,) = self._predict(row)
        if self._known >= 2:
            _require_room(self._known + 1, row.shape[1])
            learner.add_class()
        self._known += 1
        before = self.counts
        self._learn(learner, row, code)
        self.counts = before + Counts(1, 1, self.counts.updates - before.updates)
        return np.array([predicted, 1], np.int64)

    def _predict(self, rows: Any) -> Ints:
        if self._known < 2 or self.learner is None:
            return np.full(rows.shape[0], min(self._known, 1) - 1)
        kept = self.learner.kept
        if rows.shape[0] == len(kept.b) == 1 and rows.shape[1] <= SHORT and isinstance(rows, np.ndarray):
            sign = clear_sign(rows[0].tolist(), kept.W[0].tolist(), kept.b.item())
            if sign:
                return np.array([sign > 0], np.int64)
        scores = kept.scores(rows)
        winners = scores[:, 0] > 0 if scores.shape[1] == 1 else scores.argmax(axis=1)
        return np.asarray(winners, np.int64)

    def _encode(self, labels: list[Any]) -> Ints:
        if not all(label in self._codes for label in labels):
            read_labels([*self.classes[:1], *labels])  # text and numbers in one stream are refused
            self.add_classes(labels)
        return np.array([self._codes[label] for label in labels], np.int64)

    def _read(self, X: Any) -> tuple[Any, bool]:
        """Rows as floats, and whether X is a single row."""
        if isinstance(X, Source):
            raise ShapeError(
                "OnlinePerceptron takes rows in memory, and X is a source of rows.",
                fix="PerceptronClassifier.partial_fit takes a source; linsep learn reads files as a stream.",
            )
        named = _named_rows(X)
        if named is None:
            is_one = X.ndim == 1 if isinstance(X, np.ndarray) else isinstance(X, (list, tuple)) and _is_row(X)
            rows, columns = read_floats(X if not is_one else X[None] if isinstance(X, np.ndarray) else [X])
            self._require_width(rows.shape[1], columns)
            return rows, is_one
        if self.bits is None:
            raise ArgumentError("Rows of text or dicts need bits, the number of hash bits: OnlinePerceptron(bits=18).")
        if not named:
            raise fault("array rows", name="X")
        rows = hash_texts(named, self.bits) if isinstance(named[0], str) else hash_dicts(named, self.bits)
        return rows, isinstance(X, (str, Mapping))

    def _require_width(self, width: int, columns: tuple[str, ...] | None) -> None:
        expected = 1 << self.bits if self.bits else (width if self.learner is None else self.learner.weights.W.shape[1])
        if width != expected:
            raise ShapeError(f"X has {width} columns, but the model has {expected} weights.")
        if self.learner is None and columns is not None:
            self.columns = columns
        if columns is not None and self.columns is not None and columns != self.columns:
            pairs = zip(self.columns, columns, strict=True)
            before, now = next((before, now) for before, now in pairs if before != now)
            raise ShapeError(f"X has the column {now!r} where earlier rows had {before!r}.", fix="Keep their order.")


def _require_room(n_classes: int, n_columns: int) -> None:
    rows = n_classes if n_classes > 2 else 1
    if rows * n_columns > MOST_WEIGHTS:
        raise ManyClassesError(
            f"{n_classes:,} classes with {n_columns:,} columns each are more than {MOST_WEIGHTS:,} weights.",
            fix="If these labels really are classes, use fewer bits or columns.",
        )


def _announced(classes: Iterable[Any]) -> list[Any]:
    labels = sorted(set(read_labels(list(classes)).tolist()))
    if len(labels) < 2:
        raise OneClassError(f"classes is {labels}: name two or more, or None to meet them as they come.")
    return labels


def _is_row(X: Sequence[Any]) -> bool:
    """Whether these are the numbers of one row, and not rows."""
    return len(X) > 0 and not isinstance(X[0], (list, tuple)) and np.ndim(X[0]) == 0


def _named_rows(X: Any) -> Any:
    """Rows of text or of named values as a sequence; None where rows are numbers."""
    if isinstance(X, (str, Mapping)):
        return [X]
    if isinstance(X, np.ndarray) and X.ndim == 1 and X.dtype.kind in "UTO":
        X = X.tolist()
    elif not isinstance(X, (np.ndarray, list, tuple)) and (column := column_of(X)) is not None:
        X = column.to_list()
    if isinstance(X, (list, tuple)) and len(X) and isinstance(X[0], (str, Mapping)):
        return X
    return None
