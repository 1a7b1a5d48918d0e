"""Check a written proof against a CSV file, with nothing but Python's standard library and exact integers.

    python -m linsep.checker proof.json data.csv [--label COLUMN] [--header]

Write z = y·(x, 1) for a row x of class y = ±1, or z = y·x where the proof has no bias. The proof says whether a
hyperplane separates the classes. All it states is computed again here, in integers, from the rows of the file:

  separable    Weights w with z·w > 0 for every row. With a margin (low, high): z·w >= low·|w| for every row,
               the bias not counted in |w|, and `nearest` gives rows with positive weights u whose class means
               p and q are at most 2·high apart. A hyperplane with margin m has p and q on its two sides, m or
               more away from it, so m <= high. (Without bias: |Σ u z| <= high·Σu, for the same reason.)
  touching     Weights w with z·w >= 0 for every row and > 0 for one, and an obstruction: rows with positive
               integers u and Σ u z = 0. No w is positive on all of them, as Σ u (z·w) = 0 (Gordan 1873).
               With `separated_rows`: these are the rows with z·w > 0, and all others are in the linear span
               of the `spread`, for which Σ u z = 0 too. Weak separators are 0 on it, hence on the others.
  overlapping  An obstruction, and a spread whose rows span every row: each weak separator is 0 on all rows.
  undecided    Proves nothing.

A row is in the span of the spread exactly when it is 0 on each v of a basis of {v : z·v = 0 on the spread}, which
elimination without fractions finds (Bareiss 1968). Rows are counted from 0; blank lines are no rows. A decimal is the
nearest binary64, and exact if the proof has "decimal"; digits alone are an exact integer, refused if binary64 would
round it unless the proof has "exact-integers". The label column is --label (a position or a name), else the proof's,
else the last. The first line is a header if the label column is given by name, if another field of it is no number, or
with --header. Exit status: 0 VERIFIED, 1 REFUTED, 2 BAD INPUT, 3 UNDECIDED.
"""

import argparse
import csv
import hashlib
import json
import math
import re
from collections.abc import Iterator
from fractions import Fraction
from itertools import chain
from pathlib import Path
from typing import Any

VERDICTS, REFUTED, BAD_INPUT, UNDECIDED = ("VERIFIED", "REFUTED", "BAD INPUT", "UNDECIDED"), 1, 2, 3
TENS = 10**38  # decimals times this are integers; the same power for all of them changes no sign and no span
NUMERAL = re.compile(r" *[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)? *")
Rows = dict[int, tuple[list[int], int]]  # row number: (z·2^shift in integers, shift)


class CheckError(Exception):
    """Why the proof is not verified: a sentence, and the exit status."""


def need(condition: Any, complaint: str, status: int = BAD_INPUT) -> None:
    """Stop unless the condition holds."""
    if not condition:
        raise CheckError(complaint, status)


# 1. The proof. A form is a pattern of strings, a type, {field: form}, [form] for lists, (form,) or null.
COUNT = r"0|[1-9][0-9]{0,17}"
INTEGER = r"0|-?[1-9][0-9]{0,599}|-?0x[1-9a-f][0-9a-f]{0,1048575}"
NUMBER = r"-?[0-9]{1,400}(\.[0-9]{1,400})?(e[+-]?[0-9]{1,4})?"
TEXT = r"(?s:.{0,10000})"
LABEL = rf"text:{TEXT}|integer:({INTEGER})|number:({NUMBER})|boolean:(true|false)"
ROWS, EFFORT = {"rows": [COUNT], "weights": [INTEGER]}, {"reads": COUNT, "seconds": float}
SEPARATOR = {"separator": {"weights": [INTEGER], "bias_weight": INTEGER}}
MARGIN: dict[str, Any] = {"low": float, "high": (float,)}
CLAIMS: dict[str, dict[str, Any]] = {
    "separable": SEPARATOR | {"margin": (MARGIN | {"nearest": (ROWS,)},)},
    "touching": SEPARATOR | {"obstruction": ROWS, "separated_rows": ([COUNT],), "spread": (ROWS,)},
    "overlapping": {"obstruction": ROWS, "spread": ROWS},
    "undecided": {"reason": TEXT, "margin": MARGIN},
}
SIZES = {"rows": COUNT, "columns": COUNT, "rows_left_out": COUNT, "numbers": "binary64|exact-integers|decimal"}
DATA = SIZES | {"bias": bool, "labels": [LABEL], "names": ([TEXT],), "label_column": (TEXT,)}
FRAME = {"format": "linsep-proof", "version": "1", "sha256": "[0-9a-f]{64}", "data": DATA, "effort": EFFORT}
SEAL = re.compile(rb'(.*)"sha256": "([0-9a-f]{64})"\n}\n', re.DOTALL)  # the last field: of all bytes before it


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


