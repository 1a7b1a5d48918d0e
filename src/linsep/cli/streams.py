"""Rows as they come, from files or stdin, in one pass and flat memory: batches that `linsep learn` walks.

Text is cut into blocks of whole lines and hashed on all cores, a few blocks ahead of the learner; a block that came
up short, as from a pipe that waits for its writer, is handed on at once.
"""

import csv
import os
import re
import select
import sys
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from linsep.cli.csvfile import CsvFile
from linsep.errors import ArgumentError, FileError, InexactError, InputError, MissingLabelError, NotNumericError
from linsep.kernels.text import NO_LABEL
from linsep.models import repeated
from linsep.sources.hashing import Lines, hash_lines

STDIN = "-"
BLOCK = 1 << 20  # bytes
LONGEST_LINE = 1 << 26  # bytes: a file with longer ones is no text by lines
PATIENCE_S = 0.02  # how long a pipe may pause before what it gave is handed on
EXACT = 2.0**53

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Batch:
    """Rows of one file, the labels that occur (in order of appearance), and the label of each row as their position.

    A row without a label has a negative position.
    """

    file: str
    X: Any
    labels: list[str]
    codes: Ints
    columns: tuple[str, ...] | None = None


class CtrlC:
    """Ctrl-C interrupts a wait for input at once; elsewhere it is noted, so that no update is cut in half."""

    def __init__(self) -> None:
        self.noted = self.waits = False

    def __call__(self, number: int, frame: object) -> None:
        """What the signal does."""
        if self.waits or self.noted:
            raise KeyboardInterrupt
        self.noted = True

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """While input is waited for."""
        self.waits = True
        try:
            if self.noted:
                raise KeyboardInterrupt
            yield
        finally:
            self.waits = False


def text_batches(files: Sequence[str], bits: int, ctrl_c: CtrlC, *, need_labels: bool = True) -> Iterator[Batch]:
    """Lines "label<TAB>text", hashed."""
    known: list[bytes] = []
    workers = os.cpu_count() or 1
    with ThreadPoolExecutor(workers) as pool:
        for file in files or [STDIN]:
            queue: deque[tuple[int, Future[Lines]]] = deque()
            for first, block in _blocks(file, ctrl_c):
                queue.append((first, pool.submit(hash_lines, block, known, bits)))
                ahead = workers + 1 if len(block) > BLOCK // 2 else 1
                while len(queue) >= ahead:
                    batch = _batch(file, *queue.popleft(), need_labels)
                    known = [label.encode() for label in batch.labels]
                    yield batch
            while queue:
                yield _batch(file, *queue.popleft(), need_labels)


def _batch(file: str, first: int, work: "Future[Lines]", need_labels: bool) -> Batch:
    lines = work.result()
    if need_labels and (lines.codes == NO_LABEL).any():
        number = first + int(lines.numbers[np.flatnonzero(lines.codes == NO_LABEL)[0]])
        raise FileError(
            f"{_name(file)}: line {number} has no label. Each line is a label, a tab, and the text; "
            "without --text the input is read as CSV."
        )
    return Batch(_name(file), lines.X, [label.decode() for label in lines.labels], lines.codes)


def _blocks(file: str, ctrl_c: CtrlC) -> Iterator[tuple[int, bytes]]:
    """Blocks of whole lines in UTF-8, each with the number of its first line."""
    first, rest = 1, b""
    with _opened(file) as stream:
        while True:
            with ctrl_c.waiting():
                piece = _piece(stream)
            if piece:
                head, newline, tail = piece.rpartition(b"\n")
                if not newline:
                    rest += piece
                    _require_short(file, first, rest)
                    continue
                block, rest = rest + head + newline, tail
            elif rest:
                block, rest = rest + b"\n", b""
            else:
                return
            if first == 1:
                block = block.removeprefix(b"\xef\xbb\xbf")
            _require_text(file, first, block)
            yield first, block
            first += block.count(b"\n")


def _piece(stream: BinaryIO) -> bytes:
    """The next bytes: a block, or less where a pipe has no more at the moment; none at the end."""
    if stream.seekable():
        return stream.read(BLOCK)
    descriptor, pieces, size = stream.fileno(), [os.read(stream.fileno(), BLOCK)], 0
    while pieces[-1] and (size := size + len(pieces[-1])) < BLOCK:
        if not select.select([descriptor], [], [], PATIENCE_S)[0]:
            break
        pieces.append(os.read(descriptor, BLOCK))
    return b"".join(pieces)


@contextmanager
def _opened(file: str) -> Iterator[BinaryIO]:
    if file == STDIN:
        yield sys.stdin.buffer
        return
    if not Path(file).exists():
        raise FileError(f"{file}: there is no such file.")
    try:
        with Path(file).open("rb") as stream:
            yield stream
    except OSError as error:
        raise FileError(f"{file}: cannot be read: {error.strerror}.") from error


def _require_short(file: str, line: int, rest: bytes) -> None:
    if len(rest) > LONGEST_LINE:
        raise FileError(f"{_name(file)}: line {line} has more than {LONGEST_LINE >> 20} MiB: this is no text by lines.")


def _require_text(file: str, first: int, block: bytes) -> None:
    if block.isascii():
        return
    try:
        block.decode()
    except UnicodeDecodeError as error:
        line = first + block.count(b"\n", 0, error.start)
        seen = f"line {line} is not UTF-8 text (byte {block[error.start]:#04x})"
        raise FileError(f"{_name(file)}: {seen}. Save it as UTF-8.") from error


def _name(file: str) -> str:
    return "stdin" if file == STDIN else file


