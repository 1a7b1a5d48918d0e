"""Readers under mutated input: refusals are LinsepErrors, in good time.

    python -m tests.campaigns.fuzz 200000        or    make fuzz

A reader is a function from bytes and some true inputs for it (READERS). Inputs are cut, spliced, flipped and repeated
as bytes; texts of JSON also as values: any leaf, field or list is replaced, dropped, doubled or moved. Half of the
mutated JSON gets the checksum of what it now says, so that the checks behind the checksum are reached.

Memory is capped meanwhile: a small file may not take more than the `memory` it is opened with, and ROOM for the
libraries. Each reader of files is also given bombs: a few bytes that stand for gigabytes.

To add a reader, add a line to READERS: its name, the function, and a list of inputs it accepts.
"""

import bz2
import copy
import gzip
import io
import json
import os
import random
import resource
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import linsep
from linsep import checker, exact, models
from linsep.errors import LinsepError
from linsep.halfspace import Halfspace
from linsep.learners import checkpoints
from linsep.learners.learner import Learner
from linsep.learners.perceptron import learner_on
from linsep.learners.perceptron_state import restore, state
from linsep.proofs import Obstruction, Overlapping, Separable, Touching, Undecided
from linsep.proofs.proof_json import verdict_from_json
from linsep.sources.files import streaming
from linsep.sources.files.options import Options
from linsep.sources.inputs import as_source
from linsep.storage.checksum import seal

SLOW_S = 2.0  # an input of a few kilobytes that takes longer is a hang
HANG_S = 5.0  # and is stopped
BOMB_S = 30.0  # a bomb may be read, if it is done in good time
ASKED = 64 * 10**6  # bytes of memory that files are opened with
INPUTS_A_CAP = 1000  # Arrow keeps the memory of a bz2 decompressor that failed: the cap is set anew now and then
ROOM = 10**9  # and what else a process may take on top of what it has after the first reads
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
    bombs: Callable[[], list[bytes]] = list
    words: tuple[bytes, ...] = (b"[" * 5000, b'{"a":' * 500, b"9" * 5000, b"NaN", b"\xff\xfe", b"\0")


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
    return learner_on(as_source(ROWS, LABELS), order="shuffled", max_passes=3, random_state=0)


def true_checkpoints() -> list[bytes]:
    texts = []
    with tempfile.TemporaryDirectory() as folder:
        file = checkpoints.CheckpointFile(Path(folder) / "run.checkpoint", checkpoints.Identity(12, 2, "0" * 64))
        run = learner()
        for _ in run.walk():
            file.put(checkpoints.key("shuffled"), state(run))
            file.save(now=True)
            texts.append(file.path.read_bytes())
    return texts


def read_checkpoint(content: bytes) -> None:
    """The text, and then the state of its run."""
    _, _, arrays = checkpoints.read(content)
    with suppress(LinsepError):
        resume(arrays)


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


# Files: the first byte of an input chooses how it is read; what can be opened must be scanned ------------------------

MEMORY = Path("/dev/shm") if Path("/dev/shm").is_dir() else Path(tempfile.gettempdir())
WAYS: list[dict[str, Any]] = [
    {}, {"positive": 1}, {"categories": "all"}, {"numbers": "decimal"}, {"reject": True}, {"columns": [0]},
    {"categories": "all", "reject": True}, {"numbers": "decimal", "reject": True},
]  # fmt: skip
CSV_WORDS = (
    b'"', b'""', b",", b"\n", b"\r", b"\r\n", b"\0", b"\xff", b"\xef\xbb\xbf", b"nan", b"1e400", b"1e-400",
    b"9" * 5000, b"9223372036854775808", b"1e999999999", b"1e-999999999", b"E99999999999999999999", b"," * 3000,
    b"0.1234567890123456789", b"true", b"NA", b" ", b"\t", b"1_0", b"0x1", b"-", b"+",
    b".", b"e", b'"a,b"', b"y", b"\xef\xbc\x91", b"1" + b"0" * 40,
)  # fmt: skip
SVM_WORDS = (
    b":", b" ", b"\n", b"\r", b"#", b"qid:1", b"qid:", b"\0", b"\xff", b"\xef\xbb\xbf", b"nan", b"1e400", b"9" * 5000,
    b"9223372036854775808", b"2147483647:1", b"67108864:1", b"250001:1", b"249999:1",
    b"0:1", b"-1:1", b"_", b"0x1", b"\xc2\xa0", b"\x0b", b"1:",
)  # fmt: skip


