"""The rule of learners/perceptron.py with weights of rows and the rules that choose how far to go, as a plain loop."""

import numpy as np

from linsep.learners.perceptron import NEARLY_1, direction


def weighted_rule(X, labels, n_classes=2, *, weights=None, rule="perceptron", C=1.0):
    """After each visit of a row, in row order: its number, whether it was a mistake, and the weights."""
    vectors = 1 if n_classes == 2 else n_classes
    W, b = np.zeros((vectors, X.shape[1])), np.zeros(vectors)
    S, s = np.ones_like(W), np.ones_like(b)  # the spread of "arow"
    is_clean = False
    while not is_clean:
        is_clean = True
        for i, x in enumerate(X):
            for share in [1] if weights is None else visits(weights[i]):
                scores = W @ x + b
                y = direction(scores, labels[i])
                is_mistake = bool(y @ scores <= (0 if rule == "perceptron" else NEARLY_1))
                if is_mistake:
                    length2 = y**2 @ (S @ x**2 + s)
                    step = plain_step(rule, C, share, 1 - y @ scores, length2)
                    W += step * y[:, None] * S * x
                    b += step * y * s
                    if rule == "arow":
                        by = y**2 / (length2 + 1 / (2 * C * share))
                        S, s = S - by[:, None] * (S * x) ** 2, s - by * s**2
                    is_clean = False
                yield i, is_mistake, W.copy(), b.copy()


def visits(weight):
    """A weight as visits: 2.5 is 1, 1 and 0.5."""
    whole = int(weight)
    return [1.0] * whole + ([weight - whole] if weight > whole else [])


def plain_step(rule, C, share, loss, length2):
    """How far an update goes that counts for this share of a visit."""
    if rule == "perceptron":
        return share
    if rule == "pa1":
        return min(C * share, loss / length2) if length2 else C * share
    return loss / (length2 + 1 / (2 * C * share))
