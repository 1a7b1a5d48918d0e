"""Files that are written: whole or not at all, under any name, and never over one that the same command reads.

A file is written under a temporary name in the same folder, flushed to the disk and renamed, so that nobody ever sees
half of it and two writers never interfere. It keeps the mode and, if the system allows it, the owner of the file that
it replaces. A link is followed: its target is replaced, and the link stays. If the path is not a file (a pipe, a
terminal, /dev/null, /dev/stdout, /dev/fd/3), the bytes are written into it as they come.
"""

import os
import re
import secrets
import stat
import sys
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import BufferedWriter, FileIO
from os import PathLike
from pathlib import Path
from typing import IO, Any, TypeAlias

from linsep.errors import InputError
from linsep.faults import fault

try:
    import fcntl
except ImportError:  # on Windows, where the leftovers of killed processes stay
    fcntl = None  # type: ignore[assignment]

Identity: TypeAlias = tuple[Any, ...]
STDOUT = 1
BUFFER = 1 << 20  # bytes
_STANDARD = {"stdin": 0, "stdout": STDOUT, "stderr": 2}
_DESCRIPTOR = re.compile(r"/dev/(stdin|stdout|stderr)|/(?:dev|proc/self)/fd/([0-9]{1,9})")
_LEFTOVER = re.compile(r"\.linsep-[0-9a-f]{16}\.tmp")
_MOST_LINKS = 40  # of links to links, as the system follows them


def write_file(path: str | Path, content: bytes, previous: Path | None = None) -> None:
    """Put a file in place in one step; the one that was there is kept as `previous`, if that is given."""
    with replaced(path, previous) as file:
        file.write(content)


@contextmanager
def replaced(path: str | Path, previous: Path | None = None) -> Iterator[IO[bytes]]:
    """A file that is put in place in one step when all is written; a pipe or device is written to directly.

    A process that was killed while it wrote leaves a file `.linsep-DIGITS.tmp`; the next write beside it removes it.
    """
    with _told(path):
        into = _not_a_file(path)
        target = _followed(path)
        beside, handle = (None, into) if into is not None else _draft(target)
    file = BufferedWriter(_Sheet(handle, path), BUFFER)
    try:
        yield file
        file.flush()
        if beside is not None:
            with _told(path):
                os.fsync(handle)
                if previous is not None:
                    with suppress(FileNotFoundError):
                        target.replace(previous)
                beside.replace(target)
        file.close()
    except BaseException:
        if beside is not None:
            beside.unlink(missing_ok=True)
        with suppress(OSError):
            file.raw.close()  # without trying again to write the rest
        raise
    if beside is not None:
        _flush_folder(target.parent)


def begun(path: str | Path) -> IO[bytes]:
    """A new file that is in place at once, to be filled little by little; it replaces the old one in one step."""
    with _told(path):
        handle = _not_a_file(path)
        if handle is None:
            target = _followed(path)
            beside, handle = _draft(target)
            try:
                beside.replace(target)
            except BaseException:
                os.close(handle)
                beside.unlink(missing_ok=True)
                raise
    return BufferedWriter(_Sheet(handle, path), BUFFER)


def identity(path: str | PathLike[str] | int) -> Identity | None:
    """What identifies a file under all its names: its number on its disk; if it does not exist yet, folder and name.

    An integer is the descriptor of an open file. None stands for a file that any number of readers and writers may
    share, such as a terminal or /dev/null, and for one that cannot be identified.

    >>> identity("/dev/null") is None, identity(".") == identity("../" + Path.cwd().name)
    (True, True)
    """
    try:
        known = path if isinstance(path, int) else descriptor(path)
        found = os.fstat(known) if known is not None else os.stat(path)  # noqa: PTH116 - also of a descriptor
    except FileNotFoundError:
        return None if isinstance(path, int) else _place(_followed(path))
    except (OSError, ValueError):
        return None
    return None if stat.S_ISCHR(found.st_mode) else (found.st_dev, found.st_ino)


def descriptor(path: str | PathLike[str]) -> int | None:
    """The number of the open file that a path such as /dev/stdout or /dev/fd/3 names, or a link to one."""
    name = Path(os.path.abspath(path))  # noqa: PTH100 - with .. taken out
    for _ in range(_MOST_LINKS):
        if found := _DESCRIPTOR.fullmatch(str(name)):
            return _STANDARD[found[1]] if found[1] else int(found[2])
        try:
            name = Path(os.path.abspath(name.parent / name.readlink()))  # noqa: PTH100
        except (OSError, ValueError):  # not a link, or not a possible file name
            return None
    return None


