"""The checkpoint file: the state of a run of the Perceptron, so that it can resume after it was stopped or killed.

    {"format": "linsep-checkpoint", "version": 2, "data": {...}, "run": {...}, "sha256": "..."}

The run is its arrays, and a digest of which run it is. docs/checkpoints.md names every field. A file is written beside
the old one, flushed and renamed; the one before it is kept as FILE.previous. A checkpoint is used only if it is whole,
of this version and about the same data; otherwise the reason is reported.
"""

import base64
import binascii
import hashlib
import math
import os
import stat
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from linsep import outputs
from linsep.errors import CheckpointError
from linsep.storage import documents, strict
from linsep.storage.strict import FieldError, count, each, matching, record

CHECKPOINT = documents.Format("linsep-checkpoint", 2, "checkpoint", CheckpointError)
PREVIOUS = ".previous"  # the suffix of the checkpoint before the newest
HEAD = f'{{\n "format": "{CHECKPOINT.name}"'.encode()
MOST_BYTES = 1 << 27  # of a run: a larger one is not saved, and has to start over when it is stopped
TYPES = ("|i1", "<i2", "<i4", "<i8", "|u1", "<u2", "<u4", "<u8", "<f4", "<f8", "|b1")
PATIENCE = 20  # saving may take one part in this many of the time between two saves

Arrays: TypeAlias = Mapping[str, npt.NDArray[Any]]
Key: TypeAlias = str  # a digest that says which run it is


@dataclass(frozen=True, slots=True)
class Identity:
    """Which data a checkpoint is about."""

    rows: int
    columns: int
    fingerprint: str

    def differs(self, other: "Identity") -> str | None:
        """How the data of another checkpoint differ from these; None if they do not."""
        for name in ("rows", "columns"):
            if getattr(self, name) != getattr(other, name):
                return f"it is about {getattr(other, name):,} {name}, and the data have {getattr(self, name):,}"
        return None if self == other else "the data have changed since it was written"


def key(*arguments: Any) -> Key:
    """Which run it is: a digest of the arguments it was started with.

    >>> key("cyclic", 1) == key("cyclic", 1), key("cyclic", 1) == key("cyclic", 1.0)
    (True, False)
    """
    return hashlib.sha256(repr(arguments).encode("utf-8", "backslashreplace")).hexdigest()


