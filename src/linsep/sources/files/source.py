"""Many files as one source, read batch by batch: memory holds a few batches, however many rows there are."""

import operator
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from itertools import chain, pairwise
from typing import Any

import numpy as np

from linsep import loops
from linsep.cores import thread_count
from linsep.faults import fault, few
from linsep.loops.layouts import Dense
from linsep.sources.base import Block, Facts, Floats, Ints, Label, Scan, Signs, Source, joined, marks
from linsep.sources.files.caches import Caches
from linsep.sources.files.first_read import Survey, common_kind
from linsep.sources.files.labels import classes_of, known_classes, marks_of
from linsep.sources.files.reader import Batch, ColumnValues, Reader, Values
from linsep.sources.files.threads import map_in_order, prefetch
from linsep.sources.inputs import read_table
from linsep.sources.memory import UNKNOWN_LENGTH, HeldRows, MemorySource, settled
from linsep.tables.categories import Coding
from linsep.tables.row_ids import RowIds

SAMPLE_BYTES = 1 << 24  # of the largest sample of rows held in memory; fixed, so that no verdict depends on the memory
GROUPS_A_THREAD = 4  # from this many on, each thread reads groups of its own; else one reads, and all share a batch


class FileSource(Source):
    """The rows of one or more files, in the order of the files.

    Each walk reads the stores again, group by group. Only what the first read found stays in memory, and its size does
    not depend on the number of rows.
    """

    def __init__(self, surveys: Sequence[Survey], caches: Caches) -> None:
        self._surveys, self._caches = list(surveys), caches  # temporary folders exist as long as the source
        self._groups = [(survey, k) for survey in surveys for k in range(len(survey.store.lengths))]
        lengths = [survey.store.lengths[k] for survey, k in self._groups]
        self._starts: Ints = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        self._kind = common_kind(surveys)
        self._longest2: dict[int, float] = {}
        self._readers = [(survey.reader, sum(survey.store.lengths)) for survey in surveys]
        self.files = tuple(survey.reader.path for survey in surveys)
        self.label_column = surveys[0].reader.label_name
        options, n_rows = surveys[0].reader.options, int(self._starts[-1])
        if options.classes is not None and options.positive is None:
            labels: tuple[Label, ...] = options.classes
            signs = known_classes((survey.labels for survey in surveys), options.classes)
        else:
            values = [value for survey in surveys for value in survey.labels.values()]
            orders = {survey.reader.label_order for survey in surveys if survey.reader.why_empty is None}
            known: Any = {"order": orders.pop() if len(orders) == 1 else None, "column": self.label_column}
            labels, signs = classes_of(values, options.positive, self.files, **known)
        kind = marks(np.zeros(0), len(labels)).dtype
        self._marks = {id(s): np.array([signs[value] for value in s.labels.values()], kind) for s in surveys}
        self.facts = self._facts(labels, n_rows)

    def _facts(self, labels: tuple[Label, ...], n_rows: int) -> Facts:
        """What the first read found, for all files together."""
        surveys = self._surveys
        places, is_long = surveys[0].reader.decimal_places, any(survey.long is not None for survey in surveys)
        entries = sum(survey.entries for survey in surveys)
        return Facts(
            n_rows=n_rows,
            n_columns=max(survey.reader.n_columns for survey in surveys),
            labels=labels,
            names=surveys[0].reader.columns,
            rows_left_out=sum(survey.reader.left_out for survey in surveys),
            numbers="decimal" if places is not None else "exact-integers" if is_long else "binary64",
            scales=None if places is None else tuple(10**k for k in places),
            integer_bits=max(survey.bits for survey in surveys) if self._kind is np.int64 else None,
            is_finite=True,  # the first read refused NaN and infinity
            at_hand=max(1 << 10, int(SAMPLE_BYTES / (12 * entries / n_rows + 8))),
            files=self.files,
            label_column=self.label_column,
            ids=self._row_ids(),
        )

    def _row_ids(self) -> RowIds | None:
        """What rows are called: by the column of ids or, if rows were rejected, by their numbers in the files."""
        options = self._surveys[0].reader.options
        is_numbered = any(survey.reader.bad_rows for survey in self._surveys)
        if options.id is None and not is_numbered:
            return None
        if options.id is not None:
            return FileIds(self._readers, lambda reader, own: reader.ids(own), "id")
        return FileIds(self._readers, _numbers_in if len(self.files) > 1 else _numbers, "file number")

    @property
    def categories(self) -> dict[str, tuple[str, ...]]:
        """The categories of each text column that became columns of 0 and 1."""
        return self._surveys[0].reader.categories

    def remarks(self) -> list[str]:
        """What a reader of the result should know about how the files were read."""
        reader = self._surveys[0].reader
        coding = reader.options.coding_of
        said = [_coded(name, values, coding(name)) for name, values in reader.categories.items()]
        said += reader.remarks
        if left_out := self.facts.rows_left_out:
            if reader.options.missing == "drop":
                rows = (
                    "1 row with a missing value was" if left_out == 1 else f"{left_out:,} rows with missing values were"
                )
                said.append(f"{rows} dropped.")
            else:
                rows = "1 bad row was" if left_out == 1 else f"{left_out:,} bad rows were"
                said.append(f"{rows} rejected.")
        return said

    @property
    def has_header(self) -> bool:
        """Whether the rows are lines of text below a line of names."""
        return self._surveys[0].reader.has_header

    @property
    def is_plain_csv(self) -> bool:
        """Whether this is one CSV file of numbers, read whole and unchanged: what the stand-alone checker can read."""
        return len(self._surveys) == 1 and self.facts.rows_left_out == 0 and self._surveys[0].reader.is_plain_csv

    def from_data(self) -> "FileSource":
        """The files themselves, not their converted rows: for verifying a proof."""
        fresh = Caches(False, self._caches.hold)
        return FileSource([fresh.survey(s.reader) if s.labels.is_coded else s for s in self._surveys], fresh)

    # The verbs of a source -------------------------------------------------------------------------------

    def scan(self, w: Floats, b: float, *, worst: int = 0) -> Scan:
        """The sum of the scans of the batches."""
        _ = self.facts.pair  # more than two labels are refused
        return reduce(operator.add, self._scans(np.ascontiguousarray(w, dtype=np.float64), b, worst))

    def _scans(self, w: Floats, b: float, worst: int) -> Iterator[Scan]:
        """The scan of each batch. Rows that floats leave in doubt are settled exactly, at once."""
        lowest = Lowest(worst)

        def scan(part: HeldRows, *, alone: bool) -> Scan:
            found = part.scan_alone(w, b, worst, lowest.ceiling) if alone else part.scan(w, b, worst=worst)
            lowest.add(found.worst_scores)
            self._longest2[int(part.numbers[0])] = found.longest2
            return settled(part, found, w, b)

        def scan_group(group: int) -> list[Scan]:
            return [scan(part, alone=True) for part in self._parts(group)]

        if self._is_side_by_side:
            yield from chain.from_iterable(map_in_order(scan_group, range(len(self._groups)), thread_count()))
            return
        for part in self._walk(range(len(self._groups))):
            yield scan(part, alone=isinstance(part, ColumnPart))  # meanwhile pyarrow's threads read the next one

    def blocks(self, random: np.random.Generator | None = None) -> Iterator[Block]:
        """The rows batch by batch; with random numbers, groups come in a random order."""
        groups = range(len(self._groups)) if random is None else random.permutation(len(self._groups)).tolist()
        has_short = sum(survey.batches for survey in self._surveys) == len(self._groups)
        if self._is_side_by_side and has_short:
            parts: Iterable[HeldRows] = map_in_order(
                lambda k: next(self._parts(k, as_rows=True)), groups, thread_count()
            )
        else:
            parts = self._walk(groups, as_rows=True)
        for part in parts:
            yield from part.blocks()

    def take(self, rows: Sequence[int] | Ints) -> Block:
        """These rows, in this order: each batch that holds some is read once."""
        wanted = np.asarray(rows, dtype=np.int64)
        distinct, back = np.unique(wanted, return_inverse=True)
        if not distinct.size:
            return next(self.blocks()).take(np.zeros(0, np.int64))
        found = joined(list(self._fetch(distinct)))
        return found if np.array_equal(distinct, wanted) else found.take(back)

    def where(self, row: int) -> tuple[str, int]:
        """The file that a row is from, and its number there, counting rows that were left out."""
        survey, _ = self._groups[self._group_of(row)]
        return survey.reader.path, self.file_numbers([row])[row]

    def file_numbers(self, rows: Sequence[int]) -> dict[int, int]:
        """The number of each row in its file, counting rows that were left out."""
        return asked(self._readers, rows, _numbers)

    def lines(self, rows: Sequence[int]) -> dict[int, int]:
        """The line of its file on which each row begins, if the format has lines: one walk over each file."""
        return asked(self._readers, rows, lambda reader, own: reader.lines(own))

    def ids(self, rows: Sequence[int]) -> dict[int, str]:
        """The id of each row, if the files have a column of ids: one walk over each file."""
        own = self.facts.ids
        return {} if own is None or own.word != "id" else dict(own.names(rows).known)

    # Groups and batches -----------------------------------------------------------------------------------

    @property
    def _is_side_by_side(self) -> bool:
        """Whether there are enough groups for every thread to read its own."""
        return len(self._groups) >= GROUPS_A_THREAD * thread_count() > GROUPS_A_THREAD

    def _group_of(self, row: int) -> int:
        return int(np.searchsorted(self._starts, row, side="right")) - 1

    def _walk(self, groups: Iterable[int], *, as_rows: bool = False) -> Iterator[HeldRows]:
        """The batches of these groups, one after the other; meanwhile the next ones are read."""
        return prefetch(chain.from_iterable(self._parts(k, as_rows=as_rows, use_threads=True) for k in groups))

    def _parts(self, k: int, *, as_rows: bool = False, use_threads: bool = False) -> Iterator[HeldRows]:
        """The batches of a group; those of a columnar file lie column by column, unless rows are asked for."""
        survey, group = self._groups[k]
        start = int(self._starts[k])
        for batch in survey.store.read(group, use_threads=use_threads):
            part = self._part(survey, batch.as_rows() if as_rows else batch, start)
            start += len(batch)
            yield part

    def _part(self, survey: Survey, batch: Batch, start: int) -> HeldRows:
        numbers, values = range(start, start + len(batch)), batch.values
        signs, facts = self._read_marks(survey, batch), self.facts.of_part(len(numbers))
        if isinstance(values, ColumnValues) and self._kind is np.float64:
            part: HeldRows = ColumnPart(values, signs, facts, numbers)
        else:
            part = MemorySource(self._table(values), signs, facts, numbers)
        part._longest2 = self._longest2.get(start, part._longest2)
        return part

    def _table(self, values: Values) -> Any:
        """Values as rows of the kind of numbers that all files have in common."""
        rows = values.rows() if isinstance(values, ColumnValues) else values
        return read_table(rows.astype(self._kind, copy=False))[0]

    def _read_marks(self, survey: Survey, batch: Batch) -> Any:
        """The labels of a batch as blocks store them."""
        labels, known = survey.labels, len(survey.labels.codes)
        codes = labels.encode(batch.labels, batch.first)
        if len(labels.codes) > known:
            raise fault("changed", survey.reader.path)
        return marks_of(codes, self._marks[id(survey)])

    def _fetch(self, rows: Ints) -> Iterator[Block]:
        """These rows, which are in increasing order, as blocks that hold nothing else."""
        edges = np.searchsorted(rows, self._starts)
        held = [(k, rows[a:b]) for k, (a, b) in enumerate(pairwise(edges.tolist())) if a < b]
        return chain.from_iterable(map_in_order(self._take, held, thread_count()))

    def _take(self, held: tuple[int, Ints]) -> list[Block]:
        """Some rows of a group, by their increasing numbers."""
        (survey, group), rows = self._groups[held[0]], held[1]
        blocks, done = [], 0
        for batch in survey.store.take(group, rows - self._starts[held[0]]):
            numbers = rows[done : done + len(batch)]
            blocks.append(Block(self._table(batch.values), self._read_marks(survey, batch), numbers, self.n_columns))
            done += len(batch)
        return blocks


