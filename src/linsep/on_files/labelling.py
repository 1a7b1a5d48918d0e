"""Labels for the rows of any file, batch by batch, and how many of them are wrong."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from linsep.errors import ManyClassesError, MissingLabelError, ModelError, OneClassError
from linsep.faults import fault, few
from linsep.halfspace import Halfspace
from linsep.learners.online_perceptron import OnlinePerceptron
from linsep.loops.layouts import Dense
from linsep.models import Model
from linsep.on_files.text_lines import text_batches
from linsep.report import count
from linsep.sources.base import Ints
from linsep.sources.files import streaming
from linsep.sources.files.labels import Labels
from linsep.sources.files.numpy_files import content
from linsep.sources.files.options import Needs, Options
from linsep.sources.files.rejects import Rejects
from linsep.sources.files.streaming import Stretch, text_of
from linsep.sources.files.values import EXACT
from linsep.sources.inputs import read_table

if TYPE_CHECKING:
    from linsep.saved_models.load import Loaded

Array = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class Labeller:
    """A model of any kind as a way to label rows: the columns it needs, its labels, and its scores.

    Two classes have one score, and exactly 0 gets the negative label; more have one each, and the highest wins.
    """

    needs: Needs
    classes: list[Any]
    score: Callable[[Any], Array]
    takes_integers: bool = False  # else rows are doubles

    def __call__(self, X: Any) -> tuple[Ints, Array]:
        """The position in `classes` of each row's label, and its score."""
        scores = self.score(X)
        if scores.ndim == 1:
            return np.asarray(scores > 0, np.int64), scores.astype(np.float64, copy=False)
        return scores.argmax(axis=1), scores.max(axis=1)


def require_kind(model: "Loaded", file: str, *, is_text: bool) -> None:
    """Refuse a model of texts for rows of numbers, and a model of numbers for texts."""
    knows_text = isinstance(model, OnlinePerceptron) and model.bits is not None
    if is_text != knows_text:
        seen, use = ("numbers", "omit --text") if is_text else ("text", "use --text")
        raise ModelError(f"this model was learned from {seen}: {use}", file=file)


def labeller_of(model: "Loaded", file: str) -> Labeller:
    """How a model that was loaded from this file labels rows."""
    if isinstance(model, Model):
        halfspace = model.halfspace
        needs = Needs(model.columns, len(halfspace.w), model.label)
        return Labeller(needs, list(halfspace.labels), partial(score, halfspace), takes_integers=True)
    if isinstance(model, OnlinePerceptron):
        if len(model.classes) < 2:
            raise OneClassError(f"the model has seen only one class, {model.classes[0]!r}", file=file)
        needs = Needs(model.columns, model.width or 0, model.label)
        return Labeller(needs, model.classes, model.decision_function)
    names = getattr(model, "feature_names_in_", None)
    if names is not None:
        del model.feature_names_in_  # columns are matched by name here: scikit-learn would ask for them again
    needs = Needs(None if names is None else tuple(map(str, names)), model.n_features_in_)
    return Labeller(needs, model.classes_.tolist(), model.decision_function)


def score(halfspace: Halfspace, X: Any) -> Array:
    """The score of each row: in integers if the weights and all rows are integers, so that no sign is rounded."""
    data = X if isinstance(X, np.ndarray) else X.data
    if halfspace.w.dtype.kind in "iu" and data.dtype.kind == "f" and _is_whole(data):
        X = X.astype(np.int64)
    table, _, _ = read_table(X)
    with np.errstate(all="ignore"):  # a score that is not finite is refused later, by its row
        return halfspace.score(table.values if isinstance(table, Dense) else X)


def _is_whole(values: Array) -> bool:
    return bool((np.abs(values) <= EXACT).all() and (values == np.floor(values)).all())


