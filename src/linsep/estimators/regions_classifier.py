"""Regions between hyperplanes as a scikit-learn classifier: no mistakes on the training rows, and rules in words."""

from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar

import numpy as np

from linsep.estimators.score_classifier import (
    Array,
    ScoreClassifier,
    distinct_labels,
    labels_where_rows_lie,
    scores_where_rows_lie,
)
from linsep.halfspace import Halfspace
from linsep.questions.regions import separate_regions
from linsep.report import Report
from linsep.signs import scaled_floats
from linsep.sources.base import Floats, Ints, Source
from linsep.sources.inputs import is_elsewhere

LEAST = float(np.finfo(np.float64).tiny)  # a row on a hyperplane counts as below it


@dataclass(eq=False, repr=False)
class RegionsClassifier(ScoreClassifier):
    """A short list of hyperplanes that puts every training row into a region of its class; any number of classes.

    Only rows that equal a row of another class are mistakes. See `separate_regions`, which finds the hyperplanes.

    Parameters
    ----------
    time_limit : float or None
        Seconds for the search. After that the remaining rows are divided column by column.

    Attributes
    ----------
    classes_ : array
        The labels, sorted.
    regions_ : Regions
        The hyperplanes and what they say.
    n_cuts_ : int
        How many hyperplanes there are.

    Examples
    --------
    >>> from linsep.estimators.regions_classifier import RegionsClassifier
    >>> fitted = RegionsClassifier().fit([[1.0], [2.0], [3.0], [4.0]], ["a", "b", "b", "a"])
    >>> fitted.n_cuts_, fitted.predict([[0.0], [2.5], [9.0]]).tolist()
    (2, ['a', 'b', 'a'])
    """

    _number_types: ClassVar[Any] = "numeric"  # numbers keep their type: nothing is rounded before it is checked

    _: KW_ONLY
    time_limit: float | None = 60

    def fit(self, X: Any, y: Any = None) -> "RegionsClassifier":
        """Find the hyperplanes. A source, which brings its labels, is read into memory."""
        if isinstance(X, Source):
            found = separate_regions(self._read_source(X, y, reset=True), time_limit=self.time_limit)
        else:
            X, y = self._read(X, y, reset=True)
            self.classes_ = distinct_labels(y)
            found = separate_regions(X, self._encode(y), time_limit=self.time_limit)
        names = getattr(self, "feature_names_in_", None)
        known = tuple(self.classes_.tolist())
        self.regions_ = replace(found, classes=known, names=None if names is None else tuple(map(str, names)))
        return self

    @property
    def n_cuts_(self) -> int:
        """How many hyperplanes there are."""
        return len(self.regions_.cuts)

    def predict(self, X: Any) -> Array:
        """The class of each row's region; for a Dask collection as a Dask array."""
        if is_elsewhere(X):
            return labels_where_rows_lie(self, X)
        numbers = self.apply(X)
        labels: Array = self.classes_[self.regions_.codes_of(numbers)]
        return labels

    def apply(self, X: Any) -> Ints:
        """The number of each row's region; regions are counted from 0, in the order of the printed rules."""
        found = [self.regions_.regions_of(rows) for rows in self._read_blocks(X)]
        return np.concatenate(found)

    def decision_function(self, X: Any) -> Floats:
        """The distance of each row to the nearest hyperplane it was compared with, negative for the other classes.

        One number for two classes, one for each class otherwise.
        """
        if is_elsewhere(X):
            return scores_where_rows_lie(self, X)
        parts = [self._depths(rows) for rows in self._read_blocks(X)]
        depths, codes = (np.concatenate(part) for part in zip(*parts, strict=True))
        signed = np.where(codes[:, None] == np.arange(len(self.classes_)), depths[:, None], -depths[:, None])
        return signed if len(self.classes_) > 2 else signed[:, 1]

    def _depths(self, rows: Any) -> tuple[Floats, Ints]:
        """The distance of each row to the nearest hyperplane on its way, and the class where the way ends."""
        depths, codes = np.full(rows.shape[0], np.inf), self.regions_.codes_of(self.regions_.regions_of(rows))
        for k, own, _ in self.regions_.walk(rows):
            cut = self.regions_.cuts[k]
            floats, _ = scaled_floats((*cut.weights, cut.bias_weight))
            if len(own):
                depths[own] = np.minimum(depths[own], Halfspace(floats[:-1], float(floats[-1])).distance(rows[own]))
        return np.clip(depths, LEAST, np.finfo(np.float64).max), codes

    def report(self) -> Report:
        """What `explain` says, as a value."""
        return self.regions_.report()
