"""What the library says about sets of points of the plane, for the page's own engine to be held against.

`python -m tests.campaigns.engine_answers 300 FILE` writes the answers (a line of JSON for each set, compressed), and
`python -m tests.campaigns.engine_answers 6000` has them checked at once by tests/engine/check.js, in Node.
"""

import gzip
import json
import subprocess
import sys
import tempfile
import zlib
from collections import Counter
from fractions import Fraction
from pathlib import Path

import numpy as np

import linsep
from linsep import on_files
from tests.node import installed

ENGINE = Path(__file__).parents[1] / "engine"
FEW_KEPT = 80  # points: the four keeps of larger sets take the library seconds
FEW_MISTAKES = 12  # points: the fewest mistakes of larger sets may take longer to prove
FEATURES = {"xy": lambda x, y: x * y, "xx": lambda x, y: x * x, "yy": lambda x, y: y * y}
ORDERS = ("cyclic", "restart", "shuffled", "worst")


def labels_of(random, count):
    """Labels of both classes."""
    y = random.choice([-1, 1], count)
    y[random.permutation(count)[:2]] = [-1, 1]
    return y


def by_a_line(random, X, gap):
    """Labels by a random line, without the points nearer to it than the gap; at random where few are left."""
    w, b = random.normal(size=2), random.normal() / 4
    score = (X @ w + b) / np.linalg.norm(w)
    far = np.abs(score) > gap
    y = np.where(score > 0, 1, -1)[far]
    return (X[far], y) if len(set(y.tolist())) == 2 else (X, labels_of(random, len(X)))


def grid(random):
    X = random.integers(-3, 4, (random.integers(2, 12), 2)).astype(float)
    return X, labels_of(random, len(X))


def dyadic(random):
    X = random.integers(-256, 257, (random.integers(4, 60), 2)) / 64
    return by_a_line(random, X, random.choice([0, 0.02, 0.2]))


def doubles(random):
    X = random.normal(size=(random.integers(3, 60), 2)) * 10.0 ** random.integers(-3, 4)
    return by_a_line(random, X, 0.0) if random.random() < 0.6 else (X, labels_of(random, len(X)))


def decimals(random):
    X = np.round(random.normal(5, 2, (random.integers(3, 40), 2)), 1)
    return by_a_line(random, X - 5, 0.1) if random.random() < 0.5 else (X, labels_of(random, len(X)))


def collinear(random):
    X = np.outer(random.integers(-8, 9, random.integers(2, 12)), random.integers(-3, 4, 2)) / 4.0
    y = labels_of(random, len(X))
    return (X + random.integers(-2, 3, 2), y) if random.random() < 0.5 else (X, y)


def duplicated(random):
    X, y = grid(random)
    again = random.integers(0, len(X), random.integers(1, 6))
    flipped = random.choice([1, 1, -1], len(again))
    return np.vstack([X, X[again]]), np.concatenate([y, y[again] * flipped])


def touching(random):
    """Points on both sides of a line of the grid, and points of both classes on it."""
    count = random.integers(2, 10)
    X = random.integers(-4, 5, (count, 2)).astype(float)
    w = random.integers(-2, 3, 2)
    y = np.where(X @ w >= 1, 1, -1)
    on = random.integers(-4, 5, 4)[:, None] * np.array([-w[1], w[0]])
    return np.vstack([X, on]), np.concatenate([y, labels_of(random, 4)])


def far_away(random):
    X, y = dyadic(random)
    return X * 2.0 ** random.integers(-12, 12) + random.choice([0, 1 << 20, 1.7e8], 2), y


def awkward(random):
    """Columns of very different sizes, up to the page's limits."""
    X, y = grid(random)
    return np.clip(X * [10.0 ** random.integers(-12, 9), 10.0 ** random.integers(-12, 9)], -1e9, 1e9), y


def nearly_touching(random):
    """A point moved by the last digit of a double."""
    X, y = touching(random)
    row = random.integers(len(X))
    X[row, 0] = np.nextafter(X[row, 0], random.choice([-1e9, 1e9]))
    return X, y


def many(random):
    X = np.round(random.normal(size=(500, 2)) * 64) / 64
    X, y = by_a_line(random, X, random.choice([0.0, 0.05]))
    y[random.integers(0, len(y), random.choice([0, 1, 30]))] *= -1
    return X, y if len(set(y.tolist())) == 2 else labels_of(random, len(y))


def one_class(random):
    X, y = grid(random)
    return X, np.full(len(y), random.choice([-1, 1]))


KINDS = [grid, dyadic, doubles, decimals, collinear, duplicated, touching, far_away, awkward, nearly_touching]
RARE = [many, one_class]


