"""Bad files, each with the code of its error: through `linsep.open` and through the command line, never a traceback."""

import bz2
import csv
import datetime
import decimal
import gzip
import io
import json
import resource
import socket
import struct
import types
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

import linsep
from linsep import checker, errors
from linsep.cli import main
from linsep.proofs import Obstruction, Overlapping
from linsep.sources.files import text_reader
from linsep.sources.files.first_read import Survey

pytestmark = pytest.mark.usefixtures("streamed")


@dataclass(frozen=True)
class Bad:
    """One bad file: what is wrong with it, its name and bytes, the code, and where the error says the fault is."""

    what: str
    file: str
    content: bytes
    code: str
    where: dict[str, Any] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)


def bad(what: str, file: str, content: bytes, code: str, options: dict[str, Any] | None = None, **where: Any) -> Bad:
    label = {} if file.startswith(("a.svm", "a.npz")) else {"label": -1 if file == "a.npy" else "y"}
    return Bad(what, file, content, code, where, {**label, **(options or {})})


def parquet(**columns: Any) -> bytes:
    out = io.BytesIO()
    pa.parquet.write_table(pa.table(columns), out)
    return out.getvalue()


def feather(**columns: Any) -> bytes:
    out = io.BytesIO()
    pa.feather.write_feather(pa.table(columns), out)
    return out.getvalue()


def npy(array: Any) -> bytes:
    out = io.BytesIO()
    np.save(out, array)
    return out.getvalue()


def npz(**arrays: Any) -> bytes:
    out = io.BytesIO()
    np.savez(out, **arrays)
    return out.getvalue()


