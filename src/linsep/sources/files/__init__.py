"""Files of any size as one source: `open` finds them, reads them once, and hands out a `FileSource`.

paths -> a reader for each file -> the first read, which converts what is slow -> stores -> one source
"""

import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from os import PathLike, fspath
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, get_args

from linsep.errors import ArgumentError, InputError
from linsep.faults import fault
from linsep.sources.base import Label
from linsep.sources.files.cells import TableReader
from linsep.sources.files.first_read import Survey, require_alike
from linsep.sources.files.options import HELD_BATCHES, Numbers, Options, parse_size
from linsep.sources.files.paths import ENDINGS, Paths, expand, is_pipe, kind_of, require_content
from linsep.sources.files.reader import Reader, unreadable
from linsep.sources.files.rejects import Rejects
from linsep.sources.files.source import FileSource
from linsep.sources.files.store import Caches

if TYPE_CHECKING:
    from linsep.sources.files.text_reader import Pipe

MEMORY = "512MB"
SMALLEST = 1 << 16  # bytes of a batch
SHARE = 64  # of the memory is a batch: several are on their way at once, as text, as columns and as rows


def open(  # noqa: A001
    path: Paths,
    *,
    label: str | int | None = None,
    columns: Sequence[str | int] | None = None,
    positive: Any = None,
    one_hot: bool = False,
    numbers: Numbers = "binary64",
    memory: str | int = MEMORY,
    cache: str | PathLike[str] | bool | None = None,
    reject: str | PathLike[str] | None = None,
    index_base: int = 1,
    n_columns: int | None = None,
    header: bool = False,
    format: str | None = None,  # noqa: A002
) -> FileSource:
    """Open files as a source of rows, to be used in place of X and y. Memory does not grow with their size.

    `path` is a file, a pattern such as "data/*.parquet", a folder, a list of those, or "-" for standard input. The
    extension of a name says what the file is (CSV, TSV, Parquet, Arrow, Feather, svmlight, .npy or .npz; text may be
    compressed as .gz, .bz2 or .zst), or `format` does.

    `label` is the label column, by name or by position. It takes two values, the larger being +1, or `positive` chooses
    one value against the rest; a `PerceptronClassifier` learns from any number of them. `columns` chooses the other
    columns; `one_hot` turns text columns into one column of 0 and 1 for each category. Numbers are the nearest doubles
    (integers stay exact, or are refused); with numbers="decimal" the decimals of a CSV file are read exactly, so that
    0.1 is one tenth.

    `memory` bounds what is held at once. A slow format is converted once, to a cache in a private folder of the user
    (or in the folder `cache`; only for this source if that is False), which is never used to verify a proof. The first
    bad row is an error; with `reject`, bad rows are written there instead, and counted. `index_base` is the index of
    the first column of svmlight files, `n_columns` how many columns they have where that is known. The first line of a
    CSV file names the columns; one of numbers only may be a row, and is refused unless `label` is a name or `header`
    is true.

    >>> import linsep, pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "points.csv")
    >>> _ = path.write_text("height,weight,kind\\n1.5,2,a\\n1.6,3,b\\n1.7,3,b\\n")
    >>> source = linsep.open(path, label="kind")
    >>> source.n_rows, source.facts.names, source.facts.labels
    (3, ('height', 'weight'), ('a', 'b'))
    >>> linsep.decide(source).kind
    'separable'
    """
    options = options_of(
        label=label,
        columns=columns,
        one_hot=one_hot,
        numbers=numbers,
        memory=memory,
        reject=reject,
        index_base=index_base,
        n_columns=n_columns,
        header=header,
    )
    return open_files(path, options, positive=positive, many=True, cache=cache, format=format)


def options_of(
    *,
    label: str | int | None = None,
    columns: Sequence[str | int] | None = None,
    one_hot: bool = False,
    numbers: Numbers = "binary64",
    memory: str | int = MEMORY,
    reject: str | PathLike[str] | None = None,
    index_base: int = 1,
    n_columns: int | None = None,
    header: bool = False,
) -> Options:
    """What was asked for, once it is known to make sense."""
    if numbers not in get_args(Numbers):
        raise ArgumentError(f"numbers is {numbers!r}: it must be one of {', '.join(get_args(Numbers))}.")
    if index_base not in (0, 1):
        raise ArgumentError(f"index_base is {index_base}: svmlight files count columns from 0 or from 1.")
    if isinstance(label, bool) or not (label is None or isinstance(label, str | int)):
        raise ArgumentError(f"label is {label!r}: it must be the name of a column, or its position.")
    size = memory_bytes(memory)
    batch = batch_bytes(size)
    return Options(
        label=label,
        columns=None if columns is None else tuple(columns),
        one_hot=one_hot,
        numbers=numbers,
        index_base=index_base,
        n_columns=n_columns,
        header=header,
        memory=size,
        batch_bytes=batch,
        set_aside=None if reject is None else Rejects(fspath(reject)),
    )


def open_files(
    path: Paths,
    options: Options,
    *,
    positive: Any = None,
    classes: tuple[Label, Label] | None = None,
    many: bool = False,
    cache: str | PathLike[str] | bool | None = None,
    format: str | None = None,  # noqa: A002
) -> FileSource:
    """The same with the options in one piece; `classes` are the two labels of a proof, which the rows must have.

    More than two labels are refused unless `many`: then whoever asks about two classes refuses them.
    """
    with from_stdin(path):
        surveys, caches = survey_files(path, options, cache, format)
        source = FileSource(surveys, caches, positive=positive, classes=classes)
        if is_stdin(path):
            source.facts = replace(source.facts, files=("-",))
        if not many:
            _ = source.facts.pair
        return source


