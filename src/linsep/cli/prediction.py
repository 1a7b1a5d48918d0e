"""`linsep predict`: rows of any file in, a label for each row out, batch by batch; and how many were wrong."""

import csv
import io
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from linsep.errors import ManyClassesError, MissingLabelError, ModelError, OneClassError, OverflowedError
from linsep.halfspace import Halfspace
from linsep.kernels.dense import Dense
from linsep.models import Model
from linsep.online import OnlinePerceptron
from linsep.sources.base import Ints
from linsep.sources.files import walking
from linsep.sources.files.labels import Labels
from linsep.sources.files.reading import EXACT, Needs, Options
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
    """Rows of one file to be labelled, and their labels if it has them: an array in which some may be missing."""

    file: str
    is_text: bool  # whether labels are texts that may mean numbers
    first: int
    X: Any
    labels: Any
    remarks: tuple[str, ...] = ()


def parts(judge: Judge, files: Sequence[str], options: Options, format: str | None) -> Iterator[Part]:  # noqa: A002
    """The rows of files, batch by batch."""
    for reader in walking.readers(files, options, format):
        for batch in walking.batches(reader):
            X = batch.values if isinstance(judge, HalfspaceJudge) else walking.as_doubles(reader, batch)
            yield Part(reader.path, reader.is_text, batch.place.first, X, batch.labels, tuple(reader.remarks()))


def text_parts(judge: Judge, files: Sequence[str]) -> Iterator[Part]:
    """Lines of text, each with a label and a tab before it or without; labels count where every line has one."""
    import pyarrow as pa

    from linsep.cli import streams

    first, last = 0, None
    for batch in streams.text_batches(files, judge.needs.width.bit_length() - 1, streams.CtrlC(), need_labels=False):
        first, last = 0 if batch.file != last else first, batch.file
        codes = pa.array(batch.codes, mask=batch.codes < 0)
        known = batch.codes.size and batch.codes.max() >= 0
        yield Part(
            batch.file, False, first, batch.X, pa.array(batch.labels, pa.string()).take(codes) if known else None
        )
        first += len(batch.codes)


def predict(judge: Judge, rows: Iterator[Part], output: str | None, *, with_scores: bool) -> None:
    """Label every row, batch by batch, and say how many were wrong where that is known."""
    from linsep.cli import report

    truth, said = Truth(judge.classes), set[str]()
    with page(output, judge.classes, with_scores=with_scores) as lines:
        for part in rows:
            codes, scores = label(judge, part)
            lines.add(codes, scores)
            truth.add(part, codes)
            for remark in part.remarks:
                if remark not in said:
                    report.note(remark)
                said.add(remark)
    truth.finish()
    if truth.reason is not None:
        report.note(f"No error is computed. {truth.reason}")
    elif truth.rows:
        share = f"{truth.wrong:,} of {report.count(truth.rows, 'row')} wrong"
        report.note(f"Error: {truth.wrong / truth.rows:.6g} ({share}).")


def label(judge: Judge, part: Part) -> tuple[Ints, Array]:
    """The labels of some rows, and their scores, which must be numbers."""
    codes, scores = judge(part.X)
    bad = np.flatnonzero(~np.isfinite(scores))
    if bad.size:
        row = part.first + int(bad[0])
        raise OverflowedError(
            f"{part.file}: the score of row {row} is beyond the largest double.", file=part.file, row=row
        )
    return codes, scores


class Page:
    """Lines of CSV on their way to stdout or to a file."""

    def __init__(self, out: IO[bytes] | None, classes: list[Any], *, with_scores: bool) -> None:
        self._out, self._with_scores = out, with_scores
        self._names = [_quoted(value) for value in classes]
        if out is not None:
            self._write("prediction,score\n" if with_scores else "prediction\n")

    def add(self, codes: Ints, scores: Array) -> None:
        """One line for each row: the label, and the score where it is asked for."""
        names = [self._names[code] for code in codes.tolist()]
        if self._with_scores:
            names = [f"{name},{value!r}" for name, value in zip(names, scores.tolist(), strict=True)]
        self._write("".join(f"{name}\n" for name in names))

    def _write(self, text: str) -> None:
        if self._out is not None:
            self._out.write(text.encode())
        else:
            sys.stdout.write(text)
            sys.stdout.flush()  # whoever waits at the other end of a pipe gets every batch at once


@contextmanager
def page(output: str | None, classes: list[Any], *, with_scores: bool) -> Iterator[Page]:
    """Where predictions go: to stdout, or into a file that is put in place when all are written."""
    from linsep.sealed import replaced

    if output is None:
        yield Page(None, classes, with_scores=with_scores)
        return
    with replaced(output) as file:
        yield Page(file, classes, with_scores=with_scores)


def _quoted(value: Any) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow([value])
    return line.getvalue()


class Truth:
    """The labels of files beside what was predicted: how many differ, or the reason why nobody can tell."""

    def __init__(self, classes: list[Any]) -> None:
        self._classes = {value: code for code, value in enumerate(classes)}
        self._texts = {walking.text_of(value): code for code, value in enumerate(classes)}
        is_rest = len(classes) == 2 and classes[0] == f"not {classes[1]}"  # what --positive calls all other labels
        self._other = 0 if is_rest else None
        self.rows = self.wrong = 0
        self.reason: str | None = None
        self._labels: Labels | None = None
        self._pairs: Counter[tuple[int, int]] = Counter()  # of a label's code and the predicted position

    def add(self, part: Part, codes: Ints) -> None:
        """Compare some rows. What labels mean is known when all those of a file were seen."""
        if part.labels is None or self.reason is not None:
            return
        if self._labels is None or self._labels.path != part.file:
            self.finish()
            self._labels = Labels(part.file, part.is_text)
        try:
            self._require_all(part)
            seen = self._labels.encode(part.labels, part.first).astype(np.int64)
        except (MissingLabelError, ManyClassesError) as error:
            self.reason = str(error)
            return
        both, counts = np.unique(seen * len(self._texts) + codes, return_counts=True)
        for pair, count in zip(both.tolist(), counts.tolist(), strict=True):
            self._pairs[divmod(pair, len(self._texts))] += count

    def _require_all(self, part: Part) -> None:
        if not isinstance(part.labels, np.ndarray) and part.labels.null_count:
            row = part.first + int(np.argmax(np.asarray(part.labels.is_null())))
            raise MissingLabelError(f"{part.file}: the label of row {row} is missing.")

    def finish(self) -> None:
        """Count the file that was being compared."""
        if self._labels is None or self.reason is not None:
            return
        meanings = dict(enumerate(zip(self._labels.codes, self._labels.values(), strict=True)))
        for (label_code, predicted), count in self._pairs.items():
            key, value = meanings[label_code]
            true = self._class_of(key, value)
            if true is None:
                shown = key if all(isinstance(known, str) for known in self._classes) else value
                where = f"{self._labels.path}: the label of row {self._labels.first.get(key, 0)} is {shown!r}"
                self.reason = f"{where}, which is none of the model's: {_listed(list(self._classes))}."
                return
            self.rows += count
            self.wrong += count * (true != predicted)
        self._pairs.clear()
        self._labels = None

    def _class_of(self, key: Any, value: Any) -> int | None:
        """The class that a label names, as it is written or by what it means."""
        for known, name in ((self._classes, value), (self._texts, key), (self._texts, walking.text_of(value))):
            if name in known:
                return known[name]
        return self._other


def _listed(values: list[Any]) -> str:
    return ", ".join(map(repr, values[:10])) + (", ..." if len(values) > 10 else "")