def header(shape: Any, kind: str = "<f8") -> bytes:
    """The beginning of an .npy file that claims this shape."""
    told = repr({"descr": kind, "fortran_order": False, "shape": shape}).encode()
    told += b" " * (-(len(told) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(told)) + told


def zstd(content: bytes) -> bytes:
    return pa.Codec("zstd").compress(content, asbytes=True)


def cell(what: str, content: bytes, code: str, options: dict[str, Any] | None = None, **where: Any) -> Bad:
    """A CSV file whose third row holds this value in column z."""
    place = {"row": 2, "column": "z", "byte": 18, **where}
    return bad(what, "a.csv", GOOD + b"5," + content + b",1\n", code, options, **place)


def line(what: str, content: bytes, code: str = "E-SVMLIGHT", **where: Any) -> Bad:
    """An svmlight file whose third line is this."""
    return bad(what, "a.svm", SPARSE + content + b"\n", code, **{"row": 2, "byte": 16, **where})


def column(what: str, values: Any, code: str, options: dict[str, Any] | None = None, **where: Any) -> Bad:
    """A Parquet file with this column."""
    return bad(what, "a.parquet", parquet(x=values, y=[0, 1]), code, options, **{"column": "x", **where})


def label(what: str, values: Any, code: str, **where: Any) -> Bad:
    """A Parquet file with these labels."""
    return bad(what, "a.parquet", parquet(x=[1.0, 2.0], y=values), code, **where)


def array(what: str, values: Any, code: str, **where: Any) -> Bad:
    """An .npy file, the labels in its last column."""
    return bad(what, "a.npy", npy(np.array(values)), code, **where)


def part(what: str, code: str = "E-FILE-DAMAGED", **changed: Any) -> Bad:
    """A CSR matrix in an .npz file with some parts changed, or left out."""
    arrays = {name: value for name, value in {**CSR, **changed}.items() if value is not None}
    return bad(what, "a.npz", npz(**{name: np.array(value) for name, value in arrays.items()}), code)


GOOD = b"x,z,y\n1,2,0\n3,4,1\n"
SPARSE = b"0 1:1\n1 1:2 2:3\n"
TABLE, FEATHER = parquet(x=[1.0, 2.0], y=[0, 1]), feather(x=[1.0, 2.0], y=[0, 1])
ARRAY, PAIR = npy(np.array([[1.0, 0], [2, 1]])), npz(X=np.ones((2, 2)), y=np.array([0, 1]))
CSR = {"data": [1.0, 2.0], "indices": [0, 1], "indptr": [0, 1, 2], "shape": [2, 2], "y": [0, 1]}
NINES = b"9" * 5000
BIG = 2**53 + 1
NAN, INF = float("nan"), float("inf")
DAY = datetime.datetime(2020, 1, 1)
DECIMAL, ONE_HOT = {"numbers": "decimal"}, {"categories": "all"}


def truths(*values: Any) -> Any:
    return pa.array(values)


FILES = [
    # Text that is no table
    bad("no byte", "a.csv", b"", "E-FILE-EMPTY", byte=0),
    bad("blank lines", "a.csv", b"\n\r\n\n", "E-FILE-EMPTY"),
    bad("spaces", "a.csv", b"   \n", "E-FILE-EMPTY"),
    bad("a byte order mark alone", "a.csv", b"\xef\xbb\xbf", "E-FILE-EMPTY"),
    bad("a header without a line end", "a.csv", b"x,y", "E-NO-ROWS"),
    bad("a header alone", "a.csv", b"x,y\n", "E-NO-ROWS"),
    bad("a header and blank lines", "a.csv", b"x,y\n\n\r\n", "E-NO-ROWS"),
    bad("one row", "a.csv", b"x,y\n1,0\n", "E-ONE-CLASS", column="y"),
    bad("one class", "a.csv", b"x,y\n1,0\n2,0\n", "E-ONE-CLASS", column="y", value=0),
    bad("three classes", "a.csv", b"x,y\n1,0\n2,1\n3,2\n", "E-MANY-CLASSES", column="y"),
    bad("a label alone", "a.csv", b"y\n0\n1\n", "E-NO-COLUMNS"),
    bad("no label column", "a.csv", b"x,z\n0,1\n1,2\n", "E-NO-COLUMN", column="y"),
    bad("semicolons", "a.csv", b"x;y\n0;1\n1;2\n", "E-NO-COLUMN", column="y"),
    bad("tabs in a .csv", "a.csv", b"x\ty\n0\t1\n1\t2\n", "E-NO-COLUMN", column="y"),
    bad("commas in a .tsv", "a.tsv", GOOD, "E-NO-COLUMN", column="y"),
    bad("a web page", "a.csv", b"<html><body>404</body></html>\n", "E-NO-COLUMN"),
    bad("two columns of one name", "a.csv", b"x,x,y\n1,2,0\n3,4,1\n", "E-CSV-HEADER", column="x"),
    bad("two label columns", "a.csv", b"x,y,y\n1,2,0\n3,4,1\n", "E-CSV-HEADER", column="y"),
    bad("two columns without a name", "a.csv", b",,y\n1,1,0\n2,2,1\n", "E-CSV-HEADER", column=""),
    bad("a header in quotes that stay open", "a.csv", b'x,"z,y\n1,2,0\n', "E-CSV-QUOTE", byte=2),
    # Rows that are no rows
    bad("a row of one value", "a.csv", GOOD + b"5\n", "E-CSV-RAGGED", row=2, byte=18),
    bad("a row too short", "a.csv", GOOD + b"5,6\n", "E-CSV-RAGGED", row=2, byte=18),
    bad("a row too long", "a.csv", GOOD + b"5,6,1,7\n", "E-CSV-RAGGED", row=2, byte=18),
    bad("a comma at the end", "a.csv", GOOD + b"5,6,1,\n", "E-CSV-RAGGED", row=2, byte=18),
    bad("a long row after blank lines", "a.csv", GOOD + b"\n\r\n5,6,1,7\n", "E-CSV-RAGGED", row=2, byte=21),
    bad("a tab too many", "a.tsv", b"x\ty\n1\t0\n2\t3\t1\n", "E-CSV-RAGGED", row=1, byte=8),
    bad("a row of commas", "a.csv", GOOD + b",,\n", "E-VALUE-MISSING", row=2, column="x"),
    bad("a quotation mark that stays open", "a.csv", GOOD + b'"5,6,1\n', "E-CSV-QUOTE", byte=18),
    bad("an open quotation before more rows", "a.csv", GOOD + b'5,"6,1\n7,8,0\n', "E-CSV-QUOTE", byte=20),
    bad("a quotation mark in a number", "a.csv", GOOD + b'5,6"7,1\n', "E-CSV-QUOTE", byte=21),
    bad("a value that goes on after quotes", "a.csv", GOOD + b'5,"6"7,1\n', "E-CSV-QUOTE", row=2, byte=18),
    bad("empty quotes before a number", "a.csv", GOOD + b'5,""7,1\n', "E-CSV-QUOTE", row=2, byte=18),
    bad("a byte order mark in a row", "a.csv", b"x,y\n\xef\xbb\xbf1,0\n2,1\n", "E-TEXT-ENCODING", row=0, byte=4),
    # Bytes that are no text
    bad("a NUL byte", "a.csv", GOOD + b"5,\0,1\n", "E-TEXT-ENCODING", byte=20, value=b"\0"),
    bad("a NUL byte in the header", "a.csv", b"x\0,y\n1,0\n2,1\n", "E-TEXT-ENCODING", byte=1),
    bad("UTF-16", "a.csv", GOOD.decode().encode("utf-16"), "E-TEXT-ENCODING", byte=0),
    bad("UTF-16 without a mark", "a.csv", GOOD.decode().encode("utf-16-le"), "E-TEXT-ENCODING", byte=1),
    bad("UTF-32", "a.csv", GOOD.decode().encode("utf-32"), "E-TEXT-ENCODING", byte=0),
    bad("Latin-1 in the header", "a.csv", b"gr\xf6\xdfe,y\n1,0\n2,1\n", "E-TEXT-ENCODING", byte=2, value=b"\xf6"),
    bad("Latin-1 in a label", "a.csv", b"x,y\n1,\xe4\n2,b\n", "E-TEXT-ENCODING", byte=6, value=b"\xe4"),
    # Values that are no numbers
    cell("nan", b"nan", "E-NOT-FINITE"),
    cell("NaN", b"NaN", "E-NOT-FINITE"),
    cell("inf", b"inf", "E-NOT-FINITE"),
    cell("minus infinity", b"-Infinity", "E-NOT-FINITE"),
    cell("1e400", b"1e400", "E-NOT-FINITE"),
    cell("minus 1e400", b"-1e400", "E-NOT-FINITE"),
    cell("so small that it becomes 0", b"1e-400", "E-INEXACT"),
    cell("so small, with many zeros", b"0." + b"0" * 330 + b"1", "E-INEXACT"),
    cell("minus so small", b"-1E-400", "E-INEXACT"),
    cell("5,000 digits", NINES, "E-NOT-FINITE"),
    cell("minus 5,000 digits", b"-" + NINES, "E-NOT-FINITE"),
    cell("100,000 digits and a letter", NINES * 20 + b"x", "E-NOT-A-NUMBER"),
    cell("an exponent of twenty digits", b"1e99999999999999999999", "E-NOT-FINITE"),
    cell("1_000", b"1_000", "E-NOT-A-NUMBER", value="1_000"),
    cell("0x10", b"0x10", "E-NOT-A-NUMBER", value="0x10"),
    cell("a decimal comma", b'"1,5"', "E-NOT-A-NUMBER", value="1,5"),
    cell("full-width digits", "１２".encode(), "E-NOT-A-NUMBER", value="１２"),
    cell("Arabic digits", "٣".encode(), "E-NOT-A-NUMBER"),
    cell("a typographic minus", "−5".encode(), "E-NOT-A-NUMBER"),
    cell("a no-break space", "\u00a05".encode(), "E-NOT-A-NUMBER"),
    cell("a space of no width", "\u200b5".encode(), "E-NOT-A-NUMBER"),
    cell("text", b"red", "E-NOT-A-NUMBER", value="red"),
    cell("None", b"None", "E-NOT-A-NUMBER"),
    cell("two numbers", b"1 2", "E-NOT-A-NUMBER"),
    cell("two signs", b"+-1", "E-NOT-A-NUMBER"),
    cell("half an exponent", b"1e", "E-NOT-A-NUMBER"),
    cell("two points", b"1.2.3", "E-NOT-A-NUMBER"),
    cell("a point", b".", "E-NOT-A-NUMBER"),
    cell("a suffix", b"1f", "E-NOT-A-NUMBER"),
    cell("a percentage", b"50%", "E-NOT-A-NUMBER"),
    cell("money", b"$5", "E-NOT-A-NUMBER"),
    cell("a fraction", b"1/2", "E-NOT-A-NUMBER"),
    cell("a date", b"2020-01-01", "E-NOT-A-NUMBER"),
    cell("a formula", b"=1+1", "E-NOT-A-NUMBER"),
    cell("a list", b"[1]", "E-NOT-A-NUMBER"),
    cell("a truth among numbers", b"true", "E-NOT-A-NUMBER"),
    bad("a number among truths", "a.csv", b"x,y\ntrue,0\n2.5,1\n", "E-NOT-A-NUMBER", row=1, column="x"),
    cell("nothing", b"", "E-VALUE-MISSING", value=""),
    cell("a space", b" ", "E-VALUE-MISSING", value=" "),
    cell("NA", b"NA", "E-VALUE-MISSING", value="NA"),
    cell("null", b"null", "E-VALUE-MISSING"),
    cell("#N/A", b"#N/A", "E-VALUE-MISSING"),
    cell("2^63", b"9223372036854775808", "E-INEXACT", value="9223372036854775808"),
    cell("-2^63 - 1", b"-9223372036854775809", "E-INEXACT"),
    cell("2^64 - 1", b"18446744073709551615", "E-INEXACT"),
    cell("2^64", b"18446744073709551616", "E-INEXACT"),
    cell("300 digits", b"9" * 300, "E-INEXACT"),
    bad("2^53 + 1 beside a fraction", "a.csv", b"x,y\n1.5,0\n%d,1\n" % BIG, "E-INEXACT", row=1, column="x"),
    bad(
        "2^53 + 1 beside a column of floats", "a.csv", b"x,z,y\n%d,.5,0\n1,2,1\n" % BIG, "E-INEXACT", row=0, column="z"
    ),
    # Labels
    bad("an empty label", "a.csv", GOOD + b"5,6,\n", "E-LABEL-MISSING", row=2, column="y", byte=18),
    bad("the label NA", "a.csv", GOOD + b"5,6,NA\n", "E-LABEL-MISSING", row=2, column="y", value="NA"),
    bad("the label nan", "a.csv", GOOD + b"5,6,nan\n", "E-LABEL-MISSING", row=2, column="y"),
    bad("a label of spaces", "a.csv", GOOD + b"5,6,  \n", "E-LABEL-MISSING", row=2, column="y"),
    bad("a label of empty quotes", "a.csv", GOOD + b'5,6,""\n', "E-LABEL-MISSING", row=2, column="y"),
    bad("labels of mixed kinds", "a.csv", GOOD + b"5,6,one\n", "E-MANY-CLASSES", column="y"),
    bad(
        "more labels than labels are",
        "a.csv",
        b"x,y\n" + b"".join(b"1,n%d\n" % k for k in range(66000)),
        "E-MANY-CLASSES",
    ),
    # Packed text
    bad("gzip cut short", "a.csv.gz", gzip.compress(GOOD, mtime=0)[:-5], "E-FILE-DAMAGED"),
    bad("half of gzip's header", "a.csv.gz", gzip.compress(GOOD, mtime=0)[:5], "E-FILE-DAMAGED"),
    bad("gzip with a wrong checksum", "a.csv.gz", gzip.compress(GOOD, mtime=0)[:-8] + bytes(8), "E-FILE-DAMAGED"),
    bad("gzip with a tail", "a.csv.gz", gzip.compress(GOOD, mtime=0) + b"junk", "E-FILE-DAMAGED"),
    bad("gzip of nothing", "a.csv.gz", gzip.compress(b"", mtime=0), "E-FILE-EMPTY"),
    bad("nothing called gzip", "a.csv.gz", b"", "E-FILE-EMPTY"),
    bad("text called gzip", "a.csv.gz", GOOD, "E-FILE-KIND"),
    bad("bzip2 called gzip", "a.csv.gz", bz2.compress(GOOD), "E-FILE-KIND"),
    bad("bzip2 cut short", "a.csv.bz2", bz2.compress(GOOD)[:-5], "E-FILE-DAMAGED"),
    bad("bzip2 with a tail", "a.csv.bz2", bz2.compress(GOOD) + b"junk", "E-FILE-DAMAGED"),
    bad(
        "a second stream of bzip2 cut short",
        "a.csv.bz2",
        bz2.compress(GOOD) + bz2.compress(b"1,2,0\n")[:20],
        "E-FILE-DAMAGED",
    ),
    bad("text called bzip2", "a.csv.bz2", GOOD, "E-FILE-KIND"),
    bad("zstd cut short", "a.csv.zst", zstd(GOOD)[:-5], "E-FILE-DAMAGED"),
    bad("zstd with a tail", "a.csv.zst", zstd(GOOD) + b"junkjunk", "E-FILE-DAMAGED"),
    bad("text called zstd", "a.csv.zst", GOOD, "E-FILE-KIND"),
    bad("svmlight in gzip cut short", "a.svm.gz", gzip.compress(SPARSE, mtime=0)[:-5], "E-FILE-DAMAGED"),
    bad("svmlight in zstd cut short", "a.svm.zst", zstd(SPARSE)[:-4], "E-FILE-DAMAGED"),
    # One kind called another
    bad("gzip called .csv", "a.csv", gzip.compress(GOOD, mtime=0), "E-FILE-KIND"),
    bad("Parquet called .csv", "a.csv", TABLE, "E-FILE-KIND"),
    bad("an array called .csv", "a.csv", ARRAY, "E-FILE-KIND"),
    bad("a workbook called .csv", "a.csv", b"PK\x03\x04" + bytes(60), "E-FILE-KIND"),
    bad("Arrow called .parquet", "a.parquet", FEATHER, "E-FILE-KIND"),
    bad("Parquet called .arrow", "a.arrow", TABLE, "E-FILE-KIND"),
    bad("Parquet called .svm", "a.svm", TABLE, "E-FILE-KIND"),
    bad(".npz called .npy", "a.npy", PAIR, "E-FILE-KIND"),
    bad(".npy called .npz", "a.npz", ARRAY, "E-FILE-KIND"),
    bad("Parquet given as CSV", "a.data", TABLE, "E-FILE-KIND", {"format": "csv"}),
    bad("a format that does not exist", "a.data", GOOD, "E-FILE-KIND", {"format": "excel"}),
    bad("a workbook", "a.xlsx", b"PK\x03\x04", "E-FILE-KIND"),
    bad("a name without an ending", "data", GOOD, "E-FILE-KIND"),
    bad("packed Parquet", "a.parquet.gz", gzip.compress(TABLE, mtime=0), "E-FILE-KIND"),
    bad("Feather of version 1", "a.feather", b"FEA1" + bytes(40) + b"FEA1", "E-FILE-KIND"),
    # Parquet
    bad("no byte", "a.parquet", b"", "E-FILE-EMPTY"),
    bad("Parquet without its last byte", "a.parquet", TABLE[:-1], "E-FILE-DAMAGED"),
    bad("Parquet cut in half", "a.parquet", TABLE[: len(TABLE) // 2], "E-FILE-DAMAGED"),
    bad("Parquet with a hole", "a.parquet", TABLE[:4] + TABLE[20:], "E-FILE-DAMAGED"),
    bad("text called .parquet", "a.parquet", GOOD, "E-FILE-DAMAGED"),
    bad("a footer of zeros", "a.parquet", b"PAR1" + bytes(50) + b"PAR1", "E-FILE-DAMAGED"),
    bad("a footer of two gigabytes", "a.parquet", TABLE[:-8] + struct.pack("<I", 2**31) + b"PAR1", "E-FILE-DAMAGED"),
    bad("a footer of ten bytes", "a.parquet", TABLE[:-8] + struct.pack("<I", 10) + b"PAR1", "E-FILE-DAMAGED"),
    bad("pages overwritten", "a.parquet", TABLE[:6] + b"\xff" * 30 + TABLE[36:], "E-FILE-DAMAGED"),
    bad("an encrypted footer", "a.parquet", b"PARE" + TABLE[4:-4] + b"PARE", "E-FILE-KIND"),
    bad("no row groups", "a.parquet", parquet(x=pa.array([], pa.int64()), y=pa.array([], pa.int64())), "E-NO-ROWS"),
    bad("the label alone", "a.parquet", parquet(y=[0, 1]), "E-NO-COLUMNS"),
    bad("no label", "a.parquet", parquet(x=[1.0, 2.0]), "E-NO-COLUMN", column="y"),
    column("a null among integers", pa.array([1, None]), "E-VALUE-MISSING", row=1),
    column("a null among floats", pa.array([None, 1.0]), "E-VALUE-MISSING", row=0),
    column("a null among truths", pa.array([True, None]), "E-VALUE-MISSING", row=1),
    column("a null in a dictionary", pa.array([1, None]).dictionary_encode(), "E-VALUE-MISSING", row=1),
    column("nulls alone", pa.array([None, None]), "E-COLUMN-TYPE"),
    column("NaN", [1.0, NAN], "E-NOT-FINITE", row=1),
    column("infinity", [INF, 1.0], "E-NOT-FINITE", row=0),
    column("NaN in 16 bits", pa.array(np.array([1.5, NAN], np.float16)), "E-NOT-FINITE", row=1),
    column("text", ["a", "b"], "E-NOT-A-NUMBER"),
    column("digits as text", ["1", "2"], "E-NOT-A-NUMBER"),
    column("a dictionary of text", pa.array(["a", "b"]).dictionary_encode(), "E-COLUMN-TYPE"),
    column("bytes", [b"a", b"b"], "E-COLUMN-TYPE"),
    column("lists", [[1], [2]], "E-COLUMN-TYPE"),
    column("lists of fixed length", pa.array([[1.0, 2.0]] * 2, pa.list_(pa.float64(), 2)), "E-COLUMN-TYPE"),
    column("structs", [{"a": 1}] * 2, "E-COLUMN-TYPE"),
    column("timestamps", [DAY] * 2, "E-COLUMN-TYPE"),
    column("dates", [DAY.date()] * 2, "E-COLUMN-TYPE"),
    column("durations", [datetime.timedelta(1)] * 2, "E-COLUMN-TYPE"),
    column("2^63", pa.array([1, 2**63], pa.uint64()), "E-INEXACT", row=1, value=2**63),
    column("2^64 - 1", pa.array([2**64 - 1, 1], pa.uint64()), "E-INEXACT", row=0),
    column("decimals of 31 digits", [decimal.Decimal(10**30), decimal.Decimal(1)], "E-INEXACT", row=0),
    column("decimals of 51 digits", [decimal.Decimal(1), decimal.Decimal(10**50)], "E-INEXACT", row=1),
    column("decimals read exactly", [1.5, 2.5], "E-ARGUMENT", DECIMAL, column=None),
    column("a null among categories", ["a", None], "E-VALUE-MISSING", ONE_HOT, row=1),
    bad("long integers beside floats", "a.parquet", parquet(x=[BIG, 1], z=[0.5, 1], y=[0, 1]), "E-INEXACT", row=0),
    label("a label that is null", [0, None], "E-LABEL-MISSING", row=1, column="y"),
    label("a label that is NaN", [0.0, NAN], "E-LABEL-MISSING", row=1),
    label("a label that is infinite", [INF, 0.5], "E-LABEL-MISSING", row=0),
    label("an empty label of text", ["a", ""], "E-LABEL-MISSING", row=1, column="y"),
    label("labels that are null", [None, None], "E-COLUMN-TYPE", column="y"),
    label("labels that are dates", [DAY.date()] * 2, "E-COLUMN-TYPE", column="y"),
    label("labels that are lists", [[0], [1]], "E-COLUMN-TYPE", column="y"),
    label("labels that are bytes", [b"a", b"b"], "E-COLUMN-TYPE", column="y"),
    label("labels that are decimals", [decimal.Decimal("0.5"), decimal.Decimal(1)], "E-COLUMN-TYPE", column="y"),
    # Arrow and Feather
    bad("no byte", "a.arrow", b"", "E-FILE-EMPTY"),
    bad("Arrow without its last byte", "a.arrow", FEATHER[:-1], "E-FILE-DAMAGED"),
    bad("Arrow cut short", "a.arrow", FEATHER[:100], "E-FILE-DAMAGED"),
    bad("Arrow overwritten", "a.arrow", FEATHER[:200] + b"\xff" * 40 + FEATHER[240:], "E-FILE-DAMAGED"),
    bad("text called .arrow", "a.arrow", GOOD, "E-FILE-DAMAGED"),
    bad("no batches", "a.arrow", feather(x=pa.array([], pa.int64()), y=pa.array([], pa.int64())), "E-NO-ROWS"),
    bad(
        "a dictionary of text",
        "a.feather",
        feather(x=pa.array(["a", "b"]).dictionary_encode(), y=[0, 1]),
        "E-COLUMN-TYPE",
        column="x",
    ),
    bad("a null in Arrow", "a.arrow", feather(x=[1, None], y=[0, 1]), "E-VALUE-MISSING", row=1, column="x"),
    bad("NaN in Arrow", "a.arrow", feather(x=[1.0, NAN], y=[0, 1]), "E-NOT-FINITE", row=1, column="x"),
    # .npy
    bad("no byte", "a.npy", b"", "E-FILE-EMPTY"),
    bad("half a header", "a.npy", ARRAY[:50], "E-FILE-DAMAGED"),
    bad("an array cut short", "a.npy", ARRAY[:-1], "E-FILE-DAMAGED", byte=len(ARRAY) - 1),
    bad("a version of the future", "a.npy", b"\x93NUMPY\x09\x00" + bytes(80), "E-FILE-DAMAGED"),
    bad("text called .npy", "a.npy", GOOD, "E-FILE-KIND"),
    bad("a type that does not exist", "a.npy", header((2, 2), "<f9") + bytes(64), "E-FILE-DAMAGED"),
    bad("objects without content", "a.npy", header((2, 2), "|O") + bytes(64), "E-FILE-KIND"),
    bad("a negative number of rows", "a.npy", header((-1, 2)), "E-FILE-DAMAGED"),
    bad("half a row", "a.npy", header((2.5, 2)), "E-FILE-DAMAGED"),
    array("objects", [[1, "a"], [2, None]], "E-FILE-KIND"),
    array("one dimension", [1.0, 2], "E-SHAPE"),
    array("no dimension", 3.0, "E-SHAPE"),
    array("three dimensions", [[[1.0]]], "E-SHAPE"),
    array("complex numbers", [[1j, 0], [1, 1]], "E-NOT-A-NUMBER"),
    array("text", [["1", "2"]], "E-NOT-A-NUMBER"),
    array("times", np.array([["2020-01-01"]], "M8[D]"), "E-NOT-A-NUMBER"),
    array("records", np.zeros(3, [("a", "f8"), ("y", "i4")]), "E-NOT-A-NUMBER"),
    array("no rows", np.zeros((0, 3)), "E-NO-ROWS"),
    array("no columns", np.zeros((3, 0)), "E-NO-COLUMNS"),
    array("the label alone", [[0.0], [1]], "E-NO-COLUMNS"),
    array("NaN", [[1, NAN, 0], [2, 3, 1.0]], "E-NOT-FINITE", row=0, column=1),
    array("infinity", [[1, 2, 0], [-INF, 3, 1.0]], "E-NOT-FINITE", row=1, column=0),
    array("a label that is NaN", [[1, 2, 0], [2, 3, NAN]], "E-LABEL-MISSING", row=1),
    array("one class", [[1, 2, 0], [2, 3, 0]], "E-ONE-CLASS"),
    array("three classes", [[1, 0], [2, 1], [3, 2]], "E-MANY-CLASSES"),
    array("2^64 - 1", np.array([[1, 0], [2**64 - 1, 1]], np.uint64), "E-INEXACT", row=1, column=0),
    array("80 bits", np.array([["0.1", "0"], ["1", "1"]]).astype(np.longdouble), "E-INEXACT", row=0, column=0),
    bad("no column so far to the right", "a.npy", ARRAY, "E-NO-COLUMN", {"label": 2}, column=2),
    bad("a label by name", "a.npy", ARRAY, "E-NO-COLUMN", {"label": "y"}, column="y"),
    # .npz
    bad("no byte", "a.npz", b"", "E-FILE-EMPTY"),
    bad("an archive cut short", "a.npz", PAIR[:-30], "E-FILE-DAMAGED"),
    bad("text called .npz", "a.npz", GOOD, "E-FILE-DAMAGED"),
    bad("an array that claims too much", "a.npz", PAIR.replace(b"(2, 2)", b"(2,22)"), "E-FILE-DAMAGED"),
    bad("no y", "a.npz", npz(X=np.ones((2, 2))), "E-FILE"),
    bad("no X", "a.npz", npz(y=np.ones(2)), "E-FILE"),
    bad("too many labels", "a.npz", npz(X=np.ones((2, 2)), y=np.arange(3)), "E-LENGTH"),
    bad("labels of two dimensions", "a.npz", npz(X=np.ones((2, 2)), y=np.ones((2, 1))), "E-LENGTH"),
    bad("labels that are objects", "a.npz", npz(X=np.ones((2, 1)), y=np.array([0, None])), "E-FILE-KIND"),
    bad("labels that are complex", "a.npz", npz(X=np.ones((2, 1)), y=np.array([0, 1j])), "E-COLUMN-TYPE"),
    bad("labels that are dates", "a.npz", npz(X=np.ones((2, 1)), y=np.zeros(2, "M8[D]")), "E-COLUMN-TYPE"),
    bad("labels that are bytes", "a.npz", npz(X=np.ones((2, 1)), y=np.array([b"a", b"b"])), "E-COLUMN-TYPE"),
    bad("a label that is NaN", "a.npz", npz(X=np.ones((2, 1)), y=np.array([0, NAN])), "E-LABEL-MISSING", row=1),
    bad("X of one dimension", "a.npz", npz(X=np.ones(2), y=np.arange(2)), "E-SHAPE"),
    bad("X without rows", "a.npz", npz(X=np.ones((0, 2)), y=np.ones(0)), "E-NO-ROWS"),
    bad("X without columns", "a.npz", npz(X=np.ones((2, 0)), y=np.arange(2)), "E-NO-COLUMNS"),
    bad("NaN in X", "a.npz", npz(X=np.array([[1.0], [NAN]]), y=np.arange(2)), "E-NOT-FINITE", row=1, column=0),
    bad("2^64 - 1 in X", "a.npz", npz(X=np.array([[1], [2**64 - 1]], np.uint64), y=np.arange(2)), "E-INEXACT", row=1),
    bad("a label column", "a.npz", PAIR, "E-ARGUMENT", {"label": 0}),
    bad("a column by name", "a.npz", PAIR, "E-NO-COLUMN", {"columns": ["x"]}, column="x"),
    bad("a column too far right", "a.npz", PAIR, "E-NO-COLUMN", {"columns": [2]}),
    part("no data", "E-FILE", data=None),
    part("no indices", "E-FILE", indices=None),
    part("no indptr", "E-FILE", indptr=None),
    part("no shape", "E-FILE", shape=None),
    part("no labels", "E-FILE", y=None),
    part("an index too large", indices=[0, 2]),
    part("a negative index", indices=[0, -1]),
    part("half an index", indices=[0.5, 1]),
    part("too few indices", indices=[0]),
    part("rows that end before they begin", indptr=[0, 2, 1]),
    part("too few row ends", indptr=[0, 1]),
    part("rows that begin late", indptr=[1, 1, 2]),
    part("rows that end beyond the data", indptr=[0, 1, 2**62]),
    part("three numbers as shape", shape=[2, 2, 2]),
    part("a negative shape", shape=[2, -2]),
    part("too many rows", shape=[2**62, 2]),
    part("a column twice", data=np.array([200, 100], np.uint8), indices=[0, 0], indptr=[0, 2, 2]),
    part("too many columns", "E-FILE-WIDE", shape=[2, 2**62]),
    part("a shape of text", shape=["a", "b"]),
    part("NaN", "E-NOT-FINITE", data=[1.0, NAN]),
    part("text as data", "E-NOT-A-NUMBER", data=["a", "b"]),
    part("another sparse format", "E-FILE", format=b"csc"),
    part("one label for two rows", "E-LENGTH", y=[0]),
    # svmlight
    bad("no byte", "a.svm", b"", "E-FILE-EMPTY"),
    bad("a comment alone", "a.svm", b"# nothing\n", "E-NO-ROWS"),
    bad("one class", "a.svm", b"0 1:1\n0 1:2\n", "E-ONE-CLASS"),
    line("an exponent of twenty digits", b"0E99999999999999999999 1:1", "E-INEXACT"),
    bad("three classes", "a.svm", b"0 1:1\n1 1:2\n2 1:3\n", "E-MANY-CLASSES"),
    bad("CSV called .svm", "a.svm", GOOD, "E-SVMLIGHT", row=0, byte=0),
    bad("UTF-16", "a.svm", SPARSE.decode().encode("utf-16"), "E-TEXT-ENCODING", row=0),
    bad("carriage returns alone", "a.svm", SPARSE.replace(b"\n", b"\r"), "E-SVMLIGHT", row=0),
    bad("a label column", "a.svm", SPARSE, "E-ARGUMENT", {"label": "y"}),
    bad("chosen columns", "a.svm", SPARSE, "E-ARGUMENT", {"columns": [1]}),
    bad("another index base", "a.svm", SPARSE, "E-ARGUMENT", {"index_base": 2}),
    line("an index of 0", b"1 0:1", value="0:1"),
    line("a negative index", b"1 -1:1", value="-1:1"),
    line("an index twice", b"1 2:1 2:2", value="2:2"),
    line("indices out of order", b"1 3:1 2:2", value="2:2"),
    line("an index of 2^31", b"1 2147483648:1", "E-FILE-WIDE"),
    line("an index of 2^62", b"1 4611686018427387904:1", "E-FILE-WIDE"),
    line("an index of 5,000 digits", b"1 " + NINES + b":1", "E-FILE-WIDE"),
    line("half an index", b"1 1.5:1"),
    line("no index", b"1 :1"),
    line("no value", b"1 1:", value="1:"),
    line("no colon", b"1 1"),
    line("two colons", b"1 1:1:1"),
    line("a space before the value", b"1 1: 1"),
    line("text as value", b"1 1:a"),
    line("0x10", b"1 1:0x10"),
    line("1_000", b"1 1:1_000"),
    line("a decimal comma", b"1 1:1,5"),
    line("full-width digits", "1 1:１".encode()),
    line("no label", b"1:1 2:2"),
    line("a label of text", b"one 1:1", value="one"),
    line("two labels", b"1,2 1:1", value="1,2"),
    line("a query of text", b"1 qid:x 1:1", value="qid:x"),
    line("a query without a number", b"1 qid: 1:1"),
    line("a query at the end", b"1 1:1 qid:3"),
    line("a no-break space", "1 1:1 \u00a02:2".encode()),
    line("a long word", b"x" * 100_000),
    line("nan", b"1 1:nan", "E-NOT-FINITE", column=0),
    line("1e400", b"1 2:1e400", "E-NOT-FINITE", column=1),
    line("so small that it becomes 0", b"1 1:1e-400", "E-INEXACT"),
    line("a label so small that it becomes 0", b"1e-400 1:1", "E-INEXACT"),
    line("5,000 digits", b"1 1:" + NINES, "E-NOT-FINITE"),
    line("2^53 + 1", b"1 1:%d" % BIG, "E-INEXACT", column=0),
    line("2^64 - 1", b"1 2:18446744073709551615", "E-INEXACT", column=1),
    line("a label of nan", b"nan 1:1", "E-LABEL-MISSING", value="nan"),
    line("a label of 1e400", b"1e400 1:1", "E-LABEL-MISSING"),
    line("a label of 2^53 + 1", b"%d 1:1" % BIG, "E-INEXACT"),
    line("a NUL byte", b"1 1:1\0", "E-TEXT-ENCODING"),
    line("a byte that is no text", b"1 1:\xff", "E-TEXT-ENCODING", value=b"\xff"),
    # Options that do not fit the file
    bad("no label named", "a.csv", GOOD, "E-ARGUMENT", {"label": None}),
    bad("a label too far right", "a.csv", GOOD, "E-NO-COLUMN", {"label": 3}, column=3),
    bad("a column that is not there", "a.csv", GOOD, "E-NO-COLUMN", {"columns": ["w"]}, column="w"),
    bad("the label as a column", "a.csv", GOOD, "E-ARGUMENT", {"columns": ["x", "y"]}),
    bad("a column twice", "a.csv", GOOD, "E-ARGUMENT", {"columns": ["x", "x"]}),
    bad("a positive label that is not there", "a.csv", GOOD, "E-ARGUMENT", {"positive": "7"}, value="7"),
    bad("a positive label that all have", "a.csv", b"x,y\n1,a\n2,a\n", "E-ONE-CLASS", {"positive": "a"}),
    bad("no memory", "a.csv", GOOD, "E-ARGUMENT", {"memory": "1KB"}),
    bad("memory in bananas", "a.csv", GOOD, "E-ARGUMENT", {"memory": "5 bananas"}),
    bad("less than no memory", "a.csv", GOOD, "E-ARGUMENT", {"memory": "0"}),
    bad(
        "more digits than decimals hold",
        "a.csv",
        GOOD + b"5,0.1234567890123456789,1\n",
        "E-DIGITS",
        DECIMAL,
        row=2,
        column="z",
        byte=18,
    ),
    bad("more digits than a column can share", "a.csv", GOOD + b"5,1e-9,1\n5,1e12,1\n", "E-DIGITS", DECIMAL, row=3),
    bad("text among decimals", "a.csv", GOOD + b"5,red,1\n", "E-NOT-A-NUMBER", DECIMAL, row=2, column="z"),
    bad("a missing decimal", "a.csv", GOOD + b"5,,1\n", "E-VALUE-MISSING", DECIMAL, row=2, column="z"),
    bad("nan among decimals", "a.csv", GOOD + b"5,nan,1\n", "E-NOT-FINITE", DECIMAL, row=2, column="z"),
    bad("decimals of svmlight", "a.svm", SPARSE, "E-ARGUMENT", DECIMAL),
    bad("decimals of an array", "a.npy", ARRAY, "E-ARGUMENT", DECIMAL),
    bad("a ragged row among categories", "a.csv", b"x,c,y\n1,a,0\n2,1\n", "E-CSV-RAGGED", ONE_HOT, row=1, byte=12),
    bad("a label missing beside categories", "a.csv", b"x,c,y\n1,a,0\n2,b,\n", "E-LABEL-MISSING", ONE_HOT, row=1),
    bad(
        "more categories than columns can be",
        "a.csv",
        b"x,c,y\n" + b"".join(b"1,n%d,0\n" % k for k in range(66000)),
        "E-COLUMN-TYPE",
        ONE_HOT,
        column="c",
    ),
    bad(
        "no row of .npz left", "a.npz", npz(X=np.full((2, 2), NAN), y=np.arange(2)), "E-NO-ROWS", {"reject": "bad.csv"}
    ),
    bad("bad rows written over the data", "a.csv", GOOD, "E-ARGUMENT", {"reject": "a.csv"}),
    bad("bad rows written nowhere", "a.csv", GOOD + b"5\n", "E-FILE", {"reject": "none/bad.csv"}),
    bad("no row left", "a.csv", b"x,y\n1,\nred,0\n", "E-NO-ROWS", {"reject": "bad.csv"}),
    bad("no row of Parquet left", "a.parquet", parquet(x=[None, NAN], y=[0, 1]), "E-NO-ROWS", {"reject": "bad.csv"}),
]


def arguments(options: dict[str, Any]) -> list[str]:
    """The same options on the command line."""
    told = []
    for name, value in options.items():
        if value is not None:
            shown = ",".join(map(str, value)) if isinstance(value, list) else str(value)
            told += [f"--{name.replace('_', '-')}", *([] if value is True else [shown])]
    return told


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def each(case: Bad) -> Any:
    return pytest.param(case, id=f"{case.file}: {case.what}")


def test_there_are_more_than_150_kinds():
    assert len({(case.file, case.what) for case in FILES}) == len(FILES) > 300


@pytest.mark.parametrize("case", [each(case) for case in FILES])
def test_a_bad_file_is_refused_with_its_code(case, here):
    (here / case.file).write_bytes(case.content)
    with pytest.raises(errors.InputError) as caught:
        linsep.decide(linsep.open(case.file, **case.options))
    error = caught.value
    assert error.code == case.code, str(error)
    assert {name: getattr(error, name) for name in case.where} == case.where, str(error)
    assert "E-ARGUMENT" in error.code or error.file is not None, str(error)
    assert len(str(error)) < 1000 and "\n" not in str(error)
    assert error.row is None or f"row {error.row}" in str(error) or " line " in str(error)


@pytest.mark.slow
@pytest.mark.parametrize("case", [each(case) for case in FILES])
def test_the_command_line_refuses_it_with_the_same_code(case, here, capsys):
    (here / case.file).write_bytes(case.content)
    assert main(["decide", case.file, *arguments(case.options), "--json"]) == 2
    out, err = capsys.readouterr()
    told = json.loads(err.splitlines()[-1])
    assert (out, told["code"]) == ("", case.code)
    assert case.file in told["message"] or case.code in ("E-ARGUMENT", "E-FILE-KIND") or "reject" in case.options


@pytest.mark.parametrize("case", [each(case) for case in FILES[::20]])
def test_without_json_an_error_is_one_line(case, here, capsys):
    (here / case.file).write_bytes(case.content)
    assert main(["decide", case.file, *arguments(case.options)]) == 2
    err = capsys.readouterr().err
    assert err.startswith("linsep: ") and err.count("\n") == 1 and "Traceback" not in err


# Files that are fine, though they look odd -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("a.csv", b"\xef\xbb\xbf" + GOOD),
        ("a.csv", b"x,z,y\n1,2,0\r\n3,4,1\r"),
        ("a.csv", GOOD.replace(b"\n", b"\r")),
        ("a.csv", GOOD.replace(b"\n", b"\r\n")),
        ("a.csv", b"\n\nx,z,y\n\n1,2,0\n\n\n3,4,1"),
        ("a.csv", b'"x","z","y"\n"1","2","0"\n" 3 ","+4","1"\n'),
        ("a.csv", b"x,note,z,y\n1,\xff,2,0\n3,\xe4,4,1\n"),
        ("a.csv.gz", gzip.compress(b"x,z,y\n1,2,0\n", mtime=0) + gzip.compress(b"3,4,1\n", mtime=0)),
        ("a.csv.bz2", bz2.compress(b"x,z,y\n1,2,0\n") + bz2.compress(b"3,4,1\n")),
        ("a.csv.zst", zstd(b"x,z,y\n1,2,0\n") + zstd(b"3,4,1\n")),
        ("a.svm", b"\xef\xbb\xbf0 1:1 2:2\r\n# a comment\n\n1 qid:7 1:3 2:4 # \xff"),
        ("a.npy", npy(np.array([[1, 2, 0], [3, 4, 1]], order="F"))),
        ("a.npy", npy(np.array([[1, 2, 0], [3, 4, 1]], ">i2"))),
        ("a.npz", npz(X=np.array([[1, 2], [3, 4]], ">f4"), y=np.array([0, 1], ">i4"))),
        ("a.npz", npz(X=np.array([[1, 2], [3, 4]], np.longdouble), y=np.array([0, 1], np.longdouble))),
        ("a.arrow", feather(x=[1, 3], z=pa.array([2, 4], pa.uint64()), y=pa.array([0, 1]).dictionary_encode())),
    ],
)
def test_an_odd_file_is_read(file, content, here):
    (here / file).write_bytes(content)
    options = {} if file.startswith(("a.svm", "a.npz")) else {"label": -1}
    chosen = {"columns": ["x", "z"]} if b"note" in content else {}
    source = linsep.open(file, **options, **chosen)
    values = source.take([0, 1]).values
    assert np.array_equal(values if isinstance(values, np.ndarray) else values.toarray(), [[1, 2], [3, 4]])
    assert source.facts.labels == (0, 1)


@pytest.mark.parametrize("value", [2**63 - 1, -(2**63)])
def test_the_longest_integers_stay_exact(value, here):
    (here / "a.csv").write_bytes(GOOD + b"5,%d,1\n" % value)
    assert linsep.open("a.csv", label="y").take([2]).values[0, 1] == value


def test_a_label_with_a_control_character_is_text(here):
    (here / "a.csv").write_bytes(b"x,y\n1,0\x1d\n2,1\n")
    assert linsep.open("a.csv", label="y").facts.labels == ("0\x1d", "1")


def test_a_decimal_with_a_control_character_is_no_number(here):
    (here / "a.csv").write_bytes(b"x,y\n1,0\n2\x1d,1\n")
    assert refused("E-NOT-A-NUMBER", "a.csv", numbers="decimal").row == 1


def test_labels_of_twenty_digits_are_not_merged(here):
    (here / "a.csv").write_bytes(b"x,y\n1,12345678901234567890\n2,12345678901234567891\n")
    assert linsep.open("a.csv", label="y").facts.labels == (12345678901234567890, 12345678901234567891)


# Places that are no files, and files that do not stay -------------------------------------------------------


def refused(code: str, path: Any, **options: Any) -> errors.InputError:
    with pytest.raises(errors.InputError) as caught:
        linsep.decide(linsep.open(path, **{"label": "y", **options}))
    assert caught.value.code == code
    return caught.value


def test_a_path_without_a_file_is_refused(here):
    (here / "empty").mkdir()
    (here / "notes").mkdir()
    (here / "notes" / "notes.txt").write_text("x")
    for path in ("none.csv", "empty", "notes", "*.csv", "none/*.parquet"):
        error = refused("E-FILE-NONE", path)
        assert error.file == path and path in str(error)
        assert main(["decide", path, "--label", "y"]) == 2


def test_a_socket_and_a_device_are_refused_at_once(here):
    with socket.socket(socket.AF_UNIX) as opened:
        opened.bind("a.csv")
        refused("E-FILE-UNREADABLE", "a.csv")
    refused("E-FILE-UNREADABLE", "/dev/null", format="csv")


def test_a_file_without_rights_is_refused(here, monkeypatch, capsys):
    (here / "a.csv").write_bytes(GOOD)
    real = io.open

    def denied(path, *args, **kw):
        if str(path).endswith("a.csv"):
            raise PermissionError(13, "Permission denied", str(path))
        return real(path, *args, **kw)

    monkeypatch.setattr("io.open", denied)
    assert "a.csv: cannot be read: Permission denied." in str(refused("E-FILE-UNREADABLE", "a.csv"))
    assert main(["decide", "a.csv", "--label", "y", "--json"]) == 2
    assert json.loads(capsys.readouterr().err)["code"] == "E-FILE-UNREADABLE"


def test_empty_standard_input_is_called_by_its_name(monkeypatch, capsys):
    monkeypatch.setattr("sys.stdin", types.SimpleNamespace(buffer=io.BytesIO(b"")))
    assert str(refused("E-FILE-EMPTY", "-")).startswith("standard input: the file is empty.")
    assert main(["decide", "-", "--label", "y", "--json"]) == 2
    assert json.loads(capsys.readouterr().err)["file"] == "-"


@pytest.mark.parametrize(
    ("name", "content"),
    [("a.csv", GOOD), ("a.svm", SPARSE), ("a.parquet", TABLE), ("a.arrow", FEATHER), ("a.npy", ARRAY)],
)
def test_a_file_that_grows_while_it_is_read_is_refused(name, content, here, monkeypatch):
    (here / name).write_bytes(content)
    real = Survey._look

    def add(self, batch):
        with (here / name).open("ab") as out:
            out.write(b"1,2,0\n")
        return real(self, batch)

    monkeypatch.setattr(Survey, "_look", add)
    options = {"label": None if name == "a.svm" else -1}
    with pytest.raises(errors.ChangedFileError, match=rf"{name}: the file changed"):
        linsep.open(name, cache=False, **options).scan(np.ones(2 if name in ("a.csv", "a.svm") else 1), 0.0)


def test_a_file_replaced_by_a_shorter_one_is_refused(here):
    (here / "a.csv").write_bytes(GOOD * 1)
    source = linsep.open("a.csv", label="y", cache=False)
    (here / "a.csv").write_bytes(GOOD[:12])
    with pytest.raises(errors.ChangedFileError):
        source.scan(np.ones(2), 0.0)


# Several files ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("files", "code", "options"),
    [
        ({"a.csv": GOOD, "b.csv": b"x,w,y\n1,2,0\n"}, "E-FILES-DIFFER", {}),
        ({"a.csv": GOOD, "b.csv": b"z,x,y\n1,2,0\n"}, "E-FILES-DIFFER", {}),
        ({"a.csv": GOOD, "b.csv": b"x,y\n1,0\n"}, "E-FILES-DIFFER", {}),
        ({"a.csv": GOOD, "b.csv": b"x,y\n1,0\n"}, "E-FILES-DIFFER", {"numbers": "decimal"}),
        ({"a.csv": GOOD, "b.csv": b"x,z\n1,0\n"}, "E-NO-COLUMN", {}),
        ({"a.csv": GOOD, "b.parquet": TABLE}, "E-FILES-DIFFER", {}),
        ({"a.csv": GOOD, "b.npy": npy(np.ones((2, 3)))}, "E-FILES-DIFFER", {"label": -1}),
        ({"a.npz": PAIR, "b.svm": SPARSE}, "E-FILES-DIFFER", {"label": None}),
        ({"a.csv": GOOD, "b.svm": SPARSE}, "E-ARGUMENT", {}),
        ({"a.csv": GOOD, "b.csv": b"x,z,y\n1,2,one\n"}, "E-NOT-A-NUMBER", {}),
        ({"a.csv": GOOD, "b.csv": b"x,z,y\n1,2,2\n"}, "E-MANY-CLASSES", {}),
        ({"a.csv": GOOD, "b.csv": b""}, "E-FILE-EMPTY", {}),
        ({"a.csv": GOOD, "b.csv": b"x,z,y\n1,red,0\n"}, "E-NOT-A-NUMBER", {}),
        ({"a.parquet": TABLE, "b.parquet": parquet(x=["a"], y=[0])}, "E-FILES-DIFFER", {"categories": "all"}),
    ],
)
def test_files_that_do_not_go_together_are_refused(files, code, options, here, capsys):
    (here / "folder").mkdir()
    for name, content in files.items():
        (here / "folder" / name).write_bytes(content)
    error = refused(code, "folder", **options)
    assert error.file is not None and error.file in str(error)
    assert main(["decide", "folder", *arguments({"label": "y", **options}), "--json"]) == 2
    assert json.loads(capsys.readouterr().err)["code"] == code


