"""How quickly the explorer answers, and what it does under load: `make load`.

Prints the latency of one question (a drag) for sets of growing size, then what a drag of one point of 500 and a step
take in a browser, from the pointer's move to the page drawn anew. Then it sends 5,000 questions, 50 at a time, and
holds that none was lost and none failed.
"""

import asyncio
import statistics
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

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
    bodies = [{"seed": seed, "order": "shuffled", "updates": 100} for seed in range(100)]  # most of them are computed
    limits = httpx.Limits(max_connections=at_a_time)
    origin = explorer.gate.origin
    async with httpx.AsyncClient(base_url=origin, headers={"origin": origin}, limits=limits, timeout=60) as client:
        await client.get(explorer.address)
        gate = asyncio.Semaphore(at_a_time)

        async def one(number):
            async with gate:
                try:
                    return (await client.post("/api/run", json=bodies[number % len(bodies)])).status_code
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


# A drag by 60 moves, then 60 steps. `follows` is the time until the point has moved, `answered` until the whole page
# shows the engine's answer; both end when the frame has been painted.
IN_THE_PAGE = """async () => {
  const painted = () => new Promise((done) => requestAnimationFrame(() => {
    const channel = new MessageChannel();
    channel.port1.onmessage = done;
    channel.port2.postMessage(0);
  }));
  const plain = window.fetch;
  let answered = null;
  window.fetch = (...asked) => {
    const reply = plain(...asked);
    answered = reply.then((response) => response.clone().text());
    return reply;
  };
  const plot = document.querySelector(".data-space");
  const mark = plot.querySelector(".point[data-row='0']");
  const bounds = mark.getBoundingClientRect();
  let [x, y] = [bounds.left + bounds.width / 2, bounds.top + bounds.height / 2];
  plot.setPointerCapture = () => {};
  const fire = (node, kind) => node.dispatchEvent(
    new PointerEvent(kind, { bubbles: true, clientX: x, clientY: y, button: 0, pointerId: 1 }));
  const taken = { follows: [], answered: [], step: [] };
  fire(mark, "pointerdown");
  for (const name of ["follows", "answered"]) {
    for (let i = 0; i < 60; i += 1) {
      [x, y] = [x + 6 * Math.sin(i), y + 6 * Math.cos(i)];
      const begun = performance.now();
      fire(plot, "pointermove");
      if (name === "answered") await answered;
      await painted();
      taken[name].push(performance.now() - begun);
    }
    await answered;
    await painted();
  }
  fire(plot, "pointerup");
  await answered;
  await painted();
  for (let i = 0; i < 30; i += 1) {
    const begun = performance.now();
    document.querySelector(".step").click();
    await painted();
    taken.step.push(performance.now() - begun);
  }
  return taken;
}"""


def in_a_browser(explorer):
    """Milliseconds of a drag and of a step among 500 points, as a browser without a graphics card draws them."""
    sys.path.append(str(Path(__file__).parents[1] / "tests"))
    from playwright.sync_api import sync_playwright

    from browser import launch

    with sync_playwright() as playwright:
        browser = launch(playwright)
        for name, flipped in (("separable", 0), ("overlapping", 26)):
            body = question(500, flipped=flipped)
            rows = zip(body["points"], body["labels"], strict=True)
            link = ";".join(f"{x},{y}{'+' if label > 0 else '-'}" for (x, y), label in rows)
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            page.goto(f"{explorer.address}#p={link}")
            page.locator("[data-name=verdict]").wait_for()
            yield name, page.evaluate(IN_THE_PAGE)
        browser.close()


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
    print(f"\n500 points in a browser {'median ms':>24} {'95 % ms':>8}")
    words = {"follows": "the dragged point moves", "answered": "the page shows the answer", "step": "a step"}
    for name, taken in in_a_browser(explorer):
        for what, times in taken.items():
            print(
                f"{name:>12} {words[what]:>26} {statistics.median(times):9.1f} {sorted(times)[-len(times) // 20]:8.1f}"
            )
    result = asyncio.run(storm(explorer, requests=5000, at_a_time=50))
    speed = 5000 / result.seconds
    print(f"5,000 requests, 50 at a time: {result.statuses}, {result.seconds:.1f} s, {speed:.0f} a second")
    explorer.stop()
    thread.join(10)
    return 0 if result.statuses == {200: 5000} else 1


if __name__ == "__main__":
    sys.exit(main())
