"""Forged proofs about many classes: python -m tests.campaigns.forge_classes [TABLES] [FORGERIES] [SEED]

Small tables of two to five classes on a grid (`class_campaign.py`), asked by pairs, against the rest and jointly. Each
proof must pass `verify` and the stand-alone checker. Then it is changed at random, in an answer, among the answers, in
the sizes, the labels or the rows, sealed anew and given to both. They must say the same, and what they accept must be
true in every answer, in Fractions: of the rows of a pair, of all rows, or of Kesler's rows.
"""

import contextlib
import copy
import io
import json
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import linsep
from linsep import checker
from linsep.errors import LinsepError
from linsep.proofs.class_rows import questions
from tests import naive
from tests.campaigns import class_campaign, forge

BY = ("joint", "pairs", "rest")
Changes = Callable[[random.Random, Any, forge.Table], None]


def instance(seed: int) -> tuple[forge.Table, bool]:
    """A table of `class_campaign.py`, its classes 0 to K - 1."""
    X, y, bias = class_campaign.instance(seed)
    labels = np.unique(y, return_inverse=True)[1]
    return forge.Table((X / 1.0).tolist(), labels.tolist()), bias


# Changes of a document and its table, each at a random place ---------------------------------------------


def in_an_answer(rng: random.Random, proof: Any, table: forge.Table) -> None:
    """What `forge.py` does to a proof, done to an answer."""
    forge_it = rng.choice(OF_AN_ANSWER)
    forge_it(rng.choice(proof["answers"]), table, rng)


OF_AN_ANSWER = (
    *[forge.change_integer] * 4, forge.change_margin, forge.drop_row, forge.add_row, forge.scale_weights,
    forge.change_separated, forge.zero_separator, forge.drop_item, forge.forget_part, forge.change_kind,
    forge.change_dependence, forge.change_leaf, forge.change_field,
)  # fmt: skip


def other_order(rng: random.Random, proof: Any, table: forge.Table) -> None:
    rng.shuffle(proof["answers"])


def one_more(rng: random.Random, proof: Any, table: forge.Table) -> None:
    proof["answers"].append(copy.deepcopy(rng.choice(proof["answers"])))


def one_less(rng: random.Random, proof: Any, table: forge.Table) -> None:
    proof["answers"].pop()


def left_open(rng: random.Random, proof: Any, table: forge.Table) -> None:
    """Still true: a question without an answer."""
    k = rng.randrange(len(proof["answers"]))
    proof["answers"][k] = {"kind": "undecided", "reason": "time", "margin": {"low": 0.0, "high": None}}


def not_all_of_it(rng: random.Random, proof: Any, table: forge.Table) -> None:
    """Still true: an obstruction, and nothing about weak separators."""
    k = rng.randrange(len(proof["answers"]))
    old = proof["answers"][k]
    name = "definite" if "definite" in old else "obstruction"
    if name in old:
        proof["answers"][k] = {"kind": "not-separable", name: old[name], "reason": "time"}


def other_by(rng: random.Random, proof: Any, table: forge.Table) -> None:
    proof["by"] = rng.choice(BY)


def other_sizes(rng: random.Random, proof: Any, table: forge.Table) -> None:
    k = rng.randrange(len(proof["sizes"]))
    rng.choice([rng.shuffle, lambda sizes: sizes.pop(), lambda sizes: sizes.__setitem__(k, "0")])(proof["sizes"])


def other_labels(rng: random.Random, proof: Any, table: forge.Table) -> None:
    rng.choice([rng.shuffle, lambda labels: labels.pop(), lambda labels: labels.append("integer:7")])(
        proof["data"]["labels"]
    )


def other_bias(rng: random.Random, proof: Any, table: forge.Table) -> None:
    forge.change_bias(proof, table, rng)


def other_value(rng: random.Random, proof: Any, table: forge.Table) -> None:
    forge.change_value(proof, table, rng)


def other_class(rng: random.Random, proof: Any, table: forge.Table) -> None:
    k = rng.randrange(len(table.labels))
    table.labels[k] = rng.choice(table.labels)


CHANGES: tuple[Changes, ...] = (
    *[in_an_answer] * 8, other_order, one_more, one_less, left_open, left_open, not_all_of_it, other_by, other_sizes,
    other_labels, other_bias, other_value, other_class,
)  # fmt: skip


# The truth ----------------------------------------------------------------------------------------------


def is_true(proof: Any, table: forge.Table) -> bool:
    """Whether every answer is true of its rows, and one of them answers something."""
    try:
        labels = [forge.read_label(label) for label in proof["data"]["labels"]]
        own = [labels.index(label) for label in table.labels]
        sizes = [str(Counter(own)[k]) for k in range(len(labels))]
        asked = list(questions(proof["by"], len(labels)))
        rows_of = joint_rows if proof["by"] == "joint" else rows_asked
        if sizes != proof["sizes"] or "0" in sizes or len(asked) != len(proof["answers"]):
            return False
        kinds = {answer["kind"] for answer in proof["answers"]}
        return kinds != {"undecided"} and all(
            answer["kind"] == "undecided"
            or forge.is_true_of(*rows_of(answer, question, own, table, proof["data"]["bias"]))
            for question, answer in zip(asked, proof["answers"], strict=True)
        )
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, ZeroDivisionError, OverflowError):
        return False


