"""`linsep predict`: rows of any file in, a label for each row out, batch by batch; and how many were wrong."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from linsep.cli.pages import Asked, Page, page
from linsep.cli.truth import Truth
from linsep.errors import ModelError, OneClassError, OverflowedError
from linsep.halfspace import Halfspace
from linsep.kernels.layouts import Dense
from linsep.models import Model
from linsep.online import OnlinePerceptron
from linsep.sources.base import Ints
from linsep.sources.files import streaming
from linsep.sources.files.npy import content
from linsep.sources.files.options import Needs, Options
from linsep.sources.files.reader import EXACT
from linsep.sources.files.rejects import Rejects
from linsep.sources.files.text_reader import Waiting
from linsep.sources.inputs import read_table

if TYPE_CHECKING:
    from linsep._load import Loaded
    from linsep.estimators.base import ScoreClassifier

Array = npt.NDArray[Any]


class Judge(Protocol):
    """A model of any kind, as it labels rows."""

    needs: Needs
    classes: list[Any]

    def __call__(self, X: Any) -> tuple[Ints, Array]:
        """The position in `classes` of each row's label, and its score."""


class HalfspaceJudge:
    """The model of `linsep fit`. Its score is w·x + b; exactly 0 gets the negative label."""

    def __init__(self, model: Model) -> None:
        self._halfspace = model.halfspace
        self.needs = Needs(model.columns, len(model.halfspace.w), model.label)
        self.classes = list(model.halfspace.labels)

    def __call__(self, X: Any) -> tuple[Ints, Array]:
        """The label of each row, exact where all numbers are integers."""
        scores = score(self._halfspace, X)
        return np.asarray(scores > 0, np.int64), scores.astype(np.float64)


class ScoreJudge:
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
        seen, use = ("numbers", "leave --text out") if is_text else ("text", "say --text")
        raise ModelError(f"{file}: this model was learned from {seen}: {use}.")


def judge_of(model: "Loaded", file: str) -> Judge:
    """How a model that was loaded from this file labels rows."""
    if isinstance(model, Model):
        return HalfspaceJudge(model)
    if isinstance(model, OnlinePerceptron):
        if len(model.classes) < 2:
            raise OneClassError(f"{file}: the model has seen one class only, {model.classes[0]!r}.")
        return ScoreJudge(model, Needs(model.columns, model.width or 0, model.label), model.classes)
    names = getattr(model, "feature_names_in_", None)
    if names is not None:
        del model.feature_names_in_  # columns are matched by name here: scikit-learn would ask for them again
    needs = Needs(None if names is None else tuple(map(str, names)), model.n_features_in_)
    return ScoreJudge(model, needs, model.classes_.tolist())


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

    `rows` are the numbers of the rows in their file, `bad` those of the rows among them that were set aside.
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
    judge: Judge,
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
            X = batch.values if isinstance(judge, HalfspaceJudge) else streaming.as_doubles(reader, stretch)
            yield Part(reader.path, reader.is_text, X, batch.labels, stretch.rows, stretch.bad, remarks)


def text_parts(judge: Judge, files: Sequence[str], rejects: Rejects | None = None) -> Iterator[Part]:
    """Lines of text, each with a label and a tab before it or without; labels count where every line has one."""
    import pyarrow as pa

    from linsep.cli import streams

    bits = judge.needs.width.bit_length() - 1
    for batch in streams.text_batches(files, bits, streams.CtrlC(), need_labels=False, rejects=rejects):
        codes = pa.array(batch.codes, mask=batch.codes < 0)
        known = batch.codes.size and batch.codes.max() >= 0
        labels = pa.array(batch.labels, pa.string()).take(codes) if known else None
        yield Part(batch.file, False, batch.X, labels, batch.rows, batch.bad)


def predict(
    judge: Judge, rows: Callable[[Waiting], Iterator[Part]], how: Asked, rejects: Rejects | None = None
) -> None:
    """Label every row, batch by batch, and say how many were wrong where that is known."""
    from linsep.cli import report

    truth, said = Truth(judge.classes), set[str]()
    with page(how, judge.classes) as lines:
        for part in rows(lambda: _caught_up(lines, rejects)):
            for remark in part.remarks:
                if remark not in said:
                    report.note(remark)
                said.add(remark)
            part, codes, scores = label(judge, part, rejects)
            lines.add(part, codes, scores)
            truth.add(part, codes)
    truth.finish()
    if how.json:
        report.say_json(summary(lines.rows, truth, rejects))
    elif truth.reason is not None:
        report.note(f"No error is computed. {truth.reason}")
    elif truth.rows:
        share = f"{truth.wrong:,} of {report.count(truth.rows, 'row')} wrong"
        report.note(f"Error: {truth.wrong / truth.rows:.6g} ({share}).")
    if rejects is not None and rejects.count:
        place = "Where it stands" if rejects.count == 1 else "Where they stand"
        report.note(f"{report.set_aside(rejects)} {place}, the prediction is empty.")


def summary(rows: int, truth: Truth, rejects: Rejects | None) -> dict[str, Any]:
    """The last line of --json."""
    is_known = truth.reason is None and truth.rows > 0
    return {
        "summary": True,
        "rows": rows,
        "rows_left_out": 0 if rejects is None else rejects.count,
        "compared": truth.rows if is_known else 0,
        "wrong": truth.wrong if is_known else None,
        "error": truth.wrong / truth.rows if is_known else None,
        "remark": truth.reason,
    }


@contextmanager
def _caught_up(lines: Page, rejects: Rejects | None) -> Iterator[None]:
    """Whoever waits for the answer to a bad row gets it before more input is waited for."""
    late = rejects.drain() if rejects is not None else []
    for file, row in late:
        lines.add(Part(file, False, None, None, np.zeros(0, np.int64), [row]), np.zeros(0, np.int64), np.zeros(0))
    yield


def label(judge: Judge, part: Part, rejects: Rejects | None = None) -> tuple[Part, Ints, Array]:
    """The labels of some rows, and their scores; a row whose score is beyond all doubles is an error, or set aside."""
    if part.X is None or not part.X.shape[0]:
        return part, np.zeros(0, np.int64), np.zeros(0)
    codes, scores = judge(part.X)
    odd = ~np.isfinite(scores)
    for place in np.flatnonzero(odd).tolist():
        row = int(part.rows[place])
        told = f"{part.file}: the score of row {row} is beyond the largest double."
        fault = OverflowedError(told, file=part.file, row=row, fix="Divide large columns by a power of two.")
        if rejects is None:
            raise fault
        rejects.add(part.file, row, f"{fault.code}: {fault}", content(part.X, None, place))
    if odd.any() and rejects is not None:
        rejects.drain()  # they have their place in this part
        return part.without(odd), codes[~odd], scores[~odd]
    return part, codes, scores
