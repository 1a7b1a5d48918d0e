"""Files that are whole or refused: a checksum as the last field of a JSON text, and writing in one step.

A sealed text is a JSON object whose last field is "sha256", and which ends in exactly these characters:

    "sha256": "<64 hexadecimal digits, small letters>"
    }

with a line feed after each of the two lines. The digits are the SHA-256 of all bytes before `"sha256"`. So a text
that was cut, or in which any bit of any byte was changed, is not sealed any more; nor is one that was reformatted.
"""

import hashlib
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from linsep.errors import FileError

_SEAL = re.compile(rb'"sha256": "([0-9a-f]{64})"\n\}\n')
_SEAL_LENGTH = 79
FIELD = "sha256"


def seal(text: str) -> str:
    """The text of a JSON object with its checksum as the last field.

    >>> print(seal('{"a": 1}'), end="")
    {"a": 1,
     "sha256": "2c26eb76bba28a6e8c1785e570d1b620523bb208b988612bb1725a710676c954"
    }
    """
    fields = text.rstrip().removesuffix("}").rstrip()
    before = f"{fields}{'' if fields.endswith('{') else ','}\n "
    return f'{before}"{FIELD}": "{hashlib.sha256(before.encode()).hexdigest()}"\n}}\n'


def fault(text: str | bytes) -> str | None:
    """Why the text is not as it was sealed; None if it is.

    >>> fault(seal('{"a": 1}')), fault(seal('{"a": 1}').replace("1", "2", 1))
    (None, 'its checksum does not match: it was damaged or edited')
    """
    try:
        content = text.encode() if isinstance(text, str) else text
    except UnicodeEncodeError:
        return "it holds half a surrogate pair, which is not text"
    found = _SEAL.fullmatch(content, max(0, len(content) - _SEAL_LENGTH))
    if found is None:
        return "it does not end in its checksum: it was cut, reformatted, or never had one"
    if hashlib.sha256(memoryview(content)[: found.start()]).hexdigest() != found[1].decode():
        return "its checksum does not match: it was damaged or edited"
    return None


def write_file(path: str | Path, content: bytes) -> None:
    """Put a file in place in one step."""
    with replaced(path) as file:
        file.write(content)


@contextmanager
def replaced(path: str | Path) -> Iterator[IO[bytes]]:
    """A file that is put in place in one step when all is written: beside it, flushed to the disk, renamed.

    A process that was killed while it wrote leaves a file `.NAME.PID.tmp` behind; the next write takes it away.
    """
    target = Path(path)
    sweep_leftovers(target)
    beside = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666), "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        beside.replace(target)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise FileError(f"{path}: cannot be written: {error.strerror or error}.") from error
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
    with suppress(OSError):  # some systems cannot flush a folder; the rename itself has happened
        folder = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def sweep_leftovers(target: Path) -> None:
    """Remove what processes that no longer run left half-written beside the file."""
    pattern = re.compile(rf"\.{re.escape(target.name)}\.([1-9][0-9]{{0,9}})\.tmp", re.ASCII)
    with suppress(OSError):
        for path in target.parent.iterdir():
            found = pattern.fullmatch(path.name)
            if found and (int(found[1]) == os.getpid() or not _runs(int(found[1]))):
                path.unlink(missing_ok=True)


def _runs(process: int) -> bool:
    """Whether a process of this number runs, as far as this user can tell."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True
