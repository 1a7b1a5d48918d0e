"""What is wrong with a row of a CSV file: the cell, what it holds, and what to do about it.

pyarrow reads good rows quickly, and does not say which row is bad. The pieces of text that it refuses are walked record
by record, and each record is judged here.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from linsep.errors import InputError
from linsep.faults import fault
from linsep.sources.files import decimals
from linsep.sources.files.cells import Cells
from linsep.sources.files.csv_records import NOT_TEXT, has_lone_quote, not_text
from linsep.sources.files.values import vanishes

INTEGER = re.compile(r"[ \t]*[+-]?[0-9]+[ \t]*")
NUMBER = re.compile(r"[ \t]*[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?[ \t]*")
NOT_FINITE = re.compile(r"[ \t]*[+-]?(nan|inf|infinity)[ \t]*", re.IGNORECASE)
SMALL, LARGE_E = re.compile(rb"e-[0-9]{3}"), re.compile(rb"E-[0-9]{3}")  # apart: each is found by its first letter
MANY_ZEROS = b"0" * 200  # with an exponent of two digits this is still far from the smallest double
MISSING = frozenset(
    ["", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "N/A", "NA", "NULL",
     "NaN", "n/a", "nan", "null"]
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Judge:
    """Knows what a row of one file should be like."""

    cells: Cells
    names: Sequence[str]  # of all columns of the file
    delimiter: str
    truths: frozenset[str]  # the columns of true and false
    decimal_places: tuple[int, ...] | None

    def fault(self, record: list[str], row: int, line: int, byte: int, source: str) -> InputError | None:
        """What is wrong with a row, if anything."""
        found = self._shape(record, source, byte) or self._cells(dict(zip(self.names, record, strict=True)))
        if found is None:
            return None
        return found.at(row=row, line=line, byte=byte if found.byte is None else found.byte)

    def _shape(self, record: list[str], source: str, byte: int) -> InputError | None:
        """What is wrong with the text of a row."""
        path = self.cells.path
        if odd := NOT_TEXT.search(source):
            strange = odd[0].encode("utf-8", "surrogateescape")
            what, fix = not_text(strange)
            byte += len(source[: odd.start()].encode("utf-8", "surrogateescape"))
            column = next(
                (name for name, value in zip(self.names, record, strict=False) if NOT_TEXT.search(value)), None
            )
            return fault("not text", path, column=column, value=strange, byte=byte, what=what, fix=fix)
        if '"' in source and has_lone_quote(source, self.delimiter):
            return fault("lone quote", path)
        if len(record) != len(self.names):
            separator = "comma" if self.delimiter == "," else "tab"
            return fault("ragged", path, seen=len(record), names=len(self.names), separator=separator)
        return None

    def _cells(self, cells: dict[str, str]) -> InputError | None:
        """The first cell of a row that is wrong, and how."""
        path, label = self.cells.path, self.cells.label
        for name in self.cells.names:
            if (what := self._cell(name, cells[name])) is not None:
                return what
        if label is None or self.cells.options.needs is not None:
            return None
        if cells[label] in MISSING or not cells[label].strip():
            return fault("no label", path, column=label, value=cells[label])
        return None

    def _cell(self, name: str, value: str) -> InputError | None:
        path = self.cells.path
        if name in self.truths:
            if value.lower() in ("true", "false", "1", "0"):
                return None
            is_missing = value.strip() in MISSING
            return fault("missing" if is_missing else "not a boolean", path, column=name, value=value)
        if name in self.cells.categories:
            if value in self.cells.categories[name]:
                return None
            if value in MISSING:
                return fault("missing", path, column=name, value=value)
            return None if self.cells.options.needs is None else self.cells.unknown(0, name, value)
        if NOT_FINITE.fullmatch(value):
            return fault("not finite", path, column=name, value=float(value))
        if not NUMBER.fullmatch(value):
            return fault("missing" if value.strip() in MISSING else "not a number", path, column=name, value=value)
        if math.isinf(float(value)):
            return fault("beyond doubles", path, column=name, value=value)
        if self.decimal_places is not None:
            places = self.decimal_places[self.cells.columns.index(name)]
            return (
                decimals.too_many_digits(path, 0, name, value, places) if decimals.does_not_fit(value, places) else None
            )
        return self.cells.inexact(0, name, value.strip()) if is_long_integer(value) or vanishes(value) else None


def may_vanish(text: bytes) -> bool:
    """Whether some number may be written that is not 0 but becomes 0 as a double: a hint, at the speed of a search."""
    if b"e-" in text and SMALL.search(text):
        return True
    return (b"E-" in text and LARGE_E.search(text) is not None) or MANY_ZEROS in text


def is_long_integer(integer: str) -> bool:
    """Whether the digits are an integer beyond 64 bits."""
    bare = integer.strip()
    return bool(INTEGER.fullmatch(bare)) and (
        len(bare.lstrip("+-").lstrip("0")) > 19 or not -(2**63) <= int(bare) < 2**63
    )
