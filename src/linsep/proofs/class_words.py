"""The verdicts about many classes in plain words: a matrix of answers, or what the joint scores can do."""

from __future__ import annotations

from linsep.proofs import explain
from linsep.proofs.class_verdicts import ClassVerdicts
from linsep.proofs.obstructions import Obstruction
from linsep.proofs.verdict_base import Verdict
from linsep.proofs.verdicts import Obstructed, Overlapping, Separable, Touching
from linsep.report import (
    SHOWN_ROWS,
    TONES,
    Fact,
    Grid,
    Part,
    Report,
    Sentence,
    Where,
    count,
    label_text,
    row_grid,
    row_texts,
)

MOST_CELLS = 30  # the most classes of a matrix that is shown whole
MARKS = {"separable": "yes", "touching": "touch", "overlapping": "no", "not-separable": "no*", "undecided": "?"}
MEANINGS = {
    "separable": "yes: separable",
    "touching": "touch: only if rows may lie on the hyperplane",
    "overlapping": "no: overlapping",
    "not-separable": "no*: not separable; touching or overlapping not known",
    "undecided": "?: undecided",
}


def report_of_classes(found: ClassVerdicts, where: Where | None) -> Report:
    """The whole report; `where` gives more columns about some rows."""
    parts = _jointly(found, where) if found.by == "joint" else _matrix(found)
    if found.rows_left_out:
        rows = count(found.rows_left_out, "row")
        parts.append(Sentence(f"{rows} left out, not part of the proof.", "left out"))
    return Report(f"{title_of(found)}, {count(found.n_rows, 'row')}.", tuple(parts), TONES[found.separable])


def title_of(found: ClassVerdicts) -> str:
    """The answer in a line."""
    n = len(found.labels)
    if found.by == "joint":
        return f"{n} classes jointly: {explain.TITLES[found.verdict.kind]}"
    yes = sum(verdict.separable is True for verdict in found.verdicts)
    what = "pairs of classes are" if found.by == "pairs" else "classes against the rest are"
    return f"{yes} of {len(found.verdicts)} {what} separable"


def counts_of(found: ClassVerdicts) -> dict[str, int]:
    """How many verdicts there are of each kind."""
    kinds = [verdict.kind for verdict in found.verdicts]
    return {kind: kinds.count(kind) for kind in MARKS if kind in kinds}


def _matrix(found: ClassVerdicts) -> list[Part]:
    names = [label_text(label) for label in found.labels]
    marks = {question: _mark(verdict) for question, verdict in zip(found.questions, found.verdicts, strict=True)}
    shown = range(min(len(names), MOST_CELLS))
    hidden = len(names) - len(shown)
    more = f"... and {hidden} more classes." if hidden else ""
    if found.by == "rest":
        lines = [(names[k], f"{found.sizes[k]:,}", marks[k,]) for k in shown]
        grid = Grid(("class", "rows", "separable"), tuple(lines), more)
    else:
        cells = [[marks.get((min(j, k), max(j, k)), "") for k in shown] for j in shown]
        grid = Grid(("", *(names[k] for k in shown)), tuple((names[j], *cells[j]) for j in shown), more)
    meaning = "; ".join(MEANINGS[kind] for kind in counts_of(found))
    if any(isinstance(verdict, Separable) and verdict.margin is not None for verdict in found.verdicts):
        meaning = meaning.replace("yes: separable", "a number: separable, with this margin at least")
    return [grid, Sentence(f"{meaning}.", "marks"), *_reasons(found)]


def _reasons(found: ClassVerdicts) -> list[Part]:
    told = {verdict.reason for verdict in found.verdicts if verdict.separable is None}  # type: ignore[attr-defined]
    return [Fact("reason", reason) for reason in sorted(told)]


def _jointly(found: ClassVerdicts, where: Where | None) -> list[Part]:
    verdict = found.verdict
    parts: list[Part] = [Sentence(_meaning(verdict))]
    if isinstance(verdict, Separable) and verdict.margin is not None:
        low, high = verdict.margin
        scale = "when the squares of all weights, the biases included, add up to 1"
        ends = f"by at least {low:.9g} {scale}; no scores lead by more than {high:.9g}"
        parts.append(Sentence(f"The right score leads {ends}.", "margin"))
    if isinstance(verdict, Obstructed):
        parts += _obstruction(found, verdict.obstruction, where)
    if verdict.separable is None or verdict.kind == "not-separable":
        parts.insert(0, Fact("reason", verdict.reason))  # type: ignore[attr-defined]
    return parts


def _obstruction(found: ClassVerdicts, combination: Obstruction, where: Where | None) -> list[Part]:
    contests, own = found.contests(combination), combination.classes
    rows = [row for row, _ in contests]
    texts = row_texts(rows[:SHOWN_ROWS], found.row_names)
    word = "" if found.row_names is None else f"with {found.row_names.word}{'s' * (len(contests) > 1)} "
    words = [
        f"{name} ({'' if own is None else f'{label_text(own[k])}, '}not {label_text(other)})"
        for k, (name, (_, other)) in enumerate(zip(texts, contests, strict=False))
    ]
    more = f" and {len(contests) - SHOWN_ROWS:,} more" if len(contests) > SHOWN_ROWS else ""
    said = f"The row {word}{words[0]} is 0" if word else f"Row {words[0]} is 0"
    said = f"The rows {word}{', '.join(words)}{more} cannot all be right" if len(contests) > 1 else said
    why = "whatever the scores, the weighted sum of their leads is 0"
    if combination.is_definite:
        why = "proved by weights that nearly cancel and a positive-definite matrix"
    total = sum(combination.weights)
    columns = {} if own is None else {"class": [label_text(label) for label in own]}
    columns["against"] = [label_text(other) for _, other in contests]
    columns["share"] = [f"{weight / total:.3f}" for weight in combination.weights]
    grid = row_grid(rows, columns, where, found.row_names)
    return [Sentence(f"{said}: {why}.", "obstruction"), grid]


def _mark(verdict: Verdict) -> str:
    has_margin = isinstance(verdict, Separable) and verdict.margin is not None
    return f"{verdict.margin[0]:.4g}" if has_margin else MARKS[verdict.kind]  # type: ignore[attr-defined]


def _meaning(verdict: Verdict) -> str:
    if isinstance(verdict, Separable):
        return "There are scores, one for each class, such that on every row that of its own class is the largest."
    if isinstance(verdict, Touching):
        weak = "There are scores such that on every row that of its own class is not below another, and on some above"
        return f"{weak}; but none such that it is strictly the largest on every row."
    if isinstance(verdict, Overlapping):
        return "Unless all scores are equal on every row, that of its own class is below another on some row."
    if verdict.separable is False:
        return (
            "There are no scores such that on every row that of its own class is strictly the largest. "
            "It is not known whether it can be at least as large as every other."
        )
    return "This proves nothing: there may be such scores or not."
