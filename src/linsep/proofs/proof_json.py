"""The written proof: a verdict as JSON text and back, by the rules of docs/certificate-format.md.

The reader of proofs trusts nothing: it refuses unknown or missing fields, repeated keys, numbers where strings belong,
NaN and oversized texts, and a text whose last field, its checksum, does not match. It raises CertificateError for
everything that is wrong with a text.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any

from linsep.errors import CertificateError, shown
from linsep.proofs.checked_rows import Label
from linsep.proofs.definite import ColumnDependence
from linsep.proofs.fewest_mistakes import FewestMistakes
from linsep.proofs.obstructions import Obstruction
from linsep.proofs.packings import Leaf
from linsep.proofs.verdict_base import NUMBERS, Verdict
from linsep.proofs.verdicts import HalfspaceVerdict, NotSeparable, Overlapping, Separable, Touching, Undecided
from linsep.storage import documents, strict
from linsep.storage.strict import Document, FieldError, Reader, each, optional, record, spaced, string, written_integer

if TYPE_CHECKING:
    from linsep.proofs.class_verdicts import ClassVerdicts

PROOF = documents.Format("linsep-proof", "1", "proof", CertificateError, lead="In the proof, ", is_ascii=True)


def verdict_to_json(verdict: Verdict) -> str:
    """The proof as text: one field per line, fields in the order of the format, ASCII only."""
    with PROOF.refusals():
        fields = {"kind": verdict.kind, "data": data_of(verdict), **claim_of(verdict)}
    fields["effort"] = {"reads": str(verdict.reads), "seconds": float(verdict.seconds)}
    later = {"definite": "3", "definite_obstructions": "5", "leaves": "4"}  # the first of these fields decides
    return require_short(PROOF.write(fields, next((later[name] for name in later if name in fields), "1")))


def require_short(text: str) -> str:
    """The text, unless it is longer than the reader accepts."""
    if len(text) > (most := documents.MOST_BYTES):
        raise CertificateError(f"The proof would have {len(text):,} bytes; at most {most:,} are read.")
    return text


def data_of(verdict: Verdict | ClassVerdicts) -> Document:
    """What a proof is about."""
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


def claim_of(verdict: Verdict) -> Document:
    """What it claims."""
    claim: Document = {}
    if isinstance(verdict, HalfspaceVerdict):
        claim["separator"] = {
            "weights": [written_integer(w) for w in verdict.weights],
            "bias_weight": written_integer(verdict.bias_weight),
        }
    match verdict:
        case Touching(obstruction=Obstruction(dependences=tuple()) as obstruction):
            claim["definite"] = _definite(obstruction)
            claim["separated_rows"] = _written_rows(verdict.separated_rows)
        case Overlapping(obstruction=Obstruction(dependences=tuple()) as obstruction):
            claim["definite"] = _definite(obstruction)
        case NotSeparable(obstruction=Obstruction(dependences=tuple()) as obstruction):
            claim["definite"], claim["reason"] = _definite(obstruction), verdict.reason
        case Separable(margin=margin, nearest=nearest):
            claim["margin"] = None if margin is None else {**_interval(margin), "nearest": _rows(nearest)}
        case Touching(obstruction=obstruction, separated_rows=separated, spread=spread):
            claim["obstruction"] = _rows(obstruction)
            claim["separated_rows"] = _written_rows(separated)
            claim["spread"] = _rows(spread)
        case Overlapping(obstruction=obstruction, spread=spread):
            claim["obstruction"], claim["spread"] = _rows(obstruction), _rows(spread)
        case NotSeparable(obstruction=obstruction, reason=reason):
            claim["obstruction"], claim["reason"] = _rows(obstruction), reason
        case Undecided(reason=reason, margin=margin):
            claim["reason"], claim["margin"] = reason, _interval(margin)
        case FewestMistakes():
            claim |= _bound(verdict)
    return claim


def _bound(found: FewestMistakes) -> Document:
    exact = [obstruction for obstruction in found.obstructions if not obstruction.is_definite]
    definite = found.obstructions[len(exact) :]
    return {
        "mistaken_rows": _written_rows(found.mistaken_rows),
        "costs": None if found.costs is None else [written_integer(cost) for cost in found.costs],
        "unit": f"{written_integer(found.unit.numerator)}/{written_integer(found.unit.denominator)}",
        "least": written_integer(found.least),
        "copies": [_written_rows(group) for group in found.copies],
        "obstructions": [_rows(obstruction) for obstruction in exact],
        "leaves": [_leaf(leaf) for leaf in found.leaves],
    } | ({"definite_obstructions": [_definite(obstruction) for obstruction in definite]} if definite else {})


def _leaf(leaf: Leaf) -> Document:
    return {
        "rows": [str(row) for row, _ in leaf.path],
        "right": [is_right for _, is_right in leaf.path],
        "obstructions": [str(k) for k, _ in leaf.multipliers],
        "units": [written_integer(units) for _, units in leaf.multipliers],
    }


def _interval(margin: tuple[float, float]) -> Document:
    low, high = (float(end) for end in margin)
    return {"low": low, "high": None if math.isinf(high) else high}


def _rows(obstruction: Obstruction | None) -> Document | None:
    if obstruction is None:
        return None
    return {
        "rows": [str(row) for row in obstruction.rows],
        "weights": [written_integer(weight) for weight in obstruction.weights],
    }


def _written_rows(rows: tuple[int, ...] | None) -> list[str] | None:
    return None if rows is None else [str(row) for row in rows]


def _definite(obstruction: Obstruction) -> Document:
    dependences = [
        {"columns": [str(column) for column in found.columns], "weights": [written_integer(w) for w in found.weights]}
        for found in obstruction.dependences or ()
    ]
    rows = obstruction.rows  # in order
    steps = [rows[0], *(after - before for before, after in pairwise(rows))]
    return {
        "steps": " ".join(map(str, steps)),
        "weights": " ".join(map(written_integer, obstruction.weights)),
        "dependences": dependences,
    }


def _written_label(label: Label) -> str:
    match label:
        case bool():
            return "boolean:true" if label else "boolean:false"
        case int():
            return f"integer:{written_integer(label)}"
        case float():
            return f"number:{float(label)!r}"
        case str():
            return f"text:{label}"
    raise CertificateError(f"A label of type {type(label).__name__} cannot be written down.")


def verdict_from_json(text: str | bytes) -> Verdict:
    """Read a written proof. What it says is not yet checked: call `verify` with the data.

    Parameters
    ----------
    text : str or bytes
        What `to_json` or `linsep decide --proof` wrote.

    Returns
    -------
    Verdict
        The verdict as written, not yet checked.

    Raises
    ------
    CertificateError
        The text is not a complete, well-formed proof of a version that this linsep knows.

    Examples
    --------
    >>> import linsep
    >>> X, y = linsep.datasets.cornwell()
    >>> verdict = linsep.verdict_from_json(linsep.decide(X, y).to_json())
    >>> verdict.verify(X, y)
    """
    if not isinstance(text, (str, bytes)):
        raise CertificateError(f"A written proof is text, not {shown(text)}: read the file first.")
    versions: Any = {"v2": _listed_verdict, "v3": _definite_verdict, "v4": _bounded, "v5": _bounded_definitely}
    found: Verdict = PROOF.read(text, _verdict, **versions, v6=_about_classes)
    return found


# What the fields hold ------------------------------------------------------------------------------------


def label_of(value: Any, where: str) -> Label:
    """A label, which is written with its type."""
    kind, colon, word = string(value, where).partition(":")
    match kind + colon, word:
        case "text:", _ if word:  # empty text is a missing label
            return word
        case "integer:", _:
            return strict.long_integer(word, where)
        case "number:", _ if _NUMBER.fullmatch(word) and math.isfinite(float(word)):
            return float(word)
        case "boolean:", "true" | "false":
            return word == "true"
    raise FieldError(f"{where} is {shown(value)}, which is not a label.")


def _size(value: Any, where: str) -> float:
    """A finite float, 0 or more; whole numbers are written with a point, too."""
    if not isinstance(value, float) or not 0 <= value < math.inf:
        raise FieldError(f"{where} is {shown(value)}, not a number like 0.5.")
    return value


def _obstruction(value: Any, where: str) -> Obstruction:
    return Obstruction(**_COMBINATION(value, where))


def _definite_obstruction(value: Any, where: str) -> Obstruction:
    found = _DEFINITE(value, where)
    return Obstruction(rows=tuple(accumulate(found.pop("steps"))), **found)


def _listed_obstruction(value: Any, where: str) -> Obstruction:
    return Obstruction(**_LISTED(value, where))


def _dependence(value: Any, where: str) -> ColumnDependence:
    return ColumnDependence(**record(columns=each(_COUNT), weights=each(strict.long_integer))(value, where))


def _leaf_of(value: Any, where: str) -> Leaf:
    lists = {"obstructions": each(_COUNT), "units": each(strict.long_integer)}
    found = record(rows=each(_COUNT), right=each(strict.flag), **lists)(value, where)
    if len(found["rows"]) != len(found["right"]) or len(found["obstructions"]) != len(found["units"]):
        raise FieldError(f"{where} has lists of different lengths.")
    path = zip(found["rows"], found["right"], strict=True)
    multipliers = zip(found["obstructions"], found["units"], strict=True)
    return Leaf(tuple(path), tuple(multipliers))


def _unit(value: Any, where: str) -> Fraction:
    above, _, below = string(value, where).partition("/")
    numerator, denominator = strict.long_integer(above, where), strict.long_integer(below, where)
    if denominator <= 0:
        raise FieldError(f"{where} is {shown(value)}, which is not a fraction.")
    found = Fraction(numerator, denominator)
    if found.denominator != denominator:  # each value has one spelling: 2/2 is refused
        raise CertificateError(f"{where} is {shown(value)}: it must be in lowest terms.")
    return found


def _data_of(value: Any, where: str) -> Document:
    found = record(**DATA)(value, where)
    return {"n_rows": found.pop("rows"), "n_columns": found.pop("columns"), **found}


def _margin(value: Any, where: str) -> Document:
    if value is None:
        return {}
    found = record(low=_size, high=optional(_size), nearest=optional(_obstruction))(value, where)
    return {"margin": _ends(found), "nearest": found["nearest"]}


def _known_margin(value: Any, where: str) -> Document:
    return {"margin": _ends(record(low=_size, high=optional(_size))(value, where))}


def _ends(found: Document) -> tuple[float, float]:
    return found["low"], math.inf if found["high"] is None else found["high"]


_NUMBER = re.compile(r"-?[0-9]{1,400}(\.[0-9]{1,400})?(e[+-]?[0-9]{1,4})?", re.ASCII)
_COUNT = strict.digits(18)
_COMBINATION = record(rows=each(_COUNT), weights=each(strict.long_integer))
_LISTED = record(rows=each(_COUNT), weights=each(strict.long_integer), dependences=each(_dependence))
_DEFINITE = record(steps=spaced(_COUNT), weights=spaced(strict.long_integer), dependences=each(_dependence))
_SEPARATOR = record(weights=each(strict.long_integer), bias_weight=strict.long_integer)
DATA: Mapping[str, Reader] = {
    "rows": _COUNT,
    "columns": _COUNT,
    "bias": strict.flag,
    "labels": each(label_of, 2),
    "names": optional(each(string)),
    "label_column": optional(string),
    "numbers": strict.word(*NUMBERS),
    "rows_left_out": _COUNT,
}
EFFORT = record(reads=_COUNT, seconds=_size)
SPREAD_OUT = ("data", "separator", "margin", "effort")  # fields that hold several of a verdict's
CLAIMS: Mapping[str, Mapping[str, Reader]] = {
    "separable": {"separator": _SEPARATOR, "margin": _margin},
    "touching": {
        "separator": _SEPARATOR,
        "obstruction": _obstruction,
        "separated_rows": optional(each(_COUNT)),
        "spread": optional(_obstruction),
    },
    "overlapping": {"obstruction": _obstruction, "spread": _obstruction},
    "not-separable": {"obstruction": _obstruction, "reason": string},
    "undecided": {"reason": string, "margin": _known_margin},
}


def _claims_with(definite: Reader) -> Mapping[str, Mapping[str, Reader]]:
    separated = optional(each(_COUNT))
    return {
        "touching": {"separator": _SEPARATOR, "definite": definite, "separated_rows": separated},
        "overlapping": {"definite": definite},
    }


_BOUNDS: Mapping[str, Mapping[str, Reader]] = {
    "mistakes": {
        "separator": _SEPARATOR,
        "mistaken_rows": each(_COUNT),
        "costs": optional(each(strict.long_integer)),
        "unit": _unit,
        "least": strict.long_integer,
        "copies": each(each(_COUNT)),
        "obstructions": each(_obstruction),
        "leaves": each(_leaf_of),
    },
}
_DEFINITE_BOUNDS = {"mistakes": {**_BOUNDS["mistakes"], "definite_obstructions": each(_definite_obstruction)}}
_LISTED_CLAIMS, DEFINITE_CLAIMS = (
    _claims_with(_listed_obstruction),
    {**_claims_with(_definite_obstruction), "not-separable": {"definite": _definite_obstruction, "reason": string}},
)
_VERDICTS: Mapping[str, type[Verdict]] = {
    "separable": Separable,
    "touching": Touching,
    "overlapping": Overlapping,
    "not-separable": NotSeparable,
    "undecided": Undecided,
}


def _verdict(document: Document) -> Verdict:
    return verdict_of(*_fields_of(document, CLAIMS))


def _listed_verdict(document: Document) -> Verdict:
    """A proof of version 2: the same as version 3, with lists of rows and weights."""
    return _definite_verdict(document, _LISTED_CLAIMS)


def _definite_verdict(document: Document, claims: Mapping[str, Mapping[str, Reader]] = DEFINITE_CLAIMS) -> Verdict:
    """A proof of version 3: one positive-definite obstruction, which is the spread as well."""
    return verdict_of(*_fields_of(document, claims))


def verdict_of(kind: str, found: Document) -> Verdict:
    """The verdict of a kind with these fields: of version 1, or with one positive-definite obstruction."""
    if "definite" not in found:
        return _VERDICTS[kind](**found)
    first = found.pop("definite")
    if kind == "not-separable":
        return NotSeparable(obstruction=first, **found)
    spread = None if kind == "touching" and found["separated_rows"] is None else first
    parts: Document = {"obstruction": first, "spread": spread}
    return _VERDICTS[kind](**parts, **found)


def _bounded(document: Document) -> Verdict:
    """A proof of version 4: few mistakes, and how few are possible."""
    _, found = _fields_of(document, _BOUNDS)
    return FewestMistakes(**found)


def _bounded_definitely(document: Document) -> Verdict:
    """A proof of version 5: the same, with positive-definite obstructions after the others."""
    _, found = _fields_of(document, _DEFINITE_BOUNDS)
    if not found["definite_obstructions"]:
        raise FieldError("version 5 is for positive-definite obstructions, and there are none.")
    found["obstructions"] = (*found["obstructions"], *found.pop("definite_obstructions"))
    return FewestMistakes(**found)


def _about_classes(document: Document) -> Any:
    """A proof of version 6: many classes."""
    from linsep.proofs.class_json import classes_of

    return classes_of(document)


def _fields_of(document: Document, claims: Mapping[str, Mapping[str, Reader]]) -> tuple[str, Document]:
    kind = strict.word(*claims)(document.pop("kind", None), "kind")
    found = record(data=_data_of, **claims[kind], effort=EFFORT)(document, "")
    for name in SPREAD_OUT:
        found |= found.pop(name, {})
    return kind, found
