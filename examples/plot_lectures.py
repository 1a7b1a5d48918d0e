"""
The examples of the lectures
============================

Three small tables that five university lectures work through by hand, run with the order and the conventions of each.
"""

import matplotlib.pyplot as plt

import linsep

# %%
# Tao's four points on a circle, and Wang's six: the hyperplane passes through the origin, so there is no bias.

for name in ("tao", "wang"):
    X, y = getattr(linsep.datasets, name)()
    steps = linsep.perceptron_steps(X, y, bias=False)
    print(name, [(step.row, step.w.tolist()) for step in steps])

# %%
# Cornwell's four points need a bias. His check restarts after each update; the usual one walks on. Both end after nine.

X, y = linsep.datasets.cornwell()
for order in ("restart", "cyclic"):
    print(order, linsep.perceptron(X, y, order=order).explain())

# %%
# What each of them found: the widest band between the classes, and the rows that allow no wider one.

figure, axes = plt.subplots(1, 3, figsize=(12, 4))
for ax, name in zip(axes, ("cornwell", "tao", "wang"), strict=True):
    X, y = getattr(linsep.datasets, name)()
    linsep.plots.regions(X, y, bias=name == "cornwell", ax=ax)
    ax.set_xlabel(name)

# %%
# The bound says how many updates there can be. Moving the classes apart lowers it with the square of the distance.

for gap in (0.25, 0.5, 1):
    rows = [[-gap, 3], [-gap, -3], [gap, 3], [gap, -3]]
    print(gap, linsep.novikoff(rows, [0, 0, 1, 1]).most_updates)
