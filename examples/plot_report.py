"""
One page about a table
======================

`linsep.describe` (`linsep report` on the command line) puts what is known of a table on one page: the verdict and its
proof, the labels that look wrong, columns that give the answer away, what learners make of it, what theory promises.
"""

import linsep

X, y = linsep.datasets.planted(150, 3, margin=0.1, seed=2)
y[[17, 60]] *= -1  # two labels are wrong

page = linsep.describe(X, y, time_limit=20)
print(page.sections["verdict"].title)
print("at least", page.cleaning.mistakes.lower, "labels are wrong:", page.cleaning.mistakes.mistaken_rows)

# %%
# Each section is a report of its own, as text, JSON or HTML.

print(page.sections["columns"].text())

# %%
# The whole page is one file that needs nothing else.

print(f"{len(page.page()):,} bytes of HTML")
linsep.plots.separation(X, y)
