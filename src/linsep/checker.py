"""Check a written proof against a CSV file, with nothing but Python's standard library and exact integers.

    python -m linsep.checker proof.json data.csv [--label COLUMN] [--header]

Can a hyperplane separate the rows of two classes? Write z = y·(x, 1) for a row x of class y = ±1, or z = y·x where
the proof says that there is no bias. The proof gives one of these answers. Everything it needs is computed here,
in integers, from the rows of the file:

  separable    Weights w with z·w > 0 for every row. With a margin (low, high): every row has z·w >= low·|w|, the
               bias not counted in |w|; and `nearest` gives rows with positive weights u whose class means p and q
               are at most 2·high apart. Both means are a margin away from any separating hyperplane, on its two
               sides, so no margin exceeds high. (Without bias: |Σ u z| <= high·Σu, for the same reason.)
  touching     Weights w with z·w >= 0 for every row and > 0 for one, and an obstruction: rows with positive
               integers u and Σ u z = 0. No w is positive on all of them, as Σ u (z·w) = 0 (Gordan 1873).
               With `separated_rows`: these are the rows with z·w > 0, and all other rows lie in the linear span of
               the `spread`, for which Σ u z = 0 too. A weak separator must be 0 on the rows of the spread, hence
               on those other rows: none separates more.
  overlapping  An obstruction, and a spread whose rows span every row: each weak separator is 0 on all rows.
  undecided    Proves nothing.

A row is in the span of the spread exactly when it is 0 on each v of a basis of {v : z·v = 0 on the spread}, which
fraction-free elimination finds (Bareiss 1968).

How the file is read: rows are counted from 0, blank lines are no rows. A decimal stands for the binary64 nearest to
it. Digits alone are an exact integer; one that binary64 would round is refused unless the proof says
"exact-integers". The label column is --label (a position counted from 0, or a name), else the name in the proof, else
the last column. The first line is a header if the label column is given by name, if any other field of that line is
not a number, or if --header says so.

Prints one line. Exit status: 0 VERIFIED, 1 REFUTED, 2 BAD INPUT, 3 UNDECIDED.
"""

import argparse
import csv
import json
import math
import re
import sys
from collections.abc import Iterator
from fractions import Fraction
from itertools import chain
from operator import mul
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

STATUS = {"VERIFIED": 0, "REFUTED": 1, "BAD INPUT": 2, "UNDECIDED": 3}
MAX_BYTES = 2**28
PRIME = 2**61 - 1
Label: TypeAlias = str | int | float | bool


class StopError(Exception):
    """The end of the check: the word to print, and why."""


def demand(holds: bool, word: str, reason: str) -> None:
    """Stop unless the condition holds."""
    if not holds:
        raise StopError(word, reason)


class Row(NamedTuple):
    """A signed row as integers: z·2^shift, the constant of the bias last."""

    number: int
    z: list[int]
    shift: int


# 1. The proof. A form is a pattern for a string, a type, {field: form}, [form] for lists, (form,) for "or null".

COUNT = r"0|[1-9][0-9]{0,17}"
INTEGER = r"0|-?[1-9][0-9]{0,599}|-?0x[1-9a-f][0-9a-f]{0,1048575}"
NUMBER = r"-?[0-9]{1,400}(\.[0-9]{1,400})?(e[+-]?[0-9]{1,4})?"
TEXT = r"(?s:.{0,10000})"
ROWS: dict[str, Any] = {"rows": [COUNT], "weights": [INTEGER]}
SEPARATOR: dict[str, Any] = {"separator": {"weights": [INTEGER], "bias_weight": INTEGER}}
MARGIN: dict[str, Any] = {"low": float, "high": (float,)}
CLAIMS: dict[str, dict[str, Any]] = {
    "separable": SEPARATOR | {"margin": (MARGIN | {"nearest": (ROWS,)},)},
    "touching": SEPARATOR | {"obstruction": ROWS, "separated_rows": ([COUNT],), "spread": (ROWS,)},
    "overlapping": {"obstruction": ROWS, "spread": ROWS},
    "undecided": {"reason": TEXT, "margin": MARGIN},
}
DATA = dict.fromkeys(["rows", "columns", "rows_left_out"], COUNT) | {"numbers": "binary64|exact-integers"}
DATA |= {"bias": bool, "labels": [[TEXT]], "names": ([TEXT],), "label_column": (TEXT,)}  # type: ignore[dict-item]
FRAME = {"format": "linsep-proof", "version": "1", "data": DATA, "effort": {"reads": COUNT, "seconds": float}}


