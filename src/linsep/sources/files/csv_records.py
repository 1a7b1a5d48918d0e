"""CSV text as records: the line of column names, pieces of whole records, and where they begin and end."""

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from linsep.errors import InputError
from linsep.faults import fault, few
from linsep.sources.files.options import Options
from linsep.sources.files.paths import BEGINS
from linsep.sources.files.text_reader import BOM, LONGEST_RECORD, Pipe, TextReader
from linsep.sources.files.values import NUMBER

VALUE = re.compile(rf"{NUMBER.pattern}|\s*([+-]?(nan|inf|infinity)|true|false|na|n/a|null|none|)\s*", re.IGNORECASE)
LINE_END = re.compile(rb"\r\n|[\r\n]")
EDGE = np.isin(np.arange(256), list(b",\t\r\n"))  # bytes that a value may end at
INNER = ~EDGE & (np.arange(256) != ord('"'))
NOT_TEXT = re.compile(
    "[\0\udc80-\udcff]|^\ufeff"
)  # NUL, a late byte order mark, and bytes that are not UTF-8, as they are decoded with "surrogateescape"


def not_text(odd: bytes) -> tuple[str, str]:
    """What is wrong with bytes that text does not hold, and what to do about it."""
    if odd.startswith(b"\0"):
        return "a NUL byte, which text does not hold", "Delete it; if the file is UTF-16, save it as UTF-8."
    if odd.startswith(BOM):
        return "a byte order mark inside the file", "Delete it: files were joined here, most likely."
    return "not UTF-8 text", "Save the file as UTF-8."


class CsvText(TextReader):
    """A table as text: its first record, the `header`, and pieces of the others. What is wrong has its line."""

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
        """A first line that holds values where names are expected."""
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
        """A quotation in the record that begins at this byte, which ends too late or not at all."""
        quote, line = text.rindex(b'"'), self._line_at(byte)
        value = text[quote : quote + 100].decode("utf-8", "replace")
        kind = "long quote" if is_long else "open quote"
        return fault(kind, self.path, line=line, byte=byte + quote, value=value, most=self.longest_record_told)

    def _line_at(self, byte: int) -> int | None:
        """The line that begins at a byte, which only a fault asks for; what a pipe gave cannot be read again."""
        if self.pipe is not None:
            return None
        lines, left = 1, byte
        with self.stream() as stream:
            while left and (text := stream.read(min(left, 1 << 20))):
                lines, left = lines + line_count(text), left - len(text)
        return lines

    def first_row(self) -> list[str]:
        """The values of the first row, as far as they stand near the header."""
        with self.stream() as stream:
            start = stream.read(self._body + (1 << 16))[self._body :]
            while header_end(start) is None and len(start) < 1 << 16 and (more := stream.read(1 << 16)):
                start += more  # a pipe may have given its header alone
        rows = csv.reader(io.StringIO(start.decode("utf-8", "replace"), newline=""), delimiter=self.delimiter)
        try:
            return next((row for row in rows if row), [])
        except csv.Error:
            return []


def may_be_a_row(first: Sequence[str], label: str | int | None) -> bool:
    """Whether a first line holds values and no name, the labels aside: the rule of docs/certificate-format.md."""
    return all(VALUE.fullmatch(cell) for cell in first if cell != label)


def header_end(text: bytes) -> int | None:
    """Where the first record that is not blank ends; None if it does not."""
    seen = len(text) - len(text.removeprefix(BOM).lstrip())  # a million blank lines are passed over at once
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
    while end >= 0 and quotes % 2:  # inside a quotation: go on before its beginning
        quote = text.rfind(b'"', 0, end)
        end = text.rfind(mark, 0, quote)
        quotes -= 1 + text.count(b'"', max(end, 0), quote)
    return end + 1


def line_count(text: bytes) -> int:
    """How many lines end in this text, whatever ends them."""
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

    csv.field_size_limit(max(csv.field_size_limit(), LONGEST_RECORD))  # long text is no fault by itself
    reader = csv.reader(feed(), delimiter=delimiter)
    line, byte = 1, 0
    for record in reader:
        source = "".join(lines)
        if record:
            yield line, byte, source, record
        lines.clear()
        line, byte = reader.line_num + 1, byte + len(source.encode("utf-8", "surrogateescape"))


def may_have_lone_quote(text: bytes) -> bool:
    """Whether a quotation mark stands inside a value, or after an empty quotation: a hint, at the speed of NumPy."""
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
