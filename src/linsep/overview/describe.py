"""One page about a table: what is proved about it, which rows and columns to look at, how well classifiers fit it.

Every section is the report of a result that is also available on its own. If the table is too large for a section, it
uses a sample, and says so. Sections that the time limit or Ctrl-C prevents are left out.
"""

import signal
import threading
import warnings
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from html import escape
from io import BytesIO
from typing import Any

import numpy as np

from linsep import arguments, theory
from linsep.errors import LinsepError, NotSeparableError
from linsep.learners.perceptron import perceptron
from linsep.overview.odd_columns import column_report
from linsep.proofs import Verdict
from linsep.proofs.fewest_mistakes import FewestMistakes
from linsep.proofs.named_rows import in_own_numbers
from linsep.questions.clean import Cleaning, cleaned
from linsep.questions.decide import decide
from linsep.questions.margin import max_margin, novikoff
from linsep.report import Fact, Grid, Part, Report, Reported, Sentence, Where, count, label_text, one_line, web_page
from linsep.solvers.clock import Clock
from linsep.sources.base import Block, Source
from linsep.sources.inputs import asked
from linsep.sources.memory import MemorySource
from linsep.tables.categories import Categories
from linsep.tables.given_rows import Given, Missing
from linsep.tables.row_ids import PartIds

ENTRIES = 1 << 20  # for larger tables, the sections on learners, theorems and wrong labels use a sample
FOLDS = 5
MOST_UPDATES = 1_000_000
SHARES = {
    "verdict": 0.3,
    "perceptron": 0.35,
    "labels": 0.6,
    "learners": 0.8,
    "theory": 1.0,
}  # of the time, by which each must have ended
LEAST_SECONDS = 0.5  # for each section, however late it begins
KERNEL_ROWS = 2000
INTERRUPTED = "Interrupted: later sections are missing, and the last one may be incomplete."
TITLES = {
    "verdict": "Can a hyperplane separate the classes?",
    "perceptron": "The Perceptron, and its bound",
    "labels": "The fewest mistakes, and the rows to look at",
    "columns": "The columns",
    "learners": "How well learners do",
    "theory": "What theory promises",
}


@dataclass(frozen=True, slots=True, repr=False)
class Description(Reported):
    """What is known about a table, section by section: each is a report of its own, under its name.

    Attributes
    ----------
    n_rows, n_columns : int
        The size of the table.
    sections : mapping
        The reports.
    verdict, cleaning
        The results themselves, if they were found.
    picture : bytes or None
        A PNG image.
    was_interrupted : bool
        Whether Ctrl-C ended it: later sections are then missing, and the last one may be incomplete.

    Examples
    --------
    >>> import linsep
    >>> page = linsep.describe(*linsep.datasets.xor())
    >>> page.verdict.kind, page.cleaning.mistakes.best
    ('overlapping', 1)
    """

    n_rows: int
    n_columns: int
    sections: dict[str, Report]
    verdict: Verdict | None = None
    cleaning: Cleaning | None = None
    picture: bytes = field(default=b"", repr=False)
    was_interrupted: bool = False

    @property
    def title(self) -> str:
        """What the page is about."""
        return f"{count(self.n_rows, 'row')}, {count(self.n_columns, 'column')}"

    def report(self) -> Report:
        """All sections, one below the other."""
        parts: list[Part] = [Sentence(INTERRUPTED, "interrupted")] if self.was_interrupted else []
        for name, section in self.sections.items():
            parts += [Sentence("", ""), Sentence(TITLES[name].upper(), ""), Sentence(section.title, ""), *section.parts]
        return Report(self.title, tuple(parts), self._tone())

    def _tone(self) -> Any:
        return self.sections["verdict"].tone if "verdict" in self.sections else "plain"

    def page(self, name: str = "") -> bytes:
        """A self-contained web page."""
        title, drawn = f"{name}: {self.title}" if name else self.title, ""
        if self.picture:
            data = f"data:image/png;base64,{b64encode(self.picture).decode()}"
            drawn = f'<img src="{data}" alt="The rows as the hyperplane sees them">'
        sections = "".join(
            f"<h2>{escape(TITLES[key])}</h2>{drawn if key == 'verdict' else ''}{section.html()}"
            for key, section in self.sections.items()
        )
        told = f"<p>{INTERRUPTED}</p>" if self.was_interrupted else ""
        return web_page(title, f"<h1>{escape(title)}</h1>{told}{sections}")

    def facts(self) -> dict[str, Any]:
        """The sections as plain values, for JSON."""
        sections = {name: section.json() for name, section in self.sections.items()}
        known = {"rows": self.n_rows, "columns": self.n_columns, "sections": sections}
        return known | {"interrupted": True} if self.was_interrupted else known

    def __repr__(self) -> str:
        return one_line(self, self.title, *self.sections)


