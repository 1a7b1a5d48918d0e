"""The checkpoint file: the state of a long run, so that it can resume after it was stopped or killed.

    {"format": "linsep-checkpoint", "version": 1, "data": {...}, "records": [...], "sha256": "..."}

A record holds the arrays of a run and says which run it is. docs/checkpoints.md names every field. A file is
written beside the old one, flushed and renamed; the one before it is kept as FILE.previous. What is read back is
whole, of this version and of the same data, or it is not used, and the reason is said.
"""

import base64
import binascii
import hashlib
import json
import math
import os
import stat
import struct
import threading
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
from linsep.storage.strict import Document, FieldError, count, each, matching, record

CHECKPOINT = documents.Format("linsep-checkpoint", 1, "checkpoint", CheckpointError)
PREVIOUS = ".previous"  # what the name of the checkpoint before ends in
HEAD = f'{{\n "format": "{CHECKPOINT.name}"'.encode()
MAX_RECORDS = 1 << 27  # characters of all records: what does not fit is not kept
TYPES = ("|i1", "<i2", "<i4", "<i8", "|u1", "<u2", "<u4", "<u8", "<f4", "<f8", "|b1")
PATIENCE = 20  # a save may take one part in so many of the time between two saves

Arrays: TypeAlias = Mapping[str, npt.NDArray[Any]]
Key: TypeAlias = tuple[str, str]  # a verb, and the digest of what it was asked with


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


def key(verb: str, *arguments: Any) -> Key:
    """What is recorded as a key: a verb, and a digest of the exact arguments.

    >>> key("take", 1) == key("take", 1), key("take", 1) == key("take", 1.0)
    (True, False)
    """
    digest = hashlib.sha256()
    for argument in arguments:
        if isinstance(argument, np.ndarray):
            kind, content = f"{argument.dtype.str}{argument.shape}", np.ascontiguousarray(argument).tobytes()
        elif isinstance(argument, float):
            kind, content = "float", struct.pack("<d", argument)
        else:
            kind, content = type(argument).__name__, repr(argument).encode("utf-8", "backslashreplace")
        digest.update(f"{kind}:{len(content)}:".encode() + content)
    return verb, digest.hexdigest()


class CheckpointFile:
    """The records of one run in a file, read on opening and written now and then.

    `note` is told, in a sentence, what was found and what is done about it.
    """

    def __init__(self, path: str | Path, identity: Identity, note: Callable[[str], None] = lambda text: None) -> None:
        self.path, self.identity, self.note = Path(path), identity, note
        if self.path.is_symlink():  # the file beside which the previous one stands is what the link names
            self.path = Path(os.path.realpath(path))
        self._lock = threading.RLock()
        self._saved, self._cost, self._is_stale = time.monotonic(), 0.0, False
        self._texts: dict[Key, str] = {}
        self._require_file(path)
        outputs.sweep_leftovers(self.path.parent)
        self._load()
        self.found = len(self._texts)

    @property
    def previous(self) -> Path:
        """Where the checkpoint before the newest is kept."""
        return self.path.with_name(self.path.name + PREVIOUS)

    def get(self, key: Key) -> Arrays | None:
        """What is recorded under the key."""
        with self._lock:
            text = self._texts.get(key)
        return None if text is None else _record(json.loads(text), "")[1]

    def put(self, key: Key, arrays: Arrays) -> None:
        """Record arrays, unless the file would become too large: then a stopped run starts over."""
        size = sum(array.nbytes for array in arrays.values()) * 4 // 3
        with self._lock:
            held = sum(map(len, self._texts.values()))
            if held + size <= MAX_RECORDS and all(_type(array) in TYPES for array in arrays.values()):
                self._texts[key] = _written(key, arrays)
                self._is_stale = True

    def is_due(self) -> bool:
        """Whether enough time has passed since the last save to make another one cheap."""
        return time.monotonic() - self._saved > PATIENCE * self._cost

    def save(self, *, now: bool = False) -> None:
        """Write what is new, if it is due or must be `now`. A crash leaves this file, the one before it, or both."""
        with self._lock:
            if not self._is_stale or not (now or self.is_due()):
                return
            started = time.monotonic()
            content = _text(self.identity, self._texts).encode()
            outputs.write_file(self.path, content, self.previous)
            self._saved, self._is_stale = time.monotonic(), False
            self._cost = self._saved - started

    def remove(self) -> None:
        """Take the files away: the run is over."""
        with self._lock:
            for path in (self.path, self.previous):
                path.unlink(missing_ok=True)
            self._texts.clear()
            self._is_stale = False

    def _require_file(self, path: str | Path) -> None:
        """Refuse a pipe or a device: nothing could be read back from it, and damaged files are removed."""
        if outputs.descriptor(path) is not None or (self.path.exists() and not stat.S_ISREG(self.path.stat().st_mode)):
            raise CheckpointError(f"{path}: a pipe, a device or a folder cannot hold a checkpoint. Give a file name.")

    def _load(self) -> None:
        damaged = False
        for path in (self.path, self.previous):
            content = _read(path)
            if content is None:
                continue
            try:
                identity, texts = read(content)
            except CheckpointError as error:
                if not HEAD.startswith(content[: len(HEAD)]):  # somebody's file, which the next save would replace
                    raise CheckpointError(f"{path}: {error} Give the run another file name.") from None
                self.note(f"{path}: {error} It is not used.")
                path.unlink(missing_ok=True)
                damaged = True
                continue
            if reason := self.identity.differs(identity):
                self.note(f"{path}: {reason}. Starting over.")
            else:
                self._texts = texts
            return
        if damaged:
            self.note("No whole checkpoint is left. Starting over.")


