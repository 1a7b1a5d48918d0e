"""The maximum-margin hyperplane as a scikit-learn classifier, with its proof; a soft margin where there is none."""

import warnings
from dataclasses import KW_ONLY, dataclass, replace
from itertools import chain
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.svm import LinearSVC
from sklearn.utils.validation import check_is_fitted

from linsep._margin import max_margin
from linsep.errors import NotSeparableWarning, RoundedWarning
from linsep.estimators.score_classifier import ScoreClassifier, distinct_labels
from linsep.halfspace import Halfspace, linear_scores
from linsep.proofs import Separable, Verdict
from linsep.report import Grid, Report, Sentence, label_text
from linsep.signs import scaled_floats
from linsep.sources.base import Floats

MULTIPLES = (1, *range(3, 64, 2))  # a multiple of a hyperplane may fit into doubles where the hyperplane does not


@dataclass(eq=False, repr=False)
class MaxMarginClassifier(ScoreClassifier):
    """The hyperplane farthest from the rows of both classes; more than two classes by one against the rest.

    Each problem comes with a verdict, proved in exact arithmetic. Where it is not `Separable` there is no margin to
    maximise: the classifier then warns (`NotSeparableWarning`), keeps the verdict, which names the rows in
    the way, and falls back on a soft margin: squared hinge loss and C = 1, on columns scaled to [-1, 1].

    Parameters
    ----------
    gap : float
        How far the two ends of the margin may differ, relative to it.
    time_limit : float or None
        Seconds for each problem. Past them its verdict may be `Undecided`, which proves nothing.

    Attributes
    ----------
    classes_ : the labels, sorted.
    coef_, intercept_ : one hyperplane for each problem, coef_ of length 1: scores are signed distances. Where rounding
        at that length would put a row of two classes on the wrong side, they are those of a multiple that does not;
        where none is found, a `RoundedWarning` says so.
    separable_ : whether every problem was proved separable.
    verdicts_ : one for each problem: for two classes on (X, y), else on (X, y == label).
    margins_ : (low, high) of each problem; (0, 0) where it is not separable, (0, inf) where nothing could be proved.
    support_ : numbers of the rows that prove no margin is larger (`nearest`), of all problems together.
    verdict_, margin_ : of the one problem that two classes are.

    >>> from linsep.estimators.margin_classifier import MaxMarginClassifier
    >>> fitted = MaxMarginClassifier().fit([[0.0, 0.0], [0.0, 1.0], [2.0, 0.0], [3.0, 1.0]], ["a", "a", "b", "b"])
    >>> fitted.margin_, fitted.predict([[0.9, 5.0], [1.1, 5.0]]).tolist()
    ((1.0, 1.0), ['a', 'b'])
    """

    _number_types: ClassVar[Any] = "numeric"  # numbers keep their type: nothing is rounded before it is proved

    _: KW_ONLY
    gap: float = 1e-6
    time_limit: float | None = None

    def fit(self, X: Any, y: Any = None) -> "MaxMarginClassifier":
        """Find the hyperplanes, and prove that none is farther from the rows."""
        X, y = self._read(X, y, reset=True)
        self.classes_ = distinct_labels(y)
        problems = [y] if len(self.classes_) == 2 else [y == label for label in self.classes_]
        self._state(tuple(self._judged(X, labels) for labels in problems))
        self._warn()
        planes = [_plane(verdict, X, labels) for verdict, labels in zip(self.verdicts_, problems, strict=True)]
        if len(planes) == 1 and isinstance(self.verdict_, Separable):  # several must be of one length to be compared
            planes = [_faithful(planes[0], self.verdict_, X, y)]
        self.coef_, self.intercept_ = np.stack([w for w, _ in planes]), np.array([b for _, b in planes])
        return self

    def decision_function(self, X: Any) -> Floats:
        """The signed distance of each row: one number for two classes, one for each class otherwise."""
        check_is_fitted(self)
        scores: Floats = self._linear_scores(X, self.coef_, self.intercept_)
        return scores if len(self.classes_) > 2 else scores[:, 0]

    def report(self) -> Report:
        """What `explain` says, as a value."""
        soft = [] if self.separable_ else [Sentence("A soft margin was fitted where no hyperplane is known.", "fitted")]
        if len(self.verdicts_) == 1:
            return self.verdict_.report() + soft
        known = zip(self.classes_.tolist(), self.verdicts_, self.margins_.tolist(), strict=True)
        rows = ((label_text(label), verdict.kind, *(f"{end:.6g}" for end in ends)) for label, verdict, ends in known)
        grid = Grid(("class against the rest", "verdict", "margin at least", "at most"), tuple(rows))
        title = "Every class" if self.separable_ else "Not every class"
        return Report(f"{title} is separated from the rest.", (*soft, grid), "yes" if self.separable_ else "no")

    @property
    def verdict_(self) -> Verdict:
        """The verdict on two classes."""
        return self._only(self.verdicts_)  # type: ignore[no-any-return]

    @property
    def margin_(self) -> tuple[float, float]:
        """The margin of two classes, between two certified bounds."""
        low, high = self._only(self.margins_).tolist()
        return low, high

    def _only(self, values: Any) -> Any:
        if len(values) > 1:
            raise AttributeError(f"There are {len(values)} problems: see verdicts_ and margins_.")
        return values[0]

    def _state(self, verdicts: tuple[Verdict, ...]) -> None:
        """The verdicts, and what follows from them."""
        self.verdicts_ = verdicts
        self.separable_ = all(verdict.separable is True for verdict in verdicts)
        self.margins_ = np.array([_margin(verdict) for verdict in verdicts])
        self.support_ = np.array(sorted({row for verdict in verdicts for row in _nearest(verdict)}), np.int64)

    def _judged(self, X: Any, labels: Any) -> Verdict:
        """The verdict with the columns' names, so that it explains itself in the user's words."""
        verdict = max_margin(X, labels, gap=self.gap, time_limit=self.time_limit)
        names = getattr(self, "feature_names_in_", None)
        return verdict if names is None else replace(verdict, names=tuple(map(str, names)))

    def _warn(self) -> None:
        if self.separable_:
            return
        which = [str(k) for k, verdict in enumerate(self.verdicts_) if verdict.separable is not True]
        known = all(verdict.separable is not None for verdict in self.verdicts_)
        warnings.warn(
            f"{'No hyperplane separates' if known else 'No hyperplane is known to separate'} the classes "
            f"(verdicts_[{', '.join(which)}]): a soft margin was fitted there instead.",
            NotSeparableWarning,
            stacklevel=3,
        )


