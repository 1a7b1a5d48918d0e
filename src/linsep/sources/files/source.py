"""Many files as one source, read batch by batch: memory holds a few batches, whatever the number of rows."""

import operator
import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import reduce
from itertools import chain, pairwise
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from linsep.errors import ChangedFileError, InputError, NoRowsError
from linsep.kernels.layouts import Csr, Dense
from linsep.sources.base import Block, Facts, Floats, Ints, Label, Scan, Source, marks
from linsep.sources.files.ahead import abreast, ahead
from linsep.sources.files.labels import classes_of, known_classes, marks_of
from linsep.sources.files.parts import ColumnPart
from linsep.sources.files.reading import Batch, ColumnValues, Place, Values
from linsep.sources.files.survey import Survey, common_kind, first_read, names_of
from linsep.sources.inputs import read_table
from linsep.sources.memory import MemorySource, settled, thread_count

SAMPLE_BYTES = 1 << 24  # of the largest sample of rows held in memory: fixed, so that no verdict depends on the memory
DEPTH = 2  # batches read in advance
RUNS_A_THREAD = 4  # from here on threads read side by side, each its own; else one reads, and all work on a batch

Run: TypeAlias = tuple[Survey, int, Place]  # a stretch of a file, and its first row in all files


class FileSource(Source):
    """The rows of one or more files, in the order of the files.

    Each walk reads the files anew, in batches, one thread ahead of the work. What stays in memory are the places of
    the batches and what the first read found; nothing has the length of the data.
    """

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
        labels, self._marks = self._classes_of(positive, classes)
        self._kind_of_marks = marks(np.zeros(0), len(labels)).dtype
        self._kind = common_kind(surveys)
        self.facts = self._facts(labels)
        self._longest2: dict[int, float] = {}

    def _facts(self, labels: tuple[Label, ...]) -> Facts:
        """What the first read found, all files together."""
        surveys, n_rows = self._surveys, int(self._starts[-1])
        places, is_long = surveys[0].reader.decimal_places, any(survey.long is not None for survey in surveys)
        entries = sum(survey.entries for survey in surveys)
        return Facts(
            n_rows=n_rows,
            n_columns=max(survey.reader.n_columns for survey in surveys),
            labels=labels,
            names=surveys[0].reader.columns,
            rows_left_out=sum(survey.left_out for survey in surveys),
            numbers="decimal" if places is not None else "exact-integers" if is_long else "binary64",
            scales=None if places is None else tuple(10**k for k in places),
            integer_bits=max(survey.bits for survey in surveys) if self._kind is np.int64 else None,
            is_finite=True,  # the first read refused NaN and infinity
            at_hand=max(1 << 10, int(SAMPLE_BYTES / (12 * entries / n_rows + 8))),
            files=self.files,
            label_column=self.label_column,
        )

    def _classes_of(
        self, positive: Any, classes: tuple[Label, Label] | None
    ) -> tuple[tuple[Label, ...], dict[Label, int]]:
        """The labels of the classes and the mark of each value; errors begin with the name of the file."""
        if classes is not None and positive is None:
            return classes, known_classes((survey.labels for survey in self._surveys), classes)
        values = [value for survey in self._surveys for value in survey.labels.values()]
        try:
            return classes_of(values, positive, int(self._starts[-1]))
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
        if left_out := self.facts.rows_left_out:
            rows = "1 bad row was" if left_out == 1 else f"{left_out:,} bad rows were"
            said.append(f"{rows} rejected.")
        return said

    @property
    def is_plain_csv(self) -> bool:
        """Whether this is one CSV file of numbers, read whole and as it stands: what the stand-alone checker reads."""
        return len(self._surveys) == 1 and self.facts.rows_left_out == 0 and self._surveys[0].reader.is_plain_csv

    @property
    def label_column(self) -> str | int | None:
        """What the label column is called, or where it stands."""
        return self._surveys[0].reader.label_name

    def from_data(self) -> "FileSource":
        """The files themselves, parsed anew where their rows lie in a cache: for whoever doubts a proof."""
        if not any(survey.reader.is_coded for survey in self._surveys):
            return self
        surveys = [first_read(survey.reader.original) for survey in self._surveys]
        return FileSource(surveys, positive=self._positive, classes=self._classes, keeps=self._keeps)

    # The verbs of a source -------------------------------------------------------------------------------

    def scan(self, w: Floats, b: float, *, worst: int = 0) -> Scan:
        """The sum of the scans of the batches."""
        _ = self.facts.pair  # more than two labels are refused
        return reduce(operator.add, self._scans(np.ascontiguousarray(w, dtype=np.float64), b, worst))

    def _scans(self, w: Floats, b: float, worst: int) -> Iterator[Scan]:
        """The scan of each batch. Rows that floats leave in doubt are settled at once, exactly."""
        runs, lowest = self._runs(), Lowest(worst)
        if runs is None:
            for k, part in self._walk(as_columns=True):
                if isinstance(part, ColumnPart):  # pyarrow's threads read the next one
                    found = part.scan_alone(w, b, worst, lowest.ceiling)
                else:
                    found = part.scan(w, b, worst=worst)
                lowest.add(found.worst_scores)
                yield self._scanned(k, part, found, w, b)
            return

        def scan_run(run: Run) -> list[Scan]:
            scans = []
            for k, part in self._read_run(*run):
                scans.append(self._scanned(k, part, part.scan_alone(w, b, worst, lowest.ceiling), w, b))
                lowest.add(scans[-1].worst_scores)
            return scans

        for scans in abreast(scan_run, runs, thread_count()):
            yield from scans

    def _scanned(self, k: int, part: MemorySource, scan: Scan, w: Floats, b: float) -> Scan:
        """The scan of batch k with no row left in doubt; the memory of its rows serves the next one."""
        scan = settled(part, scan, w, b)
        self._longest2[k] = scan.longest2
        buffers = self._places[k][0].reader.buffers
        if buffers is not None and isinstance(part.table, Dense) and not isinstance(part, ColumnPart):
            buffers.give_back(part.table.values)  # the scan has copied what it keeps
        return scan

    def blocks(self, random: np.random.Generator | None = None) -> Iterator[Block]:
        """One block for each batch; files that cannot be read backwards stay in line."""
        order: Sequence[int] | None = None
        if random is not None and all(survey.reader.can_seek for survey in self._surveys):
            order = random.permutation(len(self._places)).tolist()
        for _, part in self._walk(order):
            yield from part.blocks()

    def take(self, rows: Sequence[int] | Ints) -> Block:
        """These rows, in this order: each batch that holds some is read once."""
        wanted = np.asarray(rows, dtype=np.int64)
        distinct, back = np.unique(wanted, return_inverse=True)
        if not distinct.size:
            return next(self.blocks()).take(np.zeros(0, np.int64))
        found = join(list(self._fetch(distinct)), distinct, self.n_columns)
        return found if np.array_equal(distinct, wanted) else found.take(back)

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

    def _runs(self) -> list[Run] | None:
        """The stretches that threads can read side by side; None where there are none, or too few."""
        found = self._all_runs()
        return found if found and len(found) >= RUNS_A_THREAD * thread_count() > RUNS_A_THREAD else None

    def _all_runs(self) -> list[Run] | None:
        """The stretches of all files that are each read from their beginning on; None where a file has none."""
        found: list[Run] = []
        first = 0
        for survey in self._surveys:
            runs = survey.reader.runs()
            if runs is None:
                return None
            found += [(survey, first + run.first, run) for run in runs]
            first += sum(place.rows for place in survey.places)
        return found

    def _read_run(self, survey: Survey, first: int, run: Place) -> Iterator[tuple[int, MemorySource]]:
        """The batches of a run, each with its number."""
        for batch in survey.reader.read_run(run):
            k = int(np.searchsorted(self._starts, first + batch.place.first - run.first))
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
        signs, values, facts = self._read_marks(survey, batch), batch.values, self.facts.of_part(len(numbers))
        if isinstance(values, ColumnValues) and self._kind is np.float64:
            part: MemorySource = ColumnPart(values, signs, facts, numbers)
        else:
            table, _, _ = read_table(self._in_kind(values))
            part = MemorySource(table, signs, facts, numbers)
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
            signs = self._read_marks(survey, batch)
            blocks.append(Block(table, signs, rows[done : done + len(signs)], self.n_columns))
            done += len(signs)
        return blocks

    def _read_marks(self, survey: Survey, batch: Batch) -> Any:
        """The labels of a batch as blocks have them."""
        labels = survey.labels
        if survey.reader.is_coded:
            return marks_of(batch.labels, labels.values(), self._marks, self._kind_of_marks)
        if len(self.facts.labels) == 2 and (quick := labels.quick_signs(batch.labels, self._marks)) is not None:
            return quick
        known = len(labels.codes)
        codes = labels.encode(batch.labels, batch.place.first)
        if len(labels.codes) > known:
            raise ChangedFileError(
                f"{survey.reader.path}: the file changed while it was read.", file=survey.reader.path
            )
        return marks_of(codes, labels.values(), self._marks, self._kind_of_marks)

    def _fetch(self, rows: Ints) -> Iterator[Block]:
        """The blocks that hold these rows, which are in rising order, each with nothing else in it."""
        runs = self._all_runs()
        if runs is not None:  # a long row group is walked once, however many of its batches are wanted
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
                yield Block(table, self._read_marks(survey, batch), positions + self._starts[k], self.n_columns)

        yield from ahead(read(), self._depth) if len(touched) > 1 else read()


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
