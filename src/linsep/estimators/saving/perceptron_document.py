"""The document of a PerceptronClassifier: the weights that predict, and the run, so that a stream can go on."""

from functools import partial
from typing import Any, get_args

import numpy as np

from linsep.errors import ModelError
from linsep.estimators.perceptron_classifier import PerceptronClassifier
from linsep.estimators.saving import document_parts
from linsep.estimators.score_classifier import ScoreClassifier
from linsep.loops.sweeps import BORN, LABEL, RIVAL, ROW
from linsep.solvers.kept_weights import Ballot, Pocket, Weights
from linsep.solvers.perceptron import Keep, Perceptron, WalkOrder
from linsep.storage import strict
from linsep.storage.strict import Document, count, optional, record

FIELDS = (*document_parts.COMMON, "dtype", "coef", "intercept", "mistakes_per_row", "rule", "runs")
LOG = {"row": ROW, "label": LABEL, "rival": RIVAL, "born": BORN}
KEEP, ORDER = strict.word(*get_args(Keep)), strict.word(*get_args(WalkOrder))


PARAMETERS = {
    "keep": KEEP,
    "order": ORDER,
    "multiclass": strict.word("joint", "ovr"),
    "margin": document_parts.number,
    "max_passes": document_parts.positive,
    "bias": strict.flag,
    "random_state": optional(strict.natural),
}


def write(estimator: PerceptronClassifier) -> Document:
    """The classifier as a document. The rule is that of the run: parameters may have been set since."""
    first, counts = estimator._learners[0], estimator.mistakes_per_row_
    return {
        **document_parts.write_common(estimator, PARAMETERS),
        "dtype": estimator.coef_.dtype.name,
        "coef": estimator.coef_.tolist(),
        "intercept": estimator.intercept_.tolist(),
        "mistakes_per_row": None if counts is None else document_parts.write_mistakes(counts),
        "rule": {"keep": first.keep, "order": first.order, "bias": bool(first.bias), "margin": first.margin},
        "runs": [_write_run(learner) for learner in estimator._learners],
    }


def _write_run(learner: Perceptron) -> Document:
    pocket, ballot, state = learner.pocket, learner.ballot, learner.random.bit_generator.state
    return {
        "weights": _write_weights(learner.weights),
        "lag": _write_weights(learner.lag) if learner.keep == "average" else None,
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


def _write_ballot(ballot: Ballot) -> Document:
    log = {name: ballot.log[:, place].tolist() for name, place in LOG.items()}
    return {
        "first": _write_weights(ballot.first),
        "born": ballot.born,
        "rows": document_parts.write_table(ballot.rows),
        "log": log,
    }


def read(document: Document) -> ScoreClassifier:
    """The classifier of a document."""
    strict.fields(document, "", FIELDS)
    estimator = document_parts.read_common(document, PerceptronClassifier, PARAMETERS)
    n_classes, n_columns = len(estimator.classes_), estimator.n_features_in_
    dtype = strict.word(*document_parts.FLOATS)(document["dtype"], "dtype")
    vectors = 1 if n_classes == 2 else n_classes
    coef = strict.matrix(document["coef"], "coef", vectors, n_columns)  # first: from here on the counts are true
    estimator.coef_ = document_parts.in_type(coef, dtype, "coef")
    estimator.intercept_ = document_parts.in_type(
        strict.floats(document["intercept"], "intercept", vectors), dtype, "intercept"
    )
    runs = strict.listed(document["runs"], "runs")
    estimator._is_ovr = n_classes > 2 and len(runs) > 1
    strict.listed(runs, "runs", n_classes if estimator._is_ovr else 1)
    estimator._learners = [
        _read_run(run, f"runs[{k}]", _blank(document["rule"], 2 if estimator._is_ovr else n_classes, n_columns))
        for k, run in enumerate(runs)
    ]
    document_parts.read_mistakes(estimator, document["mistakes_per_row"], problems=1)
    estimator._count()
    return estimator  # type: ignore[no-any-return]


def _blank(rule: Any, n_classes: int, n_columns: int) -> Perceptron:
    """A run that has not begun."""
    fields = record(keep=KEEP, order=ORDER, bias=strict.flag, margin=strict.not_negative)(rule, "rule")
    return Perceptron(n_classes, n_columns, **fields, seed=0)


def _read_run(value: Any, where: str, learner: Perceptron) -> Perceptron:
    shape = learner.weights.W.shape
    weights = partial(_read_weights, shape=shape)
    fields = record(
        weights=weights,
        lag=optional(weights),
        pocket=optional(record(weights=weights, survived=count, mistakes=count)),
        ballot=optional(strict.mapping),
        walked=count,
        survived=count,
        updates=count,
        passes=count,
        converged=strict.flag,
        random=_read_random,
    )(value, where)
    for name, keep in (("lag", "average"), ("pocket", "best"), ("ballot", "vote")):
        if (fields[name] is None) == (learner.keep == keep):
            raise ModelError(f"{where}.{name} must be there with keep {keep!r} alone; keep is {learner.keep!r}.")
    learner.weights, learner.walked, learner.run = fields["weights"], fields["walked"], fields["survived"]
    learner.updates, learner.passes, learner.converged = fields["updates"], fields["passes"], fields["converged"]
    for name in ("survived", "updates"):
        count(fields[name], f"{where}.{name}", learner.walked)
    if learner.keep == "average":
        learner.lag = fields["lag"]
    if learner.keep == "best":
        pocket = fields["pocket"]
        survived = count(pocket["survived"], f"{where}.pocket.survived", learner.walked)
        learner.pocket = Pocket(pocket["weights"], survived, pocket["mistakes"])
    if learner.keep == "vote":
        learner.ballot = _read_ballot(fields["ballot"], f"{where}.ballot", learner)
    learner.random.bit_generator.state = fields["random"]
    return learner


def _read_weights(value: Any, where: str, shape: tuple[int, ...]) -> Weights:
    vectors, n_columns = shape
    matrix = partial(strict.matrix, rows=vectors, columns=n_columns)
    return Weights(**record(W=matrix, b=partial(strict.floats, length=vectors))(value, where))


def _read_ballot(value: Any, where: str, learner: Perceptron) -> Ballot:
    """The voters. Every position is checked: the compiled count of the votes trusts them."""
    vectors, n_columns = learner.weights.W.shape
    fields = strict.fields(value, where, ("first", "born", "rows", "log"))
    first = _read_weights(fields["first"], f"{where}.first", (vectors, n_columns))
    born = count(fields["born"], f"{where}.born", max(0, learner.walked - 1))
    rows = document_parts.read_table(fields["rows"], f"{where}.rows", None, n_columns)
    columns = strict.fields(fields["log"], f"{where}.log", tuple(LOG))
    most = {"row": rows.shape[0] - 1, "label": max(vectors, 2) - 1, "rival": vectors - 1, "born": learner.walked - 1}
    updates = len(strict.listed(columns["row"], f"{where}.log.row"))
    log = np.empty((updates, len(LOG)), np.int64)
    for name, place in LOG.items():
        log[:, place] = strict.counts(columns[name], f"{where}.log.{name}", most[name], updates)
    if vectors > 1 and (log[:, LABEL] == log[:, RIVAL]).any():
        raise ModelError(f"{where}.log names a class as its own rival.")
    if (np.diff(log[:, BORN], prepend=born) < 0).any() or learner.walked <= born:
        raise ModelError(f"{where}.log.born must grow from {born} to at most {learner.walked - 1}.")
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
