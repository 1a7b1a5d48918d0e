"""The hyperplane with the fewest mistakes as a scikit-learn classifier, with its proof."""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np

from linsep.errors import ArgumentError, shown
from linsep.estimators.score_classifier import Array
from linsep.estimators.verdict_classifier import Plane, VerdictClassifier
from linsep.proofs.fewest_mistakes import FewestMistakes
from linsep.questions.mistakes import fewest_mistakes
from linsep.report import Grid, Report, label_text
from linsep.solvers.fewest.mistake_costs import as_written
from linsep.sources.base import Floats


@dataclass(eq=False, repr=False)
class FewestMistakesClassifier(VerdictClassifier):
    """The hyperplane with the fewest mistakes on its training rows; more than two classes by one against the rest.

    Each problem comes with what `fewest_mistakes` returns: the hyperplane, its mistakes, and a proof of how few are
    possible. On tables larger than a few hundred rows the search usually runs until its time limit. What it has found
    by then depends on the machine: fit twice, and the hyperplanes may differ.

    Parameters
    ----------
    cost : mapping or None
        The cost of a mistake about a row of each class: {"healthy": 1, "ill": 5}. None: every mistake costs 1. The
        `sample_weight` of `fit` multiplies it.
    bias : bool
        False asks for hyperplanes through the origin.
    time_limit : float or None
        Seconds for each problem; None for as long as it takes.

    Attributes
    ----------
    classes_ : array
        The labels, sorted.
    coef_, intercept_ : arrays
        One hyperplane for each problem, coef_ of length 1: scores are signed distances.
    verdicts_ : list of FewestMistakes
        One for each problem: for two classes on (X, y), else on (X, y == label).
    best_, lower_ : arrays
        The cost of the mistakes of each hyperplane, and the least that those of any hyperplane can cost.
    optimal_ : bool
        Whether it is proved for every problem that no hyperplane does better.
    verdict_ : FewestMistakes
        With two classes there is one problem: its verdict.

    Examples
    --------
    >>> import linsep
    >>> fitted = linsep.FewestMistakesClassifier().fit([[0.0], [1.0], [2.0], [3.0]], ["a", "b", "a", "b"])
    >>> fitted.best_.tolist(), fitted.optimal_, fitted.verdict_.mistaken_rows
    ([1.0], True, (2,))
    """

    _: KW_ONLY
    cost: Mapping[Any, Any] | None = None
    bias: bool = True
    time_limit: float | None = 10

    def report(self) -> Report:
        """What `explain` says, as a value."""
        if len(self.verdicts_) == 1:
            found: Report = self.verdict_.report()
            return found
        rows = zip(self.classes_.tolist(), self.verdicts_, strict=True)
        cells = tuple((label_text(label), f"{one.best:g}", f"{one.lower:g}") for label, one in rows)
        what = "mistakes" if self.cost is None else "cost"
        grid = Grid(("class against the rest", what, "at least (proved)"), cells)
        ended = "No hyperplane does better." if self.optimal_ else "Fewer mistakes may be possible."
        return Report(ended, (grid,), "yes" if self.optimal_ else "unsure")

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the hyperplanes, each with its proof, where the rows are: in memory, in files, on Dask or on a GPU.

        Parameters
        ----------
        X, y : the rows and their labels
        sample_weight : array or None
            For rows in memory: how many times each row counts. It multiplies the cost of a mistake about the row, taken
            exactly as written; a row of weight 0 may lie on either side.
        """
        return self._fit(X, y, sample_weight)

    def _judged(
        self, X: Any, labels: Array | None, y: Array | None = None, weights: Floats | None = None
    ) -> FewestMistakes:
        cost = self._costs(y)
        if weights is not None:
            each = [1] * len(weights) if cost is None else cost
            cost = [as_written(weight) * as_written(one) for weight, one in zip(weights.tolist(), each, strict=True)]
        return fewest_mistakes(X, labels, cost=cost, bias=self.bias, time_limit=self.time_limit)

    def _costs(self, y: Array | None) -> Any:
        """The cost of each row; for a source, whose labels are not in memory, that of each of the two classes."""
        if self.cost is None or (y is None and len(self.classes_) == 2):
            return self.cost
        if y is None:
            raise ArgumentError("cost can be given for two classes alone, where the rows are those of a source.")
        classes = self.classes_.tolist()
        if not isinstance(self.cost, Mapping) or set(self.cost) != set(classes):
            raise ArgumentError(f"cost is {shown(self.cost)}: it must have a number for each class of {classes}.")
        each = [self.cost[label] for label in classes]
        return [each[code] for code in self._encode(y).tolist()]

    def _state(self, verdicts: tuple[FewestMistakes, ...]) -> None:
        self.verdicts_ = verdicts
        self.best_ = np.array([float(found.best) for found in verdicts])
        self.lower_ = np.array([float(found.lower) for found in verdicts])
        self.optimal_ = all(found.optimal for found in verdicts)

    def _plane(self, verdict: FewestMistakes, X: Any, labels: Array | None) -> Plane:
        return self._exact_plane(verdict, X, labels, verdict.mistaken_rows)
