"""The compiled loops: the only place where speed is written by hand.

Each module is loaded when it is first asked for (`kernels.scans.scan`), because Numba takes longer to import than a
small table takes to decide. All of them take `njit` from `compiler`, which says when something is compiled.
"""

from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from linsep.kernels import checksums as checksums
    from linsep.kernels import column_scores as column_scores
    from linsep.kernels import gram as gram
    from linsep.kernels import numbers as numbers
    from linsep.kernels import peeling as peeling
    from linsep.kernels import residues as residues
    from linsep.kernels import scans as scans
    from linsep.kernels import shuffling as shuffling
    from linsep.kernels import sweeps as sweeps
    from linsep.kernels import text_hash as text_hash
    from linsep.kernels import transpose as transpose


def __getattr__(name: str) -> ModuleType:
    if not (Path(__file__).parent / f"{name}.py").is_file():
        raise AttributeError(f"linsep.kernels has no attribute {name!r}")
    return import_module(f"linsep.kernels.{name}")