def _read(path: Path) -> bytes | None:
    try:
        return CHECKPOINT.content_of(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise CheckpointError(f"{path}: cannot be read: {error.strerror}.") from error
    except CheckpointError as error:
        raise CheckpointError(f"{path}: {error}") from None


# The text ------------------------------------------------------------------------------------------


def _text(identity: Identity, records: Mapping[Key, str]) -> str:
    listed = documents.Written("[\n  " + ",\n  ".join(records.values()) + "\n ]")
    return CHECKPOINT.write({"data": asdict(identity), "records": listed})


def _written(key: Key, arrays: Arrays) -> str:
    written = {name: _written_array(array) for name, array in arrays.items()}
    return json.dumps({"verb": key[0], "question": key[1], "arrays": written})


def _written_array(array: npt.NDArray[Any]) -> dict[str, Any]:
    little = np.ascontiguousarray(array, dtype=_type(array))
    data = base64.b64encode(little.tobytes()).decode()
    return {"type": _type(array), "shape": list(array.shape), "data": data}


def _type(array: npt.NDArray[Any]) -> str:
    return array.dtype.newbyteorder("<").str


def read(content: bytes | str) -> tuple[Identity, dict[Key, str]]:
    """The identity and the records (each as its text) of a checkpoint; CheckpointError says what is wrong with it."""
    return CHECKPOINT.read(content, _checkpoint)


def _checkpoint(document: Document) -> tuple[Identity, dict[Key, str]]:
    found = record(data=_DATA, records=each(_record))(document, "")
    records: dict[Key, str] = {}
    for key, arrays in found["records"]:
        if key in records:
            raise CheckpointError(f"the question {key[0]!r} {key[1]} is recorded twice.")
        records[key] = _written(key, arrays)
    return Identity(**found["data"]), records


def _record(value: Any, where: str) -> tuple[Key, Arrays]:
    found = _RECORD(value, where)
    return (found["verb"], found["question"]), found["arrays"]


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
_DATA = record(rows=count, columns=count, fingerprint=_DIGEST)
_RECORD = record(verb=matching("[a-z ]{1,40}"), question=_DIGEST, arrays=_arrays)
_ARRAY = record(type=strict.word(*TYPES), shape=each(count), data=strict.string)
