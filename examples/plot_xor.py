"""
XOR, and why no line exists
===========================

Four points, two of each class, on opposite corners of a square. The Perceptron goes on for ever on them. linsep says
why: the two classes have a common weighted mean, and no line has one point on both of its sides.
"""

import linsep

X, y = linsep.datasets.xor()
verdict = linsep.decide(X, y)
print(verdict.explain())
linsep.plots.regions(X, y)

# %%
# The proof is four rows and four integers. Anyone can check it: the weighted means are equal.

obstruction = verdict.obstruction
print(dict(zip(obstruction.rows, obstruction.weights, strict=True)))
verdict.verify(X, y)

# %%
# One more column, the product of the other two, and a hyperplane separates the classes.

lifted = [[a, b, a * b] for a, b in X]
print(linsep.decide(lifted, y).explain())
