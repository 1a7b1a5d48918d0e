"""A verdict in plain words: which rows, which columns, and what they show."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from linsep.certificates import recheck
from linsep.certificates.rows import Rows, rows_of, scales_of
from linsep.certificates.signs import dyadic, flat
from linsep.certificates.verdicts import (
    HalfspaceVerdict,
    Obstruction,
    Overlapping,
    Separable,
    Touching,
    Undecided,
    Verdict,
)
from linsep.errors import ArgumentError

SHOWN = 8  # items of a list before it is cut with a count


def explain(verdict: Verdict, X: Any, y: Any, names: Sequence[str] | None) -> str:
    """The verdict in plain words; with the data, obstructions are shown class by class."""
    rows = None if X is None else rows_of(X, y, verdict.labels)
    if rows is not None:
        recheck.check_shape(rows, verdict.n_rows, verdict.n_columns)
    columns = column_names(verdict, names)
    match verdict:
        case Separable():
            lines = _separable(verdict, columns)
        case Touching():
            lines = _touching(verdict, columns, rows)
        case Overlapping():
            lines = _overlapping(verdict, columns, rows)
        case Undecided():
            lines = _undecided(verdict)
        case _:
            raise TypeError(f"No words for {type(verdict).__name__}.")
    if verdict.rows_left_out:
        lines.append(f"{verdict.rows_left_out} rows were left out and are not part of the proof.")
    return "\n".join(lines)


def column_names(verdict: Verdict, names: Sequence[str] | None = None) -> Sequence[str]:
    """What the columns are called: as told, as the verdict knows them, or x1, x2, ... as in the lectures."""
    chosen = names if names is not None else verdict.names
    if chosen is None:
        return [f"x{j + 1}" for j in range(verdict.n_columns)]
    if len(chosen) != verdict.n_columns:
        raise ArgumentError(f"{len(chosen)} names for {verdict.n_columns} columns: give one for each.")
    return chosen


def _separable(verdict: Separable, columns: Sequence[str]) -> list[str]:
    negative, positive = verdict.labels
    lines = [
        "separable: complete separation. "
        f"A hyperplane has each of the {verdict.n_rows} rows strictly on its right side:",
        f"{_score(verdict, columns)} is positive on every row labelled {positive!r}"
        f" and negative on every row labelled {negative!r}.",
    ]
    if verdict.margin is not None:
        low, high = verdict.margin
        upper = "" if math.isinf(high) else f"; no hyperplane keeps all rows more than {high:.6g} away"
        lines.append(f"Every row is at least {low:.6g} away from it{upper}.")
    return lines


def _touching(verdict: Touching, columns: Sequence[str], rows: Rows | None) -> list[str]:
    negative, positive = verdict.labels
    lines = [
        "touching: quasi-complete separation. A hyperplane has no row on its wrong side, but some on itself, "
        "and none has every row off itself and on the right side:",
        f"{_score(verdict, columns)} is at least 0 on rows labelled {positive!r}, at most 0 on rows "
        f"labelled {negative!r}, and not 0 on all of them.",
        *_obstruction(verdict, verdict.obstruction, columns, rows),
    ]
    if verdict.separated_rows is not None:
        lines.append(
            f"{len(verdict.separated_rows)} of the {verdict.n_rows} rows can be put strictly on their side; "
            "the others lie on every such hyperplane."
        )
    return lines


def _overlapping(verdict: Overlapping, columns: Sequence[str], rows: Rows | None) -> list[str]:
    return [
        f"overlapping: overlap. No hyperplane separates the {verdict.n_rows} rows, not even weakly, "
        "with rows on the hyperplane allowed.",
        *_obstruction(verdict, verdict.obstruction, columns, rows),
        f"{len(verdict.spread.rows)} rows together rule out every weak separator.",
    ]


def _undecided(verdict: Undecided) -> list[str]:
    low, high = verdict.margin
    return [
        f"undecided: {verdict.reason}",
        "This proves nothing: the rows may be separable or not.",
        f"If they are, the margin is believed to lie between {low:.6g} and {high:.6g}.",
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


def _obstruction(verdict: Verdict, obstruction: Obstruction, columns: Sequence[str], rows: Rows | None) -> list[str]:
    negative, positive = verdict.labels
    mean = "weighted mean" if verdict.bias else "weighted sum"
    if rows is None:
        return [
            f"The obstruction: {_weighted(obstruction.rows, obstruction.weights)}. "
            f"With these weights the {mean} of those labelled {positive!r} "
            f"is exactly the {mean} of those labelled {negative!r}."
        ]
    # Words about data must be true of that data: a combination that is not zero is refused here too.
    recheck.check_combination(rows, obstruction.rows, obstruction.weights, verdict.bias, "obstruction")
    taken, values, y = rows.take(obstruction.rows)
    lines = ["The obstruction:"]
    for label, sign in ((positive, 1), (negative, -1)):
        mine = [k for k in range(len(taken)) if y[k] == sign]
        if mine:
            shown = _weighted([obstruction.rows[k] for k in mine], [obstruction.weights[k] for k in mine])
            lines.append(f"labelled {label!r}: {shown}.")
    shared = _shared(verdict, obstruction, flat(values, taken), y, columns, scales_of(rows))
    lines.append(f"{shared[0].upper()}{shared[1:]}.")
    return lines


def why(verdict: Verdict, obstruction: Obstruction, X: Any, y: Any = None) -> str:
    """What the weights of an obstruction show, in one sentence with the point that the classes share."""
    rows = rows_of(X, y, verdict.labels)
    taken, values, signs = rows.take(obstruction.rows)
    return _shared(verdict, obstruction, flat(values, taken), signs, column_names(verdict), scales_of(rows))


def _shared(
    verdict: Verdict,
    obstruction: Obstruction,
    table: Any,
    y: Any,
    columns: Sequence[str],
    scales: tuple[int, ...] | None,
) -> str:
    if len(y) == 1:
        return "this row is zero in every column, and so is its score"
    if len(set(y.tolist())) == 1:  # without bias one class can be enough: x and -x
        return "with these weights the rows add up to zero, and so do their scores"
    mean = "weighted mean" if verdict.bias else "weighted sum"
    point = _point(obstruction, table, y, verdict.bias, scales)
    return f"both classes have the same {mean}: {_coordinates(point, columns)}"


def _coordinates(point: list[tuple[int, str]], columns: Sequence[str]) -> str:
    where = ", ".join(f"{columns[j]} = {value}" for j, value in point[:SHOWN])
    more = f" and {len(point) - SHOWN} more columns" if len(point) > SHOWN else ""
    return f"{where or 'zero in every column'}{more}"


def _point(
    obstruction: Obstruction, table: Any, y: Any, bias: bool, scales: tuple[int, ...] | None
) -> list[tuple[int, str]]:
    """The point both classes share, column by column, zeros left out."""
    side = 1 if 1 in y else -1
    total: dict[int, Fraction] = {}
    weight = 0
    for k, multiple in enumerate(obstruction.weights):
        if y[k] == side:
            weight += multiple
            for value, column in zip(*table.row(k), strict=True):
                if value:
                    m, e = dyadic(value)
                    total[column] = total.get(column, Fraction(0)) + multiple * m * Fraction(2) ** e
    scale = weight if bias else 1
    unit = {column: scales[column] if scales else 1 for column in total}  # decimals are held as integers
    return [(column, _shown(value / scale / unit[column])) for column, value in sorted(total.items()) if value]


def _shown(value: Fraction) -> str:
    try:
        return f"{float(value):.6g}"
    except OverflowError:
        return f"{'-' if value < 0 else ''}(beyond the largest double)"


def _weighted(rows: Sequence[int], weights: Sequence[int]) -> str:
    pairs = list(zip(rows, weights, strict=True))
    shown = ", ".join(f"{row} (weight {_short(u)})" for row, u in pairs[:SHOWN])
    more = f" and {len(rows) - SHOWN} more" if len(rows) > SHOWN else ""
    return f"{'rows' if len(rows) > 1 else 'row'} {shown}{more}"


def _short(number: int) -> str:
    """Integers beyond 18 digits by their size: nobody reads four thousand bits."""
    return str(number) if number < 10**18 else f"about 2^{number.bit_length()}"
