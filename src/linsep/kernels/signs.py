"""The exact sign of w·x + b, for the rows whose float score cannot be trusted.

A score is a sum of products of two numbers m·2^e. Each product has at most 117 bits, and all of them lie
between 2^-2252 and 2^2150, so an accumulator of 140 limbs of 32 bits holds any sum of them exactly
(Kulisch's long accumulator). A limb is an int64: products are added in without carrying, and one pass over
the limbs in use carries and finds the sign. Values and weights must be finite; subnormals and the largest
doubles are no special case.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import types
from numba.extending import overload
from numpy.typing import NDArray

from linsep.kernels.compiler import njit

_LIMBS = 140
_OFFSET = 2304  # limb 0 begins at 2^-2304
_LOW = np.uint64(0xFFFFFFFF)
_32 = np.uint64(32)
_MOST_TERMS = 1 << 29  # a term adds less than 2^33 to a limb, which holds 63 bits


def exact_signs(values: NDArray[Any], w: NDArray[np.float64], b: float) -> NDArray[np.int8]:
    """Return the exact signs of w·x + b for the rows x of a 2-D array of floats or integers.

    >>> exact_signs(np.array([[1e300, 1.0], [0.0, 2.0**-1074]]), np.array([0.0, 1.0]), -(2.0**-1074)).tolist()
    [1, 0]
    """
    _check_width(len(w))
    return np.asarray(_dense_signs(values, np.asarray(w, np.float64), float(b)))


def exact_signs_csr(
    data: NDArray[Any], indices: NDArray[Any], indptr: NDArray[Any], w: NDArray[np.float64], b: float
) -> NDArray[np.int8]:
    """Return the exact signs of w·x + b for the rows of a CSR table; an entry stored twice counts twice."""
    _check_width(int(np.diff(indptr).max(initial=0)))
    return np.asarray(_csr_signs(data, indices, indptr, np.asarray(w, np.float64), float(b)))


def _check_width(width: int) -> None:
    if width >= _MOST_TERMS:
        raise ValueError(f"a row of {width} entries is too long: the accumulator takes {_MOST_TERMS}")


@njit(cache=True, nogil=True)
def _dense_signs(values: Any, w: Any, b: Any) -> Any:
    mantissas, exponents, is_negative = _split_all(w)
    signs = np.empty(values.shape[0], np.int8)
    limbs = np.zeros(_LIMBS, np.int64)
    for i in range(values.shape[0]):
        low, high = _add(limbs, _split(b), _split(1.0), _LIMBS, 0)
        for j in range(values.shape[1]):
            weight = (mantissas[j], exponents[j], is_negative[j])
            low, high = _add(limbs, _split(values[i, j]), weight, low, high)
        signs[i] = _take_sign(limbs, low, high)
    return signs


@njit(cache=True, nogil=True)
def _csr_signs(data: Any, indices: Any, indptr: Any, w: Any, b: Any) -> Any:
    mantissas, exponents, is_negative = _split_all(w)
    signs = np.empty(len(indptr) - 1, np.int8)
    limbs = np.zeros(_LIMBS, np.int64)
    for i in range(len(indptr) - 1):
        low, high = _add(limbs, _split(b), _split(1.0), _LIMBS, 0)
        for k in range(indptr[i], indptr[i + 1]):
            j = indices[k]
            weight = (mantissas[j], exponents[j], is_negative[j])
            low, high = _add(limbs, _split(data[k]), weight, low, high)
        signs[i] = _take_sign(limbs, low, high)
    return signs


def _split(x: Any) -> tuple[Any, Any, bool]:
    """Write a number as (mantissa, exponent, is negative), the mantissa a uint64; compiled below."""
    raise NotImplementedError("compiled code only")


@overload(_split)
def _split_for(x: Any) -> Any:
    if isinstance(x, types.Integer) and not x.signed:

        def split(x: Any) -> Any:
            return np.uint64(x), np.int64(0), False

    elif isinstance(x, types.Integer):

        def split(x: Any) -> Any:
            whole = np.int64(x)
            return np.uint64(abs(whole)), np.int64(0), whole < 0  # abs(-2^63) wraps to the bits of 2^63

    else:

        def split(x: Any) -> Any:
            mantissa, exponent = math.frexp(np.float64(x))
            return np.uint64(abs(mantissa) * 2.0**53), np.int64(exponent) - 53, mantissa < 0

    return split


@njit(cache=True, nogil=True)
def _split_all(w: Any) -> Any:
    mantissas, exponents = np.empty(len(w), np.uint64), np.empty(len(w), np.int64)
    is_negative = np.empty(len(w), np.bool_)
    for j in range(len(w)):
        mantissas[j], exponents[j], is_negative[j] = _split(w[j])
    return mantissas, exponents, is_negative


@njit(cache=True, nogil=True)
def _add(limbs: Any, x: Any, weight: Any, low: Any, high: Any) -> Any:
    """Add a product into the limbs; return the range of limbs in use."""
    p, x_exponent, x_negative = x
    q, q_exponent, q_negative = weight
    if p == 0 or q == 0:
        return low, high
    # the product of 128 bits, as two halves, by the school method in base 2^32
    p0, p1, q0, q1 = p & _LOW, p >> _32, q & _LOW, q >> _32
    cross = p1 * q0 + ((p0 * q0) >> _32)
    middle = p0 * q1 + (cross & _LOW)
    bottom = ((middle & _LOW) << _32) | ((p0 * q0) & _LOW)
    top = p1 * q1 + (cross >> _32) + (middle >> _32)

    place = x_exponent + q_exponent + _OFFSET
    first, shift = place >> 5, np.uint64(place & 31)
    t0, t1 = (bottom & _LOW) << shift, (bottom >> _32) << shift
    t2, t3 = (top & _LOW) << shift, (top >> _32) << shift
    sign = -1 if x_negative != q_negative else 1
    limbs[first] += sign * np.int64(t0 & _LOW)
    limbs[first + 1] += sign * np.int64((t0 >> _32) + (t1 & _LOW))
    limbs[first + 2] += sign * np.int64((t1 >> _32) + (t2 & _LOW))
    limbs[first + 3] += sign * np.int64((t2 >> _32) + (t3 & _LOW))
    limbs[first + 4] += sign * np.int64(t3 >> _32)
    return min(low, first), max(high, first + 5)


@njit(cache=True, nogil=True)
def _take_sign(limbs: Any, low: Any, high: Any) -> Any:
    """Carry from the lowest limb up, return the sign of the sum, and leave the limbs zero for the next row.

    After the carrying each limb is in [0, 2^32), so the carry out of the top decides, unless it is zero.
    """
    carry, is_zero = np.int64(0), True
    for place in range(low, high):
        total = limbs[place] + carry
        carry = total >> 32
        is_zero &= total & 0xFFFFFFFF == 0
        limbs[place] = 0
    if carry != 0:
        return np.int8(1 if carry > 0 else -1)
    return np.int8(0 if is_zero else 1)
