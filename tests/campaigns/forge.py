"""Forged proofs by the thousand: `python -m tests.campaigns.forge 100000`.

True proofs of small tables are changed in every way a mistake or a forger would change them: any field, row,
weight, sign, label or kind, the text itself, or the data under it. Then three judges look at each:

* the library (`verdict_from_json(...).verify(...)`),
* the stand-alone checker,
* `judge`, below: the definitions, in Fractions, as plainly as they can be written.

The first two must always agree, and may accept only what the third calls true. Where the change kept to the
written format, they must accept everything that the third calls true. Of a positive-definite proof the third asks only
whether what follows from it is true: that every weak separator of its rows is 0 on them.
"""

from __future__ import annotations

import contextlib
import copy
import csv
import io
import itertools
import json
import math
import random
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from linsep import checker
from linsep.errors import CertificateError, LinsepError
from linsep.proofs import Obstruction, Overlapping, Separable, Touching, Undecided, Verdict
from linsep.proofs.checked_rows import rows_of
from linsep.proofs.definite import ColumnDependence
from linsep.proofs.margin_checks import margin_bounds
from linsep.proofs.proof_json import verdict_from_json
from linsep.storage.checksum import seal


@dataclass
class Table:
    """Rows of numbers with labels, as a user would have them."""

    rows: list[list[float]]
    labels: list[Any]

    def csv(self) -> str:
        out = io.StringIO()
        csv.writer(out).writerows([*map(repr, row), label] for row, label in zip(self.rows, self.labels, strict=True))
        return out.getvalue()

    def arrays(self, layout: str) -> tuple[Any, Any]:
        if layout == "lists":
            return self.rows, self.labels
        dense = np.array(self.rows)
        return (sparse.csr_array(dense) if layout == "csr" else dense), np.array(self.labels)


# The third judge.


READERS: dict[str, Callable[[str], Any]] = {
    "text": str, "integer": lambda word: int(word, 0), "number": float, "boolean": {"false": False, "true": True}.get
}  # fmt: skip


def read_label(written: str) -> Any:
    kind, word = written.split(":", 1)
    return READERS[kind](word)


def typed(label: Any) -> tuple[str, Any]:
    """A label with its kind: 1 and 1.0 are the same number, but neither is True or "1"."""
    return ("text" if isinstance(label, str) else "boolean" if isinstance(label, bool) else "number"), label


def signed(table: Table, labels: Any, bias: bool) -> list[list[Fraction]]:
    rows = []
    for row, label in zip(table.rows, table.labels, strict=True):
        sign = (-1, 1)[[typed(known) for known in labels].index(typed(label))]
        rows.append([sign * Fraction(v) for v in row] + [Fraction(sign)] * bias)
    return rows


def dot(a: list[Fraction], b: list[Any]) -> Fraction:
    return sum((x * y for x, y in zip(a, b, strict=True)), Fraction(0))


def rank(rows: list[list[Fraction]]) -> int:
    rows, found = [list(row) for row in rows], 0
    for column in range(len(rows[0]) if rows else 0):
        pivot = next((i for i in range(found, len(rows)) if rows[i][column]), None)
        if pivot is None:
            continue
        rows[found], rows[pivot] = rows[pivot], rows[found]
        for i in range(found + 1, len(rows)):
            factor = rows[i][column] / rows[found][column]
            rows[i] = [a - factor * b for a, b in zip(rows[i], rows[found], strict=True)]
        found += 1
    return found


def combination(fields: Any, Z: list[list[Fraction]]) -> list[tuple[int, int]]:
    """Rows and weights, if they are distinct existing rows with positive weights."""
    rows, weights = [int(r) for r in fields["rows"]], [int(u, 0) for u in fields["weights"]]
    if not rows or len(rows) != len(weights) or len(set(rows)) != len(rows) or min(weights) <= 0:
        raise ValueError
    if min(rows) < 0 or max(rows) >= len(Z):
        raise ValueError
    return list(zip(rows, weights, strict=True))


