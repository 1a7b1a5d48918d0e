"""Few rows: what one call takes when nearly all of it is overhead, beside scikit-learn and HiGHS on the same rows.

python benchmarks/small.py
"""

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Perceptron

import linsep
from decide import highs
from timing import race, table

CALLS, ROUNDS = 20, 25  # of each work in a round; rounds, of which the best counts


def integers(n_rows, n_columns, *, separable):
    """Small integers with labels -1 and 1: of a hyperplane, or drawn."""
    random = np.random.default_rng(0)
    X = random.integers(-5, 6, (n_rows, n_columns))
    side = X @ random.integers(-5, 6, n_columns) > 0 if separable else random.random(n_rows) < 0.5
    return X, np.where(side, 1, -1)


TABLES = {
    "xor, 4 x 2 integers": linsep.datasets.xor(),
    "30 x 3 integers, separable": integers(30, 3, separable=True),
    "30 x 3 integers, overlapping": integers(30, 3, separable=False),
    "24 x 3 floats, separable": linsep.datasets.planted(24, 3, margin=0.05),
    "24 x 3 floats, overlapping": linsep.datasets.planted(24, 3, margin=0.05, flipped=2),
    "100 x 5 floats, separable": linsep.datasets.planted(100, 5, margin=0.05),
    "100 x 5 floats, overlapping": linsep.datasets.planted(100, 5, margin=0.05, flipped=3),
    "1,000 x 18 integers, separable": integers(1000, 18, separable=True),
}


def works(X, y):
    """What is timed on one table, in the order of the columns."""
    floats, verdict = X.astype(np.float64), linsep.decide(X, y)
    options = {"max_passes": 50, "random_state": 0}
    model = linsep.PerceptronClassifier(**options).fit(floats, y)
    theirs = Perceptron(max_iter=50, tol=None, random_state=0)
    return (
        lambda: linsep.decide(X, y),
        lambda: verdict.verify(X, y),
        lambda: highs(X, y),
        lambda: linsep.PerceptronClassifier(**options).fit(floats, y),
        lambda: theirs.fit(floats, y),
        lambda: model.predict(floats),
        lambda: theirs.predict(floats),
    )


def microseconds(X, y):
    """The best time of one call of each work, the works taking turns."""
    repeated = [lambda work=work: [work() for _ in range(CALLS)] for work in works(X, y)]
    return [f"{time / CALLS * 1e6:,.0f}" for time in race(*repeated, rounds=ROUNDS)]


if __name__ == "__main__":
    warnings.simplefilter("ignore", ConvergenceWarning)
    heads = ["decide", "verify", "HiGHS", "fit", "fit, scikit-learn", "predict", "predict, scikit-learn"]
    print("## Few rows\n\n`python benchmarks/small.py`: microseconds of one call\n")
    print(table(["rows", *heads], [[name, *microseconds(X, y)] for name, (X, y) in TABLES.items()]))
