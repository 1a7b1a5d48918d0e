"""A trained halfspace as a file: the model that `linsep fit` writes, of the kind "halfspace"."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from linsep.errors import ModelError, shown, told
from linsep.halfspace import Halfspace
from linsep.models import strict
from linsep.models.files import read_file, write_model
from linsep.tables import as_double

KIND = "halfspace"
ORDERS = ("cyclic", "restart", "shuffled", "worst")

Label: TypeAlias = bool | int | float | str


@dataclass(frozen=True, slots=True)
class Training:
    """How the halfspace came about. `converged` says that a whole pass found no mistake."""

    rows: int
    mistakes: int
    updates: int
    passes: int
    converged: bool
    order: str
    seed: int
    linsep: str


@dataclass(frozen=True, slots=True)
class Model:
    """A halfspace with the names of its columns, the label column it learned from, and how it was trained.

    `columns` is None where the file had no names; `label` is then a position instead of a name, or None.
    """

    halfspace: Halfspace
    bias: bool
    columns: tuple[str, ...] | None
    label: str | int | None
    training: Training

    def to_json(self) -> str:
        """The model as text."""
        numbers, write = self._numbers()
        document = {
            "kind": KIND,
            "numbers": numbers,
            "w": [write(value) for value in self.halfspace.w.tolist()],
            "b": write(self.halfspace.b),
            "bias": self.bias,
            "labels": _write_labels(self.halfspace.labels),
            "columns": None if self.columns is None else list(self.columns),
            "label": self.label,
            "training": {**asdict(self.training), "seed": str(self.training.seed)},
        }
        return strict.write(document)

    def _numbers(self) -> tuple[str, Callable[[Any], str | float]]:
        """Whether the file holds integers of 64 bits or doubles, whichever are these weights and this bias."""
        w, b = self.halfspace.w, self.halfspace.b
        if w.dtype.kind == "i" and isinstance(b, int) and -(2**63) <= b < 2**63:
            return "integer", str
        wrong = next((value for value in (*w.tolist(), b) if as_double(value) is None), None)
        if wrong is not None:
            raise ModelError(f"{shown(wrong)} stands beside floats, and no double is that: the file would round it.")
        return "float", float

    def save(self, path: str | Path) -> None:
        """Write the model; a crash leaves either the old file or the new one, never half of one."""
        write_model(path, self.to_json())


def from_json(text: str) -> Model:
    """Read a model, or raise ModelError saying which field is wrong.

    >>> from linsep.models import from_json
    >>> from_json('{"format": "linsep-model", "version": 2}')
    Traceback (most recent call last):
      ...
    linsep.errors.ModelError: version is 2: this linsep reads version 1. Use a newer linsep.
    """
    document = strict.read(text)
    if document.get("kind") != KIND:
        kind = shown(document.get("kind"))
        raise ModelError(f"kind is {kind}, not {KIND!r}, as `linsep fit` writes it. linsep.load reads every kind.")
    return read_halfspace(document)


def load(path: str | Path) -> Model:
    """Read a model file. Errors begin with its name."""
    return read_file(path, from_json)


def read_halfspace(document: strict.Document) -> Model:
    """The model of a document."""
    names = ("kind", "numbers", "w", "b", "bias", "labels", "columns", "label", "training")
    strict.fields(document, "the model", names)
    read, kind = _numbers(document["numbers"])
    w = [read(value, f"w[{j}]") for j, value in enumerate(strict.listed(document["w"], "w"))]
    if not w:
        raise ModelError("w is empty: a halfspace has at least one weight.")
    b, bias = read(document["b"], "b"), strict.flag(document["bias"], "bias")
    if b and not bias:
        raise ModelError(f"b is {b} although bias is false: a hyperplane through the origin has b = 0.")
    halfspace = Halfspace(np.array(w, dtype=kind), b, _read_labels(document["labels"]))
    columns = None if document["columns"] is None else _read_columns(document["columns"], len(w))
    return Model(halfspace, bias, columns, _read_label(document["label"]), _read_training(document["training"]))


def _read_training(value: Any) -> Training:
    names = ("rows", "mistakes", "updates", "passes", "converged", "order", "seed", "linsep")
    fields = strict.fields(value, "training", names)
    counts = {
        name: strict.count(fields[name], f"training.{name}") for name in ("rows", "mistakes", "updates", "passes")
    }
    if counts["mistakes"] > counts["rows"]:
        raise ModelError(f"training.mistakes is {counts['mistakes']}, more than the {counts['rows']} rows.")
    return Training(
        **counts,
        converged=strict.flag(fields["converged"], "training.converged"),
        order=strict.one_of(fields["order"], "training.order", ORDERS),
        seed=strict.natural(fields["seed"], "training.seed"),
        linsep=strict.text(fields["linsep"], "training.linsep"),
    )


def _write_labels(labels: tuple[Any, Any]) -> dict[str, Any]:
    found = {next(name for name, (type_, _) in LABELS.items() if isinstance(label, type_)) for label in labels}
    kind = "float" if len(found) > 1 else next(iter(found))
    if len(found) > 1 and (not found <= {"integer", "float"} or None in map(as_double, labels)):
        raise ModelError(f"the labels {told(labels)} are of two kinds, which no file keeps: use one for both.")
    negative, positive = (str(label) if kind == "integer" else label for label in labels)
    return {"type": kind, "negative": negative, "positive": positive}


def _read_labels(value: Any) -> tuple[Label, Label]:
    fields = strict.fields(value, "labels", ("type", "negative", "positive"))
    kind = strict.one_of(fields["type"], "labels.type", LABELS)
    _, read = LABELS[kind]
    negative, positive = (read(fields[name], f"labels.{name}") for name in ("negative", "positive"))
    if negative == positive:
        raise ModelError(f"labels.negative and labels.positive are both {shown(negative)}.")
    return negative, positive


def _read_columns(value: Any, length: int) -> tuple[str, ...]:
    columns = strict.names(value, "columns")
    if len(columns) != length:
        raise ModelError(f"columns has {len(columns)} names and w has {length} weights: they must be as many.")
    return columns


def _read_label(value: Any) -> str | int | None:
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < strict.COUNT_LIMIT:
        return value
    return None if value is None else strict.text(value, "label")


def _numbers(kind: Any) -> tuple[Callable[[Any, str], Any], type]:
    if kind == "integer":
        return strict.integer, np.int64
    if kind == "float":
        return strict.number, np.float64
    raise ModelError(f"numbers is {shown(kind)}: it must be 'integer' or 'float'.")


LABELS: dict[str, tuple[type, Callable[[Any, str], Label]]] = {  # bool first: a bool is also an int
    "boolean": (bool, strict.flag),
    "integer": (int, strict.integer),
    "float": (float, strict.number),
    "text": (str, strict.text),
}
