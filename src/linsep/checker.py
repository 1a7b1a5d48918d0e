"""Check a written proof against a CSV file, with nothing but Python's standard library and exact integers.

    python -m linsep.checker proof.json data.csv [--label COLUMN] [--header]
                             [--bias | --no-bias] [--positive LABEL] [--numbers HOW] [--json]

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
  not-separable  An obstruction: touching or overlapping, and the time was over first. (undecided proves nothing.)

A row is in the span of the spread exactly when it is 0 on each v of a basis of {v : z·v = 0 on the spread}, which
elimination without fractions finds (Bareiss 1968).

Version 2 has one positive-definite obstruction in place of obstruction and spread: rows with positive integers u
that need not cancel. Let p = u·z, each column times a power of two, r = Σ p, and G = Σ c p pᵀ with 0 <= c <= 1/|p|.
If w is nowhere negative on these rows, s = p·w has s <= |p||w|, so s >= c s²/|w|, and |r||w| >= r·w = Σ s >= wᵀGw/|w|:
w = 0 if the least eigenvalue of G exceeds |r|. Columns that are 0 on all these rows are left out, and so are columns
that depend on others there: each dependence, a v with v·z = 0 on the rows, has one of its own, its first, which no
later one has. A row is then in the span exactly when it is 0 in the former columns and on each dependence. For any L
at all, G - t·I = LLᵀ + E, so the least eigenvalue is at least t - max Σ|E_jk| (Gershgorin); L is Cholesky's, from
floats, and E is computed exactly. Version 3 is the same with rows and weights as one text each.

Version 4 says how few mistakes there can be: rows that are not strictly on their side. Every hyperplane makes one in
each obstruction. So if the multipliers of the obstructions with a row add up to its cost at most, for every row, each
hyperplane costs Σ multipliers at least. The leaves are cases: rows that are right or mistaken, all cases of a tree.
Mistaken rows have their cost, and their obstructions do not count; a row that is right does not use one up. Equal rows
of one class are right or mistaken together: the first of them stands for all `copies`, with the sum of their costs.
Version 5 has positive-definite obstructions after the others, and is otherwise the same.

Version 6 is about K classes, each with its number of rows, and has an answer to every question `by` "pairs" (does a
hyperplane separate the two? only their rows count), by "rest" (or one class from all others?) or by "joint": is there a
score w_k·(x, 1) for each class with that of its own class c the largest on every row? Then row i gives one for each
other class k, with the number K·i + k: (x, 1) in the block of c, -(x, 1) in that of k (Kesler). A w has all K blocks.
In obstructions and spans that of the first class is left out, as the blocks of such rows add up to 0. A joint margin
is z·w/|w|, all blocks and biases counted.

Rows are counted from 0; blank lines are not rows. A decimal is the nearest binary64, and exact if the proof has
"decimal"; digits alone are an exact integer, refused if binary64 would round it unless the proof has
"exact-integers"; true and false are 1 and 0.

The label column is --label (a name, or a position: 0 is the first, -1 the last), else the proof's, else the last. The
first line is a header with --header, if --label gives a name, or if one of its cells, that of the labels aside, is not
a value. The proof has no say in this: one that names columns where there is no header is refused, and so is one that
differs from an option. Exit status: 0 VERIFIED, 1 REFUTED, 2 BAD INPUT, 3 UNDECIDED.
"""

import argparse
import csv
import hashlib
import json
import math
import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate, combinations
from operator import mul
from pathlib import Path
from typing import Any, NamedTuple

