"""LIBSVM and svmlight files, a range of bytes at a time, through scikit-learn's reader.

    1 3:0.5 7:2   # label, then index:value pairs

The index of the first column is an option, 1 by default, and never guessed. A `qid:` after the label is checked and
ignored. scikit-learn does not name the bad line and accepts more than it should, so a piece that it refuses, or that
looks doubtful, is walked line by line.
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
LONG_LABEL = re.compile(rb"^[ \t]*[^\s:]{16}", re.MULTILINE)  # labels with fewer characters are different doubles


class Line(NamedTuple):
    """One row as text: its number, its line, the byte where the line begins, and its bytes."""

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
    """Sparse rows as lines of text, the label in front: cut at line ends into pieces that become batches."""

    is_sparse = True
    called: str  # the format in words
    wrong: str  # the fault of a line that is not in it
    row = 0  # the number of the next row in the file

    def __init__(self, path: str, options: Options, file: str | Pipe | None = None) -> None:
        super().__init__(path, options, file)
        for name, asked in (("label", options.label), ("columns", options.columns)):
            if asked is not None and options.needs is None:
                raise fault("label in front", path, option=name, fix=f"Leave {name} out.")
        if options.format is None and says_nothing(path):
            self.remarks.append(f"{path} is read as {self.called}.")

    def batches(self) -> Iterator[Batch]:
        """Every row once, in order."""
        first = self.row = self.left_out = 0
        for text, byte, lines in self._pieces(is_walk=True):
            batch = self._batch(text, first, byte, lines)
            if len(batch):
                yield batch
            first += len(batch)
            self.row = first + self.left_out
        self.walked(first)

    def _pieces(self, *, is_walk: bool = False) -> Iterator[tuple[bytes, int, int]]:
        """Whole lines, the byte where they begin, and how many lines come before them."""
        byte, lines, rest, data = 0, 0, b"", b"..."
        with self.stream(is_walk=is_walk) as stream:
            while data:
                data = self.next_data(stream, rest)
                rest += data
                end = rest.rfind(b"\n") + 1 if data else len(rest)
                if end:
                    yield rest[:end] if byte else rest[:end].removeprefix(BOM), byte, lines
                    lines += rest.count(b"\n", 0, end)
                    byte, rest = byte + end, rest[end:]
                elif len(rest) > self.longest_record:
                    most = self.longest_record_told
                    raise fault("svmlight endless", self.path, row=self.row, line=lines + 1, byte=byte, most=most)

    @abstractmethod
    def _batch(self, text: bytes, first: int, byte: int, lines: int) -> Batch:
        """Whole lines, the first of which begins at this byte after this many lines."""

    def all_lines(self) -> Iterator[Line]:
        """Each line that holds a row, in a separate walk."""
        self.row = 0
        for piece in self._pieces():
            for line in self.lines_of(*piece):
                yield line
                self.row = line.row + 1

    def lines_of(self, text: bytes, byte: int, lines: int) -> Iterator[Line]:
        """Each line that holds a row."""
        row = self.row
        for number, content in enumerate(text.split(b"\n"), start=lines + 1):
            line = Line(row, number, byte, content)
            if self.holds_row(line):
                yield line
                row += 1
            byte += len(content) + 1

    def holds_row(self, line: Line) -> bool:
        """Whether a line holds a row, and not just a comment."""
        return bool(line.words())

    def error(self, kind: str, line: Line, value: Any, /, **known: Any) -> InputError:
        """The error about what is wrong with a line, and where."""
        return fault(kind, self.path, row=line.row, line=line.line, byte=line.byte, value=value, **known)

    def bad(self, line: Line, word: str, what: str) -> InputError:
        """A word that the format does not know."""
        return self.error(self.wrong, line, word, what=what)

    def text_fault(self, line: Line, text: bytes) -> InputError | None:
        """What is wrong with the bytes of this part of a line, which must be text."""
        try:
            text.decode()
        except UnicodeDecodeError as error:
            odd = text[error.start : error.start + 1]
        else:
            odd = b"\0" if b"\0" in line.content else b""
        what, fix = not_text(odd)
        return self.error("line not text", line, odd, what=what, fix=fix) if odd else None

    def not_finite(self, line: Line, written: str, column: int | str) -> InputError:
        """The error about NaN, infinity or a number beyond the doubles, as it is written."""
        if any(sign.isdigit() for sign in written):
            return self.error("beyond doubles", line, written, column=column)
        return self.error("not finite", line, float(written), column=column)

    def label_fault(self, line: Line, word: str) -> InputError | None:
        """What is wrong with a label, if anything."""
        if not LABEL.fullmatch(word):
            return self.bad(line, word, "not a label: a number comes first")
        if not np.isfinite(float(word)):
            return self.error("label not finite", line, word)
        is_lost = is_rounded(word) or vanishes(word) or has_more_digits(word)
        return self.error("label rounded", line, word) if is_lost else None


class SvmlightReader(LineReader):
    """Sparse rows as text."""

    called, wrong = "LIBSVM text", "svmlight"

    def __init__(self, path: str, options: Options, file: str | Pipe | None = None) -> None:
        super().__init__(path, options, file)
        if options.n_columns is not None and options.needs is None:
            options.require_room(path, options.n_columns)
        self._most = options.n_columns if options.needs is None else options.needs.width
        self._widest = self._most or options.most_columns
        self.n_columns = self._most or 1
        if options.needs is not None and options.needs.names:
            self.remarks.insert(0, FILE_WITHOUT_NAMES)
        other = 1 - options.index_base
        self.remarks.append(f"Columns are counted from {1 - other} (--index-base {other} counts from {other}).")

    def _batch(self, text: bytes, first: int, byte: int, lines: int) -> Batch:
        """Whole lines, the first of which begins at this byte after this many lines."""
        seen = None
        try:
            X, y = self._load(text)
            if not self._is_doubtful(text, X, y):
                return self._as_batch(X, y, first)
        except (ValueError, OverflowError, UnicodeDecodeError) as error:
            seen = error
        return self._without_bad_lines(self.lines_of(text, byte, lines), first, seen)

    def _load(self, text: bytes) -> tuple[Any, Any]:
        from sklearn.datasets import load_svmlight_file

        if not text.strip():
            return sp.csr_array((0, 1)), np.zeros(0)
        X, y = load_svmlight_file(io.BytesIO(text), zero_based=self.options.index_base == 0)
        return X, y

    def _is_doubtful(self, text: bytes, X: Any, y: Any) -> bool:
        """Whether some line may hold something that scikit-learn accepts and we do not."""
        odd = b"_" in text or b"qid" in text  # Python reads 1_000 as a thousand, and scikit-learn does not check qid:
        large = any(values.size and not np.abs(values).max() < EXACT for values in (X.data, y))  # NaN too
        small = any((values == 0).any() for values in (X.data, y)) and may_vanish(text)
        return odd or large or small or X.shape[1] > self._widest or LONG_LABEL.search(text) is not None

    def _as_batch(self, X: Any, y: Any, first: int) -> Batch:
        self.n_columns = max(self.n_columns, X.shape[1] if X.shape[0] else 1)
        matrix = sp.csr_array((X.data, X.indices, X.indptr), shape=(X.shape[0], self.n_columns))
        return Batch(matrix, y, first)

    # Faults ---------------------------------------------------------------------------------------------

    def _without_bad_lines(self, lines: Iterator[Line], first: int, seen: Exception | None) -> Batch:
        """The good lines of a piece; the bad ones are rejected, or the first one is raised if they are not to be."""
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
        """What is wrong with a line, if anything: it must be a label, then index:value pairs in increasing order."""
        words = line.words()
        if (strange := self.text_fault(line, b" ".join(words))) is not None:
            return strange
        label, *pairs = (word.decode() for word in words)
        return self.label_fault(line, label) or self._pairs_fault(line, pairs)

    def _pairs_fault(self, line: Line, words: list[str]) -> InputError | None:
        base = self.options.index_base
        last = base - 1
        for place, word in enumerate(words):
            if word.startswith("qid:") and place == 0:
                if not QUERY.fullmatch(word):
                    return self.bad(line, word, "not qid: and a whole number")
                continue
            pair = PAIR.fullmatch(word)
            if pair is None:
                return self.bad(line, word, "not index:value")
            index = int(pair[1]) if len(pair[1]) < 20 else MOST_COLUMNS + base
            if index < base:
                hint = " If the file counts from 0, say index_base=0 (--index-base 0)" if index == 0 else ""
                return self.bad(line, word, f"the index is below {base}{'.' if hint else ''}{hint}")
            if index - base >= self._widest:
                if self._most:
                    whose = "columns asked for" if self.options.needs is None else "of the model"
                    told = f"this is column {index - base + 1}, beyond the {self._widest:,} {whose}"
                    return self.bad(line, word, told)
                return self.error("svmlight wide", line, word, most=self._widest, fix=room_for(index - base + 1))
            if index <= last:
                seen = "the index is repeated" if index == last else "the index is smaller than the one before"
                return self.bad(line, word, f"{seen}: indices must increase within a row")
            if not np.isfinite(float(pair[2])):
                return self.not_finite(line, pair[2], index - base)
            if is_rounded(pair[2]) or vanishes(pair[2]):
                kind = "vanishes" if vanishes(pair[2]) else "inexact"
                return self.error(kind, line, pair[2], column=index - base)
            last = index
        return None


def has_more_digits(number: str) -> bool:
    """Whether a number has more digits than its double can show: another label may be the same double."""
    return len(number) > 15 and not is_its_double(number)


def is_rounded(number: str) -> bool:
    """Whether these are the digits of an integer that a double may not hold."""
    digits = number.lstrip("+-").lstrip("0")
    return bool(INTEGER.fullmatch(number)) and (len(digits) > 16 or int(digits or "0") > EXACT)
