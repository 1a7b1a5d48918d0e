"""The fewest mistakes on real data: the best hyperplane found, what no hyperplane beats, and what others find.

    python benchmarks/mistakes.py [--limit 60] [--sets haberman blood ...]

Beside it logistic regression and a linear SVM (the best of several C, columns scaled to unit variance), the pocket
algorithm, and HiGHS with the mixed-integer program that has a large constant, in the same time; each by the mistakes on
the same rows. Every answer is checked against the rows before it is printed. A set takes twice the limit, or a little
more; the large ones are not among those that are measured if none is named: covtype, a9a, w8a, phishing.
"""

import argparse
import csv
import os
import time
import warnings

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import diags_array, hstack
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import linsep
from real_data import data_folder, load
from timing import table

SMALL = ("voicepath", "caes", "cryo89", "haberman", "blood")
SETS = (*SMALL, "iris", "breast_cancer_wisconsin", "heart_scale", "ionosphere", "australian", "sep_birthwt")
SETS += ("splice", "spambase", "higgs_sample", "ijcnn1")
LARGE = ("covtype", "a9a", "w8a", "phishing")
STRENGTHS = (0.01, 0.1, 1.0, 10.0, 100.0)
MANY, FEW_STRENGTHS = 3_000_000, (0.1, 1.0)  # entries of a table from which on these are enough
MOST = 500_000  # entries of a table that HiGHS is given
BOX = 10.0  # of the weights of scaled columns: a constant must bound every score


def rows_of(name):
    if name == "iris":
        X, y = load_iris(return_X_y=True)
        return X, np.where(y == 1, 1, -1)
    if name in SMALL:
        with (data_folder() / "small01" / f"{name}.csv").open(newline="") as file:
            lines = [line for line in csv.reader(file) if is_number(line[0])]
        values = np.array(lines, float)
        return values[:, :-1], np.where(values[:, -1] == values[:, -1].max(), 1, -1)
    X, y = load(name)
    return (X if isinstance(X, np.ndarray) else X.toarray()), y


def is_number(cell):
    try:
        float(cell)
    except ValueError:
        return False
    return True


def others(X, y, limit):
    """The fewest mistakes of what people use, each asked for several strengths."""
    scaled = StandardScaler().fit_transform(X.astype(float))
    strengths = STRENGTHS if scaled.size < MANY else FEW_STRENGTHS
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that they have not converged
        logistic = [LogisticRegression(C=C, max_iter=300).fit(scaled, y) for C in strengths]
        svm = [LinearSVC(C=C, dual=False, max_iter=300).fit(scaled, y) for C in strengths]
        pocket = [linsep.PerceptronClassifier(keep="best", max_passes=50, random_state=0).fit(scaled, y)]
    counted = [min(int((model.predict(scaled) != y).sum()) for model in models) for models in (logistic, svm, pocket)]
    return [*counted, big_m(scaled, y, limit)]


def big_m(X, y, limit):
    """Mistakes of the mixed-integer program: min Σ e, y·(w·x + b) >= 1 - M·e, e 0 or 1; "-" if there is no solution."""
    if X.size > MOST:
        return "-"
    z = np.column_stack([X, np.ones(len(y))]) * y[:, None]
    n, width = z.shape
    constants = 1.0 + BOX * np.abs(z).sum(axis=1)
    bounds = Bounds(np.append(np.full(width, -BOX), np.zeros(n)), np.append(np.full(width, BOX), np.ones(n)))
    scores = LinearConstraint(hstack([z, diags_array(constants)]).tocsc(), lb=1.0)
    costs, is_whole = np.append(np.zeros(width), np.ones(n)), np.append(np.zeros(width), np.ones(n))
    found = milp(costs, integrality=is_whole, bounds=bounds, constraints=scores, options={"time_limit": limit})
    return "-" if found.x is None else int((z @ found.x[:width] <= 0).sum())


def measured(name, limit):
    X, y = rows_of(name)
    start = time.perf_counter()
    found = linsep.fewest_mistakes(X, y, time_limit=limit)
    took = time.perf_counter() - start
    found.verify(X, y)
    cases = f"{len(found.obstructions):,} in {len(found.leaves):,}"
    shape = f"{X.shape[0]:,} x {X.shape[1]}"
    return [name, shape, found.best, found.lower, f"{took:.1f} s", cases, *others(X, y, limit)]


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--limit", type=float, default=60.0)
    parser.add_argument("--sets", nargs="*", default=SETS, choices=(*SETS, *LARGE))
    asked = parser.parse_args()
    linsep.fewest_mistakes(*rows_of("iris"), time_limit=1)  # compiles
    print(f"Load average at the start: {os.getloadavg()[0]:.1f}, on {os.cpu_count()} cores.\n", flush=True)
    heads = ["set", "rows x columns", "best", "at least", "time", "obstructions in cases", "logistic", "SVM", "pocket"]
    print(table([*heads, "big M"], [measured(name, asked.limit) for name in asked.sets]))
