"""CSV and TSV files, compressed or not: cut at line ends into pieces that pyarrow reads as numbers.

pyarrow parses, with the type of every column given, so that nothing is guessed. Three of its habits are corrected:
integers beyond 2^53 become doubles (they are read again, as text), empty cells become nulls, and errors do not name the
row (the piece is then walked with Python's csv module, which finds the cell).
"""

import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial, reduce
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as arrow_csv

from linsep.cores import thread_count
from linsep.errors import InputError
from linsep.faults import fault
from linsep.sources.files import decimals
from linsep.sources.files.cells import TableReader, first_true, in_order, require_columns
from linsep.sources.files.csv_records import (
    NOT_TEXT,
    CsvText,
    has_lone_quote,
    line_count,
    may_be_a_row,
    may_have_lone_quote,
    row_fault,
    split_records,
)
from linsep.sources.files.options import Options
from linsep.sources.files.reader import Batch
from linsep.sources.files.text_reader import BOM, Pipe
from linsep.sources.files.threads import map_in_order
from linsep.sources.files.values import (
    EXACT,
    INTEGER,
    NOT_FINITE,
    NOT_ZERO,
    NUMBER,
    is_below,
    is_finite,
    may_vanish,
)
from linsep.tables.categories import is_mixed

POSITION = re.compile("-?[0-9]+")


