"""Linear classifiers with a verdict for each hyperplane: one for two classes, else each class against the rest."""

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from linsep.errors import RoundedWarning
from linsep.estimators.score_classifier import Array, ScoreClassifier, distinct_labels, handed, scores_where_rows_lie
from linsep.estimators.training_rows import read_weights, require_no_weights, require_same_rows
from linsep.halfspace import Halfspace, linear_scores
from linsep.proofs import HalfspaceVerdict, Verdict
from linsep.signs import scaled_floats
from linsep.sources.base import Block, Floats, Ints, Source
from linsep.sources.inputs import is_elsewhere
from linsep.sources.relabelled import against_the_rest

MULTIPLES = (1, *range(3, 64, 2))  # a multiple of a hyperplane may fit into doubles where the hyperplane does not

Plane = tuple[Floats, float]


class VerdictClassifier(ScoreClassifier):
    """What the classifiers with proofs share. A subclass says how a problem is decided and what its hyperplane is."""

    _number_types: ClassVar[Any] = "numeric"  # numbers keep their type: nothing is rounded before it is proved
    verdicts_: tuple[Any, ...]

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the hyperplanes, each with its proof, where the rows are: in memory, in files, on Dask or on a GPU."""
        return self._fit(X, y)

    def _fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        X, y = handed(X, y)
        if isinstance(X, Source):
            require_no_weights(sample_weight)
            return self._fit_source(self._read_source(X, y, reset=True))
        require_same_rows(X, sample_weight)
        X, y = self._read(X, y, reset=True)
        weights = None if sample_weight is None else read_weights(sample_weight, len(y))
        self.classes_ = distinct_labels(y if weights is None else y[weights > 0])
        if weights is not None:  # a row of weight 0 costs nothing on either side: any label will do
            y = np.where(np.isin(y, self.classes_), y, self.classes_[0])
        problems = [y] if len(self.classes_) == 2 else [y == label for label in self.classes_]
        self._state(tuple(self._named(self._judged(X, labels, y, weights)) for labels in problems))
        self._warn()
        planes = [self._plane(verdict, X, labels) for verdict, labels in zip(self.verdicts_, problems, strict=True)]
        self.coef_, self.intercept_ = np.stack([w for w, _ in planes]), np.array([b for _, b in planes])
        return self

    def _fit_source(self, source: Source) -> Self:
        """The same for rows of a source, which brings its labels."""
        n_classes = len(self.classes_)
        problems = [source] if n_classes == 2 else [against_the_rest(source, k) for k in range(n_classes)]
        self._state(tuple(self._named(self._judged(problem, None)) for problem in problems))
        self._warn()
        planes = [self._plane(verdict, own, None) for verdict, own in zip(self.verdicts_, problems, strict=True)]
        self.coef_, self.intercept_ = np.stack([w for w, _ in planes]), np.array([b for _, b in planes])
        return self

    def decision_function(self, X: Any) -> Floats:
        """The signed distance of each row: one number for two classes, one for each class otherwise."""
        if is_elsewhere(X):
            return scores_where_rows_lie(self, X)
        check_is_fitted(self)
        scores: Floats = self._linear_scores(X, self.coef_, self.intercept_)
        return scores if len(self.classes_) > 2 else scores[:, 0]

    @property
    def verdict_(self) -> Any:
        """The verdict on two classes."""
        return self._only(self.verdicts_)

    def _judged(self, X: Any, labels: Array | None, y: Array | None = None, weights: Floats | None = None) -> Verdict:
        """The verdict on one problem; `y` holds the classes of the rows. A source brings its own labels."""
        raise NotImplementedError

    def _state(self, verdicts: tuple[Any, ...]) -> None:
        """Take the verdicts, and what follows from them."""
        raise NotImplementedError

    def _plane(self, verdict: Any, X: Any, labels: Array | None) -> Plane:
        """The hyperplane of a problem, its weights of length 1."""
        raise NotImplementedError

    def _warn(self) -> None:
        """Say what the user should know about the verdicts."""

    def _named(self, verdict: Verdict) -> Verdict:
        """The verdict with the columns' names, so that it explains itself in the user's words."""
        names = getattr(self, "feature_names_in_", None)
        return verdict if names is None else replace(verdict, names=tuple(map(str, names)))

    def _only(self, values: Any) -> Any:
        if len(values) > 1:
            raise AttributeError(f"There are {len(values)} problems: see verdicts_.")
        return values[0]

    def _exact_plane(self, verdict: HalfspaceVerdict, X: Any, labels: Array | None, wrong: Sequence[int] = ()) -> Plane:
        """The hyperplane of a verdict in doubles; with two classes, a multiple that is right where the verdict is."""
        planes = _planes(verdict)
        if len(self.classes_) > 2:  # several must have the same length to be comparable
            return next(planes)
        if isinstance(X, Source):
            excused = np.array(sorted(wrong), np.int64)
            return _faithful(planes, lambda w, b: all(X.each(partial(_is_faithful, w, b, excused))))
        signs = np.where(labels == verdict.labels[1], 1, -1)
        signs[list(wrong)] = 0
        return _faithful(planes, partial(_has_signs, X, signs))


def _planes(verdict: HalfspaceVerdict) -> Iterator[Plane]:
    """The hyperplane with weights of length 1, then multiples of its integers, which round differently."""
    exact = (*verdict.weights, verdict.bias_weight)
    for times in (0, *MULTIPLES):
        floats = scaled_floats([(times or 1) * weight for weight in exact])[0]
        plane = floats[:-1], float(floats[-1])
        yield plane if times else unit(*plane)


def _has_signs(X: Any, signs: Array, w: Floats, b: float) -> bool:
    """Whether a plane has every row whose sign is not 0 on its side."""
    scores = linear_scores(X, w[None], np.array([b]))[:, 0]
    return bool(((signs * scores > 0) | (signs == 0)).all())


def _is_faithful(w: Floats, b: float, excused: Ints, block: Block) -> bool:
    """The same for the rows of a block, except those that are mistakes anyway."""
    return _has_signs(block.values, np.where(np.isin(block.row_numbers, excused), 0, block.y), w, b)


def _faithful(planes: Iterator[Plane], is_right: Callable[[Floats, float], bool]) -> Plane:
    """The first plane that is right although its numbers are rounded; if none is, the first, with a warning."""
    first = next(planes)
    for w, b in chain([first], planes):
        if is_right(w, b):
            return w, b
    warnings.warn(
        "The weights of the hyperplane do not fit into doubles: rounded, it has more rows on the wrong side. "
        "Subtract a constant from the columns (their median, say), or use verdict_, whose integers are exact.",
        RoundedWarning,
        stacklevel=5,
    )
    return first


def unit(w: Floats, b: float) -> Plane:
    """The same hyperplane, with weights of length 1."""
    if not w.any():
        return w, b
    line = Halfspace(w, b).near_one()
    length = float(np.linalg.norm(line.w))
    return line.w / length, float(line.b) / length
