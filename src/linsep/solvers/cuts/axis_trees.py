"""A decision tree of single columns, grown until every leaf holds one class: always possible, and fast.

scikit-learn grows it on the ranks of the values in their columns, which it does not round. Every cut is then placed
exactly in the middle between two values.
"""

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from linsep.sources.base import Ints

Form = tuple[tuple[int, ...], int]  # integer weights and their constant: rows with a positive sum are above

AT_ONCE = 5_000_000  # entries of a table: up to this many, every node may consider all columns


class AxisNode(NamedTuple):
    """A hyperplane, and what is above and below it: the number of another node, or ~code of the class there."""

    form: Form
    above: int
    below: int


def axis_tree(values: Any, codes: Ints, *, in_haste: bool = False) -> list[AxisNode]:
    """The nodes of the tree, the first one at its root; none if there is one class.

    With `in_haste`, each node of a large table considers only a few columns, as in a random forest.

    >>> axis_tree(np.array([[1.0, 5.0], [2.0, 5.0], [3.0, 5.0]]), np.array([0, 0, 1]))
    [AxisNode(form=((2, 0), -5), above=-2, below=-1)]
    """
    from sklearn.tree import DecisionTreeClassifier

    known = [np.unique(column, return_inverse=True) for column in values.T]
    ranks = np.column_stack([rank for _, rank in known]).astype(np.float32)
    if values.shape[0] > 1 << 24:
        raise ValueError("float32 holds 2^24 ranks")
    some = "sqrt" if in_haste and values.size > AT_ONCE else None
    tree = DecisionTreeClassifier(random_state=0, max_features=some).fit(ranks, codes)
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


def between(distinct: Any, rank: int, column: int, n_columns: int) -> Form:
    """The hyperplane of a column in the middle between two of its values, the one of this rank and the next."""
    low, high = distinct[rank : rank + 2].tolist()
    middle = (Fraction(low) + Fraction(high)) / 2
    weights = [0] * n_columns
    weights[column] = middle.denominator
    return tuple(weights), -middle.numerator
