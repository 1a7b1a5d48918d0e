"""
Three kinds of iris
===================

Fisher's 150 flowers. Setosa is separable from each of the others; versicolor and virginica are not separable from each
other, and a few flowers prove it.
"""

from sklearn.datasets import load_iris

import linsep

iris = load_iris()
X, y = iris.data, iris.target_names[iris.target]
pairs = linsep.decide_classes(X, y, by="pairs")
print(pairs.explain())

# %%
# By petals alone, four flowers are enough to see why: their weighted means are the same point.

two = y != "setosa"
linsep.plots.regions(X[two][:, 2:], y[two])
