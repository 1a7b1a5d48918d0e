"""Lines of text as rows: cut into blocks of whole lines, and hashed on all cores, a few blocks ahead of the learner.

A block that is not full, as from a pipe that waits for its writer, is processed at once.
"""

import os
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from linsep.errors import InputError
from linsep.faults import fault
from linsep.loops.text_hash import NO_LABEL
from linsep.sources.base import Ints
from linsep.sources.files import pipe_opened
from linsep.sources.files.csv_records import not_text
from linsep.sources.files.paths import expand, packing_of
from linsep.sources.files.rejects import Rejects
from linsep.sources.files.text_reader import BOM, Waiting, next_bytes
from linsep.sources.hashing import Lines, hash_lines

STDIN = "-"
BLOCK = 1 << 20  # bytes
LONGEST_LINE = 1 << 26  # bytes: a file with longer ones is not text in lines


@dataclass(frozen=True, slots=True)
class LabelledRows:
    """Rows of one file, the labels that occur (in order of appearance), and the label of each row as their position.

    A row without a label has a negative position. `rows` are the numbers of the rows in their file, counted from 0, and
    `bad` those of the rows between them that were rejected.
    """

    file: str
    X: Any
    labels: list[str]
    codes: Ints
    rows: Ints
    bad: list[int]
    columns: tuple[str, ...] | None = None
    label: str | int | None = None


class TextBlock(NamedTuple):
    """Whole lines of a file in UTF-8, the number of the first, and the lines that are not UTF-8, left blank in it."""

    file: str
    first: int
    text: bytes
    odd: dict[int, bytes]

    @property
    def name(self) -> str:
        """What the file is called in results."""
        return "stdin" if self.file == STDIN else self.file


def text_batches(
    files: Sequence[str],
    bits: int,
    *,
    waiting: Waiting = nullcontext,
    need_labels: bool = True,
    rejects: Rejects | None = None,
) -> Iterator[LabelledRows]:
    """Lines "label<TAB>text", hashed. Lines without a label, and those that are not UTF-8, are errors or rejected."""
    names = expand(files or [STDIN])
    if rejects is not None:
        rejects.require_apart(names)
    workers = os.cpu_count() or 1
    with ThreadPoolExecutor(workers) as pool:
        for file in names:
            row = 0
            for block, lines in _hashed(_blocks(file, waiting), bits, pool, workers + 1):
                batch = _batch(block, lines, row, rejects, need_labels=need_labels)
                row += len(batch.rows) + len(batch.bad)
                yield batch
    if rejects is not None:
        rejects.begin()


def _hashed(
    blocks: Iterator[TextBlock], bits: int, pool: ThreadPoolExecutor, most: int
) -> Iterator[tuple[TextBlock, Lines]]:
    """Blocks with their hashed lines, in order; at most this many are worked on at a time."""
    queue: deque[tuple[TextBlock, Future[Lines]]] = deque()
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


def _batch(block: TextBlock, lines: Lines, first: int, rejects: Rejects | None, *, need_labels: bool) -> LabelledRows:
    """The good rows of a block, whose first row has this number."""
    labels, places = [label.decode() for label in lines.labels], block.first + lines.numbers
    is_bad = (lines.codes == NO_LABEL) & need_labels
    if not is_bad.any() and not block.odd:
        rows = np.arange(first, first + len(places))
        return LabelledRows(block.name, lines.X, labels, lines.codes, rows, [])
    every = np.sort(np.concatenate([places, np.array(list(block.odd), np.int64)]))
    texts = block.text.split(b"\n")
    bad = {int(line): texts[line - block.first] for line in places[is_bad].tolist()} | block.odd
    numbers = {line: first + int(np.searchsorted(every, line)) for line in sorted(bad)}
    for line, row in numbers.items():
        error = _fault(block.file, line, row, _odd_byte(bad[line]))
        if rejects is None:
            raise error
        rejects.add(block.name, row, error, bad[line].decode("utf-8", "backslashreplace"))
    good = np.flatnonzero(~is_bad)
    rows = first + np.searchsorted(every, places[good])
    return LabelledRows(block.name, lines.X[good], labels, lines.codes[good], rows, list(numbers.values()))


def _fault(file: str, line: int, row: int, odd: bytes | None) -> InputError:
    """A line that is not text, because of this byte, or that has no label."""
    if odd is None:
        return fault("no label on line", file, row=row, line=line)
    what, fix = not_text(odd)
    return fault("line not text", file, row=row, line=line, value=odd, what=what, fix=fix)


def _odd_byte(line: bytes) -> bytes | None:
    """The first byte of a line that is not UTF-8."""
    try:
        line.decode()
    except UnicodeDecodeError as error:
        return line[error.start : error.start + 1]
    return None


def _blocks(file: str, waiting: Waiting) -> Iterator[TextBlock]:
    """Blocks of whole lines in UTF-8."""
    first, rest = 1, b""
    with pipe_opened(file) as stream:
        while True:
            with waiting():
                piece = next_bytes(stream, BLOCK)
            if first == 1 and not rest and packing_of(piece):
                raise fault("compressed text", file, byte=0)
            text, rest = rest + piece, b""
            if piece:
                end = text.rfind(b"\n") + 1
                text, rest = text[:end], text[end:]
                if len(rest) > LONGEST_LINE:
                    line = first + text.count(b"\n")
                    raise fault("endless text", file, line=line, most=f"{LONGEST_LINE >> 20} MiB")
            elif text:
                text += b"\n"
            else:
                return
            if text:
                yield _readable(file, first, text.removeprefix(BOM) if first == 1 else text)
                first += text.count(b"\n")


def _readable(file: str, first: int, text: bytes) -> TextBlock:
    """A block, with the lines that are not UTF-8 taken out."""
    if text.isascii() or _odd_byte(text) is None:
        return TextBlock(file, first, text, {})
    lines = text.split(b"\n")
    odd = {first + k: line for k, line in enumerate(lines) if _odd_byte(line) is not None}
    kept = b"\n".join(b"" if first + k in odd else line for k, line in enumerate(lines))
    return TextBlock(file, first, kept, odd)
