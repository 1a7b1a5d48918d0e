"""Files of any kind as one Parquet file, to be read many times."""

from collections.abc import Iterator
from itertools import chain, islice
from typing import Any, NamedTuple

import numpy as np

from linsep.errors import ArgumentError, FileError, FileKindError
from linsep.faults import BINARY64
from linsep.outputs import replaced
from linsep.sources.files import survey_files
from linsep.sources.files.cells import TableReader
from linsep.sources.files.first_read import Survey, common_kind
from linsep.sources.files.options import Options
from linsep.sources.files.paths import Paths
from linsep.sources.files.reader import Batch

WIDEST = 100_000  # columns: Parquet is unsuitable for wider tables


class Converted(NamedTuple):
    """How many rows were written, and how many were rejected."""

    rows: int
    rows_left_out: int


def convert(files: Paths, output: str, **options: Any) -> Converted:
    """Write files of any kind as one Parquet file, batch by batch.

    Parameters
    ----------
    files : str, path, or several
        As `linsep.open` takes them.
    output : str
        The Parquet file.
    **options
        Those of `linsep.open`.

    Returns
    -------
    Converted
        How many rows were written, and how many were rejected.

    Raises
    ------
    InputError
        A file cannot be read or a row is bad, or the output is not a name for Parquet.

    Examples
    --------
    >>> import linsep, pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "points.csv").write_text("a,y\\n1,no\\n2,yes\\n")
    >>> linsep.on_files.convert(folder / "points.csv", str(folder / "points.parquet"), label="y").rows
    2
    """
    import pyarrow.parquet as pq

    chosen = Options(**options)
    if not output.lower().endswith((".parquet", ".pq")):
        raise FileKindError("not the name of a .parquet file", file=output, fix="Give another name.")
    surveys, _keep = survey_files(files, chosen)
    if surveys[0].reader.decimal_places is not None:  # they are read as integers, each column times a power of ten
        raise ArgumentError("the decimals are not doubles, which is all that convert writes").at(fix=BINARY64)
    width = max(survey.reader.n_columns for survey in surveys)
    if width > WIDEST:
        raise FileError(f"{width:,} columns are too many for Parquet", file=output, fix="Keep the sparse format.")
    tables, rows = _tables(surveys, width), 0
    first = next(tables)
    with replaced(output) as file, pq.ParquetWriter(file, first.schema) as writer:
        for table in chain([first], tables):
            writer.write_table(table)
            rows += table.num_rows
    return Converted(rows, 0 if chosen.rejects is None else chosen.rejects.count)


def _tables(surveys: list[Survey], width: int) -> Iterator[Any]:
    import pyarrow as pa

    kind_of_numbers = common_kind(surveys)
    first = surveys[0].reader
    called = [first.id_name] if isinstance(first, TableReader) and first.id_name is not None else []
    names = [*called, *(first.columns or (f"x{j + 1}" for j in range(width))), _free_name(first)]
    values = [value for survey in surveys for value in survey.labels.values()]
    kind = pa.array(values).type if values else pa.string()
    for survey in surveys:
        meanings, ids = survey.labels.values(), survey.reader.all_ids()
        for batch in chain.from_iterable(map(survey.store.read, range(len(survey.store.lengths)))):
            columns = _dense(batch.as_rows(), width).astype(kind_of_numbers, copy=False)
            codes = survey.labels.encode(batch.labels, batch.first).tolist()
            labels = pa.array([meanings[code] for code in codes], kind)
            own = [pa.array(islice(ids, len(batch)), pa.string()) for _ in called]
            yield pa.table([*own, *(np.ascontiguousarray(column) for column in columns.T), labels], names=names)


def _free_name(reader: Any) -> str:
    name = reader.label_name if isinstance(reader.label_name, str) else "y"
    return name if name not in (reader.columns or ()) else f"{name}_label"


def _dense(batch: Batch, width: int) -> Any:
    if isinstance(batch.values, np.ndarray):
        return batch.values
    table = np.zeros((len(batch), width), batch.values.dtype)
    table[:, : batch.values.shape[1]] = batch.values.toarray()
    return table
