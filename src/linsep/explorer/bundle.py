"""The page's modules as one, for places that take a single script: a notebook, and a file that stands alone.

The modules name their imports one by one, `import { a, b } from "./c.js";`, and no two of them use a name twice, so
that putting them one after the other, each after those it needs, is all it takes.
"""

import re
from importlib import resources

IMPORT = re.compile(r'^import \{[^}]*\} from "\./([\w-]+\.js)";$', re.MULTILINE)
EXPORT = re.compile(r"^export (?=async function|function|const|class)", re.MULTILINE)


def page_text(name: str) -> str:
    """One file of the page."""
    return (resources.files("linsep.explorer") / "page" / name).read_text("utf-8")


def bundle(entry: str) -> str:
    """The module `entry` and all that it imports, in one text without imports or exports."""
    done: list[str] = []
    parts: list[str] = []

    def visit(name: str) -> None:
        if name in done:
            return
        done.append(name)
        source = page_text(name)
        for needed in IMPORT.findall(source):
            visit(needed)
        parts.append(EXPORT.sub("", IMPORT.sub("", source)).strip())

    visit(entry)
    return "\n\n".join(parts) + "\n"