def describe(
    X: Any,
    y: Any = None,
    *,
    bias: bool = True,
    ids: Any = None,
    categories: Categories = None,
    missing: Missing = None,
    time_limit: float | None = 60,
    where: Where | None = None,
    watch: Callable[[str], None] | None = None,
) -> Description:
    """Show everything at a glance: verdict, margin, bound, fewest mistakes, odd rows and columns, learners, theory.

    Parameters
    ----------
    X, y, bias, ids, categories, missing
        As `decide` takes them.
    time_limit : float or None
        About how many seconds everything may take. After Ctrl-C, the result has the sections that are done, and says
        so; if none is done, KeyboardInterrupt is raised.
    where : callable
        Gives more columns about rows, for the tables that name some: {"line": [...]}.
    watch : callable
        Called with the title of each section as it begins.

    Returns
    -------
    Description
        The sections, each a report; `page()` is all of it as HTML.

    Raises
    ------
    InputError
        The data cannot be used.

    Examples
    --------
    >>> import linsep
    >>> page = linsep.describe(*linsep.datasets.cornwell())
    >>> list(page.sections)
    ['verdict', 'perceptron', 'labels', 'columns', 'learners', 'theory']
    >>> page.sections["verdict"].title
    'separable (complete separation), 4 rows.'
    """
    bias, limit = arguments.flag("bias", bias), arguments.seconds("time_limit", time_limit)
    with asked(X, y, ids, categories, missing) as (rows, source):
        source.require_finite()
    writer = PageWriter(source, rows, bias, Clock(limit), limit, where, watch)
    try:
        writer.write()
    except KeyboardInterrupt:
        if not writer.sections:
            raise
        writer.was_interrupted = True
    known = writer.verdict, writer.cleaning, writer.picture, writer.was_interrupted
    return Description(source.n_rows, source.n_columns, writer.sections, *known)


