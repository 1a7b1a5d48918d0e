"""What the commands print: results on stdout, everything else on stderr, plain where nobody is looking."""

import json
import math
import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal, TextIO, TypedDict

from rich.console import Console
from rich.text import Text

from linsep.cli import stdio
from linsep.report import Grid, Report, Sentence, bounded, column_names, run_ended
from linsep.report import count as count
from linsep.report import printable as printable

if TYPE_CHECKING:  # a complaint must not wait for the compiled kernels
    from linsep.cli.training import Fitted, Look
    from linsep.halfspace import Halfspace
    from linsep.solvers.clock import Clock
    from linsep.solvers.perceptron_run import PerceptronRun, Step
    from linsep.sources.base import Source
    from linsep.sources.files.rejects import Rejects
    from linsep.sources.watched import WatchedSource

WIDE = 160  # columns of a page that is not a terminal
SHOWN_WEIGHTS = 8
PLAIN_EVERY_S = 2.0


class Page(Console):
    """A console whose reader may leave: Rich would exit with 1, which is a verdict here."""

    def on_broken_pipe(self) -> None:
        """Leave the error that is being handled to whoever prints."""
        raise

    def print(self, *objects: Any, **options: Any) -> None:
        """Print, or say that it cannot be shown."""
        with stdio.shown():
            super().print(*objects, **options)


def console(stream: TextIO) -> Console:
    """A page that prints text as it is: a column called [red] stays a column."""
    width = None if stream.isatty() else WIDE
    return Page(file=stream, width=width, markup=False, emoji=False, highlight=False, soft_wrap=True, **colours(stream))


def colours(stream: TextIO) -> "Colours":
    """Whether to style: on a terminal, or where FORCE_COLOR asks for it; never where NO_COLOR is set."""
    forced = os.environ.get("FORCE_COLOR", "") not in ("", "0")
    plain = os.environ.get("NO_COLOR", "") != ""
    return {"force_terminal": stream.isatty() or forced, "color_system": None if plain else "auto"}


class Colours(TypedDict):
    """What Rich calls them."""

    force_terminal: bool
    color_system: Literal["auto"] | None


def say(text: str = "", style: str = "") -> None:
    """A line of the result."""
    console(sys.stdout).print(Text(printable(text), style))


def show(found: Report) -> None:
    """A result: folded between words on a terminal, and marked there by the colour of its title."""
    page = console(sys.stdout)
    for line, style in found.terminal(page.width if sys.stdout.isatty() else None):
        page.print(Text(line, style))


def note(text: str) -> None:
    """A remark that is not part of the result: if nobody can hear it, the command goes on."""
    with stdio.unheard():
        console(sys.stderr).print(Text(printable(text), "dim"))


def mention_origin(file: str) -> None:
    """That an example is solved as its lecture solves it."""
    note(f"{file}: through the origin, as in the lecture (no bias; --bias asks for one).")


def complain(text: str, facts: "dict[str, Any] | None" = None) -> None:
    """An error, in one line: of text, or of JSON where its facts are given."""
    with stdio.unheard():
        if facts is not None:
            print(json.dumps(facts, ensure_ascii=False), file=sys.stderr, flush=True)
        else:
            console(sys.stderr).print(Text.assemble(("linsep: ", "bold red"), printable(text)))


def say_json(value: Any) -> None:
    """One line of JSON."""
    with stdio.shown():
        print(json.dumps(value, allow_nan=False, ensure_ascii=False))


def number(value: float | int) -> str:
    """A number as the lectures write it."""
    return str(value) if isinstance(value, int) else f"{value:.6g}"


def set_aside(rejects: "Rejects") -> str:
    """How many bad rows were set aside, and where."""
    return f"{count(rejects.count, 'bad row')} {'was' if rejects.count == 1 else 'were'} rejected: see {rejects.path}."


def equation(halfspace: "Halfspace", columns: Sequence[str] | None) -> str:
    """The hyperplane in a line, or its size where a line would not hold it."""
    if not halfspace.w.any():
        return "no hyperplane yet (all weights are 0)"
    if len(halfspace.w) > SHOWN_WEIGHTS:
        return f"a hyperplane with {len(halfspace.w):,} weights"
    return printable(halfspace.equation(columns))


def steps(run: "Iterable[Step]", columns: Sequence[str] | None, n_columns: int, *, bias: bool) -> None:
    """The updates as a table, from the zero weights on."""
    shown = min(n_columns, SHOWN_WEIGHTS)
    heads = [f"w({name})" for name in column_names(columns, n_columns)[:shown]]
    rows = [("0", "", "", "", *["0"] * (shown + bias))]
    for step in run:
        weights = [*step.w[:shown].tolist(), *([step.b] if bias else [])]
        rows.append((str(step.update), str(step.row), str(step.label), number(step.score), *map(number, weights)))
    head = ("update", "row", "label", "score before", *heads, *(["b"] if bias else []))
    for line in Grid(head, tuple(rows)).ruled():
        say(line)
    if shown < n_columns:
        note(f"The first {shown} of {n_columns} weights are shown; --json gives all of them.")


def step_json(step: "Step") -> dict[str, Any]:
    """One update."""
    weights = {"w": step.w.tolist(), "b": step.b}
    return {"update": step.update, "row": step.row, "label": step.label, "score": step.score, **weights}


def run_json(run: "PerceptronRun", doubtful: int, source: "Source") -> dict[str, Any]:
    """The summary line of a trace."""
    weights = {"w": run.halfspace.w.tolist(), "b": run.halfspace.b, "labels": list(run.halfspace.labels)}
    ended = {"separated": run.converged and not doubtful, "converged": run.converged, "doubtful": doubtful}
    read = {"rows": source.n_rows, "rows_left_out": source.facts.rows_left_out}
    return {"summary": True, **ended, **read, "updates": run.updates, "passes": run.passes, **weights}