def has_form(value: Any, form: Any) -> bool:
    """Has the value this form, in every part?"""
    match form:
        case str():
            return isinstance(value, str) and re.fullmatch(form, value) is not None
        case dict():
            same = isinstance(value, dict) and value.keys() == form.keys()
            return same and all(has_form(value[name], part) for name, part in form.items())
        case list():
            return isinstance(value, list) and all(has_form(item, form[0]) for item in value)
        case tuple():
            return value is None or has_form(value, form[0])
    return type(value) is form and (form is bool or 0 <= value < math.inf)


def read_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of the proof, in which no field is written twice."""
    demand(len(dict(pairs)) == len(pairs), "BAD INPUT", "the proof writes a field twice")
    return dict(pairs)


def read_proof(path: str) -> dict[str, Any]:
    """The proof, once every field has its form."""
    with Path(path).open("rb") as file:
        content = file.read(MAX_BYTES + 1)
    demand(len(content) <= MAX_BYTES, "BAD INPUT", "the proof is too long")
    # Integers are strings: a bare one, or NaN, becomes a list of characters, which no form accepts.
    proof = json.loads(content, object_pairs_hook=read_object, parse_int=list, parse_constant=list)
    kind = proof.get("kind") if isinstance(proof, dict) else None
    demand(isinstance(kind, str) and kind in CLAIMS, "BAD INPUT", f"the proof has the kind {kind!a:.40}")
    forms: dict[str, Any] = {**FRAME, **CLAIMS[str(kind)], "kind": kind}
    for name in sorted(proof.keys() | forms.keys()):
        known = name in proof and name in forms and has_form(proof[name], forms[name])
        demand(known, "BAD INPUT", f"the proof's field {name!a:.40} is unknown, missing or malformed")
    check_lengths(proof, proof["data"])
    return dict(proof)


def check_lengths(proof: dict[str, Any], data: dict[str, Any]) -> None:
    """What belongs together has one length, and what proves a statement stands beside it."""
    data |= {"labels": [read_label(pair) for pair in data["labels"]]}
    data |= {"rows": int(data["rows"]), "columns": int(data["columns"])}
    labels, margin, w = data["labels"], proof.get("margin"), proof.get("separator")
    demand(len(labels) == 2 and labels[0] != labels[1], "BAD INPUT", "the proof needs two different labels")
    named = data["names"] is None or len(data["names"]) == data["columns"]
    demand(named, "BAD INPUT", "the proof does not name every column")
    if w:
        fits = len(w["weights"]) == data["columns"] and (data["bias"] or w["bias_weight"] == "0")
        demand(fits, "BAD INPUT", "the separator does not fit the columns and the bias")
    if margin:
        ends = margin["high"] is None or margin["low"] <= margin["high"]
        demand(ends, "BAD INPUT", "the margin is no interval")
    if margin and w:
        proved = (margin["high"] is None) == (margin["nearest"] is None) and set(w["weights"]) - {"0"}
        demand(bool(proved), "BAD INPUT", "a margin needs weights, and rows that prove its upper end")
    paired = proof["kind"] != "touching" or (proof["separated_rows"] is None) == (proof["spread"] is None)
    demand(paired, "BAD INPUT", "separated rows come with the spread that proves them")


def read_label(pair: list[str]) -> Label:
    """A label, which is written with its type."""
    match pair:
        case ["text", word]:
            return word
        case ["integer", digits] if re.fullmatch(INTEGER, digits):
            return int(digits, 0)
        case ["number", digits] if re.fullmatch(NUMBER, digits) and math.isfinite(float(digits)):
            return float(digits)
        case ["boolean", "true" | "false"]:
            return pair[1] == "true"
    raise StopError("BAD INPUT", f"{pair!a:.40} is not a label")


def read_combination(fields: dict[str, list[str]] | None) -> dict[int, int]:
    """Row numbers with their positive weights; none for null."""
    if fields is None:
        return {}
    one_each = 0 < len(set(fields["rows"])) == len(fields["rows"]) == len(fields["weights"])
    demand(one_each, "BAD INPUT", "a combination needs distinct rows, and one weight for each")
    weights = {int(row): int(u, 0) for row, u in zip(fields["rows"], fields["weights"], strict=True)}
    demand(min(weights.values()) > 0, "BAD INPUT", "a combination needs positive weights")
    return weights


# 2. The rows.


def is_number(field: str) -> bool:
    """Does the text denote a number?"""
    return re.fullmatch(r" *[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)? *", field) is not None


def read_number(field: str, exact: bool) -> int | float:
    """The number that a text denotes: of digits alone an integer, of anything else a binary64."""
    finite = is_number(field) and len(field) <= 600 and not math.isinf(float(field))
    demand(finite, "BAD INPUT", f"{field!a:.40} is not a finite number of at most 600 characters")
    if re.search(r"[.eE]", field):
        return float(field)
    demand(exact or int(field) == float(field), "BAD INPUT", f"binary64 would round the integer {field:.40}")
    return int(field)


def is_label(field: str, label: Label) -> bool:
    """Is the field this label? Texts are compared as they stand, numbers by value, truths as words too."""
    if isinstance(label, str):
        return field == label
    if isinstance(label, bool) and field.strip().lower() in ("true", "false"):
        return (field.strip().lower() == "true") == label
    return is_number(field) and read_number(field, True) == label


def find_label(first: list[str], data: dict[str, Any], options: argparse.Namespace) -> tuple[int, bool]:
    """The position of the label column, and whether the first line is a header."""
    name = data["label_column"] if options.label is None else options.label
    if name is not None and (options.label is None or not re.fullmatch("[0-9]{1,9}", name)):
        demand(first.count(name) == 1, "BAD INPUT", f"the first line does not name {name!a:.40} once")
        return first.index(name), True
    place = len(first) - 1 if name is None else int(name)
    demand(place < len(first), "BAD INPUT", f"the file has no column {place}")
    return place, options.header or not all(map(is_number, first[:place] + first[place + 1 :]))


def read_rows(data: dict[str, Any], options: argparse.Namespace) -> Iterator[Row]:
    """Every row of the file, and a refutation unless there are as many as the proof speaks of."""
    with Path(options.data).open(encoding="utf-8-sig", newline="") as file:
        lines = (line for line in csv.reader(file, strict=True) if line)
        first = next(lines, [""])
        place, has_header = find_label(first, data, options)
        named = not has_header or data["names"] in (None, first[:place] + first[place + 1 :])
        demand(named, "BAD INPUT", "the columns of the file are not named as in the proof")
        width = len(first) - 1
        demand(width == data["columns"], "REFUTED", f"the file has {width} columns, not {data['columns']}")
        seen = 0
        for seen, line in enumerate(lines if has_header else chain([first], lines), start=1):
            demand(len(line) == width + 1, "BAD INPUT", f"row {seen - 1} has {len(line)} fields")
            yield sign_row(seen - 1, line.pop(place), line, data)
    demand(seen == data["rows"], "REFUTED", f"the file has {seen} rows, not {data['rows']}")


def sign_row(number: int, label: str, fields: list[str], data: dict[str, Any]) -> Row:
    """The row z = y·(x, 1) as integers over one power of two."""
    sign = is_label(label, data["labels"][1]) - is_label(label, data["labels"][0])
    demand(sign != 0, "REFUTED", f"row {number} has the label {label!a:.40}, unknown to the proof")
    values = [read_number(field, data["numbers"] == "exact-integers") for field in fields] + [1] * data[
        "bias"
    ]
    ratios = [value.as_integer_ratio() for value in values]
    shift = max((q.bit_length() - 1 for _, q in ratios), default=0)
    return Row(number, [sign * p * ((1 << shift) // q) for p, q in ratios], shift)


# 3. The mathematics.


def dot(z: list[int], w: list[int]) -> int:
    """The score z·w."""
    return sum(map(mul, z, w))


def add_up(weights: dict[int, int], rows: dict[int, Row]) -> tuple[list[int], int]:
    """Σ u z as integers over 2^shift."""
    shift = max(rows[number].shift for number in weights)
    scaled = (
        [(u * v) << (shift - rows[number].shift) for v in rows[number].z] for number, u in weights.items()
    )
    return [sum(column) for column in zip(*scaled, strict=True)], shift


def check_near(weights: dict[int, int], rows: dict[int, Row], bias: bool, high: float) -> None:
    """No margin exceeds high: |p - q| <= 2·high, or |Σ u z| <= high·Σu without bias."""
    reach = sum(weights.values())
    if bias:  # with both classes given the same weight, Σ u z is reach/2·(p - q) and the constant cancels
        plus = sum(u for number, u in weights.items() if rows[number].z[-1] > 0)
        demand(0 < plus < reach, "REFUTED", "the nearest rows are all of one class")
        share = {number: reach - plus if rows[number].z[-1] > 0 else plus for number in weights}
        weights, reach = {n: u * share[n] for n, u in weights.items()}, 2 * plus * (reach - plus)
    total, shift = add_up(weights, rows)
    near = dot(total, total) <= (Fraction(high) * reach * 2**shift) ** 2
    demand(
        near, "REFUTED", f"row {min(weights)} and the other nearest rows are farther apart than the margin"
    )


def eliminate(matrix: list[list[int]], modulus: int = 0) -> tuple[list[list[int]], list[int], int]:
    """Reduced rows, pivot columns and the common pivot. In integers every division is exact; a modulus has none."""
    pivots, last = list[int](), 1
    for column in range(len(matrix[0])):
        top = len(pivots)
        k = next((i for i in range(top, len(matrix)) if matrix[i][column]), None)
        if k is not None:
            matrix[top], matrix[k] = matrix[k], matrix[top]
            lead, pivot = matrix[top], matrix[top][column]
            for i, row in enumerate(matrix):
                if i != top:
                    cross = (pivot * a - row[column] * b for a, b in zip(row, lead, strict=True))
                    matrix[i] = [v % modulus for v in cross] if modulus else [v // last for v in cross]
            last = pivot
            pivots.append(column)
    return matrix, pivots, last


def null_vectors(matrix: list[list[int]]) -> list[list[int]]:
    """A basis of {v : row·v = 0 for every row}."""
    width = len(matrix[0])
    if len(eliminate([[v % PRIME for v in row] for row in matrix], PRIME)[1]) == width:
        return []  # independent modulo a prime, hence independent
    reduced, pivots, last = eliminate(matrix)
    places = dict(zip(pivots, reduced, strict=False))
    free = [column for column in range(width) if column not in places]
    return [[-places[j][f] if j in places else last * (j == f) for j in range(width)] for f in free]


def check(proof: dict[str, Any], options: argparse.Namespace) -> None:
    """Re-compute everything that the proof states."""
    data, kind, margin = proof["data"], proof["kind"], proof.get("margin")
    zero = {what: read_combination(proof.get(what)) for what in ("obstruction", "spread")}
    nearest = read_combination(margin and margin["nearest"])
    wanted, rows, strict = set().union(nearest, *zero.values()), dict[int, Row](), set[int]()
    parts = proof.get("separator", {"weights": ["0"] * data["columns"], "bias_weight": "0"})
    w = [int(v, 0) for v in parts["weights"]]
    bound = Fraction(margin["low"]) ** 2 * dot(w, w) if margin else Fraction(0)
    w += [int(parts["bias_weight"], 0)] * data["bias"]
    for row in read_rows(data, options):
        side = dot(row.z, w)
        lost = side < 0 or (side == 0 and kind == "separable")
        demand(not lost, "REFUTED", f"row {row.number} is not on its side of the hyperplane")
        close = side * side < bound * 4**row.shift if bound else False
        demand(not close, "REFUTED", f"row {row.number} is nearer to the hyperplane than the margin")
        if side > 0 and kind == "touching":
            strict.add(row.number)
        if row.number in wanted:
            rows[row.number] = row
    demand(wanted <= rows.keys(), "REFUTED", f"row {max(wanted, default=0)} does not exist")
    demand(kind != "touching" or bool(strict), "REFUTED", "every row lies on the hyperplane")
    for what, weights in zero.items():
        vanishes = not weights or not any(add_up(weights, rows)[0])
        demand(
            vanishes,
            "REFUTED",
            f"row {min(weights, default=0)} and the rest of the {what} do not add up to zero",
        )
    if nearest:
        check_near(nearest, rows, data["bias"], margin["high"])
    if proof.get("separated_rows") is not None:
        claimed = sorted(map(int, proof["separated_rows"]))
        demand(
            claimed == sorted(strict), "REFUTED", "the separated rows are not those strictly on their side"
        )
    basis = null_vectors([rows[number].z for number in zero["spread"]]) if zero["spread"] else []
    for row in read_rows(data, options) if basis else ():
        inside = row.number in strict or not any(dot(row.z, v) for v in basis)
        demand(inside, "REFUTED", f"row {row.number} is not in the span of the spread")


def main(arguments: list[str] | None = None) -> int:
    """Check, print one line, and return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m linsep.checker", description=str(__doc__).split("\n")[0])
    parser.add_argument("proof", help="the written proof, a JSON file")
    parser.add_argument("data", help="the rows, a CSV file")
    parser.add_argument("--label", help="the label column: its position, counted from 0, or its name")
    parser.add_argument("--header", action="store_true", help="the first line is a header, whatever it holds")
    options = parser.parse_args(arguments)
    try:
        proof = read_proof(options.proof)
        demand(
            proof["kind"] != "undecided", "UNDECIDED", f"this proves nothing: {proof.get('reason')!a:.200}"
        )
        check(proof, options)
        size = f"{proof['data']['rows']} rows, {proof['data']['columns']} columns"
        word, reason = "VERIFIED", f"{proof['kind']}: {size}, every statement of the proof re-computed"
    except StopError as stop:
        word, reason = stop.args
    except (OSError, ValueError, csv.Error, RecursionError, MemoryError) as error:
        word, reason = "BAD INPUT", ascii(str(error))
    print(f"{word} {reason}" if word == "VERIFIED" else f"{word}: {reason}")
    return STATUS[word]


if __name__ == "__main__":
    sys.exit(main())
