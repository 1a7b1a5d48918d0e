"""CSV text as records: the line of column names, pieces of whole records, and faults in a record.

pyarrow reads good rows quickly, but does not say which row is bad. The pieces of text that it refuses are walked record
by record, and each record is checked here: the error names the cell, what it holds, and what to do about it.
"""

import csv
import io
import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import chain, zip_longest
from typing import TYPE_CHECKING

import numpy as np

from linsep.errors import InputError
from linsep.faults import CORRECT, fault, few
from linsep.sources.files import decimals
from linsep.sources.files.options import Options
from linsep.sources.files.paths import BEGINS
from linsep.sources.files.rejects import first_of
from linsep.sources.files.text_reader import BOM, LONGEST_RECORD, Pipe, TextReader
from linsep.sources.files.values import INTEGER, NOT_FINITE, NUMBER, vanishes

if TYPE_CHECKING:
    from linsep.sources.files.csv_reader import CsvReader

VALUE = re.compile(rf"{NUMBER.pattern}|\s*([+-]?(nan|inf|infinity)|true|false|na|n/a|null|none|)\s*", re.IGNORECASE)
GAP = re.compile(r"\s*(na|nan|n/a|null|none|)\s*", re.IGNORECASE)
LINE_END = re.compile(rb"\r\n|[\r\n]")
EDGE = np.isin(np.arange(256), list(b",\t\r\n"))  # bytes that may end a value
INNER = ~EDGE & (np.arange(256) != ord('"'))
NOT_TEXT = re.compile(
    "[\0\udc80-\udcff]|^\ufeff"
)  # NUL, a late byte order mark, and bytes that are not UTF-8, as they are decoded with "surrogateescape"
MISSING = frozenset(
    ["", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "N/A", "NA", "NULL",
     "NaN", "n/a", "nan", "null"]
)  # fmt: skip


def not_text(odd: bytes) -> tuple[str, str]:
    """What is wrong with bytes that are not text, and what to do about it."""
    if odd.startswith(b"\0"):
        return "a NUL byte, which is not text", "Delete it; if the file is UTF-16, save it as UTF-8."
    if odd.startswith(BOM):
        return "a byte order mark inside the file", "Delete it: files were probably joined here."
    return "not UTF-8 text", "Save the file as UTF-8."


