"""Numba, set up: a folder for its cache, and a message to the user when it compiles, which takes seconds.

Numba refuses to declare a loop with a cache if it finds no folder for it: a read-only install, used without a writable
home. The loops then go to a temporary folder, kept for the next run. Anybody who can write to it decides what code
runs, so it must be the user's own.

Numba takes a loop from its cache when the file that holds the loop is as old as it was. The loops of one file are
compiled into those of another, so `njit` makes that the content of the whole folder: after an update that leaves some
files as they were, no loop runs with yesterday's code inside.

Ctrl-C waits for the loop that is being compiled: LLVM may crash when half-built code is cleaned up.
"""

import hashlib
import os
import pickle
import signal
import stat
import sys
import tempfile
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numba
from numba import config
from numba.core import caching, event

from linsep._version import __version__
from linsep.errors import ArgumentError


def ensure_cache_folder() -> None:
    """Set NUMBA_CACHE_DIR to a temporary folder, and say so, if Numba finds no folder of its own."""
    if _has_folder():
        return
    try:
        folder = _temporary_folder()
    except OSError:
        raise ArgumentError(
            "No cache folder for compiled code can be written. Set NUMBA_CACHE_DIR to a folder that can be written."
        ) from None
    os.environ["NUMBA_CACHE_DIR"] = config.CACHE_DIR = folder  # the environment is for child processes
    if sys.stderr is not None:
        told = f"cannot write to a cache folder for compiled code; using {folder}"
        print(f"linsep: {told}. Set NUMBA_CACHE_DIR to choose another.", file=sys.stderr, flush=True)


def _has_folder() -> bool:
    """Whether Numba can declare a loop with a cache here."""
    try:
        numba.njit(cache=True)(_has_folder)  # declared only, never compiled
    except RuntimeError:  # "cannot cache function: no locator available"
        return False
    return True


def _temporary_folder() -> str:
    """A folder for this version, the same in every run; a new one if that belongs to others or they can write to it."""
    if sys.platform != "win32":  # there, stat does not tell owners and permissions
        folder = Path(tempfile.gettempdir(), f"linsep-{__version__}-numba-{os.geteuid()}")
        with suppress(FileExistsError):
            folder.mkdir(mode=0o700)
        found = folder.lstat()
        if stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & 0o077:
            return str(folder)
    return tempfile.mkdtemp(prefix="linsep-numba-")


CONTENT = hashlib.sha256(b"".join(file.read_bytes() for file in sorted(Path(__file__).parent.glob("*.py")))).hexdigest()


class LoopFile(caching.IndexDataCacheFile):  # type: ignore[misc]
    """The cache of one loop; an entry of another version that cannot be read is compiled again."""

    def _load_index(self) -> Any:
        try:
            return super()._load_index()
        except (ImportError, AttributeError, EOFError, pickle.UnpicklingError):
            return {}


def njit(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """`numba.njit` with a cache that is valid only for the present content of this folder."""

    def declare(function: Callable[..., Any]) -> Any:
        loop = numba.njit(**options)(function)
        cache = loop._cache
        cache._cache_file = LoopFile(cache._cache_path, cache._impl.filename_base, CONTENT)
        return loop

    return declare


class Announcer(event.Listener):  # type: ignore[misc]
    """Prints a message, once in a process, when a loop is not in the cache and is compiled; not if LINSEP_QUIET=1."""

    def on_start(self, _: Any) -> None:
        """The first loop is about to be compiled."""
        event.unregister("numba:compile", self)
        if not os.environ.get("LINSEP_QUIET") and sys.stderr is not None:
            print("linsep: compiling this part, once on this machine; this takes a while.", file=sys.stderr, flush=True)

    def on_end(self, _: Any) -> None:
        """Nothing to say."""


class InterruptLater(event.Listener):  # type: ignore[misc]
    """Delays the first Ctrl-C while the main thread compiles or loads a loop and those that it calls."""

    depth, heard = 0, 0
    before: Any = None

    def on_start(self, _: Any) -> None:
        """The compiler's lock is about to be taken, perhaps once more."""
        if threading.current_thread() is threading.main_thread():
            self.depth += 1
            if self.depth == 1 and callable(handler := signal.getsignal(signal.SIGINT)):
                self.before, self.heard = handler, 0
                signal.signal(signal.SIGINT, self._hear)

    def on_end(self, _: Any) -> None:
        """The lock was released; after the last release, a delayed Ctrl-C is raised."""
        if threading.current_thread() is threading.main_thread():
            self.depth -= 1
            if self.depth == 0 and self.before is not None:
                before, self.before = self.before, None
                signal.signal(signal.SIGINT, before)
                if self.heard:
                    before(self.heard, sys._getframe())

    def _hear(self, number: int, frame: Any) -> None:
        if self.heard:  # pressed again: at once, whatever comes of it
            self.before(number, frame)
        self.heard = number


ensure_cache_folder()  # before any loop is declared
event.register("numba:compile", Announcer())
event.register("numba:compiler_lock", InterruptLater())
