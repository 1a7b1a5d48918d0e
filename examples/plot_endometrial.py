"""
When logistic regression diverges
=================================

The endometrial cancer study of Heinze and Schemper (2002): 79 patients, the grade of the tumour (HG) and three risk
factors. Every patient with neovasculation (NV) had a high grade. So the coefficient of NV has no maximum likelihood
estimate: the likelihood grows for ever with it.
"""

import csv
import pathlib

import matplotlib.pyplot as plt
import numpy as np

import linsep

folder = pathlib.Path(__file__).parent if "__file__" in globals() else pathlib.Path.cwd()
with (folder / "endometrial.csv").open(newline="") as file:
    patients = np.array([[float(cell) for cell in row] for row in list(csv.reader(file))[1:]])
X, high = patients[:, :3], patients[:, 3].astype(int)

report = linsep.mle_exists(X, high, ["NV", "PI", "EH"])
print(report.explain())

# %%
# What can be said instead: the limits of the coefficients that stay finite, and Firth's penalised estimates, which
# always exist.

fit = report.firth(level=0.95)
print(fit)

# %%
# Their intervals. That of NV is wide, but it does not contain 0.

table = report.table(level=0.95)
figure, ax = plt.subplots(figsize=(6, 2.5))
ax.hlines(table["coefficient"][1:], table["low"][1:], table["high"][1:])
ax.plot(table["firth"][1:], table["coefficient"][1:], "o")
ax.axvline(0, color="grey", linewidth=1)
ax.set_xlabel("Firth's estimate and its 95 % profile interval")
figure.tight_layout()
