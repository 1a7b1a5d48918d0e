"""Why every hyperplane makes at least a number of mistakes: obstructions that share no row, or share rows in fractions.

Every hyperplane has a row of each obstruction on its wrong side, or on itself: a mistake. So n obstructions that share
no row prove n mistakes. With multipliers m_k >= 0 the same holds in fractions: if for each row the multipliers of the
obstructions that contain it add up to at most its cost, every hyperplane costs at least Σ m_k. (Its mistakes hit every
obstruction, so their costs are at least the sum over them of the m_k that they hit, which includes every m_k.)

If that is not enough, a row is assumed to be right in one case and mistaken in another, and so on: a tree whose
leaves are all the cases. In a leaf the mistaken rows have their cost, obstructions that contain one prove nothing, and
rows that are right do not limit the multipliers: if all rows of an obstruction are right, there is no such hyperplane.

Equal rows of one class are right or mistaken together: one stands for all of them, with the sum of their costs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from linsep.errors import CertificateError
from linsep.proofs.obstructions import Obstruction, integers

UNITS = 1 << 20
"""Multipliers are whole numbers of units; this many units are a cost of 1."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """One case: rows assumed right (True) or mistaken, in the order of the tree, and obstructions with multipliers.

    `multipliers` are pairs: which obstruction, and how many units.
    """

    path: tuple[tuple[int, bool], ...] = ()
    multipliers: tuple[tuple[int, int], ...] = ()

    def __post_init__(self) -> None:
        rows = integers([row for row, _ in self.path], "row numbers")
        object.__setattr__(self, "path", tuple((row, bool(ok)) for row, (_, ok) in zip(rows, self.path, strict=True)))
        pairs = tuple((integers(pair, "multipliers")) for pair in self.multipliers)
        object.__setattr__(self, "multipliers", pairs)
        if len(set(rows)) < len(rows):
            raise CertificateError("A case takes a row twice.")
        if any(len(pair) != 2 or min(pair) < 0 for pair in pairs):
            raise CertificateError("A multiplier must belong to an obstruction, and must not be negative.")

    def renumbered(self, numbers: Callable[[Sequence[int]], Sequence[int]]) -> Leaf:
        """The same case with other row numbers."""
        rows = numbers([row for row, _ in self.path])
        return Leaf(tuple((row, ok) for row, (_, ok) in zip(rows, self.path, strict=True)), self.multipliers)


def require_all_cases(leaves: Sequence[Leaf]) -> None:
    """Check that the leaves form a tree: at every node one row is right or mistaken, and both cases are there."""
    nodes: list[tuple[Sequence[Leaf], int]] = [(leaves, 0)]
    while nodes:
        below, depth = nodes.pop()
        if len(below) == 1 and len(below[0].path) == depth:
            continue
        if any(len(leaf.path) <= depth for leaf in below) or len({leaf.path[depth][0] for leaf in below}) > 1:
            raise CertificateError("The cases of the bound do not form a tree.")
        cases = [[leaf for leaf in below if leaf.path[depth][1] is is_right] for is_right in (True, False)]
        if not all(cases):
            raise CertificateError("The cases of the bound are incomplete: a row is only right, or only mistaken.")
        nodes += [(case, depth + 1) for case in cases]


def least_cost(leaves: Sequence[Leaf], obstructions: Sequence[Obstruction], cost_of: Mapping[int, int]) -> int | None:
    """The least that any hyperplane costs, in whole costs; None if the cases rule out every one (which is absurd)."""
    require_all_cases(leaves)
    found = [units for leaf in leaves if (units := _units(leaf, obstructions, cost_of)) is not None]
    return max(0, -(-min(found) // UNITS)) if found else None


def _units(leaf: Leaf, obstructions: Sequence[Obstruction], cost_of: Mapping[int, int]) -> int | None:
    """The least that a case costs, in units; None if it is impossible."""
    case = dict(leaf.path)
    used: Counter[int] = Counter()
    total = sum(UNITS * cost_of[row] for row, is_right in leaf.path if not is_right)
    for k, units in leaf.multipliers:
        if k >= len(obstructions):
            raise CertificateError(f"A case names obstruction {k}; there are {len(obstructions)}.")
        rows = obstructions[k].rows
        if any(case.get(row) is False for row in rows):
            raise CertificateError(f"A case counts obstruction {k}, which holds a row that is mistaken there.")
        free = [row for row in rows if row not in case]
        if not free:
            return None
        total += units
        for row in free:
            used[row] += units
    for row, units in used.items():
        if units > UNITS * cost_of[row]:
            raise CertificateError(f"The multipliers of the obstructions with row {row} add up to more than its cost.")
    return total


def cost_of_rows(rows: Iterable[int], copies: Sequence[Sequence[int]], costs: Sequence[int] | None) -> dict[int, int]:
    """What each of these rows costs, together with its copies."""
    own = (lambda row: 1) if costs is None else costs.__getitem__
    sums = {group[0]: sum(map(own, group)) for group in copies}
    return {row: sums[row] if row in sums else own(row) for row in rows}


def require_apart(copies: Sequence[Sequence[int]], named: Iterable[int]) -> None:
    """Check that no row is a copy of two rows, and that the bound names no copy instead of the row it is a copy of."""
    members = [row for group in copies for row in group]
    if any(len(group) < 2 for group in copies) or len(set(members)) < len(members):
        raise CertificateError("A row can be a copy of at most one other row.")
    copied = {row for group in copies for row in group[1:]}
    if (row := next((row for row in named if row in copied), None)) is not None:
        raise CertificateError(f"Row {row} is a copy: the bound must name the first of the equal rows.")
