"""The document of a MaxMarginClassifier: its hyperplanes, and the written proof of each verdict."""

from typing import Any

from linsep.errors import CertificateError, ModelError
from linsep.estimators.margin_classifier import MaxMarginClassifier
from linsep.estimators.saving import document_parts
from linsep.estimators.score_classifier import ScoreClassifier
from linsep.proofs import Verdict
from linsep.proofs.proof_json import verdict_from_json
from linsep.storage import strict
from linsep.storage.strict import Document

FIELDS = (*document_parts.COMMON, "coef", "intercept", "proofs")
PARAMETERS = {"gap": document_parts.number, "time_limit": strict.optional(document_parts.number)}


def write(estimator: MaxMarginClassifier) -> Document:
    """The classifier as a document. A proof is text, as `Verdict.to_json` writes it, so that it stays checkable."""
    return {
        **document_parts.write_common(estimator, PARAMETERS),
        "coef": estimator.coef_.tolist(),
        "intercept": estimator.intercept_.tolist(),
        "proofs": [verdict.to_json() for verdict in estimator.verdicts_],
    }


def read(document: Document) -> ScoreClassifier:
    """The classifier of a document. Its proofs are read, not checked: that takes the data."""
    strict.fields(document, "", FIELDS)
    estimator = document_parts.read_common(document, MaxMarginClassifier, PARAMETERS)
    n_columns, n_classes = estimator.n_features_in_, len(estimator.classes_)
    problems = n_classes if n_classes > 2 else 1
    estimator.coef_ = strict.matrix(document["coef"], "coef", problems, n_columns)
    estimator.intercept_ = strict.floats(document["intercept"], "intercept", problems)
    proofs = strict.listed(document["proofs"], "proofs", problems)
    estimator._state(tuple(_read_proof(proof, f"proofs[{k}]", n_columns) for k, proof in enumerate(proofs)))
    return estimator  # type: ignore[no-any-return]


def _read_proof(value: Any, where: str, n_columns: int) -> Verdict:
    try:
        verdict = verdict_from_json(strict.text(value, where))
    except CertificateError as error:
        raise ModelError(f"{where}: {error}") from error
    if verdict.n_columns != n_columns:
        raise ModelError(f"{where} is about {verdict.n_columns} columns: the model has {n_columns}.")
    return verdict