def is_zero(fields: Any, Z: list[list[Fraction]]) -> bool:
    pairs = combination(fields, Z)
    return all(sum(u * Z[i][j] for i, u in pairs) == 0 for j in range(len(Z[0])))


def are_spanned(fields: Any, others: list[list[Fraction]], Z: list[list[Fraction]]) -> bool:
    few = [Z[i] for i, _ in combination(fields, Z)]
    return all(rank([*few, z]) == rank(few) for z in others)


def listed(document: Any) -> Any:
    """A proof of version 3 as one of version 2: rows and weights in lists."""
    if not isinstance(document, dict) or document.get("version") != "3":
        return document
    fields = dict(document["definite"])
    steps = [int(step) for step in fields.pop("steps").split(" ")]
    rows = [str(row) for row in itertools.accumulate(steps)]
    return {**document, "version": "2", "definite": {**fields, "rows": rows, "weights": fields["weights"].split(" ")}}


def shortened(document: Any) -> Any:
    """The reverse, where rows and weights are what a text can hold; it may be as wrong as before."""
    fields = document["definite"]
    rows = [0, *map(int, fields["rows"])]
    steps = [str(after - before) for before, after in itertools.pairwise(rows)]
    short = {"steps": " ".join(steps), "weights": " ".join(fields["weights"]), "dependences": fields["dependences"]}
    return {**document, "version": "3", "definite": short}


def is_definite(fields: Any, Z: list[list[Fraction]]) -> bool:
    """Is every weak separator of the rows 0 on them, and do the dependences hold, each with a column of its own?"""
    few, own = [Z[i] for i, _ in combination(fields, Z)], set()
    for dependence in fields["dependences"]:
        columns, weights = [int(c) for c in dependence["columns"]], [int(w, 0) for w in dependence["weights"]]
        if not own.isdisjoint(columns) or not all(weights) or len(set(columns)) != len(columns) != 0:
            return False
        if any(sum(w * z[c] for c, w in zip(columns, weights, strict=True)) for z in few):
            return False
        own.add(columns[0])
    return {i for rows, _ in circuits(few) for i in rows} == set(range(len(few)))


def is_margin(margin: Any, scores: list[Fraction], weights: list[int], Z: list[list[Fraction]], bias: bool) -> bool:
    if margin is None:
        return True
    length = sum(w * w for w in weights)
    if not length or any(s * s < Fraction(margin["low"]) ** 2 * length for s in scores):
        return False
    if margin["high"] is None or margin["nearest"] is None:
        return margin["high"] is None and margin["nearest"] is None
    pairs = combination(margin["nearest"], Z)
    if not bias:
        mean = [sum(u * Z[i][j] for i, u in pairs) / sum(u for _, u in pairs) for j in range(len(Z[0]))]
        return dot(mean, mean) <= Fraction(margin["high"]) ** 2
    means = []
    for sign in (1, -1):
        mine = [(i, u) for i, u in pairs if Z[i][-1] == sign]
        means.append([sum(u * sign * Z[i][j] for i, u in mine) / sum(u for _, u in mine) for j in range(len(Z[0]))])
    gap = [p - q for p, q in zip(*means, strict=True)]
    return dot(gap, gap) <= 4 * Fraction(margin["high"]) ** 2


def judge(document: Any, table: Table) -> bool:
    """Is what the document states true of the table? Lenient about form, strict about truth."""
    try:
        return _judge(listed(document), document["data"], table)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, ZeroDivisionError, OverflowError):
        return False


def _judge(document: Any, data: Any, table: Table) -> bool:
    if int(data["rows"]) != len(table.rows) or any(len(row) != int(data["columns"]) for row in table.rows):
        return False
    bias = data["bias"]
    labels = [read_label(written) for written in data["labels"]]
    if len(labels) != 2 or labels[0] == labels[1]:
        return False
    return is_true_of(document, signed(table, labels, bias), bias)


