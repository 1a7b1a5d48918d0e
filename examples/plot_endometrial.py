"""
When logistic regression diverges
=================================

The endometrial cancer study of Heinze and Schemper (2002): 79 patients, the grade of the tumour (HG) and three risk
factors. Every patient with neovasculation (NV) had a high grade. So the coefficient of NV has no maximum likelihood
estimate: the likelihood grows for ever with it.
"""

import csv
import pathlib

import numpy as np

import linsep

folder = pathlib.Path(__file__).parent if "__file__" in globals() else pathlib.Path.cwd()
with (folder / "endometrial.csv").open(newline="") as file:
    rows = [[float(cell) for cell in row] for row in list(csv.reader(file))[1:]]
table = np.array(rows)
X, high = table[:, :3], table[:, 3].astype(int)

report = linsep.mle_exists(X, high, ["NV", "PI", "EH"])
print(report.explain())

# %%
# What can be said instead: the limits of the coefficients that stay finite, and Firth's penalised estimates, which
# always exist.

print(report.firth(level=0.95))
