"""The pictures of plots.md and the README, docs/images/plots-*.png: part of `make images`.

Everything drawn comes with linsep or with scikit-learn: nothing is downloaded.
"""

import warnings
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib import pyplot
from sklearn.datasets import load_digits, load_iris, make_moons

import linsep

IMAGES = Path(__file__).parent / "images"
LIMIT = 60_000  # bytes


def iris(*classes: str) -> tuple[Any, Any]:
    """Two or more species, their four measurements named."""
    flowers = load_iris(as_frame=True)
    names = flowers.target_names[flowers.target]
    chosen = np.isin(names, classes)
    return flowers.data[chosen], names[chosen]


def digits(*classes: int) -> tuple[Any, Any]:
    """The images of these digits, 8 x 8."""
    X, y = load_digits(return_X_y=True)
    chosen = np.isin(y, classes)
    return X[chosen], y[chosen]


def regions() -> None:
    """Two species by their petals."""
    X, y = iris("setosa", "versicolor")
    linsep.plots.regions(X[["petal length (cm)", "petal width (cm)"]], y)


def impossible() -> None:
    """Two species whose hulls meet."""
    X, y = iris("versicolor", "virginica")
    linsep.plots.regions(X[["petal length (cm)", "petal width (cm)"]], y)


def xor() -> None:
    """The smallest impossible data of all."""
    linsep.plots.regions(*linsep.datasets.xor())


def kernel() -> None:
    """What no line can do, a kernel does."""
    X, y = make_moons(120, noise=0.12, random_state=0)
    model = linsep.KernelPerceptronClassifier(kernel="rbf", gamma=2.0, random_state=0).fit(X, y)
    linsep.plots.regions(X, y, model=model)


def cells() -> None:
    """Two half moons, and the regions of a few lines."""
    X, y = make_moons(300, noise=0.15, random_state=1)
    linsep.plots.regions(X, y, model=linsep.separate_regions(X, y))


def species() -> None:
    """Three species, and the regions of a classifier that tells them apart."""
    X, y = iris("setosa", "versicolor", "virginica")
    petals = X[["petal length (cm)", "petal width (cm)"]]
    model = linsep.PerceptronClassifier("average", random_state=0).fit(petals, y)
    linsep.plots.regions(petals, y, model=model)


def bound_met() -> None:
    """Tao's example: the run ends at the wall itself."""
    linsep.plots.bound(*linsep.datasets.tao(), bias=False)


def separation() -> None:
    """64 columns: the nines against the fours."""
    linsep.plots.separation(*digits(4, 9))


def obstruction() -> None:
    """Four columns: two species that no hyperplane separates."""
    linsep.plots.separation(*iris("versicolor", "virginica"))


def mistakes() -> None:
    """Two orders of the same rows."""
    X, y = digits(1, 8)
    ax = linsep.plots.mistakes(X, y, label="cyclic")
    linsep.plots.mistakes(X, y, order="shuffled", random_state=0, label="shuffled", ax=ax)


def bound() -> None:
    """Cornwell's example: 9 updates of at most 55."""
    linsep.plots.bound(*linsep.datasets.cornwell())


def bound_far() -> None:
    """A wall far away: logarithmic axes."""
    linsep.plots.bound(*linsep.datasets.planted(500, 10, margin=0.02))


def losses() -> None:
    """Three losses against 0-1."""
    linsep.plots.losses()


def weights() -> None:
    """What the Perceptron learns of the ten digits."""
    X, y = load_digits(return_X_y=True)
    linsep.plots.weights(linsep.PerceptronClassifier(keep="average", random_state=0).fit(X, y))


def verdicts() -> None:
    """The 45 pairs of digits, each blurred to 4 x 4 so that not all of them can be told apart."""
    X, y = load_digits(return_X_y=True)
    small = X.reshape(-1, 4, 2, 4, 2).sum(axis=(2, 4)).reshape(-1, 16)
    pairs = {
        (a, b): linsep.max_margin(small[(y == a) | (y == b)], y[(y == a) | (y == b)])
        for a, b in combinations(range(10), 2)
    }
    linsep.plots.verdicts(pairs)


def dark() -> None:
    """The same picture on a dark ground, because the rcParams say so."""
    with mpl.rc_context(), pyplot.style.context("dark_background"):
        regions()
        save("dark")


PICTURES: tuple[Callable[[], None], ...] = (
    regions, impossible, xor, kernel, cells, species, separation, obstruction, mistakes, bound, bound_far, bound_met,
    losses,
    weights, verdicts,
)  # fmt: skip


def save(name: str) -> None:
    """Write the current figure, small."""
    path = IMAGES / f"plots-{name.replace('_', '-')}.png"
    pyplot.gcf().savefig(path, dpi=110, pil_kwargs={"optimize": True}, metadata={"Software": None})
    pyplot.close()
    size = path.stat().st_size
    print(f"{path.name}: {size:,} bytes")
    if size > LIMIT:
        raise SystemExit(f"{path.name} is larger than {LIMIT:,} bytes.")


def main() -> None:
    """Write every picture."""
    mpl.use("Agg")
    IMAGES.mkdir(exist_ok=True)
    warnings.simplefilter("error")
    for draw in PICTURES:
        draw()
        save(draw.__name__)
    dark()


if __name__ == "__main__":
    main()
