"""Where linsep keeps files of its own: a private folder for caches, and temporary folders that end with their run.

A cache is trusted only if nobody but the user could have written it. Files that a killed process left behind are
recognised because the system has released their lock; the next process removes them.
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
MARK = b"linsep-cache-"  # the first bytes of every cache: a name alone does not make a file ours
PART = ".part"  # of a cache that is being written
RANDOM = "?" * 8  # what tempfile adds to a name
PARTS = f"{'[0-9a-f]' * 32}{ENDING}{RANDOM}{PART}"
MOST_BYTES = 10 * 10**9  # of all caches together, or a tenth of the disk if that is less
SETTLED_S = 60.0  # a file younger than this may not have its lock yet
TEMPORARY = ".linsep-rows"  # the ending of the names of temporary folders


def cache_folder() -> Path | None:
    """The folder of the user's caches, which need not exist yet; None if the user has no home folder."""
    if chosen := os.environ.get("LINSEP_CACHE"):
        return Path(os.path.abspath(chosen))  # noqa: PTH100 - with .. taken out: no folder beside the way is created
    base = os.environ.get("XDG_CACHE_HOME", "")
    with suppress(RuntimeError):
        return Path(base) / "linsep" if Path(base).is_absolute() else Path.home() / ".cache" / "linsep"
    return None


def own_cache_folder() -> Path | None:
    """The same folder, created if necessary; None if that is impossible, or if somebody else could write to it."""
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
    if sys.platform == "win32":  # there, stat does not tell owners and permissions
        return False
    return found.st_uid == os.geteuid() and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def caches(folder: Path, *, are_ours: bool = True) -> list[tuple[Path, os.stat_result]]:
    """The caches of a folder with their sizes and times; the most recently used one comes last.

    With are_ours=False, the files that are named like caches but are not: they are never deleted.
    """
    found = []
    with suppress(OSError):
        for file in folder.iterdir():
            with suppress(OSError):
                if file.name.endswith(ENDING) and is_cache(file) == are_ours:
                    found.append((file, file.lstat()))
    return sorted(found, key=lambda pair: pair[1].st_mtime_ns)


def is_cache(file: Path) -> bool:
    """Whether a file is a cache that linsep wrote, in any version."""
    try:
        if not stat.S_ISREG(file.lstat().st_mode):
            return False
        with file.open("rb") as content:
            if MARK in content.read(4096):
                return True
            content.seek(max(0, content.seek(0, os.SEEK_END) - 64))  # the first versions had the mark there
            return MARK in content.read(64)
    except OSError:
        return False


def clear(folder: Path) -> tuple[int, int]:
    """Remove all caches of a folder and parts of unfinished ones; return the number of caches, and their bytes."""
    remove_abandoned(folder, PARTS)
    sizes = [found.st_size for file, found in caches(folder) if _unlinked(file)]
    return len(sizes), sum(sizes)


def prune(folder: Path) -> None:
    """Remove the least recently used caches until the rest is small enough; the latest one always stays."""
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
    """The value of LINSEP_CACHE_LIMIT; None if it is not set."""
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
    """A folder that is deleted with the last reference to this, or on request; a lock shows that it is in use."""

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
    """Lock a file for as long as it is open; False if another process has. The system releases it with the process."""
    if sys.platform == "win32":
        return False
    import fcntl

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def remove_abandoned(folder: Path, pattern: str) -> None:
    """Remove what killed processes of this user left in a folder, which no process has locked."""
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
