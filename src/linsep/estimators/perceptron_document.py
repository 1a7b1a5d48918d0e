"""A fitted Perceptron as a document and back: the weights that predict, and the run, so that a stream can resume."""

from functools import partial
from typing import Any, get_args

import numpy as np

from linsep.errors import ArgumentError, ModelError
from linsep.estimators import document_parts
from linsep.estimators.perceptron_classifier import PerceptronClassifier
from linsep.learners.kept_weights import Ballot, Pocket, Weights
from linsep.learners.perceptron import Keep, Perceptron, Rule, WalkOrder
from linsep.loops.update_log import BORN, LABEL, LOGGED, RIVAL, ROW, STEP
from linsep.storage import strict
from linsep.storage.strict import Document, count, counts, flag, floats, optional, record, word

KEEP, ORDER, RULE = word(*get_args(Keep)), word(*get_args(WalkOrder)), word(*get_args(Rule))
LOG = {"row": ROW, "label": LABEL, "rival": RIVAL, "born": BORN, "step": STEP}

MOMENTS = ("born", "step")  # entries of a log that are fractions where rows have weights


def write_perceptron(estimator: PerceptronClassifier) -> Document:
    """The weights and the runs. The rule is that of the run: the parameters may have been changed since."""
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


def read_perceptron(estimator: Any, document: Document) -> None:
    """Put the weights and the runs of a document into a classifier that has its parameters and classes."""
    n_classes, n_columns = len(estimator.classes_), estimator.n_features_in_
    vectors = document_parts.hyperplanes(estimator)
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
    if isinstance(learner.walked, int):  # a row of a weight below 1 adds less than 1 to it
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
    """A number of rows, or the sum of their weights."""
    strict.not_negative(value, where)
    return value if isinstance(value, int) else float(value)


def _read_weights(value: Any, where: str, shape: tuple[int, ...]) -> Weights:
    vectors, n_columns = shape
    matrix = partial(strict.matrix, rows=vectors, columns=n_columns)
    return Weights(**record(W=matrix, b=partial(floats, length=vectors))(value, where))


def _read_ballot(value: Any, where: str, learner: Perceptron) -> Ballot:
    """The voters. Every position is checked, since the compiled loop that counts votes does not."""
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
        raise ModelError(f"{where}.log.born must increase from {born} and stay below {learner.walked}.")
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