def _coded(name: str, levels: Sequence[str], coding: Coding) -> str:
    """How the categories of a column became columns."""
    if coding == "all":
        return f"{name}: one column for each of {few(levels, 8)}."
    if len(levels) == 1:
        return f"{name}: no column, since {few(levels)} is its only category."
    return f"{name}: one column for each of {few(levels[1:], 8)}, compared with {few(levels[:1])}."


Readers = Sequence[tuple[Reader, int]]  # each with the number of its rows
Ask = Callable[[Reader, list[int]], Mapping[int, Any]]


def asked(readers: Readers, rows: Iterable[int], ask: Ask) -> dict[int, Any]:
    """The answers of the files about these rows; each file is asked about its own, counted from 0 within it."""
    found, wanted, first = dict[int, Any](), sorted(rows), 0
    for reader, n_rows in readers:
        own = [row - first for row in wanted if first <= row < first + n_rows]
        found |= {first + row: answer for row, answer in ask(reader, own).items()} if own else {}
        first += n_rows
    return found


class FileIds(RowIds):
    """The ids of rows in files: one walk over each file for rows whose ids are not known yet."""

    def __init__(self, readers: Readers, ask: Ask, word: str) -> None:
        self._readers, self._ask, self.word, self._known = readers, ask, word, dict[int, Any]()

    def at(self, rows: Sequence[int]) -> list[Any]:
        """What these rows are called."""
        self._known |= asked(self._readers, set(rows) - self._known.keys(), self._ask)
        return [self._known.get(row) for row in rows]


