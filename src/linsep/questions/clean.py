"""Which labels are likely to be wrong? How many must be, proved; and the rows to look at first.

at least    this many labels are wrong whatever the hyperplane: the bound of `fewest_mistakes`
at most     this many changes are enough: without these rows, a hyperplane separates the classes
look first  at the rows whose label a logistic regression finds least likely, mistaken rows before others like them
"""

import csv
import io
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any, TypeAlias

import numpy as np

from linsep import arguments
from linsep.outputs import write_file
from linsep.proofs import Separable
from linsep.proofs.fewest_mistakes import FewestMistakes, mistakes_in_own_numbers
from linsep.proofs.named_rows import shown_rows
from linsep.proofs.verdict_base import check
from linsep.questions.mistakes import searched
from linsep.questions.stated import facts_of
from linsep.report import (
    SHOWN_ROWS,
    Grid,
    Part,
    Report,
    Reported,
    RowNames,
    Sentence,
    Tone,
    Where,
    count,
    label_text,
    one_line,
    plain_name,
    row_columns,
    rows_left_out,
)
from linsep.solvers.clock import Clock
from linsep.sources.base import Floats, Source
from linsep.sources.inputs import asked
from linsep.sources.memory import MemorySource
from linsep.tables import require_index_of
from linsep.tables.categories import Categories
from linsep.tables.given_rows import Given, Missing
from linsep.tables.row_ids import RowIds

FITTED, FITTED_CELLS = 100_000, 1 << 24  # the logistic regression is fitted to at most this many rows and numbers
EXAMINED = 10  # for this many rows, find out what follows if their label is right
ODDS = 1  # subtracted from the log odds of a mistaken row's label, so that it comes before others like it
SHARE_OF_SEARCH = 0.6  # of the time, for the fewest mistakes; the rest is for the examined rows
HEAD = (
    "rank",
    "row",
    "id",
    "label",
    "instead",
    "chance",
    "obstructions",
    "mistaken",
    "if right, at least",
    "if right, at most",
)
PLACE = 2  # before this column stands where the row is found

Ends: TypeAlias = tuple[int | float | None, int | float | None]


@dataclass(frozen=True, slots=True)
class Suspect:
    """A row whose label may be wrong, and why.

    `chance` is the probability that a logistic regression gives its label. `obstructions` counts the obstructions of
    the bound that contain the row: at least one row of each is mislabelled. `is_mistaken` says whether it is one of the
    rows whose removal is enough. `if_right` is how many labels are wrong, or what they cost, if this one is right: at
    least (None if no hyperplane gets it right) and at most (None if not known); None if the row was not examined.
    `id` is what the user calls the row; "" if it has no name.
    """

    row: int
    id: Any
    label: Any
    instead: Any
    chance: float
    obstructions: int
    is_mistaken: bool
    if_right: Ends | None = None