def true_csv() -> list[bytes]:
    texts = [
        b"a,b,y\n1,2,0\n3,4.5,1\n-7,8e2,1\n",
        b'"a","b","y"\r\n"1","2","no"\r\n" 3 ","+4","yes"\r\n',
        b"a,b,y\n9007199254740993,2,0\n3,4,1\n",
        b"\xef\xbb\xbfa,b,y\ntrue,0.1,-1\nfalse,.25,1\n",
        b"b,a,y\n" + b"".join(b"%d,%d,%d\n" % (k, k * k, k % 2) for k in range(30)),
    ]
    return [b"\0" + text for text in texts] + [
        b"\1" + texts[0], b"\5" + texts[0],
        b"\2a,c,y\n1,red,0\n2,blue,1\n", b"\3a,y\n0.1,0\n2e-1,1\n", b"\4a,y\n1,0\n2,1\nx,1\n",
        b"\6a,c,y\n1,red,0\n2,blue,1\n3\n", b"\7a,y\n0.1,0\n2e-1,1\nx,2\n",
    ]  # fmt: skip


def true_svmlight() -> list[bytes]:
    return [
        b"\0" + b"-1 1:0.5 3:2\n1 2:1e3 # a comment\n+1 1:-1 2:2 3:3\n",
        b"\4" + b"0 qid:1 1:1\n1 qid:2 2:7\n1 0:3\n",
        b"\1" + b"".join(b"%d 1:%d 2:%d\n" % (k % 3, k, k * k) for k in range(20)),
    ]


def true_tables() -> list[bytes]:
    import pyarrow as pa
    import pyarrow.feather
    import pyarrow.parquet

    plain = pa.table({"a": [1.0, 2.0, 3.0], "b": [1, 2, 3], "y": [0, 1, 1]})
    odd = pa.table({"a": [1, None, 3], "c": pa.array(["u", "v", "w"]).dictionary_encode(), "y": ["n", "p", "p"]})
    found = []
    for way, table in ((b"\0", plain), (b"\6", odd)):
        for write in (pa.parquet.write_table, pa.feather.write_feather):
            out = io.BytesIO()
            write(table, out, **({"compression": "uncompressed"} if write is pa.feather.write_feather else {}))
            found.append(way + out.getvalue())
    return found


def true_arrays() -> list[bytes]:
    import scipy.sparse as sp

    dense, y = np.array([[1.5, 2, 0], [3, 4, 1]]), np.array([0, 1])
    matrix, found = sp.csr_array(dense), []
    parts = {"data": matrix.data, "indices": matrix.indices, "indptr": matrix.indptr, "shape": (2, 3), "y": y}
    holed = np.array([[1.5, 2, 0], [np.nan, 4, 1], [3, 4, 1]])
    for way, save, arrays in (
        (b"\0", np.save, [dense]),
        (b"\0", np.save, [np.asfortranarray(dense).astype(">i4")]),
        (b"\4", np.save, [holed]),
        (b"\0", np.savez, {"X": dense, "y": y}),
        (b"\4", np.savez, {"X": holed, "y": np.array([0, 1, 1])}),
        (b"\0", np.savez, parts),
        (b"\0", np.savez_compressed, {"X": np.asfortranarray(dense), "y": y}),
        (b"\4", np.savez_compressed, {**parts, "format": np.array(b"csr")}),
    ):
        out = io.BytesIO()
        save(out, **arrays) if isinstance(arrays, dict) else save(out, *arrays)  # type: ignore[operator]
        found.append(way + out.getvalue())
    return found


