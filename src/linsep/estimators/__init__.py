"""The scikit-learn contract over the solvers: parameters, validation and attributes."""

from linsep.estimators.kernel import KernelPerceptronClassifier
from linsep.estimators.margin import MaxMarginClassifier
from linsep.estimators.perceptron import PerceptronClassifier

__all__ = ["KernelPerceptronClassifier", "MaxMarginClassifier", "PerceptronClassifier"]
