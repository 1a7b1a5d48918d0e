"""The compiled loops: the only place where speed is written by hand.

Each module is loaded when it is first asked for (`kernels.walks.scan`), because Numba takes longer to import than a
small table takes to decide. All of them take `njit` from `compiler`, which says when something is compiled.
"""

from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from linsep.kernels import checksums as checksums
    from linsep.kernels import columnar as columnar
    from linsep.kernels import columns as columns
    from linsep.kernels import gram as gram
    from linsep.kernels import interleave as interleave
    from linsep.kernels import learning as learning
    from linsep.kernels import numbers as numbers
    from linsep.kernels import residues as residues
    from linsep.kernels import shuffling as shuffling
    from linsep.kernels import text as text
    from linsep.kernels import walks as walks


def __getattr__(name: str) -> ModuleType:
    if not (Path(__file__).parent / f"{name}.py").is_file():
        raise AttributeError(f"linsep.kernels has no attribute {name!r}")
    return import_module(f"linsep.kernels.{name}")