@dataclass(frozen=True, slots=True, repr=False)
class Cleaning(Reported):
    """How many labels must be wrong, and the rows to look at, the most suspicious first.

    Attributes
    ----------
    mistakes : FewestMistakes
        The proof: at least `lower` labels are wrong, whatever the hyperplane, and `best` changes are enough.
    verdict : a verdict or None
        The verdict on the rows without the mistaken ones; None if these are not of two classes.
    suspects : tuple
        The rows to look at, each with its label, its probability and the reasons to look at it.
    row_names : mapping
        What the user calls the rows.

    Examples
    --------
    >>> import linsep
    >>> found = linsep.clean([[0.0], [1.0], [2.0], [3.0], [4.0]], ["b", "a", "a", "b", "b"])
    >>> found.rows[0], found.verdict.kind
    (0, 'separable')
    """

    mistakes: FewestMistakes
    verdict: Separable | None
    suspects: tuple[Suspect, ...]
    row_names: RowNames | None = None

    @property
    def rows(self) -> tuple[int, ...]:
        """The numbers of the rows to look at, the most suspicious first."""
        return tuple(suspect.row for suspect in self.suspects)

    @property
    def ids(self) -> tuple[Any, ...]:
        """What the user calls these rows: their ids, or their numbers if they have none."""
        return self.rows if self.row_names is None else self.row_names.ids(self.rows)

    def _called(self, ids: RowIds | None) -> "Cleaning":
        """The same, with what the user calls the rows."""
        if ids is None:
            return self
        names = ids.names(self.rows)
        known = names.known if names.word == "id" else {}
        suspects = tuple(replace(suspect, id=known.get(suspect.row, "")) for suspect in self.suspects)
        return replace(self, suspects=suspects, row_names=names)

    def in_own_numbers(self, rows: Given) -> "Cleaning":
        """The same with the row numbers of the user's table, of which some rows were dropped."""
        if rows.kept is None:
            return self
        suspects = tuple(replace(suspect, row=rows.own([suspect.row])[0]) for suspect in self.suspects)
        mistakes = mistakes_in_own_numbers(self.mistakes, rows)
        return replace(self, mistakes=mistakes, suspects=suspects)._called(rows.names)

    def frame(self, X: Any) -> Any:
        """These rows as a dataframe of the library of X: see `Verdict.frame`. New columns describe the suspects."""
        told = ("label", "instead", "chance", "obstructions", "is_mistaken")
        columns = {name: [getattr(suspect, name) for suspect in self.suspects] for name in told}
        return shown_rows(X, self.rows, columns, self.mistakes._length_of(X, None), self.row_names)

    def report(self, where: Where | None = None) -> Report:
        """How many labels are wrong, which to look at first, and why."""
        mistakes, size = self.mistakes, len(self.mistakes.mistaken_rows)
        enough = f"{count(size, 'change')} {'is' if size == 1 else 'are'} enough (shown)"
        if not mistakes.bias:  # a row of zeros is right with no label
            enough = f"leaving out {count(size, 'row')} is enough (shown)"
        if not size:
            title = "No label need be wrong: a hyperplane separates the classes."
        elif mistakes.costs is not None:
            title = f"Mistakes cost at least {mistakes.lower}, whatever the hyperplane (proved); {enough}."
        else:
            one, many = ("label is wrong", "labels are wrong") if mistakes.bias else ("mistake", "mistakes")
            least = (
                f"At least {count(int(mistakes.lower), one) if mistakes.lower == 1 else f'{mistakes.lower:,} {many}'}"
            )
            title = f"{least}, whatever the hyperplane (proved); {enough}."
        then = "a hyperplane separates the classes" if self.verdict else "the rows are not of two classes"
        parts: list[Part] = [Sentence(f"Without the {count(size, 'mistaken row')} {then}.", "then")] if size else []
        if self.suspects:
            parts += [Sentence("Look first at:", "rows"), self._grid(where)]
        if any(suspect.if_right for suspect in self.suspects):
            what = "how many labels are wrong" if mistakes.costs is None else "what wrong labels cost"
            parts.append(Sentence(f"If right: {what}, at least and at most, if this one is right.", ""))
        parts += rows_left_out(mistakes.rows_left_out)
        tone: Tone = "yes" if not size else "unsure" if not mistakes.optimal else "no"
        return Report(title, tuple(parts), tone)

    def _grid(self, where: Where | None) -> Grid:
        shown = self.suspects[:SHOWN_ROWS]
        known: dict[str, Sequence[str]] = {
            **row_columns([suspect.row for suspect in shown], self.row_names, where),
            "label": [label_text(suspect.label) for suspect in shown],
            "its chance": [f"{suspect.chance:.3f}" for suspect in shown],
            "obstructions": [str(suspect.obstructions) for suspect in shown],
            "mistaken": ["yes" if suspect.is_mistaken else "no" for suspect in shown],
        }
        if any(suspect.if_right for suspect in shown):
            known["if right"] = [_shown(suspect.if_right) for suspect in shown]
        hidden = len(self.suspects) - len(shown)
        lines = tuple(zip(*known.values(), strict=True))
        return Grid(tuple(known), lines, f"... and {count(hidden, 'more row')}." if hidden else "")

    def to_csv(self, path: str | PathLike[str], where: Where | None = None) -> None:
        """Write all suspects as CSV, the most suspicious first; `where` adds columns that say where rows are."""
        names, page = self.row_names, io.StringIO()
        own = {} if names is None or names.word == "id" else {names.word: names.ids(self.rows)}
        found = where(self.rows) if where else {}
        places = found if found.keys() >= own.keys() else own | {**found}
        writer = csv.writer(page, lineterminator="\n")
        head = (*HEAD[:PLACE], *places, *HEAD[PLACE:])
        writer.writerow([name.replace(", ", "_").replace(" ", "_") for name in head])
        for k, line in enumerate(self._lines()):
            writer.writerow([*line[:PLACE], *(found[k] for found in places.values()), *line[PLACE:]])
        write_file(str(path), page.getvalue().encode())

    def _lines(self) -> Iterator[list[Any]]:
        for rank, s in enumerate(self.suspects, 1):
            right = ("", "") if s.if_right is None else ["" if end is None else end for end in s.if_right]
            yield [rank, s.row, s.id, s.label, s.instead, f"{s.chance:.6g}", s.obstructions, int(s.is_mistaken), *right]

    def facts(self) -> dict[str, Any]:
        """The result as plain values, for JSON."""
        names = ("row", "id", "label", "instead", "chance", "obstructions", "is_mistaken", "if_right")
        suspects = [
            {name: getattr(suspect, name) for name in names} | {"id": plain_name(suspect.id)}
            for suspect in self.suspects
        ]
        named = {} if self.row_names is None else self.row_names.facts()
        return {
            **self.mistakes.facts(),
            **named,
            "verdict_without": self.verdict and self.verdict.kind,
            "suspects": suspects,
        }

    def __repr__(self) -> str:
        mistakes = self.mistakes
        return one_line(self, f"at least {mistakes.lower}, at most {mistakes.best}", count(len(self.rows), "suspect"))


