"""The kernel Perceptron: the Perceptron where rows are met through a kernel K(x, x') alone.

The weights are w = Σ alpha_i·y_i·phi(x_i), alpha_i the mistakes made on row i (the dual form), so the score of a row is
f(x) = Σ alpha_i·y_i·K(x_i, x), and neither w nor phi is ever written down.

    Start from alpha = 0.
    While some row has y·f(x) <= 0:  alpha_i += 1 at that row.

Novikoff's theorem holds as it stands, with R² = max K(x, x) and gamma the margin in the kernel's space.

The n × n kernel matrix is never formed for large n. Rows are walked in blocks, and a block is brought up to date when
its turn comes: the rows whose alpha changed since its last turn cost one product of kernel values, all classes at once.

Freund and Schapire, Large margin classification using the perceptron algorithm, Machine Learning 37 (1999);
Gallant, Perceptron-based learning algorithms, IEEE Transactions on Neural Networks 1 (1990).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics.pairwise import PAIRWISE_KERNEL_FUNCTIONS, pairwise_kernels
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from linsep.errors import ArgumentError, OneClassError, OverflowedError
from linsep.kernels import gram

Keep = Literal["last", "average", "vote", "best"]
Order = Literal["cyclic", "shuffled"]
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

ONE_BLOCK = 2048  # rows: up to here the kernel matrix (32 MiB) is made once and kept
BLOCK_ROWS = 1024  # rows of a block beyond that
ENTRIES_A_CALL = 1 << 22  # kernel values in hand at a time: 32 MiB


class KernelPerceptronClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """The Perceptron in the space of a kernel; more than two classes by one against the rest.

    Parameters
    ----------
    kernel : "rbf", "poly", "linear", any kernel that scikit-learn names, or a function
        A function takes two tables and returns the len(A) × len(B) values, as in `SVC`.
    gamma : "scale", "auto" or a number; degree, coef0
        As in `SVC`: "scale" is 1/(columns·variance of X), "auto" is 1/columns. Kernels without them ignore them.
    keep : "last", "average", "vote" or "best"
        Which hypotheses of the run decide: the last one; the average over time; each of them, with as many votes as
        rows it survived (Freund and Schapire); or the one that survived most rows (Gallant's pocket).
    max_passes : int
        The run ends with a pass without a mistake, or after so many passes.
    budget : int or None
        How many support rows a hypothesis may hold; a new one drops the oldest. With a budget no theorem promises
        that the mistakes end. "average" and "vote" still need the rows of every hypothesis they are made of.
    order : "shuffled" or "cyclic"
        "shuffled" draws blocks of rows once; each pass shuffles the blocks and the rows in each. "cyclic" is row order.
    random_state : int, RandomState or None
        Seeds the shuffling.

    Attributes
    ----------
    classes_ : the labels, sorted.
    support_ : numbers of the rows that decisions need; support_vectors_ : these rows.
    dual_coef_ : the alpha_i·y_i of the support, one line for each problem (under "vote", those of the last hypothesis).
    mistakes_per_row_ : alpha, the mistakes on every row, one line for each problem (a flat array for two classes).
    n_updates_, n_passes_, converged_ : of the run; converged means that each problem had a pass without a mistake.

    >>> from linsep.estimators.kernel import KernelPerceptronClassifier
    >>> xor = KernelPerceptronClassifier("poly", degree=2, order="cyclic", keep="last")
    >>> xor.fit([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]).predict([[0, 0], [0, 1], [1, 0], [1, 1]])
    array([0, 1, 1, 0])
    >>> xor.converged_
    True
    """

    def __init__(
        self,
        kernel: str | Callable[[Any, Any], Any] = "rbf",
        *,
        gamma: Literal["scale", "auto"] | float = "scale",
        degree: float = 3,
        coef0: float = 1.0,
        keep: Keep = "average",
        max_passes: int = 10,
        budget: int | None = None,
        order: Order = "shuffled",
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.keep = keep
        self.max_passes = max_passes
        self.budget = budget
        self.order = order
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def fit(self, X: Any, y: Any) -> "KernelPerceptronClassifier":
        """Run the Perceptron on the rows of X with the labels y."""
        self._require_options()
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=[np.float64, np.float32])
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise OneClassError(f"y holds one class only, {self.classes_[0]!r}: there is nothing to tell apart.")
        self.gamma_ = _gamma(self.gamma, X)
        run = DualPerceptron(
            Rows(X, self._kernel_values), _signs(codes, len(self.classes_)), self.budget, self.order, self.random_state
        )
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
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False)
        scores = np.empty((X.shape[0], len(self.dual_coef_)))
        step = max(1, ENTRIES_A_CALL // max(1, len(self.support_)))
        for start in range(0, len(scores), step):
            values = self._kernel_values(X[start : start + step], self.support_vectors_)
            scores[start : start + step] = self._decide(values)
        return scores if len(self.classes_) > 2 else scores[:, 0]

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The label of each row; a score of exactly 0 gives the negative (smaller) of two labels."""
        scores = self.decision_function(X)
        chosen: npt.NDArray[Any] = self.classes_[
            scores.argmax(axis=1) if scores.ndim == 2 else (scores > 0).astype(int)
        ]
        return chosen

    def _decide(self, values: Floats) -> Floats:
        if self.keep != "vote":
            return np.asarray(values @ self.dual_coef_.T)
        votes = np.empty((len(values), len(self._votes)), np.int64)
        for k, (places, deltas, counts) in enumerate(self._votes):
            one = np.empty(len(values), np.int64)
            gram.vote(values, places, deltas, counts, one)
            votes[:, k] = one
        return np.asarray(votes / [counts.sum() for _, _, counts in self._votes])

    def _keep_what_decides(self, run: "DualPerceptron", X: Any) -> None:
        histories = [run.history(k) for k in range(len(run.signs))]
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
        self.dual_coef_ = coef[:, self.support_]

    def _kernel_values(self, A: Any, B: Any) -> Floats:
        """K(a, b) for each pair of rows."""
        if callable(self.kernel):
            values = self.kernel(A, B)
        else:
            options = {"gamma": self.gamma_, "degree": self.degree, "coef0": self.coef0}
            values = pairwise_kernels(A, B, metric=self.kernel, filter_params=True, **options)
        values = np.ascontiguousarray(values, np.float64)
        if not np.isfinite(values).all():
            raise OverflowedError("Some kernel values are not finite: scale the columns, or lower gamma or the degree.")
        return values

    def _require_options(self) -> None:
        _require_one_of("keep", self.keep, get_args(Keep))
        _require_one_of("order", self.order, get_args(Order))
        if not callable(self.kernel):
            _require_one_of("kernel", self.kernel, sorted(PAIRWISE_KERNEL_FUNCTIONS))
        _require_count("max_passes", self.max_passes)
        if self.budget is not None:
            _require_count("budget", self.budget)


class History(NamedTuple):
    """The changes of one problem's run in order, and how many rows each hypothesis survived."""

    rows: Ints
    deltas: Floats
    counts: Ints
    converged: bool

    def kept(self, keep: Keep, n_rows: int) -> Floats:
        """The dual coefficients of the hypothesis that stands for the run."""
        if keep == "average":  # the change k is part of every hypothesis from k on
            part = self.counts[::-1].cumsum()[::-1] / self.counts.sum()
            return _summed(self.rows, self.deltas * part, n_rows)
        end = len(self.rows)
        if keep == "best" and not self.converged:  # one that survived a whole pass cannot be bettered
            end = int(self.counts.argmax()) + 1
        return _summed(self.rows[:end], self.deltas[:end], n_rows)


@dataclass(frozen=True, slots=True)
class Rows:
    """The training rows, met through their kernel values."""

    X: Any
    kernel_values: Callable[[Any, Any], Floats]

    def __len__(self) -> int:
        return int(self.X.shape[0])

    def between(self, a: Ints, b: Ints) -> Floats:
        """K of each row in a with each row in b."""
        return self.kernel_values(self.X[a], self.X[b])


class Changes(NamedTuple):
    """What one walk over one block changed in one problem."""

    problem: int
    rows: Ints
    deltas: Floats
    survived: Ints


@dataclass(slots=True)
class Block:
    """Rows that are walked together: their scores (one line for each problem), and how much of the log these know."""

    rows: Ints
    scores: Floats
    known: int = 0
    own: Floats | None = None  # their kernel values with each other, kept where one block is all


class DualPerceptron:
    """A run on several one-against-rest problems that share their kernel values."""

    def __init__(
        self, rows: Rows, signs: npt.NDArray[np.int8], budget: int | None, order: Order, random_state: Any
    ) -> None:
        self.rows, self.signs, self.order = rows, signs, order
        self.coef = np.zeros(signs.shape)
        self.mistakes_per_row = np.zeros(signs.shape, np.int64)
        self.active = list(range(len(signs)))
        self.passes = 0
        self.log: list[Changes] = []
        self._random = check_random_state(random_state)
        self._queues = np.zeros((len(signs), budget or 0), np.int64)
        self._memory = np.zeros((len(signs), 3), np.int64)
        self._place = np.full(len(rows), -1)
        self._blocks = list(self._cut())

    def _cut(self) -> Iterator[Block]:
        n_rows = len(self.rows)
        drawn = self._random.permutation(n_rows) if self.order == "shuffled" else np.arange(n_rows)
        step = n_rows if n_rows <= ONE_BLOCK else BLOCK_ROWS
        for start in range(0, n_rows, step):
            rows = drawn[start : start + step]
            yield Block(rows, np.zeros((len(self.signs), len(rows))))

    def learn(self, max_passes: int) -> None:
        """Pass over the rows until each problem has had a pass without a mistake, or the passes are used up."""
        while self.active and self.passes < max_passes:
            self.passes += 1
            begun = len(self.log)
            for k in self._sequence(len(self._blocks)):
                self._visit(self._blocks[k])
            mistaken = {changes.problem for changes in self.log[begun:]}
            self.active = [problem for problem in self.active if problem in mistaken]

    def history(self, problem: int) -> History:
        """Everything that happened in one problem."""
        chunks = [changes for changes in self.log if changes.problem == problem]
        survived = np.concatenate([changes.survived for changes in chunks])
        return History(
            np.concatenate([changes.rows for changes in chunks]),
            np.concatenate([changes.deltas for changes in chunks]),
            np.append(survived[1:], self._memory[problem, gram.SURVIVED]),  # each is told when the next one begins
            problem not in self.active,
        )

    def _sequence(self, count: int) -> Ints:
        sequence: Ints = self._random.permutation(count) if self.order == "shuffled" else np.arange(count)
        return sequence

    def _visit(self, block: Block) -> None:
        self._catch_up(block)
        order = self._sequence(len(block.rows))
        lowest = (self.signs[:, block.rows] * block.scores).min(axis=1)
        at_work = [problem for problem in self.active if not lowest[problem] > 0]
        for problem in set(self.active).difference(at_work):
            self._memory[problem, gram.SURVIVED] += len(block.rows)
        if not at_work:
            return  # and no kernel value of this block was needed
        own = self._own_values(block)
        for problem in at_work:
            self._walk(problem, block, order, self._with_leaving(problem, block, own))
        block.known = len(self.log)

    def _walk(self, problem: int, block: Block, order: Ints, values: Floats) -> None:
        size = 2 * len(order)  # a mistake may bring one row in and send one out
        log = gram.Log(np.empty(size, np.int64), np.empty(size), np.empty(size, np.int64))
        dual = gram.Dual(
            self.coef[problem], self.mistakes_per_row[problem], self._queues[problem], self._memory[problem]
        )
        scores = block.scores[problem]
        written = gram.walk(values, self._place, block.rows, order, self.signs[problem], scores, dual, log)
        if written:
            self.log.append(Changes(problem, *(column[:written].copy() for column in log)))

    def _catch_up(self, block: Block) -> None:
        """Bring the scores up to date with every change since the block's last turn."""
        news = self.log[block.known :]
        block.known = len(self.log)
        if not news:
            return
        rows, at = np.unique(np.concatenate([changes.rows for changes in news]), return_inverse=True)
        problems = np.repeat([changes.problem for changes in news], [len(changes.rows) for changes in news])
        deltas = np.zeros((len(self.signs), len(rows)))
        np.add.at(deltas, (problems, at), np.concatenate([changes.deltas for changes in news]))
        step = max(1, ENTRIES_A_CALL // len(block.rows))
        for start in range(0, len(rows), step):
            part = slice(start, start + step)
            block.scores += deltas[:, part] @ self.rows.between(rows[part], block.rows)

    def _own_values(self, block: Block) -> Floats:
        """Kernel values of the block's rows with each other; sets their places."""
        self._place[block.rows] = np.arange(len(block.rows))
        if block.own is not None:
            return block.own
        own = self.rows.between(block.rows, block.rows)
        if len(self._blocks) == 1:
            block.own = own
        return own

    def _with_leaving(self, problem: int, block: Block, own: Floats) -> Floats:
        """The same, and below them those of the rows that the budget may send out during a walk; sets their places.

        At most so many leave as come in beyond the budget, the oldest first; after these, rows of the block itself.
        """
        queue, (_, head, size) = self._queues[problem], self._memory[problem]
        excess = max(0, size + len(block.rows) - len(queue))
        leaving = np.setdiff1d(np.roll(queue, -head)[: min(excess, size)], block.rows)
        if not leaving.size:
            return own
        self._place[leaving] = len(own) + np.arange(len(leaving))
        return np.concatenate([own, self.rows.between(leaving, block.rows)])


def _summed(rows: Ints, deltas: Floats, n_rows: int) -> Floats:
    return np.bincount(rows, deltas, n_rows).astype(np.float64)


def _signs(codes: Ints, n_classes: int) -> npt.NDArray[np.int8]:
    """One line of -1 and +1 for each problem: each class against the rest, or the larger of two labels."""
    positive = np.arange(n_classes) if n_classes > 2 else np.array([1])
    return np.where(codes == positive[:, None], np.int8(1), np.int8(-1))


def _gamma(gamma: Any, X: Any) -> float:
    if gamma == "auto":
        return 1.0 / float(X.shape[1])
    if gamma == "scale":
        is_sparse: bool = sp.issparse(X)
        variance = float(X.multiply(X).mean() - X.mean() ** 2 if is_sparse else X.var(dtype=np.float64))
        return 1.0 / (X.shape[1] * variance) if variance > 0 else 1.0
    if isinstance(gamma, str) or not np.isfinite(gamma) or gamma <= 0:
        raise ArgumentError(f"gamma is {gamma!r}: it must be 'scale', 'auto' or a positive number.")
    return float(gamma)


def _require_one_of(name: str, value: Any, known: Any) -> None:
    if value not in known:
        raise ArgumentError(f"{name} is {value!r}: it must be one of {', '.join(known)}.")


def _require_count(name: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
        raise ArgumentError(f"{name} is {value!r}: it must be a whole number, at least 1.")
