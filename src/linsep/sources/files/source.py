"""Many files as one source, read batch by batch: memory holds a few batches, whatever the number of rows."""

import hashlib
import operator
import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import reduce
from itertools import chain, pairwise
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from linsep.errors import (
    ChangedFileError,
    CheckpointError,
    InputError,
    NoRowsError,
)
from linsep.kernels.csr import Csr
from linsep.kernels.dense import Dense
from linsep.sources.base import Block, Floats, Ints, Label, Scan, Source, distinct_rows, taken_together
from linsep.sources.files.ahead import abreast, ahead
from linsep.sources.files.labels import known_classes, signs_of, two_classes
from linsep.sources.files.parts import ColumnPart
from linsep.sources.files.reading import Batch, ColumnValues, Place, Values
from linsep.sources.files.survey import Survey, common_kind, first_read, names_of
from linsep.sources.inputs import read_table
from linsep.sources.memory import MemorySource, settled, thread_count
from linsep.sources.wrapped import WrappedSource

SAMPLE_BYTES = 1 << 24  # of the largest sample of rows held in memory: fixed, so that no verdict depends on the memory
DEPTH = 2  # batches read in advance
RUNS_A_THREAD = 4  # from here on threads read side by side, each its own; else one reads, and all work on a batch

Run: TypeAlias = tuple[Survey, int, Place]  # a stretch of a file, and its first row in all files