def clean(
    X: Any,
    y: Any = None,
    *,
    ids: Any = None,
    categories: Categories = None,
    missing: Missing = None,
    cost: Any = None,
    bias: bool = True,
    time_limit: float | None = 60,
    watch: Any = None,
) -> Cleaning:
    """Find the labels that are likely to be wrong, and prove how many must be.

    Suppose that a hyperplane would separate the classes if all labels were right. Then at least `mistakes.lower` of
    them are wrong, proved; without the `mistakes.mistaken_rows` a hyperplane separates the classes. The suspects are
    ranked by the probability that a logistic regression gives to their label, mistaken rows before others like them.

    Parameters
    ----------
    X, y, ids : the rows, their labels, and what they are called
        As `decide` takes them.
    categories, missing, cost, bias, time_limit, watch
        As `fewest_mistakes` takes them.

    Returns
    -------
    Cleaning
        The proof of how many labels must be wrong, and the suspects.

    Raises
    ------
    InputError
        The data cannot be used.

    Examples
    --------
    >>> import linsep
    >>> X = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0], [6.0]]
    >>> found = linsep.clean(X, ["high", "low", "low", "low", "high", "high", "high"])
    >>> found.mistakes.lower, found.mistakes.best, found.rows[0]
    (1, 1, 0)
    """
    require_index_of(X, y, cost=cost)
    with asked(X, y, ids, categories, missing, beside=[] if isinstance(cost, Mapping) else [cost]) as (rows, source):
        return cleaned(source, rows.costs(cost), bias, time_limit, watch)[0].in_own_numbers(rows)


def cleaned(
    source: Source, cost: Any, bias: bool, time_limit: float | None, watch: Any = None
) -> tuple[Cleaning, bool]:
    """The same about a source, and whether Ctrl-C ended it."""
    bias, limit = arguments.flag("bias", bias), arguments.seconds("time_limit", time_limit)
    clock = Clock(limit)
    first = None if limit is None else SHARE_OF_SEARCH * limit
    found, was_interrupted = searched(source, cost, bias, Clock(first), watch)
    suspects: list[Suspect] = []
    try:
        suspects += _suspects(found, source)
        if found.mistaken_rows and not was_interrupted:
            was_interrupted = _examine(suspects, found, source, clock)
    except KeyboardInterrupt:
        was_interrupted = True
    cleaning = Cleaning(found, _without(found, source), tuple(suspects))
    return cleaning._called(source.facts.ids), was_interrupted


