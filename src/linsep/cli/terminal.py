"""What the commands print: results on stdout, everything else on stderr; plain text where it is not a terminal."""

import json
import os
import sys
from pathlib import Path
from typing import Any, TextIO

from rich.console import Console
from rich.text import Text

from linsep.cli import stdio
from linsep.report import Report
from linsep.report import count as count
from linsep.report import printable as printable

WIDE = 160  # characters of a line where the output is not a terminal


class Page(Console):
    """A console whose reader may leave: Rich would exit with code 1, which is a verdict here."""

    def on_broken_pipe(self) -> None:
        """Raise the error that is being handled again, for the caller of `print`."""
        raise

    def print(self, *objects: Any, **options: Any) -> None:
        """Print, or raise UnshownError."""
        with stdio.shown():
            super().print(*objects, **options)


def console(stream: TextIO) -> Console:
    """A page that prints text as it is: a column called [red] stays a column."""
    width = None if stream.isatty() else WIDE
    return Page(file=stream, width=width, markup=False, emoji=False, highlight=False, soft_wrap=True, **colours(stream))


def colours(stream: TextIO) -> dict[str, Any]:
    """Whether to style: on a terminal, or if FORCE_COLOR is set; never in colour if NO_COLOR is set."""
    forced = os.environ.get("FORCE_COLOR", "") not in ("", "0")
    plain = os.environ.get("NO_COLOR", "") != ""
    return {"force_terminal": stream.isatty() or forced, "color_system": None if plain else "auto"}


def say(text: str = "", style: str = "") -> None:
    """A line of the result."""
    console(sys.stdout).print(Text(printable(text), style))


def show(found: Report) -> None:
    """A result: folded between words on a terminal, and marked there by the colour of its title."""
    page = console(sys.stdout)
    for line, style in found.terminal(page.width if sys.stdout.isatty() else None):
        page.print(Text(line, style))


def note(text: str) -> None:
    """A remark that is not part of the result: if it cannot be printed, the command continues."""
    with stdio.unheard():
        console(sys.stderr).print(Text(printable(text), "dim"))


def note_rejected(rows: int, path: str | None, more: str = "") -> None:
    """How many rows were rejected to a file, if any; without a path, how many were dropped for missing values."""
    if rows:
        were = "was" if rows == 1 else "were"
        what, done = ("bad row", f"rejected: see {path}") if path else ("row", "dropped for missing values")
        note(f"{count(rows, what)} {were} {done}.{more}")


def complain(text: str, facts: "dict[str, Any] | None" = None) -> None:
    """An error in one line: of text, or of JSON if its facts are given."""
    with stdio.unheard():
        if facts is not None:
            print(json.dumps(facts, ensure_ascii=False), file=sys.stderr, flush=True)
        else:
            console(sys.stderr).print(Text.assemble(("linsep: ", "bold red"), printable(text)))


def say_json(value: Any) -> None:
    """One line of JSON."""
    with stdio.shown():
        print(json.dumps(value, allow_nan=False, ensure_ascii=False))


def program() -> list[str]:
    """How the user calls this program from the current folder."""
    import shutil

    called = Path(sys.argv[0])
    if not called.name.startswith("linsep"):
        modules = {("cli", "__main__.py"): "linsep.cli", ("linsep", "__main__.py"): "linsep"}
        module = modules.get((called.parent.name, called.name))
        return ["python", "-m", module] if module else ["linsep"]
    known = shutil.which("linsep")
    if known and called.exists() and Path(known).samefile(called):
        return ["linsep"]
    inside = called.is_absolute() and called.is_relative_to(Path.cwd())
    return [str(called.relative_to(Path.cwd()) if inside else called)]


def beside(name: str) -> str:
    """How the user calls another program of the same environment, such as python or pip."""
    own = program()[0]
    return str(Path(own).with_name(name)) if os.sep in own else name