class FileSource(Source):
    """The rows of one or more files, in the order of the files.

    Each walk reads the files anew, in batches, one thread ahead of the work. What stays in memory are the places of
    the batches and what the first read found; nothing has the length of the data.
    """

    is_in_parts = True

    def __init__(
        self,
        surveys: Sequence[Survey],
        *,
        positive: Any = None,
        classes: tuple[Label, Label] | None = None,
        keeps: Any = None,
    ) -> None:
        self._surveys, self._depth = list(surveys), DEPTH
        self._keeps = keeps  # temporary folders live as long as the source
        self._positive, self._classes = positive, classes
        self._places = [(survey, place) for survey in surveys for place in survey.places]
        if not self._places:
            raise NoRowsError("The files hold no rows.")
        lengths = [place.rows for _, place in self._places]
        self._starts: Ints = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        self.n_rows = int(self._starts[-1])
        self.n_columns = max(survey.reader.n_columns for survey in surveys)
        self.columns = surveys[0].reader.columns
        self.decimal_places = surveys[0].reader.decimal_places
        if self.decimal_places is not None:
            self.scales, self.is_decimal = tuple(10**k for k in self.decimal_places), True
        self.rows_left_out = sum(survey.left_out for survey in surveys)
        self._signs: dict[Label, int]
        if classes is not None and positive is None:
            self.labels, self._signs = classes, known_classes((survey.labels for survey in surveys), classes)
        else:
            self.labels, self._signs = self._two_classes(positive)
        self._kind = common_kind(surveys)
        self._longest2: dict[int, float] = {}

    def _two_classes(self, positive: Any) -> tuple[tuple[Label, Label], dict[Label, int]]:
        """The labels of the two classes and the sign of each value; errors begin with the name of the file."""
        values = [value for survey in self._surveys for value in survey.labels.values()]
        try:
            return two_classes(values, positive, self.n_rows)
        except InputError as error:
            error.file = self.files[0]
            error.column = self.label_column
            more = f" and {len(self.files) - 1:,} more" if len(self.files) > 1 else ""
            error.args = (f"{error.file}{more}: {error}",)
            raise

    @property
    def files(self) -> tuple[str, ...]:
        """The files, in order."""
        return tuple(survey.reader.path for survey in self._surveys)

    @property
    def categories(self) -> dict[str, tuple[str, ...]]:
        """The categories of each text column that became columns of 0 and 1."""
        return self._surveys[0].reader.categories

    def remarks(self) -> list[str]:
        """What a reader of the result should know about how the files were read."""
        reader = self._surveys[0].reader
        said = [f"{name}: one column for each of {names_of(values)}." for name, values in reader.categories.items()]
        said += reader.remarks()
        if self.rows_left_out:
            rows = "1 bad row was" if self.rows_left_out == 1 else f"{self.rows_left_out:,} bad rows were"
            said.append(f"{rows} rejected.")
        return said

    @property
    def is_plain_csv(self) -> bool:
        """Whether this is one CSV file of numbers, read whole and as it stands: what the stand-alone checker reads."""
        return len(self._surveys) == 1 and self.rows_left_out == 0 and self._surveys[0].reader.is_plain_csv

    @property
    def label_column(self) -> str | int | None:
        """What the label column is called, or where it stands."""
        return self._surveys[0].reader.label_name

    def fresh(self) -> Source:
        """The files as this run reads them, their caches too: what it checks its own verdict against."""
        return FilesAsRead(self)

    def from_data(self) -> "FileSource":
        """The files themselves, parsed anew, where their rows lie in a cache or in memory."""
        if not any(survey.reader.is_coded for survey in self._surveys):
            return self
        surveys = [first_read(survey.reader.original) for survey in self._surveys]
        return FileSource(surveys, positive=self._positive, classes=self._classes, keeps=self._keeps)

    # The verbs of a source -------------------------------------------------------------------------------

    def scan(self, w: Floats, b: float, *, worst: int = 0) -> Scan:
        """The sum of the scans of the batches."""
        return reduce(operator.add, self.scan_parts(w, b, worst=worst))

    def scan_parts(self, w: Floats, b: float, *, worst: int = 0, start: int = 0) -> Iterator[Scan]:
        """The scan of each batch. Rows that floats leave in doubt are settled at once, exactly."""
        w = np.ascontiguousarray(w, dtype=np.float64)
        runs, lowest = self._runs(), Lowest(worst)
        if runs is None:
            for k, part in self._walk_from(start, as_columns=True):
                if isinstance(part, ColumnPart):  # pyarrow's threads read the next one
                    found = part.scan_alone(w, b, worst, lowest.ceiling)
                else:
                    found = part.scan(w, b, worst=worst)
                lowest.add(found.worst_scores)
                yield self._scanned(k, part, found, w, b)
            return
        if start != self.n_rows and start != 0:
            self._batch_at(start)

        def scan_run(run: Run) -> list[Scan]:
            scans = []
            for k, part in self._read_run(*run, start):
                scans.append(self._scanned(k, part, part.scan_alone(w, b, worst, lowest.ceiling), w, b))
                lowest.add(scans[-1].worst_scores)
            return scans

        left = [run for run in runs if run[1] + run[2].rows > start]
        for scans in abreast(scan_run, left, thread_count()):
            yield from scans

    def _scanned(self, k: int, part: MemorySource, scan: Scan, w: Floats, b: float) -> Scan:
        """The scan of batch k with no row left in doubt; the memory of its rows serves the next one."""
        scan = settled(part, scan, w, b)
        self._longest2[k] = scan.longest2
        buffers = self._places[k][0].reader.buffers
        if buffers is not None and isinstance(part.table, Dense) and not isinstance(part, ColumnPart):
            buffers.give_back(part.table.values)  # the scan has copied what it keeps
        return scan

    def blocks(self) -> Iterator[Block]:
        """One block for each batch."""
        for _, part in self._walk():
            yield from part.blocks()

    def blocks_from(self, start: int) -> Iterator[Block]:
        """The blocks from the one that begins at row `start` on."""
        for _, part in self._walk_from(start):
            yield from part.blocks()

    def shuffled_blocks(self, random: np.random.Generator, start: int | None = None) -> Iterator[Block]:
        """The blocks in another order each time; those of a file that cannot be read backwards stay in line."""
        if self._can_seek():
            order = random.permutation(len(self._places)).tolist()
            done = 0 if start is None else order.index(self._batch_at(start))
            yield from (block for _, part in self._walk(order[done:]) for block in part.blocks())
        else:
            yield from self.blocks() if start is None else self.blocks_from(start)

    def fingerprint(self) -> str:
        """A digest of what the files are called, how large and how old they are, how they were read, and a glimpse."""
        files = [(survey.reader.path, *_size_and_time(survey.reader.path)) for survey in self._surveys]
        how = (self.n_columns, self.labels, self.columns, self.decimal_places, self._kind.__name__)
        digest = hashlib.sha256(repr((files, how)).encode("utf-8", "backslashreplace"))
        digest.update(self._starts.tobytes())
        first = next(self.blocks())
        for array in (*first.table, first.y):
            digest.update(np.ascontiguousarray(array).data.cast("B") if array.size else b"")
        return digest.hexdigest()

    def take(self, rows: Sequence[int] | Ints) -> Block:
        """These rows, in this order: each batch that holds some is read once."""
        wanted = np.asarray(rows, dtype=np.int64)
        distinct, back = np.unique(wanted, return_inverse=True)
        if not distinct.size:
            return next(self.blocks()).take(np.zeros(0, np.int64))
        found = join(list(self._fetch(distinct)), distinct, self.n_columns)
        return found if np.array_equal(distinct, wanted) else found.take(back)

    def samples(self, sizes: Sequence[int]) -> Iterator[Block]:
        """The samples of these sizes, all fetched in one read."""
        return taken_together(self, [distinct_rows(self.n_rows, size, seed) for seed, size in enumerate(sizes)])

    @property
    def most_at_hand(self) -> int:
        """How many rows may be held in memory at once."""
        entries = sum(survey.entries for survey in self._surveys)
        return max(1 << 10, int(SAMPLE_BYTES / (12 * entries / self.n_rows + 8)))

    def require_finite(self) -> None:
        """Nothing to do: the first read refused NaN and infinity."""

    def has_long_integers(self) -> bool:
        """Whether some integer of the rows is beyond 2^53."""
        return any(survey.long is not None for survey in self._surveys)

    def integer_bits(self) -> int | None:
        """The bits of the largest |value|, or None for floats."""
        return max(survey.bits for survey in self._surveys) if self._kind is np.int64 else None

    def where(self, row: int) -> tuple[str, int]:
        """The file that a row is from, and its number there."""
        k = int(np.searchsorted(self._starts, row, side="right")) - 1
        survey, place = self._places[k]
        return survey.reader.path, place.first + row - int(self._starts[k])

    def lines(self, rows: Sequence[int]) -> dict[int, int]:
        """The line of its file on which each row begins, where files have lines: one walk over each file."""
        found: dict[int, int] = {}
        by_file: dict[int, list[int]] = {}
        for row in rows:
            k = int(np.searchsorted(self._starts, row, side="right")) - 1
            by_file.setdefault(self._surveys.index(self._places[k][0]), []).append(row)
        for number, chosen in by_file.items():
            inside = {self.where(row)[1]: row for row in chosen}
            lines = self._surveys[number].reader.lines(sorted(inside))
            found |= {inside[own]: line for own, line in lines.items()}
        return found

    # Batches ----------------------------------------------------------------------------------------------

    def _walk_from(self, start: int, *, as_columns: bool = False) -> Iterator[tuple[int, MemorySource]]:
        """Every batch from the one that begins at row `start` on."""
        if start == 0:
            yield from self._walk(as_columns=as_columns)
            return
        first = len(self._places) if start == self.n_rows else self._batch_at(start)
        if self._can_seek():
            yield from self._walk(range(first, len(self._places)))
        else:
            yield from ((k, part) for k, part in self._walk(as_columns=as_columns) if k >= first)

    def _batch_at(self, row: int) -> int:
        """The batch that begins at this row."""
        k = int(np.searchsorted(self._starts, row))
        if k >= len(self._places) or self._starts[k] != row:
            raise CheckpointError(f"No part of the rows begins at row {row}: start over.")
        return k

    def _can_seek(self) -> bool:
        return all(survey.reader.can_seek for survey in self._surveys)

    def _runs(self) -> list[Run] | None:
        """The stretches that threads can read side by side; None where there are none, or too few."""
        found: list[Run] = []
        first = 0
        for survey in self._surveys:
            runs = survey.reader.runs()
            if runs is None:
                return None
            found += [(survey, first + run.first, run) for run in runs]
            first += sum(place.rows for place in survey.places)
        return found if len(found) >= RUNS_A_THREAD * thread_count() > RUNS_A_THREAD else None

    def _read_run(self, survey: Survey, first: int, run: Place, start: int = 0) -> Iterator[tuple[int, MemorySource]]:
        """The batches of a run that begin at row `start` or later, each with its number."""
        for batch in survey.reader.read_run(run):
            row = first + batch.place.first - run.first
            if row >= start:
                k = int(np.searchsorted(self._starts, row))
                self._require_known(k, survey, batch)
                yield k, self._part(k, survey, batch)

    def _require_known(self, k: int, survey: Survey, batch: Batch) -> None:
        if k >= len(self._places) or batch.place.rows != self._places[k][1].rows:
            raise ChangedFileError(
                f"{survey.reader.path}: the file changed while it was read.", file=survey.reader.path
            )

    def _walk(
        self, order: Sequence[int] | None = None, *, as_columns: bool = False
    ) -> Iterator[tuple[int, MemorySource]]:
        """Every batch with its number; the next ones are read meanwhile.

        Those of a columnar file lie column by column if `as_columns`, which is enough for a scan, else row by row.
        """
        runs = None if as_columns else self._runs()
        if runs is None or len(runs) != len(self._places):
            return ahead(self._batches(order, as_columns), self._depth)
        return abreast(self._only_batch, runs if order is None else [runs[k] for k in order], thread_count())

    def _only_batch(self, run: Run) -> tuple[int, MemorySource]:
        """The one batch of a run, as rows."""
        ((k, part),) = self._read_run(*run)
        return k, part.as_rows() if isinstance(part, ColumnPart) else part

    def _batches(self, order: Sequence[int] | None, as_columns: bool) -> Iterator[tuple[int, MemorySource]]:
        if order is not None:
            for k in order:
                survey, place = self._places[k]
                yield k, self._part(k, survey, survey.reader.read(place))
            return
        k = 0
        for survey in self._surveys:
            for batch in survey.reader.walk() if as_columns else survey.reader.batches():
                self._require_known(k, survey, batch)
                yield k, self._part(k, survey, batch)
                k += 1

    def _part(self, k: int, survey: Survey, batch: Batch) -> MemorySource:
        start = int(self._starts[k])
        numbers = range(start, start + batch.place.rows)
        signs, values = self._read_signs(survey, batch), batch.values
        if isinstance(values, ColumnValues) and self._kind is np.float64:
            part: MemorySource = ColumnPart(values, signs, self.labels, self.columns, numbers)
        else:
            table, _, _ = read_table(self._in_kind(values))
            part = MemorySource(table, signs, self.n_columns, self.labels, self.columns, numbers)
        part._longest2 = self._longest2.get(k, part._longest2)
        return part

    def _in_kind(self, values: Values) -> Any:
        """Values as rows of the kind of numbers that all files have in common."""
        rows = values.rows() if isinstance(values, ColumnValues) else values
        return rows.astype(self._kind, copy=False)

    def _take_run(self, held: tuple[Run, Ints]) -> list[Block]:
        """Some rows of a run, by their numbers, which rise."""
        (survey, first, run), rows = held
        blocks, done = [], 0
        for batch in survey.reader.take_run(run, rows - first):
            table, _, _ = read_table(self._in_kind(batch.values))
            signs = self._read_signs(survey, batch)
            blocks.append(Block(table, signs, rows[done : done + len(signs)], self.n_columns))
            done += len(signs)
        return blocks

    def _read_signs(self, survey: Survey, batch: Batch) -> npt.NDArray[np.int8]:
        if survey.reader.is_coded:
            return signs_of(batch.labels, survey.labels.values(), self._signs)
        quick = survey.labels.quick_signs(batch.labels, self._signs)
        if quick is not None:
            return quick
        known = len(survey.labels.codes)
        codes = survey.labels.encode(batch.labels, batch.place.first)
        if len(survey.labels.codes) > known:
            raise ChangedFileError(
                f"{survey.reader.path}: the file changed while it was read.", file=survey.reader.path
            )
        return signs_of(codes, survey.labels.values(), self._signs)

    def _fetch(self, rows: Ints) -> Iterator[Block]:
        """The blocks that hold these rows, which are in rising order, each with nothing else in it."""
        runs = self._runs()
        if runs is not None:
            starts = [first for _, first, _ in runs]
            edges = np.searchsorted(rows, [*starts, self.n_rows])
            held = [(run, rows[a:b]) for run, (a, b) in zip(runs, pairwise(edges.tolist()), strict=True) if a < b]
            yield from chain.from_iterable(abreast(self._take_run, held, thread_count()))
            return
        edges = np.searchsorted(rows, self._starts)
        touched = [k for k in range(len(self._places)) if edges[k] < edges[k + 1]]
        if not all(self._places[k][0].reader.can_seek for k in touched):
            for k, part in self._walk():
                if edges[k] < edges[k + 1]:
                    yield part.take(rows[edges[k] : edges[k + 1]])
            return

        def read() -> Iterator[Block]:
            for k in touched:
                survey, place = self._places[k]
                positions = rows[edges[k] : edges[k + 1]] - self._starts[k]
                batch = survey.reader.take(place, positions)
                table, _, _ = read_table(self._in_kind(batch.values))
                yield Block(table, self._read_signs(survey, batch), positions + self._starts[k], self.n_columns)

        yield from ahead(read(), self._depth) if len(touched) > 1 else read()


