"""The columns in use, and powers of two that bring all of them to the same size.

Rows and columns may be multiplied by powers of two without changing which hyperplanes separate, and without
rounding. Solvers work on the signed rows z = y·(x, 1) of a frame; proofs speak of the original columns.
"""

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep.errors import OutOfMemoryError
from linsep.exact import IntegerRows, integer_rows
from linsep.sources.base import Block, Floats, Ints

LOWEST, LARGEST = -(2**20), 1000  # exponents: below that of any value, and one that leaves room above
ALWAYS_THERE = 1 << 26  # bytes that are assumed to be available
COPIES = 4  # of the rows used together, while a solver works on them
GB = 1e9


@dataclass(frozen=True, slots=True)
class Frame:
    """Which columns of the table are used (`columns`), and the exponents of two for each of them and for the bias."""

    n_columns: int
    columns: Ints
    exponents: npt.NDArray[np.int32]
    bias: bool

    @classmethod
    def around(cls, block: Block, columns: Ints, *, bias: bool) -> "Frame":
        """The frame in which the largest entry of each column of the block is about 1."""
        if block.is_sparse and len(block):
            largest = abs(block.values[:, columns].astype(np.float64)).max(axis=0).toarray().ravel()
        else:
            largest = abs(_columns(block, columns).astype(np.float64)).max(axis=0, initial=0.0)
        exponents = np.where(largest > 0, -np.frexp(largest)[1], 0)
        return cls(block.n_columns, columns, np.append(exponents, np.zeros(int(bias), int)).astype(np.int32), bias)

    @property
    def width(self) -> int:
        """The number D of columns of a signed row."""
        return len(self.columns) + self.bias

    def signed(self, block: Block) -> Floats:
        """The signed rows of a block, each times a power of two that brings its largest entry to about 1.

        One shift for row and column together: a later row may be 2^2000 times larger than those the frame was built
        around, and intermediate results must not overflow.
        """
        require_memory(len(block), self.width)
        z = np.empty((len(block), self.width))
        z[:, : len(self.columns)] = _columns(block, self.columns)
        z[:, len(self.columns) :] = 1.0
        mantissas, exponents = np.frexp(z)
        exponents += self.exponents
        largest = exponents.max(axis=1, initial=LOWEST, where=mantissas != 0)
        np.ldexp(mantissas, exponents - largest[:, None], out=z)
        z *= block.y[:, None]
        return z

    def signed_alike(self, block: Block) -> Any:
        """The same; sparse rows as a CSR matrix."""
        if not block.is_sparse:
            return self.signed(block)
        rows = block.values[:, self.columns]
        constant = sp.csr_array(np.ones((len(block), int(self.bias))))
        rows = sp.csr_array(sp.hstack([sp.csr_array(rows), constant])).astype(np.float64)
        shifts = np.repeat(self.row_exponents(block), np.diff(rows.indptr)) + self.exponents[rows.indices]
        mantissas, own = np.frexp(rows.data)
        signs = np.repeat(block.y, np.diff(rows.indptr))
        rows.data = np.ldexp(mantissas, np.maximum(own + shifts, LOWEST).astype(np.int32)) * signs
        return rows

    def row_exponents(self, block: Block) -> Ints:
        """The powers of two that `signed` multiplies the rows of a block by."""
        least = int(self.exponents[-1]) + 1 if self.bias else LOWEST
        if not block.is_sparse:
            mantissas, own = np.frexp(_columns(block, self.columns).astype(np.float64))
            own += self.exponents[: len(self.columns)]
            return np.asarray(-own.max(axis=1, initial=least, where=mantissas != 0).astype(np.int64))
        values = block.values if len(self.columns) == block.n_columns else block.values[:, self.columns]
        rows = sp.csr_array(values).astype(np.float64)
        mantissas, own = np.frexp(rows.data)
        own = np.where(mantissas == 0, LOWEST, own + self.exponents[rows.indices])
        largest = np.full(len(block), least)
        np.maximum.at(largest, np.repeat(np.arange(len(block)), np.diff(rows.indptr)), own)
        return -largest.astype(np.int64)

    def halfspace(self, w: Floats) -> tuple[Floats, float]:
        """Weights in the frame as weights of the original columns, and the bias, up to a power of two.

        That power keeps them finite; weights that vanish because the largest is so much larger need the exact LP.
        """
        mantissas, exponents = np.frexp(w)
        exponents += self.exponents
        largest = int(exponents.max(initial=LOWEST, where=mantissas != 0))
        shifted = np.ldexp(mantissas, exponents - max(0, largest - LARGEST))
        weights = np.zeros(self.n_columns)
        weights[self.columns] = shifted[: len(self.columns)]
        return weights, float(shifted[-1]) if self.bias else 0.0

    def weights(self, weights: Floats, bias_weight: float) -> Floats:
        """The reverse: weights of the original columns as weights in the frame, the largest about 1."""
        mantissas, exponents = np.frexp(np.append(weights[self.columns], [bias_weight] * self.bias))
        exponents -= self.exponents
        return np.asarray(np.ldexp(mantissas, exponents - exponents.max(initial=LOWEST, where=mantissas != 0)))

    def integers(self, block: Block, column_exponents: Ints | None = None) -> IntegerRows:
        """The signed rows of a block as integers."""
        values = _columns(block, self.columns)
        return integer_rows(values, block.y, bias=self.bias, column_exponents=column_exponents)

    def spread_out(self, weights: tuple[int, ...]) -> tuple[tuple[int, ...], int]:
        """Integer weights of the columns in use as integer weights of all columns, and of the bias."""
        everywhere = [0] * self.n_columns
        for column, weight in zip(self.columns.tolist(), weights, strict=False):
            everywhere[column] = weight
        return tuple(everywhere), weights[-1] if self.bias else 0


