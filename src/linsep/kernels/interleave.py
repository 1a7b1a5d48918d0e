"""Columns beside each other, as rows: what a columnar file holds in the order that the other kernels read."""

from typing import Any

import numpy as np
from numba import carray, njit, types
from numba.core import cgutils
from numba.extending import intrinsic

STRIP = 64  # rows at a time: a strip of the table stays in the first cache


@intrinsic
def as_pointer(typing: Any, address: Any) -> Any:
    """A pointer from an address, which Numba does not make by itself."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], cgutils.voidptr_t)

    return types.voidptr(address), generate


@njit(cache=True, nogil=True)
def interleave(addresses: Any, n_rows: int, table: Any) -> None:
    """Write doubles, one contiguous column at each address, into the rows of a table."""
    for start in range(0, n_rows, STRIP):
        stop = min(n_rows, start + STRIP)
        for j in range(addresses.size):
            column = carray(as_pointer(addresses[j]), n_rows, np.float64)
            for i in range(start, stop):
                table[i, j] = column[i]