def csv_batches(files: Sequence[str], label: str | None, ctrl_c: CtrlC) -> Iterator[Batch]:
    """Rows of CSV files with a header line; every column but the label is a feature, in the order of the first file."""
    wanted: tuple[str, ...] | None = None
    for file in files or [STDIN]:
        with _opened(file) as stream:
            table = _Csv(file, stream, label)
            wanted = wanted or table.features
            if set(wanted) != set(table.features):
                odd = sorted(set(wanted) ^ set(table.features))[0]
                raise FileError(
                    f"{table.name}: the columns are not those of the first file: {odd!r} is in one of them."
                )
            yield from table.batches(wanted, ctrl_c)


class _Csv:
    """A CSV stream whose header has been read."""

    def __init__(self, file: str, stream: BinaryIO, label: str | None) -> None:
        self.file, self.stream, self.name = file, stream, _name(file)
        try:
            names = next(csv.reader([stream.readline().decode("utf-8-sig")]), [])
        except (UnicodeDecodeError, csv.Error, OSError) as error:
            raise FileError(f"{self.name}: line 1 cannot be read as a CSV header: {error}.") from error
        if not names:
            raise FileError(f"{self.name}: the first line is empty. A table begins with a line of column names.")
        if (twice := repeated(names)) is not None:
            raise FileError(f"{self.name}: two columns are called {twice!r}. Rename one of them.")
        self.header = CsvFile(self.name, tuple(names))
        if label is None:
            advice = self.header.advice("label")
            raise ArgumentError(f"{self.name}: say which column holds the labels with --label. {advice}")
        self.label = self.header.find_label(label)
        self.features = tuple(name for name in names if name != self.label)
        if not self.features:
            raise FileError(f"{self.name}: there is no column besides the label.")

    def batches(self, wanted: tuple[str, ...], ctrl_c: CtrlC) -> Iterator[Batch]:
        """The rows as pyarrow reads them."""
        import pyarrow as pa

        row = 0
        try:
            reader = self._reader()
            while True:
                with ctrl_c.waiting():
                    try:
                        part = reader.read_next_batch()
                    except StopIteration:
                        return
                yield self._batch(part, row, wanted)
                row += part.num_rows
        except pa.ArrowInvalid as error:
            raise self._explained(str(error)) from error

    def _reader(self) -> Any:
        import pyarrow as pa
        from pyarrow import csv as arrow

        if self.file != STDIN and self.stream.tell() == Path(self.file).stat().st_size:
            raise FileError(f"{self.name}: there is a header but no row below it.")
        kinds = {name: pa.float64() for name in self.features} | {self.label: pa.string()}
        return arrow.open_csv(
            self.stream,
            read_options=arrow.ReadOptions(column_names=self.header.names, block_size=BLOCK, use_threads=False),
            parse_options=arrow.ParseOptions(newlines_in_values=True),
            convert_options=arrow.ConvertOptions(
                column_types=kinds, strings_can_be_null=True, quoted_strings_can_be_null=False
            ),
        )

    def _batch(self, part: Any, row: int, wanted: tuple[str, ...]) -> Batch:
        X = np.empty((part.num_rows, len(wanted)))
        for j, name in enumerate(wanted):
            column = part.column(name)
            if column.null_count:
                where = self._where(row + _first(column.is_null()), name)
                raise NotNumericError(f"{where}: the value is missing. Drop the row or fill the value in.")
            X[:, j] = column.to_numpy(zero_copy_only=False)
        bad = np.argwhere(~(np.abs(X) < EXACT))  # 2^53 may be a rounded 2^53 + 1
        if bad.size:
            raise self._unusable(row + int(bad[0, 0]), wanted[int(bad[0, 1])], float(X[tuple(bad[0])]))
        column = part.column(self.label)
        if column.null_count:
            where = self._where(row + _first(column.is_null()), self.label)
            raise MissingLabelError(f"{where}: the label is missing. Every row needs one.")
        coded = column.dictionary_encode()
        return Batch(self.name, X, coded.dictionary.to_pylist(), np.asarray(coded.indices, np.int64), wanted)

    def _unusable(self, row: int, name: str, value: float) -> InputError:
        where = self._where(row, name)
        if not np.isfinite(value):
            return NotNumericError(f"{where}: not a finite number. Drop the row or fill the value in.")
        return InexactError(f"{where}: from 2^53 on integers are rounded. Divide the column by a power of ten.")

    def _where(self, row: int, name: str) -> str:
        """A cell as people find it; of stdin, which is gone, without what was written there."""
        if self.file == STDIN:
            return f"{self.name}: row {row} (counted from 0 below the header), column {name!r}"
        return CsvFile(self.file, self.header.names)._where(row, name)

    def _explained(self, error: str) -> InputError:
        """What pyarrow complains about, with the cell by its name."""
        cell = re.match(
            r"In CSV column #(\d+): (?:Row #(\d+): )?CSV conversion error to double: invalid value '", error
        )
        if cell and cell[2]:
            where = self._where(int(cell[2]) - 1, self.header.names[int(cell[1])])
            return NotNumericError(f"{where}: not a number. Turn the text into numbers, or leave the column out.")
        ragged = re.match(r"CSV parse error: (?:Row #(\d+): )?Expected (\d+) columns, got (\d+)", error)
        if ragged and ragged[1]:
            return FileError(
                f"{self.name}: row {int(ragged[1]) - 1} (counted from 0 below the header) has {ragged[3]} values where "
                f"the header names {ragged[2]} columns. Text that contains a comma needs quotes around it."
            )
        return FileError(f"{self.name}: cannot be read as CSV: {error}")


def _first(mask: Any) -> int:
    return int(np.flatnonzero(mask.to_numpy(zero_copy_only=False))[0])