def opened(content: bytes, ending: str, label: Any = "y") -> None:
    """Write the bytes to a file in memory, open it, and scan it."""
    way = dict(WAYS[content[0] % len(WAYS)] if content else {})
    path = MEMORY / f"linsep-fuzz-{os.getpid()}.{ending}"
    if way.pop("reject", False):
        way["reject"] = path.with_suffix(".rejected")
    if ending.startswith("svm"):
        way = {name: value for name, value in way.items() if name in ("positive", "reject")}
    path.write_bytes(content[1:])
    try:
        source = linsep.open(path, label=label, cache=False, memory=ASKED, **way)
        source.scan(np.ones(source.n_columns), 0.5, worst=2)
    finally:
        path.unlink(missing_ok=True)
        path.with_suffix(".rejected").unlink(missing_ok=True)


def read_table(content: bytes) -> None:
    opened(content, "arrow" if content[1:7] == b"ARROW1" else "parquet")


def read_array(content: bytes) -> None:
    opened(content, *(("npz", None) if content[1:3] == b"PK" else ("npy", -1)))


def packed(content: bytes) -> None:
    """Text that is packed, and then damaged: the first byte says how, a capital for svmlight."""
    how = content[:1]
    ending = {b"g": "gz", b"b": "bz2"}.get(how.lower(), "zst")
    if how.isupper():
        opened(b"\0" + content[1:], f"svm.{ending}", None)
    else:
        opened(b"\0" + content[1:], f"csv.{ending}")


def true_packed() -> list[bytes]:
    import pyarrow as pa

    pack = {b"g": gzip.compress, b"b": bz2.compress, b"z": lambda text: pa.Codec("zstd").compress(text, asbytes=True)}
    text, sparse = b"a,b,y\n1,2,0\n3,4.5,1\n-7,8e2,1\n", b"-1 1:0.5 3:2\n1 2:1e3\n"
    return [how + make(text) for how, make in pack.items()] + [how.upper() + make(sparse) for how, make in pack.items()]


def walked(content: bytes) -> None:
    """Rows as `linsep learn` walks them, bad ones set aside: each row of the file is a good one or a bad one, once."""
    path = MEMORY / f"linsep-fuzz-{os.getpid()}.{'svm' if content[:1] == b's' else 'csv'}"
    options = Options(label=None if content[:1] == b"s" else "y", memory=ASKED, reject=path.with_suffix(".rejected"))
    object.__setattr__(options, "batch_bytes", content[1] if len(content) > 1 else 1)  # batches of any size
    path.write_bytes(content[2:])
    try:
        for reader in streaming.readers(path, options):
            rows: list[int] = []
            for stretch in streaming.stretches(reader):
                assert len(stretch.rows) == stretch.X.shape[0]
                rows += sorted([*stretch.rows.tolist(), *stretch.bad])
            assert rows == list(range(len(rows)))
    finally:
        path.unlink(missing_ok=True)
        path.with_suffix(".rejected").unlink(missing_ok=True)


def true_walked() -> list[bytes]:
    csv = [text[1:] for text in true_csv()] + [b'a,b,y\n1,2,0\nx,1,1\n\n3\n"4",5,1\n6,nan,0\n']
    sparse = [text[1:] for text in true_svmlight()] + [b"1 1:1\nx\n\n0 2:nan\n1 3:1\n# none\n0 1:7\n"]
    return [b"c" + bytes([size]) + text for text in csv for size in (1, 20, 255) if b"red" not in text] + [
        b"s" + bytes([size]) + text for text in sparse for size in (1, 20, 255)
    ]


# Bombs: a few bytes that stand for gigabytes --------------------------------------------------------------------------


