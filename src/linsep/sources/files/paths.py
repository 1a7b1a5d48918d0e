"""Paths: a file, a pattern, a folder, a list of those, or "-" for standard input; and the format of a file.

Its name gives the format. LIBSVM and Vowpal Wabbit text, often downloaded under any name, is recognised by its first
lines.
"""

import bz2
import glob
import gzip
import lzma
import os
import re
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from fnmatch import fnmatch
from os import PathLike, fspath
from pathlib import Path
from typing import IO, Any

from linsep import outputs
from linsep.errors import ArgumentError, InputError
from linsep.faults import fault

KINDS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".ipc": "arrow",
    ".feather": "arrow",
    ".svm": "svmlight",
    ".svmlight": "svmlight",
    ".libsvm": "svmlight",
    ".vw": "vw",
    ".npy": "npy",
    ".npz": "npz",
}
ENDINGS = {kind: ending.removeprefix(".") for ending, kind in reversed(KINDS.items())}
PACKINGS = {".gz": "gz", ".bz2": "bz2", ".zst": "zst", ".xz": "xz"}
PIPED = ("csv", "tsv", "svmlight")  # the formats that are read as they come out of a pipe
PACKED = (*PIPED, "vw")  # the formats that may be compressed
SHOWN = (
    ".csv, .tsv, .parquet, .arrow, .feather, .svm, .vw, .npy or .npz (text also .gz, .bz2, .zst, .xz); LIBSVM and "
    "Vowpal Wabbit text may have any name"
)

SIGNS = {  # the first bytes of files, and what they show
    "parquet": (b"PAR1", "a Parquet file"),
    "arrow": (b"ARROW1\0\0", "an Arrow file"),
    "npy": (b"\x93NUMPY", "an .npy file"),
    "npz": (b"PK\x03\x04", "an .npz file or another zip archive"),
    "gz": (b"\x1f\x8b", "compressed by gzip"),
    "bz2": (b"BZh91AY&SY", "compressed by bzip2"),
    "zst": (b"\x28\xb5\x2f\xfd", "compressed by zstd"),
    "xz": (b"\xfd7zXZ\0", "compressed by xz"),
}
BEGINS = ". A table begins with a line of column names"

