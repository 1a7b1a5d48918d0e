"""The document of a KernelPerceptronClassifier: its support rows, their coefficients, and its votes."""

from typing import Any, get_args

import numpy as np
from sklearn.metrics.pairwise import PAIRWISE_KERNEL_FUNCTIONS

from linsep.errors import ModelError
from linsep.estimators.kernel_classifier import KernelPerceptronClassifier
from linsep.estimators.saving import document_parts
from linsep.estimators.score_classifier import ScoreClassifier
from linsep.solvers.perceptron import Keep, WalkOrder
from linsep.sources.base import Floats, Ints
from linsep.storage import strict
from linsep.storage.strict import Document, count, counts, flag, floats, optional, record, word

FIELDS = (
    *document_parts.COMMON,
    *("gamma", "support", "support_vectors", "dual_coef", "votes"),
    *("mistakes_per_row", "updates", "passes", "converged"),
)


def _gamma(value: Any, where: str) -> Any:
    return value if value in ("scale", "auto") else document_parts.number(value, where)


PARAMETERS = {
    "kernel": word(*sorted(PAIRWISE_KERNEL_FUNCTIONS)),
    "gamma": _gamma,
    "degree": document_parts.number,
    "coef0": document_parts.number,
    "keep": word(*get_args(Keep)),
    "max_passes": document_parts.positive,
    "budget": optional(document_parts.positive),
    "order": word(*get_args(WalkOrder)),
    "random_state": optional(strict.natural),
}


def write(estimator: KernelPerceptronClassifier) -> Document:
    """The classifier as a document."""
    votes = estimator._votes
    return {
        **document_parts.write_common(estimator, PARAMETERS),
        "gamma": estimator.gamma_,
        "support": estimator.support_.tolist(),
        "support_vectors": document_parts.write_table(estimator.support_vectors_),
        "dual_coef": estimator.dual_coef_.tolist(),
        "votes": None
        if votes is None
        else [{"place": p.tolist(), "delta": d.tolist(), "count": c.tolist()} for p, d, c in votes],
        "mistakes_per_row": document_parts.write_mistakes(estimator.mistakes_per_row_),
        "updates": estimator.n_updates_,
        "passes": estimator.n_passes_,
        "converged": estimator.converged_,
    }


def read(document: Document) -> ScoreClassifier:
    """The classifier of a document."""
    strict.fields(document, "", FIELDS)
    estimator = document_parts.read_common(document, KernelPerceptronClassifier, PARAMETERS)
    problems = len(estimator.classes_) if len(estimator.classes_) > 2 else 1
    estimator.gamma_ = strict.positive(document["gamma"], "gamma")
    support = counts(document["support"], "support", strict.COUNT_LIMIT)
    if not len(support) or (np.diff(support) <= 0).any():
        raise ModelError("support must name one row or more, in order.")
    estimator.support_ = support
    estimator.support_vectors_ = document_parts.read_table(
        document["support_vectors"], "support_vectors", len(support), estimator.n_features_in_
    )
    estimator.dual_coef_ = strict.matrix(document["dual_coef"], "dual_coef", problems, len(support))
    estimator._votes = None
    if document["votes"] is not None:
        lines = strict.listed(document["votes"], "votes", problems)
        estimator._votes = [_read_votes(line, f"votes[{k}]", len(support)) for k, line in enumerate(lines)]
    document_parts.read_mistakes(estimator, document["mistakes_per_row"], problems)
    estimator.n_updates_ = count(document["updates"], "updates")
    estimator.n_passes_ = count(document["passes"], "passes")
    estimator.converged_ = flag(document["converged"], "converged")
    return estimator  # type: ignore[no-any-return]


def _read_votes(value: Any, where: str, support: int) -> tuple[Ints, Floats, Ints]:
    """The votes of one problem. Every position is checked: the compiled count of the votes trusts them."""
    read = record(place=lambda item, at: counts(item, at, support - 1), delta=floats, count=counts)
    places, deltas, times = read(value, where).values()
    if not len(places) == len(deltas) == len(times):
        raise ModelError(f"{where} has {len(places)} places, {len(deltas)} deltas and {len(times)} counts.")
    if not 0 < sum(times.tolist()) <= strict.COUNT_LIMIT:
        raise ModelError(f"{where}.count adds up to {sum(times.tolist())}: there cannot be that many votes.")
    return places, deltas, times
