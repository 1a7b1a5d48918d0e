"""A verdict in plain words: which rows, which columns, and what they show."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from linsep.errors import told
from linsep.exact import dyadic
from linsep.proofs import sketch
from linsep.proofs.checked_rows import Label, Rows, scales_of
from linsep.proofs.obstructions import Obstruction
from linsep.proofs.verdict_base import Verdict
from linsep.proofs.verdicts import (
    HalfspaceVerdict,
    NotSeparable,
    Obstructed,
    Overlapping,
    Separable,
    Touching,
    Undecided,
)
from linsep.report import (
    SHOWN,
    TONES,
    Fact,
    Part,
    Report,
    Sentence,
    Where,
    column_names,
    count,
    label_text,
    linear,
    listed,
    row_grid,
    row_texts,
    rows_left_out,
)
from linsep.signs import flat

TITLES = {
    "separable": "separable (complete separation)",
    "touching": "touching (quasi-complete separation)",
    "overlapping": "overlapping (overlap)",
    "not-separable": "not separable; touching or overlapping not known",
    "undecided": "undecided",
    "mistakes": "the fewest mistakes",
}
SHOWN_DIGITS = 60  # of an exact margin


def report_of(
    verdict: Verdict,
    rows: Rows | None = None,
    names: Sequence[str] | None = None,
    where: Where | None = None,
    *,
    exact: bool = False,
) -> Report:
    """The whole report; given the rows, an obstruction has its common mean, and with `exact` its weights."""
    columns = column_names(verdict.names if names is None else names, verdict.n_columns)
    parts: list[Part] = [Sentence(meaning(verdict))]
    match verdict:
        case Separable():
            parts += [Sentence(f"{_score(verdict, columns)} is {_sides(verdict)}.", "hyperplane"), *_margin(verdict)]
            if verdict.nearest is not None:
                allow = "allows" if len(verdict.nearest.rows) == 1 else "allow"
                parts.append(Sentence(f"{_counted(verdict.nearest)} {allow} no larger margin:", "nearest"))
                parts += _shares(verdict, verdict.nearest, where, exact)
        case Touching():
            parts.append(Sentence(f"{_score(verdict, columns)} is {_weak_sides(verdict)}.", "hyperplane"))
            parts += [*_obstruction(verdict, columns, rows, where, exact), *_separated_rows(verdict)]
        case Overlapping():
            parts += _obstruction(verdict, columns, rows, where, exact)
            if verdict.spread != verdict.obstruction:
                spread = f"{_counted(verdict.spread)} together rule out even a hyperplane that rows may lie on."
                parts.append(Sentence(spread, "spread"))
        case NotSeparable():
            parts = [Fact("reason", verdict.reason), *parts, *_obstruction(verdict, columns, rows, where, exact)]
        case Undecided():
            low, high = verdict.margin
            believed = f"If they are separable, the margin is believed to lie between {low:.6g} and {high:.6g}."
            parts = [Fact("reason", verdict.reason), *parts]
            parts += [Sentence(believed, "margin")] if low > 0 or math.isfinite(high) else []
        case _:
            raise TypeError(f"No words for {type(verdict).__name__}.")
    title = f"{TITLES[verdict.kind]}, {count(verdict.n_rows, 'row')}."
    parts += rows_left_out(verdict.rows_left_out)
    return Report(title, tuple(parts), TONES[verdict.separable], sketch.picture_of(verdict))


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
        case NotSeparable():
            left_open = "It is not known whether one has no row on its wrong side."
            return f"No {hyperplane} has every row strictly on its side. {left_open}"
        case _:
            return "This proves nothing: the classes may be separable or not."


def details(verdict: Verdict) -> list[str]:
    """What the one-line repr says besides the kind."""
    found = [count(verdict.n_rows, "row"), count(verdict.n_columns, "column"), f"labels {told(verdict.labels)}"]
    if isinstance(verdict, HalfspaceVerdict):
        found.append(f"{equation(verdict, column_names(verdict.names, verdict.n_columns))} = 0")
    if isinstance(verdict, Obstructed):
        found.append(f"obstruction of {_counted(verdict.obstruction)}")
    if isinstance(verdict, Separable) and verdict.margin is not None:
        found.append(f"margin {verdict.margin[0]:.6g} to {verdict.margin[1]:.6g}")
    return [*found, verdict.reason] if isinstance(verdict, NotSeparable | Undecided) else found


def equation(verdict: HalfspaceVerdict, columns: Sequence[str]) -> str:
    """The score: integers where they are short, rounded floats where they are not; long sums are cut with a count."""
    weights: Sequence[int | float] = (*verdict.weights, verdict.bias_weight)
    if _is_rounded(verdict):
        halfspace = verdict.halfspace
        weights = [*halfspace.w.tolist(), halfspace.b]
    return linear(zip(weights, [*columns, ""], strict=True), SHOWN)


def _is_rounded(verdict: HalfspaceVerdict) -> bool:
    return any(abs(weight) >= 10**6 for weight in (*verdict.weights, verdict.bias_weight))


def _score(verdict: HalfspaceVerdict, columns: Sequence[str]) -> str:
    return f"{equation(verdict, columns)}{' (rounded; the proof holds exact integers)' if _is_rounded(verdict) else ''}"


def _sides(verdict: Verdict) -> str:
    negative, positive = verdict.labels
    return f"positive on every row of class {told(positive)}, negative on every row of class {told(negative)}"


def _weak_sides(verdict: Verdict) -> str:
    negative, positive = verdict.labels
    return f">= 0 on every row of class {told(positive)}, <= 0 on every row of class {told(negative)}, and not 0 on all"


def _margin(verdict: Separable) -> list[Part]:
    if verdict.margin is None:
        return []
    low, high = verdict.margin
    far = "farther" if f"{low:.9g}" == f"{high:.9g}" else f"more than {high:.9g}"
    upper = "" if math.isinf(high) else f"; no hyperplane keeps all rows {far} away"
    exact = exact_margin(verdict)
    root = f" (exactly the square root of {exact})" if exact and len(exact) <= SHOWN_DIGITS else ""
    return [Sentence(f"Every row is at least {low:.9g} away from it{upper}{root}.", "margin")]


def exact_margin(verdict: Separable) -> str | None:
    """The square of the margin as a fraction, if it is known and not longer than Python converts to text."""
    try:
        return None if verdict.gamma_squared is None else str(verdict.gamma_squared)
    except ValueError:
        return None


def _separated_rows(verdict: Touching) -> list[Part]:
    if verdict.separated_rows is None:
        return []
    strict = f"{len(verdict.separated_rows):,} of the rows can be put strictly on their side"
    return [Sentence(f"{strict}; the others lie on every such hyperplane.", "separated")]


def _obstruction(
    verdict: Obstructed, columns: Sequence[str], rows: Rows | None, where: Where | None, exact: bool
) -> list[Part]:
    obstruction, point = verdict.obstruction, ""
    if rows is not None:
        obstruction, point = _shared(verdict, obstruction, rows, columns)
    parts: list[Part] = [Sentence(f"{statement(verdict, obstruction)}.", "obstruction")]
    parts += _shares(verdict, obstruction, where, exact)
    if point:
        parts.append(Sentence(f"{point}."))
    if obstruction.classes is None:
        parts.append(Sentence("Given the data, explain(X, y) says which row is of which class."))
    return parts


def statement(verdict: Verdict, obstruction: Obstruction) -> str:
    """Which rows no hyperplane has strictly on their sides, and why: one sentence without its full stop.

    Without bias the weighted means of the classes need not be equal: the weighted sums are, so one mean is a positive
    multiple of the other, on the same ray from the origin.
    """
    groups = [(label, _of_class(obstruction, label)) for label in verdict.labels]
    groups = [(label, members) for label, members in groups if members]
    whose = _whose(obstruction, groups)
    if obstruction.is_definite:
        hyperplane = "hyperplane" if verdict.bias else "hyperplane through the origin"
        proof = "proved by weights that nearly cancel and a positive-definite matrix"
        return f"{whose} rule out every {hyperplane}: each has one of them on its wrong side or all on it ({proof})"
    if len(obstruction.rows) == 1:
        return f"{whose} is zero in every column, and every hyperplane through the origin contains it"
    if verdict.bias:
        shared = "are the same point" if len(obstruction.rows) == 2 else "have a common weighted mean"
        return f"{whose} {shared}, and no hyperplane has one point on both sides"
    if not groups:
        return f"{whose}, signed by their classes, have a weighted sum of zero, and so do their scores"
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
    """The rows 0, 3 of class 0 and 1, 2 of class 1; many rows are counted, and unknown classes are not named."""
    rows = obstruction.rows
    if len(rows) > SHOWN:
        counts = " and ".join(f"{len(members):,} of class {told(label)}" for label, members in groups)
        return f"{_counted(obstruction)}, {counts}," if counts else f"{_counted(obstruction)} of the two classes"
    names, one = obstruction.row_names, len(rows) == 1
    texts = row_texts(rows, names)
    lists = [f"{listed(texts[k] for k in members)} of class {told(label)}" for label, members in groups]
    called = "" if names is None else f"with {names.word} " if one else f"with {names.word}s "
    return f"The {'row' if one else 'rows'} {called}{' and '.join(lists) or listed(texts)}"


def _counted(combination: Obstruction) -> str:
    return count(len(combination.rows), "row")


def _shares(verdict: Verdict, combination: Obstruction, where: Where | None, exact: bool) -> list[Part]:
    """The first rows with their classes, if these are known, and their shares."""
    columns: dict[str, Sequence[str]] = {}
    shares = combination.shares
    if combination.classes is not None:
        columns["class"] = [label_text(label) for label in combination.classes]
    elif verdict.bias:  # then the weights of both classes have the same sum, or nearly so
        shares = tuple(2 * u / sum(combination.weights) for u in combination.weights)
    if shares is not None:
        columns["share"] = [f"{share:.3f}" if share >= 0.001 else f"{share:.2g}" for share in shares]
    if exact:
        columns["weight"] = [told(weight) for weight in combination.weights]
    return [row_grid(combination.rows, columns, where, verdict.row_names)] if columns else []


def _shared(verdict: Verdict, obstruction: Obstruction, rows: Rows, columns: Sequence[str]) -> tuple[Obstruction, str]:
    """The obstruction with the classes of its rows, and their common mean in words."""
    numbers, values, y = rows.take(obstruction.rows)
    known = replace(obstruction, classes=tuple(verdict.labels[int(sign > 0)] for sign in y.tolist()))
    if not verdict.bias or known.is_definite:
        return known, ""
    mean = _mean(known, _of_class(known, verdict.labels[1]), flat(values, numbers), scales_of(rows))
    where = ", ".join(f"{columns[j]} = {value}" for j, value in mean[:SHOWN]) or "zero in every column"
    more = f" and {len(mean) - SHOWN} more columns" if len(mean) > SHOWN else ""
    return known, f"Their common mean: {where}{more}"


def _mean(
    obstruction: Obstruction, members: Sequence[int], table: Any, scales: tuple[int, ...] | None
) -> list[tuple[int, str]]:
    """The weighted mean of some of the rows, column by column, without zeros."""
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
