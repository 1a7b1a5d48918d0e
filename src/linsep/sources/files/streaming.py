"""Files walked once, batch by batch, as their rows come: for labelling, or for learning in one pass.

Nothing is surveyed or cached first, so a pipe is read while it is being written, and one batch is in memory at a time.
"""

from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.errors import InputError
from linsep.faults import fault
from linsep.sources.base import Ints
from linsep.sources.files import pipe_opened, reader_of, spool
from linsep.sources.files.first_read import require_finite
from linsep.sources.files.options import Options
from linsep.sources.files.paths import MARK, PIPED, Paths, expand, is_pipe, kind_of, packing_of
from linsep.sources.files.private import TemporaryFolder
from linsep.sources.files.reader import Batch, Reader
from linsep.sources.files.text_reader import Pipe, Waiting
from linsep.sources.files.values import first_long


def readers(path: Paths, options: Options, waiting: Waiting = nullcontext) -> Iterator[Reader]:
    """A reader for each file in turn; `waiting` is entered while waiting for a pipe.

    Files none of which has a row, good or bad, are refused after the last.
    """
    seen = list[InputError | None]()
    for reader in _readers(path, options, waiting):
        yield reader
        seen.append(None if reader.left_out else reader.why_empty)
    if None not in seen and seen[0] is not None:
        raise seen[0].at(more=len(seen) - 1)


def _readers(path: Paths, options: Options, waiting: Waiting) -> Iterator[Reader]:
    if options.numbers == "decimal":
        raise fault("only verdicts")
    files = expand(path)
    for file in files:
        if not is_pipe(file):
            kind_of(file, options.format)  # so that a bad name is an error before the first row, not after the last
    if options.rejects is not None:
        options.rejects.require_apart(path)
    for file in files:
        name = "stdin" if file == "-" else file
        if not is_pipe(file):
            yield reader_of(file, options)
            continue
        with pipe_opened(file) as stream:
            pipe = Pipe(stream, waiting)
            if (options.format or "csv") in PIPED and not packing_of(pipe.read(MARK)):
                yield reader_of(name, options, pipe)
                continue
            folder = TemporaryFolder()
            yield reader_of(name, options, spool(pipe.opened(is_last=True), Path(folder.path, "0"), options.format))
            folder.removed()
    if options.rejects is not None:
        options.rejects.begin()


@dataclass(frozen=True, slots=True)
class Stretch:
    """Consecutive rows of a file: the good ones with their numbers in the file, and the numbers of the bad ones.

    `X` and `labels` are those of a reader's batch: raw labels, some of which may be missing, or None for no labels.
    """

    file: str
    X: Any
    labels: Any
    rows: Ints
    bad: list[int]
    is_text: bool = False  # whether labels are texts that may mean numbers

    def without(self, places: npt.NDArray[np.bool_]) -> "Stretch":
        """The same stretch with these rows counted as bad too."""
        kept, bad = np.flatnonzero(~places), [*self.bad, *self.rows[places].tolist()]
        labels = None if self.labels is None else self.labels.take(kept)
        return replace(self, X=self.X[kept], labels=labels, rows=self.rows[kept], bad=bad)


def stretches(reader: Reader, *, as_doubles: bool = False) -> Iterator[Stretch]:
    """Every row once, in order, all numbers finite; if bad rows are rejected, a file may hold only bad rows."""
    rejects = reader.options.rejects
    if rejects is not None:
        rejects.drain()
    for batch in reader.batches():
        require_finite(reader, batch)
        bad = [row for _, row in rejects.drain()] if rejects is not None else []
        first = batch.first + reader.left_out - len(bad)
        rows = np.arange(first, first + len(batch) + len(bad))
        rows = rows if not bad else np.delete(rows, np.array(bad) - first)
        values = doubles_of(reader, batch, rows) if as_doubles else batch.values
        yield Stretch(reader.path, values, batch.labels, rows, bad, reader.is_text)
    if rejects is not None and (bad := [row for _, row in rejects.drain()]):
        yield Stretch(reader.path, np.zeros((0, reader.n_columns)), None, np.zeros(0, np.int64), bad)


def doubles_of(reader: Reader, batch: Batch, rows: Ints) -> Any:
    """The rows of a batch as doubles; an integer that a double would round is refused."""
    values = batch.values
    if values.dtype.kind == "f":
        return values.astype(np.float64, copy=False)
    dense: npt.NDArray[Any] = values if isinstance(values, np.ndarray) else values.toarray()
    place = first_long(dense)
    if place is None:
        return values.astype(np.float64)
    position, column = place
    name = reader.columns[column] if reader.columns else column
    value = int(dense[position, column])
    raise fault("inexact", reader.path, row=int(rows[position]), column=name, value=value)


def text_of(label: Any) -> str:
    """A label as text: 1.0 is "1", as it would stand in a text file."""
    if isinstance(label, bool):
        return "true" if label else "false"
    if isinstance(label, float) and label.is_integer():
        return str(int(label))
    return str(label)
