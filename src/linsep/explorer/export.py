"""The page as one HTML file with its runs recorded: it needs no server, no network and no Python.

Its modules become one script, as a notebook needs it too. They name their imports one by one,
`import { a, b } from "./c.js";`, and no two of them use a name twice, so that putting them one after the other, each
after those it needs, is all it takes.
"""

import base64
import hashlib
import json
import re
from importlib import resources
from itertools import product
from typing import TYPE_CHECKING, Any

from linsep.explorer import engine

if TYPE_CHECKING:
    from linsep.explorer.own_table import OwnTable

IMPORT = re.compile(r'^import \{[^}]*\} from "\./([\w-]+\.js)";$', re.MULTILINE)
EXPORT = re.compile(r"^export (?=async function|function|const|class)", re.MULTILINE)
ORDERS = ("cyclic", "restart", "shuffled", "worst")
LONGEST = 400  # updates recorded of a run
ENDLESS = 60  # of a run that never ends: enough to see that it does not
MOST_ROWS = 300  # of a wide table: rows whose values are recorded
AROUND = 1.3  # as `viewOf` of the page: room around the points
MOST_COLUMNS = 5  # of a wide table: columns that can be looked along


def page(table: "OwnTable | None" = None) -> str:
    """The whole page: the presets, or the rows of the table alone, with every run that its switches lead to."""
    start, asked = engine.beginning(table), engine.questions(table)
    own = start["own"]
    if own and own["preset"]:
        start["presets"] = [own["preset"]]
    if own and not own["preset"]:
        record = [question for bias in (True, False) for question in _wide(asked, own, bias)]
        start["presets"] = []
    else:
        choices = product(start["presets"], ORDERS, (True, False))
        chosen = [choice for choice in choices if choice[1] == "cyclic" or choice[2] == choice[0]["bias"]]
        record = [make(asked, *choice) for choice in chosen for make in (_flat, _kept)]
    record = list({json.dumps([entry["name"], entry["body"]]): entry for entry in record}.values())
    data = json.dumps({"start": start, "record": record}, allow_nan=False, separators=(",", ":"))
    return _document(data.replace("<", "\\u003c"))  # nothing in it can end the script element


def _flat(asked: dict[str, Any], preset: dict[str, Any], order: str, bias: bool) -> dict[str, Any]:
    key = {"points": preset["points"], "labels": preset["labels"], "order": order, "bias": bias, "seed": 0}
    answer = asked["explore"](key | {"updates": LONGEST})
    return {"name": "explore", "body": key, "answer": _shortened(answer)}


def _kept(asked: dict[str, Any], preset: dict[str, Any], order: str, bias: bool) -> dict[str, Any]:
    """The four ways to keep weights, in the view that `viewOf` of the page gives these points."""
    key = {"points": preset["points"], "labels": preset["labels"], "order": order, "bias": bias, "seed": 0}
    return {"name": "keep", "body": key, "answer": asked["keep"](key | {"box": _box(preset["points"], bias)})}


def _box(points: list[list[float]], bias: bool) -> list[float]:
    """What shows all points; without bias also their mirror images. A square: left, right, bottom, top."""
    shown = points if bias else [*points, *([-x, -y] for x, y in points)]
    xs, ys = [x for x, _ in shown], [y for _, y in shown]
    half = AROUND * (max(max(xs) - min(xs), max(ys) - min(ys)) / 2 or 1.0)
    across, up = (min(xs) + max(xs)) / 2, (min(ys) + max(ys)) / 2
    return [across - half, across + half, up - half, up + half]


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
    style, script = page_text("style.css"), bundle("recorded.js")
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
    """What the policy knows an inline script or style by."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


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