class CheckpointFile:
    """The state of one run in a file, read on opening and written now and then.

    `note` is called with a sentence about what was found and what is done about it.
    """

    def __init__(self, path: str | Path, identity: Identity, note: Callable[[str], None] = lambda text: None) -> None:
        self.path, self.identity, self.note = Path(path), identity, note
        if self.path.is_symlink():  # the previous checkpoint stands beside the file that the link points to
            self.path = Path(os.path.realpath(path))
        self._saved, self._cost, self._is_stale = time.monotonic(), 0.0, False
        self._runs: dict[Key, Arrays] = {}  # at most one
        self._require_file(path)
        outputs.sweep_leftovers(self.path.parent)
        self._load()
        self.found = len(self._runs)

    @property
    def previous(self) -> Path:
        """Where the checkpoint before the newest is kept."""
        return self.path.with_name(self.path.name + PREVIOUS)

    def get(self, key: Key) -> Arrays | None:
        """The state of this run, if it is the one recorded."""
        return self._runs.get(key)

    def put(self, key: Key, arrays: Arrays) -> None:
        """Record the state of a run, unless the file would become too large."""
        if sum(array.nbytes for array in arrays.values()) <= MOST_BYTES:
            self._runs, self._is_stale = {key: arrays}, True

    def is_due(self) -> bool:
        """Whether enough time has passed since the last save to make another one cheap."""
        return time.monotonic() - self._saved > PATIENCE * self._cost

    def save(self, *, now: bool = False) -> None:
        """Write what is new, if a save is due or asked for `now`. A crash leaves this file, the one before, or both."""
        if not self._is_stale or not (now or self.is_due()):
            return
        started = time.monotonic()
        [(question, arrays)] = self._runs.items()
        run = {"question": question, "arrays": {name: _written(array) for name, array in arrays.items()}}
        content = CHECKPOINT.write({"data": asdict(self.identity), "run": run}).encode()
        outputs.write_file(self.path, content, self.previous)
        self._saved, self._is_stale = time.monotonic(), False
        self._cost = self._saved - started

    def remove(self) -> None:
        """Remove the files: the run is over."""
        for path in (self.path, self.previous):
            path.unlink(missing_ok=True)
        self._runs, self._is_stale = {}, False

    def _require_file(self, path: str | Path) -> None:
        """Refuse a pipe or a device: nothing could be read back from it, and damaged files are removed."""
        if outputs.descriptor(path) is not None or (self.path.exists() and not stat.S_ISREG(self.path.stat().st_mode)):
            seen = "a pipe, a device or a folder cannot hold a checkpoint"
            raise CheckpointError(seen, file=str(path), fix="Give a file name.")

    def _load(self) -> None:
        damaged = False
        for path in (self.path, self.previous):
            content = _read(path)
            if content is None:
                continue
            try:
                identity, question, arrays = read(content)
            except CheckpointError as error:
                if not HEAD.startswith(content[: len(HEAD)]):  # somebody's own file: a save would overwrite it
                    raise error.at(file=str(path), fix="Give the run another file name.") from None
                self.note(f"{path}: {error} This checkpoint is not used.")
                path.unlink(missing_ok=True)
                damaged = True
                continue
            if reason := self.identity.differs(identity):
                self.note(f"{path}: {reason}. Starting over.")
            else:
                self._runs = {question: arrays}
            return
        if damaged:
            self.note("No intact checkpoint is left. Starting over.")


def _read(path: Path) -> bytes | None:
    try:
        return CHECKPOINT.content_of(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise CheckpointError(f"cannot be read: {error.strerror}", file=str(path)) from error
    except CheckpointError as error:
        error.at(file=str(path))
        raise


def _written(array: npt.NDArray[Any]) -> dict[str, Any]:
    little = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    data = base64.b64encode(little.tobytes()).decode()
    return {"type": little.dtype.str, "shape": list(array.shape), "data": data}


def read(content: bytes | str) -> tuple[Identity, Key, Arrays]:
    """The data, the run and its arrays; CheckpointError says what is wrong with a checkpoint."""
    found = CHECKPOINT.read(content, lambda document: _FIELDS(document, ""))
    return Identity(**found["data"]), found["run"]["question"], found["run"]["arrays"]


def _arrays(value: Any, where: str) -> Arrays:
    found = strict.mapping(value, where).items()
    return {_NAME(name, f"a name in {where}"): _array(array, strict.below(where, name)) for name, array in found}


def _array(value: Any, where: str) -> npt.NDArray[Any]:
    found = _ARRAY(value, where)
    shape, kind = found["shape"], np.dtype(found["type"])
    if len(shape) > 2:
        raise FieldError(f"{where}.shape has more than two dimensions.")
    try:
        data = base64.b64decode(found["data"], validate=True)
    except (binascii.Error, ValueError) as error:
        raise FieldError(f"{where}.data is not base64: {error}.") from None
    if len(data) != math.prod(shape) * kind.itemsize or (kind.kind == "b" and max(data, default=0) > 1):
        raise FieldError(f"{where} has the shape {list(shape)}, which does not fit its {len(data)} bytes.")
    return np.frombuffer(data, kind).reshape(shape).astype(kind.newbyteorder("="))


_NAME, _DIGEST = matching("[a-z0-9_]{1,40}"), matching("[0-9a-f]{64}")
_ARRAY = record(type=strict.word(*TYPES), shape=each(count), data=strict.string)
_FIELDS = record(
    data=record(rows=count, columns=count, fingerprint=_DIGEST), run=record(question=_DIGEST, arrays=_arrays)
)
