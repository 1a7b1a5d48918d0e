"""What is wrong with a row of a CSV file: the cell, what it holds, and what to do about it.

pyarrow reads good rows quickly, and does not say which row is bad. The pieces of text that it refuses are walked record
by record, and each record is judged here.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linsep.errors import EncodingError, InputError, NotFiniteError, NotNumericError, QuoteError, RaggedRowError
from linsep.sources.files import decimals
from linsep.sources.files.cells import DROP_OR_FILL, TEXT_FIX, Cells, clipped
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
        where: dict[str, Any] = {"file": self.cells.path, "row": row, "byte": byte}
        at = f"{self.cells.path}: row {row} (line {line})"
        if odd := NOT_TEXT.search(source):
            strange = odd[0].encode("utf-8", "surrogateescape")
            what, fix = not_text(strange)
            where["byte"] += len(source[: odd.start()].encode("utf-8", "surrogateescape"))
            pairs = zip(self.names, record, strict=False)
            column = next((f", column {name!r}" for name, value in pairs if NOT_TEXT.search(value)), "")
            told = f"{at}{column}: {what}, at byte {where['byte']:,}. {fix}"
            return EncodingError(told, **where, value=f"{strange[0]:#04x}", fix=fix)
        if '"' in source and has_lone_quote(source, self.delimiter):
            fix = "Write a quotation mark inside quotes twice."
            return QuoteError(f"{at}: text follows the closing quotation mark of a value. {fix}", **where, fix=fix)
        if len(record) != len(self.names):
            separator = "comma" if self.delimiter == "," else "tab"
            fix = f"Text that contains a {separator} needs quotes around it."
            return RaggedRowError(
                f"{self.cells.path}: line {line} has {len(record)} values where the header names {len(self.names)} "
                f"columns. {fix}",
                **where,
                fix=fix,
            )
        cells = dict(zip(self.names, record, strict=True))
        for name in self.cells.names:
            value = cells[name]
            if name in self.truths and value.lower() in ("true", "false", "1", "0"):
                continue
            if name in self.cells.categories:
                if value not in self.cells.categories[name]:
                    if value in MISSING:
                        return self._bad_cell(at, name, value, where)
                    if self.cells.options.needs is not None:
                        return with_line(self.cells.unknown(row, name, value), line, byte)
                continue
            if name in self.truths or not NUMBER.fullmatch(value) or abs(float(value)) == np.inf:
                return self._bad_cell(at, name, value, where)
            if self.decimal_places is not None:
                places = self.decimal_places[self.cells.columns.index(name)]
                if decimals.does_not_fit(value, places):
                    return with_line(decimals.too_many_digits(self.cells.path, row, name, value, places), line, byte)
            elif is_long_integer(value) or vanishes(value):
                return with_line(self.cells.inexact(row, name, value.strip()), line, byte)
        label = self.cells.label
        if (
            label is not None
            and self.cells.options.needs is None
            and ((value := cells[label]) in MISSING or not value.strip())
        ):
            fault = self.cells.no_label(row)
            text = f"{at}, column {label!r} holds {value!r}: the label is missing. {fault.fix}"
            return type(fault)(text, **where, column=label, value=value, fix=fault.fix)
        return None

    def _bad_cell(self, at: str, name: str, value: str, where: dict[str, Any]) -> InputError:
        holds = f"{at}, column {name!r} holds {clipped(value)}"
        where = {**where, "column": name, "value": value[:200]}
        if value.strip() in MISSING and not NOT_FINITE.fullmatch(value):
            fault: InputError = self.cells.missing(where["row"], name)
            return type(fault)(f"{holds}: the value is missing. {fault.fix}", **where, fix=fault.fix)
        if name in self.truths:
            fix = "Write true or false in the whole column, or 1 and 0."
            return NotNumericError(f"{holds}: neither true nor false. {fix}", **where, fix=fix)
        if NOT_FINITE.fullmatch(value) or NUMBER.fullmatch(value):
            seen = "not a finite number" if NOT_FINITE.fullmatch(value) else "not a finite number but beyond any double"
            message = f"{holds}: {seen}. {DROP_OR_FILL}"
            return NotFiniteError(
                where["row"], name, float(value), message=message, file=self.cells.path, byte=where["byte"]
            )
        return NotNumericError(f"{holds}: not a number. {TEXT_FIX}", **where, fix=TEXT_FIX)


def with_line(error: InputError, line: int, byte: int) -> InputError:
    """The same error with the line of its row, and the byte where that begins."""
    error.args = (str(error).replace(f"row {error.row}, column", f"row {error.row} (line {line}), column", 1),)
    error.byte = byte
    return error


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