def require_memory(n_rows: int, width: int) -> None:
    """Raise if there is not enough memory for this many dense rows at once."""
    require_bytes(COPIES * 8 * n_rows * width, f"{n_rows:,} rows of {width:,} columns must be held densely at once")


def require_columns(n_columns: int, each: int) -> None:
    """Raise if weights for this many columns, at `each` bytes, do not fit in memory."""
    require_bytes(each * n_columns, f"{n_columns:,} columns have as many weights")


def require_bytes(needed: int, what: str) -> None:
    """Raise if something takes more memory than there is, and say how much it would take."""
    free = None if needed < ALWAYS_THERE else free_memory()
    if free is not None and needed > free:
        raise OutOfMemoryError(
            f"{what}: that takes about {needed / GB:,.1f} GB of memory, and {free / GB:,.1f} GB are free. "
            "Use fewer columns, or a machine with more memory."
        )


def free_memory(root: Path = Path("/")) -> int | None:
    """Bytes that this machine has free, or that the container may take; None if that is not known."""
    return min((size for size in (_free_on_machine(root), group_limit(root)) if size is not None), default=None)


def group_limit(root: Path = Path("/")) -> int | None:
    """The memory that the control groups of this process may take (Linux, version 2 or 1); None without a limit."""
    try:
        lines = (root / "proc/self/cgroup").read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        return None
    found: list[int] = []
    for _, controllers, path in (line.split(":", 2) for line in lines if line.count(":") >= 2):
        if controllers not in ("", "memory"):
            continue
        base, name = ("memory", "memory.limit_in_bytes") if controllers else ("", "memory.max")
        group = Path(path.lstrip("/"))
        for folder in (group, *group.parents):  # the limits of its parents apply to a group too
            with suppress(OSError, ValueError):  # "max" is no limit
                found.append(int((root / "sys/fs/cgroup" / base / folder / name).read_text(encoding="ascii")))
    return min(found, default=None)


def _free_on_machine(root: Path) -> int | None:
    try:
        with (root / "proc/meminfo").open(encoding="ascii") as lines:
            return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("MemAvailable:"))
    except (OSError, StopIteration, ValueError):
        pass
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None


def _columns(block: Block, columns: Ints) -> Any:
    values = block.values if len(columns) == block.n_columns else block.values[:, columns]
    return values if isinstance(values, np.ndarray) else values.toarray()
