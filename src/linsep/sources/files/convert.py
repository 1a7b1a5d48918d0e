"""Files of any kind as one Parquet file, to be read many times."""

from collections.abc import Iterator
from itertools import chain
from typing import Any

import numpy as np

from linsep.errors import ArgumentError, FileError, FileKindError
from linsep.outputs import replaced
from linsep.sources.files import survey_files
from linsep.sources.files.first_read import Survey, common_kind
from linsep.sources.files.options import Options
from linsep.sources.files.paths import Paths
from linsep.sources.files.reader import Batch

WIDEST = 100_000  # columns of a table that Parquet still serves


def convert(path: Paths, output: str, options: Options, *, cache: Any = None, format: str | None = None) -> int:  # noqa: A002
    """Write the chosen columns and the label to a Parquet file, batch by batch; returns how many rows."""
    import pyarrow.parquet as pq

    if not output.lower().endswith((".parquet", ".pq")):
        raise FileKindError("not the name of a .parquet file", file=output, fix="Give another name.")
    if options.numbers == "decimal":  # they are read as integers, each column times a power of ten
        raise ArgumentError("Parquet holds the nearest doubles of decimals: leave numbers out.", value="decimal")
    surveys, _keep = survey_files(path, options, cache, format)
    width = max(survey.reader.n_columns for survey in surveys)
    if width > WIDEST:
        raise FileError(f"{width:,} columns are too many for Parquet", file=output, fix="Keep the sparse format.")
    tables = _tables(surveys, width)
    first = next(tables)
    with replaced(output) as file, pq.ParquetWriter(file, first.schema) as writer:
        return sum(_written(writer, table) for table in chain([first], tables))


def _written(writer: Any, table: Any) -> int:
    writer.write_table(table)
    return int(table.num_rows)


def _tables(surveys: list[Survey], width: int) -> Iterator[Any]:
    import pyarrow as pa

    kind_of_numbers = common_kind(surveys)
    first = surveys[0].reader
    names = [*(first.columns or (f"x{j + 1}" for j in range(width))), _free_name(first)]
    values = [value for survey in surveys for value in survey.labels.values()]
    kind = pa.array(values).type if values else pa.string()
    for survey in surveys:
        meanings = survey.labels.values()
        for batch in survey.read():
            columns = _dense(batch.as_rows(), width).astype(kind_of_numbers, copy=False)
            codes = survey.labels.encode(batch.labels, batch.first).tolist()
            labels = pa.array([meanings[code] for code in codes], kind)
            yield pa.table([*(np.ascontiguousarray(column) for column in columns.T), labels], names=names)


def _free_name(reader: Any) -> str:
    name = reader.label_name if isinstance(reader.label_name, str) else "y"
    return name if name not in (reader.columns or ()) else f"{name}_label"


def _dense(batch: Batch, width: int) -> Any:
    if isinstance(batch.values, np.ndarray):
        return batch.values
    table = np.zeros((len(batch), width), batch.values.dtype)
    table[:, : batch.values.shape[1]] = batch.values.toarray()
    return table
