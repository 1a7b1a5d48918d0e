"""Numba, made ready: a folder for its cache, and a word to the user when it compiles, which takes seconds."""

import os
import sys
from typing import Any

from numba import njit as njit
from numba.core import event

from linsep.loops.cache_folder import ensure_cache_folder


class Announcer(event.Listener):  # type: ignore[misc]
    """Says once that a loop is compiled because it was not in the cache; LINSEP_QUIET=1 silences that."""

    def on_start(self, _: Any) -> None:
        """The first loop is about to be compiled."""
        event.unregister("numba:compile", self)
        if not os.environ.get("LINSEP_QUIET") and sys.stderr is not None:
            print("linsep: compiling, once on this machine; this takes a while.", file=sys.stderr, flush=True)

    def on_end(self, _: Any) -> None:
        """Nothing to say."""


ensure_cache_folder()  # before any loop is declared
event.register("numba:compile", Announcer())
