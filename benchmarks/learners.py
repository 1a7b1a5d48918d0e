"""The learners beside their peers: speed, handwritten digits, spam, and twenty sets in five folds.

python benchmarks/learners.py [speed] [digits] [parquet] [spam] [folds]

All parts read the folder of real_data.py.
"""

import argparse
import tempfile
import time
import warnings

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import scipy.sparse as sp
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.linear_model import Perceptron, SGDClassifier
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler
from sklearn.svm import LinearSVC

import linsep
from linsep import KernelPerceptronClassifier, PerceptronClassifier
from real_data import TWO_CLASS, data_folder, load
from timing import race, table

FOLDS = StratifiedKFold(5, shuffle=True, random_state=0)
KEEPS = ("last", "average", "vote", "best")
BITS = 18  # of the hash, here and in Vowpal Wabbit
REAL = ("covtype", "skin", "electricity", "higgs_sample", "spambase", "w8a", "a9a", "ijcnn1", "phishing", "splice")
TOO_LARGE = ("covtype", "skin")  # five folds of these take longer than they teach


def speed():
    """The same number of passes over the same rows."""
    yield "Three passes each over the same rows, in the same run; the best of five rounds."
    yield table(["rows", "learner", "linsep, ms", "scikit-learn, ms", "times faster"], list(joint_rows()))
    yield (
        '`PerceptronClassifier("average")` beside `SGDClassifier(loss="perceptron", average=True)`, two classes, both '
        "shuffling or both in row order. After three passes a small table has spent half its time on being checked, "
        "which both do; ten are nearer to what a fit takes."
    )
    heads = ["rows", "order", "linsep, ms", "scikit-learn, ms", "times faster in 3 passes", "in 10 passes"]
    yield table(heads, list(averaged_rows()))


def joint_rows():
    X, y = load("mnist")
    for dtype in (np.float64, np.float32):
        pixels = (X / 255).astype(dtype)
        name = f"MNIST, 60,000 x 784 {np.dtype(dtype).name}, 10 classes"
        for keep in ("last", "average"):
            mine, peers = compare(joint(keep), ovr(), pixels, y)
            learners = f"joint, {keep}; Perceptron (one against the rest)"
            yield [name, learners, f"{mine * 1e3:.0f}", f"{peers * 1e3:.0f}", f"{peers / mine:.1f}"]


def averaged_rows():
    for n, d, dtype in [(200_000, 100, np.float64), (200_000, 100, np.float32), (100_000, 20, np.float64)]:
        yield from averaged("planted", *planted(n, d, dtype))
    X, y = linsep.datasets.planted_sparse(100_000, 20_000, per_row=72, margin=0.001)
    yield from averaged("planted", X, with_noise(y))
    for name in REAL:
        yield from averaged(name, *load(name))


def planted(n, d, dtype):
    X, y = linsep.datasets.planted(n, d, margin=0.001, dtype=dtype)
    return X, with_noise(y)


def with_noise(y):
    """One label in a hundred turned, so that no learner is done before its passes are."""
    y = y.copy()
    y[::100] *= -1
    return y


def averaged(name, X, y):
    kind = f"{X.nnz / X.shape[0]:.0f} nonzeros a row" if sp.issparse(X) else X.dtype.name
    name = f"{name}, {X.shape[0]:,} x {X.shape[1]:,}, {kind}"
    for order in ("shuffled", "cyclic"):
        times = [compare(*averagers(order, passes), X, y) for passes in (3, 10)]
        (mine, peers), ratios = times[0], [peers / mine for mine, peers in times]
        yield [name, order, f"{mine * 1e3:.1f}", f"{peers * 1e3:.1f}", *(f"{ratio:.1f}" for ratio in ratios)]


def averagers(order, passes):
    is_shuffled = order == "shuffled"
    ours = PerceptronClassifier("average", order=order, max_passes=passes, random_state=0)
    theirs = SGDClassifier(
        loss="perceptron", average=True, shuffle=is_shuffled, tol=None, max_iter=passes, random_state=0
    )
    return ours, theirs


def joint(keep):
    return PerceptronClassifier(keep, max_passes=3, random_state=0)


def ovr():
    return Perceptron(tol=None, max_iter=3, random_state=0)


