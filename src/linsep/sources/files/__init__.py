"""Files of any size as one source: `open` finds them, reads them once, and returns a `FileSource`.

paths -> a reader for each file -> the first read, which converts what is slow -> stores -> one source
"""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from linsep.errors import ArgumentError
from linsep.faults import fault
from linsep.sources.base import Source
from linsep.sources.files import private
from linsep.sources.files.caches import HELD_BATCHES, Caches
from linsep.sources.files.first_read import Survey, require_alike, require_rows
from linsep.sources.files.options import MEMORY, Numbers, Options
from linsep.sources.files.paths import (
    ENDINGS,
    MARK,
    Paths,
    expand,
    is_pipe,
    kind_of,
    packing_of,
    require_content,
    unreadable,
)
from linsep.sources.files.reader import Reader
from linsep.sources.files.source import FileSource
from linsep.sources.inputs import is_elsewhere
from linsep.tables.categories import Categories
from linsep.tables.given_rows import Missing, require_missing

TABLES = ("csv", "tsv", "parquet", "arrow")  # the formats whose columns may name the rows

if TYPE_CHECKING:
    from linsep.sources.files.text_reader import Pipe


def open(  # noqa: A001
    path: Paths,
    *,
    label: str | int | None = None,
    columns: Sequence[str | int] | None = None,
    positive: Any = None,
    categories: Categories = None,
    numbers: Numbers | None = None,
    memory: str | int = MEMORY,
    cache: str | PathLike[str] | bool | None = None,
    reject: str | PathLike[str] | None = None,
    index_base: int = 1,
    n_columns: int | None = None,
    header: bool = False,
    format: str | None = None,  # noqa: A002
    id: str | int | None = None,  # noqa: A002
    missing: Missing = None,
    scheduler: Any = None,
) -> Source:
    """Open files as a source of rows, to be used in place of X and y. Memory use does not grow with their size.

    The first read finds the labels, counts the rows and refuses what is not a finite number. A slow format is converted
    once, to a cache that is never used to verify a proof.

    Parameters
    ----------
    path : str, path, or several
        A file, a pattern such as "data/*.parquet", a folder, a list of those, or "-" for standard input. The extension
        of a name says what the file is: CSV, TSV, Parquet, Arrow, Feather, svmlight, .vw, .npy or .npz; text may be
        compressed as .gz, .bz2, .zst or .xz. LIBSVM and Vowpal Wabbit files may have any name. With `scheduler`, a path
        of fsspec, such as "s3://bucket/*.parquet", or a Dask table.
    label : str, int or None
        The label column, by name or by position. It must have two values, the larger being +1; a
        `PerceptronClassifier` learns from any number of them. For a Dask table it may be a Dask collection of labels.
    columns : sequence of str or int, or None
        The other columns to use; all of them by default.
    positive : a label or None
        This value is +1, all others are -1.
    categories : "reference", "all", a dictionary, or None
        Turns text columns into columns of 0 and 1, as `decide` does.
    numbers : "binary64", "decimal" or None
        How decimals are read: as the nearest doubles, or exactly, so that 0.1 is one tenth. By default those of text
        are doubles, and columns of a decimal type (Parquet, Arrow) are exact. Integers stay exact, or are refused.
    memory : str or int
        How much may be held in memory at once.
    cache : folder, False or None
        Where the converted rows of a slow format are kept: in this folder, in a temporary one for this source only
        (False), or in a private folder of the user (None).
    reject : path or None
        The first bad row is an error; with `reject`, bad rows are written there instead, and counted.
    index_base, n_columns : int
        The index of the first column of svmlight files, and how many columns they have, if that is known.
    header : bool
        The first line of a CSV file names the columns. A first line that holds only numbers may be a row, and is
        refused unless `label` is a name or `header` is true.
    format : str or None
        The format of the files, if their names do not say it.
    id : str, int or None
        The column that names the rows; it is not learned from.
    missing : "drop" or None
        "drop" leaves out rows with missing values or without a label, and counts them; infinity is not missing.
    scheduler : Dask client, address or None
        The workers of this cluster read Parquet files, row group by row group; of the other options, `label`,
        `columns`, `positive`, `id` and `missing` can be used then. See docs/cluster.md.

    Returns
    -------
    Source
        With `n_rows`, `n_columns` and `facts` (names, labels, ids, kinds of numbers, rows left out).

    Raises
    ------
    InputError
        A file cannot be read or a row is bad; the message names file, row, line, column and value where they are known.

    Examples
    --------
    >>> import linsep, pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "points.csv")
    >>> _ = path.write_text("height,weight,kind\\n1.5,2,a\\n1.6,3,b\\n1.7,3,b\\n")
    >>> source = linsep.open(path, label="kind")
    >>> source.n_rows, source.facts.names, source.facts.labels
    (3, ('height', 'weight'), ('a', 'b'))
    >>> linsep.decide(source).kind
    'separable'
    """
    if scheduler is not None or is_elsewhere(path):
        given = (categories, numbers == "decimal", cache, reject, index_base != 1, n_columns, header, format)
        if any(map(bool, given)):
            raise ArgumentError(
                "On a cluster only label, columns, positive, id and missing can be chosen: leave the other options out."
            )
        return _on_cluster(path, label, scheduler, columns=columns, positive=positive, ids=id, missing=missing)
    chosen = (label, columns, positive, categories, numbers, memory, cache, reject)
    options = Options(*chosen, index_base, n_columns, header, format, id, missing=missing)
    return FileSource(*survey_files(path, options))


