"""An `OnlinePerceptron` as a document of plain JSON values, and back: a stream resumes as if never interrupted.

Only the weights that are not 0 are written: hashed text uses few of its columns. docs/model-format.md names every
field.
"""

from dataclasses import asdict
from typing import Any, get_args

import numpy as np

from linsep._version import __version__
from linsep.errors import ModelError
from linsep.learners.kept_weights import Weights
from linsep.learners.online_perceptron import MOST_WEIGHTS, Counts, OnlineKeep, OnlinePerceptron
from linsep.learners.perceptron import Rule
from linsep.sources.hashing import MOST_BITS
from linsep.storage import strict
from linsep.storage.strict import LABELS, Document, Reader, count, each, flag, number, optional, record, text, word

KIND = "online-perceptron"


def document_of(model: OnlinePerceptron) -> Document:
    """The whole state of the stream."""
    learner = model.learner
    if learner is None:
        raise ModelError("there is nothing to write: the model has not learned from any row.")
    return {
        "kind": KIND,
        "keep": model.keep,
        "rule": model.rule,
        "C": model.C,
        "bias": model.bias,
        "bits": model.bits,
        "width": learner.weights.W.shape[1],
        "columns": None if model.columns is None else list(model.columns),
        "label": model.label,
        "labels": _write_labels(model.classes),
        "gamma": model.gamma,
        "counts": asdict(model.counts),
        "longest": model.longest,
        "weights": _write_weights(learner.weights),
        "lag": _write_weights(learner.lag),
        "spread": None if learner.spread is None else _write_weights(learner.spread, 1.0),
        "linsep": __version__,
    }


def _write_labels(classes: list[Any]) -> Document:
    for kind, (type_, _) in LABELS.items():
        if all(type(label) is type_ for label in classes):
            return {"type": kind, "values": [str(label) if kind == "integer" else label for label in classes]}
    seen = ", ".join(sorted({type(label).__name__ for label in classes}))
    raise ModelError(f"labels of the types {seen} cannot be written: use one of text, integers, floats or booleans.")


def _write_weights(weights: Weights, rest: float = 0.0) -> list[Document]:
    rows = []
    for w, b in zip(weights.W, weights.b.tolist(), strict=True):
        places = np.flatnonzero(w != rest)
        rows.append({"b": b, "places": places.tolist(), "values": w[places].tolist()})
    return rows


def model_of(document: Document) -> OnlinePerceptron:
    """The model of a document of this kind, or a ModelError saying which field is wrong."""
    found = record(**FIELDS)(document, "")
    if found["gamma"] is not None and found["rule"] != "perceptron":
        raise ModelError(f"gamma is {found['gamma']}: only the rule 'perceptron' has one.")
    options = {name: found[name] for name in ("keep", "rule", "C", "bias", "bits", "gamma")}
    model = OnlinePerceptron(**options)
    model.label, model.columns = found["label"], found["columns"]
    classes, width = found["labels"], found["width"]
    if model.bits is not None and width != 1 << model.bits:
        raise ModelError(f"width is {width}: {model.bits} bits make {1 << model.bits} columns.")
    rows = len(classes) if len(classes) > 2 else 1
    if width < 1 or rows * width > MOST_WEIGHTS:
        raise ModelError(f"width is {width}: {rows} rows of weights must have from 1 to {MOST_WEIGHTS} together.")
    if model.columns is not None:
        strict.listed(document["columns"], "columns", width)
    weights = _in_place(found["weights"], "weights", (rows, width), model.bias)
    lag = _in_place(found["lag"], "lag", (rows if model.keep == "average" else 0, width), model.bias)
    if (found["spread"] is None) != (model.rule != "arow"):
        raise ModelError(f"spread must be there with the rule 'arow' alone; the rule is {model.rule!r}.")
    spread = None if found["spread"] is None else _in_place(found["spread"], "spread", (rows, width), True, 1.0)
    model.restore(classes, found["counts"], found["longest"], weights, lag, spread)
    return model


def _counts(value: Any, where: str) -> Counts:
    counts = Counts(**record(rows=count, mistakes=count, updates=count)(value, where))
    for name in ("mistakes", "updates"):
        if getattr(counts, name) > counts.rows:
            raise ModelError(f"{where}.{name} is {getattr(counts, name)}, more than the {counts.rows} rows.")
    return counts


def _labels(value: Any, where: str) -> list[Any]:
    fields = record(type=word(*LABELS), values=strict.listed)(value, where)
    labels = list(each(LABELS[fields["type"]][1])(fields["values"], f"{where}.values"))
    if (twice := strict.repeated(map(repr, labels))) is not None:
        raise ModelError(f"labels.values has {twice} twice.")
    if not labels:
        raise ModelError("labels.values is empty: a model has seen at least one class.")
    return labels


FIELDS: dict[str, Reader] = {
    "kind": word(KIND),
    "keep": word(*get_args(OnlineKeep)),
    "rule": word(*get_args(Rule)),
    "C": strict.positive,
    "bias": flag,
    "bits": optional(strict.whole(1, MOST_BITS)),
    "width": count,
    "columns": optional(strict.names),
    "label": optional(text),
    "labels": _labels,
    "gamma": optional(strict.positive),
    "counts": _counts,
    "longest": strict.not_negative,
    "weights": each(record(b=number, places=strict.counts, values=strict.floats)),
    "lag": each(record(b=number, places=strict.counts, values=strict.floats)),
    "spread": optional(
        each(record(b=strict.not_negative, places=strict.counts, values=strict.each(strict.not_negative)))
    ),
    "linsep": text,
}


def _in_place(
    given: tuple[Document, ...], where: str, shape: tuple[int, int], bias: bool, rest: float = 0.0
) -> Weights:
    """The rows of weights, after a check that everything fits."""
    if len(given) != shape[0]:
        raise ModelError(f"{where} has {len(given)} rows of weights: these options and labels need {shape[0]}.")
    for k, row in enumerate(given):
        _require_fit(row, f"{where}[{k}]", shape[1], bias)
    W, b = np.full(shape, rest), np.zeros(shape[0])
    for k, row in enumerate(given):
        W[k, row["places"]], b[k] = row["values"], row["b"]
    return Weights(W, b)


def _require_fit(row: Document, where: str, width: int, bias: bool) -> None:
    places, values = row["places"], row["values"]
    if row["b"] and not bias:
        raise ModelError(f"{where}.b is {row['b']} although bias is false.")
    if len(places) != len(values):
        raise ModelError(f"{where} has {len(places)} places but {len(values)} values.")
    if (np.diff(places) <= 0).any():
        raise ModelError(f"{where}.places must increase.")
    if places.max(initial=0) >= width:
        raise ModelError(f"{where}.places holds {places.max()}: it can be {width - 1} at most.")
