"""The Perceptron as a scikit-learn classifier."""

from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any, get_args

import numpy as np
from sklearn.utils.validation import check_is_fitted

from linsep import arguments
from linsep.errors import ArgumentError
from linsep.estimators.score_classifier import (
    Array,
    ScoreClassifier,
    distinct_labels,
    handed,
    labelled,
    narrowed,
    seed_of,
)
from linsep.halfspace import linear_scores
from linsep.solvers.kept_weights import Weights
from linsep.solvers.learner import Learner
from linsep.solvers.mixing import Mixing
from linsep.solvers.perceptron import Keep, Perceptron, WalkOrder
from linsep.solvers.scaling import require_columns
from linsep.solvers.vanishing import require_scores
from linsep.sources.base import Block, Source
from linsep.sources.relabelled import against_the_rest

BYTES_A_WEIGHT = 64  # of a run and what it keeps


@dataclass(eq=False, repr=False)
class PerceptronClassifier(ScoreClassifier):
    """The Perceptron, for two classes or more, dense rows or sparse.

    `keep` says which weights of the run are used: "last" (Rosenblatt), their "average" over all rows visited,
    the "vote" of all of them, each with one vote for each row it survived (Freund and Schapire), or the "best"
    seen, the pocket (Gallant). `order` is "cyclic" or "shuffled" (a new permutation each pass). More than two
    classes are learned jointly (an update moves the true class and the one mistaken for it), or as one run of
    each class against the rest, "ovr". A row whose class leads by `margin` or less counts as a mistake. The run
    ends with a pass without a mistake, or after `max_passes`.

    `fit(source)` and `partial_fit(source)` learn from files (`linsep.open`) block by block, with the labels of the
    source. In row order (order="cyclic") the weights are those of the same rows in memory. `mistakes_per_row_` is None
    then: nothing has the length of the data.

    `fit(X, y)` of Dask collections learns on their cluster: each partition by itself, and the weights are mixed after
    each pass (see `solvers/mixing.py`). The result depends on how rows are partitioned, not on the number of workers.

    Attributes after `fit`: `coef_` and `intercept_` (one row for two classes, else one for each class),
    `classes_`, `n_features_in_`, `n_updates_`, `n_passes_`, `converged_` (the last pass made no mistake; with
    keep="last" and "best", `predict` makes none on these rows either) and `mistakes_per_row_` (for each row of the
    last call). With "ovr" updates and mistakes are those of all runs
    together, and `n_passes_` is the longest run's. With keep="vote" `coef_` holds the last weights, but it is
    the ballot that predicts: `decision_function` gives shares of the votes. At most the latest 65,536 vectors
    vote, each stored as one update.

    >>> from sklearn.datasets import load_iris
    >>> from linsep import PerceptronClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> PerceptronClassifier(random_state=0).fit(X, y).score(X, y) > 0.95
    True

    Freund and Schapire, Large margin classification using the perceptron algorithm, Machine Learning 37 (1999);
    Gallant, Perceptron-based learning algorithms, IEEE Transactions on Neural Networks 1 (1990).
    """

    keep: Keep = "average"
    _: KW_ONLY
    order: WalkOrder = "shuffled"
    multiclass: str = "joint"
    margin: float = 0.0
    max_passes: int = 50
    bias: bool = True
    random_state: Any = None

    def fit(self, X: Any, y: Any = None) -> "PerceptronClassifier":
        """Learn from the rows, starting afresh."""
        arguments.whole("max_passes", self.max_passes, 1)
        source, kind = self._taken(X, y, reset=True)
        return self._walk(source, self.max_passes, kind)

    def partial_fit(self, X: Any, y: Any = None, classes: Any = None) -> "PerceptronClassifier":
        """Learn from one more batch of a stream, in one pass. The first call names all the classes to come.

        Where they are not named, those of the first source are all.
        """
        is_first = getattr(self, "_learners", None) is None
        if not is_first and classes is not None and not np.array_equal(self.classes_, np.unique(classes)):
            raise ArgumentError(f"classes is {classes!r}: earlier calls named {self.classes_.tolist()}.")
        X, y = handed(X, y)
        if is_first and classes is None and not isinstance(X, Source):
            raise ArgumentError("classes is missing: the first call of partial_fit must name all classes.")
        source, kind = self._taken(X, y, classes, reset=is_first)
        return self._walk(source, 1, kind)

    def _taken(self, X: Any, y: Any, classes: Any = None, *, reset: bool) -> tuple[Source, Any]:
        """Rows to learn from, and their number type; a run that begins takes its columns and classes from them."""
        X, y = handed(X, y)
        if isinstance(X, Source):
            source, kind = self._read_source(X, y, classes, reset=reset), np.dtype(np.float64)
        else:
            X, y = self._read(X, y, reset=reset)
            if reset:
                self.classes_ = distinct_labels(y if classes is None else classes)
            source, kind = labelled(X, self._encode(y), self.classes_), X.dtype
        if reset:
            self._start()
        return source, kind

    def decision_function(self, X: Any) -> Array:
        """w·x + b for each row (for each class, where there are more than two); with keep="vote" the votes.

        The sign and the order of the scores of a row are right at any scale (see `linsep.halfspace.linear_scores`).
        """
        check_is_fitted(self)
        if self._learners[0].ballot is None:
            scores = self._linear_scores(X, self.coef_, self.intercept_)
        else:
            scores = np.concatenate([self._votes(rows) for rows in self._read_blocks(X)])
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def _votes(self, X: Any) -> Array:
        return np.hstack([learner.ballot.votes(X) for learner in self._learners if learner.ballot])

    def _start(self) -> None:
        arguments.one_of("multiclass", self.multiclass, ("joint", "ovr"))
        arguments.one_of("order", self.order, get_args(WalkOrder))
        n_classes, seed = len(self.classes_), seed_of(self.random_state)
        self._is_ovr = self.multiclass == "ovr" and n_classes > 2
        require_columns(self.n_features_in_, BYTES_A_WEIGHT * (1 if n_classes == 2 else n_classes))
        self._learners = [
            Perceptron(
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

    def _walk(self, source: Source, max_passes: int, kind: Any) -> "PerceptronClassifier":
        sources = [against_the_rest(source, k) for k in range(len(self.classes_))] if self._is_ovr else [source]
        require_scores(source, *(learner.weights.W for learner in self._learners))  # runs differ in labels alone
        kind_of_run = Mixing if source.facts.is_elsewhere else Learner
        runs = [
            kind_of_run(own, learner, max_passes=max_passes).run()
            for learner, own in zip(self._learners, sources, strict=True)
        ]
        for learner in self._learners:
            learner.require_finite()
        counts = [run.mistakes_per_row for run in runs if run.mistakes_per_row is not None]
        self.mistakes_per_row_ = sum(counts[1:], counts[0]) if counts else None
        kept: list[Weights] = [learner.kept for learner in self._learners]
        self.coef_ = narrowed(np.vstack([weights.W for weights in kept]), kind)
        self.intercept_ = narrowed(np.concatenate([weights.b for weights in kept]), kind)
        if self.keep in ("last", "best") and not self._is_right(source):
            for learner in self._learners:
                learner.converged = False
        self._count()
        return self

    def _is_right(self, source: Source) -> bool:
        """Whether `coef_`, which may be rounded to float32, has every row on its side, if the run says so."""
        if not all(learner.converged for learner in self._learners):
            return False
        if len(self.coef_) == 1 and self.coef_.dtype == np.float64:
            return True  # the run has looked at doubtful rows exactly
        return all(source.each(partial(_are_right, self.coef_, self.intercept_)))

    def _count(self) -> None:
        """What the runs did, in all."""
        self.n_updates_ = sum(learner.updates for learner in self._learners)
        self.n_passes_ = max(learner.passes for learner in self._learners)
        self.converged_ = all(learner.converged for learner in self._learners)


def _are_right(W: Array, b: Array, block: Block) -> bool:
    """Whether the weights have all rows of a block on their side."""
    scores = linear_scores(block.values, W, b)
    winners = 2 * (scores[:, 0] > 0) - 1 if scores.shape[1] == 1 else scores.argmax(axis=1)
    return bool((winners == block.y).all())