VERDICTS, REFUTED, BAD_INPUT, UNDECIDED = ("VERIFIED", "REFUTED", "BAD INPUT", "UNDECIDED"), 1, 2, 3
OPEN = "touching or overlapping not known"
TENS = 10**38  # decimals times this are integers; one power for all of them changes no sign and no span
HELD = 2_000_000  # entries: a file with at most so many is kept in memory, and not read again
FINE = 56  # bits after the point where the positive-definite obstruction is checked in fixed point
NUMERAL = re.compile(r"[ \t]*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?[ \t]*")
VALUE = re.compile(rf"{NUMERAL.pattern}|\s*([+-]?(nan|inf|infinity)|true|false|na|n/a|null|none|)\s*", re.IGNORECASE)
BOOLEANS = {"true": "1", "false": "0"}
MISSING = {"#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "N/A", "NA", "NULL"}
MISSING |= {"", "NaN", "n/a", "nan", "null"}
UNITS = 2**20  # a cost of 1 in units: multipliers are whole numbers of units
TITLES = {"separable": "complete separation", "touching": "quasi-complete separation", "overlapping": "overlap"}
Row = tuple[int, list[int], int]  # its class, or its number; its integers, and their shift
Rows = dict[int, tuple[list[int], int]]  # row number: (z·2^shift in integers, shift)


class CheckError(Exception):
    """Why the proof is not verified: a sentence, and the exit status."""


class Layout(NamedTuple):
    """How many columns the file has, which of them holds the labels, and their names if there is a header."""

    width: int
    place: int
    label: str | None
    names: list[str] | None  # of the others


def need(condition: Any, complaint: str, status: int = BAD_INPUT) -> None:
    """Stop unless the condition holds."""
    if not condition:
        raise CheckError(complaint, status)


# 1. The proof. A form is a pattern of strings, a type, {field: form}, [form] for lists, {form} for lists with blanks
# between the items, in one text, (form,) or null.
COUNT = r"0|[1-9][0-9]{0,17}"
INTEGER = r"0|-?[1-9][0-9]{0,599}|-?0x[1-9a-f][0-9a-f]{0,1048575}"
PLUS = r"[1-9][0-9]{0,599}|0x[1-9a-f][0-9a-f]{0,1048575}"
NUMBER = r"-?[0-9]{1,400}(\.[0-9]{1,400})?(e[+-]?[0-9]{1,4})?"
TEXT = r"(?s:.*)"
LABEL = rf"text:{TEXT}|integer:({INTEGER})|number:({NUMBER})|boolean:(true|false)"
ROWS, EFFORT = {"rows": [COUNT], "weights": [INTEGER]}, {"reads": COUNT, "seconds": float}
SEPARATOR = {"separator": {"weights": [INTEGER], "bias_weight": INTEGER}}
MARGIN: dict[str, Any] = {"low": float, "high": (float,)}
DEFINITE = {"definite": ROWS | {"dependences": [{"columns": [COUNT], "weights": [INTEGER]}]}}
SHORT = {"definite": {"steps": {COUNT}, "weights": {INTEGER}, "dependences": DEFINITE["definite"]["dependences"]}}
CLAIMS: dict[str, dict[str, Any]] = {
    "separable": SEPARATOR | {"margin": (MARGIN | {"nearest": (ROWS,)},)},
    "touching": SEPARATOR | {"obstruction": ROWS, "separated_rows": ([COUNT],), "spread": (ROWS,)},
    "overlapping": {"obstruction": ROWS, "spread": ROWS},
    "not-separable": {"obstruction": ROWS, "reason": TEXT},
    "undecided": {"reason": TEXT, "margin": MARGIN},
}
LATER: dict[Any, dict[str, dict[str, Any]]] = {
    version: {"touching": SEPARATOR | form | {"separated_rows": ([COUNT],)}, "overlapping": form}
    for version, form in (("2", DEFINITE), ("3", SHORT))
}
LATER["3"]["not-separable"] = SHORT | {"reason": TEXT}
LEAF: dict[str, Any] = {"rows": [COUNT], "right": [bool], "obstructions": [COUNT], "units": [INTEGER]}
BOUND: dict[str, Any] = {"costs": ([INTEGER],), "unit": rf"({PLUS})/({PLUS})", "least": rf"0|{PLUS}"}
BOUND |= {"copies": [[COUNT]], "mistaken_rows": [COUNT], "obstructions": [ROWS], "leaves": [LEAF]}
LATER["4"] = {"mistakes": SEPARATOR | BOUND}
LATER["5"] = {"mistakes": SEPARATOR | BOUND | {"definite_obstructions": [SHORT["definite"]]}}
LATER["6"] = {"classes": {"by": "joint|pairs|rest", "sizes": [COUNT], "answers": [None]}}
SIZES = {"rows": COUNT, "columns": COUNT, "rows_left_out": COUNT, "numbers": "binary64|exact-integers|decimal"}
DATA = SIZES | {"bias": bool, "labels": [LABEL], "names": ([TEXT],), "label_column": (TEXT,)}
FRAME = {"format": "linsep-proof", "version": "1|2|3|4|5|6", "sha256": "[0-9a-f]{64}", "data": DATA, "effort": EFFORT}
SEAL = re.compile(rb'(.*)"sha256": "([0-9a-f]{64})"\n}\n', re.DOTALL)  # the last field: of all bytes before it


def has_form(value: Any, form: Any) -> bool:
    """Does the value have this form, in every part? The form None is that of an answer."""
    match form:
        case str():
            return isinstance(value, str) and re.fullmatch(form, value) is not None
        case dict():
            same = isinstance(value, dict) and value.keys() == form.keys()
            return same and all(has_form(value[name], part) for name, part in form.items())
        case list():
            return isinstance(value, list) and all(has_form(item, form[0]) for item in value)
        case set():
            return isinstance(value, str) and has_form(value.split(" "), [*form])
        case tuple():
            return value is None or has_form(value, form[0])
        case None:
            claims = LATER["3"] if isinstance(value, dict) and "definite" in value else CLAIMS
            kind = value.get("kind") if isinstance(value, dict) else None
            return isinstance(kind, str) and kind in claims and has_form(value, {"kind": kind} | claims[kind])
    return type(value) is form and (form is bool or 0 <= value < math.inf)


def read_proof(path: str) -> dict[str, Any]:
    """The proof, once every field has its form and the fields fit together."""
    with Path(path).open("rb") as file:
        content = file.read(2**28)  # a longer proof is cut, and then is not JSON
    # Bare integers, NaN and objects with a repeated field become bytes and tuples, which no form accepts.
    unique: Any = lambda pairs: dict(pairs) if len(dict(pairs)) == len(pairs) else tuple(pairs)  # noqa: E731
    proof = json.loads(content, object_pairs_hook=unique, parse_int=str.encode, parse_constant=str.encode)
    kind = proof.get("kind") if isinstance(proof, dict) else None
    claims = LATER.get(str(proof["version"]), CLAIMS) if kind and "version" in proof else CLAIMS
    need(isinstance(kind, str) and kind in claims, f"a proof of its version cannot have the kind {kind!a:.40}")
    forms: dict[str, Any] = {**FRAME, **claims[str(kind)], "kind": kind}
    wrong = [name for name in proof | forms if not has_form(proof.get(name, ...), forms.get(name))]
    need(not wrong, f"fields of the proof are unknown, missing or malformed: {wrong!a:.80}")
    whole = (seal := SEAL.fullmatch(content)) and hashlib.sha256(seal[1]).hexdigest().encode() == seal[2]
    need(whole, "the proof does not end in its checksum: it was damaged, edited or reformatted")
    data, labels = proof["data"], [read_label(label) for label in proof["data"]["labels"]]
    enough = len(labels) == 2 or (kind == "classes" and len(labels) > 2)
    need(enough and len(set(labels) - {math.inf, -math.inf}) == len(labels), "the proof needs two different labels")
    need(not MISSING.intersection(v.strip() for v in labels if isinstance(v, str)), "a missing label is not a class")
    texts = [Fraction(label.strip()) for label in labels if is_number(label)]
    alike = len(set(texts)) < len(texts) or (texts and {type(label) for label in labels} & {int, float})
    need(not alike, "a label of the proof is a number written as text: the file does not tell it from the other")
    need(data["names"] is None or len(data["names"]) == int(data["columns"]), "the proof does not name every column")
    whole_proof: dict[str, Any] = {**proof, "classes": labels, "question": None}
    for part in answers(whole_proof):
        require_whole(part)
    return whole_proof


def answers(proof: dict[str, Any]) -> list[dict[str, Any]]:
    """The proof itself; or one for each question about many classes, which knows what it is about."""
    if proof["kind"] != "classes":
        return [proof]
    count = len(proof["classes"])
    asked: dict[str, list[Any]] = {
        "joint": [()],
        "rest": [(k,) for k in range(count)],
        "pairs": [*combinations(range(count), 2)],
    }
    found = asked[proof["by"]]
    need(len(proof["answers"]) == len(found), f"the proof has not one answer to each of {len(found)} questions")
    need(len(proof["sizes"]) == count, "the proof does not say how many rows each class has")
    return [proof | answer | {"question": which} for which, answer in zip(found, proof["answers"], strict=True)]


def require_whole(proof: dict[str, Any]) -> None:
    """The fields of one claim fit together."""
    data, kind, margin, separator = proof["data"], proof["kind"], proof.get("margin"), proof.get("separator")
    if separator:
        joint = proof["question"] == ()
        width = (int(data["columns"]) + data["bias"]) * len(proof["classes"]) if joint else int(data["columns"])
        fits = len(separator["weights"]) == width and ((data["bias"] and not joint) or separator["bias_weight"] == "0")
        need(fits, "the separator does not fit the columns and the bias")
    if margin and separator:
        need(data["numbers"] != "decimal", "a margin is proved for binary64, not for exact decimals")
        need((margin["high"] is None) == (margin["nearest"] is None), "the margin's high end lacks its proof")
        need(set(separator["weights"]) - {"0"}, "a margin needs weights that are not all 0")
    unit = [int(part, 0) for part in proof.get("unit", "1/1").split("/")]
    need(math.gcd(*unit) == 1, "the unit is not in lowest terms")
    plain = "definite" not in proof and kind != "mistakes"
    need(plain or data["numbers"] != "decimal", "versions 2 to 6 are about binary64, not about decimals")
    unpaired = kind == "touching" and plain and (proof["separated_rows"] is None) != (proof["spread"] is None)
    need(not unpaired, "separated rows and the spread that proves them come together")
    need(proof.get("definite_obstructions", True), "version 5 has positive-definite obstructions")
    shorts = [proof["definite"]] if "steps" in proof.get("definite", ()) else proof.get("definite_obstructions", ())
    for short in shorts:  # each step leads from one row to the next
        short |= {"rows": [*accumulate(map(int, short["steps"].split()))], "weights": short["weights"].split()}


def require_agreement(proof: dict[str, Any], options: argparse.Namespace) -> None:
    """Refuse a proof that differs from what the caller asked for."""
    bias, numbers = proof["data"]["bias"], proof["data"]["numbers"]
    said = "the proof is with bias: --no-bias" if bias else "the proof is through the origin (no bias): --bias"
    need(options.bias in (None, bias), f"{said} disagrees")
    agree = options.numbers in (None, "decimal" if numbers == "decimal" else "binary64")
    need(agree, f"the proof reads numbers as {numbers}: --numbers {options.numbers} disagrees")
    agree = options.positive is None or (proof["kind"] != "classes" and is_label(options.positive, proof["classes"][1]))
    label = "none of many" if proof["kind"] == "classes" else shown(proof["data"]["labels"][1])
    need(agree, f"the positive class of the proof is {label}: --positive {options.positive!a:.60} disagrees")


def read_label(written: str) -> Any:
    """A label, which is written with its type."""
    kind, word = written.split(":", 1)
    numeric: Any = int(word, 0) if kind == "integer" else float(word) if kind == "number" else word == "true"
    return word if kind == "text" else numeric


def shown(written: str) -> str:
    """A label as people read it."""
    kind, word = written.split(":", 1)
    return f"{word!a:.60}" if kind == "text" else f"{word:.60}"


def read_combination(fields: dict[str, list[str]] | None) -> dict[int, int]:
    """Row numbers with their positive weights; none for null."""
    if fields is None:
        return {}
    weights = {int(row): int(u, 0) for row, u in zip(fields["rows"], fields["weights"], strict=False)}
    need(0 < len(weights) == len(fields["rows"]) == len(fields["weights"]), "a combination is malformed")
    need(min(weights.values()) > 0, "a combination has a weight that is not positive")
    return weights


# 2. The rows.
@lru_cache(1 << 16)  # in many files most numbers occur again and again
def read_number(field: str, numbers: str) -> int | float:
    """The number that a text denotes: of digits alone an integer, of anything else a binary64."""
    field = BOOLEANS.get(field.lower(), field)
    need(NUMERAL.fullmatch(field) and not math.isinf(float(field)), f"{field!a:.40} is not a finite number")
    if numbers == "decimal":
        exact = Decimal("1e999" if re.search("[eE][+-]?[0-9]{10}", field) else field)
        scaled = Fraction(exact if abs(exact.adjusted()) < 600 else Fraction(bool(exact), 3)) * TENS
        need(scaled.denominator == 1, f"{field:.40} has more decimals than can be checked")
        return scaled.numerator
    digits = field.strip(" \t+-").lstrip("0") or "0"
    if not digits.isdecimal():
        kept = float(field) or not re.search("[1-9]", field.lower().split("e")[0])
        need(kept, f"{field:.40} is not 0, but its nearest binary64 is")
        return float(field)
    need(numbers != "binary64" or int(digits) == float(digits), f"binary64 would round the integer {field:.40}")
    return -int(digits) if "-" in field else int(digits)


def is_number(label: Any) -> bool:
    """Is the label a text that is a number in files: digits, or the decimal of a binary64?"""
    if not isinstance(label, str) or NUMERAL.fullmatch(label) is None or math.isinf(float(label)):
        return False
    return label.strip(" \t+-").isdigit() or is_its_double(label)


def is_its_double(field: str) -> bool:
    """Is the number the decimal of its binary64? Not one with an exponent beyond all bounds."""
    return not re.search("[eE][+-]?[0-9]{10}", field) and Decimal(field.strip()) == Decimal(repr(float(field)))


def is_label(field: str, label: Any) -> bool:
    """Is the field this label? Texts are compared as they are, numbers by value, booleans as words."""
    if isinstance(label, str):
        return field == label
    if isinstance(label, bool):
        return field.strip().lower() == str(label).lower()
    value = read_number(field, "exact-integers") if NUMERAL.fullmatch(field) else None
    return value == label and (isinstance(value, int) or is_its_double(field))


def find_layout(data: dict[str, Any], options: argparse.Namespace) -> Layout:
    """Where the labels are, and whether the first line is a header: as the caller and the file say, not the proof."""
    need(os.path.exists(options.data), f"there is no file {options.data!a}")  # noqa: PTH110
    need(Path(options.data).is_file(), "the data must be a file on the disk: it is read twice, so a pipe will not do")
    with Path(options.data).open(encoding="utf-8-sig", newline="") as file:
        first = next(filter(None, csv.reader(file, strict=True)), [""])
    wanted = data["label_column"] if options.label is None else options.label
    by_position = wanted is None or (options.label is not None and re.fullmatch("-?[0-9]{1,9}", wanted))
    is_header = options.header or (options.label is not None and not by_position)
    found = [k for k, cell in enumerate(first) if cell == wanted]
    if by_position and not (found and (is_header or not are_values(first, found[0]))):  # a name goes before a position
        position = -1 if wanted is None else int(wanted)
        need(-len(first) <= position < len(first), f"the file has no column {position}: it has {len(first)}")
        found = [position % len(first)]
    need(len(found) == 1, f"the first line of the file does not name the label column {wanted!a:.40} once")
    place = found[0]
    if not is_header and are_values(first, place):
        advice = "the first line of the file holds values and is read as a row: if it is a header, say --header"
        named = [name for name in (data["label_column"], data["names"]) if name is not None]
        need(not named, f"the proof names columns ({named!a:.60}), but {advice}")
        return Layout(len(first), place, None, None)
    layout = Layout(len(first), place, first[place], first[:place] + first[place + 1 :])
    need(len(set(first)) == len(first), "two columns of the file have the same name")
    pairs = ("label column is", layout.label, data["label_column"]), ("columns are", layout.names, data["names"])
    for what, read, stated in pairs:
        need(stated in (None, read), f"the {what} {read!a:.200}, but in the proof {stated!a:.200}")
    return layout


def are_values(first: list[str], place: int) -> bool:
    """Are all cells of the first line, that of the labels aside, values and not names?"""
    return all(map(VALUE.fullmatch, first[:place] + first[place + 1 :]))


def read_rows(proof: dict[str, Any], layout: Layout, path: str) -> Iterator[Row]:
    """Every row: its class, integers (x, 1)·2^shift and the shift; as many rows as the proof states."""
    data, width, seen, largest = proof["data"], layout.width, 0, 0.0
    need(width - 1 == int(data["columns"]), f"the file has {width - 1} columns to classify by", REFUTED)
    constant = [(TENS if data["numbers"] == "decimal" else 1, 1)] * data["bias"]
    with Path(path).open(encoding="utf-8-sig", newline="") as file:
        lines = filter(None, csv.reader(file, strict=True))
        for seen, line in enumerate(lines, start=1 if layout.names is None else 0):
            if not seen:
                continue  # the header
            need(len(line) == width, f"row {seen - 1} has {len(line)} fields, not {width}")
            label = line.pop(layout.place)
            own = [k for k, known in enumerate(proof["classes"]) if is_label(label, known)]
            need(len(own) == 1, f"row {seen - 1} has the label {label!a:.40}, unknown to the proof", REFUTED)
            values = list[int | float]()
            try:
                values.extend(read_number(field, data["numbers"]) for field in line)
            except CheckError as error:
                raise CheckError(f"row {seen - 1}, column {len(values)}: {error.args[0]}", BAD_INPUT) from None
            largest = max(largest, *map(abs, values), 0)
            ratios = [value.as_integer_ratio() for value in values] + constant
            shift = max((q for _, q in ratios), default=1).bit_length() - 1  # every q is a power of two
            yield own[0], [p << (shift + 1 - q.bit_length()) for p, q in ratios], shift
    need(seen == int(data["rows"]), f"the file has {seen} rows, not {data['rows']}", REFUTED)
    need(seen, "the file has no rows")
    is_needed = data["numbers"] != "exact-integers" or largest > 2**53
    need(is_needed, "the proof has exact-integers, but no integer is beyond 2^53", REFUTED)
    need(data["rows_left_out"] == "0", "no row was left out, but the proof says that some were", REFUTED)


def signed_rows(proof: dict[str, Any], rows: Iterable[tuple[int, list[int], int]]) -> Iterator[Row]:
    """The rows that a claim is about: number, z·2^shift and shift."""
    count, question = len(proof["classes"]), proof["question"]
    for i, (own, x, shift) in enumerate(rows):
        if question == ():
            for k in {*range(count)} - {own}:
                signs = [(j == own) - (j == k) for j in range(count)]
                yield i * count + k, [sign * v for sign in signs for v in x], shift
        elif question is None or len(question) == 1 or own in question:
            positive = 1 if question is None else question[-1]
            yield i, x if own == positive else [-v for v in x], shift


# 3. The mathematics.
def dot(z: list[int], w: list[int]) -> int:
    """The score z·w."""
    return sum(a * b for a, b in zip(z, w, strict=True))


def score(z: list[int], v: dict[int, int]) -> int:
    """The same for a v that is 0 in all columns but a few."""
    return sum(z[j] * weight for j, weight in v.items())


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


def read_dependences(fields: list[dict[str, list[str]]], width: int) -> tuple[list[dict[int, int]], set[int]]:
    """Columns with their weights, and the columns that are left out: the first of each dependence."""
    found, own = list[dict[int, int]](), set[int]()
    for each in fields:
        v = {int(column): int(weight, 0) for column, weight in zip(each["columns"], each["weights"], strict=False)}
        need(0 < len(v) == len(each["columns"]) == len(each["weights"]), "a dependence is malformed")
        need(max(v) < width and all(v.values()), "a dependence has an unknown column or a weight of 0")
        need(own.isdisjoint(v), "a dependence has the own column of one before it")
        found.append(v)
        own.add(next(iter(v)))
    return found, own


def check_definite(fields: dict[str, Any], weights: dict[int, int], rows: Rows) -> list[dict[int, int]]:
    """The positive-definite obstruction holds; returns the forms that are 0 on the span of its rows."""
    top, width = max(rows[i][1] for i in weights), len(rows[min(weights)][0])
    dependences, own = read_dependences(fields["dependences"], width)
    for i in weights:
        bad = any(score(rows[i][0], v) for v in dependences)
        need(not bad, f"row {i}: a dependence of columns does not hold", REFUTED)
    common = math.gcd(*weights.values())
    table = [[(u // common * v) << (top - rows[i][1]) for v in rows[i][0]] for i, u in weights.items()]
    columns = {j: column for j, column in enumerate(zip(*table, strict=True)) if any(column)}
    kept = [column for j, column in columns.items() if j not in own]
    need(kept, "the rows of the obstruction are 0 in every column", REFUTED)
    bits = [max(map(abs, column)).bit_length() for column in kept]  # p = entry / 2^bits: below 1
    sums = [-(-(abs(sum(column)) << 2 * FINE) >> b) for column, b in zip(kept, bits, strict=True)]
    length = math.isqrt(dot(sums, sums)) + 1  # |r|·4^FINE, rounded up
    table = [level(p, bits) for p in zip(*kept, strict=True)]
    # Each entry is off by less than 1, the singular values by less than the root of their number.
    least = (math.isqrt(length) + 1 + math.isqrt(len(table) * len(bits)) + 1) ** 2
    need(exceeds(table, least), f"row {min(weights)} and the rest are not proved to be an obstruction", REFUTED)
    return [{j: 1} for j in range(width) if j not in columns] + dependences


def level(p: tuple[int, ...], bits: list[int]) -> list[int]:
    """The row √c·p·2^FINE, rounded down, c <= 1/|p| a power of four."""
    sizes = [(abs(v) << FINE >> b) + 1 for v, b in zip(p, bits, strict=True)]
    half = -((FINE - (math.isqrt(dot(sizes, sizes)) + 1).bit_length()) // 2)  # |p| < 4^half
    return [(v << FINE) >> max(b + half, 0) for v, b in zip(p, bits, strict=True)]  # where v is not 0, half > -b


def exceeds(table: list[list[int]], least: int) -> bool:
    """Is the least eigenvalue of AᵀA, A the table, proved to be larger than this?"""
    columns = list(map(list, zip(*table, strict=True)))
    gram = products(columns, table)
    shift = least + least // 100 + (sum(gram[j][j] for j in range(len(gram))) * len(gram) >> 49)
    floats = [[math.ldexp(v, -2 * FINE) for v in row] for row in gram]
    lower = list[list[float]]()
    for j, row in enumerate(floats):  # Cholesky, row by row
        new = list[float]()
        for k in range(j):
            new.append((row[k] - sum(map(mul, new, lower[k]))) / lower[k][k])
        rest = row[j] - math.ldexp(shift, -2 * FINE) - sum(map(mul, new, new))
        if not rest > 0:
            return False
        lower.append([*new, math.sqrt(rest)])
    size = range(len(gram))
    whole = [[round(math.ldexp(v, FINE)) for v in row] for row in lower]
    upper = [[whole[j][k] if k <= j else 0 for j in size] for k in size]
    worst = 0
    for j, squared in enumerate(products(whole, upper)):
        error = [g - v for g, v in zip(gram[j], squared, strict=True)]
        error[j] -= shift
        worst = max(worst, sum(map(abs, error)))
    return shift - worst > least


def products(left: list[list[int]], right: list[list[int]]) -> list[list[int]]:
    """The rows Σ_i left_i·right[i]; the rows on the right are written into one long integer each."""
    longest = max(max(map(abs, row)) for row in (*left, *right))
    size = (2 * longest.bit_length() + len(right).bit_length()) // 8 + 1  # bytes of a sum, and its sign
    half = 1 << (8 * size - 1)
    middle = int.from_bytes(half.to_bytes(size, "little") * len(right[0]), "little")
    packed = [int.from_bytes(b"".join((v + half).to_bytes(size, "little") for v in row), "little") for row in right]
    packed = [row - middle for row in packed]
    found = list[list[int]]()
    for row in left:
        sums = (sum(map(mul, row, packed)) + middle).to_bytes(size * len(right[0]), "little")
        starts = range(0, len(sums), size)
        found.append([int.from_bytes(sums[start : start + size], "little") - half for start in starts])
    return found


def check(proof: dict[str, Any], layout: Layout, path: str) -> None:
    """Compute again everything that the proof states."""
    rows: Callable[[], Iterable[Row]] = lambda: read_rows(proof, layout, path)  # noqa: E731
    if proof["kind"] == "classes":
        if int(proof["data"]["columns"]) * int(proof["data"]["rows"]) < HELD:
            rows = [*rows()].copy
        sizes = Counter(own for own, _, _ in rows())
        same = [str(sizes[k]) for k in range(len(proof["classes"]))] == proof["sizes"] and "0" not in proof["sizes"]
        need(same, "the classes have other numbers of rows than the proof says", REFUTED)
    for part in answers(proof):
        if part["kind"] != "undecided":  # among many questions some may be open, which the answer says
            check_claim(part, lambda part=part: signed_rows(part, rows()))  # type: ignore[misc]


def check_claim(proof: dict[str, Any], rows: Callable[[], Iterable[Row]]) -> None:
    """Compute again everything that one claim states about its rows."""
    data, kind, margin = proof["data"], proof["kind"], proof.get("margin") or {"low": 0.0, "nearest": None}
    parts = proof.get("obstruction"), proof.get("spread"), margin["nearest"], proof.get("definite")
    obstruction, spread, nearest, definite = map(read_combination, parts)
    wanted = obstruction.keys() | spread.keys() | nearest.keys() | definite.keys()
    separator = proof.get("separator") or {"weights": [], "bias_weight": None}
    w = [int(v, 0) for v in separator["weights"]]
    bound = Fraction(margin["low"]) ** 2 * dot(w, w)
    joint = proof["question"] == ()
    w += [int(separator["bias_weight"], 0)] if separator["bias_weight"] and data["bias"] and not joint else []
    spare = int(data["columns"]) + data["bias"] if joint and not nearest else 0  # the block of the first class
    named, strict, wrong = Rows(), set[int](), set[int]()
    packed = (*proof.get("obstructions", ()), *proof.get("definite_obstructions", ()))
    for part in (*proof.get("copies", ()), *(part["rows"] for part in packed)):
        wanted |= set(map(int, part))
    for i, z, shift in rows():
        side = dot(z, w) if w else 0
        if kind == "mistakes" and side <= 0:
            wrong.add(i)
        elif kind != "mistakes":
            need(side >= (kind == "separable"), f"row {i} is not on its side of the hyperplane", REFUTED)
        need(not bound or side**2 >= bound * 4**shift, f"row {i} is nearer than the margin", REFUTED)
        if side > 0 and kind == "touching":
            strict.add(i)
        if i in wanted:
            named[i] = z[spare:], shift
    need(kind != "touching" or strict, "every row lies on the hyperplane", REFUTED)
    missing = wanted - named.keys()
    need(not missing, f"row {min(missing, default=0)} does not exist", REFUTED)
    if kind == "mistakes":
        check_mistakes(proof, named, wrong)
    for weights in filter(None, (obstruction, spread)):
        need(not any(add_up(weights, named)[0]), f"row {min(weights)} and the rest do not cancel", REFUTED)
    if nearest:
        check_near(nearest, named, data["bias"] and not joint, margin["high"])
    if proof.get("separated_rows") is not None:
        need(sorted(map(int, proof["separated_rows"])) == sorted(strict), "other rows are separated", REFUTED)
    basis = [dict(enumerate(v)) for v in (null_vectors([named[i][0] for i in spread]) if spread else ())]
    if definite:
        basis = check_definite(proof["definite"], definite, named)
        if kind == "not-separable" or (kind == "touching" and proof["separated_rows"] is None):
            basis = []  # nothing is claimed about the other rows
    for i, z, _ in rows() if basis else ():
        inside = i in strict or not any(score(z[spare:], v) for v in basis)
        need(inside, f"row {i} is not in the span of the spread", REFUTED)


def check_mistakes(proof: dict[str, Any], rows: Rows, wrong: set[int]) -> None:
    """These rows are mistaken, and every hyperplane costs at least the bound."""
    n, copies = int(proof["data"]["rows"]), [[int(i) for i in group] for group in proof["copies"]]
    costs = [1] * n if proof["costs"] is None else [int(cost, 0) for cost in proof["costs"]]
    need(len(costs) == n and min(costs) >= 0, "the proof does not say what each row costs")
    need(sorted(map(int, proof["mistaken_rows"])) == sorted(wrong), "other rows are mistaken", REFUTED)
    cost, twice = dict(enumerate(costs)), [i for group in copies for i in group]
    need(len(set(twice)) == len(twice) and all(len(group) > 1 for group in copies), "a row is a copy of one other")
    need(proof["costs"] is not None or proof["unit"] == "1/1", "where every mistake costs 1, the unit is 1")
    for first, *others in copies:
        need(all(rows[i] == rows[first] for i in others), f"row {first} and its copies are not equal", REFUTED)
        cost[first] = sum(cost.pop(i) for i in others) + cost[first]
    definite = proof.get("definite_obstructions", [])
    found = [read_combination(part) for part in proof["obstructions"] + definite]
    for k, part in enumerate(found, -len(proof["obstructions"])):
        need(part.keys() <= cost.keys(), "an obstruction names a copy, or no row")
        if k >= 0:
            check_definite(definite[k], part, rows)
        else:
            need(not any(add_up(part, rows)[0]), f"row {min(part)} and the rest do not cancel", REFUTED)
    require_all_cases([list(zip(map(int, leaf["rows"]), leaf["right"], strict=True)) for leaf in proof["leaves"]])
    least = [bound for leaf in proof["leaves"] if (bound := cost_of_leaf(leaf, found, cost)) is not None]
    proved = least and -(-min(least) // UNITS) >= int(proof["least"], 0)
    need(proved, "the obstructions do not prove the bound", REFUTED)


def require_all_cases(paths: list[list[tuple[int, bool]]]) -> None:
    """The cases are the leaves of a tree: at each node one row is right or mistaken."""
    nodes = [(paths, 0)]
    for below, depth in nodes:
        if len(below) == 1 and len(below[0]) == depth:
            continue
        need(below and all(len(path) > depth for path in below), "the cases are not those of a tree", REFUTED)
        need(len({path[depth][0] for path in below}) == 1, "the cases are not those of a tree", REFUTED)
        nodes += [([path for path in below if path[depth][1] is side], depth + 1) for side in (True, False)]


def cost_of_leaf(leaf: dict[str, Any], found: list[dict[int, int]], cost: dict[int, int]) -> int | None:
    """The least that a hyperplane of this case costs, in units; None if there is none."""
    case = dict(zip(map(int, leaf["rows"]), leaf["right"], strict=True))
    need(case.keys() <= cost.keys() and len(case) == len(leaf["rows"]), "a case names a copy, no row, or a row twice")
    used, total = dict[int, int](), sum(UNITS * cost[i] for i, is_right in case.items() if not is_right)
    for k, units in zip(map(int, leaf["obstructions"]), leaf["units"], strict=True):
        need(k < len(found) and int(units, 0) >= 0, "a case names no obstruction")
        need(all(case.get(i, True) for i in found[k]), "a case counts an obstruction with a mistaken row", REFUTED)
        free = [i for i in found[k] if i not in case]
        if not free:
            return None  # all its rows are right, which is impossible
        total += int(units, 0)
        for i in free:
            used[i] = used.get(i, 0) + int(units, 0)
    fits = all(units <= UNITS * cost[i] for i, units in used.items())
    need(fits, "the obstructions of a row count for more than its cost", REFUTED)
    return total


def describe(proof: dict[str, Any], layout: Layout, path: str) -> str:
    """What was verified: a line with the claim, and what it is about."""
    data, kind, names = proof["data"], proof["kind"], layout.names
    origin = "" if data["bias"] else " through the origin (no bias)"
    column = str(layout.place) if names is None else f"{layout.label!a:.60}"
    header = "the first line is a row, not a header" if names is None else "below a header line"
    named = "" if names is None or len(names) > 20 else f": {', '.join(ascii(name) for name in names):.300}"
    title = TITLES.get(kind, OPEN)
    if kind == "mistakes":
        costs = proof["costs"] and [int(cost, 0) for cost in proof["costs"]]
        spent = sum(costs[int(i)] if costs else 1 for i in proof["mistaken_rows"])
        title = f"at most {spent}, at least {proof['least']}"
        title += f", times {proof['unit']}, with the costs of the proof" if costs else ""
    labels = "{1} is the positive class, {0} the negative".format(*map(shown, data["labels"]))
    if kind == "classes":
        parts = answers(proof)
        kinds = Counter(part["kind"] for part in parts)
        title = f"{proof['by']}: " + ", ".join(f"{number} {each}" for each, number in kinds.items())
        labels = ", ".join(map(shown, data["labels"]))
        for part in parts if proof["by"] != "joint" else ():
            about = " and ".join(shown(data["labels"][k]) for k in part["question"])
            labels += f"\nanswer   {about}: {part['kind']}"
    return f"""{kind} ({title}){origin}: {data["rows"]} rows of {path!a}, label column {column}
labels   {labels}
rows     {data["rows"]}, {header}
columns  {data["columns"]}{named}
numbers  read as {data["numbers"]}"""


def main(arguments: list[str] | None = None) -> int:
    """Check, print what was verified or why not, and return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m linsep.checker", description=str(__doc__).split("\n")[0])
    parser.add_argument("proof", help="the written proof, a JSON file")
    parser.add_argument("data", help="the rows, a CSV file")
    parser.add_argument("--label", help="the label column: its name, or its position (0 the first, -1 the last)")
    parser.add_argument("--header", action="store_true", help="the first line is a header, whatever it holds")
    parser.add_argument("--bias", action=argparse.BooleanOptionalAction, help="refuse a proof without (with) bias")
    parser.add_argument("--positive", help="refuse a proof in which this label is not the positive class")
    parser.add_argument("--numbers", choices=["binary64", "decimal"], help="refuse a proof that reads them otherwise")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of text")
    given = sys.argv[1:] if arguments is None else arguments
    named = [Path(word).stat() for word in given if os.path.isfile(word)]  # noqa: PTH113
    is_named: Any = lambda k: os.path.exists(k) and any(os.path.samestat(os.fstat(k), f) for f in named)  # noqa: E731, PTH110
    spared = [stream for stream in (1, 2) if not is_named(stream)]  # what is written to the others would change a file
    if len(spared) < 2:
        for stream in spared:
            os.write(stream, b"BAD INPUT: the output goes into a file that is read\n")
        return BAD_INPUT
    options, facts = parser.parse_args(given), dict[str, Any]()
    csv.field_size_limit(2**26)  # the longest line that linsep reads
    try:
        proof = read_proof(options.proof)
        require_agreement(proof, options)
        reasons = [part["reason"] for part in answers(proof) if part["kind"] == "undecided"]
        need(len(reasons) < len(answers(proof)), f"no proof; the reason: {''.join(reasons[:1])!a:.200}", UNDECIDED)
        layout = find_layout(proof["data"], options)
        check(proof, layout, options.data)
        words, status = describe(proof, layout, options.data), 0
        read = {"names": layout.names, "label_column": layout.label}
        facts = {"kind": proof["kind"], "header": layout.names is not None, "data": proof["data"] | read}
    except CheckError as error:
        words, status = error.args
    except OSError as error:
        words, status = f"{error.filename or options.data!a} cannot be read: {error.strerror or error}", BAD_INPUT
    except (ValueError, csv.Error, RecursionError, MemoryError) as error:
        words, status = f"the proof or the data cannot be read: {str(error)!a:.200}", BAD_INPUT
    told = f"{VERDICTS[status]}{': ' if status else ' '}{words}"
    if options.json:
        told = json.dumps({"answer": VERDICTS[status].lower(), "message": words.partition("\n")[0]} | facts)
    try:
        print(told, flush=True)
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):  # its reader has left, and the status is still the answer
            print(f"the answer cannot be written: {error}", file=sys.stderr)
            return BAD_INPUT  # a full disk: an answer that nobody can read is not an answer
    return int(status) if sys.stdout is not None else BAD_INPUT


if __name__ == "__main__":
    raise SystemExit(main())
