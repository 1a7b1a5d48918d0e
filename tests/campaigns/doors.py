"""Every door into linsep: each container, number type, kind of label and file format x the tables that degenerate.

    python -m tests.campaigns.doors [tables]        part of `make torture`

A table is plain Python: rows of int, float, Fraction or Decimal, and labels -1, +1. A door carries it to `decide` in
one form (nested lists, a polars frame, a CSV file, ...). Nothing of linsep decides what is true: `naive.decide` does,
in Fractions, from the plain numbers; and whether a container holds the very numbers is asked of the container by
`naive.exact`, value by value, before linsep sees it.

Each verdict then goes through `verify`, through its written form, and through the stand-alone checker on a CSV file
of the same numbers. A refusal is right only where no type that linsep computes in holds all numbers of the table.
"""

import array
import contextlib
import io
import sys
import tempfile
import time
import warnings
from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet
import scipy.sparse as sp

import linsep
from linsep import checker
from linsep.errors import InputError, MissingLabelError
from linsep.sources.calls import CallSource
from tests import naive, strategies

Number = int | float | Fraction | Decimal
Rows = list[list[Number]]
CANNOT_HOLD = (  # what the libraries raise for values that a container does not take
    TypeError,
    ValueError,
    ArithmeticError,
    RuntimeError,
    pa.ArrowException,
    pl.exceptions.PolarsError,
)
TINY, HUGE = 5e-324, sys.float_info.max

# ---------------------------------------------------------------------------------------------------
# The tables
# ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Plain:
    """Rows of Python numbers with labels -1, +1, and the kind that Fractions say they are."""

    rows: Rows
    labels: list[int]
    bias: bool = True

    @property
    def kind(self) -> str:
        """The truth."""
        exact = [[Fraction(value) for value in row] for row in self.rows]
        return naive.decide(exact, self.labels, self.bias)

    @property
    def values(self) -> list[Fraction]:
        """All numbers, exactly."""
        return [Fraction(value) for row in self.rows for value in row]

    @property
    def is_long(self) -> bool:
        """Whether a long integer stands beside a fraction: files of text refuse that, even where doubles would do."""
        values = [value for row in self.rows for value in row]
        return not all(isinstance(v, int) for v in values) and any(
            isinstance(v, int) and abs(v) > 2**53 for v in values
        )

    @property
    def is_plain(self) -> bool:
        """Whether one of the types linsep computes in, int64 or float64, holds every number: no reason to refuse."""
        whole = all(v.denominator == 1 and -(2**63) <= v < 2**63 for v in self.values)
        return whole or all(is_double(v) for v in self.values)


def is_double(value: Fraction) -> bool:
    """Whether a double holds this number exactly."""
    try:
        return Fraction(float(value)) == value
    except OverflowError:
        return False


def named() -> Iterator[Plain]:
    """The instances that were once answered wrongly, and their neighbours."""
    xor = [-1, 1, 1, -1]
    yield Plain([[0, 0], [0, 1], [1, 0], [1, 1]], xor)
    yield Plain([[0.0, 0.0], [0.0, 0.1], [0.1, 0.0], [0.1, 0.1]], xor)
    for big in (2**53, 2**62, 2**63 - 2, -(2**63), 2**63, 2**64 - 2, 10**30):
        yield Plain([[big], [big + 1]], [-1, 1])
        yield Plain([[big, 0], [big + 1, 0], [big, 1]], [-1, 1, 1])
        yield Plain([[big, 0.5], [big + 1, 0.5]], [-1, 1])
    yield Plain([[2**63 + 1], [2**63], [-1]], [1, -1, -1])
    yield Plain([[2**53 + 1, 0.5], [2**53, 0.5], [2**53 + 2, 0.5]], [1, -1, -1])
    yield Plain([[TINY], [0.0]], [1, -1])
    yield Plain([[TINY, HUGE], [0.0, HUGE], [TINY, -HUGE]], [1, -1, 1])
    yield Plain([[0.0], [-0.0]], [1, -1])
    yield Plain([[300, 1], [44, 1]], [1, -1])
    yield Plain([[200, 1], [100, 1], [300, 1]], [1, 1, -1])
    yield Plain([[Fraction(1, 3)], [Fraction(1, 2)], [Fraction(2, 3)]], [1, -1, 1])
    yield Plain([[Decimal("0.1")], [Decimal("0.3")], [Decimal("0.2")]], [1, 1, -1])
    yield Plain([[Decimal("0.1"), 1], [Decimal("0.2"), 2], [Decimal("0.3"), 3]], [1, -1, 1])
    yield Plain([[True, 0], [False, 2], [True, 2], [False, 0]], xor)
    yield Plain([[0, 0], [1, 2]], [1, -1], bias=False)


