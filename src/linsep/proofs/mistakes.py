"""The fewest mistakes: a hyperplane, what it costs, what every hyperplane costs at least, and the proof of both."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import Any, ClassVar, final

import numpy as np

from linsep.errors import CertificateError, told
from linsep.proofs import checks
from linsep.proofs.checked_rows import Label, Rows, each, labels_of_rows, shown_rows, table_and_ids
from linsep.proofs.obstructions import Obstruction, check_obstruction, integers, require_fit
from linsep.proofs.packings import Leaf, cost_of_rows, least_cost, require_apart
from linsep.proofs.verdicts import HalfspaceVerdict, Kind
from linsep.report import Fact, Part, Report, Sentence, Where, column_names, count, one_line, row_grid
from linsep.signs import Form, form_of, signs
from linsep.tables import is_sparse


@final
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class FewestMistakes(HalfspaceVerdict):
    """A hyperplane with few mistakes, and a proof that none has fewer than `lower`.

    A mistake is a row on the wrong side or exactly on the hyperplane. `mistaken_rows` are those of this hyperplane,
    `best` their cost (their number, where no costs were given), `lower` what every hyperplane costs at least;
    `optimal` says that the two are equal. `mistaken_labels` are the labels of the mistaken rows, where they are in
    memory: no part of the proof. The proof of `lower` are `obstructions`, each of which every hyperplane
    mistakes in one row, and `leaves`, which say how they add up (see `linsep.proofs.packings`).
    """

    kind: ClassVar[Kind] = "mistakes"

    mistaken_rows: tuple[int, ...]
    least: int = 0
    costs: tuple[int, ...] | None = None
    unit: Fraction = Fraction(1)
    copies: tuple[tuple[int, ...], ...] = ()
    obstructions: tuple[Obstruction, ...] = ()
    leaves: tuple[Leaf, ...] = (Leaf(),)
    mistaken_labels: tuple[Label, ...] | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        HalfspaceVerdict.__post_init__(self)
        object.__setattr__(self, "mistaken_rows", integers(self.mistaken_rows, "row numbers"))
        object.__setattr__(self, "copies", tuple(integers(group, "row numbers") for group in self.copies))
        if self.costs is not None:
            object.__setattr__(self, "costs", integers(self.costs, "costs"))
            if len(self.costs) != self.n_rows or min(self.costs) < 0:
                raise CertificateError(f"Each of the {self.n_rows} rows has a cost, 0 or more.")
        if self.costs is None and self.unit != 1:
            raise CertificateError("Where every mistake costs 1, the unit is 1.")
        if not self.unit > 0 or self.least < 0:
            raise CertificateError("Costs are not negative, and their unit is positive.")
        kinds = [found.is_definite for found in self.obstructions]
        if kinds != sorted(kinds):
            raise CertificateError("The positive-definite obstructions of a bound come after the others.")
        for found in self.obstructions:
            require_fit(found, None, self.numbers)

    @property
    def separable(self) -> bool | None:  # type: ignore[override]
        """True if there are no mistakes, False if every hyperplane makes one; None if that is open."""
        return True if not self.mistaken_rows else False if self.lower > 0 else None

    @property
    def title(self) -> str:
        """The two ends, in words."""
        best = count(int(self.best), "mistake") if self.costs is None else f"a cost of {self.best}"
        least = "the fewest" if self.costs is None else "the least"
        ends = f"{best}, {least}" if self.optimal else f"{best} at most, {self.lower} at least"
        return ends if self.costs is None else f"{ends}, where rows cost what the proof says"

    @property
    def mistaken_ids(self) -> tuple[Any, ...]:
        """What the user calls the mistaken rows: their ids, or their numbers where they have none."""
        return self.mistaken_rows if self.row_names is None else self.row_names.ids(self.mistaken_rows)

    def frame(self, X: Any, y: Any = None) -> Any:
        """The mistaken rows as a dataframe of the library of X, with `row` and `label`: see `Verdict.frame`."""
        rows = self.mistaken_rows
        labels = self.mistaken_labels or labels_of_rows(X, y, rows, self.n_rows) if rows else ()
        return shown_rows(X, rows, {"label": labels}, self.n_rows, self.row_names)

    @property
    def spent(self) -> int:
        """What the mistakes of this hyperplane cost, in units."""
        costs = self.costs
        return len(self.mistaken_rows) if costs is None else sum(costs[row] for row in self.mistaken_rows)

    @property
    def best(self) -> int | float:
        """What the mistakes of this hyperplane cost."""
        return _plain(self.spent * self.unit)

    @property
    def lower(self) -> int | float:
        """What the mistakes of every hyperplane cost at least: proved."""
        return _plain(self.least * self.unit)

    @property
    def optimal(self) -> bool:
        """Whether no hyperplane makes fewer mistakes, or cheaper ones."""
        return self.least == self.spent

    def _verify_claim(self, rows: Rows) -> None:
        found = [row for numbers in mistaken(rows, self.weights, self.bias_weight) for row in numbers.tolist()]
        if sorted(self.mistaken_rows) != sorted(found):
            row = min(set(self.mistaken_rows) ^ set(found), default=0)
            raise CertificateError(f"Row {row}: the mistaken rows are not those of this hyperplane.")
        self._verify_bound(rows)
        if self.least > self.spent:
            raise CertificateError(f"The bound is {self.lower}, but a hyperplane with a cost of {self.best} is known.")

    def _verify_bound(self, rows: Rows) -> None:
        named = {row for obstruction in self.obstructions for row in obstruction.rows}
        named |= {row for leaf in self.leaves for row, _ in leaf.path}
        if named and not 0 <= min(named) <= max(named) < rows.n_rows:
            raise CertificateError(f"The bound names row {max(named)}; the rows are 0 to {rows.n_rows - 1}.")
        require_apart(self.copies, named)
        for group in self.copies:
            check_copies(rows, group)
        for obstruction in self.obstructions:
            check_obstruction(obstruction, rows, self.bias)
        proved = least_cost(self.leaves, self.obstructions, cost_of_rows(named, self.copies, self.costs))
        if proved is None or proved < self.least:
            raise CertificateError(f"The bound is {self.least} costs; the obstructions prove {proved}.")

    def report(
        self,
        X: Any = None,
        y: Any = None,
        *,
        names: Sequence[str] | None = None,
        where: Where | None = None,
        exact: bool = False,
        verify: bool = True,
        ids: Any = None,
    ) -> Report:
        """The hyperplane, its mistakes, and how few they could be."""
        from linsep.proofs import explain

        called = self.row_names
        if X is not None:
            table, row_ids = table_and_ids(X, y, ids, called)
            called = called or self.called(row_ids).row_names
            if verify:
                self._verified(table, y)
        columns = column_names(self.names if names is None else names, self.n_columns)
        what, fewer = ("mistakes", "makes fewer") if self.costs is None else ("cost", "costs less")
        ends = f"{self.best} at most (shown), {self.lower} at least (proved)"
        known = f"{self.best}, and no hyperplane {fewer} (proved)" if self.optimal else ends
        parts: list[Part] = [
            Fact(what, known),
            Sentence(self._plane(columns), "hyperplane"),
        ]
        if self.mistaken_rows:
            parts.append(Sentence(f"It is wrong about {count(len(self.mistaken_rows), 'row')}:", "rows"))
            parts.append(row_grid(self.mistaken_rows, {}, where, called))
        if self.obstructions:
            cases = f" in {count(len(self.leaves), 'case')}" if len(self.leaves) > 1 else ""
            parts.append(
                Sentence(f"The bound rests on {count(len(self.obstructions), 'obstruction')}{cases}.", "bound")
            )
        title = f"fewest mistakes, {count(self.n_rows, 'row')}."
        return Report(title, (*parts, *explain.left_out(self)), "yes" if self.optimal else "unsure")

    def _plane(self, columns: Sequence[str]) -> str:
        from linsep.proofs import explain

        if any(self.weights):
            return f"{explain.equation(self, columns)} = 0"
        taken = "neither class" if not self.bias_weight else f"class {told(self.labels[int(self.bias_weight > 0)])}"
        return f"There is none: every row is taken for {taken}."

    def __repr__(self) -> str:
        ends = f"best {self.best}, {'optimal' if self.optimal else f'lower {self.lower}'}"
        return one_line(self, count(self.n_rows, "row"), count(self.n_columns, "column"), ends)

    def _own_facts(self) -> dict[str, Any]:
        known = {"best": self.best, "lower": self.lower, "optimal": self.optimal}
        return {**HalfspaceVerdict._own_facts(self), **known}


def mistaken(rows: Rows, weights: Sequence[int], bias_weight: int) -> Iterator[Any]:
    """The numbers of the rows that are not strictly on their side, block by block."""
    form = form_of(weights, bias_weight)
    return each(rows, partial(_mistaken_in, form))


def _mistaken_in(form: Form, block: Any) -> Any:
    numbers, values, y = block
    return numbers[signs(form, values) * y <= 0]


def check_copies(rows: Rows, group: Sequence[int]) -> None:
    """These rows are equal, and of one class."""
    if not all(0 <= row < rows.n_rows for row in group):
        raise CertificateError(f"Row {max(group)} is named as a copy; the rows are 0 to {rows.n_rows - 1}.")
    _, values, y = checks.taken(rows, group)
    dense = values.toarray() if is_sparse(values) else values
    different = (dense != dense[:1]).any(axis=1) | (np.asarray(y) != y[0])
    if different.any():
        raise CertificateError(f"Row {group[int(np.argmax(different))]} is not a copy of row {group[0]}.")


def _plain(cost: Fraction | int) -> int | float:
    return int(cost) if Fraction(cost).denominator == 1 else float(cost)