def text_stretches(files: Sequence[str], bits: int, rejects: Rejects | None) -> Iterator[Stretch]:
    """Lines of text, with or without a label and a tab in front; labels are used if every line has one."""
    import pyarrow as pa

    for batch in text_batches(files, bits, need_labels=False, rejects=rejects):
        codes = pa.array(batch.codes, mask=batch.codes < 0)
        known = batch.codes.size and batch.codes.max() >= 0
        labels = pa.array(batch.labels, pa.string()).take(codes) if known else None
        yield Stretch(batch.file, batch.X, labels, batch.rows, batch.bad)


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

    Parameters
    ----------
    model : what `linsep.load` returns
        A classifier, an online model or a saved halfspace.
    files : sequence of str
        As `linsep.open` takes them.
    name : str
        The name of the model in errors.
    text : bool
        The files are lines of text.
    note : callable or None
        Called with remarks for the user, each once.
    **options
        Those of `linsep.open`.

    Examples
    --------
    >>> import linsep, pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "new.csv").write_text("x1,x2\\n3,1\\n-3,1\\n")
    >>> linsep.PerceptronClassifier("last", random_state=0).fit(*linsep.datasets.wang()).save(folder / "model.json")
    >>> job = linsep.on_files.Predictions(linsep.load(folder / "model.json"), [str(folder / "new.csv")])
    >>> [job.classes[code] for part in job.labelled() for code in part.codes]
    [1, -1]
    """

    def __init__(
        self,
        model: "Loaded",
        files: Sequence[str],
        *,
        name: str = "the model",
        text: bool = False,
        note: Callable[[str], None] | None = None,
        **options: Any,
    ) -> None:
        require_kind(model, name, is_text=text)
        self._label = labeller_of(model, name)
        self._files, self._is_text, self._note = files, text, note or (lambda text: None)
        self._options = Options(needs=self._label.needs, **options)
        self._rejects = self._options.rejects
        self._truth, self.rows = Truth(self.classes), 0

    @property
    def classes(self) -> list[Any]:
        """The labels."""
        return self._label.classes

    @property
    def rows_left_out(self) -> int:
        """How many rows were rejected."""
        return 0 if self._rejects is None else self._rejects.count

    def labelled(self, late: Callable[[Predicted], None] = lambda predicted: None) -> Iterator[Predicted]:
        """Label every row; before each wait for more input, `late` gets the rows that are already rejected."""
        for stretch in self._stretches(late):
            part, codes, scores = labelled(self._label, stretch, self._rejects)
            self.rows += len(codes)
            yield Predicted(part.file, part.rows, codes, scores, part.bad)
            self._truth.add(part, codes)
        self._truth.finish()

    def _stretches(self, late: Callable[[Predicted], None]) -> Iterator[Stretch]:
        if self._is_text:
            bits = self._label.needs.width.bit_length() - 1
            yield from text_stretches(self._files, bits, self._rejects)
            return
        remarks = set[str]()
        for reader in streaming.readers(self._files, self._options, lambda: self._caught_up(late)):
            for remark in reader.remarks:
                if remark not in remarks:
                    self._note(remark)
                remarks.add(remark)
            yield from streaming.stretches(reader, as_doubles=not self._label.takes_integers)

    @contextmanager
    def _caught_up(self, late: Callable[[Predicted], None]) -> Iterator[None]:
        none = np.zeros(0, np.int64)
        for file, row in self._rejects.drain() if self._rejects is not None else []:
            late(Predicted(file, none, none, np.zeros(0), [row]))
        yield

    def error(self) -> str | None:
        """How many predictions are wrong, in words, or why that is not known; None if the files have no labels."""
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


def labelled(label: Labeller, part: Stretch, rejects: Rejects | None) -> tuple[Stretch, Ints, Array]:
    """The labels of some rows, and their scores; a row whose score overflows is an error, or rejected."""
    if not len(part.rows):
        return part, np.zeros(0, np.int64), np.zeros(0)
    codes, scores = label(part.X)
    odd = ~np.isfinite(scores)
    for place in np.flatnonzero(odd).tolist():
        row = int(part.rows[place])
        error = fault("overflow", part.file, row=row)
        if rejects is None:
            raise error
        rejects.add(part.file, row, error, content(part.X, None, place))
    if odd.any() and rejects is not None:
        rejects.drain()  # they are already in this part
        return part.without(odd), codes[~odd], scores[~odd]
    return part, codes, scores


class Truth:
    """Compares the labels of files with the predictions: how many differ, or the reason why that is not known."""

    def __init__(self, classes: list[Any]) -> None:
        self._classes = {value: code for code, value in enumerate(classes)}
        self._texts = {text_of(value): code for code, value in enumerate(classes)}
        is_rest = len(classes) == 2 and classes[0] == f"not {classes[1]}"  # what --positive calls all other labels
        self._other = 0 if is_rest else None
        self.rows = self.wrong = 0
        self.reason: str | None = None
        self._labels: Labels | None = None
        self._pairs: Counter[tuple[int, int]] = Counter()  # of a label's code and the predicted position

    def add(self, part: Stretch, codes: Ints) -> None:
        """Compare some rows. What the labels mean is known only when all those of a file have been read."""
        if part.labels is None or not len(codes) or self.reason is not None:
            return
        if self._labels is None or self._labels.path != part.file:
            self.finish()
            self._labels = Labels(part.file, part.is_text)
        before = len(self._labels.first)
        missing = _is_missing(part.labels)
        if missing.any():
            row = int(part.rows[int(np.argmax(missing))])
            self.reason = str(fault("no label", part.file, row=row, fix=""))
            return
        try:
            seen = self._labels.encode(part.labels, 0).astype(np.int64)
        except (MissingLabelError, ManyClassesError) as error:
            self.reason = str(error)
            return
        for key in list(self._labels.first)[before:]:  # new labels: their first rows in the file
            self._labels.first[key] = int(part.rows[self._labels.first[key]])
        both, counts = np.unique(seen * len(self._texts) + codes, return_counts=True)
        for pair, times in zip(both.tolist(), counts.tolist(), strict=True):
            self._pairs[divmod(pair, len(self._texts))] += times

    def finish(self) -> None:
        """Count the mistakes in the file that was being compared."""
        if self._labels is None or self.reason is not None:
            return
        meanings = dict(enumerate(zip(self._labels.codes, self._labels.values(), strict=True)))
        for (label_code, predicted), times in self._pairs.items():
            key, value = meanings[label_code]
            true = self._class_of(key, value)
            if true is None:
                shown = key if all(isinstance(known, str) for known in self._classes) else value
                row, known = self._labels.first.get(key, 0), few(self._classes, 10)
                self.reason = str(fault("unknown label", self._labels.path, row=row, value=shown, known=known))
                return
            self.rows += times
            self.wrong += times * (true != predicted)
        self._pairs.clear()
        self._labels = None

    def _class_of(self, key: Any, value: Any) -> int | None:
        """The class that a label names, by its text or by its value."""
        for known, name in ((self._classes, value), (self._texts, key), (self._texts, text_of(value))):
            if name in known:
                return known[name]
        return self._other


def _is_missing(labels: Any) -> npt.NDArray[np.bool_]:
    """Where labels are null, NaN or empty."""
    import pyarrow as pa
    import pyarrow.compute as pc

    from linsep.sources.files.cells import is_string

    found = pa.array(labels) if isinstance(labels, np.ndarray) and labels.dtype.kind in "fU" else labels
    if isinstance(found, np.ndarray):
        return np.zeros(len(found), np.bool_)
    if pa.types.is_floating(found.type):
        missing = pc.invert(pc.is_finite(found.cast(pa.float64())))
    else:
        missing = pc.equal(found, "") if is_string(found.type) else found.is_null()
    return np.asarray(missing.fill_null(True))
