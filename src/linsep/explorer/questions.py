"""What a page may ask, by name, whoever carries the question: a server, a notebook, or a file that recorded it."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from linsep.explorer import engine, requests
from linsep.explorer.presets import presets

if TYPE_CHECKING:
    from linsep.explorer.own_table import OwnTable

Job = Callable[[Any], Any]


def questions(table: "OwnTable | None" = None) -> dict[str, Job]:
    """What may be asked, by name: each takes a JSON value and gives one."""
    jobs: dict[str, Job] = {
        "explore": lambda body: engine.explore(requests.read_points(body)),
        "keep": lambda body: engine.keep(*requests.read_box(body)),
    }
    return jobs if table is None else jobs | table.questions()


def beginning(table: "OwnTable | None" = None) -> dict[str, Any]:
    """What the page must know before it asks: the presets, the limits, and the user's own table, if there is one."""
    return {
        "presets": presets(),
        "own": None if table is None else table.beginning(),
        "limits": {"points": requests.MOST_POINTS, "updates": requests.MOST_UPDATES},
    }