def is_true_of(document: Any, Z: list[list[Fraction]], bias: bool) -> bool:
    """Is what the document states true of these signed rows?"""
    if document["kind"] == "not-separable":
        return is_definite(document["definite"], Z) if "definite" in document else is_zero(document["obstruction"], Z)
    if document["kind"] == "overlapping" and "definite" in document:
        return is_definite(document["definite"], Z) and are_spanned(document["definite"], Z, Z)
    if document["kind"] == "overlapping":
        return (
            is_zero(document["obstruction"], Z)
            and is_zero(document["spread"], Z)
            and are_spanned(document["spread"], Z, Z)
        )
    weights = [int(w, 0) for w in document["separator"]["weights"]]
    constant = int(document["separator"]["bias_weight"], 0)
    if constant and not bias:
        return False
    scores = [dot(z, weights + [constant] * bias) for z in Z]
    if document["kind"] == "separable":
        return all(s > 0 for s in scores) and is_margin(document["margin"], scores, weights, Z, bias)
    if document["kind"] != "touching" or not all(s >= 0 for s in scores) or not any(scores):
        return False
    is_proved = is_definite if "definite" in document else is_zero
    if not is_proved(document["definite"] if "definite" in document else document["obstruction"], Z):
        return False
    separated = document["separated_rows"]
    if "definite" in document and separated is None:
        return True
    spread = document["definite"] if "definite" in document else document["spread"]
    if separated is None or spread is None:
        return separated is None and spread is None
    strict = [i for i, s in enumerate(scores) if s > 0]
    rest = [Z[i] for i, s in enumerate(scores) if s == 0]
    return sorted(map(int, separated)) == strict and is_proved(spread, Z) and are_spanned(spread, rest, Z)


# True proofs, by brute force.


def circuits(Z: list[list[Fraction]]) -> Iterator[tuple[list[int], list[int]]]:
    """Every minimal set of rows with a positive combination that is zero, and its integer weights."""
    for size in range(1, rank(Z) + 2):
        for rows in itertools.combinations(range(len(Z)), size):
            weights = null_vector([Z[i] for i in rows])
            if weights is not None and all(u > 0 for u in weights):
                yield list(rows), weights