MARK = 16  # bytes that show what a file is
HEAD = 1 << 16  # bytes that are examined
OPENERS: dict[str, Callable[[str], Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
_NUMBER = rb"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
SVMLIGHT = re.compile(rb"\s*%b(?:\s+qid:[0-9]+)?(?P<pairs>(?:\s+[0-9]+:%b)*)\s*(?:#.*)?" % (_NUMBER, _NUMBER))
VOWPAL = re.compile(rb"\s*%b(?:\s+%b){0,2}(?:\s+'[^\s|]*\s*|\s*[^\s|:]*)?\|.*" % (_NUMBER, _NUMBER))
SURE = re.compile(
    rb"\|[^\s|:0-9][^\s|]*\s+[^\s|]|\|\s*[^\s|]+\s+[^\s|]+|\|[^|]*[^\s|:]:[0-9.+-]"
)  # not a table that contains |

Paths = str | PathLike[str] | Iterable[str | PathLike[str]]


def expand(path: Paths) -> list[str]:
    """The files that a path stands for, in the order in which their rows are counted."""
    if isinstance(path, list | tuple) and path:
        return [file for one in path for file in expand(one)]
    name = fspath(path) if isinstance(path, PathLike) else path
    if not isinstance(name, str):
        raise ArgumentError(f"path is {path!r}: it must be the name of a file, or a list of names.")
    if is_pipe(name) or os.path.isfile(name):  # noqa: PTH113 - no name is too long for it
        return [name]
    if os.path.isdir(name):  # noqa: PTH112
        found = sorted(str(file) for file in Path(name).iterdir() if file.is_file() and _is_data(file.name))
        if not found:
            raise fault("no data", name, kinds=SHOWN)
        return found
    if glob.has_magic(name):
        found = sorted(file for file in glob.glob(name, recursive=True) if Path(file).is_file())  # noqa: PTH207
        if not found:
            raise fault("no pattern", name)
        return found
    return [name]


def reads(path: Paths, output: str) -> str | None:
    """The part of a path that reads this file, or will once it exists; compared by place on the disk, not by name."""
    wanted = outputs.identity(output)
    if wanted is None:
        return None
    if not isinstance(path, str | PathLike):
        return next((found for one in path if (found := reads(one, output)) is not None), None)
    name = fspath(path)
    if name == "-":
        return "standard input" if _stdin() == wanted else None
    files = expand(name) if _stands_for_many(name) else [name]
    if any(outputs.identity(file) == wanted for file in files):
        return name
    for place in (Path(output), Path(os.path.realpath(output))):
        folder = outputs.identity(place.parent)
        if any(outputs.identity(each) == folder for each in _takers(name, place.name)):
            return name
    return None


def _stands_for_many(name: str) -> bool:
    return Path(name).is_dir() or (glob.has_magic(name) and not Path(name).exists())


def _takers(name: str, file: str) -> Iterator[str]:
    """The folders in which a path, if it is a folder or a pattern, would find a file of this name."""
    if Path(name).is_dir():
        if _is_data(file):
            yield name
    elif _stands_for_many(name):
        last = Path(name).name
        if last == "**":
            yield from glob.glob(name, recursive=True)  # noqa: PTH207
        elif fnmatch(file, last) and (last.startswith(".") or not file.startswith(".")):
            yield from glob.glob(str(Path(name).parent), recursive=True)  # noqa: PTH207


def _stdin() -> outputs.Identity | None:
    try:
        return outputs.identity(sys.stdin.fileno())
    except (AttributeError, OSError, ValueError):  # there is none, or it is not a file
        return None


def is_pipe(name: str) -> bool:
    """Whether this can be read only once: standard input, or a named pipe."""
    return name == "-" or Path(name).is_fifo()


def kind_of(path: str, given: str | None, file: str | None = None) -> str:
    """The format of a file by its extension, or as given; `file` is where it really is, if elsewhere."""
    place = Path(file or path)
    shown, is_packed = place.suffix.lower(), place.suffix.lower() in PACKINGS
    if given is not None and given not in ENDINGS:
        raise fault("format", path, value=given, known=", ".join(sorted(ENDINGS)))
    kind = given or KINDS.get(_extension(place)) or written_kind(place)
    if kind is None or (is_packed and kind not in PACKED):
        seen = f"the extension {shown!r} is unknown" if shown else "the name has no extension"
        seen = f"a file of this kind may not be compressed ({shown})" if is_packed and kind else seen
        raise fault("file kind", path, seen=seen, kinds=SHOWN)
    if not place.exists():
        raise fault("no file", path)
    return kind


def says_nothing(path: str) -> bool:
    """Whether a name does not say what the file is."""
    return _extension(Path(path)) not in KINDS


def _extension(path: Path) -> str:
    """The extension of a name, without that of a compression."""
    ending = path.suffix.lower()
    return Path(path.stem).suffix.lower() if ending in PACKINGS else ending


def require_content(path: str, file: str, kind: str, given: str | None) -> None:
    """Refuse a file that is empty, missing, or whose first bytes show another format than its name."""
    try:
        found = Path(file).stat()
        if not stat.S_ISREG(found.st_mode):
            raise fault("not a file", path)
        if not found.st_size:
            raise fault("empty", path, byte=0, begins=BEGINS if kind in ("csv", "tsv") else "")
        with Path(file).open("rb") as content:
            head = content.read(MARK)
            content.seek(max(0, found.st_size - 4))
            tail = content.read(4)
    except OSError as error:
        raise unreadable(path, error) from error
    if packing := PACKINGS.get(Path(file).suffix.lower()):
        mark, called = SIGNS[packing]
        mark = mark[:3] if packing == "bz2" else mark  # the rest depends on the compression level
        if not head.startswith(mark[: len(head)]):
            raise _another_kind(path, f"not {called}, though its name ends in {Path(path).suffix}")
        return
    if head.startswith(b"FEA1"):
        raise _another_kind(path, "Feather version 1", "Write it again as version 2, or as Parquet.")
    if head.startswith((b"PAR1", b"PARE")) and tail == b"PARE":
        raise _another_kind(path, "the Parquet file is encrypted", "Decrypt it first.")
    seen = next((what for what, (mark, _) in SIGNS.items() if head.startswith(mark)), kind)
    if seen == "parquet" and tail != b"PAR1":
        return  # a column may be called PAR1, and a damaged file is refused later
    if seen != kind:
        told = f"with the extension {Path(path).suffix}" if given is None else f"and not {kind}, as format= says"
        raise _another_kind(path, f"{SIGNS[seen][1]} {told}")


def packing_of(head: bytes) -> str:
    """The extension of the compression that the first bytes of a file show; empty if they show none.

    >>> packing_of(b"BZh51AY&SY"), packing_of(b"a,b")
    ('.bz2', '')
    """
    head = b"BZh9" + head[4:] if head.startswith(b"BZh") else head  # whatever its level
    return next((ending for ending, packing in PACKINGS.items() if head.startswith(SIGNS[packing][0])), "")


def unreadable(path: str, error: OSError) -> InputError:
    """An error of the system about a file, as one of ours."""
    if isinstance(error, FileNotFoundError):
        return fault("no file", path)
    return fault("unreadable", path, seen=error.strerror or error)


def _another_kind(path: str, seen: str, fix: str = "Rename it.") -> InputError:
    return fault("another kind", path, byte=0, seen=seen, told=fix)


def _is_data(name: str) -> bool:
    return not name.startswith(".") and _extension(Path(name)) in KINDS


def written_kind(path: Path) -> str | None:
    """The format of a file, if every line at its beginning has the same one; None if that is not certain.

    >>> kind_of_text(b"+1 3:1 7:0.5\\n-1 2:1\\n"), kind_of_text(b"1 |a cat:2 dog\\n"), kind_of_text(b"a,b\\n1,2\\n")
    ('svmlight', 'vw', None)
    """
    try:
        if not path.is_file():
            return None
        with _opened(path) as file:
            head = file.read(HEAD)
    except (OSError, EOFError, lzma.LZMAError, ValueError):
        return None
    return kind_of_text(head, is_whole=len(head) < HEAD)


def _opened(path: Path) -> IO[bytes]:
    if path.suffix.lower() == ".zst":
        import pyarrow as pa

        return pa.input_stream(str(path), compression="zstd")  # type: ignore[no-any-return]
    return OPENERS.get(path.suffix.lower(), open)(str(path), "rb")  # type: ignore[no-any-return]


def kind_of_text(head: bytes, *, is_whole: bool = True) -> str | None:
    """The format of a text with this beginning, whose last line may be cut off."""
    lines = head.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    whole = [line for line in (lines if is_whole else lines[:-1] or lines) if line.split(b"#")[0].strip()]
    found = [SVMLIGHT.fullmatch(line) for line in whole]
    if whole and all(found) and any(match["pairs"] for match in found if match):
        return "svmlight"
    is_vowpal = bool(whole) and all(map(VOWPAL.fullmatch, whole)) and any(map(SURE.search, whole))
    return "vw" if is_vowpal else None