def read_proof(path: str) -> dict[str, Any]:
    """The proof, once every field has its form and the fields fit together."""
    with Path(path).open("rb") as file:
        content = file.read(2**28)  # a longer proof is cut, and then no JSON
    # Bare integers, NaN and objects with a repeated field become bytes and tuples, which no form accepts.
    unique: Any = lambda pairs: dict(pairs) if len(dict(pairs)) == len(pairs) else tuple(pairs)  # noqa: E731
    proof = json.loads(content, object_pairs_hook=unique, parse_int=str.encode, parse_constant=str.encode)
    kind = proof.get("kind") if isinstance(proof, dict) else None
    need(isinstance(kind, str) and kind in CLAIMS, f"the proof has the kind {kind!a:.40}")
    forms: dict[str, Any] = {**FRAME, **CLAIMS[str(kind)], "kind": kind}
    wrong = [name for name in proof | forms if not has_form(proof.get(name, ...), forms.get(name))]
    need(not wrong, f"fields of the proof are unknown, missing or malformed: {wrong!a:.80}")
    whole = (seal := SEAL.fullmatch(content)) and hashlib.sha256(seal[1]).hexdigest().encode() == seal[2]
    need(whole, "the proof does not end in its checksum: it was damaged, edited or reformatted")
    data, margin, separator = proof["data"], proof.get("margin"), proof.get("separator")
    labels, width = [read_label(label) for label in data["labels"]], int(data["columns"])
    data |= {"labels": labels, "columns": width}
    need(len(set(labels) - {math.inf, -math.inf}) == len(labels) == 2, "the proof needs two different labels")
    need(data["names"] is None or len(data["names"]) == width, "the proof does not name every column")
    if separator:
        fits = len(separator["weights"]) == width and (data["bias"] or separator["bias_weight"] == "0")
        need(fits, "the separator does not fit the columns and the bias")
    if margin and separator:
        need(data["numbers"] != "decimal", "a margin is proved for binary64, not for exact decimals")
        need((margin["high"] is None) == (margin["nearest"] is None), "the margin's high end lacks its proof")
        need(set(separator["weights"]) - {"0"}, "a margin needs weights that are not all 0")
    paired = kind != "touching" or (proof["separated_rows"] is None) == (proof["spread"] is None)
    need(paired, "separated rows and the spread that proves them come together")
    return dict(proof)


def read_label(written: str) -> Any:
    """A label, which is written with its type."""
    kind, word = written.split(":", 1)
    numeric: Any = int(word, 0) if kind == "integer" else float(word) if kind == "number" else word == "true"
    return word if kind == "text" else numeric


def read_combination(fields: dict[str, list[str]] | None) -> dict[int, int]:
    """Row numbers with their positive weights; none for null."""
    if fields is None:
        return {}
    weights = {int(row): int(u, 0) for row, u in zip(fields["rows"], fields["weights"], strict=False)}
    need(0 < len(weights) == len(fields["rows"]) == len(fields["weights"]), "a combination is malformed")
    need(min(weights.values()) > 0, "a combination has a weight that is not positive")
    return weights


# 2. The rows.
def read_number(field: str, numbers: str) -> int | float:
    """The number that a text denotes: of digits alone an integer, of anything else a binary64."""
    if len(field) > 600 or not NUMERAL.fullmatch(field) or math.isinf(float(field)):
        raise CheckError(f"{field!a:.40} is not a finite number of at most 600 characters", BAD_INPUT)
    if numbers == "decimal":
        scaled = Fraction(field) * TENS if not re.search("[eE][+-]?[0-9]{3}", field) else Fraction(1, 3)
        need(scaled.denominator == 1, f"{field:.40} has more decimals than can be checked")
        return scaled.numerator
    if not field.strip(" +-").isdecimal():
        return float(field)
    need(numbers != "binary64" or int(field) == float(field), f"binary64 would round the integer {field:.40}")
    return int(field)


