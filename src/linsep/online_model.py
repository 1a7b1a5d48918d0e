"""An `OnlinePerceptron` as a file: versioned JSON from which the stream can go on, read back strictly.

    {"format": "linsep-online", "version": 1, ...}     docs/model-format.md names every field

Only the weights that are not 0 are written: hashed text uses few of its columns.
"""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any, get_args

import numpy as np

from linsep import __version__
from linsep.errors import ModelError
from linsep.models import (
    _COUNT_LIMIT,
    _LABELS,
    MAX_BYTES,
    _count,
    _fields,
    _flag,
    _float,
    _list,
    _object,
    _parse,
    _read_columns,
    _shown,
    _text,
    repeated,
    write_file,
)
from linsep.solvers.keeping import Weights
from linsep.solvers.online import MOST_WEIGHTS, Counts, OnlineKeep, OnlinePerceptron
from linsep.sources.hashing import MOST_BITS

FORMAT, VERSION = "linsep-online", 1
FIELDS = (
    "format", "version", "keep", "bias", "bits", "width", "columns", "label", "labels", "gamma", "counts", "longest",
    "weights", "lag", "linsep",
)  # fmt: skip
START = f'{{\n "format": "{FORMAT}",'.encode()  # how every such file begins


def to_json(model: OnlinePerceptron, label: str | None = None) -> str:
    """The model as text; `label` is the name of the column it learned from."""
    learner = model.learner
    if learner is None:
        raise ModelError("there is nothing to write: no row was learned from.")
    document = {
        "format": FORMAT,
        "version": VERSION,
        "keep": model.keep,
        "bias": model.bias,
        "bits": model.bits,
        "width": learner.weights.W.shape[1],
        "columns": None if model.columns is None else list(model.columns),
        "label": label,
        "labels": _write_labels(model.classes),
        "gamma": model.gamma,
        "counts": asdict(model.counts),
        "longest": model.longest,
        "weights": _write_weights(learner.weights),
        "lag": _write_weights(learner.lag),
        "linsep": __version__,
    }
    return json.dumps(document, allow_nan=False, indent=1, ensure_ascii=False) + "\n"


def save(model: OnlinePerceptron, path: str | Path, label: str | None = None) -> None:
    """Write the model; a crash leaves either the old file or the new one, never half of one."""
    content = to_json(model, label).encode()
    if len(content) > MAX_BYTES:
        raise ModelError(f"{path}: not written: the model takes {len(content) >> 20} MiB, more than a file may have.")
    write_file(path, content)


def from_json(text: str) -> tuple[OnlinePerceptron, str | None]:
    """Read a model and the name of its label column, or raise ModelError saying which field is wrong."""
    document = _object(_parse(text), "the model")
    if document.get("format") != FORMAT:
        raise ModelError(
            f"format is {_shown(document.get('format'))}, not {FORMAT!r}: this is no model of linsep learn."
        )
    if document.get("version") != VERSION or isinstance(document["version"], (bool, float)):
        version = _shown(document.get("version"))
        raise ModelError(f"version is {version}: this linsep reads version {VERSION}. Use a newer linsep.")
    fields = _fields(document, "the model", FIELDS)
    model = _read_options(fields)
    _read_state(model, fields)
    return model, None if fields["label"] is None else _text(fields["label"], "label")