def null_vector(rows: list[list[Fraction]]) -> list[int] | None:
    """The integers u with Σ u z = 0 if they are unique up to scale and nowhere zero, the first positive."""
    if rank(rows) != len(rows) - 1 or any(rank(rows[:k] + rows[k + 1 :]) != len(rows) - 1 for k in range(len(rows))):
        return None
    u = [Fraction(1)]
    columns = list(zip(*rows, strict=True))
    u += solve([list(c[1:]) for c in columns], [-c[0] for c in columns])
    scale = math.lcm(*(v.denominator for v in u))
    whole = [int(v * scale) for v in u]
    return [v // math.gcd(*whole) for v in whole]


def solve(matrix: list[list[Fraction]], right: list[Fraction]) -> list[Fraction]:
    """The unique solution of a consistent system, by Gauss and Jordan."""
    rows, done = [[*row, b] for row, b in zip(matrix, right, strict=True)], 0
    for column in range(len(matrix[0])):
        pivot = next(i for i in range(done, len(rows)) if rows[i][column])
        rows[done], rows[pivot] = rows[pivot], rows[done]
        rows[done] = [v / rows[done][column] for v in rows[done]]
        for i in range(len(rows)):
            if i != done:
                rows[i] = [a - rows[i][column] * b for a, b in zip(rows[i], rows[done], strict=True)]
        done += 1
    return [rows[i][-1] for i in range(done)]


LABELS: list[tuple[Any, Any]] = [(-1, 1), (0, 1), ("no", "yes"), (0.5, 2.0), (False, True)]


def true_proof(table: Table, labels: tuple[Any, Any], bias: bool) -> Verdict | None:
    """The verdict on a small table, with all optional parts; None where small integers do not separate."""
    Z = signed(table, labels, bias)
    found = list(circuits(Z))
    pinned = sorted({i for rows, _ in found for i in rows})
    common: dict[str, Any] = {
        "n_rows": len(Z),
        "n_columns": len(table.rows[0]),
        "bias": bias,
        "labels": labels,
    }
    if found:
        totals = [sum(dict(zip(rows, u, strict=True)).get(i, 0) for rows, u in found) for i in pinned]
        parts = {"obstruction": Obstruction(*found[0]), "spread": Obstruction(pinned, totals)}
        if len(pinned) == len(Z):
            return Overlapping(**common, **parts)
    free = [i for i in range(len(Z)) if i not in pinned]
    reach = 4 if len(Z[0]) < 4 else 2
    for w in itertools.product(range(-reach, reach + 1), repeat=len(Z[0])):
        scores = [dot(z, list(w)) for z in Z]
        if all(scores[i] > 0 for i in free) and not any(scores[i] for i in pinned):
            constant = w[-1] if bias else 0
            common |= {"weights": w[: len(table.rows[0])], "bias_weight": constant}
            if found:
                return Touching(**common, **parts, separated_rows=free)
            return Separable(**common, **margin_of(table, labels, common))
    return None


def definite_of(verdict: Verdict, table: Table, rng: random.Random) -> Verdict:
    """The same with a positive-definite proof in place of obstruction and spread, its weights a little off."""
    if not isinstance(verdict, Touching | Overlapping) or verdict.spread is None:
        return verdict
    Z = signed(table, verdict.labels, verdict.bias)
    rows, noise = [Z[i] for i in verdict.spread.rows], rng.choice([0, 0, 1, 3])
    weights = [10**7 * u + rng.randint(-noise, noise) for u in verdict.spread.weights]
    used = [j for j in range(len(rows[0])) if any(z[j] for z in rows)]
    if not used:
        return verdict
    found = tuple(ColumnDependence(tuple(columns), tuple(v)) for columns, v in dependences(rows, used))
    definite = Obstruction(verdict.spread.rows, weights, dependences=found)
    changed = replace(verdict, obstruction=definite, spread=definite)
    try:
        changed.verify(*table.arrays("lists"))
    except CertificateError:  # numbers of too different sizes
        return verdict
    return changed


def dependences(rows: list[list[Fraction]], columns: list[int]) -> list[tuple[list[int], list[int]]]:
    """For each column that depends on earlier ones: it and them, and the integers with which they cancel."""
    found: list[tuple[list[int], list[int]]] = []
    kept: list[int] = []
    for j in columns:
        own = [[z[k] for k in (*kept, j)] for z in rows]
        if rank(own) == len(kept) + 1:
            kept.append(j)
            continue
        parts = solve([row[:-1] for row in own], [row[-1] for row in own])
        scale = math.lcm(*(v.denominator for v in parts))
        pairs = [(j, -scale), *((k, int(v * scale)) for k, v in zip(kept, parts, strict=True) if v)]
        found.append(([k for k, _ in pairs], [v for _, v in pairs]))
    return found


def margin_of(table: Table, labels: tuple[Any, Any], common: dict[str, Any]) -> dict[str, Any]:
    if not any(common["weights"]) or (common["bias"] and len(set(table.labels)) < 2):
        return {}
    nearest = Obstruction(tuple(range(len(table.rows))), (1,) * len(table.rows))
    rows = rows_of(*table.arrays("lists"), labels)
    weights, constant, bias = common["weights"], common["bias_weight"], common["bias"]
    margin = margin_bounds(rows, weights, constant, nearest.rows, nearest.weights, bias)
    return {"margin": margin, "nearest": nearest if math.isfinite(margin[1]) else None}


VALUES = [-2.0, -1.0, -1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 2.0, 0.5, -0.5, 3.0]
ODD_VALUES = [0.1, 2.0**-1074, -(2.0**-1074), 1.5e308, -1.5e308, 2.0**53, 1e-300, 0.0, 0.1, -0.1]


def tables(seed: int) -> Iterator[tuple[Table, Verdict]]:
    """Endless small tables with their true proofs."""
    rng = random.Random(seed)
    for number in itertools.count():
        values = ODD_VALUES if number % 4 == 3 else VALUES
        n_rows, n_columns, labels = rng.randint(2, 7), rng.randint(1, 2), rng.choice(LABELS)
        rows = [[rng.choice(values) for _ in range(n_columns)] for _ in range(n_rows)]
        if n_columns == 2 and rng.random() < 0.2:  # a redundant column: the rank is smaller than the width
            rows = [[*row, row[0]] for row in rows]
        table = Table(rows, [rng.choice(labels) for _ in rows])
        verdict = true_proof(table, labels, bias=rng.random() < 0.7)
        if verdict is not None:
            yield table, definite_of(verdict, table, rng) if rng.random() < 0.5 else verdict


# Forgeries. Those in FORMAL keep to the written format; those in WILD need not.

Forgery = Callable[[Any, Table, random.Random], None]
JUNK = [
    None,
    True,
    1,
    1.5,
    "",
    "1.5",
    "1e3",
    " 1",
    "01",
    "+1",
    "-0",
    "0x1f",
    "0x",
    "٣",
    "1_0",
    [],
    {},
    "NaN",
    "text:",
]


def leaves(node: Any) -> Iterator[tuple[Any, Any]]:
    """(container, key) of every value that is not itself a container."""
    for key, value in node.items() if isinstance(node, dict) else enumerate(node):
        if isinstance(value, dict | list):
            yield from leaves(value)
        else:
            yield node, key


def containers(node: Any) -> Iterator[Any]:
    yield node
    for value in node.values() if isinstance(node, dict) else node:
        if isinstance(value, dict | list):
            yield from containers(value)


CLAIMED = ("separator", "margin", "obstruction", "spread", "definite")


def claims(document: Any) -> dict[str, Any]:
    return {name: document[name] for name in CLAIMED if document.get(name)}


def is_integer(text: Any) -> bool:
    return isinstance(text, str) and text.removeprefix("-").isdecimal()


def change_integer(document: Any, table: Table, rng: random.Random) -> None:
    spots = [(node, key) for node, key in leaves(claims(document)) if is_integer(node[key])]
    if not spots:
        return
    node, key = rng.choice(spots)
    old = int(node[key])
    node[key] = str(rng.choice([old + 1, old - 1, -old, 0, 2 * old, old + 2, 10**30, 1, rng.randint(-3, 8)]))


def change_margin(document: Any, table: Table, rng: random.Random) -> None:
    margin = document.get("margin")
    if margin and margin.get("high") is not None:
        end = rng.choice(["low", "high"])
        old = margin[end]
        new = rng.choice([math.nextafter(old, 0), math.nextafter(old, math.inf), old * 2, old / 2, 0.0, 5e-324])
        margin[end] = min(new, sys.float_info.max)


def drop_item(document: Any, table: Table, rng: random.Random) -> None:
    lists = [node for node in containers(claims(document)) if isinstance(node, list) and node]
    if lists:
        rng.choice(lists).pop()


def drop_row(document: Any, table: Table, rng: random.Random) -> None:
    spots = [node for node in containers(claims(document)) if isinstance(node, dict) and node.get("rows")]
    if spots:
        node = rng.choice(spots)
        k = rng.randrange(len(node["rows"]))
        del node["rows"][k]
        del node["weights"][k : k + 1]


def add_row(document: Any, table: Table, rng: random.Random) -> None:
    spots = [node for node in containers(claims(document)) if isinstance(node, dict) and "rows" in node]
    if spots:
        node = rng.choice(spots)
        node["rows"].append(str(rng.randrange(len(table.rows) + 1)))
        node["weights"].append(str(rng.randint(1, 3)))


def swap_items(document: Any, table: Table, rng: random.Random) -> None:
    lists = [node for node in containers(document) if isinstance(node, list) and len(node) > 1]
    rng.shuffle(rng.choice(lists))


def scale_weights(document: Any, table: Table, rng: random.Random) -> None:
    """Still true: all weights of one part times a positive number."""
    part = rng.choice(list(claims(document).values()))
    factor = rng.choice([2, 3, 10**40, 2**3000])
    if part.get("weights"):
        part["weights"] = [write(int(w, 0) * factor) for w in part["weights"]]
    if part.get("bias_weight"):
        part["bias_weight"] = write(int(part["bias_weight"], 0) * factor)


def write(number: int) -> str:
    return str(number) if number.bit_length() < 1990 else hex(number)


def change_bias(document: Any, table: Table, rng: random.Random) -> None:
    document["data"]["bias"] = not document["data"]["bias"]


def zero_separator(document: Any, table: Table, rng: random.Random) -> None:
    """The form that is 0 on every row: a weak separator of nothing."""
    if "separator" in document:
        document["separator"] = {"weights": ["0"] * len(table.rows[0]), "bias_weight": "0"}


def change_size(document: Any, table: Table, rng: random.Random) -> None:
    name = rng.choice(["rows", "columns"])
    document["data"][name] = str(int(document["data"][name]) + rng.choice([1, -1]))


def forget_part(document: Any, table: Table, rng: random.Random) -> None:
    name = rng.choice([name for name in ("margin", "spread", "separated_rows", "names") if name in document] or ["x"])
    if document["kind"] != "overlapping" and name in document:
        document[name] = None


def change_separated(document: Any, table: Table, rng: random.Random) -> None:
    rows = document.get("separated_rows")
    if rows:
        rng.choice([lambda: rows.pop(), lambda: rows.append(str(rng.randrange(8))), lambda: rows.append(rows[0])])()


def change_value(document: Any, table: Table, rng: random.Random) -> None:
    row = rng.choice(table.rows)
    k = rng.randrange(len(row))
    row[k] = rng.choice([row[k] + 1, -row[k], math.nextafter(row[k], 9.0), math.nextafter(row[k], -9.0), 0.0])


def change_label(document: Any, table: Table, rng: random.Random) -> None:
    k = rng.randrange(len(table.rows))
    stranger = "other" if isinstance(table.labels[0], str) else 7
    table.labels[k] = rng.choice([*table.labels, *table.labels, stranger])


def swap_rows(document: Any, table: Table, rng: random.Random) -> None:
    i, k = rng.randrange(len(table.rows)), rng.randrange(len(table.rows))
    table.rows[i], table.rows[k] = table.rows[k], table.rows[i]
    if rng.random() < 0.5:
        table.labels[i], table.labels[k] = table.labels[k], table.labels[i]


def lose_row(document: Any, table: Table, rng: random.Random) -> None:
    if len(table.rows) > 1:
        k = rng.randrange(len(table.rows))
        del table.rows[k], table.labels[k]
        if rng.random() < 0.5:
            document["data"]["rows"] = str(len(table.rows))


def repeat_row(document: Any, table: Table, rng: random.Random) -> None:
    k = rng.randrange(len(table.rows))
    table.rows.append(list(table.rows[k]))
    table.labels.append(rng.choice([table.labels[k], table.labels[0]]))
    document["data"]["rows"] = str(len(table.rows))


def change_kind(document: Any, table: Table, rng: random.Random) -> None:
    document["kind"] = rng.choice(["separable", "touching", "overlapping", "not-separable", "undecided", "", None, 7])
    if rng.random() < 0.8:
        parts = {"separable": ["separator", "margin"], "overlapping": ["obstruction", "spread"]}
        parts |= {"touching": ["separator", "obstruction", "separated_rows", "spread"]}
        wanted = parts.get(document["kind"], [])
        rows = {"rows": ["0"], "weights": ["1"]}
        blanks = {"separator": {"weights": ["1"] * len(table.rows[0]), "bias_weight": "0"}}
        blanks |= {"obstruction": rows, "spread": rows if document["kind"] == "overlapping" else None}
        for name in ("separator", "margin", "obstruction", "separated_rows", "spread"):
            if name not in wanted:
                document.pop(name, None)
            elif name not in document:
                document[name] = copy.deepcopy(blanks.get(name))


def change_leaf(document: Any, table: Table, rng: random.Random) -> None:
    node, key = rng.choice(list(leaves(document)))
    node[key] = rng.choice(JUNK)


def change_field(document: Any, table: Table, rng: random.Random) -> None:
    node = rng.choice([node for node in containers(document) if isinstance(node, dict) and node])
    name = rng.choice(list(node))
    value = node.pop(name)
    if rng.random() < 0.6:
        node[rng.choice(["note", name + " ", name.upper(), ""])] = value


def change_dependence(document: Any, table: Table, rng: random.Random) -> None:
    """Drop one, repeat one, put another column first, or make one up."""
    found = document["definite"]["dependences"]
    draw = rng.randrange(4)
    if draw == 0 and found:
        found.pop(rng.randrange(len(found)))
    elif draw == 1 and found:
        found.append(copy.deepcopy(rng.choice(found)))
    elif draw == 2 and found:
        one = rng.choice(found)
        one["columns"].reverse()
        one["weights"].reverse()
    else:
        columns = rng.sample(range(len(table.rows[0]) + 1), k=rng.randint(1, len(table.rows[0]) + 1))
        found.append({"columns": [*map(str, columns)], "weights": [str(rng.choice([-1, 1, 2])) for _ in columns]})


def nearly_equal(document: Any, table: Table, rng: random.Random) -> None:
    """Weights of another size for one row, by a little or by a lot: still true, or nearly so."""
    weights = document["definite"]["weights"]
    k = rng.randrange(len(weights))
    weights[k] = write(max(1, int(weights[k], 0) * rng.choice([2, 10, 10**6]) // rng.choice([1, 3, 10**7])))


def change_version(document: Any, table: Table, rng: random.Random) -> None:
    document["version"] = rng.choice(["1", "2", "3", "4", "5", 1, None])


def change_written_label(document: Any, table: Table, rng: random.Random) -> None:
    labels = document["data"]["labels"]
    if isinstance(labels, list) and labels:
        k = rng.randrange(len(labels))
        labels[k] = rng.choice(
            [labels[0], "text:maybe", "integer:1", "number:1.0", "boolean:true", "number:1e999", "1"]
        )


FORMAL: list[Forgery] = [
    change_integer, change_integer, change_integer, change_margin, drop_row, add_row, scale_weights,
    change_bias, change_size, change_value, change_value, change_label, swap_rows, lose_row, repeat_row,
    change_separated, zero_separator, change_dependence, nearly_equal,
]  # fmt: skip
WILD: list[Forgery] = [
    drop_item, swap_items, forget_part, change_kind, change_leaf, change_field, change_written_label, change_version,
]  # fmt: skip


def spoil_text(text: str, rng: random.Random) -> bytes:
    """Truncate, repeat a field, slip in NaN, flip a byte, or add to the end; half of it under a checksum of its own."""
    spoiled = _spoiled(text, rng)
    if rng.random() < 0.5:
        with contextlib.suppress(UnicodeDecodeError):
            return seal(spoiled.decode()).encode()
    return spoiled


def resealed(document: Any) -> str:
    """The document as text, with the checksum that this text has."""
    if isinstance(document, dict):
        document = {name: value for name, value in document.items() if name != "sha256"}
    return seal(json.dumps(document))


def _spoiled(text: str, rng: random.Random) -> bytes:
    raw = text.encode()
    spot = rng.randrange(len(raw))
    flipped = raw[:spot] + bytes([raw[spot] ^ (1 << rng.randrange(8))]) + raw[spot + 1 :]
    repeated = text.replace("{", '{"kind": "separable", ', 1).encode()
    nested = b"[" * 100_000
    return rng.choice(
        [raw[:spot], flipped, flipped, repeated, text.replace('"reads"', '"reads": "0", "reads"').encode(),
         text.replace("0.0", "NaN").encode(), text.replace("0.0", "1e999").encode(), raw + b"{}",
         b"\xff" + raw, nested, b"", text.encode("utf-16")]
    )  # fmt: skip


# The contest.


@dataclass
class Court:
    """The three judges, and a folder for the files that the checker reads."""

    folder: Path
    accepted: int = 0
    refused: int = 0

    def library_accepts(self, proof: bytes, table: Table, layout: str) -> bool:
        try:
            verdict = verdict_from_json(proof)
            verdict.verify(*table.arrays(layout))
            verdict.explain(*table.arrays(layout))
        except LinsepError:
            return False
        return not isinstance(verdict, Undecided)

    def checker_accepts(self, proof: bytes, table: Table) -> bool:
        paths = self.folder / "proof.json", self.folder / "data.csv"
        paths[0].write_bytes(proof)
        paths[1].write_text(table.csv(), encoding="utf-8")
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            status = checker.main([*map(str, paths), "--label", str(len(table.rows[0]))])
        word = ["VERIFIED ", "REFUTED: ", "BAD INPUT: ", "UNDECIDED: "][status]
        lines = 1 if status else 5
        assert said.getvalue().startswith(word) and said.getvalue().count("\n") == lines, said.getvalue()
        return status == 0

    def hear(self, proof: bytes, table: Table, truth: bool, formal: bool, layout: str) -> None:
        library, alone = self.library_accepts(proof, table, layout), self.checker_accepts(proof, table)
        case = f"{proof[:3000]!r}\n{table.csv()}"
        agree = library == alone or (library and names_columns(proof))  # the file has no names: it is refused with them
        assert agree, f"library {library}, checker {alone}, truth {truth}:\n{case}"
        assert truth or not library, f"both accept what is not true:\n{case}"
        assert library or not (truth and formal), f"both refuse what is true:\n{case}"
        self.accepted += library
        self.refused += not library


def names_columns(proof: bytes) -> bool:
    """Does a proof name the columns of its data? Rows in memory cannot tell; a file without names can."""
    data = json.loads(proof)["data"]
    return data["names"] is not None or data["label_column"] is not None


def forge(count: int, seed: int = 0, folder: Path | None = None) -> tuple[int, int]:
    """Try `count` forgeries, eight to a table; how many were accepted (they were true) and refused."""
    with tempfile.TemporaryDirectory(dir=folder) as name:
        court, rng = Court(Path(name)), random.Random(seed)
        for table, verdict in tables(seed):
            document = json.loads(verdict.to_json())
            court.hear(verdict.to_json().encode(), table, judge(document, table), True, "dense")
            for _ in range(8):
                hear_forgery(court, copy.deepcopy(document), copy.deepcopy(table), rng)
            if court.accepted + court.refused >= count:
                return court.accepted, court.refused
    raise AssertionError("unreachable")


def hear_forgery(court: Court, document: Any, table: Table, rng: random.Random) -> None:
    layout = rng.choice(["dense", "csr", "lists"])
    draw = rng.random()
    if draw < 0.1:
        proof = spoil_text(resealed(document), rng)
        try:
            document = json.loads(proof)
        except (ValueError, RecursionError):
            document = None
        court.hear(proof, table, judge(document, table), False, layout)
        return
    forgeries = FORMAL if draw < 0.6 else FORMAL + WILD * 2
    if rng.random() < 0.8:  # the others are changed as they are written
        document = listed(document)
    for change in rng.choices(forgeries, k=rng.choice([1, 1, 1, 2, 3])):
        with contextlib.suppress(KeyError, TypeError, AttributeError, ValueError, IndexError):
            change(document, table, rng)  # an earlier change may have left nothing for this one to change
    if rng.random() < 0.5:
        with contextlib.suppress(KeyError, TypeError, AttributeError, ValueError):
            document = shortened(document)
    formal = draw < 0.6 and "definite" not in document
    court.hear(resealed(document).encode(), table, judge(document, table), formal, layout)


if __name__ == "__main__":
    total = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    from tests.campaigns.forge_files import forge_containers, forge_files

    seed = int(sys.argv[2]) if sys.argv[2:] else 0
    print("accepted because true: {}, refused: {}".format(*forge(total, seed=seed)))
    counts = forge_files(total // 20, seed=seed)
    print(f"of files: {counts.tried.total()} forged, {counts.accepted.total()} accepted because what is said is true")
    print(f"of containers: {forge_containers(total // 20, seed=seed)} refused")
