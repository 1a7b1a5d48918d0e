"""How the two ends of the fewest mistakes close: over time, and against rows and columns, with the limit of a packing.

    python benchmarks/closing.py [--limit 25] [--draw]

The rows are planted, a tenth of their labels turned. Over time the seconds are those of the processor. What is measured
goes to docs/images/mistakes-closing.json and is drawn as mistakes-closing.png; --draw only draws it again. Takes about
15 times the limit.
"""

import argparse
import json
import os
import time
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # read on import

import matplotlib as mpl
from matplotlib import pyplot, ticker
from PIL import Image

import linsep

FOLDER = Path(__file__).parents[1] / "docs/images"
NUMBERS, PICTURE = FOLDER / "mistakes-closing.json", FOLDER / "mistakes-closing.png"
WRONG = 0.1  # of the labels
SHAPES = {"200 x 3": (200, 3), "300 x 6": (300, 6), "400 x 12": (400, 12)}
ROWS, COLUMNS = (100, 200, 400, 800, 1600, 3200), (2, 3, 4, 6, 9, 14)
FIXED_COLUMNS, FIXED_ROWS = 6, 400
COLOURS = ("#0072B2", "#D55E00", "#009E73")


def ends(n, d, limit):
    """The ends as time goes on, [seconds, lower, best], and those of the answer."""
    X, y = linsep.datasets.planted(n, d, margin=0.01, flipped=round(WRONG * n))
    start, seen = time.process_time(), []
    found = linsep.fewest_mistakes(
        X, y, time_limit=limit, watch=lambda it: seen.append([time.process_time() - start, it.lower, it.best])
    )
    seen.append([time.process_time() - start, found.lower, found.best])
    print(f"{n:,} rows, {d} columns: {found.lower} to {found.best}", flush=True)
    return {"n": n, "d": d, "over_time": seen, "lower": found.lower, "best": found.best}


def measured(limit):
    ends(100, 5, 1.0)  # compiles
    return {
        "limit": limit,
        "time": [ends(*shape, limit) for shape in SHAPES.values()],
        "rows": [ends(n, FIXED_COLUMNS, limit) for n in ROWS],
        "columns": [ends(FIXED_ROWS, d, limit) for d in COLUMNS],
    }


def draw(numbers):
    """Three panels: over time, against rows, against columns."""
    mpl.use("Agg")
    figure, (first, *others) = pyplot.subplots(1, 3, figsize=(11, 3.8), layout="constrained")
    for name, colour, one in zip(SHAPES, COLOURS, numbers["time"], strict=True):
        seconds, lower, best = zip(*one["over_time"], strict=True)
        first.fill_between(seconds, lower, best, color=colour, alpha=0.15, linewidth=0, step="post")
        first.step(seconds, best, color=colour, where="post", label=name)
        first.step(seconds, lower, color=colour, where="post")
        first.plot([seconds[-1]] * 2, [lower[-1], best[-1]], "o", color=colour, markersize=4)
    first.set(xscale="log", xlabel="seconds of the processor", ylabel="mistakes", ylim=(0, None))
    first.legend(frameon=False, title="rows x columns", loc="lower right")
    titles = (f"rows n, {FIXED_COLUMNS} columns", "n"), (f"columns d, {FIXED_ROWS} rows", "d")
    for ax, key, (title, letter) in zip(others, ("rows", "columns"), titles, strict=True):
        places = [one[letter] for one in numbers[key]]
        ax.plot(places, [one["best"] for one in numbers[key]], "o-", color=COLOURS[1], markersize=4, label="best")
        ax.plot(places, [one["lower"] for one in numbers[key]], "o-", color=COLOURS[0], markersize=4, label="at least")
        most = [one["n"] / (one["d"] + 2) for one in numbers[key]]
        ax.plot(places, most, "--", color="0.4", linewidth=1.2, label="n/(d + 2)")
        ax.set(xscale="log", yscale="log", xlabel=title, ylabel=f"mistakes after {numbers['limit']:g} seconds")
        ax.set_xticks(places, [f"{place:,}" for place in places])
        ax.yaxis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5)))
        ax.yaxis.set_major_formatter(lambda value, _: f"{value:,g}")
        ax.legend(frameon=False)
    for ax in (first, *others):
        ax.minorticks_off()
        ax.grid(True, color="0.9")
        ax.spines[["top", "right"]].set_visible(False)
    figure.savefig(PICTURE, dpi=110, metadata={"Software": None})
    Image.open(PICTURE).convert("RGB").quantize(64).save(PICTURE, optimize=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--limit", type=float, default=25.0)
    parser.add_argument("--draw", action="store_true", help="measure nothing; draw what was measured")
    asked = parser.parse_args()
    if not asked.draw:
        NUMBERS.write_text(json.dumps(measured(asked.limit)) + "\n", encoding="utf-8")
    draw(json.loads(NUMBERS.read_text("utf-8")))
