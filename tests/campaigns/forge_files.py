"""Forged proofs of files and containers: the proof is true of something, but not of what the user has.

A forger who writes a proof file chooses its header, label column, labels, bias, columns, row count and way of reading
numbers. Here such proofs are held against CSV files with and without a header, under random options of the user, by
`linsep verify` and by the stand-alone checker. Whatever either accepts is then read again from the text of the file,
by the rules of docs/certificate-format.md in their plainest form, and decided in Fractions by tests/naive.py: the
statement that was printed must be true, and must agree with every option. `tests.campaigns.forge` runs this too.
"""

from __future__ import annotations

import contextlib
import csv
import io
import itertools
import json
import random
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from linsep import checker
from linsep.cli import main
from linsep.errors import LinsepError
from linsep.proofs import Overlapping, Separable, Touching
from linsep.proofs.proof_json import verdict_from_json
from tests import naive
from tests.campaigns.forge import Table, judge, read_label, resealed, true_proof, typed

CELLS = ["0", "1", "1", "2", "-1", "0.5", "0.1", "0.2", "0.3", "3"]
CLASSES = [("0", "1"), ("-1", "1"), ("no", "yes"), ("1", "2"), ("false", "true")]
KINDS = {Separable: "separable", Touching: "touching", Overlapping: "overlapping"}


@dataclass
class World:
    """A CSV file, and what its owner knows about it."""

    header: list[str] | None
    rows: list[list[str]]
    place: int

    def text(self) -> str:
        out = io.StringIO()
        csv.writer(out).writerows([*([self.header] if self.header else []), *self.rows])
        return out.getvalue()

    def names(self) -> list[str] | None:
        return None if self.header is None else without(self.header, self.place)


def without(cells: list[str], place: int) -> list[str]:
    return cells[:place] + cells[place + 1 :]


def labels_of(words: list[str]) -> list[Any]:
    """Cells of a label column as linsep reads them: integers if all are, else numbers if all are, else text."""
    for kind in (int, float):
        with contextlib.suppress(ValueError):
            return list(map(kind, words))
    return words


def number_of(cell: str, numbers: str) -> Any:
    cell = {"true": "1", "false": "0"}.get(cell, cell)
    return Fraction(cell) if numbers == "decimal" else float(cell)


def world(rng: random.Random) -> World:
    """Two to six rows of one or two columns and a label, under names, under numbers, or under nothing."""
    width, classes = rng.randint(2, 3), rng.choice(CLASSES)
    place = rng.choice([0, width - 1, width - 1])
    rows = [[rng.choice(CELLS) for _ in range(width)] for _ in range(rng.randint(2, 6))]
    for row in rows:
        row[place] = rng.choice(classes)
    if rng.random() < 0.3:  # a copy of a row, with the same label or another
        rows.append([*rng.choice(rows)])
        rows[-1][place] = rng.choice(classes)
    header = rng.choice([None, ["a", "b", "y"][:width], ["7", "8", "9"][:width], ["10", "b", "12"][:width]])
    return World(header, rows, place)


# What forgers do: a proof that is true of another table, dressed up as one of this.


def proof_about(rows: list[list[str]], place: int, bias: bool, numbers: str, positive: int) -> Any:
    """The true proof of these cells as a document; None where there is none with small integers."""
    labels = labels_of([row[place] for row in rows])
    classes = sorted(set(labels), reverse=not positive)
    if len(classes) != 2:
        return None
    try:
        values = [[number_of(cell, numbers) for cell in without(row, place)] for row in rows]
    except ValueError:
        return None
    prove = true_proof if numbers == "binary64" else _in_tenths
    verdict = prove(Table(values, labels), (classes[0], classes[1]), bias)
    if verdict is None:
        return None
    document = json.loads(verdict.to_json())
    document["data"]["numbers"] = numbers
    if numbers == "decimal" and document["kind"] == "separable":
        document["margin"] = None
    return document


def _in_tenths(table: Table, labels: Any, bias: bool) -> Any:
    """The proof of decimals: found for ten times their values, whose weights are a tenth."""
    tens = Table([[float(value * 10) for value in row] for row in table.rows], table.labels)
    document = true_proof(tens, labels, bias)
    if document is None or isinstance(document, Overlapping):
        return document
    from dataclasses import replace

    changes: dict[str, Any] = {"weights": tuple(10 * w for w in document.weights)}
    if isinstance(document, Separable):
        changes |= {"margin": None, "nearest": None}
    return replace(document, **changes)


