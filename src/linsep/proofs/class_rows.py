"""The questions about many classes, and the rows of each, made from the data for the check alone.

    pairs   the rows of two classes, with the numbers they have in the table
    rest    all rows, one class against the others
    joint   Kesler's rows: a row x of class c and each other class k give +x in the block of c, -x in that of k

The row that compares x with class k has the number K·i + k, where i is the number of x, so that the number alone says
what is compared; the numbers K·i + c belong to no row. No code here is shared with the solvers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from linsep.errors import CertificateError
from linsep.proofs.checked_rows import Block, Label, Rows, Values, end_of
from linsep.tables import is_sparse

By: TypeAlias = Literal["joint", "pairs", "rest"]
Classes: TypeAlias = tuple[int, ...]  # positions among the labels: two of a pair, one against the rest, all jointly
Ints: TypeAlias = NDArray[np.int64]
BY: tuple[By, ...] = ("joint", "pairs", "rest")
AT_ONCE = 1 << 22  # entries of Kesler's rows made together
WORD = 2**63


def questions(by: By, n_classes: int) -> tuple[Classes, ...]:
    """The classes of each question, in the order of the verdicts.

    >>> questions("pairs", 3), questions("rest", 2), questions("joint", 3)
    (((0, 1), (0, 2), (1, 2)), ((0,), (1,)), ((0, 1, 2),))
    """
    if by == "joint":
        return (tuple(range(n_classes)),)
    return tuple(combinations(range(n_classes), 2 if by == "pairs" else 1))


def labels_of(by: By, question: Classes, labels: Sequence[Label]) -> tuple[Label, Label]:
    """The negative and the positive label of the verdict on a question."""
    if by == "joint":
        return "lost", "won"
    if by == "rest":
        return f"not {labels[question[0]]}", labels[question[0]]
    return labels[question[0]], labels[question[1]]


def rows_asked(by: By, question: Classes, n_rows: int, sizes: Sequence[int]) -> int:
    """How many rows a question is about."""
    if by == "joint":
        return n_rows * (len(sizes) - 1)
    return n_rows if by == "rest" else sum(sizes[k] for k in question)


def positions_of(y: NDArray[Any], n_classes: int) -> Ints:
    """The classes of some rows, counted from 0."""
    return (y > 0).astype(np.int64) if n_classes == 2 else y.astype(np.int64)


def sizes_of(rows: Rows, n_classes: int) -> tuple[int, ...]:
    """How many rows each class has."""
    sizes = np.zeros(n_classes, np.int64)
    for _, _, y in rows.blocks():
        sizes += np.bincount(positions_of(y, n_classes), minlength=n_classes)
    return tuple(sizes.tolist())


@dataclass(frozen=True, slots=True)
class TwoSides:
    """The rows of some classes, each on one of two sides: `sides` is -1 or +1 for each class, 0 to leave it out."""

    rows: Rows
    sides: tuple[int, ...]

    @property
    def n_rows(self) -> int:
        """One more than the largest row number: rows keep the numbers of the whole table."""
        return end_of(self.rows)

    @property
    def n_columns(self) -> int:
        """How many columns a row has."""
        return self.rows.n_columns

    def blocks(self) -> Iterator[Block]:
        """Every row of these classes once."""
        for numbers, values, y in self.rows.blocks():
            signs = self._signs(y)
            kept = np.flatnonzero(signs)
            if len(kept) == len(signs):
                yield numbers, values, signs
            elif len(kept):
                yield numbers[kept], values[kept], signs[kept]

    def take(self, rows: Sequence[int]) -> Block:
        """These rows, which must be of these classes."""
        numbers, values, y = self.rows.take(rows)
        signs = self._signs(y)
        if not signs.all():
            raise CertificateError(f"Row {numbers[int(np.argmin(signs != 0))]} is of neither class.")
        return numbers, values, signs

    def _signs(self, y: NDArray[Any]) -> NDArray[np.int8]:
        return np.asarray(self.sides, np.int8)[positions_of(y, len(self.sides))]


@dataclass(frozen=True, slots=True)
class KeslerRows:
    """Kesler's rows of a table. `all_blocks` gives the first class a block too, which only a margin needs."""

    rows: Rows
    n_classes: int
    bias: bool
    all_blocks: bool = False

    @property
    def n_rows(self) -> int:
        """One more than the largest row number."""
        return end_of(self.rows) * self.n_classes

    @property
    def n_columns(self) -> int:
        """The columns of all blocks."""
        return (self.rows.n_columns + self.bias) * (self.n_classes - (not self.all_blocks))

    def blocks(self) -> Iterator[Block]:
        """Every row once, in order."""
        for numbers, values, y in self.rows.blocks():
            entries = values.nnz if is_sparse(values) else values.size
            step = max(1, AT_ONCE * len(y) // (2 * self.n_classes * (entries + len(y)) + 1))
            for start in range(0, len(y), step):
                part = slice(start, start + step)
                own = positions_of(y[part], self.n_classes)
                of, other = (found.ravel() for found in np.indices((len(own), self.n_classes)))
                kept = np.flatnonzero(other != own[of])
                yield self._made(numbers[part], values[part], own, of[kept], other[kept])

    def take(self, rows: Sequence[int]) -> Block:
        """These rows, none of which may compare a row with its own class."""
        wanted = np.asarray(rows, np.int64)
        named, of = np.unique(wanted // self.n_classes, return_inverse=True)
        numbers, values, y = self.rows.take(named.tolist())
        own, other = positions_of(y, self.n_classes), wanted % self.n_classes
        if (own[of] == other).any():
            row = int(named[of[int(np.argmax(own[of] == other))]])
            raise CertificateError(f"Row {row} is compared with its own class.")
        return self._made(numbers, values, own, of, other)

    def _made(self, numbers: Ints, values: Values, own: Ints, of: Ints, other: Ints) -> Block:
        whole = _with_constant(values) if self.bias else values
        build = _sparse if is_sparse(whole) or whole.dtype != object else _long
        first = 0 if self.all_blocks else 1
        made = build(whole, of, ((own[of] - first, 1), (other - first, -1)), self.n_columns)
        return numbers[of] * self.n_classes + other, made, np.ones(len(of), np.int8)


def _with_constant(values: Values) -> Values:
    parts: Any = [values, np.ones((values.shape[0], 1), values.dtype)]
    return sp.csr_array(sp.hstack(parts, format="csr")) if is_sparse(values) else np.hstack(parts)


def _sparse(values: Values, of: Ints, blocks: Sequence[tuple[Ints, int]], width: int) -> Values:
    """The rows `of` the values, copied into each block with its sign; a block of -1 is left out."""
    entries = values.data if is_sparse(values) else values
    if entries.dtype.kind in "iu" and entries.size and max(int(entries.max()), -int(entries.min())) >= WORD:
        return _long(values, of, blocks, width)
    kind = entries.dtype if entries.dtype.kind == "f" else np.dtype(np.int64)
    rows = sp.coo_array(sp.csr_array(values).astype(kind)[of])
    row, column = rows.coords
    parts = []
    for block, sign in blocks:
        there = np.flatnonzero(block[row] >= 0)
        columns = column[there].astype(np.int64) + block[row[there]] * values.shape[1]
        parts.append((rows.data[there] * kind.type(sign), row[there].astype(np.int64), columns))
    data, where, columns = (np.concatenate(some) for some in zip(*parts, strict=True))
    return sp.csr_array((data, (where, columns)), shape=(len(of), width))


def _long(values: Values, of: Ints, blocks: Sequence[tuple[Ints, int]], width: int) -> Values:
    """The same with Python's integers, for numbers that do not fit into 64 bits."""
    table = np.zeros((len(of), width), object)
    own = (values.toarray() if is_sparse(values) else values).astype(object)[of]
    for block, sign in blocks:
        for k in np.flatnonzero(block >= 0).tolist():
            start = int(block[k]) * own.shape[1]
            table[k, start : start + own.shape[1]] = own[k] * sign
    return table
