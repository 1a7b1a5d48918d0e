"""Matrix products without rounding: numbers cut into digits of 20 bits, so that floats multiply and add them exactly.

A number below 1 is Σ d_k·2^(-20·(k+1)) with whole digits of at most 2^19 or so. The product of two digits is below
2^40, and up to 2^12 such products add up without rounding in a double. The sums of one place are then carried to the
next as on paper, and what is left is rounded once: it is right to the last bits however much cancelled on the way.

Ozaki, Ogita, Oishi and Rump, Error-free transformations of matrix multiplication, Numerical Algorithms 59 (2012).
"""

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from linsep.sources.base import Floats, Ints

BITS = 20
MOST = 16  # digits of a number from a table: what is beyond 320 bits below the largest of its row is left out
LONGEST_SUM = 1 << 12  # columns
AT_ONCE = 1 << 22  # products held together


def digits_of(values: Floats) -> Floats:
    """The digits of numbers of at most 1: a first axis of places, the highest first."""
    places, rest, unit = [], values, 1.0
    while len(places) < MOST and (not places or rest.any()):
        unit *= 2.0**-BITS
        digit = np.rint(rest / unit)
        rest = rest - digit * unit  # exact: the lower bits of what was there
        places.append(digit)
    return np.stack(places)


def digits_of_integers(integers: Iterable[Iterable[int]]) -> Floats:
    """The digits of integers of any length over a power of two that makes all of them at most 1."""
    table = [list(row) for row in integers]
    longest = max((abs(n).bit_length() for row in table for n in row), default=0)
    n_places = max(1, -(-longest // BITS))
    half, size = 1 << (BITS * n_places + 1), BITS * n_places + 2
    raw = b"".join((n + half).to_bytes(-(-size // 8), "little") for row in table for n in row)
    bits = np.unpackbits(np.frombuffer(raw, np.uint8).reshape(-1, -(-size // 8)), axis=1, bitorder="little")
    powers = 1 << np.arange(BITS)
    pieces = bits[:, : BITS * n_places].reshape(-1, n_places, BITS) @ powers
    pieces[:, -1] += (bits[:, BITS * n_places : size] @ (1 << np.arange(size - BITS * n_places)) - 2) << BITS
    places = pieces.T[::-1].reshape(n_places, len(table), -1)
    return _balanced(places).astype(np.float64)


def product(left: Floats, right: Floats) -> Floats:
    """The rows of left·right, each times a power of two that brings its largest entry to about 1, rounded once."""
    step = max(1, AT_ONCE // (left.shape[0] * right.shape[0] * right.shape[2]))
    parts = [_product(left[:, k : k + step], right) for k in range(0, left.shape[1], step)]
    return np.concatenate(parts) if parts else np.zeros((0, right.shape[2]))


def _product(left: Floats, right: Floats) -> Floats:
    n_left, n_rows, inner = left.shape
    n_right, _, n_columns = right.shape
    pairs = left.reshape(-1, inner) @ right.transpose(1, 0, 2).reshape(inner, -1)
    pairs = pairs.reshape(n_left, n_rows, n_right, n_columns).astype(np.int64)
    sums = np.zeros((n_left + n_right, n_rows, n_columns), np.int64)
    for place in range(n_left):
        sums[place + 1 : place + 1 + n_right] += pairs[place].transpose(1, 0, 2)
    places = _balanced(sums)
    total = np.zeros((n_rows, n_columns))
    top = np.argmax((places != 0).any(axis=2), axis=0)  # of each row
    for place, digit in enumerate(places):
        total += np.ldexp(digit.astype(np.float64), -BITS * (place - top)[:, None])
    largest = np.frexp(np.abs(total).max(axis=1, initial=0.0))[1]
    return np.asarray(np.ldexp(total, -largest[:, None]))


def _balanced(places: npt.NDArray[np.int64]) -> Ints:
    """The same numbers with every digit but the first between -2^19 and 2^19."""
    for k in range(len(places) - 1, 0, -1):
        carry = (places[k] + (1 << (BITS - 1))) >> BITS
        places[k] -= carry << BITS
        places[k - 1] += carry
    return places