def is_label(field: str, label: Any) -> bool:
    """Is the field this label? Texts are compared as they stand, numbers by value, truths as words too."""
    if isinstance(label, str):
        return field == label
    word = {"true": "1", "false": "0"}.get(field.strip().lower(), field)
    return NUMERAL.fullmatch(word) is not None and bool(read_number(word, "exact-integers") == label)


def find_label(first: list[str], data: dict[str, Any], options: argparse.Namespace) -> tuple[int, bool]:
    """The position of the label column, and whether the first line is a header."""
    name = data["label_column"] if options.label is None else options.label
    if name is not None and (options.label is None or not re.fullmatch("[0-9]{1,9}", name)):
        need(first.count(name) == 1, f"the first line does not name {name!a:.40} once")
        return first.index(name), True
    place = len(first) - 1 if name is None else int(name)
    need(place < len(first), f"the file has no column {place}")
    return place, options.header or not all(map(NUMERAL.fullmatch, first[:place] + first[place + 1 :]))


def read_rows(data: dict[str, Any], options: argparse.Namespace) -> Iterator[tuple[list[int], int]]:
    """Every row as integers z·2^shift, with its shift; as many rows as the proof speaks of."""
    with Path(options.data).open(encoding="utf-8-sig", newline="") as file:
        lines = filter(None, csv.reader(file, strict=True))
        first = next(lines, [""])
        place, has_header = find_label(first, data, options)
        names = first[:place] + first[place + 1 :]
        need(not has_header or data["names"] in (None, names), "the proof names the columns otherwise")
        need(len(names) == data["columns"], f"the file has {len(names)} columns to classify by", REFUTED)
        seen, constant = 0, [(TENS if data["numbers"] == "decimal" else 1, 1)] * data["bias"]
        for seen, line in enumerate(lines if has_header else chain([first], lines), start=1):
            need(len(line) == len(names) + 1, f"row {seen - 1} has {len(line)} fields, not {len(names) + 1}")
            label = line.pop(place)
            sign = is_label(label, data["labels"][1]) - is_label(label, data["labels"][0])
            need(sign, f"row {seen - 1} has the label {label!a:.40}, unknown to the proof", REFUTED)
            ratios = [read_number(field, data["numbers"]).as_integer_ratio() for field in line] + constant
            shift = max((q for _, q in ratios), default=1).bit_length() - 1  # every q is a power of two
            yield [(sign * p) << (shift + 1 - q.bit_length()) for p, q in ratios], shift
    need(seen == int(data["rows"]), f"the file has {seen} rows, not {data['rows']}", REFUTED)


# 3. The mathematics.
def dot(z: list[int], w: list[int]) -> int:
    """The score z·w."""
    return sum(a * b for a, b in zip(z, w, strict=True))


def add_up(weights: dict[int, int], rows: Rows) -> tuple[list[int], int]:
    """Σ u z as integers over 2^shift."""
    shift = max(rows[i][1] for i in weights)
    scaled = ([(u * v) << (shift - rows[i][1]) for v in rows[i][0]] for i, u in weights.items())
    return [sum(column) for column in zip(*scaled, strict=True)], shift


def check_near(weights: dict[int, int], rows: Rows, bias: bool, high: float) -> None:
    """No margin exceeds high: |p - q| <= 2·high, or |Σ u z| <= high·Σu without bias."""
    reach = sum(weights.values())
    if bias:  # give both classes the weight reach/2: then Σ u z is reach/2·(p - q), and 0 in the constant
        plus = sum(u for i, u in weights.items() if rows[i][0][-1] > 0)
        minus, reach = reach - plus, 2 * plus * (reach - plus)
        need(reach, "the nearest rows are all of one class", REFUTED)
        weights = {i: u * (minus if rows[i][0][-1] > 0 else plus) for i, u in weights.items()}
    total, shift = add_up(weights, rows)
    near = dot(total, total) <= (Fraction(high) * reach * 2**shift) ** 2
    need(near, f"row {min(weights)} and the other nearest rows do not prove the margin's high end", REFUTED)


