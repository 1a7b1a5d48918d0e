"""
The Perceptron and its bound
============================

Four points of a lecture by Cornwell. The Perceptron corrects one row at a time until none is wrong; Novikoff's theorem
says how many corrections there can be, whatever the order of the rows.
"""

import linsep

X, y = linsep.datasets.cornwell()
for step in linsep.perceptron_steps(X, y):
    print(f"update {step.update}: row {step.row}, w = {step.w}, b = {step.b}")

# %%
# It is done after 9 updates. The bound, computed from the widest margin between certified ends, allows 55.

print(linsep.novikoff(X, y).explain())
linsep.plots.bound(X, y)

# %%
# The line that it found, and the widest band between the classes.

linsep.plots.regions(X, y)
