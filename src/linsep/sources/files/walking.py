"""Files walked once, batch by batch, as their rows come: to be labelled, or learned from in one pass.

Nothing is surveyed or cached before, so that a pipe is read as it is written and memory is that of one batch.
"""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.errors import InexactError
from linsep.sources.files import pipe_opened, reader_of, spool
from linsep.sources.files.paths import PACKED, Paths, expand, is_pipe, kind_of
from linsep.sources.files.reading import EXACT, Batch, Options, Reader
from linsep.sources.files.stream import Pipe, Waiting
from linsep.sources.files.survey import require_finite


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
    for file in files:
        if not is_pipe(file):
            yield reader_of(file, options, format)
        elif (format or "csv") in PACKED:
            with pipe_opened(file) as stream:
                yield reader_of("stdin" if file == "-" else file, options, format, Pipe(stream, waiting))
        else:
            with tempfile.TemporaryDirectory(prefix="linsep-") as folder:
                yield reader_of(spool(file, Path(folder, "0"), format), options, format)


def batches(reader: Reader) -> Iterator[Batch]:
    """Every row once, in order, all numbers finite."""
    for batch in reader.batches():
        require_finite(reader, batch)
        yield batch


def as_doubles(reader: Reader, batch: Batch) -> Any:
    """The rows of a batch as doubles; an integer that a double would round is refused."""
    values = batch.values
    if values.dtype.kind == "f":
        return values.astype(np.float64, copy=False)
    dense: npt.NDArray[Any] = values if isinstance(values, np.ndarray) else values.toarray()
    largest = int(EXACT)  # beside a float NumPy would round the integers
    long = np.argwhere((dense > largest) | (dense < -largest))
    if not long.size:
        return values.astype(np.float64)
    row, column = (int(place) for place in long[0])
    name = reader.columns[column] if reader.columns else column
    fix = "Subtract a constant from the column or divide it."
    raise InexactError(
        f"{reader.path}: row {batch.place.first + row}, column {name!r} holds {dense[row, column]}: an integer beyond "
        f"2^53 would be rounded, and linsep never rounds in silence. {fix}",
        file=reader.path,
        row=batch.place.first + row,
        column=name,
        value=int(dense[row, column]),
        fix=fix,
    )


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
