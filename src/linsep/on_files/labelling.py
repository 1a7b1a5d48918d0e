"""Rows of any file in, a label for each row out, batch by batch; and how many were wrong."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from linsep.errors import ModelError, OneClassError
from linsep.faults import fault
from linsep.halfspace import Halfspace
from linsep.loops.layouts import Dense
from linsep.models import Model
from linsep.on_files.text_lines import text_batches
from linsep.on_files.truth import Truth
from linsep.online import OnlinePerceptron
from linsep.report import count
from linsep.sources.base import Ints
from linsep.sources.files import options_of, streaming
from linsep.sources.files.npy import content
from linsep.sources.files.options import Needs, Options
from linsep.sources.files.reader import EXACT
from linsep.sources.files.rejects import Rejects
from linsep.sources.files.text_reader import Waiting
from linsep.sources.inputs import read_table

if TYPE_CHECKING:
    from linsep._load import Loaded
    from linsep.estimators.score_classifier import ScoreClassifier

Array = npt.NDArray[Any]


class Labeller(Protocol):
    """A model of any kind, as it labels rows."""

    needs: Needs
    classes: list[Any]

    def __call__(self, X: Any) -> tuple[Ints, Array]:
        """The position in `classes` of each row's label, and its score."""


class HalfspaceLabeller:
    """The model of `linsep fit`. Its score is w·x + b; exactly 0 gets the negative label."""

    def __init__(self, model: Model) -> None:
        self._halfspace = model.halfspace
        self.needs = Needs(model.columns, len(model.halfspace.w), model.label)
        self.classes = list(model.halfspace.labels)

    def __call__(self, X: Any) -> tuple[Ints, Array]:
        """The label of each row, exact where all numbers are integers."""
        scores = score(self._halfspace, X)
        return np.asarray(scores > 0, np.int64), scores.astype(np.float64)


class ScoreLabeller:
    """An online model or a classifier: two classes have one score, more have one each, and the highest wins."""

    def __init__(self, model: "OnlinePerceptron | ScoreClassifier", needs: Needs, classes: list[Any]) -> None:
        self._model, self.needs, self.classes = model, needs, classes

    def __call__(self, X: Any) -> tuple[Ints, Array]:
        """The label of each row by its scores."""
        scores = self._model.decision_function(X)
        if scores.ndim == 1:
            return np.asarray(scores > 0, np.int64), scores
        return scores.argmax(axis=1), scores.max(axis=1)


def require_kind(model: "Loaded", file: str, *, is_text: bool) -> None:
    """Refuse a model of texts where rows are numbers, and one of numbers where they are texts."""
    knows_text = isinstance(model, OnlinePerceptron) and model.bits is not None
    if is_text != knows_text:
        seen, use = ("numbers", "omit --text") if is_text else ("text", "use --text")
        raise ModelError(f"this model was learned from {seen}: {use}", file=file)


def labeller_of(model: "Loaded", file: str) -> Labeller:
    """How a model that was loaded from this file labels rows."""
    if isinstance(model, Model):
        return HalfspaceLabeller(model)
    if isinstance(model, OnlinePerceptron):
        if len(model.classes) < 2:
            raise OneClassError(f"the model has seen only one class, {model.classes[0]!r}", file=file)
        return ScoreLabeller(model, Needs(model.columns, model.width or 0, model.label), model.classes)
    names = getattr(model, "feature_names_in_", None)
    if names is not None:
        del model.feature_names_in_  # columns are matched by name here: scikit-learn would ask for them again
    needs = Needs(None if names is None else tuple(map(str, names)), model.n_features_in_)
    return ScoreLabeller(model, needs, model.classes_.tolist())


def score(halfspace: Halfspace, X: Any) -> Array:
    """The score of each row: in integers where the weights and all rows are integers, so that no sign is rounded."""
    data = X if isinstance(X, np.ndarray) else X.data
    if halfspace.w.dtype.kind in "iu" and data.dtype.kind == "f" and _is_whole(data):
        X = X.astype(np.int64)
    table, _, _ = read_table(X)
    with np.errstate(all="ignore"):  # what is not finite is refused later, by its row
        return halfspace.score(table.values if isinstance(table, Dense) else X)


def _is_whole(values: Array) -> bool:
    return bool((np.abs(values) <= EXACT).all() and (values == np.floor(values)).all())


@dataclass(frozen=True, slots=True)
class Part:
    """Rows of one file to be labelled, and their labels if it has them: an array in which some may be missing.

    `rows` are the numbers of the rows in their file, `bad` those of the rows among them that were rejected.
    """

    file: str
    is_text: bool  # whether labels are texts that may mean numbers
    X: Any
    labels: Any
    rows: Ints
    bad: list[int]
    remarks: tuple[str, ...] = ()

    def without(self, places: npt.NDArray[np.bool_]) -> "Part":
        """The same stretch of the file, with these rows bad too."""
        kept = np.flatnonzero(~places)
        labels = self.labels
        if labels is not None:
            labels = labels[kept] if isinstance(labels, np.ndarray) else labels.take(kept)
        bad = [*self.bad, *self.rows[places].tolist()]
        return Part(self.file, self.is_text, self.X[kept], labels, self.rows[kept], bad, self.remarks)