def test_a_column_that_is_text_in_one_file_is_text_in_all_if_it_is_named(here):
    (here / "a.csv").write_text("x,c,y\n1,5,0\n2,6,1\n")
    (here / "b.csv").write_text("x,c,y\n3,red,1\n")
    refused("E-FILES-DIFFER", "*.csv", categories="all")
    source = linsep.open("*.csv", label="y", categories={"c": "all"})
    assert source.facts.names == ("x", "c[5]", "c[6]", "c[red]")
    assert source.take([0, 2]).values.tolist() == [[1, 1, 0, 0], [3, 0, 0, 1]]


# Rows set aside -------------------------------------------------------------------------------------------------


def set_aside(path: str = "bad.csv") -> list[tuple[int, str]]:
    with open(path, encoding="utf-8") as file:  # noqa: PTH123
        return [(int(row["row"]), row["reason"].split(":")[0]) for row in csv.DictReader(file)]


MIXED = (
    b"x,z,y\n1,2,0\n5\n3,4,1\n5,6,7,8\n5,red,1\n5,nan,0\n5,%b,1\n5,18446744073709551616,1\n5,\xff,1\n5,\0,1\n"
    b'5,"6"7,1\n5,,0\n5,6,\n7,8.5,1\n' % NINES
)


@pytest.mark.parametrize("options", [{}, {"cache": False}, {"numbers": "decimal"}, {"memory": "1MiB"}])
def test_every_kind_of_bad_row_of_a_csv_is_set_aside(options, here):
    (here / "a.csv").write_bytes(MIXED)
    source = linsep.open("a.csv", label="y", reject="bad.csv", **options)
    scale = 10 if "numbers" in options else 1
    assert source.take([0, 1, 2]).values.tolist() == [[1, 2 * scale], [3, 4 * scale], [7, 8.5 * scale]]
    assert source.facts.rows_left_out == 11
    codes = ["E-CSV-RAGGED", "E-CSV-RAGGED", "E-NOT-A-NUMBER", "E-NOT-FINITE", "E-NOT-FINITE", "E-INEXACT",
             "E-TEXT-ENCODING", "E-TEXT-ENCODING", "E-CSV-QUOTE", "E-VALUE-MISSING", "E-LABEL-MISSING"]  # fmt: skip
    codes = ["E-DIGITS" if code == "E-INEXACT" and scale == 10 else code for code in codes]
    assert set_aside() == list(zip([1, *range(3, 13)], codes, strict=True))


