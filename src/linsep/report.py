"""One way to present a result: a `Report`, rendered as text, for a terminal, as HTML and as JSON.

A result builds its report in one method, `report`. Whatever is shown of it is made from that value alone, so that
`explain()`, `str()`, the command line and a notebook cannot disagree. A report is a title and parts of three kinds:

    Sentence    stands on its own; its name says what it is about, where there is room for it
    Fact        a name and a value
    Grid        a small table: its head, the rows shown, and how many more there are

A `RowNames` holds what the user calls the rows that a result names, and it alone makes text of those names.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from fractions import Fraction
from html import escape
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, final
from unicodedata import combining, east_asian_width

from linsep.errors import told

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions
    from rich.text import Text

    from linsep.picture import Picture

Tone: TypeAlias = Literal["yes", "no", "unsure", "plain"]
Where: TypeAlias = Callable[[Sequence[int]], Mapping[str, Sequence[str]]]  # more columns about some rows: file, line

LONGEST_NAME = 60  # characters of what a row is called
SHOWN = 8  # items of a list before it is cut with a count
SHOWN_ROWS = 10  # of a table
INDENT = 13  # where the text of a part begins on a terminal
STYLES: dict[Tone, str] = {"yes": "green", "no": "magenta", "unsure": "yellow", "plain": ""}
TONES: dict[bool | None, Tone] = {True: "yes", False: "no", None: "unsure"}
LONGEST = 80  # characters of a detail in a repr
NUMBER = re.compile(r"[-+]?[\d,.]+(e[-+]?\d+)?|-?|[-+]?inf")
# The class differs from that of the explorer, which may be on the same page. JupyterLab's rules for tables in an output
# name two classes, hence [class] beside ours.
CSS = """\
.linsep-report{font:13px/1.45 system-ui,sans-serif;max-width:60em}
.linsep-report{border-left:3px solid var(--tone);padding:2px 0 2px 12px}
.linsep-report.yes{--tone:#2f9e62}.linsep-report.no{--tone:#b5539c}
.linsep-report.unsure{--tone:#c98a1b}.linsep-report.plain{--tone:#8886}
.linsep-report[class] table{border-collapse:collapse;margin:4px 0;font:inherit;border:0}
.linsep-report[class] tr,.linsep-report[class] tr:nth-child(n){background:none}
.linsep-report[class] :is(th,td){text-align:left;vertical-align:top;padding:2px 14px 2px 0;border:0;font-weight:400}
.linsep-report[class] :is(th,td){max-width:none}
.linsep-report[class] :is(.head th,.name){opacity:.65;white-space:nowrap}
.linsep-report[class] .head th{border-bottom:1px solid #8888}.linsep-report svg{display:block;margin:8px 0}
.linsep-report[class] .number{text-align:right;font-variant-numeric:tabular-nums}"""

PAGE = """\
:root{color-scheme:light dark}body{margin:2em auto;max-width:62em;padding:0 1em;font-family:system-ui,sans-serif}
h1{font-size:1.5em}h2{font-size:1.1em;margin-top:2em}img{max-width:100%}"""


@final
@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence, and what it is about."""

    text: str
    name: str = ""


@final
@dataclass(frozen=True, slots=True)
class Fact:
    """A name and a value."""

    name: str
    text: str


@final
@dataclass(frozen=True, slots=True)
class Grid:
    """A table of text; `more` says what is not shown."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    more: str = ""

    @property
    def is_number(self) -> list[bool]:
        """Which columns hold only numbers, and so are aligned to the right."""
        columns = zip(*self.rows, strict=True) if self.rows else ((),) * len(self.head)
        return [all(NUMBER.fullmatch(cell) for cell in column) for column in columns]

    def lines(self) -> list[str]:
        """The table in aligned columns, the head first."""
        columns = list(zip(self.head, *self.rows, strict=True))
        padded = [_padded(column, right) for column, right in zip(columns, self.is_number, strict=True)]
        return ["   ".join(line).rstrip() for line in zip(*padded, strict=True)]

    def ruled(self) -> list[str]:
        """The same lines, with a rule below the head."""
        head, *rows = self.lines()
        return [head, "─" * max(map(_width, (head, *rows))), *rows]


Part: TypeAlias = Sentence | Fact | Grid


@final
@dataclass(frozen=True, slots=True)
class Report:
    """What there is to say about a result. Text from the data is made printable here, for every rendering."""

    title: str
    parts: tuple[Part, ...] = ()
    tone: Tone = "plain"
    picture: "Picture | None" = field(default=None, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "title", _clean(self.title))
        object.__setattr__(self, "parts", _clean(tuple(self.parts)))

    def __add__(self, parts: Iterable[Part]) -> "Report":
        return replace(self, parts=(*self.parts, *parts))

    def text(self) -> str:
        """Plain text: a line for each part, tables aligned."""
        return "\n".join([self.title, *(line for part in self.parts for line in _plain(part))])

    def terminal(self, width: int | None = None) -> Iterator[tuple[str, str]]:
        """The lines for a terminal, each with its style; the names of the parts have a column of their own."""
        yield from ((line, STYLES[self.tone]) for line in _folded(self.title, width, 0))
        yield from ((line, "") for part in self.parts for line in _terminal(part, width))

    def html(self) -> str:
        """A table for a notebook, in its colours, light or dark; nothing from the data is markup."""
        lines = "".join(map(_html, self.parts))
        drawn = "" if self.picture is None else self.picture.svg()
        return (
            f'<div class="linsep-report {self.tone}"><style>{CSS}</style><strong>{escape(self.title)}</strong>'
            f"{drawn}{f'<table>{lines}</table>' if lines else ''}</div>"
        )

    def page(self) -> bytes:
        """The same as a web page of its own."""
        return web_page(self.title, self.html())

    def json(self) -> dict[str, Any]:
        """The same as JSON: the title, and each part with its kind."""
        parts = [
            {"kind": type(part).__name__.lower(), **{f.name: getattr(part, f.name) for f in fields(part)}}
            for part in self.parts
        ]
        return {"title": self.title, "parts": parts}

    def __rich_console__(self, console: "Console", options: "ConsoleOptions") -> "Iterator[Text]":
        from rich.text import Text

        yield from (Text(line, style) for line, style in self.terminal(options.max_width))


class Reported:
    """A result with one presentation: its report is what text, a terminal and a notebook show."""

    __slots__ = ()

    def report(self) -> Report:
        """What there is to say about the result, as a value: see `linsep.report`."""
        raise NotImplementedError

    def explain(self) -> str:
        """The result in plain words."""
        return self.report().text()

    def __str__(self) -> str:
        return self.report().text()

    def __rich__(self) -> Report:
        return self.report()

    def _repr_html_(self) -> str:
        return self.report().html()


def web_page(title: str, body: str) -> bytes:
    """A self-contained page; the title is text, the body markup."""
    head = f'<meta charset="utf-8"><title>{escape(title)}</title><style>{PAGE}</style>'
    return f'<!doctype html>\n<html lang="en"><head>{head}</head>\n<body>{body}</body></html>\n'.encode()


def one_line(value: object, *details: str) -> str:
    """The repr of a result: what it is and what matters, each cut short."""
    cut = (detail if len(detail) <= LONGEST else f"{detail[: LONGEST - 3]}..." for detail in map(_clean, details))
    return f"<{type(value).__name__}: {', '.join(cut)}>"


def printable(text: str) -> str:
    """Text with its unprintable characters escaped, which could control a terminal; line ends stay."""
    return "".join(c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode() for c in text)


def _clean(value: Any) -> Any:
    """Printable text, its line ends escaped too, so that only linsep breaks lines."""
    if isinstance(value, str):
        return printable(value).replace("\n", "\\n")
    if isinstance(value, tuple):
        return tuple(map(_clean, value))
    if is_dataclass(value) and not isinstance(value, type):
        return type(value)(*(_clean(getattr(value, f.name)) for f in fields(value)))
    return value


def column_names(names: Any, n_columns: int) -> Sequence[str]:
    """What columns are called: by the names given, or x1, x2, ... as in the lectures."""
    if names is None:
        return [f"x{j + 1}" for j in range(n_columns)]
    from linsep import arguments  # it loads NumPy, and --help must not

    return arguments.names(names, n_columns)


def count(number: int, word: str) -> str:
    """1 pass, 2 passes, 1,000 rows."""
    plural = word + ("es" if word.endswith("s") else "s")
    return f"{number:,} {word if number == 1 else plural}"


def listed(items: Iterable[Any]) -> str:
    """The first items of a list, and how many more there are."""
    words = [str(item) for item in items]
    more = f" and {len(words) - SHOWN:,} more" if len(words) > SHOWN else ""
    return ", ".join(words[:SHOWN]) + more


def label_text(label: Any) -> str:
    """A label in a table: text without quotes."""
    return label if isinstance(label, str) and label.isprintable() else told(label)


@final
@dataclass(frozen=True, slots=True)
class RowNames:
    """What the user calls the rows that a result names, by their numbers.

    `word` is what such a name is: an "id", or a "file number", which counts the rejected rows too. `column` is the
    column of the table that holds the ids, where one does. Rows of files are numbered without those that were rejected;
    other rows keep their numbers in the table, whichever were dropped.
    """

    known: Mapping[int, Any]
    word: str = "id"
    column: str | None = None

    def ids(self, rows: Iterable[int]) -> tuple[Any, ...]:
        """What these rows are called, each as the user has it."""
        return tuple(self.known.get(row) for row in rows)

    def texts(self, rows: Sequence[int]) -> list[str]:
        """The same for a sentence; rows with the same name are told apart by their numbers."""
        texts = [name_text(name, is_quoted=True) for name in self.ids(rows)]
        twice = {
            text for text, times in Counter(text for _, text in {*zip(rows, texts, strict=True)}).items() if times > 1
        }
        return [f"{text} (row {row})" if text in twice else text for text, row in zip(texts, rows, strict=True)]

    def facts(self) -> dict[str, Any]:
        """The names as fields of JSON."""
        return {f"{self.word.replace(' ', '_')}s": {str(row): plain_name(name) for row, name in self.known.items()}}


def name_text(name: Any, *, is_quoted: bool = False) -> str:
    """What a row is called; in a sentence, text in quotes if it would be taken for several names."""
    if is_nameless(name):
        return "-"
    if isinstance(name, tuple):
        return f"({', '.join(map(name_text, name))})"
    text = str(name).removesuffix(" 00:00:00")
    short = text if len(text) <= LONGEST_NAME else f"{text[: LONGEST_NAME - 3]}..."
    return told(short) if is_quoted and (", " in short or short.strip() != short or not short) else short


def is_nameless(name: Any) -> bool:
    """Whether a row has no name: None, NaN, NaT, or pandas' NA, which answers every comparison with NA."""
    if name is None or type(name).__name__ == "NAType":
        return True
    try:
        return bool(name != name)
    except ValueError:  # an array
        return False


def plain_name(name: Any) -> Any:
    """What a row is called, as a value of JSON: text, a number, a list of those; everything else as text."""
    if is_nameless(name):
        return None
    if isinstance(name, tuple):
        return list(map(plain_name, name))
    is_plain = isinstance(name, str | int) or (isinstance(name, float) and abs(name) != float("inf"))
    return name if is_plain else str(name)


def row_texts(rows: Sequence[int], names: RowNames | None) -> list[str]:
    """Rows by what they are called, for a sentence: their numbers, if they have no other names."""
    return list(map(str, rows)) if names is None else names.texts(rows)


def row_columns(rows: Sequence[int], names: RowNames | None, where: Where | None) -> dict[str, Sequence[str]]:
    """The first columns of a table about rows: their numbers, what they are called, where they are found."""
    called = {} if names is None else {names.word: list(map(name_text, names.ids(rows)))}
    return {"row": list(map(str, rows)), **called, **(where(rows) if where else {})}


def row_grid(
    rows: Sequence[int],
    columns: Mapping[str, Sequence[str]],
    where: Where | None = None,
    names: RowNames | None = None,
) -> Grid:
    """The first rows of some, where they are found, and what there is to say about each."""
    shown = rows[:SHOWN_ROWS]
    known = {**row_columns(shown, names, where), **columns}
    lines = zip(*(column[: len(shown)] for column in known.values()), strict=True)
    hidden = len(rows) - len(shown)
    return Grid(tuple(known), tuple(lines), f"... and {count(hidden, 'more row')}." if hidden else "")


def linear(terms: Iterable[tuple[Any, str]], most: int | None = None) -> str:
    """A sum as people write it: 4·x1 - x2 + 2. At most `most` named terms, then how many more there are."""
    parts = [(value, name) for value, name in terms if value]
    named, bare = [part for part in parts if part[1]], [part for part in parts if not part[1]]
    text = "".join(_term(*part) for part in named[:most])
    if most is not None and len(named) > most:
        text += f" + ... ({len(named) - most:,} more terms)"
    text += "".join(_term(*part) for part in bare) or ("" if named else " + 0")
    return text.removeprefix(" + ") if text.startswith(" + ") else f"-{text[3:]}"


def run_ended(
    converged: bool,
    updates: int,
    passes: int,
    plane: str,
    doubtful: int = 0,
    was: str = "",
    separable: bool | None = None,
) -> str:
    """How a run ended; `was` says what stopped it, if anything did, `separable` what is proved about the rows."""
    done = f"{count(updates, 'update')} in {count(passes, 'pass')}"
    if converged and doubtful:
        near = "1 row lies" if doubtful == 1 else f"{doubtful:,} rows lie"
        return f"Undecided: a pass without a mistake after {done}, but {near} within rounding error of the hyperplane."
    if converged:
        return f"Separated after {done}{': ' if plane else ''}{plane}"
    if separable is not None:
        proved = (
            "the classes are separable (proved), and the run needs more updates"
            if separable
            else "no hyperplane separates the classes (proved), so the updates never end"
        )
        return f"{(was or 'not separated yet').capitalize()} after {done}: {proved}."
    return (
        f"Undecided: {was or 'not separated yet'} after {done}, which proves nothing: "
        "it may need more updates, or no hyperplane may separate the classes."
    )


def bounded(updates: float) -> Sentence:
    """Novikoff's bound, to be shown with a run."""
    return Sentence(f"Novikoff's bound for these rows: at most {updates:,.0f} updates, in any order.", "bound")


def rows_left_out(rows: int, what: str = "not part of the proof", *, dropped: int = 0) -> list[Part]:
    """How many rows were left out, about which nothing is claimed; if they were dropped, row numbers count them too."""
    counted = " The row numbers count them." if dropped else ""
    return [Sentence(f"{count(rows, 'row')} left out, {what}.{counted}", "left out")] if rows else []


def most_corrected(mistakes_per_row: Any, names: RowNames | None = None) -> list[Part]:
    """The rows that a run of the Perceptron corrected most often."""
    if mistakes_per_row is None or not mistakes_per_row.any():
        return []
    order = by_corrections(mistakes_per_row)
    counts = [f"{number:,}" for number in mistakes_per_row[order[:SHOWN_ROWS]].tolist()]
    return [Sentence("Corrected most often:", "rows"), row_grid(order.tolist(), {"updates": counts}, names=names)]


def by_corrections(mistakes_per_row: Any) -> Any:
    """The numbers of the rows that were corrected, most often first."""
    return (-mistakes_per_row).argsort(kind="stable")[: (mistakes_per_row > 0).sum()]


def _term(value: Any, name: str) -> str:
    sign, size = (" - ", -value) if value < 0 else (" + ", value)
    if not name:
        return sign + _size(size)
    return f"{sign}{name}" if size == 1 else f"{sign}{_size(size)}·{name}"


def _size(value: Any) -> str:
    """A number to six digits; a fraction exactly while it is short."""
    if isinstance(value, Fraction) and max(value.numerator, value.denominator) < 10**9:
        return str(value)
    try:
        return f"{float(value):.6g}"
    except OverflowError:  # an integer or a fraction beyond the largest double
        return f"2^{value.numerator.bit_length() - value.denominator.bit_length()}"


def _plain(part: Part) -> list[str]:
    match part:
        case Sentence():
            return [part.text]
        case Fact():
            return [f"{part.name}: {part.text}"]
        case Grid():
            return [*(f"  {line}" for line in part.lines()), *filter(None, [part.more])]


def _terminal(part: Part, width: int | None) -> list[str]:
    if not isinstance(part, Grid):
        return _folded(f"{part.name:<{INDENT}}{part.text}", width, INDENT)
    return [" " * INDENT + line for line in (*part.ruled(), *filter(None, [part.more]))]


def _html(part: Part) -> str:
    if not isinstance(part, Grid):
        return f'<tr><td class="name">{escape(part.name)}</td><td>{escape(part.text)}</td></tr>'
    kinds = [' class="number"' if is_number else "" for is_number in part.is_number]
    head = "".join(f"<th{kind}>{escape(cell)}</th>" for kind, cell in zip(kinds, part.head, strict=True))
    rows = "".join(
        f"<tr>{''.join(f'<td{kind}>{escape(cell)}</td>' for kind, cell in zip(kinds, row, strict=True))}</tr>"
        for row in part.rows
    )
    return f'<tr><td></td><td><table><tr class="head">{head}</tr>{rows}</table>{escape(part.more)}</td></tr>'


def _padded(column: Sequence[str], right: bool) -> list[str]:
    widest = max(map(_width, column))
    spaces = (" " * (widest - _width(cell)) for cell in column)
    return [space + cell if right else cell + space for space, cell in zip(spaces, column, strict=True)]


def _width(text: str) -> int:
    """How many places text takes on a terminal."""
    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in text)


def _folded(text: str, width: int | None, indent: int) -> list[str]:
    if width is None:
        return [text.rstrip()]
    rest = " " * indent
    return wrap(text, max(40, width), subsequent_indent=rest, break_long_words=False, break_on_hyphens=False) or [""]
