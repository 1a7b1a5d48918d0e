"""
After XOR: a kernel
===================

Where no line exists, a curve may. The kernel Perceptron runs the same rule on products that a kernel computes, as if
every row had many more columns.
"""

from sklearn.datasets import make_moons

import linsep

X, y = make_moons(200, noise=0.1, random_state=0)
print(linsep.decide(X, y).explain())

# %%
model = linsep.KernelPerceptronClassifier(kernel="rbf", gamma=2.0, random_state=0).fit(X, y)
print(f"{model.score(X, y):.0%} of the rows are on the right side")
linsep.plots.regions(X, y, model=model)

# %%
# Several straight lines do it too, read from top to bottom: each cuts off rows of one class only.

regions = linsep.separate_regions(X, y)
print(regions.explain())
linsep.plots.regions(X, y, model=regions)
