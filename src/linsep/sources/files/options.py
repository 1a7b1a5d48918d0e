"""What `open` was asked for, as every reader needs it."""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from linsep.errors import ArgumentError
from linsep.faults import fault

if TYPE_CHECKING:
    from linsep.sources.files.rejects import Rejects

Numbers: TypeAlias = Literal["binary64", "decimal"]

HELD_BATCHES = 8  # small files as large as this many batches may be held in memory, all of them together
UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "KI": 2**10, "MI": 2**20, "GI": 2**30, "TI": 2**40}
EXACT = 2.0**53  # every integer up to here is a double
SPARSE_COLUMN = 256  # bytes that a column costs in vectors of weights and in what is known of each column
TABLE_COLUMN = 5_000  # and in a table, with its name and its type, while that is read
MOST_COLUMNS = 2**31 - 1  # indices of 32 bits


@dataclass(frozen=True, slots=True)
class Needs:
    """What a model needs of the rows that it is to label: these columns. A label column is used where there is one."""

    names: tuple[str, ...] | None
    width: int
    label: str | int | None = None


@dataclass(frozen=True, slots=True)
class Options:
    """What `open` was asked for, as every reader needs it. With `needs`, rows are to be labelled, not learned from."""

    label: str | int | None = None
    columns: tuple[str | int, ...] | None = None
    one_hot: bool = False
    numbers: Numbers = "binary64"
    index_base: int = 1
    n_columns: int | None = None
    header: bool = False  # the first line of text names the columns, even if it holds values alone
    says_label: bool = True  # the user gave the label column; else a proof did, which has no say on headers
    stated_label: str | None = None  # what the label column is called in a proof
    memory: int = 1 << 29
    batch_bytes: int = 1 << 24
    set_aside: "Rejects | None" = None
    needs: Needs | None = None

    @property
    def most_columns(self) -> int:
        """How many columns of a sparse file the memory has room for."""
        return min(MOST_COLUMNS, self.memory // SPARSE_COLUMN)

    def require_room(self, path: str, n_columns: int, each: int = SPARSE_COLUMN) -> None:
        """Refuse more columns than the memory has room for."""
        if n_columns > min(MOST_COLUMNS, self.memory // each):
            raise fault("wide", path, value=n_columns, columns=n_columns, fix=room_for(n_columns, each))


def room_for(n_columns: int, each: int = SPARSE_COLUMN) -> str:
    """How to ask for the memory that this many columns need."""
    if n_columns > MOST_COLUMNS:
        return f"At most {MOST_COLUMNS:,} can be read: renumber them."
    size = f"{-(-n_columns * each // 10**6):,}MB".replace(",", "")
    return f"If that is right, allow for it: memory={size!r} (--memory {size})."


def parse_size(text: str) -> int:
    """A size such as "512MB", "2GiB" or "1000000", in bytes."""
    match = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([KMGT]?I?)B?\s*", text.upper())
    if not match or match[2] == "I":
        raise ArgumentError(f"{text!r} is not a size: write for instance 512MB or 2GiB.")
    return int(float(match[1]) * UNITS[match[2]])
