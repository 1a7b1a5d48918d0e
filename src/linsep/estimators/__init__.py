"""The scikit-learn contract over the solvers: parameters, validation and attributes."""

from linsep.estimators.kernel_classifier import KernelPerceptronClassifier
from linsep.estimators.margin_classifier import MaxMarginClassifier
from linsep.estimators.mistakes_classifier import FewestMistakesClassifier
from linsep.estimators.perceptron_classifier import PerceptronClassifier
from linsep.estimators.regions_classifier import RegionsClassifier

TRUSTED_TYPES = (  # what a classifier is made of, for `skops.io.load(path, trusted=TRUSTED_TYPES)`
    "linsep.estimators.perceptron_classifier.PerceptronClassifier",
)

__all__ = [
    "TRUSTED_TYPES",
    "FewestMistakesClassifier",
    "KernelPerceptronClassifier",
    "MaxMarginClassifier",
    "PerceptronClassifier",
    "RegionsClassifier",
]
