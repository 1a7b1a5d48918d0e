"""Node, which runs the tests of the page's engine: an installed one, or that of the extras `test` and `lint`."""

import os
import shutil
import sys
from pathlib import Path

MISSING = (
    "The tests of the page's engine need Node 20 or later: install nodejs, or name one (LINSEP_NODE=/path/to/node)."
)


def installed():
    """The path of Node, or None."""
    beside = Path(sys.executable).parent / "node"
    return os.environ.get("LINSEP_NODE") or shutil.which("node") or (str(beside) if beside.exists() else None)
