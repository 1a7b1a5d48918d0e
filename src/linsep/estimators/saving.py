"""A fitted classifier as a document of plain JSON values, and back, bit for bit.

A document names a kind, never a class: what each kind becomes is decided here. The Perceptron, with its run, has a
module of its own. docs/model-format.md names every field.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics.pairwise import PAIRWISE_KERNEL_FUNCTIONS

from linsep.errors import CertificateError, ModelError
from linsep.estimators import document_parts
from linsep.estimators.kernel_classifier import KernelPerceptronClassifier
from linsep.estimators.margin_classifier import MaxMarginClassifier
from linsep.estimators.mistakes_classifier import FewestMistakesClassifier
from linsep.estimators.perceptron_classifier import PerceptronClassifier
from linsep.estimators.perceptron_document import KEEP, ORDER, RULE, read_perceptron, write_perceptron
from linsep.estimators.regions_classifier import RegionsClassifier
from linsep.estimators.score_classifier import ScoreClassifier
from linsep.estimators.verdict_classifier import VerdictClassifier
from linsep.proofs import Verdict
from linsep.proofs.fewest_mistakes import FewestMistakes
from linsep.proofs.proof_json import verdict_from_json
from linsep.proofs.region_proof import Cut, Regions
from linsep.sources.base import Floats, Ints
from linsep.storage import strict
from linsep.storage.strict import Document, Reader, count, counts, flag, floats, optional, record, word

SEED = optional(strict.natural)


class Kind(NamedTuple):
    """A classifier, the readers of its parameters, its own fields, and the functions that write and read them."""

    classifier: type[ScoreClassifier]
    parameters: Mapping[str, Reader]
    fields: tuple[str, ...]
    write: Callable[[Any], Document]
    read: Callable[[Any, Document], None]


def document_of(estimator: ScoreClassifier) -> Document:
    """A fitted classifier as a document."""
    for name, kind in KINDS.items():
        if type(estimator) is kind.classifier:  # a file cannot hold what a subclass does differently
            return {"kind": name, **document_parts.write_common(estimator, kind.parameters), **kind.write(estimator)}
    raise ModelError(f"{type(estimator).__name__} cannot be saved: only the classifiers of linsep itself can.")


def estimator_of(document: Document) -> ScoreClassifier:
    """The classifier of a document whose kind is one of KINDS."""
    kind = KINDS[document["kind"]]
    own = {name: value for name, value in document.items() if name != "kind"}
    strict.fields(own, "", (*document_parts.COMMON, *kind.fields))
    estimator: ScoreClassifier = document_parts.read_common(own, kind.classifier, kind.parameters)
    kind.read(estimator, own)
    return estimator


# The kernel Perceptron: its support rows, their coefficients, and its votes ------------------------------


def _gamma(value: Any, where: str) -> Any:
    return value if value in ("scale", "auto") else document_parts.number(value, where)


def _write_kernel(estimator: KernelPerceptronClassifier) -> Document:
    votes = estimator._votes
    return {
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


def _read_kernel(estimator: Any, document: Document) -> None:
    problems = document_parts.hyperplanes(estimator)
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


def _read_votes(value: Any, where: str, support: int) -> tuple[Ints, Floats, Ints]:
    """The votes of one problem. Every position is checked, since the compiled loop that counts votes does not."""
    read = record(place=lambda item, at: counts(item, at, support - 1), delta=floats, count=counts)
    places, deltas, times = read(value, where).values()
    if not len(places) == len(deltas) == len(times):
        raise ModelError(f"{where} has {len(places)} places, {len(deltas)} deltas and {len(times)} counts.")
    if not 0 < sum(times.tolist()) <= strict.COUNT_LIMIT:
        raise ModelError(f"{where}.count adds up to {sum(times.tolist())}: there cannot be that many votes.")
    return places, deltas, times


# Hyperplanes with proofs, and the written proof of each verdict ------------------------------------------


def _write_proved(estimator: VerdictClassifier) -> Document:
    """Each proof is the text that `Verdict.to_json` writes, so that it can still be checked."""
    return {
        "coef": estimator.coef_.tolist(),
        "intercept": estimator.intercept_.tolist(),
        "proofs": [verdict.to_json() for verdict in estimator.verdicts_],
    }


def _read_proved(estimator: Any, document: Document) -> None:
    """The proofs are read, not checked: that takes the data."""
    n_columns, problems = estimator.n_features_in_, document_parts.hyperplanes(estimator)
    estimator.coef_ = strict.matrix(document["coef"], "coef", problems, n_columns)
    estimator.intercept_ = floats(document["intercept"], "intercept", problems)
    proofs = strict.listed(document["proofs"], "proofs", problems)
    verdicts = tuple(_read_proof(proof, f"proofs[{k}]", n_columns) for k, proof in enumerate(proofs))
    for k, verdict in enumerate(verdicts):
        if isinstance(verdict, FewestMistakes) != isinstance(estimator, FewestMistakesClassifier):
            raise ModelError(f"proofs[{k}] is of the kind {verdict.kind!r}, which this classifier does not have.")
    estimator._state(verdicts)


def _read_proof(value: Any, where: str, n_columns: int) -> Verdict:
    try:
        verdict = verdict_from_json(strict.text(value, where))
    except CertificateError as error:
        raise ModelError(f"{where}: {error}") from error
    if verdict.n_columns != n_columns:
        raise ModelError(f"{where} is about {verdict.n_columns} columns: the model has {n_columns}.")
    return verdict


# Regions: their cuts, in integers, and what is known about the rows -------------------------------------


def _write_regions(estimator: RegionsClassifier) -> Document:
    found = estimator.regions_.facts()
    return {name: found[name] for name in REGION_FIELDS}


def _read_regions(estimator: Any, document: Document) -> None:
    width = estimator.n_features_in_
    whole = {name: read(document[name], name) for name, read in REGION_FIELDS.items()}
    names = getattr(estimator, "feature_names_in_", None)
    try:
        estimator.regions_ = Regions(
            n_rows=whole["rows"],
            n_columns=width,
            classes=tuple(estimator.classes_.tolist()),
            cuts=tuple(Cut(cut["weights"], cut["bias"], cut["above"], cut["below"]) for cut in whole["cuts"]),
            sizes=whole["sizes"],
            only=whole["only"],
            contradictions=whole["contradictions"],
            names=None if names is None else tuple(map(str, names)),
            in_time=whole["in_time"],
            seconds=whole["seconds"],
        )
    except CertificateError as error:
        raise ModelError(f"cuts: {error}") from error


CHILD = strict.whole(-strict.COUNT_LIMIT, strict.COUNT_LIMIT)  # a later cut, or ~k for class k
REGION_FIELDS: dict[str, Reader] = {
    "rows": count,
    "cuts": strict.each(
        record(weights=strict.each(strict.long_integer), bias=strict.long_integer, above=CHILD, below=CHILD)
    ),
    "sizes": strict.each(count),
    "only": count,
    "contradictions": strict.each(strict.each(count)),
    "in_time": flag,
    "seconds": strict.not_negative,
}


def _class_weight(value: Any, where: str) -> Any:
    return value if value == "balanced" else document_parts.costs(value, where)


KINDS = {
    "perceptron": Kind(
        PerceptronClassifier,
        {
            "keep": KEEP,
            "rule": RULE,
            "C": document_parts.number,
            "order": ORDER,
            "multiclass": word("joint", "ovr"),
            "margin": document_parts.number,
            "max_passes": document_parts.positive,
            "bias": flag,
            "class_weight": optional(_class_weight),
            "warm_start": flag,
            "stop_after": optional(document_parts.positive),
            "held_out": document_parts.number,
            "random_state": SEED,
        },
        ("dtype", "coef", "intercept", "mistakes_per_row", "last_passes", "rule", "runs"),
        write_perceptron,
        read_perceptron,
    ),
    "kernel-perceptron": Kind(
        KernelPerceptronClassifier,
        {
            "kernel": word(*sorted(PAIRWISE_KERNEL_FUNCTIONS)),
            "gamma": _gamma,
            "degree": document_parts.number,
            "coef0": document_parts.number,
            "keep": KEEP,
            "max_passes": document_parts.positive,
            "budget": optional(document_parts.positive),
            "order": ORDER,
            "random_state": SEED,
        },
        (
            *("gamma", "support", "support_vectors", "dual_coef", "votes"),
            *("mistakes_per_row", "updates", "passes", "converged"),
        ),
        _write_kernel,
        _read_kernel,
    ),
    "max-margin": Kind(
        MaxMarginClassifier,
        {"gap": document_parts.number, "time_limit": optional(document_parts.number)},
        ("coef", "intercept", "proofs"),
        _write_proved,
        _read_proved,
    ),
    "fewest-mistakes": Kind(
        FewestMistakesClassifier,
        {
            "cost": optional(document_parts.costs),
            "bias": flag,
            "time_limit": optional(document_parts.number),
        },
        ("coef", "intercept", "proofs"),
        _write_proved,
        _read_proved,
    ),
    "regions": Kind(
        RegionsClassifier,
        {"time_limit": optional(document_parts.number)},
        tuple(REGION_FIELDS),
        _write_regions,
        _read_regions,
    ),
}
