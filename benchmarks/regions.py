"""Regions on real and made-up data: how many hyperplanes, beside the leaves of a decision tree that makes no mistake.

    python benchmarks/regions.py [--limit 60] [--fold-limit 10] [--sets moons spambase ...]

The tree is scikit-learn's, grown until its leaves are pure. Both are also asked about rows they have not seen: the
error of 5-fold cross-validation, each fold with a limit of its own. Every answer is checked against the rows before it
is printed.
"""

import argparse
import os
import time

import numpy as np
from sklearn.datasets import load_iris, make_circles, make_moons
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.tree import DecisionTreeClassifier

import linsep
from real_data import load
from timing import table

SETS = ("moons", "circles", "xor", "checkerboard", "iris", "breast_cancer_wisconsin", "heart_scale", "ionosphere")
SETS += ("australian", "sonar", "splice", "spambase")
FOLDS = StratifiedKFold(5, shuffle=True, random_state=0)


def rows_of(name):
    square = np.random.default_rng(0).uniform(-1, 1, (400, 2))
    if name == "moons":
        return make_moons(400, noise=0.1, random_state=1)
    if name == "circles":
        return make_circles(400, noise=0.05, factor=0.5, random_state=0)
    if name == "xor":
        return square, (square[:, 0] * square[:, 1] > 0).astype(int)
    if name == "checkerboard":  # 4 x 4 fields
        return square, (np.floor(2 * square).sum(axis=1) % 2).astype(int)
    if name == "iris":
        return load_iris(return_X_y=True)
    X, y = load(name)
    return (X if isinstance(X, np.ndarray) else X.toarray()), y


def error(model, X, y):
    return f"{100 * (1 - cross_val_score(model, X, y, cv=FOLDS).mean()):.1f} %"


def measured(name, limit, fold_limit):
    X, y = rows_of(name)
    start = time.perf_counter()
    found = linsep.separate_regions(X, y, time_limit=limit)
    took = time.perf_counter() - start
    found.verify(X, y)
    tree = DecisionTreeClassifier(random_state=0)
    counts = [len(found.cuts), sum(not cut.is_pure for cut in found.cuts), tree.fit(X, y).get_n_leaves()]
    errors = [error(linsep.RegionsClassifier(time_limit=fold_limit), X, y), error(tree, X, y)]
    seconds = f"{took:.1f} s" if found.in_time else f"{took:.1f} s (limit)"
    return [name, f"{X.shape[0]:,} x {X.shape[1]}", *counts, len(found.mistaken_rows), seconds, *errors]


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--limit", type=float, default=60.0)
    parser.add_argument("--fold-limit", type=float, default=10.0)
    parser.add_argument("--sets", nargs="*", default=SETS)
    asked = parser.parse_args()
    print(f"Load average at the start: {os.getloadavg()[0]:.1f}, on {os.cpu_count()} cores.\n", flush=True)
    heads = ["set", "rows x columns", "hyperplanes", "of them divide", "leaves of a tree", "contradictions", "time"]
    heads += ["error", "error of the tree"]
    print(table(heads, [measured(name, asked.limit, asked.fold_limit) for name in asked.sets]))
