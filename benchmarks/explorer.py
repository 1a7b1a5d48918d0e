"""What a frame of the explorer costs while a point is dragged, and what its server does under load: `make load`.

Prints the time that the browser's main thread works for a frame, and the engine's part of it, for drags among up to
2,000 points: the run, the verdict and the margin are computed anew for each. Then it sends 5,000 questions about wide
rows, 50 at a time, and holds that none was lost and none failed.
"""

import asyncio
import sys
import tempfile
import threading
import time
from collections import Counter
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import httpx
import numpy as np

from linsep import datasets
from linsep.explorer import export
from linsep.explorer.own_table import OwnTable
from linsep.explorer.server import Explorer


@dataclass(frozen=True)
class Storm:
    """How each request was answered, and how long all took together."""

    statuses: dict
    seconds: float


def link(n_rows, *, flipped=0, seed=0):
    """The address of points that a line separates, but for the flipped ones."""
    X, y = datasets.planted(n_rows, 2, margin=0.05, flipped=flipped, seed=seed)
    rows = zip((np.round(X * 64) / 64).tolist(), y.tolist(), strict=True)
    return "told=1&p=" + ";".join(f"{x},{y}{'+' if label > 0 else '-'}" for (x, y), label in rows)


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


DRAG = """async (frames) => {
  const plot = document.querySelector(".data-space");
  const mark = plot.querySelector(".point[data-row='0']");
  const bounds = mark.getBoundingClientRect();
  let [x, y] = [bounds.left + bounds.width / 2, bounds.top + bounds.height / 2];
  plot.setPointerCapture = () => {};
  const fire = (node, kind) => node.dispatchEvent(
    new PointerEvent(kind, { bubbles: true, clientX: x, clientY: y, button: 0, pointerId: 1 }));
  fire(mark, "pointerdown");
  for (let i = 0; i < frames; i += 1) {
    [x, y] = [x + 6 * Math.sin(i), y + 6 * Math.cos(i)];
    fire(plot, "pointermove");
    await new Promise(requestAnimationFrame);
  }
  fire(plot, "pointerup");
}"""


def frame_time(page, *, batches=8, frames=20, enough=0.0):
    """Milliseconds that the main thread works for a frame of a drag, and those of them in scripts; the best batch.

    Other work on the machine only ever adds to them, so there are no more batches once one is short enough.
    """
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})

    def spent():
        found = {metric["name"]: metric["value"] for metric in session.send("Performance.getMetrics")["metrics"]}
        return np.array([found["TaskDuration"], found["ScriptDuration"]])

    page.evaluate(DRAG, frames)
    best = np.array([np.inf, np.inf])
    for _ in range(batches):
        before = spent()
        page.evaluate(DRAG, frames)
        best = min(best, (spent() - before) * 1000 / frames, key=lambda times: times[0])
        if best[0] < enough:
            break
    return best.tolist()


def in_a_browser(file):
    """The frame times of drags, as a browser without a graphics card draws them."""
    sys.path.append(str(Path(__file__).parents[1] / "tests"))
    from playwright.sync_api import sync_playwright

    from browser import launch

    with sync_playwright() as playwright:
        browser = launch(playwright)
        for n_rows, (name, flipped) in product((20, 100, 500, 2000), (("separable", 0), ("overlapping", 26))):
            page = browser.new_page(viewport={"width": 1360, "height": 860})
            page.goto(f"{file.as_uri()}#{link(n_rows, flipped=min(flipped, n_rows // 4))}&k=100")
            page.locator("[data-name=verdict]").wait_for()
            yield n_rows, name, frame_time(page)
            page.close()
        browser.close()


def main():
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "page.html")
        file.write_text(export.page(), encoding="utf-8")
        print(f"{'points':>7} {'set':>12} {'ms a frame':>11} {'in scripts':>11}")
        for n_rows, name, (whole, scripts) in in_a_browser(file):
            print(f"{n_rows:7,} {name:>12} {whole:11.1f} {scripts:11.1f}")
    X, y = datasets.planted(200, 5, margin=0.05, flipped=3, seed=0)
    explorer = Explorer(OwnTable(X, y))
    thread = threading.Thread(target=explorer.run, daemon=True)
    thread.start()
    result = asyncio.run(storm(explorer, requests=5000, at_a_time=50))
    speed = 5000 / result.seconds
    print(f"5,000 requests, 50 at a time: {result.statuses}, {result.seconds:.1f} s, {speed:.0f} a second")
    explorer.stop()
    thread.join(10)
    return 0 if result.statuses == {200: 5000} else 1


if __name__ == "__main__":
    sys.exit(main())
