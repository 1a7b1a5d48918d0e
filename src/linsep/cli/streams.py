"""Rows as they come, from files or stdin, in one pass and flat memory: batches that `linsep learn` walks.

Text is cut into blocks of whole lines and hashed on all cores, a few blocks ahead of the learner; a block that came
up short, as from a pipe that waits for its writer, is handed on at once.
"""

import os
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

from linsep.cli.report import count, note
from linsep.errors import DifferentFilesError, FileError
from linsep.kernels.text import NO_LABEL
from linsep.sources.files import walking
from linsep.sources.files.labels import Labels
from linsep.sources.files.reading import Options, Reader
from linsep.sources.files.stream import next_bytes
from linsep.sources.hashing import Lines, hash_lines

STDIN = "-"
BLOCK = 1 << 20  # bytes
LONGEST_LINE = 1 << 26  # bytes: a file with longer ones is no text by lines

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
    label: str | int | None = None


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
            "without --text the input is a table."
        )
    return Batch(_name(file), lines.X, [label.decode() for label in lines.labels], lines.codes)


def _blocks(file: str, ctrl_c: CtrlC) -> Iterator[tuple[int, bytes]]:
    """Blocks of whole lines in UTF-8, each with the number of its first line."""
    first, rest = 1, b""
    with _opened(file) as stream:
        while True:
            with ctrl_c.waiting():
                piece = next_bytes(stream, BLOCK)
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


def table_batches(files: Sequence[str], options: Options, format: str | None, ctrl_c: CtrlC) -> Iterator[Batch]:  # noqa: A002
    """Rows of tables of any format; columns are those of the first file, matched by name."""
    first: Reader | None = None
    for reader in walking.readers(files or [STDIN], options, format, ctrl_c.waiting):
        if first is None:
            first = reader
            for remark in reader.remarks():
                note(remark)
        _require_alike(first, reader)
        order, labels = walking.in_order(reader.columns, first.columns), Labels(reader.path, reader.is_text)
        for batch in walking.batches(reader):
            X = walking.as_doubles(reader, batch)
            codes = labels.encode(batch.labels, batch.place.first).astype(np.int64)
            names = [walking.text_of(label) for label in labels.codes]
            yield Batch(
                reader.path, X if order is None else X[:, order], names, codes, first.columns, reader.label_name
            )


def _require_alike(first: Reader, reader: Reader) -> None:
    """Refuse a file that has other columns than the first; rows of svmlight files may be of any length."""
    mine, theirs = first.columns, reader.columns
    if mine is not None and theirs is not None:
        odd = sorted(set(mine) ^ set(theirs))
        seen = f"the columns are not those of the first file: {odd[0]!r} is in one of them" if odd else None
    elif first.is_sparse and reader.is_sparse:
        seen = None
    else:
        widths = f"{count(reader.n_columns, 'column')} where the first file has {first.n_columns:,}"
        seen = None if reader.n_columns == first.n_columns else widths
    if seen is not None:
        raise DifferentFilesError(f"{reader.path}: {seen}.", file=reader.path)
