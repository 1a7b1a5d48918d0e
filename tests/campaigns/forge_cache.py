"""Forged, damaged and stale caches: no answer may differ from one without a cache.

    python -m tests.campaigns.forge_cache 20000

Each case takes a file with its cache, does something to one of them, and asks again: what `open` finds, what a scan
and a few rows say, what `decide` answers, and whether `verify` accepts true proofs and refuses false ones.
"""

import gzip
import json
import os
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import linsep
from linsep.errors import LinsepError


class Case:
    """A file, another of the same shape whose two first labels are exchanged, and the caches of both."""

    def __init__(self, folder: Path, name: str, X: Any, y: Any) -> None:
        self.folder = folder / name.replace(".", "-")
        self.folder.mkdir()
        self.private = self.folder / "private"
        os.environ["LINSEP_CACHE"] = str(self.private)
        self.label = None if ".svm" in name else "y"
        swapped = y.copy()
        swapped[[0, np.flatnonzero(y != y[0])[0]]] = y[[np.flatnonzero(y != y[0])[0], 0]]
        self.texts = [text_of(X, labels, name) for labels in (y, swapped)]
        self.paths = [self.folder / f"{letter}{name}" for letter in "ab"]
        self.caches: list[Path] = []
        self.truths = []
        for path, text in zip(self.paths, self.texts, strict=True):
            path.write_bytes(text)
            os.utime(path, ns=(10**18, 10**18))
            self.truths.append(answer(linsep.open(path, label=self.label, cache=False)))
            before = set(self.private.iterdir()) if self.private.exists() else set()
            linsep.open(path, label=self.label, cache=True, memory="1MiB")
            self.caches += set(self.private.iterdir()) - before
        self.contents = [cache.read_bytes() for cache in self.caches]
        sources = [linsep.open(path, label=self.label, cache=False) for path in self.paths]
        self.proofs = [linsep.decide(source) for source in sources]
        self.accepted = [[accepts(proof, source) for proof in self.proofs] for source in sources]

    def restore(self) -> None:
        """As it was before."""
        for file in (*self.folder.iterdir(), *self.private.iterdir()):
            if file.is_file() and file not in (*self.paths, *self.caches):
                file.unlink()
        for path, content in zip((*self.paths, *self.caches), (*self.texts, *self.contents), strict=True):
            if not path.exists() or path.read_bytes() != content:
                path.write_bytes(content)
                path.chmod(0o600)
            os.utime(path, ns=(10**18, 10**18))

    def opened(self) -> Any:
        return linsep.open(self.paths[0], label=self.label, cache=True, memory="1MiB")

    def judge(self, source: Any, which: int) -> None:
        """The source must answer as its file does without a cache, and verify must know true from false."""
        assert answer(source) == self.truths[which], (self.paths[0], which)
        for proof, is_true in zip(self.proofs, self.accepted[which], strict=True):
            assert accepts(proof, self.opened()) == is_true, (self.paths[0], which)


def accepts(proof: Any, source: Any) -> bool:
    try:
        proof.verify(source)
    except LinsepError:
        return False
    return True


def text_of(X: Any, y: Any, name: str) -> bytes:
    if ".svm" in name:
        pairs = (" ".join(f"{j + 1}:{value!r}" for j, value in enumerate(row)) for row in X.tolist())
        text = "".join(f"{label:+d} {pair}\n" for label, pair in zip(y.tolist(), pairs, strict=True))
    else:
        rows = (",".join(map(repr, [*row, label])) for row, label in zip(X.tolist(), y.tolist(), strict=True))
        text = "a,b,c,y\n" + "".join(f"{row}\n" for row in rows)
    return gzip.compress(text.encode(), mtime=0) if name.endswith(".gz") else text.encode()


def answer(source: Any) -> Any:
    """All rows, a few rows, a scan and a verdict."""
    block, few = source.take(range(source.n_rows)), source.take([5, 300, 7])
    scan = source.scan(np.array([1.0, -2.0, 0.5]), 0.25, worst=4)
    document = json.loads(linsep.decide(source).to_json())
    del document["effort"], document["sha256"]
    rows = [np.asarray(getattr(b.values, "toarray", lambda b=b: b.values)()).tobytes() for b in (block, few)]
    return rows, block.y.tolist(), few.y.tolist(), scan.mistakes, scan.worst_scores.tolist(), document


# What may happen to a cache. Each returns which content the file has then, and the source to ask if that is open.

Forgery = Callable[[Case, random.Random], tuple[int, Any]]


