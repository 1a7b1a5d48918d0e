"""LIBSVM and svmlight files, a range of bytes at a time, through scikit-learn's reader.

    1 3:0.5 7:2   # label, then index:value pairs

The index of the first column is stated, 1 unless told otherwise, and never guessed. A `qid:` after the label is checked
and left out. scikit-learn names no line and takes more than it should, so that a piece it refuses, or that looks
doubtful, is walked line by line.
"""

import io
import re
from abc import abstractmethod
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from linsep.errors import InputError
from linsep.faults import fault
from linsep.sources.files.columns import FILE_WITHOUT_NAMES
from linsep.sources.files.csv_records import not_text
from linsep.sources.files.labels import is_its_double
from linsep.sources.files.options import MOST_COLUMNS, Options, room_for
from linsep.sources.files.paths import says_nothing
from linsep.sources.files.reader import Batch
from linsep.sources.files.text_reader import BOM, Pipe, TextReader
from linsep.sources.files.values import EXACT, may_vanish, vanishes

NUMBER = r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[+-]?(?:nan|inf|infinity)"
LABEL = re.compile(NUMBER, re.IGNORECASE)
PAIR = re.compile(rf"([+-]?[0-9]+):({NUMBER})", re.IGNORECASE)
QUERY = re.compile(r"qid:[0-9]+")
INTEGER = re.compile(r"[+-]?[0-9]+")
LONG_LABEL = re.compile(rb"^[ \t]*[^\s:]{16}", re.MULTILINE)  # fewer characters than this are different doubles


class Line(NamedTuple):
    """One row as text: its number, the line it stands on, the byte where that begins, and its bytes."""

    row: int
    line: int
    byte: int
    content: bytes

    def words(self) -> list[bytes]:
        """Label and pairs, without the comment."""
        return self.content.split(b"#", 1)[0].split()

    @property
    def text(self) -> str:
        """The line as text, without its end."""
        return self.content.rstrip(b"\r\n").decode("utf-8", "backslashreplace")


class LineReader(TextReader):
    """Rows that are lines of text: cut at line ends into pieces, of which a format makes batches."""

    called: str  # the format in words

    def batches(self) -> Iterator[Batch]:
        """Every row once, in order."""
        first, offset, lines, rest, data = 0, 0, 0, b"", b"..."
        self.left_out = 0
        with self.stream(is_walk=True) as stream:
            while data:
                data = self.next_data(stream, rest)
                rest += data
                end = rest.rfind(b"\n") + 1 if data else len(rest)
                if end:
                    batch = self._batch(rest[:end], first, offset, lines)
                    if len(batch):
                        yield batch
                    first += len(batch)
                    lines += rest.count(b"\n", 0, end)
                    offset, rest = offset + end, rest[end:]
                elif len(rest) > self.longest_record:
                    most = self.longest_record_told
                    raise fault("svmlight endless", self.path, row=first, line=lines + 1, byte=offset, most=most)
        self.walked(first)

    def remarks(self) -> list[str]:
        """What the user should know about how the columns were chosen, and of a file with any name what it is."""
        is_seen = self.options.format is None and says_nothing(self.path)
        return [*super().remarks(), *([f"{self.path} is read as {self.called}."] if is_seen else [])]

    @abstractmethod
    def _batch(self, text: bytes, first: int, byte: int, lines: int) -> Batch:
        """Whole lines, the first of which begins at this byte after this many lines."""

    def all_lines(self) -> Iterator[Line]:
        """Each line that holds a row: a walk of its own."""
        with self.stream() as stream:
            rest, row, number, byte = b"", 0, 0, 0
            while data := self.next_data(stream, rest):
                rest += data
                end = rest.rfind(b"\n") + 1
                for line in self.lines_of(rest[:end].removeprefix(BOM) if not byte else rest[:end], row, byte, number):
                    yield line
                    row = line.row + 1
                number, byte, rest = number + rest.count(b"\n", 0, end), byte + end, rest[end:]
                if len(rest) > self.longest_record:
                    return  # the reading proper says so
            yield from self.lines_of(rest, row, byte, number)

    def lines_of(self, text: bytes, first: int, byte: int, lines: int) -> Iterator[Line]:
        """Each line that holds a row."""
        row = first + self.left_out
        for number, content in enumerate(text.split(b"\n"), start=lines + 1):
            line = Line(row, number, byte, content)
            if self.holds_row(line):
                yield line
                row += 1
            byte += len(content) + 1

    def holds_row(self, line: Line) -> bool:
        """Whether a line holds a row, and not a comment alone."""
        return bool(line.words())

    def error(self, kind: str, line: Line, value: Any, /, **known: Any) -> InputError:
        """What is wrong with a line, and where it stands."""
        return fault(kind, self.path, row=line.row, line=line.line, byte=line.byte, value=value, **known)

    def text_fault(self, line: Line) -> InputError | None:
        """What is wrong with the bytes of a line, if they are not text."""
        try:
            line.content.decode()
        except UnicodeDecodeError as error:
            return self._not_text(line, error.object[error.start])
        return self._not_text(line, 0) if b"\0" in line.content else None

    def _not_text(self, line: Line, byte: int) -> InputError:
        what, fix = not_text(bytes([byte]))
        return self.error("line not text", line, bytes([byte]), what=what, fix=fix)