def tables(count: int, seed: int = 0) -> Iterator[Plain]:
    """The named tables, and random degenerate ones as floats and, where they are whole, as integers."""
    yield from named()
    rng = np.random.default_rng(seed)
    for _ in range(count):
        X, y, bias = strategies.random_small(rng, max_rows=6, max_columns=3)
        rows: Rows = X.tolist()
        if all(value == int(value) for row in rows for value in row):
            rows = [[int(value) for value in row] for row in rows]
        if rng.random() < 0.2:
            shift = int(rng.choice([2**53, 2**62, 2**63 - 6]))
            rows = [[int(value) + shift, *row[1:]] for row in rows for value in row[:1]]
        yield Plain(rows, y.tolist(), bias)


# ---------------------------------------------------------------------------------------------------
# The doors in memory: each makes a container of rows, or raises where it cannot
# ---------------------------------------------------------------------------------------------------

DTYPES = ("?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "g", ">f8", ">i8", ">u2")


def arrays() -> Iterator[tuple[str, Callable[[Rows], Any]]]:
    """NumPy arrays of every type and layout."""
    for kind in DTYPES:
        yield f"array {kind}", lambda rows, kind=kind: np.array(rows, dtype=kind)
    yield "array, columns first", lambda rows: np.asfortranarray(np.array(rows, dtype="f8"))
    yield "array, every second row", lambda rows: np.repeat(np.array(rows, dtype="f8"), 2, axis=0)[::2]
    yield "array, backwards", lambda rows: np.array(rows[::-1], dtype="i8")[::-1]
    yield "array, masked nowhere", lambda rows: np.ma.MaskedArray(np.array(rows, dtype="f8"), mask=False)
    yield "array of objects", lambda rows: objects(rows)
    yield "array of NumPy objects", lambda rows: objects([[scalar(v) for v in row] for row in rows])


def sequences() -> Iterator[tuple[str, Callable[[Rows], Any]]]:
    """Rows in Python's own containers."""
    yield "lists", lambda rows: [list(row) for row in rows]
    yield "tuples", lambda rows: tuple(map(tuple, rows))
    yield "deque of tuples", lambda rows: deque(map(tuple, rows))
    yield "lists of NumPy numbers", lambda rows: [[scalar(v) for v in row] for row in rows]
    yield "arrays of one type a row", lambda rows: [typed_row(row) for row in rows]
    yield "lists of 0-d arrays", lambda rows: [[np.array(scalar(v)) for v in row] for row in rows]
    yield "array.array rows", lambda rows: [array.array("d", row) for row in rows]


def matrices() -> Iterator[tuple[str, Callable[[Rows], Any]]]:
    """SciPy's sparse matrices, with values in one piece and in two that add up."""
    for kind in ("i1", "u1", "i4", "u2", "i8", "u8", "f4", "f8"):
        for form in ("csr", "csc", "coo", "lil", "dok", "bsr", "dia"):
            yield (
                f"sparse {form} {kind}",
                lambda rows, kind=kind, form=form: sp.csr_array(np.array(rows, dtype=kind)).asformat(form),
            )
        yield f"sparse coo {kind}, halves", lambda rows, kind=kind: halves(rows, kind)
        yield f"sparse csr {kind}, halves", lambda rows, kind=kind: unsummed(rows, kind)
    yield "csr_matrix", lambda rows: sp.csr_matrix(np.array(rows, dtype="f8"))


def frames() -> Iterator[tuple[str, Callable[[Rows], Any]]]:
    """Dataframes and Arrow tables, each column of the type that suits it."""
    yield "pandas", lambda rows: pd.DataFrame(columns_of(rows, np_column))
    yield "pandas objects", lambda rows: pd.DataFrame({n: pd.Series(c, dtype=object) for n, c in named_columns(rows)})
    yield (
        "pandas nullable",
        lambda rows: pd.DataFrame(columns_of(rows, lambda c: pd.array(np_column(c)))).convert_dtypes(),
    )
    yield (
        "pandas Arrow",
        lambda rows: pd.DataFrame(
            columns_of(rows, lambda c: pd.array(pa_column(c), dtype=pd.ArrowDtype(pa_column(c).type)))
        ),
    )
    yield "polars", lambda rows: pl.DataFrame([pl.Series(n, np_column(c)) for n, c in named_columns(rows)])
    yield (
        "polars decimals",
        lambda rows: pl.DataFrame([pl.Series(n, [short_decimal(v) for v in c]) for n, c in named_columns(rows)]),
    )
    yield "Arrow", lambda rows: pa.table(columns_of(rows, pa_column))
    yield "Arrow chunks", lambda rows: pa.concat_tables([pa.table(columns_of([row], pa_column)) for row in rows])
    yield "Arrow decimals", lambda rows: pa.table(columns_of(rows, lambda c: pa.array([Decimal(v) for v in c])))


def scalar(value: Number) -> Any:
    """A NumPy number of the smallest type of its kind that holds the value; what NumPy has no type for as it is."""
    if isinstance(value, bool):
        return np.bool_(value)
    if isinstance(value, int):
        return next((np.dtype(k).type(value) for k in ("i1", "i2", "i4", "i8", "u8") if fits(value, k)), value)
    return np.float64(value) if isinstance(value, float) else value


def fits(value: int, kind: str) -> bool:
    """Whether the integer type holds the value."""
    return np.iinfo(kind).min <= value <= np.iinfo(kind).max


def typed_row(row: list[Number]) -> Any:
    """A row as an array of one type: integers where all are, doubles otherwise."""
    return np.array(row) if all(isinstance(v, int) for v in row) else np.array(row, dtype="f8")


def np_column(column: list[Number]) -> Any:
    """A column as NumPy stores it: bool, int64, uint64 or doubles."""
    if all(isinstance(v, bool) for v in column):
        return np.array(column)
    if all(isinstance(v, int) for v in column):
        return np.array(column, dtype="i8" if all(fits(v, "i8") for v in column) else "u8")
    if not all(is_double(Fraction(v)) for v in column):
        raise TypeError("no column of NumPy holds these numbers")
    return np.array(column, dtype="f8")


def pa_column(column: list[Number]) -> Any:
    return pa.array(np_column(column))


def short_decimal(value: Number) -> Decimal:
    """The number as a decimal; polars panics on more than 38 digits."""
    if isinstance(value, Fraction) or len(Decimal(value).as_tuple().digits) - Decimal(value).as_tuple().exponent > 38:
        raise TypeError("too long for a decimal")
    return Decimal(value)


def named_columns(rows: Rows) -> Iterator[tuple[str, list[Number]]]:
    return ((f"c{j}", list(column)) for j, column in enumerate(zip(*rows, strict=True)))


def columns_of(rows: Rows, make: Callable[[list[Number]], Any]) -> dict[str, Any]:
    return {name: make(column) for name, column in named_columns(rows)}


def objects(rows: Rows) -> Any:
    table = np.empty((len(rows), len(rows[0])), dtype=object)
    for i, row in enumerate(rows):
        for j, value in enumerate(row):
            table[i, j] = value
    return table


def pieces(rows: Rows, kind: str) -> tuple[Any, Any, Any]:
    """Row, column and value of entries whose sums are the table: each value in two parts of the type."""
    places, parts = [], []
    for i, row in enumerate(rows):
        for j, value in enumerate(row):
            first = value // 2 if isinstance(value, int) else value / 2
            places += [(i, j), (i, j)]
            parts += [first, value - first]
    i, j = np.array(places).T
    return i, j, np.array(parts, dtype=kind)


def halves(rows: Rows, kind: str) -> Any:
    i, j, parts = pieces(rows, kind)
    return sp.coo_array((parts, (i, j)), shape=(len(rows), len(rows[0])))


def unsummed(rows: Rows, kind: str) -> Any:
    _, j, parts = pieces(rows, kind)
    starts = np.arange(len(rows) + 1) * 2 * len(rows[0])
    return sp.csr_array((parts, j, starts), shape=(len(rows), len(rows[0])))


def held(X: Any) -> Rows:
    """The numbers a container holds, read value by value, without linsep."""
    if sp.issparse(X):
        entries = X.tocoo()
        totals = [[Fraction(0)] * X.shape[1] for _ in range(X.shape[0])]
        for i, j, value in zip(entries.row, entries.col, entries.data, strict=True):
            totals[i][j] += one(value)
        return totals
    if isinstance(X, pa.Table):
        return [[one(v) for v in row.values()] for row in X.to_pylist()]
    if isinstance(X, pl.DataFrame):
        return [[one(v) for v in row] for row in X.rows()]
    if isinstance(X, pd.DataFrame):
        return [[one(v) for v in row] for row in zip(*(X[name].tolist() for name in X.columns), strict=True)]
    return [[one(v) for v in row] for row in X]


def one(value: Any) -> Fraction:
    if isinstance(value, np.ndarray):
        value = value[()]
    if isinstance(value, np.longdouble):
        whole, parts = value.as_integer_ratio()
        return Fraction(int(whole), int(parts))
    return naive.exact(value)


# ---------------------------------------------------------------------------------------------------
# The doors of files: each writes the rows, labels last, into a folder and says how to open them
# ---------------------------------------------------------------------------------------------------


def files() -> Iterator[tuple[str, Callable[[Path, Rows, list[int]], Any]]]:
    """Every format that linsep.open reads."""
    yield "CSV", lambda at, rows, y: written_csv(at / "a.csv", rows, y)
    yield "CSV, decimal", lambda at, rows, y: written_csv(at / "c.csv", rows, y, numbers="decimal")
    yield "Parquet", lambda at, rows, y: written(pa.parquet.write_table, at / "a.parquet", rows, y)
    yield "Arrow IPC", lambda at, rows, y: written(pa.feather.write_feather, at / "a.arrow", rows, y)
    yield "npz", lambda at, rows, y: written_npz(at / "a.npz", rows, y)
    yield "npy", lambda at, rows, y: written_npy(at / "a.npy", rows, y)
    yield "svmlight", lambda at, rows, y: written_svmlight(at / "a.svm", rows, y)
    yield "calls", lambda at, rows, y: calls(rows, y)


def text(value: Number) -> str:
    """The number as its shortest decimal; what has none that ends cannot be written."""
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, Fraction):
        raise TypeError("a fraction has no decimal")
    return str(value) if isinstance(value, int | Decimal) else repr(value)


