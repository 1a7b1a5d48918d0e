"""What is wrong with a row of a CSV file: the cell, what it holds, and what to do about it.

pyarrow reads good rows quickly, and does not say which row is bad. The pieces of text that it refuses are walked record
by record, and each record is judged here.
"""

import math
from typing import TYPE_CHECKING

from linsep.errors import InputError
from linsep.faults import fault
from linsep.sources.files import decimals
from linsep.sources.files.csv_records import NOT_TEXT, has_lone_quote, not_text
from linsep.sources.files.values import INTEGER, NOT_FINITE, NUMBER, vanishes

if TYPE_CHECKING:
    from linsep.sources.files.csv_reader import CsvReader

MISSING = frozenset(
    ["", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "N/A", "NA", "NULL",
     "NaN", "n/a", "nan", "null"]
)  # fmt: skip


def row_fault(reader: "CsvReader", record: list[str], source: str, row: int, line: int, byte: int) -> InputError | None:
    """What is wrong with a row, if anything, by its values and its text, which begins at this byte."""
    found = _text_fault(reader, record, source, byte)
    if found is None:
        cells = dict(zip(reader.header, record, strict=True))
        faults = (_cell_fault(reader, name, cells[name]) for name in reader.names)
        found = next((what for what in faults if what is not None), None) or _label_fault(reader, cells)
    return None if found is None else found.at(row=row, line=line, byte=byte if found.byte is None else found.byte)


def _text_fault(reader: "CsvReader", record: list[str], source: str, byte: int) -> InputError | None:
    """What is wrong with the text of a row."""
    if odd := NOT_TEXT.search(source):
        strange = odd[0].encode("utf-8", "surrogateescape")
        what, fix = not_text(strange)
        byte += len(source[: odd.start()].encode("utf-8", "surrogateescape"))
        names = (name for name, value in zip(reader.header, record, strict=False) if NOT_TEXT.search(value))
        column = next(names, None)
        return fault("not text", reader.path, column=column, value=strange, byte=byte, what=what, fix=fix)
    if '"' in source and has_lone_quote(source, reader.delimiter):
        return fault("lone quote", reader.path)
    if len(record) != len(reader.header):
        separator = "comma" if reader.delimiter == "," else "tab"
        return fault("ragged", reader.path, seen=len(record), names=len(reader.header), separator=separator)
    return None


def _label_fault(reader: "CsvReader", cells: dict[str, str]) -> InputError | None:
    if not isinstance(reader.label_name, str) or reader.options.needs is not None:
        return None
    label = cells[reader.label_name]
    is_missing = label in MISSING or not label.strip()
    return fault("no label", reader.path, column=reader.label_name, value=label) if is_missing else None


def _cell_fault(reader: "CsvReader", name: str, value: str) -> InputError | None:
    if name in reader.booleans:
        if value.lower() in ("true", "false", "1", "0"):
            return None
        what = "missing" if value.strip() in MISSING else "not a boolean"
    elif name in reader.categories:
        if value in reader.categories[name]:
            return None
        if value not in MISSING:
            return None if reader.options.needs is None else reader.unknown(0, name, value)
        what = "missing"
    elif NOT_FINITE.fullmatch(value):
        return fault("not finite", reader.path, column=name, value=float(value))
    elif not NUMBER.fullmatch(value):
        what = "missing" if value.strip() in MISSING else "not a number"
    elif math.isinf(float(value)):
        return fault("beyond doubles", reader.path, column=name, value=value)
    elif reader.decimal_places is not None:
        return decimals.fault_of(reader.path, 0, name, value, reader.decimal_places[reader.place_of(name)])
    else:
        return reader.inexact(0, name, value.strip()) if is_long_integer(value) or vanishes(value) else None
    if what == "not a number" and isinstance(reader.options.categories, str):
        what = "text among numbers"
    return fault(what, reader.path, column=name, value=value)


def is_long_integer(integer: str) -> bool:
    """Whether the digits are an integer beyond 64 bits."""
    bare = integer.strip()
    return bool(INTEGER.fullmatch(bare)) and (
        len(bare.lstrip("+-").lstrip("0")) > 19 or not -(2**63) <= int(bare) < 2**63
    )