def load(path: str | Path) -> tuple[OnlinePerceptron, str | None]:
    """Read a model file. Errors begin with its name."""
    try:
        with Path(path).open("rb") as file:
            content = file.read(MAX_BYTES + 1)
        if len(content) > MAX_BYTES:
            raise ModelError(f"larger than {MAX_BYTES >> 20} MiB, the most a model may have.")
        return from_json(content.decode())
    except OSError as error:
        raise ModelError(f"{path}: cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise ModelError(f"{path}: not a linsep model: byte {error.start} is not UTF-8 text.") from error
    except ModelError as error:
        raise ModelError(f"{path}: {error}") from error


def is_online(path: str | Path) -> bool:
    """Whether a file begins as these models do; what else is in it is for `load` to say."""
    try:
        with Path(path).open("rb") as file:
            return file.read(len(START)) == START
    except OSError:
        return False


def _read_options(fields: dict[str, Any]) -> OnlinePerceptron:
    if fields["keep"] not in get_args(OnlineKeep):
        raise ModelError(f"keep is {_shown(fields['keep'])}: it must be one of {', '.join(get_args(OnlineKeep))}.")
    bits = None if fields["bits"] is None else _count(fields["bits"], "bits")
    if bits is not None and not 1 <= bits <= MOST_BITS:
        raise ModelError(f"bits is {bits}: it must be from 1 to {MOST_BITS}.")
    gamma = None if fields["gamma"] is None else _float(fields["gamma"], "gamma")
    if gamma is not None and gamma <= 0:
        raise ModelError(f"gamma is {gamma}: a margin is above 0.")
    model = OnlinePerceptron(keep=fields["keep"], bias=_flag(fields["bias"], "bias"), bits=bits, gamma=gamma)
    _text(fields["linsep"], "linsep")
    return model


def _read_state(model: OnlinePerceptron, fields: dict[str, Any]) -> None:
    classes, width = _read_labels(fields["labels"]), _count(fields["width"], "width")
    if model.bits is not None and width != 1 << model.bits:
        raise ModelError(f"width is {width}: {model.bits} bits make {1 << model.bits} columns.")
    rows = len(classes) if len(classes) > 2 else 1
    if width < 1 or rows * width > MOST_WEIGHTS:
        raise ModelError(f"width is {width}: {rows} rows of weights must have from 1 to {MOST_WEIGHTS} together.")
    counts = _read_counts(fields["counts"])
    longest = _float(fields["longest"], "longest")
    if longest < 0:
        raise ModelError(f"longest is {longest}: a squared length is not negative.")
    weights = _read_weights(fields["weights"], "weights", rows, width, model.bias)
    lag = _read_weights(fields["lag"], "lag", rows if model.keep == "average" else 0, width, model.bias)
    if fields["columns"] is not None:
        model.columns = _read_columns(fields["columns"], width)
    model.restore(classes, counts, longest, weights, lag)


def _read_counts(value: Any) -> Counts:
    fields = _fields(value, "counts", ("rows", "mistakes", "updates"))
    counts = Counts(**{name: _count(number, f"counts.{name}") for name, number in fields.items()})
    for name in ("mistakes", "updates"):
        if getattr(counts, name) > counts.rows:
            raise ModelError(f"counts.{name} is {getattr(counts, name)}, more than the {counts.rows} rows.")
    return counts


def _write_labels(classes: list[Any]) -> dict[str, Any]:
    for kind, (type_, _) in _LABELS.items():
        if all(type(label) is type_ for label in classes):
            return {"type": kind, "values": [str(label) if kind == "integer" else label for label in classes]}
    seen = ", ".join(sorted({type(label).__name__ for label in classes}))
    raise ModelError(f"labels of the types {seen} cannot be written: use one of text, integers, floats or booleans.")


def _read_labels(value: Any) -> list[Any]:
    fields = _fields(value, "labels", ("type", "values"))
    kind = fields["type"]
    if not isinstance(kind, str) or kind not in _LABELS:
        raise ModelError(f"labels.type is {_shown(kind)}: it must be one of {', '.join(_LABELS)}.")
    _, read = _LABELS[kind]
    labels = [read(label, f"labels.values[{k}]") for k, label in enumerate(_list(fields["values"], "labels.values"))]
    if (twice := repeated(map(repr, labels))) is not None:
        raise ModelError(f"labels.values has {twice} twice.")
    if not labels:
        raise ModelError("labels.values is empty: a model has seen at least one class.")
    return labels


def _write_weights(weights: Weights) -> list[dict[str, Any]]:
    rows = []
    for w, b in zip(weights.W, weights.b.tolist(), strict=True):
        places = np.flatnonzero(w)
        rows.append({"b": b, "places": places.tolist(), "values": w[places].tolist()})
    return rows


def _read_weights(value: Any, where: str, rows: int, width: int, bias: bool) -> Weights:
    given = _list(value, where)
    if len(given) != rows:
        raise ModelError(f"{where} has {len(given)} rows of weights: these options and labels need {rows}.")
    read = [_read_row(row, f"{where}[{k}]", width, bias) for k, row in enumerate(given)]
    W, b = np.zeros((rows, width)), np.zeros(rows)  # room for them only once all is known to fit
    for k, (offset, places, values) in enumerate(read):
        W[k, places], b[k] = values, offset
    return Weights(W, b)


def _read_row(value: Any, where: str, width: int, bias: bool) -> tuple[float, list[int], list[float]]:
    fields = _fields(value, where, ("b", "places", "values"))
    offset = _float(fields["b"], f"{where}.b")
    if offset and not bias:
        raise ModelError(f"{where}.b is {offset} although bias is false.")
    places = [
        _count(place, f"{where}.places[{k}]") for k, place in enumerate(_list(fields["places"], f"{where}.places"))
    ]
    values = [
        _float(number, f"{where}.values[{k}]") for k, number in enumerate(_list(fields["values"], f"{where}.values"))
    ]
    if len(places) != len(values):
        raise ModelError(f"{where} has {len(places)} places and {len(values)} values: they must be as many.")
    if any(a >= b for a, b in zip([-1, *places], [*places, min(width, _COUNT_LIMIT)], strict=True)):
        raise ModelError(f"{where}.places must rise, from 0 to at most {width - 1}.")
    return offset, places, values
