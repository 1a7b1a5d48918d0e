"""What every benchmark needs: repeated timings, the speed of the memory, and a table."""

import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numba import njit


def seconds(work: Callable[[], Any]) -> float:
    """One timing."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def turns(*works: Callable[[], Any], rounds: int) -> np.ndarray:
    """The time of each work in each round, the works taking turns so that a noisy machine treats them alike."""
    return np.array([[seconds(work) for work in works] for _ in range(rounds)])


def race(*works: Callable[[], Any], rounds: int = 5) -> list[float]:
    """The best time of each."""
    return [float(best) for best in turns(*works, rounds=rounds).min(axis=0)]


def shares(limit: Callable[[], Any], *works: Callable[[], Any], rounds: int) -> list[float]:
    """How near each work comes to a limit: the median over rounds of limit/work, both timed within one round.

    The bandwidth of a shared machine changes by half from one second to the next; a ratio of two best times would
    compare different seconds.
    """
    times = turns(limit, *works, rounds=rounds)
    return [float(np.median(times[:, 0] / column)) for column in times[:, 1:].T]


@njit(nogil=True, fastmath=True, cache=True)
def _total(values):
    total = 0.0
    for k in range(values.size):
        total += values[k]
    return total


def read_once(X: np.ndarray, threads: int = 1) -> Callable[[], Any]:
    """Work that reads the bytes of X once and does nothing else: the limit that the memory sets."""
    flat = X.reshape(-1).view(np.float64)
    edges = np.linspace(0, flat.size, threads + 1).astype(int)
    parts = [flat[a:b] for a, b in pairwise(edges)]
    _total(parts[0][:1])
    if threads == 1:
        return lambda: _total(flat)
    pool = ThreadPoolExecutor(threads)
    return lambda: list(pool.map(_total, parts))


def table(heads: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A Markdown table."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def machine() -> str:
    """The processor and the number of cores."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    name = next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), "unknown")
    return f"{name}, {len(os.sched_getaffinity(0))} cores"
