"""Where linsep keeps files of its own: a private folder for caches, and temporary folders that end with their run.

A cache is believed only where nobody but the user could have written it. Files that a killed process left behind are
known by their lock, which the system takes back, and are removed by the next process that comes by.
"""

import os
import shutil
import stat
import sys
import tempfile
import time
import weakref
from contextlib import suppress
from pathlib import Path

from linsep.errors import ArgumentError
from linsep.sources.files.options import parse_size

ENDING = ".linsep-cache"
MARK = b"linsep-cache-"  # stands at the beginning of every cache: a name alone does not make a file ours
PART = ".part"  # of a cache that is being written
RANDOM = "?" * 8  # what tempfile adds to a name
PARTS = f"{'[0-9a-f]' * 32}{ENDING}{RANDOM}{PART}"
MOST_BYTES = 10 * 10**9  # of all caches together, or a tenth of the disk if that is less
SETTLED_S = 60.0  # a file younger than this may not have its lock yet
TEMPORARY = ".linsep-rows"  # how the names of temporary folders end


def cache_folder() -> Path | None:
    """The folder of the user's caches, which need not be there yet; None where the user has no home."""
    if chosen := os.environ.get("LINSEP_CACHE"):
        return Path(chosen).absolute()
    base = os.environ.get("XDG_CACHE_HOME", "")
    with suppress(RuntimeError):
        return Path(base) / "linsep" if Path(base).is_absolute() else Path.home() / ".cache" / "linsep"
    return None


def own_cache_folder() -> Path | None:
    """The same folder, made where it is missing; None where it cannot be, or where somebody else could write to it."""
    folder = cache_folder()
    if folder is None:
        return None
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.stat()
        return folder if is_own(found) and os.access(folder, os.W_OK | os.X_OK) and folder.is_dir() else None
    except OSError:
        return None


def is_own(found: os.stat_result) -> bool:
    """Whether a file or folder is the user's, and nobody else may write to it."""
    if sys.platform == "win32":  # owners and rights are not told by stat there
        return False
    return found.st_uid == os.geteuid() and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def caches(folder: Path, *, are_ours: bool = True) -> list[tuple[Path, os.stat_result]]:
    """The caches of a folder with their sizes and times, the one used last at the end.

    Or else what is named as a cache and is not one: it is never deleted.
    """
    found = []
    with suppress(OSError):
        for file in folder.iterdir():
            with suppress(OSError):
                if file.name.endswith(ENDING) and is_cache(file) == are_ours:
                    found.append((file, file.lstat()))
    return sorted(found, key=lambda pair: pair[1].st_mtime_ns)


def is_cache(file: Path) -> bool:
    """Whether a file is a cache that linsep wrote, whichever version of it."""
    try:
        if not stat.S_ISREG(file.lstat().st_mode):
            return False
        with file.open("rb") as content:
            if MARK in content.read(4096):
                return True
            content.seek(max(0, content.seek(0, os.SEEK_END) - 64))  # where the first versions had it
            return MARK in content.read(64)
    except OSError:
        return False


def clear(folder: Path) -> tuple[int, int]:
    """Remove all caches of a folder and what is left of unfinished ones; how many caches, and their bytes."""
    remove_abandoned(folder, PARTS)
    sizes = [found.st_size for file, found in caches(folder) if _unlinked(file)]
    return len(sizes), sum(sizes)


def prune(folder: Path) -> None:
    """Remove the caches not used for longest until the rest is small enough; the last one always stays."""
    remove_abandoned(folder, PARTS)
    found = caches(folder)
    left, limit = sum(what.st_size for _, what in found), most_bytes(folder)
    for file, what in found[:-1]:
        if left > limit and _unlinked(file):
            left -= what.st_size


def _unlinked(file: Path) -> bool:
    try:
        file.unlink()
    except OSError:
        return False
    return True


def limit_asked_for() -> int | None:
    """What LINSEP_CACHE_LIMIT says; None where it is not set."""
    given = os.environ.get("LINSEP_CACHE_LIMIT")
    if not given:
        return None
    try:
        return parse_size(given)
    except ArgumentError as error:
        raise ArgumentError(f"The environment variable LINSEP_CACHE_LIMIT: {error}") from None


def most_bytes(folder: Path) -> int:
    """How many bytes the caches may take."""
    asked = limit_asked_for()
    if asked is not None:
        return asked
    try:
        return min(MOST_BYTES, shutil.disk_usage(folder).total // 10)
    except OSError:
        return MOST_BYTES


class TemporaryFolder:
    """A folder that goes when nobody refers to this any more, or when it is `removed`; a lock says that it is used."""

    def __init__(self) -> None:
        remove_abandoned(Path(tempfile.gettempdir()), f"linsep-*{TEMPORARY}")
        self.path = tempfile.mkdtemp(prefix="linsep-", suffix=TEMPORARY)
        descriptor = None if sys.platform == "win32" else os.open(self.path, os.O_RDONLY)
        if descriptor is not None:
            lock(descriptor)
        self.removed = weakref.finalize(self, _remove, self.path, descriptor)


def _remove(folder: str, descriptor: int | None) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    if descriptor is not None:
        os.close(descriptor)


def lock(descriptor: int) -> bool:
    """Hold a file for as long as it is open; False where another process does. The system ends it with the process."""
    if sys.platform == "win32":
        return False
    import fcntl

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def remove_abandoned(folder: Path, pattern: str) -> None:
    """Remove what killed processes of this user left in a folder: nobody holds it."""
    with suppress(OSError):
        for path in folder.glob(pattern) if sys.platform != "win32" else ():
            with suppress(OSError):
                _remove_if_abandoned(path)


def _remove_if_abandoned(path: Path) -> None:
    found = path.lstat()
    if not is_own(found) or time.time() - found.st_ctime < SETTLED_S:
        return
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        if lock(descriptor):
            shutil.rmtree(path, ignore_errors=True) if stat.S_ISDIR(found.st_mode) else path.unlink()
    finally:
        os.close(descriptor)