def double_text(value: Number) -> str:
    """The same where the text is read as the nearest double, which must be the number."""
    if not isinstance(value, int) and not is_double(Fraction(value)):
        raise TypeError("read as the nearest double, by convention")
    return text(value)


def fits_a_decimal(value: Number) -> bool:
    """Whether the text says the very number in at most nine digits before and after the point."""
    return Fraction(text(value)) == Fraction(value) and abs(value) < 10**9 and Fraction(value) * 10**9 % 1 == 0


def written_csv(path: Path, rows: Rows, y: list[int], *, numbers: str = "binary64") -> Any:
    if numbers == "decimal" and not all(fits_a_decimal(value) for row in rows for value in row):
        raise TypeError("linsep reads decimals of 18 digits")
    say = text if numbers == "decimal" else double_text
    lines = [[*map(say, row), str(label)] for row, label in zip(rows, y, strict=True)]
    names = [[*(f"c{j}" for j in range(len(rows[0]))), "y"]]
    path.write_text("".join(",".join(line) + "\n" for line in names + lines))
    return linsep.open(path, label="y", numbers=numbers)


def written(write: Callable[[Any, Path], Any], path: Path, rows: Rows, y: list[int]) -> Any:
    write(pa.table({**columns_of(rows, pa_column), "y": y}), path)
    return linsep.open(path, label="y")


