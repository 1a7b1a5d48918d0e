"""Labels that were flipped on purpose: how many of them `clean` and cleanlab find, and how many are proved wrong.

    python benchmarks/clean.py [--limit 2] [--seeds 5] [--sets iris wine ...]

Each tool ranks the rows, and as many are looked at as were flipped. cleanlab (if it is installed) ranks by the
confidence in the given label, from cross-validated probabilities of a logistic regression on scaled columns.
"""

import argparse
import os
import warnings

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import linsep
from mistakes import rows_of
from timing import table

NOISE = (0.02, 0.05, 0.1)
SETS = ("iris", "wine", "wdbc", "digits 8", "voicepath", "blood", "breast_cancer_wisconsin", "heart_scale")
SETS += ("ionosphere", "australian")


def clean_rows(name):
    """A set with its labels as -1 and 1."""
    if name == "iris":
        X, y = load_iris(return_X_y=True)
        return X[50:], np.where(y[50:] == 1, 1, -1)
    if name == "wine":
        X, y = load_wine(return_X_y=True)
        return X, np.where(y == 1, 1, -1)
    if name == "wdbc":
        X, y = load_breast_cancer(return_X_y=True)
        return X, 2 * y - 1
    if name == "digits 8":
        X, y = load_digits(return_X_y=True)
        return X, np.where(y == 8, 1, -1)
    return rows_of(name)


def ranked_by_cleanlab(X, y):
    """The rows in cleanlab's order; None without it."""
    try:
        from cleanlab.rank import get_self_confidence_for_each_label
    except ImportError:
        return None
    model, codes = make_pipeline(StandardScaler(), LogisticRegression(max_iter=300)), (y > 0).astype(int)
    chances = cross_val_predict(model, X, codes, cv=5, method="predict_proba")
    return np.argsort(get_self_confidence_for_each_label(codes, chances), kind="stable")


def found_of(rows, flipped):
    return np.isin(rows[: len(flipped)], flipped).sum() / len(flipped)


def measured(name, noise, seeds, limit):
    X, y = clean_rows(name)
    X, size = X.astype(float), max(1, round(noise * len(y)))
    ours, theirs, ends = [], [], []
    for seed in range(seeds):
        flipped = np.random.default_rng(seed).choice(len(y), size, replace=False)
        labels = y.copy()
        labels[flipped] *= -1
        found = linsep.clean(X, labels, time_limit=limit)
        found.mistakes.verify(X, labels)
        ours.append(found_of(np.array(found.rows), flipped))
        ends.append((found.mistakes.lower, found.mistakes.best))
        if (order := ranked_by_cleanlab(X, labels)) is not None:
            theirs.append(found_of(order, flipped))
    least, most = (f"{np.mean(end):.1f}" for end in zip(*ends, strict=True))
    return [name, f"{len(y):,} x {X.shape[1]}", size, f"{np.mean(ours):.2f}", _mean(theirs), least, most]


def _mean(values):
    return f"{np.mean(values):.2f}" if values else "-"


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--limit", type=float, default=2.0)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--sets", nargs="*", default=SETS)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")  # that regressions have not converged
    linsep.fewest_mistakes(*rows_of("iris"), time_limit=1)  # compiles
    print(f"Load average at the start: {os.getloadavg()[0]:.1f}, on {os.cpu_count()} cores.\n", flush=True)
    heads = ["set", "rows x columns", "flipped", "found: linsep", "found: cleanlab", "proved wrong", "changes enough"]
    rows = [measured(name, noise, asked.seeds, asked.limit) for name in asked.sets for noise in NOISE]
    print(table(heads, rows))
    for place, tool in ((3, "linsep"), (4, "cleanlab")):
        known = [float(row[place]) for row in rows if row[place] != "-"]
        print(f"\nFound by {tool} on average: {np.mean(known):.3f}." if known else f"\n{tool} is not installed.")