def eliminate(matrix: list[list[int]], modulus: int = 0) -> tuple[list[list[int]], list[int], int]:
    """Reduced rows, pivot columns, common pivot. Divisions are exact; modulo a prime only pivots count."""
    pivots, last = list[int](), 1
    for column in range(len(matrix[0])):
        top = len(pivots)
        for k in [i for i in range(top, len(matrix)) if matrix[i][column]][:1]:
            matrix[top], matrix[k] = matrix[k], matrix[top]
            lead, pivot = matrix[top], matrix[top][column]
            for i in {*range(top if modulus else 0, len(matrix))} - {top}:
                cross = [pivot * a - matrix[i][column] * b for a, b in zip(matrix[i], lead, strict=True)]
                matrix[i] = [v % modulus if modulus else v // last for v in cross]
            last = pivot
            pivots.append(column)
    return matrix, pivots, last


def null_vectors(matrix: list[list[int]], prime: int = 2**61 - 1) -> list[list[int]]:
    """A basis of {v : row·v = 0 for every row}."""
    width = range(len(matrix[0]))
    if len(eliminate([[v % prime for v in row] for row in matrix], prime)[1]) == len(width):
        return []  # of full rank modulo a prime, hence of full rank
    reduced, pivots, last = eliminate(matrix)
    lead = dict(zip(pivots, reduced, strict=False))
    return [[-lead[j][f] if j in lead else last * (j == f) for j in width] for f in width if f not in lead]


def check(proof: dict[str, Any], options: argparse.Namespace) -> None:
    """Compute again everything that the proof states."""
    data, kind, margin = proof["data"], proof["kind"], proof.get("margin") or {"low": 0.0, "nearest": None}
    parts = proof.get("obstruction"), proof.get("spread"), margin["nearest"]
    obstruction, spread, nearest = map(read_combination, parts)
    separator = proof.get("separator") or {"weights": [], "bias_weight": None}
    w = [int(v, 0) for v in separator["weights"]]
    bound = Fraction(margin["low"]) ** 2 * dot(w, w)
    w += [int(separator["bias_weight"], 0)] if separator["bias_weight"] and data["bias"] else []
    named, strict = Rows(), set[int]()
    for i, (z, shift) in enumerate(read_rows(data, options)):
        side = dot(z, w) if w else 0
        need(side >= (kind == "separable"), f"row {i} is not on its side of the hyperplane", REFUTED)
        need(not bound or side**2 >= bound * 4**shift, f"row {i} is nearer than the margin", REFUTED)
        if side > 0 and kind == "touching":
            strict.add(i)
        if i in obstruction or i in spread or i in nearest:
            named[i] = z, shift
    need(kind != "touching" or strict, "every row lies on the hyperplane", REFUTED)
    missing = (obstruction.keys() | spread.keys() | nearest.keys()) - named.keys()
    need(not missing, f"row {min(missing, default=0)} does not exist", REFUTED)
    for weights in filter(None, (obstruction, spread)):
        need(not any(add_up(weights, named)[0]), f"row {min(weights)} and the rest do not cancel", REFUTED)
    if nearest:
        check_near(nearest, named, data["bias"], margin["high"])
    if proof.get("separated_rows") is not None:
        need(sorted(map(int, proof["separated_rows"])) == sorted(strict), "other rows are separated", REFUTED)
    basis = null_vectors([named[i][0] for i in spread]) if spread else []
    for i, (z, _) in enumerate(read_rows(data, options) if basis else ()):
        need(i in strict or not any(dot(z, v) for v in basis), f"row {i} is not in the span of the spread", REFUTED)


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
        need(proof["kind"] != "undecided", f"no proof; the reason: {proof.get('reason')!a:.200}", UNDECIDED)
        check(proof, options)
        words, status = f"{proof['kind']}, {proof['data']['rows']} rows of {options.data!a}", 0
    except CheckError as error:
        words, status = error.args
    except (OSError, ValueError, csv.Error, RecursionError, MemoryError) as error:
        words, status = f"{type(error).__name__}: {str(error)!a}", BAD_INPUT
    print(f"{VERDICTS[status]}{': ' if status else ' '}{words}")
    return int(status)


if __name__ == "__main__":
    raise SystemExit(main())
