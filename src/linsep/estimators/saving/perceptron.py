"""The document of a PerceptronClassifier: the weights that predict, and the run, so that a stream can go on."""

from typing import Any, get_args

import numpy as np

from linsep.errors import ModelError
from linsep.estimators.base import ScoreClassifier
from linsep.estimators.perceptron import PerceptronClassifier
from linsep.estimators.saving import parts
from linsep.kernels.learning import BORN, LABEL, RIVAL, ROW
from linsep.solvers.keeping import Ballot, Pocket, Weights
from linsep.solvers.perceptron import Keep, Perceptron, WalkOrder
from linsep.storage import strict
from linsep.storage.strict import Document

FIELDS = (*parts.COMMON, "dtype", "coef", "intercept", "mistakes_per_row", "rule", "runs")
RUN = ("weights", "lag", "pocket", "ballot", "walked", "survived", "updates", "passes", "converged", "random")
LOG = {"row": ROW, "label": LABEL, "rival": RIVAL, "born": BORN}
KEEP, ORDER = strict.word(*get_args(Keep)), strict.word(*get_args(WalkOrder))


PARAMETERS = {
    "keep": KEEP,
    "order": ORDER,
    "multiclass": strict.word("joint", "ovr"),
    "margin": parts.number,
    "max_passes": parts.positive,
    "bias": strict.flag,
    "random_state": strict.optional(strict.natural),
}


def write(estimator: PerceptronClassifier) -> Document:
    """The classifier as a document. The rule is that of the run: parameters may have been set since."""
    first, counts = estimator._learners[0], estimator.mistakes_per_row_
    return {
        **parts.write_common(estimator, PARAMETERS),
        "dtype": estimator.coef_.dtype.name,
        "coef": estimator.coef_.tolist(),
        "intercept": estimator.intercept_.tolist(),
        "mistakes_per_row": None if counts is None else parts.write_mistakes(counts),
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
        "rows": parts.write_table(ballot.rows),
        "log": log,
    }


def read(document: Document) -> ScoreClassifier:
    """The classifier of a document."""
    strict.fields(document, "", FIELDS)
    estimator = parts.read_common(document, PerceptronClassifier, PARAMETERS)
    n_classes, n_columns = len(estimator.classes_), estimator.n_features_in_
    dtype = strict.word(*parts.FLOATS)(document["dtype"], "dtype")
    vectors = 1 if n_classes == 2 else n_classes
    coef = strict.matrix(document["coef"], "coef", vectors, n_columns)  # first: from here on the counts are true
    estimator.coef_ = parts.in_type(coef, dtype, "coef")
    estimator.intercept_ = parts.in_type(strict.floats(document["intercept"], "intercept", vectors), dtype, "intercept")
    runs = strict.listed(document["runs"], "runs")
    estimator._is_ovr = n_classes > 2 and len(runs) > 1
    strict.listed(runs, "runs", n_classes if estimator._is_ovr else 1)
    estimator._learners = [
        _read_run(run, f"runs[{k}]", _blank(document["rule"], 2 if estimator._is_ovr else n_classes, n_columns))
        for k, run in enumerate(runs)
    ]
    parts.read_mistakes(estimator, document["mistakes_per_row"], problems=1)
    estimator._count()
    return estimator  # type: ignore[no-any-return]


def _blank(rule: Any, n_classes: int, n_columns: int) -> Perceptron:
    """A run that has not begun."""
    fields = strict.fields(rule, "rule", ("keep", "order", "bias", "margin"))
    margin = strict.number(fields["margin"], "rule.margin")
    if margin < 0:
        raise ModelError(f"rule.margin is {margin}: it must be 0 or more.")
    return Perceptron(
        n_classes,
        n_columns,
        keep=KEEP(fields["keep"], "rule.keep"),
        order=ORDER(fields["order"], "rule.order"),
        bias=strict.flag(fields["bias"], "rule.bias"),
        margin=margin,
        seed=0,
    )


def _read_run(value: Any, where: str, learner: Perceptron) -> Perceptron:
    fields = strict.fields(value, where, RUN)
    for name, keep in (("lag", "average"), ("pocket", "best"), ("ballot", "vote")):
        if (fields[name] is None) == (learner.keep == keep):
            raise ModelError(f"{where}.{name} goes with keep {keep!r}, and there it must be; keep is {learner.keep!r}.")
    shape = learner.weights.W.shape
    learner.weights = _read_weights(fields["weights"], f"{where}.weights", shape)
    learner.walked = strict.count(fields["walked"], f"{where}.walked")
    learner.run = strict.count(fields["survived"], f"{where}.survived", learner.walked)
    learner.updates = strict.count(fields["updates"], f"{where}.updates", learner.walked)
    learner.passes = strict.count(fields["passes"], f"{where}.passes")
    learner.converged = strict.flag(fields["converged"], f"{where}.converged")
    if learner.keep == "average":
        learner.lag = _read_weights(fields["lag"], f"{where}.lag", shape)
    if learner.keep == "best":
        pocket = strict.fields(fields["pocket"], f"{where}.pocket", ("weights", "survived", "mistakes"))
        learner.pocket = Pocket(
            _read_weights(pocket["weights"], f"{where}.pocket.weights", shape),
            strict.count(pocket["survived"], f"{where}.pocket.survived", learner.walked),
            strict.count(pocket["mistakes"], f"{where}.pocket.mistakes"),
        )
    if learner.keep == "vote":
        learner.ballot = _read_ballot(fields["ballot"], f"{where}.ballot", learner)
    _read_random(fields["random"], f"{where}.random", learner.random)
    return learner


def _read_weights(value: Any, where: str, shape: tuple[int, ...]) -> Weights:
    fields = strict.fields(value, where, ("W", "b"))
    return Weights(
        strict.matrix(fields["W"], f"{where}.W", shape[0], shape[1]), strict.floats(fields["b"], f"{where}.b", shape[0])
    )


def _read_ballot(value: Any, where: str, learner: Perceptron) -> Ballot:
    """The voters. Every position is checked: the compiled count of the votes trusts them."""
    vectors, n_columns = learner.weights.W.shape
    fields = strict.fields(value, where, ("first", "born", "rows", "log"))
    first = _read_weights(fields["first"], f"{where}.first", (vectors, n_columns))
    born = strict.count(fields["born"], f"{where}.born", max(0, learner.walked - 1))
    rows = parts.read_table(fields["rows"], f"{where}.rows", None, n_columns)
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


def _read_random(value: Any, where: str, random: np.random.Generator) -> None:
    fields = strict.fields(value, where, ("state", "inc", "spare"))
    state, inc = (strict.natural(fields[name], f"{where}.{name}") for name in ("state", "inc"))
    spare = 0 if fields["spare"] is None else strict.natural(fields["spare"], f"{where}.spare")
    if max(state, inc) >= 1 << 128 or spare >= 1 << 32:
        raise ModelError(f"{where} is not a state of PCG64: its numbers have more than 128 bits.")
    random.bit_generator.state = {
        "bit_generator": "PCG64",
        "state": {"state": state, "inc": inc},
        "has_uint32": int(fields["spare"] is not None),
        "uinteger": spare,
    }
