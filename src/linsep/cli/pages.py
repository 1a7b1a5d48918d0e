"""Predictions on their way out: lines of CSV or of JSON, one for each row, empty where a row was set aside."""

import csv
import io
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from json import dumps
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from linsep.cli import stdio
from linsep.sources.base import Ints

if TYPE_CHECKING:
    from linsep.cli.prediction import Part

Array = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class Asked:
    """How predictions are written: to stdout or a file, with scores or without, as text or as JSON."""

    output: str | None = None
    with_scores: bool = False
    json: bool = False


class Page(ABC):
    """Predictions on their way out; `rows` is how many of them were made."""

    def __init__(self, write: Callable[[str], Any], classes: list[Any], *, with_scores: bool) -> None:
        self._write, self._with_scores = write, with_scores
        self._names = [*map(self._name, classes), self._name(None)]
        self.rows = 0

    def add(self, part: "Part", codes: Ints, scores: Array) -> None:
        """One line for each row, in their order: the label, and the score where it is asked for; of a bad row, none."""
        self.rows += len(codes)
        if not part.bad:
            self._write("".join(self._lines(part.file, part.rows, codes, scores)))
            return
        rows = np.concatenate([part.rows, np.array(part.bad, np.int64)])
        order, nothing = np.argsort(rows), len(part.bad)
        codes = np.concatenate([codes, np.full(nothing, -1)])[order]  # the last name is that of no class
        scores = np.concatenate([scores, np.full(nothing, np.nan)])[order]
        self._write("".join(self._lines(part.file, rows[order], codes, scores)))

    @abstractmethod
    def _name(self, value: Any) -> str:
        """A class as it is written; None is that of a bad row."""

    @abstractmethod
    def _lines(self, file: str, rows: Ints, codes: Ints, scores: Array) -> Iterable[str]:
        """The lines of some rows; a score of a bad row is NaN."""


class CsvPage(Page):
    """Lines of CSV: a label, quoted where it must be, and a score."""

    def _name(self, value: Any) -> str:
        """An empty cell is quoted where it stands alone: to most readers of CSV, a blank line is no row."""
        return _quoted(value) if value is not None or not self._with_scores else ""

    def _lines(self, file: str, rows: Ints, codes: Ints, scores: Array) -> Iterable[str]:
        names = [self._names[code] for code in codes.tolist()]
        if not self._with_scores:
            return (f"{name}\n" for name in names)
        shown = ("" if code < 0 else repr(score) for code, score in zip(codes.tolist(), scores.tolist(), strict=True))
        return (f"{name},{score}\n" for name, score in zip(names, shown, strict=True))


class JsonPage(Page):
    """Lines of JSON: the file and the number of a row, its label, and its score."""

    def _name(self, value: Any) -> str:
        return dumps(value, ensure_ascii=False)

    def _lines(self, file: str, rows: Ints, codes: Ints, scores: Array) -> Iterable[str]:
        start = f'{{"file": {dumps(file, ensure_ascii=False)}, "row": '
        for row, code, score in zip(rows.tolist(), codes.tolist(), scores.tolist(), strict=True):
            shown = f', "score": {"null" if code < 0 else repr(score)}' if self._with_scores else ""
            yield f'{start}{row}, "prediction": {self._names[code]}{shown}}}\n'


@contextmanager
def page(how: Asked, classes: list[Any]) -> Iterator[Page]:
    """Where predictions go: to stdout, or into a CSV file that is put in place when all are written."""
    from linsep.outputs import replaced

    if how.output is None:
        kind = JsonPage if how.json else CsvPage
        yield kind(_say, classes, with_scores=how.with_scores)
        return
    with replaced(how.output) as file:
        file.write(b"prediction,score\n" if how.with_scores else b"prediction\n")
        yield CsvPage(lambda text: file.write(text.encode()), classes, with_scores=how.with_scores)


def _say(text: str) -> None:
    with stdio.shown():
        sys.stdout.write(text)
    stdio.flush()  # whoever waits at the other end of a pipe gets every batch at once


def _quoted(value: Any) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow([value])
    return line.getvalue()