def _on_cluster(path: Any, label: Any, scheduler: Any, **chosen: Any) -> Source:
    """Rows that workers read or hold."""
    require_missing(chosen["missing"])
    if is_elsewhere(path):
        from linsep.sources.cluster.dask_source import source_of

        return source_of(path, label, scheduler=scheduler, **chosen)
    from linsep.sources.cluster.row_groups import open_on

    return open_on(scheduler, path, label, **chosen)


def survey_files(path: Paths, options: Options) -> tuple[list[Survey], Caches]:
    """The first read of every file, and the caches that must exist as long as it is used."""
    private.limit_asked_for()  # a wrong setting is reported at once, not only for files that are cached
    caches = Caches(options.cache, HELD_BATCHES * options.batch_bytes)
    if options.rejects is not None:
        options.rejects.require_apart(path)
    readers = []
    for number, file in enumerate(expand(path)):
        spooled = None
        if is_pipe(file):
            with pipe_opened(file) as stream:
                spooled = spool(stream, Path(caches.temporary(), str(number)), options.format)
        readers.append(reader_of(file, options, spooled))
        options.require_room(file, readers[-1].n_columns)
    if options.categories is not None:
        from linsep.sources.files.cells import share_categories

        share_categories(readers)
    if options.numbers != "binary64":
        share_decimal_places(readers, is_asked=options.numbers == "decimal")
    share_features(readers)
    surveys = [caches.survey(reader) for reader in readers]
    if options.rejects is not None:
        options.rejects.begin()
    require_rows(surveys)
    require_alike(surveys)
    return surveys, caches


def spool(stream: "IO[bytes] | Pipe", folder: Path, given: str | None) -> str:
    """Write what comes out of a pipe, which can be read only once, to a temporary file; return its name."""
    folder.mkdir()
    piece = stream.read(MARK)
    name = folder / f"stdin.{ENDINGS.get(given or 'csv', given)}{packing_of(piece)}"
    with name.open("wb") as out:
        while piece:
            out.write(piece)
            piece = stream.read(1 << 20)
    return str(name)


@contextmanager
def pipe_opened(path: str) -> Iterator[IO[bytes]]:
    """Standard input, or a named pipe."""
    if path == "-":
        if sys.stdin is None:
            raise fault("no stdin")
        yield sys.stdin.buffer
        return
    try:
        with Path(path).open("rb", buffering=0) as stream:
            yield stream
    except OSError as error:
        raise unreadable(path, error) from error


def share_features(readers: Sequence[Reader]) -> None:
    """Make each feature of one Vowpal Wabbit file a column of all of them."""
    named = [reader for reader in readers if reader.has_features]
    every = sorted({name for reader in named for name in reader.columns or ()})
    for reader in named:
        reader.use_features(every)


def share_decimal_places(readers: Sequence[Reader], *, is_asked: bool) -> None:
    """Give a column the same power of ten in all files: the largest that one of them needs; none if all are doubles."""
    is_needed = [reader.find_decimal_places() for reader in readers]
    if not (is_asked or any(is_needed)):
        for reader in readers:
            reader.decimal_places = None
        return
    for reader in readers:
        if reader.decimal_places is None:
            raise fault("not decimal", reader.path)
    known = [reader.decimal_places or () for reader in readers]
    if len(set(map(len, known))) == 1:  # else their columns differ, which is an error when they are read
        for reader in readers:
            reader.decimal_places = tuple(map(max, *known, known[0]))


def reader_of(path: str, options: Options, file: "str | Pipe | None" = None) -> Reader:
    """The reader of one file, by its format; or of the `file` or the text that came out of a pipe of this name."""
    if file is None or isinstance(file, str):
        kind = kind_of(path, options.format, file)
        require_content(path, file or path, kind, options.format)
    else:
        kind = options.format or "csv"
    if options.id is not None and kind not in TABLES:
        raise fault("no ids", path)
    if kind in ("csv", "tsv"):
        from linsep.sources.files.csv_reader import CsvReader

        return CsvReader(path, options, file, "," if kind == "csv" else "\t")
    if kind == "svmlight":
        from linsep.sources.files.svmlight import SvmlightReader

        return SvmlightReader(path, options, file)
    if kind == "vw":
        from linsep.sources.files.vowpal import VowpalReader

        return VowpalReader(path, options, file)
    assert file is None or isinstance(file, str)  # only text formats are read directly from a pipe
    if kind in ("npy", "npz"):
        from linsep.sources.files.numpy_files import NpyReader, NpzReader

        return NpyReader(path, options, file) if kind == "npy" else NpzReader(path, options, file)
    from linsep.sources.files.parquet import ArrowReader, ParquetReader

    return ParquetReader(path, options, file) if kind == "parquet" else ArrowReader(path, options, file)
