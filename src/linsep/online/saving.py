"""An `OnlinePerceptron` as a document of plain JSON values, and back: a stream goes on as if never interrupted.

Only the weights that are not 0 are written: hashed text uses few of its columns. docs/model-format.md names every
field.
"""

from dataclasses import asdict
from typing import Any, get_args

import numpy as np

from linsep._version import __version__
from linsep.errors import ModelError
from linsep.models import strict
from linsep.models.halfspaces import LABELS
from linsep.models.strict import Document
from linsep.online.perceptron import MOST_WEIGHTS, Counts, OnlineKeep, OnlinePerceptron
from linsep.solvers.keeping import Weights
from linsep.sources.hashing import MOST_BITS

KIND = "online-perceptron"
FIELDS = (
    "kind", "keep", "bias", "bits", "width", "columns", "label", "labels", "gamma", "counts", "longest", "weights",
    "lag", "linsep",
)  # fmt: skip


def document_of(model: OnlinePerceptron) -> Document:
    """The whole state of the stream."""
    learner = model.learner
    if learner is None:
        raise ModelError("there is nothing to write: no row was learned from.")
    return {
        "kind": KIND,
        "keep": model.keep,
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
        "linsep": __version__,
    }


def model_of(document: Document) -> OnlinePerceptron:
    """The model of a document of this kind, or a ModelError saying which field is wrong."""
    fields = strict.fields(document, "the model", FIELDS)
    model = _read_options(fields)
    _read_state(model, fields)
    return model


def _read_options(fields: Document) -> OnlinePerceptron:
    keep: Any = strict.one_of(fields["keep"], "keep", get_args(OnlineKeep))
    bits = None if fields["bits"] is None else strict.count(fields["bits"], "bits", MOST_BITS)
    if bits == 0:
        raise ModelError("bits is 0: a hash has at least one.")
    gamma = None if fields["gamma"] is None else strict.number(fields["gamma"], "gamma")
    if gamma is not None and gamma <= 0:
        raise ModelError(f"gamma is {gamma}: a margin is above 0.")
    strict.text(fields["linsep"], "linsep")
    model = OnlinePerceptron(keep=keep, bias=strict.flag(fields["bias"], "bias"), bits=bits, gamma=gamma)
    model.label = None if fields["label"] is None else strict.text(fields["label"], "label")
    return model


def _read_state(model: OnlinePerceptron, fields: Document) -> None:
    classes, width = _read_labels(fields["labels"]), strict.count(fields["width"], "width")
    if model.bits is not None and width != 1 << model.bits:
        raise ModelError(f"width is {width}: {model.bits} bits make {1 << model.bits} columns.")
    rows = len(classes) if len(classes) > 2 else 1
    if width < 1 or rows * width > MOST_WEIGHTS:
        raise ModelError(f"width is {width}: {rows} rows of weights must have from 1 to {MOST_WEIGHTS} together.")
    counts = _read_counts(fields["counts"])
    longest = strict.number(fields["longest"], "longest")
    if longest < 0:
        raise ModelError(f"longest is {longest}: a squared length is not negative.")
    weights = _read_weights(fields["weights"], "weights", rows, width, model.bias)
    lag = _read_weights(fields["lag"], "lag", rows if model.keep == "average" else 0, width, model.bias)
    if fields["columns"] is not None:
        strict.listed(fields["columns"], "columns", width)
        model.columns = strict.names(fields["columns"], "columns")
    model.restore(classes, counts, longest, weights, lag)


def _read_counts(value: Any) -> Counts:
    fields = strict.fields(value, "counts", ("rows", "mistakes", "updates"))
    counts = Counts(**{name: strict.count(number, f"counts.{name}") for name, number in fields.items()})
    for name in ("mistakes", "updates"):
        if fields[name] > counts.rows:
            raise ModelError(f"counts.{name} is {fields[name]}, more than the {counts.rows} rows.")
    return counts


def _write_labels(classes: list[Any]) -> Document:
    for kind, (type_, _) in LABELS.items():
        if all(type(label) is type_ for label in classes):
            return {"type": kind, "values": [str(label) if kind == "integer" else label for label in classes]}
    seen = ", ".join(sorted({type(label).__name__ for label in classes}))
    raise ModelError(f"labels of the types {seen} cannot be written: use one of text, integers, floats or booleans.")


def _read_labels(value: Any) -> list[Any]:
    fields = strict.fields(value, "labels", ("type", "values"))
    _, read = LABELS[strict.one_of(fields["type"], "labels.type", LABELS)]
    values = strict.listed(fields["values"], "labels.values")
    labels = [read(label, f"labels.values[{k}]") for k, label in enumerate(values)]
    if (twice := strict.repeated(map(repr, labels))) is not None:
        raise ModelError(f"labels.values has {twice} twice.")
    if not labels:
        raise ModelError("labels.values is empty: a model has seen at least one class.")
    return labels


def _write_weights(weights: Weights) -> list[Document]:
    rows = []
    for w, b in zip(weights.W, weights.b.tolist(), strict=True):
        places = np.flatnonzero(w)
        rows.append({"b": b, "places": places.tolist(), "values": w[places].tolist()})
    return rows


def _read_weights(value: Any, where: str, rows: int, width: int, bias: bool) -> Weights:
    given = strict.listed(value, where)
    if len(given) != rows:
        raise ModelError(f"{where} has {len(given)} rows of weights: these options and labels need {rows}.")
    read = [_read_row(row, f"{where}[{k}]", width, bias) for k, row in enumerate(given)]
    W, b = np.zeros((rows, width)), np.zeros(rows)  # room for them only once all is known to fit
    for k, (offset, places, values) in enumerate(read):
        W[k, places], b[k] = values, offset
    return Weights(W, b)


def _read_row(value: Any, where: str, width: int, bias: bool) -> tuple[float, strict.Ints, strict.Floats]:
    fields = strict.fields(value, where, ("b", "places", "values"))
    offset = strict.number(fields["b"], f"{where}.b")
    if offset and not bias:
        raise ModelError(f"{where}.b is {offset} although bias is false.")
    places = strict.counts(fields["places"], f"{where}.places", width - 1)
    values = strict.floats(fields["values"], f"{where}.values")
    if len(places) != len(values):
        raise ModelError(f"{where} has {len(places)} places and {len(values)} values: they must be as many.")
    if (np.diff(places) <= 0).any():
        raise ModelError(f"{where}.places must rise.")
    return offset, places, values