def questions(count):
    """So many sets with a way to run on each, always the same."""
    for number in range(count):
        random = np.random.default_rng([17, number])
        make = RARE[number // 24 % 2] if number % 24 == 23 else KINDS[number % len(KINDS)]
        X, y = make(random)
        bias, order = bool(random.random() < 0.65), str(random.choice(ORDERS))
        run = {
            "order": order,
            "bias": bias,
            "seed": int(random.integers(2**31)),
            "updates": int(random.choice([40, 300])),
        }
        features = [name for name in FEATURES if number % 6 == 5 and random.random() < 0.6]
        lifted = {"features": features} if features else {"degree": 1 + number // 20 % 3} if number % 20 == 10 else {}
        yield make.__name__, {"points": X.tolist(), "labels": y.tolist(), **run, **lifted}


def answer(question):
    """The library's answer, with a checksum of every weight of the run, and of every score without features."""
    plain, y = np.array(question["points"]), np.array(question["labels"])
    X = np.column_stack([plain, *(FEATURES[name](*plain.T) for name in question.get("features", []))])
    run = {"order": question["order"], "bias": question["bias"], "random_state": question["seed"]}
    try:
        verdict = linsep.decide(X, y, bias=run["bias"])
    except linsep.errors.OneClassError:
        return {"kind": "one class"}
    steps = list(linsep.perceptron_steps(X, y, max_updates=question["updates"] + 1, **run))
    taken = steps[: question["updates"]]
    numbers = [[step.score, *step.w, step.b] for step in taken]
    if X.shape[1] > 2:  # a score of more than two products is rounded in more than one way
        numbers = [[*w, b] for _, *w, b in numbers]
    weights = np.array(numbers, dtype="<f8") + 0.0  # -0 is 0
    scaled = on_files.scaled_rows(plain, y, bias=run["bias"]) + 0.0
    found = {"kind": verdict.kind, "scaled": zlib.crc32(scaled.astype("<f8").tobytes())}
    if X.shape[1] == 2 or are_short(X):  # else a score of 0 may be rounded to either side
        found |= {
            "rows": [step.row for step in taken],
            "converged": len(steps) <= question["updates"],
            "weights": zlib.crc32(weights.tobytes()),
        }
    if verdict.separable:
        found |= promised(X, y, run["bias"])
    elif len(verdict.obstruction.rows) <= 4:
        found["obstruction"] = {"rows": list(verdict.obstruction.rows), "shares": shares(verdict, y)}
    if len(X) <= FEW_KEPT:
        found["keeps"] = kept(plain, y, run)
    if len(X) <= FEW_MISTAKES:
        fewest = linsep.fewest_mistakes(plain, y, bias=run["bias"])
        found["fewest"] = int(fewest.best) if fewest.optimal else None
    if "degree" in question:
        options = {"degree": question["degree"], "gamma": 1.0, "coef0": 1.0, "max_passes": 100}
        model = linsep.KernelPerceptronClassifier("poly", order="cyclic", **options).fit(plain, y)
        found["mistakes"] = model.mistakes_per_row_.tolist() if model.converged_ else None
    return found


def are_short(X):
    """Whether no score of a run on these rows is rounded."""
    return np.abs(X).max() < 2**16 and bool((np.rint(X * 2**12) == X * 2**12).all())


def promised(X, y, bias):
    """The certified ends of the theorem's numbers, and of the widest margin with the rows that prove it."""
    theory, widest = linsep.novikoff(X, y, bias=bias), linsep.max_margin(X, y, bias=bias)
    return {
        "radius": theory.radius,
        "gamma": theory.gamma,
        "bound": theory.bound if np.isfinite(theory.bound[1]) else None,
        "margin": widest.margin,
        "nearest": list(widest.nearest.rows) if widest.nearest else [],
    }


def shares(verdict, y):
    rows, weights = verdict.obstruction.rows, verdict.obstruction.weights
    mine = [u for row, u in zip(rows, weights, strict=True) if not verdict.bias or y[row] > 0]
    return [str(Fraction(u, sum(mine))) for u in weights]


def kept(X, y, run):
    order = "shuffled" if run["order"] == "shuffled" else "cyclic"
    found = {}
    for keep in ("last", "average", "vote", "best"):
        model = linsep.PerceptronClassifier(keep, order=order, bias=run["bias"], random_state=run["random_state"])
        model.fit(X, y)
        weights = [] if keep == "vote" else [*model.coef_[0].tolist(), float(model.intercept_[0])]
        found[keep] = [int(np.count_nonzero(model.predict(X) != y)), *weights]
    return found


def write(count, path):
    """The answers to so many questions; how many there are of each kind."""
    kinds = Counter()
    with gzip.GzipFile(path, "wb", mtime=0) as file:
        for name, question in questions(count):
            said = answer(question)
            kinds[f"{name}: {said['kind']}"] += 1
            file.write(json.dumps({"set": name, **question, "says": said}, separators=(",", ":")).encode() + b"\n")
    return kinds


def main(count, path=None):
    with tempfile.TemporaryDirectory() as folder:
        kinds = write(count, path or Path(folder) / "answers.gz")
        for name, number in sorted(kinds.items()):
            print(f"{number:6,} {name}")
        if path:
            return 0
        return subprocess.run([installed(), str(ENGINE / "check.js"), f"{folder}/answers.gz"], check=False).returncode


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), *sys.argv[2:]))
