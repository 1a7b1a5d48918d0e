"""CSV and TSV files, compressed or not: cut at line ends into pieces that pyarrow reads as numbers.

pyarrow parses, with the type of every column given, so that nothing is guessed. Three of its kindnesses are undone:
integers beyond 2^53 become doubles (they are read again, as text), empty cells become nulls, and errors name no row
(the piece is then walked with Python's csv module, which finds the cell).
"""

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from linsep.errors import InputError
from linsep.faults import fault
from linsep.sources.files import decimals
from linsep.sources.files.cells import TableReader, first_true
from linsep.sources.files.csv_faults import INTEGER, NOT_FINITE, NUMBER, Judge, may_vanish
from linsep.sources.files.csv_records import (
    NOT_TEXT,
    has_lone_quote,
    header_end,
    last_record_end,
    line_count,
    may_have_lone_quote,
    not_text,
    split_records,
)
from linsep.sources.files.options import Options
from linsep.sources.files.paths import BEGINS
from linsep.sources.files.reader import EXACT, Batch
from linsep.sources.files.text_reader import BOM, Pipe, TextReader
from linsep.sources.files.threads import map_in_order
from linsep.sources.files.values import NOT_ZERO, is_below, is_finite
from linsep.sources.memory import thread_count

POSITION = re.compile("-?[0-9]+")
VALUE = re.compile(rf"{NUMBER.pattern}|\s*([+-]?(nan|inf|infinity)|true|false|na|n/a|null|none|)\s*", re.IGNORECASE)


def may_be_a_row(first: Sequence[str], label: str | int | None) -> bool:
    """Whether a first line holds values and no name, the labels aside: the rule of docs/certificate-format.md."""
    return all(VALUE.fullmatch(cell) for cell in first if cell != label)


def no_header(path: str, first: Sequence[str]) -> InputError:
    """A first line that holds values where names are expected."""
    seen = ", ".join(first[:8]) + (", ..." if len(first) > 8 else "")
    return fault("no header", path, byte=0, seen=seen[:80])


