"""The page as one HTML file with its runs recorded: it needs no server, no network and no Python."""

import base64
import hashlib
import json
from itertools import product
from typing import TYPE_CHECKING, Any

from linsep.explorer import engine
from linsep.explorer.bundle import bundle, page_text
from linsep.explorer.questions import beginning, questions

if TYPE_CHECKING:
    from linsep.explorer.tables import OwnTable

ORDERS = ("cyclic", "restart", "shuffled", "worst")
LONGEST = 400  # updates recorded of a run
ENDLESS = 60  # of a run that never ends: enough to see that it does not
MOST_ROWS = 300  # of a wide table: rows whose values are recorded
MOST_COLUMNS = 5  # of a wide table: columns that can be looked along


def page(table: "OwnTable | None" = None) -> str:
    """The whole page: the presets, or the rows of the table alone, with every run that its switches lead to."""
    start, asked = beginning(table), questions(table)
    own = start["own"]
    if own and own["preset"]:
        start["presets"] = [own["preset"]]
        start["own"] = own | {"preset": own["preset"]}
    if own and not own["preset"]:
        record = [*_wide(asked, len(own["columns"]), own["bias"])]
        start["presets"] = []
    else:
        record = [_flat(asked, preset, *choice) for preset in start["presets"] for choice in _choices(preset)]
    data = json.dumps({"start": start, "record": record}, allow_nan=False, separators=(",", ":"))
    return _document(data.replace("<", "\\u003c"))  # nothing in it can end the script element


def _choices(preset: dict[str, Any]) -> list[tuple[str, bool]]:
    return [
        (order, bias) for order, bias in product(ORDERS, (True, False)) if order == "cyclic" or bias == preset["bias"]
    ]


def _flat(asked: dict[str, Any], preset: dict[str, Any], order: str, bias: bool) -> dict[str, Any]:
    key = {"points": preset["points"], "labels": preset["labels"], "order": order, "bias": bias, "seed": 0}
    answer = asked["explore"](key | {"updates": LONGEST})
    return {"name": "explore", "body": key, "answer": _shortened(answer)}


def _wide(asked: dict[str, Any], width: int, bias: bool) -> list[dict[str, Any]]:
    run = {"order": "cyclic", "bias": bias, "seed": 0}
    columns = range(min(width, MOST_COLUMNS))
    looks = [None, *([i, j] for i in columns for j in columns if i != j)]
    views = [{"name": "view", "body": {"columns": look}, "answer": asked["view"]({"columns": look})} for look in looks]
    first = views[0]["answer"]
    rows = sorted({*first["support"], *first["obstruction"], *first["rows"][:MOST_ROWS]})
    return [
        {"name": "run", "body": run, "answer": _shortened(asked["run"](run | {"updates": LONGEST}))},
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
