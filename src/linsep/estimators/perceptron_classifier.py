"""The Perceptron as a scikit-learn classifier."""

from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from typing import Any, get_args

import numpy as np
from sklearn.utils.validation import check_is_fitted

from linsep import arguments
from linsep.errors import ArgumentError, InputError
from linsep.estimators.score_classifier import (
    Array,
    ScoreClassifier,
    distinct_labels,
    handed,
    narrowed,
    scores_where_rows_lie,
    seed_of,
)
from linsep.estimators.training_rows import (
    HeldOut,
    TrainingRows,
    class_weights,
    read_weights,
    require_same_rows,
    rows_in_memory,
    rows_of_source,
)
from linsep.halfspace import linear_scores
from linsep.learners.kept_weights import Weights
from linsep.learners.learner import Learner
from linsep.learners.mixing import Mixing
from linsep.learners.perceptron import Keep, Perceptron, Rule, WalkOrder
from linsep.learners.vanishing import require_scores
from linsep.solvers.scaling import require_columns
from linsep.sources.base import Block, Floats, Ints, Source
from linsep.sources.inputs import is_elsewhere
from linsep.sources.relabelled import against_the_rest, in_doubles

BYTES_A_WEIGHT = 64  # for a run and the weights that it keeps


@dataclass(eq=False, repr=False)
class PerceptronClassifier(ScoreClassifier):
    """The Perceptron, for two classes or more, dense rows or sparse.

    `fit(source)` and `partial_fit(source)` learn from files (`linsep.open`) block by block, with the labels of the
    source. In row order (order="cyclic") the weights are those of the same rows in memory. `fit(X, y)` of Dask
    collections learns on their cluster: each partition by itself, and the weights are mixed after each pass (see
    `learners/mixing.py`). The result depends on how rows are partitioned, not on the number of workers.

    Where columns are far from 0 or of very different scales, a run may need millions of updates. Centre and scale them
    first, with scikit-learn's StandardScaler in a pipeline: then a few are often enough.

    Freund and Schapire, Large margin classification using the perceptron algorithm, Machine Learning 37 (1999);
    Gallant, Perceptron-based learning algorithms, IEEE Transactions on Neural Networks 1 (1990); Crammer and others,
    Online passive-aggressive algorithms, JMLR 7 (2006); Crammer, Kulesza and Dredze, Adaptive regularization of
    weight vectors, NIPS 2009.

    Parameters
    ----------
    keep : "average", "last", "vote" or "best"
        Which weights of the run are used: the last (Rosenblatt); their average over all rows visited; all of them,
        each with one vote for every row it survived (Freund and Schapire; at most the latest 65,536 vote); or the
        best seen, the pocket (Gallant).
    rule, C : "perceptron", "pa1", "pa2" or "arow"; float
        How far an update goes: "perceptron" adds the row once; the passive-aggressive "pa1" and "pa2" go until the row
        has a gap of 1, as far as `C` allows; "arow" goes farther along weights that are less well known (second
        order).
    order : "shuffled" or "cyclic"
        A new permutation for each pass, or row order.
    multiclass : "joint" or "ovr"
        More than two classes are learned jointly (an update moves the true class and the one mistaken for it), or as
        one run of each class against the rest.
    margin : float
        A row whose class leads by this much or less counts as a mistake.
    max_passes : int
        The run ends with a pass without a mistake, or after this many passes.
    bias : bool
        Fit a bias (intercept) term.
    class_weight : dict, "balanced" or None
        Multiplies `sample_weight`, which says how many times a row counts: a row of weight 3 is three copies of it in
        succession, a row of weight 0 is left out, and with a weight of 2.5 the third visit counts half.
    warm_start : bool
        The next `fit` resumes from where the last one ended.
    stop_after, held_out : int or None, float
        A part of the rows, `held_out`, is not learned from. The run ends after `stop_after` passes without a better
        score on that part, and `coef_` is that of the best pass.
    random_state : int, RandomState or None
        Seeds the shuffling.

    Attributes
    ----------
    coef_, intercept_ : arrays
        One row for two classes, else one for each class. With keep="vote" there is no `coef_`, since no single vector
        predicts as the vote does: `decision_function` gives shares of the votes.
    classes_, n_features_in_
        The labels, sorted, and the number of columns.
    n_updates_, n_passes_, n_iter_ : int
        `n_iter_` counts the passes of the last call. With "ovr", `n_updates_` is the sum over all runs, and `n_passes_`
        is that of the longest run.
    converged_ : bool
        The last pass made no mistake; with keep="last" and "best", `predict` makes none on these rows either.
    mistakes_per_row_ : array or None
        For each row of the last call; None for files, which may have more rows than memory can hold.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from linsep import PerceptronClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> PerceptronClassifier(random_state=0).fit(X, y).score(X, y) > 0.95
    True
    """

    keep: Keep = "average"
    _: KW_ONLY
    rule: Rule = "perceptron"
    C: float = 1.0
    order: WalkOrder = "shuffled"
    multiclass: str = "joint"
    margin: float = 0.0
    max_passes: int = 50
    bias: bool = True
    class_weight: Any = None
    warm_start: bool = False
    stop_after: int | None = None
    held_out: float = 0.1
    random_state: Any = None

    def fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, coef_init: Any = None, intercept_init: Any = None
    ) -> "PerceptronClassifier":
        """Learn from the rows.

        Parameters
        ----------
        X, y : the rows and their labels
            Arrays, sparse matrices, dataframes, Dask collections; or a source, which brings its labels.
        sample_weight : array or None
            How many times each row counts.
        coef_init, intercept_init : arrays or None
            The weights to begin with; else 0, or with `warm_start` those of the last fit.

        Returns
        -------
        PerceptronClassifier
            Itself, fitted.

        Raises
        ------
        InputError
            The data cannot be used; the message names the row and the column.
        """
        arguments.whole("max_passes", self.max_passes, 1)
        if self.stop_after is not None:
            self._require_stopping()
        is_afresh = (
            coef_init is not None or intercept_init is not None or not arguments.flag("warm_start", self.warm_start)
        )
        rows = self._taken(X, y, None, sample_weight, reset=is_afresh or not hasattr(self, "_learners"))
        if coef_init is not None or intercept_init is not None:
            self._begin_at(coef_init, intercept_init)
        if self.stop_after is not None:
            rows = rows.without(arguments.part("held_out", self.held_out), seed_of(self.random_state))
        return self._walk(rows, self.max_passes)

    def partial_fit(
        self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None
    ) -> "PerceptronClassifier":
        """Learn from one more batch of a stream, in one pass.

        Parameters
        ----------
        X, y : the rows and their labels
            As `fit` takes them.
        classes : array or None
            All the classes to come, named in the first call. If a first source comes without them, its classes are all
            there are.
        sample_weight : array or None
            How many times each row counts.

        Returns
        -------
        PerceptronClassifier
            Itself.

        Raises
        ------
        InputError
            The data cannot be used, or they have a class that was not named.
        """
        is_first = not hasattr(self, "_learners")
        if self.stop_after is not None:
            raise ArgumentError("stop_after counts passes, and partial_fit makes one: leave it out.")
        if isinstance(self.class_weight, str):
            raise ArgumentError(
                f"class_weight is {self.class_weight!r}: a batch does not tell how many rows of each class will come.",
                fix="Give partial_fit a dict {label: weight}, or sample_weight.",
            )
        if not is_first and classes is not None and not np.array_equal(self.classes_, np.unique(classes)):
            raise ArgumentError(f"classes is {classes!r}: earlier calls named {self.classes_.tolist()}.")
        X, y = handed(X, y)
        if is_first and classes is None and not isinstance(X, Source):
            raise ArgumentError("classes is missing: the first call of partial_fit must name all classes.")
        return self._walk(self._taken(X, y, classes, sample_weight, reset=is_first), 1)

    def _taken(self, X: Any, y: Any, classes: Any, sample_weight: Any, *, reset: bool) -> TrainingRows:
        """Rows to learn from; a new run takes its columns and classes from them."""
        X, y = handed(X, y)
        if isinstance(X, Source):
            source = in_doubles(self._read_source(X, y, classes, reset=reset))
            taken = rows_of_source(source, sample_weight, self.class_weight, self.classes_)
        else:
            require_same_rows(X, sample_weight)
            X, y = self._read(X, y, reset=reset)
            taken = self._counted(X, y, classes, sample_weight, reset=reset)
        if reset:
            self._start()
        return taken

    def _counted(self, X: Any, y: Array, classes: Any, sample_weight: Any, *, reset: bool) -> TrainingRows:
        """The rows of a table whose weight is above 0, with their weights."""
        n_given, rows, weights = len(y), None, None
        if sample_weight is not None:
            weights = read_weights(sample_weight, n_given)
            if not weights.all():
                rows = np.flatnonzero(weights)
                X, y, weights = X[rows], y[rows], weights[rows]
        if reset:
            self.classes_ = distinct_labels(y if classes is None else classes)
        codes = self._encode(y)
        if self.class_weight is not None:
            counts = np.bincount(codes, weights, minlength=len(self.classes_))
            of_rows = class_weights(self.class_weight, self.classes_, counts)[codes]
            weights = of_rows if weights is None else weights * of_rows
        return replace(rows_in_memory(X, codes, weights, self.classes_), n_given=n_given, rows=rows)

    def __getattr__(self, name: str) -> Any:
        if name in ("coef_", "intercept_") and "_learners" in self.__dict__:
            raise AttributeError(
                f"There is no {name} with keep='vote': many vectors vote, and no single one predicts what they do. "
                "Use decision_function, or fit with keep='average'."
            )
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def decision_function(self, X: Any) -> Array:
        """w·x + b for each row (for each class, where there are more than two); with keep="vote" the votes.

        The sign and the order of the scores of a row are right at any scale (see `linsep.halfspace.linear_scores`).
        """
        if is_elsewhere(X):
            return scores_where_rows_lie(self, X)
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
                rule=self.rule,
                C=self.C,
                seed=seed,
            )
            for _ in range(n_classes if self._is_ovr else 1)
        ]

    def _require_stopping(self) -> None:
        arguments.whole("stop_after", self.stop_after, 1)
        if self.keep not in ("last", "average"):
            raise ArgumentError(
                f"keep is {self.keep!r}: stop_after chooses among the weights of passes.",
                fix="Choose keep='average' or 'last', or leave stop_after out.",
            )

    def _begin_at(self, coef: Any, intercept: Any) -> None:
        """Start from these weights instead of 0."""
        vectors, n_columns = 1 if len(self.classes_) == 2 else len(self.classes_), self.n_features_in_
        W = read_initial("coef_init", coef, (vectors, n_columns))
        b = read_initial("intercept_init", intercept, (vectors,))
        if b.any() and not self.bias:
            raise ArgumentError("intercept_init is not 0, and bias=False keeps the hyperplane through the origin.")
        for k, learner in enumerate(self._learners):
            own = slice(k, k + 1) if self._is_ovr else slice(None)
            learner.weights = Weights(W[own].copy(), b[own].copy())
            learner.pocket.weights = learner.weights.copy()

    def _take_weights(self, kind: Any) -> None:
        """The weights that predict as attributes; a vote has none."""
        if self._learners[0].keep == "vote":
            for name in ("coef_", "intercept_"):
                self.__dict__.pop(name, None)
            return
        kept: list[Weights] = [learner.kept for learner in self._learners]
        self.coef_: Array = narrowed(np.vstack([weights.W for weights in kept]), kind)
        self.intercept_: Array = narrowed(np.concatenate([weights.b for weights in kept]), kind)

    def _walk(self, rows: TrainingRows, max_passes: int) -> "PerceptronClassifier":
        source, before = rows.source, [learner.passes for learner in self._learners]
        sources = [against_the_rest(source, k) for k in range(len(self.classes_))] if self._is_ovr else [source]
        require_scores(source, *(learner.weights.W for learner in self._learners))  # runs differ in labels alone
        try:
            if rows.held_out is None:
                counts = self._run(sources, max_passes)
                self._take_weights(rows.kind)
            else:
                counts = self._stopping(sources, rows.held_out, rows.kind, max_passes)
        except InputError as error:
            raise error.at(row=rows.row_given(error.row)) from None
        self.mistakes_per_row_ = rows.in_place(counts)
        if self.keep in ("last", "best") and not self._is_right(source, is_last=rows.held_out is None):
            for learner in self._learners:
                learner.converged = False
        self._count()
        self.n_iter_ = max(learner.passes - made for learner, made in zip(self._learners, before, strict=True))
        return self

    def _run(self, sources: list[Source], max_passes: int) -> Ints | None:
        """Do every run, to its end or for at most `max_passes`; return the mistakes on each row."""
        kind_of_run = Mixing if sources[0].facts.is_elsewhere else Learner
        counts = []
        for learner, source in zip(self._learners, sources, strict=True):
            run = kind_of_run(source, learner, max_passes=max_passes).run()
            learner.require_finite()
            counts += [] if run.mistakes_per_row is None else [run.mistakes_per_row]
        return sum(counts[1:], counts[0]) if counts else None

    def _stopping(self, sources: list[Source], held_out: HeldOut, kind: Any, max_passes: int) -> Ints:
        """The same pass by pass, until `stop_after` passes bring no better score on held-out rows; keep the best."""
        counts, best, since = np.zeros(sources[0].n_rows, np.int64), -1.0, 0
        for _ in range(max_passes):
            made = self._run(sources, 1)
            counts += 0 if made is None else made
            self._take_weights(kind)
            score, since = held_out.score(self.coef_, self.intercept_), since + 1
            if score > best:
                best, since, coef, intercept = score, 0, self.coef_, self.intercept_
            if since == self.stop_after or all(learner.converged for learner in self._learners):
                break
        self.coef_, self.intercept_ = coef, intercept
        return counts

    def _is_right(self, source: Source, *, is_last: bool) -> bool:
        """Whether the runs converged and `coef_`, which may be rounded to float32, has every row on its side too."""
        if not all(learner.converged for learner in self._learners):
            return False
        if is_last and len(self.coef_) == 1 and self.coef_.dtype == np.float64:
            return True  # the run has checked doubtful rows exactly
        return all(source.each(partial(_are_right, self.coef_, self.intercept_)))

    def _count(self) -> None:
        """What the runs did, in all."""
        self.n_updates_ = sum(learner.updates for learner in self._learners)
        self.n_passes_ = max(learner.passes for learner in self._learners)
        self.converged_ = all(learner.converged for learner in self._learners)


def read_initial(name: str, given: Any, shape: tuple[int, ...]) -> Floats:
    """Weights of this shape, or 0 if none are given; a single row may be flat, a single number may stand alone."""
    if given is None:
        return np.zeros(shape)
    try:
        values = np.array(given, np.float64)
    except (TypeError, ValueError):
        raise ArgumentError(f"{name} has values that are not numbers.") from None
    if values.shape != shape and not (shape[0] == 1 and values.size == np.prod(shape)):
        raise ArgumentError(f"{name} has the shape {values.shape}: it must be {shape}.")
    if not np.isfinite(values).all():
        raise ArgumentError(f"{name} has values that are not finite.")
    return values.reshape(shape)


def _are_right(W: Array, b: Array, block: Block) -> bool:
    """Whether the weights have all rows of a block on their side."""
    scores = linear_scores(block.values, W, b)
    winners = 2 * (scores[:, 0] > 0) - 1 if scores.shape[1] == 1 else scores.argmax(axis=1)
    return bool((winners == block.y).all())
