"""Text and categories as columns of 0 and 1, one for each level that occurs: "all", or all but the "reference".

    pandas categories, polars Enums, ordered dictionaries of Arrow     their levels in their own order
    text, other dictionaries, polars Categoricals, whole numbers       their levels sorted

The first level that occurs is the reference. A level that no row has gets no column. The column for the level Chur of
the column site is called site[Chur].
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep.errors import ArgumentError, CertificateError, shown
from linsep.faults import CODE_FIRST, NAME_TOO, fault, few
from linsep.tables.exact_numbers import Array, ExactTable, told_name

Coding: TypeAlias = Literal["reference", "all"]
Categories: TypeAlias = Coding | Mapping[str, Coding] | None

NUMBER = re.compile(r"\s*[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?\s*")
UNCODED: Categories = MappingProxyType({})  # for callers without the option: no column is coded
CODINGS: tuple[Coding, ...] = get_args(Coding)
WHOLE = ({int}, {bool})  # the types in a column of objects that a missing value has made so
FEW_LEVELS = 10  # with at most this many levels a column is never taken for ids
WORTH_SPARSE = 100_000  # cells of a dense table: from this many on, a sparse one may be worth its costs


@dataclass(frozen=True, slots=True)
class Stated:
    """The columns that a proof is about: their names say how text was coded."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Levels:
    """A column of categories: the levels that occur, in order, and for each row the position of its level."""

    name: str
    levels: tuple[Any, ...]
    codes: npt.NDArray[np.int64]
    coding: Coding

    @property
    def first(self) -> int:
        """The position of the first level that has a column."""
        return 1 if self.coding == "reference" else 0

    def columns(self) -> list[str]:
        """The columns that it becomes."""
        return [level_name(self.name, level) for level in self.levels[self.first :]]


def level_name(column: str, level: Any) -> str:
    """The name of the column of a level.

    >>> level_name("site", "Chur")
    'site[Chur]'
    """
    return f"{column}[{level}]"


def require_categories(categories: Any) -> Categories:
    """The option, if it makes sense."""
    if isinstance(categories, Mapping):
        for name, coding in categories.items():
            if coding not in CODINGS:
                raise ArgumentError(f"categories[{shown(name)}] is {shown(coding)}: it must be 'reference' or 'all'.")
        return {told_name(name): coding for name, coding in categories.items()} or UNCODED
    if categories is not None and categories not in CODINGS:
        raise ArgumentError(
            f"categories is {shown(categories)}: it must be 'reference', 'all', or a dictionary of columns such as "
            "{'site': 'reference'}."
        )
    return categories  # type: ignore[no-any-return]


def coding_of(column: Any, name: str, categories: Categories | Stated) -> Coding | None:
    """How a column is coded; None for numbers, and for columns that are not to be coded."""
    if isinstance(categories, Stated):
        return _stated_coding(column, name, categories.names)
    if isinstance(categories, Mapping):
        return categories.get(name)
    return categories if is_categorical(column) else None


def _stated_coding(column: Any, name: str, names: Sequence[str]) -> Coding | None:
    if name in names or not (is_categorical(column) or any(each.startswith(f"{name}[") for each in names)):
        return None
    levels = levels_of(column, name, "all").levels
    if len(levels) > 1 and not any(each.startswith(f"{name}[") for each in names):
        raise CertificateError(
            f"The column {shown(name)} is not one of the proof.",
            fix=f"Leave it out, or say ids={shown(name)} if it names the rows.",
        )
    return "all" if levels and level_name(name, levels[0]) in names else "reference"


def is_categorical(column: Any) -> bool:
    """Whether a narwhals series holds text or categories, which are never read as numbers."""
    import narwhals as nw

    return kind_of(column) in (nw.String, nw.Categorical, nw.Enum)


def kind_of(column: Any) -> Any:
    """The type of a narwhals series; Unknown for Arrow's decimals with a negative scale, for which it has none."""
    import narwhals as nw

    try:
        return column.dtype
    except ValueError:
        return nw.Unknown()


