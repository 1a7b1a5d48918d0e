"""Rows to learn from: which of them count, how much, and which are held out to say when to stop."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split

from linsep.errors import ArgumentError, LengthError, shown
from linsep.estimators.score_classifier import labelled
from linsep.faults import few
from linsep.halfspace import linear_scores
from linsep.sources.base import Array, Floats, Ints, Source
from linsep.sources.memory import MemorySource
from linsep.sources.relabelled import class_counts, weighted
from linsep.tables import require_one_index
from linsep.tables.handed_over import from_torch

MOST_WEIGHT = 1e9  # a row is visited as many times as its weight


@dataclass(frozen=True)
class HeldOut:
    """Rows that are not learned from, with their classes and weights."""

    X: Any
    codes: Ints
    weights: Floats | None

    def score(self, W: Array, b: Array) -> float:
        """The share of these rows (or of their weight) that is classified correctly."""
        scores = linear_scores(self.X, W, b)
        winners = scores[:, 0] > 0 if scores.shape[1] == 1 else scores.argmax(axis=1)
        return float(np.average(winners == self.codes, weights=self.weights))


@dataclass(frozen=True)
class TrainingRows:
    """The rows of one call of `fit`: a source with those that are learned from, and their places in the table."""

    source: Source
    kind: Any  # the number type of the weights
    n_given: int = 0
    rows: Ints | None = None  # None: all of them
    held_out: HeldOut | None = None

    def in_place(self, counts: Ints | None) -> Ints | None:
        """A count for each row that was given, 0 for one that was not learned from."""
        if counts is None or self.rows is None:
            return counts
        placed = np.zeros(self.n_given, np.int64)
        placed[self.rows] = counts
        return placed

    def row_given(self, row: int | None) -> int | None:
        """The number of a row in the table that was given."""
        return row if row is None or self.rows is None else int(self.rows[row])

    def without(self, part: float, seed: int) -> "TrainingRows":
        """The same with a part of each class held out."""
        if not isinstance(self.source, MemorySource):
            raise ArgumentError(
                "stop_after is for rows in memory: no part of a source of files or of a cluster can be held out.",
                fix="Leave stop_after out, or fit with partial_fit and score rows of your own after each pass.",
            )
        (block,) = self.source.blocks()
        codes = block.y > 0 if len(self.source.facts.labels) == 2 else block.y
        try:
            train, held = train_test_split(np.arange(len(block)), test_size=part, random_state=seed, stratify=codes)
        except ValueError:  # scikit-learn would name the classes by our codes
            raise ArgumentError(
                f"held_out is {part:g}: {len(block)} rows cannot be split that way.",
                fix="Each class needs two rows or more, and each part as many rows as there are classes.",
            ) from None
        train, out = block.take(np.sort(train)), block.take(np.sort(held))
        source = _in_memory(train.table, train.y, self.source, train.weights)
        out_codes = (out.y > 0).astype(np.int64) if len(self.source.facts.labels) == 2 else out.y.astype(np.int64)
        rows = train.row_numbers if self.rows is None else self.rows[train.row_numbers]
        return replace(self, source=source, rows=rows, held_out=HeldOut(out.values, out_codes, out.weights))


def rows_in_memory(X: Any, codes: Ints, weights: Floats | None, classes: Array) -> TrainingRows:
    """Rows of a table with their classes, and weights above 0."""
    source = labelled(X, codes, classes)
    if weights is not None and (weights != 1).any():
        source = _in_memory(source.table, source.y, source, weights)
    return TrainingRows(source, X.dtype, len(codes))


def _in_memory(table: Any, y: Any, like: Source, weights: Floats | None) -> MemorySource:
    weight = None if weights is None else float(weights.sum())
    return MemorySource(table, y, replace(like.facts, n_rows=len(y), weight=weight), weights=weights)


def rows_of_source(source: Source, sample_weight: Any, class_weight: Any, classes: Array) -> TrainingRows:
    """Rows of a source: each may have the weight of its class."""
    require_no_weights(sample_weight)
    if class_weight is not None:
        source = weighted(source, class_weights(class_weight, classes, class_counts(source)))
    return TrainingRows(source, np.dtype(np.float64))


def require_no_weights(sample_weight: Any) -> None:
    """Refuse weights of the rows of a source."""
    if sample_weight is not None:
        raise ArgumentError(
            "sample_weight is for rows in memory: rows of files or of a cluster cannot have weights of their own.",
            fix="Give weights or costs of classes, or read the rows into a table.",
        )


def require_same_rows(X: Any, sample_weight: Any) -> None:
    """Refuse weights whose index is not that of the rows: taken by position, they would weigh the wrong rows."""
    try:
        require_one_index(X, sample_weight)
    except LengthError:
        raise ArgumentError(
            "The index of sample_weight is not that of X, so its weights belong to other rows.",
            fix="Reorder it with sample_weight.loc[X.index], or give sample_weight.to_numpy() if its order is right.",
        ) from None


def read_weights(values: Any, n_rows: int) -> Floats:
    """One finite number for each row, none below 0 and not all of them 0."""
    if np.ma.is_masked(values):
        raise ArgumentError("sample_weight has values that are masked: every row needs a weight.")
    weights = np.asarray(from_torch(values, "sample_weight"))
    if weights.ndim == 0 and weights.dtype.kind in "biuf":
        weights = np.full(n_rows, weights)
    if weights.shape != (n_rows,):
        raise ArgumentError(
            f"sample_weight has the shape {weights.shape}: there are {n_rows} rows, each with a weight."
        )
    try:
        weights = weights.astype(np.float64)
    except (TypeError, ValueError):
        raise ArgumentError("sample_weight has values that are not numbers.") from None
    wrong = np.flatnonzero(~((weights >= 0) & (weights <= MOST_WEIGHT)))
    if wrong.size:
        row = int(wrong[0])
        raise ArgumentError(
            f"sample_weight of row {row} is {weights[row]:g}: it says how many times the row counts, from 0 to 1e9."
        )
    if not weights.any():
        raise ArgumentError("sample_weight is zero for every row: a weight of 0 leaves a row out, and none is left.")
    return weights


def class_weights(given: Any, classes: Array, counts: Array) -> Floats:
    """The weight of each class; "balanced" makes each class that has rows weigh as much as the others."""
    labels = classes.tolist()
    if isinstance(given, str) and given == "balanced":
        return np.where(counts > 0, counts.sum() / (np.count_nonzero(counts) * np.maximum(counts, 1e-300)), 1.0)
    if not isinstance(given, Mapping):
        raise ArgumentError(f"class_weight is {shown(given)}: it must be None, 'balanced' or a dict {{label: weight}}.")
    unknown = [label for label in given if label not in labels]
    if unknown:
        raise ArgumentError(f"class_weight names {shown(unknown[0])}: the classes are {few(labels, 10)}.")
    return np.array([_class_weight(label, given.get(label, 1.0)) for label in labels])


def _class_weight(label: Any, value: Any) -> float:
    is_number = isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
    if not is_number or not 0 < float(value) <= MOST_WEIGHT:
        raise ArgumentError(
            f"class_weight of {shown(label)} is {shown(value)}: it must be a number above 0, up to 1e9.",
            fix="To leave a class out, leave out its rows.",
        )
    return float(value)