def test_bad_rows_are_set_aside_beside_categories(here):
    (here / "a.csv").write_bytes(b"x,c,y\n1,red,0\n2\n3,\xff,1\n4,blue,1\n5,green,\n")
    source = linsep.open("a.csv", label="y", reject="bad.csv", categories="all")
    assert source.facts.rows_left_out == 3
    assert source.take([0, 1]).values[:, 0].tolist() == [1, 4]
    assert [row for row, _ in set_aside()] == [1, 2, 4]


def test_a_text_cell_that_is_empty_is_refused_in_every_format(here):
    (here / "a.csv").write_bytes(b"x,c,y\n1,red,0\n2,,1\n3,blue,1\n")
    (here / "a.parquet").write_bytes(parquet(x=[1, 2, 3], c=["red", None, "blue"], y=[0, 1, 1]))
    for name in ("a.csv", "a.parquet"):
        error = refused("E-VALUE-MISSING", name, categories="all")
        assert (error.row, error.column) == (1, "c")


def test_a_row_with_a_late_byte_order_mark_is_set_aside(here):
    (here / "a.csv").write_bytes(b"x,y\n\xef\xbb\xbf1,0\n2.5,1\n3,0\n")
    for numbers in ("binary64", "decimal"):
        source = linsep.open("a.csv", label="y", reject="bad.csv", numbers=numbers)
        assert (source.n_rows, set_aside()) == (2, [(0, "E-TEXT-ENCODING")])


