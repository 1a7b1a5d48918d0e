"""Readers under mutated input: `python tests/fuzz.py 200000`, or `make fuzz`. Refusals are LinsepErrors, in good time.

A reader is a function from bytes and some true inputs for it (READERS). Inputs are cut, spliced, flipped and repeated
as bytes; texts of JSON also as values: any leaf, field or list is replaced, dropped, doubled or moved. Half of the
mutated JSON gets the checksum of what it now says, so that the checks behind the checksum are reached.

To add a reader, add a line to READERS: its name, the function, and a list of inputs it accepts.
"""

import copy
import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import linsep
from linsep import checker, checkpoints, models
from linsep.certificates import Obstruction, Overlapping, Separable, Touching, Undecided
from linsep.certificates.written import verdict_from_json
from linsep.errors import LinsepError
from linsep.halfspace import Halfspace
from linsep.sealed import seal
from linsep.solvers.perceptron import Learner
from linsep.solvers.resuming import restore, state
from linsep.sources.inputs import as_source
from linsep.sources.journal import JournaledSource, _block, _scan

SLOW_S = 2.0  # an input of a few kilobytes that takes longer is a hang
JUNK: list[Any] = [
    None, True, False, 0, -1, 1, 1.5, -0.0, 1e300, 2**53, 2**64, 10**400, "", "0", "-0", "1e9", "0x1f", "NaN", "\ud800",
    "é" * 50, "0" * 64, "f" * 64, [], {}, [[]], {"": {}}, [0] * 100, "<f8", "<i8", "|O", "A" * 1000, "AAAA", [3],
    [2**40, 2**40],
]  # fmt: skip


@dataclass(frozen=True)
class Reader:
    """What reads bytes, inputs that it accepts, and which errors are refusals."""

    read: Callable[[bytes], Any]
    seeds: list[bytes]
    refusals: tuple[type[Exception], ...] = (LinsepError,)
    is_json: bool = True


def true_proofs() -> list[bytes]:
    pair = Obstruction((0, 1), (1, 2**3000))
    verdicts = [
        Separable(n_rows=2, n_columns=2, weights=(1, -7), bias_weight=0, margin=(0.5, 1.5), nearest=pair, names="ab"),
        Touching(
            n_rows=3, n_columns=1, weights=(1,), bias_weight=-3, obstruction=pair, separated_rows=(2,), spread=pair
        ),
        Overlapping(n_rows=2, n_columns=1, obstruction=pair, spread=pair, labels=("nö", "yes"), label_column="y"),
        Undecided(n_rows=1, n_columns=1, reason="time", seconds=1e-7, labels=(0.5, True)),
    ]  # fmt: skip
    return [verdict.to_json().encode() for verdict in verdicts]


def true_models() -> list[bytes]:
    training = models.Training(4, 0, 9, 6, True, "cyclic", 1, "0.1.0")
    halfspaces = Halfspace(np.array([4e-7, -0.5]), 1.0, ("ä", "b")), Halfspace(np.array([4, 2**62]), -1, (False, True))
    columns = [("x", "ü"), None]
    pairs = zip(halfspaces, columns, strict=True)
    return [models.Model(half, True, names, "y", training).to_json().encode() for half, names in pairs]


ROWS, LABELS = np.round(np.random.default_rng(0).standard_normal((12, 2)), 2), [0, 1] * 6


def learner() -> Learner:
    return Learner(as_source(ROWS, LABELS), order="shuffled", max_passes=3, random_state=0)


def true_checkpoints() -> list[bytes]:
    import scipy.sparse as sp

    texts = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.checkpoint"
        for table in (ROWS, sp.csr_array(ROWS)):
            source = JournaledSource(as_source(table, LABELS), path)
            source.scan(np.ones(2), 0.0, worst=3), source.sample(2, 1), source.take([3])
            linsep.decide(source)
            run = learner()
            next(run.walk())
            source.file.put(checkpoints.key("walk", "shuffled"), state(run))
            source.file.save(now=True)
            texts.append(path.read_bytes())
            source.file.remove()
    return texts


def read_checkpoint(content: bytes) -> None:
    """The text, and then each record as what it may be."""
    _, records = checkpoints.read(content)
    for text in records.values():
        _, arrays = checkpoints._record(json.loads(text))
        for read in (lambda found: _block(found, 12, 2), lambda found: _scan(found, 12, 2), resume):
            try:
                read(arrays)
            except LinsepError:
                continue


def resume(arrays: Any) -> None:
    run = learner()
    restore(run, arrays)
    for _, _ in zip(run.walk(), range(5), strict=False):
        pass


def read_model(content: bytes) -> None:
    models.from_json(content.decode("utf-8", "surrogateescape"))


def read_with_checker(content: bytes) -> None:
    CHECKED.write_bytes(content)
    checker.read_proof(str(CHECKED))


