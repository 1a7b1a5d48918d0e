"""The options of `linsep.open` as one value, which is valid once it exists, and which all readers share."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike, fspath
from typing import Any, Literal, TypeAlias, get_args

from linsep import arguments
from linsep.errors import ArgumentError
from linsep.faults import fault
from linsep.sources.base import Label
from linsep.sources.files.rejects import Rejects
from linsep.tables.categories import Categories, Coding, require_categories
from linsep.tables.given_rows import Missing, require_missing

Numbers: TypeAlias = Literal["binary64", "decimal"]

MEMORY = "512MB"
LEAST = 10**6  # bytes
SMALLEST = 1 << 16  # bytes of a batch
SHARE = 64  # a batch is this fraction of the memory, since several are in progress at once, as text, columns and rows
UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "KI": 2**10, "MI": 2**20, "GI": 2**30, "TI": 2**40}
SPARSE_COLUMN = 256  # bytes that a column takes in vectors of weights and in what is known about each column
TABLE_COLUMN = 5_000  # and in a table that is being read, with its name and type
MOST_COLUMNS = 2**31 - 1  # indices of 32 bits


@dataclass(frozen=True, slots=True)
class Needs:
    """The columns that a model needs in the rows it is to label. A label column is used if there is one."""

    names: tuple[str, ...] | None
    width: int
    label: str | int | None = None


@dataclass(frozen=True)
class Options:
    """The options of `linsep.open`, in its order, and what else is known about the rows.

    A proof gives the labels (`classes`) and the name of the label column (`stated_label`), but nothing about headers
    (`says_label`: whether the user named the label column). With `needs`, rows are labelled, not learned from.
    """

    label: str | int | None = None
    columns: Sequence[str | int] | None = None
    positive: Any = None
    categories: Categories = None
    numbers: Numbers | None = None  # None: decimals of text as doubles, those of a decimal type exactly
    memory: str | int = MEMORY
    cache: str | PathLike[str] | bool | None = None
    reject: str | PathLike[str] | None = None
    index_base: int = 1
    n_columns: int | None = None
    header: bool = False
    format: str | None = None
    id: str | int | None = None
    classes: tuple[Label, ...] | None = None
    stated_label: str | None = None
    says_label: bool = True
    needs: Needs | None = None
    missing: Missing = None
    size: int = field(init=False)  # the memory in bytes
    batch_bytes: int = field(init=False)
    rejects: Rejects | None = field(init=False)  # where bad rows go; None if the first one is an error

    def __post_init__(self) -> None:
        if self.numbers is not None:
            arguments.one_of("numbers", self.numbers, get_args(Numbers))
        require_categories(self.categories)
        if self.index_base not in (0, 1):
            raise ArgumentError(f"index_base is {self.index_base}: svmlight files count columns from 0 or from 1.")
        for name, given in (("label", self.label), ("id", self.id)):
            if isinstance(given, bool) or not (given is None or isinstance(given, str | int)):
                raise ArgumentError(f"{name} is {given!r}: it must be the name of a column, or its position.")
        if isinstance(self.memory, bool) or not isinstance(self.memory, str | int):
            raise ArgumentError(f"memory is {self.memory!r}: it must be a number of bytes, or text such as '512MB'.")
        size = self.memory if isinstance(self.memory, int) else parse_size(self.memory)
        if size < LEAST:
            raise ArgumentError(f"memory is {self.memory}: at least 1MB is needed.")
        known: dict[str, Any] = {"size": size, "batch_bytes": batch_bytes(size)}
        known |= {"columns": None if self.columns is None else tuple(self.columns)}
        if self.missing is not None:
            require_missing(self.missing)
            if self.reject is not None:
                raise ArgumentError("reject also handles rows with missing values: leave missing out.")
        known |= {"rejects": None if self.reject is None else Rejects(fspath(self.reject))}
        known |= {"rejects": Rejects(None)} if self.missing == "drop" else {}
        for name, value in known.items():
            object.__setattr__(self, name, value)  # frozen from now on

    def coding_of(self, column: str) -> Coding:
        """How the categories of a column become columns; for a model, all of them do."""
        if isinstance(self.categories, Mapping):
            return self.categories.get(column, "all")
        return self.categories or "all"

    @property
    def most_columns(self) -> int:
        """How many columns of a sparse file the memory has room for."""
        return min(MOST_COLUMNS, self.size // SPARSE_COLUMN)

    def require_room(self, path: str, n_columns: int, each: int = SPARSE_COLUMN) -> None:
        """Refuse more columns than the memory has room for."""
        if n_columns > min(MOST_COLUMNS, self.size // each):
            raise fault("wide", path, value=n_columns, columns=n_columns, fix=room_for(n_columns, each))


def batch_bytes(memory: int) -> int:
    """How large a batch may be so that everything held at once stays within the memory."""
    return max(SMALLEST, min(memory // SHARE, 1 << 26))


def room_for(n_columns: int, each: int = SPARSE_COLUMN) -> str:
    """How to ask for the memory that this many columns need."""
    if n_columns > MOST_COLUMNS:
        return f"At most {MOST_COLUMNS:,} can be read: renumber them."
    return f"If that is right, allow for it: {asked_for(n_columns * each)}."


def asked_for(size: int) -> str:
    """How to allow this many bytes of memory."""
    asked = f"{-(-size // 10**6)}MB"
    return f"memory={asked!r} (--memory {asked})"


def parse_size(text: str) -> int:
    """A size such as "512MB", "2GiB" or "1000000", in bytes."""
    match = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([KMGT]?I?)B?\s*", text.upper())
    if not match or match[2] == "I":
        raise ArgumentError(f"{text!r} is not a size: write for instance 512MB or 2GiB.")
    return int(float(match[1]) * UNITS[match[2]])
