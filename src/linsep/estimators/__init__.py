"""The scikit-learn contract over the solvers: parameters, validation and attributes, and no algorithm."""

from linsep.estimators.perceptron import PerceptronClassifier

__all__ = ["PerceptronClassifier"]
