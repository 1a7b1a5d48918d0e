"""How the time of `decide` grows with rows, columns, 1/margin and wrong labels, as docs/images/wide-growth.png.

    python benchmarks/growth.py [--quick]

It is among the commands of docs/wide.md, so `figures.py --check` says when the picture is old, too. Seconds of the
processor, one thread, the best of two; an exponent is the slope of a line through the points of one series, both axes
logarithmic. Two to three minutes on an idle machine.
"""

import argparse
import os
import time
from pathlib import Path

ONE_THREAD = ("LINSEP_THREADS", "NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
os.environ.update(dict.fromkeys(ONE_THREAD, "1"))  # read on import

import matplotlib as mpl  # noqa: E402
import numpy as np  # noqa: E402
from matplotlib import pyplot, ticker  # noqa: E402
from PIL import Image  # noqa: E402

import linsep  # noqa: E402
from timing import table  # noqa: E402
from wide import sparse_rows  # noqa: E402

PICTURE = Path(__file__).parents[1] / "docs/images/wide-growth.png"
SHORTEST = 0.01  # seconds: below, other things than the rows take the time
LONG = 2.0  # seconds: timed once
COLOURS = {"dense, separable": "#0072B2", "dense, flipped": "#D55E00", "sparse, separable": "#009E73"}
COLOURS |= {"sparse, flipped": "#CC79A7", "dense, all rows at the margin": "#56B4E9"}


def dense(n=4000, d=400, margin=1e-3, flips=0.0):
    return linsep.datasets.planted(n, d, margin=margin, flipped=round(flips * n))


def sparse(n=20_000, d=2000, margin=1e-3, flips=0.0):
    X, y = sparse_rows(n, d, margin)
    wrong = np.random.default_rng(1).random(n) < flips
    return X, np.where(wrong, -y, y)


def narrow(n=1500, d=300, margin=1e-3):
    """Rows between one and two margins from the hyperplane: no other one is much farther away from them."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((n, d)), rng.choice([-1, 1], n)
    normal = rng.standard_normal(d)
    normal /= np.linalg.norm(normal)
    X += (y * margin * (1 + rng.random(n)) - X @ normal)[:, None] * normal
    return X, y


# For each panel: the axis, and for each series the table of a point and where the points lie.
PANELS = {
    "rows n": {
        "dense, separable": (lambda n: dense(n=n), [2000, 4000, 8000, 16_000, 32_000]),
        "dense, flipped": (lambda n: dense(n=n, flips=0.1), [2000, 4000, 8000, 16_000, 32_000]),
        "sparse, separable": (lambda n: sparse(n=n), [5000, 10_000, 20_000, 40_000, 80_000]),
    },
    "columns d, ten rows a column": {
        "dense, separable": (lambda d: dense(n=10 * d, d=d), [300, 500, 800, 1200]),
        "dense, flipped": (lambda d: dense(n=10 * d, d=d, flips=0.1), [300, 500, 800, 1200]),
        "sparse, separable": (lambda d: sparse(n=10 * d, d=d), [500, 1000, 2000, 4000, 8000]),
        "sparse, flipped": (lambda d: sparse(n=10 * d, d=d, flips=0.1), [300, 500, 800, 1200]),
    },
    "1 / margin": {
        "dense, separable": (lambda t: dense(n=8000, margin=1 / t), [10, 100, 1000, 10**4, 10**6, 10**8]),
        "sparse, separable": (lambda t: sparse(margin=1 / t), [10, 100, 1000, 10**4, 10**6, 10**8]),
        "dense, all rows at the margin": (lambda t: narrow(margin=1 / t), [10, 100, 1000, 10**4, 10**6, 10**8]),
    },
    "share of labels flipped": {  # from 1 %: with 0.3 % the sparse rows take longer than all else here together
        "dense, flipped": (lambda part: dense(flips=part), [0.01, 0.03, 0.1, 0.2, 0.4]),
        "sparse, flipped": (lambda part: sparse(n=8000, d=800, flips=part), [0.01, 0.03, 0.1, 0.2, 0.4]),
    },
}


def seconds(X, y, rounds):
    """The least time of the processor that a verdict takes, and which it is."""
    times = []
    for _ in range(rounds):
        start = time.process_time()
        verdict = linsep.decide(X, y)
        times.append(time.process_time() - start)
        if times[-1] > LONG:
            break
    return min(times), verdict.kind


def exponent(places, times):
    """The slope of the times that are long enough to tell."""
    long = [(x, t) for x, t in zip(places, times, strict=True) if t > SHORTEST]
    return float(np.polyfit(*np.log(np.array(long)).T, 1)[0]) if len(long) > 2 else None


def measured(panels, rounds):
    """For each panel and series: its places, its times and their exponent; a line is printed as it is known."""
    lines = []
    for axis, series in panels.items():
        for name, (make, places) in series.items():
            found = [seconds(*make(place), rounds) for place in places]
            times = [t for t, _ in found]
            slope = exponent(places, times)
            told = ", ".join(f"{t:.2f}" for t in times)
            kinds = " or ".join(sorted({kind for _, kind in found}))
            lines.append([axis, name, f"{places[0]:g} to {places[-1]:g}", kinds, told, shown(slope)])
            yield axis, name, places, times, slope
    print("### Growth\n")
    print(table(["time against", "rows", "from", "verdict", "seconds", "exponent"], lines))


def shown(slope):
    return "" if slope is None else f"{slope:.1f}"


def draw(found):
    """Four panels, side by side and one below the other."""
    mpl.use("Agg")
    figure, axes = pyplot.subplots(2, 2, figsize=(9, 7.4), layout="constrained")
    for ax, axis in zip(axes.flat, PANELS, strict=True):
        for _, name, places, times, slope in (line for line in found if line[0] == axis):
            label = name if slope is None else f"{name}: exponent {slope:.1f}"
            ax.plot(places, times, "o-", color=COLOURS[name], markersize=4, linewidth=1.2, label=label)
        ax.set(xscale="log", yscale="log", xlabel=axis, ylabel="seconds")
        for side in (ax.xaxis, ax.yaxis):
            low, high = side.get_view_interval()
            if high < 1000 * low:
                side.set_major_locator(ticker.LogLocator(subs=(1, 2, 5)))
                side.set_major_formatter(lambda value, _: f"{value:,g}")
            side.set_minor_locator(ticker.NullLocator())
        ax.grid(True, which="major", color="0.9")
        ax.spines[["top", "right"]].set_visible(False)
        ax.legend(frameon=False, fontsize=8, loc="lower left", bbox_to_anchor=(0, 1))
    figure.savefig(PICTURE, dpi=110, metadata={"Software": None})
    Image.open(PICTURE).convert("RGB").quantize(48).save(PICTURE, optimize=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="the first three points of each series, and no picture")
    asked = parser.parse_args()
    panels = PANELS
    if asked.quick:
        panels = {a: {s: (make, at[:3]) for s, (make, at) in series.items()} for a, series in PANELS.items()}
    for rows in (dense(2000, 300, flips=0.1), dense(2000, 300), sparse(3000, 300, flips=0.1), sparse(3000, 300)):
        linsep.decide(*rows)  # compiles
    found = list(measured(panels, 1 if asked.quick else 2))
    if not asked.quick:
        draw(found)