def test_a_label_of_three_megabytes_is_read_and_not_repeated(here):
    (here / "a.csv").write_bytes(b"x,y\n1,0\n2,1\n3," + b"n" * (3 << 20) + b"\n")
    assert len(str(refused("E-MANY-CLASSES", "a.csv"))) < 500


def test_decimals_with_too_many_places_are_set_aside(here):
    (here / "a.csv").write_bytes(b"x,y\n0.5,0\n0.1234567890123456789,1\n1e-30,1\n2.25,1\n")
    source = linsep.open("a.csv", label="y", reject="bad.csv", numbers="decimal")
    assert (source.facts.scales, source.take([0, 1]).values.tolist()) == ((100,), [[50], [225]])
    assert set_aside() == [(1, "E-DIGITS"), (2, "E-DIGITS")]


def test_bad_lines_of_svmlight_are_set_aside(here):
    lines = [b"0 1:1", b"1 0:1", b"1 1:2 2:3", b"one 1:1", b"1 2:nan", b"0 1:%d" % BIG, b"\xff", b"1 1:5 # good"]
    (here / "a.svm").write_bytes(b"\n".join(lines))
    source = linsep.open("a.svm", reject="bad.csv", cache=False)
    assert source.take([0, 1, 2]).values.toarray().tolist() == [[1, 0], [2, 3], [5, 0]]
    codes = ["E-SVMLIGHT", "E-SVMLIGHT", "E-NOT-FINITE", "E-INEXACT", "E-TEXT-ENCODING"]
    assert set_aside() == list(zip([1, 3, 4, 5, 6], codes, strict=True))
    assert source.scan(np.ones(2), 0.0).rows == 3