class CsvText(TextReader):
    """A table as text: its first record, the `header`, and pieces of the others. Faults have line numbers."""

    def __init__(self, path: str, options: Options, file: str | Pipe | None = None, delimiter: str = ",") -> None:
        super().__init__(path, options, file)
        self.delimiter, self.chunk = delimiter, max(1, self.chunk // 2)  # text is longer than its numbers
        with self.stream() as stream:
            text = stream.read(1 << 16)
            while (end := header_end(text)) is None and len(text) < self.longest_record:
                more = stream.read(min(max(1 << 20, len(text)), self.longest_record))
                if not more:
                    break
                text += more
        self._body = len(text) if end is None else end  # the byte where the rows begin
        self._header_lines = line_count(text[: self._body])
        self.header = self._names_of(text, is_whole=end is not None)

    def _names_of(self, text: bytes, *, is_whole: bool) -> tuple[str, ...]:
        """The names of the columns, from the text that begins with them."""
        is_long = not is_whole and len(text) >= self.longest_record
        self._require_text(text[: 1 << 16] if is_long else text[: self._body])
        if not is_whole and text.count(b'"') % 2:
            raise self._unclosed(text, 0, is_long=is_long)
        if is_long:
            raise fault("long header", self.path, byte=0, most=self.longest_record_told)
        self.options.require_room(self.path, text.count(self.delimiter.encode(), 0, self._body))
        header = text[: self._body].removeprefix(BOM).decode()
        record = next((row for _, _, _, row in split_records(header, self.delimiter)), None)
        if not record or not text.strip():
            raise fault("empty", self.path, begins=BEGINS)
        if len(set(record)) < len(record):
            if may_be_a_row(record, None):
                raise self.no_header(record)
            raise fault("name twice", self.path, column=Counter(record).most_common(1)[0][0])
        return tuple(record)

    def no_header(self, first: Sequence[str]) -> InputError:
        """The error about a first line that holds values where names are expected."""
        return fault("no header", self.path, byte=0, seen=few(first, 8, str)[:80])

    def _require_text(self, text: bytes) -> None:
        """Refuse a header that is not UTF-8: the byte is named."""
        try:
            text.decode()
            byte = text.find(b"\0")
        except UnicodeDecodeError as error:
            byte = error.start
        if byte < 0:
            return
        line, odd = line_count(text[:byte]) + 1, text[byte : byte + 1]
        what, fix = not_text(odd)
        raise fault("not text", self.path, line=line, value=odd, byte=byte, what=what, fix=fix)

    def pieces(self, *, is_walk: bool = False) -> Iterator[tuple[int, bytes]]:
        """The rows as text, whole records each, with the byte where each piece begins."""
        with self.stream(is_walk=is_walk) as stream:
            stream.read(self._body)
            rest, offset = b"", self._body
            while data := self.next_data(stream, rest):
                end = data.rfind(b"\n") + 1
                if end and b'"' not in data and b'"' not in rest:
                    yield offset, b"".join((rest, memoryview(data)[:end]))  # copied once
                    offset, rest = offset + len(rest) + end, data[end:]
                    continue
                rest += data
                end = last_record_end(rest)
                if end:
                    yield offset, rest[:end]
                    offset, rest = offset + end, rest[end:]
                elif len(rest) > self.longest_record:
                    if rest.count(b'"') % 2:
                        raise self._unclosed(rest, offset, is_long=True)
                    line, most = self._line_at(offset), self.longest_record_told
                    raise fault("endless", self.path, line=line, byte=offset, most=most)
            if rest:
                if rest.count(b'"') % 2:
                    raise self._unclosed(rest, offset, is_long=False)
                yield offset, rest

    def _unclosed(self, text: bytes, byte: int, *, is_long: bool) -> InputError:
        """The error about a quotation, in the record that begins at this byte, that ends too late or not at all."""
        quote, line = text.rindex(b'"'), self._line_at(byte)
        value = text[quote : quote + 100].decode("utf-8", "replace")
        kind = "long quote" if is_long else "open quote"
        return fault(kind, self.path, line=line, byte=byte + quote, value=value, most=self.longest_record_told)

    def _line_at(self, byte: int) -> int | None:
        """The line that begins at a byte, for error messages; None for a pipe, which cannot be read again."""
        if self.pipe is not None:
            return None
        lines, left = 1, byte
        with self.stream() as stream:
            while left and (text := stream.read(min(left, 1 << 20))):
                lines, left = lines + line_count(text), left - len(text)
        return lines

    def first_values(self) -> list[str]:
        """The first value of each column that is not missing, looked for only near the header."""
        with self.stream() as stream:
            start = stream.read(self._body + (1 << 16))[self._body :]
            while header_end(start) is None and len(start) < 1 << 16 and (more := stream.read(1 << 16)):
                start += more  # a pipe may have given only its header so far
        whole = start[: start.rfind(b"\n") + 1] or start
        rows = csv.reader(io.StringIO(whole.decode("utf-8", "replace"), newline=""), delimiter=self.delimiter)
        found = [""] * len(self.header)
        with suppress(csv.Error):
            for row in rows:
                both = zip_longest(found, row, fillvalue="")
                found = [known or ("" if GAP.fullmatch(cell) else cell) for known, cell in both]
                if all(found):
                    break
        return found[: len(self.header)]


def may_be_a_row(first: Sequence[str], label: str | int | None) -> bool:
    """Whether a first line holds only values, apart from the label: the rule of docs/certificate-format.md."""
    return all(VALUE.fullmatch(cell) for cell in first if cell != label)


def header_end(text: bytes) -> int | None:
    """Where the first record that is not blank ends; None if it does not."""
    seen = len(text) - len(text.removeprefix(BOM).lstrip())  # a million blank lines are skipped at once
    if b"\n" not in text[seen:] and b"\r" not in text[seen:]:
        return None
    quotes = 0
    for match in LINE_END.finditer(text, seen):
        quotes += text.count(b'"', seen, match.start())
        seen = match.start()
        if quotes % 2 == 0:
            return None if text[match.start() :] == b"\r" else match.end()  # perhaps half of a line end
    return None


def last_record_end(text: bytes) -> int:
    """Where the last whole record ends: after a line end that is not inside quotes. 0 if there is none."""
    return _last_end(text, b"\n") or _last_end(text, b"\r")


def _last_end(text: bytes, mark: bytes) -> int:
    end = text.rfind(mark, 0, len(text) - (mark == b"\r"))  # a carriage return at the end may be half of a line end
    quotes = text.count(b'"', 0, max(end, 0))
    while end >= 0 and quotes % 2:  # inside a quotation: search before its beginning
        quote = text.rfind(b'"', 0, end)
        end = text.rfind(mark, 0, quote)
        quotes -= 1 + text.count(b'"', max(end, 0), quote)
    return end + 1


def line_count(text: bytes) -> int:
    """How many lines end in this text, with any kind of line end."""
    if b"\r" not in text:
        return int(np.count_nonzero(np.frombuffer(text, np.uint8) == ord("\n")))  # twice as fast as bytes.count
    return text.count(b"\n") + text.count(b"\r") - text.count(b"\r\n")


def split_records(text: str, delimiter: str) -> Iterator[tuple[int, int, str, list[str]]]:
    """Each record that is not blank: its line, counted from 1, its first byte, its text, and its values."""
    lines: list[str] = []

    def feed() -> Iterator[str]:
        for line in io.StringIO(text, newline=""):
            lines.append(line)
            yield line

    csv.field_size_limit(max(csv.field_size_limit(), LONGEST_RECORD))  # long text alone is not a fault
    reader = csv.reader(feed(), delimiter=delimiter)
    line, byte = 1, 0
    for record in reader:
        source = "".join(lines)
        if record:
            yield line, byte, source, record
        lines.clear()
        line, byte = reader.line_num + 1, byte + len(source.encode("utf-8", "surrogateescape"))


def may_have_lone_quote(text: bytes) -> bool:
    """Whether there may be a quotation mark inside a value, or after an empty quotation: a quick hint, by NumPy."""
    data = np.frombuffer(b"\n" + text + b"\n", np.uint8)
    marks = np.flatnonzero(data == ord('"'))
    before, after = data[marks - 1], data[marks + 1]
    if (INNER[before] & INNER[after]).any():
        return True
    pairs = marks[EDGE[before] & (after == ord('"'))]
    return bool(INNER[data[pairs + 2]].any())


def has_lone_quote(text: str, delimiter: str) -> bool:
    """Whether text follows the closing quotation mark of a value."""
    try:
        for _ in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True):
            pass
    except csv.Error as error:
        return "expected after" in str(error)
    return False


def row_fault(reader: "CsvReader", record: list[str], source: str, row: int, line: int, byte: int) -> InputError | None:
    """What is wrong with a row, if anything, by its values and its text, which begins at this byte."""
    found = _text_fault(reader, record, source, byte)
    if found is None:
        cells = dict(zip(reader.header, record, strict=True))
        faults = chain((_cell_fault(reader, name, cells[name]) for name in reader.names), [_label_fault(reader, cells)])
        every = (what for what in faults if what is not None)
        found = first_of(every, drops_gaps=reader.options.missing == "drop")
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
        kind = "ragged" if len(record) > len(reader.header) else "short row"
        return fault(kind, reader.path, seen=len(record), names=len(reader.header), separator=separator)
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
    fix = CORRECT if what == "not a number" and reader.options.needs is not None else None  # nothing is encoded then
    return fault(what, reader.path, column=name, value=value, fix=fix)


def is_long_integer(integer: str) -> bool:
    """Whether the digits are an integer beyond 64 bits."""
    bare = integer.strip()
    return bool(INTEGER.fullmatch(bare)) and (
        len(bare.lstrip("+-").lstrip("0")) > 19 or not -(2**63) <= int(bare) < 2**63
    )
