"""docs/commands.md from the help of the commands: `make api`. A test holds that the page is current."""

import re
from collections import Counter
from collections.abc import Iterable
from io import StringIO
from pathlib import Path

from rich.console import Console

from linsep.cli import app

PAGE = Path(__file__).with_name("commands.md")
WIDE = 2000  # columns: every option of the help stands on one line
SHARED = 5  # an option that this many commands describe in the same words is described once
HEAD = """# Commands and options

Every command and every option, from `linsep COMMAND --help`. What they print, with examples, is on the page
[the command line](command-line.md); what the exit codes mean stands [there](command-line.md#exit-codes) too.

Made by `make api`.
"""
OPTION = re.compile(r"^│ (?:\*? +)?(-\S*(?: -\S+)*)(?: ([A-Z]+(?:\.\.\.)?))? {2,}(\S.*?) *│$")
Options = dict[str, str]  # what is typed, such as `--label STR`, and what it means


def page() -> str:
    """The whole page: a list of commands, the options they share, and one section for each."""
    helps = {name: help_of(name) for name in sorted(app) if not name.startswith("-")}
    found = {name: options(text) for name, text in helps.items()}
    counts = Counter(pair for each in found.values() for pair in each.items())
    shared = dict(sorted(pair for pair, times in counts.items() if times >= SHARED))
    parts = [HEAD, contents(helps), "## Options that many commands share", table(shared.items())]
    parts += [section(name, helps[name], found[name], shared) for name in helps]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def help_of(name: str) -> str:
    """The help of a command, each paragraph and each option on one line."""
    console = Console(file=StringIO(), width=WIDE, color_system=None, legacy_windows=False)
    app.help_print([name], console=console)
    return console.file.getvalue()  # type: ignore[attr-defined]


def options(text: str) -> Options:
    """The options in a help."""
    found = (OPTION.match(line) for line in text.splitlines())
    return {" ".join(filter(None, one.group(1, 2))): one.group(3) for one in found if one}


def prose(text: str) -> list[str]:
    """The lines of a help outside its panels: usage, what it does, example, exit codes."""
    return [line.strip() for line in text.splitlines() if line.strip() and line[0] not in "│╭╰"]


def coded(text: str) -> str:
    """A sentence with the options in it as code, so that no page setter makes a dash of --."""
    return re.sub(r"(?<![\w`-])--[a-z][\w-]*", r"`\g<0>`", text)


def contents(helps: dict[str, str]) -> str:
    """The commands, each with the first sentence of its help."""
    rows = ((f"[{name}](#{name})", coded(prose(text)[1])) for name, text in helps.items())
    return rows_of(("command", "what it does"), rows)


def section(name: str, text: str, found: Options, shared: Options) -> str:
    """One command."""
    usage, *told = prose(text)
    own = {typed: what for typed, what in found.items() if shared.get(typed) != what}
    also = ", ".join(f"`{typed.split()[0]}`" for typed in found if typed not in own)
    parts = [f"## {name}", f"```text\n{usage.removeprefix('Usage: ')}\n```"]
    parts += [coded(line) for line in told if not tail(line)]
    parts += [table(own.items())] if own else []
    parts += [f"Also {also}: [above](#options-that-many-commands-share)."] if also else []
    return "\n\n".join([*parts, *(marked(line) for line in told if tail(line))])


def tail(line: str) -> bool:
    """The lines below the options."""
    return line.startswith(("Example: ", "Exit codes: "))


def marked(line: str) -> str:
    """An example as code; exit codes as a sentence."""
    return re.sub(r"^Example: (.*)", r"Example: `\1`", line) if line.startswith("Example") else coded(line)


def table(found: Iterable[tuple[str, str]]) -> str:
    """Options and what they mean."""
    return rows_of(("option", "meaning"), ((f"`{typed}`", coded(what)) for typed, what in found))


def rows_of(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A Markdown table."""
    lines = [tuple(heads), ("---", "---"), *map(tuple, rows)]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
