"""The written proof: a verdict as JSON text and back, by the rules of docs/certificate-format.md.

A reader of proofs trusts nothing: unknown or missing fields, repeated keys, numbers where strings belong,
NaN and oversized texts are all refused, and so is a text whose last field, its checksum, does not match.
Everything wrong with a text is a CertificateError.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from typing import Any, NoReturn, TypeVar

from linsep import sealed
from linsep.certificates.rows import Label
from linsep.certificates.verdicts import (
    NUMBERS,
    HalfspaceVerdict,
    Obstruction,
    Overlapping,
    Separable,
    Touching,
    Undecided,
    Verdict,
)
from linsep.errors import CertificateError

FORMAT, VERSION = "linsep-proof", "1"
MAX_CHARACTERS = 2**28  # a whole proof, in bytes
MAX_HEX_DIGITS = 2**20  # one integer: four million bits
MAX_DECIMAL_DIGITS = 600  # Python converts up to 640 digits whatever its settings; longer integers are hex

T = TypeVar("T")
Object = dict[str, Any]


def verdict_to_json(verdict: Verdict) -> str:
    """The proof as text: one field a line, fields in the order of the format, ASCII only."""
    document: Object = {"format": FORMAT, "version": VERSION, "kind": verdict.kind, "data": _data(verdict)}
    document |= _claim(verdict)
    document["effort"] = {"reads": str(verdict.reads), "seconds": float(verdict.seconds)}
    try:
        lines = [f' "{name}": {json.dumps(value, allow_nan=False)}' for name, value in document.items()]
    except ValueError as error:
        raise CertificateError(f"This verdict cannot be written down: {error}.") from None
    text = sealed.seal("{\n" + ",\n".join(lines) + "\n}")
    if not isinstance(text, (str, bytes)):
        raise CertificateError(f"A written proof is text, not {_clip(text)}: read the file first.")
    if len(text) > MAX_CHARACTERS:
        raise CertificateError(f"The proof would have {len(text):,} bytes; at most {MAX_CHARACTERS:,} are read.")
    return text


def _data(verdict: Verdict) -> Object:
    return {
        "rows": str(verdict.n_rows),
        "columns": str(verdict.n_columns),
        "bias": verdict.bias,
        "labels": [_written_label(label) for label in verdict.labels],
        "names": None if verdict.names is None else list(verdict.names),
        "label_column": verdict.label_column,
        "numbers": verdict.numbers,
        "rows_left_out": str(verdict.rows_left_out),
    }


def _claim(verdict: Verdict) -> Object:
    claim: Object = {}
    if isinstance(verdict, HalfspaceVerdict):
        claim["separator"] = {
            "weights": [_digits(w) for w in verdict.weights],
            "bias_weight": _digits(verdict.bias_weight),
        }
    match verdict:
        case Separable(margin=margin, nearest=nearest):
            claim["margin"] = None if margin is None else {**_interval(margin), "nearest": _rows(nearest)}
        case Touching(obstruction=obstruction, separated_rows=separated, spread=spread):
            claim["obstruction"] = _rows(obstruction)
            claim["separated_rows"] = None if separated is None else [str(row) for row in separated]
            claim["spread"] = _rows(spread)
        case Overlapping(obstruction=obstruction, spread=spread):
            claim["obstruction"], claim["spread"] = _rows(obstruction), _rows(spread)
        case Undecided(reason=reason, margin=margin):
            claim["reason"], claim["margin"] = reason, _interval(margin)
    return claim


def _interval(margin: tuple[float, float]) -> Object:
    low, high = (float(end) for end in margin)
    return {"low": low, "high": None if math.isinf(high) else high}


def _rows(obstruction: Obstruction | None) -> Object | None:
    if obstruction is None:
        return None
    return {
        "rows": [str(row) for row in obstruction.rows],
        "weights": [_digits(weight) for weight in obstruction.weights],
    }


def _digits(number: int) -> str:
    if number.bit_length() > 4 * MAX_HEX_DIGITS:
        raise CertificateError(f"An integer of {number.bit_length():,} bits is too long for a written proof.")
    return str(number) if number.bit_length() < 1990 else hex(number)


def _written_label(label: Label) -> str:
    match label:
        case bool():
            return "boolean:true" if label else "boolean:false"
        case int():
            return f"integer:{_digits(label)}"
        case float():
            return f"number:{float(label)!r}"
        case str():
            return f"text:{label}"
    raise CertificateError(f"A label of type {type(label).__name__} cannot be written down.")


def verdict_from_json(text: str | bytes) -> Verdict:
    """Read a written proof. What it says is not yet checked: call `verify` with the data.

    Raises
    ------
    CertificateError : the text is not a whole, well-formed proof of a version that is known here.

    >>> import linsep
    >>> X, y = linsep.datasets.cornwell()
    >>> verdict = linsep.verdict_from_json(linsep.decide(X, y).to_json())
    >>> verdict.verify(X, y)
    """
    if not isinstance(text, (str, bytes)):
        raise CertificateError(f"A written proof is text, not {_clip(text)}: read the file first.")
    if len(text) > MAX_CHARACTERS:
        raise CertificateError(f"The proof has {len(text)} characters; at most {MAX_CHARACTERS} are read.")
    try:
        document = json.loads(
            text,
            object_pairs_hook=_without_repeats,
            parse_constant=_refuse_number,
            parse_int=_refuse_number,
            parse_float=_float,
        )
    except CertificateError:
        raise
    except (ValueError, RecursionError) as error:
        raise CertificateError(f"The proof is not JSON: {error}.") from None
    if isinstance(document, dict) and document.get("format") == FORMAT and document.get("version") == VERSION:
        if reason := sealed.fault(text):
            raise CertificateError(f"The proof is not whole: {reason}.")
        document.pop(sealed.FIELD, None)
    return _verdict(document)


def _without_repeats(pairs: list[tuple[str, Any]]) -> Object:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise CertificateError("The proof is not a proof: a field is written twice.")
    return fields


def _refuse_number(text: str) -> NoReturn:
    raise CertificateError(f"The proof holds the bare number {_clip(text)}; integers are written as strings.")


def _float(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise CertificateError(f"The proof holds the number {_clip(text)}, which no double can hold.")
    return value


def _clip(text: Any) -> str:
    shown = repr(text)
    return shown if len(shown) <= 60 else shown[:57] + "..."


FIELDS: dict[str, tuple[str, ...]] = {
    "separable": ("separator", "margin"),
    "touching": ("separator", "obstruction", "separated_rows", "spread"),
    "overlapping": ("obstruction", "spread"),
    "undecided": ("reason", "margin"),
}


def _verdict(document: Any) -> Verdict:
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise CertificateError(f"This is not a proof: its format is not {FORMAT!r}.")
    if document.get("version") != VERSION:
        version = _clip(document.get("version"))
        raise CertificateError(f"The proof has version {version}; this reader knows {VERSION!r}.")
    kind = document.get("kind")
    if not isinstance(kind, str) or kind not in FIELDS:
        raise CertificateError(f"The proof has the kind {_clip(kind)}; the kinds are {', '.join(FIELDS)}.")
    _expect(document, ("format", "version", "kind", "data", *FIELDS[kind], "effort"), "the proof")
    common = _read_data(document["data"]) | _read_effort(document["effort"])
    match kind:
        case "separable":
            return Separable(**common, **_separator(document["separator"]), **_margin(document["margin"]))
        case "touching":
            return Touching(
                **common,
                **_separator(document["separator"]),
                obstruction=_obstruction(document["obstruction"]),
                separated_rows=_optional(_row_numbers, document["separated_rows"]),
                spread=_optional(_obstruction, document["spread"]),
            )
        case "overlapping":
            return Overlapping(
                **common,
                obstruction=_obstruction(document["obstruction"]),
                spread=_obstruction(document["spread"]),
            )
    bounds = _expect(document["margin"], ("low", "high"), "margin")
    return Undecided(**common, reason=_text(document["reason"], "reason"), margin=_read_interval(bounds))


def _expect(value: Any, fields: tuple[str, ...], what: str) -> Object:
    if not isinstance(value, dict):
        raise CertificateError(f"In the proof, {what} is not an object.")
    for name in value.keys() ^ set(fields):
        state = "missing" if name in fields else "unknown"
        raise CertificateError(f"In the proof, {what} has the {state} field {_clip(name)}.")
    return value


def _read_data(value: Any) -> Object:
    data = _expect(
        value,
        ("rows", "columns", "bias", "labels", "names", "label_column", "numbers", "rows_left_out"),
        "data",
    )
    if not isinstance(data["bias"], bool):
        raise CertificateError("In the proof, bias is neither true nor false.")
    if data["numbers"] not in NUMBERS:
        raise CertificateError(f"In the proof, numbers is {_clip(data['numbers'])}, not one of {NUMBERS}.")
    labels = _list(data["labels"], "labels")
    if len(labels) != 2:
        raise CertificateError(f"The proof has {len(labels)} labels, not two.")
    return {
        "n_rows": _count(data["rows"], "rows"),
        "n_columns": _count(data["columns"], "columns"),
        "bias": data["bias"],
        "labels": tuple(_label(written) for written in labels),
        "names": _optional(_names, data["names"]),
        "label_column": _optional(lambda text: _text(text, "label_column"), data["label_column"]),
        "numbers": data["numbers"],
        "rows_left_out": _count(data["rows_left_out"], "rows_left_out"),
    }


def _read_effort(value: Any) -> Object:
    effort = _expect(value, ("reads", "seconds"), "effort")
    return {"reads": _count(effort["reads"], "reads"), "seconds": _number(effort["seconds"], "seconds")}


def _label(written: Any) -> Label:
    kind, colon, word = written.partition(":") if isinstance(written, str) else ("", "", "")
    match kind + colon, word:
        case "text:", _:
            return _text(word, "label")
        case "integer:", _:
            return _integer(word, "label")
        case "number:", _ if NUMBER.fullmatch(word):
            return _float(word)
        case "boolean:", "true" | "false":
            return word == "true"
    raise CertificateError(f"In the proof, {_clip(written)} is not a label.")


def _separator(value: Any) -> Object:
    separator = _expect(value, ("weights", "bias_weight"), "separator")
    return {
        "weights": _integers(separator["weights"], "weights"),
        "bias_weight": _integer(separator["bias_weight"], "bias_weight"),
    }


def _margin(value: Any) -> Object:
    if value is None:
        return {}
    margin = _expect(value, ("low", "high", "nearest"), "margin")
    return {"margin": _read_interval(margin), "nearest": _optional(_obstruction, margin["nearest"])}


def _read_interval(margin: Object) -> tuple[float, float]:
    high = margin["high"]
    return _number(margin["low"], "low"), math.inf if high is None else _number(high, "high")


def _obstruction(value: Any) -> Obstruction:
    fields = _expect(value, ("rows", "weights"), "obstruction")
    return Obstruction(_row_numbers(fields["rows"]), _integers(fields["weights"], "weights"))


def _row_numbers(value: Any) -> tuple[int, ...]:
    return tuple(_count(item, "row number") for item in _list(value, "rows"))


def _names(value: Any) -> tuple[str, ...]:
    return tuple(_text(item, "name") for item in _list(value, "names"))


def _integers(value: Any, what: str) -> tuple[int, ...]:
    return tuple(_integer(item, what) for item in _list(value, what))


def _optional(read: Callable[[Any], T], value: Any) -> T | None:
    return None if value is None else read(value)


def _list(value: Any, what: str) -> list[Any]:
    if not isinstance(value, list):
        raise CertificateError(f"In the proof, {what} is not a list.")
    return value


def _text(value: Any, what: str) -> str:
    if not isinstance(value, str):
        raise CertificateError(f"In the proof, {what} is {_clip(value)}, not a text.")
    return value


def _number(value: Any, what: str) -> float:
    if not isinstance(value, float) or value < 0:
        raise CertificateError(f"In the proof, {what} is {_clip(value)}, not a number like 0.5.")
    return value


def _count(value: Any, what: str) -> int:
    if not isinstance(value, str) or not re.fullmatch(r"0|[1-9][0-9]{0,17}", value):
        raise CertificateError(f"In the proof, {what} is {_clip(value)}, not a count written as a string.")
    return int(value)


NUMBER = re.compile(r"-?[0-9]{1,400}(\.[0-9]{1,400})?(e[+-]?[0-9]{1,4})?")
DECIMAL = re.compile(rf"0|-?[1-9][0-9]{{0,{MAX_DECIMAL_DIGITS - 1}}}")
HEX = re.compile(rf"-?0x[1-9a-f][0-9a-f]{{0,{MAX_HEX_DIGITS - 1}}}")


def _integer(value: Any, what: str) -> int:
    if isinstance(value, str) and DECIMAL.fullmatch(value):
        return int(value)
    if isinstance(value, str) and HEX.fullmatch(value):
        return int(value, 16)
    raise CertificateError(f"In the proof, {what} holds {_clip(value)}, not an integer written as a string.")
