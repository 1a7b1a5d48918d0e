"""Numba, made ready: a folder for its cache, and a word to the user when it compiles, which takes seconds.

Numba takes a loop from its cache when the file that holds the loop is as old as it was. The loops of one file are
compiled into those of another, so `njit` makes that the content of the whole folder: after an update that leaves some
files as they were, no loop runs with yesterday's code inside.
"""

import hashlib
import os
import pickle
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from numba.core import caching, event

from linsep.loops.cache_folder import ensure_cache_folder

CONTENT = hashlib.sha256(b"".join(file.read_bytes() for file in sorted(Path(__file__).parent.glob("*.py")))).hexdigest()


class LoopFile(caching.IndexDataCacheFile):  # type: ignore[misc]
    """The cache of one loop; what another version left there, and cannot be read now, is compiled anew."""

    def _load_index(self) -> Any:
        try:
            return super()._load_index()
        except (ImportError, AttributeError, EOFError, pickle.UnpicklingError):
            return {}


def njit(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """`numba.njit`, its cache good for this content of the folder only."""

    def declare(function: Callable[..., Any]) -> Any:
        loop = numba.njit(**options)(function)
        cache = loop._cache
        cache._cache_file = LoopFile(cache._cache_path, cache._impl.filename_base, CONTENT)
        return loop

    return declare


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
