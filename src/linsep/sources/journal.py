"""A source that writes down what it answered, so that a run that was stopped goes on without reading it all again.

A question (a verb and its exact arguments) has one answer as long as the rows stay the same, and what a solver asks
next depends on the answers alone. So the checkpoint of a search is the list of its questions and answers: the search
starts anew, is answered from the list at once, and reads rows only from where it was stopped. Of a scan of many
parts the sum so far is written down too: scans add up.

Rows handed out by `blocks` are not written down, and `fresh` is the source itself: a verdict is checked against
the data, never against a journal.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TypeVar

import numpy as np

from linsep.checkpoints import Arrays, CheckpointFile, Identity, Key, key
from linsep.errors import CheckpointError, InputError
from linsep.kernels.layouts import Csr, Dense
from linsep.sources.base import Array, Block, Floats, Ints, Scan, Source, Table
from linsep.sources.wrapped import WrappedSource

A = TypeVar("A")


class JournaledSource(WrappedSource):
    """Any source, with its answers kept in a checkpoint file.

    >>> import linsep, tempfile, pathlib
    >>> from linsep.sources.inputs import as_source
    >>> from linsep.sources.journal import JournaledSource
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     source = JournaledSource(as_source(*linsep.datasets.cornwell()), pathlib.Path(folder) / "run.checkpoint")
    ...     print(linsep.decide(source).kind)
    separable
    """

    def __init__(self, source: Source, path: str | Path, note: Callable[[str], None] = lambda text: None) -> None:
        super().__init__(source)
        self.file = CheckpointFile(path, Identity(source.n_rows, source.n_columns, source.fingerprint()), note)

    def scan(self, w: Floats, b: float, *, worst: int = 0) -> Scan:
        """The scan as it was written down, or the sum of the parts that are still to be read."""
        question = key("scan", w, float(b), worst)
        return self._answer(question, _scan_arrays, self._read_scan, lambda: self._add_up(question[1], w, b, worst))

    def _add_up(self, digest: str, w: Floats, b: float, worst: int) -> Scan:
        """The sum of the parts; on the way the sum so far is written down now and then, and when it must stop."""
        so_far = ("part of a scan", digest)
        total: Scan | None = None
        with suppress(CheckpointError):
            if (recorded := self.file.get(so_far)) is not None:
                total = _scan(recorded, self.n_rows, self.n_columns)
        try:
            for part in self._source.scan_parts(w, b, worst=worst, start=0 if total is None else total.rows):
                total = part if total is None else total + part
                if total.rows < self.n_rows and self.file.is_due():
                    self.file.put(so_far, _scan_arrays(total))
                    self.file.save()
        except InputError:
            raise
        except BaseException:
            if total is not None:
                self.file.put(so_far, _scan_arrays(total))
            raise
        self.file.drop(so_far)
        assert total is not None and total.rows == self.n_rows
        return total

    def sample(self, k: int, seed: int) -> Block:
        """The sample as it was written down, or drawn."""
        work = lambda: self._source.sample(k, seed)  # noqa: E731
        return self._answer(key("sample", k, seed), _block_arrays, self._read_block, work)

    def samples(self, sizes: Sequence[int]) -> Iterator[Block]:
        """The samples as they were written down; if one is missing, all are drawn in one read."""
        if not self.is_in_parts:
            yield from Source.samples(self, sizes)
            return
        drawn: list[Block] = []

        def draw(seed: int) -> Block:
            if not drawn:
                drawn.extend(self._source.samples(sizes))
            return drawn[seed]

        for seed, size in enumerate(sizes):
            yield self._answer(key("sample", size, seed), _block_arrays, self._read_block, partial(draw, seed))

    def take(self, rows: Sequence[int] | Ints) -> Block:
        """The rows as they were written down, or read."""
        wanted = np.asarray(rows, dtype=np.int64)
        work = lambda: self._source.take(wanted)  # noqa: E731
        return self._answer(key("take", wanted), _block_arrays, self._read_block, work)

    def recall(self, question: str, work: Callable[[], Array], fits: Callable[[Array], bool]) -> Array:
        """The array as it was written down, or worked out."""

        def read(arrays: Arrays) -> Array:
            found = _only(arrays)
            _need(fits(found), "an answer of the right form")
            return found

        return self._answer(key("recall", question), _single, read, work)

    def require_finite(self) -> None:
        """Read every row once, unless that was done before."""
        self._answer(key("finite"), lambda _: {}, lambda _: None, self._source.require_finite)

    def has_long_integers(self) -> bool:
        """Whether some integer is beyond 2^53, as written down or as seen."""
        work = lambda: np.array([self._source.has_long_integers()])  # noqa: E731
        return bool(self._answer(key("long integers"), _single, _only, work).any())

    def fingerprint(self) -> str:
        """That of the source."""
        return self.file.identity.fingerprint

    def fresh(self) -> Source:
        """The source without the journal."""
        return self._source

    def _answer(
        self, question: Key, written: Callable[[A], Arrays], read: Callable[[Arrays], A], work: Callable[[], A]
    ) -> A:
        with suppress(CheckpointError):  # a record that does not fit is as good as none
            if (recorded := self.file.get(question)) is not None:
                return read(recorded)
        answer = work()
        self.file.put(question, written(answer))
        self.file.save()
        return answer

    def _read_block(self, arrays: Arrays) -> Block:
        return _block(arrays, self.n_rows, self.n_columns)

    def _read_scan(self, arrays: Arrays) -> Scan:
        scan = _scan(arrays, self.n_rows, self.n_columns)
        _need(scan.rows == self.n_rows, "all rows")
        return scan


# Answers as arrays, and back. A checksum keeps accidents out; these checks keep the kernels' memory safe besides.


def _single(array: Array) -> Arrays:
    return {"found": array}


def _only(arrays: Arrays) -> Array:
    return _named(arrays, "found")[0]


def _block_arrays(block: Block) -> dict[str, Array]:
    table = dict(zip(("values",) if isinstance(block.table, Dense) else Csr._fields, block.table, strict=True))
    return {**table, "y": block.y, "numbers": block.row_numbers}


def _scan_arrays(scan: Scan) -> dict[str, Array]:
    return {
        **_block_arrays(scan.worst),
        "counts": np.array([scan.rows, scan.mistakes, scan.certain, scan.wanted], np.int64),
        "sizes": np.array([*scan.lowest, scan.longest2], np.float64),
        "scores": np.asarray(scan.worst_scores, np.float64),
        "doubtful": np.asarray(scan.doubtful, np.int64),
    }


def _block(arrays: Arrays, n_rows: int, n_columns: int) -> Block:
    y, numbers = _named(arrays, "y", "numbers")
    _need(y.dtype == np.int8 and y.ndim == 1 and bool(np.isin(y, (-1, 1)).all()), "labels")
    _need_rows(numbers, n_rows)
    _need(len(numbers) == len(y), "as many numbers as labels")
    return Block(_table(arrays, len(y), n_columns), y, numbers, n_columns)


def _table(arrays: Arrays, length: int, n_columns: int) -> Table:
    if "values" in arrays:
        values = arrays["values"]
        _need(values.shape == (length, n_columns) and values.dtype.kind in "iuf", "a table of the width of the data")
        return Dense(values)
    data, indices, indptr = _named(arrays, *Csr._fields)
    _need(data.ndim == indices.ndim == indptr.ndim == 1 and data.dtype.kind in "iuf", "a sparse table")
    _need(indices.dtype.kind == "u" and indptr.dtype == np.uint64 and len(indptr) == length + 1, "unsigned indices")
    _need(bool(indptr[0] == 0 and indptr[-1] == len(data) == len(indices)), "as many values as indices")
    _need(bool((indptr[1:] >= indptr[:-1]).all() and (indices < n_columns).all()), "indices of the columns of the data")
    return Csr(data, indices, indptr)


def _scan(arrays: Arrays, n_rows: int, n_columns: int) -> Scan:
    counts, sizes, scores, doubtful = _named(arrays, "counts", "sizes", "scores", "doubtful")
    _need(counts.dtype == np.int64 and counts.shape == (4,), "four counts")
    _need(sizes.dtype == scores.dtype == np.float64 and sizes.shape == (3,), "three sizes")
    rows, mistakes, certain, wanted = counts.tolist()
    _need(0 <= certain <= mistakes <= rows <= n_rows and rows > 0 and wanted >= 0, "counts of these rows")
    _need_rows(doubtful, n_rows)
    worst = _block(arrays, n_rows, n_columns)
    _need(scores.shape == (len(worst),), "a score for each of the worst rows")
    minus, plus, longest2 = sizes.tolist()
    return Scan(rows, mistakes, certain, (minus, plus), longest2, wanted, worst, scores, doubtful)


def _named(arrays: Arrays, *names: str) -> list[Array]:
    for name in names:
        _need(name in arrays, f"the array {name!r}")
    return [arrays[name] for name in names]


def _need_rows(numbers: Array, n_rows: int) -> None:
    fits = numbers.dtype == np.int64 and numbers.ndim == 1 and bool(((numbers >= 0) & (numbers < n_rows)).all())
    _need(fits, "numbers of rows of the data")


def _need(condition: bool, what: str) -> None:
    if not condition:
        raise CheckpointError(f"The checkpoint holds a record without {what}. Remove the file to start over.")
