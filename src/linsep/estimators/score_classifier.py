"""What every classifier here shares: how rows, labels and seeds come in, and how scores become labels."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils import Tags, check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from linsep.errors import (
    ArgumentError,
    InexactError,
    InputError,
    MissingLabelError,
    MissingValueError,
    NotFiniteError,
    ShapeError,
)
from linsep.faults import SHIFT, fault, few
from linsep.models import MODEL, write_model
from linsep.report import Fact, Report, count, label_text, listed, most_corrected
from linsep.scores import linear_scores
from linsep.sources.base import MOST_BITS, Block, Facts, Source, marks, positions
from linsep.sources.inputs import as_classes, as_given, in_rows, is_elsewhere, read_table
from linsep.sources.memory import MemorySource
from linsep.sources.relabelled import relabelled
from linsep.tables import is_long, is_sparse, read_doubles, read_labels, require_finite, require_one_index
from linsep.tables.handed_over import collected, from_torch

Array = npt.NDArray[Any]
IN_OUR_WORDS = (NotFiniteError, MissingValueError, MissingLabelError)


class ScoreClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier whose `decision_function` gives each row one score for two classes, else one score per class."""

    classes_: Array
    n_features_in_: int
    n_updates_: int
    n_passes_: int
    converged_: bool
    _number_types: ClassVar[Any] = (np.float64, np.float32)  # rows are read as the first of these types that holds them

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def decision_function(self, X: Any) -> Array:
        """The scores; the predicted class is the positive side, or the class with the highest score.

        For a Dask collection they are a Dask array, which the cluster computes when it is needed.
        """
        raise NotImplementedError

    def predict(self, X: Any) -> Array:
        """The class of each row. A score of exactly 0 goes to the first class.

        For a Dask collection the answer is a Dask array, which the cluster computes when it is needed.
        """
        if is_elsewhere(X):
            return labels_where_rows_lie(self, X)
        scores = self.decision_function(X)
        winners = (scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
        labels: Array = self.classes_[winners]
        return labels

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """The share of rows whose class is predicted correctly; a source brings its own labels."""
        require_one_index(X, y)
        require_one_index(X, sample_weight, "sample_weight")
        X, y = handed(X, y)
        y, sample_weight = from_torch(y, "y"), from_torch(sample_weight, "sample_weight")
        if isinstance(X, Source):
            labels = as_given(X, y).facts.labels
            y = _classes(labels)[positions(np.concatenate(list(X.each(_marks_in))), len(labels))]
        if np.ma.is_masked(y):
            read_labels(y)  # says which one is missing
        if np.ma.is_masked(sample_weight):
            raise ArgumentError("sample_weight has values that are masked: every row needs a weight.")
        return float(super().score(X, y, sample_weight))

    def save(self, path: str | Path) -> None:
        """Write the fitted classifier as JSON, which `linsep.load` reads back. Nothing in the file is ever run."""
        from linsep.estimators.saving import document_of  # here: it imports the classifiers, and they this

        check_is_fitted(self)
        write_model(path, MODEL.write(document_of(self)))

    def explain(self) -> str:
        """How the fit ended, in plain words."""
        check_is_fitted(self)
        return self.report().text()

    def report(self) -> Report:
        """What `explain` says, as a value."""
        done = f"{count(self.n_updates_, 'update')} in {count(self.n_passes_, 'pass')}"
        ended = "the last pass made no mistake" if self.converged_ else "stopped before a pass without a mistake"
        support = getattr(self, "support_", None)
        facts = {
            "classes": listed(map(label_text, self.classes_.tolist())),
            "columns": f"{self.n_features_in_:,}",
            **({} if support is None else {"support": count(len(support), "row")}),
        }
        mistakes = getattr(self, "mistakes_per_row_", None)  # a saved model has none
        rows = most_corrected(mistakes if mistakes is None or mistakes.ndim == 1 else mistakes.sum(axis=0))
        title = f"{type(self).__name__}: {done}, {ended}."
        return Report(title, (*map(Fact, facts, facts.values()), *rows), "yes" if self.converged_ else "unsure")

    @property
    def _repr_html_(self) -> Callable[[], str]:
        diagram = super()._repr_html_  # scikit-learn's own, which its display option may turn off
        return lambda: diagram() + self._html_below()

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        shown: dict[str, str] = super()._repr_mimebundle_(**options)
        return {kind: text + self._html_below() if kind == "text/html" else text for kind, text in shown.items()}

    def _html_below(self) -> str:
        """The report, below scikit-learn's diagram; nothing before the fit."""
        try:
            check_is_fitted(self)
        except NotFittedError:
            return ""
        return self.report().html()

    def _read(self, X: Any, y: Any, *, reset: bool) -> tuple[Any, Array]:
        """Training rows as an array or CSR matrix (float32 stays), and their labels as given."""
        X, y = collected(from_torch(X, "X")), from_torch(y, "y")
        if self._is_plain(X, reset=reset) and _are_integers(y, X.shape[0]) and _are_finite(X):
            if reset:  # the attributes that scikit-learn would set
                self.n_features_in_ = X.shape[1]
                if hasattr(self, "feature_names_in_"):
                    del self.feature_names_in_
            return X, y
        require_one_index(X, y)
        _refuse_rounding(X)
        if y is not None:
            y = _plain_labels(y)
        with _explained(X, y):
            X, y = validate_data(self, X, y, accept_sparse="csr", dtype=self._number_types, reset=reset)
        if y.dtype.kind not in "biu":  # integers are classes, always
            check_classification_targets(y)
        return X if sp.issparse(X) else np.ascontiguousarray(in_rows(X)), y

    def _read_rows(self, X: Any, *, finite: bool = True) -> Any:
        """Rows to be scored; with finite=False, NaN may pass, and the caller must check the scores."""
        check_is_fitted(self)
        X = collected(from_torch(X, "X"))
        if not finite and self._is_plain(X):
            return X
        _refuse_rounding(X)
        options: Any = {"accept_sparse": "csr", "dtype": self._number_types, "order": "C", "reset": False}
        with _explained(X):
            return validate_data(self, X, ensure_all_finite=finite, **options)

    def _is_plain(self, X: Any, *, reset: bool = False) -> bool:
        """Whether scikit-learn's validation would return a table as it is, apart from looking for NaN."""
        is_csr = is_sparse(X) and X.format == "csr"
        if not (is_csr or type(X) is np.ndarray) or X.dtype not in (np.float64, np.float32):
            return False
        if X.ndim != 2 or 0 in X.shape:
            return False
        if not reset and (X.shape[1] != self.n_features_in_ or getattr(self, "feature_names_in_", None) is not None):
            return False
        return is_csr or bool(X.flags.c_contiguous)

    def _linear_scores(self, X: Any, W: Array, b: Array) -> Array:
        """W·x + b for rows to be scored; NaN is found by its score, which saves a read of the rows."""
        if isinstance(X, Source) and X.facts.is_elsewhere:
            self._require_columns(X)
            X.require_finite()
            return np.concatenate(list(X.each(partial(_scores_in, W, b))))
        parts = [linear_scores(rows, W, b) for rows in self._read_blocks(X, finite=False)]
        scores = parts[0] if len(parts) == 1 else np.concatenate(parts)
        if not np.isfinite(scores).all():  # a score too large for a double, or a bad number, which is refused
            list(self._read_blocks(X))
        return scores

    def _read_source(self, X: Source, y: Any, classes: Any = None, *, reset: bool) -> Source:
        """A source to learn from. Its columns and labels must be those of the classifier; a new fit takes them over."""
        source = as_given(X, y)
        if source.facts.is_elsewhere:
            source.require_finite()
        if (source.facts.integer_bits or 0) > MOST_BITS:
            raise InexactError("Some integers are beyond 2^53, so doubles would round them.", fix=SHIFT)
        if not reset:
            self._require_columns(source)
            return self._labelled_alike(source)
        if classes is None and len(source.facts.labels) < 2:
            _ = source.facts.pair  # one class is refused
        self.n_features_in_ = source.n_columns
        self.classes_ = _classes(source.facts.labels) if classes is None else distinct_labels(classes)
        if source.facts.names is not None:
            self.feature_names_in_ = np.array(source.facts.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        return self._labelled_alike(source)

    def _labelled_alike(self, source: Source) -> Source:
        """The source with the classes of the classifier; some of them may not occur in it."""
        classes = tuple(self.classes_.tolist())
        known = {label: code for code, label in enumerate(classes)}
        for label in source.facts.labels:
            if label not in known:
                raise fault("unknown label", value=label, known=few(self.classes_.tolist(), 10))
        codes = [known[label] for label in source.facts.labels]
        return source if codes == [*range(len(classes))] else relabelled(source, codes, classes)

    def _require_columns(self, source: Source) -> None:
        names = getattr(self, "feature_names_in_", None)
        if source.n_columns != self.n_features_in_:
            raise ShapeError(
                f"The source has {source.n_columns} columns, but the classifier was fitted on {self.n_features_in_}."
            )
        if source.facts.names is not None and names is not None and tuple(names) != source.facts.names:
            before, now = next(pair for pair in zip(names, source.facts.names, strict=True) if pair[0] != pair[1])
            raise ShapeError(f"The source has the column {now!r} where the classifier was fitted on {before!r}.")

    def _read_blocks(self, X: Any, *, finite: bool = True) -> Iterator[Any]:
        """The same rows; those of a source come block by block."""
        if not isinstance(X, Source):
            yield self._read_rows(X, finite=finite)
            return
        check_is_fitted(self)
        self._require_columns(X)
        if finite:
            X.require_finite()
        for block in X.blocks():
            yield block.values.astype(np.float64, copy=False)

    def _encode(self, y: Array) -> npt.NDArray[np.int64]:
        """Labels as positions in `classes_`."""
        if y.dtype.kind + self.classes_.dtype.kind in ("if", "uf", "fi", "fu"):  # NumPy would round one of them
            y = _in_doubles(y, self.classes_)
        if len(self.classes_) == 2:  # two comparisons are ten times faster than a search
            second = y == self.classes_[1:]  # arrays: NumPy drops a NUL at the end of a single text
            codes, is_known = second.astype(np.int64), second | (y == self.classes_[:1])
        else:
            codes = np.searchsorted(self.classes_, y).clip(max=len(self.classes_) - 1)
            is_known = self.classes_[codes] == y
        unknown = np.flatnonzero(~is_known)
        if unknown.size:
            row = int(unknown[0])
            raise fault("unknown label", row=row, value=y[row].item(), known=few(self.classes_.tolist(), 10))
        return np.asarray(codes, np.int64)


def handed(X: Any, y: Any) -> tuple[Any, Any]:
    """The rows and labels as they are; those of Dask as a source, which brings its labels."""
    return (as_classes(X, y), None) if is_elsewhere(X) else (X, y)


def labelled(X: Any, codes: Array, classes: Array) -> MemorySource:
    """Rows in memory, with labels as positions among the classes."""
    table, n_columns, _ = read_table(X)
    y = marks(codes, len(classes))
    return MemorySource(table, y, Facts(len(y), n_columns, tuple(classes.tolist()), is_finite=True))


def _marks_in(block: Block) -> Any:
    return block.y


def _scores_in(W: Array, b: Array, block: Block) -> Array:
    """The scores of a block whose numbers are finite."""
    return linear_scores(block.values.astype(np.float64, copy=False), W, b)


def labels_where_rows_lie(fitted: ScoreClassifier, X: Any) -> Array:
    """The predicted classes of the rows of a Dask collection, partition by partition, as a Dask array."""
    check_is_fitted(fitted)
    return _where_rows_lie(type(fitted).predict, fitted, X, fitted.classes_[:0])


def scores_where_rows_lie(fitted: ScoreClassifier, X: Any) -> Array:
    """The same for their scores."""
    check_is_fitted(fitted)
    n_classes = len(fitted.classes_)
    none = np.zeros(0) if n_classes == 2 else np.zeros((0, n_classes))
    return _where_rows_lie(type(fitted).decision_function, fitted, X, none)


def _where_rows_lie(ask: Callable[..., Array], fitted: ScoreClassifier, X: Any, none: Array) -> Array:
    """What a method says of the rows of each partition; `none` is what it says of no rows."""
    work = partial(_asked_of, ask, fitted, none)
    if getattr(X, "chunks", None) is None:
        answers: Array = X.map_partitions(work, meta=none)
        return answers
    whole = X if len(X.chunks[1]) == 1 else X.rechunk({1: -1})
    shape: Any = {"drop_axis": 1} if none.ndim == 1 else {"chunks": (whole.chunks[0], none.shape[1:])}
    scores: Array = whole.map_blocks(work, dtype=none.dtype, meta=none, **shape)
    return scores


def _asked_of(ask: Callable[..., Array], fitted: ScoreClassifier, none: Array, rows: Any) -> Array:
    return ask(fitted, rows) if rows.shape[0] else none  # sparse rows have no len


def _classes(labels: tuple[Any, ...]) -> Array:
    """The labels of a source as an array; labels of several kinds (3 and "not 3") as objects."""
    alike = len({type(label) for label in labels}) == 1
    return np.array(labels, dtype=None if alike else object)


def _in_doubles(y: Array, classes: Array) -> Array:
    """Integer labels compared with float classes, or the other way round; refused where a double would round them."""
    for labels, other in ((y, classes), (classes, y)):
        if labels.dtype.kind in "iu" and is_long(labels):
            raise InexactError(f"Some labels are integers beyond 2^53, others {other.dtype}: make them all integers.")
    return y.astype(np.float64)


def _refuse_rounding(X: Any) -> None:
    """Refuse, by name, values that scikit-learn would round or unmask on the way to doubles; it checks the rest."""
    is_masked = np.ma.is_masked(X)
    if (isinstance(X, np.ndarray) or is_sparse(X)) and X.dtype in (np.float64, np.float32) and not is_masked:
        return
    try:
        read_doubles(X)
    except (InexactError, MissingValueError):
        raise
    except InputError:
        return


def _are_finite(X: Any) -> bool:
    entries = X.data if is_sparse(X) else X
    with np.errstate(all="ignore"):
        return bool(np.isfinite(entries.sum()) or np.isfinite(entries).all())  # a sum may be beyond the largest double


def _are_integers(y: Any, n_rows: int) -> bool:
    return type(y) is np.ndarray and y.shape == (n_rows,) and y.dtype.kind in "biu"


def _plain_labels(y: Any) -> Any:
    """Labels as one array, before scikit-learn turns other libraries' integers into doubles, or all labels into text.

    Missing ones, several kinds, and integers that only objects hold are refused.
    """
    if type(y) is np.ndarray and y.dtype.kind in "biufc":  # scikit-learn handles these correctly
        return y
    labels = read_labels(y)
    if labels.dtype == object and not isinstance(labels[:1].tolist()[0] if labels.size else "", str):
        raise InexactError("Some labels are integers that a double would round, beside floats. Use text, or integers.")
    if type(y) is np.ndarray and y.ndim == 2:  # scikit-learn warns about labels in a column
        return y
    if labels.dtype == object and isinstance(y, (list, tuple)) and not any("\0" in label for label in labels):
        return labels.astype(str)  # as scikit-learn would; NumPy drops a NUL at the end of text
    return labels


@contextmanager
def _explained(X: Any, y: Any = None) -> Iterator[None]:
    """Put row, column and value in front of what scikit-learn says about bad rows and labels."""
    try:
        yield
    except ValueError as error:
        try:
            require_finite(read_doubles(X))
            if y is not None:
                read_labels(y)
        except InputError as named:
            is_told = isinstance(named, IN_OUR_WORDS) or type(error) is not ValueError  # narwhals has errors of its own
            words = None if is_told else f"scikit-learn: {error}"
            raise named.at(fix=words) from error
        raise


def distinct_labels(y: Any) -> Array:
    """The classes, in order; at least two."""
    labels = y if isinstance(y, np.ndarray) else read_labels(list(y))
    if labels.size:  # two classes are found without sorting
        pair = labels[[0, (labels != labels[0]).argmax()]]
        labels = pair if ((labels == pair[0]) | (labels == pair[1])).all() else labels
    classes: Array = np.unique(labels)
    if len(classes) < 2:
        raise fault("one class", value=classes[0].item()) if len(classes) else fault("no class")
    return classes


def seed_of(random_state: Any) -> int:
    """A seed by scikit-learn's rules: an int is itself, None draws from NumPy's global state."""
    if isinstance(random_state, (int, np.integer)) and random_state >= 0:
        return int(random_state)
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def narrowed(weights: Array, dtype: Any) -> Array:
    """Weights in the number type of the rows they were learned from."""
    with np.errstate(over="ignore"):
        narrow: Array = weights.astype(dtype)
    if not np.isfinite(narrow).all():
        raise fault("weights overflow", kind=narrow.dtype)
    return narrow
