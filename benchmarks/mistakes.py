"""The fewest mistakes on real data: the best hyperplane found, what no hyperplane beats, and what others find.

    python benchmarks/mistakes.py [--limit 60] [--sets haberman blood ...] [--kept FILE.json] [--all]

Beside it logistic regression and a linear SVM (the best of several C, columns scaled to unit variance), the pocket
algorithm, and HiGHS with the mixed-integer program that has a large constant, in the same time; each by the mistakes on
the same rows. Every answer is checked against the rows before it is printed. A set takes twice the limit, or a little
more; the large ones are not among those that are measured if none is named: covtype, a9a, w8a, phishing; --all names
all of them.

With --kept every set is written to a file as soon as it is measured, and one that is there, with the same limit, is not
measured again: a run that was stopped resumes. The last line says whether anything was better than linsep on any set;
then the exit code is 1.
"""

import argparse
import csv
import json
import multiprocessing
import os
import sys
import time
import warnings
from pathlib import Path

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
PATIENCE = 3  # limits after which HiGHS, which may not look at the clock for long, is ended
OTHERS = ("logistic", "SVM", "pocket", "big M")
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
    return dict(zip(OTHERS, [*counted, in_time(big_m, scaled, y, limit)], strict=True))


def in_time(work, X, y, limit):
    """What some work returns, in a process of its own that is ended if it outlasts a multiple of the limit; or "-"."""
    context = multiprocessing.get_context("fork")
    end, other = context.Pipe(duplex=False)
    process = context.Process(target=lambda: other.send(work(X, y, limit)))
    process.start()
    other.close()
    try:
        return end.recv() if end.poll(PATIENCE * limit) else "-"
    except EOFError:  # it died, of memory most likely
        return "-"
    finally:
        process.kill()
        process.join()


def big_m(X, y, limit):
    """Mistakes of the mixed-integer program: min Σ e, y·(w·x + b) >= 1 - M·e, e 0 or 1; "-" if there is no solution."""
    z = np.column_stack([X, np.ones(len(y))]) * y[:, None]
    n, width = z.shape
    constants = 1.0 + BOX * np.abs(z).sum(axis=1)
    bounds = Bounds(np.append(np.full(width, -BOX), np.zeros(n)), np.append(np.full(width, BOX), np.ones(n)))
    scores = LinearConstraint(hstack([z, diags_array(constants)]).tocsc(), lb=1.0)
    costs, is_whole = np.append(np.zeros(width), np.ones(n)), np.append(np.zeros(width), np.ones(n))
    found = milp(costs, integrality=is_whole, bounds=bounds, constraints=scores, options={"time_limit": limit})
    return "-" if found.x is None else int((z @ found.x[:width] <= 0).sum())


def measured(name, limit):
    """One set: both ends, the time, the size of the proof, and the mistakes of the others."""
    X, y = rows_of(name)
    start = time.perf_counter()
    found = linsep.fewest_mistakes(X, y, time_limit=limit)
    took = time.perf_counter() - start
    found.verify(X, y)
    cases = f"{len(found.obstructions):,} in {len(found.leaves):,}"
    known = {"shape": f"{X.shape[0]:,} x {X.shape[1]}", "best": found.best, "lower": found.lower, "seconds": took}
    return {**known, "cases": cases, "load": os.getloadavg()[0], **others(X, y, limit)}


def kept(path, names, limit, measure=measured):
    """What is known of each set; sets that the file does not have with this limit are measured, and written there."""
    known = json.loads(path.read_text("utf-8")) if path is not None and path.exists() else {}
    for name in names:
        if known.get(name, {}).get("limit") == limit:
            continue
        known[name] = {"limit": limit, **measure(name, limit)}
        if path is not None:
            whole = path.with_name(path.name + ".part")
            whole.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")
            whole.replace(path)
    return {name: known[name] for name in names}


def worse(found):
    """Sets on which something else made fewer mistakes, and what it was."""
    beaten = [
        (name, other)
        for name, one in found.items()
        for other in OTHERS
        if one[other] != "-" and one[other] < one["best"]
    ]
    return [f"{name}: {other} {found[name][other]}, linsep {found[name]['best']}" for name, other in beaten]


def line(name, one):
    return [name, *(one[key] for key in ("shape", "best", "lower")), f"{one['seconds']:.1f} s", one["cases"]] + [
        one[other] for other in OTHERS
    ]


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--limit", type=float, default=60.0)
    parser.add_argument("--sets", nargs="*", default=SETS, choices=(*SETS, *LARGE))
    parser.add_argument("--all", action="store_const", dest="sets", const=(*SETS, *LARGE))
    parser.add_argument("--kept", type=Path)
    asked = parser.parse_args()
    linsep.fewest_mistakes(*rows_of("iris"), time_limit=1)  # compiles
    print(f"Load average at the start: {os.getloadavg()[0]:.1f}, on {os.cpu_count()} cores.\n", flush=True)
    results = kept(asked.kept, asked.sets, asked.limit)
    heads = ["set", "rows x columns", "best", "at least", "time", "obstructions in cases", *OTHERS]
    print(table(heads, [line(name, one) for name, one in results.items()]))
    print(
        "\n"
        + ("Better than linsep: " + "; ".join(worse(results)) if worse(results) else "Nothing is better on any set.")
    )
    sys.exit(1 if worse(results) else 0)
