"""The compiled loops: the only place where speed is written by hand.

Each module is loaded when it is first asked for (`kernels.walks.scan`), because Numba takes longer to import than a
small table takes to decide. Compiling takes seconds, once on a machine, and is said on stderr when it happens.
"""

import os
import sys
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

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
    from linsep.kernels import signs as signs
    from linsep.kernels import text as text
    from linsep.kernels import walks as walks


def __getattr__(name: str) -> ModuleType:
    if name.startswith("_"):
        raise AttributeError(f"linsep.kernels has no attribute {name!r}")
    tell_of_compiling()
    return import_module(f"linsep.kernels.{name}")


@cache
def tell_of_compiling() -> None:
    """From now on the first loop that is not in Numba's cache is announced; LINSEP_QUIET=1 silences that."""
    from numba.core import event

    class Announcer(event.Listener):  # type: ignore[misc]
        """Speaks once."""

        def on_start(self, _: Any) -> None:
            """A loop is being compiled: it was not in the cache."""
            event.unregister("numba:compile", self)
            if not os.environ.get("LINSEP_QUIET") and sys.stderr is not None:
                print("linsep: compiling, once on this machine; this takes a while.", file=sys.stderr, flush=True)

        def on_end(self, _: Any) -> None:
            """Nothing to say."""

    event.register("numba:compile", Announcer())
