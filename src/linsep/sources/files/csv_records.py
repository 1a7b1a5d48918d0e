"""CSV text as records: where they begin and end, how many lines they take, and what stands in them."""

import csv
import io
import re
from collections.abc import Iterator

import numpy as np

from linsep.sources.files.text_reader import BOM, LONGEST_RECORD

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
