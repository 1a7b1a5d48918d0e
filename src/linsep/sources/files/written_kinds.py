"""What a text file is by what is written in it: LIBSVM or Vowpal Wabbit, as people download them, under any name."""

import bz2
import gzip
import lzma
import re
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

HEAD = 1 << 16  # bytes that are looked at
OPENERS: dict[str, Callable[[str], Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
_NUMBER = rb"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
SVMLIGHT = re.compile(rb"\s*%b(?:\s+qid:[0-9]+)?(?P<pairs>(?:\s+[0-9]+:%b)*)\s*(?:#.*)?" % (_NUMBER, _NUMBER))
VOWPAL = re.compile(rb"\s*%b(?:\s+%b){0,2}(?:\s+'[^\s|]*\s*|\s*[^\s|:]*)?\|.*" % (_NUMBER, _NUMBER))
SURE = re.compile(
    rb"\|[^\s|:0-9][^\s|]*\s+[^\s|]|\|\s*[^\s|]+\s+[^\s|]+|\|[^|]*[^\s|:]:[0-9.+-]"
)  # not a table with | in it


def written_kind(path: Path) -> str | None:
    """The kind of a file, if every line at its beginning says the same; None where nothing is sure.

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
    """The kind of a text that begins so; the last line may be cut off."""
    lines = head.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    whole = [line for line in (lines if is_whole else lines[:-1] or lines) if line.split(b"#")[0].strip()]
    found = [SVMLIGHT.fullmatch(line) for line in whole]
    if whole and all(found) and any(match["pairs"] for match in found if match):
        return "svmlight"
    is_vowpal = bool(whole) and all(map(VOWPAL.fullmatch, whole)) and any(map(SURE.search, whole))
    return "vw" if is_vowpal else None
