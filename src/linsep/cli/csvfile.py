"""CSV files as Arrow tables: every cell a number that was read as written, or an error that names the cell.

pyarrow reads and guesses the types; three of its kindnesses are undone here. It rounds integers beyond int64 to
doubles, it leaves empty cells as nulls, and it turns a column with one stray word into text.
"""

import csv
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.errors import FileError, InexactError, MissingColumnError, MissingLabelError, NoRowsError, NotNumericError
from linsep.models import repeated

EXACT = 2.0**53  # every integer up to here is a double
_INTEGER = r"^\s*[+-]?[0-9]+\s*$"
_NUMBER = r"^\s*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?\s*$"
_PLUS = r"^\s*\+?|\s*$"  # what Arrow's own conversion from text does not know


@dataclass(frozen=True, slots=True)
class CsvFile:
    """A CSV file with a header line. Rows are counted from 0 below it, lines from 1 as an editor does."""

    path: str
    names: tuple[str, ...]

    @classmethod
    def open(cls, path: str) -> "CsvFile":
        """Read the header line."""
        _, names = next(_records(path), (0, None))
        if not names:
            raise FileError(f"{path}: the file is empty. A table begins with a line of column names.")
        if (twice := repeated(names)) is not None:
            raise FileError(f"{path}: two columns are called {twice!r}. Rename one of them.")
        return cls(path, tuple(names))

    def find_label(self, label: str) -> str:
        """The name of the label column, given as a name or as a position such as -1."""
        if label in self.names:
            return label
        if re.fullmatch(r"-?[0-9]{1,9}", label) and -len(self.names) <= int(label) < len(self.names):
            return self.names[int(label)]
        raise MissingColumnError(f"{self.path}: there is no column {label!r}. {self.advice(label)}")

    def advice(self, name: str) -> str:
        """Which columns there are, and which of them was perhaps meant."""
        if len(self.names) == 1 and re.search(r"[;\t|]", self.names[0]):
            return f"The header is the single column {self.names[0]!r}: separate the columns by commas."
        near = get_close_matches(name, self.names, n=1)
        shown = ", ".join(repr(name) for name in self.names[:20]) + (", ..." if len(self.names) > 20 else "")
        return f"The columns are {shown}." + (f" Did you mean {near[0]!r}?" if near else "")

    def read(self, features: Sequence[str], label: str | None) -> tuple[Any, Any]:
        """These columns as an Arrow table of numbers, and the label column as text (None where none is asked)."""
        table = self._read([*features, *([label] if label else [])], {label: "string"} if label else {})
        if table.num_rows == 0:
            raise NoRowsError(f"{self.path}: there is a header but no row below it.")
        for j, name in enumerate(features):
            table = table.set_column(j, name, self._numbers(table[name], name))
        return table.select(list(features)), table[label] if label else None

    def labels(self, column: Any, name: str) -> npt.NDArray[Any]:
        """Labels as integers where all are integers, as floats where all are numbers, otherwise as text."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if column.null_count:
            where = self._where(_first(column.is_null()), name)
            raise MissingLabelError(f"{where}: the label is missing. Every row needs one.")
        bare = pc.replace_substring_regex(column, pattern=_PLUS, replacement="")
        for pattern, kind in ((_INTEGER, pa.int64()), (_NUMBER, pa.float64())):
            if pc.all(pc.match_substring_regex(column, pattern=pattern)).as_py():
                try:
                    return np.asarray(bare.cast(kind))
                except pa.ArrowInvalid:  # more digits than int64 has: then they are names, not numbers
                    break
        return np.array(column.to_pylist(), dtype=object)

    def lines(self, rows: Collection[int]) -> dict[int, int]:
        """The line on which each of these rows begins."""
        wanted, last = set(rows), max(rows, default=-1)
        below_header = islice(_starts(self.path), 1, last + 2)
        return {row: line for row, line in enumerate(below_header) if row in wanted}

    def _read(self, columns: list[str], kinds: dict[Any, str]) -> Any:
        import pyarrow as pa
        from pyarrow import csv as arrow_csv

        try:
            return arrow_csv.read_csv(
                self.path,
                parse_options=arrow_csv.ParseOptions(newlines_in_values=True),
                convert_options=arrow_csv.ConvertOptions(
                    include_columns=columns,
                    column_types={name: pa.type_for_alias(kind) for name, kind in kinds.items()},
                    strings_can_be_null=True,
                    quoted_strings_can_be_null=False,  # NA is missing, "NA" is a label
                ),
            )
        except (pa.ArrowInvalid, pa.ArrowKeyError) as error:
            self._require_full_rows()
            raise FileError(f"{self.path}: cannot be read as CSV: {error}") from error

    def _require_full_rows(self) -> None:
        for line, record in _records(self.path):
            if len(record) != len(self.names):
                raise FileError(
                    f"{self.path}: line {line} has {len(record)} values where the header names {len(self.names)} "
                    "columns. Text that contains a comma needs quotes around it."
                )

    def _numbers(self, column: Any, name: str) -> Any:
        import pyarrow as pa

        if column.null_count:
            where = self._where(_first(column.is_null()), name)
            raise NotNumericError(f"{where}: the value is missing. Drop the row or fill the value in.")
        kind = column.type
        if pa.types.is_integer(kind) or pa.types.is_boolean(kind):
            return column
        if not pa.types.is_floating(kind):
            raise self._not_a_number(name)
        self._require_finite(column, name)
        self._require_exact(column, name)
        return column

    def _require_finite(self, column: Any, name: str) -> None:
        import pyarrow.compute as pc

        bad = pc.invert(pc.is_finite(column))
        if pc.any(bad).as_py():
            where = self._where(_first(bad), name)
            raise NotNumericError(f"{where}: not a finite number. Drop the row or fill the value in.")

    def _require_exact(self, column: Any, name: str) -> None:
        """Refuse an integer that became a double beyond 2^53: pyarrow makes doubles of integers beyond int64."""
        import pyarrow.compute as pc

        large = pc.greater_equal(pc.abs(column), EXACT)
        if not pc.any(large).as_py():
            return
        text = self._read([name], {name: "string"})[name]
        rows = np.flatnonzero(np.asarray(pc.and_(large, pc.match_substring_regex(text, pattern=_INTEGER))))
        for row in rows.tolist():
            if abs(int(text[row].as_py())) > EXACT:
                raise InexactError(
                    f"{self._where(row, name)}: an integer beyond 2^53 in a column of floats, or beyond 64 bits, would "
                    "be rounded, and linsep never rounds in silence. Subtract a constant from the column or divide it."
                )

    def _not_a_number(self, name: str) -> NotNumericError:
        """The first cell of the column that is no number."""
        number, place = re.compile(_NUMBER), self.names.index(name)
        for row, (_, record) in enumerate(_rows(self.path)):
            if not number.match(record[place]):
                advice = "Turn the text into numbers, or leave the column out."
                return NotNumericError(f"{self._where(row, name)}: not a number. {advice}")
        return NotNumericError(f"{self.path}: column {name!r} mixes numbers of different kinds, such as dates.")

    def _where(self, row: int, name: str) -> str:
        """A cell as people find it: file, row, line, column and what is written there."""
        for number, (line, record) in enumerate(_rows(self.path)):
            if number == row:
                value = record[self.names.index(name)]
                return f"{self.path}: row {row} (line {line}), column {name!r} holds {value!r}"
        return f"{self.path}: row {row}, column {name!r}"


def _rows(path: str) -> Iterator[tuple[int, list[str]]]:
    records = _records(path)
    next(records, None)
    return records


def _records(path: str) -> Iterator[tuple[int, list[str]]]:
    """The line on which each record begins, and its values; blank lines are no records, as in pyarrow."""
    try:
        with Path(path).open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file)
            line = 1
            for record in reader:
                if record:
                    yield line, record
                line = reader.line_num + 1
    except OSError as error:
        raise FileError(f"{path}: cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise FileError(f"{path}: not UTF-8 text (byte {error.object[error.start]:#04x}). Save it as UTF-8.") from error
    except csv.Error as error:
        raise FileError(f"{path}: line {line}: cannot be read as CSV: {error}.") from error


def _starts(path: str) -> Iterator[int]:
    """The line on which each record begins. Up to the first quote every line is one: no need to split it."""
    seen = 0
    with Path(path).open(encoding="utf-8-sig", newline="") as file:
        for line, text in enumerate(file, start=1):
            if '"' in text:
                break
            if text.strip("\r\n"):
                yield line
                seen += 1
        else:
            return
    yield from (line for line, _ in islice(_records(path), seen, None))


def _first(mask: Any) -> int:
    import pyarrow.compute as pc

    return int(pc.index(mask, True).as_py())