@pytest.mark.parametrize("write", [parquet, feather])
def test_rows_with_nulls_and_nan_are_set_aside(write, here):
    name = "a.parquet" if write is parquet else "a.arrow"
    z = pa.array([1, 2, 3, 4, 2**64 - 1, 6], pa.uint64())
    (here / name).write_bytes(write(x=[1.0, None, NAN, INF, 5.0, 6.0], z=z, y=["a", "a", "b", "b", "b", "b"]))
    source = linsep.open(name, label="y", reject="bad.csv")
    assert source.take([0, 1]).values.tolist() == [[1, 1], [6, 6]]
    assert source.facts.rows_left_out == 4 and linsep.decide(source).rows_left_out == 4
    codes = ["E-VALUE-MISSING", "E-NOT-FINITE", "E-NOT-FINITE", "E-INEXACT"]
    assert set_aside() == list(zip([1, 2, 3, 4], codes, strict=True))


def test_rows_of_an_array_with_nan_are_set_aside(here):
    values = np.ones((5000, 2))
    values[:, 1], values[[7, 4000], 0], values[9, 1] = np.arange(5000) % 2, NAN, NAN
    np.save("a.npy", values)
    source = linsep.open("a.npy", label=-1, reject="bad.csv", memory="1MiB")
    assert (source.n_rows, source.facts.rows_left_out) == (4997, 3)
    assert [row for row, _ in set_aside()] == [7, 9, 4000]
    assert linsep.decide(source).rows_left_out == 3
    assert source.take([7, 4996]).y.tolist() == [-1, 1]


