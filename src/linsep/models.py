"""A trained halfspace as a file: versioned JSON that another program can read, and that is read back strictly.

    {"format": "linsep-model", "version": 1, ...}     docs/model-format.md names every field

Integers that data decide (weights, labels, the seed) are written as strings of digits, because many JSON
readers round what lies beyond 2^53; floats are written with the digits that give the same float back. A file
with an unknown, missing or repeated field, a NaN, or a value of the wrong type is refused: nothing is guessed.
So is one that was cut, damaged or edited: its last field is a checksum of all before it (`sealed.py`).
"""

import json
import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from linsep import sealed
from linsep.errors import ModelError
from linsep.halfspace import Halfspace
from linsep.sealed import write_file

FORMAT, VERSION = "linsep-model", 1
MAX_BYTES = 1 << 28  # 256 MiB: ten million weights; a larger file is not a model of this library
ORDERS = ("cyclic", "restart", "shuffled", "worst")

Label: TypeAlias = bool | int | float | str
_DIGITS = re.compile(r"-?(0|[1-9][0-9]{0,18})", re.ASCII)
_SEED = re.compile(r"0|[1-9][0-9]{0,99}", re.ASCII)
_COUNT_LIMIT = 1 << 53


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
        numbers, write = ("integer", str) if self.halfspace.w.dtype.kind in "iu" else ("float", float)
        document = {
            "format": FORMAT,
            "version": VERSION,
            "numbers": numbers,
            "w": [write(value) for value in self.halfspace.w.tolist()],
            "b": write(self.halfspace.b),
            "bias": self.bias,
            "labels": _write_labels(self.halfspace.labels),
            "columns": None if self.columns is None else list(self.columns),
            "label": self.label,
            "training": {**asdict(self.training), "seed": str(self.training.seed)},
        }
        return sealed.seal(json.dumps(document, allow_nan=False, indent=1, ensure_ascii=False))

    def save(self, path: str | Path) -> None:
        """Write the model; a crash leaves either the old file or the new one, never half of one."""
        write_file(path, self.to_json().encode())


def from_json(text: str) -> Model:
    """Read a model, or raise ModelError saying which field is wrong.

    >>> from linsep.models import from_json
    >>> from_json('{"format": "linsep-model", "version": 2}')
    Traceback (most recent call last):
      ...
    linsep.errors.ModelError: version is 2: this linsep reads version 1. Use a newer linsep.
    """
    document = _object(_parse(text), "the model")
    if document.get("format") != FORMAT:
        raise ModelError(f"format is {_shown(document.get('format'))}, not {FORMAT!r}: this is not a linsep model.")
    if document.get("version") != VERSION or isinstance(document["version"], (bool, float)):
        version = _shown(document.get("version"))
        raise ModelError(f"version is {version}: this linsep reads version {VERSION}. Use a newer linsep.")
    if reason := sealed.fault(text):
        raise ModelError(f"the model is not whole: {reason}.")
    return _read_model(document)


def load(path: str | Path) -> Model:
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