def parts(
    labeller: Labeller,
    files: Sequence[str],
    options: Options,
    format: str | None = None,  # noqa: A002
    waiting: Waiting = nullcontext,
) -> Iterator[Part]:
    """The rows of files, batch by batch; `waiting` is entered while a pipe is waited for."""
    for reader in streaming.readers(files, options, format, waiting):
        remarks = tuple(reader.remarks())
        for stretch in streaming.stretches(reader, options.set_aside):
            batch = stretch.batch
            if batch is None:
                yield Part(reader.path, reader.is_text, None, None, stretch.rows, stretch.bad, remarks)
                continue
            X = batch.values if isinstance(labeller, HalfspaceLabeller) else streaming.as_doubles(reader, stretch)
            yield Part(reader.path, reader.is_text, X, batch.labels, stretch.rows, stretch.bad, remarks)


def text_parts(labeller: Labeller, files: Sequence[str], rejects: Rejects | None = None) -> Iterator[Part]:
    """Lines of text, each with a label and a tab before it or without; labels count where every line has one."""
    import pyarrow as pa

    bits = labeller.needs.width.bit_length() - 1
    for batch in text_batches(files, bits, need_labels=False, rejects=rejects):
        codes = pa.array(batch.codes, mask=batch.codes < 0)
        known = batch.codes.size and batch.codes.max() >= 0
        labels = pa.array(batch.labels, pa.string()).take(codes) if known else None
        yield Part(batch.file, False, batch.X, labels, batch.rows, batch.bad)


@dataclass(frozen=True, slots=True)
class Predicted:
    """Some rows of one file: their numbers, the positions of their labels among the classes, and their scores.

    `bad` are the numbers of the rows among them that were rejected.
    """

    file: str
    rows: Ints
    codes: Ints
    scores: Array
    bad: list[int]


class Predictions:
    """A label for each row of files: `labelled` yields them in order, then `error` says how many are wrong.

    `model` is what `linsep.load` gives, and `name` what errors call it. `note` is called, once each, with
    what a reader of the result should know. The other options are those of `linsep.open`.
    """

    def __init__(
        self,
        model: "Loaded",
        files: Sequence[str],
        *,
        name: str = "the model",
        text: bool = False,
        format: str | None = None,  # noqa: A002
        note: Callable[[str], None] | None = None,
        **options: Any,
    ) -> None:
        require_kind(model, name, is_text=text)
        self._labeller = labeller_of(model, name)
        self._files, self._is_text, self._format, self._note = files, text, format, note or (lambda text: None)
        self._options = replace(options_of(**options), needs=self._labeller.needs)
        self._rejects = self._options.set_aside
        self._truth, self.rows = Truth(self.classes), 0

    @property
    def classes(self) -> list[Any]:
        """The labels."""
        return self._labeller.classes

    @property
    def rows_left_out(self) -> int:
        """How many rows were rejected."""
        return 0 if self._rejects is None else self._rejects.count

    def labelled(self, late: Callable[[Predicted], None] = lambda predicted: None) -> Iterator[Predicted]:
        """Label every row; `late` gets the rejected rows that are known before more input is waited for."""
        remarks = set[str]()
        for part in self._parts(late):
            for remark in part.remarks:
                if remark not in remarks:
                    self._note(remark)
                remarks.add(remark)
            part, codes, scores = label(self._labeller, part, self._rejects)
            self.rows += len(codes)
            yield Predicted(part.file, part.rows, codes, scores, part.bad)
            self._truth.add(part, codes)
        self._truth.finish()

    def _parts(self, late: Callable[[Predicted], None]) -> Iterator[Part]:
        if self._is_text:
            return text_parts(self._labeller, self._files, self._rejects)
        return parts(self._labeller, self._files, self._options, self._format, lambda: self._caught_up(late))

    @contextmanager
    def _caught_up(self, late: Callable[[Predicted], None]) -> Iterator[None]:
        none = np.zeros(0, np.int64)
        for file, row in self._rejects.drain() if self._rejects is not None else []:
            late(Predicted(file, none, none, np.zeros(0), [row]))
        yield

    def error(self) -> str | None:
        """How many predictions are wrong, in words, or why nobody can tell; None where files have no labels."""
        truth = self._truth
        if truth.reason is not None:
            return f"No error is computed. {truth.reason}"
        share = f"{truth.wrong:,} of {count(truth.rows, 'row')} wrong"
        return f"Error: {truth.wrong / truth.rows:.6g} ({share})." if truth.rows else None

    def facts(self) -> dict[str, Any]:
        """The same as plain values."""
        truth = self._truth
        is_known = truth.reason is None and truth.rows > 0
        return {
            "rows": self.rows,
            "rows_left_out": self.rows_left_out,
            "compared": truth.rows if is_known else 0,
            "wrong": truth.wrong if is_known else None,
            "error": truth.wrong / truth.rows if is_known else None,
            "remark": truth.reason,
        }


def label(labeller: Labeller, part: Part, rejects: Rejects | None = None) -> tuple[Part, Ints, Array]:
    """The labels of some rows, and their scores; a row whose score is beyond all doubles is an error, or rejected."""
    if part.X is None or not part.X.shape[0]:
        return part, np.zeros(0, np.int64), np.zeros(0)
    codes, scores = labeller(part.X)
    odd = ~np.isfinite(scores)
    for place in np.flatnonzero(odd).tolist():
        row = int(part.rows[place])
        error = fault("overflow", part.file, row=row)
        if rejects is None:
            raise error
        rejects.add(part.file, row, error, content(part.X, None, place))
    if odd.any() and rejects is not None:
        rejects.drain()  # they have their place in this part
        return part.without(odd), codes[~odd], scores[~odd]
    return part, codes, scores
