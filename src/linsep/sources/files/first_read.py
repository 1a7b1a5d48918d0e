"""The first read of a file: it finds the labels and the kind of numbers, and refuses numbers that are not finite.

Groups of a store are surveyed in parallel, each by one thread. The surveys of the groups are joined in their order, so
that the fault reported is the first one in the file.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.cores import thread_count
from linsep.faults import fault, few
from linsep.sources.files.labels import Labels
from linsep.sources.files.reader import Batch, ColumnValues, Reader, Store
from linsep.sources.files.threads import map_in_order
from linsep.sources.files.values import EXACT, NOT_WHOLE, first_long, is_finite, largest_whole
from linsep.tables import is_long

NUMBERS = ("whole", "bits", "long", "entries")  # what a survey knows about the numbers


@dataclass(slots=True)
class Survey:
    """What the first read of a file found, and the store from which its rows are read again."""

    reader: Reader
    labels: Labels
    store: Store
    whole: bool = True  # every value is an integer
    bits: int = 0  # of the longest, as long as all are integers
    long: Sequence[int] | None = None  # the row and column of an integer beyond 2^53
    entries: int = 0
    batches: int = 0

    @classmethod
    def begin(cls, reader: Reader, store: Store) -> "Survey":
        """A survey that has seen nothing yet."""
        return cls(reader, Labels(reader.path, reader.is_text), store)

    def add(self, batch: Batch) -> npt.NDArray[Any]:
        """Survey one batch; return the codes of its labels."""
        self._look(batch)
        return self.labels.encode(batch.labels, batch.first)

    def join(self, later: "Survey") -> None:
        """Add what was found in the rows that come next."""
        self.labels.join(later.labels)
        self.whole = self.whole and later.whole
        self.bits = max(self.bits, later.bits)
        self.long = self.long or later.long
        self.entries += later.entries
        self.batches += later.batches

    def _look(self, batch: Batch) -> None:
        require_finite(self.reader, batch)
        for values in _flat(batch.values):
            if values.dtype.kind != "f":
                self._look_at_integers(batch, values)
            elif self.whole:
                largest = largest_whole(values)  # doubles beyond 2^53 are always whole, and not counted as integers
                self.whole = largest != NOT_WHOLE and largest <= EXACT
                self.bits = max(self.bits, int(largest).bit_length()) if self.whole else self.bits
            self.entries += values.size
        self.batches += 1

    def _look_at_integers(self, batch: Batch, values: npt.NDArray[Any]) -> None:
        if values.dtype == np.int64 and self.long is None and is_long(values):
            dense = batch.values if isinstance(batch.values, np.ndarray) else batch.values.toarray()
            if (place := first_long(dense)) is not None:
                self.long = (batch.first + place[0], place[1])
        if self.whole and values.size:
            self.bits = max(self.bits, max(int(values.max()), -int(values.min())).bit_length())


def surveyed(reader: Reader, store: Store) -> Survey:
    """The survey of a file that is itself a store."""
    found, groups, workers = Survey.begin(reader, store), range(len(store.lengths)), thread_count()

    def look(k: int) -> Survey:  # a new survey that knows the labels seen so far
        part = Survey(reader, found.labels.copy(), store, found.whole)
        for batch in store.read(k, use_threads=1 == len(groups) < workers):
            part.add(batch)
        return part

    for part in map_in_order(look, groups, workers):
        found.join(part)
    return found


def _flat(values: Any) -> Sequence[npt.NDArray[Any]]:
    """All values as one-dimensional arrays, without copies."""
    if isinstance(values, ColumnValues):
        return values.columns
    return [values.reshape(-1) if isinstance(values, np.ndarray) else values.data]


def require_finite(reader: Reader, batch: Batch) -> None:
    """Refuse NaN and infinity, by row and column."""
    if all(values.dtype.kind != "f" or is_finite(values) for values in _flat(batch.values)):
        return
    values = batch.values.rows() if isinstance(batch.values, ColumnValues) else batch.values
    if isinstance(values, np.ndarray):
        row, column = (int(k) for k in np.argwhere(~np.isfinite(values))[0])
        value = float(values[row, column])
    else:
        place = int(np.flatnonzero(~np.isfinite(values.data))[0])
        row, column = int(np.searchsorted(values.indptr, place, side="right")) - 1, int(values.indices[place])
        value = float(values.data[place])
    name: int | str = reader.columns[column] if reader.columns else column
    raise fault("not finite", reader.path, row=batch.first + row, column=name, value=value)


def common_kind(surveys: Sequence[Survey]) -> type:
    """int64 if every value of every file is an integer, else float64, which must then hold them all."""
    if all(survey.whole for survey in surveys):
        return np.int64
    for survey in surveys:
        if survey.long is not None:
            row, column = survey.long
            names = survey.reader.columns
            name = names[column] if names else f"x{column + 1}"
            raise fault("long beside floats", survey.reader.path, row=row, column=name)
    return np.float64


def require_rows(surveys: Sequence[Survey]) -> None:
    """Refuse files none of which has a good row."""
    first = surveys[0].reader.why_empty
    if first is not None and all(survey.reader.why_empty is not None for survey in surveys):
        raise first.at(more=len(surveys) - 1)


def require_alike(surveys: Sequence[Survey]) -> None:
    """Refuse files whose columns are not the same."""
    first = surveys[0].reader
    for survey in surveys[1:]:
        other = survey.reader
        if other.columns != first.columns or (other.n_columns != first.n_columns and not other.is_sparse):
            seen, known = (few(reader.columns or (), 8) or f"{reader.n_columns} columns" for reader in (other, first))
            raise fault("other columns", other.path, seen=seen, first=first.path, known=known)
        if other.is_sparse != first.is_sparse:
            raise fault("other layout", other.path, first=first.path, layout="sparse" if first.is_sparse else "dense")
