"""Models as files: versioned JSON that another program can read, and that is read back strictly.

A file is written whole or not at all, a longer one than the limit is not read, and every error begins with its name.
`Model` is a trained halfspace, as `linsep fit` writes it. docs/model-format.md describes every field.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import numpy as np

from linsep.errors import ArgumentError, ModelError, shown, told
from linsep.halfspace import Halfspace
from linsep.outputs import write_file
from linsep.storage import documents, strict
from linsep.storage.strict import LABELS, Reader, count, flag, optional, record, text, word
from linsep.tables import as_double

MODEL = documents.Format("linsep-model", 1, "model", ModelError)
KIND = "halfspace"
ORDERS = ("cyclic", "restart", "shuffled", "worst")

Label: TypeAlias = bool | int | float | str
T = TypeVar("T")


def read_file(path: str | Path, read: Callable[[str], T]) -> T:
    """Apply `read` to the text of a model file; errors begin with its name."""
    if not isinstance(path, (str, PathLike)):
        raise ArgumentError(f"path is {shown(path)}: it must be the name of a file.")
    try:
        return read(MODEL.content_of(path).decode())
    except OSError as error:
        raise ModelError(f"cannot be read: {error.strerror}", file=str(path), fix="Check the path.") from error
    except UnicodeDecodeError as error:
        seen = f"this is not a linsep model: byte {error.start} is not UTF-8 text"
        raise ModelError(seen, file=str(path), byte=error.start) from error
    except ModelError as error:
        error.at(file=str(path))
        raise


def write_model(path: str | Path, text: str) -> None:
    """Write a model's text, unless it is longer than what can be read back."""
    content, most = text.encode(), documents.MOST_BYTES
    if len(content) > most:
        raise ModelError(
            f"the model takes {len(content) / 2**20:.0f} MiB as text, but at most {most >> 20} MiB are read back",
            file=str(path),
            fix="Keep less of the run: keep='average' needs no rows, budget= bounds a kernel's support.",
        )
    write_file(path, content)


@dataclass(frozen=True, slots=True)
class Training:
    """How the halfspace was trained. `converged` says whether a whole pass found no mistake."""

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

    `columns` is None if the file had no names; `label` is then a position instead of a name, or None.
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
        return MODEL.write(document)

    def _numbers(self) -> tuple[str, Callable[[Any], str | float]]:
        """Whether the weights and the bias are written as 64-bit integers or as doubles, and by which function."""
        w, b = self.halfspace.w, self.halfspace.b
        if w.dtype.kind == "i" and isinstance(b, int) and -(2**63) <= b < 2**63:
            return "integer", str
        wrong = next((value for value in (*w.tolist(), b) if as_double(value) is None), None)
        if wrong is not None:
            raise ModelError(f"{shown(wrong)} stands beside floats, but is not a double: the file would round it.")
        return "float", float

    def save(self, path: str | Path) -> None:
        """Write the model; a crash leaves either the old file or the new one, never a part of one."""
        write_model(path, self.to_json())


def from_json(text: str) -> Model:
    """Read a model, or raise ModelError saying which field is wrong.

    >>> from linsep.models import from_json
    >>> from_json('{"format": "linsep-model", "version": 2}')
    Traceback (most recent call last):
      ...
    linsep.errors.ModelError: version is 2: this linsep reads version 1. Use a newer linsep.
    """
    return MODEL.read(text, _halfspace_alone)


def _halfspace_alone(document: strict.Document) -> Model:
    if document.get("kind") != KIND:
        kind = shown(document.get("kind"))
        raise ModelError(f"kind is {kind}, not {KIND!r}, as `linsep fit` writes it. linsep.load reads every kind.")
    return read_halfspace(document)


def load(path: str | Path) -> Model:
    """Read a model file. Errors begin with its name."""
    return read_file(path, from_json)


def read_halfspace(document: strict.Document) -> Model:
    """The model of a document."""
    read, kind = _NUMBERS[word(*_NUMBERS)(document.get("numbers"), "numbers")]
    found = record(**_FIELDS, w=strict.each(read), b=read)(document, "")
    w, b, columns, training = found["w"], found["b"], found["columns"], found["training"]
    if not w:
        raise ModelError("w is empty: a halfspace has at least one weight.")
    if b and not found["bias"]:
        raise ModelError(f"b is {b} although bias is false: a hyperplane through the origin has b = 0.")
    if columns is not None and len(columns) != len(w):
        raise ModelError(f"columns has {len(columns)} names but w has {len(w)} weights.")
    if training["mistakes"] > training["rows"]:
        raise ModelError(f"training.mistakes is {training['mistakes']}, more than the {training['rows']} rows.")
    halfspace = Halfspace(np.array(w, dtype=kind), b, found["labels"])
    return Model(halfspace, found["bias"], columns, found["label"], Training(**training))


def _write_labels(labels: tuple[Any, Any]) -> dict[str, Any]:
    found = {next(name for name, (type_, _) in LABELS.items() if isinstance(label, type_)) for label in labels}
    kind = "float" if len(found) > 1 else next(iter(found))
    if len(found) > 1 and (not found <= {"integer", "float"} or None in map(as_double, labels)):
        raise ModelError(f"the labels {told(labels)} are of two types, which a file cannot keep: use one for both.")
    negative, positive = (str(label) if kind == "integer" else label for label in labels)
    return {"type": kind, "negative": negative, "positive": positive}


def _read_labels(value: Any, where: str) -> tuple[Label, Label]:
    fields = strict.fields(value, where, ("type", "negative", "positive"))
    _, read = LABELS[word(*LABELS)(fields["type"], f"{where}.type")]
    negative, positive = (read(fields[name], f"{where}.{name}") for name in ("negative", "positive"))
    if negative == positive:
        raise ModelError(f"labels.negative and labels.positive are both {shown(negative)}.")
    return negative, positive


def _read_label(value: Any, where: str) -> str | int:
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < strict.COUNT_LIMIT:
        return value
    return text(value, where)


_NUMBERS: dict[str, tuple[Reader, type]] = {
    "integer": (strict.integer, np.int64),
    "float": (strict.number, np.float64),
}
_FIELDS: dict[str, Reader] = {
    "kind": word(KIND),
    "numbers": text,
    "bias": flag,
    "labels": _read_labels,
    "columns": optional(strict.names),
    "label": optional(_read_label),
    "training": record(
        rows=count,
        mistakes=count,
        updates=count,
        passes=count,
        converged=flag,
        order=word(*ORDERS),
        seed=strict.natural,
        linsep=text,
    ),
}