def is_stdin(path: Paths) -> bool:
    """Whether the rows come from standard input alone."""
    return path in ("-", ["-"], ("-",))


@contextmanager
def from_stdin(path: Paths) -> Iterator[None]:
    """Errors about standard input say so, and not the temporary file that it was written to."""
    try:
        yield
    except InputError as error:
        if is_stdin(path) and error.file is not None:
            error.at(file="-")
        raise


def survey_files(
    path: Paths,
    options: Options,
    cache: str | PathLike[str] | bool | None = None,
    format: str | None = None,  # noqa: A002
) -> tuple[list[Survey], Caches]:
    """The first read of every file, and the caches that must live as long as it is used."""
    folder = cache if cache is None or isinstance(cache, bool) else fspath(cache)
    caches = Caches(folder, reuse=options.set_aside is None, hold=HELD_BATCHES * options.batch_bytes)
    if options.set_aside is not None:
        options.set_aside.require_apart(path)
    found = [reader_of(file, options, format) for file in spooled(expand(path), caches, format)]
    for reader in found:
        options.require_room(reader.path, reader.n_columns)
    if options.one_hot:
        share_categories(found)
    if options.numbers == "decimal":
        share_decimal_places(found)
    surveys = [caches.survey(reader) for reader in found]
    if options.set_aside is not None:
        options.set_aside.begin()
    require_alike(surveys)
    return surveys, caches


def spooled(paths: Sequence[str], caches: Caches, given: str | None) -> Iterator[str]:
    """The same files, with standard input written to a temporary one: it can be read only once."""
    for number, path in enumerate(paths):
        yield spool(path, Path(caches.temporary(), str(number)), given) if is_pipe(path) else path


def spool(path: str, folder: Path, given: str | None) -> str:
    """Write what comes out of a pipe to a file in a temporary folder; returns its name."""
    folder.mkdir()
    name = folder / f"stdin.{ENDINGS.get(given or 'csv', given)}"
    with name.open("wb") as out, pipe_opened(path) as stream:
        shutil.copyfileobj(stream, out, 1 << 20)
    return str(name)


@contextmanager
def pipe_opened(path: str) -> Iterator[IO[bytes]]:
    """Standard input, or a named pipe."""
    if path == "-":
        yield sys.stdin.buffer
        return
    try:
        with Path(path).open("rb", buffering=0) as stream:
            yield stream
    except OSError as error:
        raise unreadable(path, error) from error


def share_categories(readers: Sequence[Reader]) -> None:
    """A category of one file is a column of all of them."""
    tables = [reader for reader in readers if isinstance(reader, TableReader)]
    names = dict.fromkeys(name for reader in tables for name in reader.categories)
    for reader in tables:
        late = [name for name in names if name not in reader.categories and name in (reader.columns or ())]
        if late:
            reader.also_text(late)
    every = {name: {c for reader in tables for c in reader.categories.get(name, ())} for name in names}
    for reader in tables:
        reader.use_categories({name: tuple(sorted(every[name])) for name in names})


def share_decimal_places(readers: Sequence[Reader]) -> None:
    """A column has one power of ten in all files: the largest that one of them needs."""
    other = next((reader.path for reader in readers if not reader.is_text), None)
    if other is not None:
        raise fault("not decimal", other)
    known = [reader.decimal_places or (0,) * reader.n_columns for reader in readers]
    if len({len(places) for places in known}) > 1:
        return  # their columns differ: an error, once they are read
    shared = tuple(max(places) for places in zip(*known, strict=True))
    for reader in readers:
        reader.decimal_places = shared


def reader_of(path: str, options: Options, given: str | None, pipe: "Pipe | None" = None) -> Reader:
    """The reader of one file, by its format, or of text that comes out of a pipe."""
    kind, packing = kind_of(path, given) if pipe is None else (given or "csv", None)
    if pipe is None:
        try:
            require_content(path, kind, packing, given)
        except OSError as error:
            raise unreadable(path, error) from error
    if kind in ("csv", "tsv"):
        from linsep.sources.files.csv_reader import CsvReader

        return CsvReader(path, options, "," if kind == "csv" else "\t", packing, pipe)
    if kind == "parquet":
        from linsep.sources.files.parquet import ParquetReader

        return ParquetReader(path, options)
    if kind == "arrow":
        from linsep.sources.files.parquet import ArrowReader

        return ArrowReader(path, options)
    if kind == "svmlight":
        from linsep.sources.files.svmlight import SvmlightReader

        return SvmlightReader(path, options, packing, pipe)
    if kind == "npy":
        from linsep.sources.files.npy import NpyReader

        return NpyReader(path, options)
    from linsep.sources.files.npz import NpzReader

    return NpzReader(path, options)


def memory_bytes(memory: str | int) -> int:
    """How much memory was asked for."""
    if isinstance(memory, bool) or not isinstance(memory, str | int):
        raise ArgumentError(f"memory is {memory!r}: it must be a number of bytes, or text such as '512MB'.")
    size = memory if isinstance(memory, int) else parse_size(memory)
    if size < 16 * SMALLEST:
        raise ArgumentError(f"memory is {memory}: at least 1MiB is needed.")
    return size


def batch_bytes(memory: int) -> int:
    """How large a batch may be so that all that is held at once stays within the memory."""
    return max(SMALLEST, min(memory // SHARE, 1 << 26))