def repeated(names: Iterable[str]) -> str | None:
    """The first name that was there before."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None


def _parse(text: str) -> Any:
    def no_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        fields = dict(pairs)
        if len(fields) < len(pairs):
            raise ModelError(f"the field {_shown(repeated(name for name, _ in pairs))} is there twice.")
        return fields

    def no_constants(name: str) -> Any:
        raise ModelError(f"it holds {name}, which is not a number of JSON.")

    try:
        return json.loads(text, object_pairs_hook=no_repeats, parse_constant=no_constants)
    except RecursionError as error:
        raise ModelError("not a linsep model: it is nested too deep.") from error
    except ModelError:
        raise
    except ValueError as error:
        raise ModelError(f"not a linsep model: {error}.") from error


def _read_model(document: dict[str, Any]) -> Model:
    names = ("format", "version", "numbers", "w", "b", "bias", "labels", "columns", "label", "training")
    _fields(document, "the model", (*names, sealed.FIELD))
    read, kind = _numbers(document["numbers"])
    w = [read(value, f"w[{j}]") for j, value in enumerate(_list(document["w"], "w"))]
    if not w:
        raise ModelError("w is empty: a halfspace has at least one weight.")
    b, bias = read(document["b"], "b"), _flag(document["bias"], "bias")
    if b and not bias:
        raise ModelError(f"b is {b} although bias is false: a hyperplane through the origin has b = 0.")
    halfspace = Halfspace(np.array(w, dtype=kind), b, _read_labels(document["labels"]))
    columns = None if document["columns"] is None else _read_columns(document["columns"], len(w))
    return Model(halfspace, bias, columns, _read_label(document["label"]), _read_training(document["training"]))


def _read_training(value: Any) -> Training:
    names = ("rows", "mistakes", "updates", "passes", "converged", "order", "seed", "linsep")
    fields = _fields(value, "training", names)
    counts = {name: _count(fields[name], f"training.{name}") for name in ("rows", "mistakes", "updates", "passes")}
    if counts["mistakes"] > counts["rows"]:
        raise ModelError(f"training.mistakes is {counts['mistakes']}, more than the {counts['rows']} rows.")
    if fields["order"] not in ORDERS:
        raise ModelError(f"training.order is {_shown(fields['order'])}: it must be one of {', '.join(ORDERS)}.")
    seed = _text(fields["seed"], "training.seed")
    if not _SEED.fullmatch(seed):
        raise ModelError(f"training.seed is {_shown(seed)}: it must be a string of digits.")
    return Training(
        **counts,
        converged=_flag(fields["converged"], "training.converged"),
        order=fields["order"],
        seed=int(seed),
        linsep=_text(fields["linsep"], "training.linsep"),
    )


def _write_labels(labels: tuple[Any, Any]) -> dict[str, Any]:
    kind = next(name for name, (type_, _) in _LABELS.items() if isinstance(labels[1], type_))
    negative, positive = (str(label) if kind == "integer" else label for label in labels)
    return {"type": kind, "negative": negative, "positive": positive}


def _read_labels(value: Any) -> tuple[Label, Label]:
    fields = _fields(value, "labels", ("type", "negative", "positive"))
    kind = fields["type"]
    if not isinstance(kind, str) or kind not in _LABELS:
        raise ModelError(f"labels.type is {_shown(kind)}: it must be one of {', '.join(_LABELS)}.")
    _, read = _LABELS[kind]
    negative, positive = (read(fields[name], f"labels.{name}") for name in ("negative", "positive"))
    if negative == positive:
        raise ModelError(f"labels.negative and labels.positive are both {_shown(negative)}.")
    return negative, positive


def _read_columns(value: Any, length: int) -> tuple[str, ...]:
    columns = tuple(_text(name, f"columns[{j}]") for j, name in enumerate(_list(value, "columns")))
    if len(columns) != length:
        raise ModelError(f"columns has {len(columns)} names and w has {length} weights: they must be as many.")
    if len(set(columns)) < length:
        raise ModelError(f"the column {_shown(repeated(columns))} is there twice.")
    return columns


def _read_label(value: Any) -> str | int | None:
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < _COUNT_LIMIT:
        return value
    return None if value is None else _text(value, "label")


def _object(value: Any, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ModelError(f"{where} is {_shown(value)}, not a JSON object.")
    return value


def _fields(value: Any, where: str, names: Sequence[str]) -> dict[str, Any]:
    fields = _object(value, where)
    for name in names:
        if name not in fields:
            raise ModelError(f"the field {name!r} of {where} is missing.")
    for name in fields:
        if name not in names:
            raise ModelError(f"the field {_shown(name)} of {where} is unknown.")
    return fields


def _numbers(kind: Any) -> tuple[Callable[[Any, str], Any], type]:
    if kind == "integer":
        return _integer, np.int64
    if kind == "float":
        return _float, np.float64
    raise ModelError(f"numbers is {_shown(kind)}: it must be 'integer' or 'float'.")


def _integer(value: Any, where: str) -> int:
    if not isinstance(value, str) or not _DIGITS.fullmatch(value):
        raise ModelError(f"{where} is {_shown(value)}: it must be an integer, written as a string of digits.")
    if not -(2**63) <= int(value) < 2**63:
        raise ModelError(f"{where} is {value}: it does not fit 64 bits.")
    return int(value)


def _float(value: Any, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ModelError(f"{where} is {_shown(value)}: it must be a number.")
    if (isinstance(value, int) and abs(value) > _COUNT_LIMIT) or not math.isfinite(value):
        raise ModelError(f"{where} is {_shown(value)}: it does not fit a double without rounding.")
    return float(value)


def _count(value: Any, where: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _COUNT_LIMIT:
        raise ModelError(f"{where} is {_shown(value)}: it must be a count.")
    return value


def _flag(value: Any, where: str) -> bool:
    if not isinstance(value, bool):
        raise ModelError(f"{where} is {_shown(value)}: it must be true or false.")
    return value


def _text(value: Any, where: str) -> str:
    if not isinstance(value, str):
        raise ModelError(f"{where} is {_shown(value)}: it must be text.")
    if any("\ud800" <= character <= "\udfff" for character in value):
        raise ModelError(f"{where} is {_shown(value)}: half a surrogate pair is not text.")
    return value


def _list(value: Any, where: str) -> list[Any]:
    if not isinstance(value, list):
        raise ModelError(f"{where} is {_shown(value)}: it must be a list.")
    return value


def _shown(value: Any) -> str:
    try:
        text = ascii(value)
    except ValueError:  # an integer of thousands of digits
        text = "a very large number"
    return text if len(text) <= 60 else f"{text[:57]}..."


_LABELS: dict[str, tuple[type, Callable[[Any, str], Label]]] = {  # bool first: a bool is also an int
    "boolean": (bool, _flag),
    "integer": (int, _integer),
    "float": (float, _float),
    "text": (str, _text),
}