@dataclass(slots=True)
class PageWriter:
    """The sections written so far, and the results that later ones build on."""

    source: Source
    rows: Given
    bias: bool
    clock: Clock
    limit: float | None
    where: Where | None
    watch: Callable[[str], None] | None
    sections: dict[str, Report] = field(default_factory=dict)
    verdict: Verdict | None = None
    cleaning: Cleaning | None = None
    best: FewestMistakes | None = None  # the same answer, in the row numbers of the source
    known: list[Any] = field(default_factory=list)  # results that the theorems need not compute again
    picture: bytes = b""
    was_interrupted: bool = False

    def write(self) -> None:
        """Write every section, in order; one that fails says why."""
        for name, section in {
            "verdict": self.judged,
            "perceptron": self.run,
            "labels": self.labels,
            "columns": lambda: column_report(self.source),
            "learners": self.learned,
            "theory": self.promised,
        }.items():
            if self.watch is not None:
                self.watch(TITLES[name])
            try:
                found = section()
            except LinsepError as error:
                found = Report(f"Not available: {error}", (), "unsure")
            if found is not None:
                self.sections[name] = found
            if self.was_interrupted:
                return

    def seconds(self, name: str) -> float | None:
        """How long a section may take."""
        if self.limit is None:
            return None
        return max(LEAST_SECONDS, SHARES[name] * self.limit - self.clock.seconds)

    def judged(self) -> Report:
        """The verdict with its margin, and the rows as the hyperplane sees them."""
        limit = self.seconds("verdict")
        if self.bias:
            self.verdict = max_margin(self.source, time_limit=limit)
        else:
            self.verdict = decide(self.source, bias=False, time_limit=limit)
        self.known.append(self.verdict)
        self.picture = _drawn(self.source, self.verdict)
        self.verdict = in_own_numbers(self.verdict, self.rows)
        return self.verdict.report(where=self.where)

    def run(self) -> Report | None:
        """A run of the Perceptron, with its bound."""
        if self.verdict is None or self.verdict.separable is not True:
            return None
        run = perceptron(self.source, bias=self.bias, max_passes=1000, max_updates=MOST_UPDATES)
        self.known.append(run)
        said = Report(run.report().title)
        with suppress(NotSeparableError):
            bound = novikoff(self.source, bias=self.bias, time_limit=self.seconds("perceptron"))
            self.known.append(bound)
            part = f"{100 * run.updates / bound.bound[1]:.2g} % of the bound." if bound.bound[1] else ""
            said += (Sentence(bound.report().title, "bound"), Sentence(f"{count(run.updates, 'update')}: {part}", ""))
        return said

    def labels(self) -> Report:
        """How many labels must be wrong, and where to look."""
        part, note = self.part()
        found, self.was_interrupted = cleaned(part, None, self.bias, self.seconds("labels"))
        self.cleaning = found if note else found.in_own_numbers(self.rows)
        self.best = found.mistakes
        said = self.cleaning.report(None if note else self.where)
        # the verdict has said how many rows were left out
        return replace(said, parts=tuple(part for part in said.parts if getattr(part, "name", "") != "left out")) + note

    def learned(self) -> Report:
        """The errors of the classifiers, on the rows they were fitted to and on others."""
        part, note = self.part()
        block = part.take(np.arange(part.n_rows))
        rows, family = list[tuple[str, str, str]](), _family(self.bias, len(block), self.seconds("learners"))
        with noted_interrupts() as seen:
            try:
                rows += _errors(family, block, self.clock, self.seconds("learners"), seen)
            except KeyboardInterrupt:
                self.was_interrupted = True
        if not rows:
            return Report("There was no time left to fit a classifier.", note, "unsure")
        grid = Grid(("classifier", "error on its own rows", f"on others ({_folds(block)}-fold)"), tuple(rows))
        sides = [int((block.y == side).sum()) for side in (-1, 1)]
        least = f"{min(sides) / len(block):.1%}: always {label_text(part.facts.pair[int(sides[1] > sides[0])])}"
        left_out = ", ".join(type(model).__name__ for model in family[len(rows) :])
        is_late = left_out and not self.was_interrupted
        missing = [Sentence(f"There was no time left for {left_out}.", "left out")] if is_late else []
        return Report("Errors of the classifiers.", (grid, Fact("no learning", least), *missing, *note))

    def promised(self) -> Report:
        """What each theorem promises about new rows."""
        part, note = self.part()
        # a sample is that of the section on labels, and so is its best hyperplane
        known = [*([] if note else self.known), *([] if self.best is None else [self.best])]
        found = theory.promises(part, known=known, bias=self.bias, time_limit=self.seconds("theory"))
        return found.report() + note

    def part(self) -> tuple[Source, tuple[Part, ...]]:
        """The rows, or a sample of them with a sentence that says so."""
        most = max(1000, ENTRIES // self.source.n_columns)
        if self.source.n_rows <= most:
            return self.source, ()
        block = self.source.sample(most, 0)
        own = self.source.facts.ids
        names = None if own is None else PartIds(own, block.row_numbers)
        facts = replace(self.source.facts.of_part(len(block)), ids=names)
        told = f"On a sample of {len(block):,} of the {self.source.n_rows:,} rows; row numbers are those of the sample."
        return MemorySource(block.table, block.y, facts), (Sentence(told, "sample"),)


@contextmanager
def noted_interrupts() -> Iterator[list[int]]:
    """Note each Ctrl-C in this context: a search that returns what it knows after Ctrl-C does not pass it on."""
    seen: list[int] = []
    handler = signal.getsignal(signal.SIGINT)
    if not callable(handler) or threading.current_thread() is not threading.main_thread():
        yield seen
        return
    told: Callable[..., Any] = handler

    def note(number: int, frame: Any) -> None:
        seen.append(number)
        told(number, frame)

    signal.signal(signal.SIGINT, note)
    try:
        yield seen
    finally:
        signal.signal(signal.SIGINT, handler)


def _family(bias: bool, n_rows: int, share: float | None) -> list[Any]:
    """The classifiers that are tried on this many rows, each of which gets a part of the seconds."""
    from linsep.estimators import (
        FewestMistakesClassifier,
        KernelPerceptronClassifier,
        MaxMarginClassifier,
        PerceptronClassifier,
        RegionsClassifier,
    )

    each = None if share is None else share / (5 * (FOLDS + 1))
    return [
        PerceptronClassifier(bias=bias, random_state=0),
        *([KernelPerceptronClassifier(random_state=0)] if n_rows <= KERNEL_ROWS else []),
        *([MaxMarginClassifier(gap=1e-3, time_limit=each)] if bias else []),
        FewestMistakesClassifier(bias=bias, time_limit=each),
        *([RegionsClassifier(time_limit=each)] if bias else []),
    ]


def _errors(
    family: list[Any], block: Block, clock: Clock, share: float | None, seen: list[int]
) -> Iterator[tuple[str, str, str]]:
    """Each classifier, its error on the rows, and its cross-validated error; none after an interrupt."""
    until = None if share is None else clock.seconds + share
    for model in family:
        if until is not None and clock.seconds > until:
            return
        own, other = "refused", "-"  # an integer that doubles would round, say
        with warnings.catch_warnings(action="ignore", category=UserWarning), suppress(LinsepError):
            own = f"{_wrong(model, block, block, seen) / len(block):.1%}"
            if (folds := _folds(block)) > 1:
                other = f"{_wrong_elsewhere(model, block, folds, seen) / len(block):.1%}"
        yield type(model).__name__, own, other


def _wrong(model: Any, rows: Block, others: Block, seen: list[int]) -> int:
    """How many of the other rows a classifier gets wrong after it is fitted to these."""
    fitted = model.fit(rows.values, rows.y)
    if seen:
        raise KeyboardInterrupt
    return int((fitted.predict(others.values) != others.y).sum())


def _wrong_elsewhere(model: Any, block: Block, folds: int, seen: list[int]) -> int:
    """The same in cross-validation."""
    from sklearn.model_selection import StratifiedKFold

    cut = StratifiedKFold(folds, shuffle=True, random_state=0).split(np.zeros(len(block)), block.y)
    return sum(_wrong(model, block.take(rows), block.take(others), seen) for rows, others in cut)


def _folds(block: Block) -> int:
    return min(FOLDS, int((block.y > 0).sum()), int((block.y < 0).sum()))


def _drawn(source: Source, verdict: Verdict) -> bytes:
    """The rows as the hyperplane sees them; nothing without matplotlib."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        return b""
    from linsep import plots

    figure, content = Figure(figsize=(6.0, 4.2), layout="constrained"), BytesIO()
    FigureCanvasAgg(figure)
    with suppress(LinsepError):  # numbers too large to draw
        plots.separation(source, verdict=verdict, ax=figure.add_subplot())
        figure.savefig(content, format="png", dpi=130, metadata={"Software": None})
    return content.getvalue()