def _examine(suspects: list[Suspect], found: FewestMistakes, source: Source, clock: Clock) -> bool:
    """Find out what follows if the labels of the first suspects are right, while there is time; True after Ctrl-C."""
    examined, costs = suspects[:EXAMINED], [1] * source.n_rows if found.costs is None else list(found.costs)
    priced = [found.unit * cost for cost in costs]
    beyond = found.unit * (sum(costs) + 1)  # more than all others together: a mistake only if it must be
    for k, suspect in enumerate(examined):
        if clock.is_over():
            break
        share = None if clock.left is None else clock.left / (len(examined) - k)
        forced = [*priced]
        forced[suspect.row] = beyond
        other, was_interrupted = searched(source, forced, found.bias, Clock(share))
        if was_interrupted:
            return True
        suspects[k] = replace(suspect, if_right=_ends_of(other, suspect.row, beyond, found.lower))
    return False


def _ends_of(other: FewestMistakes, row: int, cost: Any, lower: int | float) -> Ends:
    """How many labels are wrong, at least and at most, by a search in which this row costs more than all others."""
    if other.lower >= cost:
        return None, None
    most, least = None if row in other.mistaken_rows else other.best, max(other.lower, lower)
    return least if most is None else min(least, most), most


def _without(found: FewestMistakes, source: Source) -> Separable | None:
    """The verdict on the rows that are not mistaken: the hyperplane separates them, which is checked again."""
    rows = np.setdiff1d(np.arange(source.n_rows), found.mistaken_rows)
    block = source.take(rows)
    if not len(rows) or abs(block.y.sum(dtype=np.int64)) == len(rows):
        return None
    part = MemorySource.of(block, source.facts)
    facts = {**facts_of(part), "bias": found.bias, "reads": 0, "seconds": 0.0}
    verdict = Separable(weights=found.weights, bias_weight=found.bias_weight, **facts)
    check(verdict, part)
    return verdict


def _suspects(found: FewestMistakes, source: Source) -> Iterator[Suspect]:
    """The mistaken rows, and those whose label is less likely than the other; the least likely first."""
    logits, labels = _logits(source), source.facts.pair
    signs = np.concatenate([block.y for block in source.blocks()])
    used = {number for leaf in found.leaves for number, _ in leaf.multipliers}
    inside = np.bincount([row for number in used for row in found.obstructions[number].rows], minlength=source.n_rows)
    for group in found.copies:  # one of them stands for all
        inside[list(group)] = inside[list(group)].max()
    is_mistaken = np.zeros(source.n_rows, np.bool_)
    is_mistaken[list(found.mistaken_rows)] = True
    rows = np.flatnonzero(is_mistaken | (logits < 0))
    for row in rows[np.argsort(logits[rows] - ODDS * is_mistaken[rows], kind="stable")].tolist():
        is_positive, chance = bool(signs[row] > 0), 1 / (1 + np.exp(-logits[row]))
        label, instead = labels[is_positive], labels[not is_positive]
        yield Suspect(row, "", label, instead, float(chance), int(inside[row]), bool(is_mistaken[row]))


def _logits(source: Source) -> Floats:
    """The log of the odds of each row's label, by a logistic regression on scaled columns, fitted on a sample."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import MaxAbsScaler, StandardScaler

    sample = source.sample(max(1000, min(FITTED, FITTED_CELLS // source.n_columns)), 0)
    logits = np.empty(source.n_rows)
    if abs(sample.y.sum(dtype=np.int64)) == len(sample):  # of one class: any other label is odd
        for numbers, _, y in source.blocks():
            logits[numbers] = y * sample.y[0]
        return logits
    scaled = MaxAbsScaler(), StandardScaler(with_mean=not sample.is_sparse)  # the first so that no square overflows
    fitted = make_pipeline(*scaled, LogisticRegression(max_iter=300))
    with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):  # near enough is enough
        fitted.fit(sample.values.astype(np.float64), sample.y)
    for numbers, values, y in source.blocks():
        logits[numbers] = np.clip(y * fitted.decision_function(values.astype(np.float64)), -500, 500)
    return logits


def _shown(ends: Ends | None) -> str:
    if ends is None:
        return ""
    least, most = ends
    if least is None:
        return "never"
    return f"{least}" if most == least else f"{least} or more" if most is None else f"{least} to {most}"
