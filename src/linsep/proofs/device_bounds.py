"""The two numbers of a positive-definite proof, bounded as in `eigenvalues.py`, for rows on a device (PyTorch tensors).

The entries are split into halves of 26 bits, so that their products with the halves of the weights are exact, and the
leading bits of these add up without rounding. The error bounds of matrix products hold for every order of summation,
and E is computed: nothing is assumed about how the device finds a Cholesky factor.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from linsep.proofs.eigenvalues import LEAST, ROUNDS, TWICE_ROUNDOFF, WHOLE, Bounds

SPLITTER = 2.0**27 + 1  # Dekker 1971
FAR = 300  # columns with exponents beyond this are left to the host
AT_ONCE = 1 << 27  # entries processed together


def bounds_on_device(values: Any, y: Any, weights: Sequence[int], *, bias: bool, room: float = 1.0) -> Bounds | None:
    """What `eigenvalues.bounds_of` returns, computed on the device; None if it must be computed on the host.

    `values` must be finite, with no column that is 0 on all rows; `y` are the signs of the rows.
    """
    if values.dtype.itemsize == 8 and not values.is_floating_point():
        return None
    if max(weights) > WHOLE:
        return None
    signs = y.to(values.device).double()
    largest = np.append(values.abs().amax(dim=0).double().cpu().numpy(), np.ones(int(bias)))
    exponents = np.frexp(largest)[1]
    if np.abs(exponents).max(initial=0) > FAR or not largest.all():
        return None
    bits = max(weights).bit_length()
    u = values.new_tensor(np.ldexp(np.array(weights, float), -bits), dtype=signs.dtype)
    scale = values.new_tensor(np.ldexp(1.0, -exponents), dtype=signs.dtype)
    a, length = _products(values, signs, u, scale, bias)
    return Bounds(_least_eigenvalue(a, length, room), length)


def _products(values: Any, signs: Any, u: Any, scale: Any, bias: bool) -> tuple[Any, float]:
    """The rows √c·p of the matrix, |p| < 1 in every column, and a bound on the length of Σ p."""
    n_rows, width = values.shape[0], len(scale)
    room = (n_rows + 2).bit_length()
    sigmas = [2.0 ** (room + k * (room - 53)) for k in range(ROUNDS + 1)]
    sums = u.new_zeros((4 * ROUNDS, width))
    a = u.new_empty((n_rows, width))
    step = max(1, AT_ONCE // width)
    for start in range(0, n_rows, step):
        part = slice(start, start + step)
        z = a[part]
        z[:, : values.shape[1]] = values[part]
        if bias:
            z[:, -1] = 1.0
        z *= scale
        z *= signs[part, None]
        places = iter(range(4 * ROUNDS))
        for own in _halves(u[part]):
            for entries in _halves(z):
                rest = entries * own[:, None]
                for sigma in sigmas[:-1]:
                    leading = (rest + sigma) - sigma
                    rest -= leading
                    sums[next(places)] += leading.sum(dim=0)
        z *= u[part, None]
        z *= _levels(z)[:, None]
    flat = sums.cpu().numpy()
    error = 2 * len(flat) * TWICE_ROUNDOFF * np.abs(flat).sum(axis=0) + 4 * n_rows * sigmas[-1]
    return a, float(np.linalg.norm(np.abs(flat.sum(axis=0)) + error)) * (1 + 1e-9) + LEAST


def _halves(values: Any) -> tuple[Any, Any]:
    """Numbers as sums of two with 26 bits each."""
    product = values * SPLITTER
    high = product - (product - values)
    return high, values - high


def _levels(p: Any) -> Any:
    """For each row the largest 2^-k with 4^-k <= 1/|p|; 0 for rows too short to matter."""
    lengths = p.square().sum(dim=1).sqrt().cpu().numpy()
    lengths = lengths * (1 + (p.shape[1] + 8) * TWICE_ROUNDOFF) + LEAST
    levels = np.ldexp(1.0, -np.frexp(lengths)[1] // 2)  # lengths < 2^e <= 4^k
    return p.new_tensor(np.where(lengths < 1e6 * LEAST, 0.0, levels))


def _least_eigenvalue(a: Any, length: float, room: float) -> float:
    """A lower bound on the least eigenvalue of aᵀa, even if each entry of `a` is off by a rounding."""
    linalg = importlib.import_module("torch").linalg
    n_rows, width = a.shape
    entries = n_rows * width
    trace = float(a.square().sum()) * (1 + entries * TWICE_ROUNDOFF) + LEAST
    off = (n_rows + width + 16) * TWICE_ROUNDOFF * trace
    shift = room * (1.01 * length + 64 * off)
    if not (math.isfinite(length) and entries * TWICE_ROUNDOFF < 1e-3 and shift < trace):
        return -math.inf
    gram = a.T @ a
    gram.diagonal().sub_(shift)
    triangle, failed = linalg.cholesky_ex(gram)
    if int(failed):
        return -math.inf
    size = float(triangle.square().sum()) * (1 + width**2 * TWICE_ROUNDOFF) + trace
    gram -= triangle @ triangle.T
    del triangle
    norm = float(gram.abs_().sum(dim=0).amax()) * (1 + 2 * width * TWICE_ROUNDOFF)
    residual = norm + (width + 8) * TWICE_ROUNDOFF * (size + shift) + LEAST
    least = shift * (1 - 1e-9) - (n_rows + 8) * TWICE_ROUNDOFF * trace - residual
    return float(least) if math.isfinite(least) else -math.inf
