"""docs/errors.md from the classes of linsep.errors and the table linsep.faults: `make api`. A test holds it current."""

import inspect
import re
from pathlib import Path

from linsep import errors
from linsep.errors import LinsepError
from linsep.faults import FAULTS

DOTS = "…"
PAGE = Path(__file__).with_name("errors.md")
HEAD = """# Errors and their codes

Every error that linsep raises on purpose is a `LinsepError` with a `code` that never changes. An error says what
happened, then where, then what to do. Where it is known, it has `file`, `row` (counted from 0, below the header),
`line` (counted from 1), `column`, `value`, `byte` and `fix`; `facts()` gives all of them as a dictionary. With `--json`
the command line prints that dictionary as one line on stderr and exits with code 2 (`E-USAGE` and `E-FAULT`, which are
not about data, have only `code` and `message`); only results go to stdout. What scikit-learn itself checks of its
classifiers (that one was fitted, and has as many columns as before) it says in its own words.

Made by `make api`.

| code | class | what happened | what to do |
|---|---|---|---|
"""
COMMANDS = """\
| `E-USAGE` | none | The command line was not understood (--json). | linsep COMMAND --help lists the options. |
| `E-FAULT` | none | A bug in linsep, not of the data (--json; exit code 4). | Report it, with what --debug prints. |
"""
SENTENCES = """
## What is wrong with data

These faults have the same words wherever the rows come from: an array, a classifier, a stream or a file. The file, and
the place, such as `row 3 (line 5), column 'x' holds 'NA'`, stand before the sentence. The dots are filled in.

| code | what happened | what to do |
|---|---|---|
"""


def page() -> str:
    """The whole page."""
    told = {of_fault(name) for name in FAULTS if filled(FAULTS[name].what) != DOTS}
    return HEAD + "".join(map(of_class, classes())) + COMMANDS + SENTENCES + "".join(sorted(told))


def classes() -> list[type[LinsepError]]:
    """All kinds of errors, in the order of the module."""
    found = [kind for _, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, LinsepError)]
    return sorted(found, key=lambda kind: inspect.getsourcelines(kind)[1])


def of_class(kind: type[LinsepError]) -> str:
    """A class as a row of the table: its first sentence says what happened, its second what to do."""
    what, _, fix = " ".join((inspect.getdoc(kind) or "").split()).partition(". ")
    return f"| `{kind.code}` | `{kind.__name__}` | {what}. | {fix} |\n"


def of_fault(name: str) -> str:
    """A fault as a row of the table."""
    kind, what, fix = (FAULTS[name].kind, *map(filled, FAULTS[name][1:]))
    return f"| `{kind.code}` | {what} | {fix} |\n"


def filled(sentence: str) -> str:
    """A sentence with dots for its words."""
    return re.sub(r"\{\w+[^}]*\}", DOTS, sentence).replace("{{", "{").replace("}}", "}")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