def _place(path: Path) -> Identity | None:
    """Where a file will be; on some systems A and a, or two encodings of é, are the same name."""
    try:
        folder = path.parent.stat()
    except OSError:
        return None
    return folder.st_dev, folder.st_ino, unicodedata.normalize("NFC", path.name).casefold()


def _followed(path: str | PathLike[str]) -> Path:
    return Path(os.path.realpath(path))


class _Sheet(FileIO):
    """An open file whose errors begin with its path. It counts what was written, even to a pipe."""

    def __init__(self, handle: int, path: str | Path) -> None:
        super().__init__(handle, "wb")
        self._path, self._is_stdout, self._count = path, descriptor(path) == STDOUT, 0

    def write(self, content: Any) -> int:
        try:
            written = super().write(content)
        except BrokenPipeError:
            if self._is_stdout:  # the reader of the results has left
                raise
            raise _unwritable(self._path, "its reader is gone") from None
        except OSError as error:
            raise _unwritable(self._path, error) from error
        self._count += written
        return written

    def tell(self) -> int:
        return self._count


def _not_a_file(path: str | Path) -> int | None:
    """An open descriptor of a pipe, a device or an open file; None for a regular file, whether it exists or not."""
    number = descriptor(path)
    if number is not None:
        if number == STDOUT and sys.stdout is not None:
            sys.stdout.flush()  # earlier text must come first
        return os.dup(number)
    try:
        mode = Path(path).stat().st_mode
    except FileNotFoundError:
        return None
    if stat.S_ISREG(mode):
        return None
    return os.open(path, os.O_WRONLY)


def _draft(target: Path) -> tuple[Path, int]:
    """A new file beside the target, with its mode and owner, locked for as long as it is open."""
    sweep_leftovers(target.parent)
    found = target.stat() if target.exists() else None
    if found is not None and not os.access(target, os.W_OK):
        raise PermissionError(None, "the file is write-protected")
    mode = 0o666 if found is None else stat.S_IMODE(found.st_mode) & 0o777
    while True:
        beside = target.with_name(f".linsep-{secrets.token_hex(8)}.tmp")
        handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        try:
            _lock(handle)
            if found is not None:
                _give(beside, found)
                beside.chmod(mode)
        except FileNotFoundError:  # another process removed it before it was locked
            os.close(handle)
            continue
        except BaseException:
            os.close(handle)
            beside.unlink(missing_ok=True)
            raise
        if beside.exists():
            return beside, handle
        os.close(handle)


def _give(path: Path, like: os.stat_result) -> None:
    """Give a file the owner and the group of another, each if the system allows it."""
    mine = path.stat()
    for owner, group in ((-1, like.st_gid), (like.st_uid, -1)):
        if (mine.st_uid, mine.st_gid) != (like.st_uid, like.st_gid):
            with suppress(PermissionError):
                os.chown(path, owner, group)


def _lock(handle: int) -> None:
    """Lock a draft. Raises FileNotFoundError if another process took it for a leftover and is about to remove it."""
    if fcntl is not None:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise FileNotFoundError from None
        except OSError:
            pass  # some network disks have no locks; the name is unique there too


def sweep_leftovers(folder: Path) -> None:
    """Remove the half-written files of killed processes in a folder: nobody holds their locks."""
    if fcntl is None:
        return
    with suppress(OSError):
        for entry in os.scandir(folder):
            if _LEFTOVER.fullmatch(entry.name):
                with suppress(OSError):
                    _sweep(Path(entry.path))


def _sweep(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        path.unlink()
    finally:
        os.close(handle)


def _flush_folder(folder: Path) -> None:
    with suppress(OSError):  # some systems cannot flush a folder; the rename itself has happened
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


@contextmanager
def _told(path: str | Path) -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise _unwritable(path, error) from error


def _unwritable(path: str | Path, why: OSError | str) -> InputError:
    said = why if isinstance(why, str) else why.strerror or str(why)
    return fault("unwritable", str(path), seen=said)
