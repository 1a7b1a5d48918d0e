"""A decision tree of single columns, grown until every leaf holds one class: always possible, and fast.

scikit-learn grows it on the ranks of the values in their columns, which it does not round. Every cut is then placed
exactly in the middle between two values.

The best cuts may take one row each: the tree is then as deep as there are rows. In haste it has a few levels for each
time that the number of rows doubles, and considers as many columns as there is time for; where that is not enough, cuts
are drawn at random, and the tree is seldom deep.
"""

import math
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from linsep.sources.base import Ints

Form = tuple[tuple[int, ...], int]  # integer weights and their constant: rows with a positive sum are above

SORTING = 5e-8  # seconds for each entry on each level
EXPECTED_DEPTH, DEPTH = 3, 5  # levels for each time that the number of rows doubles; in haste, no more than the second


class AxisNode(NamedTuple):
    """A hyperplane, and what is above and below it: the number of another node, or ~code of the class there."""

    form: Form
    above: int
    below: int


def axis_tree(values: Any, codes: Ints, *, seconds: float = math.inf) -> list[AxisNode]:
    """The nodes of the tree, the first one at its root; none if there is one class.

    With few seconds, each node considers only a few columns, as in a random forest, and cuts may be drawn at random.

    >>> axis_tree(np.array([[1.0, 5.0], [2.0, 5.0], [3.0, 5.0]]), np.array([0, 0, 1]))
    [AxisNode(form=((2, 0), -5), above=-2, below=-1)]
    """
    if values.shape[0] > 1 << 24:
        raise ValueError("float32 holds 2^24 ranks")
    known = [np.unique(column, return_inverse=True) for column in values.T]
    tree = _grown(np.column_stack([rank for _, rank in known]).astype(np.float32), codes, seconds)
    classes, grown = tree.classes_, tree.tree_
    inner = np.flatnonzero(grown.children_left >= 0)
    place = {int(node): k for k, node in enumerate(inner)}

    def child(node: int) -> int:
        return place[node] if node in place else ~int(classes[int(np.argmax(grown.value[node][0]))])

    nodes = []
    for node in inner.tolist():
        column = int(grown.feature[node])
        form = between(known[column][0], int(np.floor(grown.threshold[node])), column, values.shape[1])
        nodes.append(AxisNode(form, child(int(grown.children_right[node])), child(int(grown.children_left[node]))))
    return nodes


def _grown(ranks: Any, codes: Ints, seconds: float) -> Any:
    """scikit-learn's tree: the best one that there is time for."""
    from sklearn.tree import DecisionTreeClassifier

    n, d = ranks.shape
    if seconds == math.inf:
        return DecisionTreeClassifier(random_state=0).fit(ranks, codes)
    some = "sqrt"
    for columns, considered in ((None, d), (some, few(d))):
        if expected_seconds(n, considered) <= seconds:
            tree = DecisionTreeClassifier(random_state=0, max_features=columns, max_depth=DEPTH * n.bit_length()).fit(
                ranks, codes
            )
            if (tree.tree_.impurity[tree.tree_.children_left < 0] <= 0).all():
                return tree
            break
    return DecisionTreeClassifier(random_state=0, max_features=some, splitter="random").fit(ranks, codes)


def few(columns: int) -> int:
    """As many columns as a node considers in haste."""
    return max(1, math.isqrt(columns))


def expected_seconds(n_rows: int, columns: int) -> float:
    """How long a tree of the best cuts takes for random labels, if each node considers so many columns."""
    return SORTING * n_rows * columns * EXPECTED_DEPTH * n_rows.bit_length()


def between(distinct: Any, rank: int, column: int, n_columns: int) -> Form:
    """The hyperplane of a column in the middle between two of its values, the one of this rank and the next."""
    low, high = distinct[rank : rank + 2].tolist()
    middle = (Fraction(low) + Fraction(high)) / 2
    weights = [0] * n_columns
    weights[column] = middle.denominator
    return tuple(weights), -middle.numerator