def _numbers(reader: Reader, rows: list[int]) -> dict[int, Any]:
    """The numbers of rows in their file, counting rejected rows."""
    return dict(zip(rows, reader.file_numbers(rows), strict=True))


def _numbers_in(reader: Reader, rows: list[int]) -> dict[int, Any]:
    """The same with the name of the file, for several files."""
    return {row: f"{reader.path}:{number}" for row, number in _numbers(reader, rows).items()}


class ColumnPart(HeldRows):
    """A batch that lies column by column: scanned without a copy, and copied into rows only on demand."""

    numbers: range

    def __init__(self, values: ColumnValues, y: Signs, facts: Facts, numbers: range) -> None:
        self.y, self.facts, self.numbers, self._values = y, facts, numbers, values
        self._addresses = np.array([column.ctypes.data for column in values.columns], np.uint64)
        self._longest2 = UNKNOWN_LENGTH

    def blocks(self, random: np.random.Generator | None = None) -> Iterator[Block]:
        """All of them as rows."""
        yield Block(Dense(self._values.rows()), self.y, self.numbers, self.n_columns)

    def take(self, rows: Sequence[int] | Ints) -> Block:
        """These rows, copied out."""
        numbers = np.asarray(rows, np.int64)
        return self._rows_at(numbers - self.numbers.start)

    def _rows_at(self, positions: Ints) -> Block:
        numbers = positions + self.numbers.start
        return Block(Dense(self._values[positions]), self.y[positions], numbers, self.n_columns)

    def scan(self, w: Floats, b: float, *, worst: int = 0) -> Scan:
        """The scan made by this thread alone."""
        return self.scan_alone(np.ascontiguousarray(w, np.float64), float(b), worst, np.inf)

    def scan_alone(self, w: Floats, b: float, worst: int, ceiling: float) -> Scan:
        """The scan of the rows that need closer examination, plus the counts of the plain ones, which do not."""
        if self._longest2 == UNKNOWN_LENGTH:
            self._longest2 = self._largest_norm2()
        if 0 < worst < self.n_rows and ceiling == np.inf:
            ceiling = self._ceiling_of(worst, w, b)
        others = np.empty(self.n_rows, np.int64)
        near = loops.column_scores.sure_beyond(w, float(b), self._longest2)
        wrong, minus, plus, left = loops.column_scores.count_plain(
            self._addresses, self.y, w, float(b), near, ceiling if worst else -np.inf, others
        )
        found = self._looked_at(others[:left]).scan_alone(w, b, worst, ceiling)
        return replace(
            found,
            rows=self.n_rows,
            mistakes=found.mistakes + wrong,
            certain=found.certain + wrong,
            lowest=(min(found.lowest[0], minus), min(found.lowest[1], plus)),
        )

    def _ceiling_of(self, wanted: int, w: Floats, b: float) -> float:
        """A bound above the `wanted` lowest scores, but above few others."""
        scores = np.empty(self.n_rows)
        loops.column_scores.write_scores(self._addresses, w, scores)
        return float(np.nextafter(np.partition(self.y * (scores + b), wanted - 1)[wanted - 1], np.inf))

    def _looked_at(self, positions: Ints) -> MemorySource:
        """These rows, in order, copied into rows."""
        block = self._rows_at(positions)
        part = MemorySource(block.table, block.y, self.facts.of_part(len(positions)), block.numbers)
        part._longest2 = self._longest2
        return part

    def _largest_norm2(self) -> float:
        """The largest |x|², summed as for rows; only rows whose column-wise sum is close to the largest can have it."""
        lengths2 = np.empty(self.n_rows)
        loops.column_scores.write_lengths(self._addresses, lengths2)
        slack = (self.n_columns + 4) * 2.0**-50
        enough = np.fmax.reduce(lengths2) * (1.0 - slack) - 1e-300  # the last term for squares that underflow
        return float(loops.column_scores.largest_norm2(self._values[np.flatnonzero(lengths2 >= enough)]))


class Lowest:
    """The lowest scores seen by any thread: scores that are not below the `ceiling` can be ignored.

    The ceiling is just above the highest of them, since among rows with equal scores the first ones are wanted.
    """

    def __init__(self, wanted: int) -> None:
        self._wanted, self._scores, self.ceiling = wanted, np.zeros(0), np.inf
        self._lock = threading.Lock()

    def add(self, scores: Floats) -> None:
        """The lowest scores of some more rows."""
        if not self._wanted or not scores.size:
            return
        with self._lock:
            self._scores = np.sort(np.concatenate([self._scores, scores]))[: self._wanted]
            if len(self._scores) == self._wanted:
                self.ceiling = float(np.nextafter(self._scores[-1], np.inf))