def forged(known: World, rng: random.Random) -> tuple[str, Any]:
    """The name of a trick, and the document that plays it (None where it cannot be played)."""
    rows, place, first = known.rows, known.place, known.header
    bias, numbers = rng.random() < 0.6, "decimal" if rng.random() < 0.2 else "binary64"
    trick = rng.choice(
        ["honest", "honest", "header", "row", "column", "subset", "fewer", "left out", "label", "repeat"]
    )
    if trick == "header" and first is None:
        first, rows = rows[0], rows[1:]
    elif trick == "row" and first is not None:
        first, rows = None, [first, *rows]
    elif trick == "column":
        place = rng.randrange(len(rows[0]))
    elif trick == "subset" and len(rows[0]) == 3:
        gone = rng.choice([k for k in range(3) if k != place])
        rows, first = [without(row, gone) for row in rows], first and without(first, gone)
        place -= gone < place
    elif trick in ("fewer", "left out"):
        gone = rng.randrange(len(rows))
        rows = rows[:gone] + rows[gone + 1 :]
    elif trick == "repeat":
        rows = [*rows, rng.choice(rows)]
    document = proof_about(rows, place, bias, numbers, rng.randint(0, 1))
    if document is None:
        return trick, None
    data = document["data"]
    data["rows_left_out"] = "1" if trick == "left out" else "0"
    if first is not None and rng.random() < 0.8:
        data |= {"names": without(first, place), "label_column": first[place]}
    if trick == "label":
        relabel(data, rng)
    if rng.random() < 0.3:
        slip(data, known, rng)
    return trick, document


def relabel(data: Any, rng: random.Random) -> None:
    """Other labels, other kinds of labels, or the two in the other order, and the claim as it was."""
    words = [written.split(":", 1)[1] for written in data["labels"]]
    kind = rng.choice(["text", "integer", "number", "boolean"])
    data["labels"] = rng.choice([data["labels"][::-1], [f"{kind}:{word}" for word in words], ["text:a", "text:b"]])


def slip(data: Any, known: World, rng: random.Random) -> None:
    """One field of the data changed, and nothing else."""
    names = known.header or known.rows[0]
    name = rng.choice(["bias", "numbers", "label_column", "names", "rows", "columns", "rows_left_out"])
    data[name] = {
        "bias": not data["bias"],
        "numbers": rng.choice(["binary64", "decimal", "exact-integers"]),
        "label_column": rng.choice([None, *names]),
        "names": rng.choice([None, without(names, known.place), names]),
        "rows": str(len(known.rows) + rng.choice([-1, 0, 1])),
        "columns": str(len(names) - 1 + rng.choice([-1, 0, 1])),
        "rows_left_out": rng.choice(["0", "1", "7"]),
    }[name]


def asked(known: World, document: Any, rng: random.Random) -> dict[str, Any]:
    """What the user says: nothing, the truth, or something else."""
    options: dict[str, Any] = {}
    names = known.header or known.rows[0]
    if rng.random() < 0.4:
        options["--label"] = rng.choice([names[known.place], str(known.place), "-1", "0", rng.choice(names)])
    if rng.random() < 0.15:
        options["--header"] = True
    if rng.random() < 0.2:
        options[rng.choice(["--bias", "--no-bias"])] = True
    if rng.random() < 0.2:
        options["--positive"] = rng.choice(known.rows)[known.place]
    if rng.random() < 0.1:
        options["--numbers"] = rng.choice(["binary64", "decimal"])
    return options


# The audit.


class ForgeryError(AssertionError):
    """Something was accepted that is not so."""


def audit(said: Any, known: World, options: dict[str, Any]) -> None:
    """Hold what was printed against the file and the user's words."""
    lines, data = [row for row in csv.reader(io.StringIO(known.text())) if row], said["data"]
    wanted = options.get("--label")
    is_name = wanted is not None and not wanted.lstrip("-").isdecimal()
    place = lines[0].index(data["label_column"]) if said["header"] else _position(wanted, len(lines[0]))
    others = without(lines[0], place)
    looks_like_header = any(len(_readings(cell)) == 1 for cell in others)
    _require(said["header"] == bool("--header" in options or is_name or looks_like_header), "the header")
    _require(said["header"] or data["label_column"] is data["names"] is None, "names without a header")
    _require(not said["header"] or data["names"] == others, "the names")
    if wanted is not None:
        _require(place == _position(wanted, len(lines[0])) or lines[0][place] == wanted, "the label column")
    rows = lines[said["header"] :]
    _require(int(data["rows"]) == len(rows) and int(data["columns"]) == len(others), "the size")
    _require(not ((data["bias"] and "--no-bias" in options) or (not data["bias"] and "--bias" in options)), "the bias")
    _require((options.get("--numbers", data["numbers"]) == "decimal") == (data["numbers"] == "decimal"), "the numbers")
    negative, positive = (typed(read_label(label)) for label in data["labels"])
    if "--positive" in options:
        _require(positive in _readings(options["--positive"]), "the positive class")
    signs = []
    for row in rows:
        is_negative, is_positive = (label in _readings(row[place]) for label in (negative, positive))
        _require(is_negative != is_positive, "a label")
        signs.append(1 if is_positive else -1)
    values = [[number_of(cell, data["numbers"]) for cell in without(row, place)] for row in rows]
    _require(naive.decide(values, signs, data["bias"]) == said["kind"], "the verdict")


def _position(wanted: str | None, width: int) -> int:
    return width - 1 if wanted is None or not wanted.lstrip("-").isdecimal() else int(wanted) % width


