"""The fewest mistakes on real data: the best hyperplane found, what no hyperplane beats, and what others find.

    python benchmarks/mistakes.py [--limit 60] [--sets haberman blood ...]

Beside it logistic regression and a linear SVM (the best of several C, columns scaled to unit variance) and the pocket
algorithm, each by the mistakes on the same rows. Every answer is checked against the rows before it is printed.
"""

import argparse
import csv
import os
import time
import warnings

import numpy as np
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
STRENGTHS = (0.01, 0.1, 1.0, 10.0, 100.0)


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


def others(X, y):
    """The fewest mistakes of what people use, each asked for several strengths."""
    scaled = StandardScaler().fit_transform(X.astype(float))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that they have not converged
        logistic = [LogisticRegression(C=C, max_iter=300).fit(scaled, y) for C in STRENGTHS]
        svm = [LinearSVC(C=C, dual=False, max_iter=300).fit(scaled, y) for C in STRENGTHS]
        pocket = [linsep.PerceptronClassifier(keep="best", max_passes=50, random_state=0).fit(scaled, y)]
    return [min(int((model.predict(scaled) != y).sum()) for model in models) for models in (logistic, svm, pocket)]


def measured(name, limit):
    X, y = rows_of(name)
    start = time.perf_counter()
    found = linsep.fewest_mistakes(X, y, time_limit=limit)
    took = time.perf_counter() - start
    found.verify(X, y)
    cases = f"{len(found.obstructions):,} in {len(found.leaves):,}"
    shape = f"{X.shape[0]:,} x {X.shape[1]}"
    return [name, shape, found.best, found.lower, f"{took:.1f} s", cases, *others(X, y)]


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--limit", type=float, default=60.0)
    parser.add_argument("--sets", nargs="*", default=SETS)
    asked = parser.parse_args()
    linsep.fewest_mistakes(*rows_of("iris"), time_limit=1)  # compiles
    print(f"Load average at the start: {os.getloadavg()[0]:.1f}, on {os.cpu_count()} cores.\n", flush=True)
    heads = ["set", "rows x columns", "best", "at least", "time", "obstructions in cases", "logistic", "SVM", "pocket"]
    print(table(heads, [measured(name, asked.limit) for name in asked.sets]))