CHECKED = Path(tempfile.gettempdir()) / f"linsep-fuzz-{os.getpid()}.json"

READERS: dict[str, Reader] = {
    "model": Reader(read_model, true_models()),
    "proof": Reader(verdict_from_json, true_proofs()),
    "checker": Reader(read_with_checker, true_proofs(), (checker.CheckError, ValueError, RecursionError)),
    "checkpoint": Reader(read_checkpoint, true_checkpoints()),
}  # fmt: skip


def spots(node: Any) -> list[tuple[Any, Any]]:
    """(container, key) of every value in a document."""
    found = []
    for key, value in list(node.items()) if isinstance(node, dict) else list(enumerate(node)):
        found.append((node, key))
        if isinstance(value, dict | list):
            found += spots(value)
    return found


def change_value(document: Any, rng: random.Random) -> None:
    """Replace, drop, double or move one value."""
    places = spots(document)
    if not places:
        return
    node, key = rng.choice(places)
    other, source = rng.choice(places)
    match rng.randrange(7):
        case 0 | 1:
            node[key] = copy.deepcopy(rng.choice(JUNK))
        case 2:
            del node[key]
        case 3 if isinstance(node, list):
            node.insert(key, copy.deepcopy(node[key]))
        case 3:
            node[rng.choice(["note", "", str(key).upper(), "sha256"])] = copy.deepcopy(node[key])
        case 4:
            node[key] = copy.deepcopy(other[source])
        case 5 if isinstance(node[key], str):
            node[key] = change_bytes(node[key].encode("utf-8", "replace"), rng).decode("utf-8", "replace")
        case _ if isinstance(node[key], int | float) and not isinstance(node[key], bool):
            node[key] = node[key] * rng.choice([-1, 2, 0, 3]) + rng.choice([-1, 0, 1])


def change_bytes(content: bytes, rng: random.Random) -> bytes:
    """Cut, flip, repeat, splice or insert."""
    if not content:
        return rng.randbytes(3)
    a, b = sorted((rng.randrange(len(content) + 1), rng.randrange(len(content) + 1)))
    match rng.randrange(6):
        case 0:
            return content[:a]
        case 1:
            spot = rng.randrange(len(content))
            return content[:spot] + bytes([content[spot] ^ 1 << rng.randrange(8)]) + content[spot + 1 :]
        case 2:
            return content[:a] + content[a:b] * rng.choice([0, 2, 3]) + content[b:]
        case 3:
            return content[:a] + rng.randbytes(rng.randrange(1, 5)) + content[a:]
        case 4:
            return (
                content[:a]
                + rng.choice([b"[" * 5000, b'{"a":' * 500, b"9" * 5000, b"NaN", b"\xff\xfe", b"\0"])
                + content[b:]
            )
    return content[b:] + content[:a]


def mutated(seed: bytes, is_json: bool, rng: random.Random) -> bytes:
    """One input that a reader should refuse, or may accept."""
    if is_json and rng.random() < 0.6:
        document = json.loads(seed)
        document.pop("sha256", None)
        for _ in range(rng.choice([1, 1, 2, 5])):
            change_value(document, rng)
        text = json.dumps(document)
        return seal(text).encode() if rng.random() < 0.8 else text.encode()
    content = seed
    for _ in range(rng.choice([1, 1, 2, 4])):
        content = change_bytes(content, rng)
    if is_json and rng.random() < 0.3:
        return seal(content.decode("utf-8", "replace")).encode()
    return content


def fuzz(name: str, count: int, seed: int = 0) -> tuple[int, int]:
    """Give a reader so many inputs; how many it accepted and refused. Anything else is an error, with its input."""
    reader, rng, accepted = READERS[name], random.Random(f"{name} {seed}"), 0
    for content in reader.seeds:
        reader.read(content)  # what it should accept it does
    for _ in range(count):
        content = mutated(rng.choice(reader.seeds), reader.is_json, rng)
        started = time.perf_counter()
        try:
            reader.read(content)
            accepted += 1
        except reader.refusals:
            pass
        except Exception as error:
            raise AssertionError(f"{name}: {error!r} from\n{content[:5000]!r}") from error
        finally:
            CHECKED.unlink(missing_ok=True)
        assert time.perf_counter() - started < SLOW_S, f"{name} hangs on\n{content[:5000]!r}"
    return accepted, count - accepted


if __name__ == "__main__":
    total = int(sys.argv[1]) if len(sys.argv) > 1 else 200_000
    for reader in sys.argv[2:] or READERS:
        begun = time.perf_counter()
        taken, refused = fuzz(reader, total)
        print(
            f"{reader}: {total:,} inputs, {taken:,} accepted, {refused:,} refused, {time.perf_counter() - begun:.0f} s"
        )