def written_npz(path: Path, rows: Rows, y: list[int]) -> Any:
    np.savez(path, X=one_type(rows), y=np.array(y))
    return linsep.open(path)


def written_npy(path: Path, rows: Rows, y: list[int]) -> Any:
    np.save(path, one_type([[*row, label] for row, label in zip(rows, y, strict=True)]))
    return linsep.open(path, label=-1)


def one_type(rows: Rows) -> Any:
    table = np_column([value for row in rows for value in row]).reshape(len(rows), -1)
    if held(table) != held(rows):
        raise TypeError("no array holds these numbers")
    return table


def written_svmlight(path: Path, rows: Rows, y: list[int]) -> Any:
    if any(isinstance(value, int) and abs(value) > 2**53 for row in rows for value in row):
        raise TypeError("svmlight files hold doubles")
    pairs = [" ".join(f"{j}:{double_text(value)}" for j, value in enumerate(row, start=1)) for row in rows]
    path.write_text("".join(f"{label} {row}\n" for label, row in zip(y, pairs, strict=True)))
    return linsep.open(path)


def calls(rows: Rows, y: list[int]) -> Any:
    return CallSource(lambda: (([row], [label]) for row, label in zip(rows, y, strict=True)))


# ---------------------------------------------------------------------------------------------------
# The labels
# ---------------------------------------------------------------------------------------------------

