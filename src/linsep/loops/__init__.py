"""The compiled loops: the only place where speed is written by hand.

Each module is loaded when it is first asked for (`loops.scans.scan`), because Numba takes longer to import than a
small table takes to decide. All of them take `njit` from `compiler`, which says when something is compiled.
"""

from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from linsep.loops import checksums as checksums
    from linsep.loops import circuits as circuits
    from linsep.loops import column_scores as column_scores
    from linsep.loops import gram as gram
    from linsep.loops import numbers as numbers
    from linsep.loops import pairs as pairs
    from linsep.loops import peeling as peeling
    from linsep.loops import relaxation as relaxation
    from linsep.loops import residues as residues
    from linsep.loops import scans as scans
    from linsep.loops import shuffling as shuffling
    from linsep.loops import supports as supports
    from linsep.loops import sweeps as sweeps
    from linsep.loops import text_hash as text_hash
    from linsep.loops import transpose as transpose
    from linsep.loops import vertices as vertices


def __getattr__(name: str) -> ModuleType:
    if not (Path(__file__).parent / f"{name}.py").is_file():
        raise AttributeError(f"linsep.loops has no attribute {name!r}")
    return import_module(f"linsep.loops.{name}")
