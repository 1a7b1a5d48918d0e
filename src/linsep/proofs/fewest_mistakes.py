"""The fewest mistakes: a hyperplane, what it costs, the least that any hyperplane costs, and the proof of both."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from typing import Any, ClassVar, final

import numpy as np

from linsep.errors import CertificateError, told
from linsep.proofs import checks
from linsep.proofs.checked_rows import Label, MemoryRows, Rows, each, end_of
from linsep.proofs.named_rows import labels_of_rows, shown_rows
from linsep.proofs.obstructions import Obstruction, check_obstruction, integers, require_fit
from linsep.proofs.packings import Leaf, cost_of_rows, least_cost, require_apart
from linsep.proofs.verdict_base import Kind
from linsep.proofs.verdicts import HalfspaceVerdict
from linsep.report import Fact, Part, Report, Sentence, Where, column_names, count, one_line, row_grid, rows_left_out
from linsep.signs import Form, form_of
from linsep.storage.strict import written_integer
from linsep.tables import is_sparse
from linsep.tables.given_rows import Given


@final
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class FewestMistakes(HalfspaceVerdict):
    """A hyperplane with few mistakes, and a proof that no hyperplane has fewer than `lower`.

    A mistake is a row on the wrong side or exactly on the hyperplane.

    Attributes
    ----------
    weights, bias_weight : integers
        The hyperplane, exactly.
    mistaken_rows : tuple of int
        Its mistakes; `best` is what they cost (their number, if no costs were given).
    least : int
        The least that any hyperplane costs, in units; `lower` is the same in the user's numbers, and `optimal` says
        whether it equals `best`.
    costs, unit, copies
        What mistakes cost, in whole units, and which rows are copies of others.
    obstructions : tuple of Obstruction
        Every hyperplane makes a mistake on at least one row of each.
    leaves
        How the obstructions add up to `least` (see `linsep.proofs.packings`).
    mistaken_labels : tuple or None
        The labels of the mistaken rows, if they are in memory: not part of the proof.
    reason : str
        Why the search ended before `best` and `lower` met; "" if they did. Not part of the proof.

    Examples
    --------
    >>> import linsep
    >>> found = linsep.fewest_mistakes([[0], [1], [2], [3]], ["a", "b", "a", "b"])
    >>> found.best, found.lower, found.optimal, found.mistaken_rows
    (1, 1, True, (2,))
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
    reason: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        HalfspaceVerdict.__post_init__(self)
        object.__setattr__(self, "mistaken_rows", integers(self.mistaken_rows, "row numbers"))
        object.__setattr__(self, "copies", tuple(integers(group, "row numbers") for group in self.copies))
        if self.costs is not None:
            object.__setattr__(self, "costs", integers(self.costs, "costs"))
            lengths = (self.n_rows, self.n_rows + self.rows_left_out)  # rows that were dropped have costs of 0
            if len(self.costs) not in lengths or min(self.costs) < 0:
                raise CertificateError(f"Each of the {self.n_rows} rows must have a cost, 0 or more.")
        if self.numbers == "decimal":
            raise CertificateError("The fewest mistakes are proved for binary64, not for exact decimals.")
        if self.costs is None and self.unit != 1:
            raise CertificateError("If every mistake costs 1, the unit must be 1.")
        if not self.unit > 0 or self.least < 0:
            raise CertificateError("Costs must not be negative, and their unit must be positive.")
        kinds = [found.is_definite for found in self.obstructions]
        if kinds != sorted(kinds):
            raise CertificateError("The positive-definite obstructions of a bound must come after the others.")
        for found in self.obstructions:
            require_fit(found, None, self.numbers)

    @property
    def separable(self) -> bool | None:  # type: ignore[override]
        """True if there are no mistakes, False if every hyperplane makes one; None if that is not known."""
        return True if not self.mistaken_rows else False if self.lower > 0 else None

    @property
    def title(self) -> str:
        """The best and the least cost, in words."""
        best, lower = self._ends
        what, least = ("a cost of ", "the least") if self.costs is not None else ("", "the fewest")
        spent = what + best if what else count(self.spent, "mistake")
        ends = f"{spent}, {least}" if self.optimal else f"at most {spent}, at least {lower}"
        return ends if self.costs is None else f"{ends}, with the costs in the proof"

    @property
    def mistaken_ids(self) -> tuple[Any, ...]:
        """What the user calls the mistaken rows: their ids, or their numbers if they have none."""
        return self.mistaken_rows if self.row_names is None else self.row_names.ids(self.mistaken_rows)

    def frame(self, X: Any, y: Any = None) -> Any:
        """The mistaken rows as a dataframe of the library of X, with `row` and `label`: see `Verdict.frame`."""
        rows = self.mistaken_rows
        length = self._length_of(X, y)
        labels = self.mistaken_labels or labels_of_rows(X, y, rows, length) if rows else ()
        return shown_rows(X, rows, {"label": labels}, length, self.row_names)

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
        """The proved least cost of the mistakes of any hyperplane."""
        return _plain(self.least * self.unit)

    @property
    def _ends(self) -> tuple[str, str]:
        """The best and the least cost, not rounded, in words."""
        return _exactly(self.spent * self.unit), _exactly(self.least * self.unit)

    @property
    def optimal(self) -> bool:
        """Whether no hyperplane makes fewer mistakes, or cheaper ones."""
        return self.least == self.spent

    def _beside(self) -> Sequence[Any]:
        """The costs, if the rows with a cost of 0 are exactly those that were left out."""
        beside = [None if cost == 0 else cost for cost in self.costs or ()]
        return [beside] if beside.count(None) == self.rows_left_out else []

    def _verify_claim(self, rows: Rows) -> None:
        found = [row for numbers in mistaken(rows, self.weights, self.bias_weight) for row in numbers.tolist()]
        if sorted(self.mistaken_rows) != sorted(found):
            row = min(set(self.mistaken_rows) ^ set(found), default=0)
            raise CertificateError(f"Row {row}: the mistaken rows are not those of this hyperplane.")
        has_gaps = isinstance(rows, MemoryRows) and rows.kept is not None
        if self.costs is not None and len(self.costs) != rows.n_rows + has_gaps * self.rows_left_out:
            raise CertificateError(f"There are {len(self.costs):,} costs for {rows.n_rows:,} rows.")
        self._verify_bound(rows)
        if self.least > self.spent:
            best, lower = self._ends
            raise CertificateError(f"The bound is {lower}, but a hyperplane with a cost of {best} is known.")

    def _verify_bound(self, rows: Rows) -> None:
        named = {row for obstruction in self.obstructions for row in obstruction.rows}
        named |= {row for leaf in self.leaves for row, _ in leaf.path}
        end = end_of(rows)
        if named and not 0 <= min(named) <= max(named) < end:
            raise CertificateError(f"The bound names row {max(named)}; the rows are 0 to {end - 1}.")
        require_apart(self.copies, named)
        for group in self.copies:
            check_copies(rows, group)
        for obstruction in self.obstructions:
            check_obstruction(obstruction, rows, self.bias)
        proved = least_cost(self.leaves, self.obstructions, cost_of_rows(named, self.copies, self.costs))
        if proved is None or proved < self.least:
            least = written_integer(self.least)
            raise CertificateError(f"The bound is {least} costs; the obstructions prove {proved}.")

    def _report(self, rows: Rows | None, names: Sequence[str] | None, where: Where | None, *, exact: bool) -> Report:
        """The hyperplane, its mistakes, and how few they could be."""
        columns = column_names(self.names if names is None else names, self.n_columns)
        what, fewer = ("mistakes", "makes fewer") if self.costs is None else ("cost", "costs less")
        best, lower = self._ends
        ends = f"at most {best} (shown), at least {lower} (proved)"
        known = f"{best}, and no hyperplane {fewer} (proved)" if self.optimal else ends
        parts: list[Part] = [
            Fact(what, known),
            Sentence(self._plane(columns), "hyperplane"),
        ]
        if self.mistaken_rows:
            parts.append(Sentence(f"It is wrong about {count(len(self.mistaken_rows), 'row')}:", "rows"))
            parts.append(row_grid(self.mistaken_rows, {}, where, self.row_names))
        if self.obstructions:
            cases = f" in {count(len(self.leaves), 'case')}" if len(self.leaves) > 1 else ""
            parts.append(
                Sentence(f"The bound rests on {count(len(self.obstructions), 'obstruction')}{cases}.", "bound")
            )
        if self.reason:
            parts.append(Sentence(f"The search ended before the two met: {self.reason}.", "reason"))
        title = f"fewest mistakes, {count(self.n_rows, 'row')}."
        return Report(
            title,
            (*parts, *rows_left_out(self.rows_left_out, dropped=self.dropped)),
            "yes" if self.optimal else "unsure",
        )

    def _plane(self, columns: Sequence[str]) -> str:
        from linsep.proofs import explain

        if any(self.weights):
            return f"{explain.equation(self, columns)} = 0"
        taken = "neither class" if not self.bias_weight else f"class {told(self.labels[int(self.bias_weight > 0)])}"
        return f"There is none: every row is taken for {taken}."

    def __repr__(self) -> str:
        best, lower = self._ends
        ends = f"best {best}, {'optimal' if self.optimal else f'lower {lower}'}"
        return one_line(self, count(self.n_rows, "row"), count(self.n_columns, "column"), ends)

    def _own_facts(self) -> dict[str, Any]:
        costs = {"best": self.spent * self.unit, "lower": self.least * self.unit}
        told = {name: _plain(cost) if cost <= sys.float_info.max else _exactly(cost) for name, cost in costs.items()}
        return {**HalfspaceVerdict._own_facts(self), **told, "optimal": self.optimal}