DAY = datetime(2020, 1, 1)
PAIRS: dict[str, tuple[Any, Any]] = {
    "integers": (0, 1),
    "-1 and +1": (-1, 1),
    "beyond 2^53": (2**53, 2**53 + 1),
    "floats": (0.5, 1.5),
    "booleans": (False, True),
    "texts": ("no", "yes"),
    "words of numbers": ("0", "1"),
    "text of a space": (" yes", "yes"),
}
HOLDERS: dict[str, Callable[[list[Any]], Any]] = {
    "list": list,
    "tuple": tuple,
    "array": np.array,
    "column": lambda y: np.array(y)[:, None],
    "objects": lambda y: np.array(y, dtype=object),
    "pandas": pd.Series,
    "pandas objects": lambda y: pd.Series(y, dtype=object),
    "pandas categories": lambda y: pd.Series(y).astype("category"),
    "pandas nullable": lambda y: pd.Series(y).convert_dtypes(),
    "polars": lambda y: pl.Series("y", y),
    "Arrow": pa.array,
    "Arrow chunks": lambda y: pa.chunked_array([[v] for v in y]),
}
MISSING = (None, float("nan"), np.nan, pd.NA, pd.NaT, np.datetime64("NaT"), np.timedelta64("NaT"), Decimal("NaN"), "")
REFUSED = (
    [1, "1", "0", 1],
    [0, 1, "1", 0],
    [0.0, float("inf"), 0.0, 0.0],
    [float("-inf"), 1.0, 1.0, 1.0],
    [1j, 0, 0, 1j],
    [(1, 0), (2, 0), (2, 0), (1, 0)],
    [0, 1, 2, 0],
    [1, 1, 1, 1],
)
XOR = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]


def with_missing() -> Iterator[tuple[str, Any]]:
    """Labels of which the third is missing, in every holder that takes them."""
    for gap in MISSING:
        for low, high in ((0, 1), (0.5, 1.5), ("no", "yes"), (DAY, DAY + timedelta(1)), (timedelta(1), timedelta(2))):
            for name, make in HOLDERS.items():
                if isinstance(gap, Decimal) and name == "polars":
                    continue  # polars panics on a decimal that is not a number
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    try:
                        y = make([low, high, gap, low])
                    except CANNOT_HOLD:
                        continue  # not for this holder
                if isinstance(y, np.ndarray) and y.dtype.kind == "U" and gap != "":
                    continue  # NumPy made the word 'nan' of it before anyone could look
                yield f"{gap!r} beside {low!r}, {name}", y
    for unit in ("datetime64[ms]", "timedelta64[ms]"):
        y = np.array([1, 2, 2, 1]).astype(unit)
        y[2] = "NaT"
        yield unit, y
        yield f"pandas {unit}", pd.Series(y)
        yield f"polars {unit}", pl.Series(y)


# ---------------------------------------------------------------------------------------------------
# The campaign
# ---------------------------------------------------------------------------------------------------