class FilesAsRead(WrappedSource):
    """Files with their caches, as good as the data for the run that found them whole; not for who doubts a proof."""

    def from_data(self) -> Source:
        """As they are read."""
        return self


class Lowest:
    """The lowest scores seen by any thread: what is not below the `ceiling` need not be looked at.

    The ceiling is just above the highest of them, since of rows with equal scores the first are wanted.
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


def _size_and_time(path: str) -> tuple[int, int]:
    """Of a file; standard input has none."""
    try:
        found = Path(path).stat()
    except OSError:
        return 0, 0
    return found.st_size, found.st_mtime_ns


def join(blocks: list[Block], numbers: Ints, n_columns: int) -> Block:
    """Blocks one below the other, copied once."""
    if len(blocks) == 1:
        return replace(blocks[0], numbers=numbers)
    y = np.concatenate([block.y for block in blocks])
    tables = [block.table for block in blocks]
    if isinstance(tables[0], Dense):
        return Block(Dense(np.concatenate([table.values for table in tables])), y, numbers, n_columns)  # type: ignore[union-attr]
    return (
        replace(reduce(operator.add, blocks), numbers=numbers)
        if len(blocks) < 4
        else _join_sparse(tables, y, numbers, n_columns)
    )


def _join_sparse(tables: list[Any], y: npt.NDArray[np.int8], numbers: Ints, n_columns: int) -> Block:
    lengths = [np.diff(table.indptr.astype(np.int64)) for table in tables]
    indptr = np.concatenate([[0], np.cumsum(np.concatenate(lengths))]).astype(np.uint64)
    data, indices = (np.concatenate([getattr(table, part) for table in tables]) for part in ("data", "indices"))
    return Block(Csr(data, indices, indptr), y, numbers, n_columns)
