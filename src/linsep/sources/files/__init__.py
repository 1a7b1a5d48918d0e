"""Files of any size as one source: `open` finds them, reads them once, and hands out a `FileSource`.

paths -> a reader for each file -> the first read, which converts what is slow -> stores -> one source
"""

import shutil
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
from linsep.sources.files.cells import TableReader, in_order
from linsep.sources.files.first_read import Survey, require_alike
from linsep.sources.files.options import MEMORY, Numbers, Options
from linsep.sources.files.paths import ENDINGS, Paths, expand, is_pipe, kind_of, require_content, unreadable
from linsep.sources.files.reader import FeatureReader, Reader
from linsep.sources.files.source import FileSource
from linsep.sources.inputs import is_elsewhere
from linsep.tables.categories import Categories, looks_like_ids

if TYPE_CHECKING:
    from linsep.sources.files.text_reader import Pipe


def open(  # noqa: A001
    path: Paths,
    *,
    label: str | int | None = None,
    columns: Sequence[str | int] | None = None,
    positive: Any = None,
    categories: Categories = None,
    numbers: Numbers = "binary64",
    memory: str | int = MEMORY,
    cache: str | PathLike[str] | bool | None = None,
    reject: str | PathLike[str] | None = None,
    index_base: int = 1,
    n_columns: int | None = None,
    header: bool = False,
    format: str | None = None,  # noqa: A002
    id: str | int | None = None,  # noqa: A002
    scheduler: Any = None,
) -> Source:
    """Open files as a source of rows, to be used in place of X and y. Memory does not grow with their size.

    `path` is a file, a pattern such as "data/*.parquet", a folder, a list of those, or "-" for standard input. The
    extension of a name says what the file is (CSV, TSV, Parquet, Arrow, Feather, svmlight, .vw, .npy or .npz; text may
    be compressed as .gz, .bz2, .zst or .xz), or `format` does. LIBSVM and Vowpal Wabbit files may have any name.

    `label` is the label column, by name or by position. It takes two values, the larger being +1, or `positive` chooses
    one value against the rest; a `PerceptronClassifier` learns from any number of them. `columns` chooses the other
    columns, `id` one that says what each row is called, which is not learned from. `categories` turns text columns into
    columns of 0 and 1, called site[Chur]: "reference" one for each category but the first, "all" one for each,
    {"site": "all"} those of the columns that it names. Numbers are the nearest doubles (integers stay exact, or are
    refused); with numbers="decimal" the decimals of a CSV file are read exactly, so that 0.1 is one tenth.

    `memory` bounds what is held at once. A slow format is converted once, to a cache in a private folder of the user
    (or in the folder `cache`; only for this source if that is False), which is never used to verify a proof. The first
    bad row is an error; with `reject`, bad rows are written there instead, and counted. `index_base` is the index of
    the first column of svmlight files, `n_columns` how many columns they have where that is known. The first line of a
    CSV file names the columns; one of numbers only may be a row, and is refused unless `label` is a name or `header`
    is true.

    With `scheduler`, a Dask client or the address of a scheduler, the workers of a cluster read Parquet files, row
    group by row group; `path` is then one of fsspec, such as "s3://bucket/*.parquet". Instead of a path there may be a
    Dask dataframe with `label`, the name of its label column, or any Dask table with a Dask collection of labels as
    `label`. Of the other options `columns` and `positive` can be used there. See docs/cluster.md.

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
        given = (categories, numbers != "binary64", cache, reject, index_base != 1, n_columns, header, format, id)
        return _on_cluster(path, label, columns, positive, scheduler, is_plain=not any(map(bool, given)))
    asked = (
        label,
        columns,
        positive,
        categories,
        numbers,
        memory,
        cache,
        reject,
        index_base,
        n_columns,
        header,
        format,
    )
    return FileSource(*survey_files(path, Options(*asked, id=id)))


def _on_cluster(
    path: Any, label: Any, columns: Sequence[str | int] | None, positive: Any, scheduler: Any, *, is_plain: bool
) -> Source:
    """Rows that workers read or hold."""
    if not is_plain:
        raise ArgumentError("On a cluster only label, columns and positive can be chosen: leave the other options out.")
    if is_elsewhere(path):
        from linsep.sources.dask_source import source_of

        return source_of(path, label, columns=columns, positive=positive, scheduler=scheduler)
    from linsep.sources.row_groups import open_on

    return open_on(scheduler, path, label, columns, positive)


def survey_files(path: Paths, options: Options) -> tuple[list[Survey], Caches]:
    """The first read of every file, and the caches that must live as long as it is used."""
    private.limit_asked_for()  # a wrong setting is told of at once, not only by files that are cached
    caches = Caches(options.cache, HELD_BATCHES * options.batch_bytes)
    if options.rejects is not None:
        options.rejects.require_apart(path)
    readers = []
    for number, file in enumerate(expand(path)):
        spooled = spool(file, Path(caches.temporary(), str(number)), options.format) if is_pipe(file) else None
        readers.append(reader_of(file, options, spooled))
        options.require_room(file, readers[-1].n_columns)
    if options.categories is not None:
        share_categories([reader for reader in readers if isinstance(reader, TableReader)])
    if options.numbers == "decimal":
        share_decimal_places(readers)
    share_features(readers)
    surveys = [caches.survey(reader) for reader in readers]
    if options.rejects is not None:
        options.rejects.begin()
    require_alike(surveys)
    return surveys, caches


def spool(path: str, folder: Path, given: str | None) -> str:
    """Write what comes out of a pipe, which can be read only once, to a file in a temporary folder; its name."""
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


def share_categories(readers: Sequence[TableReader]) -> None:
    """A category of one file is a column of all of them."""
    names = dict.fromkeys(name for reader in readers for name in reader.categories)
    for reader in readers:
        late = [name for name in names if name not in reader.categories and name in (reader.columns or ())]
        if late:
            reader.also_text(late)
    every = {name: {c for reader in readers for c in reader.categories.get(name, ())} for name in names}
    n_rows = sum(reader.text_rows for reader in readers)
    for name in names if readers and isinstance(readers[0].options.categories, str) else ():
        if looks_like_ids(len(every[name]), n_rows):
            raise fault("ids as categories", readers[0].path, column=name, levels=len(every[name]), rows=n_rows)
    for reader in readers:
        reader.use_categories({name: in_order(every[name]) for name in names})


def share_features(readers: Sequence[Reader]) -> None:
    """A feature of one file of Vowpal Wabbit is a column of all of them."""
    named = [reader for reader in readers if isinstance(reader, FeatureReader)]
    every = sorted({name for reader in named for name in reader.columns or ()})
    for reader in named:
        reader.use_features(every)


def share_decimal_places(readers: Sequence[Reader]) -> None:
    """A column has one power of ten in all files: the largest that one of them needs."""
    for reader in readers:
        if reader.decimal_places is None:
            raise fault("not decimal", reader.path)
    known = [reader.decimal_places or () for reader in readers]
    if len(set(map(len, known))) == 1:  # else their columns differ: an error, once they are read
        for reader in readers:
            reader.decimal_places = tuple(map(max, *known, known[0]))


def reader_of(path: str, options: Options, file: "str | Pipe | None" = None) -> Reader:
    """The reader of one file, by its format; or of the `file` or the text that came out of a pipe of this name."""
    if file is None or isinstance(file, str):
        kind = kind_of(path, options.format, file)
        require_content(path, file or path, kind, options.format)
    else:
        kind = options.format or "csv"
    if kind in ("csv", "tsv"):
        from linsep.sources.files.csv_reader import CsvReader

        return CsvReader(path, options, file, "," if kind == "csv" else "\t")
    if kind == "svmlight":
        from linsep.sources.files.svmlight import SvmlightReader

        return SvmlightReader(path, options, file)
    if kind == "vw":
        from linsep.sources.files.vowpal import VowpalReader

        return VowpalReader(path, options, file)
    assert file is None or isinstance(file, str)  # only text comes out of a pipe as it is read
    if kind in ("npy", "npz"):
        from linsep.sources.files.numpy_files import NpyReader, NpzReader

        return NpyReader(path, options, file) if kind == "npy" else NpzReader(path, options, file)
    from linsep.sources.files.parquet import ArrowReader, ParquetReader

    return ParquetReader(path, options, file) if kind == "parquet" else ArrowReader(path, options, file)