def gzipped(*parts: tuple[bytes, int]) -> bytes:
    """Each of these bytes so many times, packed piece by piece."""
    out = io.BytesIO()
    with gzip.GzipFile(fileobj=out, mode="wb", compresslevel=1, mtime=0) as file:
        for content, times in parts:
            piece = content * (1 + (1 << 20) // len(content))
            for _ in range(times * len(content) // len(piece) + 1):
                file.write(piece)
    return out.getvalue()


def packed_bombs() -> list[bytes]:
    return [
        b"g" + gzip.compress(b"a,b,y\n1,") + gzipped((b"1", 2 * 10**8)),  # an endless number
        b"g" + gzip.compress(b"a,b,y\n") + gzipped((b"\n", 10**8)),  # no row, but lines
        b"g" + gzipped((b"a,", 4 * 10**7)),  # a header
        b"g" + gzip.compress(b'a,b,y\n1,"') + gzipped((b"1,\n", 6 * 10**7)),  # a quotation
        b"G" + gzip.compress(b"1 1:") + gzipped((b"0", 2 * 10**8)),
        b"G" + gzip.compress(b"1 1:1 #") + gzipped((b" ", 2 * 10**8)),
        b"b" + bz2.compress(b"a,b,y\n1,2," + bytes(1) * 10**8),
    ]


def array_bombs() -> list[bytes]:
    y = np.arange(2) % 2
    found = []
    for arrays in (
        {"X": np.zeros((2, 10**7)), "y": y},
        {"X": np.zeros((2 * 10**6, 4)), "y": np.arange(2 * 10**6) % 2},
        {"X": np.zeros((4, 2 * 10**6)).T, "y": np.arange(2 * 10**6) % 2},
        {"data": np.ones(2), "indices": y, "indptr": np.arange(3), "shape": (2, 2**31 - 2), "y": y},
        {"data": np.ones(10**7), "indices": np.zeros(10**7, int), "indptr": np.array([0, 1, 10**7]), "shape": (2, 9),
         "y": y},
    ):  # fmt: skip
        out = io.BytesIO()
        np.savez_compressed(out, **arrays)  # type: ignore[arg-type]
        found.append(b"\0" + out.getvalue())
    plain = io.BytesIO()
    np.save(plain, np.zeros((2, 2)))
    shapes = (b"(2, 999999999999)", b"(99999999999, 2)", b"(2, 2, 9999999999)")
    claim = b"(2, 2), }"
    return found + [
        b"\0" + plain.getvalue().replace(claim + b" " * (len(shape) - 6), shape + b", }") for shape in shapes
    ]


def table_bombs() -> list[bytes]:
    import pyarrow as pa
    import pyarrow.feather
    import pyarrow.parquet

    rows = 20 * 10**6
    table = pa.table({"a": np.zeros(rows), "y": (np.arange(rows) < 5).astype(np.int8)})
    found = []
    for write, how in (
        (pa.parquet.write_table, {"row_group_size": rows}),
        (pa.parquet.write_table, {"row_group_size": rows, "use_dictionary": False, "compression": "zstd"}),
        (pa.feather.write_feather, {"compression": "zstd", "chunksize": rows}),
    ):
        out = io.BytesIO()
        write(table, out, **how)
        found.append(b"\0" + out.getvalue())
    return found


def text_bombs() -> list[bytes]:
    header = b",".join(b"c%d" % k for k in range(300_000))
    wide = b",".join(b"c%d" % k for k in range(12_000))
    return [
        b"\0" + header + b",y\n", b"\0" + wide + b",y\n" + (b"1," * 12_000 + b"0\n") * 3,
        b"\3a,y\n1e999999999,0\n1,1\n", b"\3a,y\n1e-999999999,0\n1,1\n", b"\0a,y\n1e999999999,0\n1,1\n",
    ]  # fmt: skip


def sparse_bombs() -> list[bytes]:
    return [b"\0" + b"1 1:1 %d:1\n-1 1:2\n" % index for index in (249_999, 250_001, 67_108_864, 2**31 - 1, 2**63)]


CHECKED = Path(tempfile.gettempdir()) / f"linsep-fuzz-{os.getpid()}.json"

READERS: dict[str, Reader] = {
    "model": Reader(read_model, true_models()),
    "proof": Reader(verdict_from_json, true_proofs()),
    "checker": Reader(read_with_checker, true_proofs(), (checker.CheckError, ValueError, RecursionError)),
    "checkpoint": Reader(read_checkpoint, true_checkpoints()),
    "csv": Reader(lambda content: opened(content, "csv"), true_csv(), is_json=False, bombs=text_bombs, words=CSV_WORDS),
    "svmlight": Reader(
        lambda content: opened(content, "svm", None), true_svmlight(), is_json=False, bombs=sparse_bombs,
        words=SVM_WORDS,
    ),
    "table": Reader(read_table, true_tables(), is_json=False, bombs=table_bombs),
    "array": Reader(read_array, true_arrays(), is_json=False, bombs=array_bombs),
    "packed": Reader(packed, true_packed(), is_json=False, bombs=packed_bombs),
    "walked": Reader(walked, true_walked(), is_json=False, words=CSV_WORDS + SVM_WORDS),
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


def change_bytes(content: bytes, rng: random.Random, words: tuple[bytes, ...] = Reader.words) -> bytes:
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
            return content[:a] + rng.choice(words) + content[a if rng.random() < 0.5 else b :]
    return content[b:] + content[:a]


def mutated(seed: bytes, reader: Reader, rng: random.Random) -> bytes:
    """One input that a reader should refuse, or may accept."""
    is_json = reader.is_json
    if is_json and rng.random() < 0.6:
        document = json.loads(seed)
        document.pop("sha256", None)
        for _ in range(rng.choice([1, 1, 2, 5])):
            change_value(document, rng)
        text = json.dumps(document)
        return seal(text).encode() if rng.random() < 0.8 else text.encode()
    content = seed
    for _ in range(rng.choice([1, 1, 2, 4])):
        content = change_bytes(content, rng, reader.words)
    if is_json and rng.random() < 0.3:
        return seal(content.decode("utf-8", "replace")).encode()
    return content


def stop(*_: Any) -> None:
    raise TimeoutError("the input takes too long")


@contextmanager
def capped() -> Iterator[None]:
    """No more memory than the process has, what files may take, and some room."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + ASKED + ROOM, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def given(name: str, content: bytes, slow: float) -> bool:
    """Give a reader one input; whether it accepts it. Anything but that and a refusal is an error, with its input."""
    reader, started = READERS[name], time.process_time()
    signal.setitimer(signal.ITIMER_REAL, slow + HANG_S)
    try:
        reader.read(content)
        accepted = True
    except reader.refusals:
        accepted = False
    except Exception as error:
        raise AssertionError(f"{name}: {error!r} from\n{content[:5000]!r}") from error
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        CHECKED.unlink(missing_ok=True)
    assert time.process_time() - started < slow, f"{name} hangs on\n{content[:5000]!r}"
    return accepted


def read_seeds(reader: Reader) -> None:
    """What it should accept it does, with NumPy and with the compiled loops, which are then in memory."""
    few = exact.FEW_CELLS
    for exact.FEW_CELLS in (0, few):
        for content in reader.seeds:
            reader.read(content)


def fuzz(name: str, count: int, seed: int = 0) -> tuple[int, int]:
    """Give a reader so many inputs; how many it accepted and refused."""
    reader, rng, accepted = READERS[name], random.Random(f"{name} {seed}"), 0
    read_seeds(reader)
    signal.signal(signal.SIGALRM, stop)
    for start in range(0, count, INPUTS_A_CAP):
        with capped():
            for _ in range(min(INPUTS_A_CAP, count - start)):
                accepted += given(name, mutated(rng.choice(reader.seeds), reader, rng), SLOW_S)
    return accepted, count - accepted


def bombard(name: str) -> tuple[int, int]:
    """Give a reader of files its bombs; how many it accepted and refused."""
    reader = READERS[name]
    read_seeds(reader)
    bombs = reader.bombs()
    signal.signal(signal.SIGALRM, stop)
    with capped():
        accepted = sum(given(name, content, BOMB_S) for content in bombs)
    return accepted, len(bombs) - accepted


if __name__ == "__main__":
    total = int(sys.argv[1]) if len(sys.argv) > 1 else 200_000
    for reader in sys.argv[2:] or READERS:
        begun = time.perf_counter()
        read, blocked = bombard(reader)
        taken, refused = fuzz(reader, total)
        print(
            f"{reader}: {total:,} inputs, {taken:,} accepted, {refused:,} refused; {read + blocked} bombs, {blocked} "
            f"refused; {time.perf_counter() - begun:.0f} s",
            flush=True,
        )