def _readings(word: str) -> list[tuple[str, Any]]:
    """What a cell may be as a label: text, and a number or a boolean if it looks like one."""
    readings: list[tuple[str, Any]] = [("text", word)]
    with contextlib.suppress(ValueError):
        readings.append(("number", float(word)))
    return readings + [("boolean", word == "true")] * (word in ("true", "false"))


def _require(condition: bool, what: str) -> None:
    if not condition:
        raise ForgeryError(what)


def answers(folder: Path, document: Any, known: World, options: dict[str, Any]) -> list[tuple[int, Any]]:
    """The exit codes and JSON of linsep verify and of the checker."""
    paths = folder / "proof.json", folder / "data.csv"
    paths[0].write_text(resealed(document), encoding="utf-8")
    paths[1].write_text(known.text(), encoding="utf-8", newline="")
    words = [*map(str, paths), *itertools.chain(*([k] if v is True else [k, v] for k, v in options.items())), "--json"]
    found = []
    for run in (lambda: main(["verify", *words]), lambda: checker.main(words)):
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
            code = run()
        assert code in (0, 1, 2, 3), (code, words, known.text())
        found.append((code, json.loads(out.getvalue()) if code == 0 else None))
    return found


def meant(said: Any) -> Any:
    """A statement, however it is worded."""
    return said["kind"], said["header"], said["data"] | {"labels": [*map(read_label, said["data"]["labels"])]}


@dataclass
class Count:
    """How many forgeries were tried, and how many true statements came of them, by trick."""

    tried: Counter[str] = field(default_factory=Counter)
    accepted: Counter[str] = field(default_factory=Counter)


def forge_files(count: int, seed: int = 0, folder: Path | None = None) -> Count:
    """Try `count` forged proofs of files; an AssertionError names the first that was accepted."""
    rng, counts = random.Random(seed), Count()
    with tempfile.TemporaryDirectory(dir=folder) as name:
        while counts.tried.total() < count:
            known = world(rng)
            trick, document = forged(known, rng)
            if document is None:
                continue
            options = asked(known, document, rng)
            counts.tried[trick] += 1
            (code, said), (_, told) = answers(Path(name), document, known, options)
            case = f"{trick} {options}\n{known.text()}\n{json.dumps(document['data'])} {document['kind']}"
            for statement in filter(None, (said, told)):
                try:
                    audit(statement, known, options)
                except ForgeryError as error:
                    raise AssertionError(f"accepted, though {error} is not so: {statement}\n{case}") from error
            same = said is None or (told is not None and meant(said) == meant(told))
            assert same, f"linsep verify accepts, the checker does not:\n{said}\n{told}\n{case}"
            assert said or not told or not told["header"], f"only the checker accepts:\n{told}\n{code}\n{case}"
            counts.accepted[trick] += bool(told)
    return counts


# Containers that a library would convert: long doubles, and sparse entries that stand twice.


def forge_containers(count: int, seed: int = 0) -> int:
    """Proofs of what NumPy or SciPy would make of a table, held against the table itself; how many were refused."""
    rng, refused = random.Random(seed), 0
    for _ in range(count):
        rounded, exact, X = rng.choice([long_doubles, repeated_entries])(rng)
        y = [rng.choice([0, 1]) for _ in rounded]
        verdict = true_proof(Table(rounded, y), (0, 1), rng.random() < 0.7) if len(set(y)) == 2 else None
        if verdict is None:
            continue
        truth = judge(json.loads(verdict.to_json()), Table(exact, y))
        try:
            verdict_from_json(verdict.to_json()).verify(X, np.array(y))
        except LinsepError:
            refused += 1
            continue
        assert truth, f"accepted for {X!r} with labels {y}, exactly {exact}:\n{verdict!r}"
    return refused


def long_doubles(rng: random.Random) -> tuple[list[list[float]], list[list[Any]], Any]:
    """Numbers a little off those that binary64 makes of them."""
    rounded = [[float(rng.choice([0, 1, 1, 2, -1])) for _ in range(2)] for _ in range(rng.randint(2, 6))]
    tiny = np.longdouble(2) ** -60
    X = np.array([[np.longdouble(v) + rng.choice([0, 0, tiny, -tiny]) for v in row] for row in rounded])
    return rounded, [[Fraction(*v.as_integer_ratio()) for v in row] for row in X], X


def repeated_entries(rng: random.Random) -> tuple[list[list[float]], list[list[Any]], Any]:
    """Entries that stand twice, whose sum does not fit their type."""
    n_rows = rng.randint(2, 6)
    entries = [(i, j, rng.choice([0, 1, 100, 200, 156])) for i in range(n_rows) for j in (0, 1, 1)]
    i, j, v = map(list, zip(*entries, strict=True))
    X = sparse.coo_array((np.array(v, dtype=np.uint8), (i, j)), shape=(n_rows, 2))
    exact = np.zeros((n_rows, 2), dtype=object)
    for row, column, value in entries:
        exact[row, column] += value
    return (exact % 256).astype(float).tolist(), exact.tolist(), X