def _plane(verdict: Verdict, X: Any, labels: Any) -> tuple[Floats, float]:
    """The hyperplane of a problem, its weights of length 1."""
    if not isinstance(verdict, Separable):
        return _unit(*soft_margin(X, labels))
    floats, _ = scaled_floats((*verdict.weights, verdict.bias_weight))
    return _unit(floats[:-1], float(floats[-1]))


def _faithful(plane: tuple[Floats, float], verdict: Separable, X: Any, y: Any) -> tuple[Floats, float]:
    """The plane, or a multiple of it, that has every row on its side though its numbers are rounded."""
    positive, exact = y == verdict.labels[1], (*verdict.weights, verdict.bias_weight)
    multiples = (scaled_floats([times * weight for weight in exact])[0] for times in MULTIPLES)
    for w, b in chain([plane], ((floats[:-1], float(floats[-1])) for floats in multiples)):
        scores = linear_scores(X, w[None], np.array([b]))[:, 0]
        if (np.where(positive, scores, -scores) > 0).all():
            return w, b
    warnings.warn(
        "The weights of the separating hyperplane do not fit into doubles: rounded, it has rows on the wrong side. "
        "Subtract a constant from the columns (their median, say), or use verdict_, whose integers are exact.",
        RoundedWarning,
        stacklevel=3,
    )
    return plane


def _unit(w: Floats, b: float) -> tuple[Floats, float]:
    if not w.any():
        return w, b
    line = Halfspace(w, b).near_one()
    length = float(np.linalg.norm(line.w))
    return line.w / length, float(line.b) / length


def soft_margin(X: Any, labels: Any, *, bias: bool = True) -> tuple[Floats, float]:
    """A hyperplane for rows that none separates.

    Scaled columns make its one constant, C, mean the same in every unit of measurement.
    """
    scaled, is_sparse = X.astype(np.float64), bool(sp.issparse(X))  # astype copies: the caller's rows stay
    reach = np.asarray(abs(scaled).max(axis=0).todense() if is_sparse else abs(scaled).max(axis=0)).ravel()
    reach[reach == 0] = 1.0
    if is_sparse:
        scaled.data /= reach[scaled.indices]
    else:
        scaled /= reach
    fitted = LinearSVC(C=1.0, dual=False, fit_intercept=bias, max_iter=10_000).fit(scaled, labels)
    least = reach.min()  # the plane times this: no quotient overflows
    return fitted.coef_[0] * (least / reach), float(np.ravel(fitted.intercept_)[0] * least)


def _margin(verdict: Verdict) -> tuple[float, float]:
    if isinstance(verdict, Separable) and verdict.margin is not None:
        return verdict.margin
    return (0.0, 0.0) if verdict.separable is False else (0.0, np.inf)


def _nearest(verdict: Verdict) -> tuple[int, ...]:
    return verdict.nearest.rows if isinstance(verdict, Separable) and verdict.nearest is not None else ()