class CsvReader(CsvText, TableReader):
    """A table as text, its first line the names of the columns."""

    is_text = True
    has_header = True

    def __init__(self, path: str, options: Options, file: str | Pipe | None = None, delimiter: str = ",") -> None:
        super().__init__(path, options, file, delimiter)
        self._choose(self.header)
        by_name = options.says_label and isinstance(options.label, str) and not POSITION.fullmatch(options.label)
        by_model = options.needs is not None and options.needs.names is not None
        if not (options.header or by_name or by_model) and may_be_a_row(self.header, self.label_name):
            raise self.no_header(self.header)
        first = zip(self.header, self.first_values(), strict=True)
        self.booleans = {name for name, value in first if value.lower() in ("true", "false")}  # in every row then
        is_csv = self.compression is None and delimiter == "," and path.lower().endswith(".csv")
        is_whole = list(self.names) == [name for name in self.header if name != self.label_name]
        if options.categories is not None:
            require_columns(self.path, self.names, options)
            self._find_categories()
        self.is_plain_csv = is_csv and is_whole and not self.categories
        self.use_categories(self.categories)
        if options.numbers == "decimal":
            self._find_decimal_places()
        if options.categories is not None:
            self._leave_out_rejected()

    # Batches ------------------------------------------------------------------------------------------

    def batches(self) -> Iterator[Batch]:
        """Every row once, in order."""
        first, lines = 0, self._header_lines
        self.left_out = 0
        workers = thread_count() if self.pipe is None else 1  # rows from a pipe must not wait for later ones
        for byte, text, found, lines_here in map_in_order(self._tried, self.pieces(is_walk=True), workers):
            batch = Batch(*found, first) if found is not None else self._batch_of(text, first, byte, lines)
            lines += lines_here
            if len(batch):
                yield batch
            first += len(batch)
        self.walked(first, "header alone")

    def _tried(self, piece: tuple[int, bytes]) -> tuple[int, bytes, tuple[Any, Any] | None, int]:
        """A piece read by a thread that does not know its row and line numbers; None if something is wrong with it.

        Such a piece is read again when its turn comes: then what came before is known, and the fault can be located.
        """
        byte, text = piece
        found = None
        with suppress(_UnreadError, InputError):
            found = self._parsed(text, 0, use_threads=self.pipe is not None)
        return byte, text, found, line_count(text)

    def _batch_of(self, text: bytes, first: int, byte: int, lines: int) -> Batch:
        """The batch of whole records that begin at this byte after this many lines; bad rows are rejected."""
        try:
            return Batch(*self._parsed(text, first), first)
        except (_UnreadError, InputError) as error:
            seen = error
        good: list[str] = []
        stand_on: list[int] = []  # the line of each good row
        for line, start, source, record in self._records(text):
            row = first + len(good) + self.left_out
            bad = row_fault(self, record, source, row, lines + line, byte + start)
            if bad is None:
                good.append(source)
                stand_on.append(lines + line)
            else:
                self.reject(row, bad, source.rstrip("\r\n"))
        if self.options.rejects is None:  # no single cell is at fault
            raise self._located(seen, stand_on, first)
        if not good:
            return Batch(np.zeros((0, self.n_columns)), None, first)
        try:
            return Batch(*self._parsed(_as_text(good), first), first)
        except (_UnreadError, InputError) as error:
            raise self._located(error, stand_on, first) from error

    def _records(self, text: bytes) -> Iterator[tuple[int, int, str, list[str]]]:
        return split_records(text.decode("utf-8", "surrogateescape"), self.delimiter)

    def _located(self, seen: Exception, lines: list[int], first: int) -> InputError:
        """An error about a row, with its line added; an error of pyarrow becomes one of ours."""
        if not isinstance(seen, InputError):
            return fault("not csv", self.path, seen=seen)
        if seen.row is not None and 0 <= seen.row - first < len(lines):
            return seen.at(line=lines[seen.row - first])
        return seen

    # Pieces of text as numbers --------------------------------------------------------------------------

    def _parsed(self, text: bytes, first: int, *, use_threads: bool = True) -> tuple[Any, Any]:
        """The values and labels of a piece, if nothing is wrong with any of its rows."""
        is_decimal = self.decimal_places is not None
        columns = self._read_csv(text, self._types("string" if is_decimal else "double"), use_threads=use_threads)
        if any(True for _ in self._faults(columns)):
            raise _UnreadError("a value is missing")
        if is_decimal:
            self._make_integers(columns, first)
        values = self._rows(columns, first)
        if not is_decimal and not is_below(self._entries(values), EXACT):  # or NaN
            for name in self._numeric:
                columns[name] = self._exact(columns[name], name, text, first)
            values = self._rows(columns, first)
            if values.dtype.kind == "f" and not is_finite(self._entries(values)):
                raise _UnreadError("a number is not finite")
        if not is_decimal and may_vanish(text):
            self._require_kept(columns, text, first)
        return values, self._labels(columns)

    def _rows(self, columns: dict[str, Any], first: int) -> Any:
        return (
            self._sparse_rows(columns, first) if self.is_sparse else self._joined(self._arrays(columns, first), first)
        )

    def _entries(self, values: Any) -> Any:
        return values.data if self.is_sparse else values.reshape(-1)

    @property
    def _numeric(self) -> list[str]:
        """The columns that are written as numbers."""
        return [name for name in self.names if name not in self.categories and name not in self.booleans]

    def _types(self, kind: str) -> dict[str, Any]:
        """The types with which pyarrow reads the columns: numbers as `kind`, text as text and booleans as booleans."""
        known = {name: pa.bool_() for name in self.booleans} | {name: pa.string() for name in self.categories}
        types = {name: known.get(name) or pa.type_for_alias(kind) for name in self.names}
        return types if self.label_name is None else {str(self.label_name): pa.string(), **types}

    def _read_texts(self, text: bytes, names: Sequence[str]) -> dict[str, Any]:
        """Columns of a piece as they are written."""
        return self._read_csv(text, dict.fromkeys(names, pa.string()))

    def _read_csv(self, text: bytes, types: dict[str, Any], *, use_threads: bool = True) -> dict[str, Any]:
        """Columns of a piece in these types."""
        if b"\0" in text or text.startswith(BOM):  # pyarrow ignores a mark at the beginning of any piece
            raise _UnreadError("a NUL byte or a byte order mark")
        is_quoted = b'"' in text
        if is_quoted and may_have_lone_quote(text) and has_lone_quote(text.decode("utf-8", "replace"), self.delimiter):
            raise _UnreadError("a quotation mark inside a value")
        blocks = [len(text) + 1]  # a quoted record could be longer than a block, and so could any line
        if use_threads and not is_quoted and len(text) > 1 << 21:
            blocks.insert(0, max(1 << 20, len(text) // 8))
        for block in blocks:
            try:
                read = partial(
                    arrow_csv.read_csv,
                    pa.BufferReader(text),
                    read_options=arrow_csv.ReadOptions(
                        column_names=list(self.header), block_size=block, use_threads=use_threads
                    ),
                    parse_options=arrow_csv.ParseOptions(delimiter=self.delimiter, newlines_in_values=is_quoted),
                    convert_options=arrow_csv.ConvertOptions(
                        include_columns=list(types),
                        column_types=types,
                        strings_can_be_null=True,
                        quoted_strings_can_be_null=False,  # NA is missing, "NA" is a label
                    ),
                )
                table = _off_the_main_thread(read)
                return {name: table[name] for name in types}
            except (pa.ArrowInvalid, pa.ArrowKeyError) as error:
                if "Empty CSV" in str(error):  # only blank lines
                    return {name: pa.array([], types[name]) for name in types}
                if "straddl" not in str(error) or block > len(text):  # else a line is longer than a block
                    raise _UnreadError(str(error)) from error
        raise AssertionError  # the last block holds all

    def _require_kept(self, columns: dict[str, Any], text: bytes, first: int) -> None:
        """Refuse a number that is not 0 and became 0."""
        for name in self._numeric:
            if pc.any(pc.equal(columns[name], 0)).as_py():
                written = self._read_texts(text, [name])[name]
                lost = pc.and_(pc.equal(columns[name], 0), pc.match_substring_regex(written, pattern=f"^{NOT_ZERO}"))
                if pc.any(lost).as_py():
                    row = first_true(lost)
                    raise self.inexact(first + row, name, written[row].as_py())

    def _exact(self, column: Any, name: str, text: bytes, first: int) -> Any:
        """The column as integers where doubles would round them, else as it is."""
        span = pc.min_max(column).as_py()
        if span["min"] is None or max(abs(span["min"]), abs(span["max"])) < EXACT:
            return column
        written = self._read_texts(text, [name])[name]
        whole = pc.match_substring_regex(written, pattern=f"^{INTEGER.pattern}$")
        large = pc.greater_equal(pc.abs(column), EXACT)
        if not pc.any(pc.and_(whole, large)).as_py():
            return column  # 1e300 is a double like any other
        doubles = pc.and_(pc.less_equal(pc.abs(column), EXACT), pc.equal(pc.floor(column), column))
        if pc.all(pc.or_(whole, doubles)).as_py():  # 1.0 counts as an integer too, as in a batch without long integers
            bare = pc.replace_substring_regex(written, pattern=r"^\s*\+?|\s*$", replacement="")
            with suppress(pa.ArrowInvalid):
                integers = pc.if_else(whole, bare, pa.scalar("0")).cast(pa.int64())
                return pc.if_else(whole, integers, pc.if_else(whole, 0.0, column).cast(pa.int64()))
        for row, (value, is_whole) in enumerate(zip(written.to_pylist(), whole.to_pylist(), strict=True)):
            digits = value.strip().lstrip("+-").lstrip("0") if is_whole else ""
            if len(digits) >= 17 or int(digits or "0") > EXACT:
                raise self.inexact(first + row, name, value.strip())
        return column

    def place_of(self, name: str) -> int:
        """The position of a column among those of numbers."""
        return (self.columns or ()).index(name)

    def _make_integers(self, columns: dict[str, Any], first: int) -> None:
        """Every decimal times the power of ten of its column."""
        for name in self._numeric:
            places = (self.decimal_places or ())[self.place_of(name)]
            integers = decimals.scaled(columns[name], places)
            if integers is None:
                for row, value in enumerate(columns[name].to_pylist()):
                    if NUMBER.fullmatch(value) and (
                        bad := decimals.fault_of(self.path, first + row, name, value, places)
                    ):
                        raise bad
                raise _UnreadError(f"column {name!r} holds no decimals")
            columns[name] = pa.array(integers)

    # What separate reads find: places of decimals, and categories ----------------------------------------

    def _texts(self) -> Iterator[dict[str, Any]]:
        """All cells as text, piece by piece, without lines that are not rows: the main read reports those.

        If rows with missing values are dropped, their cells are left out: they say nothing about a column.
        """
        if self.options.missing != "drop":
            yield from self._all_texts(self.names)
            return
        for columns in self._all_texts(self.wanted):
            gaps = reduce(pc.or_, [column.is_null() for column in columns.values()])
            is_whole = not pc.any(gaps).as_py()
            yield columns if is_whole else {name: each.filter(pc.invert(gaps)) for name, each in columns.items()}

    def _all_texts(self, names: Sequence[str]) -> Iterator[dict[str, Any]]:
        for _, piece in self.pieces():
            try:
                yield self._read_texts(piece, names)
            except _UnreadError as error:
                rows = [source for _, _, source, record in self._records(piece) if self._is_row(source, record)]
                try:
                    yield self._read_texts(_as_text(rows), names)
                except _UnreadError:
                    raise self._located(error, [], 0) from error

    def _is_row(self, source: str, record: list[str]) -> bool:
        is_text = not NOT_TEXT.search(source) and not has_lone_quote(source, self.delimiter)
        return is_text and len(record) == len(self.header)

    def find_decimal_places(self) -> bool:
        """Find `decimal_places` again where other files have categories of their own."""
        if self.decimal_places is not None and len(self.decimal_places) != self.n_columns:
            self._find_decimal_places()
        return False

    def _find_decimal_places(self) -> None:
        """How many digits after the point each column needs."""
        most, bound = dict.fromkeys(self.columns or (), 0), decimals.MOST_PLACES
        for columns in self._texts():
            for name in self._numeric:
                known = decimals.places_of(columns[name], None if self.options.rejects is None else bound)
                most[name] = max(most[name], known)
        self.decimal_places = tuple(most.values())

    def _find_categories(self, text: set[str] | None = None) -> None:
        """Find which columns are text, and the values they hold: one read, or a few if text appears late."""
        named = self.options.categories
        text = text or {name for name in self.names if isinstance(named, Mapping) and name in named}
        while late := self._text_columns(found := {name: set[str]() for name in text}):
            text |= late
        if isinstance(named, str):  # numbers with some text among them are numbers: the text is a bad cell
            text = {name for name in text if not is_mixed(found[name])}
        self.categories = {name: in_order(found[name]) for name in self.names if name in text}
        self.booleans -= text
        width = max(1, len(self.names) - len(text) + sum(map(len, found.values())))
        self.chunk = max(1 << 12, min(self.chunk, self.options.batch_bytes * len(self.header) // width))  # wider rows

    def also_text(self, names: Sequence[str]) -> None:
        """Treat these columns as text, because they are text in other files: a column without values is."""
        if self.text_rows:
            super().also_text(names)

    def _leave_out_rejected(self) -> None:
        """Leave out categories that occur only in rows to be rejected; one more read, if rows can be rejected."""
        if self.options.rejects is None or not self.categories:
            return
        found, rows = {name: set[str]() for name in self.categories}, 0
        for _, piece in self.pieces():
            is_good = self._tried((0, piece))[2] is not None
            text = piece if is_good else _as_text([source for _, _, source, _ in self._kept(piece)])
            try:
                columns = self._read_texts(text, list(found)) if text else {}
            except _UnreadError:
                return  # the main read reports this too
            rows += len(next(iter(columns.values()), ()))
            for name, column in columns.items():
                found[name].update(value for value in pc.unique(column).to_pylist() if value is not None)
        self.text_rows = rows
        self.use_categories({name: in_order(levels) for name, levels in found.items()})
        if self.decimal_places is not None:
            self._find_decimal_places()

    def _text_columns(self, found: dict[str, set[str]]) -> set[str]:
        """Fill in the values of known text columns; return columns that turn out to be text after all."""
        pattern = f"^({NUMBER.pattern}|{NOT_FINITE.pattern})$"
        self.text_rows, is_any = 0, isinstance(self.options.categories, str)
        for columns in self._texts():
            late = set()
            self.text_rows += len(next(iter(columns.values()), ()))
            for name in self.names:
                if name in found:
                    found[name].update(value for value in pc.unique(columns[name]).to_pylist() if value is not None)
                    self._require_few(name, len(found[name]))
                elif is_any and name not in self.booleans:
                    is_number = pc.match_substring_regex(columns[name], pattern, ignore_case=True)
                    if pc.any(pc.invert(is_number)).as_py():
                        late.add(name)
            if late:
                return late
        return set()

    # Lines ------------------------------------------------------------------------------------------------

    def lines(self, rows: Sequence[int]) -> dict[int, int]:
        """The line on which each of these rows begins: one walk over the text up to the last of them.

        Rejected rows have lines too, although they are not counted as rows.
        """
        wanted, last = set(rows), max(rows, default=-1)
        found: dict[int, int] = {}
        row, before = 0, self._header_lines
        for _, text in self.pieces():
            for line in self._starts(text) if row <= last else ():
                if row in wanted:
                    found[row] = before + line
                row += 1
            before += line_count(text)
            if row > last:
                break
        return found

    def ids(self, rows: Sequence[int]) -> dict[int, str]:
        """The id of each of these rows: one walk over the text up to the last of them."""
        if self.id_name is None:
            return {}
        wanted, last, row = set(rows), max(rows, default=-1), 0
        found: dict[int, str] = {}
        for _, text in self.pieces():
            if row > last:
                break
            here = sum(1 for _ in self._starts(text))
            if not wanted.isdisjoint(range(row, row + here)):  # other pieces need not be split into records
                ids = enumerate(self._called(text, self.header.index(self.id_name)), row)
                found |= {number: called for number, called in ids if number in wanted}
            row += here
        return found

    def all_ids(self) -> Iterator[str]:
        """The id of each row, in order."""
        if self.id_name is not None:
            for _, text in self.pieces():
                yield from self._called(text, self.header.index(self.id_name))

    def _called(self, text: bytes, place: int) -> Iterator[str]:
        """The ids of the rows of a piece."""
        return (record[place] for _, _, _, record in self._kept(text))

    def _starts(self, text: bytes) -> Iterator[int]:
        """The lines of a piece, counted from 1, on which rows begin."""
        if self.options.rejects is None and not any(mark in text for mark in (b'"', b"\r", b"\n\n")):
            yield from range(2 if text.startswith(b"\n") else 1, line_count(text) + 1 + (not text.endswith(b"\n")))
            return
        yield from (line for line, _, _, _ in self._kept(text))

    def _kept(self, text: bytes) -> Iterator[tuple[int, int, str, list[str]]]:
        """The records of a piece that will not be rejected."""
        for found in self._records(text):
            if self.options.rejects is None or row_fault(self, found[3], found[2], 0, 0, 0) is None:
                yield found


def _as_text(rows: list[str]) -> bytes:
    """Records one after the other, each with its line end."""
    return "".join(row if row.endswith(("\n", "\r")) else row + "\n" for row in rows).encode()


def _off_the_main_thread(work: Callable[[], Any]) -> Any:
    """The result of some work of pyarrow.

    In the main thread pyarrow takes over Ctrl-C while it parses, and loses one that is pressed as it ends.
    """
    if threading.current_thread() is not threading.main_thread():
        return work()
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(work).result()


class _UnreadError(Exception):
    """pyarrow could not read a piece, and does not say which cell is at fault."""
