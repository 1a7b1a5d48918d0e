"""Rejected rows, written to a file of their own with the reason for each; or dropped rows with missing values."""

import csv
import re
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
ODD = re.compile("[\udc80-\udcff]")  # bytes that are not UTF-8, as Python holds them in text


@dataclass(slots=True, weakref_slot=True)
class Rejects:
    """Rejected rows, written to a file with the reason for each; without a path, rows with missing values are dropped.

    `recent` holds the file and number of each row added since the last `drain`, if the caller uses that.
    """

    path: str | None
    count: int = 0
    recent: list[tuple[str, int]] | None = None
    _out: TextIO | None = field(default=None, repr=False)

    def begin(self) -> None:
        """Start the file afresh, so that bad rows of an earlier run are not mistaken for those of this one.

        This is done at the first bad row, or when all rows are read: a run that ends earlier leaves the file alone.
        """
        if self._out is None and self.path is not None:
            with self._told():
                self._out = TextIOWrapper(begun(self.path), "utf-8", "backslashreplace", newline="")
                weakref.finalize(self, _close, self._out)
            self._write(HEAD)

    def add(self, file: str, row: int, error: InputError, text: str) -> None:
        """Write one row down: its file, its number there, the reason, and its content.

        If rows with missing values are dropped, any other bad row is an error.
        """
        if self.path is not None:
            self.begin()
            self._write([file, row, f"{error.code}: {error}", ODD.sub(_as_written, text)])
        elif not is_gap(error):
            raise error
        self.count += 1
        if self.recent is not None:
            self.recent.append((file, row))

    def _write(self, cells: list[Any]) -> None:
        assert self._out is not None
        with self._told():
            csv.writer(self._out).writerow(cells)
            self._out.flush()  # whatever happens next, this row is written

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except FileError as error:
            error.at(fix=GIVE_REJECT)
            raise

    def drain(self) -> list[tuple[str, int]]:
        """The bad rows since the last call."""
        found, self.recent = self.recent or [], []
        return found

    def require_apart(self, path: Paths) -> None:
        """Refuse to overwrite a file that is read now or would be by the next run, or any file but one of rejects.

        A file with the rejected rows of an earlier run may be overwritten.
        """
        if self.path is None:
            return
        if (found := reads(path, self.path)) is not None:
            raise fault("rejects over data", self.path, seen=found)
        head = ",".join(HEAD).encode()
        with suppress(OSError):  # if it cannot be read, writing it will report that
            if Path(self.path).is_file() and _begins(self.path, len(head)) not in (b"", head):
                raise fault("rejects over file", self.path)


def _as_written(odd: re.Match[str]) -> str:
    """A byte that is not UTF-8 in hexadecimal digits: \\xff."""
    return f"\\x{ord(odd[0]) - 0xDC00:02x}"


def first_of(faults: Iterable[InputError], *, drops_gaps: bool) -> InputError | None:
    """The fault to report for a row: the first one, except that a missing value comes first if those are dropped."""
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
    with suppress(Exception):  # each row was flushed, with an error if that failed
        file.close()