@dataclass
class Count:
    """What came of the doors: verdicts by outcome, and every fault."""

    kinds: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)

    def verdict(self, name: str, plain: Plain, X: Any, y: Any, at: Path) -> None:
        """Decide one table through one door, and check the verdict in every way there is."""
        try:
            verdict = linsep.decide(X, y, bias=plain.bias)
        except InputError as error:
            self.kinds["refused"] += 1
            if plain.is_plain:
                self.faults.append(f"{name}: refused {plain}: {error}")
            return
        except Exception as error:  # the campaign goes on: a crash is a fault like any other
            self.faults.append(f"{name}: {type(error).__name__} {error} for {plain}")
            return
        self.kinds[verdict.kind] += 1
        if verdict.kind != plain.kind:
            self.faults.append(f"{name}: {verdict.kind}, not {plain.kind}: {plain}")
        try:
            verdict.verify(X, y)
            linsep.verdict_from_json(verdict.to_json()).verify(X, y)
            self.kinds["verified twice"] += 1
            self.checker(name, plain, verdict, at)
        except Exception as error:
            self.faults.append(f"{name}: {type(error).__name__} {error} for {plain}")

    def labelled(self, name: str, y: Any, pair: tuple[Any, Any]) -> None:
        """XOR under these labels."""
        self.kinds["labels"] += 1
        try:
            verdict = linsep.decide(XOR, y)
            linsep.verdict_from_json(verdict.to_json()).verify(XOR, y)
            if verdict.kind != "overlapping" or verdict.labels != pair:
                self.faults.append(f"{name}: {verdict.kind}, {verdict.labels}")
        except Exception as error:
            self.faults.append(f"{name}: {type(error).__name__}: {error}")

    def checker(self, name: str, plain: Plain, verdict: Any, at: Path) -> None:
        """The stand-alone checker on a CSV file of the same numbers, where decimals can write them."""
        low, high = verdict.labels
        lines = [",".join([*verdict.names, "y"])] if verdict.names else []
        for row, label in zip(plain.rows, plain.labels, strict=True):
            try:
                lines.append(",".join([*map(text, row), str(high if label > 0 else low)]))
            except TypeError:
                return
        (at / "checked.csv").write_text("\n".join(lines) + "\n")
        (at / "proof.json").write_text(verdict.to_json())
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            status = checker.main([str(at / "proof.json"), str(at / "checked.csv"), "--label", str(len(plain.rows[0]))])
        self.kinds["checked"] += 1
        if status:
            self.faults.append(f"{name}: the checker says {said.getvalue().strip()} of {plain}")


def through(count: Count, plain: Plain, at: Path) -> None:
    """One table through every door that can carry its numbers."""
    truth = held(plain.rows)
    for name, make in (*arrays(), *sequences(), *matrices(), *frames()):
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                X = make(plain.rows)
                carries = held(X) == truth
            except CANNOT_HOLD:
                carries = False
        if carries:
            count.verdict(name, plain, X, plain.labels, at)
        else:
            count.kinds["not carried"] += 1
    for name, write in files():
        try:
            source = write(at, plain.rows, plain.labels)
        except (OverflowError, TypeError, pa.ArrowException):
            count.kinds["not carried"] += 1
        except InputError as error:
            count.kinds["refused"] += 1
            if plain.is_plain and not plain.is_long:
                count.faults.append(f"{name}: refused {plain}: {error}")
        else:
            count.verdict(name, plain, source, None, at)


def labels(count: Count) -> None:
    """XOR under every kind of label in every holder: overlapping; a label missing, mixed or infinite: refused."""
    for kind, (low, high) in PAIRS.items():
        for name, make in HOLDERS.items():
            count.labelled(f"{kind}, {name}", make([low, high, high, low]), (low, high))
    for name, y in with_missing():
        count.kinds["labels missing"] += 1
        try:
            count.faults.append(f"{name}: {linsep.decide(XOR, y).kind}")
        except MissingLabelError as error:
            if error.row != 2:
                count.faults.append(f"{name}: does not name row 2: {error}")
        except Exception as error:
            count.faults.append(f"{name}: {type(error).__name__}: {error}")
    for y in REFUSED:
        count.kinds["labels refused"] += 1
        try:
            count.faults.append(f"{y}: {linsep.decide(XOR, y).kind}")
        except InputError:
            pass
        except Exception as error:
            count.faults.append(f"{y}: {type(error).__name__}: {error}")


def campaign(count: int, seed: int = 0) -> Count:
    """The named tables and so many random ones through every door."""
    result = Count()
    labels(result)
    with tempfile.TemporaryDirectory() as folder:
        for plain in tables(count, seed):
            through(result, plain, Path(folder))
    return result


def main(tables: int = 300, seed: int = 0) -> int:
    """Run the campaign and print what came of it."""
    start = time.perf_counter()
    result = campaign(tables, seed)
    for fault in result.faults:
        print(fault)
    print(", ".join(f"{n:,} {kind}" for kind, n in result.kinds.items()))
    print(f"{len(result.faults)} wrong, {time.perf_counter() - start:.0f} s")
    return 1 if result.faults else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