def require_named(categories: Categories | Stated, names: Sequence[str] | None) -> None:
    """Refuse names of columns that do not exist."""
    if not isinstance(categories, Mapping):
        return
    if names is None and categories:
        raise ArgumentError(
            "categories names columns, and X is not a dataframe in memory.",
            fix="Give a dataframe; for files, use linsep.open(..., categories=).",
        )
    for name in categories:
        if name not in (names or ()):
            raise fault("no column", column=name, advice=f"The columns are {few(names or (), 20)}.")


def text_fix(categories: Categories | Stated) -> str | None:
    """What to do about text that is not coded; None for the usual advice."""
    if not isinstance(categories, Mapping):
        return None
    return NAME_TOO if categories else CODE_FIRST


def require_categories_in(column: Any, found: Levels) -> None:
    """Refuse text that was not named as a category: numbers with some text among them, and ids (a level per row)."""
    import narwhals as nw

    if kind_of(column) == nw.String and is_mixed(found.levels):
        odd = next(k for k, level in enumerate(found.levels) if not is_number(level))
        row = int(np.argmax(found.codes == odd))
        raise fault("text among numbers", row=row, column=found.name, value=found.levels[odd])
    if looks_like_ids(len(found.levels), len(found.codes)):
        raise fault("ids as categories", column=found.name, levels=len(found.levels), rows=len(found.codes))


def is_mixed(levels: Iterable[Any]) -> bool:
    """Whether some texts are numbers and others are not: then one of them may be a misspelt number.

    >>> is_mixed(["1", "2.5", "?"]), is_mixed(["8001", "0900"]), is_mixed(["u", "v"])
    (True, False, False)
    """
    return len({is_number(level) for level in levels}) == 2


def is_number(level: Any) -> bool:
    """Whether a category is the text of a number."""
    return isinstance(level, str) and NUMBER.fullmatch(level) is not None


def looks_like_ids(n_levels: int, n_rows: int) -> bool:
    """Whether a column has so many levels that it seems to name the rows.

    >>> looks_like_ids(40, 50), looks_like_ids(40, 500), looks_like_ids(4, 4)
    (True, False, False)
    """
    return n_levels > FEW_LEVELS and 2 * n_levels > n_rows


def levels_of(column: Any, name: str, coding: Coding) -> Levels:
    """The levels of a narwhals series without nulls."""
    import narwhals as nw

    kind = kind_of(column)
    values = [value.item() if isinstance(value, np.generic) else value for value in column.to_list()]
    if not (is_categorical(column) or kind.is_integer() or kind == nw.Boolean or set(map(type, values)) in WHOLE):
        raise fault("not categories", column=name, seen=f"{values[0]!r}" if kind in (nw.Object, nw.Unknown) else kind)
    if "" in (used := set(values)):
        raise fault("missing", row=values.index(""), column=name, value="")
    own = _own_order(column)
    levels = tuple(sorted(used)) if own is None else tuple(level for level in own if level in used)
    place = {level: k for k, level in enumerate(levels)}
    return Levels(name, levels, np.fromiter(map(place.__getitem__, values), np.int64, len(values)), coding)


def _own_order(column: Any) -> Sequence[Any] | None:
    """The order that the user gave the levels; None if they only have the order of their appearance."""
    import narwhals as nw

    if column.implementation.is_pandas_like() and kind_of(column) in (nw.Categorical, nw.Enum):
        declared = getattr(column.to_native().dtype, "categories", None)  # Arrow's dictionaries declare none
        return None if declared is None else tuple(declared)
    return ordered_levels(column)


