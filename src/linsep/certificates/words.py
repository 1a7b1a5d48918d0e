"""A verdict in plain words: which rows, which columns, and what they show.

The sentences are here and nowhere else: `explain`, the notebook and the command line say the same.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from linsep.certificates.rows import Label, Rows, rows_of, scales_of
from linsep.certificates.verdicts import (
    HalfspaceVerdict,
    Obstruction,
    Overlapping,
    Separable,
    Touching,
    Undecided,
    Verdict,
)
from linsep.errors import ArgumentError, told
from linsep.exact import dyadic
from linsep.signs import flat

SHOWN = 8  # items of a list before it is cut with a count
SHOWN_ROWS = 10  # of a table

TITLES = {
    "separable": "separable (complete separation)",
    "touching": "touching (quasi-complete separation)",
    "overlapping": "overlapping (overlap)",
    "undecided": "undecided",
}
Table = tuple[tuple[str, ...], ...]  # the head first


def explain(verdict: Verdict, X: Any, y: Any, names: Sequence[str] | None) -> str:
    """The verdict in plain words; with the data, an obstruction comes with its common point."""
    return "\n".join(part if isinstance(part, str) else _aligned(part) for part in parts(verdict, X, y, names))


def parts(verdict: Verdict, X: Any = None, y: Any = None, names: Sequence[str] | None = None) -> list[str | Table]:
    """The verdict as sentences, and the rows of an obstruction as a table."""
    rows = None if X is None else verdict._verified(X, y)  # words about data must be true of that data
    columns = column_names(verdict, names)
    told: list[str | Table] = [f"{TITLES[verdict.kind]}, {_count(verdict.n_rows)}."]
    match verdict:
        case Separable():
            told += _separable(verdict, columns)
        case Touching():
            told += [meaning(verdict), f"{_score(verdict, columns)} is {weak_sides(verdict)}."]
            told += _obstruction(verdict, verdict.obstruction, columns, rows)
            told += _separated_rows(verdict)
        case Overlapping():
            told += [meaning(verdict), *_obstruction(verdict, verdict.obstruction, columns, rows)]
            if verdict.spread != verdict.obstruction:
                told.append(f"{spread(verdict)}.")
        case Undecided():
            low, high = verdict.margin
            told += [f"Reason: {verdict.reason}", meaning(verdict)]
            told.append(f"If they are, the margin is believed to lie between {low:.6g} and {high:.6g}.")
        case _:
            raise TypeError(f"No words for {type(verdict).__name__}.")
    if verdict.rows_left_out:
        told.append(f"{_count(verdict.rows_left_out)} left out, not part of the proof.")
    return told


def column_names(verdict: Verdict, names: Sequence[str] | None = None) -> Sequence[str]:
    """What the columns are called: as told, as the verdict knows them, or x1, x2, ... as in the lectures."""
    chosen = names if names is not None else verdict.names
    if chosen is None:
        return [f"x{j + 1}" for j in range(verdict.n_columns)]
    if len(chosen) != verdict.n_columns:
        raise ArgumentError(f"{len(chosen)} names for {verdict.n_columns} columns: give one for each.")
    return chosen


def meaning(verdict: Verdict) -> str:
    """What the verdict says about hyperplanes, in one sentence."""
    hyperplane = "hyperplane" if verdict.bias else "hyperplane through the origin"
    match verdict:
        case Separable():
            return f"A {hyperplane} has every row strictly on the side of its class."
        case Touching():
            return f"Some {hyperplane} has no row on its wrong side, but none has every row strictly on its side."
        case Overlapping():
            return f"No {hyperplane} separates the classes, not even one that rows may lie on."
        case _:
            return "This proves nothing: the classes may be separable or not."


def _separable(verdict: Separable, columns: Sequence[str]) -> list[str]:
    told = [meaning(verdict), f"{_score(verdict, columns)} is {sides(verdict)}."]
    if verdict.margin is not None:
        low, high = verdict.margin
        upper = "" if math.isinf(high) else f"; no hyperplane keeps all rows more than {high:.6g} away"
        told.append(f"Every row is at least {low:.6g} away from it{upper}.")
    return told


def sides(verdict: Verdict) -> str:
    """Where the score of a separator is positive, and where negative."""
    negative, positive = verdict.labels
    return f"positive on every row of class {told(positive)}, negative on every row of class {told(negative)}"


def weak_sides(verdict: Verdict) -> str:
    """Where the score of a weak separator is at least 0, and where at most 0."""
    negative, positive = verdict.labels
    return f">= 0 on every row of class {told(positive)}, <= 0 on every row of class {told(negative)}, and not 0 on all"


def spread(verdict: Overlapping) -> str:
    """What the spread shows."""
    return f"{_count(len(verdict.spread.rows))} together rule out a hyperplane that rows may lie on"


def _separated_rows(verdict: Touching) -> list[str]:
    if verdict.separated_rows is None:
        return []
    return [
        f"{len(verdict.separated_rows):,} of the rows can be put strictly on their side; "
        "the others lie on every such hyperplane."
    ]


def equation(verdict: HalfspaceVerdict, columns: Sequence[str]) -> str:
    """The score as people write it: 4·x1 - x2 + 2.

    Integers where they are short, rounded floats where they are not; long sums are cut with a count.
    """
    weights: Sequence[int | float] = (*verdict.weights, verdict.bias_weight)
    if is_rounded(verdict):
        halfspace = verdict.halfspace
        weights = [*halfspace.w.tolist(), halfspace.b]
    terms = [(weight, columns[j]) for j, weight in enumerate(weights[:-1]) if weight]
    text = "".join(_term(weight, name) for weight, name in terms[:SHOWN])
    if len(terms) > SHOWN:
        text += f" + ... ({len(terms) - SHOWN} more terms)"
    if weights[-1] or not terms:
        text += _term(weights[-1], "")
    text = text.removeprefix(" + ")
    return "-" + text.removeprefix(" - ") if text.startswith(" - ") else text


def is_rounded(verdict: HalfspaceVerdict) -> bool:
    """Are the weights too long to be read, so that `equation` rounds them?"""
    return any(abs(weight) >= 10**6 for weight in (*verdict.weights, verdict.bias_weight))


def _score(verdict: HalfspaceVerdict, columns: Sequence[str]) -> str:
    return f"{equation(verdict, columns)}{' (weights rounded for reading)' if is_rounded(verdict) else ''}"


def _term(weight: int | float, name: str) -> str:
    size = f"{abs(weight):.6g}"
    body = name if name and size == "1" else f"{size}·{name}" if name else size
    return f" {'-' if weight < 0 else '+'} {body}"


def _obstruction(
    verdict: Verdict, obstruction: Obstruction, columns: Sequence[str], rows: Rows | None
) -> list[str | Table]:
    told: list[str | Table] = []
    if rows is not None:
        obstruction, point = _shared(verdict, obstruction, rows, columns)
        told += [f"{point}."] if point else []
    if obstruction.classes is None:
        told.append("Given the data, explain(X, y) says which row is of which class.")
    return [f"{statement(verdict, obstruction)}.", *_table(verdict, obstruction), *told]


def statement(verdict: Verdict, obstruction: Obstruction) -> str:
    """Which rows no hyperplane has strictly on their sides, and why: one sentence without its full stop.

    Without bias the means of the classes need not be equal: sums over the classes are, so that one mean is a positive
    multiple of the other, on the same ray from the origin.
    """
    groups = [(label, _of_class(obstruction, label)) for label in verdict.labels]
    groups = [(label, members) for label, members in groups if members]
    whose = _whose(obstruction, groups)
    if len(obstruction.rows) == 1:
        return f"{whose} is zero in every column, and every hyperplane through the origin contains it"
    if verdict.bias:
        shared = "are the same point" if len(obstruction.rows) == 2 else "have a common weighted mean"
        return f"{whose} {shared}, and no hyperplane has one point on both sides"
    if not groups:
        return f"{whose}, signed by their classes, have a weighted sum of zero, and so have their scores"
    if len(groups) == 1:
        return f"{whose} have a weighted mean of zero, which every hyperplane through the origin contains"
    (first, _), (second, _) = groups
    weight = {label: sum(obstruction.weights[k] for k in members) for label, members in groups}
    times = _shown(Fraction(weight[first], weight[second]))
    return (
        f"{whose} have weighted means on one ray from the origin: that of class {told(second)} is {times} times that "
        f"of class {told(first)}, and no hyperplane through the origin has them on two sides"
    )


def _of_class(obstruction: Obstruction, label: Label) -> list[int]:
    return [k for k, own in enumerate(obstruction.classes or ()) if own == label]


def _whose(obstruction: Obstruction, groups: list[tuple[Label, list[int]]]) -> str:
    """The rows 0, 3 of class 0 and 1, 2 of class 1; many rows by their number, rows of unknown classes without them."""
    rows = obstruction.rows
    if len(rows) > SHOWN:
        counts = " and ".join(f"{len(members):,} of class {told(label)}" for label, members in groups)
        return f"{_count(len(rows))}, {counts}," if counts else f"{_count(len(rows))} of the two classes"
    lists = [f"{', '.join(str(rows[k]) for k in members)} of class {told(label)}" for label, members in groups]
    return f"The {'rows' if len(rows) > 1 else 'row'} {' and '.join(lists) or ', '.join(map(str, rows))}"


def _count(rows: int, word: str = "row") -> str:
    return f"{rows:,} {word}{'' if rows == 1 else 's'}"


def _table(verdict: Verdict, obstruction: Obstruction) -> list[str | Table]:
    """The first rows with their classes, where those are known, and their shares; and how many more there are."""
    columns: dict[str, Sequence[str]] = {"row": [str(row) for row in obstruction.rows]}
    shares = obstruction.shares
    if obstruction.classes is not None:
        columns["class"] = [_label(label) for label in obstruction.classes]
    elif verdict.bias:  # then both classes weigh the same, whichever rows they have
        shares = tuple(2 * u / sum(obstruction.weights) for u in obstruction.weights)
    if shares is None:
        return []
    columns["share"] = [share_text(share) for share in shares]
    lines = list(zip(*columns.values(), strict=True))
    hidden = len(lines) - SHOWN_ROWS
    more = [f"... and {_count(hidden, 'more row')}."] if hidden > 0 else []
    return [(tuple(columns), *lines[:SHOWN_ROWS]), *more]


def _label(label: Label) -> str:
    return label if isinstance(label, str) and label.isprintable() else told(label)


def share_text(share: float) -> str:
    """A share to three places; very small ones to two digits."""
    return f"{share:.3f}" if share >= 0.001 else f"{share:.2g}"


def _aligned(table: Table) -> str:
    widths = [max(len(cell) for cell in column) for column in zip(*table, strict=True)]
    lines = ("   ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)) for line in table)
    return "\n".join(f"  {line}" for line in lines)


def common_mean(verdict: Verdict, obstruction: Obstruction, source: Any) -> str:
    """The point that the classes share, where they share one: in a sentence without its full stop, else empty."""
    return _shared(verdict, obstruction, rows_of(source, None, verdict.labels), column_names(verdict))[1]


def _shared(verdict: Verdict, obstruction: Obstruction, rows: Rows, columns: Sequence[str]) -> tuple[Obstruction, str]:
    """The obstruction with the classes of its rows, and their common mean in words."""
    numbers, values, y = rows.take(obstruction.rows)
    known = replace(obstruction, classes=tuple(verdict.labels[int(sign > 0)] for sign in y.tolist()))
    if not verdict.bias:
        return known, ""
    mean = _mean(known, _of_class(known, verdict.labels[1]), flat(values, numbers), scales_of(rows))
    return known, f"Their common mean: {_coordinates(mean, columns)}"


def _coordinates(point: list[tuple[int, str]], columns: Sequence[str]) -> str:
    where = ", ".join(f"{columns[j]} = {value}" for j, value in point[:SHOWN])
    more = f" and {len(point) - SHOWN} more columns" if len(point) > SHOWN else ""
    return f"{where or 'zero in every column'}{more}"


def _mean(
    obstruction: Obstruction, members: Sequence[int], table: Any, scales: tuple[int, ...] | None
) -> list[tuple[int, str]]:
    """The weighted mean of some of the rows, column by column, zeros left out."""
    total: dict[int, Fraction] = {}
    for k in members:
        for value, column in zip(*table.row(k), strict=True):
            if value:
                m, e = dyadic(value)
                total[column] = total.get(column, Fraction(0)) + obstruction.weights[k] * m * Fraction(2) ** e
    weight = sum(obstruction.weights[k] for k in members)
    unit = {column: scales[column] if scales else 1 for column in total}  # decimals are held as integers
    return [(column, _shown(value / weight / unit[column])) for column, value in sorted(total.items()) if value]


def _shown(value: Fraction) -> str:
    try:
        return f"{float(value):.6g}"
    except OverflowError:
        return f"{'-' if value < 0 else ''}(beyond the largest double)"
