"""
Wrong labels
============

120 rows that a hyperplane separates, and six labels that were flipped. How many labels must be wrong? Which rows should
one look at first?
"""

import linsep

X, y = linsep.datasets.planted(120, 2, margin=0.05, seed=4)
flipped = [9, 14, 33, 41, 44, 70]
y[flipped] *= -1

found = linsep.clean(X, y)
print(found.explain())

# %%
# At least six are wrong, whatever the line: that is proved. The six mistaken rows are those that were flipped.

print(sorted(found.mistakes.mistaken_rows))
found.mistakes.verify(X, y)
linsep.plots.regions(X, y)