def flipped(case: Case, rng: random.Random) -> tuple[int, Any]:
    content = bytearray(case.contents[0])
    for _ in range(rng.choice([1, 1, 2, 3, 8, 100])):
        content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
    case.caches[0].write_bytes(content)
    return 0, None


def flipped_while_open(case: Case, rng: random.Random) -> tuple[int, Any]:
    source = case.opened()
    flipped(case, rng)
    return 0, source


def cut(case: Case, rng: random.Random) -> tuple[int, Any]:
    content, place = case.contents[0], rng.randrange(len(case.contents[0]))
    more = rng.choice([b"", content[:place], content[place + 8 :], bytes(len(content) - place), rng.randbytes(9)])
    case.caches[0].write_bytes(content[:place] + more)
    return 0, None


def cut_while_open(case: Case, rng: random.Random) -> tuple[int, Any]:
    source = case.opened()
    cut(case, rng)
    return 0, source


def exchanged(case: Case, rng: random.Random) -> tuple[int, Any]:
    source = rng.choice([case.opened(), None])
    case.caches[0].write_bytes(case.contents[1])
    return 0, source


def spliced(case: Case, rng: random.Random) -> tuple[int, Any]:
    place = rng.randrange(len(case.contents[0]))
    case.caches[0].write_bytes(case.contents[1][:place] + case.contents[0][place:])
    return 0, None


def planted(case: Case, rng: random.Random) -> tuple[int, Any]:
    """A cache of other content beside the data, under every name that one has or had."""
    name = case.paths[0].name
    for planted_name in (case.caches[0].name, f".{name}.0123456789ab.linsep-cache", f"{name}.linsep-cache"):
        (case.folder / planted_name).write_bytes(case.contents[1])
    if rng.random() < 0.5:
        case.caches[0].unlink()
    return 0, None


def of_another(case: Case, rng: random.Random) -> tuple[int, Any]:
    """A cache in the private folder that others may write to, or a link to one elsewhere."""
    case.caches[0].write_bytes(case.contents[1])
    if rng.random() < 0.5:
        case.caches[0].chmod(rng.choice([0o666, 0o620, 0o602]))
    else:
        case.caches[0].rename(case.folder / "elsewhere")
        case.caches[0].symlink_to(case.folder / "elsewhere")
    return 0, None


def stale(case: Case, rng: random.Random) -> tuple[int, Any]:
    """The data changed, their size and time did not."""
    path = case.paths[0]
    if rng.random() < 0.5:
        path.write_bytes(case.texts[1])
    else:
        (case.folder / "new").write_bytes(case.texts[1])
        (case.folder / "new").rename(path)
    os.utime(path, ns=(10**18, 10**18))
    return 1, None


def gone(case: Case, rng: random.Random) -> tuple[int, Any]:
    source = case.opened()
    case.caches[0].unlink()
    return 0, source


FORGERIES: list[Forgery] = [
    flipped, flipped_while_open, cut, cut_while_open, exchanged, spliced, planted, of_another, stale, gone
]  # fmt: skip


def cases(folder: Path) -> list[Case]:
    X, y = linsep.datasets.planted(700, 3, margin=0.05, seed=1)
    whole = np.round(X * 40).astype(np.int64)
    long = whole + np.array([2**53, 0, 0])
    wrong = np.where(np.arange(700) < 3, -y, y)
    sets = {"x.csv": (X, y), "w.csv": (X, wrong), "i.csv": (whole, y), "l.csv": (long, y), "x.csv.gz": (X, y)}
    sets |= {"x.svm": (X, y), "w.svm.gz": (X, wrong)}
    return [Case(folder, name, *data) for name, data in sets.items()]


def forge_cache(count: int, seed: int = 0, folder: Path | None = None) -> Counter[str]:
    """Try so many forgeries; how many there were of each kind. Any wrong answer is an AssertionError."""
    before, rng, counts = os.environ.get("LINSEP_CACHE"), random.Random(seed), Counter[str]()
    with tempfile.TemporaryDirectory(dir=folder) as name:
        try:
            ready = cases(Path(name))
            for k in range(count):
                case, forgery = rng.choice(ready), FORGERIES[k % len(FORGERIES)]
                os.environ["LINSEP_CACHE"] = str(case.private)
                case.restore()
                which, source = forgery(case, rng)
                case.judge(case.opened() if source is None else source, which)
                counts[forgery.__name__] += 1
        finally:
            os.environ.pop("LINSEP_CACHE")
            if before is not None:
                os.environ["LINSEP_CACHE"] = before
    return counts


if __name__ == "__main__":
    found = forge_cache(int(sys.argv[1]) if len(sys.argv) > 1 else 20_000)
    for kind, number in found.items():
        print(f"{kind}: {number:,}, no wrong answer")
