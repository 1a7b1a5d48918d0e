"""Files of any size as one source: `open` finds them, reads them once, and hands out a `FileSource`.

paths -> a reader for each file -> the first read (labels, places, checks, cache) -> one source
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from linsep.errors import ArgumentError
from linsep.sources.files.paths import Paths, expand, kind_of
from linsep.sources.files.reading import Numbers, Options, Reader
from linsep.sources.files.source import FileSource, Survey, require_alike

MEMORY = "512MB"
SMALLEST = 1 << 16  # bytes of a batch
UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "KI": 2**10, "MI": 2**20, "GI": 2**30, "TI": 2**40}


def open(  # noqa: A001
    path: Paths,
    *,
    label: str | int | None = None,
    columns: Sequence[str | int] | None = None,
    positive: Any = None,
    one_hot: bool = False,
    numbers: Numbers = "binary64",
    memory: str | int = MEMORY,
    format: str | None = None,  # noqa: A002
) -> FileSource:
    """Open files as a source of rows, to be used in place of X and y. Memory stays flat, whatever their size.

    `path` is a file, a pattern such as "data/*.parquet", a folder, a list of those, or "-" for standard input.
    `label` is the label column, by name or by position; `columns` chooses the others.
    """
    options = Options(
        label=label,
        columns=None if columns is None else tuple(columns),
        one_hot=one_hot,
        numbers=numbers,
        batch_bytes=batch_bytes(memory),
    )
    surveys = [survey(reader) for reader in readers(expand(path), options, format)]
    require_alike(surveys)
    return FileSource(surveys, positive=positive)


def readers(paths: Sequence[str], options: Options, given: str | None) -> list[Reader]:
    """A reader for each file."""
    return [reader_of(path, options, given) for path in paths]


def reader_of(path: str, options: Options, given: str | None) -> Reader:
    """The reader of one file, by its format."""
    kind, packing = kind_of(path, given)
    if kind in ("csv", "tsv"):
        from linsep.sources.files.text import CsvReader

        return CsvReader(path, options, "," if kind == "csv" else "\t", packing)
    if kind == "parquet":
        from linsep.sources.files.columnar import ParquetReader

        return ParquetReader(path, options)
    if kind == "arrow":
        from linsep.sources.files.columnar import ArrowReader

        return ArrowReader(path, options)
    from linsep.sources.files.arrays import NpyReader, NpzReader

    return NpyReader(path, options) if kind == "npy" else NpzReader(path, options)


def survey(reader: Reader) -> Survey:
    """The first read of a file."""
    found = Survey.begin(reader)
    for batch in reader.batches():
        found.add(batch)
    return replace(found, left_out=reader.left_out)


def batch_bytes(memory: str | int) -> int:
    """How large a batch may be so that all that is held at once stays within the memory."""
    size = memory if isinstance(memory, int) else parse_size(memory)
    if size < 16 * SMALLEST:
        raise ArgumentError(f"memory is {memory}: at least 1MiB is needed.")
    return max(SMALLEST, min(size // 16, 1 << 26))


def parse_size(text: str) -> int:
    """A size such as "512MB", "2GiB" or "1000000", in bytes."""
    match = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([KMGT]?I?)B?\s*", text.upper())
    if not match or match[2] == "I":
        raise ArgumentError(f"{text!r} is no size: write for instance 512MB or 2GiB.")
    return int(float(match[1]) * UNITS[match[2]])
