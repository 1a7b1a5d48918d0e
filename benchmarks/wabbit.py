"""Vowpal Wabbit as a peer: rows in its own text format, learned from a file by its own reader."""

import re
import tempfile
from pathlib import Path

import numpy as np
from vowpalwabbit import Workspace

WORD = re.compile(r"\w\w+")  # the words that scikit-learn's vectorizers see


def text_lines(texts, y):
    """One line for each text: the label, then its words (':' and '|' mean something else to Vowpal Wabbit)."""
    return [f"{label} | {' '.join(WORD.findall(text.lower()))}" for text, label in zip(texts, y, strict=True)]


def dense_lines(X, y):
    """One line for each row: the label, then its entries other than zero."""
    return [
        f"{label} | " + " ".join(f"{j}:{float(value):.9g}" for j, value in enumerate(row) if value)
        for row, label in zip(X, y, strict=True)
    ]


def learn(path, bits, passes=1, extra=""):
    """A learner that has read the file, hinge loss, so many passes."""
    cache = f"--cache_file {path}.cache -k" if passes > 1 else ""
    options = f"-d {path} -b {bits} --passes {passes} {cache} --holdout_off --loss_function hinge --quiet {extra}"
    return Workspace(options)  # with a data file it learns before it returns


def mistakes(lines, y, train, test, bits, passes):
    """How many of the test lines are wrong after learning from the others, in a shuffled order as its peers do."""
    train = np.random.default_rng(0).permutation(train)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "train.vw"
        path.write_text("\n".join(lines[k] for k in train) + "\n")
        workspace = learn(path, bits, passes)
        scores = np.array([workspace.predict(lines[k].split(" ", 1)[1]) for k in test])
        workspace.finish()
    return int(np.sum(np.where(scores > 0, 1, -1) != y[test]))
