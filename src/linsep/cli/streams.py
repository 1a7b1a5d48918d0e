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
from linsep.errors import DifferentFilesError, EncodingError, FileError, MissingLabelError
from linsep.kernels.text import NO_LABEL
from linsep.sources.files import streaming
from linsep.sources.files.labels import Labels
from linsep.sources.files.options import Options
from linsep.sources.files.paths import expand
from linsep.sources.files.reader import Reader, unreadable
from linsep.sources.files.rejects import Rejects
from linsep.sources.files.text_reader import next_bytes
from linsep.sources.hashing import Lines, hash_lines

STDIN = "-"
BLOCK = 1 << 20  # bytes
LONGEST_LINE = 1 << 26  # bytes: a file with longer ones is no text by lines

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Batch:
    """Rows of one file, the labels that occur (in order of appearance), and the label of each row as their position.

    A row without a label has a negative position. `rows` are the numbers of the rows in their file, counted from 0, and
    `bad` those of the rows between them that were set aside.
    """

    file: str
    X: Any
    labels: list[str]
    codes: Ints
    rows: Ints
    bad: list[int]
    columns: tuple[str, ...] | None = None
    label: str | int | None = None


@dataclass(frozen=True, slots=True)
class Block:
    """Whole lines of a file in UTF-8, the number of the first, and the lines that are no text: in it they are blank."""

    file: str
    first: int
    text: bytes
    odd: dict[int, bytes]


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


def text_batches(
    files: Sequence[str], bits: int, ctrl_c: CtrlC, *, need_labels: bool = True, rejects: Rejects | None = None
) -> Iterator[Batch]:
    """Lines "label<TAB>text", hashed. Lines without a label, and those that are not UTF-8, are errors or set aside."""
    names = expand(files or [STDIN])
    if rejects is not None:
        rejects.require_apart(names)
    workers = os.cpu_count() or 1
    with ThreadPoolExecutor(workers) as pool:
        for file in names:
            row = 0
            for block, lines in _hashed(_blocks(file, ctrl_c), bits, pool, workers + 1):
                batch = _batch(block, lines, row, rejects, need_labels=need_labels)
                row += len(batch.rows) + len(batch.bad)
                yield batch
    if rejects is not None:
        rejects.begin()


def _hashed(blocks: Iterator[Block], bits: int, pool: ThreadPoolExecutor, most: int) -> Iterator[tuple[Block, Lines]]:
    """Blocks with their hashed lines, in order; at most so many are worked on at a time."""
    queue: deque[tuple[Block, Future[Lines]]] = deque()
    known: list[bytes] = []
    for block in blocks:
        queue.append((block, pool.submit(hash_lines, block.text, known, bits)))
        ahead = most if len(block.text) > BLOCK // 2 else 1
        while len(queue) >= ahead:
            done, work = queue.popleft()
            known = work.result().labels
            yield done, work.result()
    for done, work in queue:
        yield done, work.result()


def _batch(block: Block, lines: Lines, first: int, rejects: Rejects | None, *, need_labels: bool) -> Batch:
    """The good rows of a block, whose first row has this number."""
    labels, places = [label.decode() for label in lines.labels], block.first + lines.numbers
    is_bad = (lines.codes == NO_LABEL) & need_labels
    if not is_bad.any() and not block.odd:
        rows = np.arange(first, first + len(places))
        return Batch(_name(block.file), lines.X, labels, lines.codes, rows, [])
    every = np.sort(np.concatenate([places, np.array(list(block.odd), np.int64)]))
    texts = block.text.split(b"\n")
    bad = {int(line): texts[line - block.first] for line in places[is_bad].tolist()} | block.odd
    numbers = {line: first + int(np.searchsorted(every, line)) for line in sorted(bad)}
    for line, row in numbers.items():
        fault = _no_text(block, line, row, bad[line]) if line in block.odd else _no_label(block, line, row)
        if rejects is None:
            raise fault
        rejects.add(_name(block.file), row, f"{fault.code}: {fault}", bad[line].decode("utf-8", "backslashreplace"))
    good = np.flatnonzero(~is_bad)
    rows = first + np.searchsorted(every, places[good])
    return Batch(_name(block.file), lines.X[good], labels, lines.codes[good], rows, list(numbers.values()))


def _no_label(block: Block, line: int, row: int) -> MissingLabelError:
    fix = "Each line is a label, a tab, and the text; without --text the input is a table."
    return MissingLabelError(
        f"{_name(block.file)}: line {line} has no label. {fix}", file=_name(block.file), row=row, fix=fix
    )


def _no_text(block: Block, line: int, row: int, text: bytes) -> EncodingError:
    fix, name, which = "Save it as UTF-8.", _name(block.file), ""
    try:
        text.decode()
    except UnicodeDecodeError as error:
        which = f"{text[error.start]:#04x}"
    return EncodingError(
        f"{name}: line {line} is not UTF-8 text (byte {which}). {fix}", file=name, row=row, value=which, fix=fix
    )


def _blocks(file: str, ctrl_c: CtrlC) -> Iterator[Block]:
    """Blocks of whole lines in UTF-8."""
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
                text, rest = rest + head + newline, tail
            elif rest:
                text, rest = rest + b"\n", b""
            else:
                return
            if first == 1:
                text = text.removeprefix(b"\xef\xbb\xbf")
            yield _readable(Block(file, first, text, {}))
            first += text.count(b"\n")


def _readable(block: Block) -> Block:
    """The same block, with the lines that are not UTF-8 taken out."""
    try:
        if not block.text.isascii():
            block.text.decode()
    except UnicodeDecodeError:
        lines = block.text.split(b"\n")
        odd = {block.first + k: line for k, line in enumerate(lines) if not _is_text(line)}
        kept = b"\n".join(b"" if block.first + k in odd else line for k, line in enumerate(lines))
        return Block(block.file, block.first, kept, odd)
    return block


def _is_text(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


@contextmanager
def _opened(file: str) -> Iterator[BinaryIO]:
    if file == STDIN:
        yield sys.stdin.buffer
        return
    try:
        with Path(file).open("rb") as stream:
            yield stream
    except OSError as error:
        raise unreadable(file, error) from error


def _require_short(file: str, line: int, rest: bytes) -> None:
    if len(rest) > LONGEST_LINE:
        seen = f"line {line} has more than {LONGEST_LINE >> 20} MiB"
        raise FileError(f"{_name(file)}: {seen}: this is not text in lines.", file=_name(file))


def _name(file: str) -> str:
    return "stdin" if file == STDIN else file


def table_batches(files: Sequence[str], options: Options, format: str | None, ctrl_c: CtrlC) -> Iterator[Batch]:  # noqa: A002
    """Rows of tables of any format; columns are those of the first file, matched by name."""
    first: Reader | None = None
    for reader in streaming.readers(files or [STDIN], options, format, ctrl_c.waiting):
        if first is None:
            first = reader
            for remark in reader.remarks():
                note(remark)
        _require_alike(first, reader)
        order, labels = streaming.in_order(reader.columns, first.columns), Labels(reader.path, reader.is_text)
        for stretch in streaming.stretches(reader, options.set_aside):
            if stretch.batch is None:
                continue
            X = streaming.as_doubles(reader, stretch)
            codes = labels.encode(stretch.batch.labels, stretch.batch.first).astype(np.int64)
            names, X = [streaming.text_of(label) for label in labels.codes], X if order is None else X[:, order]
            yield Batch(reader.path, X, names, codes, stretch.rows, stretch.bad, first.columns, reader.label_name)


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
