"""The written proof about many classes, version 6: one table, and an answer to each question in turn.

An answer is the claim of a proof about two classes. The scores of a joint answer are written with a block for every
class. Without a margin, the weights of the first class are subtracted from all: the proof does not need its block.
"""

from __future__ import annotations

from typing import Any

from linsep.errors import CertificateError
from linsep.proofs.class_rows import BY, labels_of, questions, rows_asked
from linsep.proofs.class_verdicts import ClassVerdicts
from linsep.proofs.proof_json import (
    CLAIMS,
    DATA,
    DEFINITE_CLAIMS,
    EFFORT,
    PROOF,
    SPREAD_OUT,
    claim_of,
    data_of,
    label_of,
    require_short,
    verdict_of,
)
from linsep.proofs.verdict_base import Verdict
from linsep.proofs.verdicts import HalfspaceVerdict
from linsep.storage import strict
from linsep.storage.strict import Document, FieldError, each, record, written_integer

COUNT = strict.digits(18)


def classes_to_json(found: ClassVerdicts) -> str:
    """All proofs as one text."""
    with PROOF.refusals():
        fields: Document = {
            "kind": found.kind,
            "data": data_of(found),
            "by": found.by,
            "sizes": [str(size) for size in found.sizes],
            "answers": [_answer(found, verdict) for verdict in found.verdicts],
            "effort": {"reads": str(found.reads), "seconds": float(found.seconds)},
        }
    return require_short(PROOF.write(fields, "6"))


def _answer(found: ClassVerdicts, verdict: Verdict) -> Document:
    answer = {"kind": verdict.kind, **claim_of(verdict)}
    if found.by == "joint" and isinstance(verdict, HalfspaceVerdict):
        weights = (w for block in found.class_weights or () for w in block)
        answer["separator"] = {"weights": list(map(written_integer, weights)), "bias_weight": "0"}
    return answer


def classes_of(document: Document) -> ClassVerdicts:
    """A proof of version 6."""
    strict.word("classes")(document.pop("kind", None), "kind")
    labels = {"labels": each(label_of)}
    fields = {"by": strict.word(*BY), "sizes": each(COUNT), "answers": each(_claims)}
    found = record(data=record(**{**DATA, **labels}), **fields, effort=EFFORT)(document, "")
    data, answers = found.pop("data"), found.pop("answers")
    by, sizes, n_rows, n_columns = found["by"], found["sizes"], data.pop("rows"), data.pop("columns")
    if n_rows != sum(sizes) or len(sizes) != len(data["labels"]):
        raise FieldError("sizes do not add up to the rows, or are not one for each label")
    asked = questions(by, len(sizes))
    if len(answers) != len(asked):
        raise FieldError(f"there are {len(answers)} answers to {len(asked)} questions")
    shared = {name: data[name] for name in ("numbers", "rows_left_out")}
    width = n_columns + data["bias"]
    verdicts = []
    for question, (kind, claim) in zip(asked, answers, strict=True):
        stated: Document = {**shared, "n_columns": n_columns, "bias": data["bias"], "names": data["names"], **claim}
        if by == "joint":
            stated |= {"bias": False, "names": None, "n_columns": width * (len(sizes) - ("nearest" not in claim))}
            if "weights" in claim:
                stated["weights"] = _blocks(claim, width, len(sizes))
        own = labels_of(by, question, data["labels"])
        verdicts.append(verdict_of(kind, {**stated, "n_rows": rows_asked(by, question, n_rows, sizes), "labels": own}))
    effort_known = found.pop("effort")
    return ClassVerdicts(verdicts=tuple(verdicts), n_columns=n_columns, **data, **found, **effort_known)


def _blocks(claim: Document, width: int, n_classes: int) -> tuple[int, ...]:
    weights = claim["weights"]
    if len(weights) != width * n_classes:
        raise CertificateError(f"{len(weights)} weights for {n_classes} classes with {width} each.")
    if "nearest" in claim:
        return tuple(weights)
    return tuple(w - weights[k % width] for k, w in enumerate(weights) if k >= width)


def _claims(value: Any, where: str) -> tuple[str, Document]:
    """The kind of an answer, and its fields."""
    if not isinstance(value, dict):
        raise FieldError(f"{where} is not an object")
    fields = dict(value)
    claims = DEFINITE_CLAIMS if "definite" in fields else CLAIMS
    kind = strict.word(*claims)(fields.pop("kind", None), f"{where}.kind")
    found = record(**claims[kind])(fields, where)
    for name in SPREAD_OUT:
        found |= found.pop(name, {})
    return kind, found
