"""The Perceptron as a scikit-learn classifier."""

from typing import Any

import numpy as np

from linsep.errors import ArgumentError
from linsep.estimators.base import (
    Array,
    ScoreClassifier,
    distinct_labels,
    narrowed,
    require_count,
    require_one_of,
    seed_of,
)
from linsep.halfspace import linear_scores
from linsep.solvers.keeping import Keep, KeepingLearner, WalkOrder, Weights
from linsep.solvers.vanishing import require_scores_of


class PerceptronClassifier(ScoreClassifier):
    """The Perceptron, for two classes or more, dense rows or sparse.

    `keep` says which weights of the run are used: "last" (Rosenblatt), their "average" over all rows walked,
    the "vote" of all of them, each with as many voices as rows it survived (Freund and Schapire), or the "best"
    seen, the pocket (Gallant). `order` is "cyclic" or "shuffled" (a new permutation each pass). More than two
    classes are learned jointly (an update moves the true class and the one mistaken for it), or as one run of
    each class against the rest, "ovr". A row whose class leads by `margin` or less counts as a mistake. The run
    ends with a pass without a mistake, or after `max_passes`.

    Attributes after `fit`: `coef_` and `intercept_` (one row for two classes, else one for each class),
    `classes_`, `n_features_in_`, `n_updates_`, `n_passes_`, `converged_` (the last pass made no mistake; with
    keep="last" and "best", `predict` makes none on these rows either) and `mistakes_per_row_` (for each row of the
    last call). With "ovr" updates and mistakes are those of all runs
    together, and `n_passes_` is the longest run's. With keep="vote" `coef_` holds the last weights, but it is
    the ballot that predicts: `decision_function` gives shares of the voices. At most the latest 65,536 vectors
    vote, each stored as one update.

    >>> from sklearn.datasets import load_iris
    >>> from linsep import PerceptronClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> PerceptronClassifier(random_state=0).fit(X, y).score(X, y) > 0.95
    True

    Freund and Schapire, Large margin classification using the perceptron algorithm, Machine Learning 37 (1999);
    Gallant, Perceptron-based learning algorithms, IEEE Transactions on Neural Networks 1 (1990).
    """

    def __init__(
        self,
        keep: Keep = "average",
        *,
        order: WalkOrder = "shuffled",
        multiclass: str = "joint",
        margin: float = 0.0,
        max_passes: int = 50,
        bias: bool = True,
        random_state: Any = None,
    ) -> None:
        self.keep = keep
        self.order = order
        self.multiclass = multiclass
        self.margin = margin
        self.max_passes = max_passes
        self.bias = bias
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> "PerceptronClassifier":
        """Learn from the rows, starting afresh."""
        require_count("max_passes", self.max_passes)
        X, y = self._read(X, y, reset=True)
        self.classes_ = distinct_labels(y)
        self._start()
        return self._walk(X, y, self.max_passes)

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> "PerceptronClassifier":
        """Learn from one more batch of a stream, in one pass. The first call names all the classes to come."""
        is_first = getattr(self, "_learners", None) is None
        X, y = self._read(X, y, reset=is_first)
        if is_first:
            if classes is None:
                raise ArgumentError("classes is missing: the first call of partial_fit must name all classes.")
            self.classes_ = distinct_labels(classes)
            self._start()
        elif classes is not None and not np.array_equal(self.classes_, np.unique(classes)):
            raise ArgumentError(f"classes is {classes!r}: earlier calls named {self.classes_.tolist()}.")
        return self._walk(X, y, 1)

    def decision_function(self, X: Any) -> Array:
        """w·x + b for each row (for each class, where they are more than two); with keep="vote" the voices.

        The sign and the order of the scores of a row are right at any scale (see `linsep.halfspace.linear_scores`).
        """
        X = self._read_rows(X)
        if self._learners[0].ballot is not None:
            scores = np.hstack([learner.ballot.votes(X) for learner in self._learners if learner.ballot])
        else:
            scores = linear_scores(X, self.coef_, self.intercept_)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def _start(self) -> None:
        require_one_of("multiclass", self.multiclass, ("joint", "ovr"))
        n_classes, seed = len(self.classes_), seed_of(self.random_state)
        self._is_ovr = self.multiclass == "ovr" and n_classes > 2
        self._learners = [
            KeepingLearner(
                2 if self._is_ovr else n_classes,
                self.n_features_in_,
                keep=self.keep,
                order=self.order,
                bias=self.bias,
                margin=self.margin,
                seed=seed,
            )
            for _ in range(n_classes if self._is_ovr else 1)
        ]

    def _walk(self, X: Any, y: Any, max_passes: int) -> "PerceptronClassifier":
        codes, learners = self._encode(y), self._learners
        require_scores_of([X if isinstance(X, np.ndarray) else X.data], *(learner.weights.W for learner in learners))
        self.mistakes_per_row_ = np.zeros(len(codes), np.int64)
        for k, learner in enumerate(learners):
            labels = (codes == k).astype(np.int64) if self._is_ovr else codes
            self.mistakes_per_row_ += learner.walk(X, labels, max_passes)
        kept: list[Weights] = [learner.kept for learner in learners]
        self.coef_ = narrowed(np.vstack([weights.W for weights in kept]), X.dtype)
        self.intercept_ = narrowed(np.concatenate([weights.b for weights in kept]), X.dtype)
        if self.keep in ("last", "best") and not self._is_right(X, codes):
            for learner in learners:
                learner.converged = False
        self._count()
        return self

    def _is_right(self, X: Any, codes: Array) -> bool:
        """Whether `coef_`, which may be rounded to float32, has every row on its side, if the run says so."""
        if not all(learner.converged for learner in self._learners):
            return False
        scores = linear_scores(X, self.coef_, self.intercept_)
        winners = scores[:, 0] > 0 if scores.shape[1] == 1 else scores.argmax(axis=1)
        return bool((winners == codes).all())

    def _count(self) -> None:
        """What the runs did, in all."""
        self.n_updates_ = sum(learner.updates for learner in self._learners)
        self.n_passes_ = max(learner.passes for learner in self._learners)
        self.converged_ = all(learner.converged for learner in self._learners)