def traced(run: "PerceptronRun", doubtful: int, columns: Sequence[str] | None, bound: float | None = None) -> None:
    """How a trace ended, beside Novikoff's bound on its updates if that is known."""
    _ended(run, equation(run.halfspace, columns), doubtful, parts=() if bound is None else (bounded(bound),))


def fitted(result: "Fitted", rows: int, columns: Sequence[str] | None) -> None:
    """How a fit ended."""
    plane = equation(result.halfspace, columns)
    best = Sentence(f"Best so far: {plane}, {count(result.mistakes, 'mistake')} in {rows:,} rows.", "best")
    was = "interrupted" if result.interrupted else ""
    _ended(result, plane, result.doubtful, was, () if result.separated else (best,))


def _ended(
    run: "PerceptronRun | Fitted", plane: str, doubtful: int, was: str = "", parts: tuple[Sentence, ...] = ()
) -> None:
    title = run_ended(run.converged, run.updates, run.passes, plane, doubtful, was)
    show(Report(title, parts, "yes" if run.converged and not doubtful else "unsure"))


def fitted_json(result: "Fitted", source: "Source") -> dict[str, Any]:
    """A fit as one JSON object."""
    halfspace = result.halfspace
    return {
        "separated": result.separated,
        "converged": result.converged,
        "interrupted": result.interrupted,
        "rows": source.n_rows,
        "rows_left_out": source.facts.rows_left_out,
        "mistakes": result.mistakes,
        "doubtful": result.doubtful,
        "updates": result.updates,
        "passes": result.passes,
        "w": halfspace.w.tolist(),
        "b": halfspace.b,
        "labels": list(halfspace.labels),
    }


@contextmanager
def progress(max_passes: int | None, *, wanted: bool = False) -> "Iterator[Callable[[Look], None]]":
    """How a fit gets on, on stderr: nothing where that is no terminal, unless it is wanted."""
    looks: list[Look] = []

    def described() -> str:
        if not looks:
            return "Learning"
        look = looks[-1]
        parts = [count(look.passes, "pass") + (f" of at most {max_passes:,}" if max_passes else "")]
        parts.append(count(look.updates, "update"))
        if look.mistakes is not None:
            parts.append(f"best so far: {count(look.mistakes, 'mistake')}")
        parts.append(f"{look.rows_read / look.seconds:,.0f} rows/s")
        return ", ".join(parts) + " (Ctrl-C keeps the best)"

    with shown(described, wanted=wanted):
        yield lambda look: looks.__setitem__(slice(None), [look])


class Search:
    """A search as a person watches it: reads, rows per second, and the bounds on the margin so far."""

    def __init__(self, doing: str, source: "WatchedSource") -> None:
        self.doing, self.source = doing, source
        self.reads, self.bounds, self.started = 0, (0.0, math.inf), time.monotonic()

    def watch(self, clock: "Clock") -> None:
        """Note what the search knows."""
        self.reads, self.bounds = clock.reads, clock.bounds

    def described(self) -> str:
        """The search in a line."""
        speed = self.source.rows_read / max(1e-9, time.monotonic() - self.started)
        parts = [f"{self.doing}: {count(self.reads, 'read')}", f"{speed:,.0f} rows/s"]
        if math.isfinite(self.bounds[1]):
            parts.append(f"gamma {self.bounds[0]:.6g} to {self.bounds[1]:.6g}")
        return ", ".join(parts) + " (Ctrl-C ends)"


@contextmanager
def searching(
    doing: str, source: "Source", *, wanted: bool = False
) -> "Iterator[tuple[Source, Callable[[Clock], None] | None]]":
    """The source to search and whom to tell, with the progress on stderr; the source as it is where nobody looks."""
    if not (wanted or sys.stderr.isatty()):
        yield source, None
        return
    from linsep.sources.watched import WatchedSource

    watched = WatchedSource(source)
    search = Search(doing, watched)
    with shown(search.described, wanted=wanted):
        yield watched, search.watch


@contextmanager
def shown(described: Callable[[], str], *, wanted: bool = False) -> Iterator[None]:
    """A line that is kept up to date on a terminal; elsewhere, if it is wanted, a new line every other second."""
    if sys.stderr.isatty():
        with _live(described):
            yield
        return
    ended = threading.Event()

    def report_now_and_then() -> None:
        while not ended.wait(PLAIN_EVERY_S):
            note(described())

    thread = threading.Thread(target=report_now_and_then, daemon=True)
    if wanted:
        thread.start()
    try:
        yield
    finally:
        ended.set()
        if wanted:
            thread.join()
            note(described())


@contextmanager
def _live(described: Callable[[], str]) -> Iterator[None]:
    from rich.progress import Progress, ProgressColumn, SpinnerColumn, Task, TimeElapsedColumn

    class Line(ProgressColumn):
        """The description as it is now, not as it was at the last update."""

        def render(self, task: Task) -> Text:
            return Text(printable(described()))

    page = Page(file=sys.stderr, markup=False, emoji=False, highlight=False, **colours(sys.stderr))
    with Progress(SpinnerColumn(), TimeElapsedColumn(), Line(), console=page, transient=True) as bar:
        bar.add_task("", total=None)
        yield


@contextmanager
def waiting(doing: str) -> Iterator[None]:
    """A spinner with the seconds on stderr while something runs; nothing where stderr is no terminal."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    page = Page(file=sys.stderr, markup=False, emoji=False, highlight=False, **colours(sys.stderr))
    columns = SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn()
    with Progress(*columns, console=page, transient=True) as bar:
        bar.add_task(f"{doing} (Ctrl-C ends)", total=None)
        yield