def ordered_levels(column: Any) -> tuple[Any, ...] | None:
    """The levels of a narwhals series that are declared to be in order, from low to high; else None.

    These are ordered categories of pandas, Enums of polars, and ordered dictionaries of Arrow.
    """
    import narwhals as nw

    kind, native = kind_of(column), column.to_native()
    if kind not in (nw.Categorical, nw.Enum):
        return None
    if column.implementation.is_pandas_like():
        return tuple(native.dtype.categories) if getattr(native.dtype, "ordered", False) else None
    if column.implementation.is_pyarrow():
        orders = {tuple(chunk.dictionary.to_pylist()) for chunk in native.chunks} if native.type.ordered else set()
        return orders.pop() if len(orders) == 1 else None
    return tuple(kind.categories) if kind == nw.Enum else None


def joined(names: Sequence[str], numbers: ExactTable | None, coded: Mapping[str, Levels], n_rows: int) -> ExactTable:
    """The numbers of a table and its coded columns, side by side in the order of the table."""
    columns = [made for name in names for made in (coded[name].columns() if name in coded else [name])]
    if not columns:
        raise fault("one level", column=names[0])
    if len(set(columns)) < len(columns):
        raise fault("category twice", column=next(name for name in columns if columns.count(name) > 1))
    values, shape = None if numbers is None else numbers.values, (n_rows, len(columns))
    is_worth = n_rows * len(columns) > max(WORTH_SPARSE, 4 * n_rows * len(names))
    is_sparse = is_worth and (numbers is None or numbers.fits_64_bits)
    table = side_by_side(names, values, coded, shape, is_sparse=is_sparse)
    if numbers is None:
        return ExactTable(table, tuple(columns))
    return numbers._replace(values=table, columns=tuple(columns), scales=_scales(names, numbers.scales, coded))


def side_by_side(
    names: Sequence[str],
    numbers: Array | None,
    coded: Mapping[str, Levels],
    shape: tuple[int, int],
    *,
    is_sparse: bool,
) -> Any:
    """A table of columns in this order, coded or numbers, as an array or as a CSR matrix."""
    kind = np.dtype(np.int8) if numbers is None else numbers.dtype
    return (_sparse if is_sparse else _dense)(list(_placed(names, numbers, coded)), shape, kind)


def _placed(names: Sequence[str], values: Array | None, coded: Mapping[str, Levels]) -> Iterator[tuple[int, Any]]:
    """Each of the user's columns, and the position of the first column that it becomes."""
    place = own = 0
    for name in names:
        if name in coded:
            yield place, coded[name]
            place += len(coded[name].levels) - coded[name].first
        elif values is not None:
            yield place, values[:, own]
            place, own = place + 1, own + 1


def _dense(parts: Sequence[tuple[int, Any]], shape: tuple[int, int], kind: Any) -> Array:
    table = np.zeros(shape, kind)
    for place, part in parts:
        if isinstance(part, Levels):
            rows = np.flatnonzero(part.codes >= part.first)
            table[rows, place + part.codes[rows] - part.first] = 1
        else:
            table[:, place] = part
    return table


def _sparse(parts: Sequence[tuple[int, Any]], shape: tuple[int, int], kind: Any) -> Any:
    """The same as CSR; the entries are in order, since the columns of each row increase."""
    rows, columns, entries = [], [], []
    for place, part in parts:
        own = np.flatnonzero(part.codes >= part.first if isinstance(part, Levels) else part)
        rows.append(own)
        columns.append(place + part.codes[own] - part.first if isinstance(part, Levels) else np.full(len(own), place))
        entries.append(np.ones(len(own), kind) if isinstance(part, Levels) else part[own])
    row = np.concatenate(rows)
    order = np.argsort(row, kind="stable")
    indptr = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=shape[0]))])
    data, indices = np.concatenate(entries)[order], np.concatenate(columns)[order]
    return sp.csr_array((data, indices.astype(np.int32), indptr), shape=shape)


def _scales(
    names: Sequence[str], scales: tuple[int, ...] | None, coded: Mapping[str, Levels]
) -> tuple[int, ...] | None:
    if scales is None:
        return None
    own = iter(scales)
    return tuple(k for name in names for k in ([1] * len(coded[name].columns()) if name in coded else [next(own)]))
