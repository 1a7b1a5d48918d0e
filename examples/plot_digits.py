"""
Ten digits, 45 questions
========================

1,797 handwritten digits of 8 x 8 pixels. Every pair of digits is asked about, then all ten at once: is there a score
for each digit, linear in the pixels, with the right one always the largest? (docs/mnist.md asks the
same pairs of MNIST's 70,000 digits.)
"""

from sklearn.datasets import load_digits

import linsep

X, y = load_digits(return_X_y=True)
pairs = linsep.decide_classes(X, y, by="pairs")
linsep.plots.verdicts(pairs)

# %%
# Jointly they are separable as well, and the ten scores are checked on every row in exact arithmetic.

print(linsep.decide_classes(X, y).explain())

# %%
# The Perceptron finds such scores too. Its weights are images: red where ink speaks for the digit, blue where it speaks
# against it.

model = linsep.PerceptronClassifier("last", max_passes=200, random_state=0).fit(X, y)
print(f"{model.n_updates_} updates in {model.n_passes_} passes, training error {1 - model.score(X, y):.1%}")
linsep.plots.weights(model)