class SvmlightReader(LineReader):
    """Sparse rows as text."""

    is_sparse = True
    called = "LIBSVM text"

    def __init__(self, path: str, options: Options, file: str | Pipe | None = None) -> None:
        super().__init__(path, options, file)
        for name, asked in (("label", options.label), ("columns", options.columns)):
            if asked is not None and options.needs is None:
                raise fault("label in front", path, option=name, fix=f"Leave {name} out.")
        if options.n_columns is not None and options.needs is None:
            options.require_room(path, options.n_columns)
        self._most = options.n_columns if options.needs is None else options.needs.width
        self._widest = self._most or options.most_columns
        self.n_columns = self._most or 1
        self.remark = FILE_WITHOUT_NAMES if options.needs is not None and options.needs.names else None

    def remarks(self) -> list[str]:
        """What the user should know about how the columns were chosen and counted."""
        base = self.options.index_base
        counted = f"Columns are counted from {base} (--index-base {1 - base} counts from {1 - base})."
        return [*super().remarks(), counted]

    def _batch(self, text: bytes, first: int, byte: int, lines: int) -> Batch:
        """Whole lines, the first of which begins at this byte after this many lines."""
        text, seen = text.removeprefix(BOM) if byte == 0 else text, None
        try:
            X, y = self._load(text)
            if not self._is_doubtful(text, X, y):
                return self._as_batch(X, y, first)
        except (ValueError, OverflowError, UnicodeDecodeError) as error:
            seen = error
        return self._without_bad_lines(self.lines_of(text, first, byte, lines), first, seen)

    def _load(self, text: bytes) -> tuple[Any, Any]:
        from sklearn.datasets import load_svmlight_file

        if not text.strip():
            return sp.csr_array((0, 1)), np.zeros(0)
        X, y = load_svmlight_file(io.BytesIO(text), zero_based=self.options.index_base == 0)
        return X, y

    def _is_doubtful(self, text: bytes, X: Any, y: Any) -> bool:
        """Whether some line may hold what scikit-learn takes and we do not."""
        odd = b"_" in text or b"qid" in text  # Python reads 1_000 as a thousand, and qid: is not looked at
        large = any(values.size and not np.abs(values).max() < EXACT for values in (X.data, y))  # NaN too
        small = any((values == 0).any() for values in (X.data, y)) and may_vanish(text)
        return odd or large or small or X.shape[1] > self._widest or LONG_LABEL.search(text) is not None

    def _as_batch(self, X: Any, y: Any, first: int) -> Batch:
        self.n_columns = max(self.n_columns, X.shape[1] if X.shape[0] else 1)
        matrix = sp.csr_array((X.data, X.indices, X.indptr), shape=(X.shape[0], self.n_columns))
        return Batch(matrix, y, first)

    # Faults ---------------------------------------------------------------------------------------------

    def _without_bad_lines(self, lines: Iterator[Line], first: int, seen: Exception | None) -> Batch:
        """The good lines of a piece, the bad ones rejected; where nobody asked for that, the first is raised."""
        good: list[bytes] = []
        for line in lines:
            if (found := self._fault(line)) is None:
                good.append(line.content)
            else:
                self.reject(line.row, found, line.text)
        try:
            if seen is not None and self.options.rejects is None:
                raise seen
            return self._as_batch(*self._load(b"\n".join(good)), first)
        except (ValueError, OverflowError, UnicodeDecodeError) as error:
            raise fault("not svmlight", self.path, seen=error) from error

    def _fault(self, line: Line) -> InputError | None:
        """What is wrong with a line, if anything: it is a label, then index:value pairs in rising order."""
        label, *pairs = line.words()
        try:
            first, rest = label.decode(), [word.decode() for word in pairs]
        except UnicodeDecodeError as error:
            return self._not_text(line, error.object[error.start])
        if b"\0" in line.content:
            return self._not_text(line, 0)
        return self._label_fault(line, first) or self._pairs_fault(line, rest)

    def _label_fault(self, line: Line, word: str) -> InputError | None:
        if not LABEL.fullmatch(word):
            return self._bad(line, word, "not a label: a number comes first")
        if not np.isfinite(float(word)):
            return self.error("label not finite", line, word)
        is_lost = is_rounded(word) or vanishes(word) or has_more_digits(word)
        return self.error("label rounded", line, word) if is_lost else None

    def _pairs_fault(self, line: Line, words: list[str]) -> InputError | None:
        base = self.options.index_base
        last = base - 1
        for place, word in enumerate(words):
            if word.startswith("qid:") and place == 0:
                if not QUERY.fullmatch(word):
                    return self._bad(line, word, "not qid: and a whole number")
                continue
            pair = PAIR.fullmatch(word)
            if pair is None:
                return self._bad(line, word, "not index:value")
            index = int(pair[1]) if len(pair[1]) < 20 else MOST_COLUMNS + base
            if index < base:
                hint = " If the file counts from 0, say index_base=0 (--index-base 0)" if index == 0 else ""
                return self._bad(line, word, f"the index is below {base}{'.' if hint else ''}{hint}")
            if index - base >= self._widest:
                if self._most:
                    whose = "columns asked for" if self.options.needs is None else "of the model"
                    told = f"this is column {index - base + 1}, beyond the {self._widest:,} {whose}"
                    return self._bad(line, word, told)
                return self.error("svmlight wide", line, word, most=self._widest, fix=room_for(index - base + 1))
            if index <= last:
                seen = "the index is repeated" if index == last else "the index is smaller than the one before"
                return self._bad(line, word, f"{seen}: indices must rise within a row")
            if not np.isfinite(float(pair[2])):
                return self.error("not finite", line, float(pair[2]), column=index - base)
            if is_rounded(pair[2]) or vanishes(pair[2]):
                kind = "vanishes" if vanishes(pair[2]) else "inexact"
                return self.error(kind, line, pair[2], column=index - base)
            last = index
        return None

    def _bad(self, line: Line, word: str, what: str) -> InputError:
        return self.error("svmlight", line, word, what=what)


def has_more_digits(number: str) -> bool:
    """Whether a number has more digits than its double tells: another label may be the same double."""
    return len(number) > 15 and not is_its_double(number)


def is_rounded(number: str) -> bool:
    """Whether these are the digits of an integer that no double is sure to hold."""
    digits = number.lstrip("+-").lstrip("0")
    return bool(INTEGER.fullmatch(number)) and (len(digits) > 16 or int(digits or "0") > EXACT)
