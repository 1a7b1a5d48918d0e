"""The maximum-margin hyperplane as a scikit-learn classifier, with its proof; a soft margin where there is none."""

import warnings
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.svm import LinearSVC

from linsep.errors import NotSeparableWarning
from linsep.estimators.score_classifier import Array
from linsep.estimators.verdict_classifier import Plane, VerdictClassifier, unit
from linsep.proofs import Separable, Verdict
from linsep.questions.margin import max_margin
from linsep.report import Grid, Report, Sentence, label_text
from linsep.sources.base import Floats, Source


@dataclass(eq=False, repr=False)
class MaxMarginClassifier(VerdictClassifier):
    """The hyperplane farthest from the rows of both classes; more than two classes by one against the rest.

    Each problem comes with a verdict, proved in exact arithmetic. Where it is not `Separable` there is no margin to
    maximise: the classifier then warns (`NotSeparableWarning`), keeps the verdict, which names the rows in
    the way, and falls back on a soft margin: squared hinge loss and C = 1, on columns scaled to [-1, 1]; for rows in
    files, on a cluster or on a GPU, it is fitted to a sample of them if they are many.

    Parameters
    ----------
    gap : float
        The margin is enclosed between two bounds: how far they may differ, relative to the margin.
    time_limit : float or None
        Seconds for each problem. After that its verdict may be `Undecided`, which proves nothing.

    Attributes
    ----------
    classes_ : array
        The labels, sorted.
    coef_, intercept_ : arrays
        One hyperplane for each problem, with coef_ of length 1, so that scores are signed distances. If, with two
        classes, rounding at that length would put a row on the wrong side, a multiple that rounds correctly is used
        instead; if none is found, a `RoundedWarning` says so.
    separable_ : bool
        Whether every problem was proved separable.
    verdicts_ : list of verdicts
        One for each problem: for two classes on (X, y), else on (X, y == label).
    margins_ : array
        (low, high) of each problem; (0, 0) where it is not separable, (0, inf) where nothing could be proved.
    support_ : array
        Numbers of the rows that prove that no margin is larger (`nearest`), for all problems together.
    verdict_, margin_
        With two classes there is one problem: its verdict and its margin.

    Examples
    --------
    >>> from linsep.estimators.margin_classifier import MaxMarginClassifier
    >>> fitted = MaxMarginClassifier().fit([[0.0, 0.0], [0.0, 1.0], [2.0, 0.0], [3.0, 1.0]], ["a", "a", "b", "b"])
    >>> fitted.margin_, fitted.predict([[0.9, 5.0], [1.1, 5.0]]).tolist()
    ((1.0, 1.0), ['a', 'b'])
    """

    _: KW_ONLY
    gap: float = 1e-6
    time_limit: float | None = None

    def report(self) -> Report:
        """What `explain` says, as a value."""
        why = "there is no hyperplane" if self._is_known() else "no hyperplane is known"
        soft = [] if self.separable_ else [Sentence(f"A soft margin was fitted where {why}.", "fitted")]
        if len(self.verdicts_) == 1:
            whole: Report = self.verdict_.report() + soft
            return whole
        known = zip(self.classes_.tolist(), self.verdicts_, self.margins_.tolist(), strict=True)
        rows = ((label_text(label), verdict.kind, *(f"{end:.6g}" for end in ends)) for label, verdict, ends in known)
        grid = Grid(("class against the rest", "verdict", "margin at least", "at most"), tuple(rows))
        title = "Every class" if self.separable_ else "Not every class"
        return Report(f"{title} is separated from the rest.", (*soft, grid), "yes" if self.separable_ else "no")

    @property
    def margin_(self) -> tuple[float, float]:
        """The margin of two classes, between two certified bounds."""
        low, high = self._only(self.margins_).tolist()
        return low, high

    def _is_known(self) -> bool:
        """Whether each problem is proved to be separable, or proved not to be."""
        return all(verdict.separable is not None for verdict in self.verdicts_)

    def _state(self, verdicts: tuple[Verdict, ...]) -> None:
        """The verdicts, and what follows from them."""
        self.verdicts_ = verdicts
        self.separable_ = all(verdict.separable is True for verdict in verdicts)
        self.margins_ = np.array([_margin(verdict) for verdict in verdicts])
        self.support_ = np.array(sorted({row for verdict in verdicts for row in _nearest(verdict)}), np.int64)

    def _judged(self, X: Any, labels: Array | None, y: Array | None = None, weights: Floats | None = None) -> Verdict:
        return max_margin(X, labels, gap=self.gap, time_limit=self.time_limit)

    def _plane(self, verdict: Verdict, X: Any, labels: Array | None) -> Plane:
        if isinstance(verdict, Separable):
            return self._exact_plane(verdict, X, labels)
        if isinstance(X, Source):
            some = X.sample(X.facts.at_hand or X.n_rows, 0)
            return unit(*soft_margin(some.values, some.y))
        return unit(*soft_margin(X, labels))

    def _warn(self) -> None:
        if self.separable_:
            return
        which = [str(k) for k, verdict in enumerate(self.verdicts_) if verdict.separable is not True]
        warnings.warn(
            f"{'No hyperplane separates' if self._is_known() else 'No hyperplane is known to separate'} the classes "
            f"(verdicts_[{', '.join(which)}]): a soft margin was fitted there instead.",
            NotSeparableWarning,
            stacklevel=3,
        )


def soft_margin(X: Any, labels: Any, *, bias: bool = True) -> tuple[Floats, float]:
    """A hyperplane for rows that no hyperplane separates.

    Because the columns are scaled, its one constant, C, means the same in every unit of measurement.
    """
    scaled, is_sparse = X.astype(np.float64), bool(sp.issparse(X))  # astype copies: the caller's rows stay
    reach = np.asarray(abs(scaled).max(axis=0).todense() if is_sparse else abs(scaled).max(axis=0)).ravel()
    reach[reach == 0] = 1.0
    if is_sparse:
        scaled.data /= reach[scaled.indices]
        if scaled.nnz < 2**31:  # all that liblinear takes
            scaled.indices, scaled.indptr = scaled.indices.astype(np.int32), scaled.indptr.astype(np.int32)
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