def compare(ours, theirs, X, y):
    ours.fit(X, y)  # compiled before the race
    assert ours.n_passes_ == ours.max_passes, "stopped early: the race would not be fair"
    return race(lambda: ours.fit(X, y), lambda: theirs.fit(X, y))


def digits():
    """MNIST: 60,000 digits to learn from, 10,000 to be tested on."""
    X, y = load("mnist")
    X_test, y_test = load("mnist", part="_test")
    X, X_test = (X / 255).astype(np.float32), (X_test / 255).astype(np.float32)
    rows = [judged(name, model, X, y, X_test, y_test) for name, model in linear_models()]
    gamma = chosen_gamma(X, y)
    for keep in ("last", "average", "vote"):
        model = KernelPerceptronClassifier("poly", degree=4, gamma=gamma, keep=keep, max_passes=4, random_state=0)
        rows.append(judged(f"kernel perceptron, degree 4, {keep}", model, X, y, X_test, y_test))
    yield "MNIST, pixels divided by 255, float32; errors on the 10,000 test digits."
    yield table(["learner", "passes", "test error", "fit, s", "predict, s"], rows)
    yield (
        f"The kernel is (1 + {gamma:g}·x·x')⁴; {gamma:g} was chosen among {', '.join(f'{g:g}' for g in GAMMAS)} by the "
        "error on the last 10,000 training digits, learning from the other 50,000. Freund and Schapire (1999) report "
        "1.6 to 1.7 % for the voted kernel perceptron of degree 4 after many passes."
    )


GAMMAS = (0.01, 0.03, 0.1, 0.3, 1.0)


def chosen_gamma(X, y):
    def error(gamma):
        model = KernelPerceptronClassifier("poly", degree=4, gamma=gamma, keep="vote", max_passes=1, random_state=0)
        return 1 - model.fit(X[:50_000], y[:50_000]).score(X[50_000:], y[50_000:])

    return min(GAMMAS, key=error)


def linear_models():
    for keep in KEEPS:
        yield f"PerceptronClassifier({keep!r})", PerceptronClassifier(keep, max_passes=10, random_state=0)
    yield "scikit-learn Perceptron", Perceptron(random_state=0)
    yield "scikit-learn LinearSVC", LinearSVC(random_state=0)


def judged(name, model, X, y, X_test, y_test):
    start = time.perf_counter()
    model.fit(X, y)
    fitted = time.perf_counter()
    error = np.mean(model.predict(X_test) != y_test)
    passes = getattr(model, "n_passes_", None) or getattr(model, "n_iter_", "")
    return [name, passes, f"{error:.2%}", f"{fitted - start:.2f}", f"{time.perf_counter() - fitted:.2f}"]


def parquet():
    """MNIST read from a Parquet file batch by batch, beside the same rows in memory: the same weights in row order."""
    X, y = load("mnist")
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/mnist.parquet"
        pq.write_table(pa.table({**{f"pixel{j}": column for j, column in enumerate(X.T.copy())}, "digit": y}), path)
        rows = [parquet_row(keep, linsep.open(path, label="digit"), X, y) for keep in KEEPS]
    yield "MNIST as a Parquet file, read batch by batch, beside the same rows in memory; two passes in row order."
    yield table(["keep", "updates", "weights and scores", "file, s", "memory, s"], rows)


def parquet_row(keep, source, X, y):
    ours, theirs = (PerceptronClassifier(keep, order="cyclic", max_passes=2) for _ in range(2))
    start = time.perf_counter()
    ours.fit(source)
    fitted = time.perf_counter()
    theirs.fit(X, y)
    learned = time.perf_counter()
    is_same = all(np.array_equal(a, b) for a, b in zip(fitted_numbers(ours, X), fitted_numbers(theirs, X), strict=True))
    times = [f"{fitted - start:.2f}", f"{learned - fitted:.2f}"]
    return [keep, f"{ours.n_updates_:,}", "the same" if is_same else "DIFFERENT", *times]


def fitted_numbers(model, X):
    """The weights, unless they are too many to be one vector for each class, and the scores of some rows."""
    weights = [] if model.keep == "vote" else [model.coef_, model.intercept_]
    return [model.n_updates_, *weights, model.decision_function(X[:1000])]


