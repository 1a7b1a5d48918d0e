"""A fitted classifier as a document of plain JSON values, and back, bit for bit.

A document names a kind, never a class: what each kind becomes is decided here. docs/model-format.md names every field.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from linsep.errors import ModelError
from linsep.estimators.kernel_classifier import KernelPerceptronClassifier
from linsep.estimators.margin_classifier import MaxMarginClassifier
from linsep.estimators.perceptron_classifier import PerceptronClassifier
from linsep.estimators.saving import kernel_document, margin_document, perceptron_document
from linsep.estimators.score_classifier import ScoreClassifier
from linsep.storage.strict import Document


class Kind(NamedTuple):
    """A classifier, and how it is written and read."""

    classifier: type[ScoreClassifier]
    write: Callable[[Any], Document]
    read: Callable[[Document], ScoreClassifier]


KINDS = {
    "perceptron": Kind(PerceptronClassifier, perceptron_document.write, perceptron_document.read),
    "kernel-perceptron": Kind(KernelPerceptronClassifier, kernel_document.write, kernel_document.read),
    "max-margin": Kind(MaxMarginClassifier, margin_document.write, margin_document.read),
}


def document_of(estimator: ScoreClassifier) -> Document:
    """A fitted classifier as a document."""
    for name, kind in KINDS.items():
        if type(estimator) is kind.classifier:  # a file could not say what a subclass does differently
            return {"kind": name, **kind.write(estimator)}
    raise ModelError(f"{type(estimator).__name__} cannot be saved: only the classifiers of linsep itself can.")


def estimator_of(document: Document) -> ScoreClassifier:
    """The classifier of a document whose kind is one of KINDS."""
    return KINDS[document["kind"]].read({name: value for name, value in document.items() if name != "kind"})
