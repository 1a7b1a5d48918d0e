"""The solvers and the learners as scikit-learn classifiers: parameters, validation and attributes."""

from linsep.estimators.kernel_classifier import KernelPerceptronClassifier
from linsep.estimators.margin_classifier import MaxMarginClassifier
from linsep.estimators.mistakes_classifier import FewestMistakesClassifier
from linsep.estimators.perceptron_classifier import PerceptronClassifier
from linsep.estimators.regions_classifier import RegionsClassifier

# What a fitted classifier is made of, for `skops.io.load(path, trusted=TRUSTED_TYPES)`.
TRUSTED_TYPES = [
    "fractions.Fraction",
    *(
        f"linsep.estimators.{kind}_classifier.{name}"
        for kind, name in (
            ("kernel", "KernelPerceptronClassifier"),
            ("margin", "MaxMarginClassifier"),
            ("mistakes", "FewestMistakesClassifier"),
            ("perceptron", "PerceptronClassifier"),
            ("regions", "RegionsClassifier"),
        )
    ),
    "linsep.loops.sweeps.Vectors",
    "linsep.proofs.fewest_mistakes.FewestMistakes",
    "linsep.proofs.obstructions.Obstruction",
    "linsep.proofs.packings.Leaf",
    *(f"linsep.proofs.region_proof.{name}" for name in ("Cut", "Regions")),
    *(f"linsep.proofs.verdicts.{name}" for name in ("Overlapping", "Separable", "Touching", "Undecided")),
    *(f"linsep.learners.kept_weights.{name}" for name in ("Ballot", "Pocket", "Weights")),
    "linsep.learners.perceptron.Perceptron",
]

__all__ = [
    "TRUSTED_TYPES",
    "FewestMistakesClassifier",
    "KernelPerceptronClassifier",
    "MaxMarginClassifier",
    "PerceptronClassifier",
    "RegionsClassifier",
]
