"""Files walked once, batch by batch, as their rows come: to be labelled, or learned from in one pass.

Nothing is surveyed or cached before, so that a pipe is read as it is written and memory is that of one batch.
"""

from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.errors import NoRowsError
from linsep.faults import fault
from linsep.sources.base import Ints
from linsep.sources.files import pipe_opened, reader_of, spool
from linsep.sources.files.first_read import require_finite
from linsep.sources.files.options import Options
from linsep.sources.files.paths import PACKED, Paths, expand, is_pipe, kind_of
from linsep.sources.files.private import temporary
from linsep.sources.files.reader import EXACT, Batch, Reader
from linsep.sources.files.rejects import Rejects
from linsep.sources.files.text_reader import Pipe, Waiting


def readers(
    path: Paths,
    options: Options,
    format: str | None = None,  # noqa: A002
    waiting: Waiting = nullcontext,
) -> Iterator[Reader]:
    """A reader for each file in turn; `waiting` is entered while a pipe is waited for."""
    files = expand(path)
    for file in files:
        if not is_pipe(file):
            kind_of(file, format)  # a name that cannot be read is an error before the first row, not after the last
    if options.set_aside is not None:
        options.set_aside.require_apart(path)
    for file in files:
        if not is_pipe(file):
            yield reader_of(file, options, format)
        elif (format or "csv") in PACKED:
            with pipe_opened(file) as stream:
                yield reader_of("stdin" if file == "-" else file, options, format, Pipe(stream, waiting))
        else:
            with temporary() as folder:
                yield reader_of(spool(file, Path(folder, "0"), format), options, format)
    if options.set_aside is not None:
        options.set_aside.begin()


@dataclass(frozen=True, slots=True)
class Stretch:
    """Consecutive rows of a file: the good ones with the numbers that they have there, and the numbers of the bad."""

    batch: Batch | None
    rows: Ints
    bad: list[int]


def stretches(reader: Reader, rejects: Rejects | None) -> Iterator[Stretch]:
    """Every row once, in order, all numbers finite; where bad rows are rejected, a file may hold nothing else."""
    if rejects is not None:
        rejects.drain()
    try:
        for batch in reader.batches():
            require_finite(reader, batch)
            bad = [row for _, row in rejects.drain()] if rejects is not None else []
            yield Stretch(batch, numbers(batch, reader.left_out - len(bad), bad), bad)
    except NoRowsError:
        if not reader.left_out:
            raise
    if rejects is not None and (bad := [row for _, row in rejects.drain()]):
        yield Stretch(None, np.zeros(0, np.int64), bad)


def numbers(batch: Batch, before: int, bad: Sequence[int]) -> Ints:
    """The numbers that the rows of a batch have in their file: bad ones were left out before and among them."""
    first = batch.first + before
    every = np.arange(first, first + len(batch) + len(bad))
    return every if not bad else np.delete(every, np.array(bad) - first)


def as_doubles(reader: Reader, stretch: Stretch) -> Any:
    """The rows of a batch as doubles; an integer that a double would round is refused."""
    assert stretch.batch is not None
    values = stretch.batch.values
    if values.dtype.kind == "f":
        return values.astype(np.float64, copy=False)
    dense: npt.NDArray[Any] = values if isinstance(values, np.ndarray) else values.toarray()
    largest = int(EXACT)  # beside a float NumPy would round the integers
    long = np.argwhere((dense > largest) | (dense < -largest))
    if not long.size:
        return values.astype(np.float64)
    position, column = (int(place) for place in long[0])
    row = int(stretch.rows[position])
    name = reader.columns[column] if reader.columns else column
    raise fault("inexact", reader.path, row=row, column=name, value=int(dense[position, column]))


def text_of(label: Any) -> str:
    """A label as text: 1.0 is "1", as it would stand in a text file."""
    if isinstance(label, bool):
        return "true" if label else "false"
    if isinstance(label, float) and label.is_integer():
        return str(int(label))
    return str(label)


def in_order(columns: Sequence[str] | None, wanted: Sequence[str] | None) -> list[int] | None:
    """Where each wanted column stands; None where they stand as wanted."""
    if columns is None or wanted is None or tuple(columns) == tuple(wanted):
        return None
    places = {name: place for place, name in enumerate(columns)}
    return [places[name] for name in wanted]