def mistakes_in_own_numbers(found: FewestMistakes, rows: Given) -> FewestMistakes:
    """The same answer with the row numbers and names of the user's table, of which some rows were dropped."""
    if rows.kept is None:
        return found
    costs = None if found.costs is None else rows.spread(np.array(found.costs, object))
    return replace(
        found,
        mistaken_rows=rows.own(found.mistaken_rows),
        costs=None if costs is None else tuple(costs.tolist()),
        copies=tuple(map(rows.own, found.copies)),
        obstructions=tuple(replace(one, rows=rows.own(one.rows)) for one in found.obstructions),
        leaves=tuple(leaf.renumbered(rows.own) for leaf in found.leaves),
        dropped=rows.dropped,
    ).called(rows.names)


def mistaken(rows: Rows, weights: Sequence[int], bias_weight: int) -> Iterator[Any]:
    """The numbers of the rows that are not strictly on their side, block by block."""
    form = form_of(weights, bias_weight)
    return each(rows, partial(_mistaken_in, form))


def _mistaken_in(form: Form, block: Any) -> Any:
    numbers, values, y = block
    return numbers[checks.row_signs(form, numbers, values) * y <= 0]


def check_copies(rows: Rows, group: Sequence[int]) -> None:
    """These rows are equal, and of the same class."""
    if not all(0 <= row < end_of(rows) for row in group):
        raise CertificateError(f"Row {max(group)} is named as a copy; the rows are 0 to {end_of(rows) - 1}.")
    _, values, y = checks.taken(rows, group)
    dense = values.toarray() if is_sparse(values) else values
    different = (dense != dense[:1]).any(axis=1) | (np.asarray(y) != y[0])
    if different.any():
        raise CertificateError(f"Row {group[int(np.argmax(different))]} is not a copy of row {group[0]}.")


def _plain(cost: Fraction | int) -> int | float:
    """A double, or an int where the cost is whole or beyond the doubles."""
    return int(cost) if Fraction(cost).denominator == 1 or cost > sys.float_info.max else float(cost)


def _exactly(cost: Fraction) -> str:
    """A cost that is proved, in words: 0.1, or 1/3 where decimals would be rounded."""
    if cost <= sys.float_info.max and Fraction(str(_plain(cost))) == cost:
        return str(_plain(cost))
    above, below = written_integer(cost.numerator), written_integer(cost.denominator)
    return above if below == "1" else f"{above}/{below}"