def spam():
    """Spambase as numbers and the SMS collection as text, five folds."""
    X, y = load("spambase")
    yield "Spambase, 4,601 mails, 57 columns divided by their largest value; five folds."
    yield table(["learner", "error", "fit and predict, s a fold"], list(spambase_rows(X, y)))
    labels, texts = sms()
    yield f"The SMS collection, {len(texts):,} messages as text, hashed into 2^{BITS} columns; five folds."
    yield table(["learner", "error", "hash, fit and predict, s a fold"], list(sms_rows(labels, texts)))


def spambase_rows(X, y):
    from wabbit import dense_lines, mistakes  # the other parts do without it

    for name, model in spam_models():
        pipeline = make_pipeline(MaxAbsScaler(), model)
        yield in_folds(name, lambda train, test, pipeline=pipeline: wrong(pipeline, X, y, train, test), y)
    scaled = X / np.abs(X).max(axis=0)
    lines = dense_lines(scaled, y)
    yield in_folds("Vowpal Wabbit, 10 passes", lambda train, test: mistakes(lines, y, train, test, BITS, passes=10), y)


def sms_rows(labels, texts):
    from wabbit import mistakes, text_lines

    y = np.where(labels == "spam", 1, -1)
    for name, model in spam_models():
        pipeline = make_pipeline(HashingVectorizer(n_features=1 << BITS, alternate_sign=False, norm=None), model)
        yield in_folds(name, lambda train, test, pipeline=pipeline: wrong(pipeline, texts, y, train, test), y)
    lines = text_lines(texts, y)
    for passes in (1, 10):
        yield in_folds(
            f"Vowpal Wabbit, {passes} pass{'es' * (passes > 1)}",
            lambda train, test, passes=passes: mistakes(lines, y, train, test, BITS, passes=passes),
            y,
        )


def spam_models():
    for keep in ("last", "average", "vote"):
        yield f"PerceptronClassifier({keep!r})", PerceptronClassifier(keep, max_passes=10, random_state=0)
    yield "scikit-learn Perceptron", Perceptron(random_state=0)
    yield "scikit-learn LinearSVC", LinearSVC(random_state=0)


def wrong(model, X, y, train, test):
    return int(np.sum(model.fit(X[train], y[train]).predict(X[test]) != y[test]))


def in_folds(name, count_mistakes, y):
    times, total = [], 0
    for train, test in FOLDS.split(np.zeros(len(y)), y):
        start = time.perf_counter()
        total += count_mistakes(train, test)
        times.append(time.perf_counter() - start)
    return [name, f"{total / len(y):.2%}", f"{np.median(times):.3f}"]


def sms():
    lines = (data_folder() / "SMSSpamCollection").read_text(encoding="utf-8").splitlines()
    pairs = [line.split("\t", 1) for line in lines if line]
    return np.array([label for label, _ in pairs]), np.array([text for _, text in pairs], dtype=object)


def folds():
    """Every set of two classes but the largest, five folds, the same scaling and the default options."""
    rows = [fold_row(known) for known in TWO_CLASS if known.name not in TOO_LARGE]
    means = [f"{np.mean([row[k] for row in rows]):.2%}" for k in range(3, 7)]
    shown = [[*row[:3], *(f"{value:.2%}" for value in row[3:])] for row in rows]
    yield "Accuracy in five folds, columns divided by their largest value, default options throughout."
    heads = ["set", "rows", "columns", "linsep average", "linsep last", "linsep vote", "scikit-learn Perceptron"]
    yield table(heads, [*shown, ["**mean**", "", "", *means]])


def fold_row(known):
    X, y = load(known.name)
    models = [PerceptronClassifier(keep, random_state=0) for keep in ("average", "last", "vote")]
    models.append(Perceptron(random_state=0))
    means = [float(cross_val_score(make_pipeline(MaxAbsScaler(), model), X, y, cv=FOLDS).mean()) for model in models]
    return [known.name, f"{known.n:,}", f"{known.d:,}", *means]


PARTS = {
    "speed": "Speed",
    "digits": "Handwritten digits",
    "parquet": "Digits in a file",
    "spam": "Spam",
    "folds": "Twenty sets, five folds",
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", help=f"some of {', '.join(PARTS)}; all of them by default")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # peers told to stop after so many passes say that they did
    for part in options.parts or PARTS:
        print(f"## {PARTS[part]}\n")
        for text in globals()[part]():
            print(f"{text}\n", flush=True)


if __name__ == "__main__":
    main()