def rows_asked(answer: Any, question: Any, own: list[int], table: forge.Table, bias: bool) -> tuple[Any, Any, bool]:
    """The answer with the numbers that the rows of the question have among these, and these rows."""
    numbers = [i for i, k in enumerate(own) if len(question) == 1 or k in question]
    signs = [1 if own[i] == question[-1] else -1 for i in numbers]
    Z = naive.signed_rows([table.rows[i] for i in numbers], signs, bias)
    return renumbered(answer, numbers), [list(z) for z in Z], bias


def joint_rows(answer: Any, question: Any, own: list[int], table: forge.Table, bias: bool) -> tuple[Any, Any, bool]:
    """The same with Kesler's rows: without the first block, which is taken off from the others, unless all count."""
    count, block = len(question), len(table.rows[0]) + bias
    numbers = [count * i + k for i, c in enumerate(own) for k in range(count) if k != c]
    Z = [list(z) for z in class_campaign.kesler_rows(table.rows, own, bias)]
    answer = renumbered(answer, numbers)
    if answer["kind"] == "separable":
        return answer, Z, False
    if "separator" in answer:
        w = [int(v, 0) for v in answer["separator"]["weights"]]
        if len(w) != count * block:
            raise ValueError
        answer["separator"]["weights"] = [str(v - w[j % block]) for j, v in enumerate(w)][block:]
    return answer, [z[block:] for z in Z], False


def renumbered(answer: Any, numbers: list[int]) -> Any:
    """The answer with its rows counted from 0; a row that is not there becomes one beyond the last."""
    place = {str(number): str(k) for k, number in enumerate(numbers)}
    moved = copy.deepcopy(answer)
    if "steps" in moved.get("definite", ()):
        moved = forge.listed({"version": "3", **moved})
    for part in (
        moved.get("obstruction"),
        moved.get("spread"),
        moved.get("definite"),
        (moved.get("margin") or {}).get("nearest"),
    ):
        if part:
            part["rows"] = [place.get(row, str(len(numbers))) for row in part["rows"]]
    if moved.get("separated_rows"):
        moved["separated_rows"] = [place[row] for row in moved["separated_rows"]]
    return moved


# The campaign -------------------------------------------------------------------------------------------


@dataclass
class Campaign:
    """What was seen."""

    folder: Path
    tables: int = 0
    forged: int = 0
    accepted: int = 0
    faults: list[str] = field(default_factory=list)

    def table(self, seed: int, forgeries: int, rng: random.Random) -> None:
        """One table, its proofs, and forgeries of them."""
        table, bias = instance(seed)
        self.tables += 1
        for by in BY:
            with class_campaign.long_road(seed):
                found = linsep.decide_classes(np.array(table.rows), np.array(table.labels), by=by, bias=bias)
            proof = json.loads(found.to_json())
            if not all(self.judged(found.to_json(), table)) or not is_true(proof, table):
                self.faults.append(f"refused: {found.to_json()}\n{table.csv()}")
            for _ in range(forgeries):
                self.forgery(copy.deepcopy(proof), copy.deepcopy(table), rng)

    def forgery(self, proof: Any, table: forge.Table, rng: random.Random) -> None:
        """One forgery: what is accepted must be true."""
        for change in rng.choices(CHANGES, k=rng.choice([1, 1, 2, 3])):
            with contextlib.suppress(KeyError, TypeError, AttributeError, ValueError, IndexError):
                change(rng, proof, table)  # an earlier change may have left nothing for this one to change
        self.forged += 1
        library, alone = self.judged(forge.resealed(proof), table)
        if library != alone:
            self.faults.append(f"verify {library}, the checker {alone}: {json.dumps(proof)}\n{table.csv()}")
        if library or alone:
            self.accepted += 1
            if not is_true(proof, table):
                self.faults.append(f"what is not true is accepted: {json.dumps(proof)}\n{table.csv()}")

    def judged(self, text: str, table: forge.Table) -> tuple[bool, bool]:
        """What `verify` and the checker say."""
        try:
            found: Any = linsep.verdict_from_json(text)
            found.verify(*table.arrays("dense"))
            library = found.kind == "classes" and any(each.kind != "undecided" for each in found.verdicts)
        except LinsepError:
            library = False
        return library, self.alone(text, table) == 0

    def alone(self, text: str, table: forge.Table) -> int:
        """The exit status of the checker that stands alone."""
        paths = self.folder / "proof.json", self.folder / "data.csv"
        paths[0].write_text(text)
        paths[1].write_text(table.csv())
        with contextlib.redirect_stdout(io.StringIO()):
            return checker.main([*map(str, paths)])


def main(tables: int, forgeries: int, seed: int) -> int:
    """Run the campaign; 1 if anything was wrong."""
    with tempfile.TemporaryDirectory() as folder:
        campaign = Campaign(Path(folder))
        for k in range(tables):
            campaign.table(seed + k, forgeries // tables // len(BY), random.Random(f"{seed} {k}"))
    for fault in campaign.faults[:10]:
        print(fault)
    print(
        f"{campaign.tables:,} tables, {campaign.forged:,} forged proofs about many classes, of which "
        f"{campaign.accepted:,} are true and accepted; {len(campaign.faults)} faults"
    )
    return int(bool(campaign.faults))


if __name__ == "__main__":
    given = [int(word) for word in sys.argv[1:]]
    sys.exit(main(*(given + [1000, 30_000, 0][len(given) :])))
