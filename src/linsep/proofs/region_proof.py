"""Regions: hyperplanes, read from the first to the last, that together put every row into a region of one class.

A cut sends the rows above it, w·x + b > 0, one way and all others another: into a region, or to a later cut. Most cuts
take rows of one class only. One that does not divides the rows, and each part has cuts of its own.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import chain
from typing import Any, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from linsep.errors import ArgumentError, CertificateError, ShapeError, shown, told
from linsep.proofs import checks
from linsep.proofs.checked_rows import Label, can_scan, from_data, is_same, names_of, read_as_stated
from linsep.proofs.named_rows import labels_of_rows, shown_rows, table_and_ids
from linsep.proofs.obstructions import integers, plain
from linsep.report import (
    SHOWN,
    SHOWN_ROWS,
    Grid,
    Part,
    Report,
    Reported,
    RowNames,
    Sentence,
    column_names,
    count,
    label_text,
    linear,
    one_line,
    row_columns,
    rows_left_out,
)
from linsep.signs import form_of, scaled_floats, signs
from linsep.storage.strict import written_integer
from linsep.tables import is_sparse, read_exact, read_labels, require_finite
from linsep.tables.given_rows import Given
from linsep.tables.label_values import distinct
from linsep.tables.row_ids import RowIds

Ints: TypeAlias = NDArray[np.int64]
Side: TypeAlias = tuple[int, int]  # a cut, and 0 for what is above it or 1 for what is below

SHOWN_CUTS = 30  # in words
FEW_WEIGHTS = 0.25  # with at most this part of the weights nonzero, only their columns are read


@final
@dataclass(frozen=True, slots=True)
class Cut:
    """A hyperplane with integer weights; `above` and `below` name a later cut, or ~k for a region of class k."""

    weights: tuple[int, ...]
    bias_weight: int
    above: int
    below: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", integers(self.weights, "weights"))
        for name in ("bias_weight", "above", "below"):
            object.__setattr__(self, name, integers([getattr(self, name)], "weights")[0])

    @property
    def is_pure(self) -> bool:
        """Whether one side of it is a region of one class."""
        return self.above < 0 or self.below < 0

    def is_above(self, values: Any, rows: Ints) -> NDArray[np.bool_]:
        """Which of these rows are above, exactly; they must be finite. If few columns of a dense table have weights,
        only these are read."""
        used = [j for j, weight in enumerate(self.weights) if weight]
        if len(used) == 1 and not is_sparse(values) and values.dtype == np.float64:
            with suppress(OverflowError):
                return self._is_beyond(values[rows, used[0]], self.weights[used[0]])
        if is_sparse(values) or not used or len(used) > FEW_WEIGHTS * len(self.weights):
            return np.asarray(signs(form_of(self.weights, self.bias_weight), values[rows]) > 0)
        form = form_of([self.weights[j] for j in used], self.bias_weight)
        return np.asarray(signs(form, values[np.ix_(rows, np.array(used))]) > 0)

    def _is_beyond(self, column: NDArray[np.float64], weight: int) -> NDArray[np.bool_]:
        """Where weight·x + b > 0: a double is beyond a fraction if it is beyond the last double that is not."""
        place, outwards = Fraction(-self.bias_weight, weight), math.inf if weight > 0 else -math.inf
        last = float(place)
        if (Fraction(last) - place) * weight > 0:
            last = math.nextafter(last, -outwards)
        return column > last if weight > 0 else column < last

    def condition(self, names: Sequence[str], *, is_above: bool = True) -> str:
        """The condition for rows to be above it, or not to be: a + 2·b > 3."""
        floats, _ = scaled_floats((*self.weights, self.bias_weight))
        largest = float(np.abs(floats[:-1]).max(initial=0.0))
        *weights, b = (floats / largest if largest else floats).tolist()
        named = [(weight, name) for weight, name in zip(weights, names, strict=True) if weight]
        side = (">", "<") if is_above else ("<=", ">=")
        if named and named[0][0] < 0:  # -x > 3 is read as x < -3
            return f"{linear([(-weight, name) for weight, name in named], SHOWN)} {side[1]} {b + 0.0:.6g}"
        return f"{linear(named, SHOWN)} {side[0]} {0.0 - b:.6g}"


@final
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Regions(Reported):
    """Hyperplanes that put the rows into regions of one class each, checked in exact arithmetic.

    Attributes
    ----------
    n_rows, n_columns : int
        The size of the table.
    classes : tuple
        The labels as the user wrote them.
    cuts : tuple of Cut
        The hyperplanes, read from the first to the last.
    sizes : tuple of int
        How many rows there are in each region, in the order in which they are read.
    only : int
        The position of the class of all rows, if there is no cut: for tables of one class.
    contradictions : tuple
        The only mistakes: pairs of a row and an equal row with another label.
    in_time : bool
        Whether the search finished. If not, the last cuts are those of a tree that uses single columns.
    names, seconds, row_names
        The names of the columns, the time of the search, and what the user calls the rows.
    mistaken_labels, dropped, rows_left_out
        The labels of `mistaken_rows`, and how many rows with gaps were dropped.

    Examples
    --------
    >>> import linsep
    >>> found = linsep.separate_regions(*linsep.datasets.xor())
    >>> len(found.cuts), found.predict([[0, 0], [0, 1]]).tolist()
    (2, [-1, 1])
    """

    n_rows: int
    n_columns: int
    classes: tuple[Label, ...]
    cuts: tuple[Cut, ...]
    sizes: tuple[int, ...]
    only: int = 0
    contradictions: tuple[tuple[int, int], ...] = ()
    names: tuple[str, ...] | None = None
    in_time: bool = True
    seconds: float = 0.0
    rows_left_out: int = 0
    mistaken_labels: tuple[Label, ...] | None = field(default=None, compare=False)
    row_names: RowNames | None = field(default=None, compare=False)
    dropped: int = field(default=0, compare=False)  # rows with gaps in a table in memory; the row numbers count them

    def __post_init__(self) -> None:
        object.__setattr__(self, "classes", tuple(map(plain, self.classes)))
        object.__setattr__(self, "sizes", integers(self.sizes, "sizes"))
        pairs = tuple(integers(pair, "row numbers") for pair in self.contradictions)
        object.__setattr__(self, "contradictions", pairs)
        if any(len(cut.weights) != self.n_columns for cut in self.cuts):
            raise CertificateError(f"Each cut must have {self.n_columns} weights, one for each column.")
        named = [child for cut in self.cuts for child in (cut.above, cut.below)]
        if not all(~child < len(self.classes) for child in [*named, ~self.only]):
            raise CertificateError(f"Each region must be of one of the {len(self.classes)} classes.")
        if sorted(child for child in named if child >= 0) != [*range(1, len(self.cuts))]:
            raise CertificateError("Each cut but the first must follow from exactly one other.")
        if any(0 <= child <= k for k, cut in enumerate(self.cuts) for child in (cut.above, cut.below)):
            raise CertificateError("A cut must lead only to later ones.")
        if len(self.sizes) != len(self.cuts) + 1:
            raise CertificateError("There must be one more region than cuts.")
        if any(len(pair) != 2 for pair in self.contradictions):
            raise CertificateError("A contradiction must be between two rows.")

    @property
    def mistaken_rows(self) -> tuple[int, ...]:
        """The rows that get a label other than their own: only contradictions do."""
        return tuple(row for row, _ in self.contradictions)

    @property
    def mistaken_ids(self) -> tuple[Any, ...]:
        """What the user calls these rows: their ids, or their numbers if they have none."""
        return self.mistaken_rows if self.row_names is None else self.row_names.ids(self.mistaken_rows)

    def called(self, ids: RowIds | None) -> Regions:
        """The same, with what the user calls the rows that are named."""
        return self if ids is None else replace(self, row_names=ids.names(chain(*self.contradictions)))

    def in_own_numbers(self, rows: Given) -> Regions:
        """The same with the row numbers and names of the user's table, of which some rows were dropped."""
        if rows.kept is None:
            return self
        pairs = tuple((first, second) for first, second in map(rows.own, self.contradictions))
        return replace(self, contradictions=pairs, dropped=rows.dropped).called(rows.names)

    def frame(self, X: Any, y: Any = None) -> Any:
        """The contradictions as a dataframe of the library of X: see `Verdict.frame`.

        Each is a row that cannot be right, with its `row` and `label`, and `equals`, the number of an equal row with
        another label. y is needed if the regions were loaded from a file.

        >>> import linsep
        >>> linsep.separate_regions([[1], [2], [1]], ["a", "b", "b"]).frame([[1], [2], [1]])
           x1  row label  equals
        2   1    2     b       0
        """
        rows, length = self.mistaken_rows, self.n_rows + self.dropped
        labels = self.mistaken_labels or labels_of_rows(X, y, rows, length) if rows else ()
        others = [other for _, other in self.contradictions]
        return shown_rows(X, rows, {"label": labels, "equals": others}, length, self.row_names)

    def sides(self) -> Iterator[tuple[Side, int]]:
        """The regions in the order in which they are read: the side of a cut, and the class."""
        if not self.cuts:
            yield (0, 0), self.only
        ahead = [(0, 1), (0, 0)] if self.cuts else []
        while ahead:
            k, side = ahead.pop()
            child = (self.cuts[k].above, self.cuts[k].below)[side]
            if child < 0:
                yield (k, side), ~child
            else:
                ahead += [(child, 1), (child, 0)]

    def region(self, X: Any) -> Ints:
        """The number of each row's region, counted from 0 in the order in which they are read."""
        table = read_exact(X)
        if table.inexact is not None:
            raise table.inexact
        require_finite(table)
        if table.values.shape[1] != self.n_columns:
            raise ShapeError(f"X has {table.values.shape[1]} columns, but the regions have {self.n_columns}.")
        return self.regions_of(table.values)

    def predict(self, X: Any) -> NDArray[Any]:
        """The label of each row's region."""
        known = np.array(self.classes)
        if known.tolist() != list(self.classes):  # NumPy has no common type for them
            known = np.fromiter(self.classes, object, len(self.classes))
        labels: NDArray[Any] = known[self.codes_of(self.region(X))]
        return labels

    def codes_of(self, regions: Ints) -> Ints:
        """The class of each of these regions, as a position among the classes."""
        return np.array([code for _, code in self.sides()], np.int64)[regions]

    def regions_of(self, values: Any) -> Ints:
        """The regions of an array or a CSR matrix of finite numbers, by exact signs."""
        number = {side: k for k, (side, _) in enumerate(self.sides())}
        found = np.zeros(values.shape[0], np.int64)
        for k, rows, above in self.walk(values):
            for side, child, own in ((0, self.cuts[k].above, rows[above]), (1, self.cuts[k].below, rows[~above])):
                if child < 0:
                    found[own] = number[k, side]
        return found

    def walk(self, values: Any) -> Iterator[tuple[int, Ints, NDArray[np.bool_]]]:
        """Each cut, the rows that reach it, and which of them are above it, by exact signs."""
        work = [(0, np.arange(values.shape[0]))] if self.cuts else []
        while work:
            k, rows = work.pop()
            cut = self.cuts[k]
            above = cut.is_above(values, rows)
            yield k, rows, above
            work += [(child, own) for child, own in ((cut.above, rows[above]), (cut.below, rows[~above])) if child >= 0]

    def verify(self, X: Any, y: Any = None, *, ids: Any = None) -> None:
        """Check against the data, in exact arithmetic, that every row is in a region of its class.

        A column of ids is left out, text is encoded and rows with gaps are dropped as when the regions were found.

        Raises CertificateError, which names the row, if a row that is not a contradiction is in a region of another
        class, or if the data are not those of the regions.
        """
        self.check(from_data(table_and_ids(X, y, ids, self.row_names, self.names, self.rows_left_out)[0]), y)

    def check(self, X: Any, y: Any = None) -> None:
        """The same on rows as they are read, even from a cache: what the search does with its own answer."""
        expected, counts, n_rows = dict(self.contradictions), np.zeros(len(self.sizes), np.int64), 0
        for numbers, values, codes in self._blocks(X, y):
            regions = self.regions_of(values)
            counts += np.bincount(regions, minlength=len(counts))
            n_rows += len(numbers)
            wrong = numbers[self.codes_of(regions) != codes].tolist()
            odd = next((row for row in wrong if expected.pop(row, None) is None), None)
            if odd is not None:
                raise CertificateError(f"Row {odd} is in a region of another class.")
        if n_rows != self.n_rows or counts.tolist() != list(self.sizes):
            raise CertificateError(
                f"The regions hold {self.n_rows} rows, {list(self.sizes)}; these data give {counts.tolist()}."
            )
        if expected:
            raise CertificateError(f"Row {min(expected)} is named as a contradiction, but its region has its label.")
        self._verify_contradictions(X, y)

    def _verify_contradictions(self, X: Any, y: Any) -> None:
        """The rows of each pair are equal, and have different labels."""
        wanted = {row: None for pair in self.contradictions for row in pair}
        known = dict[int, tuple[tuple[Any, ...], int]]()
        for numbers, values, codes in self._blocks(X, y) if wanted else ():
            at = [k for k, row in enumerate(numbers.tolist()) if row in wanted]
            rows = values[at].toarray() if is_sparse(values) else values[at]
            known |= {int(numbers[k]): (tuple(row), int(codes[k])) for k, row in zip(at, rows.tolist(), strict=True)}
        for row, other in self.contradictions:
            if other not in known or known[row][0] != known[other][0] or known[row][1] == known[other][1]:
                raise CertificateError(f"Rows {row} and {other} do not contradict each other.")

    def _blocks(self, X: Any, y: Any) -> Iterator[tuple[Ints, Any, Ints]]:
        """The rows of the data: their numbers, their values, and their classes as positions among `classes`."""
        if can_scan(X):
            if y is not None:
                raise ArgumentError("A source brings its own labels: leave y out.")
            checks.check_names(self.names, names_of(X))
            place = self._places(X.facts.labels)
            for numbers, values, y in X.blocks():
                yield numbers, values, place[(y > 0).astype(np.intp) if len(place) == 2 else y]
            return
        rows, table = read_as_stated(X, y, self.names, self.rows_left_out)
        with rows.numbered():
            labels, codes = distinct(read_labels(rows.y, table.values.shape[0]))
        if table.inexact is not None:
            raise table.inexact
        if table.values.shape[1] != self.n_columns:
            raise CertificateError(f"The rows have {table.values.shape[1]} columns, not {self.n_columns}.")
        checks.check_names(self.names, table.columns)
        yield np.arange(len(codes)) if rows.kept is None else rows.kept, table.values, self._places(labels)[codes]

    def _places(self, labels: Sequence[Any]) -> Ints:
        """The positions of labels among `classes`."""
        places = [next((k for k, known in enumerate(self.classes) if is_same(label, known)), -1) for label in labels]
        if -1 in places:
            known = ", ".join(map(shown, self.classes[:5]))
            raise CertificateError(
                f"There are rows labelled {shown(labels[places.index(-1)])}; the regions know {known}."
            )
        return np.array(places, np.int64)

    # In words --------------------------------------------------------------------------------------------

    def report(self, names: Sequence[str] | None = None) -> Report:
        """The cuts in words, from the first to the last."""
        columns = column_names(self.names if names is None else names, self.n_columns)
        parts: list[Part] = [Sentence(line, "" if k else "cuts") for k, line in enumerate(self._lines(columns))]
        if self.contradictions:
            equal = "Equal rows have different labels; the first of each pair is a mistake:"
            pairs = self.contradictions[:SHOWN_ROWS]
            hidden = len(self.contradictions) - len(pairs)
            wrong, right = (row_columns([pair[k] for pair in pairs], self.row_names, None) for k in (0, 1))
            known = {**wrong, **{f"equals {word}": texts for word, texts in right.items()}}
            more = f"... and {hidden:,} more." if hidden else ""
            parts += [Sentence(equal, "rows"), Grid(tuple(known), tuple(zip(*known.values(), strict=True)), more)]
        if not self.in_time:
            parts.append(Sentence("The time limit was reached: the last cuts are a tree of single columns.", "time"))
        parts += rows_left_out(self.rows_left_out, dropped=self.dropped)
        mistakes = count(len(self.contradictions), "mistake") if self.contradictions else "no mistake"
        title = f"{count(len(self.cuts), 'hyperplane')}, {mistakes} in {count(self.n_rows, 'row')}."
        return Report(title, tuple(parts), "yes" if self.in_time and not self.contradictions else "unsure")

    def explain(self, names: Sequence[str] | None = None) -> str:
        """The cuts in plain words."""
        return self.report(names).text()

    def _lines(self, columns: Sequence[str]) -> Iterator[str]:
        """A sentence for each cut, and one for the cuts that are not shown."""
        sizes = {side: size for (side, _), size in zip(self.sides(), self.sizes, strict=True)}
        if not self.cuts:
            yield f"All rows are {self._label(self.only)}."
        for k, cut in enumerate(self.cuts[:SHOWN_CUTS]):
            is_above = cut.above < 0 or cut.below >= 0
            side, child, other = (0, cut.above, cut.below) if is_above else (1, cut.below, cut.above)
            rows = f"{k + 1}. Rows with {cut.condition(columns, is_above=is_above)}"
            if child >= 0:
                yield f"{rows} continue with {child + 1}, the others with {other + 1}."
                continue
            rest = f"; the others are {self._label(~other)} ({count(sizes[k, 1 - side], 'row')})" if other < 0 else ""
            later = f"; the others continue with {other + 1}" if other > k + 1 else ""
            yield f"{rows} are {self._label(~child)} ({count(sizes[k, side], 'row')}){rest}{later}."
        hidden = len(self.cuts) - SHOWN_CUTS
        if hidden > 0:
            yield f"... and {count(hidden, 'more cut')}."

    def _label(self, code: int) -> str:
        return label_text(self.classes[code])

    def facts(self) -> dict[str, Any]:
        """The cuts and what is known about them, as plain values."""
        return {
            "rows": self.n_rows,
            "columns": self.n_columns,
            "classes": list(self.classes),
            "cuts": [
                {
                    "weights": list(map(written_integer, cut.weights)),
                    "bias": written_integer(cut.bias_weight),
                    "above": cut.above,
                    "below": cut.below,
                }
                for cut in self.cuts
            ],
            "sizes": list(self.sizes),
            "only": self.only,
            "contradictions": [list(pair) for pair in self.contradictions],
            "in_time": self.in_time,
            "rows_left_out": self.rows_left_out,
            "seconds": self.seconds,
            **({} if self.row_names is None else self.row_names.facts()),
        }

    def __repr__(self) -> str:
        return one_line(
            self, count(len(self.cuts), "hyperplane"), count(self.n_rows, "row"), f"classes {told(self.classes)}"
        )
