"""The kernel Perceptron as a scikit-learn classifier; `learners/kernel_perceptron.py` has the theorem."""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal, get_args

import numpy as np
import scipy.sparse as sp
from sklearn.metrics.pairwise import PAIRWISE_KERNEL_FUNCTIONS, pairwise_kernels
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from linsep import arguments
from linsep.errors import ArgumentError, OverflowedError, shown
from linsep.estimators.score_classifier import ScoreClassifier, distinct_labels, scores_where_rows_lie
from linsep.halfspace import linear_scores
from linsep.learners import kernel_perceptron
from linsep.learners.kernel_perceptron import DualPerceptron, KernelRows
from linsep.learners.perceptron import Keep, WalkOrder
from linsep.loops import gram
from linsep.sources.base import Floats, Ints, Signs, Source, joined, positions
from linsep.sources.inputs import is_elsewhere
from linsep.sources.relabelled import in_doubles

REMEDY = "scale the columns, or lower gamma or the degree"


@dataclass(eq=False, repr=False)
class KernelPerceptronClassifier(ScoreClassifier):
    """The Perceptron in the space of a kernel; more than two classes by one against the rest.

    Parameters
    ----------
    kernel : "rbf", "poly", "linear", any kernel that scikit-learn names, or a function
        A function takes two tables and returns the len(A) × len(B) values, as in `SVC`.
    gamma, degree, coef0 : "scale", "auto" or a number; int; float
        As in `SVC`: "scale" is 1/(columns·variance of X), "auto" is 1/columns. Kernels without them ignore them.
    keep : "last", "average", "vote" or "best"
        Which hypotheses of the run decide: the last one; the average over time; all of them, each with one vote for
        every row it survived (Freund and Schapire); or the one that survived the most rows (Gallant's pocket).
    max_passes : int
        The run ends with a pass without a mistake, or after this many passes.
    budget : int or None
        How many support rows a hypothesis may hold; a new one replaces the oldest. With a budget, no theorem promises
        that the mistakes end. "average" and "vote" still need the rows of every hypothesis they are made of.
    order : "shuffled" or "cyclic"
        "shuffled" draws blocks of rows once; each pass shuffles the blocks and the rows in each. "cyclic" is row order.
    random_state : int, RandomState or None
        Seeds the shuffling.

    Attributes
    ----------
    classes_ : array
        The labels, sorted.
    support_, support_vectors_ : arrays
        The numbers of the rows that the decision function needs, and these rows.
    dual_coef_ : array
        The alpha_i·y_i of the support, one line for each problem (under "vote", those of the last hypothesis).
    coef_, intercept_ : arrays
        For a linear kernel only: weights of the columns that give the same scores; the intercept is 0.
    mistakes_per_row_ : array
        Alpha, the number of mistakes on every row, one line for each problem (a flat array for two classes).
    n_updates_, n_passes_, converged_
        Counts of the run; `converged_` means that each problem had a pass without a mistake.

    Examples
    --------
    >>> from linsep.estimators.kernel_classifier import KernelPerceptronClassifier
    >>> xor = KernelPerceptronClassifier("poly", degree=2, order="cyclic", keep="last")
    >>> xor.fit([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]).predict([[0, 0], [0, 1], [1, 0], [1, 1]])
    array([0, 1, 1, 0])
    >>> xor.converged_
    True
    """

    kernel: str | Callable[[Any, Any], Any] = "rbf"
    _: KW_ONLY
    gamma: Literal["scale", "auto"] | float = "scale"
    degree: float = 3
    coef0: float = 1.0
    keep: Keep = "average"
    max_passes: int = 10
    budget: int | None = None
    order: WalkOrder = "shuffled"
    random_state: Any = None

    def fit(self, X: Any, y: Any = None) -> "KernelPerceptronClassifier":
        """Run the Perceptron on the rows of X with the labels y. The rows of a source are read into memory."""
        self._require_options()
        if isinstance(X, Source):
            source = self._read_source(X, y, reset=True)
            source.require_finite()
            rows = joined(list(in_doubles(source).blocks()))
            X, codes = rows.values, positions(rows.y, len(self.classes_))
        else:
            X, y = self._read(X, y, reset=True)
            self.classes_ = distinct_labels(y)
            codes = self._encode(y)
        self.gamma_ = _gamma(self.gamma, X)
        signs = _signs(codes, len(self.classes_))
        random = check_random_state(self.random_state)
        run = DualPerceptron(KernelRows(X, self._kernel_values), signs, self.budget, self.order, random)
        run.learn(self.max_passes)
        self._keep_what_decides(run, X)
        self.n_updates_, self.n_passes_ = int(run.mistakes_per_row.sum()), run.passes
        self.converged_ = not run.active
        self.mistakes_per_row_ = run.mistakes_per_row if len(run.signs) > 1 else run.mistakes_per_row[0]
        return self

    def decision_function(self, X: Any) -> Floats:
        """The score of each row: one number for two classes, one for each class otherwise.

        Under "vote" it is the balance of the votes, from -1 to 1.
        """
        if is_elsewhere(X):
            return scores_where_rows_lie(self, X)
        scores = np.concatenate([self._scores(rows) for rows in self._read_blocks(X)])
        return scores if len(self.classes_) > 2 else scores[:, 0]

    def _scores(self, X: Any) -> Floats:
        """The scores of some rows, one column for each problem."""
        scores = np.empty((X.shape[0], len(self.dual_coef_)))
        step = max(1, kernel_perceptron.ENTRIES_A_CALL // max(1, len(self.support_)))
        for start in range(0, len(scores), step):
            values = self._kernel_values(X[start : start + step], self.support_vectors_)
            scores[start : start + step] = self._decide(values)
        return scores

    @property
    def coef_(self) -> Floats:
        """The weights of the columns, one line for each problem; for a linear kernel only."""
        check_is_fitted(self)
        if self.kernel != "linear" or self._votes is not None:
            why = "a vote is not" if self.kernel == "linear" else f"the kernel {shown(self.kernel)} is not"
            raise AttributeError(f"There is no coef_: {why} linear in the columns. Use decision_function.")
        return np.asarray(self.dual_coef_ @ self.support_vectors_)

    @property
    def intercept_(self) -> Floats:
        """Zeros: the kernel Perceptron has no separate bias. For a linear kernel only."""
        return np.zeros(len(self.coef_))

    def _decide(self, values: Floats) -> Floats:
        if self._votes is None:
            return linear_scores(values, self.dual_coef_, np.zeros(len(self.dual_coef_)))
        steps = max(float(np.abs(deltas).sum()) for _, deltas, _ in self._votes)
        if not np.abs(values).max(initial=0.0) < np.finfo(np.float64).max / max(1.0, steps):
            raise OverflowedError(f"The scores of some hypotheses are not finite: {REMEDY}.")
        votes = np.empty((len(values), len(self._votes)), np.int64)
        for k, (places, deltas, counts) in enumerate(self._votes):
            one = np.empty(len(values), np.int64)
            gram.vote(values, places, deltas, counts, one)
            votes[:, k] = one
        return np.asarray(votes / [counts.sum() for _, _, counts in self._votes])

    def _keep_what_decides(self, run: DualPerceptron, X: Any) -> None:
        histories = [run.history(k) for k in range(len(run.signs))]
        self._votes: list[tuple[Ints, Floats, Ints]] | None = None
        if self.keep == "vote":
            self.support_ = np.unique(np.concatenate([history.rows for history in histories]))
            self._votes = [
                (np.searchsorted(self.support_, history.rows), history.deltas, history.counts) for history in histories
            ]
            coef = run.coef
        else:
            coef = np.stack([history.kept(self.keep, X.shape[0]) for history in histories])
            self.support_ = np.flatnonzero(coef.any(axis=0))
        self.support_vectors_ = X[self.support_]
        # In row order: rounding depends on the order of summation, and a saved model must give the same scores.
        self.dual_coef_ = np.ascontiguousarray(coef[:, self.support_])

    def _kernel_values(self, A: Any, B: Any) -> Floats:
        """K(a, b) for each pair of rows."""
        with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is refused below
            if callable(self.kernel):
                values = self.kernel(A, B)
            else:
                degree, coef0 = arguments.number("degree", self.degree), arguments.number("coef0", self.coef0)
                options = {"gamma": self.gamma_, "degree": degree, "coef0": coef0}
                values = pairwise_kernels(A, B, metric=self.kernel, filter_params=True, **options)
        values = np.ascontiguousarray(values, np.float64)
        if not np.isfinite(values).all():
            raise OverflowedError(f"Some kernel values are not finite: {REMEDY}.")
        return values

    def _require_options(self) -> None:
        arguments.one_of("keep", self.keep, get_args(Keep))
        arguments.one_of("order", self.order, get_args(WalkOrder))
        if not callable(self.kernel):
            arguments.one_of("kernel", self.kernel, sorted(PAIRWISE_KERNEL_FUNCTIONS))
        arguments.whole("max_passes", self.max_passes, 1)
        if self.budget is not None:
            arguments.whole("budget", self.budget, 1)


def _signs(codes: Ints, n_classes: int) -> Signs:
    """One line of -1 and +1 for each problem: each class against the rest; of two labels, the larger is +1."""
    positive = np.arange(n_classes) if n_classes > 2 else np.array([1])
    return np.where(codes == positive[:, None], np.int8(1), np.int8(-1))


def _gamma(gamma: Any, X: Any) -> float:
    if gamma == "auto":
        return 1.0 / float(X.shape[1])
    if gamma == "scale":
        is_sparse: bool = sp.issparse(X)
        with np.errstate(all="ignore"):
            variance = float(X.multiply(X).mean() - X.mean() ** 2 if is_sparse else X.var(dtype=np.float64))
            scaled = 1.0 / (X.shape[1] * variance) if variance > 0 else 1.0
        if not np.isfinite(variance) or not 0 < scaled < np.inf:
            raise OverflowedError("The variance of X is beyond the range of doubles: scale the columns, or give gamma.")
        return scaled
    try:
        return arguments.positive("gamma", gamma)
    except ArgumentError:
        raise ArgumentError(f"gamma is {shown(gamma)}: it must be 'scale', 'auto' or a positive number.") from None
