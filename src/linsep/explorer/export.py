"""The page as one HTML file: it computes by itself, and needs no server, no network and no Python.

Answers are recorded only for rows that are too wide to be moved: those that the page would ask a server for.

Its modules become one script, which a notebook needs too. Each names its imports one by one,
`import { a, b } from "./c.js";`, and no name is used in two modules, so it is enough to put them one after the other,
each after those it needs. Comments stay behind: lines of their own, and the types of JSDoc.
"""

import base64
import hashlib
import json
import posixpath
import re
from importlib import resources
from typing import TYPE_CHECKING, Any

from linsep.explorer import engine

if TYPE_CHECKING:
    from linsep.explorer.own_table import OwnTable

IMPORT = re.compile(r'^import \{[^}]*\} from "(\.\.?/[\w./-]+\.js)";$', re.MULTILINE)
EXPORT = re.compile(r"^export (?=async function|function|const|class)", re.MULTILINE)
COMMENT = re.compile(r"^ *//.*\n|^ */\*\*(?:[^*]|\*(?!/))*\*/\n|/\*\* @(?:[^*]|\*(?!/))*\*/ ", re.MULTILINE)
ORDERS = ("cyclic", "restart", "shuffled", "worst")
LONGEST = 400  # updates of a run that are recorded
ENDLESS = 60  # the same for a run that is longer, or never ends
MOST_ROWS = 300  # of a wide table: rows whose values are recorded
MOST_COLUMNS = 5  # of a wide table: columns that can be looked along


def page(table: "OwnTable | None" = None) -> str:
    """The whole page: with the presets, and with the rows of the table, if there is one."""
    start, asked = engine.beginning(table), engine.questions(table)
    biases = (True, False) if asked else ()
    record = [question for bias in biases for question in _wide(asked, start["own"], bias)]
    record = list({json.dumps([entry["name"], entry["body"]]): entry for entry in record}.values())
    data = json.dumps({"start": start, "record": record}, allow_nan=False, separators=(",", ":"))
    return _document(data.replace("<", "\\u003c"))  # so that nothing in it can end the script element


def _wide(asked: dict[str, Any], own: dict[str, Any], bias: bool) -> list[dict[str, Any]]:
    orders = ORDERS if bias == own["bias"] else ("cyclic",)
    runs = [{"order": order, "bias": bias, "seed": 0} for order in orders]
    columns = range(min(len(own["columns"]), MOST_COLUMNS))
    looks = [None, *([i, j] for i in columns for j in columns if i != j)]
    bodies = [{"columns": look, "bias": bias} for look in looks]
    views = [{"name": "view", "body": body, "answer": asked["view"](body)} for body in bodies]
    first = views[0]["answer"]
    rows = sorted({*first["support"], *first["obstruction"], *first["rows"][:MOST_ROWS]})
    return [
        *({"name": "run", "body": run, "answer": _shortened(asked["run"](run | {"updates": LONGEST}))} for run in runs),
        *views,
        *({"name": "row", "body": {"row": row}, "answer": asked["row"]({"row": row})} for row in rows),
    ]


def _shortened(answer: engine.Answer) -> engine.Answer:
    steps = answer["steps"]
    if steps["converged"]:
        return answer
    shorter = {name: value[:ENDLESS] if isinstance(value, list) else value for name, value in steps.items()}
    return answer | {"steps": shorter}


def _document(data: str) -> str:
    style, script = page_text("style.css"), bundle("exported.js")
    policy = (
        f"default-src 'none'; script-src '{_digest(script)}'; style-src '{_digest(style)}'; img-src blob: data:; "
        "base-uri 'none'; form-action 'none'"
    )
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>linsep explorer</title>
<style>{style}</style>
</head>
<body>
<div class="linsep" id="explorer"></div>
<script type="application/json" id="record">{data}</script>
<script type="module">{script}</script>
</body>
</html>
"""


def _digest(text: str) -> str:
    """The digest by which the policy identifies an inline script or style."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def page_names() -> list[str]:
    """The names of all files of the page, in its folder and below."""
    folder = resources.files("linsep.explorer") / "page"
    found = [(item.name, item) for item in folder.iterdir()]
    below = [(f"{name}/{item.name}", item) for name, place in found if place.is_dir() for item in place.iterdir()]
    return sorted(name for name, item in found + below if item.is_file())


def page_text(name: str) -> str:
    """One file of the page."""
    return resources.files("linsep.explorer").joinpath("page", *name.split("/")).read_text("utf-8")


def bundle(entry: str) -> str:
    """The module `entry` and all that it imports, in one text without imports, exports and comments."""
    done: list[str] = []
    parts: list[str] = []

    def visit(name: str) -> None:
        if name in done:
            return
        done.append(name)
        source = page_text(name)
        for needed in IMPORT.findall(source):
            visit(posixpath.normpath(posixpath.join(posixpath.dirname(name), needed)))
        parts.append(COMMENT.sub("", EXPORT.sub("", IMPORT.sub("", source))).strip())

    visit(entry)
    return "\n\n".join(parts) + "\n"
