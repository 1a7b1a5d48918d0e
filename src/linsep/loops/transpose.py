"""Columns copied into rows: the content of a columnar file in the order that the other loops read."""

from typing import Any

import numpy as np
from numba import carray, types
from numba.core import cgutils
from numba.extending import intrinsic

from linsep.loops.compiler import njit

STRIP = 256  # rows at a time: a strip of the table stays in a near cache


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
        copy_rows(addresses, start, min(n_rows, start + STRIP), table[start:])


@njit(cache=True, nogil=True)
def copy_rows(addresses: Any, start: int, stop: int, table: Any) -> None:
    """Rows start..stop of the columns, as the first rows of a table."""
    count, n_columns = stop - start, addresses.size
    first = np.uint64(8 * start)
    flat, step = table.reshape(-1), np.uint64(n_columns)
    j = 0
    while j + 4 <= n_columns:  # four columns at a time: their entries lie beside each other in a row
        a = carray(as_pointer(addresses[j] + first), count, np.float64)
        b = carray(as_pointer(addresses[j + 1] + first), count, np.float64)
        c = carray(as_pointer(addresses[j + 2] + first), count, np.float64)
        d = carray(as_pointer(addresses[j + 3] + first), count, np.float64)
        at = np.uint64(j)
        for k in range(count):
            p, q, r, s = a[k], b[k], c[k], d[k]
            flat[at], flat[at + np.uint64(1)], flat[at + np.uint64(2)], flat[at + np.uint64(3)] = p, q, r, s
            at += step
        j += 4
    while j < n_columns:
        column = carray(as_pointer(addresses[j] + first), count, np.float64)
        at = np.uint64(j)
        for k in range(count):
            flat[at] = column[k]
            at += step
        j += 1
