"""A fitted classifier as a document of plain JSON values, and back, bit for bit.

A document names a kind, never a class: what each kind becomes is decided here. docs/model-format.md names every field.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple, get_args

import numpy as np
from sklearn.metrics.pairwise import PAIRWISE_KERNEL_FUNCTIONS

from linsep.errors import ArgumentError, CertificateError, ModelError
from linsep.estimators import document_parts
from linsep.estimators.kernel_classifier import KernelPerceptronClassifier
from linsep.estimators.margin_classifier import MaxMarginClassifier
from linsep.estimators.mistakes_classifier import FewestMistakesClassifier
from linsep.estimators.perceptron_classifier import PerceptronClassifier
from linsep.estimators.regions_classifier import RegionsClassifier
from linsep.estimators.score_classifier import ScoreClassifier
from linsep.estimators.verdict_classifier import VerdictClassifier
from linsep.learners.kept_weights import Ballot, Pocket, Weights
from linsep.learners.perceptron import Keep, Perceptron, Rule, WalkOrder
from linsep.loops.update_log import BORN, LABEL, LOGGED, RIVAL, ROW, STEP
from linsep.proofs import Verdict
from linsep.proofs.fewest_mistakes import FewestMistakes
from linsep.proofs.proof_json import verdict_from_json
from linsep.proofs.region_proof import Cut, Regions
from linsep.sources.base import Floats, Ints
from linsep.storage import strict
from linsep.storage.strict import Document, Reader, count, counts, flag, floats, optional, record, word

KEEP, ORDER, SEED = word(*get_args(Keep)), word(*get_args(WalkOrder)), optional(strict.natural)
RULE = word(*get_args(Rule))
LOG = {"row": ROW, "label": LABEL, "rival": RIVAL, "born": BORN, "step": STEP}


class Kind(NamedTuple):
    """A classifier, the readers of its parameters, the fields of its own, and how they are written and read."""

    classifier: type[ScoreClassifier]
    parameters: Mapping[str, Reader]
    fields: tuple[str, ...]
    write: Callable[[Any], Document]
    read: Callable[[Any, Document], None]


def document_of(estimator: ScoreClassifier) -> Document:
    """A fitted classifier as a document."""
    for name, kind in KINDS.items():
        if type(estimator) is kind.classifier:  # a file could not say what a subclass does differently
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


def _problems(estimator: ScoreClassifier) -> int:
    """How many hyperplanes there are: one for two classes, else one for each."""
    return len(estimator.classes_) if len(estimator.classes_) > 2 else 1


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
    problems = _problems(estimator)
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
    """The votes of one problem. Every position is checked: the compiled count of the votes trusts them."""
    read = record(place=lambda item, at: counts(item, at, support - 1), delta=floats, count=counts)
    places, deltas, times = read(value, where).values()
    if not len(places) == len(deltas) == len(times):
        raise ModelError(f"{where} has {len(places)} places, {len(deltas)} deltas and {len(times)} counts.")
    if not 0 < sum(times.tolist()) <= strict.COUNT_LIMIT:
        raise ModelError(f"{where}.count adds up to {sum(times.tolist())}: there cannot be that many votes.")
    return places, deltas, times


# Hyperplanes with proofs, and the written proof of each verdict ------------------------------------------


def _write_proved(estimator: VerdictClassifier) -> Document:
    """A proof is text, as `Verdict.to_json` writes it, so that it stays checkable."""
    return {
        "coef": estimator.coef_.tolist(),
        "intercept": estimator.intercept_.tolist(),
        "proofs": [verdict.to_json() for verdict in estimator.verdicts_],
    }


def _read_proved(estimator: Any, document: Document) -> None:
    """The proofs are read, not checked: that takes the data."""
    n_columns, problems = estimator.n_features_in_, _problems(estimator)
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


# Regions: their cuts, in integers, and what is known of the rows ----------------------------------------


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


# The Perceptron: the weights that predict, and the run, so that a stream can go on -----------------------


def _class_weight(value: Any, where: str) -> Any:
    return value if value == "balanced" else document_parts.costs(value, where)


def _write_perceptron(estimator: PerceptronClassifier) -> Document:
    """The rule is that of the run: parameters may have been set since."""
    first, counts = estimator._learners[0], estimator.mistakes_per_row_
    has_coef = first.keep != "vote"
    return {
        "dtype": estimator.coef_.dtype.name if has_coef else "float64",
        "coef": estimator.coef_.tolist() if has_coef else None,
        "intercept": estimator.intercept_.tolist() if has_coef else None,
        "mistakes_per_row": None if counts is None else document_parts.write_mistakes(counts),
        "last_passes": estimator.n_iter_,
        "rule": {
            "rule": first.rule,
            "C": first.C,
            "keep": first.keep,
            "order": first.order,
            "bias": bool(first.bias),
            "margin": first.margin if first.rule == "perceptron" else 0.0,
        },
        "runs": [_write_run(learner) for learner in estimator._learners],
    }


def _write_run(learner: Perceptron) -> Document:
    pocket, ballot, state = learner.pocket, learner.ballot, learner.random.bit_generator.state
    return {
        "weights": _write_weights(learner.weights),
        "lag": _write_weights(learner.lag) if learner.keep == "average" else None,
        "spread": None if learner.spread is None else _write_weights(learner.spread),
        "pocket": {"weights": _write_weights(pocket.weights), "survived": pocket.run, "mistakes": pocket.mistakes}
        if learner.keep == "best"
        else None,
        "ballot": None if ballot is None else _write_ballot(ballot),
        "walked": learner.walked,
        "survived": learner.run,
        "updates": learner.updates,
        "passes": learner.passes,
        "converged": learner.converged,
        "random": {
            "state": str(state["state"]["state"]),
            "inc": str(state["state"]["inc"]),
            "spare": str(state["uinteger"]) if state["has_uint32"] else None,
        },
    }


def _write_weights(weights: Weights) -> Document:
    return {"W": weights.W.tolist(), "b": weights.b.tolist()}


MOMENTS = ("born", "step")  # numbers of a log that weights may make fractions


def _write_ballot(ballot: Ballot) -> Document:
    positions = ballot.log.astype(np.int64)
    log = {name: positions[:, place].tolist() for name, place in LOG.items()}
    log |= {name: ballot.log[:, LOG[name]].tolist() for name in MOMENTS}
    return {
        "first": _write_weights(ballot.first),
        "born": ballot.born,
        "rows": document_parts.write_table(ballot.rows),
        "log": log,
    }


def _read_perceptron(estimator: Any, document: Document) -> None:
    n_classes, n_columns, vectors = len(estimator.classes_), estimator.n_features_in_, _problems(estimator)
    dtype = word(*document_parts.FLOATS)(document["dtype"], "dtype")
    rule = record(rule=RULE, C=strict.positive, keep=KEEP, order=ORDER, bias=flag, margin=strict.not_negative)(
        document["rule"], "rule"
    )
    for name in ("coef", "intercept"):
        if (document[name] is None) != (rule["keep"] == "vote"):
            raise ModelError(f"{name} must be null with keep 'vote' alone; keep is {rule['keep']!r}.")
    if rule["keep"] != "vote":
        coef = strict.matrix(document["coef"], "coef", vectors, n_columns)  # first: from here on the counts are true
        estimator.coef_ = document_parts.in_type(coef, dtype, "coef")
        intercept = floats(document["intercept"], "intercept", vectors)
        estimator.intercept_ = document_parts.in_type(intercept, dtype, "intercept")
    elif vectors * n_columns > document_parts.MOST_ENTRIES:
        raise ModelError(f"features.count is {n_columns}: too many for a vote.")
    runs = strict.listed(document["runs"], "runs")
    estimator._is_ovr = n_classes > 2 and len(runs) > 1
    strict.listed(runs, "runs", n_classes if estimator._is_ovr else 1)
    try:
        blanks = [Perceptron(2 if estimator._is_ovr else n_classes, n_columns, **rule, seed=0) for _ in runs]
    except ArgumentError as error:
        raise ModelError(f"rule: {error}") from error
    estimator._learners = [
        _read_run(run, f"runs[{k}]", blank) for k, (run, blank) in enumerate(zip(runs, blanks, strict=True))
    ]
    estimator.n_iter_ = count(document["last_passes"], "last_passes")
    document_parts.read_mistakes(estimator, document["mistakes_per_row"], problems=1)
    estimator._count()


def _read_run(value: Any, where: str, learner: Perceptron) -> Perceptron:
    shape = learner.weights.W.shape
    weights = partial(_read_weights, shape=shape)
    fields = record(
        weights=weights,
        lag=optional(weights),
        spread=optional(weights),
        pocket=optional(record(weights=weights, survived=count, mistakes=_weight)),
        ballot=optional(strict.mapping),
        walked=_weight,
        survived=count,
        updates=count,
        passes=count,
        converged=flag,
        random=_read_random,
    )(value, where)
    for name, keep in (("lag", "average"), ("pocket", "best"), ("ballot", "vote")):
        if (fields[name] is None) == (learner.keep == keep):
            raise ModelError(f"{where}.{name} must be there with keep {keep!r} alone; keep is {learner.keep!r}.")
    if (fields["spread"] is None) != (learner.rule != "arow"):
        raise ModelError(f"{where}.spread must be there with the rule 'arow' alone; the rule is {learner.rule!r}.")
    if fields["spread"] is not None:
        learner.spread = fields["spread"]
        if (learner.spread.W < 0).any() or (learner.spread.b < 0).any():
            raise ModelError(f"{where}.spread has numbers below 0.")
    learner.weights, learner.walked, learner.run = fields["weights"], fields["walked"], fields["survived"]
    learner.updates, learner.passes, learner.converged = fields["updates"], fields["passes"], fields["converged"]
    if isinstance(learner.walked, int):  # rows of a weight below 1 add less to it than 1
        for name in ("survived", "updates"):
            count(fields[name], f"{where}.{name}", learner.walked)
    if learner.keep == "average":
        learner.lag = fields["lag"]
    if learner.keep == "best":
        pocket = fields["pocket"]
        if isinstance(learner.walked, int):
            count(pocket["survived"], f"{where}.pocket.survived", learner.walked)
        learner.pocket = Pocket(pocket["weights"], pocket["survived"], pocket["mistakes"])
    if learner.keep == "vote":
        learner.ballot = _read_ballot(fields["ballot"], f"{where}.ballot", learner)
    learner.random.bit_generator.state = fields["random"]
    return learner


def _weight(value: Any, where: str) -> int | float:
    """A number of rows, or what they weigh."""
    strict.not_negative(value, where)
    return value if isinstance(value, int) else float(value)


def _read_weights(value: Any, where: str, shape: tuple[int, ...]) -> Weights:
    vectors, n_columns = shape
    matrix = partial(strict.matrix, rows=vectors, columns=n_columns)
    return Weights(**record(W=matrix, b=partial(floats, length=vectors))(value, where))


def _read_ballot(value: Any, where: str, learner: Perceptron) -> Ballot:
    """The voters. Every position is checked: the compiled count of the votes trusts them."""
    vectors, n_columns = learner.weights.W.shape
    fields = strict.fields(value, where, ("first", "born", "rows", "log"))
    first = _read_weights(fields["first"], f"{where}.first", (vectors, n_columns))
    born = _weight(fields["born"], f"{where}.born")
    rows = document_parts.read_table(fields["rows"], f"{where}.rows", None, n_columns)
    columns = strict.fields(fields["log"], f"{where}.log", tuple(LOG))
    most = {"row": rows.shape[0] - 1, "label": max(vectors, 2) - 1, "rival": vectors - 1}
    updates = len(strict.listed(columns["row"], f"{where}.log.row"))
    log = np.empty((updates, LOGGED))
    for name, largest in most.items():
        log[:, LOG[name]] = counts(columns[name], f"{where}.log.{name}", largest, updates)
    for name in MOMENTS:
        log[:, LOG[name]] = floats(columns[name], f"{where}.log.{name}", updates)
    if (log[:, STEP] < 0).any():
        raise ModelError(f"{where}.log.step has numbers below 0.")
    if vectors > 1 and (log[:, LABEL] == log[:, RIVAL]).any():
        raise ModelError(f"{where}.log names a class as its own rival.")
    moments = np.concatenate([[born], log[:, BORN], [learner.walked]])
    if (np.diff(moments) < 0).any() or moments[-1] <= moments[-2]:
        raise ModelError(f"{where}.log.born must grow from {born} and stay below {learner.walked}.")
    return Ballot(first, born, rows, log, learner.walked, learner.bias)


def _read_random(value: Any, where: str) -> Document:
    """The state of NumPy's generator PCG64."""
    fields = record(state=strict.natural, inc=strict.natural, spare=optional(strict.natural))(value, where)
    state, inc, spare = fields["state"], fields["inc"], fields["spare"] or 0
    if max(state, inc) >= 1 << 128 or spare >= 1 << 32:
        raise ModelError(f"{where} is not a state of PCG64: its numbers have more than 128 bits.")
    return {
        "bit_generator": "PCG64",
        "state": {"state": state, "inc": inc},
        "has_uint32": int(fields["spare"] is not None),
        "uinteger": spare,
    }


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
        _write_perceptron,
        _read_perceptron,
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
