"""One pass over a stream of rows: each is predicted, then learned from, in constant memory."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from linsep.errors import DifferentFilesError
from linsep.faults import fault
from linsep.learners.online_perceptron import Counts, OnlinePerceptron
from linsep.on_files.files_named import about
from linsep.on_files.text_lines import STDIN, LabelledRows, text_batches
from linsep.report import Report, count
from linsep.sources.files import streaming
from linsep.sources.files.labels import Labels
from linsep.sources.files.options import Options
from linsep.sources.files.reader import Reader
from linsep.sources.files.text_reader import Waiting


class Look(NamedTuple):
    """The stream at one moment: what was counted so far, and the latest row."""

    counts: Counts
    label: str
    predicted: str | None
    features: int


class OnePass:
    """A model and the files, or standard input, that it learns from: lines of text if it hashes words.

    Parameters
    ----------
    model : OnlinePerceptron
        Learns as the rows come.
    files : sequence of str
        As `linsep.open` takes them.
    waiting : callable or None
        A context that is entered while a pipe is waited for.
    note : callable or None
        Called with remarks for the user.
    **options
        Those of `linsep.open`.

    Examples
    --------
    >>> import linsep, pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "mail.tsv")
    >>> _ = path.write_text("spam\\twin a prize\\nham\\tsee you at lunch\\n")
    >>> job = linsep.on_files.OnePass(linsep.OnlinePerceptron(bits=18), [str(path)])
    >>> [look.counts.rows for look in job.looks()]
    [1, 2]
    """

    def __init__(
        self,
        model: OnlinePerceptron,
        files: Sequence[str],
        *,
        waiting: Waiting | None = None,
        note: Callable[[str], None] | None = None,
        **options: Any,
    ) -> None:
        chosen, waiting = Options(**options), waiting or nullcontext
        self.model, self._files, self._rejects, self.was_stopped = model, files or [STDIN], chosen.rejects, False
        if model.bits is None:
            self._batches = table_batches(self._files, chosen, waiting, note or (lambda text: None))
        else:
            self._batches = text_batches(files, model.bits, waiting=waiting, rejects=self._rejects)

    @property
    def rows_left_out(self) -> int:
        """How many rows were rejected."""
        return 0 if self._rejects is None else self._rejects.count

    def looks(self, is_stopped: Callable[[], object] = lambda: False) -> Iterator[Look]:
        """Learn from every row, with a look each time their number has doubled; `is_stopped` is called regularly."""
        for batch in self._batches:
            self.model.columns = batch.columns
            self.model.label = batch.label if isinstance(batch.label, str) else None
            with about([batch.file]):
                yield from _learn(self.model, batch)
            if is_stopped():
                self.was_stopped = True
                return

    def finish(self) -> None:
        """Close the file of rejected rows, and refuse a stream from which nothing could be learned."""
        if self._rejects is not None:
            self._rejects.begin()  # even after an interrupt: an empty file says that no row was bad
        rows, left_out = self.model.counts.rows, self.rows_left_out
        with about(self._files):
            if not rows:
                raise fault("none left", left_out=left_out) if left_out else fault("nothing to learn")
            if len(self.model.classes) < 2:
                raise fault("one class", value=self.model.classes[0])

    def report(self) -> Report:
        """How the stream ended."""
        said = self.model.report()
        return replace(said, title=f"{'Interrupted after' if self.was_stopped else 'Finished:'} {said.title}")

    def facts(self) -> dict[str, Any]:
        """The same as plain values."""
        model, counts = self.model, self.model.counts
        return {
            "interrupted": self.was_stopped,
            "rows": counts.rows,
            "rows_left_out": self.rows_left_out,
            "mistakes": counts.mistakes,
            "updates": counts.updates,
            "loss": counts.loss,
            "classes": model.classes,
            "radius": model.radius,
            "gamma": model.gamma,
            "bound": model.bound,
            "gamma_ceiling": model.gamma_ceiling if counts.updates else None,
        }


def _learn(model: OnlinePerceptron, batch: LabelledRows) -> Iterator[Look]:
    """Learn from the rows of a batch, with a look each time their total number is a power of two."""
    model.add_classes(batch.labels)
    places = {label: code for code, label in enumerate(model.classes)}
    codes = np.array([places[label] for label in batch.labels], np.int64)[batch.codes]
    start, n_rows, X = 0, len(codes), _fitted(model, batch.X)
    while start < n_rows:
        doubled = 1 << model.counts.rows.bit_length() if model.counts.rows else 1
        stop = min(n_rows, start + doubled - model.counts.rows)
        rows = X if start == 0 and stop == n_rows else X[start:stop]
        foretold = model.learn_codes(rows, codes[start:stop])
        if model.counts.rows == doubled:
            predicted = int(foretold[-1, 0])
            named = None if predicted < 0 else model.classes[predicted]
            yield Look(model.counts, model.classes[codes[stop - 1]], named, _features(rows))
        start = stop


def _fitted(model: OnlinePerceptron, X: Any) -> Any:
    """Rows as wide as the weights: sparse rows may have columns that were never seen, or be shorter."""
    if isinstance(X, sp.csr_array) and model.width is not None and model.width != X.shape[1]:
        model.widen(X.shape[1])
        return sp.csr_array((X.data, X.indices, X.indptr), shape=(X.shape[0], model.width))
    return X


def _features(rows: Any) -> int:
    """How many features of the last row are not 0."""
    last = rows[-1:]
    return int(np.count_nonzero(last if isinstance(last, np.ndarray) else last.data))


def table_batches(
    files: Sequence[str], options: Options, waiting: Waiting, note: Callable[[str], None]
) -> Iterator[LabelledRows]:
    """Rows of tables of any format; columns are those of the first file, matched by name."""
    first: Reader | None = None
    for reader in streaming.readers(files, options, waiting):
        if first is None:
            first = reader
            for remark in reader.remarks:
                note(remark)
        _require_alike(first, reader)
        places = {name: place for place, name in enumerate(reader.columns or ())}
        is_other = reader.columns is not None and first.columns not in (None, reader.columns)
        order = [places[name] for name in first.columns or ()] if is_other else None
        labels = Labels(reader.path, reader.is_text)
        for stretch in streaming.stretches(reader, as_doubles=True):
            if len(stretch.rows):
                codes = labels.encode(stretch.labels, int(stretch.rows[0])).astype(np.int64)
                names, X = (
                    list(map(streaming.text_of, labels.codes)),
                    stretch.X if order is None else stretch.X[:, order],
                )
                how = (stretch.rows, stretch.bad, first.columns, reader.label_name)
                yield LabelledRows(reader.path, X, names, codes, *how)


def _require_alike(first: Reader, reader: Reader) -> None:
    """Refuse a file with columns other than those of the first; rows of svmlight files may have any length."""
    mine, theirs = first.columns, reader.columns
    if mine is not None and theirs is not None:
        odd = sorted(set(mine) ^ set(theirs))
        seen = f"the columns are not those of the first file: {odd[0]!r} is in one of them" if odd else None
    elif first.is_sparse and reader.is_sparse:
        seen = None
    else:
        widths = f"{count(reader.n_columns, 'column')} where the first file has {first.n_columns:,}"
        seen = None if reader.n_columns == first.n_columns else widths
    if seen is not None:
        raise DifferentFilesError(seen, file=reader.path)