class CsvReader(TextReader, TableReader):
    """A table as text, its first line the names of the columns."""

    is_text = True

    def __init__(
        self,
        path: str,
        options: Options,
        delimiter: str = ",",
        compression: str | None = None,
        pipe: Pipe | None = None,
    ) -> None:
        super().__init__(path, options, compression, pipe)
        self.delimiter, self.chunk = delimiter, max(1, self.chunk // 2)  # text is longer than its numbers
        self.names, self._header_lines, self._body = self._read_header()
        self._choose(self.names, options)
        self._require_header(options)
        self._truths = self._columns_of_truths()
        is_csv = compression is None and delimiter == "," and path.lower().endswith(".csv")
        is_whole = list(self.cells.names) == [name for name in self.names if name != self.label_name]
        self.is_plain_csv = is_csv and is_whole and not options.one_hot
        if options.one_hot:
            self._find_categories()
        self.use_categories(self.cells.categories)
        if options.numbers == "decimal":
            self._find_decimal_places()

    # Pieces of text ---------------------------------------------------------------------------------

    def _read_header(self) -> tuple[tuple[str, ...], int, int]:
        """The names of the columns, how many lines they take, and the byte where the rows begin."""
        with self._stream() as stream:
            text = stream.read(1 << 16)
            while (end := header_end(text)) is None and len(text) < self.longest_record:
                more = stream.read(min(max(1 << 20, len(text)), self.longest_record))
                if not more:
                    break
                text += more
        if not text.strip():
            raise self._empty()
        if end is None:
            end, is_long = len(text), len(text) >= self.longest_record
            self._require_text(text[: 1 << 16] if is_long else text)
            if text.count(b'"') % 2:
                raise self._unclosed(text, 0, is_long=is_long)
            if is_long:
                raise fault("long header", self.path, byte=0, most=self.longest_record_told)
        self._require_text(text[:end])
        self.options.require_room(self.path, text.count(self.delimiter.encode(), 0, end))
        header = text[:end].removeprefix(BOM).decode()
        record = next((row for _, _, _, row in split_records(header, self.delimiter)), None)
        if not record:
            raise self._empty()
        if len(set(record)) < len(record):
            if may_be_a_row(record, None):
                raise no_header(self.path, record)
            twice = Counter(record).most_common(1)[0][0]
            raise fault("name twice", self.path, column=twice)
        return tuple(record), line_count(text[:end]), end

    def _empty(self) -> InputError:
        return fault("empty", self.path, begins=BEGINS)

    def _require_header(self, options: Options) -> None:
        """Refuse a first line that may be a row, unless someone says that it names the columns."""
        by_name = options.says_label and isinstance(options.label, str) and not POSITION.fullmatch(options.label)
        by_model = options.needs is not None and options.needs.names is not None
        if not (options.header or by_name or by_model) and may_be_a_row(self.names, self.label_name):
            raise no_header(self.path, self.names)

    def _pieces(self, digest: Any = None) -> Iterator[tuple[int, bytes]]:
        """The rows as text, whole records each, with the byte where each piece begins."""
        with self._stream(digest, is_last=True) as stream:
            stream.read(self._body)
            rest, offset = b"", self._body
            while data := self.next_data(stream, rest):
                end = data.rfind(b"\n") + 1
                if end and b'"' not in data and b'"' not in rest:
                    yield offset, b"".join((rest, memoryview(data)[:end]))  # copied once
                    offset, rest = offset + len(rest) + end, data[end:]
                    continue
                rest += data
                end = last_record_end(rest)
                if end:
                    yield offset, rest[:end]
                    offset, rest = offset + end, rest[end:]
                elif len(rest) > self.longest_record:
                    is_open = rest.count(b'"') % 2
                    raise self._unclosed(rest, offset, is_long=True) if is_open else self._endless(offset)
            if rest:
                if rest.count(b'"') % 2:
                    raise self._unclosed(rest, offset, is_long=False)
                yield offset, rest

    def _endless(self, byte: int) -> InputError:
        return fault("endless", self.path, line=self._line_at(byte), byte=byte, most=self.longest_record_told)

    def _unclosed(self, text: bytes, byte: int, *, is_long: bool) -> InputError:
        """A quotation in the record that begins at this byte, which ends too late or not at all."""
        quote, line = text.rindex(b'"'), self._line_at(byte)
        value = text[quote : quote + 100].decode("utf-8", "replace")
        kind = "long quote" if is_long else "open quote"
        return fault(kind, self.path, line=line, byte=byte + quote, value=value, most=self.longest_record_told)

    def _line_at(self, byte: int) -> int | None:
        """The line that begins at a byte, which only a fault asks for; what a pipe gave cannot be read again."""
        if self.pipe is not None:
            return None
        lines, left = 1, byte
        with self._stream() as stream:
            while left and (text := stream.read(min(left, 1 << 20))):
                lines, left = lines + line_count(text), left - len(text)
        return lines

    # Batches ------------------------------------------------------------------------------------------

    def batches(self) -> Iterator[Batch]:
        """Every row once, in order."""
        first, lines = 0, self._header_lines
        digest = self.new_digest()
        self.left_out = 0
        workers = thread_count() if self.pipe is None else 1  # what a pipe gave must not wait for what it will give
        for byte, text, found, lines_here in map_in_order(self._tried, self._pieces(digest), workers):
            self.stamp.require_same()  # a file that grows is not followed
            batch = Batch(*found, first) if found is not None else self._batch(text, first, byte, lines)
            lines += lines_here
            if len(batch):
                yield batch
            first += len(batch)
        self._finish(digest)
        self.require_rows(first, "header alone")

    def _tried(self, piece: tuple[int, bytes]) -> tuple[int, bytes, tuple[Any, Any] | None, int]:
        """A piece read by a thread that knows neither its rows nor its lines; None where something is wrong with it.

        It is read again when its turn comes: then it is known what came before, and what is wrong can be located.
        """
        byte, text = piece
        found = None
        with suppress(_UnreadError, InputError):
            found = self._parsed(text, 0, use_threads=self.pipe is not None)
        return byte, text, found, line_count(text)

    def _batch(self, text: bytes, first: int, byte: int, lines: int) -> Batch:
        """Whole records, the first of which begins at this byte after this many lines."""
        try:
            return Batch(*self._parsed(text, first), first)
        except (_UnreadError, InputError) as fault:
            return self._without_bad_rows(text, first, byte, lines, fault)

    def _parsed(self, text: bytes, first: int, *, use_threads: bool = True) -> tuple[Any, Any]:
        """The values and labels of a piece, if nothing is wrong with any of its rows."""
        if self.decimal_places is not None:
            table = self._parse_decimals(text, first, self.decimal_places)
            return self.cells.matrix(table, first), self.cells.labels(table, first)
        table = self._read_csv(text, "double", use_threads=use_threads)
        values = self.cells.matrix(table, first)
        if not is_below(values.reshape(-1), EXACT):  # or NaN
            table = self._with_exact_integers(table, text, first)
            values = self.cells.matrix(table, first)
            if values.dtype.kind == "f" and not is_finite(values.reshape(-1)):
                raise _UnreadError("a number is not finite")
        if may_vanish(text):
            self._require_kept(table, text, first)
        return values, self.cells.labels(table, first)

    def _require_kept(self, table: Any, text: bytes, first: int) -> None:
        """Refuse a number that is not 0 and became 0."""
        import pyarrow.compute as pc

        for name in self.cells.names:
            if name in self.cells.categories or name in self._truths or not pc.any(pc.equal(table[name], 0)).as_py():
                continue
            written = self._read_csv(text, "string", only=name)[name]
            lost = pc.and_(pc.equal(table[name], 0), pc.match_substring_regex(written, pattern=f"^{NOT_ZERO}"))
            if pc.any(lost).as_py():
                row = first_true(lost)
                raise self.cells.inexact(first + row, name, written[row].as_py())

    def _parse(self, text: bytes, first: int) -> Any:
        """The chosen columns as an Arrow table, in types that hold what is written."""
        if self.decimal_places is not None:
            return self._parse_decimals(text, first, self.decimal_places)
        return self._with_exact_integers(self._read_csv(text, "double"), text, first)

    def _with_exact_integers(self, table: Any, text: bytes, first: int) -> Any:
        """The same table with columns of 64-bit integers where doubles would round them."""
        for name in self.cells.names:
            if name not in self.cells.categories and name not in self._truths:
                exact = self._exact(table[name], name, text, first)
                if exact is not None:
                    table = table.set_column(table.column_names.index(name), name, exact)
        return table

    def _parse_decimals(self, text: bytes, first: int, places: tuple[int, ...]) -> Any:
        """The same with every decimal times the power of ten of its column."""
        import pyarrow as pa

        table = self._read_csv(text, "string")
        power = dict(zip(self.cells.columns, places, strict=True))
        for name in self.cells.names:
            if name in self.cells.categories or name in self._truths:
                continue
            if table[name].null_count:
                raise _UnreadError("a value is missing")
            integers = decimals.scaled(table[name], power[name])
            if integers is None:
                for row, value in enumerate(table[name].to_pylist()):
                    if NUMBER.fullmatch(value) and decimals.does_not_fit(value, power[name]):
                        raise decimals.too_many_digits(self.path, first + row, name, value, power[name])
                raise _UnreadError(f"column {name!r} holds no decimals")
            table = table.set_column(table.column_names.index(name), name, pa.array(integers))
        return table

    def _find_decimal_places(self) -> None:
        """How many digits after the point each column needs: one read of its own."""
        most = dict.fromkeys(self.cells.columns, 0)
        for _, piece in self._pieces():
            try:
                table = self._read_csv(piece, "string")
            except _UnreadError:
                if self.options.set_aside is None:
                    break  # the reading proper says what is wrong
                try:
                    table = self._read_csv(self._whole_rows(piece), "string")
                except _UnreadError as error:
                    raise self._located(error, [], 0) from error
            for name in self.cells.names:
                if name not in self.cells.categories and name not in self._truths:
                    bound = None if self.options.set_aside is None else decimals.MOST_PLACES
                    most[name] = max(most[name], decimals.places_of(table[name], bound))
        self.decimal_places = tuple(most.values())

    def _whole_rows(self, text: bytes) -> bytes:
        """The rows of a piece that are text and as long as the header: what is left when bad rows are rejected."""
        records = split_records(text.decode("utf-8", "surrogateescape"), self.delimiter)
        kept = (
            source
            for _, _, source, record in records
            if len(record) == len(self.names)
            and not NOT_TEXT.search(source)
            and not has_lone_quote(source, self.delimiter)
        )
        return "".join(source if source.endswith(("\n", "\r")) else source + "\n" for source in kept).encode()

    def _read_csv(
        self, text: bytes, kind: str, only: str | None = None, *, in_one: bool = False, use_threads: bool = True
    ) -> Any:
        import pyarrow as pa
        from pyarrow import csv as arrow_csv

        features = [only] if only else list(self.cells.names)
        types = {name: self._type(name, kind) for name in features}
        if self.cells.label is not None and not only:
            types.setdefault(self.cells.label, pa.string())
        wanted = list(types)
        if b"\0" in text or text.startswith(BOM):  # pyarrow passes over a mark at the beginning of any piece
            raise _UnreadError("a NUL byte or a byte order mark")
        is_quoted = b'"' in text
        if is_quoted and may_have_lone_quote(text) and has_lone_quote(text.decode("utf-8", "replace"), self.delimiter):
            raise _UnreadError("a quotation mark inside a value")
        is_cut = use_threads and not in_one and not is_quoted and len(text) > 1 << 21
        block = (
            max(1 << 20, len(text) // 8) if is_cut else len(text) + 1
        )  # a quoted record could be longer than a block
        try:
            return arrow_csv.read_csv(
                pa.BufferReader(text),
                read_options=arrow_csv.ReadOptions(
                    column_names=list(self.names), block_size=block, use_threads=use_threads
                ),
                parse_options=arrow_csv.ParseOptions(delimiter=self.delimiter, newlines_in_values=is_quoted),
                convert_options=arrow_csv.ConvertOptions(
                    include_columns=wanted,
                    column_types=types,
                    strings_can_be_null=True,
                    quoted_strings_can_be_null=False,  # NA is missing, "NA" is a label
                ),
            )
        except (pa.ArrowInvalid, pa.ArrowKeyError) as error:
            if "Empty CSV" in str(error):  # blank lines alone
                return pa.table({name: pa.array([], types[name]) for name in wanted})
            if "straddl" in str(error) and block <= len(text):  # a line longer than a block
                return self._read_csv(text, kind, only, in_one=True)
            raise _UnreadError(str(error)) from error

    def _type(self, name: str, kind: str) -> Any:
        """How pyarrow is to read a column: as asked, but text as text and truths as truths."""
        import pyarrow as pa

        if name in self.cells.categories:
            return pa.string()
        return pa.bool_() if name in self._truths else pa.type_for_alias(kind)

    def _columns_of_truths(self) -> frozenset[str]:
        """The columns whose first value is true or false: all their values must be then."""
        with self._stream() as stream:
            start = stream.read(self._body + (1 << 16))[self._body :]
            while header_end(start) is None and len(start) < 1 << 16 and (more := stream.read(1 << 16)):
                start += more  # a pipe may have given its header alone
        rows = csv.reader(io.StringIO(start.decode("utf-8", "replace"), newline=""), delimiter=self.delimiter)
        with suppress(csv.Error):
            first = next((row for row in rows if row), [])
            return frozenset(n for n, v in zip(self.names, first, strict=False) if v.lower() in ("true", "false"))
        return frozenset()

    def _exact(self, column: Any, name: str, text: bytes, first: int) -> Any:
        """The column as integers where doubles would round them; None where doubles are right."""
        import pyarrow as pa
        import pyarrow.compute as pc

        span = pc.min_max(column).as_py()
        if span["min"] is None or max(abs(span["min"]), abs(span["max"])) < EXACT:
            return None
        written = self._read_csv(text, "string", only=name)[name]
        whole = pc.match_substring_regex(written, pattern=f"^{INTEGER.pattern}$")
        large = pc.greater_equal(pc.abs(column), EXACT)
        if not pc.any(pc.and_(whole, large)).as_py():
            return None  # 1e300 is a double like any other
        doubles = pc.and_(pc.less_equal(pc.abs(column), EXACT), pc.equal(pc.floor(column), column))
        if pc.all(pc.or_(whole, doubles)).as_py():  # 1.0 is an integer too, as it is in a batch of its own
            bare = pc.replace_substring_regex(written, pattern=r"^\s*\+?|\s*$", replacement="")
            with suppress(pa.ArrowInvalid):
                integers = pc.if_else(whole, bare, pa.scalar("0")).cast(pa.int64())
                return pc.if_else(whole, integers, pc.if_else(whole, 0.0, column).cast(pa.int64()))
        for row, (value, is_whole) in enumerate(zip(written.to_pylist(), whole.to_pylist(), strict=True)):
            if is_whole and not self._is_double(value):
                raise self.cells.inexact(first + row, name, value.strip())
        return None

    @staticmethod
    def _is_double(integer: str) -> bool:
        """Whether the digits are an integer that a double holds exactly."""
        digits = integer.strip().lstrip("+-").lstrip("0")
        return len(digits) < 17 and int(digits or "0") <= EXACT

    # Faults ---------------------------------------------------------------------------------------------

    def _without_bad_rows(self, text: bytes, first: int, byte: int, lines: int, seen: Exception) -> Batch:
        """The good rows of a piece, the bad ones rejected; where nobody asked for that, the first is raised."""
        judge = self._judge()
        good: list[str] = []
        stand_on: list[int] = []  # the line of each good row
        for line, start, source, record in split_records(text.decode("utf-8", "surrogateescape"), self.delimiter):
            row = first + len(good) + self.left_out
            fault = judge.fault(record, row, lines + line, byte + start, source)
            if fault is None:
                good.append(source)
                stand_on.append(lines + line)
            elif self.options.set_aside is None:
                raise fault
            else:
                self.reject(row, fault, source.rstrip("\r\n"))
        if self.options.set_aside is None:  # no cell is at fault by itself
            raise self._located(seen, stand_on, first)
        if not good:
            return Batch(np.zeros((0, self.n_columns)), None, first)
        kept = "".join(source if source.endswith(("\n", "\r")) else source + "\n" for source in good).encode()
        try:
            table = self._parse(kept, first)
            return Batch(self.cells.matrix(table, first), self.cells.labels(table, first), first)
        except (_UnreadError, InputError) as error:
            raise self._located(error, stand_on, first) from error

    def _judge(self) -> Judge:
        return Judge(self.cells, self.names, self.delimiter, self._truths, self.decimal_places)

    def _located(self, seen: Exception, lines: list[int], first: int) -> InputError:
        """An error about a row with the line of it; an error of pyarrow as one of ours."""
        if not isinstance(seen, InputError):
            return fault("not csv", self.path, seen=seen)
        if seen.row is not None and 0 <= seen.row - first < len(lines):
            return seen.at(line=lines[seen.row - first])
        return seen

    def _require_text(self, text: bytes) -> None:
        """Refuse a header that is not UTF-8: the byte is named."""
        try:
            text.decode()
            byte = text.find(b"\0")
        except UnicodeDecodeError as error:
            byte = error.start
        if byte < 0:
            return
        line, odd = line_count(text[:byte]) + 1, text[byte : byte + 1]
        what, fix = not_text(odd)
        raise fault("not text", self.path, line=line, value=odd, byte=byte, what=what, fix=fix)

    # Categories, lines ------------------------------------------------------------------------------------

    def also_text(self, names: Sequence[str]) -> None:
        """Take these columns for text, because they are in other files."""
        self._find_categories(set(names) | set(self.cells.categories))

    def _find_categories(self, known: set[str] | None = None) -> None:
        """Which columns are text, and the values they hold: one read, or a few where text appears late."""
        text = known or set()
        while True:
            found: dict[str, set[str]] = {name: set() for name in text}
            late = self._text_columns(found)
            if not late:
                break
            text |= late
        self.cells.categories = {name: tuple(sorted(found[name])) for name in self.cells.names if name in text}
        width = max(1, len(self.cells.columns))
        self.chunk = max(
            1 << 12, min(self.chunk, self.options.batch_bytes * len(self.names) // width)
        )  # rows are wider

    def _text_columns(self, found: dict[str, set[str]]) -> set[str]:
        """Fill in the values of known text columns; returns columns that turn out to be text after all."""
        import pyarrow.compute as pc

        for _, piece in self._pieces():
            table = self._read_strings(piece)
            late = set()
            for name in self.cells.names:
                if name in found:
                    found[name].update(value for value in pc.unique(table[name]).to_pylist() if value is not None)
                    self.cells.require_few(name, len(found[name]))
                else:
                    plain = pc.match_substring_regex(
                        table[name], pattern=f"^({NUMBER.pattern}|{NOT_FINITE.pattern})$", ignore_case=True
                    )
                    if not pc.all(plain).as_py() and pc.any(pc.invert(plain)).as_py():
                        late.add(name)
            if late:
                return late
        return set()

    def _read_strings(self, piece: bytes) -> Any:
        before, self.cells.categories = self.cells.categories, dict.fromkeys(self.cells.names, ())
        try:
            return self._read_csv(piece, "string")
        except _UnreadError as fault:
            if self.options.set_aside is None:
                self._without_bad_rows(piece, 0, self._body, self._header_lines, fault)
            try:
                return self._read_csv(self._whole_rows(piece), "string")
            except _UnreadError as error:
                raise self._located(error, [], 0) from error
        finally:
            self.cells.categories = before

    def lines(self, rows: Sequence[int]) -> dict[int, int]:
        """The line on which each of these rows begins: one walk over the text up to the last of them.

        Rejected rows are not rows, but have lines.
        """
        wanted, last = set(rows), max(rows, default=-1)
        found: dict[int, int] = {}
        row, before = 0, self._header_lines
        for _, text in self._pieces():
            for line in self._starts(text) if row <= last else ():
                if row in wanted:
                    found[row] = before + line
                row += 1
            before += line_count(text)
            if row > last:
                break
        return found

    def _starts(self, text: bytes) -> Iterator[int]:
        """The lines of a piece, counted from 1, on which rows begin."""
        if self.options.set_aside is None and not any(mark in text for mark in (b'"', b"\r", b"\n\n")):
            yield from range(2 if text.startswith(b"\n") else 1, line_count(text) + 1 + (not text.endswith(b"\n")))
            return
        judge = self._judge()
        for line, _, source, record in split_records(text.decode("utf-8", "surrogateescape"), self.delimiter):
            if self.options.set_aside is None or judge.fault(record, 0, 0, 0, source) is None:
                yield line


class _UnreadError(Exception):
    """pyarrow could not read a piece, and does not say which cell is at fault."""
