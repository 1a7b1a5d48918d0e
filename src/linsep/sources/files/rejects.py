"""Bad rows that were rejected, written to a file of their own, each with its reason; or rows with gaps, dropped."""

import csv
import weakref
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from io import TextIOWrapper
from pathlib import Path
from typing import Any, TextIO

from linsep.errors import FileError, InputError, MissingLabelError, MissingValueError, NotFiniteError
from linsep.faults import GIVE_REJECT, fault
from linsep.outputs import begun
from linsep.sources.files.paths import Paths, reads

HEAD = ["file", "row", "reason", "content"]


@dataclass(slots=True, weakref_slot=True)
class Rejects:
    """Bad rows, written to a file of their own, each with its reason; without a path rows with gaps alone, dropped.

    `recent` are the file and number of each that was added since somebody looked, where somebody does.
    """

    path: str | None
    count: int = 0
    recent: list[tuple[str, int]] | None = None
    _out: TextIO | None = field(default=None, repr=False)

    def begin(self) -> None:
        """Begin the file anew, so that the bad rows of an earlier run are not taken for those of this one.

        That is done at the first bad row, or when all are read: a run that ends before leaves the file as it was.
        """
        if self._out is None and self.path is not None:
            with self._told():
                self._out = TextIOWrapper(begun(self.path), "utf-8", "backslashreplace", newline="")
                weakref.finalize(self, _close, self._out)
            self._write(HEAD)

    def add(self, file: str, row: int, error: InputError, text: str) -> None:
        """Write one row down: the file it is from, its number there, why, and what it held.

        Where rows with gaps are dropped, any other bad row is an error.
        """
        if self.path is not None:
            self.begin()
            self._write([file, row, f"{error.code}: {error}", text])
        elif not is_gap(error):
            raise error
        self.count += 1
        if self.recent is not None:
            self.recent.append((file, row))

    def _write(self, cells: list[Any]) -> None:
        assert self._out is not None
        with self._told():
            csv.writer(self._out).writerow(cells)
            self._out.flush()  # whatever comes next, this row is written down

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except FileError as error:
            error.at(fix=GIVE_REJECT)
            raise

    def drain(self) -> list[tuple[str, int]]:
        """The bad rows since this was last asked."""
        found, self.recent = self.recent or [], []
        return found

    def require_apart(self, path: Paths) -> None:
        """Refuse to write over a file that is read, or where the next run would read it, or over anything but rejects.

        The rejected rows of an earlier run make way.
        """
        if self.path is None:
            return
        if (found := reads(path, self.path)) is not None:
            raise fault("rejects over data", self.path, seen=found)
        head = ",".join(HEAD).encode()
        with suppress(OSError):  # what cannot be read is told of when it is written
            if Path(self.path).is_file() and _begins(self.path, len(head)) not in (b"", head):
                raise fault("rejects over file", self.path)


def first_of(faults: Iterable[InputError], *, drops_gaps: bool) -> InputError | None:
    """What is said about a row: the first fault, or where rows with gaps are dropped a gap, whatever else it holds."""
    every = iter(faults)
    first = next(every, None)
    return first if first is None or not drops_gaps else next(filter(is_gap, (first, *every)), first)


def is_gap(error: InputError) -> bool:
    """Whether a row is bad because a value or its label is missing: NaN is, infinity is not."""
    value = str(error.fault.where.value).lower()
    if isinstance(error, NotFiniteError):
        return "nan" in value
    return isinstance(error, MissingValueError | MissingLabelError) and "inf" not in value


def _begins(path: str, length: int) -> bytes:
    with Path(path).open("rb") as file:
        return file.read(length)


def _close(file: TextIO) -> None:
    with suppress(Exception):  # each row was flushed, and told of if it could not be
        file.close()
