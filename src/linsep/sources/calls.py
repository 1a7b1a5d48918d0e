"""A source made from a function: the mock for tests, and a way in for data that linsep cannot read.

>>> import numpy as np
>>> from linsep.sources.calls import CallSource
>>> parts = [([[3.0, -1.0], [0.0, 1.5]], [1, 1]), ([[-1.0, 3.0], [-1.0, -1.0]], [-1, -1])]
>>> source = CallSource(lambda: parts)
>>> source.n_rows, source.scan(np.array([4.0, -0.5]), 1.0).mistakes
(4, 0)
"""

import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from linsep import arguments
from linsep.errors import ArgumentError, InexactError, InputError, LengthError, NoRowsError, ShapeError, shown
from linsep.faults import SHIFT, fault
from linsep.loops.layouts import Csr, Dense
from linsep.sources.base import (
    Block,
    Facts,
    Floats,
    Ints,
    Label,
    Scan,
    Signs,
    Source,
    Table,
    as_doubles,
    integer_bits,
)
from linsep.sources.inputs import read_table
from linsep.sources.memory import MemorySource
from linsep.tables import is_long, read_labels

NOT_READ = -1  # rows and columns before the first walk


class CallSource(Source):
    """Rows that a function returns: each call gives all (X, y) parts again, y in {-1, +1}, in row order.

    Every method is built on that one call, so any data that can be walked twice can be a source.
    """

    def __init__(
        self,
        parts: Callable[[], Iterable[tuple[Any, Any]]],
        *,
        labels: tuple[Label, Label] = (-1, 1),
        columns: Sequence[str] | None = None,
    ) -> None:
        if not callable(parts):
            raise ArgumentError(f"parts is {shown(parts)}: it must be a function that returns parts (X, y).")
        self._parts = parts
        self.facts = Facts(NOT_READ, NOT_READ, labels)
        found, seen = [], set[int]()
        for part in self._sources():
            bits = integer_bits(part.table)
            found.append((part.n_rows, part.n_columns, bits, bits is not None and is_long(part.table[0])))
            seen.update(np.unique(part.y).tolist())
        n_rows = sum(rows for rows, *_ in found)
        if not n_rows:
            raise NoRowsError("The function returned no rows.")
        self._require_two_classes(seen)
        n_columns, all_bits = found[0][1], [bits for _, _, bits, _ in found]
        self.facts = replace(
            self.facts,
            n_rows=n_rows,
            n_columns=n_columns,
            names=None if columns is None else arguments.names(columns, n_columns),
            numbers="exact-integers" if any(has_long for *_, has_long in found) else "binary64",
            integer_bits=None if None in all_bits else max(own or 0 for own in all_bits),
        )

    def _require_two_classes(self, seen: set[int]) -> None:
        if len(seen) < 2:
            raise fault("one class", value=seen.pop())

    def scan(self, w: Floats, b: float, *, worst: int = 0) -> Scan:
        """The sum of the scans of the parts."""
        return reduce(operator.add, (part.scan(w, b, worst=worst) for part in self._sources()))

    def blocks(self, random: np.random.Generator | None = None) -> Iterator[Block]:
        """One block for each part."""
        for part in self._sources():
            yield from part.blocks()

    def take(self, rows: Sequence[int] | Ints) -> Block:
        """One walk over the parts, each of which gives its share of the rows."""
        wanted = np.asarray(rows, dtype=np.int64)
        found = reduce(operator.add, (_inside(block, wanted) for block in self.blocks()))
        ranks = np.argsort(np.argsort(wanted, kind="stable"), kind="stable")
        return found.take(np.argsort(found.numbers, kind="stable")[ranks])

    def _sources(self) -> Iterator[MemorySource]:
        """The parts of one walk; they must be the same as in the first walk."""
        first, width, kinds = 0, self.n_columns, Kinds()
        for place, part in enumerate(self._walk()):
            try:
                table, signs, n_columns = _read_part(part)
                kinds = kinds.joined(table)
            except InputError as error:
                error.at(file=f"part {place} of the source")
                raise
            if width not in (NOT_READ, n_columns):
                widths = sorted({width, n_columns})
                raise ShapeError(f"The parts differ in their number of columns: {widths}, from part {place} on.")
            width = n_columns
            facts = replace(self.facts, n_rows=len(signs), n_columns=n_columns)
            if self.n_rows != NOT_READ and self.facts.integer_bits is None:
                table = as_doubles(table)  # as beside the floats of other parts
            yield MemorySource(table, signs, facts, range(first, first + len(signs)))
            first += len(signs)
        if self.n_rows not in (NOT_READ, first):
            raise LengthError(
                f"The function returned {self.n_rows} rows the first time and {first} now.",
                fix="Each call must give all parts again: return a new generator, since a used one is empty.",
            )

    def _walk(self) -> Iterator[Any]:
        parts = self._parts()
        if not isinstance(parts, Iterable):
            raise ArgumentError(
                f"The function returned {shown(parts)}: it must return parts (X, y), one after another."
            )
        return iter(parts)


class Kinds(NamedTuple):
    """The kinds of tables in one walk, so that rows of different parts can be joined without rounding."""

    is_sparse: bool | None = None
    has_floats: bool = False
    has_long: bool = False  # integers beyond 2^53

    def joined(self, table: Table) -> "Kinds":
        """The kinds of the parts so far with one part more."""
        is_sparse = isinstance(table, Csr)
        if self.is_sparse not in (None, is_sparse):
            raise ShapeError("some parts are sparse and others are not", fix="Make all of them one kind.")
        values = table.data if isinstance(table, Csr) else table.values
        has_floats = self.has_floats or values.dtype.kind == "f"
        has_long = self.has_long or (values.dtype.kind in "iu" and is_long(values))
        if has_floats and has_long:
            raise InexactError("integers beyond 2^53 beside the floats of other parts would be rounded", fix=SHIFT)
        return Kinds(is_sparse, has_floats, has_long)


def _read_part(part: Any) -> tuple[Table, Signs, int]:
    """The rows of one part and their signs, as many as there are rows."""
    if not isinstance(part, (tuple, list)) or len(part) != 2:
        raise ArgumentError(f"it is {shown(part)}, not a pair (X, y).")
    table, n_columns, _ = read_table(part[0])
    n_rows = len(table.values) if isinstance(table, Dense) else len(table.indptr) - 1
    labels = read_labels(part[1], n_rows)
    signs = labels if labels.dtype.kind in "iuf" else np.zeros(n_rows)
    wrong = np.flatnonzero((signs != 1) & (signs != -1))
    if wrong.size:
        row = int(wrong[0])
        raise fault("not a sign", row=row, value=labels.tolist()[row])
    return table, signs.astype(np.int8), n_columns


def _inside(block: Block, wanted: Ints) -> Block:
    first, last = block.numbers[0], block.numbers[-1]
    return block.take(wanted[(wanted >= first) & (wanted <= last)] - first)
