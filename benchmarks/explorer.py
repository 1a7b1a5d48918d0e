"""How quickly the explorer answers, and what it does under load: `make load`.

Prints the latency of one question (a drag) for sets of growing size, then sends 5,000 questions, 50 at a time, and
holds that none was lost and none failed.
"""

import asyncio
import statistics
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass

import httpx
import numpy as np

from linsep import datasets
from linsep.explorer import engine
from linsep.explorer.server import Explorer


@dataclass(frozen=True)
class Storm:
    """How each request was answered, and how long all took together."""

    statuses: dict
    seconds: float


def question(n_rows, *, flipped=0, seed=0):
    X, y = datasets.planted(n_rows, 2, margin=0.05, flipped=flipped, seed=seed)
    return {"points": (np.round(X * 64) / 64).tolist(), "labels": y.tolist()}


async def storm(explorer, *, requests, at_a_time):
    """So many requests from so many clients at once; a request without an answer counts as status 0."""
    bodies = [question(20, seed=k, flipped=k % 3) | {"updates": 100} for k in range(8)]
    limits = httpx.Limits(max_connections=at_a_time)
    origin = explorer.gate.origin
    async with httpx.AsyncClient(base_url=origin, headers={"origin": origin}, limits=limits, timeout=60) as client:
        await client.get(explorer.address)
        gate = asyncio.Semaphore(at_a_time)

        async def one(number):
            async with gate:
                try:
                    return (await client.post("/api/explore", json=bodies[number % len(bodies)])).status_code
                except httpx.HTTPError:
                    return 0

        started = time.perf_counter()
        statuses = await asyncio.gather(*(one(number) for number in range(requests)))
        return Storm(dict(Counter(statuses)), time.perf_counter() - started)


def latency(client, body, times=40):
    taken = []
    for _ in range(times):
        started = time.perf_counter()
        client.post("/api/explore", json=body).raise_for_status()
        taken.append((time.perf_counter() - started) * 1000)
    return statistics.median(taken), sorted(taken)[int(times * 0.95)]


def main():
    engine.warm_up()
    explorer = Explorer()
    thread = threading.Thread(target=explorer.run, daemon=True)
    thread.start()
    with httpx.Client(base_url=explorer.gate.origin, headers={"origin": explorer.gate.origin}) as client:
        client.get(explorer.address)
        print(f"{'points':>7} {'set':>12} {'median ms':>10} {'95 % ms':>8}")
        for n_rows in (20, 100, 500, 2000):
            for name, flipped in (("separable", 0), ("overlapping", n_rows // 20 + 1)):
                middle, late = latency(client, question(n_rows, flipped=flipped))
                print(f"{n_rows:7,} {name:>12} {middle:10.1f} {late:8.1f}")
    result = asyncio.run(storm(explorer, requests=5000, at_a_time=50))
    speed = 5000 / result.seconds
    print(f"5,000 requests, 50 at a time: {result.statuses}, {result.seconds:.1f} s, {speed:.0f} a second")
    explorer.stop()
    thread.join(10)
    return 0 if result.statuses == {200: 5000} else 1


if __name__ == "__main__":
    sys.exit(main())