# Sizes that are lies, or nearly -----------------------------------------------------------------------------------


def claiming(rows: int) -> bytes:
    """A Parquet file whose footer claims so many rows."""
    table = parquet(x=[1.0, 2.0], y=[0, 1])
    length = struct.unpack("<I", table[-8:-4])[0]
    footer, number = table[-8 - length : -8], zigzag(rows)
    assert footer.count(b"\x16\x04") >= 3  # two rows, as a varint, for the file, its group and its columns
    claimed = footer.replace(b"\x16\x04", b"\x16" + number)
    return table[: -8 - length] + claimed + struct.pack("<I", len(claimed)) + b"PAR1"


def zigzag(number: int) -> bytes:
    number, out = number << 1, b""
    while number >= 128:
        number, out = number >> 7, out + bytes([number & 127 | 128])
    return out + bytes([number])


@pytest.mark.parametrize(
    ("name", "content", "code"),
    [
        ("a.parquet", claiming(2**60), "E-FILE-DAMAGED"),
        ("a.parquet", claiming(5), "E-FILE-DAMAGED"),
        ("a.npy", header((2**60, 2)) + bytes(64), "E-FILE-DAMAGED"),
        ("a.npy", header((2, 2**70)) + bytes(64), "E-FILE-DAMAGED"),
        ("a.npz", PAIR.replace(b"(2, 2), }            ", b"(2, 1152921504606), }"), "E-FILE-DAMAGED"),
        ("a.svm", SPARSE + b"1 67108864:1\n", "E-FILE-WIDE"),
        ("a.svm", SPARSE + b"1 2000001:1\n", "E-FILE-WIDE"),
        ("a.svm", SPARSE + b"1 9223372036854775807:1\n", "E-FILE-WIDE"),
        ("a.npz", npz(**{**CSR, "shape": [2, 2_000_001]}), "E-FILE-WIDE"),
        ("a.csv", b"x,y\n" + b"1" * (3 << 20), "E-CSV-RAGGED"),
        ("a.csv", b"x" * (3 << 20), "E-CSV-HEADER"),
        ("a.csv", b'x,y\n1,"' + b"1,0\n" * (1 << 20), "E-CSV-QUOTE"),
        ("a.csv", b"\n" * (1 << 20) + b"x,z\n1,0\n", "E-NO-COLUMN"),
        ("a.svm", b"1 1:" + b"1" * (3 << 20), "E-SVMLIGHT"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_size_that_cannot_be_is_refused_without_the_memory_for_it(name, content, code, here, monkeypatch):
    monkeypatch.setattr(text_reader, "LONGEST_RECORD", 1 << 20)
    (here / name).write_bytes(content)
    before = peak()
    error = refused(code, name, label=None if name[2:] in ("svm", "npz") else -1 if name == "a.npy" else "y")
    assert len(str(error)) < 500
    assert peak() - before < 400 << 20


def test_memory_asked_for_makes_room_for_the_columns(here):
    (here / "a.svm").write_bytes(SPARSE + b"1 2000001:1\n")
    error = refused("E-FILE-WIDE", "a.svm", label=None)
    assert "line 3" in str(error) and "--memory 513MB" in str(error)
    assert linsep.open("a.svm", memory="513MB").n_columns == 2_000_001
    with pytest.raises(errors.LinsepError, match="--memory 25600MB"):
        linsep.open("a.svm", n_columns=10**8)


@pytest.mark.parametrize("exponent", ["999999999", "-999999999", "9" * 30, "-" + "9" * 30, "400", "-400", "100"])
def test_an_absurd_exponent_is_bad_input_with_exact_decimals_too(exponent, here, capsys):
    (here / "a.csv").write_text(f"x,y\n1e{exponent},0\n2,1\n")
    proof = Overlapping(
        n_rows=2, n_columns=1, obstruction=Obstruction((0, 1), (1, 1)), spread=Obstruction((0, 1), (1, 1)),
        labels=(0, 1), numbers="decimal", label_column="y", names=("x",),
    )  # fmt: skip
    (here / "p.json").write_text(proof.to_json())
    assert main(["decide", "a.csv", "--label", "y", "--numbers", "decimal"]) == 2
    assert main(["verify", "p.json", "a.csv", "--label", "y", "--numbers", "decimal"]) == 2
    refuted = 1  # the checker reads 100 digits, and sees that the proof is wrong
    assert checker.main(["p.json", "a.csv", "--numbers", "decimal"]) == (refuted if exponent == "100" else 2)


def peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


@pytest.mark.slow
def test_a_hundred_thousand_columns_are_read(here):
    names = ",".join(f"c{j}" for j in range(100_000))
    (here / "a.csv").write_text(f"{names},y\n{'1,' * 100_000}0\n{'2,' * 100_000}1\n")
    assert linsep.open("a.csv", label="y").n_columns == 100_000
    (here / "a.csv").write_text(f"{names},c5,y\n")
    assert refused("E-CSV-HEADER", "a.csv").column == "c5"
