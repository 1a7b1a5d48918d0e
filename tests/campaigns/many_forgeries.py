"""Forgeries by the million before `verify`, the stand-alone checker and the extracted one.

    python -m tests.campaigns.many_forgeries [forgeries] [seed] [seconds of the processor]

True proofs of every version, of small tables, are changed a hundred times each; the table stays as it is. All three
must accept a forgery or none, and the two checkers must say the same words. (Whether what they accept is true is what
`forge.py` and the others ask, of fewer.) The checkers run in one process each, and the options are read once, so that
a million takes an hour of the processor. It ends with 1 if there was a difference, and says how far it came.
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import io
import itertools
import json
import random
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import linsep
from linsep import checker
from linsep.errors import LinsepError
from tests import naive
from tests.campaigns import class_campaign, forge, forge_classes, forge_definite, forge_mistakes, three_checkers
from tests.extracted import Extracted

OF_A_PROOF = 100  # forgeries
CHANGES = (
    *[forge.change_integer] * 5, forge.change_margin, forge.drop_row, forge.add_row, forge.scale_weights,
    forge.change_bias, forge.change_size, forge.change_separated, forge.zero_separator, forge.change_dependence,
    forge.nearly_equal, forge.drop_item, forge.swap_items, forge.forget_part, forge.change_kind, forge.change_leaf,
    forge.change_field, forge.change_version,
)  # fmt: skip


class Base(NamedTuple):
    """A true proof, its table in memory and as a file."""

    document: Any
    X: Any
    y: Any
    rows: str


# True proofs ---------------------------------------------------------------------------------------------


def small(seed: int) -> Iterator[Base]:
    for table, verdict in forge.tables(seed):
        document = json.loads(verdict.to_json())
        yield Base(forge.listed(document) if len(table.rows) % 2 else document, *table.arrays("dense"), table.csv())


def definite(seed: int) -> Iterator[Base]:
    for k, claim in enumerate(forge_definite.claims(seed)):
        document = json.loads(three_checkers._sealed(claim))
        yield Base(forge.shortened(document) if k % 2 else document, claim.X, claim.y, three_checkers._rows(claim))


def mistakes(seed: int) -> Iterator[Base]:
    for k in itertools.count():
        X, y, cost, bias = forge_mistakes.instance(np.random.default_rng([seed, k]))
        found = json.loads(linsep.fewest_mistakes(X, y, cost=cost, bias=bias, time_limit=60).to_json())
        later = forge_mistakes.in_version_5(found, naive.signed_rows(X, y, bias), random.Random(k))
        table = forge.Table(X.tolist(), y.tolist())
        yield Base(later or found, X, y, table.csv())


def classes(seed: int) -> Iterator[Base]:
    for k in itertools.count(10_000 * seed):
        table, bias = forge_classes.instance(k)
        X, y = table.arrays("dense")
        with class_campaign.long_road(k):
            found = linsep.decide_classes(X, y, by=forge_classes.BY[k % 3], bias=bias)
        yield Base(json.loads(found.to_json()), X, y, table.csv())


BASES = (small, small, definite, mistakes, classes)


# Forgeries -----------------------------------------------------------------------------------------------


def forged(base: Base, rng: random.Random) -> Any:
    """The document with one change or more."""
    document = copy.deepcopy(base.document)
    table = forge.Table(base.X.tolist(), base.y.tolist())
    kind = document["kind"]
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        with contextlib.suppress(KeyError, TypeError, AttributeError, ValueError, IndexError):
            if kind == "mistakes" and rng.random() < 0.8:
                rng.choice(forge_mistakes.CHANGES + forge_mistakes.DEFINITE)(rng, document)
            elif kind == "classes" and rng.random() < 0.9:
                rng.choice(forge_classes.CHANGES[:-2])(rng, document, table)
            else:
                rng.choice(CHANGES)(document, table, rng)
    return document


class OneParser:
    """In place of argparse: the options are always the same."""

    BooleanOptionalAction = argparse.BooleanOptionalAction
    Namespace = argparse.Namespace

    def __init__(self, paths: tuple[Path, Path]) -> None:
        words: dict[str, Any] = {"label": None, "header": False, "bias": None, "positive": None, "numbers": None}
        self.given = argparse.Namespace(proof=str(paths[0]), data=str(paths[1]), json=False, **words)

    def ArgumentParser(self, **_: Any) -> OneParser:  # noqa: N802
        return self

    def add_argument(self, *_: Any, **__: Any) -> None:
        """They are known."""

    def parse_args(self, _: Any) -> argparse.Namespace:
        return self.given


class Flood:
    """The three checkers, and what they said."""

    def __init__(self, folder: Path, extracted: Extracted) -> None:
        self.paths = folder / "proof.json", folder / "data.csv"
        self.extracted = extracted
        self.seen: Counter[tuple[str, str]] = Counter()
        self.faults: list[str] = []

    def hear(self, base: Base, document: Any) -> None:
        """One forgery; the rows are in the file already."""
        text = forge.resealed(document)
        self.paths[0].write_text(text, "utf-8")
        words, said = [*map(str, self.paths)], io.StringIO()
        with contextlib.redirect_stdout(said):
            status = checker.main(words)
        other, told = self.extracted.ask(words)
        accepted, known = status == 0, self.library(text, base)
        agree = other == status and (status == checker.BAD_INPUT or said.getvalue() == told + "\n")
        if not agree or (accepted != known and not excused(document, accepted, known)):
            case = f"verify {known}, stand-alone {said.getvalue()!r}, extracted {told!r}\n{text}\n{base.rows}"
            self.faults.append(case)
        version = document.get("version") if isinstance(document, dict) else None
        self.seen[
            str(version) if version in checker.FRAME["version"].split("|") else "none", three_checkers.VERDICTS[status]
        ] += 1

    @staticmethod
    def library(text: str, base: Base) -> bool:
        try:
            found: Any = linsep.verdict_from_json(text)
            found.verify(base.X, base.y)
        except LinsepError:
            return False
        return any(each.kind != "undecided" for each in getattr(found, "verdicts", [found]))

    def told(self) -> str:
        """A table of versions and answers."""
        names = sorted({version for version, _ in self.seen})
        lines = [f"{'version':<12}" + "".join(f"{verdict:>12}" for verdict in three_checkers.VERDICTS)]
        lines += [
            f"{name:<12}" + "".join(f"{self.seen[name, verdict]:>12,}" for verdict in three_checkers.VERDICTS)
            for name in names
        ]
        return "\n".join([*lines, f"{self.seen.total():,} forgeries, {len(self.faults)} differences"])


def excused(document: Any, accepted: bool, known: bool) -> bool:
    """Names, which rows in memory do not have; and x and -x, which are copies without a bias, in a file alone."""
    data = document["data"]
    named = data["names"] is not None or data["label_column"] is not None
    return (known and named) or (accepted and not data["bias"] and bool(document.get("copies")))


def flood(total: int, seed: int, seconds: float, folder: Path) -> Flood:
    """So many forgeries, or as many as there is time for."""
    rng, start = random.Random(seed), time.process_time()
    sources = [base(seed + k) for k, base in enumerate(BASES)]
    with Extracted() as extracted:
        found = Flood(folder, extracted)
        original, checker.argparse = checker.argparse, OneParser(found.paths)  # type: ignore[assignment]
        try:
            for source in itertools.cycle(sources):
                base = next(source)
                found.paths[1].write_text(base.rows, "utf-8", newline="")
                for _ in range(OF_A_PROOF):
                    found.hear(base, forged(base, rng))
                if found.seen.total() % 10_000 < OF_A_PROOF:
                    print(f"{time.process_time() - start:.0f} s\n{found.told()}", file=sys.stderr, flush=True)
                if found.seen.total() >= total or time.process_time() - start > seconds:
                    return found
        except KeyboardInterrupt:  # what was tried counts
            return found
        finally:
            checker.argparse = original
    raise AssertionError("unreachable")


def main(total: int = 1_000_000, seed: int = 0, seconds: int = 1 << 30) -> int:
    """Run the campaign and say what came of it."""
    warnings.simplefilter("error")
    with tempfile.TemporaryDirectory() as folder:
        found = flood(total, seed, seconds, Path(folder))
    for fault in found.faults[:10]:
        print(fault)
    print(found.told())
    return int(bool(found.faults))


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
